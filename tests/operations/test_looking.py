"""The read models: what is happening, why something waits, one instance in full."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest

from batchctl.domain.errors import InvalidInput, NotFound
from batchctl.domain.liveness import Rhythm
from batchctl.domain.rows import InstanceId, IntakeId
from batchctl.domain.status import InstanceStatus, IntakeStatus
from batchctl.operations import explain, inspection, overview
from batchctl.operations.explain import Explanation
from batchctl.operations.intervene import Operator
from batchctl.operations.overview import Overview
from batchctl.operations.presence import BEATS, Presence
from batchctl.store import reports
from tests.control.world import BAD, FATAL, OK, World

PRESENCE = Presence(Rhythm(), is_gone=lambda row: False)


def enter(world: World, controller: str | None) -> None:
    """Let this controller be the only one that has just given a sign of life."""
    world.sql("DELETE FROM Controller")
    if controller is not None:
        now = world.clock.now().strftime("%Y-%m-%d %H:%M:%S")
        world.sql(
            "INSERT INTO Controller (ControllerName, Host, Slots, Heartbeat) VALUES (?, 'h', 9, ?)", controller, now
        )


def look(world: World, *, controller: str | None = "c1", most: int = 20) -> Overview:
    enter(world, controller)
    return overview.overview(world.transactions, world.clock, PRESENCE, most=most)


def why(world: World, ref: str, *, controller: str | None = "c1") -> Explanation:
    enter(world, controller)
    return explain.why(world.transactions, world.clock, PRESENCE, ref)


def blocking(explanation: Explanation) -> list[tuple[str, str | None, str | None]]:
    return [(gate.name, gate.blocked, gate.clear) for gate in explanation.blocking]


def files(world: World, count: int, entity: str = "B") -> None:
    for number in range(count):
        world.submit(entity, file_name=str(number))
    world.create()


def test_an_empty_database_is_quiet(world: World) -> None:
    seen = look(world, controller=None)

    assert (seen.controllers, seen.instances, seen.intake) == ((), {}, {})
    assert [seen.running, seen.failing, seen.waiting, seen.completed, seen.untaken] == [()] * 5


def test_no_list_is_asked_for_no_rows(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """SQL Server refuses to fetch none (error 10744)."""
    world.runner.script = lambda rendered: FATAL
    world.batch(OnFailure="continue")
    files(world, 3)
    world.process()
    limits, open_in = list[int](), reports.open_in

    def asked(connection: Any, statuses: Any, most: int) -> Any:
        limits.append(most)
        return open_in(connection, statuses, most)

    monkeypatch.setattr(reports, "open_in", asked)
    assert len(look(world, most=2).failing) == 2

    assert min(limits) >= 1


def test_a_running_step_is_shown_with_its_time_and_is_late_beyond_its_alarm(world: World) -> None:
    world.runner.script = lambda rendered: None
    batch_id = world.batch(steps=0)
    world.step(batch_id, 10, ExpectedDuration=30, AlarmDuration=60)
    files(world, 1)
    world.process()
    world.clock.advance(timedelta(seconds=59))
    assert not look(world).running[0].is_late

    world.clock.advance(timedelta(seconds=1))
    (running,) = look(world).running

    assert running.is_late
    assert (running.elapsed, running.expected, running.batch) == (timedelta(minutes=1), timedelta(seconds=30), "B")
    assert running.entry.step_name == "step 10"


def test_a_failure_is_shown_with_its_message_and_what_to_type(world: World) -> None:
    world.runner.script = lambda rendered: BAD
    world.batch()
    files(world, 2)
    world.process()
    seen = look(world)

    (failed,) = seen.failing
    assert (failed.message, failed.clear) == ("it broke", "batchctl rerun 1 --reason ...")
    assert failed.step is not None
    assert failed.step.seq == 10
    (waiting,) = seen.waiting
    assert waiting.reason == "BatchControl 1 of the same batch is failed (OnFailure hold_batch)"
    assert waiting.clear == "batchctl why 1"
    assert seen.instances == {InstanceStatus.FAILED: 1, InstanceStatus.READY: 1}


def test_a_retry_in_a_disabled_batch_is_not_said_to_be_made(world: World) -> None:
    world.runner.script = lambda rendered: BAD
    world.batch(RetryCount=1)
    files(world, 1)
    world.process()
    assert look(world).failing[0].clear == "nothing: it is tried again by itself"
    world.sql("UPDATE ProcessBatch SET Enabled = 0")

    assert look(world).failing[0].clear.startswith("batchctl enable B --reason ...")


@pytest.mark.parametrize("retries", [1, 2])
def test_retries_that_were_skipped_are_told_from_retries_that_are_used_up(world: World, retries: int) -> None:
    world.batch("fatal", RetryCount=retries)
    world.batch("tired", RetryCount=retries, RetryWaitMins=0)
    world.runner.script = lambda rendered: FATAL if " of 1 " in rendered.command_text else BAD
    world.submit("fatal")
    world.submit("tired")
    world.create()
    world.process()
    world.process()

    skipped = "the retries were skipped: trying again cannot help"
    first, last = f"attempt 1 of {retries + 1}", f"attempt {retries + 1} of {retries + 1}"
    assert [one.wording for one in look(world).failing] == [f"{first}: no use; {skipped}", f"{last}: it broke"]
    assert [one.message for one in look(world).failing] == ["no use", "it broke"]
    assert blocking(why(world, "1"))[0][:2] == ("status", f"a step failed; {skipped}")
    assert blocking(why(world, "2"))[0][:2] == ("status", "a step failed and no retry is left")
    mend = "correct what its message names (batchctl history 1), then: batchctl rerun 1 --reason ..."
    assert (look(world).failing[0].clear, blocking(why(world, "1"))[0][2]) == (mend, mend)
    assert ("instances", "BatchControl 1 is failed", "batchctl why 1") in file_gates(world, 1)
    ((attempt,), _) = inspection.attempts_of(world.transactions, InstanceId(1))
    assert attempt.wording == f"no use; {skipped}"
    assert {entry.wording for entry in inspection.attempts_of(world.transactions, InstanceId(2))[0]} == {"it broke"}


def test_rows_that_nothing_came_of_are_shown_with_their_reason(world: World) -> None:
    world.batch("B", steps=1)
    world.batch("Nonsense", Populator="nonsense")
    world.submit("B", Data="same")
    world.submit("B", Data="same")
    world.submit("Nonsense")
    world.submit("b")
    world.create()
    seen = look(world)

    assert [(row.intake_id, row.status) for row in seen.not_taken_in] == [
        (3, IntakeStatus.REJECTED),
        (2, IntakeStatus.DUPLICATE),
    ]
    assert "no populator 'nonsense'" in str(seen.not_taken_in[0].message)
    assert "FileProcess 1" in str(seen.not_taken_in[1].message)
    assert [(row.intake_id, row.message) for row in seen.untaken] == [
        (4, "no batch takes entity 'b'. Did you mean 'B'?")
    ]
    assert seen.untaken_count == 1


def test_a_disabled_batch_with_open_instances_is_shown_and_one_without_is_not(world: World) -> None:
    world.batch("off", Enabled=0)
    world.batch("idle", Enabled=0)
    files(world, 3, "off")

    assert look(world).disabled == {"off": 3}


def test_lists_are_cut_and_counts_are_whole(world: World) -> None:
    world.batch(OnFailure="continue")
    files(world, 30)
    seen = look(world, most=5)

    assert len(seen.waiting) == 5
    assert seen.instances == {InstanceStatus.READY: 30}


def test_the_last_completions_come_newest_first(world: World) -> None:
    world.batch(steps=1)
    files(world, 7)
    world.process()
    seen = look(world)

    assert [done.instance.instance_id for done in seen.completed] == [7, 6, 5, 4, 3]


def test_an_instance_that_nothing_holds_back_passes_every_gate(world: World) -> None:
    world.batch()
    files(world, 1)
    explained = why(world, "1")

    assert explained.blocking == ()
    assert [gate.name for gate in explained.gates] == [
        "status",
        "enabled",
        "freeze",
        "steps",
        "NextRunTime",
        "failure policy",
        "stop_all",
        "MaxConcurrent",
        "slots",
        "controller",
    ]
    assert explained.notes == ("Its next step is 10 'step 10'.",)


@pytest.mark.parametrize("status", [status for status in InstanceStatus if status not in {"ready", "retry"}])
def test_every_other_status_blocks(world: World, status: str) -> None:
    world.batch()
    files(world, 1)
    world.sql("UPDATE BatchControl SET Status = ?", status)

    assert "status" in [name for name, _, _ in blocking(why(world, "1"))]


def test_what_keeps_a_controller_from_creating_comes_first(world: World) -> None:
    world.batch()
    world.submit()
    failure = "permission denied for table FileProcess. Next: GRANT UPDATE ON FileProcess TO batch;"
    enter(world, "c1")
    world.sql("UPDATE Controller SET Trouble = ?", failure)

    seen = explain.why(world.transactions, world.clock, PRESENCE, "file:1")
    found = {name: clear for name, _, clear in blocking(seen)}
    assert found["created"] == found["controller"] == "GRANT UPDATE ON FileProcess TO batch;"


def test_without_a_controller_nothing_starts(world: World) -> None:
    world.batch()
    files(world, 1)

    (gate,) = why(world, "1", controller=None).blocking
    assert (gate.name, gate.blocked) == ("controller", "no controller is running")
    assert str(gate.clear).startswith("batchctl run ")


@pytest.mark.parametrize(
    ("change", "is_there"),
    [
        ("Status = 'running'", True),
        ("Status = 'stopped'", False),
        ("Status = 'lost'", False),
        ("BootId = 'proved'", False),
    ],
)
def test_a_controller_is_there_while_it_runs_and_nobody_can_prove_it_dead(
    world: World, change: str, is_there: bool
) -> None:
    presence = Presence(Rhythm(), is_gone=lambda row: row.boot_id == "proved")
    enter(world, "c1")
    world.sql(f"UPDATE Controller SET {change}")
    seen = overview.overview(world.transactions, world.clock, presence)

    assert seen.controllers == (("c1",) if is_there else ())


def test_a_controller_that_has_been_silent_for_a_while_is_not_there(world: World) -> None:
    enter(world, "c1")
    patience = BEATS * PRESENCE.rhythm.heartbeat_interval
    for passed, expected in ((patience - timedelta(seconds=1), ("c1",)), (timedelta(seconds=1), ())):
        world.clock.advance(passed)
        assert overview.overview(world.transactions, world.clock, PRESENCE).controllers == expected


def test_all_controllers_are_named_in_order_of_their_start(world: World) -> None:
    enter(world, "c2")
    now = world.clock.now().strftime("%Y-%m-%d %H:%M:%S")
    world.sql("INSERT INTO Controller (ControllerName, Host, Heartbeat) VALUES ('c1', 'h', ?)", now)

    assert overview.overview(world.transactions, world.clock, PRESENCE).controllers == ("c2", "c1")


def test_every_gate_that_blocks_is_named_with_what_clears_it(world: World) -> None:
    world.runner.script = lambda rendered: BAD
    world.batch("stopper", OnFailure="stop_all")
    files(world, 1, "stopper")
    world.process()
    world.batch("B", steps=0, Enabled=0)
    files(world, 1)
    world.sql("UPDATE BatchControl SET NextRunTime = '2099-01-01 00:00:00.000' WHERE BatchControl_id = 2")

    assert blocking(why(world, "2")) == [
        ("enabled", "batch B is disabled", "batchctl enable B --reason ..."),
        ("steps", "batch B has no steps", why(world, "2").gates[3].clear),
        ("NextRunTime", "it waits until 2099-01-01 00:00:00 UTC", "batchctl rerun 2 --reason ..."),
        ("stop_all", "BatchControl 1 is failed and its batch stops everything", "batchctl why 1"),
    ]


def test_who_stands_in_line_behind_others_waits_for_a_place(world: World) -> None:
    world.batch(MaxConcurrent=2)
    files(world, 3)

    assert why(world, "2").blocking == ()
    assert [gate.name for gate in why(world, "3").blocking] == ["MaxConcurrent"]


def test_what_waits_for_a_slot_is_not_said_to_start_next(world: World) -> None:
    world.runner.script = lambda rendered: None
    world.batch("A")
    world.batch("B")
    files(world, 1, "A")
    files(world, 1, "B")
    world.process(slots=1)
    enter(world, str(world.one("SELECT ClaimedBy FROM BatchControl WHERE BatchControl_id = 1")))
    world.sql("UPDATE Controller SET Slots = 1")

    (waiting,) = overview.overview(world.transactions, world.clock, PRESENCE).waiting
    assert str(waiting.reason).startswith("all slots of the controllers that run are taken (1); BatchControl 1")
    (gate,) = explain.why(world.transactions, world.clock, PRESENCE, "2").blocking
    assert gate.blocked == waiting.reason


def test_a_paused_instance_keeps_no_place(world: World, operator: Operator) -> None:
    world.batch()
    files(world, 2)
    operator.pause(InstanceId(1))

    assert why(world, "2").blocking == ()


def test_a_running_instance_is_not_said_to_stand_in_its_own_way(world: World) -> None:
    world.runner.script = lambda rendered: None
    world.batch()
    files(world, 2)
    world.process()

    assert [gate.name for gate in why(world, "1").blocking] == ["status"]
    assert [gate.name for gate in why(world, "2").blocking] == ["MaxConcurrent"]


@pytest.mark.parametrize("on_failure", ["hold_batch", "stop_all", "continue"])
def test_what_why_says_is_what_the_controller_does(world: World, on_failure: str) -> None:
    world.runner.script = lambda rendered: BAD if "of 2 " in rendered.command_text else OK
    world.batch("one", OnFailure=on_failure, Seq=1)
    world.batch("two", Seq=2)
    files(world, 4, "one")
    files(world, 2, "two")
    world.process()

    for number, status in enumerate(world.statuses(), start=1):
        if status == "ready":
            assert why(world, str(number)).blocking
    assert world.statuses().count("ready") == {"hold_batch": 2, "stop_all": 4, "continue": 0}[on_failure]


def test_a_batch_is_explained_by_its_first_open_instance(world: World) -> None:
    world.batch(Enabled=0)
    files(world, 1)
    explained = why(world, "batch:B")

    assert explained.status == "disabled"
    assert [gate.name for gate in explained.blocking] == ["enabled"]
    assert "BatchControl 1 (ready)" in explained.notes[0]


def test_a_batch_without_instances_is_explained_by_itself(world: World) -> None:
    world.batch(steps=0)
    explained = why(world, "batch:B")

    assert [gate.name for gate in explained.blocking] == ["steps"]
    assert "takes entity 'B'" in explained.notes[0]


def file_gates(world: World, intake_id: int) -> Sequence[tuple[str, str | None, str | None]]:
    """Return what blocks a row beside that nobody leads: here nobody ever does."""
    return [gate for gate in blocking(why(world, f"file:{intake_id}")) if gate[0] != "leader"]


def test_a_row_is_explained_by_what_became_of_it(world: World) -> None:
    world.batch()
    world.submit(Data="same")
    world.submit(Data="same")
    world.submit("C")
    world.submit(Status="paused")
    assert file_gates(world, 1) == [("created", "batch B has no instance of it yet", "batchctl create")]

    world.create()

    assert file_gates(world, 1) == []
    assert why(world, "file:1").notes == ("Its instances: BatchControl 1 (ready).", "Its entity is taken by: B.")
    ((name, said, clear),) = file_gates(world, 2)
    assert (name, clear) == ("status", "batchctl accept 2 --reason ...")
    assert "same Data as FileProcess 1" in str(said)
    assert file_gates(world, 3)[0][:2] == ("entity", "no batch takes entity 'C'. Known: B.")
    assert file_gates(world, 4)[0][0] == "status"


def test_a_row_whose_batch_is_disabled_is_told_so_with_what_to_type(world: World) -> None:
    world.batch("Task")
    world.batch("Other", Entity="Task")
    world.sql("UPDATE ProcessBatch SET Enabled = 0 WHERE ProcessBatchName = 'Task'")
    world.submit("Task")
    disabled = ("enabled", "batch Task is disabled", "batchctl enable Task --reason ...")
    assert disabled in file_gates(world, 1)

    world.create()
    assert file_gates(world, 1) == [disabled]

    world.sql(
        "UPDATE BatchControl SET Status = 'complete'"
        " WHERE ProcessBatch_id IN (SELECT ProcessBatch_id FROM ProcessBatch WHERE ProcessBatchName = 'Task')"
    )
    assert file_gates(world, 1) == []


def test_a_rejected_row_is_corrected_before_it_is_tried_again(world: World) -> None:
    world.batch("Sensor", Populator="nonsense")
    world.submit("Sensor")
    world.create()
    correct = (
        "correct FileName, or Populator and PopulatorArgs of batch Sensor (UPDATE ...), then:"
        " batchctl inbox retry 1 --reason ...; if it is not wanted: batchctl inbox reject 1 --reason ..."
    )

    assert look(world).to_take_in == {1: correct}
    assert [clear for _, _, clear in file_gates(world, 1)] == [correct]
    rejection = inspection.rejected_row(world.transactions, IntakeId(1))
    assert "no populator 'nonsense'" in rejection.message
    assert rejection.clear == correct
    with pytest.raises(NotFound):
        inspection.rejected_row(world.transactions, IntakeId(9))


@pytest.mark.parametrize("status", ["complete", "cancelled"])
def test_what_has_ended_waits_for_no_controller(world: World, status: str) -> None:
    world.batch()
    files(world, 1)
    world.sql("UPDATE BatchControl SET Status = ?", status)

    assert "controller" not in [gate.name for gate in why(world, "1", controller=None).gates]


@pytest.mark.parametrize("status", ["complete", "rejected", "duplicate"])
def test_a_row_no_pass_looks_at_waits_for_no_controller(world: World, status: str) -> None:
    world.batch()
    world.submit("B")
    world.sql("UPDATE FileProcess SET Status = ?", status)

    assert "controller" not in [gate.name for gate in why(world, "file:1", controller=None).gates]


@pytest.mark.parametrize(
    ("ref", "meant"),
    [("Sensor", " Did you mean 'batch:Sensor'?"), ("senser", " Did you mean 'batch:Sensor'?"), ("zz", "")],
)
def test_a_batch_without_its_prefix_is_a_usage_error_that_suggests_it(world: World, ref: str, meant: str) -> None:
    world.batch("Sensor")
    with pytest.raises(InvalidInput) as refused:
        why(world, ref)

    assert refused.value.exit_code == 2
    assert refused.value.message.endswith(f"or trigger:NAME.{meant}")
    assert refused.value.next_step == ("batchctl why batch:Sensor" if meant else "batchctl status")


@pytest.mark.parametrize("ref", ["", "x", "42x", "-1", "batch:nobody", "file:9", "file:x", "9", "9" * 30, "\x1b[31m"])
def test_what_does_not_exist_is_not_found(world: World, ref: str) -> None:
    with pytest.raises((NotFound, InvalidInput)) as failure:
        why(world, ref)

    assert str(failure.value.next_step).startswith("batchctl ")
    assert "\x1b" not in failure.value.message


def test_one_instance_is_shown_in_full(world: World, operator: Operator) -> None:
    world.runner.script = lambda rendered: BAD if rendered.spec["seq"] == 20 else OK
    world.batch(steps=4)
    files(world, 1)
    world.process()
    operator.skip(InstanceId(1), reason="not needed today")
    shown = inspection.show(world.transactions, InstanceId(1))

    assert [(state.step.seq, state.state) for state in shown.steps] == [
        (10, "done"),
        (20, "skipped"),
        (30, "next"),
        (40, "to come"),
    ]
    assert [entry.status for entry in shown.history] == ["success", "failed", "skipped"]
    assert [entry.action for entry in shown.audit if not entry.action.startswith("row ")] == ["skip"]
    assert shown.intake is not None
    assert shown.intake.file_name == "0"


def test_the_history_is_shown_by_instance_and_newest_first(world: World) -> None:
    world.batch(steps=2)
    files(world, 3)
    world.process()

    of_one, _ = inspection.attempts_of(world.transactions, InstanceId(2))
    newest, _ = inspection.newest_attempts(world.transactions, 3)

    assert [(entry.instance_id, entry.seq) for entry in of_one] == [(2, 10), (2, 20)]
    assert [(entry.instance_id, entry.seq) for entry in newest] == [(3, 20), (3, 10), (2, 20)]


def test_an_instance_without_history_has_none_and_one_that_does_not_exist_is_not_found(world: World) -> None:
    world.batch()
    files(world, 1)

    assert inspection.attempts_of(world.transactions, InstanceId(1)) == ([], [])
    for look_at in (inspection.attempts_of, inspection.show):
        with pytest.raises(NotFound, match="no BatchControl 2"):
            look_at(world.transactions, InstanceId(2))


def test_batches_come_by_seq_with_their_counts(world: World) -> None:
    world.batch("late", Seq=9)
    world.batch("early", Seq=1)
    files(world, 2, "late")

    found, broken, _ = inspection.batches(world.transactions, world.clock)

    assert broken == ()
    assert [(one.batch.name, one.instances) for one in found] == [("early", {}), ("late", {InstanceStatus.READY: 2})]
