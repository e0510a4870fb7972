"""When a batch should be done, against the same reckoned by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batchctl.domain.dependencies.forecast import Forecast, LiveStep, Outlook, Stand, length, usual
from batchctl.domain.rows import LONG_AGO, BatchDefinition, BatchId, InstanceId, Step
from batchctl.domain.status import InstanceStatus
from tests.domain.test_graph import Edges, batches

NOW = datetime(2026, 11, 22, 3, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
CHAIN: Edges = {1: [], 2: [1], 3: [2]}


def stepped(
    edges: Edges, *, steps: int = 1, any_of: Sequence[int] = (), off: Sequence[int] = ()
) -> list[BatchDefinition]:
    """Return batches with steps."""
    return [
        replace(
            batch,
            steps=tuple(
                Step(batch_id=batch.batch_id, seq=10 * at, name="s", process_type="p") for at in range(1, steps + 1)
            ),
        )
        for batch in batches(edges, any_of=any_of, off=off)
    ]


def stand(number: int, status: str, *, last_seq: int = 0, next_run_time: datetime = LONG_AGO) -> Stand:
    return Stand(
        batch_id=BatchId(number),
        instance_id=InstanceId(100 + number),
        status=InstanceStatus(status),
        last_seq=last_seq,
        cycle_key="k",
        next_run_time=next_run_time,
        changed_at=NOW,
    )


def forecast(
    every: Sequence[BatchDefinition],
    target: int,
    minutes: Mapping[int, int],
    *stands: Stand,
    live: Mapping[int, LiveStep] | None = None,
) -> Forecast:
    """Reckon with so many minutes for each step of a batch."""
    recorded = {
        (batch.batch_id, step.seq): minutes[batch.batch_id] * MINUTE
        for batch in every
        for step in batch.steps
        if batch.batch_id in minutes
    }
    under_way = {InstanceId(100 + number): step for number, step in (live or {}).items()}
    speaking = {at.batch_id: at for at in stands}
    return Outlook(every, recorded, NOW, speaking, under_way).of(BatchId(target))


def names(found: Forecast) -> list[str]:
    return [leg.batch.name for leg in found.legs]


ROWS = st.integers(1, 8).flatmap(
    lambda count: st.fixed_dictionaries(
        {at: st.lists(st.integers(1, at - 1), unique=True) if at > 1 else st.just([]) for at in range(1, count + 1)}
    )
)


@given(ROWS, st.lists(st.integers(1, 8), unique=True), st.lists(st.integers(0, 90), min_size=8, max_size=8))
def test_the_finish_is_that_of_the_slowest_or_with_any_of_the_quickest(
    edges: Edges, any_of: list[int], took: list[int]
) -> None:
    ends: dict[int, int] = {}
    for one, others in sorted(edges.items()):
        before = [ends[other] for other in others] or [0]
        ends[one] = (min(before) if one in any_of else max(before)) + took[one - 1]
    target = max(edges)
    found = forecast(stepped(edges, any_of=any_of), target, dict(enumerate(took, start=1)))

    assert found.finish == NOW + ends[target] * MINUTE
    assert found.total == ends[target] * MINUTE
    assert found.legs[0].starts == NOW
    for before_it, leg in pairwise(found.legs):
        assert (leg.after, leg.starts) == (before_it.batch.batch_id, before_it.ends)


def test_what_is_complete_is_passed_over_and_what_runs_needs_what_is_left_of_it() -> None:
    every = stepped(CHAIN, steps=2)
    running = stand(2, "running", last_seq=10)
    live = {2: LiveStep(20, NOW - 4 * MINUTE)}
    found = forecast(every, 3, {1: 7, 2: 10, 3: 5}, stand(1, "complete"), running, live=live)

    assert names(found) == ["b2", "b3"]
    assert [leg.ends - leg.starts for leg in found.legs] == [6 * MINUTE, 10 * MINUTE]
    assert found.finish == NOW + 16 * MINUTE


def test_a_step_that_runs_longer_than_ever_is_expected_to_end_now() -> None:
    every = stepped({1: []}, steps=2)
    found = forecast(every, 1, {1: 10}, stand(1, "running"), live={1: LiveStep(10, NOW - 99 * MINUTE)})

    assert found.finish == NOW + 10 * MINUTE


def test_what_is_tried_again_begins_at_its_time() -> None:
    later = NOW + 30 * MINUTE

    assert (
        forecast(stepped(CHAIN), 2, {1: 1, 2: 2}, stand(1, "retry", next_run_time=later)).finish == later + 3 * MINUTE
    )


def test_a_batch_that_is_complete_needs_nothing_more() -> None:
    found = forecast(stepped(CHAIN), 3, {}, stand(3, "complete"))

    assert (found.legs, found.finish, found.total, found.blockers) == ((), None, timedelta(0), ())


@pytest.mark.parametrize("status", ["failed", "held", "paused", "pausing", "cancelling", "cancelled"])
def test_who_needs_a_person_has_no_finish_and_says_what_is_in_the_way(status: str) -> None:
    found = forecast(stepped(CHAIN), 3, {1: 1, 2: 2, 3: 3}, stand(1, status))

    assert (names(found), found.finish) == (["b1", "b2", "b3"], None)
    assert found.blockers == (f"b1: BatchControl 101 is {status}",)
    assert found.total == 6 * MINUTE


def test_any_goes_round_an_obstacle_and_all_does_not() -> None:
    fork: Edges = {1: [], 2: [], 3: [1, 2]}
    minutes = {1: 1, 2: 20, 3: 3}

    assert forecast(stepped(fork, any_of=[3]), 3, minutes, stand(1, "failed")).finish == NOW + 23 * MINUTE
    assert forecast(stepped(fork), 3, minutes, stand(1, "failed")).finish is None
    both = forecast(stepped(fork, any_of=[3], off=[2]), 3, minutes, stand(1, "failed"))
    assert both.blockers == ("b1: BatchControl 101 is failed", "b2 is disabled")


def test_cycles_and_batches_that_do_not_exist_are_obstacles() -> None:
    caught = forecast(stepped({1: [2], 2: [1], 3: [2]}), 3, {})
    lost = forecast(stepped({1: [9], 2: [1]}), 2, {})

    assert caught.blockers == ("b2 waits for itself in a cycle",)
    assert lost.blockers == ("b1 depends on ProcessBatch 9, which does not exist",)


def test_a_disabled_batch_whose_step_runs_ends_it() -> None:
    every = stepped({1: []}, off=[1])

    assert forecast(every, 1, {1: 5}, stand(1, "ready")).blockers == ("b1 is disabled",)
    assert forecast(every, 1, {1: 5}, stand(1, "running"), live={1: LiveStep(10, NOW)}).finish == NOW + 5 * MINUTE


def test_what_was_never_recorded_counts_by_what_is_expected_or_not_at_all() -> None:
    (batch,) = stepped({1: []}, steps=3)
    steps = (batch.steps[0], replace(batch.steps[1], expected_duration=2 * MINUTE), batch.steps[2])
    found = length(replace(batch, steps=steps), {(BatchId(1), 10): MINUTE})

    assert (found.total, found.expected, found.unknown) == (3 * MINUTE, ("b1, step 20",), ("b1, step 30",))


def test_what_is_usual_is_not_changed_by_one_bad_night() -> None:
    assert usual([MINUTE, MINUTE, 600 * MINUTE]) == MINUTE
    assert usual([MINUTE, 2 * MINUTE]) == 1.5 * MINUTE
