"""Where an instance stands in its batch: what its gates depend on, for the commands that explain them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from itertools import takewhile

from batchctl.domain import gates
from batchctl.domain.gates import Holder
from batchctl.domain.occupancy import Occupancy
from batchctl.domain.operators.confirmations import Confirmation
from batchctl.domain.operators.pools import PoolsInUse, pool_of
from batchctl.domain.rows import DEFAULT_POOL, BatchDefinition, BatchId, BatchInstance, ControllerRow, InstanceId
from batchctl.domain.scheduling.pace import Pace, begins
from batchctl.domain.status import STANDING_FAILURE, InstanceStatus, OnFailure
from batchctl.store import Connection, history, instances, limits, pool_rows, reports
from batchctl.store.operators import confirmation_rows
from batchctl.store.unreadable_columns import for_any_client

PAGE = 50
AHEAD_AT_ONCE = 50


@dataclass(frozen=True)
class WaitingLine:
    """The instances in line at this moment, as a controller would find them."""

    connection: Connection
    batches: Mapping[BatchId, BatchDefinition]
    """In the order in which a controller looks at them."""
    now: datetime
    controllers: Sequence[ControllerRow] = ()
    """The controllers that run; none given means that it is not looked who else would take their slots."""
    serving: Sequence[ControllerRow] = ()
    """Those whose pools and slots are looked at where that is not."""
    _asked: dict[BatchId, list[BatchInstance]] = field(default_factory=dict)
    """By batch, the instances of other batches that are claimed before its own, as far as reckoned yet."""

    def gates_of(self, instance: BatchInstance) -> tuple[gates.Gate, ...]:
        """Return every gate of an instance."""
        batch = self.batches[instance.batch_id]
        claimed = [at for at in self._claimed if at.instance_id != instance.instance_id]
        first = self._first(instance, batch)
        others = self._occupancy([*claimed, *first])
        # A failed instance that is looked at as if it were ready does not stop itself.
        fails = instance.status in STANDING_FAILURE
        stoppers = [at for at in self.stoppers if fails or at.instance_id != instance.instance_id]
        standing = gates.GateContext(
            now=self.now,
            places=batch.max_concurrent - others.claimed.get(batch.batch_id, 0),
            pace=self._pace(instance, batch, first),
            ahead=self._ahead(instance, batch, first),
            stop_all=gates.stopper(instance, stoppers),
            others=others,
            slots=self._slots(pool_of(instance, batch), claimed, first),
            last=history.last_entry(self.connection, instance.instance_id) if fails else None,
            question=self._question(instance),
            pools=self.pools,
            holders=() if others.places(batch) > 0 else tuple(self._holders(claimed, first)),
        )
        return tuple(for_any(self.connection, gate) for gate in gates.gates(instance, batch, standing))

    def _question(self, instance: BatchInstance) -> Confirmation | None:
        """Return the question that an instance waits with, if it is one that stands."""
        if instance.status is not InstanceStatus.PAUSED:
            return None
        return confirmation_rows.open_of(self.connection, instance.instance_id)

    def open_of(self, batch: BatchDefinition) -> Iterator[BatchInstance]:
        """Yield a batch's open instances in order of creation, a page at a time."""
        after = 0
        while page := instances.open_of(self.connection, batch.batch_id, after, PAGE):
            yield from page
            after = page[-1].instance_id

    def _first(self, instance: BatchInstance, batch: BatchDefinition) -> list[BatchInstance]:
        """Return the instances that a controller would claim before this one, of those that may take what it needs."""
        found = list(self._of_others(batch))
        places = self._occupancy([*self._claimed, *found]).places(batch)
        if gates.is_open(batch, self.now) and places > 0:
            earlier = takewhile(lambda at: at.instance_id < instance.instance_id, self.open_of(batch))
            pace = limits.pace(self.connection, batch, self.now)
            found += gates.startable(batch, earlier, now=self.now, places=places, failures=self.stoppers, pace=pace)
        return found

    def _of_others(self, batch: BatchDefinition) -> list[BatchInstance]:
        """Return the instances of batches before one, by Seq, that are claimed first and may take what it needs."""
        if batch.batch_id in self._asked:
            return self._asked[batch.batch_id]
        found = self._asked[batch.batch_id] = list[BatchInstance]()
        for other in takewhile(lambda at: at.batch_id != batch.batch_id, self.batches.values()):
            takes_slot = self._free_slots is not None and len(found) < self._free_slots
            shares = self._limit is not None or takes_slot or (batch.needs and other.needs)
            may_take = shares and gates.is_open(other, self.now)
            if may_take and (places := self._occupancy([*self._claimed, *found]).places(other)) > 0:
                line = self.open_of(other)
                pace = limits.pace(self.connection, other, self.now)
                found += gates.startable(other, line, now=self.now, places=places, failures=self.stoppers, pace=pace)
        return found

    def _pace(self, instance: BatchInstance, batch: BatchDefinition, first: Sequence[BatchInstance]) -> Pace | None:
        """Return how many of the batch will have been begun before an instance; None where it does not wait for that."""
        pace = limits.pace(self.connection, batch, self.now)
        if pace is None:
            return None
        starting = {at.instance_id for at in first}
        begun = sum(at.batch_id == batch.batch_id and begins(at, batch) for at in first)
        earlier = takewhile(lambda at: at.instance_id < instance.instance_id, self.open_of(batch))
        behind = (begins(at, batch) and not at.status.is_claimed and at.instance_id not in starting for at in earlier)
        return pace.after(begun, self.now) if begins(instance, batch) or any(behind) else None

    def _occupancy(self, taken: Iterable[BatchInstance]) -> Occupancy:
        return Occupancy(Counter(at.batch_id for at in taken), self.batches, self._limit)

    def _slots(
        self, pool: str | None, claimed: Iterable[BatchInstance], first: Sequence[BatchInstance]
    ) -> gates.Slots | None:
        """Return the slots of the controllers that serve a pool; None where none are given, or none serves it."""
        names = frozenset[str]() if self.pools is None else self.pools.serving.get(pool or DEFAULT_POOL, frozenset())
        serving = [one for one in self.controllers or self.serving if one.name in names]
        if not serving:
            return None
        count = sum(one.slots for one in serving)
        if self._free(serving) > len(first):
            return gates.Slots(count=count)
        theirs = [at for at in claimed if at.claimed_by in names]
        return gates.Slots(count=count, takers=tuple(self._holders(theirs, first)))

    def _holders(self, claimed: Sequence[BatchInstance], first: Sequence[BatchInstance]) -> Iterator[Holder]:
        for at in claimed:
            yield Holder(at.instance_id, at.batch_id, self._since.get(at.instance_id, at.updated_at))
        for at in first:
            yield Holder(at.instance_id, at.batch_id)

    @cached_property
    def _free_slots(self) -> int | None:
        """Return how many more instances the controllers take at this moment; None where no controllers are given."""
        return self._free(self.controllers) if self.controllers else None

    def _free(self, controllers: Iterable[ControllerRow]) -> int:
        claims = Counter(at.claimed_by for at in self._claimed)
        return sum(max(0, one.slots - claims[one.name]) for one in controllers)

    @cached_property
    def _since(self) -> Mapping[InstanceId, datetime]:
        return reports.claimed_since(self.connection)

    @cached_property
    def pools(self) -> PoolsInUse | None:
        """Return the pools with those that the controllers serve; None where no controllers are given."""
        serving = self.controllers or self.serving
        return pool_rows.in_use(self.connection, serving) if serving else None

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

    def _ahead(
        self, instance: BatchInstance, batch: BatchDefinition, first: Sequence[BatchInstance]
    ) -> BatchInstance | None:
        """Return an earlier instance that makes this one wait; one that starts first itself makes none wait."""
        # All instances of a batch ask for the same.
        most = AHEAD_AT_ONCE * (len(first) // AHEAD_AT_ONCE + 2)
        standing = reports.may_hold_up(self.connection, batch.batch_id, self.now, most)
        starting = {at.instance_id for at in first}
        earlier = takewhile(lambda at: at.instance_id < instance.instance_id, standing)
        waiting = (at for at in earlier if at.instance_id not in starting)
        return next((at for at in waiting if gates.makes_later_wait(at, batch, self.now)), None)


def for_any(connection: Connection, gate: gates.Gate) -> gates.Gate:
    """Return a gate that shows statements as every client of the database takes them."""
    shown = None if gate.clear is None else for_any_client(connection, gate.clear)
    return gate if shown == gate.clear else replace(gate, clear=shown)
