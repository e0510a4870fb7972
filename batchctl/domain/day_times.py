"""The times of a day at which a schedule is due, and when they are: on ordinary days, and when clocks are changed."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from datetime import date, datetime, time, timedelta

from batchctl.domain.schedules import Timing
from batchctl.domain.status import FoldPolicy, ScheduleType
from batchctl.domain.timing_text import ReadTiming, is_within
from batchctl.domain.values import named_value
from batchctl.domain.wall_clock import DAY, LocalDay

_SECOND, _MINUTE = timedelta(seconds=1), timedelta(minutes=1)


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
    elif timing.schedule_type is ScheduleType.INTERVAL:
        yield from _of_interval(timing.interval_minutes or DAY // _MINUTE, read, day)
    else:
        yield from _when_clocks_change(timing, read, day)


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
    is_rhythm = read.cron is not None and read.cron.is_rhythm
    twice = timing.fold_policy is FoldPolicy.TWICE and timing.schedule_type is not ScheduleType.ONCE
    for seconds in read.times:
        wall = datetime.combine(day, time()) + timedelta(seconds=seconds)
        moments = read.clock.moments(wall)
        if moments.exists:
            yield _due_time(read, wall, moments.first)
        elif not is_rhythm:
            yield _due_time(read, wall, moments.first, gap=_gap(read, wall, moments.first))
        if moments.second is not None and (is_rhythm or twice):
            yield _due_time(read, wall, moments.second, is_second=True)


def _of_interval(minutes: int, read: ReadTiming, day: date) -> Iterator[DueTime]:
    """Yield the times of an interval, which goes by elapsed time from the first moment of each day.

    The last times of a day may come after the next has begun, when clocks are put back just after midnight.
    """
    for segment in (day, day + DAY):
        local = read.clock.day(segment)
        for number in range(-((local.start - local.end) // (minutes * _MINUTE))):
            due = local.start + number * minutes * _MINUTE
            shown = read.clock.shown(due)
            seconds = shown.hour * 3600 + shown.minute * 60 + shown.second
            if shown.date() == day and (read.window is None or is_within(read.window, seconds)):
                yield _due_time(read, shown.replace(tzinfo=None, fold=0), due, is_second=shown.fold == 1)


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
