"""Removing a schedule for good: nothing more is started by it; what it has started is another matter."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from batchctl.domain.definitions import reconciling
from batchctl.domain.definitions.declared import job_of
from batchctl.domain.definitions.sql_jobs import ORIGIN
from batchctl.domain.errors import Refused
from batchctl.domain.records import JsonValue
from batchctl.domain.rows import BatchDefinition, BatchInstance, InstanceId, IntakeId
from batchctl.domain.scheduling.schedules import Schedule
from batchctl.domain.status import InstanceStatus, IntakeStatus
from batchctl.domain.text import storable, typed, visible
from batchctl.operations import shown_columns
from batchctl.operations.definitions.reconciler import JobPlugins, offer_of
from batchctl.operations.definitions.roster import WRITE
from batchctl.operations.intervene import Operator, batch_target
from batchctl.operations.operators.acts import Actor, checked_reason
from batchctl.operations.scheduling import timetable
from batchctl.store import Connection, instances, sql_job_rows
from batchctl.store.definitions import definitions
from batchctl.store.intake import intake
from batchctl.store.scheduling import schedule_rows
from batchctl.store.scheduling.schedule_rows import Trail

AT_ONCE = 1000
"""How many open instances are read at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RemovedSchedule:
    """A schedule that was removed, or would be, and what becomes of the batch that it was made with, if it was."""

    schedule: Schedule
    trail: Trail
    batch: str | None = None
    is_batch_removed: bool = False
    """False when the batch stays for its history: disabled, unless a run of it goes on."""
    cancelled: tuple[InstanceId, ...] = ()
    """Runs that waited, for their turn or for a person: what they carry out could not be corrected any more."""
    were: Mapping[InstanceId, InstanceStatus] = field(default_factory=dict)
    """What status each of these had."""
    rejected: tuple[IntakeId, ...] = ()
    """Rows that nothing had been made of yet."""
    left: tuple[InstanceId, ...] = ()
    """Runs that a controller carries out, which go on to their end."""
    dry_run: bool = False

    def columns(self) -> dict[str, JsonValue]:
        """Return it by names of columns."""
        return {
            "Schedule_id": self.schedule.schedule_id,
            "ScheduleName": self.schedule.name,
            "ScheduleFires": self.trail.fires,
            "ScheduleBackfills": self.trail.backfills,
            "ProcessBatchName": self.batch,
            "BatchRemoved": self.is_batch_removed,
            "Cancelled": list(self.cancelled),
            "StatusBefore": [self.were[each].value for each in self.cancelled],
            "Rejected": list(self.rejected),
            "StillRunning": list(self.left),
        }


def remove(
    actor: Actor, operator: Operator, name: str, *, reason: str, plugins: JobPlugins | None = None
) -> RemovedSchedule:
    """Delete a schedule with all that was decided about it; with its batch, if that is a job of SQL without a history.

    Of a job of SQL also what waits is given up: nothing would say any more what it was for. What the code of a decorated
    job still says is refused, as far as `plugins` tell: the next controller that starts would write it again, enabled.
    """
    said = checked_reason(reason) or reason

    def act(connection: Connection) -> RemovedSchedule:
        schedule = timetable.named(connection, name)
        _check_left(schedule, plugins)
        done = RemovedSchedule(
            schedule=schedule, trail=schedule_rows.trail(connection, schedule.schedule_id), dry_run=actor.dry_run
        )
        batch = _batch_of_job(connection, schedule)
        if not actor.dry_run:
            before = shown_columns.of(schedule)
            counted: dict[str, JsonValue] = {
                "ScheduleFires": done.trail.fires,
                "ScheduleBackfills": done.trail.backfills,
            }
            actor.note(connection, "remove", timetable.schedule_target(name), said, {**before, **counted}, {})
            schedule_rows.remove(connection, schedule.schedule_id)
        return done if batch is None else _end_job(connection, actor, operator, done, batch, said)

    return actor.act(act)


def _check_left(schedule: Schedule, plugins: JobPlugins | None) -> None:
    """Refuse what the code of a job says, or may say on a node that knows it."""
    word, _, owner = (schedule.origin or "").partition(" ")
    if word != reconciling.JOB or (plugins is not None and _has_left(schedule, owner, plugins)):
        return
    called = f"Schedule {visible(schedule.name)}"
    disable = f"batchctl schedule disable {typed(schedule.name)} --reason ..."
    if plugins is not None and not plugins.knows_owner(owner):
        said = f"{called} is of '{visible(owner)}', which cannot be asked here: its code may still say it."
        raise Refused(said, next_step=f"{disable}; if no node has it any more: {WRITE} --retire {typed(owner)}")
    raise Refused(
        f"{called} cannot be removed: the code still says it.", next_step=f"{disable}, or take the decorator away"
    )


def _has_left(schedule: Schedule, owner: str, plugins: JobPlugins) -> bool:
    """Say whether it is known that the code does not say it any more, though an operator had disabled it before."""
    offer, job = offer_of(plugins), job_of(schedule.name)
    said = {name.casefold() for one in offer.jobs.values() for name in one.schedule_names}
    return plugins.knows_owner(owner) and job not in offer.broken and schedule.name.casefold() not in said


def _end_job(
    connection: Connection, actor: Actor, operator: Operator, done: RemovedSchedule, batch: BatchDefinition, reason: str
) -> RemovedSchedule:
    found = open_runs(connection, batch)
    waiting = [one.instance_id for one in found if not one.status.is_claimed]
    not_begun = sql_job_rows.not_begun(connection, batch.entity)
    is_needed = bool(not_begun) or sql_job_rows.is_referred_to(connection, batch.batch_id)
    if not actor.dry_run:
        waiting = [each for each in waiting if operator.cancel_waiting(connection, each, reason=reason)]
        not_begun = [each for each in not_begun if _rejects(connection, actor, each, done.schedule, reason)]
    given_up = set(waiting)
    left = tuple(one.instance_id for one in found if one.instance_id not in given_up)
    if not actor.dry_run:
        _leave(connection, actor, batch, reason, is_needed=is_needed, goes_on=bool(left))
    return replace(
        done,
        batch=batch.name,
        is_batch_removed=not is_needed,
        cancelled=tuple(waiting),
        were={one.instance_id: one.status for one in found},
        rejected=tuple(not_begun),
        left=left,
    )


def _leave(
    connection: Connection, actor: Actor, batch: BatchDefinition, reason: str, *, is_needed: bool, goes_on: bool
) -> None:
    """Remove the batch or disable it; one of which a run goes on stays as it is, or its retries would never be made."""
    was = shown_columns.batch(batch)
    if not is_needed:
        sql_job_rows.remove_batch(connection, batch.batch_id)
        actor.note(connection, "remove", batch_target(batch.name), reason, was, {})
    elif batch.enabled and not goes_on:
        definitions.set_enabled(connection, batch.batch_id, actor.clock.now(), enabled=False)
        actor.note(connection, "disable", batch_target(batch.name), reason, {"Enabled": 1}, {"Enabled": 0})


def _rejects(connection: Connection, actor: Actor, intake_id: IntakeId, schedule: Schedule, reason: str) -> bool:
    row, have_theirs = intake.load_locked(connection, intake_id)
    if row is None or have_theirs or row.status is not IntakeStatus.READY:
        return False
    said = storable(f"schedule '{schedule.name}' was removed by {actor.user}@{actor.host}: {reason}")
    return intake.set_status(connection, row, IntakeStatus.REJECTED, said, actor.clock.now())


def open_runs(connection: Connection, batch: BatchDefinition) -> Sequence[BatchInstance]:
    """Return all instances of a batch that are not at their end, in order of creation."""
    found = list[BatchInstance]()
    while page := instances.open_of(connection, batch.batch_id, found[-1].instance_id if found else 0, AT_ONCE):
        found += page
    return found


def _batch_of_job(connection: Connection, schedule: Schedule) -> BatchDefinition | None:
    """Return the batch that was made together with a schedule, unless another schedule has come to use it."""
    if schedule.origin != ORIGIN:
        return None
    others = [one for one in schedule_rows.everything(connection)[0] if one.schedule_id != schedule.schedule_id]
    if any(one.entity == schedule.entity for one in others):
        return None
    return batch_of_job(definitions.all_batches(connection), schedule)


def batch_of_job(batches: Iterable[BatchDefinition], schedule: Schedule) -> BatchDefinition | None:
    """Return the batch that was made for a schedule by `add-sql`."""
    return next((batch for batch in batches if batch.entity == schedule.entity and batch.origin == ORIGIN), None)
