"""When a schedule is due, found out by walking: minute by minute through UTC, looking at the clock on the wall.

It shares no code with the product and knows none of its tricks. It is slow, and that is its merit: every rule is here
as it is defined, and nothing is computed that can be looked up by walking.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from functools import cached_property
from zoneinfo import ZoneInfo

WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
NTH = ("first", "second", "third", "fourth", "fifth")
EPOCH = date(1970, 1, 1)
DAY = 86400
FARTHEST_SHIFT = 40
"""Days; longer than any holiday the tests make."""

Expected = tuple[int, str, str, date]
"""When it is due in seconds since 1970, its key, its outcome, and the day it is for."""


@dataclass(frozen=True, kw_only=True)
class Shape:
    """A schedule, as the walker understands it."""

    kind: str
    """`fixed` (times of day), `rhythm` (each time the clock shows one of them) or `interval` (the one or the other)."""
    times: tuple[int, ...] = ()
    """Minutes of the day; none of an interval, whose times are all that can be divided by `minutes`."""
    minutes: int = 0
    window: tuple[int, int] | None = None
    weekdays: tuple[str, ...] = ()
    month_days: tuple[str, ...] = ()
    weeks: tuple[str, ...] = ()
    months: tuple[int, ...] = ()
    every: int = 1
    unit: str = "day"
    start: date | None = None
    end: date | None = None
    holidays: frozenset[date] | None = None
    """Of a calendar whose other days from Monday to Friday are business days; None without a calendar."""
    rule: str = "business_days"
    gap: str = "run"
    fold: str = "once"
    as_cron: bool = False


class Walk:
    """A walk through a stretch of time in a zone."""

    def __init__(self, zone: ZoneInfo, begin: int, end: int) -> None:
        offsets = {_offset(zone, at) for at in range(begin, end + 1, 1800)}
        # Some zones were once ahead by a number of seconds: there, walking by minutes would meet no full minute.
        step = math.gcd(60, *offsets)
        self.steps = [(at, at + _offset(zone, at)) for at in range(begin, end + 1, step)]
        """Each moment and what the clock shows then, both in seconds, the latter as if it were UTC."""

    @property
    def begin(self) -> int:
        """Return where it begins."""
        return self.steps[0][0]

    @property
    def end(self) -> int:
        """Return where it ends."""
        return self.steps[-1][0]

    def part(self, begin: int, end: int) -> Walk:
        """Return a part of it."""
        made = copy(self)
        made.__dict__.pop("moments", None)
        made.steps = [step for step in self.steps if begin <= step[0] <= end]
        return made

    @cached_property
    def moments(self) -> dict[int, list[int]]:
        """When the clock shows what it shows."""
        found: dict[int, list[int]] = {}
        for at, wall in self.steps:
            found.setdefault(wall, []).append(at)
        return found

    def first_past(self, wall: int) -> int | None:
        """Return the first moment at which the clock shows more."""
        return next((at for at, shown in self.steps if shown > wall), None)

    @property
    def days(self) -> Iterator[date]:
        """Yield every date of the stretch, whether the zone has it or not."""
        first, last = self.steps[0][1] // DAY, self.steps[-1][1] // DAY
        return (EPOCH + timedelta(days=day) for day in range(first, last + 1))


def expected(walk: Walk, shape: Shape, after: int, until: int) -> list[Expected]:
    """Return what is due after one moment and not after another."""
    match shape.kind:
        case "fixed":
            found = _fixed(walk, shape)
        case "rhythm":
            found = _rhythm(walk, shape)
        case _:
            found = _interval(walk, shape)
    return sorted(one for one in found if after < one[0] <= until)


def _fixed(walk: Walk, shape: Shape) -> Iterator[Expected]:
    for day in walk.days:
        outcome = _outcome(shape, day)
        if outcome is None:
            continue
        for minute in shape.times:
            wall = (day - EPOCH).days * DAY + minute * 60
            if not _in_window(shape, minute * 60):
                continue
            seen = walk.moments.get(wall, [])
            past = walk.first_past(wall)
            if seen:
                yield seen[0], _key(wall), *outcome
            elif past is not None and past > walk.begin:
                yield past, _key(wall), "skipped" if shape.gap == "skip" else outcome[0], outcome[1]
            if len(seen) > 1 and shape.fold == "twice":
                yield seen[1], _key(wall, again=True), *outcome


def _rhythm(walk: Walk, shape: Shape) -> Iterator[Expected]:
    outcomes = {day: _outcome(shape, day) for day in walk.days}
    times = {minute * 60 for minute in shape.times}
    for at, wall in walk.steps:
        if wall % DAY in times and _in_window(shape, wall % DAY):
            outcome = outcomes[EPOCH + timedelta(days=wall // DAY)]
            if outcome is not None:
                yield at, _key(wall, again=walk.moments[wall][0] < at), *outcome


def _interval(walk: Walk, shape: Shape) -> Iterator[Expected]:
    times = tuple(minute for minute in range(24 * 60) if minute % shape.minutes == 0)
    comes_soon = shape.minutes <= 60
    return (_rhythm if comes_soon else _fixed)(walk, replace(shape, times=times))


def _outcome(shape: Shape, day: date) -> tuple[str, date] | None:
    """Say what comes of a day, and which day it is for; None where nothing is due on it."""
    if shape.holidays is None or shape.rule in ("business_days", "days_off"):
        if not _fits(shape, day):
            return None
        wanted = shape.holidays is None or _is_business_day(shape, day) == (shape.rule == "business_days")
        return "fires" if wanted else "skipped", day
    around = (day + timedelta(days=step) for step in range(-FARTHEST_SHIFT, FARTHEST_SHIFT + 1))
    sources = [other for other in around if _shifted(shape, other) == day and _fits(shape, other)]
    if not sources:
        return None
    return ("fires", day) if day in sources else ("shifted", sources[0])


def _shifted(shape: Shape, day: date) -> date:
    step = timedelta(days=1 if shape.rule == "next" else -1)
    while not _is_business_day(shape, day):
        day += step
    return day


def _is_business_day(shape: Shape, day: date) -> bool:
    return day.weekday() < 5 and day not in (shape.holidays or ())


def _fits(shape: Shape, day: date) -> bool:
    return (
        (shape.start is None or shape.start <= day)
        and (shape.end is None or day <= shape.end)
        and (not shape.weekdays or WEEKDAYS[day.weekday()] in shape.weekdays)
        and (not shape.months or day.month in shape.months)
        and (not shape.month_days or any(_is_month_day(shape, token, day) for token in shape.month_days))
        and (not shape.weeks or any(_is_nth(token, day) for token in shape.weeks))
        and _is_turn(shape, day)
    )


def _is_month_day(shape: Shape, token: str, day: date) -> bool:
    if token == "last":
        return (day + timedelta(days=1)).month != day.month
    if token.startswith("business_"):
        business = [one for one in _month_of(day) if _is_business_day(shape, one)]
        place = token.removeprefix("business_")
        wanted = business[-1:] if place == "last" else business[int(place) - 1 : int(place)]
        return day in wanted
    return day.day == int(token)


def _is_nth(token: str, day: date) -> bool:
    same = [one for one in _month_of(day) if one.weekday() == day.weekday()]
    return day == same[-1] if token == "last" else same.index(day) == NTH.index(token)


def _month_of(day: date) -> list[date]:
    first = day.replace(day=1)
    days = (first + timedelta(days=step) for step in range(31))
    return [one for one in days if one.month == day.month]


def _is_turn(shape: Shape, day: date) -> bool:
    if shape.unit == "week":
        return _weeks_between(shape.start or date(1970, 1, 5), day) % shape.every == 0
    start = shape.start or EPOCH
    if shape.unit == "month":
        return (day.year * 12 + day.month - start.year * 12 - start.month) % shape.every == 0
    return (day - start).days % shape.every == 0


def _weeks_between(first: date, second: date) -> int:
    """Count ISO weeks by their own numbers."""
    thursday = [date.fromisocalendar(*day.isocalendar()[:2], 4) for day in (first, second)]
    return (thursday[1] - thursday[0]).days // 7


def _in_window(shape: Shape, seconds: int) -> bool:
    if shape.window is None:
        return True
    begin, end = (minute * 60 for minute in shape.window)
    if begin <= end:
        return begin <= seconds <= end
    return not end < seconds < begin


def _key(wall: int, *, again: bool = False) -> str:
    shown = datetime.fromtimestamp(wall, UTC).replace(tzinfo=None).isoformat()
    return shown.removesuffix(":00" if wall % 60 == 0 else "") + ("+fold" if again else "")


def _offset(zone: ZoneInfo, at: int) -> int:
    offset = datetime.fromtimestamp(at, zone).utcoffset()
    assert offset is not None
    return round(offset.total_seconds())
