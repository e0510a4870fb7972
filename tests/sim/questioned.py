"""Steps that ask people, and people who confirm, refuse, let time pass, answer twice at once, or do something else instead."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from random import Random
from typing import TYPE_CHECKING, Any

from batchctl.domain.operators.confirmations import answer_time
from batchctl.domain.outcomes import Asks, StepOutcome
from tests.sim.laws import Broken
from tests.sim.script import Ask, BatchPlan, Event, Fault, Kill, Kind, Operate, Run, Script, StepPlan, Terminate

if TYPE_CHECKING:
    from tests.sim.world import World

TIMES = ("", "", "", "20s", "5m fail", "20s go on", "5m go on", "30s incident")
"""What stands in Data4 of a step that asks."""
_SHORT = timedelta(seconds=1.5)
"""The database's clock shows whole seconds, and commits take parts of one."""


def questioned(seed: int, script: Script) -> Script:
    """Return the schedule with a step in each batch that asks, and with people who answer."""
    chance = Random(seed)
    places = script.options.places if len(script.options.places) > 1 else (*script.options.places, 0)
    batches = tuple(_batch(chance, batch) for batch in script.options.batches)
    events = list(script.events)
    for _ in range(chance.choice((4, 6, 8))):
        at = chance.randrange(len(events) + 1)
        events[at:at] = _events(chance, len(places))
    return Script(replace(script.options, places=places, batches=batches), tuple(events), seed)


def _batch(chance: Random, batch: BatchPlan) -> BatchPlan:
    steps = list(batch.steps)
    question = StepPlan(
        on_lost=chance.choice(("hold", "rerun")),
        is_command=False,
        asks=chance.choice(TIMES),
        goes_past=chance.random() < 0.3,
    )
    steps.insert(chance.randrange(len(steps) + 1), question)
    return replace(batch, steps=tuple(steps))


def _events(chance: Random, workers: int) -> list[Event]:
    nth, run = chance.randrange(6), Run(float(chance.choice((1, 3, 20, 100))))
    word = chance.choice(("confirm", "confirm", "confirm", "refuse"))
    answer = Operate(word, nth)
    match chance.choice(("answer", "answer", "by row", "twice", "at once", "instead", "dies", "fault", "silence")):
        case "by row":
            return [run, Ask(word, nth), run]
        case "twice":
            return [run, answer, Operate("refuse", nth), Operate("confirm", nth), run]
        case "at once":
            # Who answers for a row is frozen at it, and meanwhile a person answers.
            meanwhile = (Operate(chance.choice(("confirm", "refuse", "cancel")), nth),)
            return [
                run,
                Fault(None, "C11", Kind.FREEZE_BEFORE, meanwhile),
                Ask(word, nth, None, chance.choice((1, 2))),
                run,
            ]
        case "instead":
            return [run, Operate(chance.choice(("cancel", "skip", "rerun", "again", "resume", "pause")), nth), run]
        case "dies":
            worker = chance.randrange(workers)
            return [run, answer, chance.choice((Kill(worker), Terminate(worker))), run]
        case "fault":
            place = chance.choice(("C3", "C4", "C7", "C8", "C9"))
            return [Fault(None, place, chance.choice([*Kind][:7])), run, answer, run]
        case "silence":
            return [run]
        case _:
            return [run, answer, run]


def asking(outcome: StepOutcome, written: str | None) -> StepOutcome:
    """Return what a step reports that asks, as its Data4 says; where it did not come so far it has failed."""
    if not outcome.succeeded:
        return outcome
    time = answer_time(written or "")
    wait, then = (None, None) if time is None else (time.length, time.then)
    return StepOutcome(succeeded=False, message="is it right?", output="1 row", asks=Asks(None, wait, then))


_QUESTION = """
SELECT q.Answer, q.DueTime, q.z_inserted, q.OnTimeout, p.Data4, p.OnStepFailure FROM Confirmation q
JOIN BatchControl c ON c.BatchControl_id = q.BatchControl_id
JOIN ProcessControl p ON p.ProcessBatch_id = c.ProcessBatch_id AND p.ProcessControlSeq = q.ProcessControlSeq
WHERE q.Confirmation_id = ?
"""
_UNANSWERED = """
SELECT q.Confirmation_id FROM Confirmation q WHERE q.BatchControl_id = ? AND q.Answer IS NULL
UNION ALL
SELECT q.Confirmation_id FROM Confirmation q
JOIN BatchControl c ON c.BatchControl_id = q.BatchControl_id
JOIN ProcessControl p ON p.ProcessBatch_id = c.ProcessBatch_id AND p.ProcessControlSeq = q.ProcessControlSeq
WHERE q.BatchControl_id = ? AND q.ProcessControlSeq < ? AND q.Confirmation_id = (
    SELECT max(n.Confirmation_id) FROM Confirmation n
    WHERE n.BatchControl_id = q.BatchControl_id AND n.ProcessControlSeq = q.ProcessControlSeq)
AND p.OnStepFailure IS NOT 'continue' AND (
    q.Answer = 'refused' OR (q.Answer = 'expired' AND q.OnTimeout <> 'go_on')
    OR (q.Answer = 'withdrawn' AND NOT EXISTS (SELECT 1 FROM BatchProcessHistory h WHERE h.BatchControl_id = q.BatchControl_id
        AND h.ProcessControlSeq = q.ProcessControlSeq AND h.Status = 'skipped')))
AND NOT EXISTS (SELECT 1 FROM BatchProcessHistory h WHERE h.BatchControl_id = q.BatchControl_id
    AND h.ProcessControlSeq = q.ProcessControlSeq AND h.Status = 'skipped')
"""
_OVERDUE = """
SELECT Confirmation_id FROM Confirmation WHERE Answer IS NULL AND OnTimeout <> 'incident' AND DueTime <= ?
"""
_LOST = """
SELECT count(*) FROM BatchProcessHistory h JOIN ProcessControl p ON p.ProcessBatch_id = h.ProcessBatch_id
AND p.ProcessControlSeq = h.ProcessControlSeq AND p.ProcessType = 'confirm'
JOIN BatchControl c ON c.BatchControl_id = h.BatchControl_id AND c.PrevProcessControlSeq < h.ProcessControlSeq
WHERE h.BatchControl_id = ? AND h.Status = 'lost'
AND h.BatchProcessHistory_id = (SELECT max(n.BatchProcessHistory_id) FROM BatchProcessHistory n
    WHERE n.BatchControl_id = h.BatchControl_id) AND c.LostCount <= 5
"""


def check_commit(world: World, seen: Sequence[tuple[Any, ...]]) -> None:
    """Ask whether each question was asked as its step says, and answered once, and not before its time."""
    for what, row, was, became, *_ in seen:
        if what == "asked":
            _check_asked(world, row)
        elif what == "question":
            world.happened[f"Question {became}"] += 1
            _check_answer(world, row, was, became)
        elif what == "instance" and became == "held" and world.rows(_LOST, row) != [(0,)]:
            raise Broken("question", f"instance {row} is held because it was lost what it was to ask")


def _check_asked(world: World, row: int) -> None:
    ((_, due, asked, then, written, _),) = world.rows(_QUESTION, row)
    time = answer_time(written or "")
    late = None if due is None else _moment(due) - _moment(asked)
    if late != (None if time is None else time.length) or then != (None if time is None else time.then):
        raise Broken("question", f"question {row} waits for {late} ({then}), and its step says '{written}'")


def _check_answer(world: World, row: int, was: str | None, became: str | None) -> None:
    ((_, due, _, then, _, _),) = world.rows(_QUESTION, row)
    if was is not None:
        raise Broken("question", f"question {row} was {was}, and is {became}")
    if became == "expired" and (then == "incident" or due is None or _moment(due) > world.time.database_now() + _SHORT):
        raise Broken("question", f"question {row} has ended without an answer before {due} ({then})")


def check_start(world: World, instance: int, seq: int) -> None:
    """Ask whether nothing behind a question begins that has no answer which lets it."""
    for (row,) in world.rows(_UNANSWERED, instance, instance, seq):
        raise Broken("question", f"step {seq} of instance {instance} begins although question {row} does not let it")


def check_rest(world: World) -> None:
    """Ask whether no question has outlived its time."""
    now = world.time.database_now() - _SHORT
    for (row,) in world.rows(_OVERDUE, now.strftime("%Y-%m-%d %H:%M:%S.000")):
        raise Broken("question", f"question {row} stays open beyond its time")


def next_end(world: World) -> list[str]:
    """Return when questions end without an answer."""
    open_ones = (
        "SELECT DueTime FROM Confirmation WHERE Answer IS NULL AND OnTimeout <> 'incident' AND DueTime IS NOT NULL"
    )
    return [due for (due,) in world.rows(open_ones)]


def is_asked(world: World, instance: int) -> bool:
    """Say whether an instance waits with a question."""
    return bool(world.rows("SELECT 1 FROM Confirmation WHERE BatchControl_id = ? AND Answer IS NULL", instance))


def let_go_on(world: World, key: int) -> bool:
    """Say whether an attempt that asked may count as a success."""
    found = world.rows(
        "SELECT 1 FROM BatchProcessHistory h JOIN Confirmation q ON q.BatchControl_id = h.BatchControl_id"
        " AND q.ProcessControlSeq = h.ProcessControlSeq AND q.AnsweredTime = h.EndTime"
        " WHERE h.BatchProcessHistory_id = ? AND (q.Answer = 'confirmed' OR (q.Answer = 'expired' AND q.OnTimeout = 'go_on'))",
        key,
    )
    return bool(found)


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)
