"""Make the rows that stand for names that one transaction has at a time: a lock of the server's own anybody may take."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

from batchctl.store.columns import UtcTime, identity, unquoted, utc_now
from batchctl.store.conditions import time_checks, type_checks

revision = "0041"
down_revision = "0040"
branch_labels = None
depends_on = None

SLOTS = 64


def upgrade() -> None:
    """Make the table, and where names are locked by its rows, those."""
    columns: list[sa.Column[Any]] = [
        sa.Column(unquoted(each), UtcTime(), nullable=False, server_default=utc_now())
        for each in ("z_inserted", "z_updated")
    ]
    made = sa.Table(
        unquoted("NamedLock"),
        sa.MetaData(naming_convention={"pk": "PK_%(table_name)s", "ck": "CK_%(table_name)s_%(constraint_name)s"}),
        sa.Column(unquoted("NamedLock_id"), identity(), primary_key=True, autoincrement=True),
        *columns,
        sqlite_autoincrement=True,
    )
    for constraint in (*type_checks(columns), *time_checks(columns)):
        made.append_constraint(constraint)
    op.get_context().impl.create_table(made)
    if op.get_context().dialect.name == "postgresql":
        op.execute(f"INSERT INTO NamedLock (NamedLock_id) SELECT generate_series(1, {SLOTS})")


def downgrade() -> None:
    """Drop it."""
    op.drop_table(unquoted("NamedLock"))
