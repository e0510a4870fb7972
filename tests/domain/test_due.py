"""When schedules are due: the nights in which clocks are changed, days that months do not have, weeks, windows, shifts."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import TZPATH, ZoneInfo

import pytest
from cronsim import CronSim

from batchctl.domain.scheduling.due import Instant, InstantOutcome, Plan, UnfitTiming, jitter_of, plan_of, timing_hash
from batchctl.domain.status import CalendarRule, FoldPolicy, GapPolicy
from tests.counted_work import work_of
from tests.domain.scheduling import HOME, a_calendar, a_plan, a_timing, at, dates, due, keys, utc

CHRISTMAS = ("2026-12-25 Christmas Day", "2026-12-26 Boxing Day")


# The spring gap and the autumn fold


def test_a_time_in_the_gap_is_due_at_the_first_moment_after_it_under_its_own_key() -> None:
    (instant,) = due(a_plan(run_times="02:30"), "2026-03-29")

    assert instant.key == "2026-03-29T02:30"
    assert at(instant) == "2026-03-29 01:00"
    assert instant.local == "2026-03-29 03:00 +02:00"
    assert instant.outcome == "fires"
    assert instant.reason == "2026-03-29 02:30 does not exist in Europe/Amsterdam: the clocks go on at 2026-03-29 03:00"


def test_the_ends_of_the_gap() -> None:
    found = due(a_plan(run_times="01:59,02:00,02:59,03:00"), "2026-03-29", 0.9)

    assert [(one.key[11:], at(one)[11:]) for one in found] == [
        ("01:59", "00:59"),
        ("02:00", "01:00"),
        ("02:59", "01:00"),
        ("03:00", "01:00"),
    ]


def test_a_time_in_the_gap_is_skipped_where_people_want_that() -> None:
    plan = a_plan(run_times="02:30", gap_policy=GapPolicy.SKIP)
    (instant,) = due(plan, "2026-03-29")

    assert instant.outcome == InstantOutcome.SKIPPED
    assert "2026-03-29 02:30 does not exist" in str(instant.reason)
    following = plan.next_after(utc("2026-03-29"))
    assert following is not None
    assert following.key == "2026-03-30T02:30"


def test_a_time_in_the_fold_is_due_once_the_first_time() -> None:
    (instant,) = due(a_plan(run_times="02:30"), "2026-10-25")

    assert (instant.key, at(instant)) == ("2026-10-25T02:30", "2026-10-25 00:30")


def test_a_time_in_the_fold_is_due_twice_where_people_want_that() -> None:
    found = due(a_plan(run_times="02:30,02:45", fold_policy=FoldPolicy.TWICE), "2026-10-25")

    assert [(one.key[11:], at(one)[11:], one.local[-6:]) for one in found] == [
        ("02:30", "00:30", "+02:00"),
        ("02:45", "00:45", "+02:00"),
        ("02:30+fold", "01:30", "+01:00"),
        ("02:45+fold", "01:45", "+01:00"),
    ]


@pytest.mark.parametrize(("day", "hours"), [("2026-03-29", 23), ("2026-10-25", 25), ("2026-06-01", 24)])
def test_an_interval_that_clocks_change_by_whole_times_is_even(day: str, hours: int) -> None:
    begin = (datetime.fromisoformat(day).replace(tzinfo=ZoneInfo(HOME))).astimezone(UTC)
    found = [one.due for one in a_plan("interval", interval_minutes=15).instants(begin, begin + timedelta(hours=hours))]

    assert found == [begin + timedelta(minutes=15 * number) for number in range(1, hours * 4 + 1)]


def test_an_interval_begins_anew_at_midnight() -> None:
    found = keys(a_plan("interval", interval_minutes=420), "2026-06-01", 2)

    assert [key[11:] for key in found] == ["07:00", "14:00", "21:00", "00:00", "07:00", "14:00", "21:00", "00:00"]


@pytest.mark.parametrize("night", ["2026-03-29", "2026-06-01", "2026-10-25"])
@pytest.mark.parametrize(
    ("minutes", "window", "expected"),
    [
        (1440, None, ["00:00"]),
        (720, None, ["00:00", "12:00"]),
        (240, "20:00-20:30", ["20:00"]),
        (120, "09:00-17:00", ["10:00", "12:00", "14:00", "16:00"]),
        (60, "09:00-11:00", ["09:00", "10:00", "11:00"]),
        (45, "09:00-11:00", ["09:00", "09:45", "10:30"]),
    ],
)
def test_an_interval_is_due_at_the_same_times_on_every_day(
    night: str, minutes: int, window: str | None, expected: list[str]
) -> None:
    plan = a_plan("interval", interval_minutes=minutes, between_times=window)

    found = due(plan, (datetime.fromisoformat(night) - timedelta(days=1)).isoformat(), 3)

    assert [one.local[11:16] for one in found if one.local.startswith(night)] == expected


def test_of_an_interval_of_an_hour_or_less_what_clocks_leave_out_is_left_out_and_what_they_repeat_comes_again() -> None:
    plan = a_plan("interval", interval_minutes=40, between_times="01:00-04:00")

    # 02:00 and 02:40 are not shown in the one night, and shown twice in the other.
    assert [key[11:] for key in keys(plan, "2026-03-28T23:00", 0.5)] == ["01:20", "03:20", "04:00"]
    assert [key[11:] for key in keys(plan, "2026-10-24T22:00", 0.5)] == [
        "01:20",
        "02:00",
        "02:40",
        "02:00+fold",
        "02:40+fold",
        "03:20",
        "04:00",
    ]


def test_an_interval_of_more_than_an_hour_goes_by_the_policies() -> None:
    usual = a_plan("interval", interval_minutes=150, between_times="02:00-03:00")
    unusual = replace(usual.timing, gap_policy=GapPolicy.SKIP, fold_policy=FoldPolicy.TWICE)

    (moved,) = due(usual, "2026-03-29", 0.9)
    assert (moved.key, moved.local, moved.outcome) == ("2026-03-29T02:30", "2026-03-29 03:00 +02:00", "fires")
    assert keys(usual, "2026-10-25", 0.9) == ["2026-10-25T02:30"]
    assert [one.outcome for one in due(plan_of(unusual, HOME, None), "2026-03-29", 0.9)] == ["skipped"]
    assert keys(plan_of(unusual, HOME, None), "2026-10-25", 0.9) == ["2026-10-25T02:30", "2026-10-25T02:30+fold"]


def test_an_interval_of_an_hour_is_a_rhythm_and_one_of_61_minutes_is_not() -> None:
    hour, longer = a_plan("interval", interval_minutes=60), a_plan("interval", interval_minutes=61)

    assert keys(hour, "2026-03-29T00:30", 0.04) == ["2026-03-29T03:00"]
    assert keys(longer, "2026-03-29T00:30", 0.04) == ["2026-03-29T02:02", "2026-03-29T03:03"]


def test_policies_do_not_touch_an_interval_that_is_a_rhythm() -> None:
    usual = a_plan("interval", interval_minutes=20)
    unusual = a_plan("interval", interval_minutes=20, gap_policy=GapPolicy.SKIP, fold_policy=FoldPolicy.TWICE)

    assert keys(usual, "2026-10-24", 3) == keys(unusual, "2026-10-24", 3)
    assert keys(usual, "2026-03-28", 3) == keys(unusual, "2026-03-28", 3)


def test_an_interval_of_a_day_is_due_once_a_day_where_midnight_is_shown_twice() -> None:
    plan = a_plan("interval", interval_minutes=1440, time_zone="America/Havana")

    assert keys(plan, "2026-10-31T12:00", 2) == ["2026-11-01T00:00", "2026-11-02T00:00"]


@pytest.mark.parametrize(
    ("zone", "day", "expected"),
    [
        (HOME, "2026-03-29", ["2026-03-29 02:00", "2026-03-29 02:15", "2026-03-29 02:30", "2026-03-29 02:45"]),
        (HOME, "2026-10-25", []),
        ("Australia/Lord_Howe", "2026-10-03", ["2026-10-04 02:00", "2026-10-04 02:15"]),
    ],
)
def test_what_a_rhythm_leaves_out_is_due_at_no_moment(zone: str, day: str, expected: list[str]) -> None:
    plan = a_plan("interval", interval_minutes=15, time_zone=zone)
    begin = utc(day)

    found = list(plan.left_out(begin, begin + timedelta(days=1)))

    assert [one.local for one in found] == expected
    assert {(one.due, one.outcome.value) for one in found} <= {(None, "skipped")}


def test_only_a_rhythm_leaves_something_out_and_only_on_its_days() -> None:
    begin = utc("2026-03-28")
    sundays = a_plan("cron", cron="*/30 2 * * 0", calendar=a_calendar())

    def left_out(plan: Plan) -> list[str | None]:
        return [one.reason for one in plan.left_out(begin, begin + timedelta(days=2))]

    said = "the clocks leave this out; a cron whose minute or hour begins with * is not made up for"
    assert left_out(sundays) == [f"2026-03-29 is no business day of NL: a Sunday; {said}"] * 2
    assert left_out(a_plan("cron", cron="*/30 2 * * 1-5")) == []
    assert left_out(a_plan("cron", cron="30 2 * * *")) == []
    assert left_out(a_plan("interval", interval_minutes=150)) == []


# Zones that are not like others


def test_lord_howe_changes_by_half_an_hour() -> None:
    plan = a_plan(run_times="01:45,02:15,02:30", time_zone="Australia/Lord_Howe", fold_policy=FoldPolicy.TWICE)

    spring = [(one.key, one.local[11:]) for one in due(plan, "2026-10-03T12:00")]
    autumn = [(one.key[11:], one.local[11:]) for one in due(plan, "2026-04-04T12:00")]

    assert spring == [
        ("2026-10-04T01:45", "01:45 +10:30"),
        ("2026-10-04T02:15", "02:30 +11:00"),
        ("2026-10-04T02:30", "02:30 +11:00"),
    ]
    assert autumn == [
        ("01:45", "01:45 +11:00"),
        ("01:45+fold", "01:45 +10:30"),
        ("02:15", "02:15 +10:30"),
        ("02:30", "02:30 +10:30"),
    ]


def test_an_interval_on_lord_howe_stays_at_the_times_that_clocks_show() -> None:
    hourly = a_plan("interval", interval_minutes=60, time_zone="Australia/Lord_Howe")
    half = a_plan("interval", interval_minutes=30, time_zone="Australia/Lord_Howe")

    # They leave out 02:00 to 02:29, and in autumn show 01:30 to 01:59 twice.
    assert [key[11:] for key in keys(hourly, "2026-10-03T13:30", 0.2)] == ["00:00", "01:00", "03:00", "04:00", "05:00"]
    assert [key[11:] for key in keys(half, "2026-10-03T14:30", 0.07)] == ["01:00", "01:30", "02:30", "03:00"]
    assert [key[11:] for key in keys(half, "2026-04-04T14:00", 0.09)] == [
        "01:00",
        "01:30",
        "01:30+fold",
        "02:00",
        "02:30",
    ]


def test_santiago_leaves_midnight_out() -> None:
    plan = a_plan(run_times="00:00,00:30", time_zone="America/Santiago")
    interval = a_plan("interval", interval_minutes=360, time_zone="America/Santiago")

    found = due(plan, "2026-09-06")

    assert [(one.key, one.local) for one in found] == [
        ("2026-09-06T00:00", "2026-09-06 01:00 -03:00"),
        ("2026-09-06T00:30", "2026-09-06 01:00 -03:00"),
    ]
    assert keys(interval, "2026-09-06", 1) == [f"2026-09-06T{hour:02}:00" for hour in (0, 6, 12, 18)]
    assert due(interval, "2026-09-06")[0].local == "2026-09-06 01:00 -03:00"


def test_santiago_has_its_last_hour_twice() -> None:
    plan = a_plan(run_times="23:30,00:00", time_zone="America/Santiago", fold_policy=FoldPolicy.TWICE)

    assert keys(plan, "2026-04-05T02:00", 0.2) == ["2026-04-04T23:30", "2026-04-04T23:30+fold", "2026-04-05T00:00"]


def test_apia_left_out_a_whole_day() -> None:
    plan = a_plan(run_times="06:00,18:00", time_zone="Pacific/Apia")
    skipping = a_plan(run_times="06:00,18:00", time_zone="Pacific/Apia", gap_policy=GapPolicy.SKIP)
    interval = a_plan("interval", interval_minutes=720, time_zone="Pacific/Apia")
    rhythm = a_plan("interval", interval_minutes=30, time_zone="Pacific/Apia")

    found = due(plan, "2011-12-29T16:00", 1)

    assert [(one.key, one.local[:16]) for one in found] == [
        ("2011-12-29T06:00", "2011-12-29 06:00"),
        ("2011-12-29T18:00", "2011-12-29 18:00"),
        ("2011-12-30T06:00", "2011-12-31 00:00"),
        ("2011-12-30T18:00", "2011-12-31 00:00"),
        ("2011-12-31T06:00", "2011-12-31 06:00"),
    ]
    assert [one.business_date for one in found][2] == date(2011, 12, 30)
    assert [one.outcome for one in due(skipping, "2011-12-29T16:00", 2)].count(InstantOutcome.SKIPPED) == 2
    assert keys(interval, "2011-12-29T10:00", 1.9) == [
        f"2011-12-{day}T{hour}:00" for day in (29, 30, 31) for hour in ("00", "12")
    ]
    assert keys(rhythm, "2011-12-30T09:30", 0.1) == [
        "2011-12-29T23:30",
        "2011-12-31T00:00",
        "2011-12-31T00:30",
        "2011-12-31T01:00",
        "2011-12-31T01:30",
    ]


def test_troll_changes_by_two_hours() -> None:
    (instant,) = due(a_plan(run_times="01:30", time_zone="Antarctica/Troll"), "2026-03-29", 0.5)

    assert (at(instant), instant.local) == ("2026-03-29 01:00", "2026-03-29 03:00 +02:00")


def test_casablanca_changes_for_ramadan() -> None:
    plan = a_plan(run_times="02:30", time_zone="Africa/Casablanca", fold_policy=FoldPolicy.TWICE)

    assert keys(plan, "2026-02-15", 0.5) == ["2026-02-15T02:30", "2026-02-15T02:30+fold"]
    assert due(plan, "2026-03-22", 0.5)[0].local == "2026-03-22 03:00 +01:00"


def test_saint_john_s_began_a_day_twice() -> None:
    plan = a_plan("interval", interval_minutes=30, time_zone="America/St_Johns")

    found = keys(plan, "1990-10-28T02:00", 0.11)

    assert found == [
        "1990-10-27T23:30",
        "1990-10-28T00:00",
        "1990-10-27T23:30+fold",
        "1990-10-28T00:00+fold",
        "1990-10-28T00:30",
        "1990-10-28T01:00",
    ]


def test_a_zone_that_was_ahead_by_seconds_shows_its_own_minutes() -> None:
    (instant,) = due(a_plan(run_times="06:00", time_zone="Africa/Monrovia"), "1971-06-01")

    assert at(instant) == "1971-06-01 06:44:30"
    assert instant.local == "1971-06-01 06:00 -00:44:30"


@pytest.mark.parametrize(
    "moment", ["0001-01-01", "1600-01-01", "1899-12-31", "9990-12-31", "9999-12-31T23:59:59.999999"]
)
@pytest.mark.parametrize("zone", ["Pacific/Kiritimati", "Pacific/Niue"])
def test_moments_that_nobody_can_mean_raise_nothing(moment: str, zone: str) -> None:
    for plan in (a_plan(run_times="06:00", time_zone=zone), a_plan("interval", interval_minutes=90, time_zone=zone)):
        following = plan.next_after(utc(moment))

        assert following is None or following.due is None or following.due > utc(moment)
        assert list(plan.instants(utc(moment), utc(moment))) == []
        assert list(plan.preview(utc(moment), utc(moment))) == []


def test_a_moment_in_another_zone_is_the_same_moment() -> None:
    plan = a_plan(run_times="06:00")
    there = datetime(2026, 6, 1, 23, 30, tzinfo=ZoneInfo("Asia/Tokyo"))

    assert plan.next_after(there) == plan.next_after(there.astimezone(UTC))


# Days


def test_29_february() -> None:
    plan = a_plan("monthly", run_times="06:00", run_days_of_month="29", run_months="Feb")

    assert dates(plan, "2023-01-01", 6 * 366) == ["2024-02-29", "2028-02-29"]


def test_29_february_on_a_monday_is_found_over_28_years() -> None:
    plan = a_plan("monthly", run_times="06:00", run_days_of_month="29", run_months="Feb", run_days="Mon")

    found = plan.next_after(utc("2016-03-01"))

    assert found is not None
    assert found.key == "2044-02-29T06:00"


def test_31_february_is_found_never_and_soon() -> None:
    plan = a_plan("monthly", run_times="06:00", run_days_of_month="31", run_months="Feb")
    after = utc("2026-11-22")

    assert plan.next_after(after) is None
    assert work_of(lambda: plan.next_after(after)) < 50 * 365, "it looks at months, not at the days of fifty years"


def test_the_31st_is_skipped_by_months_that_have_none_and_preview_says_so() -> None:
    plan = a_plan("monthly", run_times="06:00,18:00", run_days_of_month="31")
    begin = utc("2026-03-30")

    shown = [(one.key, one.outcome, one.reason) for one in plan.preview(begin, begin + timedelta(days=65))]

    assert [key for key, *_ in shown] == [
        "2026-03-31T06:00",
        "2026-03-31T18:00",
        "2026-04-31",
        "2026-05-31T06:00",
        "2026-05-31T18:00",
    ]
    assert shown[2] == ("2026-04-31", "skipped", "April 2026 has no day 31")
    assert "2026-04-31" not in keys(plan, "2026-03-30", 65)


def test_after_31_january_comes_31_march() -> None:
    following = a_plan("monthly", run_times="06:00", run_days_of_month="31").next_after(utc("2026-02-01"))

    assert following is not None
    assert following.key == "2026-03-31T06:00"


def test_the_last_day_of_the_month() -> None:
    plan = a_plan("monthly", run_times="06:00", run_days_of_month="last")

    assert dates(plan, "2024-01-01", 121) == ["2024-01-31", "2024-02-29", "2024-03-31", "2024-04-30"]


def test_the_30th_and_the_last_are_one_day_in_a_month_of_thirty() -> None:
    plan = a_plan("monthly", run_times="06:00", run_days_of_month="30,last")

    assert dates(plan, "2026-04-01", 61) == ["2026-04-30", "2026-05-30", "2026-05-31"]


def test_the_last_business_day_of_the_month() -> None:
    calendar = a_calendar("2026-12-31 closed", *CHRISTMAS)
    plan = a_plan("monthly", run_times="06:00", run_days_of_month="business_last,business_1", calendar=calendar)

    assert dates(plan, "2026-10-02", 100) == [
        "2026-10-30",
        "2026-11-02",
        "2026-11-30",
        "2026-12-01",
        "2026-12-30",
        "2027-01-01",
    ]


def test_a_business_day_that_a_month_does_not_have_is_shown() -> None:
    plan = a_plan("monthly", run_times="06:00", run_days_of_month="business_22", calendar=a_calendar())
    shown = list(plan.preview(utc("2026-01-31"), utc("2026-03-01")))

    assert [one.reason for one in shown] == ["February 2026 has 20 business days of NL, no 22"]


def test_iso_weeks_go_on_over_the_ends_of_years() -> None:
    plan = a_plan("weekly", run_times="06:00", run_days="Mon", every_n=2, start_date="2026-12-14")

    # 2026 has 53 ISO weeks, so a rule about even and odd weeks would break here.
    assert dates(plan, "2026-12-01", 60) == ["2026-12-14", "2026-12-28", "2027-01-11", "2027-01-25"]


def test_every_second_week_is_counted_from_the_week_of_the_start() -> None:
    plan = a_plan("weekly", run_times="06:00", run_days="Mon,Fri", every_n=2, start_date="2026-06-03")

    # It starts on a Wednesday: the Friday of that week counts, the Monday was before it.
    assert dates(plan, "2026-06-01", 24) == ["2026-06-05", "2026-06-15", "2026-06-19"]


def test_every_second_week_without_a_start_is_counted_from_1970() -> None:
    first = dates(a_plan("weekly", run_times="06:00", run_days="Mon", every_n=2), "2026-06-01", 14)

    assert [(date.fromisoformat(day) - date(1970, 1, 5)).days % 14 for day in first] == [0]


def test_every_third_day_and_every_third_month() -> None:
    daily = a_plan(run_times="06:00", every_n=3, start_date="2026-02-27")
    monthly = a_plan("monthly", run_times="06:00", run_days_of_month="15", every_n=3, start_date="2026-11-20")

    assert dates(daily, "2026-02-01", 35) == ["2026-02-27", "2026-03-02", "2026-03-05"]
    assert dates(monthly, "2026-11-01", 200) == ["2027-02-15", "2027-05-15"]


@pytest.mark.parametrize(
    ("week", "expected"),
    [
        ("first", ["2026-05-06", "2026-06-03", "2026-07-01"]),
        ("second", ["2026-05-13", "2026-06-10", "2026-07-08"]),
        ("third", ["2026-05-20", "2026-06-17", "2026-07-15"]),
        ("fourth", ["2026-05-27", "2026-06-24", "2026-07-22"]),
        ("last", ["2026-05-27", "2026-06-24", "2026-07-29"]),
        ("fifth", ["2026-07-29"]),
    ],
)
def test_the_nth_wednesday_of_the_month(week: str, expected: list[str]) -> None:
    plan = a_plan("monthly_dow", run_times="06:00", run_days="Wed", week_of_month=week)

    assert dates(plan, "2026-05-01", 92) == expected


def test_a_fifth_weekday_that_a_month_does_not_have_is_shown() -> None:
    plan = a_plan("monthly_dow", run_times="06:00", run_days="Wed", week_of_month="fifth")

    (missing,) = plan.preview(utc("2026-06-02"), utc("2026-07-02"))

    assert (missing.key, missing.due, missing.reason) == ("2026-06-fifth_Wed", None, "June 2026 has no fifth Wed")


def test_start_and_end_belong_to_it() -> None:
    plan = a_plan(run_times="06:00", start_date="2026-06-02", end_date="2026-06-04")

    assert dates(plan, "2026-05-01", 60) == ["2026-06-02", "2026-06-03", "2026-06-04"]
    assert plan.next_after(utc("2026-06-05")) is None


# Windows and filters


def test_both_ends_of_a_window_belong_to_it() -> None:
    found = keys(a_plan("interval", interval_minutes=240, between_times="08:00-16:00", time_zone="UTC"), "2026-06-01")

    assert found == ["2026-06-01T08:00", "2026-06-01T12:00", "2026-06-01T16:00"]


def test_a_window_goes_over_midnight() -> None:
    found = keys(a_plan("interval", interval_minutes=120, between_times="22:00-04:00", time_zone="UTC"), "2026-06-01")

    assert [key[11:] for key in found] == ["00:00", "02:00", "04:00", "22:00", "00:00"]


def test_a_window_over_midnight_goes_by_the_date_of_each_time() -> None:
    plan = a_plan("interval", interval_minutes=120, between_times="22:00-04:00", run_days="Fri", time_zone="UTC")

    assert keys(plan, "2026-06-04", 3) == [f"2026-06-05T{hour:02}:00" for hour in (0, 2, 4, 22)]


def test_a_filter_narrows_every_cadence() -> None:
    filters: dict[str, Any] = {
        "run_days": "Mon-Fri",
        "run_months": "6",
        "between_times": "05:00-07:00",
        "run_days_of_month": "1,6",
    }
    cadences = (
        a_plan(run_times="06:00,09:00", **filters),
        a_plan("weekly", run_times="06:00,09:00", **filters),
        a_plan("monthly", run_times="06:00,09:00", **filters),
        a_plan("cron", cron="0 6,9 * * *", **filters),
        a_plan("interval", interval_minutes=360, **filters),
    )

    assert [keys(plan, "2026-05-20", 60) for plan in cadences] == [["2026-06-01T06:00"]] * len(cadences)


def test_once() -> None:
    plan = a_plan("once", run_at="2026-12-01 02:00:30")

    (instant,) = due(plan, "2026-01-01", 700)

    assert (instant.key, at(instant)) == ("2026-12-01T02:00:30", "2026-12-01 01:00:30")
    assert plan.next_after(instant.due or utc("2026-01-01")) is None


def test_once_in_a_gap_and_in_a_fold() -> None:
    gap = a_plan("once", run_at="2026-03-29T02:30")
    fold = a_plan("once", run_at="2026-10-25T02:30", fold_policy=FoldPolicy.TWICE)

    assert [at(one) for one in due(gap, "2026-01-01", 366)] == ["2026-03-29 01:00"]
    assert keys(fold, "2026-01-01", 366) == ["2026-10-25T02:30"]


# Calendars


def test_days_off_are_skipped_with_the_reason() -> None:
    found = due(a_plan(run_times="06:00", calendar=a_calendar(*CHRISTMAS)), "2026-12-24", 4)

    assert [(one.outcome.value, one.reason) for one in found] == [
        ("fires", None),
        ("skipped", "2026-12-25 is no business day of NL: Christmas Day"),
        ("skipped", "2026-12-26 is no business day of NL: Boxing Day"),
        ("skipped", "2026-12-27 is no business day of NL: a Sunday"),
    ]


def test_an_extra_business_day_counts() -> None:
    calendar = a_calendar("2026-12-25", also=("2026-12-26",))

    assert dates(a_plan(run_times="06:00", calendar=calendar), "2026-12-24", 4) == ["2026-12-24", "2026-12-26"]


def test_days_off_only() -> None:
    plan = a_plan(run_times="06:00", calendar=a_calendar(*CHRISTMAS), calendar_rule=CalendarRule.DAYS_OFF)

    found = due(plan, "2026-12-24", 2)

    assert [one.outcome.value for one in found] == ["skipped", "fires"]
    assert found[0].reason == "2026-12-24 is a business day of NL: a Thursday"


def test_the_next_business_day_after_a_long_holiday_and_over_the_end_of_a_month() -> None:
    holidays = [f"2026-{month}-{day:02} leave" for month, days in (("12", range(24, 32)),) for day in days]
    calendar = a_calendar(*holidays, "2027-01-01 New Year")
    plan = a_plan(
        "monthly", run_times="06:00", run_days_of_month="25", calendar=calendar, calendar_rule=CalendarRule.NEXT
    )

    (shifted,) = due(plan, "2026-12-01", 60)[:1]

    assert (shifted.key, shifted.outcome.value) == ("2027-01-04T06:00", "shifted")
    assert shifted.business_date == date(2026, 12, 25)
    assert shifted.reason == "2026-12-25 is no business day of NL: leave"


def test_the_business_day_before_over_the_end_of_a_month() -> None:
    plan = a_plan(
        "monthly",
        run_times="06:00",
        run_days_of_month="1",
        calendar=a_calendar("2026-05-01 May Day", "2026-04-30 bridge"),
        calendar_rule=CalendarRule.PREVIOUS,
    )

    found = due(plan, "2026-04-02", 40)

    assert [(one.key, one.business_date) for one in found] == [("2026-04-29T06:00", date(2026, 5, 1))]


def test_what_is_shifted_is_found_from_any_moment() -> None:
    """However short the stretch that is asked about, the day that it was due for may lie outside."""
    plan = a_plan("weekly", run_times="06:00", run_days="Sat", calendar=a_calendar(), calendar_rule=CalendarRule.NEXT)
    back = a_plan(
        "weekly", run_times="06:00", run_days="Sun", calendar=a_calendar(), calendar_rule=CalendarRule.PREVIOUS
    )

    assert keys(plan, "2026-06-08T03:30", 0.1) == ["2026-06-08T06:00"]
    assert keys(back, "2026-06-05T03:30", 0.1) == ["2026-06-05T06:00"]


def test_two_days_shifted_onto_one_are_one() -> None:
    plan = a_plan(
        "weekly", run_times="06:00", run_days="Sat,Sun", calendar=a_calendar(), calendar_rule=CalendarRule.NEXT
    )

    (instant,) = due(plan, "2026-06-06", 5)

    assert (instant.key, instant.business_date) == ("2026-06-08T06:00", date(2026, 6, 6))
    assert "2026-06-06" in str(instant.reason)
    assert "2026-06-07" in str(instant.reason)


def test_a_day_shifted_onto_one_that_is_due_itself_leaves_it_as_it_is() -> None:
    plan = a_plan(
        "weekly", run_times="06:00", run_days="Sun,Mon", calendar=a_calendar(), calendar_rule=CalendarRule.NEXT
    )

    (instant,) = due(plan, "2026-06-06", 5)

    assert (instant.outcome.value, instant.business_date) == ("fires", date(2026, 6, 8))
    assert "in place of" in str(instant.reason)


def test_a_calendar_without_business_days_skips_everything() -> None:
    calendar = a_calendar(business_days="")

    for rule in (CalendarRule.BUSINESS_DAYS, CalendarRule.NEXT, CalendarRule.PREVIOUS):
        plan = a_plan(run_times="06:00", calendar=calendar, calendar_rule=rule)
        assert [one.outcome.value for one in due(plan, "2026-06-01", 3)] == ["skipped"] * 3
        assert plan.next_after(utc("2026-06-01")) is None


def test_outside_of_its_validity_the_days_of_the_week_decide() -> None:
    calendar = replace(a_calendar(*CHRISTMAS), valid_from=date(2026, 1, 1), valid_until=date(2026, 12, 31))

    assert dates(a_plan(run_times="06:00", calendar=calendar), "2027-12-24", 4) == ["2027-12-24", "2027-12-27"]


# Cron


@pytest.mark.parametrize("zone", [HOME, "America/New_York", "Australia/Lord_Howe", "America/Santiago", "Asia/Kolkata"])
@pytest.mark.parametrize(
    "expression",
    [
        "30 2 * * *",
        "0,30 0-3 * * *",
        "15 1 1 * 1",
        "0 9 LW * *",
        "0 9 * * 5L",
        "0 9 * * 1#1",
        "59 23 L * *",
        "*/20 * * * *",
        "*/7 1-3 * * *",
        "30 */2 * * *",
        "* 2 * * 1",
    ],
)
def test_cron_is_due_when_cronsim_says_by_itself(expression: str, zone: str) -> None:
    days = map(utc, ("2026-03-07", "2026-03-28", "2026-04-04", "2026-09-05", "2026-10-03", "2026-10-24", "2026-10-31"))
    plan = a_plan("cron", cron=expression, time_zone=zone)
    for day in days:
        ours = {one.due for one in plan.instants(day, day + timedelta(days=3))}
        theirs = set[datetime | None]()
        for found in CronSim(expression, day.astimezone(ZoneInfo(zone))):
            if found.astimezone(UTC) > day + timedelta(days=3):
                break
            theirs.add(found.astimezone(UTC))
        assert ours == theirs


def test_cron_on_lord_howe_has_all_minutes_of_an_hour() -> None:
    """By itself cronsim adds an hour to 01:00 in the night of the fold, and misses 02:00 to 02:29."""
    plan = a_plan("cron", cron="* 2 * * 0", time_zone="Australia/Lord_Howe")

    assert keys(plan, "2026-04-04", 1) == [f"2026-04-05T02:{minute:02}" for minute in range(60)]


def test_cron_in_gap_and_fold_goes_by_the_policies() -> None:
    plan = a_plan("cron", cron="30 2 * * *", gap_policy=GapPolicy.SKIP, fold_policy=FoldPolicy.TWICE)

    assert [one.outcome.value for one in due(plan, "2026-03-29")] == ["skipped"]
    assert keys(plan, "2026-10-25") == ["2026-10-25T02:30", "2026-10-25T02:30+fold"]


# What is the same whoever asks


def test_jitter_is_the_same_whoever_asks() -> None:
    (instant,) = due(a_plan(run_times="06:00"), "2026-06-01")
    most = timedelta(seconds=600)

    assert jitter_of("orders", instant, most) == timedelta(seconds=374)
    assert jitter_of("orders", instant, timedelta(0)) == timedelta(0)


def test_jitter_spreads_and_keeps_within_its_bounds() -> None:
    plan, most = a_plan("interval", interval_minutes=5), timedelta(seconds=59)
    found = [jitter_of(name, one, most) for one in due(plan, "2026-06-01") for name in ("orders", "sales")]

    assert min(found) == timedelta(0)
    assert max(found) == most
    assert len(set(found)) == 60


def test_the_hash_of_a_timing_never_changes() -> None:
    assert timing_hash(a_timing(run_times="06:00"), HOME) == _HASH
    assert timing_hash(a_timing(run_times="06:00", time_zone=HOME), "UTC") == _HASH


@pytest.mark.parametrize(
    "column",
    [
        {"run_times": "07:00"},
        {"time_zone": "UTC"},
        {"every_n": 2},
        {"run_days": "Mon"},
        {"calendar_name": "NL"},
        {"calendar_rule": CalendarRule.NEXT},
        {"gap_policy": GapPolicy.SKIP},
        {"fold_policy": FoldPolicy.TWICE},
        {"start_date": "2026-01-01"},
        {"run_times": "\ud800"},
    ],
)
def test_the_hash_of_a_timing_changes_with_every_column(column: dict[str, Any]) -> None:
    assert timing_hash(replace(a_timing(run_times="06:00"), **column), HOME) != _HASH


def test_the_same_key_whatever_the_rules_of_the_zone(tmp_path: Path) -> None:
    """A country that changes its mind moves what is due, and leaves the key as it is: what was decided stays decided."""
    found = [
        _asked(tmp_path / version, rules) for version, rules in (("old", "Europe/Amsterdam"), ("new", "Europe/London"))
    ]

    assert found == ["2026-07-01T06:00 2026-07-01 04:00", "2026-07-01T06:00 2026-07-01 05:00"]


def _asked(folder: Path, rules: str) -> str:
    """Ask a process of its own, whose time zone database has other rules for the same city."""
    original = next(Path(path, rules) for path in TZPATH if Path(path, rules).is_file())
    (folder / "Test").mkdir(parents=True)
    shutil.copy(original, folder / "Test" / "City")
    program = (
        "from tests.domain.scheduling import a_plan, at, due\n"
        "(one,) = due(a_plan(run_times='06:00', time_zone='Test/City'), '2026-07-01', 0.5)\n"
        "print(one.key, at(one))"
    )
    environment = os.environ | {"PYTHONTZPATH": str(folder), "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_a_stretch_asked_for_in_parts_is_the_same() -> None:
    plan = a_plan(run_times="00:00,02:30,23:59", fold_policy=FoldPolicy.TWICE, time_zone="America/St_Johns")
    begin, end = utc("2006-10-20"), utc("2006-11-05")
    step = timedelta(minutes=17)
    pieces, moment = list[str](), begin
    while moment < end:
        pieces += [one.key for one in plan.instants(moment, min(moment + step, end))]
        moment += step

    assert pieces == [one.key for one in plan.instants(begin, end)]


# Work


def test_the_times_of_a_minutely_schedule_take_a_few_calls_each() -> None:
    plan, begin = a_plan("interval", interval_minutes=1), utc("2026-03-25")
    found = list[Instant]()

    work = work_of(lambda: found.extend(plan.instants(begin, begin + timedelta(minutes=10_000))))

    assert len(found) == 10_000
    assert work < 25 * len(found)


def test_the_next_time_of_a_schedule_is_found_without_going_through_others() -> None:
    plans = [a_plan(run_times=f"{number % 24:02}:{number % 60:02}", run_days="Mon") for number in range(250)]
    plans += [a_plan("interval", interval_minutes=number % 60 + 1) for number in range(250)]
    found = list[Instant | None]()

    work = work_of(lambda: found.extend(plan.next_after(utc("2026-11-22T12:34")) for plan in plans))

    assert all(found)
    assert work < 200 * len(plans)


def test_who_has_no_cron_expression_never_waits_for_cronsim() -> None:
    asked = (
        "import sys; from tests.domain.scheduling import a_plan, utc\n"
        "assert a_plan(run_times='06:00').next_after(utc('2026-06-01')) and not {'cronsim', 'holidays'} & {*sys.modules}"
    )

    subprocess.run(
        [sys.executable, "-c", asked], env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}, check=True
    )


# What cannot be reckoned with


def test_an_unfit_timing_tells_the_first_and_all_that_is_wrong() -> None:
    with pytest.raises(UnfitTiming) as refused:
        plan_of(a_timing(run_times="6:00", run_days="Mo"), HOME, None)

    assert refused.value.column == "RunTimes"
    assert refused.value.message == "'6:00' is no time of day: write it as HH:MM, 06:00."
    assert [finding.column for finding in refused.value.findings] == ["RunTimes", "RunDays"]


_HASH = "d09aa635b72f3ab67b0a6c220d4c5a518c705e83f7b0630eeb390d42ba64b52b"


def test_what_is_shifted_knows_the_days_it_was_led_over_and_their_keys() -> None:
    christmas = a_calendar("2026-12-25 Christmas Day")

    def led_over(rule: CalendarRule) -> list[tuple[str, list[tuple[str, bool]]]]:
        columns = {"run_times": "06:00", "run_days_of_month": "25,26", "calendar_rule": rule}
        found = due(a_plan("monthly", calendar=christmas, **columns), "2026-12-24", 6)
        return [(one.key, [(each.key, each.is_stood_for) for each in one.led_over]) for one in found]

    assert led_over(CalendarRule.NEXT) == [
        ("2026-12-28T06:00", [("2026-12-25T06:00", True), ("2026-12-26T06:00", True), ("2026-12-27T06:00", False)])
    ]
    assert led_over(CalendarRule.PREVIOUS) == [
        ("2026-12-24T06:00", [("2026-12-26T06:00", True), ("2026-12-25T06:00", True)])
    ]
    assert led_over(CalendarRule.DAYS_OFF) == [("2026-12-25T06:00", []), ("2026-12-26T06:00", [])]
