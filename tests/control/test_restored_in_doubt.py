"""An older database that is restored beneath a controller in the moment in which a commit of it is in doubt."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from batchctl.domain.errors import DatabaseRefused, OutcomeUnknown
from batchctl.ports import Boundary
from batchctl.store.dialects import sqlite, sqlite_files
from tests.control.world import NO_WAIT, OK, RUNS_ON, World

OLDER = """
DELETE FROM BatchProcessHistory WHERE ProcessControlSeq > 10;
UPDATE BatchProcessHistory SET Status = 'running', EndTime = NULL, RetryCountAfter = NULL, NextRunTimeAfter = NULL;
UPDATE BatchControl SET PrevProcessControlSeq = 0
"""
"""What the database was when its first step ran."""


def test_a_step_that_ended_after_the_backup_is_not_begun_again(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.batch(steps=3)
    world.submit()
    world.create()
    world.runner.script = lambda rendered: RUNS_ON
    controller = world.controller()
    for step in range(2):
        while len(world.runner.started) <= step:
            controller.turn(NO_WAIT)
        world.hear()
        world.runner.end(world.runner.started[step], OK)

    def in_doubt(boundaries: frozenset[Boundary], work: Callable[[Any], Any], *, nowait: bool = False) -> Any:
        run(boundaries, work, nowait=nowait)
        monkeypatch.undo()
        for statement in OLDER.split(";"):
            world.sql(statement)
        raise OutcomeUnknown("nobody knows", next_step="look")

    run = world.transactions.run
    monkeypatch.setattr(world.transactions, "run", in_doubt)
    controller.turn(NO_WAIT)
    in_doubt_over = controller.failure
    for _ in range(3):
        controller.turn(controller._back_off.rest)

    assert (isinstance(in_doubt_over, OutcomeUnknown), controller.failure) == (True, None)
    assert len(world.runner.started) == 2, "neither the first again nor the third, of which nothing is recorded"
    rescue = world.rescue("c1", runner=world.runner, transactions=world.transactions)
    rescue.look(controller.knows, controller.carries)
    assert world.statuses() == ["held"]
    assert world.history() == [(1, 10, 1, "auto", "lost")]


def test_what_fails_after_a_commit_leaves_it_in_doubt_and_the_step_begins(
    sqlite_world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = sqlite_world
    world.batch(steps=1)
    world.submit()
    world.create()
    world.runner.script = lambda rendered: OK
    controller = world.controller()
    look = sqlite_files.refuse_another_file

    def moved_for_a_moment(raw: Any) -> None:
        look(raw)
        if not raw.in_transaction and any("UPDATE" in asked for asked in asked_of):
            monkeypatch.undo()
            raise DatabaseRefused("not the file any more")

    asked_of: list[str] = []
    with world.transactions.read() as connection:
        sqlite._raw(connection).set_trace_callback(asked_of.append)
    monkeypatch.setattr(sqlite, "refuse_another_file", moved_for_a_moment)
    controller.turn(NO_WAIT)
    assert isinstance(controller.failure, OutcomeUnknown)
    for _ in range(4):
        controller.turn(controller._back_off.rest)

    assert world.history() == [(1, 10, 1, "auto", "success")]
    assert world.statuses() == ["complete"]
