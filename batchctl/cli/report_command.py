"""`batchctl report due`, `late`, `durations` and `night`."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

import click

from batchctl.cli import output
from batchctl.cli.lazily import load_all
from batchctl.cli.log_command import Moment
from batchctl.cli.session import CliSession, batch_names, reads_rows
from batchctl.domain.errors import BatchctlError
from batchctl.domain.records import JsonValue, moment
from batchctl.domain.text import typed, visible
from batchctl.operations.alerting import alert_channels
from batchctl.operations.reports import night_lists, night_mail, night_reading, reporting
from batchctl.system import files

Command = TypeVar("Command", bound=Callable[..., Any])

_batch = click.option(
    "--batch",
    "names",
    metavar="NAME",
    shell_complete=batch_names,
    multiple=True,
    help="Only this batch; may be repeated.",
)
_since = click.option("--since", type=Moment(), help="Not before this time, in UTC  [default: 28 days ago].")
_EVENING = "18:00"
_NIGHT_SINCE = "Since this time of day in the business time zone, the last that has passed; or since a time in UTC."


@click.group()
def report() -> None:
    """Show what is due, what is late, how long steps take, and what a night came to."""


@report.command()
@_batch
@_since
@reads_rows
def durations(session: CliSession, names: tuple[str, ...], since: datetime | None, as_json: bool) -> None:
    """Show how long each step takes: the middle, the slow ones, what was expected, and whether it drifts.

    Drift: the middle of the last 20 runs is half as long again as that of those before, or as much shorter, and by a
    second at least. The line shows the middle of each of the last 20 days with runs.
    """
    found = _reporter(session, names, since).durations()
    if as_json:
        output.print_list(reporting.STEPS, found)
        return
    if found:
        output.show_list(reporting.STEPS, found)
    else:
        output.line("No step has been a success since then.")
    drifting = [one for one in found if one.took.drift is not None]
    output.hints(
        "batchctl report late" if not drifting else f"batchctl report durations --batch {typed(drifting[0].batch)}"
    )


@report.command()
@_batch
@_since
@reads_rows
def due(session: CliSession, names: tuple[str, ...], since: datetime | None, as_json: bool) -> None:
    """Show what schedules start next, what waits for others, and by when all of it should be done."""
    found = _reporter(session, names, since).due()
    lists: dict[str, output.Listed] = {
        "Schedules": (reporting.COMING, found.coming),
        "Waits": (reporting.WAITS, found.waits),
        "Running": (reporting.UNDER_WAY, found.under_way),
    }
    if as_json:
        output.print_lists(lists)
        return
    for columns, rows in lists.values():
        output.show_list(columns, rows, if_any=True)
    if not (found.coming or found.waits or found.under_way):
        output.line("Nothing is due, and nothing is under way.")
    waiting = [f"batchctl forecast {typed(found.waits[0].batch)}"] if found.waits else []
    output.hints(*waiting, "batchctl report late", "batchctl schedule list")


@report.command()
@_batch
@_since
@reads_rows
def late(session: CliSession, names: tuple[str, ...], since: datetime | None, as_json: bool) -> None:
    """Show what should have come or ended by now, what stands, and which steps took longer than expected."""
    found = _reporter(session, names, since).late()
    if as_json:
        output.print_lists(
            {
                "Running": (reporting.UNDER_WAY, found.running),
                "Schedules": (reporting.COMING, found.overdue),
                "Waits": (reporting.WAITS, found.waits),
                "Standing": (reporting.STUCK, found.standing),
                "Steps": (reporting.STEPS, found.steps),
                "Missed": (reporting.MISSED, found.missed),
            }
        )
        return
    output.show_list(reporting.MISSED, found.missed, if_any=True)
    output.show_list(reporting.UNDER_WAY, found.running, title="Running longer than expected", if_any=True)
    output.show_list(reporting.COMING, found.overdue, title="Overdue", if_any=True)
    output.show_list(reporting.WAITS, found.waits, if_any=True)
    output.show_list(reporting.STUCK, found.standing, if_any=True)
    longer = f"Longer than expected, since {found.since:%Y-%m-%d %H:%M} UTC"
    output.show_list(reporting.STEPS, found.steps, title=longer, if_any=True)
    if not found.is_any:
        output.line("Nothing is late.")
    output.hints("batchctl status" if found.is_any else "batchctl report due")


@report.command()
@click.option("--since", default=_EVENING, show_default=True, metavar="TIME", help=_NIGHT_SINCE)
@click.option("--html", "file", metavar="FILE", help="Also write it as a page of HTML, whole or not at all.")
@click.option("--mail", "channel", metavar="CHANNEL", help="Also send it now through a channel for alerts.")
@reads_rows
def night(session: CliSession, since: str, file: str | None, channel: str | None, as_json: bool) -> None:
    """Show on one page what a night came to: what ran, failed, was mended, was late, and what stands open now.

    What stands open comes first, each with what to type next. --json and --csv have the lists in full.
    """
    app = session.app
    if channel is not None:
        alert_channels.check_channel(app.settings, channel)
    found = night_reading.NightReader(app.timetable(), app.presence, app.alert_rules()).since(since)
    if channel is not None:
        load_all()
        night_mail.deliver(
            app.settings, app.send_alert, night_mail.notification(app.settings, found, app.database_id), channel
        )
        output.say(f"The report was sent through {channel}.")
    if file is not None:
        _write(file, night_mail.masked_page(session.app.settings, found))
        output.say(f"The report was written to {file}.")
    if as_json:
        lists: dict[str, output.Listed] = {part.name: (part.columns, part.rows) for part in found.parts}
        output.print_lists({"Verdict": found.verdict, **_times(found), **lists})
        return
    output.line(found.verdict, "bold")
    for note in found.notes:
        output.line(note, "bold red")
    output.line()
    for part in found.shown:
        output.table(part.columns.title, [*part.columns.headings], part.cells)
        if part.rest is not None:
            output.line(part.rest, "dim")
            output.line()
    output.hints(*found.next_steps)


def _times(found: night_lists.NightReport) -> dict[str, JsonValue]:
    """Return from when until when a report looks, and of when it is, for programs."""
    return {"Since": moment(found.span.since), "Until": moment(found.span.until), "Now": moment(found.now)}


def _write(file: str, page: str) -> None:
    try:
        files.write_whole(Path(file), page)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        message = f"'{visible(file)}' cannot be written: {why}. Nothing was changed there."
        raise BatchctlError(message, next_step="name another file: --html night.html") from None


def _reporter(session: CliSession, names: tuple[str, ...], since: datetime | None) -> reporting.Reporter:
    app = session.app
    return reporting.Reporter(app.transactions, app.timetable(), app.alert_rules(), app.presence, names, since)
