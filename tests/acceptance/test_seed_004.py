"""What the scheduler of SQL jobs on SQL Server Express does, line by line of its requirements.

Each test is named after its line. The traps of that scheduler are tested as what is not copied.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import sqlglot

from batchctl.control.controller import Controller
from batchctl.control.recording import Recorder
from batchctl.control.scheduling.deciding import Deciding
from batchctl.control.scheduling.firing import Firing
from batchctl.domain.definitions.sql_jobs import SqlJob
from batchctl.domain.errors import Refused
from batchctl.domain.status import CatchUp
from batchctl.node import Node
from batchctl.operations.definitions.registrar import JOBS, Registrar
from batchctl.operations.operators.acts import Actor
from batchctl.operations.scheduling.timetable import DECIDED_WITHIN
from batchctl.plugin_api import Connection, StepHandler
from batchctl.preparation import Preparer
from batchctl.testing import context
from step_handlers.sql import Sql
from tests.acceptance.installation import ROOT
from tests.control.world import RUNS_ON, World
from tests.control_databases import ACTS, ControlDatabase
from tests.sql_shop import SOON, SqlShop, moment

DAY = timedelta(days=1)
FAULTY = "select 1, where 1=1"
BACKUP = {"sqlite": "VACUUM INTO '{folder}/backup.db'", "postgresql": "CREATE TABLE Backup AS SELECT * FROM Item"}
REINDEX = {"sqlite": "REINDEX Item", "postgresql": "REINDEX TABLE Item"}
SAID = {
    "sqlite": 'statement 2 of 2 failed: near "where": syntax error (SQLITE_ERROR); at line 3; everything was rolled back',
    "postgresql": 'statement 2 of 2 failed: ERROR 42601: syntax error at or near "where"; at line 3; everything was rolled back',
}
QUERIES = re.findall(
    r"```sql\n(SELECT .*?);\n```", (ROOT / "docs" / "sql_jobs.md").read_text(encoding="utf-8"), re.DOTALL
)


@pytest.fixture
def shop(control_database: ControlDatabase, request: pytest.FixtureRequest) -> Iterator[SqlShop]:
    made = SqlShop(control_database, lambda: request.getfixturevalue("postgres"))
    yield made
    made.close()


class Clockwork:
    """Jobs whose SQL is rendered as ever, and carried out as the test says, at times that the test says."""

    def __init__(self, database: ControlDatabase, start: datetime) -> None:
        self.world = World(database)
        self.world.clock.advance(start - self.world.clock.now())
        self.preparer = Preparer(_sql_only, _context(database.directory), "anna", "host1", "test")
        self.duty = self.leader()

    def leader(self) -> Firing:
        world = self.world
        deciding = Deciding(world.clock, world.creator(), lambda batch: True, timedelta(minutes=5), "2026a")
        means = world.transactions, world.clock, deciding, world.events.append
        return Firing(*means, 3600.0, "UTC", lambda: None)

    def add(self, name: str, at: str, **given: Any) -> None:
        world = self.world
        wall = datetime.fromisoformat(at)
        job = SqlJob(name=name, connection="shop", sql="SELECT 1", at=wall, **{"zone": "UTC", **given})
        actor = Actor(transactions=world.transactions, clock=world.clock, user="anna", host="host1")
        Registrar(actor=actor, preparer=self.preparer).add(job)

    def controller(self, slots: int = 1) -> Controller:
        world = self.world
        recorder = Recorder(self.preparer, "c1", "host1")
        return Controller(
            transactions=world.transactions,
            clock=world.clock,
            runner=world.runner,
            recorder=recorder,
            listener=world.events.append,
            slots=slots,
        )

    def fired(self) -> list[str]:
        """Return the keys of all due times that have started work."""
        query = "SELECT FireKey FROM ScheduleFire WHERE Outcome = 'fired' ORDER BY ScheduleFire_id"
        return [row[0] for row in self.world.sql(query)]


def _sql_only(process_type: str) -> StepHandler:
    assert process_type == "sql"
    return Sql()


def _context(folder: Path) -> Any:
    return context(str(folder), connections={"shop": Connection("shop", f"sqlite:///{folder / 'shop.db'}")})


@pytest.fixture
def clockwork(control_database: ControlDatabase) -> Iterator[Clockwork]:
    made = Clockwork(control_database, datetime(2026, 10, 23, 12, tzinfo=UTC))
    yield made
    made.world.close()


def test_line_01_and_02_rows_and_one_controller_are_all_it_takes(shop: SqlShop) -> None:
    shop.add("job", "INSERT INTO Item VALUES ('done')")
    shop.pass_time()

    report = shop.run()

    assert report.completed == 1
    assert shop.target("SELECT * FROM Item") == [("done",)]


def test_line_03_backups_reindexing_and_statistics_are_jobs(shop: SqlShop) -> None:
    shop.target("INSERT INTO Item VALUES ('kept')")
    shop.add("backup", BACKUP[shop.kind].format(folder=shop.directory))
    shop.add("reindex", REINDEX[shop.kind])
    shop.add("statistics", "ANALYZE Item")
    shop.pass_time()

    shop.run()

    assert [row[:3] for row in shop.history()] == [(at, 1, "success") for at in ("backup", "reindex", "statistics")]
    if shop.kind == "sqlite":
        assert (shop.directory / "backup.db").exists()
    else:
        assert shop.target("SELECT * FROM Backup") == [("kept",)]


def test_line_04_the_due_time_is_waited_for_and_not_polled(clockwork: Clockwork) -> None:
    clockwork.add("job", "2026-10-23 12:00:30")
    assert not clockwork.duty.look()  # It reads the schedules now, and for an hour not again.
    clockwork.world.clock.advance(timedelta(seconds=29.9))
    assert not clockwork.duty.look()
    clockwork.world.clock.advance(timedelta(seconds=0.1))

    assert clockwork.duty.look()
    assert clockwork.fired() == ["2026-10-23T12:00:30"]


def test_line_05_a_job_whose_next_run_is_over_is_overdue(shop: SqlShop) -> None:
    shop.add("once", "SELECT 1")
    soon = shop.jobs()["once"]
    shop.pass_time()
    shop.pass_time(DECIDED_WITHIN)
    late = shop.jobs()["once"]

    assert (soon.is_overdue, late.is_overdue) == (False, True)
    assert JOBS.of(late)["Overdue"] is True


def test_line_05_a_job_says_what_it_does_when_it_runs_and_how_its_last_run_ended(shop: SqlShop) -> None:
    once = shop.add("once", "SELECT 1")
    shop.add("daily", "SELECT 2", is_daily=True)
    shop.pass_time()
    shop.run()

    jobs = shop.jobs()
    last = jobs["once"].standing.last
    assert last is not None

    assert shop.sql("SELECT Data2 FROM ProcessControl WHERE ProcessName = 'once'") == [("SELECT 1",)]
    assert moment(str(JOBS.of(jobs["once"])["RunAt"])) == once.first.due
    assert JOBS.of(jobs["once"])["Enabled"] == 0
    assert (last.status.value, last.started_at <= shop.now) == ("success", True)
    assert {name: one.schedule.timing.schedule_type.value for name, one in jobs.items()} == {
        "once": "once",
        "daily": "daily",
    }
    assert JOBS.of(jobs["daily"])["LastRun"] is None


def test_line_06_an_error_is_kept_with_line_number_message_severity_job_and_utc_time(shop: SqlShop) -> None:
    shop.add("faulty", f"SELECT 5;\n\n{FAULTY}")
    shop.pass_time()
    shop.run()

    ((job, at, message),) = shop.sql(QUERIES[4].replace("h.BatchControl_id, h.AttemptNo, ", ""))
    error = shop.jobs()["faulty"].standing.last_error

    assert (job, message) == ("faulty", SAID[shop.kind])
    assert abs(moment(at) - shop.now) < timedelta(minutes=2)
    assert error is not None
    assert error.message == message


class Cut(Exception):
    """The connection is lost before the commit."""


def test_line_07_a_job_is_added_as_a_whole_and_armed_or_not_at_all(
    shop: SqlShop, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cut(*args: object, **given: object) -> None:
        raise Cut

    with monkeypatch.context() as patched:
        patched.setattr("batchctl.store.maintenance.audit_entries.add", cut)  # The last that is written.
        with pytest.raises(Cut):
            shop.add("job", "SELECT 1")
    assert shop.counts() == [0, 0, 0]

    added = shop.add("job", "SELECT 1", reason="wanted")

    assert shop.counts() == [1, 1, 1]
    ((next_run, decided, timing),) = shop.sql("SELECT NextRunTime, DecidedUntil, TimingHash FROM Schedule")
    assert moment(next_run) == added.first.due
    assert decided is not None
    assert len(timing) == 64
    audited = shop.sql(f"SELECT Actor, Action, Target, Reason FROM AuditLog WHERE {ACTS}")
    assert audited == [("anna", "add-sql", "Schedule:job", "wanted")]


def test_line_08_a_job_is_removed_as_a_whole_or_not_at_all(shop: SqlShop, monkeypatch: pytest.MonkeyPatch) -> None:
    shop.add("job", "SELECT 1")

    def cut(*args: object, **given: object) -> None:
        raise Cut

    with monkeypatch.context() as patched:
        patched.setattr("batchctl.store.sql_job_rows.remove_batch", cut)
        with pytest.raises(Cut):
            shop.remove("job")
    assert shop.counts() == [1, 1, 1]

    shop.remove("job")
    shop.pass_time()

    assert shop.counts() == [0, 0, 0]
    assert shop.run().started == 0
    assert [row[0] for row in shop.sql(f"SELECT Action FROM AuditLog WHERE {ACTS} ORDER BY 1")] == [
        "add-sql",
        "remove",
        "remove",
    ]


def test_line_09_a_job_can_be_started_by_hand_also_while_it_is_disabled(shop: SqlShop) -> None:
    shop.add("job", "INSERT INTO Item VALUES ('by hand')", enabled=False)
    shop.sql("INSERT INTO FileProcess (Entity) VALUES ('job')")

    shop.run()

    assert shop.target("SELECT * FROM Item") == [("by hand",)]


def test_line_10_once_or_daily_from_the_first_time_on(clockwork: Clockwork) -> None:
    clockwork.add("once", "2026-10-23 18:00")
    clockwork.add("daily", "2026-10-24 06:00", is_daily=True)

    for _ in range(4 * 24):
        clockwork.world.clock.advance(timedelta(hours=1))
        clockwork.duty.finish()

    expected = ["2026-10-23T18:00", *(f"2026-10-{day}T06:00" for day in (24, 25, 26, 27))]
    assert clockwork.fired() == expected


def test_line_11_it_is_armed_again_before_it_runs_and_its_end_is_written_behind_it(clockwork: Clockwork) -> None:
    world = clockwork.world
    clockwork.add("daily", "2026-10-24 06:00", is_daily=True)
    world.clock.advance(timedelta(hours=18))
    clockwork.duty.finish()

    assert world.one("SELECT NextRunTime FROM Schedule") == "2026-10-25 06:00:00.000"
    assert world.statuses() == ["ready"]
    world.turn_until_idle(clockwork.controller())

    assert world.history() == [(1, 10, 1, "auto", "success")]
    assert world.one("SELECT EndTime FROM BatchProcessHistory") is not None


def test_line_12_an_error_is_no_reason_to_run_again(shop: SqlShop) -> None:
    shop.add("faulty", FAULTY, retries=3)
    shop.pass_time()

    for _ in range(3):
        shop.run()
        shop.pass_time(timedelta(minutes=10))

    attempts = {"sqlite": 4, "postgresql": 1}  # PostgreSQL says that trying again cannot mend it.
    assert 1 <= len(shop.history()) <= attempts[shop.kind]
    assert len(shop.sql("SELECT * FROM FileProcess")) == 1


def test_line_13_twenty_jobs_that_are_due_together_run_together(clockwork: Clockwork) -> None:
    world = clockwork.world
    world.runner.script = lambda rendered: RUNS_ON
    for at in range(20):
        clockwork.add(f"job {at}", "2026-10-23 13:00")
    world.clock.advance(timedelta(hours=1))
    clockwork.duty.finish()

    controller = clockwork.controller(slots=20)
    for _ in range(3):
        controller.turn(timedelta(0))

    assert len(world.runner.open) == 20
    assert world.statuses() == ["running"] * 20


def test_line_14_it_runs_as_whoever_the_connection_says_and_the_history_says_for_whom(shop: SqlShop) -> None:
    shop.add("who", "SELECT current_user" if shop.kind == "postgresql" else "SELECT 'the owner of the file'")
    shop.pass_time()
    shop.run()

    ((command, output, host),) = shop.sql("SELECT CommandText, Output, Host FROM BatchProcessHistory")

    assert output.splitlines()[1] == ("postgres" if shop.kind == "postgresql" else "the owner of the file")
    first = command.splitlines()[0]
    assert first.startswith("-- BatchControl 1 of batch who, step 10 who, attempt 1 (auto), ")
    assert f", on {host} as " in first


def test_line_15_a_disabled_job_does_not_run_when_its_time_comes(shop: SqlShop) -> None:
    shop.add("off from the start", "INSERT INTO Item VALUES ('no')", enabled=False)
    shop.add("switched off", "INSERT INTO Item VALUES ('no')")
    shop.sql("UPDATE Schedule SET Enabled = 0 WHERE ScheduleName = 'switched off'")
    shop.pass_time()

    assert shop.run().started == 0
    assert shop.target("SELECT * FROM Item") == []


STRANGE = (
    "INSERT INTO Item VALUES ('{Data1} {{ } :name ? %s $(x) file:y');\n-- {CycleKey}\nSELECT 'a:b', '{secret:none}'"
)


def test_line_16_any_sql_goes_through_as_it_stands(shop: SqlShop) -> None:
    shop.add("strange", STRANGE)
    shop.pass_time()
    shop.run()

    assert [row[2] for row in shop.history()] == ["success"]
    assert shop.target("SELECT * FROM Item") == [("{Data1} {{ } :name ? %s $(x) file:y",)]


def test_line_16_a_faulty_script_is_recorded_and_hurts_nobody_else(shop: SqlShop) -> None:
    notes = shop.add("a faulty one", FAULTY).notes
    shop.add("before it", "INSERT INTO Item VALUES ('before')")
    shop.add("z behind it", "INSERT INTO Item VALUES ('behind')")
    shop.pass_time()
    shop.run()

    assert [row[:3] for row in shop.history()] == [
        ("a faulty one", 1, "failed"),
        ("before it", 1, "success"),
        ("z behind it", 1, "success"),
    ]
    assert notes == (('statement 1 of 1: near "where": syntax error',) if shop.kind == "sqlite" else ())


def test_line_16_a_run_that_failed_keeps_no_later_run_of_the_job_from_running(shop: SqlShop) -> None:
    shop.add("daily", "INSERT INTO NotThereYet VALUES ('x')", is_daily=True)
    shop.pass_time(SOON + timedelta(minutes=3))
    shop.run()
    shop.target("CREATE TABLE NotThereYet (Name varchar(50))")
    shop.pass_time(DAY)
    shop.run()

    assert [row[2] for row in shop.sql("SELECT 1, 2, Status FROM BatchControl ORDER BY BatchControl_id")] == [
        "failed",
        "complete",
    ]
    assert shop.target("SELECT * FROM NotThereYet") == [("x",)]


def test_line_17_the_documented_queries_show_next_run_executing_waiting_last_run_and_errors(shop: SqlShop) -> None:
    next_runs, executing, waiting, last, errors = QUERIES
    shop.add("faulty", FAULTY)
    added = shop.add("later", "SELECT 1", is_daily=True)
    shop.pass_time()
    shop.run()
    shop.sql("INSERT INTO FileProcess (Entity) VALUES ('later')")
    with shop.app() as app:
        Node(app).create()

    # Somebody writes, and does not come to an end.
    with closing(shop.database.hand()) as other:
        other.begin_writing()

        assert [row[0] for row in shop.sql(next_runs) if row[3] is not None] == ["later"]
        assert [moment(row[3]) for row in shop.sql(next_runs) if row[3] is not None] == [added.first.due]
        assert shop.sql(executing) == []
        assert shop.sql(waiting) == [("later", 1)]
        assert [(row[0], row[3]) for row in shop.sql(last)] == [("faulty", "failed")]
        assert [row[:3] for row in shop.sql(errors)] == [("faulty", 1, 1)]
        found = shop.jobs()

    assert (found["later"].standing.waiting, found["faulty"].standing.waiting) == (1, 0)


@pytest.mark.parametrize("query", QUERIES)
def test_line_17_the_same_text_is_t_sql(query: str) -> None:
    (parsed,) = sqlglot.parse(query, read="tsql")

    assert isinstance(parsed, sqlglot.exp.Select)


def test_line_17_what_is_executing_now_is_seen(clockwork: Clockwork) -> None:
    world = clockwork.world
    world.runner.script = lambda rendered: RUNS_ON
    clockwork.add("long", "2026-10-23 13:00")
    world.clock.advance(timedelta(hours=1))
    clockwork.duty.finish()
    clockwork.controller().turn(timedelta(0))

    assert [row[:2] for row in world.sql(QUERIES[1])] == [("long", 1)]


def test_line_18_a_job_is_three_rows_and_leaves_nothing_else_behind(shop: SqlShop) -> None:
    before = {table: len(rows) for table, rows in shop.hand.dump().items()}

    shop.add("job", "SELECT 1")
    after = {table: len(rows) for table, rows in shop.hand.dump().items()}
    assert {table for table in after if after[table] != before[table]} == {
        *("ProcessBatch", "ProcessControl", "Schedule", "AuditLog")
    }

    shop.remove("job")
    gone = {table: len(rows) for table, rows in shop.hand.dump().items()}
    assert {table for table in gone if gone[table] != before[table]} == {"AuditLog"}


def test_line_19_a_job_may_be_added_seconds_before_it_is_due(clockwork: Clockwork) -> None:
    clockwork.duty.look()
    clockwork.add("now", "2026-10-23 12:00:02")
    clockwork.world.clock.advance(timedelta(seconds=2))

    assert clockwork.leader().look()
    assert clockwork.fired() == ["2026-10-23T12:00:02"]
    assert clockwork.world.one("SELECT Reason FROM ScheduleFire") is None


def test_line_19_a_time_that_is_over_is_refused_with_what_time_it_is(shop: SqlShop) -> None:
    over = datetime(2026, 3, 1, 2)  # noqa: DTZ001 - wall time

    with pytest.raises(Refused, match=r"2026-03-01 02:00 is over: in Europe/Amsterdam it is \d{4}-.* now") as refused:
        shop.add("job", "SELECT 1", at=over, zone="Europe/Amsterdam")

    assert "batchctl task" in str(refused.value.next_step)
    assert shop.counts() == [0, 0, 0]


def test_line_20_a_job_that_runs_once_ends_by_itself(shop: SqlShop) -> None:
    shop.add("once", "INSERT INTO Item VALUES ('x')")
    shop.pass_time()
    shop.run()
    shop.pass_time(DAY)
    shop.run()

    assert shop.target("SELECT * FROM Item") == [("x",)]
    assert shop.sql("SELECT Enabled, NextRunTime FROM Schedule") == [(0, None)]


def test_trap_a_a_daily_job_keeps_its_time_of_day_when_clocks_change(clockwork: Clockwork) -> None:
    clockwork.add("daily", "2026-10-24 03:30", is_daily=True, zone="Europe/Amsterdam")

    for _ in range(4 * 24):
        clockwork.world.clock.advance(timedelta(hours=1))
        clockwork.duty.finish()

    due = [row[0][5:16] for row in clockwork.world.sql("SELECT DueTime FROM ScheduleFire ORDER BY ScheduleFire_id")]
    assert due == ["10-24 01:30", "10-25 02:30", "10-26 02:30", "10-27 02:30"]
    assert {key[11:] for key in clockwork.fired()} == {"03:30"}


def test_trap_b_a_run_that_takes_longer_than_a_day_does_not_overlap_the_next(clockwork: Clockwork) -> None:
    world = clockwork.world
    world.runner.script = lambda rendered: RUNS_ON
    clockwork.add("long", "2026-10-24 06:00", is_daily=True)
    controller = clockwork.controller(slots=4)
    for _ in range(2):
        world.clock.advance(DAY)
        clockwork.duty.finish()
        controller.look_again()
        controller.turn(timedelta(0))
    assert world.statuses() == ["running", "ready"]

    world.runner.script = lambda rendered: world.ok
    world.runner.end(next(iter(world.runner.open)), world.ok)
    world.turn_until_idle(controller)

    assert world.statuses() == ["complete", "complete"]


def test_trap_c_and_d_a_job_runs_once_and_is_enabled_unless_somebody_says_otherwise(shop: SqlShop) -> None:
    shop.add("job", "SELECT 1")

    assert shop.sql("SELECT ScheduleType, Enabled FROM Schedule") == [("once", 1)]


@pytest.mark.parametrize(("catch_up", "runs"), [(CatchUp.LATEST, 1), (CatchUp.NONE, 0)])
def test_a_job_that_nobody_was_there_to_run_runs_when_somebody_is_unless_it_is_not_wanted(
    shop: SqlShop, catch_up: CatchUp, runs: int
) -> None:
    shop.add("backup", "INSERT INTO Item VALUES ('x')", catch_up=catch_up)
    shop.pass_time(DAY)
    shop.run()

    assert len(shop.target("SELECT * FROM Item")) == runs
    assert shop.sql("SELECT Enabled FROM Schedule") == [(0,)]
