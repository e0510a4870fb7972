"""Pools: where steps may run, which of them a controller serves, and what is drained."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, NewType

from batchctl.domain.operators.agents_seen import AgentsSeen
from batchctl.domain.rows import DEFAULT_POOL, BatchDefinition, BatchInstance, Step
from batchctl.domain.status import PoolKind
from batchctl.domain.text import typed, visible
from batchctl.domain.values import value

PoolId = NewType("PoolId", int)
DrainId = NewType("DrainId", int)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """A `Pool` row: where steps may run."""

    pool_id: Annotated[PoolId, "Pool_id"]
    name: Annotated[str, "PoolName"]
    kind: PoolKind = PoolKind.CONTROLLERS
    max_concurrent: int | None = None
    """How many instances may have a step of it under way, on all hosts together; None where that is not limited."""
    enabled: bool = True
    description: str | None = None


@value
class Place:
    """Where steps run: a host, or a pool."""

    host: str | None = None
    pool: str | None = None

    def __str__(self) -> str:
        """Name it."""
        return f"host {visible(self.host)}" if self.host is not None else f"pool {visible(self.pool or '')}"

    @property
    def name(self) -> str:
        """Return its name, as a command takes it."""
        return typed(self.host if self.host is not None else self.pool or "")

    @property
    def option(self) -> str:
        """Return how a command names it, whatever else has the name."""
        return f"--host {typed(self.host)}" if self.host is not None else f"--pool {typed(self.pool or '')}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Drain:
    """A `Drain` row: nothing new begins on a host, or in a pool; what runs there ends."""

    drain_id: Annotated[DrainId, "Drain_id"]
    host: str | None = None
    pool: Annotated[str | None, "PoolName"] = None
    reason: str
    actor: str
    undrained_at: Annotated[datetime | None, "UndrainedTime"] = None
    undrained_by: str | None = None
    since: Annotated[datetime, "z_inserted"]

    def covers(self, place: Place) -> bool:
        """Say whether it is about a place."""
        return self.covers_host(place.host) if place.host is not None else self.covers_pool(place.pool or "")

    def covers_pool(self, name: str) -> bool:
        """Say whether it is about a pool."""
        return self.pool is not None and self.pool.lower() == name.strip().lower()

    def covers_host(self, host: str) -> bool:
        """Say whether it is about a host, which has one name in any letter case."""
        return self.host is not None and self.host.lower() == host.strip().lower()

    @property
    def place(self) -> Place:
        """Return what is drained."""
        return Place(self.host, None if self.host is not None else self.pool)


@value
class Pools:
    """The pools that there are, and what is drained, at one moment."""

    by_name: Mapping[str, Pool] = field(default_factory=dict)
    drains: tuple[Drain, ...] = ()

    def drain_of_pool(self, name: str) -> Drain | None:
        """Return what keeps new steps from beginning in a pool, if anything does."""
        return next((one for one in self.drains if one.covers_pool(name)), None)

    def drain_of_host(self, host: str) -> Drain | None:
        """Return what keeps new steps from beginning on a host, if anything does."""
        return next((one for one in self.drains if one.covers_host(host)), None)

    def is_open(self, name: str) -> bool:
        """Say whether steps of a pool may begin; of one without a row they may, wherever it is served."""
        pool = self.by_name.get(name)
        return (pool is None or pool.enabled) and self.drain_of_pool(name) is None

    def has_agents(self, name: str) -> bool:
        """Say whether agents carry the steps of a pool, and no controller does."""
        pool = self.by_name.get(name)
        return pool is not None and pool.kind is not PoolKind.CONTROLLERS

    def servable(self, names: Iterable[str], with_agents: Collection[str]) -> frozenset[str]:
        """Return which of some pools a controller can serve: where agents carry the steps, it has to know how to reach them."""
        return frozenset(name for name in names if name in with_agents or not self.has_agents(name))

    def carrier(self, pool: str) -> str | None:
        """Say who begins the steps of a pool with what their own host has; None where controllers do."""
        return f"an agent of pool {visible(pool)}" if self.has_agents(pool) else None

    def may_begin(
        self, batch: BatchDefinition, step: Step, *, served: Collection[str], with_agents: Collection[str], host: str
    ) -> bool:
        """Say whether a controller of a host may begin a step, as far as pools go: those that it serves, some with agents."""
        pool = batch.pool_of(step)
        is_served = pool in served and bool(self.servable([pool], with_agents))
        return is_served and self.is_open(pool) and self.drain_of_host(host) is None

    def limited(self, batch: BatchDefinition) -> list[Pool]:
        """Return the pools of a batch's steps that limit how many instances are under way in them."""
        names = {batch.pool_of(step) for step in batch.steps}
        found = (self.by_name[name] for name in sorted(names & self.by_name.keys()))
        return [pool for pool in found if pool.max_concurrent is not None]

    @property
    def are_limited(self) -> bool:
        """Say whether any pool has a limit."""
        return any(pool.max_concurrent is not None for pool in self.by_name.values())


NO_POOLS = Pools()


@value
class PoolsInUse:
    """The pools, with who serves them and what is under way in them."""

    known: Pools
    serving: Mapping[str, frozenset[str]]
    """By pool, the names of the controllers that serve it, and run on a host that is not drained."""
    last: Mapping[str, tuple[str, datetime]]
    """By pool, on which host a controller ran that served it last, and its last sign of life."""
    claimed: Mapping[str, int]
    """By pool, how many instances are claimed for a step of it."""
    host_drains: Mapping[str, Drain] = field(default_factory=dict)
    """By pool, the drain of a host on which a controller runs that serves it."""
    agents: Mapping[str, tuple[AgentsSeen, ...]] = field(default_factory=dict)
    """By pool, what each controller that serves it knows of its agents."""

    def unserved(self, pool: str) -> str | None:
        """Say that no controller serves a pool; None where one does."""
        if self.serving.get(pool):
            return None
        if pool in self.host_drains:
            return f"only drained hosts serve pool {visible(pool)}: {wording(self.host_drains[pool])}"
        last = self.last.get(pool)
        ever = "and none ever did" if last is None else f"the last was on {visible(last[0])}, {_at(last[1])}"
        return f"no controller serves pool {visible(pool)} ({ever})"

    def to_serve(self, pool: str) -> str:
        """Return what to do so that a controller serves a pool that none does."""
        drain = self.host_drains.get(pool)
        return to_serve(pool, self.known.by_name.get(pool)) if drain is None else undraining(drain)


def _at(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M:%S} UTC"


def wording(drain: Drain, verb: str = "is") -> str:
    """Say what is drained, or was, since when, by whom and why."""
    return f"{drain.place} {verb} drained since {_at(drain.since)} by {visible(drain.actor)}: {visible(drain.reason)}"


def undraining(drain: Drain) -> str:
    """Return what to type to end a drain."""
    return f"batchctl undrain {drain.place.option} --reason ..."


def room_in(pool: str, pools: Pools, claimed: Mapping[str, int]) -> int | None:
    """Return how many more instances may be under way in a pool; None where that is not limited."""
    found = pools.by_name.get(pool)
    if found is None or found.max_concurrent is None:
        return None
    return max(0, found.max_concurrent - claimed.get(pool, 0))


def pool_of(instance: BatchInstance, batch: BatchDefinition) -> str | None:
    """Return the pool of an instance's next step; None when it has none."""
    step = batch.step_after(instance.last_seq)
    return None if step is None else batch.pool_of(step)


MAKE = "batchctl pools   (which there are), or make it: INSERT INTO Pool (PoolName) VALUES (...)"
"""What to do where a pool is named that is not there."""


def to_serve(name: str, pool: Pool | None) -> str:
    """Return what to do so that a controller serves a pool: one that is not there has to be made before."""
    if pool is None and name != DEFAULT_POOL:
        return MAKE
    if pool is None or pool.kind is PoolKind.CONTROLLERS:
        return f"batchctl run --pool {typed(name)}   (on a host that has what its steps need)"
    return f'batchctl run   (where batchctl.toml has [pools.{_key(name)}] with kind = "{pool.kind}": docs/agents.md)'


def to_test(pool: str) -> str:
    """Return what says more of the agents of a pool."""
    return f"batchctl pool test {typed(pool)}"


def _key(name: str) -> str:
    """Write a name as a key of TOML."""
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else json.dumps(visible(name))


def served_by(names: Iterable[str]) -> frozenset[str]:
    """Return the pools that a controller serves which was given these names: the default one where it was given none."""
    return frozenset(name.strip().lower() for name in names) or frozenset({DEFAULT_POOL})


def unknown(names: Iterable[str], known: Pools) -> list[str]:
    """Return those of some names that no pool has; the default one needs no row."""
    return sorted({*names} - known.by_name.keys() - {DEFAULT_POOL})
