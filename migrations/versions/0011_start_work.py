"""Create what starts work: dependencies and their completions, data triggers, watched folders, and the log of it all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from alembic import op

from batchctl.store.columns import UtcTime, identity, name, text_column, unquoted, utc_now, word
from batchctl.store.conditions import is_word, type_checks

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

CONVENTION = {
    "pk": "PK_%(table_name)s",
    "fk": "FK_%(table_name)s_%(column_0_name)s",
    "uq": "UQ_%(table_name)s_%(column_0_N_name)s",
    "ck": "CK_%(table_name)s_%(constraint_name)s",
}
WORDS = {
    ("SchedulerLog", "EventType"): ("fired", "skipped", "completed", "error", "rescued"),
    ("FileWatch", "DuplicateKey"): ("name", "name_size_time", "content"),
}
TABLES = ("BatchDependency", "BatchCompletion", "DataTrigger", "SchedulerLog", "FileWatch", "FileWatchSeen")
WAITING = ("ProcessBatch_id", "CycleKey", "DependsOnBatch_id", "BatchCompletion_id")
DEFINITIONS = ("BatchDependency", "DataTrigger", "FileWatch")
"""What a controller has to read anew when somebody has changed it."""
SET_ASIDE = ("paused", "rejected", "duplicate")
"""Intake rows that nothing becomes of unless a person acts."""


def upgrade() -> None:
    """Make the tables, their indexes and, on PostgreSQL, their triggers."""
    metadata = sa.MetaData(naming_convention=CONVENTION)
    for known in ("ProcessBatch", "BatchControl", "FileProcess"):
        sa.Table(unquoted(known), metadata, sa.Column(unquoted(f"{known}_id"), identity(), primary_key=True))
    _create(
        metadata,
        "BatchDependency",
        _refers("ProcessBatch_id", "ProcessBatch"),
        _refers("DependsOnBatch_id", "ProcessBatch"),
        _needed("DeadlineMins", sa.Integer(), "1440"),
        *_stamps("z_inserted", "z_updated"),
        sa.UniqueConstraint("ProcessBatch_id", "DependsOnBatch_id"),
        sa.CheckConstraint("DeadlineMins BETWEEN 1 AND 525600", name="DeadlineMins"),
    )
    _create(
        metadata,
        "BatchCompletion",
        _refers("ProcessBatch_id", "ProcessBatch"),
        _refers("DependsOnBatch_id", "ProcessBatch"),
        _refers("BatchControl_id", "BatchControl"),
        _optional("CycleKey", name()),
        _optional("FileProcess_id", identity(), sa.ForeignKey("FileProcess.FileProcess_id")),
        _optional("Overdue", UtcTime()),
        *_stamps("z_inserted", "z_updated"),
        sa.UniqueConstraint("ProcessBatch_id", "BatchControl_id"),
    )
    _create(
        metadata,
        "DataTrigger",
        *(_needed(column, name()) for column in ("TriggerName", "Entity", "ConnectionName", "TableName")),
        *(_needed(column, name()) for column in ("StatusColumn", "PendingValue")),
        _optional("CreatedColumn", name()),
        _optional("RowThreshold", identity()),
        _optional("IdleMinutes", sa.Integer()),
        _needed("OnNewRows", sa.SmallInteger(), "0"),
        _needed("DebounceSeconds", sa.Integer(), "60"),
        _needed("Enabled", sa.SmallInteger(), "1"),
        _optional("LastFired", UtcTime()),
        *_stamps("z_inserted", "z_updated"),
        sa.UniqueConstraint("TriggerName"),
        *_filled("TriggerName", "Entity"),
        sa.CheckConstraint("RowThreshold >= 1", name="RowThreshold"),
        sa.CheckConstraint("IdleMinutes BETWEEN 1 AND 525600", name="IdleMinutes"),
        sa.CheckConstraint("DebounceSeconds BETWEEN 0 AND 31536000", name="DebounceSeconds"),
        sa.CheckConstraint("RowThreshold IS NOT NULL OR IdleMinutes IS NOT NULL OR OnNewRows = 1", name="Condition"),
        sa.CheckConstraint("IdleMinutes IS NULL OR CreatedColumn IS NOT NULL", name="Age"),
        *_flags("OnNewRows", "Enabled"),
    )
    _create(
        metadata,
        "SchedulerLog",
        *_stamps("EventTime"),
        _needed("EventType", word()),
        _needed("Source", name()),
        _optional("Entity", name()),
        *(_optional(column, identity()) for column in ("ProcessBatch_id", "FileProcess_id", "BatchControl_id")),
        _optional("Message", text_column()),
        _optional("RowsQueued", identity()),
        _optional("DurationMs", identity()),
        *_filled("Source"),
    )
    _create(
        metadata,
        "FileWatch",
        _needed("WatchName", name()),
        _needed("Entity", name()),
        _needed("Folder", text_column()),
        _needed("Pattern", name(), "'*'"),
        _needed("Recursive", sa.SmallInteger(), "0"),
        _needed("SettleSeconds", sa.Integer(), "10"),
        _optional("MarkerSuffix", name(50)),
        _needed("DuplicateKey", word(), "'name_size_time'"),
        _needed("Enabled", sa.SmallInteger(), "1"),
        _optional("UnreachableSince", UtcTime()),
        *_stamps("z_inserted", "z_updated"),
        sa.UniqueConstraint("WatchName"),
        *_filled("WatchName", "Entity", "Pattern", "MarkerSuffix"),
        sa.CheckConstraint("SettleSeconds BETWEEN 0 AND 86400", name="SettleSeconds"),
        *_flags("Recursive", "Enabled"),
    )
    _create(
        metadata,
        "FileWatchSeen",
        _refers("FileWatch_id", "FileWatch"),
        _needed("PathKey", name(64)),
        _needed("FilePath", text_column()),
        _needed("FileSize", identity()),
        _needed("ModifiedNs", identity()),
        _optional("FileNumber", name(50)),
        _optional("FileProcess_id", identity(), sa.ForeignKey("FileProcess.FileProcess_id")),
        _optional("MissingSince", UtcTime()),
        *_stamps("z_inserted", "z_updated"),
        sa.UniqueConstraint("FileWatch_id", "PathKey"),
    )
    _index("IX_BatchControl_Cycle", "BatchControl", ("ProcessBatch_id", "CycleKey", "BatchControl_id"))
    _index("IX_BatchCompletion_Waiting", "BatchCompletion", WAITING, "FileProcess_id IS NULL")
    _index("IX_SchedulerLog_Entity", "SchedulerLog", ("Entity", "SchedulerLog_id"))
    _index("IX_SchedulerLog_Fired", "SchedulerLog", ("FileProcess_id",), "EventType = 'fired'")
    _index_inbox()
    # Whether a person has taken a row in on purpose is asked of the log while work waits.
    _index("IX_AuditLog_Target", "AuditLog", ("Target",))
    if op.get_context().dialect.name == "postgresql":
        _create_triggers()


def downgrade() -> None:
    """Drop what the revision made."""
    op.drop_index("IX_AuditLog_Target", unquoted("AuditLog"))
    op.drop_index("IX_FileProcess_Inbox", unquoted("FileProcess"))
    for table in reversed(TABLES):
        op.drop_table(unquoted(table))
    op.drop_index("IX_BatchControl_Cycle", unquoted("BatchControl"))


def _index_inbox() -> None:
    listed = sa.text(f"Status IN ({', '.join(map(repr, SET_ASIDE))})")
    op.create_index(
        "IX_FileProcess_Inbox",
        unquoted("FileProcess"),
        [unquoted("FileProcess_id")],
        sqlite_where=sa.text(f"({' OR '.join(map('Status = {!r}'.format, SET_ASIDE))})"),
        postgresql_where=listed,
        mssql_where=listed,
    )


def _create_triggers() -> None:
    for table, column in WORDS:
        op.execute(
            f"CREATE TRIGGER TR_{table}_{column} BEFORE INSERT OR UPDATE OF {column} ON {table} FOR EACH ROW"
            f" WHEN (NEW.{column} <> lower(NEW.{column})) EXECUTE FUNCTION batchctl_lower('{column.lower()}')"
        )
    for table in DEFINITIONS:
        op.execute(
            f"CREATE TRIGGER TR_{table}_Notify AFTER INSERT OR UPDATE OR DELETE ON {table} FOR EACH STATEMENT"
            " WHEN (coalesce(current_setting('batchctl.quiet', true), '') <> 'on') EXECUTE FUNCTION batchctl_notify()"
        )


def _create(metadata: sa.MetaData, called: str, *parts: Any) -> None:
    columns = [part for part in parts if isinstance(part, sa.Column)]
    rest = [part for part in parts if not isinstance(part, sa.Column)]
    rest += [
        sa.CheckConstraint(is_word(column, words), name=column)
        for (table, column), words in WORDS.items()
        if table == called
    ]
    key = sa.Column(unquoted(f"{called}_id"), identity(), primary_key=True, autoincrement=True)
    made = sa.Table(unquoted(called), metadata, key, *columns, *rest, sqlite_autoincrement=True)
    for constraint in type_checks(columns):
        made.append_constraint(constraint)
    op.get_context().impl.create_table(made)


def _refers(called: str, table: str) -> sa.Column[Any]:
    return sa.Column(unquoted(called), identity(), sa.ForeignKey(f"{table}.{table}_id"), nullable=False)


def _needed(called: str, kind: Any, default: str | None = None) -> sa.Column[Any]:
    server_default = None if default is None else sa.text(default)
    return sa.Column(unquoted(called), kind, nullable=False, server_default=server_default)


def _optional(called: str, kind: Any, *rest: Any) -> sa.Column[Any]:
    return sa.Column(unquoted(called), kind, *rest, nullable=True)


def _stamps(*called: str) -> list[sa.Column[Any]]:
    return [sa.Column(unquoted(column), UtcTime(), nullable=False, server_default=utc_now()) for column in called]


def _filled(*called: str) -> list[sa.CheckConstraint]:
    return [sa.CheckConstraint(f"{column} <> ''", name=column) for column in called]


def _flags(*called: str) -> list[sa.CheckConstraint]:
    return [sa.CheckConstraint(f"{column} IN (0, 1)", name=column) for column in called]


def _index(called: str, table: str, columns: Sequence[str], where: str | None = None) -> None:
    dialect = op.get_context().dialect.name
    condition: dict[str, Any] = {} if where is None else {f"{dialect}_where": sa.text(where)}
    op.create_index(called, unquoted(table), [unquoted(column) for column in columns], **condition)
