"""Let every controller say by whose clocks it fires schedules, if it does: two that differ would arm each other's anew."""

from __future__ import annotations

from alembic import op

from batchctl.store.columns import name

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None

SQLITE = (
    "VARCHAR(200) CONSTRAINT CK_Controller_SchedulerZone_Type CHECK (SchedulerZone IS NULL OR"
    " (typeof(SchedulerZone) = 'text' AND instr(SchedulerZone, char(0)) = 0 AND length(SchedulerZone) <= 200))"
)


def upgrade() -> None:
    """Add the column; the controllers that are listed already say nothing."""
    dialect = op.get_context().dialect
    if dialect.name == "sqlite":
        op.execute(f"ALTER TABLE Controller ADD COLUMN SchedulerZone {SQLITE}")
    else:
        add, null = ("ADD", " NULL") if dialect.name == "mssql" else ("ADD COLUMN", "")
        written = dialect.type_compiler_instance.process(name())
        op.execute(f"ALTER TABLE Controller {add} SchedulerZone {written}{null}")


def downgrade() -> None:
    """Drop the column."""
    op.execute("ALTER TABLE Controller DROP COLUMN SchedulerZone")
