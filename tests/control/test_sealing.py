"""The duty that seals: every row of the audit log once, whoever else does the same, and what became of it can be proven."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from batchctl.control.maintenance.purge import Retention
from batchctl.control.maintenance.sealing import BACK, EVERY, MOST, Sealing
from batchctl.domain.maintenance.audit_chain import Anchor
from batchctl.operations.maintenance import audit_trail
from batchctl.store.maintenance import audit_seals
from tests.control.world import World

ACTED = "INSERT INTO AuditLog (Actor, Host, Action, Target, z_inserted) VALUES ('anna', 'h', 'rerun', ?, ?)"
NOW = "2026-11-21 03:00:00.000"
LATER = "2026-12-22 03:00:00.000"


def acts(world: World, many: int = 1, at: str = NOW) -> None:
    """Let somebody have acted."""
    world.hand.many(ACTED, [("BatchControl:1", at)] * many)


def duty(world: World, transactions: Any = None) -> Sealing:
    """Return the duty of a leader."""
    return Sealing(transactions or world.transactions, world.clock, world.events.append)


def retention(world: World) -> Retention:
    """Return the duty that purges."""
    return Retention(world.transactions, world.clock, world.events.append, actor="a", host="h")


def sealed(world: World) -> list[int]:
    """Return the rows that have seals, in order of these."""
    return [int(row[0]) for row in world.sql("SELECT AuditLog_id FROM AuditSeal ORDER BY SealNo")]


def forge(world: World, statement: str) -> None:
    """Do what the triggers refuse, as somebody does who may drop them."""
    if world.database.kind == "postgresql":
        world.sql("SET session_replication_role = replica")
        world.sql(statement)
        world.sql("SET session_replication_role = origin")
        return
    triggers = world.sql("SELECT name, sql FROM sqlite_master WHERE name LIKE 'TR_Audit%'")
    for name, _ in triggers:
        world.sql(f"DROP TRIGGER {name}")
    world.sql(statement)
    for _, definition in triggers:
        world.sql(definition)


def verdict(world: World, *anchors: Anchor) -> list[tuple[int | None, str]]:
    """Return what is found wrong."""
    return [
        (one.audit_id, one.message) for one in audit_trail.verify(world.transactions, world.clock, anchors).findings
    ]


def test_what_was_done_is_sealed_soon_and_each_row_once(world: World) -> None:
    acts(world, 3)
    sealing = duty(world)
    sealing.look()
    assert sealed(world) == [1, 2, 3]
    acts(world)
    sealing.look()
    assert sealed(world) == [1, 2, 3], "not time yet"
    world.clock.advance(EVERY)
    sealing.look()

    assert sealed(world) == [1, 2, 3, 4]
    assert verdict(world) == []


def test_a_look_goes_through_one_page(world: World) -> None:
    acts(world, MOST + 1)
    sealing = duty(world)
    sealing.look()
    assert len(sealed(world)) == MOST
    sealing.look()
    assert len(sealed(world)) == MOST + 1


def test_what_was_committed_late_is_sealed_behind_the_others(world: World) -> None:
    acts(world, 3)
    forge(world, "DELETE FROM AuditLog WHERE AuditLog_id = 2")
    sealing = duty(world)
    sealing.finish()
    world.sql(ACTED.replace("(Actor", "(AuditLog_id, Actor").replace("('anna'", "(2, 'anna'"), "BatchControl:1", NOW)
    world.clock.advance(EVERY)
    sealing.look()

    assert sealed(world) == [1, 3, 2]
    assert verdict(world) == []


def test_what_was_committed_very_late_is_sealed_within_an_hour(world: World) -> None:
    acts(world, BACK + 10)
    forge(world, "DELETE FROM AuditLog WHERE AuditLog_id = 2")
    sealing = duty(world)
    sealing.finish()
    world.sql(ACTED.replace("(Actor", "(AuditLog_id, Actor").replace("('anna'", "(2, 'anna'"), "BatchControl:1", NOW)
    sealing.finish()
    assert 2 not in sealed(world)
    world.clock.advance(timedelta(hours=1))
    sealing.finish()
    sealing.finish()

    assert sealed(world)[-1] == 2


def test_two_leaders_seal_each_row_once(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    acts(world, 5)
    other = duty(world, world.open())
    pages, page = list[Any](), audit_seals.page

    def meanwhile(connection: Any, after: int, most: int) -> Any:
        found = page(connection, after, most)
        if not pages:
            pages.append(found)
            other.look()
        return found

    monkeypatch.setattr(audit_seals, "page", meanwhile)
    duty(world).look()

    assert sealed(world) == [1, 2, 3, 4, 5]
    assert verdict(world) == []


def test_how_far_the_chain_reaches_is_told_once_a_day(world: World) -> None:
    acts(world)
    sealing = duty(world)
    for _ in range(3):
        sealing.look()
        world.clock.advance(EVERY)
    anchor = audit_trail.anchor(world.transactions)
    assert anchor is not None
    told = [event.fields for event in world.events if event.name == "audit.anchor"]
    assert told == [{"SealNo": 1, "RecordHash": anchor.digest}]
    world.clock.advance(timedelta(days=1))
    sealing.look()

    assert world.names().count("audit.anchor") == 2


@pytest.mark.parametrize(
    ("statement", "found"),
    [
        ("UPDATE AuditLog SET Actor = 'boss' WHERE AuditLog_id = 2", [2]),
        ("UPDATE AuditLog SET Reason = '' WHERE AuditLog_id = 2", [2]),
        ("UPDATE AuditLog SET z_inserted = '2026-11-21 03:00:00.001' WHERE AuditLog_id = 2", [2]),
        ("DELETE FROM AuditLog WHERE AuditLog_id = 3", [3]),
        ("DELETE FROM AuditSeal WHERE SealNo = 2", [3]),
        ("UPDATE AuditSeal SET AuditLog_id = 99 WHERE SealNo = 4", [99]),
        ("UPDATE AuditSeal SET RecordHash = PrevHash WHERE SealNo = 2", [2, 3]),
    ],
)
def test_what_was_forged_is_named(world: World, statement: str, found: list[int]) -> None:
    acts(world, 4)
    duty(world).finish()
    forge(world, statement)

    assert [audit_id for audit_id, _ in verdict(world)] == found


def test_an_end_that_was_cut_off_shows_against_the_anchor(world: World) -> None:
    acts(world, 4)
    duty(world).finish()
    anchor = audit_trail.anchor(world.transactions)
    assert anchor is not None
    forge(world, "DELETE FROM AuditSeal WHERE SealNo > 2")
    forge(world, "DELETE FROM AuditLog WHERE AuditLog_id > 2")

    assert verdict(world) == []
    assert [said for _, said in verdict(world, anchor)] == [
        "the anchor is not met: the chain ends at seal 2: its end was cut off"
    ]


def test_what_was_purged_is_no_finding_and_its_seals_stay(world: World) -> None:
    acts(world, 3, "2026-10-01 03:00:00.000")
    duty(world).finish()
    world.clock.advance(timedelta(days=31))
    acts(world, 2, LATER)
    duty(world).finish()
    anchor = audit_trail.anchor(world.transactions)
    assert anchor is not None
    world.sql("INSERT INTO Setting (Name, Value) VALUES ('AuditLogDays', '30')")
    world.sql(ACTED, "Nothing", "2026-10-01 03:00:00.000")
    retention(world).finish()
    found = audit_trail.verify(world.transactions, world.clock, (anchor,))

    assert (found.gone, found.findings) == (3, ())
    assert world.one("SELECT count(*) FROM AuditSeal") == 5
    assert world.one("SELECT count(*) FROM AuditLog WHERE z_inserted < '2026-11-01'") == 0


def test_what_is_old_and_was_sealed_only_now_stays_until_it_has_been_for_as_long(world: World) -> None:
    acts(world, 2, "2026-10-01 03:00:00.000")
    acts(world)
    duty(world).finish()
    world.sql("INSERT INTO Setting (Name, Value) VALUES ('AuditLogDays', '30')")
    retention(world).finish()
    stayed = world.one("SELECT count(*) FROM AuditLog WHERE z_inserted < '2026-11-01'")
    world.clock.advance(timedelta(days=31))
    acts(world, 1, LATER)
    retention(world).finish()

    assert (stayed, world.one("SELECT count(*) FROM AuditLog WHERE z_inserted < '2026-11-01'")) == (2, 0)
    assert verdict(world) == []


@pytest.mark.parametrize(("at", "said"), [("2200-01-01 00:00:00.000", "still to come"), (NOW, "sealed for 0.0 days")])
def test_a_purge_that_nobody_has_sealed_is_not_believed_unless_it_may_have_been(
    world: World, at: str, said: str
) -> None:
    acts(world, 3)
    duty(world).finish()
    number = 3
    world.sql("INSERT INTO Setting (Name, Value) VALUES ('AuditLogDays', '30')")
    forge(world, f"DELETE FROM AuditLog WHERE AuditLog_id = {number}")
    world.sql(
        "INSERT INTO AuditLog (Actor, Host, Action, Target, ValuesBefore, z_inserted)"
        " VALUES ('a', 'h', 'purge', 'AuditLog', ?, ?)",
        *(f'{{"Rows": 1, "AuditLog_id": [[{number}, {number}]]}}', at),
    )

    ((audit_id, message),) = verdict(world)
    assert (audit_id, said in message) == (number, True)
    assert f"(AuditLog {world.one('SELECT max(AuditLog_id) FROM AuditLog')})" in message


def test_what_was_deleted_by_hand_although_it_was_old_enough_is_named(world: World) -> None:
    acts(world, 2, "2026-10-01 03:00:00.000")
    acts(world)
    duty(world).finish()
    world.sql("INSERT INTO Setting (Name, Value) VALUES ('AuditLogDays', '30')")
    world.sql("DELETE FROM AuditLog WHERE AuditLog_id = 1")

    assert verdict(world) == [(1, "the row is missing, and no purge tells of it")]


def test_what_is_purged_while_the_chain_is_looked_at_is_no_finding(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    acts(world, 3, "2026-10-01 03:00:00.000")
    duty(world).finish()
    world.clock.advance(timedelta(days=31))
    acts(world, 1, LATER)
    duty(world).finish()
    world.sql("INSERT INTO Setting (Name, Value) VALUES ('AuditLogDays', '30')")
    following = audit_seals.following

    def meanwhile(*given: Any) -> Any:
        retention(world).finish()
        return following(*given)

    monkeypatch.setattr(audit_seals, "following", meanwhile)

    assert verdict(world) == []


def test_who_lets_rows_look_old_beside_one_of_the_future_is_found(world: World) -> None:
    acts(world, 3)
    duty(world).finish()
    world.sql("INSERT INTO Setting (Name, Value) VALUES ('AuditLogDays', '3650')")
    number = world.one("SELECT max(AuditLog_id) FROM AuditLog")
    acts(world, 1, "2200-01-01 00:00:00.000")
    world.sql("DELETE FROM AuditLog WHERE AuditLog_id = 2")
    told = '{"Rows": 1, "AuditLog_id": [[2, 2]]}'
    world.sql(
        "INSERT INTO AuditLog (Actor, Host, Action, Target, ValuesBefore, z_inserted)"
        " VALUES ('a', 'h', 'purge', 'AuditLog', ?, ?)",
        *(told, NOW),
    )
    duty(world).finish()

    assert number + 1 in [audit_id for audit_id, _ in verdict(world)]
