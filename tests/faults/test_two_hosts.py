"""Two hosts that see nothing of each other: what one leaves that has died, the other rescues once its time is over."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.acceptance.installation import ROOT, clean_environment
from tests.faults.site import WAITS, Running, Site, kill
from tests.system.watching import ends, lives, parent_of

DRIVER = Path(__file__).with_name("other_host.py")
SETTINGS = "heartbeat_interval = 0.5\norphan_timeout = 4\n"


def host(site: Site, name: str) -> Running:
    """Start a controller on a host, which has files of its own."""
    file = site.directory / f"{name}.toml"
    common = (site.directory / "batchctl.toml").read_text(encoding="utf-8").replace('"state"', f'"state of {name}"')
    file.write_text(common, encoding="utf-8")
    command = [sys.executable, str(DRIVER), name, "--config", str(file), "run"]
    process = subprocess.Popen(
        command,
        cwd=site.directory,
        env=clean_environment({"PYTHONPATH": str(ROOT)}),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
    controller = site.keep(Running(process))
    controller.hear("controller.started")
    return controller


def two_hosts(site: Site, on_lost: str, check: str | None = None) -> tuple[Running, int, Running]:
    """Let a step run on one host beside another; return controller and step of the first, and the controller of the other."""
    site.configure(SETTINGS)
    site.batch("B", site.leaves_a_line(first=WAITS), site.leaves_a_line(2))
    site.hand.sql("UPDATE ProcessControl SET OnLost = ?, Data6 = ? WHERE ProcessControlSeq = 1", on_lost, check)
    site.submit("B")
    first = host(site, "north")
    step = site.hear()
    first.hear("step.started")
    return first, step, host(site, "south")


@pytest.mark.parametrize(
    ("on_lost", "check", "status", "attempts"),
    [
        ("hold", None, "held", [(1, 1, 1, "lost")]),
        ("verify", "true", "complete", [(1, 1, 1, "lost"), (1, 1, 2, "success"), (1, 2, 1, "success")]),
        ("rerun", None, "complete", [(1, 1, 1, "lost"), (1, 1, 2, "success"), (1, 2, 1, "success")]),
    ],
)
def test_what_a_host_leaves_that_has_died_is_rescued_as_onlost_says(
    site: Site, on_lost: str, check: str | None, status: str, attempts: list[object]
) -> None:
    first, step, second = two_hosts(site, on_lost, check)
    supervisor = parent_of(step)
    assert second.count("step.") == 0, "it takes nothing away from one that lives"
    kill(first.pid, supervisor, step)
    first.wait()
    second.hear("step.lost")
    if on_lost == "rerun":
        site.hear()
        site.go()
    second.hear("instance.complete" if status == "complete" else "instance.held")

    assert second.end() == 0
    assert site.value("SELECT Status FROM BatchControl") == status
    assert site.attempts() == attempts
    assert set(site.effects().values()) <= {1}
    site.check_laws()


def test_what_goes_on_without_its_controller_and_supervisor_is_stopped_before_another_host_repeats_it(
    site: Site,
) -> None:
    first, step, second = two_hosts(site, "rerun")
    kill(first.pid, parent_of(step))
    first.wait()
    second.hear("step.lost")
    assert not lives(step)
    assert site.hear() != step
    site.go()
    site.wait_for_complete(1)

    assert second.end() == 0
    assert site.effects() == {"1/1": 1, "1/2": 1}
    assert site.attempts() == [(1, 1, 1, "lost"), (1, 1, 2, "success"), (1, 2, 1, "success")]
    site.check_laws()


def test_a_host_that_stood_still_for_too_long_is_fenced_when_it_goes_on_and_its_step_stopped(site: Site) -> None:
    first, step, second = two_hosts(site, "rerun")
    supervisor = parent_of(step)
    site.freeze(first.pid, supervisor, step)
    second.hear("step.lost")
    again = site.hear()
    for pid in (first.pid, supervisor):
        os.kill(pid, signal.SIGCONT)
    first.hear("fenced")
    assert ends(step)
    site.go()
    site.wait_for_complete(1)

    assert first.end() == 0
    assert second.end() == 0
    assert again != step
    assert site.effects() == {"1/1": 1, "1/2": 1}
    assert site.attempts() == [(1, 1, 1, "lost"), (1, 1, 2, "success"), (1, 2, 1, "success")]
    site.check_laws()
