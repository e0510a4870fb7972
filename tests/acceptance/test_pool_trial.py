"""`batchctl pool test` with a real cluster, and the worked example on one."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.acceptance.installation import ROOT, RunBatchctl
from tests.dask_processes import SLOTS, DaskProcess, free_port

INTERPRETER = {"PYTHONPATH": str(ROOT)}


@pytest.fixture
def folder(tmp_path: Path, run_batchctl: RunBatchctl) -> Path:
    """A controller's folder with a pool of kind dask, whose scheduler is away."""
    pool = f'[pools.burst]\nkind = "dask"\nscheduler = "tcp://127.0.0.1:{free_port()}"\n'
    (tmp_path / "batchctl.toml").write_text(f'state_directory = "state"\n{pool}', encoding="utf-8")
    assert run_batchctl("db", "upgrade", cwd=tmp_path, env=INTERPRETER).returncode == 0
    return tmp_path


@pytest.fixture
def cluster(folder: Path) -> Iterator[str]:
    """Two workers, in whose folder an agent finds its configuration."""
    agent = folder / "agent"
    agent.mkdir()
    (agent / "batchctl.toml").write_text('state_directory = "state"\n', encoding="utf-8")
    settings = (folder / "batchctl.toml").read_text(encoding="utf-8")
    port = settings.rpartition(":")[2].strip().strip('"')
    made = DaskProcess("local", str(agent), port, folder=folder)
    yield made.address
    made.end()


@pytest.mark.usefixtures("cluster")
def test_each_agent_says_what_it_has_and_carries_a_step(folder: Path, run_batchctl: RunBatchctl) -> None:
    done = run_batchctl("pool", "test", "Burst", "--json", cwd=folder, env=INTERPRETER)

    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert len(found) == 2
    for one in found:
        assert (one["Slots"], one["Directory"], one["Failure"]) == (SLOTS, str(folder / "agent"), None)
        assert one["TookMs"] > 0
        assert one["MissingTypes"] == []
    shown = run_batchctl("pool", "test", "burst", cwd=folder, env=INTERPRETER).stdout
    assert shown.count("a step ran") == 2


def test_a_scheduler_that_is_away_and_a_pool_that_is_none_are_named(folder: Path, run_batchctl: RunBatchctl) -> None:
    away = run_batchctl("pool", "test", "burst", cwd=folder, env=INTERPRETER)
    assert away.returncode == 4
    assert "The agents of pool burst cannot be looked for" in away.stderr
    assert "see that a scheduler listens at tcp://127.0.0.1:" in away.stderr

    unknown = run_batchctl("pool", "test", "brust", cwd=folder, env=INTERPRETER)
    assert unknown.returncode == 3
    assert "Did you mean 'burst'?" in unknown.stderr


def test_a_controller_without_the_package_says_what_to_install(folder: Path, run_batchctl: RunBatchctl) -> None:
    site = folder / "site"
    site.mkdir()
    (site / "sitecustomize.py").write_text(
        "import importlib.util as util\n"
        "find = util.find_spec\n"
        "util.find_spec = lambda name, package=None: None if name == 'distributed' else find(name, package)\n",
        encoding="utf-8",
    )
    done = run_batchctl("pool", "test", "burst", cwd=folder, env={"PYTHONPATH": f"{site}:{ROOT}"})

    assert done.returncode == 4, done.stderr
    assert "pip install 'batchctl[dask]'" in done.stderr
    demo = run_batchctl("demo", "demo", "--pool", "dask", cwd=folder, env={"PYTHONPATH": f"{site}:{ROOT}"})
    assert demo.returncode == 4, demo.stderr
    assert "pip install 'batchctl[dask]'" in demo.stderr
    assert not (folder / "demo").exists()


def test_the_worked_example_runs_on_a_cluster(tmp_path: Path, run_batchctl: RunBatchctl) -> None:
    done = run_batchctl("demo", "--pool", "dask", cwd=tmp_path, env=INTERPRETER)

    assert done.returncode == 0, done.stderr
    assert "the warehouse holds 336,776 flights" in done.stdout
    demo = tmp_path / "batchctl-demo"
    with closing(sqlite3.connect(demo / "batchctl.db")) as control:
        specs = control.execute("SELECT CommandSpec FROM BatchProcessHistory").fetchall()
    assert len(specs) == 61
    assert {json.loads(spec)["batchctl.agent"]["pool"] for (spec,) in specs} == {"burst"}
    assert "database_url" not in (demo / "agents.toml").read_text(encoding="utf-8")
