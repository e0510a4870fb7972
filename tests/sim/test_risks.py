"""People are told in time of the nights that end late, and seldom of others."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from tests.control.world import World
from tests.control_databases import SqliteControl, with_tables
from tests.sim.risks import RiskyNights, Verdict


@pytest.mark.parametrize(
    ("seeds", "nights"),
    [pytest.param((2,), 8, id="8"), pytest.param((1, 2, 3, 4), 40, id="160", marks=pytest.mark.full)],
)
def test_nights_that_end_late_are_told_of_before_and_others_seldom(
    tmp_path: Path, seeds: tuple[int, ...], nights: int
) -> None:
    found = Verdict()
    for seed in seeds:
        live(tmp_path / f"{seed}", seed, nights, found)

    assert found.late >= len(seeds) * nights // 10, found
    assert found.told_of_late >= 0.8 * found.late, found
    assert found.told_of_in_time <= 0.1 * found.in_time, found


def live(folder: Path, seed: int, nights: int, found: Verdict) -> None:
    """Live through the nights of one installation, and count what came of them."""
    folder.mkdir()
    with_tables(made := SqliteControl(folder))
    world = World(made)
    try:
        RiskyNights(world, Random(seed), verdict=found).live(nights)
    finally:
        world.close()
