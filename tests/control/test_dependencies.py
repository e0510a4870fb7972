"""A batch starts once all that it depends on has completed for a CycleKey: exactly once for each whole set."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from batchctl.control.dependencies import dependency_watch
from batchctl.control.dependencies.dependency_watch import DependencyWatch
from batchctl.domain.errors import OutcomeUnknown
from batchctl.domain.rows import InstanceId
from batchctl.operations.intervene import Operator
from batchctl.operations.maintenance import fsck
from batchctl.ports import Boundary
from batchctl.store.definitions import definitions
from batchctl.store.dependencies import dependencies
from tests.control.world import BAD, NO_WAIT, OK, RUNS_ON, World

STARTED = "SELECT Entity, CycleKey, Message FROM FileProcess WHERE Source = 'dependency' ORDER BY FileProcess_id"
REASON = "the sender sent the file again"


def depend(world: World, batch: str, on: str, **columns: object) -> None:
    """Let a batch depend on another."""
    named = "(SELECT ProcessBatch_id FROM ProcessBatch WHERE ProcessBatchName = ?)"
    more = "".join(f", {column}" for column in columns)
    marks = ", ?" * len(columns)
    world.sql(
        f"INSERT INTO BatchDependency (ProcessBatch_id, DependsOnBatch_id{more}) VALUES ({named}, {named}{marks})",
        *(batch, on, *columns.values()),
    )


def three(world: World, mode: str = "all", **columns: object) -> None:
    """Register A and B, and C, which depends on both."""
    for name in ("A", "B"):
        world.batch(name, steps=1, MaxConcurrent=5, OnFailure="continue")
    world.batch("C", steps=1, DependencyMode=mode, **columns)
    for name in ("A", "B"):
        depend(world, "C", name)


def complete(world: World, entity: str, cycle_key: str | None = "K") -> InstanceId:
    """Let an instance of a batch go to its end; return it."""
    row = world.submit(entity, CycleKey=cycle_key)
    world.create()
    world.process()
    return InstanceId(world.one("SELECT BatchControl_id FROM BatchControl WHERE FileProcess_id = ?", row))


def started(world: World) -> list[str]:
    """Return the CycleKeys for which C was started."""
    return [row[1] for row in world.sql(STARTED)]


def watch(world: World) -> DependencyWatch:
    """Return the leader's duty."""
    return DependencyWatch(world.transactions, world.clock, world.events.append, timedelta(seconds=15))


def clean(world: World) -> bool:
    """Say whether no law is broken."""
    return not fsck.examine(world.transactions, world.clock)


def refuse(world: World, table: str) -> None:
    """Let the database refuse the rows of a table that are about C."""
    if world.database.kind == "sqlite":
        world.sql(
            f"CREATE TRIGGER Guarded BEFORE INSERT ON {table} WHEN NEW.Entity = 'C'"
            " BEGIN SELECT RAISE(ABORT, 'no row of this entity'); END"
        )
        return
    world.sql(
        "CREATE OR REPLACE FUNCTION guarded() RETURNS trigger LANGUAGE plpgsql AS"
        " $$ BEGIN RAISE EXCEPTION 'no row of this entity'; END $$"
    )
    world.sql(
        f"CREATE TRIGGER Guarded BEFORE INSERT ON {table} FOR EACH ROW WHEN (NEW.Entity = 'C')"
        " EXECUTE FUNCTION guarded()"
    )


@pytest.fixture
def operator(world: World) -> Operator:
    """Return Anna, who acts on the world."""
    return Operator(
        transactions=world.transactions,
        clock=world.clock,
        preparer=world.recorder().preparer,
        user="anna",
        host="host1",
        dry_run=False,
    )


def test_it_starts_when_the_last_one_has_completed(world: World) -> None:
    three(world)
    first = complete(world, "A")
    assert started(world) == []
    second = complete(world, "B")

    whole = f"A (BatchControl {first}), B (BatchControl {second})"
    assert world.sql(STARTED) == [("C", "K", whole)]
    world.create()
    world.process()
    assert world.one("SELECT Status FROM BatchControl WHERE CycleKey = 'K' ORDER BY BatchControl_id DESC") == "complete"
    log = "SELECT EventType, Source, Entity, Message FROM SchedulerLog ORDER BY SchedulerLog_id"
    assert world.sql(log) == [("fired", "dependency", "C", whole), ("completed", "dependency", "C", None)]
    assert clean(world)


def test_any_of_them_starts_it(world: World) -> None:
    three(world, "any")
    complete(world, "B")
    assert started(world) == ["K"]
    complete(world, "A")
    assert started(world) == ["K", "K"]
    assert clean(world)


def test_another_cycle_is_another_set(world: World) -> None:
    three(world)
    for cycle_key in ("K", "k", "K ", "L"):
        complete(world, "A", cycle_key)
    complete(world, "B", "k")
    assert started(world) == ["k"]
    complete(world, "B", "K ")
    assert started(world) == ["k", "K "]


def test_what_has_no_cycle_belongs_together(world: World) -> None:
    three(world)
    for name in ("A", "B"):
        complete(world, name)
    world.sql("UPDATE BatchCompletion SET CycleKey = NULL, FileProcess_id = NULL")
    with world.transactions.read() as connection:
        batches = {batch.batch_id: batch for batch in definitions.all_batches(connection)}
    (c,) = [batch for batch in batches.values() if batch.name == "C"]
    world.transactions.run(
        frozenset(), lambda connection: dependencies.start(connection, c, None, batches, world.clock.now())
    )
    assert started(world) == ["K", None]


def test_a_completion_is_used_once(world: World) -> None:
    three(world)
    complete(world, "A")
    complete(world, "A")
    complete(world, "B")
    assert started(world) == ["K"]
    complete(world, "B")
    assert started(world) == ["K", "K"]
    complete(world, "B")
    assert started(world) == ["K", "K"]
    assert clean(world)


def test_ends_of_one_turn_start_as_many_sets_as_there_are(world: World) -> None:
    three(world)
    for name in ("A", "B", "A", "B", "A"):
        world.submit(name, CycleKey="K")
    world.create()
    world.process(slots=5)

    assert started(world) == ["K", "K"]
    assert world.one("SELECT count(*) FROM BatchCompletion WHERE FileProcess_id IS NULL") == 1
    assert clean(world)


def test_who_is_run_again_starts_nothing_twice(world: World, operator: Operator) -> None:
    three(world)
    first = complete(world, "A")
    complete(world, "B")
    operator.rerun(first, from_seq=10, reason=REASON)
    world.process()

    assert world.one("SELECT Status FROM BatchControl WHERE BatchControl_id = ?", first) == "complete"
    assert started(world) == ["K"]
    assert clean(world)


def test_who_is_run_again_before_is_waited_for(world: World, operator: Operator) -> None:
    three(world)
    first = complete(world, "A")
    operator.rerun(first, from_seq=10, reason=REASON)
    operator.pause(first, reason=REASON)
    complete(world, "B")
    assert started(world) == [], "A is not complete any more"
    operator.resume(first, reason=REASON)
    world.process()
    assert started(world) == ["K"]
    assert clean(world)


def test_what_failed_and_recovers_later_completes_its_own_cycle(world: World, operator: Operator) -> None:
    # Regression test 12 of the field: upstream A fails for cycle 2, then recovers after B.
    three(world)
    complete(world, "A", "1")
    world.runner.script = lambda rendered: BAD
    failed = complete(world, "A", "2")
    world.runner.script = lambda rendered: OK
    complete(world, "B", "2")
    complete(world, "B", "1")
    assert started(world) == ["1"]
    operator.rerun(failed, reason=REASON)
    world.process()
    assert started(world) == ["1", "2"]


def test_another_controller_goes_on_where_one_was_killed_between(world: World) -> None:
    # Regression test 13 of the field: the controller restarts between A and B.
    three(world)
    complete(world, "A")
    world.transactions.close()
    world.transactions = world.open()
    complete(world, "B")
    assert started(world) == ["K"]


def test_a_person_who_skips_the_last_step_completes_too(world: World, operator: Operator) -> None:
    three(world)
    complete(world, "A")
    world.runner.script = lambda rendered: BAD
    failed = complete(world, "B")
    operator.skip(failed, reason=REASON)
    assert started(world) == ["K"]
    assert clean(world)


def test_an_instance_without_a_step_left_completes_too(world: World) -> None:
    three(world)
    complete(world, "A")
    row = world.submit("B", CycleKey="K")
    world.create()
    world.sql("UPDATE BatchControl SET PrevProcessControlSeq = 10 WHERE FileProcess_id = ?", row)
    world.process()
    assert started(world) == ["K"]


def test_a_cancelled_one_completes_nothing(world: World, operator: Operator) -> None:
    three(world)
    complete(world, "A")
    row = world.submit("B", CycleKey="K")
    world.create()
    number = InstanceId(world.one("SELECT BatchControl_id FROM BatchControl WHERE FileProcess_id = ?", row))
    operator.cancel(number, reason=REASON)
    world.process()
    assert started(world) == []


def test_a_disabled_batch_is_started_and_not_run(world: World) -> None:
    three(world, Enabled=0)
    complete(world, "A")
    complete(world, "B")
    world.create()
    world.process()
    newest = "SELECT Status, CycleKey FROM BatchControl ORDER BY BatchControl_id DESC"
    assert world.sql(newest)[0] == ("ready", "K")


@pytest.mark.parametrize("ring", [("C", "C"), ("A", "C"), ("B", "A")])
def test_a_batch_in_a_cycle_is_not_started(world: World, ring: tuple[str, str]) -> None:
    world.hand.loosen()
    three(world)
    batch, on = ring
    depend(world, batch, on)
    if ring == ("B", "A"):
        depend(world, "A", "B")
    complete(world, "A")
    complete(world, "B")
    # Only C stands behind the cycle of A and B, and is part of no other.
    assert started(world) == (["K"] if ring == ("B", "A") else [])


def test_once_the_cycle_is_mended_what_has_waited_starts(world: World) -> None:
    three(world)
    depend(world, "A", "C")
    complete(world, "A")
    complete(world, "B")
    assert not watch(world).finish()
    world.sql(
        "DELETE FROM BatchDependency WHERE ProcessBatch_id ="
        " (SELECT ProcessBatch_id FROM ProcessBatch WHERE ProcessBatchName = 'A')"
    )
    assert watch(world).finish()
    assert started(world) == ["K"]
    assert not watch(world).finish()


def test_a_dependency_that_is_taken_away_is_not_waited_for(world: World) -> None:
    three(world)
    complete(world, "A")
    assert not watch(world).finish()
    world.sql(
        "DELETE FROM BatchDependency WHERE DependsOnBatch_id ="
        " (SELECT ProcessBatch_id FROM ProcessBatch WHERE ProcessBatchName = 'B')"
    )
    duty = watch(world)
    assert duty.look()
    assert started(world) == ["K"]
    complete(world, "A", "L")
    assert started(world) == ["K", "L"]
    assert not duty.look()


def test_what_completed_before_it_was_registered_does_not_count(world: World) -> None:
    for name in "ABC":
        world.batch(name, steps=1)
    complete(world, "A")
    depend(world, "C", "A")
    depend(world, "C", "B")
    complete(world, "B")
    assert started(world) == []


def test_a_commit_that_nobody_saw_starts_it_once(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    three(world)
    complete(world, "A")
    run = world.transactions.run
    unseen = [True]

    def commit_unseen(boundaries: frozenset[Boundary], work: Callable[[Any], Any], *, nowait: bool = False) -> Any:
        done = run(boundaries, work, nowait=nowait)
        if Boundary.INSTANCE_DONE in boundaries and unseen.pop():
            unseen.append(False)
            message = "nobody knows"
            raise OutcomeUnknown(message)
        return done

    world.submit("B", CycleKey="K")
    world.create()
    controller = world.controller()
    controller.turn(NO_WAIT)
    monkeypatch.setattr(world.transactions, "run", commit_unseen)
    controller.turn(NO_WAIT)
    assert controller.failure is not None
    for _ in range(4):
        controller.turn(timedelta(seconds=2))
    assert started(world) == ["K"]
    assert clean(world)


@pytest.mark.full
def test_a_thousand_are_waited_for(world: World) -> None:
    names = [f"U{at}" for at in range(1000)]
    world.batch("C", steps=1)
    world.sql(f"INSERT INTO ProcessBatch (ProcessBatchName) VALUES {', '.join(f'({name!r})' for name in names)}")
    world.sql(
        "INSERT INTO BatchDependency (ProcessBatch_id, DependsOnBatch_id)"
        " SELECT c.ProcessBatch_id, u.ProcessBatch_id FROM ProcessBatch c JOIN ProcessBatch u"
        " ON u.ProcessBatchName LIKE 'U%' WHERE c.ProcessBatchName = 'C'"
    )
    world.sql(
        "INSERT INTO ProcessControl (ProcessBatch_id, ProcessControlSeq, ProcessName, ProcessType)"
        " SELECT ProcessBatch_id, 10, 'step', 'told' FROM ProcessBatch WHERE ProcessBatchName LIKE 'U%'"
    )
    world.sql(
        "INSERT INTO FileProcess (Entity, CycleKey)"
        " SELECT ProcessBatchName, 'K' FROM ProcessBatch WHERE ProcessBatchName LIKE 'U%' AND ProcessBatchName <> 'U7'"
    )
    world.create()
    controller = world.controller(slots=100)
    world.turn_until_idle(controller, most=5000)
    assert started(world) == []
    complete(world, "U7")
    assert started(world) == ["K"]


def test_a_wait_that_takes_too_long_is_told_once_and_ends_all_the_same(world: World) -> None:
    # Regression test 14 of the field: the waiter shows the reason, and its time runs out.
    three(world)
    world.sql("UPDATE BatchDependency SET DeadlineMins = 60")
    complete(world, "A")
    duty = watch(world)
    world.clock.advance(timedelta(minutes=59))
    assert not duty.finish()
    assert world.sql("SELECT * FROM SchedulerLog") == []
    world.clock.advance(timedelta(minutes=2))
    world.events.clear()
    for _ in range(2):
        assert not duty.finish()

    ((kind, entity, said),) = world.sql("SELECT EventType, Entity, Message FROM SchedulerLog")
    assert (kind, entity) == ("error", "C")
    assert "C for K has waited since" in said
    assert said.endswith("B has no instance for this CycleKey yet")
    assert [event.name for event in world.events] == ["dependency.overdue"]
    complete(world, "B")
    assert started(world) == ["K"]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (
            "UPDATE ProcessBatch SET Enabled = 0 WHERE ProcessBatchName = 'B'",
            "has not begun yet, and the batch is disabled",
        ),
        (
            "INSERT INTO BatchFreeze (ProcessBatchName, Reason) VALUES ('B', 'disks')",
            "has not begun yet, and batch B is frozen",
        ),
        ("UPDATE BatchControl SET Status = 'failed' WHERE Status = 'ready'", "has failed"),
        ("UPDATE BatchControl SET Status = 'held' WHERE Status = 'ready'", "is held: a person decides"),
        ("UPDATE BatchControl SET Status = 'paused' WHERE Status = 'ready'", "is paused"),
        ("UPDATE BatchControl SET Status = 'cancelled' WHERE Status = 'ready'", "was cancelled"),
    ],
)
def test_the_reason_says_how_the_other_one_stands(world: World, change: str, reason: str) -> None:
    three(world)
    complete(world, "A")
    row = world.submit("B", CycleKey="K")
    world.create()
    number = world.one("SELECT BatchControl_id FROM BatchControl WHERE FileProcess_id = ?", row)
    world.sql(change)
    with world.transactions.read() as connection:
        batches = {batch.batch_id: batch for batch in definitions.all_batches(connection)}
        (wait,) = dependencies.waits(connection, batches, 10, world.clock.now())
    assert wait.reason == f"B (BatchControl {number}) {reason}"
    assert world.sql("SELECT Reason FROM vWaiting WHERE Status = 'dependency'") == [(wait.reason,)]


def test_a_second_one_waits_for_the_second_of_the_other(world: World) -> None:
    three(world)
    complete(world, "A")
    used = complete(world, "B")
    complete(world, "A")
    with world.transactions.read() as connection:
        batches = {batch.batch_id: batch for batch in definitions.all_batches(connection)}
        (wait,) = dependencies.waits(connection, batches, 10, world.clock.now())
    assert wait.reason == (
        f"B (BatchControl {used}) is complete, and that was used before: another instance has to complete"
    )
    assert world.sql("SELECT Reason FROM vWaiting WHERE Status = 'dependency'") == [(wait.reason,)]


def test_running_ones_are_waited_for(world: World) -> None:
    three(world)
    world.runner.script = lambda rendered: RUNS_ON
    complete(world, "A")
    assert started(world) == []


def test_a_row_that_is_refused_takes_nothing_from_those_that_have_completed(world: World) -> None:
    three(world)
    world.batch("D", steps=1)
    depend(world, "D", "B")
    refuse(world, "FileProcess")
    complete(world, "A")
    complete(world, "B")

    assert world.sql("SELECT DISTINCT Status FROM BatchProcessHistory") == [("success",)]
    assert [row[0] for row in world.sql(STARTED)] == ["D"]
    assert "no row of this entity" in str(world.events)
    world.events.clear()
    duty = watch(world)
    assert not duty.finish()
    (event,) = world.events
    assert event.name == "dependency.trouble"
    assert "C for K cannot be started, and is tried again" in str(event.fields["Message"])
    world.sql("DROP TRIGGER Guarded" if world.database.kind == "sqlite" else "DROP TRIGGER Guarded ON FileProcess")
    assert duty.finish()
    assert [row[0] for row in world.sql(STARTED)] == ["D", "C"]
    assert clean(world)


def test_a_log_that_takes_nothing_takes_nothing_from_a_step(world: World) -> None:
    three(world)
    complete(world, "A")
    complete(world, "B")
    world.create()
    refuse(world, "SchedulerLog")
    world.process()
    assert "no row of this entity" in str(world.events)
    assert world.sql("SELECT DISTINCT Status FROM BatchProcessHistory") == [("success",)]
    assert world.sql("SELECT DISTINCT Status FROM BatchControl") == [("complete",)]


def test_however_much_waits_what_is_whole_starts(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dependency_watch, "MOST", 2)
    three(world)
    world.batch("D", steps=1)
    for name in ("A", "B"):
        depend(world, "D", name)
    for cycle_key in ("K", "L", "M"):
        complete(world, "A", cycle_key)
    world.sql("UPDATE ProcessBatch SET DependencyMode = 'any' WHERE ProcessBatchName = 'D'")
    duty = watch(world)
    for _ in range(4):
        duty.look()
        world.clock.advance(timedelta(seconds=15))
    assert [row[:2] for row in world.sql(STARTED)] == [("D", "K"), ("D", "L"), ("D", "M")]
    complete(world, "A", "N")
    assert started(world) == ["K", "L", "M", "N"]
    world.sql("UPDATE ProcessBatch SET DependencyMode = 'any' WHERE ProcessBatchName = 'C'")
    assert duty.finish()
    assert [row[1] for row in world.sql(STARTED) if row[0] == "C"] == ["K", "L", "M", "N"]
    assert clean(world)


def test_what_completed_unseen_while_a_dependency_was_registered_counts(world: World) -> None:
    for name in "ABC":
        world.batch(name, steps=1)
    complete(world, "A")
    missed = complete(world, "A", "L")
    for other in "AB":
        depend(world, "C", other)
    # Registered between the two by the clock; whoever completed the second had not read that yet.
    registered = world.clock.now() + timedelta(seconds=1)
    world.sql("UPDATE BatchDependency SET z_inserted = ?", f"{registered:%Y-%m-%d %H:%M:%S}")
    completed = registered + timedelta(seconds=1)
    world.sql(
        "UPDATE BatchControl SET z_updated = ? WHERE BatchControl_id = ?", f"{completed:%Y-%m-%d %H:%M:%S}", missed
    )
    world.clock.advance(timedelta(seconds=5))
    complete(world, "B")
    complete(world, "B", "L")
    assert started(world) == []

    assert watch(world).finish()
    assert started(world) == ["L"]
    assert not watch(world).finish()
