"""A worker's own row, and its turns among others: signs of life, the leader's duties, what the dead have left."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

import pytest

from batchctl.control import worker as worker_module
from batchctl.control.creation import Creator
from batchctl.control.leadership import Leadership, LeadersTransactions
from batchctl.control.membership import REMEMBERED, Membership
from batchctl.control.rescue import Rescue
from batchctl.control.worker import Leading, Worker
from batchctl.domain.commands import Identity
from batchctl.domain.errors import DatabaseRefused, OutcomeUnknown
from batchctl.domain.liveness import Rhythm
from batchctl.logs import Event
from batchctl.ports import Trace
from batchctl.store.transactions import StoreTransactions
from tests.control.timetable import Timetable
from tests.control.world import NO_WAIT, OK, RUNS_ON, ScriptedRunner, World

RHYTHM = Rhythm()
POLL = timedelta(seconds=15)
ROW = "SELECT ControllerName, Host, Pid, PidStart, BootId, Slots, HeartbeatSeq, Status, AppVersion FROM Controller"
SEEN = "SELECT ControllerName, HeartbeatSeq, Status FROM Controller ORDER BY ControllerName"


def test_a_controller_is_entered_with_what_others_need_to_look_for_it(world: World) -> None:
    member = world.membership(process=Identity(pid=12, pid_start="34", boot_id="b"))
    member.begin()
    assert world.sql(ROW) == [("c1", "host1", 12, "34", "b", 1, 0, "running", "1")]
    world.clock.advance(timedelta(seconds=3))
    due = [member.is_due]
    assert not member.beat()
    due.append(member.is_due)

    assert due == [True, False]
    assert world.sql("SELECT HeartbeatSeq, Heartbeat FROM Controller") == [(1, "2026-11-21 03:00:03.000")]
    member.end()
    assert world.sql(SEEN) == [("c1", 1, "stopped")]


def test_a_row_that_a_hand_has_deleted_is_entered_again(world: World) -> None:
    member = world.membership()
    member.begin()
    world.sql("DELETE FROM Controller")

    assert member.beat(), "others may have taken it for dead"
    assert world.sql(SEEN) == [("c1", 1, "running")]
    assert not member.beat()
    assert world.sql(SEEN) == [("c1", 2, "running")]


def test_one_that_was_found_dead_lives_again_with_its_next_sign(world: World) -> None:
    member = world.membership()
    member.begin()
    world.sql("UPDATE Controller SET Status = 'lost'")

    assert member.beat()
    assert world.sql(SEEN) == [("c1", 1, "running")]
    assert world.names() == ["controller.fenced"]
    assert not member.beat()
    assert world.names() == ["controller.fenced"]


def test_a_sign_that_may_not_have_arrived_is_none(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    member = world.membership()
    member.begin()
    world.clock.advance(RHYTHM.lease)
    with monkeypatch.context() as broken:
        broken.setattr(world.transactions, "run", unknown)
        with pytest.raises(OutcomeUnknown):
            member.beat()

    assert not member.is_trusted()
    assert member.is_due
    assert member.beat()
    assert member.is_trusted()


def test_no_sign_bears_the_number_of_one_whose_commit_nobody_saw(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    member = world.membership()
    member.begin()
    run = world.transactions.run

    def made(*what: Any, **how: Any) -> None:
        run(*what, **how)
        unknown()

    with monkeypatch.context() as broken:
        broken.setattr(world.transactions, "run", made)
        with pytest.raises(OutcomeUnknown):
            member.beat()
    unseen = world.sql(SEEN)
    member.beat()

    assert world.sql(SEEN) != unseen


def unknown(*_: object, **__: object) -> None:
    """Be a transaction of which nobody knows whether it was committed."""
    message = "nobody knows"
    raise OutcomeUnknown(message)


@pytest.mark.parametrize(
    ("what", "is_kept"),
    [
        ("UPDATE Controller SET Status = 'stopped'", False),
        ("UPDATE Controller SET Status = 'lost'", False),
        ("UPDATE Controller SET Status = 'running'", True),
        ("UPDATE BatchControl SET Status = 'running', ClaimedBy = 'old'", True),
    ],
)
def test_who_ended_long_ago_is_forgotten_unless_something_is_left_of_it(world: World, what: str, is_kept: bool) -> None:
    world.batch()
    world.submit()
    world.create()
    world.membership("old").begin()
    world.sql(what)
    world.clock.advance(REMEMBERED)
    world.membership("c2").begin()
    assert len(world.sql(SEEN)) == 2
    world.clock.advance(timedelta(seconds=1))
    world.membership("c3").begin()

    assert [row[0] for row in world.sql(SEEN)] == ["c2", "c3", *(["old"] if is_kept else [])]


class Hand(NamedTuple):
    """A worker, what it carries out, and what it tells."""

    worker: Worker
    runner: ScriptedRunner
    events: list[Event]

    @property
    def created(self) -> int:
        """Return how many instances it has created."""
        return [event.name for event in self.events].count("instance.created")

    def turn(self, times: int = 3) -> None:
        for _ in range(times):
            self.worker.turn(NO_WAIT)


def hired(world: World, name: str, *, slots: int = 1) -> Hand:
    """Return a worker on a connection of its own, which has begun."""
    hand = applicant(world, name, slots=slots)
    hand.worker.begin()
    return hand


def applicant(world: World, name: str, *, slots: int = 1) -> Hand:
    """Return a worker on a connection of its own."""
    transactions, runner, events = world.open(), ScriptedRunner(), list[Event]()
    member = world.membership(name, transactions=transactions)
    trusted = member.is_trusted
    controller = world.controller(name, slots=slots, transactions=transactions, runner=runner, is_trusted=trusted)

    def tell(event: Event) -> None:
        events.append(event)
        world.events.append(event)

    leadership = Leadership(transactions, world.clock, tell, name, RHYTHM)
    leaders = LeadersTransactions(transactions, leadership)
    creator = Creator(leaders, world.clock, world.populators, ZoneInfo("UTC"), tell)
    worker = Worker(
        controller,
        member,
        Rescue(transactions, world.clock, runner, world.recorder(name), events.append),
        runner,
        world.clock,
        events.append,
        Leading(leadership, creator, POLL),
    )
    return Hand(worker, runner, events)


@pytest.fixture
def hands(world: World) -> Iterator[tuple[Hand, Hand]]:
    """Return two workers."""
    made = hired(world, "c1"), hired(world, "c2")
    yield made
    for hand in made:
        hand.worker.end()


def test_only_one_of_two_workers_creates_and_the_other_follows_it(world: World, hands: tuple[Hand, Hand]) -> None:
    first, second = hands
    world.batch(steps=1, MaxConcurrent=9)
    first.turn()
    for number in range(6):
        world.submit(file_name=str(number))
        world.clock.advance(POLL)
        for hand in (second, first, second):
            hand.turn()
    assert (first.created, second.created) == (6, 0)

    first.worker.end()
    world.submit(file_name="later")
    world.clock.advance(RHYTHM.heartbeat_interval)
    second.turn()
    assert (first.created, second.created) == (6, 1)
    assert len(world.statuses()) == 7


def test_the_first_step_does_not_wait_for_the_rest_of_what_is_created(world: World, hands: tuple[Hand, Hand]) -> None:
    first, _ = hands
    world.batch(steps=1)
    first.turn()
    for number in range(3):
        world.submit(file_name=str(number))
    world.clock.advance(POLL)

    first.turn(1)
    assert (first.created, len(first.runner.started)) == (1, 1)
    first.turn(1)
    assert first.created == 3
    first.turn(6)
    assert world.statuses() == ["complete"] * 3


@pytest.mark.parametrize("enabled", [[1], [0, 1]])
def test_schedules_fire_once_whoever_leads(world: World, hands: tuple[Hand, Hand], enabled: list[int]) -> None:
    world.batch(steps=1, MaxConcurrent=9)
    timetable = Timetable(world)
    timetable.schedule(RunTimes="06:00")
    timetable.schedule("bad", RunTimes="06:00", BetweenTimes="23:58-23:59")
    for number in enabled:
        hands[number].worker.own_duties = [timetable.leader(world.open())]
    for hours in (0, 3, 1):
        world.clock.advance(timedelta(hours=hours))
        for hand in hands:
            hand.turn()

    assert hands[0].worker.leading.is_leader  # type: ignore[union-attr]  # both have it
    assert not hands[1].worker.leading.is_leader  # type: ignore[union-attr]  # as above
    assert timetable.fires() == [("2026-11-21T06:00", "fired", 1)]
    assert world.statuses() == ["complete"]
    assert [(event, source) for event, source, _ in timetable.log() if event != "completed"] == [
        ("error", "schedule bad"),
        ("fired", "schedule s"),
    ]
    assert "controller.waiting" not in world.names()
    assert all(hand.worker.is_idle for hand in hands)


def test_what_a_worker_fires_that_does_not_lead_the_leader_creates(world: World, hands: tuple[Hand, Hand]) -> None:
    first, second = hands
    world.batch(steps=1)
    timetable = Timetable(world)
    timetable.harmless = False
    timetable.schedule(RunTimes="06:00")
    second.worker.own_duties = [timetable.leader(world.open())]
    first.turn()
    second.turn()
    world.clock.advance(timedelta(hours=3))
    first.turn()
    second.turn()
    world.clock.advance(timedelta(seconds=1))
    for _ in range(1000):
        # A server tells others of a row a moment after it is committed.
        first.turn()
        if first.created:
            break

    assert (first.created, second.created) == (1, 0)
    assert world.statuses() == ["complete"]


def test_a_single_round_fires_first_also_where_another_leads(world: World, hands: tuple[Hand, Hand]) -> None:
    first, second = hands
    world.batch(steps=1)
    timetable = Timetable(world)
    timetable.schedule(RunTimes="06:00")
    second.worker.own_duties = [timetable.leader(world.open())]
    first.turn()
    second.worker.lead()
    world.clock.advance(timedelta(hours=3))
    second.worker.lead()

    assert timetable.fired() == ["2026-11-21T06:00"]
    assert not second.worker.is_idle, "its instance can be worked on"


def test_schedules_that_may_not_be_read_are_told_of_once_until_that_is_over(
    world: World, hands: tuple[Hand, Hand]
) -> None:
    first, _ = hands
    world.batch()
    timetable, refused = Timetable(world), Refusing(world.transactions)
    timetable.schedule(RunTimes="06:00")
    first.worker.own_duties = [timetable.leader(refused)]
    for _ in range(40):
        first.turn()
        world.clock.advance(timedelta(seconds=2.5))
    tried, told = refused.asked, [event.name for event in first.events if event.name.startswith("controller.")]
    refused.refuses = False
    first.turn()

    assert told == ["controller.waiting"]
    assert 30 <= tried <= 40
    assert [event.name for event in first.events if event.name.startswith("controller.")] == [
        *told,
        "controller.resumed",
    ]
    assert timetable.standing()[1] == "2026-11-21 06:00"


class Refusing:
    """Transactions of a role that may not read."""

    def __init__(self, inner: Any) -> None:
        self.inner, self.refuses, self.asked = inner, True, 0
        self.run = inner.run

    def read(self) -> Any:
        self.asked += self.refuses
        if self.refuses:
            message = "permission denied for table schedule"
            raise DatabaseRefused(message)
        return self.inner.read()


def test_what_the_leader_creates_any_worker_carries_out(world: World, hands: tuple[Hand, Hand]) -> None:
    first, second = hands
    world.batch(steps=1)
    first.turn()
    second.turn()
    first.worker.controller.request_stop()
    world.submit()
    world.clock.advance(POLL)
    first.turn()
    before = world.statuses()
    first.worker.end()
    world.clock.advance(POLL)
    second.turn(6)

    assert before == [], "who is told to stop creates nothing more"
    assert world.sql("SELECT Status FROM BatchControl") == [("complete",)]
    assert world.one("SELECT ClaimedBy FROM BatchProcessHistory") == "c2"


def test_a_worker_gives_signs_of_life_and_keeps_the_lease_of_its_steps(world: World, hands: tuple[Hand, Hand]) -> None:
    first, _ = hands
    begun = first.runner.lease_until
    world.clock.advance(RHYTHM.heartbeat_interval)
    first.turn()
    beat = world.one("SELECT HeartbeatSeq FROM Controller WHERE ControllerName = 'c1'")
    first.turn()

    assert beat == world.one("SELECT HeartbeatSeq FROM Controller WHERE ControllerName = 'c1'") == 1
    assert first.runner.lease_until - begun == RHYTHM.heartbeat_interval.total_seconds()
    assert begun == pytest.approx(world.clock.monotonic() - 3 + RHYTHM.lease.total_seconds())


def test_a_worker_that_stops_goes_on_giving_signs_of_life_and_leaves_the_dead_to_others(
    world: World, hands: tuple[Hand, Hand]
) -> None:
    first, second = hands
    first.runner.script = lambda rendered: RUNS_ON
    world.batch(steps=1)
    world.submit()
    first.turn(6)
    assert first.runner.open
    first.worker.controller.request_stop()
    for _ in range(200):
        world.clock.advance(RHYTHM.heartbeat_interval)
        first.turn(1)
        second.turn(1)

    assert world.history() == [(1, 10, 1, "auto", "running")]
    assert first.worker.membership.is_trusted()


def test_another_leads_while_the_steps_of_a_leader_that_stops_still_run(world: World, hands: tuple[Hand, Hand]) -> None:
    first, second = hands
    first.runner.script = lambda rendered: RUNS_ON
    world.batch(steps=1)
    world.submit()
    first.turn(6)
    assert first.runner.open

    first.worker.controller.request_stop()
    first.turn()
    world.submit(file_name="later")
    world.clock.advance(RHYTHM.heartbeat_interval)
    second.turn()
    first.turn()

    assert (first.created, second.created) == (1, 1)
    assert first.runner.open


def test_a_worker_takes_over_what_a_silent_one_has_left(world: World, hands: tuple[Hand, Hand]) -> None:
    first, second = hands
    first.runner.script = second.runner.script = lambda rendered: RUNS_ON
    world.batch(steps=1)
    world.submit()
    first.turn(6)
    (key,) = first.runner.open
    second.runner.traces[key] = Trace.ADOPTABLE
    for _ in range(101):
        world.clock.advance(RHYTHM.heartbeat_interval)
        second.turn(1)

    assert second.runner.adopted == [(key, "c1")]
    assert world.sql("SELECT ClaimedBy, ClaimToken FROM BatchControl") == [("c2", 2)]
    assert world.sql("SELECT ControllerName, Status FROM Controller ORDER BY 1") == [("c1", "lost"), ("c2", "running")]
    first.runner.goes_on_alone = True
    first.turn()
    assert not first.worker.controller.is_working
    assert first.runner.stopped == []
    second.runner.end(key, world.ok)
    second.turn()
    assert world.statuses() == ["complete"]


@pytest.mark.full
def test_to_look_through_what_is_known_is_no_work(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else nobody who waits for idleness would ever see it beside many ready rows."""
    monkeypatch.setattr(worker_module, "SLICE", -1.0)
    world.batch(Enabled=0)
    world.hand.many("INSERT INTO FileProcess (Entity, FileName) VALUES ('B', ?)", [(str(at),) for at in range(3000)])
    hand = hired(world, "c1")
    hand.turn()
    was_idle = [hand.worker.is_idle]
    while world.one("SELECT count(*) FROM BatchControl") < 3000:
        hand.turn()
    hand.turn(20)
    was_idle.append(hand.worker.is_idle)
    world.clock.advance(POLL)
    hand.turn()
    was_idle.append(hand.worker.is_idle)
    leading = hand.worker.leading
    hand.worker.end()

    assert leading is not None
    assert leading.creation is not None, "it looks through all of it again"
    assert was_idle == [False, True, True], "at first nobody knows what there is to be made"


def test_what_cannot_be_done_for_long_is_told_once_and_so_is_its_end(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker = hired(world, "c1")
    told = len(worker.events)
    with monkeypatch.context() as broken:
        broken.setattr(Membership, "beat", lambda *_, **_more: away())
        for _ in range(3):
            world.clock.advance(RHYTHM.heartbeat_interval)
            worker.turn()
    assert [event.name for event in worker.events[told:]] == ["controller.waiting"]
    world.clock.advance(RHYTHM.heartbeat_interval)
    worker.turn(2)

    assert [event.name for event in worker.events[told:]] == ["controller.waiting", "controller.resumed"]
    worker.worker.end()


def test_another_reason_to_wait_is_told_too_and_once(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    worker = hired(world, "c1")
    told = len(worker.events)
    for message in ("The server is away.", "The tables are locked."):
        with monkeypatch.context() as broken:
            broken.setattr(Membership, "beat", lambda *_, said=message, **_more: away(said))
            for _ in range(2):
                world.clock.advance(RHYTHM.heartbeat_interval)
                worker.turn()
    world.clock.advance(RHYTHM.heartbeat_interval)
    worker.turn(2)

    assert [(event.name, event.fields.get("Message")) for event in worker.events[told:]] == [
        ("controller.waiting", "The server is away."),
        ("controller.waiting", "The tables are locked."),
        ("controller.resumed", None),
    ]
    worker.worker.end()


def test_a_worker_that_serves_waits_for_a_database_that_goes_away_while_it_begins(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = hired(world, "c1"), applicant(world, "c2")
    first.runner.script = second.runner.script = lambda rendered: RUNS_ON
    world.batch(steps=1)
    world.submit()
    first.turn(6)
    second.runner.gone = lambda row: row.name == "c1"
    with monkeypatch.context() as broken:
        broken.setattr(second.worker.membership.transactions, "read", away)
        second.worker.begin(patient=True)
    assert [event.name for event in second.events] == ["controller.waiting"]
    world.clock.advance(RHYTHM.heartbeat_interval)
    second.turn()
    second.worker.end()

    assert world.history() == [(1, 10, 1, "auto", "lost")], "the look it could not make then is made later"
    assert second.runner.kept == {"c2"}
    assert {"controller.resumed"} <= {event.name for event in second.events}


def test_a_pass_ends_when_the_database_goes_away_while_it_begins(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    hand = applicant(world, "c1")
    monkeypatch.setattr(hand.worker.membership.transactions, "read", away)

    with pytest.raises(DatabaseRefused):
        hand.worker.begin()


def away(message: str = "The database does not answer.") -> None:
    """Be a database that does not answer."""
    raise DatabaseRefused(message)


def test_a_worker_that_was_silent_for_too_long_begins_nothing_before_its_next_sign(world: World) -> None:
    hand = hired(world, "c1")
    world.batch(steps=1)
    world.submit()
    world.create()
    world.clock.advance(RHYTHM.lease)
    controller = hand.worker.controller
    for _ in range(3):
        controller.turn(NO_WAIT)
    before = list(hand.runner.started)
    hand.turn()
    hand.worker.end()

    assert before == []
    assert world.statuses() == ["complete"]


def test_who_gives_a_place_up_is_noticed_by_those_that_may_have_waited_for_it(world: World) -> None:
    world.batch(steps=1)
    world.submit()
    world.create()
    other = world.open()
    controller = world.controller()
    world.runner.script = lambda rendered: None
    while not world.runner.open:
        controller.turn(NO_WAIT)
    other.changed()
    noticed(other)
    world.runner.end(world.runner.started[0], OK)
    world.turn_until_idle(controller)

    assert world.statuses() == ["complete"]
    assert noticed(other)


def noticed(transactions: StoreTransactions) -> bool:
    """Say whether a change has been noticed; what a server has sent is there with its next answer."""
    with transactions.read() as connection:
        connection.exec_driver_sql("SELECT 1")
    return bool(transactions.changed())


def test_an_end_whose_attempt_somebody_has_ended_by_hand_is_left_to_a_person(world: World) -> None:
    world.batch(steps=2)
    world.submit()
    world.create()
    controller = world.controller()
    world.runner.script = lambda rendered: None
    while not world.runner.open:
        controller.turn(NO_WAIT)
    world.sql("UPDATE BatchProcessHistory SET Status = 'failed', EndTime = StartTime")
    world.runner.end(world.runner.started[0], OK)
    world.turn_until_idle(controller)

    assert world.statuses() == ["held"]
    assert world.history() == [(1, 10, 1, "auto", "failed")]
