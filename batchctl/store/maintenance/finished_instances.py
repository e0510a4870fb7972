"""Instances that are over, with all that belongs to them: which of them there are, and how they are deleted.

The unit is a `FileProcess` row with all its instances. If one of two instances were deleted alone, a controller would
create it anew as soon as the other is run again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from itertools import groupby
from typing import Any

from sqlalchemy import (
    BindParameter,
    Connection,
    bindparam,
    case,
    delete,
    exists,
    func,
    not_,
    or_,
    select,
    text,
    union_all,
    update,
)

from batchctl.domain.durations import Took, classes
from batchctl.domain.errors import Conflict
from batchctl.domain.maintenance.retention import Keep, Over, Rules, may_go
from batchctl.domain.rows import LARGEST_ID, NEVER, BatchId, InstanceId, IntakeId
from batchctl.domain.status import Cause, FireOutcome, HistoryStatus, InstanceStatus, IntakeStatus
from batchctl.domain.values import value
from batchctl.store.columns import readable
from batchctl.store.conditions import one_of
from batchctl.store.dialects import dialect_of
from batchctl.store.maintenance import duration_history
from batchctl.store.operators import confirmation_rows, note_rows
from batchctl.store.record_reading import Reader
from batchctl.store.statements import RowSelect
from batchctl.store.tables import (
    OVER_INSTANCE,
    batch_completion,
    batch_control,
    batch_dependency,
    batch_process_history,
    file_process,
    file_watch_seen,
    schedule_fire,
    step_output,
)

_c, _h, _f, _o, _d, _s = (
    batch_control.c,
    batch_process_history.c,
    file_process.c,
    batch_completion.c,
    batch_dependency.c,
    file_watch_seen.c,
)
_THESE_ROWS: BindParameter[int] = bindparam("intake_ids", expanding=True)
_THESE: BindParameter[int] = bindparam("instance_ids", expanding=True)
_OF_OUTCOME = {
    # As the index says it, which a value would not.
    outcome: text(f"BatchControl.Status = '{outcome.value}'")
    for outcome in (InstanceStatus.COMPLETE, InstanceStatus.CANCELLED)
}
_PAGES = {
    outcome: RowSelect(
        select(_c.BatchControl_id, _c.FileProcess_id, _c.z_inserted, _c.z_updated)
        .where(
            _c.ProcessBatch_id == bindparam("batch_id"),
            condition,
            _c.BatchControl_id > bindparam("after"),
            _c.BatchControl_id < bindparam("before"),
        )
        .order_by(_c.BatchControl_id)
        .limit(bindparam("most"))
    )
    for outcome, condition in _OF_OUTCOME.items()
}
_LAST_ONES = {
    outcome: RowSelect(
        select(_c.BatchControl_id)
        .where(_c.ProcessBatch_id == bindparam("batch_id"), condition)
        .order_by(_c.BatchControl_id.desc())
        .limit(bindparam("most"))
        .offset(bindparam("behind"))
    )
    for outcome, condition in _OF_OUTCOME.items()
}
_SIZES = (
    select(_c.FileProcess_id, func.count().label("Rows"))
    .join(batch_process_history, _h.BatchControl_id == _c.BatchControl_id, isouter=True)
    .where(_c.FileProcess_id.in_(_THESE_ROWS))
    .group_by(_c.FileProcess_id)
)
_INSTANCES = select(_c.BatchControl_id).where(_c.FileProcess_id.in_(_THESE_ROWS))
# A completion of a batch that the other does not depend on any more is not wanted.
_IS_DEPENDENCY = exists().where(_d.ProcessBatch_id == _o.ProcessBatch_id, _d.DependsOnBatch_id == _o.DependsOnBatch_id)
_WANTED = select(_o.BatchControl_id).where(_o.BatchControl_id.in_(_THESE), _o.FileProcess_id.is_(None), _IS_DEPENDENCY)
# Only changes by hand leave an attempt open of an instance that is over; no instance goes without its attempts.
_UNDER_WAY = select(_h.BatchControl_id).where(_h.BatchControl_id.in_(_THESE), _h.Status == HistoryStatus.RUNNING.value)
_STANDING = (
    select(_c.BatchControl_id, _c.FileProcess_id, _c.ProcessBatch_id, _c.Status, _c.z_updated)
    .add_columns(_f.Status.label("IntakeStatus"))
    .join(file_process, _f.FileProcess_id == _c.FileProcess_id)
    .where(_c.FileProcess_id.in_(_THESE_ROWS))
    .order_by(_c.FileProcess_id, _c.BatchControl_id)
)
_TOOK = select(_h.ProcessBatch_id, _h.ProcessControlSeq, _h.StartTime, _h.EndTime).where(
    _h.BatchControl_id.in_(_THESE), _h.Status == HistoryStatus.SUCCESS.value, _h.Cause != Cause.VERIFY.value
)
_STARTED = select(_o.FileProcess_id).where(_o.BatchControl_id.in_(_THESE), _o.FileProcess_id.is_not(None)).distinct()
_COUNTED = {
    "BatchProcessHistory": select(func.count())
    .select_from(batch_process_history)
    .where(_h.BatchControl_id.in_(_THESE)),
    "BatchCompletion": select(func.count()).select_from(batch_completion).where(_o.BatchControl_id.in_(_THESE)),
}
_OVER_AND_DONE = exists().where(_f.FileProcess_id == _c.FileProcess_id, _f.Status == IntakeStatus.COMPLETE.value)
_DELETE_COMPLETIONS = delete(batch_completion).where(
    _o.BatchControl_id.in_(_THESE), or_(_o.FileProcess_id.is_not(None), not_(_IS_DEPENDENCY))
)
# Only changes by hand leave any: these must not keep the attempts from being deleted.
_DELETE_OUTPUT = delete(step_output).where(
    step_output.c.BatchProcessHistory_id.in_(select(_h.BatchProcessHistory_id).where(_h.BatchControl_id.in_(_THESE)))
)
_DELETE_HISTORY = delete(batch_process_history).where(
    _h.BatchControl_id.in_(_THESE), _h.Status != HistoryStatus.RUNNING.value
)
_DELETE = delete(batch_control).where(
    _c.BatchControl_id.in_(_THESE), one_of("BatchControl.Status", OVER_INSTANCE), _OVER_AND_DONE
)
_IS_BARE = (
    _f.FileProcess_id.in_(_THESE_ROWS),
    _f.Status.in_(bindparam("statuses", expanding=True)),
    _f.z_updated < bindparam("before"),
    not_(exists().where(_c.FileProcess_id == _f.FileProcess_id)),
    not_(exists().where(_o.FileProcess_id == _f.FileProcess_id)),
)
_BARE, _DELETE_ROWS = select(_f.FileProcess_id).where(*_IS_BARE), delete(file_process).where(*_IS_BARE)
_FORGET_ROW = update(file_watch_seen).where(_s.FileProcess_id.in_(_THESE_ROWS)).values(FileProcess_id=None)
# A due time stays decided, or a backfill would start its work once more.
_CUT_FIRE = (
    update(schedule_fire)
    .where(schedule_fire.c.FileProcess_id.in_(_THESE_ROWS))
    .values(Outcome=FireOutcome.PURGED.value, FileProcess_id=None)
)
_COMPLETE_ROWS = select(_f.FileProcess_id, case((_f.Data.is_not(None), 1), else_=0).label("HasData")).where(
    _f.FileProcess_id.in_(_THESE_ROWS), _f.Status == IntakeStatus.COMPLETE.value
)
_HELD_BY = union_all(
    select(_c.FileProcess_id, _c.BatchControl_id).where(_c.FileProcess_id.in_(_THESE_ROWS)),
    select(_o.FileProcess_id, _o.BatchControl_id).where(_o.FileProcess_id.in_(_THESE_ROWS)),
)
AT_ONCE = 1000
"""Rows that one statement names."""

Kept = Mapping[tuple[BatchId, InstanceStatus], InstanceId | None]


@value
class Candidates:
    """`FileProcess` rows of which an instance is old enough."""

    intake_ids: list[IntakeId]
    up_to: int
    """The last instance that was looked at."""
    is_last: bool


def candidates(
    connection: Connection,
    batch_id: BatchId,
    outcome: InstanceStatus,
    keep: Keep,
    now: datetime,
    *,
    after: int,
    most: int,
) -> Candidates:
    """Return the rows of the next instances of a batch and an outcome, of as much history as should go at once."""
    kept, before = oldest_kept(connection, batch_id, outcome, keep.last), now - keep.age
    if kept is None:
        return Candidates([], after, is_last=True)
    found = _PAGES[outcome](connection, batch_id=batch_id, after=after, before=kept, most=most)
    # What was made later has changed later.
    is_last = len(found) < most or found[-1].z_inserted >= before
    old = [(instance_id, intake_id) for instance_id, intake_id, _, changed in found if changed < before]
    up_to = found[-1][0] if found else after
    sizes = _sizes(connection, [intake_id for _, intake_id in old])
    taken, rows = dict[int, int](), 0
    for instance_id, intake_id in old:
        rows += 0 if intake_id in taken else sizes.get(intake_id, 0)
        if taken and rows > most:
            return Candidates([IntakeId(each) for each in taken], max(taken.values()), is_last=False)
        taken[intake_id] = instance_id
    return Candidates([IntakeId(each) for each in taken], up_to, is_last)


def _sizes(connection: Connection, intake_ids: Iterable[int]) -> dict[int, int]:
    wanted = sorted(set(intake_ids))
    return dict(connection.execute(_SIZES, {"intake_ids": wanted}).all()) if wanted else {}


def oldest_kept(connection: Connection, batch_id: BatchId, outcome: InstanceStatus, last: int) -> InstanceId | None:
    """Return the oldest of the last instances of a batch and an outcome; None where there are not even as many."""
    if last == 0:
        return InstanceId(LARGEST_ID)
    found = _LAST_ONES[outcome](connection, batch_id=batch_id, most=1, behind=last - 1)
    return InstanceId(found[0].BatchControl_id) if found else None


_over, _took = Reader(Over), Reader(Took)


@value
class Leaving:
    """Instances that may go, with their rows."""

    instances: list[Over]

    @property
    def instance_ids(self) -> list[InstanceId]:
        """Return the ids of the instances."""
        return [one.instance_id for one in self.instances]

    @property
    def intake_ids(self) -> list[IntakeId]:
        """Return the ids of the instances' rows."""
        return list(dict.fromkeys(one.intake_id for one in self.instances))


def leaving(
    connection: Connection, intake_ids: Sequence[IntakeId], rules: Rules, now: datetime, *, locked: bool
) -> Leaving:
    """Return those instances of some rows that may go, all of a row or none; `locked` keeps them unchanged."""
    dialect = dialect_of(connection)
    free_rows = set(dialect.lock_rows(connection, "FileProcess", sorted(intake_ids))() if locked else intake_ids)
    ids = connection.execute(_INSTANCES, {"intake_ids": list(intake_ids)}).scalars().all()
    if not ids:
        return Leaving([])
    free = set(dialect.lock_rows(connection, "BatchControl", sorted(ids))() if locked else ids)
    wanted = set(connection.execute(_WANTED, {"instance_ids": list(ids)}).scalars())
    free -= set(connection.execute(_UNDER_WAY, {"instance_ids": list(ids)}).scalars())
    # What is locked is looked at only now: before, anybody may have changed it.
    found = connection.execute(_STANDING, {"intake_ids": list(intake_ids)}).all()

    def over(row: Any) -> Over:
        instance_id, intake_id, *_ = row
        is_free = instance_id in free and intake_id in free_rows
        return _over(row, is_free=is_free, is_wanted=instance_id in wanted)

    instances = readable(found, over)
    of_rows = Counter(intake_id for _, intake_id, *_ in found)
    nonsense = {*of_rows} - {one.intake_id for one in instances}
    kept = {
        (batch_id, outcome): oldest_kept(connection, batch_id, outcome, keep.last)
        for (batch_id, outcome), keep in rules.instances.items()
        if any((one.batch_id, one.status) == (batch_id, outcome) for one in instances)
    }
    going: list[Over] = []
    for intake_id, group in groupby(instances, lambda one: one.intake_id):
        of_row = list(group)
        is_whole = len(of_row) == of_rows[intake_id]
        if intake_id not in nonsense and is_whole and may_go(of_row, rules, kept, now):
            going += of_row
    return Leaving(going)


def count(connection: Connection, instance_ids: Sequence[InstanceId]) -> dict[str, int]:
    """Count what goes with some instances, by table."""
    return {
        table: int(connection.execute(statement, {"instance_ids": list(instance_ids)}).scalar_one())
        for table, statement in _COUNTED.items()
    }


def started_by(connection: Connection, instance_ids: Sequence[InstanceId]) -> list[IntakeId]:
    """Return the rows that completions of some instances have started."""
    found = connection.execute(_STARTED, {"instance_ids": list(instance_ids)}).scalars()
    return [IntakeId(each) for each in found]


@value
class FinishedRow:
    """A row that is over, and the instances that are its own or whose completions have started it."""

    intake_id: IntakeId
    has_data: bool
    held_by: set[InstanceId]


def rows_held(connection: Connection, intake_ids: Sequence[IntakeId]) -> list[FinishedRow]:
    """Return those of some rows that are complete, and what keeps each of them."""
    wanted = {"intake_ids": list(intake_ids)}
    rows = {
        each.FileProcess_id: FinishedRow(IntakeId(each.FileProcess_id), bool(each.HasData), set())
        for each in connection.execute(_COMPLETE_ROWS, wanted)
    }
    for each in connection.execute(_HELD_BY, wanted):
        if each.FileProcess_id in rows:
            rows[each.FileProcess_id].held_by.add(InstanceId(each.BatchControl_id))
    return list(rows.values())


def remove(connection: Connection, going: Leaving, now: datetime) -> dict[str, int]:
    """Delete instances with their history, their completions and their rows; return how many rows of each table.

    How long their steps took is added up before. A row that a completion has started goes with the last of those, or
    what had completed would start it once more when it is run again.
    """
    if not going.instances:
        return {}
    for batch_id in sorted({one.batch_id for one in going.instances}):
        # Of two purges at once the second adds to what the first has added up.
        if not dialect_of(connection).lock_name(connection, f"durations of batch {batch_id}"):
            message = f"Somebody else purges instances of batch {batch_id}."
            raise Conflict(message)
    named = {"instance_ids": going.instance_ids}
    took = readable(connection.execute(_TOOK, named), _took)
    duration_history.add_up(connection, classes(took), now)
    rows = sorted({*going.intake_ids, *started_by(connection, going.instance_ids)})
    completions = connection.execute(_DELETE_COMPLETIONS, named).rowcount
    connection.execute(_DELETE_OUTPUT, named)
    attempts = connection.execute(_DELETE_HISTORY, named).rowcount
    noted = note_rows.remove_of_instances(connection, going.instance_ids)
    confirmation_rows.remove_of_instances(connection, going.instance_ids)
    if connection.execute(_DELETE, named).rowcount != len(going.instances):
        message = "Somebody has changed an instance that was to be purged."
        raise Conflict(message)
    # One completion may have started many rows, and there is a most that a statement takes.
    some = [rows[at : at + AT_ONCE] for at in range(0, len(rows), AT_ONCE)]
    gone = sum(remove_rows(connection, each, [IntakeStatus.COMPLETE], NEVER) for each in some)
    counted = {"BatchControl": len(going.instances), "BatchProcessHistory": attempts}
    return counted | {"BatchCompletion": completions, "FileProcess": gone} | ({"Note": noted} if noted else {})


def bare_rows(
    connection: Connection, intake_ids: Sequence[IntakeId], statuses: Sequence[IntakeStatus], before: datetime
) -> list[IntakeId]:
    """Return those of some rows that are in one of some statuses since before a moment, and that nothing refers to."""
    if not intake_ids:
        return []
    found = connection.execute(_BARE, _bare(intake_ids, statuses, before)).scalars()
    return [IntakeId(each) for each in found]


def remove_rows(
    connection: Connection, intake_ids: Sequence[IntakeId], statuses: Sequence[IntakeStatus], before: datetime
) -> int:
    """Delete what `bare_rows` returns; return how many rows.

    A watched folder goes on remembering the files, so that none is taken anew, and a schedule the due times.
    """
    found = bare_rows(connection, intake_ids, statuses, before)
    if len(dialect_of(connection).lock_rows(connection, "FileProcess", sorted(found))() if found else ()) < len(found):
        message = "Somebody keeps a FileProcess row locked that is to be purged."
        raise Conflict(message)
    # What is locked is looked at once more: before, anybody may have changed it.
    bare = bare_rows(connection, found, statuses, before)
    if not bare:
        return 0
    connection.execute(_FORGET_ROW, {"intake_ids": bare})
    connection.execute(_CUT_FIRE, {"intake_ids": bare})
    return connection.execute(_DELETE_ROWS, _bare(bare, statuses, before)).rowcount


def _bare(intake_ids: Sequence[IntakeId], statuses: Sequence[IntakeStatus], before: datetime) -> dict[str, object]:
    return {"intake_ids": list(intake_ids), "statuses": [status.value for status in statuses], "before": before}
