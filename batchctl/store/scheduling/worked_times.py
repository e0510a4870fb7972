"""From when until when instances were worked at: a row for each, from the newest attempts of all."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Connection, bindparam, func, or_, select

from batchctl.domain.rows import BatchId, InstanceId
from batchctl.domain.status import InstanceStatus, word
from batchctl.domain.values import value
from batchctl.store.columns import readable, unquoted
from batchctl.store.tables import batch_control, batch_process_history

NEAR = 5_000
"""How many of the newest attempts of all are looked at."""
USUAL = 50
"""How many instances of a batch are enough to say when it is usually worked at."""


@value
class WorkedAt:
    """An instance, when its first attempt of some time began and when its last one ended."""

    instance_id: InstanceId
    batch_id: BatchId
    status: InstanceStatus
    began: datetime
    ended: datetime | None
    """None while nothing of it has ended."""


_h, _c = batch_process_history.c, batch_control.c
_NEAR = (
    select(_h.BatchControl_id, _h.StartTime, _h.EndTime)
    .order_by(_h.BatchProcessHistory_id.desc())
    .limit(bindparam("most"))
    .subquery(unquoted("Near"))
    .c
)
_TIMES = (
    select(
        _NEAR.BatchControl_id,
        func.min(_NEAR.StartTime).label("Began"),
        func.max(_NEAR.EndTime).label("Ended"),
    )
    .where(_NEAR.StartTime >= bindparam("since", type_=_h.StartTime.type))
    .group_by(_NEAR.BatchControl_id)
    .subquery(unquoted("Times"))
    .c
)
_OWN = (
    select(
        _c.BatchControl_id,
        _c.ProcessBatch_id,
        _c.Status,
        _TIMES.Began,
        _TIMES.Ended,
        func.row_number().over(partition_by=_c.ProcessBatch_id, order_by=_TIMES.Began.desc()).label("Place"),
    )
    .join_from(batch_control, _TIMES.Began.table, _TIMES.BatchControl_id == _c.BatchControl_id)
    .subquery(unquoted("Own"))
    .c
)
_WHOLE_FROM = bindparam("whole_from", type_=_h.StartTime.type)
_WORKED = select(_OWN.BatchControl_id, _OWN.ProcessBatch_id, _OWN.Status, _OWN.Began, _OWN.Ended).where(
    or_(_OWN.Place <= bindparam("usual"), _OWN.Began >= _WHOLE_FROM, _OWN.Ended >= _WHOLE_FROM)
)


def since(connection: Connection, at: datetime, whole_from: datetime) -> list[WorkedAt]:
    """Return instances of which an attempt has begun since `at`, as far as the newest attempts tell.

    Of those worked at since `whole_from` it is all, of those before the newest of each batch.
    """
    rows = connection.execute(_WORKED, {"most": NEAR, "since": at, "usual": USUAL, "whole_from": whole_from})
    return readable(rows.all(), _worked)


def _worked(row: Any) -> WorkedAt:
    instance_id, batch_id, status, began, ended = row
    return WorkedAt(InstanceId(instance_id), BatchId(batch_id), word(InstanceStatus, status), began, ended)
