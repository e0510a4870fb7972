"""What is written about the work of a dead controller; each write first looks whether it may."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

from batchctl.control.attempts import Attempt
from batchctl.control.recording import Recorder
from batchctl.domain import moves
from batchctl.domain.moves import not_before
from batchctl.domain.outcomes import StepOutcome
from batchctl.domain.rows import LONG_AGO, BatchDefinition, BatchInstance, ControllerRow, HistoryEntry
from batchctl.domain.status import ControllerStatus, HistoryStatus
from batchctl.ports import Boundary, Clock, Transactions
from batchctl.store import Connection, controllers, history, instances, started
from batchctl.store.history import Ending
from batchctl.store.intake import intake

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True, kw_only=True)
class LostVerdict:
    """What is to be written about an attempt whose end will never be known."""

    message: str
    never_ran: bool = False
    could_ask: bool = True
    """False where it may run still, because this host could not find out."""


@dataclass(frozen=True, slots=True)
class Takeover:
    """Writes what one controller decides about another's work. `owner` is None where it has no row, or is this one."""

    transactions: Transactions
    clock: Clock
    recorder: Recorder

    def stands(self, entry: HistoryEntry, owner: ControllerRow | None) -> bool:
        """Say whether an attempt stands as it was read and its controller has not moved since."""
        return self._write(lambda connection: self._is_still(connection, entry, owner))

    def take(self, entry: HistoryEntry, owner: ControllerRow | None, batch: BatchDefinition) -> Attempt | None:
        """Take the claim of an attempt under way; None when it does not stand as it was read."""

        def take(connection: Connection) -> Attempt | None:
            found = instances.load(connection, entry.instance_id)
            if found is None or not belongs(entry, found) or not self._is_still(connection, entry, owner):
                return None
            if found.claimed_by == self.recorder.controller:
                # It was taken by a commit of unknown outcome.
                return self.recorder.resumed(connection, entry, found, batch)
            return self.recorder.take_over(connection, entry, found, batch, self.clock.now())

        return self._write(take)

    def give_up(
        self, entry: HistoryEntry, owner: ControllerRow | None, batch: BatchDefinition | None, verdict: LostVerdict
    ) -> tuple[bool, BatchInstance | None]:
        """Write a verdict: return whether it was written, and the instance if it has moved with it."""

        def record(connection: Connection) -> tuple[bool, BatchInstance | None]:
            if not self._is_still(connection, entry, owner):
                return False, None
            return True, self._record(connection, entry, batch, verdict)

        return self._write(record)

    def release(self, instance: BatchInstance) -> None:
        """Give back a claim under which no attempt is open."""
        self._write(lambda connection: self.recorder.release(connection, instance, self.clock.now()))

    def write_off(self, row: ControllerRow) -> bool:
        """Write that a controller is dead; false when it has moved."""

        def write(connection: Connection) -> bool:
            found = controllers.load_locked(connection, row)
            if found is None or found.heartbeat_seq != row.heartbeat_seq:
                return False
            controllers.set_status(connection, row.name, ControllerStatus.LOST, self.clock.now())
            return True

        return self._write(write)

    def _write(self, work: Callable[[Connection], Result]) -> Result:
        return self.transactions.run(frozenset({Boundary.TAKEOVER}), work, nowait=True)

    def _is_still(self, connection: Connection, entry: HistoryEntry, owner: ControllerRow | None) -> bool:
        """Say whether an attempt stands as it was read and its controller has not moved since; it cannot from now on."""
        if owner is not None:
            now_there = controllers.load_locked(connection, owner)
            if now_there is None or now_there.heartbeat_seq != owner.heartbeat_seq:
                return False
        found = history.load(connection, entry.history_id)
        return found is not None and found.status is HistoryStatus.RUNNING and found.claim_token == entry.claim_token

    def _record(
        self, connection: Connection, entry: HistoryEntry, batch: BatchDefinition | None, verdict: LostVerdict
    ) -> BatchInstance | None:
        instance = instances.load(connection, entry.instance_id)
        clock = self.clock.now()
        now = not_before(clock, entry.started_at, *([] if instance is None else [instance.updated_at]))
        move, after = None, None
        if instance is not None and batch is not None and belongs(entry, instance):
            move = _move(entry, instance, batch, verdict, clock)
            after = moves.moved(instance, move)
            intake.lock(connection, after.intake_id)
            instances.move(connection, instance, after, now)
            if after.status.is_final:
                intake.complete_if_done(connection, after.intake_id, now)
            started.note_end(connection, after, verdict.message, now)
        if instance is not None:
            started.note_rescue(connection, instance, verdict.message, now)
        waits = move is not None and move.next_run_time > LONG_AGO
        ending = Ending(
            history_id=entry.history_id,
            token=entry.claim_token,
            status=HistoryStatus.LOST,
            outcome=StepOutcome(succeeded=False),
            message=verdict.message,
            retry_count_after=None if move is None else move.retry_count,
            next_run_time_after=move.next_run_time if move is not None and waits else None,
            ended_at=now,
            never_ran=verdict.never_ran,
        )
        history.close_entries(connection, [ending], now)
        return after


def belongs(entry: HistoryEntry, instance: BatchInstance) -> bool:
    """Say whether an attempt is the one under which its instance is claimed."""
    return instance.status.is_claimed and instance.claim_token == entry.claim_token


def _move(
    entry: HistoryEntry, instance: BatchInstance, batch: BatchDefinition, verdict: LostVerdict, now: datetime
) -> moves.Move:
    if verdict.never_ran:
        return moves.never_ran(instance, now)
    # It may run still where it could not be asked: whatever OnLost says, only a person may repeat it.
    ended = moves.Ended(
        seq=entry.seq, status=HistoryStatus.LOST, message=verdict.message, undecidable=not verdict.could_ask
    )
    return moves.after_step(instance, batch, ended, now=now, may_go_on=False)
