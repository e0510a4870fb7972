"""The views: words, times in two zones, what holds what back, and statements that can be run as they stand."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import psycopg
import pytest
import sqlglot

from batchctl.domain import locked_rows
from batchctl.domain.operators import freezes
from batchctl.domain.outcomes import StepOutcome
from batchctl.domain.scheduling import zone_offsets as reckoned
from batchctl.expected_work import ExpectedWork
from batchctl.store import limits, views
from batchctl.store.columns import UtcTime
from batchctl.store.definitions import definitions
from batchctl.store.maintenance import schema
from batchctl.store.scheduling import zone_offset_rows
from batchctl.store.tables import metadata
from tests.control.alarm import Alarm, rules
from tests.control.world import BAD, OK, RUNS_ON, World
from tests.control_databases import ControlDatabase

AMSTERDAM = "Europe/Amsterdam"
HOSTILE = 'it\'s "x" \x1b[31m\n; DROP TABLE FileProcess; -- é€ %s {Data1} \\'


@pytest.fixture
def world(control_database: ControlDatabase) -> Iterator[World]:
    """Return a fresh database that knows its time zone, with an engine the test drives."""
    made = World(control_database)
    offsets = reckoned.offsets(AMSTERDAM)
    made.transactions.run(frozenset(), lambda connection: zone_offset_rows.keep(connection, AMSTERDAM, offsets, NOW))
    yield made
    made.close()


NOW = datetime(2026, 11, 21, tzinfo=UTC)


@pytest.fixture
def seen(world: World) -> Callable[..., list[dict[str, Any]]]:
    """Read a view as a client does: rows by the names of its columns, in their own spelling."""

    def read(view: str, where: str = "1 = 1") -> list[dict[str, Any]]:
        names = columns_of(view)
        found = world.sql(f"SELECT {', '.join(names)} FROM {view} WHERE {where} ORDER BY 1, 2")
        return [dict(zip(names, row, strict=True)) for row in found]

    return read


def columns_of(view: str) -> list[str]:
    """Return the names of a view's columns, as its own text spells them on the first of its parts."""
    made = sqlglot.parse_one(views.views("sqlite")[view], dialect="sqlite")
    return [column.alias_or_name for column in made.expression.selects]


def test_what_a_view_shows_for_sql_server_can_be_run_by_sqlcmd_and_agent_too() -> None:
    for name, view in views.views("mssql").items():
        assert re.findall(r"'(?:INSERT INTO|UPDATE) [A-Z]", view) == [], name
    assert "'SET QUOTED_IDENTIFIER ON; INSERT INTO OperatorRequest" in views.views("mssql")["vWaiting"]
    assert "SET QUOTED_IDENTIFIER" not in views.views("postgresql")["vWaiting"]


def test_every_view_answers_where_there_is_nothing(world: World) -> None:
    found = {view: world.sql(f"SELECT * FROM {view}") for view in views.NAMES}

    assert [row[0] for row in found.pop("vPools")] == ["default"], "that pool needs no row"
    assert [*found.values()] == [[]] * len(found)


def test_a_view_that_was_changed_by_hand_is_found(world: World) -> None:
    world.sql("DROP VIEW vInbox")
    world.sql("DROP VIEW vFailed")
    world.sql("CREATE VIEW vFailed AS SELECT 1 AS one")
    with world.transactions.read() as connection:
        found = [difference.lower() for difference in schema.differences(connection)]

    assert found == ["vinbox is missing", "vfailed is not as it was made"]


@pytest.mark.parametrize(
    "at", ["2026-03-29 00:59:59", "2026-03-29 01:00:00", "2026-10-25 00:59:59", "2026-10-25 01:00:00"]
)
def test_times_are_shown_as_the_clocks_of_the_business_zone_show_them(
    world: World, seen: Callable[..., list[dict[str, Any]]], at: str
) -> None:
    world.batch(steps=1)
    world.submit()
    world.create()
    world.process()
    world.sql("UPDATE BatchProcessHistory SET StartTime = ?, EndTime = NULL, Status = 'running'", at)
    (row,) = seen("vHistory")
    shown = datetime.fromisoformat(at).replace(tzinfo=UTC).astimezone(ZoneInfo(AMSTERDAM))

    assert str(row["StartTimeLocal"])[:19] == f"{shown:%Y-%m-%d %H:%M:%S}"


def test_offsets_follow_each_other_without_a_gap() -> None:
    found = reckoned.offsets(AMSTERDAM)

    assert [one.ends for one in found[:-1]] == [one.begins for one in found[1:]]
    assert (found[0].begins, found[-1].ends) == (reckoned.FIRST, reckoned.LAST)
    for one in found:
        for at in (one.begins, one.ends - timedelta(seconds=1)):
            offset = at.astimezone(ZoneInfo(AMSTERDAM)).utcoffset()
            assert offset == timedelta(seconds=one.seconds)


def test_what_failed_stands_there_with_its_command_and_the_statements_to_run(
    world: World, seen: Callable[..., list[dict[str, Any]]]
) -> None:
    world.runner.script = lambda rendered: BAD
    world.batch(HOSTILE, steps=1)
    world.submit(HOSTILE, file_name=HOSTILE)
    world.create()
    world.process()
    (row,) = seen("vFailed")

    assert (row["ProcessBatchName"], row["FileName"], row["ErrorText"]) == (HOSTILE, HOSTILE, "it broke")
    assert row["CommandText"] == world.one("SELECT CommandText FROM BatchProcessHistory")
    assert HOSTILE in row["CommandText"]
    assert (row["Status"], row["AttemptStatus"], row["DurationSeconds"]) == ("failed", "failed", 0)
    for column, action in (("RerunSql", "rerun"), ("SkipSql", "skip"), ("CancelSql", "cancel")):
        world.sql(row[column])
        asked = world.sql("SELECT Action, BatchControl_id FROM OperatorRequest ORDER BY 1 DESC")
        assert (action, 1) in asked


def test_every_statement_that_a_view_shows_can_be_run(world: World, seen: Callable[..., list[dict[str, Any]]]) -> None:
    world.runner.script = lambda rendered: BAD if "of 1 " in rendered.command_text else None
    put_all_kinds(world)
    statements = [
        (view, str(text))
        for view in views.NAMES
        for row in seen(view)
        for column, text in row.items()
        if column.endswith("Sql")
    ]

    assert {view for view, _ in statements} == {*views.NAMES} - {"vUnreadable", "vNotInstalled"}
    to_fill_in = [text for _, text in statements if re.search(r"[=,(] ?\.\.\.", text)]
    assert len(to_fill_in) == 3
    for _, text in statements:
        if text in to_fill_in:
            # What is to be filled in is no text, so that nobody runs it as it stands.
            with pytest.raises((sqlite3.Error, psycopg.Error)):
                world.sql(text)
            continue
        for statement in text.removesuffix(";").split("; ") if text.startswith("INSERT INTO AuditLog") else [text]:
            world.sql(statement)


JOB = "INSERT INTO vSqlJob (JobName, ConnectionName, ScheduledSql, FirstRunOn) VALUES (?, ?, ?, ?)"


def put_all_kinds(world: World) -> None:
    """Let every view have rows, with names that are not harmless."""
    world.batch(HOSTILE, steps=0, Enabled=1, OnFailure="continue", MaxConcurrent=2)
    world.step(1, 10, AlarmDuration=1)
    world.batch("off", steps=1, Enabled=0)
    world.batch("up", steps=1)
    world.batch("down", steps=1)
    world.sql(
        "INSERT INTO BatchDependency (ProcessBatch_id, DependsOnBatch_id, DeadlineMins) VALUES (4, 3, 1), (4, 2, 1)"
    )
    for entity in (HOSTILE, HOSTILE, "off", HOSTILE):
        world.submit(entity, file_name="f")
    world.create()
    world.process(slots=2)
    world.sql("UPDATE BatchProcessHistory SET StartTime = '2020-01-01 00:00:00' WHERE Status = 'running'")
    world.sql(
        "INSERT INTO BatchCompletion (ProcessBatch_id, DependsOnBatch_id, BatchControl_id, CycleKey, z_inserted)"
        " VALUES (4, 3, 1, 'k', '2020-01-01 00:00:00')"
    )
    world.sql(
        "INSERT INTO Schedule (ScheduleName, Entity, ScheduleType, RunTimes, NextRunTime)"
        " VALUES (?, 'off', 'daily', '06:00', '2020-01-01 00:00:00')",
        HOSTILE,
    )
    for status in ("rejected", "duplicate", "paused", "ready"):
        world.submit(HOSTILE + "?", Status=status)
    world.sql("INSERT INTO BatchFreeze (ProcessBatchName, Reason) VALUES ('up', ?)", HOSTILE)
    world.sql(JOB, "tidy", "wh", "SELECT 1", "2030-01-01 02:00")
    world.sql(
        "INSERT INTO KeptForecast (ProcessBatch_id, MadeOn, FinishBy, Chance, NeedsPerson, Nights)"
        " VALUES (1, '2020-01-01 00:00:00', '2020-01-01 06:00:00', 40, 0, 60)"
    )


def test_each_view_says_it_in_words(world: World, seen: Callable[..., list[dict[str, Any]]]) -> None:
    world.runner.script = lambda rendered: BAD if "of 1 " in rendered.command_text else None
    put_all_kinds(world)

    assert {row["ProcessBatchName"]: row["Status"] for row in seen("vStatus")} == {
        HOSTILE: "failed",
        "off": "disabled",
        "up": "frozen",
        "down": "waits",
        "tidy": "idle",
    }
    off = world.one("SELECT BatchControl_id FROM BatchControl WHERE ProcessBatch_id = 2")
    late = [(row["BatchControl_id"], row["Timing"]) for row in seen("vRunning")]
    assert late == [(number, "late") for number in (2, 3, 4) if number != off]
    assert [row["BatchControl_id"] for row in seen("vFailed")] == [1]
    waiting = {(row["BatchControl_id"], row["Reason"]) for row in seen("vWaiting")}
    assert waiting == {
        (off, "batch off is disabled"),
        (None, "off has no instance for this CycleKey yet, and the batch is disabled"),
    }
    assert sorted(row["What"] for row in seen("vLate")) == ["dependency", "schedule", "step", "step"]
    assert {(row["Status"], row["Timing"]) for row in seen("vSchedule")} == {
        ("overdue", "daily at 06:00"),
        ("not due", "once at 2030-01-01 02:00"),
    }
    ((chance, due),) = [(row["Chance"], row["DueInMinutes"]) for row in seen("vForecast")]
    assert chance == 40
    assert due < -3_000_000, "the night of 2020 is over"
    states = {row["Status"]: row["Reason"] for row in seen("vInbox")}
    assert states == {
        "rejected": "no reason was given",
        "duplicate": "no reason was given",
        "paused": "somebody inserted or set it as paused",
        "untaken": f"no batch takes entity '{HOSTILE}?': correct it, or register a batch that takes it",
    }
    assert [row["Status"] for row in seen("vHistory")] == ["failed", "running", "running"]


@pytest.mark.parametrize(("written", "meant"), [("orders ", "Orders"), ("\tORDERS", "Orders"), ("Odrers", None)])
def test_an_entity_that_no_batch_takes_is_corrected(
    world: World, seen: Callable[..., list[dict[str, Any]]], written: str, meant: str | None
) -> None:
    world.batch("Orders")
    number = world.submit(written)

    (row,) = seen("vInbox")
    given = "..." if meant is None else f"'{meant}'"
    assert row["NextSql"] == f"UPDATE FileProcess SET Entity = {given} WHERE FileProcess_id = {number};"
    world.sql(row["NextSql"].replace("...", "'Orders'"))

    assert [row["Status"] for row in seen("vInbox")] == ["new"]


@pytest.mark.parametrize("column", ["Entity", "FileName"])
def test_what_was_rejected_is_corrected_before_it_is_looked_at_anew(
    world: World, seen: Callable[..., list[dict[str, Any]]], column: str
) -> None:
    wrong, right = {"Entity": ("orders", "Orders"), "FileName": ("a.csv", "20261121.csv")}[column]
    world.batch("Orders", steps=1, PopulatorArgs="(?P<CycleKey>[0-9]{8})")
    row = {"Entity": "Orders", "FileName": "20261121.csv", column: wrong}
    number = world.submit(row["Entity"], FileName=row["FileName"], Status="rejected", Message="it does not match")

    (correct, retry), *_ = (each["NextSql"].split("; ") for each in seen("vInbox"))
    assert retry.startswith("INSERT INTO OperatorRequest (Action, Arguments, Reason) VALUES ('retry', ")
    world.sql(correct.replace("...", f"'{right}'"))
    assert world.one(f"SELECT {column} FROM FileProcess WHERE FileProcess_id = ?", number) == right
    assert [(each["Reason"], each["NextSql"]) for each in seen("vInbox")] == [
        ("it does not match (corrected since)", retry)
    ]


def test_a_newest_completion_is_shown_with_when(world: World, seen: Callable[..., list[dict[str, Any]]]) -> None:
    world.runner.script = lambda rendered: OK
    world.batch()
    world.submit()
    world.create()
    world.process()
    (row,) = seen("vStatus")

    assert (row["Status"], row["LastComplete_id"]) == ("idle", 1)
    assert row["LastCompleteTime"] < row["LastCompleteTimeLocal"]


def test_a_word_in_any_letter_case_is_shown_in_lower_case(
    world: World, seen: Callable[..., list[dict[str, Any]]]
) -> None:
    world.batch()
    world.submit(Status="Rejected")

    assert [row["Status"] for row in seen("vInbox")] == ["rejected"]


TAGS = (
    ("Écluse,  x ,y", "x"),
    ("a \t,\n\u00a0 x \u3000, b", " x\t"),
    (" x ", "X"),
    ("x,y", "x,y"),
    ("x y,z", "x"),
    ("x  y", "x y"),
    ('q"u\\o,t', 'Q"u\\o'),
    ("a,,b", " "),
    ("one, x y", "x y"),
)


def test_a_tag_is_what_the_engine_takes_for_one(world: World, seen: Callable[..., list[dict[str, Any]]]) -> None:
    world.batch(steps=1)
    world.submit()
    world.create()
    world.sql("INSERT INTO BatchFreeze (Tag, Reason) VALUES ('x', 'stock')")
    for tags, tag in TAGS:
        world.sql("UPDATE ProcessBatch SET Tags = ?", tags)
        world.sql("UPDATE BatchFreeze SET Tag = ?", tag)
        with world.transactions.read() as connection:
            (batch,) = definitions.all_batches(connection)
        (status,), (waiting,) = seen("vStatus"), seen("vWaiting")

        found = (status["Status"], waiting["Reason"].partition(" since ")[0])
        is_frozen = freezes.holding(batch, NOW) is not None
        assert found == (("frozen", f"every batch with tag '{tag}' is frozen") if is_frozen else CLEAR), (tags, tag)


CLEAR = ("waits", "nothing holds it back")
LIMITS = ("1\n", "\t1", "\u00a01 \x1f", "0" * 17 + "1", "0" * 18 + "1", "1", "1 1", "", " ", "+1", "1.0", "x1")


def test_a_limit_is_read_as_the_engine_reads_it(world: World, seen: Callable[..., list[dict[str, Any]]]) -> None:
    world.batch(steps=1)
    world.batch("other", steps=1)
    for entity in ("B", "other"):
        world.submit(entity)
    world.create()
    world.sql("UPDATE BatchControl SET Status = 'running' WHERE BatchControl_id = 1")
    world.sql("INSERT INTO Setting (Name, Value) VALUES ('MaxConcurrent', '1')")
    world.hand.loosen()
    for value in LIMITS:
        world.sql("UPDATE Setting SET Value = ? WHERE Name = 'MaxConcurrent'", value)
        with world.transactions.read() as connection:
            limit = limits.overall(connection)
        (row,) = seen("vWaiting")

        full = "1 instances are under way, and Setting MaxConcurrent is 1"
        nothing = "Setting MaxConcurrent is 0, or no number: nothing starts"
        assert limit in {0, 1}
        assert row["Reason"] == (full if limit == 1 else nothing), repr(value)


def test_a_time_without_end_is_said_as_the_command_line_says_it(
    world: World, seen: Callable[..., list[dict[str, Any]]], control_database: ControlDatabase
) -> None:
    for name in ("B", "other"):
        world.batch(name, steps=1)
        world.submit(name)
    world.create()
    endless = "infinity" if control_database.kind == "postgresql" else "9999-12-31 23:59:59.999"
    world.hand.loosen()
    world.sql("INSERT INTO BatchFreeze (ProcessBatchName, Reason, UntilTime) VALUES ('B', 'stock', ?)", endless)
    world.sql("UPDATE BatchControl SET NextRunTime = ? WHERE BatchControl_id = 2", endless)
    names = [row[0] for row in world.sql("SELECT Reason FROM vWaiting ORDER BY BatchControl_id")]

    assert "until 9999-12-31 23:59:59 UTC, by " in names[0]
    assert names[1] == "it waits until 9999-12-31 23:59:59 UTC"


def test_what_should_have_begun_before_all_times_is_late(world: World, control_database: ControlDatabase) -> None:
    world.runner.script = lambda rendered: BAD if "of 1 " in rendered.command_text else None
    put_all_kinds(world)
    world.hand.loosen()
    first = "-infinity" if control_database.kind == "postgresql" else "0001-01-01 00:00:00.000"
    world.sql("UPDATE BatchProcessHistory SET StartTime = ? WHERE Status = 'running'", first)
    world.sql("UPDATE BatchCompletion SET z_inserted = ?", first)
    world.sql("UPDATE Schedule SET NextRunTime = ? WHERE ScheduleType = 'daily'", first)
    found = world.sql("SELECT What, LateSeconds IS NULL FROM vLate ORDER BY 1")
    is_endless = control_database.kind == "postgresql"

    assert found == [(what, is_endless) for what in ("dependency", "schedule", "step", "step")]
    assert world.sql("SELECT DISTINCT Timing FROM vRunning WHERE AlarmDuration IS NOT NULL") == [("late",)]


ODD_TIMES = {
    "sqlite": ("0001-01-01 00:00:00.000", "9999-12-31 23:59:59.999"),
    "postgresql": (
        "-infinity",
        "infinity",
        "4713-01-01 BC",
        "294276-12-31 23:59:59",
        "0001-01-01",
        "9999-12-31 23:59:59.999",
    ),
}


def test_no_time_in_any_row_makes_a_view_fail(world: World, control_database: ControlDatabase) -> None:
    world.runner.script = lambda rendered: BAD if "of 1 " in rendered.command_text else None
    put_all_kinds(world)
    world.hand.loosen()
    odd = ODD_TIMES[control_database.kind]
    world.sql(
        "INSERT INTO ZoneOffset (ZoneName, FromTime, UntilTime, OffsetSeconds) VALUES ('x', ?, ?, 86400)",
        odd[0],
        odd[1],
    )
    columns = [
        (table.name, column.name)
        for table in metadata.tables.values()
        if table.name in SHOWN
        for column in table.columns
        if isinstance(column.type, UtcTime)
    ]
    for table, column in columns:
        for at in odd:
            world.hand.sql(f"UPDATE {table} SET {column} = ?", at)
            for view in views.NAMES:
                whole = "CAST(v AS text)" if control_database.kind == "postgresql" else "*"
                world.hand.sql(f"SELECT {whole} FROM {view} v")

    assert len(columns) > 20


SHOWN = {
    *("BatchControl", "BatchCompletion", "BatchFreeze", "BatchProcessHistory", "FileProcess", "ProcessBatch"),
    *("Schedule", "ScheduleFire"),
}


def test_a_schedule_shows_what_came_of_its_last_run_and_not_that_it_fired(
    world: World, seen: Callable[..., list[dict[str, Any]]]
) -> None:
    world.batch(steps=1, OnFailure="continue")
    world.sql("INSERT INTO Schedule (ScheduleName, Entity, ScheduleType, RunTimes) VALUES ('s', 'B', 'daily', '06:00')")

    def fire(key: str) -> dict[str, Any]:
        """Let it start work, carry that out, and return how the schedule is shown."""
        intake = world.submit()
        world.sql(
            "INSERT INTO ScheduleFire (Schedule_id, FireKey, Outcome, DueTime, FileProcess_id)"
            " VALUES (1, ?, 'fired', '2026-11-21 06:00:00', ?)",
            *(key, intake),
        )
        world.create()
        (waits,) = seen("vSchedule")
        assert waits["LastOutcome"] == "waits"
        world.process()
        (row,) = seen("vSchedule")
        return row

    good = fire("1")
    started = world.one("SELECT max(StartTime) FROM BatchProcessHistory")
    assert (good["LastOutcome"], good["LastRunOK"], good["LastRunOn"]) == ("complete", 1, started)
    world.runner.script = lambda rendered: BAD
    bad = fire("2")
    assert (bad["LastOutcome"], bad["LastRunOK"]) == ("failed", 0)
    world.sql(
        "INSERT INTO ScheduleFire (Schedule_id, FireKey, Outcome, DueTime) VALUES (1, '3', 'skipped', '2026-11-22')"
    )
    (skipped,) = seen("vSchedule")
    assert (skipped["LastOutcome"], skipped["LastRunOK"]) == ("skipped", 0)


def test_what_is_late_tells_what_the_incidents_of_expected_work_tell(
    world: World, seen: Callable[..., list[dict[str, Any]]]
) -> None:
    world.batch(steps=1, z_inserted="2026-01-01 00:00:00", ArriveBy="02:00", StartBy="02:10", FinishBy="02:20")
    Alarm(world, rules(learns_arrivals=False)).duty.finish()
    awaited = ExpectedWork(rules(learns_arrivals=False))
    with world.transactions.read() as connection:
        missed = awaited.missed_now(connection, world.clock.now(), world.clock.monotonic())

    late = {row["What"]: row["Reason"] for row in seen("vLate")}
    assert late == dict(zip(("arrival", "start", "finish"), [one.message for one in missed], strict=True))
    assert late["start"] == "Batch B has not started by 02:10 UTC on Sat 2026-11-21"


def test_a_job_is_one_row_and_its_sql_is_nobodys_placeholder(
    world: World, seen: Callable[..., list[dict[str, Any]]]
) -> None:
    sql = "SELECT '{Data1}', 'it''s'"
    world.sql(JOB, "once", "wh", sql, "2030-01-01 02:00:30")
    world.sql(
        "INSERT INTO vSqlJob (JobName, ConnectionName, ScheduledSql, FirstRunOn, IsRepeatable, IsEnabled, TimeZone)"
        " VALUES ('daily', 'wh', 'SELECT 2', '2030-01-01 02:00', 1, 0, 'Europe/Amsterdam')"
    )

    jobs = {row["JobName"]: row for row in seen("vSqlJob")}
    assert (jobs["once"]["ScheduledSql"], jobs["once"]["FirstRunOn"], jobs["once"]["IsEnabled"]) == (
        *(sql, "2030-01-01 02:00:30"),
        1,
    )
    assert (jobs["daily"]["FirstRunOn"], jobs["daily"]["IsRepeatable"], jobs["daily"]["IsEnabled"]) == (
        *("2030-01-01 02:00", 1),
        0,
    )
    assert world.sql(
        "SELECT ScheduleType, RunTimes, StartDate, RunAt, CatchUp, TimeZone FROM Schedule ORDER BY 1 DESC"
    ) == [
        ("once", None, None, "2030-01-01 02:00:30", "latest", None),
        ("daily", "02:00", "2030-01-01", None, "latest", "Europe/Amsterdam"),
    ]
    assert world.sql(
        "SELECT Data2, OnFailure, Origin FROM ProcessControl JOIN ProcessBatch b USING (ProcessBatch_id)"
    ) == [
        ("SELECT '{{Data1}}', 'it''s'", "continue", "sql"),
        ("SELECT 2", "continue", "sql"),
    ]
    for values in (("x", None, "SELECT 1", "2030-01-01 02:00"), ("x", "wh", "SELECT 1", "soon")):
        with pytest.raises(world.hand.Refused):
            world.sql(JOB, *values)
    assert world.one("SELECT count(*) FROM ProcessBatch") == 2


@pytest.mark.parametrize("times", [7, 2, -1])
def test_a_job_is_repeatable_or_not(world: World, times: int) -> None:
    insert = (
        "INSERT INTO vSqlJob (JobName, ConnectionName, ScheduledSql, FirstRunOn, IsRepeatable)"
        " VALUES (?, 'wh', 'SELECT 1', '2030-01-01 02:00', ?)"
    )
    with pytest.raises(world.hand.Refused, match=r"IsRepeatable is 0 \(once\) or 1 \(daily\)"):
        world.sql(insert, "x", times)
    for name, repeatable in (("once", 0), ("daily", 1), ("neither", None)):
        world.sql(insert, name, repeatable)

    assert world.sql("SELECT ScheduleName, ScheduleType FROM Schedule ORDER BY 1") == [
        ("daily", "daily"),
        ("neither", "once"),
        ("once", "once"),
    ]
    assert world.one("SELECT count(*) FROM ProcessBatch") == 3


def test_the_code_and_the_line_of_an_error_are_columns(world: World, seen: Callable[..., list[dict[str, Any]]]) -> None:
    coded = StepOutcome(succeeded=False, message="it broke", error_code="42601", error_line=4)
    exited = StepOutcome(succeeded=False, message="exited with 3", return_code=3)
    world.batch(steps=1, OnFailure="continue", MaxConcurrent=1)
    outcomes = iter((coded, exited, OK))
    world.runner.script = lambda rendered: next(outcomes)
    for _ in range(3):
        world.submit()
        world.create()
        world.process()

    assert [(row["ErrorCode"], row["ErrorLine"]) for row in seen("vHistory")] == [
        ("42601", 4),
        ("3", None),
        (None, None),
    ]
    assert [(row["ErrorCode"], row["ErrorLine"]) for row in seen("vFailed")] == [("42601", 4), ("3", None)]


def test_a_schedule_of_no_calendar_and_one_that_starts_nothing_are_not_said_to_be_in_order(
    world: World, seen: Callable[..., list[dict[str, Any]]]
) -> None:
    for name, calendar in (("payday", "NLX"), ("daily", None), ("off", "NLX")):
        world.sql(
            "INSERT INTO Schedule (ScheduleName, Entity, ScheduleType, RunTimes, CalendarName, Enabled)"
            " VALUES (?, 'E', 'daily', '06:00', ?, ?)",
            name,
            calendar,
            int(name != "off"),
        )
    world.sql(
        "INSERT INTO Incident (Kind, IncidentKey, Status, Severity, Subject, Message, OpenedTime, LastSeen)"
        " VALUES ('not_starting', 'k', 'open', 'error', 'schedule daily', 'no', '2026-01-01', '2026-01-01')"
    )

    assert {row["ScheduleName"]: (row["Status"], row["NextSql"]) for row in seen("vSchedule")} == {
        "payday": ("unreadable", "UPDATE Schedule SET CalendarName = ... WHERE ScheduleName = 'payday';"),
        "daily": ("starts nothing", "SELECT * FROM Incident WHERE Incident_id = 1;"),
        "off": ("disabled", "UPDATE Schedule SET Enabled = 1 WHERE ScheduleName = 'off';"),
    }


@pytest.mark.parametrize(
    ("status", "next_sql"),
    [
        ("ready", "SELECT * FROM vWaiting WHERE BatchControl_id = 1;"),
        ("running", "SELECT * FROM vRunning WHERE BatchControl_id = 1;"),
        ("paused", "INSERT INTO OperatorRequest (Action, BatchControl_id, Reason) VALUES ('resume', 1, '...');"),
        ("failed", "SELECT * FROM vFailed WHERE BatchControl_id = 1;"),
        ("complete", "SELECT * FROM vHistory WHERE BatchControl_id = 1;"),
        (None, "INSERT INTO FileProcess (Entity, CycleKey, FileName) VALUES ('up''s', 'k', ...);"),
    ],
)
def test_a_wait_goes_on_to_what_moves_the_upstream(
    world: World, seen: Callable[..., list[dict[str, Any]]], status: str | None, next_sql: str
) -> None:
    for name in ("up's", "other", "down"):
        world.batch(name, steps=1)
    world.sql("INSERT INTO BatchDependency (ProcessBatch_id, DependsOnBatch_id) VALUES (3, 1), (3, 2)")
    if status is not None:
        world.submit("up's", CycleKey="k")
        world.create()
        world.sql("UPDATE BatchControl SET Status = ?", status)
    world.submit("other", CycleKey="k")
    world.create()
    world.sql(
        "INSERT INTO BatchCompletion (ProcessBatch_id, DependsOnBatch_id, BatchControl_id, CycleKey)"
        " VALUES (3, 2, (SELECT MAX(BatchControl_id) FROM BatchControl), 'k')"
    )

    (waits,) = [row for row in seen("vWaiting") if row["Status"] == "dependency"]
    assert waits["NextSql"] == next_sql
    (down,) = seen("vStatus", "ProcessBatchName = 'down'")
    assert (down["Status"], down["NextSql"]) == ("waits", "SELECT * FROM vWaiting WHERE ProcessBatchName = 'down';")


def test_what_keeps_a_batch_from_starting_is_shown_with_what_mends_it(
    world: World, seen: Callable[..., list[dict[str, Any]]]
) -> None:
    world.batch("Odd's", steps=1, Populator="gone")
    world.batch("fine", steps=1)
    world.hand.loosen()
    world.sql("UPDATE ProcessControl SET MaxLost = -1 WHERE ProcessBatch_id = 1")
    world.sql("UPDATE ProcessBatch SET RetryCount = -1, Seq = 7 WHERE ProcessBatch_id = 1")
    world.sql(
        "INSERT INTO Controller (ControllerName, Host, ProcessTypes, Populators) VALUES ('c', 'h', 'told', 'pattern')"
    )
    world.sql("INSERT INTO BatchFreeze (ProcessBatchName, Reason, UntilTime) VALUES ('fine', 'why', '2999-01-01')")
    world.sql("INSERT INTO BatchFreeze (Reason, Actor) VALUES ('all', 'anna')")

    unreadable = [
        (row["TableName"], row["ColumnName"], row["ProcessBatch_id"], row["Reason"]) for row in seen("vUnreadable")
    ]
    assert unreadable == [
        ("ProcessBatch", "RetryCount", 1, "ProcessBatch 1 (Odd's) cannot be read: RetryCount holds nonsense"),
        ("ProcessControl", "MaxLost", 1, "ProcessControl 1 cannot be read: MaxLost holds nonsense"),
    ]
    (lacking,) = seen("vNotInstalled")
    assert (lacking["ProcessControlSeq"], lacking["Reason"]) == (
        -1,
        "ProcessBatch (Odd's): Populator 'gone' is not installed",
    )
    assert [(row["ProcessBatchName"], row["BatchFreeze_id"], row["Scope"]) for row in seen("vFrozen")] == [
        ("Odd's", 2, "everything"),
        ("fine", 2, "everything"),
    ], "the one that lasts longest"
    for text in [row["NextSql"] for row in seen("vUnreadable")]:
        world.sql(text)
    assert seen("vUnreadable") == []


def test_who_keeps_rows_locked_is_said_of_what_waits_for_them_as_long_as_a_controller_lives(
    world: World, seen: Callable[..., list[dict[str, Any]]]
) -> None:
    for name in ("A", "B it's", "C"):
        world.batch(name, steps=1)
        world.submit(name)
    world.create()
    locked = {"batch B it's": "it is locked by session 7; to end it: SELECT 7", "BatchControl 1": "session 8 does it"}
    world.sql(
        "INSERT INTO Controller (ControllerName, Host, OrphanTimeoutSecs, Trouble) VALUES ('c1', 'h', 60, ?)",
        locked_rows.failure_of(locked),
    )
    found = {row["BatchControl_id"]: (row["Reason"], row["NextSql"]) for row in seen("vWaiting")}
    world.sql("UPDATE Controller SET Heartbeat = ?", "2026-01-01 00:00:00.000")
    later = {row["Reason"] for row in seen("vWaiting")}

    nothing = "nothing holds it back"
    assert found[1] == ("BatchControl 1: session 8 does it", "SELECT * FROM Controller;")
    assert found[2] == ("batch B it's: it is locked by session 7", "SELECT 7;")
    assert found[3] == (nothing, "SELECT * FROM vRunning;")
    assert later == {nothing}


HARD = ["Loads", "Loads | EU", "Loads: x", 'O\'Brien "q" | batch Loads: x', "a; to end it: SELECT 0 Next: b"]
"""Names that hold what stands between what is said of one thing and of the next."""


@pytest.mark.parametrize("name", HARD)
def test_each_lock_is_said_of_what_it_keeps_with_the_statement_that_ends_it(
    world: World, seen: Callable[..., list[dict[str, Any]]], name: str
) -> None:
    for each in HARD:
        world.batch(each, steps=1)
        world.submit(each)
    world.create()
    session = "it is locked by session 8 (a | batch Loads: b; to end it: SELECT 0); to end it: SELECT 8"
    failure = locked_rows.failure_of({"BatchControl 99": "session 7; to end it: SELECT 7", f"batch {name}": session})
    world.sql(
        "INSERT INTO Controller (ControllerName, Host, OrphanTimeoutSecs, Trouble) VALUES ('c1', 'h', 60, ?)", failure
    )
    by_view = {row["ProcessBatchName"]: row["NextSql"] for row in seen("vWaiting") if "locked" in row["Reason"]}
    found = {each: locked_rows.message_about(failure, [f"batch {each}"]) for each in HARD}

    assert by_view == {name: "SELECT 8;"}
    assert {each: said[1] for each, said in found.items() if said is not None} == {name: "SELECT 8"}
    assert str(failure).endswith(" Next: batchctl status"), "no session is ended for what another one keeps"


def test_who_keeps_a_new_row_or_its_batch_locked_is_said_of_it(
    world: World, seen: Callable[..., list[dict[str, Any]]]
) -> None:
    world.batch("A", steps=1)
    for _ in range(12):
        world.submit("A")
    locked = {"FileProcess 1": "locked by session 7; to end it: SELECT 7", "FileProcess 2": "locked by another program"}
    world.sql(
        "INSERT INTO Controller (ControllerName, Host, OrphanTimeoutSecs, Trouble) VALUES ('c1', 'h', 60, ?)",
        locked_rows.failure_of(locked),
    )

    found = [(row["Reason"], row["NextSql"]) for row in seen("vInbox")]
    assert found[:2] == [
        ("FileProcess 1: locked by session 7", "SELECT 7;"),
        ("FileProcess 2: locked by another program", "SELECT * FROM Controller;"),
    ]
    assert set(found[2:]) == {("no controller has looked at it yet", "SELECT * FROM Controller;")}


def test_pools_say_who_serves_them_and_what_keeps_them_closed(
    world: World, seen: Callable[..., list[dict[str, Any]]]
) -> None:
    world.sql("INSERT INTO Pool (PoolName, MaxConcurrent) VALUES ('ssis', 1), ('it''s', NULL)")
    batch_id = world.batch(steps=0, MaxConcurrent=3, Pool="It's ")
    world.step(batch_id, 10, Pool=" SSIS")
    world.step(batch_id, 20)
    for _ in range(2):
        world.submit()
    world.create()
    world.sql("INSERT INTO Controller (ControllerName, Host, Heartbeat) VALUES ('c1', 'h1', '2026-11-28 02:10:00')")
    reasons = {row["PoolName"]: row["Reason"] for row in seen("vPools")}
    assert reasons == {
        "default": None,
        "it's": "no controller serves pool it's (and none ever did)",
        "ssis": "no controller serves pool ssis (and none ever did)",
    }
    assert {row["Reason"] for row in seen("vWaiting")} == {reasons["ssis"]}

    world.sql("INSERT INTO ControllerPool (Controller_id, PoolName) VALUES (1, 'ssis')")
    world.sql("UPDATE Controller SET Status = 'stopped'")
    assert (
        seen("vWaiting")[0]["Reason"] == "no controller serves pool ssis (the last was on h1, 2026-11-28 02:10:00 UTC)"
    )
    world.sql("UPDATE Controller SET Status = 'running'")
    assert {row["Reason"] for row in seen("vWaiting")} == {"nothing holds it back"}
    (default,) = seen("vPools", "PoolName = 'default'")
    assert default["Reason"] == "no controller serves pool default (and none ever did)", "one runs, for another pool"

    world.sql("INSERT INTO Drain (PoolName, Reason, Actor) VALUES ('SSIS', 'hangs', 'anna')")
    (row, _) = seen("vWaiting")
    assert row["Reason"] == "pool ssis is drained by anna: hangs"
    world.sql(row["NextSql"].replace("...", "'it hangs no more'"))
    assert world.sql("SELECT Action, Arguments FROM OperatorRequest") == [("undrain", '{"pool": "ssis"}')]
    world.sql("DELETE FROM OperatorRequest")
    world.sql("UPDATE Drain SET UndrainedTime = z_inserted")
    world.sql("UPDATE Pool SET Enabled = 0 WHERE PoolName = 'ssis'")
    (row, _) = seen("vWaiting")
    assert row["Reason"] == "pool ssis is disabled"
    world.sql(row["NextSql"])
    world.sql("INSERT INTO Drain (Host, Reason, Actor) VALUES ('H1', 'patches', 'anna')")
    (ssis,) = seen("vPools", "PoolName = 'ssis'")
    assert (ssis["Serving"], ssis["Reason"]) == (0, "pool ssis is served only by drained hosts: H1 by anna: patches")
    (row, _) = seen("vWaiting")
    assert row["Reason"] == ssis["Reason"]
    world.sql(row["NextSql"].replace("...", "'patched'"))
    assert world.sql("SELECT Action, Arguments FROM OperatorRequest") == [("undrain", '{"host": "H1"}')]
    world.sql("DELETE FROM OperatorRequest")
    world.sql("INSERT INTO Controller (ControllerName, Host, Heartbeat) VALUES ('c2', 'h2', '2026-11-28 02:10:00')")
    world.sql("INSERT INTO ControllerPool (Controller_id, PoolName) VALUES (2, 'ssis')")
    assert seen("vPools", "PoolName = 'ssis'")[0]["Reason"] is None, "another host serves it"
    world.sql("DELETE FROM ControllerPool WHERE Controller_id = 2")
    world.sql("DELETE FROM Controller WHERE Controller_id = 2")
    world.sql("UPDATE Drain SET UndrainedTime = z_inserted")

    world.runner.script = lambda rendered: RUNS_ON
    world.turn_until_idle(world.controller("c1", pools=["ssis"], slots=2))
    assert [row["PoolName"] for row in seen("vRunning")] == ["ssis"]
    (row,) = seen("vWaiting")
    assert row["Reason"] == "1 instances have a step of pool ssis under way, its MaxConcurrent"
    assert row["NextSql"] == "SELECT * FROM vRunning;"
