"""Numbers that mean nothing: those of FileProcess and of BatchControl are easily taken for each other."""

from __future__ import annotations

from typing import Any

from batchctl.domain.errors import NotFound
from batchctl.domain.rows import InstanceId, IntakeId
from batchctl.store import instances, intake, reports

LISTED_MOST = 10


def intake_row(connection: Any, intake_id: int) -> NotFound:
    """Say that there is no such FileProcess row, and whether the number is that of an instance."""
    missing = f"There is no FileProcess {intake_id}."
    found = instances.load(connection, InstanceId(intake_id))
    if found is None:
        return NotFound(missing, next_step="batchctl status")
    meant = f"Did you mean BatchControl {intake_id}, which was made of FileProcess {found.intake_id}?"
    return NotFound(f"{missing} {meant}", next_step=f"batchctl inbox show {found.intake_id}")


def instance(connection: Any, instance_id: int, verb: str = "why") -> NotFound:
    """Say that there is no such instance, and whether the number is that of a FileProcess row, and what was made of it.

    `verb` is a command that takes such a row too.
    """
    missing = f"There is no BatchControl {instance_id}."
    if intake.load(connection, IntakeId(instance_id)) is None:
        return NotFound(missing, next_step="batchctl status")
    row = f"file:{instance_id}"
    meant = f"Did you mean FileProcess {instance_id}, which is {row}? {_made(connection, IntakeId(instance_id))}"
    return NotFound(f"{missing} {meant}", next_step=f"batchctl {verb} {row}")


def _made(connection: Any, intake_id: IntakeId) -> str:
    made = [f"BatchControl {each.instance_id}" for each in reports.instances_of_intake(connection, intake_id)]
    if not made:
        return "No instance has been made of it."
    more = f", and {len(made) - LISTED_MOST} more" if len(made) > LISTED_MOST else ""
    return f"Its instances: {', '.join(made[:LISTED_MOST])}{more}."
