"""A schedule by the names of its columns: read back into a value, and what a new type leaves behind."""

from __future__ import annotations

from collections.abc import Mapping

from batchctl.domain.records import JsonValue, of_columns, shown
from batchctl.domain.scheduling.schedules import Schedule
from batchctl.domain.status import ScheduleType

_NEEDED: Mapping[str, JsonValue] = {"Schedule_id": 0, "ScheduleName": "", "Entity": "", "ScheduleType": ""}
"""What the database has no default for."""
DEFAULTS: Mapping[str, JsonValue] = {
    column: value
    for column, value in shown(of_columns(Schedule, {**_NEEDED, "ScheduleType": ScheduleType.INTERVAL.value})).items()
    if value is not None and column not in _NEEDED
}
"""The defaults of the database."""

_FIXED = (ScheduleType.DAILY, ScheduleType.WEEKLY, ScheduleType.MONTHLY, ScheduleType.MONTHLY_DOW)
_BELONGS: Mapping[str, tuple[ScheduleType, ...]] = {
    "IntervalMinutes": (ScheduleType.INTERVAL,),
    "RunTimes": _FIXED,
    "RunDays": (ScheduleType.WEEKLY, ScheduleType.MONTHLY_DOW),
    "RunDaysOfMonth": (ScheduleType.MONTHLY,),
    "WeekOfMonth": (ScheduleType.MONTHLY_DOW,),
    "RunAt": (ScheduleType.ONCE,),
    "Cron": (ScheduleType.CRON,),
}
"""Columns and the types that cannot do without them."""


def option_of(column: str) -> str:
    """Return the option of the command line for a column: `--run-times` for RunTimes."""
    called = {"ScheduleType": "Type"}.get(column, column)
    return "--" + "".join(f"-{at.lower()}" if at.isupper() else at for at in called).lstrip("-")


def left_behind(before: ScheduleType, after: ScheduleType) -> dict[str, JsonValue]:
    """Return the columns that one type needed and another has no need of, as they are to be written.

    What only narrows a type, such as RunMonths or BetweenTimes, was meant for any type, and stays.
    """
    if before is after:
        return {}
    gone: dict[str, JsonValue] = {
        column: None for column, types in _BELONGS.items() if before in types and after not in types
    }
    # Every second week is not every second month.
    return {**gone, "EveryN": 1}


def schedule_of(columns: Mapping[str, JsonValue]) -> Schedule:
    """Return the value of a row by its columns; raises `ValueError` for an unknown word."""
    return of_columns(Schedule, {**_NEEDED, **columns})
