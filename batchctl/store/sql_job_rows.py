"""The batches of jobs that are one piece of SQL, and how such jobs stand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Select, bindparam, delete, exists, func, not_, or_, select, text, update

from batchctl.domain.rows import BatchId, HistoryEntry, IntakeId
from batchctl.store.comparison import exactly
from batchctl.store.conditions import one_of
from batchctl.store.definitions.definitions import ENTITY
from batchctl.store.history import entry
from batchctl.store.statements import RowInsert
from batchctl.store.tables import (
    LIVE_ENTRY,
    PAUSED_INSTANCE,
    READY_INTAKE,
    WAITING_INSTANCE,
    batch_control,
    batch_process_history,
    file_process,
    metadata,
    process_batch,
    process_control,
    schedule,
)

WAITING = (*WAITING_INSTANCE, *PAUSED_INSTANCE)

_b, _c, _p, _h, _f, _s = (
    process_batch.c,
    batch_control.c,
    process_control.c,
    batch_process_history.c,
    file_process.c,
    schedule.c,
)

_ADD_BATCH = RowInsert(process_batch)
_ADD_STEP = RowInsert(process_control)
_REMOVE_STEPS = delete(process_control).where(_p.ProcessBatch_id == bindparam("batch_id"))
_REMOVE_BATCH = delete(process_batch).where(_b.ProcessBatch_id == bindparam("batch_id"))
_REFERENCES = [
    exists().where(column == _b.ProcessBatch_id)
    for table in metadata.sorted_tables
    for column in table.columns
    # Its steps go with it.
    if table is not process_control and any(key.references(process_batch) for key in column.foreign_keys)
]
_IS_REFERRED_TO = select(_b.ProcessBatch_id).where(_b.ProcessBatch_id == bindparam("batch_id"), or_(*_REFERENCES))
_NOT_BEGUN = (
    select(_f.FileProcess_id)
    .where(
        text(f"FileProcess.{READY_INTAKE}"),
        exactly(_f.Entity, bindparam("entity", type_=_f.Entity.type)),
        not_(exists().where(_c.FileProcess_id == _f.FileProcess_id)),
    )
    .order_by(_f.FileProcess_id)
)
_OF_JOB = exactly(ENTITY, _s.Entity)
_LEFT_BEHIND = select(_b.ProcessBatch_id).where(
    _b.Origin == bindparam("origin"), _b.Enabled == 0, not_(exists().where(_OF_JOB))
)
_IS_JOB = (_s.Origin == bindparam("origin"), _b.Origin == bindparam("origin"))
_WAITING = (
    select(_s.Schedule_id, func.count().label("HowMany"))
    .select_from(schedule)
    .join(process_batch, _OF_JOB)
    .join(batch_control, _c.ProcessBatch_id == _b.ProcessBatch_id)
    .where(*_IS_JOB, one_of("BatchControl.Status", WAITING))
    .group_by(_s.Schedule_id)
)


def _attempts(*which: Any) -> Select[Any]:
    """Return the query of the newest of some attempts of each job."""
    return (
        select(_s.Schedule_id, func.max(_h.BatchProcessHistory_id).label("Newest"))
        .select_from(schedule)
        .join(process_batch, _OF_JOB)
        .join(batch_control, _c.ProcessBatch_id == _b.ProcessBatch_id)
        .join(batch_process_history, _h.BatchControl_id == _c.BatchControl_id)
        .where(*_IS_JOB, *which)
        .group_by(_s.Schedule_id)
    )


_RUNNING = _attempts(text(f"BatchProcessHistory.{LIVE_ENTRY}"))
_LAST = _attempts()
_LAST_ERROR = _attempts(_h.Status.in_(["failed", "timeout", "lost"]))
_ENTRY = select(batch_process_history).where(_h.BatchProcessHistory_id == bindparam("history_id"))


@dataclass(frozen=True, slots=True)
class SqlJobStanding:
    """How a job stands."""

    waiting: int = 0
    """How many of its instances wait, whatever they wait for."""
    running: HistoryEntry | None = None
    last: HistoryEntry | None = None
    last_error: HistoryEntry | None = None


def add_batch(connection: Connection, columns: Mapping[str, object]) -> BatchId:
    """Insert a batch, given by its columns; the database fills in the others."""
    return BatchId(_ADD_BATCH(connection, columns))


def change_batch(connection: Connection, batch_id: BatchId, columns: Mapping[str, object], now: datetime) -> None:
    """Write some columns of a batch."""
    values = {**columns, "z_updated": now}
    connection.execute(update(process_batch).where(_b.ProcessBatch_id == batch_id).values(values))


def add_step(connection: Connection, batch_id: BatchId, columns: Mapping[str, object]) -> None:
    """Give a batch a step."""
    _ADD_STEP(connection, {"ProcessBatch_id": batch_id, **columns})


def change_step(
    connection: Connection, batch_id: BatchId, seq: int, columns: Mapping[str, object], now: datetime
) -> None:
    """Write some columns of a step of a batch."""
    chosen = (_p.ProcessBatch_id == batch_id, _p.ProcessControlSeq == seq)
    connection.execute(update(process_control).where(*chosen).values({**columns, "z_updated": now}))


def remove_steps(connection: Connection, batch_id: BatchId) -> None:
    """Take all its steps from a batch."""
    connection.execute(_REMOVE_STEPS, {"batch_id": batch_id})


def is_referred_to(connection: Connection, batch_id: BatchId) -> bool:
    """Say whether any other row than its steps refers to a batch, so that it has to stay."""
    return connection.execute(_IS_REFERRED_TO, {"batch_id": batch_id}).first() is not None


def remove_batch(connection: Connection, batch_id: BatchId) -> None:
    """Delete a batch that nothing refers to, with its steps."""
    remove_steps(connection, batch_id)
    connection.execute(_REMOVE_BATCH, {"batch_id": batch_id})


def left_behind(connection: Connection, origin: str) -> set[BatchId]:
    """Return the disabled batches of jobs whose schedule was removed: they are kept for their history."""
    return {BatchId(found) for found in connection.execute(_LEFT_BEHIND, {"origin": origin}).scalars()}


def not_begun(connection: Connection, entity: str) -> list[IntakeId]:
    """Return the ready rows of an entity that have no instance."""
    return [IntakeId(found) for found in connection.execute(_NOT_BEGUN, {"entity": entity}).scalars()]


def standings(connection: Connection, origin: str) -> dict[int, SqlJobStanding]:
    """Return how each job stands that has had any instance, by the id of its schedule."""
    asked = {"origin": origin}
    waiting = {schedule_id: int(many) for schedule_id, many in connection.execute(_WAITING, asked)}
    running, last, errors = (_newest(connection, query, asked) for query in (_RUNNING, _LAST, _LAST_ERROR))
    return {
        at: SqlJobStanding(waiting.get(at, 0), running.get(at), last.get(at), errors.get(at))
        for at in {*waiting, *running, *last, *errors}
    }


def _newest(connection: Connection, query: Select[Any], asked: Mapping[str, object]) -> dict[int, HistoryEntry]:
    newest: dict[int, int] = dict(connection.execute(query, asked).all())
    return {at: entry(connection.execute(_ENTRY, {"history_id": number}).one()) for at, number in newest.items()}
