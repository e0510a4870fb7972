"""What nobody could read or miss is refused by the database; the seed's word for success is taken and written as ours."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing, nullcontext

import pytest

from batchctl.domain.status import FINAL, InstanceStatus, InstanceVerb
from tests.control.world import World
from tests.control_databases import ControlDatabase, PostgresControl, SqliteControl
from tests.hand import Hand, unfit
from tests.transitions import sources

MOVING = (
    "REPLACE INTO ProcessControl (ProcessControl_id, ProcessBatch_id, ProcessControlSeq, ProcessName, ProcessType)"
    " SELECT ProcessControl_id, ProcessBatch_id, 20, ProcessName, ProcessType FROM ProcessControl"
)
BATCH = "INSERT INTO ProcessBatch (ProcessBatchName) VALUES ('Load')"
STEP = (
    "INSERT INTO ProcessControl (ProcessBatch_id, ProcessControlSeq, ProcessName, ProcessType)"
    " SELECT ProcessBatch_id, 10, 'load', 'sql' FROM ProcessBatch"
)
INTAKE = "INSERT INTO FileProcess (Entity) VALUES ('Load')"
INSTANCE = "INSERT INTO BatchControl (ProcessBatch_id, FileProcess_id) SELECT ProcessBatch_id, 1 FROM ProcessBatch"
RUNNING = (
    "INSERT INTO BatchProcessHistory (BatchControl_id, ProcessBatch_id, ProcessControlSeq, ProcessName, ProcessType,"
    " CommandText) SELECT 1, ProcessBatch_id, 10, 'load', 'sql', 'SELECT 1' FROM ProcessBatch"
)
DAILY = (
    "INSERT INTO Schedule (ScheduleName, Entity, ScheduleType, RunTimes{0}) VALUES ('s', 'Load', 'daily', '06:00'{1})"
)
OTHERS = {
    "Schedule": DAILY.format("", ""),
    "Calendar": "INSERT INTO Calendar (CalendarName) VALUES ('NL')",
    "CalendarDay": "INSERT INTO CalendarDay (Calendar_id, CalendarDate) VALUES (1, '2026-12-25')",
    "DataTrigger": (
        "INSERT INTO DataTrigger (TriggerName, Entity, ConnectionName, TableName, StatusColumn, PendingValue, OnNewRows)"
        " VALUES ('t', 'Load', 'c', 'Orders', 'Status', 'new', 1)"
    ),
    "FileWatch": "INSERT INTO FileWatch (WatchName, Entity, Folder) VALUES ('w', 'Load', '/in')",
    "BatchDependency": "INSERT INTO BatchDependency (ProcessBatch_id, DependsOnBatch_id) VALUES (1, 2)",
}
TIMES = ("25:00", "6:00", "24:00", "06:60", "06:00,", "06:00;18:00", "06:00,25:00", "at six", "")
REFUSED = [
    *(("ProcessBatch", "ProcessingMode", value) for value in ("sheduled", "")),
    *(("ProcessBatch", "RetryWaitSecs", value) for value in (-1, 31_536_001)),
    *(("ProcessBatch", column, "") for column in ("Entity", "Populator")),
    *(("ProcessBatch", column, value) for column in ("ArriveBy", "StartBy", "FinishBy") for value in ("25:00", "soon")),
    *(("ProcessBatch", "ExpectedOn", value) for value in ("Monday", "Mon,,Tue")),
    *(("ProcessControl", "ProcessType", value) for value in ("", " ", "task\t", "\u00a0task", "tas\u212a", "sql\n")),
    *(("ProcessControl", "MaxLost", value) for value in (-1, 1001)),
    *(("Schedule", "RunTimes", value) for value in TIMES),
    *(("Schedule", "BetweenTimes", value) for value in ("09:00", "09:00-25:00", "9-17")),
    *(("Schedule", "RunDays", value) for value in ("Monday", "Mon;Tue", "Mon-")),
    *(("Schedule", "WeekOfMonth", value) for value in ("sixth", "first,")),
    *(("Schedule", column, value) for column in ("StartDate", "EndDate") for value in ("2026-13-01", "1.12.2026")),
    *(("Calendar", column, "tomorrow") for column in ("ValidFrom", "ValidUntil")),
    ("Calendar", "BusinessDays", "weekdays"),
    ("CalendarDay", "CalendarDate", "2026-14-01"),
    *(("DataTrigger", column, "") for column in ("ConnectionName", "TableName", "StatusColumn")),
    ("FileWatch", "Folder", ""),
    ("BatchDependency", "DependsOnBatch_id", 1),
]
TAKEN = [
    *(("ProcessBatch", "ProcessingMode", value) for value in ("Scheduled", None)),
    *(("ProcessBatch", "ArriveBy", value) for value in ("None", " 06:00 ", None)),
    *(("ProcessBatch", "ExpectedOn", value) for value in ("mon-fri", "Mon, Wed-Fri, SUN")),
    *(("ProcessControl", "MaxLost", value) for value in (0, 1000)),
    *(("ProcessControl", "ProcessType", value) for value in (" TASK ", "my_type", "My type-2.0")),
    *(("Schedule", "RunTimes", value) for value in ("00:00", " 06:00 , 23:59", "06:00,18:00")),
    ("Schedule", "BetweenTimes", "22:00 - 06:00"),
    ("Schedule", "WeekOfMonth", "first,Last"),
    ("Schedule", "StartDate", "2026-12-31"),
    ("Calendar", "BusinessDays", ""),
]


@pytest.fixture
def filled(hand: Hand) -> Hand:
    """Return a database with a batch and what may start it."""
    for statement in (BATCH, STEP, BATCH.replace("Load", "Other"), *OTHERS.values()):
        hand.sql(statement)
    return hand


@pytest.mark.parametrize(("table", "column", "value"), REFUSED)
def test_what_nobody_could_read_is_refused(filled: Hand, table: str, column: str, value: object) -> None:
    before = filled.dump()

    with pytest.raises(filled.Refused, match=unfit(table, column, r"\w*")):
        filled.sql(f"UPDATE {table} SET {column} = ? WHERE {table}_id = 1", value)

    assert filled.dump() == before


@pytest.mark.parametrize(("table", "column", "value"), TAKEN)
def test_what_the_engine_reads_is_taken(filled: Hand, table: str, column: str, value: object) -> None:
    filled.sql(f"UPDATE {table} SET {column} = ? WHERE {table}_id = 1", value)

    assert len(filled.sql(f"SELECT {column} FROM {table} WHERE {table}_id = 1")) == 1


@pytest.mark.parametrize("at", ["2026-11-21 25:00", "21-11-2026 03:15", "2026-11-21"])
def test_a_single_time_that_is_none_is_refused(hand: Hand, at: str) -> None:
    once = "INSERT INTO Schedule (ScheduleName, Entity, ScheduleType, RunAt) VALUES ('o', 'Load', 'once', ?)"
    with pytest.raises(hand.Refused, match=unfit("Schedule", "RunAt", "_Form")):
        hand.sql(once, at)
    hand.sql(once, "2026-11-21 03:15")
    assert hand.sql("SELECT RunAt FROM Schedule") == [("2026-11-21 03:15",)]


@pytest.mark.parametrize("time", ["infinity", "-infinity", "10000-01-01", "4000-01-01 BC"])
@pytest.mark.parametrize(
    ("table", "column"),
    [
        *(("Schedule", column) for column in ("NextRunTime", "DecidedUntil", "z_updated")),
        *(("DataTrigger", "LastFired"), ("FileWatch", "UnreachableSince"), ("ProcessBatch", "z_inserted")),
        *(("BatchFreeze", "UntilTime"), ("FileProcess", "z_inserted"), ("BatchControl", "NextRunTime")),
    ],
)
def test_a_time_that_is_no_day_of_the_calendar_is_refused(
    postgres_database: PostgresControl, table: str, column: str, time: str
) -> None:
    with closing(postgres_database.hand()) as hand:
        for statement in (BATCH, STEP, *OTHERS.values(), INTAKE, INSTANCE) if table != "BatchFreeze" else (BATCH,):
            if "BatchDependency" not in statement:
                hand.sql(statement)
        hand.sql("INSERT INTO BatchFreeze (Reason) VALUES ('stock')")

        with pytest.raises(hand.Refused, match=f"CK_{table}_{column}"):
            hand.sql(f"UPDATE {table} SET {column} = ?::timestamp", time)
        hand.sql(f"UPDATE {table} SET {column} = '9999-12-31 23:59:59.999'")


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        (
            "UPDATE vSqlJob SET ScheduledSql = 'SELECT 2' WHERE JobName = 'tidy'",
            "schedule set-sql NAME --sql ... --connection ... --reason",
        ),
        ("UPDATE vSqlJob SET IsEnabled = 0", "UPDATE Schedule SET RunAt"),
        ("DELETE FROM vSqlJob WHERE JobName = 'tidy'", "batchctl schedule remove NAME --reason"),
    ],
)
def test_who_changes_the_view_of_jobs_is_told_how_a_job_is_changed(hand: Hand, statement: str, said: str) -> None:
    hand.sql(
        "INSERT INTO vSqlJob (JobName, ConnectionName, ScheduledSql, FirstRunOn)"
        " VALUES ('tidy', 'shop', 'SELECT 1', '2030-01-02 03:00')"
    )
    before = hand.dump()

    with pytest.raises(hand.Refused, match=re.escape(said)):
        hand.sql(statement)

    assert hand.dump() == before


@pytest.fixture
def careless(control_database: ControlDatabase) -> Iterator[Hand]:
    """Return a client as a shell is: on SQLite without foreign keys."""
    with closing(control_database.hand()) as hand:
        if control_database.kind == "sqlite":
            hand.sql("PRAGMA foreign_keys = OFF")
        yield hand


@pytest.mark.parametrize(
    ("first", "taken"),
    [
        ("2030-01-02 02:15", True),
        ("2030-01-02T02:15:00", True),
        ("2030-01-02 02:15:30", False),
        ("2030-01-02 02:15:00.5", False),
        ("2030-01-02 02:15Z", False),
    ],
)
def test_a_daily_job_is_due_on_the_minute(hand: Hand, first: str, taken: bool) -> None:
    job = (
        "INSERT INTO vSqlJob (JobName, ConnectionName, ScheduledSql, FirstRunOn, IsRepeatable)"
        " VALUES ('tidy', 'shop', 'SELECT 1', ?, ?)"
    )
    with nullcontext() if taken else pytest.raises(hand.Refused, match="write FirstRunOn without seconds"):
        hand.sql(job, first, 1)

    assert hand.sql("SELECT FirstRunOn FROM vSqlJob") == ([("2030-01-02 02:15",)] if taken else [])
    assert hand.sql("SELECT count(*) FROM ProcessBatch") == [(int(taken),)]


@pytest.mark.parametrize("daily", [0, 1])
@pytest.mark.parametrize(
    ("column", "value", "said"),
    [
        ("JobName", None, "a job needs JobName, ConnectionName, ScheduledSql and FirstRunOn"),
        ("FirstRunOn", None, "a job needs JobName, ConnectionName, ScheduledSql and FirstRunOn"),
        ("JobName", " ", "JobName is empty"),
        ("JobName", "taken", "there is a batch or a schedule of this JobName already"),
        ("FirstRunOn", "tomorrow", "FirstRunOn is a time, such as 2026-12-01 02:15"),
        ("FirstRunOn", "2030-13-02 02:15", "FirstRunOn is a time, such as 2026-12-01 02:15"),
        ("IsEnabled", 7, "IsEnabled is 0 or 1"),
    ],
)
def test_what_is_wrong_with_a_job_is_said_of_the_columns_of_its_view(
    hand: Hand, column: str, value: object, said: str, daily: int
) -> None:
    hand.sql("INSERT INTO ProcessBatch (ProcessBatchName) VALUES ('taken')")
    job: dict[str, object] = {
        "JobName": "tidy",
        "ConnectionName": "shop",
        "ScheduledSql": "SELECT 1",
        "FirstRunOn": "2030-01-02 02:15",
    }
    job |= {"IsRepeatable": daily, "IsEnabled": 1, column: value}
    before = hand.dump()

    with pytest.raises(hand.Refused, match=f"batchctl: {said}"):
        hand.sql(f"INSERT INTO vSqlJob ({', '.join(job)}) VALUES (?, ?, ?, ?, ?, ?)", *job.values())
    assert hand.dump() == before

    hand.sql(f"INSERT INTO vSqlJob ({', '.join(job)}) VALUES ('tidy', 'shop', 'x', '2030-01-02 02:15', ?, 0)", daily)
    assert hand.sql("SELECT JobName, IsEnabled FROM vSqlJob") == [("tidy", 0)]


def test_a_job_that_runs_once_keeps_its_seconds(hand: Hand) -> None:
    hand.sql(
        "INSERT INTO vSqlJob (JobName, ConnectionName, ScheduledSql, FirstRunOn)"
        " VALUES ('tidy', 'shop', 'SELECT 1', '2030-01-02 02:15:30')"
    )

    assert hand.sql("SELECT FirstRunOn, IsRepeatable FROM vSqlJob") == [("2030-01-02 02:15:30", 0)]


def test_what_keeps_a_row_names_cancel_only_where_that_is_possible(sqlite_database: SqliteControl) -> None:
    possible = (sources(InstanceVerb.REQUEST_CANCEL) | sources(InstanceVerb.CANCEL)) - {InstanceStatus.CANCELLING}
    assert set(InstanceStatus) - possible == {*FINAL, InstanceStatus.CANCELLING}
    with closing(sqlite_database.hand()) as careless:
        careless.sql("PRAGMA foreign_keys = OFF")
        for statement in (BATCH, STEP, INTAKE, INSTANCE, RUNNING):
            careless.sql(statement)

        for table in ("FileProcess", "BatchControl"):
            with pytest.raises(
                careless.Refused, match=r"batchctl cancel ID --reason \.\.\. unless it is over or being cancelled"
            ):
                careless.sql(f"DELETE FROM {table}")
        with pytest.raises(careless.Refused, match="unless it is being cancelled already: batchctl cancel ID"):
            careless.sql("DELETE FROM ProcessControl")


def test_a_batch_or_a_row_with_instances_is_not_deleted(careless: Hand) -> None:
    for statement in (BATCH, STEP, INTAKE, INSTANCE):
        careless.sql(statement)

    for table, said in (("ProcessBatch", "BatchControl has rows of this"), ("FileProcess", "has instances")):
        with pytest.raises(careless.Refused, match=f"(?i){said}|foreign key"):
            careless.sql(f"DELETE FROM {table}")
    careless.sql("DELETE FROM BatchControl")
    careless.sql("DELETE FROM FileProcess")
    with pytest.raises(careless.Refused, match=r"(?i)ProcessControl has rows of this|foreign key"):
        careless.sql("DELETE FROM ProcessBatch")
    careless.sql("DELETE FROM ProcessControl")
    careless.sql("DELETE FROM ProcessBatch")

    assert careless.sql("SELECT count(*) FROM ProcessBatch") == [(0,)]


def test_a_step_that_runs_is_neither_deleted_nor_moved(careless: Hand) -> None:
    for statement in (BATCH, STEP, INTAKE, INSTANCE, RUNNING):
        careless.sql(statement)

    for change in ("DELETE FROM ProcessControl", "UPDATE ProcessControl SET ProcessControlSeq = 20"):
        with pytest.raises(careless.Refused, match="is a step that runs at this moment"):
            careless.sql(change)
    careless.sql("UPDATE ProcessControl SET ProcessName = 'renamed', ProcessControlSeq = 10")
    careless.sql("UPDATE BatchProcessHistory SET Status = 'success', EndTime = StartTime")
    careless.sql("UPDATE ProcessControl SET ProcessControlSeq = 20")
    careless.sql("DELETE FROM ProcessControl")

    assert careless.sql("SELECT count(*) FROM ProcessControl") == [(0,)]


def test_an_instance_that_has_run_is_not_deleted(careless: Hand) -> None:
    """It would be made anew of its row, and what it did done again."""
    for statement in (BATCH, STEP, INTAKE, INSTANCE, RUNNING):
        careless.sql(statement)

    with pytest.raises(careless.Refused, match=r"(?i)has attempts|foreign key"):
        careless.sql("DELETE FROM BatchControl")
    careless.sql("DELETE FROM BatchProcessHistory")
    careless.sql("DELETE FROM BatchControl")

    assert careless.sql("SELECT count(*) FROM BatchControl") == [(0,)]


def test_steps_are_not_emptied_out_while_one_of_them_runs(postgres_database: PostgresControl) -> None:
    with closing(postgres_database.hand()) as hand:
        for statement in (BATCH, STEP, INTAKE, INSTANCE, RUNNING):
            hand.sql(statement)

        with pytest.raises(hand.Refused, match="is a step that runs at this moment"):
            hand.sql("TRUNCATE ProcessControl CASCADE")
        hand.sql("UPDATE BatchProcessHistory SET Status = 'success', EndTime = StartTime")
        hand.sql("TRUNCATE ProcessControl CASCADE")

        assert hand.sql("SELECT count(*) FROM ProcessControl") == [(0,)]


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        (
            "REPLACE INTO ProcessBatch (ProcessBatchName) VALUES ('Load')",
            "have rows of this definition, which a REPLACE would",
        ),
        ("UPDATE ProcessBatch SET ProcessBatch_id = 99", "go by its number"),
        (
            MOVING,
            "the step runs, which a REPLACE would move",
        ),
        (
            "REPLACE INTO FileProcess (FileProcess_id, Entity, Status) VALUES (1, 'Load', 'paused')",
            "the row has instances|a REPLACE forgets how the FileProcess row stands",
        ),
        ("REPLACE INTO FileProcess (FileProcess_id, Entity) VALUES (1, 'Load')", "forgets how the FileProcess row"),
        (
            "REPLACE INTO BatchControl (BatchControl_id, ProcessBatch_id, FileProcess_id) VALUES (1, 1, 1)",
            "forgets how the BatchControl row stands",
        ),
        (
            "INSERT OR REPLACE INTO BatchControl (ProcessBatch_id, FileProcess_id) VALUES (1, 1)",
            "forgets how the BatchControl row stands",
        ),
    ],
)
def test_no_replace_takes_a_row_from_its_work(sqlite_database: SqliteControl, statement: str, said: str) -> None:
    with closing(sqlite_database.hand()) as careless:
        careless.sql("PRAGMA foreign_keys = OFF")
        for each in (BATCH, STEP, INTAKE, INSTANCE, RUNNING):
            careless.sql(each)
        careless.sql(
            "INSERT INTO BatchVersion (ProcessBatch_id, ProcessBatchName, DefVersion, Fingerprint, Content)"
            " SELECT ProcessBatch_id, ProcessBatchName, 1, 'x', '{}' FROM ProcessBatch"
        )
        before = careless.dump()

        with pytest.raises(careless.Refused, match=said):
            careless.sql(statement)

        assert careless.dump() == before


@pytest.mark.parametrize("recursive", ["ON", "OFF"])
def test_what_leaves_a_row_of_work_where_it_is_is_no_replace(sqlite_database: SqliteControl, recursive: str) -> None:
    with closing(sqlite_database.hand()) as hand:
        hand.sql(f"PRAGMA recursive_triggers = {recursive}")
        for each in (BATCH, INTAKE, INTAKE, INSTANCE):
            hand.sql(each)
        before = hand.dump()
        hand.sql("INSERT OR IGNORE INTO BatchControl (ProcessBatch_id, FileProcess_id) VALUES (1, 1)")
        hand.sql("INSERT INTO FileProcess (FileProcess_id, Entity) VALUES (2, 'x') ON CONFLICT DO NOTHING")
        hand.sql("DELETE FROM FileProcess WHERE FileProcess_id = 2")
        hand.sql("INSERT INTO FileProcess (FileProcess_id, Entity) VALUES (2, 'Load')")

        assert [row[:2] for row in hand.sql("SELECT FileProcess_id, Entity FROM FileProcess")] == [
            (1, "Load"),
            (2, "Load"),
        ]
        assert hand.sql("SELECT count(*) FROM BatchControl") == [(1,)]
        assert hand.sql("SELECT count(*) FROM batchctl_replaced WHERE TableName = 'FileProcess'") == [(0,)]
        assert before["BatchControl"] == hand.dump()["BatchControl"]


def test_registering_once_more_is_no_replace(sqlite_database: SqliteControl) -> None:
    with closing(sqlite_database.hand()) as careless:
        for each in (BATCH, STEP, INTAKE, INSTANCE, RUNNING):
            careless.sql(each)
        careless.sql("INSERT OR IGNORE INTO ProcessBatch (ProcessBatchName) VALUES ('Load')")
        careless.sql(
            "INSERT INTO ProcessBatch (ProcessBatchName, Description) VALUES ('Load', 'anew')"
            " ON CONFLICT (ProcessBatchName) DO UPDATE SET Description = excluded.Description"
        )
        careless.sql("INSERT INTO ProcessBatch (ProcessBatchName) VALUES ('C')")

        assert careless.sql("SELECT ProcessBatchName, Description FROM ProcessBatch ORDER BY 1") == [
            ("C", None),
            ("Load", "anew"),
        ]


@pytest.mark.parametrize("word", ["success", "Success", "SUCCESS"])
def test_the_seeds_word_for_success_is_written_as_ours(careless: Hand, word: str) -> None:
    careless.sql(BATCH)
    careless.sql("INSERT INTO FileProcess (Entity, Status) VALUES ('Load', ?)", word)
    careless.sql(INTAKE)
    careless.sql("INSERT INTO BatchControl (ProcessBatch_id, FileProcess_id, Status) VALUES (1, 1, ?)", word)
    careless.sql("INSERT INTO BatchControl (ProcessBatch_id, FileProcess_id, Status) VALUES (1, 2, 'failed')")
    assert careless.sql("SELECT Status FROM FileProcess ORDER BY 1") == [("complete",), ("ready",)]

    careless.sql("UPDATE FileProcess SET Status = ?", word)
    careless.sql("UPDATE BatchControl SET Status = ?", word)

    assert careless.sql("SELECT DISTINCT Status FROM FileProcess") == [("complete",)]
    assert careless.sql("SELECT DISTINCT Status FROM BatchControl") == [("ready",)]


def test_a_row_that_is_work_already_is_not_paused_but_its_instances_are(careless: Hand) -> None:
    for statement in (BATCH, INTAKE, INTAKE):
        careless.sql(statement)
    careless.sql(INSTANCE)

    with pytest.raises(careless.Refused, match=r"pause these \(batchctl pause ID --reason"):
        careless.sql("UPDATE FileProcess SET Status = 'Paused'")
    careless.sql("UPDATE FileProcess SET Status = 'paused' WHERE FileProcess_id = 2")
    careless.sql("UPDATE FileProcess SET Status = 'complete' WHERE FileProcess_id = 1")

    assert careless.sql("SELECT Status FROM FileProcess ORDER BY FileProcess_id") == [("complete",), ("paused",)]


@pytest.mark.parametrize("word", ["rejected", "Duplicate"])
def test_a_row_whose_work_is_not_over_is_not_set_aside_but_its_instances_are_cancelled(
    careless: Hand, word: str
) -> None:
    for statement in (BATCH, INTAKE, INTAKE):
        careless.sql(statement)
    careless.sql(INSTANCE)

    with pytest.raises(careless.Refused, match=r"cancel these \(batchctl cancel ID --reason"):
        careless.sql("UPDATE FileProcess SET Status = ?", word)
    careless.sql("UPDATE FileProcess SET Status = ? WHERE FileProcess_id = 2", word)
    careless.sql("UPDATE BatchControl SET Status = 'cancelled'")
    careless.sql("UPDATE FileProcess SET Status = ? WHERE FileProcess_id = 1", word)

    assert {status.lower() for (status,) in careless.sql("SELECT Status FROM FileProcess")} == {word.lower()}


def test_the_engine_sets_a_row_aside_that_one_of_its_batches_could_not_take(control_database: ControlDatabase) -> None:
    world = World(control_database)
    world.batch("B")
    world.batch("strict", Entity="B", Populator="none")
    world.submit("B")
    world.create()

    assert world.sql("SELECT Status FROM FileProcess") == [("rejected",)]
    assert world.statuses() == ["ready"]
    world.close()
