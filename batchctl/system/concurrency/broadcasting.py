"""One look for all who listen: each hears of news that concern it, and only a few of them in any one moment."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass, field
from itertools import islice
from typing import Generic, TypeVar

from batchctl.system.concurrency.pacing import Allowance

News = TypeVar("News")

STEADY = 3
"""After how many looks those hear something who listen steadily, whether there are news or not."""
KEPT = 5
"""The news of how many looks concern those, too, who begin to listen: what they show may be older than these."""


@dataclass(eq=False)
class _Listener(Generic[News]):
    """Who listens; however much changes meanwhile, one mark waits for it."""

    hears: Callable[[News], bool]
    is_steady: bool
    is_behind: bool = False
    due: asyncio.Event = field(default_factory=asyncio.Event)


class Broadcast(Generic[News]):
    """Looks as long as anybody listens, once in an interval however many these are.

    All hear of news that concern them, after each look as many as the allowance has room for, those first who have waited
    longest.
    """

    def __init__(self, look: Callable[[], Awaitable[News]], *, interval: float, allowance: Allowance) -> None:
        """Look for nothing yet."""
        self._look, self._interval, self._allowance = look, interval, allowance
        self._listeners: dict[_Listener[News], None] = {}
        self._looking: asyncio.Task[None] | None = None
        self._kept = deque[News](maxlen=KEPT)
        self._looks, self._is_over = 0, False

    async def listen(
        self, patience: float, hears: Callable[[News], bool], *, steadily: bool = False
    ) -> AsyncGenerator[bool, None]:
        """Yield true when there are news that it hears, and false when there are none for so many seconds."""
        own = _Listener(hears, steadily)
        # Of the time before that nothing is known.
        own.is_behind = len(self._kept) < KEPT or any(map(hears, self._kept))
        self._listeners[own] = None
        if self._looking is None:
            self._looking = asyncio.create_task(self._keep_looking())
        try:
            while not self._is_over:
                has_news = await self._has_news(own, patience)
                if not self._is_over:
                    yield has_news
        finally:
            del self._listeners[own]
            if not self._listeners:
                self._looking.cancel()
                self._looking = None
                self._kept.clear()

    def end(self) -> None:
        """Let all who listen go, and those who come later."""
        self._is_over = True
        for one in self._listeners:
            one.due.set()

    @staticmethod
    async def _has_news(own: _Listener[News], patience: float) -> bool:
        try:
            await asyncio.wait_for(own.due.wait(), patience)
        except TimeoutError:
            return False
        own.due.clear()
        return True

    async def _keep_looking(self) -> None:
        while True:
            await asyncio.sleep(self._interval)
            news, self._looks = await self._look(), self._looks + 1
            self._kept.append(news)
            is_time = self._looks % STEADY == 0
            for one in self._listeners:
                one.is_behind = one.is_behind or one.hears(news) or (one.is_steady and is_time)
            self._allowance.pass_by(self._interval)
            for one in [*islice((one for one in self._listeners if one.is_behind), self._allowance.room)]:
                one.is_behind = False
                one.due.set()
                # Behind all others the next time.
                del self._listeners[one]
                self._listeners[one] = None
