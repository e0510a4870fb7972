"""Refuse to rename a calendar that a schedule or a batch names: they go by its name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from alembic import op
from alembic.util import load_python_file

revision = "0039"
down_revision = "0038"
branch_labels = None
depends_on = None

TRIGGER = "TR_Calendar_Renamed"


def upgrade() -> None:
    """Make the trigger."""
    before: Any = load_python_file(str(Path(__file__).parent), "0033_rows_that_point_nowhere_and_views.py")
    op.execute(_trigger(op.get_context().dialect.name, before))


def downgrade() -> None:
    """Drop it."""
    op.execute(f"DROP TRIGGER {TRIGGER}" + (" ON Calendar" if op.get_context().dialect.name == "postgresql" else ""))


def _trigger(dialect: str, before: Any) -> str:
    """Return what refuses the new name, in the words in which a DELETE is refused."""
    renamed = "NEW.CalendarName <> OLD.CalendarName"
    match dialect:
        case "sqlite":
            used = before.calendar_is_used("u.{} = OLD.CalendarName")
            refuse = f"BEGIN SELECT RAISE(ABORT, '{before.USED}'); END"
            return (
                f"CREATE TRIGGER {TRIGGER} BEFORE UPDATE OF CalendarName ON Calendar"
                f" WHEN {renamed} AND ({used}) {refuse}"
            )
        case "postgresql":
            # The function returns the old row, which a trigger before the change would leave as it is.
            return (
                f"CREATE TRIGGER {TRIGGER} AFTER UPDATE OF CalendarName ON Calendar FOR EACH ROW WHEN ({renamed})"
                " EXECUTE FUNCTION batchctl_calendar_used()"
            )
        case _:
            gone = "NOT EXISTS (SELECT 1 FROM inserted AS i WHERE i.CalendarName = d.CalendarName)"
            used = before.calendar_is_used(
                f"EXISTS (SELECT 1 FROM deleted AS d WHERE d.CalendarName = u.{{}} AND {gone})"
            )
            text = (
                f"CREATE TRIGGER {TRIGGER} ON Calendar AFTER UPDATE AS\nBEGIN\n    SET NOCOUNT ON;\n"
                f"    IF {used}\n        THROW 51000, N'{before.for_any_client(before.USED)}', 1;\nEND"
            )
            made: str = before._elsewhere(before._as_batch(text), "Calendar")  # noqa: SLF001 - as that made it
            return made
