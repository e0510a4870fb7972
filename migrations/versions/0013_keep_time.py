"""Create what keeps time: schedules, what was decided about each of their due times, backfills, and business calendars."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import sqlalchemy as sa
from alembic import op

from batchctl.store.columns import UtcTime, identity, name, text_column, unquoted, utc_now, word
from batchctl.store.conditions import is_word, type_checks

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None

CONVENTION = {
    "pk": "PK_%(table_name)s",
    "fk": "FK_%(table_name)s_%(column_0_name)s",
    "uq": "UQ_%(table_name)s_%(column_0_N_name)s",
    "ck": "CK_%(table_name)s_%(constraint_name)s",
}
TYPES = ("interval", "daily", "weekly", "monthly", "monthly_dow", "once", "cron")
WORDS = {
    ("Schedule", "ScheduleType"): TYPES,
    ("Schedule", "CalendarRule"): ("business_days", "days_off", "next", "previous"),
    ("Schedule", "GapPolicy"): ("run", "skip"),
    ("Schedule", "FoldPolicy"): ("once", "twice"),
    ("Schedule", "CatchUp"): ("none", "latest", "up_to"),
    ("Schedule", "Overlap"): ("queue", "skip"),
    ("ScheduleBackfill", "Status"): ("running", "complete", "cancelled"),
    ("ScheduleFire", "Outcome"): ("fired", "skipped", "purged"),
}
TABLES = ("Schedule", "ScheduleBackfill", "ScheduleFire", "Calendar", "CalendarDay")
DEFINITIONS = ("Schedule", "Calendar", "CalendarDay")
"""What a controller has to read anew when somebody has changed it."""
ADDED = {"ProcessingMode": word(), "RetryWaitSecs": sa.Integer(), "Origin": name()}
"""What `ProcessBatch` gets; SQLite is told beside each column what it may hold."""
SQLITE_ADDED = {
    "ProcessingMode": 'VARCHAR(20) COLLATE "NOCASE" CONSTRAINT CK_ProcessBatch_ProcessingMode_Type CHECK'
    " (ProcessingMode IS NULL OR (typeof(ProcessingMode) = 'text'))",
    "RetryWaitSecs": "INTEGER CONSTRAINT CK_ProcessBatch_RetryWaitSecs_Type CHECK"
    " (RetryWaitSecs IS NULL OR (typeof(RetryWaitSecs) = 'integer'))",
    "Origin": "VARCHAR(200) CONSTRAINT CK_ProcessBatch_Origin_Type CHECK"
    " (Origin IS NULL OR (typeof(Origin) = 'text' AND instr(Origin, char(0)) = 0 AND length(Origin) <= 200))",
}


def upgrade() -> None:
    """Make the tables, their indexes and, on PostgreSQL, their triggers; let batches say how they are started."""
    _add_to_batches()
    metadata = sa.MetaData(naming_convention=CONVENTION)
    sa.Table(unquoted("FileProcess"), metadata, sa.Column(unquoted("FileProcess_id"), identity(), primary_key=True))
    _create(
        metadata,
        "Schedule",
        *(_needed(column, name()) for column in ("ScheduleName", "Entity")),
        _needed("ScheduleType", word()),
        _optional("IntervalMinutes", sa.Integer()),
        *(
            _optional(column, name())
            for column in ("RunTimes", "RunDays", "RunDaysOfMonth", "WeekOfMonth", "RunMonths")
        ),
        _optional("BetweenTimes", name(50)),
        _needed("EveryN", sa.Integer(), "1"),
        *(_optional(column, name(10)) for column in ("StartDate", "EndDate")),
        _optional("RunAt", name(50)),
        *(_optional(column, name()) for column in ("Cron", "TimeZone", "CalendarName")),
        _needed("CalendarRule", word(), "'business_days'"),
        _needed("GapPolicy", word(), "'run'"),
        _needed("FoldPolicy", word(), "'once'"),
        _needed("CatchUp", word(), "'none'"),
        _optional("CatchUpMost", sa.Integer()),
        _needed("Overlap", word(), "'queue'"),
        _needed("Jitter", sa.Integer(), "0"),
        _needed("Enabled", sa.SmallInteger(), "1"),
        _optional("NextRunTime", UtcTime()),
        sa.Column(unquoted("DecidedUntil"), UtcTime(), nullable=True, server_default=utc_now()),
        _optional("TimingHash", name(64)),
        _optional("Origin", name()),
        _optional("Description", text_column()),
        *_stamps("z_inserted", "z_updated"),
        sa.UniqueConstraint("ScheduleName"),
        *_filled("ScheduleName", "Entity"),
        *_checks(
            IntervalMinutes=_belongs("IntervalMinutes", "interval"),
            IntervalMinutes_Bounds="IntervalMinutes BETWEEN 1 AND 1440",
            RunTimes=_belongs("RunTimes", "daily", "weekly", "monthly", "monthly_dow"),
            RunDays=_needs("RunDays", "weekly", "monthly_dow"),
            RunDaysOfMonth=_needs("RunDaysOfMonth", "monthly"),
            WeekOfMonth=_needs("WeekOfMonth", "monthly_dow"),
            RunAt=_belongs("RunAt", "once"),
            Cron=_belongs("Cron", "cron"),
            EveryN="EveryN BETWEEN 1 AND 1000",
            CatchUpMost="(CatchUp = 'up_to' AND CatchUpMost IS NOT NULL) OR (CatchUp <> 'up_to' AND CatchUpMost IS NULL)",
            CatchUpMost_Bounds="CatchUpMost BETWEEN 1 AND 1000",
            Jitter="Jitter BETWEEN 0 AND 86400",
        ),
        *_flags("Enabled"),
    )
    _create(
        metadata,
        "ScheduleBackfill",
        _refers("Schedule_id", "Schedule"),
        _needed("Status", word(), "'running'"),
        *(_needed(column, UtcTime()) for column in ("FromTime", "UntilTime")),
        _needed("MostOpen", sa.Integer(), "1"),
        _needed("Missed", sa.SmallInteger(), "0"),
        _optional("DoneUntil", UtcTime()),
        _needed("Fired", identity(), "0"),
        _needed("Actor", name()),
        _optional("Reason", text_column()),
        *_stamps("z_inserted", "z_updated"),
        *_checks(UntilTime="FromTime <= UntilTime", MostOpen="MostOpen BETWEEN 1 AND 1000"),
        *_flags("Missed"),
    )
    _create(
        metadata,
        "ScheduleFire",
        _refers("Schedule_id", "Schedule"),
        _needed("FireKey", name(100)),
        _needed("Outcome", word()),
        _needed("DueTime", UtcTime()),
        _optional("DueUntil", UtcTime()),
        _needed("Instants", sa.Integer(), "1"),
        _optional("Reason", text_column()),
        _optional("FileProcess_id", identity(), sa.ForeignKey("FileProcess.FileProcess_id")),
        _optional("ScheduleBackfill_id", identity(), sa.ForeignKey("ScheduleBackfill.ScheduleBackfill_id")),
        _optional("ZoneRules", name(50)),
        *_stamps("z_inserted"),
        sa.UniqueConstraint("Schedule_id", "FireKey"),
        *_filled("FireKey"),
        *_checks(
            Instants="Instants >= 1",
            FileProcess_id="(Outcome = 'fired' AND FileProcess_id IS NOT NULL)"
            " OR (Outcome <> 'fired' AND FileProcess_id IS NULL)",
        ),
    )
    _create(
        metadata,
        "Calendar",
        _needed("CalendarName", name()),
        _needed("BusinessDays", name(50), "'Mon,Tue,Wed,Thu,Fri'"),
        *(_optional(column, name(10)) for column in ("ValidFrom", "ValidUntil")),
        _optional("Description", text_column()),
        *_stamps("z_inserted", "z_updated"),
        sa.UniqueConstraint("CalendarName"),
        *_filled("CalendarName"),
    )
    _create(
        metadata,
        "CalendarDay",
        _refers("Calendar_id", "Calendar"),
        _needed("CalendarDate", name(10)),
        _needed("IsBusinessDay", sa.SmallInteger(), "0"),
        _optional("Description", name()),
        *_stamps("z_inserted", "z_updated"),
        sa.UniqueConstraint("Calendar_id", "CalendarDate"),
        *_checks(CalendarDate="CalendarDate LIKE '____-__-__'"),
        *_flags("IsBusinessDay"),
    )
    _index("IX_Schedule_Due", "Schedule", ("NextRunTime",), "Enabled = 1")
    _index("IX_ScheduleBackfill_Running", "ScheduleBackfill", ("ScheduleBackfill_id",), "Status = 'running'")
    _index("IX_ScheduleFire_Due", "ScheduleFire", ("Schedule_id", "DueTime"))
    _index("IX_ScheduleFire_FileProcess", "ScheduleFire", ("FileProcess_id",))
    if op.get_context().dialect.name == "postgresql":
        _create_triggers()


def downgrade() -> None:
    """Drop what the revision made."""
    for table in ("CalendarDay", "Calendar", "ScheduleFire", "ScheduleBackfill", "Schedule"):
        op.drop_table(unquoted(table))
    for column in reversed(ADDED):
        op.execute(f"ALTER TABLE ProcessBatch DROP COLUMN {column}")


def _add_to_batches() -> None:
    dialect = op.get_context().dialect
    for column, kind in ADDED.items():
        if dialect.name == "sqlite":
            op.execute(f"ALTER TABLE ProcessBatch ADD COLUMN {column} {SQLITE_ADDED[column]}")
        else:
            add = "ADD" if dialect.name == "mssql" else "ADD COLUMN"
            written = dialect.type_compiler_instance.process(kind)
            op.execute(f"ALTER TABLE ProcessBatch {add} {column} {written}{' NULL' if dialect.name == 'mssql' else ''}")


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


def _refers(called: str, table: str) -> sa.Column[Any]:
    return sa.Column(unquoted(called), identity(), sa.ForeignKey(f"{table}.{table}_id"), nullable=False)


def _needed(called: str, kind: Any, default: str | None = None) -> sa.Column[Any]:
    server_default = None if default is None else sa.text(default)
    return sa.Column(unquoted(called), kind, nullable=False, server_default=server_default)


def _optional(called: str, kind: Any, *rest: Any) -> sa.Column[Any]:
    return sa.Column(unquoted(called), kind, *rest, nullable=True)


def _stamps(*called: str) -> list[sa.Column[Any]]:
    return [sa.Column(unquoted(column), UtcTime(), nullable=False, server_default=utc_now()) for column in called]


def _checks(**conditions: str) -> list[sa.CheckConstraint]:
    return [sa.CheckConstraint(condition, name=called) for called, condition in conditions.items()]


def _filled(*called: str) -> list[sa.CheckConstraint]:
    return [sa.CheckConstraint(f"{column} <> ''", name=column) for column in called]


def _flags(*called: str) -> list[sa.CheckConstraint]:
    return [sa.CheckConstraint(f"{column} IN (0, 1)", name=column) for column in called]


def _index(called: str, table: str, columns: Sequence[str], where: str | None = None) -> None:
    dialect = op.get_context().dialect.name
    condition: dict[str, Any] = {} if where is None else {f"{dialect}_where": sa.text(where)}
    op.create_index(called, unquoted(table), [unquoted(column) for column in columns], **condition)
