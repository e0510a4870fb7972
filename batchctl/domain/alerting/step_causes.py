"""What the newest run of a step shows although its instance went on: it failed for good, or its number of rows is unusual."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime

from batchctl.domain.alerting.incident_causes import LONGEST_LINE, RecentAttempt, last_lines
from batchctl.domain.alerting.incidents import IncidentSign
from batchctl.domain.definitions.row_guard import warning_in
from batchctl.domain.rows import BatchDefinition, BatchId, HistoryEntry, Step
from batchctl.domain.status import HistoryStatus, IncidentKind, OnRows, Severity
from batchctl.domain.text import shorten, visible

_FAILED = frozenset({HistoryStatus.FAILED, HistoryStatus.TIMEOUT})


def to_look_at(
    attempts: Iterable[RecentAttempt], batches: Mapping[BatchId, BatchDefinition]
) -> Iterator[tuple[RecentAttempt, BatchDefinition, Step]]:
    """Yield of each step that may fail, or warn, without a standing instance the last attempt that says how its run ended."""
    wanted = {
        (batch.batch_id, step.seq): (batch, step)
        for batch in batches.values()
        if batch.enabled
        for step in batch.steps
        if step.may_be_passed or warns(step)
    }
    for one in attempts if wanted else ():
        says_how = one.status is HistoryStatus.SUCCESS or (one.status in _FAILED and one.due_again is None)
        if says_how and (found := wanted.pop((one.batch_id, one.seq), None)) is not None:
            yield one, *found


def warns(step: Step) -> bool:
    """Say whether a wrong number of rows is only told."""
    return step.counts_rows and step.on_rows is OnRows.WARN


def of_newest(entry: HistoryEntry, batch: BatchDefinition, step: Step) -> IncidentSign | None:
    """Return the sign that the attempt gives which ended the newest run of a step; None where all is well."""
    if entry.status in _FAILED:
        if not step.may_be_passed:
            return None
        why = shorten(visible(entry.in_full or "no reason was given"), LONGEST_LINE)
        so = f"has failed in BatchControl {entry.instance_id}, which goes on without it: {why}"
        again = f"batchctl rerun {entry.instance_id} --from {entry.seq} --reason ...   (batchctl history {entry.instance_id})"
        return _sign(IncidentKind.STEP_FAILED, entry, batch, so, again)
    said = warning_in(entry.message) if warns(step) else None
    if said is None:
        return None
    so = f"of BatchControl {entry.instance_id}: number of rows {visible(said)}"
    return _sign(IncidentKind.UNUSUAL_ROWS, entry, batch, so, f"batchctl history {entry.instance_id}")


def _sign(kind: IncidentKind, entry: HistoryEntry, batch: BatchDefinition, so: str, next_step: str) -> IncidentSign:
    ended: datetime = entry.ended_at or entry.started_at
    return IncidentSign(
        kind=kind,
        about=(entry.batch_id, entry.seq),
        subject=batch.name,
        message=f"Step {entry.seq} '{visible(entry.step_name)}' {so}",
        severity=Severity.WARNING,
        since=ended,
        detail=last_lines(entry.output),
        next_step=next_step,
        batch_id=entry.batch_id,
        seq=entry.seq,
        instance_id=entry.instance_id,
        evidence=entry.history_id,
    )
