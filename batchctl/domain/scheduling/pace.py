"""How many instances of a batch may be begun within a minute: `ProcessBatch.MaxPerMinute`."""

from __future__ import annotations

from datetime import datetime, timedelta

from batchctl.domain.rows import BatchDefinition, BatchInstance
from batchctl.domain.values import value

MINUTE = timedelta(seconds=60)


@value
class Pace:
    """How many instances of a batch were begun within the last minute, and how many may be."""

    most: int
    begun: int
    oldest: datetime | None
    """When the first of them was begun."""

    @property
    def left(self) -> int:
        """Return how many more may be begun now."""
        return max(0, self.most - self.begun)

    @property
    def next(self) -> datetime | None:
        """Return when another one may be begun at the earliest; None where one may be begun now."""
        return None if self.left > 0 or self.oldest is None else self.oldest + MINUTE

    def after(self, many: int, now: datetime) -> Pace:
        """Return the pace once some more have been begun."""
        return self if many == 0 else Pace(self.most, self.begun + many, now if self.oldest is None else self.oldest)


def begins(instance: BatchInstance, batch: BatchDefinition) -> bool:
    """Say whether to claim an instance is to begin it: its next step is the first of its batch."""
    return bool(batch.steps) and instance.last_seq < batch.steps[0].seq
