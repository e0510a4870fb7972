"""What SQLite's conditions take: whatever time is taken the engine can read, and of words only those that it knows."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Iterator
from datetime import datetime

import pytest
from sqlalchemy.dialects import sqlite

from batchctl.domain import status
from batchctl.domain.rows import NEVER
from batchctl.store.columns import UtcTime
from tests.control_databases import SqliteControl

FILLED = """
INSERT INTO ProcessBatch (ProcessBatchName) VALUES ('B');
INSERT INTO FileProcess (Entity, Status) VALUES ('B', 'Paused');
INSERT INTO BatchControl (ProcessBatch_id, FileProcess_id, Status, NextRunTime)
    SELECT ProcessBatch_id, 1, 'RETRY', '2026-11-21 03:15' FROM ProcessBatch WHERE ProcessBatchName = 'B';
INSERT INTO BatchProcessHistory (BatchControl_id, ProcessBatch_id, ProcessControlSeq, ProcessName, ProcessType, CommandText,
    Status, StartTime, EndTime)
    SELECT 1, ProcessBatch_id, 10, 'step', 'sql', 'SELECT 1', 'Success', '2026-11-21', '2026-11-21 03:15:00.5'
    FROM BatchControl;
INSERT INTO Controller (ControllerName, Host, Status) VALUES ('c1', 'etl 7', 'Stopped');
INSERT INTO ProcessControl (ProcessBatch_id, ProcessControlSeq, ProcessName, ProcessType) VALUES (1, 20, 'step', 'sql');
"""
DAYS = ("2026-11-21", "2026-02-28", "2026-02-29", "2026-02-31", "2024-02-29", "2026-04-31", "0000-01-01", "9999-12-31")
MONTHLESS = (
    "2026-00-10",
    "2026-13-10",
    "2026-11-00",
    "2026-11-32",
    "26-11-21",
    "-2026-11-21",
    "02026-11-21",
    "2026/11/21",
)
HOURS = (
    *("", " ", " 03", " 03:15", " 03:15:07", " 03:15:07.", " 03:15:07.1", " 03:15:07.123", " 03:15:07.1234567"),
    *(" 23:59:59.999", " 23:59:59.9999", " 24:00:00.000", " 24:00", " 25:00:00.000", " 03:60:00.000", " 03:15:60.000"),
    *(" 3:15:07.123", "  03:15:07.123", "T03:15:07.123", "T03:15", " 03:15:07,123", " 03:15:07.12x", " 03:15:07.123 "),
    *(" 03:15:07.123Z", " 03:15:07Z", " 03:15:07.123+01:00", " 03:15:07.123 +01:00", " 03:15+00:00"),
    *(" 03:15:07.123\x00", " 03:15:07.123\x00x", "\x00 03:15:07.123"),
)
TIMES: list[object] = [
    *(f"{day}{hour}" for day in (*DAYS, *MONTHLESS) for hour in HOURS),
    *(
        None,
        "",
        " ",
        "now",
        "NOW",
        "subsec",
        "auto",
        "nan",
        "NaN",
        "inf",
        "-inf",
        "null",
        "today",
        "03:15",
        "03:15:07.123",
    ),
    *(0, 1, -1, 2461365.5, 1e300, float("inf"), "2461365.5", "1795230907", "2026", "2026-", "2026-11", "x" * 300),
    *(b"", b"2026-11-21", b"2026-11-21 03:15:07.123", b"\x00", b"\xff\xfe", "２０２６-11-21 03:15:07.123"),
    *("'2026-11-21 03:15:07.123'", "2026-11-21 03:15:07.12٣", "2026-11-21\n03:15:07.123"),
]
OWN_WORDS = {
    ("FileProcess", "Status"): status.IntakeStatus,
    ("ProcessBatch", "OnFailure"): status.OnFailure,
    ("ProcessBatch", "DependencyMode"): status.DependencyMode,
    ("ProcessControl", "OnLost"): status.OnLost,
    ("BatchControl", "Status"): status.InstanceStatus,
    ("BatchProcessHistory", "Cause"): status.Cause,
    ("BatchProcessHistory", "Status"): status.HistoryStatus,
    ("Controller", "Status"): status.ControllerStatus,
}
KNOWN = sorted({member.value for kind in OWN_WORDS.values() for member in kind})
WORDS: list[object] = [
    *(said for word in KNOWN for said in (word, word.upper(), word.title(), f"{word} ", f" {word}", f"{word}\x00")),
    *(f"{word}\x00x" for word in KNOWN),
    *(word.encode() for word in KNOWN),
    *(
        None,
        "",
        "\x00",
        " ",
        "nonsense",
        "x" * 21,
        0,
        1,
        1.5,
        b"",
        b"\xff",
        "ſuccess",
        "\u212aeep",
        "ready,paused",
        "%",
    ),
]
TIME_COLUMNS = {
    "NextRunTime": "UPDATE BatchControl SET NextRunTime = ?",
    "EndTime": "UPDATE BatchProcessHistory SET EndTime = ?",
    "Spawned": "UPDATE BatchProcessHistory SET Spawned = ?",
    "Heartbeat": "UPDATE Controller SET Heartbeat = ?",
    "z_updated": "UPDATE Setting SET z_updated = ?",
    "z_updated of an attempt": "UPDATE BatchProcessHistory SET z_updated = ?",
    "all times of an instance": "UPDATE BatchControl SET z_updated = ?1, z_inserted = ?1, NextRunTime = ?1",
    "all times of an attempt": "UPDATE BatchProcessHistory SET z_updated = ?1, z_inserted = ?1, EndTime = ?1, StartTime = ?1",
}


@pytest.fixture
def hand(sqlite_database: SqliteControl) -> Iterator[sqlite3.Connection]:
    """Return a client of a database with a row of everything."""
    made = sqlite3.connect(sqlite_database.directory / "batchctl.db", isolation_level=None)
    made.executescript(FILLED)
    yield made
    made.close()


def answer(hand: sqlite3.Connection, statement: str, value: object) -> str:
    """Return what a database says to a change; nothing of it stays."""
    hand.execute("BEGIN")
    try:
        hand.execute(statement, (value,))
    except sqlite3.Error as refused:
        return f"{refused.sqlite_errorname}: {refused}"
    else:
        return "taken"
    finally:
        hand.execute("ROLLBACK")


def is_legible(value: object) -> bool:
    """Say whether the engine reads a time as the one that is written."""
    return not isinstance(value, str) or ("\x00" not in value and read(value) != NEVER)


def read(value: str) -> datetime | None:
    """Return what the engine reads, as what it will wait for."""
    return UtcTime().result_processor(sqlite.dialect(), None)(value)


@pytest.mark.parametrize("column", TIME_COLUMNS)
def test_what_the_engine_cannot_read_would_wait_for_ever_and_is_refused(hand: sqlite3.Connection, column: str) -> None:
    found = {repr(value): answer(hand, TIME_COLUMNS[column], value) for value in TIMES}

    assert [value for value in TIMES if found[repr(value)] == "taken" and not is_legible(value)] == []
    for taken in ("2026-11-21", "2026-11-21 03:15", "2026-11-21 03:15:07.1234567", "2024-02-29 23:59:59.999"):
        assert found[repr(taken)] == "taken"
    for refused in (
        *("2026-02-31 03:15:07.123", "2026-11-21 24:00:00.000", "2026-11-21T03:15:07.123", "now", "nan", "2026-11-21 "),
        *("2026-11-21 03:15:07.", "2026-11-21 03:15:07.123\x00x", "0000-01-01 03:15:07.123", "03:15"),
    ):
        assert found.get(repr(refused), answer(hand, TIME_COLUMNS[column], refused)).startswith(
            ("SQLITE_CONSTRAINT_CHECK", "SQLITE_CONSTRAINT_TRIGGER: batchctl: a time is written like")
        ), refused


def test_times_that_nobody_thought_of_are_taken_where_they_can_be_read(hand: sqlite3.Connection) -> None:
    chance = random.Random(6)
    taken = 0
    for _ in range(3000):
        whole = f"{chance.randrange(10000):04}-{chance.randrange(14):02}-{chance.randrange(33):02}"
        whole += f" {chance.randrange(26):02}:{chance.randrange(62):02}:{chance.randrange(62):02}.{chance.randrange(1000):03}"
        at = chance.randrange(len(whole))
        changed = whole[:at] + chance.choice(" -:.+TZ09\x00") + whole[at + chance.randrange(2) :]
        for value in (whole, changed):
            if answer(hand, TIME_COLUMNS["NextRunTime"], value) == "taken":
                taken += 1
                assert is_legible(value), repr(value)
        # A whole one that exists is never refused.
        assert not is_legible(whole) or answer(hand, TIME_COLUMNS["NextRunTime"], whole) == "taken", repr(whole)
    assert taken > 1000


@pytest.mark.parametrize(("table", "column"), OWN_WORDS)
def test_of_words_only_its_own_are_taken_in_any_letter_case(hand: sqlite3.Connection, table: str, column: str) -> None:
    for kept_by in ("BatchProcessHistory", "BatchControl") if table == "FileProcess" else ():
        hand.execute(f"DELETE FROM {kept_by}")  # What has instances may not be set aside.
    own = {member.value for member in OWN_WORDS[table, column]}
    written = {"success"} if (table, column) in {("FileProcess", "Status"), ("BatchControl", "Status")} else set()
    running = ", EndTime = NULL" if (table, column) == ("BatchProcessHistory", "Status") else ""
    taken = {
        word
        for more in {"", running}
        for word in WORDS
        if answer(hand, f"UPDATE {table} SET {column} = ?{more}", word) == "taken"
    }

    assert taken == {said for word in own | written for said in (word, word.upper(), word.title())}
