"""Starting a schedule's work now: outside of its due times, by a person who says why."""

from __future__ import annotations

import pytest

from batchctl.domain.errors import NotFound, Refused
from batchctl.operations.maintenance import fsck
from batchctl.operations.operators.acts import Actor
from batchctl.operations.scheduling.schedule_keeper import Ran, run_now
from tests.control.timetable import Timetable
from tests.control.world import World
from tests.control_databases import ACTS


@pytest.fixture
def timetable(world: World) -> Timetable:
    """Return a batch `B` with a schedule that is due at six."""
    world.batch()
    made = Timetable(world)
    made.schedule(RunTimes="06:00", TimeZone="Pacific/Auckland")
    made.turns()
    return made


def run(timetable: Timetable, name: str = "s", reason: str | None = "ticket 7", *, dry_run: bool = False) -> Ran:
    world = timetable.world
    actor = Actor(transactions=world.transactions, clock=world.clock, user="anna", host="desk", dry_run=dry_run)
    return run_now(actor, name, zone="UTC", reason=reason)


def test_003_14_run_now_leaves_the_due_times_as_they_are(timetable: Timetable) -> None:
    before = timetable.standing()
    timetable.world.clock._now = timetable.world.clock._now.replace(hour=23)
    done = run(timetable)

    assert (done.intake_id, done.cycle_key, done.batches, done.open_work) == (1, "2026-11-22", ("B",), None)
    assert timetable.standing() == before
    assert timetable.fires() == []
    columns = "Entity, CycleKey, Source, Message, Status"
    assert timetable.world.sql(f"SELECT {columns} FROM FileProcess") == [
        ("B", "2026-11-22", "schedule s", "run by anna@desk: ticket 7", "ready")
    ]
    assert timetable.log() == [("fired", "schedule s", "run by anna@desk: ticket 7")]
    acts = timetable.world.sql(f"SELECT Actor, Action, Target, Reason, ValuesAfter FROM AuditLog WHERE {ACTS}")
    assert acts == [("anna", "schedule run", "Schedule:s", "ticket 7", '{"FileProcess_id": 1}')]
    assert timetable.world.create().created == 1
    assert list(fsck.examine(timetable.world.transactions, timetable.world.clock)) == []


def test_what_is_open_is_named_and_does_not_keep_it_from_running(timetable: Timetable) -> None:
    timetable.world.submit()
    timetable.world.create()
    done = run(timetable)

    assert done.open_work is not None
    assert done.open_work.startswith("BatchControl 1 of batch B is ready")
    assert done.intake_id == 2


def test_a_disabled_schedule_is_run_all_the_same(timetable: Timetable) -> None:
    timetable.world.sql("UPDATE Schedule SET Enabled = 0")

    assert run(timetable).intake_id == 1


def test_a_dry_run_writes_nothing(timetable: Timetable) -> None:
    before = timetable.world.hand.dump()

    assert run(timetable, dry_run=True).intake_id is None
    assert timetable.world.hand.dump() == before


def test_a_name_that_nobody_has_is_answered_with_the_nearest(timetable: Timetable) -> None:
    timetable.schedule("nightly", RunTimes="06:00")
    with pytest.raises(NotFound, match="nightly"):
        run(timetable, "nihgtly")


def test_a_reason_that_no_table_can_hold_is_refused(timetable: Timetable) -> None:
    with pytest.raises(Refused):
        run(timetable, reason="a\x00b")
