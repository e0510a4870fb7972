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
BEFORE = (
    (
        """ MAX(g.Ran_id) AS Ran_id
FROM (SELECT f.Schedule_id, f.ScheduleFire_id,
             CASE WHEN EXISTS (SELECT 1 FROM BatchProcessHistory h JOIN BatchControl c
                               ON c.BatchControl_id = h.BatchControl_id WHERE c.FileProcess_id = f.FileProcess_id)
                  THEN f.FileProcess_id END AS Ran_id
      FROM ScheduleFire f) g
GROUP""",
        """
       MAX(CASE WHEN EXISTS (SELECT 1 FROM BatchProcessHistory h JOIN BatchControl c
                             ON c.BatchControl_id = h.BatchControl_id WHERE c.FileProcess_id = g.FileProcess_id)
                THEN g.FileProcess_id END) AS Ran_id
FROM ScheduleFire g GROUP""",
    ),
    (
        """MIN(c.StartTime) AS StartTime
FROM (SELECT x.FileProcess_id, x.Status,
             (SELECT MIN(h.StartTime) FROM BatchProcessHistory h WHERE h.BatchControl_id = x.BatchControl_id) AS StartTime
      FROM BatchControl x) c""",
        """MIN((SELECT MIN(h.StartTime) FROM BatchProcessHistory h WHERE h.BatchControl_id = c.BatchControl_id)) AS StartTime
FROM BatchControl c""",
    ),
)
"""How the two parts are put now, and how they were."""


def upgrade() -> None:
    """Make the view anew as the migration that spells it out has it now."""
    elsewhere = op.get_context().version_table_schema
    _make(op.get_context().dialect.name, "" if elsewhere is None else f"{elsewhere}.", ())


def downgrade() -> None:
    """Put it as it was, for the versions that knew no other; SQL Server never took that."""
    dialect = op.get_context().dialect.name
    if dialect != "mssql":
        _make(dialect, "", BEFORE)


def _make(dialect: str, schema: str, changes: tuple[tuple[str, str], ...]) -> None:
    first: Any = load_python_file(str(Path(__file__).parent), "0023_refused_rows_and_views.py")
    made = first.views(dialect, schema)[VIEW]
    for now, before in changes:
        if now not in made:
            raise ValueError(now)
        made = made.replace(now, before)
    first._make({VIEW: made})
