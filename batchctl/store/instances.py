"""`BatchControl`: the instances, and the only place their status is written."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from datetime import datetime
from functools import cache
from operator import attrgetter
from typing import Any, cast

from sqlalchemy import ColumnElement, Connection, TextClause, bindparam, exists, func, select, text

from batchctl.domain.locked_rows import TO_END_IT
from batchctl.domain.rows import BatchDefinition, BatchId, BatchInstance, InstanceId, IntakeRow, Populated
from batchctl.store.columns import readable, unquoted
from batchctl.store.comparison import exactly
from batchctl.store.conditions import once_found, one_of
from batchctl.store.definitions import batch_versions
from batchctl.store.dialects import dialect_of
from batchctl.store.record_reading import Reader
from batchctl.store.statements import (
    Names,
    PendingAnswer,
    RowInsert,
    RowSelect,
    RowUpdate,
    StatementRows,
    Values,
    update_all,
)
from batchctl.store.tables import (
    AT_ONCE,
    CLAIMED_INSTANCE,
    IN_LINE_INSTANCE,
    LATER,
    PAUSED_INSTANCE,
    STANDING_INSTANCE,
    WAITING_INSTANCE,
    batch_control,
    file_process,
    process_batch,
    process_control,
)

_c, _f = batch_control.c, file_process.c
instance = Reader(BatchInstance)
"""Makes a value of a row of `BatchControl` joined with its `FileProcess` row."""
_IN_LINE = one_of("BatchControl.Status", IN_LINE_INSTANCE)
_STEPLESS = select(process_batch.c.ProcessBatch_id).where(
    process_batch.c.Enabled == 1,
    ~exists().where(process_control.c.ProcessBatch_id == process_batch.c.ProcessBatch_id),
    exists().where(_c.ProcessBatch_id == process_batch.c.ProcessBatch_id, _IN_LINE),
)
_IS_CLAIMED = one_of("BatchControl.Status", CLAIMED_INSTANCE)
_IS_PAUSED = one_of("BatchControl.Status", PAUSED_INSTANCE)
_WAITS = one_of("BatchControl.Status", WAITING_INSTANCE)
_LATER = text(f"BatchControl.{LATER}")

_ADD = RowInsert(batch_control)
_OWN = [each for each in _c if each.name != "z_inserted"]
_WHOLE = select(*_OWN, _f.Entity, _f.FileName, _f.Source).join(file_process)
LOAD = RowSelect(_WHOLE.where(_c.BatchControl_id == bindparam("instance_id")))


_OF_BATCH = _WHOLE.where(_c.ProcessBatch_id == bindparam("batch_id")).order_by(_c.BatchControl_id.desc())
_NEWEST_OF_BATCH = _OF_BATCH.limit(bindparam("most"))
_OF_CYCLE = exactly(_c.CycleKey, bindparam("cycle_key", type_=_c.CycleKey.type))
_NEWEST, _NEWEST_KEYLESS = (RowSelect(_NEWEST_OF_BATCH.where(each)) for each in (_OF_CYCLE, _c.CycleKey.is_(None)))


def _page(*conditions: ColumnElement[bool] | TextClause) -> RowSelect:
    """Return the query of a batch's next instances in order of creation, of those that an index holds."""
    behind = _c.ProcessBatch_id == bindparam("batch_id"), _c.BatchControl_id > bindparam("after")
    return RowSelect(_WHOLE.where(*behind, *conditions).order_by(_c.BatchControl_id).limit(bindparam("most")))


def _among_the_next(condition: ColumnElement[bool]) -> RowSelect:
    """Return the query of a page of due instances, for which only the next `among` that fulfil a condition are read."""
    behind = _c.ProcessBatch_id == bindparam("batch_id"), _c.BatchControl_id > bindparam("after")
    line = select(*_OWN).where(*behind, condition).order_by(_c.BatchControl_id).limit(bindparam("among"))
    near = line.subquery(unquoted("Near")).c
    whole = select(*near, _f.Entity, _f.FileName, _f.Source).join(
        file_process, near.FileProcess_id == _f.FileProcess_id
    )
    due = one_of("Near.Status", WAITING_INSTANCE), near.NextRunTime <= bindparam("now")
    return RowSelect(whole.where(*due).order_by(near.BatchControl_id).limit(bindparam("most")))


_OPEN_OF = _page(_IN_LINE), _page(_IS_CLAIMED), _page(_IS_PAUSED)
_IN_LINE_OF = _page(_IN_LINE)
_AT_ONCE_OF = _page(_WAITS, text(f"BatchControl.{AT_ONCE}"))
_DUE_OF = _page(_IN_LINE, _WAITS, _c.NextRunTime <= bindparam("now"))
_NEAR_OF = _among_the_next(_IN_LINE)
_DEFERRED_OF = RowSelect(
    select(_c.BatchControl_id)
    .where(_c.ProcessBatch_id == bindparam("batch_id"), _WAITS, _LATER, _c.NextRunTime <= bindparam("now"))
    .order_by(_c.NextRunTime)
    .limit(bindparam("most"))
)
MOST_LOADED = 256
"""How many instances are loaded by their numbers at once at most; SQL Server takes 2100 parameters."""
CLAIMED = RowSelect(_WHOLE.where(_IS_CLAIMED).order_by(once_found(_c.BatchControl_id)))
_STANDING = RowSelect(_WHOLE.where(one_of("BatchControl.Status", STANDING_INSTANCE)).order_by(_c.BatchControl_id))
_NEXT_DUE = RowSelect(
    select(func.min(_c.NextRunTime).label("Next")).where(_WAITS, _LATER, _c.NextRunTime > bindparam("now"))
)
_AS_IT_WAS_READ = (
    _c.BatchControl_id == bindparam("instance_id"),
    _c.Status == bindparam("found"),
    _c.ClaimToken == bindparam("token"),
    _c.PrevProcessControlSeq == bindparam("found_seq"),
    _c.RetryCount == bindparam("found_retries"),
)
_FOUND = "instance_id", "found", "token", "found_seq", "found_retries"
_FOUND_DUE = *_FOUND, "now"
_MOVE = RowUpdate(batch_control, *_AS_IT_WAS_READ, is_kept_apart=True)
_CLAIM = RowUpdate(batch_control, *_AS_IT_WAS_READ, _c.NextRunTime <= bindparam("now"), is_kept_apart=True)


def add(
    connection: Connection, row: IntakeRow, batch: BatchDefinition, populated: Populated, cycle_key: str
) -> InstanceId:
    """Create the instance of an intake row for a batch; the unique constraint makes it the only one."""
    return ask_to_add(connection, row, batch, populated, cycle_key).take()


def ask_to_add(
    connection: Connection, row: IntakeRow, batch: BatchDefinition, populated: Populated, cycle_key: str
) -> PendingAnswer[InstanceId]:
    """Create an instance as `add` does, at the latest when its id is taken."""
    values: dict[str, object] = {
        "ProcessBatch_id": batch.batch_id,
        "FileProcess_id": row.intake_id,
        "RetryCount": batch.retries_after(0),
        "CycleKey": cycle_key,
        "DefVersion": batch.version or batch_versions.number(connection, batch.batch_id),
    }
    if (pool := batch.next_pool(0)) is not None:
        values["NextPool"] = pool
    values |= {f"Data{at}": value for at, value in enumerate(populated.data, start=1)}
    made = _ADD.ask(connection, values)
    return PendingAnswer(lambda: InstanceId(made()))


def load(connection: Connection, instance_id: InstanceId) -> BatchInstance | None:
    """Return one instance."""
    return next(iter(readable(LOAD(connection, instance_id=instance_id), instance)), None)


def newest(connection: Connection, batch_id: BatchId, cycle_key: str | None) -> BatchInstance | None:
    """Return the newest instance of a batch for a CycleKey."""
    if cycle_key is None:
        found = _NEWEST_KEYLESS(connection, batch_id=batch_id, most=1)
    else:
        found = _NEWEST(connection, batch_id=batch_id, cycle_key=cycle_key, most=1)
    return next(iter(readable(found, instance)), None)


def load_locked(connection: Connection, instance_id: InstanceId) -> BatchInstance | None:
    """Return one instance that no other connection can move until the end of the transaction."""
    dialect_of(connection).lock_row(connection, "BatchControl", instance_id)
    return load(connection, instance_id)


def open_of(connection: Connection, batch_id: BatchId, after: int, most: int) -> list[BatchInstance]:
    """Return a batch's open instances behind `after`, in order of creation; an empty list only when none is left."""

    def page(after: int) -> list[Any]:
        asked = [query.ask(connection, batch_id=batch_id, after=after, most=most) for query in _OPEN_OF]
        return sorted((row for rows in asked for row in rows()), key=attrgetter("BatchControl_id"))[:most]

    return _legible(page(after), page)


def ask_in_line(connection: Connection, batch_id: BatchId, after: int, most: int) -> Callable[[], list[BatchInstance]]:
    """Ask for a batch's instances that may start or keep later ones from starting: neither under way nor paused."""
    return _ask(_IN_LINE_OF, connection, after=after, batch_id=batch_id, most=most)


def ask_at_once(connection: Connection, batch_id: BatchId, after: int, most: int) -> Callable[[], list[BatchInstance]]:
    """Ask for a batch's instances that wait for no time, whatever stands between them."""
    return _ask(_AT_ONCE_OF, connection, after=after, batch_id=batch_id, most=most)


def ask_deferred(connection: Connection, batch_id: BatchId, most: int, now: datetime) -> Callable[[], list[InstanceId]]:
    """Ask for the ids of a batch's instances that have waited for a time which has come, the earliest time first."""
    asked = _DEFERRED_OF.ask(connection, batch_id=batch_id, most=most, now=now)
    return lambda: [InstanceId(number) for (number,) in asked()]


def ask_near(
    connection: Connection, batch_id: BatchId, after: int, most: int, now: datetime, *, among: int
) -> Callable[[], list[BatchInstance]]:
    """Ask for due instances in order of creation, out of the next `among` in line, of which no more are read."""
    return _ask(_NEAR_OF, connection, after=after, batch_id=batch_id, most=most, now=now, among=among)


def ask_due(
    connection: Connection, batch_id: BatchId, after: int, most: int, now: datetime
) -> Callable[[], list[BatchInstance]]:
    """Ask for due instances in order of creation; whatever stands between them is read too, however much it is."""
    return _ask(_DUE_OF, connection, after=after, batch_id=batch_id, most=most, now=now)


def _ask(query: RowSelect, connection: Connection, *, after: int, **where: object) -> Callable[[], list[BatchInstance]]:
    asked = query.ask(connection, after=after, **where)
    return lambda: _legible(asked(), lambda behind: query(connection, after=behind, **where))


def _legible(rows: Sequence[Any], behind: Callable[[int], Sequence[Any]]) -> list[BatchInstance]:
    """Return a page's instances; a page of nothing but nonsense is passed over, or it would hide all that follows."""
    while rows and not (found := readable(rows, instance)):
        rows = behind(rows[-1].BatchControl_id)
    return found if rows else []


def these(connection: Connection, numbers: Sequence[InstanceId]) -> list[BatchInstance]:
    """Return up to `MOST_LOADED` instances by their numbers, in order of creation."""
    if not numbers:
        return []
    # As many marks as numbers would be another statement for each count, to be compiled here and planned there.
    size = 1 << (len(numbers) - 1).bit_length()
    filled = [*numbers, *[numbers[-1]] * (size - len(numbers))]
    return readable(_these(size)(connection, **dict(zip(_marks(size), filled, strict=True))), instance)


@cache
def _these(size: int) -> RowSelect:
    wanted = _c.BatchControl_id.in_([bindparam(mark) for mark in _marks(size)])
    return RowSelect(_WHOLE.where(wanted).order_by(_c.BatchControl_id))


@cache
def _marks(size: int) -> Names:
    return tuple(f"id{at}" for at in range(size))


def claimed(connection: Connection) -> list[BatchInstance]:
    """Return the instances that stand as owned by a controller."""
    return readable(CLAIMED(connection), instance)


def without_steps(connection: Connection) -> set[BatchId]:
    """Return the enabled batches that have instances in line and no step."""
    return set(connection.execute(_STEPLESS).scalars())


def standing_failures(connection: Connection) -> Sequence[BatchInstance]:
    """Return the instances that wait for a retry, have failed or are held."""
    return readable(_STANDING(connection), instance)


def next_due(connection: Connection, now: datetime) -> datetime | None:
    """Return when the next waiting instance becomes due."""
    ((due,),) = _NEXT_DUE(connection, now=now)
    return due if due is None else cast("datetime", due)


def locked(connection: Connection, instance_ids: Sequence[InstanceId]) -> Collection[int]:
    """Return those instances that other transactions keep locked, as far as the database can tell."""
    return dialect_of(connection).locked_instances(connection, instance_ids)


def look_for_locks(connection: Connection) -> None:
    """Let a nowait transaction ask for `locked` instances nevertheless."""
    dialect_of(connection).look_for_locks(connection)


def blocker(connection: Connection, instance_id: InstanceId | None = None) -> str:
    """Name the session that keeps rows locked, or "another program" when the database shows none."""
    return holder(connection, instance_id) or "another program"


def holder(connection: Connection, instance_id: InstanceId | None = None) -> str | None:
    """Name the session that keeps rows locked, and how to end it; None when the database shows none."""
    found = dialect_of(connection).blocker(connection, instance_id)
    return None if found is None else f"{found[0]}{TO_END_IT}{found[1]}"


def tell(connection: Connection) -> None:
    """Let the other controllers notice that there is something to claim."""
    dialect_of(connection).tell(connection)


def claim(connection: Connection, before: BatchInstance, after: BatchInstance, now: datetime) -> bool:
    """Write a claim; false when the instance is not as it was read, or not due by the database's clock."""
    return update_all(connection, moving(connection, [(before, after)], now, claim=True)) == 1


def move(connection: Connection, before: BatchInstance, after: BatchInstance, now: datetime) -> bool:
    """Write a move; false when the instance does not stand any more as it was read."""
    if frees(before, after):
        dialect_of(connection).tell(connection)
    return update_all(connection, moving(connection, [(before, after)], now, claim=False)) == 1


def move_all(connection: Connection, pairs: Sequence[tuple[BatchInstance, BatchInstance]], now: datetime) -> int:
    """Write moves of instances that no controller has claimed; return how many still stood as they were read."""
    return update_all(connection, moving(connection, pairs, now, claim=False))


def frees(before: BatchInstance, after: BatchInstance) -> bool:
    """Say whether a move gives up what others may have waited for."""
    return before.status is not after.status and before.status.is_claimed and not after.status.is_claimed


def moving(
    connection: Connection, pairs: Sequence[tuple[BatchInstance, BatchInstance]], now: datetime, *, claim: bool
) -> list[StatementRows]:
    """Prepare moves, or claims; one whose instance does not stand any more as it was read will meet no row."""
    if claim:
        return _CLAIM.rows(connection, _FOUND_DUE, [_move(before, after, now, now) for before, after in pairs])
    return _MOVE.rows(connection, _FOUND, [_move(before, after, now) for before, after in pairs])


def _move(before: BatchInstance, after: BatchInstance, now: datetime, *found_by: object) -> tuple[Names, Values]:
    """Return the columns that differ, and z_updated; their values, and what the row is found by."""
    changes: dict[str, object] = {}  # In the order of the table, so that they need no sorting.
    if after.last_seq != before.last_seq:
        changes["PrevProcessControlSeq"] = after.last_seq
    if after.status is not before.status:
        changes["Status"] = str(after.status)
    if after.retry_count != before.retry_count:
        changes["RetryCount"] = after.retry_count
    if after.next_run_time != before.next_run_time:
        changes["NextRunTime"] = after.next_run_time
    if after.data is not before.data:
        # With the status, in one statement: only changes by hand change a row twice at one time.
        pairs = enumerate(zip(before.data, after.data, strict=True), start=1)
        changes |= {f"Data{at}": value for at, (was, value) in pairs if value != was}
    if after.claim_token != before.claim_token:
        changes["ClaimToken"] = after.claim_token
    if after.claimed_by != before.claimed_by:
        changes["ClaimedBy"] = after.claimed_by
    if after.next_pool != before.next_pool:
        changes["NextPool"] = after.next_pool
    if after.begun_at is not None and after.begun_at != before.begun_at:
        changes["BegunTime"] = after.begun_at
    if after.lost_count != before.lost_count:
        changes["LostCount"] = after.lost_count
    if after.steps_failed != before.steps_failed:
        changes["StepsFailed"] = after.steps_failed
    changes["z_updated"] = now
    found = before.instance_id, str(before.status), before.claim_token, before.last_seq, before.retry_count
    return (*changes,), (*changes.values(), *found, *found_by)
