"""A short look for files, in which nobody waits for a share that does not answer."""

from __future__ import annotations

import os
import time
from collections.abc import Collection
from functools import partial
from queue import Empty, SimpleQueue

from batchctl.system.threads import Threads

PATIENCE = 2.0
"""Seconds after which what has not been seen is not known."""
AT_ONCE = 16
"""Paths that are looked at beside each other: some of them may hang."""

_Seen = SimpleQueue[tuple[str, bool]]


class SystemGlance:
    """Looks at this host's files, on threads that are left to themselves when they hang."""

    def __init__(self, patience: float = PATIENCE) -> None:
        """Keep how long it may take."""
        self._patience = patience

    def missing(self, paths: Collection[str]) -> frozenset[str]:
        """Return the absolute paths where there is certainly nothing; what a relative one means, only its step knows."""
        wanted = {path for path in paths if os.path.isabs(path)}
        seen: _Seen = SimpleQueue()
        threads = Threads("glance", most=AT_ONCE)
        for path in wanted:
            threads.run(partial(_look, path, seen))
        threads.close()
        until = time.monotonic() + self._patience
        found = set[str]()
        for _ in wanted:
            try:
                path, is_missing = seen.get(timeout=max(0.0, until - time.monotonic()))
            except Empty:
                break
            if is_missing:
                found.add(path)
        return frozenset(found)


def _look(path: str, seen: _Seen) -> None:
    is_missing = False
    try:
        os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        is_missing = True
    except (OSError, ValueError):
        # Who may not look there does not know.
        pass
    seen.put((path, is_missing))
