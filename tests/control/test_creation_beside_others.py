"""Somebody else is at a row of the intake at the moment in which its instances are created."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from batchctl.control.creation import CreationReport, Creator
from batchctl.ports import Boundary
from batchctl.store import engine
from batchctl.store.transactions import StoreTransactions
from tests.control.world import World
from tests.control_databases import PostgresControl
from tests.postgres import PostgresServer

BY_HAND = "INSERT INTO BatchControl (ProcessBatch_id, FileProcess_id) VALUES (1, 1)"


@pytest.fixture
def world(postgres: PostgresServer, prepared: str, tmp_path: Path) -> Iterator[World]:
    """Return a world on PostgreSQL, where others write while a transaction lasts."""
    made = World(PostgresControl(postgres, tmp_path, postgres.new_database(prepared)))
    yield made
    made.close()


class Overtaken(StoreTransactions):
    """A way to the database on which somebody else does something: once a transaction has begun, or before it ends."""

    def __init__(
        self, world: World, *meanwhile: Callable[[], object], last: Callable[[], object] | None = None
    ) -> None:
        super().__init__(engine.open_engine(world.database.url, world.directory))
        self.meanwhile = list(meanwhile)
        self.last = last

    def run(self, boundaries: frozenset[Boundary], work: Callable[[Any], Any], *, nowait: bool = False) -> Any:
        """Let the next of it happen."""

        def overtaken(connection: Any) -> Any:
            if self.meanwhile:
                self.meanwhile.pop(0)()
            done = work(connection)
            if self.last is not None:
                self.last()
            return done

        return super().run(boundaries, overtaken, nowait=nowait)


@pytest.fixture
def create(world: World) -> Iterator[Callable[..., CreationReport]]:
    """Return a creation pass beside somebody who does something meanwhile."""
    opened: list[Overtaken] = []

    def pass_beside(*meanwhile: Callable[[], object], last: Callable[[], object] | None = None) -> CreationReport:
        opened.append(Overtaken(world, *meanwhile, last=last))
        creator = Creator(opened[-1], world.clock, world.populators, ZoneInfo("UTC"), world.events.append)
        return creator.create_instances()

    yield pass_beside
    for transactions in opened:
        transactions.close()


def test_a_row_that_is_given_its_instance_by_hand_at_that_moment_is_not_rejected(
    world: World, create: Callable[..., CreationReport]
) -> None:
    world.batch()
    world.submit()

    assert create(lambda: world.sql(BY_HAND)) == CreationReport()
    assert world.sql("SELECT Status, Message FROM FileProcess") == [("ready", None)]
    assert world.one("SELECT count(*) FROM BatchControl") == 1


def test_the_other_batches_of_such_a_row_get_their_instances(
    world: World, create: Callable[..., CreationReport]
) -> None:
    world.batch("A", Entity="E")
    world.batch("B", Entity="E")
    world.submit("E")

    assert create(lambda: world.sql(BY_HAND)) == CreationReport(created=1)
    assert world.sql("SELECT ProcessBatch_id FROM BatchControl ORDER BY 1") == [(1,), (2,)]
    assert world.one("SELECT Status FROM FileProcess") == "ready"


def test_what_goes_wrong_every_time_is_said_on_the_row(world: World, create: Callable[..., CreationReport]) -> None:
    def break_it() -> None:
        raise RuntimeError("once more")

    world.batch()
    world.submit()

    assert create(break_it, break_it) == CreationReport(rejected=1)
    assert world.sql("SELECT Status, Message FROM FileProcess") == [("rejected", "RuntimeError: once more")]


def test_two_who_create_at_once_do_not_both_take_the_same_data_for_new(
    world: World, create: Callable[..., CreationReport]
) -> None:
    world.batch()
    world.submit(Data="k", Status="paused")
    world.submit(Data="k", Status="ready")
    world.sql("UPDATE FileProcess SET Status = 'rejected' WHERE FileProcess_id = 1")
    beside: list[CreationReport] = []

    def send_again() -> None:
        world.sql("UPDATE FileProcess SET Status = 'ready' WHERE FileProcess_id = 1")
        beside.append(world.create())

    assert create(last=send_again) == CreationReport(created=1)
    assert [replace(one, locked=()) for one in beside] == [CreationReport()], (
        "the second has to see what became of the first"
    )
    assert world.create() == CreationReport(duplicates=1)
    assert world.sql("SELECT FileProcess_id FROM BatchControl") == [(2,)]
    assert "same Data as FileProcess 2" in world.one("SELECT Message FROM FileProcess WHERE FileProcess_id = 1")


def test_a_row_that_is_corrected_at_that_moment_is_populated_as_it_is_then(
    world: World, create: Callable[..., CreationReport]
) -> None:
    world.batch()
    world.submit(file_name="wrong")

    assert create(lambda: world.sql("UPDATE FileProcess SET FileName = 'right'")) == CreationReport()
    assert world.create() == CreationReport(created=1)
    assert world.one("SELECT Data1 FROM BatchControl") == "right"
