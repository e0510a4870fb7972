"""The worker's side of its supervisor: the process that carries the worker's commands and outlives it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from batchctl.plugin_api import Command
from batchctl.system.commands import journal
from batchctl.system.commands.left_over import stop_rest
from batchctl.system.concurrency.loops import Feed, Lines, Loop
from batchctl.system.concurrency.threads import Threads
from batchctl.system.host import platform
from batchctl.system.host.cookies import cookie_of

_CODE = "import sys; sys.path.insert(0, sys.argv[1]); from batchctl.system.commands.supervisor import main; main(sys.argv[2:])"
_ROOT = Path(__file__).parents[3]
_FAILURE = "trouble"
_PATIENCE = 5.0
"""Seconds beyond the grace time until everything that was told to end has ended."""

Record = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Ears:
    """Receives what becomes of commands; always on the thread that turns the loop."""

    running: Callable[[int, Record], None]
    """It takes longer than a moment, and this is its process."""
    ended: Callable[[int, Record], None]
    lost: Callable[[int, str], None]
    """It is unknown how it ended; what was left of it has been stopped."""
    wrote: Callable[[int, str], None]
    """It has written this since the last time it was asked for."""


class Supervision:
    """Orders commands from the supervisor, which is started with the first, and again should it be ended."""

    def __init__(
        self,
        place: Path,
        *,
        controller_id: str,
        cap: int,
        grace: float,
        environment: Mapping[str, str],
        loop: Loop,
        threads: Threads,
        ears: Ears,
    ) -> None:
        """Start nothing yet."""
        self._place = place
        self._controller_id = controller_id
        self._settings = {"cap": cap, "grace": grace}
        self._grace = grace
        self._environment = environment
        self._loop = loop
        self._threads = threads
        self._ears = ears
        self._process: subprocess.Popen[bytes] | None = None
        self._send: Feed = _nobody
        self._orders = -1
        self._is_up = False
        """The supervisor has said that it is there."""
        self._lease: float | None = None
        self._under_way: dict[int, Mapping[str, Any]] = {}
        self._stopped: set[int] = set()
        """Those of them that were told to stop."""
        self._unrecorded: set[int] = set()
        """Executions that only the journal may know of."""
        self._recorded: list[int] = []

    def start(self, key: int, command: Command, *, secrets: Sequence[str], lease_bound: bool) -> None:
        """Order a command."""
        order = {
            "start": key,
            "argv": list(command.argv),
            "directory": command.directory,
            "environment": dict(command.environment),
            "cookie": cookie_of(self._controller_id, key),
            "secrets": list(secrets),
            "leashed": lease_bound,
        }
        self._under_way[key] = order
        self._unrecorded.add(key)
        if self._recorded:
            order = {"recorded": self._recorded, **order}
            self._recorded = []
        self._order_start(key, order)

    def stop(self, key: int) -> None:
        """Have a command stopped."""
        if key in self._under_way and self._process is not None:
            self._stopped.add(key)
            self._order({"stop": key})

    def show(self, keys: Collection[int]) -> None:
        """Ask for what commands have written since the last time."""
        if self._process is not None and self._is_up:
            self._order({"show": list(keys)})

    def let_go(self, key: int) -> None:
        """Stop watching a command; its end stays in the journal for another worker."""
        self._take_off(key)

    def keep_lease(self, until: float) -> None:
        """Vouch for lease-bound commands until a time of the monotonic clock."""
        self._lease = until
        if self._process is not None:
            self._order({"lease": until})

    def recorded(self, keys: Collection[int]) -> None:
        """Take note that these ends are recorded where they belong."""
        known = self._unrecorded.intersection(keys)
        self._unrecorded -= known
        self._recorded += known

    def close(self, *, leave: bool) -> None:
        """Stop what is under way unless it is to be left, and let the supervisor end when it has nothing more to do."""
        if not leave:
            for key in list(self._under_way):
                self.stop(key)
            until = time.monotonic() + self._grace + _PATIENCE
            while self._under_way and time.monotonic() < until:
                self._loop.turn(until - time.monotonic())
        process, self._process = self._process, None
        if process is not None:
            self._let_end(process, wait=not self._under_way and not self._unrecorded)
        if not self._unrecorded:
            journal.remove(self._place)

    def _let_end(self, process: subprocess.Popen[bytes], *, wait: bool) -> None:
        self._ears = Ears(_deaf, _deaf, _deaf, _deaf)
        os.close(self._orders)
        if wait:
            with suppress(subprocess.TimeoutExpired):
                process.wait(_PATIENCE)
        # One that stays has no owner here; when it ends, it ends as another process's child.
        process.returncode = process.returncode or 0

    def _order_start(self, key: int, order: Record) -> None:
        try:
            if self._process is None:
                self._begin()
        except OSError as error:
            self._take_off(key)
            self._put_back(key, error.strerror or str(error))
            return
        self._order(order)

    def _put_back(self, key: int, reason: str) -> None:
        self._ears.ended(key, {"not_started": f"its supervisor cannot be started: {reason}", "never_ran": True})

    def _order(self, order: Record) -> None:
        self._send(journal.line_of(order))

    def _take_off(self, key: int) -> bool:
        self._stopped.discard(key)
        return self._under_way.pop(key, None) is not None

    def _begin(self) -> None:
        """Start a supervisor; its reports show whether that was possible."""
        if self._lease is not None and time.monotonic() < self._lease and not self._has_journal():
            # This worker was taken for dead and has been heard of since: it does not begin what was taken from it.
            journal.prepare(self._place, self._controller_id)
        receiving, orders = os.pipe()
        try:
            reports, sending = os.pipe()
        except OSError:
            os.close(receiving)
            os.close(orders)
            raise
        try:
            with (self._place / _FAILURE).open("ab") as failure:
                settings = json.dumps(self._settings)
                self._process = platform.start_outliving(
                    [sys.executable, "-I", "-S", "-c", _CODE, str(_ROOT), str(self._place), settings],
                    stdin=receiving,
                    stdout=sending,
                    # Not this program's own: a reader of that would wait as long as the supervisor lives.
                    stderr=failure.fileno(),
                    environment=self._environment,
                )
        except BaseException:
            os.close(orders)
            os.close(reports)
            raise
        finally:
            os.close(receiving)
            os.close(sending)
        self._is_up = False
        self._orders, self._send = orders, self._loop.writer(orders)
        if self._lease is not None:
            self._send(journal.line_of({"lease": self._lease}))
        self._loop.read(reports, Lines(self._hear, partial(self._find_it_gone, self._process)).feed)

    def _has_journal(self) -> bool:
        try:
            return not journal.read(self._place).is_closed
        except OSError:
            return False

    def _hear(self, line: bytes) -> None:
        record = json.loads(line)
        if "end" in record:
            if self._take_off(record["end"]):
                self._ears.ended(record["end"], record)
        elif "running" in record:
            if record["running"] in self._under_way:
                self._ears.running(record["running"], record)
        elif "wrote" in record:
            if record["wrote"] in self._under_way:
                self._ears.wrote(record["wrote"], record["text"])
        elif "supervisor" in record:
            self._is_up = True

    def _find_it_gone(self, process: subprocess.Popen[bytes]) -> None:
        """Learn from the journal what it did before it was ended; order again what it had not begun."""
        if process is not self._process:
            return
        process.wait()
        os.close(self._orders)
        self._process, was_up = None, self._is_up
        orders, self._under_way = self._under_way, {}
        stopped, self._stopped = self._stopped, set()
        try:
            past = journal.read(self._place)
        except OSError:
            past = journal.JournalPast(self._controller_id, platform.boot_id(), begun={key: {} for key in orders})
        for key, order in orders.items():
            if key in past.ended:
                self._ears.ended(key, past.ended[key])
            elif key in past.begun:
                self._threads.run(partial(self._stop_rest, key, past))
            elif key in stopped:
                said = "the step was told to stop before the command was started"
                self._ears.ended(key, {"not_started": said, "stopped": True})
            elif was_up:
                self._under_way[key] = order
                self._order_start(key, order)
            else:
                self._put_back(key, self._last_words())

    def _stop_rest(self, key: int, past: journal.JournalPast) -> None:
        found = stop_rest(past, key, self._grace)
        self._loop.post(lambda: self._ears.lost(key, lost_with(found)))

    def _last_words(self) -> str:
        try:
            said = (self._place / _FAILURE).read_text(encoding="utf-8", errors="replace").strip()
        except OSError as error:
            return error.strerror or str(error)
        return said.rpartition("\n")[2] or "it gave no reason"


def lost_with(found: Sequence[int]) -> str:
    """Return the message that a command was lost with its supervisor, and what was left of it."""
    said = "the command's supervisor was ended"
    if not found:
        return f"{said}; it is unknown how the command ended"
    numbers = ", ".join(str(pid) for pid in found)
    return f"{said}; what was left of the command (process {numbers}) was still running and has been stopped"


def _nobody(_: bytes) -> None:
    """Send nothing: there is no supervisor yet."""


def _deaf(*_: object) -> None:
    """Ignore all reports from now on."""
