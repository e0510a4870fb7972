"""Steps that learn how many rows they should have: successes of the past, and an oracle that reckons in its own way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, timedelta
from fractions import Fraction
from math import ceil, floor
from random import Random
from typing import TYPE_CHECKING, Any

from batchctl.domain.outcomes import StepOutcome
from tests.sim.clock import BEGINNING
from tests.sim.laws import Broken
from tests.sim.script import BatchPlan, Operate, Script, Submit, Wait

if TYPE_CHECKING:
    from tests.sim.hosts import Running
    from tests.sim.world import World

USUAL = 50
"""How many rows a step has once nothing fails any more."""
_NUMBERS = (50, 50, 49, 52, 46, 54, 40, 60, 75, 3, 0, 400, None)
_DAY = 86_400


def learning(seed: int, script: Script) -> Script:
    """Return the schedule with a past, some days later."""
    chance = Random(seed)
    batches = tuple(_batch(chance, batch) for batch in script.options.batches)
    # What people run again by its number would be of the past.
    events = [event for event in script.events if not isinstance(event, Operate)]
    more = [Submit("B0", f"more{nth}") for nth in range(chance.choice((1, 3, 6)))]
    events = [Wait(float(_DAY * chance.randrange(7))), *more, *events]
    options = replace(script.options, batches=batches, past=seed, dependents=(), kept_for=None)
    return Script(options, tuple(events), seed)


def _batch(chance: Random, batch: BatchPlan) -> BatchPlan:
    steps = tuple(
        replace(step, learns=chance.random() < 0.8, rows=chance.choice(("fail", "warn"))) for step in batch.steps
    )
    return replace(batch, steps=steps)


def with_rows(world: World, running: Running) -> StepOutcome:
    """Return how an execution ends, with a number of rows or none."""
    outcome = running.outcome
    if not world.options.past or running.checks or not outcome.succeeded:
        return outcome
    if world.is_healed:
        return replace(outcome, rows_affected=USUAL)
    chance = Random(f"{world.options.past} {running.instance} {running.seq} {running.attempt}")
    return replace(outcome, rows_affected=chance.choice(_NUMBERS))


def remember(world: World) -> None:
    """Put successes of the past into the tables: about the usual number, some failures and some instances that failed."""
    if not world.options.past:
        return
    chance = Random(world.options.past)
    for number, plan in enumerate(world.options.batches):
        spread = chance.choice((0, 1, 4, 15, 40))
        for nth in range(chance.choice((0, 5, 9, 12, 14, 30, 45, 90))):
            _remember_one(world, chance, number + 1, plan, spread, BEGINNING.date() - timedelta(days=200 - nth))


def _remember_one(world: World, chance: Random, batch: int, plan: BatchPlan, spread: int, day: date) -> None:
    at = f"{day} 03:00:00.000"
    status = chance.choice(("complete",) * 9 + ("cancelled",))
    cycle_key = chance.choice((None, str(day), str(day + timedelta(days=chance.randrange(7))), "monday"))
    row = world.raw.execute(
        "INSERT INTO FileProcess (Entity, FileName, Status, z_inserted, z_updated) VALUES ('past', 'past', 'complete', ?, ?)",
        (at, at),
    ).lastrowid
    instance = world.raw.execute(
        "INSERT INTO BatchControl (ProcessBatch_id, FileProcess_id, PrevProcessControlSeq, Status, CycleKey, ClaimToken,"
        " z_inserted, z_updated) VALUES (?, ?, ?, ?, ?, 1, ?, ?)",
        (batch, row, 10 * len(plan.steps), status, cycle_key, at, at),
    ).lastrowid
    for seq in range(10, 10 * len(plan.steps) + 1, 10):
        ends = chance.choice((("success",),) * 5 + (("failed", "success"),))
        for attempt, ended in enumerate(ends, start=1):
            rows = None if chance.random() < 0.05 else max(0, USUAL + chance.randint(-spread, spread))
            rows = chance.choice((1, 900)) if chance.random() < 0.03 else rows
            last = world.raw.execute(
                "INSERT INTO BatchProcessHistory (BatchControl_id, ProcessBatch_id, ProcessControlSeq, ProcessName,"
                " ProcessType, AttemptNo, ClaimToken, ClaimedBy, Cause, Status, CommandText, StartTime, EndTime, RowsAffected,"
                " RetryCountAfter, z_inserted, z_updated)"
                " VALUES (?, ?, ?, 'step', 'command', ?, 1, 'before', ?, ?, 'past', ?, ?, ?, 0, ?, ?)",
                (
                    *(instance, batch, seq, attempt, "auto" if attempt == 1 else "retry", ended),
                    *(at, at, 7 if ended == "failed" else rows, at, at),
                ),
            ).lastrowid
            world.past = last or 0


_ENDED = """
SELECT h.BatchControl_id, h.ProcessBatch_id, h.ProcessControlSeq, h.StartTime, h.RowsAffected, h.Status, h.Message,
    c.CycleKey, p.OnRows FROM BatchProcessHistory h JOIN BatchControl c ON c.BatchControl_id = h.BatchControl_id
JOIN ProcessControl p ON p.ProcessBatch_id = h.ProcessBatch_id AND p.ProcessControlSeq = h.ProcessControlSeq
WHERE h.BatchProcessHistory_id = ? AND p.RowsMin = 'learned'
"""
_PAST = """
SELECT c.BatchControl_id, c.CycleKey, h.StartTime, h.RowsAffected FROM BatchProcessHistory h
JOIN BatchControl c ON c.BatchControl_id = h.BatchControl_id
WHERE c.ProcessBatch_id = ? AND c.Status = 'complete' AND h.ProcessControlSeq = ? AND h.Status = 'success'
AND h.RowsAffected IS NOT NULL AND c.BatchControl_id <> ?
"""


def check(world: World, seen: Sequence[tuple[Any, ...]]) -> None:
    """Ask of each success whether its number of rows was judged as it should be."""
    if not world.options.past:
        return
    world.completed += [
        int(row) for what, row, was, became, *_ in seen if what == "instance" and became == "complete" != was
    ]
    for what, key, was, became, *_ in seen:
        execution = next((one for one in world.executions if one.key == key), None)
        if what != "attempt" or was != "running" or execution is None or execution.checks:
            continue
        if became in ("success", "failed") and execution.outcome.succeeded:
            for row in world.rows(_ENDED, key):
                _check_end(world, int(key), *row)


def _check_end(
    world: World, key: int, instance: int, batch: int, seq: int, at: str, rows: int | None, *ended: str | None
) -> None:
    status, message, cycle_key, on_rows = ended
    past = world.rows(_PAST, batch, seq, instance)
    alike = [
        (one, count) for one, its_key, begun, count in past if _is_weekend(its_key, begun) == _is_weekend(cycle_key, at)
    ]
    newest_first = sorted(alike, reverse=True)
    # Others may have completed since it was worked out what follows from this end.
    expected = {
        _is_unusual([count for one, count in newest_first if one not in world.completed[left_out:]], rows)
        for left_out in range(len(world.completed) + 1)
    }
    world.happened["Learned"] += None not in expected
    world.happened["Silent"] += expected == {None}
    is_wrong = status == "failed" or "unusual number of rows" in (message or "")
    if is_wrong:
        world.unusual.add(key)
    said = f"attempt {key} at step {seq} with {rows} rows is {status} ({message})"
    if is_wrong not in {bool(one) for one in expected}:
        raise Broken("learned", f"{said}, and should{' not' if is_wrong else ''} be found wrong")
    if is_wrong and (status == "failed") != (on_rows == "fail"):
        raise Broken("learned", f"{said}, with OnRows {on_rows}")
    world.happened["Unusual"] += is_wrong


def _is_weekend(cycle_key: str | None, at: str) -> bool:
    for text in (cycle_key, at):
        parts = (text or "")[:10].split("-")
        if len(parts) == 3 and all(part.isdigit() for part in parts):
            # The first of January of the year 1 was a Monday.
            return date(*map(int, parts)).toordinal() % 7 in (6, 0)
    raise AssertionError(at)


def _is_unusual(newest_first: Sequence[int], rows: int | None) -> bool | None:
    """Say whether a number is unusual; None where too few are known to say so."""
    known = sorted(newest_first[:60])
    if len(known) < 10:
        return None
    middle = _middle(known)
    apart = 5 * _middle(sorted(abs(one - middle) for one in known))
    apart = max(apart, middle / 10)
    least, most = floor(middle - apart), ceil(middle + apart)
    if 0 not in known:
        least = max(least, 1)
    return rows is None or not least <= rows <= most


def _middle(ordered: Sequence[int] | Sequence[Fraction]) -> Fraction:
    """Return the mean of the two in the middle, which are one where their number is odd."""
    last = len(ordered) - 1
    return (Fraction(ordered[last // 2]) + Fraction(ordered[last - last // 2])) / 2
