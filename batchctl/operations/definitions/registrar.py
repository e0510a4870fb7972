"""SQL that runs once or daily: adding such a job, and how each of them stands."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from batchctl.domain.configuring import how_to_add_connection
from batchctl.domain.definitions import sql_jobs
from batchctl.domain.definitions.sql_jobs import ORIGIN, PROCESS_TYPE, SqlJob, comes_twice, local_now, shown
from batchctl.domain.errors import Refused
from batchctl.domain.records import JsonValue
from batchctl.domain.rows import BatchDefinition, BatchId, BatchInstance, HistoryEntry, Step
from batchctl.domain.scheduling import due
from batchctl.domain.scheduling.due import Instant
from batchctl.domain.scheduling.schedules import Schedule, ScheduleId
from batchctl.domain.status import HistoryStatus, ScheduleType
from batchctl.domain.text import did_you_mean, typed, visible
from batchctl.operations import shown_columns
from batchctl.operations.column_lists import ColumnList, StatusWord
from batchctl.operations.definitions.sql_correction import check_sql, rehearse
from batchctl.operations.operators.acts import Actor, checked_reason
from batchctl.operations.scheduling import arming, timetable
from batchctl.preparation import Preparer
from batchctl.store import Connection, instances, sql_job_rows
from batchctl.store.definitions import definitions
from batchctl.store.scheduling import schedule_fires, schedule_rows
from batchctl.store.sql_job_rows import SqlJobStanding

HELP = "batchctl schedule add-sql --help"
_ON_A_LINE = 200
"""SQL that is longer is not written into a command once more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Added:
    """A job that was added, or would be in a dry run."""

    job: SqlJob
    schedule_id: ScheduleId | None
    first: Instant
    words: str
    command_text: str
    notes: tuple[str, ...]
    """What is worth knowing about it, though nothing of it keeps it from being added."""

    def columns(self) -> dict[str, JsonValue]:
        """Return it by names of columns."""
        return {
            "Schedule_id": self.schedule_id,
            "ScheduleName": self.job.name,
            "Enabled": int(self.job.enabled),
            "NextRunTime": shown_columns.moment(self.first.due) if self.job.enabled else None,
            "LocalTime": self.first.local,
            "TimeZone": self.job.zone,
            "Description": self.words,
            "CommandText": self.command_text,
            "Notes": list(self.notes),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class JobStanding:
    """How a job stands: what it is, when it runs next, and what became of its runs."""

    schedule: Schedule
    standing: SqlJobStanding
    is_overdue: bool
    """True when its next run is over, and no leader has decided it."""
    next_at: datetime | None = None
    """When it runs next: where no controller has seen its row yet, as one will reckon it."""
    is_decided: bool = False
    """True when any due time of it was fired or skipped."""
    failed: BatchInstance | None = None
    """The run that its last error was met in, as it stands now."""

    @property
    def state(self) -> str:
        """Say whether it runs when it is due, or that its only time is over."""
        one = self.schedule
        if self.is_decided and not one.enabled and one.timing.schedule_type is ScheduleType.ONCE:
            return "done"
        return "enabled" if one.enabled else "disabled"

    @property
    def error(self) -> HistoryEntry | None:
        """Return its last error, unless it has succeeded since."""
        last, error = self.standing.last, self.standing.last_error
        return None if last is not None and last.status is HistoryStatus.SUCCESS else error


def _error(one: JobStanding) -> tuple[object, ...] | None:
    return None if one.error is None else (one.error.ended_at, f": {one.error.message}")


JOBS = ColumnList[JobStanding](
    "SQL jobs",
    {
        "ScheduleName": lambda one: one.schedule.name,
        "Enabled": lambda one: int(one.schedule.enabled),
        "State": lambda one: one.state,
        "ScheduleType": lambda one: one.schedule.timing.schedule_type,
        "RunAt": lambda one: one.schedule.timing.run_at,
        "RunTimes": lambda one: one.schedule.timing.run_times,
        "TimeZone": lambda one: one.schedule.timing.time_zone,
        "NextRunTime": lambda one: one.next_at,
        "Overdue": lambda one: one.is_overdue,
        "Waiting": lambda one: one.standing.waiting,
        "Running": lambda one: one.standing.running,
        "LastRun": lambda one: one.standing.last,
        "LastError": lambda one: one.standing.last_error,
    },
    {
        "name": "ScheduleName",
        "state": lambda one: StatusWord(one.state),
        "next run (UTC)": lambda one: (one.next_at, f", {timetable.OVERDUE}" if one.is_overdue else ""),
        "running since": lambda one: None if one.standing.running is None else one.standing.running.started_at,
        "waiting#": "Waiting",
        "last run": lambda one: None if one.standing.last is None else one.standing.last.status,
        "last run at": lambda one: None if one.standing.last is None else one.standing.last.started_at,
        "last error": _error,
    },
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Registrar:
    """Adds jobs for a person; what could never run is refused at once."""

    actor: Actor
    preparer: Preparer

    def add(self, job: SqlJob, *, reason: str | None = None) -> Added:
        """Insert all the rows of a job in one transaction, armed: a controller needs no time to find it."""
        reason = checked_reason(reason)
        self._check(job)
        again = "correct it, and add it again"
        rehearsed = rehearse(self.preparer, *_imagined(job), self.actor.clock.now(), next_step=again)

        def act(connection: Connection) -> Added:
            now = self.actor.clock.now()
            first, words = _first(job, now)
            kept = _free_name(connection, job)
            schedule_id = None if self.actor.dry_run else self._insert(connection, job, kept, now, reason)
            return Added(
                job=job,
                schedule_id=schedule_id,
                first=first,
                words=words,
                command_text=rehearsed.command_text,
                notes=(*_of_time(job, first), *rehearsed.notes),
            )

        return self.actor.act(act)

    def _check(self, job: SqlJob) -> None:
        failure = sql_jobs.unfit_name(job.name)
        if failure is not None:
            raise Refused(f"The job cannot be called so: {failure}.", next_step=HELP)
        check_sql(job.sql, next_step=HELP)
        known = self.preparer.context.connections
        if job.connection not in known:
            meant = visible(did_you_mean(job.connection, known))
            raise Refused(
                f"Connection '{visible(job.connection)}' is not in the configuration.{meant}",
                next_step=f"{how_to_add_connection(job.connection)}, or name another",
            )
        failure = sql_jobs.unfit_time(job.at, is_daily=job.is_daily)
        if failure is not None:
            raise Refused(f"The job cannot begin at {shown(job.at)}: {failure}.", next_step=HELP)

    def _insert(
        self, connection: Connection, job: SqlJob, kept: BatchDefinition | None, now: datetime, reason: str | None
    ) -> ScheduleId:
        if kept is None:
            batch_id = sql_job_rows.add_batch(connection, job.batch_columns)
        else:
            batch_id = kept.batch_id
            sql_job_rows.change_batch(connection, batch_id, {**job.batch_columns, "Enabled": 1}, now)
            sql_job_rows.remove_steps(connection, batch_id)
        sql_job_rows.add_step(connection, batch_id, job.step_columns)
        schedule_id = schedule_rows.add(connection, {**job.schedule_columns, **schedule_rows.UNARMED})
        arming.arm(connection, schedule_id, timetable.schedule_context(connection, job.zone, now))
        after: dict[str, JsonValue] = {name: _plain(value) for name, value in job.schedule_columns.items()}
        after |= {"Data1": job.connection, "Data2": job.sql, "RetryCount": job.retries}
        self.actor.note(connection, "add-sql", timetable.schedule_target(job.name), reason, {}, after)
        return schedule_id


def everyone(table: timetable.Timetable) -> tuple[JobStanding, ...]:
    """Return how all jobs stand that are one piece of SQL, in order of their making; the timetable knows when each is due."""
    now = table.clock.now()
    timed = {one.schedule.schedule_id: one.next for one in table.everything()}
    with table.transactions.read() as connection:
        found = [one for one in schedule_rows.everything(connection)[0] if one.origin == ORIGIN]
        standings = sql_job_rows.standings(connection, ORIGIN)
        decided = {one.schedule_id for one in found if schedule_fires.last_of(connection, one.schedule_id)}
        errors = {at: one.last_error.instance_id for at, one in standings.items() if one.last_error is not None}
        failed = {at: instances.load(connection, instance_id) for at, instance_id in errors.items()}
    return tuple(
        JobStanding(
            schedule=one,
            standing=standings.get(one.schedule_id, SqlJobStanding()),
            is_overdue=one.next_run_time is not None and one.next_run_time < now - timetable.DECIDED_WITHIN,
            next_at=_next_at(one, timed.get(one.schedule_id)),
            is_decided=one.schedule_id in decided,
            failed=failed.get(one.schedule_id),
        )
        for one in found
    )


def _next_at(schedule: Schedule, following: timetable.Next | None) -> datetime | None:
    if schedule.next_run_time is not None or following is None or not schedule.enabled:
        return schedule.next_run_time
    return following.at


def _first(job: SqlJob, now: datetime) -> tuple[Instant, str]:
    """Return the first due time; raises `Refused` for one that is over."""
    try:
        plan = due.plan_of(job.timing, job.zone, None)
    except due.UnfitTiming as unfitting:
        raise Refused(f"The job would never be due: {visible(unfitting.message)}", next_step=HELP) from None
    first = plan.next_after(now)
    if first is None or first.business_date != job.at.date():
        clock = f"in {job.zone} it is {local_now(now, job.zone)} now"
        raise Refused(f"{shown(job.at)} is over: {clock}.", next_step=_instead(job, first))
    return first, plan.words


def _instead(job: SqlJob, first: Instant | None) -> str:
    """Return what to type in place of a time that is over."""
    if job.is_daily and first is not None:
        return f"the same with --at '{first.business_date} {job.at:%H:%M}', the next such time"
    at_once = f"batchctl task {shlex.quote(job.sql)} --connection {typed(job.connection)}"
    if visible(job.sql) != job.sql or len(job.sql) > _ON_A_LINE:
        at_once = f"batchctl task - --connection {typed(job.connection)}   (with the SQL on standard input)"
    return f"a later --at; what is to run at once: {at_once}"


def _of_time(job: SqlJob, first: Instant) -> Sequence[str]:
    if first.reason is not None:
        return [first.reason]
    if comes_twice(job.at, job.zone):
        return [f"{shown(job.at)} comes twice in {job.zone}, where the clocks are put back: it runs the first time"]
    return []


def _free_name(connection: Connection, job: SqlJob) -> BatchDefinition | None:
    """Return the batch that an earlier job of the name has left behind; raises `Refused` where the name is taken."""
    other = "choose another name"
    if any(one.name == job.name for one in schedule_rows.everything(connection)[0]):
        raise Refused(
            f"There is a schedule '{job.name}' already.",
            next_step=f"{other}, or first: batchctl schedule remove {typed(job.name)} --reason ...",
        )
    batches = definitions.all_batches(connection)
    takers = [batch for batch in batches if job.name in {batch.entity, batch.name}]
    kept = next((batch for batch in takers if batch.origin == ORIGIN and batch.name == batch.entity), None)
    for batch in takers:
        if batch is not kept:
            message = f"Batch {visible(batch.name)} takes entity '{visible(batch.entity)}' already."
            raise Refused(message, next_step=other)
    if kept is not None:
        for instance in instances.open_of(connection, kept.batch_id, 0, 1):
            at = instance.instance_id
            message = (
                f"BatchControl {at} of an earlier job '{job.name}' is {instance.status}: it would run the new SQL."
            )
            raise Refused(message, next_step=f"batchctl cancel {at} --reason ..., or {other}")
    return kept


def _imagined(job: SqlJob) -> tuple[BatchDefinition, Step]:
    step = Step(
        batch_id=BatchId(0),
        seq=sql_jobs.SEQ,
        name=job.name,
        process_type=PROCESS_TYPE,
        data=(sql_jobs.literal(job.connection), sql_jobs.literal(job.sql), None, None, None, None),
    )
    return BatchDefinition(batch_id=BatchId(0), name=job.name, entity=job.name, steps=(step,)), step


def _plain(value: object) -> JsonValue:
    return value if value is None or isinstance(value, int) else str(value)
