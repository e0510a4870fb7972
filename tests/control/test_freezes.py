"""While anything is frozen nothing new starts in it; rows and instances are made all the same, and flags stay as they are."""

from __future__ import annotations

from datetime import timedelta

import pytest

from batchctl.ports import Change
from tests.control.world import BAD, NO_WAIT, OK, RUNS_ON, World

HOUR = timedelta(hours=1)


def freeze(world: World, **columns: object) -> None:
    world._insert("BatchFreeze", {"Reason": "the disks are full", **columns})


def text(world: World, after: timedelta) -> str:
    return f"{world.clock.now() + after:%Y-%m-%d %H:%M:%S}"


@pytest.fixture
def two(world: World) -> World:
    """An instance of B, and one of C, which has tags, are ready."""
    world.batch("B", steps=1)
    world.batch("C", steps=1, Tags="nightly, Slow")
    for entity in "BC":
        world.submit(entity)
    world.create()
    return world


@pytest.mark.parametrize(
    ("columns", "statuses"),
    [
        ({}, ["ready", "ready"]),
        ({"ProcessBatchName": "B"}, ["ready", "complete"]),
        ({"Tag": " slow"}, ["complete", "ready"]),
        ({"Tag": "SLOW"}, ["complete", "ready"]),
        ({"Tag": "night"}, ["complete", "complete"]),
        ({"ProcessBatchName": "nobody"}, ["complete", "complete"]),
        ({"UntilTime": "1990-01-01 00:00:00"}, ["complete", "complete"]),
        ({"ThawedTime": "2020-01-01 00:00:00"}, ["complete", "complete"]),
    ],
)
def test_a_row_freezes_a_batch_or_those_with_a_tag_or_everything(
    two: World, columns: dict[str, object], statuses: list[str]
) -> None:
    freeze(two, **columns)
    two.process()

    assert two.statuses() == statuses
    assert two.sql("SELECT DISTINCT Enabled FROM ProcessBatch") == [(1,)]


def test_a_running_controller_notices_a_freeze_and_a_thaw(two: World) -> None:
    freeze(two)
    controller = two.process()
    two.sql("UPDATE BatchFreeze SET ThawedTime = '2020-01-01 00:00:00' WHERE ProcessBatchName IS NULL")
    controller.turn(NO_WAIT)
    two.turn_until_idle(controller)

    assert two.statuses() == ["complete", "complete"]


def test_a_freeze_ends_by_itself_and_the_controller_wakes_for_it(two: World) -> None:
    freeze(two, UntilTime=text(two, HOUR))
    controller = two.process()
    assert two.statuses() == ["ready", "ready"]

    two.clock.advance(HOUR)
    controller.turn(NO_WAIT)
    two.turn_until_idle(controller)

    assert two.statuses() == ["complete", "complete"]


def test_a_running_step_ends_and_the_next_one_waits_for_the_thaw(world: World) -> None:
    controller = world.running()
    freeze(world)
    world.runner.end(world.runner.started[-1], OK)
    world.turn_until_idle(controller)

    assert world.statuses() == ["ready"]
    assert world.one("SELECT PrevProcessControlSeq FROM BatchControl") == 10
    world.sql("DELETE FROM BatchFreeze")
    world.runner.script = lambda rendered: OK
    world.turn_until_idle(controller)
    controller.turn(NO_WAIT)
    world.turn_until_idle(controller)
    assert world.statuses() == ["complete"]


def test_a_retry_that_is_due_waits_for_the_thaw(world: World) -> None:
    world.runner.script = lambda rendered: BAD
    world.batch(RetryCount=3)
    world.submit()
    world.create()
    controller = world.process()
    freeze(world)
    world.clock.advance(HOUR)
    controller.turn(NO_WAIT)
    world.turn_until_idle(controller)

    assert world.statuses() == ["retry"]
    assert len(world.history()) == 1


def test_rows_and_instances_are_made_while_everything_is_frozen(world: World) -> None:
    world.runner.script = lambda rendered: RUNS_ON
    world.batch()
    freeze(world)
    world.submit()
    world.create()
    world.process()

    assert world.statuses() == ["ready"]
    assert world.runner.started == []


@pytest.mark.parametrize("columns", [{}, {"ProcessBatchName": "B"}])
def test_whoever_claims_sees_a_freeze_that_nobody_has_told_of(world: World, columns: dict[str, object]) -> None:
    world.batch("B", steps=1)
    world.submit("B")
    world.create()
    controller = world.controller()
    controller.turn(NO_WAIT)
    world.turn_until_idle(controller)
    world.submit("B")
    world.create()
    freeze(world, **columns)
    known = world.transactions.changed
    with world.transactions.read() as connection:
        connection.exec_driver_sql("SELECT 1")
    world.transactions.changed = lambda: known() & Change.INTAKE
    controller.look_again()
    controller.turn(NO_WAIT)

    assert world.statuses() == ["complete", "ready"]
