"""No row names another that is not there: on SQLite also where a client has left foreign keys off, as its shell does."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing

import pytest
from sqlalchemy import ForeignKey

from batchctl.store.tables import DEFINITIONS, metadata
from tests.control_databases import ControlDatabase, SqliteControl
from tests.hand import Hand

FOREIGN = [key for table in metadata.sorted_tables for column in table.c for key in column.foreign_keys]
OF_DEFINITIONS = [key for key in FOREIGN if key.parent.table.name in DEFINITIONS]
NAMING_DEFINITIONS = [key for key in FOREIGN if key.column.table.name in DEFINITIONS]
NAMED = {
    "ProcessBatch": ("ProcessBatchName", "'{}'"),
    "Resource": ("ResourceName", "'{}'"),
    "Calendar": ("CalendarName", "'{}'"),
    "Schedule": ("ScheduleName, Entity, ScheduleType, RunTimes", "'{}', 'E', 'daily', '06:00'"),
    "FileWatch": ("WatchName, Entity, Folder", "'{}', 'E', '/in'"),
    "FileProcess": ("Entity", "'{}'"),
}
"""What others name, by its columns and values; each is made twice."""
NAMING = {
    "ProcessControl": "ProcessControlSeq 10, ProcessName 's', ProcessType 'sql'",
    "BatchResource": "",
    "BatchDependency": "",
    "CalendarDay": "CalendarDate '2026-12-25'",
    "BatchControl": "",
    "BatchProcessHistory": (
        "ProcessControlSeq 10, ProcessName 's', ProcessType 'sql', CommandText '', Status 'failed', EndTime '2026-11-21'"
    ),
    "BatchCompletion": "",
    "DurationHistory": "ProcessControlSeq 1, Day '2026-11-21', UpToMs 9, Runs 1, TotalMs 9, MinMs 9, MaxMs 9",
    "KeptForecast": "MadeOn '2026-11-21', NeedsPerson 0, Nights 60",
    "Note": "Text 'called the supplier'",
    "ScheduleFire": "FireKey 'k', Outcome 'skipped', DueTime '2026-11-21'",
    "ScheduleBackfill": "FromTime '2026-11-01', UntilTime '2026-11-02', Actor 'anna'",
    "FileWatchSeen": "PathKey 'k', FilePath '/in/a', FileSize 1, ModifiedNs 1",
}
"""What a row that names others needs besides."""


def said(key: ForeignKey) -> str:
    return f"{key.parent.table.name}.{key.parent.name}"


def row_of(key: ForeignKey, number: int) -> str:
    """Return a statement that makes a row which names another by this foreign key, and the first ones by others."""
    table = key.parent.table
    others = [each.parent.name for each in table.foreign_keys if each is not key and not each.parent.nullable]
    needed = [one.split(" ", 1) for one in NAMING[table.name].split(", ") if one]
    columns = ", ".join([key.parent.name, *others, *(column for column, _ in needed)])
    values = ", ".join([str(number), *("1" for _ in others), *(value for _, value in needed)])
    return f"INSERT INTO {table.name} ({columns}) VALUES ({values})"


@pytest.fixture
def careless(control_database: ControlDatabase) -> Iterator[Hand]:
    """Return a client as a shell is, in a database with two rows of all that others name."""
    with closing(control_database.hand()) as hand:
        if control_database.kind == "sqlite":
            hand.sql("PRAGMA foreign_keys = OFF")
        for table, (columns, values) in NAMED.items():
            for name in ("one", "two"):
                hand.sql(f"INSERT INTO {table} ({columns}) VALUES ({values.format(name)})")
        yield hand


def refused(hand: Hand, words: str) -> str:
    return words if hand.Refused is sqlite3.IntegrityError else r"(?i)foreign key"


@pytest.mark.parametrize("key", OF_DEFINITIONS, ids=said)
def test_a_definition_names_what_is_there(careless: Hand, key: ForeignKey) -> None:
    table, column, named = key.parent.table.name, key.parent.name, key.column.table.name
    words = refused(careless, f"{column} of {table}: there is no such {named}: SELECT {named}_id")

    with pytest.raises(careless.Refused, match=words):
        careless.sql(row_of(key, 99))
    careless.sql(row_of(key, 2))
    with pytest.raises(careless.Refused, match=words):
        careless.sql(f"UPDATE {table} SET {column} = 99")

    assert careless.sql(f"SELECT {column} FROM {table}") == [(2,)]


@pytest.mark.parametrize("key", NAMING_DEFINITIONS, ids=said)
def test_what_is_named_is_not_deleted_and_keeps_its_number(
    control_database: ControlDatabase, careless: Hand, key: ForeignKey
) -> None:
    table, named = key.parent.table.name, key.column.table.name
    if table == "BatchControl" or control_database.kind == "sqlite":
        careless.sql(row_of(key, 2))
    else:
        careless.sql("INSERT INTO BatchControl (ProcessBatch_id, FileProcess_id) VALUES (1, 1)")
        careless.sql(row_of(key, 2))
    before = careless.dump()

    with pytest.raises(careless.Refused, match=refused(careless, f"batchctl: {table} has rows of this {named}: ")):
        careless.sql(f"DELETE FROM {named} WHERE {named}_id = 2")
    with pytest.raises(careless.Refused, match=refused(careless, "other rows go by its number")):
        careless.sql(f"UPDATE {named} SET {named}_id = 77 WHERE {named}_id = 2")

    assert careless.dump() == before
    careless.sql(f"DELETE FROM {table}")
    careless.sql(f"DELETE FROM {named} WHERE {named}_id = 2")


@pytest.mark.parametrize("key", NAMING_DEFINITIONS, ids=said)
def test_no_replace_leaves_behind_what_names_a_row(sqlite_database: SqliteControl, key: ForeignKey) -> None:
    named = key.column.table.name
    columns, values = NAMED[named]
    replace = f"REPLACE INTO {named} ({columns}) VALUES ({values.format('two')})"
    with closing(sqlite_database.hand()) as hand:
        hand.sql("PRAGMA foreign_keys = OFF")
        for name in ("one", "two"):
            hand.sql(f"INSERT INTO {named} ({columns}) VALUES ({values.format(name)})")
        hand.sql(replace)
        hand.sql(f"DELETE FROM {named} WHERE {named}_id = 3")
        hand.sql(f"INSERT INTO {named} ({named}_id, {columns}) VALUES (2, {values.format('two')})")
        if key.parent.table.name in DEFINITIONS:
            for other in {each.column.table.name for each in key.parent.table.foreign_keys} - {named}:
                hand.sql(f"INSERT INTO {other} ({NAMED[other][0]}) VALUES ({NAMED[other][1].format('one')})")
        hand.sql(row_of(key, 2))

        with pytest.raises(
            hand.Refused, match="other tables have rows of this definition, which a REPLACE would leave behind"
        ):
            hand.sql(replace)
        hand.sql(f"INSERT OR IGNORE INTO {named} ({columns}) VALUES ({values.format('two')})")

        assert hand.sql(f"SELECT {named}_id FROM {named}") == [(1,), (2,)]


@pytest.mark.parametrize(
    "user",
    [
        "UPDATE Schedule SET CalendarName = 'two' WHERE ScheduleName = 'one'",
        "UPDATE ProcessBatch SET ExpectedCalendar = 'two' WHERE ProcessBatchName = 'one'",
    ],
)
def test_a_calendar_that_is_named_is_neither_deleted_nor_renamed(careless: Hand, user: str) -> None:
    careless.sql(user)

    for change in (
        "DELETE FROM Calendar WHERE CalendarName = 'two'",
        "UPDATE Calendar SET CalendarName = 'Two' WHERE CalendarName = 'two'",
    ):
        with pytest.raises(careless.Refused, match="names this calendar: UPDATE Schedule SET CalendarName"):
            careless.sql(change)
    careless.sql("DELETE FROM Calendar WHERE CalendarName = 'one'")
    careless.sql("UPDATE Calendar SET CalendarName = 'two', Description = 'holidays'")

    assert careless.sql("SELECT CalendarName, Description FROM Calendar") == [("two", "holidays")]


def test_a_calendar_that_is_named_is_renamed_once_nothing_goes_by_its_old_name(careless: Hand) -> None:
    careless.sql("UPDATE Schedule SET CalendarName = 'two' WHERE ScheduleName = 'one'")
    careless.sql("UPDATE Schedule SET CalendarName = 'three'")
    careless.sql("UPDATE Calendar SET CalendarName = 'three' WHERE CalendarName = 'two'")

    assert careless.sql("SELECT CalendarName FROM Calendar ORDER BY 1") == [("one",), ("three",)]
