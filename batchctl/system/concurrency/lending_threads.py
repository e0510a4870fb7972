"""Threads for a server that waits for many at once: each has opened for itself what its work needs."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Generic, TypeVar

Lent = TypeVar("Lent")
Result = TypeVar("Result")


class LendingThreads(Generic[Lent]):
    """Does pieces of work in a few threads, and lends each what its thread has opened."""

    def __init__(
        self,
        many: int,
        make: Callable[[], Lent],
        close: Callable[[Lent], None],
        lost: type[Exception],
        check: Callable[[Lent], None] | None = None,
    ) -> None:
        """Open nothing yet; what raises `lost` is closed and made anew: at once in a check, after a work for the next one."""
        self._threads = ThreadPoolExecutor(many, "lending")
        self._make, self._close, self._lost, self._check = make, close, lost, check
        self._own = threading.local()

    async def do(self, work: Callable[[Lent], Result]) -> Result:
        """Return what a piece of work returns."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._do, work)

    def _do(self, work: Callable[[Lent], Result]) -> Result:
        lent = self._whole()
        try:
            return work(lent)
        except self._lost:
            self._drop(lent)
            raise

    def _whole(self) -> Lent:
        """Return what is lent, made anew where it was lost since the last work of this thread."""
        lent: Lent | None = getattr(self._own, "lent", None)
        if lent is not None:
            try:
                return self._checked(lent)
            except self._lost:
                pass
        self._own.lent = made = self._make()
        return self._checked(made)

    def _checked(self, lent: Lent) -> Lent:
        try:
            if self._check is not None:
                self._check(lent)
        except self._lost:
            self._drop(lent)
            raise
        return lent

    def _drop(self, lent: Lent) -> None:
        self._own.lent = None
        self._close(lent)
