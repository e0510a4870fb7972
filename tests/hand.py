"""What a test does by hand in a control database, whichever kind it is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from batchctl.store.tables import metadata


def unfit(table: str, column: str, rest: str = "") -> str:
    """Return what a refusal of a value looks like: servers name the constraint, and SQLite shows what it says."""
    return rf"(?i)ck_{table}_{column}{rest}\b|CHECK constraint failed: .*\b{column}\b"


class Hand(Protocol):
    """A person's SQL client; values stand as `?`, and every statement commits by itself."""

    Refused: type[Exception]
    """What the database raises when it refuses a statement."""

    def sql(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        """Do a statement and return its rows."""
        ...

    def many(self, statement: str, rows: Iterable[Sequence[object]]) -> None:
        """Do a statement for each of many rows, in one transaction."""
        ...

    def loosen(self) -> None:
        """Switch the constraints off, as somebody in a hurry does."""
        ...

    def begin_writing(self) -> None:
        """Begin a transaction that keeps everybody else from writing."""
        ...

    def dump(self) -> dict[str, list[tuple[Any, ...]]]:
        """Return every row of every table."""
        return {table: self.sql(f"SELECT * FROM {table} ORDER BY 1") for table in sorted(metadata.tables)}

    def close(self) -> None:
        """Close the client."""
        ...
