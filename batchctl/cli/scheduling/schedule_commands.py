"""`batchctl schedule`: what starts work because it is time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from itertools import groupby, islice
from typing import TYPE_CHECKING, Any

import click

from batchctl.cli.definitions import sql_job_commands
from batchctl.cli.filtering import of_starters, starts
from batchctl.cli.scheduling import schedule_changes, schedule_run_command
from batchctl.cli.session import CliSession, WholeNumber, as_json, as_rows, no_time, pass_session
from batchctl.domain.text import typed

if TYPE_CHECKING:
    from rich.console import RenderableType

    from batchctl.cli.listing import Listing
    from batchctl.domain.scheduling.clock_changes import ClockChange, NightTime
    from batchctl.domain.scheduling.schedules import ScheduleFire
    from batchctl.operations.scheduling.foresight import Foreseen, Rehearsed, SchedulePreview
    from batchctl.operations.scheduling.timetable import Sheet, Timed, Timetable

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
@as_rows
@pass_session
def listed(session: CliSession, batch: str | None, status: str | None, as_json: bool) -> None:
    """List the schedules: when each runs, when next, what became of its last due time, and what is wrong with it."""
    from batchctl.cli import output
    from batchctl.cli.listing import Listing
    from batchctl.cli.output import cell, word
    from batchctl.cli.unreadable_lists import show_unreadable, with_unreadable

    with session.app() as app:
        is_wanted = starts(app, batch, status)
        every, broken = app.timetable().everything(), app.timetable().unreadable()
        found = [one for one in every if is_wanted(one.schedule.entity, one.schedule.enabled)]
    if as_json:
        output.print_json(with_unreadable([one.columns for one in found], broken))
        return
    out = output.console()
    rows = [
        (
            cell(one.schedule.name),
            word("enabled" if one.schedule.enabled else "disabled"),
            cell(one.schedule.entity),
            cell(one.words),
            cell(None if one.next is None else one.next.words),
            cell(None if one.next is None else f"{one.next.at:%Y-%m-%d %H:%M:%S}"),
            cell(_last(one.last)),
            cell(" ".join(finding.message for finding in one.findings) or None),
        )
        for one in found
    ]
    headings = ["name", "state", "entity", "when", "next local", "next (UTC)", "last", "but"]
    output.section(out, Listing("Schedules", headings, rows))
    mends = [one.mend for one in found if one.mend is not None]
    if broken:
        show_unreadable(out, broken)
    elif mends:
        output.hints(out, mends[0], "batchctl check")
    elif found:
        name = found[0].schedule.name
        output.hints(out, f"batchctl schedule preview {typed(name)}", f"batchctl schedule test {typed(name)}")
    else:
        output.hints(
            out,
            "batchctl schedule add nightly --entity ENTITY --type daily --run-times 02:00   (or insert a row into Schedule)",
        )


@schedule.command()
@click.argument("name")
@as_json
@pass_session
def show(session: CliSession, name: str, as_json: bool) -> None:
    """Show a schedule with all its columns, what became of its last due times, and who has changed it."""
    from batchctl.cli import output
    from batchctl.cli.listing import Listing
    from batchctl.cli.output import cell, time, word
    from batchctl.operations import shown_columns

    with _timetable(session) as table:
        found = table.sheet(name)
    if as_json:
        output.print_json(
            {
                **found.timed.columns,
                "Batches": [batch.name for batch in found.takers],
                "Fires": [shown_columns.of(one) for one in found.decided],
                "AuditLog": [shown_columns.of(entry) for entry in found.audit],
            }
        )
        return
    out = output.console()
    output.section(out, output.properties(_properties(found)))
    for finding in found.timed.findings:
        said = f"{finding.column}: {finding.message}" if finding.column else finding.message
        output.say(f"Warning: {said}")
    if found.decided:
        rows = [
            (time(one.due), cell(_stretch(one)), word(one.outcome.value), cell(one.intake_id), cell(one.reason))
            for one in found.decided
        ]
        headings = ["due (UTC)", "until", "outcome", "file#", "reason"]
        output.section(out, Listing("Decided last", headings, rows))
    if found.audit:
        acts = [(time(act.at), cell(act.actor), cell(act.action), cell(act.reason)) for act in found.audit]
        output.section(out, Listing("Changed by", ["at (UTC)", "who", "action", "reason"], acts))
    output.hints(out, f"batchctl schedule preview {typed(name)}", f"batchctl schedule test {typed(name)}")


@schedule.command()
@click.argument("name", required=False)
@click.option("--from", "start", type=LocalTime(), help="Not from now, but from this time in its zone.")
@click.option("--days", type=WholeNumber(1, 3660), default=30, show_default=True, help="For how many days.")
@click.option("--dst", is_flag=True, help="Only the nights of a year in which clocks are changed; without NAME of all.")
@as_rows
@pass_session
def preview(session: CliSession, name: str | None, start: datetime | None, days: int, dst: bool, as_json: bool) -> None:
    """List every due time to come, those skipped or shifted too, with the reason.

    Days that a month does not have are listed as well, and what is decided already says so. With --dst: what every
    schedule does, or the one named, in the nights in which the clocks of its zone are put forward and back.
    """
    from batchctl.operations.scheduling import foresight

    if dst:
        with _timetable(session) as table:
            nights = foresight.rehearse(table, name, start=start)
        _show_nights(nights, as_json=as_json)
        return
    if name is None:
        raise click.UsageError("Name a schedule, or give --dst to see the change nights of all.")
    with _timetable(session) as table:
        _show_preview(foresight.preview(table, name, start=start, days=days), days, as_json=as_json)


@schedule.command(name="test")
@click.argument("name")
@as_json
@pass_session
def test_schedule(session: CliSession, name: str, as_json: bool) -> None:
    """Say whether a schedule would start work now, why or why not, and when it does next; it starts nothing.

    It is decided as the leading controller decides it, and needs none that runs.
    """
    from batchctl.cli import output
    from batchctl.cli.missing_controller import to_run

    with session.app() as app:
        tried = app.schedule_bench().try_out(name)
        idle = to_run(app) if tried.would_fire or tried.next_run_time else ()
    if as_json:
        output.print_json(tried.columns)
        return
    out = output.console()
    verdict = "it would start work now" if tried.would_fire else "it would start nothing now"
    out.print(output.cell(f"Schedule {name}: {verdict}", "bold"), soft_wrap=True)
    pairs = [
        ("reason", output.cell(tried.reason)),
        ("when", output.cell(tried.words)),
        ("next", output.cell(tried.next_local or "never, as it stands")),
        ("next (UTC)", output.time(tried.next_run_time)),
    ]
    output.section(out, output.properties([*pairs, *(("note", output.cell(note)) for note in tried.notes)]))
    output.hints(out, *idle, tried.next_step)


@contextmanager
def _timetable(session: CliSession) -> Iterator[Timetable]:
    with session.app() as app:
        yield app.timetable()


def _properties(found: Sheet) -> list[tuple[str, RenderableType]]:
    from batchctl.cli.output import cell, word

    timed = found.timed
    written = {name: value for name, value in timed.columns.items() if value is not None}
    own = list(written)[: list(written).index("Words")] if "Words" in written else list(written)
    hidden = {"Schedule_id", "ScheduleName", "Enabled", "NextRunTime", "DecidedUntil", "Zone", "Findings"}
    return [
        ("schedule", cell(timed.schedule.name, "bold")),
        ("state", word("enabled" if timed.schedule.enabled else "disabled")),
        ("when", cell(timed.words)),
        ("next", cell(_next(timed))),
        ("batches", cell(", ".join(batch.name for batch in found.takers) or "none takes its entity")),
        *((name, cell(written[name])) for name in own if name not in hidden),
    ]


def _next(timed: Timed) -> str:
    if timed.next is None:
        return "never, as it stands"
    return f"{timed.next.words} ({timed.next.at:%Y-%m-%d %H:%M:%S} UTC)"


def _last(last: ScheduleFire | None) -> str | None:
    if last is None:
        return None
    said = f"{last.due_until or last.due:%Y-%m-%d %H:%M} UTC {last.outcome}"
    return f"{said} as file:{last.intake_id}" if last.intake_id is not None else said


def _stretch(one: ScheduleFire) -> str | None:
    if one.due_until is None:
        return None
    return f"{one.due_until:%Y-%m-%d %H:%M:%S} ({one.instants})"


def _show_preview(found: SchedulePreview, days: int, *, as_json: bool) -> None:
    from batchctl.cli import output
    from batchctl.cli.listing import Listing
    from batchctl.cli.output import cell

    if as_json:
        output.print_json([one.columns for one in found.due_times])
        return
    out = output.console()
    state = "" if found.schedule.enabled else "; it is disabled, so nothing of it happens"
    head = f"Schedule {found.schedule.name}: {found.plan.words}{state}"
    out.print(output.cell(head, "bold"), soft_wrap=True)
    shown = list(islice(found.due_times, SHOWN))
    more = sum(1 for _ in found.due_times)
    title = f"{output.counted(len(shown) + more, 'due time')} in {output.counted(days, 'day')}"
    jittered = bool(found.schedule.jitter)
    headings = ["local", "due (UTC)", *(["later by"] if jittered else []), "outcome", "reason"]
    output.section(out, Listing(title, headings, [_row(one, jittered=jittered) for one in shown]))
    if more:
        out.print(f"{more} more: --json shows all, --days fewer.")
    if found.nothing is not None:
        out.print(cell(found.nothing), soft_wrap=True)
    if found.note is not None:
        out.print(cell(found.note), soft_wrap=True)
    output.hints(out, f"batchctl schedule preview {typed(found.schedule.name)} --dst", "batchctl schedule list")


def _row(one: Foreseen, *, jittered: bool) -> list[Any]:
    from batchctl.cli.output import cell, duration, time, word

    outcome, reason = word(one.outcome), one.reason
    if one.decided is not None:
        outcome = word(one.decided.outcome.value)
        which = "" if one.decided.intake_id is None else f" as file:{one.decided.intake_id}"
        reason = f"decided already{which}{': ' if one.decided.reason else ''}{one.decided.reason or ''}"
    later = [duration(one.jitter)] if jittered else []
    return [cell(one.instant.local), time(one.instant.due), *later, outcome, cell(reason)]


def _show_nights(found: tuple[Rehearsed, ...], *, as_json: bool) -> None:
    from batchctl.cli import output

    if as_json:
        output.print_json([row for one in found for row in one.columns], of="schedule preview --dst")
        return
    out = output.console()
    for one in found:
        out.print(output.cell(f"Schedule {one.schedule.name}: {one.words or one.failure}", "bold"), soft_wrap=True)
        if one.failure is None and not one.nights:
            out.print(output.cell(f"  The clocks of {one.zone} are not changed within a year."), soft_wrap=True)
        for listing in _nights(one):
            output.section(out, listing)
    if not found:
        out.print("There is no enabled schedule.")
    output.hints(out, "batchctl schedule list")


def _nights(one: Rehearsed) -> Iterator[Listing]:
    from batchctl.cli.listing import Listing
    from batchctl.cli.output import cell, time

    for night in one.nights:
        alike = [[at] for at in night.times]
        if len(night.times) > NIGHT_SHOWN:
            alike = [list(group) for _, group in groupby(night.times, _kind)]
        rows = [
            (cell(_span(group)), time(group[0].instant.due), cell(group[0].runs), cell(_reason(group, night.change)))
            for group in alike
        ]
        if not rows:
            rows = [(cell(None), cell(None), cell(None), cell("nothing is due within three hours"))]
        yield Listing(f"  {night.change.words}", ["local", "due (UTC)", "runs", "reason"], rows)


def _kind(at: NightTime) -> object:
    """Return what due times have in common that are shown together."""
    return at.runs, at.is_concerned, at.instant.local.split()[2:], at.reason


def _span(group: Sequence[NightTime]) -> str:
    first, last = group[0].instant.local, group[-1].instant.local
    return first if len(group) == 1 else f"{first} to {last[11:]}"


def _reason(group: Sequence[NightTime], change: ClockChange) -> str | None:
    first = group[0]
    said = first.reason
    if said is None and first.is_concerned and not change.is_forward:
        way = "both times" if first.runs == "twice" else "the first time"
        said = f"the clocks show this twice, and it runs {way}"
    if len(group) == 1:
        return said
    return f"{len(group)} due times" if said is None else f"{len(group)} due times: {said}"
