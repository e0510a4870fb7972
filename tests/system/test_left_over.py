"""What a controller that was killed has left behind is found and stopped, and nothing else is."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import pytest

from batchctl.domain.commands import Identity
from batchctl.system.host import platform
from batchctl.system.runner import ThreadStepRunner
from tests.system.conftest import PLUGINS
from tests.system.stepping import Does
from tests.system.watching import Ear, ends, lives
from tests.system.workers import BRIEF, entry

CONTROLLER = """
import sys
from datetime import timedelta
from functools import partial
from batchctl.plugin_api import Rendered
from batchctl.registry import Registry
from batchctl.system.plugins.plugin_process import PluginProcess
from batchctl.system.runner import ThreadStepRunner

me, plugins, kind, what = sys.argv[1:]

class Handler:
    def execute(self, rendered, execution):
        if kind == "command":
            execution.run_command(["sh", "-c", what], directory="/")
        else:
            execution.run_job(kind, {"say": what})

runner = ThreadStepRunner(
    controller_id=me,
    plugin_process=partial(PluginProcess, controller_id=me, plugin_modules=["acme_jobs"], sys_path=[plugins]),
    jobs=Registry(["acme_jobs"], [plugins]).jobs,
    connections={},
    secrets=str,
)
runner.start(1, Handler(), Rendered("", {}))
while True:
    runner.collect(timedelta(hours=1))
"""


class DyingController:
    """A controller in a process of its own, with one step."""

    started: ClassVar[list[DyingController]] = []

    def __init__(self, me: str, kind: str, what: str) -> None:
        self.started.append(self)
        self.process = subprocess.Popen([sys.executable, "-c", CONTROLLER, me, PLUGINS, kind, what])

    def die(self) -> None:
        self.process.kill()
        self.process.wait()


@pytest.fixture
def dead(controller_id: str) -> Iterator[str]:
    """The id of the controller that is going to die; nothing of it outlives the test, even a failed one."""
    yield f"{controller_id}-dead"
    while DyingController.started:
        DyingController.started.pop().die()
    platform.stop_left_over(f"{controller_id}-dead/", Identity(), 0.0)


@pytest.fixture
def bystander() -> Iterator[int]:
    process = subprocess.Popen(["sleep", "600"], start_new_session=True)
    yield process.pid
    process.kill()
    process.wait()


def stop_left_over(runner: ThreadStepRunner, claimed_by: str, process: Identity) -> Sequence[int]:
    """Stop what an attempt left over that was no command of a supervisor."""
    begun = replace(entry(1, claimed_by), pid=process.pid, pid_start=process.pid_start, boot_id=process.boot_id)
    return runner.stop_left_over(begun, Does(lambda execution: None), BRIEF)


def identity(pid: int, pid_start: str | None = None, boot_id: str | None = None) -> Identity:
    return Identity(pid=pid, pid_start=pid_start or platform.started(pid), boot_id=boot_id or platform.boot_id())


def test_a_command_outlives_its_controller_and_is_stopped_by_the_next(
    runner: ThreadStepRunner, ear: Ear, dead: str
) -> None:
    controller = DyingController(dead, "command", f"echo $$ > {ear.path}; exec sleep 600")
    pid = ear.hear_pid()
    controller.die()
    assert lives(pid)

    assert stop_left_over(runner, dead, Identity()) == [pid]

    assert ends(pid)
    assert stop_left_over(runner, dead, Identity()) == []


def test_the_whole_tree_is_found_wherever_it_has_gone(
    runner: ThreadStepRunner, ear: Ear, tmp_path: Path, dead: str
) -> None:
    deaf = tmp_path / "deaf"
    deaf.write_text(f"trap '' TERM; echo $$ > {ear.path}; while :; do sleep 0.01; done", encoding="utf-8")
    controller = DyingController(dead, "command", f"setsid sh {deaf} & echo $$ > {ear.path}; exec sleep 600")
    pids = {ear.hear_pid(), ear.hear_pid()}
    controller.die()

    found = stop_left_over(runner, dead, Identity())

    assert pids <= set(found)
    assert all(ends(pid) for pid in pids)


def test_a_process_without_the_cookie_is_known_by_its_identity(runner: ThreadStepRunner, ear: Ear, dead: str) -> None:
    controller = DyingController(dead, "command", f"exec env -i sh -c 'echo $$ > {ear.path}; exec sleep 600'")
    pid = ear.hear_pid()
    controller.die()

    assert stop_left_over(runner, dead, identity(pid)) == [pid]

    assert ends(pid)


@pytest.mark.parametrize("other", [{"pid_start": "1"}, {"boot_id": "another boot"}])
def test_a_pid_that_was_given_to_somebody_else_is_left_alone(
    runner: ThreadStepRunner, bystander: int, other: dict[str, str], dead: str
) -> None:
    assert stop_left_over(runner, dead, identity(bystander, **other)) == []
    assert stop_left_over(runner, dead, Identity(pid=bystander)) == []

    assert lives(bystander)


def test_the_children_of_another_controller_are_left_alone(runner: ThreadStepRunner, ear: Ear, dead: str) -> None:
    controller = DyingController(dead, "command", f"echo $$ > {ear.path}; exec sleep 600")
    pid = ear.hear_pid()

    assert stop_left_over(runner, f"{dead}ly", Identity()) == []
    assert stop_left_over(runner, dead[:-1], Identity()) == []
    assert lives(pid)

    controller.die()
    assert stop_left_over(runner, dead, Identity()) == [pid]


def test_nobody_stops_everything_or_himself(runner: ThreadStepRunner, controller_id: str) -> None:
    for claimed_by in ("", controller_id):
        with pytest.raises(ValueError, match="is not a dead controller"):
            stop_left_over(runner, claimed_by, Identity())


@pytest.mark.parametrize("pid", [0, 1, -1])
def test_no_dangerous_pid_is_ever_signalled(runner: ThreadStepRunner, pid: int, dead: str) -> None:
    assert stop_left_over(runner, dead, Identity(pid=pid, pid_start="0", boot_id=platform.boot_id())) == []
    assert stop_left_over(runner, dead, Identity(pid=pid, pid_start=platform.started(1))) == []


def test_a_plugin_process_ends_with_its_controller_even_in_the_middle_of_a_job(ear: Ear, dead: str) -> None:
    controller = DyingController(dead, "hang", str(ear.path))
    pid = ear.hear_pid()

    controller.die()

    assert ends(pid)


def test_what_a_job_has_started_is_stopped_by_the_next_controller(
    runner: ThreadStepRunner, ear: Ear, dead: str
) -> None:
    controller = DyingController(dead, "start_others", str(ear.path))
    pid = ear.hear_pid()
    controller.die()

    assert pid in stop_left_over(runner, dead, Identity())

    assert ends(pid)


def test_a_controller_started_where_ended_children_are_thrown_away_still_sees_how_they_end(ear: Ear) -> None:
    script = f"""
import signal
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
from datetime import timedelta
from batchctl.plugin_api import Rendered, StepOutcome
from batchctl.system.runner import ThreadStepRunner
class Handler:
    def execute(self, rendered, execution):
        end = execution.run_command(["false"], directory="/")
        print(end.exit_code, file=open({str(ear.path)!r}, "w"))
        return StepOutcome(succeeded=True)
runner = ThreadStepRunner(controller_id="x:1:y", plugin_process=None, jobs={{}}, connections={{}}, secrets=str)
runner.start(1, Handler(), Rendered("", {{}}))
while not runner.collect(timedelta(seconds=20)): pass
"""
    subprocess.run([sys.executable, "-c", script], check=True)

    assert ear.hear() == "1"


def test_signals_reach_nobody_when_a_process_is_gone(bystander: int, dead: str) -> None:
    gone = identity(bystander)
    os.kill(bystander, signal.SIGKILL)
    os.waitpid(bystander, 0)

    assert platform.stop_left_over(f"{dead}/", gone, 0.0) == []
