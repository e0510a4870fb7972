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
from cryptography.hazmat.primitives import serialization

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


class TlsCluster:
    """A scheduler and a worker that speak TLS, as their owner starts them, and a controller's folder beside them."""

    def __init__(self, folder: Path, run: RunBatchctl) -> None:
        self.folder, self.port, self._run = folder, free_port(), run
        for each in ("ours", "others"):
            (folder / each).mkdir()
        self.certificate, self.key = signed_by_itself(folder / "ours")
        self.other, self.other_key = signed_by_itself(folder / "others")
        self._processes = [
            self._start("scheduler", f"--protocol tls --host 127.0.0.1 --port {self.port} --no-show"),
            self._start("worker", f"tls://127.0.0.1:{self.port} --host 127.0.0.1 --nthreads 1 --no-nanny"),
        ]

    def _start(self, kind: str, words: str) -> subprocess.Popen[bytes]:
        files = f"--tls-ca-file {self.certificate} --tls-cert {self.certificate} --tls-key {self.key}"
        command = [sys.executable, "-m", f"distributed.cli.dask_{kind}", *words.split(), "--no-dashboard"]
        with (self.folder / f"{kind}.log").open("wb") as log:
            return subprocess.Popen([*command, *files.split()], cwd=self.folder / "ours", stdout=log, stderr=log)

    def tried(self, trusted: object, certificate: object, key: object) -> str:
        """Return what `pool test` says with some files, once the scheduler listens and has a worker."""
        pool = f'[pools.burst]\nkind = "dask"\nscheduler = "tls://127.0.0.1:{self.port}"\n'
        pool += f'tls_ca_file = "{trusted}"\ntls_cert = "{certificate}"\ntls_key = "{key}"\n'
        (self.folder / "batchctl.toml").write_text(f'state_directory = "state"\n{pool}', encoding="utf-8")
        over = time.monotonic() + LIMIT
        while True:
            done = self._run("pool", "test", "burst", cwd=self.folder, env=INTERPRETER)
            said = " ".join((done.stderr + done.stdout).split())
            if "refused" not in said.lower() and "has no agent" not in said:
                return said
            assert time.monotonic() < over, said

    def end(self) -> None:
        for one in reversed(self._processes):
            one.terminate()
            one.wait()


@pytest.fixture
def tls(folder: Path, run_batchctl: RunBatchctl) -> Iterator[TlsCluster]:
    made = TlsCluster(folder, run_batchctl)
    yield made
    made.end()


def test_a_step_runs_where_all_speak_tls_and_what_does_not_fit_is_named_with_its_setting(tls: TlsCluster) -> None:
    own = tls.certificate, tls.key
    assert "a step ran" in tls.tried("ours/console.pem", *own), "beside batchctl.toml, as other files are"
    locked = tls.folder / "locked.key"
    locked.write_bytes(
        serialization.load_pem_private_key(tls.key.read_bytes(), None).private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.BestAvailableEncryption(b"locked"),
        )
    )
    for files, said in (
        ((tls.other, *own), f"the certificate of the scheduler is not trusted by tls_ca_file {tls.other}"),
        ((tls.certificate, tls.other, tls.other_key), f"the scheduler does not take tls_cert {tls.other}"),
        (("gone.pem", *own), "gone.pem cannot be read: No such file or directory"),
        ((tls.key, *own), f"tls_ca_file {tls.key} holds no certificate"),
        ((tls.certificate, tls.certificate, tls.other_key), "does not go with tls_key"),
        ((tls.certificate, tls.certificate, locked), "cannot be read without a password"),
    ):
        told = tls.tried(*files)
        assert said in told, told
        assert "and correct tls_ca_file, tls_cert and tls_key of [pools.burst]" in told
        assert "Traceback" not in told


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
