"""Claiming: which instances may start now, made this controller's own, and their next step begun."""

from __future__ import annotations

import sys
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property, partial
from heapq import merge
from itertools import count, groupby, islice, takewhile
from operator import attrgetter

from batchctl.control.attempts import Batches, InstanceMessage, WrittenTurn
from batchctl.control.drafts import PlannedAttempt
from batchctl.control.recording import Recorder, named_locked, stopping_failures
from batchctl.domain import gates, moves
from batchctl.domain.errors import BatchctlError
from batchctl.domain.moves import not_before
from batchctl.domain.rows import AttemptsSoFar, BatchDefinition, BatchId, BatchInstance, InstanceId, Step
from batchctl.domain.status import InstanceStatus, OnFailure, OnLost
from batchctl.domain.text import in_short
from batchctl.store import Connection, history, instances, limits, started
from batchctl.store.dependencies import dependencies
from batchctl.store.intake import intake
from batchctl.store.transactions import NotAsReadError, savepoint

FIRST_PAGE = 2
"""How many instances in line are read at least while looking for those that may start; each page is twice the last."""

MANY_DEFERRED = 100
"""When so many instances have waited for their time, the next one is first looked for near the head of its batch."""
NEAR = 500
"""How many instances in line are looked at there.

After an outage nearly all of thousands are due: so each claim finds the next without reading the numbers of all.
"""
MOST_NUMBERED = 10_000
"""While fewer than this have waited for their time, the order of creation is made here, out of their numbers.

One number costs about half a microsecond, and one instance that is read over a tenth.
"""

CHANGED = "it changed meanwhile"
"""The message about an instance that somebody else has moved: nothing is wrong with it."""

_BY_CREATION, _BY_SEQ = attrgetter("instance_id"), attrgetter("seq")


@dataclass(frozen=True, slots=True)
class Claimer:
    """Claims for one controller."""

    recorder: Recorder
    _turns: dict[BatchId, int] = field(default_factory=dict)
    """When each batch had its last turn, in claims."""
    _count: Iterator[int] = field(default_factory=lambda: count(1))

    def promising(
        self,
        connection: Connection,
        batches: Batches,
        limit: int | None,
        now: datetime,
        *,
        parked: Container[InstanceId] = (),
    ) -> BatchId | None:
        """Return the first batch of which any instance may start now, if there is one."""
        look = _Look(connection, batches, limit, now, parked, self._turns, self.recorder.can_begin)
        return next((batch.batch_id for batch in look.batches() if look.is_promising(batch)), None)

    def claim(
        self,
        connection: Connection,
        batches: Batches,
        limit: int | None,
        now: datetime,
        *,
        places: int,
        parked: Container[InstanceId] = (),
        likely: Container[BatchId] = (),
        singly: bool = False,
    ) -> WrittenTurn:
        """Claim up to `places` instances and record the beginning of their next step.

        A batch that another controller claims from at this moment is passed over, without waiting. One that
        is `likely` to have something that may start is locked without looking first. Raises `NotAsReadError`, or
        whatever else it was, when not all can be claimed; singly, such a one is passed over, and named in `parked`.
        """
        written = WrittenTurn()
        look = _Look(connection, batches, limit, now, parked, self._turns, self.recorder.can_begin, page=places)
        for batch in look.batches():
            if not self.recorder.has_time:
                break
            if batch.batch_id not in likely and not look.is_promising(batch):
                continue
            is_locked = limits.lock(connection, batch, limit)
            if written.started or limits.others_write(connection):
                # What has been claimed since may have taken what this batch needs; what is read from now on stays so.
                look = look.anew(batch)
            if not is_locked():
                written += WrittenTurn(contended=frozenset({batch.name}))
                continue
            most = min(places - len(written.started), look.room.places(batch))
            found = look.startable(batch)
            claimed = self._claim_of(connection, batch, batches, found, now, most, singly=singly)
            if claimed.started:
                self._turns[batch.batch_id] = next(self._count)
            written += claimed
            if len(written.started) >= places:
                break
        return written

    def _claim_of(
        self,
        connection: Connection,
        batch: BatchDefinition,
        batches: Batches,
        found: Iterator[BatchInstance],
        now: datetime,
        most: int,
        *,
        singly: bool,
    ) -> WrittenTurn:
        written = WrittenTurn()
        while self.recorder.has_time and (left := most - len(written.started)) > 0:
            if not (chosen := list(islice(found, left))):
                break
            locked = instances.locked(connection, [instance.instance_id for instance in chosen])
            held = [instance.instance_id for instance in chosen if instance.instance_id in locked]
            written += WrittenTurn(locked=tuple(named_locked(connection, instance_id) for instance_id in held))
            free = [instance for instance in chosen if instance.instance_id not in locked]
            if singly:
                in_time = takewhile(lambda _: self.recorder.has_time, free)
                written += sum(
                    (self._claim_one(connection, one, batch, batches, now) for one in in_time), WrittenTurn()
                )
            elif free:
                written += self._claim_together(connection, free, batch, now)
        return written

    def _claim_together(
        self, connection: Connection, free: Sequence[BatchInstance], batch: BatchDefinition, now: datetime
    ) -> WrittenTurn:
        now = not_before(now, *(instance.updated_at for instance in free))
        # What was never claimed was never tried; where a hand has made it look so, one by one is counted.
        tried = [instance.instance_id for instance in free if instance.claim_token > 0]
        so_far = history.attempts_of(connection, tried) if tried else {}
        claimed = [moves.claimed(instance, self.recorder.controller) for instance in free]
        plans = [
            self._plan(connection, before, after, batch, so_far) for before, after in zip(free, claimed, strict=True)
        ]
        if None in plans:
            raise NotAsReadError
        claims = list(zip(free, claimed, strict=True))
        return self.recorder.begin(connection, [plan for plan in plans if plan is not None], now, claims=claims)

    def _claim_one(
        self, connection: Connection, instance: BatchInstance, batch: BatchDefinition, batches: Batches, now: datetime
    ) -> WrittenTurn:
        after, now = moves.claimed(instance, self.recorder.controller), not_before(now, instance.updated_at)
        try:
            with savepoint(connection):
                if instances.claim(connection, instance, after, now):
                    return self._begin_next(connection, instance, after, batch, batches, now)
        except BatchctlError:
            raise
        except Exception as error:  # noqa: BLE001 - the boundary between one instance and the next
            return WrittenTurn(parked=((instance.instance_id, in_short(error)),))
        return WrittenTurn(parked=((instance.instance_id, CHANGED),))

    def _begin_next(
        self,
        connection: Connection,
        before: BatchInstance,
        instance: BatchInstance,
        batch: BatchDefinition,
        batches: Batches,
        now: datetime,
    ) -> WrittenTurn:
        so_far = {instance.instance_id: history.attempts_so_far(connection, instance.instance_id)}
        plan = self._plan(connection, before, instance, batch, so_far)
        if plan is None:
            return self._finish_without_step(connection, instance, batch, batches, now)
        return self.recorder.begin(connection, [plan], now)

    def _plan(
        self,
        connection: Connection,
        before: BatchInstance,
        instance: BatchInstance,
        batch: BatchDefinition,
        so_far: Mapping[InstanceId, AttemptsSoFar],
    ) -> PlannedAttempt | None:
        """Return the attempt at an instance's next step; None when it has none."""
        step = batch.step_after(instance.last_seq)
        if step is None:
            return None
        made = so_far.get(instance.instance_id, AttemptsSoFar())
        attempts = made.at(step.seq)
        must_verify = self._must_verify(connection, before, step)
        cause = moves.cause_of(before.status, attempts=attempts, must_verify=must_verify)
        return PlannedAttempt(instance, batch, step, attempts + 1, cause, made)

    def _must_verify(self, connection: Connection, before: BatchInstance, step: Step) -> bool:
        if step.on_lost is not OnLost.VERIFY or before.status is not InstanceStatus.RETRY:
            return False
        last = history.last_that_ran(connection, before.instance_id)
        return last is not None and last.seq == step.seq and last.may_have_run

    def _finish_without_step(
        self, connection: Connection, instance: BatchInstance, batch: BatchDefinition, batches: Batches, now: datetime
    ) -> WrittenTurn:
        """Complete an instance behind whose last step the definition has none any more."""
        after = moves.moved(instance, moves.finished(instance))
        instances.move(connection, instance, after, now)
        intake.complete_if_done(connection, after.intake_id, now)
        started.note_end(connection, after, None, now)
        fired = dependencies.offer(connection, [after], batches, now)
        return WrittenTurn(announced=(InstanceMessage(batch.name, after),), fired=tuple(fired))


@dataclass(frozen=True)
class _Look:
    """What is seen of the batches at one moment."""

    connection: Connection
    known: Batches
    limit: int | None
    now: datetime
    parked: Container[InstanceId]
    turns: Mapping[BatchId, int]
    can_begin: Callable[[Step | None], bool]
    page: int = FIRST_PAGE
    asked_room: Callable[[], limits.Room] | None = None
    asked: Mapping[BatchId, Callable[[], Iterator[BatchInstance]]] = field(default_factory=dict)
    """Instances in line that have been asked for."""

    def anew(self, batch: BatchDefinition) -> _Look:
        """Look again; what will be wanted of a batch comes along with what was asked before."""
        room = limits.ask_room(self.connection, self.known, self.limit, self.now)
        return replace(self, asked_room=room, asked={batch.batch_id: self._ask(batch)})

    def batches(self) -> Iterator[BatchDefinition]:
        """Yield the batches that are enabled and not frozen, by Seq; of one Seq that first whose turn is longest ago."""
        is_open = (batch for batch in self.known.values() if batch.steps and gates.is_open(batch, self.now))
        for _, batches in groupby(is_open, _BY_SEQ):
            yield from sorted(batches, key=lambda batch: self.turns.get(batch.batch_id, 0))

    def is_promising(self, batch: BatchDefinition) -> bool:
        """Say whether any instance of a batch may start now."""
        return next(self.startable(batch), None) is not None

    def startable(self, batch: BatchDefinition) -> Iterator[BatchInstance]:
        """Yield the instances of a batch that may start now, if there is a place for one; more than there are places for.

        In the place of one whose rows somebody keeps locked the next may start. One whose next step another controller
        has to begin keeps its place.
        """
        places, is_left_out = self.room.places(batch), False
        if places <= 0:
            return
        # What cannot start takes no place from others.
        candidates = (one for one in self._in_line(batch) if one.instance_id not in self.parked)
        found = gates.startable(batch, candidates, now=self.now, places=sys.maxsize, failures=self.failures)
        for number, instance in enumerate(found, start=1):
            if self.can_begin(batch.step_after(instance.last_seq)):
                yield instance
            else:
                is_left_out = True
            if is_left_out and number >= places:
                return

    @cached_property
    def room(self) -> limits.Room:
        """What may be claimed."""
        asked = self.asked_room or limits.ask_room(self.connection, self.known, self.limit, self.now)
        return asked()

    @cached_property
    def failures(self) -> Sequence[BatchInstance]:
        """The failures that stop everything."""
        return stopping_failures(self.connection, self.known)

    def _in_line(self, batch: BatchDefinition) -> Iterator[BatchInstance]:
        return (self.asked.get(batch.batch_id) or self._ask(batch))()

    def _ask(self, batch: BatchDefinition) -> Callable[[], Iterator[BatchInstance]]:
        """Ask for the instances of a batch that may start or keep later ones from starting, in order of creation."""
        if batch.on_failure is not OnFailure.CONTINUE:
            return self._ask_pages(partial(instances.ask_in_line, self.connection, batch.batch_id))
        # Where failures hold back no later instance, any number of them, and of retries not due, may stand in front.
        deferred = self._ask_deferred(batch, MANY_DEFERRED)
        at_once = self._ask_at_once(batch)

        def answer() -> Iterator[BatchInstance]:
            if len(numbers := deferred()) == MANY_DEFERRED:
                return self._of_many_due(batch)
            return self._merged(at_once, numbers)

        return answer

    def _ask_deferred(self, batch: BatchDefinition, most: int) -> Callable[[], list[InstanceId]]:
        return instances.ask_deferred(self.connection, batch.batch_id, most, self.now)

    def _ask_at_once(self, batch: BatchDefinition, after: int = 0) -> Callable[[], Iterator[BatchInstance]]:
        return self._ask_pages(partial(instances.ask_at_once, self.connection, batch.batch_id), after)

    def _of_many_due(self, batch: BatchDefinition) -> Iterator[BatchInstance]:
        """Yield the same where many have waited for their time: first those near the head, then by number.

        An index has them in order of that time, so that all the numbers are needed to tell who was created first. Where
        these are too many, whatever stands in front is read too.
        """
        last, batch_id = 0, batch.batch_id
        near = self._ask_pages(partial(instances.ask_near, self.connection, batch_id, now=self.now, among=NEAR))
        for one in near():
            last = one.instance_id
            yield one
        numbers = self._ask_deferred(batch, MOST_NUMBERED)()
        if len(numbers) < MOST_NUMBERED:
            behind = [number for number in numbers if number > last]
            yield from self._merged(self._ask_at_once(batch, last), behind)
        else:
            yield from self._ask_pages(partial(instances.ask_due, self.connection, batch_id, now=self.now), last)()

    def _merged(
        self, at_once: Callable[[], Iterator[BatchInstance]], numbers: Sequence[InstanceId]
    ) -> Iterator[BatchInstance]:
        """Merge the instances that wait for no time with those of the numbers, in order of creation."""
        return merge(at_once(), self._load(sorted(numbers)), key=_BY_CREATION) if numbers else at_once()

    def _load(self, numbers: Sequence[InstanceId]) -> Iterator[BatchInstance]:
        """Load instances by their numbers as they are wanted, in pages of which each is twice as long as the last."""
        start, most = 0, max(self.page, FIRST_PAGE)
        while page := numbers[start : start + min(most, instances.MOST_LOADED)]:
            yield from instances.these(self.connection, page)
            start, most = start + len(page), most * 2

    def _ask_pages(
        self, ask: Callable[..., Callable[[], list[BatchInstance]]], after: int = 0
    ) -> Callable[[], Iterator[BatchInstance]]:
        """Ask for the first page; those that follow, each twice as long, are asked for when they are wanted."""
        first = ask(after=after, most=max(self.page, FIRST_PAGE))

        def answer() -> Iterator[BatchInstance]:
            asked, most = first, max(self.page, FIRST_PAGE)
            while found := asked():
                yield from found
                most *= 2
                asked = ask(after=found[-1].instance_id, most=most)

        return answer
