"""A session in the SSIS catalog: opened for one step, every result drained, every error with its number."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from typing import Any

from batchctl.plugin_api import Connection, visible
from step_handlers.databases._database import ConnectionRefused
from step_handlers.packages._catalog import ERROR, Batch, error_of
from step_handlers.sqlserver._mssql_driver import ServerConnection
from step_handlers.sqlserver._mssql_errors import LOST_STATES, ReportedError

_LONGEST_MESSAGE = 500
_BROKEN = ("08", "HYT", "IM", *LOST_STATES)
"""The beginnings of the SQLSTATE when the session is at fault, not the statement."""
_DEADLOCK = 1205
_STANDING_FOR = {"40001": _DEADLOCK, "42000": 229, "42S02": 208}
"""What a SQLSTATE means where the driver has no number.

A batch reports the number of every error that it can catch. What it cannot are names that are missing and rights
that are lacking in the batch itself, which has no syntax errors.
"""


OpenSession = Callable[[Connection], ServerConnection]


class CatalogError(Exception):
    """The server refused something; the message is for the history."""

    def __init__(self, number: int, message: str) -> None:
        """Keep what was refused."""
        super().__init__(message)
        self.number = number


def rows_of(session: ServerConnection, batch: Batch) -> Sequence[Any]:
    """Send a batch and return its last rows; every result is drained, for an error may come behind the first one."""
    rows: Sequence[Any] = []
    caught: tuple[int, str] | None = None
    try:
        with closing(session.cursor()) as cursor:
            cursor.execute(batch.sql, batch.values)
            while True:
                if cursor.description is not None:
                    rows = cursor.fetchall()
                    caught = caught or (error_of(rows[0]) if cursor.description[0][0] == ERROR else None)
                if not cursor.nextset():
                    break
    except Exception as error:  # noqa: BLE001 - every driver has exceptions of its own
        raise _of_driver(error) from None
    if caught is not None:
        raise CatalogError(*caught)
    return rows


def _of_driver(error: Exception) -> CatalogError | ConnectionRefused:
    """Return what the batch could not catch itself; only pyodbc knows the number of such an error."""
    reported = ReportedError.of(error)
    said = visible(reported.text)[:_LONGEST_MESSAGE] or type(error).__name__
    number = _STANDING_FOR.get(reported.state) if reported.number is None else reported.number
    if number is None or reported.state.startswith(_BROKEN):
        return ConnectionRefused(said)
    return CatalogError(number, said)
