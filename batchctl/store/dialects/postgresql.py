"""PostgreSQL, through psycopg 3."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Collection, Container, Generator, Sequence
from datetime import UTC, datetime
from itertools import zip_longest
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, text
from sqlalchemy.engine import URL
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import NullPool

from batchctl import __version__
from batchctl.domain.errors import Busy, ConfigurationError, DatabaseUnusable
from batchctl.domain.text import visible
from batchctl.ports import Change
from batchctl.store.dialects import postgresql_errors as errors

WRITES_ALONE = False

CHANNEL = "batchctl"
"""What the triggers notify when anybody but a controller writes; see the migrations."""
_SAID_BY = {"fileprocess": Change.INTAKE, "batchcontrol": Change.INSTANCES}

LOOK_SECONDS = 0.1
"""How often it is looked for notices where nobody can wait for the socket: on Windows."""

A_MOMENT = "100ms"
"""How long a hurried transaction waits for a lock: nobody holds one for longer unless a person does."""

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
_HURRY = f"SELECT clock_timestamp(), set_config('lock_timeout', '{A_MOMENT}', true)"
_LOCK_ROW = "SELECT 1 FROM {table} WHERE {table}_id = %s FOR NO KEY UPDATE"
_LOCK_ONE = "SELECT {table}_id FROM {table} WHERE {table}_id = %s FOR NO KEY UPDATE SKIP LOCKED"
_LOCK_ROWS = "SELECT {table}_id FROM {table} WHERE {table}_id = ANY(%s) FOR NO KEY UPDATE SKIP LOCKED"
_LOCK_NAME = "SELECT true FROM pg_advisory_xact_lock(1650553957, hashtext(current_schema() || %s))"
_TRY_LOCK_NAME = "SELECT pg_try_advisory_xact_lock(1650553957, hashtext(current_schema() || %s))"
_TELL = f"SELECT pg_notify('{CHANNEL}', 'batchcontrol')"
_IDLE = 0
_LISTEN = f"LISTEN {CHANNEL}; SELECT set_config('batchctl.quiet', 'on', false)"
_DEFINITIONS = """
SELECT c.relname || '.' || a.attname AS name,
       format_type(a.atttypid, a.atttypmod) || CASE WHEN a.attnotnull THEN ' NOT NULL' ELSE '' END
       || coalesce(' DEFAULT ' || pg_get_expr(d.adbin, d.adrelid), '') || ' ' || a.attidentity::text AS definition
FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped
UNION ALL
SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint
WHERE connamespace = current_schema()::regnamespace AND contype <> 'n'
UNION ALL
SELECT c.relname, pg_get_indexdef(c.oid) FROM pg_class c
WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'i'
UNION ALL
SELECT c.relname || '.' || t.tgname,
       pg_get_triggerdef(t.oid) || CASE WHEN t.tgenabled IN ('D', 'R') THEN ' DISABLED' ELSE '' END
FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
WHERE c.relnamespace = current_schema()::regnamespace AND NOT t.tgisinternal
UNION ALL
SELECT proname || '()', prosrc FROM pg_proc WHERE pronamespace = current_schema()::regnamespace
"""
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
_MODEL = "batchctl_model"
_CONTROLLER = "batchctl controller "
_NAME_SESSION = text("SELECT set_config('application_name', :name, false)")
_LOCK = "1650553955, hashtext(current_schema())"
_TRY_LOCK = text(f"SELECT pg_try_advisory_lock({_LOCK})")
_LOCK_SCHEMA = "SELECT pg_advisory_lock(1650553956, hashtext(current_schema()))"
_OF_LEADER = """
FROM pg_locks l LEFT JOIN pg_stat_activity a ON a.pid = l.pid
WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 2
AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
AND l.classid::bigint = 1650553955 AND l.objid::bigint = hashtext(current_schema())::bigint & 4294967295
"""
_LOCK_HOLDER = text(f"SELECT coalesce(a.application_name, 'process ' || l.pid) {_OF_LEADER}")
_END_LEADER = text(f"SELECT pg_terminate_backend(l.pid) {_OF_LEADER} AND a.application_name = :name")


_BLOCKER = text("""
SELECT l.pid, a.application_name AS program, a.usename AS user_name, a.state,
       to_char(a.xact_start AT TIME ZONE 'UTC', 'HH24:MI:SS') AS since,
       EXISTS (SELECT 1 FROM pg_locks t WHERE t.pid = l.pid AND t.granted AND t.locktype = 'transactionid'
               AND t.transactionid IN (
                   SELECT c.xmax FROM BatchControl c WHERE c.BatchControl_id = :instance_id
                   UNION ALL SELECT f.xmax FROM FileProcess f JOIN BatchControl c ON c.FileProcess_id = f.FileProcess_id
                   WHERE c.BatchControl_id = :instance_id
                   UNION ALL SELECT b.xmax FROM ProcessBatch b JOIN BatchControl c ON c.ProcessBatch_id = b.ProcessBatch_id
                   WHERE c.BatchControl_id = :instance_id
                   UNION ALL SELECT h.xmax FROM BatchProcessHistory h
                   WHERE h.BatchControl_id = :instance_id AND h.Status = 'running')) AS is_proven
FROM pg_locks l JOIN pg_class c ON c.oid = l.relation AND c.relnamespace = current_schema()::regnamespace
LEFT JOIN pg_stat_activity a ON a.pid = l.pid
WHERE l.granted AND l.pid <> pg_backend_pid() AND c.relkind = 'r'
AND l.mode IN ('RowShareLock', 'RowExclusiveLock', 'ShareUpdateExclusiveLock', 'ShareLock', 'ShareRowExclusiveLock',
               'ExclusiveLock', 'AccessExclusiveLock')
ORDER BY is_proven DESC, a.xact_start NULLS LAST LIMIT 1
""")
"""A row that several have locked does not say by whom."""
_LOCKED_INSTANCES = """
WITH c AS (SELECT BatchControl_id, FileProcess_id, ProcessBatch_id FROM BatchControl WHERE BatchControl_id = ANY(%(ids)s)),
free AS (SELECT BatchControl_id FROM BatchControl WHERE BatchControl_id = ANY(%(ids)s) FOR NO KEY UPDATE SKIP LOCKED),
free_intake AS (
    SELECT FileProcess_id FROM FileProcess
    WHERE FileProcess_id IN (SELECT FileProcess_id FROM c) FOR NO KEY UPDATE SKIP LOCKED
),
free_batch AS (
    SELECT ProcessBatch_id FROM ProcessBatch
    WHERE ProcessBatch_id IN (SELECT ProcessBatch_id FROM c) FOR KEY SHARE SKIP LOCKED
),
free_entry AS (
    SELECT BatchProcessHistory_id FROM BatchProcessHistory
    WHERE BatchControl_id = ANY(%(ids)s) AND Status = 'running' FOR NO KEY UPDATE SKIP LOCKED
)
SELECT BatchControl_id FROM c WHERE BatchControl_id NOT IN (SELECT BatchControl_id FROM free)
OR EXISTS (SELECT 1 FROM FileProcess f WHERE f.FileProcess_id = c.FileProcess_id
           AND f.FileProcess_id NOT IN (SELECT FileProcess_id FROM free_intake))
OR EXISTS (SELECT 1 FROM ProcessBatch b WHERE b.ProcessBatch_id = c.ProcessBatch_id
           AND b.ProcessBatch_id NOT IN (SELECT ProcessBatch_id FROM free_batch))
OR EXISTS (SELECT 1 FROM BatchProcessHistory h WHERE h.BatchControl_id = c.BatchControl_id AND h.Status = 'running'
           AND h.BatchProcessHistory_id NOT IN (SELECT BatchProcessHistory_id FROM free_entry))
"""
"""A row that somebody has deleted is not locked by anybody."""
_LOCKED_INTAKE = """
WITH free AS (SELECT 1 FROM FileProcess WHERE FileProcess_id = %(id)s FOR NO KEY UPDATE SKIP LOCKED),
free_batch AS (SELECT ProcessBatch_id FROM ProcessBatch WHERE ProcessBatch_id = ANY(%(batches)s) FOR KEY SHARE SKIP LOCKED)
SELECT 1 FROM FileProcess WHERE FileProcess_id = %(id)s AND NOT EXISTS (SELECT 1 FROM free)
UNION ALL
SELECT 1 FROM ProcessBatch
WHERE ProcessBatch_id = ANY(%(batches)s) AND ProcessBatch_id NOT IN (SELECT ProcessBatch_id FROM free_batch)
"""


def create(url: URL, directory: Path, *, may_create: bool, renewed: Callable[[], URL]) -> Engine:  # noqa: ARG001 - a server's databases are the DBA's to create
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
        pip = f"{shlex.quote(sys.executable)} -m pip"
        raise ConfigurationError(message, next_step=f"{pip} install 'batchctl[postgres]'") from None

    def renew(dialect: Any, record: Any, arguments: Any, named: dict[str, Any]) -> None:  # noqa: ARG001 - SQLAlchemy's hook
        named.update(dialect.create_connect_args(renewed())[1] | given)

    event.listen(engine, "do_connect", renew)
    event.listen(engine, "connect", _greet)
    return engine


def place_of(engine: Engine) -> str:
    """Name an engine's database and where its server listens, without any password."""
    _, given = engine.dialect.create_connect_args(engine.url)
    hosts = str(given.get("host") or _default("host") or "this host").split(",")
    ports = str(given.get("port") or _default("port")).split(",")
    places = [
        f"{host}/.s.PGSQL.{port}" if host.startswith(("/", "@")) else f"{host}:{port}"
        for host, port in zip_longest(hosts, ports[: len(hosts)], fillvalue=ports[-1])
    ]
    return visible(f"{given.get('dbname') or given.get('user') or _default('user')} on {', '.join(places)}")


def _default(option: str) -> str:
    """Return what libpq takes where the URL says nothing: the value of PGHOST and its like, or its own."""
    from psycopg import pq  # noqa: PLC0415 - an extra; who has an engine has it

    found = {each.keyword: each.val for each in pq.Conninfo.get_defaults()}
    return (found.get(option.encode()) or b"").decode("utf-8", "replace")


def _greet(raw: Any, record: Any) -> None:  # noqa: ARG001 - SQLAlchemy's hook
    """Refuse a server that would not keep what it promises."""
    _limit_waiting(raw)
    is_standby, backend, began, *_ = raw.execute(_GREETING).fetchone()
    if is_standby:
        raise _refused("is a standby, which nobody can write to", "name the primary server in database_url")
    if backend != raw.info.backend_pid:
        raise _refused(
            "is reached through a connection pooler, which loses session locks and notifications",
            "name the server itself in database_url, or a pool in session mode",
        )
    raw.autocommit = True
    raw.batchctl_session = backend, began


def _limit_waiting(raw: Any) -> None:
    """Let no call wait for ever: a COMMIT has no limit in the server, and a server may be there and not answer.

    What has been asked before goes out before anything else does.
    """
    from batchctl.store.dialects.postgresql_trips import Trips  # noqa: PLC0415 - it needs the driver, an extra

    wait = raw.wait
    trips = raw.batchctl_trips = Trips(raw, lambda work: wait(_while_heard(work)))

    def limited(work: Any, *args: Any, **options: Any) -> Any:
        trips.go()
        return wait(_while_heard(work), *args, **options)

    raw.wait = limited


def _while_heard(work: Any) -> Generator[Any, Any, Any]:
    from psycopg import OperationalError  # noqa: PLC0415 - an extra; who has no PostgreSQL need not have it

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


def _refused(reason: str, next_step: str) -> DatabaseUnusable:
    return DatabaseUnusable(f"The control database {reason}.", next_step=next_step)


def prepare(connection: Connection) -> None:
    """Nothing that the database would have to remember."""


def lock_schema(connection: Connection) -> None:
    """Wait until nobody else changes the schema, and keep others from it as long as the connection lives.

    A lock within the transaction would come too late: what it sees is settled when it begins.
    """
    _raw(connection).execute(_LOCK_SCHEMA)


def begin_write(
    connection: Connection, *, hurried: bool = False, tell: Callable[[datetime], None] | None = None
) -> None:
    """Begin a transaction and hear the server's time; one that is hurried begins along with its first statement."""
    raw = _raw(connection)
    raw.batchctl_hurried, raw.batchctl_tells = hurried, False
    raw.batchctl_trips.begin(_BEGIN)
    heard = None if tell is None else lambda row: tell(row[0].astimezone(UTC))
    asked = raw.batchctl_trips.ask(_HURRY if hurried else _CLOCK, then=heard)
    if not hurried:
        asked()


def commit(connection: Connection) -> None:
    """Commit what `begin_write` began."""
    raw = _raw(connection)
    if raw.batchctl_tells:
        raw.batchctl_trips.ask(_TELL)
    raw.batchctl_trips.do("COMMIT")


def rollback(connection: Connection) -> None:
    """Undo what `begin_write` began, unless the connection is gone and the server does it."""
    if connection.invalidated:
        # SQLAlchemy would complain, and its complaint would be told instead of what happened.
        return
    raw = _raw(connection)
    if raw is not None and not raw.closed:
        raw.batchctl_trips.forget()
        raw.batchctl_trips.do("ROLLBACK")


def ask(connection: Connection, statement: str, values: Sequence[object]) -> Callable[[], list[Any]]:
    """Ask; the statement goes out when an answer is wanted, and with it all that was asked before."""
    asked: Callable[[], list[Any]] = _raw(connection).batchctl_trips.ask(statement, values)
    return asked


def lock_row(connection: Connection, table: str, row_id: int) -> None:
    """Lock a row until the end of the transaction, waiting for whoever has it."""
    _raw(connection).execute(_LOCK_ROW.format(table=table), (row_id,))


def lock_rows(connection: Connection, table: str, row_ids: Sequence[int]) -> Callable[[], Collection[int]]:
    """Lock rows, waiting for nobody; return how to learn which were free."""
    # How many there are in an array makes another plan each time, and one is what is locked most.
    statement, named = (_LOCK_ONE, row_ids[0]) if len(row_ids) == 1 else (_LOCK_ROWS, list(row_ids))
    asked = ask(connection, statement.format(table=table), [named])
    return lambda: {row[0] for row in asked()}


def lock_name(connection: Connection, name: str) -> bool:
    """Let nobody else have a name until the end of the transaction; who is hurried runs into whoever has it."""
    raw = _raw(connection)
    return bool(raw.execute(_LOCK_NAME if raw.batchctl_hurried else _TRY_LOCK_NAME, (name,)).fetchone()[0])


def tell(connection: Connection) -> None:
    """Notify by hand, with the commit, what the triggers do not notify of a controller."""
    _raw(connection).batchctl_tells = True


def begin_part(connection: Connection) -> None:
    """Begin a part of a transaction that may be undone alone."""
    _raw(connection).batchctl_trips.begin("SAVEPOINT part")


def undo_part(connection: Connection) -> None:
    """Undo the part."""
    _raw(connection).batchctl_trips.do("ROLLBACK TO part")


def end_part(connection: Connection) -> None:
    """Make the part one with its transaction."""
    _raw(connection).batchctl_trips.do("RELEASE part")


def session(connection: Connection) -> object:
    """Return the server's process and when it began."""
    return _raw(connection).batchctl_session


def end_session(connection: Connection, lost: object) -> None:
    """End a lost session, and wait until it is gone: while it works on its commit, nobody sees what it will have written."""
    raw = _raw(connection)
    for _ in range(LOOKS_FOR_LOST_SESSION):
        if raw.execute(_END_SESSION, lost).fetchone() is None:
            return
        raw.execute("SELECT pg_sleep(0.1)")
    message = "The server still works for a session that was lost during a commit."
    raise Busy(message, next_step="wait, or let a DBA end it: see pg_stat_activity")


def change_marker(connection: Connection) -> object:
    """Return what differs once another session has written a row; whoever asks writes quietly from then on."""
    raw = _raw(connection)
    heard = getattr(raw, "batchctl_heard", None)
    if heard is None and (raw.batchctl_trips.are_waiting or raw.info.transaction_status != _IDLE):
        # What begins to listen in a transaction is deaf again when that is rolled back.
        return object()
    if heard is None:
        heard = raw.batchctl_heard = _Heard(raw.info.backend_pid)
        raw.add_notify_handler(heard)
        raw.execute(_LISTEN)
    raw.pgconn.consume_input()
    while notice := raw.pgconn.notifies():
        heard.hear(notice.be_pid, notice.extra.decode())
    return heard.own, heard.count


def what_changed(connection: Connection) -> Change:
    """Return what was written to, by the tables that were notified."""
    heard = getattr(_raw(connection), "batchctl_heard", None)
    return Change.ANYTHING if heard is None else heard.asked()


def ways_to_notice(connection: Connection) -> tuple[int | None, float]:
    """Wait for the socket."""
    return _raw(connection).fileno(), LOOK_SECONDS


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
            self.what |= _SAID_BY.get(table, Change.ANYTHING)

    def asked(self) -> Change:
        what, self.what = self.what, Change.NOTHING
        return what


def is_transient(error: BaseException) -> bool:
    """Say whether running the whole transaction again may succeed."""
    return _state_of(error) in errors.TRANSIENT


def is_lost(error: BaseException) -> bool:
    """Say whether the connection is gone: by its code, or because there is an error of the driver without one."""
    state = _state_of(error)
    severity = getattr(getattr(_origin(error), "diag", None), "severity_nonlocalized", None)
    if state:
        return state.startswith(errors.LOST) or severity in errors.LAST_WORDS
    return any(kind.__name__ in {"OperationalError", "InterfaceError"} for kind in type(_origin(error)).__mro__)


def is_about_the_database(error: BaseException) -> bool:
    """Say whether an error concerns the database as a whole, not a row."""
    return is_lost(error) or errors.is_about_the_database(str(_origin(error)), _state_of(error))


def unusable(error: BaseException, where: str) -> DatabaseUnusable:
    """Explain an error that concerns the database as a whole."""
    origin, state = _origin(error), _state_of(error)
    if isinstance(origin, DatabaseUnusable):
        return origin
    said = visible(str(origin).strip().partition("\n")[0])
    what, next_step = errors.meaning(said, state)
    code = f" ({state})" if state else ""
    return DatabaseUnusable(f"The control database {where} {what}: {said}{code}.", next_step=visible(next_step))


def try_lock(connection: Connection, controller: str) -> bool:
    """Take the leader's lock for the session, under the controller's name; false when another session has it."""
    connection.execute(_NAME_SESSION, {"name": f"{_CONTROLLER}{controller}"})
    return bool(connection.execute(_TRY_LOCK).scalar_one())


def lock_holder(connection: Connection) -> str | None:
    """Name the controller whose session has the lock."""
    found = connection.execute(_LOCK_HOLDER).scalars().first()
    return None if found is None else str(found).removeprefix(_CONTROLLER)


def end_leader(connection: Connection, holder: str) -> None:
    """End the session that has the leader's lock under this name."""
    connection.execute(_END_LEADER, {"name": f"{_CONTROLLER}{holder}"})


def look(connection: Connection) -> None:
    """Raise if the session is known to be gone, without asking the server."""
    session = _raw(connection).pgconn
    # The first brings the server's last words, if there are any, and only what follows them says that it is gone.
    session.consume_input()
    session.is_busy()
    session.consume_input()


def blocker(connection: Connection, instance_id: int | None = None) -> tuple[str, str] | None:
    """Name the session that has locked an instance's rows, or else the one that has kept locks longest."""
    found = connection.execute(_BLOCKER, {"instance_id": instance_id}).first()
    if found is None:
        return None
    known = [found.program, found.user_name and f"user {found.user_name}", found.state]
    known += [found.since and f"transaction open since {found.since} UTC"]
    said = visible(", ".join(str(part) for part in known if part))
    known_as = f"session {found.pid}{f' ({said})' if said else ''}"
    who = known_as if found.is_proven else f"{known_as}, as far as can be seen: it has kept locks longest"
    return who, f"SELECT pg_terminate_backend({found.pid})"


def locked_instances(connection: Connection, instance_ids: Sequence[int]) -> Container[int]:
    """Lock the rows of instances and of their intake, unless it is hurried; return those that others have locked."""
    if _raw(connection).batchctl_hurried:
        return ()
    return {row[0] for row in _raw(connection).execute(_LOCKED_INSTANCES, {"ids": list(instance_ids)})}


def look_for_locks(connection: Connection) -> None:
    """Look for the locks of others in this transaction, hurried or not."""
    _raw(connection).batchctl_hurried = False


def is_locked_intake(connection: Connection, intake_id: int, batch_ids: Sequence[int]) -> bool:
    """Lock a FileProcess row and the batches that will take it, unless somebody else has; who is hurried runs into that."""
    if _raw(connection).batchctl_hurried:
        return False
    wanted = {"id": intake_id, "batches": list(batch_ids)}
    return _raw(connection).execute(_LOCKED_INTAKE, wanted).fetchone() is not None


def violations(connection: Connection) -> list[str]:  # noqa: ARG001 - the protocol's
    """Nothing: the server keeps to its constraints; `db verify` finds one that was dropped."""
    return []


def definitions(connection: Connection) -> dict[str, str]:
    """Return how everything in the connection's schema is defined, by name."""
    schema = str(connection.execute(text("SELECT quote_ident(current_schema())")).scalar_one())
    rows = connection.execute(text(_DEFINITIONS))
    return {str(row.name): " ".join(str(row.definition).replace(f"{schema}.", "").split()) for row in rows}


def wanted_definitions(connection: Connection, make: Callable[[Connection], None]) -> dict[str, str]:
    """Return the definitions of what `make` makes: in a schema of its own, which is forgotten at once."""
    raw = _raw(connection)
    raw.execute("BEGIN")
    try:
        raw.execute(f"CREATE SCHEMA {_MODEL}")
        raw.execute(f"SET LOCAL search_path = {_MODEL}")
        make(connection)
        return definitions(connection)
    finally:
        raw.batchctl_trips.do("ROLLBACK")


def _raw(connection: Connection) -> Any:
    return connection.connection.dbapi_connection


def _origin(error: BaseException) -> BaseException:
    return error.orig if isinstance(error, DBAPIError) and error.orig is not None else error


def _state_of(error: BaseException) -> str:
    return str(getattr(_origin(error), "sqlstate", "") or "")
