"""A place on the network at which a program can be reached."""

from __future__ import annotations

import errno
import socket
from typing import Any

from batchctl.domain.errors import Refused
from batchctl.domain.text import message_of
from batchctl.system.host import platform

SPARE = 24
"""How many files a process may still open when it takes no more connections."""


class _Listener(socket.socket):
    """Takes connections as long as this process may open files: a server that cannot take one says so again and again."""

    most: int | None = None

    def accept(self) -> tuple[socket.socket, Any]:
        """Take a connection; one that is too many is ended."""
        taken, address = super().accept()
        # A file gets the smallest number that is free.
        if self.most is not None and taken.fileno() >= self.most - SPARE:
            taken.close()
            raise BlockingIOError
        return taken, address


def listen(host: str, port: int) -> socket.socket:
    """Listen at an address of this machine; port 0 is any that is free. Raises `Refused`."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        found = _Listener(family, kind, protocol)
        found.most = platform.most_files()
        try:
            found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            found.bind(address)
            found.listen()
        except BaseException:
            found.close()
            raise
    except OSError as error:
        message = f"Nothing can listen at {host}, port {port}: {message_of(error)}"
        other = "the same command with another --port, or --port 0 for any that is free"
        if isinstance(error, socket.gaierror) or error.errno == errno.EADDRNOTAVAIL:
            other = "the same command with --host and an address of this machine, such as 127.0.0.1"
        raise Refused(message, next_step=other) from error
    return found
