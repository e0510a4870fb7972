"""Every test is in the tier that tests/tiers.py names for its module."""

from __future__ import annotations

import re

import pytest

from tests import tiers
from tests.house.source import ROOT

TESTS = ROOT / "tests"
MODULES = {path.relative_to(TESTS).as_posix(): path.read_text(encoding="utf-8") for path in TESTS.rglob("test_*.py")}
MARKED = re.compile(r"mark\.full\b")


def test_the_tiers_name_modules_that_there_are() -> None:
    named = {*tiers.FULL, *tiers.PARTLY_FULL, *tiers.ON_BOTH}

    assert [name for name in named if not any(module.startswith(name) for module in MODULES)] == []
    assert tiers.FULL.keys() & tiers.PARTLY_FULL.keys() == set()
    assert all([*tiers.FULL.values(), *tiers.PARTLY_FULL.values()])


def test_a_module_marks_tests_as_full_only_where_that_is_named() -> None:
    marking = {module for module, text in MODULES.items() if MARKED.search(text)} - {"house/test_tiers.py"}

    assert marking == set(tiers.PARTLY_FULL)


@pytest.mark.parametrize("most", [10, 300])
def test_a_property_is_tried_with_fewer_examples_by_the_quick_tests_and_never_with_none(most: int) -> None:
    assert 0 < tiers.examples(most) <= most
