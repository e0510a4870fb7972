"""Every mistake made in the engine on purpose is found: this measures the simulation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from tests.sim.chance import TIMED, TOLD, script_of
from tests.sim.mutants import BACKFILL_MUTANTS, MUTANTS, TELLING_MUTANTS, TIMED_MUTANTS, Mutant, made
from tests.sim.playing import play
from tests.sim.script import Backfill

SCHEDULES = 500
QUICK = 12
"""Every so many-th mutant is looked for by the quick tests, the others by the full suite."""


def mutants(all_of_them: Sequence[Mutant]) -> list[Any]:
    """Return the parameters of a test that looks for mutants."""
    return [
        pytest.param(mutant, id=mutant.name, marks=[] if at % QUICK == 0 else [pytest.mark.full])
        for at, mutant in enumerate(all_of_them)
    ]


@pytest.mark.parametrize("mutant", mutants(MUTANTS))
def test_a_mistake_is_found(mutant: Mutant) -> None:
    with made(mutant):
        found = any(play(script_of(seed)).law is not None for seed in range(SCHEDULES))

    assert found


@pytest.mark.parametrize("mutant", mutants(TIMED_MUTANTS))
def test_a_mistake_about_due_times_is_found(mutant: Mutant) -> None:
    with made(mutant):
        found = any(play(script_of(TIMED + seed)).law is not None for seed in range(SCHEDULES))

    assert found


@pytest.mark.parametrize("mutant", mutants(BACKFILL_MUTANTS))
def test_a_mistake_about_backfills_is_found(mutant: Mutant) -> None:
    scripts = (script_of(TIMED + seed) for seed in range(SCHEDULES))
    with made(mutant):
        found = any(
            play(script).law is not None
            for script in scripts
            if any(isinstance(event, Backfill) for event in script.events)
        )

    assert found


@pytest.mark.parametrize("mutant", mutants(TELLING_MUTANTS))
def test_a_mistake_about_what_is_told_is_found(mutant: Mutant) -> None:
    with made(mutant):
        found = any(play(script_of(TOLD + seed)).law is not None for seed in range(SCHEDULES))

    assert found


def test_there_are_enough_of_them() -> None:
    assert len(MUTANTS) >= 20
