"""Freezing, thawing and enabling: audited in the same transaction, and what has waited does as somebody has chosen."""

from __future__ import annotations

import json
from collections import Counter
from datetime import timedelta
from typing import Any

import pytest

from batchctl.domain.errors import InvalidInput, NotFound, Refused
from batchctl.domain.operators.freezes import Scope
from batchctl.domain.operators.release import Choice, Release
from batchctl.domain.rows import FreezeId
from batchctl.operations.intervene import Operator
from batchctl.operations.maintenance import fsck
from batchctl.operations.operators import freezing
from batchctl.operations.operators.freezing import Freezer
from tests.control.world import BAD, NO_WAIT, World
from tests.control_databases import ACTS

EVERYTHING = Scope()
B, C = Scope(batch="B"), Scope(batch="C")
WHY = "the disks are full"


@pytest.fixture
def freezer(operator: Operator) -> Freezer:
    return Freezer(operator)


@pytest.fixture
def dry(dry_operator: Operator) -> Freezer:
    return Freezer(dry_operator)


@pytest.fixture
def waiting(world: World) -> World:
    """Instances 1 to 3 are of B, 4 to 6 of C; both have the tag nightly, and nobody has started anything."""
    for name in "BC":
        world.batch(name, steps=1, Tags="nightly,x")
        for _ in range(3):
            world.submit(name)
    world.create()
    return world


def audited(world: World) -> list[tuple[Any, ...]]:
    return world.sql(f"SELECT Action, Target, Reason, Actor FROM AuditLog WHERE {ACTS} ORDER BY AuditLog_id")


def test_a_freeze_and_its_thaw_are_rows_with_their_audit(waiting: World, freezer: Freezer) -> None:
    done = freezer.freeze(Scope(tag="NIGHTLY"), reason=WHY, until="2h")
    ends = waiting.clock.now() + timedelta(hours=2)
    waiting.process()

    assert (done.is_new, done.batches, done.freeze.until) == (True, ("B", "C"), ends)
    assert waiting.statuses() == ["ready"] * 6
    assert freezing.listed(waiting.transactions, waiting.clock.now(), 9, everything=False) == ([done.freeze], [])

    thawed = freezer.thaw(Scope(tag="nightly"), reason="cleared", choice=Choice(release=Release.ALL))
    waiting.process()

    assert [one.freeze_id for one in thawed.freezes] == [1]
    assert waiting.statuses() == ["complete"] * 6
    assert audited(waiting) == [("freeze", "BatchFreeze:1", WHY, "anna"), ("thaw", "BatchFreeze:1", "cleared", "anna")]
    assert waiting.sql("SELECT ThawedBy, Actor, Reason FROM BatchFreeze") == [("anna", "anna", WHY)]
    assert freezing.listed(waiting.transactions, waiting.clock.now(), 9, everything=False) == ([], [])
    ((over,), _) = freezing.listed(waiting.transactions, waiting.clock.now(), 9, everything=True)
    assert over.thawed_by == "anna"


def test_freezing_twice_says_so_and_only_what_lasts_longer_is_written(waiting: World, freezer: Freezer) -> None:
    freezer.freeze(B, reason=WHY, until="2h")
    shorter = freezer.freeze(B, reason="again", until="1h")
    longer = freezer.freeze(B, reason="for long")
    again = freezer.freeze(B, reason="for long")

    assert [one.is_new for one in (shorter, longer, again)] == [False, True, False]
    assert shorter.freeze.reason == WHY
    assert longer.was_frozen is not None
    assert waiting.one("SELECT count(*) FROM BatchFreeze") == 2
    assert len(freezer.thaw(B, reason="over", choice=Choice(release=Release.ALL)).freezes) == 2


@pytest.mark.parametrize(
    ("scope", "until", "error", "said"),
    [
        (B, "2020-01-01", Refused, "is over"),
        (B, "soon", InvalidInput, "says no time"),
        (B, "0h", InvalidInput, "says no time"),
        (Scope(batch="b"), None, NotFound, "Did you mean 'B'?"),
        (Scope(tag="nightli"), None, NotFound, "Did you mean 'nightly'?"),
        (Scope(batch="B", tag="x"), None, Refused, "not both"),
    ],
)
def test_what_cannot_be_meant_is_refused(
    waiting: World, freezer: Freezer, scope: Scope, until: str | None, error: type[Refused], said: str
) -> None:
    with pytest.raises(error, match=said.replace("?", r"\?")) as refused:
        freezer.freeze(scope, reason=WHY, until=until)
    assert until is None or "--until" in (refused.value.next_step or "")

    assert waiting.one("SELECT count(*) FROM BatchFreeze") == 0
    assert audited(waiting) == []


def test_what_is_frozen_by_something_else_is_not_thawed_in_passing(waiting: World, freezer: Freezer) -> None:
    freezer.freeze(EVERYTHING, reason=WHY)

    with pytest.raises(Refused, match="everything is frozen") as refused:
        freezer.thaw(B, reason="mine")
    assert refused.value.next_step == "batchctl thaw --reason ..."
    with pytest.raises(NotFound, match="There is no freeze 7"):
        freezer.thaw(FreezeId(7), reason="mine")
    freezer.freeze(C, reason="of its own")
    thawed = freezer.thaw(FreezeId(1), reason="over", choice=Choice(release=Release.ALL))
    assert [(name, one.reason) for name, one in thawed.still] == [("C", "of its own")]
    assert freezer.thaw(FreezeId(1), reason="once more").freezes == ()
    waiting.process()
    assert waiting.statuses() == ["complete"] * 3 + ["ready"] * 3


def test_a_dry_run_writes_nothing_and_says_what_would_start(waiting: World, freezer: Freezer, dry: Freezer) -> None:
    assert dry.freeze(B, reason=WHY).is_new
    assert waiting.one("SELECT count(*) FROM BatchFreeze") == 0
    freezer.freeze(B, reason=WHY)
    planned = dry.thaw(B, reason="over").released

    assert planned is not None
    assert planned.backlog.wording.startswith("This will start 3 instances, the oldest from 20")
    assert waiting.one("SELECT count(*) FROM BatchFreeze WHERE ThawedTime IS NULL") == 1


@pytest.mark.parametrize(
    ("choice", "said"),
    [
        (Choice(release=Release.LATEST), "1 of the 3 that waited may start; would be cancelled as older ones: 2."),
        (
            Choice(release=Release.NONE),
            "3 that waited would be paused: batchctl resume ID --reason ... lets one go on.",
        ),
        (Choice(release=Release.THROTTLE, per_minute=2), "3 that waited would start, at most 2 a minute."),
        (Choice(release=Release.ALL), "3 that waited may start."),
    ],
)
def test_a_dry_run_says_what_would_become_of_them(
    waiting: World, freezer: Freezer, dry: Freezer, choice: Choice, said: str
) -> None:
    freezer.freeze(B, reason=WHY)
    planned = dry.thaw(B, reason="over", choice=choice).released

    assert planned is not None
    assert planned.wording == said
    assert waiting.statuses() == ["ready"] * 6
    assert [act for act, *_ in audited(waiting)] == ["freeze"]


def test_what_is_let_go_starts_exactly_as_the_preview_said(waiting: World, freezer: Freezer, dry: Freezer) -> None:
    waiting.sql("UPDATE BatchControl SET Status = 'failed' WHERE BatchControl_id = 5")
    freezer.freeze(EVERYTHING, reason=WHY)
    planned = dry.thaw(EVERYTHING, reason="over").released
    freezer.thaw(EVERYTHING, reason="over", choice=Choice(release=Release.ALL))
    waiting.process()

    assert planned is not None
    begun = waiting.sql("SELECT BatchControl_id FROM BatchProcessHistory")
    assert {number for (number,) in begun} == planned.backlog.ids == {1, 2, 3, 4}


@pytest.mark.parametrize("of", ["thaw", "enable"])
@pytest.mark.parametrize(
    ("choice", "statuses", "acts"),
    [
        (Choice(release=Release.LATEST), ["cancelled", "cancelled", "complete"], ["cancel", "cancel"]),
        (Choice(release=Release.NONE), ["paused", "paused", "paused"], ["pause", "pause", "pause"]),
        (Choice(release=Release.ALL), ["complete", "complete", "complete"], []),
        (Choice(release=Release.THROTTLE, per_minute=2), ["complete", "ready", "ready"], ["throttle", "throttle"]),
    ],
)
def test_what_has_waited_does_as_was_chosen(
    waiting: World, operator: Operator, freezer: Freezer, of: str, choice: Choice, statuses: list[str], acts: list[str]
) -> None:
    close(of, operator, freezer)
    with pytest.raises(Refused, match="This will start 3 instances") as refused:
        reopen(of, operator, freezer, None)
    assert "--release all, latest or none" in str(refused.value.next_step)
    waiting.sql("UPDATE ProcessBatch SET Enabled = 0 WHERE ProcessBatchName = 'C'")

    reopen(of, operator, freezer, choice)
    controller = waiting.process()

    assert waiting.statuses()[:3] == statuses
    noted = waiting.sql(f"SELECT Action, Reason FROM AuditLog WHERE {ACTS} AND Target LIKE 'BatchControl:%'")
    assert noted == [(act, "over") for act in acts]
    if choice.release is Release.THROTTLE:
        for done in (2, 3):
            waiting.clock.advance(timedelta(seconds=30))
            controller.turn(NO_WAIT)
            waiting.turn_until_idle(controller)
            assert Counter(waiting.statuses())["complete"] == done
    if choice.release is Release.LATEST:
        assert waiting.sql("SELECT Status FROM FileProcess WHERE FileProcess_id < 4") == [("complete",)] * 3
    assert fsck.examine(waiting.transactions, waiting.clock, settled_after=timedelta(0)) == ()


def test_what_has_done_a_step_is_no_old_one(waiting: World, freezer: Freezer) -> None:
    freezer.freeze(B, reason=WHY)
    waiting.sql("UPDATE BatchControl SET PrevProcessControlSeq = 1 WHERE BatchControl_id = 1")

    freezer.thaw(B, reason="over", choice=Choice(release=Release.LATEST))
    waiting.process()

    assert waiting.statuses()[:3] == ["complete", "cancelled", "complete"]


def close(of: str, operator: Operator, freezer: Freezer) -> None:
    if of == "thaw":
        freezer.freeze(B, reason=WHY)
    else:
        operator.set_enabled("B", enabled=False, reason=WHY)


def reopen(of: str, operator: Operator, freezer: Freezer, choice: Choice | None) -> None:
    if of == "thaw":
        freezer.thaw(B, reason="over", choice=choice)
    else:
        operator.set_enabled("B", enabled=True, reason="over", choice=choice)


def test_more_than_somebody_has_seen_does_not_start(waiting: World, freezer: Freezer, dry: Freezer) -> None:
    freezer.freeze(B, reason=WHY)
    planned = dry.thaw(B, reason="over").released
    assert planned is not None
    waiting.submit("B")
    waiting.create()

    with pytest.raises(Refused, match="Meanwhile more has come: 1 "):
        freezer.thaw(B, reason="over", choice=Choice(release=Release.ALL, seen=planned.backlog.ids))

    assert waiting.one("SELECT count(*) FROM BatchFreeze WHERE ThawedTime IS NULL") == 1


def test_one_that_waits_needs_no_choice_and_neither_does_what_cannot_start(world: World, operator: Operator) -> None:
    world.runner.script = lambda rendered: BAD
    world.batch("B", steps=1)
    for _ in range(3):
        world.submit("B")
    world.create()
    world.process()
    operator.set_enabled("B", enabled=False, reason=WHY)

    done = operator.set_enabled("B", enabled=True, reason="over")

    assert done.released is not None
    assert (world.statuses(), done.released.backlog.count) == (["failed", "ready", "ready"], 0)


def test_very_many_are_dealt_with_in_one_transaction(world: World, operator: Operator) -> None:
    world.batch("B", steps=1)
    world.submit("B")
    world.create()
    operator.set_enabled("B", enabled=False, reason=WHY)
    many = 2_000
    digits = "(SELECT 0 AS d" + "".join(f" UNION ALL SELECT {digit}" for digit in range(1, 10)) + ")"
    numbers = f"SELECT a.d + 10 * b.d + 100 * c.d + 1000 * e.d AS n FROM {digits} a, {digits} b, {digits} c, {digits} e"
    world.sql(f"INSERT INTO FileProcess (Entity) SELECT 'B' FROM ({numbers}) AS x WHERE n < {many}")
    world.sql(
        "INSERT INTO BatchControl (ProcessBatch_id, FileProcess_id, RetryCount) SELECT ProcessBatch_id, FileProcess_id, 0"
        " FROM ProcessBatch, FileProcess WHERE ProcessBatchName = 'B' AND FileProcess_id > 1"
    )

    done = operator.set_enabled("B", enabled=True, reason="over", choice=Choice(release=Release.LATEST))

    assert done.released is not None
    assert (done.released.backlog.count, done.released.changed) == (many + 1, many)
    assert Counter(world.statuses()) == {"cancelled": many, "ready": 1}
    assert world.one("SELECT count(*) FROM AuditLog WHERE Action = 'cancel'") == many
    assert (
        json.loads(world.one("SELECT max(ValuesAfter) FROM AuditLog WHERE Action = 'cancel'"))["Status"] == "cancelled"
    )


def test_a_request_does_not_keep_the_controller_for_long(waiting: World, freezer: Freezer) -> None:
    freezer.freeze(B, reason=WHY)

    with pytest.raises(Refused, match="3 instances would have to be changed"):
        freezer.thaw(B, reason="over", choice=Choice(release=Release.NONE, most=2))
    freezer.thaw(B, reason="over", choice=Choice(release=Release.ALL, most=2))

    assert waiting.one("SELECT count(*) FROM BatchFreeze WHERE ThawedTime IS NULL") == 0


def test_rows_that_nobody_has_looked_at_are_told_too(waiting: World, freezer: Freezer, dry: Freezer) -> None:
    freezer.freeze(B, reason=WHY)
    waiting.sql("UPDATE BatchControl SET Status = 'paused'")
    for entity in ("B", "B", "C"):
        waiting.submit(entity)
    planned = dry.thaw(B, reason="over").released

    assert planned is not None
    assert (planned.backlog.count, planned.backlog.new) == (0, 2)
    assert planned.backlog.wording == "This will start 2 of FileProcess rows that have no instance yet."
    with pytest.raises(Refused, match="no instance yet"):
        freezer.thaw(B, reason="over")
    with pytest.raises(Refused, match="before they are made") as refused:
        freezer.thaw(B, reason="over", choice=Choice(release=Release.LATEST))
    assert "batchctl create" in refused.value.in_full
    with pytest.raises(Refused, match="before they are made"):
        dry.thaw(B, reason="over", choice=Choice(release=Release.LATEST))

    waiting.create()
    freezer.thaw(B, reason="over", choice=Choice(release=Release.LATEST))

    assert Counter(waiting.statuses()) == {"paused": 6, "cancelled": 1, "ready": 2}


@pytest.mark.parametrize("made", [0, 1])
def test_a_single_row_without_an_instance_starts_only_as_was_chosen(world: World, freezer: Freezer, made: int) -> None:
    world.batch("B", steps=1)
    for _ in range(made):
        world.submit("B")
        world.create()
    freezer.freeze(B, reason=WHY)
    world.submit("B")

    if made:
        with pytest.raises(Refused, match="no instance yet") as first:
            freezer.thaw(B, reason="over")
        assert str(first.value.next_step).startswith("the same with --release all; for latest, none or --throttle N:")
    with pytest.raises(Refused, match="before they are made"):
        freezer.thaw(B, reason="over", choice=Choice(release=Release.NONE))
    world.create()
    freezer.thaw(B, reason="over", choice=Choice(release=Release.NONE))
    world.process()

    assert world.statuses() == ["paused"] * (made + 1)


def test_rows_that_another_batch_has_taken_are_told_too(waiting: World, operator: Operator) -> None:
    waiting.sql("UPDATE ProcessBatch SET DuplicateCheck = 0 WHERE ProcessBatchName = 'B'")
    for data in ("k", "k", "m"):
        waiting.submit("B", data=data)
    waiting.create()
    waiting.batch("Late", steps=1, Entity="B", Enabled=0)

    with pytest.raises(Refused, match="This will start 5 of FileProcess rows that have no instance yet"):
        operator.set_enabled("Late", enabled=True, reason="over")

    waiting.create()
    with pytest.raises(Refused, match=r"This will start 5 instances, .*: 5 of batch Late\."):
        operator.set_enabled("Late", enabled=True, reason="over")
    operator.set_enabled("Late", enabled=True, reason="over", choice=Choice(release=Release.LATEST))
    assert Counter(waiting.statuses())["cancelled"] == 4


def test_rows_behind_a_failure_would_not_start(waiting: World, freezer: Freezer) -> None:
    freezer.freeze(B, reason=WHY)
    waiting.sql("UPDATE BatchControl SET Status = 'failed' WHERE BatchControl_id = 1")
    for _ in range(2):
        waiting.submit("B")

    released = freezer.thaw(B, reason="over").released

    assert released is not None
    assert released.backlog.total == 0
