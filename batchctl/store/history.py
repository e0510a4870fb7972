"""`BatchProcessHistory`: every attempt, with the exact command; never changed once it has ended."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, bindparam, func, insert, select, text, update

from batchctl.domain.outcomes import Identity, StepOutcome
from batchctl.domain.rows import AttemptsSoFar, BatchId, BatchInstance, HistoryEntry, HistoryId, InstanceId, Step
from batchctl.domain.status import Cause, HistoryStatus, word
from batchctl.domain.text import storable
from batchctl.store.columns import NAME_LENGTH, UtcTime, new_id
from batchctl.store.statements import Read, Write
from batchctl.store.tables import LIVE_ENTRY, batch_process_history

_h = batch_process_history.c
_LIVE = text(f"BatchProcessHistory.{LIVE_ENTRY}")

_BEGUN = (
    "BatchControl_id",
    "ProcessBatch_id",
    "ProcessControlSeq",
    "ProcessName",
    "ProcessType",
    "AttemptNo",
    "ClaimToken",
    "Cause",
    "Status",
    "CommandText",
    "CommandSpec",
    "StartTime",
    "Host",
)
_OPEN = Write(insert(batch_process_history).inline(), _BEGUN)
_SKIPPED = insert(batch_process_history)
_END: dict[str, Any] = {
    "Status": bindparam("status"),
    "EndTime": bindparam("now"),
    "ReturnCode": bindparam("return_code"),
    "Message": bindparam("message"),
    "Output": bindparam("output"),
    "RowsAffected": bindparam("rows_affected"),
    "RetryCountAfter": bindparam("retry_count_after"),
    "NextRunTimeAfter": bindparam("next_run_time_after"),
    "z_updated": bindparam("now"),
}
_IDENTITY: dict[str, Any] = {
    "Pid": func.coalesce(bindparam("pid"), _h.Pid),
    "PidStart": func.coalesce(bindparam("pid_start"), _h.PidStart),
    "BootId": func.coalesce(bindparam("boot_id"), _h.BootId),
    "DbSession": func.coalesce(bindparam("db_session"), _h.DbSession),
    "Spawned": func.coalesce(bindparam("spawned_at", type_=UtcTime()), _h.Spawned),
}
_ENTRY = update(batch_process_history).where(_h.BatchProcessHistory_id == bindparam("history_id"), _LIVE)
_CLOSE = Write(_ENTRY.values(_END))
_CLOSE_WITH_IDENTITY = Write(_ENTRY.values({**_END, **_IDENTITY}))
_RECORD_SPAWNED = Write(_ENTRY.values(_IDENTITY))
_LIVE_ENTRIES = select(batch_process_history).where(_LIVE).order_by(_h.BatchProcessHistory_id)
_ATTEMPTS = Read(
    select(_h.ProcessControlSeq, func.max(_h.AttemptNo).label("LastAttempt"))
    .where(_h.BatchControl_id == bindparam("instance_id"))
    .group_by(_h.ProcessControlSeq)
)
_LAST = (
    select(batch_process_history)
    .where(_h.BatchControl_id == bindparam("instance_id"))
    .order_by(_h.BatchProcessHistory_id.desc())
    .limit(1)
)
_LOAD = select(batch_process_history).where(_h.BatchProcessHistory_id == bindparam("history_id"))
_OF = (
    select(batch_process_history)
    .where(_h.BatchControl_id == bindparam("instance_id"))
    .order_by(_h.BatchProcessHistory_id)
)
_NEWEST = select(batch_process_history).order_by(_h.BatchProcessHistory_id.desc()).limit(bindparam("most"))


def open_entry(
    connection: Connection,
    *,
    instance: BatchInstance,
    step: Step,
    attempt_no: int,
    cause: Cause,
    command_text: str,
    command_spec: str,
    host: str,
    now: datetime,
) -> HistoryId:
    """Record that an attempt begins, before it begins."""
    values = {
        "BatchControl_id": instance.instance_id,
        "ProcessBatch_id": instance.batch_id,
        "ProcessControlSeq": step.seq,
        "ProcessName": storable(step.name)[:NAME_LENGTH],
        "ProcessType": storable(step.process_type)[:50],
        "AttemptNo": attempt_no,
        "ClaimToken": instance.claim_token,
        "Cause": cause.value,
        "Status": HistoryStatus.RUNNING.value,
        "CommandText": command_text,
        "CommandSpec": command_spec,
        "StartTime": now,
        "Host": host,
    }
    return HistoryId(_OPEN(connection, values).lastrowid)


def add_skipped(
    connection: Connection,
    *,
    instance: BatchInstance,
    step: Step,
    attempt_no: int,
    command_text: str,
    message: str,
    host: str,
    now: datetime,
) -> HistoryId:
    """Record that a person decided to go on without a step: an attempt that began and ended with nothing done."""
    values = {
        "BatchControl_id": instance.instance_id,
        "ProcessBatch_id": instance.batch_id,
        "ProcessControlSeq": step.seq,
        "ProcessName": step.name,
        "ProcessType": step.process_type,
        "AttemptNo": attempt_no,
        "ClaimToken": instance.claim_token,
        "Cause": Cause.MANUAL.value,
        "Status": HistoryStatus.SKIPPED.value,
        "CommandText": command_text,
        "CommandSpec": "{}",
        "StartTime": now,
        "EndTime": now,
        "Message": message,
        "Host": host,
    }
    return HistoryId(new_id(connection.execute(_SKIPPED, values)))


def close_entry(
    connection: Connection,
    history_id: HistoryId,
    *,
    status: HistoryStatus,
    outcome: StepOutcome,
    message: str | None,
    identity: Identity | None,
    retry_count_after: int | None,
    next_run_time_after: datetime | None,
    now: datetime,
) -> bool:
    """Record how an attempt ended; false when its end was recorded before."""
    values = {
        "history_id": history_id,
        "status": status.value,
        "return_code": outcome.return_code,
        "message": message,
        "output": outcome.output,
        "rows_affected": outcome.rows_affected,
        "retry_count_after": retry_count_after,
        "next_run_time_after": next_run_time_after,
        "now": now,
    }
    if identity is None:
        return bool(_CLOSE(connection, values).rowcount == 1)
    return bool(_CLOSE_WITH_IDENTITY(connection, {**values, **_proof(identity)}).rowcount == 1)


def record_spawned(connection: Connection, history_id: HistoryId, identity: Identity) -> None:
    """Record what proves whether the attempt is alive."""
    _RECORD_SPAWNED(connection, {"history_id": history_id, **_proof(identity)})


def _proof(identity: Identity) -> dict[str, object]:
    return {
        "pid": identity.pid,
        "pid_start": identity.pid_start,
        "boot_id": identity.boot_id,
        "db_session": identity.db_session,
        "spawned_at": identity.spawned_at,
    }


def live_entries(connection: Connection) -> list[HistoryEntry]:
    """Return the attempts that have begun and not ended."""
    return [entry(row) for row in connection.execute(_LIVE_ENTRIES)]


def attempts_so_far(connection: Connection, instance_id: InstanceId) -> AttemptsSoFar:
    """Return the number of the last attempt at every step of an instance."""
    found = _ATTEMPTS(connection, {"instance_id": instance_id})
    return AttemptsSoFar({row.ProcessControlSeq: row.LastAttempt for row in found})


def last_entry(connection: Connection, instance_id: InstanceId) -> HistoryEntry | None:
    """Return the newest attempt of an instance."""
    row = connection.execute(_LAST, {"instance_id": instance_id}).one_or_none()
    return None if row is None else entry(row)


def load(connection: Connection, history_id: HistoryId) -> HistoryEntry | None:
    """Return one attempt."""
    row = connection.execute(_LOAD, {"history_id": history_id}).one_or_none()
    return None if row is None else entry(row)


def of_instance(connection: Connection, instance_id: InstanceId) -> list[HistoryEntry]:
    """Return all attempts of an instance, oldest first."""
    return [entry(row) for row in connection.execute(_OF, {"instance_id": instance_id})]


def newest(connection: Connection, most: int) -> list[HistoryEntry]:
    """Return the newest attempts of all instances, newest first."""
    return [entry(row) for row in connection.execute(_NEWEST, {"most": most})]


def entry(row: Row[Any]) -> HistoryEntry:
    """Make a value of a row of `BatchProcessHistory`."""
    return HistoryEntry(
        history_id=HistoryId(row.BatchProcessHistory_id),
        instance_id=InstanceId(row.BatchControl_id),
        batch_id=BatchId(row.ProcessBatch_id),
        seq=row.ProcessControlSeq,
        step_name=row.ProcessName,
        process_type=row.ProcessType,
        attempt_no=row.AttemptNo,
        claim_token=row.ClaimToken,
        cause=word(Cause, row.Cause),
        status=word(HistoryStatus, row.Status),
        command_text=row.CommandText,
        command_spec=row.CommandSpec,
        started_at=row.StartTime,
        ended_at=row.EndTime,
        return_code=row.ReturnCode,
        message=row.Message,
        output=row.Output,
        rows_affected=row.RowsAffected,
        host=row.Host,
        pid=row.Pid,
        pid_start=row.PidStart,
        boot_id=row.BootId,
        db_session=row.DbSession,
        spawned_at=row.Spawned,
        retry_count_after=row.RetryCountAfter,
        next_run_time_after=row.NextRunTimeAfter,
    )
