"""The real clock."""

from __future__ import annotations

import time
from datetime import UTC, datetime


class SystemClock:
    """Time as this host has it; on SQLite the host's clock is the database's clock."""

    def now(self) -> datetime:
        """Return the present time, UTC, in whole milliseconds."""
        now = datetime.now(UTC)
        return now.replace(microsecond=now.microsecond // 1000 * 1000)

    def monotonic(self) -> float:
        """Return seconds that never jump."""
        return time.monotonic()
