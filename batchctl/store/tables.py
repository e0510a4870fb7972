"""The tables of the control database, under the names the people who insert rows know."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Any

from sqlalchemy import (
    CheckConstraint,
    Column,
    ColumnElement,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    SmallInteger,
    Table,
    UniqueConstraint,
    and_,
    event,
    text,
)
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.schema import CreateColumn, CreateIndex

from batchctl.domain import status
from batchctl.store.columns import (
    UtcTime,
    database_user,
    identity,
    name,
    reference,
    text_column,
    unquoted,
    utc_now,
    word,
)
from batchctl.store.conditions import differing, is_word, one_of, type_checks

OPEN_INSTANCE = ("ready", "running", "retry", "failed", "held", "pausing", "paused", "cancelling")
CLAIMED_INSTANCE = ("running", "pausing", "cancelling")
STANDING_INSTANCE = ("retry", "failed", "held")
WAITING_INSTANCE = ("ready", "retry")
IN_LINE_INSTANCE = ("ready", "retry", "failed", "held")
"""What may start, or may keep others of its batch from starting."""
PAUSED_INSTANCE = ("paused",)
OVER_INSTANCE = ("complete", "cancelled")
LATER = "NextRunTime > '1900-01-01 00:00:00.000'"
AT_ONCE = "NextRunTime <= '1900-01-01 00:00:00.000'"
READY_INTAKE = "Status = 'ready'"
INBOX_INTAKE = ("paused", "rejected", "duplicate")
"""What nothing becomes of unless a person acts."""
HAS_DATA = "Data IS NOT NULL"
LIVE_ENTRY = "Status = 'running'"
WAITING_COMPLETION = "FileProcess_id IS NULL"
FIRED = "EventType = 'fired'"
ARMED = "Enabled = 1"
BACKFILLING = "Status = 'running'"
REQUESTED = "Status = 'requested'"
STANDING_FREEZE = "ThawedTime IS NULL"
STANDING_INCIDENT = "ResolvedTime IS NULL"
OWED_RECOVERY = "ResolvedTime IS NOT NULL AND RecoveryTime IS NULL"
TO_SEND = "Status = 'waiting'"
_ENDED_OR_LIVE = "({status} = 'running' AND EndTime IS NULL) OR ({status} <> 'running' AND EndTime IS NOT NULL)"
ENDED_OR_LIVE = differing(_ENDED_OR_LIVE.format(status="lower(Status)"), _ENDED_OR_LIVE.format(status="Status"))

DEFINITIONS = (
    *("ProcessBatch", "ProcessControl", "BatchDependency", "Resource", "BatchResource"),
    *("Schedule", "Calendar", "CalendarDay", "DataTrigger", "FileWatch"),
)
"""What people define. Every change of it is audited by a trigger, as is one of `Setting` and of `BatchFreeze`."""

metadata = MetaData(
    naming_convention={
        "pk": "PK_%(table_name)s",
        "fk": "FK_%(table_name)s_%(column_0_name)s",
        "uq": "UQ_%(table_name)s_%(column_0_N_name)s",
        "ck": "CK_%(table_name)s_%(constraint_name)s",
        "ix": "IX_%(table_name)s_%(column_0_N_name)s",
    }
)


def _column(called: str, kind: Any, *rest: Any, **options: Any) -> Column[Any]:
    options.setdefault("nullable", True)
    return Column(unquoted(called), kind, *rest, **options)


def _required(called: str, kind: Any, default: str | None = None, *rest: Any) -> Column[Any]:
    server_default = None if default is None else text(default)
    return Column(unquoted(called), kind, *rest, nullable=False, server_default=server_default)


def _key(called: str) -> Column[Any]:
    return Column(unquoted(called), identity(), primary_key=True, autoincrement=True)


def _stamp(called: str) -> Column[Any]:
    return Column(unquoted(called), UtcTime(), nullable=False, server_default=utc_now())


def _added(called: str, kind: Any) -> Column[Any]:
    """Return a column that a later migration has added: SQLite writes its conditions beside it."""
    return _column(called, kind, info={"added": True})


def _data_columns() -> list[Column[Any]]:
    return [_column(f"Data{at}", text_column()) for at in range(1, 7)]


def _words(called: str, kind: type[StrEnum]) -> CheckConstraint:
    return CheckConstraint(is_word(called, [member.value for member in kind]), name=called)


def _check(called: str, condition: str | ColumnElement[bool]) -> CheckConstraint:
    return CheckConstraint(condition, name=called)


def _belongs(column: str, *types: str) -> str:
    """Return the condition that a schedule has a column if it is of some type, and else has not."""
    of_it = _any("ScheduleType = '{}'", " OR ", types)
    of_others = _any("ScheduleType <> '{}'", " AND ", types)
    return f"({column} IS NOT NULL AND ({of_it})) OR ({column} IS NULL AND {of_others})"


def _needs(column: str, *types: str) -> str:
    """Return the condition that a schedule has a column if it is of some type; others may have it."""
    of_others = _any("ScheduleType <> '{}'", " AND ", types)
    return f"{column} IS NOT NULL OR ({of_others})"


def _any(condition: str, between: str, types: Iterable[str]) -> str:
    return between.join(condition.format(each) for each in types)


def _flag(called: str) -> CheckConstraint:
    return CheckConstraint(f"{called} IN (0, 1)", name=called)


def _index(
    called: str, *columns: str, where: str | ColumnElement[bool], unique: bool = False, using: str | None = None
) -> Index:
    condition = text(where) if isinstance(where, str) else where
    # SQLAlchemy has options for these, and naming one imports its dialect, which takes time.
    return Index(called, *columns, unique=unique, info={"where": condition, "using": using})


def _waits(when: str) -> ColumnElement[bool]:
    return and_(one_of("Status", WAITING_INSTANCE), text(when))


@compiles(CreateIndex)
def _of_some_rows(element: CreateIndex, compiler: Any, **options: Any) -> str:
    made = str(compiler.visit_create_index(element, **options))
    info = element.element.info
    if info.get("using"):
        made = made.replace(" (", f" USING {info['using']} (", 1)
    return made if "where" not in info else f"{made} WHERE {compiler.sql_compiler.process(info['where'])}"


@compiles(CreateColumn, "sqlite")
def _with_its_conditions(element: CreateColumn, compiler: Any, **options: Any) -> str:
    column = element.element
    made = str(compiler.visit_create_column(element, **options))
    if not column.info.get("added"):
        return made
    (condition,) = type_checks([column])
    return f"{made} CONSTRAINT CK_{column.table.name}_{condition.name} CHECK ({condition.sqltext})"


@event.listens_for(metadata, "before_create", once=True)
def _check_types(made: MetaData, connection: Any, **options: Any) -> None:
    # Every command loads the tables and hardly one makes any: three hundred constraints would take longer than all the rest.
    del connection, options
    for table in made.tables.values():
        given = [column for column in table.columns if not column.primary_key and not column.info.get("added")]
        for constraint in type_checks(given):
            table.append_constraint(constraint)


def _table(called: str, *parts: Any, **options: Any) -> Table:
    return Table(unquoted(called), metadata, *parts, **options)


file_process = _table(
    "FileProcess",
    _key("FileProcess_id"),
    _required("Entity", name()),
    _column("FileName", text_column()),
    _required("Status", word(), "'ready'"),
    _column("Data", text_column()),
    _column("CycleKey", name()),
    _column("Source", name()),
    _column("Message", text_column()),
    _stamp("z_inserted"),
    _stamp("z_updated"),
    _words("Status", status.IntakeStatus),
    _check("Entity", "Entity <> ''"),
    _index("IX_FileProcess_Ready", "FileProcess_id", where=READY_INTAKE),
    _index("IX_FileProcess_Inbox", "FileProcess_id", where=one_of("Status", INBOX_INTAKE)),
    # Data may be longer than the entry of an ordered index can be, except on SQLite.
    _index("IX_FileProcess_Duplicate", "Entity", "Data", where=HAS_DATA).ddl_if(dialect="sqlite"),
    _index("IX_FileProcess_Duplicate", "Data", where=HAS_DATA, using="hash").ddl_if(dialect="postgresql"),
    _index("IX_FileProcess_Duplicate", "Entity", where=HAS_DATA).ddl_if(dialect="mssql"),
    sqlite_autoincrement=True,
)

process_batch = _table(
    "ProcessBatch",
    _key("ProcessBatch_id"),
    _required("ProcessBatchName", name()),
    _column("Entity", name()),
    _required("Enabled", SmallInteger(), "1"),
    _required("Seq", Integer(), "100"),
    _required("RetryCount", Integer(), "0"),
    _required("RetryWaitMins", Integer(), "5"),
    _required("Populator", name(), "'pattern'"),
    _column("PopulatorArgs", text_column()),
    _required("OnFailure", word(), "'hold_batch'"),
    _required("DependencyMode", word(), "'all'"),
    _required("MaxConcurrent", Integer(), "1"),
    _required("DuplicateCheck", SmallInteger(), "1"),
    _column("Description", text_column()),
    _stamp("z_inserted"),
    _stamp("z_updated"),
    _added("ProcessingMode", word()),
    _added("RetryWaitSecs", Integer()),
    _added("Origin", name()),
    _added("Tags", name()),
    *(_added(called, name(50)) for called in ("ArriveBy", "StartBy", "FinishBy", "ExpectedOn")),
    _added("ExpectedCalendar", name()),
    UniqueConstraint("ProcessBatchName"),
    _check("ProcessBatchName", "ProcessBatchName <> ''"),
    _flag("Enabled"),
    _flag("DuplicateCheck"),
    _check("RetryCount", "RetryCount BETWEEN 0 AND 1000"),
    _check("RetryWaitMins", "RetryWaitMins BETWEEN 0 AND 525600"),
    _check("MaxConcurrent", "MaxConcurrent BETWEEN 1 AND 1000"),
    _words("OnFailure", status.OnFailure),
    _words("DependencyMode", status.DependencyMode),
    sqlite_autoincrement=True,
)

process_control = _table(
    "ProcessControl",
    _key("ProcessControl_id"),
    _required("ProcessBatch_id", reference(), None, ForeignKey("ProcessBatch.ProcessBatch_id")),
    _required("ProcessControlSeq", Integer()),
    _required("ProcessName", name()),
    _required("ProcessType", name(50)),
    _column("ExpectedDuration", Integer()),
    _column("AlarmDuration", Integer()),
    _column("MaxDuration", Integer()),
    _required("OnLost", word(), "'hold'"),
    *_data_columns(),
    _stamp("z_inserted"),
    _stamp("z_updated"),
    UniqueConstraint("ProcessBatch_id", "ProcessControlSeq"),
    _check("ProcessControlSeq", "ProcessControlSeq BETWEEN 1 AND 2000000000"),
    _check("ProcessName", "ProcessName <> ''"),
    _check("ExpectedDuration", "ExpectedDuration BETWEEN 1 AND 31536000"),
    _check("AlarmDuration", "AlarmDuration BETWEEN 1 AND 31536000"),
    _check("MaxDuration", "MaxDuration BETWEEN 1 AND 31536000"),
    _words("OnLost", status.OnLost),
    sqlite_autoincrement=True,
)

batch_control = _table(
    "BatchControl",
    _key("BatchControl_id"),
    _required("ProcessBatch_id", reference(), None, ForeignKey("ProcessBatch.ProcessBatch_id")),
    _required("FileProcess_id", reference(), None, ForeignKey("FileProcess.FileProcess_id")),
    _required("PrevProcessControlSeq", Integer(), "0"),
    _required("Status", word(), "'ready'"),
    _required("RetryCount", Integer(), "0"),
    _required("NextRunTime", UtcTime(), "'1900-01-01 00:00:00.000'"),
    _column("CycleKey", name()),
    *_data_columns(),
    _required("ClaimToken", reference(), "0"),
    _column("ClaimedBy", name()),
    _required("LostCount", Integer(), "0"),
    _stamp("z_inserted"),
    _stamp("z_updated"),
    _added("DefVersion", Integer()),
    UniqueConstraint("FileProcess_id", "ProcessBatch_id"),
    _words("Status", status.InstanceStatus),
    _check("PrevProcessControlSeq", "PrevProcessControlSeq >= 0"),
    _check("RetryCount", "RetryCount >= 0"),
    _check("LostCount", "LostCount >= 0"),
    _check("NextRunTime", "NextRunTime >= '0001-01-01' AND NextRunTime < '10000-01-01'").ddl_if(dialect="postgresql"),
    _index("IX_BatchControl_InLine", "ProcessBatch_id", "BatchControl_id", where=one_of("Status", IN_LINE_INSTANCE)),
    _index("IX_BatchControl_AtOnce", "ProcessBatch_id", "BatchControl_id", where=_waits(AT_ONCE)),
    _index("IX_BatchControl_Deferred", "ProcessBatch_id", "NextRunTime", where=_waits(LATER)),
    _index("IX_BatchControl_Paused", "ProcessBatch_id", "BatchControl_id", where=one_of("Status", PAUSED_INSTANCE)),
    _index("IX_BatchControl_Claimed", "ProcessBatch_id", where=one_of("Status", CLAIMED_INSTANCE)),
    _index("IX_BatchControl_Standing", "BatchControl_id", where=one_of("Status", STANDING_INSTANCE)),
    _index("IX_BatchControl_Due", "NextRunTime", where=_waits(LATER)),
    Index("IX_BatchControl_Cycle", "ProcessBatch_id", "CycleKey", "BatchControl_id"),
    _index(
        "IX_BatchControl_Over",
        *("ProcessBatch_id", "Status", "BatchControl_id"),
        where=one_of("Status", OVER_INSTANCE),
    ),
    sqlite_autoincrement=True,
)

batch_process_history = _table(
    "BatchProcessHistory",
    _key("BatchProcessHistory_id"),
    _required("BatchControl_id", reference(), None, ForeignKey("BatchControl.BatchControl_id")),
    _required("ProcessBatch_id", reference(), None, ForeignKey("ProcessBatch.ProcessBatch_id")),
    _required("ProcessControlSeq", Integer()),
    _required("ProcessName", name()),
    _required("ProcessType", name(50)),
    _required("AttemptNo", Integer(), "1"),
    _required("ClaimToken", reference(), "0"),
    _required("Cause", word(), "'auto'"),
    _required("Status", word(), "'running'"),
    _required("CommandText", text_column()),
    _required("CommandSpec", text_column(), "'{}'"),
    _stamp("StartTime"),
    _column("EndTime", UtcTime()),
    _column("ReturnCode", reference()),
    _column("Message", text_column()),
    _column("Output", text_column()),
    _column("RowsAffected", reference()),
    _column("Host", name()),
    _column("Pid", reference()),
    _column("PidStart", name(50)),
    _column("BootId", name(50)),
    _column("DbSession", name()),
    _column("Spawned", UtcTime()),
    _column("RetryCountAfter", Integer()),
    _column("NextRunTimeAfter", UtcTime()),
    _stamp("z_inserted"),
    _stamp("z_updated"),
    _added("ClaimedBy", name()),
    _added("DefVersion", Integer()),
    UniqueConstraint("BatchControl_id", "ProcessControlSeq", "AttemptNo"),
    _words("Cause", status.Cause),
    _words("Status", status.HistoryStatus),
    _check("EndTime", ENDED_OR_LIVE),
    _index("UX_BatchProcessHistory_Live", "BatchControl_id", where=LIVE_ENTRY, unique=True),
    sqlite_autoincrement=True,
)

audit_log = _table(
    "AuditLog",
    _key("AuditLog_id"),
    _stamp("z_inserted"),
    _required("Actor", name()),
    _required("Host", name()),
    _required("Action", name(50)),
    _required("Target", name()),
    _column("Reason", text_column()),
    _column("ValuesBefore", text_column()),
    _column("ValuesAfter", text_column()),
    _check("Actor", "Actor <> ''"),
    Index("IX_AuditLog_Target", "Target"),
    sqlite_autoincrement=True,
)

audit_seal = _table(
    "AuditSeal",
    _key("AuditSeal_id"),
    _required("SealNo", reference()),
    _required("AuditLog_id", reference()),
    _required("PrevHash", name(64)),
    _required("RecordHash", name(64)),
    _stamp("z_inserted"),
    UniqueConstraint("SealNo"),
    # No foreign key: the seal of a row that was purged stays.
    UniqueConstraint("AuditLog_id"),
    _check("SealNo", "SealNo >= 1"),
    sqlite_autoincrement=True,
)

setting = _table(
    "Setting",
    _key("Setting_id"),
    _required("Name", name()),
    _required("Value", text_column()),
    _stamp("z_inserted"),
    _stamp("z_updated"),
    UniqueConstraint("Name"),
    _check("Name", "Name <> ''"),
    sqlite_autoincrement=True,
)

controller = _table(
    "Controller",
    _key("Controller_id"),
    _required("ControllerName", name()),
    _required("Status", word(), "'running'"),
    _required("Host", name()),
    _column("Pid", reference()),
    _column("PidStart", name(50)),
    _column("BootId", name(50)),
    _required("Slots", Integer(), "1"),
    _required("HeartbeatSeq", reference(), "0"),
    _stamp("Heartbeat"),
    _column("AppVersion", name(50)),
    _stamp("z_inserted"),
    _stamp("z_updated"),
    _added("OrphanTimeoutSecs", Integer()),
    _added("SchedulerZone", name()),
    UniqueConstraint("ControllerName"),
    _check("ControllerName", "ControllerName <> ''"),
    _words("Status", status.ControllerStatus),
    sqlite_autoincrement=True,
)

resource = _table(
    "Resource",
    _key("Resource_id"),
    _required("ResourceName", name()),
    _required("Units", Integer(), "1"),
    _column("Description", text_column()),
    _stamp("z_inserted"),
    _stamp("z_updated"),
    UniqueConstraint("ResourceName"),
    _check("ResourceName", "ResourceName <> ''"),
    _check("Units", "Units BETWEEN 0 AND 1000000"),
    sqlite_autoincrement=True,
)

batch_resource = _table(
    "BatchResource",
    _key("BatchResource_id"),
    _required("ProcessBatch_id", reference(), None, ForeignKey("ProcessBatch.ProcessBatch_id")),
    _required("Resource_id", reference(), None, ForeignKey("Resource.Resource_id")),
    _required("Units", Integer(), "1"),
    _required("Exclusive", SmallInteger(), "0"),
    _stamp("z_inserted"),
    _stamp("z_updated"),
    UniqueConstraint("ProcessBatch_id", "Resource_id"),
    _check("Units", "Units BETWEEN 1 AND 1000000"),
    _flag("Exclusive"),
    sqlite_autoincrement=True,
)

batch_dependency = _table(
    "BatchDependency",
    _key("BatchDependency_id"),
    _required("ProcessBatch_id", reference(), None, ForeignKey("ProcessBatch.ProcessBatch_id")),
    _required("DependsOnBatch_id", reference(), None, ForeignKey("ProcessBatch.ProcessBatch_id")),
    _required("DeadlineMins", Integer(), "1440"),
    _stamp("z_inserted"),
    _stamp("z_updated"),
    UniqueConstraint("ProcessBatch_id", "DependsOnBatch_id"),
    _check("DeadlineMins", "DeadlineMins BETWEEN 1 AND 525600"),
    sqlite_autoincrement=True,
)

batch_completion = _table(
    "BatchCompletion",
    _key("BatchCompletion_id"),
    _required("ProcessBatch_id", reference(), None, ForeignKey("ProcessBatch.ProcessBatch_id")),
    _required("DependsOnBatch_id", reference(), None, ForeignKey("ProcessBatch.ProcessBatch_id")),
    _required("BatchControl_id", reference(), None, ForeignKey("BatchControl.BatchControl_id")),
    _column("CycleKey", name()),
    _column("FileProcess_id", reference(), ForeignKey("FileProcess.FileProcess_id")),
    _column("Overdue", UtcTime()),
    _stamp("z_inserted"),
    _stamp("z_updated"),
    # Each completion is used once for each batch that depends on it.
    UniqueConstraint("ProcessBatch_id", "BatchControl_id"),
    _index(
        "IX_BatchCompletion_Waiting",
        *("ProcessBatch_id", "CycleKey", "DependsOnBatch_id", "BatchCompletion_id"),
        where=WAITING_COMPLETION,
    ),
    Index("IX_BatchCompletion_Instance", "BatchControl_id"),
    Index("IX_BatchCompletion_Started", "FileProcess_id"),
    sqlite_autoincrement=True,
)

data_trigger = _table(
    "DataTrigger",
    _key("DataTrigger_id"),
    _required("TriggerName", name()),
    _required("Entity", name()),
    _required("ConnectionName", name()),
    _required("TableName", name()),
    _required("StatusColumn", name()),
    _required("PendingValue", name()),
    _column("CreatedColumn", name()),
    _column("RowThreshold", reference()),
    _column("IdleMinutes", Integer()),
    _required("OnNewRows", SmallInteger(), "0"),
    _required("DebounceSeconds", Integer(), "60"),
    _required("Enabled", SmallInteger(), "1"),
    _column("LastFired", UtcTime()),
    _stamp("z_inserted"),
    _stamp("z_updated"),
    UniqueConstraint("TriggerName"),
    _check("TriggerName", "TriggerName <> ''"),
    _check("Entity", "Entity <> ''"),
    _check("RowThreshold", "RowThreshold >= 1"),
    _check("IdleMinutes", "IdleMinutes BETWEEN 1 AND 525600"),
    _check("DebounceSeconds", "DebounceSeconds BETWEEN 0 AND 31536000"),
    _check("Condition", "RowThreshold IS NOT NULL OR IdleMinutes IS NOT NULL OR OnNewRows = 1"),
    _check("Age", "IdleMinutes IS NULL OR CreatedColumn IS NOT NULL"),
    _flag("OnNewRows"),
    _flag("Enabled"),
    sqlite_autoincrement=True,
)

scheduler_log = _table(
    "SchedulerLog",
    _key("SchedulerLog_id"),
    _stamp("EventTime"),
    _required("EventType", word()),
    _required("Source", name()),
    _column("Entity", name()),
    _column("ProcessBatch_id", reference()),
    _column("FileProcess_id", reference()),
    _column("BatchControl_id", reference()),
    _column("Message", text_column()),
    _column("RowsQueued", reference()),
    _column("DurationMs", reference()),
    _check("Source", "Source <> ''"),
    _words("EventType", status.SchedulerEvent),
    Index("IX_SchedulerLog_Entity", "Entity", "SchedulerLog_id"),
    _index("IX_SchedulerLog_Fired", "FileProcess_id", where=FIRED),
    sqlite_autoincrement=True,
)

file_watch = _table(
    "FileWatch",
    _key("FileWatch_id"),
    _required("WatchName", name()),
    _required("Entity", name()),
    _required("Folder", text_column()),
    _required("Pattern", name(), "'*'"),
    _required("Recursive", SmallInteger(), "0"),
    _required("SettleSeconds", Integer(), "10"),
    _column("MarkerSuffix", name(50)),
    _required("DuplicateKey", word(), "'name_size_time'"),
    _required("Enabled", SmallInteger(), "1"),
    _column("UnreachableSince", UtcTime()),
    _stamp("z_inserted"),
    _stamp("z_updated"),
    UniqueConstraint("WatchName"),
    _check("WatchName", "WatchName <> ''"),
    _check("Entity", "Entity <> ''"),
    _check("Pattern", "Pattern <> ''"),
    _check("MarkerSuffix", "MarkerSuffix <> ''"),
    _check("SettleSeconds", "SettleSeconds BETWEEN 0 AND 86400"),
    _flag("Recursive"),
    _flag("Enabled"),
    _words("DuplicateKey", status.DuplicateKey),
    sqlite_autoincrement=True,
)

file_watch_seen = _table(
    "FileWatchSeen",
    _key("FileWatchSeen_id"),
    _required("FileWatch_id", reference(), None, ForeignKey("FileWatch.FileWatch_id")),
    # No database can index the path itself, which may be of any length.
    _required("PathKey", name(64)),
    _required("FilePath", text_column()),
    _required("FileSize", reference()),
    _required("ModifiedNs", reference()),
    _column("FileNumber", name(50)),
    _column("FileProcess_id", reference(), ForeignKey("FileProcess.FileProcess_id")),
    _column("MissingSince", UtcTime()),
    _stamp("z_inserted"),
    _stamp("z_updated"),
    UniqueConstraint("FileWatch_id", "PathKey"),
    Index("IX_FileWatchSeen_Intake", "FileProcess_id"),
    sqlite_autoincrement=True,
)

duration_history = _table(
    "DurationHistory",
    _key("DurationHistory_id"),
    _required("ProcessBatch_id", reference(), None, ForeignKey("ProcessBatch.ProcessBatch_id")),
    _required("ProcessControlSeq", Integer()),
    _required("Day", name(10)),
    _required("UpToMs", reference()),
    _required("Runs", reference()),
    _required("TotalMs", reference()),
    _required("MinMs", reference()),
    _required("MaxMs", reference()),
    _stamp("z_inserted"),
    _stamp("z_updated"),
    UniqueConstraint("ProcessBatch_id", "ProcessControlSeq", "Day", "UpToMs"),
    _check("Runs", "Runs >= 1"),
    _check("MinMs", "MinMs BETWEEN 0 AND MaxMs"),
    sqlite_autoincrement=True,
)

schedule = _table(
    "Schedule",
    _key("Schedule_id"),
    _required("ScheduleName", name()),
    _required("Entity", name()),
    _required("ScheduleType", word()),
    _column("IntervalMinutes", Integer()),
    _column("RunTimes", name()),
    _column("RunDays", name()),
    _column("RunDaysOfMonth", name()),
    _column("WeekOfMonth", name()),
    _column("RunMonths", name()),
    _column("BetweenTimes", name(50)),
    _required("EveryN", Integer(), "1"),
    _column("StartDate", name(10)),
    _column("EndDate", name(10)),
    _column("RunAt", name(50)),
    _column("Cron", name()),
    _column("TimeZone", name()),
    _column("CalendarName", name()),
    _required("CalendarRule", word(), "'business_days'"),
    _required("GapPolicy", word(), "'run'"),
    _required("FoldPolicy", word(), "'once'"),
    _required("CatchUp", word(), "'none'"),
    _column("CatchUpMost", Integer()),
    _required("Overlap", word(), "'queue'"),
    _required("Jitter", Integer(), "0"),
    _required("Enabled", SmallInteger(), "1"),
    _column("NextRunTime", UtcTime()),
    _column("DecidedUntil", UtcTime(), server_default=utc_now()),
    _column("TimingHash", name(64)),
    _column("Origin", name()),
    _column("Description", text_column()),
    _stamp("z_inserted"),
    _stamp("z_updated"),
    UniqueConstraint("ScheduleName"),
    _check("ScheduleName", "ScheduleName <> ''"),
    _check("Entity", "Entity <> ''"),
    _check("IntervalMinutes", _belongs("IntervalMinutes", "interval")),
    _check("IntervalMinutes_Bounds", "IntervalMinutes BETWEEN 1 AND 1440"),
    _check("RunTimes", _belongs("RunTimes", "daily", "weekly", "monthly", "monthly_dow")),
    _check("RunDays", _needs("RunDays", "weekly", "monthly_dow")),
    _check("RunDaysOfMonth", _needs("RunDaysOfMonth", "monthly")),
    _check("WeekOfMonth", _needs("WeekOfMonth", "monthly_dow")),
    _check("RunAt", _belongs("RunAt", "once")),
    _check("Cron", _belongs("Cron", "cron")),
    _check("EveryN", "EveryN BETWEEN 1 AND 1000"),
    _check(
        "CatchUpMost", "(CatchUp = 'up_to' AND CatchUpMost IS NOT NULL) OR (CatchUp <> 'up_to' AND CatchUpMost IS NULL)"
    ),
    _check("CatchUpMost_Bounds", "CatchUpMost BETWEEN 1 AND 1000"),
    _check("Jitter", "Jitter BETWEEN 0 AND 86400"),
    _flag("Enabled"),
    _words("ScheduleType", status.ScheduleType),
    _words("CalendarRule", status.CalendarRule),
    _words("GapPolicy", status.GapPolicy),
    _words("FoldPolicy", status.FoldPolicy),
    _words("CatchUp", status.CatchUp),
    _words("Overlap", status.Overlap),
    _index("IX_Schedule_Due", "NextRunTime", where=ARMED),
    sqlite_autoincrement=True,
)

schedule_backfill = _table(
    "ScheduleBackfill",
    _key("ScheduleBackfill_id"),
    _required("Schedule_id", reference(), None, ForeignKey("Schedule.Schedule_id")),
    _required("Status", word(), "'running'"),
    _required("FromTime", UtcTime()),
    _required("UntilTime", UtcTime()),
    _required("MostOpen", Integer(), "1"),
    _required("Missed", SmallInteger(), "0"),
    _column("DoneUntil", UtcTime()),
    _required("Fired", reference(), "0"),
    _required("Actor", name()),
    _column("Reason", text_column()),
    _stamp("z_inserted"),
    _stamp("z_updated"),
    _check("UntilTime", "FromTime <= UntilTime"),
    _check("MostOpen", "MostOpen BETWEEN 1 AND 1000"),
    _flag("Missed"),
    _words("Status", status.BackfillStatus),
    _index("IX_ScheduleBackfill_Running", "ScheduleBackfill_id", where=BACKFILLING),
    sqlite_autoincrement=True,
)

schedule_fire = _table(
    "ScheduleFire",
    _key("ScheduleFire_id"),
    _required("Schedule_id", reference(), None, ForeignKey("Schedule.Schedule_id")),
    _required("FireKey", name(100)),
    _required("Outcome", word()),
    _required("DueTime", UtcTime()),
    _column("DueUntil", UtcTime()),
    _required("Instants", Integer(), "1"),
    _column("Reason", text_column()),
    _column("FileProcess_id", reference(), ForeignKey("FileProcess.FileProcess_id")),
    _column("ScheduleBackfill_id", reference(), ForeignKey("ScheduleBackfill.ScheduleBackfill_id")),
    _column("ZoneRules", name(50)),
    _stamp("z_inserted"),
    # Each due time is decided once, whatever the clocks do and however many controllers there are.
    UniqueConstraint("Schedule_id", "FireKey"),
    _check("FireKey", "FireKey <> ''"),
    _check("Instants", "Instants >= 1"),
    _check(
        "FileProcess_id",
        "(Outcome = 'fired' AND FileProcess_id IS NOT NULL) OR (Outcome <> 'fired' AND FileProcess_id IS NULL)",
    ),
    _words("Outcome", status.FireOutcome),
    Index("IX_ScheduleFire_Due", "Schedule_id", "DueTime"),
    Index("IX_ScheduleFire_FileProcess", "FileProcess_id"),
    sqlite_autoincrement=True,
)

calendar = _table(
    "Calendar",
    _key("Calendar_id"),
    _required("CalendarName", name()),
    _required("BusinessDays", name(50), "'Mon,Tue,Wed,Thu,Fri'"),
    _column("ValidFrom", name(10)),
    _column("ValidUntil", name(10)),
    _column("Description", text_column()),
    _stamp("z_inserted"),
    _stamp("z_updated"),
    UniqueConstraint("CalendarName"),
    _check("CalendarName", "CalendarName <> ''"),
    sqlite_autoincrement=True,
)

calendar_day = _table(
    "CalendarDay",
    _key("CalendarDay_id"),
    _required("Calendar_id", reference(), None, ForeignKey("Calendar.Calendar_id")),
    _required("CalendarDate", name(10)),
    _required("IsBusinessDay", SmallInteger(), "0"),
    _column("Description", name()),
    _stamp("z_inserted"),
    _stamp("z_updated"),
    UniqueConstraint("Calendar_id", "CalendarDate"),
    _check("CalendarDate", "CalendarDate LIKE '____-__-__'"),
    _flag("IsBusinessDay"),
    sqlite_autoincrement=True,
)

operator_request = _table(
    "OperatorRequest",
    _key("OperatorRequest_id"),
    _required("Action", name(50)),
    _column("BatchControl_id", reference()),
    _column("ProcessBatchName", name()),
    _column("Arguments", text_column()),
    _column("Reason", text_column()),
    Column(unquoted("Actor"), name(), nullable=False, server_default=database_user()),
    _required("Status", word(), "'requested'"),
    _column("Answer", text_column()),
    _column("AnsweredBy", name()),
    _column("AnsweredTime", UtcTime()),
    _stamp("z_inserted"),
    _stamp("z_updated"),
    _check("Action", "Action <> ''"),
    _check("Actor", "Actor <> ''"),
    _words("Status", status.RequestStatus),
    _index("IX_OperatorRequest_Open", "OperatorRequest_id", where=REQUESTED),
    sqlite_autoincrement=True,
)

batch_freeze = _table(
    "BatchFreeze",
    _key("BatchFreeze_id"),
    _column("ProcessBatchName", name()),
    _column("Tag", name()),
    _required("Reason", text_column()),
    Column(unquoted("Actor"), name(), nullable=False, server_default=database_user()),
    _column("UntilTime", UtcTime()),
    _column("ThawedTime", UtcTime()),
    _column("ThawedBy", name()),
    _stamp("z_inserted"),
    _stamp("z_updated"),
    _check("Reason", "Reason <> ''"),
    _check("Actor", "Actor <> ''"),
    # Of neither is the whole system.
    _check("Tag", "ProcessBatchName IS NULL OR Tag IS NULL"),
    _index("IX_BatchFreeze_Standing", "BatchFreeze_id", where=STANDING_FREEZE),
    sqlite_autoincrement=True,
)

incident = _table(
    "Incident",
    _key("Incident_id"),
    _required("Kind", word()),
    _required("IncidentKey", name()),
    _required("Severity", word()),
    _required("Status", word(), "'open'"),
    _required("Subject", name()),
    _required("Message", text_column()),
    _column("Detail", text_column()),
    _column("NextStep", text_column()),
    # No foreign keys: an incident outlives what it tells of.
    _column("ProcessBatch_id", reference()),
    _column("ProcessControlSeq", Integer()),
    _column("BatchControl_id", reference()),
    _required("Evidence", reference(), "0"),
    _required("Occurrences", Integer(), "1"),
    _stamp("OpenedTime"),
    _stamp("LastSeen"),
    _column("AcknowledgedTime", UtcTime()),
    _column("AcknowledgedBy", name()),
    _column("SnoozedUntil", UtcTime()),
    _required("AlertsMade", Integer(), "0"),
    _column("NextAlertTime", UtcTime()),
    _column("EscalatedTime", UtcTime()),
    _column("ResolvedTime", UtcTime()),
    _column("RecoveryTime", UtcTime()),
    _stamp("z_inserted"),
    _stamp("z_updated"),
    _check("IncidentKey", "IncidentKey <> ''"),
    _check("Occurrences", "Occurrences >= 1"),
    _check("AlertsMade", "AlertsMade >= 0"),
    _words("Kind", status.IncidentKind),
    _words("Severity", status.Severity),
    _words("Status", status.IncidentStatus),
    _index("UX_Incident_Standing", "IncidentKey", where=STANDING_INCIDENT, unique=True),
    _index("IX_Incident_Recovery", "Incident_id", where=OWED_RECOVERY),
    sqlite_autoincrement=True,
)

alert_delivery = _table(
    "AlertDelivery",
    _key("AlertDelivery_id"),
    _required("Incident_id", reference(), None, ForeignKey("Incident.Incident_id")),
    _required("Channel", name()),
    _required("Kind", word()),
    _required("Number", Integer()),
    _required("Status", word(), "'waiting'"),
    _required("Title", name()),
    _required("Body", text_column()),
    _required("Attempts", Integer(), "0"),
    _stamp("NextAttemptTime"),
    _column("ClaimedBy", name()),
    _column("ClaimedTime", UtcTime()),
    _column("SentTime", UtcTime()),
    _column("Message", text_column()),
    _stamp("z_inserted"),
    _stamp("z_updated"),
    # Each message is made once for each channel, however many controllers make it.
    UniqueConstraint("Incident_id", "Channel", "Kind", "Number"),
    _check("Channel", "Channel <> ''"),
    _check("Number", "Number >= 0"),
    _check("Attempts", "Attempts >= 0"),
    _words("Kind", status.DeliveryKind),
    _words("Status", status.DeliveryStatus),
    _index("IX_AlertDelivery_Waiting", "AlertDelivery_id", where=TO_SEND),
    sqlite_autoincrement=True,
)

zone_offset = _table(
    "ZoneOffset",
    _key("ZoneOffset_id"),
    _required("ZoneName", name()),
    _required("FromTime", UtcTime()),
    _required("UntilTime", UtcTime()),
    _required("OffsetSeconds", Integer()),
    _stamp("z_inserted"),
    UniqueConstraint("FromTime"),
    _check("ZoneName", "ZoneName <> ''"),
    _check("UntilTime", "FromTime < UntilTime"),
    _check("OffsetSeconds", "OffsetSeconds BETWEEN -86400 AND 86400"),
    Index("IX_ZoneOffset_Until", "UntilTime", "FromTime"),
    sqlite_autoincrement=True,
)

batch_version = _table(
    "BatchVersion",
    _key("BatchVersion_id"),
    # The batch may be deleted; what its instances ran stays known, so nothing refers to it.
    _required("ProcessBatch_id", reference()),
    _required("ProcessBatchName", name()),
    _required("DefVersion", Integer()),
    _required("Fingerprint", name(64)),
    _required("Content", text_column()),
    _stamp("z_inserted"),
    UniqueConstraint("ProcessBatch_id", "DefVersion"),
    _check("DefVersion", "DefVersion >= 1"),
    sqlite_autoincrement=True,
)

applied_definition = _table(
    "AppliedDefinition",
    _key("AppliedDefinition_id"),
    _required("Kind", name(50)),
    _required("Name", name()),
    _column("Owner", name()),
    _column("Exported", name(64)),
    _required("Content", text_column()),
    _required("Actor", name()),
    _stamp("z_inserted"),
    _stamp("z_updated"),
    UniqueConstraint("Kind", "Name"),
    sqlite_autoincrement=True,
)
