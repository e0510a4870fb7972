"""`Confirmation`: what steps ask people, and how that was answered."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from datetime import datetime
from typing import cast

from sqlalchemy import Connection, bindparam, delete, exists, func, not_, select, text

from batchctl.domain.operators.confirmations import Confirmation, ConfirmationId
from batchctl.domain.outcomes import Asks
from batchctl.domain.rows import HistoryId, InstanceId
from batchctl.domain.status import ConfirmationAnswer, HistoryStatus, InstanceStatus, OnTimeout
from batchctl.domain.text import fitting, storable
from batchctl.store.columns import readable
from batchctl.store.record_reading import Reader
from batchctl.store.statements import RowInsert, RowSelect, RowUpdate
from batchctl.store.tables import OPEN_CONFIRMATION, batch_control, batch_process_history, confirmation

BY_ITSELF = "batchctl"
"""Who ends a question that no person does."""
AT_ONCE = 500
"""Rows that one statement names."""

_q, _c, _h = confirmation.c, batch_control.c, batch_process_history.c
_confirmation = Reader(Confirmation)
_OPEN = text(f"Confirmation.{OPEN_CONFIRMATION}")

_ADD = RowInsert(confirmation)
OPEN_OF = RowSelect(select(confirmation).where(_q.BatchControl_id == bindparam("instance_id"), _OPEN))
OPEN_ONES = RowSelect(select(confirmation).where(_OPEN).order_by(_q.Confirmation_id).limit(bindparam("most")))
NEWEST_OF = RowSelect(
    select(confirmation)
    .where(_q.BatchControl_id == bindparam("instance_id"))
    .order_by(_q.Confirmation_id.desc())
    .limit(bindparam("most"))
)
_ENDS_BY_ITSELF = _q.OnTimeout != OnTimeout.INCIDENT.value
_DUE = RowSelect(
    select(confirmation)
    .where(_OPEN, _ENDS_BY_ITSELF, _q.DueTime <= bindparam("now"))
    .order_by(_q.DueTime)
    .limit(bindparam("most"))
)
_NEXT_DUE = RowSelect(select(func.min(_q.DueTime).label("Due")).where(_OPEN, _ENDS_BY_ITSELF))
_WAITS_FOR_IT = exists().where(
    _c.BatchControl_id == _q.BatchControl_id,
    _c.Status == InstanceStatus.PAUSED.value,
    _c.PrevProcessControlSeq < _q.ProcessControlSeq,
)
_STRAY = RowSelect(
    select(confirmation).where(_OPEN, not_(_WAITS_FOR_IT)).order_by(_q.Confirmation_id).limit(bindparam("most"))
)
_ANSWER = RowUpdate(confirmation, _q.Confirmation_id == bindparam("confirmation_id"), _OPEN)
_WITHDRAW = RowUpdate(confirmation, _q.BatchControl_id == bindparam("instance_id"), _OPEN)
_ASKED = RowSelect(
    select(_h.BatchProcessHistory_id, _h.z_updated).where(
        _h.BatchControl_id == bindparam("instance_id"), _h.Status == HistoryStatus.ASKED.value
    )
)
_END_ATTEMPT = RowUpdate(
    batch_process_history,
    _h.BatchProcessHistory_id == bindparam("history_id"),
    _h.Status == HistoryStatus.ASKED.value,
)
_REMOVE = delete(confirmation).where(_q.BatchControl_id.in_(bindparam("ids", expanding=True)))


def ask(
    connection: Connection,
    instance_id: InstanceId,
    seq: int,
    history_id: HistoryId,
    question: str,
    evidence: str | None,
    asks: Asks,
    now: datetime,
) -> None:
    """Write down what an attempt asks; what else of the instance is open, as after a change by hand, is withdrawn."""
    _withdraw(connection, instance_id, BY_ITSELF, "it is asked anew", now, but=history_id)
    asked: dict[str, object] = {
        "BatchControl_id": instance_id,
        "ProcessControlSeq": seq,
        "Question": question,
        "Who": asks.who,
        "Evidence": evidence,
        "DueTime": None if asks.wait is None else now + asks.wait,
        "OnTimeout": None if asks.on_timeout is None else str(asks.on_timeout),
        "z_inserted": now,
        "z_updated": now,
    }
    _ADD(connection, asked)


def open_of(connection: Connection, instance_id: InstanceId) -> Confirmation | None:
    """Return the question that an instance waits with."""
    return next(iter(readable(OPEN_OF(connection, instance_id=instance_id), _confirmation)), None)


def newest_of(connection: Connection, instance_id: InstanceId, most: int = 1) -> list[Confirmation]:
    """Return the newest questions of an instance, newest first."""
    return readable(NEWEST_OF(connection, instance_id=instance_id, most=most), _confirmation)


def open_ones(connection: Connection, most: int) -> list[Confirmation]:
    """Return questions without an answer, the oldest first."""
    return readable(OPEN_ONES(connection, most=most), _confirmation)


def due(connection: Connection, now: datetime, most: int) -> list[Confirmation]:
    """Return questions whose time is over and that end by that."""
    return readable(_DUE(connection, now=now, most=most), _confirmation)


def next_due(connection: Connection) -> datetime | None:
    """Return when the next question ends without an answer."""
    ((found,),) = _NEXT_DUE(connection)
    return None if found is None else cast("datetime", found)


def stray(connection: Connection, most: int) -> list[Confirmation]:
    """Return open questions whose instance does not wait for them, as after a change by hand."""
    return readable(_STRAY(connection, most=most), _confirmation)


def answer(
    connection: Connection,
    confirmation_id: ConfirmationId,
    given: ConfirmationAnswer,
    by: str,
    reason: str | None,
    now: datetime,
) -> bool:
    """Write an answer; false when there was one before."""
    return _ANSWER(connection, _answered(given, by, reason, now), confirmation_id=confirmation_id)


def end_attempt(
    connection: Connection,
    instance_id: InstanceId,
    status: HistoryStatus,
    message: str,
    now: datetime,
    *,
    retries: int | None = None,
    output: str | None = None,
) -> bool:
    """Write how the attempt of an instance that asks people has ended; false where there is none."""
    ended: dict[str, object] = {"Status": str(status), "EndTime": now, "Message": storable(message)}
    if output is not None:
        ended["Output"] = storable(output)
    if retries is not None:
        ended["RetryCountAfter"] = retries
    ended["z_updated"] = now
    found = [row.BatchProcessHistory_id for row in _ASKED(connection, instance_id=instance_id)]
    for history_id in found:
        _END_ATTEMPT(connection, ended, history_id=history_id)
    return bool(found)


def withdraw(connection: Connection, instance_id: InstanceId, by: str, reason: str | None, now: datetime) -> bool:
    """End the question of an instance without an answer, and the attempt that asked; false where there is none."""
    return _withdraw(connection, instance_id, by, reason, now)


def remove_of_instances(connection: Connection, ids: Collection[InstanceId]) -> int:
    """Delete the questions of instances that go."""
    return sum(connection.execute(_REMOVE, {"ids": some}).rowcount for some in _pages(ids))


def _withdraw(
    connection: Connection,
    instance_id: InstanceId,
    by: str,
    reason: str | None,
    now: datetime,
    *,
    but: HistoryId | None = None,
) -> bool:
    given = _answered(ConfirmationAnswer.WITHDRAWN, by, reason, now)
    withdrawn = _WITHDRAW(connection, given, instance_id=instance_id)
    message = storable("the question was withdrawn" + ("" if reason is None else f": {reason}"))
    for row in _ASKED(connection, instance_id=instance_id):
        if row.BatchProcessHistory_id == but:
            continue
        # What begins instead may have begun already: it does not overlap this one.
        at = now if but is None else row.z_updated
        ended = {"Status": HistoryStatus.CANCELLED.value, "EndTime": at, "Message": message, "z_updated": now}
        _END_ATTEMPT(connection, ended, history_id=row.BatchProcessHistory_id)
    return withdrawn


def _answered(given: ConfirmationAnswer, by: str, reason: str | None, now: datetime) -> dict[str, object]:
    return {
        "Answer": str(given),
        "AnsweredTime": now,
        "AnsweredBy": fitting(by),
        "Reason": None if reason is None else storable(reason),
        "z_updated": now,
    }


def _pages(ids: Collection[InstanceId]) -> Iterator[list[InstanceId]]:
    every = sorted(set(ids))
    yield from (every[at : at + AT_ONCE] for at in range(0, len(every), AT_ONCE))
