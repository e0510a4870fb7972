"""Scripts of the worked example, carried out as the database's own shell would."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from batchctl.store.engine import open_engine


def run(url: str, directory: Path, script: str, *, may_create: bool = False) -> None:
    """Carry out every statement of a script, which says by itself where its transactions begin and end."""
    with _driver(url, directory, may_create=may_create) as raw:
        (raw.executescript if hasattr(raw, "executescript") else raw.execute)(script)


def query(url: str, directory: Path, statement: str) -> list[tuple[Any, ...]]:
    """Return the rows of a query."""
    with _driver(url, directory) as raw:
        return [tuple(row) for row in raw.execute(statement).fetchall()]


@contextmanager
def _driver(url: str, directory: Path, *, may_create: bool = False) -> Iterator[Any]:
    with open_engine(url, directory, may_create=may_create).connect() as connection:
        yield connection.connection.dbapi_connection
