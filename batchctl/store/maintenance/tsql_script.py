"""The script for SQL Server that a DBA runs in sqlcmd or SSMS: all or nothing, and as often as needed."""

from __future__ import annotations

import re
from collections.abc import Sequence

_SEPARATOR = "\nGO\n"
_TABLE = re.compile(r"CREATE TABLE (\w+) ")
_INDEX = re.compile(r"CREATE (?:UNIQUE )?INDEX \[(\w+)\] ON (\w+) ")
_VERSION = re.compile(r"INSERT INTO alembic_version \(version_num\) OUTPUT inserted\.version_num VALUES \('(\w+)'\)")
_SETTING = re.compile(r"INSERT INTO Setting \(Name, Value\) SELECT ('\w+'),")
_COLUMN = re.compile(r"ALTER TABLE (\w+) ADD (?!CONSTRAINT )(\w+) ")
_CONSTRAINT = re.compile(r"ALTER TABLE \w+ ADD CONSTRAINT \[(\w+)\]\s+CHECK ")
_ROW = re.compile(r"INSERT INTO (\w+) ")
_OVER_WHAT_IS_THERE = re.compile(
    r"CREATE OR ALTER VIEW |ALTER TABLE \w+ DROP CONSTRAINT IF EXISTS |DROP INDEX IF EXISTS "
    r"|EXEC sp_executesql N'CREATE OR ALTER TRIGGER "
)
_BEGIN_OR_COMMIT = re.compile(r"(?:BEGIN TRANSACTION|COMMIT);")
_RUNNING = "-- Running upgrade "

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
_IF_NO_VERSION = "IF NOT EXISTS (SELECT 1 FROM alembic_version)\nINSERT INTO alembic_version (version_num)"
_NEXT_VERSION = "UPDATE alembic_version SET version_num = '{newest}' WHERE version_num = '{former}';"
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


def with_guards(printed: str, revisions: Sequence[str]) -> str:
    """Return what Alembic has printed, as batches of which each looks first whether there is anything to do.

    It takes a database of any of these revisions, oldest first, to the last.
    """
    *former, newest = revisions
    statements = [_alone(batch) for batch in f"{printed}\n".split(_SEPARATOR)]
    batches = [f"{comment}{guarded(statement)}" for comment, statement in statements if statement]
    at = next(at for at, batch in enumerate(batches) if batch.startswith(_IF_NO_VERSION))
    batches[at + 1 : at + 1] = [_NEXT_VERSION.format(newest=newest, former=each) for each in former]
    tables = [name for _, statement in statements for name in _TABLE.findall(statement) if name != "alembic_version"]
    listed = ", ".join(f"N'{name}'" for name in tables)
    head = (
        _HEAD.replace("(settings)", SETTINGS)
        .replace("(revision)", newest)
        .replace("(tables)", listed)
        .replace("(revisions)", ", ".join(f"'{each}'" for each in revisions))
    )
    parts = [head, *(f"{batch}\nGO\n{_GO_ON}\nGO\n" for batch in batches), _FOOT]
    # A name of one part would also find what lies in dbo.
    return (
        "\n".join(parts)
        .replace("(version table)", _in_schema("alembic_version"))
        .replace("(first table)", _in_schema(tables[0]))
    )


def guarded(statement: str) -> str:
    """Put a condition before a statement, so that it is done only where it has not been done."""
    if table := _TABLE.match(statement):
        return f"IF {_in_schema(table[1])} IS NULL\n{statement}"
    if index := _INDEX.match(statement):
        name, table_name = index.groups()
        found = f"name = N'{name}' AND object_id = {_in_schema(table_name)}"
        return f"IF NOT EXISTS (SELECT 1 FROM sys.indexes WHERE {found})\n{statement}"  # noqa: S608 - our own names
    if column := _COLUMN.match(statement):
        return f"IF COL_LENGTH({_named(column[1])}, N'{column[2]}') IS NULL\n{statement}"
    if constraint := _CONSTRAINT.match(statement):
        return f"IF {_in_schema(constraint[1], 'C')} IS NULL\n{statement}"
    if version := _VERSION.match(statement):
        number = f"('{version[1]}')"
        return f"{_IF_NO_VERSION} VALUES {number};"
    if setting := _SETTING.match(statement):
        return f"IF NOT EXISTS (SELECT 1 FROM Setting WHERE Name = {setting[1]})\n{statement}"  # noqa: S608 - our own names
    if row := _ROW.match(statement):
        return f"IF NOT EXISTS (SELECT 1 FROM {row[1]})\n{statement}"  # noqa: S608 - our own names
    if _OVER_WHAT_IS_THERE.match(statement):
        # A view has to be alone in its batch.
        return statement
    message = f"no way is known to repeat: {statement}"
    raise NotImplementedError(message)


def _in_schema(name: str, kind: str = "U") -> str:
    """Write what finds a table, or a check (C), in the default schema, where a CREATE without a schema puts it."""
    return f"OBJECT_ID({_named(name)}, N'{kind}')"


def _named(name: str) -> str:
    return f"QUOTENAME(SCHEMA_NAME()) + N'.{name}'"


def _alone(batch: str) -> tuple[str, str]:
    """Return the comment on a statement, and the statement without what Alembic prints around it."""
    lines = [line.rstrip() for line in batch.splitlines() if not line.startswith(_RUNNING)]
    comment = [f"{line}\n" for line in lines if line.startswith("--")]
    statement = [line for line in lines if not line.startswith("--")]
    return "".join(comment), _BEGIN_OR_COMMIT.sub("", "\n".join(statement)).strip()


_SCRIPT = """\
-- A job of SQL Server Agent that keeps a controller of batchctl running: it is started every minute, and does not start
-- while it runs. Execute in SSMS or sqlcmd as a member of sysadmin, or of SQLAgentUserRole with a right to the proxy. Running it
-- again makes the job anew. The command runs on the host of SQL Server Agent, where batchctl has to be installed.
(variables)USE msdb;
GO
SET XACT_ABORT ON;
SET NOCOUNT ON;
BEGIN TRY
    BEGIN TRANSACTION;

    IF EXISTS (SELECT 1 FROM dbo.sysjobs WHERE name = (name))
    BEGIN
        EXEC dbo.sp_delete_job @job_name = (name), @delete_unused_schedule = 1;
    END;

    EXEC dbo.sp_add_job
        @job_name = (name),
        @description = N'Keeps the controller of batchctl running.',
        @enabled = 1;

    EXEC dbo.sp_add_jobstep
        @job_name = (name),
        @step_name = N'run',
        @subsystem = N'CmdExec',
        @command = (command),
        @cmdexec_success_code = 0,
        @on_success_action = 1,
        @on_fail_action = 2(proxy);

    EXEC dbo.sp_add_jobschedule
        @job_name = (name),
        @name = (schedule),
        @enabled = 1,
        @freq_type = 4,
        @freq_interval = 1,
        @freq_subday_type = 4,
        @freq_subday_interval = 1;

    EXEC dbo.sp_add_jobserver @job_name = (name), @server_name = N'(local)';

    COMMIT TRANSACTION;
END TRY
BEGIN CATCH
    -- The procedures of Agent refuse by RAISERROR, after which XACT_ABORT would go on.
    IF @@TRANCOUNT > 0 ROLLBACK TRANSACTION;
    THROW;
END CATCH;
GO"""


def agent_job(name: str, command: str, proxy: str | None, variables: Sequence[str]) -> str:
    """Return the script of a job of one step, which SQL Server Agent starts whenever it does not run."""
    needed = "" if not variables else f"-- It needs the system's environment variables {', '.join(variables)}.\n"
    filled = {
        "(variables)": needed,
        "(name)": _literal(name),
        "(schedule)": _literal(f"{name}: every minute"),
        "(proxy)": "" if proxy is None else f",\n        @proxy_name = {_literal(proxy)}",
        # Last, so that nothing in it is taken for a place to fill.
        "(command)": _literal(command),
    }
    script = _SCRIPT
    for place, text in filled.items():
        script = script.replace(place, text)
    return script


def _literal(text: str) -> str:
    return "N'" + text.replace("'", "''") + "'"
