"""Create what purging needs: how long purged attempts took, and the indexes by which is found what refers to what goes."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

from batchctl.store.columns import UtcTime, identity, name, unquoted, utc_now
from batchctl.store.conditions import type_checks

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

CONVENTION = {
    "pk": "PK_%(table_name)s",
    "fk": "FK_%(table_name)s_%(column_0_name)s",
    "uq": "UQ_%(table_name)s_%(column_0_N_name)s",
    "ck": "CK_%(table_name)s_%(constraint_name)s",
}
OVER = ("complete", "cancelled")
INDEXES = {
    "IX_BatchCompletion_Instance": ("BatchCompletion", "BatchControl_id"),
    "IX_BatchCompletion_Started": ("BatchCompletion", "FileProcess_id"),
    "IX_FileWatchSeen_Intake": ("FileWatchSeen", "FileProcess_id"),
}


def upgrade() -> None:
    """Make the table and the indexes."""
    metadata = sa.MetaData(naming_convention=CONVENTION)
    sa.Table(unquoted("ProcessBatch"), metadata, sa.Column(unquoted("ProcessBatch_id"), identity(), primary_key=True))
    columns = [
        sa.Column(
            unquoted("ProcessBatch_id"), identity(), sa.ForeignKey("ProcessBatch.ProcessBatch_id"), nullable=False
        ),
        _needed("ProcessControlSeq", sa.Integer()),
        _needed("Day", name(10)),
        *(_needed(column, identity()) for column in ("UpToMs", "Runs", "TotalMs", "MinMs", "MaxMs")),
        *(
            sa.Column(unquoted(column), UtcTime(), nullable=False, server_default=utc_now())
            for column in ("z_inserted", "z_updated")
        ),
    ]
    made = sa.Table(
        unquoted("DurationHistory"),
        metadata,
        sa.Column(unquoted("DurationHistory_id"), identity(), primary_key=True, autoincrement=True),
        *columns,
        sa.UniqueConstraint("ProcessBatch_id", "ProcessControlSeq", "Day", "UpToMs"),
        sa.CheckConstraint("Runs >= 1", name="Runs"),
        sa.CheckConstraint("MinMs BETWEEN 0 AND MaxMs", name="MinMs"),
        sqlite_autoincrement=True,
    )
    for constraint in type_checks(columns):
        made.append_constraint(constraint)
    op.get_context().impl.create_table(made)
    for called, (table, column) in INDEXES.items():
        op.create_index(called, unquoted(table), [unquoted(column)])
    listed = sa.text(f"Status IN ({', '.join(map(repr, OVER))})")
    op.create_index(
        "IX_BatchControl_Over",
        unquoted("BatchControl"),
        [unquoted(column) for column in ("ProcessBatch_id", "Status", "BatchControl_id")],
        sqlite_where=sa.text(f"({' OR '.join(map('Status = {!r}'.format, OVER))})"),
        postgresql_where=listed,
        mssql_where=listed,
    )


def downgrade() -> None:
    """Drop what the revision made."""
    op.drop_index("IX_BatchControl_Over", unquoted("BatchControl"))
    for called, (table, _) in INDEXES.items():
        op.drop_index(called, unquoted(table))
    op.drop_table(unquoted("DurationHistory"))


def _needed(called: str, kind: Any) -> sa.Column[Any]:
    return sa.Column(unquoted(called), kind, nullable=False)
