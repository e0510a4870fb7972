"""What a console keeps of agents and their questions: who gets which, and what becomes of those that no agent answers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import Any

import pytest

from batchctl.system.remote.relay import (
    MOST_AGENTS,
    MOST_ASKED,
    MOST_OF_TOKEN,
    AgentOffer,
    FullError,
    GoneError,
    NameTakenError,
    Relay,
)
from tests.system.watching import LIMIT

Story = Callable[[], Coroutine[Any, Any, None]]


def told(story: Story) -> None:
    """Let something happen on a loop of its own."""

    async def bounded() -> None:
        async with asyncio.timeout(LIMIT):
            await story()

    asyncio.run(bounded())


def offer(name: str = "far", session: str = "one", *pools: str, takes: bool = True) -> AgentOffer:
    return AgentOffer(
        name=name,
        session=session,
        token="one of them",
        pools=frozenset(pools or ("ssis",)),
        slots=2,
        resources={"GPU": 1.0},
        takes_steps=takes,
    )


def ask(relay: Relay, pool: str = "ssis", name: str = "far", within: float = LIMIT) -> asyncio.Task[Any]:
    return asyncio.ensure_future(relay.ask(pool, name, {"verb": "hello", "message": {}}, within))


def test_a_question_goes_to_the_agent_that_polls_and_its_answer_comes_back() -> None:
    async def story() -> None:
        relay = Relay()
        polling = asyncio.ensure_future(relay.poll(offer(), LIMIT))
        await asyncio.sleep(0)
        asking = ask(relay)
        (question,) = await polling
        assert (question["verb"], question["message"]) == ("hello", {})

        assert relay.answer({"ssis"}, "far", "one", int(str(question["number"])), {"said": "hello"})
        assert await asking == {"said": "hello"}
        assert not relay.answer({"ssis"}, "far", "one", int(str(question["number"])), {}), "it is answered already"

    told(story)


def test_several_questions_are_there_at_once_and_one_that_waits_keeps_no_other() -> None:
    async def story() -> None:
        relay = Relay()
        await relay.poll(offer(), 0)
        first, second = ask(relay), ask(relay)
        await asyncio.sleep(0)
        one, other = await relay.poll(offer(), LIMIT)

        assert relay.answer({"ssis"}, "far", "one", int(str(other["number"])), "second")
        assert await second == "second"
        assert not first.done()
        assert relay.answer({"ssis"}, "far", "one", int(str(one["number"])), "first")
        assert await first == "first"

    told(story)


def test_an_agent_of_several_pools_is_one_and_is_seen_in_each() -> None:
    async def story() -> None:
        relay = Relay()
        await relay.poll(offer("far", "one", "ssis", "gpu"), 0)
        shown = [{"name": "far", "slots": 2, "resources": {"GPU": 1.0}}]
        assert relay.offered("ssis") == relay.offered("gpu") == shown
        assert relay.offered("other") == []

        await relay.poll(offer("far", "one", "gpu"), 0)
        assert relay.offered("ssis") == [], "it polls for that pool no more"

    told(story)


def test_an_agent_that_takes_nothing_new_is_not_offered_and_still_answers() -> None:
    async def story() -> None:
        relay = Relay()
        held = asyncio.ensure_future(relay.poll(offer(), LIMIT))
        await asyncio.sleep(0)
        await relay.poll(offer(takes=False), 0)

        assert await held == [], "a newer poll takes the place of one that is held"
        assert relay.offered("ssis") == []
        asking = ask(relay)
        await asyncio.sleep(0)
        (question,) = await relay.poll(offer(takes=False), LIMIT)
        relay.answer({"ssis"}, "far", "one", int(str(question["number"])), "there")
        assert await asking == "there"

    told(story)


def test_a_name_that_an_agent_has_is_no_other_ones_as_long_as_it_is_there() -> None:
    async def story() -> None:
        relay = Relay()
        held = asyncio.ensure_future(relay.poll(offer(), LIMIT))
        await asyncio.sleep(0)
        with pytest.raises(NameTakenError, match="Another agent has the name far"):
            await relay.poll(offer(session="two"), 0)
        await relay.poll(offer("far", "two", "other"), 0)
        assert relay.offered("other") != [], "in another pool it is another agent"

        asking = ask(relay)
        (question,) = await held
        assert not relay.answer({"ssis"}, "far", "two", int(str(question["number"])), "forged")
        assert not relay.answer({"other"}, "far", "one", int(str(question["number"])), "of a token of another pool")
        assert relay.answer({"ssis"}, "far", "one", int(str(question["number"])), "own")
        assert await asking == "own"

    told(story)


def test_an_agent_that_is_gone_or_silent_is_said_to_be_so() -> None:
    async def story() -> None:
        relay = Relay()
        with pytest.raises(GoneError, match="There is no agent far in pool ssis"):
            await ask(relay)
        await relay.poll(offer(), 0)
        with pytest.raises(GoneError, match=r"has not answered within 0\.05 s"):
            await ask(relay, within=0.05)
        assert await relay.poll(offer(), 0) == [], "what is not waited for any more is not asked"

    told(story)


def test_a_poll_that_is_broken_off_takes_no_question_with_it() -> None:
    async def story() -> None:
        relay = Relay()
        held = asyncio.ensure_future(relay.poll(offer(), LIMIT))
        await asyncio.sleep(0)
        held.cancel()
        await asyncio.sleep(0)
        asking = ask(relay)
        await asyncio.sleep(0)

        (question,) = await relay.poll(offer(), LIMIT)
        relay.answer({"ssis"}, "far", "one", int(str(question["number"])), "there")
        assert await asking == "there"

    told(story)


def test_there_are_bounds() -> None:
    async def story() -> None:
        relay = Relay()
        for at in range(MOST_AGENTS):
            await relay.poll(replace(offer(f"far-{at}"), token=f"token {at // MOST_OF_TOKEN}"), 0)
        with pytest.raises(FullError, match="agents already"):
            await relay.poll(offer("one more"), 0)
        asking = [ask(relay, name="far-0") for _ in range(MOST_ASKED)]
        await asyncio.sleep(0)
        with pytest.raises(FullError, match="questions to answer already"):
            await ask(relay, name="far-0")
        relay.end()
        ended = await asyncio.gather(*asking, return_exceptions=True)
        assert {str(one) for one in ended} == {"The console is about to end."}

    told(story)


def test_agents_of_one_token_leave_room_for_others() -> None:
    async def story() -> None:
        relay = Relay()
        for at in range(MOST_OF_TOKEN):
            await relay.poll(offer(f"far-{at}"), 0)
        with pytest.raises(FullError, match="show the token one of them already"):
            await relay.poll(offer("one more"), 0)
        assert await relay.poll(replace(offer("another"), token="another"), 0) == []

    told(story)


def test_a_console_that_ends_lets_go_what_it_holds() -> None:
    async def story() -> None:
        relay = Relay()
        held = asyncio.ensure_future(relay.poll(offer(), LIMIT))
        await asyncio.sleep(0)
        relay.end()

        assert await held == []
        with pytest.raises(GoneError):
            await ask(relay)

    told(story)
