"""Statements of the hot path: built and compiled once by SQLAlchemy, then handed to the driver with bound values.

SQLAlchemy's own execution costs several times what the database needs for a statement of one row, at every step.
"""

from __future__ import annotations

import json
import re
from collections import namedtuple
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache, partial
from operator import itemgetter
from typing import Any, Generic, TypeVar

from sqlalchemy import ColumnElement, CompoundSelect, Connection, Dialect, Select, Table, TextClause, insert, update
from sqlalchemy.sql.compiler import SQLCompiler

from batchctl.domain.errors import DatabaseRefused
from batchctl.domain.values import value
from batchctl.store.columns import stamp
from batchctl.store.dialects import dialect_of
from batchctl.store.one_look import KeptAnswer, current

Convert = Callable[[Any], Any] | None
Converts = tuple[tuple[int, Callable[[Any], Any]], ...]
"""The places of a row whose values the driver has in another form, and what converts each."""
MANY = 2
"""From how many rows on it is worth sending them together."""

_VALUES = re.compile(r"VALUES \((.*)\)(?= RETURNING|\Z)", re.DOTALL)
# One moment is written for many rows.
_as_json = json.JSONEncoder(default=lru_cache(maxsize=256)(datetime.isoformat)).encode
_NUMBER_GIVEN = "SELECT CAST(SCOPE_IDENTITY() AS bigint)"
_NAMED = re.compile(r"%\((\w+)\)s")


Answer = TypeVar("Answer")


@value
class PendingAnswer(Generic[Answer]):
    """What the database was asked; it may answer as late as with the next statement, or with the commit."""

    take: Callable[[], Answer]
    """Return the answer, or wait for it."""


Names = tuple[str, ...]
"""Columns that are written, and parameters of a condition."""
Values = tuple[object, ...]
"""As many values, in the same order."""


@dataclass(frozen=True, slots=True, eq=False)
class Compiled:
    """A statement's text, and how each of its parameters is made ready for the driver."""

    text: str
    order: Names
    """The parameters in the order of the text."""
    converts: Converts
    constants: Mapping[str, object]
    places: Sequence[str]
    """The names of the values, by their places, where they need names."""
    of_many: str | None = None
    """The statement for many rows at once; there is one on PostgreSQL only."""

    def ask(self, connection: Connection, values: Mapping[str, object]) -> Callable[[], Sequence[Any]]:
        """Ask with one row of values; return a function that returns the rows of the answer."""
        return dialect_of(connection).ask(connection, self.text, self.row(values))

    def execute(self, connection: Connection, values: Mapping[str, object]) -> Any:
        """Execute with one row of values; return the driver's cursor."""
        return driver_of(connection).execute(self.text, self.row(values))

    def selecting(self, condition: str) -> str:
        """Return an INSERT of one row that inserts it only under a condition."""
        return _VALUES.sub(lambda found: f"SELECT {found[1]} {condition}", self.text)

    def row(self, values: Mapping[str, object]) -> list[object]:
        """Return the values in the order of the text, as the driver wants them."""
        return self.rows((*values,), [(*values.values(),)])[0]

    def rows(self, names: Names, values: Iterable[Values]) -> list[list[object]]:
        """Return many rows, given in the order of `names`, as the driver wants them."""
        if self.constants:
            names, values = (*names, *self.constants), [(*each, *self.constants.values()) for each in values]
        if names == self.order:
            rows = [list(each) for each in values]
        else:
            pick = _picking(names, self.order)
            rows = [list(pick(each)) for each in values]
        for at, made in self.converts:
            for row in rows:
                row[at] = made(row[at])
        return rows


@value
class StatementRows:
    """Rows that one statement is to be executed with."""

    statement: Compiled
    values: list[list[object]]

    def update(self, connection: Connection) -> int:
        """Execute an UPDATE; return how many rows of the table were met."""
        if len(self.values) >= MANY and self.statement.of_many is not None:
            return int(driver_of(connection).execute(self.statement.of_many, [self.as_text()]).rowcount)
        driver = driver_of(connection)
        if connection.dialect.name == "sqlite":
            return int(driver.executemany(self.statement.text, self.values).rowcount)
        return sum(int(driver.execute(self.statement.text, row).rowcount) for row in self.values)

    def insert(self, connection: Connection) -> list[int]:
        """Execute an INSERT; return the ids the database gave the rows."""
        driver, statement = driver_of(connection), self.statement
        if connection.dialect.name == "sqlite":
            *others, last = self.values
            made = driver.executemany(statement.text, others).rowcount if others else 0
            inserted = driver.execute(statement.text, last)
            if made + inserted.rowcount < len(self.values):
                message = "A trigger that somebody has put on a table of batchctl keeps rows from being inserted."
                raise DatabaseRefused(message, next_step="drop the trigger; batchctl db verify names it")
            last_id = inserted.lastrowid
            # No other connection writes during this transaction, so the ids follow each other.
            return list(range(last_id - len(others), last_id + 1))
        if len(self.values) >= MANY and statement.of_many is not None:
            # The rows get their numbers in the order they are sent in.
            return sorted(int(row[0]) for row in driver.execute(statement.of_many, [self.as_text()]).fetchall())
        return [int(driver.execute(statement.text, row).fetchone()[0]) for row in self.values]

    def as_text(self) -> str:
        """Return all rows as one parameter of `of_many`."""
        return _as_json([dict(zip(self.statement.places, row, strict=True)) for row in self.values])


def update_all(connection: Connection, rows: Iterable[StatementRows]) -> int:
    """Execute UPDATEs; return how many rows of their tables were met."""
    return sum(alike.update(connection) for alike in rows)


class RowInsert:
    """An INSERT of one row."""

    def __init__(self, table: Table) -> None:
        """Compile nothing yet: that needs a database, and the columns that are filled."""
        (self._key,) = table.primary_key
        self._returning = insert(table).returning(self._key)
        # SQLite's driver knows the new row's id by itself, and asking for it would cost a second result.
        self._inline = insert(table).inline()
        self._compiled: dict[tuple[str, ...], Compiled] = {}

    def __call__(self, connection: Connection, values: Mapping[str, object]) -> int:
        """Insert a row of the columns in `values`; return the id the database gave it."""
        return self.ask(connection, values)()

    def ask(self, connection: Connection, values: Mapping[str, object]) -> Callable[[], int]:
        """Insert a row, at the latest when its id is called for."""
        compiled = self._for(connection, values)
        if connection.dialect.name == "sqlite":
            made = int(compiled.execute(connection, values).lastrowid)
            return lambda: made
        asked = compiled.ask(connection, values)
        return lambda: int(asked()[0][0])

    def rows(self, connection: Connection, columns: Names, rows: Iterable[Values]) -> StatementRows:
        """Prepare rows that fill the same columns."""
        compiled = self._for(connection, columns)
        return StatementRows(compiled, compiled.rows(columns, rows))

    def _for(self, connection: Connection, columns: Iterable[str]) -> Compiled:
        filled = (connection.dialect.name, *columns)
        compiled = self._compiled.get(filled)
        if compiled is None:
            dialect = connection.dialect
            statement = self._returning if dialect.name == "postgresql" else self._inline
            compiled = _compiled(statement.compile(dialect=dialect, column_keys=list(columns)), dialect)
            if self._key.name in columns:
                numbered = dialect_of(connection).numbered(self._key.table.name, compiled.text)
                compiled = replace(compiled, text=numbered)
            if dialect.name == "mssql":
                # Where an INSERT fires a trigger, SQL Server lets it have no OUTPUT (error 334).
                compiled = replace(compiled, text=f"{compiled.text}; {_NUMBER_GIVEN}")
            self._compiled[filled] = compiled
        return compiled


class RowUpdate:
    """An UPDATE of one row. Only what changes is written: every column costs its check, an indexed one a page more."""

    def __init__(self, table: Table, *where: ColumnElement[bool] | TextClause, is_kept_apart: bool = False) -> None:
        """Name the row; the parameters of `where` must not be called like columns.

        With `is_kept_apart` no change is written with the time of the one before: that tells it from changes by hand.
        """
        self._statement = update(table).where(*where)
        if is_kept_apart:
            self._statement = self._statement.values(z_updated=stamp(table.c.z_updated, "z_updated"))
        self._compiled: dict[tuple[str, ...], Compiled] = {}

    def __call__(self, connection: Connection, changes: Mapping[str, object], **where: object) -> bool:
        """Write the columns in `changes`; say whether there was such a row."""
        values = (*changes.values(), *where.values())
        return update_all(connection, self.rows(connection, (*where,), [((*changes,), values)])) == 1

    def rows(
        self, connection: Connection, found_by: Names, rows: Iterable[tuple[Names, Values]]
    ) -> list[StatementRows]:
        """Prepare rows, each with the columns it changes, and with their values followed by those of `found_by`.

        Rows that change the same columns go out together.
        """
        alike: dict[Names, list[Values]] = {}
        for columns, values in rows:
            alike.setdefault(columns, []).append(values)
        return [
            StatementRows(compiled, compiled.rows((*columns, *found_by), values))
            for columns, values in alike.items()
            for compiled in (self._for(connection.dialect, columns),)
        ]

    def _for(self, dialect: Dialect, columns: Names) -> Compiled:
        written = (dialect.name, *columns)
        compiled = self._compiled.get(written)
        if compiled is None:
            statement = self._statement.compile(dialect=dialect, column_keys=list(columns))
            compiled = self._compiled[written] = _compiled(statement, dialect)
        return compiled


class RowSelect:
    """A SELECT of a few rows. Its rows have the selected columns as attributes."""

    _make: Callable[[list[Any]], Any]
    """Makes a row of its values."""

    def __init__(self, statement: Select[*tuple[Any, ...]] | CompoundSelect[*tuple[Any, ...]]) -> None:
        """Keep the statement; all else waits for the first use: a command uses few of all that there are."""
        self._statement = statement
        self._compiled: dict[str, tuple[Compiled, Converts]] = {}

    def __call__(self, connection: Connection, **where: object) -> list[Any]:
        """Execute and return all rows."""
        return self.ask(connection, **where)()

    def ask(self, connection: Connection, **where: object) -> Callable[[], list[Any]]:
        """Ask for all rows; return a function that returns them. Within a look the same is asked once."""
        look = current()
        if look is None:
            return self._ask(connection, where)
        key = (self, connection, frozenset(where.items()))
        kept = look.answers.get(key)
        if kept is None:
            kept = look.answers[key] = KeptAnswer(self._ask(connection, where))
        return kept

    def _ask(self, connection: Connection, where: Mapping[str, object]) -> Callable[[], list[Any]]:
        compiled, converts = self._compiled.get(connection.dialect.name) or self._compile(connection.dialect)
        return partial(self._made, compiled.ask(connection, where), converts)

    def _made(self, asked: Callable[[], Sequence[Any]], converts: Converts) -> list[Any]:
        if not converts:
            return list(map(self._make, asked()))
        found = []
        for row in asked():
            values = list(row)
            for at, made in converts:
                values[at] = made(values[at])
            found.append(self._make(values))
        return found

    def _compile(self, dialect: Dialect) -> tuple[Compiled, Converts]:
        columns = list(self._statement.selected_columns)
        names = [str(column.name) for column in columns]
        row: Any = namedtuple("Row", names)  # type: ignore[misc] # noqa: PYI024 - the statement names the fields
        self._make = row._make
        made = [column.type.dialect_impl(dialect).result_processor(dialect, None) for column in columns]
        compiled = _compiled(self._statement.compile(dialect=dialect), dialect), _where_any(made)
        self._compiled[dialect.name] = compiled
        return compiled


def _compiled(compiled: SQLCompiler, dialect: Dialect) -> Compiled:
    order, written = _in_order(compiled)
    binds = {name: compiled.binds[name] for name in order}
    converts = {name: bind.type.dialect_impl(dialect).bind_processor(dialect) for name, bind in binds.items()}
    constants = {name: bind.effective_value for name, bind in binds.items() if not bind.required}
    writes = compiled.isupdate or compiled.isinsert
    of_many = _of_many(compiled, order, dialect) if writes and dialect.name == "postgresql" else None
    made = _where_any([converts[name] for name in order])
    return Compiled(written, tuple(order), made, constants, [f"p{at}" for at in range(len(order))], of_many)


def _where_any(converts: Sequence[Convert]) -> Converts:
    return tuple((at, convert) for at, convert in enumerate(converts) if convert is not None)


@lru_cache(maxsize=1024)
def _picking(names: Names, order: Names) -> Callable[[Values], Iterable[object]]:
    """Return a function that puts values in the order of `names` into another order."""
    places = [names.index(name) for name in order]
    return itemgetter(*places) if len(places) > 1 else lambda values: [values[at] for at in places]


def _of_many(compiled: SQLCompiler, order: list[str], dialect: Dialect) -> str | None:
    """Return an UPDATE or INSERT that takes the rows as one JSON text: arrays cost the driver more than all the rest."""
    kinds = [dialect.type_compiler_instance.process(compiled.binds[name].type) for name in order]
    columns = ", ".join(f"p{at} {kind.partition('(')[0] if 'CHAR' in kind else kind}" for at, kind in enumerate(kinds))
    rows = f"ROWS FROM (json_to_recordset(%s) AS ({columns})) WITH ORDINALITY AS v"
    places = iter(range(len(order)))
    text = _NAMED.sub(lambda _: f"v.p{next(places)}", str(compiled))
    if compiled.isupdate and text.count(" WHERE ") == 1:
        # A condition that all fulfil lets the planner expect fewer than the hundred rows of which it would read a table.
        return text.replace(" WHERE ", f" FROM {rows} WHERE v.ordinality > 0 AND ")
    if compiled.isinsert and (values := _VALUES.search(text)):
        many = f"SELECT {values[1]} FROM {rows} ORDER BY v.ordinality"  # noqa: S608 - all of it is ours
        return text[: values.start()] + many + text[values.end() :]
    return None


def _in_order(compiled: SQLCompiler) -> tuple[list[str], str]:
    """Return the parameters in the order of the text, and the text with a mark for each as the driver wants it."""
    if compiled.positiontup is not None:
        return compiled.positiontup, str(compiled)
    return list(_NAMED.findall(str(compiled))), _NAMED.sub("%s", str(compiled))


def driver_of(connection: Connection) -> Any:
    """Return the driver's own connection."""
    return connection.connection.dbapi_connection
