"""What controllers ask in a Dask worker: its agent.

Dask carries what controllers and agents tell each other, and nothing else. It has no task and no actor of this: tasks it would
repeat, and a worker that holds an actor cannot retire.
"""

from __future__ import annotations

from functools import partial
from typing import Any
from weakref import WeakKeyDictionary

from batchctl import config
from batchctl.agent_node import agent_of
from batchctl.system.remote.agent import Agent, ProcessAgent
from batchctl.system.remote.wire import Message

_AGENTS: WeakKeyDictionary[object, ProcessAgent] = WeakKeyDictionary()
"""By worker: a process may have several."""
PLUGIN = "batchctl"
"""The name of what a worker waits for before it ends."""


async def answer(verb: str, message: dict[str, Any], dask_worker: Any) -> Message:
    """Let the agent answer, which is made by the first question; what is wrong with its configuration is raised here."""
    agent = await _AGENTS.setdefault(dask_worker, ProcessAgent()).get(partial(_made, dask_worker.state))
    if PLUGIN not in dask_worker.plugins:
        await dask_worker.plugin_add(_retiring(agent), name=PLUGIN)
    return await agent.answer_aside(verb, message)


def _made(worker: Any) -> Agent:
    return agent_of(config.load(None), slots=worker.nthreads, resources=worker.total_resources)


def _retiring(agent: Agent) -> object:
    """Return what has a worker that is retired end what it carries first."""
    from distributed import WorkerPlugin  # noqa: PLC0415 - it reads the environment, which an import must not

    class Retiring(WorkerPlugin):
        async def teardown(self, worker: object) -> None:
            del worker
            await agent.finish()

    return Retiring()
