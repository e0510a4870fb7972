"""`ProcessBatch.ProcessingMode`: what may start the work of an entity besides people, files and dependencies."""

from __future__ import annotations

from collections.abc import Iterable

from batchctl.domain.rows import BatchDefinition
from batchctl.domain.status import ProcessingMode


def lets_schedules(mode: ProcessingMode | None) -> bool:
    """Say whether schedules may start a batch of this mode; without one whatever is written may."""
    return mode in {None, ProcessingMode.SCHEDULED}


def lets_triggers(mode: ProcessingMode | None) -> bool:
    """Say the same of data triggers."""
    return mode in {None, ProcessingMode.TRIGGERED}


def takers_of(entity: str, batches: Iterable[BatchDefinition]) -> tuple[BatchDefinition, ...]:
    """Return the batches that take an entity."""
    return tuple(batch for batch in batches if batch.entity == entity)


def schedules_may_start(takers: Iterable[BatchDefinition]) -> bool:
    """Say whether schedules may start an entity with these batches: one that lets them is enough."""
    return any(lets_schedules(batch.mode) for batch in takers)


def triggers_may_start(takers: Iterable[BatchDefinition]) -> bool:
    """Say the same of data triggers."""
    return any(lets_triggers(batch.mode) for batch in takers)


def mode_word(mode: ProcessingMode | None) -> str:
    """Return what people call a mode."""
    return "any" if mode is None else mode.value
