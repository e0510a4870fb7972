"""How batches stand, and what keeps one from ever completing unless a person acts."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated

from batchctl.domain.dependencies import graph
from batchctl.domain.operators import freezes
from batchctl.domain.rows import BatchDefinition, BatchId, InstanceId
from batchctl.domain.status import DependencyMode, InstanceStatus

_GOES_ON = {InstanceStatus.READY, InstanceStatus.RETRY, InstanceStatus.RUNNING, InstanceStatus.COMPLETE}


@dataclass(frozen=True, slots=True, kw_only=True)
class Stand:
    """The state of the instance that speaks for its batch."""

    batch_id: BatchId
    instance_id: InstanceId
    status: InstanceStatus
    last_seq: int
    cycle_key: str | None
    next_run_time: datetime
    changed_at: Annotated[datetime, "z_updated"]
    how_many: int = 1
    """How many of the batch are in the same status, this one among them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stands:
    """How all batches stand at one moment, for one CycleKey; nothing stands where all of it begins now."""

    batches: Sequence[BatchDefinition]
    now: datetime
    stands: Mapping[BatchId, Stand] = field(default_factory=dict)
    under_way: Collection[InstanceId] = ()
    """The instances that have a step under way."""
    stuck: Mapping[BatchId, Stand] = field(default_factory=dict)
    """Instances of any CycleKey that have failed or are held, and keep later ones of their batch waiting."""

    def blockers(self, target: BatchId) -> tuple[str, ...]:
        """Return what keeps a batch from completing: in it, or in what it waits for."""
        wanted = graph.upstream(self.batches, target) | {target}
        part = [batch for batch in self.batches if batch.batch_id in wanted]
        known, caught = {batch.batch_id: batch for batch in part}, graph.in_cycle(part)
        found: dict[BatchId, tuple[str, ...]] = {}
        for batch_id in (one for level in graph.levels(part) for one in level):
            batch, stand = known[batch_id], self.stands.get(batch_id)
            if stand is not None:
                found[batch_id] = tuple(self._of_instance(batch, stand))
            elif batch_id in caught:
                found[batch_id] = (*self._own(batch), f"{batch.name} waits for itself in a cycle")
            else:
                found[batch_id] = tuple(dict.fromkeys((*_before(batch, found), *self._own(batch))))
        return found[target]

    def _of_instance(self, batch: BatchDefinition, stand: Stand) -> Iterator[str]:
        if stand.status is InstanceStatus.COMPLETE:
            return
        if stand.instance_id not in self.under_way:
            yield from self._own(batch, stand)
        if stand.status not in _GOES_ON:
            yield f"{batch.name}: BatchControl {stand.instance_id} is {stand.status}"

    def _own(self, batch: BatchDefinition, stand: Stand | None = None) -> Iterator[str]:
        """Yield what keeps an instance of a batch, or a new one, from starting."""
        first = self.stuck.get(batch.batch_id)
        if first is not None and (stand is None or stand.instance_id > first.instance_id):
            yield f"{batch.name}: BatchControl {first.instance_id} is {first.status}, and what comes later waits for it"
        if not batch.enabled:
            yield f"{batch.name} is disabled"
        if freezes.holding(batch, self.now) is not None:
            yield f"{batch.name} is frozen"


def _before(batch: BatchDefinition, found: Mapping[BatchId, tuple[str, ...]]) -> tuple[str, ...]:
    """Return what keeps the batches from completing that one waits for; where any of them is enough, all of them."""
    others = [
        found.get(other, (f"{batch.name} depends on ProcessBatch {other}, which does not exist",))
        for other in graph.needs(batch)
    ]
    if batch.dependency_mode is not DependencyMode.ALL and not all(others):
        return ()
    return tuple(text for texts in others for text in texts)
