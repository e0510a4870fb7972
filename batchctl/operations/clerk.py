"""What people do about FileProcess rows that are not work: one transaction each, with its row in the audit log."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any
from zoneinfo import ZoneInfo

from batchctl.domain.errors import BatchctlError, Refused, StatusChanged
from batchctl.domain.rows import MOST_TRIES, BatchDefinition, BatchInstance, IntakeId, IntakeRow
from batchctl.domain.scheduling.wall_clock import WallClock
from batchctl.domain.status import FINAL, STANDING_FAILURE, IntakeStatus
from batchctl.domain.text import fitting, storable
from batchctl.domain.unreadable import UnreadableRow
from batchctl.operations import files_taken_again, planning, remedies, unknown
from batchctl.operations.operators.acts import Actor, checked_reason
from batchctl.ports import Boundary, Transactions
from batchctl.store import Connection, reports
from batchctl.store.definitions import definitions
from batchctl.store.intake import file_watches, intake
from batchctl.store.maintenance import audit_entries
from batchctl.store.unreadable_columns import for_any_client

RESEND, RETRY, REJECT = "resend", "retry", "reject"


@dataclass(frozen=True, slots=True, kw_only=True)
class MovedRow:
    """A row that was moved to another status, or would be."""

    before: IntakeRow
    status: IntakeStatus
    batches: tuple[str, ...]
    """Those that take its entity."""
    untaken: str | None = None
    """What is wrong when there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Resent:
    """A row that was sent again, or would be; the new one has no number in a dry run."""

    row: IntakeRow
    intake_id: IntakeId | None
    first: IntakeId
    number: int
    """Which submission of the first one it is."""
    batches: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Found:
    """A row and all that decides what may be done to it."""

    row: IntakeRow
    takers: Sequence[BatchDefinition]
    made: Sequence[BatchInstance]
    unreadable: Sequence[UnreadableRow]
    untaken: tuple[str, str] | None
    """What is wrong when no batch takes its entity, and what to do about it."""

    @property
    def name(self) -> str:
        """Return how the row is called."""
        return f"FileProcess {self.row.intake_id}"

    @property
    def open_ones(self) -> Sequence[BatchInstance]:
        """Return the instances that are not over."""
        return [instance for instance in self.made if instance.status not in FINAL]

    @property
    def lacking(self) -> Sequence[BatchDefinition]:
        """Return the batches that take it and have no instance of it."""
        have_theirs = {instance.batch_id for instance in self.made}
        return [batch for batch in self.takers if batch.batch_id not in have_theirs]

    @property
    def batches(self) -> tuple[str, ...]:
        """Return the names of those that take it."""
        return *(batch.name for batch in self.takers), *(row.batch for row in self.unreadable)


@dataclass(frozen=True, slots=True, kw_only=True)
class Clerk(Actor):
    """Acts on rows that are not work. With `dry_run` nothing is written."""

    zone: ZoneInfo

    def retry(self, intake_id: IntakeId, *, reason: str) -> MovedRow:
        """Make a row ready again, so that it is looked at anew as if it had just arrived."""

        def decide(connection: Connection, found: _Found) -> MovedRow:
            _check_retry(connection, found)
            untaken = None if found.untaken is None else found.untaken[0]
            return MovedRow(before=found.row, status=IntakeStatus.READY, batches=found.batches, untaken=untaken)

        return self._move(RETRY, intake_id, decide, reason, None)

    def reject(self, intake_id: IntakeId, *, reason: str) -> MovedRow:
        """Reject a row that is not wanted, so that nothing comes of it."""

        def decide(connection: Connection, found: _Found) -> MovedRow:
            del connection
            _check_reject(found)
            return MovedRow(before=found.row, status=IntakeStatus.REJECTED, batches=found.batches)

        return self._move(REJECT, intake_id, decide, reason, storable(f"{remedies.REJECTED_BY}{self.who}: {reason}"))

    def accept(self, intake_id: IntakeId, *, reason: str) -> MovedRow:
        """Let a row that is rejected, a duplicate, or asked about in vain be taken in on purpose: it is no duplicate then."""

        def decide(connection: Connection, found: _Found) -> MovedRow:
            del connection
            row = found.row
            if row.status not in {IntakeStatus.REJECTED, IntakeStatus.DUPLICATE} and row.tries < MOST_TRIES:
                raise StatusChanged(found.name, row.status, "accept", next_step=f"batchctl why file:{intake_id}")
            return MovedRow(before=row, status=IntakeStatus.READY, batches=found.batches)

        return self._move(audit_entries.ACCEPT, intake_id, decide, reason, None)

    def resend(self, intake_id: IntakeId, *, reason: str) -> Resent:
        """Insert a row once more, on purpose: it is no duplicate of any other, and the first stays as it is."""
        checked_reason(reason)
        return self.act(lambda connection: self._send(connection, intake_id, reason), Boundary.INTAKE)

    def _send(self, connection: Connection, intake_id: IntakeId, reason: str) -> Resent:
        found = self._found(connection, intake_id)
        _check_resend(connection, found)
        row, first = found.row, _first_of(connection, intake_id)
        if self.dry_run:
            number = _number_of_next(connection, first)
            return Resent(row=row, intake_id=None, first=first, number=number, batches=found.batches)
        # Two acts that send the same row again must not both be its second submission.
        intake.lock(connection, first)
        number = _number_of_next(connection, first)
        source = fitting(f"{RESEND} by {self.who}, submission {number} of FileProcess {first}: {reason}")
        added = intake.add(
            connection,
            entity=row.entity,
            file_name=row.file_name,
            data=row.data,
            cycle_key=self._cycle_key(found),
            source=source,
        )
        # What was corrected in place is loaded by the new row from now on.
        file_watches.hand_over(connection, intake_id, added)
        was, became = {"FileProcess_id": intake_id}, {"FileProcess_id": added, "Source": source}
        self.note(connection, RESEND, audit_entries.intake_target(first), reason, was, became)
        target = audit_entries.intake_target(added)
        self.note(connection, audit_entries.ACCEPT, target, reason, {"FileProcess_id": first}, became)
        return Resent(row=row, intake_id=added, first=first, number=number, batches=found.batches)

    def _cycle_key(self, found: _Found) -> str | None:
        """Return the key of the second run: where the day of arrival stood for one, it is still of that day."""
        row = found.row
        arrived = WallClock(self.zone).day_of(row.inserted_at).isoformat()
        return row.cycle_key or (arrived if {instance.cycle_key for instance in found.made} == {arrived} else None)

    def _move(
        self,
        action: str,
        intake_id: IntakeId,
        decide: Callable[[Any, _Found], MovedRow],
        reason: str,
        message: str | None,
    ) -> MovedRow:
        checked_reason(reason)

        def move(connection: Connection) -> MovedRow:
            found = self._found(connection, intake_id)
            moved, now = decide(connection, found), self.clock.now()
            if self.dry_run:
                return moved
            if not intake.set_status(connection, found.row, moved.status, message, now):
                raise StatusChanged(found.name, "not as it was", action, next_step=f"batchctl inbox show {intake_id}")
            status = moved.status
            if status is IntakeStatus.READY:
                file_watches.expect_renamed(connection, found.row)
            if found.made and not found.lacking and not found.open_ones:
                # No more instance of it is made whose end would complete it.
                intake.complete_if_done(connection, intake_id, now)
                status = IntakeStatus.COMPLETE
            was = {"Status": found.row.status, "Message": found.row.message}
            target = audit_entries.intake_target(intake_id)
            self.note(connection, action, target, reason, was, {"Status": status, "Message": message})
            return replace(moved, status=status)

        return self.act(move)

    def _found(self, connection: Connection, intake_id: IntakeId) -> _Found:
        """Return a row, locked unless nothing is written."""
        row = intake.load(connection, intake_id) if self.dry_run else intake.load_locked(connection, intake_id)[0]
        if row is None:
            raise unknown.intake_row(connection, intake_id)
        return _found_of(connection, row)


def possible(transactions: Transactions, intake_id: IntakeId) -> list[str]:
    """Return what a person may do about a row as it stands."""
    may_be_accepted = _is_passed(lambda: planning.acceptance(transactions, intake_id))
    with transactions.read() as connection:
        row = intake.load(connection, intake_id)
        if row is None:
            raise unknown.intake_row(connection, intake_id)
        found = _found_of(connection, row)
        checks: dict[str, Callable[[], object]] = {
            RETRY: lambda: _check_retry(connection, found),
            REJECT: lambda: _check_reject(found),
            RESEND: lambda: _check_resend(connection, found),
        }
        passed = [name for name, check in checks.items() if _is_passed(check)]
    return [audit_entries.ACCEPT, *passed] if may_be_accepted else passed


def _is_passed(check: Callable[[], object]) -> bool:
    try:
        check()
    except BatchctlError:
        return False
    return True


def _found_of(connection: Connection, row: IntakeRow) -> _Found:
    """Return a row with what decides about it."""
    defined = definitions.read(connection)
    takers = [batch for batch in defined.batches if batch.entity == row.entity]
    made = reports.instances_of_intake(connection, row.intake_id)
    broken = defined.unreadable_of(row.entity)
    what, to_do = remedies.untaken(row, defined.batches)
    untaken = None if takers or broken else (what, for_any_client(connection, to_do))
    return _Found(row, takers, made, broken, untaken)


def _check_retry(connection: Connection, found: _Found) -> None:
    row, at = found.row, found.row.intake_id
    files_taken_again.check(connection, row)
    if row.status is IntakeStatus.READY and found.untaken is not None:
        because, to_do = found.untaken
        raise Refused(f"{found.name} is ready already: {because}", next_step=to_do)
    if row.status is IntakeStatus.READY:
        raise StatusChanged(found.name, "ready already", RETRY, next_step=f"batchctl why file:{at}")
    if row.status is IntakeStatus.COMPLETE:
        again = f"batchctl inbox resend {at} --reason ...   (to run all of it once more)"
        raise StatusChanged(found.name, row.status, RETRY, next_step=again)
    if row.status is IntakeStatus.DUPLICATE:
        repeats = {_repeated(connection, row, batch) for batch in found.lacking}
        first = min((each for each in repeats if each is not None), default=None)
        if first is not None and None not in repeats:
            on_purpose = f"batchctl accept {at} --reason ...   (if it is to run all the same)"
            message = f"{found.name} still has the same Data as FileProcess {first}."
            raise Refused(message, next_step=on_purpose)


def _repeated(connection: Connection, row: IntakeRow, batch: BatchDefinition) -> IntakeId | None:
    return intake.first_with_same_data(connection, row, batch.batch_id) if batch.duplicate_check else None


def _check_reject(found: _Found) -> None:
    row, at = found.row, found.row.intake_id
    if found.made:
        listed = ", ".join(f"BatchControl {instance.instance_id} ({instance.status})" for instance in found.made)
        cancel = [f"batchctl cancel {instance.instance_id} --reason ..." for instance in found.open_ones]
        next_step = "; ".join(cancel) or f"batchctl inbox show {at}"
        raise Refused(f"{found.name} has become work already: {listed}.", next_step=next_step)
    # A person may confirm the rejection of a row that a populator has rejected.
    by_a_person = row.status is IntakeStatus.REJECTED and (row.message or "").startswith(remedies.REJECTED_BY)
    if by_a_person or row.status in {IntakeStatus.DUPLICATE, IntakeStatus.COMPLETE}:
        raise StatusChanged(found.name, f"{row.status} already", REJECT, next_step=f"batchctl inbox show {at}")


def _check_resend(connection: Connection, found: _Found) -> None:
    row, at = found.row, found.row.intake_id
    files_taken_again.check(connection, row)
    for instance in found.open_ones:
        rerun = f"batchctl rerun {instance.instance_id} --reason ..."
        next_step = rerun if instance.status in STANDING_FAILURE else f"batchctl why {instance.instance_id}"
        message = f"{found.name} is not over: BatchControl {instance.instance_id} of it is {instance.status}."
        raise Refused(message, next_step=next_step)
    if row.status is IntakeStatus.PAUSED:
        raise StatusChanged(found.name, row.status, RESEND, next_step=remedies.to_take_in(row, found.takers))
    if row.status is IntakeStatus.READY:
        raise StatusChanged(found.name, "ready, and still to be looked at", RESEND, next_step=f"batchctl why file:{at}")
    if not found.takers and found.unreadable:
        raise unknown.of_batch_row(found.unreadable[0])
    if found.untaken is not None:
        raise Refused(f"{found.name} cannot be sent again: {found.untaken[0]}", next_step="batchctl batches")


def _first_of(connection: Connection, intake_id: IntakeId) -> IntakeId:
    """Return the row that one was first sent again from; itself, if it was not."""
    acts = audit_entries.of_target(connection, audit_entries.intake_target(intake_id))
    found = [_named(act.before) for act in acts if act.action == audit_entries.ACCEPT]
    return next((first for first in found if first is not None), intake_id)


def _named(before: str | None) -> IntakeId | None:
    with suppress(ValueError, AttributeError):  # A row that is written by hand may hold anything.
        first = json.loads(before or "{}").get("FileProcess_id")
        return IntakeId(first) if isinstance(first, int) else None
    return None


def _number_of_next(connection: Connection, first: IntakeId) -> int:
    return 2 + audit_entries.count(connection, audit_entries.intake_target(first), RESEND)
