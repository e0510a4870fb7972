"""`Calendar` and `CalendarDay`: which days are business days."""

from __future__ import annotations

from datetime import date
from typing import Any

from sqlalchemy import Connection, Row, bindparam, select

from batchctl.domain.schedules import Calendar, CalendarDay, CalendarId
from batchctl.store.columns import text_of
from batchctl.store.comparison import exactly
from batchctl.store.definitions import Unreadable
from batchctl.store.statements import RowSelect
from batchctl.store.tables import calendar, calendar_day

_c, _d = calendar.c, calendar_day.c

_ALL = RowSelect(select(calendar).order_by(_c.Calendar_id))
_DAYS = RowSelect(select(calendar_day).order_by(_d.Calendar_id, _d.CalendarDate))

_NAMED = RowSelect(select(calendar).where(exactly(_c.CalendarName, bindparam("name", type_=_c.CalendarName.type))))
_DAYS_OF = RowSelect(select(calendar_day).where(_d.Calendar_id == bindparam("calendar_id")).order_by(_d.CalendarDate))


def named(connection: Connection, name: str) -> Calendar | None:
    """Return the calendar of a name; raises `ValueError` when one of its rows holds nonsense."""
    for row in _NAMED(connection, name=name):
        return _calendar(row, tuple(_day(each) for each in _DAYS_OF(connection, calendar_id=row.Calendar_id)))
    return None


def everything(connection: Connection) -> tuple[list[Calendar], list[Unreadable]]:
    """Return all calendars with their days, and the rows that hold nonsense; a calendar with such a row is left out."""
    days: dict[int, list[CalendarDay]] = {}
    broken: dict[int, Unreadable] = {}
    for row in _DAYS(connection):
        try:
            days.setdefault(row.Calendar_id, []).append(_day(row))
        except (TypeError, ValueError) as error:
            broken[row.Calendar_id] = Unreadable("CalendarDay", row.CalendarDay_id, str(error))
    found = list[Calendar]()
    for row in _ALL(connection):
        try:
            made = _calendar(row, tuple(days.get(row.Calendar_id, ())))
        except (TypeError, ValueError) as error:
            broken[row.Calendar_id] = Unreadable("Calendar", row.Calendar_id, str(error))
        else:
            found += [made] if row.Calendar_id not in broken else []
    return found, list(broken.values())


def _calendar(row: Row[Any], days: tuple[CalendarDay, ...]) -> Calendar:
    return Calendar(
        calendar_id=CalendarId(int(row.Calendar_id)),
        name=str(row.CalendarName),
        business_days=str(row.BusinessDays),
        valid_from=_date(row.ValidFrom),
        valid_until=_date(row.ValidUntil),
        days=days,
        description=text_of(row.Description),
    )


def _day(row: Row[Any]) -> CalendarDay:
    return CalendarDay(
        day=date.fromisoformat(str(row.CalendarDate)),
        is_business_day=row.IsBusinessDay == 1,
        description=text_of(row.Description),
    )


def _date(text: str | None) -> date | None:
    return None if text is None else date.fromisoformat(text)
