"""Plausible mistakes about due times, made on purpose: the walker has to find every one of them."""

from __future__ import annotations

from batchctl.domain.scheduling import business_days, cadences, day_times, due, timing_text, wall_clock
from tests.sim.mutating import Change, Mutant

_IS_SHORT = "(timing.interval_minutes or 0) <= LONGEST_RHYTHM"
_ELAPSED = "read.clock.shown(read.clock.day(day).start + timedelta(seconds=seconds))"
_NEXT_DAY = "calendar.nearest(day, step) or day"


def _mutant(name: str, *changes: Change) -> Mutant:
    return Mutant(name, "due", changes)


DUE_MUTANTS: tuple[Mutant, ...] = (
    _mutant(
        "what falls into a gap is due as much later as the gap is long",
        Change(wall_clock, "self._end_of_gap(wall, before, after)", "wall - before"),
    ),
    _mutant(
        "what falls into a gap is due as much earlier as the gap is long",
        Change(wall_clock, "self._end_of_gap(wall, before, after)", "wall - after"),
    ),
    _mutant(
        "what is shown twice is due the second time",
        Change(wall_clock, "first=wall - before, second=wall - after", "first=wall - after, second=wall - before"),
    ),
    _mutant(
        "a day on which clocks are changed passes for an ordinary one",
        Change(wall_clock, "offset if is_ordinary else None", "offset"),
    ),
    _mutant(
        "only changes at midnight count",
        Change(wall_clock, "is_ordinary = offset == same == last == same_then", "is_ordinary = offset == same"),
        Change(wall_clock, "is_ordinary = is_ordinary and all(", "is_ordinary = is_ordinary or all("),
    ),
    _mutant("a fold is always met once", Change(day_times, "(read.is_rhythm or twice)", "read.is_rhythm")),
    _mutant("a fold is always met twice", Change(day_times, "(read.is_rhythm or twice)", "True")),
    _mutant("a rhythm is met once in a fold", Change(day_times, "(read.is_rhythm or twice)", "twice")),
    _mutant("a rhythm is met in a gap", Change(day_times, "elif not read.is_rhythm:", "else:")),
    _mutant("every interval is a rhythm", Change(timing_text, _IS_SHORT, "True")),
    _mutant("no interval is a rhythm", Change(timing_text, _IS_SHORT, "False")),
    _mutant("an interval of an hour is no rhythm", Change(timing_text, _IS_SHORT, _IS_SHORT.replace("<=", "<"))),
    _mutant(
        "an interval goes by elapsed time",
        Change(day_times, "wall = _wall(day, seconds)", f"wall = {_ELAPSED}.replace(tzinfo=None)"),
    ),
    _mutant("GapPolicy is ignored", Change(due, "self.timing.gap_policy is GapPolicy.SKIP", "False")),
    _mutant("both times of a fold have the same key", Change(day_times, '"+fold" if is_second else ""', '""')),
    _mutant(
        "days are not merged",
        Change(due, "yield from _taken(waiting, local.start)", "yield from _taken(waiting, None)"),
    ),
    _mutant(
        "what was looked at before is looked at again",
        Change(due, "if after < each[0])", "if after <= each[0])"),
    ),
    _mutant("the end is left out", Change(due, "each[0] <= until", "each[0] < until")),
    _mutant(
        "looking begins at the day itself",
        Change(due, "first = max(start - _ONE_PASS_MORE, FIRST_DAY)", "first = start"),
    ),
    _mutant("nothing is shifted", Change(due, _NEXT_DAY, "day")),
    _mutant(
        "what was due before the first day is not shifted into it",
        Change(due, "if step > timedelta(0):\n", "if False:\n", "_days"),
    ),
    _mutant(
        "what is shifted is for the day it is shifted to",
        Change(due, "day if day in nominal else nominal[0]", "day"),
    ),
    _mutant("the calendar's rule is turned round", Change(due, "is not (self.timing", "is (self.timing")),
    _mutant(
        "a holiday is looked for among the days of the week only",
        Change(business_days, "if known is None else known.is_business_day", ""),
    ),
    _mutant(
        "a window ends before its end",
        Change(timing_text, "begin <= seconds <= end if", "begin <= seconds < end if"),
    ),
    _mutant(
        "no window goes over midnight",
        Change(timing_text, "seconds >= begin or seconds <= end", "False"),
    ),
    _mutant("every month has 30 days", Change(cadences, "length if number == LAST", "30 if number == LAST")),
    _mutant("business days are counted from 0", Change(cadences, "days[place - 1].day", "days[place % len(days)].day")),
    _mutant("the second week begins on the 7th", Change(cadences, "(day.day + 6) // 7", "(day.day + 7) // 7")),
    _mutant("the last week is the fourth", Change(cadences, "day.day + 7 > length", "22 <= day.day <= 28")),
    _mutant(
        "every second week is counted from a day instead of its week",
        Change(cadences, "(_monday(day) - _monday(self.anchor))", "(day - self.anchor)"),
    ),
    _mutant(
        "every second month begins anew with each year",
        Change(cadences, "(month.year - self.anchor.year) * 12 + month.month", "month.month"),
    ),
    _mutant("every third day is every day", Change(cadences, "if self.every_days > 1 and", "if False and")),
    _mutant("StartDate is left out", Change(cadences, "max(start, self.first)", "max(start, self.first + DAY)")),
    _mutant("EndDate is left out", Change(cadences, "min(end, self.last)", "min(end, self.last - DAY)")),
)
