"""Column types and constraints that make one SQL text mean the same on every database."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from functools import lru_cache
from importlib import import_module
from typing import Any, ClassVar, Self, TypeVar

from sqlalchemy import (
    NVARCHAR,
    BigInteger,
    Boolean,
    Column,
    Dialect,
    Integer,
    SmallInteger,
    String,
    Text,
    Unicode,
    UnicodeText,
    types,
)
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql import expression
from sqlalchemy.sql.elements import quoted_name
from sqlalchemy.sql.type_api import TypeEngine

from batchctl.domain.rows import NEVER
from batchctl.domain.text import NAME_LIMIT

_EXACT = "Latin1_General_100_BIN2"
"""How SQL Server compares names and Data: letter by letter, as the other databases do, whatever the server's default."""


Made = TypeVar("Made")


def unquoted(text: str) -> quoted_name:
    """Return an identifier that is emitted as written, never quoted."""
    return quoted_name(text, quote=False)


class UtcTime(types.TypeDecorator[datetime]):
    """A moment in UTC with milliseconds; text such as `2026-11-21 03:15:00.000` on SQLite."""

    impl = types.DateTime
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """Choose text on SQLite, whose own date functions read it; elsewhere a type with milliseconds and no zone."""
        match dialect.name:
            case "sqlite":
                return dialect.type_descriptor(Text())
            case "mssql":
                return _only_there("mssql", "DATETIME2", 3)
            case _:
                return _only_there("postgresql", "TIMESTAMP", precision=3)

    def bind_processor(self, dialect: Dialect) -> Callable[[datetime | None], Any]:
        """Write a moment without zone, as UTC."""
        return _as_text if dialect.name == "sqlite" else _without_zone

    def literal_processor(self, dialect: Dialect) -> Callable[[datetime], str]:  # noqa: ARG002 - SQLAlchemy's hook
        """Write a moment into the text of a statement, as every dialect reads it."""
        return lambda moment: f"'{_as_text(moment)}'"

    def result_processor(self, dialect: Dialect, coltype: object) -> Callable[[Any], datetime | None]:  # noqa: ARG002 - SQLAlchemy's hook
        """Read a moment and give it its zone back."""
        return _from_text if dialect.name == "sqlite" else _with_zone


def _only_there(dialect: str, name: str, *arguments: Any, **options: Any) -> TypeEngine[Any]:
    """Return a type that only one dialect has; importing a dialect takes time, and most commands need none but their own."""
    made: TypeEngine[Any] = getattr(import_module(f"sqlalchemy.dialects.{dialect}"), name)(*arguments, **options)
    return made


@lru_cache(maxsize=256)
def _without_zone(moment: datetime | None) -> datetime | None:
    return None if moment is None else moment.astimezone(UTC).replace(tzinfo=None)


def _with_zone(moment: datetime | None) -> datetime | None:
    return None if moment is None else moment.replace(tzinfo=UTC)


@lru_cache(maxsize=256)
def _as_text(moment: datetime | None) -> str | None:
    return (
        None
        if moment is None
        else moment.astimezone(UTC).replace(tzinfo=None).isoformat(sep=" ", timespec="milliseconds")
    )


@lru_cache(maxsize=256)
def _from_text(text: str | None) -> datetime | None:
    if text is None:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except (TypeError, ValueError):
        # Only somebody who switched the constraints off leaves such a text: the row waits for ever, the others go on.
        return NEVER
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


class stamp(expression.FunctionElement[datetime]):  # noqa: N801 - reads as an SQL function
    """What the engine writes into z_updated: the time it is given, or a millisecond later where that time stands there.

    By that the database tells the engine's changes from those by hand, which leave z_updated as it is. Two turns may
    have the same time: clocks tell no less than a millisecond, and nothing is written before what it is about.
    """

    type = UtcTime()
    inherit_cache = True

    def __init__(self, z_updated: Column[datetime], called: str = "now") -> None:
        """Take the column, and what the parameter with the time is called."""
        super().__init__(expression.bindparam(called, type_=z_updated.type, required=True), z_updated)


@compiles(stamp)
def _stamped(element: stamp, compiler: Any, **options: Any) -> str:
    now, column = element.clauses
    given = str(compiler.process(now, **options))
    match compiler.dialect.name:
        case "postgresql":
            # There the engine is known by the name of its connections.
            return given
        case "sqlite":
            later = f"strftime('%Y-%m-%d %H:%M:%f', {column.name}, '+0.001 seconds')"
        case _:
            later = f"DATEADD(millisecond, 1, {column.name})"
    return f"coalesce(nullif({given}, {column.name}), {later})"


class database_user(expression.FunctionElement[str]):  # noqa: N801 - reads as an SQL function
    """The user of a connection to the database; `sql` on SQLite, which has no users. Used as a column default."""

    type = String()
    inherit_cache = True
    wording: ClassVar = {"sqlite": "'sql'", "postgresql": "SESSION_USER", "mssql": "ORIGINAL_LOGIN()"}


class utc_now(expression.FunctionElement[datetime]):  # noqa: N801 - reads as an SQL function
    """The database's own clock, UTC, milliseconds; used as a column default."""

    type = UtcTime()
    inherit_cache = True
    wording: ClassVar = {
        "sqlite": "(strftime('%Y-%m-%d %H:%M:%f','now'))",
        "postgresql": "(clock_timestamp() AT TIME ZONE 'UTC')",
        "mssql": "SYSUTCDATETIME()",
    }


@compiles(database_user)
@compiles(utc_now)
def _worded(element: database_user | utc_now, compiler: Any, **options: Any) -> str:  # noqa: ARG001 - SQLAlchemy's hook
    return str(element.wording[compiler.dialect.name])


class condition(expression.FunctionElement[bool]):  # noqa: N801 - reads as an SQL function
    """A condition that is written like a function."""

    type = Boolean()
    inherit_cache = True

    def self_group(self, against: Any = None) -> Self:  # noqa: ARG002 - SQLAlchemy's hook
        """Stand as a condition where one is wanted; SQLAlchemy would compare a function's value with 1."""
        return self


def readable(rows: Iterable[Any], make: Callable[[Any], Made]) -> list[Made]:
    """Make values of rows, leaving out those that hold nonsense; `check` names them."""
    made = []
    for row in rows:
        try:
            made.append(make(row))
        except (TypeError, ValueError, OverflowError):
            continue
    return made


def identity() -> TypeEngine[int]:
    """Return the type of a primary key the database numbers itself."""
    return BigInteger().with_variant(Integer(), "sqlite")


def reference() -> TypeEngine[int]:
    """Return the type of a column that holds another row's id."""
    return BigInteger().with_variant(Integer(), "sqlite")


def name(length: int = NAME_LIMIT) -> TypeEngine[str]:
    """Return the type of a short text that names something."""
    return Unicode(length).with_variant(Unicode(length, collation=_EXACT), "mssql")


def word() -> TypeEngine[str]:
    """Return the type of a status word, read in any letter case; on PostgreSQL a trigger writes it in lower case."""
    kind = String(20).with_variant(Text(collation="NOCASE"), "sqlite")
    return kind.with_variant(String(20, collation="Latin1_General_100_CI_AS"), "mssql")


def text_column() -> TypeEngine[str]:
    """Return the type of a text of any length."""
    return UnicodeText().with_variant(NVARCHAR(None, _EXACT), "mssql")


def in_words(column: str, words: list[str], in_any_case: str = "lower({})") -> str:
    """Return the condition that a column holds one of some words, in any letter case; on SQLite its collation says that."""
    listed = ", ".join(f"'{word}'" for word in words)
    return f"{in_any_case.format(column)} IN ({listed})"


@compiles(Unicode, "sqlite")
def _strict_text(element: Unicode, compiler: Any, **options: Any) -> str:  # noqa: ARG001 - SQLAlchemy's hook
    # STRICT tables know no VARCHAR.
    return "TEXT"


@compiles(SmallInteger, "sqlite")
def _strict_integer(element: SmallInteger, compiler: Any, **options: Any) -> str:  # noqa: ARG001 - SQLAlchemy's hook
    return "INTEGER"
