"""One controller that falls silent while it carries out a step, and those that look after it."""

from __future__ import annotations

from batchctl.control.controller import Controller
from batchctl.control.rescue import Rescue, Rescued
from batchctl.domain.liveness import Rhythm
from batchctl.domain.rows import HistoryId
from batchctl.ports import Trace
from tests.control.world import RUNS_ON, ScriptedRunner, World

RHYTHM = Rhythm()
STEP = HistoryId(1)
STANDS = "SELECT Status, ClaimToken, ClaimedBy, LostCount FROM BatchControl"
WRITTEN = "SELECT Status, ClaimToken, ClaimedBy FROM BatchProcessHistory ORDER BY BatchProcessHistory_id"
RUNNING = [("running", 1, "c1", 0)]


def running(world: World, **step: object) -> Controller:
    """Let c1, which is entered, carry out the first of two steps."""
    world.membership().begin()
    return world.running(**step)


def elsewhere(world: World, name: str = "c2", trace: Trace = Trace.GONE) -> tuple[Rescue, ScriptedRunner]:
    """Return who looks after the dead on another connection, and finds this of their step."""
    runner = ScriptedRunner(script=lambda rendered: RUNS_ON, traces={STEP: trace})
    return world.rescue(name, transactions=world.open(), runner=runner), runner


def look(rescue: Rescue) -> Rescued:
    return rescue.look(lambda key: False)


def wait_until_dead(world: World, rescue: Rescue) -> None:
    """Let others see for long enough that c1 gives no sign of life."""
    assert look(rescue) == Rescued()
    world.clock.advance(RHYTHM.orphan_timeout)


def adopted(world: World, **step: object) -> tuple[Controller, ScriptedRunner, Controller]:
    """Let c2 go on with the step of c1; return c2, its executions, and c1, which knows of nothing."""
    first = running(world, **step)
    rescue, runner = elsewhere(world, trace=Trace.ADOPTABLE)
    second = world.controller("c2", transactions=world.open(), runner=runner)
    wait_until_dead(world, rescue)
    for attempt, entry in look(rescue).adopted:
        second.take_over(attempt, entry)
    return second, runner, first
