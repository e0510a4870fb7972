"""What a controller writes of the agents of a pool, what is read of it, and what it says of a step that waits."""

from __future__ import annotations

import json

import pytest

from batchctl.domain.operators.agents_seen import LONGEST, MOST, AgentsSeen, SeenAgent, agents_seen, best, lacking
from batchctl.domain.rule_texts import MOST_TIMES, HostNeeds, host_needs

GPU, MEMORY = {"GPU": 1.0}, {"MEMORY": 16e9}


def agent(name: str = "w1", slots: int = 4, busy: int = 0, **more: object) -> SeenAgent:
    return SeenAgent(name, slots, busy, **more)  # type: ignore[arg-type] # as a test says


def needs(text: str) -> HostNeeds:
    found = host_needs(text)
    assert found is not None
    return found


def test_what_is_written_is_read_again() -> None:
    silent = agent("d", failure="no answer", is_heard=False)
    written = AgentsSeen(
        (agent("a", resources=MEMORY, taken={"MEMORY": 8e9}), agent("b", busy=4), agent("c", failure="odd"), silent)
    )
    read = agents_seen(written.text)

    assert read is not None
    assert {one.name: one for one in read.agents} == {one.name: one for one in written.agents}
    assert json.loads(written.text)[0] == {
        "name": "a",
        "slots": 4,
        "busy": 0,
        "resources": {"MEMORY": 16_000_000_000},
        "taken": {"MEMORY": 8_000_000_000},
    }
    assert agents_seen(AgentsSeen(failure="away").text) == AgentsSeen(failure="away")
    assert agents_seen(None) is None


def test_the_same_agents_are_written_the_same_in_any_order() -> None:
    one, other = agent("a", resources={"x": 1, "b": 2}), agent("b")

    assert AgentsSeen((one, other)).text == AgentsSeen((other, agent("a", resources={"b": 2, "x": 1}))).text


@pytest.mark.parametrize(("name", "written"), [("w{}", MOST), ("w{}" + "x" * 400, 130)])
def test_of_many_agents_not_all_are_written_one_by_one(name: str, written: int) -> None:
    many = [agent(name.format(f"{at:04}"), busy=4 if at < 999 else 0) for at in range(1000)]
    text = AgentsSeen(tuple(many)).text
    read = agents_seen(text)

    assert len(text) < LONGEST + 100
    assert read is not None
    assert (read.count, read.agents[0].name[:5]) == (1000, "w0999"), "one with a free slot comes first"
    assert 0.7 * written < len(read.agents) <= written
    assert str(read).startswith(f"1000 (of the first {len(read.agents)}: ")


@pytest.mark.parametrize(
    "text", ["", "{", "7", "[7]", '["more"]', "{}", '[{"name": "a"}]', "[" * 9999, '[{"more": 1e999}]']
)
def test_what_cannot_be_read_is_said_in_place_of_the_agents(text: str) -> None:
    assert agents_seen(text) == AgentsSeen(failure="what its controller wrote of them cannot be read")


def test_people_are_told_how_many_there_are() -> None:
    assert str(AgentsSeen(tuple(agent(name, busy=4) for name in "abc"))) == "3 (12 slots, 12 busy)"
    assert str(AgentsSeen((agent("a"), agent("b", failure="odd")))) == "2 (8 slots, 0 busy; 1 takes no steps)"
    assert str(AgentsSeen()) == "none"
    assert str(AgentsSeen(failure="no\x07answer")) == "no\\x07answer"


@pytest.mark.parametrize(
    ("seen", "wanted", "said"),
    [
        (AgentsSeen(), None, "pool burst has no agent"),
        (AgentsSeen(failure="away"), None, "agents of pool burst cannot be reached: away"),
        (AgentsSeen((agent(),)), "GPU=1", "no agent of pool burst has GPU=1 (1 there)"),
        (AgentsSeen((agent(failure="old"),)), None, "no agent of pool burst takes steps (1 there): old"),
    ],
)
def test_what_a_person_has_to_mend(seen: AgentsSeen, wanted: str | None, said: str) -> None:
    assert lacking("burst", [seen], host_needs(wanted)) == (said, False)


@pytest.mark.parametrize(
    ("agents", "wanted", "said"),
    [
        ([agent(busy=4)], None, "it waits for a free agent in pool burst (1 there, all busy)"),
        (
            [agent(busy=4, resources=MEMORY)] * 3,
            "MEMORY=8e9",
            "it waits for an agent with MEMORY=8e9 in pool burst (3 there, all busy)",
        ),
        (
            [agent(resources=MEMORY, taken={"MEMORY": 16e9})],
            "MEMORY=8e9",
            "it waits for an agent with MEMORY=8e9 in pool burst (1 there, none has room for it)",
        ),
        (
            [agent(busy=4, resources=GPU), agent()],
            "GPU=1",
            "it waits for an agent with GPU=1 in pool burst (2 there, none has room for it)",
        ),
    ],
)
def test_what_ends_when_other_steps_do(agents: list[SeenAgent], wanted: str | None, said: str) -> None:
    assert lacking("burst", [AgentsSeen(tuple(agents))], host_needs(wanted)) == (said, True)


def test_a_step_waits_for_nothing_where_any_controller_sees_room() -> None:
    full, away = AgentsSeen((agent(busy=4, resources=GPU),)), AgentsSeen(failure="away")

    assert lacking("burst", [], None) is None, "controllers carry it"
    assert lacking("burst", [away, full, AgentsSeen((agent(),))], None) is None
    assert lacking("burst", [full, AgentsSeen((agent(resources=GPU),))], needs("GPU=1")) is None
    assert best([away, full]) is full


def test_agents_that_were_not_written_may_have_room_where_all_others_have_a_slot() -> None:
    free, full = (agent(),) * MOST, (agent(busy=4),) * MOST

    assert lacking("burst", [AgentsSeen(free, more=1)], needs("GPU=1")) is None
    assert lacking("burst", [AgentsSeen(full, more=1)], needs("GPU=1")) is not None


def test_a_resource_without_an_end_is_enough_for_many_steps() -> None:
    needs = host_needs("GPU=1")
    assert needs is not None
    assert needs.times({"GPU": float("inf")}) == MOST_TIMES
    assert needs.times({"GPU": 2.0}) == 2
