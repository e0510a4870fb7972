"""What an agent has to tell a controller, kept until it is heard."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Collection, Iterable
from datetime import datetime

from batchctl.domain.rows import HistoryId
from batchctl.ports import Finished, Report, Wrote
from batchctl.system.remote.wire import Message, report_message

MOST_AT_ONCE = 1_000_000
"""Characters of output after which the rest of the reports is left for the next answer."""


class AgentNews:
    """Reports with numbers: one that asks for those behind a number has heard the others."""

    def __init__(self) -> None:
        """Begin without any."""
        self._condition = threading.Condition()
        self._kept: deque[tuple[int, Report]] = deque()
        self._last = 0

    @property
    def all_heard(self) -> bool:
        """Say whether nothing is kept."""
        return not self._kept

    def holds(self, key: HistoryId) -> bool:
        """Say whether anything of an attempt is kept."""
        with self._condition:
            return any(each.key == key for _, each in self._kept)

    def has_end(self, key: HistoryId) -> bool:
        """Say whether the end of an attempt is kept."""
        with self._condition:
            return any(each.key == key and isinstance(each, Finished) for _, each in self._kept)

    def add(self, reports: Iterable[Report]) -> None:
        """Keep reports, and wake whatever waits for them."""
        with self._condition:
            for each in reports:
                self._last += 1
                self._kept.append((self._last, each))
            self._condition.notify_all()

    def forget(self, attempts: Collection[HistoryId]) -> None:
        """Keep nothing of attempts whose ends are committed: what was not heard of them no controller needs."""
        with self._condition:
            self._kept = deque(one for one in self._kept if one[1].key not in attempts)

    def behind(self, number: int, *, wait: float, now: Callable[[], datetime]) -> Message:
        """Return what came behind a number, which is waited for a while, and forget what came up to it."""
        with self._condition:
            while self._kept and self._kept[0][0] <= number:
                self._kept.popleft()
            self._condition.wait_for(lambda: bool(self._kept), wait)
            taken, at = self._taken(), now()
            last = taken[-1][0] if taken else self._last
            return {"last": last, "reports": [report_message(each, at) for _, each in taken]}

    def _taken(self) -> list[tuple[int, Report]]:
        """Return the oldest reports, as many as one answer takes."""
        taken, length = list[tuple[int, Report]](), 0
        for number, each in self._kept:
            if taken and length + _length_of(each) > MOST_AT_ONCE:
                break
            taken.append((number, each))
            length += _length_of(each)
        return taken


def _length_of(report: Report) -> int:
    match report:
        case Wrote():
            return len(report.text or "")
        case Finished():
            return len(report.outcome.output or "")
        case _:
            return 0
