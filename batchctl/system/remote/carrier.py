"""Carries the steps of one controller on an agent's host: a runner with a thread of its own."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from datetime import timedelta
from functools import partial
from typing import Protocol, TypeVar

from batchctl.domain.errors import Refused
from batchctl.domain.outcomes import Rendered
from batchctl.domain.rows import HistoryEntry, HistoryId
from batchctl.domain.rule_texts import HostNeeds
from batchctl.domain.text import in_short
from batchctl.plugin_api import StepHandler
from batchctl.ports import Finished, StepRunner
from batchctl.system.remote.agent_news import AgentNews

Result = TypeVar("Result")
TURN = 1.0
"""Seconds between two looks at the lease, and at what steps have written."""
IDLE, UNHEARD = 60.0, 3600.0
"""Seconds of silence after which a controller counts as gone here: with nothing to tell it, and with something."""
DONE_IN = 30.0
"""Seconds within which a runner says what has become of a step; stopping what is left over may take its grace time."""


class Turning(Protocol):
    """What has a carrier turn again and again, as a thread does."""

    def is_alive(self) -> bool:
        """Say whether it goes on."""

    def join(self) -> None:
        """Wait until it has ended; it was told to."""


class Carrier:
    """A runner, all of whose methods are called on one thread, as its controller would on its own."""

    def __init__(
        self,
        mark: str,
        runner: StepRunner,
        monotonic: Callable[[], float] = time.monotonic,
        keep_turning: Callable[[Carrier], Turning] | None = None,
    ) -> None:
        """Begin to turn. The mark tells it from the carriers that its controller had or will have here."""
        self.mark, self._monotonic = mark, monotonic
        self.news = AgentNews()
        self.asked_at = monotonic()
        self.under_way: dict[HistoryId, HostNeeds | None] = {}
        """What it carries, with what each step needs of the agent."""
        self._runner = runner
        self._lease_bound: set[HistoryId] = set()
        self._calls: deque[Callable[[], object]] = deque()
        self._until = 0.0
        self._shown_at = 0.0
        self._is_closed = False
        self._waking, self._is_over = threading.Lock(), False
        self._turning = (keep_turning or on_a_thread)(self)

    def has(self, key: HistoryId) -> bool:
        """Say whether a step is under way here, or there is anything to tell of it."""
        return key in self.under_way or self.news.holds(key)

    @property
    def is_at_work(self) -> bool:
        """Say whether it carries out what it is told."""
        return self._turning.is_alive()

    @property
    def is_done(self) -> bool:
        """Say whether it carries nothing, and has nothing to tell a controller that is still there."""
        return not self.under_way and (self.news.all_heard or self._monotonic() - self.asked_at >= IDLE)

    @property
    def is_idle(self) -> bool:
        """Say whether its controller seems to be gone: it carries nothing, and has not been asked for a while."""
        silent = self._monotonic() - self.asked_at
        return not self.under_way and silent >= (IDLE if self.news.all_heard else UNHEARD)

    def start(
        self,
        key: HistoryId,
        handler: StepHandler,
        rendered: Rendered,
        *,
        lease_bound: bool,
        needs: HostNeeds | None = None,
    ) -> None:
        """Begin a step; its end is news, also where it cannot begin."""
        self._take_up(key, needs, lease_bound=lease_bound)
        self._post(partial(self._start, key, handler, rendered, lease_bound=lease_bound))

    def adopt(
        self,
        key: HistoryId,
        handler: StepHandler,
        rendered: Rendered,
        entry: HistoryEntry,
        *,
        bound: bool,
        needs: HostNeeds | None = None,
    ) -> None:
        """Go on with a step that was found adoptable, once."""
        if key not in self.under_way:
            self._take_up(key, needs, lease_bound=bound)
            self._post(partial(self._runner.adopt, key, handler, rendered, entry, lease_bound=bound))

    def stop(self, key: HistoryId) -> None:
        """Stop a step; its end is news."""
        self._post(partial(self._runner.stop, key))

    def keep_lease(self, until: float) -> None:
        """Count the controller as alive until a moment of this host's clock; one that came late changes nothing."""
        if until > self._until:
            self._until = until
            self._post(partial(self._runner.keep_lease, until))

    def recorded(self, attempts: Sequence[HistoryId]) -> None:
        """Forget ends that are committed."""
        self.news.forget(attempts)
        self._post(partial(self._runner.recorded, attempts))

    def ask(self, question: Callable[[StepRunner], Result]) -> Result:
        """Ask the runner something, and wait for its answer."""
        done: Future[Result] = Future()

        def call() -> None:
            try:
                done.set_result(question(self._runner))
            except BaseException as error:  # noqa: BLE001 - whatever it is belongs to the one who asked
                done.set_exception(error)

        self._post(call)
        if self._is_closed:
            message = "Another controller has taken over what this one had here."
            raise Refused(message)
        return done.result(DONE_IN)

    def close(self) -> None:
        """Stop what cannot go on alone, and leave the rest."""
        self._is_closed = True
        self._wake()
        self._turning.join()

    def _take_up(self, key: HistoryId, needs: HostNeeds | None, *, lease_bound: bool) -> None:
        self.under_way[key] = needs
        if lease_bound:
            self._lease_bound.add(key)

    def _post(self, call: Callable[[], object]) -> None:
        self._calls.append(call)
        self._wake()

    def _wake(self) -> None:
        """Wake the thread; a runner that it closes meanwhile has nothing left that could be woken."""
        with self._waking:
            if not self._is_over:
                self._runner.wake()

    def _start(self, key: HistoryId, handler: StepHandler, rendered: Rendered, *, lease_bound: bool) -> None:
        try:
            self._runner.start(key, handler, rendered, lease_bound=lease_bound)
        except Exception as error:  # noqa: BLE001 - a handler may raise anything, and the step has an end all the same
            self._runner.refuse(key, in_short(error))

    def work(self) -> None:
        """Turn until it is to end, and end."""
        try:
            while not self._is_closed:
                self.turn()
        finally:
            with self._waking:
                self._is_over = True
            self._runner.close(leave=True)

    def turn(self) -> None:
        """Do what was asked, look at the lease, and wait a while for what the runner reports."""
        while self._calls:
            self._calls.popleft()()
        if self._lease_bound and self._monotonic() >= self._until:
            # Others may repeat these: commands are stopped by their supervisor too, everything else only here.
            bound, self._lease_bound = self._lease_bound, set()
            for key in bound:
                self._runner.stop(key)
        if self.under_way and self._monotonic() >= self._shown_at + TURN:
            self._shown_at = self._monotonic()
            self._runner.ask_for_output()
        reports = self._runner.collect(timedelta(seconds=self._pause()))
        ended = {each.key for each in reports if isinstance(each, Finished)}
        self.news.add(reports)
        for key in ended:
            self.under_way.pop(key, None)
        self._lease_bound -= ended

    def _pause(self) -> float:
        left = self._until - self._monotonic() if self._lease_bound else TURN
        return min(max(left, 0.0), TURN)


def on_a_thread(carrier: Carrier) -> Turning:
    """Have a carrier turn on a thread of its own."""
    thread = threading.Thread(target=carrier.work, name="batchctl-carrier", daemon=True)
    thread.start()
    return thread
