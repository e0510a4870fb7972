"""What hands change is audited by the database itself, and the audit log is only added to."""

from __future__ import annotations

import contextlib
import json
import re
import sqlite3
from collections.abc import Iterator
from typing import Any

import pytest

from batchctl.store.tables import DEFINITIONS, metadata
from tests.control_databases import ControlDatabase
from tests.hand import Hand

ADDED = {
    "ProcessBatch": ("ProcessBatchName", "'L''été \"1\"'"),
    "ProcessControl": (
        "ProcessBatch_id, ProcessControlSeq, ProcessName, ProcessType, Data1",
        "1, 10, 's', 'sql', 'a\\b'",
    ),
    "Resource": ("ResourceName", "'disk'"),
    "BatchResource": ("ProcessBatch_id, Resource_id", "1, 1"),
    "BatchDependency": ("ProcessBatch_id, DependsOnBatch_id", "1, 1"),
    "Schedule": ("ScheduleName, Entity, ScheduleType, RunTimes", "'nightly', 'E', 'daily', '03:00'"),
    "Calendar": ("CalendarName", "'DE'"),
    "CalendarDay": ("Calendar_id, CalendarDate", "1, '2026-12-25'"),
    "DataTrigger": (
        "TriggerName, Entity, ConnectionName, TableName, StatusColumn, PendingValue, OnNewRows",
        "'rows', 'E', 'shop', 't', 's', 'new', 1",
    ),
    "FileWatch": ("WatchName, Entity, Folder", "'in', 'E', '/in'"),
    "BatchFreeze": ("ProcessBatchName, Reason, Actor", "'L''été \"1\"', 'disks', 'anna'"),
    "Drain": ("Host, Reason, Actor", "'etl2', 'patches', 'anna'"),
    "Pool": ("PoolName", "'ssis'"),
    "Variable": ("VariableName, Value", "'InDir', '/in'"),
    "Setting": ("Name, Value", "'KeepLast', '3'"),
}
CHANGED = {
    "ProcessBatch": ("Seq", 100, 7),
    "ProcessControl": ("Data1", "a\\b", "line\nnext \x1b[31m"),
    "Resource": ("Units", 1, 4),
    "BatchResource": ("Exclusive", 0, 1),
    "BatchDependency": ("DeadlineMins", 1440, 5),
    "Schedule": ("RunTimes", "03:00", "04:00"),
    "Calendar": ("Description", None, "Germany"),
    "CalendarDay": ("IsBusinessDay", 0, 1),
    "DataTrigger": ("PendingValue", "new", "ready"),
    "FileWatch": ("Enabled", 1, 0),
    "BatchFreeze": ("ThawedBy", None, "bert"),
    "Drain": ("UndrainedBy", None, "bert"),
    "Pool": ("MaxConcurrent", None, 3),
    "Variable": ("Value", "/in", "/data"),
    "Setting": ("Value", "3", "4"),
}
TARGETS = {
    "ProcessBatch": 'ProcessBatch:L\'été "1"',
    "ProcessControl": 'ProcessControl:L\'été "1":10',
    "Resource": "Resource:disk",
    "BatchResource": 'BatchResource:L\'été "1":1',
    "BatchDependency": 'BatchDependency:L\'été "1":1',
    "Schedule": "Schedule:nightly",
    "Calendar": "Calendar:DE",
    "CalendarDay": "CalendarDay:DE:2026-12-25",
    "DataTrigger": "DataTrigger:rows",
    "FileWatch": "FileWatch:in",
    "BatchFreeze": "BatchFreeze:1",
    "Drain": "Drain:1",
    "Pool": "Pool:ssis",
    "Variable": "Variable:InDir",
    "Setting": "Setting:KeepLast",
}
ITSELF = '"CK_BatchDependency_DependsOnBatch_id"'
UNWATCHED = {"ProcessBatch_id", "z_inserted", "z_updated"}
KEPT_BY_THE_ENGINE = {
    "Schedule": {"NextRunTime", "DecidedUntil", "TimingHash"},
    "DataTrigger": {"LastFired"},
    "FileWatch": {"UnreachableSince"},
}


def entries(hand: Hand, more: str = "") -> list[tuple[Any, ...]]:
    """Return what the log says was done, with the columns as objects."""
    rows = hand.sql(f"SELECT Action, Target, ValuesBefore, ValuesAfter FROM AuditLog {more} ORDER BY AuditLog_id")
    return [(*row[:2], *(None if each is None else json.loads(each) for each in row[2:])) for row in rows]


def add_all(hand: Hand) -> None:
    """Make a row of every definition; there is one batch, which no constraint keeps from depending on itself."""
    is_sqlite = hand.Refused is sqlite3.IntegrityError
    loosen = (
        "PRAGMA ignore_check_constraints = ON" if is_sqlite else f"ALTER TABLE BatchDependency DROP CONSTRAINT {ITSELF}"
    )
    hand.sql(loosen)
    for table, (columns, values) in ADDED.items():
        hand.sql(f"INSERT INTO {table} ({columns}) VALUES ({values})")
    if is_sqlite:
        hand.sql("PRAGMA ignore_check_constraints = OFF")


@pytest.fixture
def defined(hand: Hand) -> Hand:
    """Return a hand that has made a row of every definition."""
    add_all(hand)
    return hand


def test_every_row_that_is_made_is_audited_with_all_that_people_set(defined: Hand) -> None:
    found = entries(defined)

    assert set(ADDED) == {*DEFINITIONS, "BatchFreeze", "Drain", "Setting"}
    assert [(action, target) for action, target, *_ in found] == [("row insert", TARGETS[table]) for table in ADDED]
    for table, (_, _, before, after) in zip(ADDED, found, strict=True):
        set_by_people = {column.name for column in metadata.tables[table].columns}
        set_by_people -= {f"{table}_id", "z_inserted", "z_updated", *KEPT_BY_THE_ENGINE.get(table, ())}
        assert before is None
        assert set(after) == set_by_people, table


@pytest.mark.parametrize("table", ADDED)
def test_a_change_is_audited_with_what_was_and_what_is(defined: Hand, table: str) -> None:
    column, before, after = CHANGED[table]
    if table == "BatchDependency" and defined.Refused is sqlite3.IntegrityError:
        defined.sql("PRAGMA ignore_check_constraints = ON")
    last = f"WHERE AuditLog_id > {len(ADDED)}"
    where = " WHERE Name = 'KeepLast'" if table == "Setting" else ""
    defined.sql(f"UPDATE {table} SET {column} = ?{where}", before)
    assert entries(defined, last) == [], "nothing was changed"
    defined.sql(f"UPDATE {table} SET {column} = ?{where}", after)

    assert entries(defined, last) == [("row update", TARGETS[table], {column: before}, {column: after})]


def test_what_is_deleted_is_kept_in_the_log(defined: Hand) -> None:
    for table in reversed(ADDED):
        defined.sql(f"DELETE FROM {table}" + (" WHERE Name = 'KeepLast'" if table == "Setting" else ""))
    found = entries(defined)
    made, gone = found[: len(ADDED)], found[len(ADDED) :]

    assert [entry[:2] for entry in gone] == [("row delete", TARGETS[table]) for table in reversed(ADDED)]
    assert [entry[2] for entry in reversed(gone)] == [entry[3] for entry in made]
    assert all(entry[3] is None for entry in gone)


REFUSALS = re.compile(r"    SELECT RAISE.*\n    FROM .*;\n")


@pytest.fixture
def replacing(sqlite_database: ControlDatabase) -> Iterator[Hand]:
    """Return a hand on the only database that replaces rows, with a row of every definition and two resources beside.

    What keeps a row that others name, also from being replaced, is not there.
    """
    hand = sqlite_database.hand()
    add_all(hand)
    for table in ("ProcessBatch", "Resource", "Calendar"):
        name = f"TR_{table}_AuditDelete"
        ((made,),) = hand.sql("SELECT sql FROM sqlite_master WHERE name = ?", name)
        hand.sql(f"DROP TRIGGER {name}")
        hand.sql(REFUSALS.sub("", made))
    hand.sql("DROP TRIGGER TR_batchctl_replaced_InUse")
    hand.sql("INSERT INTO Resource (ResourceName, Units) VALUES ('tape', 2), ('net', 3)")
    yield hand
    hand.close()


def since(hand: Hand, *statements: str) -> list[tuple[str, str, Any]]:
    """Return what statements left in the log, with what was there before; refused ones leave nothing behind."""
    ((last,),) = hand.sql("SELECT max(AuditLog_id) FROM AuditLog")
    for statement in statements:
        with contextlib.suppress(hand.Refused):
            hand.sql(statement)
    return sorted((entry[:3] for entry in entries(hand, f"WHERE AuditLog_id > {last}")), key=repr)


@pytest.mark.parametrize("recursive", ["ON", "OFF"])
@pytest.mark.parametrize("table", ADDED)
def test_what_is_replaced_is_kept_in_the_log_once(replacing: Hand, table: str, recursive: str) -> None:
    replacing.sql("PRAGMA foreign_keys = OFF")
    replacing.sql(f"PRAGMA recursive_triggers = {recursive}")
    replacing.sql(f"PRAGMA ignore_check_constraints = {'ON' if table == 'BatchDependency' else 'OFF'}")
    columns, values = ADDED[table]
    (was,) = [after for action, target, _, after in entries(replacing) if target == TARGETS[table]]
    ((number,),) = replacing.sql(
        f"SELECT {table}_id FROM {table} ORDER BY "
        + ("Name = 'KeepLast' DESC" if table == "Setting" else "1")
        + " LIMIT 1"
    )
    gone, made = ("row delete", TARGETS[table], was), ("row insert", TARGETS[table], None)

    assert since(replacing, f"REPLACE INTO {table} ({table}_id, {columns}) VALUES ({number}, {values})") == [gone, made]
    if table not in {"BatchFreeze", "Drain"}:
        assert since(replacing, f"INSERT OR REPLACE INTO {table} ({columns}) VALUES ({values})") == [gone, made]
    ((left,),) = replacing.sql("SELECT count(*) FROM batchctl_replaced")
    assert left == 0


DISK, TAPE, NET = (
    ("row delete", f"Resource:{name}", {"ResourceName": name, "Units": units, "Description": None})
    for name, units in (("disk", 1), ("tape", 2), ("net", 3))
)


@pytest.mark.parametrize("recursive", ["ON", "OFF"])
@pytest.mark.parametrize(
    ("statement", "left"),
    [
        ("INSERT INTO Resource (ResourceName) VALUES ('tape')", []),
        ("INSERT OR IGNORE INTO Resource (ResourceName) VALUES ('tape')", []),
        (
            "INSERT OR IGNORE INTO Resource (ResourceName) VALUES ('tape'), ('new')",
            [("row insert", "Resource:new", None)],
        ),
        ("INSERT INTO Resource (ResourceName) VALUES ('tape') ON CONFLICT DO NOTHING", []),
        (
            "INSERT INTO Resource (ResourceName) VALUES ('tape') ON CONFLICT (ResourceName) DO UPDATE SET Units = 9",
            [("row update", "Resource:tape", {"Units": 2})],
        ),
        (
            "INSERT INTO Resource (ResourceName) VALUES ('tape') ON CONFLICT (ResourceName) DO UPDATE SET ResourceName = 'new'",
            [("row update", "Resource:new", {"ResourceName": "tape"})],
        ),
        (
            "REPLACE INTO Resource (ResourceName) VALUES ('tape') ON CONFLICT (ResourceName) DO UPDATE SET Units = 9",
            [("row update", "Resource:tape", {"Units": 2})],
        ),
        ("REPLACE INTO Resource (ResourceName, Units) VALUES ('tape', -1)", []),
        (
            "REPLACE INTO Resource (Resource_id, ResourceName) VALUES (NULL, 'tape')",
            [TAPE, ("row insert", "Resource:tape", None)],
        ),
        (
            "REPLACE INTO Resource (Resource_id, ResourceName) VALUES (1, 'tape')",
            [DISK, TAPE, ("row insert", "Resource:tape", None)],
        ),
        (
            "REPLACE INTO Resource (ResourceName, Units) VALUES ('tape', 7), ('tape', 8)",
            [
                TAPE,
                (*TAPE[:2], {**TAPE[2], "Units": 7}),
                *[("row insert", "Resource:tape", None)] * 2,
            ],
        ),
        ("UPDATE Resource SET ResourceName = 'tape' WHERE ResourceName = 'disk'", []),
        ("UPDATE OR IGNORE Resource SET ResourceName = 'tape' WHERE ResourceName = 'disk'", []),
        (
            "UPDATE OR REPLACE Resource SET ResourceName = 'tape' WHERE ResourceName = 'disk'",
            [TAPE, ("row update", "Resource:tape", {"ResourceName": "disk"})],
        ),
        ("UPDATE OR REPLACE Resource SET Resource_id = 3 WHERE Resource_id = 2", [NET]),
        ("UPDATE OR REPLACE Resource SET rowid = 3 WHERE Resource_id = 2", [NET]),
        ("UPDATE OR REPLACE Resource SET ResourceName = 'tape', Resource_id = 2 WHERE ResourceName = 'tape'", []),
    ],
)
def test_only_what_is_really_replaced_is_told_as_deleted(
    replacing: Hand, statement: str, left: list[tuple[Any, ...]], recursive: str
) -> None:
    replacing.sql("PRAGMA foreign_keys = OFF")
    replacing.sql(f"PRAGMA recursive_triggers = {recursive}")

    assert since(replacing, statement) == sorted(left, key=repr)


def test_what_an_insert_left_alone_is_not_told_later(replacing: Hand) -> None:
    ignored = "INSERT OR IGNORE INTO Resource (ResourceName) VALUES ('tape')"
    deleted = "DELETE FROM Resource WHERE ResourceName = 'tape'"
    more = "INSERT INTO Resource (ResourceName) VALUES ('new')"

    assert since(replacing, ignored, deleted, more) == [TAPE, ("row insert", "Resource:new", None)]


def test_a_number_that_is_not_given_yet_takes_nobodys_place(replacing: Hand) -> None:
    """Before an INSERT that gives no number, SQLite says -1."""
    replacing.sql("INSERT INTO Resource (Resource_id, ResourceName) VALUES (-1, 'odd')")

    assert since(replacing, "INSERT INTO Resource (ResourceName) VALUES ('new')") == [
        ("row insert", "Resource:new", None)
    ]


def test_what_the_engine_keeps_beside_a_definition_is_no_change_of_it(defined: Hand) -> None:
    defined.sql("UPDATE Schedule SET NextRunTime = '2026-11-22 03:00:00.000', DecidedUntil = NULL, TimingHash = 'x'")
    defined.sql("UPDATE DataTrigger SET LastFired = '2026-11-22 03:00:00.000'")
    defined.sql("UPDATE FileWatch SET UnreachableSince = '2026-11-22 03:00:00.000', z_updated = '2026-11-22 03:00:00'")

    assert len(entries(defined)) == len(ADDED)


def test_many_rows_changed_at_once_are_as_many_entries(hand: Hand) -> None:
    hand.many("INSERT INTO ProcessBatch (ProcessBatchName) VALUES (?)", [(f"b{at}",) for at in range(1000)])
    hand.sql("UPDATE ProcessBatch SET Enabled = 0")

    assert hand.sql("SELECT Action, count(*) FROM AuditLog GROUP BY Action ORDER BY 1") == [
        ("row insert", 1000),
        ("row update", 1000),
    ]


def test_a_table_that_is_emptied_at_once_is_told(postgres_database: ControlDatabase) -> None:
    hand = postgres_database.hand()
    hand.sql("TRUNCATE Resource CASCADE")

    assert [entry[:2] for entry in entries(hand)] == [("row truncate", "Resource"), ("row truncate", "BatchResource")]
    hand.close()


def test_the_log_says_as_whom_the_hand_was_connected(control_database: ControlDatabase, hand: Hand) -> None:
    hand.sql("INSERT INTO Resource (ResourceName) VALUES ('disk')")
    ((actor, host),) = hand.sql("SELECT Actor, Host FROM AuditLog")

    expected = ("sql", "sql") if control_database.kind == "sqlite" else ("postgres", "127.0.0.1")
    assert (actor, host) == expected


@pytest.mark.parametrize("word", ["success", "Success"])
def test_the_word_that_a_trigger_stores_for_success_is_audited_once(hand: Hand, word: str) -> None:
    hand.sql("INSERT INTO ProcessBatch (ProcessBatchName) VALUES ('B')")
    hand.sql("INSERT INTO FileProcess (Entity, FileName, Status) VALUES ('B', 'f', ?), ('B', 'g', 'ready')", word)
    hand.sql("INSERT INTO BatchControl (ProcessBatch_id, FileProcess_id, Status) VALUES (1, 1, 'failed')")
    hand.sql("UPDATE BatchControl SET Status = ?, Data3 = 'x'", word)
    hand.sql("UPDATE FileProcess SET Status = ?", word)
    hand.sql("UPDATE FileProcess SET Status = ?", word)

    assert entries(hand)[1:] == [
        ("row update", "BatchControl:1", {"Status": "failed", "Data3": None}, {"Status": "ready", "Data3": "x"}),
        ("row update", "FileProcess:2", {"Status": "ready"}, {"Status": "complete"}),
    ]


def test_work_changed_by_hand_is_audited(hand: Hand) -> None:
    hand.sql("INSERT INTO ProcessBatch (ProcessBatchName) VALUES ('B')")
    hand.sql("INSERT INTO FileProcess (Entity, FileName) VALUES ('B', 'f')")
    hand.sql("INSERT INTO BatchControl (ProcessBatch_id, FileProcess_id, Status) VALUES (1, 1, 'failed')")
    hand.sql("UPDATE BatchControl SET Status = 'ready', PrevProcessControlSeq = 20, Data3 = 'x'")
    hand.sql("UPDATE FileProcess SET Status = 'complete'")
    before = {"Status": "failed", "PrevProcessControlSeq": 0, "Data3": None}
    after = {"Status": "ready", "PrevProcessControlSeq": 20, "Data3": "x"}

    assert entries(hand)[1:] == [
        ("row update", "BatchControl:1", before, after),
        ("row update", "FileProcess:1", {"Status": "ready"}, {"Status": "complete"}),
    ]


@pytest.mark.parametrize("table", ["AuditLog", "AuditSeal"])
def test_what_stands_in_the_log_stays_as_it_is(hand: Hand, table: str) -> None:
    hand.sql("INSERT INTO AuditLog (Actor, Host, Action, Target) VALUES ('a', 'h', 'rerun', 'BatchControl:1')")
    hand.sql("INSERT INTO AuditSeal (SealNo, AuditLog_id, PrevHash, RecordHash) VALUES (1, 1, '0', '1')")
    kept = hand.sql(f"SELECT * FROM {table}")
    for statement in (f"UPDATE {table} SET z_inserted = '2020-01-01 00:00:00.000'", f"DELETE FROM {table}"):
        with pytest.raises(hand.Refused, match="stays as it is"):
            hand.sql(statement)

    assert hand.sql(f"SELECT * FROM {table}") == kept


def test_a_row_of_the_log_is_not_replaced(sqlite_database: ControlDatabase) -> None:
    hand = sqlite_database.hand()
    hand.sql("INSERT INTO AuditLog (Actor, Host, Action, Target) VALUES ('a', 'h', 'rerun', 'BatchControl:1')")
    with pytest.raises(hand.Refused, match="stays as it is"):
        hand.sql("REPLACE INTO AuditLog (AuditLog_id, Actor, Host, Action, Target) VALUES (1, 'b', 'h', 'x', 'y')")
    hand.close()


@pytest.mark.parametrize(
    ("value", "goes"), [("30", True), (" 30 ", True), ("60", False), ("forever", False), ("0", False)]
)
def test_what_is_older_than_the_setting_says_may_be_deleted(hand: Hand, value: str, goes: bool) -> None:
    add = "INSERT INTO AuditLog (Actor, Host, Action, Target, z_inserted) VALUES ('a', 'h', 'rerun', ?, ?)"
    hand.sql(add, "BatchControl:1", "2026-10-01 00:00:00.000")
    hand.sql("INSERT INTO Setting (Name, Value) VALUES ('AuditLogDays', ?)", value)
    hand.sql(add, "BatchControl:2", "2026-11-01 00:00:00.000")
    delete = "DELETE FROM AuditLog WHERE Target = 'BatchControl:1'"
    if goes:
        hand.sql(delete)
    else:
        with pytest.raises(hand.Refused):
            hand.sql(delete)

    assert len(hand.sql("SELECT 1 FROM AuditLog WHERE Target = 'BatchControl:1'")) == (0 if goes else 1)


def test_the_log_is_not_emptied_at_once(postgres_database: ControlDatabase) -> None:
    hand = postgres_database.hand()
    with pytest.raises(hand.Refused, match="stays as it is"):
        hand.sql("TRUNCATE AuditLog")
    hand.close()
