"""Many rows wait that have all their instances: what is new is created all the same as if there were few."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import Connection

from batchctl.control import creation
from batchctl.control.creation import CreationReport, Creator
from batchctl.store.intake import intake
from batchctl.store.intake.intake import LOOKED_AT_ONCE
from tests.control.test_workers import POLL, Hand, hired
from tests.control.world import World

MANY = 20_000
AT_ONCE = 10


def backlog(world: World, rows: int) -> None:
    """Let rows wait for a batch that is switched off, each with its instance but the last but one, which is paused."""
    world.hand.many("INSERT INTO FileProcess (Entity, FileName) VALUES ('B', ?)", [(str(at),) for at in range(rows)])
    world.sql(f"UPDATE FileProcess SET Status = 'paused' WHERE FileProcess_id = {rows - 1}")
    world.sql(
        "INSERT INTO BatchControl (ProcessBatch_id, FileProcess_id, CycleKey)"
        " SELECT 1, FileProcess_id, 'k' FROM FileProcess WHERE Status = 'ready'"
    )


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """Return behind which row the waiting ones are looked at, and at how many."""
    found: list[tuple[int, int]] = []
    look = intake.look

    def noted(connection: Connection, after: int = 0, most: int | None = None) -> intake.Looked:
        seen = look(connection, after, most)
        found.append((after, seen.rows))
        return seen

    monkeypatch.setattr(intake, "look", noted)
    return found


@pytest.fixture
def creator(world: World, monkeypatch: pytest.MonkeyPatch) -> Creator:
    """Return a creator to whom a few rows are many, and that has looked at 35, one of which was paused."""
    monkeypatch.setattr(intake, "LOOKED_AT_ONCE", AT_ONCE)
    monkeypatch.setattr(creation, "FEW", 2 * AT_ONCE)
    world.batch(Enabled=0)
    backlog(world, 36)
    made = world.creator()
    assert made.create_instances() == CreationReport()
    return made


def noticed(creator: Creator, **how: Any) -> CreationReport:
    """Create what a notice lets look for."""
    return sum(creator.one_by_one(**{"anew": False, **how}), CreationReport())


def instances_of(world: World, file_name: str) -> int:
    """Count the instances of a row."""
    found: int = world.one(
        "SELECT count(*) FROM BatchControl c JOIN FileProcess f ON f.FileProcess_id = c.FileProcess_id"
        f" WHERE f.FileName = '{file_name}'"
    )
    return found


def turn_until_created(hand: Hand, world: World, file_name: str) -> None:
    """Let a leader turn until it has taken notice of a row."""
    for _ in range(10_000):
        hand.turn()
        if instances_of(world, file_name):
            return
    pytest.fail(f"{file_name} was not noticed")


def test_beside_many_rows_a_new_one_alone_is_looked_at(world: World, looks: list[tuple[int, int]]) -> None:
    world.batch(Enabled=0)
    backlog(world, MANY)
    leader = hired(world, "c1")
    leader.turn()
    whole = list(looks)
    looks.clear()
    world.submit(file_name="new")
    turn_until_created(leader, world, "new")
    leader.worker.end()

    assert (sum(rows for _, rows in whole), max(rows for _, rows in whole)) == (MANY - 1, LOOKED_AT_ONCE)
    assert looks == [(MANY, 1)]
    assert world.one("SELECT count(*) FROM BatchControl") == MANY


def test_what_was_made_ready_behind_ones_back_is_found_when_all_are_looked_at_again(
    world: World, looks: list[tuple[int, int]]
) -> None:
    world.batch(Enabled=0)
    backlog(world, MANY)
    leader = hired(world, "c1")
    leader.turn()
    world.sql("UPDATE FileProcess SET Status = 'ready'")
    world.submit(file_name="new")
    turn_until_created(leader, world, "new")
    before = world.one("SELECT count(*) FROM BatchControl")
    looks.clear()
    world.clock.advance(POLL)
    leader.turn()
    leader.worker.end()

    assert (before, world.one("SELECT count(*) FROM BatchControl")) == (MANY, MANY + 1)
    assert looks[:2] == [(MANY + 1, 0), (0, LOOKED_AT_ONCE)]


def test_while_few_rows_wait_a_notice_lets_all_be_looked_at(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(intake, "LOOKED_AT_ONCE", AT_ONCE)
    monkeypatch.setattr(creation, "FEW", 2 * AT_ONCE)
    world.batch(Enabled=0)
    backlog(world, 2 * AT_ONCE)
    made = world.creator()
    made.create_instances()
    world.sql("UPDATE FileProcess SET Status = 'ready'")

    assert noticed(made) == CreationReport(created=1)


def test_what_is_committed_late_waits_no_longer_than_until_all_are_looked_at_again(
    world: World, creator: Creator
) -> None:
    world.sql("UPDATE FileProcess SET Status = 'ready'")

    assert noticed(creator) == CreationReport()
    assert noticed(creator, anew=True) == CreationReport(created=1)
    assert noticed(creator, anew=True) == CreationReport()


def test_notices_do_not_keep_the_old_rows_from_being_looked_at(
    world: World, creator: Creator, looks: list[tuple[int, int]]
) -> None:
    passing = creator.one_by_one(anew=True)
    for _ in range(3):
        next(passing)
    for number in range(2):
        world.submit(file_name=f"new {number}")
        passing = creator.one_by_one(anew=number == 1)
        assert next(passing).created == 1
        for _ in range(2):
            next(passing)
    assert sum(passing, CreationReport()) == CreationReport()

    assert looks == [(36, 0), (0, 10), (10, 10), (36, 1), (20, 10), (37, 1), (30, 7)]


def test_other_definitions_let_all_rows_be_looked_at(world: World, creator: Creator) -> None:
    world.batch("other", Entity="B", Enabled=0)

    assert noticed(creator) == CreationReport(created=35)


def test_once_few_are_left_all_are_looked_at_again(world: World, creator: Creator) -> None:
    world.sql("UPDATE FileProcess SET Status = 'complete' WHERE FileProcess_id <= 20")
    noticed(creator, anew=True)
    world.sql("UPDATE FileProcess SET Status = 'ready' WHERE Status = 'paused'")

    assert noticed(creator) == CreationReport(created=1)


def test_rows_that_nobody_takes_are_named_among_many(world: World, creator: Creator) -> None:
    world.submit("nobody")
    world.sql("UPDATE FileProcess SET Entity = 'nobody', Status = 'ready' WHERE Status = 'paused'")

    assert noticed(creator) == CreationReport(untaken=1)
    assert noticed(creator, anew=True) == CreationReport(untaken=2)
    assert world.names() == ["intake.untaken"] * 2


def test_what_is_new_waits_for_no_other_row_to_be_looked_at(world: World, looks: list[tuple[int, int]]) -> None:
    world.batch(Enabled=0)
    backlog(world, 10)
    creator = world.creator()
    creator.create_instances()
    looks.clear()
    world.submit(file_name="new")
    world.submit("nobody", file_name="unwanted")
    world.submit(file_name="newer")
    passing = creator.one_by_one(anew=False)

    assert [next(passing).created, next(passing).created] == [1, 1]
    assert [instances_of(world, "new"), instances_of(world, "newer"), looks] == [1, 1, []]
    assert sum(passing, CreationReport()) == CreationReport(untaken=1)
    assert looks == [(0, 12)]


def test_what_another_has_made_of_a_new_row_is_not_made_again(world: World) -> None:
    world.batch(Enabled=0)
    creator, other = world.creator(), world.creator()
    creator.create_instances()
    world.submit(file_name="new")
    other.create_instances()

    assert noticed(creator) == CreationReport()
    assert instances_of(world, "new") == 1
