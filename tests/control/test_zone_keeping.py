"""The business time zone stands where SQL can read it, as whoever leads has it configured."""

from __future__ import annotations

from datetime import timedelta

import pytest

from batchctl.control.scheduling.zone_keeping import EVERY, REST, ZoneKeeping
from tests.control.world import World


def zones(world: World) -> list[str]:
    """Return the names that stand in the table."""
    return [str(row[0]) for row in world.sql("SELECT DISTINCT ZoneName FROM ZoneOffset")]


def duty(world: World, zone: str) -> ZoneKeeping:
    """Return the duty of a leader that is configured so."""
    return ZoneKeeping(world.transactions, world.clock, world.events.append, zone)


def test_it_is_written_once_and_again_when_it_is_another(world: World) -> None:
    leader = duty(world, "Europe/Amsterdam")
    for _ in range(3):
        assert not leader.look()
    assert (zones(world), world.names()) == (["Europe/Amsterdam"], ["zone.kept"])

    assert not duty(world, "UTC").finish()
    assert zones(world) == ["UTC"]
    assert world.sql("SELECT OffsetSeconds FROM ZoneOffset") == [(0,)]


def test_what_somebody_else_has_written_is_seen_within_an_hour(world: World) -> None:
    leader = duty(world, "Europe/Amsterdam")
    leader.look()
    world.sql("UPDATE ZoneOffset SET OffsetSeconds = 0")
    leader.look()
    assert world.one("SELECT count(*) FROM ZoneOffset WHERE OffsetSeconds > 0") == 0

    world.clock.advance(timedelta(seconds=EVERY))
    leader.look()

    assert world.one("SELECT count(*) FROM ZoneOffset WHERE OffsetSeconds = 0") == 0
    assert not leader.is_busy


def test_what_the_database_kept_it_from_is_tried_again_after_a_while(world: World) -> None:
    leader = duty(world, "Europe/Amsterdam")
    world.sql("ALTER TABLE ZoneOffset RENAME TO Elsewhere")
    with pytest.raises(Exception, match=r"(?i)zoneoffset"):
        leader.look()
    leader.look()
    world.sql("ALTER TABLE Elsewhere RENAME TO ZoneOffset")

    world.clock.advance(timedelta(seconds=REST))
    leader.look()

    assert zones(world) == ["Europe/Amsterdam"]
