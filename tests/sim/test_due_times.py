"""Due times are as the walker finds them, and the walker finds mistakes."""

from __future__ import annotations

from zlib import crc32

import pytest

from batchctl.domain.scheduling import wall_clock
from tests.sim.changes import Case, Change, Comparison, cases_at, changes_of, compare_some, difference, zones
from tests.sim.compositions import composed_case
from tests.sim.due_mutants import DUE_MUTANTS
from tests.sim.mutating import Mutant, made

EVERY = 8
"""Of so many zones one is in the suite, each with the changes of one of its years; `dev.py sim --schedules` has all."""
COMPOSITIONS = range(300)

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


def sample() -> list[Change]:
    chosen = sorted(zones())[::EVERY]
    years = {zone: 1970 + crc32(zone.encode()) % 68 for zone in chosen}
    return [change for zone, year in years.items() for change in changes_of(zone, year, year)]


@pytest.fixture(scope="module")
def known_cases() -> list[Case]:
    """What the walker found around the oddest changes, and of what is composed at random: each mistake is held against it."""
    known = [change for zone, years in KNOWN.items() for change in changes_of(zone, *years)]
    return [case for change in known for case in cases_at(change)] + [composed_case(seed) for seed in COMPOSITIONS]


def test_the_product_agrees_with_the_walker_around_the_oddest_changes(known_cases: list[Case]) -> None:
    tally = Comparison().compare(known_cases)

    assert tally.wrong == []
    assert tally.schedules >= 15 * 15 + len(COMPOSITIONS)


def test_the_product_agrees_with_the_walker_around_changes_of_every_eighth_zone() -> None:
    tally = compare_some(sample())

    assert tally.wrong == []
    assert tally.stretches >= 40


@pytest.mark.parametrize("mutant", DUE_MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mistake_about_due_times_is_found(mutant: Mutant, known_cases: list[Case]) -> None:
    wall_clock._local_day.cache_clear()
    try:
        with made(mutant):
            found = any(difference(case) for case in known_cases)
    finally:
        wall_clock._local_day.cache_clear()

    assert found
