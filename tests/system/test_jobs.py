"""Jobs: whatever one does, the controller lives, says exactly what happened, and the next job works."""

from __future__ import annotations

import os
import signal
import threading
from typing import Any

import pytest

from batchctl.domain.rows import HistoryId
from batchctl.plugin_api import Execution, Job, JobEnd, JobSignature, StepOutcome
from batchctl.ports import Finished
from batchctl.system.plugins.job_calls import Listening, call_job, signature_of
from batchctl.system.runner import ThreadStepRunner
from tests.system.stepping import WAIT, finished, outcome_of, run_job, spawned, start
from tests.system.watching import LIMIT, Ear, ends, lives


def next_job_works(runner: ThreadStepRunner) -> bool:
    return run_job(runner, "add", one=40, two=2) == JobEnd(succeeded=True, value=42)


@pytest.mark.parametrize("name", ["add", "add_here"])
def test_a_job_gets_its_arguments_and_returns_its_value(runner: ThreadStepRunner, name: str) -> None:
    assert run_job(runner, name, one=2, two=3) == JobEnd(succeeded=True, value=5)
    assert run_job(runner, name, one=2) == JobEnd(succeeded=True, value=3)


def test_only_a_job_declared_in_process_runs_in_the_controller(runner: ThreadStepRunner) -> None:
    assert run_job(runner, "whoami").value != os.getpid()


@pytest.mark.parametrize(
    ("what", "value"),
    [
        ("list", "[1, 'two']"),
        ("nothing", None),
        ("truth", True),
        ("number", 1.5),
        ("unspeakable", "<a Unspeakable whose repr raised ValueError>"),
        ("huge number", "<a int whose repr raised ValueError>"),
        ("hostile text", "\ud800\x00‮"),
    ],
)
def test_any_value_can_be_shown(runner: ThreadStepRunner, what: str, value: object) -> None:
    end = run_job(runner, "give", what=what)

    assert end.succeeded
    assert end.value == value
    assert type(end.value) is type(value)


def test_a_long_value_is_cut_and_says_so(runner: ThreadStepRunner) -> None:
    value = run_job(runner, "give", what="long text").value

    assert isinstance(value, str)
    assert value.endswith("xxx [... 134464 characters left out]")


@pytest.mark.parametrize(
    ("what", "message"),
    [
        ("error", "ValueError: no such\\nflight"),
        ("fatal", "never again"),
        ("exit", "the job called sys.exit(3) instead of returning"),
        ("interrupt", "KeyboardInterrupt"),
        ("memory", "MemoryError"),
        ("mute", "Mute: (its message cannot be read: ValueError)"),
        ("type", "TypeError: raised inside"),
    ],
)
def test_a_job_that_raises_fails_with_its_traceback(runner: ThreadStepRunner, what: str, message: str) -> None:
    end = run_job(runner, "raise", what=what)

    assert (end.succeeded, end.message, end.fatal) == (False, message, what == "fatal")
    assert "in raise_something" in end.output
    assert end.output.count("File ") == 1
    assert next_job_works(runner)


@pytest.mark.parametrize("name", ["add", "add_here"])
@pytest.mark.parametrize(
    ("arguments", "wrong"),
    [
        ({}, "missing 1 required positional argument: 'one'"),
        ({"one": 1, "three": 3}, "unexpected keyword argument 'three'"),
    ],
)
def test_wrong_arguments_are_a_fatal_failure_that_names_the_right_ones(
    runner: ThreadStepRunner, name: str, arguments: dict[str, int], wrong: str
) -> None:
    end = run_job(runner, name, **arguments)

    assert (end.succeeded, end.fatal) == (False, True)
    assert wrong in (end.message or "")
    assert f"It is {name}(one: 'int', two: 'int' = 1) -> 'int'" in (end.message or "")


def test_an_unknown_job_is_put_back_with_a_suggestion(runner: ThreadStepRunner) -> None:
    end = run_job(runner, "whoamy")

    assert end == JobEnd(
        succeeded=False, never_ran=True, message="job 'whoamy' is not registered. Did you mean 'whoami'?"
    )


@pytest.mark.parametrize(
    ("how", "ending"),
    [("exit", "exit code 7"), ("segfault", "killed by SIGSEGV"), ("kill", "killed by SIGKILL")],
)
def test_a_job_that_ends_its_process_fails_alone(runner: ThreadStepRunner, how: str, ending: str) -> None:
    end = run_job(runner, "end_process", how=how)

    assert (end.succeeded, end.fatal, end.message) == (False, False, f"the job ended its process: {ending}")
    assert end.output.startswith("last words\n")
    assert next_job_works(runner)


def test_a_segmentation_fault_shows_where_it_was(runner: ThreadStepRunner) -> None:
    end = run_job(runner, "end_process", how="segfault")

    assert "Fatal Python error: Segmentation fault" in end.output
    assert "in end_process" in end.output


def test_a_job_that_closes_every_descriptor_fails_alone(runner: ThreadStepRunner) -> None:
    end = run_job(runner, "end_process", how="close everything")

    assert (end.succeeded, end.output) == (False, "last words\n")
    assert next_job_works(runner)


def test_output_of_every_kind_is_captured(runner: ThreadStepRunner) -> None:
    end = run_job(runner, "print", what="everywhere")

    assert sorted(end.output.splitlines()) == ["c library", "child err", "child out", "python err", "python out"]
    assert run_job(runner, "add", one=1).output == ""


def test_fifty_megabytes_of_output_are_capped(runner: ThreadStepRunner) -> None:
    end = run_job(runner, "print", what="a lot")

    assert end.succeeded
    assert end.output.startswith("0123456789abcde\n")
    assert "of 52428800 bytes left out" in end.output
    assert len(end.output) < 70_000


def test_output_that_is_not_text_is_shown_escaped(runner: ThreadStepRunner) -> None:
    assert run_job(runner, "print", what="not utf-8").output == "caf\\xe9 \\x00 end\n"
    assert run_job(runner, "print", what="surrogate").output == "\\ud800\n"


@pytest.mark.parametrize("how", ["close", "close descriptors", "replace"])
def test_a_job_may_spoil_its_streams(runner: ThreadStepRunner, how: str) -> None:
    before = run_job(runner, "whoami").value

    assert run_job(runner, "spoil_streams", how=how).succeeded

    assert run_job(runner, "print", what="surrogate").output == "\\ud800\n"
    assert run_job(runner, "whoami").value == before


def test_a_job_may_change_directory_and_signals(runner: ThreadStepRunner, ear: Ear) -> None:
    run_job(runner, "spoil_streams", how="directory")
    run_job(runner, "spoil_streams", how="signals")

    assert run_job(runner, "where").value == os.getcwd()
    assert "cleaned up" in stopped_job(runner, ear, "hang", say=str(ear.path)).output


def test_a_job_finds_nothing_to_read(runner: ThreadStepRunner) -> None:
    assert run_job(runner, "read_input").value == ""


def test_a_job_sees_no_setting_of_batchctl(
    runner: ThreadStepRunner, controller_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BATCHCTL_DATABASE_URL", "secret")

    assert run_job(runner, "environment", name="BATCHCTL_DATABASE_URL").value is None
    assert str(run_job(runner, "environment", name="BATCHCTL_COOKIE").value).startswith(f"{controller_id}/own/host-")


def stopped_job(runner: ThreadStepRunner, ear: Ear, name: str, **arguments: str) -> JobEnd:
    """Start a job, stop it once it has said where it is, and return its end."""
    seen: list[JobEnd] = []

    def act(execution: Execution) -> StepOutcome:
        seen.append(execution.run_job(name, dict(arguments)))
        return StepOutcome(succeeded=seen[0].succeeded)

    start(runner, act, 5)
    pid = ear.hear_pid()
    runner.stop(HistoryId(5))
    report = finished(runner, 5)
    assert report.outcome.stopped
    assert ends(pid)
    return seen[0]


def test_a_hanging_job_is_stopped_and_may_clean_up(runner: ThreadStepRunner, ear: Ear) -> None:
    end = stopped_job(runner, ear, "hang", say=str(ear.path))

    assert (end.succeeded, end.stopped, end.message) == (False, True, "the job was stopped")
    assert end.output.startswith("cleaned up\n")
    assert "in hang" in end.output
    assert next_job_works(runner)


def test_a_job_deaf_to_term_is_killed(runner: ThreadStepRunner, ear: Ear) -> None:
    end = stopped_job(runner, ear, "hang", say=str(ear.path), how="deaf")

    assert end == JobEnd(succeeded=False, stopped=True, message="the job was stopped")
    assert next_job_works(runner)


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ("stops", "the job stopped early: after 3 of 10 files"),
        ("returns", "the job stopped early: 3 files"),
        ("thread", "the job stopped early: 3 files"),
    ],
)
def test_a_job_that_asks_whether_it_is_to_stop_ends_by_itself(
    runner: ThreadStepRunner, ear: Ear, how: str, said: str
) -> None:
    end = stopped_job(runner, ear, "ask", say=str(ear.path), how=how)

    assert end == JobEnd(succeeded=False, stopped=True, message=said)
    assert next_job_works(runner)


def test_a_job_that_asks_and_fails_on_its_way_out_has_stopped(runner: ThreadStepRunner, ear: Ear) -> None:
    end = stopped_job(runner, ear, "ask", say=str(ear.path), how="raises")

    assert (end.stopped, "RuntimeError: cannot go on" in end.output) == (True, True)


def test_a_job_that_asks_and_goes_on_is_killed(runner: ThreadStepRunner, ear: Ear) -> None:
    end = stopped_job(runner, ear, "ask", say=str(ear.path), how="deaf")

    assert end == JobEnd(succeeded=False, stopped=True, message="the job was stopped")
    assert next_job_works(runner)


def test_a_job_that_is_not_to_stop_is_told_so(runner: ThreadStepRunner) -> None:
    assert run_job(runner, "ask_nobody") == JobEnd(succeeded=True, value=False)


def test_a_job_in_process_may_ask_on_its_thread(runner: ThreadStepRunner, ear: Ear) -> None:
    start(
        runner,
        lambda execution: StepOutcome(succeeded=execution.run_job("ask_here", {"say": str(ear.path)}).succeeded),
        5,
    )
    ear.hear_pid()
    runner.stop(HistoryId(5))

    assert finished(runner, 5).outcome.stopped


def test_what_a_stopped_job_has_started_is_stopped_too(runner: ThreadStepRunner, ear: Ear) -> None:
    assert stopped_job(runner, ear, "start_others", say=str(ear.path)).stopped


def test_stopping_one_job_leaves_the_others_alone(runner: ThreadStepRunner, ear: Ear) -> None:
    arguments = {"say": str(ear.path)}
    for key in (7, 8):
        start(runner, lambda execution: StepOutcome(succeeded=execution.run_job("hang", arguments).succeeded), key)
    pids = {ear.hear_pid(), ear.hear_pid()}

    runner.stop(HistoryId(7))
    finished(runner, 7)

    assert [lives(pid) for pid in pids].count(True) == 1
    assert next_job_works(runner)
    runner.stop(HistoryId(8))
    finished(runner, 8)


def test_a_forked_copy_that_holds_the_pipes_does_not_hold_the_controller(runner: ThreadStepRunner) -> None:
    end = run_job(runner, "fork_and_die")

    assert end.message == "the job ended its process: exit code 9"
    assert next_job_works(runner)


def test_a_forked_copy_that_comes_back_too_is_ended(runner: ThreadStepRunner) -> None:
    assert run_job(runner, "fork_and_return").value == "parent"
    assert next_job_works(runner)


def test_a_secret_argument_is_resolved_and_never_comes_out_again(runner: ThreadStepRunner) -> None:
    def act(execution: Execution) -> StepOutcome:
        end = execution.run_job("tell", {"password": {"secret": "password"}})
        assert "s3same" in end.output
        return StepOutcome(succeeded=end.succeeded, message=end.message, output=end.output)

    outcome = outcome_of(runner, act)

    assert outcome.message == "ConnectionError: refused: ***"
    assert "connecting with ***" in (outcome.output or "")
    assert "s3same" not in repr(outcome)


def test_a_running_job_is_reported_with_the_process_it_runs_in(runner: ThreadStepRunner, ear: Ear) -> None:
    start(runner, lambda execution: execution.run_job("hang", {"say": str(ear.path)}), 6)
    pid = ear.hear_pid()

    assert spawned(runner).identity.pid == pid

    runner.stop(HistoryId(6))
    finished(runner, 6)


def test_a_plugin_process_that_died_between_jobs_is_replaced(runner: ThreadStepRunner) -> None:
    pid = int(run_job(runner, "whoami").value or 0)
    os.kill(pid, signal.SIGKILL)
    ends(pid)

    assert wait_until_replaced(runner, pid)
    assert next_job_works(runner)


def wait_until_replaced(runner: ThreadStepRunner, pid: int) -> bool:
    # The runner may learn of the death only while it gives the next job away.
    return any(run_job(runner, "whoami").value not in {None, pid} for _ in range(3))


def test_an_in_process_job_may_raise_anything() -> None:
    def leave() -> None:
        raise SystemExit

    end = call_job(Job("leave", leave, in_process=True), {}, Listening(lambda: False))

    assert (end.succeeded, end.message) == (False, "the job called sys.exit(None) instead of returning")
    assert "in leave" in end.output


def any_names(*positional: int, **named: int) -> None:
    """Take anything."""


def two_names(one: int, /, two: int, *, three: int = 3) -> None:
    """Take these."""


def test_how_a_job_may_be_called_is_known_from_its_function() -> None:
    class Broken:
        @property
        def __signature__(self) -> None:
            raise OSError

        def __call__(self) -> None: ...

    assert signature_of(Job("any", any_names)) == JobSignature()
    assert signature_of(Job("broken", Broken(), in_process=True)) == JobSignature(in_process=True)
    assert signature_of(Job("two", two_names, in_process=True)) == JobSignature(
        in_process=True,
        required=frozenset({"one", "two"}),
        accepted=frozenset({"two", "three"}),
        takes_any=False,
    )


def test_jobs_do_not_mix_on_many_threads(runner: ThreadStepRunner) -> None:
    values: list[Any] = []
    together = threading.Barrier(4)

    def act(execution: Execution) -> StepOutcome:
        together.wait(LIMIT)
        values.extend(execution.run_job("add", {"one": number}).value for number in range(20))
        return StepOutcome(succeeded=True)

    for key in range(4):
        start(runner, act, key)
    ended: list[Finished] = []
    while len(ended) < 4:
        ended += [report for report in runner.collect(WAIT) if isinstance(report, Finished)]

    assert sorted(values) == sorted([*range(1, 21)] * 4)
