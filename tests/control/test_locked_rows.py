"""A person keeps a row locked in an SQL client: that row waits, and nothing else does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from batchctl.control import in_flight
from batchctl.control.alerting.incident_search import LOCKED, IncidentSearch
from batchctl.control.contention import LOCKED_LOOK
from batchctl.control.controller import CONTENDED_LOOK, Controller
from batchctl.control.rescue import MOST_LOCKS
from batchctl.domain.alerting.alerts import AlertRules
from batchctl.domain.commands import Identity
from batchctl.domain.errors import BatchctlError, Busy
from batchctl.domain.locked_rows import failure_of
from batchctl.domain.rows import HistoryId
from batchctl.domain.status import IncidentKind
from batchctl.logs import Event
from batchctl.operations import explain
from batchctl.operations.overview import Overview, overview
from batchctl.operations.presence import Presence
from batchctl.ports import Boundary, Trace
from batchctl.store import in_line
from batchctl.store.in_line import MANY_DEFERRED
from tests.control.alarm import Alarm
from tests.control.test_workers import RHYTHM, hired
from tests.control.test_workers import Hand as Worked
from tests.control.world import BAD, LONG_AFTER, NO_WAIT, RUNS_ON, ScriptedRunner, World
from tests.control_databases import PostgresControl
from tests.hand import Hand
from tests.postgres import PostgresServer

ONE_MINUTE = timedelta(minutes=1)


@pytest.fixture
def world(postgres: PostgresServer, prepared: str, tmp_path: Path) -> Iterator[World]:
    """Return a world on PostgreSQL, which locks rows; SQLite locks whole files."""
    made = World(PostgresControl(postgres, tmp_path, postgres.new_database(prepared)))
    yield made
    made.close()


@pytest.fixture
def client(world: World) -> Iterator[Hand]:
    """Return somebody's SQL client."""
    made = world.database.hand()
    made.sql("BEGIN")
    yield made
    made.close()


def a_while(world: World, controller: Controller) -> None:
    """Let a controller turn until a lock has lasted for so long that it is told."""
    for _ in range(5):
        controller.turn(NO_WAIT)
    assert not {"instance.locked", "batch.locked"} & set(world.names()), "it may be over in a moment"
    assert world.runner.waits[-1] <= CONTENDED_LOOK
    world.clock.advance(LOCKED_LOOK)
    for _ in range(2):
        controller.turn(NO_WAIT)


@pytest.mark.parametrize("slots", [1, 2])
def test_locked_instances_at_the_head_of_a_batch_let_the_others_pass_one_at_a_time(
    world: World, client: Hand, slots: int
) -> None:
    world.batch("A", steps=1, OnFailure="continue", MaxConcurrent=1)
    for _ in range(6):
        world.submit("A")
    world.create()
    client.sql("UPDATE BatchControl SET Data1 = 'x' WHERE BatchControl_id <= 2")
    controller = world.controller(slots=slots)
    for _ in range(20):
        controller.turn(NO_WAIT)
        assert len(world.runner.open) <= 1
        world.clock.advance(LOCKED_LOOK)

    assert world.statuses() == ["ready"] * 2 + ["complete"] * 4


@pytest.mark.parametrize("near", [1, 500])
def test_locked_instances_at_the_head_let_many_others_that_are_due_pass_in_order(
    world: World, client: Hand, monkeypatch: pytest.MonkeyPatch, near: int
) -> None:
    monkeypatch.setattr(in_line, "NEAR", near)
    many, locked = MANY_DEFERRED + 20, 10
    world.batch("A", steps=1, OnFailure="continue", MaxConcurrent=3)
    for _ in range(many):
        world.submit("A")
    world.create()
    world.sql("UPDATE BatchControl SET Status = 'failed' WHERE BatchControl_id = 1")
    later = "UPDATE BatchControl SET NextRunTime = ? WHERE BatchControl_id > 1 AND BatchControl_id <= ?"
    for upto, at in ((many, "2026-01-01"), (many // 2, "2026-01-02"), (locked, "2026-01-03")):
        world.sql(later, at, upto)
    client.sql(f"UPDATE BatchControl SET Data1 = 'x' WHERE BatchControl_id <= {locked}")
    controller = world.controller(slots=3)
    for _ in range(many):
        controller.turn(NO_WAIT)
        world.clock.advance(LOCKED_LOOK)
    while_locked = [at for at, *_ in world.history()]
    client.sql("ROLLBACK")
    controller.turn(NO_WAIT)
    world.turn_until_idle(controller)

    assert while_locked == list(range(locked + 1, many + 1))
    assert [at for at, *_ in world.history()][len(while_locked) :] == list(range(2, locked + 1))


def test_a_locked_instance_is_passed_over_and_taken_once_it_is_free(world: World, client: Hand) -> None:
    for name in ("A", "B"):
        world.batch(name)
        world.submit(name)
    world.create()
    client.sql("UPDATE BatchControl SET Data1 = 'x' WHERE BatchControl_id = 1")
    controller = world.controller()
    a_while(world, controller)
    while_locked = world.statuses()
    assert controller.is_idle, "who works off what there is does not wait for it"
    controller.look_again()
    world.turn_until_idle(controller)

    client.sql("ROLLBACK")
    world.clock.advance(LOCKED_LOOK)
    controller.turn(NO_WAIT)
    world.turn_until_idle(controller)

    assert while_locked == ["ready", "complete"]
    assert world.statuses() == ["complete", "complete"]
    (event,) = [event for event in world.events if event.name == "instance.locked"]
    assert event.fields["BatchControl_id"] == 1
    assert str(event.fields["Message"]).startswith("the row is locked by session ")
    assert "; to end it: SELECT pg_terminate_backend(" in str(event.fields["Message"])


def test_who_keeps_a_whole_table_from_everybody_is_named_without_reading_it(world: World, client: Hand) -> None:
    world.be_impatient()
    with closing(world.database.hand()) as innocent:
        innocent.sql("BEGIN")
        innocent.sql("SELECT * FROM AuditLog FOR SHARE")
        client.sql("LOCK TABLE FileProcess IN ACCESS EXCLUSIVE MODE")
        (culprit,) = client.sql("SELECT pg_backend_pid()")[0]
        with pytest.raises(Busy) as refused:
            world.transactions.run(
                frozenset({Boundary.OPERATOR}),
                lambda connection: connection.exec_driver_sql("SELECT * FROM FileProcess"),
            )
        innocent.sql("ROLLBACK")

    assert f"stayed locked by session {culprit} (" in refused.value.message
    assert "as far as can be seen" not in refused.value.message
    assert f"SELECT pg_terminate_backend({culprit})" in str(refused.value.next_step)


def test_who_is_told_to_keep_a_row_locked_is_not_whoever_keeps_other_locks_longer(world: World, client: Hand) -> None:
    world.batch("A", steps=1)
    world.submit("A")
    world.create()
    with closing(world.database.hand()) as innocent:
        innocent.sql("BEGIN")
        innocent.sql("SELECT * FROM AuditLog FOR SHARE")
        client.sql("SELECT * FROM BatchControl FOR UPDATE")
        (culprit,) = client.sql("SELECT pg_backend_pid()")[0]
        a_while(world, world.controller())
        innocent.sql("ROLLBACK")

    (event,) = [event for event in world.events if event.name == "instance.locked"]
    assert f"SELECT pg_terminate_backend({culprit})" in str(event.fields["Message"])
    assert "as far as can be seen" not in str(event.fields["Message"])


@pytest.mark.parametrize("row", ["BatchControl", "FileProcess", "BatchProcessHistory"])
def test_the_end_of_a_locked_instances_step_waits_and_no_other_does(world: World, client: Hand, row: str) -> None:
    for name in ("A", "B"):
        world.batch(name, steps=1)
        world.submit(name)
    world.create()
    world.runner.script = lambda rendered: None
    controller = world.controller(slots=2)
    while len(world.runner.open) < 2:
        controller.turn(NO_WAIT)
    client.sql(f"UPDATE {row} SET z_updated = z_updated WHERE {row}_id = 1")
    for key in list(world.runner.open):
        world.runner.end(key, world.ok)
    a_while(world, controller)
    assert world.runner.waits[-1] == NO_WAIT

    while_locked = world.statuses()
    blocker = controller.blocker
    client.sql("COMMIT")
    world.turn_until_idle(controller)

    assert "somebody keeps its rows locked" in str(blocker)
    assert controller.blocker is None

    assert while_locked == ["running", "complete"]
    assert world.statuses() == ["complete", "complete"]
    assert world.history() == [(1, 10, 1, "auto", "success"), (2, 10, 1, "auto", "success")]
    assert world.names().count("instance.locked") == 1


@pytest.mark.parametrize("act", ["DELETE FROM FileProcess", "UPDATE FileProcess SET FileName = 'other'"])
def test_a_locked_intake_row_waits_and_no_other_does(world: World, client: Hand, act: str) -> None:
    world.batch("A")
    world.submit("A")
    world.submit("A")
    client.sql(f"{act} WHERE FileProcess_id = 1")
    creator = world.creator()
    creator.create_instances()
    creator.create_instances()
    while_locked = world.sql("SELECT FileProcess_id FROM BatchControl")
    client.sql("ROLLBACK")
    creator.create_instances()

    assert while_locked == [(2,)]
    (event,) = [event for event in world.events if event.name == "intake.locked"]
    assert event.fields["FileProcess_id"] == 1
    assert "locked by session " in str(event.fields["Message"])
    assert sorted(world.sql("SELECT FileProcess_id FROM BatchControl")) == [(1,), (2,)]


def test_what_fails_while_its_row_is_locked_is_not_overtaken(world: World, client: Hand) -> None:
    world.batch("A", steps=1)
    world.submit("A")
    world.submit("A")
    world.create()
    world.runner.script = lambda rendered: None
    controller = world.controller()
    while not world.runner.open:
        controller.turn(NO_WAIT)
    client.sql("SELECT * FROM BatchControl WHERE BatchControl_id = 1 FOR UPDATE")
    world.runner.end(world.runner.started[0], BAD)
    for _ in range(5):
        controller.turn(NO_WAIT)
    while_locked = world.statuses()
    client.sql("ROLLBACK")
    world.turn_until_idle(controller)

    assert while_locked == ["running", "ready"]
    assert world.statuses() == ["failed", "ready"]
    assert len(world.runner.started) == 1


def test_a_batch_that_is_being_renamed_waits_and_no_other_does(world: World, client: Hand) -> None:
    for name in ("A", "B"):
        world.batch(name, steps=1)
    world.submit("A")
    world.create()
    client.sql("UPDATE ProcessBatch SET ProcessBatchName = 'C' WHERE ProcessBatch_id = 1")
    world.submit("A")
    world.submit("B")
    world.create()
    controller = world.controller()
    a_while(world, controller)
    while_locked = world.statuses()
    is_idle = controller.is_idle
    client.sql("ROLLBACK")
    world.create()
    world.clock.advance(LOCKED_LOOK)
    controller.turn(NO_WAIT)
    world.turn_until_idle(controller)

    assert while_locked == ["ready", "complete"]
    assert is_idle
    assert world.statuses() == ["complete", "complete", "complete"]
    (event,) = [event for event in world.events if event.name == "batch.locked"]
    assert event.fields["ProcessBatchName"] == "A"
    assert "; to end it: SELECT pg_terminate_backend(" in str(event.fields["Message"])


def test_a_locked_resource_holds_up_only_the_batches_that_need_it(world: World, client: Hand) -> None:
    for name in ("A", "B"):
        world.batch(name, steps=1)
        world.submit(name)
    world.sql("INSERT INTO Resource (ResourceName, Units) VALUES ('R', 1)")
    world.sql("INSERT INTO BatchResource (ProcessBatch_id, Resource_id) VALUES (1, 1)")
    world.create()
    client.sql("UPDATE Resource SET Units = 5")
    controller = world.controller()
    a_while(world, controller)
    while_locked = world.statuses()
    client.sql("COMMIT")
    world.clock.advance(LOCKED_LOOK)
    controller.turn(NO_WAIT)
    world.turn_until_idle(controller)

    assert while_locked == ["ready", "complete"]
    assert world.statuses() == ["complete", "complete"]


def test_a_note_about_a_process_whose_row_is_locked_waits_and_nothing_else_does(
    world: World, client: Hand, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries: list[frozenset[Boundary]] = []
    run = world.transactions.run

    def counted(boundaries: frozenset[Boundary], work: Callable[[Any], Any], *, nowait: bool = False) -> Any:
        tries.append(boundaries)
        return run(boundaries, work, nowait=nowait)

    monkeypatch.setattr(world.transactions, "run", counted)
    for name in ("A", "B"):
        world.batch(name, steps=1)
        world.submit(name)
    world.create()
    world.runner.script = lambda rendered: RUNS_ON
    controller = world.controller(slots=2)
    while len(world.runner.open) < 2:
        controller.turn(NO_WAIT)
    client.sql("SELECT * FROM BatchProcessHistory WHERE BatchProcessHistory_id = 1 FOR UPDATE")
    for key in world.runner.open:
        world.runner.spawn(key, Identity(pid=100 + key))
    controller.turn(NO_WAIT)
    world.clock.advance(timedelta(seconds=in_flight.SHORT))
    for _ in range(3):
        for _ in range(3):
            controller.turn(NO_WAIT)
            assert controller.failure is None
        world.clock.advance(LOCKED_LOOK)
    while_locked = world.sql("SELECT Pid FROM BatchProcessHistory ORDER BY BatchProcessHistory_id")
    tried = tries.count(frozenset({Boundary.SPAWNED}))
    client.sql("ROLLBACK")
    controller.turn(NO_WAIT)

    assert tried == 3, "no more often than once a second"
    assert while_locked == [(None,), (102,)]
    assert world.sql("SELECT Pid FROM BatchProcessHistory ORDER BY BatchProcessHistory_id") == [(101,), (102,)]


def seq(world: World) -> int:
    return int(world.one("SELECT HeartbeatSeq FROM Controller WHERE ControllerName = 'c1'"))


@pytest.mark.parametrize("noted", [True, False])
def test_signs_of_life_go_on_while_a_table_is_locked(world: World, client: Hand, noted: bool) -> None:
    hand = hired(world, "c1")
    hand.runner.script = lambda rendered: RUNS_ON
    world.batch(steps=1)
    world.submit()
    hand.turn(6)
    (key,) = hand.runner.open
    client.sql("LOCK TABLE BatchProcessHistory IN SHARE MODE")
    if noted:
        hand.runner.spawn(key, Identity(pid=7))
    else:
        hand.runner.end(key, world.ok)
    begun = seq(world)
    for _ in range(6):
        world.clock.advance(RHYTHM.heartbeat_interval)
        hand.turn(1)
        assert hand.runner.waits[-1] <= RHYTHM.heartbeat_interval
    given = seq(world) - begun
    names = world.names()
    client.sql("ROLLBACK")
    world.clock.advance(LOCKED_LOOK)
    hand.turn()

    assert given == 6
    assert ("controller.waiting" in names) is not noted
    assert world.sql("SELECT Status, Pid FROM BatchProcessHistory") == [("running", 7) if noted else ("success", None)]


def test_signs_of_life_that_are_tried_often_do_not_shorten_the_pauses(
    world: World, client: Hand, monkeypatch: pytest.MonkeyPatch
) -> None:
    hand = hired(world, "c1")
    pauses, pause = list[BatchctlError](), hand.worker.controller._wait_for_the_database

    def counted(error: BatchctlError) -> None:
        pauses.append(error)
        pause(error)

    monkeypatch.setattr(hand.worker.controller, "_wait_for_the_database", counted)
    hand.runner.script = lambda rendered: RUNS_ON
    world.batch(steps=1)
    world.submit()
    hand.turn(6)
    client.sql("LOCK TABLE BatchProcessHistory, Controller IN SHARE MODE")
    hand.runner.end(next(iter(hand.runner.open)), world.ok)
    world.clock.advance(RHYTHM.heartbeat_interval)
    for _ in range(20):
        hand.turn(1)
        world.clock.advance(RHYTHM.heartbeat_interval / 10)
    client.sql("ROLLBACK")

    assert len(pauses) == 3, "at once, after one second, and after two more"
    assert world.names().count("controller.waiting") == 1, "nothing new is to be told"
    assert world.names().count("controller.locked") == 1


def test_a_lock_on_a_workers_own_row_keeps_no_step_waiting(world: World, client: Hand) -> None:
    hand = hired(world, "c1")
    world.batch(steps=1)
    client.sql("SELECT * FROM Controller FOR UPDATE")
    world.submit()
    for _ in range(4):
        world.clock.advance(RHYTHM.heartbeat_interval)
        hand.turn(2)
    while_locked = world.statuses()
    last = hand.worker.membership.lease_until
    world.clock.advance(RHYTHM.lease)
    hand.turn(1)
    untrusted = hand.worker.membership.is_trusted()
    client.sql("ROLLBACK")
    world.clock.advance(LOCKED_LOOK)
    hand.turn(1)

    assert while_locked == ["complete"]
    assert seq(world) > 0
    assert (untrusted, hand.worker.membership.is_trusted()) == (False, True)
    assert hand.runner.lease_until > last
    (told,) = [event for event in world.events if event.name == "controller.locked"]
    assert told.fields["ClaimedBy"] == "c1"
    assert "locked by session " in str(told.fields["Message"])
    assert world.names()[-1] == "controller.resumed"


def test_a_lock_on_the_lead_keeps_no_controller_from_its_signs_of_life_and_is_named(world: World, client: Hand) -> None:
    hand, findings = hired(world, "c1"), IncidentSearch(world.clock, AlertRules(), "c9")
    world.batch(steps=1)
    hand.turn(2)
    client.sql("SELECT 1 FROM Leader FOR UPDATE")
    world.submit()
    for _ in range(50):
        world.clock.advance(2 * LOCKED_LOOK)
        hand.turn(1)
    ((pid,),) = client.sql("SELECT pg_backend_pid()")
    seen = status_of(world)
    with world.transactions.read() as connection:
        found = findings.signs(connection, world.clock.now())
        (nobody,) = [one for one in found if one.kind is IncidentKind.NOBODY_LEADS]
    asked = gate_of(world, "file:1") or ""
    client.sql("ROLLBACK")
    some_beats(world, hand)

    culprit = f"Leader 1: no controller can lead: row 1 of table Leader is locked by session {pid} ("
    assert seen.controllers == ("c1",)
    assert culprit in seen.failures["c1"]
    assert culprit in nobody.message
    assert nobody.next_step == f"SELECT pg_terminate_backend({pid})"
    assert culprit in asked
    assert hand.worker.leading is not None
    assert hand.worker.leading.is_leader
    assert (world.statuses(), world.sql("SELECT Trouble FROM Controller")) == (["complete"], [(None,)])


def test_where_a_controller_is_silent_who_keeps_locks_is_named(world: World, client: Hand) -> None:
    hired(world, "c1")
    world.batch(steps=1)
    world.submit()
    world.create()
    client.sql("SELECT * FROM Controller FOR UPDATE")
    world.clock.advance(ONE_MINUTE)
    ((pid,),) = client.sql("SELECT pg_backend_pid()")

    found = explain.why(world.transactions, world.clock, Presence(RHYTHM, lambda _row: False), "1")
    culprit = f"a lock may keep it from the next: session {pid} ("
    assert culprit in (status_of(world).last_sign or "")
    assert any(culprit in (gate.blocked or "") for gate in found.gates)


def test_status_says_of_a_running_step_who_keeps_its_row_locked(world: World) -> None:
    world.batch(steps=1)
    world.submit()
    world.create()
    world.controller().turn(NO_WAIT)
    failure = failure_of({"BatchControl 1": "the row is locked by session 7; to end it: SELECT 7"})
    world.sql(
        "INSERT INTO Controller (ControllerName, Host, Trouble, Heartbeat) VALUES ('c9', 'h', ?, ?)",
        failure,
        f"{world.clock.now():%Y-%m-%d %H:%M:%S}",
    )

    (running,) = status_of(world).running
    assert running.locks.blocked == "BatchControl 1: the row is locked by session 7"
    assert running.locks.clear == "SELECT 7"


class Slow:
    """A way to the database on which each transaction takes its time."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.read = world.transactions.read
        self.nowait: list[bool] = []

    def run(self, boundaries: frozenset[Boundary], work: Callable[[Any], Any], *, nowait: bool = False) -> Any:
        self.nowait.append(nowait)
        self.world.clock.advance(LOCKED_LOOK / 2)
        return self.world.transactions.run(boundaries, work, nowait=nowait)


def test_who_cannot_begin_tells_soon_what_it_waits_for_and_begins_when_that_is_over(world: World, client: Hand) -> None:
    slow: Any = Slow(world)

    def hear(event: Event) -> None:
        world.events.append(event)
        if event.name == "controller.locked":
            client.sql("ROLLBACK")

    member = world.membership(transactions=slow, listener=hear)
    client.sql("LOCK TABLE Controller IN SHARE MODE")
    member.begin()

    assert slow.nowait == [True, True, False]
    assert world.names() == ["controller.locked", "controller.resumed"]
    assert "cannot begin: table Controller, or a row of it, is locked by session " in str(world.events[0])
    assert world.sql("SELECT ControllerName, Status FROM Controller") == [("c1", "running")]


def test_a_lock_on_the_table_keeps_no_controller_from_ending(world: World, client: Hand) -> None:
    hand = hired(world, "c1")
    slow: Any = Slow(world)
    hand.worker.membership.transactions = slow
    client.sql("LOCK TABLE Controller IN SHARE MODE")
    hand.worker.end()
    client.sql("ROLLBACK")

    assert slow.nowait == [True]
    assert world.sql("SELECT ControllerName, Status FROM Controller") == [("c1", "running")], "others will find out"


def test_a_sign_of_life_that_met_a_lock_is_soon_given_again(world: World, client: Hand) -> None:
    member = world.membership()
    member.begin()
    client.sql("SELECT * FROM Controller FOR UPDATE")
    world.clock.advance(RHYTHM.heartbeat_interval)
    assert not member.beat()
    soon = member.due_in
    client.sql("ROLLBACK")
    world.clock.advance(RHYTHM.heartbeat_interval / 10)

    assert soon is not None
    assert soon <= RHYTHM.heartbeat_interval / 10
    assert member.is_due
    assert not member.beat()
    assert seq(world) > 0
    assert world.names() == [], "it was over in a moment"


def left_by_a_dead_one(world: World) -> None:
    """Let c1 die while a step of each of two instances runs."""
    world.membership().begin()
    for name in ("A", "B"):
        world.batch(name, steps=1)
        world.submit(name)
    world.create()
    world.runner.script = lambda rendered: RUNS_ON
    world.process(slots=2)


@pytest.mark.parametrize("trace", [Trace.GONE, Trace.NEVER_RAN, Trace.LEFT_OVER, Trace.ADOPTABLE])
@pytest.mark.parametrize("row", ["BatchControl", "BatchProcessHistory"])
def test_of_a_dead_controller_only_what_is_locked_is_rescued_later(
    world: World, client: Hand, row: str, trace: Trace
) -> None:
    left_by_a_dead_one(world)
    runner = ScriptedRunner(gone=lambda row: row.name == "c1")
    runner.traces = dict.fromkeys((HistoryId(1), HistoryId(2)), trace)
    rescue = world.rescue("c2", transactions=world.open(), runner=runner)
    client.sql(f"UPDATE {row} SET z_updated = z_updated WHERE {row}_id = 1")
    known = {attempt.history_id for attempt, _ in rescue.look(lambda key: False).adopted}
    world.clock.advance(LOCKED_LOOK)
    for _ in range(2):
        again = rescue.look(lambda key: key in known)
        assert (again.lost, again.adopted) == ((), ())
    while_locked = world.sql("SELECT Status, ClaimedBy FROM BatchControl ORDER BY BatchControl_id")
    still = world.one("SELECT Status FROM Controller")
    client.sql("ROLLBACK")
    rescue.look(lambda key: key in known)

    taken, free = ("running", "c1"), world.sql("SELECT Status, ClaimedBy FROM BatchControl ORDER BY BatchControl_id")
    assert while_locked == [taken, free[1]]
    assert free[0] == free[1] != taken
    assert (still, world.one("SELECT Status FROM Controller")) == ("running", "lost")
    (told,) = [event for event in world.events if event.name == "instance.locked"]
    assert told.fields["BatchControl_id"] == 1
    assert "locked by session " in str(told.fields["Message"])


def test_what_was_stopped_is_written_once_its_row_is_free(world: World, client: Hand) -> None:
    left_by_a_dead_one(world)
    runner = ScriptedRunner(gone=lambda row: row.name == "c1")
    runner.traces = dict.fromkeys((HistoryId(1), HistoryId(2)), Trace.LEFT_OVER)
    runner.while_stopping = lambda: client.sql("SELECT * FROM BatchControl WHERE BatchControl_id = 1 FOR UPDATE")
    rescue = world.rescue("c2", transactions=world.open(), runner=runner)
    rescued = [rescue.look(lambda key: False).lost]
    while_locked = world.sql("SELECT Status, ClaimedBy FROM BatchControl ORDER BY BatchControl_id")
    client.sql("ROLLBACK")
    runner.while_stopping = lambda: None
    rescued.append(rescue.look(lambda key: False).lost)

    assert while_locked == [("running", "c2"), ("held", None)]
    assert rescued == [(2,), (1,)]
    assert world.statuses() == ["held", "held"]


def test_the_locked_row_of_a_dead_controller_is_told(world: World, client: Hand) -> None:
    left_by_a_dead_one(world)
    runner = ScriptedRunner(gone=lambda row: row.name == "c1")
    rescue = world.rescue("c2", transactions=world.open(), runner=runner)
    client.sql("SELECT * FROM Controller FOR UPDATE")
    for _ in range(3):
        assert rescue.look(lambda key: False).lost == ()
        world.clock.advance(LOCKED_LOOK)
    client.sql("ROLLBACK")

    assert rescue.look(lambda key: False).lost == (1, 2)
    assert world.names().count("instance.locked") == 2


def test_a_claim_without_an_attempt_is_given_back_once_its_row_is_free(world: World, client: Hand) -> None:
    for name in ("A", "B"):
        world.batch(name)
        world.submit(name)
    world.create()
    world.sql("UPDATE BatchControl SET Status = 'running', ClaimedBy = 'gone'")
    client.sql("SELECT * FROM BatchControl WHERE BatchControl_id = 1 FOR UPDATE")
    rescue = world.rescue("c2", transactions=world.open(), rhythm=LONG_AFTER)
    rescue.look(lambda key: False)
    while_locked = world.statuses()
    client.sql("ROLLBACK")
    rescue.look(lambda key: False)

    assert while_locked == ["running", "ready"]
    assert world.statuses() == ["ready", "ready"]


def test_many_locked_rows_do_not_hold_up_the_free_ones(world: World, client: Hand) -> None:
    count = MOST_LOCKS + 2
    for at in range(count):
        world.batch(f"B{at}", steps=1)
        world.submit(f"B{at}")
    world.create()
    world.runner.script = lambda rendered: RUNS_ON
    world.process(slots=count)
    client.sql(f"SELECT * FROM BatchControl WHERE BatchControl_id <= {MOST_LOCKS + 1} FOR UPDATE")
    rescue = world.rescue("c2", transactions=world.open(), rhythm=LONG_AFTER)

    assert [rescue.look(lambda key: False).lost for _ in range(2)] == [(), (count,)]
    client.sql("ROLLBACK")
    assert len(rescue.look(lambda key: False).lost) == count - 1


def some_beats(world: World, hand: Worked) -> None:
    """Let signs of life be given, and some turns between them."""
    for _ in range(4):
        world.clock.advance(RHYTHM.heartbeat_interval)
        for _ in range(3):
            world.clock.advance(LOCKED_LOOK)
            hand.turn()


def gate_of(world: World, ref: str) -> str | None:
    """Return what `why` says of a controller that is there."""
    found = explain.why(world.transactions, world.clock, Presence(RHYTHM, lambda _row: False), ref)
    return next((gate.blocked for gate in found.gates if gate.name == "locks"), None)


def status_of(world: World) -> Overview:
    """Return what `status` says where a controller is there."""
    return overview(world.transactions, world.clock, Presence(RHYTHM, lambda _row: False))


def told_of(world: World, findings: IncidentSearch) -> list[str]:
    """Return what is the matter with controllers."""
    with world.transactions.read() as connection:
        found = findings.signs(connection, world.clock.now())
    return [one.message for one in found if one.kind is IncidentKind.CONTROLLER_TROUBLE]


def test_who_keeps_a_batch_locked_is_named_by_why_and_is_an_incident_after_a_minute(world: World, client: Hand) -> None:
    for name in ("A", "B"):
        world.batch(name, steps=1)
        world.submit(name)
    world.create()
    client.sql("UPDATE ProcessBatch SET Description = 'x' WHERE ProcessBatch_id = 1")
    hand, findings = hired(world, "c1"), IncidentSearch(world.clock, AlertRules(), "c9")
    some_beats(world, hand)
    ((pid,),) = client.sql("SELECT pg_backend_pid()")
    culprit = f"is locked by session {pid} ("
    asked = [gate_of(world, ref) or "" for ref in ("1", "batch:A", "file:1", "batch:B", "file:2")]
    waiting = [(one.batch, one.reason, one.clear) for one in status_of(world).waiting]
    soon = told_of(world, findings)
    world.clock.advance(LOCKED)
    some_beats(world, hand)
    later = told_of(world, findings)
    client.sql("ROLLBACK")
    some_beats(world, hand)

    assert [culprit in each for each in asked] == [True, True, True, False, False], asked
    assert waiting == [("A", asked[0], f"SELECT pg_terminate_backend({pid})")]
    assert soon == []
    assert [culprit in each for each in later] == [True]
    assert (told_of(world, findings), gate_of(world, "batch:A"), world.statuses()) == ([], None, ["complete"] * 2)
    hand.worker.end()


def test_who_keeps_the_rows_of_all_names_locked_is_named_and_incidents_are_opened_all_the_same(
    world: World, client: Hand
) -> None:
    world.batch(steps=1)
    client.sql("SELECT 1 FROM NamedLock FOR UPDATE")
    hand, alarm = hired(world, "c1"), Alarm(world)
    assert hand.worker.leading is not None
    hand.worker.leading.alarm = alarm.duty
    hand.worker.leading.upkeep = (alarm.duty,)
    hand.runner.script = lambda _rendered: BAD
    world.submit()
    world.submit(Data="x")
    some_beats(world, hand)
    ((said,),) = world.sql("SELECT Trouble FROM Controller")
    asked, soon = gate_of(world, "file:2") or "", world.sql("SELECT Kind FROM Incident")
    stuck = [(one.row.intake_id, one.because) for one in status_of(world).stuck]
    world.clock.advance(LOCKED)
    some_beats(world, hand)
    some_beats(world, hand)
    opened = {kind for (kind,) in world.sql("SELECT Kind FROM Incident")}
    client.sql("ROLLBACK")
    some_beats(world, hand)

    culprit = " is locked by session "
    assert [each in said for each in ("FileProcess 2: ", "incidents: ", culprit)] == [True, True, True], said
    assert culprit in asked
    assert stuck == [(2, asked)]
    assert soon == []
    assert opened == {"failed", "controller_trouble"}
    assert world.sql("SELECT Trouble FROM Controller") == [(None,)]
    assert world.one("SELECT count(*) FROM BatchControl") == 2
    hand.worker.end()


def a_pass(world: World, name: str) -> list[str]:
    """Do a pass as a clock starts one, and return which incidents stand after it."""
    hand, alarm = hired(world, name), Alarm(world, name=name)
    assert hand.worker.leading is not None
    hand.worker.leading.upkeep = (alarm.duty,)
    for _ in range(3):
        world.clock.advance(LOCKED_LOOK)
        hand.turn()
    hand.worker.keep_up()
    hand.worker.end()
    return [kind for (kind,) in world.sql("SELECT Kind FROM Incident WHERE ResolvedTime IS NULL")]


def test_passes_that_somebodys_lock_keeps_from_their_work_for_a_minute_open_an_incident(
    world: World, client: Hand
) -> None:
    world.batch(steps=1)
    world.submit()
    world.create()
    client.sql("UPDATE ProcessBatch SET Description = 'x' WHERE ProcessBatch_id = 1")
    found = [a_pass(world, "c1")]
    world.clock.advance(LOCKED)
    found.append(a_pass(world, "c2"))
    client.sql("ROLLBACK")
    found.append(a_pass(world, "c3"))

    assert found == [[], ["controller_trouble"], []]


def a_pass_that_met(world: World, name: str, failure: str | None, ago: timedelta) -> None:
    """Enter a pass that has ended, and what it said of locks."""
    world.sql(
        "INSERT INTO Controller (ControllerName, Host, Status, Heartbeat, Trouble) VALUES (?, 'h', 'stopped', ?, ?)",
        name,
        f"{world.clock.now() - ago:%Y-%m-%d %H:%M:%S}",
        failure,
    )


def test_a_creation_pass_counts_the_rows_that_somebody_keeps_locked_and_says_who(world: World, client: Hand) -> None:
    for name in ("A", "B"):
        world.batch(name, steps=1)
        world.submit(name)
    client.sql("SELECT 1 FROM ProcessBatch WHERE ProcessBatch_id = 1 FOR UPDATE")
    done = world.creator().create_instances()

    assert (done.created, [intake_id for intake_id, _ in done.locked]) == (1, [1])
    assert done.locked[0][1].startswith("the row, or its batch, is locked by session ")


@pytest.mark.parametrize(
    ("failure", "ago", "between", "opened"),
    [
        ("{own}", timedelta(days=3), False, ["controller_trouble"]),
        ("{own}", timedelta(days=3), True, ["controller_trouble"]),
        ("somebody keeps rows locked: batch A: x", timedelta(days=3), False, []),
        ("somebody keeps rows locked: batch A: x", timedelta(minutes=4), False, ["controller_trouble"]),
        ("somebody keeps rows locked: batch A: x", timedelta(minutes=4), True, []),
        (
            "somebody keeps rows locked: batch A: session 1 (psql, transaction open since 01:02:03 UTC)",
            ONE_MINUTE,
            False,
            [],
        ),
    ],
)
def test_a_lock_is_old_where_another_pass_has_met_it_soon_before_or_named_the_same_transaction(
    world: World, client: Hand, failure: str, ago: timedelta, between: bool, opened: list[str]
) -> None:
    world.batch(steps=1)
    world.submit()
    world.create()
    client.sql("UPDATE ProcessBatch SET Description = 'x' WHERE ProcessBatch_id = 1")
    a_pass(world, "c0")
    own = world.one("SELECT Trouble FROM Controller")
    world.sql("DELETE FROM Controller")
    a_pass_that_met(world, "c1", failure.format(own=own), ago)
    if between:
        a_pass_that_met(world, "c2", None, ONE_MINUTE)

    assert a_pass(world, "c3") == opened


def test_who_looks_once_opens_incidents_although_somebody_keeps_locked_what_stands_for_them(
    world: World, client: Hand
) -> None:
    world.batch(steps=1)
    world.submit()
    world.create()
    world.runner.script = lambda _rendered: BAD
    world.process()
    client.sql("SELECT 1 FROM NamedLock FOR UPDATE")

    assert a_pass(world, "c1") == ["failed"]
    client.sql("ROLLBACK")
