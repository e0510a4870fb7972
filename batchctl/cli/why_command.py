"""`batchctl why`."""

from __future__ import annotations

import click

from batchctl.cli import output
from batchctl.cli.session import CliSession, Ref, reads
from batchctl.operations import explain


@click.command()
@click.argument("ref", metavar="REF", type=Ref())
@reads
def why(session: CliSession, ref: str, as_json: bool) -> None:
    """Explain why something does not run, gate by gate.

    REF is a BatchControl id (42, or NAME#42), a batch (batch:NAME), a FileProcess id (file:17), a schedule
    (schedule:NAME) or a trigger (trigger:NAME), whose waiting rows are counted.
    """
    app = session.app
    benches = explain.Benches(app.schedule_bench, app.trigger_bench)
    explained = explain.why(app.transactions, app.clock, app.presence, ref, app.timetable(), benches)
    if as_json:
        output.print_json(explained.columns())
        return
    output.line(f"{explained.subject}: {explained.status}", "bold")
    rows = [
        (gate.name, output.word("passed" if gate.blocked is None else "blocked"), gate.blocked or "", gate.clear or "")
        for gate in explained.gates
    ]
    output.table(None, ["gate", "", "because", "to clear it"], rows)
    output.line(f"Earliest start: {explained.earliest}.")
    for note in explained.notes:
        output.line(note)
    clearing = [gate.clear for gate in explained.blocking if gate.clear]
    output.hints(*(clearing or ["batchctl status"]))
