"""Every law is shown to fire: a sound night breaks none, and one planted row breaks just the one it should."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from batchctl.domain.outcomes import StepOutcome
from batchctl.operations.maintenance import fsck
from batchctl.store import engine, invariants
from batchctl.store.dialects import dialect_of
from batchctl.store.invariants import INVARIANTS
from batchctl.store.tables import metadata
from batchctl.store.transactions import StoreTransactions
from tests.control.world import FATAL, OK, World
from tests.control_databases import PostgresControl, SqliteControl

FAILED = StepOutcome(succeeded=False)
CLAIMED_TWICE = [
    "INSERT INTO Controller (ControllerName, Host) VALUES ('c9', 'h')",
    "INSERT INTO FileProcess (Entity, Status) VALUES ('Later', 'paused')",
    "INSERT INTO BatchControl (ProcessBatch_id, FileProcess_id) SELECT 2, max(FileProcess_id) FROM FileProcess",
    "UPDATE BatchControl SET Status = 'running', ClaimedBy = 'c9' WHERE ProcessBatch_id = 2",
]


def needed(*, units: int, exclusive: int) -> list[str]:
    """Let every instance of the second batch hold a unit of a resource."""
    return [
        f"INSERT INTO Resource (ResourceName, Units) VALUES ('R', {units})",
        f"INSERT INTO BatchResource (ProcessBatch_id, Resource_id, Exclusive) VALUES (2, 1, {exclusive})",
    ]


DEPENDS = [
    "INSERT INTO BatchDependency (ProcessBatch_id, DependsOnBatch_id) VALUES (2, 1)",
    "UPDATE FileProcess SET CycleKey = 'K' WHERE FileProcess_id < 3",
]


def completed(instance: int, started: int | None = None) -> str:
    """Let an instance of the first batch be offered to the second."""
    return (
        "INSERT INTO BatchCompletion (ProcessBatch_id, DependsOnBatch_id, BatchControl_id, CycleKey, FileProcess_id)"
        f" VALUES (2, 1, {instance}, 'K', {'NULL' if started is None else started})"
    )


def fired(outcome: str) -> str:
    """Return a statement that says what was decided about the due time, with the row that this started."""
    return (
        "INSERT INTO ScheduleFire (Schedule_id, FireKey, Outcome, DueTime, FileProcess_id, z_inserted)"
        f" VALUES (1, 'k', '{outcome}', '2026-11-21 06:00:00.000', 1, '2026-11-21 06:00:00.000')"
    )


ASKED = [
    "UPDATE BatchControl SET Status = 'paused' WHERE BatchControl_id = 3",
    (
        "INSERT INTO BatchProcessHistory (BatchControl_id, ProcessBatch_id, ProcessControlSeq, ProcessName, ProcessType,"
        " Status, CommandText) VALUES (3, 2, 10, 's', 'confirm', 'asked', '')"
    ),
    "INSERT INTO Confirmation (BatchControl_id, ProcessControlSeq, Question) VALUES (3, 10, 'now?')",
]
"""Let an instance wait for an answer."""
ANSWERED = "Answer = 'confirmed', AnsweredTime = '2026-11-21 06:00:00.000'"
INCIDENT = "INSERT INTO Incident (Kind, IncidentKey, Severity, Subject, Message) VALUES ('failed', 'k', 'error', 'B', 'it broke')"


def mail(kind: str, number: int) -> str:
    """Return a statement that makes a message about the incident."""
    return (
        "INSERT INTO AlertDelivery (Incident_id, Channel, Kind, Number, Title, Body)"
        f" VALUES (1, 'mail', '{kind}', {number}, 't', 'b')"
    )


SCHEDULED = (
    "INSERT INTO Schedule (ScheduleName, Entity, ScheduleType, RunAt, DecidedUntil)"
    " VALUES ('s', 'B', 'once', '2026-11-21 06:00', '2026-11-21 06:00:00.000')"
)
BACKFILLED = [
    (
        "INSERT INTO ScheduleBackfill (Schedule_id, FromTime, UntilTime, Actor)"
        " VALUES (1, '2026-11-01 00:00:00', '2026-11-20 00:00:00', 'anna')"
    ),
    "UPDATE ScheduleFire SET ScheduleBackfill_id = 1",
]
PLANTED = {
    "I01": ["INSERT INTO FileProcess (Entity, z_inserted, z_updated) VALUES ('B', '2026-11-21 01:00:00', '2026-11-21 01:00:00')"],
    "I02": ["UPDATE FileProcess SET Status = 'ready' WHERE FileProcess_id = 1"],
    "I03": ["DROP INDEX {live}", *["INSERT INTO BatchProcessHistory (BatchControl_id, ProcessBatch_id, ProcessControlSeq,"
            f" ProcessName, ProcessType, AttemptNo, ClaimToken, CommandText) VALUES (3, 1, 10, 's', 'told', {at}, 0, '')"
            for at in (1, 2)]],
    "I04": ["UPDATE BatchControl SET ClaimedBy = 'nobody' WHERE BatchControl_id = 3"],
    "I05": ["UPDATE BatchProcessHistory SET Status = 'running', EndTime = NULL WHERE BatchProcessHistory_id = 2"],
    "I06": ["UPDATE BatchProcessHistory SET Status = 'success' WHERE BatchControl_id = 2 AND Status = 'failed'"],
    "I07": ["UPDATE BatchProcessHistory SET Status = 'failed' WHERE BatchControl_id = 1 AND ProcessControlSeq = 10"],
    "I08": ["UPDATE BatchControl SET PrevProcessControlSeq = 10 WHERE BatchControl_id = 1"],
    "I09": ["UPDATE BatchProcessHistory SET Status = 'failed' WHERE BatchControl_id = 1 AND ProcessControlSeq = 20"],
    "I10": ["UPDATE BatchControl SET z_updated = '2026-11-20 00:00:00' WHERE BatchControl_id = 1"],
    "I11": ["UPDATE BatchProcessHistory SET EndTime = '2026-11-22 00:00:00' WHERE BatchProcessHistory_id = 1"],
    "I12": ["UPDATE BatchProcessHistory SET EndTime = NULL WHERE BatchProcessHistory_id = 2"],
    "I13": ["UPDATE BatchControl SET Status = 'odd' WHERE BatchControl_id = 3"],
    "I13h": ["UPDATE BatchProcessHistory SET Status = 'odd' WHERE BatchProcessHistory_id = 2"],
    "I14": ["UPDATE BatchProcessHistory SET AttemptNo = 3 WHERE BatchControl_id = 2 AND AttemptNo = 2"],
    "I15": ["UPDATE BatchProcessHistory SET ClaimToken = 9 WHERE BatchProcessHistory_id = 1"],
    "I16": ["UPDATE BatchProcessHistory SET RetryCountAfter = 7 WHERE Status = 'failed'"],
    "I17": ["UPDATE BatchProcessHistory SET RetryCountAfter = NULL WHERE BatchProcessHistory_id = 2"],
    "I18": ["UPDATE BatchProcessHistory SET NextRunTimeAfter = '2026-11-30 00:00:00' WHERE Status = 'failed'"],
    "I19": ["UPDATE BatchProcessHistory SET Status = 'failed' WHERE BatchControl_id = 2 AND ProcessControlSeq = 20",
            "UPDATE ProcessBatch SET RetryCount = 0"],
    "I20": ["UPDATE BatchProcessHistory SET Status = 'lost', Spawned = StartTime, Pid = 1 WHERE Status = 'failed'"],
    "I21": ["UPDATE BatchControl SET Status = 'running', ClaimedBy = 'nobody' WHERE BatchControl_id = 3"],
    "I22": [*DEPENDS, completed(1, started=1), completed(2, started=1)],
    "I23": [*DEPENDS, completed(1, started=3)],
    "I24": [SCHEDULED, fired("skipped")],
    "I25": ["INSERT INTO AuditSeal (SealNo, AuditLog_id, PrevHash, RecordHash) VALUES (2, 1, 'a', 'b')"],
    "I38": ["INSERT INTO OperatorRequest (Action, ProcessBatchName, Status) VALUES ('enable', 'B', 'done')"],
    "I26": ["UPDATE BatchProcessHistory SET Cause = 'manual' WHERE BatchProcessHistory_id = 2"],
    "I27": ["UPDATE BatchProcessHistory SET Spawned = StartTime WHERE BatchProcessHistory_id = 2"],
    "I28": ["UPDATE BatchControl SET ClaimToken = 0 WHERE BatchControl_id = 2"],
    "I41": [*CLAIMED_TWICE],
    "I42": [*CLAIMED_TWICE, "UPDATE ProcessBatch SET MaxConcurrent = 2", *needed(units=1, exclusive=0)],
    "I43": [*CLAIMED_TWICE, "UPDATE ProcessBatch SET MaxConcurrent = 2", *needed(units=2, exclusive=1)],
    "I44": ["INSERT INTO Controller (ControllerName, Host) VALUES ('c9', 'h')",
            "UPDATE BatchControl SET Status = 'running', ClaimedBy = 'c9' WHERE BatchControl_id = 3"],
    "I47": ["UPDATE BatchControl SET FileProcess_id = 99 WHERE BatchControl_id = 3"],
    "I48": [("INSERT INTO BatchProcessHistory (BatchControl_id, ProcessBatch_id, ProcessControlSeq, ProcessName, ProcessType,"
            " CommandText, Status, EndTime, RetryCountAfter) VALUES (99, 1, 10, 's', 'told', '', 'success', '2099-01-01', 0)")],
    "I49": [("INSERT INTO DurationHistory (ProcessBatch_id, ProcessControlSeq, Day, UpToMs, Runs, TotalMs, MinMs, MaxMs)"
            " VALUES (1, 10, '2026-11-21', 10, 2, 12, 5, 15)")],
    "I45": [*DEPENDS, "UPDATE BatchDependency SET z_inserted = '2026-11-01 00:00:00'", completed(1)],
    "I50": [SCHEDULED, "UPDATE Schedule SET z_inserted = '2026-11-01 00:00:00'",
            "UPDATE FileProcess SET Source = 'schedule s' WHERE FileProcess_id = 1"],
    "I51": [SCHEDULED, fired("fired")],
    "I52": [SCHEDULED, "UPDATE Schedule SET ScheduleType = 'daily', RunTimes = '06:00', RunAt = NULL", fired("fired"),
            "UPDATE ScheduleFire SET z_inserted = '2026-11-21 05:59:59.999'"],
    "I53": [SCHEDULED, fired("fired"), *BACKFILLED, "DELETE FROM Schedule"],
    "I54": [SCHEDULED, *BACKFILLED, "DELETE FROM Schedule"],
    "I55": ["UPDATE BatchProcessHistory SET EndTime = '2026-11-01 00:00:00' WHERE BatchProcessHistory_id = 1"],
    "I56": ["UPDATE FileProcess SET Data = 'orders of today' WHERE Entity = 'B'"],
    "I60": ["UPDATE BatchControl SET StepsFailed = 2 WHERE BatchControl_id = 2"],
    "I61": ['DROP INDEX "UX_Incident_Standing"', INCIDENT, INCIDENT],
    "I62": [INCIDENT, "UPDATE Incident SET Status = 'resolved'"],
    "I63": [INCIDENT, mail("recovery", 1), mail("recovery", 2)],
    "I64": [INCIDENT, mail("alert", 0), "UPDATE AlertDelivery SET Status = 'sent'"],
    "I65": [INCIDENT, mail("alert", 0), "DELETE FROM Incident"],
    "I66": ["UPDATE BatchControl SET DefVersion = 9 WHERE BatchControl_id = 3"],
    "I70": [("INSERT INTO ProcessControl (ProcessBatch_id, ProcessControlSeq, ProcessName, ProcessType)"
             " VALUES (99, 10, 's', 'told')")],
    "I71": ["INSERT INTO BatchResource (ProcessBatch_id, Resource_id) VALUES (2, 99)"],
    "I72": ["INSERT INTO BatchDependency (ProcessBatch_id, DependsOnBatch_id) VALUES (99, 2)"],
    "I73": ["INSERT INTO CalendarDay (Calendar_id, CalendarDate) VALUES (99, '2026-12-25')"],
    "I74": ["INSERT INTO FileWatchSeen (FileWatch_id, PathKey, FilePath, FileSize, ModifiedNs) VALUES (99, 'k', '/in/a', 1, 1)"],
    "I75": [("INSERT INTO DurationHistory (ProcessBatch_id, ProcessControlSeq, Day, UpToMs, Runs, TotalMs, MinMs, MaxMs)"
             " VALUES (99, 10, '2026-11-21', 10, 1, 10, 10, 10)")],
    "I76": [SCHEDULED, "UPDATE Schedule SET Enabled = 0", fired("fired"), "UPDATE ScheduleFire SET FileProcess_id = 99"],
    "I77": [*DEPENDS, completed(1), "UPDATE BatchCompletion SET ProcessBatch_id = 99"],
    "I91": ["INSERT INTO Controller (ControllerName, Host) VALUES ('c9', 'h')",
            "UPDATE BatchControl SET Status = 'running', ClaimedBy = 'c9', NextPool = 'ssis' WHERE BatchControl_id = 3",
            ("INSERT INTO BatchProcessHistory (BatchControl_id, ProcessBatch_id, ProcessControlSeq, ProcessName, ProcessType,"
            " ClaimedBy, CommandText) VALUES (3, 1, 10, 's', 'told', 'c9', '')")],
    "I92": [*CLAIMED_TWICE, "UPDATE ProcessBatch SET MaxConcurrent = 2", "UPDATE BatchControl SET NextPool = 'ssis'",
            "INSERT INTO Pool (PoolName, MaxConcurrent) VALUES ('ssis', 1)"],
    "I86": ["INSERT INTO ControllerPool (Controller_id, PoolName) VALUES (99, 'ssis')"],
    "I87": ["INSERT INTO StepOutput (BatchProcessHistory_id, Number, Text) VALUES (99, 1, 'of nothing')"],
    "I88": ["INSERT INTO Confirmation (BatchControl_id, ProcessControlSeq, Question) VALUES (99, 10, 'now?')"],
    "I89": ["INSERT INTO KeptForecast (ProcessBatch_id, MadeOn, NeedsPerson, Nights) VALUES (99, '2026-11-21', 0, 60)"],
    "I85": ["INSERT INTO Note (BatchControl_id, Text) VALUES (99, 'of nothing')"],
    "I93": ["INSERT INTO StepOutput (BatchProcessHistory_id, Number, Text) VALUES (1, 1, 'so far')"],
    "I67": ["UPDATE BatchProcessHistory SET DefVersion = 9 WHERE BatchProcessHistory_id = 1"],
    "I96": [*ASKED, "UPDATE BatchControl SET Status = 'failed' WHERE BatchControl_id = 3"],
    "I97": [*ASKED, "UPDATE BatchProcessHistory SET ProcessType = 'told' WHERE Status = 'asked'"],
    "I98": [*ASKED, f"UPDATE Confirmation SET {ANSWERED}, AnsweredBy = 'anna'"],
    "I99": [*ASKED, f"UPDATE Confirmation SET {ANSWERED}"],
}  # fmt: skip
"""What breaks each law. Some break others too, which is said beside them."""
NAMING = [
    SCHEDULED, fired("fired"), *BACKFILLED, *DEPENDS, completed(1), *needed(units=1, exclusive=0), INCIDENT, mail("alert", 0),
    *PLANTED["I49"], "INSERT INTO FileWatch (WatchName, Entity, Folder) VALUES ('w', 'B', '/in')",
    PLANTED["I74"][0].replace("99", "1"), "INSERT INTO Calendar (CalendarName) VALUES ('NL')",
    PLANTED["I73"][0].replace("99", "1"),
    "INSERT INTO Controller (ControllerName, Host) VALUES ('c8', 'h')",
    *(PLANTED[code][0].replace("99", "1") for code in ("I85", "I86", "I87", "I88", "I89")),
]  # fmt: skip
"""A row, at least, of every table that names others."""
BESIDES = {
    "I03": {"I05", "I11", "I48"},
    "I05": {"I02", "I08", "I09", "I11"},
    "I06": {"I08"},
    "I07": {"I08", "I09"},
    "I09": {"I08", "I16"},
    "I11": {"I07"},
    "I12": {"I11"},
    "I13": {"I02"},
    "I13h": {"I07", "I08", "I09"},
    "I15": {"I28"},
    "I19": {"I07", "I08", "I09", "I16"},
    "I21": {"I44"},
    "I41": {"I44"},
    "I42": {"I44"},
    "I43": {"I44"},
    "I47": {"I01"},
    "I91": {"I48"},
    "I92": {"I44"},
    "I53": {"I54", "I76"},
    "I88": {"I96", "I97"},
    "I99": {"I98"},
}


@pytest.fixture
def night(world: World) -> World:
    """Instance 1 complete at once, instance 2 after a retry; instance 3 waits."""
    world.batch(RetryCount=1, RetryWaitMins=0)
    world.sql("UPDATE ProcessControl SET z_inserted = '2026-11-01 00:00:00'")  # before the world's clock
    answers = iter([OK, OK, OK, FAILED, OK])
    world.runner.script = lambda rendered: next(answers)
    for _ in range(2):
        world.submit()
        world.create()
        world.process()
        world.clock.advance(timedelta(minutes=1))
    world.process()
    world.batch("Later", Enabled=0)
    world.submit("Later")
    world.create()
    return world


def broken(world: World) -> set[str]:
    found = fsck.examine(world.transactions, world.clock, settled_after=timedelta(0))
    return {one.code for one in found}


def test_a_sound_night_breaks_no_law(night: World) -> None:
    assert night.statuses() == ["complete", "complete", "ready"]
    assert [entry[4] for entry in night.history()] == ["success", "success", "success", "failed", "success"]
    assert broken(night) == set()


@pytest.mark.parametrize(("process_type", "breaks"), [("os_command", {"I27"}), ("told", set())])
def test_only_a_command_needs_a_process_for_a_return_code(night: World, process_type: str, breaks: set[str]) -> None:
    night.sql(
        "UPDATE BatchProcessHistory SET ReturnCode = 200, ProcessType = ? WHERE BatchProcessHistory_id = 2",
        process_type,
    )

    assert broken(night) == breaks


def test_a_failure_that_no_retry_can_mend_breaks_no_law(world: World) -> None:
    world.batch(RetryCount=2, RetryWaitMins=0)
    answers = iter([OK, FAILED, FATAL])
    world.runner.script = lambda rendered: next(answers)
    world.submit()
    world.create()
    world.process()
    world.clock.advance(timedelta(minutes=1))
    world.process()

    assert world.history()[-1][4] == "failed"
    assert broken(world) == set()


def test_steps_that_were_renumbered_behind_what_is_complete_break_no_law(night: World) -> None:
    night.sql("UPDATE ProcessControl SET ProcessControlSeq = ProcessControlSeq * 10")

    assert broken(night) == set()


def test_the_clock_of_a_host_may_differ_a_little_from_that_of_the_database(night: World) -> None:
    night.sql("UPDATE BatchProcessHistory SET StartTime = '2026-11-01 00:00:59', EndTime = '2026-11-01 00:00:00'")

    assert "I55" not in broken(night)


def test_what_a_person_has_accepted_repeats_another_on_purpose(night: World) -> None:
    night.sql(*PLANTED["I56"])
    assert broken(night) == {"I56"}

    night.sql("INSERT INTO AuditLog (Actor, Host, Action, Target) VALUES ('anna', 'h', 'accept', 'FileProcess:2')")
    assert broken(night) == set()


def test_every_law_has_a_row_that_breaks_it() -> None:
    assert set(PLANTED) == {invariant.code for invariant in INVARIANTS}


@pytest.mark.parametrize("code", PLANTED)
def test_a_planted_violation_is_found(night: World, code: str) -> None:
    night.hand.loosen()
    live = '"UX_BatchProcessHistory_Live"'
    for statement in PLANTED[code]:
        night.sql(statement.replace("{live}", live))

    found = broken(night)

    assert code in found
    assert found == {code} | (found & BESIDES.get(code, set()))


POINTING = [(table.name, column.name) for table in metadata.sorted_tables for column in table.c if column.foreign_keys]


@pytest.mark.full
@pytest.mark.parametrize(("table", "column"), POINTING)
def test_whatever_points_nowhere_is_found(night: World, table: str, column: str) -> None:
    """So that no foreign key is forgotten, which SQLite's shell does not look at."""
    night.hand.loosen()
    for statement in NAMING:
        night.sql(statement)
    before = fsck.examine(night.transactions, night.clock)
    night.sql(f"UPDATE {table} SET {column} = 99 WHERE {table}_id = 1")
    found = {*fsck.examine(night.transactions, night.clock)} - {*before}

    assert table in {one.table for one in found if one.code != fsck.READABLE}


def test_an_instance_without_its_batch_is_found_too(night: World) -> None:
    night.hand.loosen()
    night.sql("UPDATE BatchControl SET ProcessBatch_id = 99 WHERE BatchControl_id = 3")

    assert broken(night) == {"I47", "I66"}


def work_of_fsck(database: SqliteControl, attempts: int) -> int:
    """Return how many thousand instructions SQLite carries out for all laws, beside one instance tried so often."""
    hand = database.hand()
    for statement in (
        "DELETE FROM BatchProcessHistory",
        "INSERT OR IGNORE INTO ProcessBatch (ProcessBatch_id, ProcessBatchName) VALUES (1, 'B')",
        "INSERT OR IGNORE INTO FileProcess (FileProcess_id, Entity) VALUES (1, 'B')",
        "INSERT OR IGNORE INTO BatchControl (BatchControl_id, ProcessBatch_id, FileProcess_id) VALUES (1, 1, 1)",
    ):
        hand.sql(statement)
    hand.many(
        "INSERT INTO BatchProcessHistory (BatchControl_id, ProcessBatch_id, ProcessControlSeq, ProcessName, ProcessType,"
        " AttemptNo, ClaimToken, CommandText, Status, StartTime, EndTime, RetryCountAfter, NextRunTimeAfter)"
        " VALUES (1, 1, 10, 'a', 'told', ?, ?, '', 'failed', ?, ?, ?, ?)",
        ((at, at, *(f"2026-11-21 {at // 60:02}:{at % 60:02}:00.000000",) * 2, attempts - at,
          f"2026-11-21 {at // 60:02}:{at % 60:02}:00.000000") for at in range(1, attempts + 1)),
    )  # fmt: skip
    hand.close()
    opened = StoreTransactions(engine.open_engine(database.url, database.directory))
    counted = 0

    def count() -> int:
        nonlocal counted
        counted += 1
        return 0

    with opened.read() as connection:
        raw: Any = connection.connection.dbapi_connection
        raw.set_progress_handler(count, 1000)
        list(invariants.broken(connection, datetime(2026, 11, 22, tzinfo=UTC), 20))
        raw.set_progress_handler(None, 0)
    opened.close()
    return counted


def test_twice_as_many_attempts_of_one_instance_are_about_twice_as_much_work(sqlite_database: SqliteControl) -> None:
    some, many = (work_of_fsck(sqlite_database, attempts) for attempts in (300, 1200))

    # Compared each with each, four times as many are sixteen times as much.
    assert many < 6 * some


def test_a_step_that_began_again_beside_one_that_is_new_is_found_whatever_comes_behind(night: World) -> None:
    night.sql("UPDATE ProcessControl SET z_inserted = '2026-11-21 05:00:00.000' WHERE ProcessControlSeq = 10")
    night.sql("DELETE FROM BatchProcessHistory WHERE BatchControl_id = 1")
    night.sql(
        "INSERT INTO ProcessControl (ProcessBatch_id, ProcessControlSeq, ProcessName, ProcessType, Data1, z_inserted)"
        " VALUES (1, 30, 's', 'os_command', 'true', '2026-11-21 03:00:00.000')"
    )
    night.sql(
        "INSERT INTO BatchProcessHistory (BatchControl_id, ProcessBatch_id, ProcessControlSeq, AttemptNo, ClaimToken, Status,"
        " StartTime, EndTime, RetryCountAfter, ProcessName, ProcessType, CommandText) VALUES"
        " (1, 1, 20, 1, 1, 'success', '2026-11-21 04:00:00.000', '2026-11-21 04:00:01.000', 0, 's', 'os_command', 'true'),"
        " (1, 1, 20, 2, 1, 'failed', '2026-11-21 06:00:00.000', '2026-11-21 06:00:01.000', 0, 's', 'os_command', 'true'),"
        " (1, 1, 30, 1, 1, 'success', '2026-11-21 06:00:02.000', '2026-11-21 06:00:03.000', 0, 's', 'os_command', 'true')"
    )

    assert "I07" in broken(night)


def test_sqlite_walks_through_the_attempts_once_for_all_laws_of_their_order(sqlite_database: SqliteControl) -> None:
    opened = engine.open_engine(sqlite_database.url, sqlite_database.directory)
    asked = invariants.READINGS["turns"].compile(opened, compile_kwargs={"render_postcompile": True})
    with opened.connect() as connection:
        cursor = connection.connection.cursor()
        cursor.execute(f"EXPLAIN QUERY PLAN {asked}", [None] * len(asked.positiontup or ()))
        windows = [line for *_, line in cursor.fetchall() if line.startswith("CO-ROUTINE (subquery")]
    opened.dispose()

    assert len(windows) == 1


def test_sqlite_keeps_the_file_in_memory_while_all_of_it_is_read(sqlite_database: SqliteControl) -> None:
    opened = engine.open_engine(sqlite_database.url, sqlite_database.directory)
    with opened.connect() as connection:
        before = connection.exec_driver_sql("PRAGMA cache_size").scalar_one()
        with dialect_of(connection).long_read(connection):
            during = connection.exec_driver_sql("PRAGMA cache_size").scalar_one()
        after = connection.exec_driver_sql("PRAGMA cache_size").scalar_one()
    opened.dispose()

    assert during == -1024 * 1024
    assert after == before


def test_what_a_backfill_has_fired_is_of_its_own_schedule(night: World) -> None:
    for statement in (SCHEDULED, SCHEDULED.replace("'s'", "'t'"), fired("fired"), *BACKFILLED):
        night.sql(statement)

    assert broken(night) == set()
    night.sql("UPDATE ScheduleBackfill SET Schedule_id = 2")
    assert broken(night) == {"I53"}


def test_postgresql_looks_for_suspects_once_whatever_its_statistics_say(postgres_database: PostgresControl) -> None:
    (law,) = [one.broken for one in INVARIANTS if one.code == "I07"]
    opened = engine.open_engine(postgres_database.url, postgres_database.directory)
    with opened.connect() as connection:
        asked = law.limit(20).compile(opened, compile_kwargs={"literal_binds": True})
        plan = connection.exec_driver_sql(f"EXPLAIN {asked}").scalars().all()
    opened.dispose()

    depths = [len(line) - len(line.lstrip()) for line in plan]
    begin = next(number for number, line in enumerate(plan) if line.strip() == "CTE suspect")
    end = next(at for at in range(begin + 1, len(plan)) if depths[at] <= depths[begin])
    assert [begin < at < end for at, line in enumerate(plan) if "WindowAgg" in line] == [True]


def test_the_row_of_a_name_that_is_gone_is_named_with_what_makes_it_anew(postgres_database: PostgresControl) -> None:
    world = World(postgres_database)
    world.sql("DELETE FROM NamedLock WHERE NamedLock_id = 17")
    (found,) = fsck.examine(world.transactions, world.clock)
    world.sql(found.next_step)
    mended = fsck.examine(world.transactions, world.clock)
    world.close()

    assert (found.code, found.table, found.row_id, mended) == ("I91", "NamedLock", 17, ())
