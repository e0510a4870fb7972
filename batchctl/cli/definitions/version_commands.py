"""`batchctl versions`."""

from __future__ import annotations

import click

from batchctl.cli import output
from batchctl.cli.session import CliSession, batch_names, reads_rows
from batchctl.domain.text import shorten, typed, visible
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
    rows = []
    for one in found:
        number, seen = (one.number, one.seen_at) if one.number is not None else ("now", "not seen yet")
        said = [f"{at.where}: {_short(at.before)} -> {_short(at.after)}" for at in one.changes]
        rows += [
            (number if first else "", seen if first else "", change)
            for first, change in zip([True] + [False] * len(said), said or ["as it was first seen"], strict=False)
        ]
    output.table(f"Versions of {visible(batch)}", ["version", "seen (UTC)", "what changed"], rows)
    output.hints(f"batchctl export --batch {typed(batch)}")


def _short(value: object) -> str:
    if value is None:
        return "-"
    return f"'{shorten(visible(value), 60)}'" if isinstance(value, str) else str(value)
