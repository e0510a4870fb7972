"""Refuse an IsRepeatable of vSqlJob that is neither 0 nor 1: any other number was daily, which nobody may have meant."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from alembic import op
from alembic.util import load_python_file

revision = "0029"
down_revision = "0028"
branch_labels = None
depends_on = None

SAID = "batchctl: IsRepeatable is 0 (once) or 1 (daily)"
STRANGE = "CAST({}IsRepeatable AS {}) NOT IN ('0', '1')"


def upgrade() -> None:
    """Make anew what makes a job of a row."""
    _make(_refusing)


def downgrade() -> None:
    """Make it as it was."""
    _make(lambda _dialect, statement: statement)


def _make(change: Any) -> None:
    dialect: str = op.get_context().dialect.name
    before = load_python_file(str(Path(__file__).parent), "0023_refused_rows_and_views.py")
    if dialect == "postgresql":
        made = before.SQL_JOB_FUNCTION.replace("CREATE FUNCTION", "CREATE OR REPLACE FUNCTION", 1)
        op.execute(change(dialect, made))
        return
    elsewhere = op.get_context().version_table_schema
    of = "" if elsewhere is None else f"{elsewhere}."
    op.execute(f"DROP TRIGGER {of}TR_vSqlJob_Insert")
    made = change(dialect, dict(before.triggers(dialect))["vSqlJob"]).replace(
        "CREATE TRIGGER ", f"CREATE TRIGGER {of}", 1
    )
    op.execute(made.replace(" ON vSqlJob ", f" ON {of}vSqlJob ", 1))


def _refusing(dialect: str, statement: str) -> str:
    """Refuse before anything is inserted."""
    inserts = "INSERT INTO ProcessBatch ("
    match dialect:
        case "sqlite":
            refuse = f"SELECT RAISE(ABORT, '{SAID}') WHERE {STRANGE.format('NEW.', 'TEXT')}; "
        case "postgresql":
            when = STRANGE.format("NEW.", "text")
            refuse = f"IF {when} THEN\n        RAISE EXCEPTION '{SAID}';\n    END IF;\n    "
        case _:
            when = STRANGE.format("i.", "varchar(11)")
            refuse = f"IF EXISTS (SELECT 1 FROM inserted AS i WHERE {when})\n        THROW 51000, N'{SAID}', 1;\n    "
            # It stands in the text of a statement.
            refuse = refuse.replace("'", "''")
    return statement.replace(inserts, f"{refuse}{inserts}", 1)
