"""With a log a commit lasts, others may write while it waits for the disk, and no commit meets a checkpoint."""

from __future__ import annotations

import ctypes
import mmap
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection

from batchctl.domain.errors import DatabaseRefused, OutcomeUnknown
from batchctl.ports import Boundary
from batchctl.store import engine
from batchctl.store.dialects import sqlite, sqlite_log
from batchctl.store.transactions import StoreTransactions

OPERATOR = frozenset({Boundary.OPERATOR})
INSERT = "INSERT INTO Kept VALUES (?)"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return a database that writes ahead."""
    file = tmp_path / "control.db"
    with closing(sqlite3.connect(file)) as made:
        made.execute("PRAGMA journal_mode = WAL")
        made.execute("CREATE TABLE Kept (Name TEXT)")
    return file


@pytest.fixture
def opened(file: Path) -> Iterator[StoreTransactions]:
    """Return the way of batchctl to it."""
    transactions = StoreTransactions(engine.open_engine(f"sqlite:///{file}", file.parent))
    yield transactions
    transactions.close()


@pytest.fixture
def client(file: Path) -> Iterator[sqlite3.Connection]:
    """Return a client that waits for nobody."""
    with closing(sqlite3.connect(file, timeout=0, isolation_level=None)) as made:
        yield made


def add(transactions: StoreTransactions, much: int = 1) -> None:
    """Write a row of so many bytes."""

    def work(connection: Connection) -> None:
        connection.exec_driver_sql(INSERT, ("x" * much,))

    transactions.run(OPERATOR, work)


def log_of(file: Path) -> Path:
    return file.with_name(f"{file.name}-wal")


def spied(monkeypatch: pytest.MonkeyPatch, look: Callable[[], object]) -> list[int]:
    """Look around whenever the log is written to the disk; return which files were."""
    synced, sync = [], sqlite._sync

    def spy(descriptor: int) -> None:
        look()
        synced.append(os.fstat(descriptor).st_ino)
        sync(descriptor)

    monkeypatch.setattr(sqlite, "_sync", spy)
    return synced


def test_others_may_write_while_a_commit_waits_for_the_disk(
    opened: StoreTransactions, client: sqlite3.Connection, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced = spied(monkeypatch, lambda: client.execute(INSERT, ("beside",)))

    add(opened)

    assert synced == [log_of(file).stat().st_ino]
    assert client.execute("SELECT Name FROM Kept ORDER BY rowid").fetchall() == [("x",), ("beside",)]


def test_of_a_commit_that_the_disk_may_not_have_nobody_says_that_it_was_made(
    opened: StoreTransactions, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(descriptor: int) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(sqlite, "_sync", fails)

    with pytest.raises(OutcomeUnknown, match=r"control\.db could not be written to the disk"):
        add(opened)


def test_of_a_log_that_is_deleted_during_a_transaction_nothing_more_is_written(
    opened: StoreTransactions, file: Path
) -> None:
    add(opened)
    known: list[bool] = []

    def work(connection: Connection) -> None:
        connection.exec_driver_sql(INSERT, ("lost",))
        log_of(file).unlink()

    for _ in range(3):
        with pytest.raises(DatabaseRefused, match=r"control\.db-wal .* is not the file any more") as refused:
            opened.run(OPERATOR, work)
        known.append(not isinstance(refused.value, OutcomeUnknown))
    assert known == [False, True, True], "what is found out after the commit says nothing of what was committed"
    assert not log_of(file).exists()


def test_a_file_whose_owner_lets_it_write_ahead_meanwhile_is_not_left_with_an_endless_log(
    tmp_path: Path,
) -> None:
    with closing(sqlite3.connect(tmp_path / "other.db")) as made:
        made.execute("CREATE TABLE Kept (Name TEXT)")
    transactions = StoreTransactions(engine.open_engine("sqlite:///other.db", tmp_path))
    add(transactions)
    with closing(sqlite3.connect(tmp_path / "other.db")) as owner:
        assert owner.execute("PRAGMA journal_mode = WAL").fetchone() == ("wal",)
    for _ in range(60):
        add(transactions, sqlite.MOST_LOG // 10)
    assert log_of(tmp_path / "other.db").stat().st_size < 4 * sqlite.MOST_LOG
    transactions.close()


class Checkpointer(sqlite3.Connection):
    """A connection beside which a client inserts once the log is written into the file."""

    beside: Callable[[], None]

    def execute(self, statement: str, *values: Any) -> sqlite3.Cursor:
        """Do a statement."""
        done = super().execute(statement, *values)
        if "wal_checkpoint" in statement:
            self.beside()
        return done


@pytest.fixture
def beside(client: sqlite3.Connection, file: Path, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, bool, int]]:
    """Return what was said to a client each time the log was written, whether it was begun anew, and its length."""
    tried: list[tuple[str, bool, int]] = []

    def insert() -> None:
        name, said = sqlite_log.name_of(file), "inserted"
        try:
            client.execute(INSERT, ("beside",))
        except sqlite3.OperationalError as error:
            said = str(error)
        tried.append((said, sqlite_log.name_of(file) != name, log_of(file).stat().st_size))

    monkeypatch.setattr(Checkpointer, "beside", staticmethod(insert), raising=False)
    monkeypatch.setattr(
        sqlite,
        "_another",
        lambda raw: sqlite3.connect(raw.batchctl_file[0], isolation_level=None, factory=Checkpointer),
    )
    return tried


def test_the_log_stays_short_and_is_begun_anew_only_once_nobody_writes_it_into_the_file(
    opened: StoreTransactions, client: sqlite3.Connection, file: Path, beside: list[tuple[str, bool, int]]
) -> None:
    for _ in range(41):
        add(opened, sqlite.MOST_LOG // 10)

    assert 6 <= len(beside) <= 10
    assert {(said, anew) for said, anew, _ in beside[::2]} == {("inserted", False)}
    assert {(said, anew) for said, anew, _ in beside[1::2]} == {("database is locked", False)}
    assert max(size for _, _, size in beside) < 2 * sqlite.MOST_LOG
    assert log_of(file).stat().st_size < 2 * sqlite.MOST_LOG
    assert client.execute("SELECT count(*) FROM Kept").fetchone() == (41 + len(beside) // 2,)
    assert client.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_a_log_that_a_reader_keeps_is_not_tried_at_every_commit(
    opened: StoreTransactions, file: Path, beside: list[tuple[str, bool, int]]
) -> None:
    add(opened)
    reader = sqlite3.connect(file, isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM Kept").fetchall()
    for _ in range(40):
        add(opened, sqlite.MOST_LOG // 10)

    assert 6 <= len(beside) <= 8
    reader.close()
    for _ in range(12):
        add(opened, sqlite.MOST_LOG // 10)
    assert log_of(file).stat().st_size < 2 * sqlite.MOST_LOG


def test_no_commit_of_batchctl_writes_the_log_into_the_file(opened: StoreTransactions) -> None:
    with opened.read() as connection:
        assert connection.exec_driver_sql("PRAGMA wal_autocheckpoint").scalar_one() == 0


def test_without_a_log_the_disk_is_waited_for_during_the_commit(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "other.db")) as made:
        made.execute("CREATE TABLE Kept (Name TEXT)")
    transactions = StoreTransactions(engine.open_engine("sqlite:///other.db", tmp_path))
    with transactions.read() as connection:
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar_one() == 2
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar_one() == "truncate"
        assert sqlite.waits_for_disk(connection)
    transactions.close()


def end_found(file: Path, known: sqlite_log.LogEnd) -> sqlite_log.LogEnd:
    """Return where the log ends, looked for from an end known before."""
    if not log_of(file).exists():
        return sqlite_log.LogEnd()
    with log_of(file).open("rb", buffering=0) as log:
        return sqlite_log.read_ahead(log, known)


def end_of(file: Path, client: sqlite3.Connection) -> int:
    """Return where the log ends, as SQLite counts it: after a head of 32 bytes, frames of a page with 24 bytes before it."""
    _, frames, _ = client.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
    (page,) = client.execute("PRAGMA page_size").fetchone()
    return 32 + int(frames) * (24 + int(page))


@pytest.mark.parametrize("much", [1, 100_000, sqlite_log.AHEAD, 1_000_000])
def test_where_a_log_ends_is_known_whoever_has_written_to_it(
    file: Path, opened: StoreTransactions, client: sqlite3.Connection, much: int
) -> None:
    assert end_found(file, sqlite_log.LogEnd()) == sqlite_log.LogEnd()
    add(opened)
    first = end_found(file, sqlite_log.LogEnd())
    client.execute(INSERT, ("y" * much,))
    add(opened, much)

    end = end_found(file, first)
    assert end.at == end_of(file, client) == log_of(file).stat().st_size
    assert end_found(file, end) == end
    assert first.at < end.at

    # All of it stands in the file now: who writes next begins it anew, and what stood there before is behind its end.
    add(opened)
    anew = end_found(file, end)
    assert anew.log != end.log
    assert anew.at == end_of(file, client) < log_of(file).stat().st_size


def is_in_memory(file: Path, at: int) -> bool:
    """Say whether the system has the page of a file at a place in memory."""
    libc = ctypes.CDLL(None, use_errno=True)
    page = at - at % mmap.PAGESIZE
    with file.open("r+b") as opened, mmap.mmap(opened.fileno(), mmap.PAGESIZE, offset=page) as mapped:
        seen = (ctypes.c_ubyte * 1)()
        where = (ctypes.c_char * mmap.PAGESIZE).from_buffer(mapped)
        refused = libc.mincore(ctypes.byref(where), ctypes.c_size_t(mmap.PAGESIZE), seen)
        del where
        assert refused == 0, os.strerror(ctypes.get_errno())
    return bool(seen[0] & 1)


def forget(file: Path) -> None:
    """Let the system drop what it has of a file in memory; of a file system in memory it drops nothing."""
    with file.open("r+b") as opened:
        os.fsync(opened.fileno())
        os.posix_fadvise(opened.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


@pytest.mark.skipif(not hasattr(os, "posix_fadvise"), reason="only there can a test have a file dropped from memory")
def test_what_a_transaction_writes_over_is_in_memory_before_it_has_the_lock(
    file: Path, opened: StoreTransactions, client: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(opened, 400_000)
    end_of(file, client)
    add(opened)
    end = end_found(file, sqlite_log.LogEnd()).at
    ahead = [end, end + sqlite_log.AHEAD // 2, end + sqlite_log.AHEAD - 1]
    forget(log_of(file))
    found = list[bool]()
    unlocked = sqlite.DIALECT.commit

    def looked_at(connection: Connection) -> None:
        found.extend(is_in_memory(log_of(file), at) for at in ahead)
        unlocked(connection)

    # The row fills one page: nothing but what was read before brings the others in.
    monkeypatch.setattr(sqlite.DIALECT, "commit", looked_at)
    add(opened)
    assert found == [True, True, True]
