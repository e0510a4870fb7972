"""More variety for a schedule that was drawn: settings that differ, and what people and leaders do about the same row."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from tests.sim.script import (
    Ask,
    Away,
    BatchPlan,
    Event,
    Fault,
    Kind,
    Operate,
    Options,
    Run,
    Script,
    Stall,
    Submit,
    Turn,
    Wake,
)

PATIENCE = (20.0, 60.0, 300.0)


def varied(seed: int, script: Script) -> Script:
    """Return the schedule with more variety."""
    chance = Random(seed)
    options = _options(chance, script.options)
    events = list(script.events)
    for _ in range(chance.choice((2, 3, 4, 5))):
        at = chance.randrange(len(events) + 1)
        events[at:at] = _events(chance, options)
    return Script(options, tuple(events), seed)


def _options(chance: Random, options: Options) -> Options:
    batches = [_batch(chance, batch) for batch in options.batches]
    if len(batches) == 1:
        batches.append(_batch(chance, replace(batches[0], steps=batches[0].steps[:1])))
    batches[1] = replace(batches[1], entity=chance.choice((None, 0, 0)))
    workers = len(options.places)
    patience = tuple(chance.choice(PATIENCE) for _ in range(workers)) if chance.random() < 0.4 else ()
    takes = chance.choice((0.0, 0.0, 0.0, 0.3, 1.0))
    return replace(options, batches=tuple(batches), patience=patience, commit_takes=takes)


def _batch(chance: Random, batch: BatchPlan) -> BatchPlan:
    steps = tuple(replace(step, max_duration=chance.choice((None, None, 4, 30))) for step in batch.steps)
    return replace(
        batch,
        steps=steps,
        duplicate_check=chance.random() < 0.7,
        backwards=chance.random() < 0.5,
        retry_count=chance.choice((batch.retry_count, 1, 3)),
        poison=chance.random() < 0.4,
    )


def _events(chance: Random, options: Options) -> list[Event]:
    nth, worker = chance.randrange(6), chance.randrange(len(options.places))
    run = Run(float(chance.choice((1, 5, 30))))
    others = tuple(Turn(at) for at in range(len(options.places)))
    match chance.choice(("same", "same", "again", "again", "asked", "asked", "answer", "claim")):
        case "same":
            return [_submit(chance), *([run] if chance.random() < 0.5 else []), _submit(chance)]
        case "again":
            return [Operate("cancel", nth), run, Operate("again", nth), run]
        case "asked":
            # Who answers is frozen at it for a moment, and everybody else goes on.
            frozen = Fault(None, "C11", Kind.FREEZE_BEFORE, (Away(1.0), *others, Run(2.0), Run(2.0)))
            return [frozen, Ask(chance.choice(("pause", "resume", "cancel")), nth), Run(3.0)]
        case "answer":
            # The answer of the database to a sign of life comes late, and the worker is silent then.
            late = Run(0.6 * options.rhythms[worker].orphan_timeout.total_seconds())
            silence = Run(1.2 * max(rhythm.orphan_timeout for rhythm in options.rhythms).total_seconds())
            fault = Fault(worker, "C6", Kind.FREEZE_AFTER, (*others, late))
            return [_submit(chance), _submit(chance), Run(4.0), fault, Run(4.0), Stall(worker), silence, Wake(worker)]
        case _:
            acts = (Operate(chance.choice(("pause", "cancel", "rerun")), nth), Run(1.0))
            return [Fault(None, "C3", Kind.FREEZE_BEFORE, acts), run]


def _submit(chance: Random) -> Event:
    prefix = chance.choice(("twin", "twin", "twin", "poison", "surprise"))
    return Submit("B0", f"{prefix}{chance.randrange(100)}", chance.choice(("same", "other", None)))
