"""Attempts as a controller knows them: begun, ended, and what a transaction wrote about them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import chain

from batchctl.domain import moves
from batchctl.domain.commands import Identity
from batchctl.domain.outcomes import StepOutcome
from batchctl.domain.rows import (
    AttemptsSoFar,
    BatchDefinition,
    BatchId,
    BatchInstance,
    HistoryId,
    InstanceId,
    IntakeId,
    Step,
    attempt_of,
)
from batchctl.domain.status import Cause, HistoryStatus, InstanceStatus, StopReason
from batchctl.domain.text import storable
from batchctl.domain.values import value
from batchctl.logs import Event, EventValue
from batchctl.preparation import Prepared
from batchctl.store.turns import Numbers

Batches = Mapping[BatchId, BatchDefinition]


Mark = tuple[InstanceId, int, int, int]
"""What identifies an attempt before its row has a number: instance, ClaimToken, ProcessControlSeq, AttemptNo."""

UNNUMBERED = HistoryId(0)


@value
class PlannedAttempt:
    """An attempt that is to begin."""

    instance: BatchInstance
    batch: BatchDefinition
    step: Step
    attempt_no: int
    cause: Cause
    so_far: AttemptsSoFar

    def ready(self, prepared: Prepared, now: datetime) -> Attempt:
        """Return it made ready to be recorded as begun."""
        return Attempt(self.instance, self.batch, self.step, self.attempt_no, self.cause, self.so_far, prepared, now)


@value
class Attempt(PlannedAttempt):
    """An attempt that has been made ready; it has its number once it is recorded as begun."""

    prepared: Prepared
    started_at: datetime
    history_id: HistoryId = UNNUMBERED

    def numbered(self, history_id: HistoryId) -> Attempt:
        """Return it as it is recorded."""
        return Attempt(
            self.instance,
            self.batch,
            self.step,
            self.attempt_no,
            self.cause,
            self.so_far,
            self.prepared,
            self.started_at,
            history_id,
        )

    @property
    def planned(self) -> PlannedAttempt:
        """Return it as it was planned."""
        return PlannedAttempt(self.instance, self.batch, self.step, self.attempt_no, self.cause, self.so_far)

    @property
    def mark(self) -> Mark:
        """Return what identifies it before its row has a number."""
        return self.instance.instance_id, self.instance.claim_token, self.step.seq, self.attempt_no

    @property
    def fields(self) -> dict[str, EventValue]:
        """Return the ids that every event about the attempt carries."""
        return {
            "BatchControl_id": self.instance.instance_id,
            "ProcessBatchName": self.batch.name,
            "ProcessControlSeq": self.step.seq,
            "ProcessName": self.step.name,
        }

    @property
    def begun(self) -> Event:
        """Return the event that announces its beginning."""
        told: dict[str, EventValue] = {
            "AttemptNo": self.attempt_no,
            "Attempts": self.attempts,
            "Cause": str(self.cause),
        }
        return Event("step.started", {**self.fields, **told})

    @property
    def attempts(self) -> int:
        """Return how many there may be at most, with this one and all before it."""
        return self.attempt_no + self.instance.retry_count


@value
class End:
    """An attempt whose execution has ended, not yet recorded."""

    attempt: Attempt
    outcome: StepOutcome
    identity: Identity | None = None
    ended_at: datetime | None = None
    stop: StopReason | None = None
    """Why it was asked to stop, if it was."""
    never_ran: bool = False
    """True when it could not be begun, through no fault of its own."""
    may_go_on: bool = False
    """True when it was given up, so that it may still do what it does."""
    wrote: bool = False
    """True when rows may tell of what it has written so far."""


@value
class InstanceMessage:
    """What became of an instance, announced after the commit; `attempt` and `ended` unless no attempt was made."""

    batch: str
    instance: BatchInstance
    attempt: Attempt | None = None
    ended: moves.Ended | None = None
    stays: bool = False
    """True when the instance goes on under the same claim, or was not touched."""

    @property
    def is_recorded(self) -> bool:
        """Say whether the end of the attempt stands in its row as the end that counts: a fenced one does not."""
        return self.ended is not None and self.ended.status is not HistoryStatus.FENCED

    def events(self) -> Iterator[Event]:
        """Yield how the attempt ended, and where the instance stands if it does not go on."""
        if self.attempt is not None and self.ended is not None:
            said: dict[str, EventValue] = {"Status": str(self.ended.status)}
            message = self._message(self.attempt, self.ended)
            if message:
                said["Message"] = message
            name = "step.fenced" if self.ended.status is HistoryStatus.FENCED else "step.ended"
            yield Event(name, {**self.attempt.fields, **said})
        if not self.stays:
            yield Event(f"instance.{self.instance.status}", self._fields())

    def _message(self, attempt: Attempt, ended: moves.Ended) -> str | None:
        if ended.status not in {HistoryStatus.FAILED, HistoryStatus.TIMEOUT} or attempt.attempts == 1:
            return ended.message
        which = f"attempt {attempt_of(attempt.attempt_no, attempt.attempts)}"
        return f"{which}: {ended.message}" if ended.message else which

    def _fields(self) -> dict[str, EventValue]:
        instance = self.instance
        fields: dict[str, EventValue] = {"BatchControl_id": instance.instance_id, "ProcessBatchName": self.batch}
        if instance.status is InstanceStatus.RETRY:
            fields["NextRunTime"] = f"{instance.next_run_time:%Y-%m-%dT%H:%M:%SZ}"
            fields["RetryCount"] = instance.retry_count
        if instance.steps_failed:
            fields["StepsFailed"] = instance.steps_failed
        return fields


@value
class Begun:
    """Attempts whose beginning one statement records."""

    attempts: Sequence[Attempt]
    numbers: Numbers

    def committed(self) -> Iterator[Attempt]:
        """Yield them with their numbers."""
        return map(Attempt.numbered, self.attempts, self.numbers.take())


@value
class WrittenTurn:
    """What a transaction wrote."""

    starts: tuple[Attempt, ...] = ()
    """Attempts to be started; see `committed`."""
    announced: tuple[InstanceMessage, ...] = ()
    parked: tuple[tuple[InstanceId, str], ...] = ()
    """Instances that could not be claimed, and why; they are left alone until something changes."""
    locked: tuple[tuple[InstanceId, str], ...] = ()
    """Instances whose rows somebody else keeps locked, and who; they are tried again soon."""
    waiting: tuple[End, ...] = ()
    """Ends that could not be recorded for that reason."""
    begun: tuple[Begun, ...] = ()
    """What was begun by its statements, one after the other."""
    contended: frozenset[str] = frozenset()
    """True when another controller claimed at the same moment what competes with what might have been claimed here."""
    fired: tuple[IntakeId, ...] = ()
    """Rows that ask for work because of what has completed."""

    def __add__(self, other: WrittenTurn) -> WrittenTurn:
        """Put together what two parts of a transaction wrote."""
        return WrittenTurn(
            self.starts + other.starts,
            self.announced + other.announced,
            self.parked + other.parked,
            self.locked + other.locked,
            self.waiting + other.waiting,
            self.begun + other.begun,
            self.contended | other.contended,
            self.fired + other.fired,
        )

    @property
    def started(self) -> list[InstanceId]:
        """Return the instances of which an attempt begins."""
        return [
            *(attempt.instance.instance_id for attempt in self.starts),
            *(attempt.instance.instance_id for begun in self.begun for attempt in begun.attempts),
        ]

    def committed(self) -> WrittenTurn:
        """Return the same with all attempts to be started; for when it is committed."""
        starts = (*self.starts, *chain.from_iterable(one.committed() for one in self.begun))
        return WrittenTurn(
            starts, self.announced, self.parked, self.locked, self.waiting, contended=self.contended, fired=self.fired
        )

    def events(self) -> Iterator[Event]:
        """Yield its events: ends first, because a step of the same instance begins after them."""
        for told in self.announced:
            yield from told.events()
        for intake_id in self.fired:
            yield Event("dependency.satisfied", {"FileProcess_id": intake_id})
        for attempt in self.starts:
            yield attempt.begun


def made_storable(outcome: StepOutcome) -> StepOutcome:
    """Return an outcome whose texts any table can hold."""
    if outcome.message is None and outcome.output is None:
        return outcome
    message, output = _storable(outcome.message), _storable(outcome.output)
    if message is outcome.message and output is outcome.output:
        return outcome
    return replace(outcome, message=message, output=output)


def _storable(text: object) -> str | None:
    return None if text is None else storable(text if isinstance(text, str) else str(text))


@dataclass(frozen=True, slots=True, kw_only=True)
class PassReport:
    """What a pass did."""

    started: int = 0
    succeeded: int = 0
    failed: int = 0
    cancelled: int = 0
    completed: int = 0
    failed_instances: tuple[InstanceId, ...] = ()
    asked: tuple[InstanceId, ...] = ()


@dataclass(slots=True)
class Tally:
    """Counts what happens during a pass."""

    started: int = 0
    succeeded: int = 0
    failed: int = 0
    cancelled: int = 0
    completed: int = 0
    failed_instances: dict[InstanceId, None] = field(default_factory=dict)
    asked: dict[InstanceId, None] = field(default_factory=dict)
    """Instances that wait for the answer of a person."""

    def count(self, written: WrittenTurn) -> None:
        """Count what a transaction wrote."""
        self.started += len(written.starts)
        for told in written.announced:
            self._count(told)

    def _count(self, announced: InstanceMessage) -> None:
        if announced.instance.status is InstanceStatus.COMPLETE:
            self.completed += 1
        if announced.ended is None:
            return
        if announced.ended.status is HistoryStatus.SUCCESS:
            self.succeeded += 1
        elif announced.ended.status is HistoryStatus.CANCELLED:
            self.cancelled += 1
        elif announced.ended.status is HistoryStatus.ASKED:
            self.asked[announced.instance.instance_id] = None
        elif announced.ended.status is not HistoryStatus.FENCED:  # Somebody else goes on with the instance.
            self.count_failed(announced.instance.instance_id)

    def count_failed(self, instance_id: InstanceId) -> None:
        """Count an attempt that did not succeed."""
        self.failed += 1
        self.failed_instances[instance_id] = None

    def report(self) -> PassReport:
        """Return the counts so far."""
        return PassReport(
            started=self.started,
            succeeded=self.succeeded,
            failed=self.failed,
            cancelled=self.cancelled,
            completed=self.completed,
            failed_instances=tuple(self.failed_instances),
            asked=tuple(self.asked),
        )
