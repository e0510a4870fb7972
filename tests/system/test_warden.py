"""When a supervisor is killed with its worker, its warden stops what others may repeat by the end of the lease."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from batchctl.ports import Trace
from batchctl.system.commands import journal
from batchctl.system.commands.warden import Lease, Warden, stop_in_time
from batchctl.system.concurrency.loops import new_loop
from batchctl.system.host.cookies import COOKIE, cookie_of
from batchctl.system.runner import ThreadStepRunner
from tests.system.watching import LIMIT, Ear, ends, lives
from tests.system.workers import BRIEF, Shell, Worker, entry, supervisor_in, until, warden_of

Employ = Callable[..., Worker]


@pytest.fixture
def employ(controller_id: str, state: Path) -> Iterator[Employ]:
    """Start a worker that does not outlive the test, and nothing of it does."""

    employed: list[Worker] = []

    def employ(*scripts: str, free: tuple[int, ...] = ()) -> Worker:
        steps = dict(enumerate(scripts, 1))
        employed.append(Worker(f"{controller_id}-dead", state, steps, lease=time.monotonic() + LIMIT, free=free))
        return employed[-1]

    yield employ
    for worker in employed:
        worker.remove()


def kill_with_supervisor(worker: Worker) -> int:
    """Kill a worker and its supervisor together; return the warden, which is alone from then on."""
    supervisor = supervisor_in(worker.place)
    assert supervisor is not None
    warden = warden_of(supervisor)
    assert warden is not None
    worker.process.kill()
    os.kill(supervisor, signal.SIGKILL)
    worker.die()
    return warden


@pytest.mark.parametrize(
    "script",
    [
        "echo $$ > {ear}; exec sleep 600",
        "trap '' TERM; echo $$ > {ear}; while :; do sleep 0.01; done",
        "setsid sleep 600 & echo $! > {ear}; exec sleep 600",
        "exec env -i sh -c 'echo $$ > {ear}; exec sleep 600'",
    ],
    ids=["listens", "ignores TERM", "has left its group", "has cleared its environment"],
)
def test_a_command_that_others_may_repeat_is_stopped_once_the_lease_is_over(
    employ: Employ, ear: Ear, script: str
) -> None:
    worker = employ(script.format(ear=ear.path))
    pid = ear.hear_pid()
    worker.hear_process(1)
    over = worker.let_lease_end(ear)
    warden = kill_with_supervisor(worker)

    assert ends(pid)
    assert time.monotonic() >= over, "until then a controller of the host may look at it"
    assert ends(warden)


def test_a_command_is_stopped_too_whose_worker_stands_still_when_its_supervisor_is_killed(
    employ: Employ, ear: Ear
) -> None:
    worker = employ(f"echo $$ > {ear.path}; exec sleep 600")
    pid = ear.hear_pid()
    worker.let_lease_end(ear)
    worker.freeze()
    os.kill(supervisor_in(worker.place) or 0, signal.SIGKILL)

    assert ends(pid)


def test_a_command_that_no_other_may_repeat_runs_on_until_a_controller_decides(
    runner: ThreadStepRunner, employ: Employ, ear: Ear
) -> None:
    worker = employ("exec sleep 600", f"echo $$ > {ear.path}; exec sleep 600", free=(2,))
    pid = ear.hear_pid()
    worker.let_lease_end(ear)
    warden = kill_with_supervisor(worker)

    assert ends(warden)
    assert lives(pid)
    assert runner.examine(entry(2, worker.name), Shell(""), BRIEF) is Trace.LEFT_OVER
    assert list(runner.stop_left_over(entry(2, worker.name), Shell(""), BRIEF)) == [pid]


def test_several_commands_that_do_not_listen_are_stopped_side_by_side(employ: Employ, ear: Ear) -> None:
    deaf = f"trap '' TERM; echo $$ > {ear.path}; while :; do sleep 0.01; done"
    worker = employ(deaf, deaf, deaf)
    pids = [ear.hear_pid() for _ in range(3)]
    worker.let_lease_end(ear)
    warden = kill_with_supervisor(worker)

    assert all(ends(pid) for pid in pids)
    assert ends(warden)


def test_a_warden_that_is_killed_is_followed_by_another_one(runner: ThreadStepRunner, employ: Employ, ear: Ear) -> None:
    worker = employ(f"echo $$ > {ear.path}; exec sleep 600")
    pid = ear.hear_pid()
    supervisor = supervisor_in(worker.place) or 0
    first = warden_of(supervisor) or 0
    os.kill(first, signal.SIGKILL)
    until(runner, lambda: warden_of(supervisor) not in {None, first})
    worker.let_lease_end(ear)
    kill_with_supervisor(worker)

    assert ends(pid)


def test_a_warden_keeps_nothing_open_by_which_others_tell_whether_its_supervisor_lives(
    employ: Employ, ear: Ear
) -> None:
    worker = employ(f"echo $$ > {ear.path}; exec sleep 600")
    ear.hear_pid()
    warden = warden_of(supervisor_in(worker.place) or 0)
    opened = {os.path.realpath(f"/proc/{warden}/fd/{number}") for number in os.listdir(f"/proc/{warden}/fd")}
    pipes = {path for path in opened if "pipe:" in path}

    assert len(pipes) == 1
    assert opened - pipes == {os.devnull, str(worker.place / "trouble")}
    assert os.getsid(warden or 0) == warden


def test_a_supervisor_that_has_done_its_work_ends_with_its_warden(employ: Employ, ear: Ear, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    worker = employ(f"echo $$ > {ear.path}; read x < {gate}")
    pid, supervisor = ear.hear_pid(), supervisor_in(worker.place) or 0
    warden = warden_of(supervisor) or 0
    worker.die()
    gate.write_text("go\n", encoding="ascii")

    assert all(ends(one) for one in (pid, supervisor, warden))
    assert journal.read(worker.place).ended[1]["exit_code"] == 0
    assert (worker.place / "trouble").read_bytes() == b""


@pytest.fixture
def left(controller_id: str) -> Iterator[Callable[[int], int]]:
    """Start what a supervisor has left of a command."""
    started: list[subprocess.Popen[bytes]] = []

    def start(key: int) -> int:
        environment = {**os.environ, COOKIE: cookie_of(controller_id, key)}
        started.append(subprocess.Popen(["sleep", "600"], env=environment, start_new_session=True))
        return started[-1].pid

    yield start
    for process in started:
        process.kill()
        process.wait()


def journal_with(state: Path, controller_id: str, *records: dict[str, object]) -> Path:
    place = journal.place_of(state, controller_id)
    journal.prepare(place, controller_id)
    with (place / "journal").open("ab") as file:
        file.writelines(journal.line_of(record) for record in records)
    return place


def start(key: int) -> dict[str, object]:
    return {"start": key, "leashed": True}


def over() -> Lease:
    """A lease that is over."""
    lease = Lease()
    lease.until = 0.0
    return lease


def test_what_the_next_supervisor_has_begun_is_left_alone(
    controller_id: str, state: Path, left: Callable[[int], int]
) -> None:
    place = journal_with(state, controller_id, {"supervisor": 7}, start(1), {"supervisor": 8}, start(2))
    first, second = left(1), left(2)

    stop_in_time(place, 7, over(), 0.0)

    assert (lives(first), lives(second)) == (False, True)


def test_who_has_adopted_a_command_vouches_for_it(controller_id: str, state: Path, left: Callable[[int], int]) -> None:
    place = journal_with(state, controller_id, {"supervisor": 7}, start(1))
    pid, until = left(1), time.monotonic() + 0.5
    journal.vouch(place, 1, until)

    stop_in_time(place, 7, over(), 0.0)

    assert time.monotonic() >= until
    assert not lives(pid)


def test_nothing_is_stopped_that_has_ended_or_is_recorded_elsewhere(
    controller_id: str, state: Path, left: Callable[[int], int]
) -> None:
    place = journal_with(state, controller_id, {"supervisor": 7}, start(1), {"end": 1})
    daemon = left(1)

    stop_in_time(place, 7, over(), 0.0)
    journal.remove(place)
    stop_in_time(place, 7, over(), 0.0)

    assert lives(daemon)


def test_without_threads_one_is_stopped_after_the_other(
    controller_id: str, state: Path, left: Callable[[int], int], monkeypatch: pytest.MonkeyPatch
) -> None:
    place = journal_with(state, controller_id, {"supervisor": 7}, start(1), start(2))
    pids = [left(1), left(2)]

    def refuse(_: object) -> None:
        raise RuntimeError

    monkeypatch.setattr("threading.Thread.start", refuse)
    stop_in_time(place, 7, over(), 0.0)

    assert not any(lives(pid) for pid in pids)


def test_a_host_that_has_no_process_to_give_is_asked_again(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answers: list[OSError | tuple[int, int]] = [OSError(), (7, os.open(os.devnull, os.O_RDONLY))]

    def fork(*_: object) -> tuple[int, int]:
        answer = answers.pop(0)
        if isinstance(answer, OSError):
            raise answer
        return answer

    monkeypatch.setattr("batchctl.system.commands.warden.fork_heir", fork)
    loop = new_loop()
    warden = Warden(loop, state, Lease(), 0.0)
    for _ in range(3):
        warden.stand_by()

    assert answers == []
    loop.close()
