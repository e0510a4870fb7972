"""A DB-API driver that plays what a SQL Server was seen to answer, as pyodbc and mssql-python hand it on."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from sqlalchemy import Connection, Engine

from batchctl.ports import Boundary
from batchctl.store import engine
from batchctl.store.intake import intake
from batchctl.store.transactions import StoreTransactions
from tests.sqlserver import taken

NOW = datetime(2026, 11, 21, 3, 15, 0, 123000, UTC).replace(tzinfo=None)
"""As a driver hands on a datetime2."""


class Error(Exception):
    """An error of a driver."""


def server_error(number: int, text: str, state: str = "42000", more: str = "") -> Error:
    """An error of the server as pyodbc words it: SQLSTATE, text, number, function, further messages."""
    prefix = f"[{state}] [Microsoft][ODBC Driver 18 for SQL Server][SQL Server]"
    return Error(state, f"{prefix}{text} ({number}) (SQLExecDirectW){more}")


def link_error(state: str = "08S01", number: int = 10054) -> Error:
    """The connection is gone, as pyodbc words it."""
    text = "TCP Provider: An existing connection was forcibly closed by the remote host."
    return Error(state, f"[{state}] [Microsoft][ODBC Driver 18 for SQL Server]{text} ({number}) (SQLExecDirectW)")


class ConnectionStringParseError(Exception):
    """What mssql-python says of a connection string; it is no error of DB-API."""

    def __init__(self, errors: list[str]) -> None:
        self.errors = errors
        super().__init__("Connection string parsing failed:\n  " + "\n  ".join(errors))


def python_error(driver_error: str, ddbc_error: str = "") -> Error:
    """An error as mssql-python words it: a constant for the SQLSTATE, no number."""
    error = Error(f"Driver Error: {driver_error}; DDBC Error: {ddbc_error}")
    error.__dict__.update(driver_error=driver_error, ddbc_error=f"[Microsoft][SQL Server]{ddbc_error}")
    return error


@dataclass
class Rows:
    """A result with rows."""

    rows: Sequence[Sequence[Any]]
    names: Sequence[str] = ("",)


@dataclass
class Count:
    """A result without rows."""

    changed: int = -1


Answer = Rows | Count | Exception
DONE: list[Answer] = [Count()]


def one(*values: Any) -> list[Answer]:
    """Answer with a single row."""
    return [Rows([values], [""] * len(values))]


_USUAL: tuple[tuple[str, list[Answer]], ...] = (
    (r"PARSENAME", one(16, 3, "READ_WRITE")),
    (r"delayed_durability_desc", one("DISABLED")),
    (r"SELECT SYSUTCDATETIME\(\)", one(NOW)),
    (r"'ProductVersion'", one("16.0.1000.6")),
    (r"@@version", one("Microsoft SQL Server 2022 - 16.0.1000.6 (X64)")),
    (r"schema_name\(\)", one("dbo")),
    (r"test max support", one("test max support")),
    (r"transaction_isolation_level|system_views", one("READ COMMITTED")),
    (r"fn_listextendedproperty", one(1)),
    (r"VIEW SERVER STATE", one(1)),
    (r"@@SPID, DATEDIFF", one(51, 108_000_000)),
    (r"XACT_STATE\(\)", one(1)),
    (r"sp_getapplock", one(0)),
    (r"APPLOCK_MODE", one("Exclusive")),
    (r"APPLOCK_TEST", one(1)),
)


def _no_rows(sql: str) -> list[Answer]:
    """Answer a SELECT of columns with no row of them."""
    selected = re.match(r"(?:BEGIN TRY\n)?SELECT (.*?)\s+FROM ", sql, re.DOTALL)
    return [] if selected is None else [Rows([], re.findall(r"(\w+)\]?(?:,|\Z)", selected[1].strip()))]


@dataclass
class SqlServer:
    """Answers each batch by the newest rule whose pattern is found in it; records everything it is asked."""

    module: str = "pyodbc"
    odbc_drivers: tuple[str, ...] = ("SQL Server", "ODBC Driver 18 for SQL Server")
    connecting: Exception | None = None
    asked: list[tuple[str, tuple[Any, ...]]] = field(default_factory=list)
    sizes: list[Any] = field(default_factory=list)
    connected: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    sessions: list[_Connection] = field(default_factory=list)
    pooling: bool = True
    closed: int = 0
    _rules: list[tuple[str, list[Sequence[Answer]]]] = field(default_factory=list)

    def when(self, pattern: str, *answers: Sequence[Answer]) -> None:
        """Answer batches with the pattern: in turn, the last answer for ever."""
        self._rules.insert(0, (pattern, list(answers)))

    def answers(self, sql: str) -> Sequence[Answer]:
        for pattern, turns in self._rules:
            if re.search(pattern, sql):
                return turns.pop(0) if len(turns) > 1 else turns[0]
        usual = next((answer for pattern, answer in _USUAL if re.search(pattern, sql)), None)
        return usual or _no_rows(sql) or DONE

    def wording(self, pattern: str) -> list[str]:
        """Return the batches with a pattern, in order."""
        return [sql for sql, _ in self.asked if re.search(pattern, sql)]

    def install(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Be the driver that can be imported, and the only one."""
        for name in ("pyodbc", "mssql_python"):
            monkeypatch.setitem(sys.modules, name, self.driver if name == self.module else None)

    def open(self, url: str, directory: Path) -> Engine:
        return engine.open_engine(url, directory)

    @property
    def driver(self) -> ModuleType:
        """The driver's module."""
        made = ModuleType(self.module)
        members: dict[str, Any] = {
            "Error": Error,
            "connect": self._connect,
            "version": "5.5.0",
            "__version__": "1.16.0",
        }
        members |= dict.fromkeys(("ProgrammingError", "InterfaceError"), Error)
        members |= {name: at for at, name in enumerate(("SQL_VARCHAR", "SQL_WVARCHAR", "NUMBER", "STRING", "DATETIME"))}
        if self.module == "pyodbc":
            members |= {"paramstyle": "qmark", "Cursor": _Cursor, "drivers": lambda: list(self.odbc_drivers)}
        else:
            members |= {"paramstyle": "pyformat", "pooling": self._switch_pooling}
            members |= {"ConnectionStringParseError": ConnectionStringParseError}
        made.__dict__.update(members)
        return made

    def _switch_pooling(self, *, enabled: bool) -> None:
        self.pooling = enabled

    def _connect(self, text: str, **given: Any) -> _Connection:
        if self.module == "pyodbc":
            self.pooling = bool(getattr(sys.modules["pyodbc"], "pooling", True))
        if self.connecting is not None:
            raise self.connecting
        self.connected.append((text, given))
        self.sessions.append(_Connection(self))
        return self.sessions[-1]


@dataclass
class _Connection:
    server: SqlServer
    timeout: int = 0
    is_open: bool = True

    def cursor(self) -> _Cursor:
        return _Cursor(self.server)

    def getinfo(self, kind: int) -> str:
        """Name the ODBC driver, as SQLAlchemy asks for it."""
        return "libmsodbcsql-18.so"

    def commit(self) -> None:
        """Accept what only the doctor's connections do: they are SQLAlchemy's own."""

    rollback = commit

    def add_output_converter(self, *given: Any) -> None:
        """Accept what SQLAlchemy hands to pyodbc."""

    def close(self) -> None:
        if not self.is_open:
            raise Error("HY010", "The connection has been closed.")
        self.is_open = False
        self.server.closed += 1


@dataclass
class _Cursor:
    server: SqlServer
    left: list[Answer] = field(default_factory=list)
    rows: list[Sequence[Any]] = field(default_factory=list)
    description: list[tuple[str, None]] | None = None
    rowcount: int = -1
    is_open: bool = True

    def setinputsizes(self, sizes: Any) -> None:
        """Keep the sizes."""
        self.server.sizes.append(sizes)

    def execute(self, sql: str, *parameters: Any) -> None:
        (values,) = parameters or ((),)
        assert sql.count("?") == len(values), sql
        if "transaction_isolation_level" not in sql:  # SQLAlchemy's own, for which it takes this server's words
            taken.SENT.append(sql)
        self.server.asked.append((sql, tuple(values)))
        self.left = list(self.server.answers(sql))
        if "batchctl_count" in sql and not isinstance(self.left[-1], Exception):
            counts = [answer.changed for answer in self.left if isinstance(answer, Count) and answer.changed >= 0]
            self.left.append(Rows([[counts[-1] if counts else 0]], ["batchctl_count"]))
        self.rowcount = self._next()

    def nextset(self) -> bool:
        if not self.left:
            self.description = None
            return False
        count = self._next()
        # mssql-python leaves what it knew of the first result, or of the rows that were read.
        self.rowcount = count if self.server.module == "pyodbc" else self.rowcount
        return True

    def fetchone(self) -> Sequence[Any] | None:
        return self.rows.pop(0) if self.rows else None

    def fetchall(self) -> list[Sequence[Any]]:
        found, self.rows = self.rows, []
        self.rowcount = self.rowcount if self.server.module == "pyodbc" else len(found)
        return found

    def close(self) -> None:
        if not self.is_open:
            raise Error("HY010", "The cursor has been closed.")
        self.is_open, self.left, self.rows = False, [], []

    def _next(self) -> int:
        answer = self.left.pop(0)
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, Count):
            self.description, self.rows = None, []
            return answer.changed
        self.description, self.rows = [(name, None) for name in answer.names], list(answer.rows)
        return -1


URLS = {
    "pyodbc": "mssql+pyodbc://user:s3cret@host/control",
    "mssql_python": "mssql+mssqlpython://user:s3cret@host/control",
}
C1 = frozenset({Boundary.INTAKE})


def transactions_of(server: SqlServer, directory: Path) -> StoreTransactions:
    return StoreTransactions(engine.open_engine(URLS[server.module], directory))


def add(connection: Connection) -> int:
    return intake.add(connection, entity="E", file_name=None, data=None, cycle_key=None, source="test")


def raising(error: Exception) -> list[Answer]:
    return [error]


ADDED = [Rows([[7]], ["FileProcess_id"])]
BROKEN = server_error(547, "The INSERT statement conflicted with the FOREIGN KEY constraint.", "23000")
