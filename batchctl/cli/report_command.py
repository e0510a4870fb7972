"""`batchctl report due`, `late` and `durations`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, TypeVar

import click

from batchctl.cli import output
from batchctl.cli.log_command import Moment
from batchctl.cli.session import CliSession, batch_names, reads_rows
from batchctl.domain.alerting.performance import spark
from batchctl.domain.text import typed
from batchctl.operations import reporting, shown_columns
from batchctl.operations.dependencies import dependents

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
@reads_rows
def durations(session: CliSession, names: tuple[str, ...], since: datetime | None, as_json: bool) -> None:
    """Show how long each step takes: the middle, the slow ones, what was expected, and whether it drifts.

    Drift: the middle of the last 20 runs is half as long again as that of those before, or as much shorter, and by a
    second at least. The line shows the middle of each of the last 20 days with runs.
    """
    found = _reporter(session, names, since).durations()
    if as_json:
        output.print_json([one.columns for one in found])
        return
    if found:
        _show_steps("How long steps take", found)
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
    if as_json:
        output.print_json(
            {
                "Schedules": [one.columns for one in found.coming],
                "Waits": dependents.WAITS.as_json(found.waits),
                "Running": [one.columns for one in found.under_way],
            }
        )
        return
    _show_coming("Due next", found.coming)
    _show_waits(found.waits)
    _show_running("Under way", found.under_way)
    if not (found.coming or found.waits or found.under_way):
        output.line("Nothing is due, and nothing is under way.")
    output.hints("batchctl report late", "batchctl schedule list")


@report.command()
@_batch
@_since
@reads_rows
def late(session: CliSession, names: tuple[str, ...], since: datetime | None, as_json: bool) -> None:
    """Show what should have come or ended by now, what stands, and which steps took longer than expected."""
    found = _reporter(session, names, since).late()
    if as_json:
        output.print_json(
            {
                "Running": [one.columns for one in found.running],
                "Schedules": [one.columns for one in found.overdue],
                "Waits": dependents.WAITS.as_json(found.waits),
                "Standing": [one.columns for one in found.standing],
                "Steps": [one.columns for one in found.steps],
                "Missed": [shown_columns.incident_sign(one) for one in found.missed],
            }
        )
        return
    missed = [(one.subject, one.since, one.message, one.next_step) for one in found.missed]
    output.table_if_any("Expected, and not there", ["batch", "by (UTC)", "message", "next"], missed)
    _show_running("Running longer than expected", found.running)
    _show_coming("Overdue", found.overdue)
    _show_waits(found.waits)
    rows = [
        (one.instance.instance_id, one.batch, output.word(one.instance.status), one.instance.updated_at, one.stands_for)
        for one in found.standing
    ]
    output.table_if_any("Standing", ["id#", "batch", "status", "since (UTC)", "for"], rows)
    if found.steps:
        _show_steps(f"Longer than expected, since {found.since:%Y-%m-%d %H:%M} UTC", found.steps)
    if not found.is_any:
        output.line("Nothing is late.")
    output.hints("batchctl status" if found.is_any else "batchctl report due")


def _reporter(session: CliSession, names: tuple[str, ...], since: datetime | None) -> reporting.Reporter:
    app = session.app
    return reporting.Reporter(app.transactions, app.timetable(), app.alert_rules(), names, since)


def _show_steps(title: str, found: Sequence[reporting.StepLengths]) -> None:
    ascii_only = bool(output.console().options.ascii_only)
    rows = [
        (
            one.batch,
            f"{one.step.seq} {one.step.name}",
            one.took.many,
            one.took.median,
            one.took.p95,
            one.took.longest,
            one.step.expected_duration,
            one.over or None,
            one.step.alarm_duration,
            _drift(one),
            spark(one.took.days, ascii_only=ascii_only),
        )
        for one in found
    ]
    lengths = ["median#", "p95#", "longest#", "expected#", "over#", "alarm#"]
    output.table_if_any(title, ["batch", "step", "runs#", *lengths, "drift", "by day"], rows)


def _drift(one: reporting.StepLengths) -> str | None:
    took = one.took
    return None if took.drift is None else f"{took.drift}: {output.shown(took.earlier)} -> {output.shown(took.recent)}"


def _show_coming(title: str, found: Sequence[reporting.Coming]) -> None:
    rows = [
        (
            one.coming.schedule.name,
            ", ".join(one.batches) or None,
            one.coming.next.words,
            one.coming.next.at,
            one.done_at,
        )
        for one in found
    ]
    output.table_if_any(title, ["schedule", "batches", "due", "due (UTC)", "done by (UTC)"], rows)


def _show_waits(found: Sequence[dependents.Seen]) -> None:
    rows = [(one.wait.batch.name, one.wait.cycle_key, one.wait.since, one.wait.due, one.wait.reason) for one in found]
    output.table_if_any("Waiting for others", ["batch", "CycleKey", "since (UTC)", "deadline (UTC)", "why"], rows)


def _show_running(title: str, found: Sequence[reporting.StepUnderWay]) -> None:
    rows = [
        (
            one.entry.instance_id,
            one.batch,
            f"{one.entry.seq} {one.entry.step_name}",
            one.entry.started_at,
            one.elapsed,
            one.expected,
            one.late_by,
            one.done_at,
        )
        for one in found
    ]
    headings = ["id#", "batch", "step", "started (UTC)", "runs for#", "expected#", "late by#", "done by (UTC)"]
    output.table_if_any(title, headings, rows)
