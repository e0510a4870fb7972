"""`BatchFreeze`: what keeps batches from starting anything."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Connection, bindparam, select, text

from batchctl.domain.errors import Conflict
from batchctl.domain.records import values_of
from batchctl.domain.rows import Freeze, FreezeId
from batchctl.domain.unreadable import UnreadableRow
from batchctl.store.columns import readable
from batchctl.store.dialects import dialect_of
from batchctl.store.record_reading import Reader
from batchctl.store.statements import RowInsert, RowSelect, RowUpdate
from batchctl.store.tables import STANDING_FREEZE, batch_freeze
from batchctl.store.unreadable_columns import unfit

_z = batch_freeze.c
_freeze = Reader(Freeze)

STANDING = RowSelect(select(batch_freeze).where(text(f"BatchFreeze.{STANDING_FREEZE}")).order_by(_z.BatchFreeze_id))
_NEWEST = select(batch_freeze).order_by(_z.BatchFreeze_id.desc()).limit(bindparam("most"))
_LOAD = RowSelect(select(batch_freeze).where(_z.BatchFreeze_id == bindparam("freeze_id")))
_ADD = RowInsert(batch_freeze)
_THAW = RowUpdate(batch_freeze, _z.BatchFreeze_id == bindparam("freeze_id"), _z.ThawedTime.is_(None))


def lock_freezes(connection: Connection) -> None:
    """Keep others from freezing until the end of the transaction."""
    if not dialect_of(connection).lock_name(connection, "freezes"):
        message = "Somebody else is freezing."
        raise Conflict(message)


def standing(connection: Connection) -> list[Freeze]:
    """Return the freezes that were not thawed, oldest first; some may have ended by themselves."""
    return readable(STANDING(connection), _freeze)


def newest(connection: Connection, most: int) -> list[Freeze]:
    """Return the newest freezes, newest first, whether they hold or not."""
    return readable(connection.execute(_NEWEST, {"most": most}), _freeze)


def unreadable(connection: Connection, *, everything: bool = False) -> list[UnreadableRow]:
    """Return the first unreadable rows of freezes that were not thawed, or of all freezes."""
    return unfit(connection, batch_freeze, None if everything else text(f"BatchFreeze.{STANDING_FREEZE}"))


def load(connection: Connection, freeze_id: FreezeId) -> Freeze | None:
    """Return one freeze."""
    return next(iter(readable(_LOAD(connection, freeze_id=freeze_id), _freeze)), None)


def add(connection: Connection, freeze: Freeze) -> FreezeId:
    """Insert a freeze."""
    columns = {**values_of(freeze, "freeze_id"), "z_updated": freeze.since}
    return FreezeId(_ADD(connection, columns))


def thaw(connection: Connection, freeze_id: FreezeId, by: str, now: datetime) -> bool:
    """Thaw a freeze; false when somebody has done that, or there is no such row any more."""
    columns: dict[str, object] = {"ThawedTime": now, "ThawedBy": by, "z_updated": now}
    return _THAW(connection, columns, freeze_id=freeze_id)
