"""The file of events: each line is appended at once; a file that has grown is put aside."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from logging import LogRecord
from logging.handlers import RotatingFileHandler
from pathlib import Path

from batchctl.system.host import platform


class EventFile:
    """Appends lines to a file that several processes of one host may share.

    A line that cannot be written is lost and reported once to `warn`, until writing works again: the work goes on.
    """

    def __init__(self, path: Path, *, most_bytes: int, kept: int, warn: Callable[[str], None]) -> None:
        """Name the file; it is opened with the first line."""
        self._handler = _SharedFile(path, most_bytes=most_bytes, kept=kept)
        self._warn = warn
        self._is_broken = False

    def add(self, text: str) -> None:
        """Append a line."""
        try:
            self._handler.write(text)
        except OSError as error:
            if not self._is_broken:
                self._is_broken = True
                self._warn(f"{error.strerror or error}")
        else:
            self._is_broken = False

    def close(self) -> None:
        """Close the file; the rest of a line that could not be written is lost with it."""
        with suppress(OSError):
            self._handler.close()


class _SharedFile(RotatingFileHandler):
    """Looks before each line whether the file is still the one of that name: another process may have put it aside."""

    def __init__(self, path: Path, *, most_bytes: int, kept: int) -> None:
        super().__init__(path, maxBytes=most_bytes, backupCount=kept, encoding="utf-8", delay=True)

    def write(self, text: str) -> None:
        """Append a line; unlike a handler of logging, let errors be seen."""
        record = LogRecord("batchctl", 0, "", 0, text, None, None)
        self._reopen_if_gone()
        if self.shouldRollover(record):
            self._put_aside(record)
        if self.stream is None:
            self.stream = self._open()
        self.stream.write(f"{text}\n")
        self.stream.flush()

    def _put_aside(self, record: LogRecord) -> None:
        """Put the file aside, unless another process does so now or has done so."""
        descriptor = os.open(f"{self.baseFilename}.lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            if platform.try_lock(descriptor):
                try:
                    self._reopen_if_gone()
                    if self.shouldRollover(record):
                        self.doRollover()
                finally:
                    platform.unlock(descriptor)
        except PermissionError:
            # Windows renames no file that another process has open; it grows until that one lets go.
            return
        finally:
            os.close(descriptor)

    def _reopen_if_gone(self) -> None:
        if self.stream is None:
            return
        try:
            is_the_file = os.path.samestat(os.stat(self.baseFilename), os.fstat(self.stream.fileno()))
        except OSError:
            is_the_file = False
        if not is_the_file:
            self.stream.close()
            self.stream = None
