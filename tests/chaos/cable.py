"""A cable to another host that can be cut: a network namespace of its own, at the other end of a virtual wire."""

from __future__ import annotations

import ctypes
import os
import subprocess

_NEW_NETWORK = 0x40000000
"""CLONE_NEWNET: what this process and its children have of networks is their own affair."""
HERE, THERE = "10.200.0.1", "10.200.0.2"
_HERE, _THERE = "chaos-here", "chaos-there"


def leave_network() -> None:
    """Give this process and its children a network of their own, with loopback only: what listens in it is alone."""
    if ctypes.CDLL(None, use_errno=True).unshare(_NEW_NETWORK) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    _ip("link", "set", "lo", "up")


class Cable:
    """One of them; whatever is told to run `there` is reached at THERE, and reaches this end at HERE."""

    def __init__(self) -> None:
        """Lay it; the process that keeps the other end alive ends with the cable."""
        self._keeper = subprocess.Popen(["unshare", "--net", "cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self._keeper.stdin is not None
        assert self._keeper.stdout is not None
        self._keeper.stdin.write(b"\n")
        self._keeper.stdin.flush()
        self._keeper.stdout.readline()
        _ip("link", "add", _HERE, "type", "veth", "peer", "name", _THERE, "netns", str(self._keeper.pid))
        _ip("address", "add", f"{HERE}/30", "dev", _HERE)
        self.mend()
        for words in (f"address add {THERE}/30 dev {_THERE}", f"link set {_THERE} up", "link set lo up"):
            subprocess.run([*self.there, "ip", *words.split()], check=True)

    @property
    def there(self) -> list[str]:
        """Return what stands before a command that runs at the other end."""
        return ["nsenter", "--target", str(self._keeper.pid), "--net"]

    def cut(self) -> None:
        """Let nothing pass from now on."""
        _ip("link", "set", _HERE, "down")

    def mend(self) -> None:
        """Let everything pass again."""
        _ip("link", "set", _HERE, "up")

    def close(self) -> None:
        """Remove it; what still runs at the other end is alone there."""
        self._keeper.kill()
        self._keeper.communicate()


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True)
