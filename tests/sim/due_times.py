"""`python3 dev.py sim --schedules`: due times of schedules, as the product has them and as the walker finds them."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor

from tests.sim.changes import Change, Comparison, changes_of, compare_some, distinct, zones
from tests.sim.compositions import SAME_STRETCH, composed_case

CHUNK = 100
"""How many changes a process looks at before it reports."""
MOST_SHOWN = 10


def main(zone: str | None, at: int | None, seed: int | None, seeds: range, jobs: int) -> int:
    """Compare what is asked for, everything unless something is; exit code 1 when the two disagree."""
    began = time.monotonic()
    tally = Comparison()
    if seed is None:
        _around_changes(zone, at, jobs, tally)
    if zone is None:
        _composed(seeds if seed is None else range(seed, seed + 1), jobs, tally)
    print(
        f"{tally.stretches} stretches of time, {tally.schedules} schedules, {tally.instants} due times"
        f" in {time.monotonic() - began:.0f} s with {jobs} processes"
    )
    print(f"disagreements: {len(tally.wrong)}")
    for said in tally.wrong[:MOST_SHOWN]:
        print(f"  {said}")
    return 1 if tally.wrong or not tally.instants else 0


def _around_changes(zone: str | None, at: int | None, jobs: int, tally: Comparison) -> None:
    same = zones() if zone is None else {zone: [zone]}
    found = [change for change in _all_changes(same, jobs) if at in (None, change.at)]
    kinds = distinct(found)
    names = sum(map(len, same.values()))
    print(f"{names} zones with {len(same)} different sets of rules", flush=True)
    print(f"{len(found)} changes of clocks, {len(kinds)} of them different from those of other zones", flush=True)
    chunks = [kinds[begin : begin + CHUNK] for begin in range(0, len(kinds), CHUNK)]
    with ProcessPoolExecutor(jobs) as pool:
        for part in pool.map(compare_some, chunks):
            tally.add(part)


def _all_changes(names: Iterable[str], jobs: int) -> list[Change]:
    with ProcessPoolExecutor(jobs) as pool:
        return [change for found in pool.map(changes_of, names, chunksize=8) for change in found]


def _composed(seeds: range, jobs: int, tally: Comparison) -> None:
    print(f"{len(seeds)} schedules composed at random", flush=True)
    chunks = [seeds[begin : begin + SAME_STRETCH] for begin in range(0, len(seeds), SAME_STRETCH)]
    with ProcessPoolExecutor(jobs) as pool:
        for part in pool.map(_compare_composed, chunks):
            tally.add(part)


def _compare_composed(seeds: Sequence[int]) -> Comparison:
    return Comparison().compare(composed_case(seed) for seed in seeds)
