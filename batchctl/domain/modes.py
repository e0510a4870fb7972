"""`ProcessBatch.ProcessingMode`: whether a schedule or a data trigger may start the batches of its entity."""

from __future__ import annotations

from collections.abc import Collection

from batchctl.domain.rows import BatchDefinition
from batchctl.domain.status import ProcessingMode


def lets_schedules(takers: Collection[BatchDefinition]) -> bool:
    """Say whether any of the batches that take an entity lets a schedule start it; where there is none, nobody minds."""
    return not takers or any(batch.mode in {None, ProcessingMode.SCHEDULED} for batch in takers)


def lets_triggers(takers: Collection[BatchDefinition]) -> bool:
    """Say the same of data triggers."""
    return not takers or any(batch.mode in {None, ProcessingMode.TRIGGERED} for batch in takers)
