"""At most one controller: between processes, and whatever happens to them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from batchctl.domain.errors import Busy, DatabaseUnusable
from batchctl.system.lock import FileControllerLock
from tests.system.watching import Ear, ends

HOLD = """
import subprocess, sys, threading
from batchctl.system.lock import FileControllerLock
path, ear, child_too = sys.argv[1:]
with FileControllerLock(path).hold("other:1:abc"):
    if child_too == "yes":
        child = subprocess.Popen(["sleep", "600"])
        print(child.pid, file=open(ear, "w"))
    else:
        print("held", file=open(ear, "w"))
    threading.Event().wait()
"""


def other_controller(path: Path, ear: Ear, *, with_child: bool = False) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", HOLD, path, ear.path, "yes" if with_child else "no"])


def end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()


def test_nobody_holds_a_lock_that_was_never_used(tmp_path: Path) -> None:
    path = tmp_path / "lock"

    assert FileControllerLock(str(path)).holder() is None
    assert not path.exists()


def test_the_holder_is_known_while_it_holds(tmp_path: Path) -> None:
    lock = FileControllerLock(str(tmp_path / "lock"))

    with lock.hold("me:1:abc"):
        assert lock.holder() == "me:1:abc"
    assert lock.holder() is None


def test_the_lock_is_given_back_when_the_work_fails(tmp_path: Path) -> None:
    lock = FileControllerLock(str(tmp_path / "lock"))

    with pytest.raises(ValueError, match="boom"), lock.hold("me:1:abc"):
        raise ValueError("boom")

    assert lock.holder() is None
    with lock.hold("me:2:abc"):
        assert lock.holder() == "me:2:abc"


def test_a_second_controller_is_refused_and_told_who_the_first_is(tmp_path: Path, ear: Ear) -> None:
    path = tmp_path / "lock"
    other = other_controller(path, ear)
    ear.hear()
    lock = FileControllerLock(str(path))

    with pytest.raises(Busy) as refused, lock.hold("me:2:abc"):
        pass

    written = json.loads(path.read_text(encoding="ascii"))
    assert written["pid"] == other.pid
    assert refused.value.message == (
        f"Another controller works on this database: controller other:1:abc (process {other.pid} on other, "
        f"since {written['since']})."
    )
    assert refused.value.next_step == "batchctl status"
    assert refused.value.exit_code == 5
    assert lock.holder() == "other:1:abc"
    end(other)


def test_a_dead_controller_holds_nothing(tmp_path: Path, ear: Ear) -> None:
    path = tmp_path / "lock"
    other = other_controller(path, ear)
    ear.hear()
    end(other)
    lock = FileControllerLock(str(path))

    assert lock.holder() is None
    with lock.hold("me:2:abc"):
        assert lock.holder() == "me:2:abc"


def test_a_child_of_a_dead_controller_holds_nothing(tmp_path: Path, ear: Ear) -> None:
    path = tmp_path / "lock"
    other = other_controller(path, ear, with_child=True)
    child = ear.hear_pid()
    end(other)

    with FileControllerLock(str(path)).hold("me:2:abc"):
        os.kill(child, 0)

    os.kill(child, signal.SIGKILL)
    assert ends(child)


def test_an_unreadable_holder_is_still_a_holder(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    first, second = FileControllerLock(str(path)), FileControllerLock(str(path))

    with first.hold("me:1:abc"):
        path.write_text("{half", encoding="ascii")
        assert second.holder() == "unknown"
        with pytest.raises(Busy, match="it has not yet said who it is"), second.hold("me:2:abc"):
            pass


def test_a_lock_file_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    path = tmp_path / "gone" / "lock"

    with (
        pytest.raises(DatabaseUnusable, match="cannot be used: No such file"),
        FileControllerLock(str(path)).hold("me"),
    ):
        pass
