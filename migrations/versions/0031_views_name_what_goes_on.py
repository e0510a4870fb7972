"""Name in the views what goes on of a row whose populators were asked in vain, and of a batch without steps."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from alembic import op
from alembic.util import load_python_file

revision = "0031"
down_revision = "0030"
branch_labels = None
depends_on = None

SAID_BEFORE, SAID = "it waits for an answer: ", "it waits for a person: "


def upgrade() -> None:
    """Make both views anew."""
    _first()._make(views(op.get_context().dialect.name, _schema()))


def downgrade() -> None:
    """Make them as they were."""
    _first()._make(_before().views(op.get_context().dialect.name, _schema()))


def _before() -> Any:
    return load_python_file(str(Path(__file__).parent), "0028_unreadable_work_and_views.py")


def _first() -> Any:
    """Return the migration that spells the views out."""
    return load_python_file(str(Path(__file__).parent), "0023_refused_rows_and_views.py")


def _schema() -> str:
    """Return what stands before names where everything is made in another schema, to be looked at."""
    elsewhere = op.get_context().version_table_schema
    return "" if elsewhere is None else f"{elsewhere}."


def views(dialect: str, schema: str = "") -> dict[str, str]:
    """Return the statement that makes each view."""
    s, made = _first().Spoken(dialect, schema), _before().views(dialect, schema)
    no_step = f"WHEN NOT EXISTS (SELECT 1 FROM {s.of}ProcessControl g WHERE g.ProcessBatch_id = c.ProcessBatch_id) THEN"
    add = s.joined(
        "'INSERT INTO ProcessControl (ProcessBatch_id, ProcessControlSeq, ProcessName, ProcessType, Data1) VALUES ('",
        "b.ProcessBatch_id",
        "', 10, ''...'', ''...'', ''...'');'",
    )
    mend = "            WHEN w.BatchControl_id IS NOT NULL THEN w.Mend\n"
    ask = s.joined("'UPDATE FileProcess SET PopulatorTries = NULL WHERE FileProcess_id = '", "f.FileProcess_id", "';'")
    taken = f"EXISTS (SELECT 1 FROM {s.of}ProcessBatch b WHERE COALESCE(b.Entity, b.ProcessBatchName) = f.Entity)"
    look = f"            WHEN {taken} THEN 'SELECT"
    waiting, inbox = (made[name].replace(SAID_BEFORE, SAID) for name in ("vWaiting", "vInbox"))
    asks = f"            WHEN {taken} AND f.PopulatorTries >= 3 THEN {ask}\n"
    return {
        "vWaiting": waiting.replace(mend, f"            {no_step} {add}\n{mend}", 1),
        "vInbox": inbox.replace(look, f"{asks}{look}", 1),
    }
