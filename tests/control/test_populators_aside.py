"""Nobody waits for a populator: other rows, other batches and the steps go on, and what hangs three times waits."""

from __future__ import annotations

import pytest

from batchctl.control.creation import CreationReport, Creator
from batchctl.domain.rows import MOST_TRIES, IntakeId
from tests.control.test_workers import hired
from tests.control.world import World


def hang(world: World, *names: str) -> None:
    """Let the populator `slow` take too long over some files."""
    world.populators.by_name["slow"] = world.populators.by_name["pattern"]
    world.populators.aside.add("slow")
    world.populators.hangs = lambda row: row.file_name in names


def go_on(creator: Creator) -> CreationReport:
    """Create what can be created now."""
    return sum(creator.one_by_one(), CreationReport())


def made(world: World) -> list[tuple[str, str]]:
    """Return the batch and the file of each instance, in the order of their making."""
    return world.sql(
        "SELECT b.ProcessBatchName, c.Data1 FROM BatchControl c JOIN ProcessBatch b"
        " ON b.ProcessBatch_id = c.ProcessBatch_id ORDER BY c.BatchControl_id"
    )


def tries(world: World) -> list[int | None]:
    """Return how often each row was asked about in vain."""
    return [each for (each,) in world.sql("SELECT PopulatorTries FROM FileProcess ORDER BY FileProcess_id")]


def test_rows_of_others_are_created_before_a_populator_answers(world: World) -> None:
    hang(world)
    world.batch("S", Populator="slow")
    world.batch("B")
    world.submit("S", "one")
    world.submit("B", "two")
    creator = world.creator()

    assert go_on(creator).created == 1
    assert (made(world), creator.is_waiting, creator.is_ready) == ([("B", "two")], True, False)
    world.populators.answer()
    assert (creator.is_ready, go_on(creator).created, creator.is_waiting) == (True, 1, False)
    assert made(world) == [("B", "two"), ("S", "one")]
    assert world.populators.waits == 0


def test_rows_of_one_entity_are_created_in_the_order_in_which_they_came(world: World) -> None:
    hang(world)
    world.batch("S", Populator="slow")
    world.populators.room = 2
    for number in range(7):
        world.submit("S", str(number))
    creator = world.creator()
    while len(made(world)) < 7:
        go_on(creator)
        assert len(world.populators.asked) <= 2
        world.populators.answer()

    assert [name for _, name in made(world)] == [str(number) for number in range(7)]


def test_a_pass_waits_for_every_answer(world: World) -> None:
    hang(world)
    world.batch("S", Populator="slow")
    world.populators.room = 2
    for number in range(7):
        world.submit("S", str(number))

    assert world.create() == CreationReport(created=7)
    assert world.create() == CreationReport()


def test_a_row_is_asked_about_once_at_a_time(world: World) -> None:
    hang(world)
    world.batch("S", Populator="slow")
    world.submit("S", "one")
    creator = world.creator()
    for _ in range(3):
        go_on(creator)

    assert [row.file_name for row, _ in world.populators.asked] == ["one"]


def test_what_hangs_is_asked_again_behind_the_others_and_waits_after_the_third_time(world: World) -> None:
    hang(world, "bad")
    world.batch("S", Populator="slow", steps=1)
    for name in ("bad", "good"):
        world.submit("S", name)
    creator = world.creator()
    go_on(creator)
    asked = []
    while world.populators.asked:
        asked.append(world.populators.asked[0][0].file_name)
        world.populators.answer()
        go_on(creator)

    assert asked == ["bad", "good", "bad", "bad"]
    assert tries(world) == [MOST_TRIES, None]
    assert [name for _, name in made(world)] == ["good"]
    ((status, message),) = world.sql("SELECT Status, Message FROM FileProcess WHERE FileName = 'bad'")
    assert (status, message.startswith("batch S: it took too long"), "waits" in message) == ("ready", True, True)
    assert [str(event.fields["Message"]) for event in world.events if event.name == "intake.hung"] == [
        "batch S: it took too long"
    ] * 3
    go_on(creator)
    assert world.populators.asked == []


def test_the_other_batches_of_its_row_go_on_while_one_hangs_and_the_row_is_complete_with_the_last(world: World) -> None:
    hang(world, "bad")
    world.batch("S", Populator="slow", Entity="E", steps=1)
    world.batch("B", Entity="E", steps=1)
    world.submit("E", "bad")
    creator = world.creator()
    go_on(creator)
    assert made(world) == []
    world.populators.stuck.add("slow")
    assert (creator.is_ready, go_on(creator).created, made(world)) == (True, 1, [("B", "bad")])
    world.process()
    assert world.sql("SELECT Status, PopulatorTries FROM FileProcess") == [("ready", 1)]
    world.populators.hangs = lambda row: False
    world.populators.stuck.clear()
    world.populators.answer()
    assert go_on(creator).created == 1
    world.process()

    assert world.sql("SELECT Status, PopulatorTries FROM FileProcess") == [("complete", None)]
    assert world.statuses() == ["complete", "complete"]


def test_a_row_whose_others_are_done_is_complete_once_its_last_batch_makes_nothing_of_it(world: World) -> None:
    hang(world)
    world.batch("S", Populator="slow", Entity="E", steps=1)
    world.batch("B", Entity="E", steps=1, DuplicateCheck=0)
    first = world.submit("E", "one", Data="same")
    creator = world.creator()
    go_on(creator)
    world.populators.answer()
    go_on(creator)
    world.submit("E", "two", Data="same")
    go_on(creator)
    world.populators.stuck.add("slow")
    go_on(creator)
    world.process()
    world.populators.answer()
    go_on(creator)

    found = world.sql("SELECT Status, Message FROM FileProcess ORDER BY FileProcess_id")
    assert found == [("complete", None), ("complete", f"batch S: same Data as FileProcess {first}")]


def waiting_row(world: World) -> Creator:
    """Bring a row to where no populator is asked about it any more."""
    hang(world, "bad")
    world.batch("S", Populator="slow", steps=1)
    world.submit("S", "bad")
    creator = world.creator()
    creator.create_instances()
    assert (tries(world), go_on(creator), world.populators.asked) == ([MOST_TRIES], CreationReport(), [])
    world.populators.hangs = lambda row: False
    return creator


def test_a_person_lets_it_be_asked_again(world: World) -> None:
    creator = waiting_row(world)

    assert creator.accept(IntakeId(1), actor="anna", host="desk", reason="mended").created == 1
    assert (tries(world), world.one("SELECT Action FROM AuditLog WHERE Reason = 'mended'")) == ([None], "accept")


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE ProcessBatch SET PopulatorArgs = 'other'",
        "UPDATE FileProcess SET PopulatorTries = NULL",
    ],
)
def test_another_definition_or_a_count_set_back_lets_it_be_asked_again(world: World, change: str) -> None:
    creator = waiting_row(world)
    world.sql(change)

    assert creator.create_instances().created == 1
    assert tries(world) == [None]


def test_a_row_that_another_batch_has_found_to_be_a_duplicate_is_asked_about_again_like_any_other(world: World) -> None:
    hang(world, "bad")
    world.batch("S", Populator="slow", DuplicateCheck=0)
    world.batch("B", Entity="S")
    for name in ("good", "bad"):
        world.submit("S", name, data="same")
    creator = world.creator()
    creator.create_instances()
    before = world.sql("SELECT Status, PopulatorTries FROM FileProcess WHERE FileProcess_id = 2")
    world.populators.hangs = lambda row: False
    at_rest = creator.create_instances().created
    world.sql("UPDATE FileProcess SET PopulatorTries = NULL")

    assert (before, at_rest) == ([("ready", MOST_TRIES)], 0)
    assert creator.create_instances().created == 1
    assert made(world)[-1] == ("S", "bad")
    assert world.sql("SELECT Status, PopulatorTries FROM FileProcess WHERE FileProcess_id = 2") == [("ready", None)]


def test_a_controller_that_starts_asks_once_more_and_a_single_pass_does_not(world: World) -> None:
    waiting_row(world)

    assert world.creator(gives_up=True).create_instances().created == 0
    assert world.creator().create_instances().created == 1


def test_steps_and_signs_of_life_go_on_while_every_populator_hangs(world: World) -> None:
    hang(world, "bad")
    world.batch("S", Populator="slow", Enabled=0)
    for _ in range(3):
        world.submit("S", "bad")
    world.batch("B", steps=2)
    world.submit("B", "fine")
    leader = hired(world, "c1")
    world.populators.stuck.add("slow")
    while world.statuses() != ["complete"]:
        leader.turn()
    leader.worker.end()

    assert len(world.populators.asked) == 3
    assert world.populators.waits == 0
    assert world.one("SELECT count(*) FROM Controller WHERE HeartbeatSeq > 0 OR Status = 'stopped'") == 1


def test_a_worker_is_not_idle_while_an_answer_is_to_come(world: World) -> None:
    hang(world)
    world.batch("S", Populator="slow")
    world.submit("S", "one")
    leader = hired(world, "c1")
    for _ in range(5):
        leader.turn()
    was_idle = leader.worker.is_idle
    world.populators.answer()
    while not leader.worker.is_idle:
        leader.turn()
    leader.worker.end()

    assert (was_idle, made(world)) == (False, [("S", "one")])


def test_who_leads_no_more_leaves_the_answers_to_the_next(world: World) -> None:
    hang(world)
    world.batch("S", Populator="slow")
    world.submit("S", "one")
    creator = world.creator()
    go_on(creator)
    creator.forget_answers()
    world.populators.answer()

    assert (creator.is_waiting, creator.is_ready) == (False, False)
    assert go_on(creator).created == 0


def test_a_late_answer_about_what_another_has_created_meanwhile_keeps_nothing_waiting(world: World) -> None:
    hang(world, "bad")
    world.batch("S", Populator="slow", steps=1)
    world.submit("S", "bad")
    slow, quick = world.creator(), world.creator()
    go_on(slow)
    go_on(quick)
    late = world.populators.asked.pop(0)
    world.populators.hangs = lambda row: False
    world.populators.answer()
    assert go_on(quick).created == 1
    world.populators.asked.append(late)
    world.populators.hangs = lambda row: True
    world.populators.answer()
    go_on(slow)
    world.process()

    assert world.sql("SELECT Status, PopulatorTries FROM FileProcess") == [("complete", None)]


def test_an_answer_from_before_the_lead_was_lost_is_none_about_the_row_as_it_is_now(world: World) -> None:
    hang(world)
    world.batch("S", Populator="slow", steps=1)
    world.submit("S", "old name")
    creator = world.creator()
    go_on(creator)
    creator.forget_answers()
    world.sql("UPDATE FileProcess SET FileName = 'new name'")
    go_on(creator)
    world.populators.answer()
    go_on(creator)
    assert made(world) == []
    world.populators.answer()
    go_on(creator)

    assert made(world) == [("S", "new name")]
