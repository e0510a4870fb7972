"""The laws of the history: of attempts at steps, and of how long they took."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    ColumnElement,
    FrameClause,
    FrameClauseType,
    FromClause,
    Integer,
    Select,
    and_,
    bindparam,
    case,
    exists,
    func,
    literal,
    not_,
    or_,
    select,
)

from batchctl.domain.rows import CONFIRM
from batchctl.domain.status import HistoryStatus
from batchctl.store.conditions import differing
from batchctl.store.invariants.invariant import (
    BROKEN,
    CLAIMED,
    DONE,
    Invariant,
    acted_on,
    has_failed_for_good,
    is_as_it_was,
    is_written_down,
    lets_go_on,
    rows_of,
)
from batchctl.store.tables import batch_control, batch_process_history, duration_history, step_output
from batchctl.store.tables import process_control as step

_c, _s = batch_control.c, step.c
_q = duration_history.c
_h = batch_process_history.alias("h")
_earlier, _later = batch_process_history.alias("earlier"), batch_process_history.alias("later")
_ID, _PREVIOUS = _h.c.BatchProcessHistory_id, _earlier.c.BatchProcessHistory_id

_NOT_OVER = [status.value for status in HistoryStatus if not status.is_over]


def _attempts(*conditions: ColumnElement[bool]) -> Select[int]:
    return rows_of(_ID, *conditions)


_OF_INSTANCE = _h.c.BatchControl_id == _c.BatchControl_id
_SAME_STEP = and_(
    _earlier.c.BatchControl_id == _h.c.BatchControl_id, _earlier.c.ProcessControlSeq == _h.c.ProcessControlSeq
)
_DONE_BEFORE = exists().where(
    _earlier.c.BatchControl_id == _h.c.BatchControl_id,
    _earlier.c.ProcessControlSeq == _s.ProcessControlSeq,
    lets_go_on(_earlier.c),
    _earlier.c.EndTime <= _h.c.StartTime,
)
# What an attempt has to do with those before it is asked of all of them at once, in the order of their making: compared
# each with each, the attempts of an instance that was tried a hundred times would be ten thousand pairs.
_BEFORE: dict[str, Any] = {"partition_by": _h.c.BatchControl_id, "order_by": _ID}
# Written out, not bound: SQLite walks all rows once more for each window whose frame it cannot tell from another's.
_ONE = bindparam("one", 1, Integer, literal_execute=True)
_TO_THE_ONE_BEFORE = FrameClause(None, _ONE, FrameClauseType.UNBOUNDED, FrameClauseType.PRECEDING)
_ALL_BEFORE: dict[str, Any] = {**_BEFORE, "rows": _TO_THE_ONE_BEFORE}
_NEVER = literal(datetime(9999, 12, 31, tzinfo=UTC), _h.c.EndTime.type)


def _in_turn(
    *columns: ColumnElement[Any], of: Select[int] | None = None, joined: FromClause | None = None
) -> FromClause:
    """Return all attempts, or those of some instances, each with what comes of those before it."""
    attempts = select(_ID, *columns)
    if joined is not None:
        attempts = attempts.select_from(_h.outerjoin(joined, _WENT_PAST))
    return (attempts if of is None else attempts.where(_h.c.BatchControl_id.in_(of))).subquery("turn")


# Joined, not looked up: SQL Server lets no aggregate look anything up.
_went = batch_control.alias("went")
_GOES_ON = or_(_h.c.Status.in_(DONE), _went.c.BatchControl_id.is_not(None))
_WENT_PAST = and_(
    _went.c.BatchControl_id == _h.c.BatchControl_id, _went.c.StepsFailed.is_not(None), has_failed_for_good(_h.c)
)
_TURNS = _in_turn(
    _h.c.BatchControl_id,
    _h.c.ProcessBatch_id,
    _h.c.ProcessControlSeq,
    _h.c.ClaimToken,
    _h.c.StartTime,
    func.max(_h.c.ClaimToken).over(**_ALL_BEFORE).label("highest"),
    func.max(func.coalesce(_h.c.EndTime, _NEVER)).over(**_ALL_BEFORE).label("ended"),
    func.coalesce(func.max(_h.c.ProcessControlSeq).over(**_ALL_BEFORE), 0).label("reached"),
    func.coalesce(func.max(case((_GOES_ON, _h.c.ProcessControlSeq))).over(**_ALL_BEFORE), 0).label("done"),
    joined=_went,
)
_DUE = _in_turn(
    _h.c.StartTime,
    _h.c.Cause,
    func.lag(_h.c.NextRunTimeAfter).over(**_BEFORE).label("due"),
    of=select(_later.c.BatchControl_id).where(_later.c.NextRunTimeAfter.is_not(None)),
)
_RETRIES = _in_turn(
    _h.c.Status,
    _h.c.Cause,
    _h.c.RetryCountAfter,
    func.lag(_h.c.RetryCountAfter).over(**_BEFORE).label("left_before"),
    # What a step that was gone past was left with says nothing of the next one.
    func.lag(case((_h.c.Status.in_(BROKEN), _h.c.ProcessControlSeq), else_=0)).over(**_BEFORE).label("failed_before"),
    _h.c.ProcessControlSeq,
    of=select(_later.c.BatchControl_id).where(_later.c.Status.in_(BROKEN)),
)


def _of_turns(turns: FromClause, *conditions: ColumnElement[bool]) -> Select[int]:
    return rows_of(turns.c.BatchProcessHistory_id, *conditions)


_STRAYS = or_(
    _TURNS.c.ProcessControlSeq < _TURNS.c.reached,
    and_(_TURNS.c.ProcessControlSeq == _TURNS.c.reached, _TURNS.c.done >= _TURNS.c.reached),
    and_(
        _TURNS.c.ProcessControlSeq > _TURNS.c.reached,
        or_(
            _TURNS.c.done < _TURNS.c.reached,
            _TURNS.c.ended > _TURNS.c.StartTime,
            exists().where(
                _s.ProcessBatch_id == _TURNS.c.ProcessBatch_id,
                _s.ProcessControlSeq > _TURNS.c.reached,
                _s.ProcessControlSeq < _TURNS.c.ProcessControlSeq,
                _s.z_inserted <= _TURNS.c.StartTime,
            ),
        ),
    ),
)
"""The condition that an instance strays from its steps: few do, and only of these each attempt is looked at."""
_STRAYED = select(_TURNS.c.BatchControl_id).where(_STRAYS)
# Where statistics are old PostgreSQL would look for them anew for every attempt.
_SUSPECTS = _STRAYED.cte("suspect").prefix_with("MATERIALIZED", dialect="postgresql")
# What a person asked for may fail first, and succeed when it is tried again.
_ASKED_SINCE = exists().where(
    _later.c.BatchControl_id == _h.c.BatchControl_id,
    _later.c.ProcessControlSeq == _h.c.ProcessControlSeq,
    _later.c.Cause == "manual",
    _later.c.BatchProcessHistory_id > _PREVIOUS,
    _later.c.BatchProcessHistory_id <= _ID,
)
_LEFT_BEFORE = _RETRIES.c.left_before

# When a command ended may come from the clock of its host.
_ENDS_EARLY = differing(
    "h.EndTime < h.StartTime - INTERVAL '1 minute'",
    "h.EndTime < strftime('%Y-%m-%d %H:%M:%f', h.StartTime, '-1 minute')",
    "h.EndTime < DATEADD(minute, -1, h.StartTime)",
)

OF_ATTEMPTS: tuple[Invariant, ...] = (
    Invariant(
        "I03",
        "an instance has at most one attempt under way",
        select(_h.c.BatchControl_id)
        .where(_h.c.Status == "running")
        .group_by(_h.c.BatchControl_id)
        .having(func.count() > 1),
        "stop every controller; find out which attempt is real; close the others by hand as lost",
    ),
    Invariant(
        "I05",
        "an attempt under way carries the token of its claimed instance",
        _attempts(
            _h.c.Status == "running",
            not_(exists().where(_OF_INSTANCE, _c.Status.in_(CLAIMED), _c.ClaimToken == _h.c.ClaimToken)),
        ),
        "it counts for nothing; a controller that starts records it as lost",
        "attempts",
    ),
    Invariant(
        "I06",
        "a step succeeds once, unless a person asks again",
        select(_h.c.BatchControl_id)
        .join(_earlier, and_(_SAME_STEP, _PREVIOUS < _ID, _earlier.c.Cause != "manual", _earlier.c.Status == "success"))
        .where(_h.c.Status == "success", not_(_ASKED_SINCE))
        .distinct(),
        "batchctl history {id}; look in the target what was done twice",
    ),
    Invariant(
        "I07",
        "a step starts after the success of every step before it",
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
        .where(
            _h.c.BatchControl_id.in_(select(_SUSPECTS.c.BatchControl_id)),
            _h.c.Cause != "manual",
            not_(_DONE_BEFORE),
            is_as_it_was(_h.c.BatchControl_id),
        )
        .distinct(),
        "look whether the batch's steps were renumbered meanwhile; else look in the target what is missing",
        "turns",
        _STRAYS,
    ),
    Invariant(
        "I10",
        "nothing starts after completion unless a person asks",
        select(_ID)
        .select_from(_h)
        .join(batch_control, _OF_INSTANCE)
        .where(_c.Status == "complete", _h.c.Cause != "manual", _h.c.StartTime > _c.z_updated),
        "look whether the clock of the database was set back; else look in the target what was done twice",
    ),
    Invariant(
        "I11",
        "attempts of one instance do not overlap",
        _of_turns(_TURNS, _TURNS.c.ended > _TURNS.c.StartTime),
        "look whether the clock of the database was set back; else look in the target what was done twice",
        "turns",
    ),
    Invariant(
        "I12",
        "an attempt has an EndTime exactly when it is over",
        _attempts(
            or_(
                and_(_h.c.Status.in_(_NOT_OVER), _h.c.EndTime.is_not(None)),
                and_(_h.c.Status.not_in(_NOT_OVER), _h.c.EndTime.is_(None)),
            )
        ),
        "batchctl check, which names the constraint that is missing",
        "attempts",
    ),
    Invariant(
        "I13h",
        "an attempt stands in a status that there is",
        _attempts(_h.c.Status.not_in([status.value for status in HistoryStatus])),
        "batchctl check; then correct Status (UPDATE BatchProcessHistory ...)",
        "attempts",
    ),
    Invariant(
        "I14",
        "the attempts at a step are numbered 1, 2, 3 and so on",
        select(_h.c.BatchControl_id)
        .group_by(_h.c.BatchControl_id, _h.c.ProcessControlSeq)
        .having(or_(func.min(_h.c.AttemptNo) != 1, func.max(_h.c.AttemptNo) != func.count())),
        "somebody has deleted history, or tokens were reset; nothing needs to be done to go on",
    ),
    Invariant(
        "I15",
        "tokens never go back within an instance",
        _of_turns(_TURNS, _TURNS.c.ClaimToken < _TURNS.c.highest),
        "somebody has set ClaimToken back by hand: set it beyond the highest in the history",
        "turns",
    ),
    Invariant(
        "I16",
        "a failure takes one retry of those there were, and a fatal one none",
        _of_turns(
            _RETRIES,
            _RETRIES.c.Status.in_(BROKEN),
            _RETRIES.c.Cause != "manual",
            _LEFT_BEFORE.is_not(None),
            _RETRIES.c.failed_before.in_([0, _RETRIES.c.ProcessControlSeq]),
            or_(
                _RETRIES.c.RetryCountAfter.is_(None),
                and_(
                    _RETRIES.c.RetryCountAfter != case((_LEFT_BEFORE > 0, _LEFT_BEFORE - 1), else_=0),
                    # What no retry can mend takes none, and leaves the instance failed.
                    _RETRIES.c.RetryCountAfter != _LEFT_BEFORE,
                ),
            ),
        ),
        "look whether somebody has changed RetryCount by hand; nothing needs to be done to go on",
    ),
    Invariant(
        "I17",
        "a success says how many retries it leaves",
        _attempts(_h.c.Status == "success", _h.c.RetryCountAfter.is_(None)),
        "somebody has written history by hand; nothing needs to be done to go on",
        "attempts",
    ),
    Invariant(
        "I18",
        "no attempt starts before the NextRunTime that the one before it set",
        _of_turns(_DUE, _DUE.c.Cause != "manual", _DUE.c.StartTime < _DUE.c.due),
        "look whether somebody has changed NextRunTime, or the clock of the database was set back",
    ),
    Invariant(
        "I20",
        "a lost step with OnLost hold is never tried again unasked",
        select(_ID)
        .select_from(_h)
        .join(_earlier, and_(_SAME_STEP, _earlier.c.AttemptNo == _h.c.AttemptNo - 1))
        .join(
            step,
            and_(
                _s.ProcessBatch_id == _h.c.ProcessBatch_id,
                _s.ProcessControlSeq == _h.c.ProcessControlSeq,
                _s.OnLost == "hold",
                # A question changes nothing: it is asked again.
                _h.c.ProcessType != CONFIRM,
            ),
        )
        .where(_earlier.c.Status == "lost", _earlier.c.Spawned.is_not(None), _h.c.Cause.not_in(["manual", "verify"])),
        "look whether OnLost was changed meanwhile; else look in the target what was done twice",
    ),
    Invariant(
        "I26",
        "what was done because a person asked for it is in the audit log",
        _attempts(_h.c.Cause == "manual", not_(acted_on(_h.c.BatchControl_id))),
        "somebody has set a status by hand; the commands rerun and skip leave a trace",
        "attempts",
    ),
    Invariant(
        "I27",
        "what was spawned has a process or a session, and a command that was not has no return code",
        _attempts(
            or_(
                # What was lost before that was recorded counts as spawned, because it may have been.
                and_(_h.c.Spawned.is_not(None), _h.c.Pid.is_(None), _h.c.DbSession.is_(None), _h.c.Status != "lost"),
                # Another handler may carry out in the controller itself what returns a code, a request for example.
                and_(_h.c.ProcessType == "os_command", _h.c.Spawned.is_(None), _h.c.ReturnCode.is_not(None)),
            )
        ),
        "somebody has written history by hand; nothing needs to be done to go on",
        "attempts",
    ),
    Invariant(
        "I48",
        "an attempt is one of an instance that is there",
        _attempts(not_(exists().where(_OF_INSTANCE, _c.ProcessBatch_id == _h.c.ProcessBatch_id))),
        "somebody has deleted instances with foreign keys switched off; purge never leaves such: restore them, or delete these",
        "attempts",
    ),
    Invariant(
        "I49",
        "the lengths kept of purged attempts do not contradict each other",
        rows_of(
            _q.DurationHistory_id,
            or_(_q.MaxMs > _q.UpToMs, _q.TotalMs < _q.MinMs * _q.Runs, _q.TotalMs > _q.MaxMs * _q.Runs),
        ),
        "somebody has written them by hand; graph goes by them where there is no history any more",
    ),
    Invariant(
        "I93",
        "nothing is left of what an attempt had written so far once it has ended",
        _attempts(
            _h.c.Status != HistoryStatus.RUNNING.value,
            exists().where(step_output.c.BatchProcessHistory_id == _ID),
        ),
        "somebody has written history or StepOutput by hand: delete these rows of StepOutput, Output says it in full",
        "attempts",
    ),
    Invariant(
        "I55",
        "no attempt ends before it has begun",
        _attempts(_h.c.EndTime < _h.c.StartTime, _ENDS_EARLY),
        "look whether the clock of the database, or of its host, was set back; else somebody has written history by hand",
        "attempts",
    ),
    Invariant(
        "I67",
        "the version of the batch that an attempt went by is written down",
        _attempts(_h.c.DefVersion.is_not(None), not_(is_written_down(_h.c.ProcessBatch_id, _h.c.DefVersion))),
        "somebody has changed DefVersion, or deleted rows of BatchVersion, by hand; nothing needs to be done to go on",
        "attempts",
    ),
)
