"""What was decided about the due times of schedules, for those who look at them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, bindparam, or_, select

from batchctl.domain.rows import IntakeId
from batchctl.domain.schedules import ScheduleId
from batchctl.domain.status import FireOutcome, word
from batchctl.store.columns import UtcTime, readable, text_of
from batchctl.store.statements import RowSelect
from batchctl.store.tables import schedule_fire

_f = schedule_fire.c
_COLUMNS = (_f.FireKey, _f.Outcome, _f.DueTime, _f.DueUntil, _f.Instants, _f.Reason, _f.FileProcess_id)
_OF = _f.Schedule_id == bindparam("schedule_id")
_AFTER, _UNTIL = bindparam("after", type_=UtcTime()), bindparam("until", type_=UtcTime())

_LAST = RowSelect(
    select(*_COLUMNS).where(_OF).order_by(_f.DueTime.desc(), _f.ScheduleFire_id.desc()).limit(bindparam("most"))
)
_WITHIN = RowSelect(
    select(*_COLUMNS)
    .where(_OF, _f.DueTime <= _UNTIL, or_(_f.DueTime > _AFTER, _f.DueUntil > _AFTER))
    .order_by(_f.DueTime, _f.ScheduleFire_id)
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """What was decided about a due time, or about a whole stretch of them."""

    key: str
    outcome: FireOutcome
    due: datetime
    due_until: datetime | None
    instants: int
    reason: str | None
    intake_id: IntakeId | None

    def covers(self, key: str, due: datetime) -> bool:
        """Say whether it is about a due time."""
        return self.key == key or (self.due_until is not None and self.due <= due <= self.due_until)


def last_of(connection: Connection, schedule_id: ScheduleId, most: int = 1) -> list[Decided]:
    """Return what was decided about the newest due times of a schedule, newest first."""
    return _readable(_LAST(connection, schedule_id=schedule_id, most=most))


def within(connection: Connection, schedule_id: ScheduleId, after: datetime, until: datetime) -> list[Decided]:
    """Return what was decided about the due times after one moment and not after another, in order."""
    return _readable(_WITHIN(connection, schedule_id=schedule_id, after=after, until=until))


def _readable(rows: Iterable[Any]) -> list[Decided]:
    return readable(rows, _decided)


def _decided(row: Any) -> Decided:
    return Decided(
        key=str(row.FireKey),
        outcome=word(FireOutcome, row.Outcome),
        due=row.DueTime,
        due_until=row.DueUntil,
        instants=int(row.Instants),
        reason=text_of(row.Reason),
        intake_id=None if row.FileProcess_id is None else IntakeId(int(row.FileProcess_id)),
    )
