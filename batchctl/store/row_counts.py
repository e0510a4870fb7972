"""How many rows the last successes of a step had."""

from __future__ import annotations

from sqlalchemy import Connection, bindparam, select

from batchctl.domain.definitions.row_guard import MOST_RUNS, Counts, days_like
from batchctl.domain.rows import Step
from batchctl.domain.status import HistoryStatus, InstanceStatus
from batchctl.store.columns import unquoted
from batchctl.store.conditions import one_of
from batchctl.store.statements import RowSelect
from batchctl.store.tables import OVER_INSTANCE, batch_control, batch_process_history

_c, _h = batch_control.c, batch_process_history.c
MOST = 4 * MOST_RUNS
"""How many of the last complete instances are looked at: of seven days two are the weekend."""
# They are found first, by their index: there is none of attempts by batch and step.
_LAST = (
    select(_c.BatchControl_id, _c.CycleKey)
    .where(
        _c.ProcessBatch_id == bindparam("batch_id"),
        _c.Status == InstanceStatus.COMPLETE.value,
        one_of("BatchControl.Status", OVER_INSTANCE),
    )
    .order_by(_c.BatchControl_id.desc())
    .limit(bindparam("most"))
    .subquery(unquoted("LastRuns"))
    .c
)
_COUNTS = RowSelect(
    select(_h.RowsAffected, _h.StartTime, _LAST.CycleKey)
    .where(
        _h.BatchControl_id == _LAST.BatchControl_id,
        _h.ProcessControlSeq == bindparam("seq"),
        _h.Status == HistoryStatus.SUCCESS.value,
        _h.RowsAffected.is_not(None),
    )
    .order_by(_LAST.BatchControl_id.desc(), _h.AttemptNo.desc())
)


def of_step(connection: Connection, step: Step, days: str) -> Counts:
    """Return the numbers of the last complete instances of which the day was one of those `days`."""
    found = _COUNTS(connection, batch_id=step.batch_id, seq=step.seq, most=MOST)
    alike = (row.RowsAffected for row in found if days_like(row.CycleKey, row.StartTime) == days)
    return Counts(tuple(alike)[:MOST_RUNS], days)
