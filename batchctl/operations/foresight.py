"""Every due time to come, with what comes of it, before it happens: the read models behind `schedule preview`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from batchctl.domain import due
from batchctl.domain.clock_changes import Night, changes_of, night_of
from batchctl.domain.due import Instant, Plan, UnfitTiming
from batchctl.domain.errors import Refused
from batchctl.domain.schedules import Schedule, ScheduleFire
from batchctl.domain.text import visible
from batchctl.operations import columns, timetable
from batchctl.operations.columns import Columns
from batchctl.operations.timetable import Timetable
from batchctl.store import fire_reports, schedules

YEAR = timedelta(days=366)
"""Within which both changes of clocks are looked for."""


ELSEWHERE = timedelta(days=2)
"""By no more than this differ the moments of one wall time in two zones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Foreseen:
    """A due time to come, or one that is decided already."""

    instant: Instant
    jitter: timedelta
    decided: ScheduleFire | None

    @property
    def columns(self) -> Columns:
        """Return it for programs."""
        at = self.instant.due
        return {
            "LocalTime": self.instant.local,
            "UtcTime": columns.moment(at),
            "Outcome": self.instant.outcome.value,
            "Reason": self.instant.reason,
            "FireKey": self.instant.key,
            "CycleKey": self.instant.business_date.isoformat(),
            "Jitter": columns.seconds(self.jitter),
            "Decided": None if self.decided is None else self.decided.outcome.value,
            "DecidedReason": None if self.decided is None else self.decided.reason,
            "FileProcess_id": None if self.decided is None else self.decided.intake_id,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """What a schedule will do. Its due times are reckoned as they are asked for, and only once."""

    schedule: Schedule
    plan: Plan
    after: datetime
    until: datetime
    due_times: Iterator[Foreseen]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rehearsed:
    """What a schedule does in the nights of the coming year in which its clocks are changed."""

    schedule: Schedule
    words: str | None
    zone: str | None
    nights: tuple[Night, ...]
    trouble: str | None
    """Why nothing can be said of it."""

    @property
    def columns(self) -> Sequence[Columns]:
        """Return a row for each due time of these nights."""
        return [
            {
                "ScheduleName": self.schedule.name,
                "TimeZone": self.zone,
                "Change": night.change.words,
                "ChangeTime": columns.moment(night.change.at),
                "LocalTime": one.instant.local,
                "UtcTime": columns.moment(one.instant.due),
                "Outcome": one.instant.outcome.value,
                "Reason": one.instant.reason,
                "Runs": one.runs.value,
            }
            for night in self.nights
            for one in night.times
        ]


def preview(table: Timetable, name: str, *, start: datetime | None, days: int) -> Preview:
    """Reckon what a schedule will do; raises `Refused` when its columns cannot be understood."""
    with table.transactions.read() as connection:
        schedule = timetable.named(connection, name)
        around = table.around(connection)
        after = around.now if start is None else start
        until = after + timedelta(days=days)
        # The same key may have been decided as the due time of another moment, before somebody changed the zone.
        decided = fire_reports.within(connection, schedule.schedule_id, after - ELSEWHERE, until + ELSEWHERE)
    try:
        plan = due.plan_of(schedule.timing, around.zone, around.calendar_of(schedule.timing))
    except UnfitTiming as unfit:
        message = f"Schedule {visible(name)} is never due: {unfit.column}: {unfit.message}"
        raise Refused(message, next_step="batchctl check") from None
    return Preview(
        schedule=schedule,
        plan=plan,
        after=after,
        until=until,
        due_times=_foreseen(schedule, plan.preview(after, until), decided),
    )


def rehearse(table: Timetable, name: str | None, *, start: datetime | None) -> tuple[Rehearsed, ...]:
    """Say what one schedule, or each of them, does when clocks are changed within a year."""
    with table.transactions.read() as connection:
        around = table.around(connection)
        wanted = _wanted(connection, name)
    after = around.now if start is None else start
    found = list[Rehearsed]()
    for schedule in wanted:
        try:
            plan = due.plan_of(schedule.timing, around.zone, around.calendar_of(schedule.timing))
        except UnfitTiming as unfit:
            trouble = f"{unfit.column}: {unfit.message}"
            found.append(Rehearsed(schedule=schedule, words=None, zone=None, nights=(), trouble=trouble))
            continue
        changes = changes_of(plan.read.clock, after, after + YEAR)
        nights = tuple(night_of(plan, change) for change in changes)
        zone = plan.read.zone
        found.append(Rehearsed(schedule=schedule, words=plan.words, zone=zone, nights=nights, trouble=None))
    return tuple(found)


def _wanted(connection: Any, name: str | None) -> Sequence[Schedule]:
    if name is not None:
        return [timetable.named(connection, name)]
    found = sorted(schedules.everything(connection)[0], key=lambda one: one.name)
    return [schedule for schedule in found if schedule.enabled]


def _foreseen(schedule: Schedule, instants: Iterator[Instant], decided: Sequence[ScheduleFire]) -> Iterator[Foreseen]:
    by_key = {one.fire_key: one for one in decided}
    stretches = [one for one in decided if one.due_until is not None]
    for instant in instants:
        found = by_key.get(instant.key)
        if found is None and instant.due is not None:
            found = _covering(stretches, instant.due)
        jitter = due.jitter_of(schedule.name, instant, schedule.jitter)
        yield Foreseen(instant=instant, jitter=jitter, decided=found)


def _covering(stretches: Sequence[ScheduleFire], at: datetime) -> ScheduleFire | None:
    """Return what was decided about a whole stretch of due times, if a moment lies in one."""
    return next((one for one in stretches if one.due_until is not None and one.due <= at <= one.due_until), None)
