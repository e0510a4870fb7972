"""SQLite: one file, one writer at a time."""

from __future__ import annotations

import json
import os
import re
import shutil
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, text
from sqlalchemy.engine import URL
from sqlalchemy.pool import NullPool

from batchctl.domain.errors import DatabaseRefused, OutcomeUnknown
from batchctl.domain.text import visible
from batchctl.store import one_look
from batchctl.store.dialects import Dialect, sqlite_log
from batchctl.store.dialects.sqlite_files import (
    OpenedFile,
    beside,
    number_of,
    refuse_another_file,
    refuse_foreign_log,
    way_to_open,
    written_at,
)
from batchctl.store.dialects.sqlite_log import LogEnd, Stamp, log_of

OLDEST = (3, 37, 0)
"""The first SQLite with STRICT tables."""
MOST_LOG = 3 * 1024 * 1024
"""Bytes of the log after which it is written into the file: before any other program does so by itself, at 1,000 pages."""
LEAST_GROWTH = 64 * 1024
"""How many bytes a log that was begun anew grows by before it is written into the file."""
BUSY_TIMEOUT = 2.5
"""Seconds a statement waits for another process's write to end."""
A_MOMENT = 50
"""For how many milliseconds a statement waits that can be left for later."""
_MOST_KEPT_KIB = 1 << 20
"""How much of the file stays in memory where all of it is read."""

_FILE = "batchctl_file"
_TRANSIENT = frozenset({"SQLITE_BUSY", "SQLITE_BUSY_SNAPSHOT", "SQLITE_BUSY_RECOVERY", "SQLITE_LOCKED"})
_REFUSED_BECAUSE = {
    "SQLITE_NOTADB": "is not a SQLite database",
    "SQLITE_CORRUPT": "is damaged: restore it from a backup, do not write to it",
    "SQLITE_READONLY": "is read-only",
    "SQLITE_CANTOPEN": "cannot be opened",
    "SQLITE_PERM": "may not be opened by this user",
    "SQLITE_AUTH": "may not be opened by this user",
    "SQLITE_FULL": "cannot grow: the disk is full",
    "SQLITE_IOERR": "cannot be read or written: the disk reports an error",
}

_LACKS = re.compile(r"no such (table|column): (?:main\.)?(\S+)|table (\S+) has no column named (\S+)")
"""What SQLite says of a table that somebody has dropped or altered; it has no code for that."""

_CORRECT_URL = "correct database_url in batchctl.toml, or BATCHCTL_DATABASE_URL"
_TO_MEND = {
    "SQLITE_NOTADB": _CORRECT_URL,
    "SQLITE_CANTOPEN": f"{_CORRECT_URL}: it has to name a file, in a folder that there is",
    "SQLITE_PERM": "act as the user who runs the controller",
    "SQLITE_AUTH": "act as the user who runs the controller",
    "SQLITE_FULL": "make room on its disk; a running controller goes on by itself then",
    "SQLITE_IOERR": "look at the disk and its mount; then: batchctl doctor",
}
"""What a person does about it, where the reason does not say so."""

_FULL = 2
_SHARED_MEMORY = 32_768
"""How many bytes SQLite needs beside a database before anybody may read it."""
_WRITE_LOG = "PRAGMA wal_checkpoint(PASSIVE)"
_sync = getattr(os, "fdatasync", os.fsync)

LOOK_SECONDS = 0.005
"""How often to look whether another process has written: nothing announces it, and a look takes microseconds."""

_DEFINITIONS = text("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%'")


class SqliteDialect(Dialect):
    """One file, one writer at a time."""

    WRITES_ALONE = True

    def create(self, url: URL, directory: Path, *, may_create: bool, renewed: Callable[[], URL]) -> Engine:
        """Return an engine for the file; nothing is created unless `may_create`."""
        path = database_path(url, directory)
        if sqlite3.sqlite_version_info < OLDEST:
            message = f"The SQLite {sqlite3.sqlite_version} of this Python cannot open the control database {path}."
            next_step = f"use a Python with SQLite {'.'.join(map(str, OLDEST))} or later"
            raise DatabaseRefused(message, next_step=next_step)
        if not path.parent.is_dir():
            message = f"The folder {path.parent} of the control database {path.name} does not exist."
            raise DatabaseRefused(message, next_step="create the folder, or correct database_url")
        if not path.exists() and not may_create:
            message = f"The control database {path} does not exist."
            raise DatabaseRefused(message, next_step="batchctl db upgrade")

        def connect() -> sqlite3.Connection:
            if may_create:
                # A stranger's read lock would keep everybody from writing. The files beside it get the same rights.
                with suppress(OSError):
                    path.touch(mode=0o600, exist_ok=False)
            return _connect(path, "rwc" if may_create else way_to_open(path))

        engine = create_engine("sqlite://", creator=connect, poolclass=NullPool, isolation_level="AUTOCOMMIT")
        return engine.execution_options(**{_FILE: str(path)})

    def place_of(self, engine: Engine) -> str:
        """Return the path of an engine's file."""
        return str(engine.get_execution_options().get(_FILE, "(unknown)"))

    def prepare(self, connection: Connection) -> None:
        """Set what a new file itself remembers: write-ahead logging, so that readers never wait; later its owner sets it."""
        is_new = not connection.exec_driver_sql("PRAGMA schema_version").scalar_one()
        if is_new:
            connection.exec_driver_sql("PRAGMA journal_mode = WAL")
        if not connection.exec_driver_sql("PRAGMA user_version").scalar_one():
            # Two young databases would differ in nothing by which a log is known to be of another file.
            number = connection.exec_driver_sql("SELECT 1 + abs(random() % 2147483646)").scalar_one()
            connection.exec_driver_sql(f"PRAGMA user_version = {number}")

    def begin_write(
        self,
        connection: Connection,
        *,
        nowait: bool = False,
        optimistic: bool = False,
        tell: Callable[[datetime], None] | None = None,
    ) -> None:
        """Take the write lock at once, or with the first statement that writes; the clock of the host is the database's."""
        raw, stamp = _raw(connection), None
        if isinstance(raw, OpenedFile):
            refuse_another_file(raw)
            if raw.batchctl_syncs:
                stamp = _look_at_log(raw)
        raw.execute("BEGIN" if optimistic and stamp is None else "BEGIN IMMEDIATE")
        if stamp is not None:
            _stamp_log(raw, stamp)

    @contextmanager
    def waiting_briefly(self, connection: Connection) -> Iterator[None]:
        """Let statements wait no longer than a moment for another who writes."""
        raw = _raw(connection)
        raw.execute(f"PRAGMA busy_timeout = {A_MOMENT}")
        try:
            yield
        finally:
            raw.execute(f"PRAGMA busy_timeout = {int(BUSY_TIMEOUT * 1000)}")

    def commit(self, connection: Connection) -> None:
        """Commit what `begin_write` began, and wait until the disk has it."""
        raw = _raw(connection)
        raw.execute("COMMIT")
        if isinstance(raw, OpenedFile) and raw.batchctl_syncs:
            raw.batchctl_stamped = raw.batchctl_stamping
            _sync_log(raw)

    def rollback(self, connection: Connection) -> None:
        """Undo what `begin_write` began, if the database has not done so itself."""
        raw = _raw(connection)
        if raw.in_transaction:
            raw.execute("ROLLBACK")

    def ask(self, connection: Connection, statement: str, values: Sequence[object]) -> Callable[[], Sequence[Any]]:
        """Ask at once; within a look, with all else that is asked before the first answer is wanted."""
        raw = _raw(connection)
        if (look := one_look.current()) is not None and isinstance(raw, OpenedFile):
            return raw.batchctl_joined.ask(statement, values, look)
        rows = raw.execute(statement, values).fetchall()
        return lambda: rows

    def begin_part(self, connection: Connection) -> None:
        """Begin a part of a transaction that may be undone alone."""
        _raw(connection).execute("SAVEPOINT part")

    def undo_part(self, connection: Connection) -> None:
        """Undo the part; the database may have undone the whole transaction already."""
        if _raw(connection).in_transaction:
            _raw(connection).execute("ROLLBACK TO part")

    def end_part(self, connection: Connection) -> None:
        """Make the part one with its transaction."""
        if _raw(connection).in_transaction:
            _raw(connection).execute("RELEASE part")

    def change_marker(self, connection: Connection) -> int:
        """Return a number that differs once any other connection has committed."""
        raw = _raw(connection)
        if isinstance(raw, OpenedFile) and not raw.in_transaction:
            # A connection that writes nothing has to notice another file, too.
            refuse_another_file(raw)
        return int(raw.execute("PRAGMA data_version").fetchone()[0])

    def whereabouts(self, connection: Connection) -> str:
        """Return the number of the file, its disk and its path."""
        path = Path(self.place_of(connection.engine))
        found = path.stat()
        return json.dumps({"path": str(path), "inode": found.st_ino, "device": found.st_dev})

    def ways_to_notice(self, connection: Connection) -> tuple[None, float]:
        """Return no socket, and a short time until the next look."""
        return None, LOOK_SECONDS

    def is_transient(self, error: BaseException) -> bool:
        """Say whether running the whole transaction again may succeed."""
        return _name_of(error) in _TRANSIENT

    def database_refused(self, error: BaseException, where: str) -> DatabaseRefused:
        """Explain an error of the database file itself."""
        code = _name_of(error)
        if lacks := _LACKS.match(str(_origin(error))):
            what = f"table {lacks[3]}, column {lacks[4]}" if lacks[3] else f"{lacks[1]} {lacks[2]}"
            return DatabaseRefused(f"The control database {where} lacks the {what}.", next_step="batchctl db verify")
        if code.startswith("SQLITE_IOERR") and _is_full(Path(where)):
            code = "SQLITE_FULL"
        reason = next(
            (text for begin, text in _REFUSED_BECAUSE.items() if code.startswith(begin)),
            f"cannot be used: {_origin(error)}",
        )
        next_step = next((text for begin, text in _TO_MEND.items() if code.startswith(begin)), None)
        log = log_of(Path(where))
        if code.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB")) and log.exists():
            remove = f"remove {log} and {where}-shm, which belong to the file before it"
            next_step = (
                f"if it was moved or copied into place, end all that has it open and {remove}; else restore a backup"
            )
        if code in _TRANSIENT:
            reason = "is locked by another program that does not let go"
            next_step = f"find that program (fuser {where} names its process), and end it"
        if code.startswith(("SQLITE_READONLY", "SQLITE_CANTOPEN")) and (culprit := _not_writable(Path(where))):
            next_step = f"let this user write to {culprit}, or act as the user who runs the controller"
            return DatabaseRefused(
                f"The control database {where} {reason}: {culprit} is not writable.", next_step=next_step
            )
        return DatabaseRefused(f"The control database {where} {reason}.", next_step=next_step)

    def is_about_the_database(self, error: BaseException) -> bool:
        """Say whether an error concerns the database as a whole, not a row."""
        origin = _origin(error)
        if not isinstance(origin, sqlite3.Error):
            return False
        return (
            any(_name_of(error).startswith(code) for code in _REFUSED_BECAUSE) or _LACKS.match(str(origin)) is not None
        )

    @contextmanager
    def long_read(self, connection: Connection) -> Iterator[None]:
        """Keep what was read in memory, up to a gigabyte: a quarter of the time goes into reading pages again otherwise."""
        before = connection.exec_driver_sql("PRAGMA cache_size").scalar_one()
        connection.exec_driver_sql(f"PRAGMA cache_size = -{_MOST_KEPT_KIB}")
        try:
            yield
        finally:
            connection.exec_driver_sql(f"PRAGMA cache_size = {before}")

    def constraint_findings(self, connection: Connection, *, at_length: bool) -> list[str]:
        """Return what breaks the constraints, or the file itself; at most a hundred lines."""
        return [line for line in connection.exec_driver_sql("PRAGMA quick_check").scalars() if line != "ok"]

    def definitions(self, connection: Connection) -> dict[str, str]:
        """Return how every table, index and trigger is defined, by name; the columns of a table may stand in any order."""
        return {str(row.name): _in_any_order(str(row.sql)) for row in connection.execute(_DEFINITIONS)}

    def wanted_definitions(self, connection: Connection, make: Callable[[Connection], None]) -> dict[str, str]:
        """Return the definitions of what `make` makes, in a database in memory."""
        with create_engine("sqlite://", isolation_level="AUTOCOMMIT").connect() as empty:
            make(empty)
            return self.definitions(empty)


DIALECT = SqliteDialect()


def database_path(url: URL, directory: Path) -> Path:
    """Return the file's absolute path; a relative one begins where the configuration lies."""
    if url.host:
        file = "/".join(filter(None, (url.host, url.database)))
        message = f"After sqlite: two slashes begin the name of a host, which SQLite has none of: '{visible(file)}'."
        next_step = f"write three for a file beside the configuration: sqlite:///{visible(file)}"
        raise DatabaseRefused(message, next_step=next_step)
    if not url.database or url.database == ":memory:":
        message = "A control database in memory would be forgotten at once: name a file, such as sqlite:///batchctl.db."
        raise DatabaseRefused(message)
    return (directory / url.database).resolve()


def _connect(path: Path, mode: str) -> sqlite3.Connection:
    if mode.startswith("rw"):
        refuse_foreign_log(path)  # Opening takes the log for the file's, and the last close writes it into the file.
    try:
        connection = sqlite3.connect(
            f"{path.as_uri()}?mode={mode}",
            uri=True,
            timeout=BUSY_TIMEOUT,
            isolation_level=None,
            check_same_thread=False,
            factory=OpenedFile,
        )
        connection.batchctl_file, connection.batchctl_written = (path, number_of(path)), written_at(path)
        connection.text_factory = _read_text
        connection.execute("PRAGMA foreign_keys = ON")
        # Rather than look through the few rows of an index of ours, SQLite would make one of all rows, at every query.
        connection.execute("PRAGMA automatic_index = OFF")
        connection.execute("PRAGMA schema_version").fetchone()
        _set_journal(connection, str(connection.execute("PRAGMA journal_mode").fetchone()[0]))
        connection.batchctl_beside, connection.batchctl_checked = beside(path), 0
        connection.batchctl_is_open = True
    except sqlite3.Error as error:
        raise DIALECT.database_refused(error, str(path)) from error
    return connection


def _set_journal(connection: OpenedFile, mode: str) -> None:
    """Make commits last, and keep others from writing for as short as that allows.

    With a log, `commit` waits for the disk once others may write again: what they commit then lies behind it in the log, and
    lasts no sooner. No commit may write the log into the file, because `_shorten_log` does that apart from all commits.
    """
    connection.batchctl_syncs = mode == "wal"
    if connection.batchctl_syncs:
        connection.execute("PRAGMA synchronous = NORMAL")
        # To write over what is there takes half as long as to make a file longer, and it is not long enough to be shortened.
        connection.execute(f"PRAGMA journal_size_limit = {MOST_LOG - LEAST_GROWTH}")
        connection.execute("PRAGMA wal_autocheckpoint = 0")
    else:
        connection.execute("PRAGMA synchronous = FULL")
    if mode == "delete":
        # To cut a rollback journal short takes half as long as to delete it.
        connection.execute("PRAGMA journal_mode = TRUNCATE")


def _read_text(raw: bytes) -> str:
    # A row that somebody filled with broken bytes must stay readable: it is rejected by name, not by a crash.
    return raw.decode("utf-8", "surrogateescape")


def _look_at_log(raw: OpenedFile) -> Stamp | None:
    """Do with the log what takes long; return what it is to be stamped with, unless it is stamped."""
    path = raw.batchctl_file[0]
    if _log_is_long(raw):
        _shorten_log(raw)
        raw.batchctl_end = LogEnd()
    try:
        raw.batchctl_end = sqlite_log.read_ahead(raw.open_log(), raw.batchctl_end)
    except OSError:
        raw.batchctl_end = LogEnd()
    return None if raw.batchctl_end.log == raw.batchctl_stamped else sqlite_log.stamp(path)


def _log_is_long(raw: OpenedFile) -> bool:
    try:
        size = os.fstat(raw.open_log().fileno()).st_size
    except OSError:
        return False
    if size < raw.batchctl_checked:
        raw.batchctl_checked = 0  # It was begun anew.
    if size - raw.batchctl_checked < MOST_LOG:
        return False
    raw.batchctl_checked = size
    return True


def _shorten_log(raw: OpenedFile) -> None:
    """Write the log into the file, so that the next commit begins it anew; the long part runs while others may commit.

    Before SQLite 3.51.3 a commit that begins the log anew while it is being written into the file may damage the file.
    So first a reader of the log keeps all commits from that, and then a writer does.
    """
    with closing(_another(raw)) as writer:
        with closing(_another(raw)) as reader, suppress(sqlite3.Error):
            reader.execute("BEGIN")
            reader.execute("PRAGMA user_version").fetchone()
            writer.execute(_WRITE_LOG).fetchone()
        raw.execute("BEGIN IMMEDIATE")
        with suppress(sqlite3.Error):
            writer.execute(_WRITE_LOG).fetchone()
        raw.execute("ROLLBACK")  # A transaction that begins now reads nothing in the log, which may be begun anew then.


def _another(raw: OpenedFile) -> sqlite3.Connection:
    return sqlite3.connect(raw.batchctl_file[0], isolation_level=None)


def _stamp_log(raw: OpenedFile, stamp: Stamp) -> None:
    """Say in the log on which file it stands."""
    path = raw.batchctl_file[0]
    if sqlite_log.name_of(path) != stamp.log:
        stamp = sqlite_log.stamp(path)  # It was begun anew meanwhile.
    raw.batchctl_stamping = stamp.log
    if stamp.number is not None:
        raw.execute(f"PRAGMA user_version = {stamp.number}")


def waits_for_disk(connection: Connection) -> bool:
    """Say whether a commit on this connection lasts."""
    raw = _raw(connection)
    if isinstance(raw, OpenedFile) and raw.batchctl_syncs:
        return True
    return int(raw.execute("PRAGMA synchronous").fetchone()[0]) >= _FULL


def _sync_log(raw: OpenedFile) -> None:
    path, _ = raw.batchctl_file
    try:
        refuse_another_file(raw)  # What was written to a log that is gone cannot be found any more.
    except DatabaseRefused as error:
        message = f"It is unknown whether what was committed lasts. {error.message}"
        raise OutcomeUnknown(message, next_step=error.next_step) from error
    try:
        _sync(raw.open_log().fileno())
    except OSError as error:
        message = (
            f"The log of the control database {path} could not be written to the disk, so it is unknown whether what"
            f" was committed lasts: {error}"
        )
        raise OutcomeUnknown(message, next_step="look at the disk; then: batchctl doctor") from error


def _is_full(path: Path) -> bool:
    """Say whether there is no room for what stands beside a database; SQLite calls that an error of the disk."""
    return path.parent.is_dir() and shutil.disk_usage(path.parent).free < _SHARED_MEMORY


def _not_writable(path: Path) -> Path | None:
    """Return what of a database this user may not write to: the file, its log, or the folder."""
    beside = (path, log_of(path), path.with_name(f"{path.name}-shm"), path.parent)
    return next((each for each in beside if each.exists() and not os.access(each, os.W_OK)), None)


def _in_any_order(definition: str) -> str:
    if not definition.startswith("CREATE TABLE"):
        return " ".join(definition.split())
    return " ".join(sorted(line.strip().rstrip(",") for line in definition.splitlines()))


def _raw(connection: Connection) -> Any:
    return connection.connection.dbapi_connection


def _origin(error: BaseException) -> BaseException:
    return getattr(error, "orig", None) or error


def _name_of(error: BaseException) -> str:
    return str(getattr(_origin(error), "sqlite_errorname", "") or "")
