"""Batches that carry out whatever a row says, and which database roles may ask for that."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Connection, bindparam, func, select, text, update

from batchctl.domain.rows import InstanceId, IntakeId
from batchctl.store.comparison import exactly
from batchctl.store.definitions.definitions import ENTITY
from batchctl.store.statements import RowInsert
from batchctl.store.tables import batch_control, file_process, process_batch, process_control, setting

ROLES = "TaskRoles"
"""The `Setting` that names the roles, with commas between them."""
SERVICE = "batchctl_service"
"""The role of the controller."""
GUARD, GUARD_OF_REQUESTS = "TR_FileProcess_NoTasks", "TR_OperatorRequest_NoTasks"
GUARD_OF_WORK = "TR_ProcessControl_HoldWork"
"""The triggers with which the script of roles keeps all others out, and what they inserted before there were commands."""
HELD = (
    "inserted before a batch of this entity ran commands: look at Data,"
    " then: inbox retry --reason ..., or inbox reject --reason ..."
)
"""The message on a row that no role which may ask for commands has asked for."""
WHO_MAY = (
    "SELECT 1 FROM pg_roles r WHERE pg_has_role({who}, r.oid, 'MEMBER') AND ("  # noqa: S608 - our own names
    f"r.rolname = '{SERVICE}' OR r.oid = (SELECT relowner FROM pg_class WHERE oid = to_regclass('FileProcess')) OR r.rolname IN ("
    f"SELECT lower(trim(t)) FROM Setting s, unnest(string_to_array(s.Value, ',')) t WHERE s.Name = '{ROLES}'))"
)
"""On PostgreSQL: selects a row if a role may say what is run, and none if not."""

_b, _c, _p, _s = process_batch.c, batch_control.c, process_control.c, setting.c
_IS_TASK = func.lower(func.trim(_p.ProcessType)) == "task"
_QUEUES = (
    select(_b.ProcessBatchName, ENTITY.label("Entity"), _b.Enabled)
    .join(process_control, _p.ProcessBatch_id == _b.ProcessBatch_id)
    .where(_IS_TASK)
    .distinct()
    .order_by(_b.ProcessBatchName)
)
_ROLES = select(_s.Value).where(_s.Name == ROLES)
_GUARDS = text(
    "SELECT tgname FROM pg_trigger WHERE tgrelid IN (to_regclass('FileProcess'), to_regclass('OperatorRequest'),"
    " to_regclass('ProcessControl')) AND tgname IN (lower(:guard), lower(:other), lower(:of_work))"
)
_RUNS_COMMANDS = (
    select(_c.BatchControl_id)
    .join(process_control, _p.ProcessBatch_id == _c.ProcessBatch_id)
    .where(_c.BatchControl_id == bindparam("instance_id"), _IS_TASK)
)
_ROW_RUNS_COMMANDS = (
    select(process_control.c.ProcessControl_id)
    .join(process_batch, _b.ProcessBatch_id == _p.ProcessBatch_id)
    .join(file_process, exactly(file_process.c.Entity, ENTITY))
    .where(file_process.c.FileProcess_id == bindparam("intake_id"), _IS_TASK)
)
_WHO_MAY = text(WHO_MAY.format(who="(SELECT oid FROM pg_roles WHERE rolname = :actor)"))


def open_queues(connection: Connection) -> list[tuple[str, str]]:
    """Return the enabled batches with a step that carries out whatever a row says, and their entities."""
    return [(batch, entity) for batch, entity, enabled in connection.execute(_QUEUES) if enabled == 1]


def is_guarded(connection: Connection) -> bool:
    """Say whether the database itself keeps other roles out."""
    return _guards(connection) == {each.lower() for each in (GUARD, GUARD_OF_REQUESTS, GUARD_OF_WORK)}


def keeps_out(connection: Connection, actor: str, instance_id: InstanceId) -> bool:
    """Say whether a person may not give the data with which an instance goes on, because that would be a command."""
    commands = connection.execute(_RUNS_COMMANDS, {"instance_id": instance_id})
    return commands.first() is not None and _may_not(connection, actor)


def keeps_out_of_row(connection: Connection, actor: str, intake_id: IntakeId) -> bool:
    """Say whether a person may not let a FileProcess row go on, because its data is a command."""
    commands = connection.execute(_ROW_RUNS_COMMANDS, {"intake_id": intake_id})
    return commands.first() is not None and _may_not(connection, actor)


def _may_not(connection: Connection, actor: str) -> bool:
    return bool(_guards(connection)) and connection.execute(_WHO_MAY, {"actor": actor}).first() is None


def _guards(connection: Connection) -> set[str]:
    if connection.dialect.name != "postgresql":
        return set()
    asked = {"guard": GUARD, "other": GUARD_OF_REQUESTS, "of_work": GUARD_OF_WORK}
    return {str(row.tgname) for row in connection.execute(_GUARDS, asked)}


def kind_of_database(connection: Connection) -> str:
    """Return the dialect whose script of roles is for the database."""
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
        RowInsert(setting)(connection, {"Name": ROLES, **written})
