"""A pool as its controller sees it, over wires that fail: what is lost, and when, and what is never done twice."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from queue import SimpleQueue
from threading import Event
from typing import Any, cast

import pytest

from batchctl import __version__
from batchctl.domain.errors import CannotBegin
from batchctl.domain.outcomes import Rendered, StepOutcome
from batchctl.domain.rows import HistoryId, InstanceId
from batchctl.domain.rule_texts import HostNeeds, host_needs
from batchctl.ports import Finished, Report
from batchctl.system.clock import SystemClock
from batchctl.system.remote.agent import Agent
from batchctl.system.remote.agent_pool import AgentPool
from batchctl.system.remote.followed_agent import PoolMeans, RemoteAttempt
from batchctl.system.remote.wire import AgentToken, Message, report_message
from tests.system.remote.agents import DATABASE, GRACE, NOW, an_agent
from tests.system.remote.in_process_transport import InProcessTransport, Wire
from tests.system.watching import LIMIT, Ear, lives

LEASE = 2.0


class Pooled:
    """A pool over wires of the test, and the controller's side of it."""

    def __init__(self, controller_id: str, wires: dict[str, Wire], pool: str = "burst") -> None:
        self.transport = InProcessTransport(wires)
        self.reports: SimpleQueue[Report] = SimpleQueue()
        means = PoolMeans(
            controller=controller_id,
            database_id=DATABASE,
            version=__version__,
            lease=LEASE,
            grace=GRACE,
            now=SystemClock().now,
            report=self.reports.put,
        )
        self.pool = AgentPool(pool, self.transport, means)
        self.pool.keep_lease(time.monotonic() + LIMIT)

    def start(
        self, key: int, script: str, *, bound: bool = False, agent: str | None = None, needs: HostNeeds | None = None
    ) -> str:
        """Begin a step as a controller does; return which agent carries it."""
        name = self.prepare(key, needs) if agent is None else agent
        token = AgentToken(DATABASE, HistoryId(key), 1)
        rendered = Rendered(script, {"script": script})
        attempt = RemoteAttempt(token, "script", rendered, bound, needs, InstanceId(key), goes_on_alone=True)
        assert self.pool.start(name, attempt)
        return name

    def prepare(self, key: int, needs: HostNeeds | None = None) -> str:
        agent, _ = self.pool.prepare(InstanceId(key), "script", needs, asked(key))
        return agent.offer.name

    def ends(self, count: int = 1) -> list[Finished]:
        """Wait for so many ends."""
        found: list[Finished] = []
        while len(found) < count:
            each = self.reports.get(timeout=LIMIT)
            found += [each] if isinstance(each, Finished) else []
        return found

    def more_ends(self, seconds: float) -> list[Finished]:
        """Return the ends that come within some seconds."""
        Event().wait(seconds)
        found = [self.reports.get() for _ in range(self.reports.qsize())]
        return [each for each in found if isinstance(each, Finished)]


def asked(key: int) -> dict[str, Any]:
    batch = {"id": 1, "name": "Far", "variables": {}}
    step = {
        "batch_id": 1,
        "seq": 10,
        "name": "step",
        "process_type": "script",
        "max_duration": None,
        "on_lost": "hold",
        "data": ["true", None, None, None, None, None],
    }
    now = SystemClock().now().isoformat()
    instance = {
        "instance_id": key,
        "batch_id": 1,
        "intake_id": 1,
        "last_seq": 0,
        "status": "running",
        "retry_count": 0,
        "next_run_time": now,
        "cycle_key": None,
        "data": [None] * 6,
        "claim_token": 1,
        "claimed_by": None,
        "lost_count": 0,
        "entity": "Far",
        "file_name": None,
        "source": None,
    }
    return {"asked": {"instance": instance, "batch": batch, "step": step, "attempt_no": 1, "cause": "auto", "now": now}}


def until(condition: Callable[[], bool]) -> None:
    """Wait for what another thread does."""
    over = time.monotonic() + LIMIT
    while not condition():
        assert time.monotonic() < over
        Event().wait(0.02)


@pytest.fixture
def pooled(agent: Agent, controller_id: str) -> Iterator[Pooled]:
    made = Pooled(controller_id, {"one": Wire(agent)})
    made.pool.meet(LIMIT)
    made.start(1000, "true")
    made.ends()
    yield made
    made.pool.close()


def wire(pooled: Pooled) -> Wire:
    return pooled.transport.wires["one"]


def test_a_step_runs_at_an_agent(pooled: Pooled) -> None:
    pooled.start(1, "echo far away")

    (end,) = pooled.ends()
    assert (end.key, end.outcome.output) == (1, "far away\n")


def test_what_is_asked_twice_is_done_once(pooled: Pooled, tmp_path: Path) -> None:
    wire(pooled).doubles = True
    pooled.start(1, f"echo once >> {tmp_path}/ran")

    (end,) = pooled.ends()
    assert end.outcome.succeeded
    assert pooled.more_ends(1.5) == []
    assert (tmp_path / "ran").read_text() == "once\n"
    assert wire(pooled).told("start") >= 2


def test_a_start_whose_answer_is_lost_is_told_again_and_its_step_is_kept(pooled: Pooled, ear: Ear) -> None:
    name = pooled.prepare(1)
    wire(pooled).loses_answers = True
    pooled.start(1, f"echo $$ > {ear.path}; sleep {LEASE + 2}", bound=True, agent=name)
    ear.hear_pid()
    wire(pooled).loses_answers = False

    (end,) = pooled.ends()
    assert end.outcome.succeeded


def test_nothing_is_lost_before_lease_and_grace_are_over(pooled: Pooled, ear: Ear) -> None:
    pooled.start(1, f"echo $$ > {ear.path}; exec sleep 60", bound=True)
    pid = ear.hear_pid()
    wire(pooled).is_cut = True
    cut = time.monotonic()

    (end,) = pooled.ends()
    assert end.outcome.lost
    assert end.may_end_later
    assert time.monotonic() >= cut + GRACE
    assert not lives(pid)


def test_a_wire_that_is_cut_for_less_than_that_loses_nothing(pooled: Pooled, ear: Ear) -> None:
    pooled.start(1, f"echo $$ > {ear.path}; sleep 3", bound=False)
    ear.hear_pid()
    wire(pooled).is_cut = True
    assert pooled.more_ends(LEASE / 2) == []
    wire(pooled).is_cut = False

    (end,) = pooled.ends()
    assert end.outcome.succeeded


def test_an_end_that_comes_later_is_told_once(pooled: Pooled, ear: Ear) -> None:
    pooled.start(1, f"echo $$ > {ear.path}; sleep 12", bound=False)
    ear.hear_pid()
    wire(pooled).is_cut = True
    (lost,) = pooled.ends()
    wire(pooled).is_cut = False

    (late,) = pooled.ends()
    assert (lost.outcome.lost, late.outcome.succeeded) == (True, True)


def test_what_was_never_told_is_put_back_and_not_lost(pooled: Pooled, tmp_path: Path) -> None:
    name = pooled.prepare(1)
    pooled.pool.keep_lease(time.monotonic() - 1)
    pooled.start(1, f"touch {tmp_path}/ran", agent=name)

    (end,) = pooled.ends()
    assert end.never_ran
    assert not (tmp_path / "ran").exists()


def test_a_slow_agent_starts_nothing_too_late(pooled: Pooled, tmp_path: Path) -> None:
    name = pooled.prepare(1)
    pooled.pool.keep_lease(time.monotonic() + 0.5)
    wire(pooled).is_cut = True
    pooled.start(1, f"touch {tmp_path}/ran", agent=name)
    Event().wait(0.8)
    wire(pooled).is_cut = False

    (end,) = pooled.ends()
    assert end.never_ran
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("ahead", [3600.0, -3600.0])
def test_clocks_an_hour_apart_harm_nothing(pooled: Pooled, ear: Ear, ahead: float) -> None:
    wire(pooled).ahead = ahead
    agent = pooled.pool.agents[0]
    until(lambda: abs(agent._ahead - ahead) < 60)
    pooled.start(1, f"echo $$ > {ear.path}; sleep {LEASE + 2}", bound=True)
    ear.hear_pid()

    (end,) = pooled.ends()
    assert end.outcome.succeeded
    assert end.ended_at is not None
    assert abs((end.ended_at - SystemClock().now()).total_seconds()) < 60


def test_what_another_start_of_an_agent_had_is_lost_and_that_one_is_used(
    pooled: Pooled, tmp_path: Path, ear: Ear
) -> None:
    pooled.start(1, f"echo $$ > {ear.path}; exec sleep 60", bound=True)
    pid = ear.hear_pid()
    after = an_agent(tmp_path / "state", "boot-2")
    try:
        wire(pooled).agent.close()
        wire(pooled).agent = after

        (lost,) = pooled.ends()
        assert (lost.key, lost.outcome.lost) == (1, True)
        assert not lives(pid)
        until(lambda: pooled.pool.room_for(None) > 0)
        pooled.start(3, "echo new")
        assert [each.outcome.output for each in pooled.ends()] == ["new\n"]
    finally:
        after.close()


def test_no_slot_is_given_twice(pooled: Pooled, ear: Ear) -> None:
    slots = pooled.pool.room_for(None)
    for key in range(1, slots + 1):
        pooled.prepare(key)

    with pytest.raises(CannotBegin, match="No agent of pool burst has a free slot"):
        pooled.prepare(slots + 1)
    for key in range(1, slots + 1):
        pooled.start(key, f"echo $$ > {ear.path}; exec sleep 60", agent="one")
    with pytest.raises(CannotBegin):
        pooled.prepare(slots + 1)
    for _ in range(slots):
        ear.hear()
    assert pooled.pool.room_for(None) == 0
    pooled.pool.stop(HistoryId(1))
    pooled.ends()
    until(lambda: pooled.pool.room_for(None) == 1)


def test_slots_of_other_controllers_count(pooled: Pooled, controller_id: str) -> None:
    others = Pooled(f"{controller_id}-other", pooled.transport.wires)
    try:
        others.pool.meet(LIMIT)
        for key in range(2001, 2005):
            others.start(key, "exec sleep 60")
        until(lambda: pooled.pool.room_for(None) == 0)
        for key in range(2001, 2005):
            others.pool.stop(HistoryId(key))
        others.ends(4)
        until(lambda: pooled.pool.room_for(None) == 4)
    finally:
        others.pool.close()


def test_a_new_agent_is_used(pooled: Pooled, tmp_path: Path) -> None:
    after = an_agent(tmp_path / "state", "boot-2", slots=9)
    try:
        pooled.transport.wires["two"] = Wire(after, slots=9)
        until(lambda: pooled.pool.room_for(None) == 13)
        assert pooled.pool.take_new_room()
        assert pooled.start(1, "true", bound=True) == "two"
        assert pooled.ends()[0].outcome.succeeded
    finally:
        after.close()


def test_an_agent_that_is_gone_gets_nothing_new_and_what_it_has_is_heard(pooled: Pooled, ear: Ear) -> None:
    pooled.start(1, f"echo $$ > {ear.path}; sleep 3")
    ear.hear_pid()
    pooled.pool.agents[0].is_offered = False
    with pytest.raises(CannotBegin):
        pooled.prepare(2)

    assert pooled.ends()[0].outcome.succeeded


def test_one_of_another_version_takes_no_steps(tmp_path: Path, controller_id: str) -> None:
    agent = an_agent(tmp_path / "state", version="0.0.1")
    pooled = Pooled(controller_id, {"old": Wire(agent)})
    try:
        pooled.pool.meet(LIMIT)
        assert pooled.pool.room_for(None) == 0
        assert "batchctl 0.0.1" in str(pooled.pool.agents[0].failure)
    finally:
        pooled.pool.close()
        agent.close()


def test_what_knows_the_agents_may_be_away_and_come_later(agent: Agent, controller_id: str) -> None:
    pooled = Pooled(controller_id, {"one": Wire(agent)})
    try:
        pooled.transport.is_away = True
        until(lambda: pooled.pool.failure is not None)
        pooled.transport.is_away = False
        until(lambda: pooled.pool.failure is None and pooled.pool.room_for(None) == 4)
    finally:
        pooled.pool.close()


def test_a_step_that_is_not_ready_keeps_no_slot(pooled: Pooled) -> None:
    message = asked(1)
    message["asked"]["step"]["data"] = []
    with pytest.raises(CannotBegin, match="refused"):
        pooled.pool.prepare(InstanceId(1), "script", None, message)

    assert pooled.pool.room_for(None) == 4


def test_what_does_not_go_on_alone_is_not_let_go(pooled: Pooled, ear: Ear) -> None:
    pooled.start(1, f"echo $$ > {ear.path}; exec sleep 60")
    ear.hear_pid()
    pooled.pool.agents[0].attempts[HistoryId(1)].goes_on_alone = False

    assert not pooled.pool.let_go(HistoryId(1))
    pooled.pool.agents[0].attempts[HistoryId(1)].goes_on_alone = True
    assert pooled.pool.let_go(HistoryId(1))


def test_needs_are_what_agents_have_left(tmp_path: Path, controller_id: str) -> None:
    has = {"MEMORY": 16e9, "GPU": 1}
    agent = an_agent(tmp_path / "state", resources=has)
    pooled = Pooled(controller_id, {"one": Wire(agent, resources=has)})
    half, gpu, more = host_needs("MEMORY=8e9"), host_needs("GPU=1, MEMORY=8e9"), host_needs("GPU=2")
    try:
        until(lambda: pooled.pool.room_for(None) == 4)
        assert [pooled.pool.room_for(each) for each in (half, gpu, more)] == [2, 1, 0]

        pooled.pool.prepare(InstanceId(1), "script", gpu, asked(1))

        assert [pooled.pool.room_for(each) for each in (None, half, gpu)] == [3, 1, 0]
        with pytest.raises(CannotBegin, match="GPU=2"):
            pooled.pool.prepare(InstanceId(2), "script", more, asked(2))
    finally:
        pooled.pool.close()
        agent.close()


def test_a_step_goes_to_an_agent_that_has_its_handler(agent: Agent, tmp_path: Path, controller_id: str) -> None:
    lacking = an_agent(tmp_path / "lacking", "boot-2", slots=9, types=("waits",))
    pooled = Pooled(controller_id, {"one": Wire(agent), "lacking": Wire(lacking, slots=9)})
    try:
        until(lambda: pooled.pool.room_for(None) == 13)

        assert [pooled.prepare(key) for key in range(1, 5)] == ["one"] * 4
        with pytest.raises(CannotBegin, match="1 there with a handler of script"):
            pooled.prepare(5)
        assert pooled.pool.prepare(InstanceId(6), "unheard_of", None, asked(6))[0].offer.name == "lacking"
    finally:
        pooled.pool.close()
        lacking.close()


class LyingWire(Wire):
    """A wire to an agent that reports, besides, whatever a test says."""

    lies: list[dict[str, Any]]

    async def ask(self, verb: str, message: Mapping[str, Any]) -> Message:
        answer = await Wire.ask(self, verb, message)
        if verb != "news" or "reports" not in answer or not self.lies:
            return answer
        return {**answer, "reports": [*cast("list[Any]", answer["reports"]), *self.lies]}


def a_lie(key: int, **changes: object) -> dict[str, Any]:
    ended = Finished(HistoryId(key), StepOutcome(succeeded=True, message="forged"), None, NOW())
    told = report_message(ended, NOW())
    return {**told, **changes, "outcome": {**cast("dict[str, Any]", told["outcome"])}}


def test_what_an_agent_reports_of_attempts_that_it_does_not_carry_counts_for_nothing(
    agent: Agent, controller_id: str
) -> None:
    lying = LyingWire(agent)
    lying.lies = [a_lie(77), a_lie(78, kind="wrote", text="forged")]
    pooled = Pooled(controller_id, {"one": lying})
    try:
        pooled.pool.meet(LIMIT)
        pooled.start(1, "sleep 1")

        assert [each.key for each in pooled.ends()] == [1]
        assert pooled.more_ends(1) == []
    finally:
        pooled.pool.close()


@pytest.mark.parametrize("lie", [{"ended": -1e12}, {"ended": "x"}, {"identity": [1]}, {"attempt": "x"}, {"outcome": 5}])
def test_an_answer_that_cannot_be_read_harms_nobody_else(
    agent: Agent, tmp_path: Path, controller_id: str, lie: dict[str, object]
) -> None:
    other, lying = an_agent(tmp_path / "other", "boot-2"), LyingWire(agent)
    lying.lies = []
    pooled = Pooled(controller_id, {"one": lying, "other": Wire(other)})
    try:
        pooled.pool.meet(LIMIT)
        pooled.start(1, "exec sleep 60", agent="one")
        lying.lies = [{**a_lie(1), **lie}]
        until(lambda: any("cannot be read" in str(each.failure) for each in pooled.pool.agents))
        pooled.start(2, "true", agent="other")

        assert [each.key for each in pooled.ends()] == [2]
    finally:
        pooled.pool.close()
        other.close()


def test_an_attempt_that_its_agent_has_had_before_and_carries_no_more_is_lost(pooled: Pooled, tmp_path: Path) -> None:
    # As in a database that was restored from a backup: its next attempts have numbers that agents know.
    wire(pooled).agent.answer("hello", {"database": DATABASE, "controller": "another", "pool": "burst"})
    wire(pooled).agent._tokens(DATABASE).enter(AgentToken(DATABASE, HistoryId(1), 1))
    pooled.start(1, f"touch {tmp_path}/ran")

    (end,) = pooled.ends()
    assert end.outcome.lost
    assert "carries it no more" in str(end.outcome.message)
    assert not (tmp_path / "ran").exists()
