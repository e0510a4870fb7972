"""A controller as a service: what is printed for it, what the service manager hears, and the log it leaves."""

from __future__ import annotations

import configparser
import json
import os
import signal
import socket
import subprocess
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from tests.acceptance.installation import PATIENCE, RunBatchctl, clean_environment
from tests.control_databases import ControlDatabase
from tests.sqlserver.parser import findings

pytestmark = pytest.mark.wheel

TASK = "{http://schemas.microsoft.com/windows/2004/02/mit/task}"


@pytest.fixture
def folder(tmp_path: Path, run_batchctl: RunBatchctl) -> Path:
    """A folder whose name no shell and no unit file takes as it is, with a database."""
    made = tmp_path / 'a "b" 100% $HOME'
    made.mkdir()
    (made / "batchctl.toml").write_text('[secrets.wh]\nenv = "WH"\n', encoding="utf-8")
    assert run_batchctl("db", "upgrade", cwd=made).returncode == 0
    return made


def unit_of(text: str) -> configparser.ConfigParser:
    unit = configparser.ConfigParser(interpolation=None, delimiters=("=",), comment_prefixes=("#",), strict=True)
    unit.optionxform = str  # type: ignore[assignment,method-assign]
    unit.read_string(text)
    return unit


def words_of(command: str) -> list[str]:
    """Split ExecStart as systemd.service(5) says."""
    words, word, quoted, at = [], "", False, 0
    while at < len(command):
        notification = command[at]
        if notification == "\\":
            at += 1
            word += command[at]
        elif notification == '"':
            quoted = not quoted
        elif notification == " " and not quoted:
            words.append(word)
            word = ""
        else:
            word += notification
        at += 1
    return [each.replace("%%", "%").replace("$$", "$") for each in (*words, word)]


def test_the_unit_starts_a_controller_from_any_folder(folder: Path, run_batchctl: RunBatchctl, tmp_path: Path) -> None:
    printed = run_batchctl("service", "--kind", "systemd", cwd=folder, env={"BATCHCTL_SLOTS": "2"})
    unit = unit_of(printed.stdout)
    service = unit["Service"]

    assert printed.returncode == 0
    assert "systemctl enable --now batchctl" in printed.stderr
    assert (service["Type"], service["KillMode"], service["TimeoutStopSec"]) == ("notify", "process", "107")
    assert service["WorkingDirectory"].replace("%%", "%") == str(folder)
    assert "#   BATCHCTL_SLOTS=..." in printed.stdout
    assert "#   WH=..." in printed.stdout
    done = subprocess.run(
        [*words_of(service["ExecStart"]), "--once"],
        cwd=tmp_path,
        env=clean_environment(),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert (done.returncode, done.stdout) == (
        0,
        "Steps: 0 started, 0 succeeded, 0 failed. Instances: 0 complete.\n",
    )


def test_an_agent_is_a_service_too(folder: Path, run_batchctl: RunBatchctl, tmp_path: Path) -> None:
    printed = run_batchctl("service", "--kind", "systemd", "agent", "--pool", "ssis", "--slots", "4", cwd=folder)
    service = unit_of(printed.stdout)["Service"]

    assert printed.returncode == 0
    assert (service["Type"], "WatchdogSec" in service, service["KillMode"]) == ("exec", False, "process")
    assert "the next one stops what others may repeat" in printed.stdout
    command = words_of(service["ExecStart"])
    assert command[-5:] == ["agent", "--pool", "ssis", "--slots", "4"]
    done = subprocess.run(
        command, cwd=tmp_path, env=clean_environment(), capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert (done.returncode, "It is not said at which console the agent polls." in done.stderr) == (2, True)
    task = run_batchctl("service", "--kind", "task-scheduler", "agent", "--pool", "ssis", cwd=folder).stdout
    assert "The agent of batchctl" in task
    assert "agent --pool ssis</Arguments>" in task


def test_the_task_names_program_arguments_and_folder(folder: Path, run_batchctl: RunBatchctl) -> None:
    printed = run_batchctl(
        "service", "--kind", "task-scheduler", "--name", "nightly", "--user", "DOM\\gmsa$", cwd=folder
    )
    task = ET.fromstring(printed.stdout)
    action = task.find(f"{TASK}Actions/{TASK}Exec")

    assert action is not None
    assert action.findtext(f"{TASK}WorkingDirectory") == str(folder)
    config = str(folder / "batchctl.toml").replace('"', '\\"')
    assert action.findtext(f"{TASK}Arguments") == f'-m batchctl --config "{config}" run'
    assert task.findtext(f"{TASK}Principals/{TASK}Principal/{TASK}UserId") == "DOM\\gmsa$"
    assert task.findtext(f"{TASK}Settings/{TASK}MultipleInstancesPolicy") == "IgnoreNew"
    assert "schtasks /create /tn nightly" in printed.stderr


def test_the_job_of_sql_server_agent_is_t_sql(folder: Path, run_batchctl: RunBatchctl) -> None:
    printed = run_batchctl("service", "--kind", "sql-agent", "--proxy", "etl's", cwd=folder)

    assert printed.returncode == 0
    assert "@proxy_name = N'etl''s';" in printed.stdout
    assert findings(printed.stdout) == []


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--kind", "cron"], 2, "'cron' is not one of systemd, task-scheduler, sql-agent"),
        (["--kind", "systemd", "--proxy", "x"], 2, "--proxy belongs to --kind sql-agent."),
        (["--kind", "systemd", "status"], 2, "'status' does not run as a service: run or agent."),
        (["--kind", "systemd", "agent"], 2, "Missing option '--pool'"),
        (["--kind", "systemd", "run", "--pol", "x"], 2, "No such option '--pol'"),
        (["--kind", "systemd", "--name", "a b"], 4, "'a b' is no name of a service"),
        (["--kind", "systemd", "--user", "a\nb"], 4, "holds a control character"),
    ],
)
def test_what_cannot_be_is_refused(
    folder: Path, run_batchctl: RunBatchctl, arguments: list[str], code: int, said: str
) -> None:
    refused = run_batchctl("service", *arguments, cwd=folder)

    assert (refused.returncode, refused.stdout) == (code, "")
    assert said in refused.stderr


def test_agent_needs_a_settings_file(tmp_path: Path, run_batchctl: RunBatchctl) -> None:
    refused = run_batchctl("service", "--kind", "sql-agent", cwd=tmp_path)

    assert refused.returncode == 4
    assert "write a batchctl.toml" in refused.stderr


def test_the_service_manager_hears_ready_signs_of_life_and_the_end(
    control_database: ControlDatabase, run_batchctl: RunBatchctl, installed_batchctl: Path, tmp_path: Path
) -> None:
    folder = control_database.directory
    (folder / "batchctl.toml").write_text(
        f'database_url = "{control_database.url}"\n[log]\nformat = "json"\nfile = "events.log"\n', encoding="utf-8"
    )
    assert run_batchctl("db", "upgrade", cwd=folder).returncode == 0
    with closing(control_database.hand()) as hand:
        hand.sql("INSERT INTO ProcessBatch (ProcessBatchName) VALUES ('Alone')")
        hand.sql(
            "INSERT INTO ProcessControl (ProcessBatch_id, ProcessControlSeq, ProcessName, ProcessType, Data1)"
            " SELECT ProcessBatch_id, 10, 'alone', 'os_command', ? FROM ProcessBatch",
            """sh -c 'test -z "$NOTIFY_SOCKET$WATCHDOG_USEC"'""",
        )
    assert run_batchctl("submit", "Alone", cwd=folder).returncode == 0
    address = str(tmp_path / "s")
    with closing(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)) as systemd:
        systemd.bind(address)
        systemd.settimeout(PATIENCE)
        variables = {"NOTIFY_SOCKET": address, "WATCHDOG_USEC": "400000"}
        controller = subprocess.Popen(
            [installed_batchctl, "run"],
            cwd=folder,
            env=clean_environment(variables),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            heard = [systemd.recv(4096).decode()]
            while heard.count("WATCHDOG=1") < 3:
                heard.append(systemd.recv(4096).decode())
            with ThreadPoolExecutor(1) as aside:
                rest = aside.submit(_until_it_ends, systemd)
                assert run_batchctl("wait", "file:1", "--timeout", "60", cwd=folder).returncode == 0
                controller.send_signal(signal.SIGTERM)
                heard += rest.result(PATIENCE)
            _, told = controller.communicate(timeout=PATIENCE)
        finally:
            controller.kill()

    assert heard[0] == "READY=1\nSTATUS=working"
    assert heard[-1] == "STOPPING=1\nSTATUS=waiting for the running steps to end"
    assert controller.returncode == 0
    logged = _events((folder / "events.log").read_text(encoding="utf-8"))
    assert logged == _events(told)
    assert [one["Event"] for one in logged if str(one["Event"]).startswith("controller.")] == [
        "controller.started",
        "controller.stopping",
        "controller.stopped",
    ]
    (ended,) = [one for one in logged if one["Event"] == "step.ended"]
    assert (ended["BatchControl_id"], ended["ProcessBatchName"], ended["Status"]) == (1, "Alone", "success")
    assert ended["Level"] == "info"
    assert str(ended["Controller"]).split(":")[1] == str(controller.pid)


def _events(text: str) -> list[dict[str, object]]:
    """The events of a log; each line tells its own time."""
    found = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
    assert all(one.pop("Time").endswith("Z") for one in found)
    return found


def _until_it_ends(systemd: socket.socket) -> list[str]:
    found = [""]
    while not found[-1].startswith("STOPPING=1"):
        found.append(systemd.recv(4096).decode())
    return found


def test_a_log_that_cannot_be_written_is_told_and_stops_nothing(folder: Path, run_batchctl: RunBatchctl) -> None:
    (folder / "batchctl.toml").write_text('[log]\nfile = "no/events.log"\n', encoding="utf-8")
    done = run_batchctl("run", "--once", cwd=folder)

    assert done.returncode == 0
    assert done.stderr.count("log.trouble") == 1
    assert "No such file or directory" in done.stderr
    found = json.loads(run_batchctl("doctor", "--json", cwd=folder).stdout)
    (line,) = [line for line in found if line["Target"] == "log.file"]
    assert (line["Result"], line["Next"]) == ("FAIL", f"mkdir -p {os.fspath(folder / 'no')}")
