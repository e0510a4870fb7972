"""Let every controller say how long others have to wait for its signs of life: those that wait may be set otherwise."""

from __future__ import annotations

from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

SECONDS = {
    "sqlite": "INTEGER CONSTRAINT CK_Controller_OrphanTimeoutSecs_Type CHECK"
    " (OrphanTimeoutSecs IS NULL OR (typeof(OrphanTimeoutSecs) = 'integer'))",
    "postgresql": "INTEGER",
    "mssql": "INTEGER NULL",
}


def upgrade() -> None:
    """Add the column; the controllers that are listed already say nothing."""
    dialect = op.get_context().dialect.name
    add = "ADD" if dialect == "mssql" else "ADD COLUMN"
    op.execute(f"ALTER TABLE Controller {add} OrphanTimeoutSecs {SECONDS[dialect]}")


def downgrade() -> None:
    """Drop the column."""
    op.execute("ALTER TABLE Controller DROP COLUMN OrphanTimeoutSecs")
