"""Refuse a request whose Action is no word that a controller knows; what was answered stays as it is."""

from __future__ import annotations

from alembic import context, op

from batchctl.store.rewording import reword
from batchctl.store.written_forms import is_word_while

revision = "0044"
down_revision = "0043"
branch_labels = None
depends_on = None

WORDS = (
    *("rerun", "skip", "pause", "resume", "cancel", "enable", "disable", "freeze", "thaw", "acknowledge", "snooze"),
    *("retry", "reject", "resend"),
)
NEXT = 'CONSTRAINT "CK_OperatorRequest_Action_Type"'
"""Before which constraint SQLite's new one is written."""
ANSWER = f"Action is none of {', '.join(WORDS)}"


def upgrade() -> None:
    """Make the constraint; what waits and breaks it is answered, as a controller would."""
    fits = _fits()
    if not context.is_offline_mode():
        _answer_what_breaks_it(fits)
    if op.get_context().dialect.name == "sqlite":
        reword(["OperatorRequest"], [_rewording()])
    else:
        op.execute(f"ALTER TABLE {_table()} ADD CONSTRAINT {_named()} CHECK ({fits})")


def downgrade() -> None:
    """Take it away."""
    if op.get_context().dialect.name == "sqlite":
        before, after = _rewording()
        reword(["OperatorRequest"], [(after, before)])
    else:
        op.execute(f"ALTER TABLE {_table()} DROP CONSTRAINT {_named()}")


def _answer_what_breaks_it(fits: str) -> None:
    op.execute(
        f"UPDATE {_table()} SET Status = 'refused', Answer = '{ANSWER}', AnsweredBy = 'batchctl db upgrade',"
        f" AnsweredTime = z_updated WHERE NOT ({fits})"
    )


def _rewording() -> tuple[str, str]:
    """Return how SQLite's table is written before and after."""
    return NEXT, f"CONSTRAINT {_named()} CHECK ({_fits()}), {NEXT}"


def _fits() -> str:
    return str(is_word_while("Action", WORDS, "Status = 'requested'").compile(dialect=op.get_context().dialect))


def _named() -> str:
    return op.get_context().dialect.identifier_preparer.quote_identifier("CK_OperatorRequest_Action_Word")


def _table() -> str:
    """Name the table, also where everything is made in another schema, to be looked at."""
    elsewhere = op.get_context().version_table_schema
    return "OperatorRequest" if elsewhere is None else f"{elsewhere}.OperatorRequest"
