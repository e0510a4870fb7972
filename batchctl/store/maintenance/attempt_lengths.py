"""How long attempts took, of those that are kept and of those that were purged; never more rows are read than a few thousand."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import Connection, Select, bindparam, select

from batchctl.domain.alerting.performance import LikeRuns
from batchctl.domain.rows import BatchId
from batchctl.domain.status import Cause, HistoryStatus
from batchctl.store.columns import readable, unquoted
from batchctl.store.statements import RowSelect
from batchctl.store.tables import batch_control, batch_process_history, duration_history

NEAR = 20_000
"""How many of the newest attempts of all are looked at."""
INSTANCES = 2000
"""How many of the newest instances of one batch are looked at."""

Steps = dict[tuple[BatchId, int], list[LikeRuns]]
"""Runs of each step, by its batch and ProcessControlSeq."""

_c, _h, _d = batch_control.c, batch_process_history.c, duration_history.c
_TOOK = (_h.ProcessBatch_id, _h.ProcessControlSeq, _h.StartTime, _h.EndTime, _h.Status, _h.Cause)


def _newest() -> Select[Any]:
    newest = select(*_TOOK).order_by(_h.BatchProcessHistory_id.desc()).limit(bindparam("most"))
    return _succeeded(newest.subquery(unquoted("Near")).c)


def _of_batch() -> Select[Any]:
    """Return the query of a batch's attempts: there is no index on it, so its instances are found first."""
    ids = (
        select(_c.BatchControl_id)
        .where(_c.ProcessBatch_id == bindparam("batch_id"))
        .order_by(_c.BatchControl_id.desc())
        .limit(bindparam("most"))
        .subquery(unquoted("Near"))
        .c
    )
    return _succeeded(_h).join_from(
        ids.BatchControl_id.table, batch_process_history, _h.BatchControl_id == ids.BatchControl_id
    )


def _succeeded(of: Any) -> Select[Any]:
    wanted = of.Status == HistoryStatus.SUCCESS.value, of.Cause != Cause.VERIFY.value
    return select(of.ProcessBatch_id, of.ProcessControlSeq, of.StartTime, of.EndTime).where(
        *wanted, of.StartTime >= bindparam("since", type_=_h.StartTime.type)
    )


_NEWEST, _OF_BATCH = RowSelect(_newest()), RowSelect(_of_batch())
_ADDED_UP = select(_d.ProcessBatch_id, _d.ProcessControlSeq, _d.Day, _d.Runs, _d.TotalMs).where(
    _d.Day >= bindparam("day")
)
_PURGED, _PURGED_OF = RowSelect(_ADDED_UP), RowSelect(_ADDED_UP.where(_d.ProcessBatch_id == bindparam("batch_id")))


def since(connection: Connection, at: datetime, batches: Iterable[BatchId] = (), instances: int = INSTANCES) -> Steps:
    """Return how long successful attempts took that were begun since then: of some batches, or among the newest of all.

    Of each batch so many of its newest `instances` are looked at.
    """
    chosen, day = list(batches), at.date().isoformat()
    if chosen:
        purged = [_PURGED_OF.ask(connection, batch_id=each, day=day) for each in chosen]
        kept = [_OF_BATCH.ask(connection, batch_id=each, since=at, most=instances) for each in chosen]
    else:
        purged, kept = [_PURGED.ask(connection, day=day)], [_NEWEST.ask(connection, since=at, most=NEAR)]
    found: Steps = {}
    for asked, read in ((purged, _purged), (kept, _took)):
        for step, runs in (one for rows in asked for one in readable(rows(), read)):
            found.setdefault(step, []).append(runs)
    return found


def _took(row: Any) -> tuple[tuple[BatchId, int], LikeRuns]:
    batch_id, seq, start, end = row
    return (batch_id, seq), LikeRuns(start, max(end - start, timedelta(0)))


def _purged(row: Any) -> tuple[tuple[BatchId, int], LikeRuns]:
    batch_id, seq, day, runs, total = row
    at = datetime.fromisoformat(day).replace(tzinfo=UTC)
    return (batch_id, seq), LikeRuns(at, timedelta(milliseconds=total / runs), runs)
