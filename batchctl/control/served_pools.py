"""The pools that one controller serves, and whether their steps may begin at this moment."""

from __future__ import annotations

from dataclasses import dataclass, field

from batchctl.domain.operators.pools import Pools
from batchctl.domain.rows import DEFAULT_POOL, BatchDefinition, Step


@dataclass(slots=True)
class ServedPools:
    """The pools that one controller on a host serves; `known` is what it read last of all pools."""

    names: frozenset[str] = frozenset({DEFAULT_POOL})
    host: str = ""
    known: Pools = field(default_factory=Pools)

    def may_begin(self, batch: BatchDefinition, step: Step) -> bool:
        """Say whether this controller may begin a step, as far as pools go."""
        return self.known.may_begin(batch, step, served=self.names, host=self.host)
