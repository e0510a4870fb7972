"""What tests that kill controllers leave behind on purpose: supervisors, and the steps under them."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from pathlib import Path

_PROC = Path("/proc")


def end_supervisors(below: Path) -> None:
    """End every supervisor whose journal lies below a folder, with the steps it carries."""
    processes = {pid: parent for pid in _pids() if (parent := _parent_of(pid)) is not None}
    for pid in processes:
        if _is_supervisor_below(pid, below):
            for child in [child for child, parent in processes.items() if parent == pid]:
                with suppress(ProcessLookupError):
                    os.killpg(child, signal.SIGKILL)
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


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
        return b"batchctl.system.supervisor" in words and os.fsencode(below) in words
    return False
