"""Durations, pausing, cancelling, fencing, ending."""

from __future__ import annotations

from datetime import timedelta

import pytest

from batchctl.control import in_flight
from batchctl.domain.commands import Identity
from batchctl.domain.errors import DatabaseRefused
from tests.control.world import BAD, NO_WAIT, OK, RUNS_ON, World


def test_a_step_beyond_max_duration_is_stopped_and_counts_as_a_failure(world: World) -> None:
    controller = world.running(MaxDuration=60)
    world.clock.advance(timedelta(seconds=59))
    controller.turn(NO_WAIT)
    assert world.runner.stopped == []

    world.clock.advance(timedelta(seconds=1))
    world.turn_until_idle(controller)
    assert world.history() == [(1, 10, 1, "auto", "timeout")]
    assert world.statuses() == ["retry"]
    assert "60 s" in world.one("SELECT Message FROM BatchProcessHistory")


def test_a_step_that_succeeds_while_it_is_being_stopped_has_succeeded(world: World) -> None:
    controller = world.running(MaxDuration=60)
    world.clock.advance(timedelta(seconds=61))
    key = world.runner.started[-1]
    world.runner.end(key, OK)
    world.turn_until_idle(controller)

    assert world.history()[0] == (1, 10, 1, "auto", "success")


def test_alarm_duration_is_reported_once(world: World) -> None:
    controller = world.running(AlarmDuration=30)
    for _ in range(3):
        world.clock.advance(timedelta(seconds=30))
        controller.turn(NO_WAIT)

    assert world.names().count("step.alarm") == 1
    assert world.statuses() == ["running"]


def test_pausing_lets_the_running_step_finish_and_starts_no_other(world: World) -> None:
    controller = world.running()
    world.sql("UPDATE BatchControl SET Status = 'pausing'")
    controller.turn(NO_WAIT)
    assert world.runner.stopped == []

    world.runner.end(world.runner.started[-1], OK)
    world.turn_until_idle(controller)
    assert world.sql("SELECT Status, PrevProcessControlSeq, ClaimedBy FROM BatchControl") == [("paused", 10, None)]


def test_pausing_a_step_that_fails_keeps_its_retry_for_later(world: World) -> None:
    controller = world.running()
    world.sql("UPDATE BatchControl SET Status = 'pausing'")
    world.runner.end(world.runner.started[-1], BAD)
    world.turn_until_idle(controller)

    assert world.sql("SELECT Status, RetryCount, NextRunTime > '2026-01-01' FROM BatchControl") == [("paused", 0, True)]


def test_a_success_resets_the_retries_also_when_a_hand_has_changed_them(world: World) -> None:
    controller = world.running()
    world.sql("UPDATE BatchControl SET RetryCount = 0")
    world.runner.end(world.runner.started[-1], OK)
    controller.turn(NO_WAIT)

    assert world.sql("SELECT RetryCount, PrevProcessControlSeq FROM BatchControl") == [(1, 10)]


def test_a_failure_counts_from_what_a_hand_has_written(world: World) -> None:
    controller = world.running()
    world.sql("UPDATE BatchControl SET RetryCount = 5")
    world.runner.end(world.runner.started[-1], BAD)
    world.turn_until_idle(controller)

    assert world.sql("SELECT Status, RetryCount FROM BatchControl") == [("retry", 4)]


def test_cancelling_stops_the_running_step(world: World) -> None:
    controller = world.running()
    world.sql("UPDATE BatchControl SET Status = 'cancelling'")
    world.turn_until_idle(controller)

    assert world.statuses() == ["cancelled"]
    assert world.history() == [(1, 10, 1, "auto", "cancelled")]
    assert world.one("SELECT RetryCount FROM BatchControl") == 1


def test_a_cancel_that_comes_too_late_leaves_the_success_standing(world: World) -> None:
    controller = world.running()
    world.runner.end(world.runner.started[-1], OK)
    world.sql("UPDATE BatchControl SET Status = 'cancelling'")
    world.turn_until_idle(controller)

    assert world.sql("SELECT Status, PrevProcessControlSeq FROM BatchControl") == [("cancelled", 10)]
    assert world.history() == [(1, 10, 1, "auto", "success")]


def test_an_outcome_under_an_old_token_changes_nothing_and_is_fenced(world: World) -> None:
    controller = world.running()
    world.sql("UPDATE BatchControl SET ClaimToken = ClaimToken + 1, ClaimedBy = 'another'")
    world.runner.end(world.runner.started[-1], OK)
    world.turn_until_idle(controller)

    assert world.history() == [(1, 10, 1, "auto", "fenced")]
    assert world.sql("SELECT Status, ClaimedBy, PrevProcessControlSeq FROM BatchControl") == [("running", "another", 0)]
    assert "step.fenced" in world.names()
    report = controller.tally.report()
    assert (report.failed, report.failed_instances) == (0, ()), "somebody else goes on with it: nothing has failed"


def test_an_instance_whose_token_a_hand_has_changed_is_held(world: World) -> None:
    controller = world.running()
    world.sql("UPDATE BatchControl SET ClaimToken = 9")
    world.turn_until_idle(controller)

    assert world.history() == [(1, 10, 1, "auto", "fenced")]
    assert world.sql("SELECT Status, ClaimedBy, PrevProcessControlSeq FROM BatchControl") == [("held", None, 0)]


@pytest.mark.parametrize(
    "change", ["Status = 'failed'", "ClaimToken = 9, ClaimedBy = 'c9'", "Status = 'ready', ClaimedBy = NULL"]
)
def test_an_instance_taken_away_by_hand_stops_its_step_and_stays_as_the_hand_left_it(world: World, change: str) -> None:
    controller = world.running()
    world.sql(f"UPDATE BatchControl SET {change}")
    before = world.sql("SELECT Status, ClaimToken, PrevProcessControlSeq, RetryCount FROM BatchControl")
    controller.turn(NO_WAIT)
    controller.request_stop()
    world.turn_until_idle(controller)

    assert world.runner.stopped == world.runner.started[:1]
    assert world.history() == [(1, 10, 1, "auto", "fenced")]
    assert world.sql("SELECT Status, ClaimToken, PrevProcessControlSeq, RetryCount FROM BatchControl") == before


def test_what_is_still_being_stopped_keeps_later_instances_waiting_once_it_is_held(world: World) -> None:
    world.runner.script = lambda rendered: RUNS_ON
    world.batch(steps=1, MaxConcurrent=2)
    world.submit()
    world.create()
    controller = world.controller(slots=2)
    world.turn_until_idle(controller)
    world.submit()
    world.create()
    world.sql(
        "UPDATE BatchControl SET Status = 'held', ClaimedBy = NULL, ClaimToken = ClaimToken + 1"
        " WHERE BatchControl_id = 1"
    )
    for _ in range(3):
        controller.turn(NO_WAIT)

    assert world.runner.stopped == world.runner.started == [1]
    assert world.statuses() == ["held", "ready"]


def test_a_change_noticed_while_the_database_fails_is_not_forgotten(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.batch("A", steps=1)
    controller = world.process()
    world.batch("B", steps=1)
    world.submit("B")
    world.create()
    with monkeypatch.context() as broken:
        broken.setattr(world.transactions, "read", fails)
        controller.turn(NO_WAIT)
    world.turn_until_idle(controller)

    assert world.statuses() == ["complete"]


def fails() -> None:
    """Be a database that cannot be read."""
    message = "it cannot be read"
    raise DatabaseRefused(message)


def test_a_deleted_running_instance_stops_its_step(world: World) -> None:
    controller = world.running()
    world.hand.loosen()
    world.sql("DELETE FROM BatchControl")
    world.turn_until_idle(controller)

    assert world.runner.stopped == world.runner.started
    assert world.one("SELECT Status FROM BatchProcessHistory") == "fenced"


def test_the_process_of_a_running_step_is_recorded(world: World) -> None:
    controller = world.running()
    world.runner.spawn(
        world.runner.started[-1], Identity(pid=4711, pid_start="99", boot_id="b", spawned_at=world.clock.now())
    )
    controller.turn(NO_WAIT)
    assert world.one("SELECT Pid FROM BatchProcessHistory") is None, "it may end at once"
    world.clock.advance(timedelta(seconds=in_flight.SHORT))
    controller.turn(NO_WAIT)

    recorded = "SELECT Pid, PidStart, BootId, Spawned FROM BatchProcessHistory"
    assert world.sql(recorded) == [(4711, "99", "b", "2026-11-21 03:00:00.000")]
    world.runner.end(world.runner.started[-1], OK)
    controller.turn(NO_WAIT)
    assert world.sql(recorded)[0] == (4711, "99", "b", "2026-11-21 03:00:00.000")


def test_a_controller_told_to_stop_finishes_the_step_and_starts_no_other(world: World) -> None:
    controller = world.running()
    controller.request_stop()
    world.runner.end(world.runner.started[-1], OK)
    world.turn_until_idle(controller)

    assert world.sql("SELECT Status, PrevProcessControlSeq, ClaimedBy FROM BatchControl") == [("ready", 10, None)]


def test_a_step_that_cannot_go_on_alone_is_stopped_with_its_controller_and_lost(world: World) -> None:
    controller = world.running()
    controller.request_stop()
    controller.leave_steps()
    world.turn_until_idle(controller)

    assert world.history() == [(1, 10, 1, "auto", "lost")]
    assert world.statuses() == ["held"]
    assert "because the controller ended" in world.one("SELECT Message FROM BatchProcessHistory")


def test_a_step_that_can_go_on_alone_is_left_as_it_is(world: World) -> None:
    controller = world.running()
    world.runner.goes_on_alone = True
    controller.request_stop()
    controller.leave_steps()
    world.turn_until_idle(controller)

    assert not controller.is_working
    assert world.runner.stopped == []
    assert world.runner.released == world.runner.started
    assert world.history() == [(1, 10, 1, "auto", "running")]
    assert world.sql("SELECT Status, ClaimedBy, ClaimToken FROM BatchControl") == [("running", "c1", 1)]
    assert "step.left" in world.names()


def test_a_step_that_is_being_stopped_is_not_left(world: World) -> None:
    controller = world.running(MaxDuration=60)
    world.runner.goes_on_alone = True
    world.runner.stops_at_once = False
    world.clock.advance(timedelta(seconds=61))
    controller.turn(NO_WAIT)
    controller.request_stop()
    controller.leave_steps()

    assert world.runner.released == []
    assert controller.is_flying


def test_an_outcome_is_kept_while_the_database_is_busy(world: World) -> None:
    controller = world.running()
    world.runner.end(world.runner.started[-1], OK)
    world.hand.begin_writing()
    world.be_impatient()
    controller.turn(NO_WAIT)
    assert "controller.waiting" in world.names()

    world.sql("ROLLBACK")
    assert "controller.resumed" not in world.names()
    world.turn_until_idle(controller)
    assert world.history()[0] == (1, 10, 1, "auto", "success")
    assert world.names().count("controller.resumed") == 1
    assert world.names().index("controller.waiting") < world.names().index("controller.resumed")
