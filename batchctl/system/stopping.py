"""Telling an execution to stop: once, from any thread, while it may be anywhere."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from batchctl.system.platform import Tree
from batchctl.system.threads import Threads


class Stop:
    """Whether an execution was told to stop, and what is to be done then."""

    def __init__(self, threads: Threads, grace: float) -> None:
        """Remember who does the stopping and how many seconds a tree has between TERM and KILL."""
        self._threads = threads
        self._grace = grace
        self._lock = threading.Lock()
        self._told_at: float | None = None
        self._actions: list[Callable[[], None]] = []

    @property
    def told(self) -> bool:
        """True once the execution was told to stop."""
        return self._told_at is not None

    @property
    def until(self) -> float:
        """When patience ends: the grace time after being told, or at once for what was never told."""
        return 0.0 if self._told_at is None else self._told_at + self._grace

    def tell(self) -> None:
        """Tell the execution to stop; returns at once, telling again changes nothing."""
        with self._lock:
            if self._told_at is not None:
                return
            self._told_at = time.monotonic()
            actions = list(self._actions)
        for action in actions:
            self._threads.run(action)

    def when_told(self, action: Callable[[], None]) -> None:
        """Name what to do, in another thread, when told; it is done at once if that has already happened."""
        with self._lock:
            self._actions.append(action)
            told = self.told
        if told:
            self._threads.run(action)

    @contextmanager
    def stops(self, tree: Tree) -> Iterator[None]:
        """Stop a tree when told, until the block ends; its leader must not be reaped inside."""
        ended = threading.Event()
        inside = threading.Lock()

        def signal(send: Callable[[], None]) -> None:
            with inside:
                if not ended.is_set():
                    send()

        def stop() -> None:
            signal(tree.terminate)
            ended.wait(self._grace)
            while not ended.wait(0.1):
                signal(tree.kill)

        self.when_told(stop)
        try:
            yield
        finally:
            with inside:
                ended.set()
            with self._lock:
                self._actions.remove(stop)
