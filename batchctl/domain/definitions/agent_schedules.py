"""Schedules of SQL Server Agent as rows of `Schedule`: the same due times, or why there is no such row.

Source: Microsoft's documentation of sp_add_schedule and dbo.sysschedules.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from enum import IntEnum, StrEnum

from batchctl.domain.definitions.agent_scripts import Literal, ScriptVariable
from batchctl.domain.definitions.defined import Value
from batchctl.domain.values import named_value

MOST_TIMES = 33
"""How many times of day `Schedule.RunTimes` has room for."""
_DAY = 24 * 60
_HOUR = 60
_NEVER_ENDS = 99991231
_WEEKDAYS = ("Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat")
_WEEKS = {1: "first", 2: "second", 4: "third", 8: "fourth", 16: "last"}
_ANY_DAY, _WEEKDAY, _DAY_OFF = 8, 9, 10
_NTH_DAY = {"first": "1", "second": "2", "third": "3", "fourth": "4", "last": "last"}


class FreqType(IntEnum):
    """`freq_type`: on which days it runs."""

    ONCE = 1
    DAILY = 4
    WEEKLY = 8
    MONTHLY = 16
    RELATIVE = 32
    AT_START = 64
    WHEN_IDLE = 128


class SubdayType(IntEnum):
    """`freq_subday_type`: at which times of a day."""

    AT = 1
    SECONDS = 2
    MINUTES = 4
    HOURS = 8


class Unmappable(StrEnum):
    """Why no row of `Schedule` has the same due times."""

    AT_START = "nothing starts when a service does: let a service run it"
    WHEN_IDLE = "nothing starts when the processor is idle"
    SECONDS = "a schedule goes by whole minutes"
    UNKNOWN = "its freq_type, or what goes with it, is none that SQL Server documents"
    OVER_MIDNIGHT = "its times of day go over midnight: write two schedules"
    TOO_MANY = "its times of day are none that a schedule can say: write several schedules"
    SUNDAYS = (
        "its weeks begin on Sunday and those of a schedule on Monday: with a Sunday among several days they differ"
    )
    DAYS_OFF = "days off of a month are counted by a calendar: write CalendarName, and CalendarRule 'days_off'"
    WORKDAYS = "only the first and the last weekday of a month can be said, with a calendar of your own"


Columns = Mapping[str, Value]


@named_value
class _Days:
    """On which days, as columns say it, and as which type."""

    kind: str
    columns: Columns


def columns_of(given: Mapping[str, Literal | ScriptVariable]) -> Columns | Unmappable:
    """Return the columns of a `Schedule` but for its name and entity; `given` has the columns of sysschedules."""
    freq = _number(given, "freq_type")
    if freq == FreqType.ONCE:
        return _once(given)
    days = _days(freq, given)
    if isinstance(days, Unmappable):
        return days
    times = _times(given)
    if isinstance(times, Unmappable):
        return times
    timed = _timed(days, times)
    if isinstance(timed, Unmappable):
        return timed
    bounds: dict[str, Value] = {"StartDate": f"{_start(given, days)}"}
    last = _number(given, "active_end_date", _NEVER_ENDS)
    if last != _NEVER_ENDS:
        bounds["EndDate"] = f"{_date(given, 'active_end_date', _FIRST)}"
    return {**timed, **bounds}


_FIRST = date(1990, 1, 1)


def _once(given: Mapping[str, Literal | ScriptVariable]) -> Columns:
    at = _minute(_number(given, "active_start_time"))
    return {"ScheduleType": "once", "RunAt": f"{_date(given, 'active_start_date', _FIRST)} {_shown(at)}"}


def _start(given: Mapping[str, Literal | ScriptVariable], days: _Days) -> date:
    """Return from when days are counted: weeks begin on Sunday there, and on Monday here."""
    start, every = _date(given, "active_start_date", _FIRST), days.columns.get("EveryN")
    if days.kind != "weekly" or not isinstance(every, int):
        return start
    since_sunday = timedelta(days=start.isoweekday() % 7)
    if days.columns["RunDays"] == "Sun":
        return start if not since_sunday else start - since_sunday + timedelta(weeks=every)
    return start if since_sunday else start + timedelta(days=1)


def _days(freq: int, given: Mapping[str, Literal | ScriptVariable]) -> _Days | Unmappable:
    interval, factor = _number(given, "freq_interval"), max(_number(given, "freq_recurrence_factor"), 1)
    every: dict[str, Value] = {} if factor == 1 else {"EveryN": factor}
    match freq:
        case FreqType.DAILY:
            return _Days(kind="daily", columns={} if interval <= 1 else {"EveryN": interval})
        case FreqType.WEEKLY:
            named = [name for bit, name in enumerate(_WEEKDAYS) if interval & (1 << bit)]
            if not named:
                return Unmappable.UNKNOWN
            if factor > 1 and "Sun" in named and len(named) > 1:
                return Unmappable.SUNDAYS
            return _Days(kind="weekly", columns={"RunDays": ",".join(named), **every})
        case FreqType.MONTHLY:
            return _Days(kind="monthly", columns={"RunDaysOfMonth": str(interval), **every})
        case FreqType.RELATIVE:
            return _relative(interval, _WEEKS.get(_number(given, "freq_relative_interval")), every)
        case FreqType.AT_START:
            return Unmappable.AT_START
        case FreqType.WHEN_IDLE:
            return Unmappable.WHEN_IDLE
        case _:
            return Unmappable.UNKNOWN


def _relative(kind_of_day: int, which: str | None, every: Columns) -> _Days | Unmappable:
    if which is None:
        return Unmappable.UNKNOWN
    if 1 <= kind_of_day <= len(_WEEKDAYS):
        columns: dict[str, Value] = {"RunDays": _WEEKDAYS[kind_of_day - 1], "WeekOfMonth": which, **every}
        return _Days(kind="monthly_dow", columns=columns)
    if kind_of_day == _ANY_DAY:
        return _Days(kind="monthly", columns={"RunDaysOfMonth": _NTH_DAY[which], **every})
    return {_WEEKDAY: Unmappable.WORKDAYS, _DAY_OFF: Unmappable.DAYS_OFF}.get(kind_of_day, Unmappable.UNKNOWN)


def _times(given: Mapping[str, Literal | ScriptVariable]) -> Sequence[int] | Unmappable:
    """Return the times of day in minutes."""
    start = _number(given, "active_start_time")
    subday, interval = _number(given, "freq_subday_type", SubdayType.AT), _number(given, "freq_subday_interval")
    if subday in {0, SubdayType.AT}:
        return [_minute(start)] if start % 100 == 0 else Unmappable.SECONDS
    end = _number(given, "active_end_time", 235959)
    if subday == SubdayType.SECONDS or start % 100:
        return Unmappable.SECONDS
    if subday not in {SubdayType.MINUTES, SubdayType.HOURS} or interval < 1:
        return Unmappable.UNKNOWN
    if end < start:
        return Unmappable.OVER_MIDNIGHT
    return range(_minute(start), _minute(end) + 1, interval * (_HOUR if subday == SubdayType.HOURS else 1))


def _timed(days: _Days, times: Sequence[int]) -> Columns | Unmappable:
    """Return times of day with days, as the type that can say both."""
    if len(times) <= MOST_TIMES:
        return {"ScheduleType": days.kind, "RunTimes": ",".join(map(_shown, times)), **days.columns}
    step = times[1] - times[0]
    between = f"{_shown(times[0])}-{_shown(times[-1])}"
    if _HOUR % step or "EveryN" in days.columns:
        return Unmappable.TOO_MANY
    minutes = ",".join(str(each) for each in range(times[0] % step, _HOUR, step))
    window: dict[str, Value] = {} if len(times) * step == _DAY else {"BetweenTimes": between}
    return {"ScheduleType": "cron", "Cron": f"{minutes} * * * *", **window, **days.columns}


def _number(given: Mapping[str, Literal | ScriptVariable], name: str, usual: int = 0) -> int:
    value = given.get(name)
    return value if isinstance(value, int) else usual


def _date(given: Mapping[str, Literal | ScriptVariable], name: str, usual: date) -> date:
    """Read a date that is written as a number: 20261130."""
    number = _number(given, name)
    year, month, day = number // 10_000, number // 100 % 100, number % 100
    try:
        return date(year, month, day)
    except ValueError:
        return usual


def _minute(number: int) -> int:
    """Read a time of day that is written as a number: 20301 for 02:03:01."""
    return number // 10_000 * _HOUR + number // 100 % 100


def _shown(minute: int) -> str:
    return f"{minute // _HOUR:02}:{minute % _HOUR:02}"
