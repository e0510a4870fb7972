"""What a command promised is kept: whoever makes, changes or enables a schedule arms it, with or without a controller."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest

from batchctl.domain.definitions.sql_jobs import SqlJob, wall_time
from batchctl.domain.outcomes import Connection
from batchctl.domain.status import ProcessingMode
from batchctl.operations.definitions.registrar import Registrar
from batchctl.operations.operators.acts import Actor
from batchctl.operations.scheduling.batch_modes import switch_mode
from batchctl.operations.scheduling.schedule_keeper import ScheduleKeeper
from batchctl.plugin_api import Job, daily, job
from batchctl.preparation import Preparer
from batchctl.store.transactions import StoreTransactions
from batchctl.testing import context
from tests.control.timetable import Timetable
from tests.control.world import ToldHandler, World
from tests.workshop import Workshop

DAILY = {"Entity": "B", "ScheduleType": "daily"}
SOON = {"RunTimes": "03:01"}
"""A minute from now."""
DUE = "2026-11-21T03:01"
BEFORE_MIDNIGHT = {"RunTimes": "23:00"}


class Hands:
    """Who promises something about the schedule of `B`, or of a job, in the many ways there are."""

    def __init__(self, timetable: Timetable, transactions: StoreTransactions) -> None:
        self.timetable, self.world, self.transactions = timetable, timetable.world, transactions

    def actor(self, *, dry_run: bool = False) -> Actor:
        clock = self.world.clock
        return Actor(transactions=self.transactions, clock=clock, user="anna", host="host1", dry_run=dry_run)

    def keeper(self, *, dry_run: bool = False) -> ScheduleKeeper:
        return ScheduleKeeper(self.actor(dry_run=dry_run), "UTC")

    def a_controller_was_there(self) -> None:
        """Let one arm what there is by now, and be gone."""
        self.timetable.turns()

    def add(self) -> None:
        assert self.keeper().add("s", {**DAILY, **SOON}).next is not None

    def add_disabled_and_enable(self) -> None:
        self.keeper().add("s", {**DAILY, **SOON, "Enabled": 0})
        self.a_controller_was_there()
        assert self.keeper().set_enabled("s", enabled=True, reason="x").next is not None

    def change(self) -> None:
        self.timetable.schedule(**BEFORE_MIDNIGHT)
        self.a_controller_was_there()
        assert self.keeper().change("s", SOON, reason="x").next is not None

    def move_a_sql_job(self) -> None:
        self.add_sql("2026-12-01 02:00")
        assert self.keeper().change("s", {"RunAt": "2026-11-21 03:01"}, reason="x").next is not None

    def add_sql(self, at: str = "2026-11-21 03:01") -> None:
        wall, connections = wall_time(at), {"shop": Connection(name="shop", url="sqlite://")}
        assert wall is not None
        schedule_context = context(str(self.world.directory), connections=connections)
        preparer = Preparer(lambda _: ToldHandler(), schedule_context, "anna", "host1", "test")
        wanted = SqlJob(name="s", connection="shop", sql="SELECT 1", at=wall, zone="UTC")
        Registrar(actor=self.actor(), preparer=preparer).add(wanted)

    def mode(self) -> None:
        self.world.sql("UPDATE ProcessBatch SET ProcessingMode = 'manual'")
        self.timetable.schedule(**SOON)
        self.a_controller_was_there()
        switch_mode(self.actor(), "B", ProcessingMode.SCHEDULED, zone="UTC", reason="x")

    def reconcile_a_new_job(self) -> None:
        Workshop(self.world).starts(soon("03:01"))

    def reconcile_a_moved_job(self) -> None:
        Workshop(self.world).starts(soon("23:00"))
        self.a_controller_was_there()
        Workshop(self.world).starts(soon("03:01"))

    def reconcile_a_job_that_is_back(self) -> None:
        Workshop(self.world).starts(soon("03:01"))
        Workshop(self.world).starts()
        self.a_controller_was_there()
        Workshop(self.world).starts(soon("03:01"))


def soon(at: str) -> Job:
    return job("s")(daily(at, name="d")(lambda: None))


WAYS: list[Callable[[Hands], None]] = [
    Hands.add,
    Hands.add_disabled_and_enable,
    Hands.change,
    Hands.move_a_sql_job,
    Hands.add_sql,
    Hands.mode,
    Hands.reconcile_a_new_job,
    Hands.reconcile_a_moved_job,
    Hands.reconcile_a_job_that_is_back,
]
every_way = pytest.mark.parametrize("promise", WAYS, ids=lambda way: way.__name__)


@pytest.fixture
def hands(world: World, anywhere: StoreTransactions) -> Hands:
    world.batch()
    return Hands(Timetable(world), anywhere)


@every_way
def test_what_was_promised_fires_though_the_controller_came_after_its_time(
    hands: Hands, promise: Callable[[Hands], None]
) -> None:
    promise(hands)
    promised = hands.timetable.standing()
    hands.timetable.restart()
    hands.timetable.until("2026-11-21 03:03")

    assert promised == (1, "2026-11-21 03:01", "2026-11-21 03:00")
    assert [(key[:16], outcome) for key, outcome, _ in hands.timetable.fires()] == [(DUE, "fired")]


@every_way
def test_what_was_promised_and_missed_is_skipped_with_a_row(hands: Hands, promise: Callable[[Hands], None]) -> None:
    promise(hands)
    hands.world.sql("UPDATE Schedule SET CatchUp = 'none'")
    hands.timetable.restart()
    hands.timetable.until("2026-11-21 03:10")

    assert [outcome for _, outcome, _ in hands.timetable.fires()] == ["skipped"]
    (said,) = hands.world.sql("SELECT Reason FROM ScheduleFire")
    assert said == ("its due time was missed, with no controller there in time, and CatchUp is none",)


@every_way
def test_a_controller_finds_nothing_to_arm(hands: Hands, promise: Callable[[Hands], None]) -> None:
    promise(hands)
    before = hands.world.hand.dump()
    hands.timetable.restart()
    hands.timetable.turns()

    assert hands.world.hand.dump() == before


def test_what_the_configured_zone_says_is_armed_by_it(hands: Hands) -> None:
    ScheduleKeeper(hands.actor(), "Europe/Amsterdam").add("s", {**DAILY, "RunTimes": "04:01"})

    assert hands.timetable.standing() == (1, "2026-11-21 03:01", "2026-11-21 03:00")


def test_what_was_due_before_a_change_is_not_made_up_for_though_nobody_has_seen_the_row(hands: Hands) -> None:
    hands.timetable.schedule(RunTimes="23:00", CatchUp="latest")
    hands.timetable.world.clock.advance(timedelta(hours=1))
    said = hands.keeper().change("s", {"RunTimes": "03:58"}, reason="x").next
    hands.timetable.turns()

    assert said is not None
    assert said.local == "2026-11-22 03:58 +00:00"
    assert hands.timetable.fires() == []


def test_what_was_due_while_a_mode_kept_it_off_is_not_made_up_for_though_nobody_has_seen_the_mode(hands: Hands) -> None:
    hands.timetable.schedule(RunTimes="03:58", CatchUp="latest")
    hands.timetable.turns()
    hands.world.sql("UPDATE ProcessBatch SET ProcessingMode = 'manual'")
    hands.world.clock.advance(timedelta(hours=1))
    switch_mode(hands.actor(), "B", None, zone="UTC", reason="x")
    hands.timetable.restart()
    hands.timetable.turns()

    assert hands.timetable.fires() == []


def test_what_changes_no_time_leaves_what_is_due_to_be_made_up_for(hands: Hands) -> None:
    hands.timetable.schedule(RunTimes="03:58", CatchUp="latest")
    hands.timetable.turns()
    hands.world.clock.advance(timedelta(hours=2))
    hands.keeper().change("s", {"Description": "loads"}, reason="x")
    hands.timetable.restart()
    hands.timetable.turns()

    assert hands.timetable.fired() == ["2026-11-21T03:58"]


def test_a_job_that_was_gone_makes_up_for_nothing(hands: Hands) -> None:
    shop = Workshop(hands.world)
    shop.starts(soon("03:58"))
    shop.starts()
    gone = hands.timetable.standing()
    hands.world.sql("UPDATE Schedule SET CatchUp = 'latest'")
    hands.world.clock.advance(timedelta(hours=1))
    shop.starts(soon("03:58"))
    hands.timetable.turns()

    assert gone == (0, None, None)
    assert hands.timetable.fires() == []


def test_what_a_change_passes_over_is_told(hands: Hands) -> None:
    hands.timetable.schedule(RunTimes="03:01", TimeZone="UTC")
    hands.timetable.until("2026-11-21 03:01")
    hands.keeper().change("s", {"TimeZone": "Atlantic/Azores"}, reason="x")

    assert hands.timetable.standing() == (1, "2026-11-22 04:01", "2026-11-21 03:01")
    assert hands.timetable.log()[1:] == [("skipped", "schedule s", f"{DUE} was decided already as file:1")]


def test_a_dry_run_arms_nothing(hands: Hands) -> None:
    hands.timetable.schedule(**BEFORE_MIDNIGHT, Enabled=0)
    before = hands.world.hand.dump()
    hands.keeper(dry_run=True).set_enabled("s", enabled=True)
    hands.keeper(dry_run=True).change("s", SOON)
    hands.keeper(dry_run=True).add("t", {**DAILY, **SOON})
    switch_mode(hands.actor(dry_run=True), "B", ProcessingMode.SCHEDULED, zone="UTC", reason=None)
    Workshop(hands.world).starts(soon("03:01"), dry_run=True)

    assert hands.world.hand.dump() == before
