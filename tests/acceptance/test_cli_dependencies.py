"""Batches that start each other, seen from outside: registered by rows, run by a controller or by single rounds."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator

import pytest

from tests.acceptance.installation import PATIENCE, RunBatchctl, StartBatchctl, Started
from tests.acceptance.test_controller import Shop
from tests.control_databases import ControlDatabase

RUNS = "SELECT Entity, CycleKey FROM FileProcess WHERE Source = 'dependency' ORDER BY FileProcess_id"


@pytest.fixture
def shop(control_database: ControlDatabase, start_batchctl: StartBatchctl, run_batchctl: RunBatchctl) -> Iterator[Shop]:
    """Return a shop in which Report waits for LoadA and LoadB, and Mail for Report."""
    made = Shop(control_database, start_batchctl, run_batchctl)
    for name in ("LoadA", "LoadB", "Report", "Mail"):
        made.batch(name, "true")
    for name, other in (("Report", "LoadA"), ("Report", "LoadB"), ("Mail", "Report")):
        made.hand.sql(
            "INSERT INTO BatchDependency (ProcessBatch_id, DependsOnBatch_id) SELECT d.ProcessBatch_id, u.ProcessBatch_id"
            " FROM ProcessBatch d, ProcessBatch u WHERE d.ProcessBatchName = ? AND u.ProcessBatchName = ?",
            name,
            other,
        )
    yield made
    made.close()


def submit(shop: Shop, entity: str, cycle_key: str) -> None:
    """Ask for work."""
    assert shop.run("submit", entity, "--cycle-key", cycle_key).returncode == 0


def heard(controller: Started, said: str) -> list[str]:
    """Wait until a controller has said something; return all it has said until then."""
    assert controller.stderr is not None
    told: list[str] = []
    for line in controller.stderr:
        told.append(line)
        if said in line:
            return told
    raise AssertionError("".join(told))


def test_single_rounds_start_what_has_waited(shop: Shop) -> None:
    submit(shop, "LoadA", "2026-11-21")
    assert shop.run("run", "--once").returncode == 0
    (wait,) = json.loads(shop.run("waits", "--json").stdout)
    shown = shop.run("waits").stdout

    assert (wait["ProcessBatchName"], wait["CycleKey"], wait["Overdue"]) == ("Report", "2026-11-21", False)
    assert [one["ProcessBatchName"] for one in wait["Lacking"]] == ["LoadB"]
    assert "LoadB has no instance for this CycleKey yet" in " ".join(shown.split())
    assert json.loads(shop.run("status", "--json").stdout)["Waits"][0] == wait
    assert "LoadB has no instance" in " ".join(shop.run("status").stdout.split())
    submit(shop, "LoadB", "2026-11-20")
    assert shop.run("run", "--once").returncode == 0
    assert shop.hand.sql(RUNS) == []
    submit(shop, "LoadB", "2026-11-21")
    assert shop.run("run", "--once").returncode == 0
    assert shop.hand.sql(RUNS) == [("Report", "2026-11-21"), ("Mail", "2026-11-21")]
    assert shop.value("SELECT count(*) FROM BatchControl WHERE Status <> 'complete'") == 0
    assert json.loads(shop.run("waits", "--json").stdout)[0]["CycleKey"] == "2026-11-20"
    assert shop.run("fsck").returncode == 0


def test_a_controller_starts_them_at_once(shop: Shop) -> None:
    shop.configure("poll_interval = 3600\n")
    controller = shop.start("run")
    submit(shop, "LoadA", "K")
    submit(shop, "LoadB", "K")
    told = heard(controller, "instance.complete BatchControl_id=4 ProcessBatchName=Mail")
    controller.send_signal(signal.SIGTERM)
    controller.communicate(timeout=PATIENCE)
    assert controller.returncode == 0
    assert sum("dependency.satisfied" in line for line in told) == 2


def test_a_leader_makes_the_instance_of_what_somebody_else_has_started(shop: Shop) -> None:
    shop.configure("poll_interval = 3600\n")
    assert shop.run("disable", "LoadA", "--reason", "later").returncode == 0
    controller = shop.start("run")
    submit(shop, "LoadA", "K")
    submit(shop, "LoadB", "K")
    heard(controller, "instance.complete BatchControl_id=2 ProcessBatchName=LoadB")
    # Whoever acts by hand is no leader.
    assert shop.run("pause", "1").returncode == 0
    assert shop.run("skip", "1", "--reason", "by hand").returncode == 0
    heard(controller, "instance.complete BatchControl_id=4 ProcessBatchName=Mail")
    assert shop.hand.sql(RUNS) == [("Report", "K"), ("Mail", "K")]


def test_two_rounds_at_once_start_it_once(shop: Shop) -> None:
    submit(shop, "LoadA", "K")
    submit(shop, "LoadB", "K")
    assert shop.run("create").returncode == 0
    rounds = [shop.start("process") for _ in range(2)]
    for each in rounds:
        each.communicate(timeout=PATIENCE)
    assert [each.returncode for each in rounds] == [0, 0]
    assert shop.run("run", "--once").returncode == 0
    assert shop.hand.sql(RUNS) == [("Report", "K"), ("Mail", "K")]
