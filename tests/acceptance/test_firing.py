"""Schedules, seen from outside: rows inserted by hand, fired by single rounds and by a controller."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator

import pytest

from tests.acceptance.installation import PATIENCE, RunBatchctl, StartBatchctl
from tests.acceptance.test_controller import Shop
from tests.control_databases import ControlDatabase

DUE_IN = {
    "sqlite": "strftime('%Y-%m-%d %H:%M:%S', 'now', '{} seconds')",
    "postgresql": "to_char(clock_timestamp() AT TIME ZONE 'UTC' + interval '{} seconds', 'YYYY-MM-DD HH24:MI:SS')",
    "mssql": "CONVERT(varchar(19), DATEADD(second, {}, SYSUTCDATETIME()), 120)",
}
FIRES = "SELECT s.ScheduleName, f.Outcome FROM ScheduleFire f JOIN Schedule s ON s.Schedule_id = f.Schedule_id"


@pytest.fixture
def shop(control_database: ControlDatabase, start_batchctl: StartBatchctl, run_batchctl: RunBatchctl) -> Iterator[Shop]:
    """Return a shop with a batch Nightly."""
    made = Shop(control_database, start_batchctl, run_batchctl)
    made.batch("Nightly", "true")
    yield made
    made.close()


def once(shop: Shop, name: str, due_in: int) -> None:
    """Insert a schedule that will be due after so many seconds, or was, after it was made."""
    at = DUE_IN[shop.database.kind].format(due_in)
    shop.hand.sql(
        "INSERT INTO Schedule (ScheduleName, Entity, ScheduleType, RunAt, DecidedUntil)"
        f" VALUES (?, 'Nightly', 'once', {at}, '2026-01-01 00:00:00.000')",
        name,
    )


def test_a_single_round_fires_what_is_due_and_the_next_one_does_not(shop: Shop) -> None:
    once(shop, "now", -30)
    once(shop, "missed", -3000)
    once(shop, "later", 3000)
    first, second = shop.run("run", "--once"), shop.run("run", "--once")

    assert (first.returncode, second.returncode) == (0, 0)
    assert "Instances: 1 complete." in first.stdout
    assert sorted(shop.hand.sql(FIRES)) == [("missed", "skipped"), ("now", "fired")]
    assert shop.hand.sql("SELECT Source, Status FROM FileProcess") == [("schedule now", "complete")]
    assert shop.hand.sql("SELECT ScheduleName FROM Schedule WHERE Enabled = 1") == [("later",)]
    told = json.loads(shop.run("log", "--json", "--source", "schedule").stdout)
    assert sorted(entry["EventType"] for entry in told) == ["completed", "fired", "skipped"]
    assert shop.run("fsck").returncode == 0


def test_003_20_a_node_whose_scheduler_is_off_lists_and_fires_nothing(shop: Shop) -> None:
    shop.configure("[scheduler]\nenabled = false\n")
    once(shop, "now", -30)

    assert shop.run("run", "--once").returncode == 0
    assert shop.hand.sql(FIRES) == []
    assert [one["ScheduleName"] for one in json.loads(shop.run("schedule", "list", "--json").stdout)] == ["now"]


def test_a_controller_notices_a_schedule_that_is_inserted_while_it_waits(shop: Shop) -> None:
    shop.batch("Signal", shop.says("true"))
    controller = shop.start("run")
    assert controller.stderr is not None
    assert "controller.started" in controller.stderr.readline()
    once(shop, "soon", 2)
    shop.hand.sql("UPDATE Schedule SET Entity = 'Signal', Description = 'by hand'")

    assert shop.hear() > 0
    controller.send_signal(signal.SIGTERM)
    controller.communicate(timeout=PATIENCE)
    assert shop.hand.sql(FIRES) == [("soon", "fired")]


def test_run_now_prints_the_row_that_it_inserts(shop: Shop) -> None:
    once(shop, "later", 3000)
    refused = shop.run("schedule", "run", "later")
    tried = shop.run("schedule", "run", "later", "--reason", "ticket 7", "--dry-run")
    done = shop.run("schedule", "run", "later", "--reason", "ticket 7")

    assert (refused.returncode, tried.returncode, done.returncode) == (2, 0, 0)
    assert (tried.stdout, done.stdout) == ("", "1\n")
    assert "Taken by: Nightly." in done.stderr
    assert shop.run("schedule", "run", "laetr", "--reason", "x").returncode == 3
    assert shop.run("fsck").returncode == 0
    assert shop.hand.sql("SELECT ScheduleName FROM Schedule WHERE Enabled = 1") == [("later",)]
