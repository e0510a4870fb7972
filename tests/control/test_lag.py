"""Controllers know the database's clock only roughly: what one writes after another lies behind it all the same."""

from __future__ import annotations

from datetime import timedelta

from batchctl.domain.outcomes import StepOutcome
from tests.control.silence import elsewhere, look, running, wait_until_dead
from tests.control.world import OK, World

LAG = timedelta(seconds=3)
TIMES = "SELECT ProcessControlSeq, StartTime, EndTime FROM BatchProcessHistory ORDER BY BatchProcessHistory_id"


def test_a_step_begins_not_before_the_step_before_it_has_ended(world: World) -> None:
    world.batch(steps=2, MaxConcurrent=2)
    world.submit()
    world.submit()
    world.create()
    world.sql("UPDATE BatchControl SET PrevProcessControlSeq = 10, z_updated = ?", written(world, LAG))
    world.runner.script = lambda rendered: OK
    world.process(slots=2)

    assert [seq for seq, *_ in world.sql(TIMES)] == [20, 20]
    assert {str(start) for _, start, _ in world.sql(TIMES)} == {written(world, LAG)}


def test_an_attempt_is_lost_not_before_it_has_begun(world: World) -> None:
    running(world)
    rescue, _ = elsewhere(world)
    wait_until_dead(world, rescue)
    world.sql("UPDATE BatchProcessHistory SET StartTime = ?", written(world, LAG))
    look(rescue)

    ((_, start, end),) = world.sql(TIMES)
    assert start == end == written(world, LAG)


def test_a_claim_given_back_leaves_the_time_of_what_ended_under_it(world: World) -> None:
    running(world)
    rescue, _ = elsewhere(world)
    wait_until_dead(world, rescue)
    world.sql("DELETE FROM BatchProcessHistory")
    world.sql("UPDATE BatchControl SET z_updated = ?", written(world, LAG))
    look(rescue)

    assert world.statuses() == ["ready"]
    assert str(world.one("SELECT z_updated FROM BatchControl")) >= written(world, LAG)


def written(world: World, ahead: timedelta) -> str:
    return f"{world.clock.now() + ahead:%Y-%m-%d %H:%M:%S}.{(world.clock.now() + ahead).microsecond // 1000:03}"


def test_an_attempt_ends_not_before_it_has_begun(world: World) -> None:
    def ends(rendered: object) -> StepOutcome:
        world.clock.advance(-LAG)
        return OK

    world.batch(steps=1)
    world.submit()
    world.create()
    world.runner.script = ends
    world.process()

    ((_, start, end),) = world.sql(TIMES)
    assert start == end
