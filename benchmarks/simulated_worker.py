"""Controllers like any other, whose steps may be nothing but time.

python -m benchmarks.simulated_worker FILE MANY SECONDS

Their claims, ends and signs of life are the real ones. A step is under way for about so many seconds, and nothing is started
for it; without SECONDS the steps are what their rows say. Told to end (SIGTERM), each prints what it has counted.
"""

from __future__ import annotations

import json
import math
import os
import random
import signal
import sys
import time
from collections.abc import Collection, Generator, Sequence
from datetime import timedelta
from functools import partial
from heapq import heappop, heappush
from itertools import count
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from batchctl import config, node
from batchctl.app import App
from batchctl.domain.outcomes import Rendered, StepOutcome
from batchctl.domain.rows import HistoryId
from batchctl.plugin_api import StepHandler
from batchctl.ports import Finished, Notify, Report
from batchctl.store.dialects import postgresql
from batchctl.system.runner import ThreadStepRunner


class HeldSteps(ThreadStepRunner):
    """Lets steps be under way for a while. No two take equally long, so that what began together does not end together."""

    def __init__(self, seconds: float, **means: Any) -> None:
        """Hold nothing yet."""
        super().__init__(**means)
        self._seconds = seconds
        self._ends: list[tuple[float, HistoryId]] = []

    def start(self, key: HistoryId, handler: StepHandler, rendered: Rendered, *, lease_bound: bool = False) -> None:  # noqa: ARG002 - the port's
        """Begin to hold a step."""
        takes = self._seconds * random.Random(key).uniform(0.5, 1.5)
        heappush(self._ends, (time.monotonic() + takes, key))

    def collect(self, wait: timedelta, notify: Notify | None = None) -> Sequence[Report]:
        """Return which steps are over; wait no longer than until the next one is."""
        left = self._ends[0][0] - time.monotonic() if self._ends else math.inf
        others = super().collect(timedelta(seconds=max(0.0, min(left, wait.total_seconds()))), notify)
        return [*others, *self.overhear()]

    def overhear(self) -> Sequence[Report]:
        """Return which steps are over."""
        now, over = time.monotonic(), list[Report]()
        while self._ends and self._ends[0][0] <= now:
            over.append(Finished(heappop(self._ends)[1], StepOutcome(succeeded=True), None))
        return over

    def hasten(self) -> Sequence[Report]:
        """Return the same: nothing is carried out."""
        return self.overhear()

    def recorded(self, keys: Collection[HistoryId]) -> None:
        """Remember nothing."""

    def stop(self, key: HistoryId) -> None:
        """Let a step be over at once."""
        self._ends = sorted((0.0 if one == key else until, one) for until, one in self._ends)


def work(file: str, seconds: float | None) -> None:
    """Work as one controller until told to end, and print what it has counted."""
    if seconds is not None:
        setattr(node, ThreadStepRunner.__name__, partial(HeldSteps, seconds))
    round_trips, heard = count(), postgresql._while_heard  # noqa: SLF001 - the benchmark's own way to look

    def counted(work: Any) -> Generator[Any, Any, Any]:
        next(round_trips)
        return (yield from heard(work))

    # Each wait for an answer of the server is a round trip.
    setattr(postgresql, heard.__name__, counted)
    app = App(config.load(file))
    working = node.Node(app)
    signal.signal(signal.SIGTERM, lambda *_: working.stop())
    done = working.run()
    app.close()
    # At once, so that the lines of several do not mix.
    os.write(1, f"{json.dumps({'succeeded': done.succeeded, 'round_trips': next(round_trips)})}\n".encode())


def main(file: str, controllers: int, seconds: float | None) -> None:
    """Let controllers work, each a process with all it needs imported already; told to end, tell them."""
    children = list[int]()
    for _ in range(controllers):
        if (child := os.fork()) == 0:
            work(file, seconds)
            os._exit(0)
        children.append(child)

    def end(*_: object) -> None:
        for child in children:
            os.kill(child, signal.SIGTERM)

    signal.signal(signal.SIGTERM, end)
    for child in children:
        os.waitpid(child, 0)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]) if len(sys.argv) > 3 else None)
