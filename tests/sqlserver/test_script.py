"""SQL Server takes the script that makes the control database, and the texts that it executes."""

from __future__ import annotations

import pytest

from tests.sqlserver import taken
from tests.sqlserver.catalog import control_database, script_texts


def test_the_script_makes_what_there_is() -> None:
    made = control_database()

    assert {"fileprocess", "batchcontrol", "vwaiting"} <= made.columns.keys()
    assert made.columns["fileprocess"]["entity"] == "latin1_general_100_bin2"
    assert made.triggers["fileprocess"] == {"insert", "update"}
    assert "fileprocess" in made.strict


@pytest.mark.parametrize("text", script_texts(), ids=lambda text: " ".join(text.split())[:70])
def test_a_batch_is_taken(text: str) -> None:
    taken.assert_taken(text)
