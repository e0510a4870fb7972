"""Which days are business days, and when a calendar runs out."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta

import pytest

from batchctl.domain.scheduling.business_days import FARTHEST, BusinessDays, running_out
from tests.domain.scheduling import a_calendar

DAY = timedelta(days=1)
CHRISTMAS = date(2026, 12, 25)


def asked(*holidays: str, also: tuple[str, ...] = (), weekdays: frozenset[int] = frozenset(range(5))) -> BusinessDays:
    return BusinessDays(a_calendar(*holidays, also=also), weekdays)


@pytest.mark.parametrize(
    ("day", "said"),
    [
        (CHRISTMAS, "2026-12-25 is no business day of NL: Christmas Day"),
        (CHRISTMAS + DAY, "2026-12-26 is a business day of NL"),
        (CHRISTMAS + 2 * DAY, "2026-12-27 is no business day of NL: a Sunday"),
        (CHRISTMAS + 3 * DAY, "2026-12-28 is a business day of NL: a Monday"),
    ],
)
def test_what_a_day_is_and_why(day: date, said: str) -> None:
    assert asked("2026-12-25 Christmas Day", also=("2026-12-26",)).wording(day) == said


def test_a_description_that_nobody_can_see_is_made_visible() -> None:
    assert asked("2026-12-25 \x1b[2J").wording(CHRISTMAS).endswith(r": \x1b[2J")


def test_the_nearest_business_day_either_way_over_a_long_holiday() -> None:
    days = asked(*(f"2026-12-{day} leave" for day in range(10, 32)))

    assert days.nearest(date(2026, 12, 20), DAY) == date(2027, 1, 1)
    assert days.nearest(date(2026, 12, 20), -DAY) == date(2026, 12, 9)
    assert days.nearest(date(2026, 12, 9), DAY) == date(2026, 12, 9)


def test_a_calendar_of_extra_days_only_is_searched_no_farther_than_a_year() -> None:
    days = asked(also=("2026-06-01", "2028-06-01"), weekdays=frozenset())

    assert days.nearest(date(2026, 5, 1), DAY) == date(2026, 6, 1)
    assert days.nearest(date(2026, 7, 1), -DAY) == date(2026, 6, 1)
    assert days.nearest(date(2026, 6, 1) + FARTHEST * DAY, -DAY) == date(2026, 6, 1)
    assert days.nearest(date(2026, 6, 2), DAY) is None
    assert asked(weekdays=frozenset()).nearest(date(2026, 6, 1), DAY) is None


@pytest.mark.parametrize(
    ("today", "said"),
    [
        ("2026-11-01", None),
        ("2026-11-02", "calendar NL runs out on 2027-01-01: after that only the days of the week decide"),
        ("2027-01-01", "calendar NL runs out on 2027-01-01: after that only the days of the week decide"),
        ("2027-01-02", "calendar NL has run out on 2027-01-01: since then only the days of the week decide"),
    ],
)
def test_a_calendar_that_runs_out_says_so_sixty_days_before(today: str, said: str | None) -> None:
    calendar = replace(a_calendar(), valid_until=date(2027, 1, 1))

    assert running_out(calendar, date.fromisoformat(today)) == said


def test_a_calendar_without_an_end_never_runs_out() -> None:
    assert running_out(a_calendar(), date(2999, 1, 1)) is None
