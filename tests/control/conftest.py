"""A world for every test."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from batchctl.ports import Boundary
from batchctl.store.transactions import StoreTransactions
from tests.control.world import World
from tests.control_databases import ControlDatabase, SqliteControl


@pytest.fixture
def world(control_database: ControlDatabase) -> Iterator[World]:
    """Return a fresh database with an engine the test drives."""
    made = World(control_database)
    yield made
    made.close()


@pytest.fixture
def sqlite_world(sqlite_database: SqliteControl) -> Iterator[World]:
    """Return a world on SQLite, for what the columns of other databases refuse."""
    made = World(sqlite_database)
    yield made
    made.close()


@pytest.fixture
def committed(monkeypatch: pytest.MonkeyPatch) -> list[frozenset[Boundary]]:
    """Return what has been committed of creations and claims, by whomever."""
    found: list[frozenset[Boundary]] = []
    run = StoreTransactions.run

    def noted(self: StoreTransactions, boundaries: frozenset[Boundary], *work: Any, **how: Any) -> Any:
        done = run(self, boundaries, *work, **how)
        if boundaries & {Boundary.POPULATE, Boundary.CLAIM, Boundary.START}:
            found.append(boundaries)
        return done

    monkeypatch.setattr(StoreTransactions, "run", noted)
    return found
