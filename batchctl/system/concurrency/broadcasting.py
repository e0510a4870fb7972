"""One look for all who listen: each hears that something has changed, and only a few of them in any one moment."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass, field
from itertools import islice

STEADY = 3
"""After how many looks those hear something who listen steadily, whether it has changed or not."""


@dataclass(eq=False)
class _Listener:
    """Who listens; however much changes meanwhile, one mark waits for it."""

    is_steady: bool
    is_behind: bool = False
    due: asyncio.Event = field(default_factory=asyncio.Event)


class Broadcast:
    """Looks as long as anybody listens, once in an interval however many these are.

    When something has changed all of them hear of it, at most so many after each look, those first who have waited longest.
    """

    def __init__(self, look: Callable[[], Awaitable[bool]], *, interval: float, most: int) -> None:
        """Look for nothing yet."""
        self._look, self._interval, self._most = look, interval, most
        self._listeners: dict[_Listener, None] = {}
        self._looking: asyncio.Task[None] | None = None
        self._looks, self._is_over = 0, False

    async def listen(self, patience: float, *, steadily: bool = False) -> AsyncGenerator[bool, None]:
        """Yield true when something has changed, and false when nothing has for so many seconds."""
        own = _Listener(steadily)
        self._listeners[own] = None
        if self._looking is None:
            self._looking = asyncio.create_task(self._keep_looking())
        try:
            while not self._is_over:
                has_changed = await self._has_changed(own, patience)
                if not self._is_over:
                    yield has_changed
        finally:
            del self._listeners[own]
            if not self._listeners:
                self._looking.cancel()
                self._looking = None

    def end(self) -> None:
        """Let all who listen go, and those who come later."""
        self._is_over = True
        for one in self._listeners:
            one.due.set()

    @staticmethod
    async def _has_changed(own: _Listener, patience: float) -> bool:
        try:
            await asyncio.wait_for(own.due.wait(), patience)
        except TimeoutError:
            return False
        own.due.clear()
        return True

    async def _keep_looking(self) -> None:
        while True:
            await asyncio.sleep(self._interval)
            has_changed, self._looks = await self._look(), self._looks + 1
            is_time = self._looks % STEADY == 0
            for one in self._listeners:
                one.is_behind = one.is_behind or has_changed or (one.is_steady and is_time)
            for one in [*islice((one for one in self._listeners if one.is_behind), self._most)]:
                one.is_behind = False
                one.due.set()
                # Behind all others the next time.
                del self._listeners[one]
                self._listeners[one] = None
