"""Asking for a task: a `FileProcess` row whose Data is the very command or SQL to carry out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Protocol

from batchctl.domain.configuring import how_to_add_connection
from batchctl.domain.errors import Refused, without_next_step
from batchctl.domain.records import JsonValue
from batchctl.domain.rows import BatchDefinition, BatchInstance, IntakeId, IntakeRow, Populated, Step, imagined
from batchctl.domain.status import Cause, IntakeStatus, OnFailure
from batchctl.domain.text import did_you_mean, typed, unfit, visible
from batchctl.domain.untaken import ENABLE_TASK, TASK
from batchctl.operations.intake.submission import Submission, submit
from batchctl.operations.intervene import batch_target
from batchctl.operations.operators import releasing
from batchctl.operations.operators.acts import Actor, checked_reason
from batchctl.operations.task_connections import PROCESS_TYPE
from batchctl.plugin_api import CannotPopulate, Populator
from batchctl.ports import Clock, Transactions
from batchctl.preparation import Preparer
from batchctl.store import Connection, sql_job_rows, task_queues
from batchctl.store.definitions import definitions
from batchctl.store.intake import intake
from batchctl.store.maintenance.roles import is_role_name

ENTITY = TASK
TO_ENABLE = f"{ENABLE_TASK}   (then every user who may insert FileProcess rows runs commands as the controller)"


class Populators(Protocol):
    """What is asked of the registry."""

    def populator(self, name: str) -> Populator:
        """Return a populator; raises `PluginError`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskWish:
    """What to do: SQL on a connection, or a command where there is none."""

    body: str
    connection: str | None = None
    entity: str = ENTITY


@dataclass(frozen=True, slots=True, kw_only=True)
class Queued:
    """A task that was inserted (in a dry run: would be), the batch that takes it, and the command it will be."""

    task: TaskWish
    intake_id: IntakeId | None
    batch: BatchDefinition
    besides: tuple[str, ...]
    """Other batches that take the same entity."""
    command_text: str

    def columns(self) -> dict[str, JsonValue]:
        """Return it by column names."""
        return {
            "FileProcess_id": self.intake_id,
            "Entity": self.task.entity,
            "FileName": self.task.connection,
            "Data": self.task.body,
            "ProcessBatchName": self.batch.name,
            "Enabled": int(self.batch.enabled),
            "CommandText": self.command_text,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """Takes tasks; it refuses what the controller could only refuse later."""

    transactions: Transactions
    clock: Clock
    populators: Populators
    preparer: Preparer
    user: str
    host: str
    dry_run: bool = False

    def queue(self, task: TaskWish) -> Queued:
        """Insert the row of a task; the controller finds it by itself."""
        self._check(task)
        batch, step, besides = self._taker(task.entity)
        command_text = self._command(task, batch, step)
        wanted = Submission(entity=task.entity, file_name=task.connection, data=task.body)
        done = submit(self.transactions, wanted, user=self.user, host=self.host, dry_run=self.dry_run)
        return Queued(task=task, intake_id=done.intake_id, batch=batch, besides=besides, command_text=command_text)

    def _check(self, task: TaskWish) -> None:
        known = self.preparer.context.connections
        failure = unfit(task.body) or unfit(task.connection or "")
        if failure is not None:
            raise Refused(f"The task cannot be queued: {failure}.", next_step="batchctl task --help")
        if not task.body.strip():
            raise Refused("The task is empty: there is nothing to do.", next_step="batchctl task --help")
        if task.connection is not None and task.connection not in known:
            meant = visible(did_you_mean(task.connection, known))
            raise Refused(
                f"Connection '{visible(task.connection)}' is not in the configuration.{meant}",
                next_step=f"{how_to_add_connection(task.connection)}, or name another",
            )

    def _taker(self, entity: str) -> tuple[BatchDefinition, Step, tuple[str, ...]]:
        with self.transactions.read() as connection:
            every = definitions.all_batches(connection)
        takers = [batch for batch in every if batch.entity == entity]
        found = [(batch, step) for batch in takers for step in batch.steps if step.process_type == PROCESS_TYPE]
        if not found:
            queues = {batch.entity for batch in every if any(at.process_type == PROCESS_TYPE for at in batch.steps)}
            names = ", ".join(visible(batch.name) for batch in takers)
            whose = (
                f": batch {names} has no step of ProcessType 'task'" if takers else f".{did_you_mean(entity, queues)}"
            )
            known = "batchctl batches   (which there are; another task queue: batchctl task --entity NAME)"
            message = f"No batch carries out tasks of entity '{visible(entity)}'{visible(whose)}"
            raise Refused(message, next_step=known if takers or queues else TO_ENABLE)
        batch, step = found[0]
        return batch, step, tuple(other.name for other in takers if other.name != batch.name)

    def _command(self, task: TaskWish, batch: BatchDefinition, step: Step) -> str:
        """Return what will run, by the code that will run it."""
        instance = _imagined(task, batch, self._populated(task, batch))
        ready = self.preparer.prepare(instance, batch, step, attempt_no=1, cause=Cause.AUTO, now=self.clock.now())
        if ready.refused is not None:
            whose = f"Step {step.seq} '{visible(step.name)}' of BatchControl {instance.instance_id}: "
            because = without_next_step(ready.refused.removeprefix(whose))
            raise Refused(f"The task could not be carried out: {because}", next_step="correct it, and queue it again")
        place = ready.step.data[0] if ready.step.process_type == "sql" else None
        if place != task.connection:
            raise Refused(
                f"Batch {visible(batch.name)} would run it {_as(place)}, not {_as(task.connection)}.",
                next_step="batchctl task --entity NAME ...   (another task queue; batchctl batches shows which there are)",
            )
        return ready.command_text

    def _populated(self, task: TaskWish, batch: BatchDefinition) -> Populated:
        row = IntakeRow(
            intake_id=IntakeId(0),
            entity=task.entity,
            file_name=task.connection,
            status=IntakeStatus.READY,
            data=task.body,
            cycle_key=None,
            source=None,
            message=None,
            inserted_at=self.clock.now(),
        )
        try:
            return self.populators.populator(batch.populator).populate(row, batch)
        except CannotPopulate as refused:
            raise Refused(
                f"Batch {visible(batch.name)} does not take the task: {visible(str(refused))}.",
                next_step=f"batchctl why batch:{typed(batch.name)}",
            ) from None


def _as(connection: str | None) -> str:
    return "as a command" if connection is None else f"as SQL on '{visible(connection)}'"


def _imagined(task: TaskWish, batch: BatchDefinition, populated: Populated) -> BatchInstance:
    about = imagined(batch)
    return replace(
        about, cycle_key=populated.cycle_key, data=populated.data, entity=task.entity, file_name=task.connection
    )


DESCRIPTION = "The task queue: Data is a command, or SQL for the connection that FileName names (batchctl task)"
BATCH: dict[str, JsonValue] = {
    "Seq": 1000,
    "OnFailure": OnFailure.CONTINUE.value,
    "MaxConcurrent": 1000,
    "DuplicateCheck": 0,
    "Description": DESCRIPTION,
}
STEP = {
    "ProcessControlSeq": 10,
    "ProcessName": "run the task",
    "ProcessType": PROCESS_TYPE,
    "Data1": "{Data2}",
    "Data2": "{Data3}",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedQueue:
    """What was done, or would be."""

    batch: str
    is_made: bool
    is_enabled: bool
    roles: tuple[str, ...]
    """Who may use it besides the owner of the tables and the controller, where the database has roles."""
    database: str
    """Which kind of database it is."""
    held: int
    """How many rows were there before it, and are paused."""
    dry_run: bool


def enable(actor: Actor, name: str, roles: Sequence[str], *, reason: str) -> OpenedQueue:
    """Make the task queue of an entity, or enable the one that there is; raises `Refused`."""
    checked_reason(reason)
    for role in roles:
        if not is_role_name(role):
            message = f"'{visible(role)}' is no name of a role: letters, digits and _, 41 at most."
            raise Refused(message, next_step="the same with --role NAME, once for each")

    def act(connection: Connection) -> OpenedQueue:
        every = definitions.all_batches(connection)
        takers = [one for one in every if name in {one.entity, one.name}]
        queue = next((one for one in takers if any(at.process_type == PROCESS_TYPE for at in one.steps)), None)
        if takers and queue is None:
            message = f"Batch {visible(takers[0].name)} is there and has no step of ProcessType 'task'."
            raise Refused(message, next_step="the same with --entity, and another name")
        before = task_queues.roles(connection)
        after = tuple(dict.fromkeys((*before, *roles)))
        now = actor.clock.now()
        held = 0 if queue is not None else intake.count_without_instance(connection, name)
        if queue is not None and not queue.enabled:
            _refuse_to_start(connection, every, queue, now)
        if not actor.dry_run:
            if queue is None:
                columns: dict[str, JsonValue] = {"ProcessBatchName": name, **BATCH}
                sql_job_rows.add_step(connection, sql_job_rows.add_batch(connection, columns), STEP)
                intake.hold_without_instance(connection, name, task_queues.HELD, now)
                actor.note(connection, "task enable", batch_target(name), reason, {}, columns)
            elif definitions.set_enabled(connection, queue.batch_id, now, enabled=True):
                was, became = {"Enabled": 0}, {"Enabled": 1}
                actor.note(connection, "task enable", batch_target(queue.name), reason, was, became)
            if after != before:
                task_queues.set_roles(connection, after, now)
                was_value, value = ", ".join(before), ", ".join(after)
                target = f"Setting:{task_queues.ROLES}"
                actor.note(connection, "task enable", target, reason, {"Value": was_value}, {"Value": value})
        return OpenedQueue(
            batch=name if queue is None else queue.name,
            is_made=queue is None,
            is_enabled=queue is not None and not queue.enabled,
            roles=after,
            database=task_queues.kind_of_database(connection),
            held=held,
            dry_run=actor.dry_run,
        )

    return actor.act(act)


def _refuse_to_start(
    connection: Connection, every: Sequence[BatchDefinition], queue: BatchDefinition, now: datetime
) -> None:
    """Raise `Refused` where a disabled queue would carry something out at once: `enable` says what becomes of it."""
    as_enabled = [replace(one, enabled=True) if one is queue else one for one in every]
    waiting = releasing.backlog(connection, as_enabled, [queue.name], now)
    if waiting.total:
        enable_it = f"batchctl enable {typed(queue.name)} --reason ..."
        raise Refused(
            f"Batch {visible(queue.name)} is disabled, and tasks wait. {waiting.wording}",
            next_step=f"{enable_it} --release none   (it pauses them; --release all lets them run)",
        )
