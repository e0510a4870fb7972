"""Tables and columns that somebody has dropped or renamed are named, with the command that finds all of them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from batchctl.domain.errors import DatabaseUnusable
from batchctl.domain.rows import IntakeId
from batchctl.ports import Boundary
from batchctl.store import engine, intake
from batchctl.store.transactions import StoreTransactions
from tests.control_databases import ControlDatabase


@pytest.fixture
def transactions(control_database: ControlDatabase) -> Iterator[StoreTransactions]:
    """Return a way to the database."""
    made = StoreTransactions(engine.open_engine(control_database.url, control_database.directory))
    yield made
    made.close()


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ("ALTER TABLE FileProcess RENAME TO Elsewhere", "fileprocess"),
        ("ALTER TABLE FileProcess RENAME COLUMN Source TO Origin", "source"),
    ],
)
def test_what_is_not_there_any_more_is_named(
    control_database: ControlDatabase, transactions: StoreTransactions, change: str, named: str
) -> None:
    hand = control_database.hand()
    hand.sql(change)
    hand.close()

    with pytest.raises(DatabaseUnusable) as written:
        transactions.run(
            frozenset({Boundary.INTAKE}),
            lambda connection: intake.add(
                connection, entity="E", file_name=None, data=None, cycle_key=None, source="test"
            ),
        )
    with pytest.raises(DatabaseUnusable) as read, transactions.read() as connection:
        intake.load(connection, IntakeId(1))

    for refused in (written.value, read.value):
        assert "lacks" in refused.message
        assert named in refused.message.lower()
        assert refused.next_step == "batchctl db verify"
