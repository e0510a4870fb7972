"""What somebody does to the files of a SQLite database while it is open is noticed, and nothing more is written."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from batchctl.domain.errors import DatabaseRefused
from batchctl.ports import Boundary
from batchctl.store import engine
from batchctl.store.dialects import sqlite
from batchctl.store.transactions import StoreTransactions
from tests.control_databases import SqliteControl

WRITE = """
import os, sqlite3, sys
other = sqlite3.connect(sys.argv[1])
other.execute("INSERT INTO Kept VALUES ('y')")
other.commit()
os._exit(0)
"""
OPERATOR = frozenset({Boundary.OPERATOR})


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[StoreTransactions]:
    """Return a way to a database that writes ahead, which has been used."""
    file = tmp_path / "control.db"
    with sqlite3.connect(file) as made:
        made.execute("PRAGMA journal_mode = WAL")
        made.execute("CREATE TABLE Kept (Name TEXT)")
    made.close()
    transactions = way_to(file)
    add(transactions)
    yield transactions
    transactions.close()


def way_to(file: Path) -> StoreTransactions:
    """Return what opens a database as batchctl does."""
    return StoreTransactions(engine.open_engine(f"sqlite:///{file.name}", file.parent))


def add(transactions: StoreTransactions) -> None:
    """Write a row."""
    transactions.run(OPERATOR, lambda connection: connection.exec_driver_sql("INSERT INTO Kept VALUES ('x')"))


def remove(file: Path) -> None:
    """Delete the log and what is beside it."""
    for end in ("-wal", "-shm"):
        Path(f"{file}{end}").unlink()


def replace(file: Path) -> None:
    """Delete them, and let another program make new ones."""
    remove(file)
    subprocess.run([sys.executable, "-c", WRITE, str(file)], check=True)
    assert Path(f"{file}-wal").exists()


@pytest.mark.parametrize("do", [remove, replace])
def test_a_log_that_was_deleted_is_noticed_and_nothing_more_is_written(
    opened: StoreTransactions, tmp_path: Path, do: Callable[[Path], None]
) -> None:
    file = tmp_path / "control.db"
    opened.changed()
    do(file)

    with pytest.raises(DatabaseRefused, match=r"control\.db-wal .* is not the file any more") as noticed:
        opened.changed()
    with pytest.raises(DatabaseRefused, match="nothing more is written"):
        add(opened)
    assert "batchctl fsck" in (noticed.value.next_step or "")


def test_an_index_that_was_deleted_is_noticed_as_the_log_is_and_what_others_write_since_stays(
    opened: StoreTransactions, tmp_path: Path
) -> None:
    file = tmp_path / "control.db"
    opened.changed()
    Path(f"{file}-shm").unlink()
    insert(file)

    with pytest.raises(DatabaseRefused, match=r"index .*control\.db-shm .* is not the file any more") as noticed:
        opened.changed()
    with pytest.raises(DatabaseRefused, match="nothing more is written"):
        add(opened)
    opened.close()
    assert "batchctl fsck" in (noticed.value.next_step or "")
    assert names(file) == ["x", "theirs"]


INSERT = """
import sqlite3, sys
other = sqlite3.connect(sys.argv[1])
other.execute("INSERT INTO Kept VALUES ('theirs')")
other.commit()
other.close()
"""
LEFT_OPEN = """
import os, sys
from pathlib import Path
from tests.store.test_under_sqlites_feet import add, insert, remove, way_to
file = Path(sys.argv[1])
transactions = way_to(file)
add(transactions)
remove(file)
insert(file)
"""


def insert(file: Path) -> None:
    """Let another program insert a row, and end."""
    subprocess.run([sys.executable, "-c", INSERT, str(file)], check=True)


def names(file: Path) -> list[str]:
    """Read what there is, in a process of its own: who has it open here knows other locks."""
    read = "import sqlite3, sys; print(*(n for (n,) in sqlite3.connect(sys.argv[1]).execute('SELECT Name FROM Kept')))"
    return subprocess.run([sys.executable, "-c", read, file], check=True, capture_output=True, text=True).stdout.split()


@pytest.mark.parametrize("is_noticed", [True, False])
def test_who_ends_without_its_log_leaves_what_others_have_written_since(
    opened: StoreTransactions, tmp_path: Path, *, is_noticed: bool
) -> None:
    file = tmp_path / "control.db"
    beside = way_to(file)
    with beside.read():
        pass
    remove(file)
    insert(file)
    if is_noticed:
        with pytest.raises(DatabaseRefused, match="nothing more is written"):
            opened.changed()
    insert(file)
    opened.close()
    beside.close()

    assert names(file) == ["theirs", "theirs"]


def test_who_ends_without_closing_anything_leaves_it_too(opened: StoreTransactions, tmp_path: Path) -> None:
    opened.close()
    file = tmp_path / "control.db"
    folder = Path(__file__).parents[2]
    ended = subprocess.run(
        [sys.executable, "-c", LEFT_OPEN, str(file)], check=True, cwd=folder, capture_output=True, text=True
    )

    assert (names(file), ended.stderr) == (["x", "theirs"], "")


def test_a_log_that_is_deleted_while_nobody_writes_is_written_into_the_file_at_the_end(
    opened: StoreTransactions, tmp_path: Path
) -> None:
    remove(tmp_path / "control.db")
    opened.close()

    assert names(tmp_path / "control.db") == ["x"]


def test_who_waits_for_news_is_woken_by_it(opened: StoreTransactions, tmp_path: Path) -> None:
    opened.changed()
    notify = opened.notify()
    assert notify is not None
    before = notify.rings()
    remove(tmp_path / "control.db")

    assert (before, notify.rings()) == (False, True)


def test_a_database_that_was_replaced_names_the_files_that_belong_to_the_old_one(
    opened: StoreTransactions, tmp_path: Path
) -> None:
    (tmp_path / "other.db").write_bytes(b"")
    (tmp_path / "other.db").replace(tmp_path / "control.db")

    with pytest.raises(DatabaseRefused, match="moved, replaced or deleted") as noticed:
        add(opened)
    assert f"remove {tmp_path}/control.db-wal and {tmp_path}/control.db-shm" in (noticed.value.next_step or "")


def test_a_damaged_database_beside_a_log_may_be_one_that_was_moved_into_place(tmp_path: Path) -> None:
    file = tmp_path / "control.db"
    damaged = sqlite3.DatabaseError("database disk image is malformed")
    damaged.sqlite_errorname = "SQLITE_CORRUPT"
    alone = sqlite.DIALECT.database_refused(damaged, str(file)).next_step
    Path(f"{file}-wal").touch()

    assert alone is None
    assert f"remove {file}-wal and {file}-shm" in (sqlite.DIALECT.database_refused(damaged, str(file)).next_step or "")


def test_what_is_open_without_a_log_is_not_mistaken(tmp_path: Path) -> None:
    database = SqliteControl(tmp_path)
    with sqlite3.connect(tmp_path / "plain.db") as made:
        made.execute("CREATE TABLE Kept (Name TEXT)")
    made.close()
    transactions = StoreTransactions(engine.open_engine("sqlite:///plain.db", database.directory))
    for _ in range(2):
        add(transactions)
    with transactions.read() as connection:
        found = connection.exec_driver_sql("SELECT count(*) FROM Kept").scalar_one()
    transactions.close()

    assert found == 2
