"""The loops: the one that polls and the one that every system has; and a supervisor on the latter."""

from __future__ import annotations

import errno
import os
import select
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from batchctl.system.commands import journal
from batchctl.system.commands import supervisor as supervisor_module
from batchctl.system.commands.supervisor import Supervisor
from batchctl.system.concurrency import following
from batchctl.system.concurrency.loops import Lines, Loop, PollLoop, QueueLoop
from tests.system.watching import LIMIT


def turn_until(loop: Loop, is_so: Callable[[], bool]) -> None:
    until = time.monotonic() + LIMIT
    while not is_so():
        assert time.monotonic() < until
        loop.turn(0.1)


@pytest.fixture(params=[PollLoop, QueueLoop])
def loop(request: pytest.FixtureRequest) -> Loop:
    made: Loop = request.param()
    return made


def test_bytes_arrive_in_order_and_then_the_end(loop: Loop) -> None:
    receiving, sending = os.pipe()
    chunks: list[bytes] = []
    loop.read(receiving, chunks.append)

    os.write(sending, b"one\n")
    turn_until(loop, lambda: b"".join(chunks) == b"one\n")
    os.write(sending, b"two\n")
    os.close(sending)
    turn_until(loop, lambda: chunks[-1:] == [b""])

    assert b"".join(chunks) == b"one\ntwo\n"
    loop.close()


def test_a_reader_that_does_not_read_keeps_nobody_waiting(loop: Loop) -> None:
    receiving, sending = os.pipe()
    send, content = loop.writer(sending), b"x" * 1_000_000
    send(content)
    send(b"end")

    read: list[bytes] = []
    loop.read(receiving, read.append)
    turn_until(loop, lambda: sum(map(len, read)) == len(content) + 3)

    assert b"".join(read) == content + b"end"
    loop.close()
    os.close(sending)


def test_a_reader_that_has_gone_is_written_to_in_vain(loop: Loop) -> None:
    receiving, sending = os.pipe()
    os.close(receiving)
    send = loop.writer(sending)

    for _ in range(3):
        send(b"x" * 100_000)
    loop.turn(0.0)
    loop.close()
    os.close(sending)


def test_another_thread_ends_the_waiting(loop: Loop) -> None:
    said: list[str] = []
    thread = threading.Thread(target=lambda: loop.post(lambda: said.append("now")))
    thread.start()

    loop.turn(LIMIT)
    thread.join()

    assert said == ["now"]
    loop.close()


def test_lines_are_put_together_and_a_half_one_is_left_out() -> None:
    lines: list[bytes] = []
    ends: list[bool] = []
    taking = Lines(lines.append, lambda: ends.append(True))

    for chunk in (b"on", b"e\ntwo\nth", b"ree\nfo", b""):
        taking.feed(chunk)

    assert (lines, ends) == ([b"one", b"two", b"three"], [True])


class Watching(PollLoop):
    """A loop that remembers what it was asked to watch, and how often there was something."""

    def __init__(self) -> None:
        super().__init__()
        self.left_alone: list[int] = []
        self.rung: list[int] = []

    def watch(self, descriptor: int, call: Callable[[], None], for_what: int = select.POLLIN) -> bool:
        def ring() -> None:
            self.rung.append(descriptor)
            call()

        return super().watch(descriptor, ring, for_what)

    def unwatch(self, descriptor: int) -> None:
        self.left_alone.append(descriptor)
        super().unwatch(descriptor)


def test_a_supervisor_works_with_threads_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOSYS, "an old kernel")

    monkeypatch.setattr(following, "Poller", refuse)
    place = tmp_path / "worker"
    journal.prepare(place, "worker")
    loop, told = QueueLoop(), list[bytes]()
    supervisor = Supervisor(loop, place, told.append, cap=1000, grace=0.2)
    for order in (start(1, "echo one; exit 3"), start(2, "exec sleep 600"), start(3, "exit 0"), {"stop": 2}):
        loop.post(lambda order=order: supervisor.obey(journal.line_of(order)))  # type: ignore[misc]
    loop.post(supervisor.be_orphaned)

    supervisor.work()

    ended = journal.read(place).ended
    assert (ended[1]["exit_code"], ended[1]["output"]) == (3, "one\n")
    assert ended[2]["stopped"]
    assert ended[3]["exit_code"] == 0
    assert journal.read(place).is_orphaned


def test_what_is_overdue_is_looked_at_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "worker"
    journal.prepare(place, "worker")
    loop, told = QueueLoop(), list[bytes]()
    supervisor = Supervisor(loop, place, told.append, cap=1000, grace=0.2)
    monkeypatch.setattr(supervisor_module, "NOTICE", -1.0)
    supervisor.obey(journal.line_of(start(1, "exit 4")))
    supervisor.be_orphaned()
    supervisor.work()

    assert any(b'"end":1' in line for line in told)


def test_a_disk_that_is_full_begins_nothing_and_loses_no_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "worker"
    journal.prepare(place, "worker")
    loop, told = QueueLoop(), list[bytes]()
    supervisor = Supervisor(loop, place, told.append, cap=1000, grace=0.2)
    supervisor.obey(journal.line_of(start(1, "exit 4")))
    is_full = True
    write = journal.Writer.write

    def refuse(writer: journal.Writer, line: bytes) -> None:
        if is_full:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        write(writer, line)

    monkeypatch.setattr(journal.Writer, "write", refuse)
    supervisor.obey(journal.line_of(start(2, "exit 5")))
    turn_until(loop, lambda: any(b'"end":1' in line for line in told))
    is_full = False
    supervisor.be_orphaned()
    supervisor.work()

    ended = journal.read(place).ended
    assert ended[1]["exit_code"] == 4
    assert ended[2]["not_started"] == "the journal of commands cannot be written: No space left on device"
    assert (ended[1].get("never_ran"), ended[2]["never_ran"]) == (None, True)


def test_a_line_that_does_not_fit_keeps_no_other_back_and_is_given_up_once_its_end_is_recorded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "worker"
    journal.prepare(place, "worker")
    loop, told = QueueLoop(), list[bytes]()
    supervisor = Supervisor(loop, place, told.append, cap=1000, grace=0.2)
    write = journal.Writer.write

    def take_short_ones(writer: journal.Writer, line: bytes) -> None:
        if len(line) > 400 or b'"orphaned"' in line:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        write(writer, line)

    monkeypatch.setattr(journal.Writer, "write", take_short_ones)
    for key, script in ((1, "printf %0500d 0"), (2, "exit 5")):
        supervisor.obey(journal.line_of(start(key, script)))
        turn_until(loop, lambda key=key: any(b'"end":%d' % key in line for line in told))  # type: ignore[misc]
    ended = journal.read(place).ended
    assert (list(ended), ended[2]["exit_code"]) == ([2], 5)

    supervisor.obey(journal.line_of({"recorded": [1, 2]}))
    supervisor.be_orphaned()
    working = threading.Thread(target=supervisor.work, daemon=True)
    working.start()
    working.join(LIMIT)

    assert not working.is_alive(), "it waits for a line that nobody will ask for"


def test_a_host_that_has_no_process_to_give_costs_no_command_its_attempt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # A19
    place = tmp_path / "worker"
    journal.prepare(place, "worker")
    told = list[bytes]()
    supervisor = Supervisor(QueueLoop(), place, told.append, cap=1000, grace=0.2)

    def refuse(*_: object, **__: object) -> int:
        raise OSError(errno.EAGAIN, os.strerror(errno.EAGAIN))

    with monkeypatch.context() as without:
        without.setattr(os, "posix_spawn", refuse)
        supervisor.obey(journal.line_of(start(1, "exit 4")))
    supervisor.obey(journal.line_of({**start(2, ""), "argv": ["./none"]}))
    supervisor.be_orphaned()
    supervisor.work()

    ended = journal.read(place).ended
    assert ended[1]["not_started"] == f"the system refused to start another process: {os.strerror(errno.EAGAIN)}"
    assert (ended[1]["never_ran"], ended[2].get("never_ran")) == (True, None), (
        "what is not there is the step's own fault"
    )


def test_a_brief_command_is_looked_at_once_at_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervisor_module, "NOTICE", 600.0)
    place, loop, told = tmp_path / "worker", Watching(), list[bytes]()
    journal.prepare(place, "worker")
    supervisor = Supervisor(loop, place, told.append, cap=1000, grace=0.2)
    supervisor.obey(journal.line_of(start(1, "echo one; sleep 0.05; echo two >&2; sleep 0.05; exit 3")))
    supervisor.be_orphaned()

    supervisor.work()

    ended = journal.read(place).ended[1]
    assert (ended["exit_code"], ended["output"]) == (3, "one\ntwo\n")
    assert len(loop.rung) == 1
    assert loop.left_alone == loop.rung
    loop.close()


def test_what_a_lasting_command_writes_is_read_as_it_comes(tmp_path: Path) -> None:
    place, loop, told = tmp_path / "worker", Watching(), list[bytes]()
    journal.prepare(place, "worker")
    supervisor = Supervisor(loop, place, told.append, cap=1000, grace=0.2)
    # More than a pipe holds, so nothing ends before it is read; and the output ends long before the command does.
    script = "head -c 300000 /dev/zero | tr '\\0' x; exec >&- 2>&-; sleep 0.1; exit 5"
    supervisor.obey(journal.line_of(start(1, script)))
    supervisor.be_orphaned()

    supervisor.work()

    ended = journal.read(place).ended[1]
    assert ended["exit_code"] == 5
    assert "of 300000 bytes left out" in ended["output"]
    assert sorted(loop.left_alone) == sorted(set(loop.rung))
    assert len(loop.left_alone) == 2
    loop.close()


def start(key: int, script: str) -> dict[str, Any]:
    return {
        "start": key,
        "argv": ["sh", "-c", script],
        "directory": "/",
        "environment": {},
        "cookie": f"test:{os.getpid()}/{key}",
        "secrets": [],
        "leashed": False,
    }
