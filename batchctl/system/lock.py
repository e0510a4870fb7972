"""The file by which one of the controllers of a SQLite database becomes the leader."""

from __future__ import annotations

import os
import time
from contextlib import suppress

from batchctl.domain.errors import DatabaseUnusable, Refused
from batchctl.domain.leader import Holder
from batchctl.domain.text import visible
from batchctl.system import platform

_TRIES = 10
_PAUSE = 0.01
_LOOK_EVERY = 1.0
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
"""What a link put in its place leads to is nobody's lock file: it would be emptied."""


class FileLeaderLock:
    """Holds a lock of the operating system on a file beside the database; it ends with the process, however that ends."""

    def __init__(self, path: str) -> None:
        """Name the file; it is made when the lock is first taken, and stays."""
        self._path = path
        self._descriptor: int | None = None
        self._looked_at = 0.0

    def take(self, controller: str) -> bool:
        """Take the lock, or see that one still has it; false when another has it.

        Once a second it is looked whether the file locked is still the one others would find.
        """
        if self._descriptor is not None:
            if time.monotonic() - self._looked_at < _LOOK_EVERY or self._is_the_file(self._descriptor):
                return True
            self.release()
        descriptor = self._open()
        if not platform.try_lock(descriptor):
            os.close(descriptor)
            return False
        try:
            _write(descriptor, controller.encode("utf-8"))
        except OSError as error:
            # As long as it was open, nobody could take the lock, nor could this one.
            os.close(descriptor)
            message = f"The controllers' lock file '{visible(self._path)}' cannot be written: {error.strerror}."
            raise DatabaseUnusable(message, next_step="make room on its disk, or look at its mount") from error
        self._descriptor = descriptor
        self._looked_at = time.monotonic()
        return True

    def release(self) -> None:
        """Give the lock back."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            with suppress(OSError):  # Who has the lock is told by the lock itself.
                _write(descriptor, b"")
            platform.unlock(descriptor)
            os.close(descriptor)

    def holder(self) -> Holder | None:
        """Return who leads, if anybody does."""
        try:
            descriptor = os.open(self._path, os.O_RDWR)
        except FileNotFoundError:
            return None
        except OSError:
            # Who may not write here may still read who says it holds the lock.
            said = self._said()
            return None if said is None else Holder(said)
        try:
            if _lock(descriptor):
                platform.unlock(descriptor)
                return None
            return Holder(_read(descriptor) or "unknown")
        finally:
            os.close(descriptor)

    def wrest(self, holder: Holder) -> bool:
        """Let the next one lock another file, if this one is still his: nobody can end a lock but its process."""
        if self._said() != holder.name:
            return False
        try:
            os.unlink(self._path)
        except FileNotFoundError:
            return False
        except OSError as error:
            path = visible(self._path)
            message = f"it has the lock file '{path}' still, which this user cannot remove: {error.strerror}"
            raise Refused(message, next_step=f"end the process of {visible(holder.name)}") from error
        return True

    def _is_the_file(self, descriptor: int) -> bool:
        self._looked_at = time.monotonic()
        try:
            return os.path.samestat(os.stat(self._path), os.fstat(descriptor))
        except OSError:
            return False

    def _open(self) -> int:
        try:
            # Python's descriptors are not inherited, so a child that outlives the controller does not hold the lock.
            return os.open(self._path, os.O_RDWR | os.O_CREAT | _NO_LINK, 0o600)
        except OSError as error:
            message = f"The controllers' lock file '{visible(self._path)}' cannot be used: {error.strerror}."
            next_step = "let this user write to the directory of the database"
            if os.path.islink(self._path):
                next_step = "find out who put a link there, and remove it"
            raise DatabaseUnusable(message, next_step=next_step) from error

    def _said(self) -> str | None:
        try:
            descriptor = os.open(self._path, os.O_RDONLY)
        except OSError:
            return None
        try:
            return _read(descriptor) or None
        finally:
            os.close(descriptor)


def _lock(descriptor: int) -> bool:
    # Who only asks for the holder has the lock for a moment, so one refusal says nothing yet.
    for _ in range(_TRIES):
        if platform.try_lock(descriptor):
            return True
        time.sleep(_PAUSE)
    return False


def _write(descriptor: int, content: bytes) -> None:
    os.ftruncate(descriptor, 0)
    os.lseek(descriptor, 0, os.SEEK_SET)
    os.write(descriptor, content)


def _read(descriptor: int) -> str:
    os.lseek(descriptor, 0, os.SEEK_SET)
    return os.read(descriptor, 4096).decode("utf-8", "replace")
