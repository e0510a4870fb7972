"""At most one leader: between processes, and whatever happens to them."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from batchctl.domain.errors import DatabaseUnusable
from batchctl.domain.leader import Holder
from batchctl.system import lock as product
from batchctl.system.lock import FileLeaderLock
from tests.system.watching import Ear, ends

HOLD = """
import subprocess, sys, threading
from batchctl.system.lock import FileLeaderLock
path, ear, child_too = sys.argv[1:]
assert FileLeaderLock(path).take("other:1:abc")
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

    assert FileLeaderLock(str(path)).holder() is None
    assert not path.exists()


def test_the_holder_is_known_while_it_holds(tmp_path: Path) -> None:
    lock = FileLeaderLock(str(tmp_path / "lock"))

    assert lock.take("me:1:abc")
    assert FileLeaderLock(str(tmp_path / "lock")).holder() == Holder("me:1:abc")
    assert lock.take("me:1:abc"), "who has it keeps it"
    lock.release()
    assert lock.holder() is None


def test_a_lock_that_could_not_be_written_is_taken_once_it_can_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(descriptor: int, content: bytes) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    lock, other = (FileLeaderLock(str(tmp_path / "lock")) for _ in range(2))
    with monkeypatch.context() as disk:
        disk.setattr(os, "write", full)
        with pytest.raises(DatabaseUnusable, match=r"cannot be written: No space left on device") as told:
            lock.take("me:1:abc")
    assert "make room" in str(told.value.next_step)
    assert lock.take("me:1:abc")

    with monkeypatch.context() as disk:
        disk.setattr(os, "write", full)
        lock.release()
    assert other.take("other:1:abc")


def test_a_lock_that_was_given_back_is_anybodys(tmp_path: Path) -> None:
    first, second = (FileLeaderLock(str(tmp_path / "lock")) for _ in range(2))
    assert first.take("me:1:abc")
    first.release()
    first.release()

    assert second.take("me:2:abc")
    assert not first.take("me:1:abc")
    assert first.holder() == Holder("me:2:abc")


def test_a_second_controller_is_refused_and_knows_who_the_first_is(tmp_path: Path, ear: Ear) -> None:
    path = tmp_path / "lock"
    other = other_controller(path, ear)
    ear.hear()
    lock = FileLeaderLock(str(path))

    assert not lock.take("me:2:abc")
    assert lock.holder() == Holder("other:1:abc")
    end(other)


def test_a_dead_leader_holds_nothing(tmp_path: Path, ear: Ear) -> None:
    path = tmp_path / "lock"
    other = other_controller(path, ear)
    ear.hear()
    end(other)
    lock = FileLeaderLock(str(path))

    assert lock.holder() is None
    assert lock.take("me:2:abc")
    assert lock.holder() == Holder("me:2:abc")


def test_a_child_of_a_dead_leader_holds_nothing(tmp_path: Path, ear: Ear) -> None:
    path = tmp_path / "lock"
    other = other_controller(path, ear, with_child=True)
    child = ear.hear_pid()
    end(other)

    assert FileLeaderLock(str(path)).take("me:2:abc")
    os.kill(child, 0)
    os.kill(child, signal.SIGKILL)
    assert ends(child)


def test_a_holder_who_has_not_said_its_name_is_still_a_holder(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    first, second = FileLeaderLock(str(path)), FileLeaderLock(str(path))

    assert first.take("me:1:abc")
    path.write_text("", encoding="ascii")
    assert second.holder() == Holder("unknown")
    assert not second.take("me:2:abc")


@pytest.mark.parametrize("is_made_anew", [False, True])
def test_a_lock_file_that_is_taken_away_costs_the_leadership(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_made_anew: bool
) -> None:
    monkeypatch.setattr(product, "_LOOK_EVERY", 0.0)
    path = tmp_path / "lock"
    first, second = FileLeaderLock(str(path)), FileLeaderLock(str(path))
    assert first.take("me:1:abc")
    path.unlink()
    if is_made_anew:
        assert second.take("me:2:abc")

    assert first.take("me:1:abc") is not is_made_anew, "it is looked at anew, and one of the two leads"
    assert second.take("me:2:abc") is is_made_anew
    assert first.holder() == Holder("me:2:abc" if is_made_anew else "me:1:abc")


def test_a_lock_file_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    path = tmp_path / "gone" / "lock"

    with pytest.raises(DatabaseUnusable, match="cannot be used: No such file"):
        FileLeaderLock(str(path)).take("me")


def test_a_link_in_place_of_the_lock_file_is_refused_and_what_it_leads_to_keeps_its_content(tmp_path: Path) -> None:
    victim, path = tmp_path / "victim", tmp_path / "batchctl.db.controller"
    victim.write_text("of somebody", encoding="utf-8")
    path.symlink_to(victim)

    with pytest.raises(DatabaseUnusable, match="cannot be used") as refused:
        FileLeaderLock(str(path)).take("me")
    assert refused.value.next_step == "find out who put a link there, and remove it"
    assert victim.read_text(encoding="utf-8") == "of somebody"
