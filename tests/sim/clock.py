"""Virtual time: one true time, a database with a clock, hosts whose own clocks are wrong."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

BEGINNING = datetime(2026, 11, 21, 3, 0, tzinfo=UTC)


class TrueTime:
    """Seconds since the schedule began; nobody in the schedule can see it but through a clock."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.database_ahead = 0.0
        """By how many seconds the database's clock is wrong."""

    def database_now(self) -> datetime:
        """Return what the database's clock shows."""
        return (BEGINNING + timedelta(seconds=self.seconds + self.database_ahead)).replace(microsecond=0)


class HostClock:
    """The `Clock` of a program: the database's time as it was told last, carried on by this host's monotonic clock."""

    def __init__(self, time: TrueTime, ahead: float, booted: float) -> None:
        self.ahead = ahead
        """Seconds by which the host's wall clock is wrong."""
        self._time = time
        self._booted = booted
        self._known: tuple[datetime, float] | None = None

    def reading(self) -> Callable[[datetime], None]:
        """Return whom to tell what the database's clock shows; virtual time stands still between question and answer."""

        def heard(database_now: datetime) -> None:
            self._known = database_now, self.monotonic()

        return heard

    def now(self) -> datetime:
        """Return the database's present time; the host's until it is known."""
        if self._known is None:
            wall = BEGINNING + timedelta(seconds=self._time.seconds + self.ahead)
            return wall.replace(microsecond=0)
        told, at = self._known
        return told + timedelta(seconds=self.monotonic() - at)

    def monotonic(self) -> float:
        """Return the seconds since the host was booted."""
        return self._time.seconds - self._booted
