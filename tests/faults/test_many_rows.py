"""Very many rows at once, and very many steps in one controller: none is lost or doubled, nobody waits, and nothing grows."""

from __future__ import annotations

import os
from pathlib import Path

from tests.faults.site import WAITS, Site
from tests.system.watching import parent_of

ROWS = {"sqlite": 2_000, "postgresql": 10_000}
"""Fewer where each row's commit waits for a disk."""
URGENT = 5
LONG = 300.0
"""Seconds in which even a busy machine has done it."""
INSTANCES, STEPS = {"sqlite": 100, "postgresql": 300}, 20
EARLY = 25
"""Instances after which a controller has all that it needs."""


def test_very_many_rows_at_once_are_taken_in_once_and_other_work_goes_on(site: Site) -> None:
    site.batch("Many", "true", Enabled=0)
    site.batch("Urgent", site.leaves_a_line())
    controller = site.control()
    controller.hear("controller.started")
    many = ROWS[site.database.kind]
    rows = [("Many", str(number)) for number in range(many)] + [("Urgent", str(number)) for number in range(URGENT)]
    site.hand.many("INSERT INTO FileProcess (Entity, FileName) VALUES (?, ?)", rows)
    # It is listened to, not looked for: who reads a file that much keeps its writer waiting.
    controller.hear("instance.created", many + URGENT, LONG)
    created = [at for at, line in enumerate(controller.wording) if "instance.created" in line]
    complete = [at for at, line in enumerate(controller.wording) if "instance.complete" in line]

    assert complete[URGENT - 1] < created[-1], "what is urgent has not waited for the rest"
    assert controller.end() == 0
    assert list(site.effects().values()) == [1] * URGENT
    assert site.hand.sql("SELECT count(*), count(DISTINCT FileProcess_id) FROM BatchControl") == [
        (many + URGENT, many + URGENT)
    ]
    site.check_laws()


def memory_of(pid: int) -> int:
    """Return how much memory a process has, in kB."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))


def descriptors_of(pid: int) -> int:
    """Count what a process has open."""
    return len(os.listdir(f"/proc/{pid}/fd"))


def test_very_many_steps_in_one_controller_leave_nothing_behind(site: Site) -> None:
    instances = INSTANCES[site.database.kind]
    site.batch("waits", site.leaves_a_line(first=WAITS))
    site.batch("B", *["true"] * STEPS, MaxConcurrent=4)
    site.submit("waits")
    controller = site.control("--slots", "4")
    both = controller.pid, parent_of(site.hear())
    site.go()
    site.submit_many("B", [str(number) for number in range(instances)])
    controller.hear("instance.complete", 1 + EARLY)
    before = [(memory_of(pid), descriptors_of(pid)) for pid in both]
    controller.hear("instance.complete", 1 + instances, LONG)
    after = [(memory_of(pid), descriptors_of(pid)) for pid in both]

    for (memory, open_files), (memory_later, open_later) in zip(before, after, strict=True):
        assert memory_later < 1.5 * memory, (before, after)
        assert open_later < open_files + 10, (before, after)
    assert controller.end() == 0
    assert site.hand.sql(
        "SELECT count(*), count(DISTINCT BatchControl_id || '/' || ProcessControlSeq), min(Status), max(AttemptNo)"
        " FROM BatchProcessHistory"
    ) == [(1 + instances * STEPS, 1 + instances * STEPS, "success", 1)]
    site.check_laws()
