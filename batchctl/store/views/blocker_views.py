"""What keeps batches and work from starting: rows that nothing can go by, plugins that no controller has, freezes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Any

from sqlalchemy import Column, DefaultClause, Table

from batchctl.domain import status
from batchctl.store.bounds import bounds
from batchctl.store.conditions import readable_by, spelled
from batchctl.store.tables import (
    GONE_BY,
    UNREADABLE,
    batch_control,
    batch_dependency,
    batch_resource,
    file_process,
    process_batch,
    process_control,
    resource,
    schedule,
)
from batchctl.store.views.view_dialect import ViewDialect

_WORDS: Mapping[str, type[StrEnum]] = {
    "ProcessingMode": status.ProcessingMode,
    "OnFailure": status.OnFailure,
    "DependencyMode": status.DependencyMode,
    "OnLost": status.OnLost,
}
"""What the engine reads in columns of words."""
_DEFINITIONS = (
    (process_batch, "ProcessBatch_id", ""),
    (process_control, "ProcessBatch_id", ""),
    (batch_dependency, "ProcessBatch_id", ""),
    (batch_resource, "ProcessBatch_id", ""),
    (resource, "n.ProcessBatch_id", " t JOIN {0}BatchResource n ON n.Resource_id = t.Resource_id"),
    (schedule, "NULL", ""),
)
"""The tables of definitions in the order in which they are looked through, and which batch needs a row."""
_MENDS = {
    batch_control: {
        "Status": "Status = ''held''",
        "PrevProcessControlSeq": "PrevProcessControlSeq = ...",
        "NextRunTime": "NextRunTime = ''1900-01-01 00:00:00.000''",
    },
    file_process: {"Status": "Status = ''paused''"},
}
"""What is written into a row of work that nothing can go by: a person decides, or it waits no longer."""


def unreadable(s: ViewDialect) -> str:
    """Return the rows that nothing can go by, of each the first column that is why."""
    legs = [_definition(s, place, *one) for place, one in enumerate(_DEFINITIONS)]
    legs += [_work(s, len(legs) + place, *one) for place, one in enumerate(_MENDS.items())]
    rows = "\nUNION ALL\n".join(legs)
    key = s.joined("TableName", "'_id = '", "Row_id", "';'")
    column = s.until_blank("Given")
    reason = s.joined(
        *("TableName", "' '", "Row_id", "Named", "' cannot be read: '", column, "' holds '"),
        "CASE WHEN Given LIKE 'NextRunTime%' THEN 'no time' ELSE 'nonsense' END",
    )
    mended = s.joined("'UPDATE '", "TableName", "' SET '", "Given", "' WHERE '", key)
    return f"""
SELECT TableName, Row_id, {column} AS ColumnName, ProcessBatch_id, Place,
    {reason} AS Reason,
    {mended} AS NextSql
FROM (
{rows}
) m WHERE Given IS NOT NULL"""


def _definition(s: ViewDialect, place: int, table: Table, batch: str, joined: str) -> str:
    """Return what of the rows of a table keeps a batch, or a schedule, from being read."""
    at = "t." if joined else ""
    wrong = "\n    ".join(
        f"WHEN {said} THEN '{column.name} = {_instead(column)}'"
        for column in table.c
        for said in _wrong(table, column, f"{at}{column.name}")
    )
    named = s.joined("' ('", "ProcessBatchName", "')'") if table is process_batch else "''"
    row = _row(place, table, at, batch, named)
    given = f"CASE {wrong} END{' AS Given' if place == 0 else ''}"
    return f"""SELECT {row}
    {given}
FROM {s.of}{table.name}{joined.format(s.of)}"""


def _row(place: int, table: Table, at: str, batch: str, named: str) -> str:
    values = (f"'{table.name}'", f"{at}{table.name}_id", batch, str(place), named)
    names = ("TableName", "Row_id", "ProcessBatch_id", "Place", "Named")
    called = (
        value if place or value == name else f"{value} AS {name}" for value, name in zip(values, names, strict=True)
    )
    return f"{', '.join(called)},"


def _wrong(table: Table, column: Column[Any], value: str) -> Iterator[str]:
    if column.name in _WORDS:
        words = ", ".join(f"'{word}'" for word in _WORDS[column.name])
        yield f"lower({value}) NOT IN ({words})"
    if column.name in bounds(table):
        least, most = bounds(table)[column.name]
        yield f"{value} < {least}" if most is None else f"{value} NOT BETWEEN {least} AND {most}"


def _instead(column: Column[Any]) -> str:
    """Return what a column may hold; what a person has to fill in is no text: run as it stands, the statement is refused."""
    if column.name == "Enabled":
        return "0"  # as still as it is
    if column.nullable:
        return "NULL"
    default = column.server_default
    return str(default.arg).replace("'", "''") if isinstance(default, DefaultClause) else "..."


def _work(s: ViewDialect, place: int, table: Table, mends: Mapping[str, str]) -> str:
    """Return the rows of a table of work that nothing can go by, and what each may hold; its index finds them."""
    *others, (_, last) = [
        (condition, mends[column])
        for column, condition in readable_by(table, s.dialect, GONE_BY[table], ["NextRunTime"])
    ]
    cases = "\n    ".join(f"WHEN NOT ({condition}) THEN '{given}'" for condition, given in others)
    given = f"CASE {cases} ELSE '{last}' END" if others else f"'{last}'"
    return f"""SELECT {_row(place, table, "", "NULL", "''")}
    {given}
FROM {s.of}{table.name} WHERE {spelled(UNREADABLE[table], s.dialect)}"""


def not_installed(s: ViewDialect) -> str:
    """Return what batches (at step -1) and their steps name and no controller has, of those that run and the last that began.

    Nothing is said where one of them has not written what it has, nor of a name with a comma. What a person has to fill in is
    no text: run as it stands, the statement is refused.
    """
    leads = f"EXISTS (SELECT 1 FROM {s.of}Leader l WHERE l.ControllerName = k.ControllerName)"
    led = f"""EXISTS (SELECT 1 FROM {s.of}Leader l JOIN {s.of}Controller m ON m.ControllerName = l.ControllerName
            WHERE m.Status = 'running')"""
    # Only who leads asks populators.
    populators = f"CASE WHEN {leads} OR NOT {led} THEN {s.tags('k.Populators')} ELSE '' END"
    names = f"{s.tags('k.ProcessTypes')} AS ProcessTypes, {populators} AS Populators, {s.tags('k.Jobs')} AS Jobs"
    process_type = s.bare("lower(ProcessType)")
    offers = "CASE n.Lacks WHEN 'Populator' THEN o.Populators WHEN 'ProcessType' THEN o.ProcessTypes ELSE o.Jobs END"
    of_batch = "n.ProcessControlSeq = -1"
    batch_named = s.joined("'ProcessBatch ('", "b.ProcessBatchName", "'): Populator'")
    what = "CASE WHEN n.Lacks = 'Data1' THEN 'job' ELSE n.Lacks END"
    step_named = s.joined("'ProcessControl ('", "b.ProcessBatchName", "', step '", "n.ProcessControlSeq", "'): '", what)
    reason = s.joined(
        *(f"CASE WHEN {of_batch} THEN {batch_named} ELSE {step_named} END", "' '''", "n.Name"),
        *("CASE WHEN n.Lacks = 'Data1' THEN ''' of Data1' ELSE '''' END", "' is not installed'"),
    )
    batch_mended = s.joined(
        "'UPDATE ProcessBatch SET Populator = ... WHERE ProcessBatch_id = '", "n.ProcessBatch_id", "';'"
    )
    step_mended = s.joined(
        *("'UPDATE ProcessControl SET '", "n.Lacks", "' = ... WHERE ProcessBatch_id = '", "n.ProcessBatch_id"),
        *("' AND ProcessControlSeq = '", "n.ProcessControlSeq", "';'"),
    )
    mended = f"CASE WHEN {of_batch} THEN {batch_mended} ELSE {step_mended} END"
    return f"""
WITH Offered AS (
SELECT CASE WHEN k.ProcessTypes IS NULL THEN 1 ELSE 0 END AS IsUnknown, {names}
FROM {s.of}Controller k
WHERE k.Status = 'running' OR k.Controller_id = (SELECT MAX(l.Controller_id) FROM {s.of}Controller l)
), Named AS (
SELECT ProcessBatch_id, -1 AS ProcessControlSeq, 'Populator' AS Lacks, Populator AS Name FROM {s.of}ProcessBatch
UNION ALL SELECT ProcessBatch_id, ProcessControlSeq, 'ProcessType', {process_type} FROM {s.of}ProcessControl
UNION ALL SELECT ProcessBatch_id, ProcessControlSeq, 'Data1', Data1 FROM {s.of}ProcessControl
WHERE Data1 <> '' AND {process_type} = 'python' AND EXISTS (SELECT 1 FROM Offered WHERE ProcessTypes LIKE '%python%')
)
SELECT n.ProcessBatch_id, b.ProcessBatchName, n.ProcessControlSeq,
    {reason} AS Reason,
    {mended} AS NextSql
FROM Named n JOIN {s.of}ProcessBatch b ON b.ProcessBatch_id = n.ProcessBatch_id
WHERE EXISTS (SELECT 1 FROM Offered) AND replace(n.Name, ',', '') = n.Name
AND NOT EXISTS (SELECT 1 FROM Offered o WHERE o.IsUnknown = 1 OR ({s.has_tag(offers, "n.Name")}))"""


def frozen(s: ViewDialect) -> str:
    """Return the batches that a freeze holds, and by which: of several the one that lasts longest."""
    scope = (
        "CASE WHEN z.Tag IS NOT NULL THEN "
        + s.joined("'every batch with tag '''", "z.Tag", "''''")
        + " WHEN z.ProcessBatchName IS NULL THEN 'everything' ELSE "
        + s.joined("'batch '", "z.ProcessBatchName")
        + " END"
    )
    ending = s.joined("'until '", s.wording("z.UntilTime"))
    until = f"CASE WHEN z.UntilTime IS NULL THEN 'until somebody thaws it' ELSE {ending} END"
    reason = s.joined(
        *(
            "z.Scope",
            "' is frozen since '",
            s.wording("z.z_inserted"),
            "', '",
            until,
            "', by '",
            "z.Actor",
            "': '",
            "z.Reason",
        )
    )
    first = "CASE WHEN z.UntilTime IS NULL THEN 0 ELSE 1 END, z.UntilTime DESC, z.BatchFreeze_id"
    return f"""
SELECT z.ProcessBatch_id, z.ProcessBatchName, z.BatchFreeze_id, z.Scope, {s.twin("z.UntilTime", "UntilTime")},
    {reason} AS Reason,
    {s.thaw("z.BatchFreeze_id")} AS NextSql
FROM (SELECT b.ProcessBatch_id, b.ProcessBatchName, z.BatchFreeze_id, {scope} AS Scope, z.UntilTime, z.z_inserted, z.Actor,
             z.Reason, ROW_NUMBER() OVER (PARTITION BY b.ProcessBatch_id ORDER BY {first}) AS Nth
      FROM (SELECT BatchFreeze_id, ProcessBatchName, Tag, {s.bare("lower(Tag)")} AS BareTag, UntilTime, z_inserted, Actor, Reason
            FROM {s.of}BatchFreeze WHERE ThawedTime IS NULL AND (UntilTime IS NULL OR UntilTime > {s.now})) z
      JOIN (SELECT ProcessBatch_id, ProcessBatchName, {s.tags("lower(Tags)")} AS Tags FROM {s.of}ProcessBatch) b
        ON (z.Tag IS NULL AND (z.ProcessBatchName IS NULL OR z.ProcessBatchName = b.ProcessBatchName))
        OR (z.BareTag <> '' AND {s.has_tag("b.Tags", "z.BareTag")})) z
WHERE z.Nth = 1"""
