"""What commands say, where it misled somebody who read it in the night."""

from __future__ import annotations

import json
import re

import pytest

from tests.cli.shop import Shop
from tests.house.source import ROOT


@pytest.mark.parametrize("name", ["", "  "])
def test_an_empty_file_name_is_a_mistake_and_not_the_working_directory(shop: Shop, name: str) -> None:
    assert shop("submit", "X", "--file", name) == 2
    assert "it is empty; leave --file out where there is no file" in shop.err
    assert shop.sql("SELECT count(*) FROM FileProcess") == [(0,)]


def test_seconds_between_retries_are_seconds(shop: Shop) -> None:
    shop.batch("Secs", RetryCount=2, RetryWaitSecs=1)
    shop.batch("Mins", RetryCount=3, RetryWaitMins=90)
    listed = {one["ProcessBatchName"]: one["RetryWaitSecs"] for one in shop.json("batches")}
    shop("batches")

    assert "2 x 1 s" in shop.out
    assert "3 x 90 min" in shop.out
    assert listed == {"Secs": 1, "Mins": 5400}


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (("acknowledge", "1"), "acknowledged by root: the vendor is called"),
        (("snooze", "1", "--for", "2h"), "UTC: the vendor is called"),
    ],
)
def test_why_somebody_takes_care_of_an_incident_is_shown(shop: Shop, words: tuple[str, ...], shown: str) -> None:
    shop.batch("Load", "false")
    shop.arrive("Load")
    shop("run", "--once")
    assert shop(*words, "--reason", "an older one") == 0
    assert shop(*words, "--reason", "the vendor is called") == 0

    (incident,) = shop.json("incidents")
    assert incident["AcknowledgedReason"] == "the vendor is called"
    for command in ("incidents", "status"):
        shop(command)
        assert shown.rpartition(": ")[2] in " ".join(shop.out.split())
    assert shop.json("status")["Incidents"][0]["AcknowledgedReason"] == "the vendor is called"


def test_who_waits_for_what_has_failed_is_told_no_time_but_what_must_happen_first(shop: Shop) -> None:
    shop.batch("Load", "false")
    shop.batch("Report")
    shop.sql(
        "INSERT INTO BatchDependency (ProcessBatch_id, DependsOnBatch_id) SELECT r.ProcessBatch_id, l.ProcessBatch_id"
        " FROM ProcessBatch r, ProcessBatch l WHERE r.ProcessBatchName = 'Report' AND l.ProcessBatchName = 'Load'"
    )
    shop.arrive("Load")
    shop("run", "--once")
    shop("graph", "Report")
    blockers = shop.json("graph", "Report")["Forecast"]["Obstacles"]

    said = "Load: BatchControl 1 is failed, and what comes later waits for it"
    assert blockers == [said]
    shop("graph", "Report")
    assert "It will not be done before somebody acts:" in shop.out
    assert said in shop.out
    assert "ready by" not in shop.out

    shop.arrive("Load", CycleKey="later")
    shop("create")
    assert said in shop.json("graph", "Report")["Forecast"]["Obstacles"]


def test_of_what_is_complete_no_finish_is_expected(shop: Shop) -> None:
    shop.batch("Load")
    shop.arrive("Load")
    shop("run", "--once")
    shop("graph", "Load")

    assert "If all of it began now: ready by " in shop.out
    assert "Going on with" not in shop.out


def test_the_message_that_the_recipe_for_the_night_shows_is_the_one_that_comes(shop: Shop) -> None:
    shop.settings('[alerts.channels.night]\nkind = "log"\npath = "alerts.log"\n')
    shop.batch("LoadOrders", "wc -l /in/orders.csv")
    shop.sql("UPDATE ProcessControl SET ProcessName = 'count'")
    shop.arrive("LoadOrders")
    shop("run", "--once")
    written = (ROOT / "docs" / "night.md").read_text(encoding="utf-8")
    sent = json.loads((shop.folder / "alerts.log").read_text(encoding="utf-8").splitlines()[0])

    def plain(text: str) -> list[str]:
        """Leave numbers of rows and times away, and where the title is cut."""
        title, *others = re.sub(
            r"\b(?:42|7|1)\b(?! ;)", "N", re.sub(r"[0-9-]{10} [0-9:]{8} UTC", "T", text)
        ).splitlines()
        return [title[:-5], *others] if title.endswith("…") else [title, *others]

    told, shown = plain(sent["text"]), plain(written.split("```")[1].strip("\n"))
    assert told[1:] == shown[1:]
    assert told[0].startswith(shown[0].removesuffix("…"))


def test_a_schedule_that_only_lacks_a_controller_waits_for_no_act(shop: Shop) -> None:
    shop.batch("Load")
    shop.sql(
        "INSERT INTO Schedule (ScheduleName, Entity, ScheduleType, RunTimes) VALUES ('nightly', 'Load', 'daily', '02:00')"
    )
    shop("why", "schedule:nightly")

    assert "UTC, when a controller comes to it." in shop.out
    assert "when a person acts" not in shop.out


def test_the_next_run_of_a_job_is_known_before_any_controller_has_seen_it(shop: Shop) -> None:
    shop.sql(
        "INSERT INTO vSqlJob (JobName, ConnectionName, ScheduledSql, FirstRunOn) VALUES ('tidy', 'shop', 'x', '2030-01-02 03:00')"
    )

    assert [job["NextRunTime"] for job in shop.json("schedule", "jobs")] == ["2030-01-02T03:00:00.000Z"]
    assert shop("schedule", "jobs") == 0
    assert "2030-01-02 03:00:00" in shop.out


def test_the_script_of_roles_that_is_named_is_the_one_for_the_database(shop: Shop) -> None:
    assert shop("task", "enable", "--reason", "x") == 0
    assert f"batchctl db roles --dialect {shop.database.kind} " in shop.out


def test_that_no_server_listens_is_said_once(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BATCHCTL_DATABASE_URL", "postgresql://u@127.0.0.1:1/d")

    assert shop("status") == 4
    assert 'on 127.0.0.1:1 cannot be reached: connection to server at "127.0.0.1", port 1 failed: ' in shop.err


def test_a_failed_step_that_keeps_nobody_waiting_is_no_obstacle(shop: Shop) -> None:
    shop.batch("Load", "false", OnFailure="continue")
    shop.arrive("Load")
    shop("run", "--once")

    assert shop.json("graph", "Load")["Forecast"]["Obstacles"] == []


def test_a_channel_whose_host_has_no_address_is_told_so(shop: Shop) -> None:
    shop.settings(
        '[alerts.channels.mail]\nkind = "smtp"\nhost = "no-such-host.invalid"\nsecurity = "none"\n'
        'sender = "a@example.org"\nto = ["b@example.org"]\n'
    )

    assert shop("alert", "test") == 1
    assert "mail: The name of the host no-such-host.invalid cannot be resolved (" in shop.err
    assert "correct it in the channel, or see to DNS" in shop.err


def test_the_last_line_of_a_failed_command_is_in_status(shop: Shop) -> None:
    shop.batch("Load", "sh -c 'echo loading; echo no such table >&2; exit 3'")
    shop.arrive("Load")
    shop("run", "--once")
    shop("status")

    assert "it wrote last: no such table" in " ".join(shop.out.split())
