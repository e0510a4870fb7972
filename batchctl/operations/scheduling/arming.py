"""Where a schedule stands once somebody has made, changed or enabled it: what was promised is kept without a controller.

Whatever does that arms it in its own transaction as a controller would on reading the row. One that comes later finds it
done, and what fell due meanwhile is on time, or was missed: decided either way.
"""

from __future__ import annotations

from dataclasses import replace

from batchctl.domain.scheduling import due
from batchctl.domain.scheduling.catch_up import ScheduleStanding, standing_of
from batchctl.domain.scheduling.modes import lets_schedules, takers_of
from batchctl.domain.scheduling.schedules import Schedule, ScheduleId
from batchctl.domain.scheduling.undecided import Undecided
from batchctl.domain.status import SchedulerEvent
from batchctl.operations.scheduling import timetable
from batchctl.operations.scheduling.schedule_findings import ScheduleContext
from batchctl.store import Connection, scheduler_log
from batchctl.store.scheduling import schedule_fires, schedule_rows


def arm(connection: Connection, schedule_id: ScheduleId, context: ScheduleContext, *, anew: bool = False) -> None:
    """Write where a schedule stands, after what was done to its row; `anew` if nothing counts that was due before.

    The row is read once more, and locked: no controller decides about it before this is over.
    """
    try:
        schedule = schedule_rows.load_locked(connection, schedule_id)
    except ValueError:
        return  # A row that cannot be read stands nowhere, and starts nothing.
    if schedule is None:
        return
    plan = context.plan_of(schedule.timing)
    undecided = None if plan is None else schedule_fires.undecided(connection, schedule_id, plan)
    standing = _standing(schedule, undecided, context, anew=anew)
    if standing != standing_of(schedule):
        schedule_rows.stand(connection, schedule_id, standing, context.now)
        for said, intake_id in () if undecided is None else schedule_fires.unlogged(connection, schedule, undecided):
            event, now = SchedulerEvent.SKIPPED, context.now
            scheduler_log.add(connection, event, schedule, now, said, intake_id=intake_id)


def begins_anew(before: Schedule, after: Schedule, context: ScheduleContext) -> bool:
    """Say whether nothing counts any more that was due before: nothing let it start work, or other times count now."""
    is_let = before.enabled and lets_schedules(takers_of(before.entity, context.batches))
    return not is_let or due.timing_hash(before.timing, context.zone) != due.timing_hash(after.timing, context.zone)


def _standing(schedule: Schedule, plan: Undecided | None, context: ScheduleContext, *, anew: bool) -> ScheduleStanding:
    return timetable.standing_of(replace(schedule, decided_until=None) if anew else schedule, plan, context)
