"""Into a view whose rows a trigger inserts, an INSERT need not name what it has nothing for."""

from __future__ import annotations

import pytest

from batchctl.store import views
from tests.sqlserver.catalog import Catalog, control_database
from tests.sqlserver.inserted_views import asked_for, filled_by_triggers


def test_each_column_of_the_view_that_a_trigger_fills_may_be_left_out() -> None:
    assert filled_by_triggers(control_database()) == ["vsqljob"]
    view = control_database().view("vsqljob")

    assert view is not None
    assert asked_for(view) == []


def columns_asked_for(select: str) -> list[str]:
    """Return what an INSERT into a view of this query has to name."""
    made = Catalog()
    made.read(f"CREATE OR ALTER VIEW v AS {select}")
    view = made.view("v")
    assert view is not None
    return asked_for(view)


@pytest.mark.parametrize(
    ("expression", "is_asked_for"),
    [
        ("e.Enabled", True),
        ("Enabled", True),
        ("b.Entity", False),
        ("h.Status", False),
        ("NULLIF(e.Enabled, -1)", False),
        ("CASE WHEN e.Enabled = 1 THEN 0 ELSE 1 END", True),
        ("CASE WHEN e.Enabled = 1 THEN 0 END", False),
        ("CASE WHEN e.Enabled = 1 THEN b.Entity ELSE 'x' END", False),
        ("COALESCE(b.Entity, 'x')", False),
        ("CONCAT(b.Entity, 'x')", True),
        ("REPLACE(b.Entity, 'x', 'y')", False),
        ("REPLACE(e.ScheduleName, 'x', 'y')", True),
        ("(SELECT 1)", False),
    ],
)
def test_what_has_to_be_named_is_told(expression: str, is_asked_for: bool) -> None:
    tables = "Schedule e JOIN ProcessBatch b ON 1 = 1 LEFT JOIN BatchProcessHistory h ON 1 = 1"
    if "." not in expression:
        tables = "Schedule e"

    assert columns_asked_for(f"SELECT {expression} AS Value FROM {tables}") == (["value"] if is_asked_for else [])


def test_a_view_that_asked_for_what_a_job_need_not_have_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(views.spoken.Spoken, "left_out", lambda _self, value, _never: value)
    made = Catalog()
    made.read(views.views("mssql")["vSqlJob"])
    view = made.view("vsqljob")

    assert view is not None
    assert asked_for(view) == ["schedule_id", "jobname", "isrepeatable", "isenabled", "nextsql"]
