"""A statement that is shown to be typed is taken by every client of its database."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from batchctl.store.intake.intake import to_correct_entity
from batchctl.store.unreadable_columns import for_any_client

PLAIN = f"correct Entity of the row ({to_correct_entity(cast('Any', 7))}), or register a batch"
TOLD = PLAIN.replace("(UPDATE", "(SET QUOTED_IDENTIFIER ON; UPDATE")


@pytest.mark.parametrize(
    ("dialect", "text", "shown"),
    [
        ("sqlite", PLAIN, PLAIN),
        ("postgresql", PLAIN, PLAIN),
        ("mssql", PLAIN, TOLD),
        ("mssql", TOLD, TOLD),
        (
            "mssql",
            "let it wait no more: UPDATE BatchControl SET NextRunTime = '' WHERE BatchControl_id = 1;",
            "let it wait no more: SET QUOTED_IDENTIFIER ON; UPDATE BatchControl SET NextRunTime = '' WHERE BatchControl_id = 1;",
        ),
    ],
)
def test_sqlcmd_is_told_first_what_it_needs(dialect: str, text: str, shown: str) -> None:
    connection = cast("Any", SimpleNamespace(dialect=SimpleNamespace(name=dialect)))
    assert for_any_client(connection, text) == shown
