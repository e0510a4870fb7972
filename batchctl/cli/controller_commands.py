"""`batchctl controllers`: who works on the database."""

from __future__ import annotations

import click

from batchctl.cli.session import CliSession, as_rows, pass_session


@click.command()
@as_rows
@pass_session
def controllers(session: CliSession, as_json: bool) -> None:
    """List the controllers of the last days: where each runs or ran, its last sign of life, and what it has claimed."""
    from batchctl.cli import output
    from batchctl.cli.listing import Listing
    from batchctl.cli.output import cell, time, word
    from batchctl.operations import shown_columns
    from batchctl.operations.presence import everyone

    with session.app() as app:
        found = everyone(app.transactions, app.clock, app.presence)
        leader = app.leader()
    if as_json:
        output.print_json(
            [
                {
                    **shown_columns.of(one.row),
                    "State": one.state,
                    "Claims": one.claims,
                    "Leads": leader == one.row.name,
                }
                for one in found
            ]
        )
        return
    rows = [
        (
            cell(one.row.name),
            word(one.state),
            cell("leader" if leader == one.row.name else ""),
            cell(one.row.host),
            cell(one.row.pid),
            cell(one.row.slots),
            cell(one.claims),
            time(one.row.started_at),
            time(one.row.heartbeat),
        )
        for one in found
    ]
    out = output.console()
    headings = [
        "name",
        "state",
        "",
        "host",
        "process#",
        "slots#",
        "claims#",
        "started (UTC)",
        "last sign of life (UTC)",
    ]
    output.section(out, Listing("Controllers", headings, rows))
    if any(one.state == "silent" for one in found):
        output.hints(out, "one that stays silent is taken for dead after orphan_timeout; a running one takes over then")
    elif not any(one.state == "running" for one in found):
        output.hints(out, "batchctl run")
    else:
        output.hints(out, "batchctl status")
