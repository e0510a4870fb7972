"""What differs from one kind of target database to another when the rows of a staging table are counted."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, Date, DateTime, Select, case, cast, func, text
from sqlalchemy.sql.elements import ColumnElement
from sqlalchemy.sql.selectable import TableClause
from sqlalchemy.sql.type_api import TypeEngine

from batchctl.store.columns import UtcTime

_WRITTEN = "%Y-%m-%d %H:%M:%f"
_OFFSET = "DATETIMEOFFSET"


def limit(connection: Connection, seconds: float) -> None:
    """Let no statement of the connection take longer, nor wait longer for a lock, as far as the database can see to it."""
    milliseconds = int(seconds * 1000)
    match connection.dialect.name:
        case "postgresql":
            connection.exec_driver_sql(f"SET statement_timeout = {milliseconds}")
        case "mssql":
            connection.exec_driver_sql(f"SET LOCK_TIMEOUT {milliseconds}")
            raw: Any = connection.connection.dbapi_connection
            raw.timeout = max(1, int(seconds))
        case _:
            connection.exec_driver_sql(f"PRAGMA busy_timeout = {milliseconds}")
            connection.exec_driver_sql("PRAGMA query_only = ON")


def passing_over_locks(statement: Select[Any], table: TableClause) -> Select[Any]:
    """Let SQL Server count only unlocked rows, where it would wait for the transaction that loads the table."""
    return statement.with_hint(table, "WITH (READPAST, READCOMMITTEDLOCK)", "mssql")


def in_utc(dialect: str, column: ColumnElement[Any], kind: TypeEngine[Any]) -> ColumnElement[Any] | None:
    """Return a column's time, read as UTC where it has no zone; None when the column is of no such type."""
    match dialect:
        case "sqlite":
            # Any column may hold any value here: text, a number of seconds since 1970, or one of days since long before.
            in_seconds = func.strftime(_WRITTEN, column, "unixepoch", type_=UtcTime())
            return case(
                (func.typeof(column) == "integer", in_seconds), else_=func.strftime(_WRITTEN, column, type_=UtcTime())
            )
        case "postgresql" if isinstance(kind, (Date, DateTime)):
            # It knows moments that nothing else can hold: one such row must not keep the others from being counted.
            in_range = column.between(text("DATE '0002-01-01'"), text("DATE '9999-12-30'"))
            has_zone = isinstance(kind, DateTime) and kind.timezone
            return case(
                (in_range, func.timezone("UTC", column, type_=UtcTime()) if has_zone else cast(column, UtcTime()))
            )
        case "mssql" if kind.__class__.__name__ == _OFFSET:
            return cast(func.switchoffset(column, "+00:00"), UtcTime())
        case _ if isinstance(kind, (Date, DateTime)):
            return cast(column, UtcTime())
        case _:
            return None
