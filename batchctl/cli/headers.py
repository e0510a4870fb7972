"""The columns of each list, as `--csv` prints them above its rows, of which there may be none."""

from __future__ import annotations

from batchctl.domain import records
from batchctl.domain.alerting.incidents import Incident
from batchctl.domain.rows import (
    BatchInstance,
    Freeze,
    HistoryEntry,
    IntakeRow,
)

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
    "status": (
        *(LIST, "ProcessBatchName", HistoryEntry, "ElapsedSeconds ExpectedDuration AlarmDuration Alarm"),
        *(BatchInstance, "Next", _WAITS, _UNREADABLE, Incident, "Source EventTime CalendarName ValidUntil Schedules"),
        *(_COMING, IntakeRow, "OpenInstances", Freeze, "CompletedTime"),
    ),
}
"""By command: columns, and records of which all columns are shown. Of a row that has no such column, the field is empty."""


def header_of(command: str) -> list[str]:
    """Return the columns of what a command lists, each once."""
    return list(dict.fromkeys(name for part in _COLUMNS[command] for name in _names_in(part)))


def _names_in(part: type | str) -> list[str]:
    if isinstance(part, str):
        return part.split()
    return [name for field in records.fields_of(part) if field.is_shown for name in field.columns]
