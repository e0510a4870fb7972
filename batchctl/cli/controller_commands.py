"""`batchctl controllers`: who works on the database."""

from __future__ import annotations

import click

from batchctl.cli import output
from batchctl.cli.session import CliSession, reads_rows
from batchctl.operations import presence


@click.command()
@reads_rows
def controllers(session: CliSession, as_json: bool) -> None:
    """List the controllers of the last days: where each runs or ran, its last sign of life, and what it has claimed."""
    app = session.app
    found = presence.everyone(app.transactions, app.clock, app.presence, app.leader())
    if as_json:
        output.print_list(presence.CONTROLLERS, found)
        return
    output.show_list(presence.CONTROLLERS, found)
    if any(one.state == "silent" for one in found):
        output.hints("one that stays silent is taken for dead after orphan_timeout; a running one takes over then")
    elif not any(one.state == "running" for one in found):
        output.hints("batchctl run")
    else:
        output.hints("batchctl status")
