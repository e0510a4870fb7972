"""What people do to calendars: each act in one transaction, with its row in the audit log."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta

from batchctl.domain.errors import NotFound, Refused
from batchctl.domain.records import JsonValue
from batchctl.domain.scheduling.schedules import Calendar, CalendarDay, CalendarId
from batchctl.domain.text import NAME_LIMIT, fitting, typed, unfit, visible
from batchctl.operations import shown_columns
from batchctl.operations.operators.acts import Actor, checked_reason
from batchctl.operations.scheduling import almanac, calendar_moves, timetable
from batchctl.operations.scheduling.calendar_moves import MovedSchedule
from batchctl.store import Connection
from batchctl.store.scheduling import calendars, schedule_rows

_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """What an import made of a calendar, or would make."""

    calendar: str
    is_new: bool
    added: tuple[CalendarDay, ...]
    same: int
    """How many days stood there as they are already."""
    differing: tuple[tuple[CalendarDay, CalendarDay], ...]
    """Days of which the calendar said something else: what it said, and what the import says."""
    replaced: bool
    """True when the import has its way there."""
    others: tuple[CalendarDay, ...]
    """Days of those years that only the calendar knows; they stay."""
    valid_from: date | None
    valid_until: date | None
    dry_run: bool
    moved: tuple[MovedSchedule, ...] = ()
    """The schedules that are due next at another time for that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DayChange:
    """What was done to one day, or would be; None where the weekday decides."""

    calendar: str
    day: date | str
    """A text where it is no day."""
    before: CalendarDay | None
    after: CalendarDay | None
    dry_run: bool
    moved: tuple[MovedSchedule, ...]
    """The schedules that are due next at another time for that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RemovedCalendar:
    """A calendar that is gone, or would be."""

    calendar: str
    days: int
    dry_run: bool


@dataclass(frozen=True, slots=True)
class CalendarKeeper:
    """Keeps calendars, for a person."""

    actor: Actor
    zone: str
    """The business time zone."""
    grace: timedelta
    """How long after it a due time is on time."""

    def import_days(
        self,
        name: str,
        found: Mapping[date, str],
        years: Sequence[int],
        *,
        description: str,
        replace_days: bool = False,
        reason: str | None = None,
    ) -> Imported:
        """Add the holidays of some years; what people said otherwise stays, unless the import shall replace it."""
        reason = checked_reason(reason)
        _check_name(name)

        def act(connection: Connection) -> Imported:
            _check_years(found, years, almanac.by_hand(connection, name))
            known = _find(connection, name)
            if known is not None and known.no_days:
                message = f"Calendar {visible(name)} cannot be read: {known.no_days[0]}."
                raise Refused(message, next_step=almanac.to_mend(name, known.no_days[0]))
            first, last = date(min(years), 1, 1), date(max(years), 12, 31)
            if known is not None and not _reaches(known, first, last):
                raise _gap(known, first, last)
            holidays = [CalendarDay(day=day, description=fitting(said)) for day, said in sorted(found.items())]
            made = _compared(name, known, holidays, first, last)
            made = replace(made, replaced=replace_days, dry_run=self.actor.dry_run)
            made = replace(made, moved=self._moves(connection, _become(known, made)))
            if not self.actor.dry_run:
                self._write(connection, known, made, description, reason)
            return made

        return self.actor.act(act)

    def by_hand(self, name: str) -> str:
        """Return what to type to write a calendar by hand."""
        with self.actor.transactions.read() as connection:
            return almanac.by_hand(connection, name)

    def set_day(self, name: str, day: CalendarDay, *, reason: str | None = None) -> DayChange:
        """Say of a day whether it is a business day."""
        reason = checked_reason(reason)
        failure = None if day.description is None else unfit(day.description)
        if failure is not None or len(day.description or "") > NAME_LIMIT:
            raise Refused(f"The description cannot be kept: {failure or f'it is longer than {NAME_LIMIT} characters'}.")

        def act(connection: Connection) -> DayChange:
            calendar = _named(connection, name)
            before = _day_of(calendar, day.day)
            moved = self._moves(connection, _with(calendar, day.day, day))
            if not self.actor.dry_run and before != day:
                if before is None:
                    calendars.add_days(connection, calendar.calendar_id, [day])
                else:
                    calendars.change_day(connection, calendar.calendar_id, day, self.actor.clock.now())
                was = {} if before is None else shown_columns.of(before)
                became = shown_columns.of(day)
                self.actor.note(connection, "calendar add-day", _target(name), reason, was, became)
            dry_run = self.actor.dry_run
            return DayChange(calendar=name, day=day.day, before=before, after=day, dry_run=dry_run, moved=moved)

        return self.actor.act(act)

    def remove_day(self, name: str, day: date | str, *, reason: str | None = None) -> DayChange:
        """Say nothing of a day any more: its weekday decides. A text that is no day is deleted where it stands."""
        reason = checked_reason(reason)

        def act(connection: Connection) -> DayChange:
            calendar = _named(connection, name)
            before = _day_of(calendar, day)
            is_no_day = any(each.column == almanac.DATE and each.text == day for each in calendar.no_days)
            if before is None and not is_no_day:
                message = (
                    f"Calendar {visible(name)} says nothing about {visible(str(day))}: there is nothing to remove."
                )
                raise NotFound(message, next_step=f"batchctl calendar show {typed(name)}")
            moved = self._moves(connection, _with(calendar, day, None))
            if not self.actor.dry_run:
                calendars.remove_day(connection, calendar.calendar_id, str(day))
                was = shown_columns.of(before) if before is not None else {almanac.DATE: str(day)}
                self.actor.note(connection, "calendar remove-day", _target(name), reason, was, {})
            dry_run = self.actor.dry_run
            return DayChange(calendar=name, day=day, before=before, after=None, dry_run=dry_run, moved=moved)

        return self.actor.act(act)

    def remove(self, name: str, *, reason: str) -> RemovedCalendar:
        """Delete a calendar that neither a schedule nor ExpectedCalendar of a batch names."""
        reason = checked_reason(reason) or ""

        def act(connection: Connection) -> RemovedCalendar:
            calendar = _named(connection, name)
            users = [one.name for one in schedule_rows.everything(connection)[0] if one.timing.calendar_name == name]
            if users:
                listed = ", ".join(visible(user) for user in users)
                message = f"Calendar {visible(name)} is used by schedule {listed}."
                steps = [f"batchctl schedule set {typed(user)} --calendar-name '' --reason ..." for user in users]
                raise Refused(message, next_step="; ".join(steps))
            if expecting := calendars.expecting(connection, name):
                message = f"Calendar {visible(name)} is ExpectedCalendar of batch {', '.join(map(visible, expecting))}."
                raise Refused(message, next_step=calendars.sql_to_let_go(name))
            if not self.actor.dry_run:
                calendars.remove(connection, calendar.calendar_id)
                days = [*_written(calendar.days), *(f"{each}" for each in calendar.no_days)]
                before: shown_columns.Columns = {**shown_columns.of(calendar), "Days": days}
                self.actor.note(connection, "calendar remove", _target(name), reason, before, {})
            return RemovedCalendar(calendar=name, days=len(calendar.days), dry_run=self.actor.dry_run)

        return self.actor.act(act)

    def _moves(self, connection: Connection, becomes: Calendar) -> tuple[MovedSchedule, ...]:
        """Return what the change does to the schedules that go by a calendar, before anything is written."""
        context = timetable.schedule_context(connection, self.zone, self.actor.clock.now())
        return calendar_moves.moves(connection, context, self.grace, becomes)

    def _write(
        self, connection: Connection, known: Calendar | None, made: Imported, description: str, reason: str | None
    ) -> None:
        now = self.actor.clock.now()
        validity: shown_columns.Columns = {"ValidFrom": _text(made.valid_from), "ValidUntil": _text(made.valid_until)}
        before: shown_columns.Columns = {}
        if known is None:
            calendar_id = calendars.add(
                connection, {"CalendarName": made.calendar, "Description": description, **validity}
            )
        else:
            calendar_id = known.calendar_id
            before = {"ValidFrom": _text(known.valid_from), "ValidUntil": _text(known.valid_until)}
            if before != validity:
                calendars.change(connection, calendar_id, validity, now)
        calendars.add_days(connection, calendar_id, made.added)
        overruled = made.differing if made.replaced else ()
        for _, day in overruled:
            calendars.change_day(connection, calendar_id, day, now)
        if known is None or before != validity or made.added or overruled:
            was = {**before, "Days": _written(day for day, _ in overruled)}
            became = {**validity, "Days": _written([*made.added, *(day for _, day in overruled)])}
            self.actor.note(connection, "calendar import", _target(made.calendar), reason, was, became)


def _with(calendar: Calendar, day: date | str, instead: CalendarDay | None) -> Calendar:
    """Return a calendar that says something else of a day."""
    days = [each for each in calendar.days if each.day != day]
    no_days = [each for each in calendar.no_days if each.column != almanac.DATE or each.text != day]
    return replace(calendar, days=(*days, *([] if instead is None else [instead])), no_days=tuple(no_days))


def _become(known: Calendar | None, made: Imported) -> Calendar:
    """Return a calendar as an import leaves it."""
    calendar = Calendar(calendar_id=CalendarId(0), name=made.calendar) if known is None else known
    calendar = replace(calendar, valid_from=made.valid_from, valid_until=made.valid_until)
    for day in (*made.added, *(day for _, day in made.differing if made.replaced)):
        calendar = _with(calendar, day.day, day)
    return calendar


def _written(days: Iterable[CalendarDay]) -> list[JsonValue]:
    return [shown_columns.of(day) for day in days]


def _compared(name: str, known: Calendar | None, holidays: Sequence[CalendarDay], first: date, last: date) -> Imported:
    """Compare what is to be imported with what the calendar says."""
    said = {} if known is None else {day.day: day for day in known.days}
    wanted = {day.day for day in holidays}
    return Imported(
        calendar=name,
        is_new=known is None,
        added=tuple(day for day in holidays if day.day not in said),
        same=sum(said.get(day.day) == day for day in holidays),
        differing=tuple((said[day.day], day) for day in holidays if said.get(day.day, day) != day),
        replaced=False,
        others=tuple(day for at, day in said.items() if at not in wanted and first <= at <= last),
        valid_from=first if known is None else known.valid_from and min(known.valid_from, first),
        valid_until=last if known is None else known.valid_until and max(known.valid_until, last),
        dry_run=False,
    )


def _reaches(calendar: Calendar, first: date, last: date) -> bool:
    """Say whether these years follow those that the calendar knows without a gap."""
    is_behind = calendar.valid_until is not None and first > calendar.valid_until + _DAY
    is_before = calendar.valid_from is not None and last < calendar.valid_from - _DAY
    return not is_behind and not is_before


def _gap(calendar: Calendar, first: date, last: date) -> Refused:
    years = f"{first.year}-{last.year}"
    if calendar.valid_until is not None and first > calendar.valid_until:
        years = f"{(calendar.valid_until + _DAY).year}-{last.year}"
    elif calendar.valid_from is not None:
        years = f"{first.year}-{(calendar.valid_from - _DAY).year}"
    known = f"from {calendar.valid_from or 'ever'} until {calendar.valid_until or 'ever'}"
    message = (
        f"Calendar {visible(calendar.name)} is valid {known}: between that and these years nothing would be known."
    )
    return Refused(message, next_step=f"the same with --years {years}")


def _find(connection: Connection, name: str) -> Calendar | None:
    return next((each for each in calendars.everything(connection) if each.name == name), None)


def _named(connection: Connection, name: str) -> Calendar:
    calendar = _find(connection, name)
    if calendar is None:
        raise almanac.unknown_calendar(name, calendars.everything(connection))
    return calendar


def _day_of(calendar: Calendar, day: date | str) -> CalendarDay | None:
    return next((each for each in calendar.days if each.day == day), None)


def _check_name(name: str) -> None:
    failure = unfit(name) or ("it is empty" if not name.strip() else None)
    failure = failure or (f"it is longer than {NAME_LIMIT} characters" if len(name) > NAME_LIMIT else None)
    if failure is not None:
        raise Refused(f"A calendar cannot be called '{visible(name)}': {failure}.")


def _check_years(found: Mapping[date, str], years: Sequence[int], by_hand: str) -> None:
    """Refuse years of which the import knows nothing: they would pass for years without holidays."""
    unknown = sorted(set(years) - {day.year for day in found})
    if unknown:
        listed = ", ".join(map(str, unknown))
        message = f"No holidays are known of {listed}: such a year would pass for one without any."
        raise Refused(message, next_step=f"import other years, or write the days yourself: {by_hand}")


def _text(day: date | None) -> str | None:
    return None if day is None else day.isoformat()


def _target(name: str) -> str:
    return f"Calendar:{name}"
