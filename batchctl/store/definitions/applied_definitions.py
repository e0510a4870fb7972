"""`AppliedDefinition`: what was applied last from a file, of each definition."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from sqlalchemy import Connection, delete, select, update

from batchctl.domain.records import values_of
from batchctl.store.record_reading import Reader
from batchctl.store.statements import RowInsert
from batchctl.store.tables import applied_definition

_a = applied_definition.c
_ALL = select(applied_definition).order_by(_a.AppliedDefinition_id)


@dataclass(frozen=True, slots=True)
class Applied:
    """An `AppliedDefinition` row."""

    row_id: Annotated[int, "AppliedDefinition_id"]
    kind: str
    name: str
    owner: str | None
    """Under which name the file held it."""
    exported: str | None
    """The fingerprint that the file had then."""
    content: str
    """What the file said, in JSON."""


_applied = Reader(Applied)


def everything(connection: Connection) -> dict[tuple[str, str], Applied]:
    """Return all rows by kind and name."""
    return {(each.kind, each.name): each for each in map(_applied, connection.execute(_ALL))}


def keep(connection: Connection, before: Applied | None, after: Applied, actor: str, now: datetime) -> None:
    """Write down what was applied."""
    values = {**values_of(after, "row_id"), "Actor": actor}
    if before is None:
        RowInsert(applied_definition)(connection, values)
    elif before != after:
        here = update(applied_definition).where(_a.AppliedDefinition_id == before.row_id)
        connection.execute(here.values({**values, "z_updated": now}))


def forget(connection: Connection, row_id: int) -> None:
    """Forget what was removed."""
    connection.execute(delete(applied_definition).where(_a.AppliedDefinition_id == row_id))
