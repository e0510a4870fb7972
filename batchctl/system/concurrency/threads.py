"""Threads that are kept, because starting one costs more than a small step."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from queue import SimpleQueue


class Threads:
    """Daemon threads waiting for work; a new one is started when all are busy, up to `most`."""

    def __init__(self, name: str, most: int | None = None) -> None:
        """Start nothing yet."""
        self._name = name
        self._most = most
        self._work: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._lock = threading.Lock()
        self._free = 0
        self._started = self._living = 0
        """How many were started, and how many of these were not told to end."""
        self._given_up = 0
        self._ended = threading.Semaphore(0)

    def run(self, work: Callable[[], None]) -> None:
        """Let a thread do `work`, which must not raise; beyond `most` it waits for its turn."""
        with self._lock:
            if self._free > 0:
                self._free -= 1
            elif self._most is None or self._living < self._most:
                self._start()
            else:
                self._free -= 1
        self._work.put(work)

    def give_up_one(self) -> None:
        """Let one more thread work, in the place of one whose work does not end."""
        with self._lock:
            self._given_up += 1
            self._most = None if self._most is None else self._most + 1
            if self._free < 0:
                self._free += 1
                self._start()

    def take_back_one(self) -> None:
        """Let one thread end: the work that was given up has ended after all."""
        with self._lock:
            self._given_up -= 1
            self._most = None if self._most is None else self._most - 1
            self._free -= 1
            self._living -= 1
        self._work.put(None)

    def close(self) -> None:
        """Let the threads end once their work is done."""
        with self._lock:
            for _ in range(self._living):
                self._work.put(None)

    def join(self, within: float) -> None:
        """Wait a while for the threads to end, after `close`, except for those that were given up."""
        until = time.monotonic() + within
        for _ in range(self._started - self._given_up):
            if not self._ended.acquire(timeout=max(0.0, until - time.monotonic())):
                return

    def _start(self) -> None:
        threading.Thread(target=self._serve, name=self._name, daemon=True).start()
        self._started += 1
        self._living += 1

    def _serve(self) -> None:
        while (work := self._work.get()) is not None:
            work()
            del work
            with self._lock:
                self._free += 1
        self._ended.release()
