"""Taking notice of what others write: at once, whatever becomes of the connection, and without looking all the time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from batchctl.domain.errors import DatabaseRefused
from batchctl.ports import Change, Notify
from batchctl.store import engine
from batchctl.store.dialects import postgresql
from batchctl.store.transactions import StoreTransactions
from batchctl.system.plugins.plugin_process import PluginProcess
from batchctl.system.runner import ThreadStepRunner
from tests.control_databases import PostgresControl
from tests.hand import Hand
from tests.postgres import PostgresServer
from tests.system.watching import LIMIT

LONG = timedelta(seconds=LIMIT)
INSERT = "INSERT INTO FileProcess (Entity) VALUES ('B')"


@pytest.fixture
def runner() -> Iterator[ThreadStepRunner]:
    made = ThreadStepRunner(controller_id="here", plugin_process=refuse, jobs={}, connections={}, secrets=str)
    yield made
    made.close()


def refuse() -> PluginProcess:
    raise AssertionError("no plugin is needed here")


@pytest.fixture
def on_postgres(postgres: PostgresServer, prepared: str, tmp_path: Path) -> PostgresControl:
    return PostgresControl(postgres, tmp_path, postgres.new_database(prepared))


@pytest.fixture
def far(on_postgres: PostgresControl) -> Iterator[StoreTransactions]:
    made = StoreTransactions(engine.open_engine(on_postgres.url, on_postgres.directory))
    yield made
    made.close()


def waits(runner: ThreadStepRunner, transactions: StoreTransactions) -> float:
    """Wait with the bell; return for how many seconds."""
    begun = time.monotonic()
    assert runner.collect(LONG, heard(transactions)) == []
    return time.monotonic() - begun


def heard(transactions: StoreTransactions) -> Notify:
    notify = transactions.notify()
    assert notify is not None
    return notify


def at_rest(transactions: StoreTransactions) -> None:
    """Take notice of everything so far."""
    while transactions.changed():
        pass


def written_once_looked_at(notify: Notify, write: Callable[[], object]) -> Notify:
    """Return the bell; somebody writes when it has been looked at for the first time, so that the waiting has begun."""
    looks = 0

    def rings() -> bool:
        nonlocal looks
        looks += 1
        if looks == 1:
            assert not notify.rings()
            write()
            return False
        return notify.rings()

    return Notify(rings, notify.look_every, notify.descriptor)


def test_nothing_rings_before_there_is_a_connection(transactions: StoreTransactions) -> None:
    assert transactions.notify() is None


def test_who_waits_is_woken_by_what_another_writes(
    transactions: StoreTransactions, runner: ThreadStepRunner, hand: Hand
) -> None:
    at_rest(transactions)
    notify = written_once_looked_at(heard(transactions), lambda: hand.sql(INSERT))
    begun = time.monotonic()

    assert runner.collect(LONG, notify) == []

    assert time.monotonic() - begun < LIMIT / 2
    assert Change.INTAKE in transactions.changed()
    assert not heard(transactions).rings()


def test_the_socket_wakes_however_seldom_it_is_looked_at(
    far: StoreTransactions, runner: ThreadStepRunner, on_postgres: PostgresControl, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgresql, "LOOK_SECONDS", 10 * LIMIT)
    at_rest(far)
    hand = on_postgres.hand()
    notify = written_once_looked_at(heard(far), lambda: hand.sql(INSERT))
    begun = time.monotonic()

    assert runner.collect(LONG, notify) == []

    assert time.monotonic() - begun < LIMIT / 2
    hand.close()


def test_a_notice_that_came_with_another_answer_rings(
    transactions: StoreTransactions, runner: ThreadStepRunner, hand: Hand
) -> None:
    at_rest(transactions)
    hand.sql(INSERT)
    with transactions.read() as connection:
        connection.exec_driver_sql("SELECT 1")

    assert waits(runner, transactions) < LIMIT / 2
    assert transactions.changed()


def test_who_has_been_told_is_not_told_again(transactions: StoreTransactions, hand: Hand) -> None:
    hand.sql(INSERT)
    at_rest(transactions)

    assert not heard(transactions).rings()


def test_a_connection_that_ends_rings_and_its_successor_is_heard(
    far: StoreTransactions, runner: ThreadStepRunner, on_postgres: PostgresControl
) -> None:
    hand = on_postgres.hand()
    at_rest(far)
    before = heard(far)
    hand.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'batchctl/%'")

    assert waits(runner, far) < LIMIT / 2
    with pytest.raises(DatabaseRefused), far.read():
        far.changed()
    assert far.notify() is None
    assert far.changed() is Change.ANYTHING
    assert before.rings()

    at_rest(far)
    notify = written_once_looked_at(heard(far), lambda: hand.sql(INSERT))
    begun = time.monotonic()
    assert runner.collect(LONG, notify) == []
    assert time.monotonic() - begun < LIMIT / 2
    hand.close()


@pytest.mark.parametrize(
    ("statements", "change"),
    [
        ([INSERT], Change.INTAKE),
        (["UPDATE BatchControl SET Status = 'paused'"], Change.INSTANCES),
        ([INSERT, "UPDATE BatchControl SET Status = 'paused'"], Change.INTAKE | Change.INSTANCES),
        (["INSERT INTO ProcessBatch (ProcessBatchName) VALUES ('N')"], Change.ANYTHING),
        (["UPDATE Setting SET Value = '3' WHERE Name = 'MaxConcurrent'"], Change.ANYTHING),
        (["NOTIFY batchctl"], Change.ANYTHING),
    ],
)
def test_a_notice_says_what_was_written(
    far: StoreTransactions, on_postgres: PostgresControl, statements: list[str], change: Change
) -> None:
    hand = on_postgres.hand()
    at_rest(far)
    for statement in statements:
        hand.sql(statement)
    with far.read() as connection:
        connection.exec_driver_sql("SELECT 1")

    assert far.changed() is change
    assert far.changed() is Change.NOTHING
    hand.close()


def test_who_waits_for_a_socket_does_not_look_all_the_time(runner: ThreadStepRunner, far: StoreTransactions) -> None:
    at_rest(far)
    quiet, looks = heard(far), []

    def rings() -> bool:
        looks.append(quiet.rings())
        return looks[-1]

    assert runner.collect(timedelta(milliseconds=200), Notify(rings, quiet.look_every, quiet.descriptor)) == []

    assert len(looks) <= 3
    assert not any(looks)


def test_where_nothing_becomes_readable_it_is_looked_again_and_again(runner: ThreadStepRunner) -> None:
    answers = iter([False, False, False, True])
    begun = time.monotonic()

    assert runner.collect(LONG, Notify(lambda: next(answers), timedelta(milliseconds=1))) == []

    assert time.monotonic() - begun < LIMIT / 2
    assert list(answers) == []
