"""Law 6: who was frozen, and taken for dead, finds out."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

from batchctl.control.controller import Controller
from batchctl.domain.commands import Identity
from batchctl.domain.rows import HistoryId
from tests.control.silence import (
    RHYTHM,
    STANDS,
    STEP,
    WRITTEN,
    adopted,
    elsewhere,
    look,
    running,
    wait_until_dead,
)
from tests.control.world import BAD, NO_WAIT, OK, RUNS_ON, ScriptedRunner, World


def test_a_frozen_controller_lets_go_of_what_another_has_adopted(world: World) -> None:
    second, runner, first = adopted(world)
    world.runner.goes_on_alone = True
    first.look_closely()
    first.turn(NO_WAIT)

    assert (world.runner.stopped, world.runner.released) == ([], [STEP])
    assert not first.is_working
    assert "step.taken_over" in world.names()
    assert world.sql(STANDS) == [("running", 2, "c2", 0)]
    runner.end(STEP, OK)
    second.turn(NO_WAIT)
    assert world.history()[0] == (1, 10, 1, "auto", "success")


def test_the_end_of_an_adopted_step_counts_only_as_its_adopter_records_it(world: World) -> None:
    second, runner, first = adopted(world)
    world.runner.end(STEP, BAD)
    for _ in range(3):
        first.turn(NO_WAIT)
    assert world.sql(STANDS) == [("running", 2, "c2", 0)]
    assert world.sql(WRITTEN) == [("running", 2, "c1")]
    runner.end(STEP, OK)
    second.turn(NO_WAIT)

    assert world.history()[0] == (1, 10, 1, "auto", "success")
    assert not first.is_working


def test_a_frozen_controller_stops_what_another_has_written_off_and_says_how_it_ended(world: World) -> None:
    first = running(world)
    rescue, _ = elsewhere(world)
    wait_until_dead(world, rescue)
    look(rescue)
    first.look_closely()
    for _ in range(3):
        first.turn(NO_WAIT)

    assert world.runner.stopped == [STEP]
    assert not first.is_working
    assert world.sql(STANDS) == [("held", 1, None, 1)]
    assert world.sql(WRITTEN) == [("lost", 1, "c1")]
    assert "; late result, known since 20" in world.one("SELECT Message FROM BatchProcessHistory")


def test_a_success_that_comes_too_late_is_noted_and_changes_nothing(world: World) -> None:
    first = running(world)
    rescue, _ = elsewhere(world)
    wait_until_dead(world, rescue)
    look(rescue)
    world.runner.end(STEP, OK)
    first.turn(NO_WAIT)
    message = world.one("SELECT Message FROM BatchProcessHistory")

    assert "it is unknown how it ended" in message
    assert message.endswith("UTC: success")
    assert world.sql(STANDS) == [("held", 1, None, 1)]
    assert world.one("SELECT PrevProcessControlSeq FROM BatchControl") == 0


def test_a_late_result_never_touches_the_attempt_that_followed(world: World) -> None:
    first = running(world, OnLost="rerun")
    rescue, _ = elsewhere(world)
    wait_until_dead(world, rescue)
    look(rescue)
    world.clock.advance(timedelta(minutes=5))
    runner = ScriptedRunner(script=lambda rendered: RUNS_ON)
    second = world.controller("c2", transactions=world.open(), runner=runner)
    world.turn_until_idle(second)
    before = world.sql("SELECT * FROM BatchControl"), world.sql("SELECT * FROM BatchProcessHistory WHERE AttemptNo = 2")
    world.runner.end(STEP, OK)
    for _ in range(3):
        first.turn(NO_WAIT)

    assert runner.open, "the second attempt is under way"
    after = world.sql("SELECT * FROM BatchControl"), world.sql("SELECT * FROM BatchProcessHistory WHERE AttemptNo = 2")
    assert after == before


def leashed_and_not(world: World, is_trusted: Callable[[], bool]) -> Controller:
    """Let a step that may be repeated and one that may not run under one controller."""
    world.runner.script = lambda rendered: RUNS_ON
    for name, on_lost in (("A", "rerun"), ("B", "hold"), ("C", "hold")):
        world.step(world.batch(name, steps=0), 10, OnLost=on_lost, MaxLost=0)
        world.submit(name)
    world.sql("UPDATE ProcessBatch SET Enabled = 0 WHERE ProcessBatchName = 'C'")
    world.create()
    controller = world.controller(slots=9, is_trusted=is_trusted)
    world.turn_until_idle(controller)
    return controller


def test_who_may_have_been_taken_for_dead_begins_nothing_and_stops_only_what_others_may_repeat(world: World) -> None:
    trusted = True
    controller = leashed_and_not(world, lambda: trusted)
    assert world.runner.lease_bound == {HistoryId(1)}
    trusted = False
    world.sql("UPDATE ProcessBatch SET Enabled = 1")
    for _ in range(4):
        controller.turn(NO_WAIT)
    untrusted = world.history()
    trusted = True
    controller.look_again()
    controller.turn(NO_WAIT)
    controller.turn(NO_WAIT)

    assert world.runner.stopped == [HistoryId(1)]
    assert untrusted == [(1, 10, 1, "auto", "lost"), (2, 10, 1, "auto", "running")]
    assert [entry[0] for entry in world.history()] == [1, 2, 3], "trusted again, it goes on"


def test_trust_lasts_as_long_as_the_lease(world: World) -> None:
    member = world.membership(process=Identity(pid=1, pid_start="2", boot_id="b"))
    member.begin()
    controller = leashed_and_not(world, member.is_trusted)
    world.clock.advance(RHYTHM.lease - timedelta(milliseconds=1))
    controller.turn(NO_WAIT)
    within = list(world.runner.stopped)
    world.clock.advance(timedelta(milliseconds=1))
    controller.turn(NO_WAIT)

    assert (within, world.runner.stopped) == ([], [HistoryId(1)])
    assert member.beat(), "it says that others may have taken over meanwhile"
    assert member.is_trusted()
    assert not member.beat()
