"""Which of a schedule's due times start work once they have come, and which are skipped: decided here, purely."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import chain, groupby, islice, takewhile
from typing import Protocol

from batchctl.domain.scheduling.due import Instant, InstantOutcome, jitter_of
from batchctl.domain.scheduling.schedules import Schedule
from batchctl.domain.status import CatchUp, ScheduleType
from batchctl.domain.values import value

COUNTED = 10_000
"""Up to how many missed due times are counted; beyond that the message only says that there were more."""
SINGLY = 10
"""Up to how many due times skipped by a calendar or a change of clocks get a row each."""
LOOKED_AT = 40_000
"""How many due times are looked at to find the newest that were missed."""
LONGEST = timedelta(days=3660)
"""How far back due times are looked for at all."""
AHEAD = timedelta(seconds=1)
"""By how much two clocks may differ before one of them counts as set back."""
BETWEEN = ".."
"""Separates the keys of the first and the last of a stretch."""
TOGETHER = timedelta(hours=1)
"""For how long due times that are skipped anyway are decided together."""

_TICK = timedelta(milliseconds=1)
_NEAR = timedelta(hours=1)


class Times(Protocol):
    """When a schedule is due: its plan, or as much of it as is not decided yet."""

    def instants(self, after: datetime, until: datetime) -> Iterator[Instant]:
        """Yield what is due after one moment and not after another, in order; skipped ones too."""

    def next_after(self, after: datetime) -> Instant | None:
        """Return the first that is not skipped."""


@value
class ScheduleStanding:
    """Where a schedule stands, as its row has it: NextRunTime, DecidedUntil and TimingHash."""

    next_run_time: datetime | None
    decided_until: datetime | None
    timing_hash: str | None

    def of(self, schedule: Schedule) -> Schedule:
        """Return a schedule as it is once this is written."""
        return replace(
            schedule,
            next_run_time=self.next_run_time,
            decided_until=self.decided_until,
            timing_hash=self.timing_hash,
        )


@value
class ScheduleFinding:
    """What keeps a schedule from being decided, although a controller is there."""

    since: datetime
    message: str


DISARMED = ScheduleStanding(None, None, None)


@value
class Fire:
    """A due time that starts work."""

    instant: Instant
    late: timedelta
    """How long after it this is; zero where it is on time."""

    @property
    def key(self) -> str:
        """Return what identifies it."""
        return self.instant.key

    @property
    def due(self) -> datetime:
        """Return when it is due."""
        return due_of(self.instant)

    @property
    def made_up(self) -> str | None:
        """Return how late it starts; None where it is on time."""
        return f"made up for, {_span(self.late)} late" if self.late else None

    @property
    def wording(self) -> str:
        """Describe when it is due, why then, and how late it is."""
        why = f" ({self.instant.reason})" if self.instant.reason else ""
        return f"due {self.instant.local}{why}{f'; {self.made_up}' if self.made_up else ''}"


@value
class Skip:
    """A due time that starts nothing, or a whole stretch of them."""

    key: str
    due: datetime
    due_until: datetime | None
    """The last of a stretch; None for one due time."""
    instants: int
    reason: str

    @property
    def shown(self) -> str:
        """Return the key or keys: a stretch of one is named by that one."""
        return self.key.partition(BETWEEN)[0] if self.instants == 1 else self.key

    def holds(self, instant: Instant) -> bool:
        """Say whether an instant that does not start work belongs to it."""
        return self.due <= due_of(instant) <= (self.due_until or self.due)


@value
class Decision:
    """What is decided at one moment."""

    fires: tuple[Fire, ...]
    skips: tuple[Skip, ...]
    decided_until: datetime

    @property
    def in_order(self) -> list[Fire | Skip]:
        """Return what is decided, the earliest due first."""
        every: list[Fire | Skip] = [*self.fires, *self.skips]
        return sorted(every, key=lambda one: (one.due, one.key))


def standing_of(schedule: Schedule) -> ScheduleStanding:
    """Return what stands on its row."""
    return ScheduleStanding(schedule.next_run_time, schedule.decided_until, schedule.timing_hash)


def arm(schedule: Schedule, plan: Times | None, timing_hash: str, now: datetime, *, is_let: bool) -> ScheduleStanding:
    """Return where a schedule stands from now on.

    One that is disabled, or whose batches are started otherwise, begins anew when that ends. One whose timing was
    changed makes up for nothing of what was due before, by the old timing or by the new. One whose timing cannot be
    understood keeps its place.
    """
    if not (schedule.enabled and is_let):
        return DISARMED
    if plan is None:
        return ScheduleStanding(None, schedule.decided_until, schedule.timing_hash)
    decided_until = schedule.decided_until
    is_changed = schedule.timing_hash not in {None, timing_hash}
    if decided_until is None or is_changed or is_ahead(schedule, now):
        decided_until = now
    return ScheduleStanding(next_run(schedule, plan, decided_until, now), decided_until, timing_hash)


def is_missed(schedule: Schedule, standing: ScheduleStanding, undecided: Times, now: datetime) -> bool:
    """Say whether the only time of a schedule was over before any controller could know of it: it will never run."""
    is_over = schedule.timing.schedule_type is ScheduleType.ONCE and standing.next_run_time is None
    return is_over and undecided.next_after(now - LONGEST) is not None


def is_ahead(schedule: Schedule, now: datetime) -> bool:
    """Say whether a schedule is decided beyond this moment: then a clock was set back since."""
    return schedule.decided_until is not None and schedule.decided_until > now + AHEAD


def next_run(schedule: Schedule, plan: Times, decided_until: datetime, now: datetime) -> datetime | None:
    """Return when the first due time behind those that are decided starts work, if there is any."""
    found = plan.next_after(max(decided_until, now - LONGEST))
    return None if found is None else _starts_at(schedule, found)


def wakes_at(plan: Times, standing: ScheduleStanding, now: datetime) -> datetime | None:
    """Return when there is something to decide: skips are logged too when they are due, but not one by one."""
    if standing.decided_until is None:
        return None
    after, until = max(standing.decided_until, now - LONGEST), standing.next_run_time
    for instant in plan.instants(after, until or after + LONGEST / 10):
        if instant.outcome is InstantOutcome.SKIPPED:
            told_at = max(due_of(instant), after + TOGETHER)
            return told_at if until is None else min(told_at, until)
        break
    return until


def decide(
    schedule: Schedule, plan: Times, now: datetime, grace: timedelta, failure: ScheduleFinding | None = None
) -> Decision:
    """Decide the due times between those decided and now, except those whose jitter lets them wait.

    What was on time when a `failure` began that is over now still fires.
    """
    after = max(schedule.decided_until or now, now - LONGEST)
    kept = [] if failure is None else _on_time(schedule, plan, after, min(failure.since, now), grace)
    plan = _Others(plan, frozenset(each.key for each in kept)) if kept else plan
    # What was due by then is missed, whatever its jitter; it may be any number.
    old = max(after, now - grace - schedule.jitter - _TICK)
    recent = list(_in_turn(schedule, plan.instants(old, now)))
    pending = next((due_of(instant) for instant, at in recent if at > now), None)
    missed = [instant for instant, at in recent if at + grace < now]
    ready = [instant for instant, at in recent if at + grace >= now >= at]
    caught = _caught_up(schedule, plan, after, old, missed)
    fires, rest = [Fire(each, now - due_of(each)) for each in caught], list[Instant]()
    if caught:
        first = _order(caught[0])
        behind = chain(plan.instants(max(after, due_of(caught[0]) - _TICK), old), missed)
        rest = [each for each in behind if _order(each) >= first]
    before, stretch = _missed(schedule, plan, after, old, missed, caught, failure)
    still = [Fire(each, now - due_of(each)) for each in kept]
    on_time = [Fire(each, timedelta(0)) for each in ready if each.outcome is not InstantOutcome.SKIPPED]
    return Decision(
        fires=(*still, *fires, *on_time),
        skips=(*stretch, *_skipped([*before, *rest, *ready])),
        decided_until=now if pending is None else pending - _TICK,
    )


def due_of(instant: Instant) -> datetime:
    """Return when an instant is due; only those of a preview may have no time."""
    if instant.due is None:
        message = f"{instant.key} is never due"
        raise ValueError(message)
    return instant.due


@value
class _Others:
    """A plan without some due times."""

    plan: Times
    without: frozenset[str]

    def instants(self, after: datetime, until: datetime) -> Iterator[Instant]:
        return (each for each in self.plan.instants(after, until) if each.key not in self.without)

    def next_after(self, after: datetime) -> Instant | None:
        return self.plan.next_after(after)


def _on_time(schedule: Schedule, plan: Times, after: datetime, now: datetime, grace: timedelta) -> list[Instant]:
    """Return what would start work at a moment, if it were decided then."""
    begin = max(after, now - grace - schedule.jitter - _TICK)
    found = _in_turn(schedule, plan.instants(begin, now))
    return [each for each, at in found if at + grace >= now >= at and each.outcome is not InstantOutcome.SKIPPED]


def _starts_at(schedule: Schedule, instant: Instant) -> datetime:
    due = due_of(instant)
    return due + jitter_of(schedule.name, instant, schedule.jitter) if schedule.jitter else due


def _in_turn(schedule: Schedule, instants: Iterable[Instant]) -> Iterator[tuple[Instant, datetime]]:
    """Yield instants with the moments at which they start work: none overtakes an earlier one."""
    reached: datetime | None = None
    for instant in instants:
        starts_at = due_of(instant) if instant.outcome is InstantOutcome.SKIPPED else _starts_at(schedule, instant)
        reached = starts_at if reached is None else max(reached, starts_at)
        yield instant, reached


def _caught_up(schedule: Schedule, plan: Times, after: datetime, old: datetime, missed: list[Instant]) -> list[Instant]:
    """Return the newest of what was missed, as many as are to be made up for."""
    most = {CatchUp.NONE: 0, CatchUp.LATEST: 1, CatchUp.UP_TO: schedule.catch_up_most or 0}[schedule.catch_up]
    if most == 0:
        return []
    found = [each for each in missed if each.outcome is not InstantOutcome.SKIPPED][-most:]
    if len(found) < most:
        found = [*_newest(plan, after, old, most - len(found)), *found]
    return found


def _newest(plan: Times, after: datetime, until: datetime, most: int) -> list[Instant]:
    """Return the newest instants of a time that are not skipped: looked for backwards, in ever longer pieces."""
    found, span, start = list[Instant](), _NEAR, until
    while start > after and len(found) < most:
        start = max(after, until - span)
        looked = list(islice(plan.instants(start, until), LOOKED_AT + 1))
        if len(looked) > LOOKED_AT:
            break
        found = [each for each in looked if each.outcome is not InstantOutcome.SKIPPED]
        span *= 4
    return found[-most:]


def _missed(
    schedule: Schedule,
    plan: Times,
    after: datetime,
    old: datetime,
    missed: list[Instant],
    caught: list[Instant],
    failure: ScheduleFinding | None,
) -> tuple[list[Instant], list[Skip]]:
    """Return the stretch of what was missed and is not made up for, if there is any: one, however long it is.

    What would have been skipped anyway was not missed; where all of it was, it is returned apart.
    """
    end = _order(caught[0]) if caught else None
    whole = chain(plan.instants(after, old), missed)
    counted = list(islice(takewhile(lambda each: end is None or _order(each) < end, whole), COUNTED + 1))
    is_counted = len(counted) <= COUNTED
    if is_counted and all(each.outcome is InstantOutcome.SKIPPED for each in counted):
        return counted, []
    first, last = counted[0], counted[-1] if is_counted else _last(plan, after, old, missed, end)
    number, why = min(len(counted), COUNTED), _why_missed(schedule, len(counted), failure, has_caught_up=bool(caught))
    return [], [Skip(f"{first.key}{BETWEEN}{last.key}", due_of(first), due_of(last), number, why)]


def _last(
    plan: Times, after: datetime, old: datetime, missed: list[Instant], end: tuple[datetime, str] | None
) -> Instant:
    """Return the last instant of a stretch too long to be counted, which is looked for from its end."""
    found = [each for each in missed if end is None or _order(each) < end]
    until, span = old if end is None else min(old, end[0]), _NEAR
    while not found:
        start = max(after, until - span)
        found = [each for each in plan.instants(start, until) if end is None or _order(each) < end]
        span *= 4
    return found[-1]


def _why_missed(schedule: Schedule, number: int, failure: ScheduleFinding | None, *, has_caught_up: bool) -> str:
    said = "its due time was missed" if number == 1 else f"{number:,} due times were missed"
    if number > COUNTED:
        said = f"more than {COUNTED:,} due times were missed"
    policy = str(schedule.catch_up) if schedule.catch_up_most is None else f"up to {schedule.catch_up_most}"
    made_up = "; what came later was made up for" if has_caught_up else ""
    cause = "with no controller there in time" if failure is None else f"because of {failure.message.rstrip('.')}"
    return f"{said}, {cause}, and CatchUp is {policy}{made_up}"


def _skipped(instants: Iterable[Instant]) -> Iterator[Skip]:
    """Yield the skips of a calendar or a change of clocks, each by itself; a long row of them as one."""
    for is_skipped, row in groupby(instants, lambda each: each.outcome is InstantOutcome.SKIPPED):
        group = list(row)
        if is_skipped and len(group) > SINGLY:
            first, last = group[0], group[-1]
            said = f"{len(group):,} due times are skipped; of the first: {first.reason}"
            yield Skip(f"{first.key}{BETWEEN}{last.key}", due_of(first), due_of(last), len(group), said)
        elif is_skipped:
            for each in group:
                yield Skip(each.key, due_of(each), None, 1, each.reason or "skipped")


def _span(time: timedelta) -> str:
    minutes, seconds = divmod(int(time.total_seconds()), 60)
    if minutes == 0:
        return f"{seconds} s"
    days, hours = minutes // 1440, minutes % 1440 // 60
    if days:
        return f"{days} d {hours} h"
    return f"{hours} h {minutes % 60} min" if hours else f"{minutes} min"


def _order(instant: Instant) -> tuple[datetime, str]:
    return due_of(instant), instant.key
