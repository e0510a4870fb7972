"""`BatchCompletion`: which completions wait for others of their CycleKey, and which have started a dependent batch."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated

from sqlalchemy import Connection, bindparam, exists, func, not_, select, text, update

from batchctl.domain.rows import BatchId, BatchInstance, CompletionId, InstanceId, IntakeId
from batchctl.domain.status import InstanceStatus
from batchctl.domain.values import value
from batchctl.store.comparison import exactly
from batchctl.store.record_reading import Reader
from batchctl.store.statements import RowInsert, RowSelect, RowUpdate
from batchctl.store.tables import WAITING_COMPLETION, batch_completion, batch_control, batch_dependency

_o, _c, _d = batch_completion.c, batch_control.c, batch_dependency.c
_WAITS = text(f"BatchCompletion.{WAITING_COMPLETION}")
_OF_BATCH = _o.ProcessBatch_id == bindparam("batch_id")

_ADD = RowInsert(batch_completion)
_KNOWN = RowSelect(select(_o.BatchCompletion_id).where(_OF_BATCH, _o.BatchControl_id == bindparam("instance_id")))


# An instance that is run again is not complete until it completes again.
_STANDING = (
    select(_o.BatchCompletion_id, _o.DependsOnBatch_id, _o.BatchControl_id)
    .join(batch_control, _c.BatchControl_id == _o.BatchControl_id)
    .where(_WAITS, _OF_BATCH, _c.Status == InstanceStatus.COMPLETE.value)
    .order_by(_o.BatchCompletion_id)
)
_OLDEST = _STANDING.where(_o.DependsOnBatch_id == bindparam("depends_on")).limit(bindparam("most"))
_OF_CYCLE = exactly(_o.CycleKey, bindparam("cycle_key", type_=_o.CycleKey.type))
_KEYLESS = _o.CycleKey.is_(None)
_ALL_OF_CYCLE, _ALL_KEYLESS = RowSelect(_STANDING.where(_OF_CYCLE)), RowSelect(_STANDING.where(_KEYLESS))
_OLDEST_OF_CYCLE, _OLDEST_KEYLESS = RowSelect(_OLDEST.where(_OF_CYCLE)), RowSelect(_OLDEST.where(_KEYLESS))
_USE = RowUpdate(batch_completion, _o.BatchCompletion_id == bindparam("completion_id"), _WAITS)
_ALL_WAITING = (
    select(
        _o.ProcessBatch_id,
        _o.CycleKey,
        func.min(_o.BatchCompletion_id).label("First"),
        func.min(_o.z_inserted).label("Since"),
        func.max(_o.Overdue).label("Overdue"),
    )
    .where(_WAITS)
    .group_by(_o.ProcessBatch_id, _o.CycleKey)
    .having(func.min(_o.BatchCompletion_id) > bindparam("after"))
    .order_by(func.min(_o.BatchCompletion_id))
    .limit(bindparam("most"))
)
WAITING, _WAITING_OF = RowSelect(_ALL_WAITING), RowSelect(_ALL_WAITING.where(_OF_BATCH))
_MISSED = RowSelect(
    select(_c.BatchControl_id)
    .join(batch_dependency, _d.DependsOnBatch_id == _c.ProcessBatch_id)
    .where(
        _d.z_inserted > bindparam("since"),
        _c.Status == InstanceStatus.COMPLETE.value,
        _c.z_updated > _d.z_inserted,
        not_(exists().where(_o.ProcessBatch_id == _d.ProcessBatch_id, _o.BatchControl_id == _c.BatchControl_id)),
    )
    .distinct()
    .order_by(_c.BatchControl_id)
    .limit(bindparam("most"))
)
_SET_OVERDUE = (
    update(batch_completion)
    .where(_o.BatchCompletion_id == bindparam("completion_id"), _WAITS, _o.Overdue.is_(None))
    .values(Overdue=bindparam("now"), z_updated=bindparam("now"))
)


@value
class Completion:
    """A completion that waits for others of its CycleKey."""

    completion_id: Annotated[CompletionId, "BatchCompletion_id"]
    depends_on: Annotated[BatchId, "DependsOnBatch_id"]
    instance_id: InstanceId


@value
class WaitingCompletions:
    """The completions for one CycleKey that wait for others, so that a batch can start."""

    batch_id: BatchId
    cycle_key: str | None
    first: CompletionId
    """The oldest of them."""
    since: datetime
    overdue: datetime | None
    """Since when it is known that it takes too long."""


_completion, _waiting = Reader(Completion), Reader(WaitingCompletions)


def add(connection: Connection, batch_id: BatchId, instance: BatchInstance, now: datetime) -> bool:
    """Offer a completion to a batch that depends on its batch; false when it was offered before."""
    if was_offered(connection, batch_id, instance.instance_id):
        return False
    values = {
        "ProcessBatch_id": batch_id,
        "DependsOnBatch_id": instance.batch_id,
        "BatchControl_id": instance.instance_id,
        "CycleKey": instance.cycle_key,
        "z_inserted": now,
        "z_updated": now,
    }
    _ADD(connection, values)
    return True


def was_offered(connection: Connection, batch_id: BatchId, instance_id: InstanceId) -> bool:
    """Say whether an instance has completed since a batch depends on its batch."""
    return bool(_KNOWN(connection, batch_id=batch_id, instance_id=instance_id))


def oldest(connection: Connection, batch_id: BatchId, cycle_key: str | None, depends_on: BatchId) -> Completion | None:
    """Return the oldest completion of a batch that waits for others of its CycleKey."""
    named = {"batch_id": batch_id, "depends_on": depends_on, "most": 1}
    if cycle_key is None:
        found = _OLDEST_KEYLESS(connection, **named)
    else:
        found = _OLDEST_OF_CYCLE(connection, **named, cycle_key=cycle_key)
    return _completion(found[0]) if found else None


def oldest_of_each(connection: Connection, batch_id: BatchId, cycle_key: str | None) -> dict[BatchId, Completion]:
    """Return the oldest such completion of every upstream at once; the more completions wait, the more that costs."""
    if cycle_key is None:
        found = _ALL_KEYLESS(connection, batch_id=batch_id)
    else:
        found = _ALL_OF_CYCLE(connection, batch_id=batch_id, cycle_key=cycle_key)
    return {one.depends_on: one for one in map(_completion, reversed(found))}


def use(connection: Connection, completions: Sequence[Completion], intake_id: IntakeId, now: datetime) -> bool:
    """Write which row some completions have started; false when any of them was used before."""
    changes = {"FileProcess_id": intake_id, "z_updated": now}
    return all(_USE(connection, changes, completion_id=one.completion_id) for one in completions)


def waiting(
    connection: Connection, most: int, after: int = 0, *, of: BatchId | None = None
) -> list[WaitingCompletions]:
    """Return what waits by batch and CycleKey, the longest wait first; only what follows the `first` given as `after`.

    Return only what waits for one batch, if `of` names one.
    """
    page = {"most": most, "after": after}
    found = WAITING(connection, **page) if of is None else _WAITING_OF(connection, **page, batch_id=of)
    return list(map(_waiting, found))


def missed(connection: Connection, since: datetime, most: int) -> list[InstanceId]:
    """Return instances that have completed after a dependency on their batch was registered, and were not offered to it.

    A controller completes one by the definitions that it has read last, which may be a moment ago. Only dependencies
    that were registered since a moment are looked at.
    """
    return [InstanceId(row.BatchControl_id) for row in _MISSED(connection, since=since, most=most)]


def set_overdue(connection: Connection, completion_id: CompletionId, now: datetime) -> bool:
    """Note that a wait was reported as taking too long; false when that was noted before."""
    return connection.execute(_SET_OVERDUE, {"completion_id": completion_id, "now": now}).rowcount == 1
