"""`BatchFreeze`: what keeps batches from starting anything."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, select, text

from batchctl.domain.rows import Freeze, FreezeId
from batchctl.store.columns import readable, text_of
from batchctl.store.tables import STANDING_FREEZE, batch_freeze

_z = batch_freeze.c

_STANDING = select(batch_freeze).where(text(f"BatchFreeze.{STANDING_FREEZE}")).order_by(_z.BatchFreeze_id)


def standing(connection: Connection) -> list[Freeze]:
    """Return what nobody has thawed, oldest first; some may have ended by themselves."""
    return readable(connection.execute(_STANDING), _freeze)


def _freeze(row: Any) -> Freeze:
    return Freeze(
        freeze_id=FreezeId(int(row.BatchFreeze_id)),
        batch=text_of(row.ProcessBatchName),
        tag=text_of(row.Tag),
        reason=str(row.Reason),
        actor=str(row.Actor),
        since=row.z_inserted,
        until=row.UntilTime,
        thawed_at=row.ThawedTime,
        thawed_by=text_of(row.ThawedBy),
    )
