"""A person keeps a row locked in an SQL client: that row waits, and nothing else does."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from batchctl.control.controller import CONTENDED_LOOK, Controller
from batchctl.control.obstacles import LOCKED_LOOK
from tests.control.world import BAD, NO_WAIT, World
from tests.control_databases import Hand, PostgresControl
from tests.postgres import PostgresServer


@pytest.fixture
def world(postgres: PostgresServer, prepared: str, tmp_path: Path) -> Iterator[World]:
    """Return a world on PostgreSQL, which locks rows; SQLite locks whole files."""
    made = World(PostgresControl(postgres, tmp_path, postgres.new_database(prepared)))
    yield made
    made.close()


@pytest.fixture
def client(world: World) -> Iterator[Hand]:
    """Return somebody's SQL client."""
    made = world.database.hand()
    made.sql("BEGIN")
    yield made
    made.close()


def a_while(world: World, controller: Controller) -> None:
    """Let a controller turn until a lock has lasted for so long that it is told."""
    for _ in range(5):
        controller.turn(NO_WAIT)
    assert not {"instance.locked", "batch.locked"} & set(world.names()), "it may be over in a moment"
    assert world.runner.waits[-1] <= CONTENDED_LOOK
    world.clock.advance(LOCKED_LOOK)
    for _ in range(2):
        controller.turn(NO_WAIT)


def test_a_locked_instance_is_passed_over_and_taken_once_it_is_free(world: World, client: Hand) -> None:
    for name in ("A", "B"):
        world.batch(name)
        world.submit(name)
    world.create()
    client.sql("UPDATE BatchControl SET Data1 = 'x' WHERE BatchControl_id = 1")
    controller = world.controller()
    a_while(world, controller)
    while_locked = world.statuses()
    assert controller.is_idle, "who works off what there is does not wait for it"
    controller.look_again()
    world.turn_until_idle(controller)

    client.sql("ROLLBACK")
    world.clock.advance(LOCKED_LOOK)
    controller.turn(NO_WAIT)
    world.turn_until_idle(controller)

    assert while_locked == ["ready", "complete"]
    assert world.statuses() == ["complete", "complete"]
    (event,) = [event for event in world.events if event.name == "instance.locked"]
    assert event.fields["BatchControl_id"] == 1
    assert str(event.fields["Message"]).startswith("the row is locked by session ")
    assert "; to end it: SELECT pg_terminate_backend(" in str(event.fields["Message"])


def test_who_is_told_to_keep_a_row_locked_is_not_whoever_keeps_other_locks_longer(world: World, client: Hand) -> None:
    world.batch("A", steps=1)
    world.submit("A")
    world.create()
    with closing(world.database.hand()) as innocent:
        innocent.sql("BEGIN")
        innocent.sql("SELECT * FROM AuditLog FOR SHARE")
        client.sql("SELECT * FROM BatchControl FOR UPDATE")
        (culprit,) = client.sql("SELECT pg_backend_pid()")[0]
        a_while(world, world.controller())
        innocent.sql("ROLLBACK")

    (event,) = [event for event in world.events if event.name == "instance.locked"]
    assert f"SELECT pg_terminate_backend({culprit})" in str(event.fields["Message"])
    assert "as far as can be seen" not in str(event.fields["Message"])


@pytest.mark.parametrize("row", ["BatchControl", "FileProcess", "BatchProcessHistory"])
def test_the_end_of_a_locked_instances_step_waits_and_no_other_does(world: World, client: Hand, row: str) -> None:
    for name in ("A", "B"):
        world.batch(name, steps=1)
        world.submit(name)
    world.create()
    world.runner.script = lambda rendered: None
    controller = world.controller(slots=2)
    while len(world.runner.open) < 2:
        controller.turn(NO_WAIT)
    client.sql(f"UPDATE {row} SET z_updated = z_updated WHERE {row}_id = 1")
    for key in list(world.runner.open):
        world.runner.end(key, world.ok)
    a_while(world, controller)
    assert world.runner.waits[-1] == NO_WAIT

    while_locked = world.statuses()
    obstacle = controller.obstacle
    client.sql("COMMIT")
    world.turn_until_idle(controller)

    assert "somebody keeps its rows locked" in str(obstacle)
    assert controller.obstacle is None

    assert while_locked == ["running", "complete"]
    assert world.statuses() == ["complete", "complete"]
    assert world.history() == [(1, 10, 1, "auto", "success"), (2, 10, 1, "auto", "success")]
    assert world.names().count("instance.locked") == 1


def test_a_locked_intake_row_waits_and_no_other_does(world: World, client: Hand) -> None:
    world.batch("A")
    world.submit("A")
    world.submit("A")
    client.sql("DELETE FROM FileProcess WHERE FileProcess_id = 1")
    creator = world.creator()
    creator.create_instances()
    creator.create_instances()
    while_locked = world.sql("SELECT FileProcess_id FROM BatchControl")
    client.sql("ROLLBACK")
    creator.create_instances()

    assert while_locked == [(2,)]
    (event,) = [event for event in world.events if event.name == "intake.locked"]
    assert event.fields["FileProcess_id"] == 1
    assert "locked by session " in str(event.fields["Message"])
    assert sorted(world.sql("SELECT FileProcess_id FROM BatchControl")) == [(1,), (2,)]


def test_what_fails_while_its_row_is_locked_is_not_overtaken(world: World, client: Hand) -> None:
    world.batch("A", steps=1)
    world.submit("A")
    world.submit("A")
    world.create()
    world.runner.script = lambda rendered: None
    controller = world.controller()
    while not world.runner.open:
        controller.turn(NO_WAIT)
    client.sql("SELECT * FROM BatchControl WHERE BatchControl_id = 1 FOR UPDATE")
    world.runner.end(world.runner.started[0], BAD)
    for _ in range(5):
        controller.turn(NO_WAIT)
    while_locked = world.statuses()
    client.sql("ROLLBACK")
    world.turn_until_idle(controller)

    assert while_locked == ["running", "ready"]
    assert world.statuses() == ["failed", "ready"]
    assert len(world.runner.started) == 1


def test_a_batch_that_is_being_renamed_waits_and_no_other_does(world: World, client: Hand) -> None:
    for name in ("A", "B"):
        world.batch(name, steps=1)
    world.submit("A")
    world.create()
    client.sql("UPDATE ProcessBatch SET ProcessBatchName = 'C' WHERE ProcessBatch_id = 1")
    world.submit("A")
    world.submit("B")
    world.create()
    controller = world.controller()
    a_while(world, controller)
    while_locked = world.statuses()
    is_idle = controller.is_idle
    client.sql("ROLLBACK")
    world.create()
    world.clock.advance(LOCKED_LOOK)
    controller.turn(NO_WAIT)
    world.turn_until_idle(controller)

    assert while_locked == ["ready", "complete"]
    assert is_idle
    assert world.statuses() == ["complete", "complete", "complete"]
    (event,) = [event for event in world.events if event.name == "batch.locked"]
    assert event.fields["ProcessBatchName"] == "A"
    assert "; to end it: SELECT pg_terminate_backend(" in str(event.fields["Message"])


def test_a_locked_resource_holds_up_only_the_batches_that_need_it(world: World, client: Hand) -> None:
    for name in ("A", "B"):
        world.batch(name, steps=1)
        world.submit(name)
    world.sql("INSERT INTO Resource (ResourceName, Units) VALUES ('R', 1)")
    world.sql("INSERT INTO BatchResource (ProcessBatch_id, Resource_id) VALUES (1, 1)")
    world.create()
    client.sql("UPDATE Resource SET Units = 5")
    controller = world.controller()
    a_while(world, controller)
    while_locked = world.statuses()
    client.sql("COMMIT")
    world.clock.advance(LOCKED_LOOK)
    controller.turn(NO_WAIT)
    world.turn_until_idle(controller)

    assert while_locked == ["ready", "complete"]
    assert world.statuses() == ["complete", "complete"]
