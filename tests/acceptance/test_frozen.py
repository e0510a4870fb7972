"""A machine that is suspended for longer than the lease, and wakes: what has succeeded meanwhile is not done again."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import pytest

from batchctl.system.clock import SystemClock
from tests.acceptance.installation import PATIENCE, RunBatchctl, StartBatchctl
from tests.acceptance.test_controller import Shop
from tests.control_databases import ControlDatabase
from tests.system.watching import ends, parent_of

LEASE = 4.0


@pytest.fixture
def shop(control_database: ControlDatabase, start_batchctl: StartBatchctl, run_batchctl: RunBatchctl) -> Iterator[Shop]:
    made = Shop(control_database, start_batchctl, run_batchctl)
    yield made
    made.close()


def outlast(seconds: float) -> None:
    """Let a lease run out."""
    clock = SystemClock()
    until = clock.monotonic() + seconds
    while clock.monotonic() < until:
        signal.sigtimedwait([], until - clock.monotonic())


def test_a_step_that_succeeded_while_its_controller_was_frozen_is_not_run_again(shop: Shop) -> None:
    shop.configure(f"heartbeat_interval = 1\norphan_timeout = {LEASE:g}\n")
    shop.batch("B", shop.says("read go < go; echo done >> effects; exit 0"))
    shop.hand.sql("UPDATE ProcessControl SET OnLost = 'rerun' WHERE Data1 LIKE '%effects%'")
    os.mkfifo(shop.directory / "go")
    shop.submit("B")
    controller = shop.start("run", "--until-idle", "1")
    pid = shop.hear()
    supervisor = parent_of(pid)
    for each in (controller.pid, supervisor):
        os.kill(each, signal.SIGSTOP)
    (shop.directory / "go").write_text("go\n", encoding="ascii")
    assert ends(pid)
    outlast(LEASE + 1)
    for each in (supervisor, controller.pid):
        os.kill(each, signal.SIGCONT)

    _, said = controller.communicate(timeout=PATIENCE)
    assert controller.returncode == 0, said
    assert shop.hand.sql("SELECT AttemptNo, Status, ReturnCode FROM BatchProcessHistory") == [(1, "success", 0)]
    assert (shop.directory / "effects").read_text(encoding="ascii") == "done\n"
