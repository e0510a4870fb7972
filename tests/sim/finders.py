"""Which schedule finds each mistake: it is played first, before hundreds that may not find it.

Where it finds the mistake no more, the others are looked through. Run this to write the list anew.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from tests.sim.carried_mutants import CARRIED_MUTANTS
from tests.sim.chance import (
    CARRIED,
    LEARNING,
    PACED,
    POOLED,
    QUESTIONED,
    REPORTED,
    REQUESTED,
    SHOWN,
    STEPWISE,
    TIMED,
    TOLD,
    VARIED,
    script_of,
)
from tests.sim.learned_mutants import LEARNED_MUTANTS
from tests.sim.mutants import MUTANTS, TELLING_MUTANTS
from tests.sim.mutating import Mutant, made
from tests.sim.paced_mutants import PACED_MUTANTS
from tests.sim.playing import play
from tests.sim.pool_mutants import POOL_MUTANTS
from tests.sim.question_mutants import QUESTION_MUTANTS
from tests.sim.report_mutants import REPORT_MUTANTS
from tests.sim.script import Backfill
from tests.sim.shown_mutants import SHOWN_MUTANTS
from tests.sim.step_mutants import STEP_MUTANTS
from tests.sim.timed_mutants import BACKFILL_MUTANTS, PREVIEW_MUTANTS, TIMED_MUTANTS
from tests.sim.varied_mutants import REQUEST_MUTANTS, VARIED_MUTANTS

SCHEDULES = 500
KINDS: Sequence[tuple[Sequence[Mutant], int]] = (
    (MUTANTS, 0),
    (TIMED_MUTANTS, TIMED),
    (BACKFILL_MUTANTS, TIMED),
    (PREVIEW_MUTANTS, TIMED),
    (TELLING_MUTANTS, TOLD),
    (VARIED_MUTANTS, VARIED),
    (REQUEST_MUTANTS, REQUESTED),
    (STEP_MUTANTS, STEPWISE),
    (POOL_MUTANTS, POOLED),
    (PACED_MUTANTS, PACED),
    (SHOWN_MUTANTS, SHOWN),
    (LEARNED_MUTANTS, LEARNING),
    (QUESTION_MUTANTS, QUESTIONED),
    (REPORT_MUTANTS, REPORTED),
    (CARRIED_MUTANTS, CARRIED),
)
"""The mistakes, and the first of the schedules that find them."""
LIST = Path(__file__).with_name("finders.txt")


def finder(mutant: Mutant) -> int | None:
    """Return the seed of a schedule that breaks the law which a mutant names; None where there is none."""
    with made(mutant):
        return next((seed for seed in _seeds(mutant) if play(script_of(seed)).law == mutant.law), None)


def _seeds(mutant: Mutant) -> Iterator[int]:
    (first,) = (first for mutants, first in KINDS if mutant in mutants)
    seeds = range(first, first + SCHEDULES)
    known = _known().get(mutant.name)
    if known is not None and known in seeds:
        yield known
    for seed in seeds:
        if mutant not in BACKFILL_MUTANTS or any(isinstance(event, Backfill) for event in script_of(seed).events):
            yield seed


def _known() -> dict[str, int]:
    lines = LIST.read_text(encoding="utf-8").splitlines() if LIST.exists() else []
    return {name: int(seed) for seed, _, name in (line.partition(" ") for line in lines)}


def write() -> None:
    """Look for a schedule that finds each mistake, and write the list."""
    names = [mutant.name for mutants, _ in KINDS for mutant in mutants]
    found = []
    with ProcessPoolExecutor() as pool:
        for name, seed in zip(names, pool.map(_finder_by_name, names), strict=True):
            print(seed, name, flush=True)
            found += [f"{seed} {name}\n"] if seed is not None else []
    LIST.write_text("".join(found), encoding="utf-8")


def _finder_by_name(name: str) -> int | None:
    (mutant,) = (mutant for mutants, _ in KINDS for mutant in mutants if mutant.name == name)
    return finder(mutant)


if __name__ == "__main__":
    write()
