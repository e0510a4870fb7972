"""Revisions 0006 and 0009 say SQLite's conditions otherwise: cheaper ones that take and refuse what the former did."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import datetime
from pathlib import Path

import pytest
from sqlalchemy.dialects import sqlite

from batchctl.domain import status
from batchctl.domain.errors import DatabaseUnusable
from batchctl.domain.rows import NEVER
from batchctl.store import engine, schema
from batchctl.store.columns import UtcTime
from batchctl.store.dialects import dialect_of
from batchctl.store.transactions import StoreTransactions

BEFORE, AFTER = "0005", "0010"
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
CREATE TABLE TheirOwn (Status TEXT CHECK (lower(Status) IN ('running', 'stopped', 'lost')), BatchControl_id INTEGER
    REFERENCES BatchControl (BatchControl_id));
INSERT INTO TheirOwn VALUES ('LOST', 1);
CREATE INDEX TheirIndex ON BatchControl (CycleKey);
CREATE VIEW TheirView AS SELECT * FROM BatchControl WHERE Status IN ('retry', 'failed', 'held');
CREATE TRIGGER TheirTrigger AFTER UPDATE ON FileProcess BEGIN SELECT 1; END;
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


def transactions_of(directory: Path) -> StoreTransactions:
    return StoreTransactions(engine.open_engine("sqlite:///batchctl.db", directory, may_create=True))


@pytest.fixture
def older(tmp_path: Path) -> Iterator[StoreTransactions]:
    """Return the way to a database of the revision before, with a row of everything and things that others have made."""
    made = transactions_of(tmp_path)
    made.run(frozenset(), lambda connection: schema.upgrade(connection, BEFORE))
    with closing(sqlite3.connect(tmp_path / "batchctl.db")) as hand:
        hand.executescript(FILLED)
    yield made
    made.close()


def at_revision(folder: Path, revision: str) -> sqlite3.Connection:
    """Return a connection to a filled database that was made at 0005, and then brought to a revision."""
    folder.mkdir()
    made = transactions_of(folder)
    made.run(frozenset(), lambda connection: schema.upgrade(connection, BEFORE))
    hand = sqlite3.connect(folder / "batchctl.db", isolation_level=None)
    hand.executescript(FILLED)
    made.run(frozenset(), lambda connection: schema.upgrade(connection, revision))
    made.close()
    return hand


@pytest.fixture
def both(tmp_path: Path) -> Iterator[tuple[sqlite3.Connection, sqlite3.Connection]]:
    """Return a database with the former conditions and one with the present ones."""
    former, present = at_revision(tmp_path / "former", BEFORE), at_revision(tmp_path / "present", AFTER)
    yield former, present
    former.close()
    present.close()


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


def is_refused_now(value: object, former: str, present: str) -> bool:
    """Say whether a time was taken that the engine cannot read, or that has a NUL, and is not any more."""
    illegible = isinstance(value, str) and ("\x00" in value or read(value) == NEVER)
    return illegible and former == "taken" and "CHECK" in present


def read(value: str) -> datetime | None:
    """Return what the engine reads, as what it will wait for."""
    return UtcTime().result_processor(sqlite.dialect(), None)(value)


def definitions(transactions: StoreTransactions) -> dict[str, str]:
    with transactions.read() as connection:
        return dialect_of(connection).definitions(connection)


@pytest.mark.parametrize("column", TIME_COLUMNS)
def test_the_same_times_are_taken_as_before(both: tuple[sqlite3.Connection, sqlite3.Connection], column: str) -> None:
    said = [[answer(hand, TIME_COLUMNS[column], value) for value in TIMES] for hand in both]

    assert [taken for taken in said[1] if taken == "taken"]
    for value, former, present in zip(TIMES, *said, strict=True):
        assert present == former or is_refused_now(value, former, present), repr(value)
    found = dict(zip(map(repr, TIMES), said[1], strict=True))
    for taken in ("2026-11-21", "2026-11-21 03:15", "2026-11-21 03:15:07.1234567", "2024-02-29 23:59:59.999"):
        assert found[repr(taken)] == "taken"
    for refused in ("2026-02-31 03:15:07.123", "2026-11-21 24:00:00.000", "2026-11-21T03:15:07.123", "now", "nan"):
        assert found[repr(refused)].startswith("SQLITE_CONSTRAINT_CHECK"), refused


def test_the_engine_can_read_whatever_time_is_taken(both: tuple[sqlite3.Connection, sqlite3.Connection]) -> None:
    """What it cannot read would wait for ever, and nothing would say so."""
    _, present = both
    taken = [value for value in TIMES if answer(present, TIME_COLUMNS["NextRunTime"], value) == "taken"]

    assert len(taken) > len(DAYS)
    assert [value for value in taken if isinstance(value, str) and read(value) == NEVER] == []
    for refused in ("2026-11-21 ", "2026-11-21 03:15:07.", "2026-11-21 03:15:07.123\x00x", "0000-01-01 03:15:07.123"):
        assert answer(present, TIME_COLUMNS["NextRunTime"], refused).startswith("SQLITE_CONSTRAINT_CHECK"), repr(
            refused
        )


def test_the_same_is_made_of_times_that_nobody_thought_of(
    both: tuple[sqlite3.Connection, sqlite3.Connection],
) -> None:
    chance = random.Random(6)
    statement = TIME_COLUMNS["NextRunTime"]
    for _ in range(3000):
        whole = f"{chance.randrange(10000):04}-{chance.randrange(14):02}-{chance.randrange(33):02}"
        whole += f" {chance.randrange(26):02}:{chance.randrange(62):02}:{chance.randrange(62):02}.{chance.randrange(1000):03}"
        at = chance.randrange(len(whole))
        changed = whole[:at] + chance.choice(" -:.+TZ09\x00") + whole[at + chance.randrange(2) :]
        for value in (whole, changed):
            former, present = (answer(hand, statement, value) for hand in both)
            assert present == former or is_refused_now(value, former, present), repr(value)


@pytest.mark.parametrize(("table", "column"), OWN_WORDS)
def test_the_same_words_are_taken_as_before(
    both: tuple[sqlite3.Connection, sqlite3.Connection], table: str, column: str
) -> None:
    ended = ", EndTime = NULL" if (table, column) == ("BatchProcessHistory", "Status") else ""
    for more in {"", ended}:
        statement = f"UPDATE {table} SET {column} = ?{more}"
        # Which of two constraints refuses what is no text at all is nobody's business.
        said = [[answer(hand, statement, word).partition(":")[0] for word in WORDS] for hand in both]
        assert said[1] == said[0]
        if not ended:
            taken = {word for word, answered in zip(WORDS, said[1], strict=True) if answered == "taken"}
            own = {member.value for member in OWN_WORDS[table, column]}
            assert taken == own | {word.upper() for word in own} | {word.title() for word in own}


def test_a_database_with_data_is_brought_up_as_it_stands(older: StoreTransactions, tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "batchctl.db", isolation_level=None)) as hand:
        tables = [name for (name,) in hand.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        tables = [name for name in tables if name not in {"alembic_version", "sqlite_sequence"}]
        # What later revisions add to a table comes behind what it has now.
        columns = {name: [row[1] for row in hand.execute(f"PRAGMA table_info({name})")] for name in tables}
        looks = {name: f"SELECT {', '.join(columns[name])} FROM {name}" for name in tables}
        before = {name: hand.execute(looks[name]).fetchall() for name in tables}

        older.run(frozenset(), schema.upgrade)

        assert {name: hand.execute(looks[name]).fetchall() for name in tables} == before
        for look in ("quick_check", "integrity_check"):
            assert hand.execute(f"PRAGMA {look}").fetchall() == [("ok",)]
        assert hand.execute("PRAGMA foreign_key_check").fetchall() == []
        # A connection that knew the tables before knows what they are now.
        hand.execute("BEGIN")
        hand.execute("DROP TRIGGER TR_BatchControl_AuditUpdate")  # What it does is for hands.
        told = hand.execute("EXPLAIN UPDATE BatchControl SET Status = 'held' WHERE BatchControl_id = 1").fetchall()
        hand.execute("ROLLBACK")
        assert "OpenEphemeral" not in {operation[1] for operation in told}
    with older.read() as connection:
        assert schema.differences(connection) == []
    theirs = {name for name in definitions(older) if name.startswith("Their")}
    assert theirs == {"TheirOwn", "TheirIndex", "TheirView", "TheirTrigger"}
    assert "lower(Status) IN" in definitions(older)["TheirOwn"]


def test_a_connection_that_knew_the_conditions_before_reads_them_again(
    older: StoreTransactions, tmp_path: Path
) -> None:
    def functions(hand: sqlite3.Connection, status: str) -> str:
        # Only what looks at rows finds out that the definitions are others.
        hand.execute("SELECT count(*) FROM BatchControl").fetchone()
        return repr(hand.execute(f"EXPLAIN UPDATE BatchControl SET Status = '{status}'").fetchall())

    older.run(frozenset(), lambda connection: schema.upgrade(connection, "0008"))
    with closing(sqlite3.connect(tmp_path / "batchctl.db", isolation_level=None)) as hand:
        assert "instr" in functions(hand, "held")
        older.run(frozenset(), lambda connection: schema.upgrade(connection, "0009"))
        assert "instr" not in functions(hand, "ready")


def test_there_and_back_again(older: StoreTransactions, tmp_path: Path) -> None:
    before = definitions(older)
    older.run(frozenset(), schema.upgrade)
    after = definitions(older)
    older.run(frozenset(), lambda connection: schema.downgrade(connection, BEFORE))

    assert definitions(older) == before
    assert after != before
    with closing(sqlite3.connect(tmp_path / "batchctl.db")) as hand:
        assert hand.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def test_an_upgrade_cut_in_the_middle_leaves_the_older_database(older: StoreTransactions) -> None:
    def cut(connection: object) -> None:
        schema.upgrade(connection)  # type: ignore[arg-type] # the store's connection
        raise KeyboardInterrupt

    before = definitions(older)
    with pytest.raises(KeyboardInterrupt):
        older.run(frozenset(), cut)

    assert definitions(older) == before
    with older.read() as connection:
        assert schema.revision_of(connection) == BEFORE
        told = connection.exec_driver_sql("EXPLAIN UPDATE BatchControl SET Status = 'held'").fetchall()
        assert "OpenEphemeral" in {operation[1] for operation in told}, "the connection has read what is there"
    older.run(frozenset(), schema.upgrade)
    with older.read() as connection:
        assert schema.differences(connection) == []


def test_a_library_that_lets_nobody_write_the_definitions_is_named(older: StoreTransactions) -> None:
    def defensive(action: int, what: str | None, to: str | None, *_: object) -> int:
        is_it = (action, what, to) == (sqlite3.SQLITE_PRAGMA, "writable_schema", "ON")
        return sqlite3.SQLITE_IGNORE if is_it else sqlite3.SQLITE_OK

    before = definitions(older)
    with older.read() as connection:
        connection.connection.dbapi_connection.set_authorizer(defensive)  # type: ignore[union-attr] # sqlite3's own
    with pytest.raises(DatabaseUnusable, match="lets nobody write sqlite_master") as refused:
        older.run(frozenset(), schema.upgrade)

    assert "db upgrade" in str(refused.value.next_step)
    assert definitions(older) == before


def test_the_printed_script_asks_for_nothing_that_the_shell_of_sqlite_refuses() -> None:
    script = schema.script("sqlite")

    assert "sqlite_master" not in script
    assert "writable_schema" not in script
    assert "lower(Status)" not in script
