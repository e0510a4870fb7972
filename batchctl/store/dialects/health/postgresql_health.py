"""What `doctor` asks PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, text
from sqlalchemy.engine import URL
from sqlalchemy.pool import NullPool

from batchctl import __version__
from batchctl.domain.outcomes import HealthFinding, MissingRights, Result
from batchctl.domain.text import visible
from batchctl.store.dialects.postgresql import DIALECT
from batchctl.store.dialects.postgresql_locks import NAMES, missing_names

DRIVERS: tuple[str, ...] = ("postgresql", "postgresql+psycopg")
INSTALL = "pip install 'batchctl[postgres]'"

_LIMITS = {"connect_timeout": "10", "tcp_user_timeout": "10000", "application_name": f"batchctl/{__version__} doctor"}
_NOW = text("SELECT clock_timestamp()")
_LACKING = text("""
WITH needed AS (
    SELECT name, privilege, place, to_regclass(lower(name)) AS oid
    FROM unnest(CAST(:tables AS text[]), CAST(:privileges AS text[])) WITH ORDINALITY AS n (name, privilege, place)
)
SELECT '' AS kind, name, privilege, quote_ident(current_user) AS role, place
FROM needed WHERE oid IS NOT NULL AND NOT has_table_privilege(oid, privilege)
    AND NOT CASE WHEN privilege <> 'DELETE' THEN has_any_column_privilege(oid, privilege) ELSE false END
UNION
SELECT 'SEQUENCE ', s.oid::regclass::text, 'USAGE', quote_ident(current_user), 1
FROM needed JOIN pg_depend d ON d.refobjid = needed.oid AND d.deptype = 'a' JOIN pg_class s ON s.oid = d.objid
WHERE needed.privilege = 'INSERT'
    AND CASE s.relkind WHEN 'S' THEN NOT has_sequence_privilege(s.oid, 'USAGE, UPDATE') ELSE false END
ORDER BY kind, name, place
""")
_TABLES = text("""
SELECT name, row_security_active(found.oid) AS is_filtered,
       EXISTS (SELECT 1 FROM pg_trigger WHERE tgrelid = found.oid AND NOT tgisinternal AND tgenabled IN ('D', 'R')) AS is_mute
FROM (SELECT name, to_regclass(lower(name))::oid AS oid FROM unnest(CAST(:tables AS text[])) AS n (name)) AS found
WHERE oid IS NOT NULL ORDER BY name
""")
_LIMITED = text("""
SELECT 'ROLE ' || quote_ident(rolname) AS what, rolconnlimit AS most FROM pg_roles
WHERE rolname = session_user AND NOT rolsuper AND rolconnlimit BETWEEN 0 AND :needed - 1
UNION ALL
SELECT 'DATABASE ' || quote_ident(datname), datconnlimit FROM pg_database JOIN pg_roles ON rolname = session_user
WHERE datname = current_database() AND NOT rolsuper AND datconnlimit BETWEEN 0 AND :needed - 1
""")
_LOCKED = ("Resource", "Pool", "Setting", "NamedLock")
"""What the controller locks and never writes."""
_HAS_NAMES = text(
    "SELECT to_regclass('namedlock') IS NOT NULL AND has_table_privilege(to_regclass('namedlock'), 'SELECT')"
)
CONNECTIONS = 3
"""What a controller has open: its own, that of its lock, and one of a step that works in the same place."""
_SCHEMA = text("""
WITH path AS (
    SELECT coalesce(current_schema(), (
        SELECT nspname FROM pg_namespace
        JOIN unnest(string_to_array(replace(current_setting('search_path'), '"$user"', current_user), ',')) WITH ORDINALITY
        AS p (name, place) ON nspname = trim(both ' "' FROM name) ORDER BY place LIMIT 1
    )) AS name
)
SELECT quote_ident(name) AS schema, quote_ident(current_user) AS role, current_setting('search_path') AS path,
       has_schema_privilege(name, 'USAGE') AS may_use, has_schema_privilege(name, 'CREATE') AS may_create,
       EXISTS (SELECT 1 FROM pg_class WHERE relnamespace = to_regnamespace(quote_ident(name)) AND relname = 'alembic_version')
       AS is_made
FROM path
""")
_ROLE = text("""
SELECT current_user AS role, current_schema() AS schema, rolsuper AS is_superuser,
       current_setting('default_transaction_read_only') = 'on' AS is_read_only
FROM pg_roles WHERE rolname = current_user
""")
_HAS_PROCEDURE = text(
    "SELECT EXISTS (SELECT FROM pg_catalog.pg_proc AS p"
    " JOIN pg_catalog.pg_namespace AS n ON n.oid = p.pronamespace, parse_ident(:name) AS parts"
    " WHERE p.proname = parts[cardinality(parts)]::name AND CASE WHEN cardinality(parts) > 1"
    " THEN n.nspname = parts[cardinality(parts) - 1]::name ELSE pg_catalog.pg_function_is_visible(p.oid) END)"
)
_FACTS = text("""
SELECT pg_is_in_recovery() AS is_standby, pg_backend_pid() AS backend,
       current_setting('synchronous_commit') AS synchronous_commit, s.reset_val AS synchronous_commit_of_others,
       f.setting AS fsync, f.source AS fsync_source, w.setting AS full_page_writes, w.source AS full_page_writes_source
FROM pg_settings s, pg_settings f, pg_settings w
WHERE s.name = 'synchronous_commit' AND f.name = 'fsync' AND w.name = 'full_page_writes'
""")


@dataclass(frozen=True, slots=True, kw_only=True)
class PostgresqlDurability:
    """What makes commits stay."""

    is_standby: bool = False
    is_pooled: bool = False
    fsync: str = "on"
    fsync_source: str = "default"
    full_page_writes: str = "on"
    full_page_writes_source: str = "default"
    synchronous_commit: str = "on"
    """Of this session."""
    synchronous_commit_of_others: str = "on"
    """Of other programs' sessions of the same role."""


def open_target(url: URL, directory: Path) -> Engine:  # noqa: ARG001 - the protocol's
    """Return an engine that connects within ten seconds, or not at all."""
    given = {name: value for name, value in _LIMITS.items() if name not in url.query}
    wanted = url.set(drivername="postgresql+psycopg")
    return create_engine(wanted, poolclass=NullPool, isolation_level="AUTOCOMMIT", connect_args=given)


def now(connection: Connection) -> datetime:
    """Return the server's time."""
    at: datetime = connection.execute(_NOW).scalar_one()
    return at


def blocker(connection: Connection, *, making: bool) -> HealthFinding | None:
    """Say what keeps the role from seeing the tables, or from making them where they are not or if `making`."""
    row = connection.execute(_SCHEMA).one()
    role = visible(row.role)
    # No role is to work in the system's own schema: a grant there would let this role change the catalogue.
    is_systems = row.schema is not None and row.schema.startswith("pg_")
    other = DIALECT.other_schema(connection) if is_systems or not (row.is_made or making) else None
    if other is not None:
        place, mend = other
        where = "no schema" if row.schema is None else f"schema {visible(row.schema)}"
        works = f"Role {role} works in {where} (search_path: {visible(row.path)})"
        return HealthFinding("rights", Result.FAIL, f"{works}, and the tables stand in {place}.", mend)
    if row.schema is None or is_systems:
        said = f"Role {role} has no schema to work in: there is none of its search_path ({visible(row.path)})."
        return HealthFinding(
            "rights", Result.FAIL, said, f"as the database's owner: CREATE SCHEMA ... AUTHORIZATION {role};"
        )
    needed = {"USAGE": row.may_use, "CREATE": row.may_create or (row.is_made and not making)}
    if all(needed.values()):
        return None
    lacking = ", ".join(privilege for privilege, is_held in needed.items() if not is_held)
    said = f"Role {role} has no right to {lacking} on schema {visible(row.schema)}."
    next_step = f"as the schema's or the database's owner: GRANT {lacking} ON SCHEMA {row.schema} TO {row.role};"
    return HealthFinding("rights", Result.FAIL, said, visible(next_step))


def rights(connection: Connection, needed: Mapping[str, Sequence[str]]) -> list[HealthFinding]:
    """Name each table that the role cannot read and write, and what else keeps a controller from its work there."""
    return [
        *_rights(connection, needed),
        *_locks(connection),
        *_names(connection),
        *_triggers(connection, list(needed)),
        *_limits(connection),
    ]


def _rights(connection: Connection, needed: Mapping[str, Sequence[str]]) -> list[HealthFinding]:
    found = lacking(connection, needed)
    filtered = _filtered(connection, list(needed))
    if not found and not filtered:
        return [HealthFinding("rights", Result.OK, "Every table of batchctl can be read and written.")]
    return filtered + [
        HealthFinding(
            "rights",
            Result.FAIL,
            f"Role {one.user} has no right to {one.privileges} on {one.tables}.",
            f"as the tables' owner: {one.grant}",
        )
        for one in found
    ]


def _locks(connection: Connection) -> list[HealthFinding]:
    """Name what the role may not lock: for that it needs a right to write one column."""
    return [
        HealthFinding(
            "rights",
            Result.FAIL,
            f"Role {one.user} may not lock rows of {one.tables}: what needs such a lock is not done.",
            f"as the tables' owner: {one.grant}",
        )
        for one in lacking(connection, dict.fromkeys(_LOCKED, ("UPDATE",)), "z_updated")
    ]


def _names(connection: Connection) -> list[HealthFinding]:
    """Say that rows are gone which are locked in the place of names; before the tables are made there are none to miss."""
    gone = missing_names(connection) if connection.execute(_HAS_NAMES).scalar_one() else ()
    if not gone:
        return []
    said = f"{len(gone)} of the {NAMES} rows of NamedLock are gone; a controller makes each anew when it needs it."
    statement = f"INSERT INTO NamedLock (NamedLock_id) SELECT generate_series(1, {NAMES}) ON CONFLICT DO NOTHING;"
    return [HealthFinding("locks", Result.WARN, said, f"as the tables' owner: {statement}")]


def lacking(
    connection: Connection, wished: Mapping[str, Sequence[str]], column: str | None = None
) -> list[MissingRights]:
    """Return the privileges that the role does not have, on the tables and on their sequences.

    Where those on a `column` are enough, only they are given.
    """
    pairs = [(name, privilege) for name, privileges in wished.items() for privilege in privileges]
    given = {"tables": [name for name, _ in pairs], "privileges": [privilege for _, privilege in pairs]}
    alike: dict[tuple[str, str], list[str]] = {}
    role = ""
    for (kind, name), rows in groupby(connection.execute(_LACKING, given), lambda row: (row.kind, row.name)):
        found = list(rows)
        alike.setdefault((kind, ", ".join(row.privilege for row in found)), []).append(name)
        role = found[0].role
    return [
        _lacking(role, privileges, f"{kind}{', '.join(names)}", column) for (kind, privileges), names in alike.items()
    ]


def _lacking(role: str, privileges: str, tables: str, column: str | None) -> MissingRights:
    grant = f"GRANT {privileges}{'' if column is None else f' ({column})'} ON {tables} TO {role};"
    return MissingRights(visible(role), visible(privileges), visible(tables), visible(grant))


def _filtered(connection: Connection, tables: list[str]) -> list[HealthFinding]:
    names = [row.name for row in connection.execute(_TABLES, {"tables": tables}) if row.is_filtered]
    if not names:
        return []
    said = f"Row level security applies to this role on {', '.join(names)}: rows that it hides never run."
    statements = " ".join(f"ALTER TABLE {name} DISABLE ROW LEVEL SECURITY;" for name in names)
    return [HealthFinding("rights", Result.FAIL, said, f"as the tables' owner: {statements}")]


def _triggers(connection: Connection, tables: list[str]) -> list[HealthFinding]:
    names = [row.name for row in connection.execute(_TABLES, {"tables": tables}) if row.is_mute]
    if not names:
        return [HealthFinding("triggers", Result.OK, "Each inserted row wakes the controller.")]
    said = (
        f"Triggers of {', '.join(names)} are disabled: what is changed there wakes no controller, is not written down,"
        " and what has to stay as it is may be changed."
    )
    statements = " ".join(f"ALTER TABLE {name} ENABLE TRIGGER USER;" for name in names)
    return [HealthFinding("triggers", Result.WARN, said, f"as the tables' owner: {statements}")]


def _limits(connection: Connection) -> list[HealthFinding]:
    found = connection.execute(_LIMITED, {"needed": CONNECTIONS}).all()
    if not found:
        return [
            HealthFinding("connections", Result.OK, f"The role may have the {CONNECTIONS} that a controller needs.")
        ]
    told = ", ".join(f"{row.what} has a limit of {row.most}" for row in found)
    said = f"{told}: a controller needs {CONNECTIONS} with a step, and every command beside it one or two more."
    statements = " ".join(f"ALTER {row.what} CONNECTION LIMIT 10;" for row in found)
    return [HealthFinding("connections", Result.WARN, visible(said), visible(f"as a superuser: {statements}"))]


def target_rights(connection: Connection) -> list[HealthFinding]:
    """Say as which role steps work, and whether there is a schema to work in."""
    row = connection.execute(_ROLE).one()
    role = visible(str(row.role))
    if row.schema is None:
        said = f"Role {role} may use no schema of its search_path: steps must write schema.table."
        return [HealthFinding("rights", Result.WARN, said, f"GRANT USAGE ON SCHEMA ... TO {role};")]
    if row.is_read_only:
        said = f"Role {role} is read-only by default: steps cannot write."
        next_step = f"ALTER ROLE {role} SET default_transaction_read_only = off;"
        return [HealthFinding("rights", Result.WARN, said, next_step)]
    if row.is_superuser:
        said = f"Role {role} is a superuser: a step may do anything to the whole server."
        return [
            HealthFinding("rights", Result.WARN, said, "give the steps a role of their own, with the rights they need")
        ]
    return [HealthFinding("rights", Result.OK, f"Steps work as role {role} in schema {visible(str(row.schema))}.")]


def has_procedure(connection: Connection, name: str) -> bool:
    """Ask the catalog, which reads the name as a call would."""
    return bool(connection.execute(_HAS_PROCEDURE, {"name": name}).scalar_one())


def durability(connection: Connection) -> list[HealthFinding]:
    """Ask and judge."""
    raw: Any = connection.connection.dbapi_connection
    row = dict(connection.execute(_FACTS).one()._mapping)  # noqa: SLF001 - SQLAlchemy's public name for a row as a mapping
    is_pooled = row.pop("backend") != raw.info.backend_pid
    return list(judge(PostgresqlDurability(is_pooled=is_pooled, **row)))


def judge(facts: PostgresqlDurability) -> Iterator[HealthFinding]:
    """Say of each fact what it means."""
    yield _setting("fsync", facts.fsync, facts.fsync_source, "a commit waits for the disk")
    yield _setting("full_page_writes", facts.full_page_writes, facts.full_page_writes_source, "no page is half-written")
    yield _synchronous_commit(facts)
    if facts.is_standby:
        said = "The server is a standby, which accepts no writes."
        yield HealthFinding("standby", Result.FAIL, said, "name the primary server in the url")
    else:
        yield HealthFinding("standby", Result.OK, "The server is a primary.")
    if facts.is_pooled:
        said = "A connection pooler stands before the server; it loses session locks and notifications."
        yield HealthFinding("pooler", Result.FAIL, said, "name the server itself in the url, or a pool in session mode")
    else:
        yield HealthFinding("pooler", Result.OK, "The session is the server's own.")


def _setting(name: str, value: str, source: str, meaning: str) -> HealthFinding:
    if value == "on":
        return HealthFinding(name, Result.OK, f"on: {meaning}.")
    said = f"{value}: a crash of the server's machine may lose or damage what was committed."
    next_step = f"as a superuser: ALTER SYSTEM SET {name} = on; SELECT pg_reload_conf();"
    if source == "command line":
        next_step = f"start the server without -c {name}={value}"
    return HealthFinding(name, Result.FAIL, said, next_step)


def _synchronous_commit(facts: PostgresqlDurability) -> HealthFinding:
    name = "synchronous_commit"
    next_step = f"as a superuser: ALTER SYSTEM SET {name} = on; SELECT pg_reload_conf();"
    if facts.synchronous_commit == "off":
        said = "off: what was just committed may be lost when the server crashes."
        return HealthFinding(name, Result.FAIL, said, next_step)
    if facts.synchronous_commit_of_others == "off":
        said = (
            "on for batchctl, but off for other programs: a row that they have just committed may be lost in a crash."
        )
        return HealthFinding(name, Result.WARN, said, next_step)
    return HealthFinding(name, Result.OK, f"{facts.synchronous_commit}: a commit is not answered before it is safe.")
