"""The slots and resources of an agent, where several controllers, or several pools of one, want them at the same time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from batchctl.domain.errors import CannotBegin
from batchctl.domain.rows import HistoryId
from batchctl.domain.rule_texts import HostNeeds, host_needs
from batchctl.system.remote.agent import Agent
from batchctl.system.remote.agent_room import RESERVED, AgentRoom
from tests.system.remote.agents import an_agent
from tests.system.remote.in_process_transport import Wire
from tests.system.remote.test_agent_pools import Pooled, until
from tests.system.watching import LIMIT

GPU = host_needs("GPU=1")
HAS = {"GPU": 1.0, "MEMORY": 4.0}


@pytest.fixture
def narrow(tmp_path: Path) -> Iterator[Agent]:
    """An agent with two slots and one GPU."""
    agent = an_agent(tmp_path / "state", slots=2, resources=HAS)
    yield agent
    agent.close()


@pytest.fixture(params=["another controller", "another pool"])
def two(request: pytest.FixtureRequest, narrow: Agent, controller_id: str) -> Iterator[tuple[Pooled, Pooled]]:
    """Two that see the same agent: two controllers, or two pools of one."""
    wires = {"one": Wire(narrow, slots=2, resources=HAS)}
    is_pool = request.param == "another pool"
    other = (controller_id, "ssis") if is_pool else (f"{controller_id}-other", "burst")
    found = Pooled(controller_id, wires), Pooled(other[0], wires, other[1])
    for each in found:
        each.pool.meet(LIMIT)
    yield found
    for each in found:
        each.pool.close()


def test_what_one_has_kept_another_does_not_get(two: tuple[Pooled, Pooled]) -> None:
    first, second = two
    assert [each.pool.room_for(GPU) for each in two] == [1, 1], "both see the same"
    assert first.prepare(1, GPU) == "one"

    with pytest.raises(CannotBegin, match=r"No agent of pool .* has a free slot and GPU=1"):
        second.prepare(2, GPU)
    assert second.pool.room_for(None) == 0, "the agent is left alone for a moment"
    until(lambda: second.pool.room_for(None) == 1)
    assert second.pool.take_new_room()
    assert second.pool.room_for(GPU) == 0, "as the agent has answered"
    assert second.prepare(3) == "one"
    first.start(1, "true", needs=GPU)
    assert first.ends()[0].outcome.succeeded


def test_what_runs_for_one_is_taken_for_another(two: tuple[Pooled, Pooled]) -> None:
    first, second = two
    first.start(1, "exec sleep 60", needs=GPU)
    until(lambda: second.pool.room_for(GPU) == 0)
    assert second.pool.seen().agents[0].taken == {"GPU": 1}

    first.pool.stop(HistoryId(1))
    first.ends()
    until(lambda: second.pool.room_for(GPU) == 1)
    assert second.start(2, "true", needs=GPU) == "one"
    assert second.ends()[0].outcome.succeeded


def test_a_step_that_lost_its_slot_meanwhile_is_put_back(
    two: tuple[Pooled, Pooled], monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = two
    monkeypatch.setattr("batchctl.system.remote.agent_room.RESERVED", 0.0)
    assert first.prepare(1, GPU) == "one"
    second.start(2, "exec sleep 60", needs=GPU)
    until(lambda: second.pool.agents[0].busy == 1)
    first.start(1, "true", needs=GPU, agent="one")
    (end,) = first.ends()

    assert end.never_ran
    assert not end.outcome.lost
    second.pool.stop(HistoryId(2))
    second.ends()


def test_an_agent_keeps_a_slot_for_a_while() -> None:
    now, carried = [0.0], list[HostNeeds | None]()
    room = AgentRoom(2, HAS, lambda: carried, lambda: now[0])
    one, other = ("db", "burst", "c1", 1), ("db", "burst", "c2", 1)
    assert room.keep(one, GPU)
    assert room.keep(one, GPU), "asked again, it is kept once"
    assert not room.keep(other, GPU)
    assert room.keep(other, None)
    assert not room.keep(("db", "burst", "c3", 1), None)
    assert room.seen_by(one[:3]) == (1, {})
    assert room.seen_by(other[:3]) == (1, {"GPU": 1})
    room.give_back(other)
    assert room.seen_by(("db", "burst", "c3")) == (1, {"GPU": 1})

    now[0] = RESERVED
    assert room.seen_by(other[:3]) == (0, {})
    assert room.begin(one, GPU), "it is kept no longer, and nobody has taken it"
    carried.append(GPU)
    assert not room.begin(other, GPU)
    assert not room.keep(other, host_needs("GPU=1, MEMORY=1"))
    assert room.keep(other, host_needs("MEMORY=4"))
