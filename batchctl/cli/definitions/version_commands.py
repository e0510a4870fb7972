"""`batchctl versions`."""

from __future__ import annotations

import json

import click

from batchctl.cli.session import CliSession, as_rows, batch_names, pass_session


@click.command()
@click.argument("batch", shell_complete=batch_names)
@as_rows
@pass_session
def versions(session: CliSession, batch: str, as_json: bool) -> None:
    """List the versions of a batch and its steps, and what changed from one to the next.

    A version is written down when a controller, or whatever creates an instance, first sees it.
    """
    from batchctl.cli import output
    from batchctl.cli.listing import Listing
    from batchctl.cli.output import cell
    from batchctl.domain.text import typed, visible
    from batchctl.operations import shown_columns
    from batchctl.operations.definitions import batch_history

    with session.app() as app:
        found = batch_history.versions(app.transactions, batch)
    if as_json:
        listed = [
            {
                "DefVersion": one.number,
                "z_inserted": shown_columns.moment(one.seen_at),
                "Changes": [{"Column": at.where, "Before": at.before, "After": at.after} for at in one.changes],
                "Content": json.loads(one.content),
            }
            for one in found
        ]
        output.print_json(listed)
        return
    out = output.console()
    rows = []
    for one in found:
        number, seen = (
            (one.number, output.time(one.seen_at)) if one.number is not None else ("now", cell("not seen yet"))
        )
        said = [f"{at.where}: {_short(at.before)} -> {_short(at.after)}" for at in one.changes]
        rows += [
            (cell(number if first else ""), seen if first else cell(""), cell(change))
            for first, change in zip([True] + [False] * len(said), said or ["as it was first seen"], strict=False)
        ]
    output.section(out, Listing(f"Versions of {visible(batch)}", ["version", "seen (UTC)", "what changed"], rows))
    output.hints(out, f"batchctl export --batch {typed(batch)}")


def _short(value: object) -> str:
    from batchctl.domain.text import shorten, visible

    if value is None:
        return "-"
    return f"'{shorten(visible(value), 60)}'" if isinstance(value, str) else str(value)
