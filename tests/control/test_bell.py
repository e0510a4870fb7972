"""When a controller waits for others to write, and when it had better not."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from batchctl.control.back_off import SHORTEST
from batchctl.control.controller import REST, Controller
from batchctl.domain.errors import DatabaseRefused
from batchctl.domain.rows import BatchDefinition
from batchctl.ports import Change
from batchctl.store.definitions import definitions
from tests.control.world import NO_WAIT, RUNS_ON, World

LONG = timedelta(seconds=1)


def at_rest(world: World, controller: Controller) -> None:
    """Turn until everything is known, and let the bell be listened to again."""
    world.hear()
    world.turn_until_idle(controller)
    world.clock.advance(REST)


def test_who_has_nothing_to_do_waits_for_the_bell(world: World) -> None:
    world.batch()
    controller = world.controller()
    at_rest(world, controller)

    controller.turn(LONG)

    assert world.runner.bells[-1] is not None
    assert world.runner.waits[-1] == LONG


def test_who_waits_for_a_step_hears_of_a_cancellation(world: World) -> None:
    world.batch()
    world.submit()
    world.create()
    world.runner.script = lambda rendered: RUNS_ON
    controller = world.controller()
    at_rest(world, controller)
    controller.turn(LONG)
    assert world.runner.bells[-1] is not None

    world.sql("UPDATE BatchControl SET Status = 'cancelling'")
    assert world.runner.bells[-1].rings()
    controller.turn(LONG)
    assert len(world.runner.stopped) == 1


def test_where_others_write_all_the_time_the_bell_is_left_alone_for_a_while(world: World) -> None:
    controller = world.controller()
    at_rest(world, controller)
    world.submit()
    controller.turn(LONG)
    assert controller.take_notice()

    controller.turn(LONG)
    assert (world.runner.waits[-1], world.runner.bells[-1]) == (REST, None)
    world.clock.advance(REST)
    controller.turn(LONG)
    assert world.runner.bells[-1] is not None


def test_nobody_listens_to_a_database_that_is_left_alone(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> Change:
        raise DatabaseRefused("it is away")

    controller = world.controller()
    at_rest(world, controller)
    with monkeypatch.context() as away:
        away.setattr(world.transactions, "changed", refuse)
        controller.turn(LONG)
        controller.turn(LONG)

    assert controller.failure is not None
    assert (world.runner.waits[-1], world.runner.bells[-1]) == (SHORTEST, None)


def test_the_definitions_are_read_when_they_may_have_changed(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.batch()
    controller = world.controller()
    at_rest(world, controller)
    controller.take_notice()
    read = []

    def all_batches(connection: Any) -> tuple[BatchDefinition, ...]:
        read.append(1)
        return real(connection)

    real = definitions.all_batches
    monkeypatch.setattr(definitions, "all_batches", all_batches)
    tells = world.database.kind == "postgresql"

    world.submit()
    controller.turn(NO_WAIT)
    assert (len(read), controller.take_notice()) == ((0, Change.INTAKE) if tells else (1, Change.ANYTHING))

    world.sql("UPDATE ProcessBatch SET Enabled = 0")
    read.clear()
    controller.turn(NO_WAIT)
    assert len(read) == 1
    assert not next(iter(controller.batches.values())).enabled
