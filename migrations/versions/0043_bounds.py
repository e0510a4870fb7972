"""Numbers out of bounds make a batch unreadable, whichever of its rows holds one, and so does a last step that is none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import sqlalchemy as sa
from alembic import op
from alembic.util import load_python_file

from batchctl.store.columns import unquoted

revision = "0043"
down_revision = "0042"
branch_labels = None
depends_on = None

LAST, FIRST = "PrevProcessControlSeq >= 0", "(typeof(ProcessBatch_id)"
INDEX, TABLE = "IX_BatchControl_Unreadable", "BatchControl"


def upgrade() -> None:
    """Make the index of what nothing can go by, and the views, anew."""
    _index(_before().replace(FIRST, f"({LAST}) AND {FIRST}", 1))
    _load("0040_upstreams_in_views.py").upgrade()


def downgrade() -> None:
    """Make the index as it was; revision 0040 makes the views of the same text."""
    _index(_before())


def _index(where: str) -> None:
    # PostgreSQL would make an entry in every index anew whenever a step has ended.
    if op.get_context().dialect.name == "sqlite":
        op.drop_index(INDEX, unquoted(TABLE))
        op.create_index(INDEX, unquoted(TABLE), [unquoted(f"{TABLE}_id")], sqlite_where=sa.text(where))


def _before() -> str:
    made: str = _load("0028_unreadable_work_and_views.py").unreadable(TABLE, "sqlite")
    return made


def _load(name: str) -> Any:
    return load_python_file(str(Path(__file__).parent), name)
