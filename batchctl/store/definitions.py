"""`ProcessBatch` and `ProcessControl`: what the batches are."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from sqlalchemy import Connection, Row, bindparam, func, select, update

from batchctl.domain.rows import BatchDefinition, BatchId, Step
from batchctl.domain.status import DependencyMode, OnFailure, OnLost, word
from batchctl.store.tables import process_batch, process_control

_b, _p = process_batch.c, process_control.c

_BATCHES = select(process_batch).order_by(_b.Seq, _b.ProcessBatch_id)
_STEPS = select(process_control).order_by(_p.ProcessBatch_id, _p.ProcessControlSeq)
_ORPHANS = select(process_control).where(_p.ProcessBatch_id.not_in(select(_b.ProcessBatch_id)))
_ENABLE = (
    update(process_batch)
    .where(_b.ProcessBatch_id == bindparam("batch_id"))
    .values(Enabled=bindparam("enabled"), z_updated=bindparam("now"))
)


def all_batches(connection: Connection) -> tuple[BatchDefinition, ...]:
    """Return every batch with its steps, by Seq."""
    steps: dict[int, list[Step]] = {}
    for row in connection.execute(_STEPS):
        steps.setdefault(row.ProcessBatch_id, []).append(_step(row))
    return tuple(_batch(row, tuple(steps.get(row.ProcessBatch_id, ()))) for row in connection.execute(_BATCHES))


def steps_without_batch(connection: Connection) -> tuple[Step, ...]:
    """Return ProcessControl rows whose ProcessBatch does not exist (inserted with foreign keys switched off)."""
    return tuple(_step(row) for row in connection.execute(_ORPHANS))


def set_enabled(connection: Connection, batch_id: BatchId, now: object, *, enabled: bool) -> None:
    """Switch a batch on or off."""
    connection.execute(_ENABLE, {"batch_id": batch_id, "enabled": int(enabled), "now": now})


def _batch(row: Row[Any], steps: tuple[Step, ...]) -> BatchDefinition:
    return BatchDefinition(
        batch_id=BatchId(row.ProcessBatch_id),
        name=row.ProcessBatchName,
        entity=row.ProcessBatchName if row.Entity is None else row.Entity,
        enabled=row.Enabled == 1,
        seq=row.Seq,
        retry_count=row.RetryCount,
        retry_wait=timedelta(minutes=row.RetryWaitMins),
        populator=row.Populator,
        populator_args=row.PopulatorArgs,
        on_failure=word(OnFailure, row.OnFailure),
        dependency_mode=word(DependencyMode, row.DependencyMode),
        max_concurrent=row.MaxConcurrent,
        duplicate_check=row.DuplicateCheck == 1,
        description=row.Description,
        steps=steps,
    )


def _step(row: Row[Any]) -> Step:
    return Step(
        batch_id=BatchId(row.ProcessBatch_id),
        seq=row.ProcessControlSeq,
        name=row.ProcessName,
        process_type=row.ProcessType.strip().lower(),
        expected_duration=_seconds(row.ExpectedDuration),
        alarm_duration=_seconds(row.AlarmDuration),
        max_duration=_seconds(row.MaxDuration),
        on_lost=word(OnLost, row.OnLost),
        data=(row.Data1, row.Data2, row.Data3, row.Data4, row.Data5, row.Data6),
    )


def _seconds(value: int | None) -> timedelta | None:
    return None if value is None else timedelta(seconds=value)


ENTITY = func.coalesce(_b.Entity, _b.ProcessBatchName)
"""The entity a batch takes, as an SQL expression."""
