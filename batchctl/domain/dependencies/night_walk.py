"""A replay: when each instance of a night starts and ends, by the rules by which controllers claim and go on.

How long each attempt takes, and how it ends, is given: the same lengths give the same night.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections import defaultdict
from collections.abc import Generator, Iterator
from heapq import heappop, heappush
from math import inf
from typing import NamedTuple

from batchctl.domain import moves
from batchctl.domain.dependencies.virtual_night import (
    LATEST,
    Lengths,
    Reason,
    Replayed,
    StartCause,
    Tries,
    VirtualInstance,
    VirtualNight,
)
from batchctl.domain.rows import BatchDefinition, BatchId, ResourceId
from batchctl.domain.scheduling.pace import MINUTE
from batchctl.domain.status import DependencyMode, OnFailure

PACE = MINUTE.seconds * 1000
_END, _COME, _BACK, _WAKE = range(4)
_OF_ONE = {StartCause.POOL, StartCause.STOPPED}
"""What keeps an instance waiting, and not those of its batch behind it."""


def replay(night: VirtualNight, lengths: Lengths) -> Replayed:
    """Let a night pass."""
    passing = moments(night, lengths)
    while True:
        try:
            next(passing)
        except StopIteration as end:
            passed: Replayed = end.value
            return passed


def moments(night: VirtualNight, lengths: Lengths) -> Generator[int, None, Replayed]:
    """Let a night pass one moment after the other; yields after each how much has happened in it."""
    walk = _Walk(night, lengths)
    yield len(walk.batches) + len(walk.courses)
    yield from walk.run()
    courses = walk.courses
    return Replayed(
        [one.instance for one in courses],
        [_known(one.start) for one in courses],
        [_known(one.end) for one in courses],
        [one.reason for one in courses],
        [one.longest for one in courses],
        frozenset(one.number for one in courses if one.end != _known(one.end)),
    )


class _Wait(NamedTuple):
    """What keeps all from starting that are in line then."""

    reason: Reason
    mark: int
    """The later, the greater."""
    created: int
    """How many instances had been created by then."""
    first: int = 0
    """The first of these in the order of their creation that it keeps."""


def _known(at: int | None) -> int | None:
    return None if at is None or at > LATEST else at


class _Standing:
    """A batch as it stands at one moment of the night."""

    def __init__(self, batch: BatchDefinition, opens: int | None) -> None:
        self.batch, self.steps = batch, batch.steps
        self.seqs, self.many = [step.seq for step in batch.steps], len(batch.steps)
        self.opens = opens if batch.enabled and batch.steps else None
        self.rank = (batch.seq, -(batch.priority or 0))
        self.pools = [batch.pool_of(step) for step in batch.steps]
        self.retries = [batch.retry_count if step.retry_count is None else step.retry_count for step in batch.steps]
        self.retries.append(0)
        """How often each step is tried again; nothing that comes after the last one is."""
        self.needed = {one.depends_on for one in batch.dependencies}
        self.claimed, self.turn, self.batch_id = 0, 0, batch.batch_id
        self.line: list[_Course] = []
        self.waits: _Wait | None = None
        """What kept all of its line from starting last."""
        self.begun: dict[int, int] = {}
        """When instances were begun last, by their numbers."""
        self.offered: dict[str | None, dict[BatchId, int]] = defaultdict(dict)
        """By CycleKey, which of the batches that it waits for have completed how often without being used."""

    @property
    def place(self) -> tuple[tuple[int, int], int, BatchId]:
        """Return what says which batch is claimed first: by Seq and Priority, then that whose turn is longest ago."""
        return self.rank, self.turn, self.batch_id

    def place_of(self, instance: VirtualInstance) -> int:
        """Return the place of an instance's next step; behind all of them where none is left."""
        if instance.under_way is None:
            return bisect_right(self.seqs, instance.last_seq)
        return self.seqs.index(instance.under_way) if instance.under_way in self.seqs else len(self.seqs)


class _Course:
    """An instance on its way through the night."""

    __slots__ = (
        *(
            "after",
            "at",
            "blocked",
            "blocked_at",
            "end",
            "has_failed",
            "instance",
            "left",
            "longest",
            "most",
            "not_before",
            "number",
            "order",
        ),
        *("is_passed_over", "reason", "standing", "stands", "start", "tried", "tries"),
    )

    def __init__(self, number: int, instance: VirtualInstance, standing: _Standing) -> None:
        self.number, self.instance, self.standing = number, instance, standing
        self.start: int | None = None
        self.end: int | None = None
        cause = StartCause.COMES if instance.after is None else StartCause.AFTER
        self.reason = Reason(cause, None, instance.after)
        self.longest: int | None = None
        self.most = -1
        self.at = standing.place_of(instance)
        """The place of its next step."""
        self.tried, self.left = instance.failures, standing.retries[self.at] - instance.failures
        self.tries: Tries | None = None
        self.not_before, self.stands = instance.not_before, instance.stands
        self.is_passed_over = instance.stands and instance.is_passed_over
        self.has_failed = instance.is_retry
        """Whether the next attempt is one more at a step that has failed."""
        self.order = 0
        """When it was created; 0 as long as it was not."""
        self.blocked: Reason | None = None
        """What kept it from starting last, and not all of its line."""
        self.blocked_at = 0
        """The mark of that."""

    @property
    def has_steps(self) -> bool:
        """Say whether any step is left."""
        return self.at < self.standing.many

    def needs(self, resource: str | None) -> bool:
        """Say whether it needs some of a resource."""
        return any(need.name == resource for need in self.standing.batch.needs)

    @property
    def is_failure(self) -> bool:
        """Say whether it has failed, by itself or for good, and stands in the way of others where failures do."""
        return (self.stands or self.has_failed) and not self.is_passed_over


def _by_order(course: _Course) -> int:
    return course.order


class _Walk:
    """One night under way."""

    def __init__(self, night: VirtualNight, lengths: Lengths) -> None:
        self.night, self.lengths = night, lengths
        self.batches = {key: _Standing(batch, night.opens.get(key, 0)) for key, batch in night.batches.items()}
        self.courses = [_Course(at, one, self.batches[one.batch_id]) for at, one in enumerate(night.instances)]
        self._now, self._created, self._begun, self._turns, self._total = 0, 0, 0, 0, 0
        self._slots = inf if night.slots is None else night.slots
        self._held: dict[ResourceId, int] = defaultdict(int)
        self._in_pools: dict[str, int] = defaultdict(int)
        self._room = self._open_pools()
        self._events: list[tuple[int, int, int, _Course | None]] = []
        """When what happens to which instance; what happens at the same time does in the order in which it was begun."""
        self._coming: list[_Course] = []
        self._has_changed = False
        """Whether anything has that may let another instance start, since what may start was claimed last."""
        self._active = list[tuple[tuple[int, int], int, BatchId]]()
        """The places of the batches that have a line, in order."""
        self._marks = 0
        self._full: _Wait | None = None
        """The last time at which all slots were taken."""
        self._stopping: dict[int, _Course] = {}
        """Failures that stop everything."""
        self._stops: dict[int, _Course] = {}
        """Those of them that were there when the claiming began."""
        self._gone: dict[int, _Course] = {}
        """Whose claims end at this moment, by their numbers, the last one last."""
        self._left: dict[int, str] = {}
        """Who leaves which pool at this moment."""

    def _open_pools(self) -> dict[str, int | None]:
        """Return the pools in which steps may begin, and for how many there is room; None for any number."""
        known = self.night.pools
        named = {name for each in self.batches.values() for name in each.pools}
        served = named if self.night.served is None else named & self.night.served
        return {
            name: known.by_name[name].max_concurrent if name in known.by_name else None
            for name in served
            if known.is_open(name)
        }

    def run(self) -> Iterator[int]:
        """Let everything happen, one moment after the other; yields after each how much has."""
        for waiting, completed, key in self.night.waiting:
            if waiting in self.batches:
                self._offer(self.batches[waiting], completed, key, None)
        for course in [*self.courses]:
            self._enter(course)
        for each in self.batches.values():
            if each.opens:
                self._expect(each.opens, _WAKE)
        self._settle()
        while self._events:
            self._now, self._gone, self._left = self._events[0][0], {}, {}
            yield self._happen()
            self._settle()

    def _settle(self) -> None:
        """Claim what may start; what comes is created after that: what was in line already goes first."""
        if self._has_changed:
            self._dispatch()
        while self._coming:
            coming, self._coming = self._coming, []
            for course in coming:
                self._line_up(course)
            self._dispatch()

    def _expect(self, at: int, kind: int, course: _Course | None = None) -> None:
        self._begun += 1
        heappush(self._events, (at, self._begun, kind, course))

    def _happen(self) -> int:
        """Let everything end and come that does now; return how much that is."""
        events, many = self._events, 0
        while events and events[0][0] == self._now:
            _, _, kind, course = heappop(events)
            many += 1
            if course is None or kind == _WAKE:
                self._has_changed = True
                continue
            if kind == _COME:
                self._coming.append(course)
            elif kind == _BACK:
                self._stand_in_line(course)
            else:
                self._end(course)
        return many

    def _enter(self, course: _Course) -> None:
        if course.order:
            return
        one = course.instance
        if one.comes > 0:
            self._expect(one.comes, _COME, course)
        elif one.under_way is not None:
            self._create(course)
            self._claim(course.standing)
            self._begin(course)
        else:
            self._line_up(course)

    def _create(self, course: _Course) -> None:
        self._created += 1
        course.order = self._created

    def _line_up(self, course: _Course) -> None:
        if not course.order:
            self._create(course)
        self._stand_in_line(course)
        if course.not_before > self._now:
            self._expect(course.not_before, _WAKE)
        if course.is_failure and course.standing.batch.on_failure is OnFailure.STOP_ALL:
            self._stopping[course.number] = course

    def _stand_in_line(self, course: _Course) -> None:
        self._has_changed = True
        if not course.standing.line:
            insort(self._active, course.standing.place)
        insort(course.standing.line, course, key=_by_order)

    # What happens to one instance

    def _claim(self, standing: _Standing) -> None:
        standing.claimed += 1
        self._total += 1
        for need in standing.batch.needs:
            self._held[need.resource_id] += need.capacity if need.exclusive else need.units

    def _release(self, course: _Course) -> None:
        standing, self._has_changed = course.standing, True
        self._gone[course.number] = course
        if standing.line and self._are_slots_taken and standing.claimed >= standing.batch.max_concurrent:
            self._block(standing, Reason(StartCause.CONCURRENT, standing.batch.name))
        standing.claimed -= 1
        self._total -= 1
        for need in standing.batch.needs:
            self._held[need.resource_id] -= need.capacity if need.exclusive else need.units

    def _begin(self, course: _Course) -> None:
        """Begin the next attempt at the step at which an instance is; one without a step is complete."""
        if course.start is None:
            course.start = self._now
        if not course.has_steps:
            self._complete(course)
            return
        self._in_pools[course.standing.pools[course.at]] += 1
        self._left.pop(course.number, None)
        self._attempt(course)

    def _attempt(self, course: _Course) -> None:
        """Let an attempt take its time, in the pool in which its instance is."""
        standing, tries, tried, elapsed = course.standing, course.tries, course.tried, 0
        seq = standing.seqs[course.at]
        if self._now == 0 and course.instance.under_way is not None:
            elapsed = course.instance.elapsed
        if tries is None:
            tries = course.tries = self.lengths(standing.batch_id, seq, elapsed, tried)
        lengths = tries.lengths
        length = (lengths[tried] if tried < len(lengths) else lengths[-1]) - elapsed
        length = max(length, 0)
        if length > course.most:
            course.most, course.longest = length, seq
        self._expect(self._now + length, _END, course)

    def _end(self, course: _Course) -> None:
        """Go on after an attempt: with the next step at once where that is of the same pool, as nothing is let go then."""
        standing, tries, following = course.standing, course.tries, course.at + 1
        pool = standing.pools[course.at]
        course.tried += 1
        has_failed = tries is not None and not (tries.succeeds and course.tried >= len(tries.lengths))
        is_same = following < standing.many and standing.pools[following] == pool
        if is_same and not has_failed and not self._stopping and not course.stands and self._is_open(standing):
            self._proceed(course, following)
            self._attempt(course)
            return
        self._in_pools[pool] -= 1
        self._left[course.number] = pool
        if has_failed:
            self._fail(course)
        else:
            self._go_on(course, following)

    def _fail(self, course: _Course) -> None:
        if course.left > 0:
            self._retry(course)
        elif course.standing.steps[course.at].may_be_passed:
            self._go_on(course, course.at + 1)
        else:
            course.stands, course.is_passed_over = True, False
            self._give_back(course)

    def _retry(self, course: _Course) -> None:
        batch = course.standing.batch
        wait = moves.retry_wait(batch, course.standing.steps[course.at], course.left)
        course.left, course.has_failed = course.left - 1, True
        course.not_before = self._now + round(wait.total_seconds() * 1000)
        course.blocked = Reason(StartCause.RETRY)
        self._give_back(course)

    def _give_back(self, course: _Course) -> None:
        """End the claim: the instance stands in line again."""
        self._release(course)
        self._line_up(course)

    def _go_on(self, course: _Course, at: int) -> None:
        """Go on with a step; where it is of another pool, or nothing new may start, the instance is claimed for it anew."""
        standing = course.standing
        self._proceed(course, at)
        if not course.has_steps:
            self._complete(course)
            return
        is_same = standing.pools[at] == standing.pools[at - 1]
        if is_same and self._is_open(standing) and not self._stopping and not course.stands:
            self._begin(course)
        else:
            self._give_back(course)

    def _proceed(self, course: _Course, at: int) -> None:
        course.at, course.tried, course.tries, course.left = at, 0, None, course.standing.retries[at]
        course.has_failed = False

    def _complete(self, course: _Course) -> None:
        course.end = self._now
        self._release(course)
        one = course.instance
        for dependent in course.standing.batch.dependents:
            if dependent in self.batches:
                self._offer(self.batches[dependent], one.batch_id, one.cycle_key, course.number)

    def _offer(self, waiting: _Standing, completed: BatchId, key: str | None, by: int | None) -> None:
        """Note that a batch has completed for a CycleKey, and let come what that was lacking for."""
        batch = waiting.batch
        if batch.is_in_cycle:
            return
        offered = waiting.offered[key]
        offered[completed] = offered.get(completed, 0) + 1
        needed, waits_for_all = waiting.needed, batch.dependency_mode is DependencyMode.ALL
        if waits_for_all and (len(offered) < len(needed) or not all(offered.get(each) for each in needed)):
            return
        for each in needed if waits_for_all else {completed}:
            offered[each] -= 1
        one = VirtualInstance(batch_id=batch.batch_id, cycle_key=key, comes=self._now, after=by)
        course = _Course(len(self.courses), one, waiting)
        self.courses.append(course)
        self._coming.append(course)

    # What starts

    def _dispatch(self) -> None:
        """Claim what may start, as controllers do."""
        self._has_changed, stopping = False, -1
        # A retry that begins may be the end of what has stopped others.
        while self._active and stopping != (stopping := len(self._stopping)):
            if not self._are_slots_taken:
                self._claim_by_batch()
            if self._are_slots_taken:
                self._note_full()

    def _claim_by_batch(self) -> None:
        """Claim batch by batch, as long as there are slots."""
        batches, self._stops = self.batches, {**self._stopping}
        for place in [*self._active]:
            if self._are_slots_taken:
                break
            standing = batches[place[-1]]
            if self._start(standing):
                self._turns += 1
                standing.turn = self._turns
            elif standing.line:
                continue
            del self._active[bisect_left(self._active, place)]
            if standing.line:
                insort(self._active, standing.place)

    def _note_full(self) -> None:
        """Note that all slots are taken now, unless nothing has come or been noted since that was."""
        if self._full is None or (self._full.mark, self._full.created) != (self._marks, self._created):
            self._full = self._wait(Reason(StartCause.SLOTS))

    @property
    def _are_slots_taken(self) -> bool:
        return self._total >= self._slots

    def _start(self, standing: _Standing) -> bool:
        """Start what may start of one batch, in order; say whether anything did."""
        if not self._is_open(standing):
            self._block(standing, Reason(StartCause.OPENS))
            return False
        has_started, keeps_place, looked_at, places, at = False, False, 0, self._places(standing), 0
        line, goes_on = standing.line, standing.batch.on_failure is OnFailure.CONTINUE
        while at < len(line):
            course = line[at]
            if course.stands or course.not_before > self._now:
                if not course.is_passed_over and not goes_on:
                    self._block(standing, Reason(StartCause.LINE, None, course.number), course.order + 1)
                    self._keep(course, Reason(StartCause.RETRY) if course.has_failed else None)
                    break
                # Those behind it pass it by: none has to look at it until its time comes.
                del line[at]
                if not course.stands:
                    self._expect(course.not_before, _BACK, course)
                continue
            reason = self._wall(course)
            if reason is None:
                has_started = True
                del line[at]
                self._started(course)
            else:
                at += 1
                self._keep(course, reason)
                keeps_place |= reason.cause is StartCause.POOL
            waits_for_it = course.has_failed and not goes_on
            if reason is not None and (waits_for_it or reason.cause not in _OF_ONE):
                self._block(standing, reason, course.order)
                break
            # One whose pool is full keeps its place: those behind it have one less.
            looked_at += reason is None or reason.cause is StartCause.POOL
            if keeps_place and looked_at >= places:
                self._block(standing, Reason(StartCause.CONCURRENT, standing.batch.name), course.order + 1)
                break
        return has_started

    def _wait(self, reason: Reason, first: int = 0) -> _Wait:
        self._marks += 1
        return _Wait(reason, self._marks, self._created, first)

    def _block(self, standing: _Standing, reason: Reason, first: int = 0) -> None:
        """Note what keeps all of a line from starting, from one on, however long it is."""
        standing.waits = self._wait(reason, first)

    def _keep(self, course: _Course, reason: Reason | None) -> None:
        """Note what keeps one from starting."""
        self._marks += 1
        course.blocked, course.blocked_at = reason, self._marks

    def _kept_by(self, course: _Course) -> Reason | None:
        """Return what kept an instance from its first start last; it was in line ever since it was created."""
        last, mark = course.blocked, course.blocked_at
        for wait in (course.standing.waits, self._full):
            if wait is not None and wait.mark > mark and wait.first <= course.order <= wait.created:
                last, mark = wait.reason, wait.mark
        return last

    def _places(self, standing: _Standing) -> int:
        """Return how many more instances of a batch may be claimed."""
        batch, held = standing.batch, self._held
        room = [batch.max_concurrent - standing.claimed]
        for need in batch.needs:
            units = need.capacity if need.exclusive else need.units
            room.append((need.capacity - held[need.resource_id]) // units if units else 0)
        return min(room)

    def _is_open(self, standing: _Standing) -> bool:
        return standing.opens is not None and standing.opens <= self._now

    def _wall(self, course: _Course) -> Reason | None:
        """Return what keeps an instance from starting now, if anything does."""
        standing, batch = course.standing, course.standing.batch
        if self._stops and self._is_stopped(course):
            return Reason(StartCause.STOPPED, None, next(each for each in self._stops if each != course.number))
        if standing.claimed >= batch.max_concurrent:
            return Reason(StartCause.CONCURRENT, batch.name)
        if self._are_slots_taken:
            return Reason(StartCause.SLOTS)
        for need in batch.needs:
            if self._held[need.resource_id] + (need.capacity if need.exclusive else need.units) > need.capacity:
                return Reason(StartCause.RESOURCE, need.name)
        if course.has_steps and not self._has_room(standing.pools[course.at]):
            return Reason(StartCause.POOL, standing.pools[course.at])
        if course.at == 0 and batch.max_per_minute is not None and not self._has_pace(standing, batch.max_per_minute):
            return Reason(StartCause.PACE, batch.name)
        return None

    def _is_stopped(self, course: _Course) -> bool:
        """Say whether a failure keeps an instance from starting; its own retry may be the cure, and goes before later ones."""
        if course.number not in self._stops:
            return True
        return any(one.stands or one.order < course.order for one in self._stops.values() if one is not course)

    def _has_room(self, pool: str) -> bool:
        room = self._room.get(pool, 0)
        return room is None or self._in_pools[pool] < room

    def _has_pace(self, standing: _Standing, most: int) -> bool:
        begun = standing.begun = {number: at for number, at in standing.begun.items() if at > self._now - PACE}
        if len(begun) < most:
            return True
        self._expect(min(begun.values()) + PACE, _WAKE)
        return False

    def _started(self, course: _Course) -> None:
        self._stopping.pop(course.number, None)
        kept_by = None if course.start is not None else self._kept_by(course)
        if kept_by is not None:
            course.reason = Reason(kept_by.cause, kept_by.name, self._decided(course, kept_by))
        if course.at == 0 and course.standing.batch.max_per_minute is not None:
            course.standing.begun[course.number] = self._now
        self._claim(course.standing)
        self._gone.pop(course.number, None)
        self._begin(course)

    def _decided(self, course: _Course, reason: Reason) -> int | None:
        """Return the instance that let go at this moment of what was lacking: no time that passes is anybody's."""
        match reason.cause:
            case StartCause.POOL:
                held = [number for number, pool in self._left.items() if pool == reason.name]
            case StartCause.RESOURCE:
                held = [number for number, one in self._gone.items() if one.needs(reason.name)]
            case StartCause.CONCURRENT:
                held = [number for number, one in self._gone.items() if one.standing is course.standing]
            case StartCause.SLOTS:
                held = [*self._gone]
            case _:
                return reason.by
        return held[-1] if held else None
