"""What rows say is the matter, in words that name the row and the command."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from batchctl.domain.alerting.incident_causes import (
    Gap,
    Norms,
    RecentAttempt,
    fails_often,
    gathered,
    last_lines,
    no_worker,
    standing,
    too_short,
)
from batchctl.domain.alerting.incidents import IncidentSign
from batchctl.domain.rows import NO_DATA, BatchId, BatchInstance, HistoryEntry, HistoryId, InstanceId, IntakeId
from batchctl.domain.status import Cause, HistoryStatus, IncidentKind, InstanceStatus
from tests.domain.incident_values import NOW

H = HistoryStatus
STEP = (BatchId(1), 10)
NAMES = {BatchId(1): "Load"}


def an_attempt(number: int, status: HistoryStatus = H.SUCCESS, *, seconds: float = 60, **given: Any) -> RecentAttempt:
    return RecentAttempt(
        **{
            "history_id": number,
            "batch_id": BatchId(1),
            "seq": 10,
            "name": "load",
            "instance_id": InstanceId(number),
            "status": status,
            "started_at": NOW,
            "ended_at": NOW + timedelta(seconds=seconds),
            **given,
        }
    )


def often(*statuses: HistoryStatus, norms: Norms = Norms(failures=3, runs=5)) -> list[str]:  # noqa: B008 - a value
    newest_first = [an_attempt(100 - at, status) for at, status in enumerate(statuses)]
    return [one.message for one in fails_often(newest_first, NAMES, norms, set())]


def test_failures_between_successes_are_counted() -> None:
    assert often(H.SUCCESS, H.FAILED, H.SUCCESS, H.TIMEOUT, H.LOST) == [
        "Step 10 'load' has failed in 3 of the last 5 runs, last in BatchControl 99"
    ]
    assert often(H.SUCCESS, H.FAILED, H.SUCCESS, H.TIMEOUT, H.SUCCESS, H.FAILED) == []
    assert often(H.FAILED, H.FAILED, H.FAILED, norms=Norms(failures=0)) == []


def test_attempts_that_tell_nothing_are_passed_over() -> None:
    assert often(H.RUNNING, H.FAILED, H.CANCELLED, H.FAILED, H.SKIPPED, H.FENCED, H.FAILED)


def test_many_attempts_of_one_run_are_one_failure() -> None:
    attempts = [an_attempt(at, H.FAILED, instance_id=InstanceId(7)) for at in range(9, 0, -1)]

    assert list(fails_often(attempts, NAMES, Norms(), set())) == []


def test_where_an_instance_stands_failed_that_is_told_already() -> None:
    attempts = [an_attempt(at, H.FAILED) for at in range(5)]

    assert len(list(fails_often(attempts, NAMES, Norms(), set()))) == 1
    assert list(fails_often(attempts, NAMES, Norms(), {STEP})) == []


@pytest.mark.parametrize(("usual", "seconds", "is_short"), [(600, 59, True), (600, 60, False), (29, 0.1, False)])
def test_a_success_that_took_next_to_no_time(usual: int, seconds: float, is_short: bool) -> None:
    lengths = {STEP: [timedelta(seconds=usual)] * 10}
    found = list(too_short([an_attempt(2, seconds=seconds), an_attempt(1)], NAMES, lengths, Norms()))

    assert [one.kind for one in found] == [IncidentKind.TOO_SHORT] * is_short


def test_too_few_samples_say_nothing() -> None:
    lengths = {STEP: [timedelta(seconds=600)] * 9}

    assert list(too_short([an_attempt(1, seconds=1)], NAMES, lengths, Norms())) == []


MINUTES = timedelta(minutes=1)


@pytest.mark.parametrize(
    ("silent", "waits", "is_over", "is_told"),
    [
        (10, None, False, True),
        (9, 60, False, False),
        (10, 10, True, True),
        (10, 9, True, False),
        (10, None, True, False),
        (9, 60, True, False),
        (None, 10, False, True),
        (None, 9, False, False),
        (None, None, False, False),
        (None, 60, True, False),
    ],
)
def test_that_nobody_works_is_told_after_a_while(
    silent: int | None, waits: int | None, is_over: bool, is_told: bool
) -> None:
    since, waiting_since = (None if each is None else NOW - each * MINUTES for each in (silent, waits))
    gap = Gap(since=since, waiting_since=waiting_since)

    assert (no_worker(gap, NOW, 10 * MINUTES, is_over=is_over) is not None) is is_told


def test_the_last_lines_are_few_short_and_visible() -> None:
    output = "\n".join(f"line {at}" for at in range(100)) + "\n\x1b[31mred\u202e\n\n" + "x" * 10_000
    lines = (last_lines(output) or "").split("\n")

    assert len(lines) == 15
    assert lines[-2] == "\\x1b[31mred\\u202e"
    assert len(lines[-1]) == 500
    assert last_lines(None) is last_lines("\n \n") is None


def stands(number: int, message: str, code: int | None = 1) -> IncidentSign:
    """Return the problem of an instance of one batch that has failed at one step."""
    instance = BatchInstance(
        instance_id=InstanceId(number),
        batch_id=BatchId(1),
        intake_id=IntakeId(number),
        last_seq=0,
        status=InstanceStatus.FAILED,
        retry_count=0,
        next_run_time=NOW,
        cycle_key="",
        data=NO_DATA,
        claim_token=1,
        claimed_by=None,
        lost_count=0,
        entity="Load",
        file_name=None,
        updated_at=NOW,
    )
    attempt = HistoryEntry(
        history_id=HistoryId(number),
        instance_id=InstanceId(number),
        batch_id=BatchId(1),
        seq=10,
        step_name="load",
        process_type="os_command",
        attempt_no=1,
        claim_token=1,
        cause=Cause.AUTO,
        status=H.FAILED,
        command_text="",
        command_spec="{}",
        started_at=NOW,
        ended_at=NOW,
        return_code=code,
        message=message,
    )
    return standing(instance, None, attempt)


def test_commands_that_fail_differently_are_different_incidents() -> None:
    same = [
        stands(1, "exited with 1; it wrote last: no file 17"),
        stands(2, "exited with 1; it wrote last: no file 18"),
    ]
    other_line = stands(3, "exited with 1; it wrote last: no table")
    other_code = stands(4, "exited with 2; it wrote last: no file 17", 2)

    assert same[0].key == same[1].key
    assert len({same[0].key, other_line.key, other_code.key}) == 3


def test_several_that_stand_for_one_reason_are_counted() -> None:
    one, two, three = stands(1, "it broke"), stands(2, "it broke"), stands(3, "it broke")

    assert gathered([one]) == [one]
    assert gathered([one, two])[0].message == f"{one.message} (one more stands for the same reason)"
    (whole,) = gathered([one, two, three])
    assert whole.message == f"{one.message} (2 more stand for the same reason)"
    assert (whole.instance_id, whole.evidence) == (1, 3)
