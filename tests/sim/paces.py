"""How fast the instances of a batch are begun, and which batch of one Seq comes first: the laws of MaxPerMinute and Priority."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from random import Random
from typing import TYPE_CHECKING, Any

from batchctl.domain.status import CLAIMED
from tests.sim.laws import Broken
from tests.sim.script import BatchPlan, Event, Run, Script, Submit

if TYPE_CHECKING:
    from tests.sim.world import World

WINDOW = 58.0
"""Seconds: the database's clock shows whole ones, and commits take parts of one."""
_CLAIMED = frozenset(status.value for status in CLAIMED)
_LIMITED = """
SELECT c.ProcessBatch_id, b.MaxPerMinute FROM BatchControl c JOIN ProcessBatch b ON b.ProcessBatch_id = c.ProcessBatch_id
WHERE c.BatchControl_id = ? AND b.MaxPerMinute IS NOT NULL
"""
_SLOW = """
SELECT DISTINCT c.ProcessBatch_id FROM BatchControl c JOIN ProcessBatch b ON b.ProcessBatch_id = c.ProcessBatch_id
WHERE b.MaxPerMinute IS NOT NULL AND c.Status IN ('ready', 'retry') AND b.Enabled = 1
"""
_PASSED_OVER = """
SELECT l.BatchControl_id, h.BatchControl_id FROM BatchControl l JOIN ProcessBatch bl ON bl.ProcessBatch_id = l.ProcessBatch_id
JOIN ProcessBatch bh ON bh.Seq = bl.Seq AND coalesce(bh.Priority, 0) > coalesce(bl.Priority, 0)
JOIN BatchControl h ON h.ProcessBatch_id = bh.ProcessBatch_id
WHERE l.BatchControl_id IN (SELECT value FROM json_each(?))
AND h.Status = 'ready' AND h.ClaimToken = 0 AND h.NextRunTime <= ? AND h.z_inserted < ? AND bh.z_updated < ?
AND bh.Enabled = 1 AND bh.OnFailure = 'continue' AND bh.MaxPerMinute IS NULL
AND NOT EXISTS (SELECT 1 FROM BatchResource n WHERE n.ProcessBatch_id = bh.ProcessBatch_id)
AND NOT EXISTS (SELECT 1 FROM BatchFreeze z)
AND NOT EXISTS (SELECT 1 FROM Setting s WHERE s.Name = 'MaxConcurrent')
AND NOT EXISTS (SELECT 1 FROM BatchControl e JOIN ProcessBatch p ON p.ProcessBatch_id = e.ProcessBatch_id
    WHERE p.OnFailure = 'stop_all' AND (e.Status IN ('retry', 'failed', 'held')
        OR e.BatchControl_id IN (SELECT value FROM json_each(?))))
AND (SELECT count(*) FROM BatchControl o WHERE o.ProcessBatch_id = bh.ProcessBatch_id
    AND o.Status IN ('running', 'pausing', 'cancelling')) < bh.MaxConcurrent
"""


def paced(seed: int, script: Script) -> Script:
    """Return the schedule with batches of one Seq, of which some come first and some are begun slowly."""
    chance = Random(seed)
    batches = [_batch(chance, batch) for batch in script.options.batches]
    while len(batches) < chance.choice((2, 3)):
        batches.append(_batch(chance, replace(batches[0], steps=batches[0].steps[:1])))
    events = list(script.events)
    for _ in range(chance.choice((3, 4, 5))):
        at = chance.randrange(len(events) + 1)
        events[at:at] = _events(chance, len(batches))
    # What is deleted within the minute counts no more.
    kept_for = script.options.kept_for if (script.options.kept_for or 0.0) > WINDOW else None
    slots = chance.choice((1, 2, 4))
    options = replace(script.options, batches=tuple(batches), limit=None, slots=slots, kept_for=kept_for)
    return Script(options, tuple(events), seed)


def _batch(chance: Random, batch: BatchPlan) -> BatchPlan:
    return replace(
        batch,
        is_of_one_seq=True,
        priority=chance.choice((None, None, 0, 5, 9)),
        max_per_minute=chance.choice((None, None, 1, 2, 3)),
        max_concurrent=chance.choice((1, 2, 3, 5)),
        on_failure=chance.choice((batch.on_failure, "continue", "continue")),
        units=0,
    )


def _events(chance: Random, batches: int) -> list[Event]:
    asked: list[Event] = [
        Submit(f"B{chance.randrange(batches)}", f"many{chance.randrange(1000)}", None)
        for _ in range(chance.choice((2, 3, 5)))
    ]
    return [*asked, Run(float(chance.choice((1, 5, 20, 45))))]


def check(world: World, seen: Sequence[tuple[Any, ...]]) -> None:
    """Ask of what was claimed whether it might be begun already, and whether something else comes before it."""
    claimed = [
        (row, was, seq)
        for what, row, was, became, _, seq, *_ in seen
        if what == "instance" and became in _CLAIMED and was not in _CLAIMED
    ]
    if not claimed:
        return
    for row, _, seq in claimed:
        if seq == 0:
            _check_pace(world, row)
    now = world.time.database_now()
    moments = [(now - timedelta(seconds=back)).strftime("%Y-%m-%d %H:%M:%S.000") for back in (1, 60, 60)]
    ids = str([row for row, *_ in claimed])
    # What stopped everything until it was claimed had nothing else before it.
    were_retried = str([row for row, was, _ in claimed if was == "retry"])
    for row, other in world.rows(_PASSED_OVER, ids, *moments, were_retried):
        raise Broken("priority", f"instance {row} is claimed, and {other} of a batch with a higher Priority waits")


def next_beginnings(world: World) -> list[float]:
    """Return when more of a batch may be begun of which instances are begun slowly, and wait."""
    now = world.time.seconds
    slow = {batch for (batch,) in world.rows(_SLOW)}
    moments = (at + 60.0 for batch in slow for at in world.begun.get(batch, {}).values())
    return [moment for moment in moments if moment > now]


def _check_pace(world: World, row: int) -> None:
    """Ask whether no more instances of a batch are begun within a minute than may be."""
    now = world.time.seconds
    for batch, most in world.rows(_LIMITED, row):
        begun = world.begun.setdefault(batch, {})
        begun[row] = now
        many = sum(now - at < WINDOW for at in begun.values())
        world.happened["Begun slowly"] += 1
        if many > most:
            raise Broken(
                "pace", f"{many} instances of batch {batch} are begun within {WINDOW:.0f} s, and {most} may be"
            )
