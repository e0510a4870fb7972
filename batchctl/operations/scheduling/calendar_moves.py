"""What a changed calendar does to the schedules that go by it: when each is due next, and what it will not start any more."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from batchctl.domain.scheduling.due import Instant, InstantOutcome, Plan
from batchctl.domain.scheduling.schedules import Calendar, Schedule
from batchctl.domain.scheduling.undecided import keys_of, standing_for
from batchctl.domain.status import CalendarRule
from batchctl.domain.text import typed, visible
from batchctl.operations import shown_columns
from batchctl.operations.scheduling import timetable
from batchctl.operations.scheduling.schedule_findings import ScheduleContext
from batchctl.operations.scheduling.timetable import Next
from batchctl.operations.shown_columns import Columns
from batchctl.store import Connection
from batchctl.store.scheduling import schedule_fires, schedule_rows

_NEAR = timedelta(days=31)
"""How far a due time is looked for that has moved to one that is over."""


@dataclass(frozen=True, slots=True)
class Lost:
    """A due time that was to come, and the one that is over to which it has moved."""

    was: Instant
    becomes: Instant

    @property
    def columns(self) -> Columns:
        """Return it for programs."""
        return {
            "CycleKey": self.was.business_date.isoformat(),
            "LocalTimeBefore": self.was.local,
            "LocalTime": self.becomes.local,
            "UtcTime": shown_columns.moment(self.becomes.due),
            "FireKey": self.becomes.key,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class MovedSchedule:
    """A schedule that is due next at another time than before."""

    schedule: Schedule
    before: Next | None
    after: Next | None
    lost: tuple[Lost, ...]

    @property
    def next_step(self) -> str:
        """Return what starts the work that is lost."""
        return f"batchctl schedule run {typed(self.schedule.name)} --reason ..."

    def words(self, *, dry_run: bool) -> Iterator[str]:
        """Say it for people."""
        name, now = visible(self.schedule.name), "then" if dry_run else "now"
        was = "was not due any more" if self.before is None else f"was due next at {self.before.words}"
        becomes = f"is not due any more {now}" if self.after is None else f"is due next at {self.after.words} {now}"
        if _when(self.before) != _when(self.after):
            yield f"Schedule {name} {was}, and {becomes}."
        for one in self.lost:
            moved = (
                f"What it was to start at {one.was.local} for {one.was.business_date} is moved to {one.becomes.local}"
            )
            yield f"{moved}, which is over: it will not run by itself. To start it: {self.next_step}"

    @property
    def columns(self) -> Columns:
        """Return it for programs."""
        return {
            "ScheduleName": self.schedule.name,
            "NextLocalTimeBefore": None if self.before is None else self.before.local,
            "NextUtcTimeBefore": None if self.before is None else shown_columns.moment(self.before.at),
            "NextLocalTime": None if self.after is None else self.after.local,
            "NextUtcTime": None if self.after is None else shown_columns.moment(self.after.at),
            "Lost": [one.columns for one in self.lost],
            "Next": self.next_step if self.lost else None,
        }


def moves(
    connection: Connection, context: ScheduleContext, grace: timedelta, calendar: Calendar
) -> tuple[MovedSchedule, ...]:
    """Return what becomes of the enabled schedules that go by a calendar, once it is as it is given."""
    after = replace(context, calendars={**context.calendars, calendar.name: calendar})
    users = [one for one in schedule_rows.everything(connection)[0] if one.timing.calendar_name == calendar.name]
    found = (
        MovedSchedule(
            schedule=schedule,
            before=timetable.next_of(connection, schedule, context),
            after=timetable.next_of(connection, schedule, after),
            lost=tuple(_lost(connection, schedule, context, after, grace)),
        )
        for schedule in sorted(users, key=lambda one: one.name)
        if schedule.enabled
    )
    return tuple(one for one in found if one.lost or _when(one.before) != _when(one.after))


def _when(at: Next | None) -> tuple[datetime, str] | None:
    return None if at is None else (at.at, at.local)


def _lost(
    connection: Connection, schedule: Schedule, context: ScheduleContext, after: ScheduleContext, grace: timedelta
) -> Iterator[Lost]:
    """Yield what was to come and has moved to a time that is over, unless the next look makes up for it.

    Only a shift to the day before and the business days of a month lead anything there.
    """
    was, becomes, now = context.plan_of(schedule.timing), after.plan_of(schedule.timing), context.now
    is_drawn = schedule.timing.calendar_rule is CalendarRule.PREVIOUS or schedule.timing.run_days_of_month is not None
    if was is None or becomes is None or not is_drawn:
        return
    look = timetable.next_look(connection, schedule, becomes, after, grace)
    if look.schedule.decided_until is None:
        return
    past = _only(becomes, was, now - _NEAR, now)
    known = schedule_fires.decided(connection, schedule.schedule_id, [key for one in past for key in keys_of(one)])
    past = [one for one in past if standing_for(one, known)[1] is None]
    if not past:
        return
    gone = _only(was, becomes, now, now + _NEAR)
    for one in past:
        before = next((each for each in gone if _is_same(each, one)), None)
        if before is not None and one.key not in look.fires:
            yield Lost(before, one)


def _only(plan: Plan, other: Plan, after: datetime, until: datetime) -> list[Instant]:
    """Return what starts work by one plan at a time and not by another."""
    keys = {one.key for one in other.instants(after, until) if one.outcome is not InstantOutcome.SKIPPED}
    found = plan.instants(after, until)
    return [one for one in found if one.outcome is not InstantOutcome.SKIPPED and one.key not in keys]


def _is_same(was: Instant, becomes: Instant) -> bool:
    """Say whether one due time has taken the place of another: it is for the same day, or counted in the same month."""
    if becomes.led_over:
        return was.business_date in {one.day for one in becomes.led_over if one.is_stood_for}
    return was.business_date.replace(day=1) == becomes.business_date.replace(day=1)
