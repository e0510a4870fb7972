"""Why does it not run? Every gate of an instance, a batch or an intake row, from the code that decides."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from batchctl.domain import gates
from batchctl.domain.errors import NotFound
from batchctl.domain.gates import Gate
from batchctl.domain.rows import (
    BatchDefinition,
    BatchId,
    BatchInstance,
    HistoryEntry,
    InstanceId,
    IntakeId,
    IntakeRow,
    imagined,
)
from batchctl.domain.status import FINAL, DependencyMode, InstanceStatus, IntakeStatus
from batchctl.domain.text import did_you_mean, nearest, typed, visible
from batchctl.operations import remedies, unknown
from batchctl.operations.presence import Presence
from batchctl.operations.standing import Line
from batchctl.operations.starters import starters_of
from batchctl.operations.timetable import Timetable
from batchctl.ports import Clock, Transactions
from batchctl.store import definitions, dependencies, history, instances, intake, reports

MOST_WAITS = 20

_SCHEDULE = "schedule"
_NUMBER = re.compile(r"\d{1,18}\Z")


class NotAReference(NotFound):
    """What was typed does not even look like something that can be explained."""

    exit_code = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """What a thing is, how it stands, and each gate it has to pass."""

    subject: str
    status: str
    gates: tuple[Gate, ...]
    notes: tuple[str, ...] = ()

    @property
    def blocking(self) -> tuple[Gate, ...]:
        """Return the gates that hold it back."""
        return tuple(gate for gate in self.gates if gate.blocked is not None)


def why(
    transactions: Transactions, clock: Clock, presence: Presence, ref: str, timetable: Timetable | None = None
) -> Explanation:
    """Explain `42` (a BatchControl id), `batch:NAME` or `file:17` (a FileProcess id); of schedules a `timetable` tells."""
    kind, _, name = ref.rpartition(":") if not ref.startswith("batch:") else ("batch", ":", ref[6:])
    with transactions.read() as connection:
        batches = {batch.batch_id: batch for batch in definitions.all_batches(connection)}
        now = clock.now()
        match kind:
            case "batch":
                found = _of_batch(connection, batches, now, presence, name)
                starters = [] if timetable is None else starters_of(connection, timetable, name)
                return replace(found, notes=(*found.notes, *starters))
            case "file" if _NUMBER.match(name):
                return _of_intake(connection, batches, now, presence, IntakeId(int(name)))
            case "" if _NUMBER.match(name):
                return _of_instance(connection, batches, now, presence, InstanceId(int(name)))
            case _:
                near = nearest(ref, [batch.name for batch in batches.values()])
                meant = "" if near is None else f" Did you mean '{visible(f'batch:{near}')}'?"
                said = f"'{visible(ref)}' is neither a BatchControl id such as 42, nor batch:NAME, nor file:17."
                of_schedule = f"batchctl schedule test {typed(name)}"
                raise NotAReference(said + meant, next_step=of_schedule if kind == _SCHEDULE else "batchctl status")


def _of_instance(
    connection: Any,
    batches: Mapping[BatchId, BatchDefinition],
    now: datetime,
    presence: Presence,
    instance_id: InstanceId,
) -> Explanation:
    instance = instances.load(connection, instance_id)
    if instance is None:
        raise unknown.instance(connection, instance_id)
    batch = batches.get(instance.batch_id)
    if batch is None:
        missing = Gate(name="batch", blocked=f"ProcessBatch {instance.batch_id} does not exist", clear="batchctl check")
        return Explanation(subject=f"BatchControl {instance_id}", status=instance.status, gates=(missing,))
    found = Line(connection, batches, now).gates_of(instance)
    return Explanation(
        subject=f"BatchControl {instance_id} of batch {visible(batch.name)}",
        status=instance.status,
        gates=found if instance.status in FINAL else (*found, _controller(connection, presence, now)),
        notes=tuple(_about_next_step(instance, batch, history.last_entry(connection, instance_id))),
    )


def _about_next_step(instance: BatchInstance, batch: BatchDefinition, last: HistoryEntry | None) -> Iterable[str]:
    step = batch.step_after(instance.last_seq)
    if step is not None and instance.status not in FINAL:
        yield f"Its next step is {step.seq} '{visible(step.name)}'."
    if instance.status is InstanceStatus.RETRY and last is not None and last.message:
        yield f"Its last attempt: {visible(last.message)}"


def _of_batch(
    connection: Any, batches: Mapping[BatchId, BatchDefinition], now: datetime, presence: Presence, name: str
) -> Explanation:
    batch = next((batch for batch in batches.values() if batch.name == name), None)
    if batch is None:
        meant = did_you_mean(name, (batch.name for batch in batches.values()))
        raise NotFound(f"There is no batch '{visible(name)}'.{visible(meant)}", next_step="batchctl batches")
    subject, status = f"batch {visible(batch.name)}", "enabled" if batch.enabled else "disabled"
    line = Line(connection, batches, now)
    head = next(iter(instances.open_of(connection, batch.batch_id, 0, 1)), None)
    if head is None:
        # Only what concerns the batch itself is asked of an instance it might get.
        first = imagined(batch)
        standing_now = gates.Standing(now=now, places=1, stop_all=gates.stopper(first, line.stoppers))
        found = gates.gates(first, batch, standing_now)
        notes = (f"No instance of it is open. It takes entity '{visible(batch.entity)}'.",)
        found = (*_dependencies(connection, batch, batches, now), *found)
        return Explanation(
            subject=subject, status=status, gates=(*found, _controller(connection, presence, now)), notes=notes
        )
    found = line.gates_of(head)
    notes = (f"The gates are those of its first open instance, BatchControl {head.instance_id} ({head.status}).",)
    return Explanation(
        subject=subject, status=status, gates=(*found, _controller(connection, presence, now)), notes=notes
    )


def _dependencies(
    connection: Any, batch: BatchDefinition, batches: Mapping[BatchId, BatchDefinition], now: datetime
) -> Iterator[Gate]:
    """Yield what a batch waits for so that it can be started."""
    if not batch.dependencies:
        return
    if batch.is_in_cycle:
        message = "it depends on itself, by way of others or at once, so no completion starts it"
        yield Gate(name="dependency", blocked=message, clear="batchctl check")
        return
    waits = dependencies.waits(connection, batches, MOST_WAITS, now, of=batch.batch_id)
    for wait in waits:
        cycle = "without CycleKey" if wait.cycle_key is None else f"for {visible(wait.cycle_key)}"
        blocked = f"{cycle}, since {wait.since:%Y-%m-%d %H:%M} UTC: {wait.reason}"
        next_steps = [one.next_step for one in wait.lacking]
        yield Gate(name="dependency", blocked=blocked, clear=next_steps[0] if next_steps else "batchctl waits")
    if not waits:
        names = [visible(batches[one.depends_on].name) for one in batch.dependencies if one.depends_on in batches]
        which = (" and " if batch.dependency_mode is DependencyMode.ALL else " or ").join(names)
        blocked = f"no completion waits for it: it starts when {which} complete for the same CycleKey"
        yield Gate(name="dependency", blocked=blocked, clear=f"batchctl graph {visible(batch.name)}")


def _of_intake(
    connection: Any,
    batches: Mapping[BatchId, BatchDefinition],
    now: datetime,
    presence: Presence,
    intake_id: IntakeId,
) -> Explanation:
    row = intake.load(connection, intake_id)
    if row is None:
        raise unknown.intake_row(connection, intake_id)
    takers = [batch for batch in batches.values() if batch.entity == row.entity]
    made = reports.instances_of_intake(connection, intake_id)
    without = [batch for batch in takers if batch.batch_id not in {instance.batch_id for instance in made}]
    created = Gate(name="created")
    if without and row.status is IntakeStatus.READY:
        names = ", ".join(visible(batch.name) for batch in without)
        created = Gate(name="created", blocked=f"batch {names} has no instance of it yet", clear="batchctl create")
    open_ones = {instance.batch_id for instance in made if instance.status not in FINAL}
    unfinished = open_ones | {batch.batch_id for batch in without}
    listed = ", ".join(f"{instance.instance_id} ({instance.status})" for instance in made)
    notes = [f"Its instances: BatchControl {listed}." if made else "No instance has been made of it."]
    if takers:
        notes.append(f"Its entity is taken by: {', '.join(visible(batch.name) for batch in takers)}.")
    return Explanation(
        subject=f"FileProcess {intake_id} of entity '{visible(row.entity)}'",
        status=row.status,
        gates=(
            _intake_status(row, takers),
            _entity(row, takers, batches),
            created,
            *(_open(batches, unfinished, now) if row.status in _CONCERN_A_CONTROLLER else ()),
            _instances(made),
            *([_controller(connection, presence, now)] if row.status in _CONCERN_A_CONTROLLER else ()),
        ),
        notes=tuple(notes),
    )


def _open(batches: Mapping[BatchId, BatchDefinition], unfinished: Collection[BatchId], now: datetime) -> Iterator[Gate]:
    """Say which of the batches that have something to do for a row are disabled or frozen."""
    concerned = [batch for batch in batches.values() if batch.batch_id in unfinished]
    for name, found in (
        ("enabled", map(gates.enabled, concerned)),
        ("freeze", (gates.frozen(batch, now) for batch in concerned)),
    ):
        yield from [gate for gate in found if gate.blocked is not None] or [Gate(name=name)]


def _instances(made: Sequence[BatchInstance]) -> Gate:
    """Say which instances wait for a person; the row is complete only when all are."""
    stuck = [instance for instance in made if instance.status in _WAIT_FOR_A_PERSON]
    if not stuck:
        return Gate(name="instances")
    listed = ", ".join(f"BatchControl {instance.instance_id} is {instance.status}" for instance in stuck)
    return Gate(name="instances", blocked=listed, clear=f"batchctl why {stuck[0].instance_id}")


_WAIT_FOR_A_PERSON = {InstanceStatus.FAILED, InstanceStatus.HELD, InstanceStatus.PAUSED}
_CONCERN_A_CONTROLLER = {IntakeStatus.READY, IntakeStatus.PAUSED}


def _intake_status(row: IntakeRow, takers: list[BatchDefinition]) -> Gate:
    said = visible(row.message or "no reason was given")
    match row.status:
        case IntakeStatus.READY | IntakeStatus.COMPLETE:
            return Gate(name="status")
        case IntakeStatus.PAUSED:
            clear = remedies.to_take_in(row, takers)
            return Gate(name="status", blocked=remedies.PAUSED, clear=clear)
        case IntakeStatus.REJECTED | IntakeStatus.DUPLICATE:
            return Gate(name="status", blocked=f"{row.status}: {said}", clear=remedies.to_take_in(row, takers))


def _entity(row: IntakeRow, takers: list[BatchDefinition], batches: Mapping[BatchId, BatchDefinition]) -> Gate:
    if takers:
        return Gate(name="entity")
    blocked, clear = remedies.untaken(row, batches.values())
    return Gate(name="entity", blocked=blocked, clear=clear)


def _controller(connection: Any, presence: Presence, now: datetime) -> Gate:
    if presence.living(connection, now):
        return Gate(name="controller")
    return Gate(
        name="controller",
        blocked="no controller is running",
        clear="batchctl run   (or, for one pass: batchctl process)",
    )
