"""Make the views anew: a limit that is no number lets nothing start, and what each number of a batch may be is asked whole."""

from __future__ import annotations

from pathlib import Path

from alembic.util import load_python_file

revision = "0042"
down_revision = "0041"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the views anew."""
    load_python_file(str(Path(__file__).parent), "0040_upstreams_in_views.py").upgrade()


def downgrade() -> None:
    """Leave them: revision 0040 makes them of the same text."""
