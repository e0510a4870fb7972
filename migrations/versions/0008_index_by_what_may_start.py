"""Index instances by what may start: neither what has failed, waits for its time nor is paused is read in between."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from batchctl.store.columns import unquoted

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

AT_ONCE = " AND NextRunTime <= '1900-01-01 00:00:00.000'"
LATER = " AND NextRunTime > '1900-01-01 00:00:00.000'"
BY_ID, BY_TIME = ("ProcessBatch_id", "BatchControl_id"), ("ProcessBatch_id", "NextRunTime")
OPEN = ("ready", "running", "retry", "failed", "held", "pausing", "paused", "cancelling")

BEFORE = (("IX_BatchControl_Open", BY_ID, OPEN, ""),)
AFTER = (
    ("IX_BatchControl_InLine", BY_ID, ("ready", "retry", "failed", "held"), ""),
    ("IX_BatchControl_AtOnce", BY_ID, ("ready", "retry"), AT_ONCE),
    ("IX_BatchControl_Deferred", BY_TIME, ("ready", "retry"), LATER),
    ("IX_BatchControl_Paused", BY_ID, ("paused",), ""),
)


def upgrade() -> None:
    """Take one index for each kind in the place of one for all that is open."""
    _replace(BEFORE, AFTER)


def downgrade() -> None:
    """Take the one for all again."""
    _replace(AFTER, BEFORE)


def _replace(old: tuple[tuple[str, tuple[str, ...], tuple[str, ...], str], ...], new: object) -> None:
    for name, *_ in old:
        op.drop_index(name, unquoted("BatchControl"))
    for name, columns, words, more in new:
        op.create_index(
            name,
            unquoted("BatchControl"),
            [unquoted(column) for column in columns],
            sqlite_where=sa.text(f"({' OR '.join(map('Status = {!r}'.format, words))}){more}"),
            postgresql_where=sa.text(_listed(words) + more),
            mssql_where=sa.text(_listed(words) + more),
        )


def _listed(words: tuple[str, ...]) -> str:
    return f"Status IN ({', '.join(map(repr, words))})"
