"""What people look at: statements that only read, each with a limit where rows may be many."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    TextClause,
    bindparam,
    exists,
    func,
    literal_column,
    not_,
    or_,
    select,
    text,
    union_all,
)

from batchctl.domain.rows import (
    LARGEST_ID,
    BatchId,
    BatchInstance,
    HistoryEntry,
    InstanceId,
    InstancesWanted,
    IntakeId,
)
from batchctl.domain.status import InstanceStatus, IntakeStatus, word
from batchctl.domain.unreadable import UnreadableRow
from batchctl.store import unreadable_columns
from batchctl.store.columns import readable, unquoted
from batchctl.store.comparison import exactly, same_data
from batchctl.store.conditions import once_found, one_of
from batchctl.store.definitions.definitions import ENTITY
from batchctl.store.dialects import dialect_of
from batchctl.store.history import entry
from batchctl.store.instances import instance
from batchctl.store.statements import RowSelect
from batchctl.store.tables import (
    CLAIMED_INSTANCE,
    DEFINITIONS,
    IN_LINE_INSTANCE,
    INBOX_INTAKE,
    LIVE_ENTRY,
    OVER_INSTANCE,
    PAUSED_INSTANCE,
    READY_INTAKE,
    STANDING_INSTANCE,
    UNREADABLE,
    batch_control,
    batch_dependency,
    batch_process_history,
    file_process,
    metadata,
    process_batch,
)

_c, _f, _b, _h = batch_control.c, file_process.c, process_batch.c, batch_process_history.c
NEAR = 2_000
"""Of how many of the newest instances it is looked which have completed last."""
MOST_LISTED = 100
"""From how many lines on a database says no more of what breaks its constraints."""

_d, _upstream = batch_dependency.c, process_batch.alias(unquoted("Upstream")).c
_WHOLE = select(batch_control, _f.Entity, _f.FileName, _f.Source).join(file_process)

_COUNTED = select(_c.ProcessBatch_id, _c.Status, func.count().label("HowMany")).group_by(_c.ProcessBatch_id, _c.Status)
# Each part is counted in an index of its own, which is a hundredth of the table.
_COUNT_OPEN = [
    _COUNTED.where(one_of("BatchControl.Status", words))
    for words in (IN_LINE_INSTANCE, PAUSED_INSTANCE, CLAIMED_INSTANCE)
]
COUNT_OPEN_INSTANCES = RowSelect(union_all(*_COUNT_OPEN))
COUNT_INSTANCES = RowSelect(union_all(*_COUNT_OPEN, _COUNTED.where(one_of("BatchControl.Status", OVER_INSTANCE))))
_ALL, _NO_WORD = "*", "?"


def _count_intake(status: ColumnElement[Any], *where: ColumnElement[bool] | TextClause) -> Select[Any]:
    counted = (status.label("Status"), func.count().label("HowMany"))
    return select(*counted).select_from(file_process).where(*where)


_IS_NO_WORD = text(f"FileProcess.Status NOT IN {(*map(str, IntakeStatus),)}")
_COUNT_OPEN_INTAKE = (
    _count_intake(literal_column("'ready'"), text(f"FileProcess.{READY_INTAKE}")),
    _count_intake(_f.Status, one_of("FileProcess.Status", INBOX_INTAKE)).group_by(_f.Status),
)
COUNT_OPEN_INTAKE = RowSelect(union_all(*_COUNT_OPEN_INTAKE))
COUNT_INTAKE = RowSelect(
    union_all(
        *_COUNT_OPEN_INTAKE,
        _count_intake(literal_column(f"'{_ALL}'")),
        _count_intake(literal_column(f"'{_NO_WORD}'"), UNREADABLE[file_process], _IS_NO_WORD),
    )
)
"""What is complete is what is left of all: to find it would be to read all."""
COUNT_UNTAKEN = RowSelect(
    select(func.count().label("HowMany"))
    .select_from(file_process)
    .where(text(f"FileProcess.{READY_INTAKE}"), not_(exists().where(exactly(ENTITY, _f.Entity))))
)
_ITS_INSTANCE = select(func.min(_c.BatchControl_id)).where(_c.FileProcess_id == _f.FileProcess_id).scalar_subquery()
_ITS_OWN = (
    select(_c.BatchControl_id)
    .where(_c.FileProcess_id == _f.FileProcess_id, _c.ProcessBatch_id == _b.ProcessBatch_id)
    .scalar_subquery()
)
_earlier = file_process.alias("earlier").c
_REPEATS = exists().where(
    _b.DuplicateCheck == 1,
    exactly(_earlier.Entity, _f.Entity),
    same_data(_earlier.Data, _f.Data),
    _earlier.FileProcess_id < _f.FileProcess_id,
)
COUNT_NEW = RowSelect(
    select(_b.ProcessBatch_id, func.count().label("HowMany"))
    .select_from(file_process)
    .join(process_batch, exactly(ENTITY, _f.Entity))
    .where(text(f"FileProcess.{READY_INTAKE}"), _ITS_OWN.is_(None), or_(_ITS_INSTANCE.is_(None), not_(_REPEATS)))
    .group_by(_b.ProcessBatch_id)
)
LIVE_ENTRIES = RowSelect(
    select(batch_process_history)
    .where(text(f"BatchProcessHistory.{LIVE_ENTRY}"))
    .order_by(once_found(_h.BatchProcessHistory_id))
    .limit(bindparam("most"))
)
_CLAIMED_SINCE = RowSelect(
    select(_c.BatchControl_id, func.min(_h.StartTime).label("Since"))
    .join(batch_process_history, (_h.BatchControl_id == _c.BatchControl_id) & (_h.ClaimToken == _c.ClaimToken))
    .where(one_of("BatchControl.Status", CLAIMED_INSTANCE))
    .group_by(_c.BatchControl_id)
)
OPEN_IN = {
    InstanceStatus(status): RowSelect(
        _WHOLE.where(one_of("BatchControl.Status", words), _c.Status == status)
        .order_by(once_found(_c.BatchControl_id))
        .limit(bindparam("most"))
    )
    for words in (IN_LINE_INSTANCE, CLAIMED_INSTANCE, PAUSED_INSTANCE, STANDING_INSTANCE)
    for status in words
}
"""For each status, how the first of it are found in the smallest index that holds it, which is the last of these."""
_BY_STATUS = (
    select(_c.BatchControl_id, _c.ProcessBatch_id).where(_c.Status == bindparam("status")).order_by(_c.BatchControl_id)
)
_NEWEST = _WHOLE.order_by(_c.BatchControl_id.desc()).limit(bindparam("most"))
_IN_PARTS = [
    *((one_of("BatchControl.Status", words),) for words in (IN_LINE_INSTANCE, PAUSED_INSTANCE, CLAIMED_INSTANCE)),
    *((one_of("BatchControl.Status", OVER_INSTANCE), _c.Status == word) for word in OVER_INSTANCE),
]
"""The conditions by which each part of a batch's instances is found in an index, in the order of their numbers."""
NEWEST_IN_PARTS = union_all(
    *(
        select(
            select(_c.BatchControl_id)
            .where(_c.ProcessBatch_id == bindparam("batch_id"), _c.BatchControl_id < bindparam("before"), *conditions)
            .order_by(_c.BatchControl_id.desc())
            .limit(bindparam("most"))
            .subquery(f"Part{at}")
        )
        for at, conditions in enumerate(_IN_PARTS)
    )
).subquery("Newest")
"""The numbers of the newest instances of a batch before one, and as many of each part of them."""
_NEWEST_OF_BATCH = _NEWEST.where(_c.BatchControl_id.in_(select(NEWEST_IN_PARTS.c.BatchControl_id)))
_NEAR = select(_c.BatchControl_id).order_by(_c.BatchControl_id.desc()).limit(bindparam("near")).subquery("Near").c
LAST_COMPLETED = RowSelect(
    _WHOLE.join(_NEAR.BatchControl_id.table, _NEAR.BatchControl_id == _c.BatchControl_id)
    .where(_c.Status == InstanceStatus.COMPLETE.value)
    .order_by(_c.z_updated.desc(), _c.BatchControl_id.desc())
    .limit(bindparam("most"))
)
"""An index by z_updated would cost PostgreSQL a new entry of each index at every step, so the newest instances are looked at."""
_HOLD_UP = RowSelect(
    _WHOLE.where(
        _c.ProcessBatch_id == bindparam("batch_id"),
        one_of("BatchControl.Status", IN_LINE_INSTANCE),
        or_(one_of("BatchControl.Status", ("retry", "failed", "held")), _c.NextRunTime > bindparam("now")),
    )
    .order_by(_c.BatchControl_id)
    .limit(bindparam("most"))
)
_OF_INTAKE = _WHOLE.where(_c.FileProcess_id == bindparam("intake_id")).order_by(_c.BatchControl_id)
_ORPHANS = (
    select(_c.BatchControl_id, _c.ProcessBatch_id, _c.FileProcess_id, _b.ProcessBatchName)
    .join(process_batch, isouter=True)
    .join(file_process, isouter=True)
    .where(or_(_b.ProcessBatch_id.is_(None), _f.FileProcess_id.is_(None)))
    .order_by(_c.BatchControl_id)
    .limit(bindparam("most"))
)
_IDLE_DEPENDENCIES = (
    select(_d.BatchDependency_id, _d.ProcessBatch_id, _d.DependsOnBatch_id, _b.ProcessBatch_id.label("Dependent"))
    .join_from(batch_dependency, process_batch, _b.ProcessBatch_id == _d.ProcessBatch_id, isouter=True)
    .join(_upstream.ProcessBatch_id.table, _upstream.ProcessBatch_id == _d.DependsOnBatch_id, isouter=True)
    .where(or_(_b.ProcessBatch_id.is_(None), _upstream.ProcessBatch_id.is_(None)))
    .order_by(_d.BatchDependency_id)
    .limit(bindparam("most"))
)


@dataclass(frozen=True, slots=True)
class Orphan:
    """A `BatchControl` row whose batch or intake row does not exist."""

    instance_id: InstanceId
    batch_id: int
    intake_id: int
    lacks_batch: bool


def count_instances(
    connection: Connection, *, with_over: bool = True
) -> tuple[dict[BatchId, dict[InstanceStatus, int]], list[UnreadableRow]]:
    """Return how many instances each batch has in each status, also of those over if wanted, and the first unreadable ones."""
    rows = (COUNT_INSTANCES if with_over else COUNT_OPEN_INSTANCES)(connection)
    known = readable(rows, lambda row: (row[0], word(InstanceStatus, row[1]), row[2]))
    counts: dict[BatchId, dict[InstanceStatus, int]] = {}
    for batch_id, status, many in known:
        of_batch = counts.setdefault(batch_id, {})
        of_batch[status] = of_batch.get(status, 0) + many
    return counts, unreadable_columns.of_work(connection, batch_control)


def count_intake(
    connection: Connection, *, with_over: bool = True
) -> tuple[dict[IntakeStatus, int], list[UnreadableRow]]:
    """Return how many intake rows there are in each status, also of those over if wanted, and the first unreadable ones."""
    counted = {row.Status: int(row.HowMany) for row in (COUNT_INTAKE if with_over else COUNT_OPEN_INTAKE)(connection)}
    if with_over:
        counted["complete"] = counted.pop(_ALL) - sum(counted.values())
        del counted[_NO_WORD]
    known = {status: counted[status] for status in IntakeStatus if counted.get(status)}
    return known, unreadable_columns.of_work(connection, file_process)


def unreadable_intake(connection: Connection) -> list[UnreadableRow]:
    """Return the first intake rows that cannot be read; an index of these is read."""
    return unreadable_columns.of_work(connection, file_process)


def unreadable_work(connection: Connection, most: int) -> list[UnreadableRow]:
    """Return the first unreadable rows of each table of work; few rows are read to find them."""
    return [row for table in UNREADABLE for row in unreadable_columns.of_work(connection, table, most)]


def count_untaken(connection: Connection) -> int:
    """Return how many ready intake rows have an entity that no batch takes."""
    return sum(int(row.HowMany) for row in COUNT_UNTAKEN(connection))


def count_new(connection: Connection) -> dict[BatchId, int]:
    """Return of each batch how many ready intake rows it has no instance of yet.

    What another batch has taken already may be a duplicate to this one, which waits for no instance; it is not counted.
    """
    return dict(COUNT_NEW(connection))


def live_entries(connection: Connection, most: int) -> list[HistoryEntry]:
    """Return the attempts under way, oldest first."""
    return readable(LIVE_ENTRIES(connection, most=most), entry)


def claimed_since(connection: Connection) -> dict[InstanceId, datetime]:
    """Return since when instances are under way: the beginning of the first step since they were claimed."""
    return dict(_CLAIMED_SINCE(connection))


def open_in(connection: Connection, statuses: Sequence[InstanceStatus], most: int) -> list[BatchInstance]:
    """Return open instances in some statuses, oldest first."""
    found = [one for status in statuses for one in readable(OPEN_IN[status](connection, most=most), instance)]
    return sorted(found, key=lambda one: one.instance_id)[:most]


def in_status(
    connection: Connection,
    status: InstanceStatus,
    *,
    batch_id: BatchId | None,
    since: datetime | None,
    most: int | None = None,
) -> list[tuple[InstanceId, BatchId]]:
    """Return the instances in a status, of one batch or any, that were last written then or later, and their batches."""
    wanted, values = _BY_STATUS, dict[str, object](status=status.value)
    if batch_id is not None:
        wanted, values = wanted.where(_c.ProcessBatch_id == bindparam("batch_id")), {**values, "batch_id": batch_id}
    if since is not None:
        wanted, values = wanted.where(_c.z_updated >= bindparam("since")), {**values, "since": since}
    if most is not None:
        wanted, values = wanted.limit(bindparam("most")), {**values, "most": most}
    rows = connection.execute(wanted, values)
    return [(instance_id, its_batch) for instance_id, its_batch in rows]


def newest(connection: Connection, wanted: InstancesWanted, batch_id: BatchId | None, most: int) -> list[BatchInstance]:
    """Return the newest instances that fit, newest first."""
    if batch_id is not None and wanted.status is None:
        before = LARGEST_ID if wanted.before is None else wanted.before
        return _instances(connection, _NEWEST_OF_BATCH, batch_id=batch_id, before=before, most=most)
    statement, values = _NEWEST, dict[str, object](most=most)
    if wanted.before is not None:
        statement, values["before"] = statement.where(_c.BatchControl_id < bindparam("before")), wanted.before
    if batch_id is not None:
        statement, values["batch_id"] = statement.where(_c.ProcessBatch_id == bindparam("batch_id")), batch_id
    if wanted.status is not None:
        statement, values["status"] = statement.where(_c.Status == bindparam("status")), wanted.status.value
    return _instances(connection, statement, **values)


def last_completed(connection: Connection, most: int) -> list[tuple[BatchInstance, datetime]]:
    """Return those of the newest instances that have completed last, with the moment."""
    return readable(LAST_COMPLETED(connection, most=most, near=NEAR), lambda row: (instance(row), row.z_updated))


def may_hold_up(connection: Connection, batch_id: BatchId, now: datetime, most: int) -> list[BatchInstance]:
    """Return the first instances of a batch that stand failed or wait for a time, in order of creation."""
    return readable(_HOLD_UP(connection, batch_id=batch_id, now=now, most=most), instance)


def instances_of_intake(connection: Connection, intake_id: IntakeId) -> list[BatchInstance]:
    """Return the instances made of an intake row."""
    return _instances(connection, _OF_INTAKE, intake_id=intake_id)


def orphans(connection: Connection, most: int) -> list[Orphan]:
    """Return instances without batch or intake row (written with foreign keys switched off)."""
    return [
        Orphan(instance_id, batch_id, intake_id, batch is None)
        for instance_id, batch_id, intake_id, batch in connection.execute(_ORPHANS, {"most": most})
    ]


def idle_dependencies(connection: Connection, most: int) -> list[tuple[int, str, int]]:
    """Return dependencies of or on a batch that does not exist: the row, the column that names it, and what it says."""
    return [
        (row_id, "ProcessBatch_id", batch_id) if dependent is None else (row_id, "DependsOnBatch_id", depends_on)
        for row_id, batch_id, depends_on, dependent in connection.execute(_IDLE_DEPENDENCIES, {"most": most})
    ]


def _instances(connection: Connection, statement: Select[Any], **values: object) -> list[BatchInstance]:
    return readable(connection.execute(statement, values), instance)


def constraint_findings(connection: Connection, *, at_length: bool = False) -> tuple[list[UnreadableRow], list[str]]:
    """Return the first rows that break a constraint, and what else breaks any, or the database itself.

    All rows of work and of what people define are read to find them; on SQLite of those tables in which it has found some.
    """
    said = dialect_of(connection).constraint_findings(connection, at_length=at_length)
    failed = {f"CHECK constraint failed in {table.name}": table for table in metadata.sorted_tables}
    is_told = connection.dialect.name == "sqlite" and len(said) < MOST_LISTED
    rows = [
        row
        for line, table in failed.items()
        if line in said or (not is_told and (table in UNREADABLE or table.name in DEFINITIONS))
        for row in unreadable_columns.unfit(connection, table)
    ]
    many = Counter(row.table for row in rows)
    named = {line for line, table in failed.items() if 0 < many[str(table.name)] < unreadable_columns.MOST}
    return rows, [line for line in said if line not in named]
