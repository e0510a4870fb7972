"""What keeps a controller from its work while the database takes its signs of life is written with these, and told."""

from __future__ import annotations

from typing import NoReturn

import pytest

from batchctl.control.alerting.incident_search import IncidentSearch
from batchctl.control.handler_watch import HandlerWatch
from batchctl.domain.alerting.alerts import AlertRules
from batchctl.domain.alerting.incidents import IncidentSign
from batchctl.domain.errors import BatchctlError, Busy, DatabaseRefused, DatabaseUnreachable, NoAnswer
from batchctl.domain.rows import InstanceId
from batchctl.domain.status import IncidentKind
from batchctl.ports import Change, Hang
from tests.control.test_workers import RHYTHM, Hand, applicant, hired
from tests.control.world import World

SAID = "SELECT Trouble FROM Controller ORDER BY Controller_id"


def pass_time(world: World, hand: Hand, beats: int) -> None:
    """Let time pass for some signs of life."""
    for _ in range(beats):
        world.clock.advance(RHYTHM.heartbeat_interval)
        hand.turn()


def signs(world: World) -> list[IncidentSign]:
    """Return what is the matter with controllers."""
    with world.transactions.read() as connection:
        found = IncidentSearch(world.clock, AlertRules(), "c9").signs(connection, world.clock.now())
    return [one for one in found if one.kind is IncidentKind.CONTROLLER_TROUBLE]


@pytest.mark.parametrize("table", ["BatchProcessHistory", "BatchFreeze"])
def test_what_lasts_is_said_by_the_row_of_the_controller_and_is_an_incident_until_it_is_over(
    world: World, table: str
) -> None:
    """The claim reads the one, the look at definitions the other."""
    world.batch(steps=1)
    hand = hired(world, "c1")
    hand.turn()
    world.submit()
    world.sql(f"ALTER TABLE {table} RENAME TO Elsewhere")
    pass_time(world, hand, 1)
    assert world.sql(SAID) == [(None,)], "what is over at once nobody need be told"
    pass_time(world, hand, 2)
    ((said,),) = world.sql(SAID)
    world.sql(f"ALTER TABLE Elsewhere RENAME TO {table}")
    (found,) = signs(world)

    assert table.lower() in said.lower()
    assert found.message.startswith("Controller c1 cannot do all of its work: ")
    assert found.next_step is not None
    assert " Next: " not in found.message
    pass_time(world, hand, 30)
    assert (world.sql(SAID), signs(world), hand.created) == ([(None,)], [], 1)
    hand.worker.end()


class Refusing:
    """A duty that cannot be done."""

    name = "refusing"
    is_busy = False

    def __init__(self, error: BatchctlError) -> None:
        self.error = error

    def look(self, noticed: Change = Change.NOTHING) -> bool:
        raise self.error

    def finish(self) -> bool:
        raise self.error


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (Busy("somebody writes"), None),
        (DatabaseUnreachable("the way is gone"), None),
        (DatabaseRefused("no right", next_step="batchctl doctor"), "no right Next: batchctl doctor"),
    ],
)
def test_that_one_waits_for_others_is_no_trouble(world: World, error: BatchctlError, said: str | None) -> None:
    hand = hired(world, "c1")
    hand.worker.own_duties = (Refusing(error),)
    pass_time(world, hand, 4)

    assert world.sql(SAID) == [(said,)]
    hand.worker.end()


HUNG = NoAnswer("The handler of 'x' did not answer.", next_step="correct module x")


def test_a_handler_that_hangs_is_an_incident_until_it_answers_and_the_steps_of_others_go_on(world: World) -> None:
    world.batch(steps=1)
    hand = hired(world, "c1")
    hangs = [Hang(HUNG, None)]
    hand.worker.own_duties = (HandlerWatch(lambda: hangs, world.transactions),)
    world.submit()
    pass_time(world, hand, 3)
    (found,) = signs(world)
    assert found.message == "Controller c1 cannot do all of its work: The handler of 'x' did not answer."
    assert (found.next_step, hand.created, len(hand.runner.started)) == ("correct module x", 1, 1)

    hangs.clear()
    pass_time(world, hand, 3)
    assert signs(world) == []
    hand.worker.end()


@pytest.mark.parametrize(
    "ends", ["UPDATE BatchControl SET Status = 'cancelled'", "DELETE FROM BatchControl"], ids=["cancelled", "gone"]
)
def test_a_handler_that_hangs_is_no_incident_once_nobody_waits_for_its_answer(world: World, ends: str) -> None:
    world.batch(steps=1)
    watch = HandlerWatch(lambda: [Hang(HUNG, InstanceId(1))], world.transactions)
    world.submit()
    world.create()
    with pytest.raises(NoAnswer):
        watch.look()
    world.sql(ends)

    assert not watch.look()


def test_an_attempt_of_the_dead_whose_handler_breaks_is_an_incident_until_it_is_known(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.running()
    world.crash()
    hand = applicant(world, "c2")

    def broken(*_: object) -> NoReturn:
        raise KeyError("n")

    with monkeypatch.context() as upgraded:
        upgraded.setattr(hand.runner, "examine", broken)
        hand.worker.begin()
        pass_time(world, hand, 120)
        (found,) = signs(world)
    pass_time(world, hand, 3)

    assert "What became of attempt 1 of BatchControl 1, step 10, cannot be found out: KeyError: 'n'" in found.message
    assert found.next_step == "correct module tests.control.world and restart the controller"
    assert signs(world) == []
    assert world.history()[0][-1] == "lost"
    hand.worker.end()


def test_an_instance_that_cannot_be_claimed_is_an_incident_until_it_can_be(world: World) -> None:
    world.batch(steps=1)
    hand = hired(world, "c1")
    world.submit()
    world.create()
    world.hand.loosen()
    world.sql("UPDATE BatchControl SET ClaimToken = 9223372036854775807")
    pass_time(world, hand, 3)
    (found,) = signs(world)
    world.sql("UPDATE BatchControl SET ClaimToken = 0")
    pass_time(world, hand, 3)

    assert "BatchControl 1 may start, and what would begin it is refused: " in found.message
    assert found.next_step == "batchctl show 1   (correct what is refused)"
    assert (signs(world), len(hand.runner.started)) == ([], 1)
    hand.worker.end()
