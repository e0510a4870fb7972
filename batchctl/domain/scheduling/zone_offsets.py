"""How far the clocks of a time zone are ahead of UTC, and from when until when, for use in SQL."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import lru_cache

from batchctl.domain.scheduling.wall_clock import DAY, WallClock, clock_of
from batchctl.domain.values import value

FIRST, LAST = datetime(2000, 1, 1, tzinfo=UTC), datetime(2050, 1, 1, tzinfo=UTC)
"""Before and after these, no offsets are kept."""

_SECOND = timedelta(seconds=1)
_STEP = 7 * DAY
"""No clocks are changed twice within this time."""


@value
class ZoneOffset:
    """A time in which the clocks are not changed."""

    begins: datetime
    ends: datetime
    """Not included."""
    seconds: int
    """How far they are ahead of UTC."""


@lru_cache(maxsize=64)
def offsets(zone: str) -> tuple[ZoneOffset, ...]:
    """Return all of them in order; each begins where the last one ends."""
    return tuple(_offsets(clock_of(zone)))


def _offsets(clock: WallClock) -> Iterator[ZoneOffset]:
    begins, day, ahead = FIRST, FIRST, _ahead(clock, FIRST)
    while day < LAST:
        following = min(day + _STEP, LAST)
        if (then := _ahead(clock, following)) != ahead:
            change = _change(clock, day, following)
            yield ZoneOffset(begins, change, ahead)
            begins, ahead = change, then
        day = following
    yield ZoneOffset(begins, LAST, ahead)


def _change(clock: WallClock, before: datetime, after: datetime) -> datetime:
    """Return the first moment of the new offset; there is one change between the two."""
    while after - before > _SECOND:
        between = before + (after - before) // _SECOND // 2 * _SECOND
        if _ahead(clock, between) == _ahead(clock, before):
            before = between
        else:
            after = between
    return after


def _ahead(clock: WallClock, at: datetime) -> int:
    offset = clock.zone.utcoffset(clock.shown(at.replace(tzinfo=None)))
    return 0 if offset is None else int(offset.total_seconds())
