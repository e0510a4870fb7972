"""Reading what a command writes until the command has ended, which may be before or after the end of its output."""

from __future__ import annotations

import math
import os
import select
import sys
import threading
import time
from collections.abc import Callable
from typing import Protocol

from batchctl.system.concurrency.threads import Threads
from batchctl.system.host.platform import Tree

_CHUNK = 64 * 1024
_AT_LEAST = 3
"""Reads that empty a pipe without writers: as much as it holds, and its end."""


class Follower(Protocol):
    """Takes in a command's output so that nothing the command does can block the program."""

    def wait(self) -> None:
        """Wait for the end of the command itself, which keeps its pid until it is reaped."""

    def has_ended(self, within: float) -> bool:
        """Wait a little for the end of the output; say whether it came."""

    @property
    def end(self) -> int | None:
        """What becomes readable when the command itself has ended, if there is such a thing."""

    @property
    def output(self) -> int | None:
        """What becomes readable when the command has written something, or when its output has ended."""

    def read(self) -> bool:
        """Take in what the command has written; false when nothing more will come."""

    def close(self) -> None:
        """Read no further."""


def follow(tree: Tree, descriptor: int, feed: Callable[[bytes], None], threads: Threads) -> Follower:
    """Begin to read; the descriptor belongs to the follower from now on."""
    if sys.platform == "linux":
        try:
            return Poller(tree, descriptor, feed)
        except OSError:
            pass  # An old kernel, or no descriptor left: a thread does as well.
    return ThreadedFollower(tree, descriptor, feed, threads)


class PipeReader:
    """Reads a pipe to its end on a thread of its own."""

    def __init__(self, descriptor: int, feed: Callable[[bytes], None], threads: Threads) -> None:
        """Begin to read; the descriptor is closed at the end."""
        self._descriptor = descriptor
        self._feed = feed
        self._reading = threading.Lock()
        self._reading.acquire()
        threads.run(self._read)

    def has_ended(self, within: float) -> bool:
        """Wait a little for the end of the output; say whether it came."""
        return self._reading.acquire(timeout=within)

    def _read(self) -> None:
        try:
            while chunk := os.read(self._descriptor, _CHUNK):
                self._feed(chunk)
        except OSError:
            pass  # On Windows a broken pipe is an error; it is the end all the same.
        finally:
            os.close(self._descriptor)
            self._reading.release()


class ThreadedFollower(PipeReader):
    """Follows with a reading thread, as every system can."""

    def __init__(self, tree: Tree, descriptor: int, feed: Callable[[bytes], None], threads: Threads) -> None:
        """Begin to read."""
        super().__init__(descriptor, feed, threads)
        self._tree = tree

    def wait(self) -> None:
        """Wait for the end of the command itself."""
        self._tree.wait()

    @property
    def end(self) -> None:
        """Return None: only a thread can follow."""

    @property
    def output(self) -> None:
        """Return None: only a thread can follow."""

    def read(self) -> bool:
        """Leave it to the thread."""
        return False

    def close(self) -> None:
        """Leave the rest to the thread, which ends with the pipe."""


if sys.platform == "linux":

    class Poller:
        """Follows on the thread that waits: one hand-over less for every command."""

        def __init__(self, tree: Tree, descriptor: int, feed: Callable[[bytes], None]) -> None:
            """Begin to look at the pipe and at the process."""
            self._process = os.pidfd_open(tree.pid)
            self._tree = tree
            self._pipe: int | None = descriptor
            self._feed = feed
            # A process that the command leaves behind may hold the pipe open, and write nothing.
            os.set_blocking(descriptor, False)

        @property
        def end(self) -> int:
            """The process."""
            return self._process

        @property
        def output(self) -> int | None:
            """The pipe, until it has ended."""
            return self._pipe

        def wait(self) -> None:
            """Wait for the end of the command itself, reading what it writes meanwhile."""
            while self._process not in self._ready(None, self._process):
                self._has_read()
            self._tree.wait()

        def has_ended(self, within: float) -> bool:
            """Read on for a little, at least what is there; say whether the end of the output came."""
            until = time.monotonic() + within
            at_least = _AT_LEAST
            while self._pipe is not None and (at_least > 0 or time.monotonic() <= until):
                if not self._has_read() and not self._ready(until - time.monotonic()):
                    return False
                at_least -= 1
            return self._pipe is None

        def read(self) -> bool:
            """Take in what there is."""
            self._has_read()
            return self._pipe is not None

        def close(self) -> None:
            """Read no further."""
            os.close(self._process)
            self._close_pipe()

        def _has_read(self) -> bool:
            """Read once; say whether anything came, even if only the end."""
            if self._pipe is None:
                return False
            try:
                chunk = os.read(self._pipe, _CHUNK)
            except BlockingIOError:
                return False
            if chunk:
                self._feed(chunk)
            else:
                self._close_pipe()
            return True

        def _close_pipe(self) -> None:
            if self._pipe is not None:
                os.close(self._pipe)
                self._pipe = None

        def _ready(self, within: float | None, *besides: int) -> set[int]:
            """Wait some seconds for the pipe, or other descriptors; return what is ready."""
            poll = select.poll()
            for descriptor in besides if self._pipe is None else (*besides, self._pipe):
                poll.register(descriptor, select.POLLIN)
            limit = None if within is None else math.ceil(max(0.0, within) * 1000)
            return {descriptor for descriptor, _ in poll.poll(limit)}
