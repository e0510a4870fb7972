"""`ProcessBatch.ProcessingMode`: whether a schedule or a data trigger may start the batches of its entity."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from batchctl.domain.rows import BatchDefinition
from batchctl.domain.status import ProcessingMode


def is_scheduled(mode: ProcessingMode | None) -> bool:
    """Say whether schedules may start a batch of this mode; without one whatever is written may."""
    return mode in {None, ProcessingMode.SCHEDULED}


def is_triggered(mode: ProcessingMode | None) -> bool:
    """Say the same of data triggers."""
    return mode in {None, ProcessingMode.TRIGGERED}


def lets_schedules(takers: Collection[BatchDefinition]) -> bool:
    """Say whether any of the batches that take an entity lets a schedule start it; where there is none, nobody minds."""
    return not takers or any(is_scheduled(batch.mode) for batch in takers)


def lets_triggers(takers: Collection[BatchDefinition]) -> bool:
    """Say the same of data triggers."""
    return not takers or any(is_triggered(batch.mode) for batch in takers)


def takers_of(entity: str, batches: Iterable[BatchDefinition]) -> tuple[BatchDefinition, ...]:
    """Return the batches that take an entity."""
    return tuple(batch for batch in batches if batch.entity == entity)


def mode_word(mode: ProcessingMode | None) -> str:
    """Return what people call a mode."""
    return "any" if mode is None else mode.value
