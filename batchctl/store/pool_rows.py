"""`Pool`, `ControllerPool` and `Drain`: where steps may run, who serves that, and what is drained."""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterable, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Connection, bindparam, func, select, text

from batchctl.domain.errors import Conflict
from batchctl.domain.operators.agents_seen import AgentsSeen, agents_seen
from batchctl.domain.operators.pools import Drain, DrainId, Pool, Pools, PoolsInUse
from batchctl.domain.records import values_of
from batchctl.domain.rows import DEFAULT_POOL, BatchId, ControllerRow
from batchctl.domain.status import ControllerStatus, PoolKind
from batchctl.domain.unreadable import UnreadableRow
from batchctl.store import bounds
from batchctl.store.columns import readable
from batchctl.store.conditions import one_of
from batchctl.store.dialects import dialect_of
from batchctl.store.record_reading import Reader
from batchctl.store.statements import RowInsert, RowSelect, RowUpdate
from batchctl.store.tables import (
    CLAIMED_INSTANCE,
    STANDING_DRAIN,
    WAITING_INSTANCE,
    batch_control,
    controller,
    controller_pool,
    drain,
    pool,
)
from batchctl.store.unreadable_columns import NONSENSE, unfit

_p, _d, _c, _k, _s = pool.c, drain.c, batch_control.c, controller.c, controller_pool.c
_read_pool, _drain, _read_controller = Reader(Pool, pool), Reader(Drain, drain), Reader(ControllerRow)

_POOLS = RowSelect(select(pool).order_by(_p.Pool_id))
DRAINS = RowSelect(select(drain).where(text(f"Drain.{STANDING_DRAIN}")).order_by(_d.Drain_id))
_NEWEST_DRAINS = select(drain).order_by(_d.Drain_id.desc()).limit(bindparam("most"))
_ADD_DRAIN = RowInsert(drain)
_END_DRAIN = RowUpdate(drain, _d.Drain_id == bindparam("drain_id"), _d.UndrainedTime.is_(None))
_CLAIMED = RowSelect(
    select(_c.NextPool, func.count().label("Many"))
    .where(one_of("BatchControl.Status", CLAIMED_INSTANCE))
    .group_by(_c.NextPool)
)
_WAITING = RowSelect(
    select(
        _c.ProcessBatch_id,
        _c.PrevProcessControlSeq.label("Seq"),
        func.count().label("Many"),
        func.min(_c.z_updated).label("Since"),
    )
    .where(one_of("BatchControl.Status", WAITING_INSTANCE))
    .group_by(_c.ProcessBatch_id, _c.PrevProcessControlSeq)
)
_CLAIMED_ON = (
    select(_c.BatchControl_id)
    .join(controller, _k.ControllerName == _c.ClaimedBy)
    .where(one_of("BatchControl.Status", CLAIMED_INSTANCE), func.lower(_k.Host) == bindparam("host"))
    .order_by(_c.BatchControl_id)
)
_CLAIMED_IN = select(_c.BatchControl_id, _c.NextPool).where(one_of("BatchControl.Status", CLAIMED_INSTANCE))
_SERVE = RowInsert(controller_pool)
_WRITE_AGENTS = RowUpdate(controller_pool, _s.Controller_id == bindparam("number"), _s.PoolName == bindparam("pool"))
_AGENTS = RowSelect(
    select(_s.Controller_id, _s.PoolName, _s.Agents)
    .join(controller, _k.Controller_id == _s.Controller_id)
    .where(_k.Status == ControllerStatus.RUNNING.value, _s.Agents.is_not(None))
    .order_by(_s.ControllerPool_id)
)
CONTROLLERS = RowSelect(select(controller).order_by(_k.Controller_id))
_SERVING = RowSelect(
    select(_k.ControllerName)
    .join(controller_pool, _s.Controller_id == _k.Controller_id)
    .where(_k.Status == ControllerStatus.RUNNING.value, _s.PoolName == bindparam("pool"))
)
_SERVED = RowSelect(select(_s.Controller_id, _s.PoolName).order_by(_s.Controller_id, _s.PoolName))


class WaitingBehind(NamedTuple):
    """Instances of a batch that wait behind one of its steps: the last completed one, how many, and since when the first."""

    batch_id: BatchId
    seq: int
    many: int
    since: datetime


def lock_drains(connection: Connection) -> None:
    """Keep others from draining until the end of the transaction."""
    if not dialect_of(connection).lock_name(connection, "drains"):
        message = "Somebody else is draining."
        raise Conflict(message)


def known(connection: Connection) -> Pools:
    """Return the pools that there are, and what is drained."""
    pools = [_pool(row) for row in _POOLS(connection)]
    return Pools({one.name: one for one in pools}, tuple(standing_drains(connection)))


def _pool(row: Any) -> Pool:
    """Return a pool; where its limit is no number nothing begins in it: somebody wanted one."""
    try:
        if bounds.beyond(pool, "MaxConcurrent", row.MaxConcurrent) is None:
            return _read_pool(row)
    except NONSENSE:
        pass
    return Pool(pool_id=row.Pool_id, name=str(row.PoolName), kind=PoolKind.CONTROLLERS, max_concurrent=0)


def others_serve(connection: Connection, name: str, but: Collection[str]) -> bool:
    """Say whether a controller that runs, and is not in `but`, serves a pool."""
    return any(row.ControllerName not in but for row in _SERVING(connection, pool=name))


def unreadable(connection: Connection) -> list[UnreadableRow]:
    """Return the first unreadable rows of pools."""
    return unfit(connection, pool)


def standing_drains(connection: Connection) -> list[Drain]:
    """Return the drains that were not ended, oldest first."""
    return readable(DRAINS(connection), _drain)


def newest_drains(connection: Connection, most: int) -> list[Drain]:
    """Return the newest drains, newest first, whether they stand or not."""
    return readable(connection.execute(_NEWEST_DRAINS, {"most": most}), _drain)


def add_drain(connection: Connection, made: Drain) -> DrainId:
    """Insert a drain."""
    return DrainId(_ADD_DRAIN(connection, {**values_of(made, "drain_id"), "z_updated": made.since}))


def end_drain(connection: Connection, drain_id: DrainId, by: str, now: datetime) -> bool:
    """End a drain; false when somebody has done that, or there is no such row any more."""
    columns: dict[str, object] = {"UndrainedTime": now, "UndrainedBy": by, "z_updated": now}
    return _END_DRAIN(connection, columns, drain_id=drain_id)


def ask_claimed(connection: Connection) -> Callable[[], Mapping[str, int]]:
    """Ask how many instances all controllers have claimed in each pool."""
    asked = _CLAIMED.ask(connection)
    return lambda: {name or DEFAULT_POOL: int(many) for name, many in asked()}


def claimed_on(connection: Connection, host: str) -> list[int]:
    """Return the instances that controllers on a host have claimed."""
    return [int(each) for each in connection.execute(_CLAIMED_ON, {"host": host.lower()}).scalars()]


def claimed_in(connection: Connection, name: str) -> list[int]:
    """Return the instances that are claimed for a step of a pool."""
    return sorted(int(at) for at, found in connection.execute(_CLAIMED_IN) if (found or DEFAULT_POOL) == name)


def serve(
    connection: Connection, controller_id: int, names: Iterable[str], agents: Mapping[str, str], now: datetime
) -> None:
    """Write which pools a controller serves that has just been entered, and by pool what it knows of agents.

    One that serves the default pool alone, and by itself, has no row.
    """
    wanted = sorted(names)
    if wanted != [DEFAULT_POOL] or agents:
        for name in wanted:
            row = {"Controller_id": controller_id, "PoolName": name, "Agents": agents.get(name), "z_inserted": now}
            _SERVE(connection, {column: each for column, each in row.items() if each is not None})


def write_agents(connection: Connection, controller_id: int, agents: Mapping[str, str]) -> None:
    """Write what a controller knows now of the agents of some pools."""
    for name, text_of_them in agents.items():
        _WRITE_AGENTS(connection, {"Agents": text_of_them}, number=controller_id, pool=name)


def agents_of(connection: Connection) -> dict[str, dict[int, AgentsSeen]]:
    """Return by pool, and by the numbers of the controllers that run, what each knows of its agents."""
    found: dict[str, dict[int, AgentsSeen]] = {}
    for controller_id, name, written in _AGENTS(connection):
        if (seen := agents_seen(written)) is not None:
            found.setdefault(str(name), {})[int(controller_id)] = seen
    return found


def served(connection: Connection, controllers: Iterable[ControllerRow]) -> dict[int, tuple[str, ...]]:
    """Return by the numbers of controllers the pools that they serve, or served as long as they ran."""
    found: dict[int, list[str]] = {}
    for controller_id, name in _SERVED(connection):
        found.setdefault(int(controller_id), []).append(str(name))
    return {one.row_id: tuple(found.get(one.row_id, [DEFAULT_POOL])) for one in controllers}


def without_agents_left_out(
    serves: Iterable[str], row: ControllerRow, all_pools: Pools, agents: Mapping[str, Container[int]]
) -> tuple[str, ...]:
    """Leave out the pools of agents that a controller serves without asking any: it begins nothing there."""
    return tuple(one for one in serves if not all_pools.has_agents(one) or row.row_id in agents.get(one, ()))


def in_use(connection: Connection, running: Iterable[ControllerRow]) -> PoolsInUse:
    """Return the pools, with those that some controllers serve, which run, and what is under way in each."""
    all_pools, everyone = known(connection), readable(CONTROLLERS(connection), _read_controller)
    serves, last = served(connection, everyone), dict[str, tuple[str, datetime]]()
    are_any = any(map(all_pools.has_agents, all_pools.by_name))
    agents, undrained = agents_of(connection) if are_any else {}, set[int]()
    for row in running:
        serves[row.row_id] = without_agents_left_out(serves.get(row.row_id, ()), row, all_pools, agents)
    for row in sorted(everyone, key=lambda row: row.heartbeat):
        last |= dict.fromkeys(serves[row.row_id], (row.host, row.heartbeat))
    serving, host_drains = dict[str, frozenset[str]](), dict[str, Drain]()
    for row in running:
        if (drained := all_pools.drain_of_host(row.host)) is None:
            undrained.add(row.row_id)
            serving |= {name: serving.get(name, frozenset()) | {row.name} for name in serves.get(row.row_id, ())}
        else:
            host_drains |= dict.fromkeys(serves.get(row.row_id, ()), drained)
    known_of = {
        name: tuple(one for number, one in by_controller.items() if number in undrained)
        for name, by_controller in agents.items()
    }
    return PoolsInUse(all_pools, serving, last, ask_claimed(connection)(), host_drains, known_of)


def waiting(connection: Connection) -> list[WaitingBehind]:
    """Return how many instances of each batch wait behind each of its steps."""
    return [
        WaitingBehind(BatchId(row.ProcessBatch_id), int(row.Seq), int(row.Many), row.Since)
        for row in _WAITING(connection)
    ]


def are_served(connection: Connection) -> bool:
    """Say whether any controller serves, or has served, more than the default pool."""
    return bool(_SERVED(connection))
