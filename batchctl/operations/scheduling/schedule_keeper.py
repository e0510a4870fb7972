"""What people do to schedules: looked through wholly before anything is written, in one transaction, audited."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from batchctl.domain.definitions import sql_jobs
from batchctl.domain.errors import Refused
from batchctl.domain.outcomes import Finding
from batchctl.domain.records import JsonValue
from batchctl.domain.rows import IntakeId
from batchctl.domain.scheduling.schedule_columns import DEFAULTS, left_behind, option_of, schedule_of
from batchctl.domain.scheduling.schedules import Schedule
from batchctl.domain.scheduling.timing_text import SET_TO_NULL
from batchctl.domain.status import SchedulerEvent
from batchctl.domain.text import NAME_LIMIT, storable, typed, visible
from batchctl.operations import shown_columns, unknown
from batchctl.operations.operators.acts import Actor, checked_reason
from batchctl.operations.scheduling import arming, timetable
from batchctl.operations.scheduling.schedule_findings import (
    OPERATORS,
    OR_DISABLE,
    ScheduleContext,
    schedule_findings,
    schedule_warnings,
)
from batchctl.operations.scheduling.timetable import Next, schedule_target
from batchctl.operations.shown_columns import Columns
from batchctl.store import Connection, scheduler_log
from batchctl.store.definitions import definitions
from batchctl.store.intake import data_triggers, intake
from batchctl.store.maintenance import audit_entries
from batchctl.store.scheduling import schedule_rows
from batchctl.store.scheduling.schedule_rows import UNARMED

_LIMITS = {"BetweenTimes": 50, "RunAt": 50, "StartDate": 10, "EndDate": 10}
_UNLIMITED = {"Description"}
_NOT_SHOWN = {"Schedule_id", "NextRunTime", "DecidedUntil"}
"""Columns that are batchctl's own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenSchedule:
    """What was made of a schedule, or would be; nothing was where there are problems."""

    schedule: Schedule
    is_new: bool
    before: Columns
    after: Columns
    """The columns that differ, as they were and as they are."""
    cleared: tuple[str, ...]
    """Those that only the type had a use for that it was of before."""
    words: str | None
    next: Next | None
    findings: tuple[Finding, ...]
    warnings: tuple[Finding, ...]
    """What will fail once it starts; it is written all the same."""
    dry_run: bool


@dataclass(frozen=True, slots=True)
class ScheduleKeeper:
    """Keeps schedules, for a person; `zone` is the business time zone."""

    actor: Actor
    zone: str

    def add(self, name: str, given: Mapping[str, JsonValue], *, reason: str | None = None) -> WrittenSchedule:
        """Make a schedule of these columns; the database's defaults fill in the others."""
        reason = checked_reason(reason)
        said: Columns = {**DEFAULTS, **given, "ScheduleName": name}

        def act(connection: Connection) -> WrittenSchedule:
            found, broken = schedule_rows.everything(connection)
            if any(each.name == name for each in found):
                message = f"There is a schedule '{visible(name)}' already."
                raise Refused(message, next_step=f"batchctl schedule set {typed(name)} ...")
            del broken  # A row that cannot be read may have the name: then the database refuses it.
            context = timetable.schedule_context(connection, self.zone, self.actor.clock.now())
            schedule = schedule_of(said)
            after: Columns = {name: value for name, value in said.items() if value is not None}
            done = self._written(connection, schedule, context, {}, after, (), is_new=True)
            if not done.findings and not self.actor.dry_run:
                schedule_id = schedule_rows.add(connection, {**after, **UNARMED})
                arming.arm(connection, schedule_id, context)
                self.actor.note(connection, "schedule add", schedule_target(name), reason, {}, after)
            return done

        return self.actor.act(act)

    def change(self, name: str, given: Mapping[str, JsonValue], *, reason: str | None = None) -> WrittenSchedule:
        """Write some columns of a schedule anew; with another type goes what only the old one had a use for."""
        reason = checked_reason(reason)

        def act(connection: Connection) -> WrittenSchedule:
            known = timetable.named(connection, name)
            _check_origin(known, given)
            was = _own(shown_columns.of(known))
            wanted = {
                **was,
                **{column: DEFAULTS.get(column) if value is None else value for column, value in given.items()},
            }
            gone = left_behind(known.timing.schedule_type, schedule_of(wanted).timing.schedule_type)
            gone = {column: value for column, value in gone.items() if column not in given and was[column] != value}
            before, after = shown_columns.changes(was, {**wanted, **gone})
            context = timetable.schedule_context(connection, self.zone, self.actor.clock.now())
            schedule = schedule_of({**shown_columns.of(known), **wanted, **gone})
            anew = arming.begins_anew(known, schedule, context)
            decided_until = None if anew else known.decided_until
            schedule = replace(schedule, decided_until=decided_until, timing_hash=known.timing_hash)
            done = self._written(connection, schedule, context, before, after, tuple(gone), is_new=False)
            if not done.findings and after and not self.actor.dry_run:
                schedule_rows.change(connection, known.schedule_id, after, context.now)
                arming.arm(connection, known.schedule_id, context, anew=anew)
                self.actor.note(connection, "schedule set", schedule_target(name), reason, before, after)
            return done

        return self.actor.act(act)

    def set_enabled(self, name: str, *, enabled: bool, reason: str | None = None) -> WrittenSchedule:
        """Switch a schedule on or off; one that is as wanted already stays so, unaudited.

        Once it is on again it begins anew: nothing that was due meanwhile is made up for.
        """
        reason = checked_reason(reason)

        def act(connection: Connection) -> WrittenSchedule:
            known = timetable.named(connection, name)
            now = self.actor.clock.now()
            context = timetable.schedule_context(connection, self.zone, now)
            before, after = shown_columns.changes({"Enabled": int(known.enabled)}, {"Enabled": int(enabled)})
            schedule = known
            if after:
                unarmed = dict.fromkeys(UNARMED)
                schedule = schedule_of({**shown_columns.of(known), **unarmed, **after})
            findings = enabled and bool(after)
            done = self._written(connection, schedule, context, before, after, (), is_new=False, is_checked=findings)
            if done.findings or not after or self.actor.dry_run:
                return done
            if enabled:
                schedule_rows.change(connection, known.schedule_id, {"Enabled": 1, **UNARMED}, now)
                arming.arm(connection, known.schedule_id, context)
            else:
                schedule_rows.disable(connection, known.schedule_id, now)
            action = "enable" if enabled else "disable"
            self.actor.note(connection, action, schedule_target(name), reason, before, after)
            return done

        return self.actor.act(act)

    def _written(
        self,
        connection: Connection,
        schedule: Schedule,
        context: ScheduleContext,
        before: Columns,
        after: Columns,
        cleared: tuple[str, ...],
        *,
        is_new: bool,
        is_checked: bool = True,
    ) -> WrittenSchedule:
        found = [*_of_lengths(after), *schedule_findings(schedule, context)] if is_checked else []
        found = [_for_options(one, after) for one in found]
        if is_new:
            # There is none yet that could be changed.
            again = f"batchctl schedule add {typed(schedule.name)}"
            found = [replace(one, remedy=_made_again(one, schedule, again)) for one in found]
        elif "Enabled" in after:
            found = [replace(one, remedy=_then_enabled(one)) for one in found]
        plan = context.plan_of(schedule.timing)
        return WrittenSchedule(
            schedule=schedule,
            is_new=is_new,
            before=before,
            after=after,
            cleared=cleared,
            words=None if plan is None else plan.words,
            next=timetable.next_of(connection, schedule, context),
            findings=tuple(found),
            warnings=tuple(schedule_warnings(schedule, context)) if is_checked else (),
            dry_run=self.actor.dry_run,
        )


def _for_options(finding: Finding, after: Mapping[str, JsonValue]) -> Finding:
    """Return what to do in terms of options, in which there is no NULL."""
    option = option_of(finding.column)
    what = f"leave {option} out" if after.get(finding.column) is not None else f"empty it with {option} ''"
    return replace(finding, message=finding.message.replace(SET_TO_NULL, f"{what}, or choose another --type."))


def _made_again(finding: Finding, schedule: Schedule, again: str) -> str | None:
    remedy = finding.remedy or ""
    if not remedy.startswith("batchctl schedule set "):
        return finding.remedy
    if finding.column == "RunAt":
        return f"{again} --entity {typed(schedule.entity)} --type once --run-at ...   (a time to come)"
    return f"{again} ...   (with a time to come)"


def _then_enabled(finding: Finding) -> str | None:
    """Return what mends a schedule that is disabled still."""
    remedy = finding.remedy or ""
    if not remedy.endswith(OR_DISABLE):
        return finding.remedy
    return f"{remedy.removesuffix(OR_DISABLE)}   (then enable it)"


def _own(columns: Columns) -> Columns:
    return {column: value for column, value in columns.items() if column not in _NOT_SHOWN}


def _of_lengths(after: Columns) -> Iterator[Finding]:
    """Yield the texts that their columns cannot hold."""
    for column, value in after.items():
        limit = _LIMITS.get(column, NAME_LIMIT)
        if column not in _UNLIMITED and isinstance(value, str) and len(value) > limit:
            yield Finding(column, f"It is longer than {limit} characters.")
        if value == "":
            yield Finding(column, "It is empty.")


def _check_origin(schedule: Schedule, given: Mapping[str, JsonValue]) -> None:
    """Refuse what would not last: a row that something keeps up to date is written anew at its next start."""
    kept = [column for column in given if column not in OPERATORS]
    if schedule.origin not in {None, sql_jobs.ORIGIN} and kept:
        message = (
            f"Schedule {visible(schedule.name)} is kept up to date by {visible(schedule.origin)}, which would write"
            f" {', '.join(kept)} anew."
        )
        raise Refused(message, next_step="change it there; yours are " + ", ".join(sorted(OPERATORS)) + " and Enabled")


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

    def act(connection: Connection) -> Ran:
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


def _insert(connection: Connection, actor: Actor, schedule: Schedule, cycle_key: str, reason: str | None) -> IntakeId:
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
