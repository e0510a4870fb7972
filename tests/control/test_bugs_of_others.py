"""Bugs that users of other systems met, each under its number in the list they are taken from.

Numbers 1 to 11 and 24 concern workers, recovery, limits and cancelling. What they need of real processes is proven by the
kill rig as well (`tests/chaos`).
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from batchctl.domain.liveness import Rhythm
from batchctl.domain.outcomes import Rendered, StepOutcome
from batchctl.operations import explain
from batchctl.operations.intervene import Operator
from batchctl.operations.presence import Presence
from batchctl.ports import Boundary, Trace
from tests.control.world import LONG_AFTER, NO_WAIT, OK, RUNS_ON, ScriptedRunner, World

HOUR = timedelta(hours=1)


class CutError(BaseException):
    """The process died here: nothing of the engine may catch it."""


class Dying:
    """Transactions of a process that dies at the n-th commit, before it or after it."""

    def __init__(self, inner: object, at: int, *, after: bool) -> None:
        self._inner, self._left, self._after = inner, at, after

    def __getattr__(self, name: str) -> object:
        return getattr(self._inner, name)

    def run(self, boundaries: frozenset[Boundary], work: object, *, nowait: bool = False) -> object:
        """Commit, unless this is where it ends."""
        self._left -= 1
        if self._left == 0 and not self._after:
            raise CutError
        result = self._inner.run(boundaries, work, nowait=nowait)  # type: ignore[attr-defined]
        if self._left == 0:
            raise CutError
        return result


def running(world: World, name: str = "c1", **step: object) -> None:
    """Let a step of a controller run that is entered in the database."""
    world.runner.script = lambda rendered: RUNS_ON
    batch_id = world.batch(steps=0)
    world.step(batch_id, 10, **step)
    world.submit()
    world.create()
    world.membership(name).begin()
    controller = world.controller(name)
    world.turn_until_idle(controller)


def operator(world: World) -> Operator:
    """Return a person at a terminal."""
    return Operator(
        transactions=world.transactions,
        clock=world.clock,
        preparer=world.recorder().preparer,
        user="anna",
        host="host1",
    )


def test_01_a_step_of_five_hours_is_never_released_while_its_worker_lives_and_soon_once_it_is_dead(
    world: World,
) -> None:
    running(world)
    membership, rescue = world.membership("c1"), world.rescue("c2")
    for _ in range(5 * 60):
        world.clock.advance(timedelta(minutes=1))
        membership.beat()
        assert rescue.look(lambda key: False).lost == ()
    assert world.statuses() == ["running"]

    world.clock.advance(timedelta(minutes=4, seconds=59))
    rescue.look(lambda key: False)
    assert world.statuses() == ["running"]
    world.clock.advance(timedelta(minutes=1))
    rescue.look(lambda key: False)
    assert world.statuses() == ["held"]


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("at", [1, 2, 3, 4])
def test_02_a_controller_killed_at_any_commit_loses_and_doubles_nothing(world: World, at: int, *, after: bool) -> None:
    world.batch(steps=2)
    world.submit()
    world.create()
    effects: list[object] = []

    def script(rendered: Rendered) -> StepOutcome:
        effects.append(rendered.spec["seq"])
        return OK

    world.runner.script = script
    controller = world.controller("c1")
    controller._transactions = Dying(world.transactions, at, after=after)  # type: ignore[assignment]
    for _ in range(10):
        try:
            controller.turn(NO_WAIT)
        except CutError:
            break
    died = controller.failure is not None
    world.crash()
    world.runner.script = script
    # What was recorded as begun and not yet started never ran; what ran has left its mark.
    live = world.sql(
        "SELECT BatchProcessHistory_id, ProcessControlSeq FROM BatchProcessHistory WHERE Status = 'running'"
    )
    world.runner.traces = {key: Trace.GONE if seq in effects else Trace.NEVER_RAN for key, seq in live}
    world.recover()
    if world.statuses() == ["held"]:
        operator(world).skip(1, reason="its mark is there")  # type: ignore[arg-type]
    world.process()

    assert effects == [10, 20], died
    assert world.statuses() == ["complete"]


def test_03_a_worker_that_lost_its_lease_cannot_write_its_end(world: World) -> None:
    world.runner.script = lambda rendered: RUNS_ON
    world.batch(steps=1)
    world.submit()
    world.create()
    old = world.controller("c1")
    world.turn_until_idle(old)
    world.recover("c2")
    assert world.statuses() == ["held"]

    (key,) = world.runner.open
    world.runner.end(key, OK)
    world.turn_until_idle(old)

    assert world.statuses() == ["held"]
    assert [entry[4] for entry in world.history()] == ["lost"]
    assert "late result" in world.one("SELECT Message FROM BatchProcessHistory")
    assert "step.fenced" in world.names()


def test_04_a_database_that_goes_away_during_recovery_leaves_nothing_behind(world: World) -> None:
    world.runner.script = lambda rendered: RUNS_ON
    world.batch(steps=1, MaxConcurrent=3)
    for number in range(3):
        world.submit(file_name=f"f{number}")
    world.create()
    world.turn_until_idle(world.controller("c1", slots=3))
    world.crash()
    dying: Any = Dying(world.transactions, 2, after=False)
    with pytest.raises(CutError):
        world.rescue("c2", transactions=dying, rhythm=LONG_AFTER).look(lambda key: False)
    assert sorted(world.statuses()) == ["held", "running", "running"]
    world.recover("c3")

    assert world.statuses() == ["held"] * 3


def test_05_an_old_worker_that_drains_beside_its_successor_is_not_robbed(world: World) -> None:
    running(world, "old")
    world.clock.advance(timedelta(seconds=3))
    world.membership("new").begin()
    rescue = world.rescue("new")
    for _ in range(10):
        world.clock.advance(timedelta(seconds=30))
        world.membership("old").beat()
        assert rescue.look(lambda key: False).freed is False

    assert world.statuses() == ["running"]


def test_06_a_person_and_the_recovery_at_once_make_one_run(world: World) -> None:
    running(world)
    world.crash()
    world.runner.gone = lambda row: row.name == "c1"
    world.rescue("c2").look(lambda key: False)
    operator(world).rerun(1, reason="I looked")  # type: ignore[arg-type]
    world.rescue("c3").look(lambda key: False)
    world.process()

    assert [entry[3:] for entry in world.history()] == [("auto", "lost"), ("manual", "success")]


def test_07_two_controllers_and_one_row_make_one_run_and_one_instance(world: World) -> None:
    world.batch(steps=1)
    world.submit()
    other = world.open()
    for transactions in (world.transactions, other):
        world.transactions = transactions
        world.create()
    first, second = world.controller("c1"), world.controller("c2", transactions=other, runner=ScriptedRunner())
    for _ in range(5):
        first.turn(NO_WAIT)
        second.turn(NO_WAIT)

    assert world.statuses() == ["complete"]
    assert len(world.history()) == 1


def test_08_what_fails_before_it_starts_leaves_its_attempt(world: World) -> None:
    batch_id = world.batch(steps=0)
    world.step(batch_id, 10, ProcessType="nobody_knows_it")
    world.submit()
    world.create()
    world.process()

    assert world.statuses() == ["failed"]
    assert [entry[4] for entry in world.history()] == ["failed"]
    assert "nobody_knows_it" in world.one("SELECT Message FROM BatchProcessHistory")


def test_09_a_run_again_of_what_is_done_says_that_no_step_is_left(world: World) -> None:
    world.batch(steps=2)
    world.submit()
    world.create()
    world.process()
    before = world.history()
    world.sql("UPDATE BatchControl SET Status = 'ready'")  # as if the very last write had been lost
    world.process()

    assert world.history() == before
    assert world.statuses() == ["complete"]


def test_10_a_cancelled_instance_frees_its_resource_at_once_and_a_waiting_retry_holds_none(world: World) -> None:
    for name in ("A", "B"):
        world.batch(name, steps=1, RetryCount=1)
        world.sql("INSERT INTO Resource (ResourceName) SELECT 'R' WHERE NOT EXISTS (SELECT 1 FROM Resource)")
        world.sql(
            "INSERT INTO BatchResource (ProcessBatch_id, Resource_id)"
            " SELECT ProcessBatch_id, 1 FROM ProcessBatch WHERE ProcessBatchName = ?",
            name,
        )
        world.submit(name)
    world.create()
    answers = {1: StepOutcome(succeeded=False, message="no"), 2: RUNS_ON}
    world.runner.script = lambda rendered: answers[int(rendered.command_text.split(" of ")[1].split(" ")[0])]
    controller = world.controller("c1", slots=2)
    world.turn_until_idle(controller)
    assert world.statuses() == ["retry", "running"]

    world.submit("A", file_name="g")
    world.sql("UPDATE ProcessBatch SET OnFailure = 'continue'")
    world.create()
    answers[3] = OK
    operator(world).cancel(2, reason="not today")  # type: ignore[arg-type]
    world.turn_until_idle(controller)

    assert world.statuses() == ["retry", "cancelled", "complete"]


def test_11_a_thousand_rows_behind_a_full_resource_do_not_hide_one_elsewhere(world: World) -> None:
    world.batch("Blocked", steps=1, Seq=1, MaxConcurrent=1000)
    world.batch("Free", steps=1, Seq=2)
    world.sql("INSERT INTO Resource (ResourceName, Units) VALUES ('R', 0)")
    world.sql("INSERT INTO BatchResource (ProcessBatch_id, Resource_id) VALUES (1, 1)")
    for number in range(1000):
        world.sql("INSERT INTO FileProcess (Entity, FileName) VALUES ('Blocked', ?)", f"f{number}")
    world.sql("INSERT INTO BatchControl (ProcessBatch_id, FileProcess_id) SELECT 1, FileProcess_id FROM FileProcess")
    world.submit("Free")
    world.create()
    world.process()

    assert world.sql("SELECT Status, count(*) FROM BatchControl GROUP BY Status ORDER BY Status") == [
        ("complete", 1),
        ("ready", 1000),
    ]


def test_24_why_names_every_gate_when_five_block_at_once(world: World) -> None:
    world.batch("Other", steps=1)
    world.sql("INSERT INTO Resource (ResourceName) VALUES ('R')")
    world.sql("INSERT INTO BatchResource (ProcessBatch_id, Resource_id) VALUES (1, 1)")
    world.submit("Other")
    world.create()
    world.runner.script = lambda rendered: RUNS_ON
    world.turn_until_idle(world.controller("c1"))
    world.batch(steps=1, Enabled=0)
    world.sql("INSERT INTO BatchResource (ProcessBatch_id, Resource_id) VALUES (2, 1)")
    world.sql("INSERT INTO Setting (Name, Value) VALUES ('MaxConcurrent', '1')")
    for number in range(2):
        world.submit(file_name=f"f{number}")
    world.create()
    world.sql("UPDATE BatchControl SET Status = 'failed' WHERE BatchControl_id = 2")
    world.sql("UPDATE BatchControl SET NextRunTime = '2030-01-01 00:00:00' WHERE BatchControl_id = 3")

    found = explain.why(world.transactions, world.clock, Presence(Rhythm(), lambda row: False), "3")

    assert {gate.name for gate in found.blocking} == {
        "enabled",
        "NextRunTime",
        "failure policy",
        "resource R",
        "Setting MaxConcurrent",
        "controller",
    }
    assert all(gate.clear for gate in found.blocking)
