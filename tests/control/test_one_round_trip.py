"""A turn in which all instances go on is one statement to PostgreSQL: one round trip, all of it done or nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

import psycopg
import pytest

from batchctl.control.controller import Controller
from batchctl.domain.errors import Conflict, OutcomeUnknown
from batchctl.domain.rows import BatchInstance, HistoryId, InstanceId
from batchctl.ports import Boundary
from batchctl.store import instances, turns
from batchctl.store.dialects.postgresql_pipeline import Pipeline
from batchctl.store.statements import driver_of
from batchctl.store.transactions import NotAsReadError, StoreTransactions
from tests.control.world import NO_WAIT, OK, RUNS_ON, World
from tests.control_databases import PostgresControl
from tests.postgres import PostgresServer
from tests.proxy import Cut, Proxy

START = frozenset({Boundary.START})


@pytest.fixture
def control_database(postgres: PostgresServer, prepared: str, tmp_path: Path) -> PostgresControl:
    """Return a database of a server."""
    return PostgresControl(postgres, tmp_path, postgres.new_database(prepared))


@pytest.fixture
def proxy(postgres: PostgresServer) -> Iterator[Proxy]:
    """Return what may stand between the engine and its server."""
    made = Proxy(postgres.port)
    yield made
    made.close()


def under_way(world: World, count: int = 2) -> Controller:
    """Let a controller that has no slot to spare run the first of three steps of some instances."""
    world.batch(steps=3, MaxConcurrent=count)
    for _ in range(count):
        world.submit()
    world.create()
    world.runner.script = lambda rendered: RUNS_ON
    controller = world.controller(slots=count)
    while len(world.runner.open) < count:
        controller.turn(NO_WAIT)
    world.hear()
    return controller


def end(world: World, *keys: HistoryId) -> None:
    """Let some steps end well, or all that run."""
    for key in keys or list(world.runner.open):
        world.runner.end(key, OK)


def pipeline(world: World, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return what grows with each round trip that the engine makes, by how many statements it takes along."""
    made: list[int] = []
    go = Pipeline._go

    def counted(self: Pipeline, asked: list[Any]) -> Any:
        made.append(len(asked))
        return go(self, asked)

    def waited(*_: Any, **__: Any) -> None:
        made.append(0)

    monkeypatch.setattr(Pipeline, "_go", counted)
    with world.transactions.read() as connection:
        monkeypatch.setattr(driver_of(connection), "execute", waited)
    return made


def loaded(connection: Any, number: int) -> BatchInstance:
    """Return an instance as it stands."""
    found = instances.load(connection, InstanceId(number))
    assert found is not None
    return found


def advance(transactions: StoreTransactions, now: datetime, *tokens: int) -> None:
    """Move the first instances on to step 10, each as it was under a claim."""
    with transactions.read() as connection:
        found = [replace(loaded(connection, at), claim_token=token) for at, token in enumerate(tokens, start=1)]
    moves = [(one, replace(one, last_seq=10)) for one in found]
    work = partial(write, moves, now)
    transactions.run(START, work, nowait=True)


def write(moves: turns.Moves, now: datetime, connection: Any) -> None:
    """Write moves of two kinds, so that they go out together."""
    first, *others = moves
    pairs = [(first[0], replace(first[1], retry_count=3)), *others]
    turns.write(connection, turns.make(connection, pairs, (), (), "host1", now))


@pytest.mark.parametrize("ended", [1, 2])
def test_a_turn_in_which_all_go_on_waits_for_one_answer(
    world: World, monkeypatch: pytest.MonkeyPatch, ended: int
) -> None:
    controller = under_way(world)
    made = pipeline(world, monkeypatch)

    end(world, *world.runner.started[:ended])
    controller.turn(NO_WAIT)

    assert made == [4]
    assert len(world.runner.started) == 2 + ended
    assert [entry[1:] for entry in world.history() if entry[1] == 10][:ended] == [(10, 1, "auto", "success")] * ended


def test_the_last_step_and_what_follows_it_are_one_transaction_all_the_same(world: World) -> None:
    controller = under_way(world)
    for _ in range(3):
        end(world)
        controller.turn(NO_WAIT)

    assert world.statuses() == ["complete", "complete"]
    assert len(world.history()) == 6


def test_one_that_does_not_stand_as_it_was_read_undoes_all_of_the_statement(world: World) -> None:
    under_way(world)
    standing = "SELECT PrevProcessControlSeq, xmin::text FROM BatchControl ORDER BY 1, 2"
    before = world.sql(standing)

    with pytest.raises(NotAsReadError):
        advance(world.transactions, world.clock.now(), 1, 7)
    assert world.sql(standing) == before
    advance(world.transactions, world.clock.now(), 1, 1)
    assert {seq for seq, _ in world.sql(standing)} == {10}


def test_one_that_was_taken_away_does_not_keep_the_others_from_going_on(world: World) -> None:
    controller = under_way(world)
    world.sql("UPDATE BatchControl SET ClaimToken = 7 WHERE BatchControl_id = 1")

    end(world)
    controller.turn(NO_WAIT)

    assert world.history() == [
        (1, 10, 1, "auto", "fenced"),
        (2, 10, 1, "auto", "success"),
        (2, 20, 1, "auto", "running"),
    ]


def test_what_the_commit_refuses_is_refused_as_a_whole(world: World) -> None:
    under_way(world)
    world.hand.sql(
        "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'too late'; END $$;"
        "CREATE CONSTRAINT TRIGGER late AFTER UPDATE ON BatchControl DEFERRABLE INITIALLY DEFERRED"
        " FOR EACH ROW EXECUTE FUNCTION refuse()"
    )
    with pytest.raises(psycopg.errors.RaiseException, match="too late"):
        advance(world.transactions, world.clock.now(), 1, 1)
    assert world.sql("SELECT DISTINCT PrevProcessControlSeq FROM BatchControl") == [(0,)]


def test_somebody_elses_lock_is_waited_for_but_a_moment(world: World) -> None:
    under_way(world)
    with world.transactions.read() as connection:
        connection.exec_driver_sql("SET lock_timeout = 0")
        connection.exec_driver_sql("SET statement_timeout = '10s'")
    world.hand.sql("BEGIN")
    world.hand.sql("SELECT * FROM BatchControl FOR UPDATE")

    with pytest.raises(Conflict):
        advance(world.transactions, world.clock.now(), 1, 1)


@pytest.mark.parametrize("where", [Cut.BEFORE, Cut.AT, Cut.AFTER])
def test_a_connection_lost_over_the_one_statement_leaves_its_outcome_unknown_until_it_is_settled(
    world: World, postgres: PostgresServer, control_database: PostgresControl, proxy: Proxy, where: Cut
) -> None:
    control_database.url = postgres.url(control_database.name, port=proxy.port)
    world.transactions = world.open()
    controller = under_way(world)
    commits = proxy.seen
    proxy.cut(1, where)

    end(world)
    controller.turn(NO_WAIT)

    assert proxy.seen == commits + 1
    assert isinstance(controller.failure, OutcomeUnknown)
    world.runner.script = lambda rendered: OK
    while not controller.is_idle:
        controller.turn(NO_WAIT)
    assert world.statuses() == ["complete", "complete"]
    assert sorted(world.history()) == [(at, seq, 1, "auto", "success") for at in (1, 2) for seq in (10, 20, 30)]
    assert len(world.runner.started) == len(set(world.runner.started)) == 6


def test_few_rows_are_found_by_index_in_a_small_table_too(world: World) -> None:
    under_way(world)
    world.hand.sql("INSERT INTO FileProcess (Entity) SELECT 'B' FROM generate_series(1, 1000)")
    world.hand.sql(
        "INSERT INTO BatchControl (ProcessBatch_id, FileProcess_id) SELECT 1, FileProcess_id FROM FileProcess f"
        " WHERE NOT EXISTS (SELECT 1 FROM BatchControl c WHERE c.FileProcess_id = f.FileProcess_id)"
    )
    world.hand.sql("ANALYZE")
    with world.transactions.read() as connection:
        found = loaded(connection, 1)
        (rows,) = instances.moving(connection, [(found, replace(found, last_seq=10))], world.clock.now(), claim=False)
        update = str(rows.statement.of_many).replace("%s", "$1")
        plan = connection.exec_driver_sql(f"EXPLAIN (GENERIC_PLAN) {update}").scalars().all()

    assert any('Index Scan using "PK_BatchControl"' in line for line in plan), plan
    assert not any("Merge" in line for line in plan), plan
