"""Steps that ask people: the instance waits without a claim, and goes on, fails or stands as it is answered."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest

from batchctl.control.maintenance.purge import Purge
from batchctl.control.operators.answer_times import AnswerTimes
from batchctl.domain.errors import Refused
from batchctl.domain.outcomes import Asks, Rendered, StepOutcome
from batchctl.domain.rows import InstanceId
from batchctl.domain.status import OnTimeout
from batchctl.operations.intervene import Operator
from batchctl.operations.maintenance import fsck
from tests.control.alarm import Alarm
from tests.control.world import BAD, OK, RUNS_ON, World

ONE = InstanceId(1)
STANDS = "SELECT Status, PrevProcessControlSeq, ClaimedBy FROM BatchControl ORDER BY BatchControl_id"
QUESTIONS = "SELECT ProcessControlSeq, Answer, AnsweredBy, Reason FROM Confirmation ORDER BY Confirmation_id"
ATTEMPTS = "SELECT Status, Message, Output FROM BatchProcessHistory WHERE ProcessControlSeq = 20 ORDER BY AttemptNo"


def asks(who: str | None = None, hours: float | None = None, then: OnTimeout | None = None) -> StepOutcome:
    """Return what a step reports that asks whether the file is right."""
    wait = None if hours is None else timedelta(hours=hours)
    return StepOutcome(succeeded=False, message="is it right?", output="a\n1", asks=Asks(who, wait, then))


def month(world: World, outcome: StepOutcome, *, steps: int = 3, **columns: object) -> None:
    """Walk an instance of a batch to its second step, which asks."""

    def script(rendered: Rendered) -> StepOutcome:
        return outcome if rendered.command_text.startswith("step 20 ") else OK

    world.runner.script = script
    batch_id = world.batch(steps=0, RetryCount=2)
    for seq in range(10, 10 * steps + 1, 10):
        given = {"ProcessType": "confirm", **columns} if seq == 20 else {}
        world.step(batch_id, seq, **given)
    world.submit()
    world.create()
    world.process()


def person(world: World, user: str = "anna") -> Operator:
    return Operator(
        transactions=world.transactions,
        clock=world.clock,
        user=user,
        host="host1",
        preparer=world.recorder().preparer,
    )


def times(world: World) -> AnswerTimes:
    by_itself = person(world, "batchctl")
    return AnswerTimes(world.transactions, world.clock, world.events.append, by_itself.end_unanswered)


def broken(world: World) -> set[str]:
    return {one.code for one in fsck.examine(world.transactions, world.clock, settled_after=timedelta(0))}


def test_the_instance_waits_without_a_claim_and_nothing_behind_the_question_begins(world: World) -> None:
    month(world, asks("anna, bob", 4, OnTimeout.FAIL))

    assert world.sql(STANDS) == [("paused", 10, None)]
    assert world.sql("SELECT Question, Who, Evidence, OnTimeout FROM Confirmation") == [
        ("is it right?", "anna, bob", "a\n1", "fail")
    ]
    assert world.sql(ATTEMPTS) == [("asked", "is it right?", "a\n1")]
    world.crash()
    world.recover()
    world.process()
    assert world.sql(STANDS) == [("paused", 10, None)]
    assert world.one("SELECT count(*) FROM Confirmation") == 1
    assert broken(world) == set()


def test_confirmed_it_goes_on_behind_the_step_and_the_history_tells_who_and_what_was_seen(world: World) -> None:
    month(world, asks())
    person(world).confirm(ONE, reason="counted twice")

    assert world.sql(STANDS) == [("ready", 20, None)]
    world.process()
    assert world.statuses() == ["complete"]
    said = "confirmed by anna@host1: counted twice"
    assert world.sql(ATTEMPTS) == [("success", said, f"{said}\nasked: is it right?\na\n1")]
    assert world.sql(QUESTIONS) == [(20, "confirmed", "anna@host1", "counted twice")]
    assert world.one("SELECT count(*) FROM AuditLog WHERE Action = 'confirm' AND Target = 'BatchControl:1'") == 1
    assert broken(world) == set()


def test_confirmed_at_its_last_step_the_instance_is_complete(world: World) -> None:
    month(world, asks(), steps=2)
    person(world).confirm(ONE)

    assert world.statuses() == ["complete"]
    assert world.one("SELECT Status FROM FileProcess") == "complete"
    assert broken(world) == set()


def test_refused_the_step_has_failed_without_a_retry(world: World) -> None:
    month(world, asks())
    person(world).refuse(ONE, reason="half is missing")

    assert world.sql(STANDS) == [("failed", 10, None)]
    assert world.sql(ATTEMPTS)[0][:2] == ("failed", "refused by anna@host1: half is missing")
    world.clock.advance(timedelta(days=1))
    world.process()
    assert world.statuses() == ["failed"]
    assert broken(world) == set()


def test_refused_the_instance_goes_on_where_the_step_says_so(world: World) -> None:
    month(world, asks(), OnStepFailure="continue")
    person(world).refuse(ONE, reason="half is missing")
    world.process()

    assert world.sql("SELECT Status, PrevProcessControlSeq, StepsFailed FROM BatchControl") == [("complete", 30, 1)]
    assert broken(world) == set()


def test_a_failed_look_at_what_is_to_be_shown_is_tried_again_and_then_asked(world: World) -> None:
    outcomes = iter([BAD, asks()])
    month(world, OK, steps=1)
    world.runner.script = lambda rendered: next(outcomes) if rendered.command_text.startswith("step 20 ") else OK
    world.step(1, 20, ProcessType="confirm")
    world.submit()
    world.create()
    world.process()
    assert world.statuses() == ["complete", "retry"]
    world.clock.advance(timedelta(minutes=5))
    world.process()
    person(world).confirm(InstanceId(2))

    assert world.statuses() == ["complete", "complete"]
    assert broken(world) == set()


def test_only_those_whom_the_question_names_may_answer(world: World) -> None:
    month(world, asks("Anna, bob"))
    with pytest.raises(Refused, match=r"is for Anna, bob, not for carl") as refused:
        person(world, "carl").refuse(ONE, reason="no")

    assert "let one of them type: batchctl confirm 1 " in (refused.value.next_step or "")
    person(world, "ANNA").confirm(ONE)
    assert world.sql(QUESTIONS) == [(20, "confirmed", "ANNA@host1", None)]


def test_a_second_answer_is_told_who_gave_the_first(world: World) -> None:
    month(world, asks())
    person(world).confirm(ONE, reason="fine")
    with pytest.raises(Refused, match=r"was answered: confirmed by anna@host1 at .* UTC: fine"):
        person(world, "bob").refuse(ONE, reason="not fine")

    assert world.sql(QUESTIONS) == [(20, "confirmed", "anna@host1", "fine")]
    assert world.sql(STANDS) == [("ready", 20, None)]


def test_what_asks_nothing_cannot_be_answered(world: World) -> None:
    world.batch()
    world.submit()
    world.create()
    with pytest.raises(Refused, match="BatchControl 1 is ready and asks nothing"):
        person(world).confirm(ONE)


@pytest.mark.parametrize(
    ("then", "stands", "attempt"),
    [
        (OnTimeout.FAIL, "failed", ("failed", "expired: no one answered in time, so the step has failed")),
        (OnTimeout.GO_ON, "ready", ("success", "expired: no one answered in time, so it went on")),
    ],
)
def test_when_its_time_is_over_a_question_ends_as_it_says(
    world: World, then: OnTimeout, stands: str, attempt: tuple[str, str]
) -> None:
    month(world, asks(None, 4, then))
    world.clock.advance(timedelta(hours=3, minutes=59))
    times(world).look()
    assert world.statuses() == ["paused"]
    world.clock.advance(timedelta(minutes=2))
    times(world).look()

    assert world.statuses() == [stands]
    assert world.sql(ATTEMPTS)[0][:2] == attempt
    assert world.sql(QUESTIONS) == [(20, "expired", "batchctl", None)]
    assert world.one("SELECT count(*) FROM AuditLog WHERE Target = 'BatchControl:1'") == 0
    assert broken(world) == set()


def test_a_question_whose_time_opens_an_incident_stays_open(world: World) -> None:
    month(world, asks(None, 4, OnTimeout.INCIDENT))
    world.clock.advance(timedelta(hours=5))
    times(world).look()

    assert world.sql(QUESTIONS) == [(20, None, None, None)]
    person(world).confirm(ONE)
    assert world.sql(STANDS) == [("ready", 20, None)]


WITHDRAWALS: list[tuple[str, Callable[[Operator], object], str, int]] = [
    ("cancel", lambda one: one.cancel(ONE, reason="given up"), "cancelled", 10),
    ("skip", lambda one: one.skip(ONE, reason="known"), "ready", 20),
    ("rerun", lambda one: one.rerun(ONE, reason="again"), "ready", 10),
    ("rerun", lambda one: one.rerun(ONE, reason="all again", from_seq=10), "ready", 0),
]


@pytest.mark.parametrize(("action", "act", "stands", "seq"), WITHDRAWALS)
def test_what_people_do_instead_withdraws_the_question(
    world: World, action: str, act: Callable[[Operator], object], stands: str, seq: int
) -> None:
    month(world, asks())
    act(person(world))

    assert world.sql(STANDS) == [(stands, seq, None)]
    assert [row[:3] for row in world.sql(QUESTIONS)] == [(20, "withdrawn", "anna@host1")]
    assert world.sql(ATTEMPTS)[0][0] == "cancelled"
    assert world.sql(ATTEMPTS)[0][1].startswith(f"the question was withdrawn: {action} by anna@host1")
    with pytest.raises(Refused, match="withdrawn by anna@host1"):
        person(world, "bob").confirm(ONE)
    assert broken(world) == set()


def test_run_again_it_asks_again(world: World) -> None:
    month(world, asks())
    person(world).rerun(ONE, reason="the file came again")
    world.process()

    assert [row[1] for row in world.sql(QUESTIONS)] == ["withdrawn", None]
    assert [row[0] for row in world.sql(ATTEMPTS)] == ["cancelled", "asked"]
    person(world).confirm(ONE)
    world.process()
    assert world.statuses() == ["complete"]
    assert broken(world) == set()


@pytest.mark.parametrize("action", ["resume", "pause"])
def test_nothing_passes_over_the_question_unasked(world: World, action: str) -> None:
    month(world, asks())
    with pytest.raises(Refused, match=r"BatchControl 1 waits for an answer: 'is it right\?'") as refused:
        getattr(person(world), action)(ONE)

    assert refused.value.next_step == "batchctl confirm 1   (or: batchctl refuse 1 --reason ...)"
    assert world.sql(QUESTIONS) == [(20, None, None, None)]


def test_what_is_cancelled_while_it_looks_asks_nothing(world: World) -> None:
    month(world, OK, steps=1)
    world.step(1, 20, ProcessType="confirm")
    world.runner.script = lambda rendered: RUNS_ON
    world.submit()
    world.create()
    world.sql("UPDATE BatchControl SET PrevProcessControlSeq = 10 WHERE BatchControl_id = 2")
    controller = world.process()
    world.sql("UPDATE BatchControl SET Status = 'cancelling' WHERE BatchControl_id = 2")
    (key,) = world.runner.open
    world.runner.end(key, asks())
    world.runner.stops_at_once = False
    world.turn_until_idle(controller)

    assert world.statuses() == ["complete", "cancelled"]
    assert world.one("SELECT count(*) FROM Confirmation") == 0
    assert world.sql(ATTEMPTS)[0][0] == "cancelled"


def test_set_ready_by_hand_it_asks_again_and_the_old_question_is_withdrawn(world: World) -> None:
    month(world, asks())
    world.sql("UPDATE BatchControl SET Status = 'ready'")
    world.process()

    assert world.statuses() == ["paused"]
    assert [row[1] for row in world.sql(QUESTIONS)] == ["withdrawn", None]
    assert [row[0] for row in world.sql(ATTEMPTS)] == ["cancelled", "asked"]


def test_a_question_that_no_instance_waits_with_any_more_is_withdrawn(world: World) -> None:
    month(world, asks())
    world.sql("UPDATE BatchControl SET Status = 'failed'")
    times(world).look()

    assert world.sql(QUESTIONS) == [(20, "withdrawn", "batchctl", "it was not waited for any more")]
    assert [row[0] for row in world.sql(ATTEMPTS)] == ["cancelled"]


def test_a_look_that_was_lost_is_made_again_whatever_onlost_says(world: World) -> None:
    month(world, OK, steps=1)
    world.step(1, 20, ProcessType="confirm", OnLost="hold")
    world.runner.script = lambda rendered: RUNS_ON if rendered.command_text.startswith("step 20 ") else OK
    world.submit()
    world.create()
    world.process()
    world.crash()
    world.runner.script = lambda rendered: asks()
    world.recover()
    world.process()

    assert world.statuses() == ["complete", "paused"]
    assert [row[0] for row in world.sql(ATTEMPTS)] == ["lost", "asked"]
    assert broken(world) == set()


INCIDENTS = "SELECT Kind, Severity, NextStep, ResolvedTime IS NULL FROM Incident"


def test_people_are_told_of_a_question_that_waits_too_long_until_it_is_answered(world: World) -> None:
    month(world, asks(), AlarmDuration=3600)
    alarm = Alarm(world)
    alarm.announced()
    assert world.sql(INCIDENTS) == []
    world.clock.advance(timedelta(hours=2))
    alarm.announced()

    to_type = "batchctl confirm 1   (or: batchctl refuse 1 --reason ...)"
    assert [row[:3] for row in world.sql(INCIDENTS)] == [("unanswered", "warning", to_type)]
    person(world).confirm(ONE)
    alarm.announced()
    assert world.one("SELECT count(*) FROM Incident WHERE ResolvedTime IS NOT NULL") == 1


def test_a_time_that_opens_an_incident_opens_it_once_it_is_over(world: World) -> None:
    month(world, asks(None, 1, OnTimeout.INCIDENT))
    alarm = Alarm(world)
    world.clock.advance(timedelta(minutes=59))
    alarm.announced()
    assert world.sql(INCIDENTS) == []
    world.clock.advance(timedelta(minutes=2))
    alarm.announced()

    assert [row[:2] for row in world.sql(INCIDENTS)] == [("unanswered", "error")]


def test_questions_go_with_their_instance(world: World) -> None:
    world.clock.advance(timedelta(days=3650))
    month(world, asks())
    person(world).confirm(ONE)
    world.process()
    world.sql("DELETE FROM Setting WHERE Name IN ('CompleteDays', 'KeepLast')")
    world.sql("INSERT INTO Setting (Name, Value) VALUES ('CompleteDays', '1')")
    world.sql("INSERT INTO Setting (Name, Value) VALUES ('KeepLast', '0')")
    world.clock.advance(timedelta(days=30))
    Purge(transactions=world.transactions, clock=world.clock, actor="anna", host="h", patient=True).everything("old")

    assert world.one("SELECT count(*) FROM BatchControl") == 0
    assert world.one("SELECT count(*) FROM Confirmation") == 0


def test_a_pause_that_was_asked_for_meanwhile_comes_before_the_question(world: World) -> None:
    asked = asks(hours=1, then=OnTimeout.GO_ON)

    def script(rendered: Rendered) -> StepOutcome:
        if not rendered.command_text.startswith("step 20 "):
            return OK
        if not world.one("SELECT count(*) FROM AuditLog WHERE Action = 'pause'"):
            person(world).pause(ONE, reason="hold it")
        return asked

    world.runner.script = script
    batch_id = world.batch(steps=[10, 30])
    world.step(batch_id, 20, ProcessType="confirm")
    world.submit()
    world.create()
    world.process()

    assert world.sql(STANDS) == [("paused", 10, None)]
    assert world.sql(QUESTIONS) == []
    person(world).resume(ONE)
    world.process()
    assert world.sql(QUESTIONS) == [(20, None, None, None)]
    assert broken(world) == set()


def test_no_answer_is_taken_once_the_time_is_over(world: World) -> None:
    month(world, asks(hours=1, then=OnTimeout.FAIL))
    world.clock.advance(timedelta(hours=2))

    with pytest.raises(Refused) as late:
        person(world).confirm(ONE)

    assert "is over" in late.value.message
    times(world).finish()
    assert world.statuses() == ["failed"]


def test_a_batch_that_cannot_be_read_keeps_no_other_question_waiting(world: World) -> None:
    month(world, asks(hours=1, then=OnTimeout.FAIL))
    other = world.batch("Other", steps=0)
    world.step(other, 20, ProcessType="confirm")
    world.submit("Other")
    world.create()
    world.process()
    world.sql("UPDATE ProcessControl SET RetryOn = '1-' WHERE ProcessBatch_id = 1")
    world.clock.advance(timedelta(hours=2))
    duty = times(world)
    duty.finish()

    assert world.sql("SELECT BatchControl_id, Answer FROM Confirmation ORDER BY 1") == [(1, None), (2, "expired")]
    world.sql("UPDATE ProcessControl SET RetryOn = NULL")
    duty.finish()
    assert world.sql("SELECT Answer FROM Confirmation ORDER BY 1") == [("expired",), ("expired",)]
