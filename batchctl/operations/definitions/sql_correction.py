"""Correcting the SQL of a job, or its connection: looked through as when it was added, changed in one transaction, audited."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial

from batchctl.domain.definitions import sql_jobs
from batchctl.domain.definitions.sql_jobs import OPTIONS, ORIGIN, PROCESS_TYPE, SEQ
from batchctl.domain.errors import CannotBegin, PluginError, Refused, without_next_step
from batchctl.domain.records import JsonValue
from batchctl.domain.rows import BatchDefinition, BatchInstance, InstanceId, Step, imagined
from batchctl.domain.scheduling.schedules import Schedule
from batchctl.domain.status import STOPPED, Cause, InstanceStatus
from batchctl.domain.text import typed, unfit, visible
from batchctl.domain.values import value
from batchctl.operations.definitions.schedule_removal import batch_of_job, open_runs
from batchctl.operations.operators.acts import Actor, checked_reason
from batchctl.operations.scheduling import timetable
from batchctl.preparation import Preparer
from batchctl.store import Connection, sql_job_rows
from batchctl.store.definitions import definitions
from batchctl.store.scheduling import schedule_rows

AGAIN = "correct it, and give it again"


@dataclass(frozen=True, slots=True, kw_only=True)
class Corrected:
    """A job whose step was changed, or would be, and its runs that are not done."""

    schedule: Schedule
    before: Mapping[str, str]
    """What stood in the columns of its step that are given, and what stands there."""
    after: Mapping[str, str]
    rehearsed: SqlRehearsal
    runs: tuple[BatchInstance, ...]
    dry_run: bool

    @property
    def is_changed(self) -> bool:
        """Say whether anything is other than before."""
        return self.before != self.after

    @property
    def failed(self) -> tuple[InstanceId, ...]:
        """Return the runs that carry it out once they are rerun, newest first."""
        found = [one.instance_id for one in self.runs if one.status in STOPPED]
        return tuple(reversed(found))

    @property
    def running(self) -> tuple[InstanceId, ...]:
        """Return the runs that a controller is at, which go on with what they have begun."""
        return tuple(one.instance_id for one in self.runs if one.status.is_claimed)

    @property
    def retrying(self) -> tuple[InstanceId, ...]:
        """Return the runs that are tried again by themselves, and with the new SQL then."""
        return tuple(one.instance_id for one in self.runs if one.status is InstanceStatus.RETRY)

    def columns(self) -> dict[str, JsonValue]:
        """Return it by names of columns."""
        return {
            "Schedule_id": self.schedule.schedule_id,
            "ScheduleName": self.schedule.name,
            "ProcessControlSeq": SEQ,
            "Before": dict(self.before),
            "After": dict(self.after),
            "CommandText": self.rehearsed.command_text,
            "Notes": list(self.rehearsed.notes),
            "Failed": list(self.failed),
            "Retrying": list(self.retrying),
            "StillRunning": list(self.running),
        }


def set_sql(
    actor: Actor, preparer: Preparer, name: str, sql: str | None, place: str | None = None, *, reason: str
) -> Corrected:
    """Give a job other SQL or another connection; what could never be carried out is refused, and changes nothing."""
    said = checked_reason(reason) or reason
    if sql is not None:
        check_sql(sql, next_step=AGAIN)
    given = {"Data1": place, "Data2": sql}
    after = {column: sql_jobs.literal(text) for column, text in given.items() if text is not None}

    def act(connection: Connection) -> Corrected:
        schedule = timetable.named(connection, name)
        if not actor.dry_run:
            # Others that remove or correct the job at the same time wait.
            schedule = schedule_rows.load_locked(connection, schedule.schedule_id) or timetable.named(connection, name)
        batch, step = _step_of(connection, schedule)
        where, text, third, fourth, fifth, sixth = step.data
        stood = {"Data1": where or "", "Data2": text or ""}
        becomes = {**stood, **after}
        new = replace(step, data=(becomes["Data1"], becomes["Data2"], third, fourth, fifth, sixth))
        done = Corrected(
            schedule=schedule,
            before={column: stood[column] for column in after},
            after=after,
            rehearsed=rehearse(preparer, batch, new, actor.clock.now(), next_step=AGAIN),
            runs=tuple(open_runs(connection, batch)),
            dry_run=actor.dry_run,
        )
        if done.is_changed and not actor.dry_run:
            sql_job_rows.change_step(connection, batch.batch_id, SEQ, after, actor.clock.now())
            actor.note(connection, "set-sql", timetable.schedule_target(name), said, done.before, after)
        return done

    return actor.act(act)


def _step_of(connection: Connection, schedule: Schedule) -> tuple[BatchDefinition, Step]:
    """Return the batch of a job and its step; raises `Refused` where nothing there was made by `add-sql`."""
    called = f"Schedule {visible(schedule.name)}"
    if schedule.origin != ORIGIN:
        message = f"{called} is no job that add-sql has made: it has no SQL of its own."
        raise Refused(
            message, next_step="batchctl schedule jobs   (those that have); of others, correct ProcessControl"
        )
    found = batch_of_job(definitions.all_batches(connection), schedule)
    step = None if found is None else found.step_at(SEQ)
    if found is None or step is None or step.process_type != PROCESS_TYPE:
        message = (
            f"{called} starts no batch with a step {SEQ} of type {PROCESS_TYPE} any more: somebody has changed it."
        )
        raise Refused(message, next_step=f"batchctl why batch:{typed(schedule.entity)}, and correct ProcessControl")
    return found, step


_FILE = "file:"
_COLUMN = re.compile(r"(^|; )(Data[12]): ")


@value
class SqlRehearsal:
    """What will run, made by the code that will run it, and what a check says of it."""

    command_text: str
    notes: tuple[str, ...]


def check_sql(sql: str, *, next_step: str) -> None:
    """Raise `Refused` for a text that no row can keep as SQL."""
    failure = unfit(sql) or ("there is nothing in it" if not sql.strip() else None)
    if failure is None and sql.strip().startswith(_FILE):
        failure = f"'{_FILE}' begins no SQL; to take it from a file: --file FILE"
    if failure is not None:
        raise Refused(f"The SQL cannot be kept: {failure}.", next_step=next_step)


def rehearse(preparer: Preparer, batch: BatchDefinition, step: Step, now: datetime, *, next_step: str) -> SqlRehearsal:
    """Prepare a step as if it were due; raises `Refused` where it could never be carried out."""
    instance = imagined(batch)
    ready = preparer.prepare(instance, batch, step, attempt_no=1, cause=Cause.AUTO, now=now)
    if ready.refused is not None:
        whose = f"Step {step.seq} '{visible(step.name)}' of BatchControl {instance.instance_id}: "
        because = without_next_step(ready.refused.removeprefix(whose))
        because = _COLUMN.sub(lambda found: f"{found[1]}{OPTIONS[found[2]]}: ", because)
        is_elsewhere = because.startswith(OPTIONS["Data1"])
        mend = f"the same with {OPTIONS['Data1']} NAME" if is_elsewhere else next_step
        raise Refused(f"The SQL could never be carried out: {because}", next_step=mend)
    try:
        handler = preparer.find_handler(step.process_type)
        findings = preparer.ask(handler, "its check", partial(handler.check, step, preparer.context))
    except (PluginError, CannotBegin):
        findings = ()
    return SqlRehearsal(ready.command_text, tuple(visible(finding.message) for finding in findings))
