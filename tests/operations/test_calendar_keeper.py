"""Calendars are filled, corrected and removed: what people said stays, and everything is audited."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from batchctl.domain.errors import NotFound, Refused
from batchctl.domain.scheduling.schedules import CalendarDay
from batchctl.operations.operators.acts import Actor
from batchctl.operations.scheduling import almanac
from batchctl.operations.scheduling.calendar_keeper import CalendarKeeper, DayChange, Imported
from batchctl.store.transactions import StoreTransactions
from tests.control.world import World

HOLIDAYS = {
    date(2026, 12, 25): "Christmas Day",
    date(2026, 12, 26): "Second Day of Christmas",
    date(2027, 1, 1): "New Year's Day",
}
DAYS = "SELECT CalendarDate, IsBusinessDay, Description FROM CalendarDay ORDER BY CalendarDate"
GRACE = timedelta(minutes=5)
UTC_ZONE = ZoneInfo("UTC")
Audited = Callable[[], list[tuple[Any, ...]]]


@pytest.fixture
def keeper(world: World, anywhere: StoreTransactions) -> CalendarKeeper:
    return CalendarKeeper(actor(world, anywhere, dry_run=False), zone="UTC", grace=GRACE)


@pytest.fixture
def dry_keeper(world: World, anywhere: StoreTransactions) -> CalendarKeeper:
    return CalendarKeeper(actor(world, anywhere, dry_run=True), zone="UTC", grace=GRACE)


def actor(world: World, transactions: StoreTransactions, *, dry_run: bool) -> Actor:
    return Actor(transactions=transactions, clock=world.clock, user="anna", host="host1", dry_run=dry_run)


def take_in(keeper: CalendarKeeper, *, years: range = range(2026, 2028), replace_days: bool = False) -> Imported:
    found = {day: said for day, said in HOLIDAYS.items() if day.year in years}
    return keeper.import_days("NL", found, years, description="of NL", replace_days=replace_days)


def test_an_import_makes_the_calendar_and_a_second_one_changes_nothing(
    world: World, keeper: CalendarKeeper, audited: Audited
) -> None:
    made = take_in(keeper)

    assert (made.is_new, len(made.added), made.same) == (True, 3, 0)
    assert world.sql("SELECT CalendarName, BusinessDays, ValidFrom, ValidUntil, Description FROM Calendar") == [
        ("NL", "Mon,Tue,Wed,Thu,Fri", "2026-01-01", "2027-12-31", "of NL")
    ]
    assert world.sql(DAYS) == [(day.isoformat(), 0, said) for day, said in HOLIDAYS.items()]
    assert [row[:5] for row in audited()] == [("calendar import", "Calendar:NL", "anna", "host1", None)]
    assert audited()[0][6]["ValidUntil"] == "2027-12-31"

    again = take_in(keeper)

    assert (again.is_new, again.added, again.same, again.differing) == (False, (), 3, ())
    assert len(audited()) == 1


def test_an_import_adds_what_is_missing_and_leaves_what_people_said(
    world: World, keeper: CalendarKeeper, audited: Audited
) -> None:
    take_in(keeper, years=range(2026, 2027))
    keeper.set_day("NL", CalendarDay(day=date(2026, 12, 26), is_business_day=True, description="stocktaking"))
    keeper.set_day("NL", CalendarDay(day=date(2026, 12, 24), description="closed"))

    made = take_in(keeper)

    assert [day.day for day in made.added] == [date(2027, 1, 1)]
    assert [(was.description, becomes.description) for was, becomes in made.differing] == [
        ("stocktaking", "Second Day of Christmas")
    ]
    assert [day.description for day in made.others] == ["closed"]
    assert ("2026-12-26", 1, "stocktaking") in world.sql(DAYS)
    assert world.sql("SELECT ValidUntil FROM Calendar") == [("2027-12-31",)]

    take_in(keeper, replace_days=True)

    assert ("2026-12-26", 0, "Second Day of Christmas") in world.sql(DAYS)
    assert ("2026-12-24", 0, "closed") in world.sql(DAYS)
    assert audited()[-1][5]["Days"] == [
        {"CalendarDate": "2026-12-26", "IsBusinessDay": 1, "Description": "stocktaking"}
    ]


def test_a_dry_run_says_the_same_and_writes_nothing(
    world: World, keeper: CalendarKeeper, dry_keeper: CalendarKeeper
) -> None:
    planned = take_in(dry_keeper)
    assert (planned.dry_run, len(planned.added), world.sql(DAYS)) == (True, 3, [])
    take_in(keeper)
    before = world.hand.dump()

    dry_keeper.set_day("NL", CalendarDay(day=date(2026, 12, 24)))
    dry_keeper.remove_day("NL", date(2026, 12, 25))
    dry_keeper.remove("NL", reason="no more")

    assert world.hand.dump() == before


def test_years_that_do_not_follow_are_refused_and_so_are_years_of_which_nothing_is_known(
    keeper: CalendarKeeper,
) -> None:
    take_in(keeper, years=range(2026, 2027))

    with pytest.raises(Refused) as refused:
        keeper.import_days("NL", {date(2029, 1, 1): "New Year's Day"}, range(2029, 2030), description="")
    assert refused.value.next_step == "the same with --years 2027-2029"
    with pytest.raises(Refused) as refused:
        keeper.import_days("NL", {date(2023, 1, 1): "New Year's Day"}, range(2023, 2024), description="")
    assert refused.value.next_step == "the same with --years 2023-2025"
    with pytest.raises(Refused, match="No holidays are known of 2027"):
        keeper.import_days("NL", {date(2026, 1, 1): "New Year's Day"}, range(2026, 2028), description="")


def test_a_calendar_without_end_stays_so(world: World, keeper: CalendarKeeper) -> None:
    world.sql("INSERT INTO Calendar (CalendarName) VALUES ('NL')")

    made = take_in(keeper)

    assert (made.valid_from, made.valid_until) == (None, None)
    assert world.sql("SELECT ValidFrom, ValidUntil FROM Calendar") == [(None, None)]


def test_a_day_is_said_corrected_and_forgotten(world: World, keeper: CalendarKeeper, audited: Audited) -> None:
    world.sql("INSERT INTO Calendar (CalendarName) VALUES ('NL')")
    day = CalendarDay(day=date(2026, 12, 24), description="closed")

    keeper.set_day("NL", day, reason="the boss said so")
    keeper.set_day("NL", day)
    keeper.set_day("NL", CalendarDay(day=day.day, is_business_day=True))
    keeper.remove_day("NL", day.day)

    assert world.sql(DAYS) == []
    closed = {"CalendarDate": "2026-12-24", "IsBusinessDay": 0, "Description": "closed"}
    opened = {"CalendarDate": "2026-12-24", "IsBusinessDay": 1, "Description": None}
    assert [(row[0], row[4], row[5], row[6]) for row in audited()] == [
        ("calendar add-day", "the boss said so", {}, closed),
        ("calendar add-day", None, closed, opened),
        ("calendar remove-day", None, opened, {}),
    ]
    with pytest.raises(NotFound, match="says nothing about 2026-12-24"):
        keeper.remove_day("NL", day.day)
    with pytest.raises(Refused, match="NUL"):
        keeper.set_day("NL", CalendarDay(day=day.day, description="\x00"))


def test_a_calendar_in_use_is_not_removed_and_one_that_is_not_goes_with_its_days(
    world: World, keeper: CalendarKeeper, audited: Audited
) -> None:
    take_in(keeper)
    world.sql(
        "INSERT INTO Schedule (ScheduleName, Entity, ScheduleType, RunTimes, CalendarName)"
        " VALUES ('Nightly', 'B', 'daily', '06:00', 'NL')"
    )
    with pytest.raises(Refused, match="is used by schedule Nightly"):
        keeper.remove("NL", reason="no more")
    world.sql("UPDATE Schedule SET CalendarName = NULL")
    world.batch("B", ExpectedCalendar="NL")
    with pytest.raises(Refused, match="NL is ExpectedCalendar of batch B") as refused:
        keeper.remove("NL", reason="no more")
    world.sql((refused.value.next_step or "").rstrip(";"))

    assert keeper.remove("NL", reason="no more").days == 3

    assert world.sql("SELECT CalendarName FROM Calendar") == world.sql(DAYS) == []
    assert len(audited()[-1][5]["Days"]) == 3


def test_a_calendar_used_by_many_says_how_to_let_go_of_it(world: World, keeper: CalendarKeeper) -> None:
    take_in(keeper)
    world.sql(
        "INSERT INTO Schedule (ScheduleName, Entity, ScheduleType, RunTimes, CalendarName)"
        " VALUES ('One', 'B', 'daily', '06:00', 'NL'), ('Two', 'B', 'daily', '06:00', 'NL')"
    )

    with pytest.raises(Refused) as refused:
        keeper.remove("NL", reason="no more")

    assert refused.value.next_step == (
        "batchctl schedule set One --calendar-name '' --reason ...; batchctl schedule set Two --calendar-name '' --reason ..."
    )


def test_a_day_that_is_none_makes_its_own_calendar_unreadable_and_can_be_removed(
    world: World, keeper: CalendarKeeper, audited: Audited
) -> None:
    world.sql("INSERT INTO Calendar (CalendarName) VALUES ('NL'), ('BE')")
    world.sql("INSERT INTO CalendarDay (Calendar_id, CalendarDate) VALUES (1, '2026-02-28'), (1, '2026-02-30')")
    said = "CalendarDay 2 holds '2026-02-30', which is no day"

    warnings = {one.calendar.name: one.warning for one in almanac.everything(world.transactions, world.clock, UTC_ZONE)}
    assert warnings == {"NL": f"unreadable: {said}", "BE": None}
    keeper.set_day("BE", CalendarDay(day=date(2026, 12, 24)))
    with pytest.raises(Refused, match=f"Calendar NL cannot be read: {said}"):
        take_in(keeper)
    with pytest.raises(NotFound, match="says nothing about 2026-02-31"):
        keeper.remove_day("NL", "2026-02-31")

    keeper.remove_day("NL", "2026-02-30")

    assert [row[0] for row in world.sql(DAYS)] == ["2026-02-28", "2026-12-24"]
    assert audited()[-1][5] == {"CalendarDate": "2026-02-30"}


def test_what_is_wrong_with_a_calendar_is_listed(world: World) -> None:
    world.hand.loosen()
    world.sql("INSERT INTO Calendar (CalendarName, BusinessDays) VALUES ('Mo', 'Mo,Tue')")
    world.sql("INSERT INTO Calendar (CalendarName, ValidFrom, ValidUntil) VALUES ('X', '2026-05-01', '2026-01-01')")

    found = [one.warning or "" for one in almanac.everything(world.transactions, world.clock, UTC_ZONE)]

    assert found[0].startswith("BusinessDays: ")
    assert found[1] == "ValidUntil: It is before ValidFrom, 2026-05-01."


def test_an_unknown_calendar_is_named_with_what_may_have_been_meant(keeper: CalendarKeeper) -> None:
    take_in(keeper)
    for act in (
        lambda: keeper.set_day("NK", CalendarDay(day=date(2026, 12, 24))),
        lambda: keeper.remove_day("NK", date(2026, 12, 24)),
        lambda: keeper.remove("NK", reason="x"),
    ):
        with pytest.raises(NotFound, match="no calendar 'NK'") as unknown:
            act()
        make = "batchctl calendar import NK --country CC --years YYYY"
        sql = "INSERT INTO Calendar (CalendarName) VALUES ('NK');"
        assert unknown.value.next_step == f"batchctl calendar list   (or make it: {make}, or by hand: {sql})"


def test_a_calendar_is_written_by_hand_as_it_is_said(world: World, keeper: CalendarKeeper) -> None:
    made, days = keeper.by_hand("it's").split(" and then: ")
    world.sql(made)

    assert days == keeper.by_hand("it's") == """batchctl calendar add-day 'it'"'"'s' DAY"""
    keeper.set_day("it's", CalendarDay(day=date(2026, 12, 24)))


def test_of_years_without_holidays_it_is_said_how_to_write_them(keeper: CalendarKeeper) -> None:
    with pytest.raises(Refused) as refused:
        keeper.import_days("NL", {}, [2026], description="none")

    assert refused.value.next_step == f"import other years, or write the days yourself: {keeper.by_hand('NL')}"


def test_only_what_an_enabled_schedule_goes_by_ends_for_status(world: World, keeper: CalendarKeeper) -> None:
    take_in(keeper, years=range(2026, 2027))
    world.sql(
        "INSERT INTO Schedule (ScheduleName, Entity, ScheduleType, RunTimes, CalendarName, Enabled)"
        " VALUES ('On', 'B', 'daily', '06:00', 'NL', 1), ('Off', 'B', 'daily', '06:00', 'NL', 0)"
    )
    with world.transactions.read() as connection:
        (ends,) = almanac.ending(connection, date(2026, 11, 21))
    assert (ends.calendar, ends.schedules) == ("NL", ("On",))
    assert ends.next_step == "batchctl calendar import NL --country CC --years 2027"
    world.sql("UPDATE Schedule SET Enabled = 0")
    with world.transactions.read() as connection:
        assert list(almanac.ending(connection, date(2026, 11, 21))) == []


def test_today_is_that_of_the_business_time_zone(world: World, keeper: CalendarKeeper) -> None:
    take_in(keeper, years=range(2026, 2027))
    world.clock.advance(datetime(2026, 12, 31, 23, 30, tzinfo=UTC) - world.clock.now())

    def warning(zone: str) -> str:
        return str(almanac.named(world.transactions, world.clock, ZoneInfo(zone), "NL").warning)

    assert warning("UTC") == "calendar NL runs out on 2026-12-31: after that only the days of the week decide"
    assert warning("Europe/Amsterdam").startswith("calendar NL has run out on 2026-12-31")


def _a_schedule(world: World, **columns: object) -> None:
    said = {"ScheduleName": "s", "Entity": "B", "CalendarName": "NL", "DecidedUntil": "2026-11-21 03:00:00", **columns}
    marks = ", ".join("?" for _ in said)
    world.sql(f"INSERT INTO Schedule ({', '.join(said)}) VALUES ({marks})", *said.values())


def _words(done: DayChange | Imported) -> list[str]:
    return [said for one in done.moved for said in one.words(dry_run=done.dry_run)]


@pytest.fixture
def calendar(world: World) -> None:
    """Make a calendar without days, beside a batch; it is Saturday 21 November 2026, 03:00."""
    world.batch()
    world.sql("INSERT INTO Calendar (CalendarName) VALUES ('NL')")


@pytest.mark.usefixtures("calendar")
def test_the_schedules_that_are_due_next_at_another_time_are_named(
    world: World, keeper: CalendarKeeper, dry_keeper: CalendarKeeper
) -> None:
    _a_schedule(world, ScheduleType="daily", RunTimes="06:00")
    _a_schedule(world, ScheduleName="off", ScheduleType="daily", RunTimes="06:00", Enabled=0)
    _a_schedule(world, ScheduleName="other", ScheduleType="daily", RunTimes="06:00", CalendarName=None)
    monday = CalendarDay(day=date(2026, 11, 23))
    was = "Schedule s was due next at 2026-11-23 06:00 +00:00, and is due next at 2026-11-24 06:00 +00:00"

    assert _words(dry_keeper.set_day("NL", monday)) == [f"{was} then."]
    assert _words(keeper.set_day("NL", monday)) == [f"{was} now."]
    assert _words(keeper.set_day("NL", monday)) == []
    back = "Schedule s was due next at 2026-11-24 06:00 +00:00, and is due next at 2026-11-23 06:00 +00:00"
    assert _words(dry_keeper.remove_day("NL", monday.day)) == [f"{back} then."]
    assert _words(keeper.remove_day("NL", monday.day)) == [f"{back} now."]
    holidays = {date(2026, 11, 23): "Strike"}
    made = keeper.import_days("NL", holidays, range(2026, 2027), description="of NL")
    assert _words(made) == [f"{was} now."]
    assert (made.moved[0].columns["NextUtcTimeBefore"], made.moved[0].columns["Next"]) == (
        "2026-11-23T06:00:00.000Z",
        None,
    )


@pytest.mark.usefixtures("calendar")
def test_what_has_moved_to_a_time_that_is_over_is_named_with_what_starts_it(
    world: World, keeper: CalendarKeeper
) -> None:
    _a_schedule(world, ScheduleType="monthly", RunTimes="20:13", RunDaysOfMonth="23", CalendarRule="previous")

    done = keeper.set_day("NL", CalendarDay(day=date(2026, 11, 23)))

    moved = "What it was to start at 2026-11-23 20:13 +00:00 for 2026-11-23 is moved to 2026-11-20 20:13 +00:00"
    assert _words(done) == [
        "Schedule s was due next at 2026-11-23 20:13 +00:00, and is due next at 2026-12-23 20:13 +00:00 now.",
        f"{moved}, which is over: it will not run by itself. To start it: batchctl schedule run s --reason ...",
    ]
    assert done.moved[0].columns["Lost"] == [
        {
            "CycleKey": "2026-11-23",
            "LocalTimeBefore": "2026-11-23 20:13 +00:00",
            "LocalTime": "2026-11-20 20:13 +00:00",
            "UtcTime": "2026-11-20T20:13:00.000Z",
            "FireKey": "2026-11-20T20:13",
        }
    ]


@pytest.mark.usefixtures("calendar")
@pytest.mark.parametrize(("catch_up", "lost"), [("none", 1), ("latest", 0)])
def test_what_the_next_look_makes_up_for_is_not_lost(
    world: World, keeper: CalendarKeeper, catch_up: str, lost: int
) -> None:
    _a_schedule(
        world,
        ScheduleType="monthly",
        RunTimes="20:13",
        RunDaysOfMonth="23",
        CalendarRule="previous",
        CatchUp=catch_up,
        DecidedUntil="2026-11-02 00:00:00",
    )

    done = keeper.set_day("NL", CalendarDay(day=date(2026, 11, 23)))

    assert len(done.moved[0].lost) == lost
    assert "is due next at 2026-11-20 20:13 +00:00, overdue now" in _words(done)[0]


@pytest.mark.usefixtures("calendar")
def test_the_last_business_day_may_be_over_too(world: World, keeper: CalendarKeeper) -> None:
    world.clock.advance(timedelta(days=7))
    _a_schedule(
        world,
        ScheduleType="monthly",
        RunTimes="18:00",
        RunDaysOfMonth="business_last",
        DecidedUntil="2026-11-28 03:00:00",
    )

    done = keeper.set_day("NL", CalendarDay(day=date(2026, 11, 30)))

    assert [(one.was.key, one.becomes.key) for one in done.moved[0].lost] == [("2026-11-30T18:00", "2026-11-27T18:00")]


@pytest.mark.usefixtures("calendar")
def test_what_was_moved_back_behind_its_run_is_not_lost(world: World, keeper: CalendarKeeper) -> None:
    """It has run on the day that it was shifted to."""
    keeper.set_day("NL", CalendarDay(day=date(2026, 11, 19)))
    monthly = {"ScheduleType": "monthly", "RunTimes": "06:00", "RunDaysOfMonth": "19", "CalendarRule": "next"}
    _a_schedule(world, **monthly)
    world.submit("B")
    world.sql(
        "INSERT INTO ScheduleFire (Schedule_id, FireKey, Outcome, DueTime, FileProcess_id)"
        " VALUES (1, '2026-11-20T06:00', 'fired', '2026-11-20 06:00:00', 1)"
    )

    assert keeper.remove_day("NL", date(2026, 11, 19)).moved == ()
