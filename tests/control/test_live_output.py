"""What steps have written so far: bounded, for whom it concerns, and gone once their end is recorded."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from batchctl.control.controller import Controller
from batchctl.domain.errors import DatabaseRefused, OutcomeUnknown
from batchctl.domain.live_texts import KEPT, SHOWN_EVERY
from batchctl.domain.rows import InstanceId
from batchctl.operations import output_reading
from batchctl.operations.output_reading import Following
from batchctl.ports import Boundary, Wrote
from batchctl.store import step_outputs
from tests.control.world import NO_WAIT, OK, RUNS_ON, World

PARTS = "SELECT BatchProcessHistory_id, Number, Text FROM StepOutput ORDER BY 1, 2"
ONE = InstanceId(1)


@pytest.fixture
def controller(world: World) -> Controller:
    """Return a controller with one step under way."""
    world.batch(steps=1)
    world.submit()
    world.create()
    world.runner.script = lambda rendered: RUNS_ON
    made = world.controller()
    while not world.runner.open:
        made.turn(NO_WAIT)
    return made


def write(world: World, controller: Controller, text: str) -> None:
    """Let the step write, and two seconds pass."""
    world.runner.reports.append(Wrote(world.runner.started[0], text))
    world.clock.advance(SHOWN_EVERY)
    controller.turn(NO_WAIT)


def test_what_it_writes_can_be_read_while_it_runs(world: World, controller: Controller) -> None:
    write(world, controller, "one\n")
    write(world, controller, "two\n")

    assert world.sql(PARTS) == [(1, 1, "one\n"), (1, 2, "two\n")]
    assert output_reading.of_instance(world.transactions, ONE).text == "one\ntwo\n"


def test_it_is_written_every_two_seconds_at_most(world: World, controller: Controller) -> None:
    write(world, controller, "one\n")
    for _ in range(3):
        world.runner.reports.append(Wrote(world.runner.started[0], "more\n"))
        controller.turn(NO_WAIT)
    assert world.sql(PARTS) == [(1, 1, "one\n")]

    write(world, controller, "two\n")
    assert world.sql(PARTS)[1:] == [(1, 2, "more\nmore\nmore\ntwo\n")]


def test_nothing_of_it_is_left_when_it_has_ended(world: World, controller: Controller) -> None:
    write(world, controller, "one\n")
    world.runner.end(world.runner.started[0], OK)
    controller.turn(NO_WAIT)

    assert world.sql(PARTS) == []
    assert world.history() == [(1, 10, 1, "auto", "success")]


def test_what_comes_with_the_end_is_not_written(world: World, controller: Controller) -> None:
    world.runner.reports.append(Wrote(world.runner.started[0], "one\n"))
    world.clock.advance(SHOWN_EVERY)
    world.runner.end(world.runner.started[0], OK)
    controller.turn(NO_WAIT)

    assert world.sql(PARTS) == []


def test_the_end_of_a_step_that_has_shown_nothing_asks_for_nothing_more(
    world: World, controller: Controller, monkeypatch: pytest.MonkeyPatch
) -> None:
    forgotten: list[object] = []
    monkeypatch.setattr(step_outputs, "forget", lambda connection, ids: forgotten.extend(ids))
    world.runner.end(world.runner.started[0], OK)
    controller.turn(NO_WAIT)

    assert (world.history()[0][-1], forgotten) == ("success", [])


def test_nothing_of_it_is_left_when_it_is_lost(world: World, controller: Controller) -> None:
    write(world, controller, "one\n")
    world.crash()
    world.recover()

    assert world.history() == [(1, 10, 1, "auto", "lost")]
    assert world.sql(PARTS) == []


def test_of_what_was_taken_away_nothing_is_written_and_nothing_left(world: World, controller: Controller) -> None:
    write(world, controller, "one\n")
    world.sql("UPDATE BatchControl SET ClaimToken = ClaimToken + 1, ClaimedBy = 'c9'")
    world.sql("UPDATE BatchProcessHistory SET ClaimToken = ClaimToken + 1")
    write(world, controller, "two\n")
    assert world.sql(PARTS) == [(1, 1, "one\n")]


def test_only_the_newest_is_kept(world: World, controller: Controller) -> None:
    for number in range(5):
        write(world, controller, f"{number}" * (KEPT // 3))
    assert [number for _, number, _ in world.sql(PARTS)] == [3, 4, 5]

    write(world, controller, "x" * (2 * KEPT))
    assert [(number, len(text)) for _, number, text in world.sql(PARTS)] == [(7, KEPT)]


@pytest.mark.parametrize("text", ["a\x00b", "\ud800", "\x1b[31m", "🎉" * 20_000])
def test_any_text_can_be_kept(world: World, controller: Controller, text: str) -> None:
    write(world, controller, text)

    assert len(world.sql(PARTS)) == 1
    assert "controller.trouble" not in world.names()


def test_a_database_that_refuses_it_keeps_no_end_from_being_recorded(
    world: World, controller: Controller, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise DatabaseRefused("the disk is full")

    monkeypatch.setattr(step_outputs, "add", refuse)
    write(world, controller, "one\n")
    world.runner.end(world.runner.started[0], OK)
    controller.turn(NO_WAIT)

    assert world.history() == [(1, 10, 1, "auto", "success")]


def test_before_what_was_refused_nothing_is_shown_any_more_and_a_number_is_left_out(
    world: World, controller: Controller, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise DatabaseRefused("the disk is full")

    write(world, controller, "one\n")
    with monkeypatch.context() as patched:
        patched.setattr(step_outputs, "add", refuse)
        write(world, controller, "two\n")
    write(world, controller, "three\n")

    assert world.sql(PARTS) == [(1, 3, "three\n")]


@pytest.mark.parametrize("is_made", [True, False])
def test_what_a_commit_in_doubt_may_have_written_is_there_once(
    world: World, controller: Controller, monkeypatch: pytest.MonkeyPatch, is_made: bool
) -> None:
    def doubt(boundaries: frozenset[Boundary], work: Callable[[Any], object], *, nowait: bool = False) -> object:
        if boundaries == {Boundary.SPAWNED}:
            if is_made:
                run(boundaries, work, nowait=nowait)
            raise OutcomeUnknown("the connection was lost during a commit")
        return run(boundaries, work, nowait=nowait)

    write(world, controller, "one\n")
    run = controller._transactions.run
    with monkeypatch.context() as patched:
        patched.setattr(controller._transactions, "run", doubt)
        write(world, controller, "two\n")
    write(world, controller, "three\n")
    write(world, controller, "")

    assert world.sql(PARTS) == [(1, 1, "one\n"), (1, 2, "two\n"), (1, 3, "three\n")]


@dataclass
class Watch:
    """Time that passes only while somebody waits, and what happens meanwhile."""

    now: Callable[[], datetime]
    left: list[Callable[[], None]]
    passed: float = 0.0

    def monotonic(self) -> float:
        return self.passed

    def sleep(self, seconds: float) -> None:
        self.passed += seconds
        self.left.pop(0)()


def following(world: World, controller: Controller, *steps: Callable[[], None]) -> list[str]:
    """Return what is printed when these things happen one after the other."""
    found = output_reading.of_instance(world.transactions, ONE)
    following = Following(world.transactions, Watch(world.clock.now, list(steps)), pytest.fail)
    return [text for text in following.texts(found) if text]


def test_who_follows_sees_all_of_it_once(world: World, controller: Controller) -> None:
    def end() -> None:
        world.runner.end(world.runner.started[0], replace(OK, output="one\ntwo\nthree\n"))
        controller.turn(NO_WAIT)

    write(world, controller, "one\n")
    seen = following(world, controller, lambda: None, lambda: write(world, controller, "two\n"), end)

    assert seen == ["one\n", "two\n", "three\n"]


def test_who_follows_is_told_of_a_gap(world: World, controller: Controller) -> None:
    def much() -> None:
        for _ in range(4):
            write(world, controller, "x" * (KEPT // 2))

    def end() -> None:
        world.runner.end(world.runner.started[0], OK)
        controller.turn(NO_WAIT)

    write(world, controller, "one\n")
    seen = following(world, controller, much, end)

    assert seen[1].startswith("\n[... more than is kept was written meanwhile ...]\n")


def test_one_that_waits_for_what_is_written_looks_again_after_two_seconds(
    world: World, controller: Controller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(world.runner, "ask_for_output", lambda: True, raising=False)
    world.clock.advance(SHOWN_EVERY)
    controller.turn(timedelta(hours=1))

    assert world.runner.waits[-1] <= SHOWN_EVERY
