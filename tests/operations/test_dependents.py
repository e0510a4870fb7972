"""What a batch waits for, as `waits` and `why` tell it."""

from __future__ import annotations

from datetime import timedelta

import pytest

from batchctl.domain.gates import Ends, Gate
from batchctl.domain.liveness import Rhythm
from batchctl.operations.dependencies import dependents
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

    told = dependents.WAITS.of(seen)
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


def test_a_wait_since_the_end_of_all_times_is_shown(world: World) -> None:
    three(world)
    complete(world, "A", "K")
    world.sql("UPDATE BatchCompletion SET z_inserted = '9999-12-31 12:00:00'")

    (seen,) = dependents.waits(world.transactions, world.clock)
    assert (dependents.WAITS.of(seen)["Reason"], seen.is_overdue) == ("B has no instance for this CycleKey yet", False)
    ((_, blocked, _),) = gates_of(world, "batch:C")
    assert blocked is not None
    assert "since 9999-12-31" in blocked


def test_why_says_that_a_whole_set_waits_for_a_controller_only(world: World) -> None:
    three(world)
    complete(world, "A", "K")
    world.sql("DELETE FROM BatchDependency WHERE BatchDependency_id = 2")

    explained = why(world.transactions, world.clock, PRESENCE, "batch:C")

    (gate,) = [gate for gate in explained.blocking if gate.name == "dependency"]
    assert (str(gate.blocked).endswith("nothing: it starts at once"), gate.ends) == (True, Ends.CONTROLLER)


def test_a_command_for_what_lacks_names_its_batch_as_one_word(world: World) -> None:
    three(world)
    world.batch("Load Orders", steps=1)
    depend(world, "C", "Load Orders")
    complete(world, "A", "K")

    assert [clear for _, _, clear in gates_of(world, "batch:C")] == [
        "batchctl why batch:B   (asked for by hand: batchctl submit B --cycle-key K)"
    ]
    complete(world, "B", "K")
    assert [clear for _, _, clear in gates_of(world, "batch:C")] == [
        "batchctl why batch:'Load Orders'   (asked for by hand: batchctl submit 'Load Orders' --cycle-key K)"
    ]


def test_why_names_what_a_batch_waits_for(world: World) -> None:
    three(world)
    nothing = "no completion waits for it: it starts when A and B complete for the same CycleKey"
    assert gates_of(world, "batch:C") == [("dependency", nothing, "batchctl graph C")]
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


def test_an_upstream_that_stands_failed_is_named_whether_a_completion_waits_or_not(world: World) -> None:
    three(world)
    row = world.submit("B", CycleKey="K")
    world.create()
    number = world.one("SELECT BatchControl_id FROM BatchControl WHERE FileProcess_id = ?", row)
    world.sql("UPDATE BatchControl SET Status = 'failed' WHERE BatchControl_id = ?", number)

    def gate() -> Gate:
        blocking = why(world.transactions, world.clock, PRESENCE, "batch:C").blocking
        (found,) = [one for one in blocking if one.name == "dependency"]
        return found

    alone = gate()
    complete(world, "A", "K")
    waits = gate()

    assert str(alone.blocked).endswith(f"for the same CycleKey; BatchControl {number} of B is failed")
    assert (alone.clear, alone.ends) == (f"batchctl why {number}", Ends.ACT)
    assert str(waits.blocked).endswith(f"B (BatchControl {number}) has failed")
    assert (waits.clear, waits.ends) == (f"batchctl why {number}", Ends.ACT)


def test_where_any_upstream_will_do_one_that_failed_asks_for_nobody(world: World) -> None:
    three(world)
    world.sql("UPDATE ProcessBatch SET DependencyMode = 'any' WHERE ProcessBatchName = 'C'")
    world.submit("B", CycleKey="K")
    world.create()
    world.sql("UPDATE BatchControl SET Status = 'failed'")

    assert gates_of(world, "batch:C") == [
        (
            "dependency",
            "no completion waits for it: it starts when A or B complete for the same CycleKey",
            "batchctl graph C",
        )
    ]


@pytest.mark.parametrize("on", ["C", "A"])
def test_why_names_a_cycle(world: World, on: str) -> None:
    world.hand.loosen()
    three(world)
    depend(world, on, "C")
    if on == "A":
        complete(world, "A")
    ((_, blocked, clear),) = gates_of(world, "batch:C")
    assert blocked is not None
    assert "it depends on itself" in blocked
    assert clear == "batchctl check"


def test_what_completed_before_it_was_waited_for_is_told_from_what_was_used(world: World) -> None:
    for name in "ABC":
        world.batch(name, steps=1)
    before = complete(world, "A")
    for other in "AB":
        depend(world, "C", other)
    complete(world, "B")
    (seen,) = dependents.waits(world.transactions, world.clock)
    (lacking,) = seen.wait.lacking
    reason = "had completed before the dependency was registered, which does not count"
    assert lacking.reason == f"(BatchControl {before}) {reason}"
    assert lacking.next_step == f"batchctl rerun {before} --from 10 --reason ...   (completing anew counts)"

    complete(world, "A")
    used = complete(world, "A")
    assert [one.wait.lacking[0].name for one in dependents.waits(world.transactions, world.clock)] == ["B"]
    complete(world, "B")
    complete(world, "B")
    (seen,) = dependents.waits(world.transactions, world.clock)
    (lacking,) = seen.wait.lacking
    row = world.one("SELECT FileProcess_id FROM BatchControl WHERE BatchControl_id = ?", used)
    assert "that was used before" in lacking.reason
    assert lacking.next_step.startswith(f"batchctl inbox resend {row} --reason ...")
