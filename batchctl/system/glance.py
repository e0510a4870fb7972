"""A short look for files, which never waits for a share that does not answer."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from datetime import timedelta
from queue import Empty, SimpleQueue

from batchctl.system.concurrency.time_limits import all_within

PATIENCE = timedelta(seconds=2)
"""After this, a file that has not been seen counts as unknown."""
AT_ONCE = 16
"""Paths that are looked at at the same time: some of them may hang."""


def missing(
    paths: Collection[str], patience: timedelta = PATIENCE, stat: Callable[[str], object] = os.stat
) -> frozenset[str]:
    """Return the absolute paths where there is certainly nothing; what a relative one means, only its step knows.

    It looks on threads that are left behind when they hang.
    """
    left: SimpleQueue[str] = SimpleQueue()
    for path in sorted({path for path in paths if os.path.isabs(path)}):
        left.put(path)
    found: list[str] = []

    def look() -> None:
        while (path := _next(left)) is not None:
            if _is_missing(path, stat):
                found.append(path)

    all_within(patience, {f"glance-{at}": look for at in range(min(AT_ONCE, left.qsize()))})
    return frozenset(found)


def _is_missing(path: str, stat: Callable[[str], object]) -> bool:
    try:
        stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return True
    except (OSError, ValueError):
        # A user who may not look there does not know.
        return False
    return False


def _next(left: SimpleQueue[str]) -> str | None:
    try:
        return left.get_nowait()
    except Empty:
        return None
