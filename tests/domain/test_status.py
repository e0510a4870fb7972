"""Law 8: every status with every verb, allowed or refused."""

from __future__ import annotations

from itertools import product

import pytest

from batchctl.domain import moves
from batchctl.domain.outcomes import StepOutcome
from batchctl.domain.rows import LONG_AGO, BatchDefinition, BatchId
from batchctl.domain.status import (
    TRANSITIONS,
    HistoryStatus,
    InstanceStatus,
    InstanceVerb,
    IntakeStatus,
    StopReason,
    word,
)
from batchctl.testing import a_step, an_instance
from tests.transitions import mermaid, sources

BATCH = BatchDefinition(
    batch_id=BatchId(1), name="B", entity="B", retry_count=2, steps=(a_step(seq=10), a_step(seq=20))
)
ENDS = [status for status in HistoryStatus if status not in {HistoryStatus.RUNNING, HistoryStatus.FENCED}]


def test_every_status_can_be_reached_and_every_unfinished_one_left() -> None:
    reached = {target for allowed in TRANSITIONS.values() for target in allowed.values()}

    assert reached == set(InstanceStatus)
    assert {source for allowed in TRANSITIONS.values() for source in allowed} == set(InstanceStatus)


def test_a_verb_knows_its_sources() -> None:
    assert sources(InstanceVerb.CLAIM) == {InstanceStatus.READY, InstanceStatus.RETRY}


@pytest.mark.parametrize("text", ["ready", "Ready", " READY "])
def test_words_are_read_in_any_letter_case(text: str) -> None:
    assert word(IntakeStatus, text) is IntakeStatus.READY


def test_unknown_words_are_refused() -> None:
    with pytest.raises(ValueError, match="success"):
        word(InstanceStatus, "success")


def test_the_diagram_shows_every_transition() -> None:
    drawn = mermaid()
    missing = [
        (source, verb)
        for verb, allowed in TRANSITIONS.items()
        for source, target in allowed.items()
        if not any(
            line.strip().startswith(f"{source} --> {target}:") and verb in line.partition(": ")[2].split(", ")
            for line in drawn.splitlines()
        )
    ]

    assert missing == []


@pytest.mark.parametrize(
    ("status", "end", "on_last", "may_go_on", "retries"),
    list(
        product(
            [InstanceStatus.RUNNING, InstanceStatus.PAUSING, InstanceStatus.CANCELLING],
            ENDS,
            [True, False],
            [True, False],
            [0, 1],
        )
    ),
)
def test_after_any_end_the_move_is_one_the_table_allows(
    status: InstanceStatus, end: HistoryStatus, on_last: bool, may_go_on: bool, retries: int
) -> None:
    instance = an_instance(status=status, retry_count=retries, last_seq=10 if on_last else 0)
    ended = moves.Ended(seq=20 if on_last else 10, status=end, message=None)
    move = moves.after_step(instance, BATCH, ended, now=LONG_AGO, may_go_on=may_go_on)
    after = moves.moved(instance, move)

    assert after.status is TRANSITIONS[move.verb][status]
    assert after.retry_count >= 0
    assert after.last_seq == (ended.seq if end in {HistoryStatus.SUCCESS, HistoryStatus.SKIPPED} else instance.last_seq)
    assert (after.claimed_by is None) == (not after.status.is_claimed)


@pytest.mark.parametrize("end", [HistoryStatus.RUNNING, HistoryStatus.FENCED])
def test_what_is_no_end_is_refused(end: HistoryStatus) -> None:
    ended = moves.Ended(seq=10, status=end, message=None)
    with pytest.raises(ValueError, match="does not end"):
        moves.after_step(an_instance(), BATCH, ended, now=LONG_AGO, may_go_on=True)


@pytest.mark.parametrize(
    ("stop", "expected"),
    [
        (StopReason.TIMEOUT, HistoryStatus.TIMEOUT),
        (StopReason.CANCEL, HistoryStatus.CANCELLED),
        (StopReason.SHUTDOWN, HistoryStatus.LOST),
        (StopReason.LEASE, HistoryStatus.LOST),
        (StopReason.FENCED, HistoryStatus.LOST),
        (None, HistoryStatus.LOST),
    ],
)
def test_a_stopped_execution_is_named_after_why_it_was_stopped(
    stop: StopReason | None, expected: HistoryStatus
) -> None:
    assert moves.ended(a_step(), StepOutcome(succeeded=False, stopped=True), stop).status is expected


@pytest.mark.parametrize("stop", [*StopReason, None])
@pytest.mark.parametrize(("succeeded", "expected"), [(True, HistoryStatus.SUCCESS), (False, HistoryStatus.FAILED)])
def test_an_execution_that_ended_by_itself_is_named_after_its_end_whatever_it_was_told(
    stop: StopReason | None, succeeded: bool, expected: HistoryStatus
) -> None:
    assert moves.ended(a_step(), StepOutcome(succeeded=succeeded), stop).status is expected


@pytest.mark.parametrize("end", [HistoryStatus.FAILED, HistoryStatus.TIMEOUT, HistoryStatus.LOST])
def test_what_is_being_cancelled_is_cancelled_however_its_step_ends(end: HistoryStatus) -> None:
    instance = an_instance(status=InstanceStatus.CANCELLING, retry_count=1)
    move = moves.after_step(instance, BATCH, moves.Ended(10, end, None), now=LONG_AGO, may_go_on=True)

    assert moves.moved(instance, move).status is InstanceStatus.CANCELLED


def test_what_was_begun_in_vain_too_often_waits_for_a_person() -> None:
    instance = an_instance(lost_count=moves.LOST_LIMIT)

    assert moves.moved(instance, moves.never_ran(instance, LONG_AGO)).status is InstanceStatus.HELD
