"""Statements of the hot path: built and compiled once by SQLAlchemy, then handed to the driver with bound values.

SQLAlchemy's own execution costs several times what the database needs for a statement of one row, at every step.
"""

from __future__ import annotations

import json
import re
from collections import namedtuple
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Dialect, Select, Table, TextClause, insert, update
from sqlalchemy.sql.compiler import SQLCompiler

Convert = Callable[[Any], Any] | None
MANY = 2
"""From how many rows on it is worth sending them together."""

_VALUES = re.compile(r"VALUES \((.*)\)(?= RETURNING|\Z)", re.DOTALL)
_NAMED = re.compile(r"%\((\w+)\)s")


@dataclass(frozen=True, slots=True, eq=False)
class Compiled:
    """A statement's text, and how each of its parameters is made ready for the driver."""

    text: str
    binds: tuple[tuple[str, Convert], ...]
    constants: Mapping[str, object]
    of_many: str | None = None
    """The same for many rows at once; only PostgreSQL has such."""

    def execute(self, connection: Connection, values: Mapping[str, object]) -> Any:
        """Execute with one row of values; return the driver's cursor."""
        return _driver_of(connection).execute(self.text, self.row(values))

    def execute_all(self, connection: Connection, rows: list[list[object]]) -> int:
        """Execute with every row of values; return how many rows of the table were met."""
        if len(rows) >= MANY and self.of_many is not None:
            return int(self.execute_together(connection, rows).rowcount)
        driver = _driver_of(connection)
        if connection.dialect.name == "sqlite":
            return int(driver.executemany(self.text, rows).rowcount)
        return sum(int(driver.execute(self.text, row).rowcount) for row in rows)

    def execute_together(self, connection: Connection, rows: list[list[object]]) -> Any:
        """Execute once with all rows; return the driver's cursor."""
        named = [{f"p{at}": value for at, value in enumerate(row)} for row in rows]
        return _driver_of(connection).execute(self.of_many, [json.dumps(named, default=datetime.isoformat)])

    def row(self, values: Mapping[str, object]) -> list[object]:
        """Return the values in the order of the text, as the driver wants them."""
        if self.constants:
            values = {**self.constants, **values}
        return [values[name] if made is None else made(values[name]) for name, made in self.binds]


class RowInsert:
    """An INSERT of one row."""

    def __init__(self, table: Table) -> None:
        """Compile nothing yet: that needs a database, and the columns that are filled."""
        (key,) = table.primary_key
        self._returning = insert(table).returning(key)
        # SQLite's driver knows the new row's id by itself, and asking for it would cost a second result.
        self._inline = insert(table).inline()
        self._compiled: dict[tuple[str, ...], Compiled] = {}

    def __call__(self, connection: Connection, values: Mapping[str, object]) -> int:
        """Insert a row of the columns in `values`; return the id the database gave it."""
        cursor = self._for(connection, values).execute(connection, values)
        return int(cursor.lastrowid if connection.dialect.name == "sqlite" else cursor.fetchone()[0])

    def many(self, connection: Connection, rows: Sequence[Mapping[str, object]]) -> list[int]:
        """Insert rows that fill the same columns; return their ids. Where it counts, all of them go out together."""
        name = connection.dialect.name
        if len(rows) < MANY or name not in {"postgresql", "sqlite"}:
            return [self(connection, row) for row in rows]
        compiled = self._for(connection, rows[0])
        values = [compiled.row(row) for row in rows]
        if name == "sqlite":
            _driver_of(connection).executemany(compiled.text, values)
            ((last,),) = _driver_of(connection).execute("SELECT last_insert_rowid()")
            # Nobody else writes within a transaction, so the numbers follow each other.
            return list(range(last - len(rows) + 1, last + 1))
        # The rows get their numbers in the order they are sent in.
        return sorted(int(row[0]) for row in compiled.execute_together(connection, values).fetchall())

    def _for(self, connection: Connection, values: Mapping[str, object]) -> Compiled:
        filled = (connection.dialect.name, *values)
        compiled = self._compiled.get(filled)
        if compiled is None:
            dialect = connection.dialect
            statement = self._inline if dialect.name == "sqlite" else self._returning
            compiled = _compiled(statement.compile(dialect=dialect, column_keys=list(values)), dialect)
            self._compiled[filled] = compiled
        return compiled


class RowUpdate:
    """An UPDATE of one row. Only what changes is written: every column costs its check, an indexed one a page more."""

    def __init__(self, table: Table, *where: ColumnElement[bool] | TextClause) -> None:
        """Name the row; the parameters of `where` must not be called like columns."""
        self._statement = update(table).where(*where)
        self._compiled: dict[tuple[str, ...], Compiled] = {}

    def __call__(self, connection: Connection, changes: Mapping[str, object], **where: object) -> bool:
        """Write the columns in `changes`; say whether there was such a row."""
        return bool(self._for(connection, changes).execute(connection, {**changes, **where}).rowcount == 1)

    def many(self, connection: Connection, rows: Iterable[tuple[Mapping[str, object], Mapping[str, object]]]) -> int:
        """Do the same for pairs of changes and what names the row; return how many rows there were.

        Where it counts, those that change the same columns go out together.
        """
        alike: dict[Compiled, list[list[object]]] = {}
        for changes, where in rows:
            compiled = self._for(connection, changes)
            alike.setdefault(compiled, []).append(compiled.row({**changes, **where}))
        return sum(compiled.execute_all(connection, values) for compiled, values in alike.items())

    def _for(self, connection: Connection, changes: Mapping[str, object]) -> Compiled:
        written = (connection.dialect.name, *changes)
        compiled = self._compiled.get(written)
        if compiled is None:
            dialect = connection.dialect
            statement = self._statement.compile(dialect=dialect, column_keys=list(changes))
            compiled = self._compiled[written] = _compiled(statement, dialect)
        return compiled


class RowSelect:
    """A SELECT of a few rows. Its rows have the selected columns as attributes."""

    def __init__(self, statement: Select[Any]) -> None:
        """Keep the statement; it is compiled at first use."""
        self._statement = statement
        columns = list(statement.selected_columns)
        names = [str(column.name) for column in columns]
        row: Any = namedtuple("Row", names)  # type: ignore[misc] # noqa: PYI024 - the statement names the fields
        self._make: Callable[[list[Any]], Any] = row._make
        self._types = [column.type for column in columns]
        self._compiled: dict[str, tuple[Compiled, tuple[Convert, ...]]] = {}

    def __call__(self, connection: Connection, **where: object) -> list[Any]:
        """Execute and return all rows."""
        compiled, converts = self._compiled.get(connection.dialect.name) or self._compile(connection.dialect)
        cursor = compiled.execute(connection, where)
        return [
            self._make([value if made is None else made(value) for value, made in zip(row, converts, strict=True)])
            for row in cursor.fetchall()
        ]

    def _compile(self, dialect: Dialect) -> tuple[Compiled, tuple[Convert, ...]]:
        converts = tuple(kind.dialect_impl(dialect).result_processor(dialect, None) for kind in self._types)
        made = _compiled(self._statement.compile(dialect=dialect), dialect), converts
        self._compiled[dialect.name] = made
        return made


def _compiled(compiled: SQLCompiler, dialect: Dialect) -> Compiled:
    order, written = _in_order(compiled)
    binds = {name: compiled.binds[name] for name in order}
    converts = {name: bind.type.dialect_impl(dialect).bind_processor(dialect) for name, bind in binds.items()}
    constants = {name: bind.effective_value for name, bind in binds.items() if not bind.required}
    writes = compiled.isupdate or compiled.isinsert
    of_many = _of_many(compiled, order, dialect) if writes and dialect.name == "postgresql" else None
    return Compiled(written, tuple((name, converts[name]) for name in order), constants, of_many)


def _of_many(compiled: SQLCompiler, order: list[str], dialect: Dialect) -> str | None:
    """Return an UPDATE or INSERT that takes the rows as one JSON text: arrays cost the driver more than all the rest."""
    kinds = [dialect.type_compiler_instance.process(compiled.binds[name].type) for name in order]
    columns = ", ".join(f"p{at} {kind.partition('(')[0] if 'CHAR' in kind else kind}" for at, kind in enumerate(kinds))
    rows = f"ROWS FROM (json_to_recordset(%s) AS ({columns})) WITH ORDINALITY AS v"
    places = iter(range(len(order)))
    text = _NAMED.sub(lambda _: f"v.p{next(places)}", str(compiled))
    if compiled.isupdate and text.count(" WHERE ") == 1:
        return text.replace(" WHERE ", f" FROM {rows} WHERE ")
    if compiled.isinsert and (values := _VALUES.search(text)):
        many = f"SELECT {values[1]} FROM {rows} ORDER BY v.ordinality"  # noqa: S608 - all of it is ours
        return text[: values.start()] + many + text[values.end() :]
    return None


def _in_order(compiled: SQLCompiler) -> tuple[list[str], str]:
    """Return the parameters in the order of the text, and the text with a mark for each as the driver wants it."""
    if compiled.positiontup is not None:
        return compiled.positiontup, str(compiled)
    return list(_NAMED.findall(str(compiled))), _NAMED.sub("%s", str(compiled))


def _driver_of(connection: Connection) -> Any:
    return connection.connection.dbapi_connection
