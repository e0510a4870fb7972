"""What is meant by an entity that no batch takes, and how to make a batch take it."""

from __future__ import annotations

from collections.abc import Collection

from batchctl.domain.rows import BatchDefinition
from batchctl.domain.text import did_you_mean, visible

TASK = "Task"
"""The entity of rows that contain what is run: its batch is only made on request."""
ENABLE_TASK = "batchctl task enable --reason ..."


def meant_by(entity: str, batches: Collection[BatchDefinition]) -> str:
    """Return, as a sentence that follows another, which entity may be meant by one that none of the batches takes."""
    if entity == TASK:
        return f" {ENABLE_TASK} makes the batch that does."
    for batch in batches:
        if batch.name.casefold() == entity.casefold() != batch.entity.casefold():
            return f" Batch {visible(batch.name)} takes entity '{visible(batch.entity)}'."
    return visible(did_you_mean(entity, {batch.entity for batch in batches}))


def to_register(entity: str) -> str:
    """Return how to let a batch take an entity."""
    return ENABLE_TASK if entity == TASK else "register a batch that takes it"
