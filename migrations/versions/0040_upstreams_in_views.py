"""Make the views anew: vStatus tells of batches that wait for others, vSchedule of what starts nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from alembic import op
from alembic.util import load_python_file

from batchctl.store.views import views

revision = "0040"
down_revision = "0039"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the views anew."""
    dialect = op.get_context().dialect.name
    made = views(dialect, _schema())
    if dialect == "sqlite":
        made.pop("vSqlJob")  # as it was, and dropped it would take its triggers along
    _make(made)


def downgrade() -> None:
    """Make them as they were."""
    dialect, schema = op.get_context().dialect.name, _schema()
    before = _load("0038_statements_that_refuse_and_views.py").views(dialect, schema)
    schedule = _load("0023_refused_rows_and_views.py").views(dialect, schema)["vSchedule"]
    _make({"vSchedule": schedule, "vStatus": before["vStatus"], "vWaiting": before["vWaiting"]})


def _make(made: dict[str, str]) -> None:
    _load("0023_refused_rows_and_views.py")._make(made)


def _load(name: str) -> Any:
    return load_python_file(str(Path(__file__).parent), name)


def _schema() -> str:
    """Return what stands before names where everything is made in another schema, to be looked at."""
    elsewhere = op.get_context().version_table_schema
    return "" if elsewhere is None else f"{elsewhere}."
