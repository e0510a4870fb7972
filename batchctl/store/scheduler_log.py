"""`SchedulerLog`: every reason to start work, what came of it, and how that ended."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from sqlalchemy import Connection

from batchctl.domain.rows import BatchId, InstanceId, IntakeId
from batchctl.domain.status import SchedulerEvent
from batchctl.store.columns import NAME_LENGTH
from batchctl.store.statements import RowInsert
from batchctl.store.tables import scheduler_log

_ADD = RowInsert(scheduler_log)


def add(
    connection: Connection,
    event: SchedulerEvent,
    source: str,
    now: datetime,
    *,
    entity: str | None = None,
    batch_id: BatchId | None = None,
    intake_id: IntakeId | None = None,
    instance_id: InstanceId | None = None,
    message: str | None = None,
    rows_queued: int | None = None,
    duration_ms: int | None = None,
) -> None:
    """Record one event; `source` says what it came from, as `FileProcess.Source` does."""
    values = {
        "EventTime": now,
        "EventType": str(event),
        "Source": source[:NAME_LENGTH],
        "Entity": entity,
        "ProcessBatch_id": batch_id,
        "FileProcess_id": intake_id,
        "BatchControl_id": instance_id,
        "Message": message,
        "RowsQueued": rows_queued,
        "DurationMs": duration_ms,
    }
    _ADD(connection, values)


def add_all(
    connection: Connection,
    event: SchedulerEvent,
    source: str,
    now: datetime,
    *,
    entity: str,
    said: Iterable[tuple[IntakeId, str]],
) -> None:
    """Record the same event of many FileProcess rows, each with what there is to say of it."""
    columns = ("EventTime", "EventType", "Source", "Entity", "FileProcess_id", "Message")
    rows = [(now, str(event), source[:NAME_LENGTH], entity, intake_id, message) for intake_id, message in said]
    if rows:
        _ADD.rows(connection, columns, rows).insert(connection)
