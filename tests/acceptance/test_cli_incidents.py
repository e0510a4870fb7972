"""A batch fails at night: whoever is on call is told once, acknowledges, runs it again, and is told that it is over."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.installation import PATIENCE, RunBatchctl, StartBatchctl, Started
from tests.acceptance.night import Night, a_control
from tests.control_databases import ACTS, KINDS
from tests.receivers import WebServer
from tests.standing_still import freeze

SETTINGS = """
poll_interval = 0.5
heartbeat_interval = 0.2
stop_grace = 0.5
[alerts]
repeat = "1d"
[alerts.channels.hook]
kind = "webhook"
url = "{url}"
"""


@pytest.fixture
def web() -> Iterator[WebServer]:
    with WebServer() as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield server
        server.released.set()
        server.shutdown()


@pytest.fixture(params=KINDS)
def night(request: pytest.FixtureRequest, tmp_path: Path, run_batchctl: RunBatchctl, web: WebServer) -> Night:
    database = a_control(request.param, request, tmp_path / "night")
    made = Night(database, run_batchctl)
    settings = (
        f'database_url = "{database.url}"\nstate_directory = "{tmp_path / "state"}"\n{SETTINGS.format(url=web.url)}'
    )
    (made.folder / "batchctl.toml").write_text(settings, encoding="utf-8")
    made.environment = {}
    for name in ("First", "Second"):
        made.batch(name, f"test -e {made.folder}/{name}.ok")
    return made


@pytest.mark.parametrize("how", ["--once", "--until-idle=0.2"])
def test_one_message_then_somebody_takes_care_and_one_that_it_is_over(night: Night, web: WebServer, how: str) -> None:
    night.arrive("First")
    assert night("run", how).returncode == 1
    told = web.next(PATIENCE)
    assert (told["Kind"], told["Incident_id"]) == ("alert", 1)
    assert "batchctl rerun 1 --reason ..." in told["Body"]
    (stands,) = night.json("incidents")
    assert (stands["Kind"], stands["Status"], stands["Subject"]) == ("failed", "open", "First")
    assert "1 open" in night("status", env={"COLUMNS": "200"}).stdout
    assert [one["Incident_id"] for one in night.json("status")["Incidents"]] == [1]

    tried = night("acknowledge", "1", "--reason", "mine", "--dry-run")
    assert tried.stdout.startswith("Incident 1 (First) would be acknowledged; no reminder of it would be sent")
    assert night.json("incidents")[0]["Status"] == "open"
    assert night("snooze", "--instance", "1", "--for", "1h", "--reason", "later").returncode == 0
    until = night.json("incidents")[0]["SnoozedUntil"]
    assert f"open, snoozed until {until[:10]} {until[11:19]}" in night("incidents", env={"COLUMNS": "250"}).stdout
    night.sql("UPDATE Incident SET SnoozedUntil = '2026-01-01 00:00:00.000'")
    assert "snoozed" not in night("incidents", env={"COLUMNS": "250"}).stdout
    assert night("acknowledge", "1", "--reason", "mine").returncode == 0
    who = night.json("incidents")[0]["AcknowledgedBy"]
    assert f"acknowledged by {who}" in night("status", env={"COLUMNS": "250"}).stdout
    (night.folder / "First.ok").touch()
    assert night("rerun", "1", "--reason", "the file is there").returncode == 0
    assert night("run", how).returncode == 0

    assert web.next(PATIENCE)["Kind"] == "recovery"
    assert night("run", how).returncode == 0
    assert web.received() == []
    assert night.json("incidents") == []
    (over,) = night.json("incidents", "--all")
    assert over["Status"] == "resolved"
    assert night.sql(
        f"SELECT Action, Target, Reason FROM AuditLog WHERE {ACTS} AND Action <> 'rerun' ORDER BY AuditLog_id"
    ) == [
        ("snooze", "Incident:1", "later"),
        ("acknowledge", "Incident:1", "mine"),
    ]
    assert night("fsck").returncode == 0


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("acknowledge", "7", "--reason", "x"), 3, "There is no incident 7."),
        (("acknowledge", "--instance", "7", "--reason", "x"), 3, "No incident stands about BatchControl 7."),
        (("acknowledge", "--reason", "x"), 2, "Name an incident"),
        (("snooze", "7", "--for", "tomorrow", "--reason", "x"), 2, "'tomorrow' is no length of time"),
        (("alert", "test", "hok"), 3, "There is no channel 'hok'. Did you mean 'hook'?"),
    ],
)
def test_what_cannot_be_is_said(night: Night, words: tuple[str, ...], code: int, said: str) -> None:
    done = night(*words)

    assert (done.returncode, said in done.stderr) == (code, True), done.stderr


def test_channels_are_tried_and_listed(night: Night, web: WebServer) -> None:
    assert night("alert", "test").returncode == 0
    assert web.next(PATIENCE)["Title"] == "[TEST] batchctl can reach you"
    web.mood = 500
    broken = night("alert", "test", "hook")
    assert broken.returncode == 1
    assert "hook: The server answered 500" in broken.stderr
    assert broken.stderr.endswith(
        "Error: a test message could not be sent through hook\nNext: batchctl alert list\nCode: BC1275\n"
    )
    (listed,) = night.json("alert", "list")
    assert (listed["Channel"], listed["Kind"], listed["Problem"], listed["LastDelivery"]) == (
        "hook",
        "webhook",
        None,
        None,
    )

    with (night.folder / "batchctl.toml").open("a", encoding="utf-8") as file:
        file.write('[alerts.channels.pager]\nkind = "pigeon"\n')
    for command in ("check", "doctor"):
        looked = night(command, env={"COLUMNS": "200"})
        assert looked.returncode == 6
        assert "kind 'pigeon' is none of" in looked.stdout


def test_from_outside_it_is_seen_that_nobody_works(night: Night, web: WebServer) -> None:
    night.sql(
        "INSERT INTO Controller (ControllerName, Host, Status, Heartbeat) VALUES ('c', 'h', 'lost', '2026-01-01')"
    )
    first, second = night("alert", "watch"), night("alert", "watch", "--once")

    assert (first.returncode, second.returncode) == (6, 6)
    assert "Next: batchctl run   (" in first.stderr
    assert web.next(PATIENCE)["Title"].startswith("[ERROR] controllers: No controller works")
    assert web.received() == []


class Crew:
    """Controllers that run beside each other."""

    def __init__(self, night: Night, start: StartBatchctl) -> None:
        self.night, self._start = night, start
        self.workers: dict[int, Started] = {}
        self.readers: list[threading.Thread] = []

    def hire(self) -> None:
        """Start one; it is there when this returns."""
        worker = self._start("run", cwd=self.night.folder, stdout=subprocess.DEVNULL)
        self.workers[worker.pid] = worker
        assert worker.stderr is not None
        assert any("controller.started" in line for line in worker.stderr)
        self.readers.append(threading.Thread(target=worker.communicate, daemon=True))
        self.readers[-1].start()

    def close(self) -> None:
        """End all."""
        for worker in self.workers.values():
            worker.terminate()
        for reader in self.readers:
            reader.join(PATIENCE)


@pytest.fixture
def crew(night: Night, start_batchctl: StartBatchctl) -> Iterator[Crew]:
    made = Crew(night, start_batchctl)
    yield made
    made.close()


def test_two_controllers_tell_each_thing_once_also_when_the_leader_froze(
    night: Night, crew: Crew, web: WebServer
) -> None:
    # Only here: a controller that runs alone on a busy machine must not be taken for dead.
    settings = night.folder / "batchctl.toml"
    settings.write_text("orphan_timeout = 1\n" + settings.read_text(encoding="utf-8"), encoding="utf-8")
    crew.hire()
    crew.hire()
    night.arrive("First")
    told = [web.next(PATIENCE)]
    ((leader,),) = night.sql("SELECT ClaimedBy FROM AlertDelivery")
    frozen = int(leader.split(":")[1])
    assert frozen in crew.workers
    with closing(night.database.hand()) as hand:
        freeze(hand, night.database.kind, frozen)
    night.arrive("Second")
    told.append(web.next(PATIENCE))
    os.kill(frozen, signal.SIGCONT)
    for number, name in enumerate(("First", "Second"), start=1):
        (night.folder / f"{name}.ok").touch()
        assert night("rerun", str(number), "--reason", "it is there").returncode == 0
        told.append(web.next(PATIENCE))
    crew.close()
    told += [_of(body) for _, _, body in web.received()]

    assert [(one["Incident_id"], one["Kind"]) for one in told] == [
        *((1, "alert"), (2, "alert")),
        *((1, "recovery"), (2, "recovery")),
    ]
    assert night.sql("SELECT Status, count(*) FROM AlertDelivery GROUP BY Status") == [("sent", 4)]


def _of(body: bytes) -> dict[str, Any]:
    return dict(json.loads(body))
