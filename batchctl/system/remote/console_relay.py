"""The agents of a pool of kind `agents`: each on a host that can be reached by no connection, and polls a console."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TypeVar
from urllib.parse import urlencode

from batchctl.system.remote.console_client import ConsoleAddress, ConsoleClient
from batchctl.system.remote.transport import OfferedAgent, UnreachableError
from batchctl.system.remote.wire import Message, Received

Result = TypeVar("Result")
MOST_THREADS = 256
"""How many questions wait for their answers at once: each agent has one that waits for news."""
LOOKED_IN = 5.0
LATE = 1.0
"""Seconds by which the console may answer later than a question waits."""


class ConsoleRelay:
    """Reaches the agents of a pool through a console, which passes on what is asked."""

    def __init__(self, pool: str, console: ConsoleAddress) -> None:
        """Connect to nothing yet."""
        self._pool = pool
        self._console = console
        self._client: ConsoleClient | None = None
        self._threads = ThreadPoolExecutor(MOST_THREADS, "batchctl-relay")

    async def open(self) -> None:
        """Read the certificate; each question connects by itself."""
        if self._client is None:
            self._client = ConsoleClient(self._console)

    async def offered(self) -> Mapping[str, OfferedAgent]:
        """Return the agents that poll and take new steps."""
        answer = await self._aside(
            partial(self._opened().get, f"/agents?{urlencode({'pool': self._pool})}", within=LOOKED_IN)
        )
        try:
            found = [
                OfferedAgent(str(one["name"]), int(one["slots"]), {**one["resources"]}) for one in answer["agents"]
            ]
        except (KeyError, TypeError, ValueError):
            reason = "the console does not say which agents there are as one of this version does"
            raise UnreachableError(reason) from None
        return {one.name: one for one in found}

    async def ask(self, name: str, verb: str, message: Received, *, within: float) -> Received:
        """Have the console ask an agent."""
        asked: Message = {"pool": self._pool, "name": name, "verb": verb, "message": dict(message), "within": within}
        answer = await self._aside(partial(self._opened().post, "/questions", asked, within=within + LATE))
        found = answer.get("answer")
        if not isinstance(found, Mapping):
            reason = "what the agent has answered cannot be read"
            raise UnreachableError(reason)
        return found

    async def close(self) -> None:
        """Let go of the connections."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        if self._client is not None:
            self._client.close()

    async def _aside(self, work: Callable[[], Result]) -> Result:
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)

    def _opened(self) -> ConsoleClient:
        if self._client is None:
            reason = "the console was not looked for yet"
            raise UnreachableError(reason)
        return self._client
