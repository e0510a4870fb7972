"""What rows must fulfil, in words that are cheap for each database: constraints, partial indexes, and queries that use them.

SQLite looks at a constraint with every row it writes, and at an index's condition too. It builds a table of its own for
each list of three words and more, every time; for words compared one by one it builds none, so tables of work do that.
A query must say an index's condition as the index does, or the index is of no use to it: so both take it from here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    ColumnElement,
    Integer,
    SmallInteger,
    Table,
    Unicode,
    UnicodeText,
    text,
)
from sqlalchemy.ext.compiler import compiles

from batchctl.store.columns import UtcTime, condition, in_words

_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")


class differing(condition):  # noqa: N801 - it is written like a function
    """A condition with one wording for SQLite and another for all others, or a third for SQL Server."""

    inherit_cache = True

    def __init__(self, elsewhere: str, on_sqlite: str, on_mssql: str | None = None) -> None:
        """Keep each wording."""
        super().__init__(text(elsewhere), text(on_sqlite), text(elsewhere if on_mssql is None else on_mssql))


@compiles(differing)
def _worded(element: differing, compiler: Any, **options: Any) -> str:
    elsewhere, on_sqlite, on_mssql = element.clauses
    said = {"sqlite": on_sqlite, "mssql": on_mssql}.get(compiler.dialect.name, elsewhere)
    return str(compiler.process(said, **options))


_CHECKED_BEFORE = ("BatchControl", "NextRunTime")
"""A time that has such a constraint of its own, as old as the first release."""


def one_of(column: str, words: Iterable[str]) -> ColumnElement[bool]:
    """Return the condition of an index or a query that a column of words holds one of some."""
    words = tuple(words)
    listed = ", ".join(f"'{word}'" for word in words)
    return differing(f"{column} IN ({listed})", f"({one_by_one(column, words)})")


def once_found(key: ColumnElement[int]) -> ColumnElement[int]:
    """Return what puts few rows in order once an index has found them: SQLite would walk the whole table in that order."""
    return key + 0


def is_word(column: str, words: Iterable[str], *, often: bool = False) -> ColumnElement[bool]:
    """Return the constraint that a column holds one of some words, in any case; `often` if it is written often."""
    words = list(words)
    return differing(in_words(column, words), one_by_one(column, words) if often else in_words(column, words, "{}"))


def is_written_word(column: str, words: Iterable[str], also: str) -> ColumnElement[bool]:
    """Return the constraint of `is_word` where people may write one more word, which a trigger replaces by another.

    On PostgreSQL the trigger acts before constraints are looked at.
    """
    words = list(words)
    written = [*words, also]
    return differing(in_words(column, words), one_by_one(column, written), in_words(column, written))


def one_by_one(column: str, words: Iterable[str]) -> str:
    """Return the condition without a list: SQLite would build a table of it whenever it looks at a row."""
    return " OR ".join(f"{column} = '{word}'" for word in words)


def time_checks(columns: Iterable[Column[Any]]) -> list[CheckConstraint]:
    """Return the constraints that refuse what only PostgreSQL takes for a time, such as `infinity`."""
    return [
        CheckConstraint(
            text(f"{column.name} >= '0001-01-01' AND {column.name} < '10000-01-01'"), name=f"{column.name}_Type"
        ).ddl_if(dialect="postgresql")
        for column in columns
        if isinstance(column.type, UtcTime) and (column.table.name, column.name) != _CHECKED_BEFORE
    ]


def is_number(column: Column[Any]) -> bool:
    """Say whether a column holds whole numbers."""
    return isinstance(column.type, (BigInteger, Integer, SmallInteger))


def is_text(column: Column[Any]) -> bool:
    """Say whether a column holds texts, which words and times are not."""
    return isinstance(column.type, (Unicode, UnicodeText))


def requirements(table: Table, dialect: str) -> list[tuple[str, str]]:
    """Return the columns of a table, and what each has to fulfil on a database of one kind."""
    found = list(_named(table, dialect))
    if dialect == "sqlite":
        found = [one for one in found if one[1] != _is_not_empty(one[0])]
        found += [(column.name, said) for column in table.c if not column.primary_key for said in _types(column)]
    order = [column.name for column in table.c]
    return sorted(found, key=lambda one: order.index(one[0]))


def _named(table: Table, dialect: str) -> Iterator[tuple[str, str]]:
    """Yield the columns with a constraint besides their type's, and what it says; it names them, or has them first."""
    named = {str(made.name): made for made in table.constraints if isinstance(made, CheckConstraint)}
    for name, made in sorted(named.items()):
        if not name.endswith("_Type") and made.info.get("only_on", dialect) == dialect:
            said = spelled(made.sqltext, dialect)
            mentioned = made.info.get("of", name.removeprefix(f"CK_{table.name}_")), *_IDENTIFIER.findall(said)
            yield next(column for column in mentioned if column in table.c), said


def _is_not_empty(column: str) -> str:
    return f"{column} <> ''"


def spelled(condition: Any, dialect: str) -> str:
    """Write a condition in its wording for one kind of database."""
    if not isinstance(condition, differing):
        return str(condition.text)
    elsewhere, on_sqlite, on_mssql = condition.clauses
    return str({"sqlite": on_sqlite, "mssql": on_mssql}.get(dialect, elsewhere).text)


def readable_by(table: Table, dialect: str, gone_by: Iterable[str], times: Iterable[str] = ()) -> list[tuple[str, str]]:
    """Return the columns that make a row readable, and what they have to fulfil; on SQLite some times, too."""
    named = dict(_named(table, dialect))
    found = [(column, named[column]) for column in gone_by]
    of_types = (
        [(column, _is_time_of(table.c[column])) for column in times if column in table.c] if dialect == "sqlite" else []
    )
    return [*found, *of_types]


def unreadable(
    table: Table, status: Iterable[str], gone_by: Iterable[str], times: Iterable[str] = ()
) -> ColumnElement[bool]:
    """Return the condition of unreadable rows.

    An index of SQL Server allows no OR: there the condition is that Status is none of its words. PostgreSQL renews the
    entries of a row in all indexes when a column of any index changes: there it is about the columns of words alone.
    """
    words = [column for column in gone_by if not is_number(table.c[column])]
    fits = [condition for _, condition in readable_by(table, "postgresql", words)]
    on_sqlite = [f"({condition})" for _, condition in readable_by(table, "sqlite", gone_by, times)]
    return differing(
        f"({' AND '.join(fits)}) IS NOT TRUE",
        f"({' AND '.join(on_sqlite)}) IS NOT TRUE",
        " AND ".join(f"Status <> '{word}'" for word in status),
    )


def _types(column: Column[Any]) -> Iterator[str]:
    """Yield the conditions by which SQLite, besides STRICT, holds a column to what types ensure on other databases."""
    name = str(column.name)
    if isinstance(column.type, UtcTime):
        yield _is_time_of(column)
    elif isinstance(column.type, (Unicode, UnicodeText)):
        said = [
            spelled(made.sqltext, "sqlite") for made in column.table.constraints if isinstance(made, CheckConstraint)
        ]
        filled = _is_not_empty(name) in said
        if column.type.length is not None:
            yield (
                f"length({name}) BETWEEN 1 AND {column.type.length}"
                if filled
                else f"length({name}) <= {column.type.length}"
            )
        elif filled:
            yield _is_not_empty(name)
        yield holds_no_nul(name)


def _is_time_of(column: Column[Any]) -> str:
    if not is_often_written(column.table):
        return is_time(str(column.name))
    # A time written in full, as batchctl writes it, is checked quickly. z_updated is mostly the same as z_inserted,
    # which has a check of its own.
    name = column.name
    same = "z_updated IS z_inserted OR " if name == "z_updated" else f"{name} IS NULL OR " if column.nullable else ""
    in_full = f"{name} BETWEEN '0001' AND ':' AND {name} IS strftime('%Y-%m-%d %H:%M:%f',{name},'+0 days')"
    return f"{same}{in_full} OR {is_time(name)}"


def is_often_written(table: Table) -> bool:
    """Say whether a table is one of work, in which each write has to be cheap."""
    return bool(table.info.get("often"))


def is_audited(table: Table) -> bool:
    """Say whether a trigger audits every change of a table."""
    return bool(table.info.get("audited"))


def is_time(at: str) -> str:
    """Return SQLite's condition of a time: a day, with a time of day to the minute, the second or a fraction of it.

    Before and behind its blank stand a day as SQLite's calendar has it, and figures; by way of '+0 days', without which older
    versions take the 31st of February as they find it. It ends with a figure, because SQLite refuses to look at 'now' in a
    constraint; and Python knows no year 0.
    """
    day = f"ifnull(max('0001',date({at},'+0 days')),'')||' '"
    return f"{at} GLOB '*[0-9]' AND {day} IN ({at}||' ',rtrim({at},'0123456789.:'))"


def holds_no_nul(text: str) -> str:
    """Return SQLite's condition of a text without the character that ends one for other programs."""
    return f"NOT instr({text},char(0))"
