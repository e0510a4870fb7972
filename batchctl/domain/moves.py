"""What happens after a step: decided here, purely; written elsewhere.

The retry law: RetryCount is the number of automatic retries still allowed. A failure takes one and waits; at zero the
step has failed for good. Success and a manual re-run set it back to what the step that comes next allows. A failure
that no retry can mend takes none and skips them all: the number left distinguishes it from one whose retries are used up.
A step that has failed for good fails its instance, unless OnStepFailure lets that go on with the next one.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from batchctl.domain.outcomes import STOPPED_EARLY, StepOutcome
from batchctl.domain.rows import LONG_AGO, BatchDefinition, BatchInstance, Step
from batchctl.domain.rule_texts import NO_RETRY, ROWS, TIMEOUT
from batchctl.domain.status import TRANSITIONS, Cause, HistoryStatus, InstanceStatus, InstanceVerb, OnLost, StopReason
from batchctl.domain.values import value

LOST_LIMIT = 5
"""An instance whose steps were lost more often than this is held: something kills its controllers."""

PUT_BACK_FOR = timedelta(seconds=30)
"""How long to wait before a step is tried again that could not be begun because its host lacked something."""

PUT_BACK_FOR_MOST = timedelta(minutes=10)
"""The longest such wait, as it grows each time: what its host does not have may be missing for days."""


LONGEST_WAIT = timedelta(days=365)
"""The longest wait for a retry, however it grows: as long as RetryWaitSecs may be."""


@value
class Move:
    """Where an instance stands after something has happened to it."""

    verb: InstanceVerb
    last_seq: int
    retry_count: int
    next_run_time: datetime
    lost_count: int
    next_step: Step | None = None
    """The step that begins at once."""
    next_pool: str | None = None
    """The pool of the next step; None is the default one."""
    passed: bool = False
    """True when it goes past a step that has failed for good."""
    left: int | None = None
    """The retries that the step which has ended was left with; None where `retry_count` says it."""


@value
class Ended:
    """An execution that has ended, as far as can be known."""

    seq: int
    status: HistoryStatus
    message: str | None
    fatal: bool = False
    undecidable: bool = False
    """True when a check was asked and had no answer: only a person can decide."""
    never_ran: bool = False
    """True when it could not be begun, through no fault of its own."""
    times: int = 1
    """How often it was tried by now, where the wait grows each time."""


_WHY_HALF_WAY = {
    StopReason.LEASE: "was stopped half-way because its controller could not reach the database for too long",
    StopReason.FENCED: "was stopped half-way because another controller has taken the instance over",
}


def ended(step: Step, outcome: StepOutcome, stop: StopReason | None = None) -> Ended:
    """Name how an execution ended; a success stands even when a stop was on its way."""
    if outcome.succeeded:
        return Ended(step.seq, HistoryStatus.SUCCESS, outcome.message, outcome.fatal)
    if outcome.asks is not None and stop is not StopReason.CANCEL:
        return Ended(step.seq, HistoryStatus.ASKED, outcome.message)
    said, status = outcome.message, HistoryStatus.FAILED
    words = f"; {said}" if said is not None and said.startswith(STOPPED_EARLY) else ""
    if outcome.lost:
        status = HistoryStatus.LOST
    elif outcome.stopped and stop is StopReason.TIMEOUT:
        status, said = (
            HistoryStatus.TIMEOUT,
            f"ran longer than MaxDuration ({_seconds(step.max_duration)}) and was stopped{words}",
        )
    elif outcome.stopped and stop is StopReason.CANCEL:
        status, said = HistoryStatus.CANCELLED, f"was stopped because the instance was cancelled{words}"
    elif outcome.stopped:
        why = _WHY_HALF_WAY.get(stop, "was stopped half-way because the controller ended") + words if stop else said
        status, said = HistoryStatus.LOST, why or "was stopped half-way"
    fatal = outcome.fatal
    if step.retry_on is not None and status in {HistoryStatus.FAILED, HistoryStatus.TIMEOUT}:
        codes = _codes(outcome, status)
        fatal = not step.retry_on.covers(*codes)
        if fatal and not outcome.fatal:
            why = f"{NO_RETRY} ({step.retry_on.text}) does not name {_list(codes)}"
            said = why if said is None else f"{said}; {why}"
    return Ended(step.seq, status, said, fatal)


def _codes(outcome: StepOutcome, status: HistoryStatus) -> tuple[str | int | None, ...]:
    if status is HistoryStatus.TIMEOUT:
        return (TIMEOUT,)
    return (ROWS,) if outcome.error_code == ROWS else (outcome.error_code, outcome.return_code)


def _list(codes: tuple[str | int | None, ...]) -> str:
    return " or ".join(dict.fromkeys(str(code) for code in codes if code is not None)) or "a failure without a code"


def _seconds(duration: timedelta | None) -> str:
    return "-" if duration is None else f"{int(duration.total_seconds())} s"


def verified(seq: int, outcome: StepOutcome, *, done: bool | None) -> Ended:
    """Read the answer of a check command: the lost step was done, was not done, or it is unknown."""
    if done is None:
        said = f"the check could not tell whether the step was done: {outcome.message or 'no answer'}"
        return Ended(seq=seq, status=HistoryStatus.LOST, message=said, undecidable=True)
    status = HistoryStatus.SUCCESS if done else HistoryStatus.FAILED
    said = "the check says the step was done" if done else "the check says the step was not done"
    return Ended(seq=seq, status=status, message=said)


def after_step(instance: BatchInstance, batch: BatchDefinition, end: Ended, *, now: datetime, may_go_on: bool) -> Move:
    """Decide what follows the end of a step, for an instance found in a claimed status."""
    if end.never_ran:
        pause = min(PUT_BACK_FOR * end.times, PUT_BACK_FOR_MOST)
        return _standing(instance, _asked(instance, InstanceVerb.RETRY_AT), next_run_time=now + pause)
    match end.status:
        case HistoryStatus.SUCCESS | HistoryStatus.SKIPPED:
            return _further(instance, batch, end, may_go_on=may_go_on)
        case HistoryStatus.FAILED | HistoryStatus.TIMEOUT:
            return _after_failure(instance, batch, end, now, may_go_on=may_go_on)
        case HistoryStatus.CANCELLED | HistoryStatus.LOST:
            return _after_lost(instance, batch, end, now)
        case HistoryStatus.ASKED:
            return _standing(instance, _INSTEAD.get(instance.status, InstanceVerb.ASK))
        case HistoryStatus.FENCED | HistoryStatus.RUNNING:
            message = f"an attempt does not end as {end.status}"
            raise ValueError(message)


def _further(
    instance: BatchInstance,
    batch: BatchDefinition,
    end: Ended,
    *,
    may_go_on: bool,
    passed: bool = False,
    left: int | None = None,
) -> Move:
    """Go on behind a step that has succeeded, or is passed."""
    next_step, next_pool = batch.step_after(end.seq), batch.next_pool(end.seq)
    goes_on = may_go_on and instance.status not in _ASKED and next_pool == instance.next_pool
    if next_step is None:
        verb = InstanceVerb.FINISH
    elif goes_on:
        verb = InstanceVerb.ADVANCE
    else:
        # A claim is one of a pool: where the next step is of another, a controller that serves it takes the instance over.
        verb = _asked(instance, InstanceVerb.RELEASE)
    return Move(
        verb=verb,
        last_seq=end.seq,
        retry_count=batch.retries_after(end.seq),
        next_run_time=LONG_AGO,
        lost_count=0,
        next_step=next_step if verb is InstanceVerb.ADVANCE else None,
        next_pool=next_pool,
        passed=passed,
        left=left,
    )


_INSTEAD = {InstanceStatus.CANCELLING: InstanceVerb.CANCEL, InstanceStatus.PAUSING: InstanceVerb.PAUSE}
"""What becomes of an instance instead of being asked about: what a person wanted meanwhile."""


def unless_stopped(instance: BatchInstance, end: Ended) -> Ended:
    """Return how an attempt ended: nothing is asked about an instance that is to be cancelled or paused."""
    if end.status is not HistoryStatus.ASKED or instance.status not in _INSTEAD:
        return end
    message = f"was not asked because the instance is {instance.status}"
    return replace(end, status=HistoryStatus.CANCELLED, message=message)


def answered(instance: BatchInstance, batch: BatchDefinition, seq: int, *, confirmed: bool) -> Move:
    """Decide what follows the answer to the question of a step; a refused one has failed for good."""
    step = batch.step_at(seq)
    passed = not confirmed and step is not None and step.may_be_passed
    if not (confirmed or passed):
        return _standing(instance, InstanceVerb.FAIL)
    left = instance.retry_count if passed else None
    move = _further(instance, batch, Ended(seq, HistoryStatus.SUCCESS, None), may_go_on=False, passed=passed, left=left)
    return move if move.verb is InstanceVerb.FINISH else replace(move, verb=InstanceVerb.ANSWER)


def _after_failure(
    instance: BatchInstance, batch: BatchDefinition, end: Ended, now: datetime, *, may_go_on: bool
) -> Move:
    if instance.status is InstanceStatus.CANCELLING:
        return _standing(instance, InstanceVerb.CANCEL)
    if instance.status is InstanceStatus.PAUSING and end.status is HistoryStatus.CANCELLED:
        return _standing(instance, InstanceVerb.PAUSE)
    step = batch.step_at(end.seq)
    if instance.retry_count <= 0 or end.fatal:
        if step is not None and step.may_be_passed:
            return _further(instance, batch, end, may_go_on=may_go_on, passed=True, left=instance.retry_count)
        return _standing(instance, InstanceVerb.FAIL)
    pausing = instance.status is InstanceStatus.PAUSING
    return Move(
        verb=InstanceVerb.PAUSE if pausing else InstanceVerb.RETRY_AT,
        last_seq=instance.last_seq,
        retry_count=instance.retry_count - 1,
        next_run_time=now + retry_wait(batch, step, instance.retry_count),
        lost_count=instance.lost_count,
        next_pool=instance.next_pool,
    )


def retry_wait(batch: BatchDefinition, step: Step | None, left: int) -> timedelta:
    """Return how long a step waits for its next retry, with so many `left` before it: longer after each failure."""
    base = batch.retry_wait if step is None or step.retry_wait is None else step.retry_wait
    if step is None or step.retry_backoff is None:
        return base
    allowed = batch.retry_count if step.retry_count is None else step.retry_count
    seconds = int(base.total_seconds()) * step.retry_backoff ** max(allowed - left, 0)
    return timedelta(seconds=min(seconds, int(LONGEST_WAIT.total_seconds())))


def _after_lost(instance: BatchInstance, batch: BatchDefinition, end: Ended, now: datetime) -> Move:
    if instance.status is InstanceStatus.CANCELLING:
        return _standing(instance, InstanceVerb.CANCEL)
    step = batch.step_at(end.seq)
    on_lost, most = (OnLost.HOLD, 0) if step is None else (step.on_lost, step.max_lost)
    if step is not None and step.asks_people:
        # What is lost of a question is at most that it was looked at what to show beside it.
        on_lost, most = OnLost.RERUN, LOST_LIMIT
    lost_count = instance.lost_count + 1
    if on_lost is OnLost.HOLD or lost_count > most or end.undecidable:
        return _standing(instance, InstanceVerb.HOLD, lost_count=lost_count)
    # The step itself did not fail: a lost one uses up no retry, and does not wait.
    verb = InstanceVerb.PAUSE if instance.status is InstanceStatus.PAUSING else InstanceVerb.RETRY_AT
    return _standing(instance, verb, lost_count=lost_count, next_run_time=now)


def _standing(
    instance: BatchInstance,
    verb: InstanceVerb,
    *,
    retry_count: int | None = None,
    next_run_time: datetime | None = None,
    lost_count: int | None = None,
) -> Move:
    return Move(
        verb=verb,
        last_seq=instance.last_seq,
        retry_count=instance.retry_count if retry_count is None else retry_count,
        next_run_time=instance.next_run_time if next_run_time is None else next_run_time,
        lost_count=instance.lost_count if lost_count is None else lost_count,
        next_pool=instance.next_pool,
    )


def cause_of(status_before: InstanceStatus, *, attempts: int, must_verify: bool) -> Cause:
    """Return why an attempt is made, from how often the step was tried and the instance's status."""
    if must_verify:
        return Cause.VERIFY
    if attempts == 0:
        return Cause.AUTO
    return Cause.RETRY if status_before is InstanceStatus.RETRY else Cause.MANUAL


def moved(instance: BatchInstance, move: Move) -> BatchInstance:
    """Return the instance as it stands after a move."""
    status = TRANSITIONS[move.verb][instance.status]
    # Every step makes one of these, and `replace` would take twice as long.
    return BatchInstance(
        instance.instance_id,
        instance.batch_id,
        instance.intake_id,
        move.last_seq,
        status,
        move.retry_count,
        move.next_run_time,
        instance.cycle_key,
        instance.data,
        instance.claim_token,
        instance.claimed_by if status.is_claimed else None,
        move.lost_count,
        instance.entity,
        instance.file_name,
        instance.source,
        next_pool=move.next_pool,
        steps_failed=(instance.steps_failed or 0) + 1 if move.passed else instance.steps_failed,
    )


def claimed(instance: BatchInstance, batch: BatchDefinition, controller: str) -> BatchInstance:
    """Return the instance as it stands once a controller has claimed it for its next step, under the next token."""
    next_pool = batch.next_pool(instance.last_seq)
    return _under_the_next_token(instance, controller, InstanceVerb.CLAIM, next_pool)


def taken_over(instance: BatchInstance, controller: str) -> BatchInstance:
    """Return the instance as it stands once another controller has taken it over with its running step."""
    return _under_the_next_token(instance, controller, InstanceVerb.TAKE_OVER, instance.next_pool)


def _under_the_next_token(
    instance: BatchInstance, controller: str, verb: InstanceVerb, next_pool: str | None
) -> BatchInstance:
    return BatchInstance(
        instance.instance_id,
        instance.batch_id,
        instance.intake_id,
        instance.last_seq,
        TRANSITIONS[verb][instance.status],
        instance.retry_count,
        instance.next_run_time,
        instance.cycle_key,
        instance.data,
        instance.claim_token + 1,
        controller,
        instance.lost_count,
        instance.entity,
        instance.file_name,
        instance.source,
        next_pool=next_pool,
        steps_failed=instance.steps_failed,
    )


def never_ran(instance: BatchInstance, now: datetime) -> Move:
    """Try again, at once, what was recorded as begun and provably never was; whatever OnLost says."""
    lost_count = instance.lost_count + 1
    if lost_count > LOST_LIMIT and instance.status is not InstanceStatus.CANCELLING:
        return _standing(instance, InstanceVerb.HOLD, lost_count=lost_count)
    return _standing(instance, _asked(instance, InstanceVerb.RETRY_AT), lost_count=lost_count, next_run_time=now)


def released(instance: BatchInstance) -> Move:
    """Give back a claim under which nothing was begun."""
    return _unchanged(instance, _asked(instance, InstanceVerb.RELEASE))


_ASKED = {InstanceStatus.PAUSING: InstanceVerb.PAUSE, InstanceStatus.CANCELLING: InstanceVerb.CANCEL}
"""What a person asks for by writing these."""


def _asked(instance: BatchInstance, otherwise: InstanceVerb) -> InstanceVerb:
    """Return what a person has asked for an instance, if anything."""
    return _ASKED.get(instance.status, otherwise)


def finished(instance: BatchInstance) -> Move:
    """Complete an instance that has no step left."""
    return _unchanged(instance, InstanceVerb.FINISH)


def held(instance: BatchInstance) -> Move:
    """Let a person decide about an instance whose attempt counts for nothing."""
    return _unchanged(instance, InstanceVerb.HOLD)


def _unchanged(instance: BatchInstance, verb: InstanceVerb) -> Move:
    return Move(
        verb=verb,
        last_seq=instance.last_seq,
        retry_count=instance.retry_count,
        next_run_time=instance.next_run_time,
        lost_count=instance.lost_count,
        next_pool=instance.next_pool,
    )


MOST_LAG = timedelta(seconds=10)
"""A time further ahead was written by hand, or the clock was set back: it proves nothing."""


def not_before(now: datetime, *written: datetime) -> datetime:
    """Return the present by this program's clock, or the latest moment that others have written already, if later.

    No controller runs ahead of the database's clock; one that has just begun, or gets slow answers, lags most.
    """
    return max([now, *(at for at in written if at - now <= MOST_LAG)])
