"""`batchctl log`."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import click

from batchctl.cli import output
from batchctl.cli.session import ROW_ID, CliSession, WholeNumber, batch_names, no_time, one_of, reads_rows
from batchctl.domain.rows import EventFilter
from batchctl.domain.status import SchedulerEvent
from batchctl.operations import starting_log

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
@reads_rows
def log(
    session: CliSession,
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
    event = None if kind is None else SchedulerEvent(kind)
    wanted = EventFilter(source=source, entity=entity, event=event, batch=batch, since=since, before=before)
    found = starting_log.page(session.app.transactions, wanted, limit)
    if as_json:
        output.print_list(starting_log.LOG, found.lines)
        return
    if found.lines:
        output.show_list(starting_log.LOG, found.lines)
    else:
        output.line("SchedulerLog has no such row.")
        if source is not None and _kind_of(source) not in _SEEN:
            known = ", ".join(_SEEN)
            output.line(f"A source begins with one of these words: {known}.")
    if not found.is_last:
        output.hints(f"the same with --before {found.lines[-1].entry.log_id} shows older ones")
    else:
        output.hints(_SEEN.get(_kind_of(source), "batchctl status"))


def _kind_of(source: str | None) -> str:
    return (source or "").partition(" ")[0]
