"""The agents of a pool of kind `dask`: one in each worker of a cluster."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from typing import Any

from batchctl.system.remote.transport import OfferedAgent, UnreachableError
from batchctl.system.remote.wire import Received

CONNECT_SECONDS = 5
DIRECT_SECONDS = 1


class DaskCluster:
    """Reaches agents through the scheduler of their cluster. No step is ever a task of Dask."""

    def __init__(self, scheduler: str, actor: Callable[[], object], security: Mapping[str, str]) -> None:
        """Connect to nothing yet; `actor` makes what is placed in each worker."""
        self._scheduler, self._actor, self._security = scheduler, actor, security
        self._client: Any = None
        self._actors: dict[str, Any] = {}

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
                direct_to_workers=True,
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
        self._actors = {name: actor for name, actor in self._actors.items() if name in known}
        return {
            address: OfferedAgent(address, int(worker["nthreads"]), worker.get("resources") or {})
            for address, worker in known.items()
            if worker.get("status", "running") == "running"
        }

    async def ask(self, name: str, verb: str, message: Received) -> Received:
        """Ask the agent of a worker, whose address is its name."""
        from distributed.client import FutureCancelledError  # noqa: PLC0415 - as that of the package

        client = self._opened()
        try:
            with client.as_current():
                answer: Received = await (await self._placed(client, name)).answer(verb, dict(message))
        except (Exception, FutureCancelledError) as error:
            # Dask raises whatever it was: what is broken may be the way, the worker, or what it has imported.
            self._actors.pop(name, None)
            raise UnreachableError(str(error) or type(error).__name__) from error
        return answer

    async def close(self) -> None:
        """Leave the cluster."""
        client, self._client, self._actors = self._client, None, {}
        if client is not None:
            await client.close(timeout=CONNECT_SECONDS)

    async def _placed(self, client: Any, name: str) -> Any:
        """Return the actor in a worker, which is placed there if need be."""
        if name not in self._actors:
            placed = client.submit(
                self._actor, workers=[name], allow_other_workers=False, actor=True, retries=0, pure=False
            )
            self._actors[name] = await placed
            await self._try_directly(client, name)
        return self._actors[name]

    async def _try_directly(self, client: Any, name: str) -> None:
        """Have the scheduler pass everything on, at the cost of a second hop, if a worker has no way from here."""
        if client.direct_to_workers:
            try:
                async with asyncio.timeout(DIRECT_SECONDS):
                    await client.rpc(name).identity()
            except (OSError, TimeoutError):
                client.direct_to_workers = False

    def _opened(self) -> Any:
        if self._client is None or self._client.status != "running":
            message = f"the scheduler {self._scheduler} is away"
            raise UnreachableError(message)
        return self._client


def _silence() -> None:
    """Let neither the package nor its event loop log broken connections: what goes wrong on the way is told by the pool."""
    for name in [each for each in logging.root.manager.loggerDict if each.startswith(("distributed", "tornado"))]:
        logging.getLogger(name).setLevel(logging.CRITICAL)
