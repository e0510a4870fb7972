"""Let PostgreSQL, too, refuse a NextRunTime that is no day of the calendar: the engine could not even read such a row."""

from __future__ import annotations

from alembic import context, op

from batchctl.domain.errors import DatabaseUnusable

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

NAME = '"CK_BatchControl_NextRunTime"'
CONDITION = "NextRunTime >= '0001-01-01' AND NextRunTime < '10000-01-01'"
FIRST = f"SELECT BatchControl_id FROM BatchControl WHERE NOT ({CONDITION}) ORDER BY BatchControl_id LIMIT 10"


def upgrade() -> None:
    """Add the constraint; the other databases know no such times."""
    if op.get_context().dialect.name == "postgresql":
        if not context.is_offline_mode():
            _refuse_what_would_break_it()
        op.execute(f"ALTER TABLE BatchControl ADD CONSTRAINT {NAME} CHECK ({CONDITION})")


def downgrade() -> None:
    """Drop it."""
    if op.get_context().dialect.name == "postgresql":
        op.execute(f"ALTER TABLE BatchControl DROP CONSTRAINT {NAME}")


def _refuse_what_would_break_it() -> None:
    if found := list(op.get_bind().exec_driver_sql(FIRST).scalars()):
        ids = ", ".join(map(str, found))
        message = f"BatchControl {ids}: NextRunTime is no day of the calendar, and from schema {revision} on it has to be one."
        correct = f"UPDATE BatchControl SET NextRunTime = '1900-01-01' WHERE BatchControl_id IN ({ids})"
        raise DatabaseUnusable(message, next_step=f"{correct}, or another time; then: batchctl db upgrade")
