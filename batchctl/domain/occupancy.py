"""How much of what is limited is taken: always computed from the claimed rows, never stored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from batchctl.domain.rows import BatchDefinition, BatchId, Need, ResourceId


@dataclass(frozen=True, slots=True)
class Occupancy:
    """The claimed instances of each batch, and how many there may be of all batches together."""

    claimed: Mapping[BatchId, int]
    batches: Mapping[BatchId, BatchDefinition]
    limit: int | None = None

    @property
    def total(self) -> int:
        """Return how many instances are claimed."""
        return sum(self.claimed.values())

    def places(self, batch: BatchDefinition) -> int:
        """Return how many more instances of a batch may be claimed now."""
        free = batch.max_concurrent - self.claimed.get(batch.batch_id, 0)
        if self.limit is not None:
            free = min(free, self.limit - self.total)
        for need in batch.needs:
            if free <= 0:
                break
            free = min(free, self.room(need))
        return free

    def room(self, need: Need) -> int:
        """Return how many more instances with this need its resource has units for."""
        held = self.holders(need.resource_id)
        if need.exclusive:
            return 0 if held or need.units > need.capacity else 1
        if any(theirs.exclusive for _, theirs, _ in held):
            return 0
        left = need.capacity - sum(count * theirs.units for _, theirs, count in held)
        return max(0, left // need.units)

    def holders(self, resource_id: ResourceId) -> list[tuple[BatchDefinition, Need, int]]:
        """Return the batches that hold units of a resource, with the number of their claimed instances."""
        found = ((self.batches[key], count) for key, count in self.claimed.items() if count and key in self.batches)
        return [
            (batch, need, count) for batch, count in found for need in batch.needs if need.resource_id == resource_id
        ]
