"""A schedule by the names of its columns: read back into a value, and what a new type leaves behind."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta

from batchctl.domain.records import JsonValue
from batchctl.domain.scheduling.schedules import Schedule, ScheduleId, Timing
from batchctl.domain.status import CalendarRule, CatchUp, FoldPolicy, GapPolicy, Overlap, ScheduleType

DEFAULTS: Mapping[str, JsonValue] = {
    "EveryN": 1,
    "CalendarRule": CalendarRule.BUSINESS_DAYS.value,
    "GapPolicy": GapPolicy.RUN.value,
    "FoldPolicy": FoldPolicy.ONCE.value,
    "CatchUp": CatchUp.NONE.value,
    "Overlap": Overlap.QUEUE.value,
    "Jitter": 0,
    "Enabled": 1,
}
"""What the database writes where nothing is said."""

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
    """Return what the command line calls a column: `--run-times` for RunTimes."""
    called = {"ScheduleType": "Type"}.get(column, column)
    return "--" + "".join(f"-{at.lower()}" if at.isupper() else at for at in called).lstrip("-")


def left_behind(before: ScheduleType, after: ScheduleType) -> dict[str, JsonValue]:
    """Return the columns that one type needed and another has no need of, as they are to be written.

    What only narrows a type, such as RunMonths or BetweenTimes, was somebody's wish for any type, and stays.
    """
    if before is after:
        return {}
    gone: dict[str, JsonValue] = {
        column: None for column, types in _BELONGS.items() if before in types and after not in types
    }
    # Every second week is not every second month.
    return {**gone, "EveryN": 1}


def schedule_of(columns: Mapping[str, JsonValue]) -> Schedule:
    """Return the value of a row by its columns; raises `ValueError` for a word that there is not."""
    said = {**DEFAULTS, **{name: value for name, value in columns.items() if value is not None}}
    return Schedule(
        schedule_id=ScheduleId(_number(said.get("Schedule_id")) or 0),
        name=_text(said.get("ScheduleName")) or "",
        entity=_text(said.get("Entity")) or "",
        timing=Timing(
            schedule_type=ScheduleType(str(said.get("ScheduleType"))),
            interval_minutes=_number(said.get("IntervalMinutes")),
            run_times=_text(said.get("RunTimes")),
            run_days=_text(said.get("RunDays")),
            run_days_of_month=_text(said.get("RunDaysOfMonth")),
            week_of_month=_text(said.get("WeekOfMonth")),
            run_months=_text(said.get("RunMonths")),
            between_times=_text(said.get("BetweenTimes")),
            every_n=_number(said["EveryN"]) or 0,
            start_date=_text(said.get("StartDate")),
            end_date=_text(said.get("EndDate")),
            run_at=_text(said.get("RunAt")),
            cron=_text(said.get("Cron")),
            time_zone=_text(said.get("TimeZone")),
            calendar_name=_text(said.get("CalendarName")),
            calendar_rule=CalendarRule(str(said["CalendarRule"])),
            gap_policy=GapPolicy(str(said["GapPolicy"])),
            fold_policy=FoldPolicy(str(said["FoldPolicy"])),
        ),
        catch_up=CatchUp(str(said["CatchUp"])),
        catch_up_most=_number(said.get("CatchUpMost")),
        overlap=Overlap(str(said["Overlap"])),
        jitter=timedelta(seconds=_number(said["Jitter"]) or 0),
        enabled=said["Enabled"] == 1,
        next_run_time=_moment(said.get("NextRunTime")),
        decided_until=_moment(said.get("DecidedUntil")),
        origin=_text(said.get("Origin")),
        description=_text(said.get("Description")),
    )


def _number(value: JsonValue) -> int | None:
    return None if value is None else int(str(value))


def _text(value: JsonValue) -> str | None:
    return None if value is None else str(value)


def _moment(value: JsonValue) -> datetime | None:
    return None if value is None else datetime.fromisoformat(str(value))
