"""Create Controller, Resource and BatchResource; let history name the worker; index what claiming looks for."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

from batchctl.store.columns import UtcTime, identity, in_words, name, sqlite_types, text_column, unquoted, utc_now, word

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

CONVENTION = {
    "pk": "PK_%(table_name)s",
    "fk": "FK_%(table_name)s_%(column_0_name)s",
    "uq": "UQ_%(table_name)s_%(column_0_N_name)s",
    "ck": "CK_%(table_name)s_%(constraint_name)s",
}
CLAIMED = "Status IN ('running', 'pausing', 'cancelling')"
STANDING = "Status IN ('retry', 'failed', 'held')"
DUE = "Status IN ('ready', 'retry') AND NextRunTime > '1900-01-01 00:00:00.000'"
WORKER = {
    "sqlite": "VARCHAR(200) CONSTRAINT CK_BatchProcessHistory_ClaimedBy_Type CHECK (ClaimedBy IS NULL OR"
    " (typeof(ClaimedBy) = 'text' AND instr(ClaimedBy, char(0)) = 0 AND length(ClaimedBy) <= 200))",
    "postgresql": "VARCHAR(200)",
    "mssql": "NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NULL",
}


def upgrade() -> None:
    """Make the tables, the column and the indexes."""
    dialect = op.get_context().dialect.name
    metadata = sa.MetaData(naming_convention=CONVENTION)
    sa.Table(unquoted("ProcessBatch"), metadata, sa.Column(unquoted("ProcessBatch_id"), identity(), primary_key=True))
    _create(
        metadata,
        "Controller",
        _needed("ControllerName", name()),
        _needed("Status", word(), "'running'"),
        _needed("Host", name()),
        sa.Column(unquoted("Pid"), identity(), nullable=True),
        sa.Column(unquoted("PidStart"), name(50), nullable=True),
        sa.Column(unquoted("BootId"), name(50), nullable=True),
        _needed("Slots", sa.Integer(), "1"),
        _needed("HeartbeatSeq", identity(), "0"),
        _stamp("Heartbeat"),
        sa.Column(unquoted("AppVersion"), name(50), nullable=True),
        sa.UniqueConstraint("ControllerName"),
        sa.CheckConstraint("ControllerName <> ''", name="ControllerName"),
        sa.CheckConstraint(in_words("Status", ["running", "stopped", "lost"]), name="Status"),
    )
    _create(
        metadata,
        "Resource",
        _needed("ResourceName", name()),
        _needed("Units", sa.Integer(), "1"),
        sa.Column(unquoted("Description"), text_column(), nullable=True),
        sa.UniqueConstraint("ResourceName"),
        sa.CheckConstraint("ResourceName <> ''", name="ResourceName"),
        sa.CheckConstraint("Units BETWEEN 0 AND 1000000", name="Units"),
    )
    _create(
        metadata,
        "BatchResource",
        _needed("ProcessBatch_id", identity(), None, sa.ForeignKey("ProcessBatch.ProcessBatch_id")),
        _needed("Resource_id", identity(), None, sa.ForeignKey("Resource.Resource_id")),
        _needed("Units", sa.Integer(), "1"),
        _needed("Exclusive", sa.SmallInteger(), "0"),
        sa.UniqueConstraint("ProcessBatch_id", "Resource_id"),
        sa.CheckConstraint("Units BETWEEN 1 AND 1000000", name="Units"),
        sa.CheckConstraint("Exclusive IN (0, 1)", name="Exclusive"),
    )
    add = "ADD" if dialect == "mssql" else "ADD COLUMN"
    op.execute(f"ALTER TABLE BatchProcessHistory {add} ClaimedBy {WORKER[dialect]}")
    _index("IX_BatchControl_Claimed", "ProcessBatch_id", CLAIMED)
    _index("IX_BatchControl_Standing", "BatchControl_id", STANDING)
    _index("IX_BatchControl_Due", "NextRunTime", DUE)
    if dialect == "postgresql":
        _create_triggers()


def downgrade() -> None:
    """Drop what the revision made."""
    for index in ("IX_BatchControl_Due", "IX_BatchControl_Standing", "IX_BatchControl_Claimed"):
        op.drop_index(index, unquoted("BatchControl"))
    if op.get_context().dialect.name == "postgresql":
        op.execute("DROP TRIGGER TR_Setting_Notify ON Setting")
    op.execute("ALTER TABLE BatchProcessHistory DROP COLUMN ClaimedBy")
    for table in ("BatchResource", "Resource", "Controller"):
        op.drop_table(unquoted(table))


def _create_triggers() -> None:
    op.execute(
        "CREATE TRIGGER TR_Controller_Status BEFORE INSERT OR UPDATE OF Status ON Controller FOR EACH ROW"
        " WHEN (NEW.Status <> lower(NEW.Status)) EXECUTE FUNCTION batchctl_lower('status')"
    )
    for table in ("Resource", "BatchResource", "Setting"):
        op.execute(
            f"CREATE TRIGGER TR_{table}_Notify AFTER INSERT OR UPDATE OR DELETE ON {table} FOR EACH STATEMENT"
            " WHEN (coalesce(current_setting('batchctl.quiet', true), '') <> 'on') EXECUTE FUNCTION batchctl_notify()"
        )


def _create(metadata: sa.MetaData, called: str, *parts: Any) -> None:
    stamps = [_stamp("z_inserted"), _stamp("z_updated")]
    columns = [*(part for part in parts if isinstance(part, sa.Column)), *stamps]
    rest = [part for part in parts if not isinstance(part, sa.Column)]
    key = sa.Column(unquoted(f"{called}_id"), identity(), primary_key=True, autoincrement=True)
    table = sa.Table(unquoted(called), metadata, key, *columns, *rest, sqlite_autoincrement=True)
    for constraint in sqlite_types(columns):
        table.append_constraint(constraint)
    op.get_context().impl.create_table(table)


def _needed(called: str, kind: Any, default: str | None = None, *rest: Any) -> sa.Column[Any]:
    server_default = None if default is None else sa.text(default)
    return sa.Column(unquoted(called), kind, *rest, nullable=False, server_default=server_default)


def _stamp(called: str) -> sa.Column[Any]:
    return sa.Column(unquoted(called), UtcTime(), nullable=False, server_default=utc_now())


def _index(called: str, column: str, where: str) -> None:
    condition = sa.text(where)
    conditions = {"sqlite_where": condition, "postgresql_where": condition, "mssql_where": condition}
    op.create_index(called, unquoted("BatchControl"), [unquoted(column)], **conditions)
