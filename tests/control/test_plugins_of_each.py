"""Controllers with different plugins beside each other: each begins what it has, and leaves the rest to the others."""

from __future__ import annotations

import pytest

from batchctl.control.controller import Controller
from batchctl.domain.plugins import Plugins
from batchctl.store import controllers, leading
from tests.control.world import LONG_AFTER, NO_WAIT, RUNS_ON, World

TOLD, TOO = "told", "told too"


def plugins(*process_types: str, populators: tuple[str, ...] = ("pattern",)) -> Plugins:
    """Return what a controller has."""
    return Plugins(process_types=frozenset(process_types), populators=frozenset(populators), jobs=frozenset())


@pytest.fixture
def both(world: World) -> tuple[Controller, Controller]:
    """Two controllers, one for each kind of step."""
    world.sql(
        "INSERT INTO Controller (ControllerName, Host, ProcessTypes, Populators, Jobs)"
        " VALUES ('c1', 'h1', 'told', 'pattern', ''), ('c2', 'h2', 'told too', 'pattern,other', '')"
    )
    return world.controller("c1", plugins=plugins(TOLD)), world.controller("c2", plugins=plugins(TOO))


def turn(world: World, *all_of_them: Controller) -> None:
    """Let each do what it can, one after the other."""
    for controller in all_of_them:
        controller.look_again()
        world.turn_until_idle(controller)


def who_did(world: World) -> list[tuple[int, int, str, str]]:
    """Return instance, step, worker and status of all attempts."""
    return world.sql(
        "SELECT BatchControl_id, ProcessControlSeq, ClaimedBy, Status FROM BatchProcessHistory"
        " ORDER BY BatchProcessHistory_id"
    )


def test_a_step_is_begun_only_by_a_controller_that_has_what_carries_it_out(
    world: World, both: tuple[Controller, Controller]
) -> None:
    batch = world.batch(steps=1)
    world.step(batch, 20, ProcessType=TOO)
    world.step(batch, 30)
    world.submit()
    world.create()
    first, second = both
    turn(world, second)
    assert who_did(world) == []
    turn(world, first)
    assert world.statuses() == ["ready"]
    assert world.sql("SELECT PrevProcessControlSeq, ClaimedBy FROM BatchControl") == [(10, None)]
    turn(world, first, second, first)

    assert who_did(world) == [(1, 10, "c1", "success"), (1, 20, "c2", "success"), (1, 30, "c1", "success")]
    assert world.statuses() == ["complete"]


@pytest.mark.parametrize(("places", "begun"), [(1, []), (2, [2]), (3, [2, 3])])
def test_what_another_has_to_begin_keeps_its_place_before_those_behind_it(
    world: World, both: tuple[Controller, Controller], places: int, begun: list[int]
) -> None:
    batch = world.batch(steps=1, MaxConcurrent=places)
    world.step(batch, 20, ProcessType=TOO)
    for number in range(4):
        world.submit(file_name=str(number))
    world.create()
    world.sql("UPDATE BatchControl SET PrevProcessControlSeq = 10 WHERE BatchControl_id = 1")
    first = world.controller("c1", slots=9, plugins=plugins(TOLD))
    first.turn(NO_WAIT)

    assert [instance for instance, *_ in who_did(world)] == begun


def test_only_who_has_the_populator_of_a_batch_makes_its_instances_and_nobody_rejects_its_rows(world: World) -> None:
    world.batch(steps=1)
    world.submit()
    lacks, has = plugins(TOLD, populators=("other",)), plugins(TOLD)
    assert world.creator(plugins=lacks).create_instances().created == 0
    assert world.sql("SELECT Status FROM FileProcess") == [("ready",)]

    assert world.creator(plugins=has).create_instances().created == 1


def test_of_populators_those_of_the_leader_count_for_only_it_asks_them(
    world: World, both: tuple[Controller, Controller]
) -> None:
    world.batch(Populator="other")
    world.submit()
    assert world.sql("SELECT Status FROM vStatus") == [("idle",)], "somebody has it, and nobody leads"
    world.transactions.run(frozenset(), leading.load_or_make)
    world.sql("UPDATE Leader SET ControllerName = 'c1'")
    said = "ProcessBatch (B): Populator 'other' is not installed"

    with world.transactions.read() as connection:
        found = controllers.plugins(connection)
    assert found is not None
    assert found.populators == {"pattern"}
    assert found.process_types == {TOLD, TOO}
    assert world.sql("SELECT Status FROM vStatus") == [("unreadable",)]
    assert [row[0] for row in world.sql("SELECT Reason FROM vInbox")] == [said]
    world.sql("UPDATE Leader SET ControllerName = 'c2'")
    assert world.sql("SELECT Status FROM vStatus") == [("idle",)]


def test_what_a_dead_controller_has_begun_is_left_to_one_that_has_its_plugin(
    world: World, both: tuple[Controller, Controller]
) -> None:
    world.runner.script = lambda rendered: RUNS_ON
    world.batch(steps=0)
    world.step(1, 10, ProcessType=TOO)
    world.submit()
    world.create()
    world.sql(
        "INSERT INTO Controller (ControllerName, Host, ProcessTypes, Populators, Jobs) VALUES ('c3', 'h', 'told too', '', '')"
    )
    dead = world.controller("c3", plugins=plugins(TOO))
    dead.turn(NO_WAIT)
    assert who_did(world) == [(1, 10, "c3", "running")]
    world.sql("UPDATE ProcessControl SET ProcessType = 'gone'")
    world.sql("UPDATE BatchProcessHistory SET ProcessType = 'gone'")
    world.sql("UPDATE Controller SET ProcessTypes = 'told too,gone' WHERE ControllerName <> 'c1'")
    rescue = world.rescue("c1", rhythm=LONG_AFTER, plugins=plugins(TOLD))

    assert rescue.look(lambda key: False).freed is False
    assert world.statuses() == ["running"], "c2 is there, and has it"
    world.sql("UPDATE Controller SET Status = 'stopped' WHERE ControllerName = 'c2'")
    rescue.look(lambda key: False)
    assert world.statuses() == ["held"]
