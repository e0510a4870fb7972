"""A control database with its tables, and a person at it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from batchctl.store import engine
from batchctl.store.transactions import StoreTransactions
from tests.control_databases import ControlDatabase
from tests.hand import Hand


@pytest.fixture
def transactions(control_database: ControlDatabase) -> Iterator[StoreTransactions]:
    """Return the engine's way to the database."""
    made = StoreTransactions(engine.open_engine(control_database.url, control_database.directory))
    yield made
    made.close()


@pytest.fixture
def hand(control_database: ControlDatabase) -> Iterator[Hand]:
    """Return another program's connection to it, as a person's SQL client has one."""
    made = control_database.hand()
    yield made
    made.close()
