"""How long a question waits, and who may answer it."""

from __future__ import annotations

from datetime import timedelta

import pytest

from batchctl.domain import moves
from batchctl.domain.operators import confirmations
from batchctl.domain.operators.confirmations import AnswerTime, UnfitTimeout, answer_time
from batchctl.domain.outcomes import Asks, StepOutcome
from batchctl.domain.rows import LONG_AGO, BatchDefinition, BatchId
from batchctl.domain.status import HistoryStatus, InstanceStatus, InstanceVerb, OnStepFailure, OnTimeout, StopReason
from batchctl.testing import a_step, an_instance

BATCH = BatchDefinition(
    batch_id=BatchId(1), name="B", entity="B", retry_count=2, steps=(a_step(seq=10), a_step(seq=20))
)
PASSING = BatchDefinition(
    batch_id=BatchId(1),
    name="B",
    entity="B",
    retry_count=2,
    steps=(a_step(seq=10, on_step_failure=OnStepFailure.CONTINUE), a_step(seq=20)),
)
WAITS = an_instance(status=InstanceStatus.PAUSED, retry_count=1)
ASKS = StepOutcome(succeeded=False, message="now?", asks=Asks(None))


@pytest.mark.parametrize(
    ("text", "length", "then"),
    [
        ("4h", timedelta(hours=4), OnTimeout.FAIL),
        (" 30m  Fail ", timedelta(minutes=30), OnTimeout.FAIL),
        ("1d go  on", timedelta(days=1), OnTimeout.GO_ON),
        ("90s GO_ON", timedelta(seconds=90), OnTimeout.GO_ON),
        ("2h incident", timedelta(hours=2), OnTimeout.INCIDENT),
    ],
)
def test_a_time_is_a_length_and_what_follows(text: str, length: timedelta, then: OnTimeout) -> None:
    assert answer_time(text) == AnswerTime(length, then)


@pytest.mark.parametrize("text", ["", "  "])
def test_without_a_time_it_waits_for_ever(text: str) -> None:
    assert answer_time(text) is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("soon", "'soon' is no length of time"),
        ("0s fail", "'0s' is no length of time"),
        ("9999d", "'9999d' is no length of time"),
        ("4h go onn", "'go onn' is none of fail, go on, incident. Did you mean 'go on'?"),
        ("4 h fail", "'4' is no length of time"),
    ],
)
def test_what_is_no_time_is_named(text: str, said: str) -> None:
    with pytest.raises(UnfitTimeout) as refused:
        answer_time(text)

    assert said in str(refused.value)


def test_names_and_roles_are_told_apart_in_any_letter_case() -> None:
    who = "Anna, ACME\\bob ,role:Approvers"

    assert list(confirmations.names(who)) == ["anna", "acme\\bob"]
    assert list(confirmations.roles(who)) == ["approvers"]
    assert list(confirmations.names(None)) == []


@pytest.mark.parametrize(("text", "is_fit"), [("", True), ("anna", True), ("anna,,bob", False), ("role:", False)])
def test_a_name_that_is_missing_is_found(text: str, is_fit: bool) -> None:
    assert (confirmations.unfit_names(text) is None) is is_fit


def test_a_column_holds_no_more_names_than_it_can() -> None:
    assert "200 are the most" in str(confirmations.unfit_names("a, " * 80 + "b"))


def test_what_asks_waits_paused_before_its_step() -> None:
    ended = moves.ended(a_step(), ASKS)
    move = moves.after_step(an_instance(), BATCH, ended, now=LONG_AGO, may_go_on=True)

    assert ended.status is HistoryStatus.ASKED
    assert (move.verb, move.last_seq, move.next_step) == (InstanceVerb.ASK, 0, None)


def test_what_was_stopped_for_good_asks_nothing() -> None:
    assert moves.ended(a_step(), ASKS, StopReason.CANCEL).status is not HistoryStatus.ASKED


@pytest.mark.parametrize(
    ("batch", "seq", "confirmed", "verb", "last_seq"),
    [
        (BATCH, 10, True, InstanceVerb.ANSWER, 10),
        (BATCH, 20, True, InstanceVerb.FINISH, 20),
        (BATCH, 10, False, InstanceVerb.FAIL, 0),
        (PASSING, 10, False, InstanceVerb.ANSWER, 10),
    ],
)
def test_an_answer_lets_it_go_on_or_fails_it(
    batch: BatchDefinition, seq: int, confirmed: bool, verb: InstanceVerb, last_seq: int
) -> None:
    move = moves.answered(WAITS, batch, seq, confirmed=confirmed)

    assert (move.verb, move.last_seq) == (verb, last_seq)
    assert move.passed is (not confirmed and batch is PASSING)
    assert move.retry_count == (WAITS.retry_count if verb is InstanceVerb.FAIL else batch.retries_after(seq))
