"""The rows of jobs say what their code says, whoever starts when, and what is the operator's stays his."""

from __future__ import annotations

import json
import threading
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from batchctl.domain.definitions.declared import Cadence
from batchctl.domain.errors import NotFound, Refused
from batchctl.operations.definitions.job_findings import job_findings
from batchctl.operations.definitions.reconciler import Reconciled
from batchctl.operations.definitions.roster import failure_of
from batchctl.operations.definitions.schedule_removal import RemovedSchedule, remove
from batchctl.operations.intervene import Operator
from batchctl.operations.operators.acts import Actor
from batchctl.operations.scheduling.timetable import Timetable
from batchctl.plugin_api import Job, daily, every, job, once, retry
from batchctl.store.definitions import job_rows
from tests.control.world import World
from tests.control_databases import ACTS
from tests.workshop import Node, Workshop


@pytest.fixture
def shop(world: World) -> Workshop:
    """Return tables without jobs."""
    return Workshop(world)


@retry(attempts=3, interval_seconds=60)
@daily("09:00")
@daily("17:00")
def nightly() -> None:
    """Vacuum."""


@daily("09:00")
def morning() -> None:
    pass


(ONE,) = daily("10:00")(lambda: None).cadences


def refuse(world: World, name: str) -> None:
    """Let a trigger of the database's owner refuse a schedule."""
    if world.database.kind == "sqlite":
        world.sql(
            f"CREATE TRIGGER refusing BEFORE INSERT ON Schedule WHEN NEW.ScheduleName = '{name}' "
            "BEGIN SELECT RAISE(ABORT, 'not this one'); END"
        )
        return
    world.sql(
        "CREATE FUNCTION refusing() RETURNS trigger LANGUAGE plpgsql AS "
        f"$$ BEGIN IF NEW.ScheduleName = '{name}' THEN RAISE EXCEPTION 'not this one'; END IF; RETURN NEW; END $$"
    )
    world.sql("CREATE TRIGGER refusing BEFORE INSERT ON Schedule FOR EACH ROW EXECUTE FUNCTION refusing()")


def moved(times: str) -> Job:
    """Return the job `morning` with other times under the same name."""
    return job("morning")(daily(times, name="Daily_09_00")(lambda: None))


def test_a_schedule_that_was_never_armed_is_listed_with_the_time_at_which_the_leader_would_fire_it(
    shop: Workshop,
) -> None:
    shop.starts(morning)
    unarmed = "UPDATE Schedule SET NextRunTime = NULL, DecidedUntil = NULL, TimingHash = NULL"
    shop.world.sql(f"{unarmed}, Jitter = 3600")
    table = Timetable(transactions=shop.world.transactions, clock=shop.world.clock, zone="UTC", grace=timedelta(0))
    (timed,) = table.everything()
    (listed,) = shop.line("morning", morning).schedules
    shop.world.sql("UPDATE ProcessBatch SET ProcessingMode = 'manual'")
    (left_alone,) = shop.line("morning", morning).schedules

    assert timed.next is not None
    assert listed.next_run == timed.next.at
    assert left_alone.next_run is None


def test_a_decorated_function_becomes_a_batch_with_one_step_and_its_schedules(shop: Workshop) -> None:
    shop.starts(nightly)

    assert shop.batch("nightly", "Entity, Enabled, RetryCount, RetryWaitSecs, OnFailure, Origin") == (
        *(None, 1, 2, 60, "continue", "job shop"),
    )
    steps = "SELECT ProcessControlSeq, ProcessName, ProcessType, Data1, Data2 FROM ProcessControl"
    assert shop.world.sql(steps) == [(10, "nightly", "python", "nightly", None)]
    assert shop.schedules("Entity, ScheduleType, RunTimes, Enabled, Origin") == {
        "nightly.Daily_09_00": ("nightly", "daily", "09:00", 1, "job shop"),
        "nightly.Daily_17_00": ("nightly", "daily", "17:00", 1, "job shop"),
    }


def test_a_second_start_writes_nothing(shop: Workshop) -> None:
    shop.starts(nightly)
    before = shop.world.hand.dump()

    assert shop.starts(nightly).written == ()
    assert shop.world.hand.dump() == before


def test_a_dry_run_writes_nothing_and_says_what_it_would(shop: Workshop) -> None:
    before = shop.world.hand.dump()
    would = shop.starts(nightly, dry_run=True)

    assert shop.world.hand.dump() == before
    assert [(one.change.table, one.change.name) for one in would.written] == [
        ("ProcessBatch", "nightly"),
        ("ProcessControl", "nightly"),
        ("Schedule", "nightly.Daily_09_00"),
        ("Schedule", "nightly.Daily_17_00"),
    ]
    assert shop.world.events == []


def test_arguments_and_entity_are_those_of_the_code(shop: Workshop) -> None:
    def made(entity: str, arguments: str) -> Job:
        return job("load", entity=entity, arguments=arguments)(every(2, "hours")(lambda: None))

    shop.starts(made("Orders", "day={CycleKey}"))
    shop.starts(made("Sales", "day={CycleKey}, rows=5"))

    assert shop.batch("load", "Entity") == ("Sales",)
    assert shop.schedules("Entity, IntervalMinutes") == {"load.Every_2_hours": ("Sales", 120)}
    assert shop.world.one("SELECT Data2 FROM ProcessControl") == "day={CycleKey}, rows=5"


def test_what_an_operator_has_added_to_a_batch_stays(shop: Workshop) -> None:
    shop.starts(nightly)
    shop.world.step(int(shop.world.one("SELECT ProcessBatch_id FROM ProcessBatch")), 20)
    shop.world.sql("UPDATE ProcessBatch SET Seq = 5, OnFailure = 'stop_all', Enabled = 0, MaxConcurrent = 2")
    shop.world.sql("UPDATE ProcessControl SET Data2 = 'rows=5', MaxDuration = 60 WHERE ProcessControlSeq = 10")
    before = shop.world.hand.dump()

    assert shop.starts(nightly).written == ()
    assert shop.world.hand.dump() == before


def test_a_step_that_somebody_deleted_is_made_again_behind_the_others(shop: Workshop) -> None:
    shop.starts(nightly)
    shop.world.sql("UPDATE ProcessControl SET Data1 = 'other'")
    shop.starts(nightly)

    assert shop.world.sql("SELECT ProcessControlSeq, Data1 FROM ProcessControl ORDER BY 1") == [
        (10, "other"),
        (20, "nightly"),
    ]


def test_what_a_person_wrote_by_hand_is_written_over_and_told_apart_from_new_code(shop: Workshop) -> None:
    shop.starts(morning)
    shop.world.sql("UPDATE Schedule SET RunTimes = '04:00', Jitter = 30")
    drifted = shop.line("morning", morning).schedules[0].drift
    by_hand = shop.starts(morning)
    overwritten = shop.line("morning", morning).schedules[0]
    by_code = shop.starts(moved("09:30"))

    assert drifted == "differs from the code: RunTimes 04:00 becomes 09:00"
    assert [dict(one.by_hand) for one in by_hand.written] == [{"RunTimes": "04:00"}]
    assert (overwritten.drift, "somebody had written RunTimes 04:00 by hand" in (overwritten.overwritten or "")) == (
        *(None, True),
    )
    assert [dict(one.by_hand) for one in by_code.written] == [{}]
    assert shop.schedules("RunTimes, Jitter") == {"morning.Daily_09_00": ("09:30", 30)}
    assert shop.line("morning", moved("09:30")).schedules[0].overwritten is None
    assert shop.announced()[3:] == [
        ("job.overwritten", "morning.Daily_09_00"),
        ("job.rewritten", "morning.Daily_09_00"),
    ]


def test_the_audit_log_keeps_what_was_there_before(shop: Workshop) -> None:
    shop.starts(morning)
    shop.world.sql("UPDATE Schedule SET RunTimes = '04:00'")
    shop.starts(morning)

    (row,) = shop.world.sql(
        "SELECT Actor, Host, Target, ValuesBefore, ValuesAfter FROM AuditLog WHERE Action = 'overwrite'"
    )
    assert row[:3] == ("batchctl", "host1", "Schedule:morning.Daily_09_00")
    assert [json.loads(text) for text in row[3:]] == [{"RunTimes": "04:00"}, {"RunTimes": "09:00"}]


def test_a_word_written_in_another_letter_case_is_no_difference(shop: Workshop) -> None:
    shop.starts(job("weekdays")(daily("09:00", days="Mon-Fri")(lambda: None)))
    shop.world.sql("UPDATE Schedule SET RunDays = 'mon-fri'")

    assert shop.starts(job("weekdays")(daily("09:00", days="Mon-Fri")(lambda: None))).written == ()


def test_what_left_the_code_is_enabled_again_when_it_comes_back(shop: Workshop) -> None:
    shop.starts(nightly, morning)
    shop.starts(morning)
    gone = shop.batch("nightly", "Enabled, Origin"), shop.schedules("Enabled, Origin")
    shop.starts(nightly, morning)

    assert gone == (
        (0, "left shop"),
        {
            "morning.Daily_09_00": (1, "job shop"),
            "nightly.Daily_09_00": (0, "left shop"),
            "nightly.Daily_17_00": (0, "left shop"),
        },
    )
    assert shop.batch("nightly", "Enabled, Origin") == (1, "job shop")
    assert set(shop.schedules("Enabled, Origin").values()) == {(1, "job shop")}


def test_what_an_operator_has_disabled_does_not_come_back_by_itself(shop: Workshop) -> None:
    shop.starts(nightly)
    shop.world.sql("UPDATE Schedule SET Enabled = 0 WHERE ScheduleName = 'nightly.Daily_09_00'")
    shop.world.sql("UPDATE ProcessBatch SET Enabled = 0")
    shop.starts()
    shop.starts(nightly)

    assert shop.schedules() == {"nightly.Daily_09_00": 0, "nightly.Daily_17_00": 1}
    assert shop.batch("nightly", "Enabled") == (0,)


def test_a_job_that_lost_its_cadences_keeps_its_batch(shop: Workshop) -> None:
    shop.starts(morning)
    shop.starts(job("morning")(lambda: None))

    assert shop.schedules("Enabled, Origin") == {"morning.Daily_09_00": (0, "left shop")}
    assert shop.batch("morning", "Enabled, Origin") == (1, "job shop")


def test_nothing_is_disabled_of_a_module_that_cannot_be_imported(shop: Workshop) -> None:
    shop.starts(nightly)
    before = shop.world.hand.dump()
    broken = Node(unimported=["shop"])
    done = shop.starts(node=broken)
    line = shop.line("nightly", node=broken)

    assert (done.written, len(done.failed_modules)) == ((), 1)
    assert shop.world.hand.dump() == before
    assert (line.state, "cannot be loaded" in (line.wording or "")) == ("broken", True)
    assert shop.announced()[-1] == ("job.unknown", None)


def test_nothing_is_disabled_of_a_job_that_cannot_be_loaded(shop: Workshop) -> None:
    shop.starts(nightly)
    before = shop.world.hand.dump()
    node = Node(broken=["nightly"], shop=[morning])
    shop.starts(node=node)

    assert shop.line("nightly", node=node).state == "broken"
    assert set(shop.schedules().items()) == {
        ("morning.Daily_09_00", 1),
        ("nightly.Daily_09_00", 1),
        ("nightly.Daily_17_00", 1),
    }
    assert shop.world.hand.dump()["ProcessControl"][:1] == before["ProcessControl"]


def test_nodes_that_know_different_modules_leave_each_other_alone(shop: Workshop) -> None:
    first, second = Node(a=[nightly]), Node(b=[morning])
    for node in (first, second, first, second):
        shop.starts(node=node)

    assert set(shop.schedules("Enabled, Origin").values()) == {(1, "job a"), (1, "job b")}
    assert shop.line("nightly", node=second).state == "elsewhere"


def test_what_no_node_has_any_more_is_disabled_when_somebody_says_so(shop: Workshop) -> None:
    shop.starts(node=Node(a=[nightly]))
    shop.starts(node=Node(b=[]))
    before = set(shop.schedules().values())
    shop.starts(node=Node(b=[]), retired=["a"])

    assert (before, set(shop.schedules().values())) == ({1}, {0})
    assert shop.batch("nightly", "Enabled, Origin") == (0, "left a")


def test_a_job_that_moved_to_another_module_keeps_its_rows(shop: Workshop) -> None:
    shop.starts(node=Node(a=[nightly]))
    shop.world.sql("UPDATE Schedule SET Jitter = 30")
    shop.starts(node=Node(b=[nightly]))

    assert set(shop.schedules("Enabled, Jitter, Origin").values()) == {(1, 30, "job b")}
    assert shop.starts(node=Node(a=[], b=[nightly])).written == ()


def test_a_batch_that_a_person_made_is_left_alone_and_others_go_on(shop: Workshop) -> None:
    shop.world.batch("nightly")
    before = shop.batch("nightly", "Entity, RetryCount, Origin")
    done = shop.starts(nightly, morning)

    assert [(one.job, one.name) for one in done.all_refused] == [("nightly", "nightly")]
    assert "no code of a job has made" in done.all_refused[0].message
    assert '@job("...")' in done.all_refused[0].message
    assert shop.batch("nightly", "Entity, RetryCount, Origin") == before
    assert shop.schedules() == {"morning.Daily_09_00": 1}
    assert shop.line("nightly", nightly, morning).state == "refused"
    assert ("job.refused", "nightly") in shop.announced()


def test_a_schedule_that_a_person_made_is_left_alone(shop: Workshop) -> None:
    columns = {"ScheduleName": "morning.Daily_09_00", "Entity": "B", "ScheduleType": "daily", "RunTimes": "01:00"}
    shop.world._insert("Schedule", columns)
    done = shop.starts(morning)

    assert [one.name for one in done.all_refused] == ["morning.Daily_09_00"]
    assert shop.schedules("Entity, RunTimes, Origin") == {"morning.Daily_09_00": ("B", "01:00", None)}


def test_two_jobs_that_differ_in_letter_case_alone_are_not_both_written(shop: Workshop) -> None:
    other = job("Morning")(daily("10:00")(lambda: None))
    done = shop.starts(other, morning)

    assert len(done.all_refused) == 1
    assert len(shop.schedules()) == 1
    assert shop.starts(other, morning).written == ()


def test_a_name_that_no_column_takes_is_refused_alone(shop: Workshop) -> None:
    endless = job("x" * 195)(daily("10:00")(lambda: None))
    done = shop.starts(endless, morning)

    assert "a column takes 200" in done.all_refused[0].message
    assert shop.schedules() == {"morning.Daily_09_00": 1}


@pytest.mark.parametrize(
    ("unfit", "wanted"),
    [
        ({"entity": "x" * 500}, "entity: it has 500 characters"),
        ({"entity": "a\0b"}, "entity: it contains a NUL"),
        ({"entity": 5}, "entity: it is no text"),
        ({"arguments": "a=\0"}, "arguments: it contains a NUL"),
        ({"arguments": {"a": 1}}, "arguments: it is no text"),
        ({"cadences": (Cadence("n", replace(ONE.timing, calendar_name="c" * 300)),)}, "calendar_name: it has 300"),
    ],
)
def test_a_text_that_no_column_takes_is_refused_alone(shop: Workshop, unfit: dict[str, Any], wanted: str) -> None:
    made = replace(job("unfit")(daily("10:00")(lambda: None)), **unfit)
    done = shop.starts(made, morning)

    assert [one.job for one in done.all_refused] == ["unfit"]
    assert wanted in done.all_refused[0].message
    assert shop.schedules() == {"morning.Daily_09_00": 1}
    assert shop.line("unfit", made, morning).state == "refused"


def test_what_the_database_refuses_of_one_job_leaves_out_that_job_alone(shop: Workshop) -> None:
    refuse(shop.world, "morning.Daily_09_00")
    done = shop.starts(morning, nightly)

    assert [(one.job, one.name) for one in done.all_refused] == [("morning", "morning.Daily_09_00")]
    assert "not this one" in done.all_refused[0].message
    assert "batchctl job reconcile" in done.all_refused[0].message
    assert {one.change.job for one in done.written} == {"nightly"}
    assert shop.schedules() == {"nightly.Daily_09_00": 1, "nightly.Daily_17_00": 1}
    assert shop.world.sql("SELECT ProcessBatchName FROM ProcessBatch") == [("nightly",)]
    assert (
        shop.world.one(
            "SELECT count(*) FROM AuditLog WHERE Target = 'ProcessBatch:morning' AND Action NOT LIKE 'row %'"
        )
        == 0
    )
    assert ("job.refused", "morning.Daily_09_00") in shop.announced()
    assert ("job.added", "morning") not in shop.announced()


def test_a_name_that_changed_in_letter_case_alone_is_refused_and_nothing_of_it_retired(shop: Workshop) -> None:
    shop.starts(job("Nightly")(daily("09:00")(lambda: None)))
    before = shop.world.hand.dump()
    lower = job("nightly")(daily("10:00")(lambda: None))
    done = shop.starts(lower)

    assert done.written == ()
    assert "called 'Nightly'" in done.all_refused[0].message
    assert '@job("Nightly")' in done.all_refused[0].message
    assert shop.world.hand.dump() == before
    assert [one.change.job for one in shop.starts(lower, morning).written] == ["morning"] * 3


def test_who_renames_the_batch_as_the_refusal_says_has_the_new_name(shop: Workshop) -> None:
    shop.starts(job("Nightly")(daily("09:00")(lambda: None)))
    shop.world.sql("UPDATE ProcessBatch SET ProcessBatchName = 'nightly'")
    shop.world.sql("UPDATE ProcessControl SET Data1 = 'nightly'")
    lower = job("nightly")(daily("09:00")(lambda: None))

    assert shop.starts(lower).all_refused == ()
    assert shop.schedules("Entity, Enabled") == {"Nightly.Daily_09_00": ("nightly", 1)}
    assert shop.starts(lower).written == ()


@pytest.mark.parametrize("broken", ["Nightly", "nightly"])
def test_nothing_is_disabled_of_a_job_in_another_letter_case_that_cannot_be_loaded(shop: Workshop, broken: str) -> None:
    shop.starts(nightly)

    assert shop.starts(node=Node(broken=[broken], shop=[])).written == ()


def test_a_moment_that_is_over_stays_over_and_another_one_is_another_schedule(shop: Workshop) -> None:
    shop.starts(job("move")(once("2026-12-01 02:00")(lambda: None)))
    shop.world.sql("UPDATE Schedule SET Enabled = 0")  # As firing does.
    shop.starts(job("move")(once("2026-12-01 02:00")(lambda: None)))
    before = shop.schedules()
    shop.starts(job("move")(once("2026-12-24 18:00")(lambda: None)))

    assert before == {"move.Once_2026_12_01_02_00": 0}
    assert shop.schedules() == {"move.Once_2026_12_01_02_00": 0, "move.Once_2026_12_24_18_00": 1}


def test_controllers_that_start_at_once_write_everything_once(world: World) -> None:
    shop = Workshop(world)
    done: list[Reconciled | Exception] = []
    ready = threading.Barrier(4)

    def start(transactions: Any) -> None:
        ready.wait()
        try:
            done.append(shop.reconciler(Node(shop=[nightly, morning]), transactions).reconcile())
        except Exception as error:  # noqa: BLE001 - the test shows it
            done.append(error)

    threads = [threading.Thread(target=start, args=(world.open(),)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert [one for one in done if isinstance(one, Exception)] == []
    assert shop.world.one(f"SELECT count(*) FROM AuditLog WHERE {ACTS}") == 7
    assert len(shop.schedules()) == 3


def test_a_write_that_is_refused_leaves_nothing_half_written(shop: Workshop) -> None:
    before = shop.world.hand.dump()
    run = shop.world.transactions.run

    def refused(boundaries: Any, work: Any, **options: Any) -> Any:
        def breaks(connection: Any) -> Any:
            work(connection)
            raise ZeroDivisionError

        return run(boundaries, breaks, **options)

    shop.world.transactions.run = refused
    with pytest.raises(ZeroDivisionError):
        shop.starts(nightly)
    shop.world.transactions.run = run

    assert shop.world.hand.dump() == before


def checked(shop: Workshop, *jobs: Job, node: Node | None = None) -> list[tuple[str, str, str, str]]:
    """Return what `check` says of the rows of jobs."""
    with shop.world.transactions.read() as connection:
        found = list(job_findings(connection, node or Node(shop=jobs)))
    return [(table, row, one.column, f"{one.message} {one.remedy}") for table, row, one in found]


def removed(shop: Workshop, name: str, node: Node) -> RemovedSchedule:
    """Remove a schedule, as the command does."""
    world = shop.world
    actor = Actor(transactions=world.transactions, clock=world.clock, user="anna", host="host1")
    operator = Operator(
        transactions=world.transactions,
        clock=world.clock,
        preparer=world.recorder().preparer,
        user="anna",
        host="host1",
    )
    return remove(actor, operator, name, reason="not wanted", plugins=node)


def test_nothing_is_found_of_what_only_follows_from_a_broken_module(shop: Workshop) -> None:
    shop.starts(nightly)

    assert checked(shop, node=Node(unimported=["shop"])) == []
    assert len(checked(shop, node=Node(other=[]))) == 2


def test_a_job_of_a_broken_module_may_be_run_and_the_module_is_named(shop: Workshop) -> None:
    shop.starts(nightly)
    with shop.world.transactions.read() as connection:
        (batch,) = job_rows.read(connection).batches

    assert "'shop' cannot be loaded" in (failure_of(Node(unimported=["shop"]), batch) or "")
    assert "'nightly' cannot be loaded" in (failure_of(Node(broken=["nightly"]), batch) or "")
    assert failure_of(Node(shop=[nightly]), batch) is None


def test_a_schedule_that_the_code_says_is_not_removed_and_one_that_left_is(shop: Workshop) -> None:
    shop.starts(morning)
    with pytest.raises(Refused, match="the code still says it") as refused:
        removed(shop, "morning.Daily_09_00", Node(shop=[morning]))
    with pytest.raises(Refused, match="cannot be asked here"):
        removed(shop, "morning.Daily_09_00", Node(unimported=["shop"]))
    shop.starts()
    removed(shop, "morning.Daily_09_00", Node(shop=[]))

    assert "schedule disable morning.Daily_09_00" in (refused.value.next_step or "")
    assert shop.schedules() == {}


def test_what_was_disabled_and_then_left_the_code_can_be_removed(shop: Workshop) -> None:
    shop.starts(morning)
    shop.world.sql("UPDATE Schedule SET Enabled = 0")
    shop.starts()
    removed(shop, "morning.Daily_09_00", Node(shop=[]))

    assert shop.schedules() == {}


def test_a_row_that_somebody_deleted_is_made_again_and_that_is_said(shop: Workshop) -> None:
    first = shop.starts(morning).written
    shop.world.sql("DELETE FROM Schedule")
    found = checked(shop, morning)
    (again,) = shop.starts(morning).written

    assert not any("made again" in one.wording for one in first)
    assert again.wording == "made again: somebody had deleted the row, and the code still says it"
    ((table, row, _, said),) = found
    assert (table, row) == ("Schedule", "morning.Daily_09_00")
    assert "In the code of job morning, not in the table" in said


def test_a_step_that_differs_is_named_with_its_number_and_column(shop: Workshop) -> None:
    made = job("load", arguments="rows=5")(daily("09:00")(lambda: None))
    shop.starts(made)
    shop.world.sql("UPDATE ProcessControl SET Data2 = 'rows=6'")
    ((table, row, column, said),) = checked(shop, made)

    assert (table, row, column) == ("ProcessControl", "load, step 10", "Data2")
    assert "correct the decorator of load" in said


def test_an_owner_that_owns_nothing_is_not_found(shop: Workshop) -> None:
    shop.starts(nightly)
    with pytest.raises(NotFound, match=r"No row has Origin 'job shpo'\. Did you mean 'shop'"):
        shop.starts(nightly, retired=["shpo"])


def test_what_will_never_run_is_told(shop: Workshop) -> None:
    over = job("move")(once("2001-12-01 02:00")(lambda: None))
    without = job("close")(daily("09:00", calendar="MOON")(lambda: None))
    dry = shop.starts(over, without, nightly, dry_run=True).never
    done = shop.starts(over, without, nightly).never
    shop.world.sql("UPDATE Schedule SET Enabled = 0 WHERE ScheduleName = 'move.Once_2001_12_01_02_00'")

    assert dry == done
    assert [one.name for one in done] == ["close.Daily_09_00", "move.Once_2001_12_01_02_00"]
    assert "MOON" in done[0].message
    assert "2001-12-01 02:00, is over" in done[1].message
    assert [one.job for one in shop.starts(over, without, nightly).never] == ["close"]
    assert ("job.never_due", "close.Daily_09_00") in shop.announced()


def test_a_name_that_is_taken_leaves_out_only_its_job_and_says_so(shop: Workshop) -> None:
    shop.world.batch("nightly")

    assert "Nothing of this job is written; everything else is." in shop.starts(nightly, morning).all_refused[0].message
