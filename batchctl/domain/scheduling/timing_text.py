"""The columns of a schedule that say when it is due, read from what people have written into them.

Everything that is wrong is reported at once, each with its column and with what to write instead.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from datetime import date, datetime
from functools import lru_cache
from typing import TypeVar
from zoneinfo import ZoneInfoNotFoundError, available_timezones

from batchctl.domain.outcomes import Finding
from batchctl.domain.scheduling.business_days import BusinessDays, no_calendar
from batchctl.domain.scheduling.cadences import DayPattern, MonthDays
from batchctl.domain.scheduling.column_text import (
    BLANK,
    UnfitText,
    local_date,
    month_days_of,
    months_of,
    quoted,
    time_of_day,
    wall_time,
    weekdays_of,
    weeks_of,
    window_of_day,
)
from batchctl.domain.scheduling.cron_text import CronTimes, NeverCron, NotCron, read_cron
from batchctl.domain.scheduling.schedules import Calendar, Timing
from batchctl.domain.scheduling.wall_clock import FIRST_DAY, LAST_DAY, WallClock, clock_of
from batchctl.domain.status import CalendarRule, ScheduleType
from batchctl.domain.text import nearest, visible
from batchctl.domain.values import named_value

DAY_SECONDS = 86400
LONGEST_RHYTHM = 60
"""Minutes; an interval that is longer means times of day."""
SET_TO_NULL = "set it to NULL, or change ScheduleType."
"""What to do about a column of a row that belongs to another type."""

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
    """The times of an ordinary day, in seconds after midnight, in order."""
    is_rhythm: bool
    """True when it is due each time that clocks show one of its times, False when policies decide what they change."""
    calendar: BusinessDays | None
    cron: CronTimes | None


class _Reader:
    """Reads, and collects what cannot be read."""

    def __init__(self) -> None:
        self.findings: list[Finding] = []

    def wrong(self, column: str, message: str) -> None:
        self.findings.append(Finding(column, message))

    def list_of(
        self, column: str, written: str | None, take: Callable[[str], Collection[_Read]]
    ) -> frozenset[_Read] | None:
        """Read a list with commas, each of its parts by itself; None where nothing is written."""
        if written is None:
            return None
        found = set[_Read]()
        for part in written.split(","):
            try:
                found.update(take(part.strip(BLANK)))
            except UnfitText as unfit:
                self.wrong(column, str(unfit))
        return frozenset(found)

    def attempt(self, column: str, read: Callable[[], _Read]) -> _Read | None:
        """Read something; None, and a finding, where it cannot be read."""
        try:
            return read()
        except UnfitText as unfit:
            self.wrong(column, str(unfit))
            return None


def read_timing(
    timing: Timing, default_zone: str, calendar: Calendar | None, calendars: Collection[str] = ()
) -> tuple[ReadTiming, list[Finding]]:
    """Read the columns, and return all that is wrong with them."""
    reader = _Reader()
    _what_is_needed(reader, timing)
    known = _calendar(reader, timing, calendar, calendars)
    cron = reader.attempt("Cron", lambda: _cron(timing.cron))
    window = reader.attempt("BetweenTimes", lambda: window_of_day(timing.between_times))
    times = _times(reader, timing, cron)
    inside = tuple(at for at in times if window is None or is_within(window, at))
    if times and not inside:
        reader.wrong(
            "BetweenTimes", f"None of its times lies in {visible(timing.between_times or '')}: it is never due."
        )
    zone = default_zone if timing.time_zone is None else timing.time_zone
    clock = reader.attempt("TimeZone", lambda: _clock(zone)) or clock_of("UTC")
    days = _days(reader, timing, known, cron)
    rhythm = _is_rhythm(timing, cron)
    return ReadTiming(
        zone=zone, clock=clock, days=days, times=inside, is_rhythm=rhythm, calendar=known, cron=cron
    ), reader.findings


def is_within(window: tuple[int, int], seconds: int) -> bool:
    """Say whether a time of day lies in a window, of which both ends belong to it."""
    begin, end = window[0] * 60, window[1] * 60
    return begin <= seconds <= end if begin <= end else seconds >= begin or seconds <= end


def run_at(timing: Timing) -> datetime | None:
    """Return the wall time that RunAt names; None where it names none."""
    try:
        return wall_time(timing.run_at)
    except UnfitText:
        return None


def _what_is_needed(reader: _Reader, timing: Timing) -> None:
    kind = timing.schedule_type
    for column, field, types, is_theirs_alone, example in _NEEDED:
        value = getattr(timing, field)
        if value is None and kind in types:
            reader.wrong(column, f"A schedule of type {kind} needs it; write for example {example}.")
        elif value is not None and is_theirs_alone and kind not in types:
            reader.wrong(column, f"A schedule of type {kind} has none; {SET_TO_NULL}")
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
        reader.wrong("CalendarName", no_calendar(timing.calendar_name, calendars))
        return None
    if calendar.no_days:
        name = visible(calendar.name)
        reader.wrong("CalendarName", f"Calendar {name} cannot be read: {calendar.no_days[0]}.")
        return None
    read = _Reader()
    written = calendar.business_days if calendar.business_days.strip() else None
    weekdays = read.list_of("CalendarName", written, weekdays_of) or frozenset()
    for finding in read.findings:
        reader.wrong("CalendarName", f"BusinessDays of calendar {visible(calendar.name)}: {finding.message}")
    return BusinessDays(calendar, weekdays)


def _cron(written: str | None) -> CronTimes | None:
    if written is None:
        return None
    try:
        return read_cron(written)
    except NeverCron as error:
        raise UnfitText(f"It is never due (cron {visible(written)}): no month that it names has such a day.") from error
    except NotCron as error:
        raise UnfitText(f"{quoted(written)} is no cron expression: {error}. Write for example 30 2 * * *.") from error


def _times(reader: _Reader, timing: Timing, cron: CronTimes | None) -> tuple[int, ...]:
    """Return the times of an ordinary day in seconds."""
    match timing.schedule_type:
        case ScheduleType.INTERVAL:
            minutes = timing.interval_minutes or 0
            return tuple(range(0, DAY_SECONDS, minutes * 60)) if 1 <= minutes <= 1440 else ()
        case ScheduleType.CRON:
            return tuple(minute * 60 for minute in cron.times) if cron is not None else ()
        case ScheduleType.ONCE:
            at = reader.attempt("RunAt", lambda: wall_time(timing.run_at))
            return () if at is None else (at.hour * 3600 + at.minute * 60 + at.second,)
        case _:
            found = reader.list_of("RunTimes", timing.run_times, lambda part: [time_of_day(part)])
            return tuple(sorted(minute * 60 for minute in found or ()))


def _is_rhythm(timing: Timing, cron: CronTimes | None) -> bool:
    """Say whether another of its times comes so soon that one left out need not be made up for."""
    if timing.schedule_type is ScheduleType.INTERVAL:
        return (timing.interval_minutes or 0) <= LONGEST_RHYTHM
    return cron is not None and cron.is_rhythm


_ABBREVIATION = 4


def _clock(zone: str) -> WallClock:
    if zone.startswith("right/"):
        raise UnfitText(f"{quoted(zone)} counts leap seconds, which no database does; write {quoted(zone[6:])}.")
    if zone == "localtime":
        raise UnfitText("'localtime' is another zone on another machine; write an IANA name such as Europe/Amsterdam.")
    try:
        return clock_of(zone)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        # A guess at an abbreviation such as CET1 would mislead.
        near = nearest(zone, _zones()) if len(zone) > _ABBREVIATION else None
        meant = "" if near is None else f" Did you mean '{near}'?"
        raise UnfitText(
            f"{quoted(zone)} is not a time zone; write an IANA name such as Europe/Amsterdam.{meant}"
        ) from error


def checked_zone(name: str) -> str:
    """Return the name of a time zone; raises `UnfitText`, with what may be meant, for one that is none."""
    return _clock(name).zone.key


@lru_cache(maxsize=1)
def _zones() -> frozenset[str]:
    """Return the zones named by place: the others are abbreviations and old names."""
    return frozenset(zone for zone in available_timezones() if "/" in zone)


def _days(reader: _Reader, timing: Timing, calendar: BusinessDays | None, cron: CronTimes | None) -> DayPattern:
    first = reader.attempt("StartDate", lambda: local_date(timing.start_date)) or FIRST_DAY
    last = reader.attempt("EndDate", lambda: local_date(timing.end_date)) or LAST_DAY
    if last < first:
        reader.wrong("EndDate", f"{last} is before StartDate {first}: it is never due.")
    months = reader.list_of("RunMonths", timing.run_months, months_of)
    if cron is not None:
        months = cron.months if months is None else months & cron.months
    if (at := run_at(timing)) is not None:
        first, last = max(first, at.date()), min(last, at.date())
    every = timing.every_n if 1 <= timing.every_n <= 1000 else 1
    kind = timing.schedule_type
    return DayPattern(
        first=first,
        last=last,
        weekdays=reader.list_of("RunDays", timing.run_days, weekdays_of),
        month_days=_month_days(reader, timing),
        weeks=reader.list_of("WeekOfMonth", timing.week_of_month, weeks_of),
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
    found = reader.list_of("RunDaysOfMonth", written, month_days_of) or frozenset()
    business = frozenset(number for number, is_business in found if is_business)
    if business and timing.calendar_name is None:
        reader.wrong("RunDaysOfMonth", "Business days are those of a calendar; name it in CalendarName.")
    return MonthDays(numbers=frozenset(number for number, is_business in found if not is_business), business=business)
