"""A night in virtual time: when each instance starts and ends, by the rules by which controllers claim and go on.

Time is in milliseconds from now. How long each attempt takes, and how it ends, is given: the same lengths give the same night.
"""

from __future__ import annotations

from bisect import insort
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from heapq import heappop, heappush

from batchctl.domain import moves
from batchctl.domain.operators.pools import Pools
from batchctl.domain.rows import BatchDefinition, BatchId, ResourceId
from batchctl.domain.scheduling.pace import MINUTE
from batchctl.domain.status import DependencyMode, OnFailure
from batchctl.domain.values import named_value, value

PACE = MINUTE.seconds * 1000
_END, _COME, _WAKE = range(3)


@value
class Tries:
    """The attempts at one step: how long each took; all but the last have failed, and the last, too, unless it `succeeds`."""

    lengths: tuple[int, ...]
    succeeds: bool = True


Lengths = Callable[[BatchId, int, int], Tries]
"""Says for a batch and a ProcessControlSeq what the attempts at the step come to, of which the first has run for so long."""


@named_value
class VirtualInstance:
    """An instance that is there, or that will come."""

    batch_id: BatchId
    cycle_key: str | None = None
    comes: int = 0
    """When it comes; 0 for one that is there."""
    last_seq: int = 0
    """Its last completed step."""
    not_before: int = 0
    under_way: int | None = None
    """The ProcessControlSeq of the step that is under way; None where none is."""
    elapsed: int = 0
    """How long it has been."""
    failures: int = 0
    """How often its next step has failed."""
    stands: bool = False
    """Whether it needs a person before it goes on."""
    after: int | None = None
    """The number of the instance whose end has started it, where it is one of these."""


class StartCause(StrEnum):
    """What decides when an instance starts."""

    COMES = "arrival"
    AFTER = "dependency"
    RETRY = "retry"
    OPENS = "freeze"
    LINE = "the one before it"
    CONCURRENT = "MaxConcurrent"
    PACE = "MaxPerMinute"
    RESOURCE = "resource"
    POOL = "pool"
    SLOTS = "slots"
    STOPPED = "stop_all"


_OF_ONE = {StartCause.POOL, StartCause.STOPPED}
"""What keeps an instance waiting, and not those of its batch behind it."""


@value
class Reason:
    """Why an instance did not start earlier, by which name, and the instance whose end let it start."""

    cause: StartCause
    name: str | None = None
    by: int | None = None


@dataclass(frozen=True, slots=True)
class Replayed:
    """One night as it came to pass. Lists go by the numbers of the instances; those that dependencies start come last."""

    instances: Sequence[VirtualInstance]
    starts: Sequence[int | None]
    ends: Sequence[int | None]
    """When each completes; None where that takes a person."""
    reasons: Sequence[Reason]
    longest: Sequence[int | None]
    """The ProcessControlSeq of the step that took longest."""

    def way_to(self, number: int) -> Iterator[int]:
        """Yield the instances that decide when one ends, the last first."""
        seen = set[int]()
        at: int | None = number
        while at is not None and at not in seen:
            seen.add(at)
            yield at
            at = self.reasons[at].by


@dataclass(frozen=True, slots=True, kw_only=True)
class VirtualNight:
    """What a replay begins with."""

    batches: Mapping[BatchId, BatchDefinition]
    instances: Sequence[VirtualInstance]
    opens: Mapping[BatchId, int | None] = field(default_factory=dict)
    """When batches may start again that are frozen; None for one that only a person opens."""
    waiting: Iterable[tuple[BatchId, BatchId, str | None]] = ()
    """What has completed and waits for others: the batch that waits, the one that has completed, and the CycleKey."""
    slots: int | None = None
    """How many instances all controllers together have under way at most."""
    pools: Pools = field(default_factory=Pools)
    served: frozenset[str] | None = None
    """The pools that controllers serve; None for all."""

    def replay(self, lengths: Lengths) -> Replayed:
        """Let the night pass."""
        walk = _Walk(self, lengths)
        walk.run()
        return Replayed(walk.instances, walk.starts, walk.ends, walk.reasons, walk.longest)


class _Standing:
    """A batch as it stands at one moment of the night."""

    def __init__(self, batch: BatchDefinition, opens: int | None) -> None:
        self.batch, self.opens, self.steps = batch, opens, batch.steps
        self.rank = (batch.seq, -(batch.priority or 0))
        self.pools = [batch.pool_of(step) for step in batch.steps]
        self.claimed, self.turn = 0, 0
        self.line: list[tuple[int, int]] = []
        """What stands in line: the order in which it was created, and its number."""
        self.begun: dict[int, int] = {}
        """When instances were begun last."""
        self.offered: dict[str | None, dict[BatchId, int]] = defaultdict(dict)
        """By CycleKey, which of the batches that it waits for have completed how often without being used."""


class _Walk:
    """One night under way."""

    def __init__(self, night: VirtualNight, lengths: Lengths) -> None:
        self.night, self.lengths = night, lengths
        self.instances = [*night.instances]
        many = len(self.instances)
        self.starts: list[int | None] = [None] * many
        self.ends: list[int | None] = [None] * many
        self.reasons = [
            Reason(StartCause.COMES if one.after is None else StartCause.AFTER, None, one.after)
            for one in self.instances
        ]
        self.longest: list[int | None] = [None] * many
        self._most = [-1] * many
        self._at = [0] * many
        self._not_before = [one.not_before for one in self.instances]
        self._tried = [0] * many
        self._tries: list[Tries | None] = [None] * many
        self._left = [0] * many
        self._order: list[int | None] = [None] * many
        self._stands = [one.stands for one in self.instances]
        self._blocked: list[Reason | None] = [None] * many
        self._batches = {
            key: _Standing(batch, night.opens.get(key, 0) if batch.enabled else None)
            for key, batch in night.batches.items()
        }
        self._held: dict[ResourceId, int] = defaultdict(int)
        self._in_pools: dict[str, int] = defaultdict(int)
        named = {name for each in self._batches.values() for name in each.pools}
        served = named if night.served is None else named & night.served
        self._room = {name: self._most_in(name) for name in served if night.pools.is_open(name)}
        self._total, self._turns, self._now, self._created, self._begun = 0, 0, 0, 0, 0
        self._events: list[tuple[int, int, int, int]] = []
        """When what happens to which instance; what happens at the same time does in the order in which it was begun."""
        self._coming = list[int]()
        self._active = set[BatchId]()
        self._stopping = set[int]()
        self._stops = frozenset[int]()
        self._ended: int | None = None

    def run(self) -> None:
        """Let everything happen, one moment after the other."""
        for waiting, completed, key in self.night.waiting:
            if waiting in self._batches:
                self._offer(self._batches[waiting], completed, key, None)
        for number, one in enumerate(self.night.instances):
            if one.batch_id in self._batches:
                self._enter(number, one)
        for each in self._batches.values():
            if each.opens:
                self._expect(each.opens, _WAKE)
        self._dispatch()
        while self._events:
            self._now, self._ended = self._events[0][0], None
            self._happen()
            self._dispatch()
            # What comes is created once the ends are recorded: what was in line already goes first.
            coming, self._coming = self._coming, []
            for number in coming:
                self._line_up(number)
            if coming:
                self._dispatch()

    def _expect(self, at: int, kind: int, number: int = -1) -> None:
        self._begun += 1
        heappush(self._events, (at, self._begun, kind, number))

    def _happen(self) -> None:
        """Let everything end that ends now."""
        events = self._events
        while events and events[0][0] == self._now:
            _, _, kind, number = heappop(events)
            if kind == _COME:
                self._coming.append(number)
            elif kind == _END and self._has_failed(number):
                self._fail(number)
            elif kind == _END:
                self._go_on(number, self._at[number] + 1)

    def _enter(self, number: int, one: VirtualInstance) -> None:
        standing = self._batches[one.batch_id]
        seqs = [step.seq for step in standing.steps]
        wanted = one.under_way if one.under_way is not None else next((s for s in seqs if s > one.last_seq), None)
        self._at[number] = seqs.index(wanted) if wanted in seqs else len(seqs)
        self._tried[number] = 0
        self._left[number] = self._allowed(standing, self._at[number]) - one.failures
        if one.comes > 0:
            self._expect(one.comes, _COME, number)
        elif one.under_way is not None:
            self._created += 1
            self._order[number] = self._created
            self._claim(standing)
            self._begin(number, standing)
        else:
            self._line_up(number)

    def _line_up(self, number: int) -> None:
        batch_id = self.instances[number].batch_id
        order = self._order[number]
        if order is None:
            self._created += 1
            order = self._order[number] = self._created
        insort(self._batches[batch_id].line, (order, number))
        self._active.add(batch_id)
        if self._not_before[number] > self._now:
            self._expect(self._not_before[number], _WAKE, number)
        if self._stands[number] and self._batches[batch_id].batch.on_failure is OnFailure.STOP_ALL:
            self._stopping.add(number)

    def _allowed(self, standing: _Standing, at: int) -> int:
        if at >= len(standing.steps):
            return 0
        step = standing.steps[at]
        return standing.batch.retry_count if step.retry_count is None else step.retry_count

    # What happens to one instance

    def _claim(self, standing: _Standing) -> None:
        standing.claimed += 1
        self._total += 1
        for need in standing.batch.needs:
            self._held[need.resource_id] += need.capacity if need.exclusive else need.units

    def _release(self, standing: _Standing) -> None:
        standing.claimed -= 1
        self._total -= 1
        for need in standing.batch.needs:
            self._held[need.resource_id] -= need.capacity if need.exclusive else need.units

    def _begin(self, number: int, standing: _Standing) -> None:
        """Begin the next attempt at the step at which an instance is; one without a step is complete."""
        at = self._at[number]
        if self.starts[number] is None:
            self.starts[number] = self._now
        if at >= len(standing.steps):
            self._complete(number, standing)
            return
        self._in_pools[standing.pools[at]] += 1
        tried, tries = self._tried[number], self._tries[number]
        one = self.instances[number]
        elapsed = one.elapsed if one.under_way is not None and self._now == 0 else 0
        if tries is None:
            tries = self._tries[number] = self.lengths(one.batch_id, standing.steps[at].seq, elapsed)
        length = max(tries.lengths[min(tried, len(tries.lengths) - 1)] - elapsed, 0)
        if length > self._most[number]:
            self._most[number], self.longest[number] = length, standing.steps[at].seq
        self._expect(self._now + length, _END, number)

    def _has_failed(self, number: int) -> bool:
        """Note the end of an attempt, and say whether it has failed."""
        standing, at = self._batches[self.instances[number].batch_id], self._at[number]
        self._ended = number
        self._in_pools[standing.pools[at]] -= 1
        self._tried[number] += 1
        tries = self._tries[number]
        return tries is not None and not (tries.succeeds and self._tried[number] >= len(tries.lengths))

    def _fail(self, number: int) -> None:
        standing, at = self._batches[self.instances[number].batch_id], self._at[number]
        if self._left[number] > 0:
            self._retry(number, standing, at)
        elif standing.steps[at].may_be_passed:
            self._go_on(number, at + 1)
        else:
            self._stand(number, standing)

    def _retry(self, number: int, standing: _Standing, at: int) -> None:
        wait = moves.retry_wait(standing.batch, standing.steps[at], self._left[number])
        self._left[number] -= 1
        self._not_before[number] = self._now + round(wait.total_seconds() * 1000)
        self._blocked[number] = Reason(StartCause.RETRY)
        self._release(standing)
        self._line_up(number)
        if standing.batch.on_failure is OnFailure.STOP_ALL:
            self._stopping.add(number)

    def _stand(self, number: int, standing: _Standing) -> None:
        self._stands[number] = True
        self._release(standing)
        self._line_up(number)

    def _go_on(self, number: int, at: int) -> None:
        """Go on with the next step; where that is of another pool, or nothing new may start, it is claimed for that anew."""
        standing = self._batches[self.instances[number].batch_id]
        self._at[number], self._tried[number], self._tries[number] = at, 0, None
        self._left[number] = self._allowed(standing, at)
        if at >= len(standing.steps):
            self._complete(number, standing)
        elif standing.pools[at] == standing.pools[at - 1] and self._is_open(standing) and not self._stopping:
            self._begin(number, standing)
        else:
            self._release(standing)
            self._line_up(number)

    def _complete(self, number: int, standing: _Standing) -> None:
        self.ends[number] = self._now
        self._release(standing)
        one = self.instances[number]
        for dependent in standing.batch.dependents:
            if dependent in self._batches:
                self._offer(self._batches[dependent], one.batch_id, one.cycle_key, number)

    def _offer(self, waiting: _Standing, completed: BatchId, key: str | None, by: int | None) -> None:
        """Note that a batch has completed for a CycleKey, and create what that was lacking for."""
        if waiting.batch.is_in_cycle:
            return
        offered = waiting.offered[key]
        offered[completed] = offered.get(completed, 0) + 1
        needed = {one.depends_on for one in waiting.batch.dependencies}
        if waiting.batch.dependency_mode is DependencyMode.ALL and any(not offered.get(each) for each in needed):
            return
        for each in needed if waiting.batch.dependency_mode is DependencyMode.ALL else {completed}:
            offered[each] -= 1
        self._create(VirtualInstance(batch_id=waiting.batch.batch_id, cycle_key=key, comes=self._now, after=by))

    def _create(self, one: VirtualInstance) -> None:
        number = len(self.instances)
        self.instances.append(one)
        self.starts.append(None)
        self.ends.append(None)
        self.reasons.append(Reason(StartCause.AFTER, None, one.after))
        self.longest.append(None)
        self._most.append(-1)
        self._at.append(0)
        self._not_before.append(0)
        self._tried.append(0)
        self._tries.append(None)
        self._order.append(None)
        self._left.append(self._allowed(self._batches[one.batch_id], 0))
        self._stands.append(False)
        self._blocked.append(None)
        self._coming.append(number)

    # What starts

    def _dispatch(self) -> None:
        """Claim what may start, as controllers do."""
        stopping = -1
        # A retry that begins may be the end of what has stopped others.
        while self._active and stopping != (stopping := len(self._stopping)):
            self._claim_by_batch()

    def _claim_by_batch(self) -> None:
        """Claim batch by batch: by Seq and Priority, then that whose turn is longest ago."""
        batches, self._stops = self._batches, frozenset(self._stopping)
        for batch_id in sorted(self._active, key=lambda one: (batches[one].rank, batches[one].turn, one)):
            standing = batches[batch_id]
            if self._start(standing):
                self._turns += 1
                standing.turn = self._turns
            if not standing.line:
                self._active.discard(batch_id)

    def _start(self, standing: _Standing) -> bool:
        """Start what may start of one batch, in order."""
        if not self._is_open(standing):
            self._block(standing.line, Reason(StartCause.OPENS))
            return False
        started = list[int]()
        for at, number in [*standing.line]:
            if self._stands[number] or self._not_before[number] > self._now:
                if standing.batch.on_failure is not OnFailure.CONTINUE:
                    self._block(standing.line, Reason(StartCause.LINE))
                    break
                continue
            reason = self._wall(standing, number)
            if reason is None:
                started.append(number)
                standing.line.remove((at, number))
                self._started(number, standing)
                continue
            self._block([(at, number)], reason)
            if reason.cause not in _OF_ONE:
                self._block(standing.line, reason)
                break
        return bool(started)

    def _is_open(self, standing: _Standing) -> bool:
        return standing.opens is not None and standing.opens <= self._now

    def _wall(self, standing: _Standing, number: int) -> Reason | None:
        """Return what keeps an instance from starting now, if anything does."""
        batch, at = standing.batch, self._at[number]
        if self._stops and self._is_stopped(number):
            return Reason(StartCause.STOPPED)
        if standing.claimed >= batch.max_concurrent:
            return Reason(StartCause.CONCURRENT, batch.name)
        if self.night.slots is not None and self._total >= self.night.slots:
            return Reason(StartCause.SLOTS)
        for need in batch.needs:
            if self._held[need.resource_id] + (need.capacity if need.exclusive else need.units) > need.capacity:
                return Reason(StartCause.RESOURCE, need.name)
        if at < len(standing.steps) and not self._has_pool(standing.pools[at]):
            return Reason(StartCause.POOL, standing.pools[at])
        if at == 0 and batch.max_per_minute is not None and not self._has_pace(standing, batch.max_per_minute):
            return Reason(StartCause.PACE, batch.name)
        return None

    def _is_stopped(self, number: int) -> bool:
        """Say whether a failure keeps an instance from starting; its own retry may be the cure, and goes before later ones."""
        if number not in self._stops:
            return True
        mine = self._order[number] or 0
        return any(self._stands[each] or (self._order[each] or 0) < mine for each in self._stops - {number})

    def _has_pool(self, pool: str) -> bool:
        room = self._room.get(pool, 0)
        return room is None or self._in_pools[pool] < room

    def _most_in(self, pool: str) -> int | None:
        known = self.night.pools.by_name.get(pool)
        return None if known is None else known.max_concurrent

    def _has_pace(self, standing: _Standing, most: int) -> bool:
        lately = [at for at in standing.begun.values() if at > self._now - PACE]
        if len(lately) < most:
            return True
        self._expect(min(lately) + PACE, _WAKE)
        return False

    def _started(self, number: int, standing: _Standing) -> None:
        self._stopping.discard(number)
        blocked = self._blocked[number]
        if blocked is not None and self.starts[number] is None:
            self.reasons[number] = Reason(blocked.cause, blocked.name, self._ended)
        if self._at[number] == 0 and standing.batch.max_per_minute is not None:
            standing.begun[number] = self._now
        self._claim(standing)
        self._begin(number, standing)

    def _block(self, line: Iterable[tuple[int, int]], reason: Reason) -> None:
        for _, number in line:
            self._blocked[number] = reason
