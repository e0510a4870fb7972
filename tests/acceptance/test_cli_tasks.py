"""`batchctl task` and `batchctl wait` from outside: what they print, where, and how they end."""

from __future__ import annotations

import json
import shlex
import sqlite3
import subprocess
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.installation import RunBatchctl

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def run(run_batchctl: RunBatchctl, tmp_path: Path) -> Run:
    """Run the installed command in a folder with a fresh database and one connection."""
    (tmp_path / "batchctl.toml").write_text('[connections.wh]\nurl = "sqlite:///wh.db"\n', encoding="utf-8")
    with closing(sqlite3.connect(tmp_path / "wh.db")) as warehouse:
        warehouse.execute("CREATE TABLE t (x)")
    assert run_batchctl("db", "upgrade", cwd=tmp_path).returncode == 0
    assert run_batchctl("task", "enable", "--reason", "the chores", cwd=tmp_path).returncode == 0
    return lambda *args, **more: run_batchctl(*args, cwd=tmp_path, **more)


def test_what_task_prints_wait_takes(run: Run, tmp_path: Path) -> None:
    words = ["a b", "{Data1}", "*", "|", "'", "--", "--json", "ä"]
    command = run("task", "--", "printf", "%s\\n", *words)
    sql = run("task", "INSERT INTO t VALUES ('{Data1}')", "--connection", "wh")
    piped = run("task", "-", "--connection", "wh", input="-- a comment first\nINSERT INTO t VALUES ('piped')\n")
    names = [done.stdout.strip() for done in (command, sql, piped)]
    assert names == ["file:1", "file:2", "file:3"]
    assert "Next: batchctl wait file:1" in command.stderr

    assert run("run", "--once").returncode == 0
    waited = run("wait", *names)

    assert (waited.returncode, waited.stdout.splitlines()) == (0, [f"{name} complete" for name in names])
    history = {entry["BatchControl_id"]: entry for entry in json.loads(run("history", "--json").stdout)}
    assert history[1]["Output"].splitlines() == words
    assert [history[number]["ProcessType"] for number in (1, 2, 3)] == ["os_command", "sql", "sql"]
    assert all(history[number]["ClaimedBy"] and history[number]["EndTime"] for number in (1, 2, 3))
    pasted = subprocess.run(["bash"], input=history[1]["CommandText"], capture_output=True, text=True, check=False)
    assert pasted.stdout == history[1]["Output"]
    with closing(sqlite3.connect(tmp_path / "wh.db")) as warehouse:
        assert warehouse.execute("SELECT x FROM t").fetchall() == [("{Data1}",), ("piped",)]


def test_a_row_inserted_by_hand_is_a_task_too_and_check_and_batches_know_the_queue(run: Run, tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "batchctl.db")) as hand, hand:
        hand.execute(
            "INSERT INTO FileProcess (Entity, Data) VALUES ('Task', 'echo {FileName}'), ('Task', 'echo {FileName}')"
        )

    run("run", "--once")

    assert run("wait", "file:1", "file:2").returncode == 0
    assert [entry["Output"] for entry in json.loads(run("history", "--json").stdout)] == ["{FileName}\n"] * 2
    assert run("check").returncode == 0
    assert [batch["ProcessBatchName"] for batch in json.loads(run("batches", "--json").stdout)] == ["Task"]
    worker = json.loads(run("history", "--json").stdout)[0]["ClaimedBy"]
    assert worker in run("history").stdout


def test_dry_run_and_json(run: Run) -> None:
    planned = run("task", "--dry-run", "--", "echo", "x y")
    as_json = json.loads(run("task", "--dry-run", "--json", "SELECT 1", "--connection", "wh").stdout)
    real = json.loads(run("task", "--json", "--", "true").stdout)

    assert planned.returncode == 0
    assert "exec echo 'x y'" in planned.stdout
    assert "would be inserted" in planned.stderr
    assert (as_json["FileProcess_id"], as_json["FileName"], as_json["Data"]) == (None, "wh", "SELECT 1")
    assert (real["FileProcess_id"], real["Data"], real["ProcessBatchName"]) == (1, "true", "Task")


@pytest.mark.parametrize(
    ("args", "code", "said"),
    [
        ("task", 2, "Say what to do"),
        ("task --", 2, "Say what to do"),
        ("task 'SELECT 1'", 2, "SQL needs --connection NAME"),
        ("task ls -l", 2, "'-l'. If it belongs to a command, write -- before the command"),
        ("task --connection wh", 2, "Say what to do"),
        ("task --connection wh -- ls", 2, "not both"),
        ("task 'SELECT 1' -- ls", 2, "not both"),
        ("task SELECT 1 --connection wh", 2, "put it in quotes. It was 2 arguments"),
        ("task 'SELECT 1' --connection wg", 4, "Connection 'wg' is not in the configuration"),
        ("task ' ' --connection wh", 4, "The task is empty"),
        ("task -- ''", 4, "the program has no name"),
        ("task --entity X -- ls", 4, "No batch carries out tasks of entity 'X'"),
        ("wait", 2, "Name what to wait for"),
        ("wait x", 2, "neither a BatchControl id such as 42"),
        ("wait 7", 3, "There is no BatchControl 7"),
        ("wait file:7", 3, "There is no FileProcess 7"),
        ("wait 7 --timeout x", 2, "'x' is not a number of seconds"),
    ],
)
def test_what_is_wrong_is_said_with_its_exit_code(run: Run, args: str, code: int, said: str) -> None:
    done = run(*shlex.split(args))

    assert (done.returncode, done.stdout) == (code, "")
    assert said in done.stderr


def test_wait_tells_failure_and_a_time_that_is_over_by_exit_code(run: Run) -> None:
    failing, later = run("task", "--", "false").stdout.strip(), run("task", "--", "true").stdout.strip()
    timed_out = run("wait", later, "--timeout", "0")
    run("run", "--once")
    failed = run("wait", failing, later)
    as_json = run("wait", "--json", failing)

    assert (timed_out.returncode, timed_out.stdout) == (5, "")
    assert "file:2 is ready after 0 s: no controller is running" in timed_out.stderr
    assert "Next: batchctl run\n" in timed_out.stderr
    assert (failed.returncode, sorted(failed.stdout.splitlines())) == (1, ["file:1 failed", "file:2 complete"])
    assert "file:1 is failed: exited with 1" in failed.stderr
    assert "Next: batchctl show 1" in failed.stderr
    (one,) = json.loads(as_json.stdout)
    known: dict[str, Any] = {"Reference": "file:1", "Status": "failed", "Settled": True, "Succeeded": False}
    assert known.items() <= one.items()
    assert one["BatchControl"][0]["BatchControl_id"] == 1
    assert as_json.returncode == 1


def test_a_disabled_queue_is_said_with_what_to_type(run: Run) -> None:
    run("disable", "Task")

    done = run("task", "--", "true")

    assert (done.returncode, done.stdout) == (0, "file:1\n")
    assert "Note: batch Task is disabled, so the task waits." in done.stderr
    assert "Next: batchctl enable Task --reason ..." in done.stderr
