"""Tokens of attempts whose ends are recorded: kept until what would start one of them again is refused as late."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable

from batchctl.domain.rows import HistoryId
from batchctl.system.remote.wire import AgentToken

APART = 60.0
"""Seconds by which a controller may reckon the same moment by this host's clock later than before: an answer takes less."""


class SpentTokens:
    """What an agent was told to start may come a second time, long after the first has ended."""

    def __init__(self, monotonic: Callable[[], float]) -> None:
        """Begin without any."""
        self._monotonic, self._lock = monotonic, threading.Lock()
        self._late_from: dict[tuple[str, HistoryId], float] = {}
        self._recorded: set[tuple[str, HistoryId]] = set()

    def begun(self, token: AgentToken, until: float) -> None:
        """Take note from when on it is too late to start an attempt."""
        with self._lock:
            self._late_from[token.database_id, token.history_id] = until + APART

    def recorded(self, database_id: str, attempts: Iterable[HistoryId]) -> set[tuple[str, HistoryId]]:
        """Take note of ends that are recorded, and return the attempts that may be forgotten by now."""
        with self._lock:
            now = self._monotonic()
            self._late_from = {which: until for which, until in self._late_from.items() if until > now}
            self._recorded |= {(database_id, each) for each in attempts}
            spent = self._recorded - self._late_from.keys()
            self._recorded -= spent
            return spent
