"""Every due time to come, with what comes of it, before it happens: the read models behind `schedule preview`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from typing import Any

from batchctl.domain import due
from batchctl.domain.business_days import begins_after, ends_before
from batchctl.domain.clock_changes import Night, changes_of, night_of
from batchctl.domain.due import Instant, InstantOutcome, Plan, UnfitTiming
from batchctl.domain.errors import Refused
from batchctl.domain.schedules import Calendar, Schedule, ScheduleFire
from batchctl.domain.text import visible
from batchctl.domain.wall_clock import LAST_DAY, WallClock, clock_of, naive
from batchctl.operations import columns, timetable
from batchctl.operations.columns import Columns
from batchctl.operations.timetable import Timetable
from batchctl.store import fire_reports, schedule_fires, schedules

YEAR = timedelta(days=366)
"""Within which both changes of clocks are looked for."""
OVER = "over"
"""What comes of a due time that is over and about which nothing was decided, nor will be."""
_TICK = timedelta(milliseconds=1)
"""Nothing is due between a moment and this much before it."""
_LAST = datetime.combine(LAST_DAY, time())


ELSEWHERE = timedelta(days=2)
"""By no more than this differ the moments of one wall time in two zones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Foreseen:
    """A due time to come, or one that is decided already."""

    instant: Instant
    jitter: timedelta
    decided: ScheduleFire | None
    is_over: bool
    """True when its time is over, and it was not decided and will not be."""
    is_waiting: bool
    """True when its time is over, and the next look of a leader decides it."""

    @property
    def outcome(self) -> str:
        """Say what comes of it, as long as it is not decided."""
        return OVER if self.is_over else self.instant.outcome.value

    @property
    def reason(self) -> str | None:
        """Say why."""
        said = None
        if self.is_over:
            said = "not decided; batchctl backfill can start it"
        elif self.is_waiting:
            said = "due, and not decided yet"
        return "; ".join(filter(None, (said, self.instant.reason))) or None

    @property
    def columns(self) -> Columns:
        """Return it for programs."""
        at = self.instant.due
        return {
            "LocalTime": self.instant.local,
            "UtcTime": columns.moment(at),
            "Outcome": self.outcome,
            "Reason": self.reason,
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
    due_times: Iterator[Foreseen]
    note: str | None
    """Before and behind which day its calendar says nothing, if that is within the days shown."""


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
                "Reason": one.reason,
                "Runs": one.runs.value,
            }
            for night in self.nights
            for one in night.times
        ]


def preview(table: Timetable, name: str, *, start: datetime | None, days: int) -> Preview:
    """Reckon what a schedule will do; raises `Refused` when its columns cannot be understood.

    A start without a zone is what the schedule's clocks show, and what is due at it belongs to the days shown.
    """
    with table.transactions.read() as connection:
        schedule = timetable.named(connection, name)
        around = table.around(connection)
        try:
            plan = due.plan_of(schedule.timing, around.zone, around.calendar_of(schedule.timing))
        except UnfitTiming as unfit:
            message = f"Schedule {visible(name)} is never due: {unfit.column}: {unfit.message}"
            raise Refused(message, next_step="batchctl check") from None
        clock = plan.read.clock
        begin = around.now if start is None else clock.meant(start)
        end = _days_later(clock, begin, days)
        after, until = (begin, end) if start is None else (begin - _TICK, end - _TICK)
        # The same key may have been decided as the due time of another moment, before somebody changed the zone.
        decided = fire_reports.within(connection, schedule.schedule_id, after - ELSEWHERE, until + ELSEWHERE)
        undecided = schedule_fires.undecided(connection, schedule.schedule_id, plan)
        standing = timetable.standing_of(schedule, undecided, around)
    seen = _Seen(now=around.now, decided_until=standing.decided_until)
    return Preview(
        schedule=schedule,
        plan=plan,
        due_times=_foreseen(schedule, plan.preview(after, until), decided, seen),
        note=" ".join(filter(None, _silences(around.calendar_of(schedule.timing), clock, after, until))) or None,
    )


def _silences(
    calendar: Calendar | None, clock: WallClock, after: datetime, until: datetime
) -> tuple[str | None, str | None]:
    return begins_after(calendar, clock.day_of(after)), ends_before(calendar, clock.day_of(until))


def rehearse(table: Timetable, name: str | None, *, start: datetime | None) -> tuple[Rehearsed, ...]:
    """Say what one schedule, or each of them, does when clocks are changed within a year."""
    with table.transactions.read() as connection:
        around = table.around(connection)
        wanted = _wanted(connection, name)
    after = around.now if start is None else clock_of(around.zone).meant(start)
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


def _days_later(clock: WallClock, begin: datetime, days: int) -> datetime:
    """Return when the clocks show the same again, some days later."""
    wall = clock.shown(naive(begin)).replace(tzinfo=None)
    later = wall + min(timedelta(days=days), max(_LAST - wall, timedelta(0)))
    return clock.moments(later).first.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Seen:
    """Up to when a schedule is decided."""

    now: datetime
    decided_until: datetime | None
    """None when nothing of it is decided, because it is disabled or nothing lets it."""

    def is_past(self, instant: Instant) -> bool:
        """Say whether an instant that starts work is over."""
        return instant.due is not None and instant.due <= self.now and instant.outcome is not InstantOutcome.SKIPPED

    def is_over(self, instant: Instant) -> bool:
        """Say whether nobody decides it any more."""
        if instant.due is None or not self.is_past(instant):
            return False
        return self.decided_until is None or instant.due <= self.decided_until


def _foreseen(
    schedule: Schedule, instants: Iterator[Instant], decided: Sequence[ScheduleFire], seen: _Seen
) -> Iterator[Foreseen]:
    by_key = {one.fire_key: one for one in decided}
    stretches = [one for one in decided if one.due_until is not None]
    for instant in instants:
        found = by_key.get(instant.key)
        if found is None and instant.due is not None:
            found = _covering(stretches, instant.due)
        jitter = due.jitter_of(schedule.name, instant, schedule.jitter)
        is_over = found is None and seen.is_over(instant)
        yield Foreseen(
            instant=instant,
            jitter=jitter,
            decided=found,
            is_over=is_over,
            is_waiting=found is None and seen.is_past(instant) and not is_over,
        )


def _covering(stretches: Sequence[ScheduleFire], at: datetime) -> ScheduleFire | None:
    """Return what was decided about a whole stretch of due times, if a moment lies in one."""
    return next((one for one in stretches if one.due_until is not None and one.due <= at <= one.due_until), None)
