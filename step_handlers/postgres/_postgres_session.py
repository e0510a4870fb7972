"""One step's session with a PostgreSQL server: how it begins, its lock, what it carries out, and how it is ended.

It needs psycopg, an extra: what may be without imports it only when a step is carried out.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass, field
from typing import Any

import psycopg

from batchctl import __version__
from batchctl.plugin_api import Connection, StepOutcome, visible
from step_handlers.databases._database import ConnectionRefused, StepStopped
from step_handlers.databases._servers import LOCK_SECONDS, ServerSession
from step_handlers.databases._urls import url_of, without_passwords
from step_handlers.postgres import _postgres_routines, _psql
from step_handlers.postgres._postgres_channel import GivenUp, StatementChannel, StatementRefused, StepConnection

FORCED_TRIES = 10
"""How often a session that ignores cancelling is ended by force, before the step no longer waits for it."""

_CONNECTING = {
    "connect_timeout": 10,
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 60_000,
}
_FATAL = frozenset(
    {"42883", "42P01", "42501", "42601", "42703", "42725", "42P02", "42P18", "3F000", "3D000", "0LP01", "42809"}
)
"""SQLSTATEs for which trying again is no use: missing or ambiguous names, syntax, rights; with class 28, login."""
_CRASHED = "57P02"
_IN_WORDS = (
    "password authentication failed",
    "no password supplied",
    "no pg_hba.conf entry",
    "does not exist",
    "permission denied for database",
)
"""How a server words a refused login. libpq gives no SQLSTATE for that; what is not known here is tried again."""
_WHO_AM_I = (
    "SELECT pid, to_char(backend_start AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"') "
    "FROM pg_catalog.pg_stat_activity WHERE pid = pg_catalog.pg_backend_pid()"
)
_END_SESSION = (
    "SELECT pg_catalog.pg_terminate_backend(pid) FROM pg_catalog.pg_stat_activity "
    "WHERE pid = %s AND backend_start = %s::timestamptz"
)
_HOLDER = (
    "SELECT a.pid, a.application_name, a.state, a.query_start::text FROM pg_catalog.pg_locks AS l "
    "JOIN pg_catalog.pg_stat_activity AS a USING (pid) WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1 "
    "AND l.database = (SELECT oid FROM pg_catalog.pg_database WHERE datname = current_database()) "
    "AND (l.classid::bigint << 32 | l.objid::bigint) = %s"
)


def lock_key(name: str) -> int:
    """Return the number of an instance's lock: 64 bits made from its name."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big", signed=True)


def connect(connection: Connection) -> Any:
    """Open a session for one step, in which each statement commits by itself; raises `ConnectionRefused`."""
    url = url_of(connection)
    _, given = url.get_dialect()().create_connect_args(url)
    asked: dict[str, Any] = {**_CONNECTING, **given, "application_name": f"batchctl/{__version__}"}
    # What is sent and read is UTF-8, whatever the database or the environment would choose.
    asked["client_encoding"] = "utf8"
    try:
        opened = StepConnection.connect(autocommit=True, **asked)
    except psycopg.Error as error:
        said = visible(without_passwords(connection, str(error).strip().splitlines()[0]))
        name = visible(connection.name)
        fatal = any(words in said for words in _IN_WORDS)
        raise ConnectionRefused(
            f"connection '{name}': {said}; see that the server is there, and the url of [connections.{name}]",
            fatal=fatal,
        ) from None
    opened.prepare_threshold = None
    return opened


def is_locked(connection: Connection, name: str) -> bool:
    """Say whether a session holds the lock of an instance; raises `ConnectionRefused`."""
    with closing(connect(connection)) as opened:
        row = opened.execute("SELECT pg_catalog.pg_try_advisory_lock(%s)", (lock_key(name),)).fetchone()
        return row is not None and not row[0]


@dataclass(slots=True)
class PostgresSession(ServerSession):
    """One step's session with the server."""

    channel: StatementChannel = field(init=False)
    forced: int = 0
    """How often it was ended by force."""
    pid: int = 0
    began: str = ""
    at: str = "preparing the session"
    """The present stage, in words."""
    in_transaction: bool = False
    may_stand: bool = False
    """True when what was sent last may have been committed without an answer."""

    def __post_init__(self) -> None:
        """Send through a channel of its own."""
        ServerSession.__post_init__(self)
        self.channel = StatementChannel(self.opened, self.results, self.execution)

    def cancel(self) -> bool:
        """Cancel what runs; after the grace time end the session; at last stop waiting for it."""
        with suppress(Exception):
            if self.execution.must_end:
                self.forced += 1
                self._end_by_force()
            else:
                self.opened.cancel_safe(timeout=5)
        self.opened.given_up = self.forced >= FORCED_TRIES
        return True

    def _end_by_force(self) -> None:
        with closing(connect(self.connection)) as other:
            other.execute(_END_SESSION, (self.pid, self.began))

    def carry_out(self, spec: Mapping[str, Any]) -> StepOutcome:
        """Carry out a spec and say how it ended."""
        try:
            self._prepare(spec)
            self._carry_out(spec)
        except (StatementRefused, GivenUp, StepStopped, psycopg.Error, ConnectionRefused) as error:
            return self._failed(error, spec.get("call"))
        if self.opened.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
            message = f"{self.at} left a transaction open; it was rolled back"
            return StepOutcome(succeeded=False, message=message, output=self.results.text())
        affected = None if "call" in spec else self.results.affected
        return StepOutcome(succeeded=True, output=self.results.text(), rows_affected=affected, value=self.results.value)

    def _carry_out(self, spec: Mapping[str, Any]) -> None:
        numbers = self._numbers(spec)
        for statement in spec.get("before", ()):
            self.at = next(numbers)
            self._execute(statement)
        if "call" in spec:
            ((words,),) = self.opened.execute(spec["which"]).fetchall()
            self.at = f"{words} {spec['call']['called']}"
            self._execute({**spec["call"], "sql": f"{words} {spec['call']['sql']}"})
        if spec.get("statements"):
            self.at = "BEGIN"
            self.in_transaction = True
            self._execute({"sql": "BEGIN"})
            for statement in spec["statements"]:
                self.at = next(numbers)
                self._execute(statement)
            self.at = "COMMIT"
            self._execute({"sql": "COMMIT"})

    @staticmethod
    def _numbers(spec: Mapping[str, Any]) -> Iterator[str]:
        count = len(spec.get("before", ())) + len(spec.get("statements", ()))
        return (f"statement {at} of {count}" for at in range(1, count + 1))

    def _execute(self, statement: Mapping[str, Any]) -> None:
        if self.execution.stopping:
            raise StepStopped
        self.may_stand = not self.in_transaction or self.at == "COMMIT"
        given = statement.get("parameters", ()), statement.get("names", ())
        self.channel.execute(statement["sql"], *given, line=statement.get("line"))
        self.may_stand = False

    def _prepare(self, spec: Mapping[str, Any]) -> None:
        if self.execution.stopping:
            raise StepStopped
        self.opened.execute("; ".join(f"SET {name} = {value}" for name, value in _psql.SETTINGS.items()))
        self.opened.execute(_psql.NO_TRANSACTION_TIMEOUT)
        self._end_when_this_process_does()
        self._name_the_session()
        self._lock(spec)
        self.opened.add_notice_handler(self._hear)

    def _end_when_this_process_does(self) -> None:
        # Before PostgreSQL 14, and where its system cannot watch a connection, there is no such setting.
        with suppress(psycopg.Error):
            self.opened.execute("SET client_connection_check_interval = '1s'")

    def _name_the_session(self) -> None:
        row = self.opened.execute(_WHO_AM_I).fetchone()
        if row is None or row[0] != self.opened.info.backend_pid:
            name = visible(self.connection.name)
            raise ConnectionRefused(
                f"connection '{name}' goes through a pooler, where a step's lock and session would be shared; "
                f"name the server itself in the url of [connections.{name}]",
                fatal=True,
            )
        self.pid, self.began = row
        self.execution.in_session(f"{self.pid}@{self.began}")

    def _lock(self, spec: Mapping[str, Any]) -> None:
        key = lock_key(spec["lock"])
        self.opened.execute(f"SET lock_timeout = '{round(LOCK_SECONDS * 1000)}ms'")
        try:
            self.opened.execute("SELECT pg_catalog.pg_advisory_lock(%s)", (key,))
        except psycopg.errors.LockNotAvailable:
            raise ConnectionRefused(self._who_holds(key, spec["instance"])) from None
        self.opened.execute("SET lock_timeout = 0")

    def _who_holds(self, key: int, instance: int) -> str:
        row = self.opened.execute(_HOLDER, (key,)).fetchone()
        still = (
            f"connection '{visible(self.connection.name)}': BatchControl {instance} is still being carried out there"
        )
        if row is None:
            return f"{still} by another session; wait for it to end"
        pid, application, state, since = row
        return (
            f"{still}, by session {pid} ({visible(str(application))}, {state} since {since}); wait for it, "
            f"or end it: SELECT pg_terminate_backend({pid})"
        )

    def _hear(self, notice: psycopg.errors.Diagnostic) -> None:
        self.results.say(f"{notice.severity_nonlocalized or notice.severity}: {notice.message_primary or ''}")

    def _failed(self, error: Exception, call: Mapping[str, Any] | None) -> StepOutcome:
        if self._is_unknown(error):
            return self._lost(error)
        self._roll_back()
        end = "; everything was rolled back" if self.in_transaction else ""
        output = self.results.text()
        if self.execution.stopping:
            if isinstance(error, GivenUp):
                end = f"; the server does not answer, and rolls session {self.pid} back when it finds out"
            return StepOutcome(succeeded=False, stopped=True, message=f"was stopped at {self.at}{end}", output=output)
        if isinstance(error, ConnectionRefused):
            return StepOutcome(succeeded=False, fatal=error.fatal, message=str(error), output=output)
        code = error.code if isinstance(error, StatementRefused) else getattr(error, "sqlstate", None) or ""
        said = self._explained(error, call) or f"{self.at} failed: {visible(str(error))}{self.channel.place(error)}"
        message = f"{said}{end}"
        return StepOutcome(
            succeeded=False,
            fatal=_is_fatal(code),
            message=message,
            output=output,
            error_code=code or None,
            error_line=self.channel.line_of(error),
        )

    def _explained(self, error: Exception, call: Mapping[str, Any] | None) -> str | None:
        """Return why a call was refused, when the server's catalog explains it better than its error does."""
        if not isinstance(error, StatementRefused) or error.code not in _postgres_routines.REFUSED or error.is_inside:
            return None
        with suppress(psycopg.Error):
            if call is not None:
                return f"{call['called']} failed: {error.kind}: {_postgres_routines.explain(self.opened, call)}"
        return None

    def _is_unknown(self, error: Exception) -> bool:
        """Say whether the outcome of what was sent is unknown: the server has not reported that it refused it."""
        if isinstance(error, StatementRefused):
            return self.may_stand and error.code == _CRASHED
        is_gone = isinstance(error, psycopg.OperationalError) and self.opened.closed
        return self.may_stand and (is_gone or isinstance(error, GivenUp))

    def _lost(self, error: Exception) -> StepOutcome:
        said = visible(str(error).strip().partition("\n")[0])
        why = "the server does not answer" if isinstance(error, GivenUp) else f"the connection was lost ({said})"
        message = f"{self.at}: {why}; whether it was done is not known"
        return StepOutcome(succeeded=False, lost=True, message=message, output=self.results.text())

    def _roll_back(self) -> None:
        with suppress(psycopg.Error, GivenUp):
            if self.opened.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
                self.opened.execute("ROLLBACK")


def _is_fatal(code: str) -> bool:
    return code in _FATAL or code.startswith("28")
