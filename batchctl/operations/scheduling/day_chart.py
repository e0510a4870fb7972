"""Twenty-four hours of all batches: what was worked at, when that usually is, and what is due."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from batchctl.domain.dependencies.forecast_record import KeptForecast
from batchctl.domain.rows import BatchDefinition, BatchId
from batchctl.domain.scheduling.due import Instant, InstantOutcome
from batchctl.domain.scheduling.modes import takers_of
from batchctl.domain.scheduling.schedules import Schedule
from batchctl.operations.column_lists import ColumnList
from batchctl.operations.scheduling.schedule_findings import ScheduleContext
from batchctl.operations.scheduling.timetable import Timetable
from batchctl.store.dependencies import kept_forecasts
from batchctl.store.scheduling import schedule_rows, worked_times
from batchctl.store.scheduling.worked_times import WorkedAt

DAY = timedelta(days=1)
BEFORE = timedelta(hours=18)
"""How much of the day lies behind."""
PAST = timedelta(days=28)
"""How far back it is looked when a batch is usually worked at."""
FEWEST = 3
"""With fewer instances in the past than this nothing is usual."""
MOST_DUE = 300
"""How many due times of one schedule are looked at."""


@dataclass(frozen=True, slots=True)
class DueAt:
    """A due time of a schedule."""

    schedule: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchDay:
    """A batch in these hours."""

    batch: BatchDefinition
    usual: tuple[datetime, datetime] | None
    """From when until when nearly all its instances of the past were worked at, moved into this day."""
    worked: tuple[WorkedAt, ...]
    due: tuple[DueAt, ...]
    ready: KeptForecast | None = None
    """When it will be ready."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DayChart:
    """All batches in these hours."""

    now: datetime
    start: datetime
    end: datetime
    rows: tuple[BatchDay, ...]


def _first(one: BatchDay) -> datetime | None:
    return min((each.began for each in one.worked), default=None)


def _last(one: BatchDay) -> datetime | None:
    return max((each.ended for each in one.worked if each.ended is not None), default=None)


DAYS = ColumnList[BatchDay](
    "24 hours",
    {
        "ProcessBatchName": lambda one: one.batch.name,
        "UsualStart": lambda one: None if one.usual is None else one.usual[0],
        "UsualEnd": lambda one: None if one.usual is None else one.usual[1],
        "FirstStart": _first,
        "LastEnd": _last,
        "Instances": lambda one: len(one.worked),
        "Due": lambda one: [each.at for each in one.due],
        "P50": lambda one: None if one.ready is None else one.ready.median,
        "P90": lambda one: None if one.ready is None else one.ready.nearly,
    },
)


def day_chart(table: Timetable) -> DayChart:
    """Look at the hours around now."""
    with table.transactions.read() as connection:
        context = table.context(connection)
        start = context.now - BEFORE
        worked = worked_times.since(connection, context.now - PAST, start)
        schedules = schedule_rows.everything(connection)[0]
        ready = {one.batch_id: one for one in kept_forecasts.newest(connection)}
    due = [*_due(schedules, context, start + DAY)]
    of = defaultdict[BatchId, list[WorkedAt]](list)
    for one in worked:
        of[one.batch_id].append(one)
    batches = context.batches
    rows = tuple(_row(batch, batches, of[batch.batch_id], due, start, ready.get(batch.batch_id)) for batch in batches)
    return DayChart(now=context.now, start=start, end=start + DAY, rows=rows)


def _row(
    batch: BatchDefinition,
    batches: Sequence[BatchDefinition],
    own: Sequence[WorkedAt],
    due: Iterable[tuple[Schedule, datetime]],
    start: datetime,
    ready: KeptForecast | None,
) -> BatchDay:
    past = [one for one in own if one.began < start]
    return BatchDay(
        batch=batch,
        usual=usual_hours(past, start),
        worked=tuple(one for one in own if one.began >= start or (one.ended is not None and one.ended >= start)),
        due=tuple(DueAt(one.name, at) for one, at in due if batch in takers_of(one.entity, batches)),
        ready=ready,
    )


def usual_hours(past: Sequence[WorkedAt], start: datetime) -> tuple[datetime, datetime] | None:
    """Return from when until when nine of ten instances were worked at, moved into the day that begins then."""
    ended = [(one.began, one.ended) for one in past if one.ended is not None]
    if len(ended) < FEWEST:
        return None
    moved = sorted((start + (began - start) % DAY, length - began) for began, length in ended)
    ends = sorted(began + took for began, took in moved)
    tenth = len(moved) // 10
    return moved[tenth][0], ends[-1 - tenth]


def _due(
    schedules: Iterable[Schedule], context: ScheduleContext, until: datetime
) -> Iterator[tuple[Schedule, datetime]]:
    for one in schedules:
        plan = context.plan_of(one.timing)
        if plan is not None and one.enabled:
            for _, instant in zip(range(MOST_DUE), plan.instants(context.now, until), strict=False):
                if (at := _starts(instant)) is not None:
                    yield one, at


def _starts(instant: Instant) -> datetime | None:
    return None if instant.outcome is InstantOutcome.SKIPPED else instant.due
