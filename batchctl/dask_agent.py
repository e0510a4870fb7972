"""What runs in a Dask worker: an actor that is the door to the one agent of its process.

Dask carries what controllers and agents tell each other, and nothing else: no step is a task of Dask, which would repeat it.
"""

from __future__ import annotations

from typing import Any

from batchctl import config
from batchctl.agent_node import agent_of
from batchctl.system.remote.agent import Agent, ProcessAgent
from batchctl.system.remote.wire import Message


def _made() -> Agent:
    from distributed import get_worker  # noqa: PLC0415 - it reads the environment, which an import must not

    return agent_of(config.load(None), slots=get_worker().state.nthreads)


_AGENT = ProcessAgent(_made)


class DaskAgent:
    """One for each controller; when that is gone, Dask forgets it, and the agent stays."""

    def __init__(self) -> None:
        """Make the agent if the worker has none yet; what is wrong with its configuration is raised here."""
        self._agent = _AGENT.get()

    async def answer(self, verb: str, message: dict[str, Any]) -> Message:
        """Let the agent answer."""
        return await self._agent.answer_aside(verb, message)
