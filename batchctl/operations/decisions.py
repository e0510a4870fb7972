"""What each operator verb makes of an instance, and what to do instead where it is not possible. Decided purely."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from enum import StrEnum

from batchctl.domain import moves
from batchctl.domain.definitions.sql_jobs import ORIGIN, correcting
from batchctl.domain.errors import NotFound, Refused, StatusChanged
from batchctl.domain.operators.confirmations import Confirmation
from batchctl.domain.placeholders import used_by
from batchctl.domain.rows import LONG_AGO, BatchDefinition, BatchInstance, DataValues, HistoryEntry, Step
from batchctl.domain.status import TRANSITIONS, HistoryStatus, InstanceStatus, InstanceVerb
from batchctl.domain.text import unfit, visible


class Action(StrEnum):
    """What a person may do to an instance."""

    RERUN = "rerun"
    PAUSE = "pause"
    RESUME = "resume"
    CANCEL = "cancel"
    SKIP = "skip"
    CONFIRM = "confirm"
    REFUSE = "refuse"

    @property
    def is_answer(self) -> bool:
        """Say whether it answers the question of a step."""
        return self in {Action.CONFIRM, Action.REFUSE}


_S, _V = InstanceStatus, InstanceVerb

_VERBS: dict[Action, tuple[InstanceVerb, ...]] = {
    Action.RERUN: (_V.RERUN,),
    Action.PAUSE: (_V.REQUEST_PAUSE, _V.PAUSE),
    Action.RESUME: (_V.RESUME,),
    Action.CANCEL: (_V.REQUEST_CANCEL, _V.CANCEL),
    Action.SKIP: (_V.SKIP,),
}
_THE_CONTROLLERS = {(_V.PAUSE, _S.PAUSING), (_V.CANCEL, _S.CANCELLING)}
"""Moves that follow from a request once the running step has ended; no person makes them."""

_ADVICE: dict[Action, dict[InstanceStatus, str]] = {
    Action.RERUN: {
        _S.READY: "batchctl why {id}   (it is going to run; to change it first: batchctl pause {id}, then rerun it)",
        _S.RUNNING: "batchctl cancel {id} --reason ...   (stops the running step; then rerun it)",
        _S.PAUSING: "batchctl show {id}   (it pauses when its running step ends; then rerun it)",
        _S.CANCELLING: "batchctl show {id}   (its running step is being stopped; then rerun it)",
    },
    Action.PAUSE: {
        _S.PAUSING: "batchctl show {id}   (it pauses when its running step ends)",
        _S.PAUSED: "batchctl resume {id}   (when it may go on)",
        _S.FAILED: "batchctl rerun {id} --reason ...   (nothing of it runs until then)",
        _S.HELD: "batchctl show {id}   (nothing of it runs until somebody reruns or skips)",
        _S.CANCELLING: "batchctl show {id}   (its running step is being stopped)",
        _S.CANCELLED: "batchctl show {id}   (nothing of it runs any more)",
        _S.COMPLETE: "batchctl show {id}   (nothing of it runs any more)",
    },
    Action.RESUME: {
        _S.READY: "batchctl why {id}   (it is not paused)",
        _S.RUNNING: "batchctl show {id}   (it is not paused)",
        _S.RETRY: "batchctl why {id}   (it is not paused; to try again at once: batchctl rerun {id} --reason ...)",
        _S.FAILED: "batchctl rerun {id} --reason ...",
        _S.HELD: "batchctl rerun {id} --reason ...   (or: batchctl skip {id} --reason ...)",
        _S.CANCELLING: "batchctl show {id}   (its running step is being stopped; then rerun it)",
        _S.CANCELLED: "batchctl rerun {id} --reason ...",
        _S.COMPLETE: "batchctl rerun {id} --from SEQ --reason ...",
    },
    Action.CANCEL: {
        _S.CANCELLING: "batchctl show {id}   (its running step is being stopped)",
        _S.CANCELLED: "batchctl show {id}",
        _S.COMPLETE: "batchctl show {id}   (all its steps are done)",
    },
    Action.SKIP: {
        _S.READY: "batchctl pause {id}   (then skip the step)",
        _S.RUNNING: "batchctl pause {id}   (the running step ends first; then skip what follows)",
        _S.PAUSING: "batchctl show {id}   (it pauses when its running step ends; then skip what follows)",
        _S.CANCELLING: "batchctl show {id}   (its running step is being stopped)",
        _S.CANCELLED: "batchctl rerun {id} --reason ...   (then pause it, and skip the step)",
        _S.COMPLETE: "batchctl show {id}   (no step is left)",
    },
}


def named(instance: BatchInstance) -> str:
    """Name an instance in a message."""
    return f"BatchControl {instance.instance_id}"


def target(instance: BatchInstance, action: Action) -> InstanceStatus:
    """Return the status an action leaves; raises `StatusChanged` where it is not possible."""
    # What is ready starts by itself as soon as it may; only what was given a time can be told not to wait for it.
    starts_by_itself = instance.status is InstanceStatus.READY and instance.next_run_time <= LONG_AGO
    if action is Action.RERUN and starts_by_itself:
        raise _impossible(instance, action)
    for verb in _VERBS[action]:
        if instance.status in TRANSITIONS[verb] and (verb, instance.status) not in _THE_CONTROLLERS:
            return TRANSITIONS[verb][instance.status]
    raise _impossible(instance, action)


def possible(instance: BatchInstance, *, is_asked: bool) -> list[Action]:
    """Return what a person may do to an instance as it stands; one that waits with a question is answered, not resumed."""
    found = [Action.CONFIRM, Action.REFUSE] if is_asked else []
    for action in _VERBS:
        with suppress(StatusChanged):
            target(instance, action)
            found.append(action)
    return [action for action in found if not (is_asked and action is Action.RESUME)]


def _impossible(instance: BatchInstance, action: Action) -> StatusChanged:
    advice = _ADVICE[action][instance.status].format(id=instance.instance_id)
    return StatusChanged(named(instance), instance.status, action, next_step=advice)


def pause(instance: BatchInstance) -> BatchInstance:
    """Pause it, or ask that it pauses when its running step ends."""
    return replace(instance, status=target(instance, Action.PAUSE))


def resume(instance: BatchInstance) -> BatchInstance:
    """Let it go on as it was: one that waited for a retry waits for it still.

    One that was never claimed has nothing to be tried again: its time was given to it, as by a throttle.
    """
    status = target(instance, Action.RESUME)
    was_tried = instance.claim_token > 0
    if instance.status is InstanceStatus.PAUSED and was_tried and instance.next_run_time > LONG_AGO:
        status = TRANSITIONS[InstanceVerb.RESUME_RETRY][instance.status]
    return replace(instance, status=status)


def cancel(instance: BatchInstance) -> BatchInstance:
    """Cancel it, or ask that its running step is stopped."""
    return replace(instance, status=target(instance, Action.CANCEL))


def skip(instance: BatchInstance, batch: BatchDefinition) -> BatchInstance:
    """Count the next step as done; behind the last one the instance is complete."""
    status = target(instance, Action.SKIP)
    step = batch.step_after(instance.last_seq)
    if step is None:
        message = f"{named(instance)} has no step left to skip."
        raise Refused(message, next_step=f"batchctl rerun {instance.instance_id} --reason ...   (completes it)")
    if batch.step_after(step.seq) is None:
        status = InstanceStatus.COMPLETE
    return _afresh(instance, batch, status, step.seq)


def answered(instance: BatchInstance, batch: BatchDefinition, seq: int, *, confirmed: bool) -> BatchInstance:
    """Let it go on behind the step that asked, or fail there; behind the last step the instance is complete."""
    move = moves.answered(instance, batch, seq, confirmed=confirmed)
    return replace(
        instance,
        status=TRANSITIONS[move.verb][instance.status],
        last_seq=move.last_seq,
        retry_count=move.retry_count,
        next_run_time=move.next_run_time,
        lost_count=move.lost_count,
        next_pool=move.next_pool,
        steps_failed=(instance.steps_failed or 0) + 1 if move.passed else instance.steps_failed,
    )


def check_unasked(instance: BatchInstance, action: Action, question: Confirmation | None) -> None:
    """Refuse to pass over a question: what waits for its answer is answered, skipped, run again or cancelled."""
    if question is not None and action in {Action.RESUME, Action.PAUSE}:
        message = f"{named(instance)} waits for an answer: {question.wording}."
        raise Refused(message, next_step=question.answering)


def rerun(
    instance: BatchInstance,
    batch: BatchDefinition,
    from_seq: int | None = None,
    corrections: Mapping[str, str | None] | None = None,
) -> BatchInstance:
    """Make it ready again: at the step that failed, or at a chosen one; with corrected values."""
    status = target(instance, Action.RERUN)
    if from_seq is None and instance.status is InstanceStatus.COMPLETE:
        message = f"{named(instance)} is complete: say from which step to run it again. {_steps_of(batch)}"
        first = batch.steps[0].seq if batch.steps else "SEQ"
        raise Refused(message, next_step=f"batchctl rerun {instance.instance_id} --from {first} --reason ...")
    last_seq = instance.last_seq if from_seq is None else _before(instance, batch, from_seq)
    if batch.origin == ORIGIN:
        _check_used(batch, corrections or {}, last_seq)
    corrected = replace(instance, data=_corrected(instance.data, corrections or {}))
    return _afresh(corrected, batch, status, last_seq)


def unused(batch: BatchDefinition, corrections: Iterable[str], last_seq: int) -> tuple[str, ...]:
    """Return which values are corrected though no step behind `last_seq` uses them."""
    used = used_by(step for step in batch.steps if step.seq > last_seq)
    return tuple(name for name in corrections if name not in used)


def recounted(after: BatchInstance, entries: Iterable[HistoryEntry]) -> BatchInstance:
    """Return it with the steps counted that are behind it still and failed last; `entries` are its attempts in order."""
    last = {entry.seq: entry.status for entry in entries if entry.seq <= after.last_seq}
    failed = sum(status in {HistoryStatus.FAILED, HistoryStatus.TIMEOUT} for status in last.values())
    return replace(after, steps_failed=failed)


def passed_over(
    action: Action, before: BatchInstance, after: BatchInstance, batch: BatchDefinition
) -> tuple[Step, ...]:
    """Return the steps that a person decides to go on without."""
    if action.is_answer:
        return ()
    return tuple(step for step in batch.steps if before.last_seq < step.seq <= after.last_seq)


def _check_used(batch: BatchDefinition, corrections: Iterable[str], last_seq: int) -> None:
    """Refuse values that the SQL of a job does not use: it would be carried out once more as it is."""
    names = unused(batch, corrections, last_seq)
    if names:
        given = " and ".join(names)
        message = f"No step of job {visible(batch.name)} uses {given}: what it carries out stands in the job itself."
        raise Refused(message, next_step=f"{correcting(batch.name, names[0])}, then rerun it without --set")


def _afresh(instance: BatchInstance, batch: BatchDefinition, status: InstanceStatus, last_seq: int) -> BatchInstance:
    return replace(
        instance,
        status=status,
        last_seq=last_seq,
        retry_count=batch.retries_after(last_seq),
        next_run_time=LONG_AGO,
        lost_count=0,
        claimed_by=None,
    )


def _before(instance: BatchInstance, batch: BatchDefinition, seq: int) -> int:
    if batch.step_at(seq) is None:
        message = f"Batch {visible(batch.name)} has no step {seq}. {_steps_of(batch)}"
        raise NotFound(message, next_step=f"batchctl show {instance.instance_id}")
    return max((step.seq for step in batch.steps if step.seq < seq), default=0)


def _steps_of(batch: BatchDefinition) -> str:
    listed = ", ".join(f"{step.seq} '{visible(step.name)}'" for step in batch.steps)
    return f"Its steps: {listed}." if listed else "It has no steps."


def _corrected(data: DataValues, corrections: Mapping[str, str | None]) -> DataValues:
    values: dict[str, str | None] = {f"Data{at}": value for at, value in enumerate(data, start=1)}
    for name, value in corrections.items():
        if name not in values:
            raise Refused(f"There is no value '{visible(name)}' to correct; an instance has Data1 to Data6.")
        reason = None if value is None else unfit(value)
        if reason is not None:
            raise Refused(f"The new value of {name} cannot be used: {reason}.")
        values[name] = value
    one, two, three, four, five, six = values.values()
    return one, two, three, four, five, six
