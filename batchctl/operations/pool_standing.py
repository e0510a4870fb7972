"""How pools stand: who serves each, what is under way in it and what waits for it; waiting until a drained one is empty."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime

from batchctl.domain.errors import Busy, DatabaseRefused, Refused
from batchctl.domain.operators import pools
from batchctl.domain.operators.agents_seen import AgentsSeen, best
from batchctl.domain.operators.pools import Drain, Place, Pool
from batchctl.domain.rows import DEFAULT_POOL
from batchctl.domain.status import PoolKind
from batchctl.operations.column_lists import ColumnList, StatusWord
from batchctl.operations.operators.pooling import claimed_at
from batchctl.operations.presence import Presence
from batchctl.operations.waiting import FIRST_PAUSE, LONGEST_PAUSE, Patience
from batchctl.ports import Clock, Transactions
from batchctl.store import Connection, controllers, pool_rows
from batchctl.store.definitions import definitions


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolStanding:
    """A pool, who serves it, and what waits for it."""

    name: str
    pool: Pool | None
    """Its row; None where it has none, as the default pool, or one that only steps name."""
    drain: Drain | None
    host_drain: Drain | None
    """Of the host of a controller that serves it, where all these are drained."""
    serving: tuple[str, ...]
    """The controllers that run and serve it."""
    last: tuple[str, datetime] | None
    """Where a controller ran that served it last, and its last sign of life; None where none is remembered."""
    claimed: int
    waiting: int
    agents: AgentsSeen | None
    """What the controllers that serve it know of its agents; None where these carry nothing in it."""

    @property
    def state(self) -> str:
        """Name how it stands."""
        if self.pool is None and self.name != DEFAULT_POOL:
            return "not made"
        if self.drain is not None:
            return "drained"
        if self.pool is not None and not self.pool.enabled:
            return "disabled"
        if self.host_drain is not None:
            return "host drained"
        return "served" if self.serving else "not served"

    @property
    def held_by(self) -> Drain | None:
        """Return what keeps new steps from beginning in it, here or on the hosts that serve it."""
        return self.drain or self.host_drain


POOLS = ColumnList[PoolStanding](
    "Pools",
    {
        "PoolName": lambda one: one.name,
        "State": lambda one: one.state,
        "Kind": lambda one: None if one.pool is None else one.pool.kind,
        "MaxConcurrent": lambda one: None if one.pool is None else one.pool.max_concurrent,
        "Enabled": lambda one: one.pool is None or one.pool.enabled,
        "Claimed": lambda one: one.claimed,
        "Waiting": lambda one: one.waiting,
        "ServedBy": lambda one: one.serving,
        "Agents": lambda one: None if one.agents is None else str(one.agents),
        "LastServedOn": lambda one: None if one.last is None else one.last[0],
        "LastServed": lambda one: None if one.last is None else one.last[1],
        "Drained": lambda one: None if one.held_by is None else pools.wording(one.held_by),
        "Description": lambda one: None if one.pool is None else one.pool.description,
    },
    {
        "pool": "PoolName",
        "state": lambda one: StatusWord(one.state),
        "kind": "Kind",
        "most#": "MaxConcurrent",
        "claimed#": "Claimed",
        "waiting#": "Waiting",
        "served by": lambda one: ", ".join(one.serving),
        "agents": "Agents",
        "last on": "LastServedOn",
        "last (UTC)": "LastServed",
        "description": "Description",
    },
)


_OF_AGENTS = ("kind", "agents")


def for_people(found: Sequence[PoolStanding]) -> ColumnList[PoolStanding]:
    """Return the columns that people see: what is about agents only where any pool has them."""
    if any(one.agents is not None or (one.pool and one.pool.kind is not PoolKind.CONTROLLERS) for one in found):
        return POOLS
    return replace(POOLS, headings={name: each for name, each in POOLS.headings.items() if name not in _OF_AGENTS})


def everything(transactions: Transactions, clock: Clock, presence: Presence) -> list[PoolStanding]:
    """Return how every pool stands that there is, that steps name, or that a controller serves or has served."""
    with transactions.read() as connection:
        now, known = clock.now(), pool_rows.known(connection)
        rows = controllers.everyone(connection)
        living = {row.row_id for row in presence.living(connection, now)}
        served = pool_rows.served(connection, rows)
        claimed, waiting = pool_rows.ask_claimed(connection)(), _waiting(connection)
        batches, agents = definitions.all_batches(connection), pool_rows.agents_of(connection)
    for row in rows:
        if row.row_id in living:
            served[row.row_id] = pool_rows.without_agents_left_out(served[row.row_id], row, known, agents)
    named = {batch.pool_of(step) for batch in batches for step in batch.steps}
    names = {DEFAULT_POOL, *known.by_name, *named, *(name for some in served.values() for name in some)}
    found = []
    for name in sorted(names, key=lambda name: (name != DEFAULT_POOL, name)):
        its = [row for row in rows if name in served[row.row_id]]
        last = max(its, key=lambda row: row.heartbeat, default=None)
        running = [row for row in its if row.row_id in living]
        drains = [known.drain_of_host(row.host) for row in running]
        standing = PoolStanding(
            name=name,
            pool=known.by_name.get(name),
            drain=known.drain_of_pool(name),
            host_drain=drains[0] if drains and None not in drains else None,
            serving=tuple(row.name for row in running),
            last=None if last is None else (last.host, last.heartbeat),
            claimed=claimed.get(name, 0),
            waiting=waiting[name],
            agents=best(one for number, one in agents.get(name, {}).items() if number in living),
        )
        found.append(standing)
    return found


def _waiting(connection: Connection) -> Counter[str]:
    """Return how many instances wait for a step of each pool."""
    batches = {batch.batch_id: batch for batch in definitions.all_batches(connection)}
    found = Counter[str]()
    for one in pool_rows.waiting(connection):
        batch = batches.get(one.batch_id)
        step = None if batch is None else batch.step_after(one.seq)
        if batch is not None and step is not None:
            found[batch.pool_of(step)] += one.many
    return found


def until_drained(transactions: Transactions, patience: Patience, place: Place, timeout: float | None) -> Sequence[int]:
    """Wait until no step is under way in a place, or the time is over; return the instances that have one still."""
    with transactions.read() as connection:
        if not any(one.covers(place) for one in pool_rows.standing_drains(connection)):
            message = f"The {place} is not drained: new steps begin there, so that waiting has no end."
            raise Refused(message, next_step=f"batchctl drain {place.option} --reason ...")
    until = None if timeout is None else patience.monotonic() + timeout
    pause = FIRST_PAUSE
    while True:
        with suppress(Busy, DatabaseRefused), transactions.read() as connection:
            left = claimed_at(connection, place)
            if not left or (until is not None and patience.monotonic() >= until):
                return left
        patience.sleep(pause if until is None else max(0.0, min(pause, until - patience.monotonic())))
        pause = min(pause * 1.5, LONGEST_PAUSE)
