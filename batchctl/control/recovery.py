"""After a crash: what a dead controller left open is stopped, recorded as lost, and decided by OnLost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from batchctl.control.recording import Recorder
from batchctl.domain import moves
from batchctl.domain.outcomes import Identity, StepOutcome
from batchctl.domain.rows import LONG_AGO, BatchDefinition, BatchId, BatchInstance, HistoryEntry, InstanceId
from batchctl.domain.status import HistoryStatus
from batchctl.logs import Event, Listener
from batchctl.ports import Boundary, Clock, StepRunner, Transactions
from batchctl.store import definitions, history, instances, intake


@dataclass(frozen=True, slots=True)
class Recovery:
    """Runs while the controller lock is held: whoever left something open is dead."""

    transactions: Transactions
    clock: Clock
    runner: StepRunner
    recorder: Recorder
    listener: Listener

    def recover(self) -> tuple[InstanceId, ...]:
        """Close every open attempt, then give back every claim; return the instances whose step was lost."""
        with self.transactions.read() as connection:
            batches = {batch.batch_id: batch for batch in definitions.all_batches(connection)}
            live = history.live_entries(connection)
        for entry in live:
            self._recover_one(entry, batches)
        self._release_claims()
        return tuple(entry.instance_id for entry in live)

    def _recover_one(self, entry: HistoryEntry, batches: dict[BatchId, BatchDefinition]) -> None:
        with self.transactions.read() as connection:
            instance = instances.load(connection, entry.instance_id)
        left_over = self._stop_left_over(entry, instance)

        def record(connection: Any) -> BatchInstance | None:
            return self._record(connection, entry, batches, left_over)

        after = self.transactions.run(frozenset({Boundary.TAKEOVER}), record)
        fields: dict[str, str | int] = {"BatchControl_id": entry.instance_id, "ProcessControlSeq": entry.seq}
        self.listener(Event("step.lost", fields))
        if after is not None:
            self.listener(Event(f"instance.{after.status}", {"BatchControl_id": after.instance_id}))

    def _stop_left_over(self, entry: HistoryEntry, instance: BatchInstance | None) -> Sequence[int]:
        identity = Identity(pid=entry.pid, pid_start=entry.pid_start, boot_id=entry.boot_id)
        if instance is None or not instance.claimed_by or not _belongs(entry, instance):
            return ()
        return self.runner.stop_left_over(instance.claimed_by, identity)

    def _record(
        self,
        connection: Any,
        entry: HistoryEntry,
        batches: dict[BatchId, BatchDefinition],
        left_over: Sequence[int],
    ) -> BatchInstance | None:
        now = self.clock.now()
        message = _say(left_over)
        instance = instances.load(connection, entry.instance_id)
        batch = batches.get(entry.batch_id)
        move, after = None, None
        if instance is not None and batch is not None and _belongs(entry, instance):
            ended = moves.Ended(seq=entry.seq, status=HistoryStatus.LOST, message=message)
            move = moves.after_step(instance, batch, ended, now=now, may_go_on=False)
            after = moves.moved(instance, move)
            instances.move(connection, instance, after, now)
            if after.status.is_final:
                intake.complete_if_done(connection, after.intake_id, now)
        waits = move is not None and move.next_run_time > LONG_AGO
        history.close_entry(
            connection,
            entry.history_id,
            status=HistoryStatus.LOST,
            outcome=StepOutcome(succeeded=False),
            message=message,
            identity=None,
            retry_count_after=None if move is None else move.retry_count,
            next_run_time_after=move.next_run_time if move is not None and waits else None,
            ended_at=now,
            now=now,
        )
        return after

    def _release_claims(self) -> None:
        """Give back claims under which no attempt is open; only a hand in the tables leaves such."""
        with self.transactions.read() as connection:
            claimed = instances.claimed(connection)
        for instance in claimed:

            def release(connection: Any, instance: BatchInstance = instance) -> None:
                self.recorder.release(connection, instance, self.clock.now())

            self.transactions.run(frozenset({Boundary.TAKEOVER}), release)


def _belongs(entry: HistoryEntry, instance: BatchInstance) -> bool:
    return instance.status.is_claimed and instance.claim_token == entry.claim_token


def _say(left_over: Sequence[int]) -> str:
    said = "the controller died while the step ran; nobody knows how it ended"
    if not left_over:
        return said
    numbers = ", ".join(str(pid) for pid in left_over)
    return f"{said}. What was left of it (process {numbers}) was still running and has been stopped"
