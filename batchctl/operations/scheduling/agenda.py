"""What all schedules start in the days to come, day by day: the read model behind the page of the schedules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from itertools import groupby, islice

from batchctl.domain.scheduling.clock_changes import ClockChange, changes_of
from batchctl.domain.scheduling.due import Instant, InstantOutcome, Plan
from batchctl.domain.scheduling.schedules import Schedule
from batchctl.operations.column_lists import ColumnList, StatusWord, is_enabled, record
from batchctl.operations.scheduling.schedule_findings import ScheduleContext
from batchctl.operations.scheduling.timetable import Timetable
from batchctl.store.scheduling import schedule_rows

DAYS = 30
MOST = 3000
"""How many due times of one schedule are looked at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedSchedule:
    """A schedule, and when it is due as far as its own columns and its calendar say."""

    schedule: Schedule
    plan: Plan | None
    """None where its columns cannot be understood."""
    next: Instant | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AgendaDay:
    """What one schedule starts on one day of its clocks."""

    schedule: Schedule
    day: date
    fires: tuple[Instant, ...]
    skipped: tuple[Instant, ...]
    change: ClockChange | None
    """The change of its clocks on that day, if there is one."""

    @property
    def reason(self) -> str | None:
        """Say why something is skipped or shifted, and that clocks are changed."""
        said = dict.fromkeys(one.reason for one in (*self.skipped, *self.fires) if one.reason is not None)
        change = () if self.change is None else (self.change.words,)
        return "; ".join((*change, *said)) or None


SCHEDULES = ColumnList[PlannedSchedule](
    "Schedules",
    {
        **record(Schedule, lambda one: one.schedule),
        "Words": lambda one: None if one.plan is None else one.plan.words,
        "NextLocalTime": lambda one: None if one.next is None else one.next.local,
        "NextDueTime": lambda one: None if one.next is None else one.next.due,
    },
    {
        "name": "ScheduleName",
        "state": is_enabled(lambda one: one.schedule.enabled),
        "entity": "Entity",
        "when": lambda one: one.plan.words if one.plan is not None else StatusWord("unreadable"),
        "next local": "NextLocalTime",
        "next (UTC)": "NextDueTime",
    },
)
AGENDA = ColumnList[AgendaDay](
    f"Due within {DAYS} days",
    {
        "Day": lambda one: one.day,
        "ScheduleName": lambda one: one.schedule.name,
        "Entity": lambda one: one.schedule.entity,
        "First": lambda one: None if not one.fires else one.fires[0].local,
        "Last": lambda one: None if not one.fires else one.fires[-1].local,
        "Fires": lambda one: len(one.fires),
        "Skipped": lambda one: len(one.skipped),
        "Change": lambda one: None if one.change is None else one.change.words,
        "Reason": lambda one: one.reason,
    },
    {
        "day": lambda one: f"{one.day:%a} {one.day}",
        "schedule": "ScheduleName",
        "entity": "Entity",
        "first": "First",
        "times#": "Fires",
        "skipped#": lambda one: len(one.skipped) or None,
        "clocks": lambda one: None if one.change is None else StatusWord("change night"),
        "because": "Reason",
    },
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Agenda:
    """All schedules, and what they start in the days to come."""

    schedules: tuple[PlannedSchedule, ...]
    days: tuple[AgendaDay, ...]


def agenda(table: Timetable, days: int = DAYS) -> Agenda:
    """Reckon what all enabled schedules start in the days to come, as if nothing of it were decided."""
    with table.transactions.read() as connection:
        context = table.context(connection)
        every = sorted(schedule_rows.everything(connection)[0], key=lambda one: one.name)
    until = context.now + timedelta(days=days)
    planned = [_planned(one, context) for one in every]
    found = [day for one in planned for day in _days_of(one, context.now, until)]
    return Agenda(schedules=tuple(planned), days=tuple(sorted(found, key=lambda one: (one.day, one.schedule.name))))


def _planned(schedule: Schedule, context: ScheduleContext) -> PlannedSchedule:
    plan = context.plan_of(schedule.timing)
    following = None if plan is None or not schedule.enabled else plan.next_after(context.now)
    return PlannedSchedule(schedule=schedule, plan=plan, next=following)


def _days_of(one: PlannedSchedule, after: datetime, until: datetime) -> Iterator[AgendaDay]:
    if one.plan is None or not one.schedule.enabled:
        return
    changes = {change.before.date(): change for change in changes_of(one.plan.read.clock, after, until)}
    for day, instants in groupby(_due(one.plan.instants(after, until)), key=lambda at: _day(at, one.plan)):
        there = [*instants]
        yield AgendaDay(
            schedule=one.schedule,
            day=day,
            fires=tuple(at for at in there if at.outcome is not InstantOutcome.SKIPPED),
            skipped=tuple(at for at in there if at.outcome is InstantOutcome.SKIPPED),
            change=changes.get(day),
        )


def _due(instants: Iterable[Instant]) -> Iterator[Instant]:
    return (one for one in islice(instants, MOST) if one.due is not None)


def _day(one: Instant, plan: Plan | None) -> date:
    return one.business_date if plan is None or one.due is None else plan.read.clock.day_of(one.due)
