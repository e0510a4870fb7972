"""The real clock."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class SystemClock:
    """Time as the control database has it: the server's where there is one, on SQLite this host's."""

    def __init__(self) -> None:
        """Go by this host's clock until told another."""
        self._known: tuple[float, float] | None = None
        self._now = 0, _EPOCH

    def synchronise(self, database_now: datetime) -> None:
        """Go by the database's clock from now on, whatever happens to this host's."""
        self._known = database_now.timestamp(), time.monotonic()

    def now(self) -> datetime:
        """Return the present time, UTC, in whole milliseconds."""
        if self._known is None:
            seconds = time.time()
        else:
            then, at = self._known
            seconds = then + time.monotonic() - at
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
