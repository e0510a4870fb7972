"""Who only looks, or drops a row, waits for nothing that only those who work need."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass

import pytest

from batchctl.cli.main import COMMANDS
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
    "requests",
    "export",
    "versions Load",
    "report durations",
    "report due",
    "report late",
    "report night",
]

# Runs in a process of its own; prints how often Python has looked for garbage, what it need not look through at the end,
# how many constraints of types the tables have, and what was loaded: not what would be if it were used, which is counted.
ENTERED = """
import gc, sys
from batchctl.__main__ import main
sys.argv[0] = "batchctl"
try:
    main()
finally:
    collections = gc.get_stats()[0]["collections"]
    tables = sys.modules.get("batchctl.store.tables")
    made = [] if tables is None else tables.metadata.tables.values()
    names = [str(constraint.name) for table in made for constraint in table.constraints]
    loaded = [name for name, module in sys.modules.items() if type(module).__name__ != "_LazyModule"]
    waiting = sum(type(module).__name__ == "_LazyModule" for module in list(sys.modules.values()))
    types = sum(name.endswith("_Type") for name in names)
    print(collections, gc.get_freeze_count(), types, waiting, *loaded, file=sys.stderr)
"""
HELPED = """
import sys
from batchctl.cli.main import run
assert not any(run(arguments) for arguments in {asked})
print(*[name for name, module in sys.modules.items() if type(module).__name__ != "_LazyModule"], file=sys.stderr)
"""
OF_WORK = {
    "batchctl.control",
    "batchctl.node",
    "batchctl.plugin_api",
    "batchctl.populators",
    "batchctl.preparation",
    "batchctl.registry",
    "batchctl.step_context",
    "batchctl.system.runner",
    "batchctl.system.folders",
}
OF_ACTS = {"batchctl.operations.intervene"}
OF_FEW = {"alembic", "cronsim", "holidays", "networkx", "tenacity"}


@dataclass(frozen=True, slots=True)
class Start:
    """What one start of a command took."""

    collections: int
    frozen: int
    type_checks: int
    waiting: int
    """How many modules were imported and never used: a thread that used one first would find half of it."""
    loaded: set[str]


@pytest.fixture
def defined(control_database: ControlDatabase) -> ControlDatabase:
    hand = control_database.hand()
    for statement in DEFINED.strip().splitlines():
        hand.sql(statement)
    hand.close()
    return control_database


def enter(database: ControlDatabase, command: str) -> Start:
    """Call a command as a shell does."""
    done = subprocess.run(
        [sys.executable, "-c", ENTERED, *command.split()],
        cwd=database.directory,
        env=os.environ | {"PYTHONPATH": str(ROOT), "BATCHCTL_DATABASE_URL": database.url},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    collections, frozen, type_checks, waiting, *loaded = done.stderr.splitlines()[-1].split()
    return Start(int(collections), int(frozen), int(type_checks), int(waiting), {*loaded})


@pytest.mark.parametrize("command", LOOKING)
def test_who_only_looks_loads_nothing_of_what_works(defined: ControlDatabase, command: str) -> None:
    loaded = enter(defined, command).loaded

    assert {"batchctl.app", "sqlalchemy"} <= loaded
    assert not loaded & (OF_WORK | OF_ACTS | OF_FEW)


def helped(asked: list[list[str]]) -> set[str]:
    """Ask for help in one process; return what was loaded for it."""
    done = subprocess.run(
        [sys.executable, "-c", HELPED.format(asked=asked)],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    return {*done.stderr.split()}


def test_help_loads_neither_the_database_nor_what_draws_tables() -> None:
    assert not helped([[command, "--help"] for command in COMMANDS]) & {
        "batchctl.app",
        "pydantic_settings",
        "rich",
        "sqlalchemy",
    }


def test_the_list_of_commands_loads_none_of_them_and_hardly_anything_of_the_domain() -> None:
    loaded = helped([["--help"]])

    assert not {name for name in loaded if name.endswith(("_command", "_commands"))}
    assert not loaded & {"batchctl.domain.rows", "batchctl.domain.scheduling"}


@pytest.mark.parametrize("command", ["run --once", "process"])
def test_what_has_threads_has_loaded_all_before(defined: ControlDatabase, command: str) -> None:
    assert enter(defined, command).waiting == 0


@pytest.mark.parametrize(("command", "needed"), [("run --once", OF_WORK), ("disable Load --reason why", OF_ACTS)])
def test_who_works_or_acts_loads_it(defined: ControlDatabase, command: str, needed: set[str]) -> None:
    loaded = enter(defined, command).loaded

    assert needed <= loaded


def test_what_a_short_command_loads_is_hardly_ever_looked_through_for_garbage(defined: ControlDatabase) -> None:
    start = enter(defined, "status")

    assert start.collections < 15
    assert start.frozen > 50_000


def test_who_makes_no_tables_loads_them_without_the_constraints_of_types(defined: ControlDatabase) -> None:
    assert enter(defined, "status").type_checks == 0
