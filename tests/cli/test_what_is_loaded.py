"""Who only looks, or drops a row, waits for nothing that only those who work need."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.control_databases import ControlDatabase
from tests.house.source import ROOT

DEFINED = """
INSERT INTO ProcessBatch (ProcessBatchName) VALUES ('Load')
INSERT INTO FileProcess (Entity) VALUES ('Load')
INSERT INTO Schedule (ScheduleName, Entity, ScheduleType, RunTimes) VALUES ('nightly', 'Load', 'daily', '02:00')
INSERT INTO Calendar (CalendarName) VALUES ('bank')
"""
LOOKING = [
    "status",
    "why file:1",
    "schedule list",
    "schedule preview nightly",
    "calendar list",
    "submit Load",
    "log",
    "inbox",
    "history",
    "batches",
    "controllers",
]

# Runs in a process of its own; prints the modules it has loaded and how often Python has looked for garbage.
ENTERED = """
import gc, sys
from batchctl.cli import main
sys.argv[0] = "batchctl"
try:
    main.entry()
finally:
    print(gc.get_stats()[0]["collections"], *sys.modules, file=sys.stderr)
"""
OF_WORK = {
    "batchctl.control",
    "batchctl.node",
    "batchctl.plugin_api",
    "batchctl.populators",
    "batchctl.preparation",
    "batchctl.registry",
    "batchctl.surroundings",
    "batchctl.system.runner",
    "batchctl.system.folders",
}
OF_ACTS = {"batchctl.operations.intervene"}
OF_FEW = {"alembic", "cronsim", "holidays", "networkx", "tenacity"}


@pytest.fixture
def defined(control_database: ControlDatabase) -> ControlDatabase:
    hand = control_database.hand()
    for statement in DEFINED.strip().splitlines():
        hand.sql(statement)
    hand.close()
    return control_database


def enter(database: ControlDatabase, command: str) -> tuple[int, set[str]]:
    """Return how often garbage was looked for, and what was loaded."""
    done = subprocess.run(
        [sys.executable, "-c", ENTERED, *command.split()],
        cwd=database.directory,
        env=os.environ | {"PYTHONPATH": str(ROOT), "BATCHCTL_DATABASE_URL": database.url},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    collections, *loaded = done.stderr.splitlines()[-1].split()
    return int(collections), {*loaded}


@pytest.mark.parametrize("command", LOOKING)
def test_who_only_looks_loads_nothing_of_what_works(defined: ControlDatabase, command: str) -> None:
    _, loaded = enter(defined, command)

    assert {"batchctl.app", "sqlalchemy"} <= loaded
    assert not loaded & (OF_WORK | OF_ACTS | OF_FEW)


@pytest.mark.parametrize(("command", "needed"), [("run --once", OF_WORK), ("disable Load --reason why", OF_ACTS)])
def test_who_works_or_acts_loads_it(defined: ControlDatabase, command: str, needed: set[str]) -> None:
    _, loaded = enter(defined, command)

    assert needed <= loaded


def test_a_start_is_hardly_ever_looked_through_for_garbage(defined: ControlDatabase) -> None:
    collections, _ = enter(defined, "status")

    assert collections < 50
