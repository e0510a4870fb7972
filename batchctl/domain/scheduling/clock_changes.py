"""What a schedule does in the nights in which the clocks of its zone are put forward or back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum

from batchctl.domain.scheduling.due import Instant, InstantOutcome, Plan
from batchctl.domain.scheduling.wall_clock import WallClock, naive

NEARBY = timedelta(hours=3)
"""How far before and behind a change due times are shown."""

_STEP = timedelta(hours=12)
_SECOND = timedelta(seconds=1)


class RunsOfDay(StrEnum):
    """How often a wall time starts work on the day of a change."""

    ONCE = "once"
    TWICE = "twice"
    NOT = "not at all"


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
        """Describe what happens."""
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
    """A due time of such a night, or a time at which nothing is due because the clocks leave it out."""

    instant: Instant
    runs: RunsOfDay
    is_concerned: bool
    """True when its wall time is one that the clocks leave out or show twice."""
    together: int
    """How many start work at its moment, if it does: those that the clocks leave out are all due when they go on."""

    @property
    def reason(self) -> str | None:
        """Return the reason."""
        several = f"{self.together} are due at this moment" if self.together > 1 else None
        return "; ".join(filter(None, (self.instant.reason, several))) or None


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
    """Return what is due around a change, and how often."""
    found = list(plan.instants(change.at - NEARBY, change.at + NEARBY))
    shown = sorted(
        [*found, *plan.left_out(change.at - _SECOND, change.at)], key=lambda one: (one.due or change.at, one.key)
    )
    return Night(change=change, times=tuple(_time(one, found, change) for one in shown))


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


def _time(instant: Instant, nearby: Sequence[Instant], change: ClockChange) -> NightTime:
    wall = _wall(instant)
    is_concerned = change.concerns(wall)
    if instant.outcome is InstantOutcome.SKIPPED:
        if is_concerned and change.is_forward:
            # It runs at no moment, so show none; in particular not that at which the clocks go on.
            instant = replace(instant, due=None, local=instant.key.replace("T", " "))
        return NightTime(instant=instant, runs=RunsOfDay.NOT, is_concerned=is_concerned, together=0)
    starting = [one for one in nearby if one.outcome is not InstantOutcome.SKIPPED]
    runs = RunsOfDay.TWICE if sum(_wall(one) == wall for one in starting) > 1 else RunsOfDay.ONCE
    together = sum(one.due == instant.due for one in starting)
    return NightTime(instant=instant, runs=runs, is_concerned=is_concerned, together=together)


def _wall(instant: Instant) -> datetime:
    """Return the wall time that an instant is for, whatever the clocks show when it is due."""
    return datetime.fromisoformat(instant.key.removesuffix("+fold"))
