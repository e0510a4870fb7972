"""On SQLite, refuse a REPLACE and a new number that would take a row from its work: no other trigger is told of them."""

from __future__ import annotations

from alembic import op

revision = "0027"
down_revision = "0026"
branch_labels = None
depends_on = None

_HAS_WORK = " OR ".join(
    f"EXISTS (SELECT 1 FROM {one} w WHERE w.ProcessBatch_id = {{0}}.ProcessBatch_id)"
    for one in ("BatchControl", "ProcessControl")
)
_REPLACED_BATCH = (
    "EXISTS (SELECT 1 FROM BatchVersion v WHERE v.ProcessBatchName = NEW.ProcessBatchName"
    " AND NOT EXISTS (SELECT 1 FROM ProcessBatch b WHERE b.ProcessBatch_id = v.ProcessBatch_id)"
    f" AND ({_HAS_WORK.format('v')}))"
)
_REPLACED_STEP = (
    "EXISTS (SELECT 1 FROM BatchProcessHistory h WHERE h.Status = 'running' AND NOT EXISTS (SELECT 1 FROM ProcessControl p"
    " WHERE p.ProcessBatch_id = h.ProcessBatch_id AND p.ProcessControlSeq = h.ProcessControlSeq))"
)
_IS_WORK = "EXISTS (SELECT 1 FROM BatchControl w WHERE w.FileProcess_id = NEW.FileProcess_id)"
_RENUMBERED = f"NEW.ProcessBatch_id <> OLD.ProcessBatch_id AND ({_HAS_WORK.format('OLD')})"
TRIGGERS = {
    "TR_ProcessBatch_Replaced": (
        f"AFTER INSERT ON ProcessBatch WHEN {_REPLACED_BATCH}",
        "the batch has instances or steps, which a REPLACE would leave behind: use UPDATE, or ON CONFLICT DO UPDATE",
    ),
    "TR_ProcessBatch_Renumbered": (
        f"BEFORE UPDATE OF ProcessBatch_id ON ProcessBatch WHEN {_RENUMBERED}",
        "the batch has instances or steps, which go by its ProcessBatch_id: leave that as it is",
    ),
    "TR_ProcessControl_Replaced": (
        f"AFTER INSERT ON ProcessControl WHEN {_REPLACED_STEP}",
        "the step runs, which a REPLACE would move or remove: wait until it has ended, or: batchctl cancel",
    ),
    "TR_FileProcess_Replaced": (
        f"AFTER INSERT ON FileProcess WHEN NEW.Status = 'paused' AND {_IS_WORK}",
        "the row has instances, which would go on all the same: pause these",
    ),
}
"""When each refuses, and what it says."""


def upgrade() -> None:
    """Make the triggers."""
    if op.get_context().dialect.name == "sqlite":
        for name, (when, said) in TRIGGERS.items():
            op.execute(f"CREATE TRIGGER {name} {when} BEGIN SELECT RAISE(ABORT, 'batchctl: {said}'); END")


def downgrade() -> None:
    """Drop them."""
    if op.get_context().dialect.name == "sqlite":
        for name in TRIGGERS:
            op.execute(f"DROP TRIGGER {name}")
