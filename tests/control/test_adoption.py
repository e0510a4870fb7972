"""A step outlives its controller: another goes on with it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from batchctl.control.rescue import Rescued
from batchctl.domain.errors import OutcomeUnknown
from batchctl.domain.outcomes import StepOutcome
from batchctl.ports import Trace
from tests.control.silence import (
    RHYTHM,
    STANDS,
    STEP,
    WRITTEN,
    adopted,
    elsewhere,
    look,
    running,
    wait_until_dead,
)
from tests.control.world import BAD, NO_WAIT, OK, ScriptedRunner, World
from tests.control_databases import PostgresControl
from tests.postgres import PostgresServer
from tests.proxy import Cut, Proxy


def test_a_step_that_lives_goes_on_under_another_controller(world: World) -> None:
    second, runner, _ = adopted(world)

    assert world.sql(STANDS) == [("running", 2, "c2", 0)]
    assert world.sql(WRITTEN) == [("running", 2, "c1")], "who began it says where to look for it"
    assert (runner.adopted, runner.started) == ([(STEP, "c1")], [])
    runner.end(STEP, OK)
    runner.script = lambda rendered: OK
    world.turn_until_idle(second)
    assert world.statuses() == ["complete"]
    assert world.history() == [(1, 10, 1, "auto", "success"), (1, 20, 1, "auto", "success")]


@pytest.mark.parametrize(
    ("outcome", "said"), [(OK, "it succeeded"), (BAD, "it broke"), (StepOutcome(succeeded=False), "it failed")]
)
def test_the_end_of_an_adopted_step_names_who_has_seen_it(world: World, outcome: StepOutcome, said: str) -> None:
    second, runner, _ = adopted(world)
    runner.end(STEP, outcome)
    runner.script = lambda rendered: OK
    world.turn_until_idle(second)

    messages = world.sql("SELECT ClaimedBy, Message FROM BatchProcessHistory ORDER BY BatchProcessHistory_id")
    assert messages[0] == ("c1", f"{said}; seen to its end by c2, which took it over")
    assert all(message is None for _, message in messages[1:])


def test_an_adopted_step_keeps_its_durations_from_its_beginning(world: World) -> None:
    limit = RHYTHM.orphan_timeout + timedelta(seconds=60)
    second, runner, _ = adopted(world, MaxDuration=int(limit.total_seconds()))
    world.clock.advance(timedelta(seconds=59))
    second.turn(NO_WAIT)
    before = list(runner.stopped)
    world.clock.advance(timedelta(seconds=1))
    world.turn_until_idle(second)

    assert (before, runner.stopped) == ([], [STEP])
    assert world.history()[0][-1] == "timeout"


@pytest.mark.parametrize(("asked", "left"), [("cancelling", "cancelled"), ("pausing", "paused")])
def test_what_a_person_asked_of_a_step_is_asked_of_who_adopts_it(world: World, asked: str, left: str) -> None:
    first = running(world)
    world.sql("UPDATE BatchControl SET Status = ?", asked)
    rescue, runner = elsewhere(world, trace=Trace.ADOPTABLE)
    wait_until_dead(world, rescue)
    second = world.controller("c2", transactions=world.open(), runner=runner)
    for attempt, entry in look(rescue).adopted:
        second.take_over(attempt, entry)
    assert world.sql(STANDS) == [(asked, 2, "c2", 0)]
    second.turn(NO_WAIT)
    if asked == "pausing":
        runner.end(STEP, OK)
    world.turn_until_idle(second)

    assert world.statuses() == [left]
    assert runner.stopped == ([STEP] if asked == "cancelling" else [])
    assert first.is_flying, "it has not heard of it yet"


def test_an_adopted_step_whose_adopter_dies_is_looked_for_under_who_began_it(world: World) -> None:
    adopted(world)
    third, runner = elsewhere(world, "c3")
    wait_until_dead(world, third)

    assert look(third).lost == (1,)
    assert runner.examined == ["c1"]
    assert world.sql(STANDS) == [("held", 2, None, 1)]
    assert world.sql(WRITTEN) == [("lost", 2, "c1")]


@pytest.fixture
def proxy(postgres: PostgresServer) -> Iterator[Proxy]:
    made = Proxy(postgres.port)
    yield made
    made.close()


@pytest.fixture
def far(postgres: PostgresServer, prepared: str, proxy: Proxy, tmp_path: Path) -> Iterator[World]:
    """Return a world on PostgreSQL; connections that are opened later can be cut."""
    database = PostgresControl(postgres, tmp_path, postgres.new_database(prepared))
    made = World(database)
    database.url = postgres.url(database.name, port=proxy.port)
    yield made
    made.close()


@pytest.mark.parametrize("revived", [False, True])
@pytest.mark.parametrize("unclear", [False, True], ids=["known", "unclear at first"])
def test_an_adoption_whose_commit_nobody_saw_is_gone_on_with_and_nothing_is_begun_anew(
    far: World, proxy: Proxy, revived: bool, unclear: bool
) -> None:
    world = far
    running(world)
    runner = ScriptedRunner(traces={STEP: Trace.ADOPTABLE})
    transactions = world.open()
    rescue = world.rescue("c2", transactions=transactions, runner=runner)
    second = world.controller("c2", transactions=transactions, runner=runner)
    wait_until_dead(world, rescue)
    proxy.cut(1, Cut.AFTER)
    with pytest.raises(OutcomeUnknown):
        look(rescue)
    if revived:
        world.membership().beat()
    if unclear:
        runner.traces[STEP] = Trace.UNCLEAR
        assert rescue.look(second.knows) == Rescued()
        runner.traces[STEP] = Trace.ADOPTABLE
    found = rescue.look(second.knows)
    for attempt, entry in found.adopted:
        second.take_over(attempt, entry)

    assert [attempt.history_id for attempt, _ in found.adopted] == [STEP]
    assert world.sql(STANDS) == [("running", 2, "c2", 0)]
    assert (runner.adopted, runner.started) == ([(STEP, "c1")], [])
    assert rescue.look(second.knows) == Rescued(), "once is enough"
    runner.end(STEP, OK)
    second.turn(NO_WAIT)
    assert world.history()[0] == (1, 10, 1, "auto", "success")
