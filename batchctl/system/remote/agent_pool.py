"""The agents of one pool, as one controller sees them: which there are, which has a free slot, and what each is told."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Collection, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from batchctl.domain.errors import CannotBegin, NoFreeSlot
from batchctl.domain.operators.agents_seen import AgentsSeen
from batchctl.domain.rows import HistoryId, InstanceId
from batchctl.domain.rule_texts import HostNeeds, taken_by
from batchctl.system.remote.agent_room import RESERVED
from batchctl.system.remote.followed_agent import FollowedAgent, PoolMeans, RemoteAttempt
from batchctl.system.remote.transport import AgentTransport, UnreachableError
from batchctl.system.remote.wire import Message, Received

Result = TypeVar("Result")
LOOK = 1.0
"""Seconds between two looks which agents there are."""
PREPARED_IN = 3.0
"""Seconds within which an agent makes a step ready: the controller waits for it."""
MOST_ASKED = 4
"""How many agents are asked for a slot that others have just taken, before the step waits in line."""
LEFT_ALONE = 0.5
"""Seconds for which an agent that had no slot is not asked for another: another controller has what was seen free."""
ENDED_IN = 10.0
NEXT_LOOK = 0.1


@dataclass(frozen=True, slots=True)
class ReservedSlot:
    """A slot that is kept for a step that was made ready, until when, and what it needs besides."""

    until: float
    needs: HostNeeds | None


class AgentPool:
    """Talks with the agents on a loop of its own."""

    def __init__(self, name: str, transport: AgentTransport, means: PoolMeans) -> None:
        """Begin to look which agents there are."""
        self.name = name
        self.failure: str | None = None
        """Why the agents cannot be looked for, if they cannot."""
        self._transport, self._means = transport, replace(means, has_room=self._note_room, pool=name)
        self._wake = means.has_room
        self._has_new_room = False
        self._lease_until = 0.0
        self._agents: dict[str, FollowedAgent] = {}
        self._reserved: dict[tuple[str, InstanceId], ReservedSlot] = {}
        self._where: dict[HistoryId, FollowedAgent] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._given_up: dict[str, set[HistoryId]] = {}
        """By agent, what was lost there: it may be gone for a while, and tell the end then."""
        self._looked, self._met = threading.Event(), threading.Event()
        self._loop = means.loop(name)
        self._loop.post(self._look())

    @property
    def agents(self) -> tuple[FollowedAgent, ...]:
        """Return the agents that are known."""
        return tuple(self._agents.copy().values())

    def meet(self, seconds: float) -> None:
        """Wait until it is known which agents there are, and each has said what it has, but no longer than some seconds."""
        now = self._means.monotonic
        until = now() + seconds
        self._looked.wait(seconds)
        while now() < until and any(each.facts is None and each.failure is None for each in self.agents):
            self._met.wait(min(NEXT_LOOK, until - now()))
            self._met.clear()

    def room_for(self, needs: HostNeeds | None) -> int:
        """Return how many steps more the agents can take that need the same."""
        reserved = self._slots_reserved()
        return sum(self._room_of(each, reserved.get(each.offer.name, ()), needs) for each in self.agents)

    def can_take(self, instance_id: InstanceId, needs: HostNeeds | None) -> bool:
        """Say whether an agent can take the step of an instance, or keeps a slot for it already."""
        return any(who == instance_id for _, who in self._reserved) or self.room_for(needs) > 0

    def take_new_room(self) -> bool:
        """Say whether there is more room than when this was last asked."""
        found, self._has_new_room = self._has_new_room, False
        return found

    def seen(self) -> AgentsSeen:
        """Return what is known of the agents, for people."""
        if not self._looked.is_set():
            return AgentsSeen(failure="it is not known yet which there are")
        if self.failure is not None:
            return AgentsSeen(failure=self.failure)
        return AgentsSeen(tuple(each.seen for each in self.agents if each.is_offered or each.attempts))

    def _note_room(self) -> None:
        self._has_new_room = True
        self._met.set()
        self._wake()

    def prepare(
        self, instance_id: InstanceId, process_type: str, needs: HostNeeds | None, message: Message
    ) -> tuple[FollowedAgent, Received]:
        """Choose an agent with a free slot and what is needed, and have it make a step ready; raises `CannotBegin`."""
        asked = {**message, "instance": instance_id, "needs": None if needs is None else needs.text}
        for _ in range(MOST_ASKED):
            agent = self._chosen(instance_id, process_type, needs)
            try:
                answer = self._wait(agent.ask("prepare", asked, within=PREPARED_IN), PREPARED_IN + 1)
            except UnreachableError as error:
                self._set_free(agent, instance_id)
                reason = f"Agent {agent.offer.name} of pool {self.name} did not make the step ready: {error}."
                raise CannotBegin(reason) from None
            if answer.get("rendered") is None:
                self._set_free(agent, instance_id)
            if "full" not in answer:
                break
            agent.full_until = self._means.monotonic() + LEFT_ALONE
            self._loop.post(self._look_again())
        else:
            reason = f"Other controllers have taken the slots of pool {self.name} that were free."
            raise NoFreeSlot(reason)
        if "refused" in answer:
            raise CannotBegin(f"Agent {agent.offer.name} of pool {self.name} refused: {answer['refused']}")
        return agent, answer

    def start(self, name: str, attempt: RemoteAttempt) -> bool:
        """Have an agent begin an attempt; false where it is gone."""
        if attempt.instance_id is not None:
            self._reserved.pop((name, attempt.instance_id), None)
        return self._take_up(name, attempt, lambda agent: agent.start(attempt))

    def adopt(self, name: str, attempt: RemoteAttempt, message: Mapping[str, Any]) -> bool:
        """Have an agent go on with an attempt of a dead controller; false where it is gone."""
        return self._take_up(name, attempt, lambda agent: agent.adopt(attempt, message))

    def _take_up(
        self, name: str, attempt: RemoteAttempt, tell: Callable[[FollowedAgent], Coroutine[Any, Any, None]]
    ) -> bool:
        agent = self._agents.get(name)
        if agent is None or agent.facts is None:
            return False
        self._where[attempt.token.history_id] = agent
        agent.take_up(attempt)
        self._loop.post(tell(agent))
        return True

    def stop(self, key: HistoryId) -> None:
        """Have an attempt stopped."""
        if (agent := self._where.get(key)) is not None:
            self._loop.post(agent.stop(key))

    def keep_lease(self, until: float) -> None:
        """Take note until when the controller counts itself as alive."""
        self._lease_until = until
        for agent in self.agents:
            agent.lease_until = until

    def let_go(self, key: HistoryId) -> bool:
        """Watch an attempt no longer; false where it is none of this pool, or cannot go on alone."""
        agent = self._where.get(key)
        attempt = None if agent is None else agent.attempts.get(key)
        if agent is None or attempt is None or not attempt.goes_on_alone:
            return False
        del self._where[key]
        agent.attempts.pop(key, None)
        return True

    def tidy(self, living: Collection[str], live: Collection[HistoryId]) -> None:
        """Have agents forget the controllers that are dead, and what is not open any more."""
        for agent in self.agents:
            self._loop.post(_tell(agent, "tidy", {"living": [*living], "live": [*live]}))

    def recorded(self, keys: Iterable[HistoryId]) -> None:
        """Let agents know which ends are committed."""
        for key in keys:
            if (agent := self._where.pop(key, None)) is not None:
                agent.recorded(key)

    def ask(self, name: str, verb: str, message: Message, *, within: float) -> Received:
        """Ask an agent something and wait for the answer; raises `UnreachableError`."""
        agent = self._agents.get(name)
        if agent is None:
            reason = f"there is no agent {name} in pool {self.name}"
            raise UnreachableError(reason)
        return self._wait(agent.ask(verb, message, within=within), within + 1)

    def close(self) -> None:
        """Talk with no agent any more."""
        self._loop.end(self._end(), ENDED_IN)

    def _chosen(self, instance_id: InstanceId, process_type: str, needs: HostNeeds | None) -> FollowedAgent:
        """Return the agent that has most room among those with the handler, or among all where none has it; keep a slot."""
        before = next((name for name, who in self._reserved if who == instance_id), None)
        if before is not None and before in self._agents and not self._agents[before].is_silent:
            return self._agents[before]
        able = [each for each in self.agents if each.facts and process_type in each.facts.process_types]
        reserved = self._slots_reserved()
        rooms = [
            (self._room_of(one, reserved.get(one.offer.name, ()), needs), one.offer.name) for one in able or self.agents
        ]
        most, name = max(rooms, default=(0, ""))
        if most <= 0:
            wanted = "" if needs is None else f" and {needs.text}"
            there = f"{len(rooms)} there with a handler of {process_type}" if able else f"{len(rooms)} there"
            raise NoFreeSlot(f"No agent of pool {self.name} has a free slot{wanted} ({there}).")
        self._reserved[name, instance_id] = ReservedSlot(self._means.monotonic() + RESERVED, needs)
        return self._agents[name]

    def _set_free(self, agent: FollowedAgent, instance_id: InstanceId) -> None:
        self._reserved.pop((agent.offer.name, instance_id), None)

    def _slots_reserved(self) -> Mapping[str, Sequence[ReservedSlot]]:
        """Return by agent the slots that are still kept for steps that were made ready."""
        now, found = self._means.monotonic(), dict[str, list[ReservedSlot]]()
        self._reserved = {who: one for who, one in self._reserved.items() if one.until > now}
        for (name, _), one in self._reserved.items():
            found.setdefault(name, []).append(one)
        return found

    def _room_of(self, agent: FollowedAgent, kept: Sequence[ReservedSlot], needs: HostNeeds | None) -> int:
        """Return how many steps more an agent can take that need the same, beside the slots that are kept for others."""
        if not agent.is_offered or agent.is_silent or agent.full_until > self._means.monotonic():
            return 0
        free = max(agent.offer.slots - max(len(agent.attempts), agent.busy) - len(kept), 0)
        if needs is None:
            return free
        taken = taken_by(one.needs for one in kept)
        left = {name: amount - taken.get(name, 0) for name, amount in agent.left.items()}
        return min(free, max(needs.times(left), 0))

    def _wait(self, work: Coroutine[Any, Any, Result], seconds: float) -> Result:
        try:
            return self._loop.wait(work, seconds)
        except TimeoutError:
            reason = f"no answer within {seconds:.0f} s"
            raise UnreachableError(reason) from None

    async def _look_again(self) -> None:
        """Let what waits be looked at again once an agent is not left alone any more."""
        await asyncio.sleep(LEFT_ALONE)
        self._note_room()

    async def _look(self) -> None:
        """Look again and again which agents there are."""
        is_open = False
        while True:
            try:
                if not is_open:
                    await self._transport.open()
                    is_open = True
                offered = await self._transport.offered()
            except UnreachableError as error:
                self.failure, is_open = str(error), False
            else:
                self.failure = None
                self._take_in(offered)
            self._looked.set()
            await asyncio.sleep(LOOK)

    def _take_in(self, offered: Mapping[str, Any]) -> None:
        for name, agent in [*self._agents.items()]:
            agent.is_offered = name in offered
            if agent.is_done_with:
                del self._agents[name]
                if not agent.given_up:
                    self._given_up.pop(name, None)
                self._tasks.pop(name).cancel()
        for name, offer in offered.items():
            if name not in self._agents:
                means, lost = (self._transport, self._means), self._given_up.setdefault(name, set())
                self._agents[name] = FollowedAgent(offer, *means, self._lease_until, given_up=lost)
        for name, agent in self._agents.items():
            if name not in self._tasks or self._tasks[name].done():
                self._tasks[name] = asyncio.create_task(agent.follow())

    async def _end(self) -> None:
        for agent in self.agents:
            agent.is_left = True
        if self._tasks:
            # What an agent is asked at this moment it answers: Dask reports what is broken off as an error.
            await asyncio.wait(self._tasks.values(), timeout=ENDED_IN / 2)
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks, timeout=ENDED_IN / 2)
        await self._transport.close()


async def _tell(agent: FollowedAgent, verb: str, message: Message) -> None:
    """Tell an agent something that does no harm where it is not heard."""
    try:
        await agent.ask(verb, message)
    except UnreachableError:
        return
