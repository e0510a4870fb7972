"""Make vSchedule anew: SQL Server refuses an aggregate of a subquery, so the view has been put otherwise everywhere."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from alembic import op
from alembic.util import load_python_file

revision = "0035"
down_revision = "0034"
branch_labels = None
depends_on = None

VIEW = "vSchedule"


def upgrade() -> None:
    """Make the view anew as the migration that spells it out has it now."""
    first: Any = load_python_file(str(Path(__file__).parent), "0023_refused_rows_and_views.py")
    elsewhere = op.get_context().version_table_schema
    schema = "" if elsewhere is None else f"{elsewhere}."
    first._make({VIEW: first.views(op.get_context().dialect.name, schema)[VIEW]})


def downgrade() -> None:
    """Leave it: it answers the same."""
