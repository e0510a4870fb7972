"""`batchctl fsck`."""

from __future__ import annotations

import click

from batchctl.cli import output
from batchctl.cli.session import FINDINGS, CliSession, reads_rows
from batchctl.operations.maintenance import fsck as operation


@click.command()
@reads_rows
def fsck(session: CliSession, as_json: bool) -> None:
    """Ask the tables whether every law of the engine holds; exit code 6 when a row breaks one.

    It only reads, and may be run beside a working controller. `check` looks at definitions, `fsck` at what became of
    the work.
    """
    app = session.app
    found = operation.examine(app.transactions, app.clock)
    if as_json:
        output.print_list(operation.LAW_FINDINGS, found)
    elif found:
        title = f"{output.counted(len(found), 'row')} against the laws"
        output.show_list(operation.LAW_FINDINGS, found, title=title)
        output.hints(*dict.fromkeys(f"{one.code}: {one.next_step}" for one in found))
    else:
        click.echo(f"Every one of {operation.laws()} laws holds.")
    if found:
        raise click.exceptions.Exit(FINDINGS)
