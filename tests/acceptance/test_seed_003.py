"""What the attribute scheduler of SmartData does, line by line of its requirements; each test is named after its line."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from batchctl.cli.main import COMMANDS
from batchctl.config import Settings
from batchctl.domain.scheduling.due import plan_of
from batchctl.domain.status import HistoryStatus
from batchctl.operations.definitions import job_findings
from batchctl.operations.definitions.job_acts import Foreman
from batchctl.operations.intervene import Operator
from batchctl.plugin_api import Job, daily, every, job, monthly, monthly_dow, once, retry, weekly
from tests.acceptance.installation import PATIENCE, RunBatchctl, StartBatchctl
from tests.acceptance.night import Night
from tests.control.timetable import Timetable
from tests.control.world import BAD, FATAL, OK, World
from tests.control_databases import ControlDatabase
from tests.workshop import Node, Workshop

MODULE = '''
from pathlib import Path

from batchctl.plugin_api import Stopped, daily, job, retry, stopping


@daily("03:15")
def nightly() -> str:
    """Vacuum stale rows."""
    return "vacuumed"


@job("slow", entity="Slow")
def slow() -> None:
    """Go on until told to stop."""
    if not stopping():
        Path("slow.asks").write_text("", encoding="ascii")
    while not stopping(60):
        pass
    raise Stopped("after 3 of 10 files")
'''


class Shop(Workshop):
    """Jobs, the leader who fires their schedules, and a runner whose steps end as the test says."""

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.timetable = Timetable(world)

    def opens(self, *jobs: Job) -> None:
        """Let a controller start now, by the test's clock; its steps end as the test says."""
        self.starts(*jobs)
        self.world.sql("UPDATE Schedule SET DecidedUntil = ? WHERE TimingHash IS NULL", self.timetable.stamp())
        self.world.sql("UPDATE ProcessControl SET ProcessType = 'told'")

    def foreman(self) -> Foreman:
        """Return Anna, who acts on the module's jobs."""
        world = self.world
        preparer = world.recorder().preparer
        operator = Operator(
            transactions=world.transactions, clock=world.clock, preparer=preparer, user="anna", host="host1"
        )
        return Foreman(operator, Node())

    def works_off(self, times: int = 1) -> None:
        """Run what may start now, and after each wait for a retry again."""
        self.world.create()
        for _ in range(times):
            self.world.process()
            self.world.clock.advance(timedelta(minutes=1))


@pytest.fixture
def shop(world: World) -> Shop:
    return Shop(world)


@pytest.fixture
def world(control_database: ControlDatabase) -> Iterator[World]:
    made = World(control_database)
    yield made
    made.close()


@pytest.fixture
def night(control_database: ControlDatabase, run_batchctl: RunBatchctl) -> Night:
    """A database of every kind, and a module with two jobs."""
    made = Night(control_database, run_batchctl)
    (made.folder / "shop.py").write_text(MODULE, encoding="utf-8")
    (made.folder / "batchctl.toml").write_text('[jobs]\nmodules = ["shop"]\n', encoding="utf-8")
    return made


@daily("06:00")
def nightly() -> None:
    """Vacuum."""


def tried(attempts: int) -> Job:
    return job("nightly")(retry(attempts=attempts, interval_seconds=60)(nightly.function))


def as_if_due(night: Night) -> None:
    """Let the schedule look as if it had been there since yesterday, and its time had been a minute ago."""
    (now,) = night.sql("SELECT max(z_inserted) FROM Schedule")[0]
    wanted = (now if isinstance(now, datetime) else datetime.fromisoformat(now)) - timedelta(minutes=1)
    night.sql("UPDATE Schedule SET RunTimes = ?", f"{wanted:%H:%M}")
    decided = f"{wanted - timedelta(minutes=1):%Y-%m-%d %H:%M:%S}.000"
    night.sql("UPDATE Schedule SET DecidedUntil = ?, TimingHash = NULL", decided)


def test_line_01_a_function_and_one_decorator_is_a_job_with_nothing_else_to_write(night: Night) -> None:
    assert night("run", "--once").returncode == 0
    (listed,) = [one for one in night.json("job", "list") if one["JobName"] == "nightly"]
    asked = night("job", "run", "nightly")
    done = night("run", "--once")

    assert (listed["State"], listed["Description"]) == ("kept", "Vacuum stale rows.")
    assert [one["ScheduleName"] for one in listed["Schedules"]] == ["nightly.Daily_03_15"]
    assert listed["Schedules"][0]["NextRunTime"].endswith("T03:15:00.000Z")
    assert asked.stdout == "file:1\n"
    assert done.stdout == "Steps: 1 started, 1 succeeded, 0 failed. Instances: 1 complete.\n"
    assert night.sql("SELECT Message FROM BatchProcessHistory") == [("vacuumed",)]


def test_line_02_the_code_says_when_and_the_operator_whether_and_how_often(shop: Shop) -> None:
    shop.starts(tried(3), daily_at("06:00"))
    shop.world.sql("UPDATE Schedule SET RunTimes = '04:00', Enabled = 0")
    shop.world.sql("UPDATE ProcessBatch SET RetryCount = 7")
    shop.starts(tried(3), daily_at("06:00"))

    assert shop.schedules("RunTimes, Enabled") == {"report.Daily_06_00": ("06:00", 0)}
    assert shop.batch("nightly", "RetryCount") == (7,)


def daily_at(times: str, **filters: Any) -> Job:
    return job("report")(daily(times, **filters)(lambda: None))


def test_line_03_a_start_preserves_the_four_fields_of_the_operator(shop: Shop) -> None:
    made = daily("06:00")(tried(3))
    shop.starts(made)
    shop.world.sql("UPDATE Schedule SET Enabled = 0, Jitter = 45")
    shop.world.sql("UPDATE ProcessBatch SET RetryCount = 0, RetryWaitSecs = 5")

    assert shop.starts(daily("06:00")(tried(9))).written == ()
    assert shop.schedules("Enabled, Jitter") == {"nightly.Daily_06_00": (0, 45)}
    assert shop.batch("nightly", "RetryCount, RetryWaitSecs") == (0, 5)
    (drift,) = shop.line("nightly", made).drift
    assert drift == "the row has 1 attempts every 5 s, and they count; the code says 3 attempts every 60 s"


def test_line_04_without_its_decorator_the_row_is_disabled_and_its_history_stays(shop: Shop) -> None:
    shop.opens(nightly)
    shop.timetable.until("2026-11-21 06:00")
    shop.works_off()
    shop.starts()
    shop.timetable.until("2026-11-22 06:00")

    assert shop.schedules() == {"nightly.Daily_06_00": 0}
    assert shop.timetable.fired() == ["2026-11-21T06:00"]
    assert [entry[4] for entry in shop.world.history()] == ["success"]


def test_line_05_a_leader_looks_every_fifteen_seconds_claims_what_is_due_and_runs_it(shop: Shop) -> None:
    shop.opens(nightly)
    shop.timetable.until("2026-11-21 05:59:59")
    before = shop.timetable.fires()
    shop.timetable.until("2026-11-21 06:00:14")
    shop.works_off()

    assert (Settings().poll_interval, before) == (15, [])
    assert shop.world.statuses() == ["complete"]


CADENCES: list[tuple[Callable[[Any], Job], str, list[str]]] = [
    (daily("03:15"), "2026-11-21", ["2026-11-21T03:15", "2026-11-22T03:15"]),
    (every(5, "minutes", between="09:00-09:05"), "2026-11-21", ["2026-11-21T09:00", "2026-11-21T09:05"]),
    (weekly("Mon,Fri", "06:00"), "2026-11-21", ["2026-11-23T06:00", "2026-11-27T06:00"]),
    (weekly("Mon", "06:00", every=2, start="2026-11-23"), "2026-11-21", ["2026-11-23T06:00", "2026-12-07T06:00"]),
    (monthly("31", "00:30"), "2026-11-21", ["2026-12-31T00:30", "2027-01-31T00:30", "2027-03-31T00:30"]),
    (monthly("last", "00:30"), "2027-02-01", ["2027-02-28T00:30", "2027-03-31T00:30"]),
    (monthly_dow("first", "Mon", "06:00"), "2026-11-21", ["2026-12-07T06:00", "2027-01-04T06:00"]),
    (monthly_dow("last", "Fri", "06:00"), "2026-11-21", ["2026-11-27T06:00", "2026-12-25T06:00"]),
    (once("2026-12-01 02:00"), "2026-11-21", ["2026-12-01T02:00"]),
]


@pytest.mark.parametrize(("decorator", "start", "due"), CADENCES)
def test_line_06_the_cadences(decorator: Callable[[Any], Job], start: str, due: list[str]) -> None:
    (cadence,) = decorator(nightly.function).cadences
    plan, after = plan_of(cadence.timing, "UTC", None), datetime.fromisoformat(start).replace(tzinfo=UTC)
    found = []
    for _ in due:
        instant = plan.next_after(after)
        assert instant is not None
        assert instant.due is not None
        found.append(instant.key)
        after = instant.due

    assert found == due


def test_line_06_once_disables_itself(shop: Shop) -> None:
    shop.opens(job("move")(once("2026-11-21 06:00")(lambda: None)))
    shop.timetable.until("2026-11-21 06:00")
    shop.starts(job("move")(once("2026-11-21 06:00")(lambda: None)))

    assert shop.timetable.fired() == ["2026-11-21T06:00"]
    assert shop.schedules() == {"move.Once_2026_11_21_06_00": 0}


def test_line_07_filters_narrow_any_cadence(shop: Shop) -> None:
    shop.opens(job("busy")(every(60, "minutes", days="Mon", months="Nov", between="09:00-10:00")(lambda: None)))
    shop.timetable.until("2026-11-23 08:59")
    shop.timetable.until("2026-11-23 09:00")
    shop.timetable.until("2026-11-23 10:00")
    shop.timetable.until("2026-11-24 12:00")

    assert shop.timetable.fired() == ["2026-11-23T09:00", "2026-11-23T10:00"]


def test_line_08_what_people_are_shown_of_a_job_is_in_the_code_alone(shop: Shop) -> None:
    made = job("sweep", category="Ops", description="Vacuums stale rows.")(daily("06:00")(lambda: None))
    shop.starts(made)
    line = shop.line("sweep", made)

    assert (line.name, line.category, line.description) == ("sweep", "Ops", "Vacuums stale rows.")
    assert "Vacuums" not in json.dumps(shop.world.hand.dump(), default=str)


def test_line_09_several_cadences_are_several_rows_whose_names_no_order_changes(shop: Shop) -> None:
    shop.starts(job("two")(daily("09:00")(daily("17:00")(nightly.function))))
    shop.world.sql("UPDATE Schedule SET Jitter = 30 WHERE ScheduleName = 'two.Daily_17_00'")
    again = shop.starts(job("two")(daily("17:00")(daily("09:00")(nightly.function))))

    assert again.written == ()
    assert shop.schedules("Jitter") == {"two.Daily_09_00": 0, "two.Daily_17_00": 30}


def test_line_10_attempts_are_all_runs_and_said_so_loudly(shop: Shop) -> None:
    shop.world.runner.script = lambda rendered: BAD
    shop.opens(tried(3))
    shop.foreman().run("nightly")
    shop.works_off(times=5)

    assert [entry[2:] for entry in shop.world.history()] == [
        (1, "auto", "failed"),
        (2, "retry", "failed"),
        (3, "retry", "failed"),
    ]
    assert shop.world.messages("step.ended") == [f"attempt {at} of 3: it broke" for at in (1, 2, 3)]
    told = [one.attempt for one in shop.roster().history("nightly", outcome=None, since=None, most=9)]
    assert told == ["3 of 3", "2 of 3", "1 of 3"]
    assert "AT MOST, THE FIRST RUN INCLUDED" in (retry.__doc__ or "")


def test_line_10_one_attempt_is_no_retry(shop: Shop) -> None:
    shop.world.runner.script = lambda rendered: BAD
    shop.opens(tried(1))
    shop.foreman().run("nightly")
    shop.works_off(times=3)

    assert shop.world.statuses() == ["failed"]
    assert len(shop.world.history()) == 1


def test_line_11_a_retry_is_a_time_on_the_row_and_the_next_attempt_has_the_next_number(shop: Shop) -> None:
    shop.world.runner.script = lambda rendered: BAD
    shop.opens(tried(2))
    shop.foreman().run("nightly")
    shop.world.create()
    shop.world.process()
    waits = shop.world.sql("SELECT Status, NextRunTime FROM BatchControl")
    shop.world.runner.script = lambda rendered: OK
    shop.world.clock.advance(timedelta(seconds=59))
    shop.world.process()
    early = len(shop.world.history())
    shop.world.clock.advance(timedelta(seconds=1))
    shop.world.process()

    assert waits == [("retry", "2026-11-21 03:01:00.000")]
    assert early == 1
    assert [entry[2:] for entry in shop.world.history()] == [(1, "auto", "failed"), (2, "retry", "success")]


def test_line_12_what_is_fatal_is_not_tried_again(shop: Shop) -> None:
    shop.world.runner.script = lambda rendered: FATAL
    shop.opens(tried(3))
    shop.foreman().run("nightly")
    shop.works_off(times=3)

    assert (shop.world.statuses(), len(shop.world.history())) == (["failed"], 1)
    (entry,) = shop.roster().history("nightly", outcome=None, since=None, most=9)
    assert entry.in_full == "attempt 1 of 3: no use; the retries were skipped: trying again cannot help"


def test_line_12_what_is_fatal_ends_the_retries_that_are_left(shop: Shop) -> None:
    outcomes = iter((BAD, FATAL))
    shop.world.runner.script = lambda rendered: next(outcomes)
    shop.opens(tried(3))
    shop.foreman().run("nightly")
    shop.works_off(times=4)

    (last, first) = shop.roster().history("nightly", outcome=None, since=None, most=9)
    assert (first.attempt, first.retries_skipped) == ("1 of 3", False)
    assert (last.attempt, last.retries_skipped) == ("2 of 3", True)


def test_line_13_people_enable_and_disable(shop: Shop) -> None:
    shop.opens(nightly)
    shop.world.sql("UPDATE Schedule SET Enabled = 0")
    shop.starts(nightly)
    shop.timetable.until("2026-11-21 06:00")
    shop.world.sql("UPDATE Schedule SET Enabled = 1")
    shop.timetable.until("2026-11-21 07:00")
    shop.timetable.until("2026-11-22 06:00")

    assert shop.timetable.fired() == ["2026-11-22T06:00"]


def test_line_14_a_run_now_is_outside_the_times(shop: Shop) -> None:
    shop.opens(nightly)
    shop.timetable.turns()
    before = shop.timetable.standing()
    started = shop.foreman().run("nightly", reason="the boss asked")
    shop.works_off()

    assert shop.timetable.standing() == before
    assert shop.timetable.fires() == []
    assert shop.world.statuses() == ["complete"]
    source = "SELECT Source FROM FileProcess WHERE FileProcess_id = ?"
    assert shop.world.one(source, started.intake_id) == "job run by anna@host1: the boss asked"
    assert shop.world.sql("SELECT Action, Target, Reason FROM AuditLog WHERE Actor = 'anna'") == [
        ("run", "ProcessBatch:nightly", "the boss asked")
    ]


@pytest.mark.full
def test_line_15_a_cancel_reaches_the_job_wherever_it_runs_and_lets_it_end_by_itself(
    night: Night, start_batchctl: StartBatchctl
) -> None:
    os.mkfifo(night.folder / "slow.asks")
    night("job", "reconcile")
    night("job", "run", "slow")
    controller = start_batchctl("run", cwd=night.folder, env=night.environment)
    try:
        assert controller.stderr is not None
        assert (night.folder / "slow.asks").read_text(encoding="ascii") == ""  # It comes once the job has asked.
        cancelled = night("job", "cancel", "slow", "--reason", "not tonight")
        assert any("step.ended" in line for line in controller.stderr)
    finally:
        controller.send_signal(signal.SIGTERM)
        controller.communicate(timeout=PATIENCE)

    assert (cancelled.returncode, cancelled.stdout) == (0, "BatchControl 1 of job slow is now cancelling.\n")
    assert night.status_of(1) == "cancelled"
    (entry,) = night.json("job", "history", "slow")
    said = "was stopped because the instance was cancelled; the job stopped early: after 3 of 10 files"
    assert (entry["Status"], entry["Message"]) == ("cancelled", said)
    assert entry["Duration"] < 10


def test_line_15_what_is_not_running_cannot_be_cancelled(night: Night) -> None:
    night("job", "reconcile")
    refused = night("job", "cancel", "slow", "--reason", "not tonight")

    assert refused.returncode == 4
    assert "Nothing of job 'slow' is running." in refused.stderr


def test_line_16_the_history_has_start_end_outcome_message_attempt_and_worker_and_filters(shop: Shop) -> None:
    shop.opens(tried(2), daily_at("06:00"))
    outcomes = iter((BAD, BAD, OK, OK, OK))
    shop.world.runner.script = lambda rendered: next(outcomes)
    for _ in range(2):
        shop.foreman().run("nightly")
        shop.foreman().run("report")
        shop.works_off()
        shop.world.clock.advance(timedelta(hours=1))
    roster, noon = shop.roster(), datetime(2026, 11, 21, 4, 0, tzinfo=UTC)
    every_one = roster.history("nightly", outcome=None, since=None, most=9)
    failed = roster.history("nightly", outcome=HistoryStatus.FAILED, since=None, most=9)
    late = roster.history("nightly", outcome=None, since=noon, most=9)

    assert {entry.step_name for entry in every_one} == {"nightly"}
    assert [(entry.status, entry.attempt, entry.message) for entry in failed] == [("failed", "1 of 2", "it broke")]
    assert [entry.started_at for entry in late] == [entry.started_at for entry in every_one if entry.started_at >= noon]
    assert (failed[0].ended_at, failed[0].claimed_by) == (failed[0].started_at, "c1")


def test_line_17_two_leaders_fire_each_due_time_once(shop: Shop) -> None:
    shop.opens(nightly)
    shop.timetable.turns()
    other = shop.timetable.leader(shop.world.open())
    other.finish()
    shop.timetable.until("2026-11-21 06:00")
    other.finish()

    assert shop.timetable.fired() == ["2026-11-21T06:00"]
    assert shop.world.one("SELECT count(*) FROM FileProcess") == 1


def test_line_18_what_was_missed_is_dropped_unless_somebody_asks_for_some(shop: Shop) -> None:
    shop.opens(nightly, daily_at("06:00"))
    shop.timetable.turns()
    shop.world.sql("UPDATE Schedule SET CatchUp = 'up_to', CatchUpMost = 2 WHERE ScheduleName = 'report.Daily_06_00'")
    shop.starts(nightly, daily_at("06:00"))
    shop.timetable.turns()
    shop.timetable.until("2026-11-25 12:00")

    fired = "SELECT Entity, CycleKey FROM FileProcess ORDER BY FileProcess_id"
    assert shop.world.sql(fired) == [("report", "2026-11-24"), ("report", "2026-11-25")]


def test_line_19_the_options_and_their_defaults() -> None:
    settings = Settings()

    assert settings.scheduler.enabled
    assert (settings.poll_interval, settings.heartbeat_interval, settings.orphan_timeout) == (15, 3, 300)
    assert settings.slots == 1  # MaxConcurrentRuns: `run --slots 4`, MaxConcurrent of the batch
    assert settings.jobs.modules == []


@pytest.mark.full
def test_line_20_a_node_that_does_not_fire_still_reconciles_and_lists(night: Night) -> None:
    quiet = {"BATCHCTL_SCHEDULER__ENABLED": "false"}
    night("run", "--once", env=quiet)
    as_if_due(night)
    promised = MODULE.replace('"03:15"', repr(night.sql("SELECT RunTimes FROM Schedule")[0][0]))
    rewritten(night.folder / "shop.py", promised)
    night.sql("UPDATE Schedule SET ScheduleName = ?", f"nightly.{only_name(night)}")
    night("run", "--once", env=quiet)
    listed = {one["JobName"]: one["State"] for one in json.loads(night("job", "list", "--json", env=quiet).stdout)}
    before = night.sql("SELECT FileProcess_id FROM FileProcess")
    night("run", "--once")

    assert listed == {"nightly": "kept", "slow": "kept"}
    assert before == []
    assert night.sql("SELECT Source FROM FileProcess") == [(f"schedule nightly.{only_name(night)}",)]


def rewritten(module: Path, text: str) -> None:
    """Change a module so that Python sees it: its cache goes by whole seconds and the size."""
    module.write_text(f"{text}\n# This is another version.\n", encoding="utf-8")


def only_name(night: Night) -> str:
    ((times,),) = night.sql("SELECT RunTimes FROM Schedule")
    return f"Daily_{times.replace(':', '_')}"


def test_line_21_schedules_of_unknown_jobs_are_refused(night: Night) -> None:
    night("job", "reconcile")
    (night.folder / "batchctl.toml").write_text("", encoding="utf-8")
    checked = night("check")
    asked = night("job", "run", "nigthly")

    assert checked.returncode == 6
    assert "Job 'nightly' of 'shop' is not known here" in " ".join(checked.stdout.split())
    assert "job 'nightly' is not registered" in " ".join(checked.stdout.split())
    assert (asked.returncode, "Did you mean 'nightly'?" in asked.stderr) == (3, True)


def test_line_21_check_tells_what_differs_from_the_code(shop: Shop) -> None:
    shop.starts(nightly)
    shop.world.sql("UPDATE Schedule SET RunTimes = '04:00'")
    with shop.world.transactions.read() as connection:
        ((table, row, finding),) = job_findings.job_findings(connection, Node(shop=[nightly]))

    assert (table, row, finding.column) == ("Schedule", "nightly.Daily_06_00", "RunTimes")
    assert "RunTimes 04:00 becomes 06:00" in finding.message


def test_line_22_everything_its_system_procedures_did_is_a_command(night: Night) -> None:
    assert {"job", "schedule", "enable", "disable", "run", "cancel"} <= COMMANDS.keys()
    offered = night("job", "--help").stdout

    for verb in ("list", "run", "cancel", "history", "reconcile", "call"):
        assert f"\n  {verb} " in offered


def test_line_23_it_needs_no_server(tmp_path: Path, run_batchctl: RunBatchctl) -> None:
    (tmp_path / "shop.py").write_text(MODULE, encoding="utf-8")
    (tmp_path / "batchctl.toml").write_text('[jobs]\nmodules = ["shop"]\n', encoding="utf-8")
    run_batchctl("db", "upgrade", cwd=tmp_path)

    assert run_batchctl("job", "reconcile", cwd=tmp_path).returncode == 0
    assert (tmp_path / "batchctl.db").exists()


def test_line_24_steps_jobs_by_rows_arguments_and_zones_are_in(shop: Shop) -> None:
    made = job("load", arguments="day={CycleKey}")(daily("06:00", time_zone="Europe/Amsterdam")(lambda day: None))
    shop.opens(made)
    shop.world.step(int(shop.world.one("SELECT ProcessBatch_id FROM ProcessBatch")), 20)
    shop.timetable.until("2026-11-21 05:00")
    shop.works_off()

    assert shop.world.one("SELECT Data2 FROM ProcessControl WHERE ProcessControlSeq = 10") == "day={CycleKey}"
    assert [(entry[1], entry[4]) for entry in shop.world.history()] == [(10, "success"), (20, "success")]
    due = datetime(2026, 11, 21, 6, 0, tzinfo=ZoneInfo("Europe/Amsterdam"))
    assert due.astimezone(UTC).hour == 5


def test_line_25_jitter_is_a_schedules_own_and_the_operators(shop: Shop) -> None:
    shop.opens(nightly)
    shop.world.sql("UPDATE Schedule SET Jitter = 3600")
    shop.starts(nightly)
    shop.timetable.turns()
    _, armed, _ = shop.timetable.standing()

    assert "2026-11-21 06:00" <= armed <= "2026-11-21 07:00"
    assert shop.schedules("Jitter") == {"nightly.Daily_06_00": 3600}
