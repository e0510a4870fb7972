"""Let a row say who leads, for how long and by which fence; count what populators and lost steps were tried in vain."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import sqlalchemy as sa
from alembic import op
from alembic.util import load_python_file

from batchctl.store.columns import UtcTime, identity, name, reference, text_column, unquoted, utc_now
from batchctl.store.conditions import is_word, type_checks
from batchctl.store.rewording import reword

revision = "0024"
down_revision = "0023"
branch_labels = None
depends_on = None

CONVENTION = {"pk": "PK_%(table_name)s", "ck": "CK_%(table_name)s_%(constraint_name)s"}
ADDED = (
    (
        "FileProcess",
        "PopulatorTries",
        sa.Integer(),
        "",
        "PopulatorTries IS NULL OR (typeof(PopulatorTries) = 'integer')",
    ),
    ("ProcessControl", "MaxLost", sa.Integer(), " DEFAULT 3 NOT NULL", "typeof(MaxLost) = 'integer'"),
    (
        *("Controller", "LeftOut", text_column(), ""),
        "LeftOut IS NULL OR (typeof(LeftOut) = 'text' AND instr(LeftOut, char(0)) = 0)",
    ),
)
"""The new columns: of which table, of what type, what rows hold as long as nobody says, and what SQLite checks."""
KINDS = (
    *("failed", "lost", "held", "fails_often", "too_long", "too_short", "not_arrived", "not_started", "not_finished"),
    *("dependency_deadline", "calendar_ends", "no_worker", "channel_failed"),
    *("unreadable", "rejected", "untaken", "not_starting", "no_steps", "history_grows"),
)
NEW_KINDS = ("nobody_leads", "populator_hangs")
AWAITING = "PopulatorTries IS NOT NULL"


def upgrade() -> None:
    """Add the columns and the index, make the table and its row, and watch what people set."""
    dialect = op.get_context().dialect.name
    written = op.get_context().dialect.type_compiler_instance.process
    for table, column, kind, given, condition in ADDED:
        if dialect == "sqlite":
            checked = f"CONSTRAINT CK_{table}_{column}_Type CHECK ({condition})"
            op.execute(f"ALTER TABLE {table} ADD COLUMN {column} {written(kind)}{given} {checked}")
        else:
            add, null = ("ADD", " NULL") if dialect == "mssql" else ("ADD COLUMN", "")
            # Every default has a name there, as every constraint has.
            named = f" CONSTRAINT [DF_{table}_{column}]" if dialect == "mssql" and given else ""
            op.execute(f"ALTER TABLE {table} {add} {column} {written(kind)}{named}{given or null}")
    condition_of: dict[str, Any] = {f"{dialect}_where": sa.text(AWAITING)}
    op.create_index("IX_FileProcess_Awaiting", unquoted("FileProcess"), [unquoted("FileProcess_id")], **condition_of)
    _make_leader()
    _watch("OnLost MaxLost#")
    name_kinds(KINDS, (*KINDS, *NEW_KINDS))


def downgrade() -> None:
    """Drop what the revision made."""
    listed = ", ".join(f"'{kind}'" for kind in NEW_KINDS)
    of_kind = f"SELECT Incident_id FROM Incident WHERE Kind IN ({listed})"
    op.execute(f"DELETE FROM AlertDelivery WHERE Incident_id IN ({of_kind})")
    op.execute(f"DELETE FROM Incident WHERE Kind IN ({listed})")
    name_kinds((*KINDS, *NEW_KINDS), KINDS)
    _watch("OnLost")
    op.drop_table(unquoted("Leader"))
    op.drop_index("IX_FileProcess_Awaiting", table_name=unquoted("FileProcess"))
    for table, column, *_ in ADDED:
        op.execute(f"ALTER TABLE {table} DROP COLUMN {column}")


def name_kinds(before: tuple[str, ...], after: tuple[str, ...]) -> None:
    """Let incidents be of other kinds."""
    dialect = op.get_context().dialect
    was, becomes = (str(is_word("Kind", kinds).compile(dialect=dialect)) for kinds in (before, after))
    if dialect.name == "sqlite":
        written = 'CONSTRAINT "CK_Incident_Kind" CHECK ({})'
        reword(["Incident"], [(written.format(was), written.format(becomes))])
        return
    called = dialect.identifier_preparer.quote_identifier("CK_Incident_Kind")
    op.execute(f"ALTER TABLE Incident DROP CONSTRAINT {called}")
    op.execute(f"ALTER TABLE Incident ADD CONSTRAINT {called} CHECK ({becomes})")


def _make_leader() -> None:
    columns: list[sa.Column[Any]] = [
        sa.Column(unquoted("ControllerName"), name(), nullable=True),
        sa.Column(unquoted("Fence"), reference(), nullable=False, server_default=sa.text("0")),
        sa.Column(
            unquoted("LeaseUntil"), UtcTime(), nullable=False, server_default=sa.text("'1900-01-01 00:00:00.000'")
        ),
        sa.Column(unquoted("Place"), text_column(), nullable=True),
        *(sa.Column(unquoted(each), UtcTime(), nullable=False, server_default=utc_now()) for each in STAMPS),
    ]
    made = sa.Table(
        unquoted("Leader"),
        sa.MetaData(naming_convention=CONVENTION),
        sa.Column(unquoted("Leader_id"), identity(), primary_key=True, autoincrement=True),
        *columns,
        sa.CheckConstraint("Leader_id = 1", name="Leader_id"),
        sa.CheckConstraint("Fence >= 0", name="Fence"),
        sqlite_autoincrement=True,
    )
    for constraint in type_checks(columns):
        made.append_constraint(constraint)
    op.get_context().impl.create_table(made)
    op.execute(sa.insert(made).from_select(["Fence"], sa.select(sa.literal_column("0"))))


STAMPS = ("z_inserted", "z_updated")


def _watch(on_lost: str) -> None:
    """Make anew what audits the steps, with or without the new column."""
    dialect, here = op.get_context().dialect.name, str(Path(__file__).parent)
    audit: Any = load_python_file(here, "0018_audit.py")
    replaced: Any = load_python_file(here, "0021_what_is_replaced.py")
    elsewhere = op.get_context().version_table_schema
    schema = "" if elsewhere is None else f"{elsewhere}."
    steps = next(watched for watched in audit.DEFINITIONS if watched.table == "ProcessControl")
    columns = steps.columns.replace("OnLost", on_lost)
    called = "TR_ProcessControl_Audit"
    made = {"sqlite": ("Insert", "Update", "Delete"), "postgresql": ("", "Truncate"), "mssql": ("",)}
    for event in made[dialect]:
        of = schema if dialect == "mssql" else ""
        op.execute(f"DROP TRIGGER {of}{called}{event}" + (" ON ProcessControl" if dialect == "postgresql" else ""))
    for statement in audit.definition_triggers(dialect, steps._replace(columns=columns), schema):
        op.execute(statement)
    if dialect == "sqlite":
        steps = next(watched for watched in replaced.DEFINITIONS if watched.table == "ProcessControl")
        for called, trigger in replaced.triggers(steps._replace(columns=columns.replace("#", ""))):
            op.execute(f"DROP TRIGGER {called}")
            op.execute(f"CREATE TRIGGER {called} {trigger}")
