"""What the controller holds reaches no step: neither through the environment nor through what steps print."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from batchctl import config
from batchctl.domain.errors import ConfigurationError, StepRefused
from batchctl.registry import Registry
from batchctl.step_context import context_of
from batchctl.system.commands import environment

PRINTED = "import os; print(sorted(os.environ))"
OTHERS = """
import glob
for path in glob.glob('/proc/[0-9]*/environ'):
    try:
        found = open(path, 'rb').read()
    except OSError:
        continue
    if b"in-the-variable" in found:
        print("found in", path)
print('looked')
"""


class Installation:
    """A folder with settings, a control database and one batch, worked on by processes of their own."""

    def __init__(self, folder: Path, settings: str, environment: Mapping[str, str]) -> None:
        self.folder = folder
        self.environment = {"PATH": os.environ["PATH"], "HOME": str(folder), **environment}
        (folder / "batchctl.toml").write_text(f'state_directory = "state"\n{settings}', encoding="utf-8")
        self("db", "upgrade")

    def __call__(self, *args: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "batchctl", *args]
        return subprocess.run(
            command, cwd=self.folder, env=self.environment, capture_output=True, text=True, check=False, timeout=120
        )

    def output_of(self, process_type: str, data1: str, data2: str | None = None) -> str:
        """Register a step, run it, and return what its attempt has printed."""
        with sqlite3.connect(self.folder / "batchctl.db") as hand:
            hand.execute("PRAGMA foreign_keys = ON")
            hand.execute("INSERT INTO ProcessBatch (ProcessBatchName) VALUES ('B')")
            hand.execute(
                "INSERT INTO ProcessControl (ProcessBatch_id, ProcessControlSeq, ProcessName, ProcessType, Data1, Data2)"
                " SELECT ProcessBatch_id, 10, 'look', ?, ?, ? FROM ProcessBatch WHERE ProcessBatchName = 'B'",
                (process_type, data1, data2),
            )
            hand.execute("INSERT INTO FileProcess (Entity) VALUES ('B')")
        self("run", "--once")
        (attempt,) = json.loads(self("history", "1", "--json").stdout)
        return str(attempt["Output"] or attempt["Message"])


def python(code: str, folder: Path) -> str:
    """Return a command that runs a script of this Python."""
    script = folder / "look.py"
    script.write_text(code, encoding="utf-8")
    return f"{sys.executable} {script}"


def test_a_step_sees_the_usual_variables_and_those_that_are_listed(tmp_path: Path) -> None:
    given = {"API_TOKEN": "x", "AWS_SECRET_ACCESS_KEY": "x", "DBT_DIR": "x", "LANG": "C.UTF-8", "TZ": "UTC"}
    seen = Installation(tmp_path, 'step_environment = ["DBT_*"]\n', given)
    printed = seen.output_of("os_command", python(PRINTED, tmp_path))

    assert printed.strip() == str(["BATCHCTL_COOKIE", "DBT_DIR", "HOME", "LANG", "PATH", "PWD", "TZ"])


def test_a_module_is_tried_with_the_variables_that_its_jobs_will_see(tmp_path: Path) -> None:
    job = "import os\nfrom batchctl.plugin_api import job\nif 'DBT_DIR' not in os.environ:\n    os._exit(3)\n"
    job += "@job('look')\ndef look():\n    print('found', os.environ['DBT_DIR'])\n"
    (tmp_path / "our_jobs.py").write_text(job, encoding="utf-8")
    settings = 'plugin_modules = ["our_jobs"]\nstep_environment = ["DBT_*"]\n'

    assert Installation(tmp_path, settings, {"DBT_DIR": "it"}).output_of("python", "look") == "found it\n"


def test_a_job_sees_no_more_than_a_command(tmp_path: Path) -> None:
    job = "import os\nfrom batchctl.plugin_api import job\n@job('look')\ndef look():\n    print(sorted(os.environ))\n"
    (tmp_path / "our_jobs.py").write_text(job, encoding="utf-8")
    settings = 'plugin_modules = ["our_jobs"]\n[secrets.token]\nenv = "API_TOKEN"\n'
    printed = Installation(tmp_path, settings, {"API_TOKEN": "in-the-variable"}).output_of("python", "look")

    assert "'PATH'" in printed
    assert "API_TOKEN" not in printed


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Linux shows processes under /proc")
def test_the_environment_of_the_controller_holds_no_secret_any_more_when_a_step_runs(tmp_path: Path) -> None:
    settings = '[secrets.token]\nenv = "API_TOKEN"\n'
    given = {"API_TOKEN": "in-the-variable", "BATCHCTL_SECRET_OTHER": "in-the-variable too"}
    printed = Installation(tmp_path, settings, given).output_of("os_command", python(OTHERS, tmp_path))

    assert printed == "looked\n"


def test_a_secret_is_resolved_after_it_has_left_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("API_TOKEN", "in-the-variable")
    (tmp_path / "batchctl.toml").write_text('[secrets.token]\nenv = "API_TOKEN"\n', encoding="utf-8")
    settings = config.load(str(tmp_path / "batchctl.toml"))
    environment.take_secrets(settings)

    assert "API_TOKEN" not in os.environ
    assert config.secret(settings, "token") == "in-the-variable"


def test_what_a_step_prints_is_masked_whoever_uses_the_secret(tmp_path: Path) -> None:
    (tmp_path / "wh.txt").write_text("in-the-file\n", encoding="utf-8")
    settings = '[secrets.wh]\nfile = "wh.txt"\n[secrets.short]\nenv = "SHORT"\n'
    settings += '[connections.w]\nurl = "postgresql://u:p%40ssword@127.0.0.1:1/d"\n'
    code = f"print(open({str(tmp_path / 'wh.txt')!r}).read().strip(), 'p@ssword', 'p%40ssword', 'ab', 'un-named', 'of-libpq')"
    variables = {"SHORT": "ab", "BATCHCTL_SECRET_OTHER": "un-named", "PGPASSWORD": "of-libpq"}
    printed = Installation(tmp_path, settings, variables).output_of("os_command", python(code, tmp_path))

    assert printed == "*** *** *** ab *** ***\n"


@pytest.mark.parametrize("name", ["batchctl.toml", "wh.txt", "./sub/../wh.txt", "link.sql", "hard.sql"])
def test_a_step_reads_neither_the_configuration_nor_the_file_of_a_secret(tmp_path: Path, name: str) -> None:
    (tmp_path / "wh.txt").write_text("in-the-file", encoding="utf-8")
    (tmp_path / "sub").mkdir()
    (tmp_path / "link.sql").symlink_to(tmp_path / "wh.txt")
    (tmp_path / "hard.sql").hardlink_to(tmp_path / "wh.txt")
    (tmp_path / "fine.sql").write_text("SELECT 1", encoding="utf-8")
    (tmp_path / "batchctl.toml").write_text('[secrets.wh]\nfile = "wh.txt"\n', encoding="utf-8")
    context = context_of(config.load(str(tmp_path / "batchctl.toml")), Registry([], []))

    assert context.read_text("fine.sql") == "SELECT 1"
    with pytest.raises(StepRefused, match="is the configuration or holds a secret, which no step reads"):
        context.read_text(name)


@pytest.mark.parametrize("name", ["", "A B", "*X", "BATCHCTL_DATABASE_URL", "batchctl_x"])
def test_a_name_that_cannot_be_meant_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "batchctl.toml").write_text(f'step_environment = ["{name}"]\n', encoding="utf-8")

    with pytest.raises(ConfigurationError, match="is no variable that steps may see"):
        config.load(str(tmp_path / "batchctl.toml"))


def test_a_variable_of_a_secret_is_passed_on_under_no_list(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("API_TOKEN", "x")
    monkeypatch.setenv("API_OTHER", "x")
    found = environment.for_children(["*"], never=["API_TOKEN"])

    assert "API_OTHER" in found
    assert "API_TOKEN" not in found
