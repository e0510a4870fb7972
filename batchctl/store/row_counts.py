"""How many rows the last successes of a step had."""

from __future__ import annotations

from sqlalchemy import Connection, bindparam, select

from batchctl.domain.definitions.row_guard import MOST_RUNS, Counts, days_like
from batchctl.domain.rows import Step
from batchctl.domain.status import HistoryStatus, InstanceStatus
from batchctl.store.statements import RowSelect
from batchctl.store.tables import batch_control, batch_process_history

_c, _h = batch_control.c, batch_process_history.c
MOST = 4 * MOST_RUNS
"""How many of the last successes are read: of seven days two are the weekend."""
# The instances that are over are found first: there is no index of attempts by batch and step.
_LAST = RowSelect(
    select(_h.RowsAffected, _h.StartTime, _c.CycleKey)
    .select_from(batch_control)
    .join(batch_process_history, _h.BatchControl_id == _c.BatchControl_id)
    .where(
        _c.ProcessBatch_id == bindparam("batch_id"),
        _c.Status == InstanceStatus.COMPLETE.value,
        _h.ProcessControlSeq == bindparam("seq"),
        _h.Status == HistoryStatus.SUCCESS.value,
        _h.RowsAffected.is_not(None),
    )
    .order_by(_c.BatchControl_id.desc(), _h.AttemptNo.desc())
    .limit(bindparam("most"))
)


def of_step(connection: Connection, step: Step, days: str) -> Counts:
    """Return the numbers of the last complete instances of which the day was one of those `days`."""
    found = _LAST(connection, batch_id=step.batch_id, seq=step.seq, most=MOST)
    alike = (row.RowsAffected for row in found if days_like(row.CycleKey, row.StartTime) == days)
    return Counts(tuple(alike)[:MOST_RUNS], days)
