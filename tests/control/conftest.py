"""A world for every test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

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
