"""Which schedules there are, when each runs next, what became of its last due time, and what is wrong with it.

The read models behind `schedule list`, `schedule show`, and what `status` and `why` say of schedules.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from batchctl.domain.errors import NotFound
from batchctl.domain.intake.triggers import Blocker
from batchctl.domain.outcomes import Finding
from batchctl.domain.rows import AuditEntry, BatchDefinition
from batchctl.domain.scheduling import catch_up, due
from batchctl.domain.scheduling.business_days import running_out
from batchctl.domain.scheduling.catch_up import Decision, Fire, ScheduleStanding, Times
from batchctl.domain.scheduling.due import Instant, Plan
from batchctl.domain.scheduling.modes import is_scheduled, lets_schedules, mode_word, takers_of
from batchctl.domain.scheduling.schedules import Schedule, ScheduleFire, ScheduleId
from batchctl.domain.scheduling.timing_words import words_of
from batchctl.domain.scheduling.undecided import Undecided
from batchctl.domain.status import Overlap
from batchctl.domain.text import capitalized, did_you_mean, visible
from batchctl.domain.unreadable import UnreadableRow
from batchctl.operations import unknown
from batchctl.operations.column_lists import ColumnList, by_row_id, is_enabled, record
from batchctl.operations.scheduling.schedule_findings import (
    ScheduleContext,
    remedy_of,
    schedule_findings,
    schedule_warnings,
)
from batchctl.ports import Clock, Transactions
from batchctl.store import Connection
from batchctl.store.definitions import definitions
from batchctl.store.intake import data_triggers
from batchctl.store.maintenance import audit_entries
from batchctl.store.one_look import ask_ahead
from batchctl.store.scheduling import calendars, schedule_fires, schedule_rows

SHOWN_FIRES = 10
OVERDUE = "overdue"
"""Of a next due time that is over: no leader has decided it yet."""
NOT_STARTING = 50
"""Of those that are due next some may start nothing, because of a mode that was changed just now."""

DECIDED_WITHIN = timedelta(seconds=5)
"""How long a controller may take to decide a due time before it counts as overdue."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Next:
    """The next due time of a schedule, and when it starts work: later by its jitter."""

    instant: Instant
    at: datetime
    is_overdue: bool
    """True when it is over, and no leader has decided it: it may start work late, or be skipped."""

    @property
    def local(self) -> str:
        """Return what the clocks show then, in the schedule's zone."""
        return self.instant.local

    @property
    def words(self) -> str:
        """Say it for people, and that it is overdue."""
        return f"{self.local}, {OVERDUE}" if self.is_overdue else self.local


@dataclass(frozen=True, slots=True, kw_only=True)
class ComingUp:
    """A schedule and its next due time."""

    schedule: Schedule
    next: Next


COMING = ColumnList[ComingUp](
    "Due next",
    {
        "ScheduleName": lambda one: one.schedule.name,
        "Entity": lambda one: one.schedule.entity,
        "NextLocalTime": lambda one: one.next.local,
        "NextUtcTime": lambda one: one.next.at,
        "Overdue": lambda one: one.next.is_overdue,
    },
    {"name": "ScheduleName", "entity": "Entity", "local": lambda one: one.next.words, "at (UTC)": "NextUtcTime"},
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Timed:
    """A schedule as people see it."""

    schedule: Schedule
    plan: Plan | None
    """When it is due; None when its columns cannot be understood, or nothing lets it."""
    next: Next | None
    last: ScheduleFire | None
    findings: tuple[Finding, ...]

    @property
    def words(self) -> str:
        """Say when it is due, in words; of a row that cannot be understood, as far as possible."""
        return words_of(self.schedule.timing, self.zone or "") if self.plan is None else self.plan.words

    @property
    def zone(self) -> str | None:
        """Return the zone whose clocks it goes by."""
        return self.schedule.timing.time_zone if self.plan is None else self.plan.read.zone

    @property
    def mend(self) -> str | None:
        """Return what to do where its columns cannot be understood; None where they can."""
        if self.plan is not None:
            return None
        remedies = (remedy_of(self.schedule, one, self.findings) for one in self.findings)
        return next(filter(None, remedies), "batchctl check")


def _last(one: Timed) -> str | None:
    last = one.last
    if last is None:
        return None
    said = f"{last.due_until or last.due:%Y-%m-%d %H:%M} UTC {last.outcome}"
    return f"{said} as file:{last.intake_id}" if last.intake_id is not None else said


SCHEDULES = ColumnList[Timed](
    "Schedules",
    {
        **record(Schedule, lambda one: one.schedule),
        "Words": lambda one: one.words,
        "Zone": lambda one: one.zone,
        "NextLocalTime": lambda one: None if one.next is None else one.next.local,
        "NextUtcTime": lambda one: None if one.next is None else one.next.at,
        "Overdue": lambda one: one.next is not None and one.next.is_overdue,
        "LastDueTime": lambda one: None if one.last is None else one.last.due_until or one.last.due,
        "LastOutcome": lambda one: None if one.last is None else one.last.outcome,
        "LastReason": lambda one: None if one.last is None else one.last.reason,
        "LastFileProcess_id": lambda one: None if one.last is None else one.last.intake_id,
        "Findings": lambda one: [f"{at.column}: {at.message}" if at.column else at.message for at in one.findings],
    },
    {
        "name": "ScheduleName",
        "state": is_enabled(lambda one: one.schedule.enabled),
        "entity": "Entity",
        "when": "Words",
        "next local": lambda one: None if one.next is None else one.next.words,
        "next (UTC)": lambda one: None if one.next is None else f"{one.next.at:%Y-%m-%d %H:%M:%S}",
        "last": _last,
        "but": lambda one: " ".join(finding.message for finding in one.findings) or None,
    },
    by_row_id,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """Everything about one schedule."""

    timed: Timed
    takers: tuple[BatchDefinition, ...]
    decided: tuple[ScheduleFire, ...]
    """What was decided about its newest due times, newest first."""
    audit: tuple[AuditEntry, ...]


DECIDED = ColumnList[ScheduleFire]("Decided last", record(ScheduleFire))


@dataclass(frozen=True, slots=True, kw_only=True)
class Timetable:
    """Looks at schedules."""

    transactions: Transactions
    clock: Clock
    zone: str
    """The business time zone."""
    grace: timedelta
    """How long after it a due time is on time."""

    def everything(self) -> tuple[Timed, ...]:
        """Return all schedules that can be read, by name."""
        with self.transactions.read() as connection:
            return timed(connection, self.context(connection))

    def unreadable(self) -> list[UnreadableRow]:
        """Return the schedules that cannot be read."""
        with self.transactions.read() as connection:
            return schedule_rows.everything(connection)[1]

    def sheet(self, name: str) -> Sheet:
        """Return everything about one; raises `NotFound`."""
        with self.transactions.read() as connection:
            context = self.context(connection)
            schedule = named(connection, name)
            schedule_fires.ask_last(connection, schedule.schedule_id, 1, SHOWN_FIRES)
            ask_ahead(connection, (audit_entries.OF, {"target": schedule_target(name)}))
            return Sheet(
                timed=_timed(connection, schedule, context),
                takers=takers_of(schedule.entity, context.batches),
                decided=tuple(schedule_fires.last_of(connection, schedule.schedule_id, SHOWN_FIRES)),
                audit=tuple(audit_entries.of_target(connection, schedule_target(name))),
            )

    def context(self, connection: Connection) -> ScheduleContext:
        """Return what schedules have to fit."""
        return schedule_context(connection, self.zone, self.clock.now())


def schedule_context(connection: Connection, zone: str, now: datetime) -> ScheduleContext:
    """Return what schedules have to fit."""
    defined = definitions.read(connection)
    return ScheduleContext(
        zone=zone,
        now=now,
        batches=defined.batches,
        calendars={calendar.name: calendar for calendar in calendars.everything(connection)},
        unreadable=defined.unreadable,
    )


def timed(connection: Connection, context: ScheduleContext) -> tuple[Timed, ...]:
    """Return all schedules by name."""
    found = sorted(schedule_rows.everything(connection)[0], key=lambda one: one.name)
    return tuple(_timed(connection, schedule, context) for schedule in found)


def soonest(most: int) -> int:
    """Return how many schedules are looked at to find those that start work next: some start nothing."""
    return most + NOT_STARTING


def coming_up(connection: Connection, context: ScheduleContext, most: int) -> tuple[ComingUp, ...]:
    """Return what schedules start next, the soonest first."""
    soonest_ones = schedule_rows.soonest(connection, soonest(most))
    schedule_fires.ask_decided(connection, _first_keys(soonest_ones, context))
    found = [
        ComingUp(schedule=schedule, next=at)
        for schedule in soonest_ones
        if (at := next_of(connection, schedule, context)) is not None
    ]
    return tuple(sorted(found, key=lambda one: (one.next.at, one.schedule.name))[:most])


def _first_keys(schedules: Iterable[Schedule], context: ScheduleContext) -> Iterator[tuple[ScheduleId, str]]:
    """Yield by which key `next_of` asks first about each of some schedules, as long as its timing is not changed."""
    for schedule in schedules:
        plan = context.plan_of(schedule.timing)
        if plan is not None and schedule.decided_until is not None:
            instant = plan.next_after(max(schedule.decided_until, context.now - catch_up.LONGEST))
            if instant is not None:
                yield schedule.schedule_id, instant.key


def next_of(connection: Connection, schedule: Schedule, context: ScheduleContext) -> Next | None:
    """Return when a schedule starts work next, as the leader reckons it; None when it does not, or nothing lets it."""
    plan = context.plan_of(schedule.timing)
    if plan is None:
        return None
    undecided = schedule_fires.undecided(connection, schedule.schedule_id, plan)
    standing = standing_of(schedule, undecided, context)
    if standing.decided_until is None or standing.next_run_time is None:
        return None
    instant = undecided.next_after(max(standing.decided_until, context.now - catch_up.LONGEST))
    at = standing.next_run_time
    return None if instant is None else Next(instant=instant, at=at, is_overdue=at < context.now - DECIDED_WITHIN)


def standing_of(schedule: Schedule, plan: Times | None, context: ScheduleContext) -> ScheduleStanding:
    """Return where a schedule stands once the leader has seen it."""
    is_let = lets_schedules(takers_of(schedule.entity, context.batches))
    return catch_up.arm(schedule, plan, due.timing_hash(schedule.timing, context.zone), context.now, is_let=is_let)


@dataclass(frozen=True, slots=True, kw_only=True)
class NextLook:
    """What the next look of a leader makes of a schedule."""

    schedule: Schedule
    """As that look leaves it before it decides."""
    undecided: Undecided
    decision: Decision
    """Holds nothing where the schedule is disabled or nothing lets it."""

    @property
    def fires(self) -> Mapping[str, Fire]:
        """Return what starts work, unless Overlap keeps it from that, by key."""
        return {fire.key: fire for fire in self.decision.fires}


def next_look(
    connection: Connection, schedule: Schedule, plan: Plan, context: ScheduleContext, grace: timedelta
) -> NextLook:
    """Decide what is due of a schedule at a moment as a leader does, and write nothing."""
    undecided = schedule_fires.undecided(connection, schedule.schedule_id, plan)
    schedule = standing_of(schedule, undecided, context).of(schedule)
    decision = catch_up.decide(schedule, undecided, context.now, grace)
    return NextLook(schedule=schedule, undecided=undecided, decision=decision)


def blocker_of(connection: Connection, schedule: Schedule) -> Blocker | None:
    """Return what keeps the next due time from starting work, as Overlap wants it."""
    return data_triggers.blocker(connection, schedule.entity) if schedule.overlap is Overlap.SKIP else None


def _timed(connection: Connection, schedule: Schedule, context: ScheduleContext) -> Timed:
    return Timed(
        schedule=schedule,
        plan=context.plan_of(schedule.timing),
        next=next_of(connection, schedule, context),
        last=next(iter(schedule_fires.last_of(connection, schedule.schedule_id)), None),
        findings=(
            *schedule_findings(schedule, context),
            *schedule_warnings(schedule, context),
            *_of_calendar(schedule, context),
        ),
    )


def _of_calendar(schedule: Schedule, context: ScheduleContext) -> Iterator[Finding]:
    """Yield that its calendar ends, which `check` says of the calendar."""
    calendar = context.calendar_of(schedule.timing)
    ends = None if calendar is None else running_out(calendar, context.today)
    if ends is not None and schedule.enabled:
        yield Finding("CalendarName", f"{capitalized(ends)}.")


def named(connection: Connection, name: str) -> Schedule:
    """Return a schedule; raises `NotFound`, which says which one may have been meant, or `Refused` where it cannot be read."""
    found, broken = schedule_rows.everything(connection)
    schedule = next((each for each in found if each.name == name), None)
    if schedule is not None:
        return schedule
    unknown.refuse_start(broken, name)
    meant = visible(did_you_mean(name, [*(each.name for each in found), *(row.name for row in broken)]))
    raise NotFound(f"There is no schedule '{visible(name)}'.{meant}", next_step="batchctl schedule list")


def schedule_target(name: str) -> str:
    """Return how the audit log names a schedule."""
    return f"Schedule:{name}"


def starters_of(connection: Connection, table: Timetable, name: str) -> Iterator[str]:
    """Yield a sentence on a batch's mode, if it has one, and on each schedule of its entity."""
    context = table.context(connection)
    batch = next(batch for batch in context.batches if batch.name == name)
    if batch.mode is not None:
        yield f"Its mode is {mode_word(batch.mode)}{'' if is_scheduled(batch.mode) else ': no schedule is to start it'}."
    starting = [one for one in schedule_rows.everything(connection)[0] if one.entity == batch.entity]
    schedule_fires.ask_decided(connection, _first_keys(starting, context))
    for schedule in starting:
        yield _wording(connection, schedule, context)


def _wording(connection: Connection, schedule: Schedule, context: ScheduleContext) -> str:
    plan, name = context.plan_of(schedule.timing), visible(schedule.name)
    if plan is None:
        return f"Schedule {name} cannot be understood, so it starts nothing: batchctl check."
    if not schedule.enabled:
        return f"Schedule {name} is disabled: {plan.words}."
    if not lets_schedules(takers_of(schedule.entity, context.batches)):
        return f"Schedule {name} is left alone, as the mode says: {plan.words}."
    coming = next_of(connection, schedule, context)
    at = "it is not due any more" if coming is None else f"next at {coming.words}"
    return f"Schedule {name} starts it: {plan.words}; {at}."
