"""Backfills: due times of the past are worked off once each, few at a time, whoever else is at it."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from batchctl.control.scheduling.backfilling import Backfilling
from batchctl.control.scheduling.deciding import Deciding
from batchctl.control.scheduling.firing import Firing
from batchctl.domain.errors import Refused
from batchctl.domain.rows import InstanceId
from batchctl.domain.scheduling.backfill_turns import Fate
from batchctl.domain.scheduling.schedules import BackfillId
from batchctl.operations.intervene import Operator
from batchctl.operations.operators.acts import Actor
from batchctl.operations.scheduling import backfiller as backfills
from batchctl.operations.scheduling.backfiller import Backfiller, BackfillPreview, Span
from batchctl.ports import Boundary
from batchctl.store.transactions import StoreTransactions
from tests.acceptance.installation import ROOT
from tests.control.world import BAD, RUNS_ON, World
from tests.control_databases import ACTS, ControlDatabase

GRACE = timedelta(seconds=300)
ZONE = "Europe/Amsterdam"
NOW = "2026-11-21 03:00:00.000"
WEEK = Span(first=date(2026, 11, 2), last=date(2026, 11, 8))
DAYS = [f"2026-11-{day:02}" for day in range(2, 9)]


class Past:
    """A batch `B` that a schedule `nightly` starts at six every morning, and nobody was there for a long time."""

    def __init__(self, database: ControlDatabase) -> None:
        self.world = World(database)
        self.world.batch()
        self.schedule()
        self.duty = self.leader()

    def schedule(self, name: str = "nightly", **given: object) -> None:
        """Define a schedule by a row, as everybody does."""
        usual = {"ScheduleName": name, "Entity": "B", "ScheduleType": "daily", "RunTimes": "06:00"}
        armed = {"TimeZone": ZONE, "DecidedUntil": NOW}
        self.world._insert("Schedule", {**usual, **armed, **given})

    def leader(self, transactions: Any = None, *, harmless: bool = True) -> Backfilling:
        """Return the duty of a leader that has just become one."""
        world = self.world
        deciding = Deciding(world.clock, world.creator(), lambda batch: harmless, GRACE, "2026a")
        means = transactions or world.transactions, world.clock, deciding, world.events.append
        return Backfilling(*means, 15.0, "UTC", lambda: None)

    def ask(self, name: str = "nightly", span: Span = WEEK, *, dry_run: bool = False, **given: Any) -> BackfillPreview:
        """Ask for a backfill as the command does."""
        return self.clerk(dry_run=dry_run).begin(name, span, **given)

    def clerk(self, *, dry_run: bool = False) -> Backfiller:
        world = self.world
        actor = Actor(transactions=world.transactions, clock=world.clock, user="anna", host="host1", dry_run=dry_run)
        return Backfiller(actor=actor, default_zone="UTC")

    def work_off(self, most: int = 50) -> None:
        """Fire and process until nothing more comes of it."""
        idle = 0
        for _ in range(most):
            idle = 0 if self.duty.finish() else idle + 1
            self.world.create()
            self.world.process()
            if idle == 2:
                return
        raise AssertionError("the backfill never came to its end")

    def listed(self) -> tuple[backfills.Listed, ...]:
        """Return what the list of backfills says, newest first."""
        return backfills.everyone(self.world.transactions, self.world.clock.now(), "UTC")[0]

    def cycle_keys(self) -> list[str]:
        """Return the business dates of all that was asked for, in order."""
        return [row[0] for row in self.world.sql("SELECT CycleKey FROM FileProcess ORDER BY FileProcess_id")]

    def fires(self) -> list[tuple[Any, ...]]:
        """Return key, outcome and backfill of what was decided."""
        return self.world.sql("SELECT FireKey, Outcome, ScheduleBackfill_id FROM ScheduleFire ORDER BY ScheduleFire_id")

    def state(self, backfill_id: int = 1) -> tuple[Any, ...]:
        """Return status and count of a backfill."""
        query = "SELECT Status, Fired FROM ScheduleBackfill WHERE ScheduleBackfill_id = ?"
        return self.world.sql(query, backfill_id)[0]

    def decide(self, key: str, due: str, outcome: str = "skipped", until: str | None = None) -> None:
        """Leave behind what the schedule itself has decided."""
        values: dict[str, object] = {"Schedule_id": 1, "FireKey": key, "Outcome": outcome, "DueTime": due}
        if outcome == "fired":
            values["FileProcess_id"] = self.world.submit(Status="complete", CycleKey="before")
        self.world._insert("ScheduleFire", values | ({} if until is None else {"DueUntil": until, "Instants": 3}))


@pytest.fixture
def past(control_database: ControlDatabase) -> Iterator[Past]:
    made = Past(control_database)
    yield made
    made.world.close()


@pytest.mark.parametrize("harmless", [True, False])
def test_each_due_time_is_worked_off_once_and_oldest_first(past: Past, harmless: bool) -> None:
    past.duty = past.leader(harmless=harmless)
    preview = past.ask(reason="the server was away")

    past.work_off()

    assert (preview.to_fire, preview.backfill_id) == (7, 1)
    assert past.cycle_keys() == DAYS
    assert past.world.statuses() == ["complete"] * 7
    assert past.fires() == [(f"{day}T06:00", "fired", 1) for day in DAYS]
    assert past.state() == ("complete", 7)
    said = past.world.sql("SELECT Source, Message FROM FileProcess WHERE FileProcess_id = 1")
    words = f"daily at 06:00, {ZONE}; due 2026-11-02 06:00 +01:00; backfill 1 by anna@host1"
    assert said == [("schedule nightly", words)]
    assert not past.duty.finish()


def test_what_fired_before_its_day_was_a_day_off_is_not_started_again_where_it_is_shifted_to(past: Past) -> None:
    past.world.sql("INSERT INTO Calendar (CalendarName) VALUES ('NL')")
    monthly = "ScheduleType = 'monthly', RunDaysOfMonth = '3,6', CalendarName = 'NL', CalendarRule = 'next'"
    past.world.sql(f"UPDATE Schedule SET {monthly}")
    past.decide("2026-11-03T06:00", "2026-11-03 05:00:00.000", "fired")
    past.world.sql("INSERT INTO CalendarDay (Calendar_id, CalendarDate) VALUES (1, '2026-11-03')")
    preview = past.ask()

    past.work_off()

    assert past.cycle_keys() == ["before", "2026-11-06"]
    assert [one.key for one in preview.fires] == ["2026-11-06T06:00"]
    assert [(one.outcome.value, one.reason) for one in preview.before] == [
        ("fired", "due as 2026-11-03T06:00 before its calendar was changed")
    ]
    assert past.state() == ("complete", 1)


def test_no_more_is_unfinished_at_once_than_was_asked_for(past: Past) -> None:
    world = past.world
    world.runner.script = lambda rendered: RUNS_ON
    past.ask(most_open=2)

    assert past.duty.finish()
    assert past.cycle_keys() == DAYS[:2]
    past.world.create()
    controller = world.process()
    assert not past.duty.finish()
    world.runner.end(next(iter(world.runner.open)), world.ok)
    world.turn_until_idle(controller)
    assert not past.duty.finish()  # The first has another step.
    world.runner.script = lambda rendered: world.ok
    for key in list(world.runner.open):
        world.runner.end(key, world.ok)
    world.turn_until_idle(controller)

    assert past.duty.finish()
    assert past.cycle_keys() == DAYS[:4]


def test_one_that_fails_keeps_its_place_until_somebody_deals_with_it(past: Past) -> None:
    past.world.runner.script = lambda rendered: BAD
    past.ask()

    past.work_off()

    assert past.cycle_keys() == DAYS[:1]
    assert past.state() == ("running", 1)


def test_what_was_decided_before_stays_decided(past: Past) -> None:
    past.decide("2026-11-03T06:00", "2026-11-03 05:00:00.000", "fired")
    past.decide("2026-11-04T06:00", "2026-11-04 05:00:00.000")

    preview = past.ask()
    past.work_off()

    assert (preview.to_fire, preview.fates[Fate.DECIDED]) == (5, 2)
    assert [(one.instant.key, one.outcome.value) for one in preview.before] == [
        ("2026-11-03T06:00", "fired"),
        ("2026-11-04T06:00", "skipped"),
    ]
    assert past.cycle_keys()[1:] == [DAYS[0], *DAYS[3:]]


@pytest.mark.parametrize(("missed", "expected"), [(False, [*DAYS[:2], *DAYS[5:]]), (True, DAYS)])
def test_what_was_missed_is_left_so_unless_it_is_wanted(past: Past, missed: bool, expected: list[str]) -> None:
    past.decide("2026-11-04T06:00..2026-11-06T06:00", "2026-11-04 05:00:00.000", until="2026-11-06 05:00:00.000")

    preview = past.ask(missed=missed)
    past.work_off()

    assert past.cycle_keys() == expected
    assert preview.fates.get(Fate.MISSED, 0) == 7 - len(expected)
    assert preview.to_fire == len(expected)


def test_two_leaders_for_a_moment_fire_nothing_twice(past: Past) -> None:
    past.ask(most_open=3)
    other = past.leader(past.world.open())

    for _ in range(6):
        past.duty.finish()
        other.finish()
        past.world.create()
        past.world.process()

    assert past.cycle_keys() == DAYS
    assert past.state() == ("complete", 7)


def test_two_leaders_at_the_very_same_time_fire_nothing_twice(past: Past) -> None:
    summer = Span(first=date(2026, 5, 1), last=date(2026, 8, 8))
    past.ask(span=summer, most_open=1000)
    ways = [past.world.open() for _ in range(2)]

    def lead(way: StoreTransactions) -> None:
        leader = past.leader(way)
        for _ in range(50):
            leader.finish()
        way.close()

    threads = [threading.Thread(target=lead, args=(way,)) for way in ways]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    past.duty.finish()

    keys = past.cycle_keys()
    assert (len(keys), len(set(keys))) == (100, 100)
    assert past.state() == ("complete", 100)
    assert len(past.world.statuses()) == 100


class Interrupted:
    """A way to the database on which something happens just before the first write."""

    def __init__(self, inner: StoreTransactions, meanwhile: Callable[[], object]) -> None:
        self._inner = inner
        self._meanwhile: Callable[[], object] | None = meanwhile
        self.read = inner.read

    def run(self, boundaries: frozenset[Boundary], work: Callable[[Any], Any], *, nowait: bool = False) -> Any:
        meanwhile, self._meanwhile = self._meanwhile, None
        if meanwhile is not None:
            meanwhile()
        return self._inner.run(boundaries, work, nowait=nowait)


def test_a_leader_that_was_frozen_fires_nothing_that_another_has_fired(past: Past) -> None:
    past.ask(most_open=7)
    frozen = past.leader(Interrupted(past.world.open(), past.duty.finish))

    frozen.finish()

    assert past.cycle_keys() == DAYS


def test_one_that_only_waits_begins_no_transaction(past: Past) -> None:
    past.ask()
    past.duty.finish()
    begun = list[bool]()
    waiting = past.leader(Interrupted(past.world.open(), lambda: begun.append(True)))

    waiting.finish()
    assert begun == []
    past.world.process()
    waiting.finish()

    assert begun == [True]
    assert past.cycle_keys() == DAYS[:2]


def test_a_leader_that_was_frozen_fires_nothing_of_what_was_cancelled_or_removed_meanwhile(past: Past) -> None:
    world = past.world
    past.ask()
    past.leader(Interrupted(world.open(), lambda: past.clerk().cancel(BackfillId(1), reason="enough"))).finish()
    assert past.cycle_keys() == []
    past.ask()

    def remove() -> None:
        world.sql("DELETE FROM ScheduleBackfill")
        world.sql("DELETE FROM Schedule")

    past.leader(Interrupted(world.open(), remove)).finish()

    assert past.cycle_keys() == []


class Cut:
    """A way to the database that is cut before the commit, every other time."""

    def __init__(self, inner: StoreTransactions) -> None:
        self._inner = inner
        self._calls = 0
        self.read = inner.read

    def run(self, boundaries: frozenset[Boundary], work: Callable[[Any], Any], *, nowait: bool = False) -> Any:
        self._calls += 1

        def killed(connection: Any) -> Any:
            work(connection)
            raise KeyboardInterrupt

        return self._inner.run(boundaries, killed if self._calls % 2 else work, nowait=nowait)


def test_a_leader_that_is_killed_before_its_commit_has_done_nothing(past: Past) -> None:
    past.ask(most_open=2)
    cut = Cut(past.world.open())

    for _ in range(20):
        try:
            past.leader(cut).finish()
        except KeyboardInterrupt:
            continue
        past.world.create()
        past.world.process()

    assert past.cycle_keys() == DAYS
    assert past.state() == ("complete", 7)


def test_item_45_it_goes_on_while_schedule_and_batch_are_disabled(past: Past) -> None:
    """[AF-20] The instances are created and wait, as those of any disabled batch; the throttle holds."""
    world = past.world
    world.sql("UPDATE Schedule SET Enabled = 0, NextRunTime = NULL, DecidedUntil = NULL, TimingHash = NULL")
    world.sql("UPDATE ProcessBatch SET Enabled = 0")

    preview = past.ask(most_open=2)
    past.work_off()

    assert "batch B is disabled: its instances are created and wait until it is enabled" in list(preview.warnings)
    assert world.statuses() == ["ready", "ready"]
    world.sql("UPDATE ProcessBatch SET Enabled = 1")
    past.work_off()
    assert past.cycle_keys() == DAYS
    assert world.statuses() == ["complete"] * 7
    assert world.one("SELECT Enabled FROM Schedule") == 0


def test_af_17_a_backfill_makes_the_schedule_itself_do_nothing_more_and_nothing_less(past: Past) -> None:
    before = past.world.sql("SELECT NextRunTime, DecidedUntil, TimingHash, Enabled FROM Schedule")

    past.ask()
    past.work_off()

    assert past.world.sql("SELECT NextRunTime, DecidedUntil, TimingHash, Enabled FROM Schedule") == before


def test_af_18_a_backfill_of_one_schedule_touches_no_other(past: Past) -> None:
    world = past.world
    world.batch("Other")
    past.schedule("other", Entity="Other")
    world.runner.script = lambda rendered: BAD
    past.ask("other")
    past.work_off()
    world.runner.script = lambda rendered: world.ok

    past.ask()
    past.work_off()

    started = world.sql("SELECT Entity, count(*) FROM FileProcess GROUP BY Entity ORDER BY Entity")
    assert started == [("B", 7), ("Other", 1)]
    assert [past.state(1), past.state(2)] == [("running", 1), ("complete", 7)]


def test_backfills_that_overlap_fire_no_due_time_twice(past: Past) -> None:
    past.ask(span=Span(first=date(2026, 11, 2), last=date(2026, 11, 6)), most_open=2)
    past.ask(span=Span(first=date(2026, 11, 4), last=date(2026, 11, 8)), most_open=2)

    past.work_off()

    assert sorted(past.cycle_keys()) == DAYS
    assert [past.state(at)[0] for at in (1, 2)] == ["complete", "complete"]
    assert past.state(1)[1] + past.state(2)[1] == 7


def test_a_cancelled_one_starts_nothing_more_and_what_is_open_stays(past: Past) -> None:
    world = past.world
    past.ask(most_open=2)
    past.duty.finish()
    world.create()

    past.clerk().cancel(BackfillId(1), reason="enough")
    world.process()
    assert not past.duty.finish()

    assert world.statuses() == ["complete", "complete"]
    assert past.state() == ("cancelled", 2)
    assert world.one("SELECT Action FROM AuditLog WHERE Target = 'ScheduleBackfill:1'") == "cancel"
    with pytest.raises(Refused, match="ScheduleBackfill 1 is cancelled already"):
        past.clerk().cancel(BackfillId(1), reason="again")


def test_a_schedule_that_is_changed_meanwhile_counts_as_it_stands(past: Past) -> None:
    past.ask()
    past.duty.finish()
    past.world.create()
    past.world.process()
    past.world.sql("UPDATE Schedule SET RunTimes = '18:00', RunDays = 'Sat,Sun'")

    past.work_off()

    assert [row[0] for row in past.fires()] == ["2026-11-02T06:00", "2026-11-07T18:00", "2026-11-08T18:00"]


def test_due_times_of_one_moment_are_all_worked_off(past: Past) -> None:
    """Clocks leave out the hour in which both are due: both come when it is over, and there is room for one only."""
    past.world.sql("UPDATE Schedule SET RunTimes = '02:00,02:30'")
    past.ask(span=Span(first=date(2026, 3, 29), last=date(2026, 3, 29)))

    past.work_off()

    assert [row[0] for row in past.fires()] == ["2026-03-29T02:00", "2026-03-29T02:30"]
    assert past.state() == ("complete", 2)


def test_many_due_times_are_worked_off_a_page_at_a_time(past: Past, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("batchctl.control.scheduling.backfilling.PAGE", 3)
    monkeypatch.setattr("batchctl.control.scheduling.backfilling.AT_ONCE", 2)
    past.decide("2026-11-02T06:00..2026-11-05T06:00", "2026-11-02 05:00:00.000", until="2026-11-05 05:00:00.000")
    past.ask(most_open=100)

    assert past.duty.finish()

    assert past.cycle_keys() == DAYS[4:]
    assert past.state() == ("complete", 3)


def test_a_look_takes_a_while_at_most_and_the_rest_follows(past: Past, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("batchctl.control.scheduling.backfilling.AT_ONCE", 1)
    monkeypatch.setattr("batchctl.control.scheduling.backfilling.SLICE", 0.0)
    past.ask(most_open=100)
    looks = 0
    while past.duty.look() or past.duty.is_busy:
        looks += 1
        past.world.clock.advance(timedelta(seconds=1))
        assert looks < 50

    assert past.cycle_keys() == DAYS
    assert looks >= 7


def test_one_that_cannot_go_on_keeps_no_other_from_going_on_and_is_told_once(past: Past) -> None:
    world = past.world
    past.schedule("other")
    past.ask()
    past.ask("other")
    world.sql("UPDATE Schedule SET CalendarName = 'NL' WHERE Schedule_id = 1")

    past.work_off()
    past.leader().finish()

    assert past.state(2) == ("complete", 7)
    said = (
        "CalendarName: There is no calendar 'NL'. `batchctl calendar import NL --country CC --years YYYY` makes one;"
        " until that is corrected it starts nothing"
    )
    assert errors(past) == [("backfill 1", said)]
    (first, second) = past.listed()
    assert (first.waits, str(second.waits)) == (None, f"its schedule cannot be understood: {said.partition(';')[0]}.")
    world.sql("UPDATE Schedule SET CalendarName = NULL")
    past.work_off()
    assert past.state(1) == ("complete", 7)


def errors(past: Past) -> list[tuple[Any, ...]]:
    """Return source and message of the errors that were logged."""
    query = "SELECT Source, Message FROM SchedulerLog WHERE EventType = 'error' ORDER BY SchedulerLog_id"
    return past.world.sql(query)


def test_one_whose_schedule_nobody_can_read_keeps_no_other_from_going_on(past: Past) -> None:
    past.schedule("other")
    past.ask()
    past.ask("other")
    past.world.hand.loosen()
    past.world.sql("UPDATE Schedule SET CatchUp = 'sometimes' WHERE Schedule_id = 1")

    past.work_off()
    past.leader().finish()

    assert past.state(2) == ("complete", 7)
    ((source, said),) = errors(past)
    assert source == "backfill 1"
    assert said.startswith("ValueError: 'sometimes' is not a valid CatchUp; until that is corrected")
    assert [one.waits for one in past.listed()] == [None, "the row of its schedule cannot be read"]


@pytest.mark.parametrize("control_database", ["sqlite"], indirect=True)
@pytest.mark.parametrize("column", ["FromTime", "DoneUntil"])
def test_one_whose_row_nobody_can_read_is_told_and_never_complete(past: Past, column: str) -> None:
    past.schedule("other")
    past.ask()
    past.ask("other")
    past.world.hand.loosen()
    past.world.sql(f"UPDATE ScheduleBackfill SET {column} = 'garbage' WHERE ScheduleBackfill_id = 1")

    past.work_off()
    past.leader().finish()

    assert [past.state(1), past.state(2)] == [("running", 0), ("complete", 7)]
    said = f"the row cannot be read: {column} is no time"
    assert errors(past) == [("backfill 1", f"{said}; until that is corrected it starts nothing")]
    _, (unreadable,) = backfills.everyone(past.world.transactions, past.world.clock.now(), "UTC")
    (other,) = past.listed()
    assert (unreadable.columns()["ScheduleBackfill_id"], unreadable.waits) == (1, said)
    assert unreadable.columns().keys() == backfills.BACKFILLS.of(other).keys()


def test_what_ails_a_schedule_and_its_backfill_is_logged_once_each(past: Past) -> None:
    world = past.world
    past.ask()
    world.sql("UPDATE Schedule SET BetweenTimes = '23:58-23:59', TimingHash = NULL")
    for _ in range(3):
        for node in (world.transactions, world.open()):
            deciding = Deciding(world.clock, world.creator(), lambda batch: True, GRACE, "2026a")
            firing = Firing(node, world.clock, deciding, world.events.append, 15.0, "UTC", lambda: None)
            firing.finish()
            past.leader(node).finish()
            firing.finish()

    assert sorted(source for source, _ in errors(past)) == ["backfill 1", "schedule nightly"]


def test_one_whose_schedule_was_deleted_by_hand_is_cancelled(past: Past) -> None:
    past.ask()
    past.world.hand.loosen()
    past.world.sql("DELETE FROM Schedule")

    assert not past.duty.finish()

    assert past.state() == ("cancelled", 0)
    (told,) = [event for event in past.world.events if event.name == "backfill.cancelled"]
    assert told.fields == {"ScheduleBackfill_id": 1, "Message": "its schedule was deleted"}


def test_a_refused_instance_leaves_its_row_which_says_why(past: Past) -> None:
    forbid = {
        "sqlite": "CREATE TRIGGER no BEFORE INSERT ON BatchControl BEGIN SELECT raise(ABORT, 'not by me'); END",
        "postgresql": "ALTER TABLE BatchControl ADD CONSTRAINT not_by_me CHECK (CycleKey = 'never')",
    }
    past.world.sql(forbid[past.world.database.kind])
    past.ask()
    past.work_off()

    assert past.state() == ("complete", 7)
    assert {row[0] for row in past.world.sql("SELECT Status FROM FileProcess")} == {"rejected"}


@pytest.mark.parametrize("zone", ["Pacific/Kiritimati", "Pacific/Pago_Pago"])
def test_the_ends_of_the_calendar_are_no_trouble(past: Past, zone: str) -> None:
    past.world.sql("UPDATE Schedule SET TimeZone = ?, StartDate = '2026-11-18'", zone)

    found = past.ask(span=Span(first=date.min, last=date(2026, 11, 18)), dry_run=True)
    with pytest.raises(Refused, match="9999-12-31 is still to come"):
        past.ask(span=Span(first=date.min, last=date.max))
    with pytest.raises(Refused, match="--to, 0001-01-01, lies before --from, 0001-01-02"):
        past.ask(span=Span(first=date(1, 1, 2), last=date.min))

    assert (found.to_fire, found.first) == (1, datetime(1900, 1, 1, tzinfo=UTC) - offset(zone, 1900))


def test_one_that_begins_with_the_calendar_ends_too(past: Past) -> None:
    past.world.sql("UPDATE Schedule SET StartDate = '2026-11-18'")
    row = {"Schedule_id": 1, "FromTime": "0001-01-01 00:00:00.000", "UntilTime": "2026-11-19 00:00:00.000"}
    past.world._insert("ScheduleBackfill", {**row, "Actor": "anna"})

    past.work_off()

    assert past.state() == ("complete", 1)
    assert past.cycle_keys() == ["2026-11-18"]


def offset(zone: str, year: int) -> timedelta:
    return datetime(year, 1, 1, tzinfo=ZoneInfo(zone)).utcoffset() or timedelta(0)


def wall(hour: int, minute: int = 0) -> datetime:
    return datetime(2026, 11, 21, hour, minute)  # noqa: DTZ001 - wall time


@pytest.mark.parametrize(
    ("first", "last", "said"),
    [
        (date(2026, 11, 20), date(2026, 11, 22), "2026-11-22 is still to come: in Europe/Amsterdam it is 2026-11-21 04:00:00"),
        (date(2026, 11, 20), wall(4, 1), "2026-11-21 04:01 is still to come"),
        (wall(6), date(2026, 11, 21), "2026-11-21 06:00 is still to come"),
    ],
)  # fmt: skip
def test_what_is_still_to_come_is_refused(past: Past, first: date, last: date, said: str) -> None:
    with pytest.raises(Refused, match=said):
        past.ask(span=Span(first=first, last=last))


def test_a_day_that_has_begun_is_taken_up_to_now(past: Past) -> None:
    past.world.sql("UPDATE Schedule SET RunTimes = '03:00,05:00'")
    today = Span(first=date(2026, 11, 21), last=date(2026, 11, 21))

    begun = past.ask(span=today)
    past.work_off()

    assert "2026-11-21 is not over: it is taken up to now, 2026-11-21 04:00:00 in Europe/Amsterdam" in begun.warnings
    assert [instant.local for instant in begun.fires] == ["2026-11-21 03:00 +01:00"]
    assert past.cycle_keys() == ["2026-11-21"]
    assert past.state() == ("complete", 1)
    yesterday = Span(first=date(2026, 11, 20), last=date(2026, 11, 20))
    assert not any("is not over" in one for one in past.ask(span=yesterday, dry_run=True).warnings)


def test_ends_the_wrong_way_round_are_said_the_right_way_round(past: Past) -> None:
    with pytest.raises(Refused, match="--to, 2026-10-20, lies before --from, 2026-10-27 06:00") as refused:
        past.ask(span=Span(first=datetime(2026, 10, 27, 6), last=date(2026, 10, 20)))  # noqa: DTZ001 - wall time

    assert refused.value.next_step == "the same with --from 2026-10-20 --to '2026-10-27 06:00'"


def test_a_time_of_day_may_end_it(past: Past) -> None:
    span = Span(first=datetime(2026, 11, 19, 6), last=datetime(2026, 11, 20, 5, 59))  # noqa: DTZ001 - wall time

    past.ask(span=span)
    past.work_off()

    assert past.cycle_keys() == ["2026-11-19"]


def test_many_due_times_need_a_word_more(past: Past) -> None:
    year = Span(first=date(2026, 1, 1), last=date(2026, 11, 20))

    with pytest.raises(Refused, match="That would start work for 324 due times"):
        past.ask(span=year)

    assert past.ask(span=year, sure=True).to_fire == 324
    assert past.world.sql("SELECT FromTime FROM ScheduleBackfill") == [("2025-12-31 23:00:00.000",)]


def test_where_nothing_is_left_to_do_nothing_is_asked_for(past: Past) -> None:
    past.ask()
    past.work_off()

    with pytest.raises(Refused, match="There is nothing to start work for"):
        past.ask()


def test_a_dry_run_writes_nothing_and_shows_which(past: Past) -> None:
    preview = past.ask(dry_run=True)
    many = past.ask(span=Span(first=date(2026, 10, 1), last=date(2026, 11, 20)), dry_run=True)

    assert [instant.local for instant in preview.fires] == [f"2026-11-0{day} 06:00 +01:00" for day in range(2, 9)]
    assert preview.columns()["Fires"] == [
        {"FireKey": f"2026-11-0{day}T06:00", "LocalTime": f"2026-11-0{day} 06:00 +01:00"} for day in range(2, 9)
    ]
    assert (many.to_fire, len(many.fires)) == (51, 21)
    assert [instant.local[:10] for instant in many.fires[-2:]] == ["2026-10-20", "2026-11-20"]
    assert past.world.one("SELECT count(*) FROM ScheduleBackfill") == 0
    assert past.world.one(f"SELECT count(*) FROM AuditLog WHERE {ACTS}") == 0


def test_who_asks_is_kept(past: Past) -> None:
    past.ask(reason="the server was away")

    audited = past.world.sql(f"SELECT Actor, Action, Target, Reason FROM AuditLog WHERE {ACTS}")
    (listed,) = past.listed()

    assert audited == [("anna", "backfill", "Schedule:nightly", "the server was away")]
    assert (listed.schedule, listed.backfill.actor, listed.is_open) == ("nightly", "anna@host1", 0)
    assert listed.backfill.first == datetime(2026, 11, 1, 23, tzinfo=UTC)


def test_what_a_person_cancels_makes_room_for_the_next(past: Past) -> None:
    world = past.world
    world.sql("UPDATE ProcessBatch SET Enabled = 0")
    past.ask()
    past.work_off()
    operator = Operator(
        transactions=world.transactions,
        clock=world.clock,
        preparer=world.recorder().preparer,
        user="anna",
        host="host1",
    )

    operator.cancel(InstanceId(1), reason="not that one")
    past.work_off()

    assert past.cycle_keys() == DAYS[:2]


def test_the_row_that_docs_show_is_understood(past: Past) -> None:
    text = (ROOT / "docs" / "backfill.md").read_text(encoding="utf-8")
    (inserted,) = re.findall(r"```sql\n(.*?);\n```", text, re.DOTALL)
    past.world.sql(inserted)

    past.work_off()

    assert past.cycle_keys() == [f"2026-10-{day}" for day in range(20, 28)]
    assert past.state() == ("complete", 8)


BY_HAND = (
    "INSERT INTO ScheduleBackfill (Schedule_id, FromTime, UntilTime, MostOpen, Actor) VALUES (1, ?, ?, 100, 'anna')"
)


@pytest.mark.parametrize("enabled", [1, 0])
def test_no_due_time_that_is_still_to_come_is_taken(past: Past, enabled: int) -> None:
    world = past.world
    if not enabled:
        world.sql("UPDATE Schedule SET Enabled = 0, NextRunTime = NULL, DecidedUntil = NULL, TimingHash = NULL")
    world.sql(BY_HAND, "2026-11-19 00:00:00.000", "2026-11-30 00:00:00.000")

    past.work_off()

    assert past.cycle_keys() == ["2026-11-19", "2026-11-20"]
    assert past.state() == ("running", 2)
    (listed,) = past.listed()
    assert listed.waits == "its time reaches into the future"
    world.clock.advance(timedelta(days=1))
    past.work_off()
    assert past.cycle_keys()[2:] == ([] if enabled else ["2026-11-21"])
    world.clock.advance(timedelta(days=9))
    world.sql("UPDATE Schedule SET DecidedUntil = '2026-11-30 03:00:00.000', Enabled = 0")
    past.work_off()
    assert past.state()[0] == "complete"


def test_a_due_time_that_the_schedule_has_yet_to_decide_is_left_to_it(past: Past) -> None:
    past.world.sql("UPDATE Schedule SET DecidedUntil = '2026-11-19 12:00:00.000'")
    past.world.sql(BY_HAND, "2026-11-19 00:00:00.000", "2026-11-20 12:00:00.000")

    past.work_off()

    assert past.cycle_keys() == ["2026-11-19"]
    assert past.state() == ("running", 1)
    past.decide("2026-11-20T06:00", "2026-11-20 05:00:00.000", "fired")
    past.world.sql("UPDATE Schedule SET DecidedUntil = '2026-11-20 05:00:00.000'")
    past.work_off()
    assert past.state() == ("complete", 1)


def test_one_that_stands_at_a_failed_instance_names_it(past: Past) -> None:
    past.world.runner.script = lambda rendered: BAD
    past.ask()
    past.work_off()

    (listed,) = past.listed()

    assert (listed.stuck, listed.waits) == ((1, "failed"), "BatchControl 1 is failed")


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ("StartDate = '2026-11-09'", "the schedule begins at its StartDate, 2026-11-09"),
        ("EndDate = '2026-11-01'", "the schedule has ended at its EndDate, 2026-11-01"),
        ("RunMonths = 'Dec'", "it is not due between"),
        ("DecidedUntil = '2026-11-01 00:00:00.000'", "what was due since, the schedule decides by itself"),
    ],
)
def test_it_says_why_there_is_nothing_to_start(past: Past, columns: str, said: str) -> None:
    past.world.sql(f"UPDATE Schedule SET {columns}")

    with pytest.raises(Refused, match=f"nothing to start work for: {said}"):
        past.ask()

    assert f"there is nothing to start work for: {said}" in list(past.ask(dry_run=True).warnings)


def test_it_says_that_all_was_decided(past: Past) -> None:
    past.ask()
    past.work_off()

    with pytest.raises(Refused, match="of the due times between, 7 decided before"):
        past.ask()
