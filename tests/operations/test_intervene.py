"""Every verb in every status: done and audited, or refused with the status found and what to do instead."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from batchctl.domain.errors import NotFound, Refused, StatusChanged
from batchctl.domain.outcomes import StepOutcome
from batchctl.domain.rows import InstanceId
from batchctl.domain.status import InstanceStatus
from batchctl.operations import decisions, inspection
from batchctl.operations.decisions import Action
from batchctl.operations.intervene import Intervention, Operator
from batchctl.operations.maintenance import fsck
from batchctl.store.transactions import StoreTransactions
from tests.control.world import BAD, OK, World

REASON = "the sender sent the file again"
ALLOWED: dict[tuple[str, str], str] = {
    ("rerun", "retry"): "ready",
    ("rerun", "failed"): "ready",
    ("rerun", "held"): "ready",
    ("rerun", "paused"): "ready",
    ("rerun", "cancelled"): "ready",
    ("pause", "ready"): "paused",
    ("pause", "retry"): "paused",
    ("pause", "running"): "pausing",
    ("resume", "paused"): "ready",
    ("resume", "pausing"): "running",
    ("cancel", "ready"): "cancelled",
    ("cancel", "retry"): "cancelled",
    ("cancel", "failed"): "cancelled",
    ("cancel", "held"): "cancelled",
    ("cancel", "paused"): "cancelled",
    ("cancel", "running"): "cancelling",
    ("cancel", "pausing"): "cancelling",
    ("skip", "retry"): "ready",
    ("skip", "failed"): "ready",
    ("skip", "held"): "ready",
    ("skip", "paused"): "ready",
}
EVERY = [(action.value, status.value) for action in Action if not action.is_answer for status in InstanceStatus]

Make = Callable[[str], InstanceId]
Audited = Callable[[], list[tuple[Any, ...]]]


class _Running:
    """The clock of a world in which time passes between two looks at it."""

    def __init__(self, world: World) -> None:
        self._clock = world.clock

    def now(self) -> datetime:
        now = self._clock.now()
        self._clock.advance(timedelta(milliseconds=1))
        return now

    def monotonic(self) -> float:
        return self._clock.monotonic()


def do(operator: Operator, action: str, instance_id: InstanceId) -> Intervention:
    match action:
        case "rerun":
            return operator.rerun(instance_id, reason=REASON)
        case "pause":
            return operator.pause(instance_id, reason=REASON)
        case "resume":
            return operator.resume(instance_id, reason=REASON)
        case "cancel":
            return operator.cancel(instance_id, reason=REASON)
        case _:
            return operator.skip(instance_id, reason=REASON)


@pytest.mark.parametrize(("action", "status"), ALLOWED)
def test_an_allowed_verb_moves_the_instance_and_leaves_an_audit_row(
    world: World, operator: Operator, instance_in: Make, audited: Audited, action: str, status: str
) -> None:
    done = do(operator, action, instance_in(status))

    expected = ALLOWED[action, status]
    assert world.statuses() == [expected]
    assert (done.before.status, done.after.status) == (status, expected)
    ((verb, target, actor, host, reason, before, after),) = audited()
    assert (verb, target, actor, host, reason) == (action, "BatchControl:1", "anna", "host1", REASON)
    assert before["Status"] == status
    assert after["Status"] == expected
    assert before.keys() == after.keys()


@pytest.mark.parametrize(("action", "status"), [pair for pair in EVERY if pair not in ALLOWED])
def test_a_verb_in_the_wrong_status_is_refused_and_says_what_to_do_instead(
    world: World, operator: Operator, instance_in: Make, audited: Audited, action: str, status: str
) -> None:
    instance_id = instance_in(status)

    with pytest.raises(Refused) as refused:
        do(operator, action, instance_id)

    assert status in refused.value.message
    assert "BatchControl 1 " in refused.value.message
    assert str(refused.value.next_step).startswith("batchctl ")
    assert world.statuses() == [status]
    assert audited() == []
    if (action, status) != ("rerun", "complete"):
        assert isinstance(refused.value, StatusChanged)


@pytest.mark.parametrize(("action", "status"), EVERY)
def test_a_dry_run_says_the_same_and_writes_nothing(
    world: World, dry_operator: Operator, instance_in: Make, audited: Audited, action: str, status: str
) -> None:
    instance_id = instance_in(status)
    before = world.hand.dump()

    if (action, status) in ALLOWED:
        planned = do(dry_operator, action, instance_id)
        assert planned.dry_run
        assert planned.after.status == ALLOWED[action, status]
    else:
        with pytest.raises(Refused):
            do(dry_operator, action, instance_id)

    assert world.hand.dump() == before
    assert audited() == []


def test_a_rerun_resumes_at_the_failed_step_with_all_retries(
    world: World, operator: Operator, instance_in: Make
) -> None:
    instance_in("failed")
    operator.rerun(InstanceId(1), reason=REASON)

    assert world.sql("SELECT PrevProcessControlSeq, RetryCount, LostCount, NextRunTime FROM BatchControl") == [
        (10, 2, 0, "1900-01-01 00:00:00.000")
    ]
    world.process()
    assert [(seq, cause) for _, seq, _, cause, _ in world.history()] == [(20, "auto"), (30, "auto")]
    assert world.statuses() == ["complete"]


def test_a_rerun_from_a_step_goes_back_to_the_one_before_it(
    world: World, operator: Operator, instance_in: Make
) -> None:
    instance_in("complete")
    operator.rerun(InstanceId(1), reason=REASON, from_seq=20)

    assert world.one("SELECT PrevProcessControlSeq FROM BatchControl") == 10
    assert world.one("SELECT Status FROM FileProcess") == "ready"
    world.process()
    assert world.one("SELECT Status FROM FileProcess") == "complete"


def test_a_rerun_from_the_first_step_begins_at_the_beginning(
    world: World, operator: Operator, instance_in: Make
) -> None:
    instance_in("failed")
    operator.rerun(InstanceId(1), reason=REASON, from_seq=10)

    assert world.one("SELECT PrevProcessControlSeq FROM BatchControl") == 0


def test_a_step_that_does_not_exist_is_refused_with_the_steps_there_are(operator: Operator, instance_in: Make) -> None:
    instance_in("failed")

    with pytest.raises(NotFound, match=r"no step 15. Its steps: 10 'step 10', 20 'step 20'"):
        operator.rerun(InstanceId(1), reason=REASON, from_seq=15)


def test_corrected_values_are_written_and_the_old_ones_are_kept_in_the_audit_log(
    world: World, operator: Operator, instance_in: Make, audited: Audited
) -> None:
    instance_in("failed")
    operator.rerun(InstanceId(1), reason=REASON, corrections={"Data1": "new", "Data3": "2026-11-01"})

    assert world.sql("SELECT Data1, Data2, Data3 FROM BatchControl") == [("new", None, "2026-11-01")]
    ((*_, before, after),) = audited()
    assert (before["Data1"], before["Data3"]) == ("f", None)
    assert (after["Data1"], after["Data3"]) == ("new", "2026-11-01")
    assert "Data2" not in before


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [("Data7", "x", "Data1 to Data6"), ("Data1", "a\x00b", "NUL"), ("Data1", "\udcff", "UTF-8")],
)
def test_a_correction_no_row_can_hold_is_refused(
    world: World, operator: Operator, instance_in: Make, name: str, value: str, reason: str
) -> None:
    instance_in("failed")

    with pytest.raises(Refused, match=reason):
        operator.rerun(InstanceId(1), reason=REASON, corrections={name: value})

    assert world.statuses() == ["failed"]


def test_a_dry_rerun_shows_the_commands_with_the_corrected_values(dry_operator: Operator, instance_in: Make) -> None:
    instance_in("failed")
    planned = dry_operator.rerun(InstanceId(1), reason=REASON, corrections={"Data1": "new"})

    assert [(command.seq, command.text, command.refused) for command in planned.commands] == [
        (20, "step 20 of 1 with new", None),
        (30, "step 30 of 1 with new", None),
    ]


def test_a_dry_run_shows_why_a_step_cannot_run(world: World, dry_operator: Operator, instance_in: Make) -> None:
    instance_in("paused")
    world.sql("UPDATE ProcessControl SET ProcessType = 'nonsense' WHERE ProcessControlSeq = 30")
    planned = dry_operator.resume(InstanceId(1))

    assert planned.commands[0].refused is None
    assert "nonsense" in str(planned.commands[1].refused)


def test_a_retry_that_was_paused_resumes_as_a_retry_and_is_due_as_before(world: World, operator: Operator) -> None:
    world.runner.script = lambda rendered: BAD
    world.batch(RetryCount=3)
    world.submit()
    world.create()
    world.process()
    due = world.one("SELECT NextRunTime FROM BatchControl")

    operator.pause(InstanceId(1))
    operator.resume(InstanceId(1))

    assert world.sql("SELECT Status, NextRunTime, RetryCount FROM BatchControl") == [("retry", due, 2)]
    world.runner.script = lambda rendered: OK
    world.clock.advance(timedelta(minutes=6))
    world.process()
    assert world.statuses() == ["complete"]
    assert (1, 10, 2, "retry", "success") in world.history()


def test_what_was_given_a_time_is_told_by_rerun_not_to_wait_for_it(
    world: World, operator: Operator, instance_in: Make
) -> None:
    at = instance_in("ready")
    world.sql("UPDATE BatchControl SET NextRunTime = '2099-01-01 00:00:00.000'")
    assert "'rerun', 1" in str(world.one("SELECT NextSql FROM vWaiting"))

    operator.rerun(at, reason=REASON)
    world.process()

    assert world.statuses() == ["complete"]


def test_what_was_never_tried_does_not_resume_as_a_retry(world: World, operator: Operator, instance_in: Make) -> None:
    at = instance_in("ready")
    world.sql("UPDATE ProcessBatch SET OnFailure = 'stop_all'")
    world.sql("UPDATE BatchControl SET NextRunTime = '2099-01-01 00:00:00.000'")

    operator.pause(at)
    operator.resume(at)

    assert world.statuses() == ["ready"]
    world.batch("Other", steps=1)
    world.submit("Other")
    world.create()
    world.process()
    assert world.statuses() == ["ready", "complete"]


def test_a_pause_of_a_running_instance_waits_for_its_step(world: World, operator: Operator) -> None:
    world.runner.script = lambda rendered: None
    world.batch(steps=2)
    world.submit()
    world.create()
    controller = world.process()
    operator.pause(InstanceId(1))
    assert world.statuses() == ["pausing"]

    world.runner.end(world.runner.started[0], OK)
    world.turn_until_idle(controller)

    assert world.statuses() == ["paused"]
    assert world.one("SELECT PrevProcessControlSeq FROM BatchControl") == 10


def test_a_step_under_way_is_not_foreseen_as_another_attempt(
    world: World, operator: Operator, dry_operator: Operator
) -> None:
    world.runner.script = lambda rendered: None
    world.batch(steps=2)
    world.submit()
    world.create()
    world.process()
    operator.pause(InstanceId(1))

    planned = dry_operator.resume(InstanceId(1))

    assert planned.under_way is not None
    assert planned.under_way.seq == 10
    assert [one.seq for one in planned.commands] == [20]


def test_what_is_possible_is_what_is_not_refused(
    world: World, dry_operator: Operator, instance_in: Make, anywhere: StoreTransactions
) -> None:
    at = instance_in("ready")
    for status in InstanceStatus:
        world.sql("UPDATE BatchControl SET Status = ?", status.value)
        possible = decisions.possible(inspection.show(anywhere, at).instance, is_asked=False)
        if status is not InstanceStatus.COMPLETE:
            assert {str(action) for action in possible} == {verb for verb, found in ALLOWED if found == status}
    world.sql("UPDATE BatchControl SET Status = 'ready', NextRunTime = '2099-01-01 00:00:00.000'")
    assert Action.RERUN in decisions.possible(inspection.show(anywhere, at).instance, is_asked=False)


def test_a_cancel_of_a_running_instance_stops_its_step(world: World, operator: Operator) -> None:
    world.runner.script = lambda rendered: None
    world.batch(steps=2)
    world.submit()
    world.create()
    controller = world.process()
    operator.cancel(InstanceId(1), reason=REASON)
    world.turn_until_idle(controller)

    assert world.runner.stopped == world.runner.started
    assert world.statuses() == ["cancelled"]
    assert world.history() == [(1, 10, 1, "auto", "cancelled")]


def test_a_skipped_step_stands_in_the_history_with_who_and_why(
    world: World, operator: Operator, instance_in: Make
) -> None:
    instance_in("failed")
    operator.skip(InstanceId(1), reason="done by hand\nlast night")

    assert world.sql("SELECT PrevProcessControlSeq, RetryCount, LostCount FROM BatchControl") == [(20, 2, 0)]
    assert world.sql(
        "SELECT ProcessControlSeq, AttemptNo, Cause, Status, CommandText FROM BatchProcessHistory WHERE EndTime = StartTime"
    ) == [(20, 1, "manual", "skipped", "-- not run: skipped by anna on host1: done by hand\\nlast night")]
    world.process()
    assert world.history() == [(1, 20, 1, "manual", "skipped"), (1, 30, 1, "auto", "success")]


def test_what_follows_a_skipped_step_begins_not_before_it(world: World, operator: Operator, instance_in: Make) -> None:
    """The controller's clock may lag behind the one of the person, and hers behind that of another controller."""
    instance_in("failed")
    world.sql(
        "UPDATE BatchControl SET z_updated = ?", f"{world.clock.now() + timedelta(seconds=3):%Y-%m-%d %H:%M:%S}.000"
    )
    replace(operator, clock=_Running(world)).skip(InstanceId(1), reason=REASON)
    ((moved, skipped, ended),) = world.sql(
        "SELECT c.z_updated, h.StartTime, h.EndTime FROM BatchControl c JOIN BatchProcessHistory h"
        " ON h.BatchControl_id = c.BatchControl_id WHERE h.Status = 'skipped'"
    )
    world.process()

    assert skipped == ended <= moved
    assert world.sql("SELECT StartTime FROM BatchProcessHistory WHERE ProcessControlSeq = 30") == [(moved,)]
    assert fsck.examine(world.transactions, world.clock, settled_after=timedelta(0)) == ()


def test_steps_that_a_rerun_passes_over_stand_in_the_history_as_skipped(
    world: World, operator: Operator, dry_operator: Operator
) -> None:
    """What a verb allows, fsck does not call broken."""
    world.batch(steps=3)
    world.sql("UPDATE ProcessControl SET z_inserted = '2026-11-01 00:00:00'")  # before the world's clock
    world.runner.script = lambda rendered: BAD
    world.submit()
    world.create()
    world.process()
    planned = dry_operator.rerun(InstanceId(1), reason=REASON, from_seq=30)
    done = operator.rerun(InstanceId(1), reason=REASON, from_seq=30)
    world.runner.script = lambda rendered: OK
    world.process()

    assert [step.seq for step in planned.skipped] == [step.seq for step in done.skipped] == [10, 20]
    assert world.statuses() == ["complete"]
    assert world.history() == [
        (1, 10, 1, "auto", "failed"),
        (1, 10, 2, "manual", "skipped"),
        (1, 20, 1, "manual", "skipped"),
        (1, 30, 1, "auto", "success"),
    ]
    assert fsck.examine(world.transactions, world.clock, settled_after=timedelta(0)) == ()


def test_skipping_the_last_step_completes_the_instance_and_its_row(
    world: World, operator: Operator, instance_in: Make
) -> None:
    instance_in("held")
    operator.skip(InstanceId(1), reason=REASON)
    world.sql("UPDATE BatchControl SET Status = 'failed'")
    done = operator.skip(InstanceId(1), reason=REASON)

    assert done.after.status is InstanceStatus.COMPLETE
    assert world.statuses() == ["complete"]
    assert world.one("SELECT Status FROM FileProcess") == "complete"


def test_an_instance_without_a_step_left_has_nothing_to_skip(
    world: World, operator: Operator, instance_in: Make
) -> None:
    instance_in("failed")
    world.sql("DELETE FROM ProcessControl WHERE ProcessControlSeq > 10")

    with pytest.raises(Refused, match="no step left"):
        operator.skip(InstanceId(1), reason=REASON)


def test_cancelling_the_last_open_instance_of_a_row_completes_the_row_if_another_one_did(
    world: World, operator: Operator
) -> None:
    world.runner.script = lambda rendered: BAD if "of 2 " in rendered.command_text else OK
    world.batch("one", Entity="E")
    world.batch("two", Entity="E")
    world.submit("E")
    world.create()
    world.process()
    assert world.statuses() == ["complete", "failed"]
    assert world.one("SELECT Status FROM FileProcess") == "ready"

    operator.cancel(InstanceId(2), reason=REASON)

    assert world.one("SELECT Status FROM FileProcess") == "complete"


def test_an_instance_that_does_not_exist_is_not_found(operator: Operator) -> None:
    with pytest.raises(NotFound, match="no BatchControl 99"):
        operator.cancel(InstanceId(99), reason=REASON)


@pytest.mark.parametrize(("reason", "said"), [(" ", "empty"), ("a\x00", "NUL")])
def test_a_reason_nobody_can_read_is_refused(operator: Operator, instance_in: Make, reason: str, said: str) -> None:
    with pytest.raises(Refused, match=said):
        operator.cancel(instance_in("failed"), reason=reason)


def test_a_batch_is_switched_off_and_on_and_stays_so_when_asked_again(
    world: World, operator: Operator, audited: Audited
) -> None:
    world.batch("Loads")
    operator.set_enabled("Loads", enabled=False, reason="maintenance")
    operator.set_enabled("Loads", enabled=False)
    assert world.one("SELECT Enabled FROM ProcessBatch") == 0

    operator.set_enabled("Loads", enabled=True)

    assert world.one("SELECT Enabled FROM ProcessBatch") == 1
    assert audited() == [
        ("disable", "ProcessBatch:Loads", "anna", "host1", "maintenance", {"Enabled": 1}, {"Enabled": 0}),
        ("enable", "ProcessBatch:Loads", "anna", "host1", None, {"Enabled": 0}, {"Enabled": 1}),
    ]


def test_switching_a_batch_dry_writes_nothing(world: World, dry_operator: Operator, audited: Audited) -> None:
    world.batch("Loads")
    planned = dry_operator.set_enabled("Loads", enabled=False)

    assert (planned.enabled_before, planned.enabled, planned.dry_run) == (True, False, True)
    assert world.one("SELECT Enabled FROM ProcessBatch") == 1
    assert audited() == []


def test_a_batch_name_that_is_mistyped_brings_up_the_right_one(world: World, operator: Operator) -> None:
    world.batch("MyFileType1")

    with pytest.raises(NotFound, match="Did you mean 'MyFileType1'"):
        operator.set_enabled("MyFileTyp1", enabled=False)


def test_a_batch_name_as_long_as_the_column_allows_can_be_audited(
    world: World, operator: Operator, audited: Audited
) -> None:
    world.batch("B" * 200)
    operator.set_enabled("B" * 200, enabled=False)

    assert len(audited()) == 1


def test_a_rerun_lets_the_instances_behind_it_go_on(world: World, operator: Operator) -> None:
    outcomes = iter([BAD])
    world.runner.script = lambda rendered: next(outcomes, StepOutcome(succeeded=True))
    world.batch(steps=1)
    for number in range(3):
        world.submit(file_name=str(number))
    world.create()
    world.process()
    assert world.statuses() == ["failed", "ready", "ready"]

    operator.rerun(InstanceId(1), reason=REASON)
    world.process()

    assert world.statuses() == ["complete"] * 3
    assert world.history()[1] == (1, 10, 2, "manual", "success")


@pytest.mark.parametrize(
    ("seq", "text", "from_seq", "unused"),
    [
        (40, "{Data1}", None, ("Data3",)),
        (40, "{{Data1}}", None, ("Data1", "Data3")),
        (40, "file:load.sql", None, ()),
        (40, "{nonsense}", None, ()),
        (5, "{Data1} {Data3}", None, ("Data1", "Data3")),
        (5, "{Data1} {Data3}", 5, ()),
    ],
)
def test_corrected_values_that_no_step_left_uses_are_told(
    world: World,
    operator: Operator,
    instance_in: Make,
    seq: int,
    text: str,
    from_seq: int | None,
    unused: tuple[str, ...],
) -> None:
    instance_in("failed")
    world.step(1, seq, Data2=text)

    values = {"Data1": "new", "Data3": "2026-11-01"}
    done = operator.rerun(InstanceId(1), reason=REASON, from_seq=from_seq, corrections=values)

    assert done.unused == unused
