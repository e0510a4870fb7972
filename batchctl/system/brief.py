"""Executions shorter than a switch to another thread and back: carried out one by one by the thread that waits."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Hashable

from batchctl.domain.outcomes import Rendered
from batchctl.plugin_api import StepHandler
from batchctl.ports import Finished
from batchctl.system.executions import RunningStep

MOMENT = 0.02
"""Seconds that brief work may keep all else waiting; a kind of execution that takes less counts as proved."""
LONGEST = 1.0
"""Seconds from which on an execution is never again believed to be brief."""

Carry = Callable[[], Finished]


class BriefExecutions:
    """What waits to be carried out, and what is known of executions of its kind."""

    def __init__(self, report: Callable[[Finished], None], pass_on: Callable[[RunningStep, Carry], None]) -> None:
        """Begin without any. An execution that proves not to be brief is passed on, to be carried out elsewhere."""
        self._report = report
        self._pass_on = pass_on
        self._waiting: deque[tuple[Hashable, RunningStep, Carry]] = deque()
        self._not_brief: set[Hashable] = set()
        """Kinds of which one was not brief after all: these are passed on at once."""
        self._proved: set[Hashable] = set()
        """Kinds whose last execution was too short to be noticed."""

    def add(self, handler: StepHandler, rendered: Rendered, step: RunningStep, carry: Carry) -> None:
        """Let an execution wait. Those of one handler, and of one job if any, are expected to take about as long."""
        self._waiting.append(((type(handler), str(rendered.spec.get("job"))), step, carry))

    def carry_out(self, *, only_proved: bool = False) -> None:
        """Carry out for a moment what waits, or only what comes before the first that has not proved to be brief."""
        now = time.monotonic()
        until = now + MOMENT
        while self._waiting:
            if only_proved and self._waiting[0][0] not in self._proved:
                break
            kind, step, carry = self._waiting.popleft()
            if kind in self._not_brief:
                self._pass_on(step, carry)
                continue
            self._report(carry())
            began, now = now, time.monotonic()
            (self._proved.add if now - began < MOMENT else self._proved.discard)(kind)
            if now - began >= LONGEST:
                self._not_brief.add(kind)
            if now >= until:
                break
