"""A catalog that follows a script: what each batch answers, in order, with the sequences that were seen or documented."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from batchctl.plugin_api import Connection
from step_handlers.databases._database import ConnectionRefused
from step_handlers.sqlserver._mssql_driver import ServerConnection
from tests.step_handlers.execution import Alone


class DriverError(Exception):
    """An exception as pyodbc has them: the SQLSTATE, and a text with the number."""


CONNECTION_LOST = DriverError("08S01", "[08S01] TCP Provider: Error code 0x2746 (10054) (SQLExecDirectW)")
NUMBERED = "[42000] [Microsoft][ODBC Driver 18 for SQL Server][SQL Server]{text} ({number}) (SQLExecDirectW)"
KINDS = {
    "create": "[create_execution]",
    "start": "[start_execution]",
    "stop": "[stop_operation]",
    "messages": "[operation_messages]",
    "search": "[execution_parameter_values]",
    "status": "[executions]",
    "pause": "WAITFOR",
}


class MssqlPythonError(Exception):
    """An exception as mssql-python has them: words in place of the SQLSTATE, no number."""

    def __init__(self, driver_error: str, ddbc_error: str = "") -> None:
        super().__init__(f"Driver Error: {driver_error}; DDBC Error: {ddbc_error}")
        self.driver_error = driver_error
        self.ddbc_error = f"[Microsoft][SQL Server]{ddbc_error}" if ddbc_error else ""


class Caught(list[tuple[Any, ...]]):
    """A result with an error that the batch itself has caught: its first column says so."""


def caught(number: int, text: str = "no") -> list[list[tuple[Any, ...]]]:
    """The answer of a batch that caught an error."""
    return [Caught([(number, 16, "catalog.start_execution", 21, text)])]


def rows(*values: tuple[Any, ...]) -> list[list[tuple[Any, ...]]]:
    """The answer of a batch with one result."""
    return [list(values)]


@dataclass
class Late:
    """Results, and behind them an error that only nextset() raises."""

    results: list[list[tuple[Any, ...]]]
    error: Exception


Answer = Any


@dataclass
class Catalog:
    """What is asked of the catalog, and its answers: a list for each kind of batch, whose last one is repeated."""

    answers: dict[str, list[Answer]]
    asked: list[str] = field(default_factory=list)
    batches: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)
    sessions: list[ScriptedSession] = field(default_factory=list)
    refused_sessions: frozenset[int] = frozenset()
    meanwhile: Callable[[str], None] = lambda _: None

    def open(self, connection: Connection) -> ServerConnection:
        """Open a session, unless this one is to be refused."""
        session = ScriptedSession(self)
        self.sessions.append(session)
        if len(self.sessions) in self.refused_sessions:
            raise ConnectionRefused(f"connection '{connection.name}' cannot be opened: login timeout")
        return ServerConnection(session, DriverError, is_pyodbc=True)

    def answer(self, sql: str, values: Sequence[str]) -> Answer:
        """Return the next answer to a batch of this kind."""
        assert sql.count("?") == len(values)
        kind = next(kind for kind, mark in KINDS.items() if mark in sql)
        self.asked.append(kind)
        self.batches.append((sql, tuple(values)))
        self.meanwhile(kind)
        script = self.answers.get(kind, [[]])
        return script.pop(0) if len(script) > 1 else script[0]


@dataclass
class ScriptedSession:
    """A DB-API connection."""

    catalog: Catalog
    closed: bool = False

    def cursor(self) -> ScriptedCursor:
        """Return a cursor."""
        assert not self.closed
        return ScriptedCursor(self.catalog)

    def close(self) -> None:
        """End the session."""
        self.closed = True


@dataclass
class ScriptedCursor:
    """A DB-API cursor over several results."""

    catalog: Catalog
    results: list[list[tuple[Any, ...]]] = field(default_factory=list)
    late: Exception | None = None

    def execute(self, sql: str, values: Sequence[str]) -> None:
        """Send a batch."""
        match self.catalog.answer(sql, values):
            case Exception() as error:
                raise error
            case Late(results, error):
                self.results, self.late = list(results), error
            case results:
                self.results = list(results)

    @property
    def description(self) -> object:
        """None when there is no result."""
        if not self.results:
            return None
        return [("batchctl_error",)] if isinstance(self.results[0], Caught) else [("column",)]

    def fetchall(self) -> list[tuple[Any, ...]]:
        """Return the rows of this result."""
        return self.results[0]

    def nextset(self) -> bool:
        """Go on to the next result, or to the error behind the last."""
        self.results = self.results[1:]
        if not self.results and self.late is not None:
            raise self.late
        return bool(self.results)

    def close(self) -> None:
        """Close it."""


@dataclass
class Watched(Alone):
    """An execution that remembers the sessions it is told of, and can be told to stop."""

    sessions: list[str] = field(default_factory=list)
    announced: bool = False

    def in_session(self, name: str) -> None:
        """Remember the session."""
        self.sessions.append(name)

    @property
    def stopping(self) -> bool:
        """True once told."""
        return self.announced

    @property
    def must_end(self) -> bool:
        """Nothing is ended by force here."""
        return False

    def stop(self) -> None:
        """Tell it to stop, and carry out what was named for that."""
        self.announced = True
        for action in self.stops:
            action()


def statements(text: str) -> list[str]:
    """The statements of a command text without its comments and the frame that sqlglot does not read."""
    framed = re.sub(r"(?m)^(BEGIN TRY|END TRY|BEGIN CATCH|THROW;|END CATCH;|--.*)$", "", text)
    return [line for line in framed.split("\n") if line]
