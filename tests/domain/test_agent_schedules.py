"""Schedules of SQL Server Agent have the same due times here as the documentation of sysschedules says, or it is said why not."""

from __future__ import annotations

import random
from calendar import monthrange
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime, timedelta
from itertools import islice

import pytest

from batchctl.domain.definitions.agent_schedules import Unmappable, columns_of
from batchctl.domain.scheduling.due import plan_of
from batchctl.domain.scheduling.schedule_columns import schedule_of

SPAN = timedelta(days=9_000)


def days_of(row: Mapping[str, int]) -> Iterator[date]:
    """Yield the days of a row, as its documentation says, from its first on."""
    first = date(
        row["active_start_date"] // 10_000, row["active_start_date"] // 100 % 100, row["active_start_date"] % 100
    )
    interval, factor = row["freq_interval"], max(row["freq_recurrence_factor"], 1)
    sunday = first - timedelta(days=first.isoweekday() % 7)
    for number in range(SPAN.days + 800):
        day = first + timedelta(days=number)
        months = (day.year - first.year) * 12 + day.month - first.month
        weekday = day.isoweekday() % 7 + 1
        match row["freq_type"]:
            case 4:
                is_due = number % max(interval, 1) == 0
            case 8:
                is_due = (day - sunday).days // 7 % factor == 0 and bool(interval & (1 << (weekday - 1)))
            case 16:
                is_due = months % factor == 0 and day.day == interval
            case _:
                last = monthrange(day.year, day.month)[1]
                same = [
                    each
                    for each in range(1, last + 1)
                    if interval == 8 or date(day.year, day.month, each).isoweekday() % 7 + 1 == interval
                ]
                which = {1: 0, 2: 1, 4: 2, 8: 3, 16: -1}[row["freq_relative_interval"]]
                is_due = months % factor == 0 and day.day == same[which]
        if is_due:
            yield day


def due_of(row: Mapping[str, int]) -> Iterator[datetime]:
    def minute(number: int) -> int:
        return number // 10_000 * 60 + number // 100 % 100

    begin, end = minute(row["active_start_time"]), minute(row["active_end_time"])
    step = row["freq_subday_interval"] * (60 if row["freq_subday_type"] == 8 else 1)
    times = [begin] if row["freq_subday_type"] == 1 else [*range(begin, end + 1, step)]
    for day in days_of(row):
        for at in times:
            yield datetime(day.year, day.month, day.day, tzinfo=UTC) + timedelta(minutes=at)


def drawn(chance: random.Random) -> dict[str, int]:
    freq, subday = chance.choice((4, 8, 16, 32)), chance.choice((1, 1, 4, 8))
    begin = chance.randrange(24) * 10_000 + chance.choice((0, 0, 100, 500, 3_000, 4_500))
    end = chance.choice((235_959, 235_900, chance.randrange(24) * 10_000 + 5_900))
    intervals = {4: (1, 1, 2, 3, 10), 8: range(1, 128), 16: range(1, 32), 32: range(1, 11)}
    return {
        "freq_type": freq,
        "freq_interval": chance.choice(intervals[freq]),
        "freq_subday_type": subday,
        "freq_subday_interval": chance.choice((1, 2, 5, 7, 10, 15, 20, 30, 45))
        if subday == 4
        else chance.randint(1, 12),
        "freq_relative_interval": chance.choice((1, 2, 4, 8, 16)) if freq == 32 else 0,
        "freq_recurrence_factor": 0 if freq == 4 else chance.choice((1, 1, 1, 2, 3)),
        "active_start_date": 20_260_000 + chance.randint(1, 12) * 100 + chance.randint(1, 28),
        "active_end_date": 99_991_231,
        "active_start_time": begin,
        "active_end_time": end,
    }


@pytest.mark.parametrize("seed", [pytest.param(each, marks=[pytest.mark.full] if each else []) for each in range(20)])
def test_a_schedule_is_due_when_agent_says(seed: int) -> None:
    chance, why = random.Random(seed), Counter[Unmappable]()
    for _ in range(100):
        row = drawn(chance)
        columns = columns_of(row)
        if isinstance(columns, Unmappable):
            why[columns] += 1
            continue
        timing = schedule_of({**columns}).timing
        first = datetime(2026, 1, 1, tzinfo=UTC)
        instants = plan_of(timing, "UTC", None).instants(first, first + SPAN)
        expected = [one for one in islice(due_of(row), 200) if one <= first + SPAN]
        assert [one.due for one in islice(instants, 200)] == expected, (row, columns)
    assert sum(why.values()) < 50, why
