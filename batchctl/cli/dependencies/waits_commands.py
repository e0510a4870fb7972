"""`batchctl waits`: which batches wait for others."""

from __future__ import annotations

from datetime import datetime

import click

from batchctl.cli import output
from batchctl.cli.filtering import filters
from batchctl.cli.session import CliSession, reads_rows
from batchctl.operations.dependencies import dependents


@click.command()
@filters(("waiting", "overdue"), "has waited since")
@reads_rows
def waits(session: CliSession, batch: str | None, status: str | None, since: datetime | None, as_json: bool) -> None:
    """List the batches of which some that they depend on have completed and others have not, and why.

    One that is overdue starts all the same once what lacks has completed.
    """
    app = session.app
    every = dependents.waits(app.transactions, app.clock, batch)
    found = [one for one in every if status in {None, one.stand} and (since is None or one.wait.since >= since)]
    if as_json:
        output.print_list(dependents.WAITS, found)
        return
    if found:
        output.show_list(dependents.WAITS, found)
    else:
        output.line("No completion waits for others; a batch of which nothing has completed yet is in: batchctl graph")
    next_steps = dict.fromkeys(one.next_step for each in found for one in each.wait.lacking)
    output.hints(*list(next_steps)[:3], "batchctl graph")
