"""The columns of each list, as `--csv` prints them above its rows, of which there may be none."""

from __future__ import annotations

from batchctl.domain import records
from batchctl.domain.alerting.incidents import Incident
from batchctl.domain.rows import (
    AuditEntry,
    BatchInstance,
    ControllerRow,
    DataTrigger,
    FileWatchRow,
    Freeze,
    HistoryEntry,
    IntakeRow,
)
from batchctl.domain.scheduling.schedules import Calendar, Schedule

LIST = "List"
"""The first column where a command shows several lists: which of them a row is of, as `--json` names it."""

_WAITS = "ProcessBatch_id ProcessBatchName CycleKey Since Deadline Overdue Reason Lacking"
_UNREADABLE = "TableName RowNumber ColumnName ProcessBatchName Message Next"
_RUNNING = (
    "BatchControl_id ProcessBatchName ProcessControlSeq ProcessName StartTime Elapsed Expected LateBy ExpectedEnd"
)
_COMING = "ScheduleName Entity NextLocalTime NextUtcTime Overdue"
_DURATIONS = (
    "ProcessBatchName ProcessControlSeq ProcessName Runs Median P95 Longest Last ExpectedDuration AlarmDuration"
    " OverExpected RecentMedian EarlierMedian Drift DayMedians"
)
_STANDING = "BatchControl_id ProcessBatchName Status Since StandsFor"

_COLUMNS: dict[str, tuple[type | str, ...]] = {
    "alert list": ("Channel Kind On Problem LastDelivery",),
    "audit": (AuditEntry,),
    "backfill list": (
        "ScheduleBackfill_id ScheduleName Status FromTime UntilTime MostOpen Missed DoneUntil Fired Open BatchControl_id",
        "Waits Actor Reason",
    ),
    "batches": (
        "ProcessBatch_id ProcessBatchName Entity Enabled Seq RetryCount RetryWaitMins RetryWaitSecs Populator",
        "PopulatorArgs PopulatorOn OnFailure DependencyMode MaxConcurrent DuplicateCheck ProcessingMode Tags Description",
        f"Steps NotInstalled Misread Frozen Instances {_UNREADABLE} Unreadable",
    ),
    "calendar list": (Calendar, "DayCount Schedules Warning"),
    "calendar show": ("CalendarDate IsBusinessDay Description",),
    "check": ("Table Row Column Message Next",),
    "controllers": (ControllerRow, "State Claims Leads"),
    "doctor": ("Check Target Result Message Next",),
    "freezes": (Freeze, "Holds FreezesNothing"),
    "fsck": ("Law Message Table Row Next",),
    "history": (HistoryEntry,),
    "inbox": (LIST, IntakeRow, "State Because FileMissing Next", _UNREADABLE),
    "incidents": (Incident,),
    "job history": (HistoryEntry, "Attempts Duration"),
    "job list": (
        "JobName State Owner Message Category Description ProcessBatch_id Entity Enabled Schedules LastRun Drift",
    ),
    "report due": (LIST, _COMING, "Batches ExpectedEnd", _WAITS, _RUNNING),
    "report durations": (_DURATIONS,),
    "report late": (
        *(LIST, _RUNNING, _COMING, "Batches", _WAITS, _STANDING, _DURATIONS),
        "Kind ProcessBatchName Since Message Next",
    ),
    "schedule jobs": (
        "ScheduleName Enabled State ScheduleType RunAt RunTimes TimeZone NextRunTime Overdue Waiting Running LastRun LastError",
    ),
    "schedule list": (
        Schedule,
        "Words Zone NextLocalTime NextUtcTime Overdue LastDueTime LastOutcome LastReason LastFileProcess_id Findings",
        f"{_UNREADABLE} Unreadable",
    ),
    "schedule preview": (
        "LocalTime UtcTime Outcome Reason FireKey CycleKey Jitter Decided DecidedReason FileProcess_id",
    ),
    "schedule preview --dst": ("ScheduleName TimeZone Change ChangeTime LocalTime UtcTime Outcome Reason Runs",),
    "status": (
        *(LIST, "ProcessBatchName", HistoryEntry, "ElapsedSeconds ExpectedDuration AlarmDuration Alarm"),
        *(BatchInstance, "Next", _WAITS, _UNREADABLE, Incident, "Source EventTime CalendarName ValidUntil Schedules"),
        *(_COMING, IntakeRow, "OpenInstances", Freeze, "CompletedTime"),
    ),
    "trigger list": (DataTrigger, f"{_UNREADABLE} Unreadable"),
    "versions": ("DefVersion z_inserted Changes Content",),
    "wait": ("Reference Status Settled Succeeded Message Next BatchControl",),
    "waits": (_WAITS,),
    "watch list": (FileWatchRow, "Taken Missing LastFileProcess_id LastSubmitted", f"{_UNREADABLE} Unreadable"),
}
"""By command: columns, and records of which all columns are shown. Of a row that has no such column, the field is empty."""


def header_of(command: str) -> list[str]:
    """Return the columns of what a command lists, each once."""
    return list(dict.fromkeys(name for part in _COLUMNS[command] for name in _names_in(part)))


def _names_in(part: type | str) -> list[str]:
    if isinstance(part, str):
        return part.split()
    return [name for field in records.fields_of(part) if field.is_shown for name in field.columns]
