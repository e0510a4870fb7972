"""Doing several things at once, and waiting for them no longer than agreed."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from datetime import timedelta
from functools import partial
from queue import Empty, SimpleQueue
from typing import TypeVar

Result = TypeVar("Result")


def all_within(limit: timedelta, works: Mapping[str, Callable[[], Result]]) -> dict[str, Result]:
    """Do every work on a thread of its own; return the results that there are in time. A work must not raise.

    One that does not end is left behind, and does not keep the program from ending.
    """
    done: SimpleQueue[tuple[str, Result]] = SimpleQueue()
    for name, work in works.items():
        threading.Thread(target=partial(_do, name, work, done), name=f"batchctl-{name}", daemon=True).start()
    until = time.monotonic() + limit.total_seconds()
    results: dict[str, Result] = {}
    while len(results) < len(works):
        try:
            name, result = done.get(timeout=max(0.0, until - time.monotonic()))
        except Empty:
            break
        results[name] = result
    return results


def _do(name: str, work: Callable[[], Result], done: SimpleQueue[tuple[str, Result]]) -> None:
    done.put((name, work()))
