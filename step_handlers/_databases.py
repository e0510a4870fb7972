"""The kinds of target databases, chosen by the URL of the connection."""

from __future__ import annotations

from batchctl.plugin_api import Connection, visible
from step_handlers.databases._database import ConnectionRefused, Database
from step_handlers.databases._sqlite import Sqlite, file_of
from step_handlers.databases._urls import MalformedUrl, url_of
from step_handlers.postgres._postgres import Postgres
from step_handlers.sqlserver._mssql import SqlServer

_DRIVERS = {"postgresql": ("postgresql", "postgresql+psycopg"), "mssql": ("mssql", "mssql+pyodbc", "mssql+mssqlpython")}


def database_of(connection: Connection) -> Database:
    """Return the connection's kind of database; raises `ConnectionRefused`."""
    if connection.dialect == "sqlite":
        file_of(connection, "")
        return Sqlite()
    known = _DRIVERS.get(connection.dialect)
    if known is None:
        message = f"connection '{visible(connection.name)}' needs {visible(connection.dialect)}, which is not supported"
        if connection.dialect == "postgres":
            raise ConnectionRefused(f"{message}; write postgresql:// for postgres://")
        raise ConnectionRefused(f"{message}; use a url with sqlite, postgresql+psycopg or mssql+pyodbc")
    try:
        url = url_of(connection)
    except MalformedUrl as error:
        raise ConnectionRefused(str(error)) from None
    if url.drivername not in known:
        message = f"connection '{visible(connection.name)}' names the driver {visible(url.drivername)}"
        raise ConnectionRefused(f"{message}, which is not supported; write {' or '.join(known[-2:])}")
    return Postgres() if connection.dialect == "postgresql" else SqlServer()
