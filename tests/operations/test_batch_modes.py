"""Switching what starts a batch leaves nothing of the other mode behind, and nothing of other batches is touched."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from batchctl.domain.errors import NotFound
from batchctl.domain.status import ProcessingMode
from batchctl.operations.operators.acts import Actor
from batchctl.operations.scheduling.batch_modes import ModeSwitch, switch_mode
from batchctl.store.transactions import StoreTransactions
from tests.control.world import World

Audited = Callable[[], list[tuple[Any, ...]]]
SCHEDULE = (
    "INSERT INTO Schedule (ScheduleName, Entity, ScheduleType, RunTimes, NextRunTime, TimingHash)"
    " VALUES (?, ?, 'daily', '06:00', '2026-11-22 06:00:00', 'x')"
)
TRIGGER = (
    "INSERT INTO DataTrigger (TriggerName, Entity, ConnectionName, TableName, StatusColumn, PendingValue, RowThreshold)"
    " VALUES (?, ?, 'wh', 't', 's', '0', 1)"
)
SCHEDULED, TRIGGERED, MANUAL = ProcessingMode.SCHEDULED, ProcessingMode.TRIGGERED, ProcessingMode.MANUAL


@pytest.fixture
def switch(world: World, anywhere: StoreTransactions) -> Callable[..., ModeSwitch]:
    world.batch("B")
    world.batch("Other")
    for entity in ("B", "Other"):
        world.sql(SCHEDULE, f"nightly {entity}", entity)
        world.sql(TRIGGER, f"rows {entity}", entity)

    def do(mode: ProcessingMode | None, name: str = "B", *, dry_run: bool = False) -> ModeSwitch:
        actor = Actor(transactions=anywhere, clock=world.clock, user="anna", host="host1", dry_run=dry_run)
        return switch_mode(actor, name, mode, zone="UTC", reason="month end")

    return do


def enabled(world: World) -> list[str]:
    names = world.sql("SELECT ScheduleName FROM Schedule WHERE Enabled = 1 ORDER BY 1")
    names += world.sql("SELECT TriggerName FROM DataTrigger WHERE Enabled = 1 ORDER BY 1")
    return [name for (name,) in names]


OTHERS = ["nightly Other", "rows Other"]


@pytest.mark.parametrize(
    ("mode", "left", "gone"),
    [
        (SCHEDULED, ["nightly B", "nightly Other", "rows Other"], ("trigger rows B",)),
        (TRIGGERED, ["nightly Other", "rows B", "rows Other"], ("schedule nightly B",)),
        (MANUAL, OTHERS, ("schedule nightly B", "trigger rows B")),
        (None, ["nightly B", "nightly Other", "rows B", "rows Other"], ()),
    ],
)
def test_what_the_new_mode_has_no_use_for_is_disabled(
    world: World,
    switch: Callable[..., ModeSwitch],
    mode: ProcessingMode | None,
    left: list[str],
    gone: tuple[str, ...],
) -> None:
    before = world.hand.dump()
    assert switch(mode, dry_run=True).disabled == gone
    assert world.hand.dump() == before

    done = switch(mode)

    assert (done.before, done.after, done.disabled) == (None, mode, gone)
    assert enabled(world) == left
    written = None if mode is None else mode.value
    assert world.sql("SELECT ProcessingMode FROM ProcessBatch WHERE ProcessBatchName = 'B'") == [(written,)]


def test_everything_is_audited_together(world: World, switch: Callable[..., ModeSwitch], audited: Audited) -> None:
    switch(MANUAL)

    assert [(*row[:2], *row[4:]) for row in audited()] == [
        ("mode", "ProcessBatch:B", "month end", {"ProcessingMode": None}, {"ProcessingMode": "manual"}),
        ("disable", "Schedule:nightly B", "month end", {"Enabled": 1}, {"Enabled": 0}),
        ("disable", "DataTrigger:rows B", "month end", {"Enabled": 1}, {"Enabled": 0}),
    ]


def test_switching_back_inherits_nothing_and_names_what_could_be_enabled(
    world: World, switch: Callable[..., ModeSwitch]
) -> None:
    switch(MANUAL)
    done = switch(None)

    assert enabled(world) == OTHERS
    assert (done.disabled, done.others) == ((), ("schedule nightly B", "trigger rows B"))
    state = "SELECT NextRunTime, DecidedUntil, TimingHash FROM Schedule WHERE ScheduleName = 'nightly B'"
    assert world.sql(state) == [(None, None, None)]


def test_what_cannot_be_enabled_as_it_is_is_not_named(world: World, switch: Callable[..., ModeSwitch]) -> None:
    switch(MANUAL)
    once = "INSERT INTO Schedule (ScheduleName, Entity, ScheduleType, RunAt, Enabled) VALUES (?, 'B', 'once', ?, 0)"
    world.sql(once, "over", "2026-11-01 06:00")
    world.sql(once, "to come", "2026-12-01 06:00")

    assert switch(SCHEDULED).others == ("schedule nightly B", "schedule to come")


def test_what_starts_another_batch_of_the_entity_too_stays(world: World, switch: Callable[..., ModeSwitch]) -> None:
    world.batch("Second", Entity="B")

    done = switch(MANUAL)

    assert (done.disabled, done.left) == ((), ("schedule nightly B", "trigger rows B"))
    assert len(enabled(world)) == 4
    assert switch(SCHEDULED, "Second").disabled == ("trigger rows B",)


def test_the_same_mode_again_is_not_audited_and_an_unknown_batch_is_named(
    world: World, switch: Callable[..., ModeSwitch], audited: Audited
) -> None:
    switch(SCHEDULED)
    once = len(audited())
    switch(SCHEDULED)

    assert len(audited()) == once
    with pytest.raises(NotFound, match="Did you mean 'Other'"):
        switch(MANUAL, "Othr")
