"""What a service manager that starts this process wants to hear of it. Source: sd_notify(3), sd_watchdog_enabled(3)."""

from __future__ import annotations

import os
import socket
import time
from contextlib import suppress

from batchctl.logs import Event

_VARIABLES = ("NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID")
_MICROSECONDS = 1_000_000
_PATIENCE = 1.0
"""Seconds to wait for a manager that has not read the last message yet."""


class ServiceManager:
    """Tells systemd that the controller is ready, waits, ends, and lives; without a service manager, it does nothing.

    The variables that name the socket are taken out of the environment: no step may speak for the controller.
    """

    def __init__(self) -> None:
        """Read the environment."""
        address, period, pid = (os.environ.pop(name, "") for name in _VARIABLES)
        is_meant = pid in {"", str(os.getpid())}
        self._address = f"\0{address[1:]}" if address.startswith("@") else address
        self._every = int(period) / _MICROSECONDS / 4 if is_meant and period.isdecimal() else None
        """Seconds between two signs of life: a quarter of what the manager waits for."""
        self._announced_at = 0.0

    def hear(self, event: Event) -> None:
        """Pass on what concerns the service as a whole."""
        if event.name == "controller.started":
            self._tell("READY=1", "STATUS=working")
        elif event.name == "controller.waiting":
            self._tell(f"STATUS=waiting: {_on_one_line(str(event.fields.get('Message', '')))}")
        elif event.name == "controller.resumed":
            self._tell("STATUS=working")
        elif event.name == "controller.stopping":
            self._tell("STOPPING=1", "STATUS=waiting for the running steps to end")

    def live(self) -> None:
        """Give a sign of life if one is due."""
        if self._every is None:
            return
        now = time.monotonic()
        if now - self._announced_at >= self._every:
            self._announced_at = now
            self._tell("WATCHDOG=1")

    def _tell(self, *lines: str) -> None:
        if not self._address:
            return
        # A manager that does not listen keeps no controller from working.
        with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as channel:
            channel.settimeout(_PATIENCE)
            channel.sendto("\n".join(lines).encode("utf-8", "replace"), self._address)


def _on_one_line(text: str) -> str:
    return " ".join(text.split())
