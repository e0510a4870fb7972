"""Laws 4 and 5: retries and failure policies."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from batchctl.control.controller import Controller
from batchctl.domain.moves import LOST_LIMIT, PUT_BACK_FOR, PUT_BACK_FOR_MOST
from batchctl.domain.outcomes import Rendered, StepOutcome
from batchctl.domain.rows import BatchInstance, InstanceId
from batchctl.ports import Finished
from batchctl.store import instances
from tests.control.world import BAD, FATAL, NO_WAIT, OK, RUNS_ON, World


def fail(world: World, seq: int, outcome: StepOutcome = BAD, *, instance: int = 1) -> None:
    """Let one step of one instance fail from now on."""

    def script(rendered: Rendered) -> StepOutcome:
        return outcome if rendered.command_text.startswith(f"step {seq} of {instance} ") else OK

    world.runner.script = script


def test_a_failing_step_runs_once_and_retry_count_times_more(world: World) -> None:
    fail(world, 20)
    world.batch(RetryCount=2, RetryWaitMins=5)
    world.submit()
    world.create()
    for _ in range(6):
        world.process()
        world.clock.advance(timedelta(minutes=5))

    assert world.statuses() == ["failed"]
    assert [entry[1:] for entry in world.history()] == [
        (10, 1, "auto", "success"),
        (20, 1, "auto", "failed"),
        (20, 2, "retry", "failed"),
        (20, 3, "retry", "failed"),
    ]
    assert world.sql("SELECT RetryCountAfter FROM BatchProcessHistory WHERE ProcessControlSeq = 20") == [
        (1,),
        (0,),
        (0,),
    ]


def test_nothing_starts_before_next_run_time(world: World) -> None:
    fail(world, 10)
    world.batch(RetryCount=1, RetryWaitMins=5)
    world.submit()
    world.create()
    world.process()
    world.clock.advance(timedelta(minutes=5) - timedelta(milliseconds=1))
    world.process()
    assert len(world.history()) == 1

    world.clock.advance(timedelta(milliseconds=1))
    world.process()
    assert len(world.history()) == 2


def test_a_waiting_controller_takes_the_retry_up_when_it_is_due(world: World) -> None:
    fail(world, 10)
    world.batch(steps=1, RetryCount=1)
    world.submit()
    world.create()
    controller = world.process()
    assert world.statuses() == ["retry"]

    world.runner.script = lambda rendered: OK
    world.clock.advance(timedelta(minutes=5))
    controller.turn(timedelta(0))
    world.turn_until_idle(controller)
    assert world.statuses() == ["complete"]


def test_success_resets_the_retries(world: World) -> None:
    fail(world, 10)
    world.batch(steps=2, RetryCount=2)
    world.submit()
    world.create()
    world.process()
    fail(world, 20)
    world.clock.advance(timedelta(minutes=5))
    world.process()

    assert world.sql("SELECT Status, RetryCount, PrevProcessControlSeq FROM BatchControl") == [("retry", 1, 10)]
    assert world.sql("SELECT RetryCountAfter FROM BatchProcessHistory") == [(1,), (2,), (1,)]


def test_a_fatal_failure_skips_the_retries(world: World) -> None:
    fail(world, 10, FATAL)
    world.batch(RetryCount=5)
    world.submit()
    world.create()
    world.process()

    assert world.statuses() == ["failed"]
    assert world.sql("SELECT Message, RetryCountAfter FROM BatchProcessHistory") == [("no use", 5)]


@pytest.mark.parametrize("retries", [0, 1])
def test_hold_batch_keeps_later_instances_of_the_batch_waiting_and_lets_others_go(world: World, retries: int) -> None:
    fail(world, 10)
    world.batch("bad", RetryCount=retries, Seq=1)
    world.batch("good", Seq=2)
    world.submit("bad", "1")
    world.submit("bad", "2")
    world.submit("good", "3")
    world.create()
    world.process()

    assert world.statuses() == ["retry" if retries else "failed", "ready", "complete"]


def test_hold_batch_passes_over_paused_and_cancelled_instances(world: World) -> None:
    world.batch()
    for number in range(3):
        world.submit(file_name=str(number))
    world.create()
    world.sql("UPDATE BatchControl SET Status = 'paused' WHERE BatchControl_id = 1")
    world.sql("UPDATE BatchControl SET Status = 'cancelled' WHERE BatchControl_id = 2")
    world.process()

    assert world.statuses() == ["paused", "cancelled", "complete"]


@pytest.mark.parametrize(("retries", "status"), [(0, "failed"), (1, "retry")])
def test_stop_all_stops_everything_until_the_failure_is_dealt_with(world: World, retries: int, status: str) -> None:
    fail(world, 10)
    world.batch("bad", Seq=1, OnFailure="stop_all", RetryCount=retries)
    world.batch("good", Seq=2)
    world.submit("bad")
    world.submit("good")
    world.create()
    world.process()
    assert world.statuses() == [status, "ready"]

    world.sql("UPDATE BatchControl SET Status = 'cancelled' WHERE BatchControl_id = 1")
    world.process()
    assert world.statuses() == ["cancelled", "complete"]


def test_where_failures_keep_nobody_back_those_that_wait_for_their_retry_are_not_even_read(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.batch(OnFailure="CONTINUE")
    for number in range(20):
        world.submit(file_name=f"f{number}")
    world.create()
    world.sql(
        "UPDATE BatchControl SET Status = 'retry', NextRunTime = '2999-01-01 00:00:00' WHERE BatchControl_id < 20"
    )
    read = list[InstanceId]()

    def reading(row: Any) -> BatchInstance:
        read.append(row.BatchControl_id)
        return instance(row)

    instance = instances.instance
    monkeypatch.setattr(instances, "instance", reading)
    world.process()

    assert world.statuses()[-1] == "complete"
    assert set(read) == {20}


def test_continue_goes_on_with_the_next_instance(world: World) -> None:
    fail(world, 10)
    world.batch(OnFailure="CONTINUE", RetryCount=1)
    for number in range(20):
        world.submit(file_name=str(number))
    world.create()
    world.process()

    assert world.statuses() == ["retry"] + ["complete"] * 19


def test_a_held_instance_keeps_its_batch_waiting(world: World) -> None:
    world.batch()
    world.submit(file_name="1")
    world.submit(file_name="2")
    world.create()
    world.sql("UPDATE BatchControl SET Status = 'held' WHERE BatchControl_id = 1")
    world.process()

    assert world.statuses() == ["held", "ready"]
    assert world.history() == []


def test_the_pass_reports_what_failed(world: World) -> None:
    fail(world, 10)
    world.batch()
    world.submit()
    world.create()
    report = world.process().tally.report()

    assert (report.started, report.succeeded, report.failed, report.completed) == (1, 0, 1, 0)
    assert report.failed_instances == (1,)


def test_stop_all_lets_the_failures_own_retry_go_on_and_everything_after_it(world: World) -> None:
    fail(world, 10)
    world.batch("bad", Seq=2, OnFailure="stop_all", RetryCount=1)
    world.batch("good", Seq=1)
    world.submit("bad")
    world.create()
    world.process()
    world.submit("good")
    world.create()
    world.process()
    assert world.statuses() == ["retry", "ready"]

    world.runner.script = lambda rendered: OK
    world.clock.advance(timedelta(minutes=5))
    world.process()
    assert world.statuses() == ["complete", "complete"]


def test_what_a_failure_keeps_from_starting_takes_no_place_from_the_failures_own_retry(world: World) -> None:
    world.batch(OnFailure="stop_all", RetryCount=1)
    for number in range(3):
        world.submit(file_name=f"f{number}")
    world.create()
    world.sql("UPDATE BatchControl SET Status = 'retry' WHERE BatchControl_id = 3")
    world.process()

    assert world.history()[0] == (3, 10, 1, "auto", "success")
    assert world.statuses() == ["complete"] * 3


def test_two_stop_all_failures_retry_one_after_the_other(world: World) -> None:
    world.runner.script = lambda rendered: BAD
    world.batch("one", OnFailure="stop_all", RetryCount=1)
    world.batch("two", OnFailure="stop_all", RetryCount=1)
    world.submit("one")
    world.submit("two")
    world.create()
    world.process(slots=2)
    assert world.statuses() == ["retry", "retry"]

    world.runner.script = lambda rendered: OK
    world.clock.advance(timedelta(minutes=5))
    world.process(slots=2)
    assert world.statuses() == ["complete", "complete"]


LOST = StepOutcome(succeeded=False, lost=True, message="the connection was lost", stopped=True)


@pytest.mark.parametrize(
    ("on_lost", "status", "again"),
    [("hold", "held", []), ("rerun", "running", ["retry"]), ("verify", "running", ["verify"])],
)
def test_what_nobody_knows_the_end_of_is_decided_by_on_lost(
    world: World, on_lost: str, status: str, again: list[str]
) -> None:
    fail(world, 10, LOST)
    batch_id = world.batch(steps=0, RetryCount=1)
    world.step(batch_id, 10, OnLost=on_lost)
    world.submit()
    world.create()
    controller = world.controller()
    controller.turn(NO_WAIT)
    controller.turn(NO_WAIT)

    assert world.statuses() == [status]
    assert world.history()[0] == (1, 10, 1, "auto", "lost")
    assert [entry[3] for entry in world.history()[1:]] == again
    assert world.one("SELECT Message FROM BatchProcessHistory WHERE AttemptNo = 1") == "the connection was lost"
    assert world.sql("SELECT RetryCount, LostCount FROM BatchControl") == [(1, 1)]


def test_an_end_is_recorded_with_the_time_it_came_not_with_that_of_the_record(world: World) -> None:
    world.batch(steps=1)
    world.submit()
    world.create()
    world.runner.script = lambda rendered: None
    controller = world.controller()
    controller.turn(NO_WAIT)
    (key,) = world.runner.open
    world.clock.advance(timedelta(seconds=3))
    world.runner.reports.append(Finished(key, OK, None, world.clock.now()))
    ended = world.clock.now()
    world.clock.advance(timedelta(seconds=60))
    controller.turn(NO_WAIT)

    assert world.statuses() == ["complete"]
    expected = ended.replace(tzinfo=None).isoformat(" ", "milliseconds")
    assert world.sql("SELECT EndTime FROM BatchProcessHistory") == [(expected,)]


def test_no_end_lies_behind_its_record_when_the_databases_clock_was_set_back(world: World) -> None:
    controller = world.running()
    (key,) = world.runner.open
    world.clock.advance(timedelta(hours=1))
    world.runner.open.clear()
    world.runner.reports.append(Finished(key, OK, None, world.clock.now()))
    world.clock.advance(timedelta(minutes=-30))
    controller.turn(NO_WAIT)

    (first, second) = world.sql("SELECT StartTime, EndTime FROM BatchProcessHistory ORDER BY BatchProcessHistory_id")
    assert first[1] == second[0]


def not_begun(world: World, **step: object) -> Controller:
    """Let a controller hear that its host could not begin a step."""
    world.runner.script = lambda rendered: RUNS_ON
    batch_id = world.batch(steps=0, RetryCount=0)
    world.step(batch_id, 10, **step)
    world.submit()
    world.create()
    controller = world.process()
    world.runner.put_back(world.runner.started[-1], "not started: no process to be had")
    return controller


@pytest.mark.parametrize("on_lost", ["hold", "rerun", "verify"])
def test_what_its_host_could_not_begin_is_put_back_for_a_while_and_costs_nothing(world: World, on_lost: str) -> None:
    controller = not_begun(world, OnLost=on_lost)
    for times in range(1, LOST_LIMIT + 3):
        world.turn_until_idle(controller)
        assert world.sql("SELECT Status, RetryCount, LostCount FROM BatchControl") == [("retry", 0, 0)]
        assert world.history()[-1] == (1, 10, times, "auto" if times == 1 else "retry", "lost")
        world.clock.advance(PUT_BACK_FOR - timedelta(seconds=1))
        controller.turn(NO_WAIT)
        assert len(world.runner.started) == times, "it does not spin"
        world.clock.advance(timedelta(seconds=1))
        controller.turn(NO_WAIT)
        world.turn_until_idle(controller)
        world.runner.put_back(world.runner.started[-1], "not started: no process to be had")

    assert world.sql("SELECT DISTINCT Message, Spawned FROM BatchProcessHistory WHERE Status = 'lost'") == [
        ("not started: no process to be had", None)
    ]
    assert ("step.ended", "lost") in {(event.name, event.fields.get("Status")) for event in world.events}
    world.turn_until_idle(controller)
    world.runner.script = lambda rendered: OK
    world.clock.advance(PUT_BACK_FOR)
    controller.turn(NO_WAIT)
    world.turn_until_idle(controller)
    assert world.statuses() == ["complete"]
    assert {entry[3] for entry in world.history()} == {"auto", "retry"}, "nothing has to be verified"


def test_what_its_host_does_not_have_is_left_alone_longer_each_time_and_costs_nothing(world: World) -> None:
    lacking = StepOutcome(succeeded=False, never_ran=True, message="not started: no such job")
    world.runner.script = lambda rendered: lacking
    world.batch(steps=1)
    world.submit()
    world.create()
    controller, waits = world.process(), []
    for _ in range(22):
        ((status, left, lost, due),) = world.sql("SELECT Status, RetryCount, LostCount, NextRunTime FROM BatchControl")
        assert (status, left, lost) == ("retry", 0, 0)
        with world.transactions.read() as connection:
            next_run = instances.next_due(connection, world.clock.now())
        assert next_run is not None, due
        waits.append(next_run - world.clock.now())
        world.clock.advance(waits[-1])
        controller.turn(NO_WAIT)
        world.turn_until_idle(controller)

    assert waits[:3] == [PUT_BACK_FOR, 2 * PUT_BACK_FOR, 3 * PUT_BACK_FOR]
    assert waits[-2:] == [PUT_BACK_FOR_MOST, PUT_BACK_FOR_MOST]
    world.runner.script = lambda rendered: BAD
    world.clock.advance(PUT_BACK_FOR_MOST)
    controller.turn(NO_WAIT)
    world.turn_until_idle(controller)
    assert world.statuses() == ["failed"]
    world.runner.script = lambda rendered: lacking
    world.sql("UPDATE BatchControl SET Status = 'ready'")
    controller.turn(NO_WAIT)
    world.turn_until_idle(controller)
    assert world.sql("SELECT Status, NextRunTime FROM BatchControl") == [
        ("retry", f"{world.clock.now() + PUT_BACK_FOR:%Y-%m-%d %H:%M:%S}.000")
    ], "the first time since it ran"
    world.runner.script = lambda rendered: OK
    world.clock.advance(PUT_BACK_FOR_MOST)
    controller.turn(NO_WAIT)
    world.turn_until_idle(controller)
    assert world.statuses() == ["complete"]


@pytest.mark.parametrize(("asked", "left"), [("cancelling", "cancelled"), ("pausing", "paused")])
def test_what_could_not_be_begun_heeds_what_a_person_asked_meanwhile(world: World, asked: str, left: str) -> None:
    controller = not_begun(world)
    world.sql("UPDATE BatchControl SET Status = ?", asked)
    world.turn_until_idle(controller)

    assert world.statuses() == [left]
