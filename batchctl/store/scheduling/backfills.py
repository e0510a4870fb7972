"""`ScheduleBackfill`: due times of the past that somebody wants to have work started for."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, bindparam, func, select, text

from batchctl.domain.rows import NEVER, InstanceId
from batchctl.domain.scheduling.backfill_turns import Stretch
from batchctl.domain.scheduling.schedules import Backfill, BackfillId, ScheduleId
from batchctl.domain.status import BackfillStatus, FireOutcome, InstanceStatus, IntakeStatus
from batchctl.domain.unreadable import UnreadableRow
from batchctl.store.columns import readable
from batchctl.store.conditions import one_of
from batchctl.store.dialects import dialect_of
from batchctl.store.record_reading import Reader
from batchctl.store.statements import RowInsert, RowSelect, RowUpdate
from batchctl.store.tables import (
    BACKFILLING,
    INBOX_INTAKE,
    READY_INTAKE,
    batch_control,
    file_process,
    schedule_backfill,
    schedule_fire,
)
from batchctl.store.unreadable_columns import sorted_out

_b, _f, _p, _c = schedule_backfill.c, schedule_fire.c, file_process.c, batch_control.c
_read = Reader(Backfill)

_ADD = RowInsert(schedule_backfill)
_LOAD = RowSelect(select(schedule_backfill).where(_b.ScheduleBackfill_id == bindparam("backfill_id")))
_RUNNING = RowSelect(
    select(schedule_backfill).where(text(f"ScheduleBackfill.{BACKFILLING}")).order_by(_b.ScheduleBackfill_id)
)
_NEWEST = select(schedule_backfill).order_by(_b.ScheduleBackfill_id.desc()).limit(bindparam("most"))
_CHANGE = RowUpdate(
    schedule_backfill, _b.ScheduleBackfill_id == bindparam("backfill_id"), _b.Status == BackfillStatus.RUNNING.value
)
_OPEN = (
    select(func.count())
    .select_from(file_process)
    .join(schedule_fire, _f.FileProcess_id == _p.FileProcess_id)
    .where(_f.ScheduleBackfill_id == bindparam("backfill_id"))
)
_COUNT_READY = _OPEN.where(text(f"FileProcess.{READY_INTAKE}"))
_COUNT_PAUSED = _OPEN.where(one_of("FileProcess.Status", INBOX_INTAKE), _p.Status == IntakeStatus.PAUSED.value)
_STUCK = (
    select(_c.BatchControl_id, _c.Status)
    .join(schedule_fire, _f.FileProcess_id == _c.FileProcess_id)
    .where(
        _f.ScheduleBackfill_id == bindparam("backfill_id"),
        _c.Status.in_([InstanceStatus.FAILED.value, InstanceStatus.HELD.value]),
    )
    .order_by(_c.BatchControl_id)
    .limit(1)
)
_STRETCHES = (
    select(_f.DueTime, _f.DueUntil)
    .where(
        _f.Schedule_id == bindparam("schedule_id"),
        _f.Outcome == FireOutcome.SKIPPED.value,
        _f.DueUntil.is_not(None),
        _f.DueTime <= bindparam("last"),
        _f.DueUntil >= bindparam("first"),
    )
    .order_by(_f.DueTime)
)


def add(connection: Connection, columns: Mapping[str, object]) -> BackfillId:
    """Insert a backfill, given by its columns; the database fills in the others."""
    return BackfillId(_ADD(connection, columns))


def load(connection: Connection, backfill_id: BackfillId) -> Backfill | None:
    """Return a backfill as it is now."""
    return next(iter(readable(_LOAD(connection, backfill_id=backfill_id), _backfill)), None)


def load_locked(connection: Connection, backfill_id: BackfillId) -> Backfill | None:
    """Return a backfill, locked until the end of the transaction. To lock its schedule too, lock that first."""
    dialect_of(connection).lock_row(connection, "ScheduleBackfill", backfill_id)
    return load(connection, backfill_id)


def running(connection: Connection) -> tuple[list[Backfill], list[UnreadableRow]]:
    """Return the backfills that are not over, oldest first, and their rows that hold nonsense."""
    return sorted_out(connection, schedule_backfill, _RUNNING(connection), _backfill)


def newest(connection: Connection, most: int) -> tuple[list[Backfill], list[UnreadableRow]]:
    """Return the newest backfills, newest first, and the rows that hold nonsense."""
    return sorted_out(connection, schedule_backfill, connection.execute(_NEWEST, {"most": most}), _backfill)


def change(connection: Connection, backfill_id: BackfillId, columns: Mapping[str, object]) -> bool:
    """Write some columns of a backfill that is running; false when it is over."""
    return _CHANGE(connection, columns, backfill_id=backfill_id)


def count_open(connection: Connection, backfill_id: BackfillId) -> int:
    """Return for how many due times that a backfill has fired the work is not done yet."""
    asked = {"backfill_id": backfill_id}
    return sum(int(connection.execute(query, asked).scalar_one()) for query in (_COUNT_READY, _COUNT_PAUSED))


def stuck(connection: Connection, backfill_id: BackfillId) -> tuple[InstanceId, str] | None:
    """Return the first instance of a backfill that failed or is held, and waits for a person, with its status."""
    row = connection.execute(_STUCK, {"backfill_id": backfill_id}).one_or_none()
    return None if row is None else (row[0], row[1])


def stretches(connection: Connection, schedule_id: ScheduleId, first: datetime, last: datetime) -> list[Stretch]:
    """Return the times in which due times of a schedule were skipped together, as far as they touch a time."""
    asked = {"schedule_id": schedule_id, "first": first, "last": last}
    return [Stretch(*row) for row in connection.execute(_STRETCHES, asked)]


def _backfill(row: Any) -> Backfill:
    # Otherwise it would be complete at once, as if its work had been done.
    for column in ("FromTime", "DoneUntil"):
        if getattr(row, column) == NEVER:
            message = f"{column} is no time"
            raise ValueError(message)
    if row.FromTime > row.UntilTime:
        message = "FromTime lies behind UntilTime"
        raise ValueError(message)
    return _read(row)
