"""What past nights say of tonight: how long attempts took, how often they failed, and when work came."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from statistics import median_high
from typing import Annotated, TypeVar

from batchctl.domain.dependencies.past_arrivals import Arrival, PastArrivals
from batchctl.domain.dependencies.virtual_night import UNKNOWN, Lengths, Tries
from batchctl.domain.rows import BatchDefinition, BatchId, InstanceId
from batchctl.domain.scheduling.wall_clock import WallClock
from batchctl.domain.status import Cause, HistoryStatus
from batchctl.domain.values import named_value

NIGHTS = 60
"""How many past nights are replayed, and from how many past runs a step draws where it stands in none of them."""
REPLAYS = 200
"""How many replays there are at least: each night is replayed as often as any other."""
_SUCCEEDED = {HistoryStatus.SUCCESS}
_FAILED = {HistoryStatus.FAILED, HistoryStatus.TIMEOUT, HistoryStatus.LOST}
_TICK = timedelta(milliseconds=1)
_MASK, _GOLDEN, _STEP, _MIX = 0xFFFFFFFF, 0x9E3779B1, 0x85EBCA77, 0x2C1B3C6D
Step = tuple[BatchId, int]
"""A batch and a ProcessControlSeq."""
Drawn = TypeVar("Drawn")


@named_value
class PastAttempt:
    """An attempt of the past, and when its instance came."""

    batch_id: BatchId
    instance_id: InstanceId
    cycle_key: str | None
    came: Annotated[datetime, "CreatedTime"]
    seq: Annotated[int, "ProcessControlSeq"]
    cause: Cause
    status: HistoryStatus
    started_at: Annotated[datetime, "StartTime"]
    ended_at: Annotated[datetime, "EndTime"]


class _Runs:
    """The past runs of one step, oldest first."""

    def __init__(self) -> None:
        self.tries = list[Tries]()
        self.by_key: dict[str, list[int]] = defaultdict(list)
        """Which of them are those of the instances of each CycleKey, in their order."""
        self._longer: dict[tuple[int, int], list[int]] = {}
        """Which of them went on for longer, by how long the attempt had run and how many had failed before."""

    def longer_than(self, elapsed: int, tried: int) -> list[int]:
        found = self._longer.get((elapsed, tried))
        if found is None:
            every = [at for at, tries in enumerate(self.tries) if _is_longer(tries, elapsed, tried)]
            # Where none had so many attempts, the last one of each says how long the next takes.
            found = [at for at in every if len(self.tries[at].lengths) > tried] or every
            self._longer[elapsed, tried] = found
        return found

    def next_of(self, of_night: Sequence[int], drawn: set[int], elapsed: int, tried: int) -> int | None:
        """Return which of one night's runs is drawn next: in their order those that fit, and then the same ones again."""
        fitting = [
            at for at in of_night if len((one := self.tries[at]).lengths) > tried and _is_longer(one, elapsed, tried)
        ]
        if drawn.issuperset(fitting):
            drawn.difference_update(fitting)
        at = next((at for at in fitting if at not in drawn), None)
        if at is not None:
            drawn.add(at)
        return at


def _is_longer(tries: Tries, elapsed: int, tried: int) -> bool:
    """Say whether the attempt after so many took longer than so long."""
    return not elapsed or tries.lengths[min(tried, len(tries.lengths) - 1)] > elapsed


@dataclass(frozen=True, slots=True)
class PastNights:
    """The past, as replays draw from it."""

    runs: Mapping[Step, _Runs]
    nights: Sequence[str]
    """The CycleKeys of the nights that are replayed, the newest first: those that stand in most batches."""
    came: Mapping[BatchId, Mapping[str, datetime]]
    """By batch, for which CycleKey its first instance came when; without one, by its day."""
    expected: Mapping[Step, Tries]
    """What is taken for a step of which too little is known."""
    came_last: Mapping[BatchId, datetime] = field(default_factory=dict)
    """When the newest instance of each batch came, whether anything of it has ended or not."""
    _arrivals: dict[BatchId, PastArrivals] = field(default_factory=dict)

    @property
    def replays(self) -> int:
        """Return how often a night is to be replayed."""
        many = len(self.nights) or REPLAYS
        return many * -(-REPLAYS // many)

    def lengths(self, number: int) -> Lengths:
        """Return how long attempts take in one replay: those of one past night, and single ones where they are not of it."""
        night = self.nights[number % len(self.nights)] if self.nights else None
        drawn: dict[Step, set[int]] = defaultdict(set)

        def take(batch_id: BatchId, seq: int, elapsed: int, tried: int) -> Tries:
            runs = self.runs.get((batch_id, seq))
            if runs is None:
                known = self.expected.get((batch_id, seq))
                return NOTHING if known is None else known if known.lengths[0] > elapsed else _NOT_DONE
            of_night = () if night is None else runs.by_key.get(night, ())
            if of_night and (at := runs.next_of(of_night, drawn[batch_id, seq], elapsed, tried)) is not None:
                return runs.tries[at]
            fitting = runs.longer_than(elapsed, tried)
            return runs.tries[_draw(fitting, number, batch_id, seq)] if fitting else _NOT_DONE

        return take

    def arrivals(self, batch_id: BatchId, clock: WallClock) -> PastArrivals | None:
        """Return when instances of a batch came; None where none did."""
        if batch_id not in self._arrivals and (came := self.came.get(batch_id)):
            self._arrivals[batch_id] = PastArrivals(came, self.came_last.get(batch_id), clock)
        return self._arrivals.get(batch_id)

    def arrival(self, number: int, batch_id: BatchId, clock: WallClock, now: datetime) -> Arrival | None:
        """Return when the next instance of a batch comes in one replay, by when others came; None where none is expected."""
        past = self.arrivals(batch_id, clock)
        day = None if past is None else past.next_day(now)
        if past is None or day is None:
            return None
        at = past.came.get(self.nights[number % len(self.nights)]) if self.nights else None
        drawn = past.on(day, at if at is not None else _draw([*past.came.values()], number, batch_id, 0))
        if drawn <= now:
            later = past.later(day, now)
            drawn = _draw(later, number, batch_id, 0) if later else now
        return Arrival(drawn, day)

    def outrun(self, step: Step, elapsed: int, tried: int) -> int | None:
        """Return how long a step took, or was expected to take, at most, if the attempt after so many takes longer now."""
        runs, expected = self.runs.get(step), self.expected.get(step)
        if not elapsed or (runs is not None and runs.longer_than(elapsed, tried)):
            return None
        if runs is not None:
            return max(tries.lengths[min(tried, len(tries.lengths) - 1)] for tries in runs.tries)
        return expected.lengths[0] if expected is not None and expected.lengths[0] <= elapsed else None

    def few(self, step: Step) -> int:
        """Return of how many runs of a step anything is known."""
        runs = self.runs.get(step)
        return 0 if runs is None else len(runs.tries)


NOTHING = Tries((0,))
"""Of a step of which nothing is known."""
_NOT_DONE = Tries((UNKNOWN,))
"""Of one that has run longer than ever before."""


class Lessons:
    """Learns from the attempts of some batches after those of others."""

    def __init__(self) -> None:
        self._runs: dict[Step, _Runs] = defaultdict(_Runs)
        self._nights: dict[str, InstanceId] = {}
        """The newest instance of each CycleKey."""
        self._of_nights: dict[str, set[BatchId]] = defaultdict(set)

    @property
    def are_none(self) -> bool:
        """Say whether nothing is known of any step."""
        return not self._runs

    def add(self, attempts: Iterable[PastAttempt]) -> None:
        """Learn from all attempts of some batches, in order of their beginning.

        Of those of one instance at a step those before a person acted count.
        """
        by_run: dict[tuple[BatchId, InstanceId, int], list[PastAttempt]] = defaultdict(list)
        for one in attempts:
            by_run[one.batch_id, one.instance_id, one.seq].append(one)
        nights = self._nights
        for (batch_id, instance_id, seq), tried in sorted(by_run.items(), key=lambda item: item[0][1]):
            tries = _tries(tried)
            if tries is None:
                continue
            mine, key = self._runs[batch_id, seq], tried[0].cycle_key
            if key is not None:
                mine.by_key[key].append(len(mine.tries))
                nights[key] = max(nights.get(key, instance_id), instance_id)
                self._of_nights[key].add(batch_id)
            mine.tries.append(tries)

    def past(
        self,
        batches: Iterable[BatchDefinition],
        came: Mapping[BatchId, Mapping[str, datetime]],
        came_last: Mapping[BatchId, datetime],
    ) -> PastNights:
        """Return what was learned."""
        return PastNights(dict(self._runs), self._last_nights(), came, dict(_expected(batches)), came_last)

    def _last_nights(self) -> Sequence[str]:
        """Return the keys of nights of most batches, the newest first; those of one batch only where there are no others."""
        many = self._many_of_nights()
        shared = [key for key, batches in many.items() if batches > 1] or [*many]
        newest = sorted(shared, key=lambda key: -self._nights[key])
        most = sorted(newest, key=lambda key: -many[key])[:NIGHTS]
        return sorted(most, key=lambda key: -self._nights[key])

    def _many_of_nights(self) -> Mapping[str, int]:
        """Return of how many batches each CycleKey is that of the night, as is usual for any of those that stand in it.

        In a night that failed at its first batch no other one stands: it is a night as the others are.
        """
        sizes: dict[BatchId, list[int]] = defaultdict(list)
        for those in self._of_nights.values():
            for batch_id in those:
                sizes[batch_id].append(len(those))
        usual = {batch_id: median_high(each) for batch_id, each in sizes.items()}
        return {key: max(usual[batch_id] for batch_id in those) for key, those in self._of_nights.items()}


def past_nights(
    attempts: Iterable[PastAttempt], batches: Iterable[BatchDefinition], came: Mapping[BatchId, Mapping[str, datetime]]
) -> PastNights:
    """Learn from attempts, in order of their beginning."""
    lessons = Lessons()
    lessons.add(attempts)
    return lessons.past(batches, came, {})


def _tries(attempts: Sequence[PastAttempt]) -> Tries | None:
    """Return what the attempts of one instance at one step came to by themselves; None where that cannot be said."""
    lengths = list[int]()
    for at, one in enumerate(attempts):
        if at and one.cause is Cause.MANUAL:
            break
        if one.status not in _SUCCEEDED | _FAILED or one.cause is Cause.VERIFY:
            return None
        lengths.append(max((one.ended_at - one.started_at) // _TICK, 0))
        if one.status in _SUCCEEDED:
            return Tries((*lengths,))
    return Tries((*lengths,), succeeds=False) if lengths else None


def _expected(batches: Iterable[BatchDefinition]) -> Iterable[tuple[Step, Tries]]:
    for batch in batches:
        for step in batch.steps:
            if step.expected_duration is not None:
                yield (batch.batch_id, step.seq), Tries((step.expected_duration // _TICK,))


def _draw(what: Sequence[Drawn], number: int, batch_id: int, seq: int) -> Drawn:
    """Draw one: which of them goes by the number of the replay and the step alone, never by what was drawn before."""
    mixed = ((number + 1) * _GOLDEN + (batch_id * 1009 + seq) * _STEP) & _MASK
    mixed = ((mixed ^ (mixed >> 15)) * _MIX) & _MASK
    return what[(mixed ^ (mixed >> 12)) % len(what)]
