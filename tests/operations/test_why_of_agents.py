"""`why` of a step in a pool of agents: what the controllers that serve it know of these."""

from __future__ import annotations

import json
from typing import Any

import pytest

from batchctl.domain.gates import Ends, Gate
from batchctl.domain.liveness import Rhythm
from batchctl.domain.outcomes import Rendered
from batchctl.domain.rows import HistoryEntry, InstanceId
from batchctl.operations.inspection import carrier
from batchctl.operations.pool_standing import PoolStanding, everything
from batchctl.operations.presence import Presence
from batchctl.store import history
from batchctl.system.remote.agent_handler import AgentHandler
from tests.control.world import RUNS_ON, World
from tests.operations.test_why import blocking, enter, why

PRESENCE = Presence(Rhythm(), is_gone=lambda row: False)
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


def test_nothing_keeps_it_where_one_has_room_or_controllers_carry_it(waiting: World) -> None:
    knows(waiting, FREE)
    assert gate(waiting) is None

    knows(waiting, None)
    waiting.sql("UPDATE Pool SET Kind = 'controllers'")
    assert gate(waiting) is None


def test_a_controller_without_the_agents_of_a_pool_begins_nothing_in_it(waiting: World) -> None:
    knows(waiting, None)
    waiting.turn_until_idle(waiting.controller("c1", pools=["burst"]))

    assert waiting.history() == []
    found: Any = gate(waiting)
    assert found.blocked == "no controller serves pool burst (and none ever did)"
    (burst,) = [one for one in pools_of(waiting) if one.name == "burst"]
    assert burst.state == "not served"


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
    run_on(waiting)
    knows(waiting, FULL)

    assert waiting.statuses() == ["running"]
    assert gate(waiting) is None


@pytest.mark.parametrize(
    ("agents", "heard"),
    [
        ('[{"name": "a", "slots": 4, "busy": 1, "resources": {}}]', ""),
        ('[{"name": "a", "slots": 4, "busy": 1, "resources": {}, "failure": "it takes nothing new"}]', ""),
        ('[{"more": 3}]', ""),
        (None, ""),
        (
            '[{"name": "a", "slots": 4, "busy": 1, "resources": {}, "failure": "it has not answered for 5 s", "heard": false}]',
            ", and is not heard (it has not answered for 5 s): the step is lost once its lease is over",
        ),
        ("[]", ", and is not heard (it is not there): the step is lost once its lease is over"),
        ('{"failure": "refused"}', ", and is not heard (refused): the step is lost once its lease is over"),
    ],
)
def test_why_says_which_agent_carries_a_step_and_whether_it_is_heard(
    waiting: World, agents: str | None, heard: str
) -> None:
    run_on(waiting)
    handler = AgentHandler("os_command", "burst", "a", "db", InstanceId(1), 1, goes_on_alone=True)
    spec = json.dumps(handler.spec(Rendered("true", {})))
    waiting.sql("UPDATE BatchProcessHistory SET CommandSpec = ?", spec)
    knows(waiting, agents)

    assert f"Agent a of pool burst carries it{heard}. Next: {TEST}" in why(waiting, "1").notes
    (entry,) = attempts(waiting)
    assert carrier(entry) == "agent a"


def run_on(world: World) -> None:
    """Let a step of the pool be under way, as if an agent carried it."""
    world.runner.script = lambda rendered: RUNS_ON
    world.sql("UPDATE Pool SET Kind = 'controllers'")
    world.turn_until_idle(world.controller("c1", pools=["burst"]))
    world.sql("UPDATE Pool SET Kind = 'dask'")


def pools_of(world: World) -> list[PoolStanding]:
    return everything(world.transactions, world.clock, PRESENCE)


def attempts(world: World) -> list[HistoryEntry]:
    with world.transactions.read() as connection:
        return [*history.of_instance(connection, InstanceId(1))[0]]


def test_advice_where_no_controller_serves_it_names_its_section_of_the_configuration(waiting: World) -> None:
    found: Any = gate(waiting)

    assert found.blocked == "no controller serves pool burst (and none ever did)"
    assert found.clear == 'batchctl run   (where batchctl.toml has [pools.burst] with kind = "dask": docs/agents.md)'
    waiting.sql("UPDATE ProcessBatch SET Pool = 'a b'")
    waiting.sql("INSERT INTO Pool (PoolName, Kind) VALUES ('a b', 'dask')")
    waiting.sql("UPDATE ProcessControl SET Pool = NULL")
    found = gate(waiting)
    assert found.clear == 'batchctl run   (where batchctl.toml has [pools."a b"] with kind = "dask": docs/agents.md)'
