"""Let PostgreSQL, too, refuse a NextRunTime that is no day of the calendar: the engine could not even read such a row."""

from __future__ import annotations

from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

NAME = '"CK_BatchControl_NextRunTime"'
CONDITION = "NextRunTime >= '0001-01-01' AND NextRunTime < '10000-01-01'"


def upgrade() -> None:
    """Add the constraint; the other databases know no such times."""
    if op.get_context().dialect.name == "postgresql":
        op.execute(f"ALTER TABLE BatchControl ADD CONSTRAINT {NAME} CHECK ({CONDITION})")


def downgrade() -> None:
    """Drop it."""
    if op.get_context().dialect.name == "postgresql":
        op.execute(f"ALTER TABLE BatchControl DROP CONSTRAINT {NAME}")
