"""Times that PostgreSQL can hold and Python cannot: one of them in a row keeps nothing else from going on."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import psycopg
import pytest

from batchctl.control.scheduling.backfilling import Backfilling
from batchctl.control.scheduling.deciding import Deciding
from batchctl.operations.scheduling import backfiller
from batchctl.store.dialects.postgresql_times import FIRST, LAST, read_all_times
from tests.control.timetable import GRACE, POLL, Timetable
from tests.control.world import World
from tests.control_databases import PostgresControl

ENDLESS = ["infinity", "-infinity", "294000-01-01 00:00:00", "4000-01-01 00:00:00 BC"]
LATE = pytest.mark.parametrize("time", ["infinity", "294000-01-01 00:00:00"])


@pytest.fixture
def timetable(postgres_database: PostgresControl) -> Iterator[Timetable]:
    """Return a world on PostgreSQL in which a batch `B` is started by schedules."""
    world = World(postgres_database)
    world.batch()
    # The constraints refuse such times; these are rows of whoever has dropped them.
    world.hand.loosen()
    yield Timetable(world)
    world.close()


def backfilling(timetable: Timetable) -> Backfilling:
    """Return the duty that works backfills off."""
    world = timetable.world
    deciding = Deciding(world.clock, world.creator(), lambda batch: True, GRACE, "2026z")
    return Backfilling(world.transactions, world.clock, deciding, world.events.append, POLL, "UTC", lambda: None)


def ask(timetable: Timetable, schedule_id: int, **columns: object) -> None:
    """Ask for a backfill by a row."""
    usual = {"FromTime": "2026-11-01 00:00:00", "UntilTime": "2026-11-03 00:00:00", "MostOpen": 100, "Actor": "anna"}
    timetable.world._insert("ScheduleBackfill", {"Schedule_id": schedule_id, **usual, **columns})


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("infinity", LAST),
        ("-infinity", FIRST),
        ("294000-01-01", LAST),
        ("4000-01-01 BC", FIRST),
        ("10000-01-01", LAST),
        ("9999-12-31 23:59:59.999999", datetime(9999, 12, 31, 23, 59, 59, 999999)),  # noqa: DTZ001
        ("0001-01-01 BC", FIRST),
        ("0001-01-01", FIRST),
        (None, None),
    ],
)
def test_what_python_cannot_hold_is_read_as_the_nearest_that_it_can(
    postgres_database: PostgresControl, written: str | None, read: datetime | None
) -> None:
    with postgres_database.server.connect(postgres_database.name) as raw:
        raw.execute("SET TimeZone = 'UTC'")
        read_all_times(raw)
        found = raw.execute("SELECT %s::timestamp, %s::timestamptz", (written, written)).fetchone()

    assert found == (read, read and read.replace(tzinfo=UTC))


def test_other_connections_read_as_the_driver_does(timetable: Timetable, postgres_database: PostgresControl) -> None:
    timetable.turns()

    with postgres_database.server.connect(postgres_database.name) as raw, pytest.raises(psycopg.DataError):
        raw.execute("SELECT 'infinity'::timestamp").fetchone()


@pytest.mark.parametrize("time", ENDLESS)
@pytest.mark.parametrize("column", ["NextRunTime", "DecidedUntil", "z_inserted", "z_updated"])
def test_in_a_schedule_it_keeps_nothing_from_firing(timetable: Timetable, column: str, time: str) -> None:
    timetable.schedule("s", RunTimes="06:00")
    timetable.schedule("other", RunTimes="06:00")
    timetable.turns()
    timetable.world.sql(f"UPDATE Schedule SET {column} = ? WHERE Schedule_id = 1", time)
    timetable.until("2026-11-21 05:00")
    timetable.until("2026-11-21 06:00")

    fired = timetable.world.sql("SELECT Schedule_id FROM ScheduleFire WHERE Outcome = 'fired' ORDER BY 1")
    assert fired == [(1,), (2,)]
    assert timetable.standing() == (1, "2026-11-22 06:00", "2026-11-21 06:00")


@pytest.mark.parametrize("time", ENDLESS)
@pytest.mark.parametrize("column", ["DueTime", "DueUntil", "z_inserted"])
def test_in_a_due_time_it_keeps_nothing_from_firing(timetable: Timetable, column: str, time: str) -> None:
    timetable.schedule("s", RunTimes="06:00")
    due = {"DueTime": "2026-11-03 06:00:00", "DueUntil": "2026-11-04 06:00:00", "z_inserted": "2026-11-04 06:05:00"}
    skip = {"Schedule_id": 1, "FireKey": "x", "Outcome": "skipped", "Instants": 2, **due, column: time}
    timetable.world._insert("ScheduleFire", skip)
    ask(timetable, 1)
    timetable.until("2026-11-21 06:00")
    backfilling(timetable).finish()

    assert "2026-11-21T06:00" in timetable.fired()


@LATE
@pytest.mark.parametrize("enabled", [0, 1])
def test_a_backfill_that_never_ends_waits_for_what_is_to_come(timetable: Timetable, time: str, enabled: int) -> None:
    timetable.schedule("s", RunTimes="06:00", Enabled=enabled)
    timetable.schedule("other", RunTimes="07:00")
    ask(timetable, 1, FromTime="2026-11-19 00:00:00", UntilTime=time)
    ask(timetable, 2)
    timetable.turns()
    duty = backfilling(timetable)
    duty.finish()

    assert timetable.fired()[:2] == ["2026-11-19T06:00", "2026-11-20T06:00"]
    assert timetable.fired()[-2:] == ["2026-11-01T07:00", "2026-11-02T07:00"]
    states = timetable.world.sql("SELECT Status FROM ScheduleBackfill ORDER BY ScheduleBackfill_id")
    assert states == [("running",), ("complete",)]
    listed, _ = backfiller.everyone(timetable.world.transactions, timetable.world.clock.now(), "UTC")
    assert [one.waits for one in listed] == [None, "its time reaches into the future"]
    assert not timetable.world.sql("SELECT 1 FROM SchedulerLog WHERE EventType = 'error'")


@pytest.mark.parametrize("columns", [{"FromTime": "-infinity"}, {"DoneUntil": "-infinity"}, {"DoneUntil": "infinity"}])
def test_a_backfill_from_the_beginning_of_time_ends(timetable: Timetable, columns: dict[str, str]) -> None:
    timetable.schedule("s", RunTimes="06:00", StartDate="2026-11-01")
    timetable.schedule("other", RunTimes="07:00")
    ask(timetable, 1, **columns)
    ask(timetable, 2)
    timetable.turns()
    backfilling(timetable).finish()

    states = timetable.world.sql("SELECT Status, Fired FROM ScheduleBackfill ORDER BY ScheduleBackfill_id")
    assert states == [("complete", 0 if columns.get("DoneUntil") == "infinity" else 2), ("complete", 2)]


@pytest.mark.parametrize("time", ENDLESS)
@pytest.mark.parametrize(
    "column",
    ["FileProcess.z_inserted", "BatchControl.NextRunTime", "BatchControl.z_inserted", "ProcessBatch.z_updated"],
)
def test_in_what_is_to_be_done_it_keeps_no_other_batch_from_its_work(
    timetable: Timetable, column: str, time: str
) -> None:
    world = timetable.world
    world.batch("other", steps=1)
    world.submit()
    world.submit("other")
    world.create()
    world.hand.loosen()
    table, _, name = column.partition(".")
    world.sql(f"UPDATE {table} SET {name} = ? WHERE {table}_id = 1", time)
    world.process()

    status = "SELECT c.Status FROM BatchControl c JOIN FileProcess p USING (FileProcess_id) WHERE p.Entity = 'other'"
    assert world.one(status) == "complete"


@pytest.mark.parametrize("time", ENDLESS)
def test_what_arrived_beyond_all_times_is_work_like_any_other(timetable: Timetable, time: str) -> None:
    world = timetable.world
    world.submit(z_inserted=time)
    world.submit()
    world.create()
    world.process()

    assert world.statuses() == ["complete"] * 2
    assert world.one("SELECT CycleKey FROM BatchControl WHERE FileProcess_id = 1") in {"9990-12-31", "1900-01-01"}


@pytest.mark.parametrize("zone", ["Pacific/Kiritimati", "Pacific/Pago_Pago"])
@pytest.mark.parametrize("time", ENDLESS)
def test_a_calendar_that_was_told_of_beyond_all_times_keeps_nothing_from_firing(
    timetable: Timetable, time: str, zone: str
) -> None:
    world = timetable.world
    world._insert("Calendar", {"CalendarName": "short", "ValidUntil": "2026-11-30"})
    timetable.schedule("s", RunTimes="06:00", TimeZone="UTC", CalendarName="short")
    log = {"EventType": "error", "Source": "calendar short", "Message": "it ends", "EventTime": time}
    world._insert("SchedulerLog", log)
    timetable.zone = zone
    timetable.restart()
    timetable.until("2026-11-23 06:00")

    assert timetable.fired() == ["2026-11-23T06:00"]
