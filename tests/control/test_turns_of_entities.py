"""Entities take turns: however many rows of one have come before, those of another are soon created."""

from __future__ import annotations

from itertools import islice

import pytest

from batchctl.control import intake_walk
from batchctl.control.creation import CreationReport
from batchctl.control.intake_walk import IN_TURN
from batchctl.store.intake import intake
from tests.control.world import World

MANY = 60
KEPT = 10
PAGE = 20


@pytest.fixture(autouse=True)
def small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a few rows be many."""
    monkeypatch.setattr(intake, "LOOKED_AT_ONCE", PAGE)
    monkeypatch.setattr(intake_walk, "KEPT", KEPT)


def flood(world: World, *behind: str) -> None:
    """Let many rows of one entity come, and one of each of some others behind them."""
    for name in ("A", *behind):
        world.batch(name, Enabled=0)
    rows = [("A", str(number)) for number in range(MANY)] + [(name, name) for name in behind]
    world.hand.many("INSERT INTO FileProcess (Entity, FileName) VALUES (?, ?)", rows)


def made(world: World) -> list[str]:
    """Return the files of the instances in order of their making."""
    return [name for (name,) in world.sql("SELECT Data1 FROM BatchControl ORDER BY BatchControl_id")]


def test_a_row_behind_many_of_another_entity_is_created_after_a_few_of_them(world: World) -> None:
    flood(world, "B", "C")
    passing = world.creator().one_by_one()
    pages = -(-(MANY + 2) // PAGE)
    list(islice(passing, 2 * pages + IN_TURN + 1))

    assert {"B", "C"} < set(made(world))
    assert len(made(world)) == pages + IN_TURN + 1


def test_within_an_entity_the_order_of_arrival_stays_and_no_row_is_left(world: World) -> None:
    flood(world, "B")
    creator = world.creator()

    assert creator.create_instances() == CreationReport(created=MANY + 1)
    assert [name for name in made(world) if name != "B"] == [str(number) for number in range(MANY)]
    assert creator.create_instances() == CreationReport()


def test_who_is_called_away_goes_on_in_the_same_order(world: World) -> None:
    flood(world, "B")
    creator = world.creator()
    for number in range(MANY):
        list(islice(creator.one_by_one(anew=number % 3 == 0), 4))
        if number == 5:
            world.submit("A", "late")
    creator.create_instances()

    assert [name for name in made(world) if name != "B"] == [*(str(number) for number in range(MANY)), "late"]


def test_rows_that_come_while_many_wait_are_not_created_before_those_of_their_entity(world: World) -> None:
    flood(world)
    creator = world.creator()
    list(islice(creator.one_by_one(), 3))
    world.hand.many(
        "INSERT INTO FileProcess (Entity, FileName) VALUES (?, ?)", [("A", f"new {n}") for n in range(PAGE)]
    )
    creator.create_instances()

    assert made(world) == [*(str(number) for number in range(MANY)), *(f"new {number}" for number in range(PAGE))]


def test_batches_of_one_seq_take_turns_in_the_only_slot_and_a_smaller_seq_goes_first(world: World) -> None:
    for name, seq in (("A", 100), ("B", 100), ("C", 100), ("First", 1)):
        world.batch(name, steps=1, Seq=seq, OnFailure="continue")
    for name, many in (("A", 5), ("B", 1), ("C", 2), ("First", 2)):
        for number in range(many):
            world.submit(name, f"{name}{number}")
    world.create()
    world.turn_until_idle(world.controller())

    begun = world.sql(
        "SELECT c.Data1 FROM BatchProcessHistory h JOIN BatchControl c ON c.BatchControl_id = h.BatchControl_id"
        " ORDER BY h.BatchProcessHistory_id"
    )
    assert [name for (name,) in begun] == ["First0", "First1", "A0", "B0", "C0", "A1", "C1", "A2", "A3", "A4"]


def test_batches_of_one_seq_that_share_a_resource_take_turns_whatever_else_takes_the_other_slots(world: World) -> None:
    for name in ("A", "B", "C", "D"):
        world.batch(name, steps=1, MaxConcurrent=4)
        for number in range(4):
            world.submit(name, f"{name}{number}")
    world.sql("INSERT INTO Resource (ResourceName, Units) VALUES ('R', 1)")
    world.sql("INSERT INTO BatchResource (ProcessBatch_id, Resource_id) VALUES (3, 1), (4, 1)")
    world.create()
    world.turn_until_idle(world.controller(slots=3))

    begun = world.sql(
        "SELECT c.Data1 FROM BatchProcessHistory h JOIN BatchControl c ON c.BatchControl_id = h.BatchControl_id"
        " WHERE c.ProcessBatch_id > 2 ORDER BY h.BatchProcessHistory_id"
    )
    assert [name[0] for (name,) in begun] == ["C", "D"] * 4
