"""`batchctl why`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from batchctl.cli.session import CliSession, Ref, as_json, pass_session

if TYPE_CHECKING:
    from batchctl.domain.gates import Gate
    from batchctl.operations.explain import Explanation
    from batchctl.operations.shown_columns import Columns


@click.command()
@click.argument("ref", metavar="REF", type=Ref())
@as_json
@pass_session
def why(session: CliSession, ref: str, as_json: bool) -> None:
    """Explain why something does not run, gate by gate.

    REF is a BatchControl id (42, or NAME#42), a batch (batch:NAME), a FileProcess id (file:17), a schedule
    (schedule:NAME) or a trigger (trigger:NAME), whose waiting rows are counted.
    """
    from batchctl.cli import output
    from batchctl.cli.listing import Listing
    from batchctl.cli.output import cell, word
    from batchctl.operations import explain

    with session.app() as app:
        benches = explain.Benches(app.schedule_bench, app.trigger_bench)
        explained = explain.why(app.transactions, app.clock, app.presence, ref, app.timetable(), benches)
    if as_json:
        output.print_json(_as_json(explained))
        return
    out = output.console()
    out.print(cell(f"{explained.subject}: {explained.status}", "bold"), soft_wrap=True)
    rows = [
        (
            cell(gate.name),
            word("passed" if gate.blocked is None else "blocked"),
            cell(gate.blocked or ""),
            cell(gate.clear or ""),
        )
        for gate in explained.gates
    ]
    output.section(out, Listing(None, ["gate", "", "because", "to clear it"], rows))
    out.print(cell(f"Earliest start: {explained.earliest}."), soft_wrap=True)
    for note in explained.notes:
        out.print(cell(note), soft_wrap=True)
    clearing = [gate.clear for gate in explained.blocking if gate.clear]
    output.hints(out, *(clearing or ["batchctl status"]))


def _as_json(explained: Explanation) -> Columns:
    from batchctl.operations import shown_columns

    return {
        "Subject": explained.subject,
        "Status": explained.status,
        "Gates": [_gate(gate) for gate in explained.gates],
        "MayStart": not explained.blocking,
        "EarliestStart": shown_columns.moment(explained.earliest.at),
        "Earliest": str(explained.earliest),
        "Notes": list(explained.notes),
    }


def _gate(gate: Gate) -> Columns:
    from batchctl.operations import shown_columns

    return {
        "Gate": gate.name,
        "Passed": gate.blocked is None,
        "Blocked": gate.blocked,
        "Row": gate.row,
        "Clear": gate.clear,
        "Until": shown_columns.moment(gate.until),
    }
