"""Waiting for what somebody else does, for a while."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import AbstractAsyncContextManager
from typing import Any, TypeVar

Found = TypeVar("Found")


def within(seconds: float) -> AbstractAsyncContextManager[object]:
    """Raise `TimeoutError` in what takes longer."""
    return asyncio.timeout(seconds)


async def look_often(
    look: Callable[[], Awaitable[Found]], is_enough: Callable[[Found], bool], *, every: float, most: int
) -> Found:
    """Look until there is enough to be seen, a number of times at most; return what was seen last."""
    found = await look()
    for _ in range(most - 1):
        if is_enough(found):
            break
        await asyncio.sleep(every)
        found = await look()
    return found


async def unless_first(other: Awaitable[object], work: Coroutine[Any, Any, Found]) -> Found | None:
    """Return what comes of some work, which is given up where something else comes first: None then."""
    doing, before = asyncio.ensure_future(work), asyncio.ensure_future(other)
    try:
        await asyncio.wait({doing, before}, return_when=asyncio.FIRST_COMPLETED)
        return doing.result() if doing.done() else None
    finally:
        for one in (doing, before):
            one.cancel()
        await asyncio.gather(doing, before, return_exceptions=True)
