"""Cron expressions, as cronsim reads them.

cronsim is imported only where there is an expression to read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date, datetime

from batchctl.domain.text import visible
from batchctl.domain.values import named_value

_FIELDS = 5
_MONTH, _ANY = 3, "*"
_DAYS = "day-of-month"
"""The word by which cronsim names an error in the days of a month."""
_SOME_TIME = datetime(2000, 1, 1)  # noqa: DTZ001 - nothing is ever asked that depends on it


@named_value
class CronTimes:
    """The meaning of an expression."""

    months: frozenset[int]
    times: tuple[int, ...]
    """The times of day that it names, in minutes."""
    is_rhythm: bool
    """True of one whose minute or hour begins with `*`: it means a rhythm, not times of day."""
    fits: Callable[[date], bool]
    """Says whether its days of the month and of the week take a day."""


class NotCron(ValueError):
    """What is no cron expression, and why."""


class NeverCron(NotCron):
    """An expression whose days no month of it has, such as 31 February."""


def read_cron(written: str) -> CronTimes:
    """Read an expression; raises `NotCron`."""
    from cronsim import CronSim, CronSimError  # noqa: PLC0415 - only needed for an expression

    fields = written.split()
    if len(fields) != _FIELDS:
        raise NotCron(f"{len(fields)} fields instead of {_FIELDS}: minute, hour, day of month, month, day of week")
    try:
        # Only days and times are wanted of it: the wall clock decides when these are.
        read = CronSim(" ".join(fields), _SOME_TIME)
    except (CronSimError, ValueError, AssertionError, TypeError, IndexError) as error:
        kind = NeverCron if _lacks_days(fields, error) else NotCron
        raise kind(visible(str(error))) from error
    return CronTimes(
        months=frozenset(read.months),
        times=tuple(hour * 60 + minute for hour in sorted(read.hours) for minute in sorted(read.minutes)),
        is_rhythm=fields[0].startswith("*") or fields[1].startswith("*"),
        fits=read.match_day,
    )


def _lacks_days(fields: Sequence[str], error: Exception) -> bool:
    """Say whether an expression's only error is that its months do not have its days."""
    if _DAYS not in str(error) or fields[_MONTH] == _ANY:
        return False
    try:
        read_cron(" ".join([*fields[:_MONTH], _ANY, *fields[_MONTH + 1 :]]))
    except NotCron:
        return False
    return True


def explained(written: str) -> str:
    """Return the meaning of a valid expression in words."""
    from cronsim import CronSim  # noqa: PLC0415 - only needed for an expression

    said = CronSim(written, _SOME_TIME).explain()
    return said[:1].lower() + said[1:]
