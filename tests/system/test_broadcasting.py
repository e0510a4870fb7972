"""One look for all who listen, however many these are, and a mark for each instead of a queue."""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import aclosing

from batchctl.system.concurrency.broadcasting import Broadcast

TABS, MOST, FOREVER = 200, 10, 3600.0


class Looks:
    """Counts the looks; the first finds a change, the others none."""

    def __init__(self) -> None:
        self.count = 0

    async def __call__(self) -> bool:
        self.count += 1
        return self.count == 1


def test_two_hundred_tabs_cost_one_look_and_hear_of_a_change_ten_at_a_time() -> None:
    async def heard() -> tuple[int, list[int]]:
        looks, heard_at = Looks(), list[int]()
        broadcast = Broadcast(looks, interval=0, most=MOST)

        async def tab() -> None:
            async with aclosing(broadcast.listen(FOREVER)) as changes:
                await anext(changes)
                heard_at.append(looks.count)

        await asyncio.gather(*(tab() for _ in range(TABS)))
        return looks.count, heard_at

    looks, heard_at = asyncio.run(heard())

    assert looks <= TABS / MOST + 2
    assert len(heard_at) == TABS
    assert max(Counter(heard_at).values()) <= 2 * MOST


def test_nothing_is_looked_at_when_the_last_tab_is_gone() -> None:
    async def left() -> int:
        looks = Looks()
        broadcast = Broadcast(looks, interval=0, most=MOST)
        async with aclosing(broadcast.listen(FOREVER)) as changes:
            assert await anext(changes)
        before = looks.count
        for _ in range(100):
            await asyncio.sleep(0)
        return looks.count - before

    assert asyncio.run(left()) == 0


def test_who_hears_of_nothing_hears_that_the_stream_is_there() -> None:
    async def quiet() -> bool:
        async def never() -> bool:
            return False

        async with aclosing(Broadcast(never, interval=0, most=MOST).listen(0)) as changes:
            return await anext(changes)

    assert asyncio.run(quiet()) is False


def test_who_listens_steadily_hears_something_though_nothing_has_changed() -> None:
    async def steady() -> bool:
        async def never() -> bool:
            return False

        async with aclosing(Broadcast(never, interval=0, most=MOST).listen(FOREVER, steadily=True)) as changes:
            return await anext(changes)

    assert asyncio.run(steady()) is True


def test_all_who_listen_are_let_go_at_the_end() -> None:
    async def ended() -> list[bool]:
        async def never() -> bool:
            return False

        broadcast = Broadcast(never, interval=FOREVER, most=MOST)

        async def tab() -> list[bool]:
            async with aclosing(broadcast.listen(FOREVER)) as changes:
                return [each async for each in changes]

        tabs = [asyncio.create_task(tab()) for _ in range(TABS)]
        await asyncio.sleep(0)
        broadcast.end()
        return [each for heard in await asyncio.gather(*tabs) for each in heard]

    assert asyncio.run(ended()) == []
