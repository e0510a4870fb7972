"""How SQLAlchemy writes statements for SQL Server, where its own way would be refused."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Dialect
from sqlalchemy.dialects.mssql.base import MSSQLCompiler


class Compiler(MSSQLCompiler):
    """Keeps ORDER BY in a subquery whose limit is a parameter: OFFSET and FETCH are no T-SQL without it."""

    def order_by_clause(self, select: Any, **options: Any) -> str:
        """Write ORDER BY; SQLAlchemy leaves it out of a subquery that has no offset, and still writes OFFSET 0 ROWS."""
        is_limited = select._limit_clause is not None or select._fetch_clause is not None  # noqa: SLF001 - as SQLAlchemy asks
        if not is_limited or self._use_top(select):  # type: ignore[no-untyped-call] # SQLAlchemy's own
            return str(super().order_by_clause(select, **options))  # type: ignore[no-untyped-call] # SQLAlchemy's own
        written = self.process(select._order_by_clause, **options)  # noqa: SLF001 - as SQLAlchemy asks
        return f" ORDER BY {written}" if written else ""


def write_for_sql_server(dialect: Dialect) -> Dialect:
    """Let a dialect of SQLAlchemy compile statements with `Compiler`."""
    dialect.statement_compiler = Compiler
    return dialect
