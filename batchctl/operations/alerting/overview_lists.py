"""The lists of what is happening, and of what needs a person."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import Annotated

from batchctl.domain.alerting.incident_causes import StepOf
from batchctl.domain.dead_ends import DeadEnd
from batchctl.domain.gates import Gate
from batchctl.domain.operators import confirmations
from batchctl.domain.operators.confirmations import Confirmation
from batchctl.domain.operators.pools import Drain
from batchctl.domain.records import Apart
from batchctl.domain.rows import (
    DEFAULT_POOL,
    BatchInstance,
    Freeze,
    HistoryEntry,
    IntakeRow,
    attempt_of,
)
from batchctl.domain.text import shorten, typed, visible
from batchctl.operations.column_lists import Alarming, ColumnList, StatusWord, record


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """An attempt under way. `elapsed` is beyond AlarmDuration when `is_late`."""

    entry: HistoryEntry
    instance: Apart[BatchInstance]
    batch: Annotated[str, "ProcessBatchName"]
    elapsed: Annotated[timedelta, "ElapsedSeconds"]
    expected: Annotated[timedelta | None, "ExpectedDuration"]
    alarm: Annotated[timedelta | None, "AlarmDuration"]
    locks: Apart[Gate] = field(default_factory=partial(Gate, "locks"))
    """Who keeps a row locked without which its end is not written, where a controller says that."""

    @property
    def attempts(self) -> int:
        """Return how many attempts there may be at most, with this one and all before it."""
        return self.entry.attempt_no + self.instance.retry_count

    @property
    def is_late(self) -> bool:
        """Say whether it runs longer than AlarmDuration."""
        return self.alarm is not None and self.elapsed >= self.alarm


@dataclass(frozen=True, slots=True, kw_only=True)
class FailingInstance:
    """An instance that has failed, is held or waits for its retry; `clear` is what to type."""

    instance: BatchInstance
    batch: Annotated[str, "ProcessBatchName"]
    step: Apart[StepOf | None]
    """The one at which it stands."""
    message: str | None
    wording: Apart[str | None]
    """The message, and what became of the retries."""
    clear: Annotated[str, "Next"]


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingInstance:
    """An instance that is ready or paused; `reason` is None when it is about to start."""

    instance: BatchInstance
    batch: Annotated[str, "ProcessBatchName"]
    reason: str | None
    clear: Annotated[str | None, "Next"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Completed:
    """An instance that has completed."""

    instance: BatchInstance
    batch: Annotated[str, "ProcessBatchName"]
    at: Annotated[datetime, "CompletedTime"]


def _step_and_pool(one: Running) -> str:
    pool = one.instance.next_pool
    return f"{one.entry.seq} {one.entry.step_name}" + ("" if pool is None else f" (pool {pool})")


def _alarm(one: Running) -> object:
    if one.locks.blocked is not None:
        return Alarming(f"{one.locks.blocked}; to end that: {one.locks.clear}")
    return Alarming("longer than AlarmDuration") if one.is_late else "no"


RUNNING = ColumnList[Running](
    "Running",
    {
        **record(Running),
        "PoolName": lambda one: one.instance.next_pool or DEFAULT_POOL,
        "Locked": lambda one: one.locks.blocked,
        "Alarm": lambda one: one.is_late,
    },
    {
        "id#": "BatchControl_id",
        "batch": "ProcessBatchName",
        "step": _step_and_pool,
        "attempt#": lambda one: attempt_of(one.entry.attempt_no, one.attempts),
        "since#": "ElapsedSeconds",
        "expected#": "ExpectedDuration",
        "alarm": _alarm,
    },
)
FAILING = ColumnList[FailingInstance](
    "Failed, held, to be tried again",
    record(
        FailingInstance,
        step={
            "ProcessControlSeq": lambda one: None if one.step is None else one.step.seq,
            "ProcessName": lambda one: None if one.step is None else one.step.name,
        },
    ),
    {
        "id#": "BatchControl_id",
        "batch": "ProcessBatchName",
        "status": "Status",
        "step": lambda one: None if one.step is None else f"{one.step.seq} {one.step.name}",
        "message": lambda one: one.wording,
        "next": "Next",
    },
)
DEAD_ENDS = ColumnList[DeadEnd](
    "Triggers, watches and schedules that start nothing",
    record(DeadEnd),
    {"name": "Source", "since (UTC)": "EventTime", "message": "Message", "next": "Next"},
)
INTAKE = ColumnList[IntakeRow]("Rows that nothing came of", record(IntakeRow))
FROZEN = ColumnList[Freeze]("Freezes", record(Freeze))
DRAINS = ColumnList[Drain]("Drains", record(Drain))
DISABLED = ColumnList[tuple[str, int]](
    "Disabled batches with open instances",
    {
        "ProcessBatchName": lambda one: one[0],
        "OpenInstances": lambda one: one[1],
        "Next": lambda one: f"batchctl enable {typed(one[0])} --reason ...",
    },
    {"batch": "ProcessBatchName", "open#": "OpenInstances", "next": "Next"},
)
COMPLETED = ColumnList[Completed](
    "Completed last",
    record(Completed),
    {
        "id#": "BatchControl_id",
        "batch": "ProcessBatchName",
        "at (UTC)": "CompletedTime",
        "but": lambda one: None if one.instance.failures_behind is None else Alarming(one.instance.failures_behind),
    },
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedInstance:
    """A question that an instance waits with."""

    question: Confirmation
    batch: Annotated[str, "ProcessBatchName"]
    clear: Annotated[str, "Next"]


ASKED = ColumnList[AskedInstance](
    "Waiting for a person",
    record(AskedInstance),
    {
        "id#": "BatchControl_id",
        "batch": "ProcessBatchName",
        "step#": "ProcessControlSeq",
        "question": lambda one: shorten(visible(one.question.question), confirmations.SHOWN),
        "who may answer": lambda one: one.question.may_answer,
        "since (UTC)": "z_inserted",
        "until": lambda one: one.question.until,
        "next": "Next",
    },
)


def waiting_where(*, idle: bool) -> ColumnList[WaitingInstance]:
    """Return the column list of what waits; where it is idle, no controller works."""
    return ColumnList(
        "Waiting",
        record(WaitingInstance),
        {
            "id#": "BatchControl_id",
            "batch": "ProcessBatchName",
            "status": "Status",
            "because": lambda one: one.reason or ("no controller is running" if idle else "it starts next"),
            "next": lambda one: one.clear or ("batchctl process" if idle and not one.reason else None),
        },
    )


@dataclass(frozen=True, slots=True)
class NothingCame:
    """A FileProcess row that nothing came of, why, and what to do."""

    row: IntakeRow
    state: StatusWord
    because: str
    clear: str


NOTHING_CAME = ColumnList[NothingCame](
    "Rows that nothing came of",
    {
        **record(IntakeRow, lambda one: one.row),
        "State": lambda one: one.state.text,
        "Because": lambda one: one.because,
        "Next": lambda one: one.clear,
    },
    {
        "FileProcess#": "FileProcess_id",
        "entity": "Entity",
        "status": lambda one: one.state,
        "file": "FileName",
        "reason": "Because",
        "next": "Next",
    },
)
