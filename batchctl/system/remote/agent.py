"""An agent: carries steps for controllers, on a host without a login to their databases.

To a step it is a host like any other: the same handlers make it ready, the same supervisor starts it, and what is needed
besides comes from the agent's own configuration. For each controller, and each of its pools, it has a runner of its own, so
that the lease of one keeps nothing of another alive; what a dead one leaves is examined and adopted as on any host.
"""

from __future__ import annotations

import asyncio
import re
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from batchctl.domain.errors import BatchctlError
from batchctl.domain.outcomes import Rendered
from batchctl.domain.rows import HistoryEntry, HistoryId
from batchctl.domain.rule_texts import HostNeeds, host_needs
from batchctl.domain.text import in_short, visible
from batchctl.plugin_api import StepHandler
from batchctl.ports import StepRunner
from batchctl.system.remote import wire
from batchctl.system.remote.agent_folder import AgentFolder
from batchctl.system.remote.agent_room import AgentRoom, Place
from batchctl.system.remote.carrier import Carrier, Turning, on_a_thread
from batchctl.system.remote.spent_tokens import SpentTokens
from batchctl.system.remote.token_journal import TokenJournal
from batchctl.system.remote.wire import AgentFacts, AgentToken, AskedStep, Message

Result = TypeVar("Result")
NAME = re.compile(r"[\w:@+-][\w.:@+-]{0,199}")
MOST_ASKED = 64
"""How many questions are answered at once; each controller has one that waits for news."""
LOOK = 0.1
MOST_WAIT = 10.0
"""Seconds that news are waited for at most, whatever a controller asks for: it holds a thread."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentMeans:
    """What an agent works with."""

    facts: AgentFacts
    prepare: Callable[[str, AskedStep], Message]
    """Make a step of a control database ready."""
    handler: Callable[[str], StepHandler]
    runner: Callable[[str, Path], StepRunner]
    """Return what carries steps out for a controller, and remembers them in a folder."""
    folder: AgentFolder
    now: Callable[[], datetime]
    monotonic: Callable[[], float] = time.monotonic
    """Seconds of this host that never jump."""
    keep_turning: Callable[[Carrier], Turning] = on_a_thread


class Agent:
    """What answers controllers on one host."""

    def __init__(self, means: AgentMeans) -> None:
        """Begin without steps."""
        self._means = means
        self._lock, self._preparing, self._starting = threading.Lock(), threading.Lock(), threading.Lock()
        self._carriers: dict[tuple[str, str, str], Carrier] = {}
        self._made = 0
        self._spent = SpentTokens(means.monotonic)
        self._room = AgentRoom(means.facts.slots, means.facts.resources, self._needs_under_way, means.monotonic)
        self._threads = ThreadPoolExecutor(MOST_ASKED, "batchctl-agent")
        self._answers: Mapping[str, Callable[[Mapping[str, Any], Carrier], Message]] = {
            "hello": self._hello,
            "prepare": self._prepare,
            "start": self._start,
            "examine": self._examine,
            "stop_left_over": self._stop_left_over,
            "adopt": self._adopt,
            "stop": self._stop,
            "news": self._news,
            "tidy": self._tidy,
        }

    async def answer_aside(self, verb: str, message: Mapping[str, Any]) -> Message:
        """Answer on a thread of its own."""
        return await asyncio.wrap_future(self.aside(partial(self.answer, verb, message)))

    def aside(self, work: Callable[[], Result]) -> Future[Result]:
        """Do something on one of the threads that answer."""
        return self._threads.submit(work)

    def answer(self, verb: str, message: Mapping[str, Any]) -> Message:
        """Do what a controller asks, and return what comes of it; what is refused is answered too."""
        mark, whose = None, ("", "", "")
        try:
            whose = str(message["database"]), str(message["pool"]), str(message["controller"])
            carrier = self._carrier(*whose)
            mark = carrier.mark
            found = self._answers[verb](message, carrier)
        except BatchctlError as refused:
            found = {"refused": refused.in_full}
        except Exception as error:  # noqa: BLE001 - the boundary to another process: it is told, and nothing else ends
            found = {"refused": in_short(error)}
        busy, taken = self._room.seen_by(whose)
        return {**found, "carrier": mark, "clock": self._means.monotonic(), "busy": busy, "taken": dict(taken)}

    @property
    def facts(self) -> AgentFacts:
        """Return what it says of itself."""
        return self._means.facts

    @property
    def busy(self) -> int:
        """Return how many steps it carries, ends that are just being reported among them."""
        return sum(len(each.under_way) for each in self._carriers.copy().values())

    def _needs_under_way(self) -> list[HostNeeds | None]:
        carriers = self._carriers.copy().values()
        return [
            needs for each in carriers for key, needs in each.under_way.copy().items() if not each.news.has_end(key)
        ]

    @property
    def is_done(self) -> bool:
        """Say whether it carries nothing, and has told each controller that still asks what became of the last step."""
        return all(each.is_done for each in self._carriers.copy().values())

    async def finish(self) -> None:
        """Wait until it is done."""
        await asyncio.to_thread(self._finish)

    def _finish(self) -> None:
        while not self.is_done:
            time.sleep(LOOK)

    def close(self) -> None:
        """End: commands go on alone, everything else is stopped."""
        with self._lock:
            carriers, self._carriers = [*self._carriers.values()], {}
        for each in carriers:
            each.close()
        self._threads.shutdown(wait=False, cancel_futures=True)
        self._means.folder.close()

    def _hello(self, message: Mapping[str, Any], carrier: Carrier) -> Message:
        del message, carrier
        return {"facts": self._means.facts.message, "now": self._means.now().isoformat()}

    def _prepare(self, message: Mapping[str, Any], carrier: Carrier) -> Message:
        """Make a step ready, and keep a slot for it if that is asked for; that there is none is answered."""
        del carrier
        place, needs = _asked_place(message)
        if place is not None:
            with self._starting:
                if not self._room.keep(place, needs):
                    return {"full": True}
        found: Message = {}
        try:
            with self._preparing:  # Plugins are not asked by several threads at once.
                found = self._means.prepare(str(message["database"]), AskedStep.of(message["asked"]))
        finally:
            if place is not None and found.get("rendered") is None:
                with self._starting:
                    self._room.give_back(place)
        return found

    def _start(self, message: Mapping[str, Any], carrier: Carrier) -> Message:
        """Start a step, once: the same token again is answered, and starts nothing."""
        token, until = AgentToken.of(message["token"]), float(message["until"])
        tokens = self._tokens(token.database_id)
        tokens.check(token)
        if tokens.knows(token):
            return self._known(token, carrier)
        if message["carrier"] != carrier.mark:
            return {"elsewhere": True}
        handler, rendered = self._means.handler(message["type"]), wire.rendered_of(message["rendered"])
        if self._means.monotonic() >= until:
            return {"late": True}
        place, needs = _asked_place(message)
        with self._starting:
            if not tokens.knows(token) and place is not None and not self._room.begin(place, needs):
                return {"late": True}
            is_new = tokens.enter(token)
            if is_new:
                self._spent.begun(token, until)
                carrier.keep_lease(until)
                bound = bool(message["lease_bound"])
                carrier.start(token.history_id, handler, rendered, lease_bound=bound, needs=needs)
        return {} if is_new else self._known(token, carrier)

    def _known(self, token: AgentToken, carrier: Carrier) -> Message:
        """Say of an attempt that was told before whether it is carried here, or its end is still to be heard."""
        with self._starting:  # What another thread has just entered it is about to start.
            return {"known": True, "carried": carrier.has(token.history_id)}

    def _examine(self, message: Mapping[str, Any], carrier: Carrier) -> Message:
        """Find out what has become of a step that a dead controller had started here; what it had goes on alone."""
        left = _LeftStep.of(message, self._means.handler)
        if left.entry.claimed_by != message["controller"]:
            self._leave(str(message["database"]), str(message["pool"]), left.entry.claimed_by or "")
        return {"trace": carrier.ask(lambda runner: runner.examine(*left.asked)).value}

    def _stop_left_over(self, message: Mapping[str, Any], carrier: Carrier) -> Message:
        left = _LeftStep.of(message, self._means.handler)
        return {"stopped": [*carrier.ask(lambda runner: runner.stop_left_over(*left.asked))]}

    def _adopt(self, message: Mapping[str, Any], carrier: Carrier) -> Message:
        """Go on with a step that was found adoptable, for another controller: once, however often it is told."""
        token, left = AgentToken.of(message["token"]), _LeftStep.of(message, self._means.handler)
        if message["carrier"] != carrier.mark:
            return {"elsewhere": True}
        until = float(message["until"])
        # Its controller was away then: others may have taken the attempt over, and its end may be recorded.
        if until <= self._means.monotonic():
            return {"late": True}
        self._tokens(token.database_id).renew(token)
        self._spent.begun(token, until)
        carrier.keep_lease(until)
        bound = bool(message["lease_bound"])
        _, needs = _asked_place(message)
        carrier.adopt(token.history_id, left.handler, left.rendered, left.entry, bound=bound, needs=needs)
        return {}

    def _stop(self, message: Mapping[str, Any], carrier: Carrier) -> Message:
        token = AgentToken.of(message["token"])
        self._tokens(token.database_id).check(token)
        carrier.stop(token.history_id)
        return {}

    def _news(self, message: Mapping[str, Any], carrier: Carrier) -> Message:
        """Return what has been reported behind a number, waiting for it a while; take in what the controller tells with it.

        That is until when, by this host's clock, the controller counts as alive, and which ends are committed.
        """
        recorded = [HistoryId(int(each)) for each in message["recorded"]]
        if recorded:
            carrier.recorded(recorded)
            self._forget(str(message["database"]), recorded)
        if message["carrier"] != carrier.mark:
            return {}
        if message["until"] is not None:
            carrier.keep_lease(float(message["until"]))
        return carrier.news.behind(
            int(message["behind"]), wait=min(float(message["wait"]), MOST_WAIT), now=self._means.now
        )

    def _tidy(self, message: Mapping[str, Any], carrier: Carrier) -> Message:
        """Forget dead controllers, as a controller knows them, and agents that were here before."""
        living, live = set(message["living"]), {HistoryId(int(each)) for each in message["live"]}
        carrier.ask(lambda runner: runner.tidy(living, live))
        self._forget(str(message["database"]), ())
        self._means.folder.tidy()
        return {}

    def _forget(self, database_id: str, attempts: Sequence[HistoryId]) -> None:
        """Forget what is recorded as ended, as soon as it is too late to start it again."""
        for whose, attempt in self._spent.recorded(database_id, attempts):
            self._tokens(whose).forget([attempt])

    def _tokens(self, database_id: str) -> TokenJournal:
        return self._means.folder.tokens(_as_folder(database_id))

    def _carrier(self, database_id: str, pool: str, controller: str) -> Carrier:
        """Return what carries the steps of a controller in a pool."""
        idle: list[Carrier] = []
        whose = _as_folder(database_id), pool, _as_folder(controller)
        with self._lock:
            found = self._carriers.get(whose)
            if found is None or not found.is_at_work:
                idle = self._without_idle_ones()
                self._made += 1
                mark = f"{self._means.facts.boot}-{self._made}"
                runner = self._means.runner(controller, self._means.folder.of(database_id, pool))
                means = self._means.monotonic, self._means.keep_turning
                found = self._carriers[whose] = Carrier(mark, runner, *means)
            found.asked_at = self._means.monotonic()
        for each in idle:
            each.close()
        return found

    def _without_idle_ones(self) -> list[Carrier]:
        """Forget the carriers of controllers that have gone; what they have told no controller stands in their journals."""
        forgotten = {whose: one for whose, one in self._carriers.items() if one.is_idle}
        for whose in forgotten:
            del self._carriers[whose]
        return [*forgotten.values()]

    def _leave(self, database_id: str, pool: str, controller: str) -> None:
        """Let the commands of a controller that counts as dead go on alone, for another one to adopt."""
        with self._lock:
            carrier = self._carriers.pop((database_id, pool, controller), None)
        if carrier is not None:
            carrier.close()


def _asked_place(message: Mapping[str, Any]) -> tuple[Place | None, HostNeeds | None]:
    """Return for which instance a slot is asked for, if for any, and what the step needs besides."""
    whose = str(message["database"]), str(message["pool"]), str(message["controller"])
    needs = host_needs(None if message.get("needs") is None else str(message["needs"]))
    return None if message.get("instance") is None else (*whose, int(message["instance"])), needs


def _as_folder(name: str) -> str:
    """Return a name that is to be one of a folder; raises `ValueError` where it would lead elsewhere."""
    if not NAME.fullmatch(name):
        reason = f"'{visible(name)}' is no name of a database or a controller"
        raise ValueError(reason)
    return name


@dataclass(frozen=True, slots=True)
class _LeftStep:
    """A step that a dead controller has left here."""

    entry: HistoryEntry
    handler: StepHandler
    rendered: Rendered

    @classmethod
    def of(cls, message: Mapping[str, Any], handler: Callable[[str], StepHandler]) -> _LeftStep:
        rendered = wire.rendered_of(message["rendered"])
        return cls(wire.entry_of(message["entry"]), handler(message["type"]), rendered)

    @property
    def asked(self) -> tuple[HistoryEntry, StepHandler, Rendered]:
        return self.entry, self.handler, self.rendered


class ProcessAgent:
    """The one agent of a worker, made by whatever wants it first."""

    def __init__(self) -> None:
        """Make nothing yet."""
        self._lock = threading.Lock()
        self._made: Agent | None = None

    async def get(self, make: Callable[[], Agent]) -> Agent:
        """Return it, which may have to load its plugins first."""
        return await asyncio.to_thread(self._get, make) if self._made is None else self._made

    def _get(self, make: Callable[[], Agent]) -> Agent:
        with self._lock:
            if self._made is None:
                self._made = make()
            return self._made
