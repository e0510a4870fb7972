"""The two ways to the database: what others see, what happens when it is busy, broken or full."""

from __future__ import annotations

import re
import shutil
import sqlite3
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import pytest
from sqlalchemy import Connection

from batchctl.domain.errors import BatchctlError, Busy, DatabaseRefused
from batchctl.ports import Boundary
from batchctl.store import engine
from batchctl.store.dialects import sqlite
from batchctl.store.intake import intake
from batchctl.store.transactions import StoreTransactions, savepoint
from tests.control_databases import IMPATIENT, ControlDatabase, SqliteControl
from tests.hand import Hand

C1 = frozenset({Boundary.INTAKE})


def add(connection: Connection) -> int:
    """Insert a FileProcess row."""
    return intake.add(connection, entity="E", file_name=None, data=None, cycle_key=None, source="test")


def test_a_transaction_is_seen_by_others_once_it_is_committed(transactions: StoreTransactions, hand: Hand) -> None:
    def work(connection: Connection) -> int:
        added = add(connection)
        assert hand.sql("SELECT count(*) FROM FileProcess") == [(0,)]
        return added

    assert transactions.run(C1, work) == 1
    assert hand.sql("SELECT count(*) FROM FileProcess") == [(1,)]


def test_an_error_undoes_everything(transactions: StoreTransactions, hand: Hand) -> None:
    def work(connection: Connection) -> None:
        add(connection)
        raise RuntimeError("on purpose")

    with pytest.raises(RuntimeError, match="on purpose"):
        transactions.run(C1, work)
    assert hand.sql("SELECT count(*) FROM FileProcess") == [(0,)]
    assert transactions.run(C1, add) > 0


def test_only_what_others_commit_is_a_change(transactions: StoreTransactions, hand: Hand) -> None:
    assert transactions.changed()
    assert not transactions.changed()
    transactions.run(C1, add)
    assert not transactions.changed()
    hand.sql("INSERT INTO FileProcess (Entity) VALUES ('E')")
    with transactions.read() as connection:
        # What others have done is heard with the next answer at the latest.
        connection.exec_driver_sql("SELECT 1")
    assert transactions.changed()
    assert not transactions.changed()


@pytest.mark.full
def test_a_busy_database_is_tried_again_and_then_named(
    transactions: StoreTransactions, hand: Hand, control_database: ControlDatabase
) -> None:
    with transactions.read() as connection:
        connection.exec_driver_sql(IMPATIENT[control_database.kind])
    hand.begin_writing()
    with pytest.raises(Busy) as caught:
        transactions.run(C1, add)
    who, end = {
        "sqlite": (r"another program", "find the program that holds the lock, and end it"),
        "postgresql": (
            (
                r"session \d+ \(user \w+, idle in transaction, transaction open since .* UTC\), as far as can be seen: "
                r"it has kept locks longest"
            ),
            "SELECT pg_term",
        ),
    }[control_database.kind]
    assert re.fullmatch(rf"The control database stayed locked by {who}\.", caught.value.message)
    assert f"if it lasts: {end}" in (caught.value.next_step or "")
    hand.sql("ROLLBACK")

    assert transactions.run(C1, add) > 0


@pytest.mark.parametrize("apart", [False, True])
def test_others_may_write_until_it_does_itself_and_then_it_is_run_again(
    sqlite_database: SqliteControl, *, apart: bool
) -> None:
    """With the lock this time, so that nobody comes between a second time."""
    transactions = StoreTransactions(engine.open_engine(sqlite_database.url, sqlite_database.directory))
    for _ in range(2):
        transactions.run(C1, lambda connection: None)  # They stamp the log.
    hand, seen, refused = sqlite_database.hand(), list[int](), list[str]()
    hand.sql(IMPATIENT["sqlite"])

    def work(connection: Connection) -> int:
        seen.append(connection.exec_driver_sql("SELECT count(*) FROM FileProcess").scalar_one())
        try:
            hand.sql("INSERT INTO FileProcess (Entity) VALUES ('E')")
        except sqlite3.OperationalError as error:
            refused.append(str(error))
        with savepoint(connection) if apart else nullcontext():
            return add(connection)

    assert transactions.run(C1, work, nowait=True) == 2
    assert (seen, refused) == ([0, 1], ["database is locked"])
    transactions.close()
    hand.close()


def test_readers_never_wait_for_a_writer(transactions: StoreTransactions, hand: Hand) -> None:
    hand.begin_writing()
    hand.sql("INSERT INTO FileProcess (Entity) VALUES ('E')")
    with transactions.read() as connection:
        assert intake.untaken(connection, 0, 10) == []
    hand.sql("ROLLBACK")


def test_a_full_disk_is_named_and_passes(sqlite_database: SqliteControl) -> None:
    transactions = StoreTransactions(engine.open_engine(sqlite_database.url, sqlite_database.directory))
    with transactions.read() as connection:
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
        connection.exec_driver_sql(f"PRAGMA max_page_count = {pages}")

    def fill(connection: Connection) -> int:
        return intake.add(connection, entity="E", file_name="x" * 1_000_000, data=None, cycle_key=None, source="test")

    with pytest.raises(DatabaseRefused, match="disk is full"):
        transactions.run(C1, fill)
    with transactions.read() as connection:
        connection.exec_driver_sql("PRAGMA max_page_count = 1000000")
    assert transactions.run(C1, fill) == 1


@pytest.mark.parametrize(("free", "said"), [(0, "cannot grow: the disk is full"), (10**9, "the disk reports an error")])
def test_a_disk_without_room_for_what_stands_beside_a_database_is_full(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, free: int, said: str
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda place: SimpleNamespace(free=free))
    error = sqlite3.OperationalError("disk I/O error")
    error.sqlite_errorname = "SQLITE_IOERR_SHMSIZE"

    assert said in sqlite.DIALECT.database_refused(error, str(tmp_path / "b.db")).message


@pytest.mark.parametrize("replaced", [True, False])
def test_nothing_is_written_into_a_file_that_others_do_not_see(
    sqlite_database: SqliteControl, tmp_path: Path, *, replaced: bool
) -> None:
    file = sqlite_database.directory / "batchctl.db"
    transactions = StoreTransactions(engine.open_engine(sqlite_database.url, sqlite_database.directory))
    transactions.run(frozenset(), lambda connection: None)
    file.rename(tmp_path / "aside.db")
    if replaced:
        file.write_bytes((tmp_path / "aside.db").read_bytes())

    with pytest.raises(DatabaseRefused, match="moved, replaced or deleted") as refused:
        transactions.run(frozenset(), lambda connection: pytest.fail("it has begun"))
    assert str(file) in refused.value.message
    (tmp_path / "aside.db").replace(file)
    transactions.run(frozenset(), lambda connection: None)
    transactions.close()


@pytest.mark.parametrize("name", ["a#b.db", "with space.db", "ünï😀.db", "quote'.db"])
def test_any_file_name_is_taken_literally(tmp_path: Path, name: str) -> None:
    (tmp_path / name).touch()
    with engine.open_engine(f"sqlite:///{name}", tmp_path).connect() as connection:
        found = connection.exec_driver_sql("PRAGMA database_list").one()[2]

    assert found == str(tmp_path / name)


def test_the_controller_lock_lies_beside_the_database(tmp_path: Path) -> None:
    assert engine.file_of("sqlite:///plain.db", tmp_path) == tmp_path / "plain.db"


@pytest.mark.parametrize("name", ["x.db", "data/x.db"])
def test_a_url_with_a_slash_too_few_is_told_from_one_in_memory(tmp_path: Path, name: str) -> None:
    with pytest.raises(BatchctlError, match="two slashes begin the name of a host") as refused:
        engine.open_engine(f"sqlite://{name}", tmp_path, may_create=True)

    assert (refused.value.next_step or "").endswith(f"sqlite:///{name}")


@pytest.mark.parametrize("url", ["nonsense", "oracle://h/d", "sqlite://", "sqlite:///:memory:"])
def test_a_url_that_names_no_file_is_refused(tmp_path: Path, url: str) -> None:
    with pytest.raises(BatchctlError):
        engine.open_engine(url, tmp_path, may_create=True)
