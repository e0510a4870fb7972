"""`BatchProcessHistory`: every attempt, with the exact command; never changed once it has ended."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any

from sqlalchemy import Connection, Select, and_, bindparam, func, select, text, update

from batchctl.domain.commands import Identity
from batchctl.domain.outcomes import StepOutcome
from batchctl.domain.rows import AttemptsSoFar, BatchId, BatchInstance, HistoryEntry, HistoryId, InstanceId, Step
from batchctl.domain.status import Cause, HistoryStatus
from batchctl.domain.text import NAME_LIMIT, storable
from batchctl.domain.unreadable import UnreadableRow
from batchctl.domain.values import value
from batchctl.store import step_outputs
from batchctl.store.columns import readable
from batchctl.store.conditions import once_found
from batchctl.store.definitions import batch_versions
from batchctl.store.dialects import dialect_of
from batchctl.store.one_look import ask_ahead
from batchctl.store.record_reading import Reader
from batchctl.store.statements import Names, RowInsert, RowSelect, RowUpdate, StatementRows, Values, update_all
from batchctl.store.tables import LIVE_ENTRY, batch_control, batch_process_history
from batchctl.store.unreadable_columns import sorted_out

_h, _i = batch_process_history.c, batch_control.c
entry = Reader(HistoryEntry)
"""Makes a value of a row of `BatchProcessHistory`."""


@value
class Beginning:
    """An attempt that is about to begin."""

    instance: BatchInstance
    step: Step
    attempt_no: int
    cause: Cause
    command_text: str
    command_spec: str
    version: int | None = None
    host: str | None = None
    """Where it is carried out; None where the controller is."""


@value
class Ending:
    """How an attempt ended, and what stands in its row besides."""

    history_id: HistoryId
    token: int
    status: HistoryStatus
    outcome: StepOutcome
    message: str | None
    ended_at: datetime
    """Not written of one that asks people: its answer ends it."""
    identity: Identity | None = None
    retry_count_after: int | None = None
    next_run_time_after: datetime | None = None
    never_ran: bool = False
    """True for an attempt that was recorded as begun and provably never ran."""
    wrote: bool = True
    """False when it is known that no row of `StepOutput` tells of it."""


Attempts = tuple[list[HistoryEntry], list[UnreadableRow]]
"""Attempts, and the rows among them that cannot be read."""

CODE_LENGTH, FARTHEST_LINE = 50, 2**31
"""What the columns of an error's code and line hold."""

_RUNNING = str(HistoryStatus.RUNNING)
_LIVE = text(f"BatchProcessHistory.{LIVE_ENTRY}")

_ADD = RowInsert(batch_process_history)
_LIVE_ENTRY = RowUpdate(
    batch_process_history,
    _h.BatchProcessHistory_id == bindparam("history_id"),
    _h.ClaimToken == bindparam("token"),
    _LIVE,
)
_LIVE_ENTRIES = select(batch_process_history).where(_LIVE).order_by(once_found(_h.BatchProcessHistory_id))
_ATTEMPTS = RowSelect(
    select(_h.ProcessControlSeq, func.max(_h.AttemptNo).label("LastAttempt"))
    .where(_h.BatchControl_id == bindparam("instance_id"))
    .group_by(_h.ProcessControlSeq)
)
_ATTEMPTS_OF = (
    select(_h.BatchControl_id, _h.ProcessControlSeq, func.max(_h.AttemptNo).label("LastAttempt"))
    .where(_h.BatchControl_id.in_(bindparam("instance_ids", expanding=True)))
    .group_by(_h.BatchControl_id, _h.ProcessControlSeq)
)
_LAST = (
    select(batch_process_history)
    .where(_h.BatchControl_id == bindparam("instance_id"))
    .order_by(_h.BatchProcessHistory_id.desc())
    .limit(bindparam("most"))
)
LAST = RowSelect(_LAST)
_NEVER_RAN = and_(_h.Status == HistoryStatus.LOST.value, _h.Spawned.is_(None))
_LAST_THAT_RAN = _LAST.where(~_NEVER_RAN)
_RAN_BEFORE = select(func.max(_h.AttemptNo)).where(
    _h.BatchControl_id == bindparam("instance_id"),
    _h.ProcessControlSeq == bindparam("seq"),
    _h.AttemptNo < bindparam("attempt_no"),
    ~_NEVER_RAN,
)
_LAST_BEGUN = select(func.max(_h.StartTime)).where(
    _h.BatchControl_id == bindparam("instance_id"), _h.Status != HistoryStatus.SKIPPED.value, ~_NEVER_RAN
)
_LOAD = select(batch_process_history).where(_h.BatchProcessHistory_id == bindparam("history_id"))
OF = RowSelect(
    select(batch_process_history)
    .where(_h.BatchControl_id == bindparam("instance_id"))
    .order_by(_h.BatchProcessHistory_id)
)
_MAY_HAVE_RUN = (
    update(batch_process_history)
    .where(_h.BatchProcessHistory_id == bindparam("history_id"), _h.Spawned.is_(None))
    .values(Spawned=_h.StartTime)
)
_NOTE_LATE = (
    update(batch_process_history)
    .where(
        _h.BatchProcessHistory_id == bindparam("history_id"),
        # The controller that gave it up may have taken the claim first.
        _h.ClaimToken >= bindparam("token"),
        _h.Status == HistoryStatus.LOST.value,
    )
    .values(
        Message=func.coalesce(_h.Message, "") + bindparam("note", type_=_h.Message.type), z_updated=bindparam("now")
    )
)
_OF_BATCH = (
    select(batch_process_history)
    # There is no index on the batch: its instances are found first, and their attempts by them.
    .where(_h.BatchControl_id.in_(select(_i.BatchControl_id).where(_i.ProcessBatch_id == bindparam("batch_id"))))
    .order_by(_h.BatchProcessHistory_id.desc())
    .limit(bindparam("most"))
)
_NEWEST = select(batch_process_history).order_by(_h.BatchProcessHistory_id.desc()).limit(bindparam("most"))


def opening(connection: Connection, beginnings: Sequence[Beginning], host: str, now: datetime) -> list[StatementRows]:
    """Prepare the rows that record attempts before they begin, each under the controller that claims its instance."""
    return (
        [_ADD.rows(connection, _OPENED, [_opened(connection, one, host, now) for one in beginnings])]
        if beginnings
        else []
    )


_OPENED = (
    *("BatchControl_id", "ProcessBatch_id", "ProcessControlSeq", "ProcessName", "ProcessType", "AttemptNo"),
    *("ClaimToken", "Cause", "Status", "CommandText", "CommandSpec", "StartTime", "Host", "z_inserted", "z_updated"),
    *("ClaimedBy", "DefVersion"),
)


def _opened(connection: Connection, one: Beginning, host: str, now: datetime) -> Values:
    instance, step = one.instance, one.step
    return (
        instance.instance_id,
        instance.batch_id,
        step.seq,
        _fitting(step.name, NAME_LIMIT),
        _fitting(step.process_type, 50),
        one.attempt_no,
        instance.claim_token,
        str(one.cause),
        _RUNNING,
        one.command_text,
        one.command_spec,
        now,
        one.host or host,
        now,
        now,
        instance.claimed_by,
        one.version or batch_versions.number(connection, instance.batch_id),
    )


@lru_cache(maxsize=1024)
def _fitting(name: str, length: int) -> str:
    """Return what a column can hold of the name of a step, which is the same at every attempt."""
    return storable(name)[:length]


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
    return HistoryId(_ADD(connection, values))


def close_entries(connection: Connection, endings: Sequence[Ending], now: datetime) -> int:
    """Record how attempts ended; return for how many.

    One whose end was recorded before, or that goes on under another claim, is left as it is.
    """
    closed = update_all(connection, closing(connection, endings, now))
    keep_in_doubt(connection, endings)
    forget_output(connection, endings)
    return closed


def closing(connection: Connection, endings: Sequence[Ending], now: datetime) -> list[StatementRows]:
    """Prepare what records how attempts ended; the caller then calls `keep_in_doubt` and `forget_output`."""
    return _LIVE_ENTRY.rows(connection, ("history_id", "token"), [_ended(one, now) for one in endings])


def keep_in_doubt(connection: Connection, endings: Sequence[Ending]) -> None:
    """Mark lost attempts as ones that may have run, unless it is known that they never did."""
    for one in endings:
        if one.status is HistoryStatus.LOST and not one.never_ran:
            connection.execute(_MAY_HAVE_RUN, {"history_id": one.history_id})


def forget_output(connection: Connection, endings: Sequence[Ending]) -> None:
    """Delete what attempts had written so far: how they ended says it in full."""
    step_outputs.forget(connection, [one.history_id for one in endings if one.wrote])


def _ended(one: Ending, now: datetime) -> tuple[Names, Values]:
    """Return the columns of which something is known; their values, and what the row is found by."""
    outcome = one.outcome
    # In the order of the table, so that they need no sorting.
    known: dict[str, object] = {"Status": str(one.status)}
    if one.status.is_over:
        known["EndTime"] = one.ended_at
    if outcome.return_code is not None:
        known["ReturnCode"] = outcome.return_code
    if one.message is not None:
        known["Message"] = one.message
    if outcome.output is not None:
        known["Output"] = outcome.output
    if outcome.rows_affected is not None:
        known["RowsAffected"] = outcome.rows_affected
    if one.identity is not None:
        known |= _proof(one.identity)
    if one.retry_count_after is not None:
        known["RetryCountAfter"] = one.retry_count_after
    if one.next_run_time_after is not None:
        known["NextRunTimeAfter"] = one.next_run_time_after
    known["z_updated"] = now
    if not outcome.succeeded:
        if (code := outcome.error_code or outcome.return_code) is not None:
            known["ErrorCode"] = storable(str(code))[:CODE_LENGTH]
        if outcome.error_line is not None and 0 < outcome.error_line < FARTHEST_LINE:
            known["ErrorLine"] = outcome.error_line
    return (*known,), (*known.values(), one.history_id, one.token)


def _proof(identity: Identity) -> dict[str, object]:
    """Return the columns that prove whether an attempt is alive, as far as they are known."""
    proof = {
        "Pid": identity.pid,
        "PidStart": identity.pid_start,
        "BootId": identity.boot_id,
        "DbSession": identity.db_session,
        "Spawned": identity.spawned_at,
    }
    return {column: known for column, known in proof.items() if known is not None}


def record_spawned(connection: Connection, history_id: HistoryId, token: int, identity: Identity) -> None:
    """Record what proves whether the attempt is alive."""
    if proof := _proof(identity):
        _LIVE_ENTRY(connection, proof, history_id=history_id, token=token)


def free(connection: Connection, history_ids: Sequence[HistoryId]) -> Collection[int]:
    """Return the attempts whose rows no other transaction has locked; this one keeps them locked until its end."""
    return dialect_of(connection).lock_rows(connection, "BatchProcessHistory", history_ids)()


def take_over(connection: Connection, entry: HistoryEntry, claimed: BatchInstance, now: datetime) -> bool:
    """Let an attempt under way go on under another claim; false when it has ended meanwhile."""
    # ClaimedBy stays: it says who began it, and so where to look for its process.
    claim = {"ClaimToken": claimed.claim_token, "z_updated": now}
    return _LIVE_ENTRY(connection, claim, history_id=entry.history_id, token=entry.claim_token)


def note_late(connection: Connection, history_id: HistoryId, token: int, note: str, now: datetime) -> None:
    """Add to an attempt that was given up what became known of it later."""
    connection.execute(_NOTE_LATE, {"history_id": history_id, "token": token, "note": f"; {note}", "now": now})


def live_entries(connection: Connection) -> list[HistoryEntry]:
    """Return the attempts that have begun and not ended."""
    return [entry(row) for row in connection.execute(_LIVE_ENTRIES)]


def attempts_so_far(connection: Connection, instance_id: InstanceId) -> AttemptsSoFar:
    """Return the number of the last attempt at every step of an instance."""
    found = _ATTEMPTS(connection, instance_id=instance_id)
    return AttemptsSoFar(dict(found))


def attempts_of(connection: Connection, instance_ids: Sequence[InstanceId]) -> dict[InstanceId, AttemptsSoFar]:
    """Return `attempts_so_far` of several instances; one that was never tried is left out."""
    found: dict[InstanceId, dict[int, int]] = {}
    for instance_id, seq, last in connection.execute(_ATTEMPTS_OF, {"instance_ids": list(instance_ids)}):
        found.setdefault(instance_id, {})[seq] = last
    return {instance_id: AttemptsSoFar(attempts) for instance_id, attempts in found.items()}


def last_entry(connection: Connection, instance_id: InstanceId) -> HistoryEntry | None:
    """Return the newest attempt of an instance, if it can be read."""
    return next(iter(readable(LAST(connection, instance_id=instance_id, most=1), entry)), None)


def ask_last(connection: Connection, instance_ids: Iterable[InstanceId]) -> None:
    """Ask ahead for the newest attempt of each of some instances."""
    ask_ahead(connection, *((LAST, {"instance_id": each, "most": 1}) for each in instance_ids))


def last_that_ran(connection: Connection, instance_id: InstanceId) -> HistoryEntry | None:
    """Return the newest attempt of an instance, those passed over that provably never ran: they have changed nothing."""
    row = connection.execute(_LAST_THAT_RAN, {"instance_id": instance_id, "most": 1}).one_or_none()
    return None if row is None else entry(row)


def put_back_in_a_row(connection: Connection, instance_id: InstanceId, seq: int, attempt_no: int) -> int:
    """Return how many attempts at a step up to one have not run, that one included, since the last that may have."""
    asked = {"instance_id": instance_id, "seq": seq, "attempt_no": attempt_no}
    return attempt_no - (connection.execute(_RAN_BEFORE, asked).scalar() or 0)


def last_begun(connection: Connection, instance_id: InstanceId) -> datetime | None:
    """Return when the newest attempt of an instance began that did anything: a step that is skipped does not."""
    return connection.execute(_LAST_BEGUN, {"instance_id": instance_id}).scalar()


def load(connection: Connection, history_id: HistoryId) -> HistoryEntry | None:
    """Return one attempt."""
    row = connection.execute(_LOAD, {"history_id": history_id}).one_or_none()
    return None if row is None else entry(row)


def is_live(connection: Connection, history_id: HistoryId, token: int) -> bool:
    """Say whether an attempt is under way under a claim."""
    found = load(connection, history_id)
    return found is not None and found.status is HistoryStatus.RUNNING and found.claim_token == token


def of_instance(connection: Connection, instance_id: InstanceId) -> Attempts:
    """Return all attempts of an instance, oldest first, and those that cannot be read."""
    return sorted_out(connection, batch_process_history, OF(connection, instance_id=instance_id), entry)


def newest(
    connection: Connection,
    most: int,
    status: HistoryStatus | None = None,
    since: datetime | None = None,
    before: int | None = None,
) -> Attempts:
    """Return the newest attempts of all instances that ended so, that began since then, before one; newest first."""
    rows = connection.execute(_narrowed(_NEWEST, status, since, before), {"most": most})
    return sorted_out(connection, batch_process_history, rows, entry)


def of_batch(
    connection: Connection,
    batch_id: BatchId,
    most: int,
    status: HistoryStatus | None = None,
    since: datetime | None = None,
    before: int | None = None,
) -> Attempts:
    """Return the newest attempts of a batch that ended so, that began since then, before one; newest first."""
    query = _narrowed(_OF_BATCH, status, since, before)
    rows = connection.execute(query, {"batch_id": batch_id, "most": most})
    return sorted_out(connection, batch_process_history, rows, entry)


def _narrowed(
    query: Select[Any], status: HistoryStatus | None, since: datetime | None, before: int | None
) -> Select[Any]:
    query = query if status is None else query.where(_h.Status == status.value)
    query = query if since is None else query.where(_h.StartTime >= since)
    return query if before is None else query.where(_h.BatchProcessHistory_id < before)
