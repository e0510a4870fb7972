"""Playing many schedules, and what they come to."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field

from tests.sim.chance import script_of
from tests.sim.playing import play, play_twice

CHUNK = 100
"""How many schedules a process plays before it reports; the first of them is played twice."""


@dataclass
class Figures:
    """What a number of schedules came to."""

    schedules: int = 0
    commits: int = 0
    happened: Counter[str] = field(default_factory=Counter)
    failed: list[tuple[int, str]] = field(default_factory=list)
    """Seed and message of each that broke a law."""

    def add(self, other: Figures) -> None:
        """Add up."""
        self.schedules += other.schedules
        self.commits += other.commits
        self.happened += other.happened
        self.failed += other.failed


def play_all(seeds: range, jobs: int) -> Figures:
    """Play many schedules in several processes."""
    figures = Figures()
    chunks = [seeds[begin : begin + CHUNK] for begin in range(0, len(seeds), CHUNK)]
    with ProcessPoolExecutor(jobs) as pool:
        for chunk in pool.map(play_chunk, chunks):
            figures.add(chunk)
    return figures


def play_chunk(seeds: range) -> Figures:
    """Play some schedules, the first of them twice."""
    figures = Figures()
    for at, seed in enumerate(seeds):
        played = play_twice(script_of(seed)) if at == 0 else play(script_of(seed))
        figures.schedules += 1
        figures.commits += played.commits
        figures.happened += played.world.happened
        if played.law is not None:
            figures.failed.append((seed, played.message))
    return figures
