"""The statements that the console shows beside its lists run on every database, and on nothing but what there is."""

from __future__ import annotations

from contextlib import closing

import pytest

from batchctl.store.views.same_lists import STATEMENTS
from tests.control_databases import ControlDatabase


@pytest.mark.parametrize("title", STATEMENTS)
def test_each_statement_runs(control_database: ControlDatabase, title: str) -> None:
    with closing(control_database.hand()) as hand:
        for statement in STATEMENTS[title]:
            assert isinstance(hand.sql(statement), list)
