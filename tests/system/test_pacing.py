"""What is done unasked keeps to its share of the time."""

from __future__ import annotations

import asyncio

from batchctl.system.concurrency.pacing import Allowance

SHARE, MOST = 0.1, 10


def begun(seconds: int, each: float) -> int:
    """Return how many pieces of work begin in so many seconds, of which each takes as long."""
    allowance, many = Allowance(SHARE, MOST), 0
    for _ in range(seconds):
        allowance.pass_by(1)
        room = allowance.room
        for _ in range(room):
            allowance.spend(each)
        many += room
    return many


def test_work_that_takes_long_is_begun_seldom() -> None:
    for each in (0.05, 0.5, 2.0):
        assert SHARE * 1000 * 0.9 <= begun(1000, each) * each <= SHARE * 1000 * 1.1 + MOST * each, each


def test_no_more_is_begun_at_once_however_little_it_takes() -> None:
    assert begun(100, 0.001) <= 100 * MOST
    idle = Allowance(SHARE, MOST)
    idle.pass_by(1_000_000)
    assert idle.room == MOST


def test_what_fails_has_taken_its_time_too() -> None:
    allowance = Allowance(SHARE, MOST)
    allowance.pass_by(0.0001)
    assert allowance.room == 1

    async def fail() -> None:
        await asyncio.sleep(0)
        raise RuntimeError("away")

    async def tried() -> bool:
        try:
            await allowance.timed(fail())
        except RuntimeError:
            return True
        return False

    assert asyncio.run(tried())
