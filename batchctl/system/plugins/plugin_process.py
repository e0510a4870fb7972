"""The controller's side of the child process in which plugin code runs (the other side is `batchctl.plugin_host`)."""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from types import MappingProxyType
from typing import Any

from batchctl.domain.records import JsonValue
from batchctl.plugin_api import JobEnd
from batchctl.system.commands.environment import for_children
from batchctl.system.commands.kept_output import OUTPUT_CAP, Output
from batchctl.system.commands.processes import DRAIN, signal_name
from batchctl.system.concurrency.following import PipeReader
from batchctl.system.concurrency.stopping import Stop
from batchctl.system.concurrency.threads import Threads
from batchctl.system.host.cookies import own_cookie_of
from batchctl.system.host.platform import Tree
from batchctl.system.plugins.messages import line_of, message_of
from batchctl.system.plugins.sources import Sources

MOST_CALLS = 1_000
"""Requests one process answers before it is replaced, so that a plugin's memory leak cannot add up."""

_PATIENCE = 2.0


class Tap:
    """The output of one request after the other, cut where the plugin process writes the request's mark."""

    def __init__(self, cap: int) -> None:
        """Drop all output until the first request begins."""
        self._cap = cap
        self._lock = threading.Lock()
        self._mark = b""
        self._kept = b""
        self._output: Output | None = None
        self._complete = threading.Event()

    @property
    def total(self) -> int:
        """How many bytes of the request's output have come; 0 while there is no request."""
        output = self._output
        return 0 if output is None else output.total

    def since(self, position: int) -> tuple[int, bytes]:
        """Return the request's output from a position on, as `Output` does."""
        output = self._output
        return (position, b"") if output is None else output.since(position)

    def begin(self, mark: bytes) -> None:
        """Keep what comes from now on, as far as the mark."""
        with self._lock:
            self._mark, self._kept, self._output = mark, b"", Output(self._cap)
            self._complete.clear()

    def feed(self, chunk: bytes) -> None:
        """Take the next bytes."""
        with self._lock:
            if self._output is None or self._complete.is_set():
                return
            before, found, _ = (self._kept + chunk).partition(self._mark)
            # The mark may be cut in two, so as much as could be its beginning is kept back.
            held = 0 if found else len(self._mark) - 1
            self._output.feed(before[: len(before) - held])
            self._kept = before[len(before) - held :] if held else b""
            if found:
                self._complete.set()

    def text(self, within: float) -> str:
        """Wait a little for the mark, then return the request's output."""
        self._complete.wait(within)
        with self._lock:
            output, self._output = self._output or Output(self._cap), None
            output.feed(self._kept)
            return output.text()


class PluginProcess:
    """A living child process that answers one request at a time; useless once it has ended."""

    def __init__(
        self,
        *,
        controller_id: str,
        plugin_modules: Sequence[str] = (),
        sys_path: Sequence[str] = (),
        cap: int = OUTPUT_CAP,
        most_calls: int = MOST_CALLS,
        environment: Mapping[str, str] | None = None,
        left_out: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        """Start the process; it loads a plugin only when one is asked for, and none of those that are `left_out`."""
        self._threads = Threads("batchctl-plugin-process")
        self._tap = Tap(cap)
        self._ended = threading.Event()
        self._token = secrets.token_hex(8)
        self._asked = 0
        self._most_calls = most_calls
        self._sources = Sources(time.time_ns())
        receiving, sending = os.pipe()
        self._reader = PipeReader(receiving, self._tap.feed, self._threads)
        try:
            self.tree = Tree(
                # -P: a file in the working directory must not stand in for a module of the standard library.
                [sys.executable, "-P", "-m", "batchctl.plugin_host"],
                directory=None,
                environment=for_children() if environment is None else environment,
                # Every process has a cookie of its own, else stopping one would stop its siblings.
                cookie=own_cookie_of(controller_id, f"host-{self._token}"),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=sending,
            )
        finally:
            os.close(sending)
        self._requests, self._answers = self.tree.process.stdin, self.tree.process.stdout
        self._threads.run(self._watch)
        self._send({"plugin_modules": list(plugin_modules), "sys_path": list(sys_path), "left_out": dict(left_out)})

    @property
    def output(self) -> Tap:
        """What the job under way has written so far."""
        return self._tap

    @property
    def has_ended(self) -> bool:
        """Say whether the process has ended, for whatever reason."""
        return self._ended.is_set()

    @property
    def may_serve(self) -> bool:
        """Say whether it may get another request: it lives, is not worn out, and its code is that of the files."""
        return not self.has_ended and self._asked < self._most_calls and not self._sources.have_changed

    def run_job(self, name: str, arguments: Mapping[str, JsonValue], stop: Stop) -> JobEnd:
        """Call a job in the child and wait for its end, or for the child's."""
        answer = self.ask({"do": "job", "name": name, "arguments": dict(arguments)}, stop)
        output = self._tap.text(DRAIN if answer is None else _PATIENCE)
        if answer is not None:
            return JobEnd(**{**answer, "output": output + answer["output"]})
        if stop.announced:
            return JobEnd(succeeded=False, stopped=True, message="the job was stopped", output=output)
        return JobEnd(succeeded=False, message=f"the job ended its process: {self.close()}", output=output)

    def ask(self, request: Mapping[str, Any], stop: Stop) -> dict[str, Any] | None:
        """Send a request and return the answer; None when the process ended instead of answering."""
        self._asked += 1
        mark = f"\x00{self._token}-{self._asked}\x00"
        self._tap.begin(mark.encode("ascii"))
        with stop.guard(self.tree):
            if self._send({**request, "mark": mark}):
                try:
                    answer = message_of(self._answers.readline() if self._answers else b"")
                    self._sources.add(answer.pop("files"))
                except (OSError, ValueError, KeyError):
                    pass  # Anything other than an answer: the process cannot be used any more.
                else:
                    return answer
            self.tree.kill()
            self._ended.wait(_PATIENCE)
        return None

    def close(self) -> str:
        """End the process with everything it started; return how it ended, in words."""
        for pipe in (self._requests, self._answers):
            if pipe is not None:
                with suppress(OSError):  # The rest of a request is not read any more.
                    pipe.close()
        if not self._ended.wait(_PATIENCE):
            self.tree.kill()
        self._ended.wait()
        code = self.tree.reap()
        self._threads.close()
        return f"exit code {code}" if code >= 0 else f"killed by {signal_name(code)}"

    def _send(self, message: Mapping[str, Any]) -> bool:
        if self._requests is None:
            return False
        try:
            self._requests.write(line_of(message))
            self._requests.flush()
        except (OSError, ValueError):
            return False
        return True

    def _watch(self) -> None:
        # A process the child has forked may hold the pipes open, so its end is not seen by reading alone.
        self.tree.wait()
        self.tree.kill()
        self._ended.set()


class PluginProcesses:
    """The plugin processes of a runner; lent to one execution at a time."""

    def __init__(self, new: Callable[[], PluginProcess]) -> None:
        """Start none yet."""
        self._new = new
        self._lock = threading.Lock()
        self._idle: list[PluginProcess] = []

    def borrow(self) -> PluginProcess:
        """Lend a plugin process that is not in use; end one that may not serve any more."""
        while process := self._take_idle():
            if process.may_serve:
                return process
            process.close()
        return self._new()

    def give_back(self, process: PluginProcess, *, usable: bool) -> None:
        """Take a plugin process back; one that is not usable is ended and will be replaced when needed."""
        if usable and not process.has_ended:
            with self._lock:
                self._idle.append(process)
        else:
            process.close()

    def close(self) -> None:
        """End those that are not in use."""
        while process := self._take_idle():
            process.close()

    def _take_idle(self) -> PluginProcess | None:
        with self._lock:
            return self._idle.pop() if self._idle else None
