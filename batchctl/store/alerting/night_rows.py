"""What a report of a night goes by: its attempts, and what people did; each found by where the numbers of a time begin."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Connection, and_, bindparam, func, or_, select

from batchctl.domain.alerting.night_summary import NightAttempt
from batchctl.domain.rows import AuditEntry
from batchctl.store.alerting import evidence
from batchctl.store.columns import readable
from batchctl.store.maintenance import audit_entries
from batchctl.store.record_reading import Reader
from batchctl.store.statements import RowSelect
from batchctl.store.tables import audit_log, batch_control, batch_process_history

_a, _c, _h = audit_log.c, batch_control.c, batch_process_history.c
_attempt = Reader(NightAttempt)

_ATTEMPTS = RowSelect(
    select(
        _h.BatchProcessHistory_id,
        _h.BatchControl_id,
        _h.ProcessBatch_id,
        _h.ProcessControlSeq,
        _h.ProcessName,
        _h.Cause,
        _h.Status,
        _h.StartTime,
        _h.EndTime,
        _h.NextRunTimeAfter,
        _h.ErrorCode,
        _h.RowsAffected,
        _h.Message,
        _c.Status.label("InstanceStatus"),
    )
    .join_from(batch_process_history, batch_control, _c.BatchControl_id == _h.BatchControl_id)
    .where(_h.BatchProcessHistory_id >= bindparam("floor"))
    .order_by(_h.BatchProcessHistory_id.desc())
    .limit(bindparam("most"))
)
_OF_WORK = [func.substring(_a.Target, 1, len(each)) == each for each in ("BatchControl:", "FileProcess:")]
_ACTS = (
    select(audit_log)
    .where(
        _a.AuditLog_id >= bindparam("floor"), _a.z_inserted > bindparam("since"), _a.z_inserted <= bindparam("until")
    )
    .order_by(_a.AuditLog_id)
    .limit(bindparam("most"))
)


def attempts_since(connection: Connection, since: datetime, most: int) -> list[NightAttempt]:
    """Return the newest attempts of those that were begun since a moment, and some that were begun before; newest first."""
    floor = evidence.first_attempt_since(connection, since)
    return readable(_ATTEMPTS(connection, floor=floor, most=most), _attempt)


def acts_between(
    connection: Connection, since: datetime, until: datetime, actions: Sequence[str], most: int
) -> list[AuditEntry]:
    """Return the first acts of some kinds, and changes of work by hand, between two moments, oldest first."""
    values = {"floor": evidence.first_act_since(connection, since), "since": since, "until": until, "most": most}
    wanted = _ACTS.where(or_(_a.Action.in_(actions), and_(_a.Action == audit_entries.ROW_UPDATE, or_(*_OF_WORK))))
    return audit_entries.entries(connection.execute(wanted, values))
