"""Law 7: what a dead controller left open."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from batchctl.control import in_flight
from batchctl.control.controller import Controller
from batchctl.control.rescue import Rescued
from batchctl.domain.commands import Identity
from batchctl.domain.errors import NoAnswer
from batchctl.domain.outcomes import Rendered, StepOutcome
from batchctl.domain.rows import HistoryEntry, HistoryId
from batchctl.ports import Trace
from tests.control.world import LONG_AFTER, NO_WAIT, OK, RUNS_ON, World


def crashed(world: World, **columns: object) -> None:
    """Let a controller die while step 10 of an instance runs."""
    world.runner.script = lambda rendered: RUNS_ON
    batch_id = world.batch(steps=0, RetryCount=columns.pop("RetryCount", 1))
    world.step(batch_id, 10, **columns)
    world.step(batch_id, 20)
    world.submit()
    world.create()
    world.process()
    world.crash()


def test_a_lost_step_is_held_by_default(world: World) -> None:
    crashed(world)
    world.recover()
    world.process()

    assert world.statuses() == ["held"]
    assert world.history() == [(1, 10, 1, "auto", "lost")]
    assert world.sql("SELECT RetryCount, LostCount, ClaimedBy FROM BatchControl") == [(1, 1, None)]
    assert "it is unknown how it ended" in world.one("SELECT Message FROM BatchProcessHistory")


def test_recovering_twice_changes_nothing_more(world: World) -> None:
    crashed(world)
    world.recover()
    before = world.sql("SELECT * FROM BatchControl")
    world.crash()
    world.recover()

    assert world.sql("SELECT * FROM BatchControl") == before


@pytest.mark.parametrize(
    ("host", "said"),
    [
        ("host1", "Nothing of it runs on host1 any more"),
        ("host2", "It ran on host2, which cannot be asked from host1"),
    ],
)
def test_what_is_left_of_the_step_is_looked_for_first_and_what_is_known_is_said(
    world: World, host: str, said: str
) -> None:
    crashed(world)
    world.sql("UPDATE BatchProcessHistory SET Host = ?", host)
    world.runner.meanwhile = lambda: before.append(world.history()[0][-1])
    before: list[str] = []
    world.recover()

    assert (world.runner.examined, before) == (["c1"], ["running"])
    assert said in world.one("SELECT Message FROM BatchProcessHistory")


@pytest.mark.parametrize("retries", [0, 1])
def test_rerun_runs_a_lost_step_again_at_once_and_uses_up_no_retry(world: World, retries: int) -> None:
    crashed(world, OnLost="rerun", RetryCount=retries)
    world.recover()
    assert world.sql("SELECT Status, RetryCount, LostCount FROM BatchControl") == [("retry", retries, 1)]

    world.process()
    assert world.history()[:2] == [(1, 10, 1, "auto", "lost"), (1, 10, 2, "retry", "success")]
    assert world.statuses() == ["complete"]


def lose_again(world: World) -> None:
    """Run a lost step again, and let the controller die once more."""
    world.runner.script = lambda rendered: RUNS_ON
    world.process()
    world.crash()
    world.recover()


@pytest.mark.parametrize(("most", "attempts"), [({}, 4), ({"MaxLost": 1}, 2), ({"MaxLost": 0}, 1)])
def test_a_step_that_is_lost_more_often_than_maxlost_says_is_held(
    world: World, most: dict[str, object], attempts: int
) -> None:
    crashed(world, OnLost="rerun", RetryCount=0, **most)
    world.recover()
    for _ in range(1, attempts):
        assert world.statuses() == ["retry"]
        lose_again(world)

    assert world.statuses() == ["held"]
    assert [status for *_, status in world.history()] == ["lost"] * attempts


def test_a_success_lets_the_next_step_be_lost_as_often_again(world: World) -> None:
    crashed(world, OnLost="rerun", MaxLost=1)
    world.sql("UPDATE ProcessControl SET OnLost = 'rerun', MaxLost = 1")
    world.recover()
    world.runner.script = lambda rendered: OK if rendered.spec["seq"] == 10 else RUNS_ON
    world.process()
    world.crash()
    world.recover()

    assert world.sql("SELECT Status, PrevProcessControlSeq, LostCount FROM BatchControl") == [("retry", 10, 1)]


@pytest.mark.parametrize(
    ("answer", "status", "last"),
    [
        (StepOutcome(succeeded=True, value=1), "complete", (1, 10, 2, "verify", "success")),
        (StepOutcome(succeeded=True, value=0), "retry", (1, 10, 2, "verify", "failed")),
        (StepOutcome(succeeded=False, message="?"), "held", (1, 10, 2, "verify", "lost")),
    ],
)
def test_verify_asks_and_believes_the_answer(
    world: World, answer: StepOutcome, status: str, last: tuple[object, ...]
) -> None:
    crashed(world, OnLost="VERIFY")
    world.recover()

    def script(rendered: Rendered) -> StepOutcome:
        return answer if rendered.spec["seq"] == 10 else OK

    world.runner.script = script
    world.process()

    assert world.statuses() == [status]
    assert world.history()[1] == last


def test_a_verified_failure_is_retried_for_real(world: World) -> None:
    crashed(world, OnLost="verify")
    world.recover()
    world.runner.script = lambda rendered: StepOutcome(succeeded=True, value=0)
    world.process()
    world.clock.advance(timedelta(minutes=5))
    world.process()

    assert [entry[3:] for entry in world.history()[:3]] == [
        ("auto", "lost"),
        ("verify", "failed"),
        ("retry", "success"),
    ]
    assert world.statuses() == ["complete"]


def test_a_check_that_never_ran_is_asked_again(world: World) -> None:
    crashed(world, OnLost="verify")
    world.recover()
    world.runner.script = lambda rendered: RUNS_ON
    world.process()
    world.crash()
    world.runner.traces[HistoryId(2)] = Trace.NEVER_RAN
    world.recover()
    world.runner.script = lambda rendered: StepOutcome(succeeded=True, value=1)
    world.process()

    assert [entry[1:] for entry in world.history()[:3]] == [
        (10, 1, "auto", "lost"),
        (10, 2, "verify", "lost"),
        (10, 3, "verify", "success"),
    ]


def test_one_that_was_taken_for_dead_while_it_began_does_not_forget_itself(world: World) -> None:
    for name, status in (("c1", "lost"), ("c2", "lost"), ("c3", "stopped"), ("c4", "running")):
        world.sql(f"INSERT INTO Controller (ControllerName, Host, Slots, Status) VALUES ('{name}', 'h', 1, '{status}')")
    world.rescue("c2").tidy()

    assert world.runner.kept == {"c2", "c4"}


def test_a_cancelled_instance_whose_controller_died_is_cancelled(world: World) -> None:
    crashed(world)
    world.sql("UPDATE BatchControl SET Status = 'cancelling'")
    world.recover()

    assert world.statuses() == ["cancelled"]
    assert world.history() == [(1, 10, 1, "auto", "lost")]


def test_a_claim_without_an_open_attempt_is_given_back(world: World) -> None:
    world.batch()
    world.submit()
    world.create()
    world.sql("UPDATE BatchControl SET Status = 'running', ClaimedBy = NULL")
    world.recover()

    assert world.statuses() == ["ready"]


def test_a_crash_before_the_end_is_recorded_never_runs_a_success_again(world: World) -> None:
    world.batch(steps=3)
    world.submit()
    world.create()
    controller = world.controller()
    controller.turn(NO_WAIT)
    controller.turn(NO_WAIT)
    world.crash()
    world.recover()
    world.sql("UPDATE BatchControl SET Status = 'ready' WHERE Status = 'held'")
    world.process()

    succeeded = world.sql(
        "SELECT ProcessControlSeq, count(*) FROM BatchProcessHistory WHERE Status = 'success' GROUP BY 1 ORDER BY 1"
    )
    assert succeeded == [(10, 1), (20, 1), (30, 1)]


def test_a_spawned_process_is_found_by_its_recorded_identity(world: World) -> None:
    world.runner.script = lambda rendered: RUNS_ON
    world.batch()
    world.submit()
    world.create()
    controller = world.process()
    world.runner.spawn(world.runner.started[-1], Identity(pid=1, pid_start="2", boot_id="3"))
    controller.turn(NO_WAIT)
    world.clock.advance(timedelta(seconds=in_flight.SHORT))
    controller.turn(NO_WAIT)
    world.crash()
    world.recover()

    assert world.sql("SELECT Pid, PidStart, BootId, Status FROM BatchProcessHistory") == [(1, "2", "3", "lost")]


def test_an_open_attempt_of_an_instance_that_moved_on_is_closed_alone(world: World) -> None:
    crashed(world)
    world.sql("UPDATE BatchControl SET Status = 'failed', ClaimToken = 9")
    world.recover()

    assert world.statuses() == ["failed"]
    assert world.history() == [(1, 10, 1, "auto", "lost")]
    assert world.runner.examined == ["c1"], "whoever has the instance now does not look for what is left of the attempt"


def restored(world: World, **columns: object) -> Controller:
    """Restore, while step 20 of an instance runs, what was backed up while step 10 did; return their living controller."""
    world.runner.script = lambda rendered: RUNS_ON
    batch_id = world.batch(steps=0, RetryCount=1)
    world.step(batch_id, 10, **columns)
    world.step(batch_id, 20)
    world.submit()
    world.create()
    controller = world.process()
    before = world.sql("SELECT PrevProcessControlSeq, RetryCount FROM BatchControl")
    world.runner.end(HistoryId(1), OK)
    world.turn_until_idle(controller)
    assert world.history() == [(1, 10, 1, "auto", "success"), (1, 20, 1, "auto", "running")]
    world.sql("DELETE FROM BatchProcessHistory WHERE ProcessControlSeq = 20")
    world.sql("UPDATE BatchProcessHistory SET Status = 'running', EndTime = NULL, ReturnCode = NULL")
    world.sql("UPDATE BatchControl SET PrevProcessControlSeq = ?, RetryCount = ?", *before[0])
    return controller


def test_what_stands_as_its_own_and_is_not_under_way_is_left_alone_while_anything_of_the_instance_is(
    world: World,
) -> None:
    controller = restored(world)
    rescue = world.rescue("c1")

    assert rescue.look(controller.knows, controller.carries) == Rescued()
    assert world.history() == [(1, 10, 1, "auto", "running")]


@pytest.mark.parametrize(
    ("on_lost", "status", "history"),
    [
        ("hold", "held", [("auto", "lost")]),
        ("rerun", "running", [("auto", "lost"), ("retry", "running")]),
        ("verify", "running", [("auto", "lost"), ("verify", "running")]),
    ],
)
def test_what_stands_as_its_own_and_is_not_under_way_is_lost_as_onlost_says(
    world: World, on_lost: str, status: str, history: list[tuple[str, str]]
) -> None:
    controller = restored(world, OnLost=on_lost)
    world.runner.end(HistoryId(2), OK)
    world.turn_until_idle(controller)
    rescued = world.rescue("c1").look(controller.knows, controller.carries)
    controller.look_again()
    world.turn_until_idle(controller)

    assert rescued.lost == (1,)
    assert world.statuses() == [status]
    assert world.sql("SELECT Cause, Status FROM BatchProcessHistory ORDER BY BatchProcessHistory_id") == history
    assert "an older control database was restored" in world.one(
        "SELECT Message FROM BatchProcessHistory WHERE Status = 'lost'"
    )


def test_its_own_work_is_not_lost_between_its_beginning_and_its_end(world: World) -> None:
    controller = world.running()
    rescue = world.rescue("c1")

    assert rescue.look(controller.knows, controller.carries) == Rescued()
    world.runner.end(HistoryId(1), OK)
    controller.turn(NO_WAIT)
    assert rescue.look(controller.knows, controller.carries) == Rescued()
    assert [entry[-1] for entry in world.history()] == ["success", "running"]


def test_a_claim_of_its_own_under_which_nothing_was_begun_is_given_back(world: World) -> None:
    controller = restored(world)
    world.runner.end(HistoryId(2), OK)
    world.turn_until_idle(controller)
    world.sql("DELETE FROM BatchProcessHistory")
    world.rescue("c1").look(controller.knows, controller.carries)

    assert world.sql("SELECT Status, ClaimedBy FROM BatchControl") == [("ready", None)]


def three_crashed(world: World) -> None:
    """Let a controller die while steps of three batches run."""
    world.runner.script = lambda rendered: RUNS_ON
    for name in ("A", "B", "C"):
        world.batch(name, steps=1)
        world.submit(name)
    world.create()
    world.process(slots=3)
    world.crash()


def breaks(world: World, key: int, error: Exception, monkeypatch: pytest.MonkeyPatch, method: str = "examine") -> None:
    """Let the handler of one attempt break when it is asked what became of it."""
    ask = getattr(world.runner, method)

    def asked(entry: HistoryEntry, *args: Any) -> Any:
        if entry.history_id == key:
            raise error
        return ask(entry, *args)

    monkeypatch.setattr(world.runner, method, asked)


@pytest.mark.parametrize("error", [KeyError("n"), NoAnswer("The handler of 'told' did not answer.")])
def test_an_attempt_whose_handler_breaks_keeps_nobody_from_the_others(
    world: World, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    three_crashed(world)
    breaks(world, 1, error, monkeypatch)
    world.runner.traces[HistoryId(2)] = Trace.ADOPTABLE
    rescue = world.rescue(rhythm=LONG_AFTER)
    rescued = rescue.look(lambda key: False)

    assert [attempt.history_id for attempt, _ in rescued.adopted] == [2]
    assert [status for *_, status in world.history()] == ["running", "running", "lost"]
    assert rescue.failure is not None
    said = rescue.failure.message
    assert said.startswith("What became of attempt 1 of BatchControl 1, step 10, cannot be found out: ")
    assert said.endswith(" (module tests.control.world).")
    assert rescue.look(lambda key: key == 2) == Rescued()
    assert world.messages("step.unclear") == [rescue.failure.in_full]
    assert world.sql("SELECT ControllerName FROM Controller WHERE Status = 'lost'") == []


def test_once_its_handler_says_what_became_of_an_attempt_nothing_is_the_matter(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    three_crashed(world)
    rescue = world.rescue(rhythm=LONG_AFTER)
    with monkeypatch.context() as broken:
        breaks(world, 1, KeyError("n"), broken)
        rescue.look(lambda key: False)
    rescue.look(lambda key: False)

    assert rescue.failure is None
    assert [status for *_, status in world.history()] == ["lost"] * 3


def test_what_is_left_of_an_attempt_whose_handler_breaks_keeps_nobody_from_the_others(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    three_crashed(world)
    world.runner.traces = {HistoryId(key): Trace.LEFT_OVER for key in (1, 2)}
    breaks(world, 1, KeyError("n"), monkeypatch, "stop_left_over")
    rescue = world.rescue(rhythm=LONG_AFTER)
    rescue.look(lambda key: False)

    assert [status for *_, status in world.history()] == ["running", "lost", "lost"]
    assert "attempt 1 of BatchControl 1" in (rescue.failure or NoAnswer("")).message
