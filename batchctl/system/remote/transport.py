"""How a controller reaches the agents of a pool."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from batchctl.system.remote.wire import Received


class UnreachableError(Exception):
    """No answer came: whether the agent has heard what it was told is not known."""


@dataclass(frozen=True, slots=True)
class OfferedAgent:
    """An agent that is there, and what it has."""

    name: str
    slots: int
    resources: Mapping[str, float] = field(default_factory=dict)


class AgentTransport(Protocol):
    """Carries questions to the agents of one pool, and their answers back. All of it is called on one loop."""

    async def open(self) -> None:
        """Reach what knows the agents; raises `UnreachableError`."""

    async def offered(self) -> Mapping[str, OfferedAgent]:
        """Return by name the agents that are there now and take new steps; raises `UnreachableError`."""

    async def ask(self, name: str, verb: str, message: Received, *, within: float) -> Received:
        """Return an agent's answer; raises `UnreachableError`. The agent may be asked more than once for it.

        After `within` seconds the answer is not waited for any more.
        """

    async def close(self) -> None:
        """Let go of everything."""
