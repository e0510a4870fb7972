"""`why` of schedules, triggers and rows; since when something is held, and when anything may start."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any

import pytest

from batchctl.domain.errors import ConfigurationError, InvalidInput, NotFound
from batchctl.domain.gates import Ends, Gate
from batchctl.domain.intake.triggers import Counted
from batchctl.domain.liveness import Rhythm
from batchctl.operations import explain
from batchctl.operations.explain import Benches, Explanation
from batchctl.operations.intake.trial import Bench
from batchctl.operations.presence import Presence
from batchctl.operations.scheduling.schedule_trial import ScheduleBench
from batchctl.operations.scheduling.timetable import Timetable
from batchctl.ports import Answer
from tests.control.world import BAD, RUNS_ON, World

PRESENCE = Presence(Rhythm(), is_gone=lambda row: False)


class AtOnce:
    """Inquiries that are answered where they are asked."""

    def __init__(self) -> None:
        self.found: list[Answer] = []

    def ask(self, key: int, question: Callable[[], Any]) -> bool:
        try:
            self.found.append(Answer(key, question(), None))
        except ConfigurationError as error:
            self.found.append(Answer(key, None, error))
        return True

    def answers(self) -> Sequence[Answer]:
        return self.found

    is_busy = False

    def wait(self, at_most: timedelta | None = None) -> None:
        """Everything has been answered."""


def enter(world: World, controller: str = "c1") -> None:
    """Let a controller that fires schedules, and leads, be there."""
    now = world.clock.now().strftime("%Y-%m-%d %H:%M:%S")
    world.sql(
        "INSERT INTO Controller (ControllerName, Host, Heartbeat, SchedulerZone) VALUES (?, 'h', ?, 'UTC')",
        *(controller, now),
    )
    world.sql("DELETE FROM Leader")
    world.sql(
        "INSERT INTO Leader (Leader_id, ControllerName, LeaseUntil) VALUES (1, ?, '2999-01-01 00:00:00.000')",
        controller,
    )


def test_where_controllers_work_and_none_leads_that_is_a_gate_of_what_is_to_become_work(world: World) -> None:
    world.batch()
    world.submit()
    enter(world)
    led = why(world, "file:1")
    world.sql("UPDATE Leader SET LeaseUntil = '2020-01-01 00:00:00.000'")
    gate = blocking(why(world, "file:1"))["leader"]

    assert "leader" not in {one.name for one in led.gates}
    assert gate.blocked == (
        "no controller leads, so that nothing new becomes an instance; c1 did, until 2020-01-01 00:00:00 UTC"
    )
    assert gate.row == "Leader 1"


def test_where_none_leads_a_batch_of_which_nothing_is_open_waits_and_another_says_that_its_rows_do(
    world: World,
) -> None:
    world.batch()
    world.submit()
    enter(world)
    led = why(world, "batch:B")
    world.sql("UPDATE Leader SET LeaseUntil = '2020-01-01 00:00:00.000'")
    unled = why(world, "batch:B")
    world.create()
    idle = why(world, "batch:B")
    world.submit()
    at_work = why(world, "batch:B")
    said = "no controller leads, so that nothing new becomes an instance; c1 did, until 2020-01-01 00:00:00 UTC"

    assert "leader" not in {one.name for one in led.gates}
    assert blocking(unled)["leader"].blocked == said
    assert "leader" not in {one.name for one in at_work.gates}
    assert set(at_work.notes) - set(idle.notes) == {f"Its next one waits: {said}."}


def test_what_a_populator_had_no_answer_for_three_times_is_a_gate(world: World) -> None:
    world.batch()
    world.submit()
    enter(world)
    world.sql("UPDATE FileProcess SET PopulatorTries = 2, Message = 'batch B: it took too long'")
    before = blocking(why(world, "file:1"))
    world.sql("UPDATE FileProcess SET PopulatorTries = 3")
    gate = blocking(why(world, "file:1"))["populator"]

    assert "populator" not in before
    assert gate.blocked == "it waits for a person: batch B: it took too long"
    assert (gate.clear or "").endswith("batchctl accept 1 --reason ...")


def test_a_paused_row_says_why_it_was_paused_where_it_knows(world: World) -> None:
    world.batch()
    world.submit(Status="paused")
    world.submit(Status="paused", Message="it was there before batch B ran commands")

    assert blocking(why(world, "file:1"))["status"].blocked == "somebody inserted or set it as paused"
    assert blocking(why(world, "file:2"))["status"].blocked == "paused: it was there before batch B ran commands"


def count(*, pending: int) -> Callable[..., Counted]:
    return lambda trigger, ago: Counted(pending=pending)


def why(world: World, ref: str, counted: Callable[..., Counted] | None = None) -> Explanation:
    table = Timetable(transactions=world.transactions, clock=world.clock, zone="UTC", grace=timedelta(minutes=5))

    def bench() -> Bench:
        return Bench(
            transactions=world.transactions,
            clock=world.clock,
            inquiries=AtOnce(),
            count=counted or count(pending=0),
            poll_interval=timedelta(seconds=15),
        )

    benches = Benches(lambda: ScheduleBench(table=table, fires_here=True), bench)
    return explain.why(world.transactions, world.clock, PRESENCE, ref, table, benches)


def blocking(explained: Explanation) -> dict[str, Gate]:
    return {gate.name: gate for gate in explained.blocking}


def put_schedule(world: World, **columns: object) -> None:
    values = {"ScheduleName": "nightly", "Entity": "B", "ScheduleType": "daily", "RunTimes": "06:00", **columns}
    values = {"DecidedUntil": f"{world.clock.now():%Y-%m-%d %H:%M:%S}", **values}
    marks = ", ".join("?" * len(values))
    world.sql(f"INSERT INTO Schedule ({', '.join(values)}) VALUES ({marks})", *values.values())


def put_trigger(world: World, **columns: object) -> None:
    values = {"TriggerName": "orders", "Entity": "B", "ConnectionName": "w", "TableName": "t", **columns}
    values = {"StatusColumn": "s", "PendingValue": "0", "RowThreshold": 5, **values}
    marks = ", ".join("?" * len(values))
    world.sql(f"INSERT INTO DataTrigger ({', '.join(values)}) VALUES ({marks})", *values.values())


def at_six(now: datetime) -> datetime:
    six = now.replace(hour=6, minute=0, second=0, microsecond=0)
    return six if six > now else six + timedelta(days=1)


def test_a_schedule_is_not_due_before_its_time_which_is_the_earliest_start(world: World) -> None:
    world.batch()
    put_schedule(world)
    enter(world)
    explained = why(world, "schedule:nightly")

    assert [gate.name for gate in explained.gates] == [
        *("timing", "enabled", "mode", "entity", "calendar", "window", "due", "overlap", "controller")
    ]
    assert list(blocking(explained)) == ["due"]
    assert explained.earliest.at == at_six(world.clock.now())
    assert str(explained.earliest) == f"{at_six(world.clock.now()):%Y-%m-%d %H:%M:%S} UTC"


def test_a_schedule_that_is_due_passes_them_all_and_would_fire(world: World) -> None:
    world.batch()
    now = world.clock.now()
    put_schedule(world, RunTimes=f"{now:%H:%M}", DecidedUntil=f"{now - timedelta(minutes=2):%Y-%m-%d %H:%M:%S}")
    enter(world)

    assert why(world, "schedule:nightly").blocking == ()
    world.sql("UPDATE Schedule SET Overlap = 'skip'")
    world.submit()
    world.create()
    gate = blocking(why(world, "schedule:nightly"))["overlap"]
    assert (gate.row, gate.clear) == ("BatchControl 1", "batchctl why 1")


def test_what_keeps_waiting_what_a_schedule_starts_is_noted(world: World) -> None:
    world.batch(Enabled=0)
    put_schedule(world)
    world.sql("INSERT INTO BatchFreeze (ProcessBatchName, Reason) VALUES ('B', 'the disk is full')")
    notes = why(world, "schedule:nightly").notes

    assert "What it starts waits: batch B is disabled." in notes
    assert any(note.startswith("What it starts waits: batch B is frozen since ") for note in notes)


def test_every_gate_of_a_schedule_can_block(world: World) -> None:
    now = world.clock.now()
    world.sql("INSERT INTO Calendar (CalendarName, BusinessDays) VALUES ('never today', ?)", "Mon")
    other = f"{now + timedelta(hours=2):%H:00}-{now + timedelta(hours=3):%H:00}"
    put_schedule(
        world,
        ScheduleType="interval",
        IntervalMinutes=30,
        RunTimes=None,
        BetweenTimes=other,
        CalendarName="never today",
        Enabled=0,
    )
    found = blocking(why(world, "schedule:nightly"))

    assert now.strftime("%a") != "Mon"
    assert {*found} == {"enabled", "entity", "calendar", "window", "due", "controller"}
    assert found["enabled"].clear == "batchctl schedule enable nightly --reason ..."
    assert "no business day of never today" in str(found["calendar"].blocked)
    assert f"BetweenTimes is {other}" in str(found["window"].blocked)
    world.batch(ProcessingMode="manual")
    assert blocking(why(world, "schedule:nightly"))["mode"].clear == "batchctl mode B scheduled --reason ..."
    world.sql("UPDATE Schedule SET BetweenTimes = NULL, EndDate = '1999-01-01', StartDate = '1999-01-02'")
    assert blocking(why(world, "schedule:nightly"))["timing"].clear == "batchctl check"


def test_a_trigger_is_explained_by_its_count_and_by_all_that_is_known_before(world: World) -> None:
    world.batch()
    put_trigger(world)
    enter(world)

    assert why(world, "trigger:orders", count(pending=5)).blocking == ()
    few = blocking(why(world, "trigger:orders", count(pending=4)))
    assert (few["rows"].blocked, few["rows"].row) == ("4 rows (threshold 5)", "DataTrigger 1")
    world.submit()
    assert "overlap" in blocking(why(world, "trigger:orders", count(pending=5)))
    world.sql("UPDATE DataTrigger SET Enabled = 0, Entity = 'nobody'")
    assert {*blocking(why(world, "trigger:orders", count(pending=5)))} == {"enabled", "entity"}


def test_a_table_that_cannot_be_counted_is_a_gate(world: World) -> None:
    def broken(trigger: object, ago: object) -> Counted:
        message = "connection 'w' is not in the configuration"
        raise ConfigurationError(message, next_step="add it")

    world.batch()
    put_trigger(world)
    enter(world)
    gate = blocking(why(world, "trigger:orders", broken))["rows"]

    assert (gate.blocked, gate.clear) == ("connection 'w' is not in the configuration", "add it")


@pytest.mark.parametrize("ref", ["schedule:nightli", "trigger:order", "shedule:nightly", "nightly", "triger:orders"])
def test_a_name_or_a_kind_that_is_misspelt_is_told_which_is_meant(world: World, ref: str) -> None:
    put_schedule(world)
    put_trigger(world)
    with pytest.raises((NotFound, InvalidInput)) as failure:
        why(world, ref)

    assert "Did you mean '" in failure.value.message
    assert ("nightly" if "nightl" in ref else "orders") in failure.value.message


def test_who_holds_a_resource_is_named_with_since_when(world: World) -> None:
    world.runner.script = lambda rendered: None
    for name in ("A", "B"):
        batch_id = world.batch(name)
        world.sql("INSERT INTO Resource (ResourceName) VALUES ('ftp')") if name == "A" else None
        world.sql("INSERT INTO BatchResource (ProcessBatch_id, Resource_id) VALUES (?, 1)", batch_id)
        world.submit(name)
    world.create()
    since = f"{world.clock.now():%Y-%m-%d %H:%M:%S} UTC"
    world.process()
    world.clock.advance(timedelta(minutes=3))
    gate = blocking(why(world, "2"))["resource ftp"]

    assert gate.blocked == (
        f"it needs 1 of the 1 units of ftp, and instances under way hold it: 1 of batch A (1 units; BatchControl 1 since {since})"
    )
    assert gate.row == "BatchControl 1"


def test_an_instance_behind_a_retry_waits_for_its_time_and_then_for_it(world: World) -> None:
    world.runner.script = lambda rendered: BAD
    world.batch(RetryCount=1)
    for _ in range(2):
        world.submit()
    world.create()
    world.process()
    enter(world)
    explained = why(world, "2")

    assert [gate.row for gate in explained.blocking] == ["BatchControl 1"]
    due = world.clock.now() + timedelta(minutes=5)
    assert str(explained.earliest) == f"not before {due:%Y-%m-%d %H:%M:%S} UTC, when what holds it ends"
    assert str(why(world, "1").earliest) == f"{due:%Y-%m-%d %H:%M:%S} UTC"


def test_a_row_is_held_back_by_what_holds_its_instance_back(world: World) -> None:
    world.batch()
    world.submit()
    world.submit()
    world.create()
    world.sql("UPDATE BatchControl SET Status = 'failed' WHERE BatchControl_id = 1")
    gate = blocking(why(world, "file:2"))["instances"]

    assert gate.blocked == "BatchControl 2: BatchControl 1 of the same batch is failed (OnFailure hold_batch)"
    assert (gate.row, gate.clear) == ("BatchControl 1", "batchctl why 2")


def test_a_row_that_is_a_duplicate_to_one_of_two_batches_waits_for_no_instance_of_that(world: World) -> None:
    for name, check in (("A", 1), ("B", 0)):
        world.batch(name, Entity="E", DuplicateCheck=check, OnFailure="continue", MaxConcurrent=2)
    for _ in range(2):
        world.submit("E", Data="same")
    world.create()
    world.sql("UPDATE ProcessBatch SET Enabled = 0 WHERE ProcessBatchName = 'A'")
    enter(world)
    world.sql("UPDATE Controller SET Slots = 2")
    (gate,) = why(world, "file:2").blocking

    assert (gate.name, gate.row) == ("created", "FileProcess 1")
    assert gate.blocked == "batch A makes no instance of it: same Data as FileProcess 1"
    assert str(why(world, "file:2").earliest) == "when a person acts"


def test_a_command_names_a_batch_as_one_word(world: World) -> None:
    world.batch("Load Orders", Enabled=0)

    assert blocking(why(world, "batch:Load Orders"))["enabled"].clear == "batchctl enable 'Load Orders' --reason ..."


def test_the_last_sign_of_life_is_told_where_no_controller_is(world: World) -> None:
    world.batch()
    enter(world, "gone:1")
    at = f"{world.clock.now():%Y-%m-%d %H:%M:%S} UTC"
    world.clock.advance(timedelta(hours=1))
    gate = blocking(why(world, "batch:B"))["controller"]

    assert gate.blocked == f"no controller is running; the last sign of life is of {at}, by gone:1"
    assert gate.row == "Controller 1"


def test_one_pass_that_does_everything_is_the_way_out_where_no_controller_is(world: World) -> None:
    world.batch()
    world.sql("INSERT INTO Schedule (ScheduleName, Entity, ScheduleType, RunTimes) VALUES ('s', 'B', 'daily', '06:00')")
    world.submit()
    ways_out = {blocking(why(world, ref))["controller"].clear for ref in ("schedule:s", "batch:B", "file:1")}

    assert ways_out == {"batchctl run   (or, for one pass: batchctl run --once)"}


def test_a_complete_row_starts_nothing_any_more(world: World) -> None:
    world.batch(steps=1)
    world.submit()
    world.create()
    world.process()
    explained = why(world, "file:1")

    assert blocking(explained)["status"].blocked == "it is complete"
    assert blocking(explained)["status"].clear == "batchctl inbox resend 1 --reason ...   (to run all of it once more)"
    assert str(explained.earliest) == "when a person acts"


def test_the_gate_of_a_pool_says_what_keeps_it_closed_until_a_controller_serves_it(world: World) -> None:
    world.sql("INSERT INTO Pool (PoolName, MaxConcurrent) VALUES ('ssis', 1)")
    world.step(world.batch(steps=0, MaxConcurrent=2), 10, Pool="SSIS")
    for _ in range(2):
        world.submit()
    world.create()
    enter(world)
    assert blocking(why(world, "1"))["pool"] == Gate(
        "pool",
        "no controller serves pool ssis (and none ever did)",
        "batchctl run --pool ssis   (on a host that has what its steps need)",
        "Pool 1",
    )
    world.sql("INSERT INTO ControllerPool (Controller_id, PoolName) VALUES (1, 'ssis')")
    assert "pool" not in blocking(why(world, "1"))
    world.sql("INSERT INTO Drain (Host, Reason) VALUES ('H', 'patches')")
    gate = blocking(why(world, "1"))["pool"]
    assert str(gate.blocked).startswith("only drained hosts serve pool ssis: host H is drained since ")
    assert (gate.clear, gate.row) == ("batchctl undrain --host H --reason ...", "Drain 1")
    world.sql("UPDATE Drain SET UndrainedTime = z_inserted")
    world.sql("UPDATE Pool SET Enabled = 0")
    assert blocking(why(world, "1"))["pool"].blocked == "pool ssis is disabled"
    world.sql("UPDATE Pool SET Enabled = 1")
    world.sql("INSERT INTO Drain (PoolName, Reason, Actor) VALUES ('SSIS', 'dtexec hangs', 'anna')")
    gate = blocking(why(world, "1"))["pool"]
    assert str(gate.blocked).endswith(" by anna: dtexec hangs")
    assert gate.clear == "batchctl undrain --pool SSIS --reason ..."
    world.sql("UPDATE Drain SET UndrainedTime = z_inserted")
    world.runner.script = lambda rendered: RUNS_ON
    world.turn_until_idle(world.controller("c1", pools=["ssis"], slots=2))

    gate = blocking(why(world, "2"))["pool"]
    assert gate.blocked == "1 instances have a step of pool ssis under way, its MaxConcurrent"
    assert gate.ends is Ends.HOLDER
