"""Two people who act at the same moment: what both do is done once, and who is in the way of one is in nobody else's."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime

import pytest

from batchctl.domain.errors import Busy
from batchctl.domain.operators.freezes import Scope
from batchctl.domain.operators.pools import Place
from batchctl.domain.status import InstanceStatus
from batchctl.operations import many
from batchctl.operations.decisions import Action
from batchctl.operations.definitions.variable_keeper import VariableKeeper
from batchctl.operations.intervene import Operator
from batchctl.operations.many import InstanceFilter
from batchctl.operations.operators.acts import Actor
from batchctl.operations.operators.freezing import Freezer
from batchctl.operations.operators.pooling import Drainer
from batchctl.store import Connection
from batchctl.store.definitions import variable_rows
from batchctl.store.operators import freeze_rows
from batchctl.testing import FakeClock
from tests.control.world import World
from tests.control_databases import IMPATIENT, PostgresControl
from tests.system.watching import LIMIT

B = Scope(batch="B")


@dataclass
class Meddled:
    """A clock that lets somebody else act before it says the time, once: when it has been asked so often."""

    clock: FakeClock
    left: int
    meddle: Callable[[], object]

    def now(self) -> datetime:
        self.left -= 1
        if self.left == 0:
            self.meddle()
        return self.clock.now()

    def monotonic(self) -> float:
        return self.clock.monotonic()


def test_a_host_that_several_drain_at_once_is_drained_once(world: World) -> None:
    both = threading.Barrier(6)

    def drain(one: Operator) -> None:
        both.wait()
        drained = Drainer(Actor(transactions=one.transactions, clock=one.clock, user=one.user, host=one.host))
        drained.drain(None, Place("etl2"), reason="patches")

    people = [threading.Thread(target=drain, args=(person(world, f"p{at}"),)) for at in range(6)]
    for one in people:
        one.start()
    for one in people:
        one.join(LIMIT)
    assert world.sql("SELECT count(*) FROM Drain") == [(1,)]


FAILED = InstanceFilter(status=InstanceStatus.FAILED)


@pytest.fixture
def world(postgres_database: PostgresControl) -> Iterator[World]:
    """Only there may two write at once."""
    made = World(postgres_database)
    made.batch("B")
    yield made
    made.close()


def person(world: World, name: str) -> Operator:
    preparer = world.recorder().preparer
    return Operator(transactions=world.open(), clock=world.clock, preparer=preparer, user=name, host="h")


def meddled(one: Operator, asked: int, meddle: Callable[[], object]) -> Operator:
    assert isinstance(one.clock, FakeClock)
    return replace(one, clock=Meddled(one.clock, asked, meddle))


def test_what_two_thaw_is_thawed_once(world: World) -> None:
    anna, ben = person(world, "anna"), person(world, "ben")
    Freezer(anna).freeze(B, reason="disks")
    late = meddled(anna, 2, lambda: Freezer(ben).thaw(B, reason="over"))

    done = Freezer(late).thaw(B, reason="over")

    assert done.freezes == ()
    assert world.sql("SELECT ThawedBy FROM BatchFreeze") == [("ben",)]
    assert world.sql("SELECT Actor FROM AuditLog WHERE Action = 'thaw'") == [("ben",)]


def test_what_two_freeze_is_frozen_once(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    anna, ben = person(world, "anna"), person(world, "ben")
    has_asked = threading.Event()

    def freeze_late() -> None:
        Freezer(ben).freeze(B, reason="disks")
        has_asked.set()

    late = threading.Thread(target=freeze_late)
    lock = freeze_rows.lock_freezes

    def locked(connection: Connection) -> None:
        try:
            lock(connection)
        finally:
            if threading.current_thread() is late:
                has_asked.set()

    def begin_late() -> None:
        late.start()
        assert has_asked.wait(LIMIT)

    monkeypatch.setattr(freeze_rows, "lock_freezes", locked)
    # Before she writes down what she has done, which is not committed yet, the other begins.
    Freezer(meddled(anna, 2, begin_late)).freeze(B, reason="disks")
    late.join(LIMIT)

    assert world.sql("SELECT Actor FROM BatchFreeze") == [("anna",)]
    assert world.sql("SELECT Actor FROM AuditLog WHERE Action = 'freeze'") == [("anna",)]


def test_what_two_enable_is_enabled_once(world: World) -> None:
    anna, ben = person(world, "anna"), person(world, "ben")
    anna.set_enabled("B", enabled=False)
    late = meddled(anna, 1, lambda: ben.set_enabled("B", enabled=True))

    done = late.set_enabled("B", enabled=True)

    assert (done.enabled_before, done.enabled) == (True, True)
    assert world.sql("SELECT Actor FROM AuditLog WHERE Action = 'enable'") == [("ben",)]


def test_what_two_set_who_make_the_same_variable_is_what_the_second_says(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    anna, ben = person(world, "anna"), person(world, "ben")
    late = threading.Thread(target=VariableKeeper(ben, str).set, args=("InDir", "/b"), kwargs={"reason": "test"})
    lock, has_asked = variable_rows.lock, threading.Event()

    def locked(connection: Connection, name: str) -> None:
        try:
            lock(connection, name)
        finally:
            if threading.current_thread() is late:
                has_asked.set()

    def begin_late() -> None:
        late.start()
        assert has_asked.wait(LIMIT)

    monkeypatch.setattr(variable_rows, "lock", locked)
    # Before she writes down what she has done, which is not committed yet, the other begins.
    first = VariableKeeper(meddled(anna, 1, begin_late), str).set("InDir", "/a", reason="test")
    late.join(LIMIT)

    assert first.before is None
    assert world.sql("SELECT Value FROM Variable") == [("/b",)]
    assert world.sql("SELECT Actor FROM AuditLog WHERE Action = 'variable set' ORDER BY 1") == [("anna",), ("ben",)]


@pytest.mark.full
def test_a_locked_row_is_told_and_keeps_none_of_many_from_being_run_again(
    world: World, postgres_database: PostgresControl
) -> None:
    for _ in range(3):
        world.submit()
    world.create()
    world.sql("UPDATE BatchControl SET Status = 'failed'")
    anna = person(world, "anna")
    with anna.transactions.read() as connection:
        connection.exec_driver_sql(IMPATIENT["postgresql"])
    selection = many.select(world.transactions, Action.RERUN, FAILED)
    with postgres_database.server.connect(postgres_database.name) as other, other.transaction():
        other.execute("SELECT * FROM BatchControl WHERE BatchControl_id = 2 FOR UPDATE")

        done = many.act_on(anna, selection, lambda operator, at: operator.rerun(at, reason="the server is back"))

        assert list(done.done) == [1, 3]
        ((refused, said),) = done.refused
        assert (refused, "stayed locked by session" in said) == (2, True)
        left = many.select(world.transactions, Action.RERUN, FAILED)
        with pytest.raises(Busy):
            many.act_on(anna, left, lambda operator, at: operator.rerun(at, reason="the server is back"))
    assert world.statuses() == ["ready", "failed", "ready"]
