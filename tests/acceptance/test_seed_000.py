"""What the staging scheduler of Primentra does, line by line of its requirements, as far as data triggers are concerned.

Each test is named after its line. What is about schedules and a fixed age of zombies is tested elsewhere or is not done so
on purpose.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from batchctl.control.intake.triggering import COUNTS_AGAIN
from batchctl.control.maintenance.purge import Retention
from batchctl.domain.intake.triggers import Counted
from batchctl.domain.rows import DataTrigger, InstanceId
from batchctl.operations.intervene import Operator
from batchctl.store import dead_end_rows
from batchctl.store.intake import data_triggers
from batchctl.system.plugins.inquiries import ThreadInquiries
from tests.acceptance.installation import RunBatchctl
from tests.control.world import BAD, RUNS_ON, World
from tests.control_databases import ControlDatabase
from tests.postgres import PostgresServer
from tests.staging_yard import POLL, Yard, a_yard, target_of

MINUTES = 60


@pytest.fixture
def yard(control_database: ControlDatabase, request: pytest.FixtureRequest) -> Iterator[Yard]:
    """A batch `B`, and a staging table beside it."""
    world = World(control_database)
    world.batch()
    with a_yard(world, lambda: request.getfixturevalue("postgres")) as made:
        yield made
    world.close()


def test_line_01_rows_that_others_deposit_start_work_without_a_button(yard: Yard) -> None:
    yard.trigger(RowThreshold=3)
    yard.deposit(3)

    assert yard.round()
    yard.work_off()

    assert yard.world.statuses() == ["complete"]


def test_after_a_failure_a_trigger_goes_on_where_on_failure_says_so_but_not_at_once(yard: Yard) -> None:
    yard.world.sql("UPDATE ProcessBatch SET OnFailure = 'continue'")
    yard.trigger(RowThreshold=1, DebounceSeconds=60)
    yard.deposit()
    yard.world.runner.script = lambda rendered: BAD
    assert yard.round()
    yard.work_off()
    assert yard.world.statuses() == ["failed"]

    assert not yard.round(), "what fails at once is not begun again all the time"
    yard.pass_time(61)
    assert yard.round()
    yard.work_off()
    assert yard.world.statuses() == ["failed", "failed"]

    yard.world.sql("UPDATE ProcessBatch SET OnFailure = 'hold_batch'")
    yard.pass_time(61)
    assert not yard.round()


def test_line_02_thirty_tables_are_looked_at_in_one_round_and_each_starts_its_own_work_once(yard: Yard) -> None:
    for at in range(30):
        yard.target.sql(yard.target.TABLE.format(name=f"Stage{at}"))
        yard.deposit(at + 1, table=f"Stage{at}")
        yard.trigger(f"t{at:02}", Entity=f"E{at:02}", TableName=f"Stage{at}", RowThreshold=1)

    assert yard.round()
    assert not yard.round()

    started = yard.world.sql("SELECT Entity, Message FROM FileProcess ORDER BY Entity")
    assert started == [(f"E{at:02}", f"{at + 1} row{'s' * (at > 0)} (threshold 1)") for at in range(30)]


def test_line_04_two_tables_hold_all_state_so_that_another_leader_goes_on_where_the_last_one_stopped(
    yard: Yard,
) -> None:
    yard.trigger(OnNewRows=1, DebounceSeconds=0)
    yard.deposit(ago=2)
    assert yard.round()
    yard.work_off()  # The batch leaves its row behind.

    yard.world.clock.advance(timedelta(hours=1))
    yard.age(3600)
    yard.duty = yard.leader()

    assert not yard.round()
    assert yard.events() == ["fired", "completed"]


def test_line_05_a_trigger_has_one_row(yard: Yard) -> None:
    yard.trigger(RowThreshold=1)

    with pytest.raises(yard.world.hand.Refused):
        yard.trigger(RowThreshold=2)


def test_line_06_and_13_without_a_trigger_an_entity_is_left_alone(yard: Yard) -> None:
    yard.deposit(1000, ago=86400)

    assert not yard.round()
    assert (yard.started(), yard.log()) == ([], [])


@pytest.mark.parametrize(
    ("mode", "fires"), [("manual", False), ("scheduled", False), ("triggered", True), (None, True)]
)
def test_line_06_and_13_a_batch_says_whether_a_trigger_starts_it(yard: Yard, mode: str | None, fires: bool) -> None:
    yard.trigger(RowThreshold=1)
    yard.deposit()
    yard.world.sql("UPDATE ProcessBatch SET ProcessingMode = ?", mode)

    assert yard.round() is fires
    assert [event for event, *_ in yard.log()] == (["fired"] if fires else [])


def test_line_13_one_batch_that_lets_it_is_enough(yard: Yard) -> None:
    yard.trigger(RowThreshold=1)
    yard.deposit()
    yard.world.sql("UPDATE ProcessBatch SET ProcessingMode = 'manual'")
    yard.world.batch("C", Entity="B", ProcessingMode="triggered")

    assert yard.round()


def test_line_09_and_12_what_a_row_leaves_out_is_sixty_seconds_of_debounce_and_enabled(yard: Yard) -> None:
    yard.trigger(OnNewRows=1)

    found = yard.world.sql("SELECT DebounceSeconds, Enabled, LastFired FROM DataTrigger")

    assert found == [(60, 1, None)]


def test_line_10_who_is_running_is_seen_from_the_instances_themselves(yard: Yard) -> None:
    yard.trigger(RowThreshold=1)
    yard.deposit()
    # Whoever asked for the work that is under way: a person here.
    yard.world.submit()

    assert not yard.round()
    assert len(yard.started()) == 1


def test_line_11_when_it_fired_is_kept_with_the_trigger(yard: Yard) -> None:
    yard.trigger(RowThreshold=1)
    yard.deposit()
    before = yard.world.clock.now()

    assert yard.round()

    assert yard.world.one("SELECT LastFired FROM DataTrigger") == f"{before:%Y-%m-%d %H:%M:%S}.000"


def test_line_11_a_time_that_a_wrong_clock_has_written_does_not_keep_it_from_firing(yard: Yard) -> None:
    yard.trigger(OnNewRows=1, DebounceSeconds=0, LastFired="2027-01-01 00:00")
    yard.deposit(ago=5)

    assert yard.round()
    assert str(yard.world.one("SELECT LastFired FROM DataTrigger")).startswith("2026-11-21 03:00")


def test_line_11_a_time_that_a_hand_has_written_is_that_of_the_last_fire(yard: Yard) -> None:
    yard.trigger(OnNewRows=1, DebounceSeconds=0, LastFired="2026-11-21 02:59")
    yard.deposit(ago=120)
    assert not yard.round()
    yard.deposit(ago=30)

    assert yard.round()
    assert yard.started()[0][2] == "1 new row (debounce 0 s)"


def test_line_12_a_disabled_trigger_is_not_evaluated(yard: Yard) -> None:
    yard.trigger(RowThreshold=1, Enabled=0, TableName="there is no such table")
    yard.deposit()

    assert not yard.round()
    assert (yard.started(), yard.log()) == ([], [])


def test_line_14_and_42_the_row_that_asks_for_work_names_its_cause(yard: Yard) -> None:
    yard.trigger(RowThreshold=500)
    yard.deposit(500)

    assert yard.round()
    yard.work_off()

    assert yard.started() == [("B", "trigger orders", "500 rows (threshold 500)")]


def test_line_15_every_event_has_its_row(yard: Yard) -> None:
    world = yard.world
    yard.trigger(RowThreshold=2)
    yard.deposit(2)
    assert yard.round()
    world.runner.script = lambda rendered: RUNS_ON
    yard.work_off()
    assert not yard.round()
    world.crash()
    yard.duty = yard.leader()
    world.recover()
    world.sql("UPDATE BatchControl SET Status = 'ready'")
    world.process()

    assert yard.events() == ["fired", "skipped", "error", "rescued", "completed"]


def test_line_15_work_that_fails_for_good_is_an_error_with_its_message(yard: Yard) -> None:
    yard.trigger(RowThreshold=1)
    yard.deposit()
    assert yard.round()
    yard.world.runner.script = lambda rendered: BAD
    yard.work_off()

    assert yard.log("error") == [("error", "trigger orders", "B", 1, 1, "it broke", 1)]


def test_line_15_work_that_a_person_brings_to_its_end_is_complete_with_his_reason(yard: Yard) -> None:
    world = yard.world
    yard.trigger(RowThreshold=1)
    yard.deposit()
    assert yard.round()
    world.runner.script = lambda rendered: BAD if "step 20" in rendered.command_text else world.ok
    yard.work_off()
    other = world.open()
    operator = Operator(
        transactions=other, clock=world.clock, preparer=world.recorder().preparer, user="anna", host="host1"
    )
    operator.skip(InstanceId(1), reason="it was done by hand")

    assert [(row[0], row[5]) for row in yard.log()[1:]] == [("error", "it broke"), ("completed", "it was done by hand")]


def test_line_15_what_a_person_asks_for_is_not_in_the_log(yard: Yard) -> None:
    yard.world.submit(Source="submit by anna@host1")
    yard.work_off()

    assert yard.world.statuses() == ["complete"]
    assert yard.log() == []


def test_line_16_17_and_42_a_row_of_the_log_holds_everything_about_its_event(yard: Yard) -> None:
    world = yard.world
    yard.trigger(RowThreshold=2)
    yard.deposit(3)
    assert yard.round()
    world.create()
    world.runner.script = lambda rendered: RUNS_ON
    controller = world.process()
    world.clock.advance(timedelta(seconds=90))
    world.runner.script = lambda rendered: world.ok
    world.runner.end(world.runner.started[-1], world.ok)
    world.turn_until_idle(controller)

    assert yard.log() == [
        ("fired", "trigger orders", "B", 1, None, "3 rows (threshold 2)", 3),
        ("completed", "trigger orders", "B", 1, 1, None, 3),
    ]
    found = world.sql("SELECT EventTime, DurationMs, ProcessBatch_id FROM SchedulerLog ORDER BY SchedulerLog_id")
    assert found == [("2026-11-21 03:00:00.000", None, None), ("2026-11-21 03:01:30.000", 90_000, 1)]


def test_line_18_a_round_begins_every_poll_interval(yard: Yard) -> None:
    yard.trigger(RowThreshold=1)
    asked: list[str] = []

    def count(trigger: DataTrigger, ago: timedelta | None) -> Counted:
        asked.append(trigger.name)
        return Counted(pending=0)

    leader = yard.leader(count=count)
    for _ in range(3):
        leader.look()
        yard.world.clock.advance(POLL / 2)
    leader.inquiries.wait()

    assert asked == ["orders", "orders"]


def test_line_20_what_is_purged_says_the_table_of_settings_and_the_log_goes_after_thirty_days(yard: Yard) -> None:
    world = yard.world
    for days in (31, 29, 8, 6):
        at = f"{world.clock.now() - timedelta(days=days):%Y-%m-%d %H:%M:%S}"
        world.sql(
            "INSERT INTO SchedulerLog (EventType, Source, Message, EventTime) VALUES ('error', 's', ?, ?)",
            str(days),
            at,
        )
        world.sql(
            "INSERT INTO AuditLog (Actor, Host, Action, Target, Reason, z_inserted) VALUES ('a', 'h', 'disable', 'B', ?, ?)",
            str(days),
            at,
        )

    def purged() -> list[list[str]]:
        Retention(world.transactions, world.clock, world.events.append, actor="anna", host="h").finish()
        logs = {"SchedulerLog": "Message", "AuditLog": "Reason"}
        return [
            [row[0] for row in world.sql(f"SELECT {of} FROM {log} WHERE {of} IS NOT NULL ORDER BY 1")]
            for log, of in logs.items()
        ]

    assert purged() == [["29", "6", "8"], ["29", "31", "6", "8"]]
    world.sql("INSERT INTO Setting (Name, Value) VALUES ('SchedulerLogDays', '7'), ('AuditLogDays', '30')")
    log, acts = purged()
    assert (log, [each for each in acts if each]) == (["6"], ["29", "6", "8"])
    assert world.sql("SELECT Actor, Target FROM AuditLog WHERE Action = 'purge'") == [("anna", "AuditLog")]


def test_line_21_two_leaders_at_once_start_work_once(yard: Yard) -> None:
    yard.trigger(RowThreshold=1)
    yard.deposit()
    other = yard.leader(transactions=yard.world.open())
    for leader in (yard.duty, other):
        leader._begin()
        leader.inquiries.wait()

    assert yard.duty.look()
    yard.world.sql("UPDATE FileProcess SET Status = 'complete'")  # Not even what it was for tells the other.

    assert not other.look()
    assert yard.events() == ["fired"]


def test_line_22_a_leader_that_was_frozen_starts_nothing_again_when_it_wakes(yard: Yard) -> None:
    yard.trigger(RowThreshold=1)
    yard.deposit()
    frozen = yard.leader(transactions=yard.world.open())
    frozen._begin()
    frozen.inquiries.wait()
    assert yard.round()
    yard.work_off()
    yard.clear()

    assert not frozen.look()
    assert yard.events() == ["fired", "completed"]


def test_line_23_a_round_goes_by_the_triggers_as_they_were_when_it_began(yard: Yard) -> None:
    yard.trigger(RowThreshold=1)
    yard.deposit()
    leader = yard.leader()
    leader._begin()
    yard.world.sql("UPDATE DataTrigger SET Enabled = 0, RowThreshold = 1000")

    leader.inquiries.wait()

    assert leader.look()
    assert yard.started()[0][2] == "1 row (threshold 1)"
    yard.work_off()
    assert not leader.finish()


def test_line_24_and_25_the_trouble_of_one_does_not_stop_the_others_and_is_told_once(yard: Yard) -> None:
    yard.trigger("a broken one", TableName="Stagin", RowThreshold=1)
    yard.trigger("elsewhere", ConnectionName="nowhere", RowThreshold=1)
    yard.trigger("no number", PendingValue="pending", RowThreshold=1)
    yard.trigger(RowThreshold=1)
    yard.deposit()

    assert yard.round()
    yard.world.sql("UPDATE FileProcess SET Status = 'complete'")
    yard.clear()
    assert not yard.round()
    yard.duty = yard.leader()
    assert not yard.round()

    assert sorted(yard.log("error")) == sorted(
        ("error", f"trigger {name}", "B", None, None, said, None)
        for name, said in {
            "a broken one": "There is no table 'Stagin' on connection 'wh'. Did you mean '{Staging}'?"
            " Next: correct TableName, or let the connection's user see the table",
            "elsewhere": "KeyError: 'nowhere'",
            "no number": "PendingValue 'pending' is no value of 'ImportStatus', which is {INTEGER}."
            " Next: correct PendingValue of the trigger",
        }.items()
        for said in [said.format(**SPELLED[yard.world.database.kind])]
    )


SPELLED = {
    "sqlite": {"Staging": "Staging", "INTEGER": "INTEGER"},
    # A control database on SQL Server has its staging tables on PostgreSQL, too.
    **{key: {"Staging": "staging", "INTEGER": "SMALLINT"} for key in ("postgresql", "mssql")},
}


def test_line_25_another_error_is_told_and_the_same_one_again_after_it_was_mended(yard: Yard) -> None:
    world = yard.world
    yard.trigger(RowThreshold=1, TableName="Stagin")
    yard.round()
    world.sql("UPDATE DataTrigger SET TableName = 'Staging', CreatedColumn = 'Created'")
    yard.round()
    yard.round()
    world.sql("UPDATE DataTrigger SET CreatedColumn = 'CreatedAt'")
    yard.round()
    world.sql("UPDATE DataTrigger SET CreatedColumn = 'Created'")
    yard.round()

    said = [row[5].partition(".")[0] for row in yard.log()]
    missing = "Table 'Staging' has no column 'Created'"
    assert said == ["There is no table 'Stagin' on connection 'wh'", missing, COUNTS_AGAIN, missing]
    assert world.names() == ["trigger.error", "trigger.error", "trigger.rescued", "trigger.error"]


def test_line_25_a_trigger_that_counts_again_is_nobodys_trouble_also_after_a_restart(yard: Yard) -> None:
    yard.trigger(RowThreshold=5, TableName="Stagin")
    yard.round()
    yard.world.sql("UPDATE DataTrigger SET TableName = 'Staging'")
    yard.duty = yard.leader()
    for _ in range(2):
        yard.pass_time(1)
        yard.round()

    assert yard.events() == ["error", "rescued"]
    with yard.world.transactions.read() as connection:
        assert dead_end_rows.dead_end_starts(connection) == ()


def test_line_24_a_table_that_does_not_answer_is_an_error_and_the_others_do_not_wait(yard: Yard) -> None:
    """Also the seed's own trap: there, each table waits for the one before it."""
    for at in range(8):
        yard.trigger(f"slow{at}", RowThreshold=1, TableName="slow")
    yard.trigger(RowThreshold=1)
    yard.deposit()
    goes_on = threading.Event()

    def count(trigger: DataTrigger, ago: timedelta | None) -> Counted:
        if trigger.table == "slow":
            goes_on.wait()
        return yard.count(trigger, ago)

    inquiries = ThreadInquiries(timedelta(seconds=1))
    leader = yard.leader(count=count, inquiries=inquiries)
    try:
        assert leader.finish()
        assert not leader.finish()
    finally:
        goes_on.set()

    assert [row[5] for row in yard.log("error")] == ["There was no answer within 1 seconds."] * 8
    assert len(yard.log("fired")) == 1


def test_line_26_when_the_log_cannot_be_written_the_others_go_on(yard: Yard) -> None:
    yard.trigger("a broken one", TableName="Stagin", RowThreshold=1)
    yard.trigger(RowThreshold=1)
    yard.deposit()
    world = yard.world
    if world.database.kind == "sqlite":
        world.sql(
            "CREATE TRIGGER full BEFORE INSERT ON SchedulerLog WHEN NEW.EventType = 'error'"
            " BEGIN SELECT RAISE(ABORT, 'disk full'); END"
        )
    else:
        world.sql("ALTER TABLE SchedulerLog ADD CONSTRAINT disk_full CHECK (EventType <> 'error')")

    assert yard.round()

    assert yard.events() == ["fired"]
    assert len(world.messages("trigger.error")) == 2


def test_line_27_while_work_for_the_entity_is_open_the_skip_says_what_blocks_and_since_when(yard: Yard) -> None:
    world = yard.world
    yard.trigger(RowThreshold=2)
    yard.deposit(2)
    assert yard.round()
    world.runner.script = lambda rendered: RUNS_ON
    yard.work_off()
    world.clock.advance(timedelta(minutes=1))

    assert not yard.round()
    yard.deposit(5)
    assert not yard.round()
    yard.duty = yard.leader()
    assert not yard.round()

    said = "2 rows (threshold 2), but BatchControl 1 of batch B is running; it began 2026-11-21 03:00:00 UTC"
    assert yard.log("skipped") == [("skipped", "trigger orders", "B", 1, 1, said, 2)]
    assert world.messages("trigger.skipped")[0] == said


@pytest.mark.parametrize(
    "status",
    ["ready", "running", "retry", "failed", "held", "pausing", "paused", "cancelling", "complete", "cancelled"],
)
def test_line_27_every_open_status_of_any_batch_that_takes_the_entity_blocks(yard: Yard, status: str) -> None:
    world = yard.world
    world.batch("Another", Entity="B")
    world.submit()
    world.create()
    world.sql("UPDATE BatchControl SET Status = 'complete'")
    world.sql("UPDATE FileProcess SET Status = 'complete'")
    world.sql("UPDATE BatchControl SET Status = ? WHERE BatchControl_id = 2", status)
    yard.trigger(RowThreshold=1)
    yard.deposit()

    assert yard.round() == (status in {"complete", "cancelled"})


def test_line_27_a_row_that_waits_for_its_instances_blocks_and_is_the_same_blocker_once_it_has_them(yard: Yard) -> None:
    world = yard.world
    world.submit()
    yard.trigger(RowThreshold=1)
    yard.deposit()
    assert not yard.round()
    world.create()
    assert not yard.round()

    assert [row[3:5] for row in yard.log()] == [(1, None)]
    assert "FileProcess 1 has waited for its instances since" in yard.log()[0][5]


def test_line_27_work_of_other_entities_does_not_block(yard: Yard) -> None:
    yard.world.batch("Another")
    yard.world.submit("Another")
    yard.world.create()
    yard.trigger(RowThreshold=1)
    yard.deposit()

    assert yard.round()


def test_line_29_only_pending_rows_count_and_the_age_is_that_of_the_oldest_by_the_tables_own_clock(yard: Yard) -> None:
    yard.deposit(2, ago=90)
    yard.deposit(3, ago=600)
    yard.clear()
    yard.deposit(2, ago=45)
    yard.deposit(1, ago=120)
    yard.trigger(RowThreshold=4)
    counted: list[Counted] = []

    def count(trigger: DataTrigger, ago: timedelta | None) -> Counted:
        counted.append(yard.count(trigger, ago))
        return counted[-1]

    assert not yard.leader(count=count).finish()

    (found,) = counted
    assert (found.pending, found.undated) == (3, 0)
    assert found.oldest is not None
    assert found.newest is not None
    assert found.oldest // timedelta(seconds=30) == 4
    assert found.newest // timedelta(seconds=15) == 3


def test_line_30_names_are_looked_up_and_quoted(yard: Yard) -> None:
    hostile = 'Sta"ging; DROP TABLE "Staging" --'
    quoted = '"' + hostile.replace('"', '""') + '"'
    yard.target.sql(f'CREATE TABLE {quoted} ("select" INTEGER, "a.b" TIMESTAMP)')
    yard.target.sql(f"INSERT INTO {quoted} VALUES (7, {yard.target.ago(0)})")
    yard.trigger(TableName=hostile, StatusColumn="select", PendingValue="7", CreatedColumn="a.b", RowThreshold=1)
    yard.trigger("worse", TableName="Staging; DROP TABLE Staging", RowThreshold=1)
    yard.trigger("as bad", StatusColumn="ImportStatus = 0 OR 1", RowThreshold=1)

    assert yard.round()

    assert [row[1] for row in yard.log("fired")] == ["trigger orders"]
    assert sorted(row[5].partition(".")[0] for row in yard.log("error")) == [
        "Table 'Staging' has no column 'ImportStatus = 0 OR 1'",
        "There is no table 'Staging; DROP TABLE Staging' on connection 'wh'",
    ]
    assert yard.target.sql("SELECT count(*) FROM Staging") == [(0,)]


def test_line_33_the_threshold_goes_before_the_age_and_the_age_before_new_rows(yard: Yard) -> None:
    yard.trigger(RowThreshold=3, IdleMinutes=30, OnNewRows=1, DebounceSeconds=10)
    yard.deposit(3, ago=31 * MINUTES)
    yard.round()
    yard.work_off()
    yard.clear()
    yard.deposit(2, ago=31 * MINUTES)
    yard.round()
    yard.work_off()
    yard.clear()
    yard.world.clock.advance(timedelta(minutes=1))
    yard.deposit(2, ago=11)
    yard.round()

    assert [row[2] for row in yard.started()] == [
        "3 rows (threshold 3)",
        "the oldest of 2 rows is 31 min old (IdleMinutes 30)",
        "2 new rows (debounce 10 s)",
    ]


def test_line_33_idle_is_the_age_of_the_oldest_row_not_the_time_since_the_last_one(yard: Yard) -> None:
    yard.trigger(IdleMinutes=5)
    yard.deposit(ago=6 * MINUTES)
    yard.deposit(ago=0)

    assert yard.round()


def test_line_34_a_debounce_longer_than_the_tick_does_elapse(yard: Yard) -> None:
    """The seed's own trap: there, every look puts the debounce off."""
    yard.trigger(OnNewRows=1, DebounceSeconds=60)
    yard.deposit()
    fired = []
    for at in range(0, 90, 15):
        fired += [at] if yard.round() else []
        yard.pass_time(15)

    assert fired == [60]


def test_line_34_a_program_that_keeps_inserting_starts_work_once_each_debounce_and_cannot_put_it_off(
    yard: Yard,
) -> None:
    yard.trigger(OnNewRows=1, DebounceSeconds=60)
    fired = []
    for at in range(0, 300, 15):
        yard.deposit()
        if yard.round():
            fired.append(at)
            yard.work_off()
            yard.clear()
        yard.pass_time(15)

    assert fired == [60, 135, 210, 285]


def test_line_34_rows_that_the_batch_left_behind_do_not_start_it_again(yard: Yard) -> None:
    yard.trigger(OnNewRows=1, DebounceSeconds=0)
    yard.deposit(3, ago=2)
    assert yard.round()
    yard.work_off()
    yard.pass_time(3600)
    assert not yard.round()
    yard.deposit()

    assert yard.round()
    assert [row[2] for row in yard.started()] == ["3 new rows (debounce 0 s)", "1 new row (debounce 0 s)"]
    assert yard.log("fired")[1][6] == 4


def test_line_34_a_row_that_came_while_the_others_were_counted_is_still_new(yard: Yard) -> None:
    yard.trigger(OnNewRows=1, DebounceSeconds=0)
    yard.deposit(ago=5)
    leader = yard.leader()
    leader._begin()
    leader.inquiries.wait()
    yard.clear()
    yard.deposit()
    yard.world.clock.advance(timedelta(seconds=5))
    yard.age(1)  # It is younger than the counting, also on a slow machine.
    assert leader.look()
    yard.work_off()

    assert leader.finish()


def test_line_34_without_a_column_that_dates_the_rows_only_the_last_fire_counts(yard: Yard) -> None:
    yard.trigger(CreatedColumn=None, OnNewRows=1, DebounceSeconds=60)
    yard.deposit()
    fired = []
    for at in range(0, 150, 15):
        if yard.round():
            fired.append(at)
            yard.work_off()
        yard.pass_time(15)

    assert fired == [0, 60, 120]
    assert yard.started()[1][2] == "1 row (debounce 60 s since it fired last)"


def test_line_35_an_index_leads_to_the_newest_events_of_an_entity(sqlite_yard: Yard) -> None:
    plan = sqlite_yard.world.sql(
        "EXPLAIN QUERY PLAN SELECT * FROM SchedulerLog WHERE Entity = 'B' ORDER BY SchedulerLog_id DESC LIMIT 50"
    )

    assert [row[3] for row in plan] == ["SEARCH SchedulerLog USING INDEX IX_SchedulerLog_Entity (Entity=?)"]


@pytest.fixture
def sqlite_yard(sqlite_database: ControlDatabase, request: pytest.FixtureRequest) -> Iterator[Yard]:
    """The same on SQLite alone."""
    world = World(sqlite_database)
    world.batch()
    with a_yard(world, lambda: request.getfixturevalue("postgres")) as made:
        yield made
    world.close()


@pytest.mark.parametrize(
    "columns",
    [
        {},
        {"RowThreshold": 0},
        {"IdleMinutes": 0},
        {"IdleMinutes": 5, "CreatedColumn": None},
        {"OnNewRows": 1, "DebounceSeconds": -1},
        {"OnNewRows": 2},
        {"RowThreshold": 1, "Enabled": 5},
        {"RowThreshold": 1, "TriggerName": ""},
        {"RowThreshold": 1, "Entity": ""},
    ],
    ids=str,
)
def test_line_37_the_database_refuses_what_cannot_be_meant_whoever_writes_it(
    yard: Yard, columns: dict[str, object]
) -> None:
    with pytest.raises(yard.world.hand.Refused):
        yard.trigger(**{"name": "orders", **columns})  # type: ignore[arg-type]  # names of columns, and the trigger's


def test_line_41_the_script_for_a_dba_makes_both_tables(run_batchctl: RunBatchctl, tmp_path: Path) -> None:
    for dialect in ("sqlite", "postgresql", "mssql"):
        script = run_batchctl("db", "script", "--dialect", dialect, cwd=tmp_path).stdout

        assert all(f"CREATE TABLE {table} (" in script for table in ("DataTrigger", "SchedulerLog"))


def test_line_43_times_are_utc_and_what_is_dated_ahead_is_asked_about(yard: Yard) -> None:
    yard.deposit(ago=-2 * 3600)
    yard.trigger(IdleMinutes=30, RowThreshold=2)
    (trigger,) = _enabled(yard)

    counted = yard.count(trigger, None)

    assert counted.newest is not None
    assert round(counted.newest / timedelta(hours=1)) == -2


def _enabled(yard: Yard) -> list[DataTrigger]:
    with yard.world.transactions.read() as connection:
        return data_triggers.enabled(connection)


class Office:
    """A folder where the installed command works on a database, with a staging table beside it."""

    def __init__(self, database: ControlDatabase, run: RunBatchctl, server: PostgresServer | None) -> None:
        self.database, self._run = database, run
        self.target = target_of(database.kind, database.directory, lambda: server or PostgresServer())
        settings = f'database_url = "{database.url}"\n[connections.wh]\nurl = "{self.target.url}"\n'
        (database.directory / "batchctl.toml").write_text(settings, encoding="utf-8")
        self.hand = database.hand()

    def run(self, *args: str, code: int = 0) -> str:
        done = self._run(*args, cwd=self.database.directory)
        assert done.returncode == code, done
        return " ".join((done.stdout or done.stderr).split())

    def read(self, *args: str) -> object:
        return json.loads(self.run(*args, "--json"))

    def register(self, **columns: object) -> None:
        """Register a batch that clears the table, and its trigger."""
        self.hand.sql("INSERT INTO ProcessBatch (ProcessBatchName, Entity) VALUES ('Clear', 'Orders')")
        self.hand.sql(
            "INSERT INTO ProcessControl (ProcessBatch_id, ProcessControlSeq, ProcessName, ProcessType, Data1, Data2)"
            " SELECT ProcessBatch_id, 10, 'clear', 'sql', 'wh', 'UPDATE Staging SET ImportStatus = 1' FROM ProcessBatch"
        )
        values = {"TriggerName": "orders", "Entity": "Orders", "ConnectionName": "wh", "TableName": "Staging"}
        values |= {"StatusColumn": "ImportStatus", "PendingValue": "0", "CreatedColumn": "CreatedAt"}
        values |= columns  # type: ignore[arg-type]  # values of any type
        marks = ", ".join("?" * len(values))
        self.hand.sql(f"INSERT INTO DataTrigger ({', '.join(values)}) VALUES ({marks})", *values.values())

    def deposit(self, rows: int) -> None:
        self.target.sql(f"INSERT INTO Staging (ImportStatus) VALUES {', '.join(['(0)'] * rows)}")

    def close(self) -> None:
        self.hand.close()
        self.target.close()


@pytest.fixture
def office(
    control_database: ControlDatabase, run_batchctl: RunBatchctl, request: pytest.FixtureRequest
) -> Iterator[Office]:
    server = None if control_database.kind == "sqlite" else request.getfixturevalue("postgres")
    made = Office(control_database, run_batchctl, server)
    yield made
    made.close()


def test_line_03_and_40_everything_is_done_with_rows_and_the_command_and_nothing_else(office: Office) -> None:
    office.register(RowThreshold=2)
    office.deposit(2)

    office.run("run", "--once")

    assert office.target.sql("SELECT count(*) FROM Staging WHERE ImportStatus = 0") == [(0,)]
    assert office.run("check") == "Everything is in order."


def test_line_18_looking_again_and_again_is_no_work_that_keeps_a_controller_from_being_idle(office: Office) -> None:
    file = office.database.directory / "batchctl.toml"
    file.write_text(f"poll_interval = 0.2\n{file.read_text(encoding='utf-8')}", encoding="utf-8")
    office.register(RowThreshold=2)
    office.deposit(1)

    ran = office.run("run", "--until-idle", "1")

    assert ran == "Steps: 0 started, 0 succeeded, 0 failed. Instances: 0 complete."


BROKEN = {
    "what starts work": "ALTER TABLE DataTrigger RENAME COLUMN RowThreshold TO Gone",
    "the creation": "ALTER TABLE FileProcess RENAME COLUMN PopulatorTries TO Gone",
    "the processing": "ALTER TABLE ProcessControl RENAME COLUMN ProcessName TO Gone",
}


@pytest.mark.parametrize("what", BROKEN)
def test_line_19_the_cleanup_follows_the_dispatch_also_when_that_has_failed(office: Office, what: str) -> None:
    office.register(RowThreshold=1)
    for at in ("2020-01-01", "2999-01-01"):
        office.hand.sql("INSERT INTO SchedulerLog (EventType, Source, EventTime) VALUES ('skipped', 'here', ?)", at)
    office.hand.sql(BROKEN[what])

    office.run("run", "--once", code=0 if what == "what starts work" else 4)

    dated = [str(at)[:4] for (at,) in office.hand.sql("SELECT EventTime FROM SchedulerLog WHERE Source = 'here'")]
    assert dated == ["2999"]


def test_line_36_the_log_is_paged_filtered_and_a_table_for_everybody(office: Office) -> None:
    office.register(RowThreshold=1)
    for _ in range(2):
        office.deposit(1)
        office.run("run", "--once")

    def events(*args: str) -> list[tuple[int, str]]:
        found = office.read("log", *args)
        assert isinstance(found, list)
        return [(row["SchedulerLog_id"], row["EventType"]) for row in found]

    every = [(4, "completed"), (3, "fired"), (2, "completed"), (1, "fired")]
    assert events() == every
    assert events("--limit", "1") == every[:1]
    assert events("--before", "3", "--limit", "1") == every[2:3]
    assert events("--type", "fired") == [every[1], every[3]]
    assert events("--source", "trigger") == every
    assert events("--source", "trigger orders", "--entity", "Orders", "--batch", "Clear") == every
    assert events("--source", "trig") == []
    assert events("--entity", "Other") == []
    assert events("--since", "2000-01-01T00:00Z", "--batch", "Clear") == every
    assert events("--since", "2999-01-01") == []
    shown = office.run("log", "--limit", "2")
    assert re.search(r"\b3 \S+ \S+ fired trigger orders entity: Orders .*: 1 row \(threshold 1\)", shown)
    assert "the same with --before 3 shows older ones" in shown
    assert "Did you mean 'Clear'?" in office.run("log", "--batch", "Cleer", code=3)
    assert "is not a time" in office.run("log", "--since", "yesterday", code=2)


def test_line_39_a_test_run_says_what_would_happen_and_starts_nothing(office: Office) -> None:
    office.register(RowThreshold=1000, IdleMinutes=30)
    office.deposit(12)

    found = office.read("trigger", "test", "orders")

    assert isinstance(found, dict)
    assert {key: found[key] for key in ("TriggerName", "Enabled", "WouldFire", "Blocked", "PendingRows")} == {
        "TriggerName": "orders",
        "Enabled": 1,
        "WouldFire": False,
        "Blocked": None,
        "PendingRows": 12,
    }
    assert found["Reason"].startswith("12 rows (threshold 1000); the oldest of 12 rows is ")
    assert found["OldestRowAge"] < 600
    assert found["NextEvaluation"].endswith("Z")
    assert found["DueTime"] > found["NextEvaluation"]

    office.hand.sql("UPDATE DataTrigger SET RowThreshold = 12")
    assert office.read("trigger", "test", "orders")["WouldFire"] is True  # type: ignore[index]  # it is an object
    assert "it would fire now" in office.run("trigger", "test", "orders")
    assert office.hand.sql("SELECT * FROM FileProcess") == []
    assert office.hand.sql("SELECT * FROM SchedulerLog") == []
    assert office.hand.sql("SELECT LastFired FROM DataTrigger") == [(None,)]


def test_line_39_it_says_also_of_a_disabled_or_blocked_trigger_what_it_would_find(office: Office) -> None:
    office.register(RowThreshold=1, Enabled=0)
    office.deposit(2)
    shown = office.run("trigger", "test", "orders")
    assert "its condition is met, but it is disabled" in shown
    assert "never, as long as it is disabled" in shown

    office.hand.sql("UPDATE DataTrigger SET Enabled = 1")
    office.hand.sql("INSERT INTO FileProcess (Entity) VALUES ('Orders')")
    found = office.read("trigger", "test", "orders")

    assert isinstance(found, dict)
    assert (found["WouldFire"], found["Reason"]) == (False, "2 rows (threshold 1)")
    assert "FileProcess 1 has waited for its instances since " in found["Blocked"]


def test_line_39_it_says_that_a_mode_keeps_a_trigger_from_firing(office: Office) -> None:
    office.register(RowThreshold=1)
    office.deposit(2)
    office.hand.sql("UPDATE ProcessBatch SET ProcessingMode = 'scheduled'")
    found = office.read("trigger", "test", "orders")

    assert isinstance(found, dict)
    assert (found["WouldFire"], found["LetByMode"], found["NextEvaluation"]) == (False, False, None)


def test_line_39_an_unknown_name_and_an_unknown_table_are_told(office: Office) -> None:
    office.register(RowThreshold=1, TableName="Stage")

    assert "Did you mean 'orders'?" in office.run("trigger", "test", "order", code=3)
    said = office.run("trigger", "test", "orders", code=3)
    spelled = SPELLED[office.database.kind]["Staging"]
    assert f"There is no table 'Stage' on connection 'wh'. Did you mean '{spelled}'?" in said


def test_the_list_shows_every_trigger(office: Office) -> None:
    office.register(RowThreshold=1, IdleMinutes=30, OnNewRows=1, Enabled=0)

    assert "1 row; oldest 30 min; new rows, debounce 60 s" in office.run("trigger", "list")
    found = office.read("trigger", "list")
    assert isinstance(found, list)
    assert (found[0]["TriggerName"], found[0]["DebounceSeconds"], found[0]["LastFired"]) == ("orders", 60, None)


def test_a_target_of_another_kind_than_the_control_database_counts_the_same(
    control_database: ControlDatabase, request: pytest.FixtureRequest
) -> None:
    world = World(control_database)
    world.batch()
    other = "postgresql" if control_database.kind == "sqlite" else "sqlite"
    with a_yard(world, lambda: request.getfixturevalue("postgres"), other) as yard:
        yard.trigger(OnNewRows=1, DebounceSeconds=60)
        yard.deposit(2, ago=61)

        assert yard.round()
        assert yard.started() == [("B", "trigger orders", "2 new rows (debounce 60 s)")]
    world.close()
