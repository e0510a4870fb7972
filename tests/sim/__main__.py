"""`python3 dev.py sim`: plays schedules of failures, prints the figures, and of what breaks a law the smallest script.

With `--schedules` it is about the schedules that people make: their due times around every change of clocks that there
is or was in any time zone, as the product has them, against a walker that looks at the clock minute by minute.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence

from tests.arguments import at_least_one
from tests.sim import due_times
from tests.sim.chance import CARRIED, script_of
from tests.sim.many import Figures, play_all
from tests.sim.playing import Played, play, play_twice
from tests.sim.script import lines
from tests.sim.shrink import smallest

MOST_SHOWN = 3


def main(arguments: Sequence[str]) -> int:
    """Play what is asked for; exit code 1 when a law is broken."""
    parser = argparse.ArgumentParser(prog="dev.py sim", description=__doc__)
    parser.add_argument("--seeds", type=at_least_one, default=20_000, help="how many (default: %(default)s)")
    parser.add_argument("--first", type=int, default=0, help="the first seed (default: %(default)s)")
    parser.add_argument("--jobs", type=at_least_one, default=2, help="how many processes (default: %(default)s)")
    parser.add_argument("--seed", type=int, help="play this one schedule, and show what happens in it")
    parser.add_argument(
        "--agents", action="store_true", help="schedules in which agents carry steps, over wires that fail"
    )
    parser.add_argument("--schedules", action="store_true", help="due times around all changes of clocks, 1970 to 2037")
    parser.add_argument("--zone", help="with --schedules: the changes of this time zone only")
    parser.add_argument("--at", type=int, help="with --schedules and --zone: this change only (seconds since 1970)")
    given = parser.parse_args(arguments)
    if given.schedules:
        return due_times.main(
            given.zone, given.at, given.seed, range(given.first, given.first + given.seeds), given.jobs
        )
    first = given.first + (CARRIED if given.agents else 0)
    if given.seed is not None:
        return replay(given.seed + (CARRIED if given.agents and given.seed < CARRIED else 0))
    began = time.monotonic()
    figures = play_all(range(first, first + given.seeds), given.jobs)
    report(figures, time.monotonic() - began, given.jobs)
    for seed, _ in figures.failed[:MOST_SHOWN]:
        show_smallest(seed)
    return 1 if figures.failed else 0


def report(figures: Figures, seconds: float, jobs: int) -> None:
    """Print the figures."""
    print(
        f"{figures.schedules} schedules, {figures.commits} commits in {seconds:.1f} s with {jobs} processes:"
        f" {figures.schedules / seconds:.0f} schedules/s, {figures.commits / seconds:.0f} commits/s"
    )
    print("what happened: " + ", ".join(f"{name} {count}" for name, count in sorted(figures.happened.items())))
    print(f"laws broken by {len(figures.failed)} schedules")
    for seed, message in figures.failed[:20]:
        print(f"  seed {seed}: {message}")


def show_smallest(seed: int) -> None:
    """Print the smallest script found that breaks the same law, as a regression test."""
    played = play(script_of(seed))
    if played.law is None:
        return
    small = play(smallest(script_of(seed), played.law))
    print(f"\nseed {seed}: {small.message}\nto replay it: python3 dev.py sim --seed {seed}\nas a test:\n")
    print(f"def test_seed_{seed}() -> None:")
    print("    script = " + "\n    ".join(lines(small.script)))
    print("    assert play(script).message == ''\n")


def replay(seed: int) -> int:
    """Play one schedule and show what happens."""
    played = play_twice(script_of(seed))
    print("\n".join(lines(played.script)))
    show(played)
    if played.law is not None:
        show_smallest(seed)
    return 0 if played.law is None else 1


def show(played: Played) -> None:
    """Print what happened, and the verdict."""
    print("\n".join(played.world.story()))
    print(f"fingerprint {played.world.fingerprint}")
    print(played.message or "no law is broken")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
