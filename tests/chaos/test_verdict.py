"""Every promise that the rig looks after is shown to be missed when it is broken."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from tests.chaos import verdict
from tests.chaos.verdict import Attempt, Evidence, Execution

CALM = (Execution(1, 10, 100, 7, "SBE", [0, 1, 2]), Execution(1, 20, 101, 8, "SE", [3, 4]))


def attempt(
    history: int,
    seq: int,
    status: str,
    *,
    batch: str = "hold_one",
    number: int = 1,
    cause: str = "auto",
    spawned: bool = True,
) -> Attempt:
    return Attempt(history, 1, batch, seq, number, cause, status, spawned)


HISTORY = (attempt(100, 10, "success"), attempt(101, 20, "success"), attempt(102, 30, "skipped"))


def evidence(
    executions: tuple[Execution, ...] = CALM,
    attempts: tuple[Attempt, ...] = HISTORY,
    instances: dict[int, tuple[str, str]] | None = None,
) -> Evidence:
    return Evidence(executions, attempts, instances or {1: ("hold_one", "complete")})


CHECKS = (
    verdict.missing_effects,
    verdict.false_successes,
    verdict.unasked_starts,
    verdict.denied_starts,
    verdict.repeated_starts,
    verdict.unrecorded_starts,
    verdict.early_starts,
    verdict.crowds,
    verdict.crowded_pools,
)


@pytest.mark.parametrize("check", CHECKS)
def test_a_calm_day_breaks_no_promise(check: Callable[[Evidence], Iterator[object]]) -> None:
    assert list(check(evidence())) == []


AGAIN = Execution(1, 20, 103, 9, "SE", [5, 6])


def again(status: str, cause: str = "retry", batch: str = "hold_one") -> Evidence:
    """Step 20 was started twice: the first attempt ended so, the second was made for that cause."""
    first = attempt(101, 20, status, batch=batch)
    second = attempt(103, 20, "success", batch=batch, number=2, cause=cause)
    return evidence((*CALM, AGAIN), (HISTORY[0], first, second), {1: (batch, "ready")})


BROKEN = [
    (verdict.missing_effects, evidence(CALM[:1])),
    (verdict.false_successes, evidence((CALM[0], Execution(1, 20, 101, 8, "SB", [3, 4])))),
    (verdict.unasked_starts, again("lost")),
    (verdict.unasked_starts, again("fenced", batch="rerun_many")),
    (verdict.unasked_starts, again("lost", batch="verify_two")),
    (verdict.unasked_starts, again("success", batch="rerun_many")),
    (verdict.denied_starts, evidence(attempts=(HISTORY[0], attempt(101, 20, "lost", spawned=False)))),
    (verdict.repeated_starts, evidence((*CALM, Execution(1, 20, 101, 9, "SE", [5, 6])))),
    (verdict.unrecorded_starts, evidence((*CALM, Execution(1, 20, 999, 9, "S", [5])))),
    (verdict.unrecorded_starts, evidence((*CALM, Execution(2, 20, 101, 9, "S", [5])))),
    (verdict.early_starts, evidence((Execution(1, 20, 101, 8, "SE", [0, 1]), Execution(1, 10, 100, 7, "SE", [2, 3])))),
    (
        verdict.crowds,
        evidence(
            (Execution(1, 10, 100, 7, "SE", [0, 2]), Execution(2, 10, 104, 8, "SE", [1, 3])),
            instances={1: ("hold_one", "complete"), 2: ("hold_one", "complete")},
        ),
    ),
    (
        verdict.crowded_pools,
        evidence(tuple(Execution(at, 20, 100 + at, at, "SE", [at, 10 + at]) for at in range(4))),
    ),
]


@pytest.mark.parametrize(("check", "seen"), BROKEN)
def test_a_broken_promise_is_found(check: Callable[[Evidence], Iterator[object]], seen: Evidence) -> None:
    assert len(list(check(seen))) == 1


@pytest.mark.parametrize(
    "seen", [again("failed"), again("lost", "manual"), again("success", "manual"), again("lost", batch="rerun_many")]
)
def test_a_start_that_was_asked_for_is_none(seen: Evidence) -> None:
    assert list(verdict.unasked_starts(seen)) == []


def test_a_step_that_ran_where_its_pool_is_not_served_is_found() -> None:
    assert list(verdict.strays(["1 10 chaos0", "1 20 chaos1", "1 30 chaos2"])) == []
    assert list(verdict.strays(["1 20 chaos0", "1 10 chaos1", "1 30 vm"])) == [
        "instance 1, step 20 on chaos0",
        "instance 1, step 10 on chaos1",
        "instance 1, step 30 on vm",
    ]
