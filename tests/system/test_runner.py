"""The runner: executions begin, are reported, are stopped, and hurt nobody."""

from __future__ import annotations

import os
import resource
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from batchctl.domain.errors import ConfigurationError
from batchctl.domain.rows import HistoryId
from batchctl.plugin_api import Command, CommandEnd, Execution, Rendered, StepOutcome
from batchctl.ports import Finished, Spawned, Wrote
from batchctl.system.clock import SystemClock
from batchctl.system.concurrency.threads import Threads
from batchctl.system.host import platform
from batchctl.system.plugins.plugin_process import PluginProcess
from batchctl.system.runner import ThreadStepRunner
from tests.system.stepping import KEY, WAIT, Does, finished, outcome_of, run_job, spawned, start
from tests.system.watching import LIMIT, Ear, ends, lives

DONE = StepOutcome(succeeded=True)


def command(*argv: str) -> Callable[[Execution], StepOutcome]:
    def act(execution: Execution) -> StepOutcome:
        end = execution.run_command(argv, directory="/")
        return StepOutcome(succeeded=end.exit_code == 0, message=end.signal_name, output=end.output)

    return act


def hanging(ear: Ear) -> Callable[[Execution], StepOutcome]:
    return command("sh", "-c", f"echo $$ > {ear.path}; exec sleep 600")


def test_an_execution_ends_with_the_handlers_outcome(runner: ThreadStepRunner) -> None:
    outcome = StepOutcome(succeeded=False, message="no", return_code=4, rows_affected=7, fatal=True)

    start(runner, lambda execution: outcome)

    before = SystemClock().now()
    end = finished(runner)

    assert end == Finished(KEY, outcome, None, end.ended_at)
    assert end.ended_at is not None
    assert end.ended_at <= before + timedelta(minutes=1)


def test_a_long_command_is_reported_with_its_process_and_so_is_its_end(runner: ThreadStepRunner, ear: Ear) -> None:
    start(runner, hanging(ear))
    pid = ear.hear_pid()

    report = spawned(runner)
    runner.stop(KEY)
    end = finished(runner)

    assert report == Spawned(KEY, end.identity) if end.identity else False
    assert report.identity.pid == pid
    assert report.identity.pid_start is not None
    assert report.identity.boot_id == platform.boot_id()
    assert report.identity.spawned_at is not None
    assert (end.outcome.succeeded, end.outcome.stopped, end.outcome.message) == (False, True, "SIGTERM")


def test_what_a_handler_shows_is_seen_while_it_runs_without_secrets_and_once(runner: ThreadStepRunner) -> None:
    has_shown, may_end = threading.Event(), threading.Event()

    def act(execution: Execution) -> StepOutcome:
        execution.show(f"logged in with {execution.secret('password')}")
        execution.show("half \ud800 way")
        has_shown.set()
        may_end.wait(LIMIT)
        return DONE

    start(runner, act)
    assert has_shown.wait(LIMIT)
    assert runner.ask_for_output()
    shown = "".join(report.text for report in runner.collect(WAIT) if isinstance(report, Wrote))
    assert runner.ask_for_output()
    more = [report for report in runner.collect(timedelta(0)) if isinstance(report, Wrote)]
    may_end.set()

    assert (shown, more) == ("logged in with ***\nhalf \\ud800 way\n", [])
    assert finished(runner).outcome == DONE


def test_a_short_command_is_reported_once(runner: ThreadStepRunner) -> None:
    start(runner, command("true"))

    end = finished(runner)

    assert end.outcome.succeeded
    assert end.identity is not None
    assert runner.collect(timedelta(0)) == []


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ValueError("bad\nthing"), "the handler itself broke: ValueError: bad\\nthing"),
        (SystemExit(3), "the handler itself broke: SystemExit: 3"),
        (KeyboardInterrupt(), "the handler itself broke: KeyboardInterrupt"),
        (MemoryError(), "the handler itself broke: MemoryError"),
        (GeneratorExit(), "the handler itself broke: GeneratorExit"),
    ],
)
def test_a_handler_that_raises_fails_its_own_step_only(
    runner: ThreadStepRunner, error: BaseException, said: str
) -> None:
    def broken(execution: Execution) -> StepOutcome:
        raise error

    outcome = outcome_of(runner, broken)

    assert (outcome.succeeded, outcome.fatal, outcome.message) == (False, False, said)
    assert "in broken" in (outcome.output or "")
    assert outcome_of(runner, lambda execution: DONE) == DONE


@pytest.mark.parametrize("answer", [None, True, "done", StepOutcome])
def test_a_handler_that_answers_nonsense_fails_its_step(runner: ThreadStepRunner, answer: object) -> None:
    outcome = outcome_of(runner, lambda execution: answer)

    assert outcome.succeeded is False
    assert f"'does' returned {type(answer).__name__}, not StepOutcome" in (outcome.message or "")


@pytest.mark.parametrize("succeeded", ["no", 1, None])
def test_a_success_that_is_neither_true_nor_false_is_none(runner: ThreadStepRunner, succeeded: Any) -> None:
    outcome = outcome_of(runner, lambda execution: StepOutcome(succeeded=succeeded))

    assert outcome.succeeded is False
    assert "not bool" in (outcome.message or "")


@pytest.mark.parametrize(("field", "kind"), [("succeeded", bool), ("message", str), ("return_code", int)])
def test_a_part_that_only_says_of_which_type_it_is_fails_its_step(
    runner: ThreadStepRunner, field: str, kind: type
) -> None:
    proxy: Any = type("Proxy", (), {"__class__": kind})()
    outcome = outcome_of(runner, lambda execution: StepOutcome(**{"succeeded": True, field: proxy}))

    assert outcome.succeeded is False
    assert f"whose `{field}` is Proxy, not {kind.__name__}" in (outcome.message or "")


class Endless(str):
    """A text of which nobody can tell how long it is."""

    __slots__ = ()

    def __len__(self) -> int:
        raise ValueError


@pytest.mark.parametrize("brief", [False, True])
def test_an_outcome_that_breaks_whoever_looks_at_it_fails_its_step(runner: ThreadStepRunner, brief: bool) -> None:
    answer = StepOutcome(succeeded=True, message=Endless("done"))
    runner.start(KEY, Does(lambda execution: answer), Rendered("", {}, brief=brief))
    outcome = finished(runner).outcome

    assert outcome.succeeded is False
    assert "the handler itself broke: ValueError" in (outcome.message or "")


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("rows_affected", 1.5, "float, not int or None"),
        ("rows_affected", "12", "str, not int or None"),
        ("rows_affected", True, "bool, not int or None"),
        ("return_code", "0", "str, not int or None"),
        ("message", b"done", "bytes, not str or None"),
        ("output", ["done"], "list, not str or None"),
        ("value", Decimal(1), "Decimal, not str, int, float, bool or None"),
        ("fatal", 1, "int, not bool"),
        ("stopped", None, "NoneType, not bool"),
        ("lost", "no", "str, not bool"),
    ],
)
def test_an_outcome_with_a_part_of_another_type_fails_its_step(
    runner: ThreadStepRunner, field: str, value: Any, said: str
) -> None:
    outcome = outcome_of(runner, lambda execution: StepOutcome(**{"succeeded": True, field: value}))

    assert (outcome.succeeded, outcome.rows_affected, outcome.return_code) == (False, None, None)
    assert f"'does' returned an outcome whose `{field}` is {said}" in (outcome.message or "")


@pytest.mark.parametrize("number", [2**63, -(2**63) - 1, pytest.param(10**5000, id="huge")])
@pytest.mark.parametrize("field", ["return_code", "rows_affected"])
def test_an_outcome_with_a_number_that_no_row_holds_fails_its_step(
    runner: ThreadStepRunner, field: str, number: Any
) -> None:
    answer = replace(StepOutcome(succeeded=True), **{field: number})
    outcome = outcome_of(runner, lambda execution: answer)

    assert (outcome.succeeded, outcome.rows_affected, outcome.return_code) == (False, None, None)
    assert f"whose `{field}` is no number that fits in 64 bits" in (outcome.message or "")


@pytest.mark.parametrize("number", [2**63 - 1, -(2**63)])
def test_the_greatest_numbers_that_a_row_holds_are_taken(runner: ThreadStepRunner, number: int) -> None:
    answer = StepOutcome(succeeded=True, return_code=number, rows_affected=number, value=10**30)

    assert outcome_of(runner, lambda execution: answer) == answer


def test_what_a_handler_says_is_kept_within_bounds(runner: ThreadStepRunner) -> None:
    told = StepOutcome(succeeded=False, message="m" * 1_000_000, output="begin" + "o" * 1_000_000 + "end")

    outcome = outcome_of(runner, lambda execution: told)

    assert len(outcome.message or "") == 20_000
    assert len(outcome.output or "") < 70_000
    assert (outcome.output or "").startswith("begin")
    assert (outcome.output or "").endswith("end")
    assert "of 1000008 characters left out" in (outcome.output or "")


def test_an_error_meant_for_the_reader_is_shown_as_it_is(runner: ThreadStepRunner) -> None:
    def unconfigured(execution: Execution) -> StepOutcome:
        raise ConfigurationError("Secret 'x' cannot be resolved.", next_step="set it")

    outcome = outcome_of(runner, unconfigured)

    assert outcome == StepOutcome(succeeded=False, message="Secret 'x' cannot be resolved. Next: set it")


def test_what_could_not_be_rendered_ends_as_a_fatal_failure(runner: ThreadStepRunner) -> None:
    runner.refuse(KEY, "{Data3} has no value")

    outcome = StepOutcome(succeeded=False, fatal=True, message="{Data3} has no value")
    assert runner.collect(WAIT) == [Finished(KEY, outcome, None)]


def test_collect_waits_no_longer_than_asked(runner: ThreadStepRunner) -> None:
    assert runner.collect(timedelta(0)) == []
    assert runner.collect(timedelta(milliseconds=5)) == []


def test_collect_ends_early_when_woken_by_a_signal_handler(runner: ThreadStepRunner) -> None:
    with signal_handler(signal.SIGUSR1, runner.wake):
        start(runner, command("sh", "-c", f"kill -USR1 {os.getpid()}; exec sleep 600"))
        while runner.collect(timedelta(hours=1)):
            pass

        runner.stop(KEY)
        assert finished(runner).outcome.stopped


@contextmanager
def signal_handler(number: int, act: Callable[[], None]) -> Iterator[None]:
    before = signal.signal(number, lambda *_: act())
    try:
        yield
    finally:
        signal.signal(number, before)


def test_several_executions_run_side_by_side(runner: ThreadStepRunner) -> None:
    together = threading.Barrier(3)

    def act(execution: Execution) -> StepOutcome:
        together.wait(LIMIT)
        return DONE

    for key in (1, 2, 3):
        start(runner, act, key)
    seen: set[HistoryId] = set()
    while len(seen) < 3:
        seen |= {report.key for report in runner.collect(WAIT)}

    assert seen == {HistoryId(1), HistoryId(2), HistoryId(3)}


def test_more_executions_than_slots_wait_for_their_turn(plugin_process: Callable[[], PluginProcess]) -> None:
    narrow = ThreadStepRunner(
        controller_id="here:1:narrow",
        plugin_process=plugin_process,
        jobs={},
        connections={},
        secrets=str,
        slots=1,
    )
    running: list[int] = []

    def act(execution: Execution) -> StepOutcome:
        running.append(1)
        most = len(running)
        running.pop()
        return StepOutcome(succeeded=True, return_code=most)

    for key in range(50):
        start(narrow, act, key)
    seen: list[Finished] = []
    while len(seen) < 50:
        seen += [report for report in narrow.collect(WAIT) if isinstance(report, Finished)]
    narrow.close()

    assert {report.outcome.return_code for report in seen} == {1}


def test_connections_and_secrets_are_at_hand(runner: ThreadStepRunner) -> None:
    def act(execution: Execution) -> StepOutcome:
        assert execution.connections["warehouse"].url == "sqlite://"
        assert execution.secret("password") == "s3same"
        return DONE

    assert outcome_of(runner, act) == DONE


def test_a_secret_never_comes_out_again(runner: ThreadStepRunner) -> None:
    def act(execution: Execution) -> StepOutcome:
        end = execution.run_command(
            ["sh", "-c", "echo password is $PASSWORD"],
            directory="/",
            environment={"PASSWORD": execution.secret("password")},
        )
        return StepOutcome(succeeded=False, message=f"no: {end.output}", output=end.output, value=end.output)

    outcome = outcome_of(runner, act)

    assert "s3same" not in repr(outcome)
    assert outcome.output == "password is ***\n"


def test_a_secret_is_found_in_its_escaped_form_too(plugin_process: Callable[[], PluginProcess]) -> None:
    keeper = ThreadStepRunner(
        controller_id="here:1:keeper",
        plugin_process=plugin_process,
        jobs={},
        connections={},
        secrets=lambda name: "two\nlines",
    )

    def act(execution: Execution) -> StepOutcome:
        raise ValueError(f"bad key {execution.secret('key')}")

    outcome = outcome_of(keeper, act)
    keeper.close()

    assert outcome.message == "the handler itself broke: ValueError: bad key ***"
    assert "two\nlines" not in (outcome.output or "")


def test_a_plugin_process_that_cannot_be_started_fails_the_step_only(runner: ThreadStepRunner) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    run_job(runner, "add_here", one=1)
    resource.setrlimit(resource.RLIMIT_NOFILE, (len(os.listdir("/proc/self/fd")) - 1, hard))
    try:
        end = run_job(runner, "add", one=1)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))

    assert (end.succeeded, end.fatal) == (False, False)
    assert end.message == "the plugin process cannot be started: [Errno 24] Too many open files"
    assert run_job(runner, "add", one=1).value == 2


def test_on_stop_is_called_once_from_another_thread(runner: ThreadStepRunner) -> None:
    calls: list[int] = []
    told = threading.Event()
    begun = threading.Event()

    def stop() -> None:
        calls.append(threading.get_ident())
        told.set()

    def act(execution: Execution) -> StepOutcome:
        execution.on_stop(stop)
        begun.set()
        told.wait(LIMIT)
        return StepOutcome(succeeded=not execution.stopping, return_code=threading.get_ident())

    start(runner, act)
    begun.wait(LIMIT)
    runner.stop(KEY)
    runner.stop(KEY)
    outcome = finished(runner).outcome

    assert (outcome.succeeded, outcome.stopped) == (False, True)
    assert len(calls) == 1
    assert calls[0] != outcome.return_code


def test_on_stop_is_called_also_when_the_stop_came_before(runner: ThreadStepRunner) -> None:
    stopped = threading.Event()
    called = threading.Event()

    def act(execution: Execution) -> StepOutcome:
        stopped.wait(LIMIT)
        execution.on_stop(called.set)
        return StepOutcome(succeeded=called.wait(LIMIT))

    start(runner, act)
    runner.stop(KEY)
    stopped.set()

    assert finished(runner).outcome.succeeded


def test_an_on_stop_that_raises_changes_nothing(runner: ThreadStepRunner) -> None:
    tried = threading.Event()

    def stop() -> None:
        tried.set()
        raise ValueError

    def act(execution: Execution) -> StepOutcome:
        execution.on_stop(stop)
        return StepOutcome(succeeded=tried.wait(LIMIT))

    start(runner, act)
    runner.stop(KEY)

    assert finished(runner).outcome.succeeded


def test_stopping_what_has_ended_or_never_was_changes_nothing(runner: ThreadStepRunner) -> None:
    outcome_of(runner, lambda execution: DONE)

    runner.stop(KEY)
    runner.stop(HistoryId(99))

    assert runner.collect(timedelta(0)) == []


def test_a_success_stands_even_when_a_stop_was_on_its_way(runner: ThreadStepRunner) -> None:
    stopped = threading.Event()

    def act(execution: Execution) -> StepOutcome:
        stopped.wait(LIMIT)
        return DONE

    start(runner, act)
    runner.stop(KEY)
    stopped.set()

    assert finished(runner).outcome == DONE


def test_a_command_that_could_not_start_is_an_end_like_any_other(runner: ThreadStepRunner) -> None:
    seen: list[CommandEnd] = []

    def act(execution: Execution) -> StepOutcome:
        seen.append(execution.run_command(["./none"], directory="/"))
        return DONE

    start(runner, act)
    report = finished(runner)

    assert seen == [CommandEnd(not_started="command './none' not found")]
    assert report.identity is None


def test_closing_stops_what_still_runs(runner: ThreadStepRunner, ear: Ear) -> None:
    start(runner, hanging(ear))
    pid = ear.hear_pid()

    runner.close()

    assert not lives(pid)


def test_closing_ends_the_plugin_processes(runner: ThreadStepRunner) -> None:
    pid = int(run_job(runner, "whoami").value or 0)
    assert lives(pid)

    runner.close()

    assert ends(pid)


def test_one_plugin_process_serves_one_job_after_the_other(runner: ThreadStepRunner) -> None:
    assert run_job(runner, "whoami").value == run_job(runner, "whoami").value


def test_jobs_at_the_same_time_have_a_process_each(runner: ThreadStepRunner, ear: Ear) -> None:
    start(
        runner, lambda execution: StepOutcome(succeeded=execution.run_job("hang", {"say": str(ear.path)}).succeeded), 9
    )
    ear.hear_pid()

    assert run_job(runner, "add", one=1).value == 2
    runner.stop(HistoryId(9))
    assert finished(runner, 9).outcome.stopped


@pytest.fixture
def one_slot(
    controller_id: str, plugin_process: Callable[[], PluginProcess], state: Path
) -> Iterator[ThreadStepRunner]:
    """A runner that carries out one thing at a time, and is soon out of patience."""
    made = ThreadStepRunner(
        controller_id=controller_id,
        plugin_process=plugin_process,
        jobs={},
        connections={},
        secrets=str,
        slots=1,
        stop_grace=timedelta(seconds=0.1),
        patience=timedelta(seconds=0.1),
        state_directory=state,
    )
    yield made
    made.close()


def test_what_takes_no_notice_of_a_stop_is_given_up_as_lost_and_its_slot_is_free(one_slot: ThreadStepRunner) -> None:
    running, go_on = threading.Event(), threading.Event()

    def deaf(execution: Execution) -> StepOutcome:
        running.set()
        go_on.wait()
        return DONE

    start(one_slot, deaf)
    assert running.wait(LIMIT)
    one_slot.stop(KEY)
    lost = finished(one_slot).outcome
    start(one_slot, lambda execution: DONE, 2)
    next_one = finished(one_slot, 2).outcome

    assert lost.message == "was told to stop and did not end; whether it was done is not known"
    assert (lost.lost, lost.succeeded) == (True, False)
    assert next_one == DONE

    go_on.set()
    assert finished(one_slot).outcome == DONE, "it is told how it has ended after all, and one slot is one slot again"
    for key in (3, 4):
        start(one_slot, lambda execution: DONE, key)
        assert finished(one_slot, key).outcome == DONE
    assert one_slot.collect(timedelta(0)) == []


def test_an_end_that_nobody_has_heard_of_yet_counts_however_long_ago_it_was_told_to_stop(
    one_slot: ThreadStepRunner,
) -> None:
    go_on, ends = threading.Event(), threading.Event()

    def late(execution: Execution) -> StepOutcome:
        assert go_on.wait(LIMIT)
        ends.set()
        return DONE

    start(one_slot, late)
    one_slot.stop(KEY)
    go_on.set()
    assert ends.wait(LIMIT)
    # As if this process had stood still meanwhile: its patience is over, and the end lies there.
    threading.Event().wait(0.5)

    assert finished(one_slot).outcome == DONE


class DeafOrder(Does):
    """A handler that does not come to its command, and takes no notice of a stop."""

    def __init__(self) -> None:
        super().__init__(lambda execution: DONE)
        self.running, self.go_on = threading.Event(), threading.Event()

    def is_one_command(self, rendered: Rendered) -> bool:
        return True

    def command(self, rendered: Rendered, execution: Execution) -> Command:
        self.running.set()
        self.go_on.wait()
        return Command(argv=("false",), directory="/")

    def outcome(self, rendered: Rendered, end: CommandEnd) -> StepOutcome:
        return DONE


def test_what_does_not_come_to_its_command_is_given_up_too_and_the_command_never_started(
    one_slot: ThreadStepRunner,
) -> None:
    deaf = DeafOrder()
    one_slot.start(KEY, deaf, Rendered("deaf", {}))
    assert deaf.running.wait(LIMIT)
    one_slot.stop(KEY)

    assert finished(one_slot).outcome.lost
    deaf.go_on.set()
    for key in (3, 4):
        start(one_slot, lambda execution: DONE, key)
        assert finished(one_slot, key).outcome == DONE
    assert one_slot.collect(timedelta(0)) == []


@pytest.mark.parametrize("others", [0, 1, 3])
def test_what_was_given_up_and_ends_after_all_leaves_as_many_threads_as_there_were(others: int) -> None:
    threads, go_on, done = Threads("test", most=1), threading.Event(), threading.Semaphore(0)

    def hold() -> None:
        go_on.wait()
        done.release()

    threads.run(hold)
    threads.give_up_one()
    for _ in range(others):
        threads.run(done.release)
        assert done.acquire(timeout=LIMIT)
    go_on.set()
    assert done.acquire(timeout=LIMIT)
    threads.take_back_one()

    for _ in range(3):
        threads.run(done.release)
        assert done.acquire(timeout=LIMIT)
    threads.close()


def test_who_ends_waits_for_no_thread_that_was_given_up() -> None:
    threads, go_on = Threads("test"), threading.Event()

    def hold() -> None:
        go_on.wait()

    threads.run(hold)
    threads.run(lambda: None)
    threads.give_up_one()
    threads.close()
    ending = threading.Thread(target=threads.join, args=(threading.TIMEOUT_MAX / 2,), daemon=True)
    ending.start()
    ending.join(LIMIT)

    assert not ending.is_alive()
    go_on.set()


def test_what_ends_within_the_grace_time_is_not_given_up(one_slot: ThreadStepRunner) -> None:
    stopped = threading.Event()

    def obedient(execution: Execution) -> StepOutcome:
        execution.on_stop(stopped.set)
        assert stopped.wait(LIMIT)
        return StepOutcome(succeeded=False, stopped=True, message="stopped")

    start(one_slot, obedient)
    one_slot.stop(KEY)

    assert finished(one_slot).outcome == StepOutcome(succeeded=False, stopped=True, message="stopped")
