"""Laws 6 and 7 among several controllers: who lives is left alone, who is dead is rescued once."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

import pytest

from batchctl.control.rescue import Rescue, Rescued
from batchctl.domain.errors import DatabaseRefused
from batchctl.domain.liveness import Rhythm, Sighting
from batchctl.domain.rows import HistoryId
from batchctl.ports import Trace
from tests.control.silence import (
    RHYTHM,
    RUNNING,
    STANDS,
    STEP,
    WRITTEN,
    elsewhere,
    look,
    running,
    wait_until_dead,
)
from tests.control.world import NO_WAIT, OK, PROCESS, RUNS_ON, ScriptedRunner, World


def test_a_living_controller_keeps_its_step_however_long_that_runs(world: World) -> None:
    running(world)
    rescue, runner = elsewhere(world)
    member = world.membership(transactions=world.open())
    for _ in range(5 * 60 // 4):
        world.clock.advance(timedelta(minutes=4))
        member.beat()
        assert look(rescue) == Rescued()

    assert world.sql(STANDS) == RUNNING
    assert runner.examined == []


def test_a_silent_controller_is_rescued_after_its_time(world: World) -> None:
    running(world)
    rescue, runner = elsewhere(world)
    wait_until_dead(world, rescue)
    world.clock.advance(timedelta(seconds=-1))
    assert look(rescue) == Rescued()
    world.clock.advance(timedelta(seconds=1))
    rescued = look(rescue)

    assert rescued.lost == (1,)
    assert world.sql(STANDS) == [("held", 1, None, 1)]
    assert world.sql(WRITTEN) == [("lost", 1, "c1")]
    assert world.one("SELECT Status FROM Controller") == "lost"
    assert runner.examined == ["c1"]
    assert {"step.lost", "controller.lost"} <= set(world.names())


def test_who_is_set_to_a_longer_silence_is_given_that_time_by_everybody(world: World) -> None:
    running(world, OnLost="rerun")
    world.sql("DELETE FROM Controller")
    longer = Rhythm(orphan_timeout=4 * RHYTHM.orphan_timeout - timedelta(milliseconds=1))
    world.membership(rhythm=longer).begin()
    assert world.sql("SELECT OrphanTimeoutSecs FROM Controller") == [(1200,)], "it may count on more, but not on less"
    rescue, _ = elsewhere(world)
    wait_until_dead(world, rescue)
    world.clock.advance(2 * RHYTHM.orphan_timeout)
    assert look(rescue) == Rescued()
    assert world.sql(STANDS) == RUNNING
    world.clock.advance(RHYTHM.orphan_timeout)

    assert look(rescue).lost == (1,)


class Notes:
    """What a host has noted."""

    def __init__(self) -> None:
        self.seen: dict[str, Sighting] = {}

    def recall(self) -> Mapping[str, Sighting]:
        return dict(self.seen)

    def note(self, sightings: Mapping[str, Sighting]) -> None:
        self.seen = dict(sightings)


def test_passes_that_cron_starts_see_together_that_a_controller_of_another_host_is_silent(world: World) -> None:
    running(world)
    notes = Notes()

    def passed(name: str) -> Rescued:
        """Look once, as one that ends at once does."""
        return look(world.rescue(name, transactions=world.open(), noted=notes))

    assert passed("p1") == Rescued()
    world.clock.advance(RHYTHM.orphan_timeout - timedelta(seconds=1))
    world.sql("UPDATE Controller SET HeartbeatSeq = HeartbeatSeq + 1")
    assert passed("p2") == Rescued(), "it lives"
    world.clock.advance(RHYTHM.orphan_timeout - timedelta(seconds=1))
    assert passed("p3") == Rescued()
    world.clock.advance(timedelta(seconds=1))

    assert passed("p4").lost == (1,)
    assert passed("p5") == Rescued()
    assert notes.seen == {}, "nothing is noted of who has ended"


@pytest.mark.parametrize("heartbeat", ["2000-01-01 00:00:00.000", "2099-01-01 00:00:00.000"])
def test_no_wall_clock_says_who_is_dead(world: World, heartbeat: str) -> None:
    running(world)
    rescue, _ = elsewhere(world)
    world.sql("UPDATE Controller SET Heartbeat = ?", heartbeat)
    wait_until_dead(world, rescue)
    world.sql("UPDATE Controller SET HeartbeatSeq = HeartbeatSeq + 1")
    assert look(rescue) == Rescued()
    world.clock.advance(RHYTHM.orphan_timeout)

    assert look(rescue).lost == (1,)


def test_one_whose_process_is_gone_is_rescued_at_once(world: World) -> None:
    running(world)
    rescue, runner = elsewhere(world)
    runner.gone = lambda row: row.pid == PROCESS.pid

    assert look(rescue).lost == (1,)


def test_one_whose_row_somebody_has_deleted_is_waited_for_like_any_that_is_silent(world: World) -> None:
    running(world)
    rescue, runner = elsewhere(world)
    assert look(rescue) == Rescued()
    world.clock.advance(timedelta(minutes=4))
    world.sql("DELETE FROM Controller")
    assert look(rescue) == Rescued()
    world.clock.advance(timedelta(minutes=4, seconds=59))
    assert look(rescue) == Rescued()
    assert runner.examined == []

    world.clock.advance(timedelta(seconds=1))
    assert look(rescue).lost == (1,)


def test_one_that_lives_enters_its_deleted_row_anew_and_keeps_its_step(world: World) -> None:
    running(world)
    rescue, runner = elsewhere(world)
    member = world.membership(transactions=world.open())
    for _ in range(3):
        world.sql("DELETE FROM Controller")
        assert look(rescue) == Rescued()
        world.clock.advance(timedelta(minutes=4))
        member.beat()
        assert look(rescue) == Rescued()

    assert world.sql(STANDS) == RUNNING
    assert runner.examined == []


def test_one_whose_process_is_gone_is_rescued_at_once_although_its_row_was_deleted(world: World) -> None:
    running(world)
    rescue, runner = elsewhere(world)
    look(rescue)
    world.sql("DELETE FROM Controller")
    runner.gone = lambda row: row.pid == PROCESS.pid

    assert look(rescue).lost == (1,)


def test_a_claim_that_bears_no_name_is_nobodys(world: World) -> None:
    running(world)
    world.sql("DELETE FROM Controller")
    world.sql("UPDATE BatchControl SET ClaimedBy = NULL")
    world.sql("UPDATE BatchProcessHistory SET ClaimedBy = NULL")
    rescue, _ = elsewhere(world)

    assert look(rescue).lost == (1,)


CHANGES = {
    "a sign of life": "UPDATE Controller SET HeartbeatSeq = HeartbeatSeq + 1",
    "another claim": "UPDATE BatchProcessHistory SET ClaimToken = ClaimToken + 1",
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("trace", [Trace.GONE, Trace.LEFT_OVER, Trace.NEVER_RAN, Trace.ADOPTABLE])
def test_what_comes_between_the_look_and_the_write_stops_the_rescue(world: World, change: str, trace: Trace) -> None:
    running(world)
    rescue, runner = elsewhere(world, trace=trace)
    wait_until_dead(world, rescue)
    runner.meanwhile = lambda: world.sql(CHANGES[change])

    assert look(rescue) == Rescued()
    assert runner.stopped_left_over == [], "it is not stopped for nothing"
    assert world.sql(STANDS) == RUNNING
    assert world.one("SELECT Status FROM BatchProcessHistory") == "running"
    if change == "a sign of life":
        assert world.one("SELECT Status FROM Controller") == "running"


@pytest.mark.parametrize("trace", [Trace.GONE, Trace.LEFT_OVER, Trace.NEVER_RAN, Trace.ADOPTABLE])
def test_an_end_that_is_recorded_between_the_look_and_the_write_stands(world: World, trace: Trace) -> None:
    first = running(world)
    rescue, runner = elsewhere(world, trace=trace)
    wait_until_dead(world, rescue)
    world.runner.end(STEP, OK)
    runner.meanwhile = lambda: first.turn(NO_WAIT)

    assert look(rescue) == Rescued()
    assert runner.stopped_left_over == []
    assert world.history() == [(1, 10, 1, "auto", "success"), (1, 20, 1, "auto", "running")]
    assert world.sql(STANDS) == RUNNING


@pytest.mark.parametrize("trace", [Trace.GONE, Trace.LEFT_OVER, Trace.NEVER_RAN, Trace.ADOPTABLE])
def test_of_two_rescuers_one_wins(world: World, trace: Trace) -> None:
    running(world)
    (first, runner), (second, _) = elsewhere(world, "c2", trace), elsewhere(world, "c3", trace)
    wait_until_dead(world, first)
    wait_until_dead(world, second)
    found: list[Rescued] = []
    runner.meanwhile = lambda: found.append(look(second))
    lost = look(first)
    (won,) = found

    assert (lost.lost, lost.adopted) == ((), ())
    assert won.freed or won.adopted
    told = {Trace.ADOPTABLE: "step.adopted"}.get(trace, "step.lost")
    assert world.names().count(told) == 1
    status, token, owner, lost_count = world.sql(STANDS)[0]
    if trace is Trace.ADOPTABLE:
        assert (status, token, owner, lost_count) == ("running", 2, "c3", 0)
    else:
        assert (token, owner, lost_count) == (2 if trace is Trace.LEFT_OVER else 1, None, 1)
    assert runner.stopped_left_over == []


@pytest.mark.parametrize("on_lost", ["hold", "rerun"])
def test_what_is_left_over_is_stopped_once_it_is_taken_and_before_it_may_be_repeated(
    world: World, on_lost: str
) -> None:
    first = running(world, OnLost=on_lost)
    rescue, runner = elsewhere(world, trace=Trace.LEFT_OVER)
    wait_until_dead(world, rescue)
    stood: list[tuple[object, ...]] = []

    def while_stopping() -> None:
        stood.extend(world.sql(STANDS) + world.sql(WRITTEN))
        first.look_closely()
        first.turn(NO_WAIT)

    runner.while_stopping = while_stopping
    rescued = look(rescue)

    assert stood == [("running", 2, "c2", 0), ("running", 2, "c1")]
    assert world.runner.stopped == [STEP], "who was only frozen stops what cannot go on without it"
    assert (rescued.lost, runner.stopped_left_over) == ((1,), [STEP])
    assert world.sql(STANDS) == [("held" if on_lost == "hold" else "retry", 2, None, 1)]
    assert "left of it on host1 (process 4712) has been stopped" in world.one("SELECT Message FROM BatchProcessHistory")


@pytest.mark.parametrize("is_gone", [True, False])
def test_of_a_controller_that_may_only_be_frozen_it_is_not_said_that_nothing_runs(
    world: World, *, is_gone: bool
) -> None:
    running(world)
    rescue, runner = elsewhere(world, trace=Trace.GONE)
    wait_until_dead(world, rescue)
    runner.gone = lambda row: is_gone
    look(rescue)
    (said,) = world.sql("SELECT Message FROM BatchProcessHistory")[0]

    assert ("Nothing of it runs on host1 any more" in said) is is_gone
    assert ("a job within its process may run on" in said) is not is_gone


def test_nothing_is_stopped_before_all_of_a_silent_controller_is_taken(world: World) -> None:
    running(world)
    other = world.batch("Other", steps=1)
    world.submit("Other")
    world.create()
    world.turn_until_idle(world.controller())
    assert [entry[-1] for entry in world.history()] == ["running"] * 2, other
    rescue, runner = elsewhere(world, trace=Trace.LEFT_OVER)
    runner.traces[HistoryId(2)] = Trace.LEFT_OVER
    wait_until_dead(world, rescue)
    runner.while_stopping = lambda: world.membership().beat()

    assert look(rescue).lost == (1, 2)
    assert runner.stopped_left_over == [1, 2]


def test_what_was_taken_by_one_that_lost_the_database_then_is_stopped_at_the_next_look(world: World) -> None:
    running(world)
    rescue, runner = elsewhere(world, trace=Trace.LEFT_OVER)
    wait_until_dead(world, rescue)

    def fail() -> None:
        raise DatabaseRefused("gone")

    runner.while_stopping = fail
    with pytest.raises(DatabaseRefused):
        look(rescue)
    assert world.sql(STANDS) == [("running", 2, "c2", 0)]
    runner.while_stopping = lambda: None

    assert look(rescue).lost == (1,)
    assert world.sql(STANDS) == [("held", 2, None, 1)]


def test_a_success_of_what_was_taken_first_is_noted_too(world: World) -> None:
    first = running(world)
    rescue, _ = elsewhere(world, trace=Trace.LEFT_OVER)
    wait_until_dead(world, rescue)
    look(rescue)
    world.runner.end(STEP, OK)
    first.turn(NO_WAIT)

    assert world.one("SELECT Message FROM BatchProcessHistory").endswith("UTC: success")


@pytest.mark.parametrize("on_lost", ["hold", "rerun", "verify"])
def test_what_never_ran_runs_again_whatever_on_lost_says_and_costs_no_retry(world: World, on_lost: str) -> None:
    running(world, OnLost=on_lost)
    rescue, _ = elsewhere(world, trace=Trace.NEVER_RAN)
    wait_until_dead(world, rescue)
    rescued = look(rescue)

    assert (rescued.lost, rescued.freed) == ((), True), "nobody need hear of it"
    assert world.sql("SELECT Status, RetryCount, ClaimedBy FROM BatchControl") == [("retry", 1, None)]
    assert world.sql("SELECT Status, Spawned FROM BatchProcessHistory") == [("lost", None)]
    assert "never ran" in world.one("SELECT Message FROM BatchProcessHistory")
    world.runner = ScriptedRunner()
    world.turn_until_idle(world.controller("c2"))
    assert world.statuses() == ["complete"]
    assert [entry[1:3] for entry in world.history()] == [(10, 1), (10, 2), (20, 1)]
    assert "verify" not in [entry[3] for entry in world.history()]


def test_what_nobody_knows_yet_waits_and_is_told_once(world: World) -> None:
    running(world)
    rescue, runner = elsewhere(world, trace=Trace.UNCLEAR)
    wait_until_dead(world, rescue)
    for _ in range(3):
        assert look(rescue) == Rescued()
    waiting = world.sql(STANDS), world.one("SELECT Status FROM Controller"), world.names().count("step.unclear")
    runner.traces[STEP] = Trace.GONE

    assert waiting == (RUNNING, "running", 1)
    assert look(rescue).lost == (1,)
    assert world.one("SELECT Status FROM Controller") == "lost"


def wait_out_the_lease(world: World, rescue: Rescue) -> tuple[object, object]:
    """Let a dead controller be silent for long enough; return how things stood shortly before, while nothing was taken."""
    for _ in range(2):
        assert look(rescue) == Rescued()
        world.clock.advance(RHYTHM.orphan_timeout / 3)
    waiting = world.sql(STANDS), world.one("SELECT Status FROM Controller")
    world.clock.advance(RHYTHM.orphan_timeout / 3)
    return waiting


@pytest.mark.parametrize(("on_lost", "then"), [("hold", "held"), ("rerun", "retry"), ("verify", "retry")])
def test_a_step_of_which_this_host_knows_nothing_is_lost_only_once_its_controller_was_silent_for_long(
    world: World, on_lost: str, then: str
) -> None:
    running(world, OnLost=on_lost)
    rescue, runner = elsewhere(world, trace=Trace.UNSEEN)
    runner.gone = lambda row: row.name == "c1"
    waiting = wait_out_the_lease(world, rescue)

    assert waiting == (RUNNING, "running")
    assert "once that controller has been silent for orphan_timeout" in world.messages("step.unclear")[0]
    assert look(rescue).lost == (1,)
    assert world.sql(STANDS)[0][0] == then


@pytest.mark.parametrize("on_lost", ["hold", "rerun"])
def test_what_a_frozen_controller_had_not_begun_never_ran_once_its_lease_is_over(world: World, on_lost: str) -> None:
    running(world, OnLost=on_lost)
    rescue, runner = elsewhere(world, trace=Trace.UNSTARTED)
    runner.gone = lambda row: row.name == "c1"
    waiting = wait_out_the_lease(world, rescue)
    found = look(rescue)

    assert waiting == (RUNNING, "running")
    assert (found.lost, found.freed) == ((), True)
    assert world.history()[0][-1] == "lost"
    assert "it never ran" in world.one("SELECT Message FROM BatchProcessHistory")
    assert world.sql(STANDS)[0][0] == "retry"
    assert world.one("SELECT Status FROM Controller WHERE ControllerName = 'c1'") == "lost"


def test_who_runs_where_nobody_watches_is_named_with_what_to_type(world: World) -> None:
    running(world, OnLost="rerun")
    rescue, runner = elsewhere(world, trace=Trace.UNCLEAR)
    runner.alive = (4711, 4712)
    wait_until_dead(world, rescue)
    look(rescue)

    (message,) = world.messages("step.unclear")
    assert "the step runs on" in message
    assert "(process 4711 4712)" in message
    assert message.endswith("type: kill 4711 4712")


def test_what_a_controller_cannot_ask_about_is_never_repeated_unasked(world: World) -> None:
    world.runner.script = lambda rendered: RUNS_ON
    batch_id = world.batch(steps=0, RetryCount=3)
    world.step(batch_id, 10, OnLost="rerun")
    world.submit()
    world.create()
    world.process()
    world.crash()
    world.sql("UPDATE BatchProcessHistory SET ProcessType = 'of_a_plugin_that_is_not_here'")
    world.recover()

    assert world.runner.examined == []
    assert world.statuses() == ["held"]
    assert "look whether it still runs" in world.one("SELECT Message FROM BatchProcessHistory")
