"""A process that has batchctl loaded and becomes any command of it at once: a start costs a fork, not half a second.

It reads orders and writes reports, one JSON object a line. What it starts runs the very function behind the `batchctl`
command; an order may also ask for the command itself.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import select
import signal
import sys
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any

from tests.chaos import cuts, hosts, sabotage


@dataclass(frozen=True, slots=True)
class Order:
    """A command to become; `installed` asks for a fresh process of the installed one."""

    ticket: int
    arguments: list[str]
    directory: str
    log: str
    cut: str | None = None
    sabotage: str | None = None
    installed: bool = False
    host: int | None = None
    """The number of the host on which it is to run; None: on this one."""

    def line(self) -> bytes:
        return json.dumps(asdict(self)).encode() + b"\n"


def main() -> int:
    """Serve until nobody orders any more; return the exit code of this process, whatever it has become."""
    import batchctl.cli.engine_commands  # noqa: PLC0415
    import batchctl.cli.main  # noqa: PLC0415
    import batchctl.cli.output  # noqa: PLC0415
    import batchctl.node  # noqa: PLC0415
    import batchctl.store.dialects.postgresql  # noqa: PLC0415
    import batchctl.store.dialects.sqlite  # noqa: F401, PLC0415

    for name in sys.argv[1:]:
        importlib.import_module(name)
    gc.freeze()
    order = _serve()
    return 0 if order is None else _become(order)


def _serve() -> Order | None:
    """Return None when nobody orders any more, and an order in the process that carries it out."""
    poll = select.poll()
    poll.register(0, select.POLLIN)
    children: dict[int, int] = {}
    read = b""
    while True:
        for ready, _ in poll.poll():
            if ready in children:
                pid = children.pop(ready)
                poll.unregister(ready)
                os.close(ready)
                _report(pid=pid, code=os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
                continue
            said = os.read(0, 65536)
            if not said:
                _end(children)
                return None
            *lines, read = (read + said).split(b"\n")
            for line in lines:
                order = Order(**json.loads(line))
                pid = os.fork()
                if pid == 0:
                    return order
                watched = os.pidfd_open(pid)
                children[watched] = pid
                poll.register(watched, select.POLLIN)
                _report(ticket=order.ticket, pid=pid)


def _report(**said: Any) -> None:
    os.write(1, json.dumps(said).encode() + b"\n")


def _end(children: dict[int, int]) -> None:
    for watched, pid in children.items():
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(watched, signal.SIGKILL)
        os.waitpid(pid, 0)


def _become(order: Order) -> int:
    os.setsid()
    os.chdir(order.directory)
    for name, flags, taken in (
        (os.devnull, os.O_RDONLY, (0,)),
        (order.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, (1, 2)),
    ):
        opened = os.open(name, flags, 0o600)
        for descriptor in taken:
            os.dup2(opened, descriptor)
    os.closerange(3, 1024)
    if order.host is not None:
        hosts.become(hosts.HOSTS[order.host])
    if order.installed:
        os.execv(sys.executable, [sys.executable, "-m", "batchctl", *order.arguments])
    if order.cut is not None:
        cuts.install(cuts.Cut.read(order.cut))
    if order.sabotage is not None:
        sabotage.KINDS[order.sabotage]()
    from batchctl.cli.main import run  # noqa: PLC0415

    return run(order.arguments)


if __name__ == "__main__":
    sys.exit(main())
