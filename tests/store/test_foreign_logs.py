"""A log that belongs to another file than the one beside it is noticed, and no other log is ever taken for one."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import pytest

from batchctl.control_database import upgrade_database
from batchctl.domain.errors import BatchctlError, DatabaseRefused
from batchctl.ports import Boundary
from batchctl.store import engine
from batchctl.store.dialects import sqlite
from batchctl.store.dialects.sqlite_log import log_of
from batchctl.store.transactions import StoreTransactions

Replace = Callable[[Path, Path], object]
INSERT = "INSERT INTO Kept VALUES (?)"
OPERATOR = frozenset({Boundary.OPERATOR})
NOTICED = r"control\.db-wal belongs to another file"
KILLED = """
import os, sys
from pathlib import Path
from tests.store.test_foreign_logs import add, opened
transactions = opened(Path(sys.argv[1]))
for one in range(int(sys.argv[2])):
    add(transactions, f"killed {one}")
os._exit(0)
"""


def opened(file: Path) -> StoreTransactions:
    """Open a database as batchctl does."""
    return StoreTransactions(engine.open_engine(f"sqlite:///{file.name}", file.parent))


def add(transactions: StoreTransactions, name: str) -> None:
    """Write a row."""
    transactions.run(OPERATOR, lambda connection: connection.exec_driver_sql(INSERT, (name,)))


def names(file: Path) -> list[str]:
    """Read all rows as batchctl does."""
    transactions = opened(file)
    try:
        with transactions.read() as connection:
            return [str(name) for name in connection.exec_driver_sql("SELECT Name FROM Kept").scalars()]
    finally:
        transactions.close()


def killed(file: Path, rows: int = 3) -> None:
    """Let a process write rows and end at once: what it has written stands in the log."""
    subprocess.run([sys.executable, "-c", KILLED, str(file), str(rows)], check=True, cwd=Path(__file__).parents[2])
    assert log_of(file).stat().st_size > 0


def made(file: Path, *rows: str) -> Path:
    """Make a database that writes ahead."""
    with closing(sqlite3.connect(file, isolation_level=None)) as new:
        new.execute("PRAGMA journal_mode = WAL")
        for table in ("Kept", "A", "B", "C"):
            new.execute(f"CREATE TABLE {table} (Name TEXT)")
        new.executemany(INSERT, [(row,) for row in rows])
    return file


def back_up(source: Path, target: Path) -> Path:
    """Copy a database as its own tools do."""
    with closing(sqlite3.connect(source)) as read, closing(sqlite3.connect(target)) as written:
        read.backup(written)
    return target


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return a database that was worked with."""
    found = made(tmp_path / "control.db", "first")
    transactions = opened(found)
    for row in ("second", "third"):
        add(transactions, row)
    transactions.close()
    return found


def yesterdays(file: Path) -> Path:
    """Copy the file while nobody has it open; work, and be killed the next time."""
    backup = Path(shutil.copy(file, file.with_name("yesterday")))
    transactions = opened(file)
    for row in ("fourth", "fifth"):
        add(transactions, row)
    transactions.close()
    killed(file)
    return backup


def of_the_same_log(file: Path) -> Path:
    """Take the backup while the log is written to."""
    transactions = opened(file)
    add(transactions, "fourth")
    add(transactions, "fifth")
    backup = back_up(file, file.with_name("backup"))
    shutil.copy(file, file.with_name("kept"))
    shutil.copy(log_of(file), file.with_name("kept-wal"))
    add(transactions, "sixth")
    shutil.copy(log_of(file), file.with_name("kept-wal"))
    transactions.close()
    shutil.move(file.with_name("kept"), file)
    shutil.move(file.with_name("kept-wal"), log_of(file))
    assert names_without_closing(file)[-1] == "sixth"
    return backup


def names_without_closing(file: Path) -> list[str]:
    """Read all rows, and leave the log."""
    with closing(sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True)) as reader:
        return [str(name) for (name,) in reader.execute("SELECT Name FROM Kept")]


def anothers(file: Path) -> Path:
    """Make another database."""
    killed(file)
    other = made(file.with_name("other"), "foreign")
    transactions = opened(other)
    for row in ("more", "and more"):
        add(transactions, row)
    transactions.close()
    return other


@pytest.mark.parametrize("replace", [shutil.copyfile, os.replace])
@pytest.mark.parametrize("prepare", [yesterdays, of_the_same_log, anothers])
def test_a_file_that_was_put_beside_the_log_of_another_is_not_opened_and_both_are_left(
    file: Path, prepare: Callable[[Path], Path], replace: Replace
) -> None:
    backup = prepare(file)
    wanted = names(Path(shutil.copy(backup, file.with_name("wanted"))))
    replace(backup, file)
    log = log_of(file)
    before = file.read_bytes(), log.read_bytes()

    with pytest.raises(DatabaseRefused, match=NOTICED):
        names(file)
    with pytest.raises(DatabaseRefused, match=NOTICED) as noticed:
        names(file)
    assert f"remove {log} and {file}-shm" in (noticed.value.next_step or "")
    assert (file.read_bytes(), log.read_bytes()) == before
    log.unlink()
    file.with_name(f"{file.name}-shm").unlink(missing_ok=True)
    assert names(file) == wanted


def test_of_two_young_databases_one_beside_the_log_of_the_other_is_refused(tmp_path: Path) -> None:
    folders = [tmp_path / name for name in "gh"]
    for folder in folders:
        folder.mkdir()
        (folder / "batchctl.toml").write_text("", encoding="utf-8")
        upgrade_database(str(folder / "batchctl.toml"))
    ours, theirs = (folder / "batchctl.db" for folder in folders)
    transactions = opened(ours)
    for _ in range(2):
        transactions.run(OPERATOR, lambda connection: connection.exec_driver_sql("UPDATE Setting SET Name = Name"))
    shutil.copyfile(theirs, ours)

    with pytest.raises(DatabaseRefused, match=r"batchctl\.db-wal belongs to another file"):
        transactions.run(OPERATOR, lambda connection: connection.exec_driver_sql("SELECT 1"))
    transactions.close()


@pytest.mark.parametrize("left", [56, 40, 33])
def test_a_log_that_ends_within_the_head_of_a_page_is_read_as_far_as_it_is_whole(file: Path, left: int) -> None:
    dying = (
        "import os, sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute('PRAGMA user_version = 7'); os._exit(0)"
    )
    subprocess.run([sys.executable, "-c", dying, str(file)], check=True)
    os.truncate(log_of(file), left)

    assert names(file) == ["first", "second", "third"]


def test_a_file_that_is_overwritten_while_it_is_open_is_noticed_and_its_log_stays_apart(file: Path) -> None:
    backup = Path(shutil.copy(file, file.with_name("yesterday")))
    transactions = opened(file)
    add(transactions, "fourth")
    transactions.close()
    transactions = opened(file)
    for row in ("fifth", "sixth"):
        add(transactions, row)
    transactions.changed()
    shutil.copyfile(backup, file)

    with pytest.raises(DatabaseRefused, match=NOTICED):
        transactions.changed()
    with pytest.raises(DatabaseRefused, match=NOTICED):
        add(transactions, "lost")
    transactions.close()
    assert file.read_bytes() == backup.read_bytes()
    with pytest.raises(DatabaseRefused, match=NOTICED):
        names(file)
    log_of(file).unlink()
    assert names(file) == ["first", "second", "third"]


def test_a_file_and_its_log_that_were_copied_together_are_opened(file: Path, tmp_path: Path) -> None:
    killed(file)
    folder = tmp_path / "copy"
    folder.mkdir()
    for one in (file, log_of(file)):
        shutil.copy(one, folder)

    assert names(folder / file.name) == names(file)


class Life:
    """What befalls a database that nobody copies anything over."""

    def __init__(self, file: Path, chance: random.Random) -> None:
        """Open it."""
        self.file, self.chance = file, chance
        self.ours = opened(file)
        self.stranger = sqlite3.connect(file, isolation_level=None, timeout=0)
        self.backups: list[Path] = []
        self.count = 0

    def befall(self) -> None:
        """Let one thing happen."""
        what = [
            self.add, self.add, self.add, self.give_up, self.foreign_add, self.foreign_table, self.checkpoint, self.read,
            self.stop_reading, self.vacuum, self.back_up, self.restore, self.reopen, self.number, self.delete,
        ]  # fmt: skip
        with suppress(sqlite3.OperationalError):
            self.chance.choice(what)()
        self.count += 1

    def add(self) -> None:
        """Write through batchctl."""
        with unless_busy():
            add(self.ours, "x" * self.chance.choice([1, 1, 5000]))

    def give_up(self) -> None:
        """Undo a transaction of batchctl."""
        with unless_busy(), pytest.raises(ZeroDivisionError):
            self.ours.run(OPERATOR, lambda connection: (connection.exec_driver_sql(INSERT, ("no",)), 1 // 0))

    def foreign_add(self) -> None:
        """Write as any program does."""
        self.stranger.execute(INSERT, ("y" * 9000,))

    def foreign_table(self) -> None:
        """Alter the schema."""
        self.stranger.execute(f"CREATE TABLE T{self.count} (Name TEXT)")

    def checkpoint(self) -> None:
        """Write the log into the file as any program may."""
        self.stranger.execute(f"PRAGMA wal_checkpoint({self.chance.choice(['PASSIVE', 'RESTART', 'TRUNCATE'])})")

    def read(self) -> None:
        """Keep the log from being written into the file whole."""
        self.stranger.execute("BEGIN")
        self.stranger.execute("SELECT count(*) FROM Kept").fetchall()

    def stop_reading(self) -> None:
        """Let go."""
        self.stranger.execute("ROLLBACK")

    def vacuum(self) -> None:
        """Write all pages anew."""
        self.stranger.execute("VACUUM")

    def delete(self) -> None:
        """Free pages."""
        self.stranger.execute("DELETE FROM Kept WHERE rowid % 2")

    def number(self) -> None:
        """Use the number that a file keeps for programs."""
        self.stranger.execute(f"PRAGMA user_version = {self.chance.randrange(-5, 5)}")

    def back_up(self) -> None:
        """Take a backup."""
        self.backups.append(back_up(self.file, self.file.with_name(f"backup{self.count}")))

    def restore(self) -> None:
        """Restore one with the database's own tools, beneath all that is open."""
        if self.backups:
            with closing(sqlite3.connect(self.chance.choice(self.backups))) as source:
                source.backup(self.stranger)

    def reopen(self) -> None:
        """End batchctl; now and then all others too."""
        self.ours.close()
        if self.chance.random() < 0.5:
            self.stranger.close()
            self.stranger = sqlite3.connect(self.file, isolation_level=None, timeout=0)
        self.ours = opened(self.file)

    def close(self) -> None:
        """Close all."""
        self.ours.close()
        self.stranger.close()


@contextmanager
def unless_busy() -> Iterator[None]:
    """Pass over a database that a stranger keeps locked, and nothing else."""
    try:
        yield
    except BatchctlError as error:
        if isinstance(error, DatabaseRefused):
            raise


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.full
def test_whatever_befalls_a_database_its_own_log_is_never_taken_for_anothers(
    file: Path, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite, "BUSY_TIMEOUT", 0)
    monkeypatch.setattr(sqlite, "MOST_LOG", 100_000)
    life = Life(file, random.Random(seed))
    for _ in range(25):
        life.befall()
        life.befall()
        life.ours.changed()
        names(file)
        moved = file.with_name("moved")
        for end in ("", "-wal"):
            with suppress(FileNotFoundError):
                shutil.copy(f"{file}{end}", f"{moved}{end}")
        assert names(moved)
        for end in ("-wal", "-shm", ""):
            Path(f"{moved}{end}").unlink(missing_ok=True)
    life.close()
