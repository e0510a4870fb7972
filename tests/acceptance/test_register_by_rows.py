"""The same INSERT text on every database: sqlite3 and psql really run it elsewhere; here it is read as T-SQL."""

from __future__ import annotations

from pathlib import Path

import pytest
import sqlglot
from sqlglot import expressions as exp

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.parametrize("name", ["register_a_batch.sql", "worked_example/register.sql"])
def test_a_registration_is_t_sql_as_well(name: str) -> None:
    statements = [
        found for found in sqlglot.parse((EXAMPLES / name).read_text(encoding="utf-8"), dialect="tsql") if found
    ]

    inserts = [found for found in statements if isinstance(found, exp.Insert)]
    assert len(inserts) >= 2
    assert not [found for found in statements if isinstance(found, exp.Command)], "text that the parser passed over"
    for insert in inserts:
        # SQL Server takes no subquery among VALUES (error 1046), and no LIMIT, RETURNING or || anywhere.
        assert not [subquery for values in insert.find_all(exp.Values) for subquery in values.find_all(exp.Select)]
        assert not list(insert.find_all(exp.Limit, exp.Returning, exp.DPipe, exp.Boolean))
