"""What a pool talks with its agents on: a loop that goes on while its controller does something else."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any, Protocol, TypeVar

Result = TypeVar("Result")


class PoolLoop(Protocol):
    """All of it is called by the controller."""

    def post(self, work: Coroutine[Any, Any, None]) -> None:
        """Have something done, and do not wait for it."""

    def wait(self, work: Coroutine[Any, Any, Result], seconds: float) -> Result:
        """Have something done, and wait for what comes of it; what takes longer is cancelled, and raises `TimeoutError`."""

    def end(self, work: Coroutine[Any, Any, None], seconds: float) -> None:
        """Have something done at last, and wait so long for it at most."""


class LoopOnThread:
    """A loop on a thread of its own."""

    def __init__(self, name: str) -> None:
        """Begin to turn."""
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name=f"batchctl-pool-{name}", daemon=True)
        self._thread.start()

    def post(self, work: Coroutine[Any, Any, None]) -> None:
        """Have something done."""
        asyncio.run_coroutine_threadsafe(work, self._loop)

    def wait(self, work: Coroutine[Any, Any, Result], seconds: float) -> Result:
        """Have something done, and wait for it."""
        waiting = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return waiting.result(seconds)
        except TimeoutError:
            waiting.cancel()
            raise

    def end(self, work: Coroutine[Any, Any, None], seconds: float) -> None:
        """Have something done at last."""
        asyncio.run_coroutine_threadsafe(self._ended(work), self._loop)
        self._thread.join(seconds)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.set_exception_handler(_report)
        self._loop.run_forever()
        self._loop.close()

    async def _ended(self, work: Coroutine[Any, Any, None]) -> None:
        await work
        self._loop.stop()


def _report(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Log what goes wrong on a loop, but for broken connections, which the pool tells, and what is pending when it ends."""
    is_pending = context["message"].startswith("Task was destroyed")
    if not (is_pending or isinstance(context.get("exception"), OSError)):
        loop.default_exception_handler(context)
