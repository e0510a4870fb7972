"""The processes of one campaign, found by a mark in their environment that all of them inherit."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

MARK = "CHAOS_RIG"
_PROC = Path("/proc")


@dataclass(frozen=True, slots=True)
class Found:
    """A process: what it is, and who started it."""

    pid: int
    parent: int
    state: str
    kind: str
    command: str


def marked(mark: str) -> Iterator[Found]:
    """Yield every living process that carries a mark."""
    for entry in _PROC.iterdir():
        if entry.name.isdigit():
            found = _look(int(entry.name), mark)
            if found is not None:
                yield found


def stands_still(pid: int) -> bool:
    """Say whether a process was stopped by a signal."""
    with suppress(OSError):
        return (_PROC / str(pid) / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] == "T"
    return False


def kill(pid: int, mark: str) -> bool:
    """Kill a process of the campaign; say whether it was still there."""
    with suppress(OSError):
        held = os.pidfd_open(pid)
        try:
            # The number may have come to stand for somebody else before it was held on to.
            if _look(pid, mark) is not None:
                signal.pidfd_send_signal(held, signal.SIGKILL)
                return True
        finally:
            os.close(held)
    return False


def _look(pid: int, mark: str) -> Found | None:
    try:
        environment = (_PROC / str(pid) / "environ").read_bytes().split(b"\0")
        if f"{MARK}={mark}".encode() not in environment:
            return None
        command = (_PROC / str(pid) / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
        name, _, rest = (_PROC / str(pid) / "stat").read_text(encoding="utf-8").rpartition(")")
    except OSError:
        return None
    fields = rest.split()
    if fields[0] in "ZX":
        return None
    is_of_step = any(variable.startswith(b"BATCHCTL_COOKIE=") for variable in environment)
    return Found(pid, int(fields[1]), fields[0], _kind(name, command, is_of_step=is_of_step), command)


def _kind(name: str, command: str, *, is_of_step: bool) -> str:
    if "batchctl-warden" in name:
        return "warden"
    if "plugin_host" in command:
        return "plugins"
    if "supervis" in command:
        return "supervisor"
    if is_of_step:
        return "step" if "effect.sh" in command else "part of a step"
    return "command"
