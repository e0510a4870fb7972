"""`batchctl` as on a host of its own: `other_host.py NAME run`. No process of another host is one of its own."""

from __future__ import annotations

import socket
import sys

from batchctl.cli.main import entry
from batchctl.system.host import platform, posix


def main(name: str, *arguments: str) -> None:
    """Be the command there."""
    posix.boot_id = platform.boot_id = lambda: name  # type: ignore[assignment] # the host is the test
    for look in ("find_left_over", "stop_left_over"):
        setattr(platform, look, lambda *_: [])
    socket.gethostname = lambda: name
    sys.argv = ["batchctl", *arguments]
    entry()


if __name__ == "__main__":
    main(*sys.argv[1:])
