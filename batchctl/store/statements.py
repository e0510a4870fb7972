"""Statements of the hot path: built and compiled once by SQLAlchemy, then handed to the driver with bound rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Dialect, Insert, Update

Bind = tuple[str, Callable[[Any], Any] | None]


class Write:
    """An INSERT or UPDATE of one row. Every execution of a step goes through three of these and a commit."""

    def __init__(self, statement: Insert | Update, columns: Sequence[str] | None = None) -> None:
        """Keep the statement; it is compiled at first use. `columns` names what an INSERT fills."""
        self._statement = statement
        self._columns = None if columns is None else list(columns)
        self._compiled: dict[str, tuple[str, tuple[Bind, ...]]] = {}

    def __call__(self, connection: Connection, values: Mapping[str, object]) -> Any:
        """Execute with one row of values; return the driver's cursor, which knows `rowcount` and `lastrowid`."""
        text, binds = self._compiled.get(connection.dialect.name) or self._compile(connection.dialect)
        cursor = connection.connection.cursor()
        cursor.execute(text, tuple([values[name] if made is None else made(values[name]) for name, made in binds]))
        return cursor

    def _compile(self, dialect: Dialect) -> tuple[str, tuple[Bind, ...]]:
        compiled = self._statement.compile(dialect=dialect, column_keys=self._columns)
        kinds = {name: compiled.binds[name].type.dialect_impl(dialect) for name in compiled.positiontup or ()}
        binds = tuple((name, kinds[name].bind_processor(dialect)) for name in compiled.positiontup or ())
        self._compiled[dialect.name] = str(compiled), binds
        return self._compiled[dialect.name]
