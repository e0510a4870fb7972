"""Claiming: which instances may start now, made this controller's own, and their next step begun."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from itertools import count, groupby, islice, takewhile

from batchctl.control.attempts import Batches, InstanceMessage, PlannedAttempt, WrittenTurn
from batchctl.control.recording import Recorder, named_locked, stopping_failures
from batchctl.domain import gates, moves
from batchctl.domain.errors import BatchctlError
from batchctl.domain.moves import not_before
from batchctl.domain.operators.pools import Pools
from batchctl.domain.rows import AttemptsSoFar, BatchDefinition, BatchId, BatchInstance, InstanceId, Step
from batchctl.domain.scheduling.pace import begins
from batchctl.domain.status import InstanceStatus, OnLost
from batchctl.domain.text import in_short
from batchctl.store import Connection, history, in_line, instances, limits, started
from batchctl.store.dependencies import dependencies
from batchctl.store.in_line import FIRST_PAGE, Claimable, Line
from batchctl.store.intake import intake
from batchctl.store.transactions import NotAsReadError, savepoint

CHANGED = "it changed meanwhile"
"""The message about an instance that somebody else has moved: nothing is wrong with it."""


def _rank(batch: BatchDefinition) -> tuple[int, int]:
    return batch.seq, -(batch.priority or 0)


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
        look = _Look(connection, batches, limit, now, parked, self._turns, self.recorder)
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
        look = _Look(connection, batches, limit, now, parked, self._turns, self.recorder, page=places)
        for batch in look.batches():
            if not self.recorder.has_time:
                break
            if batch.batch_id not in likely and not look.is_promising(batch):
                continue
            # What has been claimed since may have taken what this batch needs; what is read behind the lock stays so.
            locked = look.locked(batch, anew=bool(written.started) or limits.others_write(connection))
            if locked is None:
                written += WrittenTurn(contended=frozenset({batch.name}))
                continue
            look = locked
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
                for one in in_time:
                    try:
                        written += self._claim_one(connection, one, batch, batches, now)
                    except _NoSlotError:
                        return written
            elif free:
                claimed = self._claim_together(connection, free, batch, now)
                written += claimed
                if len(claimed.started) < len(free):
                    break
        return written

    def _claim_together(
        self, connection: Connection, free: Sequence[BatchInstance], batch: BatchDefinition, now: datetime
    ) -> WrittenTurn:
        now = not_before(now, *(instance.updated_at for instance in free))
        # What was never claimed was never tried; where a hand has made it look so, one by one is counted.
        tried = [instance.instance_id for instance in free if instance.claim_token > 0]
        so_far = history.attempts_of(connection, tried) if tried else {}
        claimed = [self._claimed(instance, batch, now) for instance in free]
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
        now = not_before(now, instance.updated_at)
        after = self._claimed(instance, batch, now)
        try:
            with savepoint(connection):
                if instances.claim(connection, instance, after, now):
                    return self._begin_next(connection, instance, after, batch, batches, now)
        except (BatchctlError, _NoSlotError):
            raise
        except Exception as error:  # noqa: BLE001 - the boundary between one instance and the next
            return WrittenTurn(parked=((instance.instance_id, in_short(error)),))
        return WrittenTurn(parked=((instance.instance_id, CHANGED),))

    def _claimed(self, instance: BatchInstance, batch: BatchDefinition, now: datetime) -> BatchInstance:
        after = moves.claimed(instance, batch, self.recorder.controller)
        is_counted = batch.max_per_minute is not None and begins(instance, batch)
        return replace(after, begun_at=now) if is_counted else after

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
        written = self.recorder.begin(connection, [plan], now)
        if not written.begun:
            raise _NoSlotError
        return written

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


class _NoSlotError(Exception):
    """Agents have no slot for the step of an instance that was claimed: the claim is taken back."""


@dataclass(frozen=True)
class _Look:
    """What is seen of the batches at one moment."""

    connection: Connection
    known: Batches
    limit: int | None
    now: datetime
    parked: Container[InstanceId]
    turns: Mapping[BatchId, int]
    recorder: Recorder
    page: int = FIRST_PAGE
    claimable: Claimable | None = None
    """What was seen of one batch behind its lock."""

    def locked(self, batch: BatchDefinition, *, anew: bool) -> _Look | None:
        """Keep others from claiming from a batch, and look at it anew where that is wanted; None where another does."""
        if not anew:
            return self if limits.lock(self.connection, batch, self.limit, self._pools) else None
        found = in_line.lock_and_look(self.connection, batch, self.known, self.limit, self.now, self.page, self._pools)
        return None if found is None else replace(self, claimable=found)

    def batches(self) -> Iterator[BatchDefinition]:
        """Yield the batches that are enabled and not frozen, by Seq and Priority; then that whose turn is longest ago."""
        is_open = (batch for batch in self.known.values() if batch.steps and gates.is_open(batch, self.now))
        for _, batches in groupby(is_open, _rank):
            yield from sorted(batches, key=lambda batch: self.turns.get(batch.batch_id, 0))

    def is_promising(self, batch: BatchDefinition) -> bool:
        """Say whether any instance of a batch may start now."""
        return next(self.startable(batch), None) is not None

    def startable(self, batch: BatchDefinition) -> Iterator[BatchInstance]:
        """Yield the instances of a batch that may start now, if there is a place for one; more than there are places for.

        In the place of one whose rows somebody keeps locked the next may start. One whose next step another controller
        has to begin, or whose pool is full, keeps its place; where it has failed before, those behind it wait for it.
        """
        places, is_left_out, in_pools = self.room.places(batch), False, Counter[str]()
        if places <= 0:
            return
        # What is passed over takes no place from others; where it has failed, those behind it wait for it all the same.
        line = self._in_line(batch)
        # Asked each time: behind the lock it is another one.
        pace = limits.pace(self.connection, batch, self.now)
        found = gates.startable(batch, line, now=self.now, places=sys.maxsize, failures=self.failures, pace=pace)
        number = 0
        for instance in found:
            is_passed_over = instance.instance_id in self.parked
            number += not is_passed_over
            if not is_passed_over and self._has_room(batch, instance, in_pools):
                yield instance
            elif gates.makes_later_wait(instance, batch, self.now):
                return
            else:
                is_left_out |= not is_passed_over
            if is_left_out and number >= places:
                return

    def _has_room(self, batch: BatchDefinition, instance: BatchInstance, in_pools: Counter[str]) -> bool:
        """Say whether this controller may begin an instance's next step; count what is claimed for each pool meanwhile."""
        step = batch.step_after(instance.last_seq)
        if step is None:
            return True
        pool = batch.pool_of(step)
        rooms = self.room.places_in(pool), self.recorder.serves.room_for(batch, step)
        is_full = any(room is not None and in_pools[pool] >= room for room in rooms)
        if is_full or not self.recorder.can_begin(batch, step):
            return False
        in_pools[pool] += 1
        return True

    @property
    def _pools(self) -> Pools:
        return self.recorder.serves.known

    @cached_property
    def room(self) -> limits.Room:
        """What may be claimed."""
        if self.claimable is not None:
            return self.claimable.room
        return limits.room(self.connection, self.known, self.limit, self.now, self._pools)

    @cached_property
    def failures(self) -> Sequence[BatchInstance]:
        """The failures that stop everything."""
        return stopping_failures(self.connection, self.known)

    def _in_line(self, batch: BatchDefinition) -> Iterable[BatchInstance]:
        if self.claimable is not None and self.claimable.line.batch is batch:
            return self.claimable.line
        return Line(self.connection, batch, self.now, self.page)
