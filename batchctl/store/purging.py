"""What is over goes: a bounded page at a time, each in a transaction of its own, and never what somebody still needs.

Who deletes says in the DELETE itself what may go: between the reading of a page and its deletion anything may have happened.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, bindparam, delete, exists, not_, or_, select

from batchctl.domain.status import IntakeStatus, SchedulerEvent
from batchctl.domain.values import value
from batchctl.store.tables import audit_log, batch_control, file_process, scheduler_log, setting

_l, _a, _s, _c, _f = scheduler_log.c, audit_log.c, setting.c, batch_control.c, file_process.c

_SETTINGS = select(_s.Name, _s.Value)
_LOG_PAGE = (
    select(_l.SchedulerLog_id.label("Row"), _l.EventTime.label("At"))
    .where(_l.SchedulerLog_id > bindparam("after"))
    .order_by(_l.SchedulerLog_id)
    .limit(bindparam("most"))
)
# How much waited when work was started, and since when, is said once more when it ends.
_IS_WANTED = exists().where(_f.FileProcess_id == _l.FileProcess_id, _f.Status == IntakeStatus.READY.value)
_DELETE_LOG = delete(scheduler_log).where(
    _l.SchedulerLog_id > bindparam("after"),
    _l.SchedulerLog_id <= bindparam("up_to"),
    _l.EventTime < bindparam("before"),
    or_(_l.EventType != SchedulerEvent.FIRED.value, not_(_IS_WANTED)),
)
_AUDIT_PAGE = (
    select(_a.AuditLog_id.label("Row"), _a.z_inserted.label("At"))
    .add_columns(_a.Target)
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


def settings(connection: Connection) -> dict[str, str]:
    """Return what stands in `Setting`, by name."""
    return {str(row.Name): str(row.Value) for row in connection.execute(_SETTINGS)}


@value
class Page:
    """Some rows that follow each other, of which some may be old enough to go."""

    after: int
    up_to: int
    """The last of them."""
    old: list[Any]
    """Those that are old enough."""
    is_last: bool
    """True when none behind them is old: rows are written in the order of their time, but for a clock that is set back."""


def log_page(connection: Connection, after: int, before: datetime, most: int) -> Page:
    """Return the next rows of the scheduler log."""
    return _page(connection.execute(_LOG_PAGE, {"after": after, "most": most}).all(), after, before, most)


def delete_log(connection: Connection, page: Page, before: datetime) -> int:
    """Delete what is old of a page, but for the reasons of work that is not over; return how many rows."""
    where = {"after": page.after, "up_to": page.up_to, "before": before}
    return connection.execute(_DELETE_LOG, where).rowcount


def audit_page(connection: Connection, after: int, before: datetime, most: int) -> Page:
    """Return the next rows of the audit log."""
    return _page(connection.execute(_AUDIT_PAGE, {"after": after, "most": most}).all(), after, before, most)


def delete_audit(connection: Connection, page: Page, before: datetime) -> int:
    """Delete what is old of a page, but for what was done about rows that are still there; return how many rows.

    No row comes back: what is not there any more when it is looked for, nobody will ask about.
    """
    standing = {
        (table, row_id)
        for table, statement in _TARGETS.items()
        for row_id in _some(
            connection, statement, [at for row in page.old for name, at in _target(row) if name == table]
        )
    }
    going = [row.Row for row in page.old if not standing.intersection(_target(row))]
    return connection.execute(_DELETE_AUDIT, {"ids": going, "before": before}).rowcount if going else 0


def _some(connection: Connection, statement: Any, ids: Iterable[int]) -> Sequence[int]:
    wanted = sorted(set(ids))
    return connection.execute(statement, {"ids": wanted}).scalars().all() if wanted else ()


def _target(row: Any) -> list[tuple[str, int]]:
    """Return the row that an act was about, if it names one."""
    table, _, number = str(row.Target).partition(":")
    is_number = number.isascii() and number.isdecimal() and len(number) < len(str(2**63))
    return [(table, int(number))] if table in _TARGETS and is_number else []


def _page(rows: Sequence[Any], after: int, before: datetime, most: int) -> Page:
    old = [row for row in rows if row.At < before]
    return Page(after, rows[-1].Row if rows else after, old, not old or len(rows) < most)
