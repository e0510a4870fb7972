"""Let SQLite never give the number of an attempt again that somebody has deleted.

By these numbers a host remembers what became of commands. The other databases have nothing to do.
"""

from __future__ import annotations

from alembic import context, op

from batchctl.store.rewording import Rewording, reword

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

TABLE = "BatchProcessHistory"
NEXT = f'CONSTRAINT "UQ_{TABLE}_BatchControl_id_ProcessControlSeq_AttemptNo"'
KEY = f'CONSTRAINT "PK_{TABLE}" PRIMARY KEY ({TABLE}_id), '
REWORDINGS: tuple[Rewording, ...] = (
    (f"{TABLE}_id INTEGER NOT NULL, ", f"{TABLE}_id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, "),
    # What is printed is indented otherwise than what is made.
    *((f"{KEY}\n{indent}{NEXT}", NEXT) for indent in ("\t", "    ")),
)
GIVEN = f"INSERT INTO sqlite_sequence (name, seq) SELECT '{TABLE}', coalesce(max({TABLE}_id), 0) FROM {TABLE}"
FORGOTTEN = f"DELETE FROM sqlite_sequence WHERE name = '{TABLE}'"


def upgrade() -> None:
    """Let SQLite remember the last number it gave."""
    if op.get_context().dialect.name == "sqlite":
        reword([TABLE], REWORDINGS)
        if not context.is_offline_mode():
            op.execute(GIVEN)


def downgrade() -> None:
    """Let it forget."""
    if op.get_context().dialect.name == "sqlite":
        # One of the two ways to indent is found, and only once.
        reword([TABLE], [(after, before) for before, after in REWORDINGS[:2]])
        op.execute(FORGOTTEN)
