"""The laws of rows and instances, and of what these hold."""

from __future__ import annotations

from sqlalchemy import ColumnElement, Select, and_, bindparam, exists, func, not_, or_, select

from batchctl.domain.rows import DEFAULT_POOL
from batchctl.domain.status import InstanceStatus
from batchctl.store.comparison import exactly, same_data
from batchctl.store.definitions.definitions import ENTITY
from batchctl.store.invariants.invariant import (
    BROKEN,
    CLAIMED,
    Invariant,
    acted_on,
    has_failed_for_good,
    is_as_it_was,
    is_written_down,
    lets_go_on,
    rows_of,
)
from batchctl.store.maintenance.audit_entries import ACCEPT, target_of
from batchctl.store.tables import (
    audit_log,
    batch_control,
    batch_process_history,
    batch_resource,
    controller,
    controller_pool,
    file_process,
    pool,
    process_batch,
    resource,
)
from batchctl.store.tables import process_control as step
from batchctl.store.unreadable_columns import RESTORE

_f, _b, _c, _s = file_process.c, process_batch.c, batch_control.c, step.c
_r, _n = resource.c, batch_resource.c
_p, _k, _served = pool.c, controller.c, controller_pool.c
_h = batch_process_history.alias("h")
_OVER = ("complete", "cancelled")


def _instances(*conditions: ColumnElement[bool]) -> Select[int]:
    return rows_of(_c.BatchControl_id, *conditions)


_OF_INSTANCE = _h.c.BatchControl_id == _c.BatchControl_id
# Two levels down, only what is named is taken from outside.
_HAS_INSTANCE = (
    exists()
    .where(_c.FileProcess_id == _f.FileProcess_id, _c.ProcessBatch_id == _b.ProcessBatch_id)
    .correlate(file_process, process_batch)
)
_ANY_INSTANCE = exists().where(_c.FileProcess_id == _f.FileProcess_id)
_OPEN_INSTANCE = exists().where(_c.FileProcess_id == _f.FileProcess_id, _c.Status.not_in(_OVER))
_WAITS_FOR_A_BATCH = exists().where(ENTITY == _f.Entity, not_(_HAS_INSTANCE))
_IS_BEHIND = _h.c.ProcessControlSeq <= _c.PrevProcessControlSeq
_after = batch_process_history.alias("after")
_TRIED_AGAIN = exists().where(
    _after.c.BatchControl_id == _h.c.BatchControl_id,
    _after.c.ProcessControlSeq == _h.c.ProcessControlSeq,
    _after.c.AttemptNo > _h.c.AttemptNo,
)
_FAILED_BEHIND = (
    select(func.count())
    .select_from(_h)
    .where(_OF_INSTANCE, _IS_BEHIND, has_failed_for_good(_h.c), not_(_TRIED_AGAIN))
    .correlate(batch_control)
    .scalar_subquery()
)
_TOUCHED_BY_A_PERSON = acted_on(_c.BatchControl_id)
_DONE_EVER = exists().where(_OF_INSTANCE, _h.c.ProcessControlSeq == _s.ProcessControlSeq, lets_go_on(_h.c))
# Of the few that it returns more is asked then.
_LACKS_A_STEP = (
    select(_c.BatchControl_id)
    .join(step, and_(_s.ProcessBatch_id == _c.ProcessBatch_id, _s.z_inserted <= _c.z_updated))
    .where(_c.Status == "complete", not_(_DONE_EVER))
)
_same, _before = file_process.alias("same"), batch_control.alias("before")
_REPEATS_ANOTHER = exists().where(
    exactly(_same.c.Entity, _f.Entity),
    same_data(_same.c.Data, _f.Data),
    _before.c.FileProcess_id == _same.c.FileProcess_id,
    _before.c.ProcessBatch_id == _c.ProcessBatch_id,
    _before.c.BatchControl_id < _c.BatchControl_id,
)
_IS_ACCEPTED = exists().where(audit_log.c.Target == target_of(_f.FileProcess_id), audit_log.c.Action == ACCEPT)
_IS_CLAIMED = and_(_c.ProcessBatch_id == _b.ProcessBatch_id, _c.Status.in_(CLAIMED))
_BEGAN_IT = _k.ControllerName == _h.c.ClaimedBy
_SERVES_ANY = exists().where(_served.Controller_id == _k.Controller_id).correlate(controller)
_SERVES_IT = (
    exists()
    .where(_served.Controller_id == _k.Controller_id, _served.PoolName == func.coalesce(_c.NextPool, DEFAULT_POOL))
    .correlate(controller, batch_control)
)

OF_INSTANCES: tuple[Invariant, ...] = (
    Invariant(
        "I01",
        "a ready intake row has its instance for every batch that takes its entity",
        select(_f.FileProcess_id)
        .select_from(file_process)
        .join(process_batch, ENTITY == _f.Entity)
        .where(_f.Status == "ready", _f.Message.is_(None), _f.z_updated < bindparam("settled"), not_(_HAS_INSTANCE))
        .distinct(),
        "batchctl create, and see that a controller runs",
    ),
    Invariant(
        "I02",
        "an intake row is complete exactly when all its instances are over",
        rows_of(
            _f.FileProcess_id,
            or_(
                and_(_f.Status == "complete", _OPEN_INSTANCE),
                and_(_f.Status == "ready", _ANY_INSTANCE, not_(_OPEN_INSTANCE), not_(_WAITS_FOR_A_BATCH)),
            ),
        ),
        "batchctl why file:{id}; then correct its Status (UPDATE FileProcess ...)",
    ),
    Invariant(
        "I04",
        "an instance has an owner exactly while it is claimed",
        _instances(
            or_(
                and_(_c.Status.in_(CLAIMED), _c.ClaimedBy.is_(None)),
                and_(_c.Status.not_in(CLAIMED), _c.ClaimedBy.is_not(None)),
            )
        ),
        "batchctl show {id}; a controller that starts releases it, or set ClaimedBy to NULL",
    ),
    Invariant(
        "I08",
        "PrevProcessControlSeq is the last step that succeeded, or that the instance went past",
        _instances(
            not_(_TOUCHED_BY_A_PERSON),
            _c.PrevProcessControlSeq
            != select(func.coalesce(func.max(_h.c.ProcessControlSeq), 0))
            .where(_OF_INSTANCE, lets_go_on(_h.c), or_(_h.c.Status.not_in(BROKEN), _IS_BEHIND))
            .correlate(batch_control)
            .scalar_subquery(),
        ),
        "batchctl history {id}; then set PrevProcessControlSeq to the last step that succeeded",
    ),
    Invariant(
        "I09",
        "of a complete instance every step has succeeded, or was gone past as OnStepFailure says",
        _instances(_c.BatchControl_id.in_(_LACKS_A_STEP), is_as_it_was(_c.BatchControl_id)),
        "batchctl history {id}; look in the target what is missing; then: batchctl rerun {id} --from SEQ --reason ...",
    ),
    Invariant(
        "I13",
        "an instance stands in a status that there is",
        _instances(_c.Status.not_in([status.value for status in InstanceStatus])),
        "batchctl check; then correct Status (UPDATE BatchControl ...)",
    ),
    Invariant(
        "I19",
        "a step fails unasked at most once more than it, or its batch, allows retries",
        select(_h.c.BatchControl_id)
        .select_from(_h)
        .join(process_batch, _b.ProcessBatch_id == _h.c.ProcessBatch_id)
        .join(batch_control, _OF_INSTANCE)
        .join(
            step,
            and_(_s.ProcessBatch_id == _h.c.ProcessBatch_id, _s.ProcessControlSeq == _h.c.ProcessControlSeq),
        )
        .where(_h.c.Status.in_(BROKEN), not_(_TOUCHED_BY_A_PERSON))
        .group_by(_h.c.BatchControl_id, _h.c.ProcessControlSeq, _s.RetryCount, _b.RetryCount)
        .having(func.count() > 1 + func.coalesce(_s.RetryCount, _b.RetryCount)),
        "look whether RetryCount of the step or its batch was lowered meanwhile",
    ),
    Invariant(
        "I60",
        "StepsFailed counts the steps behind an instance whose last attempt failed",
        _instances(_c.StepsFailed.is_not(None), _c.StepsFailed != _FAILED_BEHIND),
        "batchctl history {id}; then set StepsFailed to the number of steps up to PrevProcessControlSeq that failed last",
    ),
    Invariant(
        "I21",
        "a claimed instance belongs to a controller that is entered in Controller",
        _instances(
            _c.Status.in_(CLAIMED),
            _c.ClaimedBy.is_not(None),
            not_(exists().where(controller.c.ControllerName == _c.ClaimedBy)),
        ),
        "somebody has deleted the row of the controller, or claimed by hand; a controller that runs takes it over",
    ),
    Invariant(
        "I28",
        "an instance's token is never below that of one of its attempts",
        _instances(exists().where(_OF_INSTANCE, _h.c.ClaimToken > _c.ClaimToken)),
        "somebody has set ClaimToken back by hand: set it to the highest in its history",
    ),
    Invariant(
        "I41",
        "no more instances of a batch are claimed than its MaxConcurrent",
        select(_b.ProcessBatch_id)
        .join(batch_control, _IS_CLAIMED)
        .group_by(_b.ProcessBatch_id, _b.MaxConcurrent)
        .having(func.count() > _b.MaxConcurrent),
        "look whether MaxConcurrent was lowered meanwhile: what had begun goes on",
    ),
    Invariant(
        "I42",
        "claimed instances hold no more units of a resource than it has",
        select(_r.Resource_id)
        .join(batch_resource, _n.Resource_id == _r.Resource_id)
        .join(process_batch, _b.ProcessBatch_id == _n.ProcessBatch_id)
        .join(batch_control, _IS_CLAIMED)
        .group_by(_r.Resource_id, _r.Units)
        .having(func.sum(_n.Units) > _r.Units),
        "look whether Units of Resource or BatchResource was changed meanwhile: what had begun goes on",
    ),
    Invariant(
        "I43",
        "an instance that holds a resource exclusively holds it alone",
        select(_r.Resource_id)
        .join(batch_resource, _n.Resource_id == _r.Resource_id)
        .join(process_batch, _b.ProcessBatch_id == _n.ProcessBatch_id)
        .join(batch_control, _IS_CLAIMED)
        .group_by(_r.Resource_id)
        .having(and_(func.max(_n.Exclusive) == 1, func.count() > 1)),
        "look whether Exclusive of BatchResource was changed meanwhile: what had begun goes on",
    ),
    Invariant(
        "I44",
        "a claimed instance has an attempt under way",
        _instances(
            _c.Status.in_(CLAIMED),
            not_(exists().where(_OF_INSTANCE, _h.c.Status == "running", _h.c.ClaimToken == _c.ClaimToken)),
        ),
        "somebody has deleted the attempt, or claimed by hand: end the controller that ClaimedBy names, then start one",
    ),
    Invariant(
        "I47",
        "an instance is one of a batch and of a FileProcess row that are there",
        _instances(
            or_(
                not_(exists().where(_f.FileProcess_id == _c.FileProcess_id)),
                not_(exists().where(_b.ProcessBatch_id == _c.ProcessBatch_id)),
            )
        ),
        RESTORE,
    ),
    Invariant(
        "I56",
        "what repeats the Data of another row is no second work of a batch, unless a person has accepted it",
        select(_c.BatchControl_id)
        .select_from(batch_control)
        .join(process_batch, and_(_b.ProcessBatch_id == _c.ProcessBatch_id, _b.DuplicateCheck == 1))
        .join(file_process, _f.FileProcess_id == _c.FileProcess_id)
        .where(_f.Data.is_not(None), _REPEATS_ANOTHER, not_(_IS_ACCEPTED)),
        "look whether DuplicateCheck was switched on, or AuditLog purged, meanwhile; else look in the target what was done twice",
    ),
    Invariant(
        "I66",
        "the version of the batch that an instance was made for is written down",
        _instances(_c.DefVersion.is_not(None), not_(is_written_down(_c.ProcessBatch_id, _c.DefVersion))),
        "somebody has changed DefVersion, or deleted rows of BatchVersion, by hand; nothing needs to be done to go on",
    ),
    Invariant(
        "I91",
        "a step under way was begun by a controller that serves its pool",
        _instances(
            _c.Status.in_(CLAIMED),
            exists()
            .where(_OF_INSTANCE, _h.c.Status == "running", _h.c.ClaimToken == _c.ClaimToken, _BEGAN_IT)
            .where(not_(_SERVES_IT), or_(_c.NextPool.is_not(None), _SERVES_ANY))
            .correlate(batch_control),
        ),
        "batchctl show {id}; look whether NextPool, or rows of ControllerPool, were changed by hand: what has begun goes on",
    ),
    Invariant(
        "I92",
        "no more instances have a step of a pool under way than its MaxConcurrent",
        select(_p.Pool_id)
        .join(batch_control, and_(_c.Status.in_(CLAIMED), func.coalesce(_c.NextPool, DEFAULT_POOL) == _p.PoolName))
        .group_by(_p.Pool_id, _p.MaxConcurrent)
        .having(func.count() > _p.MaxConcurrent),
        "look whether MaxConcurrent of Pool was lowered meanwhile: what had begun goes on",
    ),
)
