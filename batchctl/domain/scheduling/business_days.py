"""Which days are business days, by a calendar's rows."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from datetime import date, timedelta

from batchctl.domain.scheduling.schedules import Calendar
from batchctl.domain.scheduling.wall_clock import DAY, LAST_DAY
from batchctl.domain.text import did_you_mean, typed, visible

WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
MOST_OF_A_MONTH = 23
"""How many business days a month can have where they are those of a week."""
FARTHEST = 366
"""How many days a shift may go."""
SOON = timedelta(days=60)
"""How long before a calendar runs out people are told."""


class BusinessDays:
    """A calendar that can be asked."""

    def __init__(self, calendar: Calendar, weekdays: frozenset[int]) -> None:
        """Answer by the days of a calendar, and by the days of the week where it has no entry."""
        self.name = visible(calendar.name)
        self._weekdays = weekdays
        self._days = {one.day: one for one in calendar.days}
        self._extra = sorted(one.day for one in calendar.days if one.is_business_day)
        self._months: dict[date, tuple[date, ...]] = {}

    def is_business_day(self, day: date) -> bool:
        """Say whether a day is a business day."""
        known = self._days.get(day)
        return day.weekday() in self._weekdays if known is None else known.is_business_day

    def wording(self, day: date) -> str:
        """Describe a day, with the reason."""
        kind = "a business day" if self.is_business_day(day) else "no business day"
        known = self._days.get(day)
        why = visible(known.description or "") if known is not None else f"a {day:%A}"
        return f"{day} is {kind} of {self.name}{': ' if why else ''}{why}"

    def nearest(self, day: date, step: timedelta) -> date | None:
        """Return the day itself or the first business day after it (or before it); None when there is none for a year."""
        candidates: Iterable[date] = (day + step * number for number in range(FARTHEST + 1))
        if not self._weekdays:
            known = self._extra if step > timedelta(0) else self._extra[::-1]
            candidates = (one for one in known if 0 <= (one - day) // step <= FARTHEST)
        return next((one for one in candidates if self.is_business_day(one)), None)

    def of_month(self, first: date) -> tuple[date, ...]:
        """Return the business days of the month that begins with a day, in order."""
        if first not in self._months:
            every = (first + DAY * number for number in range(31))
            self._months[first] = tuple(day for day in every if day.month == first.month and self.is_business_day(day))
        return self._months[first]


def ends_before(calendar: Calendar | None, day: date) -> str | None:
    """Return the message that a calendar does not cover a day any more; None while it does, or when there is none."""
    if calendar is None or calendar.valid_until is None or day <= calendar.valid_until:
        return None
    since = min(calendar.valid_until, LAST_DAY) + DAY
    return f"Calendar {visible(calendar.name)} says nothing from {since} on: then only the days of the week decide."


def begins_after(calendar: Calendar | None, day: date) -> str | None:
    """Return the message that a calendar does not cover a day yet; None when it does, or when there is none."""
    if calendar is None or calendar.valid_from is None or day >= calendar.valid_from:
        return None
    said = f"Calendar {visible(calendar.name)} says nothing before {calendar.valid_from}"
    return f"{said}: until then only the days of the week decide."


def running_out(calendar: Calendar, today: date) -> str | None:
    """Return the message that a calendar has run out or soon will; None while there is time."""
    begins, until = calendar.valid_from, calendar.valid_until
    if until is None or until - today > SOON or (begins is not None and until < begins):
        return None
    name = visible(calendar.name)
    if until < today:
        return f"calendar {name} has run out on {until}: since then only the days of the week decide"
    return f"calendar {name} runs out on {until}: after that only the days of the week decide"


def no_calendar(name: str, known: Collection[str]) -> str:
    """Return the message that there is none of that name, which one may be meant, and how to make one."""
    meant = visible(did_you_mean(name, known))
    return f"There is no calendar '{visible(name)}'.{meant} `{to_import(name)}` makes one."


def to_import(name: str, years: str = "YYYY") -> str:
    """Return what to type to make a calendar of a country's holidays."""
    return f"batchctl calendar import {typed(name)} --country CC --years {years}"
