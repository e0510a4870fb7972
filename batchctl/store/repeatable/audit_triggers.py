"""What makes every change of what is watched an entry of the audit log, by hand or by a program; and what keeps that log."""

from __future__ import annotations

from collections.abc import Iterator

from batchctl.store.conditions import is_time
from batchctl.store.repeatable import pointing
from batchctl.store.repeatable.trigger import (
    BY_HAND,
    Trigger,
    on_mssql,
    on_postgresql,
    on_sqlite,
    refuse_if_any,
    refuse_when,
    trusted,
)
from batchctl.store.repeatable.watched import DEFINITIONS, WatchedTable, each
from batchctl.store.repeatable.work import as_stored

NO_TIME = "batchctl: a time is written like 2026-11-21 03:15:00: {}"
ADDED_TO = {"AuditLog": "AuditLogDays", "AuditSeal": ""}
"""What is only added to, and the setting by which its rows may go once they are old."""


def triggers(dialect: str, schema: str) -> Iterator[Trigger]:
    """Yield the triggers of all tables that are watched or only added to."""
    for watched, only_hands in each():
        match dialect:
            case "sqlite":
                yield from _of_work(watched) if only_hands else _of_definitions(watched)
            case "postgresql":
                yield from _on_postgresql(watched, only_hands=only_hands)
            case _:
                yield _on_mssql(watched, schema, only_hands=only_hands)
    if dialect == "sqlite":
        yield from _for_all_definitions()
    for table, setting in ADDED_TO.items():
        yield from _added_to(dialect, table, setting, schema)


def views(dialect: str) -> dict[str, str]:
    """Return what the triggers of SQLite have in common: it has no functions.

    One view tells what is audited of each row of definitions. Into two more the triggers of all of them insert which rows
    are in the way of one, and what has happened.
    """
    if dialect != "sqlite":
        return {}
    made = {
        pointing.ANNOUNCED: " UNION ALL\n".join(
            _wording(watched, is_first=at == 0) for at, watched in enumerate(DEFINITIONS)
        ),
        _IN_THE_WAY: "SELECT '' AS TableName, 0 AS RowNumber",
        _HAPPENED: "SELECT '' AS Action, '' AS TableName, 0 AS RowNumber, 0 AS FormerNumber",
    }
    return {name: f"CREATE VIEW {name} AS\n{text}" for name, text in made.items()}


_KEPT = ("TableName", "RowNumber", "Target", "ValuesBefore")
"""The columns of the table of what is in the way."""
_IN_THE_WAY, _HAPPENED = "batchctl_in_the_way", "batchctl_audited"


def _wording(watched: WatchedTable, *, is_first: bool) -> str:
    parent = ""
    if watched.parent:
        key = watched.parent_key
        found = f"SELECT p.{watched.parent_called} FROM {watched.parent} p WHERE p.{key} = r.{key}"
        parent = f"coalesce(({found}), '') || ':' || "
    listed = ", ".join(f"'{name}',{name}" for name in watched.columns)
    values = (
        f"'{watched.table}'",
        watched.key,
        f"'{watched.table}:' || {parent}{watched.called}",
        f"json_object({listed})",
        f"json_array({', '.join(watched.times())})",
    )
    names = (*_KEPT, "Times")
    shown = [f"{value} AS {name}" if is_first else value for value, name in zip(values, names, strict=True)]
    return f"SELECT {', '.join(shown[:3])},\n    {shown[3]},\n    {shown[4]}\nFROM {watched.table} r"


def _of_work(watched: WatchedTable) -> Iterator[Trigger]:
    """Yield the trigger for a hand's change: the engine says with every change of its own when it was made."""
    table = watched.table
    values = ((name, *(as_stored(table, name, row) for row in ("OLD", "NEW"))) for name in watched.columns)
    listed = ", ".join(f"('{name}', {was}, {became})" for name, was, became in values)
    # Without a word about it, all would be compared as the first column is, which may be in any letter case.
    entry = (
        f"{_ENTRY}\n    SELECT 'sql', 'sql', 'row update', '{table}:' || NEW.{watched.key},\n"
        f"        json_group_object(column1, column2), json_group_object(column1, column3)\n    FROM (VALUES {listed})\n"
        "    WHERE column2 IS NOT column3 COLLATE BINARY GROUP BY NULL"
    )
    event = f"AFTER UPDATE OF {', '.join(watched.columns)}"
    yield on_sqlite(f"TR_{table}_AuditUpdate", table, event, [entry], "NEW.z_updated IS OLD.z_updated")


_ENTRY = "INSERT INTO AuditLog (Actor, Host, Action, Target, ValuesBefore, ValuesAfter)"


def _of_definitions(watched: WatchedTable) -> Iterator[Trigger]:
    """Yield the triggers of SQLite, which has no word for whichever has happened.

    Of the rows that a REPLACE takes away no trigger for DELETE hears, unless somebody asked for that. Whether what is in
    the way of a row goes is known only once that is written: before, nothing tells REPLACE from OR IGNORE and ON CONFLICT.
    """
    table, alike = watched.table, ""
    if unique := watched.unique():
        pairs = " AND ".join(f"{column} = NEW.{column}" for column in unique)
        alike = f"\n    OR {pairs}"
    kept = f"INSERT INTO {_IN_THE_WAY} SELECT '{table}', rowid FROM {table} WHERE rowid"
    said = f"INSERT INTO {_HAPPENED} VALUES ('{{}}', '{table}', {{}}.rowid, {{}})"
    for name, event, before, statement in (
        ("BeforeInsert", "BEFORE INSERT", pointing.before_insert(table), f"{kept} = NEW.rowid{alike}"),
        ("BeforeUpdate", "BEFORE UPDATE", pointing.before_update(table), f"{kept} IN (OLD.rowid, NEW.rowid){alike}"),
        ("AuditInsert", "AFTER INSERT", (), said.format("insert", "NEW", "NULL")),
        ("AuditUpdate", "AFTER UPDATE", (), said.format("update", "NEW", "OLD.rowid")),
        # With recursive_triggers this hears of what a REPLACE takes away, too.
        ("AuditDelete", "BEFORE DELETE", pointing.before_delete(table), said.format("delete", "OLD", "NULL")),
    ):
        yield on_sqlite(f"TR_{table}_{name}", table, event, [*before, statement])


def _for_all_definitions() -> Iterator[Trigger]:
    """Yield what the triggers of SQLite have in common: it keeps what is in the way, and writes entries."""
    this = "t.TableName = NEW.TableName AND t.RowNumber = NEW.RowNumber"
    yield on_sqlite(
        f"TR_{_IN_THE_WAY}",
        _IN_THE_WAY,
        "INSTEAD OF INSERT",
        [
            # Of what an upsert changes, the INSERT before it has said that it is in the way.
            "DELETE FROM batchctl_replaced WHERE TableName = NEW.TableName AND RowNumber = NEW.RowNumber",
            f"INSERT INTO batchctl_replaced SELECT {', '.join(_KEPT)} FROM {pointing.ANNOUNCED} t WHERE {this}",
        ],
    )
    became = "json_extract(t.ValuesBefore, fullkey)"
    yield on_sqlite(
        f"TR_{_HAPPENED}",
        _HAPPENED,
        "INSTEAD OF INSERT",
        [
            pointing.renumbered(),
            refuse_if_any(
                NO_TIME.format(", ".join(sorted({name for watched in DEFINITIONS for name in watched.times()}))),
                f"{pointing.ANNOUNCED} t, json_each(t.Times)",
                # Of a text with a NUL, json_each has what stands before that.
                f"NEW.Action <> 'delete' AND {this}\n"
                f"        AND (instr(t.Times,'\\u0000') OR NOT ({is_time('value')}))",
            ),
            # Before an INSERT that gives no number, NEW had one that is not its own.
            (
                "INSERT INTO AuditLog (Actor, Host, Action, Target, ValuesBefore)\n"
                "    SELECT 'sql', 'sql', 'row delete', substr(Target, 1, 200), ValuesBefore FROM batchctl_replaced w\n"
                "    WHERE NEW.Action <> 'delete' AND TableName = NEW.TableName AND RowNumber IS NOT NEW.FormerNumber\n"
                f"        AND (RowNumber = NEW.RowNumber OR {pointing.IS_GONE.format('w')}) ORDER BY RowNumber"
            ),
            (
                f"{_ENTRY}\n    SELECT 'sql', 'sql', 'row update', substr(t.Target, 1, 200), json_group_object(key, value),\n"
                f"        json_group_object(key, {became})\n"
                f"    FROM batchctl_replaced w, {pointing.ANNOUNCED} t, json_each(w.ValuesBefore)\n"
                # Mostly the engine has written what is not audited: then there is nothing to look for.
                f"    WHERE w.TableName = NEW.TableName AND w.RowNumber = NEW.FormerNumber AND {this}\n"
                f"        AND w.ValuesBefore <> t.ValuesBefore AND value IS NOT {became} GROUP BY w.RowNumber"
            ),
            (
                f"{_ENTRY}\n    SELECT 'sql', 'sql', 'row ' || NEW.Action, substr(Target, 1, 200),\n"
                "        CASE NEW.Action WHEN 'delete' THEN ValuesBefore END,\n"
                "        CASE NEW.Action WHEN 'insert' THEN ValuesBefore END\n"
                f"    FROM {pointing.ANNOUNCED} t WHERE NEW.Action <> 'update' AND {this}"
            ),
            (
                "DELETE FROM batchctl_replaced\n"
                "    WHERE TableName = NEW.TableName AND (RowNumber = NEW.RowNumber OR NEW.Action <> 'delete')"
            ),
        ],
    )


def _on_postgresql(watched: WatchedTable, *, only_hands: bool) -> Iterator[Trigger]:
    """Yield what calls the one function for all tables, with what it has to know of this one."""
    table, columns = watched.table, ", ".join(watched.columns)
    told = (table, watched.called, watched.parent, watched.parent_called, *watched.columns)
    if only_hands:
        at = f"AFTER UPDATE OF {columns}"
        yield on_postgresql(f"TR_{table}_Audit", table, at, "batchctl_audit", *told, when=BY_HAND)
        return
    at = f"AFTER INSERT OR DELETE OR UPDATE OF {columns}"
    yield on_postgresql(f"TR_{table}_Audit", table, at, "batchctl_audit", *told)
    yield on_postgresql(f"TR_{table}_AuditTruncate", table, "AFTER TRUNCATE", "batchctl_audit", table, "", "")


def _on_mssql(watched: WatchedTable, schema: str, *, only_hands: bool) -> Trigger:
    table = watched.table
    values = ",\n            ".join(
        f"({place}, N'{column}', {_json(watched, 'd', column)}, {_json(watched, 'i', column)})"
        for place, column in enumerate(watched.columns, start=1)
    )
    parent = ""
    if watched.parent:
        key = watched.parent_key
        of = f"p.{key} = COALESCE(i.{key}, d.{key})"
        parent = f"(SELECT p.{watched.parent_called} FROM {watched.parent} AS p WHERE {of}), N':', "
    named = f"CONCAT(N'{table}:', {parent}COALESCE(i.{watched.called}, d.{watched.called}))"
    action = (
        f"CASE WHEN d.{table}_id IS NULL THEN N'row insert'"
        f" WHEN i.{table}_id IS NULL THEN N'row delete' ELSE N'row update' END"
    )
    listed = (
        "N'{{' + STRING_AGG(N'\"' + v.Name + N'\": ' + v.{0}, N', ') WITHIN GROUP (ORDER BY v.Place) + N'}}' AS {0}"
    )
    by_hand = " AND i.z_updated = d.z_updated" if only_hands else ""
    return on_mssql(
        f"TR_{table}_Audit",
        table,
        "AFTER UPDATE" if only_hands else "AFTER INSERT, UPDATE, DELETE",
        "    INSERT INTO AuditLog (Actor, Host, Action, Target, ValuesBefore, ValuesAfter)\n"
        f"    SELECT ORIGINAL_LOGIN(), COALESCE(NULLIF(HOST_NAME(), N''), N'sql'), {action}, LEFT({named}, 200),\n"
        f"        CASE WHEN d.{table}_id IS NOT NULL THEN c.Was END, CASE WHEN i.{table}_id IS NOT NULL THEN c.Became END\n"
        f"    FROM inserted AS i FULL JOIN deleted AS d ON d.{table}_id = i.{table}_id\n"
        f"    CROSS APPLY (SELECT {listed.format('Was')},\n        {listed.format('Became')}\n"
        f"        FROM (VALUES\n            {values}) AS v (Place, Name, Was, Became)\n"
        "        WHERE v.Was <> v.Became) AS c\n"
        f"    WHERE c.Was IS NOT NULL{by_hand};",
        schema,
    )


def _json(watched: WatchedTable, row: str, column: str) -> str:
    """Return a value as JSON has it; what is not there, as null."""
    name = as_stored(watched.table, column, row)
    if watched.holds_number(column):
        said = f"CONVERT(nvarchar(max), {name})"
    elif watched.holds_time(column):
        said = f"N'\"' + CONVERT(nvarchar(max), {name}, 126) + N'\"'"
    else:
        said = f"N'\"' + STRING_ESCAPE(CONVERT(nvarchar(max), {name}), 'json') + N'\"'"
    # A row that is not there has no columns, and what is NULL is told so: the one and the other differ.
    missing = f"CASE WHEN {row}.z_inserted IS NULL THEN N'' ELSE N'null' END"
    return f"COALESCE({said}, {missing}) COLLATE Latin1_General_100_BIN2"


def _added_to(dialect: str, table: str, setting: str, schema: str) -> Iterator[Trigger]:
    """Yield what refuses to change a table's rows, and to delete them unless they are as old as a row of `Setting` says.

    How old is reckoned from the newest row: to delete one, that it is done has to be written down first.
    """
    name, said = f"TR_{table}_AppendOnly", f"batchctl: what stands in {table} stays as it is"
    match dialect:
        case "sqlite":
            kept = f"NOT coalesce({_OLD_ON_SQLITE.format(setting=setting)}, 0)" if setting else ""
            # An INSERT may replace a row, and no trigger for DELETE hears of it.
            is_there = f"EXISTS (SELECT 1 FROM {table} WHERE {table}_id = NEW.{table}_id)"
            for event, when in (("UPDATE", ""), ("DELETE", kept), ("INSERT", is_there)):
                yield on_sqlite(f"{name}{event.capitalize()}", table, f"BEFORE {event}", [refuse_when(said)], when)
        case "postgresql":
            given = (setting,) if setting else ()
            yield on_postgresql(name, table, "BEFORE UPDATE OR DELETE", "batchctl_append_only", *given)
            yield on_postgresql(f"{name}Truncate", table, "BEFORE TRUNCATE", "batchctl_append_only")
        case _:
            kept = f" WHERE NOT EXISTS ({_OLD_ON_MSSQL.format(setting=setting)})" if setting else ""
            yield on_mssql(
                name,
                table,
                "AFTER UPDATE, DELETE",
                f"    IF EXISTS (SELECT 1 FROM inserted) OR EXISTS (SELECT 1 FROM deleted AS d{kept})\n"
                f"        THROW 51000, N'{said}', 1;",
                schema,
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

FUNCTIONS = (
    *trusted(
        "batchctl_audit",
        """\
    before jsonb := CASE WHEN TG_OP IN ('UPDATE', 'DELETE') THEN to_jsonb(OLD) END;
    after jsonb := CASE WHEN TG_OP IN ('UPDATE', 'INSERT') THEN to_jsonb(NEW) END;
    target text := TG_ARGV[0];
    key text := TG_ARGV[2] || '_id';
    parent text;
    was json;
    became json;
""",
        """\
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
""",
    ),
    *trusted(
        "batchctl_append_only",
        "    days text;\n    newest timestamp;\n",
        """\
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
""",
    ),
)
"""The functions of PostgreSQL."""
