"""What people insert by hand: the minimal row works, a wrong one is refused by the database."""

from __future__ import annotations

import re

import pytest
from sqlalchemy import make_url

from batchctl.store.conditions import one_of
from batchctl.store.tables import IN_LINE_INSTANCE
from tests.control_databases import UTC_HOUR, ControlDatabase, SqliteControl
from tests.hand import Hand

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
def filled(hand: Hand) -> Hand:
    """Return a database with one minimal row in each table that people write."""
    for statement in MINIMAL.values():
        hand.sql(statement)
    return hand


def test_minimal_inserts_get_their_defaults(filled: Hand) -> None:
    batch = (
        "SELECT Entity, Enabled, Seq, RetryCount, RetryWaitMins, Populator, OnFailure, DependencyMode, MaxConcurrent"
    )
    assert filled.sql(f"{batch}, DuplicateCheck FROM ProcessBatch") == [
        (None, 1, 100, 0, 5, "pattern", "hold_batch", "all", 1, 1)
    ]
    instance = "SELECT PrevProcessControlSeq, Status, RetryCount, NextRunTime, ClaimToken, LostCount FROM BatchControl"
    assert filled.sql(instance) == [(0, "ready", 0, "1900-01-01 00:00:00.000", 0, 0)]
    assert filled.sql("SELECT OnLost FROM ProcessControl") == [("hold",)]
    assert filled.sql("SELECT Status FROM FileProcess") == [("ready",)]


@pytest.mark.parametrize("table", MINIMAL)
def test_times_are_utc_with_milliseconds(filled: Hand, control_database: ControlDatabase, table: str) -> None:
    ((at, now),) = filled.sql(f"SELECT z_inserted, {UTC_HOUR[control_database.kind]} FROM {table}")
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}", at)
    assert at[:13] == now


WRONG: list[tuple[str, str, object]] = [
    ("FileProcess", "Status", "READY "),
    ("FileProcess", "Entity", ""),
    ("FileProcess", "Entity", None),
    ("FileProcess", "Entity", "x" * 201),
    ("FileProcess", "Data", "a\x00b"),
    ("FileProcess", "CycleKey", "x" * 201),
    ("ProcessBatch", "ProcessBatchName", ""),
    ("ProcessBatch", "Enabled", 2),
    ("ProcessBatch", "Enabled", "yes"),
    ("ProcessBatch", "Enabled", None),
    ("ProcessBatch", "Seq", "first"),
    ("ProcessBatch", "RetryCount", -1),
    ("ProcessBatch", "RetryWaitMins", -5),
    ("ProcessBatch", "OnFailure", "explode"),
    ("ProcessBatch", "DependencyMode", "some"),
    ("ProcessBatch", "MaxConcurrent", 0),
    ("ProcessBatch", "DuplicateCheck", -1),
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
    ("BatchControl", "RetryCount", -5),
    ("BatchControl", "PrevProcessControlSeq", -1),
    ("BatchControl", "NextRunTime", 20261121),
    ("BatchControl", "NextRunTime", "2026-02-31"),
    ("FileProcess", "z_inserted", "2026-11-31"),
    ("BatchControl", "ClaimToken", "mine"),
]
WRONG_ON_SQLITE: list[tuple[str, str, object]] = [
    ("FileProcess", "FileName", b"bytes"),
    ("ProcessBatch", "PopulatorArgs", b"x"),
    ("BatchControl", "Data6", b"\xff"),
    ("FileProcess", "z_inserted", "yesterday"),
    ("ProcessBatch", "RetryCount", 1.5),
    ("BatchControl", "NextRunTime", "tomorrow"),
    ("BatchControl", "NextRunTime", "2026-11-21T03:15:00"),
    ("BatchControl", "NextRunTime", "2026-11-21 03:15:00+01:00"),
    ("BatchControl", "NextRunTime", "2026-11-21 03:15:00Z"),
    ("BatchControl", "NextRunTime", "2026-11-21 24:00"),
    ("BatchControl", "NextRunTime", "2451545"),
    ("BatchControl", "NextRunTime", "now"),
]
"""A server reads these as what they say and stores a time or a number; SQLite would store the text."""


@pytest.mark.parametrize(("table", "column", "value"), WRONG)
def test_a_wrong_value_is_refused_by_the_database(filled: Hand, table: str, column: str, value: object) -> None:
    before = filled.dump()
    with pytest.raises(filled.Refused):
        filled.sql(f"UPDATE {table} SET {column} = ?", value)
    assert filled.dump() == before


@pytest.mark.parametrize(("table", "column", "value"), [*WRONG, *WRONG_ON_SQLITE])
def test_sqlite_names_the_column_of_a_wrong_value(
    sqlite_database: SqliteControl, table: str, column: str, value: object
) -> None:
    hand = sqlite_database.hand()
    for statement in MINIMAL.values():
        hand.sql(statement)
    with pytest.raises(hand.Refused, match=f"{column}|FOREIGN KEY"):
        hand.sql(f"UPDATE {table} SET {column} = ?", value)
    hand.close()


@pytest.mark.parametrize(
    ("table", "column", "value"),
    [
        ("FileProcess", "Status", "Ready"),
        ("ProcessBatch", "OnFailure", "Stop_All"),
        ("ProcessControl", "OnLost", "RERUN"),
        ("BatchControl", "Status", "PAUSED"),
        ("ProcessControl", "Data1", "x" * 1_000_000),
        ("FileProcess", "Data", "x" * 1_000_000),
        ("FileProcess", "FileName", "quotes ' \" ` $(x) \\ \n\r\t \u202e 😀"),
    ],
)
def test_what_is_meant_well_is_taken(
    filled: Hand, control_database: ControlDatabase, table: str, column: str, value: str
) -> None:
    filled.sql(f"UPDATE {table} SET {column} = ?", value)
    is_word = column in {"Status", "OnFailure", "OnLost"} and control_database.kind == "postgresql"
    assert filled.sql(f"SELECT {column} FROM {table}") == [(value.lower() if is_word else value,)]


@pytest.mark.parametrize("word", ["PAUSED", "Paused", "paused"])
def test_a_status_is_found_in_whatever_letter_case_it_was_written(filled: Hand, word: str) -> None:
    filled.sql("UPDATE BatchControl SET Status = ?", word)
    assert filled.sql("SELECT count(*) FROM BatchControl WHERE Status = 'paused'") == [(1,)]


@pytest.mark.parametrize("moment", ["2026-11-21", "2026-11-21 03:15", "2026-11-21 03:15:59.999"])
def test_a_time_may_be_written_short(filled: Hand, moment: str) -> None:
    filled.sql("UPDATE BatchControl SET NextRunTime = ?", moment)
    ((kept,),) = filled.sql("SELECT NextRunTime FROM BatchControl")
    assert kept.startswith(moment)


def test_the_same_names_twice_are_refused(filled: Hand) -> None:
    for table in ("ProcessBatch", "ProcessControl", "BatchControl"):
        with pytest.raises(filled.Refused, match=r"(?i)unique"):
            filled.sql(MINIMAL[table])


def test_claiming_uses_the_partial_index(filled: Hand, control_database: ControlDatabase) -> None:
    is_in_line = one_of("Status", IN_LINE_INSTANCE).compile(dialect=make_url(control_database.url).get_dialect()())
    claims = (
        f"SELECT * FROM BatchControl WHERE ProcessBatch_id = 1 AND {is_in_line}"
        " AND BatchControl_id > 0 ORDER BY BatchControl_id LIMIT 8"
    )
    filled.sql("INSERT INTO ProcessBatch (ProcessBatchName) VALUES ('other')")
    filled.many("INSERT INTO FileProcess (FileProcess_id, Entity) VALUES (?, 'E')", [(n,) for n in range(1000, 4000)])
    filled.many(
        "INSERT INTO BatchControl (ProcessBatch_id, FileProcess_id, Status) VALUES (1, ?, 'complete')",
        [(n,) for n in range(1000, 4000)],
    )
    filled.sql("ANALYZE")
    explain = {"sqlite": "EXPLAIN QUERY PLAN", "postgresql": "EXPLAIN"}[control_database.kind]
    assert "IX_BatchControl_InLine" in str(filled.sql(f"{explain} {claims}"))


def test_the_number_of_an_attempt_is_never_given_again(filled: Hand) -> None:
    """By it a host remembers what became of a command."""
    add = (
        "INSERT INTO BatchProcessHistory (BatchControl_id, ProcessBatch_id, ProcessControlSeq, ProcessName, ProcessType,"
        " CommandText) SELECT BatchControl_id, ProcessBatch_id, 1, 'step', 'sql', '' FROM BatchControl"
    )
    given = []
    for _ in range(2):
        filled.sql(add)
        given += filled.sql("SELECT max(BatchProcessHistory_id) FROM BatchProcessHistory")
        filled.sql("DELETE FROM BatchProcessHistory")

    assert given[1] > given[0]
