"""How long SQLite's one lock is held is counted in what is asked meanwhile: others cannot write for as long."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

from batchctl.control.drafts import Draft
from batchctl.control.recording import Recorder
from batchctl.preparation import Prepared, Preparer
from batchctl.store.dialects import sqlite
from tests.control.world import NO_WAIT, OK, World


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Return what was asked in each transaction that wrote."""
    transactions: list[list[str]] = []
    begin, commit = sqlite.DIALECT.begin_write, sqlite.DIALECT.commit

    def begin_write(connection: Any, **others: Any) -> None:
        begin(connection, **others)
        transactions.append([])
        sqlite._raw(connection).set_trace_callback(transactions[-1].append)

    def end(connection: Any) -> None:
        sqlite._raw(connection).set_trace_callback(None)
        commit(connection)

    monkeypatch.setattr(sqlite.DIALECT, "begin_write", begin_write)
    monkeypatch.setattr(sqlite.DIALECT, "commit", end)
    return transactions


def test_a_step_that_ends_at_once_is_one_transaction_of_few_statements(
    sqlite_world: World, held: list[list[str]]
) -> None:
    world = sqlite_world
    world.batch(steps=5)
    world.submit()
    world.create()
    controller = world.controller()
    world.runner.script = lambda rendered: OK
    controller.turn(NO_WAIT)
    held.clear()
    world.turn_until_idle(controller)

    assert world.statuses() == ["complete"]
    assert len(held) == 5
    assert max(map(len, held[:-1])) <= 5


def test_definitions_are_read_before_others_are_kept_from_writing(sqlite_world: World, held: list[list[str]]) -> None:
    world = sqlite_world
    controller = world.running()
    for _ in range(3):
        controller.turn(NO_WAIT)
    held.clear()
    world.clock.advance(timedelta(seconds=1))
    world.sql("INSERT INTO FileProcess (Entity) VALUES ('another')")
    world.runner.end(world.runner.started[-1], OK)
    controller.turn(NO_WAIT)

    assert world.statuses() == ["running"]
    assert len(held) == 1
    assert [asked for asked in held[0] if asked.startswith("SELECT") and "ProcessControl.ProcessName" in asked] == []


def test_what_follows_a_step_is_thought_out_before_others_are_kept_from_writing(
    sqlite_world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rendering may be somebody else's code, and takes longer than the statements."""
    world = sqlite_world
    rendered_under_lock: list[bool] = []
    prepare = Preparer.prepare

    def watched(self: Preparer, *means: Any, **others: Any) -> Prepared:
        with world.transactions.read() as connection:
            rendered_under_lock.append(sqlite._raw(connection).in_transaction)
        return prepare(self, *means, **others)

    controller = world.running()
    monkeypatch.setattr(Preparer, "prepare", watched)
    world.runner.end(world.runner.started[-1], OK)
    controller.turn(NO_WAIT)

    assert world.one("SELECT PrevProcessControlSeq FROM BatchControl") == 10
    assert rendered_under_lock == [False]


@pytest.mark.parametrize("late", ["a definition", "time"])
def test_what_was_thought_out_is_thought_out_anew_where_it_holds_no_more(
    world: World, monkeypatch: pytest.MonkeyPatch, late: str
) -> None:
    controller = world.running()
    draft = Recorder.draft

    def slow(self: Recorder, *means: Any, **others: Any) -> Draft:
        made = draft(self, *means, **others)
        monkeypatch.setattr(Recorder, "draft", draft)
        if late == "time":
            world.clock.advance(timedelta(seconds=2))
        else:
            world.sql("UPDATE ProcessControl SET ProcessName = 'renamed' WHERE ProcessControlSeq = 20")
        return made

    monkeypatch.setattr(Recorder, "draft", slow)
    world.runner.end(world.runner.started[-1], OK)
    controller.turn(NO_WAIT)

    name, begun = world.sql("SELECT ProcessName, StartTime FROM BatchProcessHistory WHERE ProcessControlSeq = 20")[0]
    if late == "time":
        now = world.clock.now().replace(tzinfo=None)
        assert (begun if isinstance(begun, datetime) else datetime.fromisoformat(begun)) == now
    else:
        assert name == "renamed"
