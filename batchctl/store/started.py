"""How work ended that started by itself: one row in `SchedulerLog`, in the transaction that ends it."""

from __future__ import annotations

from datetime import datetime, timedelta

from sqlalchemy import Connection, bindparam, func, select, text

from batchctl.domain.rows import BatchInstance
from batchctl.domain.status import InstanceStatus, SchedulerEvent
from batchctl.domain.text import storable
from batchctl.store import scheduler_log
from batchctl.store.scheduler_log import LogSource
from batchctl.store.statements import RowSelect
from batchctl.store.tables import FIRED, batch_process_history
from batchctl.store.tables import scheduler_log as log_table

ITSELF = ("trigger ", "watch ", "schedule ", "dependency")
"""How `FileProcess.Source` begins of what no person and no other program has asked for."""

_EVENTS = {
    InstanceStatus.COMPLETE: SchedulerEvent.COMPLETED,
    InstanceStatus.FAILED: SchedulerEvent.ERROR,
    InstanceStatus.HELD: SchedulerEvent.ERROR,
}
_h, _l = batch_process_history.c, log_table.c
_BEGUN = RowSelect(select(func.min(_h.StartTime).label("Begun")).where(_h.BatchControl_id == bindparam("instance_id")))
_QUEUED = RowSelect(
    select(_l.RowsQueued).where(_l.FileProcess_id == bindparam("intake_id"), text(f"SchedulerLog.{FIRED}"))
)


def note_end(connection: Connection, instance: BatchInstance, message: str | None, now: datetime) -> None:
    """Record that an instance is complete, or waits for a person, if it started by itself."""
    if instance.source is None or not instance.source.startswith(ITSELF):
        return
    event = _EVENTS.get(instance.status)
    if event is SchedulerEvent.COMPLETED and instance.failures_behind is not None:
        message = instance.failures_behind if message is None else f"{instance.failures_behind}; {message}"
    if event is not None:
        _note(connection, event, instance.source, instance, message, now)


def note_rescue(connection: Connection, instance: BatchInstance, message: str, now: datetime) -> None:
    """Record that an attempt was found without its controller, also one of an instance that a person asked for."""
    _note(connection, SchedulerEvent.RESCUED, instance.source or "rescue", instance, message, now)


def _note(
    connection: Connection,
    event: SchedulerEvent,
    source: str,
    instance: BatchInstance,
    message: str | None,
    now: datetime,
) -> None:
    queued = _QUEUED(connection, intake_id=instance.intake_id)
    begun: datetime | None = _BEGUN(connection, instance_id=instance.instance_id)[0].Begun
    scheduler_log.add(
        connection,
        event,
        LogSource(source, instance.entity),
        now,
        None if message is None else storable(message),
        batch_id=instance.batch_id,
        intake_id=instance.intake_id,
        instance_id=instance.instance_id,
        rows_queued=queued[0].RowsQueued if queued else None,
        duration_ms=None if begun is None else max(0, (now - begun) // timedelta(milliseconds=1)),
    )
