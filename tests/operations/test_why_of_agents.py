"""`why` of a step in a pool of agents: what the controllers that serve it know of these."""

from __future__ import annotations

from typing import Any

import pytest

from batchctl.domain.gates import Ends, Gate
from tests.control.world import RUNS_ON, World
from tests.operations.test_why import blocking, enter, why

FULL = '[{"name": "a", "slots": 4, "busy": 4, "resources": {"MEMORY": 9e9}}]'
FREE = '[{"name": "a", "slots": 4, "busy": 3, "resources": {"MEMORY": 9e9}}]'
TEST = "batchctl pool test burst"


@pytest.fixture
def waiting(world: World) -> World:
    """An instance waits for an agent with some memory; a controller runs that serves its pool."""
    world.sql("INSERT INTO Pool (PoolName, Kind) VALUES ('burst', 'dask')")
    world.step(world.batch(steps=0), 10, Pool="burst", Needs="MEMORY=8e9")
    world.submit()
    world.create()
    enter(world)
    return world


def knows(world: World, agents: str | None, controller: int = 1) -> None:
    """Let a controller know some agents."""
    world.sql("DELETE FROM ControllerPool WHERE Controller_id = ?", controller)
    row = controller, agents
    world.sql("INSERT INTO ControllerPool (Controller_id, PoolName, Agents) VALUES (?, 'burst', ?)", *row)


def gate(world: World) -> Gate | None:
    return blocking(why(world, "1")).get("pool")


@pytest.mark.parametrize(
    ("agents", "said", "ends"),
    [
        (FULL, "it waits for an agent with MEMORY=8e9 in pool burst (1 there, all busy)", Ends.HOLDER),
        ("[]", "pool burst has no agent", Ends.ACT),
        (FREE.replace("9e9", "7e9"), "no agent of pool burst has MEMORY=8e9 (1 there)", Ends.ACT),
        ('{"failure": "refused"}', "agents of pool burst cannot be reached: refused", Ends.ACT),
        (
            "odd",
            "agents of pool burst cannot be reached: what its controller wrote of them cannot be read",
            Ends.ACT,
        ),
    ],
)
def test_what_keeps_a_step_from_the_agents(waiting: World, agents: str, said: str, ends: Ends) -> None:
    knows(waiting, agents)

    assert gate(waiting) == Gate("pool", said, TEST, "Pool 1", ends)


@pytest.mark.parametrize("agents", [FREE, None])
def test_nothing_keeps_it_where_one_has_room_or_controllers_carry_it(waiting: World, agents: str | None) -> None:
    knows(waiting, agents)

    assert gate(waiting) is None


def test_what_any_controller_sees_is_enough_unless_it_has_ended_or_is_drained(waiting: World) -> None:
    knows(waiting, FULL)
    now = waiting.clock.now().strftime("%Y-%m-%d %H:%M:%S")
    waiting.sql("INSERT INTO Controller (ControllerName, Host, Heartbeat) VALUES ('c2', 'far', ?)", now)
    knows(waiting, FREE, controller=2)
    assert gate(waiting) is None
    waiting.sql("INSERT INTO Drain (Host, Reason) VALUES ('far', 'patches')")
    assert gate(waiting) is not None
    waiting.sql("UPDATE Drain SET UndrainedTime = z_inserted")
    assert gate(waiting) is None
    waiting.sql("UPDATE Controller SET Status = 'stopped' WHERE ControllerName = 'c2'")

    assert gate(waiting) is not None


def test_a_step_that_is_under_way_waits_for_no_agent(waiting: World) -> None:
    waiting.runner.script = lambda rendered: RUNS_ON
    waiting.turn_until_idle(waiting.controller("c1", pools=["burst"]))
    knows(waiting, FULL)

    assert waiting.statuses() == ["running"]
    assert gate(waiting) is None


def test_advice_where_no_controller_serves_it_names_its_section_of_the_configuration(waiting: World) -> None:
    found: Any = gate(waiting)

    assert found.blocked == "no controller serves pool burst (and none ever did)"
    assert found.clear == "batchctl run --pool burst   (where batchctl.toml has [pools.burst]: docs/agents.md)"
    waiting.sql("UPDATE ProcessBatch SET Pool = 'a b'")
    waiting.sql("INSERT INTO Pool (PoolName, Kind) VALUES ('a b', 'dask')")
    waiting.sql("UPDATE ProcessControl SET Pool = NULL")
    found = gate(waiting)
    assert found.clear == "batchctl run --pool 'a b'   (where batchctl.toml has [pools.\"a b\"]: docs/agents.md)"
