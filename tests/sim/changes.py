"""All changes of clocks there are, and what schedules do around them: the product against the walker."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from zoneinfo import TZPATH, ZoneInfo, available_timezones

from batchctl.domain.scheduling.due import InstantOutcome, Plan, UnfitTiming, plan_of
from batchctl.domain.scheduling.schedules import Calendar, CalendarDay, CalendarId, Timing
from batchctl.domain.status import CalendarRule, FoldPolicy, GapPolicy, ScheduleType
from tests.sim.oracle import DAY, EPOCH, NTH, WEEKDAYS, Expected, Shape, Walk, expected

FIRST, LAST = 1970, 2037
LOOK_EVERY = 3 * 3600
"""How often a zone is looked at in search of changes."""
AROUND = 25 * 3600
"""How long before and after a change everything is compared, in seconds: longer than any change."""
IN_WINDOW = (20, 7, 30, 15)
INTERVALS = (15, 7, 60, 1, 59, 25, 45, 30, 20)
LONG_INTERVALS = (1440, 61, 120, 720, 75, 240, 90, 65, 480, 1000)
"""In minutes; more than an hour, from where on they mean times of day."""


@dataclass(frozen=True)
class Change:
    """Clocks are changed; times in seconds."""

    zone: str
    at: int
    before: int
    after: int


@dataclass(frozen=True, kw_only=True)
class Case:
    """A schedule in a stretch of time, and when it is due there as the walker has found."""

    zone: str
    shape: Shape
    after: int
    until: int
    meant: list[Expected]
    again: str
    """What to type to see it again."""


@dataclass
class Comparison:
    """What comparing came to."""

    stretches: int = 0
    schedules: int = 0
    instants: int = 0
    wrong: list[str] = field(default_factory=list)

    def add(self, other: Comparison) -> None:
        """Add up."""
        self.stretches += other.stretches
        self.schedules += other.schedules
        self.instants += other.instants
        self.wrong += other.wrong

    def compare(self, cases: Iterable[Case]) -> Comparison:
        """Compare the product with the walker, in one stretch of time."""
        self.stretches += 1
        for case in cases:
            self.schedules += 1
            self.instants += len(case.meant)
            if (said := difference(case)) is not None:
                self.wrong.append(f"{said}\n    {case.again}")
        return self


def zones() -> dict[str, list[str]]:
    """Return one zone of each that have the same rules, with all their names."""
    same: dict[bytes, list[str]] = {}
    for name in sorted(available_timezones()):
        same.setdefault(hashlib.sha256(_rules(name)).digest(), []).append(name)
    return {names[0]: names for names in same.values()}


def _rules(name: str) -> bytes:
    for folder in TZPATH:
        if (file := Path(folder, name)).is_file():
            return file.read_bytes()
    return files("tzdata").joinpath("zoneinfo", *name.split("/")).read_bytes()


def changes_of(name: str, first: int = FIRST, last: int = LAST) -> list[Change]:
    """Find the changes of a zone, between two years or all of them, by looking at it every three hours."""
    zone = ZoneInfo(name)
    found = list[Change]()
    begin, end = (int(datetime(year, 1, 1, tzinfo=UTC).timestamp()) for year in (first, last + 1))
    before = _offset(zone, begin)
    for at in range(begin, end, LOOK_EVERY):
        after = _offset(zone, at)
        if after != before:
            found.append(Change(name, _moment(zone, at - LOOK_EVERY, at, before), before, after))
            before = after
    return found


def _moment(zone: ZoneInfo, early: int, late: int, before: int) -> int:
    while late - early > 1:
        between = (early + late) // 2
        early, late = (between, late) if _offset(zone, between) == before else (early, between)
    return late


def _offset(zone: ZoneInfo, at: int) -> int:
    return round((datetime.fromtimestamp(at, zone).utcoffset() or timedelta()).total_seconds())


def distinct(found: Iterable[Change]) -> list[Change]:
    """Leave out the changes that have the same clocks around them as one of another zone."""
    kept: dict[tuple[object, ...], Change] = {}
    for change in found:
        zone = ZoneInfo(change.zone)
        around = tuple(_offset(zone, change.at + step) for step in range(-3 * DAY, 3 * DAY + 1, LOOK_EVERY))
        kept.setdefault((change.at, around), change)
    return list(kept.values())


def shapes_at(change: Change) -> Iterator[Shape]:
    """Yield schedules of six kinds whose times lie where the clocks are changed."""
    low, high = sorted((change.at + change.before, change.at + change.after))
    middle = (low + high) // 120 * 60
    day, minute = EPOCH + timedelta(days=middle // DAY), middle % DAY // 60
    turn = change.at // LOOK_EVERY
    walls = (low - 60, low, middle, high - 60, high, high + 60)
    several = tuple(sorted({wall % DAY // 60 for wall in walls}))
    weekday, nth = WEEKDAYS[day.weekday()], NTH[(day.day - 1) // 7]
    is_last = (day + timedelta(days=1)).month != day.month
    window = ((low // 60 - 30) % 1440, (high // 60 + 30) % 1440)
    hours = (low // 3600 % 24, high // 3600 % 24)
    quarters = range(0, 1440, 15)
    rhythm = tuple(at for at in quarters if hours[0] > hours[1] or hours[0] <= at // 60 <= hours[1])
    one = Shape(kind="fixed", times=(minute,))
    fixed = (
        one,
        replace(one, times=several),
        replace(one, unit="week", weekdays=(weekday,)),
        replace(one, unit="month", month_days=("last",) if is_last else (str(day.day),)),
        replace(one, unit="month", weekdays=(weekday,), weeks=(nth,)),
        replace(one, as_cron=True),
    )
    for shape in fixed:
        yield shape
        yield replace(shape, gap="skip", fold="twice")
    interval = INTERVALS[turn % len(INTERVALS)]
    yield Shape(kind="interval", minutes=interval)
    yield Shape(kind="interval", minutes=IN_WINDOW[turn % len(IN_WINDOW)], window=window, gap="skip", fold="twice")
    # One of its times lies in the middle of the gap or fold, where that can be.
    long = minute if minute > 60 else LONG_INTERVALS[turn % len(LONG_INTERVALS)]
    yield Shape(kind="interval", minutes=LONG_INTERVALS[turn % len(LONG_INTERVALS)])
    yield Shape(kind="interval", minutes=long, window=window if minute > 60 else None)
    yield Shape(kind="interval", minutes=long, gap="skip", fold="twice")
    yield Shape(kind="rhythm", times=rhythm, as_cron=True)


def timing_of(shape: Shape) -> Timing:
    """Write a shape as people would write it into a row."""
    kind = _type_of(shape)
    is_timed = kind not in (ScheduleType.INTERVAL, ScheduleType.CRON)
    return Timing(
        schedule_type=kind,
        interval_minutes=shape.minutes if kind is ScheduleType.INTERVAL else None,
        run_times=",".join(map(_clock, shape.times)) if is_timed else None,
        run_days=",".join(shape.weekdays) or None,
        run_days_of_month=",".join(shape.month_days) or None,
        week_of_month=",".join(shape.weeks) or None,
        run_months=",".join(map(str, shape.months)) or None,
        between_times=None if shape.window is None else "-".join(map(_clock, shape.window)),
        every_n=shape.every,
        start_date=None if shape.start is None else shape.start.isoformat(),
        end_date=None if shape.end is None else shape.end.isoformat(),
        cron=_cron(shape) if kind is ScheduleType.CRON else None,
        calendar_name=None if shape.holidays is None else "C",
        calendar_rule=CalendarRule(shape.rule),
        gap_policy=GapPolicy(shape.gap),
        fold_policy=FoldPolicy(shape.fold),
    )


def calendar_of(shape: Shape) -> Calendar | None:
    """Return the calendar of a shape."""
    if shape.holidays is None:
        return None
    days = tuple(CalendarDay(day=day, description="a holiday") for day in sorted(shape.holidays))
    return Calendar(calendar_id=CalendarId(1), name="C", days=days)


def _type_of(shape: Shape) -> ScheduleType:
    if shape.as_cron:
        return ScheduleType.CRON
    if shape.kind == "interval":
        return ScheduleType.INTERVAL
    if shape.unit == "week":
        return ScheduleType.WEEKLY
    if shape.unit == "month":
        return ScheduleType.MONTHLY_DOW if shape.weeks else ScheduleType.MONTHLY
    return ScheduleType.DAILY


def _cron(shape: Shape) -> str:
    hours = sorted({time // 60 for time in shape.times})
    minutes = sorted({time % 60 for time in shape.times})
    assert len(hours) * len(minutes) == len(shape.times)
    if shape.kind == "rhythm":
        return f"*/15 {','.join(map(str, hours))} * * *"
    return f"{minutes[0]} {hours[0]} * * *"


def _clock(minute: int) -> str:
    return f"{minute // 60:02}:{minute % 60:02}"


def cases_at(change: Change) -> Iterator[Case]:
    """Walk around a change of clocks with all kinds of schedules."""
    after, until = change.at - AROUND, change.at + AROUND
    walk = Walk(ZoneInfo(change.zone), after - AROUND, until)
    again = f"python3 dev.py sim --schedules --zone {change.zone} --at {change.at}"
    for shape in shapes_at(change):
        meant = expected(walk, shape, after, until)
        yield Case(zone=change.zone, shape=shape, after=after, until=until, meant=meant, again=again)


def difference(case: Case) -> str | None:
    """Say what the product has otherwise than the walker."""
    try:
        plan = plan_of(timing_of(case.shape), case.zone, calendar_of(case.shape))
    except UnfitTiming as unfit:
        return f"it is refused: {unfit}"
    said = _difference(plan, case.meant, case.after, case.until)
    return None if said is None else f"{plan.words}: {said}"


def _difference(plan: Plan, meant: Sequence[Expected], after: int, until: int) -> str | None:
    found = list(_found(plan, after, until))
    for ours, theirs in zip(found, meant, strict=False):
        if ours != theirs:
            return f"it has {ours}, the walker {theirs}"
    if len(found) != len(meant):
        return f"it has {len(found)} due times, the walker {len(meant)}; the last of both: {found[-1:]}, {meant[-1:]}"
    middle = (after + until) // 2
    parts = pairwise((after, middle - 60, middle, until))
    if found != [one for begin, end in parts for one in _found(plan, begin, end)]:
        return f"it has other due times when it is asked for parts, up to {_utc(middle)} and from there on"
    for place in sorted({0, len(meant) // 2, len(meant) - 1} if meant else ()):
        since = after if place == 0 else meant[place - 1][0]
        following = next((one for one in meant if one[0] > since and one[2] != InstantOutcome.SKIPPED), None)
        instant = plan.next_after(_utc(since))
        if following is not None and (instant is None or instant.key != following[1]):
            return f"the next after {_utc(since)} is {instant and instant.key}, the walker has {following[1]}"
    return None


def _found(plan: Plan, after: int, until: int) -> Iterator[Expected]:
    for one in plan.instants(_utc(after), _utc(until)):
        assert one.due is not None
        yield round(one.due.timestamp()), one.key, one.outcome.value, one.business_date


def _utc(at: int) -> datetime:
    return datetime.fromtimestamp(at, UTC)


def compare_some(found: Sequence[Change]) -> Comparison:
    """Compare around some changes."""
    tally = Comparison()
    for change in found:
        tally.compare(cases_at(change))
    return tally
