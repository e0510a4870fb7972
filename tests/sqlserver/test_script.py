"""SQL Server takes the script that makes the control database, and the texts that it executes."""

from __future__ import annotations

from functools import cache

import pytest

from batchctl.store.maintenance import schema
from tests.sqlserver import taken
from tests.sqlserver.catalog import batches, control_database, made_by, with_trees


@cache
def texts() -> tuple[str, ...]:
    """Return the batches of the script, and the texts within."""
    return tuple(text for batch in batches(schema.script("mssql")) for text, _ in with_trees(batch))


def test_the_script_makes_what_there_is() -> None:
    made = control_database()

    assert {"fileprocess", "batchcontrol"} <= made.tables.keys()
    assert made.tables["fileprocess"]["entity"] == "latin1_general_100_bin2"
    assert made.view("vwaiting") is not None
    assert made.triggers["fileprocess"] == {"insert", "update"}
    assert "fileprocess" in made.strict


def test_what_is_left_out_of_the_trees_makes_nothing() -> None:
    assert made_by([*texts()], without=frozenset()) == made_by(batches(schema.script("mssql")))


@pytest.mark.parametrize("text", texts(), ids=lambda text: " ".join(text.split())[:70])
def test_a_batch_is_taken(text: str) -> None:
    taken.assert_taken(text, of_ours=True)
