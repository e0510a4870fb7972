"""Reports tell what is due, what is late and how long steps take, from what is kept and what was purged."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest

from batchctl.domain.alerting.alerts import AlertRules
from batchctl.domain.alerting.performance import Drift
from batchctl.domain.errors import NotFound
from batchctl.domain.liveness import Rhythm
from batchctl.domain.scheduling.schedules import ScheduleId
from batchctl.operations.presence import Presence
from batchctl.operations.reports.reporting import COMING, STEPS, Reporter
from batchctl.operations.scheduling import arming, timetable
from batchctl.operations.scheduling.timetable import Timetable
from tests.control.world import RUNS_ON, World
from tests.operations.test_timetable import schedule

HISTORY = (
    "INSERT INTO BatchProcessHistory (BatchControl_id, ProcessBatch_id, ProcessControlSeq, ProcessName, ProcessType,"
    " AttemptNo, Status, Cause, CommandText, StartTime, EndTime) VALUES (?, 1, 10, 'step 10', 'told', ?, ?, ?, '', ?, ?)"
)
PURGED = (
    "INSERT INTO DurationHistory (ProcessBatch_id, ProcessControlSeq, Day, UpToMs, Runs, TotalMs, MinMs, MaxMs)"
    " VALUES (1, 10, ?, ?, ?, ?, ?, ?)"
)


def reporter(world: World, *names: str) -> Reporter:
    table = Timetable(transactions=world.transactions, clock=world.clock, zone="UTC", grace=timedelta(minutes=5))
    return Reporter(world.transactions, table, AlertRules(), Presence(Rhythm(), lambda _row: False), names)


@pytest.fixture(autouse=True)
def batch(world: World) -> None:
    world.batch(steps=1)
    world.sql("UPDATE ProcessControl SET ExpectedDuration = 60, AlarmDuration = 300")


def attempts(world: World, lengths: Sequence[float], status: str = "success", cause: str = "auto") -> None:
    """Insert ended attempts at step 10 of one instance, an hour apart, the last one an hour ago."""
    world.submit()
    world.create()
    instance = world.one("SELECT max(BatchControl_id) FROM BatchControl")
    begin = world.clock.now() - len(lengths) * timedelta(hours=1)
    rows = []
    for at, seconds in enumerate(lengths):
        start = begin + at * timedelta(hours=1)
        end = start + timedelta(seconds=seconds)
        written = (moment.strftime("%Y-%m-%d %H:%M:%S.000") for moment in (start, end))
        rows.append((instance, at + 1, status, cause, *written))
    world.hand.many(HISTORY, rows)


def test_successes_are_counted_and_nothing_else(world: World) -> None:
    attempts(world, [30] * 9 + [90])
    attempts(world, [1] * 5, "failed")
    attempts(world, [1] * 5, cause="verify")

    (found,) = reporter(world).durations()

    assert (found.batch, found.step.seq, found.took.many, found.over) == ("B", 10, 10, 1)
    assert STEPS.of(found)["Median"] == 30
    assert STEPS.of(found)["P95"] == 90
    assert (STEPS.of(found)["ExpectedDuration"], STEPS.of(found)["AlarmDuration"]) == (60, 300)


def test_what_was_purged_counts_too(world: World) -> None:
    world.sql(PURGED, "2026-11-10", 10000, 50, 500000, 9000, 10000)
    world.sql(PURGED, "2025-11-10", 10000, 50, 500000, 9000, 10000)
    attempts(world, [30] * 20)

    (found,) = reporter(world, "B").durations()

    assert (found.took.many, found.took.drift) == (70, Drift.SLOWER)
    assert (STEPS.of(found)["EarlierMedian"], STEPS.of(found)["RecentMedian"]) == (10, 30)


def test_a_batch_is_looked_at_alone(world: World) -> None:
    world.batch("Other")
    attempts(world, [30])

    assert reporter(world, "Other").durations() == ()
    assert [one.batch for one in reporter(world, "B").durations()] == ["B"]
    with pytest.raises(NotFound, match="Did you mean 'Other'"):
        reporter(world, "Othr").durations()


def test_what_runs_longer_than_expected_is_late(world: World) -> None:
    attempts(world, [30] * 6)
    world.sql("UPDATE BatchControl SET Status = 'complete'")
    world.runner.script = lambda rendered: RUNS_ON
    world.submit()
    world.create()
    world.process()
    (due,) = reporter(world).due().under_way
    assert due.ready.median == due.entry.started_at + timedelta(seconds=30)
    assert reporter(world).late().running == ()

    world.clock.advance(timedelta(seconds=100))

    (late,) = reporter(world).late().running
    assert (late.expected, late.late_by) == (timedelta(seconds=60), late.elapsed - timedelta(seconds=60))
    assert late.ready.median is None, "it has run longer than ever"
    world.sql("UPDATE ProcessControl SET ExpectedDuration = NULL, AlarmDuration = 90")
    assert [one.expected for one in reporter(world).late().running] == [timedelta(seconds=90)]


def test_what_is_due_says_when_it_should_be_done(world: World) -> None:
    attempts(world, [30] * 6)
    world.sql("UPDATE BatchControl SET Status = 'complete'")
    schedule(world, "nightly", "daily", RunTimes="06:00", TimeZone="UTC")

    (coming,) = reporter(world).due().coming

    assert (coming.coming.schedule.name, coming.batches) == ("nightly", ("B",))
    assert coming.ready.median == coming.coming.next.at + timedelta(seconds=30)
    assert coming.ready.nearly is None, "six runs are too few"
    assert COMING.of(coming)["ExpectedEnd"] is not None
    assert reporter(world).late().overdue == ()


def test_a_due_time_that_nobody_decided_is_overdue(world: World) -> None:
    schedule(world, "nightly", "daily", RunTimes="06:00", TimeZone="UTC")

    def arm(connection: Any) -> None:
        arming.arm(connection, ScheduleId(1), timetable.schedule_context(connection, "UTC", world.clock.now()))

    world.transactions.run(frozenset(), arm)
    world.clock.advance(timedelta(hours=4))

    (overdue,) = reporter(world).late().overdue

    assert (overdue.coming.schedule.name, overdue.coming.next.is_overdue) == ("nightly", True)


def test_what_stands_comes_by_how_long_it_stands(world: World) -> None:
    for _ in range(3):
        world.submit()
    world.create()
    world.sql(
        "UPDATE BatchControl SET Status = 'failed', z_updated = '2026-11-20 01:00:00.000' WHERE BatchControl_id = 2"
    )
    world.sql(
        "UPDATE BatchControl SET Status = 'held', z_updated = '2026-11-19 01:00:00.000' WHERE BatchControl_id = 3"
    )

    late = reporter(world).late()

    assert [(one.instance.instance_id, one.instance.status.value) for one in late.standing] == [
        (3, "held"),
        (2, "failed"),
    ]
    assert late.is_any


def test_nothing_is_late_where_nothing_happens(world: World) -> None:
    assert not reporter(world).late().is_any
    assert reporter(world).durations() == ()
