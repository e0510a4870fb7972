"""The identity of this run of the program."""

from __future__ import annotations

import os
import secrets
import socket

from batchctl.domain.commands import Identity
from batchctl.system.host import platform


class SystemIds:
    """Identities of this process; the controller id is new at every start."""

    def __init__(self) -> None:
        """Make the controller id."""
        self._controller_id = f"{self.host()}:{os.getpid()}:{secrets.token_hex(4)}"

    def controller_id(self) -> str:
        """Return an id that no other start of any controller has."""
        return self._controller_id

    def host(self) -> str:
        """Return this machine's name."""
        return socket.gethostname()

    def process(self) -> Identity:
        """Return what tells this process from any other that ever ran."""
        pid = os.getpid()
        return Identity(pid=pid, pid_start=platform.started(pid), boot_id=platform.boot_id())

    def user(self) -> str:
        """Return the operating-system user's name."""
        return platform.user_name()

    def token(self, length: int) -> str:
        """Return so many random bytes as hexadecimal digits, fit to keep a door shut."""
        return secrets.token_hex(length)
