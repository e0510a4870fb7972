"""Waiting for work: until instances are done, or need a person."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Annotated, Protocol

from batchctl.domain import gates
from batchctl.domain.errors import Busy, Conflict, DatabaseRefused
from batchctl.domain.records import Kept
from batchctl.domain.rows import BatchInstance, InstanceId, IntakeId, IntakeRow, MissingPlugin
from batchctl.domain.status import FINAL, STOPPED, InstanceStatus, IntakeStatus
from batchctl.operations import copies, remedies, unknown
from batchctl.operations.column_lists import ColumnList, record
from batchctl.operations.presence import Presence
from batchctl.operations.standing import WaitingLine
from batchctl.ports import Transactions
from batchctl.store import Connection, history, instances, reports
from batchctl.store.definitions import definitions
from batchctl.store.intake import intake
from batchctl.store.operators import confirmation_rows

FIRST_PAUSE, LONGEST_PAUSE = 0.05, 1.0
"""Seconds between two looks; the longer nothing happens, the longer."""

AT_ONCE = 50
"""How many are looked at each time; the others are looked at when these are settled."""

NEEDS_A_PERSON = STOPPED | {InstanceStatus.PAUSED}
_REFERENCE = re.compile(r"(file:)?([0-9]{1,18})\Z")


class Patience(Protocol):
    """Time to wait in."""

    def now(self) -> datetime:
        """Return the control database's present time."""

    def monotonic(self) -> float:
        """Return seconds that never jump."""

    def sleep(self, seconds: float) -> None:
        """Let time pass."""


@dataclass(frozen=True, slots=True)
class Reference:
    """Something to wait for: `42` is a BatchControl id, `file:17` a FileProcess id and stands for all its instances."""

    text: str
    number: int
    is_intake: bool

    @classmethod
    def of(cls, text: str) -> Reference | None:
        """Read one; None when it is none."""
        found = _REFERENCE.match(text)
        return None if found is None else cls(text, int(found[2]), found[1] is not None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Awaited:
    """How something that is waited for stands."""

    reference: str
    status: str
    settled: Annotated[bool, Kept()]
    """True when nothing more happens unless a person acts."""
    succeeded: Annotated[bool, Kept()] = False
    message: str | None = None
    next_step: Annotated[str | None, "Next"] = None
    instances: Annotated[tuple[BatchInstance, ...], "BatchControl"] = ()


AWAITED = ColumnList[Awaited]("Awaited", record(Awaited))


def _silently(left: Sequence[Awaited], seconds: float) -> None:
    """Show nothing."""


@dataclass(slots=True)
class InstanceWait:
    """Everything that is waited for, and how it stands.

    `tell` hears of each as soon as it is seen settled. A database that fails meanwhile is waited for too; `failure`
    hears of it once.
    """

    transactions: Transactions
    patience: Patience
    presence: Presence
    tell: Callable[[Awaited], None]
    failure: Callable[[str], None]
    progress: Callable[[Sequence[Awaited], float], None] = _silently
    """Hears after each look of what is waited for still, and how many seconds it has been."""
    _found: dict[Reference, Awaited] = field(default_factory=dict)
    _is_failing: bool = False

    def until_settled(self, references: Sequence[Reference], timeout: float | None) -> tuple[Awaited, ...]:
        """Wait until everything is settled, or the time is over; return how each stands, and why it is not settled."""
        began, pause = self.patience.monotonic(), FIRST_PAUSE
        self._look(list(dict.fromkeys(references)))
        while left := self._left:
            self.progress([self._found[one] for one in left], self.patience.monotonic() - began)
            remaining = LONGEST_PAUSE if timeout is None else began + timeout - self.patience.monotonic()
            if remaining <= 0:
                self._look_again(left)
                self._try(self._explain, self._left[:AT_ONCE])
                break
            self.patience.sleep(min(pause, remaining))
            self._look_again(left[:AT_ONCE])
            pause = FIRST_PAUSE if len(self._left) < len(left) else min(pause * 1.5, LONGEST_PAUSE)
        return tuple(self._found.values())

    @property
    def _left(self) -> list[Reference]:
        return [reference for reference, one in self._found.items() if not one.settled]

    def _look(self, references: Sequence[Reference]) -> None:
        with self.transactions.read() as connection:
            seen = {reference: _look_at(connection, reference) for reference in references}
        self._found |= seen
        for one in seen.values():
            if one.settled:
                self.tell(one)

    def _explain(self, references: Sequence[Reference]) -> None:
        """Say of those in line what keeps them from starting."""
        with self.transactions.read() as connection:
            line = _Waiting(connection, self.presence, self.patience.now())
            self._found |= {reference: line.explained(self._found[reference]) for reference in references}

    def _look_again(self, references: Sequence[Reference]) -> None:
        self._try(self._look, references)

    def _try(self, act: Callable[[Sequence[Reference]], None], references: Sequence[Reference]) -> None:
        try:
            act(references)
        except (Busy, Conflict, DatabaseRefused) as error:
            if not self._is_failing:
                self.failure(error.message)
            self._is_failing = True


class _Waiting:
    """What is waited for, among everything else that stands in line at this moment."""

    def __init__(self, connection: Connection, presence: Presence, now: datetime) -> None:
        self._defined = definitions.read(connection)
        living = presence.living(connection, now)
        self._line = WaitingLine(connection, {batch.batch_id: batch for batch in self._defined.batches}, now, living)
        self._idle = None if living else _idle(connection)

    def explained(self, one: Awaited) -> Awaited:
        """Say why one waits still, and what to do about it, if it stands in line."""
        found = self._idle if not one.instances else self._because(_speaking(one.instances))
        if found is None:
            return one
        message, clear = found
        return replace(one, message=message, next_step=clear or one.next_step)

    def _because(self, instance: BatchInstance) -> tuple[str, str | None] | None:
        if instance.status not in _IN_LINE:
            return None
        if instance.batch_id not in self._line.batches:
            broken = next((row for row in self._defined.unreadable if row.batch_id == instance.batch_id), None)
            return None if broken is None else (broken.message, broken.mend)
        for gate in self._line.gates_of(instance):
            if gate.blocked is not None:
                # What is under way ends by itself only where somebody is at work.
                ends = self._idle if gate.ends is gates.Ends.HOLDER else None
                return ends or (gate.blocked, gate.clear)
        return self._idle


def _idle(connection: Connection) -> tuple[str, str | None]:
    """Say why no controller is there, and what to do about it."""
    refused = copies.refused_on(connection)
    return ("no controller is running", "batchctl run") if refused is None else (refused.message, refused.next_step)


def _look_at(connection: Connection, reference: Reference) -> Awaited:
    if reference.is_intake:
        row = intake.load(connection, IntakeId(reference.number))
        if row is None:
            raise unknown.intake_row(connection, reference.number)
        return _intake(connection, reference, row)
    instance = instances.load(connection, InstanceId(reference.number))
    if instance is None:
        raise unknown.instance(connection, reference.number, "wait")
    return _of_instances(connection, reference, [instance])


def _intake(connection: Connection, reference: Reference, row: IntakeRow) -> Awaited:
    why = f"batchctl why {reference.text}"
    if row.status not in {IntakeStatus.READY, IntakeStatus.COMPLETE}:
        message = row.message or f"the row is {row.status}"
        return Awaited(reference=reference.text, status=row.status, settled=True, message=message, next_step=why)
    made = reports.instances_of_intake(connection, row.intake_id)
    if made:
        return _of_instances(connection, reference, made)
    defined = definitions.read(connection)
    takers = [batch for batch in defined.batches if batch.entity == row.entity]
    if takers:
        blocked = [gate for batch in takers if (gate := gates.populator(batch)).blocked is not None]
        if len(blocked) < len(takers):
            return Awaited(reference=reference.text, status=row.status, settled=False, next_step=why)
        said, mend = blocked[0].blocked, blocked[0].clear
        return Awaited(reference=reference.text, status=row.status, settled=True, message=said, next_step=mend)
    for broken in defined.unreadable_of(row.entity):
        said, mend = broken.message, broken.mend
        return Awaited(reference=reference.text, status=row.status, settled=True, message=said, next_step=mend)
    message, _ = remedies.untaken(row, defined.batches)
    return Awaited(reference=reference.text, status=row.status, settled=True, message=message, next_step=why)


def _of_instances(connection: Connection, reference: Reference, made: Sequence[BatchInstance]) -> Awaited:
    speaks = _speaking(made)
    if speaks.status in _IN_LINE and (missing := _missing(connection, speaks)) is not None:
        return Awaited(
            reference=reference.text,
            status=speaks.status,
            settled=True,
            instances=tuple(made),
            message=missing.message,
            next_step=missing.mend,
        )
    asked = (
        confirmation_rows.open_of(connection, speaks.instance_id) if speaks.status is InstanceStatus.PAUSED else None
    )
    if asked is not None:
        return Awaited(
            reference=reference.text,
            status=speaks.status,
            settled=True,
            instances=tuple(made),
            message=f"step {asked.seq} asks {asked.wording}",
            next_step=asked.answering,
        )
    settled = speaks.status in FINAL | NEEDS_A_PERSON
    return Awaited(
        reference=reference.text,
        status=speaks.status,
        settled=settled,
        succeeded=speaks.status is InstanceStatus.COMPLETE,
        instances=tuple(made),
        message=_wording(connection, speaks) if speaks.status in STOPPED else None,
        next_step=f"batchctl {'show' if settled else 'why'} {speaks.instance_id}",
    )


def _speaking(made: Sequence[BatchInstance]) -> BatchInstance:
    """Return the one instance that says most: one that goes on, else one that needs a person, else one given up."""
    return min(
        made, key=lambda at: (at.status in FINAL, at.status in NEEDS_A_PERSON, at.status is InstanceStatus.COMPLETE)
    )


_IN_LINE = {InstanceStatus.READY, InstanceStatus.RETRY}


def _missing(connection: Connection, instance: BatchInstance) -> MissingPlugin | None:
    """Return what no controller has, and an instance needs."""
    batches = definitions.all_batches(connection)
    batch = next((one for one in batches if one.batch_id == instance.batch_id), None)
    return None if batch is None else next(iter(batch.missing_after(instance.last_seq)), None)


def _wording(connection: Connection, instance: BatchInstance) -> str | None:
    last = history.last_entry(connection, instance.instance_id)
    return None if last is None else last.in_full
