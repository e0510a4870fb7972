"""The leader's duty to fire schedules: each due time is decided once, whatever clocks, people and other leaders do."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from batchctl.domain.errors import Conflict, DatabaseRefused, OutcomeUnknown
from batchctl.operations.maintenance import fsck
from batchctl.ports import Boundary, Change
from batchctl.store import dead_end_rows
from batchctl.store.definitions import definitions
from batchctl.store.scheduling import schedule_fires
from tests.control.timetable import Timetable, utc
from tests.control.world import World


@pytest.fixture
def timetable(world: World) -> Timetable:
    """Return a batch `B` at three in the morning of Saturday, 21 November 2026."""
    world.batch()
    return Timetable(world)


def test_a_daily_schedule_fires_once_at_its_time(timetable: Timetable) -> None:
    timetable.schedule(RunTimes="06:00,18:00")
    timetable.turns()
    armed = timetable.standing()
    timetable.until("2026-11-21 05:59:59")
    before = timetable.fires()
    timetable.until("2026-11-21 06:00:00")
    timetable.until("2026-11-21 06:00:30")

    assert armed == (1, "2026-11-21 06:00", "2026-11-21 03:00")
    assert before == []
    assert timetable.fires() == [("2026-11-21T06:00", "fired", 1)]
    assert timetable.standing() == (1, "2026-11-21 18:00", "2026-11-21 06:00")
    columns = "Entity, FileName, Status, Data, CycleKey, Source, Message"
    words = "daily at 06:00 and 18:00, UTC; due 2026-11-21 06:00 +00:00"
    assert timetable.world.sql(f"SELECT {columns} FROM FileProcess") == [
        ("B", None, "ready", None, "2026-11-21", "schedule s", words)
    ]
    assert timetable.log() == [("fired", "schedule s", words)]
    fires = "SELECT FileProcess_id, ZoneRules, Reason, DueTime, DueUntil FROM ScheduleFire"
    assert timetable.world.sql(fires) == [(1, "2026z", None, "2026-11-21 06:00:00.000", None)]


def test_004_07_the_row_and_its_instance_come_in_one_transaction(timetable: Timetable) -> None:
    timetable.schedule(RunTimes="06:00")
    timetable.until("2026-11-21 06:00")

    assert timetable.world.sql("SELECT FileProcess_id, CycleKey, Status FROM BatchControl") == [
        (1, "2026-11-21", "ready")
    ]
    assert timetable.world.names() == ["schedule.fired", "instance.created"]
    assert timetable.world.create().created == 0


def test_a_populator_that_may_take_for_ever_is_called_afterwards(timetable: Timetable) -> None:
    timetable.harmless = False
    timetable.schedule(RunTimes="06:00")
    timetable.until("2026-11-21 06:00")
    before = timetable.world.sql("SELECT 1 FROM BatchControl")

    assert before == []
    assert timetable.world.create().created == 1


def test_the_creator_that_made_it_does_not_look_at_it_again(timetable: Timetable) -> None:
    timetable.schedule(RunTimes="06:00")
    timetable.until("2026-11-21 06:00")
    creator, known = timetable.duty.deciding.creator, {batch.batch_id: batch for batch in _batches(timetable.world)}
    timetable.world.transactions.run = None

    assert [report.created for report in creator.one_by_one(known)] == [0]


def _batches(world: World) -> Any:
    with world.transactions.read() as connection:
        return definitions.all_batches(connection)


# Who decides when


def test_004_19_a_schedule_added_seconds_before_it_is_due_fires_on_time(timetable: Timetable) -> None:
    timetable.turns()
    timetable.world.clock.advance(timedelta(seconds=2))
    timetable.schedule(kind="once", RunAt="2026-11-21 03:00:05")
    timetable.duty.look(Change.DEFINITIONS)
    timetable.world.clock.advance(timedelta(seconds=3))

    assert timetable.duty.look()
    assert timetable.fired() == ["2026-11-21T03:00:05"]


def test_what_nobody_changes_is_not_read_again_before_it_is_time(timetable: Timetable) -> None:
    timetable.schedule(RunTimes="06:00")
    timetable.turns()
    timetable.world.clock.advance(timedelta(seconds=14))
    timetable.world.transactions = Unreachable()
    timetable.duty.transactions = timetable.world.transactions

    assert not timetable.duty.look(Change.NOTHING)
    assert not timetable.duty.look(Change.INTAKE)


class Unreachable:
    """A database that nobody may ask."""

    def read(self) -> Any:
        raise AssertionError("it was asked")

    run = read

    def close(self) -> None:
        """Nothing to close."""


@pytest.mark.full
def test_a_thousand_due_at_midnight_fire_in_slices(timetable: Timetable) -> None:
    for number in range(1000):
        timetable.schedule(f"s{number}", RunTimes="04:00")
    timetable.duty.finish()
    clock = timetable.world.clock
    clock.advance(utc("2026-11-21 04:00") - clock.now())
    real, steps = clock.monotonic, list[None]()

    def monotonic() -> float:
        steps.append(None)
        return real() + len(steps) * 0.01

    clock.monotonic = monotonic  # type: ignore[method-assign]
    timetable.duty.look(Change.NOTHING)
    first = len(timetable.fires())

    assert 1 <= first <= 10
    assert timetable.duty.is_busy
    assert timetable.woken > 0
    timetable.turns(2000)
    assert len({key for key, *_ in timetable.world.sql("SELECT Schedule_id FROM ScheduleFire")}) == 1000


# D01 to D10 of the fault model


@pytest.mark.parametrize("jump", ["2026-11-21 04:00", "2026-11-22 03:00", "2036-11-21 03:00"])
def test_d01_a_clock_that_goes_forth_and_back_fires_nothing_twice_and_forgets_nothing(
    timetable: Timetable, jump: str
) -> None:
    timetable.schedule(kind="interval", IntervalMinutes=10)
    timetable.until("2026-11-21 03:10")
    timetable.set_clock(jump)
    timetable.until(jump)
    ahead = timetable.fired()
    timetable.set_clock("2026-11-21 03:10:05")
    timetable.turns()
    timetable.world.clock.advance(timedelta(seconds=POLLED))
    timetable.turns()
    for minute in ("20", "30", "40", "50"):
        timetable.until(f"2026-11-21 03:{minute}")
    timetable.until("2026-11-21 04:00")

    keys = [f"2026-11-21T{time}" for time in ("03:10", "03:20", "03:30", "03:40", "03:50", "04:00")]
    assert sorted({*timetable.fired()} - {*ahead}) == sorted({*keys} - {*ahead})
    assert len(timetable.fired()) == len({*timetable.fired()})
    assert timetable.standing()[:2] == (1, "2026-11-21 04:10")


POLLED = 15


def test_d01_a_clock_that_is_set_back_while_a_schedule_is_armed_does_not_keep_it_waiting(
    timetable: Timetable,
) -> None:
    timetable.schedule(RunTimes="06:00")
    timetable.until("2026-11-25 06:00")
    timetable.set_clock("2026-11-22 05:00")
    timetable.until("2026-11-22 05:00:20")

    assert timetable.standing() == (1, "2026-11-22 06:00", "2026-11-22 05:00")
    timetable.until("2026-11-22 06:00")
    assert timetable.fired() == ["2026-11-25T06:00", "2026-11-22T06:00"]


def test_d03_what_is_decided_stays_decided_when_the_rules_of_a_zone_change(timetable: Timetable) -> None:
    timetable.schedule(RunTimes="06:00", TimeZone="Europe/Amsterdam")
    timetable.until("2026-11-21 05:00")
    # By the new rules it is due an hour later: the row is reckoned anew from a moment at which it was still to come.
    timetable.world.sql("UPDATE Schedule SET DecidedUntil = '2026-11-21 04:30:00.000'")
    timetable.turns()
    timetable.until("2026-11-21 05:00:30")

    assert timetable.fires() == [("2026-11-21T06:00", "fired", 1)]
    assert timetable.standing()[1] == "2026-11-22 05:00"


def test_a_due_time_of_another_zone_whose_key_is_decided_is_passed_over_and_told_once(timetable: Timetable) -> None:
    timetable.schedule(RunTimes="18:00")
    timetable.until("2026-11-21 18:00")
    timetable.world.sql("UPDATE Schedule SET TimeZone = 'America/New_York'")
    timetable.until("2026-11-21 18:01")
    timetable.restart()
    timetable.turns()
    armed = timetable.standing()[1]
    timetable.until("2026-11-21 23:00")
    timetable.until("2026-11-22 23:00")

    assert armed == "2026-11-22 23:00"
    assert timetable.fired() == ["2026-11-21T18:00", "2026-11-22T18:00"]
    told = [message for event, _, message in timetable.log() if event == "skipped"]
    assert told == ["2026-11-21T18:00 was decided already as file:1"]


def test_many_due_times_of_another_zone_are_told_in_one_row(timetable: Timetable) -> None:
    timetable.schedule(kind="interval", IntervalMinutes=5)
    for minutes in range(0, 180, 5):
        timetable.until(f"2026-11-21 {3 + minutes // 60:02}:{minutes % 60:02}")
    timetable.world.sql("UPDATE Schedule SET TimeZone = 'Atlantic/Azores'")
    timetable.until("2026-11-21 05:56")

    told = [message for event, _, message in timetable.log() if event == "skipped"]
    last = timetable.world.one("SELECT max(FileProcess_id) FROM FileProcess")
    assert told == [
        f"12 due times were decided already; of the last: 2026-11-21T05:55 was decided already as file:{last}"
    ]
    assert timetable.standing()[1] == "2026-11-21 07:00"


def test_a_stretch_counts_only_what_was_not_decided(timetable: Timetable) -> None:
    timetable.schedule(kind="interval", IntervalMinutes=10)
    for minute in ("10", "20", "30"):
        timetable.until(f"2026-11-21 03:{minute}")
    timetable.world.sql("UPDATE Schedule SET DecidedUntil = '2026-11-21 03:00:00.000'")
    timetable.restart()
    timetable.until("2026-11-21 04:01")

    assert timetable.fires()[3:] == [
        ("2026-11-21T03:40..2026-11-21T03:50", "skipped", 2),
        ("2026-11-21T04:00", "fired", 1),
    ]


@pytest.mark.parametrize(
    ("until", "key"), [("06:00", "T06:00..2026-11-21T06:00"), ("18:00", "T06:00..2026-11-21T18:00")]
)
def test_a_stretch_that_is_missed_twice_keeps_nothing_from_firing(timetable: Timetable, until: str, key: str) -> None:
    timetable.schedule(RunTimes="06:00,18:00,22:00")
    back = f"UPDATE Schedule SET DecidedUntil = '{timetable.stamp()}'"
    for minute in (20, 30, 40):
        timetable.until(f"2026-11-21 {until[:2]}:{minute}")
        timetable.world.sql(back)
        timetable.restart()
    timetable.turns()
    timetable.until("2026-11-21 22:00")

    count = 1 if until == "06:00" else 2
    stretches = [(f"2026-11-21{key}{nth}", "skipped", count) for nth in ("", "#2", "#3", "#4")]
    assert timetable.fires()[:3] == stretches[:3]
    assert timetable.fired() == ["2026-11-21T22:00"]
    assert "error" not in {event for event, *_ in timetable.log()}
    shown = "2026-11-21T06:00" if count == 1 else stretches[0][0]
    assert {said.partition(": ")[0] for _, _, said in timetable.log()[:3]} == {f"due {shown}"}


def test_a_clock_that_is_set_back_twice_lets_what_was_missed_be_due_again(timetable: Timetable) -> None:
    timetable.schedule(RunTimes="06:00")
    timetable.until("2026-11-21 05:00")
    for _ in range(2):
        timetable.set_clock("2026-11-21 08:00")
        timetable.turns()
        timetable.set_clock("2026-11-21 05:00")
        timetable.until("2026-11-21 05:00:20")
    timetable.until("2026-11-21 06:00")

    assert [row[:2] for row in timetable.fires()] == [
        ("2026-11-21T06:00..2026-11-21T06:00", "skipped"),
        ("2026-11-21T06:00..2026-11-21T06:00#2", "skipped"),
        ("2026-11-21T06:00", "fired"),
    ]


def test_what_was_made_up_for_soon_is_some_seconds_late(timetable: Timetable) -> None:
    timetable.schedule(RunTimes="06:00", CatchUp="latest")
    timetable.turns()
    timetable.duty.deciding = replace(timetable.duty.deciding, grace=timedelta(seconds=10))
    timetable.until("2026-11-21 06:00:46")

    said = timetable.world.one("SELECT Message FROM FileProcess")
    assert said == "daily at 06:00, UTC; due 2026-11-21 06:00 +00:00; made up for, 46 s late"


def test_due_times_of_one_moment_of_a_gap_are_each_counted_once(timetable: Timetable) -> None:
    timetable.set_clock("2027-03-28 00:00")
    timetable.schedule(RunTimes="02:00,02:15,02:30,02:45", TimeZone="Europe/Amsterdam", Jitter=1200)
    timetable.turns()
    for second in range(0, 1300, 30):
        timetable.until(f"2027-03-28 01:{second // 60:02}:{second % 60:02}")
        if timetable.fires():
            break
    timetable.restart()
    timetable.until("2027-03-28 03:00")

    rows = timetable.fires()
    assert sum(count for *_, count in rows) == 4
    assert len({key for row in rows for key in row[0].split("..")}) <= 4


def test_d04_a_year_without_controller_is_one_row(timetable: Timetable) -> None:
    timetable.schedule(kind="interval", IntervalMinutes=1)
    timetable.turns()
    timetable.restart()
    timetable.world.clock.advance(timedelta(days=365))
    timetable.turns()

    rows = timetable.fires()
    assert rows[0] == ("2026-11-21T03:01..2027-11-21T02:54", "skipped", 10_000)
    assert [row[0] for row in rows[1:]] == [f"2027-11-21T02:{minute}" for minute in range(55, 60)] + [
        "2027-11-21T03:00"
    ]
    assert timetable.log()[0][2].startswith("due 2026-11-21T03:01..2027-11-21T02:54: more than 10,000 due times")


def test_d04_three_days_without_controller_are_made_up_for_as_far_as_catch_up_says(timetable: Timetable) -> None:
    timetable.schedule("none", RunTimes="06:00")
    timetable.schedule("latest", RunTimes="06:00", CatchUp="latest")
    timetable.schedule("two", RunTimes="06:00", CatchUp="up_to", CatchUpMost=2)
    timetable.turns()
    timetable.until("2026-11-24 09:00")

    rows = timetable.world.sql("SELECT Schedule_id, FireKey, Outcome, Instants FROM ScheduleFire ORDER BY 1, 2")
    assert rows == [
        (1, "2026-11-21T06:00..2026-11-24T06:00", "skipped", 4),
        (2, "2026-11-21T06:00..2026-11-23T06:00", "skipped", 3),
        (2, "2026-11-24T06:00", "fired", 1),
        (3, "2026-11-21T06:00..2026-11-22T06:00", "skipped", 2),
        (3, "2026-11-23T06:00", "fired", 1),
        (3, "2026-11-24T06:00", "fired", 1),
    ]
    said = timetable.world.one("SELECT Message FROM FileProcess WHERE CycleKey = '2026-11-23'")
    assert said == "daily at 06:00, UTC; due 2026-11-23 06:00 +00:00; made up for, 1 d 3 h late"


def test_d05_the_31st_comes_when_there_is_one(timetable: Timetable) -> None:
    timetable.schedule(kind="monthly", RunTimes="06:00", RunDaysOfMonth="31")
    timetable.turns()

    assert timetable.standing()[1] == "2026-12-31 06:00"
    timetable.until("2026-12-31 06:00")
    assert timetable.standing()[1] == "2027-01-31 06:00"


def test_d06_a_leader_that_comes_late_decides_nothing_again(timetable: Timetable) -> None:
    timetable.schedule(RunTimes="06:00")
    timetable.turns()
    frozen = timetable.leader(timetable.world.open())
    frozen.look()
    timetable.until("2026-11-21 06:00")

    assert not frozen.look()
    assert timetable.fires() == [("2026-11-21T06:00", "fired", 1)]
    assert timetable.world.one("SELECT count(*) FROM FileProcess") == 1


@pytest.mark.parametrize(
    ("edit", "fired"),
    [
        ("UPDATE Schedule SET Enabled = 0", []),
        ("DELETE FROM Schedule", []),
        ("UPDATE Schedule SET RunTimes = '07:00'", []),
        ("UPDATE Schedule SET Entity = 'C'", ["2026-11-21T06:00"]),
    ],
)
def test_d07_what_somebody_writes_between_due_and_fire_decides(
    timetable: Timetable, edit: str, fired: list[str]
) -> None:
    timetable.schedule(RunTimes="06:00")
    timetable.turns()
    timetable.world.clock.advance(timedelta(hours=3))
    timetable.world.sql(edit)
    timetable.duty.look(Change.NOTHING)
    timetable.turns()

    assert timetable.fired() == fired
    if fired:
        assert timetable.world.sql("SELECT Entity FROM FileProcess") == [("C",)]


def test_d07_a_calendar_changed_between_due_and_fire_decides(timetable: Timetable) -> None:
    timetable.world.sql("INSERT INTO Calendar (CalendarName) VALUES ('NL')")
    timetable.schedule(RunTimes="06:00", CalendarName="NL")
    timetable.until("2026-11-23 05:00")
    timetable.world.clock.advance(timedelta(hours=1))
    day = "INSERT INTO CalendarDay (Calendar_id, CalendarDate, Description) VALUES (1, '2026-11-23', 'Strike')"
    timetable.world.sql(day)
    timetable.duty.look(Change.NOTHING)
    timetable.turns()

    assert timetable.fires()[-1] == ("2026-11-23T06:00", "skipped", 1)
    assert "Strike" in timetable.log()[-1][2]


def _every_day_but(timetable: Timetable, *days_off: str) -> None:
    timetable.world.sql(
        "INSERT INTO Calendar (CalendarName, BusinessDays) VALUES ('NL', 'Mon,Tue,Wed,Thu,Fri,Sat,Sun')"
    )
    for day in days_off:
        _declare_off(timetable, day)


def _declare_off(timetable: Timetable, day: str) -> None:
    timetable.world.sql("INSERT INTO CalendarDay (Calendar_id, CalendarDate) VALUES (1, ?)", day)


def _cycle_keys(timetable: Timetable) -> list[str]:
    return [key for (key,) in timetable.world.sql("SELECT CycleKey FROM FileProcess ORDER BY FileProcess_id")]


def test_what_fired_before_its_day_was_declared_off_is_not_shifted_and_told_once(timetable: Timetable) -> None:
    _every_day_but(timetable, "2026-11-23")
    timetable.schedule(kind="monthly", RunTimes="06:00", RunDaysOfMonth="22", CalendarName="NL", CalendarRule="next")
    timetable.until("2026-11-22 06:00")
    _declare_off(timetable, "2026-11-22")
    timetable.until("2026-11-22 06:01")
    armed = timetable.standing()[1]
    timetable.restart()
    timetable.turns()
    timetable.until("2026-11-24 06:00")
    timetable.until("2026-11-25 06:00")

    assert armed == "2026-12-22 06:00"
    assert timetable.fires() == [("2026-11-22T06:00", "fired", 1)]
    assert [message for event, _, message in timetable.log() if event == "skipped"] == [
        "2026-11-24T06:00 was decided already as file:1, due as 2026-11-22T06:00 before its calendar was changed"
    ]


def test_nor_is_what_fired_shifted_when_that_day_is_declared_off_too(timetable: Timetable) -> None:
    _every_day_but(timetable, "2026-11-22")
    timetable.schedule(kind="monthly", RunTimes="06:00", RunDaysOfMonth="22", CalendarName="NL", CalendarRule="next")
    timetable.until("2026-11-23 06:00")
    _declare_off(timetable, "2026-11-23")
    timetable.until("2026-11-24 06:00")
    timetable.world.sql("DELETE FROM CalendarDay")
    timetable.until("2026-11-25 06:00")

    assert timetable.fires() == [("2026-11-23T06:00", "fired", 1)]
    assert _cycle_keys(timetable) == ["2026-11-22"]


def test_of_two_days_that_one_stands_for_only_what_has_not_fired_is_due(timetable: Timetable) -> None:
    _every_day_but(timetable, "2026-11-23")
    timetable.schedule(kind="monthly", RunTimes="06:00", RunDaysOfMonth="22,23", CalendarName="NL", CalendarRule="next")
    timetable.until("2026-11-22 06:00")
    _declare_off(timetable, "2026-11-22")
    timetable.until("2026-11-24 06:00")

    assert timetable.fired() == ["2026-11-22T06:00", "2026-11-24T06:00"]
    assert _cycle_keys(timetable) == ["2026-11-22", "2026-11-23"]


def test_what_stood_for_a_day_off_as_well_has_fired_for_both(timetable: Timetable) -> None:
    _every_day_but(timetable, "2026-11-21")
    timetable.schedule(kind="monthly", RunTimes="06:00", RunDaysOfMonth="21,22", CalendarName="NL", CalendarRule="next")
    timetable.until("2026-11-22 06:00")
    _declare_off(timetable, "2026-11-22")
    timetable.until("2026-11-24 06:00")

    assert timetable.fired() == ["2026-11-22T06:00"]


def test_what_was_only_skipped_is_shifted(timetable: Timetable) -> None:
    _every_day_but(timetable)
    timetable.schedule(kind="monthly", RunTimes="06:00", RunDaysOfMonth="22", CalendarName="NL", CalendarRule="next")
    timetable.until("2026-11-22 05:00")
    timetable.world.clock.advance(timedelta(hours=2))
    timetable.turns()
    _declare_off(timetable, "2026-11-22")
    timetable.until("2026-11-23 06:00")

    assert timetable.fires() == [("2026-11-22T06:00..2026-11-22T06:00", "skipped", 1), ("2026-11-23T06:00", "fired", 1)]


def test_d08_a_clock_a_second_apart_makes_nothing_due_again(timetable: Timetable) -> None:
    timetable.schedule(kind="interval", IntervalMinutes=10)
    timetable.until("2026-11-21 03:10")
    timetable.set_clock("2026-11-21 03:09:59.500")
    timetable.until("2026-11-21 03:10:20")

    assert timetable.fired() == ["2026-11-21T03:10"]


@pytest.mark.parametrize("column", ["NextRunTime", "DecidedUntil"])
@pytest.mark.parametrize("time", ["9999-12-31 23:59:59.999", "0001-01-01 00:00:00.000", "1753-01-01 00:00:00.000"])
def test_d10_times_beyond_all_measure_keep_nothing_from_firing(timetable: Timetable, column: str, time: str) -> None:
    timetable.schedule("s", RunTimes="06:00")
    timetable.schedule("other", RunTimes="06:00")
    timetable.turns()
    timetable.world.sql(f"UPDATE Schedule SET {column} = ? WHERE Schedule_id = 1", time)
    timetable.until("2026-11-21 05:00")
    timetable.until("2026-11-21 06:00")

    fired = timetable.world.sql("SELECT Schedule_id FROM ScheduleFire WHERE Outcome = 'fired' ORDER BY 1")
    assert fired == [(1,), (2,)]
    assert timetable.standing() == (1, "2026-11-22 06:00", "2026-11-21 06:00")


# What people do


def test_one_that_is_never_due_as_by_an_empty_calendar_is_told_once(timetable: Timetable) -> None:
    timetable.world.sql("INSERT INTO Calendar (CalendarName, BusinessDays) VALUES ('NL', '')")
    timetable.schedule("empty", RunTimes="06:00", CalendarName="NL")
    timetable.schedule("over", RunTimes="06:00", EndDate="2026-11-20")
    timetable.turns()
    timetable.until("2026-11-21 07:00")

    said = "CalendarName: It is never due (daily at 06:00, UTC, on business days of NL): no day of fifty years fits all"
    errors = [entry for entry in timetable.log() if entry[0] == "error"]
    assert [(source, message.startswith(said)) for _, source, message in errors] == [("schedule empty", True)]
    with timetable.world.transactions.read() as connection:
        assert [one.source for one in dead_end_rows.dead_end_starts(connection)] == ["schedule empty"]

    timetable.world.sql("UPDATE Calendar SET BusinessDays = 'Mon-Sun'")
    timetable.until("2026-11-22 06:00")
    with timetable.world.transactions.read() as connection:
        assert dead_end_rows.dead_end_starts(connection) == ()
    assert timetable.fired() == ["2026-11-22T06:00"]


def test_one_whose_only_time_was_over_before_it_was_written_is_told_once(timetable: Timetable) -> None:
    """It would never run, and nobody would know."""
    timetable.world.clock.advance(timedelta(minutes=1))
    timetable.schedule("late", kind="once", RunAt="2026-11-21 02:59", DecidedUntil=None)
    timetable.schedule("fine", kind="once", RunAt="2026-11-21 06:00", DecidedUntil=None)
    timetable.turns()
    timetable.until("2026-11-21 06:00")

    said = (
        "its only time, 2026-11-21 02:59, was over before any controller knew of it; until that is corrected it starts"
    )
    errors = [entry for entry in timetable.log() if entry[0] == "error"]
    assert errors == [("error", "schedule late", f"{said} nothing")]
    with timetable.world.transactions.read() as connection:
        assert [one.source for one in dead_end_rows.dead_end_starts(connection)] == ["schedule late"]
    assert timetable.fired() == ["2026-11-21T06:00"]

    timetable.world.sql("UPDATE Schedule SET RunAt = '2026-11-22 06:00' WHERE ScheduleName = 'late'")
    timetable.until("2026-11-21 06:00:05")
    with timetable.world.transactions.read() as connection:
        assert dead_end_rows.dead_end_starts(connection) == ()


def test_one_that_has_run_at_its_only_time_is_no_trouble_when_another_leads(timetable: Timetable) -> None:
    timetable.schedule("ran", kind="once", RunAt="2026-11-21 06:00")
    timetable.until("2026-11-21 06:00")
    timetable.world.sql("UPDATE Schedule SET TimingHash = NULL")
    timetable.turns()

    assert [entry for entry in timetable.log() if entry[0] == "error"] == []


def test_a_disabled_schedule_is_disarmed_and_begins_anew(timetable: Timetable) -> None:
    timetable.schedule(RunTimes="06:00", CatchUp="latest")
    timetable.turns()
    timetable.world.sql("UPDATE Schedule SET Enabled = 0")
    timetable.until("2026-11-21 03:01")
    disarmed = timetable.standing()
    timetable.until("2026-12-31 09:00")
    timetable.world.sql("UPDATE Schedule SET Enabled = 1")
    timetable.until("2026-12-31 09:00:05")

    assert disarmed == (0, None, None)
    assert timetable.fires() == []
    assert timetable.standing() == (1, "2027-01-01 06:00", "2026-12-31 09:00")


def test_field_20_enabling_after_forty_days_starts_exactly_what_comes(timetable: Timetable) -> None:
    timetable.schedule(kind="interval", IntervalMinutes=60, CatchUp="up_to", CatchUpMost=1000, Enabled=0)
    timetable.turns()
    timetable.until("2026-12-31 03:30")
    timetable.world.sql("UPDATE Schedule SET Enabled = 1")
    timetable.until("2026-12-31 03:30:05")
    for hour in range(4, 8):
        timetable.until(f"2026-12-31 0{hour}:00")

    assert timetable.fired() == [f"2026-12-31T0{hour}:00" for hour in range(4, 8)]


def test_a_changed_timing_makes_up_for_nothing(timetable: Timetable) -> None:
    timetable.schedule(RunTimes="06:00", CatchUp="latest")
    timetable.turns()
    timetable.restart()
    timetable.world.clock.advance(timedelta(hours=4))
    timetable.world.sql("UPDATE Schedule SET RunTimes = '05:00'")
    timetable.turns()

    assert timetable.fires() == []
    assert timetable.standing() == (1, "2026-11-22 05:00", "2026-11-21 07:00")


def test_once_ends_by_itself(timetable: Timetable) -> None:
    timetable.schedule(kind="once", RunAt="2026-11-21 06:00")
    timetable.until("2026-11-21 06:00")
    timetable.until("2026-11-22 06:00")

    assert timetable.fires() == [("2026-11-21T06:00", "fired", 1)]
    assert timetable.standing() == (0, None, None)


def test_once_that_was_missed_ends_too(timetable: Timetable) -> None:
    timetable.schedule(kind="once", RunAt="2026-11-21 06:00")
    timetable.turns()
    timetable.until("2026-11-21 08:00")

    assert timetable.fires() == [("2026-11-21T06:00..2026-11-21T06:00", "skipped", 1)]
    assert timetable.standing() == (0, None, None)


def test_overlap_skip_names_what_is_not_done(timetable: Timetable) -> None:
    timetable.schedule(kind="interval", IntervalMinutes=10, Overlap="skip")
    timetable.until("2026-11-21 03:10")
    timetable.until("2026-11-21 03:20")
    timetable.world.process()
    timetable.until("2026-11-21 03:30")

    assert [outcome for _, outcome, _ in timetable.fires()] == ["fired", "skipped", "fired"]
    (skipped,) = [message for event, _, message in timetable.log() if event == "skipped"]
    assert skipped.startswith("due 2026-11-21T03:20: Overlap is skip, and BatchControl 1 of batch B is ready")
    assert timetable.world.sql("SELECT BatchControl_id FROM SchedulerLog WHERE EventType = 'skipped'") == [(1,)]


def test_overlap_queue_lets_work_wait(timetable: Timetable) -> None:
    timetable.schedule(kind="interval", IntervalMinutes=10)
    for minute in (10, 20, 30):
        timetable.until(f"2026-11-21 03:{minute}")

    assert timetable.world.statuses() == ["ready", "ready", "ready"]


def test_days_off_are_skipped_each_with_its_reason(timetable: Timetable) -> None:
    timetable.world.sql("INSERT INTO Calendar (CalendarName) VALUES ('NL')")
    timetable.schedule(RunTimes="06:00", CalendarName="NL")
    timetable.turns()
    for day in (21, 22, 23):
        timetable.until(f"2026-11-{day} 06:00:30")

    assert timetable.fires() == [
        ("2026-11-21T06:00", "skipped", 1),
        ("2026-11-22T06:00", "skipped", 1),
        ("2026-11-23T06:00", "fired", 1),
    ]
    assert timetable.world.one("SELECT Reason FROM ScheduleFire WHERE Outcome = 'skipped'").startswith("2026-11-21 is")


def test_a_day_off_of_a_schedule_of_minutes_is_told_by_the_hour(timetable: Timetable) -> None:
    timetable.world.sql("INSERT INTO Calendar (CalendarName) VALUES ('NL')")
    timetable.schedule(kind="interval", IntervalMinutes=1, CalendarName="NL")
    timetable.turns()
    for minute in range(60 * 5):
        timetable.until(f"2026-11-21 {3 + minute // 60:02}:{minute % 60:02}")

    rows = timetable.fires()
    assert len(rows) <= 5
    assert all(outcome == "skipped" for _, outcome, _ in rows)
    assert sum(count for *_, count in rows) >= 60 * 3


def test_jitter_lets_it_wait_and_is_the_same_for_everybody(timetable: Timetable) -> None:
    timetable.schedule(RunTimes="06:00", Jitter=600)
    timetable.turns()
    (due,) = timetable.world.sql("SELECT NextRunTime FROM Schedule")[0]
    timetable.restart()
    timetable.until("2026-11-21 06:00")
    before = timetable.fires()
    timetable.until("2026-11-21 06:10")

    assert utc("2026-11-21 06:00") < utc(due) < utc("2026-11-21 06:10")
    assert before == []
    assert timetable.fires() == [("2026-11-21T06:00", "fired", 1)]
    assert timetable.world.one("SELECT DueTime FROM ScheduleFire") == "2026-11-21 06:00:00.000"


def test_field_15_the_night_of_the_change_fires_each_wall_time_by_its_policy(timetable: Timetable) -> None:
    timetable.set_clock("2026-10-24 12:00")
    timetable.schedule("once", RunTimes="02:30", TimeZone="Europe/Amsterdam")
    timetable.schedule("twice", RunTimes="02:30", TimeZone="Europe/Amsterdam", FoldPolicy="twice")
    timetable.turns()
    timetable.until("2026-10-25 00:30")
    timetable.until("2026-10-25 01:30")

    fired = timetable.world.sql("SELECT Schedule_id, FireKey FROM ScheduleFire ORDER BY 1, 2")
    assert fired == [(1, "2026-10-25T02:30"), (2, "2026-10-25T02:30"), (2, "2026-10-25T02:30+fold")]
    assert timetable.world.sql("SELECT DISTINCT CycleKey FROM FileProcess") == [("2026-10-25",)]


def test_field_15_the_night_of_the_gap(timetable: Timetable) -> None:
    timetable.set_clock("2027-03-27 12:00")
    timetable.schedule("run", RunTimes="02:15,02:45", TimeZone="Europe/Amsterdam")
    timetable.schedule("skip", RunTimes="02:15,02:45", TimeZone="Europe/Amsterdam", GapPolicy="skip")
    timetable.turns()
    timetable.until("2027-03-28 01:00")
    timetable.until("2027-03-28 05:00")

    fired = timetable.world.sql("SELECT Schedule_id, FireKey, Outcome FROM ScheduleFire ORDER BY 1, 2")
    assert fired == [
        (1, "2027-03-28T02:15", "fired"),
        (1, "2027-03-28T02:45", "fired"),
        (2, "2027-03-28T02:15", "skipped"),
        (2, "2027-03-28T02:45", "skipped"),
    ]


# What a batch lets start it


@pytest.mark.parametrize(("mode", "fired"), [("manual", 0), ("triggered", 0), ("scheduled", 1), (None, 1)])
def test_000_13_a_batch_says_whether_schedules_start_it(timetable: Timetable, mode: str | None, fired: int) -> None:
    timetable.world.sql("UPDATE ProcessBatch SET ProcessingMode = ?", mode)
    timetable.schedule(RunTimes="06:00")
    timetable.turns()
    armed = timetable.standing()
    timetable.until("2026-11-21 06:00")

    assert len(timetable.fires()) == fired
    assert armed == ((1, "2026-11-21 06:00", "2026-11-21 03:00") if fired else (1, None, None))


def test_000_13_what_a_mode_kept_from_firing_is_not_made_up_for(timetable: Timetable) -> None:
    timetable.world.sql("UPDATE ProcessBatch SET ProcessingMode = 'manual'")
    timetable.schedule(RunTimes="06:00", CatchUp="latest")
    timetable.until("2026-11-22 09:00")
    timetable.world.sql("UPDATE ProcessBatch SET ProcessingMode = NULL")
    timetable.until("2026-11-22 09:00:30")

    assert timetable.fires() == []
    assert timetable.standing() == (1, "2026-11-23 06:00", "2026-11-22 09:00")


def test_one_batch_that_lets_it_is_enough(timetable: Timetable) -> None:
    timetable.world.sql("UPDATE ProcessBatch SET ProcessingMode = 'manual'")
    timetable.world.batch("C", Entity="B", ProcessingMode="scheduled")
    timetable.schedule(RunTimes="06:00")
    timetable.until("2026-11-21 06:00")

    assert timetable.fired() == ["2026-11-21T06:00"]
    assert timetable.world.statuses() == ["ready", "ready"]


# What goes wrong with one is that one's own trouble


def test_000_24_nonsense_is_told_once_and_stops_no_other(timetable: Timetable) -> None:
    timetable.schedule("bad", RunTimes="06:00", BetweenTimes="23:58-23:59")
    timetable.schedule("nowhere", RunTimes="06:00", TimeZone="Europe/Atlantis")
    timetable.schedule("lost", RunTimes="06:00", CalendarName="NL")
    timetable.schedule("good", RunTimes="06:00")
    timetable.until("2026-11-21 06:00")
    timetable.restart()
    timetable.until("2026-11-21 06:01")

    assert timetable.world.sql("SELECT Schedule_id FROM ScheduleFire") == [(4,)]
    errors = [(source, message) for event, source, message in timetable.log() if event == "error"]
    assert [source for source, _ in errors] == ["schedule bad", "schedule nowhere", "schedule lost"]
    assert errors[0][1].startswith("BetweenTimes: ")
    assert errors[0][1].endswith("until that is corrected it starts nothing")
    assert timetable.standing(1)[1] is None


def test_what_was_nonsense_fires_once_it_is_corrected(timetable: Timetable) -> None:
    timetable.schedule(RunTimes="06:00", BetweenTimes="23:58-23:59")
    timetable.turns()
    timetable.world.sql("UPDATE Schedule SET BetweenTimes = NULL")
    timetable.until("2026-11-21 06:00")

    assert timetable.fired() == ["2026-11-21T06:00"]


def test_a_calendar_that_was_gone_leaves_no_due_time_undecided(timetable: Timetable) -> None:
    timetable.world.sql("INSERT INTO Calendar (CalendarName) VALUES ('NL')")
    timetable.schedule(RunTimes="06:00", CalendarName="NL", CatchUp="latest")
    timetable.until("2026-11-24 05:00")
    of_table = " ON Calendar" if timetable.world.database.kind == "postgresql" else ""
    # It refuses that while anything goes by the name.
    timetable.world.sql(f"DROP TRIGGER TR_Calendar_Renamed{of_table}")
    timetable.world.sql("UPDATE Calendar SET CalendarName = 'gone'")
    timetable.until("2026-11-25 12:00")
    timetable.world.sql("UPDATE Calendar SET CalendarName = 'NL'")
    timetable.until("2026-11-25 12:01")

    assert timetable.fires()[-2:] == [
        ("2026-11-24T06:00..2026-11-24T06:00", "skipped", 1),
        ("2026-11-25T06:00", "fired", 1),
    ]


def test_000_25_a_refused_row_is_told_once_and_stops_no_other(timetable: Timetable) -> None:
    forbid = {
        "sqlite": "CREATE TRIGGER no BEFORE INSERT ON FileProcess WHEN NEW.Entity = 'C'"
        " BEGIN SELECT raise(ABORT, 'not C'); END",
        "postgresql": "ALTER TABLE FileProcess ADD CONSTRAINT no_c CHECK (Entity <> 'C')",
    }
    timetable.world.sql(forbid[timetable.world.database.kind])
    timetable.schedule("refused", RunTimes="06:00", Entity="C")
    timetable.schedule("good", RunTimes="06:00")
    for second in range(0, 60, 6):
        timetable.until(f"2026-11-21 06:00:{second:02}")

    assert timetable.world.sql("SELECT Schedule_id FROM ScheduleFire") == [(2,)]
    assert [source for event, source, _ in timetable.log() if event == "error"] == ["schedule refused"]
    undo = {"sqlite": "DROP TRIGGER no", "postgresql": "ALTER TABLE FileProcess DROP CONSTRAINT no_c"}
    timetable.world.sql(undo[timetable.world.database.kind])
    timetable.until("2026-11-21 06:02")
    assert timetable.world.sql("SELECT Schedule_id FROM ScheduleFire ORDER BY 1") == [(1,), (2,)]


def test_what_an_error_kept_from_firing_in_time_fires_when_it_is_over(timetable: Timetable) -> None:
    forbid = {
        "sqlite": "CREATE TRIGGER no BEFORE INSERT ON FileProcess BEGIN SELECT raise(ABORT, 'not now'); END",
        "postgresql": "ALTER TABLE FileProcess ADD CONSTRAINT no CHECK (Entity <> 'B')",
    }
    timetable.world.sql(forbid[timetable.world.database.kind])
    timetable.schedule(kind="interval", IntervalMinutes=10)
    timetable.until("2026-11-21 03:10")
    for minute in range(11, 60):
        timetable.until(f"2026-11-21 03:{minute}")
    undo = {"sqlite": "DROP TRIGGER no", "postgresql": "ALTER TABLE FileProcess DROP CONSTRAINT no"}
    timetable.world.sql(undo[timetable.world.database.kind])
    timetable.until("2026-11-21 04:00")

    assert sorted(timetable.fires()) == [
        ("2026-11-21T03:10", "fired", 1),
        ("2026-11-21T03:20..2026-11-21T03:50", "skipped", 4),
        ("2026-11-21T04:00", "fired", 1),
    ]
    (said,) = [message for event, _, message in timetable.log() if event == "skipped"]
    assert "4 due times were missed, because of " in said
    assert "controller" not in said


def test_a_refused_instance_leaves_its_row_which_says_why(timetable: Timetable) -> None:
    forbid = {
        "sqlite": "CREATE TRIGGER no BEFORE INSERT ON BatchControl BEGIN SELECT raise(ABORT, 'not by me'); END",
        "postgresql": "ALTER TABLE BatchControl ADD CONSTRAINT not_by_me CHECK (CycleKey = 'never')",
    }
    timetable.world.sql(forbid[timetable.world.database.kind])
    timetable.schedule(RunTimes="06:00")
    timetable.until("2026-11-21 06:00")
    timetable.world.create()

    assert timetable.fires() == [("2026-11-21T06:00", "fired", 1)]
    ((status, message),) = timetable.world.sql("SELECT Status, Message FROM FileProcess")
    assert status == "rejected"
    assert "not by me" in message or "not_by_me" in message
    assert [event for event, *_ in timetable.log()] == ["fired"]


def test_a_row_that_cannot_be_read_is_told_once_and_stops_no_other(sqlite_world: World) -> None:
    sqlite_world.batch()
    timetable = Timetable(sqlite_world)
    timetable.schedule("broken", RunTimes="06:00")
    timetable.schedule("good", RunTimes="06:00")
    sqlite_world.hand.loosen()
    sqlite_world.sql("UPDATE Schedule SET ScheduleType = 'sometimes' WHERE Schedule_id = 1")
    timetable.until("2026-11-21 06:00")
    timetable.until("2026-11-21 06:01")

    assert sqlite_world.sql("SELECT Schedule_id FROM ScheduleFire") == [(2,)]
    assert [source for event, source, _ in timetable.log() if event == "error"] == ["schedule row 1"]


def test_a_calendar_that_has_run_out_is_told_of_once_a_day(timetable: Timetable) -> None:
    timetable.world.sql("INSERT INTO Calendar (CalendarName, ValidUntil) VALUES ('NL', '2026-11-20')")
    timetable.schedule(kind="interval", IntervalMinutes=60, CalendarName="NL")
    for hour in range(4, 28):
        timetable.until(f"2026-11-{21 + hour // 24} {hour % 24:02}:00")
        timetable.restart()

    told = [message for event, source, message in timetable.log() if source == "calendar NL"]
    assert len(told) == 2
    assert "2026-11-20" in told[0]
    assert timetable.world.names().count("calendar.ending") == 2


def test_a_calendar_that_soon_runs_out_is_told_of_once_a_week(timetable: Timetable) -> None:
    timetable.world.sql("INSERT INTO Calendar (CalendarName, ValidUntil) VALUES ('NL', '2026-12-31')")
    timetable.world.sql("INSERT INTO Calendar (CalendarName, ValidUntil) VALUES ('unused', '2026-12-31')")
    timetable.schedule(RunTimes="06:00", CalendarName="NL")
    for day in range(21, 30):
        timetable.until(f"2026-11-{day} 12:00")

    assert [source for event, source, _ in timetable.log() if event == "error"] == ["calendar NL"] * 2


# C10


class Cut:
    """Transactions whose commit is cut once: before it is made, or after."""

    def __init__(self, inner: Any, *, made: bool) -> None:
        self._inner, self._made, self._is_cut = inner, made, False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def run(self, boundaries: Any, work: Any, *, nowait: bool = False) -> Any:
        wrote = False

        def watched(connection: Any) -> Any:
            nonlocal wrote
            found = work(connection)
            wrote = Boundary.SCHEDULE in boundaries and bool(connection.exec_driver_sql(_FIRED).fetchall())
            if wrote and not self._is_cut and not self._made:
                self._is_cut = True
                raise DatabaseRefused("cut")
            return found

        found = self._inner.run(boundaries, watched, nowait=nowait)
        if wrote and not self._is_cut:
            self._is_cut = True
            raise OutcomeUnknown("cut")
        return found


_FIRED = "SELECT 1 FROM ScheduleFire"


@pytest.mark.parametrize("made", [False, True])
def test_c10_a_commit_that_is_cut_is_done_once(timetable: Timetable, made: bool) -> None:
    timetable.schedule(RunTimes="06:00")
    timetable.turns()
    timetable.duty.transactions = Cut(timetable.world.transactions, made=made)
    timetable.world.clock.advance(timedelta(hours=3))
    with pytest.raises(DatabaseRefused):
        timetable.duty.look()
    timetable.turns()

    assert timetable.fires() == [("2026-11-21T06:00", "fired", 1)]
    assert timetable.world.one("SELECT count(*) FROM FileProcess") == 1
    assert timetable.standing() == (1, "2026-11-22 06:00", "2026-11-21 06:00")


def test_who_meets_a_lock_goes_on_with_the_others(timetable: Timetable) -> None:
    timetable.schedule("a", RunTimes="06:00")
    timetable.schedule("b", RunTimes="06:00")
    timetable.turns()
    timetable.world.clock.advance(timedelta(hours=3))
    run, calls = timetable.world.transactions.run, []

    def locked_once(boundaries: Any, work: Any, *, nowait: bool = False) -> Any:
        calls.append(work)
        if len(calls) == 1:
            raise Conflict("locked")
        return run(boundaries, work, nowait=nowait)

    timetable.world.transactions.run = locked_once
    timetable.duty.look()
    first = timetable.world.sql("SELECT Schedule_id FROM ScheduleFire")
    timetable.world.clock.advance(timedelta(seconds=2))
    timetable.duty.look()

    assert first == [(2,)]
    assert timetable.world.sql("SELECT Schedule_id FROM ScheduleFire ORDER BY 1") == [(1,), (2,)]


def test_everything_it_leaves_is_as_the_laws_want_it(timetable: Timetable) -> None:
    timetable.schedule("a", RunTimes="06:00", CatchUp="latest")
    timetable.schedule("b", kind="once", RunAt="2026-11-21 06:00")
    timetable.until("2026-11-23 09:00")

    assert list(fsck.examine(timetable.world.transactions, timetable.world.clock)) == []
    with timetable.world.transactions.read() as connection:
        newest = schedule_fires.newest(connection, 1)
    assert newest[0].zone_rules == "2026z"
