"""The connection of a task stands in the row that asks for it: one that is not configured is reported early."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator

from batchctl.domain.errors import Refused
from batchctl.domain.outcomes import Finding
from batchctl.domain.placeholders import MalformedTemplate, Placeholder, parse
from batchctl.domain.rows import BatchDefinition, BatchInstance, DataValues, InstanceId, IntakeRow, Populated, Step
from batchctl.domain.status import InstanceStatus
from batchctl.domain.text import did_you_mean, shorten, visible
from batchctl.store import Connection, instances

PROCESS_TYPE = "task"
LOOKED_AT = 100
"""How many open instances of each batch are looked at."""
LONGEST_SHOWN = 60

_REACHED = {InstanceStatus.FAILED, InstanceStatus.HELD, InstanceStatus.RETRY, InstanceStatus.PAUSED}
"""Where an instance can be run again with another value at once."""


def check(
    row: IntakeRow,
    takers: Iterable[BatchDefinition],
    known: Collection[str],
    populate: Callable[[IntakeRow, BatchDefinition], Populated],
) -> None:
    """Refuse a row whose task would fail for its connection; what populators of other kinds make of it is not known."""
    for batch in takers:
        if batch.populator != "pattern" or batch.populator_args:
            continue
        for step in (step for step in batch.steps if step.process_type == PROCESS_TYPE):
            wrong = _wrong(step, populate(row, batch).data, known)
            if wrong is not None:
                name, said = wrong
                message = f"{name} of the task would be what FileName says: {said}"
                raise Refused(message, next_step="the same with another --file; without one, Data is a command")


def findings(
    connection: Connection, batches: Iterable[BatchDefinition], known: Collection[str]
) -> Iterator[tuple[InstanceId, Finding]]:
    """Yield the open instances whose task names a connection that is not configured, and where to correct it."""
    for batch in batches:
        if any(step.process_type == PROCESS_TYPE for step in batch.steps):
            for instance in instances.open_of(connection, batch.batch_id, 0, LOOKED_AT):
                step = batch.step_after(instance.last_seq)
                wrong = None if step is None else _wrong(step, instance.data, known)
                if wrong is not None:
                    yield instance.instance_id, Finding(*wrong, _mending(instance, wrong[0]))


def _mending(instance: BatchInstance, name: str) -> str:
    at = instance.instance_id
    rerun = f"batchctl rerun {at} --set {name}=... --reason ..."
    return rerun if instance.status in _REACHED else f"batchctl pause {at}, then: {rerun}"


def _wrong(step: Step, data: DataValues, known: Collection[str]) -> tuple[str, str] | None:
    """Return which value of an instance names a connection that is not there, and what to say of that."""
    if step.process_type != PROCESS_TYPE:
        return None
    try:
        template = parse(step.data[0] or "")
    except MalformedTemplate:
        return None
    values = {f"Data{at}": value for at, value in enumerate(data, start=1)}
    match template:
        case (Placeholder(name),) if (value := values.get(name)) and value not in known:
            meant = visible(did_you_mean(value[:LONGEST_SHOWN], known))
            return name, f"connection '{visible(shorten(value, LONGEST_SHOWN))}' is not in the configuration.{meant}"
        case _:
            return None
