"""One look for all who listen, however many these are, and a mark for each instead of a queue."""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import aclosing

from batchctl.system.concurrency.broadcasting import KEPT, Broadcast
from batchctl.system.concurrency.pacing import Allowance

TABS, MOST, FOREVER = 200, 10, 3600.0


def ample() -> Allowance:
    """Return one that has always room for the most."""
    made = Allowance(1.0, MOST)
    made.pass_by(FOREVER)
    return made


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
        broadcast = Broadcast(looks, interval=0, allowance=ample())

        async def tab() -> None:
            async with aclosing(broadcast.listen(FOREVER, bool)) as changes:
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
        broadcast = Broadcast(looks, interval=0, allowance=ample())
        async with aclosing(broadcast.listen(FOREVER, bool)) as changes:
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

        async with aclosing(Broadcast(never, interval=0, allowance=ample()).listen(0, bool)) as changes:
            return await anext(changes)

    assert asyncio.run(quiet()) is False


def test_who_listens_steadily_hears_something_though_nothing_has_changed() -> None:
    async def steady() -> bool:
        async def never() -> bool:
            return False

        async with aclosing(
            Broadcast(never, interval=0, allowance=ample()).listen(FOREVER, bool, steadily=True)
        ) as changes:
            return await anext(changes)

    assert asyncio.run(steady()) is True


def test_only_those_hear_of_news_whom_they_concern() -> None:
    async def heard() -> list[str]:
        hearers, first = list[str](), asyncio.Event()

        async def look() -> str:
            return "of one" if first.is_set() else "of all"

        broadcast = Broadcast(look, interval=0, allowance=ample())

        async def tab(name: str) -> None:
            async with aclosing(broadcast.listen(FOREVER, lambda news: news in {"of all", f"of {name}"})) as changes:
                async for _ in changes:
                    hearers.append(name)
                    if {*hearers} == {"one", "two"}:
                        first.set()
                    if hearers[-2 * KEPT :] == ["one"] * 2 * KEPT:
                        broadcast.end()

        await asyncio.gather(tab("one"), tab("two"))
        return hearers

    assert asyncio.run(heard())[-2 * KEPT :] == ["one"] * 2 * KEPT


def test_who_begins_to_listen_hears_of_what_has_just_changed() -> None:
    async def heard() -> list[bool]:
        changed, long_ago, looks = asyncio.Event(), asyncio.Event(), 0

        async def look() -> bool:
            nonlocal looks
            looks += 1
            if looks == 3 * KEPT:
                long_ago.set()
            return looks == KEPT + 1

        broadcast = Broadcast(look, interval=0, allowance=ample())

        async def first_of_a_tab(patience: float) -> bool:
            async with aclosing(broadcast.listen(patience, bool)) as changes:
                return await anext(changes)

        async def watch() -> None:
            async with aclosing(broadcast.listen(FOREVER, bool)) as changes:
                async for _ in changes:
                    if looks > KEPT:
                        changed.set()

        watching = asyncio.create_task(watch())
        await changed.wait()
        just = await first_of_a_tab(FOREVER)
        await long_ago.wait()
        later = await first_of_a_tab(0)
        broadcast.end()
        await watching
        return [just, later]

    assert asyncio.run(heard()) == [True, False]


def test_all_who_listen_are_let_go_at_the_end() -> None:
    async def ended() -> list[bool]:
        async def never() -> bool:
            return False

        broadcast = Broadcast(never, interval=FOREVER, allowance=ample())

        async def tab() -> list[bool]:
            async with aclosing(broadcast.listen(FOREVER, bool)) as changes:
                return [each async for each in changes]

        tabs = [asyncio.create_task(tab()) for _ in range(TABS)]
        await asyncio.sleep(0)
        broadcast.end()
        return [each for heard in await asyncio.gather(*tabs) for each in heard]

    assert asyncio.run(ended()) == []
