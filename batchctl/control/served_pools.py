"""The pools that one controller serves, and whether their steps may begin at this moment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from batchctl.domain.operators.pools import Pools
from batchctl.domain.rows import DEFAULT_POOL, BatchDefinition, InstanceId, Step
from batchctl.ports import PoolOfAgents

MADE_READY_TOGETHER = 8
"""How many steps agents make ready, one after the other, before the first of them is told to begin."""


@dataclass(slots=True)
class ServedPools:
    """The pools that one controller on a host serves; `known` is what it read last of all pools."""

    names: frozenset[str] = frozenset({DEFAULT_POOL})
    host: str = ""
    agents: Mapping[str, PoolOfAgents] = field(default_factory=dict)
    """Those of the pools whose steps agents carry."""
    known: Pools = field(default_factory=Pools)

    def may_begin(self, batch: BatchDefinition, step: Step) -> bool:
        """Say whether this controller may begin a step, as far as pools go."""
        return self.known.may_begin(batch, step, served=self.names, with_agents=self.agents, host=self.host)

    def can_go_on(self, batch: BatchDefinition, step: Step, instance_id: InstanceId) -> bool:
        """Say whether an instance may go on with its next step at once: where no agent has room, it waits in line for that."""
        agents = self.agents.get(batch.pool_of(step))
        return self.may_begin(batch, step) and (agents is None or agents.can_take(instance_id, step.host_needs))

    def take_new_room(self) -> bool:
        """Say whether agents have free slots that they had not when this was last asked."""
        return any([pool.take_new_room() for pool in self.agents.values()])  # noqa: C419 - each is asked

    def room_for(self, batch: BatchDefinition, step: Step) -> int | None:
        """Return how many steps like one the agents of its pool can take at once; None where controllers carry it."""
        agents = self.agents.get(batch.pool_of(step))
        return None if agents is None else min(agents.room_for(step.host_needs), MADE_READY_TOGETHER)
