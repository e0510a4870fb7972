"""The script for SQL Server that a DBA runs in sqlcmd or SSMS: all or nothing, and as often as he likes."""

from __future__ import annotations

import re
from collections.abc import Sequence

from batchctl.store import views

_SEPARATOR = "\nGO\n"
_TABLE = re.compile(r"CREATE TABLE (\w+) ")
_INDEX = re.compile(r"CREATE (?:UNIQUE )?INDEX \[(\w+)\] ON (\w+) ")
_DROPPED = re.compile(r"DROP INDEX \[(\w+)\] ON (\w+);")
_VERSION = re.compile(r"INSERT INTO alembic_version \(version_num\) OUTPUT inserted\.version_num VALUES \('(\w+)'\)")
_NEXT_VERSION = re.compile(
    r"UPDATE alembic_version SET version_num='(\w+)'(?: OUTPUT inserted\.version_num)?"
    r" WHERE alembic_version\.version_num = '(\w+)'"
)
_SETTING = re.compile(r"INSERT INTO Setting \(Name, Value\) SELECT ('\w+'),")
_COLUMN = re.compile(r"ALTER TABLE (\w+) ADD (\w+) ")
_VIEW = re.compile(r"CREATE OR ALTER VIEW ")
_TRIGGER = re.compile(r"EXEC sp_executesql N'CREATE TRIGGER (\w+) ON (\w+) ")
_CONSTRAINT = re.compile(r"ALTER TABLE (\w+) (ADD|DROP) CONSTRAINT \[(\w+)\]")
_ONCE = re.compile(r"INSERT INTO (?:ProcessBatch|ProcessControl|Leader) |DROP TRIGGER ")
_BEGIN_OR_COMMIT = re.compile(r"(?:BEGIN TRANSACTION|COMMIT);")

SETTINGS = """\
SET ANSI_NULLS ON;
SET QUOTED_IDENTIFIER ON;
SET ANSI_PADDING ON;
SET ANSI_WARNINGS ON;
SET ARITHABORT ON;
SET CONCAT_NULL_YIELDS_NULL ON;
SET NUMERIC_ROUNDABORT OFF;
"""
"""What a session needs that writes a table with a filtered index, or makes a trigger that does; sqlcmd sets not all of it."""
_HEAD = """\
-- The control database of batchctl on SQL Server 2017 or later, schema (revision).
--
-- In SSMS: choose the database, then execute. With sqlcmd: sqlcmd -S SERVER -d DATABASE -I -b -i batchctl.sql
-- It makes what is missing in the default schema of who runs it, and looks at no other; running it again changes nothing.
-- It is one transaction: after an error nothing of it stays.

SET IMPLICIT_TRANSACTIONS OFF;
SET XACT_ABORT ON;
SET NOCOUNT ON;
(settings)GO

IF DB_NAME() IN (N'master', N'model', N'msdb', N'tempdb')
BEGIN
    RAISERROR(N'batchctl: this is a database of the server itself; choose another one first.', 16, 1);
    SET NOEXEC ON;
END;
GO

IF CAST(PARSENAME(CAST(SERVERPROPERTY('ProductVersion') AS nvarchar(128)), 4) AS int) < 14
   AND CAST(SERVERPROPERTY('EngineEdition') AS int) NOT IN (5, 8)
BEGIN
    RAISERROR(N'batchctl: SQL Server 2017 or later is needed.', 16, 1);
    SET NOEXEC ON;
END;
GO

IF EXISTS (SELECT 1 FROM sys.tables WHERE schema_id = SCHEMA_ID() AND name IN (
        (tables)))
   AND (version table) IS NULL
BEGIN
    RAISERROR(N'batchctl: there are tables here that batchctl did not make; choose another database or schema.', 16, 1);
    SET NOEXEC ON;
END;
GO

IF (version table) IS NOT NULL
BEGIN
    -- Inside, because a statement that names a table is refused where there is none, whatever else it asks.
    IF (first table) IS NULL
       OR NOT EXISTS (SELECT 1 FROM alembic_version)
       OR EXISTS (SELECT 1 FROM alembic_version WHERE version_num NOT IN ((revisions)))
    BEGIN
        RAISERROR(N'batchctl: alembic_version is not of this batchctl; choose another schema, or the newer script.', 16, 1);
        SET NOEXEC ON;
    END;
END;
GO

IF @@TRANCOUNT > 0
BEGIN
    RAISERROR(N'batchctl: this session has a transaction open; COMMIT or ROLLBACK it first, then run this again.', 16, 1);
    SET NOEXEC ON;
END;
GO

BEGIN TRANSACTION;
GO
"""
_GO_ON = "IF @@TRANCOUNT = 0\nBEGIN\n    SET NOEXEC ON;\nEND;"
"""An error has ended the transaction: what follows must not be done without it."""
_NOT_YET = "NOT EXISTS (SELECT 1 FROM alembic_version WHERE version_num >= '{}')"
_IF_NO_VERSION = "IF NOT EXISTS (SELECT 1 FROM alembic_version)\nINSERT INTO alembic_version (version_num)"
_FOOT = """\
COMMIT TRANSACTION;
GO

SET NOEXEC OFF;
GO

IF (version table) IS NULL OR (first table) IS NULL
    RAISERROR(N'batchctl: nothing was made; see the error above.', 16, 1);
ELSE
    SELECT version_num AS batchctl_schema FROM alembic_version;
GO
"""


def repeatable(printed: str, revision: str) -> str:
    """Return what Alembic has printed, as batches of which each looks first whether there is anything to do."""
    statements = [_alone(batch) for batch in f"{printed}\n".split(_SEPARATOR)]
    of_revisions = _with_revisions(statements)
    dropped = [(match[1], leads_to) for statement, leads_to in of_revisions if (match := _DROPPED.match(statement))]
    batches = [guarded(statement, leads_to, dropped) for statement, leads_to in of_revisions if statement]
    tables = [name for statement in statements for name in _TABLE.findall(statement) if name != "alembic_version"]
    listed = ", ".join(f"N'{name}'" for name in tables)
    known = ", ".join(f"'{number}'" for statement in statements for number in _numbers(statement))
    head = (
        _HEAD.replace("(settings)", SETTINGS)
        .replace("(revision)", revision)
        .replace("(tables)", listed)
        .replace("(revisions)", known)
    )
    parts = [head, *(f"{batch}\nGO\n{_GO_ON}\nGO\n" for batch in batches), _FOOT]
    # A name of one part would also find what lies in dbo.
    return (
        "\n".join(parts)
        .replace("(version table)", _in_schema("alembic_version"))
        .replace("(first table)", _in_schema(tables[0]))
    )


def guarded(statement: str, leads_to: str, dropped: Sequence[tuple[str, str]]) -> str:
    """Put before a statement what looks whether it has been done; `leads_to` is the revision it is a part of.

    `dropped` are the indexes that revisions drop, each with the revision, in order.
    """
    if table := _TABLE.match(statement):
        return f"IF {_in_schema(table[1])} IS NULL\n{statement}"
    if index := _INDEX.match(statement):
        name, table_name = index.groups()
        # The same name may be of two indexes, of which the revision that drops the one makes the other.
        ends = next((revision for of, revision in dropped if of == name and revision > leads_to), None)
        is_over = "" if ends is None else f" AND {_NOT_YET.format(ends)}"
        return f"IF NOT {_index(name, table_name)}{is_over}\n{statement}"
    if drop := _DROPPED.match(statement):
        return f"IF {_index(*drop.groups())} AND {_NOT_YET.format(leads_to)}\n{statement}"
    if constraint := _CONSTRAINT.match(statement):
        table_name, act, name = constraint.groups()
        found = f"SELECT 1 FROM sys.check_constraints WHERE name = N'{name}' AND parent_object_id = {_in_schema(table_name)}"  # noqa: S608 - our own names
        again = f"IF NOT EXISTS ({found})" if act == "ADD" else f"IF {_NOT_YET.format(leads_to)}"
        return f"{again}\n{statement}"
    if column := _COLUMN.match(statement):
        table_name, name = column.groups()
        found = f"name = N'{name}' AND object_id = {_in_schema(table_name)}"
        return f"IF NOT EXISTS (SELECT 1 FROM sys.columns WHERE {found})\n{statement}"  # noqa: S608 - our own names
    if version := _VERSION.match(statement):
        number = f"('{version[1]}')"
        return f"{_IF_NO_VERSION} VALUES {number};"
    if versions := _NEXT_VERSION.match(statement):
        after, before = versions.groups()
        return f"UPDATE alembic_version SET version_num = '{after}' WHERE version_num = '{before}';"  # noqa: S608 - as above
    if setting := _SETTING.match(statement):
        return f"IF NOT EXISTS (SELECT 1 FROM Setting WHERE Name = {setting[1]})\n{statement}"  # noqa: S608 - as above
    if _VIEW.match(statement):
        # It has to be alone in its batch, and may be done again.
        return statement
    if trigger := _TRIGGER.match(statement):
        name, table_name = trigger.groups()
        kind = "V" if table_name in views.NAMES else "U"
        found = f"name = N'{name}' AND parent_id = {_in_schema(table_name, kind)}"
        return f"IF NOT EXISTS (SELECT 1 FROM sys.triggers WHERE {found})\n{statement}"  # noqa: S608 - our own names
    if _ONCE.match(statement):
        # Whoever has deleted or changed such a row since shall keep it so.
        return f"IF {_NOT_YET.format(leads_to)}\n{statement}"
    message = f"no way is known to repeat: {statement}"
    raise NotImplementedError(message)


def _index(name: str, table: str) -> str:
    return f"EXISTS (SELECT 1 FROM sys.indexes WHERE name = N'{name}' AND object_id = {_in_schema(table)})"  # noqa: S608 - our own names


def _in_schema(name: str, kind: str = "U") -> str:
    """Write what finds a table, or a view, in the default schema, where a CREATE without a schema puts it."""
    return f"OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.{name}', N'{kind}')"


def _with_revisions(statements: Sequence[str]) -> Sequence[tuple[str, str]]:
    """Return each statement with the revision that is written when it and its like are done."""
    found, leads_to = [], ""
    for statement in reversed(statements):
        leads_to = next(iter(_numbers(statement)), leads_to)
        found.append((statement, leads_to))
    return found[::-1]


def _numbers(statement: str) -> list[str]:
    """Return the revision that a statement writes, if it writes one."""
    return [match[1] for pattern in (_VERSION, _NEXT_VERSION) if (match := pattern.match(statement))]


def _alone(batch: str) -> str:
    lines = [line.rstrip() for line in batch.splitlines() if not line.startswith("--")]
    return _BEGIN_OR_COMMIT.sub("", "\n".join(lines)).strip()
