"""Due times are as the walker finds them, and the walker finds mistakes."""

from __future__ import annotations

from collections.abc import Iterator
from zlib import crc32

import pytest

from batchctl.domain import wall_clock
from tests.sim.changes import Change, Comparison, changes_of, compare, compare_some, zones
from tests.sim.compositions import compare_composed
from tests.sim.due_mutants import DUE_MUTANTS
from tests.sim.mutants import Mutant, made

EVERY = 8
"""Of so many zones one is in the suite, each with the changes of one of its years; `dev.py sim --schedules` has all."""
COMPOSITIONS = range(60)
MOST_COMPOSITIONS = range(600)

KNOWN = {
    "Australia/Lord_Howe": (2026, 2026),
    "America/Santiago": (2026, 2026),
    "Pacific/Apia": (2011, 2011),
    "Pacific/Kwajalein": (1993, 1993),
    "America/St_Johns": (1988, 1988),
    "Africa/Casablanca": (2026, 2026),
    "Antarctica/Troll": (2026, 2026),
    "Africa/Monrovia": (1972, 1972),
    "Europe/Amsterdam": (2026, 2026),
}
"""Changes of half an hour, at midnight, of a whole day, of an hour before and two hours after, of some seconds."""


def known() -> list[Change]:
    return [change for zone, years in KNOWN.items() for change in changes_of(zone, *years)]


def sample() -> list[Change]:
    chosen = sorted(zones())[::EVERY]
    years = {zone: 1970 + crc32(zone.encode()) % 68 for zone in chosen}
    return [change for zone, year in years.items() for change in changes_of(zone, year, year)]


@pytest.fixture(scope="module")
def known_changes() -> list[Change]:
    return known()


def test_the_product_agrees_with_the_walker_around_the_oddest_changes(known_changes: list[Change]) -> None:
    tally = compare_some(known_changes)

    assert tally.wrong == []
    assert tally.windows >= 15


def test_the_product_agrees_with_the_walker_around_changes_of_every_eighth_zone() -> None:
    tally = compare_some(sample())

    assert tally.wrong == []
    assert tally.windows >= 40


def test_the_product_agrees_with_the_walker_on_what_is_composed_at_random() -> None:
    tally = Comparison()
    for seed in COMPOSITIONS:
        compare_composed(seed, tally)

    assert tally.wrong == []
    assert tally.instants > 1000


@pytest.mark.parametrize("mutant", DUE_MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mistake_about_due_times_is_found(mutant: Mutant, known_changes: list[Change]) -> None:
    wall_clock._local_day.cache_clear()
    try:
        with made(mutant):
            found = any(tally.wrong for tally in _looks(known_changes))
    finally:
        wall_clock._local_day.cache_clear()

    assert found


def _looks(changes: list[Change]) -> Iterator[Comparison]:
    for change in changes:
        compare(change, tally := Comparison())
        yield tally
    for seed in MOST_COMPOSITIONS:
        compare_composed(seed, tally := Comparison())
        yield tally
