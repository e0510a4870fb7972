"""Refuse to delete what has run: on SQLite an instance with attempts, on PostgreSQL all steps at once while any runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from alembic import op
from alembic.util import load_python_file

revision = "0030"
down_revision = "0029"
branch_labels = None
depends_on = None

HAS_RUN = "batchctl: the BatchControl row has attempts in BatchProcessHistory: batchctl cancel ID --reason ... instead"
INSTANCE = (
    "CREATE TRIGGER TR_BatchControl_InUse BEFORE DELETE ON BatchControl"
    " WHEN EXISTS (SELECT 1 FROM BatchProcessHistory h WHERE h.BatchControl_id = OLD.BatchControl_id)"
    f" BEGIN SELECT RAISE(ABORT, '{HAS_RUN}'); END"
)
"""Foreign keys, which refuse it on other databases, are off in SQLite unless a client asks for them."""
STEPS = (
    "CREATE TRIGGER TR_ProcessControl_InUseTruncate BEFORE TRUNCATE ON ProcessControl FOR EACH STATEMENT"
    " EXECUTE FUNCTION batchctl_in_use()"
)
_ROW = "    IF TG_OP = 'UPDATE' AND"


def upgrade() -> None:
    """Make the triggers."""
    match op.get_context().dialect.name:
        case "sqlite":
            op.execute(INSTANCE)
        case "postgresql":
            op.execute(_function(whole=True))
            op.execute(STEPS)


def downgrade() -> None:
    """Drop them."""
    match op.get_context().dialect.name:
        case "sqlite":
            op.execute("DROP TRIGGER TR_BatchControl_InUse")
        case "postgresql":
            op.execute("DROP TRIGGER TR_ProcessControl_InUseTruncate ON ProcessControl")
            op.execute(_function(whole=False))


def _function(*, whole: bool) -> str:
    before: Any = load_python_file(str(Path(__file__).parent), "0023_refused_rows_and_views.py")
    made = str(before.IN_USE_FUNCTION).replace("CREATE FUNCTION", "CREATE OR REPLACE FUNCTION", 1)
    if not whole:
        return made
    running = f"""    IF TG_OP = 'TRUNCATE' THEN
        EXECUTE 'SELECT EXISTS (SELECT 1 FROM ' || ours || 'BatchProcessHistory h WHERE h.Status = ''running'')' INTO runs;
        IF runs THEN
            RAISE EXCEPTION USING MESSAGE = '{before.STEP_RUNS}', ERRCODE = 'foreign_key_violation';
        END IF;
        RETURN NULL;
    END IF;
"""
    return made.replace(_ROW, f"{running}{_ROW}", 1)
