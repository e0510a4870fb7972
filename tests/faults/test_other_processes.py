"""Processes that are none of the controller's, and some that were: who only bears the number of one is left alone."""

from __future__ import annotations

import json
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


JOB = 'from batchctl.plugin_api import job\n\n@job("of_{0}")\ndef of_{0}():\n    pass\n'


def test_controllers_with_different_plugins_leave_each_other_what_they_lack(site: Site) -> None:
    for name in ("a", "b"):
        (site.directory / f"only_{name}.py").write_text(JOB.format(name), encoding="utf-8")
    site.batch("Mixed", *["of_a", "of_b"] * 3, MaxConcurrent=4, RetryCount=0)
    site.hand.sql("UPDATE ProcessControl SET ProcessType = 'python'")
    for name in ("a", "b"):
        site.configure(f'plugin_modules = ["only_{name}"]\n')
        site.control("--slots", "4").hear("controller.started")
    site.submit_many("Mixed", [str(number) for number in range(10)])
    site.wait_for_complete(10)

    done = site.hand.sql(
        "SELECT Status, AttemptNo, count(*), count(DISTINCT ClaimedBy) FROM BatchProcessHistory GROUP BY 1, 2"
    )
    assert done == [("success", 1, 60, 2)]
    workers = site.hand.sql(
        "SELECT DISTINCT s.Data1, h.ClaimedBy FROM BatchProcessHistory h JOIN ProcessControl s"
        " ON s.ProcessControlSeq = h.ProcessControlSeq"
    )
    assert len(workers) == len({job for job, _ in workers}) == 2
    site.check_laws()


def test_what_a_module_announces_that_breaks_waits_named_and_the_rest_goes_on(site: Site) -> None:
    (site.directory / "whole.py").write_text(JOB.format("a"), encoding="utf-8")
    (site.directory / "broken.py").write_text("raise ValueError('a wrong release')\n", encoding="utf-8")
    site.batch("Whole", "of_a")
    site.batch("Broken", "of_b")
    site.hand.sql("UPDATE ProcessControl SET ProcessType = 'python'")
    site.configure('plugin_modules = ["whole", "broken"]\n')
    site.submit("Whole")
    site.submit("Broken")
    controller = site.control()
    site.wait_for_complete(1)
    until(lambda: site.value("SELECT count(*) FROM Incident WHERE Kind = 'unreadable' AND Status = 'open'") == 1)

    assert site.attempts() == [(1, 1, 1, "success")]
    (gate,) = [gate for gate in json.loads(site.run("why", "2", "--json").stdout)["Gates"] if gate["Gate"] == "steps"]
    assert "job 'of_b' of Data1 is not installed" in gate["Blocked"]
    assert "a wrong release" in json.loads(site.run("status", "--json").stdout)["LeftOut"][0]
    assert controller.end() == 0
