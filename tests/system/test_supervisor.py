"""Commands outlive their worker: what the next worker finds, and what it does with it."""

from __future__ import annotations

import errno
import os
import signal
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from batchctl.domain.rows import HistoryId
from batchctl.ports import Finished, Trace
from batchctl.system.clock import SystemClock
from batchctl.system.commands import journal
from batchctl.system.host import platform
from batchctl.system.runner import ThreadStepRunner
from tests.leftovers import children_of
from tests.system.stepping import KEY, finished, spawned
from tests.system.watching import LIMIT, Ear, ends, lives, name_of
from tests.system.workers import BRIEF, Shell, Worker, entry, supervisor_in, until

Employ = Callable[..., Worker]


@pytest.fixture
def employ(controller_id: str, state: Path) -> Iterator[Employ]:
    """Start workers that do not outlive the test."""
    employed: list[Worker] = []

    def employ(steps: dict[int, str], *, lease: float | None = None) -> Worker:
        employed.append(Worker(f"{controller_id}-{len(employed)}", state, steps, lease=lease))
        return employed[-1]

    yield employ
    for worker in employed:
        worker.remove()


def adopt(runner: ThreadStepRunner, worker: Worker, key: int = KEY) -> None:
    assert runner.examine(entry(key, worker.name), Shell(""), BRIEF) is Trace.ADOPTABLE
    runner.adopt(HistoryId(key), Shell(""), BRIEF, entry(key, worker.name))


def has_ended(worker: Worker, key: int = KEY) -> Callable[[], bool]:
    return lambda: key in journal.read(worker.place).ended


def test_a_command_that_ends_while_no_worker_is_there_is_recorded_as_it_ended(  # A07
    runner: ThreadStepRunner, employ: Employ, ear: Ear, tmp_path: Path
) -> None:
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    worker = employ({1: f"echo working; echo $$ > {ear.path}; read x < {gate}; echo done; exit 3"})
    pid = ear.hear_pid()
    worker.die()
    before = SystemClock().now()
    gate.write_text("go\n", encoding="ascii")
    assert ends(pid)
    until(runner, lambda: not journal.is_locked(worker.place))
    after = SystemClock().now()

    adopt(runner, worker)
    end = finished(runner)

    assert (end.outcome.return_code, end.outcome.output) == (3, "working\ndone\n")
    assert end.identity is not None
    assert end.identity.pid == pid
    assert end.ended_at is not None
    assert before <= end.ended_at <= after + timedelta(milliseconds=1)


def test_a_command_that_is_still_alive_is_watched_to_its_end(  # A06
    runner: ThreadStepRunner, employ: Employ, ear: Ear, tmp_path: Path
) -> None:
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    worker = employ({1: f"echo $$ > {ear.path}; read x < {gate}; exit 4"})
    pid = ear.hear_pid()
    worker.die()

    adopt(runner, worker)
    assert spawned(runner).identity.pid == pid
    gate.write_text("go\n", encoding="ascii")

    assert finished(runner).outcome.return_code == 4


def test_an_adopted_command_can_be_stopped_wherever_its_processes_have_gone(
    runner: ThreadStepRunner, employ: Employ, ear: Ear
) -> None:
    escaped = f"setsid sh -c 'echo $$ > {ear.path}; exec sleep 600'"
    worker = employ({1: f"{escaped} & echo $$ > {ear.path}; exec sleep 600"})
    pids = {ear.hear_pid(), ear.hear_pid()}
    worker.die()

    adopt(runner, worker)
    runner.stop(KEY)
    outcome = finished(runner).outcome

    assert (outcome.stopped, outcome.message) == (True, "SIGTERM")
    assert all(ends(pid) for pid in pids)


def test_what_was_adopted_is_adopted_again_when_the_adopter_dies_too(
    runner: ThreadStepRunner, employ: Employ, ear: Ear
) -> None:
    first, second = employ({1: f"echo $$ > {ear.path}; exec sleep 600"}), employ({})
    pid = ear.hear_pid()
    first.die()
    second.die()

    # The tables name who began it, whoever has adopted it since.
    assert runner.examine(entry(1, first.name), Shell(""), BRIEF) is Trace.ADOPTABLE
    runner.adopt(KEY, Shell(""), BRIEF, entry(1, first.name))
    os.kill(pid, signal.SIGKILL)

    assert finished(runner).outcome.message == "SIGKILL"


def test_a_supervisor_killed_with_its_worker_leaves_a_lost_command_that_is_stopped(  # A10
    runner: ThreadStepRunner, employ: Employ, ear: Ear
) -> None:
    worker = employ({1: f"setsid sleep 600 & echo $! > {ear.path}; echo $$ > {ear.path}; exec sleep 600"})
    pids = {ear.hear_pid(), ear.hear_pid()}
    worker.hear_process(1)
    worker.die()
    os.kill(supervisor_in(worker.place) or 0, signal.SIGKILL)
    until(runner, lambda: not journal.is_locked(worker.place))

    assert runner.examine(entry(1, worker.name), Shell(""), BRIEF) is Trace.LEFT_OVER
    assert all(lives(pid) for pid in pids), "whoever only looks stops nothing"

    assert pids <= set(runner.stop_left_over(entry(1, worker.name), Shell(""), BRIEF))

    assert all(ends(pid) for pid in pids)


def test_a_supervisor_killed_while_the_command_is_adopted_makes_it_lost(
    runner: ThreadStepRunner, employ: Employ, ear: Ear
) -> None:
    worker = employ({1: f"echo $$ > {ear.path}; exec sleep 600"})
    pid = ear.hear_pid()
    worker.die()
    adopt(runner, worker)

    os.kill(supervisor_in(worker.place) or 0, signal.SIGKILL)
    outcome = finished(runner).outcome

    assert (outcome.succeeded, outcome.lost) == (False, True)
    assert f"process {pid}" in (outcome.message or "")
    assert ends(pid)


def test_a_supervisor_killed_beside_its_worker_loses_what_it_carried_and_is_replaced(  # A09
    runner: ThreadStepRunner, controller_id: str, state: Path, ear: Ear
) -> None:
    runner.start(KEY, Shell(f"echo $$ > {ear.path}; exec sleep 600"), BRIEF)
    pid = ear.hear_pid()
    place = journal.place_of(state, controller_id)
    first = supervisor_in(place) or 0

    os.kill(first, signal.SIGKILL)
    outcome = finished(runner).outcome

    assert (outcome.succeeded, outcome.lost) == (False, True)
    assert "was ended" in (outcome.message or "")
    assert ends(pid)
    runner.start(HistoryId(2), Shell("exit 5"), BRIEF)
    assert finished(runner, 2).outcome.return_code == 5
    assert supervisor_in(place) != first


def test_what_a_killed_supervisor_had_not_begun_is_begun_by_the_next(
    runner: ThreadStepRunner, controller_id: str, state: Path
) -> None:
    runner.start(KEY, Shell("true"), BRIEF)
    assert finished(runner).outcome.succeeded
    supervisor = supervisor_in(journal.place_of(state, controller_id)) or 0
    os.kill(supervisor, signal.SIGSTOP)

    runner.start(HistoryId(2), Shell("exit 6"), BRIEF)
    os.kill(supervisor, signal.SIGKILL)

    assert finished(runner, 2).outcome.return_code == 6


def test_what_was_stopped_before_its_supervisor_began_it_is_not_begun_by_the_next(
    runner: ThreadStepRunner, controller_id: str, state: Path, tmp_path: Path
) -> None:
    runner.start(KEY, Shell("true"), BRIEF)
    assert finished(runner).outcome.succeeded
    supervisor = supervisor_in(journal.place_of(state, controller_id)) or 0
    os.kill(supervisor, signal.SIGSTOP)

    runner.start(HistoryId(2), Shell(f"touch {tmp_path / 'traces'}"), BRIEF)
    runner.stop(HistoryId(2))
    os.kill(supervisor, signal.SIGKILL)
    outcome = finished(runner, 2).outcome

    assert (outcome.stopped, outcome.message) == (True, "the step was told to stop before the command was started")
    assert not (tmp_path / "traces").exists()


def test_a_supervisor_that_cannot_be_started_puts_the_step_back_and_no_other(  # A19
    runner: ThreadStepRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EAGAIN, os.strerror(errno.EAGAIN))

    before = len(os.listdir("/proc/self/fd"))
    with monkeypatch.context() as without:
        without.setattr(platform, "start_outliving", refuse)
        runner.start(KEY, Shell("true"), BRIEF)
        end = finished(runner)

    assert end.never_ran
    assert end.outcome.message == f"not started: its supervisor cannot be started: {os.strerror(errno.EAGAIN)}"
    assert len(os.listdir("/proc/self/fd")) == before
    runner.start(HistoryId(2), Shell("exit 4"), BRIEF)
    other = finished(runner, 2)
    assert (other.never_ran, other.outcome.return_code) == (False, 4)


def test_orders_of_a_worker_that_died_at_once_are_carried_out_once(
    runner: ThreadStepRunner, employ: Employ, tmp_path: Path
) -> None:
    traces = tmp_path / "traces"
    worker = employ({1: "true", 2: f"echo ran >> {traces}"})
    worker.hear_end(1)
    worker.die()
    until(runner, lambda: not journal.is_locked(worker.place))

    assert runner.examine(entry(2, worker.name), Shell(""), BRIEF) is Trace.ADOPTABLE
    assert runner.examine(entry(3, worker.name), Shell(""), BRIEF) is Trace.NEVER_RAN
    assert traces.read_text(encoding="ascii") == "ran\n"


def test_a_frozen_worker_cannot_begin_what_was_found_never_to_have_run(
    runner: ThreadStepRunner, plugin_process: Callable[[], object], controller_id: str, state: Path, tmp_path: Path
) -> None:
    frozen = ThreadStepRunner(
        controller_id=f"{controller_id}-frozen",
        plugin_process=plugin_process,  # type: ignore[arg-type]
        jobs={},
        connections={},
        secrets=lambda name: name,
        state_directory=state,
    )
    assert runner.examine(entry(1, f"{controller_id}-frozen"), Shell(""), BRIEF) is Trace.NEVER_RAN

    frozen.start(KEY, Shell(f"touch {tmp_path / 'traces'}"), BRIEF)
    outcome = finished(frozen).outcome
    frozen.close()

    assert "another worker has taken over the work of this one" in (outcome.message or "")
    assert not (tmp_path / "traces").exists()


def test_a_frozen_workers_leashed_commands_are_stopped_when_its_lease_is_over(  # A13
    runner: ThreadStepRunner, employ: Employ, ear: Ear
) -> None:
    worker = employ(
        {1: f"echo $$ > {ear.path}; exec sleep 600", 2: f"echo $$ > {ear.path}; exec sleep 600"},
        lease=SystemClock().monotonic() + LIMIT,
    )
    pids = {ear.hear_pid(), ear.hear_pid()}
    worker.let_lease_end(ear)
    worker.freeze()

    assert all(ends(pid) for pid in pids)
    until(runner, has_ended(worker))
    assert journal.read(worker.place).ended[1]["stopped"]


def test_an_end_that_came_before_the_order_to_stop_counts(
    runner: ThreadStepRunner, controller_id: str, state: Path, ear: Ear, tmp_path: Path
) -> None:
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    runner.keep_lease(SystemClock().monotonic() + 600)
    runner.start(KEY, Shell(f"echo $$ > {ear.path}; read x < {gate}; exit 0"), BRIEF, lease_bound=True)
    pid, supervisor = ear.hear_pid(), supervisor_in(journal.place_of(state, controller_id))
    assert supervisor is not None
    os.kill(supervisor, signal.SIGSTOP)
    gate.write_text("go\n", encoding="ascii")
    assert ends(pid)
    runner.keep_lease(SystemClock().monotonic() - 1)
    runner.stop(KEY)
    os.kill(supervisor, signal.SIGCONT)
    outcome = finished(runner).outcome

    assert (outcome.succeeded, outcome.return_code, outcome.stopped) == (True, 0, False)


@pytest.mark.parametrize("lease_bound", [True, False])
def test_without_a_leash_a_command_goes_on_beyond_the_lease_and_none_is_begun_then(
    runner: ThreadStepRunner, ear: Ear, tmp_path: Path, lease_bound: bool
) -> None:
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    runner.keep_lease(SystemClock().monotonic() + 600)
    runner.start(KEY, Shell(f"echo $$ > {ear.path}; read x < {gate}; exit 7"), BRIEF)
    ear.hear_pid()
    runner.keep_lease(SystemClock().monotonic() - 1)
    runner.start(HistoryId(2), Shell("exit 8"), BRIEF, lease_bound=lease_bound)

    assert "has lost touch with the database" in (finished(runner, 2).outcome.message or "")
    gate.write_text("go\n", encoding="ascii")
    assert finished(runner).outcome.return_code == 7


def test_whoever_adopts_a_leashed_command_vouches_for_it(runner: ThreadStepRunner, employ: Employ, ear: Ear) -> None:
    worker = employ(
        {1: f"echo $$ > {ear.path}; exec sleep 600", 2: f"echo $$ > {ear.path}; exec sleep 600"},
        lease=SystemClock().monotonic() + LIMIT,
    )
    assert {ear.hear_pid(), ear.hear_pid()}
    over = worker.let_lease_end(ear)
    worker.die()
    runner.keep_lease(over + LIMIT)
    runner.adopt(KEY, Shell(""), BRIEF, entry(1, worker.name), lease_bound=True)

    until(runner, has_ended(worker, 2))

    assert 1 not in journal.read(worker.place).ended
    runner.stop(KEY)
    assert finished(runner).outcome.stopped


def test_who_was_frozen_while_it_adopted_shortens_no_lease(runner: ThreadStepRunner, employ: Employ, ear: Ear) -> None:
    worker = employ({1: f"echo $$ > {ear.path}; exec sleep 600"})
    ear.hear_pid()
    worker.die()
    now = SystemClock().monotonic()
    journal.vouch(worker.place, 1, now + LIMIT)
    runner.keep_lease(now - 1)

    runner.adopt(KEY, Shell(""), BRIEF, entry(1, worker.name), lease_bound=True)

    assert journal.lease_of(worker.place, 1) == now + LIMIT
    runner.stop(KEY)
    assert finished(runner).outcome.stopped


def test_what_was_let_go_goes_on_and_is_remembered_for_its_adopter(
    runner: ThreadStepRunner, controller_id: str, state: Path, ear: Ear, tmp_path: Path
) -> None:
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    runner.start(KEY, Shell(f"echo $$ > {ear.path}; read x < {gate}; exit 9"), BRIEF)
    pid = ear.hear_pid()

    runner.let_go(KEY)
    runner.close()

    assert lives(pid)
    gate.write_text("go\n", encoding="ascii")
    assert ends(pid)
    place = journal.place_of(state, controller_id)
    supervisor = supervisor_in(place)
    assert supervisor is None or ends(supervisor)
    assert journal.read(place).ended[KEY]["exit_code"] == 9


def test_commands_are_left_to_their_supervisor_on_request(
    runner: ThreadStepRunner, controller_id: str, state: Path, ear: Ear
) -> None:
    runner.start(KEY, Shell(f"echo $$ > {ear.path}; exec sleep 600"), BRIEF)
    pid = ear.hear_pid()

    runner.close(leave=True)

    assert lives(pid)
    os.kill(pid, signal.SIGKILL)
    place = journal.place_of(state, controller_id)
    assert ends(supervisor_in(place) or 0)
    assert journal.read(place).ended[KEY]["signal_name"] == "SIGKILL"


def test_closing_stops_commands_and_forgets_what_is_recorded(
    runner: ThreadStepRunner, controller_id: str, state: Path, ear: Ear
) -> None:
    runner.start(KEY, Shell("true"), BRIEF)
    finished(runner)
    runner.recorded([KEY])
    supervisor = supervisor_in(journal.place_of(state, controller_id)) or 0

    runner.close()

    assert not lives(supervisor)
    assert not journal.place_of(state, controller_id).exists()


def test_a_dead_worker_is_forgotten_once_nothing_it_knows_matters(runner: ThreadStepRunner, employ: Employ) -> None:
    worker = employ({1: "true"})
    worker.hear_end(1)
    runner.tidy([], [])
    assert worker.place.exists(), "its supervisor lives"
    worker.die()
    until(runner, lambda: not journal.is_locked(worker.place))

    runner.tidy([worker.name], [])
    runner.tidy([], [HistoryId(1), HistoryId(2)])
    assert worker.place.exists()
    runner.tidy([], [HistoryId(2)])
    assert not worker.place.exists()
    assert runner.examine(entry(1, worker.name), Shell(""), BRIEF) is Trace.UNSEEN


def test_a_worker_that_is_about_to_enter_itself_is_not_forgotten(runner: ThreadStepRunner, employ: Employ) -> None:
    worker = employ({})
    others = {worker.place}
    until(runner, lambda: others <= journal.places(worker.place.parent) and bool(journal.read(worker.place).pid))

    runner.tidy([], [])
    assert worker.place.exists()
    worker.die()
    runner.tidy([], [])

    assert not worker.place.exists()
    assert len(journal.places(worker.place.parent)) == 1, "it does not forget itself"


def test_a_supervisor_is_out_of_reach_of_the_terminal(
    runner: ThreadStepRunner, controller_id: str, state: Path, ear: Ear
) -> None:
    runner.start(KEY, Shell(f"echo $$ > {ear.path}; exec sleep 600"), BRIEF)
    pid = ear.hear_pid()
    supervisor = supervisor_in(journal.place_of(state, controller_id)) or 0

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        os.kill(supervisor, number)

    assert os.getsid(supervisor) == supervisor != os.getsid(0)
    assert os.getsid(pid) == pid
    runner.stop(KEY)
    assert finished(runner).outcome.message == "SIGTERM"


def test_a_flood_of_output_passes_while_the_worker_is_frozen(
    runner: ThreadStepRunner, employ: Employ, ear: Ear
) -> None:
    worker = employ({1: f"echo $$ > {ear.path}; head -c 50000000 /dev/zero | tr '\\0' x; echo done"})
    ear.hear_pid()
    worker.freeze()

    until(runner, has_ended(worker))

    output = journal.read(worker.place).ended[1]["output"]
    assert output.endswith("xdone\n")
    assert "bytes left out" in output
    assert len(output) < 70_000


def test_a_secret_is_never_written_down(runner: ThreadStepRunner, controller_id: str, state: Path) -> None:
    runner.start(KEY, Shell('echo "<$PASSWORD>"; exit 1'), BRIEF)

    output = finished(runner).outcome.output or ""

    assert output == "<***>\n"
    for file in journal.place_of(state, controller_id).iterdir():
        assert b"s3same" not in file.read_bytes()


def test_a_thousand_commands_leave_nothing_behind(runner: ThreadStepRunner, controller_id: str, state: Path) -> None:
    place = journal.place_of(state, controller_id)
    sizes, opened = [], []
    supervisor = 0
    for key in range(1, 1001):
        runner.start(HistoryId(key), Shell("exit 0" if key % 2 else "nowhere-to-be-found"), BRIEF)
        reports = [report for report in runner.collect(timedelta(seconds=LIMIT)) if isinstance(report, Finished)]
        while not reports:
            reports = [report for report in runner.collect(timedelta(seconds=LIMIT)) if isinstance(report, Finished)]
        runner.recorded([HistoryId(key)])
        if key % 100 == 0:
            sizes.append((place / "journal").stat().st_size)
            supervisor = supervisor_in(place) or 0
            opened.append((len(os.listdir("/proc/self/fd")), len(os.listdir(f"/proc/{supervisor}/fd"))))

    assert max(sizes) < 100_000
    assert len(set(opened)) == 1
    assert [name_of(child) for child in children_of(supervisor)] == ["batchctl-warden"]
    assert platform.started(supervisor) is not None


def test_a_step_of_a_worker_without_a_journal_is_not_seen(runner: ThreadStepRunner, controller_id: str) -> None:
    assert runner.examine(entry(1, f"{controller_id}-elsewhere"), Shell(""), BRIEF) is Trace.UNSEEN


@pytest.mark.parametrize("is_recorded", [True, False])
def test_a_step_whose_journal_is_elsewhere_is_not_decided_upon_while_it_runs(
    runner: ThreadStepRunner, controller_id: str, tmp_path: Path, ear: Ear, is_recorded: bool
) -> None:
    # Another user's controller, or one with another configuration. Its process may have cleared its environment.
    clearing = "env -i " if is_recorded else ""
    worker = Worker(
        f"{controller_id}-other", tmp_path / "elsewhere", {1: f"echo $$ > {ear.path}; exec {clearing}sleep 600"}
    )
    pid = ear.hear_pid()
    worker.die()
    begun = entry(1, worker.name)
    if is_recorded:
        begun = replace(begun, pid=pid, pid_start=platform.started(pid), boot_id=platform.boot_id())

    try:
        assert runner.examine(begun, Shell(""), BRIEF) is Trace.UNCLEAR
        assert list(runner.seen_alive(begun)) == [pid]
    finally:
        os.kill(pid, signal.SIGKILL)
    assert ends(pid)
    assert runner.examine(begun, Shell(""), BRIEF) is Trace.UNSEEN
    until(runner, lambda: not journal.is_locked(worker.place))


def test_a_later_process_of_the_same_number_is_not_the_step(runner: ThreadStepRunner, controller_id: str) -> None:
    recorded = replace(
        entry(1, f"{controller_id}-elsewhere"), pid=os.getppid(), pid_start="1", boot_id=platform.boot_id()
    )

    assert runner.examine(recorded, Shell(""), BRIEF) is Trace.UNSEEN
