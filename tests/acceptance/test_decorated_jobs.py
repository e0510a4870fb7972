"""The example of decorated jobs, as its README says it."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from tests.acceptance.installation import PATIENCE, ROOT, RunBatchctl, clean_environment
from tests.control_databases import ControlDatabase

pytestmark = pytest.mark.wheel

EXAMPLE = ROOT / "examples" / "decorated_jobs"
COMMANDS = re.findall(
    r"^    batchctl (.*?)(?:\s+#.*)?$", (EXAMPLE / "README.md").read_text(encoding="utf-8"), re.MULTILINE
)
STEPS, CANCELLING = COMMANDS[:7], COMMANDS[7:]


@pytest.fixture
def folder(empty_database: ControlDatabase) -> Path:
    """A folder with the example's files, on every kind of control database."""
    made = empty_database.directory / "example"
    shutil.copytree(EXAMPLE, made)
    settings = (made / "batchctl.toml").read_text(encoding="utf-8")
    url = 'database_url = "sqlite:///batchctl.db"'
    assert url in settings
    (made / "batchctl.toml").write_text(
        settings.replace(url, f'database_url = "{empty_database.url}"'), encoding="utf-8"
    )
    return made


def test_the_example_runs_as_its_readme_says(folder: Path, run_batchctl: RunBatchctl, installed_batchctl: Path) -> None:
    said = []
    for command in STEPS:
        done = run_batchctl(*shlex.split(command), cwd=folder)
        assert done.returncode == 0, (command, done)
        said.append(done.stdout)
    listed = json.loads(run_batchctl("job", "list", "--json", cwd=folder).stdout)

    assert STEPS[0] == "db upgrade"
    assert {one["JobName"]: len(one["Schedules"]) for one in listed} == {
        "exchange_rates": 1,
        "export": 0,
        "nightly_cleanup": 1,
        "sales_report": 3,
    }
    assert "3 due times in 3 days" in said[3]
    assert "0 visits deleted" in said[-1]
    assert run_batchctl("check", cwd=folder).returncode == 0

    controller = subprocess.Popen(
        [installed_batchctl, "run"], cwd=folder, env=clean_environment(), stderr=subprocess.PIPE, text=True
    )
    try:
        assert controller.stderr is not None
        assert any("controller.started" in line for line in controller.stderr)
        run, cancel, history = (shlex.split(command) for command in CANCELLING)
        assert run_batchctl(*run, cwd=folder).returncode == 0
        assert any("step.started" in line for line in controller.stderr)
        assert run_batchctl(*cancel, cwd=folder).returncode == 0
        assert any("instance.cancelled" in line for line in controller.stderr)
        shown = json.loads(run_batchctl(*history, "--json", cwd=folder).stdout)
    finally:
        controller.send_signal(signal.SIGTERM)
        controller.communicate(timeout=PATIENCE)

    assert [one["Status"] for one in shown] == ["cancelled"]
