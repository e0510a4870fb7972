"""`batchctl waits`: which batches wait for others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from batchctl.cli.filtering import filters
from batchctl.cli.session import CliSession, as_rows, pass_session

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from batchctl.cli.listing import Listing
    from batchctl.operations.dependencies.dependents import Seen


@click.command()
@filters(("waiting", "overdue"), "has waited since")
@as_rows
@pass_session
def waits(session: CliSession, batch: str | None, status: str | None, since: datetime | None, as_json: bool) -> None:
    """List the batches of which some that they depend on have completed and others have not, and why.

    One that is overdue starts all the same once what lacks has completed.
    """
    from batchctl.cli import output
    from batchctl.operations.dependencies import dependents

    with session.app() as app:
        every = dependents.waits(app.transactions, app.clock, batch)
    found = [one for one in every if status in {None, _stand(one)} and (since is None or one.wait.since >= since)]
    if as_json:
        output.print_json([one.columns for one in found])
        return
    out = output.console()
    if found:
        output.section(out, listing(found))
    else:
        out.print("No completion waits for others; a batch of which nothing has completed yet is in: batchctl graph")
    next_steps = dict.fromkeys(one.next_step for each in found for one in each.wait.lacking)
    output.hints(out, *list(next_steps)[:3], "batchctl graph")


def listing(found: Sequence[Seen]) -> Listing:
    """Return waits as rows."""
    from batchctl.cli.listing import Listing
    from batchctl.cli.output import cell, time, word

    rows = [
        (
            cell(one.wait.batch.name),
            cell(one.wait.cycle_key),
            word(_stand(one)),
            time(one.wait.since),
            time(one.wait.due),
            cell(one.wait.reason),
            cell(one.wait.next_step),
        )
        for one in found
    ]
    headings = ["batch", "cycle", "", "since (UTC)", "due (UTC)", "because", "next"]
    return Listing("Waits for other batches", headings, rows)


def _stand(one: Seen) -> str:
    return "overdue" if one.is_overdue else "waiting"
