"""On which days a schedule is due: its cadence and its filters, which compose."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import date, timedelta

from batchctl.domain.scheduling.business_days import WEEKDAYS, BusinessDays
from batchctl.domain.scheduling.wall_clock import DAY, FIRST_DAY, LAST_DAY
from batchctl.domain.values import named_value

MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
WEEKS = ("first", "second", "third", "fourth", "fifth", "last")
FIFTH = 5
LAST = -1
"""Stands for the last one of a month, where others are counted from 1."""


@named_value
class MonthDays:
    """Which days of a month count."""

    numbers: frozenset[int] = frozenset()
    business: frozenset[int] = frozenset()
    """Of its business days, which; `LAST` for the last."""


@named_value
class MissingDay:
    """A day that a schedule names and a month does not have."""

    key: str
    month: date
    reason: str


@named_value
class DayPattern:
    """The days on which a schedule is due; None in a filter takes all."""

    first: date = FIRST_DAY
    last: date = LAST_DAY
    weekdays: frozenset[int] | None = None
    month_days: MonthDays | None = None
    weeks: frozenset[int] | None = None
    """Which of a month's days with the same day of the week; `LAST` for the last."""
    months: frozenset[int] | None = None
    every_months: int = 1
    every_weeks: int = 1
    every_days: int = 1
    anchor: date = date(1970, 1, 1)
    """From where every n-th day, week or month is counted."""
    calendar: BusinessDays | None = None
    cron: Callable[[date], bool] | None = None

    def days(self, start: date, end: date) -> Iterator[date]:
        """Yield the days between two, both included, in order."""
        start, end = max(start, self.first), min(end, self.last)
        month = start.replace(day=1)
        while month <= end:
            following = _next_month(month)
            if self._takes_month(month):
                yield from self._days_of(max(start, month), min(end, following - DAY), month, following)
            month = following

    def missing(self, start: date, end: date) -> Iterator[MissingDay]:
        """Yield the days that the months between two days do not have, in order."""
        start, end = max(start, self.first), min(end, self.last)
        month = start.replace(day=1)
        while month <= end:
            following = _next_month(month)
            if self._takes_month(month):
                yield from self._missing_of(month, following)
            month = following

    def _takes_month(self, month: date) -> bool:
        if self.months is not None and month.month not in self.months:
            return False
        since = (month.year - self.anchor.year) * 12 + month.month - self.anchor.month
        return since % self.every_months == 0

    def _days_of(self, start: date, end: date, month: date, following: date) -> Iterator[date]:
        length = (following - month).days
        numbers = self._numbers(month, length)
        for number in range(start.day, end.day + 1) if numbers is None else numbers:
            if start.day <= number <= end.day:
                day = month.replace(day=number)
                if self._takes(day, length):
                    yield day

    def _numbers(self, month: date, length: int) -> list[int] | None:
        """Return which days of a month RunDaysOfMonth takes; None for all."""
        if self.month_days is None:
            return None
        taken = {length if number == LAST else number for number in self.month_days.numbers}
        if self.month_days.business and self.calendar is not None:
            days = self.calendar.of_month(month)
            places = (len(days) if place == LAST else place for place in self.month_days.business)
            taken |= {days[place - 1].day for place in places if 0 < place <= len(days)}
        return sorted(number for number in taken if number <= length)

    def _takes(self, day: date, length: int) -> bool:
        if self.weekdays is not None and day.weekday() not in self.weekdays:
            return False
        if self.weeks is not None and not self._takes_week(day, length):
            return False
        if self.every_days > 1 and (day - self.anchor).days % self.every_days:
            return False
        if self.every_weeks > 1 and (_monday(day) - _monday(self.anchor)).days // 7 % self.every_weeks:
            return False
        return self.cron is None or self.cron(day)

    def _takes_week(self, day: date, length: int) -> bool:
        weeks = self.weeks or frozenset()
        return (day.day + 6) // 7 in weeks or (LAST in weeks and day.day + 7 > length)

    def _missing_of(self, month: date, following: date) -> Iterator[MissingDay]:
        length = (following - month).days
        called = f"{month:%B} {month.year}"
        if self.weeks is not None and FIFTH in self.weeks:
            fifths = {(month + DAY * number).weekday() for number in range(28, length)}
            for weekday in sorted((self.weekdays or frozenset()) - fifths):
                name = WEEKDAYS[weekday]
                yield MissingDay(key=f"{month:%Y-%m}-fifth_{name}", month=month, reason=f"{called} has no fifth {name}")
        if self.month_days is not None:
            for number in sorted(number for number in self.month_days.numbers if number > length):
                yield MissingDay(key=f"{month:%Y-%m}-{number:02}", month=month, reason=f"{called} has no day {number}")
            if self.calendar is not None:
                there = len(self.calendar.of_month(month))
                for number in sorted(number for number in self.month_days.business if number > there):
                    reason = f"{called} has {there} business days of {self.calendar.name}, no {number}"
                    yield MissingDay(key=f"{month:%Y-%m}-business_{number}", month=month, reason=reason)


def _next_month(month: date) -> date:
    return (month + timedelta(days=31)).replace(day=1)


def _monday(day: date) -> date:
    return day - timedelta(days=day.weekday())
