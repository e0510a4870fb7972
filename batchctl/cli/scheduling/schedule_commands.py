"""`batchctl schedule`: what starts work because it is time."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from itertools import groupby, islice
from typing import Any

import click

from batchctl.cli import output
from batchctl.cli.definitions import sql_job_commands
from batchctl.cli.filtering import of_starters, starts
from batchctl.cli.missing_controller import to_run
from batchctl.cli.scheduling import schedule_changes, schedule_run_command
from batchctl.cli.session import CliSession, WholeNumber, no_time, reads, reads_rows
from batchctl.cli.unreadable_lists import show_unreadable
from batchctl.domain.scheduling import clock_changes, schedules
from batchctl.domain.text import typed
from batchctl.operations import shown_columns
from batchctl.operations.scheduling import foresight, timetable

SHOWN = 1000
"""Up to how many due times a table for people shows; JSON has all."""
NIGHT_SHOWN = 12
"""Up to how many due times of a night are shown one by one; of more those that are alike are shown together."""


class LocalTime(click.ParamType[datetime]):
    """A wall time in a zone that is known later, unless the text says its own zone; a day is its midnight."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        """Read a time."""
        try:
            return datetime.fromisoformat(value)
        except ValueError:
            self.fail(no_time(value, "such as 2026-11-22 or '2026-11-22 05:00'"), param, ctx)


@click.group()
def schedule() -> None:
    """See what starts work because it is time, when it does so next, and change it.

    A schedule is a row of Schedule; a running controller takes up what is inserted or changed by hand, without a restart.
    """


for _command in (
    schedule_changes.add,
    schedule_changes.change,
    schedule_changes.enable,
    schedule_changes.disable,
    schedule_run_command.run,
    sql_job_commands.add_sql,
    sql_job_commands.set_sql,
    sql_job_commands.jobs,
    sql_job_commands.remove,
):
    schedule.add_command(_command)


@schedule.command(name="list")
@of_starters
@reads_rows
def listed(session: CliSession, batch: str | None, status: str | None, as_json: bool) -> None:
    """List the schedules: when each runs, when next, what became of its last due time, and what is wrong with it."""
    app = session.app
    is_wanted = starts(app, batch, status)
    every, broken = app.timetable().everything(), app.timetable().unreadable()
    found = [one for one in every if is_wanted(one.schedule.entity, one.schedule.enabled)]
    if as_json:
        output.print_list(timetable.SCHEDULES, found, broken)
        return
    output.show_list(timetable.SCHEDULES, found)
    mends = [one.mend for one in found if one.mend is not None]
    if broken:
        show_unreadable(broken)
    elif mends:
        output.hints(mends[0], "batchctl check")
    elif found:
        name = found[0].schedule.name
        output.hints(f"batchctl schedule preview {typed(name)}", f"batchctl schedule test {typed(name)}")
    else:
        output.hints(
            "batchctl schedule add nightly --entity ENTITY --type daily --run-times 02:00   (or insert a row into Schedule)"
        )


@schedule.command()
@click.argument("name")
@reads
def show(session: CliSession, name: str, as_json: bool) -> None:
    """Show a schedule with all its columns, what became of its last due times, and who has changed it."""
    found = session.app.timetable().sheet(name)
    if as_json:
        output.print_json(
            {
                **timetable.SCHEDULES.of(found.timed),
                "Batches": [batch.name for batch in found.takers],
                "Fires": [shown_columns.of(one) for one in found.decided],
                "AuditLog": [shown_columns.of(entry) for entry in found.audit],
            }
        )
        return
    output.properties(_properties(found))
    for finding in found.timed.findings:
        said = f"{finding.column}: {finding.message}" if finding.column else finding.message
        output.say(f"Warning: {said}")
    rows = [
        (one.due, _stretch(one), output.word(one.outcome.value), one.intake_id, one.reason) for one in found.decided
    ]
    output.table_if_any("Decided last", ["due (UTC)", "until", "outcome", "file#", "reason"], rows)
    acts = [(act.at, act.actor, act.action, act.reason) for act in found.audit]
    output.table_if_any("Changed by", ["at (UTC)", "who", "action", "reason"], acts)
    output.hints(f"batchctl schedule preview {typed(name)}", f"batchctl schedule test {typed(name)}")


@schedule.command()
@click.argument("name", required=False)
@click.option("--from", "start", type=LocalTime(), help="Not from now, but from this time in its zone.")
@click.option("--days", type=WholeNumber(1, 3660), default=30, show_default=True, help="For how many days.")
@click.option("--dst", is_flag=True, help="Only the nights of a year in which clocks are changed; without NAME of all.")
@reads_rows
def preview(session: CliSession, name: str | None, start: datetime | None, days: int, dst: bool, as_json: bool) -> None:
    """List every due time to come, those skipped or shifted too, with the reason.

    Days that a month does not have are listed as well, and what is decided already says so. With --dst: what every
    schedule does, or the one named, in the nights in which the clocks of its zone are put forward and back.
    """
    if dst:
        nights = foresight.rehearse(session.app.timetable(), name, start=start)
        _show_nights(nights, as_json=as_json)
        return
    if name is None:
        raise click.UsageError("Name a schedule, or give --dst to see the change nights of all.")
    _show_preview(foresight.preview(session.app.timetable(), name, start=start, days=days), days, as_json=as_json)


@schedule.command(name="test")
@click.argument("name")
@reads
def test_schedule(session: CliSession, name: str, as_json: bool) -> None:
    """Say whether a schedule would start work now, why or why not, and when it does next; it starts nothing.

    It is decided as the leading controller decides it, and needs none that runs.
    """
    app = session.app
    tried = app.schedule_bench().try_out(name)
    idle = to_run(app) if tried.would_fire or tried.next_run_time else ()
    if as_json:
        output.print_json(tried.columns)
        return
    verdict = "it would start work now" if tried.would_fire else "it would start nothing now"
    output.line(f"Schedule {name}: {verdict}", "bold")
    pairs = [
        ("reason", tried.reason),
        ("when", tried.words),
        ("next", tried.next_local or "never, as it stands"),
        ("next (UTC)", tried.next_run_time),
    ]
    output.properties([*pairs, *(("note", note) for note in tried.notes)])
    output.hints(*idle, tried.next_step)


def _properties(found: timetable.Sheet) -> list[tuple[str, object]]:
    timed = found.timed
    written = {name: value for name, value in timetable.SCHEDULES.of(timed).items() if value is not None}
    own = list(written)[: list(written).index("Words")] if "Words" in written else list(written)
    hidden = {"Schedule_id", "ScheduleName", "Enabled", "NextRunTime", "DecidedUntil", "Zone", "Findings"}
    return [
        ("schedule", output.cell(timed.schedule.name, "bold")),
        ("state", output.word("enabled" if timed.schedule.enabled else "disabled")),
        ("when", timed.words),
        ("next", _next(timed)),
        ("batches", ", ".join(batch.name for batch in found.takers) or "none takes its entity"),
        *((name, written[name]) for name in own if name not in hidden),
    ]


def _next(timed: timetable.Timed) -> str:
    if timed.next is None:
        return "never, as it stands"
    return f"{timed.next.words} ({timed.next.at:%Y-%m-%d %H:%M:%S} UTC)"


def _stretch(one: schedules.ScheduleFire) -> str | None:
    if one.due_until is None:
        return None
    return f"{one.due_until:%Y-%m-%d %H:%M:%S} ({one.instants})"


def _show_preview(found: foresight.SchedulePreview, days: int, *, as_json: bool) -> None:
    if as_json:
        output.print_list(foresight.DUE_TIMES, found.due_times)
        return
    state = "" if found.schedule.enabled else "; it is disabled, so nothing of it happens"
    head = f"Schedule {found.schedule.name}: {found.plan.words}{state}"
    output.line(head, "bold")
    shown = list(islice(found.due_times, SHOWN))
    more = sum(1 for _ in found.due_times)
    title = f"{output.counted(len(shown) + more, 'due time')} in {output.counted(days, 'day')}"
    output.show_list(foresight.DUE_TIMES, shown, title=title)
    if more:
        output.line(f"{more} more: --json shows all, --days fewer.")
    if found.nothing is not None:
        output.line(found.nothing)
    if found.note is not None:
        output.line(found.note)
    output.hints(f"batchctl schedule preview {typed(found.schedule.name)} --dst", "batchctl schedule list")


def _show_nights(found: tuple[foresight.Rehearsed, ...], *, as_json: bool) -> None:
    if as_json:
        output.print_list(foresight.NIGHT_TIMES, (row for one in found for row in one.rows))
        return
    for one in found:
        output.line(f"Schedule {one.schedule.name}: {one.words or one.failure}", "bold")
        if one.failure is None and not one.nights:
            output.line(f"  The clocks of {one.zone} are not changed within a year.")
        _nights(one)
    if not found:
        output.line("There is no enabled schedule.")
    output.hints("batchctl schedule list")


def _nights(one: foresight.Rehearsed) -> None:
    for night in one.nights:
        alike = [[at] for at in night.times]
        if len(night.times) > NIGHT_SHOWN:
            alike = [list(group) for _, group in groupby(night.times, _kind)]
        rows: list[tuple[object, ...]] = [
            (_span(group), group[0].instant.due, group[0].runs, _reason(group, night.change)) for group in alike
        ]
        nothing = [(None, None, None, "nothing is due within three hours")]
        output.table(f"  {night.change.words}", ["local", "due (UTC)", "runs", "reason"], rows or nothing)


def _kind(at: clock_changes.NightTime) -> object:
    """Return what due times have in common that are shown together."""
    return at.runs, at.is_concerned, at.instant.local.split()[2:], at.reason


def _span(group: Sequence[clock_changes.NightTime]) -> str:
    first, last = group[0].instant.local, group[-1].instant.local
    return first if len(group) == 1 else f"{first} to {last[11:]}"


def _reason(group: Sequence[clock_changes.NightTime], change: clock_changes.ClockChange) -> str | None:
    first = group[0]
    said = first.reason
    if said is None and first.is_concerned and not change.is_forward:
        way = "both times" if first.runs == "twice" else "the first time"
        said = f"the clocks show this twice, and it runs {way}"
    if len(group) == 1:
        return said
    return f"{len(group)} due times" if said is None else f"{len(group)} due times: {said}"
