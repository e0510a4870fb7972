"""What a schedule does in the nights in which the clocks of its zone are put forward or back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum

from batchctl.domain.due import Instant, InstantOutcome, Plan
from batchctl.domain.wall_clock import WallClock, naive

AROUND = timedelta(hours=3)
"""How far before and behind a change due times are shown."""

_STEP = timedelta(hours=12)
_SECOND = timedelta(seconds=1)


class Runs(StrEnum):
    """How often a wall time starts work on the day of a change."""

    ONCE = "once"
    TWICE = "twice"
    SKIPPED = "skip"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockChange:
    """A moment at which the clocks of a zone are changed."""

    at: datetime
    before: datetime
    """What they would have shown then, without a zone."""
    after: datetime
    """What they show instead."""

    @property
    def is_forward(self) -> bool:
        """Say whether they leave something out; else they show something twice."""
        return self.after > self.before

    @property
    def words(self) -> str:
        """Say what happens."""
        way = "forward" if self.is_forward else "back"
        shown = f"{self.before:%H:%M} to {self.after:%H:%M}"
        if self.before.date() != self.after.date():
            shown = f"{self.before:%Y-%m-%d %H:%M} to {self.after:%Y-%m-%d %H:%M}"
        return f"{self.before:%a %Y-%m-%d}: the clocks are put {way} from {shown}"

    def concerns(self, wall: datetime) -> bool:
        """Say whether a wall time is one that they leave out or show twice."""
        first, last = sorted((self.before, self.after))
        return first <= wall < last


@dataclass(frozen=True, slots=True, kw_only=True)
class NightTime:
    """A due time of such a night."""

    instant: Instant
    runs: Runs
    is_concerned: bool
    """True when its wall time is one that the clocks leave out or show twice."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Night:
    """A change of clocks, and what is due around it."""

    change: ClockChange
    times: tuple[NightTime, ...]


def changes_of(clock: WallClock, after: datetime, until: datetime) -> tuple[ClockChange, ...]:
    """Return the changes after one moment and not after another, in order."""
    # Clocks are changed at whole seconds.
    return tuple(_changes(clock, naive(after).replace(microsecond=0), naive(until)))


def night_of(plan: Plan, change: ClockChange) -> Night:
    """Say what is due around a change, and how often."""
    found = list(plan.instants(change.at - AROUND, change.at + AROUND))
    return Night(change=change, times=tuple(_time(one, found, change) for one in found))


def _changes(clock: WallClock, after: datetime, until: datetime) -> Iterator[ClockChange]:
    start = after
    while start < until:
        end = min(start + _STEP, until)
        offset = clock.shown(start).utcoffset()
        if clock.shown(end).utcoffset() != offset:
            at = _moment(clock, start, end)
            yield ClockChange(
                at=at.replace(tzinfo=UTC),
                before=at + (offset or timedelta(0)),
                after=clock.shown(at).replace(tzinfo=None),
            )
        start = end


def _moment(clock: WallClock, before: datetime, after: datetime) -> datetime:
    """Return the first moment of a new offset between two with different ones."""
    offset = clock.shown(before).utcoffset()
    while after - before > _SECOND:
        between = before + (after - before) // _SECOND // 2 * _SECOND
        if clock.shown(between).utcoffset() == offset:
            before = between
        else:
            after = between
    return after


def _time(instant: Instant, around: Sequence[Instant], change: ClockChange) -> NightTime:
    wall = _wall(instant)
    same = [one for one in around if _wall(one) == wall and one.outcome is not InstantOutcome.SKIPPED]
    if instant.outcome is InstantOutcome.SKIPPED:
        runs = Runs.SKIPPED
    else:
        runs = Runs.TWICE if len(same) > 1 else Runs.ONCE
    return NightTime(instant=instant, runs=runs, is_concerned=change.concerns(wall))


def _wall(instant: Instant) -> datetime:
    """Return the wall time that an instant is for, whatever the clocks show when it is due."""
    return datetime.fromisoformat(instant.key.removesuffix("+fold"))
