"""Corrected plugin code is used by the next call; a process that has served long enough is replaced."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from batchctl.plugin_api import Job
from batchctl.system.plugins.plugin_process import PluginProcess
from batchctl.system.plugins.populating import ProcessPopulatorRunner
from batchctl.system.plugins.sources import Sources
from batchctl.system.runner import ThreadStepRunner
from tests.system.stepping import run_job
from tests.system.test_populating import BATCH, ROW

JOBS = """
import os
from batchctl.plugin_api import Populated, job
from own_helper import GREETING

@job("greet")
def greet(name: str = "you") -> str:
    return f"{GREETING} {name}"

@job("whoami")
def whoami() -> int:
    return os.getpid()

class Greeter:
    name = "greeter"

    def check(self, batch):
        return ()

    def populate(self, row, batch):
        return Populated(data=(GREETING, None, None, None, None, None))

POPULATORS = (Greeter,)
"""


@pytest.fixture
def plugins(tmp_path: Path) -> Path:
    (tmp_path / "own_jobs.py").write_text(JOBS, encoding="utf-8")
    (tmp_path / "own_helper.py").write_text("GREETING = 'hello'\n", encoding="utf-8")
    return tmp_path


@pytest.fixture
def process(plugins: Path, controller_id: str) -> Callable[[], PluginProcess]:
    return partial(
        PluginProcess, controller_id=controller_id, plugin_modules=["own_jobs"], sys_path=[str(plugins)], most_calls=5
    )


@pytest.fixture
def runner(controller_id: str, process: Callable[[], PluginProcess]) -> Iterator[ThreadStepRunner]:
    made = ThreadStepRunner(
        controller_id=controller_id,
        plugin_process=process,
        jobs={name: Job(name, print) for name in ("greet", "whoami")},
        connections={},
        secrets=str,
    )
    yield made
    made.close()


def test_a_corrected_job_is_used_by_the_next_call(plugins: Path, runner: ThreadStepRunner) -> None:
    assert run_job(runner, "greet").value == "hello you"

    (plugins / "own_jobs.py").write_text(JOBS.replace("{GREETING} {name}", "corrected {name}"), encoding="utf-8")

    assert run_job(runner, "greet").value == "corrected you"


def test_a_corrected_module_that_a_job_imports_is_used_too(plugins: Path, runner: ThreadStepRunner) -> None:
    assert run_job(runner, "greet").value == "hello you"

    (plugins / "own_helper.py").write_text("GREETING = 'good morning'\n", encoding="utf-8")

    assert run_job(runner, "greet").value == "good morning you"


@pytest.mark.parametrize("broken", ["own_jobs.py", "own_helper.py"])
def test_a_job_that_could_not_be_loaded_is_mended(plugins: Path, runner: ThreadStepRunner, broken: str) -> None:
    right = (plugins / broken).read_text(encoding="utf-8")
    (plugins / broken).write_text(right + "\n)\n", encoding="utf-8")
    end = run_job(runner, "greet")
    assert (end.succeeded, end.never_ran) == (False, True)
    assert "SyntaxError" in (end.message or "")

    (plugins / broken).write_text(right, encoding="utf-8")

    assert run_job(runner, "greet").value == "hello you"


def test_what_did_not_change_keeps_its_process_until_it_has_served_enough(runner: ThreadStepRunner) -> None:
    pids = [run_job(runner, "whoami").value for _ in range(11)]

    assert [pids.count(pid) for pid in dict.fromkeys(pids)] == [5, 5, 1]


def test_a_corrected_populator_is_used_by_the_next_call(plugins: Path, process: Callable[[], PluginProcess]) -> None:
    with closing(ProcessPopulatorRunner(process)) as populators:
        assert populators.populate("greeter", ROW, BATCH).data[0] == "hello"

        (plugins / "own_helper.py").write_text("GREETING = 'good morning'\n", encoding="utf-8")

        assert populators.populate("greeter", ROW, BATCH).data[0] == "good morning"


@pytest.mark.parametrize(
    ("change", "changed"),
    [
        (lambda path: path.read_bytes(), False),
        (lambda path: path.write_text("longer", encoding="utf-8"), True),
        (lambda path: path.unlink(), True),
    ],
)
def test_a_file_has_changed_when_it_is_another_one(
    tmp_path: Path, change: Callable[[Path], object], changed: bool
) -> None:
    path = tmp_path / "job.py"
    path.write_text("short", encoding="utf-8")
    sources = Sources(path.stat().st_ctime_ns)
    sources.add([str(path), str(tmp_path / "was never there")])
    assert not sources.have_changed

    change(path)

    assert sources.have_changed is changed


def test_a_file_written_while_the_process_was_there_is_in_doubt(tmp_path: Path) -> None:
    path = tmp_path / "job.py"
    path.write_text("which?", encoding="utf-8")
    sources = Sources(path.stat().st_ctime_ns - 1)

    sources.add([str(path)])

    assert sources.have_changed
