"""Create what people ask for by rows: to rerun, skip, pause, resume or cancel an instance, to enable or disable a batch."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

from batchctl.store.columns import UtcTime, database_user, identity, name, text_column, unquoted, utc_now, word
from batchctl.store.conditions import is_word, type_checks

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None

CONVENTION = {"pk": "PK_%(table_name)s", "ck": "CK_%(table_name)s_%(constraint_name)s"}
STATUSES = ("requested", "done", "refused")


def upgrade() -> None:
    """Make the table, its index and, on PostgreSQL, its triggers."""
    columns = [
        _needed("Action", name(50)),
        _optional("BatchControl_id", identity()),
        _optional("ProcessBatchName", name()),
        *(_optional(column, text_column()) for column in ("Arguments", "Reason")),
        _needed("Actor", name(), database_user()),
        _needed("Status", word(), sa.text("'requested'")),
        _optional("Answer", text_column()),
        _optional("AnsweredBy", name()),
        _optional("AnsweredTime", UtcTime()),
        *(_needed(column, UtcTime(), utc_now()) for column in ("z_inserted", "z_updated")),
    ]
    made = sa.Table(
        unquoted("OperatorRequest"),
        sa.MetaData(naming_convention=CONVENTION),
        sa.Column(unquoted("OperatorRequest_id"), identity(), primary_key=True, autoincrement=True),
        *columns,
        *(sa.CheckConstraint(f"{column} <> ''", name=column) for column in ("Action", "Actor")),
        sa.CheckConstraint(is_word("Status", STATUSES), name="Status"),
        sqlite_autoincrement=True,
    )
    for constraint in type_checks(columns):
        made.append_constraint(constraint)
    op.get_context().impl.create_table(made)
    dialect = op.get_context().dialect.name
    condition: dict[str, Any] = {f"{dialect}_where": sa.text("Status = 'requested'")}
    op.create_index(
        "IX_OperatorRequest_Open", unquoted("OperatorRequest"), [unquoted("OperatorRequest_id")], **condition
    )
    if dialect == "postgresql":
        _create_triggers()


def downgrade() -> None:
    """Drop the table."""
    op.drop_table(unquoted("OperatorRequest"))


def _create_triggers() -> None:
    op.execute(
        "CREATE TRIGGER TR_OperatorRequest_Status BEFORE INSERT OR UPDATE OF Status ON OperatorRequest FOR EACH ROW"
        " WHEN (NEW.Status <> lower(NEW.Status)) EXECUTE FUNCTION batchctl_lower('status')"
    )
    op.execute(
        "CREATE TRIGGER TR_OperatorRequest_Notify AFTER INSERT ON OperatorRequest FOR EACH STATEMENT"
        " WHEN (coalesce(current_setting('batchctl.quiet', true), '') <> 'on') EXECUTE FUNCTION batchctl_notify()"
    )


def _needed(called: str, kind: Any, default: Any = None) -> sa.Column[Any]:
    return sa.Column(unquoted(called), kind, nullable=False, server_default=default)


def _optional(called: str, kind: Any) -> sa.Column[Any]:
    return sa.Column(unquoted(called), kind, nullable=True)
