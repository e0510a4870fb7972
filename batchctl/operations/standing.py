"""Where an instance stands in its batch: what its gates depend on, for whoever explains them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from itertools import takewhile
from typing import Any

from batchctl.domain import gates
from batchctl.domain.occupancy import Occupancy
from batchctl.domain.rows import BatchDefinition, BatchId, BatchInstance
from batchctl.domain.status import OnFailure
from batchctl.store import instances, limits, reports

PAGE = 50
AHEAD_AT_ONCE = 50


@dataclass(frozen=True)
class Line:
    """Everybody who stands in line at this moment, as the controller would find them."""

    connection: Any
    batches: Mapping[BatchId, BatchDefinition]
    now: datetime

    def gates_of(self, instance: BatchInstance) -> tuple[gates.Gate, ...]:
        """Return every gate of an instance."""
        batch = self.batches[instance.batch_id]
        standing = gates.Standing(
            now=self.now,
            places=self._places(instance, batch),
            ahead=self._ahead(instance, batch),
            stop_all=gates.stopper(instance, self.stoppers),
            others=self._others(instance),
        )
        return gates.gates(instance, batch, standing)

    def open_of(self, batch: BatchDefinition) -> Iterator[BatchInstance]:
        """Yield a batch's open instances in order of creation, a page at a time."""
        after = 0
        while page := instances.open_of(self.connection, batch.batch_id, after, PAGE):
            yield from page
            after = page[-1].instance_id

    def _others(self, instance: BatchInstance) -> Occupancy:
        """Return what is claimed besides an instance."""
        others = (at.batch_id for at in self._claimed if at.instance_id != instance.instance_id)
        return Occupancy(Counter(others), self.batches, self._limit)

    @cached_property
    def _limit(self) -> int | None:
        return limits.overall(self.connection)

    @cached_property
    def _claimed(self) -> list[BatchInstance]:
        return instances.claimed(self.connection)

    @cached_property
    def stoppers(self) -> list[BatchInstance]:
        """The failures that stop everything, because their batch says OnFailure stop_all."""
        stopping = {key for key, batch in self.batches.items() if batch.on_failure is OnFailure.STOP_ALL}
        found = instances.standing_failures(self.connection) if stopping else ()
        return [instance for instance in found if instance.batch_id in stopping]

    def _ahead(self, instance: BatchInstance, batch: BatchDefinition) -> BatchInstance | None:
        earlier = reports.may_hold_up(self.connection, batch.batch_id, instance.instance_id, self.now, AHEAD_AT_ONCE)
        return next((at for at in earlier if gates.makes_later_wait(at, batch, self.now)), None)

    def _places(self, instance: BatchInstance, batch: BatchDefinition) -> int:
        """Return how many places are left for an instance once those before it have theirs."""
        others = [at for at in self._claimed if at.batch_id == batch.batch_id]
        free = batch.max_concurrent - sum(1 for at in others if at.instance_id != instance.instance_id)
        if not gates.is_open(batch, self.now) or free <= 0:
            return free
        before = takewhile(lambda at: at.instance_id < instance.instance_id, self.open_of(batch))
        return free - sum(1 for _ in gates.startable(batch, before, now=self.now, places=free, failures=self.stoppers))
