"""What the staging scheduler of Primentra does at a time, line by line of its requirements, with its traps.

Each test is named after its line; data triggers stand in test_seed_000.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from batchctl.domain.status import ProcessingMode
from batchctl.operations.operators.acts import Actor
from batchctl.operations.scheduling import foresight
from batchctl.operations.scheduling.batch_modes import switch_mode
from batchctl.operations.scheduling.schedule_keeper import ScheduleKeeper
from batchctl.operations.scheduling.schedule_trial import ScheduleBench
from batchctl.operations.scheduling.timetable import Timetable as Table
from tests.control.timetable import GRACE, Timetable
from tests.control.world import World
from tests.control_databases import ControlDatabase
from tests.hand import unfit

START = datetime(2026, 11, 21, 3, 0, tzinfo=UTC)
"""A Saturday, at three in the morning."""
TRIGGER = (
    "INSERT INTO DataTrigger (TriggerName, Entity, ConnectionName, TableName, StatusColumn, PendingValue, RowThreshold)"
    " VALUES ('rows', 'B', 'wh', 't', 's', '0', 1)"
)


@pytest.fixture
def shop(control_database: ControlDatabase) -> Iterator[Timetable]:
    """A batch `B`, and the leader who fires its schedules."""
    world = World(control_database)
    world.batch()
    yield Timetable(world)
    world.close()


def table(shop: Timetable) -> Table:
    return Table(transactions=shop.world.transactions, clock=shop.world.clock, zone="UTC", grace=GRACE)


def actor(shop: Timetable) -> Actor:
    world = shop.world
    return Actor(transactions=world.transactions, clock=world.clock, user="anna", host="host1")


def keeper(shop: Timetable) -> ScheduleKeeper:
    return ScheduleKeeper(actor(shop), "UTC")


def due(shop: Timetable, days: int) -> list[str]:
    """Return when a schedule fires within some days, as its preview says."""
    found = foresight.preview(table(shop), "s", start=None, days=days).due_times
    return [f"{one.instant.due:%m-%d %H:%M}" for one in found if one.instant.outcome != "skipped"]


def started(shop: Timetable) -> list[tuple[str, str]]:
    return shop.world.sql("SELECT Entity, CycleKey FROM FileProcess ORDER BY FileProcess_id")


def test_line_05_an_entity_has_one_row_of_a_name_and_as_many_schedules_as_it_needs(shop: Timetable) -> None:
    shop.schedule("morning", RunTimes="06:00")
    shop.schedule("evening", RunTimes="18:00")

    with pytest.raises(shop.world.hand.Refused):
        shop.schedule("morning", RunTimes="07:00")


def test_line_06_manual_scheduled_and_triggered_and_without_a_word_whatever_is_written(shop: Timetable) -> None:
    assert shop.world.sql("SELECT ProcessingMode FROM ProcessBatch") == [(None,)]
    shop.schedule(RunTimes="06:00")
    for day, mode in enumerate((None, *ProcessingMode), start=21):
        shop.world.sql("UPDATE ProcessBatch SET ProcessingMode = ?", None if mode is None else mode.value)
        shop.until(f"2026-11-{day} 05:00:00")
        shop.until(f"2026-11-{day} 06:01:00")

    assert [cycle for _, cycle in started(shop)] == ["2026-11-21", "2026-11-23"]


@pytest.mark.parametrize(
    ("kind", "columns", "found"),
    [
        ("interval", {"IntervalMinutes": 480}, ["11-21 08:00", "11-21 16:00", "11-22 00:00"]),
        ("daily", {"RunTimes": "06:00,18:00"}, ["11-21 06:00", "11-21 18:00", "11-22 06:00"]),
        ("weekly", {"RunTimes": "06:00", "RunDays": "Mon,Tue"}, ["11-23 06:00", "11-24 06:00", "11-30 06:00"]),
        ("monthly", {"RunTimes": "06:00", "RunDaysOfMonth": "1,15"}, ["12-01 06:00", "12-15 06:00", "01-01 06:00"]),
    ],
)
def test_line_07_and_08_interval_daily_weekly_monthly_with_the_seeds_own_columns(
    shop: Timetable, kind: str, columns: dict[str, object], found: list[str]
) -> None:
    shop.schedule("s", kind, **columns)

    assert due(shop, 60)[:3] == found


def test_line_31_what_is_due_fires_once_is_logged_and_has_its_next_time(shop: Timetable) -> None:
    shop.schedule("s", RunTimes="06:00")
    shop.until("2026-11-21 05:59:00")
    assert started(shop) == []

    shop.until("2026-11-21 06:00:01")
    shop.until("2026-11-21 06:01:00")

    assert started(shop) == [("B", "2026-11-21")]
    assert [row[:2] for row in shop.log()] == [("fired", "schedule s")]
    assert shop.standing()[:2] == (1, "2026-11-22 06:00")
    assert shop.world.sql("SELECT Source FROM FileProcess") == [("schedule s",)]


@pytest.mark.parametrize(
    ("kind", "columns", "found"),
    [
        ("daily", {"RunTimes": "02:00,04:00"}, "11-21 04:00"),
        ("daily", {"RunTimes": "02:00,03:00"}, "11-22 02:00"),
        ("weekly", {"RunTimes": "02:00", "RunDays": "Sat"}, "11-28 02:00"),
        ("weekly", {"RunTimes": "04:00", "RunDays": "Sat"}, "11-21 04:00"),
    ],
)
def test_line_32_the_next_time_is_the_first_that_is_to_come(
    shop: Timetable, kind: str, columns: dict[str, object], found: str
) -> None:
    shop.schedule("s", kind, **columns)

    (first,) = table(shop).everything()

    assert first.next is not None
    assert f"{first.next.at:%m-%d %H:%M}" == found


def test_line_32_trap_e_the_31st_is_found_however_far_it_lies(shop: Timetable) -> None:
    shop.world.clock.advance(datetime(2027, 1, 31, 12, tzinfo=UTC) - START)
    shop.schedule("s", "monthly", RunTimes="06:00", RunDaysOfMonth="31")

    assert due(shop, 130) == ["03-31 06:00", "05-31 06:00"]
    shop.until("2027-01-31 12:01:00")
    assert shop.standing()[1] == "2027-03-31 06:00"


def test_line_32_trap_f_an_interval_does_not_drift(shop: Timetable) -> None:
    shop.schedule("s", "interval", IntervalMinutes=30)
    for late in ("03:30:40", "04:01:10", "04:30:20"):
        shop.until(f"2026-11-21 {late}")

    assert [key for key, *_ in shop.fires()] == ["2026-11-21T03:30", "2026-11-21T04:00", "2026-11-21T04:30"]


def test_line_37_a_schedule_lacks_nothing_whoever_writes_it(shop: Timetable) -> None:
    refused = shop.world.hand.Refused
    with pytest.raises(refused, match=unfit("Schedule", "RunTimes")):
        shop.schedule("s", "daily")
    with pytest.raises(refused, match=unfit("Schedule", "RunDays")):
        shop.schedule("s", "weekly", RunTimes="06:00")
    with pytest.raises(refused):
        shop.schedule("s", None)  # type: ignore[arg-type] # a row without a type

    done = keeper(shop).add("s", {"Entity": "B", "ScheduleType": "weekly", "RunTimes": "6"})

    assert [problem.column for problem in done.problems] == ["RunDays", "RunTimes"]
    assert shop.world.sql("SELECT ScheduleName FROM Schedule") == []


def test_line_38_another_mode_leaves_nothing_of_the_old_one_behind(shop: Timetable) -> None:
    shop.schedule("s", RunTimes="06:00")
    shop.world.sql(TRIGGER)
    shop.until("2026-11-21 05:00:00")

    switch_mode(actor(shop), "B", ProcessingMode.TRIGGERED, zone="UTC", reason="rows come all day")

    assert shop.standing() == (0, None, None)
    assert shop.world.sql("SELECT Enabled FROM DataTrigger") == [(1,)]
    switch_mode(actor(shop), "B", ProcessingMode.SCHEDULED, zone="UTC", reason="back")
    shop.until("2026-11-21 06:01:00")
    assert started(shop) == []
    assert shop.world.sql("SELECT Enabled FROM DataTrigger") == [(0,)]


def test_line_38_another_type_leaves_nothing_of_the_old_one_behind(shop: Timetable) -> None:
    shop.schedule("s", "weekly", RunTimes="06:00", RunDays="Mon")

    keeper(shop).change("s", {"ScheduleType": "interval", "IntervalMinutes": 5}, reason="rows come all day")

    columns = "ScheduleType, IntervalMinutes, RunTimes, RunDays"
    assert shop.world.sql(f"SELECT {columns} FROM Schedule") == [("interval", 5, None, None)]


def test_line_39_a_test_says_what_the_leader_would_do_and_does_nothing(shop: Timetable) -> None:
    shop.schedule("s", "interval", IntervalMinutes=30, DecidedUntil="2026-11-21 02:59:59")
    bench = ScheduleBench(table=table(shop), fires_here=True)
    before = shop.world.hand.dump()

    tried = bench.try_out("s")

    assert tried.would_fire
    assert re.fullmatch(r"every 30 min, UTC; due 2026-11-21 03:00 \+00:00", tried.reason)
    assert tried.next_run_time == START + timedelta(minutes=30)
    assert shop.world.hand.dump() == before
    shop.turns()
    assert shop.fired() == ["2026-11-21T03:00"]
    assert bench.try_out("s").reason == "it is not due before 2026-11-21 03:30 +00:00"
