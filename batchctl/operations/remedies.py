"""What to do first about a row that was not taken in: accepting it unchanged only helps where a person decides."""

from __future__ import annotations

from collections.abc import Iterable

from batchctl.domain.rows import BatchDefinition, IntakeRow
from batchctl.domain.status import IntakeStatus
from batchctl.domain.text import visible


def to_take_in(row: IntakeRow, batches: Iterable[BatchDefinition]) -> str:
    """Return what to do so that a rejected or duplicate row is taken in."""
    accept = f"batchctl accept {row.intake_id} --reason ..."
    if row.status is not IntakeStatus.REJECTED:
        return accept
    takers = ", ".join(visible(batch.name) for batch in batches if batch.entity == row.entity)
    settings = f", or Populator and PopulatorArgs of batch {takers}" if takers else ""
    return f"correct FileName{settings} (UPDATE ...), then: {accept}"
