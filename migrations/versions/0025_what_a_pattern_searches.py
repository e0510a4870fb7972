"""Let a batch say what its populator searches: the whole FileName, Data or Entity."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from alembic import op
from alembic.util import load_python_file

from batchctl.store.columns import word
from batchctl.store.conditions import is_word

revision = "0025"
down_revision = "0024"
branch_labels = None
depends_on = None

WORDS = ("filename", "data", "entity")
CALLED = "CK_ProcessBatch_PopulatorOn"


def upgrade() -> None:
    """Add the column with its constraint, and watch what people set."""
    context = op.get_context()
    written = context.dialect.type_compiler_instance.process(word())
    said = str(is_word("PopulatorOn", WORDS).compile(dialect=context.dialect))
    if context.dialect.name == "sqlite":
        kind = f"CONSTRAINT {CALLED}_Type CHECK (PopulatorOn IS NULL OR (typeof(PopulatorOn) = 'text'))"
        op.execute(
            f"ALTER TABLE ProcessBatch ADD COLUMN PopulatorOn {written} {kind} CONSTRAINT {CALLED} CHECK ({said})"
        )
    else:
        add, null = ("ADD", " NULL") if context.dialect.name == "mssql" else ("ADD COLUMN", "")
        op.execute(f"ALTER TABLE ProcessBatch {add} PopulatorOn {written}{null}")
        op.execute(f"ALTER TABLE ProcessBatch ADD CONSTRAINT {_quoted()} CHECK ({said})")
    _watch("PopulatorArgs PopulatorOn")


def downgrade() -> None:
    """Drop what the revision made."""
    _watch("PopulatorArgs")
    if op.get_context().dialect.name != "sqlite":
        op.execute(f"ALTER TABLE ProcessBatch DROP CONSTRAINT {_quoted()}")
    op.execute("ALTER TABLE ProcessBatch DROP COLUMN PopulatorOn")


def _quoted() -> str:
    return op.get_context().dialect.identifier_preparer.quote_identifier(CALLED)


def _watch(args: str) -> None:
    """Make anew what audits the batches, with or without the new column."""
    dialect, here = op.get_context().dialect.name, str(Path(__file__).parent)
    audit: Any = load_python_file(here, "0018_audit.py")
    replaced: Any = load_python_file(here, "0021_what_is_replaced.py")
    elsewhere = op.get_context().version_table_schema
    schema = "" if elsewhere is None else f"{elsewhere}."
    batches = next(watched for watched in audit.DEFINITIONS if watched.table == "ProcessBatch")
    called = "TR_ProcessBatch_Audit"
    made = {"sqlite": ("Insert", "Update", "Delete"), "postgresql": ("", "Truncate"), "mssql": ("",)}
    for event in made[dialect]:
        of = schema if dialect == "mssql" else ""
        op.execute(f"DROP TRIGGER {of}{called}{event}" + (" ON ProcessBatch" if dialect == "postgresql" else ""))
    columns = batches.columns.replace("PopulatorArgs", args)
    for statement in audit.definition_triggers(dialect, batches._replace(columns=columns), schema):
        op.execute(statement)
    if dialect == "sqlite":
        batches = next(watched for watched in replaced.DEFINITIONS if watched.table == "ProcessBatch")
        columns = batches.columns.replace("PopulatorArgs", args)
        for called, trigger in replaced.triggers(batches._replace(columns=columns)):
            op.execute(f"DROP TRIGGER {called}")
            op.execute(f"CREATE TRIGGER {called} {trigger}")
