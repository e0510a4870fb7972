"""The wheel holds what it must, and works alone."""

from __future__ import annotations

import json
import shlex
import sqlite3
import sys
import zipfile
from contextlib import closing
from pathlib import Path

import pytest

from tests.acceptance.installation import ROOT, RunBatchctl, run

pytestmark = pytest.mark.wheel

REGISTER = """
INSERT INTO ProcessBatch (ProcessBatchName) VALUES ('Greetings');
INSERT INTO ProcessControl (ProcessBatch_id, ProcessControlSeq, ProcessName, ProcessType, Data1)
    SELECT ProcessBatch_id, 10, 'greet', 'os_command', :command FROM ProcessBatch WHERE ProcessBatchName = 'Greetings';
INSERT INTO FileProcess (Entity, FileName) VALUES ('Greetings', '/in/hello world.csv');
"""


def below(folder: str, pattern: str) -> set[str]:
    return {
        path.relative_to(ROOT).as_posix() for path in (ROOT / folder).rglob(pattern) if "__pycache__" not in path.parts
    }


def test_the_wheel_holds_both_packages_what_they_read_and_nothing_else(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())

    assert {name.split("/")[0] for name in names} == {"batchctl", "step_handlers", "batchctl-0.1.0.dist-info"}
    assert {"batchctl/py.typed", "step_handlers/py.typed"} <= names
    revisions = below("migrations/versions", "*.py")
    assert revisions
    shipped = {"migrations/env.py", "migrations/script.py.mako"} | revisions | below("examples", "*.*")
    shipped |= below("docs", "*.md") | below("docs/pictures", "*.png")
    assert {f"batchctl/{place}" for place in shipped} <= names
    assert below("batchctl", "*.py") | below("step_handlers", "*.py") <= names
    assert below("batchctl/web/templates", "*.html") | below("batchctl/web/static", "*.*") <= names
    assert [name for name in names if name.endswith((".pyc", ".db", "ruff.toml"))] == []


def test_the_installed_package_is_the_wheel_and_no_developer_tool_is_beside_it(installed_batchctl: Path) -> None:
    python = installed_batchctl.with_name(installed_batchctl.name.replace("batchctl", "python"))
    probe = (
        "import batchctl; from importlib.util import find_spec; print(batchctl.__file__); print(find_spec('pytest'))"
    )

    where, tool = run(str(python), "-I", "-c", probe).splitlines()

    assert Path(where).is_relative_to(installed_batchctl.parents[1])
    assert tool == "None"


def test_the_installed_command_helps(run_batchctl: RunBatchctl, tmp_path: Path) -> None:
    helped = run_batchctl("--help", cwd=tmp_path)

    assert helped.returncode == 0, helped.stderr
    assert "submit" in helped.stdout
    assert list(tmp_path.iterdir()) == []


def test_a_batch_registered_by_rows_runs_from_end_to_end(run_batchctl: RunBatchctl, tmp_path: Path) -> None:
    upgraded = run_batchctl("db", "upgrade", cwd=tmp_path)
    assert upgraded.returncode == 0, upgraded.stderr
    register(tmp_path / "batchctl.db")

    created = run_batchctl("create", cwd=tmp_path)
    processed = run_batchctl("process", cwd=tmp_path)

    assert created.returncode == 0, created.stderr
    assert processed.returncode == 0, processed.stdout + processed.stderr
    (attempt,) = json.loads(run_batchctl("history", "--json", cwd=tmp_path).stdout)
    assert attempt["Status"] == "success"
    assert "hello world.csv" in attempt["Output"]
    with closing(sqlite3.connect(tmp_path / "batchctl.db")) as database:
        assert database.execute("SELECT Status FROM BatchControl").fetchall() == [("complete",)]
        assert database.execute("SELECT Status FROM FileProcess").fetchall() == [("complete",)]


def register(path: Path) -> None:
    """Register a batch of one step and drop a row for it, with nothing but SQL."""
    echo = "import sys; print(sys.argv[1])"
    command = shlex.join([Path(sys.executable).as_posix(), "-c", echo, "{FileName}"])
    with closing(sqlite3.connect(path)) as database, database:
        for statement in filter(str.strip, REGISTER.split(";\n")):
            database.execute(statement, {"command": command} if ":command" in statement else {})
