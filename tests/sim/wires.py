"""What carries questions of controllers to agents, and their answers back; and all that can befall them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from random import Random
from typing import TYPE_CHECKING

from batchctl.system.remote.transport import OfferedAgent, UnreachableError
from batchctl.system.remote.wire import Message, Received

if TYPE_CHECKING:
    from tests.sim.agent_processes import AgentProcess
    from tests.sim.programs import Program
    from tests.sim.world import World

AT_ONCE = 0.01
"""Seconds that a question or an answer takes where nothing is wrong."""


class WireFault(StrEnum):
    """What can be wrong with a wire."""

    CUT = "cut"
    """No question arrives."""
    DEAF = "deaf"
    """Questions arrive, and answers are lost."""
    DOUBLE = "double"
    """Questions arrive twice, the second time much later perhaps."""
    SLOW = "slow"
    """Questions and answers take their time, and overtake each other."""
    AWAY = "away"
    """It cannot be asked which agents there are."""


@dataclass
class _Question:
    program: Program
    verb: str
    message: Received
    answered: asyncio.Future[Message]
    is_repeated: bool = False
    waits_until: float | None = None
    """Until when the agent waits for news with its answer."""

    def end(self, answer: Message | None, why: str = "") -> None:
        """Let its program hear the answer, or that there is none; one that has died hears nothing."""
        if self.is_repeated or self.program.dead or self.answered.done():
            return
        if answer is None:
            self.answered.set_exception(UnreachableError(why))
        else:
            self.answered.set_result(answer)


class Wires:
    """All wires of a world."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._chance = Random(world.options.luck + 15)
        self._faults: list[tuple[int | None, WireFault, float]] = []

    def befall(self, agent: int | None, fault: WireFault, seconds: float) -> None:
        """Let something be wrong for a while, with the wire of an agent or with all."""
        self._faults.append((agent, fault, self._world.time.seconds + seconds))

    def heal(self) -> None:
        """Let nothing be wrong any more."""
        self._faults.clear()

    def suffers(self, agent: int | None, fault: WireFault) -> bool:
        """Say whether something is wrong with a wire at this moment."""
        now = self._world.time.seconds
        return any(of == fault and until > now and whose in (None, agent) for whose, of, until in self._faults)

    def send(
        self, program: Program, name: str, verb: str, message: Received, answered: asyncio.Future[Message]
    ) -> None:
        """Let a question go its way."""
        question = _Question(program, verb, message, answered)
        process = self._world.agents.named(name)
        if process is None or process.is_dead:
            self._lose(question, f"there is no {name}")
            return
        number = process.number
        if self.suffers(number, WireFault.DOUBLE) and self._chance.random() < 0.5:
            again = _Question(program, verb, message, answered, is_repeated=True)
            self._world.happened["Question repeated"] += 1
            arrive = _once(partial(self._arrive, process, again))
            if verb == "start" and self._chance.random() < 0.5:
                process.meanwhile.append(arrive)
            self._world.passing.after(self._chance.choice((AT_ONCE, 0.5, 3.0, 12.0, 30.0)), arrive)
        if self.suffers(number, WireFault.CUT):
            self._world.happened["Question lost"] += 1
            self._lose(question, "the wire is cut")
            return
        self._world.passing.after(self._takes(number), partial(self._arrive, process, question))

    def _takes(self, number: int) -> float:
        return self._chance.choice((AT_ONCE, 0.4, 2.0, 4.0, 9.0)) if self.suffers(number, WireFault.SLOW) else AT_ONCE

    def _lose(self, question: _Question, why: str) -> None:
        """Let its program hear at once that there is no answer, or nothing at all."""
        if self._chance.random() < 0.7:
            self._world.passing.after(0.1, partial(question.end, None, why))

    def _arrive(self, process: AgentProcess, question: _Question) -> None:
        if process.is_dead:
            self._lose(question, f"{process.name} has ended")
        elif process.is_stopped:
            process.held.append(partial(self._arrive, process, question))
        elif question.verb == "news":
            self._hear_news(process, question)
        else:
            self._return(process, question, process.answer(question.program, question.verb, question.message))

    def _hear_news(self, process: AgentProcess, question: _Question) -> None:
        """Answer as soon as there is news, or when it was waited for long enough."""
        now = self._world.time.seconds
        if question.answered.done():
            return
        if question.waits_until is None:
            question.waits_until = now + float(question.message["wait"])
        until = question.waits_until
        answer = process.answer(question.program, "news", {**question.message, "wait": 0.0})
        if answer.get("reports") or "reports" not in answer or now >= until:
            self._return(process, question, answer)
            return
        ask_again = _once(partial(self._arrive, process, question))
        process.waiting.append((str(question.message["carrier"]), ask_again))
        self._world.passing.at(until, ask_again)

    def _return(self, process: AgentProcess, question: _Question, answer: Message) -> None:
        if self.suffers(process.number, WireFault.DEAF):
            self._world.happened["Answer lost"] += not question.is_repeated
            self._lose(question, "the answer was lost")
            return
        self._world.passing.after(self._takes(process.number), partial(question.end, answer))


def _once(act: Callable[[], None]) -> Callable[[], None]:
    left = [act]

    def first() -> None:
        if left:
            left.pop()()

    return first


class WiredTransport:
    """The `AgentTransport` of one program."""

    def __init__(self, world: World, program: Program) -> None:
        self._world, self._program = world, program

    async def open(self) -> None:
        """Reach what knows the agents."""
        self._see()

    async def offered(self) -> Mapping[str, OfferedAgent]:
        """Return the agents that are there."""
        self._see()
        living = (one for one in self._world.agents.processes if not one.is_dead)
        return {one.name: OfferedAgent(one.name, one.slots, one.resources) for one in living}

    async def ask(self, name: str, verb: str, message: Received, *, within: float) -> Message:
        """Ask an agent; raises `UnreachableError`."""
        del within
        answered: asyncio.Future[Message] = asyncio.get_running_loop().create_future()
        self._world.agents.laws.told(self._program, name, verb, message)
        self._world.wires.send(self._program, name, verb, message, answered)
        return await answered

    async def close(self) -> None:
        """Let go of nothing."""

    def _see(self) -> None:
        if self._world.wires.suffers(None, WireFault.AWAY):
            raise UnreachableError("what knows the agents is away")
