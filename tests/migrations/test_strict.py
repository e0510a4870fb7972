"""Revision 0045: SQLite's tables become STRICT where they stand, and no row is moved."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from batchctl.domain.errors import DatabaseRefused, SchemaMismatch
from batchctl.store import engine
from batchctl.store.dialects import dialect_of, sqlite
from batchctl.store.maintenance import schema
from batchctl.store.transactions import StoreTransactions
from tests.control_databases import SqliteControl
from tests.migrations.test_migrations import FILLED, KEPT

FORMER = (
    "PRAGMA writable_schema = ON",
    "UPDATE sqlite_master SET sql = replace(sql, ') STRICT', ')') WHERE type = 'table'",
    "UPDATE sqlite_master SET sql = replace(sql, 'Seq INTEGER', 'Seq SMALLINT') WHERE name = 'ProcessBatch'",
    "PRAGMA writable_schema = RESET",
    "UPDATE alembic_version SET version_num = '0044'",
)
"""What makes of a database one whose tables the revision before has made: they take anything that no CHECK refuses."""


@pytest.fixture
def former(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    """Return a client of a database as the revision before has left it, with rows."""
    with closing(StoreTransactions(engine.open_engine("sqlite:///batchctl.db", tmp_path, may_create=True))) as made:
        made.run(frozenset(), schema.upgrade)
    with closing(sqlite3.connect(tmp_path / "batchctl.db", isolation_level=None)) as client:
        client.executescript(FILLED)
        for statement in FORMER:
            client.execute(statement)
        yield client


@pytest.fixture
def transactions(former: sqlite3.Connection, tmp_path: Path) -> Iterator[StoreTransactions]:
    """Return the way to that database."""
    with closing(StoreTransactions(engine.open_engine("sqlite:///batchctl.db", tmp_path))) as opened:
        yield opened


def rows_of(client: sqlite3.Connection) -> dict[str, list[object]]:
    """Return every row of the tables that were filled."""
    return {table: client.execute(f"SELECT * FROM {table}").fetchall() for table in KEPT}


def test_tables_become_strict_under_their_rows(former: sqlite3.Connection, transactions: StoreTransactions) -> None:
    before = rows_of(former)
    transactions.run(frozenset(), schema.upgrade)

    assert rows_of(former) == before
    assert former.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    with pytest.raises(sqlite3.IntegrityError, match=r"cannot store TEXT value in INTEGER column ProcessBatch\.Seq"):
        former.execute("UPDATE ProcessBatch SET Seq = 'first'")
    with transactions.read() as connection:
        assert schema.revision_of(connection) == "0045"
        assert schema.differences(connection) == []


def test_an_index_whose_rows_are_others_is_made_anew(
    former: sqlite3.Connection, transactions: StoreTransactions
) -> None:
    former.execute("DROP INDEX IX_BatchControl_Unreadable")
    former.execute("CREATE INDEX IX_BatchControl_Unreadable ON BatchControl (BatchControl_id) WHERE Status = 'odd'")
    transactions.run(frozenset(), schema.upgrade)

    with transactions.read() as connection:
        assert schema.differences(connection) == []


def test_a_table_with_a_column_of_somebodys_own_is_left_alone_and_named(
    former: sqlite3.Connection, transactions: StoreTransactions
) -> None:
    former.execute("ALTER TABLE ProcessBatch ADD COLUMN CostCentre TEXT")
    transactions.run(frozenset(), schema.upgrade)

    former.execute("UPDATE ProcessBatch SET CostCentre = '42'")
    with transactions.read() as connection:
        assert schema.revision_of(connection) == "0045"
        assert schema.differences(connection) == ["ProcessBatch is not as it was made"]


def test_a_row_that_no_table_takes_any_more_is_named_before_anything_is_changed(
    former: sqlite3.Connection, transactions: StoreTransactions
) -> None:
    former.execute("PRAGMA ignore_check_constraints = ON")
    former.execute("UPDATE ProcessBatch SET RetryCount = 'many'")
    with transactions.read() as connection:
        before = dialect_of(connection).definitions(connection)
    with pytest.raises(SchemaMismatch, match=r"hold what schema 0045 does not take: .*ProcessBatch") as refused:
        transactions.run(frozenset(), schema.upgrade)

    assert "correct them in an SQL client" in str(refused.value.next_step)
    with transactions.read() as connection:
        assert schema.revision_of(connection) == "0044"
        assert dialect_of(connection).definitions(connection) == before
    former.execute("UPDATE ProcessBatch SET RetryCount = 2")
    transactions.run(frozenset(), schema.upgrade)


def test_a_sqlite_without_strict_tables_is_refused_before_the_file_is_touched(
    sqlite_database: SqliteControl, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite, "OLDEST", (9, 0, 0))
    with pytest.raises(
        DatabaseRefused, match=r"The SQLite .* of this Python cannot open the control database"
    ) as refused:
        engine.open_engine(sqlite_database.url, sqlite_database.directory)
    assert refused.value.next_step == "use a Python with SQLite 9.0.0 or later"
