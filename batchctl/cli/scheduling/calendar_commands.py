"""`batchctl calendar`: which days are business days."""

from __future__ import annotations

import re
from datetime import date
from typing import Any

import click

from batchctl import app
from batchctl.cli import output
from batchctl.cli.session import CliSession, WholeNumber, acts, as_json, no_time, reads_rows
from batchctl.domain.scheduling import schedules
from batchctl.domain.text import typed, visible
from batchctl.operations import shown_columns
from batchctl.operations.scheduling import almanac, calendar_keeper

MOST_YEARS = 50
_YEARS = re.compile(r"(\d{4})(?:-(\d{4}))?\Z")


class Day(click.ParamType[date]):
    """A day such as 2026-12-25."""

    name = "day"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> date:
        """Read a day."""
        if isinstance(value, date):
            return value
        try:
            if re.fullmatch(r"\d{4}-\d\d-\d\d", value):
                return date.fromisoformat(value)
        except ValueError:
            pass
        return self.fail(no_time(value, "such as 2026-12-25", "a day"), param, ctx)


class WrittenDay(Day):
    """A day, or a text that is shaped like a day and is none: 2026-02-30."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Read a day, or leave the text as it stands."""
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter:
            if len(value) == len("2026-02-30") and value[4] == value[7] == "-":
                return value
            raise


class Years(click.ParamType[range]):
    """One year, or the first and the last of some."""

    name = "years"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> range:
        """Read years."""
        if isinstance(value, range):
            return value
        found = _YEARS.match(value)
        years = range(0) if found is None else range(int(found[1]), int(found[2] or found[1]) + 1)
        if not 0 < len(years) <= MOST_YEARS or not 1900 <= years[0] <= 2200:
            said = f"'{visible(str(value))}' are no years; write 2026 or 2026-2027, at most {MOST_YEARS} of them."
            self.fail(said, param, ctx)
        return years


@click.group()
def calendar() -> None:
    """Keep the calendars that schedules go by: which days are business days.

    A calendar is a row of Calendar, its holidays and extra days are rows of CalendarDay; both may be written by hand.
    """


@calendar.command(name="list")
@reads_rows
def listed(session: CliSession, as_json: bool) -> None:
    """List the calendars: until when each is valid, how many days it has, which schedules go by it."""
    app = session.app
    found = almanac.everything(app.transactions, app.clock, app.settings.zone)
    with app.transactions.read() as connection:
        by_hand = almanac.by_hand(connection, "NL")
    if as_json:
        output.print_list(almanac.CALENDARS, found)
        return
    output.show_list(almanac.CALENDARS, found)
    if found:
        output.hints(f"batchctl calendar show {typed(found[0].calendar.name)}")
    else:
        output.hints(f"batchctl calendar import NL --country NL --years 2026-2027   (or: {by_hand})")


@calendar.command()
@click.argument("name")
@click.option("--year", type=WholeNumber(1900, 2200), help="The days of this year only.")
@reads_rows
def show(session: CliSession, name: str, year: int | None, as_json: bool) -> None:
    """Show a calendar with all its days; of every other day the weekday decides."""
    app = session.app
    found = almanac.named(app.transactions, app.clock, app.settings.zone, name)
    days = found.days_in(year)
    if as_json:
        told = {**almanac.CALENDARS.of(found), "Days": almanac.DAYS.as_json(days)}
        output.print_rows(told, almanac.DAYS.header)
        return
    output.properties(
        [
            ("calendar", output.cell(found.calendar.name, "bold")),
            ("business days", found.calendar.business_days or "none"),
            ("valid", f"{found.calendar.valid_from or 'ever'} to {found.calendar.valid_until or 'ever'}"),
            ("schedules", ", ".join(schedule.name for schedule in found.users) or "none"),
            ("description", found.calendar.description),
        ]
    )
    if found.warning is not None:
        output.say(f"Warning: {found.warning}")
    output.show_list(almanac.DAYS, days)
    output.hints(f"batchctl calendar add-day {typed(found.calendar.name)} 2026-12-24 --description 'closed'")


@calendar.command(name="import")
@click.argument("name")
@click.option("--country", metavar="NL", help="Whose public holidays, by its ISO code.")
@click.option("--subdivision", metavar="BY", help="Of which part of the country.")
@click.option("--market", metavar="NYSE", help="On which days a financial market is closed, in place of a country.")
@click.option("--years", type=Years(), required=True, metavar="2026-2027", help="Of which years.")
@click.option(
    "--replace", "replace_days", is_flag=True, help="Overwrite what the calendar says otherwise of such a day."
)
@acts(needs_reason=False)
@as_json
def import_days(
    session: CliSession,
    name: str,
    country: str | None,
    subdivision: str | None,
    market: str | None,
    years: range,
    replace_days: bool,
    reason: str | None,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Fill a calendar from the library 'holidays'; it is made if it is new.

    To import again adds what is missing. What the calendar says otherwise stays and is shown, unless --replace is given;
    days that the library does not know stay always.
    """
    if (country is None) == (market is None):
        raise click.UsageError("Give either --country or --market.")
    if subdivision is not None and country is None:
        raise click.UsageError("--subdivision is one of a country; give --country too.")
    keeper = _keeper(session, dry_run=dry_run)
    found, description = app.holidays_of(country, subdivision, market, years, keeper.by_hand(name))
    done = keeper.import_days(name, found, years, description=description, replace_days=replace_days, reason=reason)
    if as_json:
        output.print_json(_imported_as_json(done))
    else:
        _show_import(done)


@calendar.command(name="add-day")
@click.argument("name")
@click.argument("day", type=Day())
@click.option("--business", is_flag=True, help="It is a business day, though its weekday is none.")
@click.option("--description", metavar="TEXT", help="What day it is; shown as the reason where it is skipped.")
@acts(needs_reason=False)
@as_json
def add_day(
    session: CliSession,
    name: str,
    day: date,
    business: bool,
    description: str | None,
    reason: str | None,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Say of a day that it is a holiday, or with --business that it is a business day.

    Schedules that go by the calendar and are due next at another time for that are named.
    """
    keeper = _keeper(session, dry_run=dry_run)
    said = schedules.CalendarDay(day=day, is_business_day=business, description=description)
    done = keeper.set_day(name, said, reason=reason)
    _show_day(done, as_json=as_json)


@calendar.command(name="remove-day")
@click.argument("name")
@click.argument("day", type=WrittenDay())
@acts(needs_reason=False)
@as_json
def remove_day(
    session: CliSession, name: str, day: date | str, reason: str | None, dry_run: bool, as_json: bool
) -> None:
    """Say nothing of a day any more: its weekday decides.

    Schedules that go by the calendar and are due next at another time for that are named.
    """
    done = _keeper(session, dry_run=dry_run).remove_day(name, day, reason=reason)
    _show_day(done, as_json=as_json)


@calendar.command()
@click.argument("name")
@acts(needs_reason=True)
def remove(session: CliSession, name: str, reason: str, dry_run: bool) -> None:
    """Delete a calendar that no schedule names; the audit log keeps its days."""
    done = _keeper(session, dry_run=dry_run).remove(name, reason=reason)
    would = "would be" if done.dry_run else "is"
    click.echo(f"Calendar {visible(name)} with {output.counted(done.days, 'day')} {would} removed.")
    output.hints("batchctl calendar list")


def _keeper(session: CliSession, *, dry_run: bool) -> calendar_keeper.CalendarKeeper:
    app = session.app
    return calendar_keeper.CalendarKeeper(
        app.actor(dry_run=dry_run), zone=app.settings.business_time_zone, grace=app.grace
    )


def _imported_as_json(done: calendar_keeper.Imported) -> dict[str, Any]:
    return {
        "CalendarName": done.calendar,
        "IsNew": done.is_new,
        "DryRun": done.dry_run,
        "Added": [shown_columns.of(day) for day in done.added],
        "Same": done.same,
        "Differing": [
            {"Before": shown_columns.of(before), "Import": shown_columns.of(after)} for before, after in done.differing
        ],
        "Replaced": done.replaced,
        "Others": [shown_columns.of(day) for day in done.others],
        "ValidFrom": None if done.valid_from is None else done.valid_from.isoformat(),
        "ValidUntil": None if done.valid_until is None else done.valid_until.isoformat(),
        "Moved": [one.columns for one in done.moved],
    }


def _day_as_json(done: calendar_keeper.DayChange) -> dict[str, Any]:
    return {
        "CalendarName": done.calendar,
        "CalendarDate": str(done.day),
        "DryRun": done.dry_run,
        "Before": None if done.before is None else shown_columns.of(done.before),
        "After": None if done.after is None else shown_columns.of(done.after),
        "Moved": [one.columns for one in done.moved],
    }


def _show_moved(done: calendar_keeper.DayChange | calendar_keeper.Imported) -> None:
    for one in done.moved:
        for said in one.words(dry_run=done.dry_run):
            click.echo(said)


def _show_import(done: calendar_keeper.Imported) -> None:
    would, made = ("would be", " would be made") if done.dry_run else ("are", " is new")
    new = made if done.is_new else ""
    said = f"Calendar {visible(done.calendar)}{new}: {output.counted(len(done.added), 'day')} {would} added"
    output.line(f"{said}, {done.same} stood there already.")
    output.show_list(almanac.DAYS, done.added, title="Added", if_any=True)
    if done.differing:
        differ = [(was.day, _wording(was), _wording(becomes)) for was, becomes in done.differing]
        title, before, after = "Overwritten", "before", "after"
        if not done.replaced:
            title, before, after = "Said otherwise, and left so (--replace overwrites them)", "calendar", "import"
        output.table(title, ["day", before, after], differ)
    rest = [(day.day, _wording(day)) for day in done.others]
    output.table_if_any("Not in the import, and left as they are", ["day", "calendar"], rest)
    if done.valid_until is None:
        output.line("It has no ValidUntil, so nothing warns when its days run out.")
    else:
        output.line(f"Valid {done.valid_from or 'ever'} to {done.valid_until}.")
    _show_moved(done)
    output.hints(
        "the same command without --dry-run" if done.dry_run else f"batchctl calendar show {typed(done.calendar)}"
    )


def _show_day(done: calendar_keeper.DayChange, *, as_json: bool) -> None:
    if as_json:
        output.print_json(_day_as_json(done))
        return
    would = "would say" if done.dry_run else "says now"
    if isinstance(done.day, str):
        gone = "would be" if done.dry_run else "is"
        click.echo(f"'{visible(done.day)}', which is no day, {gone} removed from calendar {visible(done.calendar)}.")
        _show_moved(done)
        output.hints("batchctl check")
        return
    day = f"{done.day:%a %Y-%m-%d}"
    if done.before == done.after:
        click.echo(f"Calendar {visible(done.calendar)} says so of {day} already.")
    else:
        was = "its weekday decided" if done.before is None else _wording(done.before)
        becomes = "its weekday decides" if done.after is None else _wording(done.after)
        said = f"Calendar {visible(done.calendar)} {would} of {day}: {becomes} (it was: {was})."
        click.echo(visible(said))
    _show_moved(done)
    output.hints(f"batchctl calendar show {typed(done.calendar)} --year {done.day.year}")


def _wording(day: schedules.CalendarDay) -> str:
    return day.kind if day.description is None else f"{day.kind}, {day.description}"
