"""How tables, columns and conditions are written down."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Any

from sqlalchemy import (
    CheckConstraint,
    Column,
    ColumnElement,
    Index,
    MetaData,
    Table,
    event,
    text,
)
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.schema import CreateIndex

from batchctl.store.columns import (
    UtcTime,
    identity,
    text_column,
    unquoted,
    utc_now,
)
from batchctl.store.conditions import differing, is_word, is_written_word, time_checks

metadata = MetaData(
    naming_convention={
        "pk": "PK_%(table_name)s",
        "fk": "FK_%(table_name)s_%(column_0_name)s",
        "uq": "UQ_%(table_name)s_%(column_0_N_name)s",
        "ck": "CK_%(table_name)s_%(constraint_name)s",
        "ix": "IX_%(table_name)s_%(column_0_N_name)s",
    }
)

AUDITED = {"audited": True}
"""What is said of a table of which a trigger audits every change; on SQLite it looks at the times, too."""


def column(called: str, kind: Any, *rest: Any, **options: Any) -> Column[Any]:
    """Return a column, which may be empty unless the options say otherwise."""
    options.setdefault("nullable", True)
    return Column(unquoted(called), kind, *rest, **options)


def required(called: str, kind: Any, default: str | None = None, *rest: Any) -> Column[Any]:
    """Return a column that is never empty."""
    server_default = None if default is None else text(default)
    return Column(unquoted(called), kind, *rest, nullable=False, server_default=server_default)


def key(called: str) -> Column[Any]:
    """Return the column that the database numbers rows by."""
    return Column(unquoted(called), identity(), primary_key=True, autoincrement=True)


def stamp(called: str) -> Column[Any]:
    """Return a column with a time that the database fills in."""
    return Column(unquoted(called), UtcTime(), nullable=False, server_default=utc_now())


def data_columns() -> list[Column[Any]]:
    """Return Data1 to Data6."""
    return [column(f"Data{at}", text_column()) for at in range(1, 7)]


def words(called: str, kind: type[StrEnum], *, often: bool = False) -> CheckConstraint:
    """Return the condition that a column holds one of the words of a type; `often` if it is written often."""
    return CheckConstraint(is_word(called, [member.value for member in kind], often=often), name=called)


def written_words(called: str, kind: type[StrEnum], also: str) -> CheckConstraint:
    """Return the same condition where people may write one more word, of which a trigger makes one of these."""
    return CheckConstraint(is_written_word(called, [member.value for member in kind], also), name=called)


def check(
    called: str, condition: str | ColumnElement[bool], only_on: str | None = None, of: str | None = None
) -> CheckConstraint:
    """Return a named condition, which may be needed on one kind of database only; `of` is the column that it is about."""
    if only_on is None:
        return CheckConstraint(condition, name=called, info={"of": of or called})
    return CheckConstraint(condition, name=called, info={"only_on": only_on}).ddl_if(dialect=only_on)


def belongs(column: str, *types: str) -> differing:
    """Return the condition that a schedule has a column if it is of some type, and else has not."""
    of_it, of_others = _any("ScheduleType = '{}'", " OR ", types), _any("ScheduleType <> '{}'", " AND ", types)
    return differing(
        f"({column} IS NOT NULL AND ({of_it})) OR ({column} IS NULL AND {of_others})",
        f"({column} IS NOT NULL) = (ScheduleType IN ({_any(_QUOTED, ', ', types)}))",
    )


def needs(column: str, *types: str) -> differing:
    """Return the condition that a schedule has a column if it is of some type; others may have it."""
    of_others = _any("ScheduleType <> '{}'", " AND ", types)
    return differing(
        f"{column} IS NOT NULL OR ({of_others})",
        f"{column} IS NOT NULL OR ScheduleType NOT IN ({_any(_QUOTED, ', ', types)})",
    )


_QUOTED = "'{}'"


def _any(condition: str, between: str, types: Iterable[str]) -> str:
    return between.join(condition.format(each) for each in types)


def flag(called: str) -> CheckConstraint:
    """Return the condition that a column holds 0 or 1."""
    return CheckConstraint(f"{called} IN (0, 1)", name=called)


def index(
    called: str,
    *columns: str | Column[Any],
    where: str | ColumnElement[bool],
    unique: bool = False,
    using: str | None = None,
) -> Index:
    """Return an index of some rows."""
    condition = text(where) if isinstance(where, str) else where
    # SQLAlchemy has options for these, and naming one imports its dialect, which takes time.
    return Index(called, *columns, unique=unique, info={"where": condition, "using": using})


@compiles(CreateIndex)
def _of_some_rows(element: CreateIndex, compiler: Any, **options: Any) -> str:
    made = str(compiler.visit_create_index(element, **options))
    info = element.element.info
    if info.get("using"):
        made = made.replace(" (", f" USING {info['using']} (", 1)
    return made if "where" not in info else f"{made} WHERE {compiler.sql_compiler.process(info['where'])}"


@event.listens_for(metadata, "before_create", once=True)
def _check_types(made: MetaData, connection: Any, **options: Any) -> None:
    # Every command loads the tables and hardly one makes any: a hundred constraints would take longer than all the rest.
    del connection, options
    from batchctl.store.tables import on_sqlite  # noqa: F401, PLC0415 - importing it teaches SQLite's form of a table

    for table in made.tables.values():
        for constraint in time_checks(table.columns):
            table.append_constraint(constraint)


def table(called: str, *parts: Any, **options: Any) -> Table:
    """Return a table, which is made with all others."""
    return Table(unquoted(called), metadata, *parts, sqlite_autoincrement=True, sqlite_strict=True, **options)
