"""What incidents are found by: the newest attempts, arrivals, starts and completions, and controllers' signs of life.

Rows are numbered roughly in the order in which they were made, so a binary search finds where a day begins.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, datetime
from typing import Annotated, Any

from sqlalchemy import ColumnElement, Connection, Table, and_, bindparam, exists, func, not_, or_, select, text

from batchctl.domain.alerting.expectations import Expected
from batchctl.domain.alerting.incident_causes import Gap, RecentAttempt
from batchctl.domain.alerting.incidents import InstanceUnderWay
from batchctl.domain.rows import BatchId, InstanceId
from batchctl.domain.status import ControllerStatus, HistoryStatus, InstanceStatus, IntakeStatus, word
from batchctl.domain.text import NAME_LIMIT
from batchctl.domain.values import value
from batchctl.store import controllers
from batchctl.store.columns import readable, unquoted
from batchctl.store.comparison import exactly
from batchctl.store.conditions import one_of
from batchctl.store.definitions.definitions import ENTITY
from batchctl.store.maintenance.audit_entries import ROW_UPDATE
from batchctl.store.record_reading import Reader
from batchctl.store.statements import RowSelect
from batchctl.store.tables import (
    ARMED,
    OVER_INSTANCE,
    READY_INTAKE,
    WAITING_INSTANCE,
    audit_log,
    batch_control,
    batch_process_history,
    file_process,
    process_batch,
    schedule,
)
from batchctl.store.unreadable_columns import NONSENSE

SLACK = 1000
"""How many ids before those of a day are looked at too: some rows are committed late."""
NEWEST_OVER = 500
"""How many of a batch's newest complete instances are looked at for when they were completed."""
NOT_BEGUN = InstanceStatus.READY.value, InstanceStatus.PAUSED.value, InstanceStatus.CANCELLED.value

_h, _c, _f, _b, _s = batch_process_history.c, batch_control.c, file_process.c, process_batch.c, schedule.c
_a = audit_log.c
_attempt, _expectation = Reader(RecentAttempt), Reader(Expected)
_DAY = exactly(_c.CycleKey, bindparam("on_day", type_=_c.CycleKey.type))
_OF_BATCH = _c.ProcessBatch_id == bindparam("batch_id")

_IN_SHORT = (
    select(_h.BatchProcessHistory_id, _h.ProcessBatch_id, _h.ProcessControlSeq, _h.ProcessName, _h.BatchControl_id)
    .add_columns(_h.Status, _h.StartTime, _h.EndTime, _h.NextRunTimeAfter)
    .order_by(_h.BatchProcessHistory_id.desc())
)
_ATTEMPTS = RowSelect(_IN_SHORT.limit(bindparam("most")))
_NEWEST_COMPLETE = (
    select(_c.BatchControl_id, _c.z_updated)
    .where(_OF_BATCH, _c.Status == InstanceStatus.COMPLETE.value, one_of("BatchControl.Status", OVER_INSTANCE))
    .order_by(_c.BatchControl_id.desc())
    .limit(bindparam("most"))
)
_LAST_RUNS = _NEWEST_COMPLETE.subquery(unquoted("LastRuns"))
_ATTEMPTS_OF = RowSelect(_IN_SHORT.join(_LAST_RUNS, _LAST_RUNS.c.BatchControl_id == _h.BatchControl_id))
_EXPECTATIONS = (
    select(_b.ProcessBatch_id, _b.ProcessBatchName, _b.Entity, _b.Enabled, _b.z_inserted)
    .add_columns(_b.ArriveBy, _b.StartBy, _b.FinishBy, _b.ExpectedOn, _b.ExpectedCalendar)
    .order_by(_b.ProcessBatch_id)
)
_EXPECTED = RowSelect(_EXPECTATIONS)
EXPECTED_OF = RowSelect(_EXPECTATIONS.where(_b.ProcessBatch_id == bindparam("batch_id")))
_CALENDARS = select(_s.CalendarName).where(_s.CalendarName.is_not(None), text(ARMED)).distinct()
_ARRIVED = RowSelect(
    select(_f.FileProcess_id)
    .where(
        _f.FileProcess_id >= bindparam("floor"),
        exactly(_f.Entity, bindparam("entity", type_=_f.Entity.type)),
        _f.z_inserted >= bindparam("since"),
        _f.Status != IntakeStatus.DUPLICATE.value,
    )
    .order_by(_f.FileProcess_id)
    .limit(bindparam("most"))
)
_STARTED = RowSelect(
    select(_h.BatchProcessHistory_id)
    .where(
        _h.BatchProcessHistory_id >= bindparam("floor"),
        _h.ProcessBatch_id == bindparam("batch_id"),
        _h.StartTime >= bindparam("since"),
        _h.Status != HistoryStatus.SKIPPED.value,
    )
    .order_by(_h.BatchProcessHistory_id)
    .limit(bindparam("most"))
)
_OF_DAY = RowSelect(
    select(_c.BatchControl_id).where(_OF_BATCH, _DAY).order_by(_c.BatchControl_id).limit(bindparam("most"))
)
_BEGUN_OF_DAY = RowSelect(
    select(_c.BatchControl_id)
    .where(_OF_BATCH, _DAY, or_(_c.PrevProcessControlSeq > 0, and_(*(_c.Status != each for each in NOT_BEGUN))))
    .order_by(_c.BatchControl_id)
    .limit(bindparam("most"))
)
_COMPLETE_OF_DAY = RowSelect(
    select(_c.BatchControl_id)
    .where(_OF_BATCH, _DAY, _c.Status == InstanceStatus.COMPLETE.value)
    .order_by(_c.BatchControl_id)
    .limit(bindparam("most"))
)
_COMPLETED = RowSelect(_NEWEST_COMPLETE)
_PAGE = RowSelect(
    select(_f.FileProcess_id, _f.Entity, _f.Source, _f.z_inserted)
    .where(_f.FileProcess_id > bindparam("after"), _f.Status != IntakeStatus.DUPLICATE.value)
    .order_by(_f.FileProcess_id)
    .limit(bindparam("most"))
)
_CHANGES = RowSelect(
    select(_a.ValuesBefore, _a.ValuesAfter)
    .where(_a.Target == bindparam("target"), _a.Action == bindparam("action"), _a.z_inserted > bindparam("since"))
    .order_by(_a.AuditLog_id.desc())
    .limit(bindparam("most"))
)
_OLDEST_READY = RowSelect(
    select(_f.z_inserted)
    .where(
        text(f"FileProcess.{READY_INTAKE}"),
        exists().where(exactly(ENTITY, _f.Entity)),
        # A row whose instance failed is ready, too, until somebody acts on it.
        not_(exists().where(_c.FileProcess_id == _f.FileProcess_id)),
    )
    .order_by(_f.FileProcess_id)
    .limit(bindparam("most"))
)
_OLDEST_WAITING = select(func.min(_c.z_updated)).where(
    one_of("BatchControl.Status", WAITING_INSTANCE),
    _c.NextRunTime <= bindparam("now"),
    _c.ProcessBatch_id.in_(select(_b.ProcessBatch_id).where(_b.Enabled == 1)),
)
_STAND = RowSelect(
    select(_c.BatchControl_id, _c.Status, _c.PrevProcessControlSeq).where(
        _c.BatchControl_id == bindparam("instance_id")
    )
)


@value
class Arrived:
    """A `FileProcess` row, with what shows when such rows arrive."""

    intake_id: int
    entity: str
    source: str | None
    at: Annotated[datetime, "z_inserted"]


_arrived = Reader(Arrived)


def attempts(connection: Connection, most: int) -> list[RecentAttempt]:
    """Return the newest attempts, newest first."""
    return readable(_ATTEMPTS(connection, most=most), _attempt)


def attempts_of(connection: Connection, batch_id: BatchId, runs: int) -> list[RecentAttempt]:
    """Return the attempts of the last instances of a batch that are complete, newest first."""
    return readable(_ATTEMPTS_OF(connection, batch_id=batch_id, most=runs), _attempt)


def expected(connection: Connection) -> list[Expected]:
    """Return when the work of each batch is expected."""
    return readable(_EXPECTED(connection), _expected)


def expected_of(connection: Connection, batch_id: BatchId) -> list[Expected]:
    """Return when the work of a batch is expected."""
    return readable(EXPECTED_OF(connection, batch_id=batch_id), _expected)


def calendars_in_use(connection: Connection) -> set[str]:
    """Name the calendars that schedules go by."""
    return {str(name) for name in connection.execute(_CALENDARS).scalars()}


def arrived(connection: Connection, floor: int, entity: str, batch_id: BatchId, since: datetime, day: date) -> bool:
    """Say whether a row of an entity has come since a moment, from id `floor` on, or an instance of that day exists."""
    if _ARRIVED(connection, floor=floor, entity=entity, since=since, most=1):
        return True
    return bool(_OF_DAY(connection, batch_id=batch_id, on_day=day.isoformat(), most=1))


def started(connection: Connection, floor: int, batch_id: BatchId, since: datetime, day: date) -> bool:
    """Say whether an attempt of a batch has begun since a moment, from id `floor` on, or its instance of that day."""
    if _STARTED(connection, floor=floor, batch_id=batch_id, since=since, most=1):
        return True
    return bool(_BEGUN_OF_DAY(connection, batch_id=batch_id, on_day=day.isoformat(), most=1))


def finished(connection: Connection, batch_id: BatchId, since: datetime, day: date) -> bool:
    """Say whether an instance of a batch has completed since a moment, or its instance of that day has."""
    newest = _COMPLETED(connection, batch_id=batch_id, most=NEWEST_OVER)
    if any(row.z_updated >= since for row in newest):
        return True
    return bool(_COMPLETE_OF_DAY(connection, batch_id=batch_id, on_day=day.isoformat(), most=1))


def changes(connection: Connection, batch: str, since: datetime, most: int) -> list[tuple[str | None, str | None]]:
    """Return the changes of a batch's row since a moment, newest first: its columns before and after each."""
    return _CHANGES(connection, target=f"ProcessBatch:{batch}"[:NAME_LIMIT], action=ROW_UPDATE, since=since, most=most)


def arrivals(connection: Connection, after: int, most: int) -> list[Arrived]:
    """Return the `FileProcess` rows that follow one, but for duplicates: these are no arrivals."""
    return readable(_PAGE(connection, after=after, most=most), _arrived)


def first_arrival_since(connection: Connection, since: datetime) -> int:
    """Return a number before which no `FileProcess` row came since a moment."""
    return _first_since(connection, file_process, _f.z_inserted, since)


def first_attempt_since(connection: Connection, since: datetime) -> int:
    """Return a number before which no attempt was begun since a moment."""
    return _first_since(connection, batch_process_history, _h.StartTime, since)


def first_act_since(connection: Connection, since: datetime) -> int:
    """Return a number before which nothing was written into the audit log since a moment."""
    return _first_since(connection, audit_log, _a.z_inserted, since)


def _first_since(connection: Connection, table: Table, made: ColumnElement[datetime], since: datetime) -> int:
    """Return a number of a table before which no row was made since a moment."""
    (key,) = table.primary_key
    low, high = connection.execute(select(func.min(key), func.max(key))).one()
    if low is None:
        return 0
    first = int(low)
    low, high = first, int(high) + 1
    at_or_behind = select(made).where(key >= bindparam("at")).order_by(key).limit(1)
    while low < high:
        middle = (low + high) // 2
        found = connection.execute(at_or_behind, {"at": middle}).scalar()
        if found is None or found >= since:
            high = middle
        else:
            low = middle + 1
    return max(low - SLACK, 0)


def works(connection: Connection, since: datetime) -> bool:
    """Say whether any controller has given a sign of life since a moment, and has not ended."""
    found = controllers.everyone(connection)
    return any(row.status is ControllerStatus.RUNNING and row.heartbeat >= since for row in found)


def ready_since(connection: Connection) -> datetime | None:
    """Return since when the first row waits that a batch takes and that has no instance."""
    return next((row.z_inserted for row in _OLDEST_READY(connection, most=1)), None)


def gap(connection: Connection, now: datetime, besides: str | None) -> Gap:
    """Return since when no controller but `besides` gave a sign of life, and since when work waits for one."""
    beats = [row.heartbeat for row in controllers.everyone(connection) if row.name != besides]
    oldest = ready_since(connection)
    ready = [] if oldest is None else [oldest]
    waiting = connection.execute(_OLDEST_WAITING, {"now": now}).scalar()
    since = min([*ready, *([] if waiting is None else [waiting])], default=None)
    return Gap(since=max(beats, default=None), waiting_since=since)


def under_way(connection: Connection, instance_ids: Iterable[InstanceId]) -> dict[InstanceId, InstanceUnderWay]:
    """Return the status and the last completed step of instances."""
    found = {}
    for each in dict.fromkeys(instance_ids):
        for row in _STAND(connection, instance_id=each):
            found[each] = _under_way(row)
    return found


def _under_way(row: Any) -> InstanceUnderWay:
    try:
        return InstanceUnderWay(word(InstanceStatus, row.Status), int(row.PrevProcessControlSeq))
    except NONSENSE:
        # No program acts on an unreadable row, so its instance counts as held: it is not over.
        return InstanceUnderWay(InstanceStatus.HELD, last_seq=0)


def _expected(row: Any) -> Expected:
    return _expectation(row, entity=row.Entity or row.ProcessBatchName)
