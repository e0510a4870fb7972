"""`batchctl doctor` as it is installed."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.acceptance.installation import RunBatchctl

pytestmark = pytest.mark.wheel

SOUND = '[secrets.token]\nenv = "A_TOKEN"\n'
BROKEN = """
database_url = "sqlite:///batchctl.db"
[connections.refused]
url = "postgresql://u:hunter2@127.0.0.1:1/d"
[connections.odbc]
url = "mssql+pyodbc:///?odbc_connect=DRIVER={none};SERVER=127.0.0.1,1;Pwd={hunter2}"
[connections.unresolved]
url = "postgresql://u:{secret:token}@127.0.0.1:1/d"
[secrets.token]
env = "NO_SUCH"
"""
KEYS = ["Check", "Target", "Result", "Message", "Next"]


@pytest.fixture
def folder(tmp_path: Path, run_batchctl: RunBatchctl) -> Path:
    """A folder with a database."""
    assert run_batchctl("db", "upgrade", cwd=tmp_path).returncode == 0
    return tmp_path


def test_a_sound_installation_passes(folder: Path, run_batchctl: RunBatchctl) -> None:
    (folder / "batchctl.toml").write_text(SOUND, encoding="utf-8")
    done = run_batchctl("doctor", "--json", cwd=folder, env={"A_TOKEN": "t0ps3cret"})
    lines = json.loads(done.stdout)

    assert (done.returncode, done.stderr) == (0, "")
    assert all(list(line) == KEYS for line in lines)
    assert {line["Result"] for line in lines} <= {"OK", "WARN"}
    assert {line["Target"] for line in lines} == {"settings", "database_url", "secrets.token", "this host"}
    assert "t0ps3cret" not in done.stdout


def test_what_fails_is_shown_with_what_to_type_and_never_with_a_password(
    folder: Path, run_batchctl: RunBatchctl
) -> None:
    (folder / "batchctl.toml").write_text(BROKEN, encoding="utf-8")
    done = run_batchctl("--debug", "doctor", cwd=folder, env={"COLUMNS": "200"})
    as_json = json.loads(run_batchctl("doctor", "--json", cwd=folder).stdout)
    failing = {line["Target"] for line in as_json if line["Result"] == "FAIL"}

    assert done.returncode == 6
    assert failing == {"connections.refused", "connections.odbc", "connections.unresolved"}
    assert "FAIL   connections.refused" in done.stdout
    assert "and look again: batchctl doctor" in done.stdout
    assert "Traceback" not in done.stderr
    assert "hunter2" not in done.stdout + done.stderr + json.dumps(as_json)


def test_a_database_that_is_not_there_fails_with_the_command_that_makes_it(
    tmp_path: Path, run_batchctl: RunBatchctl
) -> None:
    done = run_batchctl("doctor", cwd=tmp_path)

    assert done.returncode == 6
    assert "database_url, login: batchctl db upgrade" in done.stdout
    assert list(tmp_path.iterdir()) == []


def test_a_table_that_was_dropped_fails_with_what_names_all_that_is_missing(
    folder: Path, run_batchctl: RunBatchctl
) -> None:
    with closing(sqlite3.connect(folder / "batchctl.db")) as hand:
        hand.execute("DROP TABLE Resource")
    done = run_batchctl("doctor", cwd=folder, env={"COLUMNS": "200"})

    assert done.returncode == 6
    assert "The control database lacks the table Resource." in done.stdout
    assert "database_url, schema: batchctl db verify" in done.stdout
    assert "db upgrade" not in done.stdout


def test_a_narrow_terminal_loses_nothing(folder: Path, run_batchctl: RunBatchctl) -> None:
    (folder / "batchctl.toml").write_text(BROKEN, encoding="utf-8")
    done = run_batchctl("doctor", cwd=folder, env={"COLUMNS": "60"})

    assert "FAIL  connections.refused  login" in done.stdout
    assert "Connection refused" in " ".join(done.stdout.split())
