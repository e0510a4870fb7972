"""A migrated database file."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from batchctl.store import engine, schema
from batchctl.store.dialects import sqlite
from batchctl.store.transactions import StoreTransactions


@pytest.fixture
def transactions(tmp_path: Path) -> Iterator[StoreTransactions]:
    """Return the way to a migrated database."""
    made = StoreTransactions(engine.open_engine("sqlite:///batchctl.db", tmp_path, may_create=True))
    with made.read() as connection:
        sqlite.prepare_file(connection)
    made.run(frozenset(), schema.upgrade)
    yield made
    made.close()


@pytest.fixture
def hand(transactions: StoreTransactions, tmp_path: Path) -> Iterator[sqlite3.Connection]:
    """Return another program's connection to it, as a person's SQL client has one."""
    del transactions
    connection = sqlite3.connect(tmp_path / "batchctl.db", isolation_level=None)
    connection.execute("PRAGMA foreign_keys = ON")
    yield connection
    connection.close()
