"""What was decided about the due times of schedules, for those who look at them."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Connection, bindparam, or_, select

from batchctl.domain.scheduling.schedules import ScheduleFire, ScheduleId
from batchctl.store.columns import UtcTime, readable
from batchctl.store.scheduling.schedule_fires import fire
from batchctl.store.statements import RowSelect
from batchctl.store.tables import schedule_fire

_f = schedule_fire.c
_OF = _f.Schedule_id == bindparam("schedule_id")
_AFTER, _UNTIL = bindparam("after", type_=UtcTime()), bindparam("until", type_=UtcTime())

_LAST = RowSelect(
    select(schedule_fire).where(_OF).order_by(_f.DueTime.desc(), _f.ScheduleFire_id.desc()).limit(bindparam("most"))
)
_WITHIN = RowSelect(
    select(schedule_fire)
    .where(_OF, _f.DueTime <= _UNTIL, or_(_f.DueTime > _AFTER, _f.DueUntil > _AFTER))
    .order_by(_f.DueTime, _f.ScheduleFire_id)
)


def last_of(connection: Connection, schedule_id: ScheduleId, most: int = 1) -> list[ScheduleFire]:
    """Return what was decided about the newest due times of a schedule, newest first."""
    return readable(_LAST(connection, schedule_id=schedule_id, most=most), fire)


def within(connection: Connection, schedule_id: ScheduleId, after: datetime, until: datetime) -> list[ScheduleFire]:
    """Return what was decided about the due times after one moment and not after another, in order."""
    return readable(_WITHIN(connection, schedule_id=schedule_id, after=after, until=until), fire)
