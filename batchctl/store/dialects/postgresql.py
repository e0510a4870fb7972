"""PostgreSQL, through psycopg 3."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Collection, Generator, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import zip_longest
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import URL
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import NullPool

from batchctl import __version__
from batchctl.domain.configuring import how_to_install_extra
from batchctl.domain.errors import Busy, ConfigurationError, DatabaseRefused, DatabaseUnreachable
from batchctl.domain.text import visible
from batchctl.ports import Change
from batchctl.store.dialects import UPGRADE_PATIENCE_SECONDS, Dialect
from batchctl.store.dialects import postgresql_catalog as catalog
from batchctl.store.dialects import postgresql_errors as errors
from batchctl.store.dialects import postgresql_locks as locks

_OTHER_SCHEMA = """
SELECT quote_ident(n.nspname) AS schema, quote_ident(current_user) AS role
FROM pg_catalog.pg_namespace n WHERE n.nspname IS DISTINCT FROM current_schema()
    AND 2 = (SELECT count(*) FROM pg_catalog.pg_class c
             WHERE c.relnamespace = n.oid AND c.relkind = 'r' AND c.relname IN ('processbatch', 'alembic_version'))
ORDER BY n.oid LIMIT 1
"""
_WHEREABOUTS = (
    "SELECT json_build_object('database', datname, 'oid', oid::bigint)::text"
    " FROM pg_database WHERE datname = current_database()"
)
CHANNEL = "batchctl"
"""What the triggers notify when anybody but a controller writes; see the migrations."""
_STATED_BY = {"fileprocess": Change.INTAKE, "batchcontrol": Change.INSTANCES}

LOOK_SECONDS = 0.1
"""How often to look for notices where a program cannot wait for the socket: on Windows."""

A_MOMENT = "100ms"
"""How long a nowait transaction waits for a lock: only a person's session holds one for longer."""

_SETTINGS = {
    "TimeZone": "UTC",
    "DateStyle": "ISO, YMD",
    "statement_timeout": "30s",
    "lock_timeout": "5s",
    "idle_in_transaction_session_timeout": "300s",
    "client_connection_check_interval": "1s",
    "tcp_keepalives_idle": "10",
    "tcp_keepalives_interval": "10",
    "tcp_keepalives_count": "3",
    "default_transaction_isolation": "read committed",
    "default_transaction_read_only": "off",
    "random_page_cost": "1.1",
}
"""Asked for with every connection, which counts more than what a role or a database has set.

The tables' pages are in memory: by what a disk costs, a turn would read a thousand rows for the eight that it writes.
"""
_CONNECTING = {
    "connect_timeout": "10",
    "keepalives_idle": "30",
    "keepalives_interval": "10",
    "keepalives_count": "3",
    "tcp_user_timeout": "60000",
}
_BEGIN = "BEGIN ISOLATION LEVEL READ COMMITTED"
_CLOCK = "SELECT clock_timestamp()"
_NOWAIT = f"SELECT clock_timestamp(), set_config('lock_timeout', '{A_MOMENT}', true)"
_LOCK_ROW = "SELECT 1 FROM {table} WHERE {table}_id = %s FOR NO KEY UPDATE"
_ARE_COUNTED = """
SELECT bool_and(reltuples >= 0) FROM pg_class WHERE oid IN ('batchcontrol'::regclass, 'batchprocesshistory'::regclass)
"""
_LOCK_NAME = "SELECT 1 FROM NamedLock WHERE NamedLock_id = %s FOR NO KEY UPDATE"
_IS_NAME = "SELECT 1 FROM NamedLock WHERE NamedLock_id = %s"
_MAKE_NAME = "INSERT INTO NamedLock (NamedLock_id) VALUES (%s) ON CONFLICT DO NOTHING"
_LOCK_ONE = "SELECT {table}_id FROM {table} WHERE {table}_id = %s FOR NO KEY UPDATE SKIP LOCKED"
_LOCK_ROWS = "SELECT {table}_id FROM {table} WHERE {table}_id = ANY(%s) FOR NO KEY UPDATE SKIP LOCKED"
_TELL = f"SELECT pg_notify('{CHANNEL}', 'batchcontrol')"
_IDLE = 0
_LISTEN = f"LISTEN {CHANNEL}; SELECT set_config('batchctl.quiet', 'on', false)"
_GREETING = """
SELECT pg_is_in_recovery(), pid, backend_start, set_config('synchronous_commit', 'on', false),
       CASE WHEN current_setting('transaction_timeout', true) IS NOT NULL THEN set_config('transaction_timeout', '0', false) END
FROM pg_stat_activity WHERE pid = pg_backend_pid()
"""
"""Durability is not asked for with the connection, because `doctor` wants to see what other programs get.

`transaction_timeout` cannot be: there is none before PostgreSQL 17.
"""
SILENT_LOOKS = 350
"""How often, ten times a second, a server may be found silent over one answer; it gives up most of them sooner itself."""
LOOKS_FOR_LOST_SESSION = 50
_END_SESSION = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = %s AND backend_start = %s"
_LOCK_SCHEMA = """
SELECT set_config('lock_timeout', '{patience}', true), set_config('statement_timeout', '0', true);
SELECT pg_advisory_lock(1650553956, hashtext(current_schema()))
"""


class PostgresqlDialect(Dialect):
    """A server of PostgreSQL."""

    definitions = staticmethod(catalog.definitions)
    wanted_definitions = staticmethod(catalog.wanted_definitions)
    restored_definitions = staticmethod(catalog.restored_definitions)
    blocker = staticmethod(locks.blocker)
    is_locked_intake = staticmethod(locks.is_locked_intake)
    locked_instances = staticmethod(locks.locked_instances)
    look_for_locks = staticmethod(locks.look_for_locks)
    missing_names = staticmethod(locks.missing_names)

    def create(self, url: URL, directory: Path, *, may_create: bool, renewed: Callable[[], URL]) -> Engine:
        """Return an engine for the database, which must exist."""
        given = {name: value for name, value in _CONNECTING.items() if name not in url.query}
        given.setdefault("application_name", f"batchctl/{__version__}")
        given["client_encoding"] = "utf8"
        settings = [f"-c {name}={value.replace(' ', chr(92) + ' ')}" for name, value in _SETTINGS.items()]
        given["options"] = " ".join([*url.normalized_query.get("options", ()), *settings])
        try:
            engine = create_engine(
                url.set(drivername="postgresql+psycopg"),
                poolclass=NullPool,
                isolation_level="AUTOCOMMIT",
                connect_args=given,
            )
        except ModuleNotFoundError:
            message = "The driver for PostgreSQL is not installed."
            raise ConfigurationError(message, next_step=how_to_install_extra("postgres")) from None

        def renew(dialect: Any, record: Any, arguments: Any, named: dict[str, Any]) -> None:  # noqa: ARG001 - SQLAlchemy's hook
            named.update(dialect.create_connect_args(renewed())[1] | given)

        event.listen(engine, "do_connect", renew)
        event.listen(engine, "connect", _greet)
        return engine

    def place_of(self, engine: Engine) -> str:
        """Name an engine's database and where its server listens, without any password."""
        _, given = engine.dialect.create_connect_args(engine.url)
        hosts = str(given.get("host") or _default("host") or "this host").split(",")
        ports = str(given.get("port") or _default("port")).split(",")
        places = [
            f"{host}/.s.PGSQL.{port}" if host.startswith(("/", "@")) else f"{host}:{port}"
            for host, port in zip_longest(hosts, ports[: len(hosts)], fillvalue=ports[-1])
        ]
        return visible(f"{given.get('dbname') or given.get('user') or _default('user')} on {', '.join(places)}")

    def lock_schema(self, connection: Connection) -> bool:
        """Wait until no other connection changes the schema, and keep others from it as long as this one lives.

        A lock within the transaction would come too late: what the transaction sees is settled when it begins.
        """
        try:
            _raw(connection).execute(_LOCK_SCHEMA.format(patience=f"{UPGRADE_PATIENCE_SECONDS}s"))
        except Exception as error:
            if not self.is_transient(error):
                raise
            return False
        return True

    def end_migration(self, connection: Connection) -> None:
        """Prepare everything anew: at the sight of a DROP the driver may let the server forget all prepared statements."""
        _raw(connection).batchctl_pipeline.unprepare()

    def begin_write(
        self,
        connection: Connection,
        *,
        nowait: bool = False,
        optimistic: bool = False,
        tell: Callable[[datetime], None] | None = None,
    ) -> None:
        """Begin a transaction and ask for the server's time; one that is nowait begins along with its first statement."""
        raw = _raw(connection)
        raw.batchctl_nowait, raw.batchctl_tells = nowait, False
        raw.batchctl_pipeline.begin(_BEGIN)
        heard = None if tell is None else lambda row: tell(row[0].astimezone(UTC))
        asked = raw.batchctl_pipeline.ask(_NOWAIT if nowait else _CLOCK, then=heard)
        if not nowait:
            asked()

    def commit(self, connection: Connection) -> None:
        """Commit what `begin_write` began."""
        raw = _raw(connection)
        if raw.batchctl_tells:
            raw.batchctl_pipeline.ask(_TELL)
        raw.batchctl_pipeline.do("COMMIT")

    def rollback(self, connection: Connection) -> None:
        """Undo what `begin_write` began, unless the connection is gone and the server does it."""
        if connection.invalidated:
            # SQLAlchemy would raise an error, which would be reported instead of what happened.
            return
        raw = _raw(connection)
        if raw is not None and not raw.closed:
            raw.batchctl_pipeline.forget()
            raw.batchctl_pipeline.do("ROLLBACK")

    def ask(self, connection: Connection, statement: str, values: Sequence[object]) -> Callable[[], list[Any]]:
        """Ask; the statement goes out when an answer is wanted, and with it all that was asked before."""
        asked: Callable[[], list[Any]] = _raw(connection).batchctl_pipeline.ask(statement, values)
        return asked

    def lock_row(self, connection: Connection, table: str, row_id: int) -> None:
        """Lock a row until the end of the transaction, waiting while another has it."""
        _raw(connection).execute(_LOCK_ROW.format(table=table), (row_id,))

    def lock_rows(self, connection: Connection, table: str, row_ids: Sequence[int]) -> Callable[[], Collection[int]]:
        """Lock rows without waiting for locks that others hold; return a function that returns those locked by this one."""
        # Arrays of different lengths are planned differently, and mostly one row is locked.
        statement, named = (_LOCK_ONE, row_ids[0]) if len(row_ids) == 1 else (_LOCK_ROWS, list(row_ids))
        asked = self.ask(connection, statement.format(table=table), [named])
        return lambda: {row[0] for row in asked()}

    def lock_name(self, connection: Connection, name: str) -> bool:
        """Lock a name until the end of the transaction; with nowait the lock of another raises an error."""
        raw, slot = _raw(connection), 1 + zlib.crc32(name.encode()) % locks.NAMES
        if raw.batchctl_nowait:
            if raw.execute(_LOCK_NAME, (slot,)).fetchone() is None:
                _make_name(raw, slot)
            return True
        if self.lock_rows(connection, "NamedLock", [slot])():
            return True
        if raw.execute(_IS_NAME, (slot,)).fetchone() is not None:
            return False
        _make_name(raw, slot)
        return True

    def tell(self, connection: Connection) -> None:
        """Notify, with the commit, of a controller's changes, which the triggers do not notify."""
        _raw(connection).batchctl_tells = True

    def begin_part(self, connection: Connection) -> None:
        """Begin a part of a transaction that may be undone alone."""
        # What was asked before is not in the part: if it fails, it fails by itself, and here.
        _raw(connection).batchctl_pipeline.do("SAVEPOINT part")

    def undo_part(self, connection: Connection) -> None:
        """Undo the part."""
        _raw(connection).batchctl_pipeline.do("ROLLBACK TO part")

    def end_part(self, connection: Connection) -> None:
        """Make the part one with its transaction."""
        _raw(connection).batchctl_pipeline.do("RELEASE part")

    def session(self, connection: Connection) -> object:
        """Return the server's process and when it began."""
        return _raw(connection).batchctl_session

    def end_session(self, connection: Connection, lost: object) -> None:
        """End a lost session, and wait until it is gone: what it writes cannot be seen while it works on its commit."""
        raw = _raw(connection)
        for _ in range(LOOKS_FOR_LOST_SESSION):
            if raw.execute(_END_SESSION, lost).fetchone() is None:
                return
            raw.execute("SELECT pg_sleep(0.1)")
        message = "The server still works for a session that was lost during a commit."
        raise Busy(message, next_step="wait, or let a DBA end it: see pg_stat_activity")

    def change_marker(self, connection: Connection) -> object:
        """Return what differs once another session has written a row; from then on this session's writes notify none."""
        raw = _raw(connection)
        heard = getattr(raw, "batchctl_heard", None)
        if heard is None and (raw.batchctl_pipeline.are_waiting or raw.info.transaction_status != _IDLE):
            # A LISTEN within a transaction is undone when that is rolled back.
            return object()
        if heard is None:
            heard = raw.batchctl_heard = _Heard(raw.info.backend_pid)
            raw.add_notify_handler(heard)
            raw.execute(_LISTEN)
        raw.pgconn.consume_input()
        while notice := raw.pgconn.notifies():
            heard.hear(notice.be_pid, notice.extra.decode())
        return heard.own, heard.count

    def what_changed(self, connection: Connection) -> Change:
        """Return what was written to, by the tables that were notified."""
        heard = getattr(_raw(connection), "batchctl_heard", None)
        return Change.ANYTHING if heard is None else heard.asked()

    def ways_to_notice(self, connection: Connection) -> tuple[int | None, float]:
        """Return the socket, which becomes readable with a notice."""
        return _raw(connection).fileno(), LOOK_SECONDS

    def is_transient(self, error: BaseException) -> bool:
        """Say whether running the whole transaction again may succeed."""
        return _state_of(error) in errors.TRANSIENT

    def is_lost(self, error: BaseException) -> bool:
        """Say whether the connection is gone: by its code, or because there is an error of the driver without one."""
        state = _state_of(error)
        severity = getattr(getattr(_origin(error), "diag", None), "severity_nonlocalized", None)
        if state:
            return state.startswith(errors.LOST) or severity in errors.LAST_WORDS
        return any(kind.__name__ in {"OperationalError", "InterfaceError"} for kind in type(_origin(error)).__mro__)

    def is_about_the_database(self, error: BaseException) -> bool:
        """Say whether an error concerns the database as a whole, not a row."""
        return self.is_lost(error) or errors.is_about_the_database(str(_origin(error)), _state_of(error))

    def database_refused(self, error: BaseException, where: str) -> DatabaseRefused:
        """Explain an error that concerns the database as a whole."""
        origin, state = _origin(error), _state_of(error)
        if isinstance(origin, DatabaseRefused):
            return origin
        said = visible(str(origin).strip().partition("\n")[0])
        what, next_step = errors.meaning(said, state)
        code = f" ({state})" if state else ""
        # The driver puts this before the message of the library.
        message = f"The control database {where} {what}: {said.removeprefix('connection failed: ')}{code}."
        if self.is_lost(error):
            return DatabaseUnreachable(message, next_step=visible(next_step))
        return DatabaseRefused(message, next_step=visible(next_step))

    def whereabouts(self, connection: Connection) -> str:
        """Return the number that the server gave the database, and its name."""
        return str(connection.exec_driver_sql(_WHEREABOUTS).scalar_one())

    def other_schema(self, connection: Connection) -> tuple[str, str] | None:
        """Name the schema that holds the tables, where the search_path of this role leads to another."""
        found = connection.exec_driver_sql(_OTHER_SCHEMA).one_or_none()
        if found is None:
            return None
        mend = f"ALTER ROLE {found.role} SET search_path = {found.schema};"
        return visible(found.schema), visible(mend)

    @contextmanager
    def long_read(self, connection: Connection) -> Iterator[None]:
        """Join no table row by row that was never analysed, as after a restore: the planner takes it for nearly empty."""
        are_counted = connection.exec_driver_sql(_ARE_COUNTED).scalar_one()
        if are_counted:
            yield
            return
        connection.exec_driver_sql("SET enable_nestloop = off")
        try:
            yield
        finally:
            connection.exec_driver_sql("RESET enable_nestloop")

    def constraint_findings(self, connection: Connection, *, at_length: bool) -> list[str]:
        """Return nothing: the server keeps to its constraints; `db verify` finds one that was dropped."""
        return []


DIALECT = PostgresqlDialect()


def _default(option: str) -> str:
    """Return what libpq takes where the URL says nothing: the value of PGHOST and its like, or its own."""
    from psycopg import pq  # noqa: PLC0415 - an extra; it is there where an engine is

    found = {each.keyword: each.val for each in pq.Conninfo.get_defaults()}
    return (found.get(option.encode()) or b"").decode("utf-8", "replace")


def _greet(raw: Any, record: Any) -> None:  # noqa: ARG001 - SQLAlchemy's hook
    """Refuse a standby, and a server behind a connection pooler."""
    from batchctl.store.dialects.postgresql_times import read_all_times  # noqa: PLC0415 - it needs the driver, an extra

    read_all_times(raw)
    _limit_waiting(raw)
    is_standby, backend, began, *_ = raw.execute(_GREETING).fetchone()
    if is_standby:
        raise _refused("is a standby, which accepts no writes", "name the primary server in database_url")
    if backend != raw.info.backend_pid:
        raise _refused(
            "is reached through a connection pooler, which loses session locks and notifications",
            "name the server itself in database_url, or a pool in session mode",
        )
    raw.autocommit = True
    raw.batchctl_session = backend, began


def _limit_waiting(raw: Any) -> None:
    """Let no call wait for ever: a COMMIT has no limit in the server, and a server may be there and not answer.

    Statements that wait in the pipeline go out before any other.
    """
    from batchctl.store.dialects.postgresql_pipeline import Pipeline  # noqa: PLC0415 - it needs the driver, an extra

    wait = raw.wait
    pipeline = raw.batchctl_pipeline = Pipeline(raw, lambda work: wait(_while_heard(work)))

    def limited(work: Any, *args: Any, **options: Any) -> Any:
        pipeline.go()
        return wait(_while_heard(work), *args, **options)

    raw.wait = limited


def _while_heard(work: Any) -> Generator[Any, Any, Any]:
    from psycopg import OperationalError  # noqa: PLC0415 - an extra, needed for PostgreSQL only

    silent = 0
    try:
        wanted = next(work)
        while True:
            is_ready = yield wanted
            silent = 0 if is_ready else silent + 1
            if silent > SILENT_LOOKS:
                message = f"the server has not answered for {SILENT_LOOKS // 10} s"
                raise OperationalError(message)
            wanted = work.send(is_ready)
    except StopIteration as end:
        return end.value


def _refused(reason: str, next_step: str) -> DatabaseRefused:
    return DatabaseRefused(f"The control database {reason}.", next_step=next_step)


def _make_name(raw: Any, slot: int) -> None:
    """Make a row anew that somebody has deleted, and lock it; wait for a transaction that makes it at the same time."""
    raw.execute(_MAKE_NAME, (slot,))
    raw.execute(_LOCK_NAME, (slot,))


class _Heard:
    """Counts what other sessions have notified."""

    def __init__(self, own: int) -> None:
        self.own = own
        self.count = 0
        self.what = Change.ANYTHING

    def __call__(self, notice: Any) -> None:
        self.hear(notice.pid, notice.payload)

    def hear(self, session: int, table: str) -> None:
        if session != self.own:
            self.count += 1
            self.what |= _STATED_BY.get(table, Change.ANYTHING)

    def asked(self) -> Change:
        what, self.what = self.what, Change.NOTHING
        return what


def _raw(connection: Connection) -> Any:
    return connection.connection.dbapi_connection


def _origin(error: BaseException) -> BaseException:
    return error.orig if isinstance(error, DBAPIError) and error.orig is not None else error


def _state_of(error: BaseException) -> str:
    return str(getattr(_origin(error), "sqlstate", "") or "")
