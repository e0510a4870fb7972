"""What tests that kill controllers leave behind on purpose: supervisors, and the steps under them."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from pathlib import Path

_PROC = Path("/proc")


def end_supervisors(below: Path) -> None:
    """End every supervisor whose journal lies below a folder, with the steps it carries."""
    for pid in _pids():
        if _is_supervisor_below(pid, below):
            for child in children_of(pid):
                with suppress(ProcessLookupError):
                    os.killpg(child, signal.SIGKILL)
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def children_of(pid: int) -> list[int]:
    """Return what a process has started, as far as it lives."""
    return [child for child in _pids() if _parent_of(child) == pid]


def _pids() -> list[int]:
    return [int(entry.name) for entry in _PROC.iterdir() if entry.name.isdecimal()] if _PROC.is_dir() else []


def _parent_of(pid: int) -> int | None:
    with suppress(OSError):
        return int(
            (_PROC / str(pid) / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[1]
        )
    return None


def _is_supervisor_below(pid: int, below: Path) -> bool:
    with suppress(OSError):
        words = (_PROC / str(pid) / "cmdline").read_bytes()
        return b"batchctl.system.commands.supervisor" in words and os.fsencode(below) in words
    return False
