"""Two processes decide the same ten thousand due times at the same moments: each fires exactly once."""

from __future__ import annotations

import multiprocessing
from datetime import UTC, datetime, timedelta
from multiprocessing.synchronize import Barrier
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from batchctl.control.creation import Creator
from batchctl.control.scheduling.deciding import Deciding
from batchctl.control.scheduling.firing import Firing
from batchctl.domain.errors import Busy
from batchctl.operations.maintenance import fsck
from batchctl.ports import Change
from batchctl.store import engine
from batchctl.store.transactions import StoreTransactions
from batchctl.testing import FakeClock
from tests.control.world import Populators, World

BEGIN = datetime(2026, 11, 20, 22, 0, tzinfo=UTC)
SCHEDULES = 200
ROUNDS = 50
PATIENCE = 300


def fire_all(url: str, directory: Path, together: Barrier) -> None:
    """Decide what is due each minute, at the same moment as the other leader."""
    transactions, clock = StoreTransactions(engine.open_engine(url, directory)), FakeClock(BEGIN)
    creator = Creator(transactions, clock, Populators(), ZoneInfo("UTC"), lambda event: None)
    deciding = Deciding(clock, creator, lambda batch: True, timedelta(minutes=5), None)
    duty = Firing(transactions, clock, deciding, lambda event: None, 15.0, "UTC", lambda: None)
    for _ in range(ROUNDS + 1):
        together.wait(PATIENCE)
        until_done(duty, clock)
        clock.advance(timedelta(minutes=1))
    transactions.close()


def until_done(duty: Firing, clock: FakeClock) -> None:
    """Look until nothing is due any more, however often the other one is met."""
    for _ in range(10_000):
        try:
            duty.look(Change.ANYTHING)
        except Busy:
            continue
        if not duty.is_busy and (duty._wakes_at is None or duty._wakes_at > clock.now()):
            return
        clock._seconds += 1.0
    raise AssertionError("it does not come to rest")


@pytest.mark.full
def test_d06_ten_thousand_due_times_fire_once_each(world: World) -> None:
    world.batch()
    world.hand.many(
        "INSERT INTO Schedule (ScheduleName, Entity, ScheduleType, IntervalMinutes, DecidedUntil)"
        " VALUES (?, 'B', 'interval', 1, '2026-11-20 22:00:00.000')",
        [(f"s{number}",) for number in range(SCHEDULES)],
    )
    context = multiprocessing.get_context("spawn")
    together = context.Barrier(2)
    given = world.database.url, world.directory, together
    leaders = [context.Process(target=fire_all, args=given, daemon=True) for _ in range(2)]
    for leader in leaders:
        leader.start()
    for leader in leaders:
        leader.join(PATIENCE)

    assert [leader.exitcode for leader in leaders] == [0, 0]
    counted = "SELECT count(*), count(DISTINCT FileProcess_id), count(DISTINCT {key}), min(Outcome) FROM ScheduleFire"
    key = "Schedule_id || FireKey"
    every = SCHEDULES * ROUNDS
    assert world.sql(counted.format(key=key)) == [(every, every, every, "fired")]
    assert world.one("SELECT count(*) FROM FileProcess") == every
    assert world.one("SELECT count(DISTINCT FileProcess_id) FROM BatchControl") == every
    world.clock.advance(timedelta(days=1))
    assert list(fsck.examine(world.transactions, world.clock)) == []
