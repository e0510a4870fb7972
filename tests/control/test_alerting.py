"""People are told of problems: once, again until somebody knows, and once that it is over, however many controllers there are."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from batchctl.control.alerting import incident_search, step_past
from batchctl.control.alerting.outbox import PAGE
from batchctl.control.maintenance.purge import Purge
from batchctl.control.operators.answering import Answering
from batchctl.domain.alerting.alerts import Audience
from batchctl.domain.alerting.incident_causes import Norms
from batchctl.domain.alerting.incidents import Policy
from batchctl.domain.errors import Conflict, NotFound, Refused
from batchctl.domain.outcomes import StepOutcome
from batchctl.domain.rows import InstanceId
from batchctl.operations.alerting.incident_desk import IncidentDesk, Which
from batchctl.operations.maintenance import disposal
from batchctl.operations.requested import Proxy
from batchctl.store.alerting import alert_deliveries, evidence, incident_rows
from tests.control.alarm import Alarm, rules
from tests.control.world import BAD, OK, ZONE, World

TWO = rules(channels=[Audience(name="mail"), Audience(name="chat")])
HALF_AN_HOUR = timedelta(minutes=30)
INCIDENTS = "SELECT Kind, Status, Occurrences, AlertsMade FROM Incident ORDER BY Incident_id"


def fail(world: World, message: str = "it broke", many: int = 1) -> None:
    """Let instances fail."""
    world.runner.script = lambda rendered: StepOutcome(succeeded=False, message=message, output="the last line")
    for _ in range(many):
        world.submit()
    world.create()
    world.process()


@pytest.fixture
def failed(world: World) -> World:
    """Instance 1 has failed at its first step."""
    world.batch(OnFailure="continue")
    fail(world)
    return world


def mend(world: World) -> None:
    """Run everything that has failed again, with success."""
    world.sql("UPDATE BatchControl SET Status = 'ready' WHERE Status IN ('failed', 'held')")
    world.runner.script = lambda rendered: OK
    world.process()


def test_one_message_repeats_until_acknowledged_and_one_that_it_is_over(failed: World) -> None:
    alarm = Alarm(failed)
    title = "B: BatchControl 1 has failed at step 10 'step 10': it broke"

    assert alarm.announced() == [f"[ERROR] {title}"]
    assert alarm.announced() == []
    failed.clock.advance(HALF_AN_HOUR)
    assert alarm.announced() == [f"[STILL] {title}"]
    failed.sql(
        "INSERT INTO OperatorRequest (Action, Arguments, Reason) VALUES ('acknowledge', '{\"incident\": 1}', 'mine')"
    )
    answering(failed).finish()
    failed.clock.advance(10 * HALF_AN_HOUR)
    assert alarm.announced() == []
    mend(failed)
    assert alarm.announced() == [f"[OVER] {title}"]
    assert alarm.announced() == []
    assert failed.sql(INCIDENTS) == [("failed", "resolved", 1, 2)]


def answering(world: World, alarm: Alarm | None = None) -> Answering:
    proxy = Proxy(world.clock, world.recorder().preparer, ZONE)
    review = (lambda: None) if alarm is None else alarm.duty.review
    means = world.transactions, world.clock, world.events.append
    return Answering(*means, proxy.carry_out, "c1", review=review)


def test_who_asks_about_an_instance_that_has_just_failed_is_answered_about_its_incident(failed: World) -> None:
    asking = "INSERT INTO OperatorRequest (Action, BatchControl_id, Reason) VALUES ('Acknowledge ', 1, 'mine')"
    failed.sql(asking)
    answering(failed, Alarm(failed)).look()

    assert failed.sql("SELECT Status, AcknowledgedBy IS NOT NULL FROM Incident") == [("acknowledged", 1)]
    assert failed.one("SELECT Status FROM OperatorRequest") == "done"


def test_a_command_about_an_instance_that_has_just_failed_finds_its_incident_too(failed: World) -> None:
    fail(failed, "it broke otherwise")
    notice = Alarm(failed).duty.watch.look_at
    means = failed.transactions, failed.clock
    desk = IncidentDesk(transactions=means[0], clock=means[1], user="anna", host="host1", notice=notice)
    for _ in range(2):
        desk.acknowledge(Which(instance_id=InstanceId(1)), reason="mine")

    assert failed.sql("SELECT BatchControl_id, Status FROM Incident") == [(1, "acknowledged")]
    with pytest.raises(NotFound):
        desk.acknowledge(Which(instance_id=InstanceId(3)), reason="mine")


def test_nothing_is_the_matter_and_nothing_is_written(world: World) -> None:
    world.batch()
    world.submit()
    world.create()
    world.process()
    alarm = Alarm(world)

    assert alarm.announced() == []
    assert world.sql("SELECT * FROM Incident") == []


def test_without_channels_no_message_is_looked_for_and_incidents_are_written(
    failed: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    # SQL Server refuses to fetch no row at all (error 10744).
    plainly, limits = alert_deliveries.newest, list[int]()

    def newest(connection: Any, most: int) -> list[alert_deliveries.Delivery]:
        limits.append(most)
        return plainly(connection, most)

    monkeypatch.setattr(alert_deliveries, "newest", newest)
    Alarm(failed, rules(channels=[])).announced()

    assert failed.sql("SELECT count(*) FROM Incident") == [(1,)]
    assert [limit for limit in limits if limit < 1] == []


def test_what_is_set_by_hand_is_told_too(world: World) -> None:
    world.batch(OnFailure="continue")
    for _ in range(2):
        world.submit()
    world.create()
    world.sql("UPDATE BatchControl SET Status = 'failed' WHERE BatchControl_id = 1")
    world.sql("UPDATE BatchControl SET Status = 'HELD' WHERE BatchControl_id = 2")

    assert [said.partition(":")[2] for said in Alarm(world).announced()] == [
        " BatchControl 1 has failed at step 10 'step 10': no reason was given: Status was set to failed by hand",
        " BatchControl 2 is held at step 10 'step 10': no reason was given: Status was set to held by hand",
    ]


def test_a_step_inserted_before_the_one_that_failed_changes_nothing_about_the_incident(world: World) -> None:
    batch = world.batch(steps=2)
    results = iter((OK, BAD))
    world.runner.script = lambda rendered: next(results)
    world.submit()
    world.create()
    world.process()
    alarm = Alarm(world)
    first = alarm.announced()
    assert [said.partition(": it")[0] for said in first] == [
        "[ERROR] B: BatchControl 1 has failed at step 20 'step 20'"
    ]

    world.step(batch, 15)
    world.clock.advance(incident_search.SOMETIMES)
    assert alarm.announced() == []
    assert Alarm(world).announced() == []
    assert world.sql("SELECT ProcessControlSeq, Status FROM Incident") == [(20, "open")]


def test_the_same_error_of_many_is_one_incident_and_another_error_is_another(failed: World) -> None:
    fail(failed, "it broke", 3)
    alarm = Alarm(failed)
    assert len(alarm.announced()) == 1
    fail(failed, "the disk is full", 1)

    (second,) = alarm.announced()
    assert second.endswith("the disk is full")
    assert [row[0] for row in failed.sql(INCIDENTS)] == ["failed", "failed"]


def test_one_more_of_the_same_is_counted_and_wakes_nobody_anew(failed: World) -> None:
    alarm = Alarm(failed)
    alarm.announced()
    fail(failed)

    assert alarm.announced() == []
    assert failed.sql(INCIDENTS) == [("failed", "open", 2, 1)]


def test_it_is_not_over_while_it_is_run_again_nor_is_anybody_reminded(failed: World) -> None:
    alarm = Alarm(failed)
    alarm.announced()
    failed.sql("UPDATE BatchControl SET Status = 'ready'")
    failed.clock.advance(2 * HALF_AN_HOUR)
    assert alarm.announced() == []
    failed.process()

    assert [said.partition(" ")[0] for said in alarm.announced()] == ["[STILL]"]
    assert failed.sql(INCIDENTS) == [("failed", "open", 2, 2)]


def test_of_many_that_failed_alike_it_is_over_when_the_last_is_past_the_step(failed: World) -> None:
    fail(failed, "it broke", 2)
    alarm = Alarm(failed)
    alarm.announced()
    failed.sql("UPDATE BatchControl SET Status = 'ready'")
    failed.sql("UPDATE BatchControl SET Status = 'paused' WHERE BatchControl_id = 1")
    failed.runner.script = lambda rendered: OK
    failed.process()

    assert failed.statuses() == ["paused", "complete", "complete"]
    failed.clock.advance(2 * HALF_AN_HOUR)
    assert Alarm(failed).announced() == [], "also to who begins now"
    failed.sql("UPDATE BatchControl SET Status = 'ready' WHERE Status = 'paused'")
    failed.process()
    assert [said.partition(" ")[0] for said in alarm.announced()] == ["[OVER]"]
    assert [said.partition(" ")[0] for said in alarm.announced()] == ["[WARNING]"], "it has failed often"


def test_another_error_in_its_place_is_told_and_nobody_that_the_first_is_over(failed: World) -> None:
    alarm = Alarm(failed)
    alarm.announced()
    failed.sql("UPDATE BatchControl SET Status = 'ready'")
    failed.runner.script = lambda rendered: StepOutcome(succeeded=False, message="the disk is full")
    failed.process()

    (said,) = alarm.announced()
    assert said.startswith("[ERROR]")
    assert [row[1] for row in failed.sql(INCIDENTS)] == ["resolved", "open"]


def test_of_two_that_failed_in_two_ways_the_one_that_is_run_again_stays_itself(world: World) -> None:
    world.batch(OnFailure="continue")
    fail(world, "it broke")
    fail(world, "the disk is full")
    alarm = Alarm(world)
    assert len(alarm.announced()) == 2
    world.sql("UPDATE BatchControl SET Status = 'ready' WHERE BatchControl_id = 1")
    assert alarm.announced() == []
    assert [row[1] for row in world.sql(INCIDENTS)] == ["open", "open"]
    world.runner.script = lambda rendered: OK
    world.process()

    assert [said.partition(" ")[0] for said in alarm.announced()] == ["[OVER]"]
    assert [row[1] for row in world.sql(INCIDENTS)] == ["resolved", "open"]


def test_what_fails_is_told_behind_however_many_that_have_failed_before(failed: World) -> None:
    for _ in range(incident_search.AT_ONCE + 20):
        failed.submit(Status="complete")
    failed.sql(
        "INSERT INTO BatchControl (ProcessBatch_id, FileProcess_id, Status)"
        " SELECT ProcessBatch_id, FileProcess_id, 'failed' FROM FileProcess, ProcessBatch"
        " WHERE ProcessBatchName = 'B' AND FileProcess.Status = 'complete'"
    )
    alarm = Alarm(failed)
    assert len(alarm.announced()) == 2
    failed.batch("N")
    failed.submit("N")
    failed.create()
    failed.process()

    (said,) = alarm.announced()
    assert said.startswith("[ERROR] N: ")
    assert alarm.announced() == []


def test_who_begins_behind_many_that_have_failed_takes_none_for_over(
    failed: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    fail(failed, "the disk is full", 5)
    assert len(Alarm(failed).announced()) == 2
    monkeypatch.setattr(incident_search, "AT_ONCE", 1)
    alarm = Alarm(failed, name="c2")

    for _ in range(6):
        assert alarm.announced() == []
        assert failed.sql("SELECT BatchControl_id FROM Incident ORDER BY Incident_id") == [(1,), (2,)]
    assert [row[:2] for row in failed.sql(INCIDENTS)] == [("failed", "open")] * 2
    mend(failed)
    assert [said.partition(" ")[0] for said in alarm.announced()].count("[OVER]") == 2


def test_a_batch_that_nobody_knew_before_it_failed_is_told_by_its_name(failed: World) -> None:
    alarm = Alarm(failed)
    alarm.duty.look()
    failed.batch("N")
    failed.submit("N")
    failed.create()
    failed.process()
    failed.clock.advance(timedelta(seconds=6))

    alarm.duty.look()
    assert failed.sql("SELECT Subject FROM Incident ORDER BY Incident_id") == [("B",), ("N",)]


def test_who_snoozes_is_reminded_later(failed: World) -> None:
    alarm = Alarm(failed)
    alarm.announced()
    asked = "INSERT INTO OperatorRequest (Action, BatchControl_id, Arguments, Reason) VALUES ('snooze', 1, ?, 'later')"
    failed.sql(asked, '{"for": "2h"}')
    answering(failed).finish()
    assert "is snoozed" in failed.one("SELECT Answer FROM OperatorRequest")
    failed.clock.advance(timedelta(minutes=119))
    assert alarm.announced() == []
    failed.clock.advance(timedelta(minutes=1))

    assert [said.partition(" ")[0] for said in alarm.announced()] == ["[STILL]"]


def test_when_nobody_answers_others_are_told_too(failed: World) -> None:
    channels = [Audience(name="mail"), Audience(name="boss", only_escalations=True)]
    alarm = Alarm(failed, rules(channels=channels, policy=Policy(escalate_after=1)))
    told = []
    for _ in range(4):
        alarm.duty.finish()
        told.append([(channel, notification.kind.value) for channel, notification in alarm.sent])
        alarm.sent.clear()
        failed.clock.advance(HALF_AN_HOUR)

    assert told == [
        [("mail", "alert")],
        [("mail", "repeat")],
        [("mail", "escalation"), ("boss", "escalation")],
        [("mail", "repeat"), ("boss", "repeat")],
    ]


def test_two_leaders_for_a_moment_tell_it_once(failed: World) -> None:
    first, second = Alarm(failed), Alarm(failed, name="c2", transactions=failed.open())
    first.duty.watch.look()
    second.duty.watch.look()
    first.duty.outbox.look()
    second.duty.outbox.look()
    first.duty.outbox.look()
    second.duty.outbox.look()

    assert len(first.sent) + len(second.sent) == 1
    assert failed.one("SELECT count(*) FROM Incident") == 1
    first.sent.clear()
    mend(failed)
    assert len(second.announced() + first.announced() + second.announced()) == 1


def test_an_old_leader_that_froze_before_it_wrote_finds_out_that_it_is_over(
    failed: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new = Alarm(failed), Alarm(failed, name="c2", transactions=failed.open())
    whole = incident_rows.wait_for_others

    def sleep(connection: Any) -> None:
        """Sleep between what was read and the transaction that writes."""
        monkeypatch.setattr(incident_rows, "wait_for_others", whole)
        raise Conflict("asleep")

    monkeypatch.setattr(incident_rows, "wait_for_others", sleep)
    with pytest.raises(Conflict):
        old.duty.watch.look()
    assert len(new.announced()) == 1
    mend(failed)
    assert len(new.announced()) == 1

    assert old.announced() == []
    assert failed.sql(INCIDENTS) == [("failed", "resolved", 1, 1)]


def test_who_slept_between_claim_and_sending_leaves_it_to_others(failed: World) -> None:
    old, new = Alarm(failed), Alarm(failed, name="c2", transactions=failed.open())
    old.inquiries.hang.add(0)
    old.duty.watch.look()
    old.duty.outbox.look()
    failed.clock.advance(timedelta(minutes=6))

    assert len(new.announced()) == 1
    old.inquiries.hang.clear()
    assert old.announced() == []
    assert failed.sql("SELECT Status, Attempts, ClaimedBy FROM AlertDelivery") == [("sent", 2, "c2")]


def test_a_channel_that_is_broken_is_tried_again_and_told_through_the_others(failed: World) -> None:
    alarm = Alarm(failed, rules(channels=[Audience(name="mail"), Audience(name="page")]))
    alarm.broken["mail"] = "no route to host"
    alarm.duty.finish()
    assert [channel for channel, _ in alarm.sent] == ["page"]
    for _ in range(3):
        failed.clock.advance(timedelta(minutes=5))
        alarm.duty.finish()

    (told,) = [
        (channel, notification) for channel, notification in alarm.sent if "channel mail" in notification.message.title
    ]
    assert told[0] == "page"
    assert "no route to host" in told[1].message.body
    alarm.sent.clear()
    alarm.broken.clear()
    failed.clock.advance(timedelta(hours=1))
    alarm.duty.finish()
    alarm.duty.finish()
    titles = [(channel, notification.message.title.partition(" ")[0]) for channel, notification in alarm.sent]
    assert ("page", "[OVER]") in titles
    assert titles.count(("mail", "[ERROR]")) == 1
    assert ("mail", "[STILL]") not in titles


def test_of_a_channel_that_is_configured_no_more_nobody_is_told(failed: World) -> None:
    alarm = Alarm(failed, TWO)
    alarm.broken["mail"] = "no route to host"
    for _ in range(4):
        alarm.announced()
        failed.clock.advance(timedelta(minutes=5))
    assert [row[:2] for row in failed.sql(INCIDENTS)] == [("failed", "open"), ("channel_failed", "open")]

    Alarm(failed, rules(channels=[Audience(name="chat")])).announced()
    assert [row[:2] for row in failed.sql(INCIDENTS)] == [("failed", "open"), ("channel_failed", "resolved")]


@pytest.mark.parametrize("seen", ["sent", "waiting"])
def test_a_channel_that_says_nothing_is_not_whole_because_others_say_much(failed: World, seen: str) -> None:
    alarm = Alarm(failed, TWO)
    alarm.broken["mail"] = "no route to host"
    alarm.announced()
    failed.hand.many(
        "INSERT INTO AlertDelivery (Incident_id, Channel, Kind, Number, Title, Body, Status, NextAttemptTime, z_inserted)"
        " VALUES (1, ?, 'repeat', ?, 't', 'b', ?, '2026-11-21 02:00:00', '2026-11-21 02:00:00')",
        [("chat" if seen == "sent" else "gone", 1000 + number, seen) for number in range(600)],
    )
    if seen == "sent":
        failed.sql("UPDATE AlertDelivery SET Status = 'failed', Message = 'given up' WHERE Channel = 'mail'")
        assert len([said for said in alarm.announced() if "channel mail" in said]) == 1
    else:
        # The numbers of what waits for a channel that is no more are lower than that of what waits for this one.
        failed.sql("UPDATE AlertDelivery SET AlertDelivery_id = AlertDelivery_id + 10000 WHERE Channel = 'mail'")
        failed.sql("UPDATE AlertDelivery SET Attempts = 3 WHERE Channel = 'mail'")
    failed.clock.advance(timedelta(minutes=1))
    alarm.announced()

    assert [row[:2] for row in failed.sql(INCIDENTS)] == [("failed", "open"), ("channel_failed", "open")]


def test_however_much_waits_for_a_channel_the_others_deliver(failed: World) -> None:
    alarm = Alarm(failed, TWO)
    alarm.broken["mail"] = "no route to host"
    alarm.announced()
    failed.hand.many(
        "INSERT INTO AlertDelivery (Incident_id, Channel, Kind, Number, Title, Body, NextAttemptTime, z_inserted)"
        " VALUES (1, 'mail', 'repeat', ?, 't', 'b', '2026-11-21 02:00:00', '2026-11-21 02:00:00')",
        [(1000 + number,) for number in range(PAGE)],
    )
    alarm.inquiries.hang.add(0)
    failed.clock.advance(HALF_AN_HOUR)
    failed.batch("N")
    failed.submit("N")
    failed.create()
    failed.process()
    alarm.duty.watch.look()
    for _ in range(3):
        alarm.duty.outbox.look()

    assert [channel for channel, notification in alarm.sent if "N: " in notification.message.title] == ["chat"]


def test_one_that_hangs_keeps_no_other_waiting(failed: World) -> None:
    alarm = Alarm(failed, rules(channels=[Audience(name="mail"), Audience(name="page")]))
    alarm.inquiries.hang.add(0)
    alarm.duty.watch.look()
    alarm.duty.outbox.look()
    alarm.duty.outbox.look()

    assert [channel for channel, _ in alarm.sent] == ["page"]
    assert alarm.duty.is_busy


def test_what_is_over_before_it_could_be_sent_is_told_nobody(failed: World) -> None:
    alarm = Alarm(failed)
    alarm.broken["mail"] = "down"
    assert alarm.announced() == []
    mend(failed)
    alarm.broken.clear()
    failed.clock.advance(timedelta(hours=2))

    assert alarm.announced() == []
    assert failed.sql("SELECT Kind, Status FROM AlertDelivery") == [("alert", "withdrawn")]


@pytest.mark.parametrize("dies", [False, True])
def test_what_is_over_while_it_is_sent_in_vain_is_not_told_after_that_it_is_over(failed: World, dies: bool) -> None:
    alarm = Alarm(failed)
    alarm.inquiries.hang.add(0)
    alarm.duty.watch.look()
    alarm.duty.outbox.look()
    mend(failed)
    if dies:
        alarm = Alarm(failed, name="c2")
    alarm.duty.watch.look()
    alarm.inquiries.hang.clear()
    alarm.broken["mail"] = "no answer"
    alarm.duty.outbox.look()
    alarm.broken.clear()
    alarm.duty.outbox.finish()
    failed.clock.advance(timedelta(minutes=6))

    assert [said.partition(" ")[0] for said in alarm.announced()] == ["[OVER]"]
    assert failed.sql("SELECT Kind, Status FROM AlertDelivery ORDER BY 1") == [
        ("alert", "withdrawn"),
        ("recovery", "sent"),
    ]


@pytest.mark.parametrize(("act", "more"), [("acknowledge", ""), ("snooze", ', "for": "2h"')])
def test_what_somebody_takes_care_of_while_it_is_sent_in_vain_is_not_told_again(
    failed: World, act: str, more: str
) -> None:
    alarm = Alarm(failed)
    alarm.inquiries.hang.add(0)
    alarm.duty.watch.look()
    alarm.duty.outbox.look()
    asked = "INSERT INTO OperatorRequest (Action, Arguments, Reason) VALUES (?, ?, 'mine')"
    failed.sql(asked, act, f'{{"incident": 1{more}}}')
    answering(failed).finish()
    alarm.inquiries.hang.clear()
    alarm.broken["mail"] = "no answer"
    alarm.duty.outbox.look()
    alarm.broken.clear()
    failed.clock.advance(timedelta(minutes=2))

    assert alarm.announced() == []
    assert failed.sql("SELECT Status, Message FROM AlertDelivery") == [("withdrawn", "somebody takes care of it")]


def test_a_message_that_cannot_be_delivered_is_given_up(failed: World) -> None:
    alarm = Alarm(failed, rules(policy=Policy(repeat=timedelta(days=9))))
    alarm.broken["mail"] = "down"
    for _ in range(30):
        alarm.duty.finish()
        failed.clock.advance(timedelta(hours=1))

    assert failed.sql("SELECT Kind, Status, Message FROM AlertDelivery") == [("alert", "failed", "OSError: down")]
    assert failed.one("SELECT count(*) FROM Incident WHERE Kind = 'channel_failed' AND Status = 'open'") == 1


def test_without_any_channel_incidents_are_kept_and_the_first_channel_tells_them(failed: World) -> None:
    silent = Alarm(failed, rules(channels=[]))
    assert silent.announced() == []
    assert failed.sql(INCIDENTS) == [("failed", "open", 1, 0)]

    assert len(Alarm(failed).announced()) == 1


def test_many_at_once_are_one_message_and_so_is_that_they_are_over(world: World) -> None:
    alarm = Alarm(world, rules(policy=Policy(digest_over=3)))
    for at in range(5):
        world.batch(f"B{at}", steps=1)
        world.submit(f"B{at}")
    world.runner.script = lambda rendered: BAD
    world.create()
    world.process()

    assert alarm.announced() == ["[DIGEST] 5 incidents stand, 0 over"]
    mend(world)
    assert alarm.announced() == []
    world.clock.advance(timedelta(minutes=11))
    assert alarm.announced() == ["[DIGEST] 0 incidents stand, 5 over"]
    assert alarm.announced() == []


def test_what_is_frozen_is_told_when_the_freeze_ends_if_it_still_stands(failed: World) -> None:
    failed.sql("INSERT INTO BatchFreeze (Reason, Actor) VALUES ('release', 'anna')")
    alarm = Alarm(failed)
    assert alarm.announced() == []
    assert failed.sql(INCIDENTS) == [("failed", "open", 1, 0)]
    failed.sql("UPDATE BatchFreeze SET ThawedTime = '2026-11-21 03:00:00'")

    assert len(alarm.announced()) == 1


def test_what_was_put_right_during_a_freeze_wakes_nobody(failed: World) -> None:
    failed.sql("INSERT INTO BatchFreeze (ProcessBatchName, Reason, Actor) VALUES ('B', 'release', 'anna')")
    alarm = Alarm(failed)
    alarm.announced()
    failed.sql("UPDATE BatchFreeze SET ThawedTime = '2026-11-21 03:00:00'")
    mend(failed)

    assert alarm.announced() == []
    assert failed.sql(INCIDENTS) == [("failed", "resolved", 1, 0)]


def test_a_message_that_waits_when_a_freeze_begins_waits_until_it_ends(failed: World) -> None:
    alarm = Alarm(failed)
    alarm.duty.watch.look()
    failed.sql("INSERT INTO BatchFreeze (Reason, Actor) VALUES ('release', 'anna')")
    assert alarm.announced() == []
    failed.sql("UPDATE BatchFreeze SET ThawedTime = '2026-11-21 03:00:00'")

    assert len(alarm.announced()) == 1


def test_a_step_that_runs_for_longer_than_its_alarm_is_told_and_when_it_ends(world: World) -> None:
    world.running(AlarmDuration=600)
    alarm = Alarm(world)
    world.clock.advance(timedelta(seconds=599))
    assert alarm.announced() == []
    world.clock.advance(timedelta(seconds=1))

    (said,) = alarm.announced()
    assert said == "[WARNING] B: BatchControl 1 runs step 10 'step 10' for longer than AlarmDuration (10 min 00 s)"
    world.sql("UPDATE BatchProcessHistory SET Status = 'success', EndTime = StartTime")
    assert [said.partition(" ")[0] for said in alarm.announced()] == ["[OVER]"]


@pytest.fixture(params=["quiet", "busy"])
def among(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Where others are busy, hardly anything of a batch is among the newest attempts of all."""
    if request.param == "busy":
        monkeypatch.setattr(step_past, "NEWEST", 3)
        monkeypatch.setattr(step_past, "NEAR", 3)
    return str(request.param)


def past(world: World, seconds: int, many: int = 10, status: str = "success", batch: int = 1) -> None:
    """Let the first step of a batch have taken so long, in instances of their own."""
    for _ in range(many):
        world.submit(Status="complete")
        world.sql(
            "INSERT INTO BatchControl (ProcessBatch_id, FileProcess_id, Status, PrevProcessControlSeq)"
            f" SELECT {batch}, max(FileProcess_id), 'complete', 20 FROM FileProcess"
        )
        end = f"2026-11-20 03:{seconds // 60:02}:{seconds % 60:02}"
        world.sql(
            "INSERT INTO BatchProcessHistory (BatchControl_id, ProcessBatch_id, ProcessControlSeq, ProcessName, ProcessType,"
            " CommandText, Status, StartTime, EndTime)"
            f" SELECT max(BatchControl_id), {batch}, 10, 'step 10', 'told', '', '{status}', '2026-11-20 03:00:00', '{end}'"
            " FROM BatchControl"
        )


def test_a_step_that_runs_for_longer_than_ever_is_told_without_any_alarm(world: World, among: str) -> None:
    world.batch(steps=2)
    world.batch("Other", steps=1)
    past(world, 300)
    world.runner.script = lambda rendered: None
    world.submit()
    world.create()
    world.process()
    past(world, 1, many=4 if among == "busy" else 0, batch=2)
    alarm = Alarm(world)
    world.clock.advance(timedelta(seconds=599))
    assert alarm.announced() == []
    world.clock.advance(timedelta(seconds=1))

    (said,) = alarm.announced()
    assert "for longer than usual (5 min 00 s at most, of the last 10)" in said


@pytest.mark.usefixtures("among")
def test_a_step_that_took_next_to_no_time_is_told_until_one_took_its_time(world: World) -> None:
    world.batch()
    past(world, 600)
    past(world, 5, many=1)
    alarm = Alarm(world)

    (said,) = alarm.announced()
    assert "took 5.0 s, usually it takes 10 min 00 s" in said
    past(world, 500, many=1)
    assert [said.partition(" ")[0] for said in alarm.announced()] == ["[OVER]"]


@pytest.mark.usefixtures("among")
def test_what_fails_every_third_time_is_told_though_others_go_well(world: World) -> None:
    world.batch()
    for _ in range(2):
        past(world, 1, many=1, status="failed")
        past(world, 1, many=2)
    alarm = Alarm(world, rules(norms=Norms(failures=3, runs=10)))
    assert alarm.announced() == []
    past(world, 1, many=1, status="failed")
    past(world, 1, many=2)

    (said,) = alarm.announced()
    assert "Step 10 'step 10' has failed in 3 of the last 9 runs" in said
    past(world, 1, many=1)
    assert alarm.announced() == []
    past(world, 1, many=1)
    assert [said.partition(" ")[0] for said in alarm.announced()] == ["[OVER]"]


def test_what_failed_often_is_not_over_because_others_have_run_since(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.batch(steps=1, OnFailure="continue")
    for _ in range(3):
        fail(world)
        mend(world)
    alarm = Alarm(world)
    assert [said.partition(" ")[0] for said in alarm.announced()] == ["[WARNING]"]
    monkeypatch.setattr(step_past, "NEWEST", 2)
    world.batch("Busy", steps=2)
    world.submit("Busy")
    world.create()
    world.process()
    assert alarm.announced() == []
    assert world.sql(INCIDENTS) == [("fails_often", "open", 1, 1)]

    for _ in range(8):
        assert alarm.announced() == []
        world.submit()
        world.create()
        world.process()
    assert [said.partition(" ")[0] for said in alarm.announced()] == ["[OVER]"]


def test_what_failed_often_is_not_over_because_it_fails_for_good(world: World) -> None:
    world.batch(steps=1, OnFailure="continue")
    for _ in range(3):
        fail(world)
        mend(world)
    alarm = Alarm(world)
    assert [said.partition(" ")[0] for said in alarm.announced()] == ["[WARNING]"]
    fail(world)
    assert [said.partition(" ")[0] for said in alarm.announced()] == ["[ERROR]"]

    mend(world)
    assert [said.partition(" ")[0] for said in alarm.announced()] == ["[OVER]"]
    assert world.sql(INCIDENTS) == [("fails_often", "open", 2, 1), ("failed", "resolved", 1, 1)]


def test_how_a_batch_did_that_is_disabled_now_is_told_nobody(world: World) -> None:
    world.batch(steps=1, OnFailure="continue")
    for _ in range(3):
        fail(world)
        mend(world)
    world.sql("UPDATE ProcessBatch SET Enabled = 0")
    assert Alarm(world).announced() == []

    world.sql("UPDATE ProcessBatch SET Enabled = 1")
    assert [said.partition(" ")[0] for said in Alarm(world).announced()] == ["[WARNING]"]


def test_that_nobody_worked_is_told_by_whoever_works_next(world: World) -> None:
    world.batch()
    world.sql(
        "INSERT INTO Controller (ControllerName, Host, Status, Heartbeat) VALUES ('old', 'h', 'lost', '2026-11-21 01:00:00')"
    )
    world.submit(z_inserted="2026-11-21 02:00:00")
    assert Alarm(world, name="c0").announced() == [], "of a single round it is not said: a clock starts it"
    alarm = Alarm(world)
    for _ in range(3):
        alarm.duty.look()
        world.clock.advance(timedelta(seconds=6))

    ((_, notification),) = alarm.sent
    said = notification.message.title
    assert said.startswith("[ERROR] controllers: No controller worked from 2026-11-21 01:00:00 UTC until now")
    assert world.sql(INCIDENTS) == [("no_worker", "resolved", 1, 1)]


def test_that_nobody_worked_is_told_though_what_waited_is_begun_at_once(world: World) -> None:
    world.batch()
    world.sql(
        "INSERT INTO Controller (ControllerName, Host, Status, Heartbeat) VALUES ('old', 'h', 'lost', '2026-11-21 01:00:00')"
    )
    world.submit(z_inserted="2026-11-21 02:00:00")
    alarm = Alarm(world)
    alarm.duty.begin()
    world.create()
    world.process()
    alarm.broken["mail"] = "the network is not up yet"
    for _ in range(30):
        alarm.duty.look()
        world.clock.advance(timedelta(seconds=6))
        alarm.broken.clear()

    ((_, notification),) = alarm.sent
    assert "and work has waited since 2026-11-21 02:00:00 UTC" in notification.message.title
    assert world.sql(INCIDENTS) == [("no_worker", "resolved", 1, 1)]


def test_that_nobody_worked_while_nothing_waited_is_nobodys_trouble(world: World) -> None:
    world.batch(OnFailure="continue")
    fail(world)
    world.sql("UPDATE BatchControl SET Status = 'paused'")
    world.submit("Nobody", z_inserted="2026-11-21 01:00:00")
    world.sql("UPDATE FileProcess SET z_inserted = '2026-11-21 01:00:00'")
    world.sql(
        "INSERT INTO Controller (ControllerName, Host, Status, Heartbeat) VALUES ('old', 'h', 'stopped', '2026-11-21 01:00:00')"
    )

    Alarm(world).duty.look()
    assert world.sql(INCIDENTS) == [("untaken", "open", 1, 1)]


def test_who_only_looks_tells_that_nobody_works_until_somebody_does(world: World) -> None:
    world.batch()
    world.sql(
        "INSERT INTO Controller (ControllerName, Host, Status, Heartbeat) VALUES ('old', 'h', 'lost', '2026-11-21 02:55:00')"
    )
    assert Alarm(world, name=None).announced() == []
    world.clock.advance(timedelta(minutes=5))

    (said,) = Alarm(world, name=None).announced()
    assert "No controller works; the last sign of life came at 2026-11-21 02:55:00 UTC" in said
    assert Alarm(world, name=None).announced() == []
    assert [said.partition(" ")[0] for said in Alarm(world).announced()] == ["[OVER]"]


def test_where_none_ever_worked_it_is_told_once_work_has_waited_for_long_enough(world: World) -> None:
    world.batch()
    assert Alarm(world, name=None).announced() == []
    world.submit()
    world.sql("UPDATE FileProcess SET z_inserted = '2026-11-21 02:55:00.000'")
    world.clock.advance(timedelta(minutes=4))
    assert Alarm(world, name=None).announced() == []
    world.clock.advance(timedelta(minutes=1))

    (said,) = Alarm(world, name=None).announced()
    assert "No controller works; none ever has, and work has waited since 2026-11-21 02:55:00 UTC" in said
    assert [said.partition(" ")[0] for said in Alarm(world).announced()] == ["[OVER]"]


def test_a_batch_that_waits_for_others_for_too_long_is_told(world: World) -> None:
    world.batch("Up", steps=1)
    world.batch("Other", steps=1)
    world.batch("Down", steps=1)
    for name in ("Up", "Other"):
        world.sql(
            "INSERT INTO BatchDependency (ProcessBatch_id, DependsOnBatch_id, DeadlineMins)"
            " SELECT d.ProcessBatch_id, u.ProcessBatch_id, 1 FROM ProcessBatch d, ProcessBatch u"
            " WHERE d.ProcessBatchName = 'Down' AND u.ProcessBatchName = ?",
            name,
        )
    world.submit("Up", CycleKey="K")
    world.create()
    world.process()
    alarm = Alarm(world)
    assert alarm.announced() == []
    world.sql("UPDATE BatchCompletion SET Overdue = '2026-11-21 02:00:00'")

    (said,) = alarm.announced()
    assert said.startswith("[ERROR] Down: It waits for K for other batches beyond its deadline:")


def test_a_calendar_that_runs_out_is_told_once_a_day(world: World) -> None:
    world.sql("INSERT INTO Calendar (CalendarName, ValidUntil) VALUES ('NL', '2026-12-31')")
    world.batch(ExpectedCalendar="NL")
    alarm = Alarm(world)

    (said,) = alarm.announced()
    assert said.startswith("[WARNING] calendar NL: Calendar NL runs out on 2026-12-31")
    world.clock.advance(timedelta(hours=23))
    assert alarm.announced() == []
    world.clock.advance(timedelta(hours=1))
    assert len(alarm.announced()) == 1


def test_the_look_costs_nothing_when_nothing_has_changed(failed: World, monkeypatch: pytest.MonkeyPatch) -> None:
    alarm = Alarm(failed)
    alarm.announced()
    monkeypatch.setattr(failed.transactions, "run", None)

    assert not alarm.duty.watch.look()


def test_the_messages_of_rows_that_hold_anything_are_harmless(world: World) -> None:
    hostile = "\x1b[2J\x1b]0;x\x07\u202eevil\r\nBcc: x"
    world.batch(hostile, steps=1)
    world.submit(hostile)
    world.runner.script = lambda rendered: StepOutcome(succeeded=False, message=hostile, output=hostile)
    world.create()
    world.process()
    alarm = Alarm(world)
    alarm.duty.finish()

    ((_, notification),) = alarm.sent
    assert notification.message.title.isprintable()
    assert all(line.isprintable() for line in notification.message.body.split("\n"))


def test_what_is_over_for_long_goes_with_its_messages_and_what_stands_stays(failed: World) -> None:
    alarm = Alarm(failed)
    alarm.announced()
    failed.sql("UPDATE BatchControl SET Status = 'cancelled'")
    alarm.announced()
    fail(failed, "the disk is full")
    alarm.announced()
    failed.sql("INSERT INTO Setting (Name, Value) VALUES ('IncidentDays', '10')")
    failed.clock.advance(timedelta(days=9))
    for left in (2, 1):
        made = Purge(transactions=failed.transactions, clock=failed.clock, actor="anna", host="h", patient=True)
        planned = {one.table: one.rows for one in disposal.plan(failed.transactions, failed.clock).going}
        made.everything("old")
        assert planned.get("Incident", 0) == made.gone["Incident"] == 2 - left
        assert failed.one("SELECT count(*) FROM Incident") == left
        assert failed.one("SELECT count(DISTINCT Incident_id) FROM AlertDelivery") == left
        failed.clock.advance(timedelta(days=2))
    assert failed.sql(INCIDENTS) == [("failed", "open", 1, 1)]


def test_who_stops_ticks_off_what_he_has_sent(failed: World) -> None:
    alarm = Alarm(failed)
    alarm.duty.watch.look()
    alarm.duty.outbox.look()
    assert failed.sql("SELECT Status FROM AlertDelivery") == [("waiting",)]
    alarm.duty.settle()

    assert len(alarm.sent) == 1
    assert failed.sql("SELECT Status FROM AlertDelivery") == [("sent",)]


def test_where_a_day_begins_is_found_once(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    for at in range(3):
        world.batch(f"B{at}", steps=1, ArriveBy="02:00", z_inserted="2026-01-01 00:00:00")
    alarm = Alarm(world)
    assert len(alarm.announced()) == 3
    monkeypatch.setattr(evidence, "first_arrival_since", None)

    assert not alarm.duty.watch.look()


NONSENSE = {
    "a last step beyond all": "UPDATE BatchControl SET PrevProcessControlSeq = 2147483647 WHERE BatchControl_id = 1",
    "a status that is none": "UPDATE BatchControl SET Status = 'xyz' WHERE BatchControl_id = 1",
    "a kind that is none": "UPDATE Incident SET Kind = 'xyz'",
    "a severity that is none": "UPDATE Incident SET Severity = 'xyz'",
}


@pytest.mark.parametrize("nonsense", NONSENSE)
def test_a_row_that_holds_nonsense_is_named_and_stops_no_incident_of_others(failed: World, nonsense: str) -> None:
    alarm = Alarm(failed)
    alarm.announced()
    failed.batch("Other", OnFailure="continue")
    failed.hand.loosen()
    failed.sql(NONSENSE[nonsense])
    failed.runner.script = lambda rendered: BAD
    failed.submit("Other")
    failed.create()
    failed.process()
    for _ in range(2):
        failed.clock.advance(incident_search.SOMETIMES)
        alarm.announced()

    told = failed.sql("SELECT Subject, Message FROM Incident WHERE ResolvedTime IS NULL ORDER BY Incident_id")
    assert len(told) == 3, told
    assert [subject for subject, message in told if message.startswith("BatchControl 2 has failed")] == ["Other"]
    assert [message for _, message in told if " 1 cannot be read: " in message] != []


def test_what_the_database_refuses_of_one_incident_is_named_and_the_others_are_written(failed: World) -> None:
    failed.sql("CREATE UNIQUE INDEX UX_Foreign ON Incident (Severity)")
    fail(failed, "it broke otherwise")
    alarm = Alarm(failed)
    for _ in range(2):
        with pytest.raises(Refused, match=r"BatchControl 2 has failed .*[Uu][Nn][Ii][Qq][Uu][Ee]"):
            alarm.duty.look()

    assert failed.sql("SELECT BatchControl_id FROM Incident") == [(1,)]
    failed.sql("DROP INDEX UX_Foreign")
    failed.clock.advance(incident_search.SOMETIMES)
    alarm.duty.look()
    assert failed.sql("SELECT BatchControl_id FROM Incident ORDER BY Incident_id") == [(1,), (2,)]
