"""When a schedule is due, in words for people."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress

from batchctl.domain.scheduling.cadences import MONTHS
from batchctl.domain.scheduling.cron_text import NotCron, explained, read_cron
from batchctl.domain.scheduling.schedules import Timing
from batchctl.domain.status import CalendarRule, FoldPolicy, GapPolicy, ScheduleType
from batchctl.domain.text import visible

_BY_CALENDAR = {
    CalendarRule.BUSINESS_DAYS: "on business days of {}",
    CalendarRule.DAYS_OFF: "on days off of {}",
    CalendarRule.NEXT: "shifted to the next business day of {}",
    CalendarRule.PREVIOUS: "shifted to the business day of {} before",
}
_TEENS = (11, 12, 13)
_ENDINGS = {1: "st", 2: "nd", 3: "rd"}


def words_of(timing: Timing, zone: str, *, is_rhythm: bool = False) -> str:
    """Describe when a schedule is due; a column that cannot be read is quoted as it is written.

    In a rhythm the policies for changed clocks do not apply.
    """
    policies = () if is_rhythm else _policies(timing)
    parts = [_cadence(timing), *_days(timing), *_bounds(timing), zone, *_calendar(timing), *policies]
    return visible(", ".join(part for part in parts if part))


def _cadence(timing: Timing) -> str:
    every, at = timing.every_n, _listed(_in_order(timing.run_times) or "?")
    match timing.schedule_type:
        case ScheduleType.INTERVAL:
            return f"every {timing.interval_minutes or '?'} min"
        case ScheduleType.CRON:
            return _cron(timing.cron or "?")
        case ScheduleType.ONCE:
            return f"once at {(timing.run_at or '?').strip().replace('T', ' ')}"
        case ScheduleType.DAILY:
            return f"{_every(every, 'daily', 'days')} at {at}"
        case ScheduleType.WEEKLY:
            return f"{_every(every, 'weekly', 'weeks')} at {at}"
        case ScheduleType.MONTHLY | ScheduleType.MONTHLY_DOW:
            return f"{_every(every, 'monthly', 'months')} at {at}"


def _cron(written: str) -> str:
    with suppress(NotCron):
        read_cron(written)
        return f"cron {written} ({explained(written)})"
    return f"cron {written}"


def _in_order(run_times: str | None) -> str:
    """Put times of day in order, each once."""
    return ",".join(sorted({part.strip() for part in (run_times or "").split(",")}))


def _days(timing: Timing) -> Iterator[str]:
    weekdays = None if timing.run_days is None else _listed(timing.run_days, str.title)
    if timing.week_of_month is not None:
        yield f"the {_listed(timing.week_of_month, str.lower)} {weekdays or 'of each day of the week'} of the month"
    elif weekdays is not None:
        yield weekdays
    if timing.run_days_of_month is not None:
        yield f"the {_listed(timing.run_days_of_month, _day_of_month)} of the month"
    if timing.run_months is not None:
        yield f"in {_listed(timing.run_months, _month)}"


def _bounds(timing: Timing) -> Iterator[str]:
    if timing.between_times is not None:
        begin, _, end = (part.strip() for part in timing.between_times.partition("-"))
        over = " (over midnight; each time counts to its own date)" if end < begin else ""
        yield f"between {begin} and {end}{over}"
    if timing.start_date is not None:
        yield f"from {timing.start_date.strip()}"
    if timing.end_date is not None:
        yield f"until {timing.end_date.strip()}"


def _calendar(timing: Timing) -> Iterator[str]:
    if timing.calendar_name is not None:
        yield _BY_CALENDAR[timing.calendar_rule].format(timing.calendar_name)


def _policies(timing: Timing) -> Iterator[str]:
    if timing.gap_policy is GapPolicy.SKIP:
        yield "skipped when clocks leave it out"
    if timing.fold_policy is FoldPolicy.TWICE and timing.schedule_type is not ScheduleType.ONCE:
        yield "twice when clocks show it twice"


def _every(number: int, once: str, several: str) -> str:
    return once if number == 1 else f"every {number} {several}"


def _listed(written: str | None, say: Callable[[str], str] = str) -> str:
    *others, last = _wording((written or "").split(","), say)
    return f"{', '.join(others)} and {last}" if others else last


def _wording(parts: Iterable[str], say: Callable[[str], str]) -> Iterator[str]:
    for part in parts:
        begin, dash, end = (word.strip() for word in part.partition("-"))
        yield f"{say(begin)} to {say(end)}" if dash else say(begin)


def _day_of_month(token: str) -> str:
    place, _, number = token.lower().rpartition("_")
    day = f"{place} day".strip()
    if number == "last":
        return f"last {day}"
    return f"{_ordinal(int(number))} {place and day}".strip() if _is_number(number) else token


def _month(token: str) -> str:
    is_month = _is_number(token) and 1 <= int(token) <= len(MONTHS)
    return MONTHS[int(token) - 1] if is_month else token.title()


def _is_number(token: str) -> bool:
    return token.isascii() and token.isdigit()


def _ordinal(number: int) -> str:
    ending = "th" if number % 100 in _TEENS else _ENDINGS.get(number % 10, "th")
    return f"{number}{ending}"
