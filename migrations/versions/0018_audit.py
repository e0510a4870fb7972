"""Audit what hands change, let nobody change the audit log, and chain its rows by their hashes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import sqlalchemy as sa
from alembic import op

from batchctl.store.columns import UtcTime, identity, name, unquoted, utc_now
from batchctl.store.conditions import type_checks

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None

CONVENTION = {
    "pk": "PK_%(table_name)s",
    "uq": "UQ_%(table_name)s_%(column_0_N_name)s",
    "ck": "CK_%(table_name)s_%(constraint_name)s",
}
ACTIONS = {"INSERT": "row insert", "UPDATE": "row update", "DELETE": "row delete"}
PROGRAM = "batchctl/"
"""How the engine's own connections are called where connections have names."""


class Watched(NamedTuple):
    """A table whose rows are watched. Columns that end with `#` are of numbers, with `@` of times; the others of text."""

    table: str
    columns: str
    called: str
    """The column by which a person knows a row."""
    parent: str | None = None
    """The table of a row that it belongs to, and that row's name; both stand in the name of this one."""
    parent_called: str | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Return the columns."""
        return tuple(column.rstrip("#@") for column in self.columns.split())


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


def _make(triggers: Iterator[str]) -> None:
    for trigger in triggers:
        op.execute(trigger)


def _needed(called: str, kind: Any) -> sa.Column[Any]:
    return sa.Column(unquoted(called), kind, nullable=False)


def definition_triggers(dialect: str, watched: Watched, schema: str = "") -> Iterator[str]:
    """Yield what makes every change of a definition an entry of the audit log, whoever makes it."""
    match dialect:
        case "sqlite":
            yield from (_sqlite(watched, event) for event in ACTIONS)
        case "postgresql":
            called = f"FOR EACH ROW EXECUTE FUNCTION batchctl_audit({_arguments(watched)})"
            columns = ", ".join(watched.names)
            at = f"AFTER INSERT OR DELETE OR UPDATE OF {columns} ON {watched.table}"
            yield f"CREATE TRIGGER TR_{watched.table}_Audit {at} {called}"
            emptied = f"AFTER TRUNCATE ON {watched.table} FOR EACH STATEMENT"
            yield (
                f"CREATE TRIGGER TR_{watched.table}_AuditTruncate {emptied}"
                f" EXECUTE FUNCTION batchctl_audit('{watched.table}', '', '')"
            )
        case _:
            yield _mssql(watched, "INSERT, UPDATE, DELETE", "", schema)


def row_triggers(dialect: str, watched: Watched, schema: str = "") -> Iterator[str]:
    """Yield what makes a hand's change of work an entry: the engine says with every change of its own when it was made."""
    columns = ", ".join(watched.names)
    match dialect:
        case "sqlite":
            yield _sqlite(watched, "UPDATE", "NEW.z_updated IS OLD.z_updated AND ")
        case "postgresql":
            yield (
                f"CREATE TRIGGER TR_{watched.table}_Audit AFTER UPDATE OF {columns} ON {watched.table} FOR EACH ROW"
                f" WHEN (left(current_setting('application_name'), {len(PROGRAM)}) <> '{PROGRAM}')"
                f" EXECUTE FUNCTION batchctl_audit({_arguments(watched)})"
            )
        case _:
            yield _mssql(watched, "UPDATE", " AND i.z_updated = d.z_updated", schema)


def append_only_triggers(dialect: str, table: str, setting: str | None = None, schema: str = "") -> Iterator[str]:
    """Yield what refuses to change a table's rows, and to delete them unless they are as old as a row of `Setting` says.

    How old is reckoned from the newest row: whoever deletes has to write down first that he does.
    """
    match dialect:
        case "sqlite":
            no = f"SELECT RAISE(ABORT, 'batchctl: what stands in {table} stays as it is')"
            kept = "" if setting is None else f" WHEN NOT coalesce({_OLD_ON_SQLITE.format(setting=setting)}, 0)"
            is_there = f"EXISTS (SELECT 1 FROM {table} WHERE {table}_id = NEW.{table}_id)"
            for event, when in (("UPDATE", ""), ("DELETE", kept), ("INSERT", f" WHEN {is_there}")):
                # An INSERT may replace a row, and no trigger for DELETE hears of it.
                called = f"TR_{table}_AppendOnly{event.capitalize()}"
                yield f"CREATE TRIGGER {called} BEFORE {event} ON {table}{when} BEGIN {no}; END"
        case "postgresql":
            given = "" if setting is None else f"'{setting}'"
            yield (
                f"CREATE TRIGGER TR_{table}_AppendOnly BEFORE UPDATE OR DELETE ON {table} FOR EACH ROW"
                f" EXECUTE FUNCTION batchctl_append_only({given})"
            )
            yield (
                f"CREATE TRIGGER TR_{table}_AppendOnlyTruncate BEFORE TRUNCATE ON {table} FOR EACH STATEMENT"
                " EXECUTE FUNCTION batchctl_append_only()"
            )
        case _:
            kept = "" if setting is None else f" WHERE NOT EXISTS ({_OLD_ON_MSSQL.format(setting=setting)})"
            yield _as_batch(
                f"CREATE TRIGGER {schema}TR_{table}_AppendOnly ON {schema}{table} AFTER UPDATE, DELETE AS\nBEGIN\n"
                f"    SET NOCOUNT ON;\n    IF EXISTS (SELECT 1 FROM inserted) OR EXISTS (SELECT 1 FROM deleted AS d{kept})\n"
                f"        THROW 51000, N'batchctl: what stands in {table} stays as it is', 1;\nEND"
            )


_OLD_ON_SQLITE = (
    "(SELECT trim(s.Value) NOT GLOB '*[^0-9]*' AND CAST(s.Value AS INTEGER) > 0 AND OLD.z_inserted <"
    " strftime('%Y-%m-%d %H:%M:%f', (SELECT n.z_inserted FROM AuditLog n ORDER BY n.AuditLog_id DESC LIMIT 1),"
    " '-' || trim(s.Value) || ' days') FROM Setting s WHERE s.Name = '{setting}')"
)
_OLD_ON_MSSQL = (
    "SELECT 1 FROM Setting AS s WHERE s.Name = N'{setting}' AND TRY_CAST(s.Value AS int) > 0 AND d.z_inserted <"
    " DATEADD(day, -TRY_CAST(s.Value AS int), (SELECT TOP (1) n.z_inserted FROM AuditLog AS n ORDER BY n.AuditLog_id DESC))"
)


def _sqlite(watched: Watched, event: str, only: str = "") -> str:
    """Return the trigger for one event; SQLite has no word for "whichever has happened"."""
    table, names = watched.table, watched.names
    row = "OLD" if event == "DELETE" else "NEW"
    was = "OLD.{0}" if event != "INSERT" else "NULL"
    became = "NEW.{0}" if event != "DELETE" else "NULL"
    at, when = event, ""
    if event == "UPDATE":
        at = f"UPDATE OF {', '.join(names)}"
        when = f" WHEN {only}({' OR '.join(f'OLD.{name} IS NOT NEW.{name}' for name in names)})"
    each = " UNION ALL ".join(
        f"SELECT '{name}' AS Name, {was.format(name)} AS Was, {became.format(name)} AS Became" for name in names
    )
    parent = ""
    if watched.parent is not None:
        key = f"{watched.parent}_id"
        found = f"SELECT p.{watched.parent_called} FROM {watched.parent} p WHERE p.{key} = {row}.{key}"
        parent = f" || coalesce(({found}), '') || ':'"
    kept = ["json_group_object(Name, Was)" if "OLD" in was else "NULL"]
    kept += ["json_group_object(Name, Became)" if "NEW" in became else "NULL"]
    differing = "" if event != "UPDATE" else " WHERE Was IS NOT Became"
    called = f"TR_{table}_Audit{event.capitalize()}"
    return (
        f"CREATE TRIGGER {called} AFTER {at} ON {table}{when} BEGIN"
        " INSERT INTO AuditLog (Actor, Host, Action, Target, ValuesBefore, ValuesAfter)"
        f" SELECT 'sql', 'sql', '{ACTIONS[event]}', substr('{table}:'{parent} || {row}.{watched.called}, 1, 200),"
        f" {', '.join(kept)} FROM ({each}){differing}; END"
    )


def _arguments(watched: Watched) -> str:
    """Return what PostgreSQL's one function for all tables is told."""
    given = (watched.table, watched.called, watched.parent or "", watched.parent_called or "", *watched.names)
    return ", ".join(f"'{each}'" for each in given)


def _mssql(watched: Watched, events: str, only: str, schema: str) -> str:
    """Return the trigger, which hears of all rows of a statement at once."""
    table = watched.table
    values = ",\n            ".join(
        f"({place}, N'{column.rstrip('#@')}', {_json('d', column)}, {_json('i', column)})"
        for place, column in enumerate(watched.columns.split(), start=1)
    )
    parent = ""
    if watched.parent is not None:
        key = f"{watched.parent}_id"
        of = f"p.{key} = COALESCE(i.{key}, d.{key})"
        parent = f"(SELECT p.{watched.parent_called} FROM {watched.parent} AS p WHERE {of}), N':', "
    named = f"CONCAT(N'{table}:', {parent}COALESCE(i.{watched.called}, d.{watched.called}))"
    action = (
        f"CASE WHEN d.{table}_id IS NULL THEN N'{ACTIONS['INSERT']}'"
        f" WHEN i.{table}_id IS NULL THEN N'{ACTIONS['DELETE']}' ELSE N'{ACTIONS['UPDATE']}' END"
    )
    listed = (
        "N'{{' + STRING_AGG(N'\"' + v.Name + N'\": ' + v.{0}, N', ') WITHIN GROUP (ORDER BY v.Place) + N'}}' AS {0}"
    )
    return _as_batch(
        f"CREATE TRIGGER {schema}TR_{table}_Audit ON {schema}{table} AFTER {events} AS\nBEGIN\n    SET NOCOUNT ON;\n"
        "    INSERT INTO AuditLog (Actor, Host, Action, Target, ValuesBefore, ValuesAfter)\n"
        f"    SELECT ORIGINAL_LOGIN(), COALESCE(NULLIF(HOST_NAME(), N''), N'sql'), {action}, LEFT({named}, 200),\n"
        f"        CASE WHEN d.{table}_id IS NOT NULL THEN c.Was END, CASE WHEN i.{table}_id IS NOT NULL THEN c.Became END\n"
        f"    FROM inserted AS i FULL JOIN deleted AS d ON d.{table}_id = i.{table}_id\n"
        f"    CROSS APPLY (SELECT {listed.format('Was')},\n        {listed.format('Became')}\n"
        f"        FROM (VALUES\n            {values}) AS v (Place, Name, Was, Became)\n"
        "        WHERE v.Was <> v.Became) AS c\n"
        f"    WHERE c.Was IS NOT NULL{only};\nEND"
    )


def _json(row: str, column: str) -> str:
    """Return a value as JSON has it; what is not there, as null."""
    name = f"{row}.{column.rstrip('#@')}"
    if column.endswith("#"):
        said = f"CONVERT(nvarchar(max), {name})"
    elif column.endswith("@"):
        said = f"N'\"' + CONVERT(nvarchar(max), {name}, 126) + N'\"'"
    else:
        said = f"N'\"' + STRING_ESCAPE(CONVERT(nvarchar(max), {name}), 'json') + N'\"'"
    # A row that is not there has no columns, and what is NULL is told so: the one and the other differ.
    missing = f"CASE WHEN {row}.z_inserted IS NULL THEN N'' ELSE N'null' END"
    return f"COALESCE({said}, {missing}) COLLATE Latin1_General_100_BIN2"


def _as_batch(statement: str) -> str:
    """Return a statement that has to be the first of a batch, for a script in which something stands before it."""
    quoted = statement.replace("'", "''")
    return f"EXEC sp_executesql N'{quoted}'"


AUDIT_FUNCTION = """
CREATE FUNCTION batchctl_audit() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    ours text := quote_ident(TG_TABLE_SCHEMA) || '.';
    before jsonb := CASE WHEN TG_OP IN ('UPDATE', 'DELETE') THEN to_jsonb(OLD) END;
    after jsonb := CASE WHEN TG_OP IN ('UPDATE', 'INSERT') THEN to_jsonb(NEW) END;
    target text := TG_ARGV[0];
    key text := TG_ARGV[2] || '_id';
    parent text;
    was json;
    became json;
BEGIN
    IF TG_OP <> 'TRUNCATE' THEN
        SELECT json_object_agg(name, before -> lower(name) ORDER BY place),
               json_object_agg(name, after -> lower(name) ORDER BY place)
        INTO was, became
        FROM unnest(TG_ARGV[4:]) WITH ORDINALITY AS c (name, place)
        WHERE before -> lower(name) IS DISTINCT FROM after -> lower(name);
        IF was IS NULL AND became IS NULL THEN
            RETURN NULL;
        END IF;
        IF key <> '_id' THEN
            EXECUTE 'SELECT ' || TG_ARGV[3] || ' FROM ' || ours || TG_ARGV[2] || ' WHERE ' || key || ' = $1'
            INTO parent USING (coalesce(after, before) ->> lower(key))::bigint;
        END IF;
        target := concat_ws(':', target, parent, coalesce(after, before) ->> lower(TG_ARGV[1]));
    END IF;
    EXECUTE 'INSERT INTO ' || ours || 'AuditLog (Actor, Host, Action, Target, ValuesBefore, ValuesAfter)'
            ' VALUES ($1, $2, $3, left($4, 200), $5, $6)'
    USING session_user,
          left(concat_ws('@', nullif(current_setting('application_name'), ''), coalesce(host(inet_client_addr()), 'local')), 200),
          CASE TG_OP WHEN 'TRUNCATE' THEN 'row truncate' ELSE 'row ' || lower(TG_OP) END,
          target,
          CASE WHEN before IS NOT NULL THEN was::text END,
          CASE WHEN after IS NOT NULL THEN became::text END;
    RETURN NULL;
END
$$
"""
APPEND_ONLY_FUNCTION = """
CREATE FUNCTION batchctl_append_only() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    ours text := quote_ident(TG_TABLE_SCHEMA) || '.';
    days text;
    newest timestamp;
BEGIN
    IF TG_OP = 'DELETE' AND TG_NARGS > 0 THEN
        EXECUTE 'SELECT trim(Value) FROM ' || ours || 'Setting WHERE Name = $1' INTO days USING TG_ARGV[0];
        IF days ~ '^[0-9]{1,5}$' AND days::integer > 0 THEN
            EXECUTE 'SELECT z_inserted FROM ' || ours || 'AuditLog ORDER BY AuditLog_id DESC LIMIT 1' INTO newest;
            IF OLD.z_inserted < newest - make_interval(days => days::integer) THEN
                RETURN OLD;
            END IF;
        END IF;
    END IF;
    RAISE EXCEPTION USING
        MESSAGE = 'batchctl: what stands in ' || TG_TABLE_NAME || ' stays as it is',
        HINT = 'only what is older than the Setting AuditLogDays says may go: batchctl purge';
END
$$
"""
