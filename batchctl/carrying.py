"""What carries the steps of a controller out, and what makes them ready."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from batchctl.app import App
from batchctl.ports import PoolOfAgents, StepRunner
from batchctl.preparation import Preparer


@dataclass(frozen=True, slots=True)
class Carrying:
    """The runner and the preparer, and the pools of agents among those that a controller serves."""

    runner: StepRunner
    preparer: Preparer
    pools: Mapping[str, PoolOfAgents] = field(default_factory=dict)


@contextmanager
def carrying(app: App, local: StepRunner) -> Iterator[Carrying]:
    """Lend what carries steps out here and, in the pools that are served so, by agents."""
    served = {name: given for name, given in app.settings.agent_pools.items() if name in app.pools}
    if not served:
        yield Carrying(local, app.preparer)
        return
    from batchctl import agent_pools  # noqa: PLC0415 - a controller without such a pool does not wait for that to load

    with agent_pools.agents_carrying(app, local, served) as found:
        yield Carrying(*found)
