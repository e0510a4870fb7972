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


class SystemGlance:
    """Looks at this host's files, on threads that are left behind when they hang."""

    def __init__(self, patience: timedelta = PATIENCE, stat: Callable[[str], object] = os.stat) -> None:
        """Keep how long it may take, and how a path is asked for."""
        self._patience = patience
        self._stat = stat

    def missing(self, paths: Collection[str]) -> frozenset[str]:
        """Return the absolute paths where there is certainly nothing; what a relative one means, only its step knows."""
        left: SimpleQueue[str] = SimpleQueue()
        for path in sorted({path for path in paths if os.path.isabs(path)}):
            left.put(path)
        found: list[str] = []

        def look() -> None:
            while (path := _next(left)) is not None:
                if self._is_missing(path):
                    found.append(path)

        all_within(self._patience, {f"glance-{at}": look for at in range(min(AT_ONCE, left.qsize()))})
        return frozenset(found)

    def _is_missing(self, path: str) -> bool:
        try:
            self._stat(path)
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
