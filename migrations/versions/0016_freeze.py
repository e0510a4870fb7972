"""Create what keeps batches from starting anything for a while; let batches have tags, by which many are meant at once."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

from batchctl.store.columns import UtcTime, database_user, identity, name, text_column, unquoted, utc_now
from batchctl.store.conditions import type_checks

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None

CONVENTION = {"pk": "PK_%(table_name)s", "ck": "CK_%(table_name)s_%(constraint_name)s"}
SQLITE_TAGS = (
    "VARCHAR(200) CONSTRAINT CK_ProcessBatch_Tags_Type CHECK"
    " (Tags IS NULL OR (typeof(Tags) = 'text' AND instr(Tags, char(0)) = 0 AND length(Tags) <= 200))"
)


def upgrade() -> None:
    """Make the table, its index and, on PostgreSQL, its trigger; give `ProcessBatch` its tags."""
    _add_tags()
    columns = [
        *(_optional(column, name()) for column in ("ProcessBatchName", "Tag")),
        _needed("Reason", text_column()),
        _needed("Actor", name(), database_user()),
        *(_optional(column, UtcTime()) for column in ("UntilTime", "ThawedTime")),
        _optional("ThawedBy", name()),
        *(_needed(column, UtcTime(), utc_now()) for column in ("z_inserted", "z_updated")),
    ]
    made = sa.Table(
        unquoted("BatchFreeze"),
        sa.MetaData(naming_convention=CONVENTION),
        sa.Column(unquoted("BatchFreeze_id"), identity(), primary_key=True, autoincrement=True),
        *columns,
        *(sa.CheckConstraint(f"{column} <> ''", name=column) for column in ("Reason", "Actor")),
        sa.CheckConstraint("ProcessBatchName IS NULL OR Tag IS NULL", name="Tag"),
        sqlite_autoincrement=True,
    )
    for constraint in type_checks(columns):
        made.append_constraint(constraint)
    op.get_context().impl.create_table(made)
    dialect = op.get_context().dialect.name
    condition: dict[str, Any] = {f"{dialect}_where": sa.text("ThawedTime IS NULL")}
    op.create_index("IX_BatchFreeze_Standing", unquoted("BatchFreeze"), [unquoted("BatchFreeze_id")], **condition)
    if dialect == "postgresql":
        op.execute(
            "CREATE TRIGGER TR_BatchFreeze_Notify AFTER INSERT OR UPDATE OR DELETE ON BatchFreeze FOR EACH STATEMENT"
            " WHEN (coalesce(current_setting('batchctl.quiet', true), '') <> 'on') EXECUTE FUNCTION batchctl_notify()"
        )


def downgrade() -> None:
    """Drop what the revision made."""
    op.drop_table(unquoted("BatchFreeze"))
    op.execute("ALTER TABLE ProcessBatch DROP COLUMN Tags")


def _add_tags() -> None:
    dialect = op.get_context().dialect
    if dialect.name == "sqlite":
        op.execute(f"ALTER TABLE ProcessBatch ADD COLUMN Tags {SQLITE_TAGS}")
    else:
        add, null = ("ADD", " NULL") if dialect.name == "mssql" else ("ADD COLUMN", "")
        written = dialect.type_compiler_instance.process(name())
        op.execute(f"ALTER TABLE ProcessBatch {add} Tags {written}{null}")


def _needed(called: str, kind: Any, default: Any = None) -> sa.Column[Any]:
    return sa.Column(unquoted(called), kind, nullable=False, server_default=default)


def _optional(called: str, kind: Any) -> sa.Column[Any]:
    return sa.Column(unquoted(called), kind, nullable=True)
