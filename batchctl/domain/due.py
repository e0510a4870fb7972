"""When a schedule is due: instants computed from its timing, purely."""

from __future__ import annotations

import hashlib
import json
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, fields
from datetime import UTC, date, datetime, time, timedelta
from enum import StrEnum
from itertools import groupby

from batchctl.domain.outcomes import Problem
from batchctl.domain.schedules import Calendar, Timing
from batchctl.domain.status import CalendarRule, FoldPolicy, GapPolicy, ScheduleType
from batchctl.domain.timing_text import ReadTiming, is_within, read_timing
from batchctl.domain.timing_words import words_of
from batchctl.domain.wall_clock import DAY, FIRST_DAY, LAST_DAY, LocalDay, naive

FORESIGHT = timedelta(days=50 * 366)
"""How far ahead the next due time is looked for: 29 February falls on a Monday every 28 years, over 2100 after 40."""

_ONE_PASS_MORE = 2 * DAY
"""A day's last due time is not later than this after its beginning and a change of clocks by a whole day."""


class InstantOutcome(StrEnum):
    """What comes of a due time as far as its timing says."""

    FIRES = "fires"
    SHIFTED = "shifted"
    SKIPPED = "skipped"


class UnfitTiming(ValueError):
    """A timing that says nothing: which column is wrong, and how."""

    def __init__(self, column: str, message: str) -> None:
        """Say what is wrong with a column."""
        super().__init__(f"{column}: {message}")
        self.column = column
        self.message = message


@dataclass(frozen=True, slots=True, kw_only=True)
class Instant:
    """A due time."""

    key: str
    """What identifies it within its schedule: its wall time, and `+fold` for the second time that clocks show it."""
    due: datetime | None
    """None only of a day that does not exist, which only `preview` shows."""
    local: str
    """What the clocks show when it is due, with their offset from UTC."""
    business_date: date
    """The day it is for, before any shift."""
    outcome: InstantOutcome
    reason: str | None = None


_Due = tuple[datetime, Instant]
"""When something is due, in UTC, and what it is."""


@dataclass(frozen=True, slots=True)
class Plan:
    """When a schedule is due."""

    words: str
    timing: Timing
    read: ReadTiming

    def instants(self, after: datetime, until: datetime) -> Iterator[Instant]:
        """Yield what is due after one moment and not after another, in order; skipped ones too."""
        return (instant for _, instant in self._due(naive(after), naive(until), wanted=_everything))

    def next_after(self, after: datetime) -> Instant | None:
        """Return the first that is not skipped; None when there is none in fifty years."""
        start = naive(after)
        due = self._due(start, naive(_later(after)), wanted=self._fires_on)
        return next((instant for _, instant in due if instant.outcome is not InstantOutcome.SKIPPED), None)

    def preview(self, after: datetime, until: datetime) -> Iterator[Instant]:
        """Yield the same as `instants`, and the days that a month does not have."""
        missing = self._missing(naive(after), naive(until))
        waiting = next(missing, None)
        for due, instant in self._due(naive(after), naive(until), wanted=_everything):
            while waiting is not None and waiting[0] <= due:
                yield waiting[1]
                waiting = next(missing, None)
            yield instant
        if waiting is not None:
            yield waiting[1]
        yield from (instant for _, instant in missing)

    def _due(self, after: datetime, until: datetime, wanted: Callable[[date], bool]) -> Iterator[_Due]:
        """Yield in order what is due on the days that are wanted.

        Days come in order, but the last times of one may come after the first of the next, when clocks are put back
        at midnight; they wait until nothing can come before them.
        """
        clock, waiting = self.read.clock, list[_Due]()
        for day, nominal in self._days(clock.day_of(after.replace(tzinfo=UTC)), until):
            local = clock.day(day)
            if local.start > until:
                break
            yield from _taken(waiting, local.start)
            if not wanted(day):
                continue
            due = ((at, one) for at, one in self._of_day(day, nominal, after) if after < at <= until)
            if local.offset is not None and not waiting:
                yield from due
            else:
                waiting += due
        yield from _taken(waiting, None)

    def _days(self, start: date, until: datetime) -> Iterator[tuple[date, list[date]]]:
        """Yield the days on which something is due, in order, with the days that it is due for."""
        first = max(start - _ONE_PASS_MORE, FIRST_DAY)
        last = min(until.date() + _ONE_PASS_MORE, LAST_DAY)
        calendar = self.read.calendar
        step = _STEP.get(self.timing.calendar_rule)
        if calendar is None or step is None:
            yield from ((day, [day]) for day in self.read.days.days(first, last))
            return
        # What was due on days off before the first day may be shifted to it or behind it.
        earliest = (
            (calendar.nearest(first - DAY, -DAY) or first) if step > timedelta(0) and first > FIRST_DAY else first
        )
        latest = LAST_DAY if step < timedelta(0) else last
        nominal = self.read.days.days(earliest, latest)
        for day, group in groupby(nominal, lambda day: calendar.nearest(day, step) or day):
            if day >= first:
                yield day, list(group)

    def _fires_on(self, day: date) -> bool:
        """Say whether the calendar lets anything be due on a day."""
        calendar = self.read.calendar
        if calendar is None:
            return True
        return calendar.is_business_day(day) is not (self.timing.calendar_rule is CalendarRule.DAYS_OFF)

    def _of_day(self, day: date, nominal: list[date], after: datetime) -> Iterator[_Due]:
        local = self.read.clock.day(day)
        outcome, reason = self._outcome(day, nominal)
        business_date = day if day in nominal else nominal[0]
        if local.offset is not None:
            yield from self._of_ordinary_day(day, local, local.offset, business_date, outcome, reason, after)
            return
        for wall, due, is_second, said in self._of_change_day(day):
            skips = said is not None and self.timing.gap_policy is GapPolicy.SKIP
            shown = self.read.clock.shown(due)
            yield (
                due,
                Instant(
                    key=_key(wall) + ("+fold" if is_second else ""),
                    due=due.replace(tzinfo=UTC),
                    local=f"{_shown(shown.replace(tzinfo=None))} {_offset(shown.utcoffset() or timedelta(0))}",
                    business_date=business_date,
                    outcome=InstantOutcome.SKIPPED if skips else outcome,
                    reason=reason if said is None else said if reason is None else f"{reason}; {said}",
                ),
            )

    def _of_ordinary_day(
        self,
        day: date,
        local: LocalDay,
        offset: timedelta,
        business_date: date,
        outcome: InstantOutcome,
        reason: str | None,
        after: datetime,
    ) -> Iterator[_Due]:
        times, zone = self.read.times, _offset(offset)
        passed = 0 if after < local.start else bisect_right(times, (after - local.start) // timedelta(seconds=1))
        for seconds in times[passed:]:
            due = local.start + timedelta(seconds=seconds)
            shown = _clock_time(seconds)
            yield (
                due,
                Instant(
                    key=f"{day}T{shown}",
                    due=due.replace(tzinfo=UTC),
                    local=f"{day} {shown} {zone}",
                    business_date=business_date,
                    outcome=outcome,
                    reason=reason,
                ),
            )

    def _of_change_day(self, day: date) -> Iterator[tuple[datetime, datetime, bool, str | None]]:
        """Yield wall time, due time, whether it is the second pass, and what a gap does to it."""
        if self.timing.schedule_type is ScheduleType.INTERVAL:
            yield from self._elapsed(day)
            return
        is_rhythm = self.read.cron is not None and self.read.cron.is_rhythm
        twice = self.timing.fold_policy is FoldPolicy.TWICE and self.timing.schedule_type is not ScheduleType.ONCE
        for seconds in self.read.times:
            wall = datetime.combine(day, time()) + timedelta(seconds=seconds)
            moments = self.read.clock.moments(wall)
            if moments.exists:
                yield wall, moments.first, False, None
            elif not is_rhythm:
                yield wall, moments.first, False, self._gap(wall, moments.first)
            if moments.second is not None and (is_rhythm or twice):
                yield wall, moments.second, True, None

    def _elapsed(self, day: date) -> Iterator[tuple[datetime, datetime, bool, str | None]]:
        """Yield the times of an interval, which goes by elapsed time from the first moment of each day.

        The last times of a day may come after the next has begun, when clocks are put back just after midnight.
        """
        step = timedelta(minutes=self.timing.interval_minutes or DAY // timedelta(minutes=1))
        for segment in (day, day + DAY):
            local = self.read.clock.day(segment)
            due = local.start
            while due < local.end:
                shown = self.read.clock.shown(due)
                seconds = shown.hour * 3600 + shown.minute * 60 + shown.second
                if shown.date() == day and (self.read.window is None or is_within(self.read.window, seconds)):
                    yield shown.replace(tzinfo=None, fold=0), due, shown.fold == 1, None
                due += step

    def _gap(self, wall: datetime, first: datetime) -> str:
        shown = self.read.clock.shown(first)
        return f"{_shown(wall)} does not exist in {self.read.zone}: the clocks go on at {_shown(shown.replace(tzinfo=None))}"

    def _outcome(self, day: date, nominal: list[date]) -> tuple[InstantOutcome, str | None]:
        calendar = self.read.calendar
        if calendar is None:
            return InstantOutcome.FIRES, None
        if not self._fires_on(day):
            return InstantOutcome.SKIPPED, calendar.said(day)
        moved = "; ".join(calendar.said(one) for one in nominal if one != day) or None
        if day in nominal:
            return InstantOutcome.FIRES, moved and f"also in place of another day: {moved}"
        return InstantOutcome.SHIFTED, moved

    def _missing(self, after: datetime, until: datetime) -> Iterator[_Due]:
        clock = self.read.clock
        first, last = clock.day_of(after.replace(tzinfo=UTC)), clock.day_of(until.replace(tzinfo=UTC))
        for missing in self.read.days.missing(first, last):
            end = (missing.month + timedelta(days=31)).replace(day=1)
            at = clock.day(end).start
            if after < at <= until:
                yield (
                    at,
                    Instant(
                        key=missing.key,
                        due=None,
                        local=missing.key,
                        business_date=end - DAY,
                        outcome=InstantOutcome.SKIPPED,
                        reason=missing.reason,
                    ),
                )


_STEP = {CalendarRule.NEXT: DAY, CalendarRule.PREVIOUS: -DAY}


def plan_of(timing: Timing, default_zone: str, calendar: Calendar | None) -> Plan:
    """Return when a schedule is due; raises `UnfitTiming`."""
    read, wrong = read_timing(timing, default_zone, calendar)
    if wrong:
        raise UnfitTiming(wrong[0].column, wrong[0].message)
    return Plan(words_of(timing, read), timing, read)


def problems(timing: Timing, default_zone: str, calendar: Calendar | None, calendars: Collection[str]) -> list[Problem]:
    """Return all that is wrong with a timing."""
    return read_timing(timing, default_zone, calendar, calendars)[1]


def timing_hash(timing: Timing, default_zone: str) -> str:
    """Return what changes whenever a timing does, but not when its calendar's days do."""
    said = {field.name: getattr(timing, field.name) for field in fields(timing)}
    said["time_zone"] = default_zone if timing.time_zone is None else timing.time_zone
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode("ascii")).hexdigest()


def jitter_of(schedule_name: str, instant: Instant, most: timedelta) -> timedelta:
    """Return how much later than due an instant fires: the same whoever asks, and whenever."""
    digest = hashlib.sha256(f"{schedule_name}\n{instant.key}".encode("utf-8", "surrogatepass")).digest()
    return timedelta(seconds=int.from_bytes(digest[:8], "big") % (int(most.total_seconds()) + 1))


def _taken(waiting: list[_Due], before: datetime | None) -> list[_Due]:
    """Take out in order what is due before a moment; everything without one."""
    waiting.sort(key=lambda one: (one[0], one[1].key))
    count = len(waiting) if before is None else bisect_left(waiting, before, key=lambda one: one[0])
    taken = waiting[:count]
    del waiting[:count]
    return taken


def _everything(_: date) -> bool:
    return True


def _later(after: datetime) -> datetime:
    latest = datetime.max.replace(tzinfo=UTC)
    return after + FORESIGHT if after < latest - FORESIGHT else latest


def _key(wall: datetime) -> str:
    return wall.isoformat(timespec="seconds" if wall.second else "minutes")


def _shown(wall: datetime) -> str:
    return wall.isoformat(" ", "seconds" if wall.second else "minutes")


def _clock_time(seconds: int) -> str:
    minutes, rest = divmod(seconds, 60)
    return f"{minutes // 60:02}:{minutes % 60:02}" + (f":{rest:02}" if rest else "")


def _offset(offset: timedelta) -> str:
    sign, length = ("-", -offset) if offset < timedelta(0) else ("+", offset)
    return f"{sign}{_clock_time(int(length.total_seconds()))}"
