"""People are told in time of the nights that end late, and seldom of others."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest

from tests.control.world import World
from tests.control_databases import SqliteControl
from tests.sim.risks import RiskyNights


@pytest.fixture
def world(sqlite_database: SqliteControl) -> Iterator[World]:
    """Return a world."""
    made = World(sqlite_database)
    yield made
    made.close()


@pytest.mark.parametrize("nights", [8, pytest.param(120, marks=pytest.mark.full)])
def test_nights_that_end_late_are_told_of_before_and_others_seldom(world: World, nights: int) -> None:
    found = RiskyNights(world, Random(2)).live(nights)

    assert found.late >= nights // 10, found
    assert found.told_of_late >= 0.8 * found.late, found
    assert found.told_of_in_time <= 0.1 * found.in_time, found
