"""The columns of a schedule that say when it is due, read from what people have written into them.

Everything that is wrong is said at once, each with its column and with what to write instead.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from datetime import date, datetime
from functools import lru_cache
from typing import TypeVar
from zoneinfo import ZoneInfoNotFoundError, available_timezones

from batchctl.domain.business_days import WEEKDAYS, BusinessDays
from batchctl.domain.cadences import LAST, MONTHS, WEEKS, DayPattern, MonthDays
from batchctl.domain.cron_text import CronTimes, NotCron, read_cron
from batchctl.domain.outcomes import Problem
from batchctl.domain.schedules import Calendar, Timing
from batchctl.domain.status import CalendarRule, ScheduleType
from batchctl.domain.text import did_you_mean, shorten, visible
from batchctl.domain.values import named_value
from batchctl.domain.wall_clock import FIRST_DAY, LAST_DAY, WallClock, clock_of

DAY_SECONDS = 86400

_TIME = re.compile(r"([01][0-9]|2[0-3]):([0-5][0-9])")
_NEARLY_TIME = re.compile(r"([0-9]{1,2})[:.hH]?([0-9]{2})")
_WINDOW = re.compile(r"([^-]*)-([^-]*)")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_RUN_AT = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})[ T]([0-9]{2}:[0-9]{2}(?::[0-9]{2})?)")
_NUMBER = re.compile(r"[0-9]{1,4}")
_BUSINESS = re.compile(r"business_([0-9]{1,4}|last)")

_MOST_BUSINESS_DAYS = 23
_FIXED = (ScheduleType.DAILY, ScheduleType.WEEKLY, ScheduleType.MONTHLY, ScheduleType.MONTHLY_DOW)
_NEEDED: tuple[tuple[str, str, tuple[ScheduleType, ...], bool, str], ...] = (
    ("IntervalMinutes", "interval_minutes", (ScheduleType.INTERVAL,), True, "15"),
    ("RunTimes", "run_times", _FIXED, True, "06:00,18:00"),
    ("RunDays", "run_days", (ScheduleType.WEEKLY, ScheduleType.MONTHLY_DOW), False, "Mon,Fri"),
    ("RunDaysOfMonth", "run_days_of_month", (ScheduleType.MONTHLY,), False, "1,15,last"),
    ("WeekOfMonth", "week_of_month", (ScheduleType.MONTHLY_DOW,), False, "first,last"),
    ("RunAt", "run_at", (ScheduleType.ONCE,), True, "2026-12-01 02:00"),
    ("Cron", "cron", (ScheduleType.CRON,), True, "30 2 * * *"),
)
"""Column, field, the types that need it, whether others must not have it, and what it looks like."""

_Read = TypeVar("_Read")


@named_value
class ReadTiming:
    """When a schedule is due, read; what could not be read takes part in nothing."""

    zone: str
    clock: WallClock
    days: DayPattern
    times: tuple[int, ...]
    """The times of an ordinary day, in seconds after midnight, in order; within `window` already."""
    window: tuple[int, int] | None
    """In minutes of the day; both belong to it, and the second may be the smaller."""
    calendar: BusinessDays | None
    cron: CronTimes | None


class _Reader:
    """Reads, and collects what cannot be read."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []

    def wrong(self, column: str, message: str) -> None:
        self.problems.append(Problem(column, message))

    def list_of(
        self, column: str, written: str | None, take: Callable[[str], Collection[int]]
    ) -> frozenset[int] | None:
        """Read a list with commas, each of its parts by itself; None where nothing is written."""
        if written is None:
            return None
        found = set[int]()
        for part in written.split(","):
            try:
                found.update(take(part.strip()))
            except _Unfit as unfit:
                self.wrong(column, str(unfit))
        return frozenset(found)

    def attempt(self, column: str, read: Callable[[], _Read]) -> _Read | None:
        """Read something; None, and a problem, where it cannot be read."""
        try:
            return read()
        except _Unfit as unfit:
            self.wrong(column, str(unfit))
            return None


class _Unfit(ValueError):
    """What is wrong with a column."""


def read_timing(
    timing: Timing, default_zone: str, calendar: Calendar | None, calendars: Collection[str] = ()
) -> tuple[ReadTiming, list[Problem]]:
    """Read the columns, and say all that is wrong with them."""
    reader = _Reader()
    _what_is_needed(reader, timing)
    known = _calendar(reader, timing, calendar, calendars)
    cron = reader.attempt("Cron", lambda: _cron(timing.cron))
    window = reader.attempt("BetweenTimes", lambda: _window(timing.between_times))
    times = _times(reader, timing, cron)
    inside = tuple(at for at in times if window is None or is_within(window, at))
    if times and not inside:
        reader.wrong(
            "BetweenTimes", f"None of its times lies in {visible(timing.between_times or '')}: it is never due."
        )
    zone = default_zone if timing.time_zone is None else timing.time_zone
    clock = reader.attempt("TimeZone", lambda: _clock(zone)) or clock_of("UTC")
    days = _days(reader, timing, known, cron)
    return ReadTiming(
        zone=zone, clock=clock, days=days, times=inside, window=window, calendar=known, cron=cron
    ), reader.problems


def is_within(window: tuple[int, int], seconds: int) -> bool:
    """Say whether a time of day lies in a window, of which both ends belong to it."""
    begin, end = window[0] * 60, window[1] * 60
    return begin <= seconds <= end if begin <= end else seconds >= begin or seconds <= end


def run_at(timing: Timing) -> datetime | None:
    """Return the wall time that RunAt names; None where it names none."""
    try:
        return _run_at(timing.run_at)
    except _Unfit:
        return None


def _what_is_needed(reader: _Reader, timing: Timing) -> None:
    kind = timing.schedule_type
    for column, field, types, is_theirs_alone, example in _NEEDED:
        value = getattr(timing, field)
        if value is None and kind in types:
            reader.wrong(column, f"A schedule of type {kind} needs it; write for example {example}.")
        elif value is not None and is_theirs_alone and kind not in types:
            reader.wrong(column, f"A schedule of type {kind} has none; set it to NULL, or change ScheduleType.")
    if timing.every_n != 1 and kind not in _FIXED:
        reader.wrong("EveryN", f"A schedule of type {kind} has none; write 1.")
    elif not 1 <= timing.every_n <= 1000:
        reader.wrong("EveryN", f"{timing.every_n} is not between 1 and 1000.")
    minutes = timing.interval_minutes
    if minutes is not None and not 1 <= minutes <= 1440:
        reader.wrong("IntervalMinutes", f"{minutes} is not between 1 and 1440, the minutes of a day.")


def _calendar(
    reader: _Reader, timing: Timing, calendar: Calendar | None, calendars: Collection[str]
) -> BusinessDays | None:
    if timing.calendar_name is None:
        if timing.calendar_rule is not CalendarRule.BUSINESS_DAYS:
            reader.wrong("CalendarName", f"CalendarRule {timing.calendar_rule} needs a calendar to go by.")
        return None
    if calendar is None:
        meant = visible(did_you_mean(timing.calendar_name, calendars))
        said = f"There is no calendar '{visible(timing.calendar_name)}'.{meant}"
        reader.wrong("CalendarName", f"{said} `batchctl calendar import` makes one.")
        return None
    read = _Reader()
    written = calendar.business_days if calendar.business_days.strip() else None
    weekdays = read.list_of("CalendarName", written, _weekdays) or frozenset()
    for problem in read.problems:
        reader.wrong("CalendarName", f"BusinessDays of calendar {visible(calendar.name)}: {problem.message}")
    return BusinessDays(calendar, weekdays)


def _cron(written: str | None) -> CronTimes | None:
    if written is None:
        return None
    try:
        return read_cron(written)
    except NotCron as error:
        raise _Unfit(f"{_quoted(written)} is no cron expression: {error}. Write for example 30 2 * * *.") from error


def _window(written: str | None) -> tuple[int, int] | None:
    if written is None:
        return None
    found = _WINDOW.fullmatch(written)
    if found is None:
        raise _Unfit(f"{_quoted(written)} is no window: write it as HH:MM-HH:MM, for example 09:00-17:00.")
    return _time(found[1].strip()), _time(found[2].strip())


def _times(reader: _Reader, timing: Timing, cron: CronTimes | None) -> tuple[int, ...]:
    """Return the times of an ordinary day in seconds."""
    match timing.schedule_type:
        case ScheduleType.INTERVAL:
            minutes = timing.interval_minutes or 0
            return tuple(range(0, DAY_SECONDS, minutes * 60)) if 1 <= minutes <= 1440 else ()
        case ScheduleType.CRON:
            return tuple(minute * 60 for minute in cron.times) if cron is not None else ()
        case ScheduleType.ONCE:
            at = reader.attempt("RunAt", lambda: _run_at(timing.run_at))
            return () if at is None else (at.hour * 3600 + at.minute * 60 + at.second,)
        case _:
            found = reader.list_of("RunTimes", timing.run_times, lambda part: [_time(part)])
            return tuple(sorted(minute * 60 for minute in found or ()))


def _clock(zone: str) -> WallClock:
    if zone.startswith("right/"):
        raise _Unfit(f"{_quoted(zone)} counts leap seconds, which no database does; write {_quoted(zone[6:])}.")
    if zone == "localtime":
        raise _Unfit("'localtime' is another zone on another machine; write an IANA name such as Europe/Amsterdam.")
    try:
        return clock_of(zone)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        meant = visible(did_you_mean(zone, _zones()))
        raise _Unfit(
            f"{_quoted(zone)} is not a time zone; write an IANA name such as Europe/Amsterdam.{meant}"
        ) from error


@lru_cache(maxsize=1)
def _zones() -> frozenset[str]:
    return frozenset(available_timezones())


def _days(reader: _Reader, timing: Timing, calendar: BusinessDays | None, cron: CronTimes | None) -> DayPattern:
    first = reader.attempt("StartDate", lambda: _date(timing.start_date)) or FIRST_DAY
    last = reader.attempt("EndDate", lambda: _date(timing.end_date)) or LAST_DAY
    if last < first:
        reader.wrong("EndDate", f"{last} is before StartDate {first}: it is never due.")
    months = reader.list_of("RunMonths", timing.run_months, _months)
    if cron is not None:
        months = cron.months if months is None else months & cron.months
    if (at := run_at(timing)) is not None:
        first, last = max(first, at.date()), min(last, at.date())
    every = timing.every_n if 1 <= timing.every_n <= 1000 else 1
    kind = timing.schedule_type
    return DayPattern(
        first=first,
        last=last,
        weekdays=reader.list_of("RunDays", timing.run_days, _weekdays),
        month_days=_month_days(reader, timing),
        weeks=reader.list_of("WeekOfMonth", timing.week_of_month, _weeks),
        months=months,
        every_months=every if kind in (ScheduleType.MONTHLY, ScheduleType.MONTHLY_DOW) else 1,
        every_weeks=every if kind is ScheduleType.WEEKLY else 1,
        every_days=every if kind is ScheduleType.DAILY else 1,
        anchor=first if timing.start_date is not None else date(1970, 1, 5 if kind is ScheduleType.WEEKLY else 1),
        calendar=calendar,
        cron=None if cron is None else cron.fits,
    )


def _month_days(reader: _Reader, timing: Timing) -> MonthDays | None:
    written = timing.run_days_of_month
    if written is None:
        return None
    numbers = reader.list_of("RunDaysOfMonth", written, _month_day) or frozenset()
    # Business days are counted from 1001, and the last one of all is 1000.
    business = frozenset(LAST if number == 1000 else number - 1000 for number in numbers if number >= 1000)
    if business and timing.calendar_name is None:
        reader.wrong("RunDaysOfMonth", "Business days are those of a calendar; name it in CalendarName.")
    return MonthDays(numbers=frozenset(number for number in numbers if number < 1000), business=business)


def _time(written: str) -> int:
    found = _TIME.fullmatch(written)
    if not written:
        raise _Unfit("A time of day is missing; write for example 06:00,18:00.")
    if found is not None:
        return int(found[1]) * 60 + int(found[2])
    nearly = _NEARLY_TIME.fullmatch(written)
    said = f"{_quoted(written)} is no time of day: write it as HH:MM"
    if nearly is not None and int(nearly[1]) < 24 and int(nearly[2]) < 60:
        raise _Unfit(f"{said}, {int(nearly[1]):02}:{nearly[2]}.")
    raise _Unfit(f"{said}, from 00:00 to 23:59.")


def _date(written: str | None) -> date | None:
    if written is None:
        return None
    return _checked_date(written.strip(), f"{_quoted(written)} is no date: write it as YYYY-MM-DD.")


def _checked_date(written: str, complaint: str) -> date:
    if not _DATE.fullmatch(written):
        raise _Unfit(complaint)
    try:
        read = date.fromisoformat(written)
    except ValueError as error:
        raise _Unfit(f"{_quoted(written)} is no date: {error}.") from error
    if not FIRST_DAY <= read <= LAST_DAY:
        raise _Unfit(f"{_quoted(written)} is not between {FIRST_DAY} and {LAST_DAY}.")
    return read


def _run_at(written: str | None) -> datetime | None:
    if written is None:
        return None
    complaint = f"{_quoted(written)} is no wall time: write it as YYYY-MM-DD HH:MM."
    found = _RUN_AT.fullmatch(written.strip())
    if found is None:
        raise _Unfit(complaint)
    day = _checked_date(found[1], complaint)
    try:
        return datetime.fromisoformat(f"{day}T{found[2]}")
    except ValueError as error:
        raise _Unfit(f"{_quoted(written)} is no wall time: {error}.") from error


def _weekdays(part: str) -> Collection[int]:
    return _range(part, WEEKDAYS, "day of the week", "Mon,Fri or Mon-Fri")


def _months(part: str) -> Collection[int]:
    if _NUMBER.fullmatch(part):
        if not 1 <= int(part) <= 12:
            raise _Unfit(f"'{part}' is no month: write 1 to 12, or Jan to Dec.")
        return [int(part)]
    return [place + 1 for place in _range(part, MONTHS, "month", "Jan,Jul or 1,7")]


def _weeks(part: str) -> Collection[int]:
    place = _place(part, WEEKS, "week of a month", "first,last")
    return [LAST if WEEKS[place] == "last" else place + 1]


def _month_day(part: str) -> Collection[int]:
    folded = part.lower()
    if folded == "last":
        return [LAST]
    if _NUMBER.fullmatch(part):
        if not 1 <= int(part) <= 31:
            raise _Unfit(f"'{part}' is no day of a month: write 1 to 31, or last.")
        return [int(part)]
    if (found := _BUSINESS.fullmatch(folded)) is not None:
        if found[1] == "last":
            return [1000]
        if 1 <= int(found[1]) <= _MOST_BUSINESS_DAYS:
            return [1000 + int(found[1])]
    meant = visible(did_you_mean(part, ("last", "business_1", "business_last"))) if part else ""
    said = f"write 1 to 31, last, business_1 to business_{_MOST_BUSINESS_DAYS}, or business_last."
    raise _Unfit(f"{_quoted(part)} is no day of a month: {said}{meant if 'Did' in meant else ''}")


def _range(part: str, words: Sequence[str], what: str, example: str) -> Collection[int]:
    """Read a word, or two with a dash between them; a range may go over the end."""
    begin, dash, end = part.partition("-")
    first = _place(begin.strip(), words, what, example)
    if not dash:
        return [first]
    last = _place(end.strip(), words, what, example)
    length = (last - first) % len(words)
    return [(first + step) % len(words) for step in range(length + 1)]


def _place(part: str, words: Sequence[str], what: str, example: str) -> int:
    folded = [word.lower() for word in words]
    if part.lower() in folded:
        return folded.index(part.lower())
    if not part:
        raise _Unfit(f"A {what} is missing; write for example {example}, or set the column to NULL.")
    raise _Unfit(f"{_quoted(part)} is no {what}; write for example {example}.{visible(did_you_mean(part, words))}")


def _quoted(written: str) -> str:
    return f"'{shorten(visible(written), 60)}'"
