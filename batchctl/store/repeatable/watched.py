"""The tables whose changes are audited, also changes by hand."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from sqlalchemy import Column, UniqueConstraint

from batchctl.store.columns import UtcTime
from batchctl.store.conditions import is_number
from batchctl.store.tables import metadata


class WatchedTable(NamedTuple):
    """A table whose rows are watched, and which of its columns."""

    table: str
    columns: tuple[str, ...]
    called: str
    """The column by which a person knows a row."""
    parent: str = ""
    """The table of a row that it belongs to, and that row's name; both stand in the name of this one."""
    parent_called: str = ""

    @property
    def key(self) -> str:
        """Return the column of the row's number."""
        return f"{self.table}_id"

    @property
    def parent_key(self) -> str:
        """Return the column of the parent's number."""
        return f"{self.parent}_id"

    def unique(self) -> tuple[str, ...]:
        """Return the columns that are unique together, beside the row's number."""
        return next(
            (
                tuple(str(column.name) for column in made.columns)
                for made in metadata.tables[self.table].constraints
                if isinstance(made, UniqueConstraint)
            ),
            (),
        )

    def holds_number(self, column: str) -> bool:
        """Say whether a column holds whole numbers."""
        return is_number(self._column(column))

    def times(self) -> list[str]:
        """Return the columns that hold times, watched or not."""
        return [str(column.name) for column in metadata.tables[self.table].c if self.holds_time(column.name)]

    def holds_time(self, column: str) -> bool:
        """Say whether a column holds times."""
        return isinstance(self._column(column).type, UtcTime)

    def _column(self, column: str) -> Column[Any]:
        return metadata.tables[self.table].c[column]


def _watched(table: str, columns: str, called: str, parent: str = "", parent_called: str = "") -> WatchedTable:
    return WatchedTable(table, tuple(columns.split()), called, parent, parent_called)


DEFINITIONS = (
    _watched(
        "ProcessBatch",
        "ProcessBatchName Entity Enabled Seq Priority RetryCount RetryWaitMins RetryWaitSecs Populator PopulatorArgs PopulatorOn"
        " OnFailure DependencyMode MaxConcurrent MaxPerMinute Pool DuplicateCheck ProcessingMode Origin Description Tags"
        " ArriveBy StartBy FinishBy ExpectedOn ExpectedCalendar",
        "ProcessBatchName",
    ),
    _watched(
        "ProcessControl",
        "ProcessBatch_id ProcessControlSeq ProcessName ProcessType Pool Needs ExpectedDuration AlarmDuration MaxDuration OnLost"
        " MaxLost RetryCount RetryWaitSecs RetryBackoff RetryOn OnStepFailure RowsMin RowsMax OnRows"
        " Data1 Data2 Data3 Data4 Data5 Data6",
        "ProcessControlSeq",
        *("ProcessBatch", "ProcessBatchName"),
    ),
    _watched(
        "BatchDependency",
        "ProcessBatch_id DependsOnBatch_id DeadlineMins",
        "DependsOnBatch_id",
        *("ProcessBatch", "ProcessBatchName"),
    ),
    _watched(
        "BatchResource",
        "ProcessBatch_id Resource_id Units Exclusive",
        "Resource_id",
        *("ProcessBatch", "ProcessBatchName"),
    ),
    _watched("Resource", "ResourceName Units Description", "ResourceName"),
    _watched("Pool", "PoolName Kind MaxConcurrent Enabled Description", "PoolName"),
    _watched("Variable", "VariableName Value Description", "VariableName"),
    _watched(
        "Schedule",
        "ScheduleName Entity ScheduleType IntervalMinutes RunTimes RunDays RunDaysOfMonth WeekOfMonth RunMonths BetweenTimes"
        " EveryN StartDate EndDate RunAt Cron TimeZone CalendarName CalendarRule GapPolicy FoldPolicy CatchUp CatchUpMost"
        " Overlap Jitter Enabled Origin Description",
        "ScheduleName",
    ),
    _watched("Calendar", "CalendarName BusinessDays ValidFrom ValidUntil Description", "CalendarName"),
    _watched(
        "CalendarDay",
        "Calendar_id CalendarDate IsBusinessDay Description",
        "CalendarDate",
        *("Calendar", "CalendarName"),
    ),
    _watched(
        "DataTrigger",
        "TriggerName Entity ConnectionName TableName StatusColumn PendingValue CreatedColumn RowThreshold IdleMinutes"
        " OnNewRows DebounceSeconds Enabled",
        "TriggerName",
    ),
    _watched(
        "FileWatch",
        "WatchName Entity Folder Pattern Recursive SettleSeconds MarkerSuffix DuplicateKey Enabled",
        "WatchName",
    ),
    _watched("BatchFreeze", "ProcessBatchName Tag Reason Actor UntilTime ThawedTime ThawedBy", "BatchFreeze_id"),
    _watched("Drain", "Host PoolName Reason Actor UndrainedTime UndrainedBy", "Drain_id"),
    _watched("Setting", "Name Value", "Name"),
)
"""What is set by people; not what the engine keeps beside it, such as when a schedule is due next."""
WORK = (
    _watched(
        "BatchControl",
        "Status PrevProcessControlSeq RetryCount NextRunTime CycleKey Data1 Data2 Data3 Data4 Data5 Data6",
        "BatchControl_id",
    ),
    _watched("FileProcess", "Status Entity FileName Data CycleKey", "FileProcess_id"),
)
"""What the engine changes all the time; only changes by hand are audited."""


def each() -> Iterator[tuple[WatchedTable, bool]]:
    """Yield every watched table, and whether only changes by hand are audited."""
    yield from ((watched, False) for watched in DEFINITIONS)
    yield from ((watched, True) for watched in WORK)
