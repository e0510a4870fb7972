"""What a schedule would do now: decided as the leader decides it, and nothing is written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from batchctl.domain import gates
from batchctl.domain.definitions.declared import correct_decorator, job_of
from batchctl.domain.definitions.reconciling import owner_in
from batchctl.domain.gates import Ends, Gate
from batchctl.domain.intake import triggers
from batchctl.domain.intake.triggers import Blocker
from batchctl.domain.rows import BatchDefinition
from batchctl.domain.scheduling import catch_up, due
from batchctl.domain.scheduling.business_days import running_out
from batchctl.domain.scheduling.due import Plan, UnfitTiming
from batchctl.domain.scheduling.modes import lets_schedules, takers_of
from batchctl.domain.scheduling.schedules import Schedule
from batchctl.domain.status import FireOutcome, ProcessingMode, ScheduleType
from batchctl.domain.text import capitalized, typed, visible
from batchctl.domain.unreadable import taking
from batchctl.operations import shown_columns
from batchctl.operations.scheduling import timetable
from batchctl.operations.scheduling.schedule_findings import ScheduleContext, schedule_warnings
from batchctl.operations.scheduling.timetable import NextLook, Timetable
from batchctl.operations.shown_columns import Columns
from batchctl.operations.taken_entities import entity_gate, mode_gate
from batchctl.store import Connection
from batchctl.store.scheduling import schedule_fires

_DISABLES_ITSELF = "It disables itself once it has run."
_TICK = timedelta(milliseconds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleTrial:
    """What a look of the leader's would make of a schedule."""

    schedule: Schedule
    would_fire: bool
    reason: str
    words: str | None
    next_run_time: datetime | None
    """When it starts work next after this moment; None when it does not any more."""
    next_local: str | None
    notes: tuple[str, ...]
    next_step: str
    is_due: bool = False
    """True when a due time has come that starts work unless something else keeps it from that."""
    is_silent: bool = False
    """True when nothing is decided about its due times, because of its row or its batches."""
    gates: tuple[Gate, ...] = ()
    """The gates of a due time; none of one that would fire blocks, but perhaps that no batch takes its entity."""

    @property
    def columns(self) -> Columns:
        """Return it by names of columns, as far as there are such."""
        return {
            "ScheduleName": self.schedule.name,
            "Enabled": int(self.schedule.enabled),
            "WouldFire": self.would_fire,
            "Reason": self.reason,
            "Words": self.words,
            "NextRunTime": shown_columns.moment(self.next_run_time),
            "NextLocalTime": self.next_local,
            "Notes": list(self.notes),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleBench:
    """Evaluates a schedule as a leader does, up to where work would start."""

    table: Timetable
    fires_here: bool
    """False where the configuration keeps this node from firing schedules."""

    def try_out(self, name: str) -> ScheduleTrial:
        """Say what a schedule would do now; raises `NotFound`."""
        with self.table.transactions.read() as connection:
            schedule = timetable.named(connection, name)
            context = self.table.context(connection)
            tried = self._tried(connection, schedule, context)
            return replace(tried, gates=tuple(self._gates(connection, tried, context)))

    def _tried(self, connection: Connection, schedule: Schedule, context: ScheduleContext) -> ScheduleTrial:
        shown = typed(schedule.name)
        try:
            plan = due.plan_of(schedule.timing, context.zone, context.calendar_of(schedule.timing))
        except UnfitTiming as unfit:
            return self._silent(schedule, context, f"{unfit.column}: {unfit.message}", None, "batchctl check")
        takers = takers_of(schedule.entity, context.batches)
        mode = _mode(takers)
        if mode.blocked is not None and mode.clear is not None:
            # It cannot be enabled before either.
            said = mode.blocked if schedule.enabled else f"it is disabled, and {mode.blocked}"
            return self._silent(schedule, context, said, plan, mode.clear)
        if not schedule.enabled:
            said = "it is disabled; nothing that is due meanwhile is made up for"
            step = f"batchctl schedule enable {shown} --reason ..."
            if plan.next_after(context.now) is None:
                said, step = (
                    f"it is disabled, and {_over(connection, schedule, plan)}",
                    f"{_to_move(schedule)}, then: {step}",
                )
            return self._silent(schedule, context, said, plan, step)
        look = timetable.next_look(connection, schedule, plan, context, self.table.grace)
        return self._judged(look, timetable.blocker_of(connection, schedule), context)

    def _judged(self, look: NextLook, blocker: Blocker | None, context: ScheduleContext) -> ScheduleTrial:
        schedule, undecided, decision, plan = look.schedule, look.undecided, look.decision, look.undecided.plan
        following = catch_up.next_run(schedule, undecided, decision.decided_until, context.now)
        instant = None if following is None else undecided.next_after(decision.decided_until)
        local = None if instant is None else instant.local
        due_now = ", ".join(fire.wording for fire in decision.fires)
        reason, step = f"{plan.words}; {due_now}", f"batchctl log --source 'schedule {visible(schedule.name)}'"
        if decision.fires and blocker is not None:
            reason = f"{due_now}, but Overlap is skip, and {blocker}"
            step = f"batchctl why {blocker.instance_id or f'file:{blocker.intake_id}'}"
        elif not decision.fires and decision.skips:
            reason = "; ".join(f"due {skip.key}: {skip.reason}" for skip in decision.skips)
            step = step if local else _to_move(schedule)
        elif not decision.fires:
            reason = f"it is not due before {local}" if local else "it is never due again"
            step = f"batchctl schedule preview {typed(schedule.name)}" if local else _to_move(schedule)
        runs_once = schedule.timing.schedule_type is ScheduleType.ONCE and bool(decision.fires or following)
        return ScheduleTrial(
            schedule=schedule,
            would_fire=bool(decision.fires) and blocker is None,
            is_due=bool(decision.fires),
            reason=reason,
            words=plan.words,
            next_run_time=following,
            next_local=local,
            notes=(*self._notes(schedule, context), *([_DISABLES_ITSELF] if runs_once else [])),
            next_step=step,
        )

    def _silent(
        self, schedule: Schedule, context: ScheduleContext, reason: str, plan: Plan | None, next_step: str
    ) -> ScheduleTrial:
        return ScheduleTrial(
            schedule=schedule,
            would_fire=False,
            is_silent=True,
            reason=reason,
            words=None if plan is None else plan.words,
            next_run_time=None,
            next_local=None,
            notes=tuple(self._notes(schedule, context)),
            next_step=next_step,
        )

    def _gates(self, connection: Connection, tried: ScheduleTrial, context: ScheduleContext) -> Iterator[Gate]:
        """Yield each condition by itself, also those that `reason` does not come to, because another one blocks first."""
        schedule, row = tried.schedule, f"Schedule {tried.schedule.schedule_id}"
        takers = takers_of(schedule.entity, context.batches)
        yield _timing(tried, row)
        yield _enabled(schedule, row)
        yield _mode(takers)
        yield _entity(schedule, context, row)
        plan = context.plan_of(schedule.timing)
        if plan is None:
            return
        yield from _times(tried, plan, context.now, row)
        yield triggers.overlap(timetable.blocker_of(connection, schedule))

    def _notes(self, schedule: Schedule, context: ScheduleContext) -> Iterator[str]:
        entity = _entity(schedule, context, "")
        if entity.blocked is not None:
            yield f"{capitalized(entity.blocked)}."
        for batch in takers_of(schedule.entity, context.batches):
            waits = (gates.enabled(batch), gates.frozen(batch, context.now))
            yield from (f"What it starts waits: {gate.blocked}." for gate in waits if gate.blocked is not None)
        yield from (warning.message for warning in schedule_warnings(schedule, context))
        calendar = context.calendar_of(schedule.timing)
        ends = None if calendar is None else running_out(calendar, context.today)
        if ends is not None:
            yield f"{capitalized(ends)}."
        if not self.fires_here:
            yield "[scheduler] enabled is false in this configuration: a controller with it fires no schedule."


def _timing(tried: ScheduleTrial, row: str) -> Gate:
    if tried.words is not None:
        return Gate(name="timing")
    return Gate(name="timing", blocked=tried.reason, clear="batchctl check", row=row)


def _enabled(schedule: Schedule, row: str) -> Gate:
    if schedule.enabled:
        return Gate(name="enabled")
    clear = f"batchctl schedule enable {typed(schedule.name)} --reason ..."
    return Gate(name="enabled", blocked=f"schedule {visible(schedule.name)} is disabled", clear=clear, row=row)


def _mode(takers: Sequence[BatchDefinition]) -> Gate:
    is_let = lets_schedules(takers)
    return mode_gate(takers, is_let=is_let, what="schedules", mode=ProcessingMode.SCHEDULED)


def _entity(schedule: Schedule, context: ScheduleContext, row: str) -> Gate:
    takers = takers_of(schedule.entity, context.batches)
    return entity_gate(schedule.entity, takers, taking(schedule.entity, context.unreadable), row)


def _times(tried: ScheduleTrial, plan: Plan, now: datetime, row: str) -> Iterator[Gate]:
    """Yield what the clock and the calendar say: where something is due now, it was not due on a day off."""
    closed, outside = (None, None) if tried.is_due else (plan.closed(now), plan.outside(now))
    next_at = tried.next_run_time
    ends = Ends.ACT if next_at is None else Ends.TIME
    preview = f"batchctl schedule preview {typed(tried.schedule.name)}"
    for name, blocked in (("calendar", closed), ("window", outside)):
        yield Gate(name=name) if blocked is None else Gate(name, blocked, preview, row, ends, next_at)
    if tried.is_due:
        yield Gate(name="due")
    elif next_at is None:
        over = "nothing is due as long as it starts nothing" if tried.is_silent else tried.reason
        yield Gate("due", over, preview if tried.is_silent else tried.next_step, row)
    else:
        yield Gate("due", f"it is not due before {tried.next_local}", preview, row, ends, next_at)


def _over(connection: Connection, schedule: Schedule, plan: Plan) -> str:
    """Say of one that is never due again what became of its last time, if that is still one of its times."""
    last = next(iter(schedule_fires.last_of(connection, schedule.schedule_id)), None)
    until = None if last is None else last.due_until or last.due
    instant = None if until is None else next(plan.instants(until - _TICK, until), None)
    if last is None or instant is None:
        return "never due again"
    if last.outcome is FireOutcome.FIRED:
        return f"it has run at {instant.local}, as file:{last.intake_id}"
    return f"its last time, {instant.local}, was skipped: {last.reason}"


def _to_move(schedule: Schedule) -> str:
    """Say how one that is never due again is given a time to come."""
    if owner_in(schedule.origin) is not None:
        return correct_decorator(job_of(schedule.name))
    option = "--run-at ..." if schedule.timing.schedule_type is ScheduleType.ONCE else "..."
    return f"batchctl schedule set {typed(schedule.name)} {option} --reason ..."
