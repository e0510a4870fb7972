"""What several views say."""

from __future__ import annotations

from collections.abc import Iterable

from batchctl.domain.errors import NEXT
from batchctl.domain.locked_rows import BETWEEN, ESCAPE, ESCAPED, SO, TO_END_IT
from batchctl.store.views.view_dialect import ViewDialect, in_common
from batchctl.store.written_forms import BLANKS

GRACE = 60
"""Seconds after which what is due and has not begun counts as late."""
IN_LINE = ("ready", "retry", "failed", "held")
CLAIMED = ("running", "pausing", "cancelling")
OVER = ("complete", "cancelled")


def unfit(s: ViewDialect) -> str:
    """Return the batches that nothing can go by: of each the first row that is why, and the statement that mends it."""
    return s.shared("Unfit", _unfit(s))


def _unfit(s: ViewDialect) -> str:
    nth = "ROW_NUMBER() OVER (PARTITION BY ProcessBatch_id ORDER BY Place, Row_id)"
    return f"""
SELECT ProcessBatch_id, Reason, NextSql
FROM (SELECT ProcessBatch_id, Reason, NextSql, {nth} AS Nth FROM {s.of}vUnreadable WHERE ProcessBatch_id IS NOT NULL) m
WHERE Nth = 1
"""


def unfit_work(s: ViewDialect, table: str) -> str:
    """Return the rows of a table of work that nothing can go by."""
    return f"""UnfitWork AS (
SELECT Row_id, ColumnName, Reason, NextSql FROM {s.of}vUnreadable WHERE TableName = '{table}'
)"""


def not_installed(s: ViewDialect) -> str:
    """Return what batches and steps name and no controller has; looked for once, however often it is asked about."""
    return f"Missing AS (SELECT ProcessBatch_id, ProcessControlSeq, Reason, NextSql FROM {s.of}vNotInstalled)"


def lacking(s: ViewDialect) -> str:
    """Return the upstreams that have not completed of those that have begun to be waited for, by CycleKey and since when."""
    return s.shared("Lacking", _lacking(s))


def _lacking(s: ViewDialect) -> str:
    return f"""
SELECT w.ProcessBatch_id, w.CycleKey, w.Since, y.DependsOnBatch_id, y.DeadlineMins
FROM (SELECT ProcessBatch_id, CycleKey, MIN(z_inserted) AS Since FROM {s.of}BatchCompletion
      WHERE FileProcess_id IS NULL GROUP BY ProcessBatch_id, CycleKey) w
JOIN {s.of}BatchDependency y ON y.ProcessBatch_id = w.ProcessBatch_id
WHERE NOT EXISTS (SELECT 1 FROM {s.of}BatchCompletion x WHERE x.FileProcess_id IS NULL
    AND x.ProcessBatch_id = w.ProcessBatch_id AND x.DependsOnBatch_id = y.DependsOnBatch_id AND {same_key(s, "x")})
"""


def same_key(s: ViewDialect, x: str) -> str:
    """Say that a row has the CycleKey that is waited for."""
    if s.dialect == "sqlite":
        return f"{x}.CycleKey IS w.CycleKey"
    return f"({x}.CycleKey = w.CycleKey OR ({x}.CycleKey IS NULL AND w.CycleKey IS NULL))"


def locked(s: ViewDialect, key: str, of: str, names: Iterable[tuple[str, str]]) -> str:
    """Return which of some rows `c` somebody keeps locked, as controllers say it in `Locks t`, and what ends that."""
    found = [s.beginning_at("t.Said", s.joined(f"'{BETWEEN}{what} '", named, "': '")) for what, named in names]
    first = f"COALESCE({', '.join(found)})" if len(found) > 1 else found[0]
    return f"""{s.shared("Locks", _locks(s))}, Met AS (
SELECT c.{key}, t.Controller_id, {s.after(first, len(BETWEEN))} AS Said FROM {of}
), Entry AS (
SELECT m.{key}, m.Controller_id, {s.before("m.Said", BETWEEN)} AS Said FROM Met m WHERE m.Said IS NOT NULL
), Locked AS (
SELECT e.{key}, {s.before("e.Said", TO_END_IT)} AS Reason,
       {s.after(s.beginning_at("e.Said", f"'{TO_END_IT}'"), len(TO_END_IT))} AS Mend,
       ROW_NUMBER() OVER (PARTITION BY e.{key} ORDER BY e.Controller_id) AS Nth
FROM Entry e
)"""


def _locks(s: ViewDialect) -> str:
    said = s.joined(f"'{BETWEEN}'", s.after(s.before("k.Trouble", NEXT), len(SO)))
    return f"""
SELECT k.Controller_id, {said} AS Said
FROM {s.of}Controller k
WHERE k.Status = 'running' AND k.Trouble LIKE '{SO}%' AND {s.later("k.Heartbeat", "k.OrphanTimeoutSecs")} > {s.now}
"""


def locked_name(column: str) -> str:
    """Write a name as controllers do in what they say of locks."""
    for mark in ESCAPED:
        column = f"replace({column}, '{mark}', '{ESCAPE}{mark}')"
    return column


def to_end(s: ViewDialect, lock: str) -> str:
    """Return the statement that ends a lock, or what shows who met it."""
    mend = s.joined(f"{lock}.Mend", "';'")
    return f"CASE WHEN {lock}.Mend IS NULL THEN 'SELECT * FROM Controller;' ELSE {mend} END"


def view_functions(dialect: str) -> dict[str, str]:
    """Return the views by which those of SQLite say what they have in common; others say it each time."""
    if dialect != "sqlite":
        return {}
    s = ViewDialect(dialect, "")
    made = {
        "blanks": f" SELECT char({', '.join(map(str, BLANKS))}) AS Blanks",
        "shifts": "\nSELECT OffsetSeconds || ' seconds' AS Shift, FromTime, UntilTime FROM ZoneOffset",
        "Unfit": _unfit(s).rstrip(),
        "Lacking": _lacking(s).rstrip(),
        "Locks": _locks(s).rstrip(),
    }
    return {
        in_common(called): s.for_any_client(f"{s.create} {in_common(called)} AS{query}")
        for called, query in made.items()
    }
