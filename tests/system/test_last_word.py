"""Code that gives the program no way back ends it, and whoever comes next knows what it was asked."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest

from batchctl.domain.errors import CannotBegin, NoAnswer
from batchctl.domain.rows import InstanceId
from batchctl.system.plugins.handler_calls import HandlerCalls
from batchctl.system.plugins.last_word import left_behind

LONG = timedelta(seconds=30)
PROGRAM = """
import signal, sys, time
from datetime import timedelta
from pathlib import Path
from tests.system.test_last_word import Endless
from batchctl.system.plugins.handler_calls import HandlerCalls
def swallow():
    while True:
        try: time.sleep(0.01)
        except BaseException: pass
def own_alarm():
    signal.alarm(0)
    time.sleep(10**6)
ways = {"in C": lambda: sum(range(10**12)), "swallows": swallow, "own alarm": own_alarm}
calls = HandlerCalls(timedelta(seconds=0.1))
with calls.guarding(Path(sys.argv[1])):
    calls.ask(Endless(), "step 10 of batch B", ways[sys.argv[2]], of=7)
"""


class Endless:
    """A handler that comes from a plugin."""

    process_type = "endless"


def ended(state: Path, way: str) -> int:
    """Ask in a program of its own; return how that ends."""
    done = subprocess.run([sys.executable, "-c", PROGRAM, str(state), way], check=False, capture_output=True)
    return done.returncode


@pytest.mark.parametrize("way", ["in C", "swallows", "own alarm"])
def test_what_cannot_be_interrupted_ends_its_program_and_is_refused_by_the_next(tmp_path: Path, way: str) -> None:
    assert ended(tmp_path, way) == 1
    calls = HandlerCalls(LONG)
    with calls.guarding(tmp_path):
        with pytest.raises(NoAnswer) as refused:
            calls.ask(Endless(), "step 10", lambda: "answer", of=InstanceId(7))
        with pytest.raises(CannotBegin, match="It is not asked again before the controller is restarted: "):
            calls.ask(Endless(), "step 20", lambda: "answer", of=InstanceId(8))
        assert [(hang.error, hang.of) for hang in calls.hangs] == [(refused.value, None)]

    asked = "The handler of 'endless' did not answer, and could not be interrupted, asked about step 10 of batch B"
    assert refused.value.message == f"{asked}: the controller that had asked was ended."
    assert "module tests.system.test_last_word" in (refused.value.next_step or "")
    assert left_behind(tmp_path) == []
    assert list(tmp_path.iterdir()) == []


def test_who_answers_leaves_nothing_behind(tmp_path: Path) -> None:
    calls = HandlerCalls(LONG)
    with calls.guarding(tmp_path):
        assert calls.ask(Endless(), "step 10", lambda: "answer", of=InstanceId(7)) == "answer"
        assert left_behind(tmp_path) == []
        assert len(list(tmp_path.iterdir())) == 1

    assert list(tmp_path.iterdir()) == []


def test_what_was_asked_when_a_program_died_of_something_else_is_refused_nobody(tmp_path: Path) -> None:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    (tmp_path / f"asked-{gone.pid}").write_bytes(b'{"module": "m"}'.ljust(4096))

    assert left_behind(tmp_path) == []
    assert list(tmp_path.iterdir()) == []


def test_where_nothing_can_be_written_handlers_are_asked_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("in the way", encoding="utf-8")
    calls = HandlerCalls(LONG)
    with calls.guarding(tmp_path / "state"):
        assert calls.ask(Endless(), "step 10", os.getpid) == os.getpid()
