"""What a turn is to write, worked out before it is written: that takes longer than writing, and makes no one wait."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from batchctl.control.attempts import Attempt, Batches, End, PlannedAttempt
from batchctl.domain import moves
from batchctl.domain.moves import not_before
from batchctl.domain.rows import LONG_AGO, BatchDefinition, BatchInstance, InstanceId, Step
from batchctl.domain.status import Cause, InstanceStatus, InstanceVerb
from batchctl.domain.text import storable
from batchctl.domain.values import value
from batchctl.ports import Finished
from batchctl.store import turns
from batchctl.store.history import Beginning, Ending

DRAFT_HOLDS = timedelta(seconds=0.1)
"""How long a draft is written as it is: what begins by it begins at the time of the draft."""


@value
class AfterEnd:
    """What follows from the end of an attempt."""

    end: End
    batch: BatchDefinition
    found: BatchInstance
    ended: moves.Ended
    move: moves.Move
    after: BatchInstance


@value
class Writing:
    """What is to be written at a time."""

    beginning: Sequence[Attempt]
    turn: turns.Turn
    now: datetime


@value
class Draft:
    """What follows from the ends of attempts, worked out before others are kept from writing."""

    ends: Sequence[End]
    batches: Batches
    now: datetime
    stopping: bool
    """True when nothing begins by it."""
    decided: Sequence[AfterEnd]
    writing: Writing

    @property
    def prepared(self) -> dict[InstanceId, Attempt]:
        """Return by their instances the attempts that begin."""
        return {attempt.instance.instance_id: attempt for attempt in self.writing.beginning}

    def holds(self, ends: Sequence[End], batches: Batches, now: datetime, *, stopping: bool) -> bool:
        """Say whether the same would follow now."""
        is_young = timedelta(0) <= now - self.now <= DRAFT_HOLDS
        return (
            is_young
            and self.stopping is stopping
            and self.batches is batches
            and list(map(id, self.ends)) == list(map(id, ends))
        )


def time_of(ends: Sequence[End], now: datetime) -> datetime:
    """Return what is written as the time: what is due at once is due by the clock, else it would wait for that."""
    return not_before(now, *(end.attempt.started_at for end in ends))


def next_plans(decided: Sequence[AfterEnd]) -> list[PlannedAttempt]:
    """Return the attempts that begin because of ends."""
    return [_plan(one, step) for one in decided if (step := one.move.next_step) is not None]


def _plan(one: AfterEnd, step: Step) -> PlannedAttempt:
    so_far = one.end.attempt.so_far
    attempts = so_far.at(step.seq)
    cause = moves.cause_of(InstanceStatus.READY, attempts=attempts, must_verify=False)
    return PlannedAttempt(one.after, one.batch, step, attempts + 1, cause, so_far)


def beginning(attempt: Attempt) -> Beginning:
    """Return what stands in the history of an attempt that begins."""
    # A delegated step stands in the history as what it is carried out as, a check as the step it is of.
    ready = attempt.prepared
    step = attempt.step if attempt.cause is Cause.VERIFY else ready.step
    command = ready.command_text, ready.command_spec
    return Beginning(
        attempt.instance, step, attempt.attempt_no, attempt.cause, *command, attempt.batch.version, ready.host
    )


def ending(one: AfterEnd, now: datetime) -> Ending:
    """Return what stands in the history of how it ended."""
    end, move = one.end, one.move
    # What is over leaves out the time at which it was due, and waits for nothing.
    waits = move.verb in {InstanceVerb.RETRY_AT, InstanceVerb.PAUSE} and move.next_run_time > LONG_AGO
    return Ending(
        end.attempt.history_id,
        end.attempt.instance.claim_token,
        one.ended.status,
        end.outcome,
        None if one.ended.message is None else storable(one.ended.message),
        ended_at(end, now),
        end.identity,
        move.retry_count if move.left is None else move.left,
        move.next_run_time if waits else None,
        end.never_ran,
        end.wrote,
    )


def ended_at(end: End | Finished, now: datetime) -> datetime:
    """Return when an attempt ended: never later than the moment in which that is recorded, whatever clocks do."""
    return now if end.ended_at is None else min(end.ended_at, now)


def late_result(end: End | Finished, now: datetime) -> str:
    """Return what is added to an attempt that was given up once it is known how it ended."""
    how = "success" if end.outcome.succeeded else end.outcome.message or "badly"
    return storable(f"late result, known since {ended_at(end, now):%Y-%m-%d %H:%M:%S} UTC: {how}")
