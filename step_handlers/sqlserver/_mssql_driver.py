"""The drivers for SQL Server: which one a connection names, and opening a session through it."""

from __future__ import annotations

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
_EXTRAS = {"pyodbc": "sqlserver", "mssql_python": "sqlserver-bundled"}
_ODBC_DRIVERS = ("ODBC Driver 18 for SQL Server", "ODBC Driver 17 for SQL Server")


def driver_of(connection: Connection) -> tuple[str, str]:
    """Return the module of a connection's driver, and the extra of batchctl that installs it.

    Where the URL names no driver it is pyodbc if that finds a way to the server, or else the one that needs no ODBC.
    """
    url = url_of(connection)
    asked = url.drivername.partition("+")[2]
    module = _MODULES[asked] if asked else "pyodbc" if _is_reached_by_pyodbc(url) else "mssql_python"
    return module, _EXTRAS[module]


def load(connection: Connection) -> Any:
    """Return the driver; raises `ImportError`, or `OSError` where a library of it is missing."""
    return import_module(driver_of(connection)[0])


def open_session(driver: Any, connection: Connection) -> Any:
    """Open a session of its own, in autocommit; raises `ConnectionRefused`."""
    # mssql-python raises for a connection string that it cannot read something else than its own `Error`.
    malformed: type[Exception] = getattr(driver, "ConnectionStringParseError", driver.Error)
    try:
        return _connect(driver, connection)
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


def _connect(driver: Any, connection: Connection) -> Any:
    url = _naming_the_driver(url_of(connection), driver)
    (text,), _ = url.get_dialect()().create_connect_args(url)
    if driver.__name__ == "pyodbc":
        # A pooled session would keep its lock and its settings.
        driver.pooling = False
        return driver.connect(f"{text};APP=batchctl/{__version__}", autocommit=True, timeout=LOGIN_SECONDS)
    driver.pooling(enabled=False)
    return driver.connect(text, autocommit=True, timeout=LOGIN_SECONDS)


def _is_reached_by_pyodbc(url: URL) -> bool:
    try:
        driver = import_module("pyodbc")
    except (ImportError, OSError):
        return False
    return _names_an_odbc_driver(url) or _odbc_driver(driver) is not None


def _naming_the_driver(url: URL, driver: Any) -> URL:
    if driver.__name__ != "pyodbc":
        return url.set(drivername="mssql+mssqlpython")
    found = None if _names_an_odbc_driver(url) else _odbc_driver(driver)
    return url.set(drivername="mssql+pyodbc").update_query_dict({} if found is None else {"driver": found})


def _names_an_odbc_driver(url: URL) -> bool:
    """Say whether a URL names an ODBC driver, or an ODBC source, which names one."""
    return "driver" in url.query or "odbc_connect" in url.query or not url.database


def _odbc_driver(driver: Any) -> str | None:
    installed = frozenset(driver.drivers())
    return next((name for name in _ODBC_DRIVERS if name in installed), None)
