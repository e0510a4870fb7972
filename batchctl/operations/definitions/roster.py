"""The jobs that the code has, what stands in the tables of each, and where the two differ: the read model behind `job list`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Annotated

from batchctl.domain.definitions import reconciling
from batchctl.domain.definitions.declared import DeclaredJob, job_of
from batchctl.domain.definitions.reconciling import Did, JobRows, KeptRow, Reconciliation, RowChange
from batchctl.domain.errors import NotFound, PluginError
from batchctl.domain.records import Apart, Kept
from batchctl.domain.rows import BatchId, HistoryEntry, attempt_of
from batchctl.domain.scheduling.due import UnfitTiming, plan_of
from batchctl.domain.scheduling.schedules import Schedule, Timing
from batchctl.domain.status import HistoryStatus
from batchctl.domain.text import did_you_mean, typed, visible
from batchctl.operations.column_lists import Column, ColumnList, record
from batchctl.operations.definitions.reconciler import ACTOR, OVERWRITE, JobPlugins, Offer, offer_of, target_of
from batchctl.operations.scheduling import timetable
from batchctl.operations.scheduling.schedule_findings import ScheduleContext
from batchctl.ports import Clock, Transactions
from batchctl.store import Connection, history
from batchctl.store.definitions import job_rows
from batchctl.store.maintenance import audit_entries
from batchctl.store.scheduling import schedule_rows

_LIST = "batchctl job list"
WRITE = "batchctl job reconcile"
_NOT_MADE = "in the code, and not in the table yet"


class State(StrEnum):
    """How a job stands."""

    KEPT = "kept"
    """It has a batch of its own, which is kept as the code says."""
    NEW = "new"
    """It will have one when a controller starts."""
    STEPS_ONLY = "steps only"
    """It is called by steps of other batches, if by any: nothing of it says when."""
    REFUSED = "refused"
    BROKEN = "broken"
    """It cannot be loaded, or its module cannot."""
    LEFT = "left"
    """It is not in the code any more."""
    ELSEWHERE = "elsewhere"
    """What announced it is not here: perhaps on another node."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobSchedule:
    """A schedule of a job."""

    name: Annotated[str, "ScheduleName"]
    enabled: bool
    words: str
    """When it is due, as it stands in the table; for one that is not there yet, as the code says."""
    next_run: Annotated[datetime | None, "NextRunTime"] = None
    drift: str | None = None
    """What the next controller that starts will overwrite."""
    overwritten: str | None = None
    """What a person had written by hand and the code has overwritten, if that was the last change of its row."""
    has_left: Annotated[bool, "Left", Kept()] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class JobLine:
    """A job."""

    name: Annotated[str, "JobName"]
    state: State
    owner: str
    wording: Annotated[str | None, "Message"] = None
    """What is wrong with it, and what to do."""
    category: str | None = None
    description: str | None = None
    batch_id: BatchId | None = None
    entity: str | None = None
    enabled: bool | None = None
    schedules: tuple[JobSchedule, ...] = ()
    last: Apart[HistoryEntry | None] = None
    drift: tuple[str, ...] = ()
    """Where its batch differs from what the code says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Roster:
    """Reads the jobs, of the code and of the tables."""

    transactions: Transactions
    clock: Clock
    plugins: JobPlugins
    default_zone: str

    def lines(self) -> tuple[JobLine, ...]:
        """Return every job that is in the code or in the tables, by name."""
        offer = offer_of(self.plugins)
        with self.transactions.read() as connection:
            rows = job_rows.read(connection)
            code = offer.code(rows, self.plugins)
            decided = reconciling.reconcile(code, rows)
            reading = _Reading(
                connection=connection,
                offer=offer,
                rows=rows,
                owners=frozenset(code.owners),
                decided=decided,
                schedules={one.name: one for one in schedule_rows.everything(connection)[0]},
                context=timetable.schedule_context(connection, self.default_zone, self.clock.now()),
            )
            in_tables = {row.name for row in rows.batches if row.owner is not None}
            names = sorted({*offer.jobs, *offer.broken, *in_tables})
            return tuple(reading.line(name) for name in names)

    def history(
        self, name: str, *, outcome: HistoryStatus | None, since: datetime | None, most: int
    ) -> tuple[HistoryEntry, ...]:
        """Return the newest attempts of a job's batch."""
        with self.transactions.read() as connection:
            batch = batch_of(connection, self.plugins, name)
            return tuple(history.of_batch(connection, BatchId(batch.row_id), most, outcome, since)[0])


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reading:
    """What is known when the jobs are looked at."""

    connection: Connection
    offer: Offer
    rows: JobRows
    owners: frozenset[str]
    decided: Reconciliation
    schedules: Mapping[str, Schedule]
    context: ScheduleContext

    def line(self, name: str) -> JobLine:
        """Return a job."""
        job = self.offer.jobs.get(name)
        batch = next((row for row in self.rows.batches if row.name == name and row.owner is not None), None)
        state, said = self._state(name, batch)
        return JobLine(
            name=name,
            state=state,
            wording=said,
            owner=job.owner if job is not None else (batch.owner if batch is not None else None) or "",
            category=None if job is None else job.category,
            description=None if job is None else job.description,
            batch_id=None if batch is None else BatchId(batch.row_id),
            entity=self._entity(name, job, batch),
            enabled=None if batch is None else batch.enabled,
            schedules=self._schedules(name, job),
            last=None if batch is None else self._last(batch),
            drift=() if batch is None else self._drift(job, batch),
        )

    def _state(self, name: str, batch: KeptRow | None) -> tuple[State, str | None]:
        refused = [one.message for one in self.decided.all_refused if one.job == name]
        if name in self.offer.broken:
            return State.BROKEN, self.offer.broken[name]
        if name not in self.offer.jobs:
            if batch is not None and (batch.has_left or batch.owner in self.owners):
                return State.LEFT, None
            finding = None if batch is None else self.offer.failed_modules.get(batch.owner or "")
            if finding is not None:
                return State.BROKEN, f"{finding.message} Its rows stay as they are."
            return State.ELSEWHERE, self._elsewhere(batch)
        if name not in self.offer.with_batch:
            return State.STEPS_ONLY, None
        if refused:
            return State.REFUSED, " ".join(refused)
        return (State.NEW, f"{WRITE}, or start a controller") if batch is None else (State.KEPT, None)

    def _elsewhere(self, batch: KeptRow | None) -> str:
        owner = visible((batch.owner if batch is not None else None) or "")
        kind, _, package = owner.partition(" ")
        what = f"Package {package} is not installed here" if package else f"Module {kind} is not imported here"
        gone = f"if no node has it any more: {WRITE} --retire {typed(owner)}"
        return f"{what}, so nothing of it is changed; {gone}"

    def _entity(self, name: str, job: DeclaredJob | None, batch: KeptRow | None) -> str | None:
        if batch is not None:
            return str(batch.columns.get("Entity") or name)
        return job.entity or name if job is not None and name in self.offer.with_batch else None

    def _schedules(self, name: str, job: DeclaredJob | None) -> tuple[JobSchedule, ...]:
        rows = {row.name: row for row in self.rows.schedules if row.owner is not None and job_of(row.name) == name}
        found = [self._schedule(row) for row in rows.values()]
        for called, cadence in (job.schedule_names if job is not None else {}).items():
            if called not in rows:
                words = self._words(cadence.timing)
                found.append(JobSchedule(name=called, enabled=True, words=words, drift=_NOT_MADE))
        return tuple(sorted(found, key=lambda one: one.name))

    def _schedule(self, row: KeptRow) -> JobSchedule:
        known = self.schedules.get(row.name)
        acts = audit_entries.of_target(self.connection, target_of(reconciling.SCHEDULES, row.name))
        last = next((act for act in reversed(acts) if act.actor == ACTOR), None)
        overwrote = last is not None and last.action == OVERWRITE
        return JobSchedule(
            name=row.name,
            enabled=row.enabled,
            words="its row holds nonsense: batchctl check" if known is None else self._words(known.timing),
            next_run=None if known is None else self._next(known),
            drift=self._change_of(reconciling.SCHEDULES, row.row_id),
            overwritten=f"{last.at:%Y-%m-%d %H:%M} UTC: {last.reason}" if last is not None and overwrote else None,
            has_left=row.has_left,
        )

    def _change_of(self, table: str, row_id: int) -> str | None:
        """Say what will be overwritten."""
        for change in self.decided.changes:
            if (change.table, change.row_id) == (table, row_id):
                return _will_become(change)
        return None

    def _drift(self, job: DeclaredJob | None, batch: KeptRow) -> tuple[str, ...]:
        changes = [
            _will_become(one)
            for one in self.decided.changes
            if one.table != reconciling.SCHEDULES and one.name == batch.name
        ]
        return (*changes, *_retries(job, batch))

    def _last(self, batch: KeptRow) -> HistoryEntry | None:
        return next(iter(history.of_batch(self.connection, BatchId(batch.row_id), 1)[0]), None)

    def _words(self, timing: Timing) -> str:
        try:
            return plan_of(timing, self.context.zone, self.context.calendar_of(timing)).words
        except UnfitTiming as error:
            return str(error)

    def _next(self, schedule: Schedule) -> datetime | None:
        if not schedule.enabled or schedule.next_run_time is not None:
            return schedule.next_run_time
        following = timetable.next_of(self.connection, schedule, self.context)
        return None if following is None else following.at


def batch_of(connection: Connection, plugins: JobPlugins, name: str) -> KeptRow:
    """Return the batch of a job; raises when there is no such job, or no batch of it."""
    rows = job_rows.read(connection)
    batch = next((row for row in rows.batches if row.name == name and row.owner is not None), None)
    if batch is not None:
        return batch
    known = {*plugins.job_names, *(row.name for row in rows.batches if row.owner is not None)}
    if name not in known:
        raise NotFound(f"There is no job '{visible(name)}'.{visible(did_you_mean(name, known))}", next_step=_LIST)
    called = visible(name)
    by_hand = f"to call the function here and now: batchctl job call {typed(name)}"
    offer = offer_of(plugins)
    if name in offer.jobs and name not in offer.with_batch:
        message = f"Job '{called}' has no batch: it has no cadence, no @retry and no entity."
        raise NotFound(message, next_step=f"give it one of these, then: {WRITE}; {by_hand}")
    message = f"Job '{called}' has no batch yet: a controller that starts makes one for a cadence, @retry or an entity."
    raise NotFound(message, next_step=f"{WRITE}; {by_hand}")


def failure_of(plugins: JobPlugins, batch: KeptRow) -> str | None:
    """Say what keeps the job of a batch from being loaded here, if anything does."""
    if batch.name not in plugins.job_names:
        finding = plugins.failed_modules().get(batch.owner or "")
        if finding is not None:
            return finding.message
        return f"Job '{visible(batch.name)}' of '{visible(batch.owner or '')}' is not known here."
    try:
        plugins.job(batch.name)
    except PluginError as error:
        return error.message
    return None


@dataclass(frozen=True, slots=True)
class JobAttempt:
    """An attempt, and how many there are at most."""

    entry: HistoryEntry
    most: Annotated[int | None, "Attempts"]


def of_how_many(entries: Iterable[HistoryEntry]) -> Iterator[JobAttempt]:
    """Yield attempts, each with how many there are at most: by its own end, else by the attempt before it."""
    every = list(entries)
    known = {(one.instance_id, one.seq, one.attempt_no): one.attempts for one in every}
    for one in every:
        before = known.get((one.instance_id, one.seq, one.attempt_no - 1))
        yield JobAttempt(one, one.attempts or (before if before is not None and before >= one.attempt_no else None))


def _took(one: JobAttempt) -> timedelta | None:
    return None if one.entry.ended_at is None else one.entry.ended_at - one.entry.started_at


ATTEMPTS = ColumnList[JobAttempt](
    "Attempts",
    {**record(JobAttempt), "Duration": Column(_took, timedelta.total_seconds)},
    {
        "id#": "BatchControl_id",
        "attempt": lambda one: f"{attempt_of(one.entry.attempt_no, one.most)} {one.entry.cause}",
        "status": "Status",
        "started (UTC)": "StartTime",
        "ended (UTC)": "EndTime",
        "took#": "Duration",
        "worker": lambda one: one.entry.claimed_by or one.entry.host,
        "message": lambda one: one.entry.wording,
    },
)
JOBS = ColumnList[JobLine](
    "Jobs",
    record(
        JobLine,
        last={"LastRun": lambda one: one.last and ATTEMPTS.of(JobAttempt(one.last, one.last.attempts))},
    ),
)


def _will_become(change: RowChange) -> str:
    match change.did:
        case Did.RETIRED:
            return "not in the code any more: it will be disabled"
        case Did.REVIVED:
            return "in the code again: it will be enabled"
        case Did.ADDED:
            return f"step {change.after.get('ProcessControlSeq')} will be made"
        case Did.REWRITTEN:
            return f"differs from the code: {reconciling.wording(change.before, change.after)}"


def _retries(job: DeclaredJob | None, batch: KeptRow) -> tuple[str, ...]:
    """Say where the row has other retries than the code; those of the row count."""
    if job is None or job.retry is None:
        return ()
    count, seconds = batch.columns.get("RetryCount"), batch.columns.get("RetryWaitSecs")
    if (count, seconds) == (job.retry.retry_count, job.retry.interval_seconds):
        return ()
    waits = f"{seconds} s" if seconds is not None else f"{batch.columns.get('RetryWaitMins')} min"
    code = f"{job.retry.attempts} attempts every {job.retry.interval_seconds} s"
    attempts = "no" if count is None else str(int(count) + 1)
    return (f"the row has {attempts} attempts every {waits}, and they count; the code says {code}",)
