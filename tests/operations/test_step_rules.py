"""What steps say of their retries and their rows, as people see it."""

from __future__ import annotations

import pytest

from batchctl.domain.definitions.step_rules import rule_findings
from batchctl.domain.liveness import Rhythm
from batchctl.domain.outcomes import StepOutcome
from batchctl.domain.rows import InstanceId
from batchctl.operations import explain, inspection, overview
from batchctl.operations.definitions.learned_rows import silent
from batchctl.operations.presence import Presence
from batchctl.store import row_counts
from batchctl.store.definitions import definitions
from tests.control.world import BAD, OK, World

PRESENCE = Presence(Rhythm(), is_gone=lambda row: False)


def findings(world: World, **columns: object) -> list[tuple[str, str]]:
    """Return what is found of the rules of one step."""
    batch_id = world.batch(steps=0)
    world.step(batch_id, 10, **columns)
    with world.transactions.read() as connection:
        (batch,) = definitions.all_batches(connection)
    return [(one.column, one.message) for one in rule_findings(batch, batch.steps[0])]


@pytest.mark.parametrize(
    ("columns", "found"),
    [
        ({}, []),
        ({"RetryCount": 2, "RetryOn": "3", "RetryWaitSecs": 5, "RetryBackoff": 2}, []),
        ({"RetryCount": 2, "RetryWaitSecs": 0, "RetryBackoff": 2}, ["RetryBackoff"]),
        ({"RetryOn": "3", "RetryWaitSecs": 5, "RetryBackoff": 2}, ["RetryWaitSecs", "RetryBackoff", "RetryOn"]),
        ({"RetryCount": 0, "RetryOn": "3"}, ["RetryOn"]),
        ({"OnRows": "warn"}, ["OnRows"]),
        ({"OnRows": "warn", "RowsMin": "0"}, []),
    ],
)
def test_what_nothing_goes_by_is_found(world: World, columns: dict[str, object], found: list[str]) -> None:
    assert [column for column, _ in findings(world, **columns)] == found


def test_who_checks_is_told_what_is_not_learned_yet(world: World) -> None:
    batch_id = world.batch("Load", steps=0)
    world.step(batch_id, 10, RowsMin="learned")
    days = "Saturdays and Sundays" if world.clock.now().weekday() > 4 else "Monday to Friday"
    (note,) = silent(world.transactions, world.clock)
    assert note.startswith("batch Load, step 10 'step 10' does not look at its number of rows: ")
    assert note.endswith(f": nothing is learned yet: 0 of the 10 runs on {days} that have to be known.")

    world.sql("UPDATE ProcessControl SET RowsMin = '5'")
    assert silent(world.transactions, world.clock) == []


def test_steps_without_bounds_ask_for_no_rows(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*of: object) -> None:
        raise AssertionError(of)

    monkeypatch.setattr(row_counts, "of_step", refuse)
    batch_id = world.batch()
    world.step(batch_id, 30, RowsMin="1")
    world.runner.script = lambda rendered: StepOutcome(succeeded=True, rows_affected=5)
    world.submit()
    world.create()
    world.process()

    assert world.statuses() == ["complete"]


def test_what_went_on_without_a_step_is_marked_wherever_people_look(world: World) -> None:
    batch_id = world.batch(steps=0, RetryCount=1)
    world.step(batch_id, 10, OnStepFailure="continue", RetryCount=0)
    world.step(batch_id, 20)
    world.runner.script = lambda rendered: BAD if "step 10 " in rendered.command_text else OK
    world.submit()
    world.create()
    world.process()
    transactions, clock = world.transactions, world.clock

    (done,) = overview.overview(transactions, clock, PRESENCE).completed
    assert done.instance.failures_behind == "1 step failed"
    (first, second) = inspection.show(transactions, InstanceId(1)).steps
    assert (first.state, first.retries, first.has_rules) == ("failed", "none", True)
    assert (second.state, second.retries, second.has_rules) == ("done", "1 x 5 min", False)
    assert explain.why(transactions, clock, PRESENCE, "1").notes == (
        "1 step failed before that, and OnStepFailure let it go on: batchctl show 1",
    )
    assert world.sql("SELECT LastComplete_id, LastStepsFailed FROM vStatus") == [(1, 1)]
    assert world.sql("SELECT ProcessControlSeq, Status, StepsFailed FROM vHistory ORDER BY 1") == [
        (10, "failed", 1),
        (20, "success", 1),
    ]
    (event,) = [event for event in world.events if event.name == "instance.complete"]
    assert event.fields["StepsFailed"] == 1


def test_who_asks_why_is_told_which_attempt_comes_next(world: World) -> None:
    batch_id = world.batch(steps=0)
    world.step(batch_id, 10, RetryCount=3, RetryWaitSecs=60)
    world.runner.script = lambda rendered: BAD
    world.submit()
    world.create()
    world.process()

    notes = explain.why(world.transactions, world.clock, PRESENCE, "1").notes
    assert notes[0] == "Its next step is 10 'step 10', attempt 2 of 4."
