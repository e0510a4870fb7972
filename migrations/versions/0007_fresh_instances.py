"""Let what may start at once be found, however much of the same batch waits for its time."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from batchctl.store.columns import unquoted

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

INDEX = "IX_BatchControl_Fresh"
COLUMNS = ("ProcessBatch_id", "BatchControl_id")
FRESH = sa.text("Status = 'ready' AND NextRunTime <= '1900-01-01 00:00:00.000'")


def upgrade() -> None:
    """Make the index."""
    op.create_index(
        INDEX,
        unquoted("BatchControl"),
        [unquoted(column) for column in COLUMNS],
        sqlite_where=FRESH,
        postgresql_where=FRESH,
        mssql_where=FRESH,
    )


def downgrade() -> None:
    """Drop it."""
    op.drop_index(INDEX, unquoted("BatchControl"))
