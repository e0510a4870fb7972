"""However long handlers take to make steps ready, signs of life go on, and no step is begun twice or lost."""

from __future__ import annotations

from datetime import timedelta

import pytest

from batchctl.domain.outcomes import Rendered, StepOutcome, StepRequest
from batchctl.domain.rows import HistoryId
from batchctl.ports import Trace
from tests.control.test_workers import hired
from tests.control.world import LONG_AFTER, OK, RUNS_ON, ToldHandler, World

SLOW = timedelta(seconds=2)
MANY = 14
STANDS = "SELECT DISTINCT Status, ClaimToken, LostCount FROM BatchControl"


@pytest.fixture
def rendered(world: World, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Let every step take its time to be made ready; return how often, in each turn so far."""
    render, turns = ToldHandler.render, [0]

    def slowly(handler: ToldHandler, request: StepRequest) -> Rendered:
        world.clock.advance(SLOW)
        turns[-1] += 1
        return render(handler, request)

    monkeypatch.setattr(ToldHandler, "render", slowly)
    return turns


@pytest.mark.parametrize("batches", [1, MANY])
def test_a_turn_begins_no_more_steps_than_it_has_time_for_and_all_begin_once(
    world: World, rendered: list[int], batches: int
) -> None:
    for number in range(batches):
        world.batch(f"B{number}", steps=1, MaxConcurrent=MANY)
    for number in range(MANY):
        world.submit(f"B{number % batches}")
    world.create()
    hand = hired(world, "c1", slots=MANY)
    hand.runner.script = lambda rendered: RUNS_ON
    for _ in range(MANY):
        hand.turn(1)
        assert hand.worker.membership.is_trusted()
        rendered.append(0)

    assert rendered == [1] * MANY + [0]
    assert len(hand.runner.started) == MANY
    assert world.sql(STANDS) == [("running", 1, 0)]
    hand.worker.end()


def test_ends_are_recorded_together_and_what_follows_begins_as_there_is_time(world: World, rendered: list[int]) -> None:
    world.batch(steps=2, MaxConcurrent=3)
    for _ in range(3):
        world.submit()
    world.create()
    hand = hired(world, "c1", slots=3)
    hand.runner.script = lambda rendered: RUNS_ON
    for _ in range(3):
        hand.turn(1)
    for key in list(hand.runner.open):
        hand.runner.end(key, OK)
    for _ in range(3):
        rendered.append(0)
        hand.turn(1)

    assert rendered[1:] == [1, 1, 1]
    assert sorted(world.history()) == [
        (number, seq, 1, "auto", status) for number in (1, 2, 3) for seq, status in ((10, "success"), (20, "running"))
    ]
    hand.worker.end()


def test_a_turn_starts_no_more_of_what_is_begun_than_it_has_time_for(world: World) -> None:
    world.batch(steps=1, MaxConcurrent=3)
    for _ in range(3):
        world.submit()
    world.create()
    hand = hired(world, "c1", slots=3)

    def slowly(rendered: Rendered) -> StepOutcome | None:
        world.clock.advance(SLOW)
        return RUNS_ON

    hand.runner.script = slowly
    started = []
    for _ in range(4):
        hand.turn(1)
        started.append(len(hand.runner.started))

    assert started == [1, 2, 3, 3]
    assert world.sql(STANDS) == [("running", 1, 0)]
    hand.worker.end()


def test_lost_attempts_are_looked_at_as_there_is_time_those_that_stay_unclear_last(world: World) -> None:
    world.runner.script = lambda rendered: RUNS_ON
    world.batch(steps=1, MaxConcurrent=3)
    for _ in range(3):
        world.submit()
    world.create()
    world.process(slots=3)
    world.crash()
    world.runner.meanwhile = lambda: world.clock.advance(SLOW)
    world.runner.traces = {HistoryId(key): Trace.UNCLEAR for key in (1, 2)}
    rescue = world.rescue(rhythm=LONG_AFTER)
    for _ in range(3):
        rescue.look(lambda key: False)

    assert [status for *_, status in world.history()] == ["running", "running", "lost"]
