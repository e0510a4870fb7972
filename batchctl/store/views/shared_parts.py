"""What several views say."""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import Table

from batchctl.store.conditions import readable_by, spelled
from batchctl.store.tables import UNREADABLE
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


_READ = (
    ("ProcessingMode", "lower({0}) NOT IN ('manual', 'scheduled', 'triggered')", "NULL"),
    ("OnFailure", "lower({0}) NOT IN ('hold_batch', 'stop_all', 'continue')", "''hold_batch''"),
    ("DependencyMode", "lower({0}) NOT IN ('all', 'any')", "''all''"),
    ("RetryWaitSecs", "{0} NOT BETWEEN 0 AND 31536000", "NULL"),
)
"""What the engine could not read of a batch, and what a column may hold instead."""
_NUMBERS = (("Seq", "100"), ("RetryCount", "0"), ("RetryWaitMins", "5"), ("MaxConcurrent", "1"))
"""Columns that hold no number only on SQLite, where somebody switched the constraints off."""


def unfit(s: Spoken) -> str:
    """Return the batches that nothing can go by, with the row, the column and the statement that mends it."""
    read = [*_READ]
    if s.dialect == "sqlite":
        read += [(column, "typeof({0}) <> 'integer'", default) for column, default in _NUMBERS]
    column, mend = (
        "CASE " + " ".join(f"WHEN {wrong.format(f'b.{name}')} THEN '{said}'" for name, wrong, said in each) + " END"
        for each in (
            [(name, wrong, name) for name, wrong, _ in read],
            [(name, wrong, f"{name} = {default}") for name, wrong, default in read],
        )
    )
    row = s.joined("'ProcessBatch '", "b.ProcessBatch_id", "' ('", "b.ProcessBatchName", "')'")
    step = s.joined("'ProcessControl '", "MIN(p.ProcessControl_id)")
    mended = s.joined("'UPDATE ProcessBatch SET '", mend, "' WHERE ProcessBatch_id = '", "b.ProcessBatch_id", "';'")
    step_mended = s.joined(
        "'UPDATE ProcessControl SET OnLost = ''hold'' WHERE ProcessControl_id = '", "MIN(p.ProcessControl_id)", "';'"
    )
    return f"""Unfit AS (
SELECT b.ProcessBatch_id, {row} AS RowName, {column} AS ColumnName, {mended} AS Mend
FROM {s.of}ProcessBatch b WHERE {column} IS NOT NULL
UNION ALL
SELECT p.ProcessBatch_id, {step}, 'OnLost', {step_mended}
FROM {s.of}ProcessControl p JOIN {s.of}ProcessBatch b ON b.ProcessBatch_id = p.ProcessBatch_id
WHERE lower(p.OnLost) NOT IN ('hold', 'rerun', 'verify') AND {column} IS NULL GROUP BY p.ProcessBatch_id
)"""


def unread(s: Spoken, batch: str) -> str:
    """Return what is said of such a batch."""
    return s.joined(f"{batch}.RowName", "' cannot be read: '", f"{batch}.ColumnName", "' holds nonsense'")


def unfit_work(s: Spoken, table: Table, mends: Mapping[str, str]) -> str:
    """Return the rows of a table of work that nothing can go by, what is wrong with each, and the statement that mends it.

    Of what no value can be guessed without harm, the statement shows the row.
    """
    key, name = f"{table.name}_id", table.name
    columns = readable_by(table, s.dialect, ["Status"], ["NextRunTime"])

    def each(said: Mapping[str, str]) -> str:
        *others, (_, last) = [(condition, said[column]) for column, condition in columns]
        cases = " ".join(f"WHEN NOT ({condition}) THEN {what}" for condition, what in others)
        return f"CASE {cases} ELSE {last} END" if others else last

    holds = {column: f"'{column} holds nonsense'" for column, _ in columns} | {
        "NextRunTime": "'NextRunTime holds no time'"
    }
    mended = {column: s.look(name, key, key) for column, _ in columns}
    mended |= {
        column: s.joined(f"'UPDATE {name} SET {column} = {given} WHERE {key} = '", key, "';'")
        for column, given in mends.items()
    }
    reason = s.joined(f"'{name} '", key, "' cannot be read: '", each(holds))
    names = each({column: f"'{column}'" for column, _ in columns})
    return f"""UnfitWork AS (
SELECT {key}, {names} AS ColumnName, {reason} AS Reason, {each(mended)} AS Mend
FROM {s.of}{name} WHERE {spelled(UNREADABLE[table], s.dialect)}
)"""
