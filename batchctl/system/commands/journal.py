"""The journal of one worker's commands: what was begun and how it ended, for a worker that takes over.

Only the worker's supervisor writes, one JSON line an event; it holds the lock of the directory as long as it lives.
"""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from batchctl.system.host import platform
from batchctl.system.host.permissions import make_private_folder

_JOURNAL, _LOCK, _LEASE = "journal", "lock", "lease-{}"
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]")
_GROWN = 64 * 1024
"""Bytes from which on it is worthwhile to leave out what will not be asked for."""
_ENCODER = json.JSONEncoder(separators=(",", ":"), check_circular=False)
_WHOSE = re.compile(rb'\{"(?:start|running|end)":(\d+)[,}]')
_TRIES = 50
_PAUSE = 0.01


class JournalLocked(Exception):
    """Somebody else holds the lock."""


def place_of(state: Path, controller_id: str) -> Path:
    """Return the directory of a worker."""
    return state / _UNSAFE.sub("_", controller_id)


def places(state: Path) -> set[Path]:
    """Return the directories of the workers that are remembered."""
    return {journal.parent for journal in state.glob(f"*/{_JOURNAL}")}


def prepare(place: Path, controller_id: str) -> None:
    """Make a worker's directory with a journal that shows nothing as begun. Raises `OSError`.

    A journal that is there already goes on: one that somebody closed is open again.
    """
    make_private_folder(place)
    os.close(os.open(place / _LOCK, os.O_RDWR | os.O_CREAT, 0o600))
    with closing(Writer(place)) as journal:
        me = {"pid": os.getpid(), "pid_start": platform.started(os.getpid())}
        journal.write(line_of({"journal": controller_id, "boot": platform.boot_id(), **me}))


def is_locked(place: Path) -> bool:
    """Say whether the supervisor lives."""
    try:
        with locked(place, shared=True, tries=1):
            return False
    except JournalLocked:
        return True
    except OSError:
        return False


@contextmanager
def locked(place: Path, *, shared: bool = False, tries: int = _TRIES) -> Iterator[None]:
    """Hold a directory's lock; raises `JournalLocked`. A caller that only looks shares it with others that look."""
    descriptor = os.open(place / _LOCK, os.O_RDWR)
    try:
        while not platform.try_lock(descriptor, shared=shared):
            tries -= 1
            if tries <= 0:
                raise JournalLocked
            # A caller that only looks holds the lock for a moment.
            time.sleep(_PAUSE)
        yield
    finally:
        # Closing gives the lock back.
        os.close(descriptor)


class Writer:
    """Appends to a journal; what is written survives this process, and after `sync` a loss of power too."""

    def __init__(self, place: Path) -> None:
        """Open the journal."""
        self._path = place / _JOURNAL
        self._descriptor = _open(self._path)
        self._size = os.fstat(self._descriptor).st_size
        self._worth_while = _GROWN

    def write(self, line: bytes) -> None:
        """Append a line, whole or not at all. Raises `OSError`."""
        if os.write(self._descriptor, line) != len(line):
            os.ftruncate(self._descriptor, self._size)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self._size += len(line)

    def sync(self) -> None:
        """Have the disk keep what was written."""
        os.fsync(self._descriptor)

    def drop(self, done: Collection[int]) -> bool:
        """Leave out the records of executions that will not be asked for, if worthwhile; say whether that was done."""
        if self._size < self._worth_while:
            return False
        with self._path.open("rb") as journal:
            kept = b"".join(line for line in journal if _key_in(line) not in done)
        beside = self._path.with_suffix(".new")
        beside.unlink(missing_ok=True)
        _write_whole(beside, kept)
        # On Windows a file that is open cannot be replaced.
        self.close()
        try:
            beside.replace(self._path)
        finally:
            self._descriptor = _open(self._path)
            self._size = os.fstat(self._descriptor).st_size
            self._worth_while = max(_GROWN, 2 * self._size)
        return True

    def close(self) -> None:
        """Write no more."""
        os.close(self._descriptor)


@dataclass(slots=True)
class JournalPast:
    """What a journal says."""

    controller_id: str = ""
    boot_id: str | None = None
    pid: int | None = None
    pid_start: str | None = None
    """The worker's own process, which tells whether it lives; unknown in the journals of older versions."""
    supervisor: int | None = None
    """The newest one's process."""
    begun: dict[int, dict[str, Any]] = field(default_factory=dict)
    """What is known of each execution that was begun, with its process once it is known."""
    ended: dict[int, dict[str, Any]] = field(default_factory=dict)
    abandoned: set[int] = field(default_factory=set)
    """Begun by a supervisor that has been followed by another."""
    is_orphaned: bool = False
    """The worker was gone, and nothing more begun after that."""
    is_closed: bool = False
    """Somebody else has declared that nothing may be begun any more."""

    def knows(self, key: int) -> bool:
        """Say whether an execution was begun, or would have been if that had been possible."""
        return key in self.begun or key in self.ended

    def take(self, record: Mapping[str, Any]) -> None:
        """Take in the next record."""
        match record:
            case {"journal": str(controller_id), "boot": boot_id}:
                self.controller_id, self.boot_id, self.is_closed = controller_id, boot_id, False
                self.pid, self.pid_start = record.get("pid"), record.get("pid_start")
            case {"supervisor": pid}:
                self.supervisor = pid
                self.abandoned |= self.begun.keys() - self.ended.keys()
            case {"start": int(key)}:
                self.begun[key] = dict(record)
                self.abandoned.discard(key)
            case {"running": int(key)}:
                self.begun.setdefault(key, {}).update(record)
            case {"end": int(key)}:
                self.ended[key] = dict(record)
            case {"orphaned": _}:
                self.is_orphaned = True
            case {"closed": _}:
                self.is_closed = True
            case _:
                pass  # A later version may write more than this one knows.


def read(place: Path) -> JournalPast:
    """Read a journal; what is torn was never written. Raises `OSError` when there is none."""
    past = JournalPast()
    for line in (place / _JOURNAL).read_bytes().splitlines():
        try:
            record = json.loads(line)
        except ValueError:
            continue
        if isinstance(record, dict):
            past.take(record)
    return past


def state_of(place: Path) -> tuple[int, int]:
    """Return what is different after every write."""
    found = (place / _JOURNAL).stat()
    return found.st_ino, found.st_size


def close(place: Path) -> bool:
    """Declare in a journal that nothing may be begun any more; false when a supervisor lives that might."""
    try:
        with locked(place, tries=1), closing(Writer(place)) as journal:
            journal.write(line_of({"closed": time.monotonic()}))
    except (JournalLocked, OSError):
        return False
    return True


def lease_of(place: Path, key: int) -> float:
    """Return until when the adopter of an execution vouches for it, by the monotonic clock."""
    try:
        return float((place / _LEASE.format(key)).read_text(encoding="ascii"))
    except (OSError, ValueError):
        return 0.0


def vouch(place: Path, key: int, until: float) -> None:
    """Vouch for an execution of another worker; never shorten a lease, as a worker that was frozen might."""
    if until <= lease_of(place, key):
        return
    beside = place / f"{_LEASE.format(key)}.new"
    with suppress(OSError):  # A supervisor that has ended needs no lease.
        beside.write_text(repr(until), encoding="ascii")
        beside.replace(place / _LEASE.format(key))


def remove_if(place: Path, is_over: Callable[[JournalPast], bool]) -> None:
    """Remove a worker's directory if no supervisor lives there, and the journal is whole and may be removed."""
    try:
        with locked(place, tries=1):
            past = read(place)
            if not past.controller_id or not is_over(past):
                return
            # A supervisor that waits for the lock finds nothing, and ends.
            (place / _JOURNAL).unlink()
    except (JournalLocked, OSError):
        return
    remove(place)


def remove(place: Path) -> None:
    """Remove a worker's directory; a later worker finds nothing of it any more."""
    shutil.rmtree(place, ignore_errors=True)


def line_of(record: Mapping[str, Any]) -> bytes:
    """Write a record, or a message."""
    return _ENCODER.encode(record).encode("ascii") + b"\n"


def _key_in(line: bytes) -> int | None:
    """Return the key of the record in a line; it stands first, so nothing else has to be read."""
    found = _WHOSE.match(line)
    return None if found is None else int(found[1])


def _open(path: Path) -> int:
    return os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o600)


def _write_whole(path: Path, content: bytes) -> None:
    descriptor = _open(path)
    try:
        if os.write(descriptor, content) != len(content):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
