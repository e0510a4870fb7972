"""Processes that are none of the controller's, and some that were: who only bears the number of one is left alone."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from tests.faults.site import WAITS, Site, kill, until
from tests.system.watching import ends, lives, parent_of

DEAF = "trap '' TERM; while :; do sleep 0.1; done"


@pytest.fixture
def bystanders() -> Iterator[Callable[[], int]]:
    """What starts a process of somebody else; in the tick of the clock in which a controller starts, it would pass for that."""
    with ExitStack() as stack:

        def start() -> int:
            process = stack.enter_context(subprocess.Popen(["sleep", "600"], start_new_session=True))
            stack.callback(process.kill)
            return process.pid

        yield start


@pytest.mark.parametrize("on_lost", ["hold", "rerun"])
def test_who_bears_the_numbers_of_what_has_died_is_unharmed_and_the_attempt_is_lost(
    site: Site, bystanders: Callable[[], int], on_lost: str
) -> None:
    site.batch("B", site.leaves_a_line(first=WAITS))
    site.hand.sql("UPDATE ProcessControl SET OnLost = ?", on_lost)
    site.submit("B")
    controller = site.control()
    step = site.hear()
    controller.hear("step.started")
    until(lambda: site.value("SELECT Pid FROM BatchProcessHistory") == step)
    supervisor, bystander = parent_of(step), bystanders()
    kill(controller.pid, supervisor, step)
    controller.wait()
    assert ends(supervisor)
    assert ends(step)
    (journal,) = (site.directory / "state").rglob("journal")
    for dead in (controller.pid, supervisor, step):
        named = re.sub(rf'(pid|supervisor)":{dead}\b', rf'\1":{bystander}', journal.read_text(encoding="ascii"))
        journal.write_text(named, encoding="ascii")
    assert journal.read_text(encoding="ascii").count(f":{bystander}") >= 3
    site.hand.sql("UPDATE BatchProcessHistory SET Pid = ?", bystander)
    site.hand.sql("UPDATE Controller SET Pid = ?", bystander)

    after = site.control()
    after.hear("step.lost")
    if on_lost == "rerun":
        assert site.hear() != bystander
        site.go()
        site.wait_for_complete(1)
    assert after.end() == 0
    lost, *again = site.attempts()
    assert lost == (1, 1, 1, "lost")
    assert again == ([] if on_lost == "hold" else [(1, 1, 2, "success")])
    assert site.value("SELECT Status FROM BatchControl") == ("held" if on_lost == "hold" else "complete")
    assert lives(bystander)
    site.check_laws()


def test_a_daemon_that_has_left_is_left_alone_and_its_step_has_succeeded(site: Site) -> None:
    site.batch("B", "sh -c \"exec >&- 2>&-; setsid sh -c 'echo $$ > fifo; exec sleep 600' </dev/null & exit 0\"")
    site.submit("B")
    controller = site.control()
    daemon = site.hear()
    site.wait_for_complete(1)

    assert controller.end() == 0
    assert site.attempts() == [(1, 1, 1, "success")]
    assert lives(daemon)
    kill(daemon)


def test_a_grandchild_that_does_not_listen_ends_with_its_step_before_that_is_tried_again(site: Site) -> None:
    site.batch("B", f"sh -c \"sh -c '{DEAF}' & echo $$ $! > fifo; {DEAF}\"", RetryCount=1, RetryWaitMins=0)
    site.hand.sql("UPDATE ProcessControl SET MaxDuration = 1")
    site.submit("B")
    controller = site.control()
    first = site.hear_all()
    second = site.hear_all()
    assert not any(lives(pid) for pid in first), "nothing is left of it when it is tried again"
    controller.hear("instance.failed")

    assert controller.end() == 0
    assert not any(lives(pid) for pid in second)
    assert site.attempts() == [(1, 1, 1, "timeout"), (1, 1, 2, "timeout")]
    site.check_laws()
