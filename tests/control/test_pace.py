"""How many instances of a batch are begun within a minute, and which batch of one Seq comes first."""

from __future__ import annotations

from datetime import timedelta

import pytest

from batchctl.control.controller import Controller
from batchctl.domain.rows import InstanceId
from batchctl.operations.standing import WaitingLine
from batchctl.store import instances
from batchctl.store.definitions import definitions
from tests.control.world import BAD, NO_WAIT, OK, World

SECOND = timedelta(seconds=1)


def begun(world: World, batch: str) -> list[str]:
    """Return the instances of a batch that have begun, in the order in which they did."""
    return [
        name
        for (name,) in world.sql(
            "SELECT f.FileName FROM BatchProcessHistory h JOIN BatchControl c ON c.BatchControl_id = h.BatchControl_id"
            " JOIN FileProcess f ON f.FileProcess_id = c.FileProcess_id JOIN ProcessBatch b"
            " ON b.ProcessBatch_id = c.ProcessBatch_id WHERE b.ProcessBatchName = ? AND h.ProcessControlSeq = 10"
            " ORDER BY h.BatchProcessHistory_id",
            batch,
        )
    ]


def in_order(world: World) -> str:
    """Return the names of the batches in the order in which their instances began."""
    began = world.sql(
        "SELECT b.ProcessBatchName FROM BatchProcessHistory h JOIN ProcessBatch b"
        " ON b.ProcessBatch_id = h.ProcessBatch_id ORDER BY h.BatchProcessHistory_id"
    )
    return "".join(name for (name,) in began)


def go_on(world: World, controller: Controller) -> None:
    """Let a controller go on that had come to rest."""
    controller.turn(NO_WAIT)
    world.turn_until_idle(controller)


def five(world: World, **columns: object) -> None:
    """Let five instances of B wait."""
    world.batch("B", steps=2, MaxConcurrent=5, **columns)
    for number in range(5):
        world.submit("B", f"f{number}")
    world.create()


def test_no_more_are_begun_within_a_minute_than_may_be(world: World) -> None:
    five(world, MaxPerMinute=2)
    controller = world.process(slots=5)
    first = begun(world, "B")
    world.clock.advance(59 * SECOND)
    go_on(world, controller)
    second = begun(world, "B")
    world.clock.advance(2 * SECOND)
    go_on(world, controller)

    assert first == second == ["f0", "f1"]
    assert begun(world, "B") == ["f0", "f1", "f2", "f3"]
    assert world.statuses() == ["complete"] * 4 + ["ready"]


def test_another_controller_counts_what_the_first_has_begun(world: World) -> None:
    five(world, MaxPerMinute=2)
    world.process()
    world.process()

    assert begun(world, "B") == ["f0", "f1"]


def test_of_a_batch_without_it_nothing_is_written_down(world: World) -> None:
    five(world)
    world.process()

    assert world.statuses() == ["complete"] * 5
    assert world.sql("SELECT count(*) FROM BatchControl WHERE BegunTime IS NOT NULL") == [(0,)]


def test_later_steps_neither_count_nor_wait(world: World) -> None:
    five(world, MaxPerMinute=2)
    world.sql("UPDATE BatchControl SET PrevProcessControlSeq = 10 WHERE BatchControl_id <= 2")
    world.process()

    assert world.statuses() == ["complete"] * 4 + ["ready"]
    assert begun(world, "B") == ["f2", "f3"]


def test_a_retry_of_the_first_step_waits_for_its_place_too(world: World) -> None:
    world.batch("B", steps=1, MaxConcurrent=5, MaxPerMinute=1, RetryCount=1, RetryWaitMins=0, OnFailure="continue")
    for number in range(2):
        world.submit("B", f"f{number}")
    world.create()
    world.runner.script = lambda rendered: BAD if not world.runner.committed else OK
    controller = world.process()
    first = begun(world, "B")
    world.clock.advance(61 * SECOND)
    go_on(world, controller)

    assert first == ["f0"]
    assert begun(world, "B") == ["f0", "f0"]


def test_what_was_changed_is_gone_by(world: World) -> None:
    five(world, MaxPerMinute=1)
    controller = world.process()
    world.sql("UPDATE ProcessBatch SET MaxPerMinute = 3 WHERE ProcessBatchName = 'B'")
    go_on(world, controller)

    assert begun(world, "B") == ["f0", "f1", "f2"]


def test_why_names_the_gate_and_the_time(world: World) -> None:
    five(world, MaxPerMinute=2)
    world.process()
    (oldest,) = world.sql("SELECT min(BegunTime) FROM BatchControl")
    with world.transactions.read() as connection:
        batches = {batch.batch_id: batch for batch in definitions.all_batches(connection)}
        instance = instances.load(connection, InstanceId(5))
        assert instance is not None
        line = WaitingLine(connection, batches, world.clock.now())
        gate = next(one for one in line.gates_of(instance) if one.name == "MaxPerMinute")

    assert gate.blocked == "MaxPerMinute of batch B is 2, and 2 instances of it were begun within 60 seconds"
    assert gate.until is not None
    assert f"{gate.until - 60 * SECOND:%Y-%m-%d %H:%M:%S}" == str(oldest[0])[:19]


@pytest.mark.parametrize(
    ("priorities", "order"),
    [((None, None), "AB"), ((None, 5), "BA"), ((9, 5), "AB"), ((0, 1), "BA"), ((None, 0), "AB")],
)
def test_of_one_seq_the_highest_priority_begins_first(
    world: World, priorities: tuple[int | None, int | None], order: str
) -> None:
    for name, priority in zip("AB", priorities, strict=True):
        world.batch(name, steps=1, Seq=10, Priority=priority)
        world.submit(name)
    world.create()
    world.process()

    assert in_order(world) == order


def test_those_of_one_priority_take_turns_and_seq_goes_before_priority(world: World) -> None:
    for name, seq, priority in (("A", 10, 5), ("B", 10, 5), ("C", 20, 900), ("D", 10, None)):
        world.batch(name, steps=1, Seq=seq, Priority=priority)
        for number in range(2):
            world.submit(name, f"f{number}")
    world.create()
    world.process()

    assert in_order(world) == "ABABDDCC"
