"""The agents of a pool of kind `dask`: one in each worker of a cluster."""

from __future__ import annotations

import asyncio
import logging
import pickle
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from batchctl.system.remote.transport import OfferedAgent, UnreachableError
from batchctl.system.remote.wire import Message, Received

Answer = Callable[[str, dict[str, Any], Any], Awaitable[Message]]
"""Takes the verb, the message and the worker."""
CONNECT_SECONDS = 5
DIRECT_SECONDS = 1


class DaskCluster:
    """Reaches agents through the scheduler of their cluster. No step is ever a task of Dask."""

    def __init__(self, scheduler: str, answer: Answer, security: Mapping[str, str]) -> None:
        """Connect to nothing yet; `answer`, a function of a module, is called in the workers."""
        self._scheduler, self._security = scheduler, security
        self._answer = pickle.dumps(answer)
        self._client: Any = None
        self._is_direct: dict[str, bool] = {}

    async def open(self) -> None:
        """Connect to the scheduler."""
        await self.close()
        try:
            import distributed  # noqa: PLC0415 - it reads the environment, which an import must not

            _silence()
            security = distributed.Security(**self._security, require_encryption=True) if self._security else None
            self._client = await distributed.Client(
                self._scheduler,
                asynchronous=True,
                set_as_default=False,
                timeout=CONNECT_SECONDS,
                security=security,
                name="batchctl",
            )
        except Exception as error:
            raise UnreachableError(str(error) or type(error).__name__) from error

    async def offered(self) -> Mapping[str, OfferedAgent]:
        """Return the workers that take new work."""
        client = self._opened()
        try:
            known = (await client.scheduler.identity(n_workers=-1))["workers"]
        except Exception as error:
            raise UnreachableError(str(error) or type(error).__name__) from error
        return {
            address: OfferedAgent(address, int(worker["nthreads"]), worker.get("resources") or {})
            for address, worker in known.items()
            if worker.get("status", "running") == "running"
        }

    async def ask(self, name: str, verb: str, message: Received, *, within: float) -> Received:
        """Ask the agent of a worker, whose address is its name."""
        del within
        client = self._opened()
        try:
            if name not in self._is_direct:
                self._is_direct[name] = await _is_direct(client, name)
            found: Received = await self._run(client, name, verb, dict(message))
        except Exception as error:
            # Dask raises whatever it was: what is broken may be the way, the worker, or what it has imported.
            if not self._is_direct.get(name):
                self._is_direct.pop(name, None)
            raise UnreachableError(str(error) or type(error).__name__) from error
        return found

    async def close(self) -> None:
        """Leave the cluster."""
        client, self._client, self._is_direct = self._client, None, {}
        if client is not None:
            await client.close(timeout=CONNECT_SECONDS)

    async def _run(self, client: Any, name: str, verb: str, message: dict[str, Any]) -> Any:
        """Have a function called in a worker, and return its answer; raises what that raised."""
        from distributed.core import clean_exception  # noqa: PLC0415 - as that of the package

        call = {"function": self._answer, "args": pickle.dumps((verb, message)), "kwargs": None, "wait": True}
        if self._is_direct[name]:
            found = await client.rpc(name).run(**call)
        else:
            found = await client.scheduler.proxy(worker=name, msg={"op": "run", **call})
        if found["status"] != "OK":
            raise clean_exception(**found)[1] or UnreachableError(verb)
        return found["result"]

    def _opened(self) -> Any:
        if self._client is None or self._client.status != "running":
            message = f"the scheduler {self._scheduler} is away"
            raise UnreachableError(message)
        return self._client


async def _is_direct(client: Any, name: str) -> bool:
    """Say whether there is a way to a worker from here; otherwise its scheduler passes everything on, with a second hop."""
    try:
        async with asyncio.timeout(DIRECT_SECONDS):
            await client.rpc(name).identity()
    except (OSError, TimeoutError):
        return False
    return True


def _silence() -> None:
    """Let neither the package nor its event loop log broken connections: what goes wrong on the way is told by the pool."""
    for name in [each for each in logging.root.manager.loggerDict if each.startswith(("distributed", "tornado"))]:
        logging.getLogger(name).setLevel(logging.CRITICAL)
