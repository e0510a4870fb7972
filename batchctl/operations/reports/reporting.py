"""What is due, what is late and how long steps take: the read models behind `report`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from batchctl.domain.alerting.alerts import AlertRules
from batchctl.domain.alerting.incidents import IncidentSign
from batchctl.domain.alerting.performance import Performance, performance
from batchctl.domain.rows import BatchDefinition, BatchId, BatchInstance, HistoryEntry, Step
from batchctl.domain.scheduling.modes import takers_of
from batchctl.domain.status import InstanceStatus
from batchctl.expected_work import ExpectedWork
from batchctl.operations import unknown
from batchctl.operations.column_lists import Column, ColumnList, Curve
from batchctl.operations.dependencies import dependents
from batchctl.operations.dependencies.dependents import Seen
from batchctl.operations.dependencies.replayed_night import ReadyTime, ReplayedNight, replayed_night
from batchctl.operations.presence import Presence
from batchctl.operations.scheduling.timetable import COMING as COMING_UP
from batchctl.operations.scheduling.timetable import ComingUp, Timetable, coming_up
from batchctl.ports import Transactions
from batchctl.store import Connection, reports
from batchctl.store.definitions import definitions
from batchctl.store.dependencies import kept_forecasts
from batchctl.store.maintenance import attempt_lengths
from batchctl.store.maintenance.attempt_lengths import Steps

WINDOW = timedelta(days=28)
"""How far a report looks back where no other time is given."""
PATIENCE = timedelta(seconds=3)
"""How long at most the past is read for what should have arrived by now."""
MOST = 200
"""How many lines of each kind a report has at most."""
STANDING = (InstanceStatus.FAILED, InstanceStatus.HELD, InstanceStatus.PAUSED, InstanceStatus.RETRY)


@dataclass(frozen=True, slots=True, kw_only=True)
class StepLengths:
    """A step, and how long it took."""

    batch: str
    step: Step
    took: Performance
    over: int = 0
    """How many runs took longer than ExpectedDuration says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepUnderWay:
    """A step that runs, and when its instance will be complete."""

    entry: HistoryEntry
    batch: str
    elapsed: timedelta
    expected: timedelta | None
    """ExpectedDuration, else AlarmDuration, else what nearly all its runs took, if there were enough."""
    ready: ReadyTime

    @property
    def late_by(self) -> timedelta | None:
        """Return how much longer it takes than expected, if it does."""
        return None if self.expected is None or self.elapsed <= self.expected else self.elapsed - self.expected


@dataclass(frozen=True, slots=True, kw_only=True)
class Coming:
    """A schedule that is due next, what it starts, and when all of that will be complete."""

    coming: ComingUp
    batches: tuple[str, ...]
    ready: ReadyTime


@dataclass(frozen=True, slots=True, kw_only=True)
class ForetoldWait:
    """A wait, and when its batch will be ready for that CycleKey, as the leader has said last."""

    seen: Seen
    ready: ReadyTime

    @property
    def batch(self) -> str:
        """Return the name of the batch that waits."""
        return self.seen.wait.batch.name


@dataclass(frozen=True, slots=True, kw_only=True)
class StuckInstance:
    """An instance that does not go on."""

    instance: BatchInstance
    batch: str
    stands_for: timedelta


def _exact(length: timedelta) -> float:
    return round(length.total_seconds(), 3)


def _drift(one: StepLengths) -> tuple[object, ...] | None:
    took = one.took
    return None if took.drift is None else (f"{took.drift}: ", took.earlier, " -> ", took.recent)


STEPS = ColumnList[StepLengths](
    "How long steps take",
    {
        "ProcessBatchName": lambda one: one.batch,
        "ProcessControlSeq": lambda one: one.step.seq,
        "ProcessName": lambda one: one.step.name,
        "Runs": lambda one: one.took.many,
        "Median": Column(lambda one: one.took.median, _exact),
        "P95": Column(lambda one: one.took.p95, _exact),
        "Longest": Column(lambda one: one.took.longest, _exact),
        "Last": Column(lambda one: one.took.last, _exact),
        "ExpectedDuration": lambda one: one.step.expected_duration,
        "AlarmDuration": lambda one: one.step.alarm_duration,
        "OverExpected": lambda one: one.over,
        "RecentMedian": Column(lambda one: one.took.recent, _exact),
        "EarlierMedian": Column(lambda one: one.took.earlier, _exact),
        "Drift": lambda one: one.took.drift,
        "DayMedians": lambda one: [_exact(day) for day in one.took.days],
    },
    {
        "batch": "ProcessBatchName",
        "step": lambda one: f"{one.step.seq} {one.step.name}",
        "runs#": "Runs",
        "median#": "Median",
        "p95#": "P95",
        "longest#": "Longest",
        "expected#": "ExpectedDuration",
        "over#": lambda one: one.over or None,
        "alarm#": "AlarmDuration",
        "drift": _drift,
        "by day": lambda one: Curve(one.took.days),
    },
)
UNDER_WAY = ColumnList[StepUnderWay](
    "Under way",
    {
        "BatchControl_id": lambda one: one.entry.instance_id,
        "ProcessBatchName": lambda one: one.batch,
        "ProcessControlSeq": lambda one: one.entry.seq,
        "ProcessName": lambda one: one.entry.step_name,
        "StartTime": lambda one: one.entry.started_at,
        "Elapsed": Column(lambda one: one.elapsed, _exact),
        "Expected": Column(lambda one: one.expected, _exact),
        "LateBy": Column(lambda one: one.late_by, _exact),
        "ExpectedEnd": lambda one: one.ready.median,
        "P90": lambda one: one.ready.nearly,
    },
    {
        "id#": "BatchControl_id",
        "batch": "ProcessBatchName",
        "step": lambda one: f"{one.entry.seq} {one.entry.step_name}",
        "started (UTC)": "StartTime",
        "runs for#": "Elapsed",
        "expected#": "Expected",
        "late by#": "LateBy",
        "p50 (UTC)": "ExpectedEnd",
        "p90 (UTC)": "P90",
    },
)
COMING = ColumnList[Coming](
    "Due next",
    {
        **COMING_UP.within(lambda one: one.coming),
        "Batches": lambda one: one.batches,
        "ExpectedEnd": lambda one: one.ready.median,
        "P90": lambda one: one.ready.nearly,
    },
    {
        "schedule": "ScheduleName",
        "batches": lambda one: ", ".join(one.batches) or None,
        "due": lambda one: one.coming.next.words,
        "due (UTC)": "NextUtcTime",
        "p50 (UTC)": "ExpectedEnd",
        "p90 (UTC)": "P90",
    },
)
STUCK = ColumnList[StuckInstance](
    "Standing",
    {
        "BatchControl_id": lambda one: one.instance.instance_id,
        "ProcessBatchName": lambda one: one.batch,
        "Status": lambda one: one.instance.status,
        "Since": lambda one: one.instance.updated_at,
        "StandsFor": Column(lambda one: one.stands_for, _exact),
    },
    {
        "id#": "BatchControl_id",
        "batch": "ProcessBatchName",
        "status": "Status",
        "since (UTC)": "Since",
        "for": "StandsFor",
    },
)
MISSED = ColumnList[IncidentSign](
    "Expected, and not there",
    {
        "Kind": lambda one: one.kind,
        "ProcessBatchName": lambda one: one.subject,
        "Since": lambda one: one.since,
        "Message": lambda one: one.message,
        "Next": lambda one: one.next_step,
    },
    {"batch": "ProcessBatchName", "by (UTC)": "Since", "message": "Message", "next": "Next"},
)
WAITS = ColumnList[ForetoldWait](
    "Waiting for others",
    {
        **dependents.WAITS.within(lambda one: one.seen),
        "ExpectedEnd": lambda one: one.ready.median,
        "P90": lambda one: one.ready.nearly,
    },
    {
        "batch": "ProcessBatchName",
        "CycleKey": "CycleKey",
        "since (UTC)": "Since",
        "deadline (UTC)": "Deadline",
        "p50 (UTC)": "ExpectedEnd",
        "p90 (UTC)": "P90",
        "why": "Reason",
    },
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Due:
    """What comes next, and what is under way."""

    now: datetime
    coming: tuple[Coming, ...]
    waits: tuple[ForetoldWait, ...]
    under_way: tuple[StepUnderWay, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Late:
    """What should have come or ended by now, and which steps have taken longer than expected."""

    now: datetime
    since: datetime
    running: tuple[StepUnderWay, ...]
    overdue: tuple[Coming, ...]
    waits: tuple[ForetoldWait, ...]
    standing: tuple[StuckInstance, ...]
    steps: tuple[StepLengths, ...]
    missed: tuple[IncidentSign, ...] = ()
    """What should have arrived, begun or been done by now, as ArriveBy, StartBy, FinishBy or the past say."""

    @property
    def is_any(self) -> bool:
        """Say whether anything is late."""
        return bool(self.running or self.overdue or self.waits or self.standing or self.steps or self.missed)


@dataclass(frozen=True, slots=True)
class Reporter:
    """Reads what is due, what is late and how long steps take."""

    transactions: Transactions
    timetable: Timetable
    rules: AlertRules
    presence: Presence
    names: Sequence[str] = ()
    """Names of the batches that are wanted; none means all."""
    since: datetime | None = None
    instances: int = attempt_lengths.INSTANCES
    """Of how many instances of a batch that is named the steps are looked at."""

    def durations(self) -> tuple[StepLengths, ...]:
        """Return how long each step took, batches by Seq."""
        with self.transactions.read() as connection:
            batches = self._batches(connection)
            return _steps(batches, self._lengths(connection, batches))

    def due(self) -> Due:
        """Return what schedules start next, what waits for others, and what is under way."""
        night = replayed_night(self.timetable, self.presence)
        with self.transactions.read() as connection:
            batches = self._batches(connection)
            found = self._lengths(connection, batches)
            now = self.timetable.clock.now()
            return Due(
                now=now,
                coming=self._coming(connection, batches, night),
                waits=self._waits(connection, batches, now),
                under_way=_under_way(connection, batches, found, night, now),
            )

    def late(self) -> Late:
        """Return what is late now, and which steps took longer than expected."""
        night = replayed_night(self.timetable, self.presence)
        with self.transactions.read() as connection:
            batches = self._batches(connection)
            found = self._lengths(connection, batches)
            now = self.timetable.clock.now()
            running = _under_way(connection, batches, found, night, now)
            return Late(
                now=now,
                since=self._since,
                running=tuple(one for one in running if one.late_by is not None),
                overdue=tuple(one for one in self._coming(connection, batches, night) if one.coming.next.is_overdue),
                waits=tuple(one for one in self._waits(connection, batches, now) if one.seen.is_overdue),
                standing=_standing(connection, batches, now),
                steps=tuple(one for one in _steps(batches, found) if one.over),
                missed=self._missed(connection, batches, now),
            )

    @property
    def _since(self) -> datetime:
        return self.timetable.clock.now() - WINDOW if self.since is None else self.since

    def _batches(self, connection: Connection) -> Mapping[BatchId, BatchDefinition]:
        every = definitions.all_batches(connection)
        for name in self.names:
            unknown.named(connection, every, name)
        return {batch.batch_id: batch for batch in every if not self.names or batch.name in self.names}

    def _lengths(self, connection: Connection, batches: Mapping[BatchId, BatchDefinition]) -> Steps:
        return attempt_lengths.since(connection, self._since, batches if self.names else (), self.instances)

    def _coming(
        self, connection: Connection, batches: Mapping[BatchId, BatchDefinition], night: ReplayedNight
    ) -> tuple[Coming, ...]:
        made = list[Coming]()
        for one in coming_up(connection, self.timetable.context(connection), MOST):
            takers = takers_of(one.schedule.entity, list(batches.values()))
            if takers or not self.names:
                ready = night.of_due(takers, one.next.at)
                made.append(Coming(coming=one, batches=tuple(batch.name for batch in takers), ready=ready))
        return tuple(made)

    def _missed(
        self, connection: Connection, batches: Mapping[BatchId, BatchDefinition], now: datetime
    ) -> tuple[IncidentSign, ...]:
        """Return what incidents are opened of, whether a controller is there that does it or not."""
        awaited, clock = ExpectedWork(self.rules), self.timetable.clock
        until = clock.monotonic() + PATIENCE.total_seconds()
        awaited.learn(connection, now, clock.monotonic(), lambda: clock.monotonic() >= until)
        found = awaited.missed_now(connection, now, clock.monotonic())
        return tuple(one for one in found if one.batch_id in batches or not self.names)

    def _waits(
        self, connection: Connection, batches: Mapping[BatchId, BatchDefinition], now: datetime
    ) -> tuple[ForetoldWait, ...]:
        every = {batch.batch_id: batch for batch in definitions.all_batches(connection)}
        found = dependents.seen(connection, every, now, MOST)
        said = {
            (one.batch_id, one.cycle_key): ReadyTime(median=one.median, nearly=one.nearly)
            for one in kept_forecasts.newest(connection)
        }
        return tuple(
            ForetoldWait(seen=one, ready=said.get((one.wait.batch.batch_id, one.wait.cycle_key), ReadyTime()))
            for one in found
            if one.wait.batch.batch_id in batches
        )


def _steps(batches: Mapping[BatchId, BatchDefinition], found: Steps) -> tuple[StepLengths, ...]:
    made = list[StepLengths]()
    for batch in batches.values():
        for step in batch.steps:
            runs = found.get((batch.batch_id, step.seq), [])
            if (took := performance(runs)) is not None:
                expected = step.expected_duration
                over = 0 if expected is None else sum(one.many for one in runs if one.took > expected)
                made.append(StepLengths(batch=batch.name, step=step, took=took, over=over))
    return tuple(made)


def _under_way(
    connection: Connection,
    batches: Mapping[BatchId, BatchDefinition],
    found: Steps,
    night: ReplayedNight,
    now: datetime,
) -> tuple[StepUnderWay, ...]:
    made = list[StepUnderWay]()
    for entry in reports.live_entries(connection, MOST):
        batch = batches.get(entry.batch_id)
        if batch is None:
            continue
        step, took = batch.step_at(entry.seq), performance(found.get((entry.batch_id, entry.seq), []))
        expected = None if step is None else step.expected_duration or step.alarm_duration
        if expected is None and took is not None and took.is_enough():
            expected = took.p95
        ready = night.of_instance(entry.instance_id)
        elapsed = max(now - entry.started_at, timedelta(0))
        made.append(StepUnderWay(entry=entry, batch=batch.name, elapsed=elapsed, expected=expected, ready=ready))
    return tuple(made)


def _standing(
    connection: Connection, batches: Mapping[BatchId, BatchDefinition], now: datetime
) -> tuple[StuckInstance, ...]:
    found = [
        StuckInstance(instance=one, batch=batch.name, stands_for=max(now - one.updated_at, timedelta(0)))
        for one in reports.open_in(connection, STANDING, MOST)
        if (batch := batches.get(one.batch_id)) is not None
    ]
    return tuple(sorted(found, key=lambda one: (-one.stands_for, one.instance.instance_id)))
