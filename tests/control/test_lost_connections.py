"""A connection that is lost around a commit: nothing is lost, nothing is done twice, nothing is assumed."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from batchctl.control.controller import Controller
from batchctl.control.known_definitions import LONGEST_UNSEEN
from batchctl.domain.errors import OutcomeUnknown
from batchctl.store.dialects import postgresql
from tests.control.test_random_nights import VIOLATIONS
from tests.control.world import BAD, NO_WAIT, OK, World
from tests.control_databases import PostgresControl
from tests.postgres import PostgresServer
from tests.proxy import Cut, Proxy

COMMITS = 5
"""How many a pass over one instance of three steps with one failure makes at least."""


@pytest.fixture
def proxy(postgres: PostgresServer) -> Iterator[Proxy]:
    """Return what stands between the engine and its server."""
    made = Proxy(postgres.port)
    yield made
    made.close()


@pytest.fixture
def far(postgres: PostgresServer, prepared: str, proxy: Proxy, tmp_path: Path) -> Iterator[World]:
    """Return a world whose engine reaches its database through the proxy; its people do not."""
    database = PostgresControl(postgres, tmp_path, postgres.new_database(prepared))
    database.url = postgres.url(database.name, port=proxy.port)
    made = World(database)
    yield made
    made.close()


def turn(controller: Controller, world: World, most: int = 60) -> None:
    """Turn until nothing is left to do, however often the connection is lost."""
    for _ in range(most):
        if controller.is_idle:
            return
        controller.turn(NO_WAIT)
    raise AssertionError(world.names())


@pytest.mark.parametrize("number", range(1, COMMITS + 1))
@pytest.mark.parametrize("where", [Cut.BEFORE, Cut.AT, Cut.AFTER])
def test_a_connection_cut_at_any_commit_changes_nothing_in_the_end(
    far: World, proxy: Proxy, where: Cut, number: int
) -> None:
    far.batch(steps=3, RetryCount=1)
    far.submit()
    far.create()
    answers = iter([OK, BAD, OK, OK])
    far.runner.script = lambda rendered: next(answers)
    controller = far.controller()
    proxy.cut(number, where)

    turn(controller, far)
    far.clock.advance(timedelta(minutes=6))
    controller.turn(NO_WAIT)
    turn(controller, far)

    assert far.statuses() == ["complete"]
    assert far.history() == [
        (1, 10, 1, "auto", "success"),
        (1, 20, 1, "auto", "failed"),
        (1, 20, 2, "retry", "success"),
        (1, 30, 1, "auto", "success"),
    ]
    assert len(far.runner.started) == 4
    assert len(set(far.runner.started)) == 4
    for name, statement in VIOLATIONS.items():
        assert far.sql(statement) == [], name
    assert "controller.waiting" in far.names()


SLOW_COMMITS = """
CREATE FUNCTION be_slow() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('client_connection_check_interval', '0', true);
    PERFORM pg_sleep(0.5);
    RETURN NULL;
END
$$;
CREATE CONSTRAINT TRIGGER slow AFTER UPDATE ON BatchControl DEFERRABLE INITIALLY DEFERRED
FOR EACH ROW EXECUTE FUNCTION be_slow();
"""


@pytest.mark.parametrize("number", range(1, 5))
def test_a_commit_that_the_server_still_works_on_is_waited_for(far: World, proxy: Proxy, number: int) -> None:
    far.batch(steps=3, RetryCount=1)
    far.submit()
    far.create()
    far.hand.sql(SLOW_COMMITS)
    controller = far.controller()
    proxy.cut(number, Cut.AT)

    turn(controller, far)

    assert far.statuses() == ["complete"]
    assert [entry[1:] for entry in far.history()] == [(seq, 1, "auto", "success") for seq in (10, 20, 30)]
    assert len(far.runner.started) == 3
    for name, statement in VIOLATIONS.items():
        assert far.sql(statement) == [], name


@pytest.mark.parametrize("where", [Cut.BEFORE, Cut.AT, Cut.AFTER])
def test_two_connections_lost_one_after_the_other(far: World, proxy: Proxy, where: Cut) -> None:
    far.batch(steps=2)
    far.submit()
    far.create()
    proxy.cut(1, where)
    proxy.cut(2, where)
    controller = far.controller()

    turn(controller, far)

    assert far.statuses() == ["complete"]
    assert far.history() == [(1, 10, 1, "auto", "success"), (1, 20, 1, "auto", "success")]


def test_sessions_ended_by_the_dba_are_made_anew(far: World, postgres: PostgresServer) -> None:
    far.batch(steps=2)
    far.submit()
    far.create()
    far.runner.script = lambda rendered: None
    controller = far.process()
    with postgres.connect() as dba:
        dba.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'batchctl/%%'")
    far.runner.end(far.runner.started[-1], OK)
    controller.turn(NO_WAIT)
    assert "controller.waiting" in far.names()

    far.runner.script = lambda rendered: OK
    turn(controller, far)
    assert far.statuses() == ["complete"]


def test_pauses_grow_while_the_database_is_away_and_deadlines_are_kept(far: World, postgres: PostgresServer) -> None:
    batch_id = far.batch(steps=0)
    far.step(batch_id, 10, MaxDuration=60)
    far.submit()
    far.create()
    far.runner.script = lambda rendered: None
    controller = far.process()
    far.hand.close()
    postgres.stop(at_once=True)
    try:
        far.runner.waits.clear()
        for _ in range(10):
            controller.turn(NO_WAIT)
        pauses = [wait.total_seconds() for wait in far.runner.waits if wait]
        assert pauses[:7] == [1, 2, 4, 8, 16, 30, 30]
        far.clock.advance(timedelta(seconds=61))
        controller.turn(NO_WAIT)
        assert far.runner.stopped == far.runner.started
    finally:
        postgres.start()
    far.hand = far.database.hand()
    turn(controller, far)
    assert far.history() == [(1, 10, 1, "auto", "timeout")]


def test_a_controller_whose_first_look_was_rolled_back_hears_of_changes_all_the_same(far: World) -> None:
    far.batch(steps=2)
    far.submit()
    far.create()
    far.runner.script = lambda rendered: None
    controller = far.process()
    far.be_impatient()
    (_, first) = (controller, far.runner.started[0])
    far.hand.begin_writing()
    far.transactions.close()  # a session of which nothing is known any more
    far.runner.end(first, OK)
    with far.transactions.read() as connection:
        connection.exec_driver_sql("SET lock_timeout = '1ms'")
    controller.turn(NO_WAIT)
    assert controller.failure is not None
    far.hand.sql("ROLLBACK")
    for _ in range(3):
        controller.turn(NO_WAIT)
    assert len(far.runner.open) == 1

    far.sql("UPDATE BatchControl SET Status = 'cancelling'")
    controller.turn(NO_WAIT)

    assert far.runner.stopped == far.runner.started[-1:]


def test_without_any_notice_a_change_is_seen_after_a_while(far: World) -> None:
    far.batch(steps=1)
    far.submit()
    far.create()
    far.runner.script = lambda rendered: None
    controller = far.process()
    far.hand.sql("ALTER TABLE BatchControl DISABLE TRIGGER USER")
    far.sql("UPDATE BatchControl SET Status = 'cancelling'")
    controller.turn(NO_WAIT)
    unseen = list(far.runner.stopped)
    far.clock.advance(timedelta(seconds=LONGEST_UNSEEN))
    controller.turn(NO_WAIT)

    assert unseen == []
    assert far.runner.stopped == far.runner.started


def test_a_table_that_is_altered_meanwhile_ends_nothing(far: World) -> None:
    far.batch(steps=1)
    far.submit()
    far.create()
    far.runner.script = lambda rendered: None
    controller = far.process()
    for number in range(8):  # as often as a driver takes to prepare a statement
        far.sql("UPDATE ProcessBatch SET Description = ?", str(number))
        controller.turn(NO_WAIT)
    for leans_on_it in ("TRIGGER TR_ProcessBatch_Audit ON ProcessBatch", "VIEW vStatus"):
        far.hand.sql(f"DROP {leans_on_it}")
    far.hand.sql("ALTER TABLE ProcessBatch ALTER COLUMN Description TYPE varchar(500)")
    far.sql("UPDATE ProcessBatch SET Description = 'other'")
    for _ in range(4):
        controller.turn(NO_WAIT)
    assert controller.failure is None
    assert far.runner.open

    far.runner.end(far.runner.started[0], OK)
    turn(controller, far)
    assert far.statuses() == ["complete"]


def test_a_server_that_falls_silent_is_not_waited_for_for_ever(
    far: World, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgresql, "SILENT_LOOKS", 3)
    far.batch(steps=2)
    far.submit()
    far.create()
    controller = far.controller()
    proxy.cut(1, Cut.MUTE)
    controller.turn(NO_WAIT)
    assert isinstance(controller.failure, OutcomeUnknown)
    assert "has not answered" in controller.failure.message
    proxy.muted.clear()

    turn(controller, far)

    assert far.statuses() == ["complete"]
    assert far.history() == [(1, 10, 1, "auto", "success"), (1, 20, 1, "auto", "success")]
