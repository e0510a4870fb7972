"""The columns of each list, as `--csv` prints them above its rows, of which there may be none."""

from __future__ import annotations

LIST = "List"
"""The first column where a command shows several lists: which of them a row is of, as `--json` names it."""

_DATA = "Data1 Data2 Data3 Data4 Data5 Data6"
_INTAKE = "FileProcess_id Entity FileName Status Data CycleKey Source Message z_inserted"
_INSTANCE = (
    "BatchControl_id ProcessBatch_id FileProcess_id PrevProcessControlSeq Status RetryCount NextRunTime CycleKey"
    f" {_DATA} ClaimToken ClaimedBy LostCount DefVersion"
)
_ATTEMPT = (
    "BatchProcessHistory_id BatchControl_id ProcessBatch_id ProcessControlSeq ProcessName ProcessType AttemptNo ClaimToken"
    " Cause Status CommandText CommandSpec StartTime EndTime ReturnCode ErrorCode ErrorLine Message Output RowsAffected"
    " Host Pid PidStart BootId DbSession Spawned RetryCountAfter NextRunTimeAfter ClaimedBy DefVersion"
)
_INCIDENT = (
    "Incident_id Kind IncidentKey Severity Status Subject Message Detail NextStep ProcessBatch_id ProcessControlSeq"
    " BatchControl_id Occurrences OpenedTime LastSeen AcknowledgedTime AcknowledgedBy AcknowledgedReason SnoozedUntil"
    " AlertsMade NextAlertTime EscalatedTime ResolvedTime RecoveryTime"
)
_SCHEDULE = (
    "Schedule_id ScheduleName Entity ScheduleType IntervalMinutes RunTimes RunDays RunDaysOfMonth WeekOfMonth RunMonths"
    " BetweenTimes EveryN StartDate EndDate RunAt Cron TimeZone CalendarName CalendarRule GapPolicy FoldPolicy CatchUp"
    " CatchUpMost Overlap Jitter Enabled NextRunTime DecidedUntil Origin Description"
)
_WATCH = "FileWatch_id WatchName Entity Folder Pattern Recursive SettleSeconds MarkerSuffix DuplicateKey Enabled UnreachableSince"
_CALENDAR = "Calendar_id CalendarName BusinessDays ValidFrom ValidUntil Description"
_FREEZE = "BatchFreeze_id ProcessBatchName Tag Reason Actor UntilTime ThawedTime ThawedBy z_inserted"
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

_COLUMNS = {
    "alert list": "Channel Kind On Problem LastDelivery",
    "audit": "AuditLog_id z_inserted Actor Host Action Target Reason ValuesBefore ValuesAfter",
    "backfill list": (
        "ScheduleBackfill_id ScheduleName Status FromTime UntilTime MostOpen Missed DoneUntil Fired Open BatchControl_id"
        " Waits Actor Reason"
    ),
    "batches": (
        "ProcessBatch_id ProcessBatchName Entity Enabled Seq RetryCount RetryWaitMins RetryWaitSecs Populator"
        " PopulatorArgs PopulatorOn OnFailure DependencyMode MaxConcurrent DuplicateCheck ProcessingMode Tags Description"
        f" Steps NotInstalled Misread Frozen Instances {_UNREADABLE} Unreadable"
    ),
    "calendar list": f"{_CALENDAR} DayCount Schedules Warning",
    "calendar show": "CalendarDate IsBusinessDay Description",
    "check": "Table Row Column Message Next",
    "controllers": (
        "Controller_id ControllerName Status Host Pid PidStart BootId Slots HeartbeatSeq Heartbeat AppVersion z_inserted"
        " OrphanTimeoutSecs SchedulerZone Trouble State Claims Leads"
    ),
    "doctor": "Check Target Result Message Next",
    "freezes": f"{_FREEZE} Holds FreezesNothing",
    "fsck": "Law Message Table Row Next",
    "history": _ATTEMPT,
    "inbox": f"{LIST} {_INTAKE} State Because FileMissing Next {_UNREADABLE}",
    "incidents": _INCIDENT,
    "job history": f"{_ATTEMPT} Attempts Duration",
    "job list": (
        "JobName State Owner Message Category Description ProcessBatch_id Entity Enabled Schedules LastRun Drift"
    ),
    "log": (
        "SchedulerLog_id EventTime EventType Source Entity ProcessBatch_id FileProcess_id BatchControl_id Message"
        " RowsQueued DurationMs ProcessBatchName"
    ),
    "report due": f"{LIST} {_COMING} Batches ExpectedEnd {_WAITS} {_RUNNING}",
    "report durations": _DURATIONS,
    "report late": (
        f"{LIST} {_RUNNING} {_COMING} Batches {_WAITS} {_STANDING} {_DURATIONS} Kind ProcessBatchName Since Message Next"
    ),
    "requests": (
        "OperatorRequest_id Action BatchControl_id ProcessBatchName Arguments Reason Actor Status Answer AnsweredBy"
        " AnsweredTime z_inserted"
    ),
    "schedule jobs": (
        "ScheduleName Enabled State ScheduleType RunAt RunTimes TimeZone NextRunTime Overdue Waiting Running LastRun LastError"
    ),
    "schedule list": (
        f"{_SCHEDULE} Words Zone NextLocalTime NextUtcTime Overdue LastDueTime LastOutcome LastReason LastFileProcess_id"
        f" Findings {_UNREADABLE} Unreadable"
    ),
    "schedule preview": (
        "LocalTime UtcTime Outcome Reason FireKey CycleKey Jitter Decided DecidedReason FileProcess_id"
    ),
    "schedule preview --dst": ("ScheduleName TimeZone Change ChangeTime LocalTime UtcTime Outcome Reason Runs"),
    "status": (
        f"{LIST} ProcessBatchName {_ATTEMPT} ElapsedSeconds ExpectedDuration AlarmDuration Alarm {_INSTANCE} Next"
        f" {_WAITS} {_UNREADABLE} {_INCIDENT} Source EventTime CalendarName ValidUntil Schedules {_COMING} {_INTAKE}"
        f" OpenInstances {_FREEZE} CompletedTime"
    ),
    "trigger list": (
        "DataTrigger_id TriggerName Entity ConnectionName TableName StatusColumn PendingValue CreatedColumn RowThreshold"
        f" IdleMinutes OnNewRows DebounceSeconds Enabled LastFired {_UNREADABLE} Unreadable"
    ),
    "versions": "DefVersion z_inserted Changes Content",
    "wait": "Reference Status Settled Succeeded Message Next BatchControl",
    "waits": _WAITS,
    "watch list": f"{_WATCH} Taken Missing LastFileProcess_id LastSubmitted {_UNREADABLE} Unreadable",
}
"""By command. Of a row that has no such column, the field is empty."""


def header_of(command: str) -> list[str]:
    """Return the columns of what a command lists, each once."""
    return list(dict.fromkeys(_COLUMNS[command].split()))
