"""`batchctl versions`."""

from __future__ import annotations

import click

from batchctl.cli import output
from batchctl.cli.session import CliSession, batch_names, reads_rows
from batchctl.domain.text import typed, visible
from batchctl.operations.definitions import batch_history


@click.command()
@click.argument("batch", shell_complete=batch_names)
@reads_rows
def versions(session: CliSession, batch: str, as_json: bool) -> None:
    """List the versions of a batch and its steps, and what changed from one to the next.

    A version is written down when a controller, or whatever creates an instance, first sees it.
    """
    found = batch_history.versions(session.app.transactions, batch)
    if as_json:
        output.print_list(batch_history.VERSIONS, found)
        return
    title = f"Versions of {visible(batch)}"
    output.show_list(batch_history.CHANGES, batch_history.changes(found), title=title)
    output.hints(f"batchctl export --batch {typed(batch)}")
