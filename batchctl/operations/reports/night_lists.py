"""The lists that the report of a night consists of, and the report itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from batchctl.domain.alerting.night_summary import BatchNight, LongStep, NightAttempt, NightFailure, NightSpan
from batchctl.domain.dependencies.forecast_record import KeptForecast
from batchctl.domain.rows import AuditEntry, InstanceId
from batchctl.operations.column_lists import Alarming, Column, ColumnList, StatusWord

SHOWN = 20
"""How many lines of each list people see."""
AS_FORETOLD, NOT_DUE = "as said", "not due yet"
"""What comes of a forecast, where nothing is wrong."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenMatter:
    """Something that waits for a person now, and what to type."""

    what: str
    subject: str
    instance_id: InstanceId | None = None
    incident_id: int | None = None
    since: datetime | None = None
    message: str | None = None
    next_step: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedStep:
    """A step that failed for good in the night."""

    batch: str
    failure: NightFailure
    act: AuditEntry | None = None
    """The last thing that a person did to its instance."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MendingAct:
    """What a person did so that work goes on."""

    entry: AuditEntry
    batch: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LateWork:
    """A time by which something should have come, begun or ended, and did not."""

    what: str
    subject: str
    by: datetime
    late_by: timedelta
    stands: bool
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardedRows:
    """How many rows a step had, and should have."""

    batch: str
    attempt: NightAttempt
    expected: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ForecastLine:
    """What was said in the night of a batch, and what came."""

    batch: str
    first: KeptForecast
    ready_on: datetime | None
    """When it was ready; None where it is not."""
    until: datetime
    """The end of the report."""

    @property
    def later_by(self) -> timedelta | None:
        """Return by how much it was ready later than p50; less than nothing where it was earlier."""
        if self.ready_on is None or self.first.median is None:
            return None
        return self.ready_on - self.first.median

    @property
    def outcome(self) -> str:
        """Say how it went."""
        if self.ready_on is None:
            is_due = self.first.median is not None and self.first.median <= self.until
            return "not ready" if is_due else NOT_DUE
        last = self.first.nearly or self.first.median
        return "later than said" if last is not None and self.ready_on > last else AS_FORETOLD


@dataclass(frozen=True, slots=True, kw_only=True)
class NightLine:
    """What a batch did in the night."""

    batch: str
    night: BatchNight


@dataclass(frozen=True, slots=True, kw_only=True)
class LongLine:
    """A step that took longer than expected."""

    batch: str
    long: LongStep


OPEN = ColumnList[OpenMatter](
    "Stands open now",
    {
        "What": lambda one: one.what,
        "Subject": lambda one: one.subject,
        "BatchControl_id": lambda one: one.instance_id,
        "Incident_id": lambda one: one.incident_id,
        "Since": lambda one: one.since,
        "Message": lambda one: one.message,
        "Next": lambda one: one.next_step,
    },
    {
        "what": lambda one: StatusWord(one.what),
        "about": "Subject",
        "id#": "BatchControl_id",
        "since (UTC)": "Since",
        "message": "Message",
        "next": "Next",
    },
)
FAILED = ColumnList[FailedStep](
    "Failed in the night",
    {
        "ProcessBatchName": lambda one: one.batch,
        "BatchControl_id": lambda one: one.failure.first.instance_id,
        "ProcessControlSeq": lambda one: one.failure.first.seq,
        "ProcessName": lambda one: one.failure.first.step_name,
        "FailedTime": lambda one: one.failure.first.ended_at,
        "Times": lambda one: one.failure.times,
        "Message": lambda one: one.failure.last.message,
        "Outcome": lambda one: one.failure.outcome,
        "Actor": lambda one: None if one.act is None else one.act.actor,
        "Action": lambda one: None if one.act is None else one.act.action,
        "Reason": lambda one: None if one.act is None else one.act.reason,
    },
    {
        "batch": "ProcessBatchName",
        "id#": "BatchControl_id",
        "step": lambda one: f"{one.failure.first.seq} {one.failure.first.step_name}",
        "at (UTC)": "FailedTime",
        "times#": "Times",
        "message": "Message",
        "then": lambda one: (
            Alarming(one.failure.outcome) if one.failure.outcome == "stands" else StatusWord(one.failure.outcome)
        ),
        "by": lambda one: None if one.act is None else f"{one.act.actor}: {one.act.action}",
    },
)
MENDED = ColumnList[MendingAct](
    "What people did",
    {
        "z_inserted": lambda one: one.entry.at,
        "Actor": lambda one: one.entry.actor,
        "Action": lambda one: one.entry.action,
        "Target": lambda one: one.entry.target,
        "ProcessBatchName": lambda one: one.batch,
        "Reason": lambda one: one.entry.reason,
    },
    {
        "at (UTC)": "z_inserted",
        "who": "Actor",
        "action": "Action",
        "target": "Target",
        "batch": "ProcessBatchName",
        "reason": "Reason",
    },
)
LATE = ColumnList[LateWork](
    "Late",
    {
        "What": lambda one: one.what,
        "Subject": lambda one: one.subject,
        "ExpectedTime": lambda one: one.by,
        "LateBy": lambda one: one.late_by,
        "Stands": lambda one: one.stands,
        "Message": lambda one: one.message,
    },
    {
        "what": "What",
        "about": "Subject",
        "by (UTC)": "ExpectedTime",
        "late by#": "LateBy",
        "": lambda one: Alarming("not yet") if one.stands else StatusWord("done"),
        "message": "Message",
    },
)
ROWS = ColumnList[GuardedRows](
    "Rows against the usual",
    {
        "ProcessBatchName": lambda one: one.batch,
        "BatchControl_id": lambda one: one.attempt.instance_id,
        "ProcessControlSeq": lambda one: one.attempt.seq,
        "ProcessName": lambda one: one.attempt.step_name,
        "RowsAffected": lambda one: one.attempt.rows_affected,
        "Expected": lambda one: one.expected,
        "Unusual": lambda one: one.attempt.is_unusual,
    },
    {
        "batch": "ProcessBatchName",
        "id#": "BatchControl_id",
        "step": lambda one: f"{one.attempt.seq} {one.attempt.step_name}",
        "rows#": "RowsAffected",
        "": lambda one: Alarming("unusual") if one.attempt.is_unusual else StatusWord("usual"),
        "should be": "Expected",
    },
)
FORESEEN = ColumnList[ForecastLine](
    "Forecast against actual",
    {
        "ProcessBatchName": lambda one: one.batch,
        "CycleKey": lambda one: one.first.cycle_key,
        "KeptFor": lambda one: one.first.kept_for,
        "P50": lambda one: one.first.median,
        "P90": lambda one: one.first.nearly,
        "ReadyOn": lambda one: one.ready_on,
        "LaterBy": Column(lambda one: one.later_by, lambda length: round(length.total_seconds(), 3)),
        "Outcome": lambda one: one.outcome,
    },
    {
        "batch": "ProcessBatchName",
        "CycleKey": "CycleKey",
        "said (UTC)": "KeptFor",
        "p50 (UTC)": "P50",
        "p90 (UTC)": "P90",
        "ready (UTC)": "ReadyOn",
        "outcome": lambda one: one.outcome if one.outcome in (AS_FORETOLD, NOT_DUE) else Alarming(one.outcome),
    },
)
LONG = ColumnList[LongLine](
    "Longer than expected",
    {
        "ProcessBatchName": lambda one: one.batch,
        "ProcessControlSeq": lambda one: one.long.seq,
        "ProcessName": lambda one: one.long.step_name,
        "OverExpected": lambda one: one.long.over,
        "Longest": Column(lambda one: one.long.longest, lambda length: round(length.total_seconds(), 3)),
        "ExpectedDuration": lambda one: one.long.expected,
    },
    {
        "batch": "ProcessBatchName",
        "step": lambda one: f"{one.long.seq} {one.long.step_name}",
        "runs#": "OverExpected",
        "longest#": "Longest",
        "expected#": "ExpectedDuration",
    },
)
RAN = ColumnList[NightLine](
    "What ran",
    {
        "ProcessBatchName": lambda one: one.batch,
        "Complete": lambda one: one.night.complete,
        "Mended": lambda one: one.night.mended,
        "Failed": lambda one: one.night.failed,
        "Retried": lambda one: one.night.retried,
        "StartTime": lambda one: one.night.began,
        "EndTime": lambda one: one.night.ended,
    },
    {
        "batch": "ProcessBatchName",
        "complete#": "Complete",
        "mended#": lambda one: one.night.mended or None,
        "failed#": lambda one: Alarming(str(one.night.failed)) if one.night.failed else None,
        "tried again#": lambda one: one.night.retried or None,
        "from (UTC)": "StartTime",
        "to (UTC)": "EndTime",
    },
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportPart:
    """A list of the report."""

    name: str
    """What programs call it."""
    columns: ColumnList[Any]
    rows: Sequence[Any]
    whole: int
    """How many there are."""
    more: str
    """The command that shows all of them."""

    @property
    def cells(self) -> list[Sequence[object]]:
        """Return what people see of it."""
        return self.columns.cells(self.rows[:SHOWN])

    @property
    def rest(self) -> str | None:
        """Say how many more there are, and where, if there are more than people see."""
        left = self.whole - min(len(self.rows), SHOWN)
        return f"and {left} more: {self.more}" if left > 0 else None


@dataclass(frozen=True, slots=True, kw_only=True)
class NightReport:
    """The report of a night."""

    verdict: str
    span: NightSpan
    now: datetime
    parts: tuple[ReportPart, ...]
    notes: tuple[str, ...]
    """What else has to be known of it."""
    next_steps: tuple[str, ...]

    @property
    def shown(self) -> tuple[ReportPart, ...]:
        """Return the lists that have anything."""
        return tuple(part for part in self.parts if part.rows)
