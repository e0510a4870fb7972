"""Schedules put together at random from everything that composes, somewhere in time: the product against the walker."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from random import Random
from zoneinfo import ZoneInfo

from tests.sim.changes import Case, Change, changes_of
from tests.sim.oracle import DAY, NTH, WEEKDAYS, Shape, Walk, expected

ZONES = (
    "Europe/Amsterdam",
    "America/New_York",
    "America/St_Johns",
    "America/Santiago",
    "Australia/Lord_Howe",
    "Africa/Casablanca",
    "Antarctica/Troll",
    "Asia/Kolkata",
    "Asia/Tehran",
    "Pacific/Apia",
    "UTC",
)
_MONTH_DAYS = ("1", "15", "28", "29", "30", "31", "last")
_BUSINESS = ("business_1", "business_5", "business_20", "business_22", "business_last")
LENGTH = 50 * DAY
SAME_STRETCH = 50
"""How many are compared in the same stretch of time: walking takes longer than comparing."""


def composed_case(seed: int) -> Case:
    """Put one together, and walk."""
    chance = Random(seed)
    zone, whole = _stretch(seed // SAME_STRETCH)
    shape = composed(chance, datetime.fromtimestamp(chance.randrange(whole.begin, whole.end), UTC).date())
    walk = whole
    if shape.kind != "fixed":
        begin = chance.randrange(whole.begin, whole.end - 6 * DAY, 60)
        walk = whole.part(begin, begin + chance.randrange(3 * DAY, 6 * DAY, 60))
    after, until = walk.begin + 2 * DAY, walk.end
    meant = expected(walk, shape, after, until)
    again = f"python3 dev.py sim --schedules --seed {seed}"
    return Case(zone=zone, shape=shape, after=after, until=until, meant=meant, again=again)


@lru_cache(maxsize=2)
def _stretch(seed: int) -> tuple[str, Walk]:
    """Choose where and when: near a change of clocks of some year, if there is one and as often as not."""
    chance = Random(seed)
    zone, year = chance.choice(ZONES), chance.randrange(1970, 2038)
    changes: list[Change] = changes_of(zone, year, year) if chance.random() < 0.7 else []
    if changes:
        begin = chance.choice(changes).at - chance.randrange(LENGTH)
    else:
        begin = int(datetime(year, 1, 1, tzinfo=UTC).timestamp()) + chance.randrange(365 * DAY)
    begin = begin // 60 * 60
    return zone, Walk(ZoneInfo(zone), begin, begin + LENGTH)


def composed(chance: Random, about: date) -> Shape:
    """Put a schedule together that may be due about a date."""
    kind = chance.choice(("fixed", "fixed", "fixed", "interval", "rhythm"))
    shape = Shape(kind=kind, gap=chance.choice(("run", "skip")), fold=chance.choice(("once", "twice")))
    if kind == "fixed":
        times = (chance.choice((0, 1, 30, 59, 60, 90, 120, 150, 180, chance.randrange(1440))) for _ in range(3))
        unit = chance.choice(("day", "day", "week", "month", "month"))
        shape = replace(shape, times=tuple(sorted(set(times))), unit=unit, every=chance.choice((1, 1, 1, 2, 3, 5)))
    elif kind == "interval":
        shape = replace(shape, minutes=chance.choice((1, 7, 15, 25, 45, 60, 61, 90, 120, 240, 720, 1440)))
    else:
        hours = sorted(chance.sample(range(24), chance.randrange(1, 20)))
        times = (hour * 60 + minute for hour in hours for minute in (0, 15, 30, 45))
        shape = replace(shape, as_cron=True, times=tuple(times))
    return _with_filters(shape, chance, about)


def _with_filters(shape: Shape, chance: Random, about: date) -> Shape:
    often = 0.3
    if chance.random() < often:
        moments = shape.times or range(0, 1440, shape.minutes)
        begin, end = chance.choice(moments), chance.choice((*moments, 100, 1439))
        shape = replace(shape, window=(begin, end))
    if chance.random() < often:
        shape = replace(shape, start=about - timedelta(days=chance.randrange(-10, 400)))
    if chance.random() < often / 2:
        shape = replace(shape, end=about + timedelta(days=chance.randrange(40)))
    if chance.random() < 0.5:
        shape = _with_calendar(shape, chance, about)
    by_day = chance.random() < often
    if by_day or shape.unit == "week":
        shape = replace(shape, weekdays=tuple(chance.sample(WEEKDAYS, chance.randrange(1, 5))))
    if by_day and shape.unit == "month":
        shape = replace(shape, weeks=tuple(chance.sample((*NTH, "last"), chance.randrange(1, 5))))
    if (shape.unit == "month" and not shape.weeks) or chance.random() < often / 2:
        known = _MONTH_DAYS if shape.holidays is None else _MONTH_DAYS + _BUSINESS
        shape = replace(shape, month_days=tuple(chance.sample(known, chance.randrange(1, 5))))
    if chance.random() < often:
        near = {about.month, about.month % 12 + 1, chance.randrange(1, 13)}
        shape = replace(shape, months=tuple(sorted(near)))
    return shape


def _with_calendar(shape: Shape, chance: Random, about: date) -> Shape:
    first = about + timedelta(days=chance.randrange(-10, 30))
    days = {first + timedelta(days=step) for step in range(chance.choice((1, 3, 12)))}
    days |= {about + timedelta(days=chance.randrange(-20, 60)) for _ in range(4)}
    rule = chance.choice(("business_days", "days_off", "next", "previous"))
    return replace(shape, holidays=frozenset(days), rule=rule)
