"""The laws of the engine as SQL: each statement returns the rows that break one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    String,
    and_,
    bindparam,
    case,
    cast,
    exists,
    func,
    literal,
    not_,
    or_,
    select,
)

from batchctl.domain.status import HistoryStatus, InstanceStatus
from batchctl.store.audit import RUN_NOW
from batchctl.store.columns import NAME_LENGTH
from batchctl.store.definitions import ENTITY
from batchctl.store.tables import (
    alert_delivery,
    audit_log,
    audit_seal,
    batch_completion,
    batch_control,
    batch_dependency,
    batch_process_history,
    batch_resource,
    controller,
    duration_history,
    file_process,
    incident,
    operator_request,
    process_batch,
    resource,
    schedule,
    schedule_backfill,
    schedule_fire,
)
from batchctl.store.tables import process_control as step

_f, _b, _c, _s = file_process.c, process_batch.c, batch_control.c, step.c
_r, _n = resource.c, batch_resource.c
_q = duration_history.c
_d, _o, _other = batch_dependency.c, batch_completion.c, batch_completion.alias("other")
_h = batch_process_history.alias("h")
_earlier, _later = batch_process_history.alias("earlier"), batch_process_history.alias("later")
_h_done, _s_now = batch_process_history.alias("h_done"), step.alias("s_now")
_ID, _PREVIOUS = _h.c.BatchProcessHistory_id, _earlier.c.BatchProcessHistory_id

_seal, _before_seal = audit_seal.alias("seal"), audit_seal.alias("before_seal")
_fire, _same_fire = schedule_fire.alias("fire"), schedule_fire.alias("same_fire")
_sched, _fill = schedule.c, schedule_backfill.c
_SOURCE = func.substring(literal("schedule ") + _sched.ScheduleName, 1, NAME_LENGTH, type_=_f.Source.type)
"""What `FileProcess.Source` says of a schedule's work."""
_NAMED_IN_AUDIT = literal('{"FileProcess_id": ') + cast(_f.FileProcess_id, String(20)) + literal("}")

_inc, _same_inc = incident.alias("inc"), incident.alias("same_inc")
_mail, _same_mail = alert_delivery.alias("mail"), alert_delivery.alias("same_mail")

_CLAIMED = tuple(status.value for status in InstanceStatus if status.is_claimed)
_OVER = ("complete", "cancelled")
_DONE = ("success", "skipped")
_BROKEN = ("failed", "timeout")


@dataclass(frozen=True, slots=True)
class Invariant:
    """A law. `broken` returns the ids of the rows of `table` that break it; `mend` says what a person does then."""

    code: str
    law: str
    table: str
    broken: Select[int]
    mend: str


@dataclass(frozen=True, slots=True)
class Broken:
    """A row that breaks a law."""

    invariant: Invariant
    row_id: int


def broken(connection: Connection, settled: datetime, most: int) -> Iterator[Broken]:
    """Yield the rows that break a law, at most `most` for each.

    What came in after `settled` may still wait for its instances.
    """
    for invariant in INVARIANTS:
        found = connection.execute(invariant.broken.limit(most), {"settled": settled}).scalars()
        yield from (Broken(invariant, int(row_id)) for row_id in found)


def _instances(*conditions: ColumnElement[bool]) -> Select[int]:
    return select(_c.BatchControl_id).where(*conditions).order_by(_c.BatchControl_id)


def _is_as_it_was(instance_id: ColumnElement[int]) -> ColumnElement[bool]:
    """Return the condition that the definition still has every step that an instance has done: else it tells nothing."""
    done, at = _h_done.c, _s_now.c
    still_there = exists().where(
        at.ProcessBatch_id == done.ProcessBatch_id, at.ProcessControlSeq == done.ProcessControlSeq
    )
    return not_(exists().where(done.BatchControl_id == instance_id, done.Status.in_(_DONE), not_(still_there)))


def _acted_on(instance_id: ColumnElement[int]) -> ColumnElement[bool]:
    """Return the condition that a person has done something to an instance, and not only changed its row by hand."""
    target = literal("BatchControl:") + cast(instance_id, String(20))
    return exists().where(audit_log.c.Target == target, audit_log.c.Action.not_like("row %"))


def _attempts(*conditions: ColumnElement[bool]) -> Select[int]:
    return select(_ID).where(*conditions).order_by(_ID)


_OF_INSTANCE = _h.c.BatchControl_id == _c.BatchControl_id
_SAME_STEP = and_(
    _earlier.c.BatchControl_id == _h.c.BatchControl_id, _earlier.c.ProcessControlSeq == _h.c.ProcessControlSeq
)
_HAS_INSTANCE = exists().where(_c.FileProcess_id == _f.FileProcess_id, _c.ProcessBatch_id == _b.ProcessBatch_id)
_ANY_INSTANCE = exists().where(_c.FileProcess_id == _f.FileProcess_id)
_OPEN_INSTANCE = exists().where(_c.FileProcess_id == _f.FileProcess_id, _c.Status.not_in(_OVER))
_WAITS_FOR_A_BATCH = exists().where(ENTITY == _f.Entity, not_(_HAS_INSTANCE))
_TOUCHED_BY_A_PERSON = _acted_on(_c.BatchControl_id)
_DONE_BEFORE = exists().where(
    _earlier.c.BatchControl_id == _h.c.BatchControl_id,
    _earlier.c.ProcessControlSeq == _s.ProcessControlSeq,
    _earlier.c.Status.in_(_DONE),
    _earlier.c.EndTime <= _h.c.StartTime,
)
_DONE_EVER = exists().where(_OF_INSTANCE, _h.c.ProcessControlSeq == _s.ProcessControlSeq, _h.c.Status.in_(_DONE))
_NEXT_OF_ALL = select(func.min(_later.c.BatchProcessHistory_id)).where(
    _later.c.BatchControl_id == _earlier.c.BatchControl_id,
    _later.c.BatchProcessHistory_id > _earlier.c.BatchProcessHistory_id,
)
_IS_CLAIMED = and_(_c.ProcessBatch_id == _b.ProcessBatch_id, _c.Status.in_(_CLAIMED))
_FOLLOWS = and_(
    _earlier.c.BatchControl_id == _h.c.BatchControl_id, _ID == _NEXT_OF_ALL.correlate(_earlier).scalar_subquery()
)
# What a person asked for may fail first, and succeed when it is tried again.
_ASKED_SINCE = exists().where(
    _later.c.BatchControl_id == _h.c.BatchControl_id,
    _later.c.ProcessControlSeq == _h.c.ProcessControlSeq,
    _later.c.Cause == "manual",
    _later.c.BatchProcessHistory_id > _PREVIOUS,
    _later.c.BatchProcessHistory_id <= _ID,
)
_LEFT_BEFORE = _earlier.c.RetryCountAfter

INVARIANTS: tuple[Invariant, ...] = (
    Invariant(
        "I01",
        "a ready intake row has its instance for every batch that takes its entity",
        "FileProcess",
        select(_f.FileProcess_id)
        .select_from(file_process)
        .join(process_batch, ENTITY == _f.Entity)
        .where(_f.Status == "ready", _f.Message.is_(None), _f.z_updated < bindparam("settled"), not_(_HAS_INSTANCE))
        .distinct()
        .order_by(_f.FileProcess_id),
        "batchctl create, and see that a controller runs",
    ),
    Invariant(
        "I02",
        "an intake row is complete exactly when all its instances are over",
        "FileProcess",
        select(_f.FileProcess_id)
        .where(
            or_(
                and_(_f.Status == "complete", _OPEN_INSTANCE),
                and_(_f.Status == "ready", _ANY_INSTANCE, not_(_OPEN_INSTANCE), not_(_WAITS_FOR_A_BATCH)),
            )
        )
        .order_by(_f.FileProcess_id),
        "batchctl why file:{id}; then correct its Status (UPDATE FileProcess ...)",
    ),
    Invariant(
        "I03",
        "an instance has at most one attempt under way",
        "BatchControl",
        select(_h.c.BatchControl_id)
        .where(_h.c.Status == "running")
        .group_by(_h.c.BatchControl_id)
        .having(func.count() > 1)
        .order_by(_h.c.BatchControl_id),
        "stop every controller; find out which attempt is real; close the others by hand as lost",
    ),
    Invariant(
        "I04",
        "an instance has an owner exactly while it is claimed",
        "BatchControl",
        _instances(
            or_(
                and_(_c.Status.in_(_CLAIMED), _c.ClaimedBy.is_(None)),
                and_(_c.Status.not_in(_CLAIMED), _c.ClaimedBy.is_not(None)),
            )
        ),
        "batchctl show {id}; a controller that starts releases it, or set ClaimedBy to NULL",
    ),
    Invariant(
        "I05",
        "an attempt under way carries the token of its claimed instance",
        "BatchProcessHistory",
        _attempts(
            _h.c.Status == "running",
            not_(exists().where(_OF_INSTANCE, _c.Status.in_(_CLAIMED), _c.ClaimToken == _h.c.ClaimToken)),
        ),
        "it counts for nothing; a controller that starts records it as lost",
    ),
    Invariant(
        "I06",
        "a step succeeds once, unless a person asks again",
        "BatchControl",
        select(_h.c.BatchControl_id)
        .join(_earlier, and_(_SAME_STEP, _PREVIOUS < _ID, _earlier.c.Cause != "manual", _earlier.c.Status == "success"))
        .where(_h.c.Status == "success", not_(_ASKED_SINCE))
        .distinct()
        .order_by(_h.c.BatchControl_id),
        "batchctl history {id}; look in the target what was done twice",
    ),
    Invariant(
        "I07",
        "a step starts after the success of every step before it",
        "BatchProcessHistory",
        select(_ID)
        .select_from(_h)
        .join(
            step,
            and_(
                _s.ProcessBatch_id == _h.c.ProcessBatch_id,
                _s.ProcessControlSeq < _h.c.ProcessControlSeq,
                _s.z_inserted <= _h.c.StartTime,
            ),
        )
        .where(_h.c.Cause != "manual", not_(_DONE_BEFORE), _is_as_it_was(_h.c.BatchControl_id))
        .distinct()
        .order_by(_ID),
        "look whether the batch's steps were renumbered meanwhile; else look in the target what is missing",
    ),
    Invariant(
        "I08",
        "PrevProcessControlSeq is the last step that succeeded",
        "BatchControl",
        _instances(
            not_(_TOUCHED_BY_A_PERSON),
            _c.PrevProcessControlSeq
            != select(func.coalesce(func.max(_h.c.ProcessControlSeq), 0))
            .where(_OF_INSTANCE, _h.c.Status.in_(_DONE))
            .correlate(batch_control)
            .scalar_subquery(),
        ),
        "batchctl history {id}; then set PrevProcessControlSeq to the last step that succeeded",
    ),
    Invariant(
        "I09",
        "of a complete instance every step has succeeded",
        "BatchControl",
        select(_c.BatchControl_id)
        .select_from(batch_control)
        .join(step, and_(_s.ProcessBatch_id == _c.ProcessBatch_id, _s.z_inserted <= _c.z_updated))
        .where(_c.Status == "complete", not_(_DONE_EVER), _is_as_it_was(_c.BatchControl_id))
        .distinct()
        .order_by(_c.BatchControl_id),
        "batchctl history {id}; look in the target what is missing; then: batchctl rerun {id} --from SEQ --reason ...",
    ),
    Invariant(
        "I10",
        "nothing starts after completion unless a person asks",
        "BatchProcessHistory",
        select(_ID)
        .select_from(_h)
        .join(batch_control, _OF_INSTANCE)
        .where(_c.Status == "complete", _h.c.Cause != "manual", _h.c.StartTime > _c.z_updated)
        .order_by(_ID),
        "look in the target what was done twice",
    ),
    Invariant(
        "I11",
        "attempts of one instance do not overlap",
        "BatchProcessHistory",
        select(_ID)
        .select_from(_h)
        .join(_earlier, and_(_earlier.c.BatchControl_id == _h.c.BatchControl_id, _PREVIOUS < _ID))
        .where(or_(_earlier.c.EndTime.is_(None), _earlier.c.EndTime > _h.c.StartTime))
        .distinct()
        .order_by(_ID),
        "look whether the clock of the database was set back; else look in the target what was done twice",
    ),
    Invariant(
        "I12",
        "an attempt has an EndTime exactly when it is over",
        "BatchProcessHistory",
        _attempts(
            or_(
                and_(_h.c.Status == "running", _h.c.EndTime.is_not(None)),
                and_(_h.c.Status != "running", _h.c.EndTime.is_(None)),
            )
        ),
        "batchctl check, which names the constraint that is missing",
    ),
    Invariant(
        "I13",
        "an instance stands in a status that there is",
        "BatchControl",
        _instances(_c.Status.not_in([status.value for status in InstanceStatus])),
        "batchctl check; then correct Status (UPDATE BatchControl ...)",
    ),
    Invariant(
        "I13h",
        "an attempt stands in a status that there is",
        "BatchProcessHistory",
        _attempts(_h.c.Status.not_in([status.value for status in HistoryStatus])),
        "batchctl check; then correct Status (UPDATE BatchProcessHistory ...)",
    ),
    Invariant(
        "I14",
        "the attempts at a step are numbered 1, 2, 3 and so on",
        "BatchControl",
        select(_h.c.BatchControl_id)
        .group_by(_h.c.BatchControl_id, _h.c.ProcessControlSeq)
        .having(or_(func.min(_h.c.AttemptNo) != 1, func.max(_h.c.AttemptNo) != func.count()))
        .order_by(_h.c.BatchControl_id),
        "somebody has deleted history, or tokens were reset; nothing needs to be done to go on",
    ),
    Invariant(
        "I15",
        "tokens never go back within an instance",
        "BatchProcessHistory",
        select(_ID)
        .select_from(_h)
        .join(_earlier, and_(_earlier.c.BatchControl_id == _h.c.BatchControl_id, _PREVIOUS < _ID))
        .where(_h.c.ClaimToken < _earlier.c.ClaimToken)
        .distinct()
        .order_by(_ID),
        "somebody has set ClaimToken back by hand: set it beyond the highest in the history",
    ),
    Invariant(
        "I16",
        "a failure takes one retry of those there were, and a fatal one none",
        "BatchProcessHistory",
        select(_ID)
        .select_from(_h)
        .join(_earlier, _FOLLOWS)
        .where(
            _h.c.Status.in_(_BROKEN),
            _h.c.Cause != "manual",
            _LEFT_BEFORE.is_not(None),
            or_(
                _h.c.RetryCountAfter.is_(None),
                and_(
                    _h.c.RetryCountAfter != case((_LEFT_BEFORE > 0, _LEFT_BEFORE - 1), else_=0),
                    # What no retry can mend takes none, and leaves the instance failed.
                    _h.c.RetryCountAfter != _LEFT_BEFORE,
                ),
            ),
        )
        .order_by(_ID),
        "look whether somebody has changed RetryCount by hand; nothing needs to be done to go on",
    ),
    Invariant(
        "I17",
        "a success says how many retries it leaves",
        "BatchProcessHistory",
        _attempts(_h.c.Status == "success", _h.c.RetryCountAfter.is_(None)),
        "somebody has written history by hand; nothing needs to be done to go on",
    ),
    Invariant(
        "I18",
        "no attempt starts before the NextRunTime that the one before it set",
        "BatchProcessHistory",
        select(_ID)
        .select_from(_h)
        .join(_earlier, _FOLLOWS)
        .where(_h.c.Cause != "manual", _h.c.StartTime < _earlier.c.NextRunTimeAfter)
        .order_by(_ID),
        "look whether somebody has changed NextRunTime, or the clock of the database was set back",
    ),
    Invariant(
        "I19",
        "a step fails unasked at most once more than its batch allows retries",
        "BatchControl",
        select(_h.c.BatchControl_id)
        .select_from(_h)
        .join(process_batch, _b.ProcessBatch_id == _h.c.ProcessBatch_id)
        .join(batch_control, _OF_INSTANCE)
        .where(_h.c.Status.in_(_BROKEN), not_(_TOUCHED_BY_A_PERSON))
        .group_by(_h.c.BatchControl_id, _h.c.ProcessControlSeq, _b.RetryCount)
        .having(func.count() > 1 + _b.RetryCount)
        .order_by(_h.c.BatchControl_id),
        "look whether the batch's RetryCount was lowered meanwhile",
    ),
    Invariant(
        "I20",
        "a lost step with OnLost hold is never tried again unasked",
        "BatchProcessHistory",
        select(_ID)
        .select_from(_h)
        .join(_earlier, and_(_SAME_STEP, _earlier.c.AttemptNo == _h.c.AttemptNo - 1))
        .join(
            step,
            and_(
                _s.ProcessBatch_id == _h.c.ProcessBatch_id,
                _s.ProcessControlSeq == _h.c.ProcessControlSeq,
                _s.OnLost == "hold",
            ),
        )
        .where(
            _earlier.c.Status == "lost",
            _earlier.c.Spawned.is_not(None),
            _h.c.Cause.not_in(["manual", "verify"]),
        )
        .order_by(_ID),
        "look whether OnLost was changed meanwhile; else look in the target what was done twice",
    ),
    Invariant(
        "I21",
        "a claimed instance belongs to a controller that is entered in Controller",
        "BatchControl",
        _instances(
            _c.Status.in_(_CLAIMED),
            _c.ClaimedBy.is_not(None),
            not_(exists().where(controller.c.ControllerName == _c.ClaimedBy)),
        ),
        "somebody has deleted the row of the controller, or claimed by hand; a controller that runs takes it over",
    ),
    Invariant(
        "I22",
        "what completions have started was started by one completion of each batch",
        "BatchCompletion",
        select(_o.BatchCompletion_id)
        .where(
            # Each asks for what an index leads to; asked for together, all would be compared with all.
            or_(
                exists().where(
                    _other.c.BatchCompletion_id < _o.BatchCompletion_id,
                    _other.c.ProcessBatch_id == _o.ProcessBatch_id,
                    _other.c.BatchControl_id == _o.BatchControl_id,
                ),
                exists().where(
                    _other.c.BatchCompletion_id < _o.BatchCompletion_id,
                    _other.c.ProcessBatch_id == _o.ProcessBatch_id,
                    _other.c.FileProcess_id == _o.FileProcess_id,
                    _other.c.DependsOnBatch_id == _o.DependsOnBatch_id,
                ),
            )
        )
        .order_by(_o.BatchCompletion_id),
        "somebody has written completions by hand; look in the target whether the batch that was started ran twice",
    ),
    Invariant(
        "I23",
        "a completion is that of an instance of the batch it names, and what it has started is of the same CycleKey",
        "BatchCompletion",
        select(_o.BatchCompletion_id)
        .where(
            or_(
                not_(
                    exists().where(_c.BatchControl_id == _o.BatchControl_id, _c.ProcessBatch_id == _o.DependsOnBatch_id)
                ),
                and_(
                    _o.FileProcess_id.is_not(None),
                    not_(
                        exists().where(
                            _f.FileProcess_id == _o.FileProcess_id,
                            or_(_f.CycleKey == _o.CycleKey, and_(_f.CycleKey.is_(None), _o.CycleKey.is_(None))),
                        )
                    ),
                ),
            )
        )
        .order_by(_o.BatchCompletion_id),
        "somebody has written completions or a CycleKey by hand; nothing needs to be done to go on",
    ),
    Invariant(
        "I48",
        "an attempt is one of an instance that is there",
        "BatchProcessHistory",
        _attempts(not_(exists().where(_OF_INSTANCE, _c.ProcessBatch_id == _h.c.ProcessBatch_id))),
        "somebody has deleted instances with foreign keys switched off; purge never leaves such: restore them, or delete these",
    ),
    Invariant(
        "I49",
        "what is said of purged attempts can be true",
        "DurationHistory",
        select(_q.DurationHistory_id)
        .where(or_(_q.MaxMs > _q.UpToMs, _q.TotalMs < _q.MinMs * _q.Runs, _q.TotalMs > _q.MaxMs * _q.Runs))
        .order_by(_q.DurationHistory_id),
        "somebody has written them by hand; graph goes by them where there is no history any more",
    ),
    Invariant(
        "I26",
        "what was done because a person asked for it is in the audit log",
        "BatchProcessHistory",
        _attempts(
            _h.c.Cause == "manual",
            not_(_acted_on(_h.c.BatchControl_id)),
        ),
        "somebody has set a status by hand; batchctl rerun and skip leave a trace",
    ),
    Invariant(
        "I27",
        "what was spawned has a process or a session, and a command that was not has no return code",
        "BatchProcessHistory",
        _attempts(
            or_(
                # What was lost before that was recorded counts as spawned, because it may have been.
                and_(_h.c.Spawned.is_not(None), _h.c.Pid.is_(None), _h.c.DbSession.is_(None), _h.c.Status != "lost"),
                # Another handler may carry out in the controller itself what returns a code, a request for example.
                and_(_h.c.ProcessType == "os_command", _h.c.Spawned.is_(None), _h.c.ReturnCode.is_not(None)),
            )
        ),
        "somebody has written history by hand; nothing needs to be done to go on",
    ),
    Invariant(
        "I41",
        "no more instances of a batch are claimed than its MaxConcurrent",
        "ProcessBatch",
        select(_b.ProcessBatch_id)
        .join(batch_control, _IS_CLAIMED)
        .group_by(_b.ProcessBatch_id, _b.MaxConcurrent)
        .having(func.count() > _b.MaxConcurrent)
        .order_by(_b.ProcessBatch_id),
        "look whether MaxConcurrent was lowered meanwhile: what had begun goes on",
    ),
    Invariant(
        "I42",
        "claimed instances hold no more units of a resource than it has",
        "Resource",
        select(_r.Resource_id)
        .join(batch_resource, _n.Resource_id == _r.Resource_id)
        .join(process_batch, _b.ProcessBatch_id == _n.ProcessBatch_id)
        .join(batch_control, _IS_CLAIMED)
        .group_by(_r.Resource_id, _r.Units)
        .having(func.sum(_n.Units) > _r.Units)
        .order_by(_r.Resource_id),
        "look whether Units of Resource or BatchResource was changed meanwhile: what had begun goes on",
    ),
    Invariant(
        "I43",
        "whoever holds a resource exclusively holds it alone",
        "Resource",
        select(_r.Resource_id)
        .join(batch_resource, _n.Resource_id == _r.Resource_id)
        .join(process_batch, _b.ProcessBatch_id == _n.ProcessBatch_id)
        .join(batch_control, _IS_CLAIMED)
        .group_by(_r.Resource_id)
        .having(and_(func.max(_n.Exclusive) == 1, func.count() > 1))
        .order_by(_r.Resource_id),
        "look whether Exclusive of BatchResource was changed meanwhile: what had begun goes on",
    ),
    Invariant(
        "I44",
        "a claimed instance has an attempt under way",
        "BatchControl",
        _instances(
            _c.Status.in_(_CLAIMED),
            not_(exists().where(_OF_INSTANCE, _h.c.Status == "running", _h.c.ClaimToken == _c.ClaimToken)),
        ),
        "somebody has deleted the attempt, or claimed by hand: end the controller that ClaimedBy names, then start one",
    ),
    Invariant(
        "I45",
        "a completion was offered to every batch that depended on its batch when the instance was made",
        "BatchControl",
        select(_c.BatchControl_id)
        .join(batch_dependency, _d.DependsOnBatch_id == _c.ProcessBatch_id)
        .where(
            _c.Status == "complete",
            _c.z_inserted > _d.z_inserted,
            not_(exists().where(_o.ProcessBatch_id == _d.ProcessBatch_id, _o.BatchControl_id == _c.BatchControl_id)),
        )
        .distinct()
        .order_by(_c.BatchControl_id),
        "somebody has set it complete by hand; to start what depends on it: batchctl rerun {id} --reason TEXT",
    ),
    Invariant(
        "I24",
        "each due time of a schedule is decided once, and one that fired has its FileProcess row",
        "ScheduleFire",
        select(_fire.c.ScheduleFire_id)
        .where(
            or_(
                exists().where(
                    _same_fire.c.Schedule_id == _fire.c.Schedule_id,
                    _same_fire.c.FireKey == _fire.c.FireKey,
                    _same_fire.c.ScheduleFire_id < _fire.c.ScheduleFire_id,
                ),
                and_(_fire.c.Outcome == "fired", _fire.c.FileProcess_id.is_(None)),
                and_(_fire.c.Outcome != "fired", _fire.c.FileProcess_id.is_not(None)),
            )
        )
        .order_by(_fire.c.ScheduleFire_id),
        "somebody has written it by hand: look at the schedule's other rows of ScheduleFire, then delete the wrong one",
    ),
    Invariant(
        "I50",
        "a FileProcess row of a schedule stands for one of its due times, or a person has asked for it",
        "FileProcess",
        select(_f.FileProcess_id)
        .where(
            _f.Source.like("schedule %"),
            # With a schedule that was removed goes what was decided about it.
            exists().where(_SOURCE == _f.Source, _sched.z_inserted <= _f.z_inserted),
            not_(exists().where(_fire.c.FileProcess_id == _f.FileProcess_id)),
            not_(exists().where(audit_log.c.Action == RUN_NOW, audit_log.c.ValuesAfter == _NAMED_IN_AUDIT)),
        )
        .order_by(_f.FileProcess_id),
        "somebody has inserted it by hand, or deleted its row of ScheduleFire: a schedule's work is started by hand with"
        " batchctl schedule run NAME --reason TEXT",
    ),
    Invariant(
        "I51",
        "a schedule that is due once is disabled by having fired",
        "Schedule",
        select(_sched.Schedule_id)
        .where(
            _sched.ScheduleType == "once",
            _sched.Enabled == 1,
            exists().where(
                _fire.c.Schedule_id == _sched.Schedule_id,
                _fire.c.Outcome == "fired",
                _fire.c.ScheduleBackfill_id.is_(None),
                _fire.c.z_inserted == _sched.DecidedUntil,
            ),
        )
        .order_by(_sched.Schedule_id),
        "somebody has changed Enabled or DecidedUntil by hand: set DecidedUntil to NULL if it is to be due again",
    ),
    Invariant(
        "I52",
        "nothing is fired before it is due",
        "ScheduleFire",
        select(_fire.c.ScheduleFire_id)
        .where(_fire.c.Outcome == "fired", _fire.c.DueTime > _fire.c.z_inserted)
        .order_by(_fire.c.ScheduleFire_id),
        "somebody has changed DueTime or z_inserted by hand; nothing needs to be done to go on",
    ),
    Invariant(
        "I53",
        "what was decided belongs to a schedule that is there, and to one of its own backfills",
        "ScheduleFire",
        select(_fire.c.ScheduleFire_id)
        .where(
            or_(
                not_(exists().where(_sched.Schedule_id == _fire.c.Schedule_id)),
                and_(
                    _fire.c.ScheduleBackfill_id.is_not(None),
                    not_(
                        exists().where(
                            _fill.ScheduleBackfill_id == _fire.c.ScheduleBackfill_id,
                            _fill.Schedule_id == _fire.c.Schedule_id,
                        )
                    ),
                ),
            )
        )
        .order_by(_fire.c.ScheduleFire_id),
        "somebody has deleted a schedule with foreign keys switched off, or written it by hand: restore it, or delete these",
    ),
    Invariant(
        "I54",
        "a backfill belongs to a schedule that is there",
        "ScheduleBackfill",
        select(_fill.ScheduleBackfill_id)
        .where(not_(exists().where(_sched.Schedule_id == _fill.Schedule_id)))
        .order_by(_fill.ScheduleBackfill_id),
        "somebody has deleted its schedule with foreign keys switched off: restore that, or delete the backfill",
    ),
    Invariant(
        "I61",
        "of one problem at most one incident stands",
        "Incident",
        select(_inc.c.Incident_id)
        .where(
            _inc.c.ResolvedTime.is_(None),
            exists().where(
                _same_inc.c.IncidentKey == _inc.c.IncidentKey,
                _same_inc.c.Incident_id < _inc.c.Incident_id,
                _same_inc.c.ResolvedTime.is_(None),
            ),
        )
        .order_by(_inc.c.Incident_id),
        "somebody has dropped the index UX_Incident_Standing: set ResolvedTime and RecoveryTime of the later ones",
    ),
    Invariant(
        "I62",
        "an incident is resolved when it has a time at which it was, and nobody is told that before",
        "Incident",
        select(_inc.c.Incident_id)
        .where(
            or_(
                and_(_inc.c.ResolvedTime.is_(None), _inc.c.Status == "resolved"),
                and_(_inc.c.ResolvedTime.is_not(None), _inc.c.Status != "resolved"),
                _inc.c.RecoveryTime < _inc.c.ResolvedTime,
            ),
            # Of what was over when it was found it is never told.
            _inc.c.Kind != "no_worker",
        )
        .order_by(_inc.c.Incident_id),
        "somebody has changed Status, ResolvedTime or RecoveryTime by hand: let them agree",
    ),
    Invariant(
        "I63",
        "it is told once through each channel that an incident is over",
        "AlertDelivery",
        select(_mail.c.AlertDelivery_id)
        .where(
            _mail.c.Kind == "recovery",
            exists().where(
                _same_mail.c.Incident_id == _mail.c.Incident_id,
                _same_mail.c.Channel == _mail.c.Channel,
                _same_mail.c.Kind == "recovery",
                _same_mail.c.AlertDelivery_id < _mail.c.AlertDelivery_id,
            ),
        )
        .order_by(_mail.c.AlertDelivery_id),
        "nothing needs to be done: two messages have gone out; batchctl was not alone, or rows were written by hand",
    ),
    Invariant(
        "I64",
        "a message that was sent has a time at which it was, and was tried; no other has",
        "AlertDelivery",
        select(_mail.c.AlertDelivery_id)
        .where(
            or_(
                and_(_mail.c.Status == "sent", or_(_mail.c.SentTime.is_(None), _mail.c.Attempts == 0)),
                and_(_mail.c.Status != "sent", _mail.c.SentTime.is_not(None)),
            )
        )
        .order_by(_mail.c.AlertDelivery_id),
        "somebody has changed Status, SentTime or Attempts by hand: let them agree",
    ),
    Invariant(
        "I65",
        "a message is about an incident that is there",
        "AlertDelivery",
        select(_mail.c.AlertDelivery_id)
        .where(not_(exists().where(_inc.c.Incident_id == _mail.c.Incident_id)))
        .order_by(_mail.c.AlertDelivery_id),
        "somebody has deleted its incident with foreign keys switched off: delete the message",
    ),
    Invariant(
        "I25",
        "the seals of the audit log are numbered without a gap, and each goes on from the hash before it",
        "AuditSeal",
        select(_seal.c.AuditSeal_id)
        .where(
            _seal.c.SealNo > 1,
            not_(
                exists().where(
                    _before_seal.c.SealNo == _seal.c.SealNo - 1, _before_seal.c.RecordHash == _seal.c.PrevHash
                )
            ),
        )
        .order_by(_seal.c.AuditSeal_id),
        "somebody has changed or deleted seals by hand; which rows are concerned: batchctl audit verify",
    ),
    Invariant(
        "I38",
        "what was asked for by a row and is done stands in the audit log",
        "OperatorRequest",
        select(operator_request.c.OperatorRequest_id)
        .where(
            operator_request.c.Status == "done",
            not_(
                exists().where(
                    audit_log.c.Host
                    == literal("OperatorRequest:") + cast(operator_request.c.OperatorRequest_id, String(20))
                )
            ),
        )
        .order_by(operator_request.c.OperatorRequest_id),
        "somebody has written Status by hand, or deleted rows of AuditLog: batchctl audit verify",
    ),
)
