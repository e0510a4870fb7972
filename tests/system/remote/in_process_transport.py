"""A transport without a cluster: agents in this process, and all that can befall a wire."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from batchctl.system.remote.agent import Agent
from batchctl.system.remote.transport import OfferedAgent, UnreachableError
from batchctl.system.remote.wire import Message


@dataclass
class Wire:
    """The way to one agent, and what is wrong with it."""

    agent: Agent
    slots: int = 4
    resources: Mapping[str, float] = field(default_factory=dict)
    is_cut: bool = False
    """True: nothing arrives."""
    loses_answers: bool = False
    """True: what is asked arrives, and no answer comes."""
    doubles: bool = False
    """True: everything is asked twice, as Dask does after an error of the connection."""
    delay: float = 0.0
    """Seconds that an answer takes."""
    ahead: float = 0.0
    """Seconds by which the agent's clock is ahead."""
    heard: list[tuple[str, Mapping[str, Any]]] = field(default_factory=list)
    """What has arrived."""

    async def ask(self, verb: str, message: Mapping[str, Any]) -> Message:
        if self.is_cut:
            raise UnreachableError("the wire is cut")
        there = dict(message)
        if there.get("until") is not None:
            there["until"] -= self.ahead
        self.heard += [(verb, message)] * (2 if self.doubles else 1)
        if self.doubles:
            await self.agent.answer_aside(verb, there)
        answer = await self.agent.answer_aside(verb, there)
        await asyncio.sleep(self.delay)
        if self._is_lost():
            raise UnreachableError("the answer was lost")
        return {**answer, "clock": float(str(answer["clock"])) + self.ahead}

    def _is_lost(self) -> bool:
        return self.is_cut or self.loses_answers

    def told(self, verb: str) -> int:
        """Count how often the agent was told something."""
        return sum(each == verb for each, _ in self.heard)


@dataclass
class InProcessTransport:
    """Knows the agents of a pool, which come and go as a test says."""

    wires: dict[str, Wire] = field(default_factory=dict)
    is_away: bool = False
    """True: what knows the agents does not answer."""
    leaving: set[str] = field(default_factory=set)
    """Agents that answer, and are not offered."""

    async def open(self) -> None:
        self._see()

    async def offered(self) -> Mapping[str, OfferedAgent]:
        self._see()
        offered = {name: wire for name, wire in self.wires.items() if name not in self.leaving}
        return {name: OfferedAgent(name, wire.slots, wire.resources) for name, wire in offered.items()}

    async def ask(self, name: str, verb: str, message: Mapping[str, Any], *, within: float) -> Message:
        del within
        if name not in self.wires:
            raise UnreachableError(f"there is no {name}")
        return await self.wires[name].ask(verb, message)

    async def close(self) -> None:
        return

    def _see(self) -> None:
        if self.is_away:
            raise UnreachableError("what knows the agents is away")
