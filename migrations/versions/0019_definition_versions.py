"""Remember which version of a definition an instance and an attempt are of, and what was applied last from a file."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

from batchctl.store.columns import UtcTime, identity, name, text_column, unquoted, utc_now
from batchctl.store.conditions import type_checks

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None

CONVENTION = {
    "pk": "PK_%(table_name)s",
    "uq": "UQ_%(table_name)s_%(column_0_N_name)s",
    "ck": "CK_%(table_name)s_%(constraint_name)s",
}
VERSIONED = ("BatchControl", "BatchProcessHistory")
SQLITE = "INTEGER CONSTRAINT CK_{table}_DefVersion_Type CHECK (DefVersion IS NULL OR (typeof(DefVersion) = 'integer'))"


def upgrade() -> None:
    """Add the columns, which say nothing of what was there before, and make the tables."""
    dialect = op.get_context().dialect.name
    for table in VERSIONED:
        if dialect == "sqlite":
            op.execute(f"ALTER TABLE {table} ADD COLUMN DefVersion {SQLITE.format(table=table)}")
        else:
            add, null = ("ADD", " NULL") if dialect == "mssql" else ("ADD COLUMN", "")
            op.execute(f"ALTER TABLE {table} {add} DefVersion INTEGER{null}")
    _create(
        "BatchVersion",
        [
            _needed("ProcessBatch_id", identity()),
            _needed("ProcessBatchName", name()),
            _needed("DefVersion", sa.Integer()),
            _needed("Fingerprint", name(64)),
            _needed("Content", text_column()),
            _needed("z_inserted", UtcTime(), utc_now()),
        ],
        sa.UniqueConstraint("ProcessBatch_id", "DefVersion"),
        sa.CheckConstraint("DefVersion >= 1", name="DefVersion"),
    )
    _create(
        "AppliedDefinition",
        [
            _needed("Kind", name(50)),
            _needed("Name", name()),
            _optional("Owner", name()),
            _optional("Exported", name(64)),
            _needed("Content", text_column()),
            _needed("Actor", name()),
            *(_needed(column, UtcTime(), utc_now()) for column in ("z_inserted", "z_updated")),
        ],
        sa.UniqueConstraint("Kind", "Name"),
    )


def downgrade() -> None:
    """Drop what the revision made."""
    for table in ("AppliedDefinition", "BatchVersion"):
        op.drop_table(unquoted(table))
    for table in reversed(VERSIONED):
        op.execute(f"ALTER TABLE {table} DROP COLUMN DefVersion")


def _create(called: str, columns: list[sa.Column[Any]], *rest: Any) -> None:
    made = sa.Table(
        unquoted(called),
        sa.MetaData(naming_convention=CONVENTION),
        sa.Column(unquoted(f"{called}_id"), identity(), primary_key=True, autoincrement=True),
        *columns,
        *rest,
        sqlite_autoincrement=True,
    )
    for constraint in type_checks(columns):
        made.append_constraint(constraint)
    op.get_context().impl.create_table(made)


def _needed(called: str, kind: Any, default: Any = None) -> sa.Column[Any]:
    return sa.Column(unquoted(called), kind, nullable=False, server_default=default)


def _optional(called: str, kind: Any) -> sa.Column[Any]:
    return sa.Column(unquoted(called), kind, nullable=True)
