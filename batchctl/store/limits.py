"""What limits how much runs at once: `Resource` and `BatchResource`, `Setting` `MaxConcurrent`, and what is claimed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field, replace
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, and_, bindparam, func, or_, select, text

from batchctl.domain.occupancy import Occupancy
from batchctl.domain.operators.pools import NO_POOLS, Pools, room_in
from batchctl.domain.rows import BatchDefinition, BatchId, Need
from batchctl.domain.scheduling.pace import MINUTE, Pace
from batchctl.domain.unreadable import UnreadableRow
from batchctl.domain.values import value
from batchctl.store import bounds, pool_rows, unreadable_columns
from batchctl.store.columns import readable
from batchctl.store.comparison import exactly
from batchctl.store.conditions import one_of
from batchctl.store.dialects import dialect_of
from batchctl.store.record_reading import Reader
from batchctl.store.statements import RowSelect
from batchctl.store.tables import (
    CLAIMED_INSTANCE,
    IN_LINE_INSTANCE,
    STANDING_FREEZE,
    batch_control,
    batch_freeze,
    batch_resource,
    process_batch,
    resource,
    setting,
)
from batchctl.store.written_forms import LONGEST_LIMIT

MAX_CONCURRENT = "MaxConcurrent"
"""The `Setting` that says how many instances of all batches may be under way at once."""

_c, _b, _r, _n, _s, _z = batch_control.c, process_batch.c, resource.c, batch_resource.c, setting.c, batch_freeze.c
_held = Reader(Need, batch_resource)

_ITS_OWN = _c.ProcessBatch_id == _b.ProcessBatch_id
_CLAIMED = select(func.count()).where(_ITS_OWN, one_of("BatchControl.Status", CLAIMED_INSTANCE)).scalar_subquery()
_IN_LINE = (
    select(_c.BatchControl_id)
    .where(_ITS_OWN, one_of("BatchControl.Status", IN_LINE_INSTANCE))
    .order_by(_c.ProcessBatch_id, _c.BatchControl_id)
    .limit(bindparam("one", 1))
    .scalar_subquery()
)
# EXISTS would say the same, and PostgreSQL would look at all that is in line before it answers for the few batches:
# the order leads it to the index.
_FROZEN = (
    select(func.count())
    .where(
        text(f"BatchFreeze.{STANDING_FREEZE}"),
        or_(_z.UntilTime.is_(None), _z.UntilTime > bindparam("now")),
        or_(and_(_z.ProcessBatchName.is_(None), _z.Tag.is_(None)), exactly(_z.ProcessBatchName, _b.ProcessBatchName)),
    )
    .scalar_subquery()
)
"""How often a batch is frozen by its name or with everything; one by tag is seen when definitions are read anew."""
_IN_USE = RowSelect(
    select(_b.ProcessBatch_id, _b.Enabled, _b.MaxConcurrent, _CLAIMED.label("Claimed"), _FROZEN.label("Frozen")).where(
        or_(_IN_LINE.is_not(None), _CLAIMED > 0)
    )
)
NEEDS = RowSelect(
    select(
        _n.BatchResource_id,
        _n.ProcessBatch_id,
        _n.Resource_id,
        _r.ResourceName,
        _r.Units.label("Capacity"),
        _n.Units,
        _n.Exclusive,
    )
    .join(resource, _r.Resource_id == _n.Resource_id)
    .order_by(_n.ProcessBatch_id, _n.Resource_id)
)
_IDLE_NEEDS = (
    select(_n.BatchResource_id, _n.ProcessBatch_id, _n.Resource_id, _b.ProcessBatchName)
    .select_from(batch_resource)
    .join(resource, _r.Resource_id == _n.Resource_id, isouter=True)
    .join(process_batch, _b.ProcessBatch_id == _n.ProcessBatch_id, isouter=True)
    .where(or_(_r.Resource_id.is_(None), _b.ProcessBatch_id.is_(None)))
    .order_by(_n.BatchResource_id)
)
_BEGUN = RowSelect(
    select(func.count().label("Begun"))
    .add_columns(func.min(_c.BegunTime).label("Oldest"))
    .where(_c.ProcessBatch_id == bindparam("batch_id"), _c.BegunTime > bindparam("since"))
)
LIMIT = RowSelect(select(_s.Setting_id, _s.Value).where(_s.Name == MAX_CONCURRENT))


def needs(connection: Connection, broken: dict[int, UnreadableRow]) -> dict[BatchId, list[Need]]:
    """Return what an instance of each batch holds while it is claimed; what of it cannot be read is put into `broken`."""
    found: dict[BatchId, list[Need]] = {}
    for row in NEEDS(connection):
        try:
            found.setdefault(row.ProcessBatch_id, []).append(_need(row))
        except unreadable_columns.NONSENSE:
            broken[row.ProcessBatch_id] = _misread(connection, row)
    return found


def _need(row: Any) -> Need:
    if (said := bounds.beyond(resource, "Units", row.Capacity)) is not None:
        raise ValueError(said)
    return _held(row)


def _misread(connection: Connection, row: Any) -> UnreadableRow:
    """Return which of the two rows that a need is made of cannot be read."""
    rows = ((batch_resource, row.BatchResource_id), (resource, row.Resource_id))
    found = [unreadable_columns.of_number(connection, table, number) for table, number in rows]
    said = next(one for one in found if one is not None and one.column)
    return replace(said, batch_id=BatchId(row.ProcessBatch_id))


def idle_needs(connection: Connection) -> list[tuple[int, str, int]]:
    """Return the needs without a batch or a resource (written with foreign keys switched off): the row, and what is not there."""
    return [
        (row_id, "ProcessBatch", batch_id) if batch is None else (row_id, "Resource", resource_id)
        for row_id, batch_id, resource_id, batch in connection.execute(_IDLE_NEEDS)
    ]


def overall(connection: Connection) -> int | None:
    """Return how many instances of all batches may be under way at once; None when that is not limited.

    What is no number lets nothing start: somebody wanted a limit.
    """
    said = overall_as_written(connection)
    if said is None:
        return None
    digits = said.strip()
    return int(digits) if digits.isascii() and digits.isdecimal() and len(digits) <= LONGEST_LIMIT else 0


def overall_as_written(connection: Connection) -> str | None:
    """Return what stands in the setting."""
    return next((said for _, said in LIMIT(connection)), None)


def pace(connection: Connection, batch: BatchDefinition, now: datetime) -> Pace | None:
    """Return how many instances of a batch were begun within the last minute; None where that is not limited.

    Asked behind the lock on the batch it is all there is: those of a controller whose clock goes ahead count too.
    """
    if batch.max_per_minute is None:
        return None
    ((begun, oldest),) = _BEGUN(connection, batch_id=batch.batch_id, since=now - MINUTE)
    return Pace(batch.max_per_minute, int(begun), oldest)


def next_beginning(connection: Connection, batches: Iterable[BatchDefinition], now: datetime) -> datetime | None:
    """Return when the next instance may be begun of batches of which none may be now."""
    paces = (pace(connection, batch, now) for batch in batches)
    return min((one.next for one in paces if one is not None and one.next is not None), default=None)


@value
class Room:
    """What may be claimed at this moment, of the batches that have instances in line or claimed."""

    occupancy: Occupancy
    """What all controllers have claimed."""
    most: Mapping[BatchId, int]
    """MaxConcurrent of each as it is now; 0 for one that is disabled or frozen."""
    pools: Pools = field(default_factory=Pools)
    claimed_in: Mapping[str, int] = field(default_factory=dict)
    """How many instances are claimed in each pool, where any has a limit."""

    def places(self, batch: BatchDefinition) -> int:
        """Return how many more instances of a batch may be claimed."""
        most = self.most.get(batch.batch_id, 0)
        return self.occupancy.places(batch if most == batch.max_concurrent else replace(batch, max_concurrent=most))

    def places_in(self, pool: str) -> int | None:
        """Return how many more instances may be claimed for a step of a pool; None where that is not limited."""
        return room_in(pool, self.pools, self.claimed_in)


def room(
    connection: Connection,
    batches: Mapping[BatchId, BatchDefinition],
    limit: int | None,
    now: datetime,
    pools: Pools = NO_POOLS,
) -> Room:
    """Return what may be claimed at this moment."""
    return ask_room(connection, batches, limit, now, pools)()


def ask_room(
    connection: Connection,
    batches: Mapping[BatchId, BatchDefinition],
    limit: int | None,
    now: datetime,
    pools: Pools = NO_POOLS,
) -> Callable[[], Room]:
    """Ask for what `room` returns."""
    asked = _IN_USE.ask(connection, now=now)
    in_pools = pool_rows.ask_claimed(connection) if pools.are_limited else dict

    def answer() -> Room:
        rows = asked()
        claimed = {batch_id: int(many) for batch_id, _, _, many, _ in rows}
        return Room(Occupancy(claimed, batches, limit), dict(readable(rows, _most)), pools, in_pools())

    return answer


def _most(row: Any) -> tuple[BatchId, int]:
    batch_id, enabled, most, _, frozen = row
    return batch_id, int(most) if enabled == 1 and not frozen else 0


def lock(connection: Connection, batch: BatchDefinition, limit: int | None, pools: Pools = NO_POOLS) -> bool:
    """Keep others from claiming what competes with a batch until the end of the transaction.

    Return false while another controller is claiming such work.
    """
    return ask_to_lock(connection, batch, limit, pools)()


def ask_to_lock(
    connection: Connection, batch: BatchDefinition, limit: int | None, pools: Pools = NO_POOLS
) -> Callable[[], bool]:
    """Ask for what `lock` returns."""
    dialect = dialect_of(connection)
    wanted: list[tuple[str, Sequence[int]]] = [("ProcessBatch", [batch.batch_id])]
    if batch.needs:
        wanted.append(("Resource", [need.resource_id for need in batch.needs]))
    if limited := pools.limited(batch):
        wanted.append(("Pool", [pool.pool_id for pool in limited]))
    if limit is not None:
        wanted += [("Setting", [row.Setting_id]) for row in LIMIT(connection)]
    asked = [(dialect.lock_rows(connection, table, ids), len(ids)) for table, ids in wanted]
    return lambda: all(len(free()) == many for free, many in asked)


def others_write(connection: Connection) -> bool:
    """Say whether others write while a transaction does."""
    return not dialect_of(connection).WRITES_ALONE
