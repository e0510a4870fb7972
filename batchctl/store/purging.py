"""What is over goes: a bounded page at a time, each in a transaction of its own, and never what somebody still needs.

Who deletes says in the DELETE itself what may go: between the reading of a page and its deletion anything may have happened.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, bindparam, delete, exists, func, not_, or_, select

from batchctl.domain.retention import Rules, meant_setting, rules_of
from batchctl.domain.rows import BatchId, IntakeId
from batchctl.domain.status import DeliveryStatus, IntakeStatus, SchedulerEvent
from batchctl.domain.values import value
from batchctl.store import finished_instances
from batchctl.store.audit import RUN_NOW
from batchctl.store.conditions import one_of
from batchctl.store.tables import (
    INBOX_INTAKE,
    alert_delivery,
    audit_log,
    batch_control,
    file_process,
    incident,
    process_batch,
    scheduler_log,
    setting,
)

NEVER_WORK = (IntakeStatus.REJECTED, IntakeStatus.DUPLICATE)
"""Rows of the inbox that go by their age; a paused one waits for somebody."""

_i, _v = incident.c, alert_delivery.c
_l, _a, _s, _b, _c, _f = scheduler_log.c, audit_log.c, setting.c, process_batch.c, batch_control.c, file_process.c

_SETTINGS = select(_s.Name, _s.Value)
_BATCHES = select(_b.ProcessBatchName, _b.ProcessBatch_id)
_LOG_PAGE = (
    select(_l.SchedulerLog_id.label("Number"), _l.EventTime.label("Made"), _l.EventTime.label("Changed"))
    .where(_l.SchedulerLog_id > bindparam("after"))
    .order_by(_l.SchedulerLog_id)
    .limit(bindparam("most"))
)
# How much waited when work was started, and since when, is said once more when it ends.
_IS_WANTED = exists().where(_f.FileProcess_id == _l.FileProcess_id, _f.Status == IntakeStatus.READY.value)
_OLD_LOG = (
    _l.SchedulerLog_id > bindparam("after"),
    _l.SchedulerLog_id <= bindparam("up_to"),
    _l.EventTime < bindparam("before"),
    or_(_l.EventType != SchedulerEvent.FIRED.value, not_(_IS_WANTED)),
)
_COUNT_LOG, _DELETE_LOG = select(func.count()).where(*_OLD_LOG), delete(scheduler_log).where(*_OLD_LOG)
_AUDIT_PAGE = (
    select(_a.AuditLog_id.label("Number"), _a.z_inserted.label("Made"), _a.z_inserted.label("Changed"))
    .add_columns(_a.Target, _a.Action, _a.ValuesAfter)
    .where(_a.AuditLog_id > bindparam("after"))
    .order_by(_a.AuditLog_id)
    .limit(bindparam("most"))
)
_TARGETS = {
    "BatchControl": select(_c.BatchControl_id).where(_c.BatchControl_id.in_(bindparam("ids", expanding=True))),
    "FileProcess": select(_f.FileProcess_id).where(_f.FileProcess_id.in_(bindparam("ids", expanding=True))),
}
_DELETE_AUDIT = delete(audit_log).where(
    _a.AuditLog_id.in_(bindparam("ids", expanding=True)), _a.z_inserted < bindparam("before")
)
_STARTED_ROW = re.compile(r'\{"FileProcess_id": (\d{1,18})\}')
_INBOX_PAGE = (
    select(_f.FileProcess_id.label("Number"), _f.z_inserted.label("Made"), _f.z_updated.label("Changed"))
    .where(one_of("FileProcess.Status", INBOX_INTAKE), _f.FileProcess_id > bindparam("after"))
    .order_by(_f.FileProcess_id)
    .limit(bindparam("most"))
)

_INCIDENT_PAGE = (
    select(_i.Incident_id.label("Number"), _i.OpenedTime.label("Made"), _i.z_updated.label("Changed"))
    .where(_i.Incident_id > bindparam("after"), _i.RecoveryTime.is_not(None), _i.ResolvedTime.is_not(None))
    .order_by(_i.Incident_id)
    .limit(bindparam("most"))
)
_IS_GOING = _i.Incident_id.in_(bindparam("ids", expanding=True))
_OVER_LONG_AGO = select(_i.Incident_id).where(
    _IS_GOING,
    _i.z_updated < bindparam("before"),
    # What is still on its way would arrive without its incident.
    not_(exists().where(_v.Incident_id == _i.Incident_id, _v.Status == DeliveryStatus.WAITING.value)),
)
_DELETE_DELIVERIES = delete(alert_delivery).where(_v.Incident_id.in_(bindparam("ids", expanding=True)))
_DELETE_INCIDENTS = delete(incident).where(_IS_GOING)


def settings(connection: Connection) -> dict[str, str]:
    """Return what stands in `Setting` about how long anything is kept, by name."""
    found = {str(row.Name): str(row.Value) for row in connection.execute(_SETTINGS)}
    return {name: said for name, said in found.items() if meant_setting(name) is not None}


def rules(connection: Connection) -> Rules:
    """Return what `Setting` says of how long everything is kept."""
    batches = {str(row.ProcessBatchName): BatchId(row.ProcessBatch_id) for row in connection.execute(_BATCHES)}
    return rules_of(settings(connection), batches)


@value
class Page:
    """Some rows that follow each other, of which some may be old enough to go."""

    after: int
    up_to: int
    """The last of them."""
    old: list[Any]
    """Those that are old enough."""
    is_last: bool
    """True when none behind them is old: rows are numbered in the order of their making, but for a clock that is set back."""

    @property
    def oldest(self) -> datetime | None:
        """Return when the oldest of them was written last."""
        return min((row.Changed for row in self.old), default=None)


def log_page(connection: Connection, after: int, before: datetime, most: int) -> Page:
    """Return the next rows of the scheduler log."""
    return _page(connection.execute(_LOG_PAGE, {"after": after, "most": most}).all(), after, before, most)


def count_log(connection: Connection, page: Page, before: datetime) -> int:
    """Count what of a page would go."""
    where = {"after": page.after, "up_to": page.up_to, "before": before}
    return int(connection.execute(_COUNT_LOG, where).scalar_one())


def delete_log(connection: Connection, page: Page, before: datetime) -> int:
    """Delete what is old of a page, but for the reasons of work that is not over; return how many rows."""
    where = {"after": page.after, "up_to": page.up_to, "before": before}
    return connection.execute(_DELETE_LOG, where).rowcount


def audit_page(connection: Connection, after: int, before: datetime, most: int) -> Page:
    """Return the next rows of the audit log."""
    return _page(connection.execute(_AUDIT_PAGE, {"after": after, "most": most}).all(), after, before, most)


def count_audit(connection: Connection, page: Page, before: datetime) -> int:
    """Count what of a page would go."""
    del before
    return len(_unasked(connection, page))


def delete_audit(connection: Connection, page: Page, before: datetime) -> int:
    """Delete what is old of a page, but for what was done about rows that are still there; return how many rows."""
    going = _unasked(connection, page)
    return connection.execute(_DELETE_AUDIT, {"ids": going, "before": before}).rowcount if going else 0


def _unasked(connection: Connection, page: Page) -> list[int]:
    """Return the acts that nobody will ask about: what they were about is gone, and no row comes back."""
    standing = {
        (table, row_id)
        for table, statement in _TARGETS.items()
        for row_id in _some(
            connection, statement, [at for row in page.old for name, at in _target(row) if name == table]
        )
    }
    return [row.Number for row in page.old if not standing.intersection(_target(row))]


def _some(connection: Connection, statement: Any, ids: Iterable[int]) -> Sequence[int]:
    wanted = sorted(set(ids))
    return connection.execute(statement, {"ids": wanted}).scalars().all() if wanted else ()


def _target(row: Any) -> list[tuple[str, int]]:
    """Return the row that an act was about, or has inserted, if it names one."""
    if row.Action == RUN_NOW and (found := _STARTED_ROW.fullmatch(row.ValuesAfter or "")):
        return [("FileProcess", int(found[1]))]
    table, _, number = str(row.Target).partition(":")
    is_number = number.isascii() and number.isdecimal() and len(number) < len(str(2**63))
    return [(table, int(number))] if table in _TARGETS and is_number else []


def inbox_page(connection: Connection, after: int, before: datetime, most: int) -> Page:
    """Return the next rows of the inbox."""
    return _page(connection.execute(_INBOX_PAGE, {"after": after, "most": most}).all(), after, before, most)


def count_inbox(connection: Connection, page: Page, before: datetime) -> int:
    """Count what of a page would go."""
    return len(finished_instances.bare_rows(connection, _numbers(page), NEVER_WORK, before))


def delete_inbox(connection: Connection, page: Page, before: datetime) -> int:
    """Delete the rejected and duplicate rows of a page that never became work; return how many."""
    return finished_instances.remove_rows(connection, _numbers(page), NEVER_WORK, before)


def incident_page(connection: Connection, after: int, before: datetime, most: int) -> Page:
    """Return the next incidents that are over, and of which everybody knows that."""
    return _page(connection.execute(_INCIDENT_PAGE, {"after": after, "most": most}).all(), after, before, most)


def count_incidents(connection: Connection, page: Page, before: datetime) -> int:
    """Count what of a page would go."""
    return len(_over_long_ago(connection, page, before))


def delete_incidents(connection: Connection, page: Page, before: datetime) -> int:
    """Delete what is old of a page, with the messages about it; return how many incidents."""
    going = _over_long_ago(connection, page, before)
    if going:
        connection.execute(_DELETE_DELIVERIES, {"ids": going})
        connection.execute(_DELETE_INCIDENTS, {"ids": going})
    return len(going)


def _over_long_ago(connection: Connection, page: Page, before: datetime) -> Sequence[int]:
    wanted = [row.Number for row in page.old]
    return connection.execute(_OVER_LONG_AGO, {"ids": wanted, "before": before}).scalars().all() if wanted else ()


def _numbers(page: Page) -> list[IntakeId]:
    return [IntakeId(row.Number) for row in page.old]


def _page(rows: Sequence[Any], after: int, before: datetime, most: int) -> Page:
    old = [row for row in rows if row.Changed < before]
    is_last = len(rows) < most or all(row.Made >= before for row in rows)
    return Page(after, rows[-1].Number if rows else after, old, is_last)
