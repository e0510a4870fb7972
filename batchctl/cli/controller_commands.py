"""`batchctl controllers`: who works on the database."""

from __future__ import annotations

import click

from batchctl.cli import output
from batchctl.cli.session import CliSession, reads_rows
from batchctl.operations import presence, shown_columns


@click.command()
@reads_rows
def controllers(session: CliSession, as_json: bool) -> None:
    """List the controllers of the last days: where each runs or ran, its last sign of life, and what it has claimed."""
    app = session.app
    found = presence.everyone(app.transactions, app.clock, app.presence)
    leader = app.leader()
    if as_json:
        output.print_json(
            [
                {**shown_columns.of(one.row), "State": one.state, "Claims": one.claims, "Leads": leader == one.row.name}
                for one in found
            ]
        )
        return
    rows = [
        (
            one.row.name,
            output.word(one.state),
            "leader" if leader == one.row.name else "",
            one.row.host,
            one.row.pid,
            one.row.slots,
            one.claims,
            one.row.started_at,
            one.row.heartbeat,
        )
        for one in found
    ]
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
    output.table("Controllers", headings, rows)
    if any(one.state == "silent" for one in found):
        output.hints("one that stays silent is taken for dead after orphan_timeout; a running one takes over then")
    elif not any(one.state == "running" for one in found):
        output.hints("batchctl run")
    else:
        output.hints("batchctl status")
