"""`batchctl pool test` with a real cluster, and the worked example on one."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.acceptance.installation import ROOT, RunBatchctl
from tests.acceptance.test_web_tls import signed_by_itself
from tests.dask_processes import SLOTS, DaskProcess, free_port

LIMIT = 45.0
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


def test_a_certificate_that_does_not_fit_is_named(folder: Path, run_batchctl: RunBatchctl) -> None:
    ours, others = folder / "ours", folder / "others"
    for each in (ours, others):
        each.mkdir()
    (certificate, key), (other, _) = signed_by_itself(ours), signed_by_itself(others)
    port = free_port()
    files = f"--tls-ca-file {certificate} --tls-cert {certificate} --tls-key {key}"
    words = f"--protocol tls --host 127.0.0.1 --port {port} --no-dashboard --no-show {files}"
    with (folder / "scheduler.log").open("wb") as log:
        scheduler = subprocess.Popen(
            [sys.executable, "-m", "distributed.cli.dask_scheduler", *words.split()], stdout=log, stderr=log
        )
    try:
        trusted = {path: _tried(folder, run_batchctl, port, path, (certificate, key)) for path in (certificate, other)}
    finally:
        scheduler.terminate()
        scheduler.wait()

    assert "has no agent" in trusted[certificate], trusted
    assert "TLS certificate does not match" in trusted[other]
    assert "Traceback" not in trusted[other]


def _tried(folder: Path, run_batchctl: RunBatchctl, port: int, trusted: Path, own: tuple[Path, Path]) -> str:
    """Return what is said of a pool whose scheduler's certificate is trusted or not, once the scheduler listens."""
    pool = f'[pools.burst]\nkind = "dask"\nscheduler = "tls://127.0.0.1:{port}"\n'
    pool += f'tls_ca_file = "{trusted}"\ntls_cert = "{own[0]}"\ntls_key = "{own[1]}"\n'
    (folder / "batchctl.toml").write_text(f'state_directory = "state"\n{pool}', encoding="utf-8")
    over = time.monotonic() + LIMIT
    while "refused" in (said := run_batchctl("pool", "test", "burst", cwd=folder, env=INTERPRETER)).stderr.lower():
        assert time.monotonic() < over, said
    return said.stderr + said.stdout


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
