"""Tables and columns that somebody has dropped or renamed are named, with the command that finds all of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime

import pytest
from sqlalchemy import Connection

from batchctl.domain.errors import DatabaseRefused
from batchctl.ports import Boundary
from batchctl.store import engine
from batchctl.store.maintenance import audit_entries
from batchctl.store.transactions import StoreTransactions
from tests.control_databases import ControlDatabase


@pytest.fixture
def transactions(control_database: ControlDatabase) -> Iterator[StoreTransactions]:
    """Return a way to the database."""
    made = StoreTransactions(engine.open_engine(control_database.url, control_database.directory))
    yield made
    made.close()


def act(connection: Connection) -> None:
    by = audit_entries.By("a", "h", datetime(2026, 11, 22, tzinfo=UTC))
    audit_entries.add(connection, by, "x", "t", "r", None, None)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ("DROP TABLE AuditLog", "auditlog"),
        ("ALTER TABLE AuditLog RENAME COLUMN Reason TO Why", "reason"),
    ],
)
def test_what_is_not_there_any_more_is_named(
    control_database: ControlDatabase, transactions: StoreTransactions, change: str, named: str
) -> None:
    # On PostgreSQL a view that reads a table goes with it, or nothing does.
    with closing(control_database.hand()) as hand:
        hand.sql(f"{change} CASCADE" if "DROP" in change and control_database.kind == "postgresql" else change)

    with pytest.raises(DatabaseRefused) as written:
        transactions.run(frozenset({Boundary.OPERATOR}), act)
    with pytest.raises(DatabaseRefused) as read, transactions.read() as connection:
        audit_entries.newest(connection, 1)

    for refused in (written.value, read.value):
        assert "lacks" in refused.message
        assert named in refused.message.lower()
        assert refused.next_step == "batchctl db verify"
