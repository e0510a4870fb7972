"""What starts a batch by itself, in words: for `why`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from batchctl.domain.scheduling.modes import is_scheduled, lets_schedules, mode_word, takers_of
from batchctl.domain.scheduling.schedules import Schedule
from batchctl.domain.text import visible
from batchctl.operations.scheduling import timetable
from batchctl.operations.scheduling.schedule_findings import ScheduleContext
from batchctl.operations.scheduling.timetable import Timetable
from batchctl.store.scheduling import schedule_rows


def starters_of(connection: Any, table: Timetable, name: str) -> Iterator[str]:
    """Yield a sentence on a batch's mode, if it has one, and on each schedule of its entity."""
    context = table.context(connection)
    batch = next(batch for batch in context.batches if batch.name == name)
    if batch.mode is not None:
        yield f"Its mode is {mode_word(batch.mode)}{'' if is_scheduled(batch.mode) else ': no schedule is to start it'}."
    for schedule in schedule_rows.everything(connection)[0]:
        if schedule.entity == batch.entity:
            yield _wording(connection, schedule, context)


def _wording(connection: Any, schedule: Schedule, context: ScheduleContext) -> str:
    plan, name = context.plan_of(schedule.timing), visible(schedule.name)
    if plan is None:
        return f"Schedule {name} cannot be understood, so it starts nothing: batchctl check."
    if not schedule.enabled:
        return f"Schedule {name} is disabled: {plan.words}."
    if not lets_schedules(takers_of(schedule.entity, context.batches)):
        return f"Schedule {name} is left alone, as the mode says: {plan.words}."
    coming = timetable.next_of(connection, schedule, context)
    at = "it is not due any more" if coming is None else f"next at {coming.words}"
    return f"Schedule {name} starts it: {plan.words}; {at}."
