"""What people insert by hand: the minimal row works, a wrong one is refused by the database."""

from __future__ import annotations

import re
import sqlite3

import pytest

MINIMAL = {
    "FileProcess": "INSERT INTO FileProcess (Entity, FileName) VALUES ('MyFileType1', '/in/data_20261101_20261130.csv')",
    "ProcessBatch": "INSERT INTO ProcessBatch (ProcessBatchName) VALUES ('MyFileType1')",
    "ProcessControl": (
        "INSERT INTO ProcessControl (ProcessBatch_id, ProcessControlSeq, ProcessName, ProcessType, Data1)"
        " SELECT ProcessBatch_id, 10, 'say hello', 'os_command', 'echo hello' FROM ProcessBatch"
    ),
    "BatchControl": "INSERT INTO BatchControl (ProcessBatch_id, FileProcess_id) VALUES (1, 1)",
}


@pytest.fixture
def filled(hand: sqlite3.Connection) -> sqlite3.Connection:
    """Return a database with one minimal row in each table that people write."""
    for statement in MINIMAL.values():
        hand.execute(statement)
    return hand


def test_minimal_inserts_get_their_defaults(filled: sqlite3.Connection) -> None:
    batch = (
        "SELECT Entity, Enabled, Seq, RetryCount, RetryWaitMins, Populator, OnFailure, DependencyMode, MaxConcurrent"
    )
    assert filled.execute(f"{batch}, DuplicateCheck FROM ProcessBatch").fetchall() == [
        (None, 1, 100, 0, 5, "pattern", "hold_batch", "all", 1, 1)
    ]
    instance = "SELECT PrevProcessControlSeq, Status, RetryCount, NextRunTime, ClaimToken, LostCount FROM BatchControl"
    assert filled.execute(instance).fetchall() == [(0, "ready", 0, "1900-01-01 00:00:00.000", 0, 0)]
    assert filled.execute("SELECT OnLost FROM ProcessControl").fetchone() == ("hold",)
    assert filled.execute("SELECT Status FROM FileProcess").fetchone() == ("ready",)


@pytest.mark.parametrize("table", MINIMAL)
def test_times_are_utc_with_milliseconds(filled: sqlite3.Connection, table: str) -> None:
    at, now = filled.execute(f"SELECT z_inserted, strftime('%Y-%m-%d %H', 'now') FROM {table}").fetchone()
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}", at)
    assert at[:13] == now


@pytest.mark.parametrize(
    ("table", "column", "value"),
    [
        ("FileProcess", "Status", "success"),
        ("FileProcess", "Status", "READY "),
        ("FileProcess", "Entity", ""),
        ("FileProcess", "Entity", None),
        ("FileProcess", "Entity", "x" * 201),
        ("FileProcess", "FileName", b"bytes"),
        ("FileProcess", "Data", "a\x00b"),
        ("FileProcess", "CycleKey", "x" * 201),
        ("FileProcess", "z_inserted", "yesterday"),
        ("ProcessBatch", "ProcessBatchName", ""),
        ("ProcessBatch", "Enabled", 2),
        ("ProcessBatch", "Enabled", "yes"),
        ("ProcessBatch", "Enabled", None),
        ("ProcessBatch", "Seq", "first"),
        ("ProcessBatch", "RetryCount", -1),
        ("ProcessBatch", "RetryCount", 1.5),
        ("ProcessBatch", "RetryWaitMins", -5),
        ("ProcessBatch", "OnFailure", "explode"),
        ("ProcessBatch", "DependencyMode", "some"),
        ("ProcessBatch", "MaxConcurrent", 0),
        ("ProcessBatch", "DuplicateCheck", -1),
        ("ProcessBatch", "PopulatorArgs", b"x"),
        ("ProcessControl", "ProcessBatch_id", 99),
        ("ProcessControl", "ProcessControlSeq", 0),
        ("ProcessControl", "ProcessControlSeq", -10),
        ("ProcessControl", "ProcessName", ""),
        ("ProcessControl", "ProcessType", None),
        ("ProcessControl", "MaxDuration", 0),
        ("ProcessControl", "AlarmDuration", "1h"),
        ("ProcessControl", "ExpectedDuration", -1),
        ("ProcessControl", "OnLost", "panic"),
        ("ProcessControl", "Data1", "\x00"),
        ("BatchControl", "Status", "success"),
        ("BatchControl", "RetryCount", -5),
        ("BatchControl", "PrevProcessControlSeq", -1),
        ("BatchControl", "NextRunTime", "tomorrow"),
        ("BatchControl", "NextRunTime", 20261121),
        ("BatchControl", "NextRunTime", "2026-11-21T03:15:00"),
        ("BatchControl", "NextRunTime", "2026-11-21 03:15:00+01:00"),
        ("BatchControl", "NextRunTime", "2026-11-21 03:15:00Z"),
        ("BatchControl", "NextRunTime", "2026-02-31"),
        ("BatchControl", "NextRunTime", "2026-11-21 24:00"),
        ("BatchControl", "NextRunTime", "2451545"),
        ("BatchControl", "NextRunTime", "now"),
        ("FileProcess", "z_inserted", "2026-11-31"),
        ("BatchControl", "ClaimToken", "mine"),
        ("BatchControl", "Data6", b"\xff"),
    ],
)
def test_a_wrong_value_is_refused_by_the_database(
    filled: sqlite3.Connection, table: str, column: str, value: object
) -> None:
    with pytest.raises(sqlite3.IntegrityError, match=f"{column}|FOREIGN KEY"):
        filled.execute(f"UPDATE {table} SET {column} = ?", (value,))


@pytest.mark.parametrize(
    ("table", "column", "value"),
    [
        ("FileProcess", "Status", "Ready"),
        ("ProcessBatch", "OnFailure", "Stop_All"),
        ("ProcessControl", "OnLost", "RERUN"),
        ("BatchControl", "Status", "PAUSED"),
        ("BatchControl", "NextRunTime", "2026-11-21"),
        ("BatchControl", "NextRunTime", "2026-11-21 03:15"),
        ("BatchControl", "NextRunTime", "2026-11-21 03:15:59.999999"),
        ("ProcessControl", "Data1", "x" * 1_000_000),
        ("FileProcess", "FileName", "quotes ' \" ` $(x) \\ \n\r\t \u202e 😀"),
    ],
)
def test_what_is_meant_well_is_taken(filled: sqlite3.Connection, table: str, column: str, value: str) -> None:
    filled.execute(f"UPDATE {table} SET {column} = ?", (value,))
    assert filled.execute(f"SELECT {column} FROM {table}").fetchone() == (value,)


def test_the_same_names_twice_are_refused(filled: sqlite3.Connection) -> None:
    for table in ("ProcessBatch", "ProcessControl", "BatchControl"):
        with pytest.raises(sqlite3.IntegrityError, match="UNIQUE"):
            filled.execute(MINIMAL[table])


def test_claiming_uses_the_partial_index(filled: sqlite3.Connection) -> None:
    filled.execute("ANALYZE")
    plan = filled.execute(
        "EXPLAIN QUERY PLAN SELECT * FROM BatchControl WHERE ProcessBatch_id = 1 AND BatchControl.Status IN"
        " ('ready', 'running', 'retry', 'failed', 'held', 'pausing', 'paused', 'cancelling')"
        " AND BatchControl_id > 0 ORDER BY BatchControl_id LIMIT 8"
    ).fetchall()
    assert "IX_BatchControl_Open" in str(plan)
