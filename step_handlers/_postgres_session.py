"""One step's session with a PostgreSQL server: its lock, its statements, what the server says, and how it ends."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any

from batchctl import __version__
from batchctl.plugin_api import Connection, Execution, JsonValue, StepOutcome, visible
from step_handlers import _psql
from step_handlers._database import Unusable
from step_handlers._results import Results
from step_handlers._urls import url_of, without_passwords

if TYPE_CHECKING:
    import psycopg
    from psycopg.pq.abc import PGresult

LOCK_SECONDS = 5
"""How long a step waits for a session that still carries out its instance."""
CANCEL_AGAIN_SECONDS = 0.5
"""A request to cancel that comes between two statements is lost, so it is repeated until the step has ended."""

_ROWS_AT_ONCE = 1000
_CHANGES = frozenset({"INSERT", "UPDATE", "DELETE", "MERGE", "COPY"})
_FATAL = frozenset(
    {"42883", "42P01", "42501", "42601", "42703", "42725", "42P02", "42P18", "3F000", "3D000", "0LP01", "42809"}
)
"""What trying again cannot mend: missing or ambiguous names, syntax, rights; with all of class 28, logging in."""
_IN_WORDS = (
    "password authentication failed",
    "no password supplied",
    "no pg_hba.conf entry",
    "does not exist",
    "permission denied for database",
)
"""How a server says that it refuses a login. libpq gives no SQLSTATE for that; what is not known here is tried again."""


def lock_key(instance_id: int) -> int:
    """Return the number of an instance's lock: 64 bits made from `batchctl` and its id."""
    return int.from_bytes(hashlib.sha256(f"batchctl:{instance_id}".encode()).digest()[:8], "big", signed=True)


def connect(connection: Connection) -> psycopg.Connection[Any]:
    """Open a session for one step, in which each statement commits by itself; raises `Unusable`."""
    import psycopg  # noqa: PLC0415 - an extra; who has no PostgreSQL need not have it

    url = url_of(connection)
    _, given = url.get_dialect()().create_connect_args(url)
    asked: dict[str, Any] = {"connect_timeout": 10, **given, "application_name": f"batchctl/{__version__}"}
    # What is sent and read is UTF-8, whatever the database or the environment would choose.
    asked["client_encoding"] = "utf8"
    try:
        opened = psycopg.connect(autocommit=True, **asked)
    except psycopg.Error as error:
        said = visible(without_passwords(connection, str(error).strip().splitlines()[0]))
        name = visible(connection.name)
        fatal = any(words in said for words in _IN_WORDS)
        raise Unusable(
            f"connection '{name}': {said}; see that the server is there, and the url of [connections.{name}]",
            fatal=fatal,
        ) from None
    opened.prepare_threshold = None
    return opened


class _Stopped(Exception):
    """The step was told to stop between two statements."""


class _Refused(Exception):
    """The server refused a statement."""

    def __init__(self, result: PGresult) -> None:
        from psycopg.pq import DiagnosticField as Field  # noqa: PLC0415 - as above

        def said(field: Field) -> str:
            return visible((result.error_field(field) or b"").decode("utf-8", "backslashreplace"))

        self.code = said(Field.SQLSTATE)
        parts = [f"{said(Field.SEVERITY_NONLOCALIZED)} {self.code}: {said(Field.MESSAGE_PRIMARY)}"]
        parts += [
            f"{word}{text}"
            for word, text in (
                ("", said(Field.MESSAGE_DETAIL)),
                ("hint: ", said(Field.MESSAGE_HINT)),
                ("in ", said(Field.CONTEXT).replace("\\n", ", called by ")),
            )
            if text
        ]
        super().__init__("; ".join(parts))
        self.position = int(said(Field.STATEMENT_POSITION) or 0)


@dataclass(slots=True)
class Session:
    """One step's session with the server."""

    opened: psycopg.Connection[Any]
    execution: Execution
    results: Results
    ended: SimpleQueue[None] = field(default_factory=SimpleQueue)
    sent: str = ""

    def cancel(self) -> None:
        """Cancel what runs, again and again, until the step has ended."""
        while True:
            with suppress(Exception):
                self.opened.cancel_safe(timeout=5)
            try:
                self.ended.get(timeout=CANCEL_AGAIN_SECONDS)
            except Empty:
                continue
            return

    def carry_out(self, spec: Mapping[str, Any], connection: Connection) -> StepOutcome:
        """Carry out a spec and say how it ended."""
        import psycopg  # noqa: PLC0415 - as above

        at = "preparing the session"
        count = len(spec.get("before", ())) + len(spec.get("statements", ()))
        numbers = iter(range(1, count + 1))
        begun = False
        try:
            self._prepare(spec["instance"], connection)
            for statement in spec.get("before", ()):
                at = f"statement {next(numbers)} of {count}"
                self._execute(statement["sql"], statement["parameters"])
            if "call" in spec:
                call = spec["call"]
                ((words,),) = self.opened.execute(spec["which"]).fetchall()
                at = f"{words} {call['called']}"
                self._execute(f"{words} {call['sql']}", call["parameters"])
            if spec.get("statements"):
                at = "BEGIN"
                self._execute("BEGIN", ())
                begun = True
                for statement in spec["statements"]:
                    at = f"statement {next(numbers)} of {count}"
                    self._execute(statement["sql"], statement["parameters"])
                at = "COMMIT"
                self._execute("COMMIT", ())
            left_open = self.opened.info.transaction_status != psycopg.pq.TransactionStatus.IDLE
        except (_Refused, _Stopped, psycopg.Error, Unusable) as error:
            return self._failed(at, error, rolled_back=begun)
        if left_open:
            return StepOutcome(
                succeeded=False, message=f"{at} left a transaction open; it was rolled back", output=self.results.text()
            )
        affected = None if "call" in spec else self.results.affected
        return StepOutcome(succeeded=True, output=self.results.text(), rows_affected=affected, value=self.results.value)

    def _prepare(self, instance: int, connection: Connection) -> None:
        if self.execution.stopping:
            raise _Stopped
        settings = "; ".join(f"SET {name} = {value}" for name, value in _psql.SETTINGS.items())
        self.opened.execute(settings)
        self._end_when_this_process_does()
        self._name_the_session(connection)
        self._lock(instance, connection)
        self.opened.add_notice_handler(self._hear)

    def _end_when_this_process_does(self) -> None:
        import psycopg  # noqa: PLC0415 - as above

        # Before PostgreSQL 14, and where its system cannot watch a connection, there is no such setting.
        with suppress(psycopg.Error):
            self.opened.execute("SET client_connection_check_interval = '1s'")

    def _name_the_session(self, connection: Connection) -> None:
        row = self.opened.execute(
            "SELECT pid, to_char(backend_start AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"') "
            "FROM pg_catalog.pg_stat_activity WHERE pid = pg_catalog.pg_backend_pid()"
        ).fetchone()
        if row is None or row[0] != self.opened.info.backend_pid:
            name = visible(connection.name)
            raise Unusable(
                f"connection '{name}' goes through a pooler, where a step's lock and session would be shared; "
                f"name the server itself in the url of [connections.{name}]",
                fatal=True,
            )
        self.execution.in_session(f"{row[0]}@{row[1]}")

    def _lock(self, instance: int, connection: Connection) -> None:
        import psycopg  # noqa: PLC0415 - as above

        key = lock_key(instance)
        self.opened.execute(f"SET lock_timeout = '{round(LOCK_SECONDS * 1000)}ms'")
        try:
            self.opened.execute("SELECT pg_catalog.pg_advisory_lock(%s)", (key,))
        except psycopg.errors.LockNotAvailable:
            raise Unusable(self._who_holds(key, instance, connection)) from None
        self.opened.execute("SET lock_timeout = 0")

    def _who_holds(self, key: int, instance: int, connection: Connection) -> str:
        row = self.opened.execute(
            "SELECT a.pid, a.application_name, a.state, a.query_start::text FROM pg_catalog.pg_locks AS l "
            "JOIN pg_catalog.pg_stat_activity AS a USING (pid) WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1 "
            "AND l.database = (SELECT oid FROM pg_catalog.pg_database WHERE datname = current_database()) "
            "AND (l.classid::bigint << 32 | l.objid::bigint) = %s",
            (key,),
        ).fetchone()
        still = f"connection '{visible(connection.name)}': BatchControl {instance} is still being carried out there"
        if row is None:
            return f"{still} by another session; wait for it to end"
        pid, application, state, since = row
        return (
            f"{still}, by session {pid} ({visible(str(application))}, {state} since {since}); wait for it, "
            f"or end it: SELECT pg_terminate_backend({pid})"
        )

    def _hear(self, notice: psycopg.errors.Diagnostic) -> None:
        self.results.say(f"{notice.severity_nonlocalized or notice.severity}: {notice.message_primary or ''}")

    def _execute(self, sql: str, parameters: Sequence[JsonValue]) -> None:
        import psycopg  # noqa: PLC0415 - as above
        from psycopg.generators import fetch, send  # noqa: PLC0415 - as above

        if self.execution.stopping:
            raise _Stopped
        values = [
            self.execution.secret(str(value["secret"])) if isinstance(value, dict) else value for value in parameters
        ]
        channel = self.opened.pgconn
        channel.send_query_params(
            sql.encode(),
            [None if value is None else str(value).encode() for value in values],
            param_types=[_type(value) for value in values],
        )
        if psycopg.pq.version() >= 170000:
            channel.set_chunked_rows_mode(_ROWS_AT_ONCE)
        else:
            channel.set_single_row_mode()
        self.sent = sql
        self.opened.wait(send(channel))
        try:
            first = self.opened.wait(fetch(channel))
            if first is not None:
                self._read(first)
        finally:
            with suppress(psycopg.Error):
                while (rest := self.opened.wait(fetch(channel))) is not None and not _copies(rest):
                    pass

    def _read(self, first: PGresult) -> None:
        columns = [(first.fname(at) or b"").decode() for at in range(first.nfields)]
        if columns or _has_rows(first):
            self.results.show(columns, self._rows(first))
            if isinstance(self.results.value, str):
                self.results.value = _typed(first.ftype(0), self.results.value)
        else:
            self._check(first)

    def _rows(self, first: PGresult) -> Iterator[Sequence[object]]:
        from psycopg.generators import fetch  # noqa: PLC0415 - as above

        result: PGresult | None = first
        while result is not None:
            self._check(result)
            for row in range(result.ntuples):
                yield [_decoded(result.get_value(row, at)) for at in range(result.nfields)]
            result = self.opened.wait(fetch(self.opened.pgconn))

    def _check(self, result: PGresult) -> None:
        from psycopg.pq import ExecStatus  # noqa: PLC0415 - as above

        if result.status in {ExecStatus.FATAL_ERROR, ExecStatus.BAD_RESPONSE, ExecStatus.NONFATAL_ERROR}:
            raise _Refused(result)
        if _copies(result):
            raise Unusable(
                "COPY from or to the client is for psql; use COPY with a file on the server, or INSERT", fatal=True
            )
        command = (result.command_status or b"").decode().partition(" ")[0]
        if command in _CHANGES:
            self.results.affected += result.command_tuples or 0

    def _failed(self, at: str, error: Exception, *, rolled_back: bool) -> StepOutcome:
        import psycopg  # noqa: PLC0415 - as above

        lost = isinstance(error, psycopg.OperationalError) and self.opened.closed
        with suppress(psycopg.Error):
            if self.opened.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
                self.opened.execute("ROLLBACK")
        end = "; everything was rolled back" if rolled_back else ""
        output = self.results.text()
        if self.execution.stopping:
            return StepOutcome(succeeded=False, stopped=True, message=f"was stopped at {at}{end}", output=output)
        if isinstance(error, Unusable):
            return StepOutcome(succeeded=False, fatal=error.fatal, message=str(error), output=output)
        if lost and (at == "COMMIT" or not rolled_back):
            said = visible(str(error).strip().splitlines()[0])
            message = (
                f"{at}: the connection was lost ({said}); whether it was done is not known, so it is not tried again"
            )
            return StepOutcome(succeeded=False, fatal=True, message=message, output=output)
        code = error.code if isinstance(error, _Refused) else getattr(error, "sqlstate", None) or ""
        message = f"{at} failed: {visible(str(error))}{self._place(error)}{end}"
        return StepOutcome(succeeded=False, fatal=_is_fatal(code), message=message, output=output)

    def _place(self, error: Exception) -> str:
        position = error.position if isinstance(error, _Refused) else 0
        if not position or "\n" not in self.sent:
            return ""
        return f"; at line {self.sent.count(chr(10), 0, position - 1) + 1}"


def _is_fatal(code: str) -> bool:
    return code in _FATAL or code.startswith("28")


def _has_rows(result: PGresult) -> bool:
    from psycopg.pq import ExecStatus  # noqa: PLC0415 - as above

    return result.status in {ExecStatus.TUPLES_OK, ExecStatus.SINGLE_TUPLE, ExecStatus.TUPLES_CHUNK}


def _copies(result: PGresult) -> bool:
    from psycopg.pq import ExecStatus  # noqa: PLC0415 - as above

    return result.status in {ExecStatus.COPY_IN, ExecStatus.COPY_OUT, ExecStatus.COPY_BOTH}


def _decoded(value: bytes | None) -> str | None:
    return None if value is None else value.decode("utf-8", "backslashreplace")


def _type(value: JsonValue) -> int:
    """Return the type that PostgreSQL gives to the literal of a value: text stays open until it is used."""
    match value:
        case bool() | str() | None:
            return 0
        case int() if abs(value) < 2**31:
            return 23
        case int() if -(2**63) <= value < 2**63:
            return 20
        case _:
            return 1700


def _typed(kind: int, text: str) -> str | int | float:
    match kind:
        case 16:
            return int(text == "t")
        case 20 | 21 | 23 | 26:
            return int(text)
        case 700 | 701 | 1700:
            return float(text)
        case _:
            return text
