"""`FileProcess`: what asks for work."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from hashlib import sha256
from itertools import groupby
from operator import attrgetter
from typing import Any

from sqlalchemy import CTE, Connection, Select, and_, bindparam, exists, func, not_, or_, select, text, update

from batchctl.domain.dead_ends import CORRECTED
from batchctl.domain.errors import Conflict
from batchctl.domain.rows import LARGEST_ID, BatchId, IntakeId, IntakeRow
from batchctl.domain.status import IntakeStatus
from batchctl.domain.text import NAME_LIMIT
from batchctl.domain.values import value
from batchctl.store.columns import readable, stamp
from batchctl.store.comparison import exactly, same_data
from batchctl.store.conditions import one_of
from batchctl.store.definitions.definitions import ENTITY
from batchctl.store.dialects import dialect_of
from batchctl.store.maintenance.audit_entries import ACCEPT, ROW_UPDATE, intake_target, target_of
from batchctl.store.record_reading import Reader
from batchctl.store.statements import PendingAnswer, RowInsert, RowSelect, RowUpdate, update_all
from batchctl.store.tables import (
    AWAITING_INTAKE,
    INBOX_INTAKE,
    OPEN_INSTANCE,
    READY_INTAKE,
    audit_log,
    batch_control,
    file_process,
    process_batch,
)

LOOKED_AT_ONCE = 1000
"""How many ready rows one statement looks at, however many there are, so that it keeps no other waiting."""


_f, _c, _b, _a = file_process.c, batch_control.c, process_batch.c, audit_log.c
intake_row = Reader(IntakeRow)
"""Makes a value of a row of `FileProcess`."""

_ADD = RowInsert(file_process)
LOAD = RowSelect(select(file_process).where(_f.FileProcess_id == bindparam("intake_id")))
_LOAD_LOCKED = RowSelect(
    select(file_process, _c.ProcessBatch_id)
    .join(batch_control, _c.FileProcess_id == _f.FileProcess_id, isouter=True)
    .where(_f.FileProcess_id == bindparam("intake_id"))
    .with_for_update(key_share=True, of=file_process)
)


_IS_READY = text(f"FileProcess.{READY_INTAKE}")


def _page(wanted: Select[Any]) -> Select[Any]:
    """Return the query of the next ready rows, by their number."""
    following = _f.FileProcess_id > bindparam("after")
    return wanted.where(_IS_READY, following).order_by(_f.FileProcess_id).limit(bindparam("most"))


def _page_back(wanted: Select[Any]) -> Select[Any]:
    """Return the query of the ready rows before one, the newest first."""
    earlier = _f.FileProcess_id < bindparam("before")
    return wanted.where(_IS_READY, earlier).order_by(_f.FileProcess_id.desc()).limit(bindparam("most"))


def _looking(looked: CTE, *, back: bool = False) -> RowSelect:
    """Return the query of what is missing of some rows."""
    of_looked = looked.c
    taken = select(_c.BatchControl_id).where(
        _c.FileProcess_id == of_looked.FileProcess_id, _c.ProcessBatch_id == _b.ProcessBatch_id
    )
    lacking = (
        select(file_process, _b.ProcessBatch_id, _b.Seq)
        .select_from(looked)
        .join(process_batch, exactly(ENTITY, of_looked.Entity), isouter=True)
        .join(file_process, _f.FileProcess_id == of_looked.FileProcess_id)
        # As a value it is looked up for each row; for NOT EXISTS, PostgreSQL would rather read all instances there are.
        .where(or_(_b.ProcessBatch_id.is_(None), taken.scalar_subquery().is_(None)))
        .subquery("lacking")
    )
    reach = (func.min if back else func.max)(of_looked.FileProcess_id)
    seen = select(reach.label("UpTo"), func.count().label("Looked")).select_from(looked).subquery()
    by_number = lacking.c.FileProcess_id
    return RowSelect(
        # One row comes in any case, and shows how far the look reaches.
        select(seen.c.UpTo, seen.c.Looked, *(each for each in lacking.c if each.name != "Seq"))
        .select_from(seen)
        .join(lacking, text("1 = 1"), isouter=True)
        .order_by(by_number.desc() if back else by_number, lacking.c.Seq, lacking.c.ProcessBatch_id)
    )


_NEWER = RowSelect(_page(select(file_process)))
_OF_ENTITY = exactly(_f.Entity, bindparam("entity", type_=_f.Entity.type))
_LOOK_ON = _looking(
    _page(select(_f.FileProcess_id, _f.Entity)).where(_OF_ENTITY, _f.FileProcess_id <= bindparam("until")).cte("looked")
)
_LOOK = _looking(_page(select(_f.FileProcess_id, _f.Entity)).cte("looked"))
_LOOK_BACK = _looking(_page_back(select(_f.FileProcess_id, _f.Entity)).cte("looked"), back=True)
_HAS_NO_INSTANCE = and_(
    _f.Status == IntakeStatus.READY.value, _OF_ENTITY, not_(exists().where(_c.FileProcess_id == _f.FileProcess_id))
)
_COUNT_OF_ENTITY = select(func.count()).select_from(file_process).where(_HAS_NO_INSTANCE)
_HOLD = (
    update(file_process)
    .where(_HAS_NO_INSTANCE)
    .values(Status=IntakeStatus.PAUSED.value, Message=bindparam("reason"), z_updated=stamp(_f.z_updated))
)
UNTAKEN = RowSelect(_page(select(file_process).where(not_(exists().where(exactly(ENTITY, _f.Entity))))))
_same = file_process.alias("same")
_IS_ACCEPTED = exists().where(_a.Target == bindparam("target"), _a.Action == ACCEPT)
_FIRST = select(func.min(_same.c.FileProcess_id)).where(
    not_(_IS_ACCEPTED),
    exactly(_same.c.Entity, bindparam("entity", type_=_f.Entity.type)),
    same_data(_same.c.Data, bindparam("data", type_=_f.Data.type)),
    _same.c.FileProcess_id != bindparam("intake_id"),
    or_(
        and_(
            _same.c.FileProcess_id < bindparam("intake_id"),
            _same.c.Status.in_([IntakeStatus.READY.value, IntakeStatus.PAUSED.value]),
        ),
        exists().where(_c.FileProcess_id == _same.c.FileProcess_id, _c.ProcessBatch_id == bindparam("batch_id")),
    ),
)
_SET_STATUS = (
    update(file_process)
    .where(_f.FileProcess_id == bindparam("intake_id"), _f.Status == bindparam("found"))
    .values(Status=bindparam("status"), Message=bindparam("reason"), z_updated=stamp(_f.z_updated))
)
_SAY = (
    update(file_process)
    .where(_f.FileProcess_id == bindparam("intake_id"), _f.Status == IntakeStatus.READY.value)
    .values(Message=bindparam("reason"), z_updated=stamp(_f.z_updated))
)
_AWAITING = RowSelect(
    select(file_process)
    .where(text(f"FileProcess.{AWAITING_INTAKE}"), _f.Status == IntakeStatus.READY.value)
    .order_by(_f.FileProcess_id)
    .limit(bindparam("most"))
)
_AWAIT = (
    update(file_process)
    .where(_f.FileProcess_id == bindparam("intake_id"), _f.Status == IntakeStatus.READY.value)
    .values(PopulatorTries=bindparam("tries"), z_updated=stamp(_f.z_updated))
)
_UNFINISHED = exists().where(_c.FileProcess_id == _f.FileProcess_id, one_of("BatchControl.Status", OPEN_INSTANCE))
_COMPLETE = RowUpdate(
    file_process,
    _f.FileProcess_id == bindparam("intake_id"),
    _f.Status == IntakeStatus.READY.value,
    # What awaits a populator's answer may get an instance still.
    _f.PopulatorTries.is_(None),
    not_(_UNFINISHED),
    is_kept_apart=True,
)
_REOPEN = (
    update(file_process)
    .where(_f.FileProcess_id == bindparam("intake_id"), _f.Status == IntakeStatus.COMPLETE.value)
    .values(Status=IntakeStatus.READY.value, z_updated=stamp(_f.z_updated))
)
_SET_ASIDE = (
    select(file_process)
    .where(
        one_of("FileProcess.Status", INBOX_INTAKE),
        _f.FileProcess_id < bindparam("before"),
        _f.Status.in_(bindparam("statuses", expanding=True)),
    )
    .order_by(_f.FileProcess_id.desc())
    .limit(bindparam("most"))
)
NOT_TAKEN_IN = RowSelect(
    select(file_process)
    .where(one_of("FileProcess.Status", INBOX_INTAKE))
    .order_by(_f.FileProcess_id.desc())
    .limit(bindparam("most"))
)
_CORRECTED = select(_f.FileProcess_id).where(
    _f.FileProcess_id.in_(bindparam("intake_ids", expanding=True)),
    exists().where(
        _a.Target == target_of(_f.FileProcess_id),
        _a.Action == ROW_UPDATE,
        _a.z_inserted >= _f.z_updated,
        _a.ValuesAfter.not_like('{"Status":%'),
    ),
)
_NOT_TAKEN_IN = (IntakeStatus.PAUSED, IntakeStatus.REJECTED, IntakeStatus.DUPLICATE)


def add(
    connection: Connection,
    *,
    entity: str,
    file_name: str | None = None,
    data: str | None = None,
    cycle_key: str | None = None,
    source: str,
    message: str | None = None,
) -> IntakeId:
    """Insert an intake row."""
    values = {"Entity": entity, "FileName": file_name, "Data": data, "CycleKey": cycle_key}
    values["Source"] = source[:NAME_LIMIT]
    if message is not None:
        values["Message"] = message
    return IntakeId(_ADD(connection, values))


def add_all(connection: Connection, rows: Sequence[Mapping[str, object]]) -> list[IntakeId]:
    """Insert intake rows that fill the same columns; return their ids in the same order."""
    if not rows:
        return []
    values = [(*row.values(),) for row in rows]
    return [IntakeId(row_id) for row_id in _ADD.rows(connection, (*rows[0],), values).insert(connection)]


def load(connection: Connection, intake_id: IntakeId) -> IntakeRow | None:
    """Return one row."""
    return next(iter(readable(LOAD(connection, intake_id=intake_id), intake_row)), None)


def lock(connection: Connection, intake_id: IntakeId) -> None:
    """Keep others from deciding meanwhile whether a row is complete."""
    dialect_of(connection).lock_row(connection, "FileProcess", intake_id)


def load_locked(connection: Connection, intake_id: IntakeId) -> tuple[IntakeRow | None, frozenset[BatchId]]:
    """Return one row, locked until the end of the transaction, and the batches that have their instance of it."""
    return ask_locked(connection, intake_id).take()


def ask_locked(
    connection: Connection, intake_id: IntakeId
) -> PendingAnswer[tuple[IntakeRow | None, frozenset[BatchId]]]:
    """Ask for what `load_locked` returns."""
    asked = _LOAD_LOCKED.ask(connection, intake_id=intake_id)

    def answer() -> tuple[IntakeRow | None, frozenset[BatchId]]:
        rows = asked()
        have_theirs = frozenset(BatchId(row.ProcessBatch_id) for row in rows if row.ProcessBatch_id is not None)
        return next(iter(readable(rows[:1], intake_row)), None), have_theirs

    return PendingAnswer(answer)


def is_locked(connection: Connection, row: IntakeRow, batch_ids: Sequence[BatchId], *, compares: bool) -> bool:
    """Say whether another transaction keeps a row or one of its batches locked, as far as the database can tell.

    Where it `compares` with others of the same Data, also whether another is comparing at this moment: of two such rows
    the second must see what became of the first.
    """
    dialect = dialect_of(connection)
    if dialect.is_locked_intake(connection, row.intake_id, batch_ids):
        return True
    return compares and not dialect.lock_name(connection, sha256(repr((row.entity, row.data)).encode()).hexdigest())


@value
class RowWithoutInstances:
    """A ready row, if it can be read, and the batches that take it and have no instance of it yet; none if no batch takes it."""

    intake_id: IntakeId
    row: IntakeRow | None
    batch_ids: list[BatchId]


@value
class Looked:
    """What is missing of some ready rows that follow each other."""

    missing: list[RowWithoutInstances]
    rows: int
    """How many rows were looked at."""
    up_to: int
    """The last of them."""
    is_last: bool
    """True when no more rows follow."""


def look(connection: Connection, after: int = 0, most: int | None = None) -> Looked:
    """Look what is missing of the next ready rows behind `after`, in order of arrival."""
    most = most or LOOKED_AT_ONCE
    return _looked(_LOOK(connection, after=after, most=most), after, most)


def look_on(connection: Connection, entity: str, after: int, until: int, most: int) -> Looked:
    """Look what is missing of the next ready rows of one entity behind `after`, as far as `until`."""
    return _looked(_LOOK_ON(connection, entity=entity, after=after, until=until, most=most), after, most)


def look_back(connection: Connection, before: int = LARGEST_ID) -> Looked:
    """Look what is missing of the ready rows that came before one, the newest first."""
    return _looked(_LOOK_BACK(connection, before=before, most=LOOKED_AT_ONCE), before, LOOKED_AT_ONCE)


def _looked(found: list[Any], at: int, most: int) -> Looked:
    seen = found[0]
    pairs = [pair for pair in found if pair.FileProcess_id is not None]
    missing = [_missing(list(group)) for _, group in groupby(pairs, key=attrgetter("FileProcess_id"))]
    return Looked(missing, seen.Looked, at if seen.UpTo is None else seen.UpTo, seen.Looked < most)


def newer(connection: Connection, after: int) -> list[IntakeRow]:
    """Return the next ready rows behind `after`, in order of arrival, whatever there is of them already."""
    return readable(_NEWER(connection, after=after, most=LOOKED_AT_ONCE), intake_row)


def all_missing(connection: Connection) -> Iterator[RowWithoutInstances]:
    """Return what is missing of all ready rows, in order of arrival."""
    after, is_last = 0, False
    while not is_last:
        found = look(connection, after)
        yield from found.missing
        after, is_last = found.up_to, found.is_last


def _missing(pairs: list[Any]) -> RowWithoutInstances:
    row = next(iter(readable(pairs[:1], intake_row)), None)
    takers = [BatchId(pair.ProcessBatch_id) for pair in pairs if pair.ProcessBatch_id is not None]
    return RowWithoutInstances(IntakeId(pairs[0].FileProcess_id), row, takers)


def awaiting(connection: Connection, most: int) -> list[IntakeRow]:
    """Return rows of which a populator's answer is awaited, in order of arrival."""
    return readable(_AWAITING(connection, most=most), intake_row)


def untaken(connection: Connection, after: int, most: int) -> list[IntakeRow]:
    """Return ready rows behind `after` whose entity no batch takes, in order of arrival."""
    return readable(UNTAKEN(connection, after=after, most=most), intake_row)


def first_with_same_data(connection: Connection, row: IntakeRow, batch_id: BatchId) -> IntakeId | None:
    """Return the row this one repeats for a batch: same entity and Data, taken in before or waiting before it.

    A row that a person has accepted repeats none: it is there on purpose, and the audit log says so.
    """
    if row.data is None:
        return None
    same = {"entity": row.entity, "data": row.data, "intake_id": row.intake_id, "batch_id": batch_id}
    first: int | None = connection.execute(_FIRST, {**same, "target": intake_target(row.intake_id)}).scalar_one()
    return None if first is None else IntakeId(first)


def set_status(connection: Connection, row: IntakeRow, status: IntakeStatus, reason: str | None, now: datetime) -> bool:
    """Move a row out of the status it was read in; false when it is no longer in it."""
    values = {
        "intake_id": row.intake_id,
        "found": row.status.value,
        "status": status.value,
        "reason": reason,
        "now": now,
    }
    return connection.execute(_SET_STATUS, values).rowcount == 1


def say(connection: Connection, intake_id: IntakeId, reason: str | None, now: datetime) -> None:
    """Write a message on a ready row."""
    connection.execute(_SAY, {"intake_id": intake_id, "reason": reason, "now": now})


def count_without_instance(connection: Connection, entity: str) -> int:
    """Return how many ready rows of an entity have no instance."""
    return int(connection.execute(_COUNT_OF_ENTITY, {"entity": entity}).scalar_one())


def hold_without_instance(connection: Connection, entity: str, reason: str, now: datetime) -> None:
    """Pause the ready rows of an entity that have no instance."""
    connection.execute(_HOLD, {"entity": entity, "reason": reason, "now": now})


def await_populator(connection: Connection, intake_id: IntakeId, tries: int, now: datetime) -> None:
    """Write how often a populator was asked about a ready row in vain; at 0 no answer is awaited any more."""
    connection.execute(_AWAIT, {"intake_id": intake_id, "tries": tries or None, "now": now})


def complete_if_done(connection: Connection, intake_id: IntakeId, now: datetime) -> None:
    """Complete a row once all its instances are done: complete or cancelled; see `complete_all_done`."""
    complete_all_done(connection, [intake_id], now)


def complete_all_done(connection: Connection, intake_ids: Sequence[IntakeId], now: datetime) -> None:
    """Complete rows whose instances are all done; raise `Conflict` while another transaction has locked any of them."""
    wanted = sorted(set(intake_ids))
    # Two that end the last instances of a row at the same moment must see each other, or neither would complete it.
    if len(dialect_of(connection).lock_rows(connection, "FileProcess", wanted)()) < len(wanted):
        message = f"Somebody else keeps one of the FileProcess rows {', '.join(map(str, wanted))} locked."
        raise Conflict(message)
    done = IntakeStatus.COMPLETE.value, now
    rows = [(("Status", "z_updated"), (*done, intake_id)) for intake_id in wanted]
    update_all(connection, _COMPLETE.rows(connection, ("intake_id",), rows))


def reopen(connection: Connection, intake_id: IntakeId, now: datetime) -> None:
    """Make a complete row ready again because one of its instances is run again."""
    connection.execute(_REOPEN, {"intake_id": intake_id, "now": now})


def not_taken_in(connection: Connection, most: int) -> Sequence[IntakeRow]:
    """Return the newest paused, rejected and duplicate rows."""
    return readable(NOT_TAKEN_IN(connection, most=most), intake_row)


def set_aside(
    connection: Connection,
    statuses: Sequence[IntakeStatus],
    before: int,
    most: int,
    entity: str | None = None,
    since: datetime | None = None,
) -> list[IntakeRow]:
    """Return paused, rejected and duplicate rows before one, the newest first."""
    wanted = _SET_ASIDE
    if entity is not None:
        wanted = wanted.where(exactly(_f.Entity, entity))
    if since is not None:
        wanted = wanted.where(_f.z_inserted >= since)
    given = {"statuses": [status.value for status in statuses], "before": before, "most": most}
    return readable(connection.execute(wanted, given), intake_row)


def with_corrections(connection: Connection, rows: Iterable[IntakeRow]) -> list[IntakeRow]:
    """Return rows; one that was corrected by hand since it was rejected gets a message that says so."""
    rows = list(rows)
    asked = [row.intake_id for row in rows if row.status is IntakeStatus.REJECTED and row.message]
    found = {*connection.execute(_CORRECTED, {"intake_ids": asked}).scalars()} if asked else set()
    return [replace(row, message=f"{row.message}{CORRECTED}") if row.intake_id in found else row for row in rows]


def to_correct_entity(intake_id: IntakeId) -> str:
    """Return the statement by which a person corrects the entity of a row, with dots to be filled in."""
    return f"UPDATE FileProcess SET Entity = ... WHERE FileProcess_id = {intake_id};"  # noqa: S608 - for a person to read
