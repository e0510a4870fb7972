"""Schedules for tests, made from the columns that matter."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any

from batchctl.domain.scheduling.due import Instant, Plan, plan_of
from batchctl.domain.scheduling.schedules import Calendar, CalendarDay, CalendarId, Timing
from batchctl.domain.status import ScheduleType

HOME = "Europe/Amsterdam"


def a_timing(kind: str = "daily", **columns: Any) -> Timing:
    return Timing(schedule_type=ScheduleType(kind), **columns)


def a_plan(kind: str = "daily", *, calendar: Calendar | None = None, **columns: Any) -> Plan:
    if calendar is not None:
        columns["calendar_name"] = calendar.name
    return plan_of(a_timing(kind, **columns), HOME, calendar)


def a_calendar(*holidays: str, also: tuple[str, ...] = (), **columns: Any) -> Calendar:
    """Return a calendar of days off, given as `2026-12-25 Christmas Day`, and of extra business days."""
    days = [CalendarDay(day=date.fromisoformat(one[:10]), description=one[11:] or None) for one in holidays]
    days += [CalendarDay(day=date.fromisoformat(one), is_business_day=True) for one in also]
    return Calendar(calendar_id=CalendarId(1), name="NL", days=tuple(days), **columns)


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def due(plan: Plan, first: str, days: float = 1) -> list[Instant]:
    """Return what is due from midnight UTC of a date, or from another time, for some days."""
    begin = utc(first)
    return list(plan.instants(begin - timedelta(microseconds=1), begin + timedelta(days=days)))


def keys(plan: Plan, first: str, days: float = 1) -> list[str]:
    return [one.key for one in due(plan, first, days)]


def dates(plan: Plan, first: str, days: float) -> list[str]:
    """Return the dates of what fires, as the clocks show it."""
    return [one.local[:10] for one in due(plan, first, days) if one.outcome != "skipped"]


def at(instant: Instant) -> str:
    assert instant.due is not None
    return f"{instant.due:%Y-%m-%d %H:%M:%S}".removesuffix(":00")
