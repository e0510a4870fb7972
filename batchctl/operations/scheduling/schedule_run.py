"""Starting a schedule's work now, outside of its due times: an act of a person."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from batchctl.domain.errors import Refused
from batchctl.domain.rows import IntakeId
from batchctl.domain.scheduling.schedules import Schedule
from batchctl.domain.status import SchedulerEvent
from batchctl.domain.text import storable
from batchctl.operations import unknown
from batchctl.operations.operators.acts import Actor, checked_reason
from batchctl.operations.scheduling import timetable
from batchctl.operations.scheduling.timetable import schedule_target
from batchctl.store import scheduler_log
from batchctl.store.definitions import definitions
from batchctl.store.intake import data_triggers, intake
from batchctl.store.maintenance import audit_entries


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """What was started, or would be."""

    schedule: Schedule
    intake_id: IntakeId | None
    """None in a dry run."""
    cycle_key: str
    batches: tuple[str, ...]
    """Those that take the row."""
    unreadable: Refused | None
    """What cannot be read of another batch that takes it."""
    open_work: str | None
    """What of its entity is not done yet: the new work waits behind it."""


def run_now(actor: Actor, name: str, *, zone: str, reason: str | None) -> Ran:
    """Insert the row that the schedule would insert if it were due; its due times stay as they are."""
    reason = checked_reason(reason)

    def act(connection: Any) -> Ran:
        schedule = timetable.named(connection, name)
        defined = definitions.read(connection)
        takers = tuple(batch.name for batch in defined.batches if batch.entity == schedule.entity)
        blocker = data_triggers.blocker(connection, schedule.entity)
        cycle_key = _today(schedule, zone, actor).isoformat()
        intake_id = None if actor.dry_run else _insert(connection, actor, schedule, cycle_key, reason)
        open_work = None if blocker is None else str(blocker)
        return Ran(
            schedule=schedule,
            intake_id=intake_id,
            cycle_key=cycle_key,
            batches=takers,
            unreadable=next(map(unknown.of_batch_row, defined.unreadable_of(schedule.entity)), None),
            open_work=open_work,
        )

    return actor.act(act)


def _insert(connection: Any, actor: Actor, schedule: Schedule, cycle_key: str, reason: str | None) -> IntakeId:
    said, now = storable(f"run by {actor.who}: {reason}"), actor.clock.now()
    intake_id = intake.add(
        connection, entity=schedule.entity, cycle_key=cycle_key, source=schedule.source, message=said
    )
    scheduler_log.add(connection, SchedulerEvent.FIRED, schedule, now, said, intake_id=intake_id)
    target, after = schedule_target(schedule.name), {"FileProcess_id": intake_id}
    actor.note(connection, audit_entries.RUN_NOW, target, reason, {}, after)
    return intake_id


def _today(schedule: Schedule, zone: str, actor: Actor) -> date:
    """Return the date by the schedule's clocks, or by those of the business where the schedule's zone is unknown."""
    now = actor.clock.now()
    try:
        return now.astimezone(ZoneInfo(schedule.timing.time_zone or zone)).date()
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return now.astimezone(ZoneInfo(zone)).date()
