"""On every floor stand the same seven wings; what is in none of them is the walk itself."""

from __future__ import annotations

import pytest

from tests.house.source import ROOT

FLOORS = ("cli", "control", "domain", "operations", "store")
WINGS = {"scheduling", "intake", "dependencies", "alerting", "definitions", "operators", "maintenance"}
OF_THE_STORE = {"dialects", "invariants", "repeatable", "tables", "views"}
"""What only the store has beside the wings: how databases differ, and what stands in them."""
OF_OPERATIONS = {"reports"}
"""What only operations has: what people read about all wings together."""
OTHERS = {
    "batchctl/system": {"commands", "concurrency", "host", "plugins", "remote"},
    "step_handlers": {"databases", "packages", "postgres", "shells", "sqlserver"},
}
"""What is no floor, and has wings of its own."""
MOST = 30
"""How many modules a person takes in at a glance."""


@pytest.mark.parametrize("floor", FLOORS)
def test_no_floor_has_other_wings(floor: str) -> None:
    found = {path.parent.name for path in (ROOT / "batchctl" / floor).glob("*/__init__.py")}

    assert found <= WINGS | {"store": OF_THE_STORE, "operations": OF_OPERATIONS}.get(floor, set())
    assert len(found & WINGS) > 5


@pytest.mark.parametrize("root", OTHERS)
def test_what_is_no_floor_has_the_wings_that_are_named_here(root: str) -> None:
    assert {path.parent.name for path in (ROOT / root).glob("*/__init__.py")} == OTHERS[root]


@pytest.mark.parametrize("floor", [*(f"batchctl/{floor}" for floor in FLOORS), *OTHERS])
def test_no_folder_holds_more_modules_than_a_person_takes_in(floor: str) -> None:
    folders = [path.parent for path in (ROOT / floor).rglob("__init__.py")]
    modules = {folder: len([path for path in folder.glob("*.py") if path.name != "__init__.py"]) for folder in folders}

    assert {str(folder): many for folder, many in modules.items() if many > MOST} == {}
