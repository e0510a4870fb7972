"""Control databases on a real SQL Server, made beside the throw-away one that the walk was given: each test has its own."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, make_url

from batchctl.store import engine, views
from batchctl.store.dialects.mssql_session import MssqlSession, ServerError
from batchctl.store.maintenance import schema
from batchctl.store.tables import metadata
from batchctl.store.transactions import StoreTransactions
from tests.hand import Hand

URL = "SQLSERVER_WALK_URL"
"""The variable of the environment in which `dev.py sqlserver` hands on which database to walk through."""
_OURS = frozenset({*metadata.tables, "alembic_version"})
_KEPT = " WHERE Name <> 'DatabaseId'"


def walked() -> str | None:
    """Return the URL of the database that is walked through; None where no SQL Server is asked for."""
    return os.environ.get(URL)


@dataclass
class Pool:
    """The databases that tests are lent: no two have one at the same time, and making one takes seconds."""

    create: Callable[[str], None]
    made: list[str] = field(default_factory=list)
    free: list[str] = field(default_factory=list)

    def take(self, given: str) -> str:
        """Return a database that nobody has, named after the one that was given."""
        if not self.free:
            name = f"{given}_batchctl_{len(self.made) + 1}"
            self.create(name)
            self.made.append(name)
            return name
        return self.free.pop()

    def give_back(self, name: str) -> None:
        """Let another have it."""
        self.free.append(name)


def _create(name: str) -> None:
    hand = MssqlHand(str(walked()), Path.cwd())
    hand.sql(f"IF DB_ID(N'{name}') IS NULL CREATE DATABASE [{name}]")
    hand.sql(f"ALTER DATABASE [{name}] SET READ_COMMITTED_SNAPSHOT ON WITH ROLLBACK IMMEDIATE")
    hand.close()


POOL = Pool(_create)


def drop_all() -> dict[str, str]:
    """Drop what was made for the tests; return the databases that were left, each with what was said of it."""
    left = {}
    for name in POOL.made:
        # Each by a connection of its own: a server that has lost one may take the next.
        try:
            hand = MssqlHand(str(walked()), Path.cwd())
            hand.sql(f"ALTER DATABASE [{name}] SET SINGLE_USER WITH ROLLBACK IMMEDIATE")
            hand.sql(f"DROP DATABASE [{name}]")
            hand.close()
        except Exception as error:  # noqa: BLE001 - whatever it was, the others have to go too
            left[name] = str(error).partition("\n")[0]
    POOL.made.clear()
    return left


def lent(request: pytest.FixtureRequest, directory: Path) -> MssqlControl:
    """Return a database for as long as a fixture lives."""
    name = POOL.take(str(make_url(str(walked())).database))
    request.addfinalizer(lambda: POOL.give_back(name))
    return MssqlControl(directory, name)


@dataclass
class MssqlControl:
    """One of them, with its tables or with nothing in it."""

    directory: Path
    name: str
    kind: str = "mssql"

    @property
    def url(self) -> str:
        return make_url(str(walked())).set(database=self.name).render_as_string(hide_password=False)

    def hand(self) -> MssqlHand:
        return MssqlHand(self.url, self.directory)

    def make_tables(self) -> None:
        """Make the tables once for all tests, and empty them for this one."""
        _made_once(self.url)
        with_hand = self.hand()
        with_hand.empty()
        with_hand.close()

    def clear(self) -> None:
        """Drop everything, for a test that makes the tables itself."""
        hand = self.hand()
        hand.drop_everything()
        hand.close()
        _MADE_ONCE.discard(self.url)


_MADE_ONCE = set[str]()


def _made_once(url: str) -> None:
    if url in _MADE_ONCE:
        return
    _MADE_ONCE.add(url)
    folder = Path.cwd()
    hand = MssqlHand(url, folder)
    hand.drop_everything()
    hand.close()
    transactions = StoreTransactions(engine.open_engine(url, folder))
    transactions.run(frozenset(), schema.upgrade)
    transactions.close()


class MssqlHand(Hand):
    Refused = ServerError

    def __init__(self, url: str, directory: Path) -> None:
        self._connection: Connection = engine.open_engine(url, directory).connect()

    @property
    def _session(self) -> MssqlSession:
        session: Any = self._connection.connection.dbapi_connection
        return session  # type: ignore[no-any-return]

    def sql(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        cursor = self._session.execute(statement, values)
        return [tuple(map(_as_text, row)) for row in cursor.fetchall()]

    def many(self, statement: str, rows: Iterable[Sequence[object]]) -> None:
        self.sql("BEGIN TRANSACTION")
        for row in rows:
            self.sql(statement, *row)
        self.sql("COMMIT TRANSACTION")

    def loosen(self) -> None:
        for table in metadata.tables:
            self.sql(f"ALTER TABLE {table} NOCHECK CONSTRAINT ALL; DISABLE TRIGGER ALL ON {table};")

    def begin_writing(self) -> None:
        self.sql("BEGIN TRANSACTION")
        for table in metadata.tables:
            self.sql(f"SELECT COUNT(*) FROM {table} WITH (TABLOCKX, HOLDLOCK)")

    def close(self) -> None:
        self._connection.close()

    def empty(self) -> None:
        """Delete every row, let the numbers begin anew, and drop the tables of other tests' own."""
        for (name,) in self.sql("SELECT name FROM sys.tables WHERE schema_id = SCHEMA_ID()"):
            if name not in _OURS:
                self.sql(f"DROP TABLE [{name}]")
        for table in metadata.tables:
            self.sql(f"ALTER TABLE {table} NOCHECK CONSTRAINT ALL; DISABLE TRIGGER ALL ON {table};")
        for table in metadata.tables:
            self.sql(f"DELETE FROM {table}{_KEPT if table == 'Setting' else ''}")
            kept = self.sql(f"SELECT COALESCE(MAX({table}_id), 0) FROM {table}")[0][0]
            # A table that never had a row would give it the number itself that it is told, any other the one after.
            given = (
                f"SELECT 1 FROM sys.identity_columns WHERE object_id = OBJECT_ID('{table}') AND last_value IS NOT NULL"
            )
            self.sql(f"IF EXISTS ({given}) DBCC CHECKIDENT ('{table}', RESEED, {kept}) WITH NO_INFOMSGS")
        for table in metadata.tables:
            self.sql(f"ALTER TABLE {table} WITH CHECK CHECK CONSTRAINT ALL; ENABLE TRIGGER ALL ON {table};")

    def drop_everything(self) -> None:
        """Drop views, tables and what hangs on them; the database itself stays."""
        for (name,) in self.sql("SELECT name FROM sys.views WHERE schema_id = SCHEMA_ID()"):
            if name in views.NAMES:
                self.sql(f"DROP VIEW [{name}]")
        for table, constraint in self.sql(
            "SELECT OBJECT_NAME(parent_object_id), name FROM sys.foreign_keys WHERE schema_id = SCHEMA_ID()"
        ):
            self.sql(f"ALTER TABLE [{table}] DROP CONSTRAINT [{constraint}]")
        for (name,) in self.sql("SELECT name FROM sys.tables WHERE schema_id = SCHEMA_ID()"):
            self.sql(f"DROP TABLE [{name}]")


def _as_text(value: object) -> object:
    """Show a moment as SQLite keeps it, so that a test may compare it."""
    return value.isoformat(" ", "milliseconds") if hasattr(value, "isoformat") else value
