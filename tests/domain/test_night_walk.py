"""A replay begins with what is so now: a retry that waits stops what a failure stops."""

from __future__ import annotations

from dataclasses import replace

import pytest

from batchctl.domain.dependencies.night_walk import replay
from batchctl.domain.dependencies.virtual_night import Tries, VirtualInstance, VirtualNight
from batchctl.domain.operators.pools import Pool, PoolId, Pools
from batchctl.domain.rows import BatchDefinition, BatchId, Step
from batchctl.domain.status import OnFailure

A, B = BatchId(1), BatchId(2)
TEN = 10_000


def batch(batch_id: BatchId, on_failure: OnFailure, pool: str | None = None, most: int = 1) -> BatchDefinition:
    """Return a batch of one step."""
    step = Step(batch_id=batch_id, seq=10, name="s", process_type="sql", pool=pool)
    name = f"B{batch_id}"
    return BatchDefinition(
        batch_id=batch_id,
        name=name,
        entity=name,
        steps=(step,),
        on_failure=on_failure,
        retry_count=1,
        max_concurrent=most,
    )


def starts(night: VirtualNight) -> list[int | None]:
    """Return when each instance starts; every step takes ten seconds."""
    return [*replay(night, lambda batch_id, seq, elapsed, tried: Tries((TEN,))).starts]


@pytest.mark.parametrize(("policy", "other"), [(OnFailure.STOP_ALL, 6 * TEN), (OnFailure.HOLD_BATCH, 0)])
def test_a_retry_that_waits_stops_everything_where_a_failure_does(policy: OnFailure, other: int) -> None:
    failed = VirtualInstance(batch_id=A, failures=1, is_retry=True, not_before=6 * TEN)
    night = VirtualNight(
        batches={A: batch(A, policy), B: batch(B, OnFailure.HOLD_BATCH)},
        instances=[failed, VirtualInstance(batch_id=B)],
    )
    assert starts(night) == [6 * TEN, other]


@pytest.mark.parametrize(("policy", "third"), [(OnFailure.CONTINUE, 0), (OnFailure.HOLD_BATCH, TEN)])
def test_behind_a_retry_whose_pool_is_full_all_wait_unless_a_failure_holds_nothing_back(
    policy: OnFailure, third: int
) -> None:
    waits = batch(A, policy, pool="ftp", most=3)
    other = Step(batch_id=A, seq=20, name="t", process_type="sql")
    waits = replace(waits, steps=(*waits.steps, other))
    night = VirtualNight(
        batches={A: waits, B: batch(B, OnFailure.CONTINUE, pool="ftp")},
        instances=[
            VirtualInstance(batch_id=B, under_way=10),
            VirtualInstance(batch_id=A, failures=1, is_retry=True),
            VirtualInstance(batch_id=A, last_seq=10),
        ],
        pools=Pools({"ftp": Pool(pool_id=PoolId(1), name="ftp", max_concurrent=1)}),
    )
    assert starts(night) == [0, TEN, third]


@pytest.mark.parametrize("policy", OnFailure)
@pytest.mark.parametrize("under_way", [None, 10])
def test_what_is_paused_is_passed_over_whatever_failures_do(policy: OnFailure, under_way: int | None) -> None:
    steps = (*batch(A, policy).steps, Step(batch_id=A, seq=20, name="t", process_type="sql"))
    paused = VirtualInstance(batch_id=A, stands=True, is_passed_over=True, under_way=under_way)
    night = VirtualNight(
        batches={A: replace(batch(A, policy), steps=steps), B: batch(B, OnFailure.HOLD_BATCH)},
        instances=[paused, VirtualInstance(batch_id=A), VirtualInstance(batch_id=B)],
    )
    behind = 0 if under_way is None else TEN
    found = replay(night, lambda batch_id, seq, elapsed, tried: Tries((TEN,)))
    assert ([*found.starts[1:]], found.ends[0]) == ([behind, 0], None)


def test_a_pause_that_is_asked_for_does_not_hide_the_failure_of_what_is_under_way() -> None:
    paused = VirtualInstance(batch_id=A, stands=True, is_passed_over=True, under_way=10, failures=1)
    night = VirtualNight(batches={A: batch(A, OnFailure.HOLD_BATCH)}, instances=[paused, VirtualInstance(batch_id=A)])
    found = replay(night, lambda batch_id, seq, elapsed, tried: Tries((TEN,), succeeds=False))
    assert [*found.starts] == [0, None]
