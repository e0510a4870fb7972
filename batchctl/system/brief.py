"""Executions shorter than their way to another thread and back: carried out one after the other by whoever waits for them."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Hashable

from batchctl.domain.outcomes import Rendered
from batchctl.plugin_api import StepHandler
from batchctl.ports import Finished
from batchctl.system.executions import RunningStep

MOMENT = 0.02
"""Seconds that what is brief may keep everything else waiting, in all; and what has to be shown to be trusted the next time."""
LONGEST = 1.0
"""Seconds from which on nobody will take an execution's word again that it is brief."""

Carry = Callable[[], Finished]


class BriefExecutions:
    """What waits to be carried out, and what is known of executions of its kind."""

    def __init__(self, report: Callable[[Finished], None], pass_on: Callable[[RunningStep, Carry], None]) -> None:
        """Begin without any. What proves not to be brief is passed on, to be carried out elsewhere."""
        self._report = report
        self._pass_on = pass_on
        self._waiting: deque[tuple[Hashable, RunningStep, Carry]] = deque()
        self._not_brief: set[Hashable] = set()
        """Kinds of which one was not brief after all: others wait for no other."""
        self._proved: set[Hashable] = set()
        """Kinds of which the last one took no longer than nobody notices."""

    def add(self, handler: StepHandler, rendered: Rendered, step: RunningStep, carry: Carry) -> None:
        """Let one wait. Those of one handler, and of one job if there is any, are expected to take about as long."""
        self._waiting.append(((type(handler), str(rendered.spec.get("job"))), step, carry))

    def carry_out(self, *, only_proved: bool = False) -> None:
        """Carry out what waits, or only what comes before the first that has not proved to be brief, for a moment."""
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
