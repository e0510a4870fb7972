"""What decorators make of a function: schedules with names that stay, or a message that says what to write."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations
from typing import Any

import pytest

from batchctl.domain.scheduling.schedules import Timing
from batchctl.domain.status import CalendarRule, FoldPolicy, GapPolicy, ScheduleType
from batchctl.plugin_api import (
    Job,
    UnfitDeclaration,
    daily,
    every,
    job,
    monthly,
    monthly_dow,
    once,
    retry,
    weekly,
)


def work(rows: int = 1) -> int:
    """Do it.

    And more.
    """
    return rows


def every_five_minutes() -> list[str]:
    return [f"{minute // 60:02}:{minute % 60:02}" for minute in range(0, 1440, 5)]


def only(made: Job) -> tuple[str, Timing]:
    (cadence,) = made.cadences
    return cadence.name, cadence.timing


D, W, M = ScheduleType.DAILY, ScheduleType.WEEKLY, ScheduleType.MONTHLY


@pytest.mark.parametrize(
    ("decorator", "name", "timing"),
    [
        (daily("03:15"), "Daily_03_15", Timing(schedule_type=D, run_times="03:15")),
        (daily("06:00, 18:00"), "Daily_06_00_18_00", Timing(schedule_type=D, run_times="06:00,18:00")),
        (daily(["06:00", "18:00"]), "Daily_06_00_18_00", Timing(schedule_type=D, run_times="06:00,18:00")),
        (daily("03:15", every=2), "Daily_2_03_15", Timing(schedule_type=D, run_times="03:15", every_n=2)),
        (
            every(5, "minutes", between="09:00-17:00"),
            "Every_5_minutes",
            Timing(schedule_type=ScheduleType.INTERVAL, interval_minutes=5, between_times="09:00-17:00"),
        ),
        (every(2, "hours"), "Every_2_hours", Timing(schedule_type=ScheduleType.INTERVAL, interval_minutes=120)),
        (
            weekly("Mon,Fri", "06:00", every=2),
            "Weekly_2_Mon_Fri_06_00",
            Timing(schedule_type=W, run_days="Mon,Fri", run_times="06:00", every_n=2),
        ),
        (
            weekly("Mon-Fri", "06:00"),
            "Weekly_Mon_to_Fri_06_00",
            Timing(schedule_type=W, run_days="Mon-Fri", run_times="06:00"),
        ),
        (
            monthly([1, 15, "last"], "00:30"),
            "Monthly_1_15_last_00_30",
            Timing(schedule_type=M, run_days_of_month="1,15,last", run_times="00:30"),
        ),
        (
            monthly_dow("first", "Mon", "06:00"),
            "MonthlyDow_first_Mon_06_00",
            Timing(schedule_type=ScheduleType.MONTHLY_DOW, week_of_month="first", run_days="Mon", run_times="06:00"),
        ),
        (
            once("2026-12-01 02:00"),
            "Once_2026_12_01_02_00",
            Timing(schedule_type=ScheduleType.ONCE, run_at="2026-12-01 02:00"),
        ),
    ],
)
def test_each_cadence_is_a_schedule_under_a_name_that_nobody_has_to_quote(
    decorator: Callable[[Any], Job], name: str, timing: Timing
) -> None:
    assert only(decorator(work)) == (name, timing)


def test_filters_zones_and_calendars_compose_with_any_cadence_and_are_not_in_its_name() -> None:
    made = every(
        30,
        "minutes",
        days="Mon-Fri",
        days_of_month="1,last",
        weeks="first",
        months=[1, "Jul"],
        between="22:00-04:00",
        start="2026-12-01",
        end="2027-12-01",
        time_zone="Europe/Amsterdam",
        calendar="NL",
        calendar_rule="days_off",
        gap="skip",
        fold="twice",
    )(work)

    assert only(made) == (
        "Every_30_minutes",
        Timing(
            schedule_type=ScheduleType.INTERVAL,
            interval_minutes=30,
            run_days="Mon-Fri",
            run_days_of_month="1,last",
            week_of_month="first",
            run_months="1,Jul",
            between_times="22:00-04:00",
            start_date="2026-12-01",
            end_date="2027-12-01",
            time_zone="Europe/Amsterdam",
            calendar_name="NL",
            calendar_rule=CalendarRule.DAYS_OFF,
            gap_policy=GapPolicy.SKIP,
            fold_policy=FoldPolicy.TWICE,
        ),
    )


def test_decorators_mean_the_same_in_any_order() -> None:
    decorators = [job("sweep", category="Ops"), daily("09:00"), retry(attempts=3, interval_seconds=60), daily("17:00")]
    made = set()
    for order in permutations(decorators):
        function: Any = work
        for decorator in order:
            function = decorator(function)
        made.add(function)

    assert len(made) == 1
    (one,) = made
    assert (one.name, one.category, one.description) == ("sweep", "Ops", "Do it.")
    assert [cadence.name for cadence in one.cadences] == ["Daily_09_00", "Daily_17_00"]
    assert one.retry.retry_count == 2


def test_without_job_the_function_gives_its_name_and_is_called_as_before() -> None:
    made = daily("03:15")(work)

    assert (made.name, made.has_batch, made(3)) == ("work", True, 3)


def test_a_job_without_a_cadence_has_no_batch_unless_it_asks_for_one() -> None:
    assert not job("plain")(work).has_batch
    assert job("on demand", entity="Orders")(work).has_batch
    assert retry(1)(work).has_batch


@pytest.mark.parametrize(
    ("decorate", "wanted"),
    [
        (lambda: daily("25:00"), "'25:00' is no time of day"),
        (lambda: daily(""), 'Write @daily("03:15")'),
        (lambda: daily(work), 'stands above a function without its brackets. Write @daily("03:15")'),  # type: ignore[arg-type]  # what is tested
        (lambda: daily(None), 'times cannot be None. Write @daily("03:15")'),  # type: ignore[arg-type]  # what is tested
        (lambda: daily("03:15", hours=3), "@daily takes no hours=. It takes: days, "),  # type: ignore[call-arg]  # what is tested
        (lambda: daily("03:15", every=0), "0 is no number from 1 to 1000"),
        (lambda: daily("03:15", gap="jump"), "gap cannot be 'jump'. It is one of: run, skip"),
        (lambda: daily("03:15", time_zone="Mars"), "'Mars' is not a time zone"),
        (lambda: daily("03:15", calendar_rule="next"), "needs a calendar"),
        (lambda: daily("03:15", name="a.b"), "a schedule cannot be called 'a.b'. Write name= with letters"),
        (lambda: daily("03:15", start="tomorrow"), "'tomorrow' is no date"),
        (lambda: every(5, "days"), 'write "minutes" or "hours", or @daily'),
        (lambda: every(25, "hours"), "is longer than a day"),
        (lambda: every(0, "minutes"), "0 is no number from 1"),
        (lambda: every(5, "minutes", between="9-5"), 'Write @every(5, "minutes"'),
        (lambda: weekly("Mun", "06:00"), "Did you mean 'Sun'?"),
        (lambda: weekly("Mon", "06:00", days="Tue"), "without days="),
        (lambda: monthly("32", "06:00"), "'32' is no day of a month"),
        (lambda: monthly("1", "06:00", days_of_month="2"), "without days_of_month="),
        (lambda: monthly_dow("sixth", "Mon", "06:00"), "Did you mean 'fifth'?"),
        (lambda: monthly_dow("first", "Mon", "06:00", weeks="last"), "without days= and weeks="),
        (lambda: once("tomorrow"), "'tomorrow' is no wall time"),
        (lambda: once("2026-12-01 02:00", name="move"), "@once has no name="),
        (lambda: retry(0), "the number of all runs, the first one included"),
        (lambda: retry(3, -1), "write whole seconds"),
        (lambda: job(""), 'Write @job("name")'),
        (lambda: job(work), "with the brackets"),  # type: ignore[arg-type]  # what is tested
        (lambda: job("a")(job("b")(work)), "has @job twice"),
        (lambda: retry(2)(retry(3)(work)), "has @retry twice"),
        (lambda: daily("09:00")(daily("09:00", days="Mon")(work)), 'name="Daily_09_00_2"'),
        (lambda: daily("09:00")(int), "belongs above a function"),
        (lambda: job("a", entity="x" * 500)(work), "@job above work: entity cannot be 'xxx"),
        (lambda: job("a", entity="x" * 500)(work), "it has 500 characters, and a column takes 200"),
        (lambda: job("a", entity="a\0b")(work), "NUL character. Write entity="),
        (lambda: job("a", entity="a\udc80b")(work), "not valid UTF-8"),
        (lambda: job("a", entity=" ")(work), "it is empty"),
        (lambda: job("a", entity=5)(work), "it is no text"),  # type: ignore[arg-type]  # what is tested
        (lambda: job("a", arguments="a=\0")(work), "NUL character. Write arguments="),
        (lambda: job("a", arguments={"a": 1})(work), "cannot be {'a': 1}: it is no text"),  # type: ignore[arg-type]  # what is tested
        (lambda: job("x" * 201)(work), "a column takes 200"),
        (lambda: job("a\0b")(work), "NUL character"),
        (lambda: daily(every_five_minutes(), name="n"), "a column takes 200. Divide a long list"),
        (lambda: daily("03:00", calendar="c" * 300), "it has 300 characters"),
        (lambda: daily("03:00", calendar="a\0b"), "NUL character"),
        (lambda: daily("03:00", time_zone="a\0b"), "time zone"),
        (lambda: every(5, "minutes", days=["Mon"] * 60), "a column takes 200"),
    ],
)
def test_what_makes_no_schedule_raises_at_import_and_says_what_to_write(
    decorate: Callable[[], object], wanted: str
) -> None:
    with pytest.raises(UnfitDeclaration) as raised:
        decorate()

    assert wanted in str(raised.value)


def test_two_that_would_be_called_alike_may_have_names_of_their_own() -> None:
    made = daily("09:00", days="Sat", name="Saturdays")(daily("09:00", days="Mon-Fri")(work))

    assert [cadence.name for cadence in made.cadences] == ["Daily_09_00", "Saturdays"]
