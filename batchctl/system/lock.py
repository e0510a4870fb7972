"""The file by which controllers of one database find out that there is another."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime

from batchctl.domain.errors import Busy, DatabaseUnusable
from batchctl.domain.text import visible
from batchctl.system import platform

_TRIES = 10
_PAUSE = 0.01
_LOOK_EVERY = 1.0


@dataclass(frozen=True, slots=True)
class Holder:
    """Who holds the lock, as it has written about itself."""

    controller: str
    pid: int
    host: str
    since: str

    def __str__(self) -> str:
        """Name the holder for a person."""
        return f"controller {self.controller} (process {self.pid} on {self.host}, since {self.since})"


class FileControllerLock:
    """Holds a lock of the operating system on a file beside the database; it ends with the process, however that ends."""

    def __init__(self, path: str) -> None:
        """Name the file; it is made when the lock is first held, and stays."""
        self._path = path
        self._descriptor: int | None = None
        self._looked_at = 0.0

    def is_held(self) -> bool:
        """Say whether the file locked is still the one others would find; looks at it once a second."""
        if self._descriptor is None or time.monotonic() - self._looked_at < _LOOK_EVERY:
            return True
        self._looked_at = time.monotonic()
        try:
            return os.path.samestat(os.stat(self._path), os.fstat(self._descriptor))
        except OSError:
            return False

    @contextmanager
    def hold(self, controller: str) -> Iterator[None]:
        """Hold the lock; raises `Busy` naming the holder."""
        descriptor = self._open()
        try:
            if not _lock(descriptor):
                holder = _read(descriptor)
                message = f"Another controller works on this database: {holder or 'it has not yet said who it is'}."
                raise Busy(message, next_step="batchctl status")
            try:
                _write(descriptor, _written(controller))
                self._descriptor = descriptor
                yield
                _write(descriptor, b"")
            finally:
                self._descriptor = None
                platform.unlock(descriptor)
        finally:
            os.close(descriptor)

    def holder(self) -> str | None:
        """Name the living controller, if there is one."""
        try:
            descriptor = os.open(self._path, os.O_RDWR)
        except FileNotFoundError:
            return None
        except OSError:
            # Who may not write here may still read who says it holds the lock.
            return self._said()
        try:
            if platform.try_lock(descriptor):
                platform.unlock(descriptor)
                return None
            holder = _read(descriptor)
            return "unknown" if holder is None else holder.controller
        finally:
            os.close(descriptor)

    def _open(self) -> int:
        try:
            # Python's descriptors are not inherited, so a child that outlives the controller does not hold the lock.
            return os.open(self._path, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            message = f"The controller's lock file '{visible(self._path)}' cannot be used: {error.strerror}."
            raise DatabaseUnusable(message, next_step="let this user write to the directory of the database") from error

    def _said(self) -> str | None:
        try:
            descriptor = os.open(self._path, os.O_RDONLY)
        except OSError:
            return None
        try:
            holder = _read(descriptor)
            return None if holder is None else holder.controller
        finally:
            os.close(descriptor)


def _lock(descriptor: int) -> bool:
    # Who only asks for the holder has the lock for a moment, so one refusal says nothing yet.
    for _ in range(_TRIES):
        if platform.try_lock(descriptor):
            return True
        time.sleep(_PAUSE)
    return False


def _written(controller: str) -> bytes:
    host = controller.partition(":")[0]
    since = datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    return json.dumps(asdict(Holder(controller, os.getpid(), host, since))).encode("ascii")


def _write(descriptor: int, content: bytes) -> None:
    os.ftruncate(descriptor, 0)
    os.lseek(descriptor, 0, os.SEEK_SET)
    os.write(descriptor, content)


def _read(descriptor: int) -> Holder | None:
    os.lseek(descriptor, 0, os.SEEK_SET)
    try:
        return Holder(**json.loads(os.read(descriptor, 4096)))
    except (ValueError, TypeError):
        return None
