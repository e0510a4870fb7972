"""Nothing any more: it made the batch Task, with which whoever may insert a FileProcess row could run any command.

Databases that have it keep it; `batchctl task enable` makes it where it is wanted.
"""

from __future__ import annotations

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make nothing."""


def downgrade() -> None:
    """Leave what there is."""
