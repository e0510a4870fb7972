"""Audit the rows that a REPLACE takes away: on SQLite no trigger for DELETE hears of them unless somebody asked for that."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from alembic import op

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None


class Watched(NamedTuple):
    """A table whose rows are watched."""

    table: str
    columns: str
    called: str
    """The column by which a person knows a row."""
    unique: str = ""
    """What no two rows have the same of, beside the number; a row that has it is what a REPLACE takes away."""
    parent: str | None = None
    """The table of a row that it belongs to, and that row's name; both stand in the name of this one."""
    parent_called: str | None = None

    @property
    def key(self) -> str:
        """Return the column of the row's number."""
        return f"{self.table}_id"


DEFINITIONS = (
    Watched(
        "ProcessBatch",
        "ProcessBatchName Entity Enabled Seq RetryCount RetryWaitMins RetryWaitSecs Populator PopulatorArgs OnFailure"
        " DependencyMode MaxConcurrent DuplicateCheck ProcessingMode Origin Description Tags"
        " ArriveBy StartBy FinishBy ExpectedOn ExpectedCalendar",
        "ProcessBatchName",
        "ProcessBatchName",
    ),
    Watched(
        "ProcessControl",
        "ProcessBatch_id ProcessControlSeq ProcessName ProcessType ExpectedDuration AlarmDuration MaxDuration OnLost"
        " Data1 Data2 Data3 Data4 Data5 Data6",
        "ProcessControlSeq",
        "ProcessBatch_id ProcessControlSeq",
        *("ProcessBatch", "ProcessBatchName"),
    ),
    Watched(
        "BatchDependency",
        "ProcessBatch_id DependsOnBatch_id DeadlineMins",
        "DependsOnBatch_id",
        "ProcessBatch_id DependsOnBatch_id",
        *("ProcessBatch", "ProcessBatchName"),
    ),
    Watched(
        "BatchResource",
        "ProcessBatch_id Resource_id Units Exclusive",
        "Resource_id",
        "ProcessBatch_id Resource_id",
        *("ProcessBatch", "ProcessBatchName"),
    ),
    Watched("Resource", "ResourceName Units Description", "ResourceName", "ResourceName"),
    Watched(
        "Schedule",
        "ScheduleName Entity ScheduleType IntervalMinutes RunTimes RunDays RunDaysOfMonth WeekOfMonth RunMonths BetweenTimes"
        " EveryN StartDate EndDate RunAt Cron TimeZone CalendarName CalendarRule GapPolicy FoldPolicy CatchUp CatchUpMost"
        " Overlap Jitter Enabled Origin Description",
        "ScheduleName",
        "ScheduleName",
    ),
    Watched("Calendar", "CalendarName BusinessDays ValidFrom ValidUntil Description", "CalendarName", "CalendarName"),
    Watched(
        "CalendarDay",
        "Calendar_id CalendarDate IsBusinessDay Description",
        "CalendarDate",
        "Calendar_id CalendarDate",
        *("Calendar", "CalendarName"),
    ),
    Watched(
        "DataTrigger",
        "TriggerName Entity ConnectionName TableName StatusColumn PendingValue CreatedColumn RowThreshold IdleMinutes"
        " OnNewRows DebounceSeconds Enabled",
        "TriggerName",
        "TriggerName",
    ),
    Watched(
        "FileWatch",
        "WatchName Entity Folder Pattern Recursive SettleSeconds MarkerSuffix DuplicateKey Enabled",
        "WatchName",
        "WatchName",
    ),
    Watched("BatchFreeze", "ProcessBatchName Tag Reason Actor UntilTime ThawedTime ThawedBy", "BatchFreeze_id"),
    Watched("Setting", "Name Value", "Name", "Name"),
)
PENDING = """
CREATE TABLE batchctl_replaced (
    TableName TEXT NOT NULL,
    RowNumber INTEGER NOT NULL,
    Target TEXT NOT NULL,
    ValuesBefore TEXT NOT NULL
)
"""
"""What is in the way of the row that a statement is about to write.

Whether it goes is known only afterwards: before the row is written, nothing tells REPLACE from OR IGNORE and ON CONFLICT.
"""


def upgrade() -> None:
    """Make the triggers, and where they remember what they saw; the other databases have no such statement."""
    if op.get_context().dialect.name != "sqlite":
        return
    op.execute(PENDING.strip())
    for watched in DEFINITIONS:
        for called, trigger in triggers(watched):
            op.execute(f"CREATE TRIGGER {called} {trigger}")


def downgrade() -> None:
    """Drop what the revision made."""
    if op.get_context().dialect.name != "sqlite":
        return
    for watched in DEFINITIONS:
        for called, _ in triggers(watched):
            op.execute(f"DROP TRIGGER {called}")
    op.execute("DROP TABLE batchctl_replaced")


def triggers(watched: Watched) -> Iterator[tuple[str, str]]:
    """Yield the triggers by their names: they see which rows are in the way, and write down which of them went."""
    table, key = watched.table, watched.key
    keys = (key, *watched.unique.split())
    moved = f" WHEN {' OR '.join(f'NEW.{column} IS NOT OLD.{column}' for column in keys)}"
    for event, when, others in (("INSERT", "", ""), ("UPDATE", moved, f"r.{key} <> OLD.{key} AND ")):
        name = event.capitalize()
        before, after = f"TR_{table}_AuditReplace{name}", f"TR_{table}_AuditReplaced{name}"
        yield before, f"BEFORE {event} ON {table}{when} BEGIN {_forget(table)} {_see(watched, others)} END"
        yield after, f"AFTER {event} ON {table}{when} BEGIN {_tell(watched)} {_forget(table)} END"
    # With recursive_triggers the trigger for DELETE has heard of it; and a row deleted otherwise is in nobody's way.
    one = f"DELETE FROM batchctl_replaced WHERE TableName = '{table}' AND RowNumber = OLD.{key};"
    yield f"TR_{table}_AuditReplacedDelete", f"AFTER DELETE ON {table} BEGIN {one} END"


def _forget(table: str) -> str:
    return f"DELETE FROM batchctl_replaced WHERE TableName = '{table}';"


def _see(watched: Watched, others: str) -> str:
    """Return what keeps each row that has the number of the new one, or what must be unique."""
    table = watched.table
    parent = ""
    if watched.parent is not None:
        key = f"{watched.parent}_id"
        found = f"SELECT p.{watched.parent_called} FROM {watched.parent} p WHERE p.{key} = r.{key}"
        parent = f" || coalesce(({found}), '') || ':'"
    values = ", ".join(f"'{column}', r.{column}" for column in watched.columns.split())
    same = [f"r.{watched.key} = NEW.{watched.key}"]
    if watched.unique:
        same.append("(" + " AND ".join(f"r.{column} = NEW.{column}" for column in watched.unique.split()) + ")")
    return (
        "INSERT INTO batchctl_replaced (TableName, RowNumber, Target, ValuesBefore)"
        f" SELECT '{table}', r.{watched.key}, substr('{table}:'{parent} || r.{watched.called}, 1, 200),"
        f" json_object({values}) FROM {table} r WHERE {others}({' OR '.join(same)});"
    )


def _tell(watched: Watched) -> str:
    """Return what writes which rows are gone: before an INSERT that gives no number, NEW has one that is not its own."""
    key = watched.key
    return (
        "INSERT INTO AuditLog (Actor, Host, Action, Target, ValuesBefore)"
        " SELECT 'sql', 'sql', 'row delete', w.Target, w.ValuesBefore FROM batchctl_replaced w"
        f" WHERE w.TableName = '{watched.table}' AND (w.RowNumber = NEW.{key}"
        f" OR NOT EXISTS (SELECT 1 FROM {watched.table} r WHERE r.{key} = w.RowNumber)) ORDER BY w.RowNumber;"
    )
