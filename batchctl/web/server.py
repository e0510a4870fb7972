"""Serves the console until it is told to end."""

from __future__ import annotations

import signal
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass

import uvicorn

from batchctl.app import App
from batchctl.domain.errors import Refused
from batchctl.domain.text import visible
from batchctl.system.host.listening import listen
from batchctl.web.doors import Door
from batchctl.web.forms import Forms
from batchctl.web.guards import LOOPBACK
from batchctl.web.site import Console

GRACE = 5
"""Seconds that answers under way have when the console is told to end."""


@dataclass(frozen=True, slots=True)
class Terminal:
    """Shows the address, and each new code, to the person at the terminal."""

    address: Callable[[str], None]
    code: Callable[[str], None]


def check_reach(host: str, port: int) -> None:
    """Refuse what anybody on the network could reach: there are no users yet who could be told apart."""
    if host not in LOOPBACK:
        message = f"The console would be reached from other machines at {visible(host)}, and it knows no users yet."
        tunnel = f"batchctl web; elsewhere: ssh -L {port}:127.0.0.1:{port} THIS_HOST"
        raise Refused(message, next_step=tunnel)


def serve(app: App, host: str, port: int, terminal: Terminal) -> None:
    """Answer until SIGINT or SIGTERM."""
    check_reach(host, port)
    with closing(listen(host, port)) as place:
        name = f"[{host}]" if ":" in host else host
        terminal.address(f"http://{name}:{place.getsockname()[1]}/")
        door = Door(
            who=f"{app.ids.user()}@{app.ids.host()}", now=app.clock.now, token=app.ids.token, show=terminal.code
        )
        console = Console(app.another, door, Forms(app.ids.token), LOOPBACK)
        settings = uvicorn.Config(
            console.application(),
            log_level="warning",
            access_log=False,
            server_header=False,
            lifespan="off",
            timeout_graceful_shutdown=GRACE,
        )
        # The server sends the signal on to the handler before its own.
        signal.signal(signal.SIGTERM, lambda _number, _frame: None)
        with suppress(KeyboardInterrupt):
            uvicorn.Server(settings).run(sockets=[place])
