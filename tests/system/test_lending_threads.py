"""What threads have opened for themselves is looked at before each work, and made anew where it was lost meanwhile."""

from __future__ import annotations

import asyncio

import pytest

from batchctl.system.concurrency.lending_threads import LendingThreads


class LostError(Exception):
    """The door is closed."""


class Door:
    """Something that is opened, and that is lost when the house is away."""

    def __init__(self, house: House) -> None:
        self.house, self.is_lost = house, False

    def look(self) -> None:
        if self.is_lost or self.house.is_away:
            raise LostError


class House:
    """Opens doors."""

    def __init__(self) -> None:
        self.is_away, self.opened, self.closed = False, list[Door](), list[Door]()

    def threads(self) -> LendingThreads[Door]:
        return LendingThreads(1, self.open, self.closed.append, LostError, Door.look)

    def open(self) -> Door:
        self.opened.append(Door(self))
        return self.opened[-1]


def test_what_was_lost_between_two_works_is_made_anew_for_the_next_one() -> None:
    house = House()

    async def works() -> None:
        threads = house.threads()
        await threads.do(Door.look)
        house.opened[0].is_lost = True
        await threads.do(Door.look)

    asyncio.run(works())

    assert (len(house.opened), house.closed) == (2, house.opened[:1])


def test_while_it_is_away_each_work_says_so_once_and_it_comes_back() -> None:
    house = House()

    async def works() -> None:
        threads = house.threads()
        await threads.do(Door.look)
        house.is_away = True
        for _ in range(2):
            with pytest.raises(LostError):
                await threads.do(Door.look)
        house.is_away = False
        await threads.do(Door.look)

    asyncio.run(works())

    # The first work while it is away tries a new one, too; the second opens one.
    assert len(house.opened) == 4
    assert house.closed == house.opened[:3]


def test_what_is_lost_in_a_work_is_not_done_again() -> None:
    house, tried = House(), list[Door]()

    def work(door: Door) -> None:
        tried.append(door)
        raise LostError

    async def works() -> None:
        with pytest.raises(LostError):
            await house.threads().do(work)

    asyncio.run(works())

    assert tried == house.closed == house.opened
