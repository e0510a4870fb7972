"""What the console draws of times: the days to come, the hours around now, what is late."""

from __future__ import annotations

from datetime import timedelta

import pytest

from batchctl.operations.alerting import lateness
from batchctl.operations.scheduling import agenda, day_chart
from batchctl.operations.scheduling.timetable import Timetable
from tests.control.world import World
from tests.operations.test_timetable import schedule

HISTORY = (
    "INSERT INTO BatchProcessHistory (BatchControl_id, ProcessBatch_id, ProcessControlSeq, ProcessName, ProcessType,"
    " AttemptNo, ClaimToken, Cause, Status, CommandText, CommandSpec, StartTime, EndTime)"
    " VALUES (1, 1, 10, 'x', 'os_command', 1, 1, 'auto', 'success', 'x', '{}', ?, ?)"
)


@pytest.fixture
def table(world: World) -> Timetable:
    """Return what looks at schedules; it is 21 November 2026, 03:00 UTC, 04:00 in Amsterdam."""
    world.batch()
    grace = timedelta(minutes=5)
    return Timetable(transactions=world.transactions, clock=world.clock, zone="Europe/Amsterdam", grace=grace)


def test_the_days_to_come_are_those_of_every_enabled_schedule(world: World, table: Timetable) -> None:
    schedule(world)
    schedule(world, "often", "interval", IntervalMinutes=60)
    schedule(world, "off", Enabled=0)

    found = agenda.agenda(table, days=2)

    assert [one.schedule.name for one in found.schedules] == ["nightly", "off", "often"]
    assert [(one.day.isoformat(), one.schedule.name) for one in found.days if one.schedule.name != "often"] == [
        ("2026-11-21", "nightly"),
        ("2026-11-22", "nightly"),
    ]
    assert sum(len(one.fires) for one in found.days if one.schedule.name == "often") == 48
    assert agenda.AGENDA.as_json(found.days)


def test_a_night_in_which_clocks_are_changed_is_marked(world: World, table: Timetable) -> None:
    world.clock.advance(timedelta(days=120))
    schedule(world, RunTimes="02:30")

    changed = [one for one in agenda.agenda(table).days if one.change is not None]

    assert [one.day.isoformat() for one in changed] == ["2027-03-28"]
    assert "the clocks are put forward" in (changed[0].reason or "")


def test_the_hours_around_now_hold_what_was_worked_at_and_what_is_due(world: World, table: Timetable) -> None:
    schedule(world)
    world.sql("INSERT INTO FileProcess (Entity, FileName) VALUES ('B', 'a.csv')")
    world.sql("INSERT INTO BatchControl (ProcessBatch_id, FileProcess_id, Status) VALUES (1, 1, 'complete')")
    world.sql(HISTORY, "2026-11-21 01:00:00", "2026-11-21 01:20:00")

    (row,) = day_chart.day_chart(table).rows

    assert [(one.instance_id, f"{one.began:%H:%M}", f"{one.ended:%H:%M}") for one in row.worked] == [
        (1, "01:00", "01:20")
    ]
    assert [f"{one.at:%H:%M}" for one in row.due] == ["05:00"]
    assert row.usual is None


def test_what_is_late_is_what_the_view_says(world: World, table: Timetable) -> None:
    schedule(world, NextRunTime="2026-11-20 03:00:00")

    (row,) = lateness.late(world.transactions, 10)

    assert (row.what, row.name) == ("schedule", "nightly")
    assert lateness.LATE.as_json([row])
