"""Law 9: a poison row stops nothing but itself, also when somebody has switched the constraints off."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tests.control.world import NO_WAIT, World


def two_batches(world: World) -> None:
    """Register a batch that will be spoilt and a sound one, each with a row."""
    world.batch("spoilt", steps=2, Seq=1)
    world.batch("sound", steps=2, Seq=2)
    world.submit("spoilt")
    world.submit("sound")
    world.create()
    world.hand.loosen()


def sound_one_completes(world: World) -> None:
    """Show that the controller comes to rest with the sound batch done."""
    controller = world.controller()
    for _ in range(40):
        if controller.is_idle:
            break
        controller.turn(NO_WAIT)
    assert controller.is_idle
    status = "SELECT c.Status FROM BatchControl c JOIN ProcessBatch b USING (ProcessBatch_id) WHERE b.ProcessBatchName = 'sound'"
    assert world.one(status) == "complete"
    assert len(world.events) < 60


ANYWHERE = [
    "ProcessControl SET ProcessName = ''",
    "ProcessControl SET MaxDuration = -7",
    "ProcessControl SET OnLost = 'panic'",
    "ProcessBatch SET MaxConcurrent = -1",
    "ProcessBatch SET RetryWaitMins = 2147483647",
    "ProcessBatch SET OnFailure = 'explode'",
    "BatchControl SET Status = 'success'",
    "BatchControl SET PrevProcessControlSeq = -1",
    "BatchControl SET RetryCount = -1",
    "BatchControl SET ClaimToken = 9223372036854775807",
]
ONLY_SQLITE = [
    "ProcessControl SET ProcessName = CAST(x'fffe41' AS TEXT)",
    "ProcessControl SET ProcessType = CAST(x'fffe41' AS TEXT)",
    "ProcessControl SET ProcessName = 7",
    "ProcessControl SET ProcessControlSeq = ProcessControlSeq || ' or so'",
    "ProcessControl SET MaxDuration = 'long'",
    "ProcessControl SET MaxDuration = 9000000000000000000",
    "ProcessControl SET Data1 = x'ff00'",
    "ProcessBatch SET RetryWaitMins = 'soon'",
    "ProcessBatch SET MaxConcurrent = 'many'",
    "ProcessBatch SET Populator = x'ff'",
    "BatchControl SET PrevProcessControlSeq = 'none'",
    "BatchControl SET RetryCount = 'lots'",
    "BatchControl SET LostCount = 'lots'",
    "BatchControl SET ClaimToken = 'mine'",
    "BatchControl SET NextRunTime = '2026-11-21T03:15:00'",
    "BatchControl SET NextRunTime = '2026-02-31 00:00:00'",
    "BatchControl SET NextRunTime = 'tomorrow'",
    "BatchControl SET Data1 = x'ff00'",
]
"""What the columns of the other databases refuse by their types."""


def spoil(world: World, change: str) -> None:
    """Write nonsense into the rows of one batch."""
    two_batches(world)
    where = "(SELECT ProcessBatch_id FROM ProcessBatch WHERE ProcessBatchName = 'spoilt')"
    world.sql(f"UPDATE {change} WHERE ProcessBatch_id = {where}")


@pytest.mark.parametrize("change", ANYWHERE)
def test_nonsense_in_one_row_leaves_the_others_alone(world: World, change: str) -> None:
    spoil(world, change)

    sound_one_completes(world)


@pytest.mark.parametrize("change", ONLY_SQLITE)
def test_values_of_a_wrong_type_leave_the_others_alone(sqlite_world: World, change: str) -> None:
    spoil(sqlite_world, change)

    sound_one_completes(sqlite_world)


@pytest.mark.parametrize("on_failure", ["hold_batch", "continue"])
@pytest.mark.parametrize("waited_until", ["1900-01-01 00:00:00.000", "2026-11-20 00:00:00.000"])
def test_pages_of_nothing_but_nonsense_hide_nothing_that_follows(
    sqlite_world: World, on_failure: str, waited_until: str
) -> None:
    world = sqlite_world
    world.batch("B", steps=1, OnFailure=on_failure)
    for _ in range(10):
        world.submit()
    world.create()
    world.hand.loosen()
    world.sql("UPDATE BatchControl SET NextRunTime = ?", waited_until)
    world.sql("UPDATE BatchControl SET RetryCount = 'many' WHERE BatchControl_id < 10")
    world.process()

    assert world.statuses() == [*["ready"] * 9, "complete"]


def spoil_file_row(world: World, change: str) -> None:
    """Write nonsense into the first of two FileProcess rows, and let both be worked off."""
    world.batch("sound")
    poison = world.submit("sound")
    world.submit("sound")
    world.hand.loosen()
    world.sql(f"UPDATE FileProcess SET {change} WHERE FileProcess_id = ?", poison)
    world.create()
    world.process()


def test_nonsense_in_one_file_row_leaves_the_others_alone(world: World) -> None:
    spoil_file_row(world, "Status = 'success'")

    assert world.one("SELECT Status FROM BatchControl WHERE FileProcess_id = 2") == "complete"


@pytest.mark.parametrize(
    "change", ["Entity = x'ff00'", "FileName = x'ff00'", "Data = x'ff'", "z_inserted = '2026-11-31'"]
)
def test_values_of_a_wrong_type_in_one_file_row_leave_the_others_alone(sqlite_world: World, change: str) -> None:
    spoil_file_row(sqlite_world, change)

    assert sqlite_world.one("SELECT Status FROM BatchControl WHERE FileProcess_id = 2") == "complete"


def test_an_instance_that_cannot_be_claimed_keeps_nobody_waiting_while_others_are_busy(world: World) -> None:
    world.batch("busy", steps=20)
    world.submit("busy")
    world.create()
    controller = world.controller(slots=3)
    controller.turn(NO_WAIT)
    for name in ("spoilt", "sound"):
        world.batch(name, steps=1)
        world.submit(name)
    world.create()
    world.sql("UPDATE BatchControl SET ClaimToken = 9223372036854775807 WHERE BatchControl_id = 2")
    for _ in range(10):
        controller.turn(NO_WAIT)

    assert world.statuses() == ["running", "ready", "complete"]
    assert world.names().count("instance.parked") == 1


def test_an_instance_that_cannot_be_claimed_is_told_once_and_tried_again_after_a_change(world: World) -> None:
    two_batches(world)
    world.sql("UPDATE BatchControl SET ClaimToken = 9223372036854775807 WHERE BatchControl_id = 1")
    controller = world.process()
    controller.turn(NO_WAIT)
    (parked,) = [event for event in world.events if event.name == "instance.parked"]
    assert "[SQL: " not in str(parked.fields["Message"])
    assert "sqlalche.me" not in str(parked.fields["Message"])

    world.sql("UPDATE BatchControl SET ClaimToken = 0 WHERE BatchControl_id = 1")
    controller.turn(NO_WAIT)
    world.turn_until_idle(controller)
    assert world.statuses() == ["complete", "complete"]


def test_a_batch_deleted_while_its_step_runs_leaves_the_success_standing(world: World) -> None:
    world.batch(steps=2)
    world.submit()
    world.create()
    world.runner.script = lambda rendered: None
    controller = world.process()
    world.hand.loosen()
    if world.database.kind == "postgresql":
        world.sql("DROP TRIGGER TR_ProcessControl_InUse ON ProcessControl")
    world.sql("DELETE FROM ProcessControl")
    world.sql("DELETE FROM ProcessBatch")
    world.runner.end(world.runner.started[-1], world.ok)
    world.turn_until_idle(controller)

    assert world.history() == [(1, 10, 1, "auto", "success")]
    assert world.one("SELECT PrevProcessControlSeq FROM BatchControl") == 10


def test_more_rows_than_a_page_that_nobody_takes_are_all_named(world: World) -> None:
    world.hand.many("INSERT INTO FileProcess (Entity) VALUES (?)", [(f"unknown {n}",) for n in range(1500)])

    assert world.create().untaken == 1500
    assert world.one("SELECT count(*) FROM FileProcess WHERE Message IS NULL") == 0


def test_a_row_whose_only_instance_is_cancelled_is_done(world: World) -> None:
    world.batch(RetryCount=1)
    world.submit()
    world.create()
    world.runner.script = lambda rendered: None
    controller = world.process()
    world.sql("UPDATE BatchControl SET Status = 'cancelling'")
    world.clock.advance(timedelta(seconds=1))
    world.turn_until_idle(controller)

    assert world.statuses() == ["cancelled"]
    assert world.one("SELECT Status FROM FileProcess") == "complete"
