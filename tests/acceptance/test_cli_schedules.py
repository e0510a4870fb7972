"""`batchctl schedule`, `calendar` and `mode` from outside: what they print, where, and how they end."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.installation import RunBatchctl, lend
from tests.control_databases import FIRST_TWO

Run = Callable[..., subprocess.CompletedProcess[str]]
ZONE = 'business_time_zone = "Europe/Amsterdam"\n'
BATCH = (
    "INSERT INTO ProcessBatch (ProcessBatchName) VALUES ('Load');"
    " INSERT INTO ProcessControl (ProcessBatch_id, ProcessControlSeq, ProcessName, ProcessType, Data1)"
    " SELECT ProcessBatch_id, 10, 'load', 'os_command', 'true' FROM ProcessBatch WHERE ProcessBatchName = 'Load';"
)
DAILY = ("--entity", "Load", "--type", "daily", "--run-times", "06:00,18:00")


class Shop:
    """A folder with a control database, the installed command, and a person's SQL client."""

    def __init__(self, run: Run, sql: Callable[[str], str], end_of_time: str) -> None:
        self.run, self.sql, self.end_of_time = run, sql, end_of_time

    def done(self, *args: str, **more: Any) -> str:
        outcome = self.run(*args, **more)
        assert outcome.returncode == 0, outcome
        return outcome.stdout

    def json(self, *args: str) -> Any:
        return json.loads(self.done(*args, "--json"))


@pytest.fixture(params=FIRST_TWO)
def shop(request: pytest.FixtureRequest, tmp_path: Path, run_batchctl: RunBatchctl) -> Shop:
    def run(*args: str, **more: Any) -> subprocess.CompletedProcess[str]:
        return run_batchctl(*args, cwd=tmp_path, **more)

    settings = ZONE
    client = ["sqlite3", "-cmd", ".timeout 60000", "-bail", str(tmp_path / "batchctl.db")]
    if request.param == "postgresql":
        server = request.getfixturevalue("postgres")
        name = server.new_database()
        settings += f'database_url = "{server.url(name)}"\n'
    (tmp_path / "batchctl.toml").write_text(settings, encoding="utf-8")

    def sql(text: str) -> str:
        if request.param == "postgresql":
            done = server.psql(name, text, "-v", "ON_ERROR_STOP=1", "-At")
        else:
            done = subprocess.run(client, input=text, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0, done
        return str(done.stdout).strip()

    assert run("db", "upgrade").returncode == 0
    sql(BATCH)
    return Shop(run, sql, "9999-12-31 23:59:59.999")


def test_a_schedule_from_its_making_to_its_first_run(shop: Shop) -> None:
    planned = shop.done("schedule", "add", "nightly", *DAILY, "--dry-run")
    assert "Schedule nightly would be made: daily at 06:00 and 18:00, Europe/Amsterdam." in planned
    assert shop.json("schedule", "list") == []
    made = shop.done("schedule", "add", "nightly", *DAILY, "--reason", "the sender is ready by then")
    assert "It runs next at 20" in made

    (listed,) = shop.json("schedule", "list")
    assert (listed["ScheduleName"], listed["RunTimes"], listed["Enabled"]) == ("nightly", "06:00,18:00", 1)
    assert listed["Words"] == "daily at 06:00 and 18:00, Europe/Amsterdam"
    assert (listed["Findings"], listed["LastOutcome"]) == ([], None)
    shown = shop.json("schedule", "show", "nightly")
    assert [(entry["Action"], entry["Reason"]) for entry in shown["AuditLog"]] == [
        ("row insert", None),
        ("schedule add", "the sender is ready by then"),
    ]
    previewed = shop.json("schedule", "preview", "nightly", "--days", "10")
    assert len(previewed) == 20
    assert {"LocalTime", "UtcTime", "Outcome", "Reason"} <= set(previewed[0])
    assert previewed[0]["UtcTime"] == listed["NextUtcTime"]
    tried = shop.json("schedule", "test", "nightly")
    assert (tried["WouldFire"], tried["NextRunTime"]) == (False, listed["NextUtcTime"])

    shop.done("schedule", "set", "nightly", "--type", "interval", "--interval-minutes", "1", "--reason", "to see it")
    shop.sql("UPDATE Schedule SET DecidedUntil = '2026-01-01 00:00:00', TimingHash = NULL, CatchUp = 'latest';")
    tried = shop.json("schedule", "test", "nightly")
    assert tried["WouldFire"] is True
    shop.done("run", "--once")

    (listed,) = shop.json("schedule", "list")
    newest = shop.json("log", "--source", "schedule nightly", "--type", "fired")[0]
    assert (listed["LastOutcome"], listed["LastFileProcess_id"]) == ("fired", newest["FileProcess_id"])
    decided = shop.json("schedule", "preview", "nightly", "--from", listed["LastDueTime"], "--days", "1")
    assert decided[0]["Decided"] == "fired"
    shop.done("fsck")


def test_what_is_wrong_is_said_at_once_with_exit_code_6_and_nothing_is_written(shop: Shop) -> None:
    wrong = ("--entity", "Laod", "--type", "weekly", "--run-times", "25:00", "--time-zone", "Europe/Amsterdm")
    outcome = shop.run("schedule", "add", "nightly", *wrong)

    assert outcome.returncode == 6
    for said in ("Did you mean 'Load'", "'25:00' is no time of day", "Did you mean 'Europe/Amsterdam'", "RunDays"):
        assert said in " ".join(outcome.stdout.split())
    assert "4 findings; nothing was written" in outcome.stdout
    assert shop.json("schedule", "list") == []

    assert shop.run("schedule", "add", "x", "--entity", "Load", "--type", "hourly").returncode == 2
    assert shop.run("schedule", "add", "x", *DAILY, "--jitter", "soon").returncode == 2
    assert shop.run("schedule", "set", "x", "--reason", "y").returncode == 2
    assert shop.run("schedule", "preview").returncode == 2
    assert shop.run("schedule", "show", "x").returncode == 3
    assert shop.run("schedule", "set", "x", "--jitter", "5", "--reason", "y").returncode == 3
    shop.done("schedule", "add", "x", *DAILY)
    assert shop.run("schedule", "add", "x", *DAILY).returncode == 4


def test_rows_inserted_by_hand_are_found_by_check(shop: Shop) -> None:
    shop.sql(
        "INSERT INTO Schedule (ScheduleName, Entity, ScheduleType, RunTimes, BetweenTimes, TimeZone)"
        " VALUES ('a', 'Load', 'daily', '06:00', '23:58-23:59', NULL), ('b', 'Laod', 'daily', '06:00', NULL, 'Mars');"
    )

    outcome = shop.run("check", "--json")

    assert outcome.returncode == 6
    assert {(one["Row"], one["Column"]) for one in json.loads(outcome.stdout)} == {
        ("a", "BetweenTimes"),
        ("b", "Entity"),
        ("b", "TimeZone"),
    }
    (first, second) = shop.json("schedule", "list")
    assert first["Findings"][0].startswith("BetweenTimes: None of its times lies in 23:58-23:59: it is never due.")
    assert second["Words"] == "daily at 06:00, Mars"


def test_the_end_of_time_in_every_row_keeps_no_command_from_its_answer(shop: Shop) -> None:
    shop.done("schedule", "add", "nightly", *DAILY)
    shop.sql(
        "INSERT INTO ScheduleBackfill (Schedule_id, FromTime, UntilTime, Actor)"
        f" SELECT Schedule_id, '2026-11-01 00:00:00', '{shop.end_of_time}', 'anna' FROM Schedule;"
        " UPDATE Schedule SET DecidedUntil = '2026-11-01 00:00:00', CatchUp = 'latest';"
    )
    shop.run("run", "--once")
    for table, columns in {
        "Schedule": ("NextRunTime", "DecidedUntil", "z_inserted"),
        "ScheduleFire": ("DueTime", "DueUntil", "z_inserted"),
        "FileProcess": ("z_inserted", "z_updated"),
        "BatchControl": ("z_inserted", "z_updated"),
        "BatchProcessHistory": ("StartTime", "EndTime"),
        "SchedulerLog": ("EventTime",),
    }.items():
        for column in columns:
            shop.sql(f"UPDATE {table} SET {column} = '{shop.end_of_time}';")

    for command in ("schedule list", "schedule show nightly", "schedule preview nightly", "schedule test nightly"):
        assert shop.run(*command.split()).returncode == 0, command
    for command in ("status", "backfill list", "inbox", "log", "history", "show 1", "why 1", "graph"):
        assert shop.run(*command.split()).returncode == 0, command
        if command != "graph":
            assert shop.run(*command.split(), "--json").returncode == 0, command
    assert shop.run("check").returncode == 6
    assert [one["Waits"] for one in shop.json("backfill", "list")] == ["its time reaches into the future"]
    assert shop.run("run", "--once").returncode == 0


def test_disabling_and_enabling_say_what_follows(shop: Shop) -> None:
    shop.done("schedule", "add", "nightly", *DAILY)
    assert shop.run("schedule", "disable", "nightly").returncode == 2
    assert "is now disabled" in shop.done("schedule", "disable", "nightly", "--reason", "holiday")
    assert "is disabled already" in shop.done("schedule", "disable", "nightly", "--reason", "holiday")
    enabled = shop.done("schedule", "enable", "nightly", "--reason", "back")
    assert "Nothing that was due while it was off is made up for" in enabled
    assert "It runs next at" in enabled
    assert "is enabled already" in shop.done("schedule", "enable", "nightly", "--reason", "back")


def test_the_mode_of_a_batch(shop: Shop) -> None:
    shop.done("schedule", "add", "nightly", *DAILY)
    planned = shop.done("mode", "Load", "manual", "--reason", "month end", "--dry-run")
    assert "The mode of batch Load would be manual (it was any)." in planned
    assert shop.json("schedule", "list")[0]["Enabled"] == 1
    done = shop.done("mode", "Load", "manual", "--reason", "month end")
    assert "Schedule nightly is now disabled" in done
    assert shop.run("schedule", "enable", "nightly", "--reason", "x").returncode == 6
    assert "batchctl schedule enable nightly" in shop.done("mode", "Load", "scheduled", "--reason", "over")
    modes = {batch["ProcessBatchName"]: batch["ProcessingMode"] for batch in shop.json("batches")}
    assert modes["Load"] == "scheduled"
    assert "is scheduled already" in shop.done("mode", "Load", "scheduled", "--reason", "over")


def test_the_log_goes_on_to_what_lists_its_source(shop: Shop) -> None:
    shop.done("schedule", "add", "nightly", *DAILY)
    shop.done("schedule", "run", "nightly", "--reason", "to see it")

    assert "Next: batchctl schedule list" in shop.done("log", "--source", "schedule")
    assert "Next: batchctl trigger list" in shop.done("log", "--source", "trigger x")
    unknown = shop.done("log", "--source", "nightly")
    assert (
        "A source begins with one of these words: schedule, trigger, watch, dependency, calendar, backfill." in unknown
    )


def test_what_a_command_needs_and_a_schedule_does_not_bring_is_warned_of(shop: Shop) -> None:
    shop.sql("UPDATE ProcessControl SET Data1 = 'wc -l {FileName}' WHERE ProcessName = 'load';")
    said = "Step 10 of Load uses {FileName}; a schedule brings none, so it fails."

    made = shop.run("schedule", "add", "nightly", *DAILY)

    assert (made.returncode, f"Warning: {said}" in made.stderr + made.stdout) == (0, True)
    assert [one["Message"] for one in json.loads(shop.run("check", "--json").stdout)] == [said]
    assert said in shop.json("schedule", "test", "nightly")["Notes"]


def test_change_nights_of_all_schedules(shop: Shop) -> None:
    shop.done("schedule", "add", "nightly", "--entity", "Load", "--type", "daily", "--run-times", "02:30")
    shop.done("schedule", "add", "tokyo", *DAILY, "--time-zone", "Asia/Tokyo")

    rows = shop.json("schedule", "preview", "--dst", "--from", "2026-11-22")

    assert [(row["LocalTime"], row["Runs"]) for row in rows] == [
        ("2027-03-28 03:00 +02:00", "once"),
        ("2027-10-31 02:30 +02:00", "once"),
    ]
    shown = shop.done("schedule", "preview", "--dst", "--from", "2026-11-22")
    assert "2027-03-28 02:30 does not exist in Europe/Amsterdam" in shown
    assert "The clocks of Asia/Tokyo are not changed within a year." in shown
    assert "the clocks show this twice, and it runs the first time" in shown


def test_a_change_night_shows_what_does_not_run_at_all(shop: Shop) -> None:
    every = ("--entity", "Load", "--type", "interval", "--interval-minutes", "5")
    shop.done("schedule", "add", "in the gap", *every, "--between-times", "02:40-02:55")
    shop.done("schedule", "add", "often", *every, "--between-times", "01:50-03:00")
    look, wide = ("--dst", "--from", "2026-11-22"), {"COLUMNS": "200"}
    what = "the clocks leave this out; an interval of 60 minutes or less is not made up for"

    rows = [row for row in shop.json("schedule", "preview", "in the gap", *look) if row["Runs"] == "not at all"]
    assert [(row["LocalTime"], row["UtcTime"]) for row in rows] == [
        (f"2027-03-28 02:{minute}", None) for minute in (40, 45, 50, 55)
    ]
    lines = [line.split() for line in shop.done("schedule", "preview", "in the gap", *look, env=wide).splitlines()]
    assert ["2027-03-28", "02:40", "-", "not", "at", "all", *what.split()] in lines
    many = [line.split()[:11] for line in shop.done("schedule", "preview", "often", *look, env=wide).splitlines()]
    assert ["2027-03-28", "02:00", "to", "02:55", "-", "not", "at", "all", "12", "due", "times:"] in many


def test_who_changes_a_calendar_is_told_what_is_due_next_at_another_time(shop: Shop) -> None:
    shop.sql("INSERT INTO Calendar (CalendarName, BusinessDays) VALUES ('ALL', 'Mon,Tue,Wed,Thu,Fri,Sat,Sun');")
    shop.done("schedule", "add", "nightly", *DAILY, "--calendar-name", "ALL")
    (before,) = shop.json("schedule", "list")
    day = before["NextLocalTime"][:10]

    said = shop.done("calendar", "add-day", "ALL", day, "--dry-run")
    planned = shop.json("calendar", "add-day", "ALL", day, "--dry-run")
    done = shop.json("calendar", "add-day", "ALL", day)
    (after,) = shop.json("schedule", "list")
    back = shop.json("calendar", "remove-day", "ALL", day)

    assert (
        f"Schedule nightly was due next at {before['NextLocalTime']}, and is due next at {after['NextLocalTime']} then."
        in said
    )
    assert {**planned, "DryRun": False} == done
    (moved,) = done["Moved"]
    assert (moved["NextLocalTimeBefore"], moved["NextLocalTime"]) == (before["NextLocalTime"], after["NextLocalTime"])
    assert (moved["Lost"], back["Moved"][0]["NextUtcTime"]) == ([], before["NextUtcTime"])


def test_a_calendar_is_imported_corrected_and_gone_by(shop: Shop, tmp_path: Path, run_installed: RunBatchctl) -> None:
    arguments = ("calendar", "import", "NL", "--country", "NL", "--years")
    without = run_installed(*arguments, "2026", cwd=tmp_path)
    assert without.returncode == 2
    assert "-m pip install 'batchctl[calendars]', or write the days yourself: INSERT INTO Calendar" in without.stderr
    for name in ("holidays", "python-dateutil", "six"):
        lend(distribution(name), tmp_path / "extra")
    extra = {"PYTHONPATH": str(tmp_path / "extra")}

    imported = run_installed(*arguments, "2026-2027", cwd=tmp_path, env=extra)
    assert imported.returncode == 0, imported
    assert "Calendar NL is new: 20 days are added" in imported.stdout
    assert (
        "0 days are added, 20 stood there already"
        in run_installed(*arguments, "2026-2027", cwd=tmp_path, env=extra).stdout
    )
    shop.done("calendar", "add-day", "NL", "2026-12-24", "--description", "closed")
    shown = shop.json("calendar", "show", "NL", "--year", "2026")
    assert [day["CalendarDate"] for day in shown["Days"]][-3:] == ["2026-12-24", "2026-12-25", "2026-12-26"]

    shop.done("schedule", "add", "nightly", *DAILY, "--calendar-name", "NL")
    days = shop.json("schedule", "preview", "nightly", "--from", "2026-12-24", "--days", "2")
    assert [(day["Outcome"], day["Reason"]) for day in days[::2]] == [
        ("skipped", "2026-12-24 is no business day of NL: closed"),
        ("skipped", "2026-12-25 is no business day of NL: Christmas Day"),
    ]
    assert shop.run("calendar", "remove", "NL", "--reason", "x").returncode == 4
    shop.sql("UPDATE Calendar SET ValidUntil = '2026-01-01';")
    behind, found = json.loads(shop.run("check", "--json").stdout)
    assert (behind["Table"], found["Table"], found["Row"]) == ("Calendar", "Calendar", "NL")
    assert "has run out on 2026-01-01" in shop.done("status")
    assert shop.json("status")["EndingCalendars"][0]["Schedules"] == ["nightly"]
    shop.done("schedule", "set", "nightly", "--calendar-name", "", "--reason", "no more")
    shop.done("calendar", "remove-day", "NL", "2026-12-24")
    assert "Calendar NL with 20 days is removed." in shop.done("calendar", "remove", "NL", "--reason", "x")
    assert shop.run("calendar", "show", "NL").returncode == 3


def test_a_backfill_that_stands_at_a_failed_instance_says_what_to_type(shop: Shop) -> None:
    shop.sql("UPDATE ProcessControl SET Data1 = 'false';")
    shop.done("schedule", "add", "nightly", *DAILY)
    shop.done("backfill", "nightly", "--from", "2026-01-05", "--to", "2026-01-06")
    shop.run("run", "--once")

    listed = shop.done("backfill", "list")

    assert "BatchControl 1 is failed" in " ".join(listed.split())
    assert "Next: batchctl rerun 1 --reason ..." in listed
    for given in ("lst", "show 2"):
        refused = shop.run("backfill", *given.split())
        assert refused.returncode == 2
        assert f"'{given.split()[0]}' is no subcommand. Did you mean 'list'?" in refused.stderr
    assert shop.run("backfill", "nightly").returncode == 2


def test_a_day_that_is_none_is_listed_and_removed(shop: Shop) -> None:
    shop.sql("INSERT INTO Calendar (CalendarName) VALUES ('NL');")
    shop.sql("INSERT INTO CalendarDay (Calendar_id, CalendarDate) VALUES (1, '2026-02-30');")
    said = "unreadable: CalendarDay 1 holds '2026-02-30', which is no day"

    assert shop.json("calendar", "list")[0]["Warning"] == said
    assert shop.run("calendar", "remove-day", "NL", "2026-02-31").returncode == 3
    assert shop.run("calendar", "remove-day", "NL", "29 Feb").returncode == 2
    assert "'2026-02-30', which is no day, is removed" in shop.done("calendar", "remove-day", "NL", "2026-02-30")
    assert shop.json("calendar", "list")[0]["Warning"] is None


def test_what_is_due_with_no_controller_there_is_said_by_whoever_tells_of_it(shop: Shop) -> None:
    to_run = "Next: batchctl run   (no controller is running that starts what is due)"

    for act in (
        ("add", "nightly", *DAILY),
        ("set", "nightly", "--run-times", "07:00", "--reason", "x"),
        ("disable", "nightly", "--reason", "x"),
        ("enable", "nightly", "--reason", "x"),
        ("test", "nightly"),
    ):
        assert (to_run in shop.done("schedule", *act)) is (act[0] != "disable"), act
    assert to_run in shop.done("status")
    assert [one["Overdue"] for one in shop.json("status")["DueNext"]] == [False]
    # As a controller leaves it that armed it and was stopped.
    shop.sql("UPDATE Schedule SET NextRunTime = '2026-01-01 06:00:00.000', DecidedUntil = '2026-01-01 05:00:00.000'")
    assert ", overdue" in shop.done("status")
    assert [one["Overdue"] for one in shop.json("status")["DueNext"]] == [True]
    shop.sql("INSERT INTO Controller (ControllerName, Host, Heartbeat) VALUES ('c1', 'h', '2099-01-01 00:00:00')")
    assert to_run in shop.done("schedule", "test", "nightly")
    shop.sql("UPDATE Controller SET SchedulerZone = 'UTC'")
    assert to_run not in shop.done("schedule", "test", "nightly")
    assert to_run not in shop.done("status")
