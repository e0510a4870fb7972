"""The end of every schedule: nothing fails any more, and everything has to come to its end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from batchctl.control.alerting.incident_watch import STALE
from tests.sim import counts, laws, questioned, telling, timetables, waiting
from tests.sim.happening import boot, pass_time
from tests.sim.hosts import Luck
from tests.sim.laws import Broken
from tests.sim.programs import POLL_INTERVAL
from tests.sim.script import Operate, Switch, Thaw, Undrain

if TYPE_CHECKING:
    from tests.sim.world import World

MOST_ROUNDS = 200
"""How many rounds of turns everything must have come to its end within, once nothing fails any more."""
MOST_TRIES = 4
"""How often a person may have to deal with what failed, once nothing fails any more."""
MOST_TURNS = 60
"""How many turns a worker may take in a row before it is idle."""


def live(world: World) -> None:
    """Play the whole schedule."""
    world.play(world.script.events)
    _heal(world)
    timetables.go_on(world)
    _drain(world)
    waiting.check_rest(world)
    telling.check_rest(world)
    for _ in range(MOST_TRIES):
        if not _sort_out(world):
            break
        _drain(world)
    waiting.check_finished(world)
    if world.options.tells:
        # Of what is frozen nobody is told.
        _thaw(world)
        _outlast_claims(world)
        telling.check_finished(world)
    laws.check_end(world)
    counts.check_end(world)
    laws.check_dependents(world)
    laws.check_all(world)
    timetables.check(world)


def _heal(world: World) -> None:
    """Let nothing fail any more."""
    world.is_healed = True
    world.away_until = -1.0
    world.stalled.clear()
    world.armed.clear()
    for host in world.hosts:
        boot(world, host)
    world.wires.heal()
    world.agents.heal()
    for worker in range(len(world.workers)):
        program = world.program(worker)
        if program is not None:
            program.armed.clear()
    world.luck = Luck(0)
    world.tell("world", "healed", {})


def _are_agents_unmet(world: World) -> bool:
    """Say whether a controller still waits for what an agent says of itself: an answer that was lost takes its time."""
    programs = filter(None, map(world.program, range(len(world.workers))))
    return any(agent.facts is None for one in programs for pool in one.pools.values() for agent in pool.agents)


def _drain(world: World) -> None:
    """Turn and wait until nothing is left to be done."""
    has_waited = False
    for _ in range(MOST_ROUNDS):
        before = world.progress
        for worker in range(len(world.workers)):
            _turn_until_idle(world, worker)
        seconds = waiting.until_something_happens(world, world.pace)
        if seconds is None and before == world.progress and has_waited and not _are_agents_unmet(world):
            return
        # The leader looks by itself now and then, whatever it has been told.
        has_waited = seconds is None
        pass_time(world, POLL_INTERVAL + 1.0 if seconds is None else seconds)
    raise Broken("I35", f"it never came to rest: {waiting.explain(world)}")


def _outlast_claims(world: World) -> None:
    """Go on until nobody waits any more for one who had claimed a message and died."""
    until = world.time.seconds + STALE.total_seconds()
    while world.time.seconds <= until:
        _drain(world)


def _turn_until_idle(world: World, worker: int) -> None:
    for _ in range(MOST_TURNS):
        before = world.progress
        world.turn(worker)
        program = world.workers[worker]
        if program is not None and before == world.progress and not program.has_news:
            return


def _thaw(world: World) -> None:
    """Let a person end every freeze."""
    world.person.thaw(Thaw(None))
    for number in range(len(world.options.batches)):
        world.person.thaw(Thaw(number))
    for host in range(len(world.hosts) if world.options.pools else 0):
        world.person.drain(Undrain(host=host))
    for pool in range(len(world.options.pools)):
        world.person.drain(Undrain(pool=pool))


def _sort_out(world: World) -> bool:
    """Let a person deal with everything that waits for one; say whether there was anything."""
    if not waiting.is_open(world):
        return False
    _thaw(world)
    if any(step.asks for batch in world.options.batches for step in batch.steps):
        # Time passes here until nothing happens any more, and a question would end before a person comes to it.
        world.person.give_time()
    for number in range(len(world.options.batches)):
        world.person.switch(Switch(number, enabled=True))
    statuses = world.rows("SELECT BatchControl_id, Status FROM BatchControl ORDER BY BatchControl_id")
    for nth, (instance, status) in enumerate(statuses):
        if status == "paused":
            world.person.operate(Operate("confirm" if questioned.is_asked(world, instance) else "resume", nth))
        elif status in ("failed", "held"):
            world.person.operate(Operate("rerun", nth))
    return True
