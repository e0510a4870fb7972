"""What a dead controller has left at agents, as a controller sees it that does not serve their pool."""

from __future__ import annotations

import json
from datetime import timedelta

from batchctl.control.rescue import Rescued
from batchctl.domain.operators.carried_specs import MARK
from tests.control.silence import RHYTHM, elsewhere, look, running, wait_until_dead
from tests.control.world import PROCESS, World

WHERE = {"pool": "burst", "agent": "tcp://one:1", "type": "os_command", "alone": True}
SPEC = json.dumps({MARK: WHERE, "spec": {}})


def left_at_agents(world: World) -> None:
    """Let a controller run a step that an agent carries."""
    running(world)
    world.sql("UPDATE BatchProcessHistory SET CommandSpec = ?", SPEC)


def test_it_is_neither_looked_for_here_nor_lost_before_the_lease_of_its_agent_is_over(world: World) -> None:
    left_at_agents(world)
    rescue, runner = elsewhere(world)
    runner.gone = lambda row: row.pid == PROCESS.pid

    assert look(rescue) == Rescued()
    assert runner.examined == []
    assert world.history()[0][-1] == "running"
    (unclear,) = [event for event in world.events if event.name == "step.unclear"]
    assert "agents of pool burst carry the step" in str(unclear.fields["Message"])


def test_it_is_left_to_a_controller_that_serves_the_pool_however_long_that_takes(world: World) -> None:
    left_at_agents(world)
    world.membership("c3", transactions=world.open(), pools=["burst"]).begin()
    rescue, runner = elsewhere(world)
    wait_until_dead(world, rescue)
    # The other one goes on giving signs of life.
    world.sql("UPDATE Controller SET HeartbeatSeq = HeartbeatSeq + 1 WHERE ControllerName = 'c3'")
    world.clock.advance(timedelta(seconds=1))

    assert look(rescue) == Rescued()
    assert runner.examined == []
    assert world.history()[0][-1] == "running"


def test_where_no_controller_serves_the_pool_it_is_lost_after_the_silence_of_its_own(world: World) -> None:
    left_at_agents(world)
    rescue, _ = elsewhere(world)
    assert look(rescue) == Rescued()
    world.clock.advance(RHYTHM.orphan_timeout)

    assert look(rescue).lost == (1,)
    assert "agents of pool burst" in world.one("SELECT Message FROM BatchProcessHistory")
