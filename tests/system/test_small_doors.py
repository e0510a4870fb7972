"""Clock, files, identities and threads."""

from __future__ import annotations

import getpass
import os
import socket
import threading
from datetime import UTC, timedelta
from pathlib import Path

import pytest

from batchctl.system.clock import SystemClock
from batchctl.system.concurrency.threads import Threads
from batchctl.system.files import read_text
from batchctl.system.ids import SystemIds
from tests.system.watching import LIMIT


def test_now_is_utc_in_whole_milliseconds_and_goes_on() -> None:
    clock = SystemClock()

    first, second = clock.now(), clock.now()

    assert first.tzinfo is UTC
    assert first.microsecond % 1000 == 0
    assert first <= second < first + timedelta(minutes=1)
    assert clock.monotonic() <= clock.monotonic()


def test_every_start_has_an_id_of_its_own() -> None:
    first, second = SystemIds(), SystemIds()

    host, pid, chance = first.controller_id().split(":")
    assert (host, int(pid)) == (socket.gethostname(), os.getpid())
    assert len(chance) == 8
    assert first.controller_id() == first.controller_id()
    assert first.controller_id() != second.controller_id()


def test_the_user_cannot_be_made_up_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    real = SystemIds().user()
    monkeypatch.setenv("LOGNAME", "somebody-else")

    assert getpass.getuser() == "somebody-else"
    assert SystemIds().user() == real


def test_text_is_read_as_it_stands(tmp_path: Path) -> None:
    file = tmp_path / "query.sql"
    file.write_bytes("\ufeffSELECT 'é'\r\n".encode())

    assert read_text(str(file)) == "SELECT 'é'\r\n"


def test_threads_are_kept_for_the_next_work() -> None:
    threads = Threads("kept")
    seen: list[int] = []

    for _ in range(20):
        done = threading.Event()

        def work(done: threading.Event = done) -> None:
            seen.append(threading.get_ident())
            done.set()

        threads.run(work)
        done.wait(LIMIT)
    threads.close()
    threads.join(LIMIT)

    assert len(seen) == 20
    assert len(set(seen)) < 20


def test_busy_threads_get_company_up_to_the_most() -> None:
    threads = Threads("company", most=2)
    together = threading.Barrier(2)
    done: list[bool] = []

    for _ in range(6):
        threads.run(lambda: done.append(together.wait(LIMIT) >= 0))
    threads.close()
    threads.join(LIMIT)

    assert done == [True] * 6
