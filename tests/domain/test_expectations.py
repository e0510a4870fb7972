"""By when work is expected: on which days, at what moment also when clocks are changed, and what the past says."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batchctl.domain.alerting.expectations import (
    Deadline,
    Expected,
    deadlines,
    is_from_outside,
    learned_times,
    missed,
    unfit_columns,
)
from batchctl.domain.rows import BatchId
from batchctl.domain.scheduling.business_days import BusinessDays
from batchctl.domain.scheduling.schedules import Calendar, CalendarDay, CalendarId
from batchctl.domain.scheduling.wall_clock import clock_of
from batchctl.domain.status import IncidentKind

AMSTERDAM = clock_of("Europe/Amsterdam")
LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)
MARGIN = timedelta(minutes=30)


def a_batch(**given: Any) -> Expected:
    return Expected(
        **{
            "batch_id": BatchId(1),
            "name": "Load",
            "entity": "Orders",
            "enabled": True,
            "registered_at": LONG_AGO,
            **given,
        }
    )


def due(now: datetime, *batches: Expected, **more: Any) -> list[Deadline]:
    return deadlines(batches, more.get("learned", {}), more.get("calendars", {}), AMSTERDAM, now)


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def test_the_last_deadline_that_has_passed_counts() -> None:
    batch = a_batch(arrive_by="05:10", finish_by="06:00")

    (before,) = {one.day for one in due(at("2026-11-24 04:09"), batch)}
    arrived, finished = due(at("2026-11-24 05:00"), batch)
    assert before == date(2026, 11, 23)
    assert (arrived.kind, arrived.day, arrived.at) == (
        IncidentKind.NOT_ARRIVED,
        date(2026, 11, 24),
        at("2026-11-24 04:10"),
    )
    assert arrived.begins == at("2026-11-23 23:00")
    assert (finished.kind, finished.at) == (IncidentKind.NOT_FINISHED, at("2026-11-24 05:00"))


@pytest.mark.parametrize(
    ("night", "by", "moment"),
    [
        ("2026-03-29", "02:30", "2026-03-29 01:00"),
        ("2026-03-29", "03:00", "2026-03-29 01:00"),
        ("2026-03-29", "05:10", "2026-03-29 03:10"),
        ("2026-10-25", "02:30", "2026-10-25 00:30"),
        ("2026-10-25", "03:00", "2026-10-25 02:00"),
        ("2026-10-25", "05:10", "2026-10-25 04:10"),
    ],
)
def test_in_the_nights_in_which_clocks_are_changed_it_is_one_moment(night: str, by: str, moment: str) -> None:
    batch, then = a_batch(start_by=by), at(moment)

    assert [one.day for one in due(then - timedelta(seconds=1), batch)] == [
        date.fromisoformat(night) - timedelta(days=1)
    ]
    (found,) = due(then, batch)
    assert (found.day, found.at) == (date.fromisoformat(night), then)


def test_only_days_on_which_something_is_expected_count() -> None:
    sunday = at("2026-11-22 12:00")
    nl = BusinessDays(
        Calendar(
            calendar_id=CalendarId(1),
            name="NL",
            days=(CalendarDay(day=date(2026, 11, 20), is_business_day=False, description="a holiday"),),
        ),
        frozenset(range(5)),
    )

    assert [one.day for one in due(sunday, a_batch(arrive_by="05:10", on="Mon-Fri"))] == [date(2026, 11, 20)]
    assert [one.day for one in due(sunday, a_batch(arrive_by="05:10", on="Mon, Wed"))] == [date(2026, 11, 18)]
    by_calendar = a_batch(arrive_by="05:10", calendar="NL")
    assert [one.day for one in due(sunday, by_calendar, calendars={"NL": nl})] == [date(2026, 11, 19)]


def test_nothing_is_expected_of_a_batch_before_it_was_registered_nor_while_it_is_disabled() -> None:
    now = at("2026-11-24 12:00")

    assert due(now, a_batch(arrive_by="05:10", registered_at=at("2026-11-24 09:00"))) == []
    assert due(now, a_batch(arrive_by="05:10", enabled=False)) == []
    assert due(now, a_batch()) == []


def test_what_cannot_be_read_is_said_and_expected_at_no_time() -> None:
    batch = a_batch(arrive_by="5:10", start_by="none", finish_by="25:00", on="Mon-Fry", calendar="NL")

    assert [column for column, _ in unfit_columns(batch, {"DE"})] == [
        *("ArriveBy", "FinishBy", "ExpectedOn", "ExpectedCalendar"),
    ]
    assert due(at("2026-11-24 12:00"), batch) == []
    assert list(unfit_columns(a_batch(arrive_by="05:10", on="Mon-Fri", calendar="NL"), {"NL"})) == []


LEARNED = {"Orders": dict.fromkeys(range(5), time(5, 40))}


def test_what_was_learned_is_expected_of_the_first_batch_that_takes_it() -> None:
    monday = at("2026-11-23 12:00")
    first, second = a_batch(), a_batch(batch_id=BatchId(2), name="Second")

    (found,) = due(monday, first, second, learned=LEARNED)
    assert (found.batch.name, found.is_learned, found.shown) == ("Load", True, "05:40")
    assert "as it usually has" in missed(found, "Europe/Amsterdam").message


@pytest.mark.parametrize("said", ["none", "NONE ", "23:59"])
def test_who_says_when_is_believed_more_than_the_past(said: str) -> None:
    found = due(at("2026-11-23 12:00"), a_batch(arrive_by=said), a_batch(batch_id=BatchId(2)), learned=LEARNED)

    assert [one for one in found if one.is_learned] == []


TODAY = date(2026, 11, 23)
DAYS = [TODAY - timedelta(days=back) for back in range(1, 57)]


def test_it_is_learned_by_weekday_with_a_margin_behind_the_latest() -> None:
    mondays = {day: time(5, 5 + at) for at, day in enumerate(day for day in DAYS if day.weekday() == 0)}
    times = learned_times(mondays, TODAY, MARGIN)

    assert times == {0: time(5, 42)}


def test_one_that_often_does_not_come_is_expected_at_no_time() -> None:
    tuesdays = [day for day in DAYS if day.weekday() == 1]
    often = dict.fromkeys(tuesdays[2:], time(5))
    assert learned_times(often | {min(DAYS): time(5)}, TODAY, MARGIN) == {}
    assert set(learned_times(dict.fromkeys(tuesdays[1:], time(5)) | {min(DAYS): time(5)}, TODAY, MARGIN)) == {1}


def test_five_times_are_needed_and_days_before_the_first_do_not_count() -> None:
    fridays = [day for day in DAYS if day.weekday() == 4]

    assert learned_times(dict.fromkeys(fridays[:4], time(5)), TODAY, MARGIN) == {}
    assert set(learned_times(dict.fromkeys(fridays[:5], time(5)), TODAY, MARGIN)) == {4}


def test_days_that_do_not_count_teach_nothing() -> None:
    every = dict.fromkeys(DAYS, time(5))

    assert set(learned_times(every, TODAY, MARGIN, [day for day in DAYS if day.weekday() < 5])) == set(range(5))


def test_what_comes_at_any_time_is_expected_late_and_never_on_the_next_day() -> None:
    mondays = [day for day in DAYS if day.weekday() == 0]
    wide = {day: time(2 * at, 0) for at, day in enumerate(mondays)}
    assert learned_times(wide, TODAY, MARGIN) == {0: time(21)}
    assert learned_times(dict.fromkeys(mondays, time(23, 45)), TODAY, MARGIN) == {}


@given(st.dictionaries(st.sampled_from(DAYS), st.times()), st.timedeltas(timedelta(0), timedelta(hours=12)))
def test_nothing_that_came_in_time_before_would_have_been_late(arrivals: dict[date, time], margin: timedelta) -> None:
    for weekday, until in learned_times(arrivals, TODAY, margin).items():
        came = sorted(at.replace(second=0, microsecond=0) for day, at in arrivals.items() if day.weekday() == weekday)
        assert came[-1] <= until or len(came) > 20


@pytest.mark.parametrize(
    ("source", "counts"),
    [(None, True), ("watch inbox", True), ("sftp", True), ("schedule nightly", False), ("dependency", False)],
)
def test_what_batchctl_starts_itself_teaches_nothing(source: str | None, counts: bool) -> None:
    assert is_from_outside(source) is counts
