"""A leader that is frozen, or cut off, does not keep the others from leading once they have written it off."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from batchctl.control.membership import REMEMBERED
from batchctl.domain.liveness import Rhythm
from batchctl.system.lock import FileLeaderLock
from tests.control.test_workers import Hand, hired
from tests.control.world import World

HEARTBEAT = Rhythm().heartbeat_interval
SILENCE = Rhythm().orphan_timeout + HEARTBEAT


def freeze_the_leader(world: World) -> tuple[Hand, Hand]:
    """Return a leader that has done its duty and does nothing more, and another worker."""
    world.batch(steps=1)
    leader, other = hired(world, "a-frozen-leader"), hired(world, "other")
    leader.turn()
    other.turn()
    world.submit()
    return leader, other


def go_on(world: World, hand: Hand, for_how_long: timedelta) -> None:
    """Let time pass for a worker alone."""
    for _ in range(int(for_how_long / HEARTBEAT) + 1):
        world.clock.advance(HEARTBEAT)
        hand.turn(1)
    hand.turn()


def test_another_leads_once_the_frozen_leader_is_written_off(world: World) -> None:
    leader, other = freeze_the_leader(world)
    go_on(world, other, SILENCE / 2)
    assert world.statuses() == [], "it may only be slow"

    go_on(world, other, SILENCE)

    assert world.sql("SELECT Status FROM Controller ORDER BY ControllerName") == [("lost",), ("running",)]
    assert world.statuses() == ["complete"]
    assert [event.fields for event in world.events if event.name == "controller.deposed"] == [
        {"ClaimedBy": "a-frozen-leader"}
    ]
    other.worker.end()
    leader.worker.end()


def test_who_was_deposed_leads_no_more_and_works_on(world: World) -> None:
    leader, other = freeze_the_leader(world)
    go_on(world, other, 2 * SILENCE)
    world.submit()
    world.clock.advance(HEARTBEAT)
    leader.turn()

    assert leader.created == 0
    assert world.sql("SELECT Status FROM Controller ORDER BY ControllerName") == [("running",), ("running",)]
    go_on(world, other, HEARTBEAT)
    assert other.created == 2
    leader.worker.end()
    other.worker.end()


def test_nobody_takes_the_lead_from_one_that_lives(world: World) -> None:
    leader, other = freeze_the_leader(world)
    for _ in range(int(2 * SILENCE / HEARTBEAT)):
        world.clock.advance(HEARTBEAT)
        other.turn()
        leader.turn()

    assert (leader.created, other.created) == (1, 0)
    leader.worker.end()
    other.worker.end()


def test_a_lock_file_is_another_ones_only_if_it_says_so(tmp_path: Path) -> None:
    one, other = FileLeaderLock(str(tmp_path / "lock")), FileLeaderLock(str(tmp_path / "lock"))
    assert one.take("one")
    one.wrest("somebody")
    assert not other.take("other")

    one.wrest("one")

    assert other.take("other")
    assert other.holder() == "other"
    other.release()
    one.release()
    one.wrest("one")


def test_a_controller_is_remembered_for_longer_than_it_takes_to_depose_it() -> None:
    assert REMEMBERED > 10 * SILENCE
