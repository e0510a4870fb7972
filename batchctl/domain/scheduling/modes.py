"""`ProcessBatch.ProcessingMode`: whether a schedule or a data trigger may start the batches of its entity."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from batchctl.domain.rows import BatchDefinition
from batchctl.domain.status import ProcessingMode


def is_scheduled(mode: ProcessingMode | None) -> bool:
    """Say whether schedules may start a batch of this mode; without a mode they may."""
    return mode in {None, ProcessingMode.SCHEDULED}


def is_triggered(mode: ProcessingMode | None) -> bool:
    """Say whether data triggers may start a batch of this mode; without a mode they may."""
    return mode in {None, ProcessingMode.TRIGGERED}


def lets_schedules(takers: Collection[BatchDefinition]) -> bool:
    """Say whether any batch that takes an entity lets a schedule start it; true where there is no such batch."""
    return not takers or any(is_scheduled(batch.mode) for batch in takers)


def lets_triggers(takers: Collection[BatchDefinition]) -> bool:
    """Say whether any of them lets a data trigger start it; true where there is no such batch."""
    return not takers or any(is_triggered(batch.mode) for batch in takers)


def takers_of(entity: str, batches: Iterable[BatchDefinition]) -> tuple[BatchDefinition, ...]:
    """Return the batches that take an entity."""
    return tuple(batch for batch in batches if batch.entity == entity)


def mode_word(mode: ProcessingMode | None) -> str:
    """Return the name of a mode for people."""
    return "any" if mode is None else mode.value
