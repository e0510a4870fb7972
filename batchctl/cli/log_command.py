"""`batchctl log`."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import click

from batchctl.cli.session import ROW_ID, CliSession, WholeNumber, as_rows, batch_names, no_time, one_of
from batchctl.domain.status import SchedulerEvent

if TYPE_CHECKING:
    from batchctl.operations.starting_log import LogLine

MOST = 10_000
_SEEN = {
    "schedule": "batchctl schedule list",
    "trigger": "batchctl trigger list",
    "watch": "batchctl watch list",
    "dependency": "batchctl waits",
    "calendar": "batchctl calendar list",
    "backfill": "batchctl backfill list",
}
"""The first words of sources, and the command that lists the sources of each kind."""


class Moment(click.ParamType[datetime]):
    """A time in UTC, unless it says its own zone."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        """Read a time."""
        try:
            at = datetime.fromisoformat(value)
        except ValueError:
            self.fail(no_time(value, "in UTC, such as 2026-11-22 or '2026-11-22 05:00'"), param, ctx)
        return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)


@click.command()
@click.option(
    "--source",
    metavar="SOURCE",
    help="What started it: 'trigger NAME', or trigger for those of all triggers; also schedule, watch, dependency.",
)
@click.option("--entity", metavar="ENTITY", help="What concerns one entity.")
@click.option("--type", "--status", "kind", type=one_of(SchedulerEvent), help="One kind of event.")
@click.option(
    "--batch", metavar="NAME", shell_complete=batch_names, help="What concerns one batch, or its entity as a whole."
)
@click.option("--since", type=Moment(), help="Not before this time, in UTC.")
@click.option("--before", type=ROW_ID, help="Only rows with smaller numbers than this: the next page.")
@click.option("--limit", type=WholeNumber(1, MOST), default=50, show_default=True, help="How many rows at most.")
@as_rows
@click.pass_context
def log(
    ctx: click.Context,
    source: str | None,
    entity: str | None,
    kind: str | None,
    batch: str | None,
    since: datetime | None,
    before: int | None,
    limit: int,
    as_json: bool,
) -> None:
    """Show what started work of itself, what kept it from that, and what came of it; newest first.

    The rows are those of the table SchedulerLog.
    """
    from batchctl.cli import output
    from batchctl.cli.listing import Listing
    from batchctl.domain.rows import EventFilter
    from batchctl.operations import starting_log

    event = None if kind is None else SchedulerEvent(kind)
    wanted = EventFilter(source=source, entity=entity, event=event, batch=batch, since=since, before=before)
    session: CliSession = ctx.obj
    with session.app() as app:
        found = starting_log.page(app.transactions, wanted, limit)
    if as_json:
        output.print_json([line.columns() for line in found.lines])
        return
    out = output.console()
    headings = [
        "id#",
        "at (UTC)",
        "event",
        "source",
        "entity",
        "batch",
        "file#",
        "instance#",
        "rows#",
        "took",
        "message",
    ]
    if found.lines:
        output.section(out, Listing("Log", headings, [_row(line) for line in found.lines]))
    else:
        out.print("SchedulerLog has no such row.")
        if source is not None and _kind_of(source) not in _SEEN:
            known = ", ".join(_SEEN)
            out.print(f"A source begins with one of these words: {known}.", soft_wrap=True)
    if not found.is_last:
        output.hints(out, f"the same with --before {found.lines[-1].entry.log_id} shows older ones")
    else:
        output.hints(out, _SEEN.get(_kind_of(source), "batchctl status"))


def _kind_of(source: str | None) -> str:
    return (source or "").partition(" ")[0]


def _row(line: LogLine) -> list[Any]:
    from batchctl.cli.output import cell, duration, time, word

    entry = line.entry
    took = None if entry.duration_ms is None else timedelta(milliseconds=entry.duration_ms)
    return [
        cell(entry.log_id),
        time(entry.at),
        word(entry.event.value),
        cell(entry.source),
        cell(entry.entity),
        cell(line.batch),
        cell(entry.intake_id),
        cell(entry.instance_id),
        cell(entry.rows_queued),
        duration(took),
        cell(entry.message),
    ]
