"""What a controller knows of the agents of its pools stands in the control database, as new as its sign of life."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from batchctl import __version__
from batchctl.control.membership import Membership
from batchctl.system.clock import SystemClock
from batchctl.system.remote.agent_pool import AgentPool
from batchctl.system.remote.followed_agent import PoolMeans
from tests.control.world import World
from tests.leftovers import end_supervisors
from tests.system.remote.agents import DATABASE, GRACE, an_agent
from tests.system.remote.in_process_transport import InProcessTransport, Wire
from tests.system.watching import LIMIT

ONE = {"name": "one", "slots": 4, "busy": 0, "resources": {}}


@pytest.fixture
def transport(tmp_path: Path) -> Iterator[InProcessTransport]:
    agent = an_agent(tmp_path / "state")
    yield InProcessTransport({"one": Wire(agent)})
    agent.close()
    end_supervisors(tmp_path)


@pytest.fixture
def pool(transport: InProcessTransport) -> Iterator[AgentPool]:
    means = PoolMeans(
        controller="c1",
        database_id=DATABASE,
        version=__version__,
        lease=2.0,
        grace=GRACE,
        now=SystemClock().now,
        report=lambda report: None,
    )
    made = AgentPool("burst", transport, means)
    made.meet(LIMIT)
    yield made
    made.close()


def member_of(world: World, pool: AgentPool, *names: str) -> Membership:
    """Return a controller that serves some pools, one of them with agents; it has begun."""
    member = world.membership(pools=names)
    member.agents = {names[0]: pool}
    member.begin()
    return member


def written(world: World) -> dict[str, Any]:
    rows = world.sql("SELECT PoolName, Agents FROM ControllerPool ORDER BY PoolName")
    return {name: None if text is None else json.loads(text) for name, text in rows}


def until(condition: Callable[[], bool]) -> None:
    """Wait for what another thread does."""
    over = time.monotonic() + LIMIT
    while not condition():
        assert time.monotonic() < over
        Event().wait(0.02)


def test_a_controller_says_which_agents_there_are(world: World, pool: AgentPool, transport: InProcessTransport) -> None:
    member = member_of(world, pool, "burst", "default")
    assert written(world) == {"burst": [ONE], "default": None}

    transport.wires.clear()
    until(lambda: not pool.seen().agents)
    member.beat()
    assert written(world) == {"burst": [], "default": None}
    transport.is_away = True
    until(lambda: pool.seen().failure is not None)
    member.beat()
    assert written(world)["burst"] == {"failure": "what knows the agents is away"}


def test_nothing_is_written_that_has_not_changed(world: World, pool: AgentPool) -> None:
    member = member_of(world, pool, "burst")
    world.sql("UPDATE ControllerPool SET Agents = '[]'")
    member.beat()

    assert written(world) == {"burst": []}


def test_a_controller_whose_row_is_gone_says_it_anew(world: World, pool: AgentPool) -> None:
    member = member_of(world, pool, "burst")
    world.sql("DELETE FROM ControllerPool")
    world.sql("DELETE FROM Controller")
    member.beat()

    assert written(world) == {"burst": [ONE]}


def test_one_that_serves_the_default_pool_by_agents_has_a_row(world: World, pool: AgentPool) -> None:
    member_of(world, pool, "default")

    assert written(world) == {"default": [ONE]}


def test_an_agent_that_takes_no_steps_says_why(world: World, pool: AgentPool, transport: InProcessTransport) -> None:
    member = member_of(world, pool, "burst")
    transport.wires["one"].is_cut = True
    until(lambda: pool.seen().agents[0].failure == "the wire is cut")
    member.beat()

    assert written(world) == {"burst": [{**ONE, "failure": "the wire is cut", "heard": False}]}
