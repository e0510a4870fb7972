"""Batches that carry out whatever a row says, and which database roles may ask for that."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Connection, bindparam, func, insert, select, text, update

from batchctl.store.definitions import ENTITY
from batchctl.store.tables import process_batch, process_control, setting

ROLES = "TaskRoles"
"""The `Setting` that names the roles, with commas between them."""
GUARD = "TR_FileProcess_NoTasks"
"""The trigger with which the script of roles keeps all others out."""

_b, _p, _s = process_batch.c, process_control.c, setting.c
_QUEUES = (
    select(_b.ProcessBatchName, ENTITY.label("Entity"), _b.Enabled)
    .join(process_control, _p.ProcessBatch_id == _b.ProcessBatch_id)
    .where(func.lower(func.trim(_p.ProcessType)) == "task")
    .distinct()
    .order_by(_b.ProcessBatchName)
)
_ROLES = select(_s.Value).where(_s.Name == ROLES)
_IS_GUARDED = text("SELECT 1 FROM pg_trigger WHERE tgrelid = to_regclass('FileProcess') AND tgname = lower(:guard)")


def open_queues(connection: Connection) -> list[tuple[str, str]]:
    """Return the enabled batches with a step that carries out whatever a row says, and their entities."""
    return [(str(row.ProcessBatchName), str(row.Entity)) for row in connection.execute(_QUEUES) if row.Enabled == 1]


def is_guarded(connection: Connection) -> bool:
    """Say whether the database itself keeps other roles out."""
    if connection.dialect.name != "postgresql":
        return False
    return connection.execute(_IS_GUARDED, {"guard": GUARD}).first() is not None


def kind_of_database(connection: Connection) -> str:
    """Return which of the scripts of roles is for it."""
    return connection.dialect.name


def roles(connection: Connection) -> tuple[str, ...]:
    """Return the roles that may ask for tasks."""
    value = connection.execute(_ROLES).scalar()
    return tuple(each.strip() for each in str(value or "").split(",") if each.strip())


def set_roles(connection: Connection, names: Sequence[str], now: datetime) -> None:
    """Write which roles may ask for tasks."""
    written = {"Value": ", ".join(names)}
    changed = update(setting).where(_s.Name == bindparam("called")).values({**written, "z_updated": now})
    if not connection.execute(changed, {"called": ROLES}).rowcount:
        connection.execute(insert(setting).values({"Name": ROLES, **written}))
