"""What one turn writes: how attempts ended, which attempts begin. All of it inside the caller's transaction."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from batchctl.domain import gates, moves
from batchctl.domain.errors import BatchctlError, Conflict
from batchctl.domain.occupancy import Occupancy
from batchctl.domain.outcomes import Identity, StepOutcome
from batchctl.domain.rows import (
    LONG_AGO,
    AttemptsSoFar,
    BatchDefinition,
    BatchId,
    BatchInstance,
    HistoryEntry,
    HistoryId,
    InstanceId,
    Step,
)
from batchctl.domain.status import Cause, HistoryStatus, InstanceStatus, InstanceVerb, OnFailure, OnLost, StopReason
from batchctl.domain.text import storable
from batchctl.logs import Event, EventValue
from batchctl.preparation import Prepared, Preparer
from batchctl.store import history, instances, intake, limits
from batchctl.store.transactions import savepoint

FIRST_PAGE = 2
"""How many open instances of a batch are read first while looking for one that may start; each page is twice the last."""

Batches = Mapping[BatchId, BatchDefinition]


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """An attempt that has been recorded as begun."""

    history_id: HistoryId
    instance: BatchInstance
    batch: BatchDefinition
    step: Step
    attempt_no: int
    cause: Cause
    prepared: Prepared
    so_far: AttemptsSoFar
    started_at: datetime
    begun_by: str
    """The controller that began it, which may be dead."""

    @property
    def fields(self) -> dict[str, EventValue]:
        """Return the ids that every event about the attempt carries."""
        return {
            "BatchControl_id": self.instance.instance_id,
            "ProcessBatchName": self.batch.name,
            "ProcessControlSeq": self.step.seq,
            "ProcessName": self.step.name,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """An attempt whose execution has ended, not yet recorded."""

    attempt: Attempt
    outcome: StepOutcome
    identity: Identity | None = None
    ended_at: datetime | None = None
    stop: StopReason | None = None
    """Why it was told to stop, if it was."""


@dataclass(frozen=True, slots=True)
class Told:
    """What became of an instance, to be told after the commit; `attempt` and `ended` unless no attempt was made."""

    batch: str
    instance: BatchInstance
    attempt: Attempt | None = None
    ended: moves.Ended | None = None
    stays: bool = False
    """True when the instance goes on under the same claim, or was not touched."""

    def events(self) -> Iterator[Event]:
        """Yield how the attempt ended, and where the instance stands if it does not go on."""
        if self.attempt is not None and self.ended is not None:
            said: dict[str, EventValue] = {"Status": self.ended.status.value}
            if self.ended.message:
                said["Message"] = self.ended.message
            name = "step.fenced" if self.ended.status is HistoryStatus.FENCED else "step.ended"
            yield Event(name, {**self.attempt.fields, **said})
        if not self.stays:
            yield Event(f"instance.{self.instance.status}", self._fields())

    def _fields(self) -> dict[str, EventValue]:
        instance = self.instance
        fields: dict[str, EventValue] = {"BatchControl_id": instance.instance_id, "ProcessBatchName": self.batch}
        if instance.status is InstanceStatus.RETRY:
            fields["NextRunTime"] = f"{instance.next_run_time:%Y-%m-%dT%H:%M:%SZ}"
            fields["RetryCount"] = instance.retry_count
        return fields


@dataclass(frozen=True, slots=True)
class Written:
    """What a transaction wrote."""

    starts: tuple[Attempt, ...] = ()
    told: tuple[Told, ...] = ()
    parked: tuple[tuple[InstanceId, str], ...] = ()
    """Instances that could not be claimed, and why; they are left alone until something changes."""
    locked: tuple[tuple[InstanceId, str], ...] = ()
    """Instances whose rows somebody else keeps locked, and who; they are tried again soon."""
    waiting: tuple[End, ...] = ()
    """Ends that could not be recorded for that reason."""
    contended: bool = False
    """True when another controller claimed at the same moment what competes with what might have been claimed here."""

    def __add__(self, other: Written) -> Written:
        """Put together what two parts of a transaction wrote."""
        return Written(
            self.starts + other.starts,
            self.told + other.told,
            self.parked + other.parked,
            self.locked + other.locked,
            self.waiting + other.waiting,
            self.contended or other.contended,
        )


@dataclass(frozen=True, slots=True)
class Recorder:
    """Writes for one controller."""

    preparer: Preparer
    controller: str
    host: str

    def record_ends(
        self, connection: Any, ends: Sequence[End], batches: Batches, now: datetime, *, stopping: bool
    ) -> Written:
        """Record how attempts ended; one whose rows somebody else keeps locked waits, and the others do not wait for it."""
        locked = instances.locked(connection, [end.attempt.instance.instance_id for end in ends]) if ends else ()
        written = Written()
        for end in ends:
            instance_id = end.attempt.instance.instance_id
            if instance_id in locked:
                written += Written(locked=(_locked(connection, instance_id),), waiting=(end,))
            else:
                written += self.record_end(connection, end, batches, now, stopping=stopping)
        return written

    def record_end(self, connection: Any, end: End, batches: Batches, now: datetime, *, stopping: bool) -> Written:
        """Record how an attempt ended, where its instance stands, and the next step's beginning if there is one."""
        attempt = end.attempt
        batch = batches.get(attempt.batch.batch_id, attempt.batch)
        ended = self._ended(end)
        known = attempt.batch.batch_id in batches
        may_go_on = known and not stopping and batch.enabled and not stopping_failures(connection, batches)
        found = self._load(connection, attempt) if end.stop is StopReason.CANCEL else attempt.instance
        while found is not None and _is_ours(found, attempt):
            move = moves.after_step(found, batch, ended, now=now, may_go_on=may_go_on)
            after = moves.moved(found, move)
            if instances.move(connection, found, after, now):
                return self._went(connection, end, ended, move, after, batch, now)
            # Not as it was when the attempt began: a person may have asked to pause or cancel it meanwhile.
            before, found = found, self._load(connection, attempt)
            if found == before:
                break
        return self._fenced(connection, end, now)

    def settle(
        self,
        connection: Any,
        ends: Sequence[End],
        batches: Batches,
        known: Container[HistoryId],
    ) -> tuple[Written, Sequence[End]]:
        """Find out what became of a transaction whose commit nobody saw; return it, and the ends that it did not record.

        What it began is begun: no other turn could have started it. What it ended is only told.
        """
        written, left = Written(), list[End]()
        for end in ends:
            entry = history.load(connection, end.attempt.history_id)
            if entry is None or entry.status is HistoryStatus.RUNNING:
                left.append(end)
                continue
            ended = moves.Ended(seq=entry.seq, status=entry.status, message=entry.message)
            after = self._load(connection, end.attempt) or end.attempt.instance
            stays = after.status.is_claimed and after.claimed_by == self.controller
            written += Written(told=(Told(end.attempt.batch.name, after, end.attempt, ended, stays),))
        of_ends = {end.attempt.history_id for end in ends}
        for entry in history.live_entries(connection):
            is_new = entry.history_id not in known and entry.history_id not in of_ends
            if is_new and entry.claimed_by == self.controller:
                written += self._resume(connection, entry, batches)
        return written, left

    def _resume(self, connection: Any, entry: HistoryEntry, batches: Batches) -> Written:
        instance, batch = instances.load(connection, entry.instance_id), batches.get(entry.batch_id)
        if instance is None or instance.claimed_by != self.controller or instance.claim_token != entry.claim_token:
            return Written()
        step = None if batch is None else batch.step_at(entry.seq)
        if batch is None or step is None:
            return (
                Written()
            )  # Only a hand can have taken the definition away in that moment; the next start finds it lost.
        prepared = self.preparer.prepare(
            instance, batch, step, attempt_no=entry.attempt_no, cause=entry.cause, now=entry.started_at
        )
        if prepared.command_spec != entry.command_spec:
            reason = "the definition was changed while nobody knew whether the step had been recorded"
            prepared = Prepared(prepared.step, None, None, reason)
        attempt = Attempt(
            history_id=entry.history_id,
            instance=instance,
            batch=batch,
            step=step,
            attempt_no=entry.attempt_no,
            cause=entry.cause,
            prepared=prepared,
            so_far=history.attempts_so_far(connection, instance.instance_id),
            started_at=entry.started_at,
            begun_by=self.controller,
        )
        return Written(starts=(attempt,))

    def candidates(
        self,
        connection: Any,
        batches: Batches,
        occupancy: Occupancy,
        now: datetime,
        parked: Container[InstanceId] = (),
    ) -> Iterator[tuple[BatchDefinition, BatchInstance]]:
        """Yield what may start now: enabled batches by Seq, within a batch in order of creation."""
        failures = stopping_failures(connection, batches)
        with_open = instances.batches_with_open(connection)
        for batch in batches.values():
            if batch.enabled and batch.steps and batch.batch_id in with_open:
                for instance in _startable(connection, batch, occupancy.places(batch), now, parked, failures):
                    yield batch, instance

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
        promising = self.candidates(connection, batches, before, now, parked)
        for batch in dict.fromkeys(batch.batch_id for batch, _ in promising):
            if len(written.starts) >= places:
                break
            if limits.lock(connection, batches[batch], limit):
                left = places - len(written.starts)
                written += self._claim_of(connection, batches[batch], batches, limit, now, left, parked)
            else:
                written += Written(contended=True)
        return written

    def _claim_of(
        self,
        connection: Any,
        batch: BatchDefinition,
        batches: Batches,
        limit: int | None,
        now: datetime,
        most: int,
        parked: Container[InstanceId],
    ) -> Written:
        """Claim instances of one batch, which is locked: what is read now stays so."""
        written = Written()
        occupancy = limits.occupancy(connection, batches, limit)
        as_it_is = replace(batch, max_concurrent=limits.places_as_it_is(connection, batch))
        failures = stopping_failures(connection, batches)
        for instance in _startable(connection, batch, occupancy.places(as_it_is), now, parked, failures):
            written += self._claim_one(connection, instance, batch, now)
            if len(written.starts) >= most:
                break
        return written

    def _claim_one(self, connection: Any, instance: BatchInstance, batch: BatchDefinition, now: datetime) -> Written:
        if instance.instance_id in instances.locked(connection, [instance.instance_id]):
            return Written(locked=(_locked(connection, instance.instance_id),))
        after = moves.claimed(instance, self.controller)
        try:
            with savepoint(connection):
                if instances.claim(connection, instance, after, now):
                    return self._begin_next(connection, instance, after, batch, now)
        except BatchctlError:
            raise
        except Exception as error:  # noqa: BLE001 - the boundary between one instance and the next
            return Written(parked=((instance.instance_id, f"{type(error).__name__}: {error}"),))
        return Written(parked=((instance.instance_id, "it changed meanwhile"),))

    def take_over(
        self, connection: Any, entry: HistoryEntry, found: BatchInstance, batch: BatchDefinition, now: datetime
    ) -> Attempt | None:
        """Go on with an attempt that another controller has begun; None when it is not as it was read."""
        after = moves.taken_over(found, self.controller)
        attempt = self.resumed(connection, entry, after, batch)
        if attempt is None or not instances.move(connection, found, after, now):
            return None
        if not history.take_over(connection, entry, after, now):
            message = f"Attempt {entry.history_id} ended while it was taken over."
            raise Conflict(message)
        return attempt

    def resumed(
        self, connection: Any, entry: HistoryEntry, instance: BatchInstance, batch: BatchDefinition
    ) -> Attempt | None:
        """Return an attempt that another controller has begun, as this one watches over it; None without a definition."""
        step = batch.step_at(entry.seq)
        prepared = None if step is None else self.preparer.as_begun(step, entry)
        if step is None or prepared is None or prepared.handler is None:
            return None
        return Attempt(
            history_id=entry.history_id,
            instance=instance,
            batch=batch,
            step=step,
            attempt_no=entry.attempt_no,
            cause=entry.cause,
            prepared=prepared,
            so_far=history.attempts_so_far(connection, instance.instance_id),
            started_at=entry.started_at,
            begun_by=entry.claimed_by or "",
        )

    def release(self, connection: Any, instance: BatchInstance, now: datetime) -> bool:
        """Give back a claim under which nothing was begun."""
        return instances.move(connection, instance, moves.moved(instance, moves.released(instance)), now)

    def _went(
        self,
        connection: Any,
        end: End,
        ended: moves.Ended,
        move: moves.Move,
        after: BatchInstance,
        batch: BatchDefinition,
        now: datetime,
    ) -> Written:
        attempt = end.attempt
        self._close(connection, end, ended, move, now)
        if after.status.is_final:
            intake.complete_if_done(connection, after.intake_id, now)
        stays = move.verb is InstanceVerb.ADVANCE
        written = Written(told=(Told(attempt.batch.name, after, attempt, ended, stays),))
        step = batch.step_after(move.last_seq)
        if not stays or step is None:
            return written
        cause = moves.cause_of(InstanceStatus.READY, attempts=attempt.so_far.at(step.seq), must_verify=False)
        return written + self._begin(connection, after, batch, step, attempt.so_far, cause, now)

    def _load(self, connection: Any, attempt: Attempt) -> BatchInstance | None:
        return instances.load(connection, attempt.instance.instance_id)

    def _begin_next(
        self, connection: Any, before: BatchInstance, instance: BatchInstance, batch: BatchDefinition, now: datetime
    ) -> Written:
        step = batch.step_after(instance.last_seq)
        if step is None:
            return self._finish_without_step(connection, instance, batch, now)
        so_far = history.attempts_so_far(connection, instance.instance_id)
        must_verify = False
        if step.on_lost is OnLost.VERIFY and before.status is InstanceStatus.RETRY:
            last = history.last_entry(connection, instance.instance_id)
            must_verify = last is not None and last.seq == step.seq and last.may_have_run
        cause = moves.cause_of(before.status, attempts=so_far.at(step.seq), must_verify=must_verify)
        return self._begin(connection, instance, batch, step, so_far, cause, now)

    def _begin(
        self,
        connection: Any,
        instance: BatchInstance,
        batch: BatchDefinition,
        step: Step,
        so_far: AttemptsSoFar,
        cause: Cause,
        now: datetime,
    ) -> Written:
        attempt_no = so_far.at(step.seq) + 1
        prepared = self.preparer.prepare(instance, batch, step, attempt_no=attempt_no, cause=cause, now=now)
        history_id = history.open_entry(
            connection,
            instance=instance,
            step=step,
            attempt_no=attempt_no,
            cause=cause,
            command_text=prepared.command_text,
            command_spec=prepared.command_spec,
            host=self.host,
            now=now,
        )
        attempt = Attempt(
            history_id=history_id,
            instance=instance,
            batch=batch,
            step=step,
            attempt_no=attempt_no,
            cause=cause,
            prepared=prepared,
            so_far=so_far,
            started_at=now,
            begun_by=self.controller,
        )
        return Written(starts=(attempt,))

    def _finish_without_step(
        self, connection: Any, instance: BatchInstance, batch: BatchDefinition, now: datetime
    ) -> Written:
        """Complete an instance behind whose last step the definition has none any more."""
        after = moves.moved(instance, moves.finished(instance))
        instances.move(connection, instance, after, now)
        intake.complete_if_done(connection, after.intake_id, now)
        return Written(told=(Told(batch.name, after),))

    def _ended(self, end: End) -> moves.Ended:
        attempt = end.attempt
        if attempt.cause is Cause.VERIFY:
            done = self.preparer.is_done(attempt.prepared.step.process_type, end.outcome)
            return moves.verified(attempt.step.seq, end.outcome, done=done)
        return moves.ended(attempt.step, end.outcome, end.stop)

    def _close(self, connection: Any, end: End, ended: moves.Ended, move: moves.Move, now: datetime) -> None:
        history.close_entry(
            connection,
            end.attempt.history_id,
            token=end.attempt.instance.claim_token,
            status=ended.status,
            outcome=end.outcome,
            message=None if ended.message is None else storable(ended.message),
            identity=end.identity,
            retry_count_after=move.retry_count,
            next_run_time_after=move.next_run_time if move.next_run_time > LONG_AGO else None,
            ended_at=end.ended_at or now,
            now=now,
        )

    def _fenced(self, connection: Any, end: End, now: datetime) -> Written:
        """Record that somebody else has the instance now: nothing of this attempt counts."""
        found = self._load(connection, end.attempt)
        if found is not None and found.status.is_claimed and found.claimed_by == self.controller:
            # A hand has changed the token, and nobody else works on it: a person must look.
            instances.move(connection, found, moves.moved(found, moves.held(found)), now)
        how = end.outcome.message or ("well" if end.outcome.succeeded else "badly")
        said = f"another controller or a person took the instance over; the attempt had ended: {how}"
        closed = history.close_entry(
            connection,
            end.attempt.history_id,
            token=end.attempt.instance.claim_token,
            status=HistoryStatus.FENCED,
            outcome=end.outcome,
            message=storable(said),
            identity=end.identity,
            retry_count_after=None,
            next_run_time_after=None,
            ended_at=end.ended_at or now,
            now=now,
        )
        if not closed:
            at = f"{end.ended_at or now:%Y-%m-%d %H:%M:%S} UTC"
            late = storable(f"late result, known since {at}: {'success' if end.outcome.succeeded else how}")
            history.note_late(connection, end.attempt.history_id, end.attempt.instance.claim_token, late, now)
        ended = moves.Ended(seq=end.attempt.step.seq, status=HistoryStatus.FENCED, message=None)
        return Written(told=(Told(end.attempt.batch.name, end.attempt.instance, end.attempt, ended, stays=True),))


def stopping_failures(connection: Any, batches: Batches) -> Sequence[BatchInstance]:
    """Return the standing failures of batches with OnFailure stop_all, in order of creation."""
    stopping = {key for key, batch in batches.items() if batch.on_failure is OnFailure.STOP_ALL}
    if not stopping:
        return ()
    return [failure for failure in instances.standing_failures(connection) if failure.batch_id in stopping]


def _locked(connection: Any, instance_id: InstanceId) -> tuple[InstanceId, str]:
    return instance_id, f"the row is locked by {instances.blocker(connection)}"


def _startable(
    connection: Any,
    batch: BatchDefinition,
    places: int,
    now: datetime,
    parked: Container[InstanceId],
    failures: Sequence[BatchInstance],
) -> Iterator[BatchInstance]:
    if places <= 0:
        return
    for instance in gates.startable(batch, _open_of(connection, batch), now=now, places=places):
        if instance.instance_id not in parked and gates.stopper(instance, failures) is None:
            yield instance


def _is_ours(found: BatchInstance, attempt: Attempt) -> bool:
    return found.claim_token == attempt.instance.claim_token and found.status.is_claimed


def _open_of(connection: Any, batch: BatchDefinition) -> Iterator[BatchInstance]:
    after, most = 0, FIRST_PAGE
    while page := instances.open_of(connection, batch.batch_id, after, most):
        yield from page
        after, most = page[-1].instance_id, most * 2


def made_storable(outcome: StepOutcome) -> StepOutcome:
    """Return an outcome whose texts any table can hold."""
    message, output = _storable(outcome.message), _storable(outcome.output)
    if message is outcome.message and output is outcome.output:
        return outcome
    return replace(outcome, message=message, output=output)


def _storable(text: object) -> str | None:
    return None if text is None else storable(text if isinstance(text, str) else str(text))
