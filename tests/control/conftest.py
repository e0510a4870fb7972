"""A world for every test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.control.world import World


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    """Return a fresh database with an engine the test drives."""
    made = World(tmp_path)
    yield made
    made.close()
