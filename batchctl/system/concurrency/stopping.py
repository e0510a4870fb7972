"""Telling an execution to stop: once, from any thread, while it may be anywhere."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from batchctl.system.concurrency.threads import Threads
from batchctl.system.host.platform import Tree

_AGAIN = 0.1
"""Seconds between two kills: forking processes may escape one."""


class Stop:
    """Whether an execution was told to stop, and what is to be done then."""

    __slots__ = ("_actions", "_announced_at", "_grace", "_lock", "_threads")

    def __init__(self, threads: Threads, grace: float) -> None:
        """Keep what does the stopping, and how many seconds a tree has between TERM and KILL."""
        self._threads = threads
        self._grace = grace
        self._lock = threading.Lock()
        self._announced_at: float | None = None
        self._actions: list[Callable[[], None]] = []

    @property
    def announced(self) -> bool:
        """True once the execution was told to stop."""
        return self._announced_at is not None

    @property
    def until(self) -> float:
        """When patience ends: the grace time after it was told, or at once if it never was."""
        return 0.0 if self._announced_at is None else self._announced_at + self._grace

    @property
    def is_due(self) -> bool:
        """True once the execution was told to stop and the grace time is over."""
        return self.announced and time.monotonic() >= self.until

    def tell(self) -> None:
        """Tell the execution to stop; returns at once, telling again changes nothing."""
        with self._lock:
            if self._announced_at is not None:
                return
            self._announced_at = time.monotonic()
            actions = list(self._actions)
        for action in actions:
            self._threads.run(action)

    def when_asked(self, action: Callable[[], None]) -> None:
        """Name what to do, in another thread, when told; it is done at once if that has already happened."""
        with self._lock:
            self._actions.append(action)
            told = self.announced
        if told:
            self._threads.run(action)

    def guard(self, tree: Tree) -> Guard:
        """Stop a tree when told, until the guard is released."""
        guard = Guard(self, tree, self._grace)
        self.when_asked(guard.stop)
        return guard

    def forget(self, action: Callable[[], None]) -> None:
        """No longer do what was named."""
        with self._lock:
            self._actions.remove(action)


class Guard:
    """Stops one tree: TERM, and KILL after the grace time."""

    def __init__(self, asked_by: Stop, tree: Tree, grace: float) -> None:
        """Watch over a tree whose leader runs."""
        self._asked_by = asked_by
        self._tree = tree
        self._grace = grace
        self._signalling = threading.Lock()
        self._is_released = False
        self.came_in_time = False
        """True once a signal was sent to a leader that had not ended by itself."""
        self._until_released = threading.Lock()
        self._until_released.acquire()

    def stop(self) -> None:
        """Signal until the tree has ended or the guard is released; an end that has come counts, undisturbed."""
        with self._signalling:
            if self._is_released or self._tree.has_ended:
                return
            self.came_in_time = True
        self._signal(self._tree.terminate)
        patience = self._grace
        while not self._until_released.acquire(timeout=patience):
            self._signal(self._tree.kill)
            patience = _AGAIN

    def release(self) -> None:
        """Signal no more: from now on the leader may be reaped, and its pid belong to another process."""
        with self._signalling:
            if self._is_released:
                return
            self._is_released = True
            self._until_released.release()
        self._asked_by.forget(self.stop)

    def __enter__(self) -> None:
        """Guard until the block ends."""

    def __exit__(self, *exception: object) -> None:
        """Release."""
        self.release()

    def _signal(self, send: Callable[[], None]) -> None:
        with self._signalling:
            if not self._is_released:
                send()
