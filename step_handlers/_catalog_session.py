"""A session in the SSIS catalog: opened for one step, every result drained, every refusal with its number."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import closing
from typing import Any, Protocol

from batchctl.plugin_api import Connection, visible
from step_handlers._catalog import Batch, error_of
from step_handlers._mssql import SqlServer
from step_handlers._mssql_driver import connect, load
from step_handlers._urls import without_passwords

_LONGEST_MESSAGE = 500
_PYODBC_NUMBER = re.compile(r"\(([0-9]+)\) \(SQL")
_LOGIN_REFUSED = "28000"
_LOST = ("08", "HYT", "IM")
"""What the SQLSTATE begins with when the session is at fault, not the statement."""


class Session(Protocol):
    """A database connection of DB-API 2.0, in autocommit."""

    def cursor(self) -> Any:
        """Return a cursor."""
        ...

    def close(self) -> None:
        """End the session."""
        ...


OpenSession = Callable[[Connection], Session]


class CatalogError(Exception):
    """The server refused something; the message is for the history."""

    def __init__(self, number: int, message: str) -> None:
        """Say what was refused."""
        super().__init__(message)
        self.number = number


class NoSession(Exception):
    """No session could be opened, or it broke; the message says why."""

    def __init__(self, message: str, *, fatal: bool = False) -> None:
        """Say why; `fatal` when trying again cannot help."""
        super().__init__(message)
        self.fatal = fatal


def open_session(connection: Connection) -> Session:
    """Open a session of its own, in autocommit; raises `NoSession`."""
    missing = SqlServer().missing(connection, "")
    if missing is not None:
        raise NoSession(missing, fatal=True)
    driver = load(connection)
    try:
        session: Session = connect(driver, connection)
    except driver.Error as error:
        said = visible(without_passwords(connection, str(error)))[:_LONGEST_MESSAGE]
        name = visible(connection.name)
        message = f"connection '{name}' cannot be opened: {said}; see the url of [connections.{name}]"
        raise NoSession(message, fatal=error.args[:1] == (_LOGIN_REFUSED,)) from None
    return session


def rows_of(session: Session, batch: Batch) -> Sequence[Any]:
    """Send a batch and return its last rows; every result is drained, for an error may come behind the first one."""
    rows: Sequence[Any] = []
    try:
        with closing(session.cursor()) as cursor:
            cursor.execute(batch.sql, batch.values)
            while True:
                if cursor.description is not None:
                    rows = cursor.fetchall()
                if not cursor.nextset():
                    break
    except Exception as error:  # noqa: BLE001 - every driver has exceptions of its own
        raise _of_driver(error) from None
    caught = error_of(rows)
    if caught is not None:
        raise CatalogError(*caught)
    return rows


def _of_driver(error: Exception) -> CatalogError | NoSession:
    """Tell what the batch could not catch itself; only pyodbc's text has the number of such an error."""
    said = visible(str(error))[:_LONGEST_MESSAGE] or type(error).__name__
    number = _PYODBC_NUMBER.search(str(error))
    state = str(error.args[0]) if error.args else ""
    if number is None or state.startswith(_LOST):
        return NoSession(said)
    return CatalogError(int(number.group(1)), said)
