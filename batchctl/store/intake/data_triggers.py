"""`DataTrigger`: which staging tables are watched, and what keeps work from being started for their entities."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import ColumnElement, Connection, and_, bindparam, exists, func, not_, or_, select, text

from batchctl.domain.intake.triggers import Blocker
from batchctl.domain.rows import DataTrigger
from batchctl.domain.status import InstanceStatus, OnFailure, ProcessingMode, word
from batchctl.domain.unreadable import UnreadableRow
from batchctl.store.columns import readable
from batchctl.store.comparison import exactly
from batchctl.store.conditions import once_found, one_of
from batchctl.store.definitions.definitions import ENTITY
from batchctl.store.dialects import dialect_of
from batchctl.store.record_reading import Reader
from batchctl.store.statements import RowSelect, RowUpdate
from batchctl.store.tables import (
    CLAIMED_INSTANCE,
    IN_LINE_INSTANCE,
    PAUSED_INSTANCE,
    READY_INTAKE,
    batch_control,
    batch_process_history,
    data_trigger,
    file_process,
    process_batch,
)
from batchctl.store.unreadable_columns import sorted_out

_t, _c, _b, _f, _h = data_trigger.c, batch_control.c, process_batch.c, file_process.c, batch_process_history.c
_trigger, _blocker = Reader(DataTrigger, data_trigger), Reader(Blocker)

TRIGGERS = RowSelect(select(data_trigger).order_by(_t.TriggerName))
_TAKERS = exists().where(exactly(ENTITY, _t.Entity))
_LETS_IT = or_(_b.ProcessingMode.is_(None), func.lower(_b.ProcessingMode) == ProcessingMode.TRIGGERED.value)
ENABLED = RowSelect(
    select(data_trigger).where(_t.Enabled == 1, or_(not_(_TAKERS), _TAKERS.where(_LETS_IT))).order_by(_t.DataTrigger_id)
)
_LAST_FIRED = RowSelect(select(_t.LastFired).where(_t.DataTrigger_id == bindparam("trigger_id")))
_FIRE = RowUpdate(data_trigger, _t.DataTrigger_id == bindparam("trigger_id"))
_DISABLE = RowUpdate(data_trigger, _t.DataTrigger_id == bindparam("trigger_id"))
_BEGUN = select(func.min(_h.StartTime)).where(_h.BatchControl_id == _c.BatchControl_id).scalar_subquery()


_GOES_ON = and_(
    func.lower(_b.OnFailure) == OnFailure.CONTINUE.value,
    or_(_c.Status == InstanceStatus.FAILED.value, _c.Status == InstanceStatus.HELD.value),
)
"""An instance that has failed or is held, and keeps no other of its batch from going on."""


def _open_in(words: Sequence[str], *conditions: ColumnElement[bool]) -> RowSelect:
    """Return the query of an entity's first open instance, of those that an index holds."""
    of_entity: ColumnElement[bool] = exactly(ENTITY, bindparam("entity", type_=_f.Entity.type))
    return RowSelect(
        select(
            _c.BatchControl_id,
            _c.FileProcess_id,
            _c.Status,
            _b.ProcessBatchName,
            func.coalesce(_BEGUN, _c.z_inserted).label("Since"),
        )
        .join(process_batch, _c.ProcessBatch_id == _b.ProcessBatch_id)
        .where(of_entity, one_of("BatchControl.Status", words), *conditions)
        .order_by(once_found(_c.BatchControl_id))
        .limit(bindparam("most"))
    )


_UNDER_WAY, _PAUSED = _open_in(CLAIMED_INSTANCE), _open_in(PAUSED_INSTANCE)
_OPEN = [_UNDER_WAY, _open_in(IN_LINE_INSTANCE), _PAUSED]
_OPEN_BUT_FAILED = [_UNDER_WAY, _open_in(IN_LINE_INSTANCE, not_(_GOES_ON)), _PAUSED]
_WAITING = RowSelect(
    select(_f.FileProcess_id, _f.z_inserted)
    .where(
        text(f"FileProcess.{READY_INTAKE}"),
        exactly(_f.Entity, bindparam("entity", type_=_f.Entity.type)),
        not_(exists().where(_c.FileProcess_id == _f.FileProcess_id)),
    )
    .order_by(_f.FileProcess_id)
    .limit(bindparam("most"))
)


def everything(connection: Connection) -> tuple[list[DataTrigger], list[UnreadableRow]]:
    """Return all triggers by name, and the rows that hold nonsense."""
    return sorted_out(connection, data_trigger, TRIGGERS(connection), _trigger)


def enabled(connection: Connection) -> list[DataTrigger]:
    """Return the triggers to be evaluated: not those whose entity is only taken by batches that want no trigger."""
    return readable(ENABLED(connection), _trigger)


def mark_fired(connection: Connection, trigger: DataTrigger, at: datetime, now: datetime) -> bool:
    """Write when a trigger fired; false when that has changed since it was read."""
    dialect_of(connection).lock_row(connection, "DataTrigger", trigger.row_id)
    # A time that was written by hand is compared as it is read, however it was spelled.
    if _LAST_FIRED(connection, trigger_id=trigger.row_id) != [(trigger.last_fired,)]:
        return False
    return _FIRE(connection, {"LastFired": at, "z_updated": now}, trigger_id=trigger.row_id)


def disable(connection: Connection, trigger: DataTrigger, now: datetime) -> None:
    """Evaluate a trigger no more."""
    _DISABLE(connection, {"Enabled": 0, "z_updated": now}, trigger_id=trigger.row_id)


def blocker(connection: Connection, entity: str, *, passes_failed: bool = False) -> Blocker | None:
    """Return the work for an entity that is not done yet and began first, if there is any.

    What has failed may be passed over where OnFailure of its batch says to continue.
    """
    for query in _OPEN_BUT_FAILED if passes_failed else _OPEN:
        for row in query(connection, entity=entity, most=1):
            return _blocker(row, status=word(InstanceStatus, row.Status).value)
    for intake_id, since in _WAITING(connection, entity=entity, most=1):
        return Blocker(since=since, intake_id=intake_id)
    return None


def sql_to_enable(trigger: DataTrigger) -> str:
    """Return what a person may type to enable a trigger."""
    return f"UPDATE DataTrigger SET Enabled = 1 WHERE DataTrigger_id = {trigger.row_id};"  # noqa: S608 - shown, not run
