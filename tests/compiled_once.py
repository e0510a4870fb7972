"""Statements that are compiled once for all engines of a test run, not once for each: that took a fifth of the time."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Engine
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite
from sqlalchemy.util import LRUCache

COMPILED: LRUCache[Any, Any] = LRUCache(20_000)


def share() -> None:
    """Let engines use what others have compiled for the same version of the same database."""
    for kind in (SQLiteDialect_pysqlite, PGDialect_psycopg):
        kind.__eq__ = _is_alike  # type: ignore[method-assign]
        kind.__hash__ = _hash  # type: ignore[method-assign]
    plain = Engine.__init__

    def init(self: Engine, *args: Any, **kwargs: Any) -> None:
        plain(self, *args, **kwargs)
        if self._compiled_cache is not None and isinstance(self.dialect, (SQLiteDialect_pysqlite, PGDialect_psycopg)):
            self._compiled_cache = COMPILED

    Engine.__init__ = init  # type: ignore[method-assign]


def _is_alike(self: Any, other: Any) -> bool:
    return type(self) is type(other) and _version(self) == _version(other)


def _hash(self: Any) -> int:
    return hash((type(self), _version(self)))


def _version(dialect: Any) -> Any:
    return getattr(dialect, "server_version_info", None), dialect.paramstyle
