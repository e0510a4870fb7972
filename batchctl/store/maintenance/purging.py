"""What is over goes: a bounded page at a time, each in a transaction of its own, and never what somebody still needs.

Each DELETE itself says what may go: between the reading of a page and its deletion anything may have happened.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, bindparam, delete, exists, func, not_, or_, select, text

from batchctl.domain.errors import Conflict
from batchctl.domain.maintenance.audit_chain import LOG, PURGE
from batchctl.domain.maintenance.retention import Rules, meant_setting, rules_of
from batchctl.domain.rows import IntakeId
from batchctl.domain.status import DeliveryStatus, IntakeStatus, RequestStatus, SchedulerEvent
from batchctl.domain.values import value
from batchctl.store.conditions import one_of
from batchctl.store.maintenance import finished_instances
from batchctl.store.maintenance.audit_entries import RUN_NOW
from batchctl.store.operators import note_rows
from batchctl.store.tables import (
    INBOX_INTAKE,
    KEPT_FORECAST,
    alert_delivery,
    audit_log,
    audit_seal,
    batch_control,
    batch_process_history,
    file_process,
    incident,
    kept_forecast,
    operator_request,
    process_batch,
    scheduler_log,
    setting,
)

NEVER_WORK = (IntakeStatus.REJECTED, IntakeStatus.DUPLICATE)
"""Rows of the inbox that go by their age; a paused one waits for a person."""

_i, _v = incident.c, alert_delivery.c
_l, _a, _s, _b, _c, _f = scheduler_log.c, audit_log.c, setting.c, process_batch.c, batch_control.c, file_process.c
_q, _w, _k = operator_request.c, audit_seal.c, kept_forecast.c

_h = batch_process_history.c.BatchProcessHistory_id
# Each by itself is looked up in the index.
_SPAN = select(select(func.min(_h)).scalar_subquery(), select(func.max(_h)).scalar_subquery())
_SETTINGS = select(_s.Name, _s.Value)
_BATCHES = select(_b.ProcessBatchName, _b.ProcessBatch_id)
_LOG_PAGE = (
    select(_l.SchedulerLog_id.label("Number"), _l.EventTime.label("Made"), _l.EventTime.label("Changed"))
    .where(_l.SchedulerLog_id > bindparam("after"))
    .order_by(_l.SchedulerLog_id)
    .limit(bindparam("most"))
)
# How much waited when work was started, and since when, is logged once more when it ends.
_IS_WANTED = exists().where(_f.FileProcess_id == _l.FileProcess_id, _f.Status == IntakeStatus.READY.value)
_OLD_LOG = (
    _l.SchedulerLog_id > bindparam("after"),
    _l.SchedulerLog_id <= bindparam("up_to"),
    _l.EventTime < bindparam("before"),
    or_(_l.EventType != SchedulerEvent.FIRED.value, not_(_IS_WANTED)),
)
_COUNT_LOG, _DELETE_LOG = select(func.count()).where(*_OLD_LOG), delete(scheduler_log).where(*_OLD_LOG)
# Once a row is gone, its age is not known any more; its seal stays, and shows how long the row had been sealed.
_AUDIT_PAGE = (
    select(_a.AuditLog_id.label("Number"), _a.z_inserted.label("Made"))
    .add_columns(func.coalesce(_w.z_inserted, _a.z_inserted).label("Changed"))
    .add_columns(_a.Target, _a.Action, _a.Host, _a.ValuesAfter)
    .join_from(audit_log, audit_seal, _w.AuditLog_id == _a.AuditLog_id, isouter=True)
    .where(_a.AuditLog_id > bindparam("after"))
    .order_by(_a.AuditLog_id)
    .limit(bindparam("most"))
)
_TARGETS = {
    "BatchControl": select(_c.BatchControl_id).where(_c.BatchControl_id.in_(bindparam("ids", expanding=True))),
    "FileProcess": select(_f.FileProcess_id).where(_f.FileProcess_id.in_(bindparam("ids", expanding=True))),
    "OperatorRequest": select(_q.OperatorRequest_id).where(_q.OperatorRequest_id.in_(bindparam("ids", expanding=True))),
}
_THESE_ACTS = _a.AuditLog_id.in_(bindparam("ids", expanding=True))
_STILL_OLD = select(_a.AuditLog_id).where(
    _THESE_ACTS,
    _a.z_inserted < bindparam("before"),
    not_(exists().where(_w.AuditLog_id == _a.AuditLog_id, _w.z_inserted >= bindparam("before"))),
)
_DELETE_AUDIT = delete(audit_log).where(_THESE_ACTS)
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
_IS_ANSWERED = _q.Status != RequestStatus.REQUESTED.value
_REQUEST_PAGE = (
    select(_q.OperatorRequest_id.label("Number"), _q.z_inserted.label("Made"), _q.z_updated.label("Changed"))
    .where(_IS_ANSWERED, _q.OperatorRequest_id > bindparam("after"))
    .order_by(_q.OperatorRequest_id)
    .limit(bindparam("most"))
)
_DELETE_REQUESTS = delete(operator_request).where(
    _q.OperatorRequest_id.in_(bindparam("ids", expanding=True)), _IS_ANSWERED, _q.z_updated < bindparam("before")
)

_FORECAST_PAGE = (
    select(_k.KeptForecast_id.label("Number"), _k.MadeOn.label("Made"), _k.MadeOn.label("Changed"))
    .where(text(f"KeptForecast.{KEPT_FORECAST}"), _k.KeptForecast_id > bindparam("after"))
    .order_by(_k.KeptForecast_id)
    .limit(bindparam("most"))
)
_DELETE_FORECASTS = delete(kept_forecast).where(_k.KeptForecast_id.in_(bindparam("ids", expanding=True)))


def attempts(connection: Connection) -> int:
    """Return about how many attempts there are, by the first and the last id: to count them all takes long."""
    first, last = connection.execute(_SPAN).one()
    return 0 if first is None else int(last) - int(first) + 1


def settings(connection: Connection) -> dict[str, str]:
    """Return what stands in `Setting` about how long anything is kept, by name."""
    found = dict(connection.execute(_SETTINGS).all())
    return {name: said for name, said in found.items() if meant_setting(name) is not None}


def rules(connection: Connection) -> Rules:
    """Return what `Setting` says of how long everything is kept."""
    batches = dict(connection.execute(_BATCHES).all())
    return rules_of(settings(connection), batches)


@value
class PurgePage:
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


@value
class Aging:
    """A table of which rows go by their age."""

    table: str
    age: Callable[[Rules], timedelta | None]
    rows: Any
    count: Callable[[Connection, PurgePage, datetime], int]
    """Counts what of a page would go."""
    delete: Callable[[Connection, PurgePage, datetime], int] | None
    """Deletes what of a page may go and returns how many rows; None where the log has to say first which ones."""

    def page(self, connection: Connection, after: int, before: datetime, most: int) -> PurgePage:
        """Return the next rows."""
        rows = connection.execute(self.rows, {"after": after, "most": most}).all()
        old = [row for row in rows if row.Changed < before]
        is_last = len(rows) < most or all(row.Made >= before for row in rows)
        return PurgePage(after, rows[-1].Number if rows else after, old, is_last)


def count_log(connection: Connection, page: PurgePage, before: datetime) -> int:
    """Count what of a page would go."""
    where = {"after": page.after, "up_to": page.up_to, "before": before}
    return int(connection.execute(_COUNT_LOG, where).scalar_one())


def delete_log(connection: Connection, page: PurgePage, before: datetime) -> int:
    """Delete what is old of a page, but for the reasons of work that is not over; return how many rows."""
    where = {"after": page.after, "up_to": page.up_to, "before": before}
    return connection.execute(_DELETE_LOG, where).rowcount


def count_acts(connection: Connection, page: PurgePage, _before: datetime, requests: Collection[int] = ()) -> int:
    """Count what of a page would go once these requests are gone."""
    return len(_unasked(connection, page, requests))


def old_acts(connection: Connection, page: PurgePage, before: datetime) -> list[int]:
    """Return the acts of a page that may go: what is old, but for what was done about rows that are still there."""
    going = _unasked(connection, page)
    return list(connection.execute(_STILL_OLD, {"ids": going, "before": before}).scalars()) if going else []


def delete_acts(connection: Connection, audit_ids: Sequence[int]) -> None:
    """Delete acts; which ones has to stand in the log already."""
    if connection.execute(_DELETE_AUDIT, {"ids": list(audit_ids)}).rowcount != len(audit_ids):
        message = "Somebody else has deleted rows of the audit log."
        raise Conflict(message)


def _unasked(connection: Connection, page: PurgePage, requests: Collection[int] = ()) -> list[int]:
    """Return the acts that are not needed any more: the rows that they were about are gone, and no row comes back.

    `requests` count as gone.
    """
    standing = {
        (table, row_id)
        for table, statement in _TARGETS.items()
        for row_id in _some(
            connection, statement, [at for row in page.old for name, at in _target(row) if name == table]
        )
    }
    standing -= {("OperatorRequest", row_id) for row_id in requests}
    return [row.Number for row in page.old if not standing.intersection(_target(row)) and not _tells_of_a_purge(row)]


def _tells_of_a_purge(row: Any) -> bool:
    """Say whether an act tells which rows of the log went: the chain needs that as long as there is one."""
    return (row.Action, row.Target) == (PURGE, LOG)


def _some(connection: Connection, statement: Any, ids: Iterable[int]) -> Sequence[int]:
    wanted = sorted(set(ids))
    return connection.execute(statement, {"ids": wanted}).scalars().all() if wanted else ()


def _target(row: Any) -> list[tuple[str, int]]:
    """Return the rows that an act was about, has inserted, or was asked for by, if it names any."""
    if row.Action == RUN_NOW and (found := _STARTED_ROW.fullmatch(row.ValuesAfter or "")):
        return [("FileProcess", int(found[1]))]
    return [*_named(str(row.Target)), *_named(str(row.Host))]


def _named(text: str) -> list[tuple[str, int]]:
    table, _, number = text.partition(":")
    is_number = number.isascii() and number.isdecimal() and len(number) < len(str(2**63))
    return [(table, int(number))] if table in _TARGETS and is_number else []


def count_requests(_connection: Connection, page: PurgePage, _before: datetime) -> int:
    """Count what of a page would go."""
    return len(page.old)


def delete_requests(connection: Connection, page: PurgePage, before: datetime) -> int:
    """Delete the answered requests of a page; return how many."""
    return connection.execute(_DELETE_REQUESTS, {"ids": _numbers(page), "before": before}).rowcount


def count_inbox(connection: Connection, page: PurgePage, before: datetime) -> int:
    """Count what of a page would go."""
    return len(finished_instances.bare_rows(connection, _numbers(page), NEVER_WORK, before))


def delete_inbox(connection: Connection, page: PurgePage, before: datetime) -> int:
    """Delete the rejected and duplicate rows of a page that never became work; return how many."""
    return finished_instances.remove_rows(connection, _numbers(page), NEVER_WORK, before)


def count_incidents(connection: Connection, page: PurgePage, before: datetime) -> int:
    """Count what of a page would go."""
    return len(_over_long_ago(connection, page, before))


def delete_incidents(connection: Connection, page: PurgePage, before: datetime) -> int:
    """Delete what is old of a page, with the messages about it; return how many incidents."""
    going = _over_long_ago(connection, page, before)
    if going:
        connection.execute(_DELETE_DELIVERIES, {"ids": going})
        note_rows.remove_of_incidents(connection, going)
        connection.execute(_DELETE_INCIDENTS, {"ids": going})
    return len(going)


def count_forecasts(_connection: Connection, page: PurgePage, _before: datetime) -> int:
    """Count what of a page would go."""
    return len(page.old)


def delete_forecasts(connection: Connection, page: PurgePage, _before: datetime) -> int:
    """Delete the old forecasts of a page; return how many."""
    return connection.execute(_DELETE_FORECASTS, {"ids": _numbers(page)}).rowcount


def _over_long_ago(connection: Connection, page: PurgePage, before: datetime) -> Sequence[int]:
    wanted = [row.Number for row in page.old]
    return connection.execute(_OVER_LONG_AGO, {"ids": wanted, "before": before}).scalars().all() if wanted else ()


def _numbers(page: PurgePage) -> list[IntakeId]:
    return [IntakeId(row.Number) for row in page.old]


REQUESTS = Aging("OperatorRequest", lambda rules: rules.requests, _REQUEST_PAGE, count_requests, delete_requests)
ACTS = Aging("AuditLog", lambda rules: rules.audit_log, _AUDIT_PAGE, count_acts, None)
AGING = (
    # Audit entries made by a request stay as long as the request does.
    REQUESTS,
    Aging("SchedulerLog", lambda rules: rules.scheduler_log, _LOG_PAGE, count_log, delete_log),
    ACTS,
    Aging("FileProcess", lambda rules: rules.inbox, _INBOX_PAGE, count_inbox, delete_inbox),
    Aging("Incident", lambda rules: rules.incidents, _INCIDENT_PAGE, count_incidents, delete_incidents),
    Aging("KeptForecast", lambda rules: rules.forecasts, _FORECAST_PAGE, count_forecasts, delete_forecasts),
)
