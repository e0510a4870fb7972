"""`batchctl backfill`: start the work of due times that are over."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any, NoReturn

import click

from batchctl import app
from batchctl.cli import output
from batchctl.cli.session import ROW_ID, CliSession, WholeNumber, acts, reads, reads_rows, reason
from batchctl.domain.scheduling import backfill_turns, schedules
from batchctl.domain.text import nearest, visible
from batchctl.operations.scheduling import backfiller

START = "start"
_OF_A_START = ("--f", "--t", "--h")
"""How the options begin that only the start of a backfill takes: --from, --to, --help, also abbreviated."""


class RangeEnd(click.ParamType[datetime | date]):
    """A day, or what a clock shows."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> datetime | date:
        """Read a day or a wall time."""
        found = value if isinstance(value, date) else backfiller.range_end(str(value))
        if found is None:
            text = visible(str(value).strip())
            self.fail(
                f"'{text}' is neither a day such as 2026-11-01 nor a time such as '2026-11-01 06:00'.", param, ctx
            )
        return found


class BackfillGroup(click.Group):
    """Takes the name of a schedule where a subcommand may stand: that begins a backfill."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find a subcommand, or take the first word for a schedule."""
        known = args[0] in self.commands or args[0].startswith("-")
        if not known and not any(one.startswith(_OF_A_START) for one in args):
            self._refuse(args[0])
        return super().resolve_command(ctx, args if known else [START, *args])

    def _refuse(self, given: str) -> NoReturn:
        meant = nearest(given, list(self.commands)) or "list"
        said = f"'{visible(given)}' is no subcommand. Did you mean '{meant}'?"
        raise click.UsageError(f"{said} If it is a schedule, give --from and --to.")

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        """Show both ways to call it."""
        del ctx
        return ["SCHEDULE --from TIME --to TIME [OPTIONS]", "| list | cancel ID"]


@click.group(cls=BackfillGroup)
def backfill() -> None:
    """Start the work of a schedule's due times that are over, each once: batchctl backfill SCHEDULE --from TIME --to TIME.

    What was fired or skipped before stays decided. A running controller starts them, oldest first, and as few at a time as
    --most-open says. The options: batchctl backfill start --help.
    """


class StartCommand(click.Command):
    """Shows itself as it is called: by the name of a schedule, with no word before it."""

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write how to call it."""
        path = ctx.command_path if ctx.parent is None else ctx.parent.command_path
        formatter.write_usage(path, "SCHEDULE --from TIME --to TIME [OPTIONS]")


@backfill.command(START, cls=StartCommand)
@click.argument("schedule")
@click.option("--from", "first", required=True, type=RangeEnd(), metavar="TIME", help="A day, or a time in its zone.")
@click.option(
    "--to", "last", required=True, type=RangeEnd(), metavar="TIME", help="The same; a day belongs to it whole."
)
@click.option("--missed", is_flag=True, help="Also those that were skipped because no controller was there.")
@click.option(
    "--most-open",
    type=WholeNumber(1, 1000),
    default=1,
    show_default=True,
    metavar="N",
    help="For how many due times work may be unfinished at once.",
)
@reason(required=False)
@click.option("--yes", is_flag=True, help="Needed for more than 100 due times.")
@click.option("--dry-run", is_flag=True, help="Only show what would be done.")
@reads
def start(
    session: CliSession,
    schedule: str,
    first: datetime | date,
    last: datetime | date,
    missed: bool,
    most_open: int,
    reason: str | None,
    yes: bool,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Start the work of due times that are over; --dry-run shows first what that would be."""
    app = session.app
    span = backfiller.Span(first=first, last=last)
    begin = _backfiller(app, dry_run=dry_run).begin
    done = begin(schedule, span, most_open=most_open, missed=missed, sure=yes, reason=reason)
    if as_json:
        output.print_json(done.columns())
    else:
        _show(done)
    for warning in done.warnings:
        output.say(f"Note: {warning}")


@backfill.command("list")
@reads_rows
def list_backfills(session: CliSession, as_json: bool) -> None:
    """List the backfills, newest first, with how far each has come."""
    app = session.app
    found, unreadable = backfiller.everyone(app.transactions, app.clock.now(), app.settings.business_time_zone)
    if as_json:
        told = [*backfiller.BACKFILLS.as_json(found), *(one.columns() for one in unreadable)]
        output.print_rows(told, backfiller.BACKFILLS.header)
        return
    rows = backfiller.BACKFILLS.cells(found)
    rows += [(each.row.row_id, *(None,) * 8, each.waits) for each in unreadable]
    output.table("Backfills", [*backfiller.BACKFILLS.headings], rows)
    running = next((one.backfill.backfill_id for one in found if one.backfill.status == "running"), None)
    hint = "batchctl backfill --help" if running is None else f"batchctl backfill cancel {running} --reason ..."
    stuck = [f"batchctl rerun {one.stuck[0]} --reason ..." for one in found if one.stuck is not None]
    output.hints(*stuck[:1], *(["batchctl check"] if unreadable else []), hint)


@backfill.command()
@click.argument("backfill_id", metavar="ID", type=ROW_ID)
@acts(needs_reason=True)
def cancel(session: CliSession, backfill_id: int, reason: str, dry_run: bool) -> None:
    """Let a backfill start nothing more; what it has started goes on."""
    done = _backfiller(session.app, dry_run=dry_run).cancel(schedules.BackfillId(backfill_id), reason=reason)
    would = "would be" if dry_run else "is"
    fired = output.counted(done.fired, "due time")
    click.echo(f"ScheduleBackfill {backfill_id} {would} cancelled, after work was started for {fired}.")


def _backfiller(app: app.App, *, dry_run: bool) -> backfiller.Backfiller:
    return backfiller.Backfiller(actor=app.actor(dry_run=dry_run), default_zone=app.settings.business_time_zone)


def _fires(done: backfiller.BackfillPreview) -> None:
    """Name the due times: the first of many, how many follow, and the last."""
    rows: list[tuple[object, object]] = [(one.local, one.due) for one in done.fires]
    left_out = done.to_fire - len(done.fires)
    if left_out:
        more = "" if done.is_counted else "more than "
        rows.insert(-1, (f"... {more}{left_out:,} more ...", ""))
    output.table(None, ["due (local)", "due (UTC)"], rows)


def _show(done: backfiller.BackfillPreview) -> None:
    more = "" if done.is_counted else "more than "
    times = output.counted(done.to_fire, "due time")
    asked = "Work would be started" if done.backfill_id is None else "Work is being started"
    click.echo(f"Schedule {visible(done.schedule.name)}: {visible(done.words)}.")
    click.echo(f"{asked} for {more}{times}, at most {done.most_open} unfinished at once.")
    told = {
        "decided before": done.fates.get(backfill_turns.Fate.DECIDED, 0),
        "missed, and left so": done.fates.get(backfill_turns.Fate.MISSED, 0),
        "skipped by the schedule itself": done.fates.get(backfill_turns.Fate.SKIPPED, 0),
    }
    if done.fires and done.backfill_id is None:
        _fires(done)
    rows: list[tuple[str, object]] = []
    if done.backfill_id is not None:
        rows = [("first", done.fires[0].local), ("last", done.fires[-1].local)]
    rows += [(name, count) for name, count in told.items() if count]
    if rows:
        output.properties(rows)
    if done.before:
        headings = ["decided before", "event", "reason"]
        decided = [(one.instant.local, output.word(one.outcome.value), one.reason) for one in done.before]
        output.table(None, headings, decided)
    if done.backfill_id is None:
        sure = " and with --yes" if done.to_fire > 100 or not done.is_counted else ""
        output.hints(*([f"the same command without --dry-run{sure}"] if done.to_fire else []))
    else:
        output.hints(
            "batchctl backfill list   (a running controller starts them: batchctl run)",
            f"batchctl backfill cancel {done.backfill_id} --reason ...",
        )
