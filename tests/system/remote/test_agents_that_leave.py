"""What a controller hears of agents that leave, come back, or are known to it twice."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from queue import SimpleQueue

import pytest

from batchctl import __version__
from batchctl.domain.outcomes import Rendered
from batchctl.domain.rows import HistoryId
from batchctl.ports import Report
from batchctl.system.clock import SystemClock
from batchctl.system.remote.agent import Agent
from batchctl.system.remote.followed_agent import LEAVING, FollowedAgent, PoolMeans, RemoteAttempt
from batchctl.system.remote.transport import OfferedAgent
from batchctl.system.remote.wire import AgentToken
from tests.system.remote.agents import DATABASE, GRACE
from tests.system.remote.in_process_transport import InProcessTransport, Wire
from tests.system.remote.test_agent_pools import Pooled, until
from tests.system.watching import LIMIT, Ear


@pytest.fixture
def pooled(agent: Agent, controller_id: str) -> Iterator[Pooled]:
    made = Pooled(controller_id, {"one": Wire(agent)})
    made.pool.meet(LIMIT)
    made.start(1000, "true")
    made.ends()
    made.pool.recorded([HistoryId(1000)])
    yield made
    made.pool.close()


def test_an_agent_of_two_pools_of_a_controller_tells_each_of_its_own_steps(
    pooled: Pooled, agent: Agent, controller_id: str
) -> None:
    other = Pooled(controller_id, {"one": Wire(agent)}, pool="other")
    try:
        other.pool.meet(LIMIT)
        for key in range(1, 13):
            (pooled, other)[key % 2].start(key, "true", agent="one")

        assert {each.key for each in pooled.ends(6)} == {2, 4, 6, 8, 10, 12}
        assert {each.key for each in other.ends(6)} == {1, 3, 5, 7, 9, 11}
        assert agent.busy == 0
    finally:
        other.pool.close()


def test_a_late_end_is_heard_although_the_loss_is_recorded_and_the_agent_was_away(pooled: Pooled, ear: Ear) -> None:
    pooled.start(1, f"echo $$ > {ear.path}; sleep 9", bound=False)
    ear.hear_pid()
    gone = pooled.transport.wires.pop("one")
    (lost,) = pooled.ends()
    pooled.pool.recorded([lost.key])
    until(lambda: not pooled.pool.agents)
    pooled.transport.wires["one"] = gone

    (late,) = pooled.ends()
    assert (lost.outcome.lost, late.outcome.succeeded, late.key) == (True, True, 1)
    until(lambda: any(verb == "news" and message["recorded"] == [1] for verb, message in gone.heard))


def test_an_agent_that_leaves_is_heard_until_its_last_end_is_recorded(pooled: Pooled, ear: Ear) -> None:
    pooled.start(1, f"echo $$ > {ear.path}; sleep 2")
    ear.hear_pid()
    pooled.transport.leaving.add("one")
    until(lambda: [one.failure for one in pooled.pool.seen().agents] == [LEAVING])
    assert pooled.pool.seen().agents[0].is_heard
    pooled.ends()
    news = pooled.transport.wires["one"].told("news")
    until(lambda: pooled.transport.wires["one"].told("news") > news + 1)
    pooled.pool.recorded([HistoryId(1)])

    until(lambda: not pooled.pool.agents)
    assert any(message.get("recorded") == [1] for _, message in pooled.transport.wires["one"].heard)


def test_what_one_step_is_told_counts_for_all_that_the_agent_carries(
    agent: Agent, controller_id: str, tmp_path: Path
) -> None:
    seconds, lease = [100.0], 10.0
    reports: SimpleQueue[Report] = SimpleQueue()
    means = PoolMeans(
        controller=controller_id,
        database_id=DATABASE,
        version=__version__,
        lease=lease,
        grace=GRACE,
        now=SystemClock().now,
        report=reports.put,
        monotonic=lambda: seconds[0],
    )

    def attempt(key: int) -> RemoteAttempt:
        script = f"touch {tmp_path}/{key}; sleep 60"
        return RemoteAttempt(
            AgentToken(DATABASE, HistoryId(key), 1), "script", Rendered(script, {"script": script}), True
        )

    async def begin_both() -> tuple[float, float]:
        followed = FollowedAgent(OfferedAgent("one", 4, {}), InProcessTransport({"one": Wire(agent)}), means, 1e9)
        await followed._meet()
        first, second = attempt(1), attempt(2)
        followed.take_up(first)
        await followed.start(first)
        seconds[0] += 4.5
        followed.take_up(second)
        await followed.start(second)
        return first.until, second.until

    assert asyncio.run(begin_both()) == (114.5, 114.5)
