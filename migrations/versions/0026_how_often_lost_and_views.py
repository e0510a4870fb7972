"""Refuse a MaxLost that the engine cannot go by; show what waits for a populator among what waits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from alembic import context, op
from alembic.util import load_python_file

from batchctl.domain.errors import DatabaseUnusable
from batchctl.store.rewording import reword

revision = "0026"
down_revision = "0025"
branch_labels = None
depends_on = None

CALLED = "CK_ProcessControl_MaxLost"
FITS = "MaxLost BETWEEN 0 AND 1000"
BESIDE = f"CONSTRAINT {CALLED}_Type CHECK (typeof(MaxLost) = 'integer')"
NAMES = ("vWaiting", "vInbox")


def upgrade() -> None:
    """Add the constraint, and make both views anew."""
    dialect = op.get_context().dialect.name
    if not context.is_offline_mode():
        _refuse_what_would_break()
    if dialect == "sqlite":
        reword(["ProcessControl"], [(BESIDE, f"{BESIDE} CONSTRAINT {CALLED} CHECK ({FITS})")])
    else:
        op.execute(f"ALTER TABLE {_schema()}ProcessControl ADD CONSTRAINT {_quoted()} CHECK ({FITS})")
    _before()._make(views(dialect, _schema()))


def downgrade() -> None:
    """Take both away."""
    dialect, before = op.get_context().dialect.name, _before()
    made = before.views(dialect, _schema())
    before._make({name: made[name] for name in NAMES})
    if dialect == "sqlite":
        reword(["ProcessControl"], [(f"{BESIDE} CONSTRAINT {CALLED} CHECK ({FITS})", BESIDE)])
    else:
        op.execute(f"ALTER TABLE {_schema()}ProcessControl DROP CONSTRAINT {_quoted()}")


def views(dialect: str, schema: str = "") -> dict[str, str]:
    """Return the statement that makes each view; `schema` with its dot stands before each name where it is not the default."""
    before = _before()
    s = before.Spoken(dialect, schema)
    written = f"{before.waiting(s)}\nUNION ALL\n{_populators(s)}", _inbox(s, before.inbox(s))
    return {name: f"{s.create} {schema}{name} AS{view}" for name, view in zip(NAMES, written, strict=True)}


def _before() -> Any:
    return load_python_file(str(Path(__file__).parent), "0023_refused_rows_and_views.py")


def _schema() -> str:
    """Return what stands before names where everything is made in another schema, to be looked at."""
    elsewhere = op.get_context().version_table_schema
    return "" if elsewhere is None else f"{elsewhere}."


def _quoted() -> str:
    return op.get_context().dialect.identifier_preparer.quote_identifier(CALLED)


def _refuse_what_would_break() -> None:
    asked = (
        f"SELECT ProcessControl_id, ProcessName, MaxLost FROM {_schema()}ProcessControl WHERE NOT ({FITS}) ORDER BY 1"
    )
    found = [
        f"ProcessControl {row_id} ({name}): MaxLost is '{most}'"
        for row_id, name, most in op.get_bind().exec_driver_sql(asked)
    ]
    if found:
        message = f"From schema {revision} on MaxLost has to lie between 0 and 1000. {'; '.join(found)}."
        correct = f"correct each, such as UPDATE ProcessControl SET MaxLost = 3 WHERE ProcessControl_id = {found[0].split()[1]}"
        raise DatabaseUnusable(message, next_step=f"{correct}; then: batchctl db upgrade")


def _inbox(s: Any, before: str) -> str:
    """Say of a row whose populator has no answer that it is so."""
    answer = s.joined("'it waits for an answer: '", "COALESCE(f.Message, 'no reason was given')")
    taken = f"EXISTS (SELECT 1 FROM {s.of}ProcessBatch b WHERE COALESCE(b.Entity, b.ProcessBatchName) = f.Entity)"
    unseen = f"CASE WHEN {taken} THEN 'no controller has looked at it yet'"
    return before.replace(
        unseen,
        f"""CASE WHEN {taken} AND f.PopulatorTries >= 3 THEN {answer}
            WHEN {taken} AND f.PopulatorTries IS NOT NULL THEN 'its populator has not answered yet'
            WHEN {taken} THEN 'no controller has looked at it yet'""",
    )


def _populators(s: Any) -> str:
    """Return of each row of which a populator's answer is awaited the batches that lack their instance."""
    gives_up = "f.PopulatorTries >= 3"
    answer = s.joined("'it waits for an answer: '", "COALESCE(f.Message, 'no reason was given')")
    missing = s.joined("'batch '", "b.ProcessBatchName", "' has no instance of it yet'")
    again = s.joined(
        "'UPDATE FileProcess SET PopulatorTries = NULL WHERE FileProcess_id = '", "f.FileProcess_id", "';'"
    )
    taken = "c.FileProcess_id = {0}.FileProcess_id AND c.ProcessBatch_id = b.ProcessBatch_id"
    target = s.joined("'FileProcess:'", "f.FileProcess_id")
    # To such a batch it is a duplicate, unless a person has accepted it.
    repeats = f"""b.DuplicateCheck = 1 AND EXISTS (SELECT 1 FROM {s.of}FileProcess g
        WHERE g.Entity = f.Entity AND g.Data = f.Data AND g.FileProcess_id <> f.FileProcess_id
        AND ((g.FileProcess_id < f.FileProcess_id AND {s.among("g.Status", "ready", "paused")}) OR EXISTS (
            SELECT 1 FROM {s.of}BatchControl c WHERE {taken.format("g")})))
    AND NOT EXISTS (SELECT 1 FROM {s.of}AuditLog a WHERE a.Target = {target} AND a.Action = 'accept')"""
    return f"""SELECT NULL, b.ProcessBatchName, 'populator', f.CycleKey, f.Entity, f.FileName,
       {s.twin("f.z_inserted", "Since")}, CASE WHEN {gives_up} THEN {answer} ELSE {missing} END, NULL, NULL, f.FileProcess_id,
       CASE WHEN {gives_up} THEN {again} ELSE 'SELECT * FROM Controller;' END
FROM {s.of}FileProcess f
JOIN {s.of}ProcessBatch b ON COALESCE(b.Entity, b.ProcessBatchName) = f.Entity
WHERE f.PopulatorTries IS NOT NULL AND f.Status = 'ready'
AND NOT EXISTS (SELECT 1 FROM {s.of}BatchControl c WHERE {taken.format("f")})
AND NOT ({repeats})"""
