"""Waiting for other processes, by events, with a limit that only a failure reaches."""

from __future__ import annotations

import os
import select
from pathlib import Path

LIMIT = 60.0


class Ear:
    """A named pipe into which a process under test says something."""

    def __init__(self, path: Path) -> None:
        os.mkfifo(path)
        self.path = path
        self._descriptor = os.open(path, os.O_RDWR | os.O_NONBLOCK)

    def hear(self) -> str:
        """Wait for a line."""
        said = b""
        while not said.endswith(b"\n"):
            ready, _, _ = select.select([self._descriptor], [], [], LIMIT)
            assert ready, f"nothing was heard within {LIMIT} seconds"
            said += os.read(self._descriptor, 1)
        return said.decode().strip()

    def hear_pid(self) -> int:
        """Wait for a process id."""
        return int(self.hear())

    def close(self) -> None:
        os.close(self._descriptor)


def ends(pid: int) -> bool:
    """Wait for the end of any process; false when it still lives after the limit."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([descriptor], [], [], LIMIT)[0])
    finally:
        os.close(descriptor)


def lives(pid: int) -> bool:
    """Say whether a process is there and has not ended."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state not in "ZX"


def parent_of(pid: int) -> int:
    """Return who started a process."""
    return int(Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[1])


def name_of(pid: int) -> str:
    """Return what `ps -e` calls a process; nothing once it is gone."""
    try:
        return Path(f"/proc/{pid}/comm").read_text(encoding="utf-8").strip()
    except OSError:
        return ""
