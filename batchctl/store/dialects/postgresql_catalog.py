"""How everything in a schema of PostgreSQL is defined."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlalchemy import Connection, text

_DEFINITIONS = """
SELECT c.relname || '.' || a.attname AS name,
       format_type(a.atttypid, a.atttypmod) || CASE WHEN a.attnotnull THEN ' NOT NULL' ELSE '' END
       || coalesce(' DEFAULT ' || pg_get_expr(d.adbin, d.adrelid), '') || ' ' || a.attidentity::text AS definition
FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped
UNION ALL
SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint
WHERE connamespace = current_schema()::regnamespace AND contype <> 'n'
UNION ALL
SELECT c.relname, pg_get_indexdef(c.oid) FROM pg_class c
WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'i'
UNION ALL
SELECT c.relname || '.' || t.tgname,
       pg_get_triggerdef(t.oid) || CASE WHEN t.tgenabled IN ('D', 'R') THEN ' DISABLED' ELSE '' END
FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
WHERE c.relnamespace = current_schema()::regnamespace AND NOT t.tgisinternal
UNION ALL
SELECT c.relname, pg_get_viewdef(c.oid) FROM pg_class c
WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'v'
UNION ALL
SELECT proname || '()', prosrc FROM pg_proc WHERE pronamespace = current_schema()::regnamespace
"""
_PRINTED = """
SELECT format('CREATE OR REPLACE VIEW %s AS %s', oid::regclass, pg_get_viewdef(oid)) AS statement FROM pg_class
WHERE relnamespace = current_schema()::regnamespace AND relkind = 'v'
UNION ALL
SELECT format('DROP INDEX %s; %s', i.indexrelid::regclass, pg_get_indexdef(i.indexrelid)) FROM pg_index i
JOIN pg_class c ON c.oid = i.indexrelid
WHERE c.relnamespace = current_schema()::regnamespace
AND NOT EXISTS (SELECT 1 FROM pg_constraint k WHERE k.conindid = i.indexrelid)
"""
_RIGHTS = """
SELECT format('GRANT %s ON %s TO %s%s', a.privilege_type, c.oid::regclass,
              CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(a.grantee)) END,
              CASE WHEN a.is_grantable THEN ' WITH GRANT OPTION' ELSE '' END)
FROM pg_class c CROSS JOIN LATERAL aclexplode(c.relacl) a
WHERE c.oid = to_regclass(:view) AND a.grantee <> c.relowner
"""
_UPON = """
WITH RECURSIVE upon (view) AS (
SELECT CAST(to_regclass(:view) AS oid)
UNION
SELECT r.ev_class FROM upon u JOIN pg_depend d ON d.refobjid = u.view AND d.refclassid = 'pg_class'::regclass
JOIN pg_rewrite r ON r.oid = d.objid AND d.classid = 'pg_rewrite'::regclass
)
SELECT c.relname FROM upon u JOIN pg_class c ON c.oid = u.view
WHERE c.oid <> to_regclass(:view) AND c.relnamespace = current_schema()::regnamespace
"""
_MODEL = "batchctl_model"


def definitions(connection: Connection) -> dict[str, str]:
    """Return how everything in the connection's schema is defined, by name."""
    schema = str(connection.execute(text("SELECT quote_ident(current_schema())")).scalar_one())
    rows = connection.execute(text(_DEFINITIONS))
    return {str(row.name): " ".join(str(row.definition).replace(f"{schema}.", "").split()) for row in rows}


def rights_on(connection: Connection, view: str) -> list[str]:
    """Return the statements that give a view's rights to those who have them, beside its owner."""
    return [str(right) for right in connection.execute(text(_RIGHTS), {"view": view}).scalars()]


def views_upon(connection: Connection, view: str) -> set[str]:
    """Return the names of the views that read another, directly or through other views."""
    return {str(name) for name in connection.execute(text(_UPON), {"view": view}).scalars()}


def wanted_definitions(connection: Connection, make: Callable[[Connection], None]) -> dict[str, str]:
    """Return the definitions of what `make` makes: in a schema of its own, which is forgotten at once."""
    raw: Any = connection.connection.dbapi_connection
    raw.execute("BEGIN")
    try:
        raw.execute(f"CREATE SCHEMA {_MODEL}")
        raw.execute(f"SET LOCAL search_path = {_MODEL}")
        make(connection)
        return definitions(connection)
    finally:
        raw.batchctl_pipeline.do("ROLLBACK")


def restored_definitions(connection: Connection, make: Callable[[Connection], None]) -> dict[str, str]:
    """Return what `wanted_definitions` does, but of what a restored dump makes."""

    def make_again(connection: Connection) -> None:
        make(connection)
        _make_as_printed(connection)

    return wanted_definitions(connection, make_again)


def _make_as_printed(connection: Connection) -> None:
    """Make views and indexes anew as the database shows how they were made, which is what a restored dump does."""
    raw: Any = connection.connection.dbapi_connection
    for (statement,) in connection.execute(text(_PRINTED)).all():
        for part in str(statement).split("; ", 1) if str(statement).startswith("DROP INDEX") else [statement]:
            raw.execute(str(part))
