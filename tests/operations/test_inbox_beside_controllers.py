"""People deal with the inbox while controllers take rows in: of each row either work comes, or what a person has decided."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from batchctl.control.creation import CreationReport, Creator
from batchctl.domain.errors import Refused, StatusChanged
from batchctl.domain.rows import IntakeId, IntakeRow, Populated
from batchctl.ports import Boundary
from batchctl.store import engine
from batchctl.store.transactions import StoreTransactions
from tests.control.world import World
from tests.control_databases import ACTS, PostgresControl
from tests.operations.test_inbox import clerk, row_of
from tests.postgres import PostgresServer

MANY = 40
INSTANCES = "SELECT count(*) FROM BatchControl WHERE FileProcess_id = ?"


@pytest.fixture
def postgres_world(postgres: PostgresServer, prepared: str, tmp_path: Path) -> Iterator[World]:
    """Return a world on PostgreSQL, where others write while a transaction lasts."""
    made = World(PostgresControl(postgres, tmp_path, postgres.new_database(prepared)))
    yield made
    made.close()


class Overtaken(StoreTransactions):
    """A way to the database on which somebody else does something at the beginning of the transactions, one by one."""

    def __init__(self, world: World, *meanwhile: Callable[[], object]) -> None:
        super().__init__(engine.open_engine(world.database.url, world.directory))
        self.meanwhile = list(meanwhile)

    def run(self, boundaries: frozenset[Boundary], work: Callable[[Any], Any], *, nowait: bool = False) -> Any:
        """Let the next of it happen."""

        def overtaken(connection: Any) -> Any:
            if self.meanwhile:
                self.meanwhile.pop(0)()
            return work(connection)

        return super().run(boundaries, overtaken, nowait=nowait)


def creator(world: World, transactions: StoreTransactions) -> Creator:
    return Creator(transactions, world.clock, world.populators, ZoneInfo("UTC"), world.events.append)


def at_once(*works: Callable[[], object]) -> None:
    """Do everything at the same time."""
    start, failed = threading.Barrier(len(works)), list[BaseException]()

    def do(work: Callable[[], object]) -> None:
        start.wait(60)
        try:
            work()
        except BaseException as error:  # noqa: BLE001 - the test's own thread raises it
            failed.append(error)

    threads = [threading.Thread(target=do, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failed:
        raise failed[0]


def test_a_row_that_is_rejected_while_its_populator_is_asked_does_not_become_work(
    world: World, anywhere: StoreTransactions
) -> None:
    def meanwhile(row: IntakeRow) -> Populated:
        clerk(world, anywhere).reject(row.intake_id, reason="not this one")
        return Populated(data=(None,) * 6)

    world.populators.by_name["meanwhile"] = meanwhile
    world.batch(Populator="meanwhile")
    world.submit()

    assert world.create() == CreationReport()
    assert row_of(world, 1) == ("rejected", "rejected by anna@host1: not this one")
    assert world.one(INSTANCES, 1) == 0


def test_a_row_that_becomes_work_while_it_is_rejected_stays_work(postgres_world: World) -> None:
    world = postgres_world
    world.batch()
    world.submit()
    transactions = Overtaken(world, world.create)

    with pytest.raises(Refused, match="has become work already"):
        clerk(world, transactions).reject(IntakeId(1), reason="too late")
    transactions.close()

    assert row_of(world, 1) == ("ready", None)
    assert world.one(INSTANCES, 1) == 1
    assert world.sql(f"SELECT * FROM AuditLog WHERE {ACTS}") == []


def test_what_a_person_said_is_not_overwritten_by_what_was_seen_before(postgres_world: World) -> None:
    world = postgres_world
    world.submit("nobody")
    beside = world.open()
    transactions = Overtaken(world, lambda: clerk(world, beside).reject(IntakeId(1), reason="not this one"))

    creator(world, transactions).create_instances()
    transactions.close()

    assert row_of(world, 1) == ("rejected", "rejected by anna@host1: not this one")


def test_of_many_rows_each_becomes_work_or_is_rejected_and_never_both(world: World) -> None:
    world.batch()
    rows = [IntakeId(world.submit()) for _ in range(MANY)]
    ways = [world.open(), world.open()]

    def reject(wanted: Sequence[IntakeId]) -> None:
        for intake_id in wanted:
            with suppress(Refused):
                clerk(world, ways[0]).reject(intake_id, reason="r")

    at_once(creator(world, ways[1]).create_instances, lambda: reject(rows[::-1]))
    world.create()

    found = {(row_of(world, at)[0], world.one(INSTANCES, at)) for at in rows}
    assert found <= {("rejected", 0), ("ready", 1)}
    rejected = world.one("SELECT count(*) FROM FileProcess WHERE Status = 'rejected'")
    assert world.one(f"SELECT count(*) FROM AuditLog WHERE {ACTS}") == rejected


def test_many_who_send_the_same_again_each_have_a_number_of_their_own(world: World) -> None:
    world.batch()
    world.submit(Data="k", Status="complete")
    numbers: list[int] = []

    def send(transactions: StoreTransactions) -> None:
        numbers.extend(clerk(world, transactions).resend(IntakeId(1), reason="r").number for _ in range(5))

    at_once(*(partial(send, world.open()) for _ in range(3)))

    assert sorted(numbers) == list(range(2, 17))
    assert world.create().created == 15


def test_two_who_retry_the_same_row_do_it_once(world: World) -> None:
    world.batch()
    world.submit(Status="rejected")
    outcomes: list[str] = []

    def retry(transactions: StoreTransactions) -> None:
        try:
            outcomes.append(clerk(world, transactions).retry(IntakeId(1), reason="r").status)
        except StatusChanged as changed:
            outcomes.append(changed.found)

    at_once(*(partial(retry, world.open()) for _ in range(2)))

    assert sorted(outcomes) == ["ready", "ready already"]
    assert world.one(f"SELECT count(*) FROM AuditLog WHERE {ACTS}") == 1


def test_accepting_leaves_a_controller_no_moment_to_find_the_row_a_duplicate_again(world: World) -> None:
    world.batch()
    world.submit(Data="k")
    world.submit(Data="k")
    world.create()
    transactions = Overtaken(world, lambda: None, world.create)

    report = creator(world, transactions).accept(IntakeId(2), actor="anna", host="h", reason="r")
    transactions.close()

    assert report == CreationReport(created=1)
    assert world.one(INSTANCES, 2) == 1


def test_whoever_takes_in_what_a_person_has_accepted_does_not_find_it_a_duplicate(world: World) -> None:
    world.batch()
    world.submit(Data="k")
    world.submit(Data="k")
    world.create()
    world.sql("INSERT INTO AuditLog (Actor, Host, Action, Target) VALUES ('dba', 'h', 'accept', 'FileProcess:2')")
    world.sql("UPDATE FileProcess SET Status = 'ready' WHERE FileProcess_id = 2")
    world.submit(Data="k")

    assert world.create() == CreationReport(created=1, duplicates=1)
    assert [row_of(world, at)[0] for at in (1, 2, 3)] == ["ready", "ready", "duplicate"]
