"""All tables with their keys, constraints, indexes and first rows, as `tables/` has them for each kind of database.

It stands for the 44 revisions before the first release. Views, triggers and functions are no migration: `db upgrade` makes
them anew.
"""

from __future__ import annotations

from pathlib import Path

import sqlalchemy as sa
from alembic import op

revision = "0044"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make everything, from nothing."""
    dialect = op.get_context().dialect.name
    script = Path(__file__).with_name("tables") / f"{dialect}.sql"
    for statement in script.read_text(encoding="utf-8").split(";\n"):
        if statement.strip():
            op.execute(sa.DDL(statement.strip().replace("%", "%%")))


def downgrade() -> None:
    """Refuse: what people have defined and what was done would be gone."""
    message = "there is no way back to no tables: drop the database"
    raise NotImplementedError(message)
