"""`BatchControl`: the instances, and the only place their status is written."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, bindparam, exists, func, insert, select, text, update

from batchctl.domain.rows import BatchDefinition, BatchId, BatchInstance, InstanceId, IntakeId, IntakeRow, Populated
from batchctl.domain.status import InstanceStatus, word
from batchctl.store.columns import data_values, new_id, readable, text_of
from batchctl.store.statements import Read, Write
from batchctl.store.tables import OPEN_INSTANCE, batch_control, file_process, process_batch

_c, _f = batch_control.c, file_process.c
_OPEN = text(f"BatchControl.{OPEN_INSTANCE}")

_ADD = insert(batch_control)
_WHOLE = select(batch_control, _f.Entity, _f.FileName).join(file_process)
_LOAD = _WHOLE.where(_c.BatchControl_id == bindparam("instance_id"))
_EXISTS = select(func.count()).where(
    _c.FileProcess_id == bindparam("intake_id"), _c.ProcessBatch_id == bindparam("batch_id")
)
_HEADS = Read(
    select(process_batch.c.ProcessBatch_id).where(
        exists().where(_c.ProcessBatch_id == process_batch.c.ProcessBatch_id, _OPEN)
    )
)
_OPEN_OF = Read(
    _WHOLE.where(_c.ProcessBatch_id == bindparam("batch_id"), _OPEN, _c.BatchControl_id > bindparam("after"))
    .order_by(_c.BatchControl_id)
    .limit(bindparam("most"))
)
_CLAIMED = _WHOLE.where(_OPEN, _c.Status.in_(["running", "pausing", "cancelling"])).order_by(_c.BatchControl_id)
_STANDING = _WHOLE.where(_OPEN, _c.Status.in_(["retry", "failed", "held"])).order_by(_c.BatchControl_id)
_NEXT_DUE = select(func.min(_c.NextRunTime)).where(
    _OPEN, _c.Status.in_(["ready", "retry"]), _c.NextRunTime > bindparam("now")
)
_AS_IT_WAS_READ = update(batch_control).where(
    _c.BatchControl_id == bindparam("instance_id"),
    _c.Status == bindparam("found"),
    _c.ClaimToken == bindparam("token"),
)
_PROGRESS: dict[str, Any] = {
    "PrevProcessControlSeq": bindparam("last_seq"),
    "RetryCount": bindparam("retry_count"),
    "NextRunTime": bindparam("next_run_time"),
    "LostCount": bindparam("lost_count"),
    "z_updated": bindparam("now"),
}
_CLAIMING: dict[str, Any] = {
    "Status": bindparam("status"),
    "ClaimToken": bindparam("new_token"),
    "ClaimedBy": bindparam("claimed_by"),
}
# Most moves go on under the same claim. Writing an indexed column costs an index page, even when its value stays.
_ADVANCE = Write(_AS_IT_WAS_READ.values(_PROGRESS))
_MOVED = _AS_IT_WAS_READ.values({**_PROGRESS, **_CLAIMING})
_MOVE = Write(_MOVED)
_CLAIM = Write(_MOVED.where(_c.NextRunTime <= bindparam("now")))
_CORRECT = (
    update(batch_control)
    .where(_c.BatchControl_id == bindparam("instance_id"))
    .values({f"Data{at}": bindparam(f"value{at}") for at in range(1, 7)} | {"z_updated": bindparam("now")})
)


def add(
    connection: Connection, row: IntakeRow, batch: BatchDefinition, populated: Populated, cycle_key: str
) -> InstanceId:
    """Create the instance of an intake row for a batch; the unique constraint makes it the only one."""
    values: dict[str, object] = {
        "ProcessBatch_id": batch.batch_id,
        "FileProcess_id": row.intake_id,
        "RetryCount": batch.retry_count,
        "CycleKey": cycle_key,
    }
    values |= {f"Data{at}": value for at, value in enumerate(populated.data, start=1)}
    result = connection.execute(_ADD, values)
    return InstanceId(new_id(result))


def load(connection: Connection, instance_id: InstanceId) -> BatchInstance | None:
    """Return one instance."""
    return next(iter(readable(connection.execute(_LOAD, {"instance_id": instance_id}), instance)), None)


def exists_for(connection: Connection, intake_id: IntakeId, batch_id: BatchId) -> bool:
    """Say whether an intake row has its instance for a batch."""
    return bool(connection.execute(_EXISTS, {"intake_id": intake_id, "batch_id": batch_id}).scalar_one())


def batches_with_open(connection: Connection) -> frozenset[BatchId]:
    """Return the batches that have instances which are neither complete nor cancelled."""
    return frozenset(BatchId(row.ProcessBatch_id) for row in _HEADS(connection))


def open_of(connection: Connection, batch_id: BatchId, after: int, most: int) -> list[BatchInstance]:
    """Return a batch's open instances behind `after`, in order of creation."""
    rows = _OPEN_OF(connection, {"batch_id": batch_id, "after": after, "most": most})
    return readable(rows, instance)


def claimed(connection: Connection) -> list[BatchInstance]:
    """Return the instances that stand as owned by a controller."""
    return readable(connection.execute(_CLAIMED), instance)


def standing_failures(connection: Connection) -> Sequence[BatchInstance]:
    """Return the instances that wait for a retry, have failed or are held."""
    return readable(connection.execute(_STANDING), instance)


def next_due(connection: Connection, now: datetime) -> datetime | None:
    """Return when the next waiting instance becomes due."""
    due: datetime | None = connection.execute(_NEXT_DUE, {"now": now}).scalar_one()
    return due


def claim(connection: Connection, before: BatchInstance, after: BatchInstance, now: datetime) -> bool:
    """Write a claim; false when the instance is not as it was read, or not due by the database's clock."""
    return bool(_CLAIM(connection, _changes(before, after, now)).rowcount == 1)


def move(connection: Connection, before: BatchInstance, after: BatchInstance, now: datetime) -> bool:
    """Write a move; false when the instance is not in the status and under the token it was read with."""
    stays = (after.status, after.claim_token, after.claimed_by) == (
        before.status,
        before.claim_token,
        before.claimed_by,
    )
    write = _ADVANCE if stays else _MOVE
    return bool(write(connection, _changes(before, after, now)).rowcount == 1)


def correct(connection: Connection, changed: BatchInstance, now: datetime) -> None:
    """Write corrected Data values."""
    values: dict[str, object] = {f"value{at}": value for at, value in enumerate(changed.data, start=1)}
    connection.execute(_CORRECT, values | {"instance_id": changed.instance_id, "now": now})


def _changes(before: BatchInstance, after: BatchInstance, now: datetime) -> dict[str, object]:
    return {
        "instance_id": before.instance_id,
        "found": before.status.value,
        "token": before.claim_token,
        "status": after.status.value,
        "last_seq": after.last_seq,
        "retry_count": after.retry_count,
        "next_run_time": after.next_run_time,
        "new_token": after.claim_token,
        "claimed_by": after.claimed_by,
        "lost_count": after.lost_count,
        "now": now,
    }


def instance(row: Any) -> BatchInstance:
    """Make a value of a row of `BatchControl` joined with its `FileProcess` row."""
    return BatchInstance(
        instance_id=InstanceId(row.BatchControl_id),
        batch_id=BatchId(row.ProcessBatch_id),
        intake_id=IntakeId(row.FileProcess_id),
        last_seq=int(row.PrevProcessControlSeq),
        status=word(InstanceStatus, row.Status),
        retry_count=int(row.RetryCount),
        next_run_time=row.NextRunTime,
        cycle_key=text_of(row.CycleKey),
        data=data_values(row),
        claim_token=int(row.ClaimToken),
        claimed_by=row.ClaimedBy,
        lost_count=int(row.LostCount),
        entity=str(row.Entity),
        file_name=text_of(row.FileName),
    )
