"""Several controllers claim at the same moment: no limit is exceeded, nobody waits, nothing is hidden."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from batchctl.control.controller import Controller
from batchctl.domain.rows import InstanceId
from batchctl.operations.intervene import Operator
from batchctl.ports import Boundary
from batchctl.store import engine
from batchctl.store.transactions import StoreTransactions
from tests.control.world import NO_WAIT, OK, RUNS_ON, ScriptedRunner, World
from tests.control_databases import IMPATIENT, PostgresControl
from tests.postgres import PostgresServer

TURNS = 25
LOOKS = 2000


class Interrupted(StoreTransactions):
    """A way to the database on which something happens within a transaction, after its work and before its COMMIT."""

    def __init__(self, world: World) -> None:
        super().__init__(engine.open_engine(world.database.url, world.directory))
        self.meanwhile: Callable[[], object] | None = None

    def run(self, boundaries: frozenset[Boundary], work: Callable[[Any], Any], *, nowait: bool = False) -> Any:
        """Let it happen once, and only in a transaction of this kind."""

        def interrupted(connection: Any) -> Any:
            result = work(connection)
            meanwhile, self.meanwhile = self.meanwhile, None
            if meanwhile is not None:
                meanwhile()
            return result

        return super().run(boundaries, interrupted, nowait=nowait)


@pytest.fixture
def rows_world(postgres: PostgresServer, prepared: str, tmp_path: Path) -> Iterator[World]:
    """Return a world on PostgreSQL, which locks rows; SQLite lets one write after the other."""
    made = World(PostgresControl(postgres, tmp_path, postgres.new_database(prepared)))
    yield made
    made.close()


def crowd(world: World, limit: str) -> int:
    """Fill a database with more than one limit lets start; return how many may."""
    names = ["only"] if limit == "MaxConcurrent" else ["one", "two", "three"]
    for name in names:
        world.batch(name, steps=1, MaxConcurrent=3)
        for _ in range(6):
            world.submit(name)
    world.sql("INSERT INTO Resource (ResourceName, Units) VALUES ('R', 5)")
    units, alone, expected = {
        "units": (1, 0, 5),
        "units in twos": (2, 0, 2),
        "exclusive": (1, 1, 1),
        "MaxConcurrent": (0, 0, 3),
        "Setting": (0, 0, 4),
    }[limit]
    if units:
        world.sql(
            "INSERT INTO BatchResource (ProcessBatch_id, Resource_id, Units, Exclusive)"
            " SELECT ProcessBatch_id, 1, ?, ? FROM ProcessBatch",
            units,
            alone,
        )
    if limit == "Setting":
        world.sql("INSERT INTO Setting (Name, Value) VALUES ('MaxConcurrent', '4')")
    world.create()
    return expected


def others(world: World, count: int, slots: int = 8) -> Iterator[Controller]:
    """Make controllers, each on a connection and with executions of its own that never end."""
    for number in range(count):
        yield world.controller(
            f"c{number}",
            slots=slots,
            transactions=world.open(),
            runner=ScriptedRunner(script=lambda rendered: RUNS_ON),
        )


LIMITS = ["MaxConcurrent", "units", "units in twos", "exclusive", "Setting"]


@pytest.mark.parametrize("limit", LIMITS)
def test_controllers_that_claim_at_once_exceed_no_limit_and_use_it_up(world: World, limit: str) -> None:
    expected = crowd(world, limit)
    together = threading.Barrier(3)
    counts: list[int] = []

    def claim(controller: Controller) -> None:
        together.wait()
        for _ in range(TURNS):
            controller.turn(NO_WAIT)

    controllers = list(others(world, 3))
    with ThreadPoolExecutor(3) as threads:
        for done in [threads.submit(claim, controller) for controller in controllers]:
            done.result()
        counts.append(world.statuses().count("running"))
    for controller in controllers:
        for _ in range(3):
            controller.turn(NO_WAIT)

    assert world.statuses().count("running") == expected, counts
    assert world.one("SELECT count(*) FROM BatchProcessHistory") == expected
    assert all(controller.failure is None for controller in controllers)


def test_each_is_carried_out_exactly_once_and_in_order_of_its_batch(world: World) -> None:
    for name in ("A", "B", "C"):
        world.batch(name, steps=2)
        for _ in range(8):
            world.submit(name)
    world.create()
    made = [
        world.controller(f"c{number}", slots=2, transactions=world.open(), runner=ScriptedRunner())
        for number in range(3)
    ]

    def work(controller: Controller) -> None:
        for _ in range(LOOKS):
            controller.turn(NO_WAIT)
            if controller.is_idle:
                break

    with ThreadPoolExecutor(3) as threads:
        for done in [threads.submit(work, controller) for controller in made]:
            done.result()
    for controller in made:
        work(controller)

    assert set(world.statuses()) == {"complete"}
    assert sorted(world.history()) == [
        (number, seq, 1, "auto", "success") for number in range(1, 25) for seq in (10, 20)
    ]
    for batch in (1, 2, 3):
        begun = world.sql(
            "SELECT BatchControl_id FROM BatchProcessHistory WHERE ProcessBatch_id = ? AND ProcessControlSeq = 10"
            " ORDER BY BatchProcessHistory_id",
            batch,
        )
        assert begun == sorted(begun)


@pytest.mark.parametrize("limit", LIMITS)
def test_what_another_is_about_to_claim_is_passed_over_and_not_waited_for(rows_world: World, limit: str) -> None:
    world = rows_world
    expected = crowd(world, limit)
    transactions = Interrupted(world)
    first = world.controller("c8", transactions=transactions, runner=ScriptedRunner(script=lambda rendered: RUNS_ON))
    (second,) = others(world, 1)
    seen: list[Sequence[object]] = []

    def meanwhile() -> None:
        with second._transactions.read() as connection:
            connection.exec_driver_sql(IMPATIENT["postgresql"])
        for _ in range(3):
            second.turn(NO_WAIT)
        owners = world.sql("SELECT ClaimedBy, count(*) FROM BatchControl WHERE Status = 'running' GROUP BY 1")
        seen.append((owners, second.failure))

    transactions.meanwhile = meanwhile
    first.turn(NO_WAIT)
    for _ in range(5):
        second.turn(NO_WAIT)

    assert seen == [([], None)]
    assert world.statuses().count("running") == expected
    assert second.failure is None


def test_beside_what_another_is_about_to_claim_anything_else_is_claimed(rows_world: World) -> None:
    world = rows_world
    for name in ("A", "B"):
        world.batch(name, steps=1)
        world.submit(name)
    world.create()
    transactions = Interrupted(world)
    first = world.controller("c8", transactions=transactions, runner=ScriptedRunner(script=lambda rendered: RUNS_ON))
    (second,) = others(world, 1)
    transactions.meanwhile = lambda: second.turn(NO_WAIT)
    first.turn(NO_WAIT)

    assert world.sql("SELECT ClaimedBy, Status FROM BatchControl ORDER BY 1") == [("c0", "running"), ("c8", "running")]


def test_a_thousand_behind_a_full_resource_hide_nothing_elsewhere(world: World) -> None:
    world.batch("full", steps=1, Seq=1, MaxConcurrent=1000)
    world.batch("free", steps=1, Seq=2)
    world.sql("INSERT INTO Resource (ResourceName, Units) VALUES ('R', 1)")
    world.sql("INSERT INTO BatchResource (ProcessBatch_id, Resource_id) VALUES (1, 1)")
    world.hand.many("INSERT INTO FileProcess (Entity) VALUES (?)", [("full",)] * 1000)
    world.submit("free")
    world.sql(
        "INSERT INTO BatchControl (ProcessBatch_id, FileProcess_id)"
        " SELECT b.ProcessBatch_id, f.FileProcess_id FROM FileProcess f"
        " JOIN ProcessBatch b ON b.ProcessBatchName = f.Entity ORDER BY f.FileProcess_id"
    )
    first, second = others(world, 2)
    for controller in (first, second):
        for _ in range(3):
            controller.turn(NO_WAIT)

    running = world.sql("SELECT BatchControl_id, ClaimedBy FROM BatchControl WHERE Status = 'running' ORDER BY 1")
    assert running == [(1, "c0"), (1001, "c0")]
    assert second.is_idle, "nothing may start, and that takes no looking again and again"


def completing(world: World) -> tuple[Controller, Controller, Interrupted]:
    """Bring both instances of one FileProcess to the end of their last step, each under its own controller."""
    transactions = Interrupted(world)
    for name in ("A", "B"):
        world.batch(name, steps=1, Entity="E")
    world.submit("E")
    world.create()
    runners = [ScriptedRunner(script=lambda rendered: RUNS_ON) for _ in range(2)]
    first = world.controller("c1", transactions=transactions, runner=runners[0])
    second = world.controller("c2", transactions=world.open(), runner=runners[1])
    for controller, runner in ((first, runners[0]), (second, runners[1])):
        while not runner.open:
            controller.turn(NO_WAIT)
        runner.end(runner.started[0], OK)
    return first, second, transactions


def test_two_instances_of_one_row_that_complete_at_the_same_moment_leave_it_complete(rows_world: World) -> None:
    world = rows_world
    first, second, transactions = completing(world)
    transactions.meanwhile = lambda: second.turn(NO_WAIT)
    first.turn(NO_WAIT)
    between = sorted(world.statuses())
    second.turn(NO_WAIT)

    assert between == ["complete", "running"], "the other waits for the row that both complete"
    assert world.statuses() == ["complete", "complete"]
    assert world.one("SELECT Status FROM FileProcess") == "complete"


def test_two_threads_that_complete_one_row_leave_it_complete(world: World) -> None:
    first, second, _ = completing(world)
    together = threading.Barrier(2)

    def end(controller: Controller) -> None:
        together.wait()
        for _ in range(LOOKS):
            if not controller.is_working:
                break
            controller.turn(NO_WAIT)

    with ThreadPoolExecutor(2) as threads:
        for done in [threads.submit(end, controller) for controller in (first, second)]:
            done.result()

    assert world.statuses() == ["complete", "complete"]
    assert world.one("SELECT Status FROM FileProcess") == "complete"


def anna(world: World, transactions: StoreTransactions) -> Operator:
    """Return a person who acts beside the controllers."""
    return Operator(
        transactions=transactions,
        clock=world.clock,
        preparer=world.recorder().preparer,
        user="anna",
        host="host1",
        dry_run=False,
    )


def test_a_rerun_that_is_about_to_be_written_keeps_the_row_from_being_complete(rows_world: World) -> None:
    world = rows_world
    first, second, _ = completing(world)
    second.turn(NO_WAIT)
    with closing(Interrupted(world)) as hers:
        hers.meanwhile = lambda: first.turn(NO_WAIT)
        anna(world, hers).rerun(InstanceId(world.statuses().index("complete") + 1), from_seq=10, reason="again")
    first.request_stop()
    first.turn(NO_WAIT)

    assert sorted(world.statuses()) == ["complete", "ready"]
    assert world.one("SELECT Status FROM FileProcess") == "ready"


def test_a_rerun_that_waits_for_a_completion_makes_the_row_ready_again(
    rows_world: World, postgres: PostgresServer
) -> None:
    world = rows_world
    first, second, transactions = completing(world)
    second.turn(NO_WAIT)
    done = InstanceId(world.statuses().index("complete") + 1)
    waiting = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    with ThreadPoolExecutor(1) as threads, closing(world.open()) as hers, closing(world.database.hand()) as dba:

        def meanwhile() -> None:
            acts.append(threads.submit(lambda: anna(world, hers).rerun(done, from_seq=10, reason="again")))
            assert any(dba.sql(waiting) == [(1,)] for _ in range(LOOKS))

        acts: list[Any] = []
        transactions.meanwhile = meanwhile
        first.turn(NO_WAIT)
        acts[0].result()

    assert sorted(world.statuses()) == ["complete", "ready"]
    assert world.one("SELECT Status FROM FileProcess") == "ready"
