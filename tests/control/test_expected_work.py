"""Work that is expected and does not come, does not start or is not finished in time: also when nothing has ever run."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.control.alarm import Alarm, rules
from tests.control.world import OK, World

YESTERDAY = "2026-11-20 23:30:00"
TODAY = "2026-11-21 00:30:00"


def expected(world: World, **columns: Any) -> None:
    """Register a batch long ago; the world begins on a Saturday at 03:00."""
    world.batch(z_inserted="2026-01-01 00:00:00", **columns)


def test_a_file_that_has_not_arrived_is_told_though_nothing_ever_ran(world: World) -> None:
    expected(world, ArriveBy="03:10")
    world.submit(z_inserted=YESTERDAY)
    alarm = Alarm(world, rules(learns_arrivals=False))
    assert alarm.announced() == []
    world.clock.advance(timedelta(minutes=10))

    assert alarm.announced() == [
        "[ERROR] B: Nothing of entity B has arrived by 03:10 UTC on Sat 2026-11-21, as ArriveBy says"
    ]
    world.submit(z_inserted="2026-11-21 03:30:00")
    assert [said.partition(" ")[0] for said in alarm.announced()] == ["[OVER]"]


def test_a_duplicate_is_no_arrival_and_one_of_the_day_may_come_the_evening_before(world: World) -> None:
    expected(world, ArriveBy="02:00")
    world.submit(z_inserted=TODAY, Status="duplicate")
    assert len(Alarm(world, rules(learns_arrivals=False)).announced()) == 1

    world.submit(z_inserted=YESTERDAY, CycleKey="2026-11-21")
    world.create()
    assert [said.partition(" ")[0] for said in Alarm(world, rules(learns_arrivals=False)).announced()] == ["[OVER]"]


def test_on_the_next_day_it_is_another_incident_and_nobody_hears_that_the_first_is_over(world: World) -> None:
    expected(world, ArriveBy="02:00")
    alarm = Alarm(world, rules(learns_arrivals=False))
    assert len(alarm.announced()) == 1
    world.sql("UPDATE Incident SET Status = 'acknowledged'")
    world.clock.advance(timedelta(hours=23))

    (said,) = alarm.announced()
    assert said.startswith("[ERROR]")
    assert "Sun 2026-11-22" in said
    assert world.sql("SELECT Status FROM Incident ORDER BY Incident_id") == [("resolved",), ("open",)]


def test_what_has_not_started_and_what_has_not_finished_in_time_is_told(world: World) -> None:
    expected(world, StartBy="02:00", FinishBy="02:30")
    alarm = Alarm(world, rules(learns_arrivals=False))

    assert [said.partition(": ")[2] for said in alarm.announced()] == [
        "Batch B has not started by 02:00 UTC on Sat 2026-11-21",
        "Batch B has not finished by 02:30 UTC on Sat 2026-11-21",
    ]
    world.submit(z_inserted=TODAY)
    world.runner.script = lambda rendered: None
    world.create()
    controller = world.process()
    assert [said.partition("has not ")[2].split()[0] for said in alarm.announced()] == ["started"]
    world.runner.script = lambda rendered: OK
    for key in list(world.runner.open):
        world.runner.end(key, OK)
    world.turn_until_idle(controller)
    assert [said.partition("has not ")[2].split()[0] for said in alarm.announced()] == ["finished"]


def test_what_came_on_every_weekday_is_missed_on_the_next_without_anybody_saying_when(world: World) -> None:
    expected(world)
    for weeks in range(1, 8):
        for days in (0, 1):  # Saturdays, as the world's today is, and Fridays
            at = world.clock.now() - timedelta(weeks=weeks, days=days)
            world.submit(z_inserted=f"{at:%Y-%m-%d} 02:{weeks:02}:00", Source="sftp", Status="complete")
            world.submit(z_inserted=f"{at:%Y-%m-%d} 01:00:00", Source="schedule s", Entity="S", Status="complete")
            world.submit(z_inserted=f"{at:%Y-%m-%d} 01:00:00", Source="sftp", Status="duplicate")
    alarm = Alarm(world)
    (said,) = alarm.announced()

    assert said == "[ERROR] B: Nothing of entity B has arrived by 02:37 UTC on Sat 2026-11-21, as it usually has"
    world.sql("UPDATE ProcessBatch SET ArriveBy = 'none'")
    assert [said.partition(" ")[0] for said in alarm.announced()] == ["[OVER]"]


def test_clocks_that_were_changed_make_nothing_late_that_comes_by_others(world: World) -> None:
    expected(world)
    world.clock.advance(datetime(2026, 3, 29, 3, 50, tzinfo=UTC) - world.clock.now())  # In the morning after.
    for weeks in range(1, 8):
        at = world.clock.now() - timedelta(weeks=weeks)
        world.submit(z_inserted=f"{at:%Y-%m-%d} 04:03:00", Source="sftp", Status="complete")
    alarm = Alarm(world, rules(zone="Europe/Amsterdam"))
    assert alarm.announced() == []

    world.clock.advance(timedelta(minutes=50))
    assert alarm.announced() == [
        "[ERROR] B: Nothing of entity B has arrived by 06:33 Europe/Amsterdam on Sun 2026-03-29, as it usually has"
    ]


def test_nothing_is_expected_by_a_time_that_had_passed_before_anybody_asked_for_it(world: World) -> None:
    expected(world, Enabled=0, StartBy="00:00")
    world.batch("C", z_inserted="2026-01-01 00:00:00")
    world.sql("UPDATE ProcessBatch SET Enabled = 1, FinishBy = '00:00'")
    changed = datetime.fromisoformat(str(world.one("SELECT max(z_inserted) FROM AuditLog")))
    world.clock.advance(changed.replace(tzinfo=UTC) - world.clock.now())
    alarm = Alarm(world, rules(learns_arrivals=False))
    assert alarm.announced() == []

    world.clock.advance(timedelta(days=1))
    assert len(alarm.announced()) == 3
    world.sql("UPDATE ProcessBatch SET FinishBy = '00:01'")
    assert alarm.announced() == [], "who changes a time takes nothing back"


@pytest.mark.full
def test_whatever_number_of_incidents_stands_each_stands_once(world: World) -> None:
    world.hand.many(
        "INSERT INTO ProcessBatch (ProcessBatchName, ArriveBy, z_inserted) VALUES (?, '02:00', '2026-01-01 00:00:00')",
        [(f"B{number}",) for number in range(1010)],
    )
    world.sql(
        "INSERT INTO ProcessControl (ProcessBatch_id, ProcessControlSeq, ProcessName, ProcessType)"
        " SELECT ProcessBatch_id, 10, 'load', 'fake' FROM ProcessBatch"
    )
    alarm = Alarm(world, rules(learns_arrivals=False))
    assert alarm.announced() == ["[DIGEST] 1010 incidents stand, 0 over"]
    world.batch("Late", ArriveBy="02:00", z_inserted="2026-01-01 00:00:00")
    world.clock.advance(timedelta(minutes=11))

    assert alarm.announced() == [
        "[ERROR] Late: Nothing of entity Late has arrived by 02:00 UTC on Sat 2026-11-21, as ArriveBy says"
    ]
    assert world.one("SELECT count(*) FROM Incident") == 1011
