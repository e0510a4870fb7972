"""Threads for a server that waits for many at once: each has opened for itself what its work needs."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Generic, TypeVar

Lent = TypeVar("Lent")
Result = TypeVar("Result")


class LendingThreads(Generic[Lent]):
    """Does pieces of work in a few threads, and lends each what its thread has opened."""

    def __init__(
        self, many: int, make: Callable[[], Lent], close: Callable[[Lent], None], lost: type[Exception]
    ) -> None:
        """Open nothing yet; what raises `lost` in a work is closed, and made anew for the next one."""
        self._threads = ThreadPoolExecutor(many, "lending")
        self._make, self._close, self._lost = make, close, lost
        self._own = threading.local()

    async def do(self, work: Callable[[Lent], Result]) -> Result:
        """Return what a piece of work returns."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._do, work)

    def _do(self, work: Callable[[Lent], Result]) -> Result:
        lent: Any = getattr(self._own, "lent", None)
        if lent is None:
            lent = self._own.lent = self._make()
        try:
            return work(lent)
        except self._lost:
            self._own.lent = None
            self._close(lent)
            raise
