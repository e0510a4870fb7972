"""Frozen values, one per table: what the store returns and everything else reasons about.

Attribute names are the column names in Python spelling, or name their column (`domain/records`); the class names its table.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from hashlib import sha256
from typing import Annotated, NewType

from batchctl.domain.arrivals import FoundFile
from batchctl.domain.errors import next_step_in, without_next_step
from batchctl.domain.records import Apart, Hidden, Kept
from batchctl.domain.rule_texts import (
    LEARNED,
    NO_RETRY,
    HostNeeds,
    RetryOn,
    check_order,
    host_needs,
    retry_on,
    row_bound,
)
from batchctl.domain.status import (
    Cause,
    ControllerStatus,
    DependencyMode,
    DuplicateKey,
    HistoryStatus,
    InstanceStatus,
    IntakeStatus,
    OnFailure,
    OnLost,
    OnRows,
    OnStepFailure,
    PopulatorOn,
    ProcessingMode,
    SchedulerEvent,
)
from batchctl.domain.values import value

IntakeId = NewType("IntakeId", int)
BatchId = NewType("BatchId", int)
InstanceId = NewType("InstanceId", int)
HistoryId = NewType("HistoryId", int)
ResourceId = NewType("ResourceId", int)
CompletionId = NewType("CompletionId", int)
WatchId = NewType("WatchId", int)
FreezeId = NewType("FreezeId", int)
IncidentId = NewType("IncidentId", int)

LARGEST_ID = 2**63 - 1
"""No row has a greater number."""
MARK_DIGITS = 16
LONG_AGO = datetime(1900, 1, 1, tzinfo=UTC)
"""`NextRunTime` of an instance that waits for nothing."""
NEVER = datetime(9999, 12, 31, microsecond=1, tzinfo=UTC)
"""Stands for a time that cannot be read; it cannot be in a row, as no column holds microseconds."""

HIGHEST_SEQ = 2_000_000_000
"""The highest `ProcessControlSeq` that a step may have."""

NOTHING_RENDERED = "{}"
"""The specification of an attempt that was refused before there was a command."""
NOT_RUN = "-- not run: "
"""What its command text begins with; the reason follows."""
RETRIES_SKIPPED = "the retries were skipped: trying again cannot help"

CONFIRM = "confirm"
"""The process type of a step that asks people."""

DEFAULT_POOL = "default"
"""The pool of steps that name none, and of controllers that were given none."""

DataValues = tuple[str | None, str | None, str | None, str | None, str | None, str | None]
"""`Data1` to `Data6`."""

NO_DATA: DataValues = (None, None, None, None, None, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class ControllerRow:
    """A `Controller` row: one start of a controller."""

    row_id: Annotated[int, "Controller_id"]
    name: Annotated[str, "ControllerName"]
    status: ControllerStatus
    host: str
    pid: int | None
    pid_start: str | None
    boot_id: str | None
    slots: int
    heartbeat_seq: int
    heartbeat: datetime
    version: Annotated[str | None, "AppVersion"]
    started_at: Annotated[datetime, "z_inserted"]
    orphan_timeout: Annotated[timedelta | None, "OrphanTimeoutSecs"] = None
    """How long others have to wait for a sign of life; None where an older version has entered it."""
    scheduler_zone: str | None = None
    """By which time zone it fires schedules that name none of their own; None when it fires none."""
    left_out: Hidden[str | None] = None
    """The message about the plugin modules that it works without; None when it has them all."""
    failure: Annotated[str | None, "Trouble"] = None
    """What keeps it from its work, and has for two signs of life at least."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """A `BatchResource` row with its resource: what an instance of a batch holds while it is claimed."""

    resource_id: Annotated[ResourceId, "Resource_id"]
    name: Annotated[str, "ResourceName"]
    capacity: int
    """The units there are."""
    units: int
    exclusive: bool
    """True when no other instance may hold any unit meanwhile."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dependency:
    """A `BatchDependency` row: the batch that has it waits for another batch to complete for the same CycleKey."""

    row_id: Annotated[int, "BatchDependency_id"]
    depends_on: Annotated[BatchId, "DependsOnBatch_id"]
    deadline: Annotated[timedelta, "DeadlineMins"]
    """How long it may wait for that one, counted from the first completion that waits, before a person should look."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Freeze:
    """A `BatchFreeze` row: nothing new starts in a batch, in those with a tag, or, without either, in any."""

    freeze_id: Annotated[FreezeId, "BatchFreeze_id"]
    batch: Annotated[str | None, "ProcessBatchName"] = None
    tag: str | None = None
    reason: str
    actor: str
    until: Annotated[datetime | None, "UntilTime"] = None
    """When it ends by itself; None when somebody has to thaw it."""
    thawed_at: Annotated[datetime | None, "ThawedTime"] = None
    thawed_by: str | None = None
    since: Annotated[datetime, "z_inserted"]

    def holds(self, now: datetime) -> bool:
        """Say whether it keeps anything from starting at this moment."""
        return self.thawed_at is None and (self.until is None or self.until > now)


@dataclass(frozen=True, slots=True, kw_only=True)
class DataTrigger:
    """A `DataTrigger` row: when the rows that wait in a staging table start work for an entity."""

    row_id: Annotated[int, "DataTrigger_id"]
    name: Annotated[str, "TriggerName"]
    entity: str
    connection: Annotated[str, "ConnectionName"]
    table: Annotated[str, "TableName"]
    """Perhaps with its schema before a dot."""
    status_column: str
    pending_value: str
    created_column: str | None = None
    row_threshold: int | None = None
    idle: Annotated[timedelta | None, "IdleMinutes"] = None
    on_new_rows: bool = False
    debounce: Annotated[timedelta, "DebounceSeconds"] = timedelta(seconds=60)
    enabled: bool = True
    last_fired: datetime | None = None

    @property
    def source(self) -> str:
        """Return the `FileProcess.Source` of what it starts, as far as there is room for it."""
        return f"trigger {self.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class LogEntry:
    """A `SchedulerLog` row: what became of a reason to start work."""

    log_id: Annotated[int, "SchedulerLog_id"]
    at: Annotated[datetime, "EventTime"]
    event: Annotated[SchedulerEvent, "EventType"]
    source: str
    entity: str | None
    batch_id: BatchId | None
    intake_id: IntakeId | None
    instance_id: InstanceId | None
    message: str | None
    rows_queued: int | None
    duration_ms: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class EventFilter:
    """Which of these events are wanted; None where any will do."""

    source: str | None = None
    """As it stands there, or its first word: `trigger` for those of all triggers."""
    entity: str | None = None
    event: SchedulerEvent | None = None
    batch: str | None = None
    since: datetime | None = None
    before: int | None = None
    """The number of the row that the next page ends before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileWatchRow:
    """A `FileWatch` row: a folder whose files become `FileProcess` rows."""

    watch_id: Annotated[WatchId, "FileWatch_id"]
    name: Annotated[str, "WatchName"]
    entity: str
    folder: str
    pattern: str = "*"
    is_recursive: Annotated[bool, "Recursive"] = False
    settle_seconds: int = 10
    marker_suffix: str | None = None
    duplicate_key: DuplicateKey = DuplicateKey.NAME_SIZE_TIME
    enabled: bool = True
    unreachable_since: datetime | None = None

    @property
    def source(self) -> str:
        """Return its `FileProcess.Source` and `SchedulerLog.Source`."""
        return f"watch {self.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenFile:
    """A `FileWatchSeen` row: a file that was taken, as it was then."""

    row_id: Annotated[int, "FileWatchSeen_id"]
    path_key: Annotated[bytes, Kept(bytes.fromhex, bytes.hex)]
    file: FoundFile
    intake_id: IntakeId | None
    missing_since: datetime | None = None


MOST_TRIES = 3
"""How often a populator may take too long over one row; then the row waits for a person."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IntakeRow:
    """A `FileProcess` row: something asks for work."""

    intake_id: IntakeId
    entity: str
    file_name: str | None
    status: IntakeStatus
    data: str | None
    cycle_key: str | None
    source: str | None
    message: str | None
    inserted_at: Annotated[datetime, "z_inserted"]
    tries: Hidden[Annotated[int, "PopulatorTries", Kept(lambda tries: tries or 0)]] = 0
    """How often a populator was asked about it in vain; 0 for a row of which no answer is awaited."""


def pool_named(text: str | None) -> str | None:
    """Return the name of a pool as it is compared: a step may name it in any letter case."""
    return None if text is None else text.strip().lower() or None


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A `ProcessControl` row: one step of a batch."""

    batch_id: BatchId
    seq: int
    name: Annotated[str, "ProcessName"]
    process_type: Annotated[str, Kept(lambda wording: wording.strip().lower())]
    pool: Annotated[str | None, Kept(pool_named)] = None
    """Where it may run; None where its batch says that."""
    host_needs: Annotated[HostNeeds | None, "Needs", Kept(host_needs, show=lambda needs: needs and needs.text)] = None
    """What it needs of the agent that carries it; nothing looks at it in a pool of controllers."""
    expected_duration: timedelta | None = None
    alarm_duration: timedelta | None = None
    max_duration: timedelta | None = None
    on_lost: OnLost = OnLost.HOLD
    max_lost: int = 3
    """How often in a row it may be lost and still be run, or verified, again without a person."""
    retry_count: int | None = None
    """How often it is tried again after a failure; None: as often as its batch says."""
    retry_wait: Annotated[timedelta | None, "RetryWaitSecs"] = None
    """How long it waits before that; None: as long as its batch says."""
    retry_backoff: int | None = None
    """By how much that wait grows with each failure; None: not at all."""
    retry_on: Annotated[RetryOn | None, Kept(retry_on, show=lambda codes: codes and codes.text)] = None
    """After which failures; None: after all that are not fatal."""
    on_step_failure: OnStepFailure | None = None
    """What follows when it has failed for good; None: the instance stops there."""
    rows_min: Annotated[
        int | str | None, Kept(partial(row_bound, "RowsMin"), show=str, parse=partial(row_bound, "RowsMin"))
    ] = None
    rows_max: Annotated[
        int | str | None, Kept(partial(row_bound, "RowsMax"), show=str, parse=partial(row_bound, "RowsMax"))
    ] = None
    """How many rows it has to load at least, and at most: a number, or `learned`."""
    on_rows: OnRows | None = None
    """What another number means; None: the step fails."""
    data: DataValues = NO_DATA

    def __post_init__(self) -> None:
        """Refuse bounds that nothing fits."""
        if self.rows_max is not None:
            check_order(self.rows_min, self.rows_max)

    @property
    def counts_rows(self) -> bool:
        """Say whether it is looked at how many rows it has loaded."""
        return self.rows_min is not None or self.rows_max is not None

    @property
    def learns_rows(self) -> bool:
        """Say whether its own past says how many that should be."""
        return LEARNED in (self.rows_min, self.rows_max)

    @property
    def asks_people(self) -> bool:
        """Say whether it asks people, and changes nothing."""
        return self.process_type == CONFIRM

    @property
    def may_be_passed(self) -> bool:
        """Say whether the instance goes on when the step has failed for good."""
        return self.on_step_failure is OnStepFailure.CONTINUE


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingPlugin:
    """A name in a definition row that no plugin has."""

    seq: int | None = None
    """The step; None for the batch itself."""
    column: Annotated[str, "ColumnName"]
    message: str
    """The message: which row names what, and that it is not installed."""
    mend: Annotated[str, "Next"]
    row: Hidden[str]
    """The row as gates name rows."""


def tags_of(text: str | None) -> tuple[str, ...]:
    """Return the names that stand in `ProcessBatch.Tags`, between commas."""
    return () if text is None else tuple(name for part in text.split(",") if (name := part.strip()))


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchDefinition:
    """A `ProcessBatch` row with its steps in order of ProcessControlSeq."""

    batch_id: BatchId
    name: Annotated[str, "ProcessBatchName"]
    entity: str
    enabled: bool = True
    seq: Annotated[int, "Seq"] = 100
    priority: int | None = None
    """Of the batches with the same Seq those with the highest are claimed first; None is 0."""
    retry_count: int = 0
    retry_wait: Apart[timedelta] = timedelta(minutes=5)
    populator: str = "pattern"
    populator_args: str | None = None
    populator_on: str | None = None
    """What `pattern` searches, one of `PopulatorOn`; None is the name of the file without its directory."""
    on_failure: OnFailure = OnFailure.HOLD_BATCH
    dependency_mode: DependencyMode = DependencyMode.ALL
    max_concurrent: int = 1
    pool: Annotated[str | None, Kept(pool_named)] = None
    """Where its steps may run that do not say so themselves; None is `DEFAULT_POOL`."""
    max_per_minute: int | None = None
    """How many of its instances are begun within any 60 seconds at most; None where that is not limited."""
    duplicate_check: bool = True
    mode: Annotated[ProcessingMode | None, "ProcessingMode"] = None
    """What may start it besides people, files and what it depends on; None where all that is written may."""
    tags: Annotated[tuple[str, ...], Kept(tags_of, show=lambda tags: ",".join(tags) or None)] = ()
    description: str | None = None
    origin: Hidden[str | None] = None
    """What wrote the row and keeps it up to date; None where people did."""
    freezes: Apart[tuple[Freeze, ...]] = ()
    """Its freezes that were not thawed; some may have ended by themselves."""
    steps: Apart[tuple[Step, ...]] = ()
    needs: Apart[tuple[Need, ...]] = ()
    dependencies: Apart[tuple[Dependency, ...]] = ()
    dependents: Apart[tuple[BatchId, ...]] = ()
    """The batches that depend on this one."""
    missing_plugins: Apart[tuple[MissingPlugin, ...]] = ()
    """What the batch and its steps name, and no controller has."""
    is_in_cycle: Apart[bool] = False
    """True when it would have to complete before itself: then no completion of others starts it."""
    variables: Apart[Mapping[str, str]] = field(default_factory=dict, hash=False)
    """The variables of the control database, which its columns may name."""
    version: Apart[int | None] = field(default=None, compare=False)
    """Which version of the batch and its steps this is; None as long as no controller has written it down."""

    @property
    def searches_file_name(self) -> bool:
        """Say whether a row without a file name is refused: a regular expression of `pattern` looks for one."""
        on_file = (self.populator_on or PopulatorOn.FILENAME).lower() == PopulatorOn.FILENAME
        return self.populator == "pattern" and bool(self.populator_args) and on_file

    @property
    def populating_procedure(self) -> str | None:
        """Return the procedure that fills its instances, if one does."""
        return f"s_PopulateBatchControl_{self.name}" if self.populator == "procedure" else None

    def pool_of(self, step: Step) -> str:
        """Return the pool of one of its steps."""
        return step.pool or self.pool or DEFAULT_POOL

    @property
    def names_places(self) -> bool:
        """Say whether any of its steps runs elsewhere than in the default pool, or needs something of its host."""
        return any(self.pool_of(step) != DEFAULT_POOL or step.host_needs is not None for step in self.steps)

    def next_pool(self, seq: int) -> str | None:
        """Return what NextPool holds for an instance whose last completed step is `seq`; None for the default pool."""
        step = self.step_after(seq)
        pool = DEFAULT_POOL if step is None else self.pool_of(step)
        return None if pool == DEFAULT_POOL else pool

    def missing_after(self, seq: int) -> tuple[MissingPlugin, ...]:
        """Return the plugins that steps behind `seq` name, and no controller has."""
        return tuple(one for one in self.missing_plugins if one.seq is not None and one.seq > seq)

    def step_after(self, seq: int) -> Step | None:
        """Return the first step behind `seq`; gaps in the numbering mean nothing."""
        for step in self.steps:
            if step.seq > seq:
                return step
        return None

    def retries_after(self, seq: int) -> int:
        """Return how often the first step behind `seq` may be tried again: what RetryCount of an instance is set to."""
        step = self.step_after(seq)
        return self.retry_count if step is None or step.retry_count is None else step.retry_count

    def step_at(self, seq: int) -> Step | None:
        """Return the step numbered `seq`."""
        for step in self.steps:
            if step.seq == seq:
                return step
        return None


@value
class BatchInstance:
    """A `BatchControl` row with what its placeholders need of its `FileProcess` row."""

    instance_id: InstanceId
    batch_id: BatchId
    intake_id: IntakeId
    last_seq: int
    status: InstanceStatus
    retry_count: int
    next_run_time: datetime
    cycle_key: str | None
    data: DataValues
    claim_token: int
    claimed_by: str | None
    lost_count: int
    entity: Hidden[str]
    file_name: Hidden[str | None]
    source: Hidden[str | None] = None
    """What its `FileProcess` row came from."""
    updated_at: Hidden[Annotated[datetime, "z_updated"]] = field(default=LONG_AGO, compare=False)
    """When it was last written, as it was read: no later moment counts as earlier, however far a clock lags."""
    version: Annotated[int | None, "DefVersion"] = None
    """Which version of the batch it was created for; None where that was before versions were counted."""
    next_pool: str | None = None
    """The pool of the step that is under way or comes next, as it was when the row was moved last; None is the default."""
    steps_failed: int | None = None
    """How many steps it has gone past that had failed for good; None as long as there never was one."""

    @property
    def failures_behind(self) -> str | None:
        """Say how many steps it has gone past that had failed for good, if any."""
        if not self.steps_failed:
            return None
        return "1 step failed" if self.steps_failed == 1 else f"{self.steps_failed} steps failed"

    begun_at: Hidden[Annotated[datetime | None, "BegunTime"]] = field(default=None, compare=False)
    """When it was claimed for the first step of its batch; written of batches with MaxPerMinute only."""

    @property
    def mark(self) -> str:
        """Return a short text that is another one as soon as the instance has gone on or was changed."""
        stands = self.status.value, self.last_seq, self.retry_count, self.claim_token, self.lost_count, self.data
        return sha256(repr(stands).encode()).hexdigest()[:MARK_DIGITS]

    @property
    def retries_skipped(self) -> bool:
        """Say whether a fatal failure left retries that were never made."""
        return self.status is InstanceStatus.FAILED and self.retry_count > 0


def imagined(batch: BatchDefinition) -> BatchInstance:
    """Return an instance that a batch might get, for checks before it has any."""
    return BatchInstance(
        instance_id=InstanceId(0),
        batch_id=batch.batch_id,
        intake_id=IntakeId(0),
        last_seq=0,
        status=InstanceStatus.READY,
        retry_count=batch.retries_after(0),
        next_run_time=LONG_AGO,
        cycle_key=None,
        data=NO_DATA,
        claim_token=0,
        claimed_by=None,
        lost_count=0,
        entity=batch.entity,
        file_name=None,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryEntry:
    """A `BatchProcessHistory` row: one attempt at a step."""

    history_id: Annotated[HistoryId, "BatchProcessHistory_id"]
    instance_id: InstanceId
    batch_id: BatchId
    seq: int
    step_name: Annotated[str, "ProcessName"]
    process_type: str
    attempt_no: int
    claim_token: int
    cause: Cause
    status: HistoryStatus
    command_text: str
    command_spec: str
    started_at: Annotated[datetime, "StartTime"]
    ended_at: Annotated[datetime | None, "EndTime"] = None
    return_code: int | None = None
    error_code: str | None = None
    error_line: int | None = None
    message: str | None = None
    output: str | None = None
    rows_affected: int | None = None
    host: str | None = None
    pid: int | None = None
    pid_start: str | None = None
    boot_id: str | None = None
    db_session: str | None = None
    spawned_at: Annotated[datetime | None, "Spawned"] = None
    retry_count_after: int | None = None
    next_run_time_after: datetime | None = None
    claimed_by: str | None = None
    version: Annotated[int | None, "DefVersion"] = None
    """Which version of the batch its command was of."""

    @property
    def retries_skipped(self) -> bool:
        """Say whether the attempt failed so that trying again could not help."""
        has_failed = self.status in {HistoryStatus.FAILED, HistoryStatus.TIMEOUT}
        no_retry = has_failed and self.next_run_time_after is None
        return no_retry and (self.retry_count_after or 0) > 0

    @property
    def may_have_run(self) -> bool:
        """Say whether the attempt was lost in a way that leaves open whether its work was done."""
        return self.status is HistoryStatus.LOST and self.spawned_at is not None

    @property
    def was_put_back(self) -> bool:
        """Say whether the attempt could not be begun because its host lacked something."""
        return self.status is HistoryStatus.LOST and self.spawned_at is None

    @property
    def mend(self) -> str | None:
        """Return what to do about an attempt that was refused before it began; None if its message does not tell."""
        was_refused = self.command_spec == NOTHING_RENDERED and self.command_text.startswith(NOT_RUN)
        return next_step_in(self.message or "") if was_refused and self.status is HistoryStatus.FAILED else None

    @property
    def attempts(self) -> int | None:
        """Return the greatest number of attempts, this one and all before included; None if its end does not tell."""
        if self.status not in {HistoryStatus.FAILED, HistoryStatus.TIMEOUT} or self.retry_count_after is None:
            return None
        # The retry that it waits for has been counted already.
        return self.attempt_no + self.retry_count_after + (self.next_run_time_after is not None)

    @property
    def attempt(self) -> str:
        """Return which attempt it is: `2 of 3`, or `2`."""
        return attempt_of(self.attempt_no, self.attempts)

    @property
    def wording(self) -> str | None:
        """Return the message, and that the retries were skipped if they were."""
        return self._with_retries(self.message)

    @property
    def in_brief(self) -> str | None:
        """Return the same without what to do next, for output that shows that beside it."""
        return self._with_retries(self.message if self.mend is None else without_next_step(self.message or ""))

    def _with_retries(self, message: str | None) -> str | None:
        if not self.retries_skipped or (message is not None and NO_RETRY in message):
            return message
        return "; ".join(part for part in (message, RETRIES_SKIPPED) if part)

    @property
    def in_full(self) -> str | None:
        """Return the same as `in_brief`, after which attempt of several it was that failed."""
        if (self.attempts or 1) == 1:
            return self.in_brief
        return ": ".join(part for part in (f"attempt {self.attempt}", self.in_brief) if part)


def attempt_of(number: int, most: int | None) -> str:
    """Name an attempt by its number, of how many at most: the first run counts as well as the retries."""
    return str(number) if most is None else f"{number} of {most}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Populated:
    """What a populator makes of an intake row: the values that the steps' placeholders are filled from."""

    data: DataValues = NO_DATA
    cycle_key: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEntry:
    """An `AuditLog` row: what a person did, to what, why."""

    audit_id: Annotated[int, "AuditLog_id"]
    at: Annotated[datetime, "z_inserted"]
    actor: str
    host: str
    action: str
    target: str
    reason: str | None
    before: Annotated[str | None, "ValuesBefore"]
    after: Annotated[str | None, "ValuesAfter"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditFilter:
    """Which acts are wanted; nothing means all."""

    ref: str | None = None
    actor: str | None = None
    action: str | None = None
    since: datetime | None = None
    before: int | None = None
    """Only rows with smaller numbers: the next page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InstancesWanted:
    """Which instances are wanted; nothing means all."""

    batch: str | None = None
    status: InstanceStatus | None = None
    before: InstanceId | None = None
    """Only instances with smaller numbers: the next page."""


@dataclass(frozen=True, slots=True)
class AttemptsSoFar:
    """The number of the last attempt at each step of one instance."""

    last_attempt: Mapping[int, int] = field(default_factory=dict)

    def at(self, seq: int) -> int:
        """Return how often a step was tried."""
        return self.last_attempt.get(seq, 0)
