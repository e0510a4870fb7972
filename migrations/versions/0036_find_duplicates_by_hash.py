"""Let SQL Server find the rows of the same Data by a hash: an index cannot hold Data, and each earlier row was read."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from batchctl.store.columns import unquoted

revision = "0036"
down_revision = "0035"
branch_labels = None
depends_on = None

TABLE = unquoted("FileProcess")
INDEX = "IX_FileProcess_Duplicate"
HASH = "CAST(HASHBYTES('SHA2_256', Data) AS binary(32))"


def upgrade() -> None:
    """Add the hash, and index it in the place of the entity alone."""
    if op.get_context().dialect.name == "mssql":
        op.drop_index(INDEX, TABLE)
        op.execute(f"ALTER TABLE FileProcess ADD DataHash AS {HASH}")
        _index("Entity", "DataHash")


def downgrade() -> None:
    """Index the entity alone again."""
    if op.get_context().dialect.name == "mssql":
        op.drop_index(INDEX, TABLE)
        _index("Entity")
        op.execute("ALTER TABLE FileProcess DROP COLUMN DataHash")


def _index(*columns: str) -> None:
    op.create_index(INDEX, TABLE, [unquoted(column) for column in columns], mssql_where=sa.text("Data IS NOT NULL"))
