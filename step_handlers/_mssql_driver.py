"""The drivers for SQL Server: which one a connection names, and opening a session through it."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from batchctl import __version__
from batchctl.plugin_api import Connection, visible
from step_handlers._database import Unusable
from step_handlers._mssql_errors import ServerProblem
from step_handlers._urls import url_of, without_passwords

LOGIN_SECONDS = 10
_LONGEST_MESSAGE = 500


def driver_of(connection: Connection) -> tuple[str, str]:
    """Return the module of a connection's driver, and the extra of batchctl that installs it."""
    if url_of(connection).drivername == "mssql+mssqlpython":
        return "mssql_python", "sqlserver-bundled"
    return "pyodbc", "sqlserver"


def load(connection: Connection) -> Any:
    """Return the driver; raises `ImportError`, or `OSError` where a library of it is missing."""
    return import_module(driver_of(connection)[0])


def open_session(driver: Any, connection: Connection) -> Any:
    """Open a session of its own, in autocommit; raises `Unusable`."""
    # What mssql-python says of a connection string that it cannot read is no `Error` of its own.
    malformed: type[Exception] = getattr(driver, "ConnectionStringParseError", driver.Error)
    try:
        return _connect(driver, connection)
    except (driver.Error, malformed) as error:
        problem = ServerProblem.of(error)
        text = "; ".join(getattr(error, "errors", None) or [problem.text])
        said = visible(without_passwords(connection, text))[:_LONGEST_MESSAGE]
        is_fatal = problem.is_fatal or not isinstance(error, driver.Error)
    name = visible(connection.name)
    message = f"connection '{name}' cannot be opened: {said}"
    raise Unusable(f"{message}; see that the server is there, and the url of [connections.{name}]", fatal=is_fatal)


def _connect(driver: Any, connection: Connection) -> Any:
    url = url_of(connection)
    (text,), _ = url.get_dialect()().create_connect_args(url)
    if driver.__name__ == "pyodbc":
        # A pooled session would keep its lock and its settings.
        driver.pooling = False
        return driver.connect(f"{text};APP=batchctl/{__version__}", autocommit=True, timeout=LOGIN_SECONDS)
    driver.pooling(enabled=False)
    return driver.connect(text, autocommit=True, timeout=LOGIN_SECONDS)
