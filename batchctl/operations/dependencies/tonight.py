"""What is known before a night is replayed: what is open, what comes, what may start, and what past nights say."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, time, timedelta

from batchctl.domain.alerting.expectations import Expected
from batchctl.domain.dependencies import graph
from batchctl.domain.dependencies.night_walk import moments
from batchctl.domain.dependencies.past_nights import NIGHTS, Lessons, PastAttempt, PastNights
from batchctl.domain.dependencies.virtual_night import Replayed, VirtualInstance, VirtualNight
from batchctl.domain.dependencies.what_ifs import Suppositions
from batchctl.domain.operators import freezes
from batchctl.domain.operators.confirmations import Confirmation
from batchctl.domain.rows import NEVER, BatchDefinition, BatchId, BatchInstance, HistoryEntry, InstanceId
from batchctl.domain.scheduling.due import InstantOutcome
from batchctl.domain.scheduling.modes import is_scheduled, takers_of
from batchctl.domain.scheduling.wall_clock import DAY, WallClock, clock_of
from batchctl.domain.status import FINAL, STOPPED, InstanceStatus
from batchctl.expected_work import business_days, next_deadline
from batchctl.operations import unknown
from batchctl.operations.presence import Presence
from batchctl.operations.scheduling.schedule_findings import ScheduleContext
from batchctl.operations.scheduling.timetable import Timetable
from batchctl.store import Connection, pool_rows, reports
from batchctl.store.alerting import evidence
from batchctl.store.dependencies import live
from batchctl.store.dependencies.past_attempts import last_arrivals, past_attempts
from batchctl.store.operators import confirmation_rows
from batchctl.store.scheduling import schedule_rows

AHEAD = timedelta(hours=24)
"""How far a forecast looks."""
MOST = 10_000
"""How many open instances it looks at, at most."""
MOST_KEPT = 2_000
"""The same of a forecast of the leader, whose other work does not wait for more than that."""
TICK = timedelta(milliseconds=1)
_OPEN = tuple(status for status in InstanceStatus if status not in FINAL)
_NEEDS_A_PERSON = {*STOPPED, InstanceStatus.PAUSED, InstanceStatus.PAUSING, InstanceStatus.CANCELLING}


@dataclass(frozen=True, slots=True, kw_only=True)
class Tonight:
    """All that is known before a night is replayed."""

    now: datetime
    clock: WallClock
    batches: Mapping[BatchId, BatchDefinition]
    night: VirtualNight
    past: PastNights
    due: Sequence[VirtualInstance]
    """What schedules start."""
    learned: Sequence[BatchId]
    """Batches whose work comes from outside, by when it came before."""
    finish_by: Mapping[BatchId, datetime]
    """The next moment by which a batch has to be finished, and is not yet."""
    numbers: Mapping[InstanceId, int]
    """The places of the open instances in the night."""
    standing: Mapping[int, BatchInstance]
    """What of the night needs a person, by its place among the instances."""
    questions: Mapping[InstanceId, Confirmation]
    """What people are asked, by the instance that waits for the answer."""

    def replays(self, suppose: Suppositions, night: VirtualNight | None = None) -> Iterator[Replayed]:
        """Replay the night, or another one, each time with the lengths and arrivals of another one of the past."""
        return (one for one in self.pieces(suppose, night) if one is not None)

    def pieces(
        self, suppose: Suppositions, night: VirtualNight | None = None, steps: float = math.inf
    ) -> Iterator[Replayed | None]:
        """Yield the same, and None each time after about so many steps."""
        done = 0
        changed = suppose.change(self.night if night is None else night)
        for number in range(self.past.replays):
            coming = [*self.due, *self._arrivals(number, suppose)]
            moved = self._moved(coming, suppose)
            lengths = suppose.lengths(self.past.lengths(number), self.batches)
            passing = moments(replace(changed, instances=[*changed.instances, *moved]), lengths)
            while True:
                try:
                    done += next(passing)
                except StopIteration as end:
                    yield end.value
                    break
                if done >= steps:
                    done = 0
                    yield None

    def moment(self, tick: int | None) -> datetime | None:
        """Return the moment of a tick of the night; None of none, and of one behind the end of time."""
        return None if tick is None or tick > (NEVER - self.now) // TICK else self.now + tick * TICK

    def nights(self, batches: Iterable[BatchId]) -> int:
        """Return how many past nights at least are known of each step of some batches that has ever run."""
        few = (self.past.few((each, step.seq)) for each in batches for step in self.batches[each].steps)
        return min(filter(None, few), default=0)

    def _arrivals(self, number: int, suppose: Suppositions) -> Iterator[VirtualInstance]:
        for batch_id in self.learned:
            arrival = self.past.arrival(number, batch_id, self.clock, self.now)
            if arrival is not None:
                past = self.past.arrivals(batch_id, self.clock)
                key = None if past is None else past.key_of(arrival.day)
                yield VirtualInstance(batch_id=batch_id, cycle_key=key, comes=max((arrival.at - self.now) // TICK, 1))
        known = {self.batches[each].name for each in self.learned}
        for name in suppose.arrivals:
            if name not in known and not any(self.batches[one.batch_id].name == name for one in self.due):
                batch_id = next(key for key, batch in self.batches.items() if batch.name == name)
                past = self.past.arrivals(batch_id, self.clock)
                key = None if past is None else past.key_of(past.day_of(self._next(suppose.arrivals[name])))
                yield VirtualInstance(batch_id=batch_id, cycle_key=key, comes=1)

    def _moved(self, coming: Iterable[VirtualInstance], suppose: Suppositions) -> Iterator[VirtualInstance]:
        later = {**suppose.arrivals}
        for one in sorted(coming, key=lambda each: each.comes):
            minutes = later.pop(self.batches[one.batch_id].name, None)
            yield one if minutes is None else replace(one, comes=max((self._next(minutes) - self.now) // TICK, 1))

    def _next(self, minutes: int) -> datetime:
        """Return the next moment at which the clocks show a time of day."""
        return next_time(self.clock, self.now, minutes)

    def standing_before(self, batch_id: BatchId) -> Iterator[int]:
        """Yield the places in the night of what stands of a batch, or of what it waits for, directly or not."""
        on_way = graph.upstream(self.batches.values(), batch_id) | {batch_id}
        yield from (at for at, one in self.standing.items() if one.batch_id in on_way)


def next_time(clock: WallClock, now: datetime, minutes: int) -> datetime:
    """Return the next moment at which clocks show a time of day."""
    midnight = datetime.combine(clock.day_of(now), time())
    shown = timedelta(minutes=minutes)
    today = clock.meant(midnight + shown)
    return today if today > now else clock.meant(midnight + DAY + shown)


def read_tonight(timetable: Timetable, presence: Presence, name: str | None) -> Tonight:
    """Read what is known; raises `NotFound` where there is no batch of that name."""
    with timetable.transactions.read() as connection:
        context = timetable.context(connection)
        batches = {batch.batch_id: batch for batch in context.batches}
        if name is not None:
            unknown.named(connection, batches.values(), name)
        book = PastBook(context, evidence.expected(connection))
        book.read(connection, [*batches])
        return tonight_of(connection, presence, context, book)


class PastBook:
    """What is read of the past before the night itself, some batches after others."""

    def __init__(self, context: ScheduleContext, expected: Iterable[Expected]) -> None:
        self._now, self._clock = context.now, clock_of(context.zone)
        self._days = business_days(context.calendars.values())
        self._expected = {one.batch_id: one for one in expected}
        self.lessons = Lessons()
        self.came: dict[BatchId, dict[str, datetime]] = {}
        self.came_last: dict[BatchId, datetime] = {}
        self.finish_by: dict[BatchId, datetime] = {}

    def read(self, connection: Connection, batches: Sequence[BatchId]) -> None:
        """Read what is known of some batches."""
        attempts = past_attempts(connection, batches, NIGHTS)
        self.lessons.add(attempts)
        self.came |= _came(attempts, self._clock)
        self.came_last |= last_arrivals(connection, batches)
        for batch_id in batches:
            expected = self._expected.get(batch_id)
            by = expected and next_deadline(connection, expected, self._days, self._clock, self._now)
            if by:
                self.finish_by[batch_id] = by


def tonight_of(
    connection: Connection, presence: Presence, context: ScheduleContext, book: PastBook, most: int = MOST
) -> Tonight:
    """Read the night itself."""
    batches = {batch.batch_id: batch for batch in context.batches}
    due = [*_due(connection, context)]
    fed = {one.batch_id for one in due}
    there = [one for one in reports.open_in(connection, _OPEN, most) if one.batch_id in batches]
    return Tonight(
        now=context.now,
        clock=clock_of(context.zone),
        batches=batches,
        night=_night(connection, presence, batches, there, context.now),
        past=book.lessons.past(batches.values(), book.came, book.came_last),
        due=due,
        learned=[
            batch.batch_id
            for batch in batches.values()
            if batch.enabled and not batch.dependencies and batch.batch_id not in fed
        ],
        finish_by=book.finish_by,
        numbers={one.instance_id: at for at, one in enumerate(there)},
        standing={at: one for at, one in enumerate(there) if one.status in _NEEDS_A_PERSON},
        questions={one.instance_id: one for one in confirmation_rows.open_ones(connection, most)},
    )


def _due(connection: Connection, context: ScheduleContext) -> Iterator[VirtualInstance]:
    """Yield what schedules start within the time that a forecast looks ahead."""
    for schedule in schedule_rows.everything(connection)[0]:
        plan = context.plan_of(schedule.timing) if schedule.enabled else None
        if plan is None:
            continue
        takers = [one for one in takers_of(schedule.entity, context.batches) if one.enabled and is_scheduled(one.mode)]
        for instant in plan.instants(context.now, context.now + AHEAD):
            if instant.due is None or instant.outcome is InstantOutcome.SKIPPED:
                continue
            comes, key = max((instant.due - context.now) // TICK, 1), instant.business_date.isoformat()
            yield from (VirtualInstance(batch_id=one.batch_id, cycle_key=key, comes=comes) for one in takers)


def _night(
    connection: Connection,
    presence: Presence,
    batches: Mapping[BatchId, BatchDefinition],
    there: Iterable[BatchInstance],
    now: datetime,
) -> VirtualNight:
    entries = {entry.instance_id: entry for entry in reports.live_entries(connection, MOST)}
    living = presence.living(connection, now)
    served = {pool for pools in pool_rows.served(connection, living).values() for pool in pools}
    return VirtualNight(
        batches=batches,
        instances=[_virtual(one, batches[one.batch_id], entries.get(one.instance_id), now) for one in there],
        opens={batch.batch_id: _opens(batch, now) for batch in batches.values()},
        waiting=[(one.batch_id, one.completed, one.cycle_key) for one in live.waiting(connection)],
        slots=sum(row.slots for row in living) or None,
        pools=pool_rows.known(connection),
        served=frozenset(served) if living else None,
    )


def _opens(batch: BatchDefinition, now: datetime) -> int | None:
    freeze = freezes.holding(batch, now)
    if freeze is None:
        return 0
    return None if freeze.until is None or freeze.until == NEVER else max((freeze.until - now) // TICK, 0)


def _virtual(one: BatchInstance, batch: BatchDefinition, entry: HistoryEntry | None, now: datetime) -> VirtualInstance:
    step = batch.step_after(one.last_seq)
    allowed = 0 if step is None else batch.retries_after(one.last_seq)
    return VirtualInstance(
        batch_id=one.batch_id,
        cycle_key=one.cycle_key,
        last_seq=one.last_seq,
        not_before=max((one.next_run_time - now) // TICK, 0),
        under_way=None if entry is None else entry.seq,
        elapsed=0 if entry is None else max((now - entry.started_at) // TICK, 0),
        failures=max(allowed - one.retry_count, 0),
        is_retry=one.status is InstanceStatus.RETRY,
        stands=one.status in _NEEDS_A_PERSON,
        is_passed_over=one.status not in STOPPED,
    )


def _came(attempts: Iterable[PastAttempt], clock: WallClock) -> dict[BatchId, dict[str, datetime]]:
    """Return by batch and CycleKey, or day where there is none, when the first instance came."""
    found: dict[BatchId, dict[str, datetime]] = {}
    for one in attempts:
        key = clock.day_of(one.came).isoformat() if one.cycle_key is None else one.cycle_key
        of_batch = found.setdefault(one.batch_id, {})
        of_batch[key] = min(of_batch.get(key, one.came), one.came)
    return found
