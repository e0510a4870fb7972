"""A place on the network at which a program can be reached."""

from __future__ import annotations

import errno
import socket

from batchctl.domain.errors import Refused
from batchctl.domain.text import message_of


def listen(host: str, port: int) -> socket.socket:
    """Listen at an address of this machine; port 0 is any that is free. Raises `Refused`."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        found = socket.socket(family, kind, protocol)
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
