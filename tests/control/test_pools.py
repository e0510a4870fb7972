"""Pools: a controller begins the steps of those that it serves; a step of another one ends the claim at its boundary."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from batchctl.control.alerting.incident_search import IncidentSearch
from batchctl.domain.alerting.alerts import AlertRules
from batchctl.domain.alerting.incidents import IncidentSign
from batchctl.domain.operators.pools import Place
from batchctl.domain.status import IncidentKind
from batchctl.operations.operators.acts import Actor
from batchctl.operations.operators.pooling import Drainer
from batchctl.ports import Boundary
from batchctl.store.alerting import incident_rows
from tests.control.world import BAD, NO_WAIT, OK, RUNS_ON, World


def pools(world: World, **most: int | None) -> None:
    """Make pools by rows."""
    for name, limit in most.items():
        world.sql("INSERT INTO Pool (PoolName, MaxConcurrent) VALUES (?, ?)", name, limit)


def two_pools(world: World, **columns: Any) -> None:
    """Register a batch whose steps are of the default pool, of ssis, of ssis, and of linux."""
    pools(world, ssis=None, linux=None)
    batch_id = world.batch(steps=0, **columns)
    for seq, pool in ((10, None), (20, "SSIS"), (30, " ssis "), (40, "linux")):
        world.step(batch_id, seq, Pool=pool)


def stands(world: World) -> list[tuple[str, int, str | None, str | None]]:
    return world.sql("SELECT Status, PrevProcessControlSeq, NextPool, ClaimedBy FROM BatchControl ORDER BY 1, 2")


def end_all(world: World) -> None:
    """Let every step under way end well, and what follows run on."""
    for key in [*world.runner.open]:
        world.runner.end(key, OK)


def drainer(world: World) -> Drainer:
    return Drainer(Actor(transactions=world.open(), clock=world.clock, user="anna", host="etl1"))


def test_a_step_of_another_pool_ends_the_claim_and_who_serves_it_goes_on(world: World) -> None:
    two_pools(world)
    world.submit()
    world.create()
    world.turn_until_idle(world.controller("c1"))
    assert stands(world) == [("ready", 10, "ssis", None)]

    world.turn_until_idle(world.controller("c2", pools=["ssis"]))
    assert stands(world) == [("ready", 30, "linux", None)], "it keeps its claim from step 20 to 30"
    world.turn_until_idle(world.controller("c3", pools=["linux", "ssis"]))

    assert stands(world) == [("complete", 40, None, None)]
    owners = world.sql("SELECT ProcessControlSeq, ClaimedBy, ClaimToken FROM BatchProcessHistory ORDER BY 1")
    assert owners == [(10, "c1", 1), (20, "c2", 2), (30, "c2", 2), (40, "c3", 3)]


def test_one_that_serves_both_pools_goes_on_under_a_new_claim(world: World) -> None:
    two_pools(world)
    world.submit()
    world.create()
    world.turn_until_idle(world.controller("c1", pools=["default", "ssis", "linux"]))

    assert [token for (token,) in world.sql("SELECT ClaimToken FROM BatchProcessHistory ORDER BY 1")] == [1, 2, 2, 3]


def test_the_batch_says_the_pool_of_steps_that_do_not(world: World) -> None:
    pools(world, ssis=None)
    batch_id = world.batch(steps=0, Pool="ssis")
    world.step(batch_id, 10)
    world.step(batch_id, 20, Pool="default")
    world.submit()
    world.create()
    assert stands(world) == [("ready", 0, "ssis", None)]
    world.turn_until_idle(world.controller("c1"))
    assert world.history() == []

    world.turn_until_idle(world.controller("c2", pools=["ssis"]))
    assert stands(world) == [("ready", 10, None, None)]


def test_one_that_waits_for_its_pool_keeps_its_place_in_the_batch(world: World) -> None:
    two_pools(world)
    for _ in range(2):
        world.submit()
    world.create()
    world.turn_until_idle(world.controller("c1"))
    assert stands(world) == [("ready", 0, None, None), ("ready", 10, "ssis", None)], "MaxConcurrent is 1"

    world.sql("UPDATE ProcessBatch SET MaxConcurrent = 2")
    world.turn_until_idle(world.controller("c1"))
    assert stands(world) == [("ready", 10, "ssis", None)] * 2


def test_a_pool_has_no_more_steps_under_way_than_it_may_on_all_hosts_together(world: World) -> None:
    world.runner.script = lambda rendered: RUNS_ON
    pools(world, ssis=2)
    for name in ("A", "B"):
        batch_id = world.batch(name, steps=0, MaxConcurrent=5)
        world.step(batch_id, 10, Pool="ssis")
        for _ in range(3):
            world.submit(name)
    world.create()
    for name in ("c1", "c2"):
        world.turn_until_idle(world.controller(name, pools=["ssis"], slots=4))
    assert [status for status, *_ in stands(world)].count("running") == 2

    world.sql("UPDATE Pool SET MaxConcurrent = 5")
    world.turn_until_idle(world.controller("c3", pools=["ssis"], slots=8))
    assert [status for status, *_ in stands(world)].count("running") == 5


def test_a_limit_that_is_no_number_lets_nothing_begin(world: World) -> None:
    pools(world, ssis=2)
    world.step(world.batch(steps=0), 10, Pool="ssis")
    world.submit()
    world.create()
    world.hand.loosen()
    world.sql("UPDATE Pool SET MaxConcurrent = -1")
    world.turn_until_idle(world.controller(pools=["ssis"]))

    assert world.history() == []


def test_a_disabled_pool_begins_nothing_and_its_steps_under_way_end(world: World) -> None:
    world.runner.script = lambda rendered: RUNS_ON
    pools(world, ssis=None)
    batch_id = world.batch(steps=0, MaxConcurrent=2)
    for seq in (10, 20):
        world.step(batch_id, seq, Pool="ssis")
    for _ in range(2):
        world.submit()
    world.create()
    controller = world.controller(pools=["ssis"])
    world.turn_until_idle(controller)
    world.sql("UPDATE Pool SET Enabled = 0")
    end_all(world)
    world.turn_until_idle(controller)

    assert stands(world) == [("ready", 0, "ssis", None), ("ready", 10, "ssis", None)]


@pytest.mark.parametrize("place", [Place("HOST1"), Place(None, "Ssis")])
def test_on_a_drained_host_or_in_a_drained_pool_nothing_new_begins_and_what_runs_ends(
    world: World, place: Place
) -> None:
    world.runner.script = lambda rendered: RUNS_ON
    pools(world, ssis=None)
    batch_id = world.batch(steps=0, MaxConcurrent=2)
    for seq in (10, 20):
        world.step(batch_id, seq, Pool="ssis")
    for _ in range(2):
        world.submit()
    world.create()
    controller = world.controller(pools=["ssis"])
    world.turn_until_idle(controller)
    done = drainer(world).drain(None, place, reason="patches")
    assert (done.is_new, done.under_way) == (True, 1 if place.pool else 0), "no controller is entered on that host"
    world.hear()
    end_all(world)
    world.turn_until_idle(controller)
    assert stands(world) == [("ready", 0, "ssis", None), ("ready", 10, "ssis", None)]

    elsewhere = world.controller("c2", pools=["ssis"], host="host2")
    world.turn_until_idle(elsewhere)
    running = [status for status, *_ in stands(world)].count("running")
    assert running == (0 if place.pool else 1), "another host goes on where this one is drained"

    assert not drainer(world).drain(None, place, reason="again").is_new
    (ended,) = drainer(world).undrain(None, place, reason="patched").drains
    assert (ended.reason, ended.actor) == ("patches", "anna")
    world.hear()
    controller.look_again()
    world.turn_until_idle(controller)
    assert [status for status, *_ in stands(world)].count("running") == running + 1
    assert drainer(world).undrain(None, place, reason="again").drains == ()


def test_a_step_that_moves_to_another_pool_begins_where_its_row_says_now(world: World) -> None:
    two_pools(world)
    world.submit()
    world.create()
    world.turn_until_idle(world.controller("c1"))
    world.sql("UPDATE ProcessControl SET Pool = 'linux' WHERE ProcessControlSeq IN (20, 30)")
    world.turn_until_idle(world.controller("c2", pools=["ssis"]))
    assert stands(world) == [("ready", 10, "ssis", None)], "NextPool is as it was when the row was moved"

    world.turn_until_idle(world.controller("c3", pools=["linux"]))
    assert stands(world) == [("complete", 40, None, None)]


def test_a_retry_waits_for_a_controller_of_its_pool(world: World) -> None:
    two_pools(world, RetryCount=1, RetryWaitMins=0)
    world.submit()
    world.create()
    world.turn_until_idle(world.controller("c1"))
    answers = iter([BAD])
    world.runner.script = lambda rendered: next(answers, OK)
    world.turn_until_idle(world.controller("c2", pools=["ssis"]))

    assert [seq for _, seq, *_ in world.history()] == [10, 20, 20, 30]


def test_what_a_dead_controller_of_another_pool_has_left_is_taken_care_of(world: World) -> None:
    world.runner.script = lambda rendered: RUNS_ON
    pools(world, ssis=None)
    world.step(world.batch(steps=0), 10, Pool="ssis", OnLost="rerun")
    world.submit()
    world.create()
    world.turn_until_idle(world.controller("c1", pools=["ssis"]))
    world.crash()
    world.recover("c2")
    assert stands(world) == [("retry", 0, "ssis", None)]
    world.turn_until_idle(world.controller("c2"))
    assert len(world.history()) == 1

    world.turn_until_idle(world.controller("c3", pools=["ssis"]))
    assert stands(world) == [("complete", 10, None, None)]


def test_a_pool_that_no_controller_serves_is_an_incident_once_that_has_lasted(world: World) -> None:
    two_pools(world)
    world.submit()
    world.create()
    world.turn_until_idle(world.controller("c1"))
    world.membership("c1").begin()
    assert unserved(world) == []
    world.clock.advance(timedelta(minutes=6))
    (sign,) = unserved(world)
    assert sign.message == "No controller serves pool ssis (and none ever did), and an instance waits for it"
    assert (sign.subject, sign.key) == ("pool ssis", "pool_unserved ssis")
    assert str(sign.next_step).startswith("batchctl run --pool ssis ")

    for keeps_it in ("BatchFreeze (Reason) VALUES ('x')", "Drain (PoolName, Reason) VALUES ('ssis', 'x')"):
        world.sql(f"INSERT INTO {keeps_it}")
        assert unserved(world) == [], "nobody waits for a controller there"
        world.sql("UPDATE BatchFreeze SET ThawedTime = z_inserted")
        world.sql("UPDATE Drain SET UndrainedTime = z_inserted")
    assert len(unserved(world)) == 1
    world.membership("c2", pools=["ssis"]).begin()
    assert unserved(world) == []


def unserved(world: World, search: IncidentSearch | None = None) -> list[IncidentSign]:
    search = search or IncidentSearch(world.clock, AlertRules(), "c9")
    with world.transactions.read() as connection:
        found = search.signs(connection, world.clock.now())
    return [one for one in found if one.kind is IncidentKind.POOL_UNSERVED]


NO_AGENTS = "[]"
ONE_AGENT = '[{"name": "a", "slots": 4, "busy": 4, "resources": {}}]'


@pytest.mark.parametrize(
    ("agents", "said"),
    [
        (NO_AGENTS, "Pool ssis has no agent, and an instance waits for it"),
        ('{"failure": "refused"}', "Agents of pool ssis cannot be reached: refused, and an instance waits for it"),
        (ONE_AGENT, None),
    ],
)
def test_a_pool_without_an_agent_that_could_take_what_waits_is_an_incident_once_that_has_lasted(
    world: World, agents: str, said: str | None
) -> None:
    two_pools(world)
    world.submit()
    world.create()
    world.turn_until_idle(world.controller("c1"))
    serve_ssis_with(world, agents)
    search = IncidentSearch(world.clock, AlertRules(), "c1")
    world.clock.advance(timedelta(minutes=6))
    assert unserved(world, search) == [], "the instance has waited for long, the pool lacks agents since now"
    world.clock.advance(timedelta(minutes=6))

    found = unserved(world, search)

    assert [(sign.message, sign.next_step) for sign in found] == (
        [] if said is None else [(said, "batchctl pool test ssis")]
    )
    world.sql("UPDATE ControllerPool SET Agents = ? WHERE PoolName = 'ssis'", ONE_AGENT)
    assert unserved(world, search) == []
    world.sql("UPDATE ControllerPool SET Agents = ? WHERE PoolName = 'ssis'", NO_AGENTS)
    assert unserved(world, search) == [], "it lacks them since now"


def test_a_new_leader_goes_by_the_incident_that_stands(world: World) -> None:
    two_pools(world)
    world.submit()
    world.create()
    world.turn_until_idle(world.controller("c1"))
    serve_ssis_with(world, NO_AGENTS)
    search = IncidentSearch(world.clock, AlertRules(), "c1")
    assert unserved(world, search) == []
    world.clock.advance(timedelta(minutes=6))
    (sign,) = unserved(world, search)
    world.transactions.run(
        frozenset({Boundary.ALERT}), lambda connection: incident_rows.add(connection, sign, world.clock.now())
    )

    assert len(unserved(world)) == 1, "people were told, and nothing is over"


def serve_ssis_with(world: World, agents: str) -> None:
    """Let a controller serve the pool, and know some agents."""
    world.membership("c1", pools=["default", "ssis"]).begin()
    world.sql("UPDATE Pool SET Kind = 'agents' WHERE PoolName = 'ssis'")
    world.sql("UPDATE ControllerPool SET Agents = ? WHERE PoolName = 'ssis'", agents)


def test_a_controller_is_entered_with_its_pools_and_forgotten_with_them(world: World) -> None:
    world.membership("c1", pools=["ssis", "Linux"]).begin()
    world.membership("c2").begin()
    rows = world.sql("SELECT Controller_id, PoolName FROM ControllerPool ORDER BY 2")
    assert rows == [(1, "linux"), (1, "ssis")], "who serves the default pool alone has no row"

    world.sql("UPDATE Controller SET Status = 'stopped', Heartbeat = '2020-01-01 00:00:00'")
    world.membership("c3").begin()
    assert world.sql("SELECT * FROM ControllerPool") == []


@pytest.mark.parametrize(("policy", "begun"), [("hold_batch", [10, 20]), ("continue", [10, 20, 10])])
def test_those_behind_a_retry_wait_for_it_wherever_it_has_to_begin(world: World, policy: str, begun: list[int]) -> None:
    two_pools(world, OnFailure=policy, RetryCount=1, RetryWaitMins=0, MaxConcurrent=2)
    world.submit()
    world.create()
    world.turn_until_idle(world.controller("c1"))
    world.runner.script = lambda rendered: BAD
    failing = world.controller("c2", pools=["ssis"])
    while world.statuses() != ["retry"]:
        failing.turn(NO_WAIT)
        world.sql("UPDATE ProcessControl SET Pool = 'linux' WHERE ProcessControlSeq = 20")
    world.runner.script = lambda rendered: RUNS_ON
    world.submit()
    world.create()
    world.turn_until_idle(world.controller("c1"))

    assert [seq for _, seq, *_ in world.history()][: len(begun)] == begun
    assert len(world.history()) == len(begun)
