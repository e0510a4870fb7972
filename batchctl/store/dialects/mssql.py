"""SQL Server 2017 and later, through pyodbc or mssql-python."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import URL
from sqlalchemy.pool import NullPool

from batchctl import __version__
from batchctl.domain.errors import DatabaseRefused, DatabaseUnreachable
from batchctl.domain.text import visible
from batchctl.store.dialects import UPGRADE_PATIENCE_SECONDS, Dialect
from batchctl.store.dialects import mssql_errors as errors
from batchctl.store.dialects.mssql_catalog import MODEL, definitions_in
from batchctl.store.dialects.mssql_compiler import write_for_sql_server
from batchctl.store.dialects.mssql_session import MssqlSession, ServerError, connect, driver_for
from batchctl.store.tables import metadata

OLDEST = 14
"""The major version of SQL Server 2017."""
LOOK_SECONDS = 1

_SETTINGS = (
    # The language sets the date format too, so it comes first.
    "SET LANGUAGE us_english; SET DATEFORMAT ymd;"
    " SET LOCK_TIMEOUT 5000; SET XACT_ABORT ON; SET NOCOUNT OFF; SET IMPLICIT_TRANSACTIONS OFF;"
    " SET DEADLOCK_PRIORITY LOW; SET TRANSACTION ISOLATION LEVEL READ COMMITTED;"
    # Filtered indexes can be written only with these.
    " SET ANSI_NULLS ON; SET QUOTED_IDENTIFIER ON; SET ANSI_PADDING ON; SET ANSI_WARNINGS ON; SET ARITHABORT ON;"
    " SET CONCAT_NULL_YIELDS_NULL ON; SET NUMERIC_ROUNDABORT OFF;"
)
"""Set on every connection, because a login, a server or a driver may have other ones."""
_NAME_SESSION = (
    "DECLARE @name varbinary(128) = CONVERT(varbinary(128), CONVERT(nvarchar(64), ?)); SET CONTEXT_INFO @name;"
)
"""The application's name is fixed when a session begins, and mssql-python fixes its own."""
_SERVER = (
    "SELECT CAST(PARSENAME(CAST(SERVERPROPERTY('ProductVersion') AS nvarchar(128)), 4) AS int),"
    " CAST(SERVERPROPERTY('EngineEdition') AS int),"
    " CAST(DATABASEPROPERTYEX(DB_NAME(), 'Updateability') AS nvarchar(128))"
)
_DURABILITY = "SELECT delayed_durability_desc FROM sys.databases WHERE database_id = DB_ID()"
_IN_AZURE = frozenset({5, 8})
"""Editions whose version number says nothing: they are always new enough."""

# A transaction left open would swallow the next COMMIT, so it is undone.
_BEGIN = (
    "IF @@TRANCOUNT > 0 ROLLBACK TRANSACTION; SET XACT_ABORT ON; SET TRANSACTION ISOLATION LEVEL READ COMMITTED;"
    " BEGIN TRANSACTION; SELECT SYSUTCDATETIME();"
)
_LOCK_ROW = "SELECT 1 FROM {table} WITH (UPDLOCK, ROWLOCK) WHERE {table}_id = ?;"
_LOCK_ROWS = "SELECT {table}_id FROM {table} WITH (UPDLOCK, ROWLOCK, READPAST) WHERE {table}_id IN ({marks});"
_FREE_INSTANCES = (
    "SELECT c.BatchControl_id FROM BatchControl AS c WITH (UPDLOCK, ROWLOCK, READPAST)"
    " JOIN FileProcess AS f WITH (UPDLOCK, ROWLOCK, READPAST) ON f.FileProcess_id = c.FileProcess_id"
    " WHERE c.BatchControl_id IN ({marks});"
)
# Where the server keeps versions of rows, a reader waits for a writer only with this hint.
_OUTLAST = "SELECT COUNT(*) FROM BatchProcessHistory WITH (READCOMMITTEDLOCK) WHERE Status = 'running';"
_COMMIT = (
    f"IF @@TRANCOUNT <> 1 THROW {errors.NOT_ONE_TRANSACTION}, N'the transaction had ended before its commit', 1;"
    " COMMIT TRANSACTION;"
)
_ROLLBACK = "IF @@TRANCOUNT > 0 ROLLBACK TRANSACTION;"
# With XACT_ABORT any error ends the whole transaction, and there would be no part left to undo.
_BEGIN_PART = "SET XACT_ABORT OFF; SAVE TRANSACTION part;"
_UNDO_PART = "IF XACT_STATE() = 1 ROLLBACK TRANSACTION part; SELECT XACT_STATE();"
_END_PART = "SET XACT_ABORT ON;"
# Nothing on this server tells a session cheaply that another has committed: a rowversion is given out before the commit
# and moves with one's own writes too, triggers would forbid OUTPUT on yet more tables, change tracking is the DBA's to
# switch on. So everything counts as changed once in a while, and each controller reads a few small tables again.
_MARKER = f"SELECT @@SPID, DATEDIFF(second, '20200101', SYSUTCDATETIME()) / {LOOK_SECONDS}"

_GET_LOCK = (
    " DECLARE @got int; EXEC @got = sp_getapplock @Resource = @lock, @LockMode = 'Exclusive',"
    " @LockOwner = 'Session', @LockTimeout = {}; SELECT @got;"
)
_LOCK_SCHEMA = "DECLARE @lock nvarchar(255) = N'batchctl schema ' + SCHEMA_NAME();" + _GET_LOCK.format(
    UPGRADE_PATIENCE_SECONDS * 1000
)
_LOCK_NAME = (
    "DECLARE @lock nvarchar(255) = N'batchctl ' + SCHEMA_NAME() + N' ' + ?;"
    " DECLARE @got int; EXEC @got = sp_getapplock @Resource = @lock, @LockMode = 'Exclusive',"
    " @LockOwner = 'Transaction', @LockTimeout = 100; SELECT @got;"
)
_NOT_GRANTED = {-2: "the request was cancelled", -3: "it was the victim of a deadlock", -999: "the request was refused"}
_NAMED = re.compile(
    r"(\b(?:CREATE TABLE|ALTER TABLE|REFERENCES|INSERT INTO) |\bCREATE (?:UNIQUE )?INDEX \[\w+\] ON )(?=\w+ )"
)
_MAY_NOT_CHECK = frozenset({2557, 2571, 7983})
_MOST_FINDINGS = 100
_NOT_CHECKED = (
    "the constraints were not looked at, because only db_owner, db_ddladmin and sysadmin may run DBCC CHECKCONSTRAINTS;"
    " let a DBA run batchctl check --constraints"
)


# The server refuses a login that may not see other sessions, and with XACT_ABORT that ends the transaction. Servers
# before 2022 do not know its right: they answer NULL.
_MAY_SEE_SESSIONS = (
    "SELECT CASE WHEN 1 IN (HAS_PERMS_BY_NAME(NULL, NULL, 'VIEW SERVER STATE'),"
    " HAS_PERMS_BY_NAME(NULL, NULL, 'VIEW SERVER PERFORMANCE STATE')) THEN 1 ELSE 0 END"
)
_BLOCKER = """
SELECT TOP 1 s.session_id, s.program_name, s.login_name, s.host_name,
       CONVERT(varchar(8), DATEADD(minute, DATEDIFF(minute, SYSDATETIME(), SYSUTCDATETIME()), a.transaction_begin_time), 108)
FROM sys.dm_tran_locks AS l
JOIN sys.dm_exec_sessions AS s ON s.session_id = l.request_session_id
JOIN sys.dm_tran_session_transactions AS t ON t.session_id = s.session_id
JOIN sys.dm_tran_active_transactions AS a ON a.transaction_id = t.transaction_id
WHERE l.resource_database_id = DB_ID() AND l.request_status = 'GRANT' AND l.request_session_id <> @@SPID
AND l.resource_type IN ('OBJECT', 'PAGE', 'KEY', 'RID') AND l.request_mode NOT IN ('Sch-S', 'IS', 'S')
ORDER BY a.transaction_begin_time
"""


class MssqlDialect(Dialect):
    """A SQL Server."""

    def create(self, url: URL, directory: Path, *, may_create: bool, renewed: Callable[[], URL]) -> Engine:
        """Return an engine for the database, which must exist."""
        driver, url = driver_for(url)
        options: dict[str, Any] = {}
        if "tds" in str(url.query.get("driver", "")).lower():
            options["use_setinputsizes"] = False  # FreeTDS cuts long texts whose size was set.

        def opened() -> MssqlSession:
            _, now = driver_for(renewed())
            session = connect(driver, now, _place(now))
            try:
                _greet(session)
            except BaseException:
                session.close()
                raise
            return session

        engine = create_engine(
            url,
            module=driver,
            creator=opened,
            poolclass=NullPool,
            isolation_level="AUTOCOMMIT",
            paramstyle="qmark",
            **options,
        )
        write_for_sql_server(engine.dialect)
        return engine

    def place_of(self, engine: Engine) -> str:
        """Name an engine's database, without any password."""
        return _place(engine.url)

    def lock_schema(self, connection: Connection) -> bool:
        """Wait until no other connection changes the schema, and keep others from it as long as this one lives.

        Its statements may take any time: one may make an index over millions of attempts.
        """
        _session(connection).raw.timeout = 0
        return _is_granted(_session(connection), _LOCK_SCHEMA, "the lock of the schema")

    def begin_write(
        self,
        connection: Connection,
        *,
        nowait: bool = False,
        optimistic: bool = False,
        tell: Callable[[datetime], None] | None = None,
    ) -> None:
        """Begin a transaction and call `tell` with the server's time."""
        now: datetime = _session(connection).execute(_BEGIN).fetchone()[0]
        if tell is not None:
            tell(now.replace(tzinfo=UTC))

    def commit(self, connection: Connection) -> None:
        """Commit what `begin_write` began."""
        _session(connection).execute(_COMMIT)

    def rollback(self, connection: Connection) -> None:
        """Undo what `begin_write` began; never raises, so that the error that led here stays the one that is reported."""
        session: Any = connection.connection.dbapi_connection
        if session is None or not session.is_open:
            return
        try:
            session.execute(_ROLLBACK)
        except ServerError as error:
            if error.number not in errors.ALREADY_OVER:
                # The server undoes what a session leaves behind.
                with suppress(session.driver.Error):
                    session.close()

    def lock_row(self, connection: Connection, table: str, row_id: int) -> None:
        """Lock a row until the end of the transaction, waiting while another has it."""
        _session(connection).execute(_LOCK_ROW.format(table=table), [row_id]).fetchall()

    def ask(self, connection: Connection, statement: str, values: Sequence[object]) -> Callable[[], Sequence[Any]]:
        """Ask at once: the driver takes one statement after the other."""
        rows = _session(connection).execute(statement, list(values)).fetchall()
        return lambda: rows

    def lock_rows(self, connection: Connection, table: str, row_ids: Sequence[int]) -> Callable[[], Collection[int]]:
        """Lock rows without waiting for locks that others hold; return a function that returns those locked by this one."""
        asking = _LOCK_ROWS.format(table=table, marks=", ".join("?" * len(row_ids)))
        free = {row[0] for row in _session(connection).execute(asking, list(row_ids)).fetchall()}
        return lambda: free

    def lock_name(self, connection: Connection, name: str) -> bool:
        """Lock a name until the end of the transaction; false when another has it for longer than a moment."""
        (code,) = _session(connection).execute(_LOCK_NAME, [name]).fetchone()
        return code in {0, 1}

    def begin_part(self, connection: Connection) -> None:
        """Begin a part of a transaction that may be undone alone."""
        _session(connection).execute(_BEGIN_PART)

    def undo_part(self, connection: Connection) -> None:
        """Undo the part; raises when the server has given up the whole transaction, as it does for errors in triggers."""
        (state,) = _session(connection).execute(_UNDO_PART).fetchone()
        if state != 1:
            # No ServerError: a caller that isolates rows would go on, and the server would commit each statement by itself.
            raise _refused(
                "gave up a whole transaction over an error in one row, as it does for errors in triggers",
                "look for triggers on the tables of batchctl that raise errors",
            )

    def end_part(self, connection: Connection) -> None:
        """Make the part one with its transaction: here a part is not released, only forgotten."""
        _session(connection).execute(_END_PART)

    def session(self, connection: Connection) -> object:
        """Name no session: only a DBA can allow to see or to end those of others."""
        return True

    def end_session(self, connection: Connection, lost: object) -> None:
        """Wait for sessions that are about to commit how an attempt begins or ends: what they have written is locked."""
        _session(connection).execute(_OUTLAST).fetchall()

    def change_marker(self, connection: Connection) -> object:
        """Return what differs every few seconds, when the caller should look at the tables itself."""
        return tuple(_session(connection).execute(_MARKER).fetchone())

    def ways_to_notice(self, connection: Connection) -> tuple[None, float]:
        """Ask for the marker, not much more often than it moves."""
        return None, LOOK_SECONDS / 10

    def is_transient(self, error: BaseException) -> bool:
        """Say whether running the whole transaction again may succeed."""
        return isinstance(error, ServerError) and error.number in errors.TRANSIENT

    def is_lost(self, error: BaseException) -> bool:
        """Say whether the connection is gone, or as good as gone."""
        if not isinstance(error, ServerError) or self.is_transient(error):
            return False
        return error.number in errors.LOST or error.state.startswith(errors.LOST_STATES)

    def is_about_the_database(self, error: BaseException) -> bool:
        """Say whether an error concerns the database as a whole, not a row."""
        return isinstance(error, ServerError) and (self.is_lost(error) or error.number in errors.REFUSED_BECAUSE)

    def database_refused(self, error: BaseException, where: str) -> DatabaseRefused:
        """Explain an error that concerns the database as a whole."""
        if isinstance(error, DatabaseRefused):
            return error
        number = error.number if isinstance(error, ServerError) else None
        if number in errors.REFUSED_BECAUSE:
            message = f"The control database {where} {errors.REFUSED_BECAUSE[number]}: {error}."
            return DatabaseRefused(message, next_step=errors.NEXT_STEPS.get(number))
        return DatabaseUnreachable(f"The control database {where} cannot be reached: {error}.")

    def blocker(self, connection: Connection, instance_id: int | None = None) -> tuple[str, str] | None:
        """Name the session whose transaction has locked rows of this database longest; none where others may not be seen."""
        (may_see,) = _session(connection).execute(_MAY_SEE_SESSIONS).fetchone()
        if not may_see:
            return None
        found = _session(connection).execute(_BLOCKER).fetchone()
        if found is None:
            return None
        number, program, login, host, since = found
        said = visible(f"{program}, {login} on {host}, transaction open since {since} UTC")
        return f"session {number} ({said})", f"KILL {number}"

    def locked_instances(self, connection: Connection, instance_ids: Sequence[int]) -> Collection[int]:
        """Lock the rows of instances and of their intake; return those that others have locked."""
        asking = _FREE_INSTANCES.format(marks=", ".join("?" * len(instance_ids)))
        free = {row[0] for row in _session(connection).execute(asking, list(instance_ids)).fetchall()}
        return set(instance_ids) - free

    def numbered(self, table: str, insert: str) -> str:
        """Let the INSERT give the id: the server accepts it only so, from users that may alter the table (error 544)."""
        return f"SET IDENTITY_INSERT {table} ON; {insert}; SET IDENTITY_INSERT {table} OFF"

    def long_read(self, connection: Connection) -> AbstractContextManager[None]:
        """Do nothing: the server reads ahead by itself."""
        return nullcontext()

    def is_locked_intake(self, connection: Connection, intake_id: int, batch_ids: Sequence[int]) -> bool:
        """Return false once the row is locked by this transaction: an instance locks its batches by itself."""
        self.lock_row(connection, "FileProcess", intake_id)
        return False

    def constraint_findings(self, connection: Connection, *, at_length: bool) -> list[str]:
        """Return what breaks the constraints, at length only; or that this login may not look, for which DBCC wants a role."""
        session, found = _session(connection), list[str]()
        if not at_length:
            return found
        timeout, session.raw.timeout = session.raw.timeout, 0
        try:
            for table in metadata.tables:
                check = f"DBCC CHECKCONSTRAINTS (N'{table}') WITH ALL_CONSTRAINTS, NO_INFOMSGS"
                rows = session.execute(check).fetchall()
                found += [visible(f"{row[0]}: a row with {row[2]} breaks {row[1]}") for row in rows]
        except ServerError as error:
            if error.number not in _MAY_NOT_CHECK:
                raise
            return [_NOT_CHECKED]
        finally:
            session.raw.timeout = timeout
        return found[:_MOST_FINDINGS]

    def definitions(self, connection: Connection) -> dict[str, str]:
        """Return how everything in the user's default schema is defined, by name."""
        return definitions_in(_session(connection), "SCHEMA_NAME()")

    def wanted_definitions(self, connection: Connection, make: Callable[[Connection], None]) -> dict[str, str]:
        """Return the definitions of what `make` makes: in a schema of its own, which is forgotten at once."""
        elsewhere = connection.engine.execution_options(schema_translate_map={None: MODEL})
        with elsewhere.connect() as scratch:
            event.listen(scratch, "before_cursor_execute", _alter_in_the_model, retval=True)
            self.begin_write(scratch)
            try:
                _session(scratch).execute(f"EXEC (N'CREATE SCHEMA {MODEL}')")
                make(scratch)
                return definitions_in(_session(scratch), f"N'{MODEL}'")
            finally:
                self.rollback(scratch)


DIALECT = MssqlDialect()


def _place(url: URL) -> str:
    if url.host is None:
        return "of the ODBC source in database_url"
    return visible(f"{url.database or 'of the login'} on {url.host}:{url.port or 1433}")


def _greet(session: MssqlSession) -> None:
    """Set what the session needs; refuse a server that is too old, read-only, or delays the durability of commits."""
    session.execute(_SETTINGS)
    session.execute(_NAME_SESSION, [f"batchctl/{__version__}"])
    version, edition, updateability = session.execute(_SERVER).fetchone()
    if version < OLDEST and edition not in _IN_AZURE:
        raise _refused(f"lives on a SQL Server of version {version}", "use SQL Server 2017 (version 14) or later")
    if updateability != "READ_WRITE":
        raise _refused(
            "is read-only, or the secondary of an availability group",
            errors.NEXT_STEPS[3906] + "; or set it READ_WRITE",
        )
    if session.execute(_DURABILITY).fetchone()[0] == "FORCED":
        raise _refused(
            "delays the durability of every commit, so that a power failure would lose some",
            "let a DBA do: ALTER DATABASE CURRENT SET DELAYED_DURABILITY = ALLOWED",
        )


def _refused(reason: str, next_step: str) -> DatabaseRefused:
    return DatabaseRefused(f"The control database {reason}.", next_step=next_step)


def _is_granted(session: MssqlSession, asking: str, lock: str) -> bool:
    (code,) = session.execute(asking).fetchone()
    if code in {0, 1}:
        return True
    if code == -1:
        return False
    reason = _NOT_GRANTED.get(code, "it gave no reason")
    raise _refused(f"did not grant {lock}: {reason} (sp_getapplock returned {code})", "try again")


def _alter_in_the_model(
    _connection: Connection, _cursor: object, statement: str, parameters: object, _context: object, _many: object
) -> tuple[str, object]:
    """Name the schema in what migrations write as text: without it the real tables would be altered."""
    return _NAMED.sub(rf"\1{MODEL}.", statement), parameters


def _session(connection: Connection) -> MssqlSession:
    session: MssqlSession = connection.connection.dbapi_connection  # type: ignore[assignment] # what `create` gave SQLAlchemy
    return session
