"""Texts compared to the last character: SQL Server's `=` takes no notice of blanks at the end."""

from __future__ import annotations

from typing import Any

from sqlalchemy import BINARY, NVARCHAR, ColumnElement, Integer, cast, func, literal_column
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler

from batchctl.store.columns import condition

DATA_HASH = "DataHash"
"""A computed column of FileProcess on SQL Server, where an index cannot hold Data: other databases index Data itself."""


class exactly(condition):  # noqa: N801 - it is written like a function
    """Two texts that are the same, with all their blanks."""

    inherit_cache = True


class same_data(exactly):  # noqa: N801 - it is written like a function
    """Data of a FileProcess row and another text that are the same; SQL Server finds the row by a hash, not by its text."""

    inherit_cache = True


@compiles(exactly)
def _equal(element: exactly, compiler: SQLCompiler, **options: Any) -> str:
    one, other = _sides(element)
    return compiler.process(one == other, **options)


@compiles(exactly, "mssql")
def _equal_and_as_long(element: exactly, compiler: SQLCompiler, **options: Any) -> str:
    one, other = _sides(element)
    # The plain comparison stays, so that an index finds the few rows whose length is then looked at.
    alike, as_long = one == other, _bytes_of(one) == _bytes_of(other)
    return f"({compiler.process(alike, **options)} AND {compiler.process(as_long, **options)})"


@compiles(same_data, "mssql")
def _equal_by_hash(element: same_data, compiler: SQLCompiler, **options: Any) -> str:
    data: Any
    data, other = _sides(element)
    hashed: ColumnElement[bytes] = literal_column(f"{data.table.name}.{DATA_HASH}")
    found = hashed == cast(func.HASHBYTES(literal_column("'SHA2_256'"), cast(other, NVARCHAR())), BINARY(32))
    return f"({compiler.process(found, **options)} AND {_equal_and_as_long(element, compiler, **options)})"


def _bytes_of(text: ColumnElement[Any]) -> ColumnElement[int]:
    """Return a text's length in bytes as nvarchar: a driver may send a value as varchar, which has half as many."""
    return func.DATALENGTH(cast(text, NVARCHAR()), type_=Integer())


def _sides(element: exactly) -> tuple[ColumnElement[Any], ColumnElement[Any]]:
    one, other = element.clauses
    return one, other
