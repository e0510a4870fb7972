"""Steps of a pool that agents carry: wires that fail, agents that die, stand still and come back, controllers that die."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from tests.sim.script import (
    AgentPlan,
    Away,
    BatchPlan,
    CutWire,
    Event,
    Fault,
    GoOnAgent,
    Kill,
    KillAgent,
    Kind,
    Operate,
    Options,
    PoolPlan,
    Run,
    Script,
    Stall,
    StopAgent,
    Submit,
    Turn,
    Wait,
    Wake,
)
from tests.sim.wires import WireFault

BURST = "burst"


def carried(seed: int, script: Script) -> Script:
    """Return a schedule with agents: every controller serves their pool, and most steps are of it."""
    chance = Random(seed)
    options = _options(chance, script.options)
    events = [_shorter(event, options) for event in script.events]
    for _ in range(chance.choice((2, 3, 4, 5))):
        at = chance.randrange(len(events) + 1)
        events[at:at] = _events(chance, options)
    return Script(options, tuple(events), seed)


def _options(chance: Random, options: Options) -> Options:
    far = chance.choice((1, 1, 2))
    hosts = len(options.ahead)
    agents = [
        AgentPlan(hosts + chance.randrange(far), chance.choice((1, 2, 3)), 0 if at else 1)
        for at in range(chance.choice((1, 2, 2, 3)))
    ]
    return replace(
        options,
        orphan_timeout=chance.choice((20.0, 20.0, 30.0)),
        ahead=(*options.ahead, *(float(chance.choice((0, -3600, 86400))) for _ in range(far))),
        batches=tuple(_batch(chance, batch) for batch in options.batches),
        pools=(PoolPlan("default"), PoolPlan(BURST, chance.choice((None, None, 2)), "dask")),
        serves=_served(chance, len(options.places)),
        agents=tuple(agents),
        agent_lease=chance.choice((5.0, 5.0, 10.0)),
    )


def _served(chance: Random, workers: int) -> tuple[tuple[str, ...], ...]:
    """Draw which controllers serve the pool of agents; the first one does."""
    return tuple(
        ("default", BURST) if number == 0 or chance.random() < 0.8 else ("default",) for number in range(workers)
    )


def _shorter(event: Event, options: Options) -> Event:
    """Return an event that takes no longer than it has to: what was drawn for more patience would only take time."""
    longest = 1.6 * options.orphan_timeout
    match event:
        case Run(seconds) | Wait(seconds) | Away(seconds) if seconds > longest:
            return replace(event, seconds=longest)
        case Fault(meanwhile=meanwhile) if meanwhile:
            return replace(event, meanwhile=tuple(_shorter(one, options) for one in meanwhile))
        case _:
            return event


def _batch(chance: Random, batch: BatchPlan) -> BatchPlan:
    if chance.random() < 0.3:
        # What goes on whatever becomes of its controller, so that another one finds it.
        needs = chance.choice((None, None, "GPU=1", "GPU=0.5"))
        lasting = tuple(replace(step, on_lost="hold", is_command=True, needs=needs) for step in batch.steps)
        return replace(batch, steps=lasting, pool=BURST, poison=False, max_concurrent=3)
    steps = tuple(
        replace(
            step,
            pool=None if chance.random() < 0.8 else "default",
            needs="GPU=1" if chance.random() < 0.2 else None,
            is_command=step.is_command and chance.random() < 0.7,
        )
        for step in batch.steps
    )
    return replace(batch, steps=steps, pool=BURST, poison=False)


def _events(chance: Random, options: Options) -> list[Event]:
    agent, worker = chance.randrange(len(options.agents)), chance.randrange(len(options.places))
    lease = options.agent_lease
    soon, later = Run(float(chance.choice((1, 2, 4)))), Run(chance.choice((0.5, 1.2, 2.5)) * lease)
    work: list[Event] = [
        Submit(f"B{chance.randrange(len(options.batches))}", f"far{chance.randrange(10**6)}") for _ in range(2)
    ]
    match chance.choice(
        (
            "kill",
            "stop",
            "cut",
            "cut",
            "deaf",
            "double",
            "double",
            "slow",
            "away",
            "takeover",
            "comeback",
            "late stop",
            "late stop",
        )
    ):
        case "kill":
            kill = KillAgent(
                agent,
                whole=chance.random() < 0.3,
                renamed=chance.random() < 0.5,
                after=float(chance.choice((1, 5, 20))),
            )
            return [*work, soon, kill, later]
        case "stop":
            return [*work, soon, StopAgent(agent), later, GoOnAgent(agent), soon]
        case "takeover":
            silent = Run(1.7 * options.orphan_timeout)
            return [*work, soon, _wrong(chance, agent, options), Kill(worker), silent]
        case "late stop":
            # It stands still on its way to the agent, and another takes over what it was to stop.
            absent = Run(chance.choice((1.2, 1.3, 1.4)) * options.orphan_timeout)
            frozen = Fault(None, "stop", Kind.FREEZE_BEFORE, (absent,))
            asked = [Operate("cancel", nth) for nth in chance.sample(range(6), 4)]
            return [*work, soon, soon, frozen, *asked, Run(3.0), Run(3.0), soon]
        case "comeback":
            # It acts before it has heard that others have taken over.
            absent = Run(chance.choice((1.2, 1.4, 1.7)) * options.orphan_timeout)
            back: list[Event] = [Stall(worker), absent, Wake(worker), Turn(worker), soon]
            wrong = [_wrong(chance, agent, options)] if chance.random() < 0.4 else []
            return [*work, soon, soon, *wrong, *back]
        case kind:
            who = None if kind == "away" or chance.random() < 0.3 else agent
            seconds = chance.choice((2.0, 0.6 * lease, 1.5 * lease, 4.0 * lease))
            return [CutWire(who, kind, seconds), *work, soon, later]


def _wrong(chance: Random, agent: int, options: Options) -> Event:
    """Draw something that is wrong with the wire to an agent while a controller is taken for dead."""
    fault = chance.choice((WireFault.DOUBLE, WireFault.SLOW, WireFault.DEAF, WireFault.CUT))
    return CutWire(agent, fault.value, 1.5 * options.orphan_timeout)
