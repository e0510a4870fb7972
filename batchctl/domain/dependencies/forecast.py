"""When a batch should be done: the longest chain of what it waits for, by how long its steps took before."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from statistics import median
from typing import Annotated

from batchctl.domain.dependencies import graph
from batchctl.domain.operators import freezes
from batchctl.domain.rows import BatchDefinition, BatchId, InstanceId, Step
from batchctl.domain.status import DependencyMode, InstanceStatus

Recorded = Mapping[tuple[BatchId, int], timedelta]
"""How long each step, by its batch and ProcessControlSeq, usually takes."""

_GOES_ON = {InstanceStatus.READY, InstanceStatus.RETRY, InstanceStatus.RUNNING, InstanceStatus.COMPLETE}
_NOTHING = timedelta(0)


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


@dataclass(frozen=True, slots=True)
class LiveStep:
    """A step that is under way."""

    seq: int
    started_at: datetime


@dataclass(frozen=True, slots=True)
class Length:
    """The length of several steps together; of some only ExpectedDuration may be known, or nothing."""

    total: timedelta
    expected: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Leg:
    """What is left of one batch on the way to the one that is asked about."""

    batch: BatchDefinition
    starts: datetime
    ends: datetime
    length: Length
    after: BatchId | None = None
    """The batch whose end starts this one."""
    blockers: tuple[str, ...] = ()
    """What keeps it from ever completing, unless a person acts."""


@dataclass(frozen=True, slots=True)
class Forecast:
    """The longest chain up to a batch, in order; complete batches are not part of it."""

    legs: tuple[Leg, ...]

    @property
    def total(self) -> timedelta:
        """Return how long what is left of the chain takes, without what it waits for at its beginning."""
        return sum((leg.ends - leg.starts for leg in self.legs), _NOTHING)

    @property
    def finish(self) -> datetime | None:
        """Return when it should be done; None when that takes a person, or when it is done already."""
        return self.legs[-1].ends if self.legs and not self.blockers else None

    @property
    def blockers(self) -> tuple[str, ...]:
        """Return what keeps the last of the chain from completing."""
        return self.legs[-1].blockers if self.legs else ()


def usual(lengths: Iterable[timedelta]) -> timedelta:
    """Return the median: what took unusually long or short once does not change it."""
    return timedelta(seconds=median(length.total_seconds() for length in lengths))


def length(batch: BatchDefinition, recorded: Recorded, after: int = 0) -> Length:
    """Return how long the steps of a batch take that come after one."""
    return _length(batch, [step for step in batch.steps if step.seq > after], recorded)


def _length(batch: BatchDefinition, steps: Sequence[Step], recorded: Recorded) -> Length:
    total, expected, unknown = _NOTHING, list[str](), list[str]()
    for step in steps:
        known = recorded.get((batch.batch_id, step.seq))
        if known is None and step.expected_duration is not None:
            known = step.expected_duration
            expected.append(f"{batch.name}, step {step.seq}")
        elif known is None:
            unknown.append(f"{batch.name}, step {step.seq}")
        total += known or _NOTHING
    return Length(total, tuple(expected), tuple(unknown))


@dataclass(frozen=True, slots=True)
class Outlook:
    """What a forecast is made from: the state of everything for one CycleKey, or nothing if all of it begins now."""

    batches: Sequence[BatchDefinition]
    recorded: Recorded
    now: datetime
    stands: Mapping[BatchId, Stand]
    live: Mapping[InstanceId, LiveStep]
    stuck: Mapping[BatchId, Stand] = field(default_factory=dict)
    """Instances of any CycleKey that have failed or are held, and keep later ones of their batch waiting."""

    def of(self, target: BatchId) -> Forecast:
        """Return the chain that decides when a batch is done."""
        wanted = graph.upstream(self.batches, target) | {target}
        part = [batch for batch in self.batches if batch.batch_id in wanted]
        known, caught = {batch.batch_id: batch for batch in part}, graph.in_cycle(part)
        legs: dict[BatchId, Leg | None] = {}
        for batch_id in (one for level in graph.levels(part) for one in level):
            legs[batch_id] = self._leg(known[batch_id], legs, turns=batch_id in caught)
        chain: list[Leg] = []
        leg = legs[target]
        while leg is not None:
            chain.append(leg)
            leg = None if leg.after is None else legs[leg.after]
        return Forecast(tuple(reversed(chain)))

    def _leg(self, batch: BatchDefinition, legs: Mapping[BatchId, Leg | None], *, turns: bool) -> Leg | None:
        """Return what is left of a batch, None when nothing is; `legs` holds what it waits for."""
        stand = self.stands.get(batch.batch_id)
        if stand is not None:
            return self._of_instance(batch, stand)
        left = length(batch, self.recorded)
        off = (*self._behind(batch), *_closed(batch, self.now))
        if turns:
            off = (*off, f"{batch.name} waits for itself in a cycle")
            return Leg(batch=batch, starts=self.now, ends=self.now + left.total, length=left, blockers=off)
        after, begins, others = self._beginning(batch, legs)
        return Leg(
            batch=batch,
            starts=begins,
            ends=begins + left.total,
            length=left,
            after=after,
            blockers=tuple(dict.fromkeys((*others, *off))),
        )

    def _beginning(
        self, batch: BatchDefinition, legs: Mapping[BatchId, Leg | None]
    ) -> tuple[BatchId | None, datetime, Sequence[str]]:
        """Return which batch's end starts this one, when, and what keeps it from that."""
        ends: list[tuple[bool, datetime, BatchId]] = []
        blockers = list[str]()
        for other in graph.needs(batch):
            leg = legs.get(other)
            if other not in legs:
                blockers.append(f"{batch.name} depends on ProcessBatch {other}, which does not exist")
            elif leg is None:
                ends.append((False, self.now, other))
            else:
                blockers += leg.blockers
                ends.append((bool(leg.blockers), leg.ends, other))
        if not ends:
            return None, self.now, blockers
        if batch.dependency_mode is DependencyMode.ALL:
            blocked, at, after = max(ends, key=lambda end: end[:2])
            return after, at, blockers
        blocked, at, after = min(ends, key=lambda end: end[:2])
        return after, at, blockers if blocked else ()

    def _of_instance(self, batch: BatchDefinition, stand: Stand) -> Leg | None:
        if stand.status is InstanceStatus.COMPLETE:
            return None
        left = length(batch, self.recorded, stand.last_seq)
        live = self.live.get(stand.instance_id)
        starts, done = max(self.now, stand.next_run_time), _NOTHING
        if live is not None:
            steps = [step for step in batch.steps if step.seq == live.seq]
            starts, done = (
                self.now,
                min(max(self.now - live.started_at, _NOTHING), _length(batch, steps, self.recorded).total),
            )
        blockers = [] if live is not None else [*self._behind(batch, stand), *_closed(batch, self.now)]
        if stand.status not in _GOES_ON:
            blockers.append(f"{batch.name}: BatchControl {stand.instance_id} is {stand.status}")
        return Leg(batch=batch, starts=starts, ends=starts + left.total - done, length=left, blockers=tuple(blockers))

    def _behind(self, batch: BatchDefinition, stand: Stand | None = None) -> list[str]:
        """Return what in the same batch has to be put right first, before an instance, or before a new one."""
        first = self.stuck.get(batch.batch_id)
        if first is None or (stand is not None and stand.instance_id <= first.instance_id):
            return []
        return [f"{batch.name}: BatchControl {first.instance_id} is {first.status}, and what comes later waits for it"]


def _closed(batch: BatchDefinition, now: datetime) -> list[str]:
    """Return why nothing new starts in a batch, if anything keeps it from that."""
    off = [] if batch.enabled else [f"{batch.name} is disabled"]
    return off + ([] if freezes.holding(batch, now) is None else [f"{batch.name} is frozen"])
