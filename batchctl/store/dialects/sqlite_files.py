"""The files of a SQLite database that is open: whether they are still those that were opened."""

from __future__ import annotations

import os
import sqlite3
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import BinaryIO

from batchctl.domain.errors import DatabaseRefused
from batchctl.store.dialects import sqlite_log
from batchctl.store.dialects.sqlite_joined import JoinedStatements
from batchctl.store.dialects.sqlite_log import LogEnd, log_of, name_of

_HEADER, _WRITES_AHEAD = 20, b"\2"
"""How much of a file says how it is read, and what its last byte is then with write-ahead logging."""
_BESIDE = {
    "-wal": ("log", "What was committed of late may be lost"),
    # It has the locks, too: a program that opens the database anew does not wait for one that has the old file.
    "-shm": ("index", "Others may write over what was committed of late"),
}
"""What lies beside a file, what it is called, and what follows when it is gone."""


class OpenedFile(sqlite3.Connection):
    """A connection that knows which file it has opened, and which log beside it."""

    batchctl_file: tuple[Path, tuple[int, int] | None]
    batchctl_written: int
    """When the file was written to, as of the last look at it."""
    batchctl_beside: dict[str, tuple[int, int] | None]
    """Which files lie beside it."""
    batchctl_log: BinaryIO | None = None
    """The log, open as long as the connection is: a log that another one replaces is refused."""
    batchctl_is_open = False
    """True once it may have read something, and what it has opened is known."""
    batchctl_syncs: bool
    """It waits for the disk after a commit, not during it."""
    batchctl_checked: int
    """How long the log was when it was last written into the file."""
    batchctl_end: LogEnd = LogEnd()
    """Where the log ended when it was last looked at."""
    batchctl_stamping: bytes | None = None
    batchctl_stamped: bytes | None = None
    """The name of the log that this transaction stamps, unless it has been stamped; that of the one that was stamped last."""

    @cached_property
    def batchctl_joined(self) -> JoinedStatements:
        """The statements of a look that wait for the first answer."""
        return JoinedStatements(self)

    def open_log(self) -> BinaryIO:
        """Return its log, unbuffered, for reading and for waiting until the disk has it; raises `OSError`."""
        if self.batchctl_log is None:
            self.batchctl_log = log_of(self.batchctl_file[0]).open("r+b", buffering=0)
        return self.batchctl_log

    def close(self) -> None:
        """Close it. The last one writes its log into the file, unless that would undo what others have written."""
        if self.batchctl_log is not None:
            self.batchctl_log.close()
        is_open, self.batchctl_is_open = self.batchctl_is_open, False
        keeper = _keeper(self.batchctl_file[0]) if is_open and _would_undo(self) else None
        super().close()
        if keeper is not None:
            keeper.close()

    def __del__(self) -> None:
        """Call `close` where the program has not: Python alone would close the connection without it."""
        self.close()


def way_to_open(path: Path) -> str:
    """Say how this user may open the file.

    A user who may only read it must not leave log files beside it: its owner could not write to them.
    """
    if (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)) or log_of(path).exists():
        return "rw"
    return "ro&immutable=1" if _has_log(path) else "ro"


def _has_log(path: Path) -> bool:
    """Say whether a file is one with write-ahead logging; without, a reader waits for a writer and leaves nothing."""
    try:
        with path.open("rb") as file:
            return file.read(_HEADER)[-1:] == _WRITES_AHEAD
    except OSError:
        return False


def refuse_another_file(raw: OpenedFile) -> None:
    """Refuse a file or a log that was moved away, replaced or deleted: what is written there is lost."""
    path, number = raw.batchctl_file
    found = _stat(str(path))
    if _number(found) != number:
        message = (
            f"The control database {path} is not the file any more that was opened: it was moved, replaced or deleted."
        )
        remove = f"remove {log_of(path)} and {path}-shm, which belong to the old file"
        next_step = f"move it back; or end all that has it open, {remove}, and start again"
        raise DatabaseRefused(message, next_step=next_step)
    for end, known in raw.batchctl_beside.items():
        number = number_of(f"{path}{end}")
        if known is None:
            raw.batchctl_beside[end] = number
        elif number != known:
            called, so = _BESIDE[end]
            message = (
                f"The {called} {path}{end} of the control database is not the file any more that was opened: it was moved,"
                f" replaced or deleted. {so}, and nothing more is written."
            )
            next_step = "end all that has the database open, look what is missing (batchctl fsck), and start again"
            raise DatabaseRefused(message, next_step=next_step)
    written = _written(found)
    if raw.batchctl_syncs and written != raw.batchctl_written:
        refuse_foreign_log(path)
        raw.batchctl_written = written


def _would_undo(raw: OpenedFile) -> bool:
    """Say whether its log, written into the file, would take with it what was written without that log."""
    path, number = raw.batchctl_file
    try:
        refuse_another_file(raw)
    except DatabaseRefused:
        # A log that was only deleted is all there is of what stands in it; in a file that was moved SQLite itself writes nothing.
        return number_of(path) == number and (name_of(path) != b"" or written_at(path) != raw.batchctl_written)
    return False


def _keeper(path: Path) -> sqlite3.Connection:
    """Return a connection that only reads: while it is open, closing another writes no log into the file.

    It keeps others from that even where it can read nothing, as beside a log that it does not know.
    """
    keeper = sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, check_same_thread=False)
    with suppress(sqlite3.Error):
        keeper.execute("PRAGMA schema_version").fetchone()
    return keeper


def refuse_foreign_log(path: Path) -> None:
    """Do not take the log of another file for that of this one: together they are neither of the two."""
    if sqlite_log.belongs(path):
        return
    log = log_of(path)
    message = (
        f"The log {log} belongs to another file than {path}: the control database was copied or moved there while the"
        " log of the one before stood beside it. Together they would be neither, so neither is read."
    )
    next_step = (
        f"end all that has it open; to work with the file that is there, remove {log} and {path}-shm, and copy it there"
        " once more: a program that is not of batchctl writes the log into it when it ends; else put the file back that"
        " they belong to"
    )
    raise DatabaseRefused(message, next_step=next_step)


def beside(path: Path) -> dict[str, tuple[int, int] | None]:
    """Return which files lie beside a file."""
    return {end: number_of(f"{path}{end}") for end in _BESIDE}


def number_of(path: Path | str) -> tuple[int, int] | None:
    """Return what tells a file from every other one of this host, whatever they are called."""
    return _number(_stat(str(path)))


def written_at(path: Path) -> int:
    """Return when a file was last written to, in nanoseconds."""
    return _written(_stat(str(path)))


def _stat(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)  # noqa: PTH116 - before every transaction, and Path's own takes twice as long
    except OSError:
        return None


def _number(found: os.stat_result | None) -> tuple[int, int] | None:
    return None if found is None else (found.st_dev, found.st_ino)


def _written(found: os.stat_result | None) -> int:
    return 0 if found is None else found.st_mtime_ns
