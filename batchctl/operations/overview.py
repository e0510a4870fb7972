"""What is happening, and what needs a person: the read model behind `status`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Annotated, Any

from batchctl.domain.alerting.incident_causes import StepOf, stopped_at
from batchctl.domain.alerting.incidents import Incident
from batchctl.domain.dead_ends import DeadEnd
from batchctl.domain.errors import Refused
from batchctl.domain.gates import Gate, locks, mending
from batchctl.domain.gates import frozen as frozen_gate
from batchctl.domain.locked_rows import is_of_locks, names_of
from batchctl.domain.operators import confirmations
from batchctl.domain.operators.confirmations import Confirmation
from batchctl.domain.operators.notes import Note
from batchctl.domain.operators.pools import Drain
from batchctl.domain.outcomes import HealthFinding
from batchctl.domain.records import Apart
from batchctl.domain.rows import (
    DEFAULT_POOL,
    BatchDefinition,
    BatchId,
    BatchInstance,
    ControllerRow,
    Freeze,
    HistoryEntry,
    IntakeId,
    IntakeRow,
    attempt_of,
)
from batchctl.domain.status import FINAL, InstanceStatus, IntakeStatus
from batchctl.domain.text import shorten, typed, visible
from batchctl.domain.unreadable import UnreadableRow
from batchctl.operations import copies, files_taken_again, remedies, shown_columns
from batchctl.operations.alerting import incident_desk
from batchctl.operations.column_lists import UNREADABLE, UNTIL_CORRECTED, Alarming, ColumnList, StatusWord, record
from batchctl.operations.dependencies import dependents
from batchctl.operations.dependencies.dependents import Seen
from batchctl.operations.intake import inbox
from batchctl.operations.intake.inbox import Item
from batchctl.operations.operators import noting
from batchctl.operations.presence import Presence, last_sign
from batchctl.operations.scheduling import almanac, timetable
from batchctl.operations.scheduling.almanac import RunningOut
from batchctl.operations.scheduling.timetable import COMING as COMING_UP
from batchctl.operations.scheduling.timetable import ComingUp, Timetable, coming_up, soonest
from batchctl.operations.standing import WaitingLine
from batchctl.ports import Clock, Transactions
from batchctl.store import Connection, dead_end_rows, history, instances, leading, limits, pool_rows, reports
from batchctl.store.alerting import incident_rows
from batchctl.store.definitions import definitions
from batchctl.store.dependencies import completions
from batchctl.store.intake import data_triggers, file_watches, intake
from batchctl.store.one_look import Ahead, ask_ahead, one_look
from batchctl.store.operators import confirmation_rows, note_rows
from batchctl.store.scheduling import calendars, schedule_rows
from batchctl.store.unreadable_columns import for_any_client

INCIDENTS = 5
"""How many incidents are shown."""
COMING = 5
"""How many due times to come are shown."""

COMPLETED_LAST = 5
"""How many completed instances are shown."""
_ALWAYS = (
    reports.COUNT_UNTAKEN,
    calendars.CALENDARS,
    calendars.DAYS,
    leading.LEADER,
    limits.LIMIT,
    instances.CLAIMED,
    pool_rows.CONTROLLERS,
    pool_rows.DRAINS,
    incident_rows.COUNT_STANDING,
    data_triggers.TRIGGERS,
    data_triggers.ENABLED,
    file_watches.WATCHES,
    schedule_rows.SCHEDULES,
)
_FAILING = (InstanceStatus.FAILED, InstanceStatus.HELD, InstanceStatus.RETRY)
_WAITING = (InstanceStatus.READY, InstanceStatus.PAUSED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """An attempt under way. `elapsed` is beyond AlarmDuration when `is_late`."""

    entry: HistoryEntry
    instance: Apart[BatchInstance]
    batch: Annotated[str, "ProcessBatchName"]
    elapsed: Annotated[timedelta, "ElapsedSeconds"]
    expected: Annotated[timedelta | None, "ExpectedDuration"]
    alarm: Annotated[timedelta | None, "AlarmDuration"]
    locks: Apart[Gate] = field(default_factory=partial(Gate, "locks"))
    """Who keeps a row locked without which its end is not written, where a controller says that."""

    @property
    def attempts(self) -> int:
        """Return how many attempts there may be at most, with this one and all before it."""
        return self.entry.attempt_no + self.instance.retry_count

    @property
    def is_late(self) -> bool:
        """Say whether it runs longer than AlarmDuration."""
        return self.alarm is not None and self.elapsed >= self.alarm


@dataclass(frozen=True, slots=True, kw_only=True)
class FailingInstance:
    """An instance that has failed, is held or waits for its retry; `clear` is what to type."""

    instance: BatchInstance
    batch: Annotated[str, "ProcessBatchName"]
    step: Apart[StepOf | None]
    """The one at which it stands."""
    message: str | None
    wording: Apart[str | None]
    """The message, and what became of the retries."""
    clear: Annotated[str, "Next"]


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingInstance:
    """An instance that is ready or paused; `reason` is None when it is about to start."""

    instance: BatchInstance
    batch: Annotated[str, "ProcessBatchName"]
    reason: str | None
    clear: Annotated[str | None, "Next"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Completed:
    """An instance that has completed."""

    instance: BatchInstance
    batch: Annotated[str, "ProcessBatchName"]
    at: Annotated[datetime, "CompletedTime"]


def _step_and_pool(one: Running) -> str:
    pool = one.instance.next_pool
    return f"{one.entry.seq} {one.entry.step_name}" + ("" if pool is None else f" (pool {pool})")


def _alarm(one: Running) -> object:
    if one.locks.blocked is not None:
        return Alarming(f"{one.locks.blocked}; to end that: {one.locks.clear}")
    return Alarming("longer than AlarmDuration") if one.is_late else "no"


RUNNING = ColumnList[Running](
    "Running",
    {
        **record(Running),
        "PoolName": lambda one: one.instance.next_pool or DEFAULT_POOL,
        "Locked": lambda one: one.locks.blocked,
        "Alarm": lambda one: one.is_late,
    },
    {
        "id#": "BatchControl_id",
        "batch": "ProcessBatchName",
        "step": _step_and_pool,
        "attempt#": lambda one: attempt_of(one.entry.attempt_no, one.attempts),
        "since#": "ElapsedSeconds",
        "expected#": "ExpectedDuration",
        "alarm": _alarm,
    },
)
FAILING = ColumnList[FailingInstance](
    "Failed, held, to be tried again",
    record(
        FailingInstance,
        step={
            "ProcessControlSeq": lambda one: None if one.step is None else one.step.seq,
            "ProcessName": lambda one: None if one.step is None else one.step.name,
        },
    ),
    {
        "id#": "BatchControl_id",
        "batch": "ProcessBatchName",
        "status": "Status",
        "step": lambda one: None if one.step is None else f"{one.step.seq} {one.step.name}",
        "message": lambda one: one.wording,
        "next": "Next",
    },
)
DEAD_ENDS = ColumnList[DeadEnd](
    "Triggers, watches and schedules that start nothing",
    record(DeadEnd),
    {"name": "Source", "since (UTC)": "EventTime", "message": "Message", "next": "Next"},
)
INTAKE = ColumnList[IntakeRow]("Rows that nothing came of", record(IntakeRow))
FROZEN = ColumnList[Freeze]("Freezes", record(Freeze))
DRAINS = ColumnList[Drain]("Drains", record(Drain))
DISABLED = ColumnList[tuple[str, int]](
    "Disabled batches with open instances",
    {
        "ProcessBatchName": lambda one: one[0],
        "OpenInstances": lambda one: one[1],
        "Next": lambda one: f"batchctl enable {typed(one[0])} --reason ...",
    },
    {"batch": "ProcessBatchName", "open#": "OpenInstances", "next": "Next"},
)
COMPLETED = ColumnList[Completed](
    "Completed last",
    record(Completed),
    {
        "id#": "BatchControl_id",
        "batch": "ProcessBatchName",
        "at (UTC)": "CompletedTime",
        "but": lambda one: None if one.instance.failures_behind is None else Alarming(one.instance.failures_behind),
    },
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedInstance:
    """A question that an instance waits with."""

    question: Confirmation
    batch: Annotated[str, "ProcessBatchName"]
    clear: Annotated[str, "Next"]


ASKED = ColumnList[AskedInstance](
    "Waiting for a person",
    record(AskedInstance),
    {
        "id#": "BatchControl_id",
        "batch": "ProcessBatchName",
        "step#": "ProcessControlSeq",
        "question": lambda one: shorten(visible(one.question.question), confirmations.SHOWN),
        "who may answer": lambda one: one.question.may_answer,
        "since (UTC)": "z_inserted",
        "until": lambda one: one.question.until,
        "next": "Next",
    },
)


def waiting_where(*, idle: bool) -> ColumnList[WaitingInstance]:
    """Return the column list of what waits; where it is idle, no controller works."""
    return ColumnList(
        "Waiting",
        record(WaitingInstance),
        {
            "id#": "BatchControl_id",
            "batch": "ProcessBatchName",
            "status": "Status",
            "because": lambda one: one.reason or ("no controller is running" if idle else "it starts next"),
            "next": lambda one: one.clear or ("batchctl process" if idle and not one.reason else None),
        },
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """Everything at a glance; lists are cut, counts are whole."""

    now: datetime
    controllers: tuple[str, ...]
    """The controllers that work on the database."""
    last_sign: str | None
    """Which controller gave the last sign of life, and when, if none works."""
    copy: Refused | None
    """The message that nothing runs on the database because it is a copy; None when it is none."""
    left_out: tuple[str, ...]
    """Messages about the plugin modules that the controllers work without."""
    failures: Mapping[str, str]
    """What keeps controllers from their work, by their names."""
    instances: Mapping[InstanceStatus, int]
    intake: Mapping[IntakeStatus, int]
    untaken_count: int
    running: tuple[Running, ...]
    failing: tuple[FailingInstance, ...]
    asked: tuple[AskedInstance, ...]
    """What steps ask people, the oldest question first."""
    waiting: tuple[WaitingInstance, ...]
    not_taken_in: tuple[IntakeRow, ...]
    to_take_in: Mapping[IntakeId, str]
    """What to do about each row not taken in."""
    because: Mapping[IntakeId, str]
    """Why each of them was not."""
    untaken: tuple[IntakeRow, ...]
    stuck: tuple[Item, ...]
    """Rows of which nothing comes because no controller has the plugin that they need, or somebody keeps them locked."""
    disabled: Mapping[str, int]
    """Disabled batches with their number of open instances."""
    frozen: tuple[Freeze, ...]
    """What keeps batches from starting anything."""
    drains: tuple[Drain, ...]
    """What is drained."""
    completed: tuple[Completed, ...]
    waits: tuple[Seen, ...] = ()
    """Batches that wait for others."""
    dead_end_starts: tuple[DeadEnd, ...] = ()
    """Triggers, watches and schedules that start nothing because of some trouble."""
    coming: tuple[ComingUp, ...] = ()
    """What schedules start next."""
    is_fired: bool = True
    """Whether a controller is there that starts it."""
    ending: tuple[RunningOut, ...] = ()
    """Calendars that schedules go by and that run out."""
    unreadable: tuple[UnreadableRow, ...] = ()
    """Rows that nothing can go by."""
    incidents: tuple[Incident, ...] = ()
    """Incidents that stand: first the ones that are not acknowledged, newest first."""
    incident_count: int = 0
    acknowledged_count: int = 0
    """How many of these are acknowledged."""
    notes: tuple[Note, ...] = ()
    """What people have written about what is shown as running, failed or waiting, its batches, and the incidents."""
    full_disks: tuple[HealthFinding, ...] = ()
    """Disks of this host on which nothing may be recorded soon."""


@dataclass(frozen=True, slots=True)
class NothingCame:
    """A FileProcess row that nothing came of, why, and what to do."""

    row: IntakeRow
    state: StatusWord
    because: str
    clear: str


NOTHING_CAME = ColumnList[NothingCame](
    "Rows that nothing came of",
    {
        **record(IntakeRow, lambda one: one.row),
        "State": lambda one: one.state.text,
        "Because": lambda one: one.because,
        "Next": lambda one: one.clear,
    },
    {
        "FileProcess#": "FileProcess_id",
        "entity": "Entity",
        "status": lambda one: one.state,
        "file": "FileName",
        "reason": "Because",
        "next": "Next",
    },
)


def nothing_came_of(seen: Overview) -> tuple[NothingCame, ...]:
    """Return the rows that are not work: set aside, untaken, or without the plugin that they need."""
    because = seen.because
    return (
        *(
            NothingCame(row, StatusWord(row.status), because[row.intake_id], seen.to_take_in[row.intake_id])
            for row in seen.not_taken_in
        ),
        *(
            NothingCame(row, StatusWord("not taken"), because[row.intake_id], f"batchctl why file:{row.intake_id}")
            for row in seen.untaken
        ),
        *(NothingCame(one.row, StatusWord(one.row.status), one.because, one.clear) for one in seen.stuck),
    )


def lists_of(seen: Overview) -> tuple[tuple[ColumnList[Any], Sequence[Any]], ...]:
    """Return the lists of an overview as people read them, what needs them first."""
    asked = {one.question.instance_id for one in seen.asked}
    waiting = [one for one in seen.waiting if one.instance.instance_id not in asked]
    return (
        (incident_desk.incidents_at(seen.now), seen.incidents),
        (replace(UNREADABLE, title=f"Unreadable: {UNTIL_CORRECTED}"), seen.unreadable),
        (RUNNING, seen.running),
        (FAILING, seen.failing),
        (ASKED, seen.asked),
        (waiting_where(idle=not seen.controllers), waiting),
        (noting.NOTES, seen.notes),
        (DEAD_ENDS, seen.dead_end_starts),
        (almanac.RUNNING_OUT, seen.ending),
        (dependents.WAITS, seen.waits),
        (NOTHING_CAME, nothing_came_of(seen)),
        (DISABLED, tuple(seen.disabled.items())),
        (COMPLETED, seen.completed),
        (COMING_UP, seen.coming),
    )


def overview(
    transactions: Transactions,
    clock: Clock,
    presence: Presence,
    *,
    most: int = 20,
    timetable: Timetable | None = None,
    full_disks: tuple[HealthFinding, ...] = (),
    with_over: bool = True,
) -> Overview:
    """Look at everything once; no list is longer than `most`; `timetable` reads the schedules.

    What is over is counted only if wanted: that takes the longer the more there is.
    """
    now = clock.now()
    with one_look(), transactions.read() as connection:
        ask_ahead(connection, *_counts(with_over=with_over), *_ahead(most))
        leading.ask_unreadable(connection)
        incident_rows.ask_unreadable(connection)
        defined = definitions.read(connection)
        batches = {batch.batch_id: batch for batch in defined.batches}
        broken = {row.batch_id: row for row in defined.unreadable if row.batch_id is not None}
        counts, strange = reports.count_instances(connection, with_over=with_over)
        arrived, strange_intake = reports.count_intake(connection, with_over=with_over)
        untaken = intake.untaken(connection, 0, most)
        lacks_plugins = any(batch.missing_plugins for batch in defined.batches)
        not_taken_in = intake.with_corrections(connection, intake.not_taken_in(connection, most))
        again = files_taken_again.find(connection, not_taken_in)
        context = None if timetable is None else timetable.context(connection)
        living = presence.living(connection, now)
        may_be_stuck = lacks_plugins or any(is_of_locks(row.failure) for row in living)
        standing, acknowledged = incident_rows.count_standing(connection)
        look = _Look(connection, batches, broken, living, now, most)
        running, failing, waiting, asked = look.running(), look.failing(), look.waiting(), look.asked()
        shown = [
            *(one.instance for one in running),
            *(one.instance for one in failing),
            *(one.instance for one in waiting),
        ]
        incidents = incident_desk.with_reasons(
            connection, incident_rows.most_pressing(connection, min(most, INCIDENTS))
        )
        return Overview(
            now=now,
            controllers=tuple(row.name for row in living),
            last_sign=None if living else last_sign(connection),
            copy=copies.refused_on(connection),
            left_out=tuple(dict.fromkeys(row.left_out for row in living if row.left_out is not None)),
            failures={row.name: row.failure for row in living if row.failure is not None},
            instances=_totals(counts),
            intake=arrived,
            untaken_count=reports.count_untaken(connection),
            running=running,
            failing=failing,
            asked=asked,
            waiting=waiting,
            not_taken_in=tuple(not_taken_in),
            to_take_in={
                row.intake_id: for_any_client(
                    connection, remedies.to_take_in(row, batches.values(), again.get(row.intake_id))
                )
                for row in not_taken_in
            },
            because={row.intake_id: remedies.because(row, defined) for row in not_taken_in}
            | {row.intake_id: remedies.untaken(row, defined.batches)[0] for row in untaken},
            untaken=tuple(untaken),
            stuck=tuple(inbox.stuck_rows(connection, defined, most, living)) if may_be_stuck else (),
            disabled=look.disabled(counts),
            frozen=look.frozen(),
            drains=tuple(pool_rows.standing_drains(connection)),
            completed=look.completed(),
            waits=dependents.seen(connection, batches, now, most),
            dead_end_starts=dead_end_rows.dead_end_starts(connection),
            unreadable=(
                *defined.unreadable,
                *dead_end_rows.unreadable(connection),
                *incident_rows.unreadable(connection),
                *leading.unreadable(connection),
                *strange,
                *strange_intake,
            ),
            coming=() if context is None else coming_up(connection, context, min(most, COMING)),
            is_fired=bool(presence.firing(connection, now)),
            incidents=incidents,
            notes=_notes(connection, shown, incidents, most),
            incident_count=standing,
            acknowledged_count=acknowledged,
            full_disks=full_disks,
            ending=() if context is None else tuple(almanac.ending(connection, context.today)),
        )


def _counts(*, with_over: bool) -> Iterator[Ahead]:
    yield (reports.COUNT_INSTANCES if with_over else reports.COUNT_OPEN_INSTANCES), {}
    yield (reports.COUNT_INTAKE if with_over else reports.COUNT_OPEN_INTAKE), {}


def _ahead(most: int) -> Iterator[Ahead]:
    """Yield what is asked whatever the night is like, so that it goes to the database at once."""
    yield from ((each, {}) for each in (*definitions.AHEAD, *_ALWAYS))
    yield from ((each, {"most": most}) for each in (reports.LIVE_ENTRIES, confirmation_rows.OPEN_ONES))
    yield from ((reports.OPEN_IN[status], {"most": most}) for status in (*_FAILING, *_WAITING))
    yield reports.LAST_COMPLETED, {"most": min(most, COMPLETED_LAST), "near": reports.NEAR}
    yield incident_rows.PRESSING, {"most": min(most, INCIDENTS)}
    yield intake.NOT_TAKEN_IN, {"most": most}
    yield from ((each, {"most": soonest(min(most, COMING))}) for each in schedule_rows.SOONEST)
    yield intake.UNTAKEN, {"after": 0, "most": most}
    yield completions.WAITING, {"after": 0, "most": most}


def _notes(
    connection: Connection, shown: Sequence[BatchInstance], incidents: Sequence[Incident], most: int
) -> tuple[Note, ...]:
    """Return the newest notes about what is shown, newest last."""
    found = note_rows.of(
        connection,
        instances={one.instance_id for one in shown},
        batches={one.batch_id for one in shown},
        incidents={one.incident_id for one in incidents},
    )
    return tuple(found[-most:])


def _totals(counts: Mapping[BatchId, Mapping[InstanceStatus, int]]) -> dict[InstanceStatus, int]:
    found = {status: sum(of_batch.get(status, 0) for of_batch in counts.values()) for status in InstanceStatus}
    return {status: count for status, count in found.items() if count}


_ONCE_MENDED = (
    "correct what its message names: it is tried again by itself, or sooner: batchctl rerun {id} --reason ..."
)
_CLEAR = {
    InstanceStatus.HELD: "batchctl show {id}, then rerun or skip it",
    InstanceStatus.RETRY: "nothing: it is tried again by itself",
}


@dataclass(frozen=True, slots=True)
class _Look:
    """What all parts of an overview go by."""

    connection: Connection
    batches: Mapping[BatchId, BatchDefinition]
    broken: Mapping[BatchId, UnreadableRow]
    living: Sequence[ControllerRow]
    now: datetime
    most: int

    def running(self) -> tuple[Running, ...]:
        found = []
        live = reports.live_entries(self.connection, self.most)
        claimed = {one.instance_id: one for one in instances.these(self.connection, [at.instance_id for at in live])}
        for entry in live:
            instance, batch = claimed.get(entry.instance_id), self.batches.get(entry.batch_id)
            if instance is None:
                continue
            step = None if batch is None else batch.step_at(entry.seq)
            running = Running(
                entry=entry,
                instance=instance,
                batch=self.name_of(entry.batch_id),
                elapsed=self.now - entry.started_at,
                expected=None if step is None else step.expected_duration,
                alarm=None if step is None else step.alarm_duration,
                locks=Gate("locks") if batch is None else locks(self.living, names_of(instance, batch)),
            )
            found.append(running)
        return tuple(found)

    def frozen(self) -> tuple[Freeze, ...]:
        found = {freeze for batch in self.batches.values() for freeze in batch.freezes if freeze.holds(self.now)}
        return tuple(sorted(found, key=lambda freeze: freeze.freeze_id))

    def failing(self) -> tuple[FailingInstance, ...]:
        failing = [one for status in _FAILING for one in reports.open_in(self.connection, (status,), self.most)]
        history.ask_last(self.connection, [one.instance_id for one in failing[: self.most]])
        return tuple(self._failing(one) for one in failing[: self.most])

    def _failing(self, instance: BatchInstance) -> FailingInstance:
        last = history.last_entry(self.connection, instance.instance_id)
        batch, broken = self.batches.get(instance.batch_id), self.broken.get(instance.batch_id)
        return FailingInstance(
            instance=instance,
            batch=self.name_of(instance.batch_id),
            step=stopped_at(instance, batch, last),
            message=None if last is None else last.message,
            wording=None if last is None else last.in_full,
            clear=self._clear(instance, batch, last) if broken is None else broken.mend,
        )

    def _clear(self, instance: BatchInstance, batch: BatchDefinition | None, last: HistoryEntry | None) -> str:
        if instance.status is InstanceStatus.FAILED:
            return mending(instance, batch, last)
        if instance.status is InstanceStatus.RETRY and batch is not None:
            frozen, locked = frozen_gate(batch, self.now), locks(self.living, names_of(instance, batch))
            if frozen.blocked is not None:
                return f"{frozen.clear}   (its batch is frozen, so it is not tried again)"
            if not batch.enabled:
                enable = f"batchctl enable {typed(batch.name)} --reason ..."
                return f"{enable}   (its batch is disabled, so it is not tried again)"
            if locked.blocked is not None:
                return f"{locked.clear}   (so that it is tried again: {locked.blocked})"
        if instance.status is InstanceStatus.RETRY and last is not None and last.was_put_back:
            return _ONCE_MENDED.format(id=instance.instance_id)
        return _CLEAR[instance.status].format(id=instance.instance_id)

    def asked(self) -> tuple[AskedInstance, ...]:
        questions = {one.instance_id: one for one in confirmation_rows.open_ones(self.connection, self.most)}
        waiting = instances.these(self.connection, [*questions])
        return tuple(
            AskedInstance(question=one, batch=self.name_of(instance.batch_id), clear=one.answering)
            for instance in waiting
            for one in [questions[instance.instance_id]]
            if instance.status is InstanceStatus.PAUSED
        )

    def waiting(self) -> tuple[WaitingInstance, ...]:
        line = WaitingLine(self.connection, self.batches, self.now, serving=self.living)
        found = []
        for instance in reports.open_in(self.connection, _WAITING, self.most):
            reason, clear = None, None
            if instance.batch_id in self.batches:
                locked = locks(self.living, names_of(instance, self.batches[instance.batch_id]))
                first = next((at for at in (*line.gates_of(instance), locked) if at.blocked is not None), None)
                reason, clear = (None, None) if first is None else (first.blocked, first.clear)
            elif instance.batch_id in self.broken:
                row = self.broken[instance.batch_id]
                reason, clear = row.message, row.mend
            else:
                continue
            name = self.name_of(instance.batch_id)
            found.append(WaitingInstance(instance=instance, batch=name, reason=reason, clear=clear))
        return tuple(found)

    def completed(self) -> tuple[Completed, ...]:
        return tuple(
            Completed(instance=instance, batch=self.name_of(instance.batch_id), at=at)
            for instance, at in reports.last_completed(self.connection, min(self.most, COMPLETED_LAST))
        )

    def disabled(self, counts: Mapping[BatchId, Mapping[InstanceStatus, int]]) -> dict[str, int]:
        off = {batch.name: counts.get(key, {}) for key, batch in self.batches.items() if not batch.enabled}
        still_open = {name: sum(n for status, n in found.items() if status not in FINAL) for name, found in off.items()}
        return {name: count for name, count in still_open.items() if count}

    def name_of(self, batch_id: BatchId) -> str:
        if batch_id in self.broken:
            return self.broken[batch_id].batch
        batch = self.batches.get(batch_id)
        return f"(ProcessBatch {batch_id}, which does not exist)" if batch is None else batch.name


def columns(seen: Overview) -> shown_columns.Columns:
    """Return it for programs."""
    return {
        "Now": shown_columns.moment(seen.now),
        "Controller": seen.controllers[0] if seen.controllers else None,
        "Controllers": list(seen.controllers),
        "Copy": None if seen.copy is None else seen.copy.message,
        "FullDisks": [disk.message for disk in seen.full_disks],
        "LeftOut": list(seen.left_out),
        "Troubles": dict(seen.failures),
        "BatchControl": {status.value: count for status, count in seen.instances.items()},
        "FileProcess": {status.value: count for status, count in seen.intake.items()},
        "UntakenCount": seen.untaken_count,
        "Running": RUNNING.as_json(seen.running),
        "Troubled": FAILING.as_json(seen.failing),
        "Asked": ASKED.as_json(seen.asked),
        "Waiting": waiting_where(idle=False).as_json(seen.waiting),
        "Waits": dependents.WAITS.as_json(seen.waits),
        "Ailing": DEAD_ENDS.as_json(seen.dead_end_starts),
        "Unreadable": UNREADABLE.as_json(seen.unreadable),
        "IncidentCount": seen.incident_count,
        "AcknowledgedCount": seen.acknowledged_count,
        "Incidents": incident_desk.incidents_at(seen.now).as_json(seen.incidents),
        "EndingCalendars": almanac.RUNNING_OUT.as_json(seen.ending),
        "DueNext": timetable.COMING.as_json(seen.coming),
        "NotTakenIn": [{**shown_columns.of(row), "Next": seen.to_take_in[row.intake_id]} for row in seen.not_taken_in],
        "Untaken": INTAKE.as_json(seen.untaken),
        "Stuck": [{**shown_columns.of(one.row), "Because": one.because, "Next": one.clear} for one in seen.stuck],
        "DisabledBatches": DISABLED.as_json(seen.disabled.items()),
        "Freezes": FROZEN.as_json(seen.frozen),
        "Drains": DRAINS.as_json(seen.drains),
        "Notes": noting.NOTES.as_json(seen.notes),
        "Completed": COMPLETED.as_json(seen.completed),
    }
