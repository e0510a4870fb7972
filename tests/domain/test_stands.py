"""What keeps a batch from ever completing unless a person acts."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batchctl.domain.dependencies.stands import Stand, Stands
from batchctl.domain.rows import LONG_AGO, BatchDefinition, BatchId, InstanceId
from batchctl.domain.status import InstanceStatus
from tests.domain.test_graph import Edges, batches

NOW = datetime(2026, 11, 22, 3, tzinfo=UTC)
CHAIN: Edges = {1: [], 2: [1], 3: [2]}
FORK: Edges = {1: [], 2: [], 3: [1, 2]}
FAILED = "b1: BatchControl 101 is failed"


def stand(number: int, status: str) -> Stand:
    return Stand(
        batch_id=BatchId(number),
        instance_id=InstanceId(100 + number),
        status=InstanceStatus(status),
        last_seq=0,
        cycle_key="k",
        next_run_time=LONG_AGO,
        changed_at=NOW,
    )


def blockers(
    every: Sequence[BatchDefinition], target: int, *standing: Stand, under_way: Collection[int] = ()
) -> tuple[str, ...]:
    known = {one.batch_id: one for one in standing}
    live = {InstanceId(100 + number) for number in under_way}
    return Stands(batches=every, now=NOW, stands=known, under_way=live).blockers(BatchId(target))


@given(
    st.integers(1, 8).flatmap(
        lambda count: st.fixed_dictionaries(
            {at: st.lists(st.integers(1, at - 1), unique=True) if at > 1 else st.just([]) for at in range(1, count + 1)}
        )
    ),
    st.sets(st.integers(1, 8)),
    st.sets(st.integers(1, 8)),
)
def test_all_need_everything_before_them_and_any_one_of_it(edges: Edges, any_of: set[int], failed: set[int]) -> None:
    blocked: dict[int, bool] = {}
    for one, others in sorted(edges.items()):
        before = [blocked[other] for other in others]
        blocked[one] = one in failed or bool(before and (all(before) if one in any_of else any(before)))
    target = max(edges)
    found = blockers(batches(edges, any_of=[*any_of]), target, *(stand(one, "failed") for one in failed))

    assert bool(found) is blocked[target]


@pytest.mark.parametrize("status", ["ready", "retry", "running", "complete"])
def test_what_goes_on_by_itself_blocks_nothing(status: str) -> None:
    assert blockers(batches(CHAIN), 3, stand(1, status)) == ()


@pytest.mark.parametrize("status", ["failed", "held", "paused", "pausing", "cancelling", "cancelled"])
def test_who_needs_a_person_says_what_is_in_the_way(status: str) -> None:
    assert blockers(batches(CHAIN), 3, stand(1, status)) == (f"b1: BatchControl 101 is {status}",)


def test_any_goes_round_what_blocks_and_all_does_not() -> None:
    assert blockers(batches(FORK, any_of=[3]), 3, stand(1, "failed")) == ()
    assert blockers(batches(FORK), 3, stand(1, "failed")) == (FAILED,)
    assert blockers(batches(FORK, any_of=[3], off=[2]), 3, stand(1, "failed")) == (FAILED, "b2 is disabled")


def test_cycles_and_batches_that_do_not_exist_block() -> None:
    assert blockers(batches({1: [2], 2: [1], 3: [2]}), 3) == ("b2 waits for itself in a cycle",)
    assert blockers(batches({1: [9], 2: [1]}), 2) == ("b1 depends on ProcessBatch 9, which does not exist",)


def test_a_disabled_batch_whose_step_runs_ends_it() -> None:
    every = batches({1: []}, off=[1])

    assert blockers(every, 1, stand(1, "ready")) == ("b1 is disabled",)
    assert blockers(every, 1, stand(1, "running"), under_way=[1]) == ()


def test_what_stands_keeps_later_instances_of_its_batch_waiting() -> None:
    first, later = stand(1, "failed"), stand(2, "ready")
    stands = Stands(batches=batches(CHAIN), now=NOW, stands={BatchId(2): later}, stuck={BatchId(2): first})

    assert stands.blockers(BatchId(2)) == ("b2: BatchControl 101 is failed, and what comes later waits for it",)
