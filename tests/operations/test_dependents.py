"""What a batch waits for, as `waits` and `why` tell it."""

from __future__ import annotations

from datetime import timedelta

import pytest

from batchctl.domain.liveness import Rhythm
from batchctl.operations import dependents
from batchctl.operations.explain import why
from batchctl.operations.presence import Presence
from tests.control.test_dependencies import complete, depend, three
from tests.control.world import World

PRESENCE = Presence(Rhythm(), is_gone=lambda row: False)


def gates_of(world: World, ref: str) -> list[tuple[str, str | None, str | None]]:
    """Return the gates called dependency, and how to clear each."""
    explained = why(world.transactions, world.clock, PRESENCE, ref)
    return [(gate.name, gate.blocked, gate.clear) for gate in explained.gates if gate.name == "dependency"]


def test_a_wait_says_what_lacks_and_until_when(world: World) -> None:
    three(world)
    complete(world, "A", "2026-11-21")
    (seen,) = dependents.waits(world.transactions, world.clock)

    told = seen.columns
    assert (told["ProcessBatchName"], told["CycleKey"], told["Overdue"]) == ("C", "2026-11-21", False)
    assert told["Reason"] == "B has no instance for this CycleKey yet"
    assert [each["ProcessBatchName"] for each in told["Lacking"]] == ["B"]  # type: ignore[union-attr,index,call-overload]
    world.clock.advance(timedelta(days=2))
    assert [one.is_overdue for one in dependents.waits(world.transactions, world.clock)] == [True]
    complete(world, "B", "2026-11-21")
    assert dependents.waits(world.transactions, world.clock) == ()


def test_the_overdue_come_first(world: World) -> None:
    three(world)
    complete(world, "A", "old")
    world.clock.advance(timedelta(days=2))
    complete(world, "B", "new")
    world.sql("UPDATE BatchCompletion SET z_inserted = '2020-01-01 00:00:00' WHERE CycleKey = 'old'")
    seen = dependents.waits(world.transactions, world.clock)
    assert [(one.wait.cycle_key, one.is_overdue) for one in seen] == [("old", True), ("new", False)]


def test_why_names_what_a_batch_waits_for(world: World) -> None:
    three(world)
    nothing = "nothing of what it depends on has completed that was not used: A and B"
    assert gates_of(world, "batch:C") == [("dependency", nothing, "batchctl graph")]
    assert gates_of(world, "batch:A") == []
    complete(world, "A")
    row = world.submit("B", CycleKey="K")
    world.create()
    number = world.one("SELECT BatchControl_id FROM BatchControl WHERE FileProcess_id = ?", row)
    ((_, blocked, clear),) = gates_of(world, "batch:C")
    assert blocked is not None
    assert blocked.startswith("for K, since ")
    assert blocked.endswith(f"B (BatchControl {number}) has not begun yet")
    assert clear == f"batchctl why {number}"


@pytest.mark.parametrize("on", ["C", "A"])
def test_why_names_a_cycle(world: World, on: str) -> None:
    three(world)
    depend(world, on, "C")
    complete(world, "A")
    ((_, blocked, clear),) = gates_of(world, "batch:C")
    assert blocked is not None
    assert "it depends on itself" in blocked
    assert clear == "batchctl check"
