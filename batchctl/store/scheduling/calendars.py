"""`Calendar` and `CalendarDay`: which days are business days."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date, datetime
from typing import Any

from sqlalchemy import Connection, Row, bindparam, delete, select, update

from batchctl.domain.scheduling.schedules import Calendar, CalendarDay, CalendarId, NoDay, Timing
from batchctl.store.comparison import exactly
from batchctl.store.record_reading import Reader
from batchctl.store.statements import RowInsert, RowSelect
from batchctl.store.tables import calendar, calendar_day, process_batch

_c, _d = calendar.c, calendar_day.c
_read, _read_day = Reader(Calendar), Reader(CalendarDay)
_BOUNDS = (("valid_from", "ValidFrom"), ("valid_until", "ValidUntil"))

CALENDARS = RowSelect(select(calendar).order_by(_c.Calendar_id))
DAYS = RowSelect(select(calendar_day).order_by(_d.Calendar_id, _d.CalendarDate))
NAMES = RowSelect(select(_c.CalendarName))
_STRAYS = (
    select(_d.CalendarDay_id, _d.Calendar_id)
    .where(_d.Calendar_id.not_in(select(_c.Calendar_id)))
    .order_by(_d.CalendarDay_id)
)
_ADD = RowInsert(calendar)
_ADD_DAY = RowInsert(calendar_day)
_THE_DAY = (_d.Calendar_id == bindparam("calendar_id")) & (_d.CalendarDate == bindparam("day"))
_CHANGE_DAY = (
    update(calendar_day)
    .where(_THE_DAY)
    .values(IsBusinessDay=bindparam("business"), Description=bindparam("said"), z_updated=bindparam("now"))
)
_DELETE_DAY = delete(calendar_day).where(_THE_DAY)
_DELETE_DAYS = delete(calendar_day).where(_d.Calendar_id == bindparam("calendar_id"))
_DELETE = delete(calendar).where(_c.Calendar_id == bindparam("calendar_id"))

_NAMED = RowSelect(select(calendar).where(exactly(_c.CalendarName, bindparam("name", type_=_c.CalendarName.type))))
_DAYS_OF = RowSelect(select(calendar_day).where(_d.Calendar_id == bindparam("calendar_id")).order_by(_d.CalendarDate))

_EXPECTING = RowSelect(
    select(process_batch.c.ProcessBatchName)
    .where(exactly(process_batch.c.ExpectedCalendar, bindparam("name", type_=_c.CalendarName.type)))
    .order_by(process_batch.c.ProcessBatchName)
)


def named(connection: Connection, name: str) -> Calendar | None:
    """Return the calendar of a name."""
    for row in _NAMED(connection, name=name):
        return _calendar(row, _DAYS_OF(connection, calendar_id=row.Calendar_id))
    return None


def of(connection: Connection, timing: Timing) -> Calendar | None:
    """Return the calendar that a timing goes by, if it names one that there is."""
    return None if timing.calendar_name is None else named(connection, timing.calendar_name)


def everything(connection: Connection) -> list[Calendar]:
    """Return all calendars with their days."""
    days: dict[int, list[Row[Any]]] = {}
    known = CALENDARS.ask(connection)
    for row in DAYS(connection):
        days.setdefault(row.Calendar_id, []).append(row)
    return [_calendar(row, days.get(row.Calendar_id, ())) for row in known()]


def names(connection: Connection) -> set[str]:
    """Return what calendars there are."""
    return {name for (name,) in NAMES(connection)}


def strays(connection: Connection) -> dict[int, int]:
    """Return the days whose calendar is gone, with its id; only changes by hand without foreign keys leave them."""
    return dict(connection.execute(_STRAYS).all())


def expecting(connection: Connection, name: str) -> list[str]:
    """Return the batches that go by a calendar in what is expected of them."""
    return [batch for (batch,) in _EXPECTING(connection, name=name)]


def add(connection: Connection, columns: Mapping[str, object]) -> CalendarId:
    """Insert a calendar, given by its columns; the database fills in the others."""
    return CalendarId(_ADD(connection, columns))


def change(connection: Connection, calendar_id: CalendarId, columns: Mapping[str, object], now: datetime) -> None:
    """Write some columns of a calendar."""
    changed = update(calendar).where(_c.Calendar_id == calendar_id).values({**columns, "z_updated": now})
    connection.execute(changed)


def add_days(connection: Connection, calendar_id: CalendarId, days: Iterable[CalendarDay]) -> None:
    """Insert days that the calendar does not have."""
    columns = ("Calendar_id", "CalendarDate", "IsBusinessDay", "Description")
    rows = [(calendar_id, day.day.isoformat(), int(day.is_business_day), day.description) for day in days]
    if rows:
        _ADD_DAY.rows(connection, columns, rows).insert(connection)


def change_day(connection: Connection, calendar_id: CalendarId, day: CalendarDay, now: datetime) -> None:
    """Write anew what a calendar says of a day that it has."""
    values = {"calendar_id": calendar_id, "day": day.day.isoformat(), "now": now}
    connection.execute(_CHANGE_DAY, {**values, "business": int(day.is_business_day), "said": day.description})


def remove_day(connection: Connection, calendar_id: CalendarId, day: str) -> None:
    """Delete a day; from then on its weekday decides whether it is a business day."""
    connection.execute(_DELETE_DAY, {"calendar_id": calendar_id, "day": day})


def remove(connection: Connection, calendar_id: CalendarId) -> None:
    """Delete a calendar with its days."""
    connection.execute(_DELETE_DAYS, {"calendar_id": calendar_id})
    connection.execute(_DELETE, {"calendar_id": calendar_id})


def _calendar(row: Row[Any], days: Iterable[Row[Any]]) -> Calendar:
    no_days, known = list[NoDay](), list[CalendarDay]()
    for each in days:
        day = _date(each, "CalendarDate", each.CalendarDay_id, no_days)
        if day is not None:
            if each.IsBusinessDay not in {0, 1}:
                no_days.append(_no_flag(each))
            known.append(_read_day(each, day=day))
    bounds = {each: _date(row, column, row.Calendar_id, no_days) for each, column in _BOUNDS}
    return _read(row, **bounds, days=tuple(known), no_days=tuple(no_days))


def _no_flag(row: Row[Any]) -> NoDay:
    number, text = int(row.CalendarDay_id), str(row.IsBusinessDay)
    return NoDay("CalendarDay", number, "IsBusinessDay", text, "where IsBusinessDay has to be 0 or 1")


def _date(row: Row[Any], column: str, row_id: int, no_days: list[NoDay]) -> date | None:
    """Return the day that a column holds; what is none is added to `no_days`."""
    text: str | None = getattr(row, column)
    try:
        return None if text is None else date.fromisoformat(text)
    except ValueError:
        no_days.append(
            NoDay("CalendarDay" if column == "CalendarDate" else "Calendar", int(row_id), column, text or "")
        )
        return None


def sql_to_make(name: str) -> str:
    """Return what a person may type to make a calendar without days."""
    quoted = name.replace("'", "''")
    return f"INSERT INTO Calendar (CalendarName) VALUES ('{quoted}');"  # noqa: S608 - shown, not run


def sql_to_let_go(name: str) -> str:
    """Return what a person may type so that no batch goes by a calendar any more."""
    quoted = name.replace("'", "''")
    return f"UPDATE ProcessBatch SET ExpectedCalendar = NULL WHERE ExpectedCalendar = '{quoted}';"  # noqa: S608 - shown, not run


def sql_to_correct(column: str, row_id: int, table: str = "Calendar") -> str:
    """Return what a person may type to correct a column of a calendar, or of one of its days."""
    return f"UPDATE {table} SET {column} = ... WHERE {table}_id = {row_id}"  # noqa: S608 - shown, not run


def sql_to_end_on(day: date, calendar_id: int) -> str:
    """Return what a person may type to let a calendar end on a day."""
    return f"UPDATE Calendar SET ValidUntil = '{day}' WHERE Calendar_id = {calendar_id}"  # noqa: S608 - shown, not run


def sql_to_delete(day_id: int) -> str:
    """Return what a person may type to delete a day."""
    return f"DELETE FROM CalendarDay WHERE CalendarDay_id = {day_id}"  # noqa: S608 - shown, not run
