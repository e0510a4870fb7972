"""Every mistake made in the engine on purpose is found: this measures the simulation."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.sim import finders
from tests.sim.carried_mutants import CARRIED_MUTANTS
from tests.sim.learned_mutants import LEARNED_MUTANTS
from tests.sim.mutants import MUTANTS, TELLING_MUTANTS
from tests.sim.mutating import Mutant
from tests.sim.paced_mutants import PACED_MUTANTS
from tests.sim.planted import PLANTED
from tests.sim.planting import FOUND, Planted
from tests.sim.pool_mutants import POOL_MUTANTS
from tests.sim.question_mutants import QUESTION_MUTANTS
from tests.sim.report_mutants import REPORT_MUTANTS
from tests.sim.shown_mutants import SHOWN_MUTANTS
from tests.sim.step_mutants import STEP_MUTANTS
from tests.sim.timed_mutants import BACKFILL_MUTANTS, PREVIEW_MUTANTS, TIMED_MUTANTS
from tests.sim.varied_mutants import REQUEST_MUTANTS, VARIED_MUTANTS

ROOT = Path(__file__).parents[2]
QUICK = {
    "the end of a step is committed in two parts",
    "whoever wrote the schedule meanwhile is not looked at",
    "more is started than may be open",
    "it is not told that a problem is over",
    "what was answered is carried out again",
    "every step that has failed is gone past",
    "a step begins wherever its plugin is",
    "a secret that is written in two parts is shown",
    "a step learns from fewer runs than it says",
    "an answer leaves its question open",
    "the attempts of an agent that is silent are lost at once",
}
"""One of each kind that a few schedules find, to show that the test can find one."""


def mutants(all_of_them: Sequence[Mutant | Planted]) -> list[Any]:
    """Return the parameters of a test that looks for mutants."""
    return [
        pytest.param(mutant, id=mutant.name, marks=[] if mutant.name in QUICK else [pytest.mark.full])
        for mutant in all_of_them
    ]


@pytest.mark.parametrize("mutant", mutants([mutant for kind, _ in finders.KINDS for mutant in kind]))
def test_a_mistake_is_found(mutant: Mutant) -> None:
    assert finders.finder(mutant) is not None


def test_the_schedule_that_finds_each_is_known() -> None:
    named = {line.partition(" ")[2] for line in finders.LIST.read_text(encoding="utf-8").splitlines()}

    assert named == {mutant.name for kind, _ in finders.KINDS for mutant in kind}, (
        "write it: python -m tests.sim.finders"
    )


@pytest.mark.parametrize("bug", mutants(PLANTED))
def test_a_planted_bug_is_found_by_the_test_that_it_names(bug: Planted) -> None:
    # Where the database itself is the subject, the test starts a server of its own: that takes its time.
    command = [sys.executable, "-Im", "tests.sim.planting", bug.name]
    outcome = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600, check=False)

    assert outcome.returncode == FOUND, outcome.stdout + outcome.stderr


def test_there_are_enough_of_them() -> None:
    assert len([*MUTANTS, *TIMED_MUTANTS, *BACKFILL_MUTANTS, *TELLING_MUTANTS]) >= 74
    assert len([*VARIED_MUTANTS, *PLANTED]) >= 40
    assert len(CARRIED_MUTANTS) >= 8
    older = [*MUTANTS, *TIMED_MUTANTS, *BACKFILL_MUTANTS, *PREVIEW_MUTANTS, *TELLING_MUTANTS]
    newer = [*VARIED_MUTANTS, *REQUEST_MUTANTS, *STEP_MUTANTS, *POOL_MUTANTS, *PACED_MUTANTS, *QUESTION_MUTANTS]
    newer += [*SHOWN_MUTANTS, *LEARNED_MUTANTS, *REPORT_MUTANTS, *CARRIED_MUTANTS]
    names = [*(one.name for one in older), *(one.name for one in newer), *(one.name for one in PLANTED)]
    assert len(set(names)) == len(names)
