"""Triggers that write into the audit log what hands change, and that let nobody change the log itself; for migrations.

What differs from one database to another is how a changed row is written down. What is written down is the same: one row
of `AuditLog` for each row changed, with those columns that are not as they were.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

ACTIONS = {"INSERT": "row insert", "UPDATE": "row update", "DELETE": "row delete"}
PROGRAM = "batchctl/"
"""How the engine's own connections are called where connections have names."""


@dataclass(frozen=True, slots=True)
class Watched:
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
            is_there = f"EXISTS (SELECT 1 FROM {table} WHERE {table}_id = NEW.{table}_id)"  # noqa: S608 - our own names
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
                f"CREATE TRIGGER {schema}TR_{table}_AppendOnly ON {schema}{table} AFTER UPDATE, DELETE AS\nBEGIN\n"  # noqa: S608 - our own names
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
        found = f"SELECT p.{watched.parent_called} FROM {watched.parent} p WHERE p.{key} = {row}.{key}"  # noqa: S608 - our own names
        parent = f" || coalesce(({found}), '') || ':'"
    kept = ["json_group_object(Name, Was)" if "OLD" in was else "NULL"]
    kept += ["json_group_object(Name, Became)" if "NEW" in became else "NULL"]
    differing = "" if event != "UPDATE" else " WHERE Was IS NOT Became"
    called = f"TR_{table}_Audit{event.capitalize()}"
    return (
        f"CREATE TRIGGER {called} AFTER {at} ON {table}{when} BEGIN"  # noqa: S608 - as above
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
        parent = f"(SELECT p.{watched.parent_called} FROM {watched.parent} AS p WHERE {of}), N':', "  # noqa: S608 - as above
    named = f"CONCAT(N'{table}:', {parent}COALESCE(i.{watched.called}, d.{watched.called}))"
    action = (
        f"CASE WHEN d.{table}_id IS NULL THEN N'{ACTIONS['INSERT']}'"
        f" WHEN i.{table}_id IS NULL THEN N'{ACTIONS['DELETE']}' ELSE N'{ACTIONS['UPDATE']}' END"
    )
    listed = (
        "N'{{' + STRING_AGG(N'\"' + v.Name + N'\": ' + v.{0}, N', ') WITHIN GROUP (ORDER BY v.Place) + N'}}' AS {0}"
    )
    return _as_batch(
        f"CREATE TRIGGER {schema}TR_{table}_Audit ON {schema}{table} AFTER {events} AS\nBEGIN\n    SET NOCOUNT ON;\n"  # noqa: S608 - as above
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
