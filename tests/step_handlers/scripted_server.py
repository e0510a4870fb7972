"""A DB-API driver that plays what a SQL Server was seen to answer: results in order, errors where they come up."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from tests.sqlserver import taken


class Error(Exception):
    """An error of pyodbc: a SQLSTATE and a text with the number."""


class MssqlPythonError(Error):
    """An error of mssql-python: words in place of the SQLSTATE, no number."""

    def __init__(self, driver_error: str, ddbc_error: str) -> None:
        super().__init__(f"Driver Error: {driver_error}; DDBC Error: {ddbc_error}")
        self.driver_error = driver_error
        self.ddbc_error = ddbc_error


class ConnectionStringParseError(Exception):
    """What mssql-python says of a connection string; it is no error of DB-API."""

    def __init__(self, errors: list[str]) -> None:
        self.errors = errors
        super().__init__("Connection string parsing failed:\n  " + "\n  ".join(errors))


def server_error(number: int, text: str, state: str = "42000") -> Error:
    """An error of the server, as pyodbc words it."""
    return Error(
        state, f"[{state}] [Microsoft][ODBC Driver 18 for SQL Server][SQL Server]{text} ({number}) (SQLExecDirectW)"
    )


@dataclass
class Rows:
    """A result with rows, and what the server said on the way to it."""

    names: Sequence[str]
    rows: Sequence[Sequence[Any]]
    wording: Sequence[str] = ()


@dataclass
class Count:
    """A result without rows."""

    changed: int = -1
    wording: Sequence[str] = ()


@dataclass
class Last:
    """What the server said behind its last result: it comes with the answer that there is no other."""

    wording: Sequence[str]


@dataclass
class Failure:
    """An error, and what the server said on the way to it."""

    error: Exception
    wording: Sequence[str]


Answer = Rows | Count | Last | Failure | Exception

SESSION = Rows(["session_id", ""], [[51, "2026-11-21T03:00:00.123"]])
NOTHING_OPEN: list[Answer] = [Rows([""], [[0]])]
ONE_OPEN: list[Answer] = [Rows([""], [[1]])]
GRANTED: list[Answer] = [Rows([""], [[0]])]
ERROR_COLUMNS = ["batchctl_error", "severity", "state", "line", "procedure", "message"]


@dataclass
class Server:
    """Answers each batch by the first pattern found in it; records everything it is asked."""

    batch: Sequence[Answer]
    """What the step's own batch answers."""
    session: Sequence[Answer] = field(default_factory=lambda: [SESSION])
    lock: Sequence[Answer] = field(default_factory=lambda: GRANTED)
    open_transactions: Sequence[Answer] = field(default_factory=lambda: NOTHING_OPEN)
    roll_back: Sequence[Answer] = (Count(),)
    holder: Sequence[Answer] = (Rows([""], []),)
    connecting: Exception | None = None
    kill: Sequence[Answer] = (Count(),)
    before_batch: Callable[[], None] = lambda: None
    module: str = "pyodbc"
    odbc_drivers: Sequence[str] = ("SQL Server", "ODBC Driver 18 for SQL Server")
    asked: list[tuple[str, tuple[Any, ...]]] = field(default_factory=list)
    connected: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    closed: int = 0
    cancelled: int = 0
    cancelling: Exception | None = None
    while_cancelling: Callable[[], None] = lambda: None
    while_closing: Callable[[], None] = lambda: None
    pooling_off: bool = False

    def answers(self, sql: str) -> Sequence[Answer]:
        for pattern, answers in (
            (r"SET LANGUAGE|SET ANSI|SET XACT", (Count(),)),
            (r"dm_exec_sessions", self.session),
            (r"sp_getapplock", self.lock),
            (r"dm_tran_locks", self.holder),
            (r"\ASELECT @@TRANCOUNT\Z", self.open_transactions),
            (r"\AKILL ", self.kill),
            (r"\AIF @@TRANCOUNT > 0 ROLLBACK", self.roll_back),
        ):
            if re.search(pattern, sql) and "BEGIN TRY" not in sql:
                return answers
        self.before_batch()
        return self.batch

    @property
    def driver(self) -> Any:
        """The driver's module."""
        if self.module == "pyodbc":
            return _Pyodbc(self)
        return SimpleNamespace(
            __name__="mssql_python",
            Error=Error,
            ConnectionStringParseError=ConnectionStringParseError,
            connect=self.connect,
            pooling=self.switch_pooling,
        )

    def switch_pooling(self, *, enabled: bool) -> None:
        self.pooling_off = not enabled

    def connect(self, text: str, **given: Any) -> _Opened:
        if self.connecting:
            raise self.connecting
        self.connected.append((text, given))
        return _Opened(self)


class _Pyodbc:
    __name__ = "pyodbc"
    Error = Error

    def __init__(self, server: Server) -> None:
        self._server = server

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "pooling":
            self._server.pooling_off = not value
        super().__setattr__(name, value)

    def drivers(self) -> list[str]:
        return list(self._server.odbc_drivers)

    def connect(self, text: str, **given: Any) -> _Opened:
        return self._server.connect(text, **given)


@dataclass
class _Opened:
    server: Server

    def cursor(self) -> _Cursor:
        return _CancellingCursor(self.server) if self.server.module == "pyodbc" else _Cursor(self.server)

    def close(self) -> None:
        self.server.closed += 1
        self.server.while_closing()


@dataclass
class _Cursor:
    """A cursor of mssql-python: `rowcount` is that of the first result, then of the rows that have been read."""

    server: Server
    counts_every_result = False
    read: int = 0
    left: list[Answer] = field(default_factory=list)
    rows: list[Sequence[Any]] = field(default_factory=list)
    messages: list[tuple[str, str]] = field(default_factory=list)
    description: list[tuple[str]] | None = None
    rowcount: int = -1

    @property
    def hstmt(self) -> Any:
        """The handle of the statement, which alone can be cancelled."""
        return SimpleNamespace(_cancel=self._cancel)

    def _cancel(self) -> None:
        self.server.cancelled += 1
        self.server.while_cancelling()
        if self.server.cancelling is not None:
            raise self.server.cancelling

    def execute(self, sql: str, *parameters: Any) -> None:
        taken.SENT.append(sql)
        self.server.asked.append((sql, parameters))
        self.left = list(self.server.answers(sql))
        self.rowcount = self._next()

    def nextset(self) -> bool:
        self.messages = []
        if not self.left or isinstance(self.left[0], Last):
            self.messages = [_wording(text) for last in self.left if isinstance(last, Last) for text in last.wording]
            self.description = None
            return False
        count = self._next()
        self.rowcount = count if self.counts_every_result else self.rowcount
        return True

    def _next(self) -> int:
        answer = self.left.pop(0)
        if isinstance(answer, Failure):
            self.messages, answer = [_wording(text) for text in answer.wording], answer.error
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, Last):
            raise TypeError("a batch begins with a result")
        self.messages = [_wording(text) for text in answer.wording]
        self.read = 0
        if isinstance(answer, Count):
            self.description, self.rows = None, []
            return answer.changed
        self.description, self.rows = [(name,) for name in answer.names], list(answer.rows)
        return -1

    def fetchmany(self, size: int = 1) -> list[Sequence[Any]]:
        first, self.rows = self.rows[:size], self.rows[size:]
        self.read += len(first)
        self.rowcount = self.rowcount if self.counts_every_result else self.read
        return first

    def fetchone(self) -> Sequence[Any] | None:
        return next(iter(self.fetchmany()), None)


class _CancellingCursor(_Cursor):
    """A cursor of pyodbc: it counts every result, and can be cancelled."""

    counts_every_result = True

    def cancel(self) -> None:
        self._cancel()


def _wording(text: str) -> tuple[str, str]:
    return "[01000] (0)", f"[Microsoft][ODBC Driver 18 for SQL Server][SQL Server]{text}"
