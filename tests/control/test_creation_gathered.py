"""Rows that come while every slot is taken: nothing of them could start, so they are created together, a moment later."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import cast

import pytest

from batchctl.control.worker import GATHER, Leading
from batchctl.domain.rows import BatchDefinition, DataValues, IntakeRow, Populated
from batchctl.ports import Boundary
from tests.control.test_creation_together import ALONE
from tests.control.test_workers import Hand, hired
from tests.control.world import OK, RUNS_ON, World

NO_WAIT, SOME = timedelta(0), timedelta(seconds=5)


def leading(hand: Hand) -> Leading:
    assert hand.worker.leading is not None
    return hand.worker.leading


@pytest.fixture
def full(world: World) -> Iterator[Hand]:
    """Return the leader, whose only slot is taken, and who has just created what took it."""
    world.batch(steps=1, MaxConcurrent=9)
    made = hired(world, "c1")
    leading(made).gather = GATHER
    made.turn()
    made.runner.script = lambda rendered: RUNS_ON
    world.submit()
    made.turn()
    assert world.statuses() == ["running"]
    yield made
    made.worker.end()


def test_what_comes_while_no_slot_is_free_is_created_in_one_transaction(
    world: World, full: Hand, committed: list[frozenset[Boundary]]
) -> None:
    for name in "abc":
        world.submit(file_name=name)
        full.turn(1)
    assert (full.created, committed) == (1, [])
    full.worker.turn(SOME)
    assert timedelta(0) < full.runner.waits[-1] <= timedelta(seconds=GATHER)
    world.clock.advance(timedelta(seconds=GATHER))
    full.turn(1)

    assert (full.created, committed) == (4, [ALONE])
    assert world.statuses() == ["running", *["ready"] * 3]
    full.turn(1)
    full.worker.turn(SOME)
    assert full.runner.waits[-1] > timedelta(seconds=GATHER)


def test_a_slot_that_becomes_free_is_waited_for_no_longer(world: World, full: Hand) -> None:
    world.submit(file_name="a")
    full.turn()
    assert full.created == 1
    (running,) = full.runner.open
    full.runner.end(running, OK)
    full.turn()

    assert world.statuses() == ["complete", "running"]


def test_who_waits_for_more_rows_is_not_idle(world: World, full: Hand) -> None:
    world.submit(file_name="a")
    full.turn(1)
    (running,) = full.runner.open
    full.runner.script = lambda rendered: OK
    full.runner.end(running, OK)

    for _ in range(20):
        assert not full.worker.is_idle or world.statuses() == ["complete"] * 2
        full.turn(1)
    assert world.statuses() == ["complete"] * 2


def test_where_others_write_meanwhile_nothing_waits(world: World, full: Hand) -> None:
    leading(full).gather = 0.0
    world.submit(file_name="a")
    full.turn()

    assert full.created == 2


def test_one_that_is_refused_leaves_the_others_their_instances(
    world: World, full: Hand, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the database has against a row, and whenever that shows."""
    ask = world.populators.ask

    def named(row: IntakeRow, batch: BatchDefinition) -> Populated | None:
        answer = ask(row, batch)
        if row.file_name == "unforeseen":
            raise ZeroDivisionError
        if row.file_name == "bad":
            return Populated(data=cast("DataValues", (object(),) * 6))  # what no driver takes
        return Populated(data=(row.file_name, None, None, None, None, None)) if answer is not None else None

    monkeypatch.setattr(world.populators, "ask", named)
    for name in ("good", "bad", "unforeseen", "too"):
        world.submit(file_name=name)
    world.clock.advance(timedelta(seconds=GATHER))
    full.turn()

    made = "SELECT f.FileName, f.Status, c.BatchControl_id IS NOT NULL FROM FileProcess f"
    made += " LEFT JOIN BatchControl c ON c.FileProcess_id = f.FileProcess_id WHERE f.FileProcess_id > 1 ORDER BY 1"
    assert world.sql(made) == [
        ("bad", "rejected", 0),
        ("good", "ready", 1),
        ("too", "ready", 1),
        ("unforeseen", "rejected", 0),
    ]


def test_of_two_that_come_together_with_the_same_data_the_second_is_the_duplicate(world: World, full: Hand) -> None:
    world.sql("UPDATE ProcessBatch SET DuplicateCheck = 1")
    full.turn()
    for _ in range(2):
        world.submit(file_name="twice", Data="same")
    world.clock.advance(timedelta(seconds=GATHER))
    full.turn()

    assert world.sql("SELECT Status FROM FileProcess WHERE FileName = 'twice' ORDER BY FileProcess_id") == [
        ("ready",),
        ("duplicate",),
    ]
