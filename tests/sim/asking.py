"""What people ask for by rows, added to a schedule that was drawn: leaders come and go while they wait for the answer."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from tests.sim.script import (
    Ask,
    Away,
    Event,
    Fault,
    Kill,
    Kind,
    Operate,
    Run,
    Script,
    Stall,
    Submit,
    TakeBack,
    Terminate,
    Turn,
    Wake,
)

ACTIONS = ("pause", "resume", "cancel", "rerun", "rerun", "skip", "enable", "disable", "freeze", "thaw")
ARGUMENTS = {
    "rerun": (None, '{"from": 10}'),
    "enable": ('{"release": "all"}', '{"release": "latest"}', None),
    "thaw": ('{"release": "all"}', '{"throttle": 30}', None),
}
LEASE = 45.0
"""Seconds after which somebody else leads, where the leader is silent."""


def requested(seed: int, script: Script) -> Script:
    """Return the schedule with requests in it, and at least two workers to answer them."""
    chance = Random(seed)
    places = script.options.places if len(script.options.places) > 1 else (*script.options.places, 0)
    events = list(script.events)
    for _ in range(chance.choice((2, 3, 4))):
        at = chance.randrange(len(events) + 1)
        events[at:at] = _events(chance, len(places))
    return Script(replace(script.options, places=places), tuple(events), seed)


def _events(chance: Random, workers: int) -> list[Event]:
    asks = [_ask(chance) for _ in range(chance.choice((1, 1, 2, 3)))]
    worker, run = chance.randrange(workers), Run(float(chance.choice((1, 3, 5))))
    others = tuple(Turn(at) for at in range(workers))
    match chance.choice(("calm", "fault", "fault", "deposed", "deposed", "deposed", "taken back", "silent", "ends")):
        case "fault":
            return [_submit(chance), Fault(None, "C11", chance.choice([*Kind][:7])), *asks, run, run]
        case "deposed":
            # Who answers is frozen at it for so long that somebody else leads, and answers, before it wakes.
            kind = chance.choice((Kind.FREEZE_BEFORE, Kind.FREEZE_BEFORE, Kind.FREEZE_AFTER))
            later: tuple[Event, ...] = chance.choice(((_ask(chance),), (_operate(chance),), (Away(1.0),), ()))
            meanwhile = (Run(LEASE), *later, *others, run)
            if chance.random() < 0.3:
                # The other one dies before it answers.
                meanwhile = (Fault(None, "C11", Kind.CRASH_BEFORE), Run(LEASE))
            return [_submit(chance), Fault(None, "C11", kind, meanwhile), *asks, run, run]
        case "taken back":
            return [
                _submit(chance),
                Fault(None, "C11", Kind.FREEZE_BEFORE, (TakeBack(chance.randrange(3)),)),
                *asks,
                run,
            ]
        case "silent":
            return [Stall(worker), *asks, Run(LEASE), Wake(worker), Turn(worker)]
        case "ends":
            return [*asks, chance.choice((Kill(worker), Terminate(worker))), Run(chance.choice((1.0, LEASE)))]
        case _:
            return [_submit(chance), run, *asks, run]


def _ask(chance: Random) -> Ask:
    action = chance.choice(ACTIONS)
    arguments = chance.choice(ARGUMENTS.get(action, (None,)))
    return Ask(action, chance.randrange(6), arguments, chance.choice((1, 1, 1, 2)))


def _operate(chance: Random) -> Operate:
    return Operate(chance.choice(("pause", "resume", "cancel", "rerun")), chance.randrange(6))


def _submit(chance: Random) -> Submit:
    return Submit("B0", f"asked{chance.randrange(1000)}")
