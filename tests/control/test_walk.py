"""Laws 2, 3 and 10: the walk, and history first."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from batchctl.domain.outcomes import Rendered, StepOutcome
from batchctl.store import in_line, instances
from batchctl.store.in_line import FIRST_PAGE, MANY_DEFERRED
from tests.control.world import BAD, NO_WAIT, OK, RUNS_ON, World


def test_an_instance_walks_through_its_steps_in_order_over_gaps(world: World) -> None:
    world.batch(steps=(5, 7, 300))
    world.submit()
    world.create()
    world.process()

    assert world.history() == [
        (1, 5, 1, "auto", "success"),
        (1, 7, 1, "auto", "success"),
        (1, 300, 1, "auto", "success"),
    ]
    assert world.statuses() == ["complete"]
    assert world.one("SELECT Status FROM FileProcess") == "complete"
    assert world.one("SELECT PrevProcessControlSeq FROM BatchControl") == 300


def test_nothing_of_a_walk_looks_as_if_a_hand_had_done_it_though_all_has_the_same_time(world: World) -> None:
    world.batch(steps=(5, 7, 300), RetryCount=1, RetryWaitMins=0)
    outcomes = iter([OK, BAD, OK, OK])
    world.runner.script = lambda rendered: next(outcomes)
    world.submit()
    world.sql("UPDATE FileProcess SET z_updated = ?", world.clock.now().strftime("%Y-%m-%d %H:%M:%S.000"))
    world.create()
    world.process()
    acts = [act for (act,) in world.sql("SELECT Target FROM AuditLog WHERE Action = 'row update'")]

    assert world.statuses() == ["complete"]
    assert [act for act in acts if not act.startswith("ProcessBatch")] == []


def test_the_history_row_with_its_command_stands_before_the_command_runs(world: World) -> None:
    seen: list[tuple[str, str]] = []

    def look(rendered: Rendered) -> StepOutcome:
        row = world.sql("SELECT Status, CommandText FROM BatchProcessHistory ORDER BY BatchProcessHistory_id DESC")[0]
        seen.append((row[0], row[1]))
        assert row[1] == rendered.command_text
        return OK

    world.runner.script = look
    world.batch()
    world.submit()
    world.create()
    world.process()

    assert seen == [("running", "step 10 of 1 with f"), ("running", "step 20 of 1 with f")]


def test_no_transaction_is_open_while_a_step_runs(world: World) -> None:
    world.runner.script = lambda rendered: RUNS_ON
    world.batch()
    world.submit()
    world.create()
    world.process()

    world.hand.begin_writing()
    world.sql("UPDATE ProcessBatch SET Description = 'a writer is not kept waiting'")
    world.sql("COMMIT")
    assert len(world.runner.open) == 1


def test_batches_go_by_seq_and_instances_by_creation(world: World) -> None:
    world.batch("late", steps=1, Seq=200, Entity="E")
    world.batch("early", steps=1, Seq=50, Entity="E")
    world.submit("E", "one")
    world.submit("E", "two")
    world.create()
    world.process()

    order = world.sql(
        "SELECT b.ProcessBatchName, f.FileName FROM BatchProcessHistory h JOIN BatchControl c USING (BatchControl_id)"
        " JOIN FileProcess f USING (FileProcess_id) JOIN ProcessBatch b ON b.ProcessBatch_id = h.ProcessBatch_id"
        " ORDER BY h.BatchProcessHistory_id"
    )
    assert order == [("early", "one"), ("early", "two"), ("late", "one"), ("late", "two")]


def test_the_file_row_completes_with_the_last_of_its_instances(world: World) -> None:
    world.batch("first", steps=1, Entity="E", Seq=1)
    world.batch("second", steps=1, Entity="E", Seq=2, Enabled=0)
    world.submit("E")
    world.create()
    world.process()
    assert world.one("SELECT Status FROM FileProcess") == "ready"

    world.sql("UPDATE ProcessBatch SET Enabled = 1")
    world.process()
    assert world.one("SELECT Status FROM FileProcess") == "complete"


def test_a_disabled_batch_has_instances_that_do_not_run(world: World) -> None:
    world.batch(Enabled=0)
    world.submit()
    world.create()
    world.process()

    assert world.statuses() == ["ready"]
    assert world.history() == []


def test_disabling_a_batch_while_a_step_runs_keeps_the_next_step_from_starting(world: World) -> None:
    world.runner.script = lambda rendered: RUNS_ON
    world.batch()
    world.submit()
    world.create()
    controller = world.process()
    world.sql("UPDATE ProcessBatch SET Enabled = 0")
    world.runner.end(world.runner.started[-1], OK)
    world.turn_until_idle(controller)

    assert world.statuses() == ["ready"]
    assert world.one("SELECT PrevProcessControlSeq FROM BatchControl") == 10


def test_a_batch_registered_while_the_controller_runs_works_without_a_restart(world: World) -> None:
    world.batch("A", steps=1)
    world.submit("A")
    world.create()
    controller = world.process()
    world.batch("B", steps=1)
    world.submit("B")
    world.create()
    controller.turn(NO_WAIT)
    world.turn_until_idle(controller)

    assert world.statuses() == ["complete", "complete"]


def test_one_instance_at_a_time_unless_max_concurrent_says_more(world: World) -> None:
    world.runner.script = lambda rendered: RUNS_ON
    world.batch("one", steps=1)
    world.batch("two", steps=1, MaxConcurrent=2)
    for entity in ("one", "two"):
        for number in range(3):
            world.submit(entity, f"{entity}{number}")
    world.create()
    world.process(slots=8)

    running = world.sql(
        "SELECT b.ProcessBatchName, count(*) FROM BatchControl c JOIN ProcessBatch b USING (ProcessBatch_id)"
        " WHERE c.Status = 'running' GROUP BY 1 ORDER BY 1"
    )
    assert running == [("one", 1), ("two", 2)]


def test_many_slots_walk_many_instances_in_few_transactions(world: World) -> None:
    world.batch(steps=3, MaxConcurrent=10)
    for number in range(30):
        world.submit(file_name=str(number))
    world.create()
    controller = world.process(slots=5)

    assert world.statuses() == ["complete"] * 30
    assert controller.tally.succeeded == 90


def test_an_instance_whose_remaining_steps_were_removed_is_completed(world: World) -> None:
    world.runner.script = lambda rendered: BAD if rendered.spec["seq"] == 20 else OK
    batch_id = world.batch(RetryCount=1)
    world.submit()
    world.create()
    world.process()
    world.sql("DELETE FROM ProcessControl WHERE ProcessBatch_id = ? AND ProcessControlSeq = 20", batch_id)
    world.clock.advance(timedelta(minutes=6))
    world.process()

    assert world.statuses() == ["complete"]


def test_a_batch_without_steps_waits(world: World) -> None:
    world.batch(steps=0)
    world.submit()
    world.create()
    world.process()

    assert world.statuses() == ["ready"]


def test_an_unknown_process_type_fails_its_own_step_only(world: World) -> None:
    broken = world.batch("broken", steps=0, RetryCount=3, Seq=1)
    world.step(broken, 10, ProcessType="no_such_type")
    world.batch("sound", steps=1, Seq=2)
    world.submit("broken")
    world.submit("sound")
    world.create()
    world.process()

    assert world.statuses() == ["failed", "complete"]
    assert "no_such_type" in world.one("SELECT Message FROM BatchProcessHistory WHERE Status = 'failed'")


def test_an_outcome_with_text_no_table_can_hold_is_recorded_escaped(world: World) -> None:
    world.runner.script = lambda rendered: StepOutcome(succeeded=True, message="a\x00b\udcff", output="\ud800")
    world.batch(steps=1)
    world.submit()
    world.create()
    world.process()

    assert world.sql("SELECT Status, Message, Output FROM BatchProcessHistory") == [
        ("success", "a\\x00b\\udcff", "\\ud800")
    ]


def test_an_outcome_the_database_refuses_fails_alone_and_loses_no_other(world: World) -> None:
    huge = 2**70
    world.runner.script = lambda rendered: StepOutcome(
        succeeded=True, return_code=huge if "of 1 " in rendered.command_text else 0
    )
    world.batch(steps=1, MaxConcurrent=3, OnFailure="continue")
    for number in range(3):
        world.submit(file_name=str(number))
    world.create()
    world.process(slots=3)

    assert world.statuses() == ["failed", "complete", "complete"]
    assert "could not be recorded" in world.one("SELECT Message FROM BatchProcessHistory WHERE Status = 'failed'")


@pytest.mark.parametrize(
    ("many", "near", "numbered", "asked"),
    [
        (50, 500, 10_000, {"these"}),
        (250, 500, 10_000, {"these", "ask_near"}),
        (250, 1, 10_000, {"these", "ask_near", "all numbers"}),
        (250, 4, 10_000, {"these", "ask_near", "all numbers"}),
        (250, 1, MANY_DEFERRED + 1, {"these", "ask_near", "all numbers", "ask_due"}),
        (250, 4, MANY_DEFERRED + 1, {"these", "ask_near", "all numbers", "ask_due"}),
    ],
    ids=["few", "near the head", "by number", "both", "too many", "near the head of too many"],
)
def test_what_has_waited_for_its_time_takes_its_turn_by_creation_among_the_others(
    world: World, monkeypatch: pytest.MonkeyPatch, many: int, near: int, numbered: int, asked: set[str]
) -> None:
    world.batch(steps=1, MaxConcurrent=5, OnFailure="continue")
    for _ in range(many):
        world.submit()
    world.create()
    # The later it was created, the sooner it was due; every third waits for no time, and every fifth is not due yet.
    waiting = "UPDATE BatchControl SET Status = 'retry', NextRunTime = ? WHERE BatchControl_id % 3 <> 0 AND BatchControl_id > 1"
    world.sql(waiting, "2026-01-02 00:00:00")
    world.sql(f"{waiting} AND BatchControl_id > ?", "2026-01-01 00:00:00", many // 2)
    world.sql(f"{waiting} AND BatchControl_id % 5 = 0", "2200-01-01 00:00:00")
    world.sql("UPDATE BatchControl SET Status = 'failed' WHERE BatchControl_id = 1 OR BatchControl_id BETWEEN 6 AND 20")
    monkeypatch.setattr(in_line, "NEAR", near)
    monkeypatch.setattr(in_line, "MOST_NUMBERED", numbered)
    done = recorded(monkeypatch)
    world.process(slots=5)

    began = [instance_id for instance_id, *_ in world.history()]
    assert began == [at for at in (2, 3, 4, *range(21, many + 1)) if at % 3 == 0 or at % 5 != 0]
    assert done == asked


def recorded(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Return what will name the ways by which instances that are due have been looked for, and claims one by one.

    What is found twice cannot be claimed together.
    """
    done: set[str] = set()

    def recording(name: str, function: Any) -> Any:
        def call(*given: Any, **named: Any) -> Any:
            if name != "ask_deferred":
                done.add(name)
            elif given[2] > MANY_DEFERRED:
                done.add("all numbers")
            return function(*given, **named)

        return call

    for name in ("these", "ask_near", "ask_due", "ask_deferred", "claim"):
        monkeypatch.setattr(instances, name, recording(name, getattr(instances, name)))
    return done


def test_of_what_is_due_no_more_is_loaded_than_is_wanted(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.batch(steps=1, OnFailure="continue")
    for _ in range(MANY_DEFERRED - 1):
        world.submit()
    world.create()
    world.sql("UPDATE BatchControl SET NextRunTime = '2026-01-01 00:00:00'")
    world.runner.script = lambda rendered: RUNS_ON
    loaded: list[int] = []
    these = instances.these

    def load(connection: Any, numbers: Any) -> Any:
        loaded.append(len(numbers))
        return these(connection, numbers)

    monkeypatch.setattr(instances, "these", load)
    world.process()

    assert len(world.runner.open) == 1
    assert set(loaded) == {FIRST_PAGE}


def test_an_instance_that_cannot_be_claimed_lets_the_next_that_is_due_pass(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(in_line, "NEAR", 1)
    world.batch(steps=1, OnFailure="continue")
    for _ in range(MANY_DEFERRED + 3):
        world.submit()
    world.create()
    world.sql("UPDATE BatchControl SET NextRunTime = '2026-01-01 00:00:00' WHERE BatchControl_id > 1")
    world.sql("UPDATE BatchControl SET Status = 'failed' WHERE BatchControl_id = 1")
    # The next number of a claim is one too many for the column.
    world.sql("UPDATE BatchControl SET ClaimToken = 9223372036854775807 WHERE BatchControl_id IN (2, 3)")
    world.process()

    assert world.statuses() == ["failed", "ready", "ready"] + ["complete"] * MANY_DEFERRED
    assert [at for at, *_ in world.history()] == list(range(4, MANY_DEFERRED + 4))
