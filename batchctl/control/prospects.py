"""What may start, as far as one controller knows without looking."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from batchctl.control.claiming import CHANGED
from batchctl.domain.errors import BatchctlError, Refused
from batchctl.domain.rows import BatchId, InstanceId
from batchctl.domain.text import visible


@dataclass(slots=True)
class Prospects:
    """It looks only where there may be something."""

    are_open: bool = True
    """True while something may start, as far as is known."""
    likely: frozenset[BatchId] = frozenset()
    """Batches of which something may start, as it seems."""
    next_due: datetime | None = None
    parked: dict[InstanceId, str] = field(default_factory=dict)
    """Instances that could not be claimed, and why; they are tried again when something has changed."""
    claims_singly: bool = False
    """True while what was refused in the last transaction may be a claim."""

    @property
    def refused(self) -> BatchctlError | None:
        """Say what keeps an instance from being claimed that may start, if anything does."""
        for instance_id, reason in self.parked.items():
            if reason != CHANGED:
                said = visible(reason.partition("\n")[0])
                message = f"BatchControl {instance_id} may start, and what would begin it is refused: {said}."
                return Refused(message, next_step=f"batchctl show {instance_id}   (correct what is refused)")
        return None

    def open(self) -> None:
        """Take note that something has changed: what was refused before is tried again."""
        self.parked.clear()
        self.are_open = True

    def found(self, batch_id: BatchId | None) -> bool:
        """Take note of what was found of which something may start; return whether there is any."""
        self.are_open = batch_id is not None
        self.likely = frozenset() if batch_id is None else frozenset({batch_id})
        return self.are_open
