"""What the tests of the command line are given."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.cli.shop import Shop
from tests.control_databases import ControlDatabase


@pytest.fixture
def shop(control_database: ControlDatabase, capsys: pytest.CaptureFixture[str]) -> Iterator[Shop]:
    """The command line on a control database, of every kind in turn."""
    made = Shop(control_database, capsys)
    yield made
    made.close()
