"""The kinds of control database the suite runs on: one suite, every database."""

from __future__ import annotations

import re
import sqlite3
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import psycopg

from batchctl.store import engine
from batchctl.store.dialects import dialect_of
from batchctl.store.maintenance import schema
from batchctl.store.tables import metadata
from batchctl.store.transactions import StoreTransactions
from tests.hand import Hand
from tests.postgres import PostgresServer
from tests.sqlserver.control import MssqlControl, walked

FIRST_TWO = ("sqlite", "postgresql")
"""For what comes with texts of its own for these: examples, and clients that read a script."""
KINDS = ("mssql",) if walked() else FIRST_TWO
"""What the suite runs on; `dev.py sqlserver` has it run on a server that somebody has."""


@dataclass
class SqliteControl:
    """A file."""

    directory: Path
    kind: str = "sqlite"

    @property
    def url(self) -> str:
        return f"sqlite:///{self.directory / 'batchctl.db'}"

    def hand(self) -> Hand:
        return SqliteHand(self.directory / "batchctl.db")


class SqliteHand(Hand):
    Refused = sqlite3.IntegrityError

    def __init__(self, path: Path) -> None:
        self.connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        self.connection.execute("PRAGMA foreign_keys = ON")
        self.connection.execute("PRAGMA synchronous = OFF")  # no test takes the power away

    def sql(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        return self.connection.execute(statement, values).fetchall()

    def many(self, statement: str, rows: Iterable[Sequence[object]]) -> None:
        self.connection.execute("BEGIN")
        self.connection.executemany(statement, rows)
        self.connection.execute("COMMIT")

    def loosen(self) -> None:
        # What no column takes, the triggers that write changes down cannot write down either; others refuse it themselves.
        self.sql("BEGIN")
        for (name,) in self.sql(
            "SELECT name FROM sqlite_master WHERE type = 'trigger'"
            " AND (name LIKE '%\\_Audit%' ESCAPE '\\' OR sql LIKE '%RAISE(%')"
        ):
            self.sql(f"DROP TRIGGER {name}")
        self.sql("COMMIT")
        self.sql("PRAGMA ignore_check_constraints = ON")
        self.sql("PRAGMA foreign_keys = OFF")

    def begin_writing(self) -> None:
        self.sql("BEGIN IMMEDIATE")

    def close(self) -> None:
        self.connection.close()


@dataclass
class PostgresControl:
    """A database of the tests' server."""

    server: PostgresServer
    directory: Path
    name: str
    kind: str = "postgresql"
    url: str = field(init=False)

    def __post_init__(self) -> None:
        self.url = self.server.url(self.name)

    def hand(self) -> Hand:
        return PostgresHand(self.server.connect(self.name))


class PostgresHand(Hand):
    Refused = psycopg.Error

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self.connection = connection
        connection.execute("SET TimeZone = 'UTC'")

    def sql(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        cursor = self.connection.execute(_marked(statement), values or None)
        return [tuple(map(_as_text, row)) for row in cursor.fetchall()] if cursor.description else []

    def many(self, statement: str, rows: Iterable[Sequence[object]]) -> None:
        with self.connection.transaction(), self.connection.cursor() as cursor:
            cursor.executemany(_marked(statement), list(rows))

    def loosen(self) -> None:
        for table, constraint in self.sql(
            "SELECT conrelid::regclass::text, conname FROM pg_constraint WHERE contype IN ('c', 'f')"
            " AND connamespace = 'public'::regnamespace"
        ):
            self.sql(f'ALTER TABLE {table} DROP CONSTRAINT "{constraint}"')

    def begin_writing(self) -> None:
        self.sql("BEGIN")
        self.sql(f"LOCK TABLE {', '.join(metadata.tables)} IN EXCLUSIVE MODE")

    def close(self) -> None:
        self.connection.close()


class Emptied:
    """Databases of one server, emptied after each use; one whose tables were changed is not used again."""

    def __init__(self, server: PostgresServer, template: str) -> None:
        self.server = server
        self._template = template
        self._idle: list[str] = []
        with server.connect(template) as connection:
            self._fingerprint = _fingerprint(connection)

    def lend(self) -> str:
        """Return the name of an empty database."""
        return self._idle.pop() if self._idle else self.server.new_database(self._template)

    def take_back(self, name: str) -> None:
        """Empty a database for the next test."""
        with self.server.connect(name) as connection:
            if _fingerprint(connection) != self._fingerprint:
                return
            _empty(connection)
        self._idle.append(name)


def _fingerprint(connection: psycopg.Connection[Any]) -> object:
    """Return what differs as soon as anything about the tables is changed; a copy has the same."""
    counted = " UNION ALL ".join(
        f"SELECT count(*), sum(xmin::text::bigint) FROM {catalog} WHERE {column} > 16383"
        for catalog, column in _CATALOGS.items()
    )
    return connection.execute(counted.encode()).fetchall()


def _empty(connection: psycopg.Connection[Any]) -> None:
    """Delete the rows of the tables that have any, and let the numbers that were given begin anew."""
    looks = " UNION ALL ".join(
        f"SELECT '{table}' WHERE EXISTS (SELECT FROM {table}{_MADE if table == 'Setting' else ''})"
        for table in metadata.tables
    )
    filled = [name for (name,) in connection.execute(looks.encode()) if name != "NamedLock"]
    used = (
        "SELECT sequencename FROM pg_sequences"
        " WHERE schemaname = 'public' AND last_value IS NOT NULL AND sequencename NOT LIKE 'setting%'"
    )
    # Nobody but a superuser gets past the triggers that guard the audit log.
    emptying = ["SET session_replication_role = replica"]
    emptying += [f"DELETE FROM {table}{_MADE if table == 'Setting' else ''}" for table in filled]
    emptying += [f"ALTER SEQUENCE {name} RESTART" for (name,) in connection.execute(used)]
    connection.execute("; ".join(emptying).encode())


_MADE = " WHERE Name <> 'DatabaseId'"
_CATALOGS = {
    "pg_attribute": "attrelid",
    "pg_constraint": "oid",
    "pg_index": "indexrelid",
    "pg_proc": "oid",
    "pg_trigger": "oid",
}


UTC_HOUR = {
    "sqlite": "strftime('%Y-%m-%d %H', 'now')",
    "postgresql": "to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24')",
    "mssql": "CONVERT(varchar(13), SYSUTCDATETIME(), 120)",
}
_WITHOUT_BATCHES = {
    "sqlite": ("DELETE FROM ProcessControl", "DELETE FROM ProcessBatch", "DELETE FROM sqlite_sequence"),
    "postgresql": (
        "SET session_replication_role = replica",
        "TRUNCATE ProcessControl, ProcessBatch RESTART IDENTITY CASCADE",
    ),
}
_TRIGGERS = "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name LIKE 'Process%'"
ACTS = "Action NOT LIKE 'row %'"
"""Of the audit log: what people did with commands, not what the triggers have seen of it."""
IMPATIENT = {
    "sqlite": "PRAGMA busy_timeout = 1",
    "postgresql": "SET lock_timeout = '1ms'",
    "mssql": "SET LOCK_TIMEOUT 1",
}


def _marked(statement: str) -> Any:
    return re.sub(r"\?(?=(?:[^']|'[^']*')*$)", "%s", statement.replace("%", "%%")) if "?" in statement else statement


def _as_text(value: object) -> object:
    """Show a moment as SQLite keeps it, so that a test may compare it."""
    return value.isoformat(" ", "milliseconds") if hasattr(value, "isoformat") else value


ControlDatabase = SqliteControl | PostgresControl | MssqlControl


def with_tables(database: ControlDatabase) -> None:
    """Give a database its tables, with no batch in them, so that a test's own begin with 1."""
    if isinstance(database, SqliteControl):
        (database.directory / "batchctl.db").write_bytes(_sqlite_file())
    elif isinstance(database, MssqlControl):
        database.make_tables()
    else:
        _make_tables(database)


@cache
def _sqlite_file() -> bytes:
    """Return what a file with the tables holds; making one takes longer than most tests."""
    with tempfile.TemporaryDirectory(prefix="batchctl-tables-") as folder:
        made = SqliteControl(Path(folder))
        _make_tables(made)
        return (made.directory / "batchctl.db").read_bytes()


def _make_tables(database: ControlDatabase) -> None:
    transactions = StoreTransactions(engine.open_engine(database.url, database.directory, may_create=True))
    with transactions.read() as connection:
        dialect_of(connection).prepare(connection)
    transactions.run(frozenset(), schema.upgrade)
    transactions.close()
    hand = database.hand()
    triggers = [] if database.kind == "postgresql" else hand.sql(_TRIGGERS)
    for name, _ in triggers:
        hand.sql(f"DROP TRIGGER {name}")
    for statement in _WITHOUT_BATCHES[database.kind]:
        hand.sql(statement)
    for _, definition in triggers:
        hand.sql(definition)
    hand.close()
