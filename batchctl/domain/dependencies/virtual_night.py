"""A night in virtual time: what it begins with, and what comes of it. Time is in milliseconds from now."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from batchctl.domain.operators.pools import Pools
from batchctl.domain.rows import BatchDefinition, BatchId
from batchctl.domain.values import named_value, value


@value
class Tries:
    """The attempts at one step: how long each took; all but the last have failed, and the last, too, unless it `succeeds`."""

    lengths: tuple[int, ...]
    succeeds: bool = True


UNKNOWN = 10**15
"""How long a step takes of which nothing is known but that it is not done yet."""
LATEST = 10**12
"""What ends later waits for what is unknown; no night is as long."""
Lengths = Callable[[BatchId, int, int, int], Tries]
"""Says for a batch and a ProcessControlSeq what the attempts at the step come to, the first ones too: so many have failed,
and the next has run for so long."""


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
    is_retry: bool = False
    """Whether it has failed at its next step, and is tried again by itself."""
    stands: bool = False
    """Whether it needs a person before it goes on."""
    is_passed_over: bool = False
    """Of one that stands, whether others go past it: it is paused or cancelled, and has not failed."""
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


@value
class Reason:
    """Why an instance did not start earlier, by which name, and the instance that let it start; none where a time did."""

    cause: StartCause
    name: str | None = None
    by: int | None = None


@dataclass(frozen=True, slots=True)
class Replayed:
    """One night as it came to pass. Lists go by the numbers of the instances; those that dependencies start come last."""

    instances: Sequence[VirtualInstance]
    starts: Sequence[int | None]
    ends: Sequence[int | None]
    """When each completes; None where that takes a person, or is unknown."""
    reasons: Sequence[Reason]
    longest: Sequence[int | None]
    """The ProcessControlSeq of the step that took longest."""
    unknown: frozenset[int] = frozenset()
    """Those that complete without a person, once something has that has run longer than ever before."""
    of_batch: dict[BatchId, list[int]] = field(default_factory=dict, init=False)
    """The numbers of the instances of each batch."""

    def __post_init__(self) -> None:
        """Note which instances are of which batch."""
        for number, one in enumerate(self.instances):
            self.of_batch.setdefault(one.batch_id, []).append(number)

    def only(self, numbers: Iterable[int]) -> Replayed:
        """Return the same of some instances, and of those that decide when they end or with which they began."""
        kept, more = set[int](), [*numbers]
        while more:
            number = more.pop()
            if number not in kept:
                kept.add(number)
                before = self.reasons[number].by, self.instances[number].after
                more += [each for each in before if each is not None]
        if len(kept) == len(self.instances):
            return self
        order = sorted(kept)
        place = {number: at for at, number in enumerate(order)}
        instances = [self.instances[number] for number in order]
        reasons = [self.reasons[number] for number in order]
        return Replayed(
            [one if one.after is None else replace(one, after=place[one.after]) for one in instances],
            [self.starts[number] for number in order],
            [self.ends[number] for number in order],
            [one if one.by is None else replace(one, by=place[one.by]) for one in reasons],
            [self.longest[number] for number in order],
            frozenset(place[number] for number in self.unknown & kept),
        )

    def first_of(self, number: int) -> int:
        """Return the instance with which began what led to one: itself where no other has started it."""
        while (before := self.instances[number].after) is not None:
            number = before
        return number

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
