"""What the console looks at each second to know what has changed: one statement, which reads the ends of indexes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import (
    BigInteger,
    Connection,
    Select,
    Table,
    bindparam,
    cast,
    func,
    literal_column,
    select,
    text,
    union_all,
)

from batchctl.domain.operators.news import InstanceTrace, Traces
from batchctl.domain.rows import LARGEST_ID, BatchId, InstanceId
from batchctl.store.conditions import one_of
from batchctl.store.tables import (
    CLAIMED_INSTANCE,
    INBOX_INTAKE,
    OPEN_CONFIRMATION,
    STANDING_INCIDENT,
    audit_log,
    batch_control,
    batch_process_history,
    confirmation,
    file_process,
    incident,
    scheduler_log,
)

MOST = 10_000
"""How many new rows of a table one look reads."""
Newest = Mapping[str, int]
"""The number of the newest row, by the name of the table."""
_CLAIMED, _NEWEST, _ACT, _MARK = "claimed", "newest", "act", "mark"
_GROWING = batch_control, batch_process_history, audit_log
_c = batch_control.c


def _part(kind: str, number: Any, *, name: Any = None, batch: Any = None, mark: Any = None) -> Select[Any]:
    """Return columns of the same kinds, whatever they are about."""
    none = cast(literal_column("0"), BigInteger())
    return select(
        literal_column(f"'{kind}'").label("Kind"),
        (literal_column("''") if name is None else name).label("Name"),
        number.label("Number"),
        (none if batch is None else batch).label("Batch"),
        (none if mark is None else mark).label("Mark"),
    )


def _new_of(table: Table, *columns: str) -> Any:
    (key,) = table.primary_key
    rows = (
        select(key, *(table.c[name] for name in columns))
        .where(key > bindparam(_called(table)))
        .order_by(key.desc())
        .limit(MOST)
    )
    return rows.order_by(key.desc()).limit(MOST).subquery(f"New{table.name}").c


def _mark(named: str, number: Any, *conditions: Any) -> Select[Any]:
    return _part(_MARK, number, name=literal_column(f"'{named}'")).where(*conditions)


def _last_of(table: Table) -> Any:
    return func.coalesce(func.max(*table.primary_key), 0)


def _called(table: Table) -> str:
    return str(table.name).lower()


_made, _acts = _new_of(batch_control, "ProcessBatch_id"), _new_of(audit_log, "Target")
_begun = _new_of(batch_process_history, "BatchControl_id", "ProcessBatch_id")
_LOOK = union_all(
    _part(_CLAIMED, _c.BatchControl_id, batch=_c.ProcessBatch_id, mark=_c.ClaimToken).where(
        one_of("BatchControl.Status", CLAIMED_INSTANCE)
    ),
    _part(_NEWEST, _made.BatchControl_id, batch=_made.ProcessBatch_id),
    _part(
        _NEWEST,
        _begun.BatchControl_id,
        batch=func.max(_begun.ProcessBatch_id),
        mark=func.max(_begun.BatchProcessHistory_id),
    ).group_by(_begun.BatchControl_id),
    _part(_ACT, _acts.AuditLog_id, name=_acts.Target),
    *(
        _mark(_called(table), _last_of(table))
        for table in (*_GROWING, file_process, scheduler_log, incident, confirmation)
    ),
    _mark("inbox", _last_of(file_process), one_of("FileProcess.Status", INBOX_INTAKE)),
    _mark("standing", func.count(incident.c.Incident_id), text(f"Incident.{STANDING_INCIDENT}")),
    _mark("asked", func.count(confirmation.c.Confirmation_id), text(f"Confirmation.{OPEN_CONFIRMATION}")),
)


def look(connection: Connection, since: Newest | None) -> tuple[Traces, Newest]:
    """Return what is under way, what is newer than the rows of a look before, and what is newest now."""
    asked = {_called(table): LARGEST_ID if since is None else since[_called(table)] for table in _GROWING}
    rows = connection.execute(_LOOK, asked).all()
    newest = {name: number for kind, name, number, *_ in rows if kind == _MARK}
    traces = Traces(
        claimed=_traces(rows, _CLAIMED),
        newest=_traces(rows, _NEWEST),
        acts=frozenset((number, name) for kind, name, number, *_ in rows if kind == _ACT),
        marks=frozenset(newest.items()),
        is_whole=all(newest[table] - asked[table] < MOST for table in asked),
    )
    return traces, newest


def _traces(rows: Any, kind: str) -> frozenset[InstanceTrace]:
    return frozenset(
        InstanceTrace(InstanceId(of), BatchId(batch), mark) for found, _, of, batch, mark in rows if found == kind
    )
