"""Numbers and names that mean nothing, and rows that are there and cannot be read: the one is never taken for the other."""

from __future__ import annotations

from collections.abc import Iterable

from batchctl.domain.errors import NotFound, Refused
from batchctl.domain.rows import BatchDefinition, BatchId, InstanceId, IntakeId
from batchctl.domain.text import did_you_mean, visible
from batchctl.domain.unreadable import UnreadableRow
from batchctl.store import Connection, instances, reports, unreadable_columns
from batchctl.store.definitions import definitions
from batchctl.store.intake import intake
from batchctl.store.tables import batch_control, file_process

LISTED_MOST = 10


def intake_row(connection: Connection, intake_id: int) -> NotFound | Refused:
    """Say that there is no such FileProcess row, and whether the number is that of an instance; or what of it cannot be read."""
    if (row := unreadable_columns.of_number(connection, file_process, intake_id)) is not None:
        return Refused(f"{row.message}.", next_step=row.mend)
    missing = f"There is no FileProcess {intake_id}."
    found = instances.load(connection, InstanceId(intake_id))
    if found is None:
        return NotFound(missing, next_step="batchctl status")
    meant = f"Did you mean BatchControl {intake_id}, which was made of FileProcess {found.intake_id}?"
    return NotFound(f"{missing} {meant}", next_step=f"batchctl inbox show {found.intake_id}")


def instance(connection: Connection, instance_id: int, verb: str = "why") -> NotFound | Refused:
    """Say that there is no such instance, and whether the number is that of a FileProcess row, and what was made of it.

    Or what of it cannot be read. `verb` is a command that takes such a row too.
    """
    if (row := unreadable_columns.of_number(connection, batch_control, instance_id)) is not None:
        return Refused(f"{row.message}.", next_step=row.mend)
    missing = f"There is no BatchControl {instance_id}."
    if intake.load(connection, IntakeId(instance_id)) is None:
        return NotFound(missing, next_step="batchctl status")
    file = f"file:{instance_id}"
    meant = f"Did you mean FileProcess {instance_id}, which is {file}? {_made(connection, IntakeId(instance_id))}"
    return NotFound(f"{missing} {meant}", next_step=f"batchctl {verb} {file}")


def _made(connection: Connection, intake_id: IntakeId) -> str:
    made = [f"BatchControl {each.instance_id}" for each in reports.instances_of_intake(connection, intake_id)]
    if not made:
        return "No instance has been made of it."
    more = f", and {len(made) - LISTED_MOST} more" if len(made) > LISTED_MOST else ""
    return f"Its instances: {', '.join(made[:LISTED_MOST])}{more}."


def named(connection: Connection, batches: Iterable[BatchDefinition], name: str) -> BatchDefinition:
    """Return the batch of a name; raises `NotFound`, or `Refused` where its rows cannot be read."""
    batches = list(batches)
    found = next((batch for batch in batches if batch.name == name), None)
    if found is None:
        raise batch(connection, batches, name)
    return found


def batch(connection: Connection, batches: Iterable[BatchDefinition], name: str) -> NotFound | Refused:
    """Say that there is no such batch, or what of it cannot be read."""
    broken = definitions.read(connection).unreadable
    for row in broken:
        if row.batch == name:
            return of_batch_row(row)
    meant = visible(did_you_mean(name, [*(each.name for each in batches), *(row.batch for row in broken)]))
    return NotFound(f"There is no batch '{visible(name)}'.{meant}", next_step="batchctl batches")


def batch_of(connection: Connection, instance_id: int, batch_id: BatchId) -> NotFound | Refused:
    """Say that the batch of an instance is not there, or what of it cannot be read."""
    for row in definitions.read(connection).unreadable:
        if row.batch_id == batch_id:
            return of_batch_row(row)
    return instance(connection, instance_id)


def refuse_start(broken: Iterable[UnreadableRow], name: str) -> None:
    """Raise `Refused` where a row that starts work has a name and cannot be read."""
    for row in broken:
        if row.name == name:
            raise Refused(f"{row.message}. Until that is corrected it starts nothing.", next_step=row.mend)


def of_batch_row(row: UnreadableRow) -> Refused:
    """Say what of a batch cannot be read, and what comes of it."""
    return Refused(f"{row.message}. Until that is corrected the batch does nothing.", next_step=row.mend)
