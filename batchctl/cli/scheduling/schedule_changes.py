"""`batchctl schedule add, set, enable, disable`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

import click

from batchctl.cli import output
from batchctl.cli.missing_controller import to_run
from batchctl.cli.session import FINDINGS, CliSession, WholeNumber, acts, one_of
from batchctl.domain.scheduling.schedule_columns import option_of
from batchctl.domain.status import CalendarRule, CatchUp, FoldPolicy, GapPolicy, Overlap, ScheduleType
from batchctl.domain.text import typed, visible
from batchctl.operations.scheduling import schedule_keeper

Command = TypeVar("Command", bound=Callable[..., Any])


class Emptied(click.ParamType[Any]):
    """What another type takes, or nothing: '' empties a column."""

    def __init__(self, kind: click.ParamType[Any]) -> None:
        self._kind = kind
        self.name = kind.name

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Read a value."""
        return "" if value == "" else self._kind.convert(value, param, ctx)


def _one_of(words: Iterable[str]) -> click.ParamType[Any]:
    return Emptied(one_of(words))


# Each is a column, in the order of docs/schedules.md.
_COLUMNS: tuple[tuple[str, click.ParamType[Any], str, str], ...] = (
    ("IntervalMinutes", Emptied(WholeNumber(1, 1440)), "15", "interval: how many minutes lie between."),
    ("RunTimes", click.STRING, "06:00,18:00", "At which times, by the clocks of its zone."),
    ("RunDays", click.STRING, "Mon-Fri", "On which days of the week."),
    ("RunDaysOfMonth", click.STRING, "1,15,last", "On which days of the month; business_1 and business_last too."),
    ("WeekOfMonth", click.STRING, "first,last", "Which of these weekdays in its month."),
    ("RunMonths", click.STRING, "Jan,Jul", "In which months."),
    ("BetweenTimes", click.STRING, "09:00-17:00", "Between which times of the day."),
    ("EveryN", Emptied(WholeNumber(1, 1000)), "2", "Every how many days, weeks or months."),
    ("StartDate", click.STRING, "DAY", "Not before this day."),
    ("EndDate", click.STRING, "DAY", "Not after this day."),
    ("RunAt", click.STRING, "'DAY HH:MM'", "once: when."),
    ("Cron", click.STRING, "'30 2 * * 1-5'", "cron: the expression, of five fields."),
    ("TimeZone", click.STRING, "ZONE", "By whose clocks, such as Europe/Amsterdam; else the business time zone."),
    ("CalendarName", click.STRING, "NAME", "Which calendar says what business days are."),
    ("CalendarRule", _one_of(CalendarRule), "RULE", "What is done on the others."),
    ("GapPolicy", _one_of(GapPolicy), "POLICY", "A time that the clocks leave out: run after the gap, or skip."),
    ("FoldPolicy", _one_of(FoldPolicy), "POLICY", "A time that the clocks show twice: once or twice."),
    ("CatchUp", _one_of(CatchUp), "POLICY", "What was missed with no controller there: none, latest, up_to."),
    ("CatchUpMost", Emptied(WholeNumber(1, 1000)), "3", "up_to: how many at most."),
    ("Overlap", _one_of(Overlap), "POLICY", "While work of the entity is open: queue, or skip."),
    ("Jitter", Emptied(WholeNumber(0, 86400)), "SECONDS", "Up to how many seconds later it starts."),
    ("Description", click.STRING, "TEXT", "What it is for."),
)


def _column_options(command: Command) -> Command:
    for column, kind, shown, said in reversed(_COLUMNS):
        option = click.option(option_of(column), column, type=kind, metavar=_metavar(kind, shown), help=said)
        command = option(command)
    return command


def _metavar(kind: click.ParamType[Any], shown: str) -> str | None:
    words = kind._kind if isinstance(kind, Emptied) else None  # noqa: SLF001 - of this module
    return "|".join(words.choices) if isinstance(words, click.Choice) else shown


_type = one_of(ScheduleType)


@click.command()
@click.argument("name")
@click.option("--entity", "Entity", required=True, metavar="ENTITY", help="Whose batches it starts.")
@click.option("--type", "ScheduleType", type=_type, required=True, help="By which cadence.")
@_column_options
@click.option("--disabled", is_flag=True, help="Make it, but let it start nothing yet.")
@acts(needs_reason=False)
def add(session: CliSession, /, name: str, disabled: bool, reason: str | None, dry_run: bool, **given: Any) -> None:
    """Make a schedule; the options are the columns of Schedule. Everything is looked through before it is written.

    Exit code 6 and nothing written when anything is wrong; all findings are shown at once.
    """
    columns = {**_given(given), "Enabled": int(not disabled)}
    done = _keeper(session, dry_run=dry_run).add(name, columns, reason=reason)
    _end(session, done, f"Schedule {visible(name)} {'would be' if dry_run else 'is'} made")


@click.command(name="set")
@click.argument("name")
@click.option("--entity", "Entity", metavar="ENTITY", help="Whose batches it starts.")
@click.option("--type", "ScheduleType", type=_type, help="By which cadence; what only the old one needed is emptied.")
@_column_options
@acts(needs_reason=True)
def change(session: CliSession, /, name: str, reason: str, dry_run: bool, **given: Any) -> None:
    """Change some columns of a schedule; '' empties one. Everything is looked through before it is written.

    A new timing counts from now on: what was due before by the old one is not made up for.
    """
    columns = _given(given)
    if not columns:
        raise click.UsageError("Name at least one column to change, such as --run-times 06:00.")
    done = _keeper(session, dry_run=dry_run).change(name, columns, reason=reason)
    if not done.after and not done.findings:
        click.echo(f"Schedule {visible(name)} says so already.")
        return
    _end(session, done, f"Schedule {visible(name)} {'would be' if dry_run else 'is'} changed")


@click.command()
@click.argument("name")
@acts(needs_reason=True)
def enable(session: CliSession, name: str, reason: str, dry_run: bool) -> None:
    """Switch a schedule on; nothing that was due while it was off is made up for."""
    done = _keeper(session, dry_run=dry_run).set_enabled(name, enabled=True, reason=reason)
    if not done.after and not done.findings:
        click.echo(f"Schedule {visible(name)} is enabled already.")
        return
    would = "would be" if dry_run else "is now"
    said = f"Schedule {visible(name)} {would} enabled. Nothing that was due while it was off is made up for"
    _end(session, done, said)


@click.command()
@click.argument("name")
@acts(needs_reason=True)
def disable(session: CliSession, name: str, reason: str, dry_run: bool) -> None:
    """Switch a schedule off: it starts nothing; work that it has started goes on."""
    done = _keeper(session, dry_run=dry_run).set_enabled(name, enabled=False, reason=reason)
    would = "would be" if dry_run else "is now"
    click.echo(f"Schedule {visible(name)} {would if done.after else 'is'} disabled{'' if done.after else ' already'}.")
    output.hints(f"batchctl schedule enable {typed(name)} --reason ...")


def _keeper(session: CliSession, *, dry_run: bool) -> schedule_keeper.ScheduleKeeper:
    app = session.app
    return schedule_keeper.ScheduleKeeper(app.actor(dry_run=dry_run), app.settings.business_time_zone)


def _given(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns that were named; '' is one that is emptied."""
    return {column: None if value == "" else value for column, value in options.items() if value is not None}


def _end(session: CliSession, done: schedule_keeper.WrittenSchedule, wording: str) -> None:
    if done.findings:
        rows = [(one.column or None, one.message) for one in done.findings]
        title = f"{output.counted(len(rows), 'finding')}; nothing was written"
        output.table(title, ["column", "what is wrong"], rows)
        remedies = [one.remedy for one in done.findings if one.remedy]
        output.hints(*dict.fromkeys(remedies), "correct what is named, and give the command again")
        raise click.exceptions.Exit(FINDINGS)
    for warning in done.warnings:
        output.say(f"Warning: {warning.message}")
    output.line(f"{wording}: {done.words}." if done.words else f"{wording}.")
    if not done.is_new:
        differing = [(name, done.before[name], done.after[name]) for name in done.after]
        output.table(None, ["column", "before", "after"], differing)
    if done.cleared:
        output.line(f"Emptied, because only the old type needed it: {', '.join(done.cleared)}.")
    if done.next is not None:
        at = f"{done.next.local} ({done.next.at:%Y-%m-%d %H:%M:%S} UTC)"
        output.line(f"It runs next at {at}.")
    elif done.schedule.enabled:
        output.line("It is not due any more.")
    else:
        output.line("It is disabled, so it starts nothing.")
    name = typed(done.schedule.name)
    following = [*(to_run(session.app) if done.next else ()), f"batchctl schedule preview {name}"]
    if done.dry_run:
        following = ["the same command without --dry-run"]
    elif not done.schedule.enabled:
        following = [f"batchctl schedule enable {name} --reason ..."]
    output.hints(*following)
