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
    ("RetryCount", "{0} NOT BETWEEN 0 AND 1000", "0"),
    ("RetryWaitMins", "{0} NOT BETWEEN 0 AND 525600", "5"),
    ("MaxConcurrent", "{0} NOT BETWEEN 1 AND 1000", "1"),
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


def missing_plugins(s: Spoken) -> str:
    """Return what batches (at step -1) and their steps name and no controller has, of those that run and the last that began.

    Nothing is said where one of them has not written what it has. What a person has to fill in is no text: run as it
    stands, the statement is refused.
    """
    populator = s.joined(
        "'ProcessBatch ('", "b.ProcessBatchName", "'): Populator '''", "b.Populator", "''' is not installed'"
    )
    where = ("'ProcessControl ('", "q.ProcessBatchName", "', step '", "q.ProcessControlSeq")
    of_type = s.joined(*where, "'): ProcessType '''", "q.ProcessType", "''' is not installed'")
    of_job = s.joined(*where, "'): job '''", "q.Data1", "''' of Data1 is not installed'")
    mended = s.joined(
        *("'UPDATE ProcessControl SET '", "q.Lacks", "' = ... WHERE ProcessBatch_id = '", "q.ProcessBatch_id"),
        *("' AND ProcessControlSeq = '", "q.ProcessControlSeq", "';'"),
    )
    batch_mended = s.joined(
        "'UPDATE ProcessBatch SET Populator = ... WHERE ProcessBatch_id = '", "b.ProcessBatch_id", "';'"
    )
    process_type = s.bare("lower(p.ProcessType)")
    lacks_job = f"{process_type} = 'python' AND p.Data1 <> '' AND {_is_missing(s, 'Jobs', 'p.Data1')}"
    leads = f"EXISTS (SELECT 1 FROM {s.of}Leader l WHERE l.ControllerName = k.ControllerName)"
    led = f"""EXISTS (SELECT 1 FROM {s.of}Leader l JOIN {s.of}Controller m ON m.ControllerName = l.ControllerName
            WHERE m.Status = 'running')"""
    # Only who leads asks populators.
    populators = f"CASE WHEN {leads} OR NOT {led} THEN {s.tags('k.Populators')} ELSE '' END"
    names = f"{s.tags('k.ProcessTypes')} AS ProcessTypes, {populators} AS Populators, {s.tags('k.Jobs')} AS Jobs"
    return f"""Offered AS (
SELECT k.Controller_id, CASE WHEN k.ProcessTypes IS NULL THEN 1 ELSE 0 END AS IsUnknown, {names}
FROM {s.of}Controller k
WHERE k.Status = 'running' OR k.Controller_id = (SELECT MAX(l.Controller_id) FROM {s.of}Controller l)
), Missing AS (
SELECT b.ProcessBatch_id, -1 AS ProcessControlSeq, {populator} AS Reason, {batch_mended} AS Mend
FROM {s.of}ProcessBatch b WHERE EXISTS (SELECT 1 FROM Offered) AND {_is_missing(s, "Populators", "b.Populator")}
UNION ALL
SELECT q.ProcessBatch_id, q.ProcessControlSeq, CASE WHEN q.Lacks = 'ProcessType' THEN {of_type} ELSE {of_job} END, {mended}
FROM (SELECT p.ProcessBatch_id, b.ProcessBatchName, p.ProcessControlSeq, {process_type} AS ProcessType, p.Data1,
      CASE WHEN {_is_missing(s, "ProcessTypes", process_type)} THEN 'ProcessType' WHEN {lacks_job} THEN 'Data1' END AS Lacks
      FROM {s.of}ProcessControl p JOIN {s.of}ProcessBatch b ON b.ProcessBatch_id = p.ProcessBatch_id
      WHERE EXISTS (SELECT 1 FROM Offered)) q
WHERE q.Lacks IS NOT NULL
)"""


def _is_missing(s: Spoken, column: str, name: str) -> str:
    """Say that none of the controllers has a plugin; of a name with a comma nobody can say that."""
    has = f"o.IsUnknown = 1 OR ({s.has_tag(f'o.{column}', name)})"
    return f"(replace({name}, ',', '') = {name} AND NOT EXISTS (SELECT 1 FROM Offered o WHERE {has}))"


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
