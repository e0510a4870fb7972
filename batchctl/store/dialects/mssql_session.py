"""Sessions of SQL Server: pyodbc and mssql-python made alike.

Both drivers stop at the first result of a statement, and raise what goes wrong behind it only when a caller goes on: a
foreign key broken by `INSERT ... OUTPUT` comes after the row. So a cursor here reads everything at once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import Any

from sqlalchemy.engine import URL

from batchctl import __version__
from batchctl.domain import urls
from batchctl.domain.errors import ConfigurationError, DatabaseRefused, DatabaseUnreachable
from batchctl.domain.sqlstates import sqlstate_behind
from batchctl.domain.text import visible

LOGIN_SECONDS = 10
STATEMENT_SECONDS = 60

_MODULES = {"pyodbc": "pyodbc", "mssqlpython": "mssql_python"}
_ODBC_DRIVERS = ("ODBC Driver 18 for SQL Server", "ODBC Driver 17 for SQL Server")
_BOTH = (
    "pip install 'batchctl[sqlserver]' and install Microsoft's ODBC Driver 18 for SQL Server,"
    " or pip install 'batchctl[sqlserver-bundled]', which needs no ODBC"
)
_FIXES = {
    "pyodbc": "pip install 'batchctl[sqlserver]' and install an ODBC driver manager",
    "mssqlpython": "pip install 'batchctl[sqlserver-bundled]'",
}
_OWN_NUMBER = re.compile(r"\((\d+)\) \(SQL\w+\)(?=; \[|\Z)")
_PREFIX = re.compile(r"\A(?:\[[^\]]*\] ?)+")
_NUMBER_OF_STATE = {"40001": 1205, "42S02": 208}
"""What stands for a number that is not known."""
_ERROR, _COUNT = "batchctl_error", "batchctl_count"
_TELLING = (
    "BEGIN TRY\n{}\n;SELECT @@ROWCOUNT AS batchctl_count;\nEND TRY\n"
    "BEGIN CATCH\nSELECT ERROR_NUMBER() AS batchctl_error;\nTHROW;\nEND CATCH;"
)
"""mssql-python has no way to the number of an error, and counts only the first result: the batch itself tells both."""
_MARK = re.compile(r"'(?:[^']|'')*'|\[[^\]]*\]|--[^\n]*|\?")
"""A mark for a value, or what a `?` may stand in without being one."""
_NULL = "CAST(NULL AS nvarchar(4000))"
"""With a type, because COALESCE and CASE refuse to choose among NULLs that have none; it fits into every column there is."""
_ALONE = re.compile(r"\s*CREATE (OR ALTER )?(VIEW|TRIGGER|SCHEMA)\b")


class ServerError(Exception):
    """What a driver raised: the number and SQLSTATE, whatever the driver; `number` is None when only the state is known."""

    def __init__(self, text: str, *, number: int | None = None, state: str = "") -> None:
        """Keep what is known."""
        number = _NUMBER_OF_STATE.get(state) if number is None else number
        super().__init__(text if number is None else f"{text} (error {number})")
        self.text, self.number, self.state = text, number, state


class MssqlSession:
    """A driver's connection, as far as the store uses one."""

    def __init__(self, driver: Any, raw: Any) -> None:
        """Wrap an open connection."""
        self.driver, self.raw = driver, raw
        self.autocommit = True
        self.is_open = True

    def cursor(self) -> DrainingCursor:
        """Return a cursor."""
        return DrainingCursor(self)

    def execute(self, sql: str, parameters: Sequence[object] = ()) -> DrainingCursor:
        """Execute in a cursor of its own, which has read everything and may be forgotten."""
        cursor = self.cursor()
        try:
            return cursor.execute(sql, parameters)
        finally:
            cursor.close()

    def commit(self) -> None:
        """Do nothing: transactions are begun and ended in SQL, by the store alone."""

    def rollback(self) -> None:
        """Do nothing: transactions are undone in SQL, by the store alone."""

    def close(self) -> None:
        """End the session; the server undoes what was not committed, and lets go of the session's locks."""
        # SQLAlchemy closes once more what a rollback has closed.
        if self.is_open:
            self.is_open = False
            self.raw.close()

    def __getattr__(self, name: str) -> Any:
        """Leave what only SQLAlchemy asks of one driver to that driver."""
        return getattr(self.raw, name)


class DrainingCursor:
    """Executes a statement to its very end, so that an error behind the first result is raised; keeps its rows."""

    arraysize = 1

    def __init__(self, session: MssqlSession) -> None:
        """Open nothing yet."""
        self._session = session
        self._raw: Any = None
        self._rows: Iterator[Any] = iter(())
        self._number: int | None = None
        self._sizes: Sequence[Any] = ()
        self.description: Any = None
        self.rowcount = -1

    def setinputsizes(self, sizes: Sequence[Any]) -> None:
        """Say which types the parameters of the next statement have."""
        self._sizes = sizes

    def execute(self, sql: str, parameters: Sequence[object] = ()) -> DrainingCursor:
        """Execute a statement or a batch; the rows are those of its first result that has any."""
        driver, sizes = self._session.driver, self._sizes
        self._sizes = ()
        if None in parameters:
            sizes = [size for size, value in zip(sizes, parameters, strict=False) if value is not None]
            sql, parameters = _with_typed_nulls(sql, parameters)
        text = sql if driver.__name__ == "pyodbc" else _TELLING.format(_part_of_a_batch(sql))
        try:
            if sizes:
                self._opened().setinputsizes(sizes)
            self._opened().execute(text, *([tuple(parameters)] if parameters else []))
            self._read()
        except driver.Error as error:
            raise error_of(error, self._number) from error
        return self

    def executemany(self, sql: str, rows: Sequence[Sequence[object]]) -> DrainingCursor:
        """Execute a statement for each of some rows."""
        for row in rows:
            self.execute(sql, row)
        return self

    def fetchone(self) -> Any:
        """Return the next row."""
        return next(self._rows, None)

    def fetchmany(self, size: int | None = None) -> list[Any]:
        """Return the next rows."""
        return [row for _, row in zip(range(size or self.arraysize), self._rows, strict=False)]

    def fetchall(self) -> list[Any]:
        """Return all rows that are left."""
        return list(self._rows)

    def nextset(self) -> bool:
        """Return false: nothing is left behind the first result, as all has been read."""
        return False

    def close(self) -> None:
        """Give the driver's cursor back; what was read stays."""
        raw, self._raw = self._raw, None
        if raw is not None and self._session.is_open:
            raw.close()

    def _opened(self) -> Any:
        if not self._session.is_open:
            raise ServerError("the session has been closed", state="08003")
        if self._raw is None:
            self._raw = self._session.raw.cursor()
        return self._raw

    def _read(self) -> None:
        self._rows, self._number, self.description, self.rowcount = iter(()), None, None, -1
        while True:
            if self._raw.description is None:
                # The count of a statement comes behind those of its triggers; that of mssql-python's batch behind all.
                self.rowcount = self._raw.rowcount if self._raw.rowcount >= 0 else self.rowcount
            else:
                self._keep([column[0] for column in self._raw.description])
            if not self._raw.nextset():
                return

    def _keep(self, names: list[str]) -> None:
        description, rows = self._raw.description, self._raw.fetchall()
        if names == [_ERROR]:
            self._number = int(rows[0][0])
        elif names == [_COUNT]:
            self.rowcount = int(rows[0][0])
        elif self.description is None:
            self.description, self._rows = description, iter(rows)


def _with_typed_nulls(sql: str, parameters: Sequence[object]) -> tuple[str, list[object]]:
    """Write NULLs into the statement: for one that is bound, drivers ask the server for its type, in the transaction.

    Where the server cannot tell, that ends the transaction, and no error shows it before the commit.
    """
    values, kept = iter(parameters), list[object]()

    def fill(found: re.Match[str]) -> str:
        if found[0] != "?":
            return found[0]
        value = next(values)
        if value is None:
            return _NULL
        kept.append(value)
        return "?"

    return _MARK.sub(fill, sql), kept


def _part_of_a_batch(sql: str) -> str:
    """Return a statement as others may stand beside it: what makes a view or a trigger must be the first in its batch."""
    return "EXEC (N'{}')".format(sql.replace("'", "''")) if _ALONE.match(sql) else sql


def error_of(error: Exception, number: int | None = None) -> ServerError:
    """Read what a driver raised; `number` is that of the error which the batch reported."""
    words = getattr(error, "driver_error", None)
    if words is not None:
        text = str(getattr(error, "ddbc_error", "") or words)
        return ServerError(visible(_PREFIX.sub("", text)), number=number, state=sqlstate_behind(words))
    state, text = (str(error.args[0]), str(error.args[1])) if len(error.args) == 2 else ("", str(error))
    # The driver adds the number behind the text, in which anything may stand: the value of a row, for instance.
    numbers = _OWN_NUMBER.findall(text)
    plain = _PREFIX.sub("", text).partition("; [")[0]
    plain = re.sub(r" \(\d+\) \(SQL\w+\)\Z", "", plain)
    return ServerError(visible(plain), number=int(numbers[-1]) if numbers else number, state=state)


def driver_for(url: URL) -> tuple[Any, URL]:
    """Return the driver's module for a URL, and the URL with the driver in its name."""
    asked = url.drivername.partition("+")[2]
    if asked and asked not in _MODULES:
        message = f"The setting database_url asks for {visible(asked)}, with which batchctl does not work."
        raise ConfigurationError(message, next_step="write mssql+pyodbc:// or mssql+mssqlpython://")
    if asked == "mssqlpython":
        return _imported(asked), url.set(drivername="mssql+mssqlpython")
    needs_none = "driver" in url.query or "odbc_connect" in url.query or not url.database
    if asked:
        driver = _imported(asked)
        if needs_none:
            return driver, url.set(drivername="mssql+pyodbc")
        if found := _odbc_driver(driver):
            return driver, _with_driver(url, found)
        message = "Microsoft's ODBC driver for SQL Server is not installed."
        raise ConfigurationError(message, next_step=_BOTH)
    return _whichever(url, needs_none=needs_none)


def _whichever(url: URL, *, needs_none: bool) -> tuple[Any, URL]:
    """Take pyodbc where it has a driver, or else what needs none."""
    try:
        driver = import_module("pyodbc")
        if needs_none:
            return driver, url.set(drivername="mssql+pyodbc")
        if found := _odbc_driver(driver):
            return driver, _with_driver(url, found)
    except (ImportError, OSError):
        pass
    try:
        return import_module("mssql_python"), url.set(drivername="mssql+mssqlpython")
    except (ImportError, OSError):
        raise ConfigurationError("No driver for SQL Server is installed.", next_step=_BOTH) from None


def _imported(asked: str) -> Any:
    try:
        return import_module(_MODULES[asked])
    except (ImportError, OSError) as error:
        message = f"The driver {_MODULES[asked]} for SQL Server cannot be loaded: {visible(str(error))}."
        raise ConfigurationError(message, next_step=_FIXES[asked]) from None


def _odbc_driver(driver: Any) -> str | None:
    installed = frozenset(driver.drivers())
    return next((name for name in _ODBC_DRIVERS if name in installed), None)


def _with_driver(url: URL, name: str) -> URL:
    return url.set(drivername="mssql+pyodbc").update_query_dict({"driver": name})


def connect(driver: Any, url: URL, where: str) -> MssqlSession:
    """Open a session that no pool shares; an error names neither user nor password."""
    (text,), _ = url.get_dialect()().create_connect_args(url)
    # For a connection string that it cannot read, mssql-python raises what is no `Error` of its own.
    malformed: Any = getattr(driver, "ConnectionStringParseError", driver.Error)
    try:
        if driver.__name__ == "pyodbc":
            # A pooled session would keep its lock and its settings.
            driver.pooling = False
            raw = driver.connect(f"{text};APP=batchctl/{__version__}", autocommit=True, timeout=LOGIN_SECONDS)
        else:
            driver.pooling(enabled=False)
            raw = driver.connect(text, autocommit=True, timeout=LOGIN_SECONDS)
        raw.timeout = STATEMENT_SECONDS
    except driver.Error as error:
        raise _refused(error_of(error), url, where) from None
    except malformed as error:
        said = visible(urls.redacted("; ".join(error.errors), _passwords(url)))
        message = f"The control database {where} cannot be opened: {said}."
        raise ConfigurationError(message, next_step="correct what stands behind the ? in database_url") from None
    return MssqlSession(driver, raw)


def _passwords(url: URL) -> tuple[str, ...]:
    return urls.passwords_in(url.render_as_string(hide_password=False))


def _refused(error: ServerError, url: URL, where: str) -> DatabaseRefused:
    said = urls.redacted(error.text, _passwords(url))
    if error.state == "28000" or error.number in {18452, 18456}:
        next_step = "see user and password in database_url, and that the login may connect to the database"
        return DatabaseRefused(f"The control database {where} refuses the login: {said}.", next_step=next_step)
    if error.number == 4060:
        next_step = "see the database's name in database_url, that it is online, and that the login has a user in it"
        return DatabaseRefused(f"The control database {where} cannot be opened: {said}.", next_step=next_step)
    next_step = "see that the server is up, and the host, port and encryption in database_url"
    return DatabaseUnreachable(f"The control database {where} cannot be reached: {said}.", next_step=next_step)
