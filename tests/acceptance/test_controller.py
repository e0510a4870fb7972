"""The controller as a process among others: other controllers, signals, cancelling, rows that arrive while it runs."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.acceptance.installation import PATIENCE, RunBatchctl, StartBatchctl, Started
from tests.control_databases import ControlDatabase, PostgresControl, SqliteControl
from tests.postgres import PostgresServer
from tests.system.watching import ends


class Shop:
    """A folder with a database, and the controllers that run in it."""

    def __init__(self, database: ControlDatabase, start: StartBatchctl, run: RunBatchctl) -> None:
        self.database = database
        directory = self.directory = database.directory
        self._start, self._run = start, run
        self.controllers: list[Started] = []
        self.configure()
        self.hand = database.hand()
        self.fifo = directory / "fifo"
        os.mkfifo(self.fifo)

    def run(self, *args: str) -> subprocess.CompletedProcess[str]:
        """Run a command to its end."""
        return self._run(*args, cwd=self.directory)

    def configure(self, more: str = "", *, shutdown_grace: int = 1) -> None:
        """Write the configuration."""
        graces = f"stop_grace = 1\nshutdown_grace = {shutdown_grace}\n"
        settings = f'database_url = "{self.database.url}"\n{graces}{more}'
        (self.directory / "batchctl.toml").write_text(settings, encoding="utf-8")

    def start(self, *args: str, env: Mapping[str, str] | None = None) -> Started:
        """Start a command that goes on."""
        process = self._start(*args, cwd=self.directory, env=env)
        self.controllers.append(process)
        return process

    def batch(self, name: str, *commands: str, **columns: object) -> None:
        """Register a batch of os_commands by rows."""
        keys, marks = "".join(f", {key}" for key in columns), ", ?" * len(columns)
        self.hand.sql(f"INSERT INTO ProcessBatch (ProcessBatchName{keys}) VALUES (?{marks})", name, *columns.values())
        for seq, command in enumerate(commands, start=1):
            self.hand.sql(
                "INSERT INTO ProcessControl (ProcessBatch_id, ProcessControlSeq, ProcessName, ProcessType, Data1)"
                " SELECT ProcessBatch_id, ?, 'step', 'os_command', ? FROM ProcessBatch WHERE ProcessBatchName = ?",
                seq,
                command,
                name,
            )

    def submit(self, entity: str) -> None:
        """Drop a row as any program would."""
        self.hand.sql("INSERT INTO FileProcess (Entity) VALUES (?)", entity)

    def says(self, script: str) -> str:
        """Return a command that writes its process id to the pipe first."""
        return f"sh -c {shlex.quote(f'echo $$ > fifo; {script}')}"

    def hear(self) -> int:
        """Wait until a step has begun; return its process id."""
        return int(self.fifo.read_text(encoding="utf-8"))

    def value(self, statement: str) -> object:
        """Return the first value a statement finds."""
        return self.hand.sql(statement)[0][0]

    def close(self) -> None:
        """End what still runs."""
        for controller in self.controllers:
            controller.kill()
            controller.communicate()
        self.hand.close()


@pytest.fixture
def shop(control_database: ControlDatabase, start_batchctl: StartBatchctl, run_batchctl: RunBatchctl) -> Iterator[Shop]:
    made = Shop(control_database, start_batchctl, run_batchctl)
    yield made
    made.close()


@pytest.fixture
def sqlite_shop(
    sqlite_database: SqliteControl, start_batchctl: StartBatchctl, run_batchctl: RunBatchctl
) -> Iterator[Shop]:
    made = Shop(sqlite_database, start_batchctl, run_batchctl)
    yield made
    made.close()


@pytest.fixture
def postgres_shop(
    postgres_database: PostgresControl, start_batchctl: StartBatchctl, run_batchctl: RunBatchctl
) -> Iterator[Shop]:
    made = Shop(postgres_database, start_batchctl, run_batchctl)
    yield made
    made.close()


def test_the_leader_is_marked_in_the_list_of_controllers(shop: Shop) -> None:
    shop.batch("B", shop.says("read go < fifo"))
    shop.submit("B")
    shop.start("run")
    shop.hear()
    (listed,) = json.loads(shop.run("controllers", "--json").stdout)
    shown = shop.run("controllers").stdout
    shop.fifo.write_text("go\n", encoding="utf-8")

    assert (listed["State"], listed["Claims"], listed["Leads"]) == ("running", 1, True)
    assert "leader" in shown


def test_a_second_controller_works_beside_the_first_and_goes_on_with_what_that_leaves_when_killed(shop: Shop) -> None:
    shop.batch("B", shop.says("read go < fifo; exit 0"), "true")
    shop.batch("C", "true")
    shop.submit("B")
    first = shop.start("run")
    pid = shop.hear()
    shop.submit("C")
    assert shop.run("create").returncode == 0
    beside = shop.run("process")

    assert beside.returncode == 0, beside.stderr
    assert shop.value("SELECT Status FROM FileProcess WHERE Entity = 'C'") == "complete"
    assert shop.value("SELECT Status FROM FileProcess WHERE Entity = 'B'") == "ready"
    first.kill()
    first.wait(PATIENCE)
    assert Path(f"/proc/{pid}").exists(), "the step outlives its controller"
    seen = " ".join(shop.run("status").stdout.split())
    assert "none follows what stands as running" in seen
    after = shop.start("process")
    said = iter(after.stderr or ())
    assert any("step.adopted" in line for line in said)
    shop.fifo.write_text("go\n", encoding="utf-8")
    assert after.wait(PATIENCE) == 0
    assert shop.hand.sql("SELECT ProcessControlSeq, AttemptNo, Status FROM BatchProcessHistory ORDER BY 1, 2") == [
        (1, 1, "success"),
        (1, 1, "success"),
        (2, 1, "success"),
    ]
    assert shop.value("SELECT Status FROM FileProcess WHERE Entity = 'B'") == "complete"


def test_sigterm_lets_the_running_step_finish_and_exits_0(shop: Shop) -> None:
    shop.batch("B", shop.says("read go < fifo; exit 0"), "false")
    shop.submit("B")
    controller = shop.start("run")
    shop.hear()
    controller.send_signal(signal.SIGTERM)
    shop.fifo.write_text("go\n", encoding="utf-8")

    assert controller.wait(PATIENCE) == 0
    assert shop.value("SELECT Status FROM BatchControl") == "ready"
    assert shop.value("SELECT PrevProcessControlSeq FROM BatchControl") == 1


def test_sigterm_exits_0_whatever_has_failed_before(shop: Shop) -> None:
    shop.batch("bad", "false")
    shop.submit("bad")
    controller = shop.start("run")
    assert any("instance.failed" in line for line in controller.stderr or ())
    controller.send_signal(signal.SIGTERM)

    assert controller.wait(PATIENCE) == 0


@pytest.mark.parametrize("how", [("process",), ("run", "--once"), ("run", "--until-idle", "0")])
def test_a_pass_in_which_a_step_fails_exits_1(shop: Shop, how: tuple[str, ...]) -> None:
    shop.batch("bad", "false")
    shop.submit("bad")
    assert shop.run("create").returncode == 0

    assert shop.run(*how).returncode == 1


@pytest.mark.parametrize(("is_patient", "code"), [(True, 0), (False, 130)])
def test_ctrl_c_leaves_a_step_that_does_not_end_to_the_next_controller(shop: Shop, is_patient: bool, code: int) -> None:
    shop.batch("B", shop.says("trap '' TERM; while :; do sleep 1; done"))
    shop.submit("B")
    if not is_patient:
        shop.configure(shutdown_grace=3600)
    controller = shop.start("run")
    pid = shop.hear()
    controller.send_signal(signal.SIGINT)
    assert any("controller.stopping" in line for line in controller.stderr or ())
    if not is_patient:
        controller.send_signal(signal.SIGINT)

    assert controller.wait(PATIENCE) == code
    assert Path(f"/proc/{pid}").exists()
    assert shop.value("SELECT Status FROM BatchProcessHistory") == "running"
    assert shop.run("cancel", "1", "--reason", "test").returncode == 0
    assert shop.run("run", "--once").returncode == 0
    assert ends(pid)
    assert shop.value("SELECT Status FROM BatchControl") == "cancelled"


@pytest.mark.parametrize("given", ["option", "setting"])
def test_slots_are_steps_under_way_at_once(shop: Shop, given: str) -> None:
    meet = "sh -c 'mkfifo {0} 2>/dev/null; echo here > {1} & read there < {0}'"
    os.mkfifo(shop.directory / "a")
    os.mkfifo(shop.directory / "b")
    shop.batch("A", meet.format("a", "b"))
    shop.batch("B", meet.format("b", "a"))
    shop.submit("A")
    shop.submit("B")
    options = ("--slots", "2") if given == "option" else ()
    if given == "setting":
        with (shop.directory / "batchctl.toml").open("a", encoding="utf-8") as settings:
            settings.write("slots = 2\n")

    done = shop.run("run", "--once", *options)

    assert done.returncode == 0, done.stderr
    assert shop.value("SELECT count(*) FROM BatchControl WHERE Status = 'complete'") == 2


def test_cancel_from_another_process_stops_the_step_and_all_it_started(shop: Shop) -> None:
    shop.batch("B", shop.says("setsid sleep 300 & sleep 300"))
    shop.submit("B")
    controller = shop.start("run", "--until-idle", "0.5")
    pid = shop.hear()
    cancelled = shop.run("cancel", "1", "--reason", "test")

    assert cancelled.returncode == 0
    said, _ = controller.communicate(timeout=PATIENCE)
    assert (controller.returncode, said) == (
        0,
        "Steps: 1 started, 0 succeeded, 0 failed, 1 cancelled. Instances: 0 complete.\n",
    )
    assert not Path(f"/proc/{pid}").exists()
    left = [at for at in Path("/proc").glob("[0-9]*/cmdline") if at.read_bytes() == b"sleep\x00300\x00"]
    assert left == []
    assert shop.value("SELECT Status FROM BatchControl") == "cancelled"
    assert shop.value("SELECT Status FROM BatchProcessHistory") == "cancelled"


def test_a_batch_and_a_row_inserted_while_the_controller_runs_are_taken_at_once(shop: Shop) -> None:
    controller = shop.start("run")
    shop.batch("late", shop.says("exit 0"))
    shop.submit("late")

    assert shop.hear() > 0
    controller.send_signal(signal.SIGTERM)
    assert controller.wait(PATIENCE) == 0
    assert shop.value("SELECT Status FROM BatchControl") == "complete"


def test_a_single_row_starts_its_batch_while_the_controller_waits(shop: Shop) -> None:
    shop.batch("B", shop.says("true"))
    shop.submit("B")
    shop.start("run")
    shop.hear()
    for _ in range(3):
        shop.submit("B")  # The only write of anybody: nothing else will make the controller look.
        assert shop.hear() > 0


def test_a_step_beyond_max_duration_is_stopped_with_its_tree(shop: Shop) -> None:
    shop.batch("B", shop.says("sleep 300 & wait"), RetryCount=0)
    shop.hand.sql("UPDATE ProcessControl SET MaxDuration = 1")
    shop.submit("B")
    controller = shop.start("run", "--once")
    pid = shop.hear()

    assert controller.wait(PATIENCE) == 1
    assert not Path(f"/proc/{pid}").exists()
    assert shop.value("SELECT Status FROM BatchProcessHistory") == "timeout"


def test_python_jobs_that_crash_leave_or_hang_hurt_nobody(shop: Shop) -> None:
    (shop.directory / "bad_jobs.py").write_text(
        "import ctypes, os, sys, time\n"
        "from batchctl.plugin_api import job\n"
        "@job('crash')\ndef crash(): ctypes.string_at(0)\n"
        "@job('leave')\ndef leave(): os._exit(3)\n"
        "@job('quit')\ndef quit(): sys.exit(4)\n"
        "@job('hang')\ndef hang(): time.sleep(300)\n"
        "@job('good')\ndef good(word): print('all is', word)\n",
        encoding="utf-8",
    )
    shop.configure('plugin_modules = ["bad_jobs"]\n')
    for name in ("crash", "leave", "quit", "hang", "good"):
        shop.batch(name)
        arguments = "word='well'" if name == "good" else None
        shop.hand.sql(
            "INSERT INTO ProcessControl (ProcessBatch_id, ProcessControlSeq, ProcessName, ProcessType, Data1, Data2, MaxDuration)"
            " SELECT ProcessBatch_id, 1, 'call', 'python', ?, ?, ? FROM ProcessBatch WHERE ProcessBatchName = ?",
            name,
            arguments,
            1 if name == "hang" else 300,
            name,
        )
        shop.submit(name)
    assert shop.run("run", "--once").returncode == 1

    found = shop.hand.sql(
        "SELECT b.ProcessBatchName, h.Status, h.Output FROM BatchProcessHistory h JOIN ProcessBatch b USING (ProcessBatch_id)"
    )
    assert {name: status for name, status, _ in found} == {
        "crash": "failed",
        "leave": "failed",
        "quit": "failed",
        "hang": "timeout",
        "good": "success",
    }
    assert "all is well" in next(output for name, _, output in found if name == "good")


@pytest.mark.parametrize(
    ("populator", "status"),
    [("raises", "rejected"), ("quits", "rejected"), ("hangs", "ready"), ("nonsense", "rejected")],
)
def test_a_populator_that_misbehaves_rejects_its_row_or_lets_it_wait_and_stops_no_other(
    shop: Shop, populator: str, status: str
) -> None:
    body = {
        "raises": "raise RuntimeError('on purpose')",
        "quits": "import os; os._exit(1)",
        "hangs": "import time; time.sleep(300)",
        "nonsense": "return 42",
    }[populator]
    (shop.directory / "bad.py").write_text(
        "class Bad:\n    name = 'bad'\n    def check(self, batch): return []\n"
        f"    def populate(self, row, batch):\n        {body}\nPOPULATORS = (Bad,)\n",
        encoding="utf-8",
    )
    shop.configure(f'populate_timeout = {1 if populator == "hangs" else 60}\nplugin_modules = ["bad"]\n')
    shop.batch("bad", "true", Populator="bad", Seq=1)
    shop.batch("good", "true", Seq=2)
    shop.submit("bad")
    shop.submit("good")
    shop.run("run", "--once")

    assert shop.hand.sql("SELECT Entity, Status FROM FileProcess ORDER BY 1") == [
        ("bad", status),
        ("good", "complete"),
    ]
    assert shop.value("SELECT Message FROM FileProcess WHERE Entity = 'bad'")


def test_a_database_that_stays_locked_neither_ends_the_controller_nor_its_step(sqlite_shop: Shop) -> None:
    shop = sqlite_shop
    shop.batch("B", shop.says("read go < fifo; exit 0"))
    shop.submit("B")
    controller = shop.start("run", "--until-idle", "0.2")
    shop.hear()
    shop.hand.begin_writing()
    shop.fifo.write_text("go\n", encoding="utf-8")
    said = iter(controller.stderr or ())
    assert any("controller.waiting" in line for line in said)
    shop.hand.sql("ROLLBACK")
    assert any("controller.resumed" in line for line in said)

    assert controller.wait(PATIENCE) == 0
    assert shop.value("SELECT Status FROM BatchControl") == "complete"


def test_a_database_that_is_moved_away_is_missed_and_its_end_recorded_once_it_is_back(sqlite_shop: Shop) -> None:
    shop = sqlite_shop
    shop.batch("B", shop.says("read go < fifo; exit 0"))
    shop.submit("B")
    controller = shop.start("run", "--until-idle", "0.2")
    shop.hear()
    there, aside = shop.directory / "batchctl.db", shop.directory / "aside.db"
    there.rename(aside)
    shop.fifo.write_text("go\n", encoding="utf-8")
    said = iter(controller.stderr or ())
    assert any(
        "controller.waiting" in line and "moved, replaced or deleted. Next: move it back" in line for line in said
    )
    aside.rename(there)
    assert any("controller.resumed" in line for line in said)

    assert controller.wait(PATIENCE) == 0
    assert shop.value("SELECT Status FROM BatchControl") == "complete"


def test_the_example_registration_works_from_the_databases_own_shell_under_a_running_controller(shop: Shop) -> None:
    script = Path(__file__).parents[2] / "examples" / "register_a_batch.sql"
    controller = shop.start("run")
    for _ in range(2):
        if isinstance(shop.database, PostgresControl):
            said = shop.database.server.psql(shop.database.name, script.read_text(encoding="utf-8"))
            assert (said.returncode, said.stderr) == (0, "")
        else:
            shell = ["sqlite3", "-cmd", ".timeout 60000", "-bail", str(shop.directory / "batchctl.db")]
            subprocess.run(shell, input=script.read_text(encoding="utf-8"), text=True, check=True, timeout=PATIENCE)
    shop.hand.sql("INSERT INTO FileProcess (Entity, FileName) VALUES ('CountLines', ?)", str(shop.fifo))
    shop.fifo.write_text("one\ntwo\n", encoding="utf-8")
    controller.send_signal(signal.SIGTERM)

    assert controller.wait(PATIENCE) == 0
    assert shop.value("SELECT Status FROM BatchControl") == "complete"
    assert shop.value("SELECT Output FROM BatchProcessHistory") == f"2 {shop.fifo}\n"


def test_a_step_outlives_its_databases_server_and_its_end_is_recorded(
    postgres_shop: Shop, postgres: PostgresServer
) -> None:
    shop = postgres_shop
    shop.batch("B", shop.says("read go < fifo; exit 0"), "true")
    shop.submit("B")
    controller = shop.start("run", "--until-idle", "0.5")
    shop.hear()
    shop.hand.close()
    postgres.stop(at_once=True)
    shop.fifo.write_text("go\n", encoding="utf-8")
    said = iter(controller.stderr or ())
    assert any("controller.waiting" in line for line in said)
    postgres.start()
    shop.hand = shop.database.hand()

    assert controller.wait(PATIENCE) == 0
    assert shop.hand.sql("SELECT ProcessControlSeq, AttemptNo, Status FROM BatchProcessHistory ORDER BY 1") == [
        (1, 1, "success"),
        (2, 1, "success"),
    ]


def test_a_controller_whose_sessions_are_ended_goes_on_and_is_seen_by_others(
    postgres_shop: Shop, postgres: PostgresServer
) -> None:
    shop = postgres_shop
    shop.batch("B", shop.says("read go < fifo; exit 0"))
    shop.submit("B")
    controller = shop.start("run", "--until-idle", "0.5")
    shop.hear()
    with postgres.connect() as dba:
        dba.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'batchctl%%'")
    said = iter(controller.stderr or ())
    assert any("controller.waiting" in line for line in said)
    (name,) = json.loads(shop.run("status", "--json").stdout)["Controllers"]
    assert str(controller.pid) in name
    beside = shop.run("process")
    assert (beside.returncode, "step." in beside.stderr) == (0, False), "nothing is taken away from who lives"
    shop.fifo.write_text("go\n", encoding="utf-8")

    assert controller.wait(PATIENCE) == 0
    assert shop.value("SELECT Status FROM BatchControl") == "complete"


def test_a_freeze_that_a_controller_answers_itself_holds_for_the_next_step_of_what_it_runs(shop: Shop) -> None:
    shop.batch("B", shop.says("read go < fifo"), "true")
    shop.submit("B")
    controller = shop.start("run", "--until-idle", "0")
    shop.hear()
    ask = "INSERT INTO OperatorRequest (Action, ProcessBatchName, Reason) VALUES ('freeze', 'B', 'because')"
    shop.hand.sql(ask)
    while shop.value("SELECT Status FROM OperatorRequest") != "done":
        assert controller.poll() is None
    shop.fifo.write_text("go\n", encoding="utf-8")

    assert controller.wait(PATIENCE) == 0
    assert shop.hand.sql("SELECT ProcessControlSeq, Status FROM BatchProcessHistory") == [(1, "success")]
    assert shop.value("SELECT Status FROM BatchControl") == "ready"
