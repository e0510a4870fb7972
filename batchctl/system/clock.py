"""The real clock."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta


class SystemClock:
    """Time as the control database has it: the server's where there is one, on SQLite this host's."""

    def __init__(self) -> None:
        """Go by this host's clock until told another."""
        self._known: tuple[datetime, float] | None = None

    def synchronise(self, database_now: datetime) -> None:
        """Go by the database's clock from now on, whatever happens to this host's."""
        self._known = database_now, time.monotonic()

    def now(self) -> datetime:
        """Return the present time, UTC, in whole milliseconds."""
        if self._known is None:
            now = datetime.now(UTC)
        else:
            moment, at = self._known
            now = moment + timedelta(seconds=time.monotonic() - at)
        return now - timedelta(microseconds=now.microsecond % 1000)

    monotonic = staticmethod(time.monotonic)
    """Return seconds that never jump."""

    def sleep(self, seconds: float) -> None:
        """Let time pass."""
        time.sleep(seconds)
