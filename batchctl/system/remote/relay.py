"""Relays questions of controllers to agents that can be reached by no connection from outside: both come here and wait.

It keeps nothing but what is waited for, so that a console that starts again loses nothing: what is not answered is asked again.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from batchctl.system.remote.wire import Message

HELD = 20.0
"""Seconds that an agent's poll is held while there is no question for it."""
THERE = 5.0
"""Seconds since its last poll for which an agent counts as there."""
MOST_HELD = 60.0
"""Seconds that a question waits at most for its answer."""
MOST_AGENTS, MOST_OF_TOKEN, MOST_ASKED = 500, 100, 64
"""How many agents there may be, how many that show one token, and how many questions to one of them at once."""
MOST_BYTES = 32 * 1024 * 1024
"""How long a question or an answer may be."""
MOST_HELD_BYTES = 8 * MOST_BYTES
"""How long all questions and answers may be together that are passed on at a moment."""


class RelayError(Exception):
    """What is asked for cannot be done now; its text is for people."""


class NameTakenError(RelayError):
    """Another agent has the name."""


class GoneError(RelayError):
    """There is no such agent, or it does not answer."""


class FullError(RelayError):
    """There is too much already."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentOffer:
    """What an agent says with each poll."""

    name: str
    session: str
    """What tells this start of it from all others; it alone knows it."""
    token: str
    """The name of the token that it shows."""
    pools: frozenset[str]
    slots: int
    resources: Mapping[str, float]
    takes_steps: bool
    """False once it is told to end: it answers, and begins nothing new."""

    @property
    def shown(self) -> Message:
        """Return what controllers see of it."""
        return {"name": self.name, "slots": self.slots, "resources": dict(self.resources)}


@dataclass(slots=True)
class _Question:
    message: Message
    answer: asyncio.Future[Any]


@dataclass(slots=True)
class _KnownAgent:
    offer: AgentOffer
    seen_at: float = 0.0
    poll: int = 0
    """The number of the newest poll: one before it is over."""
    held: int = 0
    """How many polls are held."""
    waiting: deque[int] = field(default_factory=deque)
    asked: dict[int, _Question] = field(default_factory=dict)
    """What it has not answered yet, by number."""
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    def take(self) -> list[Message]:
        """Return the questions that wait, each with its number."""
        numbers = [one for one in self.waiting if one in self.asked]
        self.waiting.clear()
        return [{"number": one, **self.asked[one].message} for one in numbers]


class Relay:
    """Knows the agents that poll, and what they are asked. All of it is called on one loop."""

    def __init__(self) -> None:
        """Begin without agents."""
        self._known: dict[tuple[str, str], _KnownAgent] = {}
        self._last = 0
        self._is_over = False

    def end(self) -> None:
        """Let all polls and questions go: the console is told to end, and would wait for them."""
        self._is_over = True
        for agent in self._known.values():
            agent.changed.set()
            for question in agent.asked.values():
                if not question.answer.done():
                    question.answer.set_exception(GoneError("The console is about to end."))

    async def poll(self, offer: AgentOffer, hold: float) -> Sequence[Message]:
        """Return the questions to an agent, which are waited for a while; raises `NameTakenError`, `FullError`."""
        agent = self._seen(offer)
        agent.poll += 1
        own = agent.poll
        # A poll before this one is over: its agent waits for it no more.
        agent.changed.set()
        agent.held += 1
        try:
            async with asyncio.timeout(min(hold, HELD)):
                while not (agent.waiting or self._is_over) and agent.poll == own:
                    agent.changed.clear()
                    await agent.changed.wait()
        except TimeoutError:
            pass
        finally:
            agent.held -= 1
            agent.seen_at = now()
        return agent.take() if agent.poll == own and not self._is_over else []

    def answer(self, offered: Collection[str], name: str, session: str, number: int, answer: Any) -> bool:
        """Take the answer of an agent; false where it is not waited for any more."""
        known = (self._known.get((pool, name)) for pool in offered)
        agent = next((one for one in known if one is not None and one.offer.session == session), None)
        question = None if agent is None else agent.asked.pop(number, None)
        if question is None or question.answer.done():
            return False
        question.answer.set_result(answer)
        return True

    def offered(self, pool: str) -> list[Message]:
        """Return the agents of a pool that are there and take new steps."""
        found = (agent for (of, _), agent in self._known.items() if of == pool)
        return [agent.offer.shown for agent in found if agent.offer.takes_steps and _is_there(agent)]

    async def ask(self, pool: str, name: str, message: Message, within: float) -> Any:
        """Return an agent's answer; raises `GoneError`, `FullError`."""
        agent = self._known.get((pool, name))
        if agent is None or not _is_there(agent) or self._is_over:
            reason = f"There is no agent {name} in pool {pool} now."
            raise GoneError(reason)
        if len(agent.asked) >= MOST_ASKED:
            reason = f"Agent {name} has {MOST_ASKED} questions to answer already."
            raise FullError(reason)
        self._last += 1
        number, question = self._last, _Question(message, asyncio.get_running_loop().create_future())
        agent.asked[number] = question
        agent.waiting.append(number)
        agent.changed.set()
        try:
            async with asyncio.timeout(min(within, MOST_HELD)):
                return await question.answer
        except TimeoutError:
            reason = f"Agent {name} has not answered within {within:g} s."
            raise GoneError(reason) from None
        finally:
            agent.asked.pop(number, None)

    def _seen(self, offer: AgentOffer) -> _KnownAgent:
        """Return the agent of an offer, which is there now."""
        keys = [(pool, offer.name) for pool in sorted(offer.pools)]
        found = [self._known[key] for key in keys if key in self._known]
        for other in found:
            if other.offer.session != offer.session and _is_there(other):
                reason = f"Another agent has the name {offer.name}, and was there just now."
                raise NameTakenError(reason)
        agent = next((one for one in found if one.offer.session == offer.session), None)
        if agent is None:
            self._forget_gone()
            self._check_room(offer.token)
            agent = _KnownAgent(offer)
        agent.offer, agent.seen_at = offer, now()
        self._drop(key for key, one in self._known.items() if one is agent)
        self._known |= dict.fromkeys(keys, agent)
        return agent

    def _check_room(self, token: str) -> None:
        """Raise `FullError` where there is no room for one more agent: no token shuts those of others out."""
        there = {id(one): one.offer.token for one in self._known.values()}
        if len(there) >= MOST_AGENTS:
            reason = f"The console has {MOST_AGENTS} agents already."
            raise FullError(reason)
        if sum(shown == token for shown in there.values()) >= MOST_OF_TOKEN:
            another = "batchctl web token add NAME --role agent --pool POOL"
            reason = f"{MOST_OF_TOKEN} agents show the token {token} already: make another one ({another})."
            raise FullError(reason)

    def _forget_gone(self) -> None:
        self._drop(key for key, one in self._known.items() if not _is_there(one))

    def _drop(self, keys: Iterable[tuple[str, str]]) -> None:
        for key in [*keys]:
            del self._known[key]


def _is_there(agent: _KnownAgent) -> bool:
    return agent.held > 0 or now() - agent.seen_at < THERE


def now() -> float:
    """Return the time of the loop."""
    return asyncio.get_running_loop().time()
