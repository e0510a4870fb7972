"""What keeps the lease of commands whose supervisor was killed: its *warden*, a copy of it that waits for its end.

The journal tells what was begun, so a step costs no report. Until when the worker vouches stands in memory that both see.
"""

from __future__ import annotations

import mmap
import os
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from batchctl.system.commands import journal
from batchctl.system.commands.journal import JournalPast
from batchctl.system.commands.left_over import find_rest, stop_rest
from batchctl.system.concurrency.loops import Call, Loop
from batchctl.system.host.forking import fork_heir

_NAME = "batchctl-warden"
"""What `ps -e` shows; its command line is the supervisor's."""
_LOOK_AGAIN = 5.0
"""Seconds after which to look whether anything is left to stop."""


class Lease:
    """Until when the worker vouches for its commands, by the monotonic clock; a warden sees each change."""

    def __init__(self) -> None:
        """Have no end yet."""
        self._shared = memoryview(mmap.mmap(-1, 8)).cast("d")
        self.until = float("inf")

    @property
    def until(self) -> float:
        """The end."""
        return self._shared[0]

    @until.setter
    def until(self, until: float) -> None:
        self._shared[0] = until


class Warden:
    """The supervisor's part: it has a warden, and another one when that was ended."""

    def __init__(self, loop: Loop, place: Path, lease: Lease, grace: float) -> None:
        """Have none yet."""
        self._loop = loop
        self._work = partial(stop_in_time, place, os.getpid(), lease, grace)
        self._heir: tuple[int, int] | None = None

    def stand_by(self) -> None:
        """Have one, unless the system has no process to give."""
        if self._heir is None:
            with suppress(OSError):
                self._heir = fork_heir(_NAME, self._work)
            if self._heir is not None:
                self._loop.watch(self._heir[1], partial(self._replace, *self._heir))

    def _replace(self, pid: int, held: int) -> None:
        self._loop.unwatch(held)
        os.close(held)
        os.waitpid(pid, 0)
        self._heir = None
        self.stand_by()


def stop_in_time(place: Path, supervisor: int, lease: Lease, grace: float) -> None:
    """Stop each lease-bound command that a supervisor has left, when its lease is over: then others may repeat it."""
    try:
        past = journal.read(place)
    except OSError:
        return  # All of it is recorded elsewhere.
    left = past.begun.keys() - past.ended.keys() if past.supervisor == supervisor else past.abandoned
    bound = [key for key in left if past.begun[key].get("leashed")]
    _side_by_side([partial(_stop_in_time, past, key, place, lease, grace) for key in bound])


def _side_by_side(calls: Sequence[Call]) -> None:
    threads = []
    for call in calls:
        thread = threading.Thread(target=call)
        try:
            thread.start()
        except RuntimeError:
            call()  # As long as the system refuses another thread, the others have to wait.
        else:
            threads.append(thread)
    for thread in threads:
        thread.join()


def _stop_in_time(past: JournalPast, key: int, place: Path, lease: Lease, grace: float) -> None:
    while (rest := max(lease.until, journal.lease_of(place, key)) - time.monotonic()) > 0:
        # Only then: what has just been started does not bear its mark yet.
        time.sleep(min(rest, _LOOK_AGAIN))
        if not find_rest(past, key):
            return  # It has ended, or a controller of this host has stopped it.
    stop_rest(past, key, grace)
