"""`OperatorRequest`: what people ask for by rows, and how that was answered."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Connection, bindparam, select, text

from batchctl.domain.operators.request_verbs import AskedAct
from batchctl.domain.operators.requests import Request, RequestId
from batchctl.domain.rows import LARGEST_ID
from batchctl.domain.status import RequestStatus
from batchctl.domain.text import NAME_LIMIT, fitting
from batchctl.store.columns import readable
from batchctl.store.dialects import dialect_of
from batchctl.store.record_reading import Reader
from batchctl.store.statements import RowInsert, RowSelect, RowUpdate
from batchctl.store.tables import REQUESTED, operator_request

_q = operator_request.c
_request = Reader(Request)

_WAITING = RowSelect(
    select(operator_request)
    .where(text(f"OperatorRequest.{REQUESTED}"), _q.OperatorRequest_id > bindparam("after"))
    .order_by(_q.OperatorRequest_id)
    .limit(bindparam("most"))
)
_ADD = RowInsert(operator_request)
_LOAD = RowSelect(select(operator_request).where(_q.OperatorRequest_id == bindparam("request_id")))
_OF = select(operator_request).order_by(_q.OperatorRequest_id)
_NEWEST = (
    select(operator_request)
    .where(_q.OperatorRequest_id < bindparam("before"))
    .order_by(_q.OperatorRequest_id.desc())
    .limit(bindparam("most"))
)
_ANSWER = RowUpdate(
    operator_request, _q.OperatorRequest_id == bindparam("request_id"), _q.Status == RequestStatus.REQUESTED.value
)


def waiting(connection: Connection, after: int, most: int) -> list[Request]:
    """Return what was asked for and is not answered, in order."""
    return readable(_WAITING(connection, after=after, most=most), _request)


def newest(
    connection: Connection,
    most: int,
    *,
    before: int = LARGEST_ID,
    only_open: bool = False,
    batch: str | None = None,
    status: RequestStatus | None = None,
    since: datetime | None = None,
) -> list[Request]:
    """Return the newest requests before one that fit, newest first."""
    wanted = _NEWEST.where(text(f"OperatorRequest.{REQUESTED}")) if only_open else _NEWEST
    wanted = wanted if batch is None else wanted.where(_q.ProcessBatchName == batch)
    wanted = wanted if status is None else wanted.where(_q.Status == status.value)
    wanted = wanted if since is None else wanted.where(_q.z_inserted >= since)
    return readable(connection.execute(wanted, {"before": before, "most": most}), _request)


def add(connection: Connection, asked: AskedAct, actor: str) -> RequestId:
    """Insert what a person asks for."""
    return RequestId(_ADD(connection, _values(asked, actor)))


def add_all(connection: Connection, asked: Sequence[AskedAct], actor: str) -> list[RequestId]:
    """Insert what a person asks for at once; return the numbers in the same order."""
    if not asked:
        return []
    rows = [_values(each, actor) for each in asked]
    inserted = _ADD.rows(connection, (*rows[0],), [(*row.values(),) for row in rows]).insert(connection)
    return [*map(RequestId, inserted)]


def _values(asked: AskedAct, actor: str) -> dict[str, object]:
    return {
        "Action": asked.verb.value,
        "BatchControl_id": asked.instance_id,
        "ProcessBatchName": asked.batch,
        "Arguments": json.dumps(dict(asked.arguments)) if asked.arguments else None,
        "Reason": asked.reason,
        "Actor": fitting(actor),
    }


def load(connection: Connection, request_id: RequestId) -> Request | None:
    """Return a request, as it stands."""
    return next(iter(readable(_LOAD(connection, request_id=request_id), _request)), None)


def load_all(connection: Connection, request_ids: Sequence[RequestId]) -> list[Request]:
    """Return some requests, in the order of their numbers."""
    return readable(connection.execute(_OF.where(_q.OperatorRequest_id.in_(request_ids))), _request)


def load_locked(connection: Connection, request_id: RequestId) -> Request | None:
    """Return a request that no other connection can answer until the end of the transaction."""
    dialect_of(connection).lock_row(connection, "OperatorRequest", request_id)
    return next(iter(readable(_LOAD(connection, request_id=request_id), _request)), None)


def answer(
    connection: Connection, request_id: RequestId, status: RequestStatus, wording: str, by: str, now: datetime
) -> bool:
    """Write what has become of a request; false when that was written before."""
    columns: dict[str, object] = {
        "Status": status.value,
        "Answer": wording,
        "AnsweredBy": by[:NAME_LIMIT],
        "AnsweredTime": now,
        "z_updated": now,
    }
    return _ANSWER(connection, columns, request_id=request_id)
