"""The staging tables that triggers watch, in the databases that steps work in: how many rows wait there, and since when."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from sqlalchemy import (
    Boolean,
    ColumnElement,
    Connection,
    Date,
    DateTime,
    Float,
    Inspector,
    Integer,
    Numeric,
    Select,
    String,
    Unicode,
    bindparam,
    case,
    cast,
    column,
    func,
    inspect,
    select,
    table,
    text,
)
from sqlalchemy.sql.elements import quoted_name
from sqlalchemy.sql.selectable import TableClause
from sqlalchemy.sql.type_api import TypeEngine
from sqlalchemy.types import NullType

from batchctl.domain.errors import NotFound, Refused
from batchctl.domain.intake.triggers import Counted
from batchctl.domain.rows import DataTrigger
from batchctl.domain.text import did_you_mean, visible
from batchctl.store.columns import UtcTime, utc_now
from batchctl.store.maintenance.examination import looking_at, open_target

_BOOLEANS = {"1": True, "true": True, "0": False, "false": False}
_NOW = select(utc_now().label("Now"))


@dataclass(frozen=True, slots=True)
class StagingTables:
    """Counts on a connection of its own each time, which any thread may do."""

    url_of: Callable[[str], str]
    """Returns the URL of a connection of the configuration, with its secrets."""
    directory: Path
    limit: timedelta
    """How long a statement may take."""

    def count(self, trigger: DataTrigger, ago: timedelta | None) -> Counted:
        """Count the rows that wait, those that came after the trigger fired some time `ago` apart."""
        opened = open_target(self.url_of(trigger.connection), self.directory)
        # A type that is not known is no failure where only its name is needed.
        warnings.filterwarnings("ignore", message="Did not recognize type")
        with looking_at(opened, trigger.connection) as connection:
            limit(connection, self.limit.total_seconds())
            found = _Staging.in_catalog(connection, trigger)
            after = None
            if ago is not None and found.created is not None:
                now: datetime = connection.execute(_NOW).scalar_one()
                # Many a clock only writes whole seconds: a row of the same one may well have come later.
                after = (now - ago).replace(microsecond=0)
            return _counted(connection.execute(found.counting(after)).one(), has_times=found.created is not None)


@dataclass(frozen=True, slots=True)
class _Staging:
    """A staging table, with its names as its own database spells them."""

    table: TableClause
    is_pending: ColumnElement[bool]
    created: ColumnElement[Any] | None
    """In UTC."""

    @classmethod
    def in_catalog(cls, connection: Connection, trigger: DataTrigger) -> _Staging:
        """Look every name up; raises `NotFound` and says what there is."""
        inspector, dialect = inspect(connection), connection.dialect.name
        schema, name = _find_table(inspector, trigger)
        kinds = {str(one["name"]): one["type"] for one in inspector.get_columns(name, schema)}
        status = _find_column(trigger, "StatusColumn", trigger.status_column, kinds)
        created = None
        if trigger.created_column is not None:
            named = _find_column(trigger, "CreatedColumn", trigger.created_column, kinds)
            created = in_utc(dialect, column(_quoted(named)), kinds[named])
            if created is None:
                raise Refused(
                    f"CreatedColumn '{visible(named)}' of table '{visible(trigger.table)}' is {kinds[named]}, no time.",
                    next_step="name a column that holds a date with a time, in UTC",
                )
        is_pending = _equals(column(_quoted(status)), kinds[status], trigger)
        return cls(table(_quoted(name), schema=_quoted(schema)), is_pending, created)

    def counting(self, after: datetime | None) -> Select[Any]:
        """Return the query; what came after a moment is counted apart."""
        found: list[ColumnElement[Any]] = [utc_now().label("Now"), func.count().label("Pending")]
        if (at := self.created) is not None:
            is_new = at.is_not(None) if after is None else at >= bindparam("after", after, UtcTime())
            new = case((is_new, at))
            found += [func.count(at).label("Dated"), func.min(at).label("Oldest"), func.max(at).label("Newest")]
            found += [func.count(new).label("New"), func.min(new).label("OldestNew")]
        counting = select(*found).select_from(self.table).where(self.is_pending)
        return passing_over_locks(counting, self.table)


def _counted(row: Any, *, has_times: bool) -> Counted:
    if not has_times:
        return Counted(pending=row.Pending)
    now, pending, dated, oldest, newest, new, oldest_new = row

    def age(at: datetime | None) -> timedelta | None:
        return None if at is None else now - at

    return Counted(
        pending=pending,
        undated=pending - dated,
        oldest=age(oldest),
        newest=age(newest),
        new=new,
        oldest_new=age(oldest_new),
    )


def _find_table(inspector: Inspector, trigger: DataTrigger) -> tuple[str | None, str]:
    """Return schema and name; a dot may stand between them, or in a name."""
    named, known = trigger.table, set[str]()
    places = [(None, named), *((named[:at], named[at + 1 :]) for at, sign in enumerate(named) if sign == ".")]
    for given, name in places:
        schemas = [given] if given is None else _spelled(given, inspector.get_schema_names())
        for schema in schemas:
            # Most are spelled as they stand there, or as PostgreSQL folds them: not all names have to be read.
            for likely in dict.fromkeys((name, name.lower())):
                if inspector.has_table(likely, schema):
                    return schema, likely
            there = [*inspector.get_table_names(schema), *inspector.get_view_names(schema)]
            if spelled := _spelled(name, there):
                return schema, spelled[0]
            known |= {one if schema is None else f"{schema}.{one}" for one in there}
    raise NotFound(
        f"There is no table '{visible(named)}' on connection '{visible(trigger.connection)}'."
        f"{visible(did_you_mean(named, known))}",
        next_step="correct TableName, or let the connection's user see the table",
    )


def _find_column(trigger: DataTrigger, which: str, named: str, known: Iterable[str]) -> str:
    if spelled := _spelled(named, known):
        return spelled[0]
    raise NotFound(
        f"Table '{visible(trigger.table)}' has no column '{visible(named)}'.{visible(did_you_mean(named, known))}",
        next_step=f"correct {which} of the trigger",
    )


def _spelled(named: str, known: Iterable[str]) -> list[str]:
    """Return a name as the database spells it, in any letter case: databases fold unquoted names differently."""
    alike = [one for one in known if one.lower() == named.lower()]
    return [named] if named in alike else alike if len(alike) == 1 else []


def _quoted(name: str | None) -> Any:
    return None if name is None else quoted_name(name, quote=True)


def _equals(status: ColumnElement[Any], kind: TypeEngine[Any], trigger: DataTrigger) -> ColumnElement[bool]:
    """Return the condition that a row is pending: the value is of the type that the column has."""
    said = trigger.pending_value
    if isinstance(kind, NullType):
        # Its type is not known, or it holds values of any, as a column of SQLite may.
        return cast(status, Unicode()) == said
    if isinstance(kind, String):
        return status == bindparam("pending", said, kind)
    if isinstance(kind, (Boolean, Integer, Numeric, Float)):
        return status == bindparam("pending", _number(said, kind, trigger), kind)
    return status == cast(bindparam("pending", said, Unicode()), kind)


def _number(wording: str, kind: TypeEngine[Any], trigger: DataTrigger) -> object:
    try:
        if isinstance(kind, Boolean):
            return _BOOLEANS[wording.strip().lower()]
        return int(wording) if isinstance(kind, Integer) else Decimal(wording)
    except (KeyError, ValueError, InvalidOperation):
        raise Refused(
            f"PendingValue '{visible(wording)}' is no value of '{visible(trigger.status_column)}', which is {kind}.",
            next_step="correct PendingValue of the trigger",
        ) from None


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
