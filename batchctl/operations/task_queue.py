"""Making the task queue: on purpose, with a reason, and with the roles that may use it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from batchctl.domain.errors import Refused
from batchctl.domain.records import JsonValue
from batchctl.domain.rows import BatchDefinition
from batchctl.domain.status import OnFailure
from batchctl.domain.text import typed, visible
from batchctl.operations.intervene import batch_target
from batchctl.operations.operators import releasing
from batchctl.operations.operators.acts import Actor, checked_reason
from batchctl.operations.task_connections import PROCESS_TYPE
from batchctl.store import sql_job_rows, task_queues
from batchctl.store.definitions import definitions
from batchctl.store.intake import intake
from batchctl.store.maintenance.roles import is_role_name

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

    def act(connection: Any) -> OpenedQueue:
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


def _refuse_to_start(connection: Any, every: Sequence[BatchDefinition], queue: BatchDefinition, now: datetime) -> None:
    """Raise `Refused` where a disabled queue would carry something out at once: `enable` says what becomes of it."""
    as_enabled = [replace(one, enabled=True) if one is queue else one for one in every]
    waiting = releasing.backlog(connection, as_enabled, [queue.name], now)
    if waiting.total:
        enable_it = f"batchctl enable {typed(queue.name)} --reason ..."
        raise Refused(
            f"Batch {visible(queue.name)} is disabled, and tasks wait. {waiting.wording}",
            next_step=f"{enable_it} --release none   (it pauses them; --release all lets them run)",
        )
