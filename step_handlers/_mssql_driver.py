"""The drivers for SQL Server: which one a connection names, and opening a session through it."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from batchctl import __version__
from batchctl.plugin_api import Connection
from step_handlers._urls import url_of


def driver_of(connection: Connection) -> tuple[str, str]:
    """Return the module of a connection's driver, and the extra of batchctl that installs it."""
    if url_of(connection).drivername == "mssql+mssqlpython":
        return "mssql_python", "sqlserver-bundled"
    return "pyodbc", "sqlserver"


def load(connection: Connection) -> Any:
    """Return the driver; raises `ImportError`, or `OSError` where a library of it is missing."""
    return import_module(driver_of(connection)[0])


def connect(driver: Any, connection: Connection) -> Any:
    """Open a session of its own, in autocommit; raises the driver's `Error`."""
    url = url_of(connection)
    (text,), _ = url.get_dialect()().create_connect_args(url)
    if driver.__name__ == "pyodbc":
        # A pooled session would keep its lock and its settings.
        driver.pooling = False
        return driver.connect(f"{text};APP=batchctl/{__version__}", autocommit=True, timeout=10)
    driver.pooling(enabled=False)
    return driver.connect(text, autocommit=True)
