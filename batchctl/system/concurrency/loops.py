"""One thread that waits for many things at once: bytes from pipes, processes, and calls posted by other threads."""

from __future__ import annotations

import math
import os
import select
import sys
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from queue import Empty, SimpleQueue
from typing import Protocol

_CHUNK = 64 * 1024

Call = Callable[[], None]
Feed = Callable[[bytes], None]


class Loop(Protocol):
    """Everything that happens is done on the thread that calls `turn`, one after the other."""

    def post(self, call: Call) -> None:
        """Have something done in the next turn; from any thread, or from a signal handler."""

    def turn(self, within: float | None) -> None:
        """Wait for something to happen, some seconds or as long as it takes; then handle it."""

    def read(self, descriptor: int, feed: Feed) -> None:
        """Pass on what a pipe brings, and nothing (`b""`) at its end; the loop owns the descriptor from now on."""

    def writer(self, descriptor: int) -> Feed:
        """Return what writes to a pipe without ever waiting for the reader; for a closed pipe it does nothing."""

    def watch(self, descriptor: int, call: Call) -> bool:
        """Call something whenever a descriptor is readable; false when only a thread can wait for it."""

    def unwatch(self, descriptor: int) -> None:
        """Stop watching a descriptor."""

    def close(self) -> None:
        """Release what the loop itself needs."""


def new_loop() -> Loop:
    """Return the loop of this system."""
    return QueueLoop() if sys.platform == "win32" else PollLoop()


class QueueLoop:
    """Lets a thread wait for each pipe, as every system can."""

    def __init__(self) -> None:
        """Wait for nothing yet."""
        self._calls: SimpleQueue[Call] = SimpleQueue()

    def post(self, call: Call) -> None:
        """Have something done in the next turn."""
        self._calls.put(call)

    def turn(self, within: float | None) -> None:
        """Wait for the first call and do all there are."""
        with suppress(Empty):
            self._calls.get(timeout=within)()
            while True:
                self._calls.get_nowait()()

    def read(self, descriptor: int, feed: Feed) -> None:
        """Read on a thread of its own."""
        threading.Thread(target=self._read, args=(descriptor, feed), name="batchctl-reads", daemon=True).start()

    def _read(self, descriptor: int, feed: Feed) -> None:
        # On Windows a broken pipe is an error; it is the end all the same.
        with suppress(OSError):
            while chunk := os.read(descriptor, _CHUNK):
                self.post(partial(feed, chunk))
        os.close(descriptor)
        self.post(partial(feed, b""))

    def writer(self, descriptor: int) -> Feed:
        """Write on a thread of its own."""
        chunks: SimpleQueue[bytes] = SimpleQueue()
        threading.Thread(target=_write, args=(descriptor, chunks), name="batchctl-writes", daemon=True).start()
        return chunks.put

    def watch(self, descriptor: int, call: Call) -> bool:
        """Return false: it cannot be done."""
        del descriptor, call
        return False

    def unwatch(self, descriptor: int) -> None:
        """Do nothing: none is watched."""

    def close(self) -> None:
        """Leave the threads to the ends of their pipes."""


def _write(descriptor: int, chunks: SimpleQueue[bytes]) -> None:
    with suppress(OSError):
        while True:
            rest = memoryview(chunks.get())
            while rest:
                rest = rest[os.write(descriptor, rest) :]


if sys.platform != "win32":

    class PollLoop:
        """Asks the system about everything in one call, so that nothing is handed from thread to thread."""

        def __init__(self) -> None:
            """Wait for nothing but posts yet."""
            self._poll = select.poll()
            self._watched: dict[int, Call] = {}
            self._calls: deque[Call] = deque()
            self._waits = False
            self._read_from: set[int] = set()
            self._wakeups = receiving, self._wakeup = os.pipe()
            for descriptor in self._wakeups:
                os.set_blocking(descriptor, False)
            self.watch(receiving, partial(_silence, receiving))

        def post(self, call: Call) -> None:
            """Have something done in the next turn."""
            self._calls.append(call)
            if self._waits:
                with suppress(BlockingIOError):  # It already holds enough wake-ups.
                    os.write(self._wakeup, b"\x00")

        def turn(self, within: float | None) -> None:
            """Wait for the first thing to happen and do all there is."""
            self._waits = True
            try:
                # A call posted after this look wakes the waiting.
                limit = 0 if self._calls else None if within is None else math.ceil(max(0.0, within) * 1000)
                ready = self._poll.poll(limit)
            finally:
                self._waits = False
            for descriptor, _ in ready:
                if call := self._watched.get(descriptor):
                    call()
            while self._calls:
                self._calls.popleft()()

        def watch(self, descriptor: int, call: Call, for_what: int = select.POLLIN) -> bool:
            """Do something whenever a descriptor is ready."""
            self._watched[descriptor] = call
            self._poll.register(descriptor, for_what)
            return True

        def unwatch(self, descriptor: int) -> None:
            """Leave a descriptor alone."""
            del self._watched[descriptor]
            self._poll.unregister(descriptor)

        def read(self, descriptor: int, feed: Feed) -> None:
            """Read whenever there is something."""
            self._read_from.add(descriptor)
            self.watch(descriptor, partial(self._read, descriptor, feed))

        def _read(self, descriptor: int, feed: Feed) -> None:
            chunk = os.read(descriptor, _CHUNK)
            if not chunk:
                self.unwatch(descriptor)
                self._read_from.discard(descriptor)
                os.close(descriptor)
            feed(chunk)

        def writer(self, descriptor: int) -> Feed:
            """Write at once what the pipe takes, and the rest when it takes more."""
            os.set_blocking(descriptor, False)
            return _Outlet(self, descriptor).send

        def close(self) -> None:
            """Release the wake-up pipe, and the pipes that are still being read."""
            for descriptor in (*self._wakeups, *self._read_from):
                os.close(descriptor)

    class _Outlet:
        """A pipe with the bytes that it has not taken yet."""

        def __init__(self, loop: PollLoop, descriptor: int) -> None:
            self._loop = loop
            self._descriptor = descriptor
            self._rest = bytearray()

        def send(self, chunk: bytes) -> None:
            waits = bool(self._rest)
            self._rest += chunk
            if not waits and not self._flush():
                self._loop.watch(self._descriptor, self._go_on, select.POLLOUT)

        def _go_on(self) -> None:
            if self._flush():
                self._loop.unwatch(self._descriptor)

        def _flush(self) -> bool:
            try:
                del self._rest[: os.write(self._descriptor, self._rest)]
            except BlockingIOError:
                pass
            except OSError:
                self._rest.clear()
            return not self._rest

    def _silence(descriptor: int) -> None:
        with suppress(BlockingIOError):
            os.read(descriptor, 4096)


class Lines:
    """Puts lines together from chunks."""

    def __init__(self, each: Feed, at_end: Call) -> None:
        """Name what to do with every whole line, and at the end."""
        self._each = each
        self._at_end = at_end
        self._rest = b""

    def feed(self, chunk: bytes) -> None:
        """Take the next bytes; none at the end."""
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        for line in lines:
            self._each(line)
        if not chunk:
            self._at_end()
