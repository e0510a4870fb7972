"""What people ask for by rows is done once, by the code of the command line, answered on the row, and audited."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest

from batchctl.control.operators.answering import Answering
from batchctl.domain.errors import Conflict
from batchctl.domain.operators.requests import Request
from batchctl.operations.requested import Proxy
from tests.control.world import BAD, NO_WAIT, OK, ZONE, World
from tests.control_databases import ACTS

ANSWERED = "SELECT Status, Answer, AnsweredBy FROM OperatorRequest ORDER BY OperatorRequest_id"


def duty(world: World, transactions: Any = None) -> Answering:
    proxy = Proxy(world.clock, world.recorder().preparer, ZONE)
    return Answering(transactions or world.transactions, world.clock, world.events.append, proxy.carry_out, "c1")


def ask(world: World, action: str, **columns: object) -> None:
    world._insert("OperatorRequest", {"Action": action, **columns})


@pytest.fixture
def failed(world: World) -> World:
    """Instance 1 has failed at its first step; instance 2 waits behind it."""
    world.batch()
    for _ in range(2):
        world.submit()
    world.create()
    world.runner.script = lambda rendered: BAD
    world.process()
    return world


def test_a_failed_instance_is_run_again_with_corrected_values(failed: World) -> None:
    ask(failed, "Rerun", BatchControl_id=1, Reason="the file was late", Arguments='{"Data3": "2026-11-01"}')
    failed.runner.script = lambda rendered: OK

    assert duty(failed).look()
    failed.process()

    assert failed.statuses() == ["complete", "complete"]
    assert failed.sql(ANSWERED) == [
        ("done", "BatchControl 1 of batch B was failed and is ready. But no step that is left uses Data3.", "c1")
    ]
    ((actor, host, action, target, reason, after),) = failed.sql(
        f"SELECT Actor, Host, Action, Target, Reason, ValuesAfter FROM AuditLog WHERE {ACTS}"
    )
    assert (host, action, target, reason) == ("OperatorRequest:1", "rerun", "BatchControl:1", "the file was late")
    assert actor == failed.one("SELECT Actor FROM OperatorRequest") != ""
    assert json.loads(after) == {"Status": "ready", "Data3": "2026-11-01"}


def test_a_value_that_no_step_uses_is_named_in_the_answer(world: World) -> None:
    world.batch(steps=1)
    world.sql("UPDATE ProcessControl SET Data1 = 'load {Data3}'")
    world.submit()
    world.create()
    world.runner.script = lambda rendered: BAD
    world.process()
    ask(world, "Rerun", BatchControl_id=1, Reason="the file was late", Arguments='{"Data1": "/tmp"}')

    assert duty(world).look()

    assert world.one("SELECT Answer FROM OperatorRequest") == (
        "BatchControl 1 of batch B was failed and is ready. But no step that is left uses Data1."
    )


def test_all_verbs_of_the_command_line_are_known(failed: World) -> None:
    for action, columns in (
        ("pause", {"BatchControl_id": 2}),
        ("resume", {"BatchControl_id": 2}),
        ("skip", {"BatchControl_id": 1, "Reason": "done by hand"}),
        ("cancel", {"BatchControl_id": 2, "Reason": "not needed"}),
        ("disable", {"ProcessBatchName": "B"}),
        ("enable", {"ProcessBatchName": "B", "Reason": "again"}),
    ):
        ask(failed, action, **columns)
    duty(failed).finish()

    assert [said for _, said, _ in failed.sql(ANSWERED)] == [
        "BatchControl 2 of batch B was ready and is paused.",
        "BatchControl 2 of batch B was paused and is ready.",
        "BatchControl 1 of batch B was failed and is ready; step 10 'step 10' is skipped.",
        "BatchControl 2 of batch B was ready and is cancelled.",
        "Batch B is disabled; it was not.",
        "Batch B is enabled; it was not.",
    ]
    assert failed.statuses() == ["ready", "cancelled"]
    assert failed.one(f"SELECT count(*) FROM AuditLog WHERE {ACTS}") == 6


def test_rows_that_are_not_work_are_dealt_with(world: World) -> None:
    world.batch()
    for status in ("rejected", "paused", "complete"):
        world.submit(Status=status)
    ask(world, "retry", Arguments='{"file": 1}', Reason="its name is corrected")
    ask(world, "Reject", Arguments='{"File": 2}', Reason="nobody wants it")
    ask(world, "resend", Arguments='{"file": 3}', Reason="once more")
    ask(world, "retry", Arguments='{"file": 3}', Reason="x")
    ask(world, "retry", BatchControl_id=1, Reason="x")
    ask(world, "retry", Arguments='{"file": 1}')
    duty(world).finish()

    answers = [(status, said) for status, said, _ in world.sql(ANSWERED)]
    assert answers[:3] == [
        ("done", "FileProcess 1 was rejected and is ready."),
        ("done", "FileProcess 2 was paused and is rejected."),
        ("done", "FileProcess 4 is submission 2 of FileProcess 3."),
    ]
    assert [status for status, _ in answers[3:]] == ["refused"] * 3
    assert 'such as {"file": 9}' in answers[4][1]
    assert "needs a Reason" in answers[5][1]
    acts = world.sql(f"SELECT Host, Action, Target FROM AuditLog WHERE {ACTS} ORDER BY AuditLog_id")
    assert acts[:2] == [
        ("OperatorRequest:1", "retry", "FileProcess:1"),
        ("OperatorRequest:2", "reject", "FileProcess:2"),
    ]


def test_a_host_that_a_row_names_is_drained_also_before_its_first_controller(world: World) -> None:
    ask(world, "drain", Arguments='{"host": "etl9"}', Reason="it comes tomorrow")
    duty(world).finish()

    ((status, said, _),) = world.sql(ANSWERED)
    assert status == "done"
    assert said.startswith("Drained: host etl9 is drained since ")
    assert said.endswith("No controller has been on host etl9 in the last days.")


def test_what_is_refused_says_why_changes_nothing_and_keeps_nobody_waiting(failed: World) -> None:
    ask(failed, "rerun", BatchControl_id=99, Reason="x")
    ask(failed, "resume", BatchControl_id=1, Reason="x")
    ask(failed, "rerun", BatchControl_id=1, Reason="x", Arguments='{"from": 15}')
    ask(failed, "disable", ProcessBatchName="b")
    ask(failed, "pause", BatchControl_id=2)
    duty(failed).finish()

    answers = failed.sql(ANSWERED)
    assert [status for status, *_ in answers] == ["refused", "refused", "refused", "refused", "done"]
    assert answers[0][1].startswith("There is no BatchControl 99.")
    assert "'resume' is not possible there" in answers[1][1]
    assert "15" in answers[2][1]
    assert "There is no batch 'b'. Did you mean 'B'?" in answers[3][1]
    assert failed.statuses() == ["failed", "paused"]
    assert failed.one(f"SELECT count(*) FROM AuditLog WHERE {ACTS}") == 1
    assert failed.names().count("request.refused") == 4


def test_what_the_database_refuses_is_undone_and_answered(failed: World) -> None:
    forbid = {
        "sqlite": "CREATE TRIGGER no BEFORE INSERT ON AuditLog BEGIN SELECT raise(ABORT, 'not by me'); END",
        "postgresql": "ALTER TABLE AuditLog ADD CONSTRAINT not_by_me CHECK (Actor = 'nobody') NOT VALID",
    }
    failed.sql(forbid[failed.database.kind])
    ask(failed, "rerun", BatchControl_id=1, Reason="x")
    duty(failed).finish()

    ((status, said, _),) = failed.sql(ANSWERED)
    assert (status, failed.statuses()) == ("refused", ["failed", "ready"])
    assert "not by me" in said or "not_by_me" in said


def test_two_leaders_answer_once(failed: World) -> None:
    ask(failed, "pause", BatchControl_id=2)
    first, second = duty(failed), duty(failed, failed.open())
    assert first.look()
    assert not second.look()

    assert failed.one(f"SELECT count(*) FROM AuditLog WHERE {ACTS}") == 1
    assert [event.name for event in failed.events if event.name.startswith("request.")] == ["request.done"]


def test_one_whose_rows_somebody_keeps_locked_keeps_no_other_waiting(failed: World) -> None:
    proxy = Proxy(failed.clock, failed.recorder().preparer, ZONE)

    def carry_out(connection: Any, request: Request) -> str:
        if request.instance_id == 1:
            failed.clock.advance(timedelta(seconds=1))
            message = "somebody keeps a row locked"
            raise Conflict(message)
        return proxy.carry_out(connection, request)

    for instance in (1, 1, 2):
        ask(failed, "pause", BatchControl_id=instance)
    answering = Answering(failed.transactions, failed.clock, failed.events.append, carry_out, "c1")
    for _ in range(4):
        answering.look()

    assert [status for status, *_ in failed.sql(ANSWERED)] == ["requested", "requested", "done"]


def test_who_asks_is_whoever_is_connected_unless_he_says_otherwise(failed: World) -> None:
    ask(failed, "pause", BatchControl_id=2)
    ask(failed, "resume", BatchControl_id=2, Actor="anna")
    duty(failed).finish()

    connected = {
        "sqlite": "sql",
        "postgresql": failed.one("SELECT Actor FROM OperatorRequest WHERE OperatorRequest_id = 1"),
    }
    assert failed.sql(f"SELECT Actor FROM AuditLog WHERE {ACTS} ORDER BY AuditLog_id") == [
        (connected[failed.database.kind],),
        ("anna",),
    ]


def test_freezing_and_thawing_are_asked_for_by_rows(failed: World) -> None:
    failed.sql("UPDATE ProcessBatch SET Tags = 'nightly'")
    failed.sql("UPDATE BatchControl SET Status = 'ready'")
    for action, columns in (
        ("freeze", {"Reason": "disks", "Arguments": '{"tag": "nightly", "until": "2h"}'}),
        ("freeze", {"Reason": "all"}),
        ("freeze", {}),
        ("freeze", {"Reason": "x", "ProcessBatchName": "b"}),
        ("freeze", {"Reason": "x", "BatchControl_id": 1}),
        ("freeze", {"Reason": "x", "Arguments": '{"untl": "2h"}'}),
        ("thaw", {"Reason": "over"}),
        ("thaw", {"Reason": "over", "Arguments": '{"id": 1, "release": "some"}'}),
        ("thaw", {"Reason": "over", "Arguments": '{"id": 1}'}),
        ("thaw", {"Reason": "over", "Arguments": '{"id": 1, "release": "latest"}'}),
        ("disable", {"ProcessBatchName": "B"}),
        ("enable", {"ProcessBatchName": "B", "Arguments": '{"throttle": 5}'}),
    ):
        ask(failed, action, **columns)

    duty(failed).look()

    found = [(status, answer) for status, answer, _ in failed.sql(ANSWERED)]
    assert [status for status, _ in found] == [
        *("done", "done", "refused", "refused", "refused", "refused"),
        *("done", "refused", "refused", "done", "done", "done"),
    ]
    said = [answer for _, answer in found]
    assert said[0].startswith("Frozen: every batch with tag 'nightly' is frozen since ")
    assert "Did you mean 'B'?" in said[3]
    assert "'untl' is none of \"tag\"" in said[5]
    assert said[6].startswith("Thawed: everything was frozen since ")
    assert "release 'some'" in said[7]
    assert said[8].startswith("This will start 2 instances")
    assert said[9].endswith("1 of the 2 that waited may start; cancelled as older ones: 1.")
    assert said[11] == "Batch B is enabled; it was not. 1 that waited start, at most 5 a minute."
    assert failed.statuses() == ["cancelled", "ready"]
    acts = failed.sql("SELECT Action, Host FROM AuditLog WHERE Action IN ('freeze', 'thaw') ORDER BY AuditLog_id")
    assert acts == [
        (act, f"OperatorRequest:{at}") for act, at in (("freeze", 1), ("freeze", 2), ("thaw", 7), ("thaw", 10))
    ]


def test_what_is_asked_for_and_is_so_already_is_done_and_stands_in_the_audit_log(failed: World) -> None:
    ask(failed, "enable", ProcessBatchName="B", Reason="to be sure")
    ask(failed, "thaw", Reason="to be sure")
    ask(failed, "freeze", Reason="disks")
    ask(failed, "freeze", Reason="to be sure")
    duty(failed).finish()

    found = failed.sql(f"SELECT Host, Action, Target, Reason, ValuesBefore, ValuesAfter FROM AuditLog WHERE {ACTS}")
    assert [status for (status,) in failed.sql("SELECT Status FROM OperatorRequest")] == ["done"] * 4
    assert [one[:4] for one in found] == [
        ("OperatorRequest:1", "enable", "ProcessBatch:B", "to be sure"),
        ("OperatorRequest:2", "thaw", "BatchFreeze", "to be sure"),
        ("OperatorRequest:3", "freeze", "BatchFreeze:1", "disks"),
        ("OperatorRequest:4", "freeze", "BatchFreeze:1", "to be sure"),
    ]
    assert [one[4:] for one in found if one[0] != "OperatorRequest:3"] == [("{}", "{}")] * 3


@pytest.mark.parametrize("action", ["freeze", "disable", "cancel"])
def test_what_is_asked_for_holds_at_once_for_what_the_one_who_answers_has_under_way(world: World, action: str) -> None:
    world.batch(steps=2)
    world.submit()
    world.create()
    world.runner.script = lambda rendered: None
    controller = world.process()
    (first,) = world.runner.started
    ask(
        world, action, Reason="because", **({"BatchControl_id": 1} if action == "cancel" else {"ProcessBatchName": "B"})
    )
    answering = duty(world)
    answering.acted = controller.look_closely
    # That somebody has written is noticed before, and what is answered is nobody else's change.
    controller.turn(NO_WAIT)

    assert answering.look()
    controller.turn(NO_WAIT)
    stopped = list(world.runner.stopped)
    world.runner.end(first, OK)
    controller.turn(NO_WAIT)

    assert stopped == ([first] if action == "cancel" else [])
    assert world.runner.started == [first]
    assert world.statuses() == ["cancelled" if action == "cancel" else "ready"]
