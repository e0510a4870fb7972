"""The drivers for SQL Server: which one a connection names, and opening a session through it."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any

from sqlalchemy import URL

from batchctl import __version__
from batchctl.plugin_api import Connection, visible
from step_handlers.databases._database import ConnectionRefused
from step_handlers.databases._urls import url_of, without_passwords
from step_handlers.sqlserver._mssql_errors import ReportedError

LOGIN_SECONDS = 10
_LONGEST_MESSAGE = 500

_MODULES = {"pyodbc": "pyodbc", "mssqlpython": "mssql_python"}
_INSTALLS = {
    "pyodbc": "needs pyodbc and Microsoft's ODBC driver: {}; install it: pip install 'batchctl[sqlserver]'",
    "mssql_python": "needs mssql_python: {}; install it: pip install 'batchctl[sqlserver-bundled]'",
}
_ODBC_DRIVERS = ("ODBC Driver 18 for SQL Server", "ODBC Driver 17 for SQL Server")


@dataclass(frozen=True, slots=True)
class ServerConnection:
    """A session with the server in autocommit, the same through both drivers but for what is said here."""

    opened: Any
    """What the driver returns."""
    error: type[Exception]
    """What the driver raises."""
    is_pyodbc: bool
    """It counts every result, and gives up what comes behind an error.

    mssql-python reads on there, and leaves the count of the first result, or of the rows that were read, standing.
    """

    def cursor(self) -> Any:
        """Return a cursor."""
        return self.opened.cursor()

    def cancel(self, cursor: Any) -> None:
        """Cancel without blocking: mssql-python has that at the handle of its statement alone."""
        if self.is_pyodbc:
            cursor.cancel()
        else:
            cursor.hstmt._cancel()  # noqa: SLF001 - its only way

    def close(self) -> None:
        """End the session."""
        self.opened.close()


def driver_of(connection: Connection) -> Any:
    """Return the module of a connection's driver; raises `ConnectionRefused` where it or a library of it is missing.

    Where the URL names no driver it is pyodbc if that finds a way to the server, or else the one that needs no ODBC.
    """
    url = url_of(connection)
    asked = url.drivername.partition("+")[2]
    module = _MODULES[asked] if asked else "pyodbc" if _is_reached_by_pyodbc(url) else "mssql_python"
    try:
        return import_module(module)
    except (ImportError, OSError) as error:
        lacks = _INSTALLS[module].format(visible(str(error)))
        raise ConnectionRefused(f"connection '{visible(connection.name)}' {lacks}", fatal=True) from None


def open_session(connection: Connection) -> ServerConnection:
    """Open a session of its own, in autocommit; raises `ConnectionRefused`."""
    driver = driver_of(connection)
    # mssql-python raises for a connection string that it cannot read something else than its own `Error`.
    malformed: type[Exception] = getattr(driver, "ConnectionStringParseError", driver.Error)
    try:
        return ServerConnection(_connect(driver, url_of(connection)), driver.Error, _is_pyodbc(driver))
    except (driver.Error, malformed) as error:
        reported = ReportedError.of(error)
        text = "; ".join(getattr(error, "errors", None) or [reported.text])
        said = visible(without_passwords(connection, text))[:_LONGEST_MESSAGE]
        is_fatal = reported.is_fatal or not isinstance(error, driver.Error)
    name = visible(connection.name)
    message = f"connection '{name}' cannot be opened: {said}"
    raise ConnectionRefused(
        f"{message}; see that the server is there, and the url of [connections.{name}]", fatal=is_fatal
    )


def _connect(driver: Any, url: URL) -> Any:
    if not _is_pyodbc(driver):
        driver.pooling(enabled=False)
        text = _connection_string(url.set(drivername="mssql+mssqlpython"))
        return driver.connect(text, autocommit=True, timeout=LOGIN_SECONDS)
    # A pooled session would keep its lock and its settings.
    driver.pooling = False
    found = None if _names_an_odbc_driver(url) else _odbc_driver(driver)
    text = _connection_string(
        url.set(drivername="mssql+pyodbc").update_query_dict({} if found is None else {"driver": found})
    )
    return driver.connect(f"{text};APP=batchctl/{__version__}", autocommit=True, timeout=LOGIN_SECONDS)


def _connection_string(url: URL) -> str:
    (text,), _ = url.get_dialect()().create_connect_args(url)
    return str(text)


def _is_pyodbc(driver: Any) -> bool:
    return bool(driver.__name__ == "pyodbc")


def _is_reached_by_pyodbc(url: URL) -> bool:
    try:
        driver = import_module("pyodbc")
    except (ImportError, OSError):
        return False
    return _names_an_odbc_driver(url) or _odbc_driver(driver) is not None


def _names_an_odbc_driver(url: URL) -> bool:
    """Say whether a URL names an ODBC driver, or an ODBC source, which names one."""
    return "driver" in url.query or "odbc_connect" in url.query or not url.database


def _odbc_driver(driver: Any) -> str | None:
    installed = frozenset(driver.drivers())
    return next((name for name in _ODBC_DRIVERS if name in installed), None)
