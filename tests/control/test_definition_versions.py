"""An instance says which version of its batch it was created for, and each attempt which version its command was of."""

from __future__ import annotations

from typing import Any

import pytest

from batchctl.domain.rows import InstanceId
from batchctl.operations import inspection
from batchctl.store.definitions import batch_versions, definitions
from tests.control.world import BAD, NO_WAIT, OK, World

VERSIONS = "SELECT DefVersion FROM BatchVersion ORDER BY BatchVersion_id"
ATTEMPTS = "SELECT ProcessControlSeq, DefVersion FROM BatchProcessHistory ORDER BY BatchProcessHistory_id"


def made(world: World) -> list[object]:
    return [row[0] for row in world.sql("SELECT DefVersion FROM BatchControl ORDER BY BatchControl_id")]


def test_a_version_is_counted_whenever_the_steps_were_changed_by_hand(world: World) -> None:
    world.batch(steps=1)
    for data in ("a", "a", "b", "a"):
        world.sql("UPDATE ProcessControl SET Data1 = ?", data)
        world.submit()
        world.create()

    assert made(world) == [1, 1, 2, 3]
    assert world.sql(VERSIONS) == [(1,), (2,), (3,)]


def test_whether_it_runs_is_no_matter_of_what_it_does(world: World) -> None:
    world.batch(steps=1)
    for change in ("Enabled = 0", "Enabled = 1", "Seq = 5", "Origin = 'sql'"):
        world.sql(f"UPDATE ProcessBatch SET {change}")
        world.submit()
        world.create()

    assert made(world) == [1, 1, 2, 2]


def test_an_instance_goes_on_with_the_steps_as_they_are_and_its_attempts_say_so(world: World) -> None:
    world.batch(steps=2)
    world.submit()
    world.create()
    outcomes = iter([BAD, OK, OK])
    world.runner.script = lambda rendered: next(outcomes)
    controller = world.process()
    world.sql("UPDATE ProcessControl SET Data2 = 'changed' WHERE ProcessControlSeq = 20")
    world.sql("UPDATE BatchControl SET Status = 'ready'")
    controller.turn(NO_WAIT)
    world.turn_until_idle(controller)

    assert made(world) == [1]
    assert world.sql(ATTEMPTS) == [(10, 1), (10, 2), (20, 2)]
    shown = inspection.show(world.transactions, InstanceId(1))
    assert shown.batch is not None
    assert (shown.instance.version, shown.batch.version) == (1, 2)


def test_a_running_controller_counts_once_and_knows_from_then_on(world: World) -> None:
    world.batch(steps=3)
    for _ in range(3):
        world.submit()
    world.create()
    world.process(slots=2)

    assert world.sql(VERSIONS) == [(1,)]
    assert {row[1] for row in world.sql(ATTEMPTS)} == {1}
    with world.transactions.read() as connection:
        assert [batch.version for batch in definitions.all_batches(connection)] == [1]


def test_what_is_not_counted_yet_is_counted_by_whoever_needs_it(world: World) -> None:
    world.batch(steps=1)
    world.submit()
    world.create()
    controller = world.controller()
    controller.turn(NO_WAIT)
    world.sql("DELETE FROM BatchVersion")
    with world.transactions.read() as connection:
        (batch,) = definitions.all_batches(connection)
    assert batch.version is None

    world.submit()
    world.create()

    assert world.sql(VERSIONS) == [(1,)]


def test_a_batch_that_is_gone_leaves_its_versions(world: World) -> None:
    batch_id = world.batch(steps=1)
    world.transactions.run(frozenset(), lambda connection: batch_versions.number(connection, batch_id))
    world.sql("DELETE FROM ProcessControl")
    world.sql("DELETE FROM ProcessBatch")

    assert world.sql("SELECT ProcessBatchName FROM BatchVersion") == [("B",)]
    with world.transactions.read() as connection:
        assert batch_versions.number(connection, batch_id) is None


def test_who_writes_a_version_down_at_the_same_moment_as_another_takes_his(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch_id = world.batch(steps=1)

    def number(connection: Any) -> int | None:
        return batch_versions.number(connection, batch_id)

    assert world.transactions.run(frozenset(), number) == 1
    of_batch, unseen = batch_versions.of_batch, [list[batch_versions.Version]()] * 2
    monkeypatch.setattr(batch_versions, "of_batch", lambda *given: unseen.pop() if unseen else of_batch(*given))

    assert world.transactions.run(frozenset(), number) == 1
    assert not unseen
    assert world.sql(VERSIONS) == [(1,)]
