"""Every mistake made in the engine on purpose is found: this measures the simulation."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.sim.chance import REQUESTED, TIMED, TOLD, VARIED, script_of
from tests.sim.mutants import MUTANTS, TELLING_MUTANTS
from tests.sim.mutating import Mutant, made
from tests.sim.planted import PLANTED
from tests.sim.planting import FOUND, Planted
from tests.sim.playing import play
from tests.sim.script import Backfill, Script
from tests.sim.timed_mutants import BACKFILL_MUTANTS, TIMED_MUTANTS
from tests.sim.varied_mutants import REQUEST_MUTANTS, VARIED_MUTANTS

ROOT = Path(__file__).parents[2]
SCHEDULES = 500
QUICK = {
    "the end of a step is committed in two parts",
    "whoever wrote the schedule meanwhile is not looked at",
    "more is started than may be open",
    "it is not told that a problem is over",
    "what was answered is carried out again",
}
"""One of each kind that a few schedules find, to show that the test can find one."""


def mutants(all_of_them: Sequence[Mutant | Planted]) -> list[Any]:
    """Return the parameters of a test that looks for mutants."""
    return [
        pytest.param(mutant, id=mutant.name, marks=[] if mutant.name in QUICK else [pytest.mark.full])
        for mutant in all_of_them
    ]


def finds(mutant: Mutant, scripts: Iterable[Script]) -> bool:
    """Say whether schedules break the law that a mutant names."""
    with made(mutant):
        return any(play(script).law == mutant.law for script in scripts)


@pytest.mark.parametrize("mutant", mutants(MUTANTS))
def test_a_mistake_is_found(mutant: Mutant) -> None:
    assert finds(mutant, map(script_of, range(SCHEDULES)))


@pytest.mark.parametrize("mutant", mutants(TIMED_MUTANTS))
def test_a_mistake_about_due_times_is_found(mutant: Mutant) -> None:
    assert finds(mutant, map(script_of, range(TIMED, TIMED + SCHEDULES)))


@pytest.mark.parametrize("mutant", mutants(BACKFILL_MUTANTS))
def test_a_mistake_about_backfills_is_found(mutant: Mutant) -> None:
    scripts = map(script_of, range(TIMED, TIMED + SCHEDULES))

    assert finds(mutant, (one for one in scripts if any(isinstance(event, Backfill) for event in one.events)))


@pytest.mark.parametrize("mutant", mutants(TELLING_MUTANTS))
def test_a_mistake_about_what_is_told_is_found(mutant: Mutant) -> None:
    assert finds(mutant, map(script_of, range(TOLD, TOLD + SCHEDULES)))


@pytest.mark.parametrize("mutant", mutants(VARIED_MUTANTS))
def test_a_mistake_that_only_variety_shows_is_found(mutant: Mutant) -> None:
    assert finds(mutant, map(script_of, range(VARIED, VARIED + SCHEDULES)))


@pytest.mark.parametrize("mutant", mutants(REQUEST_MUTANTS))
def test_a_mistake_about_requests_is_found(mutant: Mutant) -> None:
    assert finds(mutant, map(script_of, range(REQUESTED, REQUESTED + SCHEDULES)))


@pytest.mark.parametrize("bug", mutants(PLANTED))
def test_a_planted_bug_is_found_by_the_test_that_it_names(bug: Planted) -> None:
    # Where the database itself is the subject, the test starts a server of its own: that takes its time.
    command = [sys.executable, "-Im", "tests.sim.planting", bug.name]
    outcome = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600, check=False)

    assert outcome.returncode == FOUND, outcome.stdout + outcome.stderr


def test_there_are_enough_of_them() -> None:
    assert len([*MUTANTS, *TIMED_MUTANTS, *BACKFILL_MUTANTS, *TELLING_MUTANTS]) >= 74
    assert len([*VARIED_MUTANTS, *PLANTED]) >= 40
    older = [*MUTANTS, *TIMED_MUTANTS, *BACKFILL_MUTANTS, *TELLING_MUTANTS]
    newer = [*VARIED_MUTANTS, *REQUEST_MUTANTS]
    names = [*(one.name for one in older), *(one.name for one in newer), *(one.name for one in PLANTED)]
    assert len(set(names)) == len(names)
