"""Which calendars there are, what each says, who goes by it, and whether it ends: the read models behind `calendar`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Annotated
from zoneinfo import ZoneInfo

from batchctl.domain.errors import NotFound
from batchctl.domain.outcomes import Finding
from batchctl.domain.scheduling import due
from batchctl.domain.scheduling.business_days import running_out, to_import
from batchctl.domain.scheduling.schedules import Calendar, CalendarDay, NoDay, Schedule, Timing
from batchctl.domain.status import ScheduleType
from batchctl.domain.text import did_you_mean, typed, visible
from batchctl.operations.column_lists import ColumnList, record
from batchctl.ports import Clock, Transactions
from batchctl.store import Connection
from batchctl.store.scheduling import calendars, schedule_rows

DATE = "CalendarDate"


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptCalendar:
    """A calendar, the schedules that go by it, and whether it runs out."""

    calendar: Calendar
    users: tuple[Schedule, ...]
    warning: str | None

    @property
    def is_in_use(self) -> bool:
        """Say whether anything starts work by it."""
        return any(schedule.enabled for schedule in self.users)

    @property
    def days(self) -> tuple[CalendarDay, ...]:
        """Return the days it has, in order."""
        return tuple(sorted(self.calendar.days, key=lambda day: day.day))

    def days_in(self, year: int | None) -> tuple[CalendarDay, ...]:
        """Return those of one year, or all."""
        return tuple(day for day in self.days if year in {None, day.day.year})


CALENDARS = ColumnList[KeptCalendar](
    "Calendars",
    {
        **record(Calendar, lambda one: one.calendar),
        "DayCount": lambda one: len(one.days),
        "Schedules": lambda one: [schedule.name for schedule in one.users],
        "Warning": lambda one: one.warning,
    },
    {
        "name": "CalendarName",
        "business days": lambda one: one.calendar.business_days or "none",
        "valid from": "ValidFrom",
        "valid until": "ValidUntil",
        "days#": "DayCount",
        "schedules": lambda one: ", ".join(schedule.name for schedule in one.users) or None,
        "but": "Warning",
    },
)
DAYS = ColumnList[CalendarDay](
    "Days",
    record(CalendarDay),
    {
        "day": "CalendarDate",
        "weekday": lambda one: f"{one.day:%a}",
        "is a": lambda one: one.kind,
        "description": "Description",
    },
)


@dataclass(frozen=True, slots=True)
class RunningOut:
    """A calendar that some schedule goes by and that ends: for `status`."""

    calendar: Annotated[str, "CalendarName"]
    valid_until: date
    message: str
    schedules: tuple[str, ...]
    next_step: Annotated[str, "Next"]


RUNNING_OUT = ColumnList[RunningOut](
    "Calendars that run out",
    record(RunningOut),
    {
        "name": "CalendarName",
        "valid until": "ValidUntil",
        "schedules": lambda one: ", ".join(one.schedules),
        "message": "Message",
        "next": "Next",
    },
)


def everything(transactions: Transactions, clock: Clock, zone: ZoneInfo) -> tuple[KeptCalendar, ...]:
    """Return all calendars in order of their making."""
    with transactions.read() as connection:
        return _kept(connection, clock.now().astimezone(zone).date())


def named(transactions: Transactions, clock: Clock, zone: ZoneInfo, name: str) -> KeptCalendar:
    """Return one calendar."""
    found = everything(transactions, clock, zone)
    for kept in found:
        if kept.calendar.name == name:
            return kept
    raise unknown_calendar(name, [kept.calendar for kept in found])


def unknown_calendar(name: str, known: Sequence[Calendar]) -> NotFound:
    """Say that there is no such calendar, and which one may have been meant."""
    meant = visible(did_you_mean(name, [calendar.name for calendar in known]))
    message = f"There is no calendar '{visible(name)}'.{meant}"
    made = f"{to_import(name)}, or by hand: {calendars.sql_to_make(name)}"
    return NotFound(message, next_step=f"batchctl calendar list   (or make it: {made})")


def by_hand(connection: Connection, name: str) -> str:
    """Return what to type to write a calendar by hand, and before it what makes it where it is not there."""
    write = f"batchctl calendar add-day {typed(name)} DAY"
    return write if name in calendars.names(connection) else f"{calendars.sql_to_make(name)} and then: {write}"


def ending(connection: Connection, today: date) -> Iterator[RunningOut]:
    """Yield the calendars that enabled schedules go by and that have run out or soon will."""
    for kept in _kept(connection, today):
        until, said = kept.calendar.valid_until, running_out(kept.calendar, today)
        if said is not None and until is not None and kept.is_in_use:
            users = tuple(schedule.name for schedule in kept.users if schedule.enabled)
            yield RunningOut(kept.calendar.name, until, said, users, to_extend(kept.calendar, today))


def faults(calendar: Calendar) -> Iterator[Finding]:
    """Yield what is wrong with the rows of a calendar, used or not; its name is checked elsewhere."""
    for no_day in calendar.no_days:
        said = f"It cannot be read: {no_day}. Schedules that go by it start nothing."
        yield Finding(no_day.column, said, to_mend(calendar.name, no_day))
    if calendar.business_days.strip():
        weekdays = Timing(schedule_type=ScheduleType.WEEKLY, run_times="00:00", run_days=calendar.business_days)
        for finding in due.findings(weekdays, "UTC", None, ()):
            yield Finding("BusinessDays", finding.message, to_correct(calendar, "BusinessDays"))
    begins, until = calendar.valid_from, calendar.valid_until
    if begins is not None and until is not None and until < begins:
        yield Finding("ValidUntil", f"It is before ValidFrom, {begins}.", to_correct(calendar, "ValidUntil"))
        return
    behind = sorted(one.day for one in calendar.days if until is not None and one.day > until)
    if behind:
        first = f"{len(behind)} of its days lie after it, the first on {behind[0]}"
        said = f"{first}: it is not known whether they are all."
        to_do = calendars.sql_to_end_on(behind[-1], calendar.calendar_id)
        yield Finding("ValidUntil", said, f"{to_do}   (if they are)")


def to_mend(name: str, no_day: NoDay) -> str:
    """Return what to type so that a calendar can be read again."""
    if no_day.column != DATE:
        return calendars.sql_to_correct(no_day.column, no_day.row_id, no_day.table)
    delete = calendars.sql_to_delete(no_day.row_id)
    return f"batchctl calendar remove-day {typed(name)} {typed(no_day.text)}   (or: {delete})"


def to_correct(calendar: Calendar, column: str) -> str:
    """Return what to type so that a column of a calendar is as it should be."""
    return calendars.sql_to_correct(column, calendar.calendar_id)


def to_extend(calendar: Calendar, today: date) -> str:
    """Return what to type so that a calendar goes on."""
    year = max(today.year, (calendar.valid_until or today).year + 1)
    return to_import(calendar.name, str(year))


def _kept(connection: Connection, today: date) -> tuple[KeptCalendar, ...]:
    all_schedules = schedule_rows.everything(connection)[0]
    return tuple(
        KeptCalendar(
            calendar=calendar,
            users=tuple(one for one in all_schedules if one.timing.calendar_name == calendar.name),
            warning=_warning(calendar, today),
        )
        for calendar in calendars.everything(connection)
    )


def _warning(calendar: Calendar, today: date) -> str | None:
    """Return the gravest finding about a calendar, in words."""
    if calendar.no_days:
        return f"unreadable: {calendar.no_days[0]}"
    wrong = next(faults(calendar), None)
    return running_out(calendar, today) if wrong is None else f"{wrong.column}: {wrong.message}"
