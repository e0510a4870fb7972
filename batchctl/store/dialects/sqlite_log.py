"""Whether the log beside a SQLite file belongs to it: SQLite itself takes any log for that of the file beside it.

A writer stamps the log, in the number that a file keeps for programs (`user_version`): one half names the log, the
other the head of the file as it is then. A file with a log is written to from that log alone. So its head is the one that
was stamped, or one that stands in the log, whatever is committed, restored or undone meanwhile; that of a file which was
copied there is another one.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import astuple, dataclass
from pathlib import Path
from struct import Struct
from typing import BinaryIO
from zlib import crc32

_HALF = 0xFFFF
_LOG_HEAD = Struct(">4x4xI4x8s")
"""How long a page is, and what tells this log from the one before it in the same file."""
_FRAME = Struct(">I4x8s")
"""Which page stands behind it, and in which log."""
_FIRST_FRAME, _FRAME_LENGTH = 32, 24
_FILE_HEAD = Struct(">36xII16xI")
_NUMBERS = ("freelist_count", "schema_version", "user_version")
"""What SQLite says without reading the whole schema, which takes longer than a transaction."""
AHEAD = 128 * 1024
"""Bytes behind the end of a log that a transaction may write over."""
TRIES = 3
"""How often to look: another program may begin the log anew in between."""


@dataclass(frozen=True, slots=True)
class Head:
    """What the first page of a file begins with."""

    freelist_count: int
    schema_version: int
    stamp: int

    @property
    def digest(self) -> int:
        """A half of a stamp that stands for all of it."""
        return crc32(repr(astuple(self)).encode()) & _HALF


@dataclass(frozen=True, slots=True)
class Stamp:
    """What says on which file a log stands."""

    log: bytes
    number: int | None
    """None while the file cannot be read.

    A log that begins with what is being written has no name yet: another number than before tells its end from its beginning.
    """


@dataclass(frozen=True, slots=True)
class LogEnd:
    """Where a log ends, in bytes; what lies behind it in the file belongs to the log that was there before."""

    log: bytes = b""
    """Its name; nothing where there is none."""
    at: int = _FIRST_FRAME


def log_of(path: Path) -> Path:
    """Return the path of a file's log."""
    return path.with_name(f"{path.name}-wal")


def name_of(path: Path) -> bytes:
    """Return what tells the log of a file from all that were there before it; nothing where there is none."""
    try:
        with log_of(path).open("rb", buffering=0) as log:
            begin = log.read(_FIRST_FRAME)
    except OSError:
        return b""
    return _LOG_HEAD.unpack_from(begin)[1] if len(begin) == _FIRST_FRAME else b""


def read_ahead(log: BinaryIO, known: LogEnd) -> LogEnd:
    """Read what the next transaction writes over, and return where that begins; looked for from an end known before.

    Frames are no blocks: of a block that is written to in part and is not in memory any more, the system reads the rest from
    the disk first, while the transaction that commits has the lock.
    """
    log.seek(0)
    begin = log.read(_FIRST_FRAME)
    if len(begin) < _FIRST_FRAME:
        return LogEnd()
    page_length, name = _LOG_HEAD.unpack_from(begin)
    at = known.at if known.log == name else _FIRST_FRAME
    while True:
        log.seek(at)
        ahead = log.read(AHEAD)
        frames = range(0, len(ahead) - _FRAME_LENGTH + 1, _FRAME_LENGTH + page_length)
        old = next((frame for frame in frames if _FRAME.unpack_from(ahead, frame)[1] != name), None)
        if old is not None or not frames:
            return LogEnd(name, at + (old or 0))
        at += frames[-1] + frames.step


def stamp(path: Path) -> Stamp:
    """Return what the log of a file is to be stamped with, at present."""
    log, head = name_of(path), _head_of(path)
    if head is None:
        return Stamp(log, None)
    number = _short(log) << 16 | head.digest if log else (head.stamp + 1) & 0xFFFFFFFF
    return Stamp(log, number - (1 << 32) if number >> 31 else number)


def belongs(path: Path) -> bool:
    """Say whether the log of a file, if there is one, was begun on it; a log without a stamp counts as such."""
    with suppress(OSError):
        return any(_fits(path) for _ in range(TRIES))
    return True


def _fits(path: Path) -> bool:
    head, is_stamped = _head_of(path), False
    if head is None:
        return True
    for log, found in _heads_in(log_of(path)):
        if found == head:
            return True
        if found.stamp >> 16 == _short(log):
            is_stamped = True
            if found.stamp & _HALF == head.digest:
                return True
    return not is_stamped


def _short(log: bytes) -> int:
    return crc32(log) % _HALF + 1  # Not 0: that stands in a file without a stamp.


def _head_of(path: Path) -> Head | None:
    """Read the head of the file alone. SQLite opens it: to close it otherwise would drop all locks of this process."""
    uri = f"{path.as_uri()}?mode=ro&immutable=1"
    try:
        with closing(sqlite3.connect(uri, uri=True, isolation_level=None)) as alone:
            alone.execute("BEGIN")
            numbers = [int(alone.execute(f"PRAGMA {name}").fetchone()[0]) & 0xFFFFFFFF for name in _NUMBERS]
    except sqlite3.Error:
        return None
    return Head(*numbers)


def _heads_in(log: Path) -> Iterator[tuple[bytes, Head]]:
    """Yield every head that stands in a log, each with the name of the log."""
    with log.open("rb", buffering=0) as file:
        begin = file.read(_FIRST_FRAME)
        if len(begin) < _FIRST_FRAME:
            return
        page_length, name = _LOG_HEAD.unpack_from(begin)
        at = _FIRST_FRAME
        while len(frame := file.read(_FRAME_LENGTH)) == _FRAME_LENGTH:
            page, of = _FRAME.unpack_from(frame)
            if of != name:
                return  # It stood in the log before.
            if page == 1:
                head = file.read(_FILE_HEAD.size)
                if len(head) < _FILE_HEAD.size:
                    return  # Its writer was killed there, or is writing it now.
                yield name, Head(*_FILE_HEAD.unpack(head))
            at += _FRAME_LENGTH + page_length
            file.seek(at)
