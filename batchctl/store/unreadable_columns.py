"""What is wrong with a row that cannot be read: which of its columns, and what that may hold."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from enum import StrEnum
from functools import cache
from typing import Any, TypeVar

from sqlalchemy import (
    Column,
    Connection,
    Table,
    TextClause,
    UnicodeText,
    and_,
    bindparam,
    cast,
    exists,
    func,
    not_,
    or_,
    select,
    text,
)

from batchctl.domain import status
from batchctl.domain.rows import HIGHEST_SEQ, BatchId
from batchctl.domain.text import shorten, visible
from batchctl.domain.unreadable import UnreadableRow, correcting
from batchctl.store import bounds
from batchctl.store.conditions import differing, is_number, once_found, one_of, requirements
from batchctl.store.dialects import dialect_of
from batchctl.store.one_look import ask_ahead
from batchctl.store.statements import RowSelect
from batchctl.store.tables import (
    CLAIMED_INSTANCE,
    IN_LINE_INSTANCE,
    OVER_INSTANCE,
    PAUSED_INSTANCE,
    UNREADABLE,
    batch_control,
    file_process,
    process_batch,
)

NONSENSE = (TypeError, ValueError, OverflowError)
"""What reading a value raises that is not one of its type."""

_WORDS: Mapping[str, type[StrEnum]] = {
    "OnFailure": status.OnFailure,
    "DependencyMode": status.DependencyMode,
    "ProcessingMode": status.ProcessingMode,
    "OnLost": status.OnLost,
    "OnStepFailure": status.OnStepFailure,
    "ScheduleType": status.ScheduleType,
    "CalendarRule": status.CalendarRule,
    "GapPolicy": status.GapPolicy,
    "FoldPolicy": status.FoldPolicy,
    "CatchUp": status.CatchUp,
    "Overlap": status.Overlap,
    "DuplicateKey": status.DuplicateKey,
    "Cause": status.Cause,
    "Severity": status.Severity,
}
_WORDS_OF: Mapping[tuple[str, str], type[StrEnum]] = {
    ("BatchControl", "Status"): status.InstanceStatus,
    ("FileProcess", "Status"): status.IntakeStatus,
    ("BatchProcessHistory", "Status"): status.HistoryStatus,
    ("Incident", "Status"): status.IncidentStatus,
    ("Incident", "Kind"): status.IncidentKind,
}
"""The words of a column that is called the same in many tables."""
_NAMES = (
    *("ProcessBatchName", "ProcessName", "ResourceName", "ScheduleName", "TriggerName", "WatchName"),
    *("CalendarName", "Name"),  # a schedule has the name of a calendar, too
)

RESTORE = (
    "somebody has deleted it with foreign keys switched off; `batchctl why {id}` names the statement that puts it back"
)
"""What to do about an instance whose batch, or FileProcess row, is gone."""

MOST = 20
"""How many rows of a table of work are named at most."""
_QUOTE = "'"
_STATEMENT = re.compile(r"(?<!QUOTED_IDENTIFIER ON; )\bUPDATE (?=(?:BatchControl|FileProcess) SET )")
"""A statement that a text shows and that is about a table with a filtered index."""
LONGEST = 100
"""How much is shown of a value that may not stand where it does."""
_IS_TIME = ",'+0 days')"
"""What stands only in the conditions of times."""

_c, _b = batch_control.c, process_batch.c
_ENTITY = select(func.coalesce(_b.Entity, _b.ProcessBatchName)).where(_b.ProcessBatch_id == bindparam("batch_id"))
_IS_A_SEQ = _c.PrevProcessControlSeq.between(0, HIGHEST_SEQ)
_OPEN_AND_ODD = [
    RowSelect(
        select(_c.BatchControl_id)
        .where(
            one_of("BatchControl.Status", words),
            or_(not_(_IS_A_SEQ), ~exists().where(file_process.c.FileProcess_id == _c.FileProcess_id)),
        )
        .order_by(once_found(_c.BatchControl_id))
        .limit(bindparam("most"))
    )
    for words in (IN_LINE_INSTANCE, CLAIMED_INSTANCE, PAUSED_INSTANCE)
]
"""For each index of what is open, the instances whose FileProcess row is gone, or whose last step can be none.

An index of such instances, as SQLite has one, would make every step more expensive on PostgreSQL.
"""

Made = TypeVar("Made")


def sorted_out(
    connection: Connection, table: Table, rows: Iterable[Any], make: Callable[[Any], Made]
) -> tuple[list[Made], list[UnreadableRow]]:
    """Make values of rows; those that hold nonsense are returned apart."""
    found, broken = list[Made](), list[UnreadableRow]()
    for row in rows:
        try:
            found.append(make(row))
        except NONSENSE as error:
            broken.append(unreadable(connection, table, row, error))
    return found, broken


def of_number(connection: Connection, table: Table, row_id: int) -> UnreadableRow | None:
    """Return what is wrong with a row that was not found among the readable ones; None where there is no such row."""
    (key,) = table.primary_key
    row = connection.execute(select(table).where(key == bindparam("row_id")), {"row_id": row_id}).first()
    if row is None:
        return None
    found = _of_row(connection, table, row)
    return found if found.column else next(_dangling(connection, table, row, found), found)


def of_work(connection: Connection, table: Table, most: int = MOST) -> list[UnreadableRow]:
    """Return the first unreadable rows of a table of work; indexes of these and of what is open are read."""
    odd = [each.ask(connection, most=most) for each in _OPEN_AND_ODD] if table is batch_control else []
    found = [_of_row(connection, table, row) for row in _indexed(table)(connection, most=most)]
    if odd:
        seen = {row.row_id for row in found}
        numbers = [row.BatchControl_id for asked in odd for row in asked()]
        rows = (of_number(connection, table, number) for number in sorted(numbers) if number not in seen)
        found += [row for row in rows if row is not None]
    return found[:most]


@cache
def _indexed(table: Table) -> RowSelect:
    (key,) = table.primary_key
    return RowSelect(select(table).where(UNREADABLE[table]).order_by(key).limit(bindparam("most")))


def ask_unfit(connection: Connection, table: Table, among: TextClause | None = None) -> None:
    """Ask ahead for what `unfit` looks for."""
    ask_ahead(connection, (_unfit_rows(table, among), {"most": MOST}))


def unfit(connection: Connection, table: Table, among: TextClause | None = None) -> list[UnreadableRow]:
    """Return the first rows of a table, or of some of it, that break any of its constraints; all these are read to find them."""
    return [_of_row(connection, table, row) for row in _unfit_rows(table, among)(connection, most=MOST)]


@cache
def _unfit_rows(table: Table, among: TextClause | None) -> RowSelect:
    elsewhere, on_sqlite, on_mssql = (_breaks_any(table, dialect) for dialect in ("postgresql", "sqlite", "mssql"))
    broken = differing(elsewhere, on_sqlite, on_mssql)
    (key,) = table.primary_key
    which = broken if among is None else and_(among, broken)
    return RowSelect(select(table).where(which).order_by(key).limit(bindparam("most")))


def _of_row(connection: Connection, table: Table, row: Any) -> UnreadableRow:
    """Say of a row which of its columns breaks a constraint, and what stands there: a time that is none was read as one."""
    (key,) = table.primary_key
    this = key == getattr(row, key.name)
    for column, said in _unfit(table, row):
        return _row(connection, table, row, column, said)
    for column, condition in requirements(table, connection.dialect.name):
        held: Any = connection.execute(
            select(cast(table.c[column], UnicodeText)).where(this, text(_breaks(table.c[column], condition)))
        ).first()
        if held is not None:
            so = "which is no time" if _IS_TIME in condition else f"and has to fulfil {shorten(condition, LONGEST)}"
            stands = "empty" if held[0] is None else f"'{shorten(visible(str(held[0])), LONGEST)}'"
            return _row(connection, table, row, column, f"{column} is {stands}, {so}")
    return _row(connection, table, row, "", "a column holds nonsense")


def _breaks_any(table: Table, dialect: str) -> str:
    return f"({' OR '.join(_breaks(table.c[column], said) for column, said in requirements(table, dialect))})"


def _breaks(column: Column[Any], condition: str) -> str:
    # Where a column may be NULL, a constraint accepts that its result is unknown.
    if column.nullable:
        return f"CASE WHEN NOT ({condition}) THEN 1 ELSE 0 END = 1"
    return f"CASE WHEN {condition} THEN 0 ELSE 1 END = 1"


def _dangling(connection: Connection, table: Table, row: Any, found: UnreadableRow) -> Iterator[UnreadableRow]:
    """Yield what is wrong with a row that names another one which is gone."""
    for column, named in ((each, key.column) for each in table.c for key in each.foreign_keys):
        number = getattr(row, column.name)
        if number is not None and connection.execute(select(named).where(named == number)).first() is None:
            said = f"{column.name} is {number}, and {named.table.name} {number} is gone"
            yield replace(found, column=column.name, wording=said, mend=_put_back(connection, named.table, number, row))


def _put_back(connection: Connection, table: Table, number: int, instance: Any) -> str:
    """Return the statement that makes a row anew that an instance names: then it goes on, or can be cancelled."""
    columns, values, but = "ProcessBatchName, Enabled", "'...', 0", "with its name, or any that is free"
    if table is file_process:
        entity = connection.execute(_ENTITY, {"batch_id": instance.ProcessBatch_id}).scalar()
        status = "complete" if str(instance.Status).lower() in OVER_INSTANCE else "ready"
        columns, but = "Entity, FileName, Status", "with its FileName, if you know it"
        values = f"'{str(entity or '...').replace(_QUOTE, _QUOTE * 2)}', NULL, '{status}'"
    insert = f"INSERT INTO {table.name} ({table.name}_id, {columns}) VALUES ({number}, {values})"  # noqa: S608 - shown, not run
    return f"{_wording(connection)}{dialect_of(connection).numbered(table.name, insert)};   ({but})"


def unreadable(connection: Connection, table: Table, row: Any, error: Exception, batch: str = "") -> UnreadableRow:
    """Return what is wrong with a row that could not be read; `batch` is the name of the batch that it is part of."""
    column, said = next(iter(_unfit(table, row)), ("", str(error)))
    if not column and (first := said.partition(" ")[0]) in table.c:
        column = first
    return _row(connection, table, row, column, said, batch)


def for_any_client(connection: Connection, text: str) -> str:
    """Return a text whose statements sqlcmd and SQL Agent take, too: their sessions refuse them otherwise (error 1934)."""
    return _STATEMENT.sub(lambda found: f"{_wording(connection)}{found[0]}", text)


def _wording(connection: Connection) -> str:
    """Return the SET statement that sqlcmd needs before it may write a table with a filtered index."""
    return "SET QUOTED_IDENTIFIER ON; " if connection.dialect.name == "mssql" else ""


def _row(connection: Connection, table: Table, row: Any, column: str, wording: str, batch: str = "") -> UnreadableRow:
    name = next((str(getattr(row, each)) for each in _NAMES if each in table.c), "")
    own = str(row.ProcessBatchName) if table.name == "ProcessBatch" else batch
    number = getattr(row, "ProcessBatch_id", None)
    batch_id = BatchId(number) if isinstance(number, int) else None
    row_id = int(getattr(row, f"{table.name}_id"))
    mend = f"SELECT * FROM {table.name} WHERE {table.name}_id = {row_id};   (and correct what is wrong there)"  # noqa: S608 - our own names
    if column:
        mend = correcting(table.name, column, f"{table.name}_id = {row_id}", _wording(connection))
    return UnreadableRow(
        table=str(table.name),
        row_id=row_id,
        column=column,
        wording=wording,
        mend=mend,
        name=name if not batch or not name else f"{batch}, {name}",
        batch_id=batch_id,
        batch=own,
        entity=(row.Entity or own) if "Entity" in table.c else None,
    )


def _words(table: Table, column: str) -> type[StrEnum] | None:
    return _WORDS_OF.get((table.name, column)) or _WORDS.get(column)


def _unfit(table: Table, row: Any) -> Iterable[tuple[str, str]]:
    for column in table.columns:
        value = getattr(row, column.name)
        if value is None:
            if not column.nullable:
                yield column.name, f"{column.name} is empty"
        elif is_number(column) and not isinstance(value, int):
            yield column.name, f"{column.name} is '{visible(str(value))}', which is no whole number"
        elif (known := _words(table, column.name)) is not None and str(value).strip().lower() not in set(known):
            listed = ", ".join(member.value for member in known)
            yield column.name, f"{column.name} is '{visible(str(value))}', and has to be one of: {listed}"
        elif (said := bounds.beyond(table, column.name, value)) is not None:
            yield column.name, said
