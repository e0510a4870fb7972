"""Steps that say for themselves how often they are tried again, after what, and what follows when they have failed for good."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING

from batchctl.domain.outcomes import StepOutcome
from tests.sim.script import BatchPlan, Operate, Run, Script, StepPlan

if TYPE_CHECKING:
    from tests.sim.world import World

LEAST_ROWS, MOST_ROWS = 10, 100
"""What the steps with a row guard let pass."""


def stepwise(seed: int, script: Script) -> Script:
    """Return a schedule with steps that differ in this, and with people who run some of it again."""
    chance = Random(seed)
    batches = tuple(_batch(chance, batch) for batch in script.options.batches)
    events = list(script.events)
    for _ in range(chance.choice((0, 1, 2))):
        at, nth = chance.randrange(len(events) + 1), chance.randrange(6)
        events[at:at] = [Operate(chance.choice(("again", "again", "rerun", "skip")), nth), Run(2.0)]
    return Script(replace(script.options, batches=batches), tuple(events), seed)


def _batch(chance: Random, batch: BatchPlan) -> BatchPlan:
    return replace(batch, steps=tuple(_step(chance, step) for step in batch.steps))


def _step(chance: Random, step: StepPlan) -> StepPlan:
    return replace(
        step,
        retries=chance.choice((None, 0, 1, 2, 3)),
        wait=chance.choice((None, 0, 0, 20)),
        backoff=chance.choice((None, 1, 2, 3)),
        retry_on=chance.choice((None, None, "1-5", "4, timeout")),
        goes_past=chance.random() < 0.5,
        rows=chance.choice((None, None, "fail", "warn")),
    )


STEP = """
SELECT h.ProcessControlSeq, h.Status, h.RowsAffected, p.RetryOn, p.OnStepFailure, p.OnRows, p.RowsMin
FROM BatchProcessHistory h LEFT JOIN ProcessControl p
    ON p.ProcessBatch_id = h.ProcessBatch_id AND p.ProcessControlSeq = h.ProcessControlSeq
WHERE h.BatchProcessHistory_id = ?
"""
_WAIT = """
SELECT coalesce(p.RetryWaitSecs, 60 * b.RetryWaitMins), coalesce(p.RetryBackoff, 1), h.EndTime,
    (SELECT count(*) FROM BatchProcessHistory e WHERE e.BatchControl_id = h.BatchControl_id
     AND e.ProcessControlSeq = h.ProcessControlSeq AND e.Status IN ('failed', 'timeout')
     AND e.BatchProcessHistory_id < h.BatchProcessHistory_id AND e.BatchProcessHistory_id >= coalesce(
        (SELECT max(m.BatchProcessHistory_id) FROM BatchProcessHistory m WHERE m.BatchControl_id = h.BatchControl_id
         AND m.ProcessControlSeq = h.ProcessControlSeq AND m.Cause = 'manual'), 0))
FROM BatchProcessHistory h JOIN ProcessBatch b ON b.ProcessBatch_id = h.ProcessBatch_id
LEFT JOIN ProcessControl p ON p.ProcessBatch_id = h.ProcessBatch_id AND p.ProcessControlSeq = h.ProcessControlSeq
WHERE h.BatchProcessHistory_id = ?
"""
_ALLOWED = """
SELECT coalesce((SELECT p.RetryCount FROM ProcessControl p WHERE p.ProcessBatch_id = c.ProcessBatch_id
    AND p.ProcessControlSeq > ? ORDER BY p.ProcessControlSeq LIMIT 1), b.RetryCount)
FROM BatchControl c JOIN ProcessBatch b ON b.ProcessBatch_id = c.ProcessBatch_id WHERE c.BatchControl_id = ?
"""


def allowed(world: World, instance: int, seq: int) -> int:
    """Return how many retries an instance is to have behind a step: those of the next one."""
    ((retries,),) = world.rows(_ALLOWED, seq, instance)
    return int(retries)


def earliest(world: World, key: int) -> tuple[str, int]:
    """Return when an attempt ended, and how many seconds later the next one may begin."""
    ((seconds, backoff, ended, failures),) = world.rows(_WAIT, key)
    return ended, min(seconds * backoff**failures, 365 * 86_400)


def is_final(world: World, key: int) -> bool:
    """Say whether no retry may follow an attempt that failed; one that never began could not be made ready."""
    execution = next((one for one in world.executions if one.key == key), None)
    if execution is None or execution.checks:
        return execution is None or execution.outcome.fatal
    if execution.outcome.asks is not None:
        return True  # What is refused, or has no answer in time, is not tried again.
    ((_, status, rows, codes, _, guard, _),) = world.rows(STEP, key)
    if codes is None:
        return execution.outcome.fatal
    if status == "timeout":
        return "timeout" not in codes
    is_guarded = guard is not None and execution.outcome.succeeded and not is_inside(rows)
    return is_guarded or execution.outcome.return_code != 3 or codes != "1-5"


def is_inside(rows: int | None) -> bool:
    """Say whether a guard lets a number of rows pass."""
    return rows is not None and LEAST_ROWS <= rows <= MOST_ROWS


def is_outside(world: World, key: int) -> bool:
    """Say whether an attempt that went well has failed because of its number of rows, as it should."""
    ((_, _, rows, _, _, guard, least),) = world.rows(STEP, key)
    if least == "learned":
        return key in world.unusual
    return guard == "fail" and not is_inside(rows)


def columns(step: StepPlan) -> tuple[object, ...]:
    """Return what its row holds from RetryCount to OnRows."""
    bounds = ("learned", "learned") if step.learns else (str(LEAST_ROWS), str(MOST_ROWS))
    guard = (None,) * 3 if step.rows is None else (*bounds, step.rows)
    past = "continue" if step.goes_past else None
    return step.retries, step.wait, step.backoff, step.retry_on, past, *guard


def with_rows(outcome: StepOutcome, seed: int, instance: int, seq: int, attempt: int) -> StepOutcome:
    """Return a success with a number of rows; without a seed it is one that every guard lets pass."""
    if not outcome.succeeded:
        return outcome
    chance = Random((seed * 37 + instance) * 1013 + seq * 137 + attempt)
    rows = chance.choice((50,) * 5 + (3, 400)) if seed else 50
    return replace(outcome, rows_affected=rows)
