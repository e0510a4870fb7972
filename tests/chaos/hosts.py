"""Three hosts on one machine: each a name of its own, a user of the system, and a folder for what its workers keep."""

from __future__ import annotations

import ctypes
import os
import socket
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

_NEW_NAMES = 0x04000000
"""CLONE_NEWUTS: what this process and its children call the machine is their own affair."""
_FIRST_USER = 64_001
"""No user of any machine has so high a number."""


@dataclass(frozen=True, slots=True)
class Host:
    """One of them, and the pools that its workers serve."""

    number: int
    pools: tuple[str, ...]

    @property
    def name(self) -> str:
        return f"chaos{self.number}"

    @property
    def user(self) -> int:
        return _FIRST_USER + self.number

    @property
    def options(self) -> list[str]:
        """Return how a worker is told what it serves."""
        return [word for pool in self.pools for word in ("--pool", pool)]


HOSTS = (Host(0, ("default", "linux")), Host(1, ("ssis",)), Host(2, ("default", "ssis", "linux")))
POOLS: Mapping[str, int | None] = {"ssis": 3, "linux": None}
"""How many steps of each may be under way at once."""
POOL_OF = {10: None, 20: "SSIS", 30: "linux"}
"""The pool of the step of a number, as its row has it."""


def pool_of(seq: int) -> str:
    """Return the pool of the step of a number."""
    return (POOL_OF[seq] or "default").lower()


def may_be_made() -> bool:
    """Say whether this user may become others, and give this machine other names."""
    return os.geteuid() == 0


def users_can_run() -> bool:
    """Say whether any user can read this Python and the product: a home folder of root is closed to all others."""
    return all(_is_open(path) for path in (Path(os.__file__), Path(sys.executable).resolve(), Path(__file__)))


def _is_open(path: Path) -> bool:
    return all(parent.stat().st_mode & 0o001 for parent in path.parents)


def wording() -> str:
    """Say in what the hosts differ."""
    return "names, folders and users" if users_can_run() else "names and folders: no other user can run this Python"


def share(directory: Path) -> None:
    """Let every user write into a folder and what lies in it."""
    for path in (directory, *directory.rglob("*")):
        path.chmod(0o777 if path.is_dir() else 0o666)


def become(host: Host) -> None:
    """Let this process, and what it starts, be on another host from now on."""
    if ctypes.CDLL(None, use_errno=True).unshare(_NEW_NAMES) != 0:
        raise OSError(ctypes.get_errno(), "no other name for the machine")
    socket.sethostname(host.name)
    os.umask(0)
    if users_can_run():
        os.setgroups([])
        os.setgid(host.user)
        os.setuid(host.user)
