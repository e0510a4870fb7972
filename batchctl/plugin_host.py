"""The process in which plugin code runs: jobs and populators may crash, hang or print here without harming others.

It reads requests from its standard input and writes answers to its standard output. Both are taken away from the
plugins: what they print, and what their children print, goes to standard error, which the controller captures.
"""

from __future__ import annotations

import faulthandler
import importlib
import os
import signal
import sys
import threading
import traceback
from contextlib import suppress
from io import BufferedWriter, FileIO, TextIOWrapper
from pathlib import Path
from queue import SimpleQueue
from types import FrameType
from typing import Any, NoReturn

from batchctl.domain.errors import PluginError
from batchctl.plugin_api import AsksDatabase, JobEnd
from batchctl.plugin_api.jobs import ASKED
from batchctl.registry import Registry
from batchctl.system.host import platform
from batchctl.system.plugins.job_calls import Listening, answer_of, call_job, call_populator
from batchctl.system.plugins.messages import batch_definition, intake_row, line_of, message_of
from batchctl.system.plugins.sources import loaded_files
from batchctl.system.plugins.targets import target_context


class StopRequested(BaseException):
    """Raised inside a job when it is to stop, so that it can clean up before it is killed; not in one that asks."""


class PluginHost:
    """Answers one request after the other."""

    def __init__(self) -> None:
        """Take the pipes away from the plugins and wait for the settings."""
        self._pid = os.getpid()
        self._directory = Path.cwd()
        self._output = os.dup(2)
        self._answers = os.fdopen(os.dup(1), "wb")
        self._inbox: SimpleQueue[bytes] = SimpleQueue()
        self._asked_to_stop = False
        self._listening = Listening(lambda: self._asked_to_stop)
        threading.Thread(target=self._listen, args=(os.dup(0),), daemon=True).start()
        self._restore()
        faulthandler.enable(self._output)
        self._announced_files = loaded_files()
        self._modules_seen = len(sys.modules)
        self._settings = message_of(self._inbox.get())
        self._registry = self._new_registry()

    def serve(self) -> NoReturn:
        """Answer until the controller closes the pipe, is gone, or tells this process to stop."""
        while True:
            request = message_of(self._inbox.get())
            answer = self._answer(request)
            answer["files"] = self._new_files()
            if os.getpid() != self._pid:
                os._exit(0)  # A job forked, and its copy returned here too.
            self._restore()
            os.write(self._output, request["mark"].encode("ascii"))
            self._answers.write(line_of(answer))
            self._answers.flush()

    def _new_registry(self) -> Registry:
        settings = self._settings
        return Registry(settings["plugin_modules"], settings["sys_path"], lambda: settings["left_out"])

    def _new_files(self) -> list[str]:
        """Return the files of the modules that were loaded since the last answer."""
        if len(sys.modules) == self._modules_seen:
            return []
        self._modules_seen = len(sys.modules)
        files = loaded_files()
        new = files - self._announced_files
        self._announced_files = files
        return sorted(new)

    def _answer(self, request: dict[str, Any]) -> dict[str, Any]:
        if self._registry.has_failures:
            # Somebody may have corrected what could not be loaded; none of its files is known to have changed.
            importlib.invalidate_caches()
            self._registry = self._new_registry()
        match request["do"]:
            case "job":
                end = self._call_job(request["name"], request["arguments"])
                if self._asked_to_stop and not end.succeeded and not end.stopped:
                    self._leave(end.output)
                return answer_of(end)
            case "load":
                with suppress(PluginError):  # The error is reported when a row's values are asked for.
                    return {"asks": isinstance(self._registry.populator(request["populator"]), AsksDatabase)}
                return {"asks": False}
            case _:
                row, batch = intake_row(request["row"]), batch_definition(request["batch"])
                context = None if request["target"] is None else target_context(request["target"])
                return call_populator(lambda: self._registry.populator(request["populator"]), row, batch, context)

    def _call_job(self, name: str, arguments: dict[str, Any]) -> JobEnd:
        try:
            job = self._registry.job(name)
        except PluginError as error:
            return JobEnd(succeeded=False, never_ran=True, message=error.message)
        self._listening = Listening(lambda: self._asked_to_stop)
        ASKED.everywhere = self._listening.ask
        return call_job(job, arguments, self._listening)

    def _listen(self, requests: int) -> None:
        with os.fdopen(requests, "rb") as lines:
            for line in lines:
                self._inbox.put(line)
        # The controller has closed the pipe or died: no answer is wanted any more.
        platform.end_own_tree()

    def _restore(self) -> None:
        """Undo what a plugin may have done to streams, signals and the working directory."""
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError, AttributeError):
                stream.flush()
        platform.flush_c_streams()
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        os.dup2(self._output, 1)
        os.dup2(self._output, 2)
        sys.stdout = _text_stream(1)
        sys.stderr = _text_stream(2)
        signal.signal(platform.STOP_SIGNAL, self._raise_asked_to_stop)
        os.chdir(self._directory)

    def _raise_asked_to_stop(self, _number: int, _frame: FrameType | None) -> None:
        self._asked_to_stop = True
        if not self._listening.asks:
            raise StopRequested

    def _leave(self, last_words: str = "") -> NoReturn:
        with suppress(OSError):
            os.write(self._output, last_words.encode("utf-8", "backslashreplace"))
        os._exit(128 + platform.STOP_SIGNAL)


def _text_stream(descriptor: int) -> TextIOWrapper:
    raw = FileIO(descriptor, "w", closefd=False)
    return TextIOWrapper(BufferedWriter(raw), encoding="utf-8", errors="backslashreplace", line_buffering=True)


def main() -> NoReturn:
    """Be a plugin process."""
    code = 1
    try:
        PluginHost().serve()
    except StopRequested:
        code = 128 + platform.STOP_SIGNAL
    except BaseException:  # noqa: BLE001 - the controller shows whatever is written here as the job's output
        traceback.print_exc()
    finally:
        # Threads that a job has left behind must not hold the process.
        os._exit(code)


if __name__ == "__main__":
    main()
