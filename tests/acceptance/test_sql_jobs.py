"""Jobs of SQL from the command line, and the example as its README says it."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from batchctl import config
from batchctl.app import App
from batchctl.node import Node
from tests.acceptance.installation import ROOT, RunBatchctl
from tests.control_databases import FIRST_TWO
from tests.postgres import PostgresServer
from tests.sql_shop import ClockAhead

EXAMPLE = ROOT / "examples" / "sql_jobs"
SYNTAX = {
    "sqlite": 'statement 1 of 1 failed: near "where": syntax error (SQLITE_ERROR); at line 1; everything was rolled back',
    "postgresql": 'statement 1 of 1 failed: ERROR 42601: syntax error at or near "where"; at line 1; everything was rolled back',
}


class Shop:
    """A folder with the example's files, and a configuration whose databases are of one kind."""

    def __init__(self, folder: Path, run: RunBatchctl, kind: str, server: PostgresServer | None) -> None:
        self.folder, self.kind, self._run, self._server = folder, kind, run, server
        for file in EXAMPLE.iterdir():
            shutil.copy(file, folder)
        settings = '[connections.shop]\nurl = "sqlite:///shop.db"\n'
        if server is not None:
            self.control, self.shop = server.new_database(), server.new_database()
            settings = (
                f'database_url = "{server.url(self.control)}"\n[connections.shop]\nurl = "{server.url(self.shop)}"\n'
            )
        (folder / "batchctl.toml").write_text(settings, encoding="utf-8")
        self("db", "upgrade")
        self.feed((folder / "shop.sql").read_text(encoding="utf-8"))

    def __call__(self, *args: str, code: int = 0) -> subprocess.CompletedProcess[str]:
        done = self._run(*args, cwd=self.folder)
        assert done.returncode == code, done
        return done

    def json(self, *args: str) -> Any:
        return json.loads(self(*args, "--json").stdout)

    def feed(self, text: str) -> str:
        """Give a text to the client of the shop's database."""
        if self._server is not None:
            done = self._server.psql(self.shop, text, "-At")
            assert done.returncode == 0, done
            return done.stdout.strip()
        with closing(sqlite3.connect(self.folder / "shop.db")) as client:
            client.executescript(text)
        return ""

    def run_at(self, now: datetime) -> None:
        """Be the controller for one pass, at a time when what is due then is due."""
        app = App(config.load(str(self.folder / "batchctl.toml")))
        app.clock = ClockAhead(now - app.clock.now())
        with closing(app):
            Node(app).run(once=True)

    def add(self, name: str, *given: str, at: str) -> subprocess.CompletedProcess[str]:
        return self("schedule", "add-sql", name, "--connection", "shop", "--at", at, *given)


@pytest.fixture(params=FIRST_TWO)
def shop(request: pytest.FixtureRequest, tmp_path: Path, run_batchctl: RunBatchctl) -> Shop:
    server = request.getfixturevalue("postgres") if request.param == "postgresql" else None
    return Shop(tmp_path, run_batchctl, request.param, server)


def test_the_example_does_what_its_readme_says(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    # What a script of SQLite's names without a folder lies where its controller was started.
    monkeypatch.chdir(shop.folder)
    at = "2040-11-30 12:00:30"
    shop.add("backup", "--file", f"backup_{shop.kind}.sql", at=at)
    faulty = shop.add("faulty", "--sql", "select 1, where 1=1", at=at)
    shop.add("statistics", "--sql", "ANALYZE", at=at)
    armed = [one["NextRunTime"] for one in shop.json("schedule", "jobs")]

    shop.run_at(datetime(2040, 11, 30, 12, 0, 31, tzinfo=UTC))

    found = {one["ScheduleName"]: one for one in shop.json("schedule", "jobs")}
    assert armed == [f"{at.replace(' ', 'T')}.000Z"] * 3
    assert {name: one["LastRun"]["Status"] for name, one in found.items()} == {
        "backup": "success",
        "faulty": "failed",
        "statistics": "success",
    }
    assert found["faulty"]["LastError"]["Message"] == SYNTAX[shop.kind]
    assert [(one["Enabled"], one["NextRunTime"], one["Waiting"], one["Running"]) for one in found.values()] == [
        (0, None, 0, None)
    ] * 3
    if shop.kind == "sqlite":
        assert 'Note: statement 1 of 1: near "where": syntax error' in faulty.stderr
        (backup,) = shop.folder.glob("backup_2*.db")
        with closing(sqlite3.connect(backup)) as copy:
            assert copy.execute("SELECT count(*) FROM Orders").fetchall() == [(3,)]
    else:
        assert shop.feed("SELECT count(*) FROM OrdersBackup") == "3"
    number = str(found["faulty"]["LastError"]["BatchControl_id"])
    shop("cancel", number, "--reason", "it was only to show how errors look")
    removed = shop("schedule", "remove", "faulty", "--reason", "shown").stdout
    assert "Schedule faulty is removed, with 1 decided due time." in removed
    assert "Its batch faulty is disabled, and keeps its history." in removed
    nightly = ("--file", f"backup_{shop.kind}.sql", "--daily", "--time-zone", "Europe/Amsterdam")
    assert "2040-12-01 02:00 +01:00" in shop.add("nightly", *nightly, at="2040-12-01 02:00").stdout
    shop("fsck")


@pytest.mark.parametrize(
    ("args", "code", "said"),
    [
        (("--at", "tomorrow", "--sql", "SELECT 1"), 2, "'tomorrow' is not a time; write one such as '2026-12-01 02:00'."),
        (("--at", "2040-12-01 02:00"), 2, 'Say what to carry out, once: --sql "..." or --file FILE.'),
        (("--at", "2040-12-01 02:00", "--file", "nothere.sql"), 2, "'nothere.sql' cannot be read: No such file or directory."),
        (("--at", "2040-12-01 02:00", "--sql", "SELECT 'x"), 4, "never be carried out: --sql: a ' is never closed"),
        (
            ("--at", "2040-12-01 02:00", "--sql", "SELECT 1", "--time-zone", "Europe/Amstredam"),
            2,
            "an IANA name such as Europe/Amsterdam. Did you mean 'Europe/Amsterdam'?",
        ),
        (("--at", "2040-12-01 02:00", "--sql", "SELECT 1", "--time-zone", "Mars"), 2, "'Mars' is not a time zone"),
        (("--at", "2020-12-01 02:00", "--sql", "SELECT 1"), 4, "2020-12-01 02:00 is over: in UTC it is"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_with_its_exit_code(
    tmp_path: Path, run_batchctl: RunBatchctl, args: tuple[str, ...], code: int, said: str
) -> None:
    shop = Shop(tmp_path, run_batchctl, "sqlite", None)

    done = shop("schedule", "add-sql", "job", "--connection", "shop", *args, code=code)

    assert said in done.stderr
    assert shop.json("schedule", "jobs") == []


def test_who_looks_at_a_failed_job_is_led_to_its_end(tmp_path: Path, run_batchctl: RunBatchctl) -> None:
    shop = Shop(tmp_path, run_batchctl, "sqlite", None)
    added = shop.add("job", "--sql", "SELECT x FROM y", "--retries", "1", at="2040-11-30 12:00:30").stdout
    shop.run_at(datetime(2040, 11, 30, 12, 0, 31, tzinfo=UTC))
    retrying = shop("schedule", "jobs").stdout
    with closing(sqlite3.connect(tmp_path / "batchctl.db", isolation_level=None)) as client:
        client.execute("UPDATE BatchControl SET Status = 'failed', RetryCount = 0")
    failed = shop("schedule", "jobs").stdout
    shown = shop("show", "1").stdout
    useless = shop("rerun", "1", "--set", "Data2=SELECT 1", "--reason", "x", code=4).stderr
    dry = shop("schedule", "set-sql", "job", "--sql", "SELECT 1", "--reason", "x", "--dry-run").stdout
    corrected = shop("schedule", "set-sql", "job", "--sql", "SELECT 1", "--reason", "x")
    same = shop.json("schedule", "set-sql", "job", "--sql", "SELECT 1", "--reason", "x")
    shop("rerun", "1", "--reason", "the SQL is corrected")
    shop.run_at(datetime(2040, 11, 30, 12, 9, tzinfo=UTC))
    done = shop("schedule", "jobs").stdout

    assert "It runs next at 2040-11-30 12:00:30 +00:00 (2040-11-30 12:00:30 UTC)." in added
    assert "it is tried again by itself at 2040-11-30 12:05:" in retrying
    assert "rerun" not in retrying
    command = "batchctl schedule set-sql job --sql ... --reason ...   (if its SQL is wrong)"
    assert command in failed
    assert command in shown
    assert "batchctl rerun 1 --reason ..." in failed
    assert "No step of job job uses Data2" in useless
    assert "; SELECT 1\n" in dry
    assert "batchctl rerun 1 --reason ...   (a run of it that has failed)" in corrected.stdout
    assert same["Before"] == same["After"] == {"Data2": "SELECT 1"}
    assert [line.split()[:2] for line in done.splitlines() if line.startswith("job")] == [["job", "done"]]
    assert "no such table" not in done
    shop("schedule", "set-sql", "job", "--reason", "x", code=2)


def test_what_was_cancelled_with_a_job_is_named_with_its_status(tmp_path: Path, run_batchctl: RunBatchctl) -> None:
    shop = Shop(tmp_path, run_batchctl, "sqlite", None)
    shop.add("job", "--sql", "SELECT x FROM y", at="2040-11-30 12:00:30")
    shop.run_at(datetime(2040, 11, 30, 12, 0, 31, tzinfo=UTC))

    removed = shop("schedule", "remove", "job", "--reason", "wrong").stdout

    assert "BatchControl 1 is cancelled (it was failed)." in removed


def test_a_node_that_does_not_schedule_runs_no_job_and_no_backfill(tmp_path: Path, run_batchctl: RunBatchctl) -> None:
    shop = Shop(tmp_path, run_batchctl, "sqlite", None)
    shop.add("job", "--sql", "SELECT 1", "--daily", at="2040-12-01 02:00")
    with closing(sqlite3.connect(tmp_path / "batchctl.db", isolation_level=None)) as client:
        client.execute("UPDATE Schedule SET StartDate = '2020-01-01'")
    backfill = ("backfill", "job", "--from", "2020-01-01", "--to", "2020-01-02")
    preview = shop.json(*backfill, "--dry-run")
    begun = shop.json(*backfill, "--most-open", "5", "--reason", "they were missed")
    with (tmp_path / "batchctl.toml").open("a", encoding="utf-8") as settings:
        settings.write("[scheduler]\nenabled = false\n")
    shop("run", "--once")
    (before,) = shop.json("backfill", "list")
    (tmp_path / "batchctl.toml").write_text('[connections.shop]\nurl = "sqlite:///shop.db"\n', encoding="utf-8")
    shop("run", "--once")
    (after,) = shop.json("backfill", "list")

    assert (preview["ToFire"], preview["ScheduleBackfill_id"], begun["ScheduleBackfill_id"]) == (2, None, 1)
    assert (before["Status"], before["Fired"]) == ("running", 0)
    assert (after["Status"], after["Fired"], after["Open"], after["Reason"]) == ("complete", 2, 0, "they were missed")
    assert shop("backfill", "cancel", "1", "--reason", "x", code=4).stderr.startswith(
        "Error: ScheduleBackfill 1 is complete"
    )


def test_many_due_times_of_the_past_need_a_yes(tmp_path: Path, run_batchctl: RunBatchctl) -> None:
    shop = Shop(tmp_path, run_batchctl, "sqlite", None)
    shop.add("job", "--sql", "SELECT 1", "--daily", at="2040-12-01 02:00")
    with closing(sqlite3.connect(tmp_path / "batchctl.db", isolation_level=None)) as client:
        client.execute("UPDATE Schedule SET StartDate = '2020-01-01'")
    backfill = ("backfill", "job", "--from", "2020-01-01", "--to", "2020-12-31")

    refused = shop(*backfill, code=4)
    shop(*backfill, "--yes")
    missing = shop("backfill", "jbo", "--from", "2020-01-01", "--to", "2020-12-31", code=3)
    wrong = shop("backfill", "job", "--from", "soon", "--to", "2020-12-31", code=2)
    cancelled = shop("backfill", "cancel", "1", "--reason", "enough")
    shown = shop(*backfill, "--dry-run").stdout
    nameless = shop("backfill", "job", "--from", "2020-01-01", code=2)

    assert "That would start work for 366 due times." in refused.stderr
    assert shown.count(" 02:00 +00:00") == 21, "the first twenty, and the last"
    assert "... 345 more ..." in shown
    assert "2020-12-31 02:00 +00:00" in shown
    assert "Usage: batchctl backfill SCHEDULE --from TIME --to TIME [OPTIONS]" in nameless.stderr
    assert "Did you mean 'job'?" in missing.stderr
    assert "'soon' is neither a day" in wrong.stderr
    assert cancelled.stdout == "ScheduleBackfill 1 is cancelled, after work was started for 0 due times.\n"
