"""Which due times of the past a backfill starts work for, and which it leaves alone: decided here, purely."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, time, timedelta
from enum import StrEnum

from batchctl.domain.scheduling.catch_up import due_of
from batchctl.domain.scheduling.due import Instant, InstantOutcome, Plan
from batchctl.domain.scheduling.schedules import Backfill, Schedule
from batchctl.domain.scheduling.undecided import Before
from batchctl.domain.scheduling.wall_clock import FIRST_DAY
from batchctl.domain.values import value

TICK = timedelta(milliseconds=1)
_FIRST = datetime.combine(FIRST_DAY, time(), UTC)
"""Nothing is due before."""


class Fate(StrEnum):
    """What a backfill makes of a due time."""

    FIRE = "fire"
    DECIDED = "decided"
    """The schedule itself fired or skipped it before, and no due time is decided twice."""
    MISSED = "missed"
    """It was skipped with others while no controller was there; only a backfill that asks for those gets it."""
    SKIPPED = "skipped"
    """The schedule itself skips it: its calendar, or a change of clocks."""


@value
class Stretch:
    """A time in which due times were skipped together: first and last of them."""

    first: datetime
    last: datetime

    def holds(self, due: datetime) -> bool:
        """Say whether a due time is one of them."""
        return self.first <= due <= self.last


@value
class BackfillTurn:
    """What a backfill does next."""

    fires: tuple[Instant, ...]
    done_until: datetime
    """Up to which moment nothing is left to do."""
    is_complete: bool
    has_room: bool
    """True when more could be fired at once."""


def fate_of(instant: Instant, before: Before | None, stretches: Sequence[Stretch], *, missed: bool) -> Fate:
    """Return what becomes of a due time; `missed` when those are wanted that were missed."""
    if instant.outcome is InstantOutcome.SKIPPED:
        return Fate.SKIPPED
    if before is not None:
        return Fate.DECIDED
    if not missed and any(stretch.holds(due_of(instant)) for stretch in stretches):
        return Fate.MISSED
    return Fate.FIRE


def next_turn(
    looked_up: Sequence[tuple[Instant, Before | None]],
    stretches: Sequence[Stretch],
    *,
    missed: bool,
    room: int,
    at_once: int,
    done_until: datetime,
    until: datetime,
    more_follow: bool,
    is_end: bool = True,
) -> BackfillTurn:
    """Choose from the due times that follow: oldest first, no more than there is room for, and so many at once.

    `until` is how far a backfill may go now, and `is_end` says whether it wants no more than that.
    """
    fires = list[Instant]()
    for instant, before in looked_up:
        if fate_of(instant, before, stretches, missed=missed) is not Fate.FIRE:
            continue
        if len(fires) == min(room, at_once):
            # Another of the same moment may have been fired: then its key shows that.
            reached = max(done_until, due_of(instant) - TICK)
            return BackfillTurn(tuple(fires), reached, is_complete=False, has_room=room > len(fires))
        fires.append(instant)
    if more_follow:
        reached = max(done_until, due_of(looked_up[-1][0]) - TICK)
        return BackfillTurn(tuple(fires), reached, is_complete=False, has_room=True)
    return BackfillTurn(tuple(fires), until, is_complete=is_end, has_room=False)


def begin_of(backfill: Backfill) -> datetime:
    """Return up to when nothing is left to do, before anything else is done."""
    return backfill.done_until or max(backfill.first, _FIRST) - TICK


def reach_of(schedule: Schedule, now: datetime) -> datetime:
    """Return up to when due times are past, and no longer the schedule's own to decide."""
    if not schedule.enabled or schedule.decided_until is None:
        return now
    return min(now, schedule.decided_until)


def is_own(schedule: Schedule, plan: Plan, last: datetime, now: datetime) -> bool:
    """Say whether the schedule itself has yet to decide a due time up to a moment, which may be to come."""
    reach = reach_of(schedule, now)
    return last > now or (last > reach and next(plan.instants(reach, last), None) is not None)
