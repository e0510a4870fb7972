"""Processes of a Dask cluster on loopback, for tests: `local FOLDER PORT`, `scheduler PORT HOST`, `worker FOLDER ADDRESS HOST`.

A worker's folder is where its agent finds its `batchctl.toml`. Each says that it is there by a line.
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests.leftovers import children_of

ROOT = Path(__file__).parents[1]
SLOTS = 2


class DaskProcess:
    """One of these, seen from a test."""

    def __init__(
        self, *args: str, folder: Path, env: dict[str, str] | None = None, wait: bool = True, prefix: Sequence[str] = ()
    ) -> None:
        """Start it, and wait until it is there, unless that may take as long as its scheduler is away."""
        outside = {name: value for name, value in os.environ.items() if not name.startswith("BATCHCTL_")}
        quiet = {"DASK_LOGGING__DISTRIBUTED": "critical", "DASK_DISTRIBUTED__ADMIN__TICK__INTERVAL": "1s"}
        # Otherwise a cluster that it has made kills a worker that retires after 15 s.
        quiet["DASK_DISTRIBUTED__DEPLOY__LOST_WORKER_TIMEOUT"] = "1h"
        with (folder / f"dask-{args[0]}.log").open("ab") as log:
            self.process = subprocess.Popen(
                [*prefix, sys.executable, "-m", "tests.dask_processes", *args],
                cwd=ROOT,
                env={**outside, **quiet, "PYTHONPATH": str(ROOT), **(env or {})},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        assert self.process.stdout is not None
        self.address = self.process.stdout.readline().strip() if wait else ""
        assert self.address or not wait, (folder / f"dask-{args[0]}.log").read_text(encoding="utf-8")

    @property
    def workers(self) -> list[int]:
        """Return the process ids of the workers that it has started."""
        return [pid for pid in children_of(self.process.pid) if "spawn_main" in _command_of(pid)]

    def end(self, number: int = signal.SIGKILL) -> None:
        """End it; its workers end with it."""
        workers = self.workers
        if self.process.poll() is None:
            self.process.send_signal(number)
        for pid in workers:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.wait()
        # Not read to its end: a worker that has lost its nanny may hold the other one for a while.
        assert self.process.stdout is not None
        self.process.stdout.close()


def free_port() -> int:
    """Return a port of loopback that nothing listens at."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def _command_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return ""


async def _local(folder: str, port: str) -> None:
    from distributed import LocalCluster  # noqa: PLC0415 - the others need the rest of it only

    os.chdir(folder)
    async with LocalCluster(
        n_workers=2,
        threads_per_worker=SLOTS,
        processes=True,
        dashboard_address=None,
        host="127.0.0.1",
        scheduler_port=int(port),
        asynchronous=True,
        local_directory=folder,
    ) as cluster:
        await _serve(cluster.scheduler_address)


async def _scheduler(port: str, host: str) -> None:
    from distributed import Scheduler  # noqa: PLC0415

    async with Scheduler(host=host, port=int(port), dashboard=False) as scheduler:
        await _serve(scheduler.address)


async def _worker(folder: str, address: str, host: str) -> None:
    from distributed import Nanny  # noqa: PLC0415

    os.chdir(folder)
    async with Nanny(address, nthreads=SLOTS, host=host, dashboard=False, local_directory=folder) as nanny:
        await _serve(nanny.address)


async def _serve(address: str) -> None:
    print(address, flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    _VERBS: dict[str, Callable[..., Coroutine[Any, Any, None]]] = {
        "local": _local,
        "scheduler": _scheduler,
        "worker": _worker,
    }
    asyncio.run(_VERBS[sys.argv[1]](*sys.argv[2:]))
