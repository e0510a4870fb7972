"""The populator `procedure`: `s_PopulateBatchControl_<ProcessBatchName>` returns the one row that fills an instance.

It is asked on the control database, or on the connection that PopulatorArgs names, and may only look: it is asked again
after a crash, and by a dry run. PostgreSQL has a function and SQL Server a procedure of that name; SQLite has a file
of that name in the connection's `procedures`. It is given FileProcess_id, Entity, FileName, Data and CycleKey, and returns
any of the columns Data1 to Data6 and CycleKey.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from typing import Any, ClassVar

from batchctl.plugin_api import (
    BatchDefinition,
    CannotPopulate,
    Connection,
    DataValues,
    Finding,
    IntakeRow,
    Populated,
    StepContext,
    StepRefused,
    did_you_mean,
    passwords_in,
    redacted,
    visible,
)
from step_handlers import _procedure_files, _sql_steps
from step_handlers._databases import database_of
from step_handlers.databases import _sql_text
from step_handlers.databases._database import ConnectionRefused, Script
from step_handlers.databases._sqlite import BUSY_SECONDS, file_of
from step_handlers.databases._statements import MalformedSql
from step_handlers.postgres import _psql
from step_handlers.sqlserver import _mssql_driver, _tsql

_DATA = tuple(f"Data{at}" for at in range(1, 7))
_FILLED = (*_DATA, "CycleKey")
_GIVEN = ("FileProcess_id", "Entity", "FileName", "Data", "CycleKey")
_NO_FILE_NAME = re.compile(r"[/\\:*?\"<>|\x00-\x1f]")
_FIND_FUNCTION = (
    "SELECT DISTINCT n.nspname, p.proname FROM pg_catalog.pg_proc AS p "
    "JOIN pg_catalog.pg_namespace AS n ON n.oid = p.pronamespace WHERE p.prokind = 'f' "
    "AND pg_catalog.pg_function_is_visible(p.oid) AND lower(p.proname::text) = lower(%s::name::text)"
)
_SELECT = "SELECT * FROM"
_ARGUMENTS = "(%s::bigint, %s::text, %s::text, %s::text, %s::text)"
"""Passed by position: the columns that a function returns may not be called like its parameters."""

Answer = tuple[Sequence[str], Sequence[Sequence[Any]]]
"""The names of the columns, and at most two rows."""


class ProcedurePopulator:
    """Fills an instance from what a procedure returns."""

    name: ClassVar[str] = "procedure"

    def check(self, batch: BatchDefinition) -> Sequence[Finding]:
        """Return what is wrong with the row alone."""
        if batch.populator_on is None:
            return []
        return [Finding("PopulatorOn", "it says what `pattern` searches; a procedure is given all of the row")]

    def check_from(self, batch: BatchDefinition, context: StepContext) -> Sequence[Finding]:
        """Look at the connection, and on SQLite at the file."""
        connection = _connection(batch, context)
        if connection is None:
            name = _named(batch)
            message = (
                f"connection '{visible(name)}' is not in the configuration.{did_you_mean(name, context.connections)}"
            )
            return [Finding("PopulatorArgs", message)]
        try:
            database_of(connection)
            if connection.dialect == "sqlite":
                _file(batch, connection, context)
        except (ConnectionRefused, CannotPopulate) as error:
            remedy = "make what is missing, or correct the row"
            return [Finding("PopulatorArgs" if _named(batch) else "Populator", str(error), remedy)]
        if context.control is connection:
            return []
        return _sql_steps.lacking("PopulatorArgs", connection, context)

    def populate(self, row: IntakeRow, batch: BatchDefinition) -> Populated:
        """Refuse: without a database no procedure can be asked."""
        raise CannotPopulate(f"{_procedure(batch)} cannot be asked here: FileProcess {row.intake_id} has no database")

    def populate_from(self, row: IntakeRow, batch: BatchDefinition, context: StepContext) -> Populated:
        """Ask the procedure for the one row."""
        connection = _connection(batch, context)
        if connection is None:
            raise CannotPopulate(
                f"connection '{visible(_named(batch))}' is not in the configuration; correct PopulatorArgs"
            )
        given = (row.intake_id, row.entity, row.file_name, row.data, row.cycle_key)
        try:
            database_of(connection)
            answer = _ASKED[connection.dialect](batch, connection, dict(zip(_GIVEN, given, strict=True)), context)
        except CannotPopulate:
            raise
        except ConnectionRefused as error:
            raise CannotPopulate(str(error)) from None
        except Exception as error:  # noqa: BLE001 - drivers raise anything, and their messages may hold a password
            said = redacted(" ".join(str(error).split()), passwords_in(connection.url))
            raise CannotPopulate(f"{_procedure(batch)} failed: {visible(said)}") from None
        return _populated(_procedure(batch), answer)


def _procedure(batch: BatchDefinition) -> str:
    return visible(batch.populating_procedure or "")


def _named(batch: BatchDefinition) -> str:
    return (batch.populator_args or "").strip()


def _connection(batch: BatchDefinition, context: StepContext) -> Connection | None:
    name = _named(batch)
    return context.connections.get(name) if name else context.control


def _populated(procedure: str, answer: Answer) -> Populated:
    columns, rows = answer
    if len(rows) != 1:
        many = "no row" if not rows else "more than one row"
        raise CannotPopulate(
            f"{procedure} returned {many}; let it return exactly one for each FileProcess row it is asked about"
        )
    known = {name.lower(): name for name in _FILLED}
    values: dict[str, str | None] = {}
    for column, value in zip(columns, rows[0], strict=True):
        name = known.get(column.lower())
        if name is None:
            hint = did_you_mean(column, _FILLED) or f" It may return {', '.join(_FILLED)}."
            raise CannotPopulate(f"{procedure} returned the column '{visible(column)}', which fills nothing.{hint}")
        if name in values:
            raise CannotPopulate(f"{procedure} returned the column {name} twice; leave one of them out")
        if isinstance(value, (bytes, bytearray, memoryview)):
            raise CannotPopulate(f"{procedure} returned bytes in {name}; convert them to text")
        values[name] = None if value is None else str(value)
    one, two, three, four, five, six = (values.get(name) for name in _DATA)
    data: DataValues = (one, two, three, four, five, six)
    return Populated(data=data, cycle_key=values.get("CycleKey"))


def _file(batch: BatchDefinition, connection: Connection, context: StepContext) -> tuple[Script, Mapping[str, str]]:
    """Read the file that stands for the procedure, and which parameters it uses."""
    procedure = _procedure(batch)
    if _NO_FILE_NAME.search(procedure):
        raise CannotPopulate(f"no file can be called {procedure}.sql; rename the batch, or use a populator of your own")
    if connection.procedures is None:
        message = f"connection '{visible(connection.name)}' has no procedures; set its key procedures to a folder of .sql files"
        raise CannotPopulate(message)
    path = f"{connection.procedures}/{procedure}.sql"
    try:
        script, wanted = _procedure_files.parsed(context.read_text(path))
    except (StepRefused, MalformedSql) as error:
        said = error.message if isinstance(error, StepRefused) else f"{path}: {error}"
        raise CannotPopulate(f"{procedure} cannot be asked: {said.rstrip('.')}; write its SELECT into {path}") from None
    known = {name.lower() for name in _GIVEN}
    strange = [name for lower, name in wanted.items() if lower not in known]
    if strange:
        raise CannotPopulate(f"{path}: there is no parameter :{strange[0]}; use :{', :'.join(_GIVEN)}")
    return script, wanted


def _ask_sqlite(
    batch: BatchDefinition, connection: Connection, given: Mapping[str, Any], context: StepContext
) -> Answer:
    script, wanted = _file(batch, connection, context)
    missing = database_of(connection).missing(connection, context.directory)
    if missing is not None:
        raise CannotPopulate(missing)
    by_lower = {name.lower(): value for name, value in given.items()}
    values = {name: by_lower[lower] for lower, name in wanted.items()}
    place = _sql_text.uri(file_of(connection, context.directory))
    columns: Sequence[str] = ()
    rows: list[Sequence[Any]] = []
    with closing(sqlite3.connect(place, uri=True, timeout=BUSY_SECONDS, isolation_level=None)) as opened:
        for statement in script.before:
            opened.execute(statement.sql)
        opened.execute("PRAGMA query_only = ON")
        opened.execute("BEGIN")
        for statement in script.inside:
            cursor = opened.execute(statement.sql, {name: values[name] for name in statement.names})
            if cursor.description:
                columns, rows = [each[0] for each in cursor.description], cursor.fetchmany(2)
    return columns, rows


def _ask_postgres(
    batch: BatchDefinition, connection: Connection, given: Mapping[str, Any], context: StepContext
) -> Answer:
    del context
    import psycopg  # noqa: PLC0415 - an extra, not installed where PostgreSQL is not used

    from step_handlers.postgres._postgres_session import connect  # noqa: PLC0415 - needs it

    with closing(connect(connection)) as opened:
        with suppress(psycopg.Error):  # PostgreSQL before 14, and some systems, have no such setting.
            # A process that takes too long is killed: its session then ends too.
            opened.execute("SET client_connection_check_interval = '1s'")
        opened.execute("BEGIN READ ONLY")
        found = opened.execute(_FIND_FUNCTION, (batch.populating_procedure,)).fetchall()
        if len(found) != 1:
            raise CannotPopulate(_not_one(batch, connection, len(found)))
        called = ".".join(_psql.identifier(part) for part in found[0])
        asked = f"{_SELECT} {called}{_ARGUMENTS}"
        cursor = opened.execute(asked, tuple(given.values()))
        return [each.name for each in cursor.description or ()], cursor.fetchmany(2)


def _ask_sql_server(
    batch: BatchDefinition, connection: Connection, given: Mapping[str, Any], context: StepContext
) -> Answer:
    del context
    called = _tsql.identifier(batch.populating_procedure or "")
    with closing(_mssql_driver.open_session(connection).opened) as opened:
        opened.autocommit = False
        cursor = opened.cursor()
        if cursor.execute("SELECT OBJECT_ID(?)", (called,)).fetchone()[0] is None:
            raise CannotPopulate(_not_one(batch, connection, 0))
        cursor.execute(f"EXEC {called} {', '.join(f'@{name} = ?' for name in given)}", tuple(given.values()))
        while cursor.description is None and cursor.nextset():
            pass
        if cursor.description is None:
            return (), ()
        answer = [each[0] for each in cursor.description], cursor.fetchmany(2)
        opened.rollback()
        return answer


def _not_one(batch: BatchDefinition, connection: Connection, count: int) -> str:
    procedure, where = _procedure(batch), visible(connection.name)
    if count:
        return f"{where}: {count} functions are called {procedure}, in upper or lower case or in several schemas; leave one"
    kind = "function" if connection.dialect == "postgresql" else "procedure"
    return f"{where}: there is no {kind} {procedure} that its user can call; make it, let it take {', '.join(_GIVEN)}"


_ASKED = {"sqlite": _ask_sqlite, "postgresql": _ask_postgres, "mssql": _ask_sql_server}
