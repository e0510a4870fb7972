"""`ScheduleFire`: what was decided about each due time of a schedule, once and for all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any

from sqlalchemy import Connection, bindparam, or_, select

from batchctl.domain.rows import IntakeId
from batchctl.domain.scheduling.due import Plan
from batchctl.domain.scheduling.schedules import BackfillId, FireId, Schedule, ScheduleFire, ScheduleId
from batchctl.domain.scheduling.undecided import Before, Undecided
from batchctl.domain.status import FireOutcome, word
from batchctl.store import scheduler_log
from batchctl.store.columns import UtcTime, readable
from batchctl.store.one_look import ask_ahead
from batchctl.store.record_reading import Reader
from batchctl.store.statements import RowInsert, RowSelect
from batchctl.store.tables import schedule_fire

_ASKED_AT_ONCE = 500
"""SQL Server takes 2100 parameters."""

_f = schedule_fire.c
fire = Reader(ScheduleFire)
"""Makes a value of a row."""

_ADD = RowInsert(schedule_fire)
_OF_SCHEDULE = select(_f.FireKey, _f.Outcome, _f.DueTime, _f.FileProcess_id, _f.Reason).where(
    _f.Schedule_id == bindparam("schedule_id")
)
_DECIDED = _OF_SCHEDULE.where(_f.FireKey.in_(bindparam("keys", expanding=True)))
_IS_DECIDED = RowSelect(_OF_SCHEDULE.where(_f.FireKey == bindparam("key", type_=_f.FireKey.type)))
_NEWEST = select(schedule_fire).order_by(_f.ScheduleFire_id.desc()).limit(bindparam("most"))
_OF_INTAKE = RowSelect(select(schedule_fire).where(_f.FileProcess_id == bindparam("intake_id")))


def add(
    connection: Connection,
    schedule_id: ScheduleId,
    fire_key: str,
    outcome: FireOutcome,
    due: datetime,
    now: datetime,
    *,
    due_until: datetime | None = None,
    instants: int = 1,
    reason: str | None = None,
    intake_id: IntakeId | None = None,
    backfill_id: BackfillId | None = None,
    zone_rules: str | None = None,
) -> FireId:
    """Record what was decided; the database refuses to have the same decided again."""
    values = {
        "Schedule_id": schedule_id,
        "FireKey": fire_key,
        "Outcome": outcome.value,
        "DueTime": due,
        "DueUntil": due_until,
        "Instants": instants,
        "Reason": reason,
        "FileProcess_id": intake_id,
        "ScheduleBackfill_id": backfill_id,
        "ZoneRules": zone_rules,
        "z_inserted": now,
    }
    return FireId(_ADD(connection, values))


def decided(connection: Connection, schedule_id: ScheduleId, keys: Sequence[str]) -> Mapping[str, Before]:
    """Return those of some keys that are decided already, with what they were decided for."""
    found = dict[str, Before]()
    for at in range(0, len(keys), _ASKED_AT_ONCE):
        for key, outcome, due, intake_id, reason in _decided(connection, schedule_id, keys[at : at + _ASKED_AT_ONCE]):
            found[key] = Before(key, word(FireOutcome, outcome), due, intake_id, reason)
    return found


def _decided(connection: Connection, schedule_id: ScheduleId, keys: Sequence[str]) -> Iterable[Any]:
    if len(keys) == 1:
        return _IS_DECIDED(connection, **_fire(schedule_id, keys[0]))
    return connection.execute(_DECIDED, {"schedule_id": schedule_id, "keys": [*keys]})


def ask_decided(connection: Connection, keys: Iterable[tuple[ScheduleId, str]]) -> None:
    """Ask ahead whether each of some due times, by schedule and key, is decided."""
    ask_ahead(connection, *((_IS_DECIDED, _fire(*each)) for each in keys))


def _fire(schedule_id: ScheduleId, key: str) -> dict[str, object]:
    return {"schedule_id": schedule_id, "key": key}


def undecided(connection: Connection, schedule_id: ScheduleId, plan: Plan) -> Undecided:
    """Return when a schedule is due, without what is decided already."""
    return Undecided(plan, partial(decided, connection, schedule_id))


def unlogged(connection: Connection, schedule: Schedule, plan: Undecided) -> Sequence[tuple[str, IntakeId | None]]:
    """Return what is to be logged of the next due times that were decided as those of other moments.

    That was before timing or calendar were changed. Each arming of a schedule finds them, as long as they are to come:
    they are logged again only behind other news.
    """
    told = list(plan.announced())
    last = scheduler_log.last_of(connection, schedule) if told else None
    return [] if last is not None and last.message == told[-1][0] else told


def newest(
    connection: Connection, most: int, schedule_id: ScheduleId | None = None, before: int | None = None
) -> list[ScheduleFire]:
    """Return what was decided last, of one schedule or of all, newest first."""
    wanted = _NEWEST if schedule_id is None else _NEWEST.where(_f.Schedule_id == schedule_id)
    if before is not None:
        wanted = wanted.where(_f.ScheduleFire_id < before)
    return readable(connection.execute(wanted, {"most": most}), fire)


def of_intake(connection: Connection, intake_id: IntakeId) -> ScheduleFire | None:
    """Return the due time that has inserted a row, if one has."""
    return next(iter(readable(_OF_INTAKE(connection, intake_id=intake_id), fire)), None)


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


def ask_last(connection: Connection, schedule_id: ScheduleId, *every: int) -> None:
    """Ask ahead for so many of the newest due times of a schedule."""
    ask_ahead(connection, *((_LAST, {"schedule_id": schedule_id, "most": most}) for most in every))


def within(connection: Connection, schedule_id: ScheduleId, after: datetime, until: datetime) -> list[ScheduleFire]:
    """Return what was decided about the due times after one moment and not after another, in order."""
    return readable(_WITHIN(connection, schedule_id=schedule_id, after=after, until=until), fire)
