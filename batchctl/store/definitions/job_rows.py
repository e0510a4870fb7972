"""The rows of jobs in `ProcessBatch`, `ProcessControl` and `Schedule`, as far as their code says anything of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, Table, select, update

from batchctl.domain.definitions.reconciling import BATCHES, SCHEDULES, STEPS, TIMING, JobRows, KeptRow, Values
from batchctl.domain.errors import BatchctlError, Conflict, Refused
from batchctl.domain.text import message_of
from batchctl.store.dialects import dialect_of
from batchctl.store.statements import RowInsert
from batchctl.store.tables import process_batch, process_control, schedule
from batchctl.store.transactions import savepoint

_LOCK = "batchctl jobs"
_TABLES: dict[str, tuple[Table, str]] = {
    BATCHES: (process_batch, "ProcessBatch_id"),
    STEPS: (process_control, "ProcessControl_id"),
    SCHEDULES: (schedule, "Schedule_id"),
}
_b, _p, _s = process_batch.c, process_control.c, schedule.c
_OF_BATCHES = ("Entity", "RetryCount", "RetryWaitSecs", "RetryWaitMins")
_OF_STEPS = ("ProcessControlSeq", "ProcessType", "Data1", "Data2")
_OF_SCHEDULES = ("Entity", *TIMING)
_BATCHES = select(process_batch).order_by(_b.ProcessBatch_id)
_STEPS = (
    select(process_control, _b.ProcessBatchName)
    .join_from(process_control, process_batch, _b.ProcessBatch_id == _p.ProcessBatch_id)
    .where(_b.Origin.is_not(None))
    .order_by(_p.ProcessBatch_id, _p.ProcessControlSeq)
)
_SCHEDULES = select(schedule).order_by(_s.Schedule_id)
_BATCH_ID = select(_b.ProcessBatch_id)


def lock(connection: Connection) -> None:
    """Keep others from writing rows of jobs until the end of the transaction."""
    if not dialect_of(connection).lock_name(connection, _LOCK):
        message = "Another controller is writing the rows of jobs."
        raise Conflict(message)


@contextmanager
def apart(connection: Connection) -> Iterator[None]:
    """Undo only this part when the database refuses it, and raise what it says as `Refused`; what else is written stays."""
    try:
        with savepoint(connection):
            yield
    except BatchctlError:
        raise
    except Exception as error:  # constraints and triggers of others refuse with whatever they please
        said = message_of(error).rstrip(".")
        message = f"The database refuses it, so nothing of the job is written: {said}."
        way_out = "change the code, or let the database's owner look at its constraints and triggers"
        raise Refused(message, next_step=f"{way_out}, then: batchctl job reconcile") from error


def read(connection: Connection) -> JobRows:
    """Return all batches and schedules, and the steps of batches that have an Origin; whatever they hold."""
    return JobRows(
        [_kept(row, "ProcessBatch", _OF_BATCHES) for row in connection.execute(_BATCHES)],
        [_step(row) for row in connection.execute(_STEPS)],
        [_kept(row, "Schedule", _OF_SCHEDULES) for row in connection.execute(_SCHEDULES)],
    )


def add(connection: Connection, table: str, name: str, columns: Values) -> None:
    """Insert a batch, a step of a batch or a schedule; the database fills in what the code says nothing of."""
    into, _ = _TABLES[table]
    values: dict[str, Any] = dict(columns)
    match table:
        case "ProcessControl":
            found = connection.execute(_BATCH_ID.where(_b.ProcessBatchName == name))
            values["ProcessBatch_id"] = found.scalar_one()
        case "Schedule":
            values["ScheduleName"] = name
        case _:
            values["ProcessBatchName"] = name
    RowInsert(into)(connection, values)


def change(connection: Connection, table: str, row_id: int, columns: Values, now: datetime) -> None:
    """Write some columns of a row."""
    into, key = _TABLES[table]
    changed = update(into).where(into.c[key] == row_id).values({**columns, "z_updated": now})
    connection.execute(changed)


def _kept(row: Row[Any], table: str, columns: tuple[str, ...]) -> KeptRow:
    return KeptRow(
        row_id=getattr(row, f"{table}_id"),
        name=getattr(row, f"{table}Name"),
        origin=row.Origin,
        enabled=row.Enabled == 1,
        columns={column: getattr(row, column) for column in columns},
    )


def _step(row: Row[Any]) -> KeptRow:
    return KeptRow(
        row_id=row.ProcessControl_id,
        name=row.ProcessBatchName,
        columns={column: getattr(row, column) for column in _OF_STEPS},
    )
