"""`check` finds what is wrong with schedules, calendars and modes, also in rows that were inserted by hand."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path

import pytest

from batchctl.domain.outcomes import RowFinding
from batchctl.operations.definitions import checking
from batchctl.operations.scheduling.timetable import Timetable
from batchctl.store.scheduling import schedule_rows
from batchctl.testing import context
from tests.control.world import World
from tests.operations.test_checking import Plugins
from tests.operations.test_timetable import schedule

OVER = {"RunAt": "2026-11-20 05:00"}
TRIGGER = (
    "INSERT INTO DataTrigger (TriggerName, Entity, ConnectionName, TableName, StatusColumn, PendingValue, RowThreshold)"
    " VALUES ('rows', ?, 'wh', 't', 's', '0', 1)"
)


@pytest.fixture(autouse=True)
def batch(world: World) -> None:
    world.batch()


def check(world: World) -> list[RowFinding]:
    table = Timetable(
        transactions=world.transactions, clock=world.clock, zone="Europe/Amsterdam", grace=timedelta(minutes=5)
    )
    schedule_context = context(str(world.directory))
    found = checking.check(world.transactions, Plugins(), schedule_context, timetable=table)
    return [one for one in found if one.table != "DataTrigger"]


def messages(world: World) -> list[str]:
    return [f"{one.table} {one.row} {one.column}: {one.message}" for one in check(world)]


def test_sound_schedules_have_no_findings(world: World) -> None:
    world.sql("INSERT INTO Calendar (CalendarName, ValidUntil) VALUES ('NL', '2027-12-31')")
    schedule(world, CalendarName="NL")
    schedule(world, "often", "interval", IntervalMinutes=5)
    schedule(world, "once", "once", RunAt="2026-11-21 05:00")
    schedule(world, "done", "once", RunAt="2026-11-20 05:00", Enabled=0)

    assert messages(world) == []


def test_one_command_mends_all_columns_of_a_row(world: World) -> None:
    schedule(world, "z3", "once", **OVER, Entity="Bee")
    schedule(world, "z4", EndDate="2026-11-20", Entity="Bee")
    schedule(world, "z5", "once", **OVER)

    assert sorted({(one.row, one.remedy) for one in check(world)}) == [
        ("z3", "batchctl schedule set z3 --entity ... --run-at ... --reason ..."),
        ("z4", "batchctl schedule set z4 --entity ... ... --reason ..."),
        ("z5", "batchctl schedule set z5 --run-at ... --reason ...   (or, in place of set: disable)"),
    ]


def test_everything_of_every_schedule_is_found_at_once(world: World) -> None:
    world.hand.loosen()
    schedule(world, "one", Entity="Bee", TimeZone="Mars/Olympus", CalendarName="NK", RunDays="Mo")
    schedule(world, "two", "cron", Cron="61 * * * *")
    schedule(world, "three", "once", RunAt="2026-11-20 05:00")
    schedule(world, "four", EndDate="2026-11-20")
    world.batch("Args", PopulatorArgs="(?P<Data3>x)")
    schedule(world, "five", Entity="Args")

    found = {(one.row, one.column): one for one in check(world)}

    assert set(found) == {
        ("one", "Entity"),
        ("one", "TimeZone"),
        ("one", "CalendarName"),
        ("one", "RunDays"),
        ("two", "Cron"),
        ("three", "RunAt"),
        ("four", ""),
        ("five", "Entity"),
    }
    assert found["one", "Entity"].message.startswith("No batch takes entity 'Bee': nothing comes of it.")
    assert found["three", "RunAt"].message == (
        "Its only time, 2026-11-20 05:00, is over or skipped, so it never starts anything."
    )
    assert found["three", "RunAt"].remedy == (
        "batchctl schedule set three --run-at ... --reason ...   (or, in place of set: disable)"
    )
    assert "Every row would be rejected" in found["five", "Entity"].message


@pytest.mark.parametrize(
    ("entity", "meant"),
    [("Flight", "Did you mean 'Flights'"), ("flights", "Did you mean 'Flights'")],
)
def test_an_entity_nobody_takes_is_named_with_what_was_meant(world: World, entity: str, meant: str) -> None:
    world.batch("Flights")
    schedule(world, Entity=entity)

    assert meant in messages(world)[0]


def test_rows_that_hold_nonsense_are_named_and_the_others_looked_at(world: World) -> None:
    world.hand.loosen()
    schedule(world, "wrong", RunTimes="6")
    schedule(world, "nonsense")
    world.hand.loosen()
    world.sql("UPDATE Schedule SET ScheduleType = 'hourly' WHERE ScheduleName = 'nonsense'")

    found = messages(world)

    assert found[0].startswith("Schedule 2 ScheduleType: The row holds nonsense, so it starts nothing: ")
    assert found[1].startswith("Schedule wrong RunTimes: ")


def test_a_day_that_is_none_is_found_with_what_deletes_it(world: World) -> None:
    world.sql("INSERT INTO Calendar (CalendarName) VALUES ('NL')")
    world.sql("INSERT INTO CalendarDay (Calendar_id, CalendarDate) VALUES (1, '2026-02-28'), (1, '2026-02-30')")
    schedule(world, CalendarName="NL")

    of_schedule, of_calendar = check(world)

    said = "CalendarDay 2 holds '2026-02-30', which is no day"
    assert (of_schedule.column, of_schedule.message) == ("CalendarName", f"Calendar NL cannot be read: {said}.")
    assert (of_calendar.row, of_calendar.column) == ("NL", "CalendarDate")
    assert of_calendar.message == f"It cannot be read: {said}. Schedules that go by it start nothing."
    assert of_calendar.remedy == (
        "batchctl calendar remove-day NL 2026-02-30   (or: DELETE FROM CalendarDay WHERE CalendarDay_id = 2)"
    )


def test_days_without_a_calendar_and_days_behind_its_end_are_found(world: World) -> None:
    world.sql("INSERT INTO Calendar (CalendarName, ValidUntil) VALUES ('NL', '2027-12-31')")
    world.sql("INSERT INTO CalendarDay (Calendar_id, CalendarDate) VALUES (1, '2028-12-25'), (1, '2027-12-25')")
    world.hand.loosen()
    world.sql("INSERT INTO CalendarDay (Calendar_id, CalendarDate) VALUES (7, '2027-12-25')")

    assert messages(world) == [
        "Calendar NL ValidUntil: 1 of its days lie after it, the first on 2028-12-25: it is not known whether they are all.",
        "CalendarDay 3 Calendar_id: There is no Calendar 7, so no schedule goes by this day.",
    ]


def test_a_backfill_that_reaches_into_the_future_is_found(world: World) -> None:
    schedule(world)
    world.sql(
        "INSERT INTO ScheduleBackfill (Schedule_id, FromTime, UntilTime, Actor)"
        " VALUES (1, '2026-11-01 00:00:00.000', '2030-01-01 00:00:00.000', 'anna')"
    )

    (found,) = check(world)

    assert (found.table, found.row, found.column) == ("ScheduleBackfill", "1", "UntilTime")
    assert found.message.startswith(
        "2030-01-01 00:00:00 UTC is still to come: a backfill is for due times that are over"
    )
    assert found.remedy == "batchctl backfill cancel 1 --reason ..."


def test_a_command_that_uses_a_file_name_is_found(world: World) -> None:
    file_batch = world.batch("Files", 0)
    world.step(file_batch, 10, ProcessType="os_command", Data1="wc -l {FileName}", Data4="IN={Data2}")
    world.step(file_batch, 20, ProcessType="os_command", Data1="echo {{FileName}} {Data3} {CycleKey}")
    plugin_batch = world.batch("Foreign", 0, Populator="plugin")
    world.step(plugin_batch, 10, ProcessType="os_command", Data1="wc -l {Data1} {Data2}")
    world.step(plugin_batch, 20, ProcessType="sql", Data2="SELECT {FileName}")
    schedule(world, Entity="Files")
    schedule(world, "foreign", Entity="Foreign")
    schedule(world, "off", Entity="Files", Enabled=0)

    found = [one for one in check(world) if one.table == "Schedule"]

    assert [(one.row, one.column, one.message) for one in found] == [
        ("nightly", "Entity", "Step 10 of Files uses {FileName}, {Data2}; a schedule brings none, so it fails.")
    ]
    assert found[0].remedy == "correct the step, or start Files by files only"


def test_a_row_is_corrected_with_one_command_where_that_is_possible(world: World) -> None:
    world.hand.loosen()
    schedule(world, "my night", RunTimes="6", TimeZone="Mars/Olympus")
    schedule(world, "ends ", RunTimes="6")
    schedule(world, "nightly.declared", RunTimes="6", Origin="job shop")
    once = "batchctl schedule set 'my night' --run-times ... --time-zone ... --reason ..."
    by_hand = "correct the rows in an SQL client"

    assert [(one.row, one.column, one.remedy) for one in check(world)] == [
        ("my night", "RunTimes", once),
        ("my night", "TimeZone", once),
        ("ends ", "ScheduleName", by_hand),
        ("ends ", "RunTimes", by_hand),
        ("nightly.declared", "RunTimes", "correct the decorator of nightly"),
    ]
    assert "ends with a blank: 'ends '" in messages(world)[2]


def test_a_calendar_that_ends_is_found_while_a_schedule_goes_by_it(world: World) -> None:
    world.sql("INSERT INTO Calendar (CalendarName, ValidUntil) VALUES ('NL', '2026-12-31')")
    assert messages(world) == []
    schedule(world, CalendarName="NL")

    (found,) = check(world)

    assert (found.table, found.row, found.column) == ("Calendar", "NL", "ValidUntil")
    assert found.message == (
        "Calendar NL runs out on 2026-12-31: after that only the days of the week decide. Schedule nightly uses it."
    )
    assert found.remedy == "batchctl calendar import NL --country CC --years 2027"


def test_a_calendar_itself_may_be_wrong(world: World) -> None:
    world.hand.loosen()
    world.sql("INSERT INTO Calendar (CalendarName, BusinessDays) VALUES (' NL', 'Mo,Tue')")
    world.sql("INSERT INTO Calendar (CalendarName, ValidFrom, ValidUntil) VALUES ('X', '2027-01-01', '2026-01-01')")
    world.sql("INSERT INTO Calendar (CalendarName, BusinessDays) VALUES ('Never', '')")

    assert [(one.row, one.column) for one in check(world)] == [
        (" NL", "CalendarName"),
        (" NL", "BusinessDays"),
        ("X", "ValidUntil"),
    ]


def test_a_mode_lacks_what_it_needs(world: World) -> None:
    world.sql("UPDATE ProcessBatch SET ProcessingMode = 'scheduled'")
    assert messages(world) == [
        "ProcessBatch B ProcessingMode: No enabled schedule is of its entity 'B', so no time starts it."
    ]
    schedule(world)
    assert messages(world) == []
    world.sql("UPDATE ProcessBatch SET ProcessingMode = 'triggered'")
    assert [one.column for one in check(world)] == ["Entity", "ProcessingMode"]
    world.sql("UPDATE Schedule SET Enabled = 0")
    world.sql(TRIGGER, "B")
    assert messages(world) == []


def test_what_is_only_disabled_is_enabled_and_not_made_once_more(world: World) -> None:
    schedule(world)
    world.sql("UPDATE Schedule SET Enabled = 0")
    world.sql("UPDATE ProcessBatch SET ProcessingMode = 'scheduled'")
    (name,) = world.sql("SELECT ScheduleName FROM Schedule")[0]
    (found,) = check(world)
    enable = f"batchctl schedule enable {name} --reason ..."
    assert found.remedy == f"{enable}   (or: batchctl schedule add NAME --entity B ...)"

    world.sql(TRIGGER, "B")
    world.sql("UPDATE DataTrigger SET Enabled = 0")
    world.sql("UPDATE ProcessBatch SET ProcessingMode = 'triggered'")
    (found,) = check(world)
    world.sql(found.remedy)
    assert check(world) == []


def test_what_a_mode_has_no_use_for_is_named(world: World) -> None:
    schedule(world)
    world.sql(TRIGGER, "B")
    world.sql("UPDATE ProcessBatch SET ProcessingMode = 'manual'")

    found = check(world)

    assert [(one.table, one.column, one.remedy) for one in found] == [
        ("Schedule", "Entity", "batchctl mode B scheduled --reason ..."),
        ("ProcessBatch", "ProcessingMode", "batchctl mode B manual --reason ...   (disables it)"),
    ]
    assert found[0].message == "No batch of entity 'B' lets schedules start it, so it is left alone: B is manual."


def test_batches_of_one_entity_that_disagree_are_named(world: World) -> None:
    world.batch("Second", Entity="B")
    schedule(world)
    world.sql("UPDATE ProcessBatch SET ProcessingMode = 'manual' WHERE ProcessBatchName = 'B'")

    assert messages(world) == [
        (
            "ProcessBatch B ProcessingMode: Its mode is manual, but schedule nightly starts it all the same, with Second,"
            " whose entity is 'B' too."
        )
    ]


def test_a_mode_that_there_is_not_is_shown(world: World) -> None:
    world.hand.loosen()
    world.sql("UPDATE ProcessBatch SET ProcessingMode = 'automatic'")

    assert messages(world)[0].startswith(
        "ProcessBatch 1 ProcessingMode: The row holds nonsense, so its batch does not run: "
    )


def test_the_sql_of_the_documentation_was_run(world: World) -> None:
    text = (Path(__file__).parents[2] / "docs" / "schedules.md").read_text(encoding="utf-8")
    statements = [one for block in re.findall(r"```sql\n(.*?)```", text, re.DOTALL) for one in block.split(";\n")]
    for statement in filter(str.strip, statements):
        world.sql(statement.strip().removesuffix(";"))

    assert len(world.sql("SELECT ScheduleName FROM Schedule")) == 10
    # The doubles of this test know no handler but their own.
    assert [said for said in messages(world) if "is not installed" not in said] == []


def test_a_jitter_that_nobody_can_wait_for_makes_one_row_unreadable_and_no_other(world: World) -> None:
    schedule(world, "odd")
    schedule(world, "good")
    world.hand.loosen()
    world.sql("UPDATE Schedule SET Jitter = -1 WHERE ScheduleName = 'odd'")

    with world.transactions.read() as connection:
        found, broken = schedule_rows.everything(connection)

    assert [one.name for one in found] == ["good"]
    assert [one.wording for one in broken] == ["Jitter is -1, and has to be between 0 and 86400"]


@pytest.mark.parametrize("control_database", ["sqlite"], indirect=True)
@pytest.mark.parametrize("column", ["FromTime", "DoneUntil"])
def test_a_backfill_that_nobody_can_read_is_found(world: World, column: str) -> None:
    schedule(world, "nightly")
    row = {"FromTime": "2026-11-01 00:00:00", "UntilTime": "2026-11-02 00:00:00", "DoneUntil": "2026-11-01 00:00:00"}
    world.hand.loosen()
    world._insert("ScheduleBackfill", {"Schedule_id": 1, "Actor": "anna", **row, column: "garbage"})

    (found,) = check(world)

    assert (found.table, found.row) == ("ScheduleBackfill", "1")
    assert found.message == f"The row holds nonsense, so it starts nothing: {column} is no time."
    assert found.remedy == "correct the row in an SQL client, or set its Status to cancelled there"
    world.sql("UPDATE ScheduleBackfill SET Status = 'cancelled'")
    assert [one.message.partition(":")[0] for one in check(world)] == ["The row holds nonsense, so nothing goes by it"]


def test_a_calendar_that_is_missing_is_imported_or_another_named(world: World) -> None:
    schedule(world, CalendarName="NL")
    schedule(world, "kept", CalendarName="BE", Origin="job shop")
    (kept, own) = sorted(check(world), key=lambda one: one.row)

    assert own.remedy == (
        "batchctl calendar import NL --country CC --years 2026"
        "   (or: batchctl schedule set nightly --calendar-name ... --reason ...)"
    )
    assert kept.remedy == "batchctl calendar import BE --country CC --years 2026"


def test_what_is_wrong_with_a_calendar_names_the_statement_that_corrects_it(world: World) -> None:
    world.hand.loosen()
    world.sql("INSERT INTO Calendar (CalendarName, BusinessDays) VALUES ('NL ', 'Mox')")
    world.sql("INSERT INTO Calendar (CalendarName, ValidFrom, ValidUntil) VALUES ('B', '2027-01-01', '2026-01-01')")

    assert sorted(one.remedy for one in check(world)) == [
        "UPDATE Calendar SET BusinessDays = ... WHERE Calendar_id = 1",
        "UPDATE Calendar SET CalendarName = ... WHERE Calendar_id = 1",
        "UPDATE Calendar SET ValidUntil = ... WHERE Calendar_id = 2",
    ]


def table_of(world: World) -> Timetable:
    return Timetable(
        transactions=world.transactions, clock=world.clock, zone="Europe/Amsterdam", grace=timedelta(minutes=5)
    )


def test_what_was_decided_long_ago_is_due_again_all_the_same(world: World) -> None:
    """Nobody looks for due times of two thousand years; what is due from now on is what counts."""
    schedule(world)
    world.sql("UPDATE Schedule SET DecidedUntil = '0001-01-01 00:00:00.000000'")
    table = table_of(world)

    assert messages(world) == []
    (listed,) = table.everything()
    assert listed.next is not None
    assert listed.findings == ()


def test_when_a_broken_schedule_is_due_is_said_as_far_as_it_can_be_told(world: World) -> None:
    world.hand.loosen()
    schedule(world, RunTimes="25:00", CalendarName="NL")
    table = table_of(world)
    (listed,) = table.everything()

    assert (listed.next, listed.words) == (None, "daily at 25:00, on business days of NL")
