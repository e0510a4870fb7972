"""Work that is done unasked takes no more than a share of the time, however much of it there would be."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from dataclasses import dataclass
from typing import TypeVar

Result = TypeVar("Result")


@dataclass
class Allowance:
    """Keeps account of the time that such work has taken."""

    share: float
    most: int
    """How many pieces of work may begin at once."""
    _each: float = 0.05
    """Seconds that a piece of work takes, by those that were done last."""
    _saved: float = 0.0

    def pass_by(self, seconds: float) -> None:
        """Save a share of the time that has passed, and no more than all pieces that may begin at once would take."""
        self._saved = min(self._saved + self.share * seconds, self.most * self._each)

    def spend(self, seconds: float) -> None:
        """Take off what a piece of work has taken."""
        self._saved -= seconds
        self._each += (seconds - self._each) / 8

    @property
    def room(self) -> int:
        """Return how many may begin now: one as soon as anything is saved."""
        return min(self.most, 1 + int(self._saved / self._each)) if self._saved > 0 else 0

    async def timed(self, work: Awaitable[Result]) -> Result:
        """Wait for a piece of work, and take off what it has taken."""
        loop = asyncio.get_running_loop()
        begun = loop.time()
        try:
            return await work
        finally:
            self.spend(loop.time() - begun)
