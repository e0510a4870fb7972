"""What several views say."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from sqlalchemy import Column, DefaultClause, Table

from batchctl.domain.errors import NEXT
from batchctl.domain.locked_rows import BETWEEN, ESCAPE, ESCAPED, SO, TO_END_IT
from batchctl.store.bounds import bounds
from batchctl.store.conditions import is_number, readable_by, spelled
from batchctl.store.tables import (
    GONE_BY,
    UNREADABLE,
    batch_dependency,
    batch_resource,
    process_batch,
    process_control,
    resource,
)
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


_WORDS = {
    "ProcessingMode": "'manual', 'scheduled', 'triggered'",
    "OnFailure": "'hold_batch', 'stop_all', 'continue'",
    "DependencyMode": "'all', 'any'",
    "OnLost": "'hold', 'rerun', 'verify'",
}
"""What the engine reads in columns of words."""


def unfit(s: Spoken) -> str:
    """Return the batches that nothing can go by, with the first row that is why, its column and the statement that mends it."""
    batch, step, needs = f"{s.of}ProcessBatch b", f"{s.of}ProcessControl t", f"{s.of}BatchResource n"
    named = s.joined("'ProcessBatch '", "b.ProcessBatch_id", "' ('", "b.ProcessBatchName", "')'")
    rows = "\nUNION ALL\n".join(
        _misread(s, place, table, at, rows, row)
        for place, (table, at, rows, row) in enumerate(
            (
                (process_batch, "b", batch, named),
                (process_control, "t", step, None),
                (batch_dependency, "t", f"{s.of}BatchDependency t", None),
                (batch_resource, "t", f"{s.of}BatchResource t", None),
                (resource, "t", f"{needs} JOIN {s.of}Resource t ON t.Resource_id = n.Resource_id", None),
            )
        )
    )
    return f"""Misread AS (
{rows}
), Unfit AS (
SELECT m.ProcessBatch_id, m.RowName, m.ColumnName, m.Mend
FROM (SELECT y.*, ROW_NUMBER() OVER (PARTITION BY y.ProcessBatch_id ORDER BY y.Place, y.Row_id) AS Nth FROM Misread y) m
WHERE m.Nth = 1
)"""


def _misread(s: Spoken, place: int, table: Table, at: str, rows: str, named: str | None) -> str:
    """Return what of the rows of a table keeps a batch from being read."""
    key = f"{table.name}_id"
    named = named or s.joined(f"'{table.name} '", f"{at}.{key}")
    column, mend = nonsense(s, table, at)
    mended = s.joined(f"'UPDATE {table.name} SET '", mend, f"' WHERE {key} = '", f"{at}.{key}", "';'")
    batch = "n" if table is resource else at
    return f"""SELECT {batch}.ProcessBatch_id, {place} AS Place, {at}.{key} AS Row_id, {named} AS RowName,
       {column} AS ColumnName, {mended} AS Mend
FROM {rows} WHERE {column} IS NOT NULL"""


def nonsense(s: Spoken, table: Table, at: str) -> tuple[str, str]:
    """Return the first column of a row that the engine could not read, and what may stand there instead."""
    wrong = [(column, said) for column in table.c for said in _wrong(s, table, column, f"{at}.{column.name}")]
    names = " ".join(f"WHEN {said} THEN '{column.name}'" for column, said in wrong)
    mends = " ".join(f"WHEN {said} THEN '{column.name} = {_instead(column)}'" for column, said in wrong)
    return f"CASE {names} END", f"CASE {mends} END"


def _wrong(s: Spoken, table: Table, column: Column[Any], value: str) -> Iterator[str]:
    if column.name in _WORDS:
        yield f"lower({value}) NOT IN ({_WORDS[column.name]})"
    if column.name in bounds(table):
        least, most = bounds(table)[column.name]
        yield f"{value} < {least}" if most is None else f"{value} NOT BETWEEN {least} AND {most}"
    # On SQLite only, where somebody switched the constraints off, a column of numbers holds something else.
    if s.dialect == "sqlite" and is_number(column) and not column.primary_key and not column.foreign_keys:
        yield f"typeof({value}) NOT IN ('integer', 'null')"


def _instead(column: Column[Any]) -> str:
    """Return what a column may hold; what a person has to fill in is no text: run as it stands, the statement is refused."""
    if column.name == "Enabled":
        return "0"  # as still as it is
    if column.nullable:
        return "NULL"
    default = column.server_default
    return str(default.arg).replace("'", "''") if isinstance(default, DefaultClause) else "..."


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
    columns = readable_by(table, s.dialect, GONE_BY[table], ["NextRunTime"])

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


def locked(s: Spoken, key: str, of: str, names: Iterable[tuple[str, str]]) -> str:
    """Return which of some rows `c` somebody keeps locked, as controllers say it in `Told t`, and what ends that."""
    said = s.joined(f"'{BETWEEN}'", s.after(s.before("k.Trouble", NEXT), len(SO)))
    found = [s.beginning_at("t.Said", s.joined(f"'{BETWEEN}{what} '", named, "': '")) for what, named in names]
    first = f"COALESCE({', '.join(found)})" if len(found) > 1 else found[0]
    return f"""Told AS (
SELECT k.Controller_id, {said} AS Said
FROM {s.of}Controller k
WHERE k.Status = 'running' AND k.Trouble LIKE '{SO}%' AND {s.later("k.Heartbeat", "k.OrphanTimeoutSecs")} > {s.now}
), Met AS (
SELECT c.{key}, t.Controller_id, {s.after(first, len(BETWEEN))} AS Said FROM {of}
), Entry AS (
SELECT m.{key}, m.Controller_id, {s.before("m.Said", BETWEEN)} AS Said FROM Met m WHERE m.Said IS NOT NULL
), Locked AS (
SELECT e.{key}, {s.before("e.Said", TO_END_IT)} AS Reason,
       {s.after(s.beginning_at("e.Said", f"'{TO_END_IT}'"), len(TO_END_IT))} AS Mend,
       ROW_NUMBER() OVER (PARTITION BY e.{key} ORDER BY e.Controller_id) AS Nth
FROM Entry e
)"""


def told_name(column: str) -> str:
    """Write a name as controllers do in what they say of locks."""
    for mark in ESCAPED:
        column = f"replace({column}, '{mark}', '{ESCAPE}{mark}')"
    return column


def to_end(s: Spoken, lock: str) -> str:
    """Return the statement that ends a lock, or what shows who met it."""
    mend = s.joined(f"{lock}.Mend", "';'")
    return f"CASE WHEN {lock}.Mend IS NULL THEN 'SELECT * FROM Controller;' ELSE {mend} END"
