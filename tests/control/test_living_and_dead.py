"""Laws 6 and 7 among several controllers: who lives is left alone, who is dead is rescued once, who was frozen finds out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from pathlib import Path

import pytest

from batchctl.control.controller import Controller
from batchctl.control.rescue import Rescue, Rescued
from batchctl.domain.errors import DatabaseUnusable, OutcomeUnknown
from batchctl.domain.liveness import Rhythm, Sighting
from batchctl.domain.outcomes import Identity, StepOutcome
from batchctl.domain.rows import HistoryId
from batchctl.ports import Trace
from tests.control.world import BAD, NO_WAIT, OK, PROCESS, RUNS_ON, ScriptedRunner, World
from tests.control_databases import PostgresControl
from tests.postgres import PostgresServer
from tests.proxy import Cut, Proxy

RHYTHM = Rhythm()
STEP = HistoryId(1)
STANDS = "SELECT Status, ClaimToken, ClaimedBy, LostCount FROM BatchControl"
WRITTEN = "SELECT Status, ClaimToken, ClaimedBy FROM BatchProcessHistory ORDER BY BatchProcessHistory_id"
RUNNING = [("running", 1, "c1", 0)]


def running(world: World, **step: object) -> Controller:
    """Let c1, which is entered, carry out the first of two steps."""
    world.runner.script = lambda rendered: RUNS_ON
    batch_id = world.batch(steps=0, RetryCount=1)
    world.step(batch_id, 10, **step)
    world.step(batch_id, 20)
    world.submit()
    world.create()
    world.membership().begin()
    return world.process()


def elsewhere(world: World, name: str = "c2", trace: Trace = Trace.GONE) -> tuple[Rescue, ScriptedRunner]:
    """Return who looks after the dead on another connection, and finds this of their step."""
    runner = ScriptedRunner(script=lambda rendered: RUNS_ON, traces={STEP: trace})
    return world.rescue(name, transactions=world.open(), runner=runner), runner


def look(rescue: Rescue) -> Rescued:
    return rescue.look(lambda key: False)


def wait_until_dead(world: World, rescue: Rescue) -> None:
    """Let others see for long enough that c1 gives no sign of life."""
    assert look(rescue) == Rescued()
    world.clock.advance(RHYTHM.orphan_timeout)


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
        raise DatabaseUnusable("gone")

    runner.while_stopping = fail
    with pytest.raises(DatabaseUnusable):
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


def adopted(world: World, **step: object) -> tuple[Controller, ScriptedRunner, Controller]:
    """Let c2 go on with the step of c1; return c2, its executions, and c1, which knows of nothing."""
    first = running(world, **step)
    rescue, runner = elsewhere(world, trace=Trace.ADOPTABLE)
    second = world.controller("c2", transactions=world.open(), runner=runner)
    wait_until_dead(world, rescue)
    for attempt, entry in look(rescue).adopted:
        second.take_over(attempt, entry)
    return second, runner, first


def test_a_step_that_lives_goes_on_under_another_controller(world: World) -> None:
    second, runner, _ = adopted(world)

    assert world.sql(STANDS) == [("running", 2, "c2", 0)]
    assert world.sql(WRITTEN) == [("running", 2, "c1")], "who began it says where to look for it"
    assert (runner.adopted, runner.started) == ([(STEP, "c1")], [])
    runner.end(STEP, OK)
    runner.script = lambda rendered: OK
    world.turn_until_idle(second)
    assert world.statuses() == ["complete"]
    assert world.history() == [(1, 10, 1, "auto", "success"), (1, 20, 1, "auto", "success")]


@pytest.mark.parametrize(
    ("outcome", "said"), [(OK, "it succeeded"), (BAD, "it broke"), (StepOutcome(succeeded=False), "it failed")]
)
def test_the_end_of_an_adopted_step_names_who_has_seen_it(world: World, outcome: StepOutcome, said: str) -> None:
    second, runner, _ = adopted(world)
    runner.end(STEP, outcome)
    runner.script = lambda rendered: OK
    world.turn_until_idle(second)

    messages = world.sql("SELECT ClaimedBy, Message FROM BatchProcessHistory ORDER BY BatchProcessHistory_id")
    assert messages[0] == ("c1", f"{said}; seen to its end by c2, which took it over")
    assert all(message is None for _, message in messages[1:])


def test_an_adopted_step_keeps_its_durations_from_its_beginning(world: World) -> None:
    limit = RHYTHM.orphan_timeout + timedelta(seconds=60)
    second, runner, _ = adopted(world, MaxDuration=int(limit.total_seconds()))
    world.clock.advance(timedelta(seconds=59))
    second.turn(NO_WAIT)
    before = list(runner.stopped)
    world.clock.advance(timedelta(seconds=1))
    world.turn_until_idle(second)

    assert (before, runner.stopped) == ([], [STEP])
    assert world.history()[0][-1] == "timeout"


@pytest.mark.parametrize(("asked", "left"), [("cancelling", "cancelled"), ("pausing", "paused")])
def test_what_a_person_asked_of_a_step_is_asked_of_who_adopts_it(world: World, asked: str, left: str) -> None:
    first = running(world)
    world.sql("UPDATE BatchControl SET Status = ?", asked)
    rescue, runner = elsewhere(world, trace=Trace.ADOPTABLE)
    wait_until_dead(world, rescue)
    second = world.controller("c2", transactions=world.open(), runner=runner)
    for attempt, entry in look(rescue).adopted:
        second.take_over(attempt, entry)
    assert world.sql(STANDS) == [(asked, 2, "c2", 0)]
    second.turn(NO_WAIT)
    if asked == "pausing":
        runner.end(STEP, OK)
    world.turn_until_idle(second)

    assert world.statuses() == [left]
    assert runner.stopped == ([STEP] if asked == "cancelling" else [])
    assert first.is_flying, "it has not heard of it yet"


def test_an_adopted_step_whose_adopter_dies_is_looked_for_under_who_began_it(world: World) -> None:
    adopted(world)
    third, runner = elsewhere(world, "c3")
    wait_until_dead(world, third)

    assert look(third).lost == (1,)
    assert runner.examined == ["c1"]
    assert world.sql(STANDS) == [("held", 2, None, 1)]
    assert world.sql(WRITTEN) == [("lost", 2, "c1")]


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


@pytest.mark.parametrize(("on_lost", "then"), [("hold", "held"), ("rerun", "retry"), ("verify", "retry")])
def test_a_step_of_which_this_host_knows_nothing_is_lost_only_once_its_controller_was_silent_for_long(
    world: World, on_lost: str, then: str
) -> None:
    running(world, OnLost=on_lost)
    rescue, runner = elsewhere(world, trace=Trace.UNSEEN)
    runner.gone = lambda row: row.name == "c1"
    for _ in range(2):
        assert look(rescue) == Rescued()
        world.clock.advance(RHYTHM.orphan_timeout / 3)
    waiting = world.sql(STANDS), world.one("SELECT Status FROM Controller")
    world.clock.advance(RHYTHM.orphan_timeout / 3)

    assert waiting == (RUNNING, "running")
    assert "once that controller has been silent for orphan_timeout" in world.messages("step.unclear")[0]
    assert look(rescue).lost == (1,)
    assert world.sql(STANDS)[0][0] == then


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

    assert "nobody knows how it ended" in message
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


@pytest.fixture
def proxy(postgres: PostgresServer) -> Iterator[Proxy]:
    made = Proxy(postgres.port)
    yield made
    made.close()


@pytest.fixture
def far(postgres: PostgresServer, prepared: str, proxy: Proxy, tmp_path: Path) -> Iterator[World]:
    """Return a world on PostgreSQL; connections that are opened later can be cut."""
    database = PostgresControl(postgres, tmp_path, postgres.new_database(prepared))
    made = World(database)
    database.url = postgres.url(database.name, port=proxy.port)
    yield made
    made.close()


@pytest.mark.parametrize("revived", [False, True])
def test_an_adoption_whose_commit_nobody_saw_is_gone_on_with_and_nothing_is_begun_anew(
    far: World, proxy: Proxy, revived: bool
) -> None:
    world = far
    running(world)
    runner = ScriptedRunner(traces={STEP: Trace.ADOPTABLE})
    transactions = world.open()
    rescue = world.rescue("c2", transactions=transactions, runner=runner)
    second = world.controller("c2", transactions=transactions, runner=runner)
    wait_until_dead(world, rescue)
    proxy.cut(1, Cut.AFTER)
    with pytest.raises(OutcomeUnknown):
        look(rescue)
    if revived:
        world.membership().beat()
    found = rescue.look(second.knows)
    for attempt, entry in found.adopted:
        second.take_over(attempt, entry)

    assert [attempt.history_id for attempt, _ in found.adopted] == [STEP]
    assert world.sql(STANDS) == [("running", 2, "c2", 0)]
    assert (runner.adopted, runner.started) == ([(STEP, "c1")], [])
    assert rescue.look(second.knows) == Rescued(), "once is enough"
    runner.end(STEP, OK)
    second.turn(NO_WAIT)
    assert world.history()[0] == (1, 10, 1, "auto", "success")


def leashed_and_not(world: World, is_trusted: Callable[[], bool]) -> Controller:
    """Let a step that may be repeated and one that may not run under one controller."""
    world.runner.script = lambda rendered: RUNS_ON
    for name, on_lost in (("A", "rerun"), ("B", "hold"), ("C", "hold")):
        world.step(world.batch(name, steps=0), 10, OnLost=on_lost)
        world.submit(name)
    world.sql("UPDATE ProcessBatch SET Enabled = 0 WHERE ProcessBatchName = 'C'")
    world.create()
    controller = world.controller(slots=9, is_trusted=is_trusted)
    world.turn_until_idle(controller)
    return controller


def test_who_may_have_been_taken_for_dead_begins_nothing_and_stops_only_what_others_may_repeat(world: World) -> None:
    trusted = True
    controller = leashed_and_not(world, lambda: trusted)
    assert world.runner.leashed == {HistoryId(1)}
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
