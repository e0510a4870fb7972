"""The times of a day at which a schedule is due, as moments: on ordinary days, and when clocks are changed."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from datetime import date, datetime, time, timedelta

from batchctl.domain.scheduling.schedules import Timing
from batchctl.domain.scheduling.timing_text import ReadTiming
from batchctl.domain.scheduling.wall_clock import LocalDay
from batchctl.domain.status import FoldPolicy, ScheduleType
from batchctl.domain.values import named_value

_SECOND = timedelta(seconds=1)


@named_value
class DueTime:
    """A time of a day, and when it is."""

    key: str
    due: datetime
    """In UTC."""
    local: str
    gap: str | None = None
    """What happens to it when clocks leave it out."""


def times_of(timing: Timing, read: ReadTiming, day: date, after: datetime) -> Iterator[DueTime]:
    """Yield the times of a day; of an ordinary one only what is due after a moment, for there may be many."""
    local = read.clock.day(day)
    if local.offset is not None:
        yield from _on_ordinary_day(read, day, local, local.offset, after)
    else:
        yield from _when_clocks_change(timing, read, day)


def left_out(read: ReadTiming, day: date) -> Iterator[DueTime]:
    """Yield the times of a rhythm that the clocks leave out on a day, with the moment at which they go on."""
    if not read.is_rhythm or read.clock.day(day).offset is not None:
        return
    what = "an interval of 60 minutes or less" if read.cron is None else "a cron whose minute or hour begins with *"
    for wall in (_wall(day, seconds) for seconds in read.times):
        moments = read.clock.moments(wall)
        if not moments.exists:
            gap = f"the clocks leave this out; {what} is not made up for"
            yield DueTime(key=wall.isoformat(timespec="minutes"), due=moments.first, local=_shown(wall), gap=gap)


def _on_ordinary_day(
    read: ReadTiming, day: date, local: LocalDay, offset: timedelta, after: datetime
) -> Iterator[DueTime]:
    passed = 0 if after < local.start else bisect_right(read.times, (after - local.start) // _SECOND)
    zone = _offset(offset)
    for seconds in read.times[passed:]:
        shown = _clock_time(seconds)
        due = local.start + timedelta(seconds=seconds)
        yield DueTime(key=f"{day}T{shown}", due=due, local=f"{day} {shown} {zone}")


def _when_clocks_change(timing: Timing, read: ReadTiming, day: date) -> Iterator[DueTime]:
    """Yield times of day as the policies say, and those of a rhythm whenever clocks show them."""
    twice = timing.fold_policy is FoldPolicy.TWICE and timing.schedule_type is not ScheduleType.ONCE
    for seconds in read.times:
        wall = _wall(day, seconds)
        moments = read.clock.moments(wall)
        if moments.exists:
            yield _due_time(read, wall, moments.first)
        elif not read.is_rhythm:
            yield _due_time(read, wall, moments.first, gap=_gap(read, wall, moments.first))
        if moments.second is not None and (read.is_rhythm or twice):
            yield _due_time(read, wall, moments.second, is_second=True)


def _wall(day: date, seconds: int) -> datetime:
    return datetime.combine(day, time()) + timedelta(seconds=seconds)


def _due_time(
    read: ReadTiming, wall: datetime, due: datetime, *, is_second: bool = False, gap: str | None = None
) -> DueTime:
    shown = read.clock.shown(due)
    key = wall.isoformat(timespec=_precision(wall)) + ("+fold" if is_second else "")
    return DueTime(key=key, due=due, local=f"{_shown(shown)} {_offset(shown.utcoffset() or timedelta(0))}", gap=gap)


def _gap(read: ReadTiming, wall: datetime, first: datetime) -> str:
    until = _shown(read.clock.shown(first))
    return f"{_shown(wall)} does not exist in {read.zone}: the clocks go on at {until}"


def _shown(wall: datetime) -> str:
    return wall.replace(tzinfo=None).isoformat(" ", _precision(wall))


def _precision(wall: datetime) -> str:
    return "seconds" if wall.second else "minutes"


def _clock_time(seconds: int) -> str:
    minutes, rest = divmod(seconds, 60)
    return f"{minutes // 60:02}:{minutes % 60:02}" + (f":{rest:02}" if rest else "")


def _offset(offset: timedelta) -> str:
    sign, length = ("-", -offset) if offset < timedelta(0) else ("+", offset)
    return f"{sign}{_clock_time(length // _SECOND)}"
