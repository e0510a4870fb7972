"""Calls populators in child processes, one for each populator, aside and each with a time limit."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from queue import Empty, SimpleQueue
from types import MappingProxyType
from typing import Any

from batchctl.domain.rows import BatchDefinition, IntakeRow, Populated
from batchctl.domain.text import visible
from batchctl.plugin_api import CannotPopulate, Populator
from batchctl.ports import Populating
from batchctl.system.concurrency.stopping import Stop
from batchctl.system.concurrency.threads import Threads
from batchctl.system.plugins.messages import fields_of
from batchctl.system.plugins.plugin_process import PluginProcess

POPULATE_TIMEOUT = timedelta(seconds=30)
ROOM = 100
"""How many rows are asked about at once of one populator; the others wait in their tables."""

STUCK = 1.0
"""Seconds after which a question no longer holds up other batches of its row."""

_PATIENCE = 5.0


class _TookTooLongError(CannotPopulate):
    """It was stopped; next time it may answer."""


@dataclass(frozen=True, slots=True)
class _Question:
    row: IntakeRow
    batch: BatchDefinition
    reply: Callable[[Populating], None]

    def answer(self, values: Populated | str, *, hung: bool = False) -> None:
        self.reply(Populating(self.row, self.batch.batch_id, values, hung=hung))


class ProcessPopulatorRunner:
    """The `PopulatorRunner` of the product."""

    def __init__(
        self,
        plugin_process: Callable[[], PluginProcess],
        *,
        time_limit: timedelta = POPULATE_TIMEOUT,
        own_limits: Mapping[str, timedelta] = MappingProxyType({}),
        harmless: Callable[[BatchDefinition], Populator | None] = lambda batch: None,  # noqa: ARG005 - named for its caller
        target: Callable[[BatchDefinition], Mapping[str, Any]] = lambda batch: {},  # noqa: ARG005 - named for its caller
        wake: Callable[[], None] = lambda: None,
    ) -> None:
        """Start nothing yet; a child process is started when it is first needed.

        No process is started for a populator of the product that is `harmless` with a batch: one that can take no time.
        `target` returns what a populator that asks a database is given, and may raise `CannotPopulate`.
        `wake` is called when an answer has come.
        """
        self._plugin_process = plugin_process
        self._time_limit = time_limit
        self._own_limits = own_limits
        self._harmless = harmless
        self._target = target
        self._wake = wake
        self._desks: dict[str, _Desk] = {}
        self._come: SimpleQueue[tuple[_Desk, Populating]] = SimpleQueue()
        self._first: tuple[_Desk, Populating] | None = None

    def populate(self, populator: str, row: IntakeRow, batch: BatchDefinition) -> Populated:
        """Call a populator and wait for it; raises `CannotPopulate` with the reason, whatever went wrong."""
        if (harmless := self._harmless(batch)) is not None:
            return harmless.populate(row, batch)
        come: SimpleQueue[Populating] = SimpleQueue()
        self._desk(populator).put(_Question(row, batch, come.put))
        values = come.get().values
        if isinstance(values, str):
            raise CannotPopulate(values)
        return values

    def ask(self, row: IntakeRow, batch: BatchDefinition) -> Populated | None:
        """Return the values that take no time; of others the answer comes with `answers`."""
        if (harmless := self._harmless(batch)) is not None:
            return harmless.populate(row, batch)
        desk = self._desk(batch.populator)
        desk.waiting += 1
        desk.put(_Question(row, batch, partial(self._arrive, desk)))
        return None

    def has_room(self, batch: BatchDefinition) -> bool:
        """Say whether another row may be asked about now."""
        desk = self._desks.get(batch.populator)
        return desk is None or desk.waiting < ROOM or self._harmless(batch) is not None

    def is_stuck(self, batch: BatchDefinition) -> bool:
        """Say whether every question to a batch's populator has to wait for one that takes long."""
        desk = self._desks.get(batch.populator)
        return desk is not None and desk.is_stuck and self._harmless(batch) is None

    def answers(self) -> Sequence[Populating]:
        """Return the answers that have come."""
        found = [] if self._first is None else [self._first]
        self._first = None
        try:
            while True:
                found.append(self._come.get_nowait())
        except Empty:
            for desk, _ in found:
                desk.waiting -= 1
            return [answer for _, answer in found]

    @property
    def has_answers(self) -> bool:
        """Say whether any answer has come."""
        return self._first is not None or not self._come.empty()

    def wait(self) -> None:
        """Wait for an answer, or for one to take long, if any is to come."""
        if self._first is None and any(desk.waiting for desk in self._desks.values()):
            try:
                self._first = self._come.get(timeout=STUCK)
            except Empty:
                return

    def close(self) -> None:
        """End the child processes."""
        for desk in self._desks.values():
            desk.close()
        self._desks.clear()

    def _arrive(self, desk: _Desk, answer: Populating) -> None:
        self._come.put((desk, answer))
        self._wake()

    def _desk(self, populator: str) -> _Desk:
        if populator not in self._desks:
            limit = min(self._time_limit, self._own_limits.get(populator, self._time_limit))
            self._desks[populator] = _Desk(populator, self._plugin_process, self._target, self._time_limit, limit)
        return self._desks[populator]


class _Desk:
    """Asks one populator about one row after the other: in a process of its own, on a thread of its own."""

    def __init__(
        self,
        populator: str,
        plugin_process: Callable[[], PluginProcess],
        target: Callable[[BatchDefinition], Mapping[str, Any]],
        to_load: timedelta,
        limit: timedelta,
    ) -> None:
        """Start nothing yet. Loading has another time limit, `to_load`, than answering."""
        self._populator = populator
        self._plugin_process = plugin_process
        self._target = target
        self._asks_database = False
        self._to_load, self._limit = to_load, limit
        self._threads = Threads("batchctl-populate")
        self._questions: SimpleQueue[_Question | None] = SimpleQueue()
        self._process: PluginProcess | None = None
        self._thread: threading.Thread | None = None
        self._stop: Stop | None = None
        self._began_at: float | None = None
        self._closes = False
        self.waiting = 0
        """How many answers are to come that are not waited for."""

    @property
    def is_stuck(self) -> bool:
        """Say whether what is asked now takes long."""
        began_at = self._began_at
        return began_at is not None and time.monotonic() - began_at >= STUCK

    def put(self, question: _Question) -> None:
        """Ask as soon as those asked before are answered."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._serve, name=f"batchctl-{self._populator}", daemon=True)
            self._thread.start()
        self._questions.put(question)

    def close(self) -> None:
        """Ask no more, and end the process, whatever it does."""
        self._closes = True
        self._questions.put(None)
        if self._stop is not None:
            self._stop.tell()
        if self._thread is not None:
            self._thread.join(_PATIENCE)
        self._threads.close()

    def _serve(self) -> None:
        while (question := self._questions.get()) is not None and not self._closes:
            self._began_at = time.monotonic()
            try:
                values = self._values(question)
            except _TookTooLongError as error:
                question.answer(str(error), hung=True)
            except CannotPopulate as error:
                question.answer(str(error))
            except Exception as error:  # noqa: BLE001 - any error is the reason on its row
                question.answer(f"{type(error).__name__}: {error}")
            else:
                question.answer(values)
            finally:
                self._began_at = None
        if self._process is not None:
            self._process.close()

    def _values(self, question: _Question) -> Populated:
        if self._process is not None and not self._process.may_serve:
            self._process.close()
            self._process = None
        if self._process is None:
            try:
                self._process = self._plugin_process()
            except OSError as error:
                raise CannotPopulate(f"the plugin process cannot be started: {error}") from error
            # The time for loading is no fault of a row.
            answer = self._ask(self._process, {"do": "load", "populator": self._populator}, self._to_load)
            self._asks_database = answer["asks"]
        # Asked anew for every row: a password may have been changed meanwhile.
        target = self._target(question.batch) if self._asks_database else None
        row, batch = fields_of(question.row), fields_of(question.batch)
        request = {"do": "populate", "populator": self._populator, "row": row, "batch": batch, "target": target}
        return _populated(self._ask(self._process, request, self._limit))

    def _ask(self, process: PluginProcess, request: dict[str, Any], limit: timedelta) -> dict[str, Any]:
        stop = self._stop = Stop(self._threads, grace=0.0)
        done = threading.Event()
        self._threads.run(partial(_tell_after, limit, done, stop))
        if self._closes:
            stop.tell()
        try:
            answer = process.ask(request, stop)
        finally:
            done.set()
        if answer is None or stop.announced:
            how, self._process = process.close(), None
            named = f"populator '{visible(self._populator)}'"
            if stop.announced:
                raise _TookTooLongError(f"{named} took longer than {limit.total_seconds():g} seconds and was stopped")
            raise CannotPopulate(f"{named} ended its process: {how}")
        return answer


def _tell_after(limit: timedelta, done: threading.Event, stop: Stop) -> None:
    if not done.wait(limit.total_seconds()):
        stop.tell()


def _populated(answer: dict[str, Any]) -> Populated:
    if "reason" in answer:
        raise CannotPopulate(answer["reason"])
    one, two, three, four, five, six = answer["data"]
    return Populated(data=(one, two, three, four, five, six), cycle_key=answer["cycle_key"])
