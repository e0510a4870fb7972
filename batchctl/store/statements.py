"""Statements of the hot path: built and compiled once by SQLAlchemy, then handed to the driver with bound rows.

SQLAlchemy's own execution costs several times what the database needs for a statement of one row, at every step.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Dialect, Insert, Select, Update
from sqlalchemy.sql.compiler import SQLCompiler

Convert = Callable[[Any], Any] | None


@dataclass(frozen=True, slots=True)
class Compiled:
    """A statement's text, and how each of its parameters is made ready for the driver."""

    text: str
    binds: tuple[tuple[str, Convert], ...]
    constants: Mapping[str, object]

    def execute(self, connection: Connection, values: Mapping[str, object]) -> Any:
        """Execute with one row of values; return the driver's cursor."""
        if self.constants:
            values = {**self.constants, **values}
        row = tuple([values[name] if made is None else made(values[name]) for name, made in self.binds])
        cursor = connection.connection.cursor()
        cursor.execute(self.text, row)
        return cursor


class Write:
    """An INSERT or UPDATE of one row. Every step goes through three of these and a commit."""

    def __init__(self, statement: Insert | Update, columns: Sequence[str] | None = None) -> None:
        """Keep the statement; it is compiled at first use. `columns` names what an INSERT fills."""
        self._statement = statement
        self._columns = None if columns is None else list(columns)
        self._compiled: dict[str, Compiled] = {}

    def __call__(self, connection: Connection, values: Mapping[str, object]) -> Any:
        """Execute with one row of values; return the driver's cursor, which knows `rowcount` and `lastrowid`."""
        dialect = connection.dialect
        compiled = self._compiled.get(dialect.name)
        if compiled is None:
            made = self._statement.compile(dialect=dialect, column_keys=self._columns)
            compiled = self._compiled[dialect.name] = _compiled(made, dialect)
        return compiled.execute(connection, values)


class Read:
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

    def __call__(self, connection: Connection, values: Mapping[str, object] | None = None) -> list[Any]:
        """Execute and return all rows."""
        compiled, converts = self._compiled.get(connection.dialect.name) or self._compile(connection.dialect)
        cursor = compiled.execute(connection, values or {})
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
    binds = {name: compiled.binds[name] for name in compiled.positiontup or []}
    converts = {name: bind.type.dialect_impl(dialect).bind_processor(dialect) for name, bind in binds.items()}
    order = tuple((name, converts[name]) for name in compiled.positiontup or [])
    constants = {name: bind.effective_value for name, bind in binds.items() if not bind.required}
    return Compiled(str(compiled), order, constants)
