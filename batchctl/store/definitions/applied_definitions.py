"""`AppliedDefinition`: what was applied last from a file, of each definition."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, delete, select, update

from batchctl.store.columns import text_of
from batchctl.store.statements import RowInsert
from batchctl.store.tables import applied_definition

_a = applied_definition.c
_ALL = select(applied_definition).order_by(_a.AppliedDefinition_id)


@dataclass(frozen=True, slots=True)
class Applied:
    """An `AppliedDefinition` row."""

    row_id: int
    kind: str
    name: str
    owner: str | None
    """Under which name the file held it."""
    exported: str | None
    """The fingerprint that the file had then."""
    content: str
    """What the file said, in JSON."""


def everything(connection: Connection) -> dict[tuple[str, str], Applied]:
    """Return all of them by kind and name."""
    return {(row.Kind, row.Name): _applied(row) for row in connection.execute(_ALL)}


def keep(connection: Connection, before: Applied | None, after: Applied, actor: str, now: datetime) -> None:
    """Write down what was applied."""
    values: dict[str, Any] = {"Owner": after.owner, "Exported": after.exported, "Content": after.content}
    if before is None:
        added = {"Kind": after.kind, "Name": after.name, "Actor": actor, **values}
        RowInsert(applied_definition)(connection, added)
    elif before != after:
        here = update(applied_definition).where(_a.AppliedDefinition_id == before.row_id)
        connection.execute(here.values({**values, "Actor": actor, "z_updated": now}))


def forget(connection: Connection, row_id: int) -> None:
    """Forget what was removed."""
    connection.execute(delete(applied_definition).where(_a.AppliedDefinition_id == row_id))


def _applied(row: Any) -> Applied:
    return Applied(
        row_id=int(row.AppliedDefinition_id),
        kind=str(row.Kind),
        name=str(row.Name),
        owner=text_of(row.Owner),
        exported=text_of(row.Exported),
        content=str(row.Content),
    )
