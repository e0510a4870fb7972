"""Create what tells people of problems: incidents, the messages about them, and by when the work of a batch is expected."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

from batchctl.store.columns import UtcTime, identity, name, text_column, unquoted, utc_now, word
from batchctl.store.conditions import is_word, type_checks

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None

CONVENTION = {
    "pk": "PK_%(table_name)s",
    "fk": "FK_%(table_name)s_%(column_0_name)s",
    "uq": "UQ_%(table_name)s_%(column_0_N_name)s",
    "ck": "CK_%(table_name)s_%(constraint_name)s",
}
KINDS = (
    *("failed", "lost", "held", "fails_often", "too_long", "too_short", "not_arrived", "not_started", "not_finished"),
    *("dependency_deadline", "calendar_ends", "no_worker", "channel_failed"),
)
WORDS = {
    ("Incident", "Kind"): KINDS,
    ("Incident", "Severity"): ("warning", "error"),
    ("Incident", "Status"): ("open", "acknowledged", "resolved"),
    ("AlertDelivery", "Kind"): ("alert", "repeat", "escalation", "recovery", "digest"),
    ("AlertDelivery", "Status"): ("waiting", "sent", "failed", "withdrawn"),
}
ADDED = {"ArriveBy": 50, "StartBy": 50, "FinishBy": 50, "ExpectedOn": 50, "ExpectedCalendar": 200}
"""What `ProcessBatch` gets, with the most characters that it takes."""


def upgrade() -> None:
    """Make the tables, their indexes and, on PostgreSQL, their triggers; let batches say when they are expected."""
    _add_to_batches()
    metadata = sa.MetaData(naming_convention=CONVENTION)
    _create(
        metadata,
        "Incident",
        _needed("Kind", word()),
        _needed("IncidentKey", name()),
        _needed("Severity", word()),
        _needed("Status", word(), "'open'"),
        _needed("Subject", name()),
        _needed("Message", text_column()),
        *(_optional(column, text_column()) for column in ("Detail", "NextStep")),
        _optional("ProcessBatch_id", identity()),
        _optional("ProcessControlSeq", sa.Integer()),
        _optional("BatchControl_id", identity()),
        _needed("Evidence", identity(), "0"),
        _needed("Occurrences", sa.Integer(), "1"),
        *_stamps("OpenedTime", "LastSeen"),
        _optional("AcknowledgedTime", UtcTime()),
        _optional("AcknowledgedBy", name()),
        _optional("SnoozedUntil", UtcTime()),
        _needed("AlertsMade", sa.Integer(), "0"),
        *(
            _optional(column, UtcTime())
            for column in ("NextAlertTime", "EscalatedTime", "ResolvedTime", "RecoveryTime")
        ),
        *_stamps("z_inserted", "z_updated"),
        *_checks(IncidentKey="IncidentKey <> ''", Occurrences="Occurrences >= 1", AlertsMade="AlertsMade >= 0"),
    )
    _create(
        metadata,
        "AlertDelivery",
        sa.Column(unquoted("Incident_id"), identity(), sa.ForeignKey("Incident.Incident_id"), nullable=False),
        _needed("Channel", name()),
        _needed("Kind", word()),
        _needed("Number", sa.Integer()),
        _needed("Status", word(), "'waiting'"),
        _needed("Title", name()),
        _needed("Body", text_column()),
        _needed("Attempts", sa.Integer(), "0"),
        *_stamps("NextAttemptTime"),
        _optional("ClaimedBy", name()),
        *(_optional(column, UtcTime()) for column in ("ClaimedTime", "SentTime")),
        _optional("Message", text_column()),
        *_stamps("z_inserted", "z_updated"),
        sa.UniqueConstraint("Incident_id", "Channel", "Kind", "Number"),
        *_checks(Channel="Channel <> ''", Number="Number >= 0", Attempts="Attempts >= 0"),
    )
    _index("UX_Incident_Standing", "Incident", "IncidentKey", "ResolvedTime IS NULL", unique=True)
    _index("IX_Incident_Recovery", "Incident", "Incident_id", "ResolvedTime IS NOT NULL AND RecoveryTime IS NULL")
    _index("IX_AlertDelivery_Waiting", "AlertDelivery", "AlertDelivery_id", "Status = 'waiting'")
    if op.get_context().dialect.name == "postgresql":
        for table, column in WORDS:
            op.execute(
                f"CREATE TRIGGER TR_{table}_{column} BEFORE INSERT OR UPDATE OF {column} ON {table} FOR EACH ROW"
                f" WHEN (NEW.{column} <> lower(NEW.{column})) EXECUTE FUNCTION batchctl_lower('{column.lower()}')"
            )


def downgrade() -> None:
    """Drop what the revision made."""
    for table in ("AlertDelivery", "Incident"):
        op.drop_table(unquoted(table))
    for column in reversed(ADDED):
        op.execute(f"ALTER TABLE ProcessBatch DROP COLUMN {column}")


def _add_to_batches() -> None:
    dialect = op.get_context().dialect
    for column, most in ADDED.items():
        if dialect.name == "sqlite":
            held = f"typeof({column}) = 'text' AND instr({column}, char(0)) = 0 AND length({column}) <= {most}"
            condition = f"CONSTRAINT CK_ProcessBatch_{column}_Type CHECK ({column} IS NULL OR ({held}))"
            op.execute(f"ALTER TABLE ProcessBatch ADD COLUMN {column} VARCHAR({most}) {condition}")
        else:
            add, null = ("ADD", " NULL") if dialect.name == "mssql" else ("ADD COLUMN", "")
            written = dialect.type_compiler_instance.process(name(most))
            op.execute(f"ALTER TABLE ProcessBatch {add} {column} {written}{null}")


def _create(metadata: sa.MetaData, called: str, *parts: Any) -> None:
    columns = [part for part in parts if isinstance(part, sa.Column)]
    rest = [part for part in parts if not isinstance(part, sa.Column)]
    rest += [
        sa.CheckConstraint(is_word(column, words), name=column)
        for (table, column), words in WORDS.items()
        if table == called
    ]
    key = sa.Column(unquoted(f"{called}_id"), identity(), primary_key=True, autoincrement=True)
    made = sa.Table(unquoted(called), metadata, key, *columns, *rest, sqlite_autoincrement=True)
    for constraint in type_checks(columns):
        made.append_constraint(constraint)
    op.get_context().impl.create_table(made)


def _index(called: str, table: str, column: str, where: str, *, unique: bool = False) -> None:
    dialect = op.get_context().dialect.name
    condition: dict[str, Any] = {f"{dialect}_where": sa.text(where)}
    op.create_index(called, unquoted(table), [unquoted(column)], unique=unique, **condition)


def _needed(called: str, kind: Any, default: str | None = None) -> sa.Column[Any]:
    server_default = None if default is None else sa.text(default)
    return sa.Column(unquoted(called), kind, nullable=False, server_default=server_default)


def _optional(called: str, kind: Any) -> sa.Column[Any]:
    return sa.Column(unquoted(called), kind, nullable=True)


def _stamps(*called: str) -> list[sa.Column[Any]]:
    return [sa.Column(unquoted(column), UtcTime(), nullable=False, server_default=utc_now()) for column in called]


def _checks(**conditions: str) -> list[sa.CheckConstraint]:
    return [sa.CheckConstraint(condition, name=called) for called, condition in conditions.items()]
