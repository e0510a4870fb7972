"""Steps that end while a turn is being written share its commit, and nothing of them is lost when that fails."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from batchctl.control.controller import Controller
from batchctl.domain.errors import OutcomeUnknown
from batchctl.domain.outcomes import StepOutcome
from batchctl.ports import Boundary, Finished
from tests.control.world import BAD, NO_WAIT, OK, RUNS_ON, World

SUCCEEDED = "SELECT BatchControl_id, ProcessControlSeq FROM BatchProcessHistory WHERE Status = 'success' ORDER BY 1, 2"


@pytest.fixture
def controller(world: World) -> Controller:
    """Return a controller with two instances at the first of two steps; the second ends while the first is written."""
    world.batch(steps=2, MaxConcurrent=2)
    for _ in range(2):
        world.submit()
    world.create()
    world.runner.script = lambda rendered: RUNS_ON
    made = world.controller(slots=2)
    while len(world.runner.open) < 2:
        made.turn(NO_WAIT)
    world.hear()
    first, second = world.runner.started
    world.runner.end(first, OK)
    world.runner.while_writing = once(lambda: world.runner.end(second, OK))
    return made


def once(call: Callable[[], object]) -> Callable[[], object]:
    """Return what calls it the first time only."""
    calls = [call]
    return lambda: calls.pop()() if calls else None


def commits(world: World, monkeypatch: pytest.MonkeyPatch) -> list[frozenset[Boundary]]:
    """Return what grows with every transaction."""
    made: list[frozenset[Boundary]] = []
    run = world.transactions.run

    def counted(boundaries: frozenset[Boundary], work: Callable[[Any], Any], *, nowait: bool = False) -> Any:
        made.append(boundaries)
        return run(boundaries, work, nowait=nowait)

    monkeypatch.setattr(world.transactions, "run", counted)
    return made


def test_what_ends_while_a_turn_is_written_is_part_of_it(
    world: World, controller: Controller, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = commits(world, monkeypatch)
    controller.turn(NO_WAIT)

    assert len(made) == 1
    assert world.sql(SUCCEEDED) == [(1, 10), (2, 10)]
    assert len(world.runner.open) == 2, "the second step of each has been started"


def test_a_failure_among_them_is_recorded_as_one(world: World, controller: Controller) -> None:
    _, second = world.runner.started
    world.runner.while_writing = once(lambda: world.runner.end(second, BAD))
    controller.turn(NO_WAIT)

    assert world.statuses() == ["running", "failed"]


def test_one_that_is_not_as_it_was_read_is_recorded_in_the_next_turn(world: World, controller: Controller) -> None:
    world.sql("UPDATE BatchControl SET Status = 'pausing' WHERE BatchControl_id = 2")
    for _ in range(3):
        controller.turn(NO_WAIT)

    assert world.statuses() == ["running", "paused"]
    assert world.sql(SUCCEEDED) == [(1, 10), (2, 10)]


def test_a_commit_that_nobody_saw_is_found_with_both(
    world: World, controller: Controller, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = world.transactions.run

    def in_doubt(boundaries: frozenset[Boundary], work: Callable[[Any], Any], *, nowait: bool = False) -> Any:
        run(boundaries, work, nowait=nowait)
        monkeypatch.undo()
        raise OutcomeUnknown("nobody knows", next_step="look")

    monkeypatch.setattr(world.transactions, "run", in_doubt)
    controller.turn(NO_WAIT)
    assert controller.failure is not None
    for _ in range(3):
        controller.turn(controller._back_off.rest)

    assert world.sql(SUCCEEDED) == [(1, 10), (2, 10)]
    assert len(world.runner.open) == 2
    assert len(world.runner.started) == 4


def test_one_that_could_not_be_committed_with_the_others_is_recorded_once(
    world: World, controller: Controller, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = world.transactions.run

    def fails(boundaries: frozenset[Boundary], work: Callable[[Any], Any], *, nowait: bool = False) -> Any:
        def fail(connection: Any) -> None:
            work(connection)
            raise RuntimeError("on purpose")

        monkeypatch.undo()
        return run(boundaries, fail, nowait=nowait)

    monkeypatch.setattr(world.transactions, "run", fails)
    for _ in range(2):
        controller.turn(NO_WAIT)

    assert world.sql(SUCCEEDED) == [(1, 10), (2, 10)]
    assert len(world.runner.started) == 4


def test_what_takes_the_place_of_one_that_ended_late_begins_after_it(world: World) -> None:
    world.batch(steps=1, MaxConcurrent=2)
    for _ in range(4):
        world.submit()
    world.create()
    world.runner.script = lambda rendered: RUNS_ON
    controller = world.controller(slots=2)
    while len(world.runner.open) < 2:
        controller.turn(NO_WAIT)
    world.hear()
    first, second = world.runner.started

    def ends_late() -> None:
        world.clock.advance(timedelta(seconds=1))
        world.runner.end(second, OK)

    world.runner.end(first, OK)
    world.runner.while_writing = once(ends_late)
    controller.turn(NO_WAIT)

    at_once = (
        "SELECT (SELECT count(*) FROM BatchProcessHistory o WHERE o.StartTime <= h.StartTime"
        " AND (o.EndTime IS NULL OR o.EndTime > h.StartTime)) FROM BatchProcessHistory h"
    )
    assert len(world.runner.started) == 4
    assert max(count for (count,) in world.sql(at_once)) == 2


def test_what_was_given_up_and_ends_after_all_is_told_and_changes_nothing(world: World) -> None:
    controller = world.running()
    (key,) = world.runner.started
    world.runner.reports.append(
        Finished(key, StepOutcome(succeeded=False, lost=True, message="deaf"), None, may_go_on=True)
    )
    controller.turn(NO_WAIT)
    controller.turn(NO_WAIT)
    stood = world.sql("SELECT Status, PrevProcessControlSeq FROM BatchControl")
    assert stood == [("held", 0)]
    world.runner.end(key, OK)
    controller.turn(NO_WAIT)

    (late,) = [event for event in world.events if event.name == "step.ended_late"]
    assert (late.fields["BatchControl_id"], late.fields["ProcessControlSeq"], late.fields["Status"]) == (
        1,
        10,
        "success",
    )
    assert world.sql("SELECT Status, PrevProcessControlSeq FROM BatchControl") == stood
    assert [row[4] for row in world.history()] == ["lost"]
    assert "; late result, known since 20" in world.one("SELECT Message FROM BatchProcessHistory")
    assert world.one("SELECT Message FROM BatchProcessHistory").endswith(" UTC: success")
