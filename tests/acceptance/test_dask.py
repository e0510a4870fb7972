"""A pool of kind `dask`, as its owner has it: a real cluster, real controllers, and everything that can befall both."""

from __future__ import annotations

import os
import select
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from threading import Event

import pytest

from tests.acceptance.installation import ROOT, RunBatchctl, StartBatchctl, Started
from tests.control_databases import ControlDatabase
from tests.dask_processes import SLOTS, DaskProcess, free_port
from tests.leftovers import end_supervisors
from tests.system.watching import ends, lives, parent_of

LIMIT = 45.0
LEASE = 2
INTERPRETER = {"PYTHONPATH": str(ROOT)}
"""Each command is a process of its own, which loads the package of the cluster by itself."""

RETIRE = """import os, sys
from distributed import Client
with Client(sys.argv[1]) as client:
    [name] = [name for name, pid in client.run(os.getpid).items() if pid == int(sys.argv[2])]
    if sys.argv[3] == "retire_workers":
        client.retire_workers([name])
    else:
        client.run(lambda dask_worker: dask_worker.loop.add_callback(dask_worker.close_gracefully), workers=[name])
"""
"""Has the worker with a process id retire: by its scheduler, or by itself, as at the end of its lifetime."""
ONCE = pytest.mark.parametrize("control_database", ["sqlite"], indirect=True)
"""For what is the same beside any database."""


class Night:
    """A control database with a pool of kind dask, its cluster, its controllers."""

    def __init__(self, database: ControlDatabase, start: StartBatchctl, run: RunBatchctl) -> None:
        self.database, self.directory = database, database.directory
        self._start, self._run = start, run
        self.port = free_port()
        self.cluster: DaskProcess | None = None
        self.more: list[DaskProcess] = []
        self.controllers: list[Started] = []
        self.agent = self.directory / "agent"
        self.agent.mkdir()
        (self.agent / "batchctl.toml").write_text('state_directory = "state"\nstop_grace = 1\n', encoding="utf-8")
        self.configure()
        self.hand = database.hand()
        self.fifo = self.directory / "fifo"
        os.mkfifo(self.fifo)
        self._told = os.open(self.fifo, os.O_RDWR)
        self.hand.sql("INSERT INTO Pool (PoolName, Kind) VALUES ('burst', 'dask')")

    def configure(self, name: str = "burst") -> None:
        pool = f'kind = "dask"\nscheduler = "tcp://127.0.0.1:{self.port}"\nlease = "{LEASE}s"\n'
        settings = 'state_directory = "state"\nstop_grace = 1\nshutdown_grace = 1\nheartbeat_interval = 0.5\n'
        text = f'database_url = "{self.database.url}"\n{settings}[pools.{name}]\n{pool}'
        (self.directory / "batchctl.toml").write_text(text, encoding="utf-8")

    def begin(self) -> None:
        """Start the cluster, two workers with two slots each."""
        self.cluster = DaskProcess("local", str(self.agent), str(self.port), folder=self.directory)

    def joined(self) -> None:
        """Start one more worker."""
        address = f"tcp://127.0.0.1:{self.port}"
        self.more.append(DaskProcess("worker", str(self.agent), address, "127.0.0.1", folder=self.directory))

    def run(self, *args: str) -> subprocess.CompletedProcess[str]:
        return self._run(*args, cwd=self.directory, env=INTERPRETER)

    def start(self, *args: str, env: Mapping[str, str] = INTERPRETER) -> Started:
        """Start a controller, whose events go to a file."""
        with (self.directory / "events").open("a", encoding="utf-8") as events:
            controller = self._start("run", *args, cwd=self.directory, env={**env}, stderr=events, stdout=events)
        self.controllers.append(controller)
        return controller

    @property
    def events(self) -> str:
        return (self.directory / "events").read_text(encoding="utf-8")

    def batch(self, command: str, kind: str = "os_command", **columns: object) -> None:
        """Register a batch of one step, and hand in a row for it."""
        self.hand.sql("INSERT INTO ProcessBatch (ProcessBatchName, Pool, RetryWaitMins) VALUES ('Far', 'burst', 0)")
        keys, marks = "".join(f", {key}" for key in columns), ", ?" * len(columns)
        self.hand.sql(
            "INSERT INTO ProcessControl"
            f" (ProcessBatch_id, ProcessControlSeq, ProcessName, ProcessType, Data1{keys}) VALUES (1, 10, 'step', ?, ?{marks})",
            kind,
            command,
            *columns.values(),
        )
        self.submit()

    def submit(self) -> None:
        self.hand.sql("INSERT INTO FileProcess (Entity) VALUES ('Far')")

    def says(self, script: str) -> str:
        """Return a command that first writes its process id to the pipe."""
        return f"sh -c {shlex.quote(f'echo $$ > {self.fifo}; {script}')}"

    def hear(self) -> int:
        """Wait until a step has begun; return its process id."""
        self.until(lambda: select.select([self._told], [], [], 0)[0])
        told = b""
        while not told.endswith(b"\n"):
            told += os.read(self._told, 1)
        return int(told)

    def worker_of(self, step: int) -> int:
        """Return the Dask worker that carries a step: the parent of its supervisor."""
        return parent_of(parent_of(step))

    def retire(self, worker: int, way: str) -> None:
        """Have a worker retire, as whoever manages the cluster does."""
        subprocess.run(
            [sys.executable, "-c", RETIRE, f"tcp://127.0.0.1:{self.port}", str(worker), way],
            check=True,
            timeout=LIMIT,
        )

    def status(self) -> str:
        rows = self.hand.sql("SELECT Status FROM BatchControl ORDER BY BatchControl_id")
        return str(rows[0][0]) if rows else ""

    def attempts(self) -> list[tuple[str, str, str]]:
        """Return status, message and output of each attempt."""
        rows = self.hand.sql("SELECT Status, Message, Output FROM BatchProcessHistory ORDER BY BatchProcessHistory_id")
        return [(str(row[0]), str(row[1] or ""), str(row[2] or "")) for row in rows]

    def wait_for(self, status: str) -> None:
        self.until(lambda: self.status() == status)

    def until(self, condition: Callable[[], object]) -> None:
        over = time.monotonic() + LIMIT
        while not condition():
            assert time.monotonic() < over, f"{self.status()} {self.attempts()}\n{self.events}"
            Event().wait(0.05)

    def close(self) -> None:
        for controller in self.controllers:
            controller.kill()
            controller.communicate()
        for process in (*self.more, *([] if self.cluster is None else [self.cluster])):
            process.end()
        os.close(self._told)
        end_supervisors(self.directory)
        self.hand.close()


@pytest.fixture
def idle(
    control_database: ControlDatabase, start_batchctl: StartBatchctl, run_batchctl: RunBatchctl
) -> Iterator[Night]:
    """One whose cluster has not begun."""
    made = Night(control_database, start_batchctl, run_batchctl)
    yield made
    made.close()


@pytest.fixture
def night(idle: Night) -> Night:
    idle.begin()
    return idle


def test_steps_run_where_the_agents_are(night: Night) -> None:
    night.batch("pwd", Data2=".")
    night.start()
    night.wait_for("complete")

    ((status, _, output),) = night.attempts()
    ((text, spec, host),) = night.hand.sql("SELECT CommandText, CommandSpec, Host FROM BatchProcessHistory")
    assert (status, output.strip()) == ("success", str(night.agent))
    assert str(night.agent) in str(text)
    assert '"pool": "burst"' in str(spec)
    assert host


@ONCE
def test_no_more_steps_at_once_than_there_are_slots(night: Night) -> None:
    night.batch("sleep 1")
    night.hand.sql("UPDATE ProcessBatch SET MaxConcurrent = 20")
    for _ in range(7):
        night.submit()
    night.start("--slots", "20")
    night.until(lambda: night.hand.sql("SELECT 1 FROM BatchControl WHERE Status = 'complete' LIMIT 1"))
    night.until(lambda: not night.hand.sql("SELECT 1 FROM FileProcess WHERE Status <> 'complete'"))

    spans = night.hand.sql("SELECT StartTime, EndTime FROM BatchProcessHistory WHERE Status = 'success'")
    most = max(sum(begin <= at < end for begin, end in spans) for at, _ in spans)
    assert len(spans) == 8
    assert most <= 2 * SLOTS


@pytest.mark.parametrize("on_lost", ["rerun", "hold"])
def test_a_worker_that_is_killed(night: Night, on_lost: str) -> None:
    marker = night.directory / "again"
    night.batch(night.says(f"test -e {marker} || exec sleep 60"), OnLost=on_lost)
    night.start()
    first = night.hear()
    marker.touch()
    os.kill(night.worker_of(first), signal.SIGKILL)
    if on_lost == "rerun":
        night.hear()
        assert not lives(first)
    night.wait_for("complete" if on_lost == "rerun" else "held")

    statuses = [status for status, _, _ in night.attempts()]
    assert statuses == (["lost", "success"] if on_lost == "rerun" else ["lost"])
    assert lives(first) == (on_lost == "hold")


@ONCE
def test_a_worker_that_is_killed_and_its_step_is_verified(night: Night) -> None:
    night.batch(night.says("exec sleep 60"), OnLost="verify", Data6="true")
    night.start()
    first = night.hear()
    os.kill(night.worker_of(first), signal.SIGKILL)
    night.until(lambda: night.status() in {"complete", "held", "failed"})

    causes = night.hand.sql("SELECT Cause, Status FROM BatchProcessHistory ORDER BY BatchProcessHistory_id")
    assert causes[0] == ("auto", "lost")
    assert causes[1][0] == "verify"


def test_another_controller_adopts_what_a_killed_one_has_left(night: Night) -> None:
    go = night.directory / "go"
    night.batch(night.says(f"while ! test -e {go}; do sleep 0.1; done; echo well done"), OnLost="rerun")
    first = night.start()
    step = night.hear()
    night.start()
    night.until(lambda: night.events.count("controller.started") == 2)
    first.kill()
    first.communicate()
    night.until(lambda: "step.adopted" in night.events)
    Event().wait(2 * LEASE)
    assert lives(step)
    go.touch()
    night.wait_for("complete")

    assert [(status, output) for status, _, output in night.attempts()] == [("success", "well done\n")]


def test_a_controller_that_ends_leaves_its_steps_to_the_next(night: Night) -> None:
    go = night.directory / "go"
    night.batch(night.says(f"while ! test -e {go}; do sleep 0.1; done; echo well done"))
    first = night.start()
    step = night.hear()
    first.send_signal(signal.SIGTERM)
    first.communicate()
    assert lives(step)
    go.touch()
    night.start()
    night.wait_for("complete")

    assert [(status, output) for status, _, output in night.attempts()] == [("success", "well done\n")]


def test_an_end_that_comes_late_is_noted_and_nothing_else(night: Night) -> None:
    go = night.directory / "go"
    night.batch(night.says(f"while ! test -e {go}; do sleep 0.1; done"), OnLost="hold")
    night.start()
    step = night.hear()
    worker = night.worker_of(step)
    os.kill(worker, signal.SIGSTOP)
    try:
        night.wait_for("held")
        assert lives(step)
        go.touch()
        assert ends(step)
    finally:
        os.kill(worker, signal.SIGCONT)
    night.until(lambda: "late result" in night.attempts()[0][1])

    assert "step.ended_late" in night.events
    assert (night.status(), [status for status, _, _ in night.attempts()]) == ("held", ["lost"])


def test_a_worker_that_is_stopped_beyond_its_lease_repeats_nothing_by_itself(night: Night) -> None:
    marker = night.directory / "again"
    night.batch(night.says(f"test -e {marker} || exec sleep 60"), OnLost="rerun")
    night.start()
    step = night.hear()
    worker = night.worker_of(step)
    marker.touch()
    os.kill(worker, signal.SIGSTOP)
    try:
        night.hear()
        assert not lives(step)
        night.wait_for("complete")
    finally:
        os.kill(worker, signal.SIGCONT)
    night.until(lambda: "late result" in night.attempts()[0][1])

    assert [status for status, _, _ in night.attempts()] == ["lost", "success"]
    assert night.status() == "complete"


@ONCE
def test_a_cancelled_step_is_stopped(night: Night) -> None:
    night.batch(night.says("exec sleep 60"))
    night.start()
    step = night.hear()
    assert night.run("cancel", "1", "--reason", "test").returncode == 0

    assert ends(step)
    night.wait_for("cancelled")
    assert [status for status, _, _ in night.attempts()] == ["cancelled"]


@ONCE
def test_a_step_that_takes_too_long_is_stopped(night: Night) -> None:
    night.batch(night.says("exec sleep 60"), MaxDuration=2)
    night.hand.sql("UPDATE ProcessBatch SET RetryCount = 0")
    night.start()

    assert ends(night.hear())
    night.wait_for("failed")
    assert [status for status, _, _ in night.attempts()] == ["timeout"]


@ONCE
def test_what_a_step_writes_is_seen_while_it_runs(night: Night) -> None:
    night.batch(night.says("echo so far; exec sleep 60"))
    night.start()
    step = night.hear()
    night.until(lambda: "so far" in str(night.hand.sql("SELECT * FROM StepOutput")))

    assert lives(step)


@ONCE
def test_a_scheduler_that_is_away_at_first_and_there_later(idle: Night) -> None:
    idle.batch("pwd")
    idle.start()
    idle.until(lambda: "controller.started" in idle.events)
    assert idle.attempts() == []
    idle.begin()

    idle.wait_for("complete")
    assert [status for status, _, _ in idle.attempts()][-1] == "success"


@ONCE
def test_a_cluster_that_is_another_after_a_restart(night: Night) -> None:
    night.batch("pwd")
    night.start()
    night.wait_for("complete")
    assert night.cluster is not None
    night.cluster.end()
    night.cluster = None
    night.until(lambda: "failure" in str(night.hand.sql("SELECT Agents FROM ControllerPool")))
    night.begin()
    night.submit()
    night.until(lambda: not night.hand.sql("SELECT 1 FROM FileProcess WHERE Status <> 'complete'"))


@ONCE
@pytest.mark.parametrize("way", ["retire_workers", "close_gracefully"])
def test_a_worker_that_retires_ends_what_it_runs_first(night: Night, way: str) -> None:
    go = night.directory / "go"
    night.batch(night.says(f"while ! test -e {go}; do sleep 0.1; done; echo well done"), OnLost="hold")
    night.hand.sql("UPDATE ProcessBatch SET MaxConcurrent = 2")
    night.start("--slots", "4")
    step = night.hear()
    worker = night.worker_of(step)
    night.retire(worker, way)
    night.submit()
    other = night.worker_of(night.hear())
    Event().wait(2 * LEASE)
    assert (lives(step), other != worker) == (True, True)
    go.touch()
    night.until(lambda: [status for status, _, _ in night.attempts()] == ["success"] * 2)

    night.until(lambda: not lives(worker))
    assert [output for _, _, output in night.attempts()] == ["well done\n"] * 2


@ONCE
def test_an_agent_without_the_handler(night: Night) -> None:
    night.batch("whatever", kind="nothing_like_it")
    night.hand.sql("UPDATE ProcessBatch SET RetryCount = 0")
    night.start()
    night.until(lambda: "nothing_like_it" in night.events or "nothing_like_it" in str(night.attempts()))

    assert "success" not in [status for status, _, _ in night.attempts()]


@ONCE
def test_fifty_megabytes_of_output(night: Night) -> None:
    night.batch("sh -c 'head -c 50000000 /dev/zero | tr \"\\0\" x'")
    night.start()
    night.wait_for("complete")

    ((_, _, output),) = night.attempts()
    assert 1000 < len(output) < 50_000_000


@ONCE
def test_without_the_package_it_is_said_what_to_install(idle: Night) -> None:
    lacking = idle.directory / "lacking"
    lacking.mkdir()
    (lacking / "sitecustomize.py").write_text("import sys\nsys.modules['distributed'] = None\n", encoding="utf-8")
    ended = subprocess.run(
        [sys.executable, "-m", "batchctl", "run", "--once"],
        cwd=idle.directory,
        env={**os.environ, "PYTHONPATH": f"{lacking}:{ROOT}"},
        capture_output=True,
        text=True,
        check=False,
    )

    assert ended.returncode == 4, ended
    assert "pip install 'batchctl[dask]'" in ended.stderr
    assert "Traceback" not in ended.stderr


@ONCE
def test_a_package_that_is_broken_keeps_steps_waiting_and_is_named(idle: Night) -> None:
    idle.batch("pwd")
    broken = idle.directory / "broken" / "distributed"
    broken.mkdir(parents=True)
    (broken / "__init__.py").write_text("raise ImportError('it lacks a library')\n", encoding="utf-8")
    idle.start(env={"PYTHONPATH": f"{broken.parent}:{ROOT}"})

    idle.until(lambda: "agents of pool burst cannot be reached: it lacks a library" in idle.run("why", "1").stdout)
    assert "Traceback" not in idle.events


@ONCE
def test_a_worker_that_joins_is_used(night: Night) -> None:
    night.batch(night.says("exec sleep 60"))
    night.hand.sql("UPDATE ProcessBatch SET MaxConcurrent = 9")
    for _ in range(2 * SLOTS):
        night.submit()
    night.start("--slots", "9")
    begun = [night.hear() for _ in range(2 * SLOTS)]
    last = str(2 * SLOTS + 1)
    night.until(lambda: "all busy" in " ".join(night.run("why", last).stdout.split()))
    night.joined()

    newest = night.hear()
    assert night.worker_of(newest) not in {night.worker_of(step) for step in begun}


@ONCE
def test_a_pool_that_is_renamed_while_a_step_of_it_runs(night: Night) -> None:
    go = night.directory / "go"
    night.batch(night.says(f"while ! test -e {go}; do sleep 0.1; done"))
    first = night.start()
    night.hear()
    with pytest.raises(night.hand.Refused, match="a batch or a step names this pool"):
        night.hand.sql("UPDATE Pool SET PoolName = 'spare'")
    night.hand.sql("INSERT INTO Pool (PoolName, Kind) VALUES ('spare', 'dask')")
    night.hand.sql("UPDATE ProcessBatch SET Pool = 'spare'")
    night.hand.sql("DELETE FROM Pool WHERE PoolName = 'burst'")
    go.touch()
    night.wait_for("complete")
    night.submit()
    night.until(lambda: "no controller serves pool spare" in " ".join(night.run("why", "2").stdout.split()))

    first.send_signal(signal.SIGTERM)
    first.communicate()
    night.configure("spare")
    night.start()
    night.until(lambda: not night.hand.sql("SELECT 1 FROM FileProcess WHERE Status <> 'complete'"))
    assert [status for status, _, _ in night.attempts()] == ["success", "success"]


@ONCE
def test_a_folder_that_a_worker_lacks_is_named(night: Night) -> None:
    night.batch("pwd", Data2="/nowhere/at/all")
    night.hand.sql("UPDATE ProcessBatch SET RetryCount = 0")
    night.start()
    night.wait_for("failed")

    ((status, message, _),) = night.attempts()
    assert status == "failed"
    assert "/nowhere/at/all" in message
