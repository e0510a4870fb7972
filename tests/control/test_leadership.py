"""One controller leads at a time: by a lease in a row, and by a fence without which nothing of the leader's is written."""

from __future__ import annotations

from datetime import timedelta

import pytest

from batchctl.control.alerting.incident_search import IncidentSearch
from batchctl.control.leadership import Leadership
from batchctl.domain.alerting.alerts import AlertRules
from batchctl.domain.errors import NotLeading
from batchctl.domain.leader import HIGHEST_FENCE, lease_of
from batchctl.domain.status import IncidentKind
from batchctl.ports import Boundary
from tests.control.alarm import Alarm, rules
from tests.control.test_workers import POLL, RHYTHM, Hand, hired
from tests.control.world import World
from tests.control_databases import SqliteControl
from tests.hand import unfit

LEASE = lease_of(RHYTHM.heartbeat_interval)
LEAD = "SELECT ControllerName, Fence FROM Leader"
POPULATE = frozenset({Boundary.POPULATE})


def leadership(world: World, name: str) -> Leadership:
    """Return a controller's part in it."""
    return Leadership(world.open(), world.clock, world.events.append, name, RHYTHM)


def pass_time(world: World, length: timedelta, *hands: Hand) -> None:
    """Let time pass while some turn, as often as they give signs of life."""
    until = world.clock.monotonic() + length.total_seconds()
    while world.clock.monotonic() < until:
        world.clock.advance(RHYTHM.heartbeat_interval)
        for hand in hands:
            hand.turn()


def test_nobody_leads_beside_one_that_lives_and_after_it_another_does(world: World) -> None:
    world.batch()
    first, second = hired(world, "c1"), hired(world, "c2")
    first.turn()
    pass_time(world, 2 * LEASE, second, first)
    assert world.sql(LEAD) == [("c1", 1)]

    first.worker.end()
    assert world.sql(LEAD) == [(None, 1)]
    world.submit()
    pass_time(world, RHYTHM.heartbeat_interval, second)
    assert (world.sql(LEAD), second.created) == ([("c2", 2)], 1)
    second.worker.end()


def test_a_leader_that_is_silent_for_longer_than_its_lease_is_deposed_and_writes_nothing_more(world: World) -> None:
    world.batch()
    first, second = hired(world, "c1"), hired(world, "c2")
    first.turn()
    pass_time(world, LEASE - RHYTHM.heartbeat_interval, second)
    assert world.sql(LEAD) == [("c1", 1)]
    pass_time(world, 2 * RHYTHM.heartbeat_interval, second)
    assert world.sql(LEAD) == [("c2", 2)]
    assert "controller.deposed" in world.names()

    world.submit()
    pass_time(world, POLL, first, second)
    assert (first.created, second.created) == (0, 1)
    first.worker.end()
    second.worker.end()


def test_what_was_about_to_be_written_when_another_took_the_lead_is_not(world: World) -> None:
    first, second = leadership(world, "c1"), leadership(world, "c2")
    assert first.seek()
    world.clock.advance(LEASE)
    assert second.seek()

    def insert(connection: object) -> None:
        connection.exec_driver_sql("INSERT INTO FileProcess (Entity) VALUES ('E')")  # type: ignore[attr-defined]

    with pytest.raises(NotLeading, match="does not lead any more"):
        first.run(POPULATE, insert, nowait=True)
    assert world.one("SELECT count(*) FROM FileProcess") == 0
    second.run(POPULATE, insert, nowait=True)
    assert world.one("SELECT count(*) FROM FileProcess") == 1
    assert not first.holds


def test_a_leader_that_was_suspended_goes_on_where_nobody_has_taken_the_lead(world: World) -> None:
    world.batch()
    first = hired(world, "c1")
    first.turn()
    world.clock.advance(LEASE)
    world.submit()
    first.turn()

    assert (world.sql(LEAD), first.created) == ([("c1", 1)], 1)
    first.worker.end()


def test_who_was_written_off_is_followed_at_once_although_its_lease_lasts(world: World) -> None:
    first, second = hired(world, "c1"), leadership(world, "c2")
    first.turn()
    assert not second.seek()
    world.sql("UPDATE Controller SET Status = 'lost' WHERE ControllerName = 'c1'")
    world.clock.advance(RHYTHM.heartbeat_interval)

    assert second.seek()
    assert world.sql(LEAD) == [("c2", 2)]


def test_a_row_that_somebody_has_deleted_is_made_anew(world: World) -> None:
    world.sql("DELETE FROM Leader")

    assert leadership(world, "c1").seek()
    assert world.sql(LEAD) == [("c1", 1)]


def test_a_lease_of_one_that_never_was_keeps_nobody_from_leading(world: World) -> None:
    far = world.clock.now() + timedelta(days=9999)
    world.hand.loosen()
    world.sql(
        f"UPDATE Leader SET ControllerName = 'ghost', LeaseUntil = '{far:%Y-%m-%d %H:%M:%S}.000', Fence = Fence + 5"
    )

    first = hired(world, "c1")
    first.turn()
    assert world.one("SELECT ControllerName FROM Leader") == "c1"
    first.worker.end()


def test_no_lock_of_a_stranger_keeps_anybody_from_leading(world: World) -> None:
    if world.database.kind == "postgresql":
        world.sql("SELECT pg_advisory_lock(1650553955, hashtext(current_schema()))")
    else:
        (world.directory / "control.db.controller").symlink_to(world.directory / "elsewhere")
    world.batch()
    world.submit()
    first = hired(world, "c1")
    first.turn()
    first.worker.end()

    assert first.created == 1
    assert not (world.directory / "elsewhere").exists()


def signs(world: World) -> list[tuple[IncidentKind, str]]:
    """Return what is the matter with who leads."""
    with world.transactions.read() as connection:
        found = IncidentSearch(world.clock, AlertRules(lease=LEASE), "c9").signs(connection, world.clock.now())
    return [(one.kind, one.message) for one in found if one.kind is IncidentKind.NOBODY_LEADS]


def test_that_nobody_leads_is_an_incident_while_controllers_work(world: World) -> None:
    world.batch()
    first = hired(world, "c1")
    first.turn()
    assert signs(world) == []
    first.worker.leading = None
    pass_time(world, 2 * LEASE + RHYTHM.heartbeat_interval, first)

    ((kind, message),) = signs(world)
    assert kind is IncidentKind.NOBODY_LEADS
    assert "c1 did, until" in message
    first.worker.end()
    assert signs(world) == []


def test_where_nobody_has_led_yet_it_is_one_once_something_waits_for_it(world: World) -> None:
    world.batch()
    first = hired(world, "c1")
    first.worker.leading = None
    assert signs(world) == []
    world.submit()
    world.sql("UPDATE FileProcess SET z_inserted = '2020-01-01 00:00:00.000'")

    assert [kind for kind, _ in signs(world)] == [IncidentKind.NOBODY_LEADS]
    first.worker.end()


def test_what_hangs_is_an_incident_of_its_entity(world: World) -> None:
    world.submit("E")
    world.submit("E")
    world.sql("UPDATE FileProcess SET PopulatorTries = 3, Message = 'batch B: it took too long'")
    with world.transactions.read() as connection:
        found = IncidentSearch(world.clock, AlertRules(), "c1").signs(connection, world.clock.now())

    (hangs,) = (one for one in found if one.kind is IncidentKind.POPULATOR_HANGS)
    assert hangs.message == "FileProcess 1 and 1 more of entity E wait: batch B: it took too long"
    assert hangs.next_step == "batchctl why file:1"


@pytest.mark.parametrize("fence", [HIGHEST_FENCE, HIGHEST_FENCE + 1, 2**63 - 1])
def test_whatever_number_the_fence_is_the_next_controller_leads(world: World, fence: int) -> None:
    world.batch(steps=1)
    world.hand.loosen()
    world.sql(f"UPDATE Leader SET Fence = {fence}")
    hand = hired(world, "c1")
    world.submit()
    hand.turn()
    hand.worker.end()

    assert world.one("SELECT count(*) FROM BatchControl") == 1
    assert 1 <= world.one("SELECT Fence FROM Leader") <= HIGHEST_FENCE


def test_a_fence_beyond_all_is_refused(world: World) -> None:
    with pytest.raises(Exception, match=unfit("Leader", "Fence")):
        world.sql(f"UPDATE Leader SET Fence = {HIGHEST_FENCE + 1}")


def test_a_fence_that_can_be_none_is_named_with_what_mends_it(sqlite_database: SqliteControl) -> None:
    world = World(sqlite_database)
    world.hand.loosen()
    world.sql("UPDATE Leader SET Fence = -1")
    Alarm(world, rules(learns_arrivals=False)).duty.finish()
    said = world.sql("SELECT Message, NextStep FROM Incident")
    world.close()

    assert [(message.partition(" cannot")[0], mend) for message, mend in said] == [
        ("Leader 1", "UPDATE Leader SET Fence = ... WHERE Leader_id = 1;")
    ]
