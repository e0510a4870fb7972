"""Workers that serve different pools, steps that move from one to another, and people who drain hosts and pools meanwhile."""

from __future__ import annotations

import json
from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING

from batchctl.domain.operators.pools import Place
from tests.sim.script import (
    BatchPlan,
    Drain,
    Event,
    MoveStep,
    Operate,
    Options,
    PoolPlan,
    Run,
    Script,
    StepPlan,
    Undrain,
)

if TYPE_CHECKING:
    from tests.sim.world import World

NAMES = ("default", "ssis", "linux")


def pooled(seed: int, script: Script) -> Script:
    """Return a schedule with pools: every one of them is served by a worker at least."""
    chance = Random(seed)
    options = _options(chance, script.options)
    events = list(script.events)
    for _ in range(chance.choice((1, 2, 3, 4))):
        at = chance.randrange(len(events) + 1)
        events[at:at] = _events(chance, options)
    return Script(options, tuple(events), seed)


def _options(chance: Random, options: Options) -> Options:
    workers = len(options.places)
    serves = [{name for name in NAMES if chance.random() < 0.5} or {chance.choice(NAMES)} for _ in range(workers)]
    for name in NAMES:
        if not any(name in some for some in serves):
            serves[chance.randrange(workers)].add(name)
    return replace(
        options,
        batches=tuple(_batch(chance, batch) for batch in options.batches),
        pools=tuple(PoolPlan(name, chance.choice((None, None, 1, 2))) for name in NAMES),
        serves=tuple(tuple(sorted(some)) for some in serves),
    )


def _batch(chance: Random, batch: BatchPlan) -> BatchPlan:
    steps = tuple(replace(step, pool=chance.choice((None, *NAMES))) for step in batch.steps)
    if len(steps) == 1:
        steps = (*steps, StepPlan(pool=chance.choice(NAMES)))
    return replace(batch, steps=steps, pool=chance.choice((None, None, "SSIS", " linux")))


def _events(chance: Random, options: Options) -> list[Event]:
    run: Event = Run(float(chance.choice((1, 4, 20))))
    ends = chance.random() < 0.6
    match chance.choice(("host", "pool", "pool", "move", "again")):
        case "host":
            host = chance.randrange(max(options.places) + 1)
            drained: list[Event] = [Drain(host=host), run]
            return [*drained, Undrain(host=host), run] if ends else drained
        case "pool":
            pool = chance.randrange(len(NAMES))
            drained = [Drain(pool=pool), run]
            return [*drained, Undrain(pool=pool), run] if ends else drained
        case "move":
            return [MoveStep(chance.randrange(6), chance.choice((None, *NAMES))), run]
        case _:
            return [Operate(chance.choice(("again", "skip", "rerun")), chance.randrange(6)), run]


def place_of(world: World, host: int | None, pool: int | None) -> Place:
    """Return what an event names."""
    if host is not None:
        return Place(world.hosts[host % len(world.hosts)].name)
    return Place(None, NAMES[(pool or 0) % len(NAMES)])


NEXT_POOL = """
SELECT coalesce(trim(lower(p.Pool)), trim(lower(b.Pool)), 'default') FROM ProcessControl p
WHERE p.ProcessBatch_id = e.ProcessBatch_id AND p.ProcessControlSeq > e.PrevProcessControlSeq
ORDER BY p.ProcessControlSeq LIMIT 1
"""
"""The pool of the next step of an instance `e` of a batch `b`."""
_CLOSED = """
SELECT c.BatchControl_id FROM BatchControl c JOIN ProcessBatch b ON b.ProcessBatch_id = c.ProcessBatch_id
JOIN ProcessControl p ON p.ProcessBatch_id = c.ProcessBatch_id AND p.ProcessControlSeq = (
    SELECT min(n.ProcessControlSeq) FROM ProcessControl n
    WHERE n.ProcessBatch_id = c.ProcessBatch_id AND n.ProcessControlSeq > c.PrevProcessControlSeq)
WHERE c.Status IN ('ready', 'retry') AND (
    EXISTS (SELECT 1 FROM Drain d WHERE d.UndrainedTime IS NULL
            AND d.PoolName = coalesce(trim(lower(p.Pool)), trim(lower(b.Pool)), 'default'))
    OR NOT EXISTS (SELECT 1 FROM json_each(?) w
        WHERE w.value ->> 1 = coalesce(trim(lower(p.Pool)), trim(lower(b.Pool)), 'default')
        AND NOT EXISTS (SELECT 1 FROM Drain d WHERE d.UndrainedTime IS NULL AND lower(d.Host) = lower(w.value ->> 0))))
"""


def closed(world: World) -> set[int]:
    """Return the instances whose next step can begin nowhere: its pool, or every host that serves it, is drained."""
    if not world.options.pools:
        return set()
    served = [
        (world.hosts[place].name, name)
        for place, names in zip(world.options.places, world.options.serves, strict=True)
        for name in names
    ]
    return {row for (row,) in world.rows(_CLOSED, json.dumps(served))}
