"""Claiming: which instances may start now, made this controller's own, and their next step begun."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from itertools import chain, islice
from typing import Any

from batchctl.control.attempts import Batches, Told, Written
from batchctl.control.recording import NotAsReadError, Plan, Recorder, stopping_failures, told_locked
from batchctl.domain import gates, moves
from batchctl.domain.errors import BatchctlError
from batchctl.domain.occupancy import Occupancy
from batchctl.domain.rows import AttemptsSoFar, BatchDefinition, BatchInstance, InstanceId, Step
from batchctl.domain.status import InstanceStatus, OnFailure, OnLost
from batchctl.store import history, instances, intake, limits
from batchctl.store.transactions import savepoint

FIRST_PAGE = 2
"""How many open instances of a batch are read at least while looking for those that may start; each page is twice the last."""


@dataclass(frozen=True, slots=True)
class Claimer:
    """Claims for one controller."""

    recorder: Recorder

    def promising(
        self,
        connection: Any,
        batches: Batches,
        occupancy: Occupancy,
        now: datetime,
        parked: Container[InstanceId] = (),
        *,
        page: int = FIRST_PAGE,
    ) -> Iterator[tuple[BatchDefinition, Iterator[BatchInstance]]]:
        """Yield the batches of which instances may start now, with those instances: enabled ones by Seq."""
        failures = stopping_failures(connection, batches)
        with_open = instances.batches_with_open(connection)
        for batch in batches.values():
            if batch.enabled and batch.steps and batch.batch_id in with_open:
                found = _startable(connection, batch, occupancy.places(batch), now, parked, failures, page)
                if first := next(found, None):
                    yield batch, chain((first,), found)

    def claim(
        self,
        connection: Any,
        batches: Batches,
        limit: int | None,
        now: datetime,
        *,
        places: int,
        parked: Container[InstanceId] = (),
    ) -> Written:
        """Claim up to `places` instances and record the beginning of their next step.

        One that cannot be claimed or begun is passed over, and named in `parked`. A batch that another controller
        claims from at this moment is passed over too: nobody waits for another.
        """
        written = Written()
        before = limits.occupancy(connection, batches, limit)
        for batch, found in self.promising(connection, batches, before, now, parked, page=places):
            if not limits.lock(connection, batch, limit):
                written += Written(contended=frozenset({batch.name}))
                continue
            may_start = found
            if written.starts or limits.others_write(connection):
                # What has been claimed since may have taken what this batch needs.
                may_start = self._found_anew(connection, batch, batches, limit, now, parked, page=places)
            written += self._claim_of(connection, batch, may_start, now, places - len(written.starts))
            if len(written.starts) >= places:
                break
        return written

    def _found_anew(
        self,
        connection: Any,
        batch: BatchDefinition,
        batches: Batches,
        limit: int | None,
        now: datetime,
        parked: Container[InstanceId],
        page: int,
    ) -> Iterator[BatchInstance]:
        """Return what may start of a batch that is locked now: what is read from now on stays so."""
        occupancy = limits.occupancy(connection, batches, limit)
        places = occupancy.places(replace(batch, max_concurrent=limits.places_as_it_is(connection, batch)))
        return _startable(connection, batch, places, now, parked, stopping_failures(connection, batches), page)

    def _claim_of(
        self, connection: Any, batch: BatchDefinition, found: Iterator[BatchInstance], now: datetime, most: int
    ) -> Written:
        written = Written()
        while len(written.starts) < most and (chosen := list(islice(found, most - len(written.starts)))):
            written += self._claim_chosen(connection, chosen, batch, now)
        return written

    def _claim_chosen(
        self, connection: Any, chosen: Sequence[BatchInstance], batch: BatchDefinition, now: datetime
    ) -> Written:
        """Claim all of these at once, or, where that is refused, each by itself."""
        locked = instances.locked(connection, [instance.instance_id for instance in chosen])
        written, free = Written(), list[BatchInstance]()
        for instance in chosen:
            if instance.instance_id in locked:
                written += Written(locked=(told_locked(connection, instance.instance_id),))
            else:
                free.append(instance)
        if free:
            try:
                with savepoint(connection):
                    return written + self._claim_together(connection, free, batch, now)
            except BatchctlError:
                raise
            except Exception:  # noqa: BLE001, S110 - which of them it is comes out below
                pass
        for instance in free:
            written += self._claim_one(connection, instance, batch, now)
        return written

    def _claim_together(
        self, connection: Any, free: Sequence[BatchInstance], batch: BatchDefinition, now: datetime
    ) -> Written:
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

    def _claim_one(self, connection: Any, instance: BatchInstance, batch: BatchDefinition, now: datetime) -> Written:
        after = moves.claimed(instance, self.recorder.controller)
        try:
            with savepoint(connection):
                if instances.claim(connection, instance, after, now):
                    return self._begin_next(connection, instance, after, batch, now)
        except BatchctlError:
            raise
        except Exception as error:  # noqa: BLE001 - the boundary between one instance and the next
            return Written(parked=((instance.instance_id, f"{type(error).__name__}: {error}"),))
        return Written(parked=((instance.instance_id, "it changed meanwhile"),))

    def _begin_next(
        self, connection: Any, before: BatchInstance, instance: BatchInstance, batch: BatchDefinition, now: datetime
    ) -> Written:
        so_far = {instance.instance_id: history.attempts_so_far(connection, instance.instance_id)}
        plan = self._plan(connection, before, instance, batch, so_far)
        if plan is None:
            return self._finish_without_step(connection, instance, batch, now)
        return self.recorder.begin(connection, [plan], now)

    def _plan(
        self,
        connection: Any,
        before: BatchInstance,
        instance: BatchInstance,
        batch: BatchDefinition,
        so_far: Mapping[InstanceId, AttemptsSoFar],
    ) -> Plan | None:
        """Return the attempt at an instance's next step; None when it has none."""
        step = batch.step_after(instance.last_seq)
        if step is None:
            return None
        made = so_far.get(instance.instance_id, AttemptsSoFar())
        attempts = made.at(step.seq)
        must_verify = self._must_verify(connection, before, step)
        cause = moves.cause_of(before.status, attempts=attempts, must_verify=must_verify)
        return Plan(instance, batch, step, attempts + 1, cause, made)

    def _must_verify(self, connection: Any, before: BatchInstance, step: Step) -> bool:
        if step.on_lost is not OnLost.VERIFY or before.status is not InstanceStatus.RETRY:
            return False
        last = history.last_that_ran(connection, before.instance_id)
        return last is not None and last.seq == step.seq and last.may_have_run

    def _finish_without_step(
        self, connection: Any, instance: BatchInstance, batch: BatchDefinition, now: datetime
    ) -> Written:
        """Complete an instance behind whose last step the definition has none any more."""
        after = moves.moved(instance, moves.finished(instance))
        instances.move(connection, instance, after, now)
        intake.complete_if_done(connection, after.intake_id, now)
        return Written(told=(Told(batch.name, after),))


def _startable(
    connection: Any,
    batch: BatchDefinition,
    places: int,
    now: datetime,
    parked: Container[InstanceId],
    failures: Sequence[BatchInstance],
    page: int,
) -> Iterator[BatchInstance]:
    if places <= 0:
        return
    # What cannot start takes nobody's place.
    candidates = (one for one in _open_of(connection, batch, now, page) if one.instance_id not in parked)
    yield from gates.startable(batch, candidates, now=now, places=places, failures=failures)


def _open_of(connection: Any, batch: BatchDefinition, now: datetime, page: int) -> Iterator[BatchInstance]:
    after, most = 0, max(page, FIRST_PAGE)
    # Where failures keep nobody back, thousands of them, and of retries, may stand before the next one.
    read = partial(instances.due_of, now=now) if batch.on_failure is OnFailure.CONTINUE else instances.open_of
    while found := read(connection, batch.batch_id, after, most):
        yield from found
        after, most = found[-1].instance_id, most * 2
