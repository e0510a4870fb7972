"""What the seeds ask of times, line by line as `reference/field.md` counts them: each test is named after its line.

What they ask of jobs, of SQL and of who may change what is tested where jobs and SQL are.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from batchctl.domain.scheduling.due import Instant, Plan, findings, jitter_of
from batchctl.domain.status import ScheduleType
from tests.domain.scheduling import HOME, a_plan, a_timing, at, dates, due, keys, utc

# 000: the staging scheduler


@pytest.mark.parametrize(
    ("kind", "columns"),
    [
        ("interval", {"interval_minutes": 30}),
        ("daily", {"run_times": "06:00,18:00"}),
        ("weekly", {"run_times": "06:00", "run_days": "Mon,Tue"}),
        ("monthly", {"run_times": "06:00", "run_days_of_month": "1,15"}),
    ],
)
def test_seed_000_line_07_and_08_its_types_and_columns(kind: str, columns: dict[str, Any]) -> None:
    """ScheduleType interval, daily, weekly, monthly; IntervalMinutes, RunTimes, RunDays, RunDaysOfMonth."""
    assert a_plan(kind, **columns).next_after(utc("2026-11-22")) is not None


def test_seed_000_line_38_a_schedule_that_lacks_what_it_needs_is_refused() -> None:
    for kind in ScheduleType:
        assert findings(a_timing(kind), HOME, None, ()) != []


def test_seed_000_trap_e_the_31st_is_found_after_31_january() -> None:
    """A scan of 32 days finds none: the next is 59 days on."""
    following = a_plan("monthly", run_times="06:00", run_days_of_month="31").next_after(utc("2026-01-31T12:00"))

    assert following is not None
    assert following.key == "2026-03-31T06:00"


def test_seed_000_trap_f_an_interval_does_not_drift() -> None:
    """It goes by the wall clock and not by the last run: whenever one looks, it is :00, :15, :30, :45."""
    plan = a_plan("interval", interval_minutes=15)
    moment, found = utc("2026-06-01T08:07:11"), list[str]()
    for _ in range(200):
        following = _next(plan, moment)
        found.append(following.key[14:16])
        moment = (following.due or moment) + timedelta(seconds=97)

    assert set(found) == {"00", "15", "30", "45"}


# 003: the attribute scheduler

CADENCES: dict[str, dict[str, Any]] = {
    "daily": {"run_times": "06:00"},
    "weekly": {"run_times": "06:00", "run_days": "Mon"},
    "monthly": {"run_times": "06:00", "run_days_of_month": "1"},
    "monthly_dow": {"run_times": "06:00", "run_days": "Mon", "week_of_month": "first"},
    "interval": {"interval_minutes": 360},
    "cron": {"cron": "0 6 1 6 *"},
    "once": {"run_at": "2026-06-01 06:00"},
}


def test_seed_003_line_06_daily() -> None:
    assert dates(a_plan(run_times="03:15"), "2026-06-01", 3) == ["2026-06-01", "2026-06-02", "2026-06-03"]


def test_seed_003_line_06_every_n_minutes_goes_by_the_wall_clock_within_a_window() -> None:
    plan = a_plan("interval", interval_minutes=20, between_times="09:00-10:00", time_zone="UTC")

    assert keys(plan, "2026-06-01") == [f"2026-06-01T{at}" for at in ("09:00", "09:20", "09:40", "10:00")]


def test_seed_003_line_06_weekly_every_n_weeks() -> None:
    plan = a_plan("weekly", run_times="06:00", run_days="Mon,Fri", every_n=2, start_date="2026-06-01")

    assert dates(plan, "2026-06-01", 28) == ["2026-06-01", "2026-06-05", "2026-06-15", "2026-06-19"]


def test_seed_003_line_06_monthly_on_days_and_on_the_last() -> None:
    plan = a_plan("monthly", run_times="06:00", run_days_of_month="30,last")

    assert dates(plan, "2026-01-15", 60) == ["2026-01-30", "2026-01-31", "2026-02-28"]


def test_seed_003_line_06_monthly_on_the_nth_or_last_day_of_the_week() -> None:
    plan = a_plan("monthly_dow", run_times="06:00", run_days="Mon", week_of_month="second,last")

    assert dates(plan, "2026-06-01", 60) == ["2026-06-08", "2026-06-29", "2026-07-13", "2026-07-27"]


def test_seed_003_line_06_once() -> None:
    assert keys(a_plan("once", run_at="2026-12-01 02:00"), "2026-01-01", 1000) == ["2026-12-01T02:00"]


@pytest.mark.parametrize("kind", ["daily", "weekly", "monthly", "monthly_dow", "interval", "cron", "once"])
@pytest.mark.parametrize(
    ("column", "written", "kept"),
    [
        ("run_days", "Mon", True),
        ("run_days", "Tue-Sun", False),
        ("run_days_of_month", "1", True),
        ("run_days_of_month", "2,last", False),
        ("run_months", "Jun", True),
        ("run_months", "Jul-May", False),
        ("week_of_month", "first", True),
        ("week_of_month", "second,last", False),
        ("between_times", "05:00-07:00", True),
        ("start_date", "2026-06-01", True),
        ("start_date", "2026-06-02", False),
        ("end_date", "2026-06-01", True),
        ("end_date", "2026-05-31", False),
    ],
)
def test_seed_003_line_07_filters_compose_with_any_cadence(kind: str, column: str, written: str, kept: bool) -> None:
    """Monday, 1 June 2026, 06:00 is due by each cadence, and by no filter that leaves it out."""
    columns = CADENCES[kind]
    assert ("2026-06-01T06:00" in keys(a_plan(kind, **{**columns, column: written}), "2026-06-01")) is kept


def test_seed_003_line_18_what_is_missed_can_be_counted_afterwards() -> None:
    """Whether missed times are made up for is for the schedule to say; which they are does not depend on when one asks."""
    plan = a_plan("interval", interval_minutes=10)

    assert len(due(plan, "2026-06-01", 3)) == 3 * 144 + 1


def test_seed_003_line_24_a_zone_per_schedule() -> None:
    (here,) = due(a_plan(run_times="06:00"), "2026-06-01", 0.9)
    (there,) = due(a_plan(run_times="06:00", time_zone="Asia/Tokyo"), "2026-06-01", 0.9)

    assert (at(here), at(there)) == ("2026-06-01 04:00", "2026-06-01 21:00")
    assert here.key == "2026-06-01T06:00"


def test_seed_003_line_25_jitter() -> None:
    (instant,) = due(a_plan(run_times="06:00"), "2026-06-01", 0.5)
    spread = {jitter_of(f"schedule {number}", instant, timedelta(seconds=300)) for number in range(200)}

    assert min(spread) >= timedelta(0)
    assert max(spread) <= timedelta(seconds=300)
    assert len(spread) > 100


def test_seed_003_trap_c_a_day_that_a_month_does_not_have_is_seen_in_the_preview() -> None:
    plan = a_plan("monthly", run_times="06:00", run_days_of_month="30,31")

    shown = [(one.key, one.reason) for one in plan.preview(utc("2026-02-01"), utc("2026-03-05")) if one.due is None]

    assert shown == [("2026-02-30", "February 2026 has no day 30"), ("2026-02-31", "February 2026 has no day 31")]


# 004: express scheduling


def test_seed_004_line_10_once_or_daily_from_the_first_time() -> None:
    daily = a_plan(run_times="02:00", start_date="2026-12-01")

    assert dates(daily, "2026-11-01", 33) == ["2026-12-01", "2026-12-02", "2026-12-03"]


def test_seed_004_line_20_what_is_due_once_ends_by_itself() -> None:
    plan = a_plan("once", run_at="2026-12-01 02:00")

    assert _next(plan, utc("2026-11-22")).key == "2026-12-01T02:00"
    assert plan.next_after(utc("2026-12-01T01:00")) is None


def test_seed_004_trap_a_a_daily_time_does_not_drift_when_clocks_are_changed() -> None:
    """Twenty-four hours from one run to the next would be 01:00 in winter."""
    found = due(a_plan(run_times="02:00"), "2026-10-20", 14)

    assert {one.local[11:16] for one in found} == {"02:00"}
    shown = {datetime.fromisoformat(str(one.due)).astimezone(ZoneInfo(HOME)).hour for one in found}
    assert shown == {2}
    assert {one.due.astimezone(UTC).hour for one in found if one.due is not None} == {0, 1}


def _next(plan: Plan, moment: datetime) -> Instant:
    found = plan.next_after(moment)
    assert found is not None
    return found
