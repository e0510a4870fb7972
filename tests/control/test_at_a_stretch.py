"""Steps that have ended by the time they are begun follow each other within one turn, for a moment."""

from __future__ import annotations

from datetime import timedelta

import pytest

from batchctl.control import controller as engine
from batchctl.domain.rows import HistoryId
from batchctl.plugin_api import Rendered, StepOutcome
from tests.control.world import BAD, NO_WAIT, OK, RUNS_ON, World

DONE = "SELECT count(*) FROM BatchProcessHistory WHERE Status = 'success'"
STANDS = "SELECT Status FROM BatchControl"


@pytest.fixture(autouse=True)
def reports_at_once(world: World) -> None:
    """Let steps be reported as soon as they are begun."""
    world.runner.reports_at_once = True


def ready(world: World, steps: int) -> None:
    """Create an instance."""
    world.batch(steps=steps)
    world.submit()
    world.create()


def test_such_steps_need_no_turn_of_their_own(world: World) -> None:
    ready(world, steps=5)
    made = world.controller()

    made.turn(NO_WAIT)
    assert (world.one(DONE), world.one(STANDS)) == (5, "complete")
    assert len(world.runner.waits) == 1, "nobody waited for a report"


def test_after_a_moment_everything_else_is_seen_to(world: World) -> None:
    def lasts(rendered: Rendered) -> StepOutcome:
        del rendered
        world.clock.advance(timedelta(seconds=engine.AT_A_STRETCH * 0.6))
        return OK

    ready(world, steps=5)
    world.runner.script = lasts
    made = world.controller()

    made.turn(NO_WAIT)
    assert (world.one(DONE), world.one(STANDS)) == (1, "running"), "the second has begun"
    made.turn(NO_WAIT)
    made.turn(NO_WAIT)
    assert world.one(STANDS) == "complete"


def test_who_is_to_stop_begins_nothing_more(world: World) -> None:
    ready(world, steps=3)
    made = world.controller()

    def asked(rendered: Rendered) -> StepOutcome:
        del rendered
        made.request_stop()
        return OK

    world.runner.script = asked
    made.turn(NO_WAIT)
    assert (world.one(DONE), world.one(STANDS)) == (1, "ready")
    assert made.is_idle


def test_a_failure_ends_the_stretch(world: World) -> None:
    outcomes = [OK, BAD]
    world.runner.script = lambda rendered: outcomes.pop(0)
    ready(world, steps=3)
    made = world.controller()

    made.turn(NO_WAIT)
    assert (world.one(DONE), world.one(STANDS)) == (1, "failed")


def test_ends_that_wait_for_a_lock_are_not_tried_again_and_again(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    ready(world, steps=2)
    world.runner.script = lambda rendered: RUNS_ON
    made = world.controller()
    made.turn(NO_WAIT)
    (key,) = world.runner.started
    world.runner.end(HistoryId(key), OK)
    tries: list[int] = []

    def locked(connection: object, instance_ids: list[int]) -> list[int]:
        del connection
        tries.append(len(instance_ids))
        return instance_ids

    monkeypatch.setattr("batchctl.store.instances.locked", locked)
    made.turn(NO_WAIT)
    assert (tries, world.one(DONE)) == ([1], 0)
    monkeypatch.undo()
    world.runner.script = lambda rendered: OK
    for _ in range(2):
        made.turn(NO_WAIT)
    assert world.one(STANDS) == "complete"


def test_what_ends_beside_a_locked_row_waits_for_nobody(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("A", "B"):
        world.batch(name, steps=2)
    world.submit("A")
    world.create()
    world.runner.script = lambda rendered: RUNS_ON
    made = world.controller()
    made.turn(NO_WAIT)
    (key,) = world.runner.started
    world.submit("B")
    world.create()
    monkeypatch.setattr("batchctl.store.instances.locked", lambda connection, ids: [each for each in ids if each == 1])

    def lasts(rendered: Rendered) -> StepOutcome:
        del rendered
        world.clock.advance(timedelta(seconds=engine.AT_A_STRETCH))
        made.request_stop()
        return OK

    world.runner.end(HistoryId(key), OK)
    world.runner.script = lasts
    made.turn(timedelta(minutes=1))
    made.leave_steps()
    assert made.blocker is None, "what has not been tried is not in the way"
    made.turn(timedelta(minutes=1))
    assert world.runner.waits[-1] == NO_WAIT
    assert "somebody keeps its rows locked" in str(made.blocker)
    assert (world.one(DONE), world.statuses()) == (1, ["running", "ready"])
