"""Where an instance stands in its batch: what its gates depend on, for whoever explains them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from itertools import takewhile
from typing import Any

from batchctl.domain import gates
from batchctl.domain.rows import BatchDefinition, BatchId, BatchInstance
from batchctl.domain.status import OnFailure
from batchctl.store import instances, reports

PAGE = 50
AHEAD_AT_ONCE = 50


def gates_of(
    connection: Any, instance: BatchInstance, batches: Mapping[BatchId, BatchDefinition], now: datetime
) -> tuple[gates.Gate, ...]:
    """Return every gate of an instance as the controller would find it at this moment."""
    batch = batches[instance.batch_id]
    standing = gates.Standing(
        now=now,
        places=_places(connection, instance, batch, now),
        ahead=_ahead(connection, instance, batch, now),
        stop_all=stopper(connection, batches, instance),
    )
    return gates.gates(instance, batch, standing)


def stopper(
    connection: Any, batches: Mapping[BatchId, BatchDefinition], besides: BatchInstance | None = None
) -> BatchInstance | None:
    """Return the failure that stops everything else, if a batch with OnFailure stop_all has one."""
    stopping = {key for key, batch in batches.items() if batch.on_failure is OnFailure.STOP_ALL}
    if not stopping:
        return None
    own = None if besides is None else besides.instance_id
    standing = instances.standing_failures(connection)
    return next((at for at in standing if at.batch_id in stopping and at.instance_id != own), None)


def _ahead(
    connection: Any, instance: BatchInstance, batch: BatchDefinition, now: datetime
) -> BatchInstance | None:
    earlier = reports.may_hold_up(connection, batch.batch_id, instance.instance_id, now, AHEAD_AT_ONCE)
    return next((at for at in earlier if gates.makes_later_wait(at, batch, now)), None)


def _places(connection: Any, instance: BatchInstance, batch: BatchDefinition, now: datetime) -> int:
    """Return how many places are left for an instance once those before it have theirs."""
    others = [at for at in instances.claimed(connection) if at.batch_id == batch.batch_id]
    free = batch.max_concurrent - sum(1 for at in others if at.instance_id != instance.instance_id)
    if not batch.enabled or free <= 0:
        return free
    before = takewhile(lambda at: at.instance_id < instance.instance_id, _open_of(connection, batch))
    return free - sum(1 for _ in gates.startable(batch, before, now=now, places=free))


def _open_of(connection: Any, batch: BatchDefinition) -> Iterator[BatchInstance]:
    after = 0
    while page := instances.open_of(connection, batch.batch_id, after, PAGE):
        yield from page
        after = page[-1].instance_id
