"""The real clock."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

MOST_DRIFT = 0.0005
"""Seconds by which two clocks may come apart in a second: as fast as a kernel slews one that is wrong (adjtimex(2))."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class _Bounds(NamedTuple):
    """How many seconds the database's clock was ahead of the monotonic one, at least and at most, and when."""

    least: float
    most: float
    at: float


class SystemClock:
    """Time as the control database has it: the server's where there is one, on SQLite this host's.

    A server read its clock at some moment between question and answer, and between them lies all that was asked with it.
    So every answer bounds how far the server's clock is ahead of this host's monotonic one, and the answers together bound
    it closely (Cristian, Probabilistic clock synchronization, 1989). It goes by the lower bound: never ahead of the server.
    """

    def __init__(self) -> None:
        """Go by this host's clock until a database's is known."""
        self._ahead: _Bounds | None = None
        self._now = 0, _EPOCH

    def reading(self) -> Callable[[datetime], None]:
        """Return what takes the time that the database's clock shows, for which it is asked from now on."""
        asked_at = time.monotonic()

        def heard(database_now: datetime) -> None:
            self._hear(database_now.timestamp(), asked_at, time.monotonic())

        return heard

    def _hear(self, shown: float, asked_at: float, heard_at: float) -> None:
        """Go by the database's clock, whatever happens to this host's; adopt at once a clock that was set."""
        told, known = _Bounds(shown - heard_at, shown - asked_at, heard_at), self._ahead
        if known is not None:
            drifted = MOST_DRIFT * (heard_at - known.at)
            least, most = max(told.least, known.least - drifted), min(told.most, known.most + drifted)
            if least <= most:
                told = _Bounds(least, most, heard_at)
        self._ahead = told

    def now(self) -> datetime:
        """Return the present time, UTC, in whole milliseconds."""
        seconds = time.time() if self._ahead is None else time.monotonic() + self._ahead.least
        whole, now = int(seconds * 1000), self._now
        if whole != now[0]:
            # What happens within a millisecond shares one value, which is written as text only once.
            now = self._now = whole, _EPOCH + timedelta(milliseconds=whole)
        return now[1]

    monotonic = staticmethod(time.monotonic)
    """Return seconds that never jump."""

    def sleep(self, seconds: float) -> None:
        """Let time pass."""
        time.sleep(seconds)
