"""Between the clock on a wall and UTC: which moments show a time, also in the nights in which clocks are changed.

Times without a zone are either wall times or UTC here, and their names say which: arithmetic on them cannot go wrong.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

from batchctl.domain.values import named_value

FIRST_DAY, LAST_DAY = date(1900, 1, 1), date(9990, 12, 31)
"""Nothing is due outside of them: near the ends of the calendar, time zones cannot be computed."""

DAY = timedelta(days=1)
_MINUTE, _SECOND = timedelta(minutes=1), timedelta(seconds=1)
_PROBES = tuple(timedelta(hours=hours) for hours in range(2, 25, 2))


@named_value
class Moments:
    """The moments at which a clock shows a wall time."""

    first: datetime
    """In UTC. Of a time that the clock leaves out, the first moment after the gap."""
    second: datetime | None = None
    """In UTC, of a time that the clock shows twice."""
    exists: bool = True


@named_value
class LocalDay:
    """A day as it is in a time zone."""

    start: datetime
    """The first moment of the day, in UTC; the same as `end` of a day that the zone left out."""
    end: datetime
    """The first moment of the next day."""
    offset: timedelta | None
    """How far the zone is ahead of UTC; None of a day on which that changes, or which begins or ends in a change."""


class WallClock:
    """The clocks of a time zone."""

    def __init__(self, zone: ZoneInfo) -> None:
        """Use the clocks of `zone`."""
        self.zone = zone

    def shown(self, utc: datetime) -> datetime:
        """Return what the clocks show, with its zone and its fold."""
        return self.zone.fromutc(utc.replace(tzinfo=self.zone))

    def day_of(self, moment: datetime) -> date:
        """Return the date at a moment; of one outside of the possible days, the nearest possible one."""
        utc = naive(moment)
        return utc.date() if utc.date() in (FIRST_DAY, LAST_DAY) else self.shown(utc).date()

    def moments(self, wall: datetime) -> Moments:
        """Return when the clocks show a time."""
        before, after = self._offsets(wall)
        if before == after:
            return Moments(first=wall - before)
        if before > after:
            return Moments(first=wall - before, second=wall - after)
        return Moments(first=self._end_of_gap(wall, before, after), exists=False)

    def meant(self, at: datetime) -> datetime:
        """Return the moment, in UTC, that a given time means: without a zone, what the clocks show."""
        if at.tzinfo is not None:
            return naive(at).replace(tzinfo=UTC)
        return self.moments(_within(at)).first.replace(tzinfo=UTC)

    def day(self, day: date) -> LocalDay:
        """Return a day."""
        return _local_day(self, day)

    def _offsets(self, wall: datetime) -> tuple[timedelta, timedelta]:
        aware = wall.replace(tzinfo=self.zone)
        return aware.utcoffset() or timedelta(0), aware.replace(fold=1).utcoffset() or timedelta(0)

    def _end_of_gap(self, wall: datetime, before: timedelta, after: timedelta) -> datetime:
        """Return the first moment at which the clocks show more than a time that they leave out."""
        too_early, late_enough = wall - after, wall - before
        while late_enough - too_early > _SECOND:
            between = too_early + (late_enough - too_early) // _SECOND // 2 * _SECOND
            if self.shown(between).replace(tzinfo=None) >= wall:
                late_enough = between
            else:
                too_early = between
        return late_enough

    def reckon(self, day: date) -> LocalDay:
        """Compute a day; `day` remembers it."""
        midnight = datetime.combine(day, time())
        start, end = self.moments(midnight).first, self.moments(midnight + DAY).first
        (offset, same), (last, same_then) = self._offsets(midnight), self._offsets(midnight + DAY)
        is_ordinary = offset == same == last == same_then
        is_ordinary = is_ordinary and all(self.shown(start + probe).utcoffset() == offset for probe in _PROBES)
        return LocalDay(start=start, end=end, offset=offset if is_ordinary else None)


@lru_cache(maxsize=8192)
def _local_day(clock: WallClock, day: date) -> LocalDay:
    return clock.reckon(day)


@lru_cache(maxsize=256)
def clock_of(zone: str) -> WallClock:
    """Return the clocks of a time zone; raises what `ZoneInfo` raises for a name that is none."""
    return WallClock(ZoneInfo(zone))


def naive(moment: datetime) -> datetime:
    """Return a moment in UTC without its zone, brought within the possible days."""
    is_utc = moment.tzinfo is UTC or _within(moment) != moment.replace(tzinfo=None)
    return _within(moment if is_utc else moment.astimezone(UTC))


def _within(at: datetime) -> datetime:
    """Return a time without its zone, brought within the possible days."""
    return max(datetime.combine(FIRST_DAY, time()), min(at.replace(tzinfo=None), datetime.combine(LAST_DAY, time())))
