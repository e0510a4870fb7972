"""Calls populators in a child process, each with a time limit."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Any

from batchctl.domain.rows import BatchDefinition, IntakeRow, Populated
from batchctl.domain.text import visible
from batchctl.plugin_api import CannotPopulate, Populator
from batchctl.system.messages import fields_of
from batchctl.system.plugin_process import PluginProcess
from batchctl.system.stopping import Stop
from batchctl.system.threads import Threads

POPULATE_TIMEOUT = timedelta(seconds=30)


class ProcessPopulatorRunner:
    """The `PopulatorRunner` of the product."""

    def __init__(
        self,
        plugin_process: Callable[[], PluginProcess],
        *,
        time_limit: timedelta = POPULATE_TIMEOUT,
        harmless: Callable[[BatchDefinition], Populator | None] = lambda batch: None,  # noqa: ARG005 - named for its caller
    ) -> None:
        """Start nothing yet; the child process is started when it is first needed.

        It is not for a populator of the product's own that is `harmless` with a batch: one that can take no time.
        """
        self._plugin_process = plugin_process
        self._time_limit = time_limit
        self._harmless = harmless
        self._threads = Threads("batchctl-populate")
        self._process: PluginProcess | None = None

    def populate(self, populator: str, row: IntakeRow, batch: BatchDefinition) -> Populated:
        """Call a populator; raises `CannotPopulate` with the reason, whatever went wrong."""
        if (harmless := self._harmless(batch)) is not None:
            return harmless.populate(row, batch)
        request = {"do": "populate", "populator": populator, "row": fields_of(row), "batch": fields_of(batch)}
        stop = Stop(self._threads, grace=0.0)
        done = threading.Event()
        self._threads.run(partial(self._limit, done, stop))
        try:
            process = self._living_process()
            answer = process.ask(request, stop)
        except OSError as error:
            raise CannotPopulate(f"the plugin process cannot be started: {error}") from error
        finally:
            done.set()
        if answer is None or stop.told:
            raise CannotPopulate(self._why_ended(populator, process, stop))
        return _populated(answer)

    def close(self) -> None:
        """End the child process."""
        if self._process is not None:
            self._process.close()
            self._process = None
        self._threads.close()

    def _living_process(self) -> PluginProcess:
        if self._process is not None and not self._process.may_serve:
            self._process.close()
            self._process = None
        if self._process is None:
            self._process = self._plugin_process()
        return self._process

    def _limit(self, done: threading.Event, stop: Stop) -> None:
        if not done.wait(self._time_limit.total_seconds()):
            stop.tell()

    def _why_ended(self, populator: str, process: PluginProcess, stop: Stop) -> str:
        how = process.close()
        self._process = None
        if stop.told:
            seconds = self._time_limit.total_seconds()
            return f"populator '{visible(populator)}' took longer than {seconds:g} seconds and was stopped"
        return f"populator '{visible(populator)}' ended its process: {how}"


def _populated(answer: dict[str, Any]) -> Populated:
    if "reason" in answer:
        raise CannotPopulate(answer["reason"])
    one, two, three, four, five, six = answer["data"]
    return Populated(data=(one, two, three, four, five, six), cycle_key=answer["cycle_key"])
