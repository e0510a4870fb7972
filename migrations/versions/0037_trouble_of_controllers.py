"""Let a controller write what keeps it from its work, and an incident be of that kind."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from alembic import op
from alembic.util import load_python_file

from batchctl.store.columns import text_column

revision = "0037"
down_revision = "0036"
branch_labels = None
depends_on = None

KIND = "controller_trouble"
IS_TEXT = "Trouble IS NULL OR (typeof(Trouble) = 'text' AND instr(Trouble, char(0)) = 0)"


def upgrade() -> None:
    """Add the column, and name the kind."""
    dialect = op.get_context().dialect
    kind = dialect.type_compiler_instance.process(text_column())
    if dialect.name == "sqlite":
        op.execute(
            f"ALTER TABLE Controller ADD COLUMN Trouble {kind} CONSTRAINT CK_Controller_Trouble_Type CHECK ({IS_TEXT})"
        )
    else:
        add, null = ("ADD", " NULL") if dialect.name == "mssql" else ("ADD COLUMN", "")
        op.execute(f"ALTER TABLE Controller {add} Trouble {kind}{null}")
    before = _kinds()
    _first().name_kinds(before, (*before, KIND))


def downgrade() -> None:
    """Forget the incidents of the kind, and drop the column."""
    of_kind = f"SELECT Incident_id FROM Incident WHERE Kind = '{KIND}'"
    op.execute(f"DELETE FROM AlertDelivery WHERE Incident_id IN ({of_kind})")
    op.execute(f"DELETE FROM Incident WHERE Kind = '{KIND}'")
    before = _kinds()
    _first().name_kinds((*before, KIND), before)
    op.execute("ALTER TABLE Controller DROP COLUMN Trouble")


def _first() -> Any:
    """Return the migration that names kinds."""
    return load_python_file(str(Path(__file__).parent), "0024_lead_by_a_row.py")


def _kinds() -> tuple[str, ...]:
    first = _first()
    return (*first.KINDS, *first.NEW_KINDS)
