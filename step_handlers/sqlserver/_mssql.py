"""SQL Server as a target database, through pyodbc or mssql-python."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from threading import Lock  # noqa: TID251 - the session is cancelled from another thread
from typing import Any

from batchctl.plugin_api import Connection, Execution, JsonValue, StepContext, StepOutcome, StepRequest, visible
from step_handlers.databases._database import (
    Argument,
    Bound,
    ConnectionRefused,
    Script,
    StepStopped,
    WrittenStep,
    revealed,
)
from step_handlers.databases._servers import LOCK_SECONDS, ServerDatabase, ServerSession
from step_handlers.databases._statements import statements
from step_handlers.databases._urls import odbc_parts, password_source, url_of
from step_handlers.sqlserver import _tsql
from step_handlers.sqlserver._mssql_driver import ServerConnection, driver_of, open_session
from step_handlers.sqlserver._mssql_errors import LOST_STATES, ReportedError, without_prefix
from step_handlers.sqlserver._tsql import Variable

_MOST_ERRORS = 1000
"""How many errors in a row are read past: a procedure in a loop may raise any number."""
_SHOWN_OF_A_LOCK = 32
"""How many characters of a lock's name sys.dm_tran_locks shows."""
_REFUSED_LOCK = {
    -1: "in time",
    -2: "because it was cancelled",
    -3: "because of a deadlock",
    -999: "because of a bad call",
}


@dataclass(frozen=True, slots=True)
class SqlServer(ServerDatabase):
    """SQL Server."""

    def read(self, text: str, names: Sequence[str]) -> Script:
        """Parse SQL; raises `MalformedSql`."""
        found = statements(text, names, _tsql.GRAMMAR)
        for statement in found:
            _tsql.refuse(statement)
        return Script((), tuple(found))

    def write(
        self, request: StepRequest, connection: Connection, before: Sequence[Bound], inside: Sequence[Bound]
    ) -> WrittenStep:
        """Write a script for sqlcmd, and the spec."""
        del before
        (batch,) = inside
        variables = [Variable(name, value) for name, value in batch.values.items()]
        written = _written(request, connection, variables, _tsql.script_body(batch), "SET XACT_ABORT ON;", "")
        return (
            replace(written, spec={**written.spec, "alone": True}) if _tsql.is_maintenance(batch.statement) else written
        )

    def call_finding(self, name: str) -> str | None:
        """Return why a text is no procedure name."""
        return _tsql.call_finding(name)

    def call(
        self, request: StepRequest, connection: Connection, name: str, arguments: Sequence[Argument]
    ) -> WrittenStep:
        """Write a call for sqlcmd, and the spec."""
        parts = _tsql.identifiers(name)
        variables = [Variable(f"arg{at}", one.value, one.output) for at, one in enumerate(arguments, start=1)]
        called = ".".join(map(_tsql.identifier, parts))
        # The procedure decides itself what an error undoes, as it does in SSMS.
        body = _tsql.call_body(parts, arguments)
        return _written(request, connection, variables, body, "SET XACT_ABORT OFF;", called)

    def missing(self, connection: Connection, directory: str) -> str | None:
        """Look for the driver; only connecting would show whether the server is there."""
        del directory
        try:
            driver_of(connection)
        except ConnectionRefused as error:
            return str(error)
        return None

    def new_session(self, connection: Connection, execution: Execution) -> ServerSession:
        """Open a session for a step; raises `ConnectionRefused`, also where the driver is missing."""
        return _Session(open_session(connection), connection, execution)

    def is_alive(self, connection: Connection, spec: Mapping[str, Any]) -> bool | None:
        """Try the lock that a session holds as long as it carries out the instance."""
        with closing(open_session(connection)) as opened:
            cursor = opened.cursor()
            try:
                cursor.execute(_take_lock(0), spec["lock"])
                got = cursor.fetchone()[0]
            except opened.error:
                return None
        # Refused in time: another session has it. Any other refusal proves nothing.
        return {0: False, 1: False, -1: True}.get(got)


def _written(
    request: StepRequest, connection: Connection, variables: Sequence[Variable], body: str, abort: str, called: str
) -> WrittenStep:
    url = url_of(connection)
    context = request.context
    known = {key.lower(): value for key, value in odbc_parts(str(url.query.get("odbc_connect", "")))}
    host = f"{url.host},{url.port or url.query.get('port')}" if url.port or "port" in url.query else url.host
    server = host or known.get("server") or "the server of its ODBC source"
    user = url.username or known.get("uid")
    text = _tsql.pasted(
        url.database or known.get("database"),
        f"{server}{f' as {user}' if user else ''}",
        _password(connection, context),
        context,
        variables,
        body,
        abort,
    )
    prelude = [variable.sent() for variable in variables]
    spec: dict[str, JsonValue] = {
        "instance": request.instance.instance_id,
        "lock": request.lock_name,
        "settings": abort,
        "called": called,
        "batch": "\n".join([*prelude, body]),
        "parameters": [variable.value for variable in variables if variable.value is not None],
        "lines_before": len(prelude) + 1,
    }
    return WrittenStep(text, spec)


def _password(connection: Connection, context: StepContext) -> str | None:
    match password_source(connection, context.secrets):
        case None:
            return None
        case "url", name:
            return f"is that of [connections.{name}]"
        case kind, place:
            return f"comes from {kind} {place}"


def _take_lock(seconds: float) -> str:
    return (
        "DECLARE @got int; EXEC @got = sp_getapplock @Resource = ?, @LockMode = 'Exclusive', @LockOwner = 'Session', "
        f"@LockTimeout = {round(seconds * 1000)}; SELECT @got;"
    )


@dataclass(slots=True)
class _Session(ServerSession):
    opened: ServerConnection
    cursor: Any = field(init=False)
    cancelling: Lock = field(default_factory=Lock)
    """Held by the thread that cancels or closes: to close a session during a cancel ends the process (SIGSEGV)."""
    is_over: bool = False
    is_killed: bool = False
    """True once the server was told to end the session, and has reported that it does."""
    number: int | None = None
    """The server's number of the session."""
    reported: ReportedError | None = None
    return_code: int | None = None
    is_counted: bool = True
    may_end: bool = True
    """False once it was tried to end the session from another one."""

    def __post_init__(self) -> None:
        """Send through one cursor."""
        ServerSession.__post_init__(self)
        self.cursor = self.opened.cursor()

    def cancel(self) -> bool:
        """Cancel what runs; tell a server that ignores this once to end the session."""
        with self.cancelling:
            if self.is_over:
                return False
            with suppress(self.opened.error, RuntimeError):
                self.opened.cancel(self.cursor)
        if self.execution.must_end and self.may_end:
            self.may_end = False
            self._end_elsewhere()
        return True

    def _end_elsewhere(self) -> None:
        """End the session from another one, where permitted and while it exists: its number is soon reused."""
        with (
            suppress(self.opened.error, ConnectionRefused),
            closing(open_session(self.connection)) as other,
            self.cancelling,
        ):
            if not self.is_over:
                other.cursor().execute(f"KILL {self.number}")
                self.is_killed = True

    def _be_over(self) -> None:
        """Let nothing be cancelled any more, once no cancel is under way: what was read to its end is done."""
        with self.cancelling:
            self.is_over = True

    def close(self) -> None:
        """Close the session, once no cancel is under way."""
        self._be_over()
        ServerSession.close(self)

    def carry_out(self, spec: Mapping[str, Any]) -> StepOutcome:
        sent = False
        try:
            self._prepare(spec)
            values = [revealed(value, self.execution) for value in spec["parameters"]]
            if self.execution.stopping:
                raise StepStopped
            sent = True
            self._drain(spec["batch"], values, goes_on=bool(spec["called"]))
            self._be_over()
            left_open = self._first("SELECT @@TRANCOUNT") if spec["called"] or self.reported is None else 0
        except (StepStopped, ConnectionRefused, self.opened.error) as error:
            return self._failed(error, spec, sent=sent)
        if self.reported is not None:
            return self._failed(None, spec, sent=True, left_open=bool(left_open))
        if left_open:
            self._roll_back()
            return self._ended(f"{spec['called'] or 'the batch'} left a transaction open; it was rolled back")
        if spec["called"] and self.return_code != 0:
            code = "no return code" if self.return_code is None else f"return code {self.return_code}"
            return self._ended(f"{spec['called']} ended with {code}; only 0 is success")
        return self._ended(None)

    def _prepare(self, spec: Mapping[str, Any]) -> None:
        for settings in (*_tsql.SETTINGS, spec["settings"]):
            self.cursor.execute(settings)
        session = self._row(
            "SELECT session_id, CONVERT(varchar(33), login_time, 126) FROM sys.dm_exec_sessions WHERE session_id = @@SPID"
        )
        self.number = session[0]
        self.execution.in_session(f"{session[0]}@{session[1]}")
        resource = spec["lock"]
        got = self._first(_take_lock(LOCK_SECONDS), resource)
        if got is None or got < 0:
            raise ConnectionRefused(self._who_holds(resource, spec["instance"], got))

    def _who_holds(self, resource: str, instance: int, got: int | None) -> str:
        name = visible(self.connection.name)
        if got != -1:
            why = _REFUSED_LOCK.get(got or 0, f"with {got}")
            return f"connection '{name}': the lock of BatchControl {instance} was not granted {why}"
        holder = None
        with suppress(self.opened.error):  # a login without the right to see the locks of others gets no details
            holder = self._first(
                "SELECT request_session_id FROM sys.dm_tran_locks WHERE resource_type = 'APPLICATION' "
                "AND request_status = 'GRANT' AND resource_database_id = DB_ID() AND resource_description LIKE ?",
                f"%[[]{resource[:_SHOWN_OF_A_LOCK]}%",
            )
        by = "another session" if holder is None else f"session {holder}"
        end = "" if holder is None else f", or end it: KILL {holder}"
        return (
            f"connection '{name}': BatchControl {instance} is still being carried out there, by {by}; wait for it{end}"
        )

    def _row(self, sql: str, *parameters: Any) -> Any:
        self.cursor.execute(sql, *parameters)
        row = self.cursor.fetchone()
        while self.cursor.nextset():
            pass
        return row

    def _first(self, sql: str, *parameters: Any) -> int | None:
        row = self._row(sql, *parameters)
        return None if row is None else row[0]

    def _drain(self, sql: str, values: Sequence[Any], *, goes_on: bool) -> None:
        """Read every result: an error behind the first one is raised only on the way to it.

        What `goes_on` after an error, as a procedure does, is read to its end as far as the driver can.
        """
        self._heard(lambda: self.cursor.execute(sql, *values), goes_on=goes_on)
        is_count_known = True
        while True:
            self._hear()
            if self.cursor.description is not None:
                self._read([str(column[0]) for column in self.cursor.description])
            elif is_count_known:
                self.results.affected += max(0, self.cursor.rowcount)
            else:
                self.is_counted = False
            if not self._heard(self.cursor.nextset, goes_on=goes_on):
                break
            is_count_known = self.opened.is_pyodbc
        self._hear()

    def _heard(self, ask: Callable[[], Any], *, goes_on: bool) -> Any:
        """Go to a result; an error on the way is kept, the first one, where more may come behind it."""
        for _ in range(_MOST_ERRORS):
            try:
                return ask()
            except self.opened.error as error:
                reported = ReportedError.of(error)
                if not goes_on or reported.state in LOST_STATES or self.execution.stopping:
                    raise
                self.reported = self.reported or reported
                if self.opened.is_pyodbc:
                    return False
                ask = self.cursor.nextset
        return False

    def _read(self, names: Sequence[str]) -> None:
        if tuple(names) == _tsql.ERROR:
            number, severity, inner_state, line, procedure, text = self.cursor.fetchone()
            # An error while undoing would hide the one that began it.
            if self.reported is None:
                self.reported = ReportedError(str(text), int(number), "", severity, inner_state, line, procedure)
        elif names[:1] == [_tsql.RETURN_CODE]:
            self.return_code, *outputs = self.cursor.fetchone()
            for name, value in zip(names[1:], outputs, strict=True):
                self.results.say(f"@{name} = {'NULL' if value is None else value}")
        else:
            self.results.drain(self.cursor)

    def _hear(self) -> None:
        for line in _texts(self.cursor.messages):
            self.results.say(line)

    def _roll_back(self) -> None:
        # What has ended the transaction already makes this fail (3903), which is no news.
        with suppress(self.opened.error):
            self.cursor.execute("IF @@TRANCOUNT > 0 ROLLBACK TRANSACTION")

    def _failed(
        self, error: Exception | None, spec: Mapping[str, Any], *, sent: bool, left_open: bool = False
    ) -> StepOutcome:
        with suppress(self.opened.error):
            self._hear()
        self._roll_back()
        what = spec["called"] or "the batch"
        end = "" if spec["called"] or spec.get("alone") or not sent else "; everything was rolled back"
        end = "; the transaction that it left open was rolled back" if left_open else end
        reported = self.reported or ReportedError.of(error or StepStopped())
        if sent and self.reported is None and reported.state in LOST_STATES and not self.is_killed:
            message = f"{what}: the connection was lost ({visible(reported.text)}); whether it was done is not known"
            return self._ended(message, lost=True)
        if self.execution.stopping:
            return StepOutcome(
                succeeded=False, stopped=True, message=f"was stopped at {what}{end}", output=self.results.text()
            )
        if isinstance(error, ConnectionRefused):
            return self._ended(str(error), fatal=error.fatal)
        lines_before = spec["lines_before"]
        ended = self._ended(f"{what} failed: {reported.wording(lines_before)}{end}", fatal=reported.is_fatal)
        return replace(ended, error_code=reported.code, error_line=reported.own_line(lines_before))

    def _ended(self, message: str | None, *, fatal: bool = False, lost: bool = False) -> StepOutcome:
        return StepOutcome(
            succeeded=message is None,
            message=message,
            fatal=fatal,
            lost=lost,
            return_code=self.return_code,
            output=self.results.text(),
            rows_affected=self.results.affected if self.is_counted else None,
            value=self.results.value,
        )


def _texts(messages: Sequence[tuple[Any, Any]] | None) -> Iterator[str]:
    for _, text in messages or ():
        yield without_prefix(str(text))
