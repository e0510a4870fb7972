"""A row of the definitions that the engine cannot use: it exists, every interface reports it, and what to correct."""

from __future__ import annotations

from collections.abc import Iterable

from batchctl.domain.rows import BatchId
from batchctl.domain.text import shorten, visible
from batchctl.domain.values import named_value


@named_value
class UnreadableRow:
    """An unreadable row, which only somebody who switched the constraints off can leave."""

    table: str
    row_id: int
    column: str
    """The column that cannot be read; empty where that cannot be found out."""
    wording: str
    """What is wrong with it."""
    mend: str
    """The statement that corrects it, without the value."""
    name: str = ""
    """The name of the row for people."""
    batch_id: BatchId | None = None
    """The batch that does not run because of it."""
    batch: str = ""
    entity: str | None = None
    """The entity for which it starts nothing."""

    @property
    def called(self) -> str:
        """Name the row."""
        named = f" ({visible(self.name)})" if self.name else ""
        return f"{self.place}{named}"

    @property
    def place(self) -> str:
        """Name the row as gates do."""
        return f"{self.table} {self.row_id}"

    @property
    def message(self) -> str:
        """Name the row that cannot be read, with the reason."""
        return f"{self.called} cannot be read: {shorten(visible(self.wording), 300)}"


def correcting(table: str, column: str, where: str, before: str = "", value: str = "...") -> str:
    """Return the statement that corrects a row, after `before`; with `...` it is refused as it stands."""
    return f"{before}UPDATE {table} SET {column} = {value} WHERE {where};"  # noqa: S608 - for a person to read


def taking(entity: str, rows: Iterable[UnreadableRow]) -> UnreadableRow | None:
    """Return the first of the rows of a batch that takes an entity: then it is not known that no batch does."""
    return next((row for row in rows if row.entity == entity), None)
