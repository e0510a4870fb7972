"""What several views say."""

from __future__ import annotations

from batchctl.store.views.spoken import Spoken

GRACE = 60
"""Seconds after which what is due and has not begun counts as late."""
IN_LINE = ("ready", "retry", "failed", "held")
CLAIMED = ("running", "pausing", "cancelling")
OVER = ("complete", "cancelled")


def frozen(s: Spoken) -> str:
    """Return what holds, and which freeze each batch has, of several the one that lasts longest."""

    def concerns(z: str) -> str:
        return (
            f"(({z}.Tag IS NULL AND ({z}.ProcessBatchName IS NULL OR {z}.ProcessBatchName = b.ProcessBatchName))"
            f" OR ({z}.Tag <> '' AND {s.has_tag('b.Tags', f'{z}.Tag')}))"
        )

    return f"""Holding AS (
SELECT f.BatchFreeze_id, f.ProcessBatchName, {s.bare("lower(f.Tag)")} AS Tag, f.UntilTime
FROM {s.of}BatchFreeze f WHERE f.ThawedTime IS NULL AND (f.UntilTime IS NULL OR f.UntilTime > {s.now})
), Frozen AS (
SELECT b.ProcessBatch_id, COALESCE(
    (SELECT MIN(z.BatchFreeze_id) FROM Holding z WHERE z.UntilTime IS NULL AND {concerns("z")}),
    (SELECT MIN(z.BatchFreeze_id) FROM Holding z WHERE {concerns("z")} AND z.UntilTime = (
        SELECT MAX(y.UntilTime) FROM Holding y WHERE {concerns("y")}))
    ) AS BatchFreeze_id
FROM (SELECT ProcessBatch_id, ProcessBatchName, {s.tags("lower(Tags)")} AS Tags FROM {s.of}ProcessBatch) b
)"""
