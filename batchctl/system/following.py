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

from batchctl.system.platform import Tree
from batchctl.system.threads import Threads

_CHUNK = 64 * 1024
_AT_LEAST = 3
"""Reads that empty a pipe nobody writes to any more: as much as it holds, and its end."""


class Follower(Protocol):
    """Takes in a command's output so that nothing the command does can block anybody."""

    def wait(self, within: float | None) -> bool:
        """Wait some seconds, or as long as it takes, for the end of the command itself; say whether it came.

        The command keeps its pid until it is reaped.
        """
        ...

    def has_ended(self, within: float) -> bool:
        """Wait a little for the end of the output; say whether it came."""
        ...

    def fileno(self) -> int | None:
        """Return what becomes readable whenever there is something to follow, if there is such a thing."""
        ...

    def close(self) -> None:
        """Read no further."""
        ...


def follow(tree: Tree, descriptor: int, feed: Callable[[bytes], None], threads: Threads) -> Follower:
    """Begin to read; the descriptor belongs to the follower from now on."""
    if sys.platform == "linux":
        try:
            return Poller(tree, descriptor, feed)
        except OSError:
            pass  # An old kernel, or no descriptor left: a thread does as well.
    return ThreadedFollower(tree, descriptor, feed, threads)


class Reader:
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


class ThreadedFollower(Reader):
    """Follows with a reading thread, as every system can."""

    def __init__(self, tree: Tree, descriptor: int, feed: Callable[[bytes], None], threads: Threads) -> None:
        """Begin to read."""
        super().__init__(descriptor, feed, threads)
        self._tree = tree

    def wait(self, within: float | None) -> bool:
        """Wait for the end of the command itself, which here can only be done as long as it takes."""
        if within is None:
            self._tree.wait()
        return within is None

    def fileno(self) -> None:
        """Return nothing: only a thread can follow."""

    def close(self) -> None:
        """Leave the rest to the thread, which ends with the pipe."""


if sys.platform == "linux":

    class Poller:
        """Follows on the thread that waits: one hand-over less for every command."""

        def __init__(self, tree: Tree, descriptor: int, feed: Callable[[bytes], None]) -> None:
            """Begin to look at the pipe and at the process."""
            self._poll = select.epoll(2)
            try:
                self._process = os.pidfd_open(tree.pid)
            except BaseException:
                self._poll.close()
                raise
            self._tree = tree
            self._pipe: int | None = descriptor
            self._feed = feed
            self._has_tree_ended = False
            self._poll.register(descriptor, select.EPOLLIN)
            self._poll.register(self._process, select.EPOLLIN)

        def fileno(self) -> int | None:
            """Return what becomes readable with either."""
            return self._poll.fileno()

        def wait(self, within: float | None) -> bool:
            """Wait for the end of the command itself, reading what it writes meanwhile."""
            until = math.inf if within is None else time.monotonic() + within
            while not self._has_tree_ended:
                ready = self._poll.poll(None if within is None else max(0.0, until - time.monotonic()))
                for descriptor, _ in ready:
                    if descriptor == self._process:
                        self._tree.wait()
                        self._has_tree_ended = True
                        self._poll.unregister(self._process)
                    else:
                        self._read()
                if not ready or time.monotonic() > until:
                    break
            return self._has_tree_ended

        def has_ended(self, within: float) -> bool:
            """Read on for a little, at least what is there; say whether the end of the output came."""
            until = time.monotonic() + within
            at_least = _AT_LEAST
            while self._pipe is not None and (at_least > 0 or time.monotonic() <= until):
                if not self._poll.poll(max(0.0, until - time.monotonic())):
                    return False
                self._read()
                at_least -= 1
            return self._pipe is None

        def close(self) -> None:
            """Read no further."""
            self._poll.close()
            os.close(self._process)
            if self._pipe is not None:
                os.close(self._pipe)
                self._pipe = None

        def _read(self) -> None:
            if self._pipe is None:
                return
            chunk = os.read(self._pipe, _CHUNK)
            if chunk:
                self._feed(chunk)
            else:
                # Unregistered by hand: while another process is being started it has the pipe open for a moment.
                self._poll.unregister(self._pipe)
                os.close(self._pipe)
                self._pipe = None
