"""Every due time to come, with what comes of it, before it happens: the read models behind `schedule preview`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, time, timedelta
from typing import TypeAlias

from batchctl.domain.errors import Refused
from batchctl.domain.intake.triggers import Blocker
from batchctl.domain.scheduling import due
from batchctl.domain.scheduling.business_days import begins_after, ends_before
from batchctl.domain.scheduling.catch_up import Fire, Skip
from batchctl.domain.scheduling.clock_changes import ClockChange, Night, NightTime, changes_of, night_of
from batchctl.domain.scheduling.due import Instant, InstantOutcome, Plan, UnfitTiming
from batchctl.domain.scheduling.schedules import Calendar, Schedule, ScheduleFire
from batchctl.domain.scheduling.undecided import standing_for
from batchctl.domain.scheduling.wall_clock import LAST_DAY, WallClock, clock_of, naive
from batchctl.domain.status import Overlap, ScheduleType
from batchctl.domain.text import visible
from batchctl.operations.column_lists import ColumnList, StatusWord
from batchctl.operations.scheduling import timetable
from batchctl.operations.scheduling.schedule_findings import ScheduleContext
from batchctl.operations.scheduling.timetable import Timetable
from batchctl.store import Connection
from batchctl.store.scheduling import schedule_fires, schedule_rows

YEAR = timedelta(days=366)
"""Within which both changes of clocks are looked for."""
NOT_YET = "due, and not decided yet"
"""Of what the next look of a leader decides."""
OVER = "over"
"""What comes of a due time that is over and about which nothing was decided, nor will be."""
_TICK = timedelta(milliseconds=1)
"""Nothing is due between a moment and this much before it."""
_LAST = datetime.combine(LAST_DAY, time())


ELSEWHERE = timedelta(days=2)
"""The moments of one wall time in two zones differ by no more than this."""


@dataclass(frozen=True, slots=True)
class ForeseenFate:
    """What comes of a due time as long as it is not decided, and why."""

    outcome: str
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Foreseen:
    """A due time to come, or one that is decided already."""

    instant: Instant
    jitter: timedelta
    decided: ScheduleFire | None
    fate: ForeseenFate

    @property
    def outcome(self) -> str:
        """Say what comes of it, as long as it is not decided."""
        return self.fate.outcome

    @property
    def reason(self) -> str | None:
        """Say why."""
        return "; ".join(filter(None, (self.fate.reason, self.instant.reason))) or None


def _what_becomes(one: Foreseen) -> StatusWord:
    return StatusWord(one.outcome if one.decided is None else one.decided.outcome.value)


def _why(one: Foreseen) -> str | None:
    if one.decided is None:
        return one.reason
    which = "" if one.decided.intake_id is None else f" as file:{one.decided.intake_id}"
    return f"decided already{which}{': ' if one.decided.reason else ''}{one.decided.reason or ''}"


DUE_TIMES = ColumnList[Foreseen](
    "Due times",
    {
        "LocalTime": lambda one: one.instant.local,
        "UtcTime": lambda one: one.instant.due,
        "Outcome": lambda one: one.outcome,
        "Reason": lambda one: one.reason,
        "FireKey": lambda one: one.instant.key,
        "CycleKey": lambda one: one.instant.business_date,
        "Jitter": lambda one: one.jitter,
        "Decided": lambda one: None if one.decided is None else one.decided.outcome,
        "DecidedReason": lambda one: None if one.decided is None else one.decided.reason,
        "FileProcess_id": lambda one: None if one.decided is None else one.decided.intake_id,
    },
    {"local": "LocalTime", "due (UTC)": "UtcTime", "later by": "Jitter", "outcome": _what_becomes, "reason": _why},
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SchedulePreview:
    """What a schedule will do. Its due times are reckoned as they are asked for, and only once."""

    schedule: Schedule
    plan: Plan
    due_times: Iterator[Foreseen]
    note: str | None
    """Before and behind which day its calendar says nothing, if that is within the days shown."""
    nothing: str | None
    """Why there is no due time to show, if there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rehearsed:
    """What a schedule does in the nights of the coming year in which its clocks are changed."""

    schedule: Schedule
    words: str | None
    zone: str | None
    nights: tuple[Night, ...]
    failure: str | None
    """Why nothing can be said of it."""

    @property
    def rows(self) -> Iterator[NightRow]:
        """Yield each due time of these nights."""
        return ((self, night.change, one) for night in self.nights for one in night.times)


NightRow: TypeAlias = tuple[Rehearsed, ClockChange, NightTime]
NIGHT_TIMES = ColumnList[NightRow](
    "Nights in which the clocks are changed",
    {
        "ScheduleName": lambda row: row[0].schedule.name,
        "TimeZone": lambda row: row[0].zone,
        "Change": lambda row: row[1].words,
        "ChangeTime": lambda row: row[1].at,
        "LocalTime": lambda row: row[2].instant.local,
        "UtcTime": lambda row: row[2].instant.due,
        "Outcome": lambda row: row[2].instant.outcome,
        "Reason": lambda row: row[2].reason,
        "Runs": lambda row: row[2].runs,
    },
)


def preview(table: Timetable, name: str, *, start: datetime | None, days: int) -> SchedulePreview:
    """Reckon what a schedule will do; raises `Refused` when its columns cannot be understood.

    A start without a zone is what the schedule's clocks show, and what is due at it belongs to the days shown.
    """
    with table.transactions.read() as connection:
        schedule = timetable.named(connection, name)
        context = table.context(connection)
        try:
            plan = due.plan_of(schedule.timing, context.zone, context.calendar_of(schedule.timing))
        except UnfitTiming as unfit:
            message = f"Schedule {visible(name)} is never due: {unfit.column}: {unfit.message}"
            raise Refused(message, next_step="batchctl check") from None
        clock = plan.read.clock
        begin = context.now if start is None else clock.meant(start)
        end = _days_later(clock, begin, days)
        after, until = (begin, end) if start is None else (begin - _TICK, end - _TICK)
        seen = _within(connection, _seen(connection, schedule, plan, context, table.grace), plan, after, until)
        is_empty = next(plan.preview(after, until), None) is None
        nothing = _nothing(connection, seen, plan, until) if is_empty else None
    return SchedulePreview(
        schedule=schedule,
        plan=plan,
        due_times=map(seen.foreseen, plan.preview(after, until)),
        nothing=nothing,
        note=" ".join(filter(None, _silences(context.calendar_of(schedule.timing), clock, after, until))) or None,
    )


def _silences(
    calendar: Calendar | None, clock: WallClock, after: datetime, until: datetime
) -> tuple[str | None, str | None]:
    return begins_after(calendar, clock.day_of(after)), ends_before(calendar, clock.day_of(until))


def rehearse(table: Timetable, name: str | None, *, start: datetime | None) -> tuple[Rehearsed, ...]:
    """Say what one schedule, or each of them, does when clocks are changed within a year."""
    with table.transactions.read() as connection:
        context = table.context(connection)
        wanted = _wanted(connection, name)
    after = context.now if start is None else clock_of(context.zone).meant(start)
    found = list[Rehearsed]()
    for schedule in wanted:
        try:
            plan = due.plan_of(schedule.timing, context.zone, context.calendar_of(schedule.timing))
        except UnfitTiming as unfit:
            failure = f"{unfit.column}: {unfit.message}"
            found.append(Rehearsed(schedule=schedule, words=None, zone=None, nights=(), failure=failure))
            continue
        changes = changes_of(plan.read.clock, after, after + YEAR)
        nights = tuple(night_of(plan, change) for change in changes)
        zone = plan.read.zone
        found.append(Rehearsed(schedule=schedule, words=plan.words, zone=zone, nights=nights, failure=None))
    return tuple(found)


def _wanted(connection: Connection, name: str | None) -> Sequence[Schedule]:
    if name is not None:
        return [timetable.named(connection, name)]
    found = sorted(schedule_rows.everything(connection)[0], key=lambda one: one.name)
    return [schedule for schedule in found if schedule.enabled]


def _days_later(clock: WallClock, begin: datetime, days: int) -> datetime:
    """Return when the clocks show the same again, some days later."""
    wall = clock.shown(naive(begin)).replace(tzinfo=None)
    later = wall + min(timedelta(days=days), max(_LAST - wall, timedelta(0)))
    return clock.moments(later).first.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Seen:
    """What is decided about the due times of a time, and what the next look of a leader decides."""

    schedule: Schedule
    now: datetime
    decided: Mapping[str, ScheduleFire]
    stretches: Sequence[ScheduleFire]
    decided_until: datetime | None
    """None when nothing of it is decided, because it is disabled or nothing lets it."""
    fires: Mapping[str, Fire]
    skips: Sequence[Skip]
    blocker: Blocker | None
    """What keeps the next due time from starting work, as Overlap wants it."""

    def foreseen(self, instant: Instant) -> Foreseen:
        """Say what came of an instant, or what comes of it."""
        jitter = due.jitter_of(self.schedule.name, instant, self.schedule.jitter)
        instant, found = standing_for(instant, self.decided)
        if found is None and instant.due is not None and not self._is_to_be_decided(instant.due):
            found = _covering(self.stretches, instant.due)
        if found is not None and instant.led_over and found.fire_key in {one.key for one in instant.led_over}:
            return Foreseen(instant=instant, jitter=jitter, decided=None, fate=_elsewhere(found))
        fate = self._fate_of(instant) if found is None else ForeseenFate(instant.outcome.value)
        return Foreseen(instant=instant, jitter=jitter, decided=found, fate=fate)

    def _is_to_be_decided(self, at: datetime) -> bool:
        """Say whether a leader has yet to decide a moment; again, where a clock was set back behind a stretch."""
        return self.decided_until is not None and at > self.decided_until

    def _fate_of(self, instant: Instant) -> ForeseenFate:
        if instant.due is None or instant.due > self.now or instant.outcome is InstantOutcome.SKIPPED:
            return ForeseenFate(instant.outcome.value)
        if not self._is_to_be_decided(instant.due):
            return ForeseenFate(OVER, "not decided; batchctl backfill can start it")
        fire = self.fires.get(instant.key)
        if fire is not None:
            return self._fate_of_fire(fire)
        skip = next((each for each in self.skips if each.holds(instant)), None)
        if skip is None:
            return ForeseenFate(instant.outcome.value, f"{NOT_YET}: its jitter lets it wait")
        return ForeseenFate(InstantOutcome.SKIPPED.value, f"{NOT_YET}: {skip.reason}")

    def _fate_of_fire(self, fire: Fire) -> ForeseenFate:
        first = min(self.fires.values(), key=lambda each: (each.due, each.key))
        why = None if self.blocker is None else str(self.blocker)
        if why is None and self.schedule.overlap is Overlap.SKIP and fire != first:
            why = f"that of {first.key} starts first"
        if why is not None:
            return ForeseenFate(InstantOutcome.SKIPPED.value, f"{NOT_YET}: Overlap is skip, and {why}")
        return ForeseenFate(fire.instant.outcome.value, f"{NOT_YET}: {fire.made_up}" if fire.made_up else NOT_YET)


def _seen(connection: Connection, schedule: Schedule, plan: Plan, context: ScheduleContext, grace: timedelta) -> _Seen:
    """Look up where a schedule stands, and let what is due be decided as a leader decides it."""
    look = timetable.next_look(connection, schedule, plan, context, grace)
    return _Seen(
        schedule=schedule,
        now=context.now,
        decided={},
        stretches=(),
        decided_until=look.schedule.decided_until,
        fires=look.fires,
        skips=look.decision.skips,
        blocker=timetable.blocker_of(connection, schedule),
    )


def _within(connection: Connection, seen: _Seen, plan: Plan, after: datetime, until: datetime) -> _Seen:
    """Add what is decided about the due times of a time."""
    first, last = plan.led_from(after, until)
    # The same key may have been decided as the due time of another moment, before somebody changed the zone.
    found = schedule_fires.within(connection, seen.schedule.schedule_id, first - ELSEWHERE, last + ELSEWHERE)
    by_key = {one.fire_key: one for one in found}
    return replace(seen, decided=by_key, stretches=[one for one in found if one.due_until is not None])


def _elsewhere(fire: ScheduleFire) -> ForeseenFate:
    which = "" if fire.intake_id is None else f" as file:{fire.intake_id}"
    reason = f"decided already{which}, due as {fire.fire_key} before its calendar was changed"
    return ForeseenFate(InstantOutcome.SKIPPED.value, reason)


def _nothing(connection: Connection, seen: _Seen, plan: Plan, until: datetime) -> str:
    """Say why there is nothing to show."""
    following = plan.next_after(until)
    if following is not None:
        return f"It is due next at {following.local}."
    only = None if seen.schedule.timing.schedule_type is not ScheduleType.ONCE else next(_every(plan), None)
    if only is None or only.due is None:
        return "It is never due again."
    one = _within(connection, seen, plan, only.due, only.due).foreseen(only)
    if one.decided is None:
        why = one.reason
    else:
        which = "" if one.decided.intake_id is None else f" as file:{one.decided.intake_id}"
        why = "; ".join(filter(None, (f"{one.decided.outcome}{which}", one.decided.reason)))
    return f"Its only time, {only.local}, is over{why and f': {why}'}."


def _every(plan: Plan) -> Iterator[Instant]:
    first, last = (datetime.combine(day, time(), UTC) for day in (plan.read.days.first, plan.read.days.last))
    return plan.instants(first - ELSEWHERE, last + ELSEWHERE)


def _covering(stretches: Sequence[ScheduleFire], at: datetime) -> ScheduleFire | None:
    """Return what was decided about a whole stretch of due times, if a moment lies in one."""
    return next((one for one in stretches if one.due_until is not None and one.due <= at <= one.due_until), None)
