"""When a schedule is due, in words for people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from batchctl.domain.schedules import Timing
from batchctl.domain.status import CalendarRule, ScheduleType
from batchctl.domain.text import visible
from batchctl.domain.timing_text import ReadTiming

_BY_CALENDAR = {
    CalendarRule.BUSINESS_DAYS: "on business days of {}",
    CalendarRule.DAYS_OFF: "on days off of {}",
    CalendarRule.NEXT: "shifted to the next business day of {}",
    CalendarRule.PREVIOUS: "shifted to the business day of {} before",
}


def words_of(timing: Timing, read: ReadTiming) -> str:
    """Say when a schedule is due."""
    return ", ".join([_cadence(timing), *_filters(timing), visible(read.zone), *_calendar(timing, read)])


def _cadence(timing: Timing) -> str:
    every, at = timing.every_n, _listed((timing.run_times or "").split(","))
    match timing.schedule_type:
        case ScheduleType.INTERVAL:
            return f"every {timing.interval_minutes} min"
        case ScheduleType.CRON:
            return f"cron {visible(timing.cron or '')}"
        case ScheduleType.ONCE:
            return f"once at {visible(timing.run_at or '')}"
        case ScheduleType.DAILY:
            return f"{_every(every, 'daily', 'days')} at {at}"
        case ScheduleType.WEEKLY:
            return f"{_every(every, 'weekly', 'weeks')} at {at}"
        case ScheduleType.MONTHLY | ScheduleType.MONTHLY_DOW:
            return f"{_every(every, 'monthly', 'months')} at {at}"


def _filters(timing: Timing) -> Iterator[str]:
    if timing.run_days is not None:
        yield visible(timing.run_days)
    if timing.week_of_month is not None:
        yield f"{visible(timing.week_of_month)} of the month"
    if timing.run_days_of_month is not None:
        yield f"days {visible(timing.run_days_of_month)} of the month"
    if timing.run_months is not None:
        yield visible(timing.run_months)
    if timing.between_times is not None:
        yield f"between {visible(timing.between_times)}"
    if timing.start_date is not None:
        yield f"from {visible(timing.start_date)}"
    if timing.end_date is not None:
        yield f"until {visible(timing.end_date)}"


def _calendar(timing: Timing, read: ReadTiming) -> Iterator[str]:
    if read.calendar is not None:
        yield _BY_CALENDAR[timing.calendar_rule].format(read.calendar.name)


def _every(number: int, once: str, several: str) -> str:
    return once if number == 1 else f"every {number} {several}"


def _listed(parts: Sequence[str]) -> str:
    *others, last = [visible(part.strip()) for part in parts]
    return f"{', '.join(others)} and {last}" if others else last
