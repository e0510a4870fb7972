"""A look at the instances: what runs, has failed, waits, was asked, has completed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from batchctl.domain.alerting.incident_causes import stopped_at
from batchctl.domain.gates import Gate, locks, mending
from batchctl.domain.gates import frozen as frozen_gate
from batchctl.domain.locked_rows import names_of
from batchctl.domain.rows import (
    BatchDefinition,
    BatchId,
    BatchInstance,
    ControllerRow,
    Freeze,
    HistoryEntry,
)
from batchctl.domain.status import FINAL, InstanceStatus
from batchctl.domain.text import typed
from batchctl.domain.unreadable import UnreadableRow
from batchctl.operations.alerting.overview_lists import (
    AskedInstance,
    Completed,
    FailingInstance,
    Running,
    WaitingInstance,
)
from batchctl.operations.standing import WaitingLine
from batchctl.store import Connection, history, instances, reports
from batchctl.store.operators import confirmation_rows

COMPLETED_LAST = 5
"""How many completed instances are shown."""
FAILING = (InstanceStatus.FAILED, InstanceStatus.HELD, InstanceStatus.RETRY)
WAITING = (InstanceStatus.READY, InstanceStatus.PAUSED)


_ONCE_MENDED = (
    "correct what its message names: it is tried again by itself, or sooner: batchctl rerun {id} --reason ..."
)
_CLEAR = {
    InstanceStatus.HELD: "batchctl show {id}, then rerun or skip it",
    InstanceStatus.RETRY: "nothing: it is tried again by itself",
}


@dataclass(frozen=True, slots=True)
class OverviewLook:
    """What all parts of an overview go by."""

    connection: Connection
    batches: Mapping[BatchId, BatchDefinition]
    broken: Mapping[BatchId, UnreadableRow]
    living: Sequence[ControllerRow]
    now: datetime
    most: int

    def running(self) -> tuple[Running, ...]:
        """Return the attempts under way."""
        found = []
        live = reports.live_entries(self.connection, self.most)
        claimed = {one.instance_id: one for one in instances.these(self.connection, [at.instance_id for at in live])}
        for entry in live:
            instance, batch = claimed.get(entry.instance_id), self.batches.get(entry.batch_id)
            if instance is None:
                continue
            step = None if batch is None else batch.step_at(entry.seq)
            running = Running(
                entry=entry,
                instance=instance,
                batch=self.name_of(entry.batch_id),
                elapsed=self.now - entry.started_at,
                expected=None if step is None else step.expected_duration,
                alarm=None if step is None else step.alarm_duration,
                locks=Gate("locks") if batch is None else locks(self.living, names_of(instance, batch)),
            )
            found.append(running)
        return tuple(found)

    def frozen(self) -> tuple[Freeze, ...]:
        """Return the freezes that hold, in the order in which they were made."""
        found = {freeze for batch in self.batches.values() for freeze in batch.freezes if freeze.holds(self.now)}
        return tuple(sorted(found, key=lambda freeze: freeze.freeze_id))

    def failing(self) -> tuple[FailingInstance, ...]:
        """Return the instances that have failed, are held or wait for their retry."""
        failing = [one for status in FAILING for one in reports.open_in(self.connection, (status,), self.most)]
        history.ask_last(self.connection, [one.instance_id for one in failing[: self.most]])
        return tuple(self._failing(one) for one in failing[: self.most])

    def _failing(self, instance: BatchInstance) -> FailingInstance:
        last = history.last_entry(self.connection, instance.instance_id)
        batch, broken = self.batches.get(instance.batch_id), self.broken.get(instance.batch_id)
        return FailingInstance(
            instance=instance,
            batch=self.name_of(instance.batch_id),
            step=stopped_at(instance, batch, last),
            message=None if last is None else last.message,
            wording=None if last is None else last.in_full,
            clear=self._clear(instance, batch, last) if broken is None else broken.mend,
        )

    def _clear(self, instance: BatchInstance, batch: BatchDefinition | None, last: HistoryEntry | None) -> str:
        if instance.status is InstanceStatus.FAILED:
            return mending(instance, batch, last)
        if instance.status is InstanceStatus.RETRY and batch is not None:
            frozen, locked = frozen_gate(batch, self.now), locks(self.living, names_of(instance, batch))
            if frozen.blocked is not None:
                return f"{frozen.clear}   (its batch is frozen, so it is not tried again)"
            if not batch.enabled:
                enable = f"batchctl enable {typed(batch.name)} --reason ..."
                return f"{enable}   (its batch is disabled, so it is not tried again)"
            if locked.blocked is not None:
                return f"{locked.clear}   (so that it is tried again: {locked.blocked})"
        if instance.status is InstanceStatus.RETRY and last is not None and last.was_put_back:
            return _ONCE_MENDED.format(id=instance.instance_id)
        return _CLEAR[instance.status].format(id=instance.instance_id)

    def asked(self) -> tuple[AskedInstance, ...]:
        """Return the questions that instances wait with."""
        questions = {one.instance_id: one for one in confirmation_rows.open_ones(self.connection, self.most)}
        waiting = instances.these(self.connection, [*questions])
        return tuple(
            AskedInstance(question=one, batch=self.name_of(instance.batch_id), clear=one.answering)
            for instance in waiting
            for one in [questions[instance.instance_id]]
            if instance.status is InstanceStatus.PAUSED
        )

    def waiting(self) -> tuple[WaitingInstance, ...]:
        """Return the instances that are ready or paused, and what is in the way of each."""
        line = WaitingLine(self.connection, self.batches, self.now, serving=self.living)
        found = []
        for instance in reports.open_in(self.connection, WAITING, self.most):
            reason, clear = None, None
            if instance.batch_id in self.batches:
                locked = locks(self.living, names_of(instance, self.batches[instance.batch_id]))
                first = next((at for at in (*line.gates_of(instance), locked) if at.blocked is not None), None)
                reason, clear = (None, None) if first is None else (first.blocked, first.clear)
            elif instance.batch_id in self.broken:
                row = self.broken[instance.batch_id]
                reason, clear = row.message, row.mend
            else:
                continue
            name = self.name_of(instance.batch_id)
            found.append(WaitingInstance(instance=instance, batch=name, reason=reason, clear=clear))
        return tuple(found)

    def completed(self) -> tuple[Completed, ...]:
        """Return the instances that have completed last."""
        return tuple(
            Completed(instance=instance, batch=self.name_of(instance.batch_id), at=at)
            for instance, at in reports.last_completed(self.connection, min(self.most, COMPLETED_LAST))
        )

    def disabled(self, counts: Mapping[BatchId, Mapping[InstanceStatus, int]]) -> dict[str, int]:
        """Return the disabled batches that have open instances, and how many."""
        off = {batch.name: counts.get(key, {}) for key, batch in self.batches.items() if not batch.enabled}
        still_open = {name: sum(n for status, n in found.items() if status not in FINAL) for name, found in off.items()}
        return {name: count for name, count in still_open.items() if count}

    def name_of(self, batch_id: BatchId) -> str:
        """Return what a batch is called, also one that cannot be read, or is not there."""
        if batch_id in self.broken:
            return self.broken[batch_id].batch
        batch = self.batches.get(batch_id)
        return f"(ProcessBatch {batch_id}, which does not exist)" if batch is None else batch.name
