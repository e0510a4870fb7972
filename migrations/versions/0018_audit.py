"""Audit what hands change, let nobody change the audit log, and chain its rows by their hashes."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

from batchctl.store.columns import UtcTime, identity, name, unquoted, utc_now
from batchctl.store.conditions import type_checks
from batchctl.store.row_triggers import (
    APPEND_ONLY_FUNCTION,
    AUDIT_FUNCTION,
    Watched,
    append_only_triggers,
    definition_triggers,
    row_triggers,
)

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None

CONVENTION = {
    "pk": "PK_%(table_name)s",
    "uq": "UQ_%(table_name)s_%(column_0_N_name)s",
    "ck": "CK_%(table_name)s_%(constraint_name)s",
}
DEFINITIONS = (
    Watched(
        "ProcessBatch",
        "ProcessBatchName Entity Enabled# Seq# RetryCount# RetryWaitMins# RetryWaitSecs# Populator PopulatorArgs OnFailure"
        " DependencyMode MaxConcurrent# DuplicateCheck# ProcessingMode Origin Description Tags"
        " ArriveBy StartBy FinishBy ExpectedOn ExpectedCalendar",
        "ProcessBatchName",
    ),
    Watched(
        "ProcessControl",
        "ProcessBatch_id# ProcessControlSeq# ProcessName ProcessType ExpectedDuration# AlarmDuration# MaxDuration# OnLost"
        " Data1 Data2 Data3 Data4 Data5 Data6",
        "ProcessControlSeq",
        *("ProcessBatch", "ProcessBatchName"),
    ),
    Watched(
        "BatchDependency",
        "ProcessBatch_id# DependsOnBatch_id# DeadlineMins#",
        "DependsOnBatch_id",
        *("ProcessBatch", "ProcessBatchName"),
    ),
    Watched(
        "BatchResource",
        "ProcessBatch_id# Resource_id# Units# Exclusive#",
        "Resource_id",
        *("ProcessBatch", "ProcessBatchName"),
    ),
    Watched("Resource", "ResourceName Units# Description", "ResourceName"),
    Watched(
        "Schedule",
        "ScheduleName Entity ScheduleType IntervalMinutes# RunTimes RunDays RunDaysOfMonth WeekOfMonth RunMonths BetweenTimes"
        " EveryN# StartDate EndDate RunAt Cron TimeZone CalendarName CalendarRule GapPolicy FoldPolicy CatchUp CatchUpMost#"
        " Overlap Jitter# Enabled# Origin Description",
        "ScheduleName",
    ),
    Watched("Calendar", "CalendarName BusinessDays ValidFrom ValidUntil Description", "CalendarName"),
    Watched(
        "CalendarDay",
        "Calendar_id# CalendarDate IsBusinessDay# Description",
        "CalendarDate",
        *("Calendar", "CalendarName"),
    ),
    Watched(
        "DataTrigger",
        "TriggerName Entity ConnectionName TableName StatusColumn PendingValue CreatedColumn RowThreshold# IdleMinutes#"
        " OnNewRows# DebounceSeconds# Enabled#",
        "TriggerName",
    ),
    Watched(
        "FileWatch",
        "WatchName Entity Folder Pattern Recursive# SettleSeconds# MarkerSuffix DuplicateKey Enabled#",
        "WatchName",
    ),
    Watched("BatchFreeze", "ProcessBatchName Tag Reason Actor UntilTime@ ThawedTime@ ThawedBy", "BatchFreeze_id"),
    Watched("Setting", "Name Value", "Name"),
)
"""What is set by people; not what the engine keeps beside it, such as when a schedule is due next."""
WORK = (
    Watched(
        "BatchControl",
        "Status PrevProcessControlSeq# RetryCount# NextRunTime@ CycleKey Data1 Data2 Data3 Data4 Data5 Data6",
        "BatchControl_id",
    ),
    Watched("FileProcess", "Status Entity FileName Data CycleKey", "FileProcess_id"),
)
"""What the engine changes all the time; only a hand's change is audited."""
ADDED_TO = {"AuditLog": "AuditLogDays", "AuditSeal": None}
"""What is only added to, and the setting by which its rows may go once they are old."""


def upgrade() -> None:
    """Make the table of seals and all triggers."""
    columns = [
        _needed("SealNo", identity()),
        _needed("AuditLog_id", identity()),
        _needed("PrevHash", name(64)),
        _needed("RecordHash", name(64)),
        sa.Column(unquoted("z_inserted"), UtcTime(), nullable=False, server_default=utc_now()),
    ]
    made = sa.Table(
        unquoted("AuditSeal"),
        sa.MetaData(naming_convention=CONVENTION),
        sa.Column(unquoted("AuditSeal_id"), identity(), primary_key=True, autoincrement=True),
        *columns,
        sa.UniqueConstraint("SealNo"),
        sa.UniqueConstraint("AuditLog_id"),
        sa.CheckConstraint("SealNo >= 1", name="SealNo"),
        sqlite_autoincrement=True,
    )
    for constraint in type_checks(columns):
        made.append_constraint(constraint)
    op.get_context().impl.create_table(made)
    dialect = op.get_context().dialect.name
    if dialect == "postgresql":
        for function in (AUDIT_FUNCTION, APPEND_ONLY_FUNCTION):
            op.execute(function)
        # Whoever put one of them on a table of his own would act as the owner of ours.
        for called in ("batchctl_audit", "batchctl_append_only"):
            op.execute(f"REVOKE ALL ON FUNCTION {called}() FROM PUBLIC")
    elsewhere = op.get_context().version_table_schema
    schema = "" if elsewhere is None else f"{elsewhere}."
    for watched in DEFINITIONS:
        _make(definition_triggers(dialect, watched, schema))
    for watched in WORK:
        _make(row_triggers(dialect, watched, schema))
    for table, setting in ADDED_TO.items():
        _make(append_only_triggers(dialect, table, setting, schema))


def downgrade() -> None:
    """Drop what the revision made."""
    dialect = op.get_context().dialect.name
    for table in (*(watched.table for watched in (*DEFINITIONS, *WORK)), "AuditLog"):
        for trigger in _made_for(dialect, table):
            op.execute(f"DROP TRIGGER {trigger}" + (f" ON {table}" if dialect == "postgresql" else ""))
    op.drop_table(unquoted("AuditSeal"))
    if dialect == "postgresql":
        op.execute("DROP FUNCTION batchctl_audit()")
        op.execute("DROP FUNCTION batchctl_append_only()")


def _made_for(dialect: str, table: str) -> list[str]:
    called = f"TR_{table}_{'AppendOnly' if table == 'AuditLog' else 'Audit'}"
    is_work = table in {watched.table for watched in WORK}
    if dialect == "sqlite":
        return [f"{called}{event}" for event in (("Update",) if is_work else ("Insert", "Update", "Delete"))]
    return [called, f"{called}Truncate"] if dialect == "postgresql" and not is_work else [called]


def _make(triggers: Any) -> None:
    for trigger in triggers:
        op.execute(trigger)


def _needed(called: str, kind: Any) -> sa.Column[Any]:
    return sa.Column(unquoted(called), kind, nullable=False)
