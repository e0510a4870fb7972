"""`batchctl report due`, `late` and `durations`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar

import click

from batchctl.cli.log_command import Moment
from batchctl.cli.session import CliSession, as_rows, batch_names, pass_session

if TYPE_CHECKING:
    from rich.console import Console

    from batchctl.operations.dependencies.dependents import Seen
    from batchctl.operations.reporting import Coming, Reporter, StepLengths, StepUnderWay

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


@click.group()
def report() -> None:
    """Show what is due, what is late, and how long steps take."""


@report.command()
@_batch
@_since
@as_rows
@pass_session
def durations(session: CliSession, names: tuple[str, ...], since: datetime | None, as_json: bool) -> None:
    """Show how long each step takes: the middle, the slow ones, what was expected, and whether it drifts.

    Drift: the middle of the last 20 runs is half as long again as that of those before, or as much shorter, and by a
    second at least. The line shows the middle of each of the last 20 days with runs.
    """
    from batchctl.cli import output

    with _reporter(session, names, since) as reporter:
        found = reporter.durations()
    if as_json:
        output.print_json([one.columns for one in found])
        return
    out = output.console()
    if found:
        _show_steps(out, "How long steps take", found)
    else:
        out.print("No step has been a success since then.")
    drifting = [one for one in found if one.took.drift is not None]
    output.hints(
        out, "batchctl report late" if not drifting else f"batchctl report durations --batch {_typed(drifting)}"
    )


@report.command()
@_batch
@_since
@as_rows
@pass_session
def due(session: CliSession, names: tuple[str, ...], since: datetime | None, as_json: bool) -> None:
    """Show what schedules start next, what waits for others, and by when all of it should be done."""
    from batchctl.cli import output

    with _reporter(session, names, since) as reporter:
        found = reporter.due()
    if as_json:
        output.print_json(
            {
                "Schedules": [one.columns for one in found.coming],
                "Waits": [one.columns for one in found.waits],
                "Running": [one.columns for one in found.under_way],
            }
        )
        return
    out = output.console()
    _show_coming(out, "Due next", found.coming)
    _show_waits(out, found.waits)
    _show_running(out, "Under way", found.under_way)
    if not (found.coming or found.waits or found.under_way):
        out.print("Nothing is due, and nothing is under way.")
    output.hints(out, "batchctl report late", "batchctl schedule list")


@report.command()
@_batch
@_since
@as_rows
@pass_session
def late(session: CliSession, names: tuple[str, ...], since: datetime | None, as_json: bool) -> None:
    """Show what should have come or ended by now, what stands, and which steps took longer than expected."""
    from batchctl.cli import output
    from batchctl.cli.listing import Listing
    from batchctl.cli.output import cell, duration, time, word
    from batchctl.operations import shown_columns

    with _reporter(session, names, since) as reporter:
        found = reporter.late()
    if as_json:
        output.print_json(
            {
                "Running": [one.columns for one in found.running],
                "Schedules": [one.columns for one in found.overdue],
                "Waits": [one.columns for one in found.waits],
                "Standing": [one.columns for one in found.standing],
                "Steps": [one.columns for one in found.steps],
                "Missed": [shown_columns.incident_sign(one) for one in found.missed],
            }
        )
        return
    out = output.console()
    if found.missed:
        missed = [(cell(one.subject), time(one.since), cell(one.message), cell(one.next_step)) for one in found.missed]
        output.section(out, Listing("Expected, and not there", ["batch", "by (UTC)", "message", "next"], missed))
    _show_running(out, "Running longer than expected", found.running)
    _show_coming(out, "Overdue", found.overdue)
    _show_waits(out, found.waits)
    if found.standing:
        rows = [
            (
                cell(one.instance.instance_id),
                cell(one.batch),
                word(one.instance.status),
                time(one.instance.updated_at),
                duration(one.stands_for),
            )
            for one in found.standing
        ]
        output.section(out, Listing("Standing", ["id#", "batch", "status", "since (UTC)", "for"], rows))
    if found.steps:
        _show_steps(out, f"Longer than expected, since {found.since:%Y-%m-%d %H:%M} UTC", found.steps)
    if not found.is_any:
        out.print("Nothing is late.")
    output.hints(out, "batchctl status" if found.is_any else "batchctl report due")


@contextmanager
def _reporter(session: CliSession, names: tuple[str, ...], since: datetime | None) -> Iterator[Reporter]:
    from batchctl.operations.reporting import Reporter

    with session.app() as app:
        yield Reporter(app.transactions, app.timetable(), app.alert_rules(), names, since)


def _show_steps(out: Console, title: str, found: Sequence[StepLengths]) -> None:
    from batchctl.cli import output
    from batchctl.cli.listing import Listing
    from batchctl.cli.output import cell, duration
    from batchctl.domain.alerting.performance import spark

    ascii_only = bool(out.options.ascii_only)
    rows = [
        (
            cell(one.batch),
            cell(f"{one.step.seq} {one.step.name}"),
            cell(one.took.many),
            duration(one.took.median),
            duration(one.took.p95),
            duration(one.took.longest),
            duration(one.step.expected_duration),
            cell(one.over or None),
            duration(one.step.alarm_duration),
            cell(_drift(one)),
            cell(spark(one.took.days, ascii_only=ascii_only)),
        )
        for one in found
    ]
    headings = [
        "batch",
        "step",
        "runs#",
        "median#",
        "p95#",
        "longest#",
        "expected#",
        "over#",
        "alarm#",
        "drift",
        "by day",
    ]
    output.section(out, Listing(title, headings, rows))


def _drift(one: StepLengths) -> str | None:
    from batchctl.cli.output import duration

    took = one.took
    return None if took.drift is None else f"{took.drift}: {duration(took.earlier)} -> {duration(took.recent)}"


def _show_coming(out: Console, title: str, found: Sequence[Coming]) -> None:
    from batchctl.cli import output
    from batchctl.cli.listing import Listing
    from batchctl.cli.output import cell, time

    rows = [
        (
            cell(one.coming.schedule.name),
            cell(", ".join(one.batches) or None),
            cell(one.coming.next.words),
            time(one.coming.next.at),
            time(one.done_at),
        )
        for one in found
    ]
    if rows:
        output.section(out, Listing(title, ["schedule", "batches", "due", "due (UTC)", "done by (UTC)"], rows))


def _show_waits(out: Console, found: Sequence[Seen]) -> None:
    from batchctl.cli import output
    from batchctl.cli.listing import Listing
    from batchctl.cli.output import cell, time

    rows = [
        (
            cell(one.wait.batch.name),
            cell(one.wait.cycle_key),
            time(one.wait.since),
            time(one.wait.due),
            cell(one.wait.reason),
        )
        for one in found
    ]
    if rows:
        output.section(
            out, Listing("Waiting for others", ["batch", "CycleKey", "since (UTC)", "deadline (UTC)", "why"], rows)
        )


def _show_running(out: Console, title: str, found: Sequence[StepUnderWay]) -> None:
    from batchctl.cli import output
    from batchctl.cli.listing import Listing
    from batchctl.cli.output import cell, duration, time

    rows = [
        (
            cell(one.entry.instance_id),
            cell(one.batch),
            cell(f"{one.entry.seq} {one.entry.step_name}"),
            time(one.entry.started_at),
            duration(one.elapsed),
            duration(one.expected),
            duration(one.late_by),
            time(one.done_at),
        )
        for one in found
    ]
    headings = ["id#", "batch", "step", "started (UTC)", "runs for#", "expected#", "late by#", "done by (UTC)"]
    if rows:
        output.section(out, Listing(title, headings, rows))


def _typed(found: Sequence[StepLengths]) -> str:
    from batchctl.domain.text import typed

    return typed(found[0].batch)
