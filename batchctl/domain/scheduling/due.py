"""When a schedule is due: instants computed from its timing, purely."""

from __future__ import annotations

import hashlib
import json
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, date, datetime, time, timedelta
from enum import StrEnum
from heapq import merge
from itertools import groupby, takewhile

from batchctl.domain.outcomes import Finding
from batchctl.domain.scheduling.business_days import FARTHEST, BusinessDays
from batchctl.domain.scheduling.column_text import window_of_day
from batchctl.domain.scheduling.day_times import left_out, times_of
from batchctl.domain.scheduling.schedules import Calendar, Timing
from batchctl.domain.scheduling.timing_text import ReadTiming, is_within, read_timing
from batchctl.domain.scheduling.timing_words import words_of
from batchctl.domain.scheduling.wall_clock import DAY, FIRST_DAY, LAST_DAY, naive
from batchctl.domain.status import CalendarRule, GapPolicy

FORESIGHT = timedelta(days=50 * 366)
"""How far ahead the next due time is looked for: 29 February falls on a Monday every 28 years, over 2100 after 40."""

_SECOND = "+fold"
"""The end of the key of the second time that clocks show a time."""
_ONE_PASS_MORE = 2 * DAY
"""A day's last due time is not later than this after its beginning and a change of clocks by a whole day."""


class InstantOutcome(StrEnum):
    """What becomes of a due time as far as its timing decides."""

    FIRES = "fires"
    SHIFTED = "shifted"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """A day off that a shift has led over, and what would be due on it if it were none."""

    day: date
    key: str
    is_stood_for: bool
    """True where something is due on it apart from the calendar; False where it only lies between."""


class UnfitTiming(ValueError):
    """A timing that makes no sense: `column` and `message` are of the first finding, `findings` are all."""

    def __init__(self, findings: Sequence[Finding]) -> None:
        """Keep what is wrong; `findings` has at least one."""
        super().__init__(" ".join(f"{finding.column}: {finding.message}" for finding in findings))
        self.findings = tuple(findings)
        self.column, self.message = findings[0].column, findings[0].message


@dataclass(frozen=True, slots=True, kw_only=True)
class Instant:
    """A due time."""

    key: str
    """What identifies it within its schedule: its wall time, and `+fold` for the second time that clocks show it."""
    due: datetime | None
    """None only of what does not exist and is shown all the same: a day that a month does not have, a time left out."""
    local: str
    """What the clocks show when it is due, with their offset from UTC; without an offset, what they never show."""
    business_date: date
    """The day it is for, before any shift."""
    outcome: InstantOutcome
    reason: str | None = None
    led_over: tuple[Elsewhere, ...] = ()
    """Of one that is shifted: the days between, the one farthest away first."""


_Due = tuple[datetime, Instant]
"""When something is due, in UTC, and what it is."""


@dataclass(frozen=True, slots=True)
class Plan:
    """When a schedule is due."""

    timing: Timing
    read: ReadTiming

    @property
    def words(self) -> str:
        """Describe when it is due, for people."""
        return words_of(self.timing, self.read.zone, is_rhythm=self.read.is_rhythm)

    def closed(self, moment: datetime) -> str | None:
        """Return the message that the calendar lets nothing be due on the day of a moment; None where it does."""
        day = self.read.clock.day_of(moment)
        return None if self.read.calendar is None or self._fires_on(day) else self.read.calendar.wording(day)

    def outside(self, moment: datetime) -> str | None:
        """Return how a moment lies before StartDate, after EndDate or outside of BetweenTimes; None if it does not."""
        clock, day = self.read.clock, self.read.clock.day_of(moment)
        if day < self.read.days.first:
            return f"StartDate is {self.read.days.first}"
        if day > self.read.days.last:
            return f"EndDate was {self.read.days.last}"
        window = window_of_day(self.timing.between_times)
        shown = clock.shown(naive(moment))
        if window is None or is_within(window, shown.hour * 3600 + shown.minute * 60 + shown.second):
            return None
        return f"it is {shown:%H:%M} in {self.read.zone}, and BetweenTimes is {self.timing.between_times}"

    def instants(self, after: datetime, until: datetime) -> Iterator[Instant]:
        """Yield what is due after one moment and not after another, in order; skipped ones too."""
        return (instant for _, instant in self._due(naive(after), naive(until), wanted=_everything))

    def next_after(self, after: datetime) -> Instant | None:
        """Return the first that is not skipped; None when there is none in fifty years."""
        start = naive(after)
        due = self._due(start, naive(_later(after)), wanted=self._fires_on)
        return next((instant for _, instant in due if instant.outcome is not InstantOutcome.SKIPPED), None)

    def preview(self, after: datetime, until: datetime) -> Iterator[Instant]:
        """Yield the same as `instants`, the days that a month does not have, and those that run with another day."""
        start, end = naive(after), naive(until)
        missing = merge(self._missing(start, end), self._merged(start, end), key=lambda one: one[0])
        waiting = next(missing, None)
        for due, instant in self._due(naive(after), naive(until), wanted=_everything):
            while waiting is not None and waiting[0] <= due:
                yield waiting[1]
                waiting = next(missing, None)
            yield instant
        if waiting is not None:
            yield waiting[1]
        yield from (instant for _, instant in missing)

    def left_out(self, after: datetime, until: datetime) -> Iterator[Instant]:
        """Yield the times of a rhythm that clocks leave out as they go on after one moment and not after another."""
        begin, end = naive(after), naive(until)
        for day, nominal in self._days(self.read.clock.day_of(after), end):
            _, reason = self._outcome(day, nominal)
            for one in left_out(self.read, day):
                if begin < one.due <= end:
                    yield Instant(
                        key=one.key,
                        due=None,
                        local=one.local,
                        business_date=_business_date(day, nominal),
                        outcome=InstantOutcome.SKIPPED,
                        reason="; ".join(filter(None, (reason, one.gap))),
                    )

    def led_from(self, after: datetime, until: datetime) -> tuple[datetime, datetime]:
        """Return between which moments all lies that a shift may move into a period."""
        clock, calendar, step = self.read.clock, self.read.calendar, _STEP.get(self.timing.calendar_rule)
        if calendar is None or step is None:
            return after, until
        if step > timedelta(0):
            first = _business_day_before(calendar, clock.day_of(after) - DAY)
            return min(after, clock.day(first).start.replace(tzinfo=UTC)), until
        last = _business_day_after(calendar, clock.day_of(until) + DAY)
        return after, max(until, clock.day(last).start.replace(tzinfo=UTC) + DAY)

    def _due(self, after: datetime, until: datetime, wanted: Callable[[date], bool]) -> Iterator[_Due]:
        """Yield in order what is due on the days that are wanted.

        Days come in order, but the last times of one may come after the first of the next, when clocks are put back
        at midnight; they wait until nothing can come before them.
        """
        clock, waiting = self.read.clock, list[_Due]()
        for day, nominal in self._days(clock.day_of(after.replace(tzinfo=UTC)), until):
            is_wanted = wanted(day)
            if not is_wanted and not waiting:
                continue
            local = clock.day(day)
            if local.start > until:
                break
            yield from _taken(waiting, local.start)
            if not is_wanted:
                continue
            due = (each for each in self._of_day(day, nominal, after) if after < each[0])
            if local.offset is not None and not waiting:
                # They come in order, and a caller that wants a few minutes does not need the rest of the day.
                yield from takewhile(lambda each: each[0] <= until, due)
            else:
                waiting += (each for each in due if each[0] <= until)
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
        earliest, latest = first, last
        if step > timedelta(0):
            # What was due on days off before the first day is shifted to it, or behind it.
            earliest = max(calendar.nearest(first - DAY, -DAY) or first - FARTHEST * DAY, FIRST_DAY)
        else:
            latest = min(last + FARTHEST * DAY, LAST_DAY)
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
        outcome, reason = self._outcome(day, nominal)
        business_date, steps = _business_date(day, nominal), _steps(day, nominal)
        for one in times_of(self.timing, self.read, day, after):
            skips = one.gap is not None and self.timing.gap_policy is GapPolicy.SKIP
            instant = Instant(
                key=one.key,
                due=one.due.replace(tzinfo=UTC),
                local=one.local,
                business_date=business_date,
                outcome=InstantOutcome.SKIPPED if skips else outcome,
                reason="; ".join(filter(None, (reason, one.gap))) or None,
                led_over=tuple(Elsewhere(off, _key_on(off, one.key), off in nominal) for off in steps),
            )
            yield one.due, instant

    def _outcome(self, day: date, nominal: list[date]) -> tuple[InstantOutcome, str | None]:
        calendar = self.read.calendar
        if calendar is None:
            return InstantOutcome.FIRES, None
        if not self._fires_on(day):
            shift = ", and no other is near" if self.timing.calendar_rule in _STEP else ""
            return InstantOutcome.SKIPPED, f"{calendar.wording(day)}{shift}"
        moved = "; ".join(calendar.wording(one) for one in nominal if one != day) or None
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

    def _merged(self, after: datetime, until: datetime) -> Iterator[_Due]:
        """Yield the days off of which no due time is left, since another day is due at the same time."""
        clock, calendar, step = self.read.clock, self.read.calendar, _STEP.get(self.timing.calendar_rule)
        if calendar is None or step is None:
            return
        first, last = clock.day_of(after.replace(tzinfo=UTC)), clock.day_of(until.replace(tzinfo=UTC))
        nominal = self.read.days.days(_business_day_before(calendar, first), _business_day_after(calendar, last))
        for day, group in groupby(nominal, lambda one: calendar.nearest(one, step) or one):
            days = list(group)
            for off in days:
                at = clock.day(off).start
                if off not in {day, _business_date(day, days)} and after < at <= until:
                    yield at, _with(day, off, calendar.wording(off))


_LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)
_NARROWING = (
    ("RunDaysOfMonth", "run_days_of_month"),
    ("WeekOfMonth", "week_of_month"),
    ("RunAt", "run_at"),
    ("Cron", "cron"),
    ("CalendarName", "calendar_name"),
    ("EndDate", "end_date"),
)
"""The columns that may leave nothing over, the likeliest first."""

_STEP = {CalendarRule.NEXT: DAY, CalendarRule.PREVIOUS: -DAY}


def plan_of(timing: Timing, default_zone: str, calendar: Calendar | None) -> Plan:
    """Return when a schedule is due; raises `UnfitTiming`."""
    read, wrong = read_timing(timing, default_zone, calendar)
    if wrong:
        raise UnfitTiming(wrong)
    return Plan(timing, read)


def findings(timing: Timing, default_zone: str, calendar: Calendar | None, calendars: Collection[str]) -> list[Finding]:
    """Return all that is wrong with a timing, also that it is never due."""
    read, wrong = read_timing(timing, default_zone, calendar, calendars)
    return wrong or list(never(Plan(timing, read)))


def never(plan: Plan) -> Iterator[Finding]:
    """Yield the finding that nothing is ever due."""
    begin = datetime.combine(plan.read.days.first, time(), UTC) - _ONE_PASS_MORE
    if plan.next_after(max(begin, _LONG_AGO)) is None:
        narrowing = next(
            (column for column, field in _NARROWING if getattr(plan.timing, field) is not None), "ScheduleType"
        )
        yield Finding(narrowing, f"It is never due ({plan.words}): no day of fifty years fits all that is asked for.")


def timing_hash(timing: Timing, default_zone: str) -> str:
    """Return what changes whenever a timing does, but not when its calendar's days do."""
    said = {field.name: getattr(timing, field.name) for field in fields(timing)}
    said["time_zone"] = default_zone if timing.time_zone is None else timing.time_zone
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode("ascii")).hexdigest()


def jitter_of(schedule_name: str, instant: Instant, most: timedelta) -> timedelta:
    """Return how much later than due an instant fires: always the same, on every controller."""
    digest = hashlib.sha256(f"{schedule_name}\n{instant.key}".encode("utf-8", "surrogatepass")).digest()
    return timedelta(seconds=int.from_bytes(digest[:8], "big") % (int(most.total_seconds()) + 1))


def _taken(waiting: list[_Due], before: datetime | None) -> list[_Due]:
    """Take out in order what is due before a moment; everything without one."""
    waiting.sort(key=lambda one: (one[0], one[1].key))
    count = len(waiting) if before is None else bisect_left(waiting, before, key=lambda one: one[0])
    taken = waiting[:count]
    del waiting[:count]
    return taken


def _business_day_before(calendar: BusinessDays, day: date) -> date:
    """Return the last business day up to a day, or at least none before which a shift goes."""
    if day <= FIRST_DAY + FARTHEST * DAY:
        return FIRST_DAY
    return calendar.nearest(day, -DAY) or day - FARTHEST * DAY


def _business_day_after(calendar: BusinessDays, day: date) -> date:
    if day >= LAST_DAY - FARTHEST * DAY:
        return LAST_DAY
    return calendar.nearest(day, DAY) or day + FARTHEST * DAY


def _business_date(day: date, nominal: Sequence[date]) -> date:
    """Return the business date of what is due on a day that stands for some days."""
    return day if day in nominal else nominal[0]


def _steps(day: date, nominal: Sequence[date]) -> Sequence[date]:
    """Return the days that a shift to a day has led over, in its direction; none where the day is due itself."""
    if day in nominal:
        return ()
    farthest = nominal[0] if nominal[0] < day else nominal[-1]
    step = DAY if farthest < day else -DAY
    return [farthest + step * number for number in range(abs((day - farthest).days))]


def _key_on(other: date, key: str) -> str:
    """Return the key that what is due on a day would have on another."""
    return f"{other}{key[len('2026-12-25') :].removesuffix(_SECOND)}"


def _with(day: date, off: date, wording: str) -> Instant:
    return Instant(
        key=off.isoformat(),
        due=None,
        local=off.isoformat(),
        business_date=off,
        outcome=InstantOutcome.SHIFTED,
        reason=f"{wording}; it runs with {day}",
    )


def _everything(_: date) -> bool:
    return True


def _later(after: datetime) -> datetime:
    latest = datetime.max.replace(tzinfo=UTC)
    return after + FORESIGHT if after < latest - FORESIGHT else latest
