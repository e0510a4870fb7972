"""How the batches stand, and how long their steps take: what is drawn beside their names.

What is open is found by the indexes of what is open, what is done among the newest rows or by its CycleKey: no answer
depends on how much has happened before.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated, Any

from sqlalchemy import ColumnElement, Connection, Select, bindparam, func, select, text

from batchctl.domain.dependencies.stands import Stand
from batchctl.domain.records import Apart
from batchctl.domain.rows import BatchId, InstanceId
from batchctl.domain.status import FINAL, Cause, HistoryStatus
from batchctl.store.columns import readable, unquoted
from batchctl.store.comparison import exactly
from batchctl.store.conditions import one_of
from batchctl.store.maintenance import duration_history
from batchctl.store.record_reading import Reader
from batchctl.store.tables import (
    CLAIMED_INSTANCE,
    IN_LINE_INSTANCE,
    LIVE_ENTRY,
    PAUSED_INSTANCE,
    WAITING_COMPLETION,
    batch_completion,
    batch_control,
    batch_process_history,
    process_batch,
)

NEAR = 20_000
"""How many of the newest rows are searched for what is done."""
TIMES = 20
"""How many of the last successful attempts at a step say how long it takes."""

_c, _h, _w, _b = batch_control.c, batch_process_history.c, batch_completion.c, process_batch.c
_i = batch_control.alias(unquoted("Itself")).c
_STANDING = (
    _c.ProcessBatch_id,
    _c.BatchControl_id,
    _c.Status,
    _c.PrevProcessControlSeq,
    _c.CycleKey,
    _c.NextRunTime,
    _c.z_updated,
)
_OF_KEY = exactly(_c.CycleKey, bindparam("cycle_key", type_=_c.CycleKey.type))


def _open(words: Iterable[str], *conditions: ColumnElement[bool]) -> Select[Any]:
    """Return the query of the first open instance of each batch in each status, of those that an index holds."""
    alike = (
        select(func.count().label("HowMany"), func.min(_c.BatchControl_id).label("First"))
        .where(one_of("BatchControl.Status", words), *conditions)
        .group_by(_c.ProcessBatch_id, _c.Status)
        .subquery(unquoted("Alike"))
        .c
    )
    return select(*_STANDING, alike.HowMany).join(alike.First.table, _c.BatchControl_id == alike.First)


def _newest() -> Select[Any]:
    """Return the query of the newest instance of each batch, where it is among the newest of all."""
    near = (
        select(_c.BatchControl_id, _c.ProcessBatch_id)
        .order_by(_c.BatchControl_id.desc())
        .limit(bindparam("near"))
        .subquery(unquoted("Near"))
        .c
    )
    last = select(func.max(near.BatchControl_id).label("Last")).group_by(near.ProcessBatch_id)
    newest = last.subquery(unquoted("Newest")).c
    return select(*_STANDING).join(newest.Last.table, _c.BatchControl_id == newest.Last)


def _newest_of_key() -> Select[Any]:
    """Return the query of the newest instance of each batch of one CycleKey, however old; an index finds it."""
    of_key = exactly(_i.CycleKey, bindparam("cycle_key", type_=_c.CycleKey.type))
    last = select(func.max(_i.BatchControl_id)).where(_i.ProcessBatch_id == _b.ProcessBatch_id, of_key)
    return select(*_STANDING).where(_c.BatchControl_id.in_(select(last.scalar_subquery()).select_from(process_batch)))


_INDEXED = IN_LINE_INSTANCE, CLAIMED_INSTANCE, PAUSED_INSTANCE
_OPEN = [_open(words) for words in _INDEXED]
_OPEN_OF_KEY = [_open(words, _OF_KEY) for words in _INDEXED]
_NEWEST = _newest()
_NEWEST_OF_KEY = _newest_of_key()
_UNDER_WAY = select(_h.BatchControl_id).where(text(f"BatchProcessHistory.{LIVE_ENTRY}"))
_COMPLETIONS = (
    select(
        _w.ProcessBatch_id,
        _w.DependsOnBatch_id,
        _w.CycleKey,
        func.min(_w.z_inserted).label("Since"),
        func.min(_w.Overdue).label("OverdueSince"),
    )
    .where(text(f"BatchCompletion.{WAITING_COMPLETION}"))
    .group_by(_w.ProcessBatch_id, _w.DependsOnBatch_id, _w.CycleKey)
    .order_by(_w.ProcessBatch_id, _w.CycleKey, _w.DependsOnBatch_id)
    .limit(bindparam("most"))
)


def _lengths() -> Select[Any]:
    """Return the query of the last successful attempts at each step, of those among the newest of all."""
    near = (
        select(_h.BatchProcessHistory_id, _h.ProcessBatch_id, _h.ProcessControlSeq, _h.Status, _h.Cause)
        .add_columns(_h.StartTime, _h.EndTime)
        .order_by(_h.BatchProcessHistory_id.desc())
        .limit(bindparam("near"))
        .subquery(unquoted("Near"))
        .c
    )
    step = [near.ProcessBatch_id, near.ProcessControlSeq]
    at = func.row_number().over(partition_by=step, order_by=near.BatchProcessHistory_id.desc()).label("Place")
    succeeded = near.Status == HistoryStatus.SUCCESS.value, near.Cause != Cause.VERIFY.value
    last = select(*step, near.StartTime, near.EndTime, at).where(*succeeded).subquery(unquoted("LastOnes")).c
    return select(last.ProcessBatch_id, last.ProcessControlSeq, last.StartTime, last.EndTime).where(last.Place <= TIMES)


_LENGTHS = _lengths()


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingCompletion:
    """Completions of one batch for one CycleKey that wait until all batches that a dependent one needs are complete."""

    batch_id: BatchId
    completed: Annotated[BatchId, "DependsOnBatch_id"]
    cycle_key: str | None
    since: datetime
    is_overdue: Apart[bool]


_standing, _completed = Reader(Stand), Reader(WaitingCompletion)


def stands(connection: Connection, cycle_key: str | None = None, near: int = NEAR) -> list[Stand]:
    """Return the instances that may speak for their batches, of one CycleKey or of any.

    That is the first open one in each status, and the newest of each batch that is over: of any CycleKey, if it is among the
    newest of all.
    """
    parameters = {} if cycle_key is None else {"cycle_key": cycle_key}
    found: list[Stand] = []
    for statement in _OPEN if cycle_key is None else _OPEN_OF_KEY:
        found += readable(connection.execute(statement, parameters), _stand)
    newest = _NEWEST if cycle_key is None else _NEWEST_OF_KEY
    limit = {"near": near} if cycle_key is None else {}
    last = readable(connection.execute(newest, parameters | limit), _stand)
    # What is open is counted above already.
    return found + [stand for stand in last if stand.status in FINAL]


def under_way(connection: Connection) -> frozenset[InstanceId]:
    """Return the instances that have a step under way."""
    return frozenset(connection.execute(_UNDER_WAY).scalars())


def waiting(connection: Connection, most: int = NEAR) -> list[WaitingCompletion]:
    """Return what has completed and waits for others."""
    return readable(connection.execute(_COMPLETIONS, {"most": most}), _waiting)


def lengths(connection: Connection, near: int = NEAR) -> dict[tuple[BatchId, int], list[timedelta]]:
    """Return how long the last successful attempts at each step took; of what was purged, those of the last day."""
    found: dict[tuple[BatchId, int], list[timedelta]] = {}
    for step, took in readable(connection.execute(_LENGTHS, {"near": near}), _took):
        found.setdefault(step, []).append(took)
    return duration_history.lengths(connection, TIMES) | found


def _stand(row: Any) -> Stand:
    return _standing(row, how_many=getattr(row, "HowMany", 1))


def _took(row: Any) -> tuple[tuple[BatchId, int], timedelta]:
    batch_id, seq, start, end = row
    return (batch_id, seq), max(end - start, timedelta(0))


def _waiting(row: Any) -> WaitingCompletion:
    return _completed(row, is_overdue=row.OverdueSince is not None)
