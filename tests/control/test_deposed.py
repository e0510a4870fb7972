"""A leader that is frozen, or cut off, does not keep the others from leading once they have written it off."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from batchctl.cli import main
from batchctl.control.membership import REMEMBERED
from batchctl.domain.errors import Refused
from batchctl.domain.leader import Holder
from batchctl.domain.liveness import Rhythm
from batchctl.system.lock import FileLeaderLock
from tests.control.test_workers import Hand, hired
from tests.control.world import World
from tests.control_databases import PostgresControl
from tests.postgres import PostgresServer

HEARTBEAT = Rhythm().heartbeat_interval
SILENCE = Rhythm().orphan_timeout + HEARTBEAT


LONG = "a-host-whose-name-is-longer-than-what-a-session-may-bear"


def freeze_the_leader(world: World, name: str = "a-frozen-leader", other_name: str = "other") -> tuple[Hand, Hand]:
    """Return a leader that has done its duty and does nothing more, and another worker."""
    world.batch(steps=1)
    leader, other = hired(world, name), hired(world, other_name)
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


@pytest.mark.parametrize("name", ["a-frozen-leader", f"{LONG}:4711:1a2b3c4d", f"a{'ä' * 62}:4711:1a2b3c4d"])
def test_another_leads_once_the_frozen_leader_is_written_off(world: World, name: str) -> None:
    leader, other = freeze_the_leader(world, name, f"other-{LONG}:815:5e6f7a8b")
    go_on(world, other, SILENCE / 2)
    assert world.statuses() == [], "it may only be slow"

    go_on(world, other, SILENCE)

    assert world.sql("SELECT Status FROM Controller ORDER BY ControllerName") == [("lost",), ("running",)]
    assert world.statuses() == ["complete"]
    assert [event.fields for event in world.events if event.name == "controller.deposed"] == [{"ClaimedBy": name}]
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


def test_nobody_takes_the_lead_from_one_that_lives_because_another_of_its_host_is_dead(world: World) -> None:
    leader, other = freeze_the_leader(world, f"{LONG}:4711:1a2b3c4d", f"{LONG}:4712:5e6f7a8b")
    world.membership(f"{LONG}:4713:9c0d1e2f").begin()
    world.sql("UPDATE Controller SET Status = 'lost' WHERE ControllerName LIKE '%:4713:%'")
    for _ in range(9):
        world.clock.advance(HEARTBEAT)
        other.turn(1)
        leader.turn(1)

    assert "controller.deposed" not in world.names()
    assert (leader.created, other.created) == (1, 0)
    leader.worker.end()
    other.worker.end()


def test_the_leader_is_marked_however_long_its_name_is(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    leader, other = freeze_the_leader(world, f"{LONG}:4711:1a2b3c4d", f"{LONG}:4712:5e6f7a8b")
    config = world.directory / "batchctl.toml"
    config.write_text(f'database_url = "{world.database.url}"\n', encoding="utf-8")
    capsys.readouterr()
    assert main.run(["--config", str(config), "controllers", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert main.run(["--config", str(config), "controllers"]) == 0
    marked = [line for line in capsys.readouterr().out.splitlines() if "leader" in line]

    assert [one["Leads"] for one in listed] == [True, False]
    assert len(marked) == 1
    leader.worker.end()
    other.worker.end()


class ScriptedLock:
    """A lock that another has, as the test says."""

    def __init__(self, *holders: Holder) -> None:
        self.holders = list(holders)
        self.wrested: list[Holder] = []
        self.refuses = True

    def take(self, controller: str) -> bool:
        raise AssertionError(controller)

    def release(self) -> None:
        """Nothing is held."""

    def holder(self) -> Holder:
        """Return each holder once, and the last one from then on."""
        return self.holders.pop(0) if len(self.holders) > 1 else self.holders[0]

    def wrest(self, holder: Holder) -> bool:
        """Take note of it."""
        self.wrested.append(holder)
        if self.refuses:
            message = "this role may not end it"
            raise Refused(message, next_step="ask a DBA")
        return True


def write_off(world: World, *names: str) -> None:
    """Let controllers be dead."""
    for name in names:
        world.membership(name).begin()
    world.sql("UPDATE Controller SET Status = 'lost'")


def test_who_may_not_take_the_lead_says_so_once_and_asks_once_a_minute(world: World) -> None:
    write_off(world, "c1", "c2")
    lock, member = ScriptedLock(Holder("c1", 42)), world.membership("other")
    for _ in range(int(timedelta(minutes=5) / HEARTBEAT)):
        member.depose(lock)
        world.clock.advance(HEARTBEAT)

    (told,) = world.events
    assert told.name == "controller.undeposed"
    assert told.fields["ClaimedBy"] == "c1"
    assert "keeps the lead" in str(told.fields["Message"])
    assert str(told.fields["Message"]).endswith("this role may not end it. Next: ask a DBA")
    assert len(lock.wrested) == 5

    lock.holders = [Holder("c2", 43)]
    member.depose(lock)
    assert [event.fields["ClaimedBy"] for event in world.events] == ["c1", "c2"]

    lock.refuses = False
    world.clock.advance(timedelta(minutes=1))
    member.depose(lock)
    assert [(event.name, event.fields["ClaimedBy"]) for event in world.events[2:]] == [("controller.deposed", "c2")]


def test_the_lead_is_taken_from_nobody_but_the_one_that_was_found(world: World) -> None:
    write_off(world, "c1", "c2")
    lock = ScriptedLock(Holder("c1", 42), Holder("c1", 43))
    world.membership("other").depose(lock)

    assert lock.wrested == []
    assert world.events == []


@pytest.fixture
def two_roles(
    postgres: PostgresServer, prepared: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[World, Hand, Hand]]:
    """A leader that is frozen, and a worker that reaches the same server as another role."""
    name = postgres.new_database(prepared)
    world = World(PostgresControl(postgres, tmp_path, name))
    roles = f"one_{name}", f"other_{name}"
    for role in roles:
        world.hand.sql(f"CREATE ROLE {role} LOGIN")
        for what in ("TABLES", "SEQUENCES"):
            world.hand.sql(f"GRANT ALL ON ALL {what} IN SCHEMA public TO {role}")
    hands = list[Hand]()
    for role in roles:
        monkeypatch.setattr(world.database, "url", postgres.url(name, role))
        hands.append(hired(world, role))
    yield world, hands[0], hands[1]
    for hand in hands:
        hand.worker.end()
    for role in roles:
        world.hand.sql(f"DROP OWNED BY {role}")
        world.hand.sql(f"DROP ROLE {role}")
    world.close()


def test_a_right_that_is_missing_is_told_once_and_once_it_is_given_the_lead_is_taken(
    two_roles: tuple[World, Hand, Hand],
) -> None:
    world, leader, other = two_roles
    world.batch(steps=1)
    leader.turn()
    go_on(world, other, 2 * SILENCE)
    world.submit()
    go_on(world, other, SILENCE)
    assert world.statuses() == []
    (told,) = [event for event in world.events if event.name == "controller.undeposed"]
    assert {event.name for event in other.events}.isdisjoint({"controller.waiting", "controller.trouble"})
    world.create()
    go_on(world, other, HEARTBEAT)
    assert world.statuses() == ["complete"], "it goes on with its other work"

    (grant,) = re.findall(r"GRANT .*?;", str(told.fields["Message"]))
    world.sql(grant)
    world.submit()
    go_on(world, other, timedelta(minutes=2))
    assert world.names().count("controller.undeposed") == 1
    assert world.names().count("controller.deposed") == 1
    assert world.statuses() == ["complete", "complete"]


def test_a_lock_file_is_another_ones_only_if_it_says_so(tmp_path: Path) -> None:
    one, other = FileLeaderLock(str(tmp_path / "lock")), FileLeaderLock(str(tmp_path / "lock"))
    assert one.take("one")
    assert not one.wrest(Holder("somebody"))
    assert not other.take("other")

    assert one.wrest(Holder("one"))

    assert other.take("other")
    assert other.holder() == Holder("other")
    other.release()
    one.release()
    assert not one.wrest(Holder("one"))


def raising(error: OSError) -> Callable[[str], None]:
    """Return a removal that fails."""

    def fail(path: str) -> None:
        del path
        raise error

    return fail


def test_a_lock_file_that_cannot_be_removed_is_named_with_whose_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock, leader = FileLeaderLock(str(tmp_path / "lock")), Holder("here:4711:1a2b3c4d")
    assert lock.take(leader.name)
    with monkeypatch.context() as removing:
        removing.setattr(os, "unlink", raising(PermissionError(13, "Permission denied")))
        with pytest.raises(Refused, match="lock' still, which this user cannot remove: Permission denied") as refused:
            lock.wrest(leader)
        removing.setattr(os, "unlink", raising(FileNotFoundError()))
        assert not lock.wrest(leader), "another was quicker"

    assert refused.value.next_step == "end the process of here:4711:1a2b3c4d"
    lock.release()


def test_a_controller_is_remembered_for_longer_than_it_takes_to_depose_it() -> None:
    assert REMEMBERED > 10 * SILENCE
