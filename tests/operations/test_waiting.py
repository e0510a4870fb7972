"""Waiting ends when everything is done or needs a person, and says which."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

import pytest

from batchctl.domain.errors import Busy, DatabaseRefused, NotFound
from batchctl.domain.liveness import Rhythm
from batchctl.operations.presence import Presence
from batchctl.operations.waiting import Awaited, InstanceWait, Reference
from tests.control.world import BAD, World
from tests.control_databases import SqliteControl


class Watch:
    """Time that passes only while somebody waits, and what happens meanwhile."""

    def __init__(self, now: Callable[[], datetime], *happenings: Callable[[], object]) -> None:
        self.now = now
        self.happenings = list(happenings)
        self.passed = 0.0

    def monotonic(self) -> float:
        return self.passed

    def sleep(self, seconds: float) -> None:
        self.passed += seconds
        if self.happenings:
            self.happenings.pop(0)()


def references(*texts: str) -> list[Reference]:
    found = [Reference.of(text) for text in texts]
    assert None not in found
    return [one for one in found if one is not None]


class Waiter:
    """Somebody who waits in a world."""

    def __init__(self, world: World, *happenings: Callable[[], object]) -> None:
        self.world = world
        self.watch = Watch(world.clock.now, *happenings)
        self.announced: list[str] = []
        self.failures: list[str] = []

    def wait(self, *texts: str, timeout: float | None = None, transactions: Any = None) -> dict[str, Awaited]:
        def tell(one: Awaited) -> None:
            self.announced.append(f"{one.reference} {one.status}")

        presence = Presence(Rhythm(), is_gone=lambda row: False)
        waiting = InstanceWait(
            transactions or self.world.transactions, self.watch, presence, tell, self.failures.append
        )
        return {one.reference: one for one in waiting.until_settled(references(*texts), timeout)}


def test_it_waits_until_the_row_is_created_and_its_instance_complete(world: World) -> None:
    world.batch(steps=1)
    world.submit()
    waiter = Waiter(world, world.create, world.process)

    found = waiter.wait("file:1")

    assert found["file:1"].succeeded
    assert [at.instance_id for at in found["file:1"].instances] == [1]
    assert waiter.announced == ["file:1 complete"]
    assert waiter.watch.happenings == []


def test_each_is_told_as_soon_as_it_is_settled(world: World) -> None:
    world.batch(steps=1)
    world.submit()
    world.submit(Data="x")
    world.create()
    waiter = Waiter(world, world.process)
    world.sql("UPDATE BatchControl SET Status = 'cancelled' WHERE BatchControl_id = 2")

    found = waiter.wait("1", "2", "1")

    assert waiter.announced == ["2 cancelled", "1 complete"]
    assert [one.succeeded for one in found.values()] == [True, False]


def test_a_failure_is_told_with_its_message_and_what_to_type(world: World) -> None:
    world.runner.script = lambda rendered: BAD
    world.batch(steps=1)
    world.submit()
    world.create()
    world.process()

    found = Waiter(world).wait("file:1")["file:1"]

    assert (found.status, found.settled, found.succeeded) == ("failed", True, False)
    assert found.message == "it broke"
    assert found.next_step == "batchctl show 1"


@pytest.mark.parametrize(
    ("status", "settled", "succeeded"),
    [
        ("ready", False, False),
        ("running", False, False),
        ("retry", False, False),
        ("pausing", False, False),
        ("cancelling", False, False),
        ("failed", True, False),
        ("held", True, False),
        ("paused", True, False),
        ("cancelled", True, False),
        ("complete", True, True),
    ],
)
def test_what_goes_on_by_itself_is_waited_for_and_what_needs_a_person_is_not(
    world: World, status: str, settled: bool, succeeded: bool
) -> None:
    world.batch(steps=1)
    world.submit()
    world.create()
    world.sql("UPDATE BatchControl SET Status = ?", status)

    found = Waiter(world).wait("1", timeout=0)["1"]

    assert (found.status, found.settled, found.succeeded) == (status, settled, succeeded)


def test_a_row_of_two_batches_is_waited_for_until_both_are_settled(world: World) -> None:
    world.batch("one", steps=1, Entity="E")
    world.batch("two", steps=1, Entity="E")
    world.submit("E")
    world.create()
    world.sql("UPDATE BatchControl SET Status = 'failed' WHERE BatchControl_id = 1")

    unsettled = Waiter(world).wait("file:1", timeout=0)["file:1"]
    world.process()
    settled = Waiter(world).wait("file:1")["file:1"]

    assert (unsettled.status, unsettled.settled, unsettled.next_step) == ("ready", False, "batchctl run")
    assert (settled.status, settled.succeeded, settled.next_step) == ("failed", False, "batchctl show 1")


@pytest.mark.parametrize(
    ("status", "message", "said"),
    [
        ("rejected", "no match", "no match"),
        ("duplicate", "same Data as FileProcess 1", "same Data as FileProcess 1"),
        ("paused", None, "the row is paused"),
    ],
)
def test_a_row_that_nothing_comes_of_is_not_waited_for(
    world: World, status: str, message: str | None, said: str
) -> None:
    world.batch()
    world.submit(Status=status, Message=message)

    found = Waiter(world).wait("file:1")["file:1"]

    assert (found.status, found.succeeded, found.message) == (status, False, said)
    assert found.next_step == "batchctl why file:1"


def test_a_row_whose_entity_nobody_takes_is_not_waited_for(world: World) -> None:
    world.submit("Nobody")

    assert Waiter(world).wait("file:1")["file:1"].message == "no batch takes entity 'Nobody'."


@pytest.mark.parametrize(
    ("reference", "said", "next_step"),
    [
        (
            "2",
            "There is no BatchControl 2. Did you mean FileProcess 2, which is file:2? No instance has been made of it.",
            "batchctl wait file:2",
        ),
        ("9", "There is no BatchControl 9.", "batchctl status"),
        ("file:9", "There is no FileProcess 9.", "batchctl status"),
    ],
)
def test_one_that_does_not_exist_is_said_before_anything_is_waited_for(
    world: World, reference: str, said: str, next_step: str
) -> None:
    world.batch(steps=1)
    world.submit()
    world.create()
    world.submit(Data="later")
    waiter = Waiter(world)

    with pytest.raises(NotFound) as missing:
        waiter.wait("1", reference)

    assert (missing.value.message, missing.value.next_step) == (said, next_step)
    assert (waiter.announced, waiter.watch.passed) == ([], 0.0)


def test_when_the_time_is_over_everything_is_looked_at_once_more(world: World) -> None:
    world.batch(steps=1)
    for number in range(60):
        world.submit(Data=str(number))
    world.create()
    texts = [str(number) for number in range(1, 61)]

    def finish_the_last() -> None:
        world.sql("UPDATE BatchControl SET Status = 'complete' WHERE BatchControl_id = 60")

    waiter = Waiter(world, finish_the_last)
    found = waiter.wait(*texts, timeout=2)

    assert waiter.watch.passed == pytest.approx(2)
    assert waiter.announced == ["60 complete"]
    assert sum(not one.settled for one in found.values()) == 59


OFF = "UPDATE ProcessBatch SET Enabled = 0"
NO_STEPS = "DELETE FROM ProcessControl"
HELD = "UPDATE BatchControl SET Status = 'held' WHERE BatchControl_id = 1"


@pytest.mark.parametrize(
    ("act", "message", "next_step"),
    [
        (OFF, "batch B is disabled", "batchctl enable B --reason ..."),
        (NO_STEPS, "batch B has no steps", "INSERT INTO ProcessControl ..."),
        (HELD, "BatchControl 1 of the same batch is held (OnFailure hold_batch)", "batchctl why 1"),
        ("SELECT 1", "no controller is running", "batchctl run"),
    ],
)
def test_when_the_time_is_over_the_reason_is_said_and_what_clears_it(
    world: World, act: str, message: str, next_step: str
) -> None:
    world.batch(steps=1)
    world.submit()
    world.submit(Data="x")
    world.create()
    world.sql(act)

    found = Waiter(world).wait("2", timeout=3)["2"]

    assert (found.status, found.settled, found.message, found.next_step) == ("ready", False, message, next_step)


def test_of_one_whose_batch_cannot_be_read_that_is_said(sqlite_database: SqliteControl) -> None:
    world = World(sqlite_database)
    world.batch(steps=1)
    world.submit()
    world.create()
    world.hand.loosen()
    world.sql("UPDATE ProcessBatch SET MaxConcurrent = 0")

    found = Waiter(world).wait("1", timeout=0)["1"]

    assert found.message == "ProcessBatch 1 (B) cannot be read: MaxConcurrent is 0, and has to be between 1 and 1000"
    assert found.next_step == "UPDATE ProcessBatch SET MaxConcurrent = ... WHERE ProcessBatch_id = 1;"


def test_of_what_runs_no_reason_is_said_nor_of_a_row_that_a_controller_takes(world: World) -> None:
    world.batch(steps=1)
    world.submit()
    world.create()
    world.submit(Data="x")
    world.sql("UPDATE BatchControl SET Status = 'running'")
    alone = Waiter(world).wait("1", "file:2", timeout=0)
    now = world.clock.now().strftime("%Y-%m-%d %H:%M:%S")
    world.sql("INSERT INTO Controller (ControllerName, Host, Slots, Heartbeat) VALUES ('c', 'h', 9, ?)", now)
    found = Waiter(world).wait("1", "file:2", timeout=0)

    assert [one.message for one in alone.values()] == [None, "no controller is running"]
    assert [one.message for one in found.values()] == [None, None]
    assert [one.next_step for one in found.values()] == ["batchctl why 1", "batchctl why file:2"]


class AwayForAMoment:
    """A way to the database over which every second look fails."""

    def __init__(self, real: Any, errors: Sequence[Exception]) -> None:
        self.real = real
        self.errors = [None, *errors]

    def read(self) -> Any:
        error = self.errors.pop(0) if self.errors else None
        if error is not None:
            raise error
        return self.real.read()


def test_a_database_that_is_away_for_a_while_is_waited_for(world: World) -> None:
    world.batch(steps=1)
    world.submit()
    world.create()
    away = AwayForAMoment(world.transactions, [DatabaseRefused("the server is away"), Busy("locked")])
    waiter = Waiter(world, lambda: None, world.process)

    found = waiter.wait("1", transactions=away)

    assert found["1"].succeeded
    assert waiter.failures == ["the server is away"]


def test_a_database_that_is_away_from_the_beginning_is_said(world: World) -> None:
    away = AwayForAMoment(world.transactions, [])
    away.errors = [DatabaseRefused("the server is away")]

    with pytest.raises(DatabaseRefused):
        Waiter(world).wait("1", transactions=away)


@pytest.mark.parametrize("text", ["", "x", "file:", "file:x", "-1", "1.0", "batch:B", "1" * 19, "\u0663"])
def test_what_is_no_reference_is_none(text: str) -> None:
    assert Reference.of(text) is None
