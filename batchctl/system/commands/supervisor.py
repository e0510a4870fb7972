"""The process that carries a worker's commands, so that they outlive the worker: started by `supervision`.

It takes orders from one pipe and reports to another, and writes every beginning and end into the journal. When the worker is
gone it begins nothing more, stays until everything has ended, and leaves the ends in the journal. It needs nothing but
the standard library, so it can be started without anything else.
"""

from __future__ import annotations

import json
import os
import signal
import time
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from batchctl.domain.commands import Command, CommandEnd
from batchctl.system.commands import journal
from batchctl.system.commands.processes import CommandRun
from batchctl.system.commands.shown_output import ShownOutput
from batchctl.system.commands.warden import Lease, Warden
from batchctl.system.concurrency.following import Follower
from batchctl.system.concurrency.loops import Call, Feed, Lines, Loop, new_loop
from batchctl.system.concurrency.stopping import Stop
from batchctl.system.concurrency.threads import Threads
from batchctl.system.host import platform
from batchctl.system.host.platform import Tree
from batchctl.system.host.spawning import SwiftTree
from batchctl.system.masking import masked

NOTICE = 0.02
"""Seconds a command runs before its process is recorded and reported, and its output read as it comes.

A shorter one is reported once, with its end, and costs one turn.
"""
_SYNC_AFTER = 1.0
"""Seconds after which an end that is recorded nowhere else is synced to the disk."""
_TRY_AGAIN = 1.0


class Carried:
    """A command under way."""

    __slots__ = ("began", "is_lease_bound", "is_noticed", "key", "pid", "run", "secrets", "shown", "stop", "watched")

    def __init__(self, order: Mapping[str, Any], stop: Stop) -> None:
        """Begin nothing yet."""
        self.key: int = order["start"]
        self.secrets: list[str] = order["secrets"]
        self.is_lease_bound: bool = order["leashed"]
        self.began = time.monotonic()
        self.stop = stop
        self.pid: int | None = None
        self.is_noticed = False
        self.run: CommandRun | None = None
        self.shown: ShownOutput | None = None
        """What of its output was asked for, once it was."""
        self.watched: list[int] = []
        """What the loop watches, as long as it follows the command."""

    def identify(self, tree: Tree) -> None:
        """Take note of the process."""
        self.pid = tree.pid


class Supervisor:
    """Does what it is ordered to, on one thread; only a blocking wait has a thread of its own."""

    def __init__(self, loop: Loop, place: Path, tell: Feed, *, cap: int, grace: float) -> None:
        """Write into the journal which process this is."""
        self._loop = loop
        self._place = place
        self._tell = tell
        self._cap = cap
        self._grace = grace
        self._environment = dict(os.environ)
        self._threads = Threads("batchctl-supervisor")
        self._journal = journal.Writer(place)
        self._under_way: dict[int, Carried] = {}
        self._new: deque[Carried] = deque()
        """Commands begun lately, whose process has not been reported."""
        self._unwritten: list[tuple[int | None, bytes]] = []
        """Lines that could not be written, each with the execution that it is about."""
        self._ended: dict[int, float] = {}
        """Ends that, as far as is known here, only the journal has, and when they came."""
        self._done: set[int] = set()
        """Ends that are recorded elsewhere; the journal may forget them."""
        self._unsynced = False
        self.lease = Lease()
        self._is_orphaned = False
        self._orders: dict[str, Callable[[dict[str, Any]], None]] = {
            "start": self._start,
            "stop": self._stop,
            "show": self._show,
            "lease": self._take_lease,
            "recorded": self._forget,
        }
        me = {"supervisor": os.getpid(), "pid_start": platform.started(os.getpid())}
        self._tell(self._write(me))

    def work(self) -> None:
        """Work until the worker is gone and nothing is under way."""
        while not self._is_orphaned or self._under_way or self._owes_lines:
            self._loop.turn(self._patience())
            self._look_at_the_time()
        if self._unsynced:
            self._journal.sync()

    @property
    def _owes_lines(self) -> bool:
        """Say whether a line is unwritten that somebody may ask for; of this process itself the lock tells enough."""
        return any(key is not None for key, _ in self._unwritten)

    def obey(self, line: bytes) -> None:
        """Carry out an order."""
        order = json.loads(line)
        for name, carry_out in self._orders.items():
            if name in order:
                carry_out(order)

    def be_orphaned(self) -> None:
        """Go on without the worker: everything it has ordered has been read."""
        self._is_orphaned = True
        self._write({"orphaned": time.monotonic()})

    def _start(self, order: dict[str, Any]) -> None:
        carried = Carried(order, Stop(self._threads, self._grace))
        if time.monotonic() >= self.lease.until:
            # Lease-bound or not: by now another controller may have found that it never ran.
            self._put_back(carried, "its worker has lost touch with the database")
            return
        try:
            self._journal.write(journal.line_of({"start": carried.key, "leashed": carried.is_lease_bound}))
        except OSError as error:
            self._put_back(carried, f"the journal of commands cannot be written: {error.strerror}")
            return
        self._under_way[carried.key] = carried
        try:
            run = carried.run = CommandRun(
                Command(order["argv"], order["directory"], order["environment"]),
                environment=self._environment,
                cookie=order["cookie"],
                stop=carried.stop,
                threads=self._threads,
                announce=carried.identify,
                cap=self._cap,
                spawn=SwiftTree,
            )
        except Exception as error:  # noqa: BLE001 - an error of one command must not end the others
            self._break(carried, error)
            return
        if run.lacked_means:
            self._put_back(carried, run.end().not_started or "")
            return
        if carried.pid is None:
            self._end(carried, run.end())
            return
        self._new.append(carried)
        end = None if run.follower is None else run.follower.end
        if end is None or not self._watch(carried, end, partial(self._take_end, carried, run)):
            self._wait_for(carried, run)

    def _take_end(self, carried: Carried, run: CommandRun) -> None:
        """Take in how a command has ended; another thread waits for what is left to wait for."""
        self._leave_alone(carried)
        try:
            if run.leaves_nothing:
                self._end(carried, run.end())
            else:
                self._wait_for(carried, run)
        except Exception as error:  # noqa: BLE001 - an error of one command must not end the others
            self._break(carried, error)

    def _read_on(self, carried: Carried) -> None:
        """Take in what a command writes from now on; that of a shorter one is read once, with its end."""
        follower = None if carried.run is None else carried.run.follower
        if carried.watched and follower is not None and follower.output is not None:
            self._watch(carried, follower.output, partial(self._read, carried, follower, follower.output))

    def _read(self, carried: Carried, follower: Follower, output: int) -> None:
        if not follower.read():
            self._loop.unwatch(output)
            carried.watched.remove(output)

    def _watch(self, carried: Carried, descriptor: int, call: Call) -> bool:
        if not self._loop.watch(descriptor, call):
            return False
        carried.watched.append(descriptor)
        return True

    def _leave_alone(self, carried: Carried) -> None:
        for descriptor in carried.watched:
            self._loop.unwatch(descriptor)
        carried.watched.clear()

    def _wait_for(self, carried: Carried, run: CommandRun) -> None:
        def wait() -> None:
            try:
                self._loop.post(partial(self._end, carried, run.end()))
            except Exception as error:  # noqa: BLE001 - an error of one command must not end the others
                self._loop.post(partial(self._break, carried, error))

        try:
            self._threads.run(wait)
        except RuntimeError:
            wait()  # As long as the system refuses another thread, everything else has to wait too.

    def _end(self, carried: Carried, end: CommandEnd) -> None:
        told = ((name, getattr(end, name)) for name in CommandEnd.__slots__)
        record = {name: value for name, value in told if value is not None and value is not False}
        for name in ("output", "not_started"):
            if name in record and carried.secrets:
                record[name] = masked(record[name], carried.secrets)
        self._record_end(carried, record)

    def _put_back(self, carried: Carried, reason: str) -> None:
        self._record_end(carried, {"not_started": reason, "never_ran": True})

    def _break(self, carried: Carried, error: Exception) -> None:
        self._record_end(carried, {"trouble": f"{type(error).__name__}: {error}"})

    def _record_end(self, carried: Carried, how: dict[str, Any]) -> None:
        now = time.monotonic()
        record = {"end": carried.key, "at": now, "time": datetime.now(UTC).isoformat(), "pid": carried.pid, **how}
        self._under_way.pop(carried.key, None)
        carried.is_noticed = True
        self._ended[carried.key] = now
        self._unsynced = True
        self._tell(self._write(record))

    def _stop(self, order: dict[str, Any]) -> None:
        if carried := self._under_way.get(order["stop"]):
            self._end_early(carried)

    def _show(self, order: dict[str, Any]) -> None:
        """Report what commands have written since the last time; no more than is kept of it, however much it was."""
        for key in order["show"]:
            carried = self._under_way.get(key)
            if carried is None or carried.run is None:
                continue
            if carried.shown is None:
                carried.shown = ShownOutput(carried.run.output, carried.secrets)
            if text := carried.shown.take():
                self._tell(journal.line_of({"wrote": key, "text": text}))

    def _end_early(self, carried: Carried) -> None:
        if not carried.stop.announced:
            carried.stop.tell()
            if carried.watched and carried.run is not None:
                self._leave_alone(carried)
                self._wait_for(carried, carried.run)

    def _take_lease(self, order: dict[str, Any]) -> None:
        self.lease.until = order["lease"]

    def _is_lease_free(self, carried: Carried) -> bool:
        """Say whether the lease of a command is over, so that another controller may begin it again elsewhere."""
        if not carried.is_lease_bound or time.monotonic() < self.lease.until:
            return False
        return time.monotonic() >= journal.lease_of(self._place, carried.key)

    def _forget(self, order: dict[str, Any]) -> None:
        for key in order["recorded"]:
            if self._ended.pop(key, None) is not None:
                self._done.add(key)
        self._unwritten = [(key, line) for key, line in self._unwritten if key not in self._done]
        self._unsynced = self._unsynced and bool(self._ended)
        with suppress(OSError):
            if self._journal.drop(self._done):
                self._done.clear()

    def _write(self, record: dict[str, Any]) -> bytes:
        """Write a record; retry a failed one until it is written or will not be asked for."""
        line = journal.line_of(record)
        if not self._is_written(line):
            self._unwritten.append((record.get("end", record.get("running")), line))
        return line

    def _write_what_is_unwritten(self) -> None:
        # Each of them: where a long line does not fit, a short one may.
        self._unwritten = [(key, line) for key, line in self._unwritten if not self._is_written(line)]

    def _is_written(self, line: bytes) -> bool:
        try:
            self._journal.write(line)
        except OSError:
            return False
        return True

    def _patience(self) -> float | None:
        """Return for how many seconds nothing but an event can be of interest."""
        now = time.monotonic()
        limits = [_TRY_AGAIN] if self._unwritten else []
        if self._new:
            limits.append(self._new[0].began + NOTICE - now)
        if self._unsynced and self._ended:
            limits.append(next(iter(self._ended.values())) + _SYNC_AFTER - now)
        if any(carried.is_lease_bound and not carried.stop.announced for carried in self._under_way.values()):
            limits.append(max(self.lease.until - now, NOTICE) if now < self.lease.until else _TRY_AGAIN)
        # What is overdue already is looked at at once.
        return max(min(limits), 0.0) if limits and min(limits) != float("inf") else None

    def _look_at_the_time(self) -> None:
        now = time.monotonic()
        while self._new and (self._new[0].is_noticed or now >= self._new[0].began + NOTICE):
            carried = self._new.popleft()
            if not carried.is_noticed:
                self._notice(carried)
        if self._unsynced and self._ended and now >= next(iter(self._ended.values())) + _SYNC_AFTER:
            self._unsynced = False
            self._journal.sync()
        if self._unwritten:
            self._write_what_is_unwritten()
        if now >= self.lease.until:
            for carried in list(self._under_way.values()):
                if self._is_lease_free(carried):
                    self._end_early(carried)

    def _notice(self, carried: Carried) -> None:
        carried.is_noticed = True
        self._read_on(carried)
        if carried.pid is not None:
            start = platform.started(carried.pid)
            self._tell(
                self._write({"running": carried.key, "pid": carried.pid, "pid_start": start, "at": carried.began})
            )


def main(arguments: list[str]) -> None:
    """Be the supervisor of the worker that has started this process."""
    place, settings = Path(arguments[0]), json.loads(arguments[1])
    platform.keep_children()
    for name in ("SIGTERM", "SIGINT", "SIGHUP", "SIGBREAK"):
        if number := getattr(signal, name, None):
            # A handler, not SIG_IGN, which the commands would inherit.
            signal.signal(number, lambda *_: None)
    orders, reports = _taken_over(0, os.O_RDONLY), _taken_over(1, os.O_WRONLY)
    os.chdir(os.sep)
    loop = new_loop()
    with journal.locked(place):
        if journal.read(place).is_closed:
            raise SystemExit("another worker has taken over the work of this one")
        supervisor = Supervisor(loop, place, loop.writer(reports), **settings)
        warden = Warden(loop, place, supervisor.lease, settings["grace"])

        def obey(line: bytes) -> None:
            warden.stand_by()
            supervisor.obey(line)

        loop.read(orders, Lines(obey, supervisor.be_orphaned).feed)
        supervisor.work()


def _taken_over(descriptor: int, mode: int) -> int:
    """Return a pipe under another number, so that no command gets it and its old number means nothing else one day."""
    taken = os.dup(descriptor)
    nothing = os.open(os.devnull, mode)
    os.dup2(nothing, descriptor)
    os.close(nothing)
    return taken
