"""The gates: what decides is what explains."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batchctl.domain import gates
from batchctl.domain.operators import freezes
from batchctl.domain.rows import LONG_AGO, BatchDefinition, BatchId, BatchInstance, Freeze, FreezeId, InstanceId
from batchctl.domain.status import CLAIMED, STANDING_FAILURE, InstanceStatus, OnFailure
from batchctl.testing import FakeClock, a_step, an_instance

NOW = FakeClock().now()
LATER = NOW + timedelta(minutes=1)

lines = st.lists(st.tuples(st.sampled_from(InstanceStatus), st.sampled_from([LONG_AGO, NOW, LATER])), max_size=8).map(
    lambda drawn: [
        an_instance(instance_id=InstanceId(at), status=status, next_run_time=due)
        for at, (status, due) in enumerate(drawn, start=1)
    ]
)


def batch(**given_: object) -> BatchDefinition:
    """Return a batch with one step."""
    plain: dict[str, object] = {"batch_id": BatchId(1), "name": "B", "entity": "B", "steps": (a_step(),)}
    return BatchDefinition(**{**plain, **given_})  # type: ignore[arg-type] # fields by name


def started(line: list[BatchInstance], definition: BatchDefinition, places: int) -> list[int]:
    """Return the ids of those that may start."""
    return [at.instance_id for at in gates.startable(definition, line, now=NOW, places=places)]


@given(line=lines, policy=st.sampled_from([OnFailure.HOLD_BATCH, OnFailure.STOP_ALL]), places=st.integers(1, 4))
def test_nothing_starts_behind_an_earlier_failure_or_waiting_instance(
    line: list[BatchInstance], policy: OnFailure, places: int
) -> None:
    for number in started(line, batch(on_failure=policy), places):
        for earlier in line[: number - 1]:
            waits = earlier.status in {InstanceStatus.READY, InstanceStatus.RETRY} and earlier.next_run_time > NOW
            assert not waits
            assert earlier.status not in STANDING_FAILURE or earlier.instance_id in started(line, batch(), places)


@given(line=lines, policy=st.sampled_from(OnFailure), places=st.integers(1, 4))
def test_only_due_ready_and_retry_instances_start_in_order_and_never_more_than_there_is_room(
    line: list[BatchInstance], policy: OnFailure, places: int
) -> None:
    numbers = started(line, batch(on_failure=policy), places)

    assert numbers == sorted(numbers)
    assert len(numbers) <= places
    for number in numbers:
        assert line[number - 1].status in {InstanceStatus.READY, InstanceStatus.RETRY}
        assert line[number - 1].next_run_time <= NOW


@given(line=lines, places=st.integers(1, 8))
def test_with_continue_everything_that_is_due_starts(line: list[BatchInstance], places: int) -> None:
    due = [
        at.instance_id
        for at in line
        if at.status in {InstanceStatus.READY, InstanceStatus.RETRY} and at.next_run_time <= NOW
    ]

    assert started(line, batch(on_failure=OnFailure.CONTINUE), places) == due[:places]


@given(line=lines)
def test_a_gate_blocks_exactly_what_may_not_start(line: list[BatchInstance]) -> None:
    for instance in line:
        standing = gates.GateContext(now=NOW, places=1)
        blocked = [gate for gate in gates.gates(instance, batch(), standing) if gate.blocked is not None]
        assert gates.may_start(instance, batch(), standing) == (not blocked)


@given(failures=lines)
def test_of_the_failures_that_stop_everything_at_most_one_retry_goes_on(failures: list[BatchInstance]) -> None:
    standing = [at for at in failures if at.status in STANDING_FAILURE]
    free = [at for at in standing if gates.stopper(at, standing) is None]
    needs_a_person = any(at.status is not InstanceStatus.RETRY for at in standing)

    assert len(free) == (1 if standing and not needs_a_person else 0)
    assert all(at.status is InstanceStatus.RETRY for at in free)


def test_every_status_has_a_word_about_it() -> None:
    silent = {InstanceStatus.READY, InstanceStatus.RETRY}
    for status in InstanceStatus:
        gate = gates.gates(an_instance(status=status), batch(), gates.GateContext(now=NOW, places=1))[0]
        assert (gate.blocked is None) == (status in silent)
        assert status in CLAIMED | silent or gate.clear


def test_a_disabled_batch_and_a_batch_without_steps_block() -> None:
    ready = an_instance(status=InstanceStatus.READY)
    standing = gates.GateContext(now=NOW, places=1)

    assert not gates.may_start(ready, batch(enabled=False), standing)
    assert not gates.may_start(ready, batch(steps=()), standing)
    assert gates.may_start(ready, batch(), standing)


@pytest.mark.parametrize(
    ("batch_name", "tag", "held"), [(None, None, 1), ("B", None, 1), (None, "t", 1), ("C", None, 0)]
)
def test_a_freeze_says_who_when_and_why_and_how_it_ends(batch_name: str | None, tag: str | None, held: int) -> None:
    freeze = Freeze(
        freeze_id=FreezeId(1), reason="a\x1b[2J", actor="anna", since=NOW, batch=batch_name, tag=tag, until=LATER
    )
    found = batch(tags=("t",), freezes=(freeze,) if freezes.scope_of(freeze).covers("B", ("T",)) else ())

    gate = gates.frozen(found, NOW)

    assert (gate.blocked is not None) == bool(held)
    assert gates.frozen(found, LATER).blocked is None
    if held:
        assert (
            f"is frozen since {NOW:%Y-%m-%d %H:%M:%S} UTC, until {LATER:%Y-%m-%d %H:%M:%S} UTC, by anna: a\\x1b[2J"
            in str(gate.blocked)
        )
        of = "--batch B " if batch_name else "--tag t " if tag else ""
        assert gate.clear == f"batchctl thaw {of}--reason ..."
