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


_NEWEST, _OF_BATCH = _newest(), _of_batch()
_PURGED = select(_d.ProcessBatch_id, _d.ProcessControlSeq, _d.Day, _d.Runs, _d.TotalMs).where(
    _d.Day >= bindparam("day")
)


def since(connection: Connection, at: datetime, batches: Iterable[BatchId] = (), instances: int = INSTANCES) -> Steps:
    """Return how long successful attempts took that were begun since then: of some batches, or among the newest of all.

    Of each batch so many of its newest `instances` are looked at.
    """
    chosen = list(batches)
    found: Steps = {}
    day = {"day": at.date().isoformat()}
    purged = connection.execute(_PURGED.where(_d.ProcessBatch_id.in_(chosen)) if chosen else _PURGED, day)
    for step, runs in readable(purged, _purged):
        found.setdefault(step, []).append(runs)
    for batch_id in chosen:
        asked = {"batch_id": batch_id, "since": at, "most": instances}
        _add(found, connection.execute(_OF_BATCH, asked))
    if not chosen:
        _add(found, connection.execute(_NEWEST, {"since": at, "most": NEAR}))
    return found


def _add(found: Steps, rows: Iterable[Any]) -> None:
    for step, runs in readable(rows, _took):
        found.setdefault(step, []).append(runs)


def _took(row: Any) -> tuple[tuple[BatchId, int], LikeRuns]:
    batch_id, seq, start, end = row
    return (batch_id, seq), LikeRuns(start, max(end - start, timedelta(0)))


def _purged(row: Any) -> tuple[tuple[BatchId, int], LikeRuns]:
    batch_id, seq, day, runs, total = row
    at = datetime.fromisoformat(day).replace(tzinfo=UTC)
    return (batch_id, seq), LikeRuns(at, timedelta(milliseconds=total / runs), runs)
