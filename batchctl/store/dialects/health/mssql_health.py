"""What `doctor` asks SQL Server. The judging was tested; the asking was not run against a server."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy import Connection, Engine, create_engine, text
from sqlalchemy.engine import URL
from sqlalchemy.pool import NullPool

from batchctl.domain.outcomes import HealthFinding, MissingRights, Result
from batchctl.domain.text import visible
from batchctl.store.dialects.mssql_session import LOGIN_SECONDS, driver_for

DRIVERS: tuple[str, ...] = ("mssql", "mssql+pyodbc", "mssql+mssqlpython")
INSTALL = "pip install 'batchctl[sqlserver]' with Microsoft's ODBC driver, or 'batchctl[sqlserver-bundled]' without one"

_NOW = text("SELECT SYSUTCDATETIME()")
_USER = text("SELECT USER_NAME() AS name, HAS_PERMS_BY_NAME(DB_NAME(), 'DATABASE', 'CONNECT') AS may_connect")
# A right to some columns is enough: the script of roles grants no more than the engine writes. It grants these two so.
_MAY = text("""
SELECT OBJECT_ID(:name, 'U') AS found,
       CASE WHEN HAS_PERMS_BY_NAME(:name, 'OBJECT', :privilege) = 1 THEN 1
            WHEN :privilege IN ('SELECT', 'UPDATE') THEN
                (SELECT MAX(HAS_PERMS_BY_NAME(:name, 'OBJECT', :privilege, c.name, 'COLUMN'))
                 FROM sys.columns AS c WHERE c.object_id = OBJECT_ID(:name, 'U')) END AS may
""")
_OBJECT = text("SELECT OBJECT_ID(:name)")
_FACTS = text("""
SELECT name, delayed_durability_desc AS delayed_durability, is_read_committed_snapshot_on AS is_snapshot, compatibility_level,
       CONVERT(nvarchar(60), DATABASEPROPERTYEX(name, 'Updateability')) AS updateability
FROM sys.databases WHERE database_id = DB_ID()
""")


LEAST_COMPATIBLE = 130
"""Below it the server knows no STRING_SPLIT, by which the script of roles reads the roles that may ask for commands."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MssqlDurability:
    """What makes commits stay."""

    name: str = "batchctl"
    delayed_durability: str = "DISABLED"
    updateability: str = "READ_WRITE"
    is_snapshot: bool = True
    compatibility_level: int = 140


def open_target(url: URL, directory: Path) -> Engine:  # noqa: ARG001 - the protocol's
    """Return an engine that logs in within ten seconds, or not at all."""
    _, url = driver_for(url)
    return create_engine(url, poolclass=NullPool, isolation_level="AUTOCOMMIT", connect_args={"timeout": LOGIN_SECONDS})


def now(connection: Connection) -> datetime:
    """Return the server's time."""
    at: datetime = connection.execute(_NOW).scalar_one()
    return at.replace(tzinfo=UTC)


def blocker(connection: Connection, *, making: bool) -> HealthFinding | None:  # noqa: ARG001 - the protocol's
    """Return None: the server itself says plainly which permission is missing."""
    return None


def rights(connection: Connection, needed: Mapping[str, Sequence[str]]) -> list[HealthFinding]:
    """Name each table that the user cannot read and write."""
    found = lacking(connection, needed)
    if not found:
        return [HealthFinding("rights", Result.OK, "Every table of batchctl can be read and written.")]
    return [
        HealthFinding(
            "rights",
            Result.FAIL,
            f"User {one.user} has no right to {one.privileges} on {one.tables}.",
            f"as the tables' owner: {one.grant}",
        )
        for one in found
    ]


def lacking(connection: Connection, wished: Mapping[str, Sequence[str]]) -> list[MissingRights]:
    """Return the privileges that the user does not have, table by table."""
    found: dict[str, list[str]] = {}
    for name, privileges in wished.items():
        for privilege in privileges:
            row = connection.execute(_MAY, {"name": name, "privilege": privilege}).one()
            if row.found is not None and row.may != 1:
                found.setdefault(name, []).append(privilege)
    if not found:
        return []
    user = visible(str(connection.execute(_USER).one().name))
    each = [(name, ", ".join(privileges)) for name, privileges in found.items()]
    return [MissingRights(user, said, name, f"GRANT {said} ON {name} TO [{user}];") for name, said in each]


def target_rights(connection: Connection) -> list[HealthFinding]:
    """Say as which user steps work."""
    row = connection.execute(_USER).one()
    return [HealthFinding("rights", Result.OK, f"Steps work as user {visible(str(row.name))}.")]


def has_procedure(connection: Connection, name: str) -> bool:
    """Ask for the object: a procedure, or a synonym of one."""
    return connection.execute(_OBJECT, {"name": name}).scalar_one() is not None


def durability(connection: Connection) -> list[HealthFinding]:
    """Ask and judge."""
    row = connection.execute(_FACTS).one()
    facts = MssqlDurability(
        name=str(row.name),
        delayed_durability=str(row.delayed_durability),
        updateability=str(row.updateability),
        is_snapshot=bool(row.is_snapshot),
        compatibility_level=int(row.compatibility_level),
    )
    return list(judge(facts))


def judge(facts: MssqlDurability) -> Iterator[HealthFinding]:
    """Say of each fact what it means."""
    name = f"[{visible(facts.name).replace(']', ']]')}]"
    if facts.delayed_durability == "FORCED":
        said = "FORCED: what was just committed may be lost when the server crashes."
        next_step = f"ALTER DATABASE {name} SET DELAYED_DURABILITY = DISABLED;"
        yield HealthFinding("delayed durability", Result.FAIL, said, next_step)
    else:
        yield HealthFinding(
            "delayed durability", Result.OK, f"{facts.delayed_durability}: a commit waits for the disk."
        )
    if facts.updateability == "READ_WRITE":
        yield HealthFinding("updateability", Result.OK, "The database can be written to.")
    else:
        said = f"{facts.updateability}: the database is read-only, or a secondary replica."
        next_step = f"name the primary in the url, or: ALTER DATABASE {name} SET READ_WRITE;"
        yield HealthFinding("updateability", Result.FAIL, said, next_step)
    if facts.is_snapshot:
        yield HealthFinding("read committed snapshot", Result.OK, "ON: readers do not wait for writers.")
    else:
        next_step = f"ALTER DATABASE {name} SET READ_COMMITTED_SNAPSHOT ON;"
        yield HealthFinding("read committed snapshot", Result.WARN, "OFF: readers wait for writers.", next_step)
    level = facts.compatibility_level
    if level >= LEAST_COMPATIBLE:
        yield HealthFinding(
            "compatibility level", Result.OK, f"{level}: the server knows all that the scripts are written in."
        )
    else:
        next_step = f"ALTER DATABASE {name} SET COMPATIBILITY_LEVEL = 140;"
        yield HealthFinding(
            "compatibility level", Result.WARN, f"{level}: the script of db roles needs 130.", next_step
        )
