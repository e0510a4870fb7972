"""Deleting a schedule, with all that was decided about it."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, bindparam, delete, func, select

from batchctl.domain.scheduling.schedules import ScheduleId
from batchctl.store.dialects import dialect_of
from batchctl.store.scheduling import schedule_rows
from batchctl.store.tables import schedule_backfill, schedule_fire

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
    for query in (_REMOVE_FIRES, _REMOVE_BACKFILLS):
        connection.execute(query, {"schedule_id": schedule_id})
    schedule_rows.remove(connection, schedule_id)
