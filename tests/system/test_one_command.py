"""A step that is one command: its supervisor carries it, and this program needs no thread for it."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path

import pytest

from batchctl.domain.rows import HistoryId
from batchctl.plugin_api import Command, CommandEnd, Execution, Rendered, RunsOneCommand, StepOutcome
from batchctl.ports import Finished, Report
from batchctl.system import brief
from batchctl.system.plugins.handler_calls import HandlerCalls
from batchctl.system.runner import ThreadStepRunner
from tests.system.stepping import KEY, WAIT, Does, finished, spawned, start
from tests.system.watching import LIMIT, Ear, ends

BRIEF = Rendered("", {}, brief=True)


class Shell(Does):
    """A handler whose step is one shell command; what it writes is the outcome's message."""

    def __init__(self, script: str) -> None:
        super().__init__(lambda execution: pytest.fail("the engine runs the command by itself"))
        self._script = script

    def is_one_command(self, rendered: Rendered) -> bool:
        return True

    def command(self, rendered: Rendered, execution: Execution) -> Command:
        return Command(["sh", "-c", self._script], "/", {"PASSWORD": execution.secret("password")})

    def outcome(self, rendered: Rendered, end: CommandEnd) -> StepOutcome:
        said = f"{end.exit_code} {end.signal_name} {end.output[-200:]}"
        return StepOutcome(succeeded=end.exit_code == 0, message=said, stopped=end.stopped)


class Refuses(Shell):
    def command(self, rendered: Rendered, execution: Execution) -> Command:
        raise ValueError(f"not with {execution.secret('password')}")


class Breaks(Shell):
    def outcome(self, rendered: Rendered, end: CommandEnd) -> StepOutcome:
        raise ValueError("no idea")


def step_threads() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("batchctl-step")]


def test_a_handler_may_leave_its_command_to_the_engine() -> None:
    assert isinstance(Shell("true"), RunsOneCommand)
    assert not isinstance(Does(lambda execution: None), RunsOneCommand)


def test_a_short_command_needs_no_thread(runner: ThreadStepRunner) -> None:
    before = step_threads()

    runner.start(KEY, Shell("echo hello; exit 3"), BRIEF)
    end = finished(runner)

    assert end.outcome == StepOutcome(succeeded=False, message="3 None hello\n")
    assert end.identity is not None
    assert step_threads() == before


def test_the_end_of_a_command_is_overheard_and_nothing_else_is_carried_out(runner: ThreadStepRunner) -> None:
    calls: list[Execution] = []
    runner.start(KEY, Shell("exit 3"), BRIEF)
    runner.start(HistoryId(2), Does(calls.append), BRIEF)

    reports: list[Report] = []
    until = time.monotonic() + LIMIT
    while not any(isinstance(report, Finished) for report in reports) and time.monotonic() < until:
        reports += runner.overhear()

    # On a busy machine it is announced before.
    assert {report.key for report in reports} == {KEY}
    assert calls == []
    assert runner.overhear() == ()
    finished(runner, 2)
    assert len(calls) == 1


def test_a_secret_reaches_the_command_and_never_comes_out_again(runner: ThreadStepRunner) -> None:
    runner.start(KEY, Shell('echo "<$PASSWORD>"'), BRIEF)

    message = finished(runner).outcome.message or ""

    assert message.startswith("0 None <")
    assert "s3same" not in message


def test_a_command_that_takes_longer_is_announced_and_can_be_stopped(runner: ThreadStepRunner, ear: Ear) -> None:
    runner.start(KEY, Shell(f"echo $$ > {ear.path}; exec sleep 600"), BRIEF)
    report = spawned(runner)

    runner.stop(KEY)
    end = finished(runner)

    assert report.identity.pid == ear.hear_pid()
    assert (end.outcome.stopped, end.outcome.message) == (True, "None SIGTERM ")


def test_a_command_that_takes_longer_can_write_as_much_as_it_likes(runner: ThreadStepRunner) -> None:
    runner.start(KEY, Shell("sleep 0.1; head -c 3000000 /dev/zero | tr '\\0' x; echo done >&2"), BRIEF)

    assert spawned(runner).identity.pid is not None
    assert (finished(runner).outcome.message or "").endswith("done\n")


def test_what_a_short_command_left_behind_is_stopped(runner: ThreadStepRunner) -> None:
    runner.start(KEY, Shell("sleep 600 >/dev/null 2>&1 & echo $!"), BRIEF)

    outcome = finished(runner).outcome

    assert outcome.succeeded
    assert ends(int((outcome.message or "").split()[-1]))


def test_several_are_under_way_at_once_without_a_thread(runner: ThreadStepRunner) -> None:
    before = step_threads()
    for key in range(1, 5):
        runner.start(HistoryId(key), Shell(f"sleep 0.{key}; exit {key}"), BRIEF)

    codes = [report.outcome.message for report in all_finished(runner, 4)]

    assert codes == [f"{key} None " for key in range(1, 5)]
    assert step_threads() == before


def all_finished(runner: ThreadStepRunner, count: int) -> list[Finished]:
    ends: list[Finished] = []
    while len(ends) < count:
        ends += [report for report in runner.collect(WAIT) if isinstance(report, Finished)]
    return ends


class NotOne(Does):
    """A handler of which this step is no command."""

    def is_one_command(self, rendered: Rendered) -> bool:
        return False

    def command(self, rendered: Rendered, execution: Execution) -> Command:
        raise LookupError("there is no command")

    def outcome(self, rendered: Rendered, end: CommandEnd) -> StepOutcome:
        raise LookupError("there is no command")


class NeverSays(NotOne):
    """A handler that never says whether this step is a command."""

    def is_one_command(self, rendered: Rendered) -> bool:
        while True:
            pass


def test_a_step_of_which_its_handler_does_not_say_whether_it_is_a_command_fails(
    runner: ThreadStepRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "_ask", HandlerCalls(timedelta(milliseconds=50)).ask)
    runner.start(KEY, NeverSays(lambda execution: StepOutcome(succeeded=True)), BRIEF)
    outcome = finished(runner).outcome

    assert not outcome.succeeded
    assert f"did not answer within 0.05 seconds, asked about attempt {KEY}" in (outcome.message or "")


def test_a_step_that_is_no_command_is_left_to_its_handler(runner: ThreadStepRunner) -> None:
    handler = NotOne(lambda execution: StepOutcome(succeeded=True, message="executed"))
    assert isinstance(handler, RunsOneCommand)

    runner.start(KEY, handler, BRIEF)

    assert finished(runner).outcome.message == "executed"


def test_what_is_not_declared_brief_cannot_hold_the_loop_up(runner: ThreadStepRunner, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    os.mkfifo(gate)

    class Waits(Shell):
        def command(self, rendered: Rendered, execution: Execution) -> Command:
            gate.read_text(encoding="utf-8")
            return super().command(rendered, execution)

    runner.start(KEY, Waits("true"), Rendered("", {}))
    assert runner.collect(timedelta(milliseconds=50)) == []

    gate.write_text("", encoding="utf-8")
    assert finished(runner).outcome.succeeded


def test_a_command_that_never_stops_writing_is_handed_on_in_time(runner: ThreadStepRunner) -> None:
    runner.start(KEY, Shell("exec yes"), BRIEF)

    assert spawned(runner).identity.pid is not None
    runner.stop(KEY)
    assert finished(runner).outcome.stopped


@pytest.mark.parametrize(
    ("broken", "said"), [(Refuses, "ValueError: not with "), (Breaks, "the handler itself broke: ValueError: no idea")]
)
def test_a_handler_that_raises_fails_its_own_step_only(
    runner: ThreadStepRunner, broken: Callable[[str], Shell], said: str
) -> None:
    runner.start(KEY, broken("true"), BRIEF)
    outcome = finished(runner).outcome

    assert not outcome.succeeded
    assert said in (outcome.message or "")
    assert "s3same" not in f"{outcome.message}{outcome.output}"
    start(runner, lambda execution: StepOutcome(succeeded=True))
    assert finished(runner).outcome.succeeded


def test_a_command_told_to_stop_before_it_is_looked_at_is_stopped(runner: ThreadStepRunner) -> None:
    runner.start(KEY, Shell("exec sleep 600"), BRIEF)
    runner.stop(KEY)

    assert finished(runner).outcome.stopped


def test_without_another_thread_to_be_had_the_command_is_followed_all_the_same(
    runner: ThreadStepRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    runner.start(KEY, Shell("sleep 0.2; echo done"), BRIEF)
    reports = [runner.collect(timedelta(seconds=1))]
    while not any(isinstance(report, Finished) for report in reports[-1]):
        reports.append(runner.collect(timedelta(seconds=1)))

    end = reports[-1][0]
    assert isinstance(end, Finished)
    assert end.outcome == StepOutcome(succeeded=True, message="0 None done\n")


def test_what_once_was_not_brief_does_not_keep_the_controller_waiting_again(
    runner: ThreadStepRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: dict[str, list[str]] = {"slow": [], "quick": []}

    def call(job: str) -> str:
        def note(execution: Execution) -> StepOutcome:
            del execution
            threads[job].append(threading.current_thread().name)
            return StepOutcome(succeeded=True)

        runner.start(KEY, Does(note), Rendered("", {"job": job}, brief=True))
        assert finished(runner).outcome.succeeded
        return threads[job][-1]

    own = threading.current_thread().name
    assert [call("slow"), call("slow"), call("quick")] == [own] * 3
    with monkeypatch.context() as strict:
        strict.setattr(brief, "LONGEST", 0.0)
        assert call("slow") == own, "nobody knew it before"

    assert call("slow").startswith("batchctl-step")
    assert call("quick") == own


def test_only_what_has_proved_to_be_brief_is_carried_out_at_once(
    runner: ThreadStepRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[str] = []

    def begin(job: str) -> Sequence[Report]:
        def note(execution: Execution) -> StepOutcome:
            del execution
            calls.append(job)
            return StepOutcome(succeeded=True)

        runner.start(KEY, Does(note), Rendered("", {"job": job}, brief=True))
        return runner.hasten()

    assert (begin("job"), calls) == ([], []), "nobody knew it before"
    assert finished(runner).outcome.succeeded

    (report,) = begin("job")
    assert isinstance(report, Finished)
    assert report.outcome.succeeded
    assert runner.collect(timedelta(0)) == []
    assert begin("other") == []
    assert calls == ["job", "job"]
    assert finished(runner).outcome.succeeded

    with monkeypatch.context() as strict:
        strict.setattr(brief, "MOMENT", 0.0)
        assert len(begin("job")) == 1
    assert begin("job") == [], "it took longer the last time"
    assert calls == ["job", "job", "other", "job"]
    assert finished(runner).outcome.succeeded
