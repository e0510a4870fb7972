"""The laws of what starts work: completions, due times and backfills."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Column, ColumnElement, String, and_, cast, exists, func, literal, not_, or_, select

from batchctl.domain.text import NAME_LIMIT
from batchctl.store.invariants.invariant import Invariant, rows_of
from batchctl.store.maintenance.audit_entries import RUN_NOW
from batchctl.store.tables import (
    audit_log,
    batch_completion,
    batch_control,
    batch_dependency,
    file_process,
    schedule,
    schedule_backfill,
    schedule_fire,
)

_f, _c = file_process.c, batch_control.c
_d, _o, _other = batch_dependency.c, batch_completion.c, batch_completion.alias("other")
_fire, _same_fire = schedule_fire.alias("fire"), schedule_fire.alias("same_fire")
_sched, _fill = schedule.c, schedule_backfill.c
_SOURCE = func.substring(literal("schedule ") + _sched.ScheduleName, 1, NAME_LIMIT, type_=_f.Source.type)
"""What `FileProcess.Source` says of a schedule's work."""
_NAMED_IN_AUDIT = literal('{"FileProcess_id": ') + cast(_f.FileProcess_id, String(20)) + literal("}")


def _is_repeated(*alike: Column[Any]) -> ColumnElement[bool]:
    """Return the condition that a completion is the last of several that have the same values.

    They are grouped, and not looked for one by one: without statistics a server compares all with all.
    """
    same = [_other.c[column.name] for column in alike]
    groups = select(func.max(_other.c.BatchCompletion_id)).where(*(each.is_not(None) for each in same))
    return _o.BatchCompletion_id.in_(groups.group_by(*same).having(func.count() > 1))


OF_STARTS: tuple[Invariant, ...] = (
    Invariant(
        "I22",
        "what completions have started was started by one completion of each batch",
        rows_of(
            _o.BatchCompletion_id,
            or_(
                _is_repeated(_o.ProcessBatch_id, _o.BatchControl_id),
                _is_repeated(_o.ProcessBatch_id, _o.FileProcess_id, _o.DependsOnBatch_id),
            ),
        ),
        "somebody has written completions by hand; look in the target whether the batch that was started ran twice",
    ),
    Invariant(
        "I23",
        "a completion is that of an instance of the batch it names, and what it has started is of the same CycleKey",
        rows_of(
            _o.BatchCompletion_id,
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
            ),
        ),
        "somebody has written completions or a CycleKey by hand; nothing needs to be done to go on",
    ),
    Invariant(
        "I24",
        "each due time of a schedule is decided once, and one that fired has its FileProcess row",
        rows_of(
            _fire.c.ScheduleFire_id,
            or_(
                exists().where(
                    _same_fire.c.Schedule_id == _fire.c.Schedule_id,
                    _same_fire.c.FireKey == _fire.c.FireKey,
                    _same_fire.c.ScheduleFire_id < _fire.c.ScheduleFire_id,
                ),
                and_(_fire.c.Outcome == "fired", _fire.c.FileProcess_id.is_(None)),
                and_(_fire.c.Outcome != "fired", _fire.c.FileProcess_id.is_not(None)),
            ),
        ),
        "somebody has written it by hand: look at the schedule's other rows of ScheduleFire, then delete the wrong one",
    ),
    Invariant(
        "I45",
        "a completion was offered to every batch that depended on its batch when the instance was made",
        select(_c.BatchControl_id)
        .join(batch_dependency, _d.DependsOnBatch_id == _c.ProcessBatch_id)
        .where(
            _c.Status == "complete",
            _c.z_inserted > _d.z_inserted,
            not_(exists().where(_o.ProcessBatch_id == _d.ProcessBatch_id, _o.BatchControl_id == _c.BatchControl_id)),
        )
        .distinct(),
        "somebody has set it complete by hand; to start what depends on it: batchctl rerun {id} --reason TEXT",
    ),
    Invariant(
        "I50",
        "a FileProcess row of a schedule stands for one of its due times, or a person has asked for it",
        rows_of(
            _f.FileProcess_id,
            _f.Source.like("schedule %"),
            # With a schedule that was removed goes what was decided about it.
            exists().where(_SOURCE == _f.Source, _sched.z_inserted <= _f.z_inserted),
            not_(exists().where(_fire.c.FileProcess_id == _f.FileProcess_id)),
            not_(exists().where(audit_log.c.Action == RUN_NOW, audit_log.c.ValuesAfter == _NAMED_IN_AUDIT)),
        ),
        "somebody has inserted it by hand, or deleted its row of ScheduleFire: a schedule's work is started by hand with"
        " batchctl schedule run NAME --reason TEXT",
    ),
    Invariant(
        "I51",
        "a schedule that is due once is disabled by having fired",
        rows_of(
            _sched.Schedule_id,
            _sched.ScheduleType == "once",
            _sched.Enabled == 1,
            exists().where(
                _fire.c.Schedule_id == _sched.Schedule_id,
                _fire.c.Outcome == "fired",
                _fire.c.ScheduleBackfill_id.is_(None),
                _fire.c.z_inserted == _sched.DecidedUntil,
            ),
        ),
        "somebody has changed Enabled or DecidedUntil by hand: set DecidedUntil to NULL if it is to be due again",
    ),
    Invariant(
        "I52",
        "nothing is fired before it is due",
        rows_of(_fire.c.ScheduleFire_id, _fire.c.Outcome == "fired", _fire.c.DueTime > _fire.c.z_inserted),
        "somebody has changed DueTime or z_inserted by hand; nothing needs to be done to go on",
    ),
    Invariant(
        "I53",
        "what was decided belongs to a schedule that is there, and to one of its own backfills",
        rows_of(
            _fire.c.ScheduleFire_id,
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
            ),
        ),
        "somebody has deleted a schedule with foreign keys switched off, or written it by hand: restore it, or delete these",
    ),
    Invariant(
        "I54",
        "a backfill belongs to a schedule that is there",
        rows_of(_fill.ScheduleBackfill_id, not_(exists().where(_sched.Schedule_id == _fill.Schedule_id))),
        "somebody has deleted its schedule with foreign keys switched off: restore that, or delete the backfill",
    ),
)
