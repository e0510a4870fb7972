"""The attempts of the last instances of each batch: what a forecast draws from."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from sqlalchemy import Connection, bindparam, select

from batchctl.domain.dependencies.past_nights import PastAttempt
from batchctl.domain.rows import LARGEST_ID, BatchId
from batchctl.store.columns import readable, unquoted
from batchctl.store.conditions import one_of
from batchctl.store.record_reading import Reader
from batchctl.store.reports import NEWEST_IN_PARTS
from batchctl.store.statements import RowSelect
from batchctl.store.tables import OVER_INSTANCE, batch_control, batch_process_history

_c, _h = batch_control.c, batch_process_history.c
_attempt = Reader(PastAttempt)
_LAST = (
    select(_c.BatchControl_id, _c.CycleKey, _c.z_inserted.label("CreatedTime"))
    .where(_c.BatchControl_id.in_(select(NEWEST_IN_PARTS.c.BatchControl_id)))
    .order_by(_c.BatchControl_id.desc())
    .limit(bindparam("most"))
)
# Of the night under way nothing is learned.
_NEWEST = _LAST.where(one_of("BatchControl.Status", OVER_INSTANCE)).subquery(unquoted("LastOnes")).c
_ATTEMPTS = RowSelect(
    select(
        _h.ProcessBatch_id,
        _NEWEST.BatchControl_id,
        _NEWEST.CycleKey,
        _NEWEST.CreatedTime,
        _h.ProcessControlSeq,
        _h.Cause,
        _h.Status,
        _h.StartTime,
        _h.EndTime,
    )
    .join_from(_NEWEST.BatchControl_id.table, batch_process_history, _h.BatchControl_id == _NEWEST.BatchControl_id)
    .where(_h.EndTime.is_not(None))
    .order_by(_h.BatchProcessHistory_id)
)

_LAST_CAME = RowSelect(_LAST.with_only_columns(_c.z_inserted))


def last_arrivals(connection: Connection, batches: Iterable[BatchId]) -> dict[BatchId, datetime]:
    """Return when the newest instance of each batch came, whether anything of it has ended or not."""
    asked = [(each, _LAST_CAME.ask(connection, batch_id=each, before=LARGEST_ID, most=1)) for each in batches]
    return {each: came for each, rows in asked for (came,) in rows()}


def past_attempts(connection: Connection, batches: Iterable[BatchId], most: int) -> list[PastAttempt]:
    """Return the attempts that have ended of the last instances of some batches, `most` of each, oldest first."""
    asked = [_ATTEMPTS.ask(connection, batch_id=each, before=LARGEST_ID, most=most) for each in batches]
    return [one for rows in asked for one in readable(rows(), _attempt)]
