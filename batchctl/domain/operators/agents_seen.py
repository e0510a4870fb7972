"""What a controller knows of the agents of a pool, as it writes it for people, and what keeps a step from an agent."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import field
from typing import Any

from batchctl.domain.records import JsonValue
from batchctl.domain.rule_texts import HostNeeds
from batchctl.domain.text import shorten, visible
from batchctl.domain.values import value

MOST = 200
"""How many agents are written one by one."""
LONGEST = 20_000
"""Characters that are written of all of them."""
_FAILURE, _NAME, _RESOURCES = 200, 100, 20
_ODD = "what its controller wrote of them cannot be read"


@value
class SeenAgent:
    """An agent of a pool, as a controller knows it."""

    name: str
    slots: int
    busy: int = 0
    """How many steps it carries, for all controllers."""
    resources: Mapping[str, float] = field(default_factory=dict)
    """What it has of what steps may need."""
    taken: Mapping[str, float] = field(default_factory=dict)
    """What the steps of this controller take of that."""
    failure: str | None = None
    """Why it takes no steps, if it takes none."""
    is_heard: bool = True
    """False while it does not answer."""

    @property
    def has_slot(self) -> bool:
        """Say whether it takes one more step that needs nothing."""
        return self.failure is None and self.busy < self.slots

    @property
    def left(self) -> Mapping[str, float]:
        """Return what it has left of what steps may need."""
        return {name: amount - self.taken.get(name, 0) for name, amount in self.resources.items()}

    @property
    def message(self) -> dict[str, JsonValue]:
        """Return it as JSON."""
        found: dict[str, JsonValue] = {"name": shorten(visible(self.name), _NAME), "slots": self.slots}
        found |= {"busy": self.busy, "resources": _amounts(self.resources)}
        if self.taken:
            found["taken"] = _amounts(self.taken)
        if self.failure is not None:
            found["failure"] = shorten(visible(self.failure), _FAILURE)
        if not self.is_heard:
            found["heard"] = False
        return found


@value
class AgentsSeen:
    """The agents of a pool, as a controller knows them."""

    agents: tuple[SeenAgent, ...] = ()
    failure: str | None = None
    """Why it cannot be known which there are, if it cannot."""
    more: int = 0
    """How many there are besides, which were too many to be written."""

    @property
    def count(self) -> int:
        """Return how many there are."""
        return len(self.agents) + self.more

    @property
    def text(self) -> str:
        """Return it as it is written: always the same for the same agents, those with a free slot first."""
        if self.failure is not None:
            return _written({"failure": shorten(visible(self.failure), _FAILURE)})
        found, length = list[JsonValue](), 0
        for agent in sorted(self.agents, key=lambda agent: (not agent.has_slot, agent.name))[:MOST]:
            length += len(_written([agent.message]))
            if length > LONGEST:
                break
            found.append(agent.message)
        more = self.count - len(found)
        return _written([*found, {"more": more}] if more else found)

    def __str__(self) -> str:
        """Say for people how many there are, and what they carry."""
        if self.failure is not None:
            return visible(self.failure)
        slots, busy = sum(one.slots for one in self.agents), sum(one.busy for one in self.agents)
        failing = sum(one.failure is not None for one in self.agents)
        failed = f"; {failing} {'takes' if failing == 1 else 'take'} no steps" if failing else ""
        of = f"of the first {len(self.agents)}: " if self.more else ""
        return f"{self.count} ({of}{slots} slots, {busy} busy{failed})" if self.count else "none"


def agents_seen(text: str | None) -> AgentsSeen | None:
    """Read what was written; None where nothing was."""
    if text is None:
        return None
    try:
        found = json.loads(text)
        if isinstance(found, dict):
            return AgentsSeen(failure=str(found["failure"]))
        more = sum(int(one["more"]) for one in found if "more" in one)
        return AgentsSeen(tuple(_agent(one) for one in found if "more" not in one), more=more)
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
        return AgentsSeen(failure=_ODD)


def best(seen: Iterable[AgentsSeen]) -> AgentsSeen | None:
    """Return what the controller knows that sees most agents; None where no controller looks for any."""
    return max(seen, key=lambda one: (one.failure is None, one.count), default=None)


def lacking(pool: str, seen: Collection[AgentsSeen], needs: HostNeeds | None) -> tuple[str, bool] | None:
    """Say why no agent of a pool takes a step, and whether that ends when others do; None where one may take it."""
    if any(_has_room(one, needs) for one in seen) or (found := best(seen)) is None:
        return None
    named, there = f"pool {visible(pool)}", f"{found.count} there"
    if found.failure is not None:
        return f"agents of {named} cannot be reached: {visible(found.failure)}", False
    if not found.count:
        return f"{named} has no agent", False
    working = [one for one in found.agents if one.failure is None]
    if not working:
        return f"no agent of {named} takes steps ({there}): {visible(found.agents[0].failure or '')}", False
    able = [one for one in working if needs is None or needs.are_met(one.resources)]
    wanted = "" if needs is None else shorten(visible(needs.text), _NAME)
    if not able and not found.more:
        return f"no agent of {named} has {wanted} ({there})", False
    what = "a free agent" if needs is None else f"an agent with {wanted}"
    busy = "all busy" if len(able) == found.count and not any(one.has_slot for one in able) else "none has room for it"
    return f"it waits for {what} in {named} ({there}, {busy})", True


def silence(name: str, seen: Collection[AgentsSeen]) -> str | None:
    """Say why no controller hears an agent; None where one does, or none has written of it."""
    named = [agent for one in seen for agent in one.agents if agent.name == shorten(visible(name), _NAME)]
    if any(agent.is_heard for agent in named) or any(one.more for one in seen) or not seen:
        return None
    failures = [*(agent.failure for agent in named), *(one.failure for one in seen)]
    return visible(next((failure for failure in failures if failure is not None), "it is not there"))


def _has_room(seen: AgentsSeen, needs: HostNeeds | None) -> bool:
    """Say whether an agent may take a step; those that were not written have a free slot only where all others have one."""
    takes = any(one.has_slot and (needs is None or needs.are_met(one.left)) for one in seen.agents)
    return takes or (seen.more > 0 and all(one.has_slot for one in seen.agents))


def _agent(one: Mapping[str, Any]) -> SeenAgent:
    failure = one.get("failure")
    return SeenAgent(
        name=str(one["name"]),
        slots=int(one["slots"]),
        busy=int(one["busy"]),
        resources=_numbers(one.get("resources")),
        taken=_numbers(one.get("taken")),
        failure=None if failure is None else str(failure),
        is_heard=one.get("heard", True) is True,
    )


def _numbers(amounts: Mapping[str, Any] | None) -> dict[str, float]:
    return {str(name): float(amount) for name, amount in (amounts or {}).items()}


def _amounts(amounts: Mapping[str, float]) -> dict[str, JsonValue]:
    """Return amounts by name as JSON has them, which has no endless numbers."""
    known = [(visible(name), amount) for name, amount in sorted(amounts.items()) if math.isfinite(amount)]
    return {
        shorten(name, _NAME): int(amount) if amount == int(amount) else amount for name, amount in known[:_RESOURCES]
    }


def _written(message: JsonValue) -> str:
    return json.dumps(message, ensure_ascii=False, separators=(", ", ": "))
