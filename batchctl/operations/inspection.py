"""One instance in full, the history, the batches: the read models behind `show`, `history` and `batches`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from batchctl import misread
from batchctl.domain.alerting.incidents import IncidentSign
from batchctl.domain.definitions import row_guard
from batchctl.domain.errors import NotFound
from batchctl.domain.intake.corrected_files import CorrectedFile
from batchctl.domain.maintenance.lengths import in_words
from batchctl.domain.operators import freezes
from batchctl.domain.operators.carried_specs import carried
from batchctl.domain.operators.confirmations import Confirmation
from batchctl.domain.operators.notes import Note
from batchctl.domain.rows import (
    AuditEntry,
    BatchDefinition,
    BatchId,
    BatchInstance,
    HistoryEntry,
    InstanceId,
    IntakeId,
    IntakeRow,
    Step,
)
from batchctl.domain.status import HistoryStatus, InstanceStatus
from batchctl.domain.text import did_you_mean, visible
from batchctl.domain.unreadable import UnreadableRow
from batchctl.operations import files_taken_again, remedies, shown_columns, unknown
from batchctl.operations.column_lists import Alarming, ColumnList, Columns, StatusWord, record
from batchctl.operations.intake import file_correction
from batchctl.operations.operators import noting
from batchctl.ports import Clock, Transactions
from batchctl.store import Connection, history, instances, reports, row_counts
from batchctl.store.alerting import evidence
from batchctl.store.definitions import definitions
from batchctl.store.history import Attempts
from batchctl.store.intake import file_watches, intake
from batchctl.store.maintenance import audit_entries
from batchctl.store.one_look import Ahead, ask_ahead, one_look
from batchctl.store.operators import confirmation_rows, note_rows
from batchctl.store.scheduling import calendars
from batchctl.store.unreadable_columns import for_any_client


@dataclass(frozen=True, slots=True)
class StepState:
    """A step of an instance's batch: done, next or to come, with its last attempt."""

    step: Step
    state: str
    last: HistoryEntry | None
    retries: str
    """How often it is tried again, and after how long."""
    rows: str | None
    """How many rows it should have, or what it has learned of that; None where it is not looked at."""

    @property
    def has_rules(self) -> bool:
        """Say whether it differs in this from what its batch says, or looks at its rows."""
        step = self.step
        own = step.retry_count, step.retry_wait, step.retry_backoff, step.retry_on, step.on_step_failure
        return self.rows is not None or any(one is not None for one in own)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownInstance:
    """Everything about one instance."""

    instance: BatchInstance
    batch: BatchDefinition | None
    unreadable: UnreadableRow | None = None
    """What of its batch cannot be read."""
    intake: IntakeRow | None
    steps: tuple[StepState, ...]
    history: tuple[HistoryEntry, ...]
    unreadable_attempts: tuple[UnreadableRow, ...] = ()
    audit: tuple[AuditEntry, ...]
    notes: tuple[Note, ...] = ()
    """Those about it, and about its batch."""
    questions: tuple[Confirmation, ...] = ()
    """What its steps have asked people, the newest first."""
    corrected: CorrectedFile | None = None
    """Its file, if that was corrected and it has not read it since."""

    @property
    def asks(self) -> Confirmation | None:
        """Return the question that it waits with."""
        is_waiting = self.instance.status is InstanceStatus.PAUSED
        return next((one for one in self.questions if one.answer is None), None) if is_waiting else None

    def columns(self) -> shown_columns.Columns:
        """Return it for programs."""
        return {
            **shown_columns.of(self.instance),
            "ProcessBatchName": None if self.batch is None else self.batch.name,
            "DefVersionNow": None if self.batch is None else self.batch.version,
            "FileProcess": None if self.intake is None else shown_columns.of(self.intake),
            "Steps": STEPS_OF.as_json(self.steps),
            "History": [shown_columns.of(entry) for entry in self.history],
            "Audit": [shown_columns.of(entry) for entry in self.audit],
            "Notes": noting.in_json(self.notes),
            "Confirmations": [shown_columns.of(one) for one in self.questions],
            "CorrectedFile": file_correction.shown(self.corrected),
        }


STEPS_OF = ColumnList[StepState](
    "Steps",
    {
        **record(Step, lambda one: one.step),
        "State": lambda one: one.state,
        "LastAttempt": lambda one: one.last,
        "Retries": lambda one: one.retries,
        "Rows": lambda one: one.rows,
    },
)
"""Of an instance."""
STEPS = ColumnList[Step]("Steps", record(Step))
"""Of a batch."""


def _end(entry: HistoryEntry) -> object:
    """Show when an attempt ended; the day only if it is another one."""
    ended = entry.ended_at
    if ended is None or ended.date() != entry.started_at.date():
        return ended
    return f"{ended:%H:%M:%S}"


def carrier(entry: HistoryEntry) -> str | None:
    """Say what carried an attempt out: an agent, a database session, a process."""
    found, agent = list[str](), carried(entry.command_spec)
    if agent is not None:
        found.append(f"agent {visible(agent.agent)}")
    if entry.db_session is not None:
        found.append(f"session {entry.db_session.partition('@')[0]}")
    elif entry.pid is not None:
        found.append(f"pid {entry.pid}")
    return ", ".join(found) or None


ATTEMPTS = ColumnList[HistoryEntry](
    "Newest attempts",
    record(HistoryEntry),
    {
        "id#": "BatchControl_id",
        "step": lambda entry: f"{entry.seq} {entry.step_name}",
        "attempt": lambda entry: f"{entry.attempt} {entry.cause}",
        "status": "Status",
        "started (UTC)": "StartTime",
        "ended": _end,
        "took#": lambda entry: None if entry.ended_at is None else entry.ended_at - entry.started_at,
        "worker": lambda entry: entry.claimed_by or entry.host,
        "by": carrier,
        "message": lambda entry: entry.wording,
    },
)


@dataclass(frozen=True, slots=True)
class BatchCounts:
    """A batch with how many instances it has in each status."""

    batch: BatchDefinition
    instances: Mapping[InstanceStatus, int]
    misread: tuple[IncidentSign, ...] = ()
    """Incidents about what in its rows cannot be meant so."""
    notes: tuple[Note, ...] = ()


_RETRY_WAIT: Columns[BatchCounts] = {
    "RetryWaitMins": lambda one: one.batch.retry_wait // timedelta(minutes=1),
    "RetryWaitSecs": lambda one: one.batch.retry_wait.total_seconds(),
}


def batches_at(now: datetime) -> ColumnList[BatchCounts]:
    """Return the column list of batches at a time."""

    def is_frozen(one: BatchCounts) -> bool:
        return freezes.holding(one.batch, now) is not None

    def state(one: BatchCounts) -> tuple[object, ...]:
        frozen = StatusWord(", frozen" if is_frozen(one) else "")
        missing = Alarming(", not installed" if one.batch.missing_plugins else "")
        return StatusWord("enabled" if one.batch.enabled else "disabled"), frozen, missing

    return ColumnList(
        "Batches",
        {
            **record(BatchDefinition, lambda one: one.batch, retry_wait=_RETRY_WAIT),
            "Steps": lambda one: one.batch.steps,
            "NotInstalled": lambda one: one.batch.missing_plugins,
            "Misread": lambda one: [{"Message": each.message, "Next": each.next_step} for each in one.misread],
            "Frozen": is_frozen,
            "Notes": lambda one: noting.in_json(one.notes),
            "Instances": lambda one: {status.value: count for status, count in one.instances.items()},
        },
        {
            "Seq#": "Seq",
            "batch": "ProcessBatchName",
            "state": state,
            "entity": "Entity",
            "steps": lambda one: ", ".join(f"{step.seq} {step.name}" for step in one.batch.steps) or None,
            "retries": lambda one: f"{one.batch.retry_count} x {in_words(one.batch.retry_wait)}",
            "OnFailure": "OnFailure",
            "instances": lambda one: ", ".join(f"{count} {status}" for status, count in one.instances.items()) or None,
        },
        lambda row: {"ProcessBatch_id": row.batch_id},
    )


@dataclass(frozen=True, slots=True)
class RejectedRow:
    """Why a row stands rejected, and what to do so that it is taken in."""

    message: str
    clear: str


def show(transactions: Transactions, instance_id: InstanceId) -> ShownInstance:
    """Return everything about an instance."""
    with one_look(), transactions.read() as connection:
        ask_ahead(connection, *_ahead(instance_id))
        instance = instances.load(connection, instance_id)
        if instance is None:
            raise unknown.instance(connection, instance_id)
        of_intake = {"intake_id": instance.intake_id}
        ask_ahead(connection, (intake.LOAD, of_intake), (file_watches.TAKEN_AS, {**of_intake, "most": 1}))
        defined = definitions.read(connection)
        attempts, strange = history.of_instance(connection, instance_id)
        batch = next((batch for batch in defined.batches if batch.batch_id == instance.batch_id), None)
        return ShownInstance(
            instance=instance,
            batch=batch,
            unreadable=next((row for row in defined.unreadable if row.batch_id == instance.batch_id), None),
            intake=intake.load(connection, instance.intake_id),
            steps=() if batch is None else _steps(connection, instance, batch, attempts),
            history=tuple(attempts),
            unreadable_attempts=tuple(strange),
            audit=tuple(audit_entries.of_target(connection, audit_entries.instance_target(instance_id))),
            notes=tuple(note_rows.of(connection, instances=[instance_id], batches=[instance.batch_id])),
            questions=tuple(confirmation_rows.newest_of(connection, instance_id, MOST_QUESTIONS)),
            corrected=file_correction.of_instance(connection, instance),
        )


def _ahead(instance_id: InstanceId) -> Iterator[Ahead]:
    """Yield what is asked of any instance, so that it goes to the database at once."""
    yield from (
        (each, {"instance_id": instance_id}) for each in (instances.LOAD, history.OF, confirmation_rows.OPEN_OF)
    )
    yield confirmation_rows.NEWEST_OF, {"instance_id": instance_id, "most": MOST_QUESTIONS}
    yield audit_entries.OF, {"target": audit_entries.instance_target(instance_id)}
    yield from ((each, {}) for each in definitions.AHEAD)


def rejected_row(transactions: Transactions, intake_id: IntakeId) -> RejectedRow:
    """Return why an intake row stands rejected."""
    with transactions.read() as connection:
        row = intake.load(connection, intake_id)
        defined = definitions.read(connection)
        if row is None:
            raise unknown.intake_row(connection, intake_id)
        again = files_taken_again.find(connection, [row]).get(intake_id)
        (row,) = intake.with_corrections(connection, [row])
        to_take_in = for_any_client(connection, remedies.to_take_in(row, defined.batches, again))
    return RejectedRow(remedies.because(row, defined), to_take_in)


def attempts_of(transactions: Transactions, instance_id: InstanceId) -> Attempts:
    """Return all attempts of an instance, oldest first, and those that cannot be read."""
    with transactions.read() as connection:
        found = history.of_instance(connection, instance_id)
        if not any(found) and instances.load(connection, instance_id) is None:
            raise unknown.instance(connection, instance_id)
        return found


def batch_names(transactions: Transactions) -> list[str]:
    """Return the names of all batches."""
    with transactions.read() as connection:
        return [batch.name for batch in definitions.all_batches(connection)]


def with_notes(transactions: Transactions, name: str) -> tuple[list[BatchDefinition], list[Note]]:
    """Return all batches, among them the one with a name, and the notes about that."""
    with transactions.read() as connection:
        every = definitions.all_batches(connection)
        batch = unknown.named(connection, every, name)
        return [*every], list(note_rows.of(connection, batches=[batch.batch_id]))


def check_named(transactions: Transactions, named: Iterable[tuple[str, int]]) -> None:
    """Refuse an instance that was named with the name of a batch that is not its own."""
    with transactions.read() as connection:
        for name, number in named:
            instance = instances.load(connection, InstanceId(number))
            if instance is None:
                raise unknown.instance(connection, number)
            batch = next(
                (one.name for one in definitions.all_batches(connection) if one.batch_id == instance.batch_id), None
            )
            if batch != name:
                said = "one that does not exist" if batch is None else f"'{visible(batch)}'"
                message = f"BatchControl {number} is no instance of batch '{visible(name)}', but of {said}."
                raise NotFound(message, next_step=f"batchctl show {number}")


def last_command(
    transactions: Transactions, instance_id: InstanceId, seq: int | None, attempt: int | None = None
) -> str:
    """Return the command of an instance's last attempt, or of its last at one step, or of one by its AttemptNo."""
    return attempt_of(transactions, instance_id, seq, attempt).command_text


def attempt_of(
    transactions: Transactions, instance_id: InstanceId, seq: int | None, attempt: int | None
) -> HistoryEntry:
    """Return an instance's last attempt, or its last at one step, or one by its AttemptNo."""
    every = [one for one in attempts_of(transactions, instance_id)[0] if seq is None or one.seq == seq]
    tried = [one for one in every if attempt is None or one.attempt_no == attempt]
    if not tried:
        which, where = "" if attempt is None else f" {attempt}", "" if seq is None else f" at step {seq}"
        message = f"BatchControl {instance_id} has no attempt{which}{where}{'' if every else ' yet'}."
        raise NotFound(message, next_step=f"batchctl history {instance_id}")
    return tried[-1]


def newest_attempts(
    transactions: Transactions,
    most: int,
    batch: str | None = None,
    status: HistoryStatus | None = None,
    since: datetime | None = None,
    before: int | None = None,
) -> Attempts:
    """Return the newest attempts, of all batches or of one, before one, newest first, and those that cannot be read."""
    narrower = status, since, before
    with transactions.read() as connection:
        if batch is None:
            return history.newest(connection, most, *narrower)
        return history.of_batch(connection, batch_id_of(connection, batch), most, *narrower)


def entity_of(transactions: Transactions, name: str) -> str:
    """Return which entity a batch takes."""
    with transactions.read() as connection:
        wanted = batch_id_of(connection, name)
        return next(batch.entity for batch in definitions.all_batches(connection) if batch.batch_id == wanted)


def batch_id_of(connection: Connection, name: str) -> BatchId:
    """Return which batch has a name."""
    known = {batch.name: batch.batch_id for batch in definitions.all_batches(connection)}
    if name not in known:
        meant = visible(did_you_mean(name, known))
        raise NotFound(f"There is no batch '{visible(name)}'.{meant}", next_step="batchctl batches")
    return known[name]


def batches(
    transactions: Transactions, clock: Clock, *, with_over: bool = True
) -> tuple[tuple[BatchCounts, ...], tuple[UnreadableRow, ...], tuple[UnreadableRow, ...]]:
    """Return every batch, by Seq, with its counts; what cannot be read of others; and instances that cannot be read.

    What is over is counted only if wanted.
    """
    with transactions.read() as connection:
        (counts, strange), defined = (
            reports.count_instances(connection, with_over=with_over),
            definitions.read(connection),
        )
        expected, calendar_names = evidence.expected(connection), calendars.names(connection)
        said = list(misread.of_batches(defined.batches, expected, calendar_names, clock.now()))
        notes = note_rows.of(connection, batches=[batch.batch_id for batch in defined.batches])
    found = tuple(
        BatchCounts(
            batch,
            counts.get(batch.batch_id, {}),
            tuple(finding for finding in said if finding.batch_id == batch.batch_id),
            tuple(note for note in notes if note.batch_id == batch.batch_id),
        )
        for batch in defined.batches
    )
    return found, defined.unreadable, tuple(strange)


def _steps(
    connection: Connection, instance: BatchInstance, batch: BatchDefinition, attempts: list[HistoryEntry]
) -> tuple[StepState, ...]:
    last = {entry.seq: entry for entry in attempts}
    following = batch.step_after(instance.last_seq)
    return tuple(
        StepState(
            step,
            _state(instance, step, following, last.get(step.seq)),
            last.get(step.seq),
            _retries(batch, step),
            _rows(connection, instance, step),
        )
        for step in batch.steps
    )


def _retries(batch: BatchDefinition, step: Step) -> str:
    count = batch.retry_count if step.retry_count is None else step.retry_count
    if count == 0:
        return "none"
    wait = in_words(batch.retry_wait if step.retry_wait is None else step.retry_wait)
    grows = f", each wait {step.retry_backoff} times the one before" if (step.retry_backoff or 1) > 1 else ""
    return f"{count} x {wait}{grows}"


def _rows(connection: Connection, instance: BatchInstance, step: Step) -> str | None:
    if not step.counts_rows:
        return None
    days = row_guard.days_like(instance.cycle_key, instance.updated_at)
    return row_guard.expected(step, row_counts.of_step(connection, step, days))


_PASSED = {
    HistoryStatus.SKIPPED: "skipped",
    HistoryStatus.FAILED: "failed",
    HistoryStatus.TIMEOUT: "failed",
}
"""How a step stands that is behind its instance, by its last attempt."""


_UNDER_WAY = {HistoryStatus.RUNNING: "running", HistoryStatus.ASKED: "asks"}
"""How the next step stands, by its last attempt, where that has not ended."""
MOST_QUESTIONS = 20
"""How many of an instance's questions are shown, the newest first."""


def _state(instance: BatchInstance, step: Step, following: Step | None, last: HistoryEntry | None) -> str:
    if step.seq <= instance.last_seq:
        return _PASSED.get(last.status, "done") if last is not None else "done"
    if step is not following:
        return "to come"
    return "next" if last is None else _UNDER_WAY.get(last.status, "next")
