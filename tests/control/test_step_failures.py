"""Steps that say for themselves how often they are tried, after what, and what follows when they have failed for good."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from batchctl.domain.gates import mending
from batchctl.domain.outcomes import Rendered, StepOutcome
from batchctl.domain.rows import InstanceId
from batchctl.operations import inspection
from batchctl.operations.intervene import Operator
from batchctl.operations.maintenance import fsck
from batchctl.store.definitions import definitions
from tests.control.alarm import Alarm
from tests.control.world import BAD, FATAL, OK, World

STANDS = "SELECT Status, PrevProcessControlSeq, RetryCount, StepsFailed FROM BatchControl ORDER BY BatchControl_id"


def fail(world: World, outcome: StepOutcome = BAD, *seqs: int) -> None:
    """Let some steps fail from now on."""

    def script(rendered: Rendered) -> StepOutcome:
        return outcome if int(rendered.command_text.split()[1]) in seqs else OK

    world.runner.script = script


def night(world: World, *steps: dict[str, object], **batch: Any) -> None:
    """Register a batch whose steps say so much for themselves, and give it an instance."""
    batch_id = world.batch(steps=0, **batch)
    for at, columns in enumerate(steps, start=1):
        world.step(batch_id, 10 * at, **columns)
    world.submit()
    world.create()


def go_on(world: World, minutes: float = 60, times: int = 6) -> None:
    """Process, and let time pass, again and again."""
    for _ in range(times):
        world.process()
        world.clock.advance(timedelta(minutes=minutes))


def broken(world: World) -> set[str]:
    return {one.code for one in fsck.examine(world.transactions, world.clock, settled_after=timedelta(0))}


def operator(world: World, *, dry_run: bool = False) -> Operator:
    preparer = world.recorder().preparer
    return Operator(
        transactions=world.transactions,
        clock=world.clock,
        user="anna",
        host="host1",
        dry_run=dry_run,
        preparer=preparer,
    )


def test_each_step_is_tried_as_often_as_it_says_and_as_its_batch_says_where_it_says_nothing(world: World) -> None:
    night(world, {"RetryCount": 2}, {"RetryCount": 0}, {}, RetryCount=1, OnFailure="continue")
    assert world.sql(STANDS) == [("ready", 0, 2, None)]
    fail(world, BAD, 10)
    world.process()
    assert world.sql(STANDS) == [("retry", 0, 1, None)]

    world.clock.advance(timedelta(minutes=5))
    fail(world, BAD, 20)
    world.process()
    assert world.sql(STANDS) == [("failed", 10, 0, None)]

    operator(world).rerun(InstanceId(1), reason="again")
    fail(world, BAD, 30)
    world.process()
    assert world.sql(STANDS) == [("retry", 20, 0, None)]
    go_on(world)
    assert world.statuses() == ["failed"]
    assert broken(world) == set()


def test_the_wait_grows_with_each_failure(world: World) -> None:
    night(world, {"RetryCount": 3, "RetryWaitSecs": 20, "RetryBackoff": 3}, {}, RetryWaitMins=5)
    fail(world, BAD, 10)
    waits = []
    for _ in range(3):
        now = world.clock.now()
        world.process()
        assert world.statuses() == ["retry"]
        wait = inspection.show(world.transactions, InstanceId(1)).instance.next_run_time - now
        waits.append(wait)
        world.clock.advance(wait)

    assert waits == [timedelta(seconds=20), timedelta(seconds=60), timedelta(seconds=180)]
    world.process()
    assert world.statuses() == ["failed"]
    assert broken(world) == set()


def test_no_wait_is_longer_than_a_year(world: World) -> None:
    night(world, {"RetryCount": 1000, "RetryWaitSecs": 60, "RetryBackoff": 10})
    world.sql("UPDATE BatchControl SET RetryCount = 500")
    fail(world, BAD, 10)
    now = world.clock.now()
    world.process()

    assert inspection.show(world.transactions, InstanceId(1)).instance.next_run_time - now == timedelta(days=365)


@pytest.mark.parametrize(
    ("codes", "outcome", "retried"),
    [
        ("1-5", BAD, True),
        ("4, 7", BAD, False),
        ("40001", StepOutcome(succeeded=False, message="deadlock", error_code="40001", fatal=True), True),
        ("1-5", FATAL, False),
        (None, FATAL, False),
        ("timeout", BAD, False),
    ],
)
def test_only_what_retry_on_names_is_tried_again(
    world: World, codes: str | None, outcome: StepOutcome, *, retried: bool
) -> None:
    night(world, {"RetryOn": codes}, RetryCount=2)
    fail(world, outcome, 10)
    world.process()

    assert world.statuses() == ["retry" if retried else "failed"]
    said = world.one("SELECT Message FROM BatchProcessHistory")
    assert ("no retry: RetryOn" in said) is (not retried and not outcome.fatal)
    assert broken(world) == set()


def test_who_looks_is_told_once_why_nothing_is_tried_again(world: World) -> None:
    night(world, {"RetryOn": "4, 7"}, RetryCount=2)
    fail(world, BAD, 10)
    world.process()
    (entry,) = inspection.show(world.transactions, InstanceId(1)).history

    assert entry.wording == "it broke; no retry: RetryOn (4, 7) does not name 3"
    assert entry.attempt == "1 of 3"


def test_a_timeout_is_tried_again_only_where_it_stands_among_the_codes(world: World) -> None:
    night(world, {"RetryOn": "3", "MaxDuration": 10, "OnLost": "hold"}, RetryCount=2)
    world.runner.script = lambda rendered: None
    controller = world.process()
    world.clock.advance(timedelta(seconds=11))
    world.turn_until_idle(controller)

    assert world.history() == [(1, 10, 1, "auto", "timeout")]
    assert world.statuses() == ["failed"]
    assert "RetryOn (3) does not name timeout" in world.one("SELECT Message FROM BatchProcessHistory")


def test_a_step_that_has_failed_for_good_is_gone_past_where_it_says_so(world: World) -> None:
    night(world, {"OnStepFailure": "continue"}, {}, {"OnStepFailure": "continue"}, RetryCount=1, RetryWaitMins=0)
    fail(world, BAD, 10, 30)
    world.process()

    assert world.sql(STANDS) == [("complete", 30, 1, 2)]
    assert world.sql("SELECT Status FROM FileProcess") == [("complete",)]
    assert [one[1:] for one in world.history()] == [
        (10, 1, "auto", "failed"),
        (10, 2, "retry", "failed"),
        (20, 1, "auto", "success"),
        (30, 1, "auto", "failed"),
        (30, 2, "retry", "failed"),
    ]
    assert world.sql("SELECT RetryCountAfter FROM BatchProcessHistory WHERE ProcessControlSeq = 10") == [(0,), (0,)]
    shown = inspection.show(world.transactions, InstanceId(1))
    assert [state.state for state in shown.steps] == ["failed", "done", "failed"]
    assert shown.instance.failures_behind == "2 steps failed"
    assert broken(world) == set()


def test_a_step_that_is_not_there_any_more_breaks_no_law(world: World) -> None:
    night(world, {"OnStepFailure": "continue", "RetryCount": 2, "RetryWaitSecs": 0}, {})
    fail(world, BAD, 10)
    world.process()
    world.sql("DELETE FROM ProcessControl WHERE ProcessControlSeq = 10")

    assert world.sql(STANDS) == [("complete", 20, 0, 1)]
    assert broken(world) == set()


def test_a_fatal_failure_is_gone_past_at_once(world: World) -> None:
    night(world, {"OnStepFailure": "continue", "RetryCount": 3}, {})
    fail(world, FATAL, 10)
    world.process()

    assert world.sql(STANDS) == [("complete", 20, 0, 1)]
    assert world.sql("SELECT RetryCountAfter FROM BatchProcessHistory") == [(3,), (0,)]
    assert broken(world) == set()


def test_what_stops_does_so_behind_a_step_that_was_gone_past(world: World) -> None:
    night(world, {"OnStepFailure": "continue"}, {"OnStepFailure": "stop"}, {})
    fail(world, BAD, 10, 20)
    world.process()
    assert world.sql(STANDS) == [("failed", 10, 0, 1)]
    assert broken(world) == set()

    fail(world)
    operator(world).rerun(InstanceId(1), reason="again")
    world.process()
    assert world.sql(STANDS) == [("complete", 30, 0, 1)]
    assert broken(world) == set()


def test_a_rerun_from_a_step_that_failed_counts_it_no_more(world: World) -> None:
    night(world, {"OnStepFailure": "continue"}, {"OnStepFailure": "continue"}, {})
    fail(world, BAD, 10, 20)
    world.process()
    fail(world)
    card = operator(world, dry_run=True).rerun(InstanceId(1), reason="again", from_seq=20).card
    assert card is not None
    assert [one.wording.partition(" at ")[0] for one in card.assumed] == ["failed"]
    assert "OnStepFailure let the instance go on" in card.assumed[0].wording

    operator(world).rerun(InstanceId(1), reason="again", from_seq=20)
    assert world.sql(STANDS) == [("ready", 10, 0, 1)]
    world.process()
    assert world.sql(STANDS) == [("complete", 30, 0, 1)]
    operator(world).rerun(InstanceId(1), reason="again", from_seq=10)
    assert world.sql(STANDS) == [("ready", 0, 0, 0)]
    world.process()
    assert world.sql(STANDS) == [("complete", 30, 0, 0)]
    assert broken(world) == set()


def test_who_pauses_or_cancels_meanwhile_gets_that(world: World) -> None:
    night(world, {"OnStepFailure": "continue"}, {})
    world.submit()
    world.create()
    world.runner.script = lambda rendered: None
    controller = world.process()
    operator(world).pause(InstanceId(1), reason="wait")
    (key,) = world.runner.open
    world.runner.end(key, BAD)
    controller.turn(timedelta(0))
    assert world.sql(STANDS)[0] == ("paused", 10, 0, 1)

    operator(world).resume(InstanceId(1))
    fail(world)
    world.turn_until_idle(controller)
    assert world.sql(STANDS)[0] == ("complete", 20, 0, 1)
    assert broken(world) == set()


def test_people_are_told_until_the_step_goes_well_again(world: World) -> None:
    night(world, {"OnStepFailure": "continue"}, {})
    fail(world, BAD, 10)
    world.process()
    alarm = Alarm(world)
    (said,) = alarm.announced()
    assert said.startswith("[WARNING] B: Step 10 'step 10' has failed in BatchControl 1, which goes on without it: ")
    assert alarm.announced() == []

    world.submit()
    world.create()
    fail(world)
    world.process()
    assert [said.partition(" ")[0] for said in alarm.announced()] == ["[OVER]"]
    assert world.sql("SELECT Kind, Status FROM Incident") == [("step_failed", "resolved")]


@pytest.mark.parametrize(
    "columns",
    [
        {"RetryOn": "3;4"},
        {"RowsMin": "-1"},
        {"RowsMax": "few"},
        {"RowsMin": "9", "RowsMax": "3"},
        {"Needs": "GPU"},
        {"Needs": "GPU=0"},
    ],
)
def test_a_step_that_cannot_be_read_keeps_its_own_batch_from_running_and_no_other(
    world: World, columns: dict[str, object]
) -> None:
    night(world, {})
    for column, value in columns.items():
        world.sql(f"UPDATE ProcessControl SET {column} = ?", value)
    world.batch("Other")
    world.submit("Other")
    world.create()
    world.process()

    assert world.statuses() == ["ready", "complete"]
    with world.transactions.read() as connection:
        (row,) = definitions.read(connection).unreadable
    assert (row.table, row.column, row.batch) == ("ProcessControl", next(iter(columns)), "B")


def rows(world: World, number: int | None, output: str | None = None) -> None:
    """Let a run load so many rows."""
    world.runner.script = lambda rendered: StepOutcome(succeeded=True, rows_affected=number, output=output)
    world.submit(CycleKey="2026-11-27")
    world.create()
    world.process()


def test_a_wrong_number_of_rows_fails_the_step_and_is_tried_again_where_that_is_wanted(world: World) -> None:
    batch_id = world.batch(steps=0, OnFailure="continue", RetryCount=1, RetryWaitMins=0)
    world.step(batch_id, 10, RowsMin="10", RowsMax="20")
    world.step(batch_id, 20, RetryOn="3")
    rows(world, 9)
    assert world.history() == [(1, 10, 1, "auto", "failed"), (1, 10, 2, "retry", "failed")]
    shown = inspection.show(world.transactions, InstanceId(1))
    assert mending(shown.instance, shown.batch, shown.history[-1]) == (
        "batchctl rerun 1 --reason ...   (if that number of rows is right: batchctl skip 1 --reason ...)"
    )
    (said,) = {message for (message,) in world.sql("SELECT Message FROM BatchProcessHistory")}
    assert said == "wrong number of rows: 9, and has to be 10 to 20 (the newest on Monday to Friday: none)"
    assert world.sql("SELECT DISTINCT ErrorCode, RowsAffected FROM BatchProcessHistory") == [("rows", 9)]

    world.sql("UPDATE ProcessControl SET RetryOn = '1-5' WHERE ProcessControlSeq = 10")
    rows(world, None, "batchctl-rows: 21")
    assert world.history()[-1] == (2, 10, 1, "auto", "failed")
    rows(world, None, "batchctl-rows: 20")
    assert world.statuses() == ["failed", "failed", "complete"]
    assert world.one("SELECT max(RowsAffected) FROM BatchProcessHistory WHERE BatchControl_id = 3") == 20
    assert broken(world) == set()


def test_a_step_learns_from_runs_on_days_like_it_and_warns(world: World) -> None:
    batch_id = world.batch(steps=0)
    world.step(batch_id, 10, RowsMin="learned", RowsMax="Learned", OnRows="Warn")
    for number in (100, 101, 99, 102, 98, 100, 103, 97, 100):
        rows(world, number)
    rows(world, 100_000)
    assert world.one("SELECT count(*) FROM BatchProcessHistory WHERE Message IS NOT NULL") == 0

    rows(world, 50)
    assert set(world.statuses()) == {"complete"}
    (said,) = world.sql("SELECT Message FROM BatchProcessHistory WHERE Message IS NOT NULL")[0]
    assert said == (
        "unusual number of rows: 50, and has to be 90 to 110, learned from 10 runs on Monday to Friday"
        " (the newest on Monday to Friday: 100000, 100, 97, 103, 100)"
    )
    alarm = Alarm(world)
    (told,) = alarm.announced()
    assert told.startswith("[WARNING] B: Step 10 'step 10' of BatchControl 11: number of rows 50, and has to be 90 to")
    assert alarm.announced() == []
    rows(world, 100)
    assert [said.partition(" ")[0] for said in alarm.announced()] == ["[OVER]"]
    (state,) = inspection.show(world.transactions, InstanceId(12)).steps
    assert state.rows is not None
    assert "learned from 12 runs on Monday to Friday" in state.rows


def test_what_runs_on_a_weekend_says_nothing_of_a_business_day(world: World) -> None:
    batch_id = world.batch(steps=0)
    world.step(batch_id, 10, RowsMin="learned")
    for _ in range(10):
        rows(world, 100)
    world.submit(CycleKey="2026-11-28")
    world.runner.script = lambda rendered: StepOutcome(succeeded=True, rows_affected=1)
    world.create()
    world.process()

    assert world.statuses()[-1] == "complete"
    rows(world, 1)
    assert world.statuses()[-1] == "failed"
