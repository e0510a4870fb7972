"""What people write into the columns of a schedule: read, or refused with what to write instead."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from batchctl.domain.scheduling.due import UnfitTiming, findings, plan_of
from batchctl.domain.scheduling.schedules import Timing
from batchctl.domain.scheduling.timing_words import words_of
from batchctl.domain.status import CalendarRule, FoldPolicy, GapPolicy, ScheduleType
from batchctl.domain.text import visible
from tests.domain.scheduling import HOME, a_calendar, a_plan, a_timing, keys, utc
from tests.tiers import examples

DAILY = a_timing(run_times="06:00")


def said(timing: Timing, *calendars: str) -> list[str]:
    return [f"{one.column}: {one.message}" for one in findings(timing, HOME, None, calendars)]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"run_times": "6:00"}, "RunTimes: '6:00' is no time of day: write it as HH:MM, 06:00."),
        ({"run_times": "0600"}, "RunTimes: '0600' is no time of day: write it as HH:MM, 06:00."),
        ({"run_times": "24:00"}, "RunTimes: '24:00' is no time of day: write it as HH:MM, from 00:00 to 23:59."),
        ({"run_times": "٠٦:٠٠"}, "RunTimes: '٠٦:٠٠' is no time of day: write it as HH:MM, from 00:00 to 23:59."),
        ({"run_times": ""}, "RunTimes: A time of day is missing; write for example 06:00,18:00."),
        ({"run_times": "06:00,"}, "RunTimes: A time of day is missing; write for example 06:00,18:00."),
        (
            {"run_days": "Mo"},
            "RunDays: 'Mo' is no day of the week; write for example Mon,Fri or Mon-Fri. Did you mean 'Mon'?",
        ),
        (
            {"run_days": " "},
            "RunDays: A day of the week is missing; write for example Mon,Fri or Mon-Fri, or set the column to NULL.",
        ),
        ({"run_months": "13"}, "RunMonths: '13' is no month: write 1 to 12, or Jan to Dec."),
        (
            {"run_months": "Sept"},
            "RunMonths: 'Sept' is no month; write for example Jan,Jul or 1,7. Did you mean 'Sep'?",
        ),
        ({"run_days_of_month": "32"}, "RunDaysOfMonth: '32' is no day of a month: write 1 to 31, or last."),
        (
            {"run_days_of_month": "-1"},
            (
                "RunDaysOfMonth: '-1' is no day of a month:"
                " write 1 to 31, last, business_1 to business_23, or business_last."
            ),
        ),
        (
            {"run_days_of_month": "busines_1"},
            (
                "RunDaysOfMonth: 'busines_1' is no day of a month: write 1 to 31, last, business_1 to business_23,"
                " or business_last. Did you mean 'business_1'?"
            ),
        ),
        (
            {"run_days_of_month": "business_1"},
            "RunDaysOfMonth: Business days are those of a calendar; name it in CalendarName.",
        ),
        (
            {"week_of_month": "firts"},
            "WeekOfMonth: 'firts' is no week of a month; write for example first,last. Did you mean 'first'?",
        ),
        (
            {"between_times": "09:00"},
            "BetweenTimes: '09:00' is no window: write it as HH:MM-HH:MM, for example 09:00-17:00.",
        ),
        ({"between_times": "9-17"}, "BetweenTimes: '9-17' is no window: write it as HH:MM-HH:MM, 09:00-17:00."),
        ({"between_times": "9-25"}, "BetweenTimes: '9' is no time of day: write it as HH:MM, 09:00."),
        (
            {"run_days": "Fryday"},
            "RunDays: 'Fryday' is no day of the week; write for example Mon,Fri or Mon-Fri. Did you mean 'Fri'?",
        ),
        (
            {"run_days": "xyz"},
            (
                "RunDays: 'xyz' is no day of the week; write for example Mon,Fri or Mon-Fri."
                " Known: Mon, Tue, Wed, Thu, Fri, Sat, Sun."
            ),
        ),
        ({"end_date": "2026-13-01"}, "EndDate: '2026-13-01' is no date: there is no month 13."),
        ({"between_times": "09:00-17:00"}, "BetweenTimes: None of its times lies in 09:00-17:00: it is never due."),
        ({"every_n": 0}, "EveryN: 0 is not between 1 and 1000."),
        ({"start_date": "1-6-2026"}, "StartDate: '1-6-2026' is no date: write it as YYYY-MM-DD."),
        ({"start_date": "2026-02-30"}, "StartDate: '2026-02-30' is no date: February 2026 has 28 days."),
        ({"end_date": "0001-01-01"}, "EndDate: '0001-01-01' is not between 1900-01-01 and 9990-12-31."),
        (
            {"start_date": "2026-06-02", "end_date": "2026-06-01"},
            "EndDate: 2026-06-01 is before StartDate 2026-06-02: it is never due.",
        ),
        (
            {"time_zone": "Europe/Amsterdm"},
            (
                "TimeZone: 'Europe/Amsterdm' is not a time zone; write an IANA name such as Europe/Amsterdam."
                " Did you mean 'Europe/Amsterdam'?"
            ),
        ),
        (
            {"time_zone": "CESTA"},
            "TimeZone: 'CESTA' is not a time zone; write an IANA name such as Europe/Amsterdam.",
        ),
        (
            {"time_zone": "CES"},
            "TimeZone: 'CES' is not a time zone; write an IANA name such as Europe/Amsterdam.",
        ),
        (
            {"time_zone": "Amsterdam"},
            (
                "TimeZone: 'Amsterdam' is not a time zone; write an IANA name such as Europe/Amsterdam."
                " Did you mean 'Europe/Amsterdam'?"
            ),
        ),
        (
            {"time_zone": "right/Europe/Paris"},
            "TimeZone: 'right/Europe/Paris' counts leap seconds, which no database does; write 'Europe/Paris'.",
        ),
        (
            {"calendar_name": "NLD"},
            (
                "CalendarName: There is no calendar 'NLD'. Did you mean 'NL'?"
                " `batchctl calendar import NLD --country CC --years YYYY` makes one."
            ),
        ),
        ({"calendar_rule": CalendarRule.NEXT}, "CalendarName: CalendarRule next needs a calendar to go by."),
        ({"cron": "0 6 * * *"}, "Cron: A schedule of type daily has none; set it to NULL, or change ScheduleType."),
    ],
)
def test_what_is_wrong_is_said_with_what_to_write_instead(columns: dict[str, Any], message: str) -> None:
    assert said(replace(DAILY, **columns), "NL", "DE") == [message]


@pytest.mark.parametrize(
    ("kind", "columns", "message"),
    [
        ("interval", {}, "IntervalMinutes: A schedule of type interval needs it; write for example 15."),
        (
            "interval",
            {"interval_minutes": 1441},
            "IntervalMinutes: 1441 is not between 1 and 1440, the minutes of a day.",
        ),
        ("interval", {"interval_minutes": 5, "every_n": 2}, "EveryN: A schedule of type interval has none; write 1."),
        ("weekly", {"run_times": "06:00"}, "RunDays: A schedule of type weekly needs it; write for example Mon,Fri."),
        ("once", {"run_at": "tomorrow"}, "RunAt: 'tomorrow' is no wall time: write it as YYYY-MM-DD HH:MM."),
        (
            "once",
            {"run_at": "2026-12-01 25:00"},
            "RunAt: '2026-12-01 25:00' is no wall time: hour must be in 0..23.",
        ),
        (
            "cron",
            {"cron": "0 6 * *"},
            (
                "Cron: '0 6 * *' is no cron expression: 4 fields instead of 5: minute, hour, day of month, month,"
                " day of week. Write for example 30 2 * * *."
            ),
        ),
        (
            "once",
            {"run_at": "2026-11-31 02:00"},
            "RunAt: '2026-11-31' is no date: November 2026 has 30 days.",
        ),
        (
            "cron",
            {"cron": "0 2 31 2 *"},
            "Cron: It is never due (cron 0 2 31 2 *): no month that it names has such a day.",
        ),
        (
            "cron",
            {"cron": "0 2 31 13 *"},
            "Cron: '0 2 31 13 *' is no cron expression: Bad month. Write for example 30 2 * * *.",
        ),
        (
            "cron",
            {"cron": "61 6 * * *"},
            "Cron: '61 6 * * *' is no cron expression: Bad minute. Write for example 30 2 * * *.",
        ),
    ],
)
def test_what_a_cadence_needs(kind: str, columns: dict[str, Any], message: str) -> None:
    assert said(a_timing(kind, **columns)) == [message]


def test_all_that_is_wrong_is_said_at_once() -> None:
    wrong = replace(DAILY, run_times="6:00,25:00", run_days="Mo", run_months="13", time_zone="Mars", cron="x")

    found = [line.partition(":")[0] for line in said(wrong)]

    assert sorted(found) == ["Cron", "Cron", "RunDays", "RunMonths", "RunTimes", "RunTimes", "TimeZone"]


@pytest.mark.parametrize(
    ("timing", "column"),
    [
        (a_timing("monthly", run_times="06:00", run_days_of_month="31", run_months="Feb"), "RunDaysOfMonth"),
        (
            a_timing(
                "monthly_dow",
                run_times="06:00",
                run_days="Mon",
                week_of_month="fifth",
                run_months="Feb",
                end_date="2043-12-31",
                start_date="2026-01-01",
            ),
            "WeekOfMonth",
        ),
        (a_timing("cron", cron="0 6 31 4,6 */2"), "Cron"),
        (a_timing("once", run_at="2026-03-29 02:30", gap_policy=GapPolicy.SKIP), "RunAt"),
    ],
)
def test_what_is_never_due_is_a_problem(timing: Timing, column: str) -> None:
    assert [one.column for one in findings(timing, HOME, None, ())] == [column]


def test_a_calendar_that_leaves_nothing_over_is_a_problem() -> None:
    timing = replace(DAILY, calendar_name="NL")

    (finding,) = findings(timing, HOME, a_calendar(business_days=""), ())
    assert finding.column == "CalendarName"
    assert findings(timing, HOME, a_calendar(), ()) == []


def test_a_calendar_whose_days_of_the_week_nobody_can_read_is_a_problem() -> None:
    (finding,) = findings(replace(DAILY, calendar_name="NL"), HOME, a_calendar(business_days="Monday-Fri"), ())

    assert finding.message.startswith("BusinessDays of calendar NL: 'Monday' is no day of the week")


def test_letter_case_blanks_and_ranges_do_not_matter() -> None:
    plain = a_plan(
        "monthly", run_times="06:00,18:00", run_days_of_month="1,last", run_days="Sat,Sun,Mon", run_months="11,12,1"
    )
    fancy = a_plan(
        "monthly", run_times=" 18:00 , 06:00", run_days_of_month="LAST, 1", run_days="sat - MON", run_months="11-jan"
    )

    assert keys(plain, "2026-01-01", 400) == keys(fancy, "2026-01-01", 400)


@pytest.mark.parametrize(
    ("kind", "columns", "words"),
    [
        ("daily", {"run_times": "06:00,18:00", "run_days": "Mon-Fri"}, "daily at 06:00 and 18:00, Mon to Fri, {}"),
        (
            "daily",
            {"run_times": "06:00", "every_n": 3, "start_date": "2026-01-01"},
            "every 3 days at 06:00, from 2026-01-01, {}",
        ),
        (
            "weekly",
            {"run_times": "06:00", "run_days": "mon,thu", "every_n": 2},
            "every 2 weeks at 06:00, Mon and Thu, {}",
        ),
        (
            "monthly",
            {"run_times": "06:00", "run_days_of_month": "1,22,last"},
            "monthly at 06:00, the 1st, 22nd and last day of the month, {}",
        ),
        (
            "monthly",
            {"run_times": "06:00", "run_days_of_month": "11", "run_months": "1,7"},
            "monthly at 06:00, the 11th of the month, in Jan and Jul, {}",
        ),
        (
            "monthly_dow",
            {"run_times": "06:00", "run_days": "Mon", "week_of_month": "First,last"},
            "monthly at 06:00, the first and last Mon of the month, {}",
        ),
        (
            "interval",
            {"interval_minutes": 15, "between_times": "09:00-17:00"},
            "every 15 min, between 09:00 and 17:00, {}",
        ),
        (
            "interval",
            {"interval_minutes": 15, "between_times": "22:00-04:00"},
            "every 15 min, between 22:00 and 04:00 (over midnight; each time counts to its own date), {}",
        ),
        (
            "interval",
            {"interval_minutes": 15, "between_times": "22:00-04:00", "run_days": "Fri"},
            "every 15 min, Fri, between 22:00 and 04:00 (over midnight; each time counts to its own date), {}",
        ),
        ("once", {"run_at": "2026-12-01T02:00"}, "once at 2026-12-01 02:00, {}"),
        ("cron", {"cron": "30 2 * * 1-5"}, "cron 30 2 * * 1-5 (at 02:30 on Monday through Friday), {}"),
        (
            "daily",
            {"run_times": "02:30", "gap_policy": GapPolicy.SKIP, "fold_policy": FoldPolicy.TWICE},
            "daily at 02:30, {}, skipped when clocks leave it out, twice when clocks show it twice",
        ),
        (
            "interval",
            {"interval_minutes": 61, "gap_policy": GapPolicy.SKIP, "fold_policy": FoldPolicy.TWICE},
            "every 61 min, {}, skipped when clocks leave it out, twice when clocks show it twice",
        ),
        (
            "interval",
            {"interval_minutes": 60, "gap_policy": GapPolicy.SKIP, "fold_policy": FoldPolicy.TWICE},
            "every 60 min, {}",
        ),
        (
            "cron",
            {"cron": "*/20 2 * * *", "gap_policy": GapPolicy.SKIP, "fold_policy": FoldPolicy.TWICE},
            "cron */20 2 * * * (every 20th minute from 02:00 through 02:59), {}",
        ),
        (
            "once",
            {"run_at": "2026-12-01T02:00", "gap_policy": GapPolicy.SKIP, "fold_policy": FoldPolicy.TWICE},
            "once at 2026-12-01 02:00, {}, skipped when clocks leave it out",
        ),
    ],
)
def test_the_words_for_people(kind: str, columns: dict[str, Any], words: str) -> None:
    assert a_plan(kind, **columns).words == words.format(HOME)


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        (CalendarRule.BUSINESS_DAYS, "on business days of NL"),
        (CalendarRule.DAYS_OFF, "on days off of NL"),
        (CalendarRule.NEXT, "shifted to the next business day of NL"),
        (CalendarRule.PREVIOUS, "shifted to the business day of NL before"),
    ],
)
def test_the_words_for_calendars(rule: CalendarRule, words: str) -> None:
    plan = a_plan(
        "monthly",
        run_times="06:00",
        run_days_of_month="business_1,business_last,3",
        calendar=a_calendar(),
        calendar_rule=rule,
    )

    expected = f"monthly at 06:00, the 1st business day, last business day and 3rd of the month, {HOME}, {words}"
    assert plan.words == expected


WRITTEN = st.one_of(
    st.none(),
    st.text(max_size=12),
    st.text(alphabet="0123456789:-,. _/*LWMonFriastbue٣\x00\ud800", max_size=20),
    st.sampled_from(
        [
            "06:00",
            "Mon",
            "1",
            "last",
            "first",
            "09:00-17:00",
            "* * * * *",
            "0 0 31 2 *",
            "2026-12-01 02:00",
            "UTC",
            "2026-06-01",
            "business_3",
        ]
    ),
)
NUMBERS = st.one_of(st.none(), st.integers(-(2**40), 2**40))


@settings(max_examples=examples(200), deadline=None)
@given(
    timing=st.builds(
        Timing,
        schedule_type=st.sampled_from(ScheduleType),
        interval_minutes=NUMBERS,
        run_times=WRITTEN,
        run_days=WRITTEN,
        run_days_of_month=WRITTEN,
        week_of_month=WRITTEN,
        run_months=WRITTEN,
        between_times=WRITTEN,
        every_n=st.integers(-(2**40), 2**40) | st.just(1),
        start_date=WRITTEN,
        end_date=WRITTEN,
        run_at=WRITTEN,
        cron=WRITTEN,
        time_zone=WRITTEN,
        calendar_name=WRITTEN,
        calendar_rule=st.sampled_from(CalendarRule),
        gap_policy=st.sampled_from(GapPolicy),
        fold_policy=st.sampled_from(FoldPolicy),
    )
)
def test_nothing_that_a_hand_can_write_raises_anything_else(timing: Timing) -> None:
    found = findings(timing, "UTC", None, ["NL"])
    with suppress(UnfitTiming):
        plan = plan_of(timing, "UTC", None)
        assert plan.words
        list(plan.preview(utc("2026-06-01"), utc("2026-07-10")))
        assert found == [] or "never due" in found[0].message
        found = []
    assert all(finding.column and visible(finding.message) == finding.message for finding in found)


@settings(max_examples=examples(200), deadline=None)
@given(
    fields=st.lists(
        st.from_regex(
            r"(\*|[0-9]{1,2}|[0-9]-[0-9]{1,2}|L|LW|[0-9]L|[0-9]#[0-9])(/[0-9])?(,[0-9]{1,2})?", fullmatch=True
        ),
        min_size=5,
        max_size=5,
    )
)
def test_no_cron_expression_raises_anything_else(fields: list[str]) -> None:
    with suppress(UnfitTiming):
        plan = a_plan("cron", cron=" ".join(fields))
        assert plan.words.startswith(f"cron {' '.join(fields)} (")
        plan.next_after(utc("2026-06-01"))


def test_times_are_said_in_order_and_each_once() -> None:
    assert a_plan("daily", run_times="02:30, 01:30,02:30").words == f"daily at 01:30 and 02:30, {HOME}"


@pytest.mark.parametrize(
    ("timing", "words"),
    [
        (a_timing("daily", run_times="25:00"), "daily at 25:00, UTC"),
        (a_timing("daily"), "daily at ?, UTC"),
        (a_timing("cron", cron="x"), "cron x, UTC"),
        (
            a_timing("monthly", run_times="06:00", run_days_of_month="first,2", run_months="13,Jan"),
            "monthly at 06:00, the first and 2nd of the month, in 13 and Jan, UTC",
        ),
        (a_timing("interval", time_zone="Mars"), "every ? min, UTC"),
        (a_timing("once"), "once at ?, UTC"),
    ],
)
def test_of_what_cannot_be_read_is_said_what_can_be_told(timing: Timing, words: str) -> None:
    assert words_of(timing, "UTC") == words
