"""What a rerun rests on and goes past: shown before anybody runs an instance again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from batchctl.domain.gates import Gate
from batchctl.domain.rows import BatchDefinition, BatchInstance, HistoryEntry, Step
from batchctl.domain.status import HistoryStatus, InstanceStatus
from batchctl.domain.text import visible
from batchctl.operations import shown_columns
from batchctl.operations.shown_columns import Columns
from batchctl.operations.standing import WaitingLine
from batchctl.store import Connection, history
from batchctl.store.definitions import definitions
from batchctl.store.operators import confirmation_rows

_DONE = {HistoryStatus.SUCCESS, HistoryStatus.SKIPPED}
_FAILED = {HistoryStatus.FAILED, HistoryStatus.TIMEOUT}


@dataclass(frozen=True, slots=True, kw_only=True)
class Assumed:
    """A step that is not run again, because it counts as done."""

    seq: int
    name: Annotated[str, "ProcessName"]
    status: HistoryStatus | None
    """How it ended that way, or that it was gone past; None when no attempt says so."""
    at: Annotated[datetime | None, "EndTime"]

    @property
    def wording(self) -> str:
        """Say why it counts as done."""
        if self.status is None or self.at is None:
            return "nothing says that it was done"
        if self.status in _FAILED:
            return f"failed at {self.at:%Y-%m-%d %H:%M:%S} UTC, and OnStepFailure let the instance go on"
        verb = "succeeded" if self.status is HistoryStatus.SUCCESS else "was skipped"
        return f"{verb} at {self.at:%Y-%m-%d %H:%M:%S} UTC"


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """What a rerun rests on, what it goes past, and what keeps it from starting all the same."""

    assumed: tuple[Assumed, ...]
    bypassed: tuple[str, ...]
    blocking: tuple[Gate, ...]

    def columns(self) -> Columns:
        """Return it for programs."""
        return {
            "AssumedDone": [shown_columns.of(one) for one in self.assumed],
            "Bypassed": list(self.bypassed),
            "Blocking": [{"Gate": gate.name, "Blocked": gate.blocked, "Clear": gate.clear} for gate in self.blocking],
        }


def card(
    connection: Connection, before: BatchInstance, after: BatchInstance, batch: BatchDefinition, now: datetime
) -> Card:
    """Return what there is to know before an instance is run again as it would stand then."""
    entries, _ = history.of_instance(connection, before.instance_id)
    line = WaitingLine(connection, {one.batch_id: one for one in definitions.all_batches(connection)}, now)
    return Card(
        assumed=tuple(_assumed(step, before, entries) for step in batch.steps if step.seq <= after.last_seq),
        bypassed=(*_withdrawn(connection, before), *_bypassed(before, after, batch, entries, now)),
        blocking=tuple(gate for gate in line.gates_of(after) if gate.blocked is not None),
    )


def _withdrawn(connection: Connection, before: BatchInstance) -> Iterator[str]:
    """Say which question is withdrawn."""
    asked = confirmation_rows.open_of(connection, before.instance_id)
    if asked is not None:
        yield f"step {asked.seq} asks {asked.wording}: that is withdrawn, and asked again"


def at_work_still(after: BatchInstance, entries: Sequence[HistoryEntry]) -> str | None:
    """Say what to look for where an attempt at a step that is run again was lost: it may not have ended."""
    lost = [entry for entry in entries if entry.may_have_run and entry.seq > after.last_seq]
    if not lost:
        return None
    where = [f"process {lost[-1].pid}" if lost[-1].pid else "", f"on {visible(lost[-1].host)}" if lost[-1].host else ""]
    place = " ".join(filter(None, where))
    return f"an attempt was lost: look whether anything of it is at work still{f' ({place})' if place else ''}"


def _assumed(step: Step, before: BatchInstance, entries: Sequence[HistoryEntry]) -> Assumed:
    seq, name = step.seq, step.name
    found = [entry for entry in entries if entry.seq == seq]
    passed = [entry for entry in found[-1:] if entry.status in _FAILED and seq <= before.last_seq]
    done = passed or [entry for entry in found if entry.status in _DONE]
    last = max(done, key=lambda entry: entry.history_id, default=None)
    if last is None:
        return Assumed(seq=seq, name=name, status=None, at=None)
    return Assumed(seq=seq, name=name, status=last.status, at=last.ended_at)


def _bypassed(
    before: BatchInstance, after: BatchInstance, batch: BatchDefinition, entries: Sequence[HistoryEntry], now: datetime
) -> Iterator[str]:
    """Say what would have kept the instance from this without a person."""
    match before.status:
        case InstanceStatus.HELD:
            yield "it is held: it is not known how its last attempt ended, and that step is run again"
        case InstanceStatus.PAUSED if not any(entry.status is HistoryStatus.ASKED for entry in entries):
            yield "somebody paused it"
        case InstanceStatus.CANCELLED:
            yield "somebody cancelled it; its FileProcess row is ready again, and is not looked at for a duplicate"
        case InstanceStatus.COMPLETE:
            yield "it is complete; its FileProcess row is ready again, and is not looked at for a duplicate"
        case InstanceStatus.FAILED:
            yield "a step failed and no retry is left"
        case _:
            pass
    if before.next_run_time > now:
        yield f"it does not wait until {before.next_run_time:%Y-%m-%d %H:%M:%S} UTC"
    if after.retry_count != before.retry_count:
        yield f"RetryCount is set from {before.retry_count} to {after.retry_count}"
    again = [
        f"{step.seq} '{visible(step.name)}'" for step in batch.steps if after.last_seq < step.seq <= before.last_seq
    ]
    if again:
        yield f"steps are run again that are done: {', '.join(again)}"
    if (lost := at_work_still(after, entries)) is not None:
        yield lost
    if before.status is InstanceStatus.COMPLETE and batch.dependents:
        yield "completing once more counts for the batches that depend on it"
