"""`Schedule`: when work is to be started."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, bindparam, delete, func, select, text, update

from batchctl.domain.scheduling.catch_up import ScheduleStanding
from batchctl.domain.scheduling.schedules import Schedule, ScheduleId
from batchctl.domain.unreadable import UnreadableRow
from batchctl.store.columns import readable
from batchctl.store.comparison import exactly
from batchctl.store.dialects import dialect_of
from batchctl.store.record_reading import Reader
from batchctl.store.statements import RowInsert, RowSelect, RowUpdate
from batchctl.store.tables import ARMED, schedule, schedule_backfill, schedule_fire
from batchctl.store.unreadable_columns import sorted_out

_s = schedule.c
_schedule = Reader(Schedule, schedule)

SCHEDULES = RowSelect(select(schedule).order_by(_s.Schedule_id))
_LOAD = RowSelect(select(schedule).where(_s.Schedule_id == bindparam("schedule_id")))
_BY_NAME = RowSelect(select(schedule).where(exactly(_s.ScheduleName, bindparam("name", type_=_s.ScheduleName.type))))
_STAND = RowUpdate(schedule, _s.Schedule_id == bindparam("schedule_id"))
SOONEST = [
    RowSelect(
        select(schedule)
        .where(text(f"Schedule.{ARMED}"), is_armed)
        .order_by(_s.NextRunTime, _s.Schedule_id)
        .limit(bindparam("most"))
    )
    for is_armed in (_s.NextRunTime.is_not(None), _s.NextRunTime.is_(None))
]
UNARMED: Mapping[str, None] = dict.fromkeys(("NextRunTime", "DecidedUntil", "TimingHash"))
"""The columns of a schedule that is disabled: once it is enabled again it begins anew."""

_ADD = RowInsert(schedule)
_DELETE = delete(schedule).where(_s.Schedule_id == bindparam("schedule_id"))


def everything(connection: Connection) -> tuple[list[Schedule], list[UnreadableRow]]:
    """Return all schedules in order of their making, and the rows that hold nonsense."""
    return sorted_out(connection, schedule, SCHEDULES(connection), _schedule)


def soonest(connection: Connection, most: int) -> list[Schedule]:
    """Return the enabled schedules that are due next, and some of those that no controller has seen yet."""
    asked = [query.ask(connection, most=most) for query in SOONEST]
    return [one for rows in asked for one in readable(rows(), _schedule)]


def load(connection: Connection, schedule_id: ScheduleId) -> Schedule | None:
    """Return a schedule as it is now; raises `ValueError` when its row holds nonsense."""
    return next((_schedule(row) for row in _LOAD(connection, schedule_id=schedule_id)), None)


def load_locked(connection: Connection, schedule_id: ScheduleId) -> Schedule | None:
    """Return a schedule, locked until the end of the transaction: no other connection decides about its due times."""
    dialect_of(connection).lock_row(connection, "Schedule", schedule_id)
    return load(connection, schedule_id)


def named(connection: Connection, name: str) -> Schedule | None:
    """Return the schedule of a name; raises `ValueError` when its row holds nonsense."""
    return next((_schedule(row) for row in _BY_NAME(connection, name=name)), None)


def stand(
    connection: Connection, schedule_id: ScheduleId, standing: ScheduleStanding, now: datetime, *, disable: bool = False
) -> None:
    """Write up to where a schedule is decided, and when it is due next; one that is over is disabled."""
    values = {
        "NextRunTime": standing.next_run_time,
        "DecidedUntil": standing.decided_until,
        "TimingHash": standing.timing_hash,
        "z_updated": now,
    }
    _STAND(connection, {**values, "Enabled": 0} if disable else values, schedule_id=schedule_id)


def add(connection: Connection, columns: Mapping[str, object]) -> ScheduleId:
    """Insert a schedule, given by its columns; the database fills in the others."""
    return ScheduleId(_ADD(connection, columns))


def change(connection: Connection, schedule_id: ScheduleId, columns: Mapping[str, object], now: datetime) -> None:
    """Write some columns of a schedule."""
    changed = update(schedule).where(_s.Schedule_id == schedule_id).values({**columns, "z_updated": now})
    connection.execute(changed)


def disable(connection: Connection, schedule_id: ScheduleId, now: datetime) -> None:
    """Let a schedule start nothing more; due times that pass meanwhile are not caught up on."""
    change(connection, schedule_id, {"Enabled": 0, **UNARMED}, now)


_f, _b = schedule_fire.c, schedule_backfill.c
_COUNT_FIRES = select(func.count()).where(_f.Schedule_id == bindparam("schedule_id"))
_COUNT_BACKFILLS = select(func.count()).where(_b.Schedule_id == bindparam("schedule_id"))
_REMOVE_FIRES = delete(schedule_fire).where(_f.Schedule_id == bindparam("schedule_id"))
_REMOVE_BACKFILLS = delete(schedule_backfill).where(_b.Schedule_id == bindparam("schedule_id"))


@dataclass(frozen=True, slots=True)
class Trail:
    """How many rows refer to a schedule."""

    fires: int
    backfills: int


def trail(connection: Connection, schedule_id: ScheduleId) -> Trail:
    """Count what was decided about a schedule."""
    asked = {"schedule_id": schedule_id}
    counts = (int(connection.execute(query, asked).scalar_one()) for query in (_COUNT_FIRES, _COUNT_BACKFILLS))
    return Trail(*counts)


def remove(connection: Connection, schedule_id: ScheduleId) -> None:
    """Delete a schedule with its fires and backfills: a controller that is about to fire it finds it gone."""
    dialect_of(connection).lock_row(connection, "Schedule", schedule_id)
    for query in (_REMOVE_FIRES, _REMOVE_BACKFILLS, _DELETE):
        connection.execute(query, {"schedule_id": schedule_id})
