"""The duty that purges: what goes and what stays, page by page, beside everything else."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest

from batchctl.control.creation import Creator
from batchctl.control.maintenance import purge
from batchctl.control.maintenance.purge import MOST, PATIENCE, Retention
from batchctl.domain.errors import DatabaseUnreachable
from batchctl.operations.maintenance import disposal
from batchctl.ports import Change
from batchctl.store.maintenance import finished_instances, purging
from tests.control.test_workers import Hand, hired
from tests.control.world import World
from tests.control_databases import ACTS

LOGGED = "INSERT INTO SchedulerLog (EventType, Source, FileProcess_id, EventTime) VALUES (?, 's', ?, ?)"
ACTED = "INSERT INTO AuditLog (Actor, Host, Action, Target, z_inserted) VALUES ('a', 'h', 'rerun', ?, ?)"


def duty(world: World) -> Retention:
    """Return the duty of a leader that has just become one."""
    return Retention(world.transactions, world.clock, world.events.append, actor="anna", host="host1")


def ago(world: World, days: float) -> str:
    """Write a moment before the present one."""
    return f"{world.clock.now() - timedelta(days=days):%Y-%m-%d %H:%M:%S}"


def log(world: World, *days: float) -> None:
    """Let rows of the scheduler log be so many days old."""
    world.hand.many(LOGGED, [("skipped", None, ago(world, each)) for each in days])


def setting(world: World, **values: object) -> None:
    for name, value in values.items():
        world.sql("DELETE FROM Setting WHERE Name = ?", name)
        world.sql("INSERT INTO Setting (Name, Value) VALUES (?, ?)", name, str(value))


def rows(world: World, table: str = "SchedulerLog") -> int:
    return int(world.one(f"SELECT count(*) FROM {table}"))


@pytest.fixture
def hand(world: World) -> Iterator[Hand]:
    """A worker that leads, and purges."""
    made = hired(world, "c1")
    assert made.worker.leading is not None
    made.worker.leading.upkeep = [duty(world)]
    yield made
    made.worker.end()


class Broken:
    """A duty that cannot be done."""

    name, is_busy = "broken", False

    def look(self, noticed: Change = Change.NOTHING) -> bool:
        raise ZeroDivisionError

    def finish(self) -> bool:
        raise ZeroDivisionError


def test_it_follows_what_starts_work_and_what_creates_also_when_they_fail(
    world: World, hand: Hand, monkeypatch: pytest.MonkeyPatch
) -> None:
    leading = hand.worker.leading
    assert leading is not None
    log(world, 31)
    leading.duties = [Broken()]
    monkeypatch.setattr(Creator, "one_by_one", Broken().look)

    hand.turn(2)

    assert rows(world) == 0
    assert "controller.trouble" in {event.name for event in hand.events}


def delete_log_by(patched: pytest.MonkeyPatch, delete: Callable[[Any, purging.PurgePage, Any], int]) -> None:
    def other(kind: purging.Aging) -> purging.Aging:
        return replace(kind, delete=delete) if kind.table == "SchedulerLog" else kind

    patched.setattr(purging, "AGING", tuple(other(kind) for kind in purging.AGING))


def test_its_own_trouble_keeps_nothing_else_from_going_on_and_is_told_once(
    world: World, hand: Hand, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> int:
        raise ZeroDivisionError

    world.batch(steps=1)
    log(world, 31)
    setting(world, AuditLogDays=30)
    world.sql(ACTED, "ProcessBatch:B", ago(world, 31))
    with monkeypatch.context() as patched:
        delete_log_by(patched, broken)
        for _ in range(3):
            world.submit()
            world.clock.advance(timedelta(hours=1))
            hand.turn(5)
    assert world.statuses() == ["complete"] * 3
    assert rows(world) == 1
    assert world.one("SELECT count(*) FROM AuditLog WHERE Action = 'rerun'") == 0, "the other table has no trouble"
    assert world.messages("retention.trouble") == ["SchedulerLog: ZeroDivisionError"]

    world.clock.advance(timedelta(hours=1))
    hand.turn()
    assert rows(world) == 0


def test_a_lost_connection_is_told_as_what_it_is_and_the_pass_begins_anew(
    world: World, hand: Hand, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lost(*_: object) -> int:
        message = "The control database cannot be reached."
        raise DatabaseUnreachable(message)

    log(world, 31)
    with monkeypatch.context() as patched:
        delete_log_by(patched, lost)
        hand.turn()
    assert "controller.waiting" in {event.name for event in hand.events}
    assert not world.messages("retention.trouble")

    hand.turn()
    assert rows(world) == 0
    assert "controller.resumed" in {event.name for event in hand.events}


def test_a_look_purges_one_page_and_the_next_pass_begins_after_an_hour(world: World) -> None:
    log(world, *[31] * 3 * MOST)
    purging_duty, left = duty(world), list[int]()
    while not left or rows(world) < left[-1]:
        left.append(rows(world))
        purging_duty.look()

    assert left[-1] == 0
    gone = [before - after for before, after in pairwise(left)]
    assert max(gone) <= MOST
    assert len(gone) > 3
    log(world, 31)
    purging_duty.look()
    assert rows(world) == 1
    world.clock.advance(timedelta(hours=1))
    purging_duty.look()
    assert rows(world) == 0


def test_a_slow_page_is_followed_by_a_smaller_one_and_by_a_rest(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    log(world, *[31] * 300)
    monkeypatch.setattr(purge, "FEWEST", 10)
    made, taken = Retention(world.transactions, world.clock, world.events.append, actor="a", host="h"), list[int]()
    made._most = 100
    delete = purging.delete_log

    def slow(connection: Any, page: purging.PurgePage, before: Any) -> int:
        world.clock.advance(timedelta(seconds=1))
        taken.append(delete(connection, page, before))
        return taken[-1]

    delete_log_by(monkeypatch, slow)
    made.look()
    made.look()
    assert taken == [100]
    world.clock.advance(timedelta(seconds=3))
    made.look()
    assert taken == [100, 50]


def test_a_pass_that_was_cut_off_is_made_up_for_by_the_next_leader(world: World) -> None:
    log(world, *[31] * 2000)
    first = duty(world)
    for _ in range(3):
        first.look()
    left = rows(world)
    duty(world).finish()

    assert 0 < left < 2000
    assert rows(world) == 0


def test_a_row_that_a_wrong_clock_has_dated_ahead_keeps_no_other(world: World) -> None:
    log(world, -4000, 31, 29, 31)

    duty(world).finish()

    assert rows(world) == 2


def test_the_reason_of_work_that_is_not_over_stays(world: World) -> None:
    world.batch()
    intake = world.submit()
    world.create()
    for event in ("fired", "skipped"):
        world.sql(LOGGED, event, intake, ago(world, 31))
    duty(world).finish()
    assert world.sql("SELECT EventType FROM SchedulerLog") == [("fired",)]

    world.process()
    duty(world).finish()
    assert rows(world) == 0


def test_an_act_stays_as_long_as_what_it_was_about(world: World) -> None:
    setting(world, AuditLogDays=30)
    world.batch()
    world.submit()
    world.create()
    kept = ["BatchControl:1", "FileProcess:1"]
    gone = ["BatchControl:2", "FileProcess:2", "ProcessBatch:B", "BatchControl:x", f"BatchControl:{10**30}", "Nothing"]
    world.hand.many(ACTED, [(target, ago(world, 31)) for target in (*kept, *gone)])
    world.sql(ACTED, "Nothing", ago(world, 29))

    duty(world).finish()

    assert [row[0] for row in world.sql(f"SELECT Target FROM AuditLog WHERE {ACTS} ORDER BY AuditLog_id")] == [
        *kept,
        "Nothing",
        "AuditLog",
    ]
    assert (
        world.one("SELECT ValuesBefore FROM AuditLog WHERE Action = 'purge'") == '{"Rows": 6, "AuditLog_id": [[7, 12]]}'
    )


@pytest.mark.parametrize("value", ["0", "", "-1", "1.5", "36501", "1e3", "soon", "٣", " ", "9" * 5000])
def test_a_setting_that_cannot_be_meant_so_purges_nothing_and_is_told(world: World, value: str) -> None:
    setting(world, SchedulerLogDays=value)
    log(world, 40_000)

    duty(world).finish()

    assert rows(world) == 1
    (said,) = world.messages("retention.trouble")
    assert "which is not a whole number of days from 1 to 36500, or forever, so nothing is purged by it." in said


@pytest.mark.parametrize("value", ["forever", " FOREVER "])
def test_what_is_kept_for_ever_stays(world: World, value: str) -> None:
    setting(world, SchedulerLogDays=value)
    log(world, 40_000)

    duty(world).finish()

    assert rows(world) == 1
    assert world.messages("retention.trouble") == []


def test_a_row_that_somebody_keeps_locked_is_left_to_the_next_pass(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    log(world, 31)
    world.be_impatient()
    other = world.database.hand()
    other.begin_writing()
    purging_duty = duty(world)
    try:
        for _ in range(PATIENCE + 1):
            purging_duty.look()
    finally:
        other.close()
    assert (rows(world), world.messages("retention.trouble")) == (1, [])

    purging_duty.look()
    assert rows(world) == 1
    world.clock.advance(timedelta(hours=1))
    purging_duty.look()
    assert rows(world) == 0


def test_an_index_leads_to_what_is_over_of_a_batch(sqlite_world: World) -> None:
    with sqlite_world.transactions.read() as connection:
        for found in (finished_instances._PAGES, finished_instances._LAST_ONES):
            for statement in found.values():
                said = str(statement._statement.compile(connection, compile_kwargs={"literal_binds": False}))
                plan = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {said}", (1,) * said.count("?")).all()
                assert ["IX_BatchControl_Over" in line.detail and "SEARCH" in line.detail for line in plan] == [True]


def test_an_answered_request_goes_with_its_act_and_an_open_one_stays(world: World) -> None:
    setting(world, RequestDays=30, AuditLogDays=30)
    columns = "Action, ProcessBatchName, Status, z_inserted, z_updated"
    asked = f"INSERT INTO OperatorRequest ({columns}) VALUES ('enable', 'B', ?, ?, ?)"
    for status, days in (("done", 31), ("refused", 31), ("requested", 31), ("done", 29)):
        world.sql(asked, status, ago(world, 60), ago(world, days))
    for at in (1, 4):
        world.sql(
            "INSERT INTO AuditLog (Actor, Host, Action, Target, z_inserted) VALUES ('a', ?, 'enable', 'ProcessBatch:B', ?)",
            f"OperatorRequest:{at}",
            ago(world, 31),
        )
    going = {one.table: one.rows for one in disposal.plan(world.transactions, world.clock).going}
    assert going == {"OperatorRequest": 2, "AuditLog": 1}
    duty(world).finish()

    assert world.sql("SELECT Status FROM OperatorRequest ORDER BY OperatorRequest_id") == [("requested",), ("done",)]
    assert world.sql("SELECT Host FROM AuditLog WHERE Action = 'enable'") == [("OperatorRequest:4",)]


def test_what_tells_of_a_purge_of_the_log_is_not_purged(world: World) -> None:
    setting(world, AuditLogDays=30)
    world.sql(ACTED, "Nothing", ago(world, 31))
    duty(world).finish()
    world.clock.advance(timedelta(days=40))
    world.sql(ACTED, "Nothing", ago(world, 31))
    duty(world).finish()

    purges = world.sql("SELECT ValuesBefore FROM AuditLog WHERE Action = 'purge' ORDER BY AuditLog_id")
    assert len(purges) == 2
